//! What the back end says, and what the host hears of it.

use std::time::Instant;

use super::control::{Asked, seen_by_host, unanswered};
use super::turn::Turn;
use super::{Session, host_servers, text_questions};
use crate::adapters::raw::event::Session as SessionFacts;
use crate::adapters::raw::event::{Content, ControlKind, Event, Kind, Outcome, Prompt, PromptSource, Request, Response, Withdraw};
use crate::adapters::raw::json::{Raw, Str};
use crate::adapters::raw::launch::PermissionMode;
use crate::agent::control_requests::CLOSED;
use crate::backend::Backend;

impl Session {
    /// Takes an event of the back end.
    pub(super) fn event(&mut self, event: &Event<'_>, now: Instant, backend: &mut dyn Backend) {
        if let Kind::Session(session) = event.kind
            && !backend.inside().is_empty()
        {
            let (tools, servers) = host_servers::facts(session, backend.inside());
            let session = SessionFacts {
                tools: Some(Raw::trusted(&tools)),
                mcp_servers: Some(Raw::trusted(&servers)),
                ..*session
            };
            let kind = Kind::Session(&session);
            return self.told(&Event { kind, ..*event }, now, backend);
        }
        self.told(event, now, backend);
    }

    fn told(&mut self, event: &Event<'_>, now: Instant, backend: &mut dyn Backend) {
        if let Some(plain) = &mut self.plain {
            plain.hear(event);
        }
        if let Some(spoken) = &mut self.spoken {
            spoken.hear(event);
        }
        self.learn_facts(event);
        if !self.over_limit(event, now, backend) {
            let from = self.out.len();
            self.hear(event, now, backend);
            self.hooks_watch(from, now);
        }
        if self.introduced && !self.asides.is_empty() {
            self.tell_asides();
        }
    }

    /// What the back end says of the session itself.
    fn learn_facts(&mut self, event: &Event<'_>) {
        let introduces = matches!(event.kind, Kind::Session(_));
        if let Some(id) = event
            .origin
            .session
            .filter(|id| (introduces || !self.introduced) && !id.is_empty() && !id.is(&self.host.facts.session))
        {
            // The agent's own session is the one that the host knows; some name it on their lines alone.
            self.host.facts.session = id.unescape().into_owned();
        }
        if let Kind::Session(session) = event.kind {
            self.introduced = true;
            if let Some(servers) = session.mcp_servers {
                servers.as_str().clone_into(&mut self.host.facts.mcp_servers);
            }
        }
    }

    fn hear(&mut self, event: &Event<'_>, now: Instant, backend: &mut dyn Backend) {
        if let Kind::Unknown(line) = event.kind
            && self.turn.is_none()
            && self.conduct.is_said(line)
        {
            // The exit code goes by what was said last.
            self.ended.is_error = false;
        }
        match event.kind {
            Kind::Response(response) => return self.hear_response(event, response),
            Kind::Request(request) => return self.hear_request(event, request, now, backend),
            Kind::Outcome(outcome) => {
                let folds = backend.folds_prompts();
                let from = self.out.len();
                self.with_answer(event, outcome, |session, event, outcome| session.hear_outcome(event, outcome, folds, now));
                return self.hooks_before_end(outcome, from, now);
            }
            Kind::Session(session) => return self.hear_session(event, session, now, backend),
            Kind::Prompt(prompt) => return self.hear_prompt(event, prompt),
            Kind::Withdraw(Withdraw { id: Some(id), .. }) => {
                let is = |asked: &str| asked == id.as_escaped();
                let open = self.asked.drain_if(|asked| is(&asked.id) || asked.note.first.as_deref().is_some_and(is));
                // The host has been told already, or was never asked.
                if open.is_empty() && !self.same {
                    return;
                }
            }
            _ if self.is_afterthought(event) => {
                self.oddities.afterthoughts += 1;
                if self.oddities.afterthoughts == 1 {
                    tracing::warn!("the agent goes on behind its outcome; the host's program would have ended, and is not told");
                }
                return;
            }
            _ => {}
        }
        self.voice.event(event, &mut self.out);
    }

    /// Whether the agent goes on in a run that has had its only outcome. To a host of another dialect that would begin a turn, and nothing would
    /// end it.
    fn is_afterthought(&self, event: &Event<'_>) -> bool {
        let is_over = self.turn.is_none() && self.ended.outcome.is_some() && !self.host.interactive && !self.host.watched;
        let says = event.kind.is_conversation() || matches!(event.kind, Kind::ToolProgress(_));
        is_over && says && !self.same && !self.host.agent
    }

    fn hear_response(&mut self, event: &Event<'_>, response: &Response<'_>) {
        let Some(waited) = response.id.and_then(|id| self.requested.take(id.as_escaped())) else {
            self.oddities.stray_replies += 1;
            return;
        };
        if let Some((_, all)) = self.freeing.take_if(|(id, _)| *id == waited.id)
            && response.ok
        {
            self.host.allows_all = all;
        }
        if !self.same && response.ok {
            // It is done; the host gets it in the words of the program that it knows.
            return self.reply(Some(&waited.id), &waited.note);
        }
        let from = self.out.len();
        self.voice.event(event, &mut self.out);
        self.spelled_ids.restore(&waited.id, &mut self.out, from);
    }

    fn hear_request(&mut self, event: &Event<'_>, request: &Request<'_>, now: Instant, backend: &mut dyn Backend) {
        let Some(id) = request.id.map(|id| id.as_escaped().to_owned()) else {
            return Self::nameless(request, event.fields, backend);
        };
        if request.kind == ControlKind::CanUseTool && self.hooks_judge(&id, event, request, now, backend) {
            return;
        }
        self.put_to_host(id, event, request, false, now, backend);
    }

