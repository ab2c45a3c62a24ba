//! What every dialect's folder provides.

mod list;
mod want;

use std::fmt;
use std::rc::Rc;
use std::str::FromStr;

use bumpalo::Bump;
use enum_dispatch::enum_dispatch;

use crate::event::{Counted, Event, Input, Kind, Origin, Piece, Sink, ToolResult, Topic};
use crate::json::{Error, Out, Str, no_object, python};
use crate::store::Child;
use crate::trace::{Kept, Trace};
pub use list::List;
pub(crate) use list::Part;
pub use want::{TellsEnd, Tools, Want};

pub use crate::registry::{Decoder, Dialect, Encoder};

/// One of a dialect's output modes, as its descriptor lists it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Mode {
    /// What it looks like.
    pub layout: Layout,
    /// Its name on the command line.
    pub name: &'static str,
    /// Its lines have words of their own, not those of the dialect's other modes: what one says is no line of the others.
    pub apart: bool,
    /// Its logs hold what host and agent say to each other, and the agent's side tells the prompts. Other dialects' logs are the agent's:
    /// nothing of the host's goes over to them.
    pub both_sides: bool,
    /// Its logs are of a connection that may serve several sessions at the same time.
    pub serves_many: bool,
    /// Behind the lines of a round its logs say its tokens.
    pub tokens_behind: bool,
    /// It is read and never written.
    pub read_only: bool,
}

/// What a log looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Layout {
    /// One object a line, message by message.
    Lines,
    /// One object a line, piece by piece.
    Pieces,
    /// One value at the end.
    Document,
    /// Text for people.
    Text,
    /// Server-sent events, as a model API streams them.
    Sse,
    /// A **store**: the file in which a program keeps a session, one object a line. It is not what a host reads while the agent works:
    /// a tree rather than a line, without pieces and without outcomes, perhaps with files beside it.
    Store,
    /// A store too: the whole session as one value.
    Session,
    /// The same, one a line: a file holds many sessions.
    Rows,
}

/// A dialect in one of its modes: `claude`, `claude:json`, `qwen:stream-chunk-json` …
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Format {
    /// Whose vocabulary.
    pub dialect: Dialect,
    /// Which of its modes.
    pub mode: Mode,
}

/// Modes that several vendors have.
impl Mode {
    /// One object a line, message by message.
    pub const STREAM_JSON: Self = Self::new("stream-json", Layout::Lines);
    /// One value at the end.
    pub const JSON: Self = Self::new("json", Layout::Document);
    /// Text for people.
    pub const TEXT: Self = Self::new("text", Layout::Text);
    /// Server-sent events of a model API.
    pub const SSE: Self = Self::new("sse", Layout::Sse).read_only();

    /// A mode by its name and what it looks like.
    pub const fn new(name: &'static str, layout: Layout) -> Self {
        let apart = layout.is_store();
        Self {
            layout,
            name,
            apart,
            both_sides: false,
            serves_many: false,
            tokens_behind: false,
            read_only: false,
        }
    }

    /// The same with words of its own.
    pub const fn with_own_words(self) -> Self {
        Self { apart: true, ..self }
    }

    /// The same in whose logs both sides speak.
    pub const fn of_both_sides(self) -> Self {
        Self { both_sides: true, ..self }
    }

    /// The same of a connection that may serve several sessions at the same time.
    pub const fn of_many_sessions(self) -> Self {
        Self { serves_many: true, ..self }
    }

    /// The same whose logs say the tokens of a round behind its lines.
    pub const fn with_tokens_behind(self) -> Self {
        Self { tokens_behind: true, ..self }
    }

    /// The same that nobody writes.
    pub const fn read_only(self) -> Self {
        Self { read_only: true, ..self }
    }
}

impl Layout {
    /// Whether each line is a value of its own.
    pub const fn is_lines(self) -> bool {
        matches!(self, Self::Lines | Self::Pieces | Self::Store | Self::Rows)
    }

