//! What the host says, and what it says badly.

use std::time::Instant;

use super::notices::under_first_id;
use super::{Session, Turn};
use crate::adapters::raw::conduct::{Damage, Misread};
use crate::adapters::raw::event::{
    CancelResult, ChatRequest, CommandResult, Content, Event, Fatal, Field, Fields, HintRequest, HintResult, Input, InputKind, InputOrigin, Kind,
    Origin, OutcomeKind, Place, Prompt,
};
use crate::adapters::raw::json::{Raw, Shape, Str};
use crate::adapters::raw::prompts;
use crate::backend::Backend;

impl Session {
    /// The host said something that cannot be read.
    pub(super) fn damaged(&mut self, text: &str, why: &str, now: Instant, backend: &mut dyn Backend) {
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
            Damage::Told(why) => self.complain(&why, Some(backend)),
            Damage::Answered(line) => self.out.extend_from_slice(line.as_bytes()),
            Damage::Fatal { stderr, code } => self.fatal = Some((stderr, code)),
        }
    }

    /// The host said something that is JSON and of no known type.
    pub(super) fn unknown(&mut self, raw: Raw<'_>, now: Instant, backend: &mut dyn Backend) {
        if self.conduct.tells_faults() {
            self.damaged(raw.as_str(), "nobody knows lines of this type", now, backend);
        } else if self.conduct.needs_type() && raw.get("type").and_then(Raw::string).is_none() {
            self.damaged(raw.as_str(), "it is no object with a type", now, backend);
        }
    }

    /// Turns that cannot begin end where they would have begun: behind those before them.
    pub(super) fn fail_doomed(&mut self, now: Instant) {
        while !self.busy()
            && let Some(why) = self.doomed.pop_front()
        {
            self.prompts += 1;
            self.end_turn(OutcomeKind::Failed(Place::Protocol), &why, now);
        }
    }

    pub(super) fn input(&mut self, input: &Input<'_>, now: Instant, backend: &mut dyn Backend) {
        if self.conduct.tells_faults()
            && let Some(why) = wrong_member(input)
        {
            if let InputKind::Hint(hint) = input.kind {
                return self.no_hint(input.origin, hint, &why);
            }
            return self.complain(&format!("QWEN_INVALID_REQUEST: {why}"), Some(backend));
        }
        match input.kind {
            InputKind::Prompt(prompt) if self.conduct.ignores_empty_prompts() && says_nothing(prompt) => {}
            InputKind::Prompt(_) if self.conduct.drops_repeated_prompts() && self.is_repeated(input.origin.id) => {}
            InputKind::Prompt(prompt) => {
                self.remember(prompt);
                self.prompted(input, now, backend);
            }
            InputKind::Chat(chat) => self.chat(input, chat, now, backend),
            InputKind::Request(request) => self.request(input, request, now, backend),
            InputKind::Response(response) => {
                if self.hook_answered(response, now, backend) {
                    return;
                }
                let Some(asked) = response.id.and_then(|id| self.asked.take(id.as_escaped())) else {
                    self.oddities.stray_answers += 1;
                    let id = response.id.map_or("", |id| id.as_escaped());
                    return self.control_fault(id, "no question of this id waits for an answer", false);
                };
                if !response.ok {
                    if self.asks_again(&asked, response.error, now) {
                        return;
                    }
                    let said = response.error.and_then(|error| error.get("message").unwrap_or(error).string());
                    let why = said.map_or_else(|| "the host could not answer".into(), |why| why.unescape());
                    self.control_fault(&asked.id, &why, false);
                }
                under_first_id(&asked, input, response, |input| {
                    self.answered(asked.note.first.as_ref().unwrap_or(&asked.id), &asked.note, input, response, backend);
                });
                self.waited(now);
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
            InputKind::Hint(hint) => self.no_hint(input.origin, hint, "this agent has no command hints"),
            InputKind::Withdraw(_) | InputKind::Environment(_) => {
                backend.input(input);
            }
            InputKind::Noise(text) => {
                self.damaged(text, "it is not JSON", now, backend);
            }
            InputKind::Unknown(raw) => self.unknown(raw, now, backend),
            InputKind::HintCancel | InputKind::KeepAlive => {}
        }
    }

    /// Whether a prompt of this id has come before.
    fn is_repeated(&mut self, id: Option<Str<'_>>) -> bool {
        let Some(id) = id.map(|id| id.as_escaped()).filter(|id| !id.is_empty()) else {
            return false;
        };
        if self.prompt_ids.iter().any(|known| known == id) {
            return true;
        }
        if self.prompt_ids.len() == PROMPT_IDS {
            self.prompt_ids.pop_front();
        }
        self.prompt_ids.push_back(id.to_owned());
        false
    }

    /// A hint cannot be given.
    fn no_hint(&mut self, origin: Origin<'_>, hint: &HintRequest<'_>, why: &str) {
        let at = hint.trigger.is_some_and(|trigger| trigger.is("at") || trigger.is("@"));
        let mut message = String::new();
        Str::escape(why, &mut message);
        let result = HintResult {
            trigger: Some(Str::trusted(if at { "at" } else { "slash" })),
            status: Some(Str::trusted("error")),
            suggestions: None,
            metadata: None,
            message: Some(Str::trusted(&message)),
        };
        self.say(&Event::new(origin, Kind::Hint(&result)));
    }

    /// A Chat Request. An agent of another dialect has no commands of the RFC, and cannot be asked without a text.
    fn chat(&mut self, input: &Input<'_>, chat: &ChatRequest<'_>, now: Instant, backend: &mut dyn Backend) {
        if self.conduct.has_versions() {
            match wanted_version(chat, input.fields) {
                Ok(None) => {}
                Ok(Some(number)) if number.trim().parse::<f64>().is_ok_and(|number| number <= VERSION) => {}
                Ok(Some(number)) => return self.unsupported(&number),
                Err(why) => {
                    self.doomed.push_back(why.into());
                    return self.fail_doomed(now);
                }
            }
        }
        if self.host.agent && chat.origin == Some(InputOrigin::ToolResponse) {
            if backend.input(input) {
                self.waited(now);
                return;
            }
            self.doomed
                .push_back("QWEN_INVALID_REQUEST: the tool_response answers no call that waits for one".into());
            return self.fail_doomed(now);
        }
        if self.same || self.host.agent {
            return self.prompted(input, now, backend);
        }
        let text = prompts::of_chat(chat).unwrap_or_default();
        let explicit = chat.command.filter(|command| !command.is_null());
        let implicit = matches!(chat.origin, None | Some(InputOrigin::User)) && text.trim_start().starts_with(['/', '@', '?']);
        if explicit.is_some() || implicit {
            let typed = as_typed(&text);
            let result = CommandResult {
                command: explicit.filter(|command| command.get("kind").is_some()).or(Some(Raw::trusted(&typed))),
                result: Some(Raw::trusted(NO_COMMANDS)),
            };
            return self.say(&Event::new(input.origin, Kind::Command(&result)));
        }
        if text.is_empty() {
            self.doomed.push_back("QWEN_INVALID_REQUEST: the request holds no text".into());
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
        if !self.hooks_hold(input, now) {
            backend.input(input);
        }
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

/// A member of a side request that is of the wrong type: the decoder has found no place for it.
fn wrong_member(input: &Input<'_>) -> Option<String> {
    let (line, members): (_, &[&str]) = match input.kind {
        InputKind::Hint(_) => ("command_hint_request", &["trigger", "text", "cursor"]),
        InputKind::Heartbeat { .. } => ("heartbeat_request", &["interval_ms"]),
        InputKind::Cancel { .. } => ("control/cancel", &["reason"]),
        InputKind::HintCancel => ("command_hint_cancel", &[]),
        _ => return None,
    };
    let wrong = |field: &&Field<'_>| {
        let is = |name: &&str| field.key.is(name);
        (members.iter().any(is) || ["session_id", "prompt_id"].iter().any(is)) && !field.value.is_null()
    };
    if let Some(field) = input.fields.iter().find(wrong) {
        return Some(format!("{line}.{} is of the wrong type", field.key.as_escaped()));
    }
    let InputKind::Hint(hint) = input.kind else { return None };
    if hint
        .context
        .is_some_and(|context| !context.is_null() && context.shape() != Some(Shape::Object))
    {
        return Some(format!("{line}.context is no object"));
    }
    hint.text.is_none().then(|| format!("{line}.text is missing"))
}

/// The version that a client wants: `protocol_version` of its request, or inside `system_fingerprint`, an object or the text of one.
fn wanted_version(chat: &ChatRequest<'_>, fields: Fields<'_>) -> Result<Option<String>, &'static str> {
    let read = |stated: Raw<'_>| match stated.shape() {
        Some(Shape::Number) => Ok(Some(stated.as_str().to_owned())),
        Some(Shape::String) => Ok(stated.string().map(|text| text.unescape().into_owned())),
        Some(Shape::Null) => Ok(None),
        _ => Err("QWEN_INVALID_REQUEST: protocol_version is neither a number nor a text"),
    };
    if let Some(stated) = chat.protocol_version {
        return read(stated);
    }
    let Some(fingerprint) = fields.iter().find(|field| field.key.is("system_fingerprint")) else {
        return Ok(None);
    };
    let inside = fingerprint.value.string().map(|text| text.unescape().into_owned());
    let inside = inside.as_deref().map_or(fingerprint.value, Raw::trusted);
    let is_sound = inside.check().is_ok();
    inside.get("protocol_version").filter(|_| is_sound).map_or(Ok(None), read)
}

