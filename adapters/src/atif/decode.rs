//! A trajectory to events.

use super::fields::knows;
use super::{AGENT, EXTRA};
use std::collections::HashSet;

use crate::chat::{FieldList, Members};
use crate::codec::{Cx, Decode, stray};
use crate::event::{Agent, At, Count, Event, Fate, Fields, Kind, Origin, Outcome, Scope, Session, Sink, Time, Usage};
use crate::json::{Cursor, Error, Raw, Shape, Str};
use crate::store::{DERIVED, Turn};

/// Reads whole trajectories, of which one knows nothing of the other.
#[derive(Clone, Copy, Debug)]
pub struct Decoder;

impl Decode for Decoder {
    fn line<'a>(&mut self, text: &'a str, cx: &Cx<'a>, sink: &mut dyn Sink<'a>) -> Result<usize, Error> {
        if !text.starts_with('{') {
            return Ok(stray(text, sink));
        }
        let mut at = Cursor::new(text);
        let mut members = Members::read(&mut at, cx)?;
        let end = at.position();
        let version = members.get("schema_version").and_then(Raw::string);
        if !version.is_some_and(|version| version.as_escaped().starts_with("ATIF")) {
            let value = Raw::trusted(&text[..end]);
            sink.event(&Event::new(Origin::default(), Kind::Unknown(value)));
            return Ok(end);
        }
        let steps = members.shaped("steps", Shape::Array, cx).ok_or(Error::missing(end, "steps"))?;
        members.word("schema_version", cx);
        let mut teller = Teller {
            cx: *cx,
            sink,
            session: None,
            turn: Turn::default(),
            prompted: false,
            sums: Sums::default(),
            told: HashSet::new(),
        };
        teller.trajectory(members, steps);
        Ok(end)
    }

    fn next_session(&mut self, _to: &str) {}
}

/// Tells what a trajectory says.
pub(super) struct Teller<'t, 'a> {
    pub(super) cx: Cx<'a>,
    pub(super) sink: &'t mut dyn Sink<'a>,
    /// The session's id.
    session: Option<Str<'a>>,
    /// The turn that the trajectory is in.
    pub(super) turn: Turn,
    /// The user has spoken in it, and nobody else.
    pub(super) prompted: bool,
    /// What the whole trajectory took, once its last step is told.
    pub(super) sums: Sums<'a>,
    /// Where trajectories of subagents stand that were told. Each is told once, however many results refer to it.
    told: HashSet<usize>,
}

/// What a whole trajectory took.
#[derive(Clone, Copy, Default)]
pub(super) struct Sums<'a> {
    cost: Option<Raw<'a>>,
    /// Where no step says any of it.
    tokens: Option<Usage<'a>>,
}

impl<'a> Sums<'a> {
    fn of(sums: Raw<'a>, steps: Raw<'a>) -> Self {
        let count = |name: &str| sums.get(name).and_then(Count::read);
        let is_said = || steps.elements().any(|step| step.get("metrics").is_some_and(|metrics| !metrics.is_null()));
        let tokens = Usage {
            input: count("total_prompt_tokens"),
            output: count("total_completion_tokens"),
            cache_read: count("total_cached_tokens"),
            cache_write: sums
                .get(EXTRA)
                .and_then(|extra| extra.get("total_cache_creation_input_tokens"))
                .and_then(Count::read),
            inclusive: true,
            scope: Scope::Session,
            ..Usage::default()
        };
        Self {
            cost: sums.get("total_cost_usd").filter(|cost| cost.shape() == Some(Shape::Number)),
            tokens: Some(tokens).filter(|tokens| !tokens.is_blank() && !is_said()),
        }
    }
}

/// Whose steps are told: the main agent's, or those of a subagent.
#[derive(Clone, Copy)]
pub(super) struct Thread<'a> {
    /// The call that it works for.
    pub(super) parent: Option<Str<'a>>,
    pub(super) agent: Option<&'a Agent<'a>>,
    /// Its own subagents, sorted by their ids.
    subagents: &'a [Subagent<'a>],
    /// How deep it stands in others.
    depth: usize,
}