    /// Whether a session is one value, which is written when the session is over.
    pub const fn is_one_value(self) -> bool {
        matches!(self, Self::Document | Self::Session | Self::Rows)
    }

    /// Whether what is written says which session it is of. Text for people, and rows that models learn from, do not.
    pub const fn names_sessions(self) -> bool {
        !matches!(self, Self::Text | Self::Rows)
    }

    const fn is_store(self) -> bool {
        matches!(self, Self::Store | Self::Session | Self::Rows)
    }
}

impl Format {
    /// Whether logs of it can be read. Text is for people only.
    pub const fn is_readable(self) -> bool {
        !matches!(self.mode.layout, Layout::Text)
    }

    /// Whether it comes line by line while the agent works.
    pub const fn is_streaming(self) -> bool {
        self.mode.layout.is_lines() && !self.is_store()
    }

    /// Whether sessions in other dialects may stand in one file with it. A file that a program adds line after line to is its own, and a
    /// model's stream is one reply, whose payloads look like lines of other dialects.
    pub const fn stands_with_others(self) -> bool {
        !matches!(self.mode.layout, Layout::Store | Layout::Sse)
    }

    /// Whether it is what a program keeps of a session. See [`Layout::Store`].
    pub const fn is_store(self) -> bool {
        self.mode.layout.is_store()
    }

    /// Whether calls say all that they ask for, as in stores: lines for hosts may say less of it.
    pub(crate) const fn has_whole_calls(self) -> bool {
        self.is_store() || self.mode.apart
    }

    /// Whether it can be written: the streams of model APIs cannot, and some modes of others.
    pub const fn is_writable(self) -> bool {
        !self.mode.read_only
    }

    /// Every format of every dialect of agents, and those of the model APIs that are written.
    pub fn all() -> impl Iterator<Item = Self> {
        Dialect::readable()
            .flat_map(|dialect| dialect.modes().iter().map(move |&mode| Self { dialect, mode }))
            .filter(|format| !format.dialect.is_api() || format.is_writable())
    }
}

impl From<Dialect> for Format {
    fn from(dialect: Dialect) -> Self {
        Self {
            dialect,
            mode: dialect.modes()[0],
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.dialect.name())?;
        if self.mode != self.dialect.modes()[0] {
            write!(f, ":{}", self.mode.name)?;
        }
        Ok(())
    }
}

/// A name that is no dialect, or a mode that the dialect does not have.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown dialect {0:?}")]
pub struct UnknownFormat(pub String);

impl FromStr for Format {
    type Err = UnknownFormat;

    fn from_str(text: &str) -> Result<Self, UnknownFormat> {
        let (name, mode) = text.split_once(':').map_or((text, None), |(name, mode)| (name, Some(mode)));
        let dialect = Dialect::readable()
            .find(|d| d.name() == name)
            .ok_or_else(|| UnknownFormat(text.to_owned()))?;
        let modes = dialect.modes();
        let mode = match mode {
            None => modes[0],
            Some(mode) => *modes.iter().find(|m| m.name == mode).ok_or_else(|| UnknownFormat(text.to_owned()))?,
        };
        Ok(Self { dialect, mode })
    }
}

/// What a decoder may use while it handles one line.
#[derive(Clone, Copy, Debug)]
pub struct Cx<'a> {
    /// Memory that lives as long as the line's events.
    pub arena: &'a Bump,
    /// Sees which parts are structure, when a ledger is kept.
    pub trace: Option<&'a Trace>,
    /// The line, where it is long and may be kept instead of copying what stands in it.
    pub line: Option<&'a Rc<Vec<u8>>>,
}

impl<'a> Cx<'a> {
    /// Nobody keeps a ledger.
    pub const fn new(arena: &'a Bump) -> Self {
        Self {
            arena,
            trace: None,
            line: None,
        }
    }