/// So many ids of prompts are remembered.
const PROMPT_IDS: usize = 1024;

/// The version of the RFC that is spoken.
const VERSION: f64 = 1.0;

/// What becomes of a slash or `@` command.
const NO_COMMANDS: &str =
    r#"{"type":"message","status":"error","level":"error","content":"this agent has no commands; a text that begins with /, @ or ? is one"}"#;

/// A command that stands in a text, as the RFC writes commands.
fn as_typed(text: &str) -> String {
    let text = text.trim();
    let mut words = text.trim_start_matches('/').splitn(2, char::is_whitespace);
    let (name, args) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let mut body = String::new();
    if text.starts_with('@') {
        Str::escape(text, &mut body);
        return format!("{{\"kind\":\"at\",\"args\":\"{body}\"}}");
    }
    Str::escape(name, &mut body);
    body.push_str("\"],\"args\":\"");
    Str::escape(args.trim(), &mut body);
    format!("{{\"kind\":\"slash\",\"path\":[\"{body}\"}}")
}

/// Whether a prompt has neither a text nor anything else.
pub(super) fn says_nothing(prompt: &Prompt<'_>) -> bool {
    match prompt.content {
        Content::Text(text) => text.is_empty(),
        Content::Blocks(blocks) => blocks.is_empty(),
    }
}
