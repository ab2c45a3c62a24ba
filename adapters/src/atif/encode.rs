//! Events to a trajectory: what is said of the session, and where things go.

use std::collections::{BTreeMap, BTreeSet};

use super::decode::DEPTH;
use super::document::{Frame, Step, Trajectory, write};
use super::turn::has;
use super::{AGENT, EXTRA};
use crate::codec::{Dialect, Encode, Style, Want};
use crate::event::{At, Counted, Event, Fields, Input, InputKind, Kind, Origin, Session, Time, iso};
use crate::json::{Out, Raw, Str};
use crate::trace::Kept;

/// Writes one document a session, when the session is over.
#[derive(Debug)]
pub struct Encoder {
    style: Style,
    /// The session's id, escaped.
    session: String,
    /// What is known of the session's agent: members of its object, and of that one's free room.
    version: Option<String>,
    model: Option<String>,
    facts: Vec<(&'static str, String)>,
    /// Where the source says it.
    pub(super) kept: Kept,
    own: Own,
    /// The main trajectory, and those of subagents in the order in which they began.
    pub(super) all: Vec<Trajectory>,
    /// The subagents' by their calls.
    subagents: BTreeMap<String, usize>,
    /// The ids of trajectories.
    ids: BTreeSet<String>,
    /// In which trajectory a call stands, and in which of its steps.
    pub(super) calls: BTreeMap<String, (usize, usize)>,
    /// The results that refer to no subagent, by their calls: in which trajectory, in which of its steps, and which of its results.
    pub(super) answers: BTreeMap<String, (usize, usize, usize)>,
    pub(super) cost: Option<String>,
    pub(super) turn: Turn,
}

/// What only a trajectory says of itself: members, each behind a comma.
#[derive(Debug, Default)]
struct Own {
    name: String,
    agent: Vec<u8>,
    whole: Vec<u8>,
    has_sums: bool,
}

/// The turn that is being written.
#[derive(Debug, Default)]
pub(super) struct Turn {
    /// It was told that the program has failed: in which step, and where in its free room that stands.
    pub(super) failed: Option<(usize, usize)>,
    /// All that the model said in it, escaped.
    pub(super) said: String,
    /// What people were told last beside it, escaped.
    pub(super) noticed: String,
    /// Why a round stopped that has no step, in a word that nobody knows: the outcome may say it.
    pub(super) stop: (String, Kept),
    /// Its rounds said what they took.
    pub(super) counted: bool,
    /// How many steps there were before it.
    pub(super) first: usize,
}

impl Encoder {
    /// At the beginning of a session.
    pub fn new(style: Style) -> Self {
        Self {
            style,
            session: String::new(),
            version: None,
            model: None,
            facts: Vec::new(),
            kept: Kept::default(),
            own: Own::default(),
            all: vec![Trajectory::default()],
            subagents: BTreeMap::new(),
            ids: BTreeSet::new(),
            calls: BTreeMap::new(),
            answers: BTreeMap::new(),
            cost: None,
            turn: Turn::default(),
        }
    }

    pub(super) fn is_own(&self) -> bool {
        self.style.source == Dialect::Atif
    }

    /// The number of the trajectory in which something is said.
    pub(super) fn place(&mut self, origin: &Origin<'_>, out: &Out) -> usize {
        let Some(call) = origin.parent.filter(|call| !call.is_empty()) else {
            return 0;
        };
        out.used(call.as_escaped());
        let (id, name) = origin.agent.map_or((None, None), |agent| (agent.id, agent.name));
        let at = match self.subagents.get(call.as_escaped()) {
            Some(&at) => at,
            None => self.begin_subagent(call),
        };
        if let Some(id) = id.map(Str::as_escaped).filter(|id| self.all[at].id.is_empty() && self.is_free(id)) {
            self.name(at, id.to_owned());
        }
        let one = &mut self.all[at];
        if one.agent.is_empty() {
            name.unwrap_or_default().as_escaped().clone_into(&mut one.agent);
        }
        for (known, said) in [(&one.id, id), (&one.agent, name)] {
            if let Some(said) = said.filter(|said| known == said.as_escaped()) {
                out.used(said.as_escaped());
            }
        }
        at
    }

