//! What the host's hooks have said, and what becomes of what has waited for them.

use std::time::Instant;

use super::{GONE, Then, plain};
use crate::adapters::raw::event::{Block, Content, Input, InputKind, Kind, Origin, Outcome, OutcomeKind, Permission as Asked, Prompt, PromptSource};
use crate::adapters::raw::json::{Raw, Str};
use crate::agent::hooks::{HookEvent, HookOutcome, MOST_HELD_UP, Permission, blocked_prompt, stop_feedback};
use crate::backend::Backend;
use crate::session::control::{allow_unseen, refuse};
use crate::session::rules::Verdict;
use crate::session::text_questions::Question;
use crate::session::{Session, Turn};

impl Session {
    /// Goes on with what has waited for callbacks that have all answered.
    pub(super) fn finish_hooks(&mut self, now: Instant, backend: &mut dyn Backend) {
        while let Some(at) = self.hooks.runs.iter().position(|run| run.waiting.is_empty()) {
            let run = self.hooks.runs.remove(at);
            for failure in &run.outcome.failures {
                tracing::warn!("{failure}");
            }
            match run.then {
                Then::Question(call, question) => self.call_judged(&call, &question, run.outcome, now, backend),
                Then::Prompt(line) => self.prompt_judged(&line, run.outcome, now, backend),
                Then::End(held) => self.end_judged(held, run.outcome, now, backend),
                Then::Ran => {
                    let denies = run.outcome.permission.is_some_and(|(permission, _)| permission == Permission::Deny);
                    self.stop_by_hook(denies || run.outcome.stop.is_some(), run.event, backend);
                }
                Then::Nothing => {
                    if run.outcome.block.is_some() || run.outcome.context().is_some() || run.outcome.updated_output.is_some() {
                        tracing::warn!(event = ?run.event, "what a hook of the host's says to the model does not reach it: the agent has gone on");
                    }
                    self.stop_by_hook(run.outcome.stop.is_some(), run.event, backend);
                }
            }
        }
    }

    fn stop_by_hook(&mut self, stops: bool, event: HookEvent, backend: &mut dyn Backend) {
        if stops && self.turn.is_some() {
            tracing::warn!(?event, "a hook of the host's ends the turn: the agent had asked nobody");
            self.interrupt(backend);
        }
    }

    fn call_judged(&mut self, call: &str, question: &Question, outcome: HookOutcome, now: Instant, backend: &mut dyn Backend) {
        let asked = self.hooks.calls.get(call).map(|call| &call.input);
        let changed = outcome.updated_input.as_ref().is_some_and(|updated| Some(updated) != asked);
        let denial = match (&outcome.permission, &outcome.stop) {
            _ if outcome.unheard => Some(GONE),
            (_, Some(why)) | (Some((Permission::Deny, why)), _) => Some(why.as_str()),
            _ => changed.then_some("this agent runs a tool only with the arguments that it asked for; a hook has changed them"),
        };
        if let Some(why) = denial {
            self.hooks.denied(call);
            refuse(question.id(), why, backend);
            if outcome.stop.is_some() {
                self.interrupt(backend);
            }
            return;
        }
        let wants = outcome.permission.map(|(permission, _)| permission);
        // What the command line rules out, no hook lifts.
        let is_ruled_out = self.is_ruled_out(&question.permission(), backend);
        match wants.filter(|_| !is_ruled_out) {
            Some(Permission::Allow) => allow_unseen(question.id(), backend),
            wants => question.tell(|event| {
                if let Kind::Request(request) = event.kind {
                    let wanted = wants.is_some();
                    self.put_to_host(question.id().to_owned(), event, request, wanted, now, backend);
                }
            }),
        }
    }

    fn is_ruled_out(&self, permission: &Asked<'_>, backend: &dyn Backend) -> bool {
        let (tool, input) = self.in_hosts_words(permission, backend.dialect());
        let verdict = self.host.rules.judge(&Str::trusted(&tool).unescape(), Some(Raw::trusted(&input)), None);
        matches!(verdict, Some(Verdict::Deny(_)))
    }

    fn prompt_judged(&mut self, line: &[u8], outcome: HookOutcome, now: Instant, backend: &mut dyn Backend) {
        let context = outcome.context();
        let against = outcome.block.or(outcome.stop);
        self.reread(line, |session, input| {
            let InputKind::Prompt(prompt) = input.kind else { return };
            match (&against, &context) {
                (Some(why), _) => session.prompt_blocked(why, &plain(prompt), now),
                (None, None) => _ = backend.input(input),
                (None, Some(context)) => {
                    let mut body = String::new();
                    Str::escape(context, &mut body);
                    let added = Block::Text {
                        text: Str::trusted(&body),
                        fields: &[],
                    };
                    let mut blocks = match prompt.content {
                        Content::Text(text) => vec![Block::Text { text, fields: &[] }],
                        Content::Blocks(blocks) => blocks.to_vec(),
                    };
                    blocks.push(added);
                    let prompt = Prompt {
                        content: Content::Blocks(&blocks),
                        ..*prompt
                    };
                    let kind = InputKind::Prompt(&prompt);
                    backend.input(&Input { kind, ..*input });
                }
            }
        });
    }

    /// A prompt is not answered.
    fn prompt_blocked(&mut self, why: &str, said: &str, now: Instant) {
        let mut text = String::new();
        Str::escape(&blocked_prompt(why, said), &mut text);
        let outcome = Outcome {
            synthetic: true,
            text: Some(Str::trusted(&text)),
            ..Outcome::new(OutcomeKind::Success)
        };
        self.say_outcome(&outcome, now);
    }

    fn end_judged(&mut self, held: Vec<u8>, outcome: HookOutcome, now: Instant, backend: &mut dyn Backend) {
        let again = outcome.block.filter(|_| outcome.stop.is_none() && self.hooks.held_up < MOST_HELD_UP);
        let Some(why) = again else {
            self.hooks.held_up = 0;
            self.out.extend(held);
            return;
        };
        self.hooks.held_up += 1;
        let mut body = String::new();
        Str::escape(&stop_feedback(&why), &mut body);
        let prompt = Prompt {
            content: Content::Text(Str::trusted(&body)),
            source: PromptSource::Agent,
        };
        self.prompts += 1;
        self.turn = Some(Turn::new(now, false));
        backend.input(&Input {
            origin: Origin::default(),
            kind: InputKind::Prompt(&prompt),
            fields: &[],
        });
    }
}