    /// Tells the ledger that a part was understood as structure: `type`, `subtype`, `role`, an index. It counts as carried
    /// exactly when something of the line is.
    #[inline(always)]
    pub fn took(&self, part: &str) {
        if let Some(trace) = self.trace {
            trace.took(part);
        }
    }

    /// Tells the ledger that `made` says the same as the part `source` of the line: where the one is written, the other counts
    /// as written too.
    #[inline]
    pub fn stands_for(&self, made: &str, source: &str) {
        if let Some(trace) = self.trace {
            trace.stands_for(made, source);
        }
    }

    /// Puts a value into the arena.
    #[inline]
    pub fn keep<T: Copy>(&self, value: T) -> &'a T {
        self.arena.alloc(value)
    }

    /// Puts a list into the arena.
    #[inline]
    pub fn list<T: Copy>(&self, items: &[T]) -> &'a [T] {
        self.arena.alloc_slice_copy(items)
    }

    /// Puts plain text into the arena, escaped as a JSON string's body.
    pub fn text(&self, plain: &str) -> Str<'a> {
        let mut body = String::with_capacity(plain.len());
        Str::escape(plain, &mut body);
        Str::trusted(self.arena.alloc_str(&body))
    }

    /// The text with no more escapes than it needs, so that a part of the text is a part of the body.
    pub(crate) fn plainly(&self, text: Str<'a>) -> Str<'a> {
        if text.is_plainly_escaped() {
            return text;
        }
        let mut body = Vec::with_capacity(text.as_escaped().len());
        python::text(text, &mut body);
        let plain = Str::trusted(self.arena.alloc_str(std::str::from_utf8(&body).unwrap_or(text.as_escaped())));
        self.stands_for(plain.as_escaped(), text.as_escaped());
        plain
    }
}

/// Reads a dialect.
#[enum_dispatch]
pub trait Decode {
    /// Reads what stands at the beginning of `text`, which is a line or the rest of one, without white space before it:
    /// one JSON value, or text that is none. Tells `sink` what it means and returns how many bytes it took.
    ///
    /// # Errors
    /// When something begins like JSON but is damaged, or lacks what its type needs. Nothing was told to `sink` then.
    fn line<'a>(&mut self, text: &'a str, cx: &Cx<'a>, sink: &mut dyn Sink<'a>) -> Result<usize, Error>;

    /// Reads the first of the lines in `text`, which all have their line feeds, if it is spelled like one that came before, or as
    /// its program always spells it, as [`Self::line`] would, and returns how many bytes it took with its end. `None`: nothing was
    /// told; [`Self::line`] has to read it.
    #[inline]
    fn again<'a>(&mut self, text: &'a str, cx: &Cx<'a>, sink: &mut dyn Sink<'a>) -> Option<usize> {
        let _ = (text, cx, sink);
        None
    }

    /// Whether [`Self::again`] may ever read a line.
    #[inline]
    fn reads_again(&self) -> bool {
        false
    }

    /// The list of a very long line that may be told in parts, if there is one.
    fn list(&self, line: &str) -> Option<List> {
        let _ = line;
        None
    }

    /// The input is over.
    fn finish<'a>(&mut self, cx: &Cx<'a>, sink: &mut dyn Sink<'a>) {
        let _ = (cx, sink);
    }

    /// What is read is the file of a subagent, beside that of the session that it worked in.
    fn subagent(&mut self, of: &Child) {
        let _ = of;
    }

    /// Whether a turn is going on, of a connection that may serve several sessions at the same time ([`Mode::serves_many`]).
    #[inline]
    fn is_in_turn(&self) -> bool {
        false
    }

    /// Whether a line that was set aside ([`Sink::sets_aside`]) is still of another session than the one of which a turn is going on. What such a
    /// line asks is answered by one that names no session.
    fn is_others(&mut self, text: &str) -> bool {
        let _ = text;
        false
    }

    /// Tells the ids of the session of which a turn is going on and of those that are part of it, as they are spelled.
    fn own_sessions(&self, tell: &mut dyn FnMut(&str)) {
        let _ = tell;
    }

    /// Another session begins: forgets everything of the one before. What its lines looked like may be kept, for those of the
    /// session `to` look like them, but for its id.
    fn next_session(&mut self, to: &str);
}

