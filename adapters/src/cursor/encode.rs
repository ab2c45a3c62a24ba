//! Events to Cursor's lines: who writes what.

use bumpalo::Bump;

use super::turn::Turn;
use crate::answer::Answer;
use crate::codec::{Dialect, Encode, Layout, Style, TellsEnd, Tools, Want};
use crate::event::{Counted, Event, Input, Kind, Notice, Origin, Piece, ResultStatus, Time, ToolKind, ToolResult, Topic, Usage};
use crate::ids;
use crate::json::{Out, Raw, Str, alike};
use crate::trace::Kept;
use crate::unique::Unique;
use crate::unsaid::Unsaid;

/// Writes `stream-json`, `json` and `text` of today's generation.
///
/// Lines that were read in this dialect go back as they were (`own`). Everything else becomes runs of one turn
/// each (`turn`).
#[derive(Debug)]
pub struct Encoder {
    pub(super) style: Style,
    pub(super) facts: Facts,
    pub(super) turn: Turn,
    /// No two calls of a session have the same id.
    unique: Unique,
    /// Where no lines are written: what is said instead.
    pub(super) answer: Answer,
    /// The session's id, escaped; empty until it is known or made up.
    session: String,
    /// `,"session_id":"…"`, which stands in every line.
    pub(super) tail: Vec<u8>,
    /// The last time that the source said.
    time: Option<i64>,
    /// What time it is, in a session that lives.
    now: Option<i64>,
    clock: Clock,
    /// How many turns were written.
    pub(super) turns: u64,
    /// The usage of all turns so far, from sources that count so.
    pub(super) total: Usage<'static>,
}

/// The time of the event that is being written: all events of a line have the same.
#[derive(Debug, Default)]
struct Clock {
    kind: Option<std::mem::Discriminant<Time<'static>>>,
    source: String,
    /// In milliseconds since 1970, and how that is written.
    millis: Option<i64>,
    digits: String,
}

/// What an init line says, as bodies of JSON strings.
#[derive(Debug, Default)]
pub(super) struct Facts {
    pub(super) api_key_source: Option<String>,
    pub(super) cwd: Option<String>,
    pub(super) model: Option<String>,
    pub(super) asks_permission: bool,
    /// Where the source says them, until they are said here.
    pub(super) kept: Unsaid,
}

impl Encoder {
    /// At the beginning of a session.
    pub fn new(style: Style) -> Self {
        Self {
            style,
            facts: Facts::default(),
            turn: Turn::default(),
            unique: Unique::default(),
            answer: Answer::of_last_turn(style.mode.layout == Layout::Document),
            session: String::new(),
            tail: Vec::new(),
            time: None,
            now: None,
            clock: Clock::default(),
            turns: style.at,
            total: Usage::default(),
        }
    }

    /// Whether lines are written, not one value or a text at the end.
    pub(super) const fn is_stream(&self) -> bool {
        !matches!(self.style.mode.layout, Layout::Document | Layout::Text)
    }

    /// Makes sure that there is a session's id to write.
    pub(super) fn need_session(&mut self, out: &Out) {
        if self.session.is_empty() {
            self.set_session(&ids::uuid("", self.style.at));
            out.invented("/session_id", "the source names no session");
        }
    }

    /// The id of this session, for ids that are made from it.
    pub(super) fn session(&self) -> &str {
        &self.session
    }

    /// `,"timestamp_ms":…`, if a time is known.
    pub(super) fn stamp(&self, time: Option<Time<'_>>, out: &mut Out) {
        if self.known_time(time).is_some() {
            out.lit(",\"timestamp_ms\":");
            self.millis(time, out);
        }
    }

    /// [`Self::stamp`] of a piece of text: that the member is there tells it from a whole segment, whether a time is known or not.
    pub(super) fn stamp_piece(&self, time: Option<Time<'_>>, out: &mut Out) {
        if self.known_time(time).is_some() {
            return self.stamp(time, out);
        }
        out.lit(",\"timestamp_ms\":null");
        out.invented("/timestamp_ms", "the source says no time; the member tells a piece from a whole segment");
    }

    /// [`Self::stamp`] for a time that was kept.
    pub(super) fn stamp_kept(kept: Option<i64>, out: &mut Out) {
        if let Some(kept) = kept {
            out.lit(",\"timestamp_ms\":");
            out.number(kept);
        }
    }

    /// The time of an event, or else now, or the last one that is known.
    pub(super) fn known_time(&self, time: Option<Time<'_>>) -> Option<i64> {
        let said = time.and_then(|time| self.millis_of(time));
        said.or(self.now).or(self.time).filter(|&millis| millis != 0)
    }

    fn millis(&self, time: Option<Time<'_>>, out: &mut Out) {
        match time {
            Some(Time::Millis(raw)) if raw.as_str().bytes().all(|byte| byte.is_ascii_digit()) => out.raw(raw),
            Some(time) if self.clock.shows(time) && self.clock.millis.is_some() => {
                out.bytes(self.clock.digits.as_bytes());
                out.used(time.source());
            }
            Some(time) if time.millis().is_some() => {
                out.number(time.millis().unwrap_or(0));
                out.used(time.source());
            }
            _ if self.now.is_some() => out.number(self.now.unwrap_or(0)),
            _ => {
                out.number(self.time.unwrap_or(0));
                out.invented("/timestamp_ms", "the last time that the source said");
            }
        }
    }

