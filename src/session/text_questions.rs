//! Questions that are asked in plain text, on either side.
//!
//! A program that asks so is told its host's answer as a choice that is typed ([`crate::backend`]). A host that is a person at such a
//! program is asked one question after the other, and what is typed is the answer to the one that stands there.

use std::time::Instant;

use super::Session;
use super::control::{ALLOW, Asked, allow_unseen, refuse, respond};
use crate::adapters::raw::conduct::Typed;
use crate::adapters::raw::event::{At, ControlKind, Event, Field, Kind, Origin, OutcomeKind, Permission, Request};
use crate::adapters::raw::json::{Raw, Str};
use crate::adapters::raw::live::Heard;
use crate::backend::{Backend, TypedQuestion};
use crate::show::Chosen;

/// A question for permission that waits for its turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Question {
    id: String,
    session: Option<String>,
    tool: String,
    call: Option<String>,
    input: Option<String>,
    /// Rules that the host may answer with, as JSON.
    suggestions: Option<String>,
    /// What the call would change, as a JSON text.
    preview: Option<String>,
}

impl Question {
    pub(super) fn of(id: &str, event: &Event<'_>, request: &Request<'_>) -> Self {
        let preview = event.fields.iter().find(|field| field.key.is("preview"));
        let body = |text: Str<'_>| text.as_escaped().to_owned();
        let permission = request.permission.copied().unwrap_or_default();
        Self {
            id: id.to_owned(),
            session: event.origin.session.map(body),
            tool: body(permission.name),
            call: permission.call.map(body),
            input: permission.input.map(|input| input.as_str().to_owned()),
            suggestions: permission.suggestions.map(|rules| rules.as_str().to_owned()),
            preview: preview.map(|field| field.value.as_str().to_owned()),
        }
    }

    /// The question's id.
    pub(super) fn id(&self) -> &str {
        &self.id
    }

    /// What it asks permission for.
    pub(super) fn permission(&self) -> Permission<'_> {
        Permission {
            name: Str::trusted(&self.tool),
            call: self.call.as_deref().map(Str::trusted),
            input: self.input.as_deref().map(Raw::trusted),
            suggestions: self.suggestions.as_deref().map(Raw::trusted),
        }
    }

    /// The event that asks it.
    pub(super) fn tell(&self, tell: impl FnOnce(&Event<'_>)) {
        let permission = self.permission();
        let request = Request {
            id: Some(Str::trusted(&self.id)),
            subtype: Str::trusted("can_use_tool"),
            kind: ControlKind::CanUseTool,
            permission: Some(&permission),
        };
        let origin = Origin {
            session: self.session.as_deref().map(Str::trusted),
            ..Origin::default()
        };
        let preview = self.preview.as_deref().map(|preview| Field {
            at: At::Line,
            key: Str::trusted("preview"),
            value: Raw::trusted(preview),
            known: true,
        });
        tell(&Event {
            origin,
            kind: Kind::Request(&request),
            fields: preview.as_slice(),
        });
    }
}

impl Session {
    /// The back end asks for permission in plain text.
    pub fn asks(&mut self, question: &TypedQuestion, now: Instant, backend: &mut dyn Backend) {
        let question = Question {
            id: question.id.clone(),
            session: Some(self.host.facts.session.clone()).filter(|id| !id.is_empty()),
            tool: question.tool.clone(),
            call: Some(question.call.clone()),
            input: Some(question.input.clone()),
            suggestions: None,
            preview: None,
        };
        question.tell(|event| self.backend(&Heard::Event(event), now, backend));
    }

    /// Asks the person the next question, if none stands there.
    pub(super) fn ask_person(&mut self, now: Instant, backend: &mut dyn Backend) {
        while self.asked.is_empty()
            && let Some(question) = self.unasked.pop_front()
        {
            let (tool, _) = self.in_hosts_words(&question.permission(), backend.dialect());
            if self.allowed.contains(&tool) {
                allow_unseen(&question.id, backend);
                continue;
            }
            question.tell(|event| self.voice.event(event, &mut self.out));
            let asked = Asked { tool, ..Asked::default() };
            self.asked.add(question.id, asked, now, self.timers.permission);
            self.answer(now, backend);
        }
    }