    /// A trajectory of its own.
    fn begin_subagent(&mut self, call: Str<'_>) -> usize {
        let at = self.all.len();
        let call = call.as_escaped().to_owned();
        self.subagents.insert(call.clone(), at);
        self.all.push(Trajectory {
            call,
            ..Trajectory::default()
        });
        at
    }

    /// Whether no trajectory has this id.
    fn is_free(&self, id: &str) -> bool {
        !id.is_empty() && !self.ids.contains(id)
    }

    /// Gives a trajectory its id.
    fn name(&mut self, at: usize, id: String) {
        self.ids.insert(id.clone());
        self.all[at].id = id;
    }

    /// The id of a subagent's trajectory; where the source has said none so far, one is made of its call's.
    fn id_of(&mut self, at: usize) -> &str {
        if self.all[at].id.is_empty() {
            let call = &self.all[at].call;
            let id = match self.is_free(call) {
                true => call.clone(),
                false => format!("{call}-{at}"),
            };
            self.name(at, id);
        }
        &self.all[at].id
    }

    /// Begins a step. An answer that is being given goes on.
    pub(super) fn step(&mut self, source: &'static str, origin: &Origin<'_>, out: &mut Out) -> &mut Step {
        let at = self.place(origin, out);
        let one = &mut self.all[at];
        one.steps.push(Step::new(source, time(origin.time, out)));
        out.promise();
        let last = one.steps.len() - 1;
        &mut one.steps[last]
    }

    /// The step of the answer that the model is giving.
    pub(super) fn answer(&mut self, origin: &Origin<'_>, out: &mut Out) -> (usize, usize) {
        let at = self.place(origin, out);
        if let Some(open) = self.all[at].open {
            if let Some(again) = origin.time {
                out.beside(again.source());
            }
            return (at, open);
        }
        self.step("agent", origin, out);
        let last = self.all[at].steps.len() - 1;
        self.all[at].open = Some(last);
        (at, last)
    }

    fn session(&mut self, session: &Session<'_>, fields: Fields<'_>, out: &mut Out) {
        for (known, said) in [(&mut self.version, session.version), (&mut self.model, session.model)] {
            let Some(said) = said else { continue };
            match known {
                Some(known) if *known != said.as_escaped() => {}
                _ => {
                    out.hold(&mut self.kept, said.as_escaped());
                    *known = Some(said.as_escaped().to_owned());
                }
            }
        }
        let strings = [
            ("cwd", session.cwd),
            ("permission_mode", session.permission_mode),
            ("api_key_source", session.api_key_source),
        ];
        for (name, value) in strings {
            if let Some(value) = value {
                self.fact(name, format!("\"{}\"", value.as_escaped()), value.as_escaped(), out);
            }
        }
        let values = [
            ("tools", session.tools),
            ("mcp_servers", session.mcp_servers),
            ("slash_commands", session.slash_commands),
            ("agents", session.agents),
            ("protocol_version", session.protocol_version),
            ("capabilities", session.capabilities),
        ];
        for (name, value) in values {
            if let Some(value) = value.filter(|value| value.check().is_ok()) {
                self.fact(name, value.as_str().to_owned(), value.as_str(), out);
            }
        }
        out.carried();
        if self.is_own() {
            self.own_facts(fields, out);
        }
    }

    /// Something that the free room of the agent says. The first value stays.
    fn fact(&mut self, name: &'static str, value: String, source: &str, out: &Out) {
        let known = self.facts.iter().find(|(known, _)| *known == name);
        if known.is_some_and(|(_, known)| *known != value) {
            return;
        }
        if known.is_none() {
            self.facts.push((name, value));
        }
        out.hold(&mut self.kept, source);
    }

