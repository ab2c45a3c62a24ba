//! Events to Tricode's lines.

use super::formatted_result::Shown;
use super::held::{Answer, Held, HeldCalls};
use super::own::{Own, join};
use super::plan::{List, Plan};
use super::{DENIED, ask, failure, input, lines};
use crate::answer::{release_in, used_in};
use crate::codec::{Dialect, Encode, Style, TellsEnd, Tools, Want};
use crate::event::{
    Block, Event, Fatal, Fate, Fields, Input, Kind, Origin, Outcome, OutcomeKind, Place, Reply, Request, ResultStatus, RoundEnd, Session, ToolCall,
    ToolResult, Topic,
};
use crate::ids;
use crate::json::{Out, Raw, Str, alike};
use crate::trace::Kept;

/// Writes it.
///
/// Calls are held until their result is known, so that each call stands right before its result; results are held until those of
/// the calls before are known, so that all stand in the order of the calls. Text is held until it is known to be the last of its turn: only that has a place, in `final`.
#[derive(Debug)]
pub struct Encoder {
    pub(super) style: Style,
    /// For events that were read from Tricode's own lines.
    pub(super) own: Own,
    /// The session's id as the source has it.
    session: String,
    /// Turns that are over.
    turns: u64,
    turn: Turn,
    held: HeldCalls,
    /// A call that was written, kept for its memory.
    spare: Option<Held>,
    plan: Plan,
    scratch: String,
    denied: String,
    /// Questions for permission are asked.
    pub(super) asks: bool,
}

#[derive(Debug, Default)]
struct Turn {
    /// Its `system` line was written.
    begun: bool,
    rounds: u64,
    /// It was told that the turn failed.
    failed: bool,
    /// The text since the last call or result, as the body of a JSON string.
    text: String,
    /// The parts of the source that the text is made of.
    kept: Kept,
    /// How much of the text, and how many of its parts, came before this round.
    before_round: (usize, usize),
}

/// What the program says when the model said nothing.
const NOTHING: Str<'static> = Str::trusted("No response generated");

impl Encoder {
    /// At the beginning of a session.
    pub fn new(style: Style) -> Self {
        Self {
            style,
            own: Own::default(),
            session: String::new(),
            turns: 0,
            turn: Turn::default(),
            held: HeldCalls::default(),
            spare: None,
            plan: Plan::default(),
            scratch: String::new(),
            denied: String::new(),
            asks: false,
        }
    }
}

impl Encode for Encoder {
    fn tells_end(&self, result: &ToolResult<'_>) -> TellsEnd {
        match result.status {
            ResultStatus::Canceled => TellsEnd::Lost("a call that was stopped: it has failed in tricode"),
            _ => TellsEnd::Itself,
        }
    }

    fn want(&self) -> Want {
        let want = Want::SNAPSHOTS.without_models().without_call_ids().without_thoughts();
        want.with_tools(if self.is_text() { Tools::Nothing } else { Tools::Calls })
    }

    fn takes_fields(&self) -> bool {
        self.style.source == Dialect::Tricode && !self.is_text()
    }

    fn takes_usage(&self) -> bool {
        false
    }

    fn passes_over(&self, topic: Topic, _: Option<Str<'_>>) -> bool {
        self.style.source != Dialect::Tricode && matches!(topic, Topic::Thinking | Topic::Status)
    }

    fn event(&mut self, event: &Event<'_>, out: &mut Out) {
        if self.is_text() {
            return self.text_event(event, out);
        }
        if self.style.source == Dialect::Tricode {
            return self.own.event(event, out);
        }
        let origin = event.origin;
        if self.turn.begun {
            self.another_id(origin, out);
        }
        match event.kind {
            Kind::Session(session) => self.session(origin, session, out),
            Kind::RoundStart(start) => {
                self.begin(origin, false, out);
                // The next model call begins: calls that have no result by now get none.
                self.release(out);
                self.round_begins();
                if start.number.is_none() {
                    out.invented("/number", "rounds are counted");
                }
                lines::round(Some(self.turn.rounds), &[], out);
            }
            Kind::Reply(reply) => self.reply(origin, reply, out),
            Kind::RoundEnd(end) => self.round_end(end, out),
            Kind::ToolResult(result) => self.result(origin, result, out),
            Kind::Notice(notice) if notice.topic == Topic::Reminder => {
                self.begin(origin, false, out);
                let message = notice.message.unwrap_or_default();
                out.used(message.as_escaped());
                lines::reminder(message, &[], out);
            }
            Kind::Outcome(outcome) => {
                self.own.close(out);
                self.outcome(origin, outcome, out);
            }
            Kind::Fatal(fatal) => {
                self.own.close(out);
                self.unsaid_session(origin, out);
                self.fatal(fatal, out);
            }
            Kind::Request(request) => self.ask(origin, request, event.fields, out),
            Kind::Prompt(prompt) => input::prompt(prompt, out),
            // What an agent of ours shows of its talk with the model (`--debug`).
            Kind::Noise(text) if self.style.agent => {
                self.begin(origin, false, out);
                out.lit(text);
                out.lit("\n");
            }
            _ => {}
        }
    }