/// Reads what does not begin as an object does: another JSON value, or text that is no JSON.
pub(crate) fn stray<'a>(text: &'a str, sink: &mut dyn Sink<'a>) -> usize {
    let (value, used) = no_object(text);
    sink.event(&Event::new(Origin::default(), value.map_or(Kind::Noise(text), Kind::Unknown)));
    used
}

/// Writes a dialect.
///
/// Lines go out whole, each ended by `\n`. What is written of the source's text is written with [`Out`]'s `str`, `body`,
/// `raw` and `unchecked`, which is how the ledger knows of it; what goes over in another form is told with [`Out::used`],
/// what is made up with [`Out::invented`]. An event for which nothing is written and nothing told counts as dropped.
#[enum_dispatch]
pub trait Encode {
    /// What the assembler has to supply.
    fn want(&self) -> Want;

    /// The agent said something. With a turn's end comes exactly one [`crate::event::Kind::Outcome`].
    fn event(&mut self, event: &Event<'_>, out: &mut Out);

    /// The host said something (logs of the host's side).
    fn input(&mut self, input: &Input<'_>, out: &mut Out);

    /// One more piece of the block that the last event, a delta, was a piece of; the rest of its event is as it was in that one,
    /// but for ids. False if nothing was done: then it comes as an event.
    #[inline]
    fn more(&mut self, piece: Piece<'_>, out: &mut Out) -> bool {
        let _ = (piece, out);
        false
    }

    /// Whether nothing would be done with a notice on this topic that says nothing but its session.
    #[inline]
    fn passes_over(&self, topic: Topic, session: Option<Str<'_>>) -> bool {
        let _ = (topic, session);
        false
    }

    /// Whether the [`Event::fields`] of what is said within a turn are looked at: rounds, replies and their pieces, results.
    #[inline]
    fn takes_fields(&self) -> bool {
        true
    }

    /// Whether the tokens of rounds and replies are looked at.
    #[inline]
    fn takes_usage(&self) -> bool {
        true
    }

    /// Whether the session's folder was written since this was asked last; `None` where no other line than that of the facts says it.
    fn said_folder(&mut self) -> Option<bool> {
        None
    }

    /// How such a result says that its call was refused or stopped.
    fn tells_end(&self, result: &ToolResult<'_>) -> TellsEnd {
        let _ = result;
        TellsEnd::Itself
    }

    /// What a call without a result is called in what was written, if that is another id than its own.
    fn called(&self, call: &str) -> Option<&str> {
        let _ = call;
        None
    }

    /// Whether it says when a result came.
    #[inline]
    fn says_times(&self) -> bool {
        false
    }

    /// Which of these tokens are written.
    #[inline]
    fn counts_usage(&self) -> Counted {
        Counted::ALL
    }

    /// Whether tokens are those of rounds, and those of a turn the sum of them: what only its outcome knows is the last round's.
    #[inline]
    fn asks_rounds(&self) -> bool {
        false
    }

    /// Whether the tokens of rounds are summed up, for a turn whose outcome has none; each round then says where its own stand
    /// ([`Self::round_tokens`]).
    #[inline]
    fn sums_usage(&self) -> bool {
        false
    }

    /// Where the source says the tokens of the round that has ended.
    #[inline]
    fn round_tokens(&mut self, tokens: Kept) {
        let _ = tokens;
    }

    /// A line of the source was read as `format`, and what was written of it, behind `from`, would not give back each byte of it: keeps
    /// the line itself beside that. For dialects that store others.
    fn spelled(&self, line: &[u8], format: Format, from: usize, out: &mut Out) {
        let _ = (line, format, from, out);
    }

    /// Where the source says what one value for all turns has said last: another session's may take its place.
    fn given(&mut self) -> Kept {
        Kept::NONE
    }

    /// The session is over: write what is still held. No event follows.
    fn finish(&mut self, out: &mut Out) {
        let _ = out;
    }

    /// It is this time, in milliseconds since 1970: in a session that lives, what no event says when it happened happens now.
    fn now(&mut self, millis: i64) {
        let _ = millis;
    }

    /// From here on a person is there who can be asked: what is asked in plain text is written too.
    fn asks(&mut self) {}
}

/// How a dialect is to be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    /// Which of the dialect's modes.
    pub mode: Mode,
    /// The dialect that the events come from; a dialect writes its own fields back.
    pub source: Dialect,
    /// Which of its modes they come from: the fields of one with words of its own are not those of the others.
    pub source_mode: Mode,
    /// Deltas beside the snapshots: `--include-partial-messages`, Cursor's `--stream-partial-output`.
    pub partial: bool,
    /// Tools carry the target's own names and shapes (`--tools native`).
    pub native_tools: bool,
    /// A dialect's older style, where it has one: Cursor's text format with a line for each action.
    pub old_text: bool,
    /// The reader has not asked for thoughts, where the dialect shows them only then.
    pub hides_thoughts: bool,
    /// The events are those of an agent that lives behind this dialect alone: its questions, answers and unknown lines are in the target's
    /// own words, and fields that it adds to the session's facts and to outcomes are the target's own too.
    pub agent: bool,
    /// `json` as an array of all messages instead of the outcome alone (Claude's `--verbose`).
    pub verbose: bool,
    /// At which byte of its log the session begins: ids that are made up for it are counted from there ([`crate::ids`]).
    pub at: u64,
}

impl Style {
    /// The snapshots of a session that begins its log, without anything that has to be asked for.
    pub const fn new(mode: Mode, source: Dialect) -> Self {
        Self {
            mode,
            source,
            source_mode: source.modes()[0],
            partial: false,
            native_tools: false,
            old_text: false,
            hides_thoughts: false,
            agent: false,
            verbose: false,
            at: 0,
        }
    }