#[derive(Clone, Copy)]
struct Subagent<'a> {
    id: Str<'a>,
    trajectory: Raw<'a>,
    /// No result refers to it.
    alone: bool,
}

/// Subagents of subagents deeper than this are not told.
pub(super) const DEPTH: usize = 16;

impl<'a> Teller<'_, 'a> {
    fn trajectory(&mut self, mut members: Members<'a>, steps: Raw<'a>) {
        let cx = self.cx;
        self.session = members.text("session_id", &cx).filter(|id| !id.is_empty());
        if self.session.is_none() {
            self.session = members.text("trajectory_id", &cx).filter(|id| !id.is_empty());
        }
        let subagents = members.shaped("subagent_trajectories", Shape::Array, &cx);
        let sums = members.get("final_metrics").map_or_else(Sums::default, |sums| Sums::of(sums, steps));
        let mut fields = self.fields();
        let mut session = Session {
            opens_turn: true,
            ..Session::default()
        };
        if let Some(mut agent) = members.shaped("agent", Shape::Object, &cx).and_then(|agent| Members::of(agent, &cx)) {
            session.version = agent.text("version", &cx);
            session.model = agent.text("model_name", &cx);
            let extra = agent.get(EXTRA);
            let fact = |name: &str| extra.and_then(|extra| extra.get(name));
            session.cwd = fact("cwd").and_then(Raw::string);
            session.permission_mode = fact("permission_mode").and_then(Raw::string);
            session.tools = fact("tools").filter(|tools| tools.shape() == Some(Shape::Array) && tools.check().is_ok());
            agent.pour(At::Part(AGENT), knows, &mut fields);
        }
        members.pour(At::Line, knows, &mut fields);
        let origin = self.origin(None);
        self.tell(origin, Kind::Session(cx.keep(session)), fields.into_bump_slice());
        let thread = Thread {
            parent: None,
            agent: None,
            subagents: self.subagents(subagents, steps),
            depth: 0,
        };
        let mut all = steps.elements().peekable();
        while let Some(step) = all.next() {
            if all.peek().is_none() {
                self.sums = sums;
            }
            self.step(step, thread);
        }
        self.tell_alone(thread);
        self.end_turn(None, self.sums);
    }

    /// The trajectory of a subagent, as what is said in the thread of the call that it works for.
    fn subagent(&mut self, trajectory: Raw<'a>, call: Str<'a>, above: Thread<'a>) {
        let cx = self.cx;
        let Some(steps) = trajectory.get("steps").filter(|_| above.depth < DEPTH) else {
            return;
        };
        let text = |name: &str| trajectory.get(name).and_then(Raw::string);
        let about = trajectory.get("agent");
        let agent = Agent {
            id: text("trajectory_id"),
            name: about.and_then(|agent| agent.get("name")).and_then(Raw::string),
            task: None,
        };
        for structure in ["schema_version"].map(text).into_iter().flatten() {
            cx.took(structure.as_escaped());
        }
        let thread = Thread {
            parent: Some(call),
            agent: Some(cx.keep(agent)),
            subagents: self.subagents(trajectory.get("subagent_trajectories"), steps),
            depth: above.depth + 1,
        };
        for step in steps.elements() {
            self.step(step, thread);
        }
        self.tell_alone(thread);
    }

    /// The subagents of a trajectory with these steps, sorted by their ids.
    fn subagents(&self, list: Option<Raw<'a>>, steps: Raw<'a>) -> &'a [Subagent<'a>] {
        let Some(list) = list else { return &[] };
        let results = steps.elements().flat_map(results_of);
        let named: HashSet<&str> = results.flat_map(references).map(Str::as_escaped).collect();
        let subagent = |trajectory: Raw<'a>| {
            let id = trajectory.get("trajectory_id").and_then(Raw::string).unwrap_or_default();
            let alone = id.is_empty() || !named.contains(id.as_escaped());
            Subagent { id, trajectory, alone }
        };
        let mut all: Vec<_> = list.elements().map(subagent).collect();
        all.sort_by(|a, b| a.id.as_escaped().cmp(b.id.as_escaped()));
        self.cx.list(&all)
    }

    /// A result of a call refers to what has this id: tells what it did.
    pub(super) fn tell_named(&mut self, id: Str<'a>, call: Str<'a>, thread: Thread<'a>) {
        self.tell_those(id, call, false, thread);
    }

    /// A call stands in a step: tells what the subagent did that has its id and to which no result refers.
    pub(super) fn tell_alone_of(&mut self, call: Str<'a>, thread: Thread<'a>) {
        self.tell_those(call, call, true, thread);
    }

    fn tell_those(&mut self, id: Str<'a>, call: Str<'a>, alone: bool, thread: Thread<'a>) {
        let at = thread.subagents.partition_point(|one| one.id.as_escaped() < id.as_escaped());
        let those = thread.subagents[at..].iter().take_while(|one| one.id == id);
        for one in those.filter(|one| one.alone == alone) {
            self.tell_once(one, call, thread);
        }
    }

    /// Those whose ids are no calls'.
    fn tell_alone(&mut self, thread: Thread<'a>) {
        for one in thread.subagents.iter().filter(|one| one.alone) {
            let call = if one.id.is_empty() { Str::trusted("subagent") } else { one.id };
            self.tell_once(one, call, thread);
        }
    }

    fn tell_once(&mut self, one: &Subagent<'a>, call: Str<'a>, thread: Thread<'a>) {
        if self.told.insert(one.trajectory.as_str().as_ptr() as usize) {
            self.subagent(one.trajectory, call, thread);
        }
    }

    /// Ends the turn, if one is open: as `said`, or as it can be worked out.
    pub(super) fn end_turn(&mut self, said: Option<(Outcome<'a>, Fields<'a>)>, sums: Sums<'a>) {
        let cx = self.cx;
        self.prompted = false;
        let derived = self.turn.outcome(&cx);
        let (outcome, fields) = match (said, derived) {
            (Some((said, fields)), derived) => {
                let usage = derived.and_then(|derived| derived.usage);
                (Outcome { usage, ..said }, fields)
            }
            (None, Some(derived)) => {
                if let Some(trace) = cx.trace {
                    trace.note(Fate::Invented, "", DERIVED);
                }
                (derived, &[][..])
            }
            (None, None) => return,
        };
        let outcome = Outcome {
            usage: outcome.usage.or(sums.tokens),
            cost_usd: sums.cost.or(outcome.cost_usd),
            cost_scope: Scope::Session,
            ..outcome
        };
        let origin = self.origin(None);
        self.tell(origin, Kind::Outcome(cx.keep(outcome)), fields);
    }

    pub(super) fn origin(&self, time: Option<Time<'a>>) -> Origin<'a> {
        Origin {
            session: self.session,
            time,
            ..Origin::default()
        }
    }

    pub(super) fn tell(&mut self, origin: Origin<'a>, kind: Kind<'a>, fields: Fields<'a>) {
        self.sink.event(&Event { origin, kind, fields });
    }

    pub(super) fn fields(&self) -> FieldList<'a> {
        FieldList::new_in(self.cx.arena)
    }
}

/// The results of a step.
pub(super) fn results_of<'a>(step: Raw<'a>) -> impl Iterator<Item = Raw<'a>> {
    let list = step.get("observation").and_then(|observation| observation.get("results"));
    list.into_iter().flat_map(Raw::elements)
}

/// The trajectories that a result refers to.
pub(super) fn references<'a>(result: Raw<'a>) -> impl Iterator<Item = Str<'a>> {
    let list = result.get("subagent_trajectory_ref");
    list.into_iter()
        .flat_map(Raw::elements)
        .filter_map(|reference| reference.get("trajectory_id")?.string())
}