    fn asks(&mut self) {
        self.asks = true;
        self.own.asks();
    }

    fn input(&mut self, input: &Input<'_>, out: &mut Out) {
        input::input(input, out);
    }

    fn finish(&mut self, out: &mut Out) {
        self.release(out);
    }
}

impl Encoder {
    /// A turn may go on under another id than that with which it began.
    #[inline]
    fn another_id(&mut self, origin: Origin<'_>, out: &Out) {
        if let Some(id) = origin.session.filter(|id| !alike(id.as_escaped(), &self.session) && !id.is_empty()) {
            id.as_escaped().clone_into(&mut self.session);
            let mut kept = Kept::default();
            out.hold(&mut kept, id.as_escaped());
            out.drop_held(&mut kept, "the turn goes on under another id than that with which it began");
        }
    }

    fn session(&mut self, origin: Origin<'_>, session: &Session<'_>, out: &mut Out) {
        if let Some(id) = origin.session {
            id.as_escaped().clone_into(&mut self.session);
        }
        if session.opens_turn {
            self.begin(origin, session.resumed, out);
        }
    }

    /// Writes the `system` line of the turn, if that has not been done. Later turns are runs that resume the session.
    fn begin(&mut self, origin: Origin<'_>, resumed: bool, out: &mut Out) {
        if std::mem::replace(&mut self.turn.begun, true) || self.is_text() {
            return;
        }
        let id = origin.session.map_or(self.session.as_str(), Str::as_escaped);
        let short = ids::short(id);
        match origin.session {
            _ if id.is_empty() => out.invented("/message", "the source says no session id"),
            Some(id) if id.as_escaped() != short => out.renamed(id.as_escaped(), "a session id in tricode has eight digits"),
            _ => {}
        }
        let resumed = resumed || self.turns > 0;
        lines::system(if resumed { lines::RESUMED } else { lines::NEW }, Str::trusted(&short), &[], out);
        if let Some(id) = origin.session.filter(|_| self.session.is_empty()) {
            id.as_escaped().clone_into(&mut self.session);
        }
    }

    fn reply(&mut self, origin: Origin<'_>, reply: &Reply<'_>, out: &mut Out) {
        for block in reply.blocks {
            match block {
                Block::Text { text, .. } => {
                    self.begin(origin, false, out);
                    self.hold_text(*text, out);
                }
                Block::Call(call) => {
                    self.begin(origin, false, out);
                    self.call(call, out);
                }
                // Thinking and media have no place.
                _ => {}
            }
        }
    }

    pub(super) fn round_begins(&mut self) {
        self.turn.rounds += 1;
        self.turn.before_round = (self.turn.text.len(), self.turn.kept.len());
    }

    pub(super) fn hold_text(&mut self, text: Str<'_>, out: &mut Out) {
        self.turn.text.push_str(text.as_escaped());
        out.hold(&mut self.turn.kept, text.as_escaped());
    }

    fn call(&mut self, call: &ToolCall<'_>, out: &mut Out) {
        self.drop_text(out);
        if HeldCalls::is_too_long(call) {
            while let Some(held) = self.held.take_first() {
                self.write_held(held, out);
            }
        }
        let mut held = self.spare.take().unwrap_or_default();
        call.id.as_escaped().clone_into(&mut held.id);
        call.name.as_escaped().clone_into(&mut held.name);
        held.line.clear();
        held.said = false;
        held.list = if self.style.native_tools {
            List::read(call).filter(|list| self.plan.takes(list)).map(Box::new)
        } else {
            None
        };
        if let Some(list) = &mut held.list {
            list.tell(call, out);
        } else {
            let (object, sound) = (call.object(out), call.input.is_checked());
            held.said = HeldCalls::is_too_long(call);
            let plain = match held.said {
                true => lines::tool_call(call.name, Raw::known(&object, sound), out),
                false => lines::tool_call(call.name, Raw::known(&object, sound), &mut held.line),
            };
            out.used(call.name.as_escaped());
            out.used(call.input.as_str());
            out.invented("/formatted", "worked out from the name and the arguments");
            if !plain {
                out.note(Fate::Renamed, "", "a number beyond Python's floats keeps its digits");
            }
        }
        out.carried();
        self.held.add(held);
        while let Some(held) = self.held.take_surplus() {
            self.write_held(held, out);
        }
    }