    /// What a trajectory that was read says of itself goes back as it was.
    fn own_facts(&mut self, fields: Fields<'_>, out: &mut Out) {
        for field in fields {
            let written = out.apart(|out| field.write_next(out));
            match field.at {
                At::Part(AGENT) if field.key.is("name") => {
                    field.value.string().unwrap_or_default().as_escaped().clone_into(&mut self.own.name);
                }
                At::Part(AGENT) => self.own.agent.extend(written),
                _ => {
                    self.own.has_sums |= field.key.is("final_metrics");
                    self.own.whole.extend(written);
                }
            }
        }
    }

    /// A call stands in a step. A subagent that worked for an earlier one of its id does not work for it.
    pub(super) fn call_stands(&mut self, id: Str<'_>, at: usize, number: usize) {
        let before = self.calls.insert(id.as_escaped().to_owned(), (at, number));
        self.refer_late(id);
        self.answers.remove(id.as_escaped());
        if let Some((owner, _)) = before
            && let Some(subagent) = self.subagents.remove(id.as_escaped())
        {
            self.all[subagent].owner = Some(owner);
        }
    }

    /// The trajectory of the subagent that works for a call.
    pub(super) fn subagent_of(&mut self, call: Str<'_>) -> Option<String> {
        let at = *self.subagents.get(call.as_escaped())?;
        if self.all[at].steps.is_empty() {
            return None;
        }
        self.all[at].referred = true;
        Some(self.id_of(at).to_owned())
    }

    /// The subagent of a call has begun when the call had its result, which refers to it now.
    fn refer_late(&mut self, call: Str<'_>) {
        if let Some(&(at, step, result)) = self.answers.get(call.as_escaped())
            && let Some(id) = self.subagent_of(call)
        {
            let written = &mut self.all[at].steps[step].results[result];
            written.pop();
            written.extend(reference(&id));
            written.push(b'}');
        }
    }

    /// All is told: what has no result that refers to it is found by its call's id.
    fn find_all(&mut self) {
        let answers: Vec<String> = self.answers.keys().cloned().collect();
        answers.iter().for_each(|call| self.refer_late(Str::trusted(call)));
        for at in 1..self.all.len() {
            let one = &self.all[at];
            if !one.referred && !self.is_own() && self.is_free(&one.call) {
                self.name(at, one.call.clone());
            }
            self.id_of(at);
        }
    }

    /// Members of the agent behind its name.
    fn agent(&self, out: &Out) -> Vec<u8> {
        let mut agent = String::from(",\"version\":\"");
        agent.push_str(self.version.as_deref().unwrap_or("unknown"));
        agent.push('"');
        if let Some(model) = self.model.as_deref().filter(|model| !model.is_empty()) {
            agent.push_str(&format!(",\"model_name\":\"{model}\""));
        }
        let has_extra = has(&self.own.agent, EXTRA);
        if !self.facts.is_empty() && !has_extra {
            let facts: Vec<String> = self.facts.iter().map(|(name, value)| format!("\"{name}\":{value}")).collect();
            agent.push_str(&format!(",\"extra\":{{{}}}", facts.join(",")));
        }
        if self.version.is_none() {
            out.invented("/agent/version", "the source does not say its agent's version");
        }
        let mut agent = agent.into_bytes();
        agent.extend_from_slice(&self.own.agent);
        agent
    }