    /// Remembers session and time.
    #[inline]
    fn note_origin(&mut self, origin: &Origin<'_>) {
        if let Some(session) = origin.session.filter(|s| !alike(s.as_escaped(), &self.session) && !s.is_empty()) {
            self.set_session(session.as_escaped());
        }
        if let Some(time) = origin.time {
            if !self.clock.shows(time) {
                self.clock.set(time);
            }
            self.time = self.clock.millis.or(self.time);
        }
    }

    fn millis_of(&self, time: Time<'_>) -> Option<i64> {
        if self.clock.shows(time) { self.clock.millis } else { time.millis() }
    }

    #[cold]
    fn set_session(&mut self, id: &str) {
        id.clone_into(&mut self.session);
        self.tail.clear();
        self.tail.extend_from_slice(b",\"session_id\":\"");
        self.tail.extend_from_slice(id.as_bytes());
        self.tail.push(b'"');
    }

    /// Whether a line of this dialect is to be written as it was read.
    fn is_own(&self, event: &Event<'_>) -> bool {
        match self.style.source {
            Dialect::Cursor => self.is_stream(),
            // Stored events name a line by its name on the wire.
            Dialect::Agentglot => self.is_stream() && matches!(event.kind, Kind::Notice(notice) if is_own_name(notice)),
            _ => false,
        }
    }
}

impl Clock {
    #[inline]
    fn shows(&self, time: Time<'_>) -> bool {
        self.kind == Some(std::mem::discriminant(&kind_of(time))) && alike(&self.source, time.source())
    }

    fn set(&mut self, time: Time<'_>) {
        self.kind = Some(std::mem::discriminant(&kind_of(time)));
        time.source().clone_into(&mut self.source);
        self.millis = time.millis();
        self.digits.clear();
        if let Some(millis) = self.millis {
            self.digits.push_str(&millis.to_string());
        }
    }
}

/// The same kind of time, without its text: discriminants know a lifetime.
const fn kind_of(time: Time<'_>) -> Time<'static> {
    match time {
        Time::Iso(_) => Time::Iso(Str::EMPTY),
        Time::Millis(_) => Time::Millis(Raw::NULL),
        Time::Seconds(_) => Time::Seconds(Raw::NULL),
    }
}

impl Encode for Encoder {
    fn counts_usage(&self) -> Counted {
        super::text::COUNTED
    }

    fn tells_end(&self, result: &ToolResult<'_>) -> TellsEnd {
        let is_command = result.of.is_some_and(|call| call.kind == ToolKind::Shell);
        match result.status {
            ResultStatus::Canceled if !is_command => TellsEnd::Lost("a call that was stopped: in cursor only a command says that it was"),
            _ => TellsEnd::Itself,
        }
    }

    fn want(&self) -> Want {
        let whole = Want::SNAPSHOTS.without_models();
        if self.style.partial && self.is_stream() {
            Want::BOTH.without_inputs().without_models()
        } else if self.is_stream() {
            whole
        } else if self.style.old_text && self.style.mode.layout == Layout::Text {
            // It says what was done, in words of its own.
            whole.with_tools(Tools::Names)
        } else {
            whole.with_tools(Tools::Nothing)
        }
    }

    #[inline]
    fn more(&mut self, piece: Piece<'_>, out: &mut Out) -> bool {
        let foreign = self.style.source != Dialect::Cursor;
        if foreign {
            self.piece(piece, None, out);
        }
        foreign
    }

    fn now(&mut self, millis: i64) {
        self.now = Some(millis);
    }

    fn takes_fields(&self) -> bool {
        self.style.source == Dialect::Cursor
    }

    fn takes_usage(&self) -> bool {
        self.style.mode.layout != Layout::Text
    }

    fn sums_usage(&self) -> bool {
        true
    }

    fn round_tokens(&mut self, tokens: Kept) {
        self.turn.tokens.append(tokens);
    }

    fn passes_over(&self, topic: Topic, _: Option<Str<'_>>) -> bool {
        self.style.source != Dialect::Cursor && matches!(topic, Topic::Thinking | Topic::Status)
    }

    #[inline]
    fn event(&mut self, event: &Event<'_>, out: &mut Out) {
        self.note_origin(&event.origin);
        if self.is_own(event) {
            self.own(event, out);
        } else if self.is_stream() {
            let arena = Bump::new();
            let renamed = self.unique.event(event, "/call_id", &arena, out);
            self.foreign(renamed.as_ref().unwrap_or(event), out);
        } else {
            self.foreign(event, out);
        }
    }

    fn input(&mut self, _: &Input<'_>, _: &mut Out) {
        // A run takes its prompt from the command line; there is no line that a host could write.
    }

    fn given(&mut self) -> Kept {
        self.answer.given()
    }

    fn finish(&mut self, out: &mut Out) {
        self.flush(true, out);
        self.end_round(out);
        self.unsaid_facts(out);
    }
}

fn is_own_name(notice: &Notice<'_>) -> bool {
    let kind = notice.name.as_escaped().split('/').next();
    matches!(kind, Some("interaction_query" | "connection" | "retry")) && notice.name != Str::trusted("retry")
}