    /// Asks a person for permission, behind the line of the call. A log of what was asked elsewhere asks nobody any more.
    fn ask(&mut self, origin: Origin<'_>, request: &Request<'_>, fields: Fields<'_>, out: &mut Out) {
        let Some(permission) = request.permission.filter(|_| self.asks) else {
            return;
        };
        self.begin(origin, false, out);
        self.drop_text(out);
        let call = permission.call.unwrap_or_default();
        let (mut name, mut input, mut line) = (permission.name, permission.input, Vec::new());
        match self.held.get(call.as_escaped()) {
            Some(held) => {
                held.said = true;
                line = std::mem::take(&mut held.line);
            }
            None => _ = lines::tool_call(name, input.unwrap_or(Raw::trusted("{}")), &mut line),
        }
        out.bytes(&line);
        // The call has the names of this dialect; the question may have those of its agent.
        if let Ok(line) = std::str::from_utf8(&line) {
            let line = Raw::trusted(line.trim_end());
            name = line.get("name").and_then(Raw::string).unwrap_or(name);
            input = line.get("arguments").or(input);
        }
        self.own.ask(name, input, ask::preview(fields), out);
    }

    fn result(&mut self, origin: Origin<'_>, result: &ToolResult<'_>, out: &mut Out) {
        self.own.answered();
        self.begin(origin, false, out);
        self.drop_text(out);
        let success = result.status == ResultStatus::Success;
        let id = result.call.as_escaped();
        let waits = self.held.is_later(id) && self.held.get(id).is_some_and(|held| !held.said);
        let mut taken = if waits { None } else { self.held.take(id) };
        let went_before = self.held.overflowed();
        let mut held = if waits { self.held.get(id) } else { taken.as_mut() };
        let list = held.as_mut().and_then(|held| held.list.take());
        // The plan says what was to be done: of the words for having done it nothing is left.
        let mut text = match &list {
            Some(_) if success => Str::EMPTY,
            _ => join(result, &mut self.scratch, out),
        };
        if self.style.native_tools && result.status == ResultStatus::Denied && !text.as_escaped().starts_with(DENIED) {
            self.denied.clear();
            self.denied.push_str("Denied: ");
            self.denied.push_str(text.as_escaped());
            text = Str::trusted(&self.denied);
            out.invented("/result", "results of calls that were refused begin with Denied");
        }
        if let Some(list) = list {
            let failed = (!success).then_some(text);
            match held.filter(|_| waits) {
                Some(held) => held.answer = Some(Box::new(Answer::List(list, failed.map(|text| text.as_escaped().to_owned())))),
                None => self.plan.answered(*list, failed, out),
            }
            // The call's id is what the result was told by.
            out.carried();
            return self.answered(out);
        }
        // Only the result tells a new file from one that was written over, and the call is named by it.
        if let (Some(held), Some(call)) = (&mut held, result.of.filter(|_| self.style.native_tools))
            && call.name.as_escaped() != held.name
            && !held.said
        {
            held.line.clear();
            lines::tool_call(call.name, call.input, &mut held.line);
        }
        let (held_name, waiting) = match held {
            Some(Held { name, line, answer, .. }) => (Some(Str::trusted(name)), Some((line, answer))),
            None => (None, None),
        };
        let name = result.of.map(|call| call.name).or(result.name).or(held_name);
        if let Some(name) = result.name_again() {
            out.used(name.as_escaped());
        }
        out.invented("/formatted", "worked out from the name, the arguments and the result");
        let shown = Shown {
            name: name.unwrap_or(Str::trusted("unknown")),
            arguments: result.of.map(|call| call.input),
            success,
            result: text,
        };
        match waiting {
            Some((line, answer)) if waits => {
                lines::tool_result(shown, line);
                *answer = Some(Box::new(Answer::Written));
            }
            line => {
                if let Some((line, _)) = line {
                    out.bytes(line);
                } else if let Some(call) = result.of.filter(|_| !went_before) {
                    // A run's results are those of its own calls.
                    lines::tool_call(call.name, call.input, out);
                    out.note(Fate::Invented, "", "a result of an earlier run's call: that is told again");
                }
                lines::tool_result(shown, out);
            }
        }
        self.spare = taken.or(self.spare.take());
        self.answered(out);
    }