    /// Puts a question to the host, if nothing answers it before. `wanted`: whatever its rules and its mode say, it is to be asked.
    pub(super) fn put_to_host(
        &mut self,
        id: String,
        event: &Event<'_>,
        request: &Request<'_>,
        wanted: bool,
        now: Instant,
        backend: &mut dyn Backend,
    ) {
        let asks_permission = request.kind == ControlKind::CanUseTool;
        if asks_permission && !wanted && self.ruled(&id, request, backend) {
            return;
        }
        let free = asks_permission && !wanted && self.is_free(request.permission, backend.dialect());
        if self.host.types_answers && asks_permission && (self.same || !self.host.allows_all) {
            self.unasked.push_back(text_questions::Question::of(&id, event, request));
            return self.ask_person(now, backend);
        }
        let unheard = self.conduct.unheard(request, event.fields);
        if unheard.is_some() && self.gone {
            let asked = Asked { unheard, ..Asked::default() };
            return asked.unanswered(&id, CLOSED, backend);
        }
        if free || self.gone || !self.conduct.can_ask() || (asks_permission && !self.host.answers_permissions) {
            return self.decide(&id, request, backend);
        }
        // A host could not tell the answers to two questions under one id apart: the later one is put under another.
        let mut name = id.clone();
        while self.asked.any(|asked| asked.id == name) {
            name.push_str("-again");
        }
        let named = Request {
            id: Some(Str::trusted(&name)),
            ..*request
        };
        let before = self.out.len();
        self.voice.event(
            &Event {
                kind: Kind::Request(&named),
                ..*event
            },
            &mut self.out,
        );
        if self.out.len() == before {
            // The host's dialect has no such question.
            return unanswered(&id, asks_permission, "the host has no answer to this", backend);
        }
        let mut asked = seen_by_host(&self.out[before..]);
        if self.conduct.tells_faults() {
            asked.line = String::from_utf8_lossy(&self.out[before..]).into_owned();
        }
        asked.unheard = unheard;
        asked.first = (name != id).then_some(id);
        self.asked.add(name, asked, now, self.timers.permission);
    }

    /// A turn is over; where it may have taken later prompts in, those wait for no outcome of their own.
    fn hear_outcome(&mut self, event: &Event<'_>, outcome: &Outcome<'_>, folds: bool, now: Instant) {
        // A run that is refused ends before it begins; any other outcome belongs to a turn.
        let refused = outcome.is_error && !self.introduced && self.ended.outcome.is_none();
        if self.turn.is_none() && !refused {
            self.oddities.extra_outcomes += 1;
            return;
        }
        self.ended_with(outcome, now);
        if folds {
            (self.prompts, self.turn) = (0, None);
        }
        self.ended_by_agent = true;
        let denials = std::mem::take(&mut self.denials);
        let said = outcome.denials.is_some_and(|list| list.elements().next().is_some());
        if self.same || said || denials.is_empty() {
            return self.tell_outcome(event, outcome.is_error);
        }
        let list = format!("[{denials}]");
        let whole = Outcome {
            denials: Some(Raw::trusted(&list)),
            ..*outcome
        };
        let kind = Kind::Outcome(&whole);
        self.tell_outcome(&Event { kind, ..*event }, outcome.is_error);
    }

    fn hear_session(&mut self, event: &Event<'_>, session: &SessionFacts<'_>, now: Instant, backend: &dyn Backend) {
        if session.opens_turn && self.turn.is_none() {
            // The agent goes on by itself: a task in the background has come to its end.
            self.voice.settled();
            self.turn = Some(Turn::new(now, true));
        }
        if self.same {
            return self.voice.event(event, &mut self.out);
        }
        // An agent that we let run everything asks us; the host is told the mode that it wanted.
        let free = PermissionMode::Bypass.name(backend.dialect()).filter(|_| self.host.allows_all);
        let mode = session.permission_mode.map(|mode| match free {
            Some(free) => Str::trusted(free),
            None => Str::trusted(self.mode_of(mode, backend).unwrap_or(mode.as_escaped())),
        });
        // What the agent does not say of its session is known to us, who started it.
        let known = [&self.host.facts.cwd, &self.host.facts.permission_mode].map(|fact| {
            let mut body = String::new();
            Str::escape(fact, &mut body);
            body
        });
        let [cwd, asked] = known.each_ref().map(|fact| Some(Str::trusted(fact)).filter(|fact| !fact.is_empty()));
        let told = SessionFacts {
            model: session.model.map(|model| self.model_of(model, backend)),
            cwd: session.cwd.or(cwd),
            permission_mode: mode.or(asked),
            ..*session
        };
        let kind = Kind::Session(&told);
        self.voice.event(&Event { kind, ..*event }, &mut self.out);
    }

    fn hear_prompt(&mut self, event: &Event<'_>, prompt: &Prompt<'_>) {
        let echo = prompt.source == PromptSource::Echo;
        if !self.same {
            // The host knows what it has said.
            let known = prompt.source == PromptSource::Host;
            // Some programs say every prompt again.
            let again = echo && !self.host.echoes;
            // What an agent remarks between two turns belongs to none: to a host of another dialect it would begin one.
            if known || again || self.turn.is_none() {
                return;
            }
        }
        if !echo || self.prompt.is_empty() || !self.conduct.echoes() {
            return self.voice.event(event, &mut self.out);
        }
        let text = self.prompt.clone();
        let live = Prompt {
            content: Content::Text(Str::trusted(&text)),
            ..*prompt
        };
        let kind = Kind::Prompt(&live);
        self.voice.event(&Event { kind, ..*event }, &mut self.out);
    }
}
