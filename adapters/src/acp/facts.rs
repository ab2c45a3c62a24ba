//! What is known of a session, and what changes it.

use super::answers::Question;
use super::decode::{Decoder, Line};
use crate::codec::Cx;
use crate::event::{Event, Kind, Session, Sink};
use crate::json::{Raw, Str};
use crate::trace::Kept;

/// Facts as they were last told; all are bodies of JSON strings.
#[derive(Debug, Default)]
pub(super) struct Known {
    model: String,
    mode: String,
    /// The subagents that its host has declared, as a list.
    pub(super) agents: String,
    /// The options that set mode and model.
    mode_option: String,
    model_option: String,
}

/// What a host wants to be another.
#[derive(Clone, Debug)]
pub(super) enum Change {
    Mode(String),
    Model(String),
}

impl Known {
    /// An answer that opens a session says this; `options` are those that set mode and model.
    pub(super) fn opened(&mut self, options: [Option<Str<'_>>; 2], session: &Session<'_>) {
        let text = |said: Option<Str<'_>>| said.map_or_else(String::new, |said| said.as_escaped().to_owned());
        self.model = text(session.model);
        self.mode = text(session.permission_mode);
        [self.mode_option, self.model_option] = options.map(text);
    }

    /// What a request of the host's changes, once it is granted.
    pub(super) fn change(&self, method: &str, line: &Line<'_>) -> Option<Change> {
        let text = |name: &str| Some(line.params.get(name)?.string()?.as_escaped().to_owned());
        match method {
            "session/set_mode" => text("modeId").map(Change::Mode),
            "session/set_model" => text("modelId").map(Change::Model),
            "session/set_config_option" => match text("configId")? {
                id if id.is_empty() => None,
                id if id == self.mode_option => text("value").map(Change::Mode),
                id if id == self.model_option => text("value").map(Change::Model),
                _ => None,
            },
            _ => None,
        }
    }
}

impl Decoder {
    /// A host asks: what is to be another goes over when the agent has granted it.
    pub(super) fn keep_change(&self, line: &Line<'_>, question: &mut Question) {
        let Some(trace) = line.cx.trace.filter(|_| question.change.is_some()) else {
            return;
        };
        let said = |name| line.params.get(name)?.string();
        if let Some(said) = ["modeId", "modelId", "value"].into_iter().find_map(said) {
            trace.hold(&mut question.kept, said.as_escaped());
        }
        let again = line.session.filter(|session| session.as_escaped() == self.session);
        again.into_iter().for_each(|session| trace.took(session.as_escaped()));
    }

    /// The agent has granted it. The host has said where it is `kept` what is another now.
    pub(super) fn changed<'a>(&mut self, change: Change, kept: &mut Kept, cx: &Cx<'a>, sink: &mut dyn Sink<'a>) {
        let is_mode = matches!(change, Change::Mode(_));
        match change {
            Change::Mode(mode) => self.facts.mode = mode,
            Change::Model(model) => self.facts.model = model,
        }
        let said = |fact: &str| (!fact.is_empty()).then(|| Str::trusted(cx.arena.alloc_str(fact)));
        let session = cx.keep(Session {
            cwd: said(&self.cwd),
            model: said(&self.facts.model),
            permission_mode: said(&self.facts.mode),
            agents: self.agents(cx),
            ..Session::default()
        });
        let now = if is_mode { session.permission_mode } else { session.model };
        let now = now.unwrap_or_default().as_escaped();
        if let Some(trace) = cx.trace {
            trace.watch(now, kept);
        }
        sink.event(&Event::new(self.origin(cx), Kind::Session(session)));
        if let Some(trace) = cx.trace {
            trace.told(kept, now, "no place in the target");
        }
    }

    /// The subagents that the host has declared.
    pub(super) fn agents<'a>(&self, cx: &Cx<'a>) -> Option<Raw<'a>> {
        (!self.facts.agents.is_empty()).then(|| Raw::checked(cx.arena.alloc_str(&self.facts.agents)))
    }
}

/// The subagents that a request which opens a session declares, in the only words that there are for it, as a list of names.
pub(super) fn declared(line: &Line<'_>) -> String {
    let meta = line.params.get("_meta").and_then(|meta| meta.get("claudeCode"));
    let agents = meta.and_then(|own| own.get("options")).and_then(|options| options.get("agents"));
    let names: Vec<String> = agents
        .into_iter()
        .flat_map(Raw::members)
        .map(|(name, _)| format!("\"{}\"", name.as_escaped()))
        .collect();
    if names.is_empty() {
        String::new()
    } else {
        format!("[{}]", names.join(","))
    }
}