    /// Writes the calls and results that waited for those before them.
    fn answered(&mut self, out: &mut Out) {
        while let Some((held, answer)) = self.held.take_answered() {
            match answer {
                Answer::Written => out.bytes(&held.line),
                Answer::List(list, failed) => self.plan.answered(*list, failed.as_deref().map(Str::trusted), out),
            }
        }
    }

    /// A reply that was given up may come again under another id; its text must not stand twice.
    pub(super) fn round_end(&mut self, end: &RoundEnd<'_>, out: &Out) {
        if end.abandoned_from == Some(0) {
            let (text, kept) = self.turn.before_round;
            self.turn.text.truncate(text);
            out.drop_held(&mut self.turn.kept.split_off(kept), "a reply that was given up");
        }
    }

    pub(super) fn outcome(&mut self, origin: Origin<'_>, outcome: &Outcome<'_>, out: &mut Out) {
        // A program that cannot even begin says only why.
        let still_born = outcome.is_error && !self.turn.begun && self.turns == 0 && outcome.kind == OutcomeKind::Failed(Place::Backend);
        if still_born {
            self.unsaid_session(origin, out);
        } else if !self.turn.failed {
            self.begin(origin, false, out);
        }
        self.release(out);
        // The program ends without a word when a call was not allowed.
        let wordless = outcome.synthetic && outcome.kind == OutcomeKind::Failed(Place::Tool);
        if wordless {
            out.merged("the result of the call says that it was not allowed");
        } else if !outcome.is_error {
            let said = outcome.text.filter(|text| !text.is_empty());
            if let Some(text) = said {
                used_in(self.style.mode.layout, text, out);
            }
            let held = Some(Str::trusted(&self.turn.text)).filter(|text| !text.is_empty());
            if out.traced() && said.is_none_or(|said| said.unescape().contains(&*Str::trusted(&self.turn.text).unescape())) {
                release_in(self.style.mode.layout, &mut self.turn.kept, Str::trusted(&self.turn.text), out);
            }
            let text = said.or(held).unwrap_or_else(|| {
                out.invented("/content", "there is no answer");
                NOTHING
            });
            if self.is_text() {
                Self::answer(text, out);
            } else {
                lines::last(Some(text), &[], out);
            }
        } else if self.turn.failed {
            out.merged("the error was told already");
        } else {
            let error = outcome.error.or(outcome.text).filter(|text| !text.is_empty());
            let held = Some(Str::trusted(&self.turn.text)).filter(|text| !text.is_empty());
            match failure::write(outcome.kind, error.or(held), out) {
                _ if error.is_some() => {}
                true => out.release(&mut self.turn.kept),
                false => out.rename_held(&mut self.turn.kept, failure::ON_A_LINE),
            }
        }
        out.drop_held(
            &mut self.turn.kept,
            "no place in tricode: a turn that failed, or gives another answer, says nothing else",
        );
        self.turns += 1;
        let mut text = std::mem::take(&mut self.turn.text);
        text.clear();
        self.turn = Turn { text, ..Turn::default() };
    }

    /// The program ends with an error; an outcome may follow, and then says nothing new.
    pub(super) fn fatal(&mut self, fatal: &Fatal<'_>, out: &mut Out) {
        self.release(out);
        failure::write(OutcomeKind::Failed(Place::Model), Some(fatal.message), out);
        self.turn.failed = true;
    }

    /// A program that cannot even begin names no session.
    fn unsaid_session(&self, origin: Origin<'_>, out: &Out) {
        if let Some(id) = origin.session.filter(|_| !self.is_text() && !self.turn.begun && self.turns == 0) {
            let mut kept = Kept::default();
            out.hold(&mut kept, id.as_escaped());
            out.drop_held(&mut kept, "a run that cannot begin names no session");
        }
    }

    pub(super) fn drop_text(&mut self, out: &Out) {
        if !self.turn.text.is_empty() {
            out.drop_held(&mut self.turn.kept, "no place in tricode: of a turn's texts only the last has one");
            self.turn.text.clear();
            self.turn.before_round = (0, 0);
        }
    }

    /// Writes the calls that got no result.
    fn release(&mut self, out: &mut Out) {
        for held in self.held.take_all() {
            self.write_held(held, out);
        }
    }

    /// Writes a call that has no result yet, or one that waited with its result.
    fn write_held(&mut self, mut held: Held, out: &mut Out) {
        match (held.answer.map(|answer| *answer), held.list) {
            (Some(Answer::List(list, failed)), _) => self.plan.answered(*list, failed.as_deref().map(Str::trusted), out),
            (None, Some(list)) => self.plan.begin(*list, out),
            _ => out.held(&mut held.line),
        }
    }
}