    /// For each trajectory those whose calls stand in it, without those that say nothing.
    fn inside(&self) -> Vec<Vec<usize>> {
        let mut inside = vec![Vec::new(); self.all.len()];
        let mut depths = vec![0; self.all.len()];
        for (at, one) in self.all.iter().enumerate().skip(1) {
            let place = one.owner.or_else(|| self.calls.get(&one.call).map(|(of, _)| *of));
            // One that stands in a later one could stand in itself, and nobody reads those that stand too deep.
            let place = place.filter(|&place| place < at && depths[place] < DEPTH).unwrap_or(0);
            depths[at] = depths[place] + 1;
            if !one.steps.is_empty() {
                inside[place].push(at);
            }
        }
        inside
    }
}

/// Where a result names the trajectory of the subagent that has worked for it.
pub(super) fn reference(id: &str) -> Vec<u8> {
    format!(",\"subagent_trajectory_ref\":[{{\"trajectory_id\":\"{id}\"}}]").into_bytes()
}

impl Encode for Encoder {
    fn asks_rounds(&self) -> bool {
        true
    }

    fn counts_usage(&self) -> Counted {
        Counted::NO_TOTAL
    }

    fn want(&self) -> Want {
        Want::SNAPSHOTS.with_subagents().with_whole_rounds()
    }

    fn event(&mut self, event: &Event<'_>, out: &mut Out) {
        if let Some(session) = event.origin.session.filter(|id| !id.is_empty() && id.as_escaped() != self.session) {
            if !self.session.is_empty() {
                out.renamed(session.as_escaped(), "a trajectory has one session id");
            } else {
                session.as_escaped().clone_into(&mut self.session);
            }
        }
        match event.kind {
            Kind::Session(session) => self.session(session, event.fields, out),
            Kind::Prompt(prompt) => self.prompt(event, prompt, out),
            Kind::RoundStart(start) => {
                if let Some(model) = start.model.filter(|model| self.model.is_none() && !model.is_empty()) {
                    out.used(model.as_escaped());
                    self.model = Some(model.as_escaped().to_owned());
                }
                out.carried();
            }
            Kind::Reply(reply) => self.reply(event, reply, out),
            Kind::RoundEnd(end) => self.round_end(event, end, out),
            Kind::ToolResult(result) => self.tool_result(event, result, out),
            Kind::Notice(notice) => self.notice(event, notice, out),
            Kind::Outcome(outcome) => self.outcome(event, outcome, out),
            Kind::Fatal(fatal) => self.fatal(event, fatal, out),
            _ => {}
        }
    }

    fn input(&mut self, input: &Input<'_>, out: &mut Out) {
        if let InputKind::Prompt(prompt) = input.kind {
            let event = Event {
                origin: input.origin,
                kind: Kind::Prompt(prompt),
                fields: &[],
            };
            self.event(&event, out);
        }
    }

    fn finish(&mut self, out: &mut Out) {
        if self.all.iter().all(|one| one.steps.is_empty()) {
            return out.drop_held(&mut self.kept, "a trajectory has steps, and there are none");
        }
        out.release(&mut self.kept);
        if self.all[0].steps.is_empty() {
            self.step("system", &Origin::default(), out);
            out.invented("/steps/0", "a trajectory has steps, and only subagents have said something");
        }
        self.find_all();
        let agent = self.agent(out);
        if self.own.name.is_empty() {
            out.invented("/agent/name", "the name of the dialect that was read");
            self.style.source.name().clone_into(&mut self.own.name);
        }
        let inside = self.inside();
        let frame = Frame {
            name: &self.own.name,
            agent: &agent,
            more: &self.own.whole,
            cost: self.cost.as_deref(),
            has_sums: self.own.has_sums,
        };
        write(&self.all, 0, &inside, &self.session, &frame, out);
        out.lit("\n");
    }
}

/// When something happened, as it is written; empty if nobody knows.
pub(super) fn time(time: Option<Time<'_>>, out: &Out) -> String {
    let Some((time, millis)) = time.and_then(|time| Some((time, time.millis()?))) else {
        return String::new();
    };
    out.used(time.source());
    match time {
        Time::Iso(text) => text.as_escaped().to_owned(),
        _ => iso(millis).into_iter().map(char::from).collect(),
    }
}

/// A value that is written as it was read.
pub(super) fn value(raw: Raw<'_>, out: &mut Out) -> Vec<u8> {
    out.apart(|out| out.unchecked(raw))
}
