//! What the host says, and what it says badly.

use std::time::Instant;

use super::{Session, Turn};
use crate::adapters::codec::Dialect;
use crate::adapters::conduct::{Damage, Misread};
use crate::adapters::event::{
    CancelResult, ChatRequest, CommandResult, Content, Event, Fatal, HintResult, Input, InputKind, InputOrigin, Kind, Origin, OutcomeKind, Place,
    Prompt,
};
use crate::adapters::json::{Raw, Str};
use crate::adapters::prompts;
use crate::backend::Backend;

impl Session {
    /// The host said something that cannot be read.
    pub(super) fn damaged(&mut self, text: &str, why: &str, now: Instant) {
        let json = Raw::trusted(text.trim_ascii());
        let line = Misread {
            text,
            json: json.check().is_ok().then_some(json),
            why,
            busy: self.turn.is_some(),
        };
        match self.conduct.damaged(&line) {
            Damage::Ignored => {}
            Damage::FailedTurn(why) => {
                self.doomed.push_back(why);
                self.fail_doomed(now);
            }
            Damage::Fatal { stderr, code } => self.fatal = Some((stderr, code)),
        }
    }

    /// The host said something that is JSON and of no known type.
    pub(super) fn unknown(&mut self, raw: Raw<'_>, now: Instant) {
        if self.conduct.needs_type() && raw.get("type").and_then(Raw::string).is_none() {
            self.damaged(raw.as_str(), "it is no object with a type", now);
        }
    }

    /// Turns that cannot begin end where they would have begun: behind those before them.
    pub(super) fn fail_doomed(&mut self, now: Instant) {
        while !self.busy()
            && let Some(why) = self.doomed.pop_front()
        {
            self.prompts += 1;
            self.end_turn(OutcomeKind::Failed(Place::Protocol), why, now);
        }
    }

    pub(super) fn input(&mut self, input: &Input<'_>, now: Instant, backend: &mut dyn Backend) {
        match input.kind {
            InputKind::Prompt(prompt) if self.conduct.ignores_empty_prompts() && says_nothing(prompt) => {}
            InputKind::Prompt(prompt) => {
                self.remember(prompt);
                self.prompted(input, now, backend);
            }
            InputKind::Chat(chat) => self.chat(input, chat, now, backend),
            InputKind::Request(request) => self.request(input, request, now, backend),
            InputKind::Response(response) => {
                let Some(asked) = response.id.and_then(|id| self.asked.take(id.as_escaped())) else {
                    self.oddities.stray_answers += 1;
                    return;
                };
                self.answered(&asked.id, &asked.note, input, response, backend);
                // The wait was the host's.
                if let Some(turn) = &mut self.turn {
                    turn.sign = now;
                }
            }
            InputKind::Cancel { .. } | InputKind::Heartbeat { .. } | InputKind::Hint(_) | InputKind::HintCancel if self.host.agent => {
                if let InputKind::Heartbeat { interval_ms: Some(pace) } = input.kind
                    && let Ok(pace) = pace.as_str().parse()
                {
                    self.set_pace(pace, now);
                }
                // Its answer is waited for when the host says nothing more.
                self.ended_by_agent = true;
                backend.input(input);
            }
            InputKind::Cancel { .. } => {
                let busy = self.turn.is_some();
                let (status, message) = if busy { ("ok", None) } else { ("noop", Some("Nothing to cancel.")) };
                let result = CancelResult {
                    status: Some(Str::trusted(status)),
                    message: message.map(Str::trusted),
                };
                self.say(&Event::new(input.origin, Kind::CancelResult(result)));
                if busy {
                    backend.input(input);
                }
            }
            InputKind::Heartbeat { interval_ms } => {
                self.give_sign_of_life(input.origin, now);
                if let Some(pace) = interval_ms.and_then(|pace| pace.as_str().parse().ok()) {
                    self.set_pace(pace, now);
                }
            }
            InputKind::Hint(hint) => {
                let result = HintResult {
                    trigger: hint.trigger,
                    status: Some(Str::trusted("error")),
                    suggestions: None,
                    metadata: None,
                    message: Some(Str::trusted("this agent has no command hints")),
                };
                self.say(&Event::new(input.origin, Kind::Hint(&result)));
            }
            InputKind::Withdraw(_) | InputKind::Environment(_) => {
                backend.input(input);
            }
            InputKind::Noise(text) => {
                self.damaged(text, "it is not JSON", now);
            }
            InputKind::Unknown(raw) => self.unknown(raw, now),
            InputKind::HintCancel | InputKind::KeepAlive => {}
        }
    }