    /// Something was typed. Like what a person types ahead, it waits until it is asked for.
    pub(super) fn typed(&mut self, heard: &Heard<'_, '_>, now: Instant, backend: &mut dyn Backend) {
        let line = match heard {
            Heard::Event(Event { kind: Kind::Noise(text), .. }) => (*text).to_owned(),
            Heard::Damaged { bytes, .. } => String::from_utf8_lossy(bytes).into_owned(),
            _ => String::new(),
        };
        if self.ahead.len() == AHEAD {
            self.ahead.pop_front();
            self.oddities.stray_answers += 1;
        }
        self.ahead.push_back(line);
        self.answer(now, backend);
        self.ask_person(now, backend);
    }

    /// Nothing can be typed any more.
    pub(super) fn nobody_types(&mut self, now: Instant, backend: &mut dyn Backend) {
        self.answer(now, backend);
        self.ask_person(now, backend);
    }

    /// Takes what was typed as the answer to the question that stands there.
    fn answer(&mut self, now: Instant, backend: &mut dyn Backend) {
        while !self.asked.is_empty() {
            match self.ahead.pop_front() {
                Some(line) => self.chose(Some(&line), now, backend),
                None if self.gone => self.chose(None, now, backend),
                None => return,
            }
        }
    }

    fn chose(&mut self, line: Option<&str>, now: Instant, backend: &mut dyn Backend) {
        let Some((id, tool)) = self.asked.first().map(|asked| (asked.id.clone(), asked.note.tool.clone())) else {
            return;
        };
        let typed = match line {
            None if self.host.watched => Typed::Deny("nobody is there any more to allow it".to_owned()),
            line => self.conduct.typed(line, &Str::trusted(&tool).unescape()),
        };
        self.settle(id, tool, typed, now, backend);
    }

    /// The person who watches has answered the question that stands there.
    pub fn chosen(&mut self, chosen: Chosen, now: Instant, backend: &mut dyn Backend) {
        let Some((id, tool)) = self.asked.first().map(|asked| (asked.id.clone(), asked.note.tool.clone())) else {
            return;
        };
        let typed = match chosen {
            Chosen::Yes => Typed::Allow,
            Chosen::Always => Typed::AllowTool,
            Chosen::No => Typed::Deny("the user does not allow it".to_owned()),
        };
        self.settle(id, tool, typed, now, backend);
        self.ask_person(now, backend);
    }

    /// The person who watches wants the turn to end.
    pub fn stop_turn(&mut self, backend: &mut dyn Backend) {
        self.unasked.clear();
        self.take_back();
        self.interrupt(backend);
    }

    fn settle(&mut self, id: String, tool: String, typed: Typed, now: Instant, backend: &mut dyn Backend) {
        match typed {
            Typed::Unclear(again) => return self.out.extend_from_slice(again.as_bytes()),
            Typed::Allow => respond(&id, ALLOW, backend),
            Typed::AllowTool => {
                self.allowed.push(tool);
                respond(&id, ALLOW, backend);
            }
            Typed::Deny(why) => refuse(&id, &why, backend),
            Typed::Stop { prints, why } => {
                self.out.extend_from_slice(prints.as_bytes());
                refuse(&id, &why, backend);
                for question in std::mem::take(&mut self.unasked) {
                    refuse(&question.id, &why, backend);
                }
                self.interrupt(backend);
                self.end_turns(OutcomeKind::Cancelled, &why, true, now);
            }
        }
        self.asked.drain();
        self.waited(now);
    }
}

/// So many lines may be typed ahead.
const AHEAD: usize = 1024;