    /// What the events come from: one of the modes that have words of their own, or the dialect's others, of which one is as good as
    /// another here.
    pub fn source_format(&self) -> Format {
        let apart = Some(self.source_mode).filter(|mode| mode.apart);
        Format {
            dialect: self.source,
            mode: apart.unwrap_or(self.source.modes()[0]),
        }
    }

    /// Whether the events are this dialect's own: fields and all, they are written as they were.
    pub fn is_own(&self, dialect: Dialect) -> bool {
        let words = |mode: Mode| mode.apart.then_some(mode.name);
        self.source == dialect && words(self.source_mode) == words(self.mode)
    }
}

/// Writes nothing: what there is in place of an encoder for a dialect that is only read. All that it is given counts as dropped.
#[derive(Clone, Copy, Debug)]
pub struct ReadOnly;

impl Encode for ReadOnly {
    fn want(&self) -> Want {
        Want::AS_IS
    }

    fn event(&mut self, _event: &Event<'_>, _out: &mut Out) {}

    fn input(&mut self, _input: &Input<'_>, _out: &mut Out) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_read_back() {
        for format in Format::all().chain(Dialect::APIS.map(Format::from)) {
            assert_eq!(format.to_string().parse::<Format>(), Ok(format));
            let long = format!("{}:{}", format.dialect.name(), format.mode.name);
            assert_eq!(long.parse::<Format>(), Ok(format));
        }
        assert_eq!("claude:stdio".parse::<Format>(), Err(UnknownFormat("claude:stdio".into())));
        assert!("claud".parse::<Format>().is_err());
    }
}