    /// A Chat Request. An agent of another dialect has no commands of the RFC, and cannot be asked without a text.
    fn chat(&mut self, input: &Input<'_>, chat: &ChatRequest<'_>, now: Instant, backend: &mut dyn Backend) {
        if let Some(wanted) = chat.protocol_version.filter(|_| self.host.format.dialect == Dialect::Qwen) {
            let number = wanted
                .string()
                .map_or_else(|| wanted.as_str().to_owned(), |text| text.unescape().into_owned());
            if number.trim().parse::<f64>().map_or(true, |number| number > VERSION) {
                return self.unsupported(&number);
            }
        }
        if self.host.agent && chat.origin == Some(InputOrigin::ToolResponse) {
            if backend.input(input) {
                if let Some(turn) = &mut self.turn {
                    turn.sign = now;
                }
                return;
            }
            self.doomed
                .push_back("QWEN_INVALID_REQUEST: the tool_response answers no call that waits for one");
            return self.fail_doomed(now);
        }
        if self.same || self.host.agent {
            return self.prompted(input, now, backend);
        }
        let text = prompts::of_chat(chat).unwrap_or_default();
        let explicit = chat.command.filter(|command| !command.is_null());
        let implicit = matches!(chat.origin, None | Some(InputOrigin::User)) && text.trim_start().starts_with(['/', '@', '?']);
        if explicit.is_some() || implicit {
            let result = CommandResult {
                command: explicit,
                result: Some(Raw::trusted(NO_COMMANDS)),
            };
            return self.say(&Event::new(input.origin, Kind::Command(&result)));
        }
        if text.is_empty() {
            self.doomed.push_back("the request holds no text");
            return self.fail_doomed(now);
        }
        self.prompted(input, now, backend);
    }

    /// The host wants a version of the RFC that nobody speaks: told in the stream, then the run is over.
    fn unsupported(&mut self, version: &str) {
        let mut text = String::new();
        let why = format!("protocol_version {version} is not supported; this agent speaks 1");
        Str::escape(&why, &mut text);
        let fatal = Fatal {
            message: Str::trusted(&text),
            code: Some(Raw::trusted("\"unsupported_protocol\"")),
            ..Fatal::default()
        };
        self.say(&Event::new(Origin::default(), Kind::Fatal(&fatal)));
        self.fatal = Some((why, 2));
    }

    pub(super) fn prompted(&mut self, input: &Input<'_>, now: Instant, backend: &mut dyn Backend) {
        self.prompts += 1;
        if self.turn.is_none() {
            self.voice.settled();
            self.turn = Some(Turn::new(now, false));
        }
        backend.input(input);
    }

    pub(super) fn remember(&mut self, prompt: &Prompt<'_>) {
        self.prompt.clear();
        match prompt.content {
            Content::Text(text) => self.prompt.push_str(text.as_escaped()),
            content => content.texts().for_each(|text| self.prompt.push_str(text.as_escaped())),
        }
        if self.host.echoes {
            self.voice.prompt(&self.prompt);
        }
    }
}

/// The version of the RFC that is spoken.
const VERSION: f64 = 1.0;

/// What becomes of a slash or `@` command.
const NO_COMMANDS: &str =
    r#"{"type":"message","status":"error","level":"error","content":"this agent has no commands; a text that begins with /, @ or ? is one"}"#;

/// Whether a prompt has neither a text nor anything else.
pub(super) fn says_nothing(prompt: &Prompt<'_>) -> bool {
    match prompt.content {
        Content::Text(text) => text.is_empty(),
        Content::Blocks(blocks) => blocks.is_empty(),
    }
}
