//! Logs as a stream of owned events.

use std::collections::VecDeque;
use std::fmt;
use std::io::{self, Read};

use crate::codec::{Cx, Decode, Decoder, Dialect, Encode, Format, Want};
use crate::detect::{Answer, Detector, Evidence, Unclear};
use crate::event::{self, Block, Sink};
use crate::events::Event;
use crate::follow;
use crate::json::{Out, Raw, Str};
use crate::reader::{Consumer, Damaged, Framing, Reader, Source as Place};

/// Lines longer than this are left out and told: 256 MiB.
const MAX_LINE: usize = crate::convert::Options::MAX_LINE;
/// So much is read at a time.
const PIECE: usize = 64 << 10;

/// What a log is written in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Source {
    /// To be found out from its first lines.
    #[default]
    Auto,
    /// This.
    Is(Format),
}

impl From<Format> for Source {
    fn from(format: Format) -> Self {
        Self::Is(format)
    }
}

impl From<Dialect> for Source {
    fn from(dialect: Dialect) -> Self {
        Self::Is(dialect.into())
    }
}

/// Something of a log could not be read. It says where, and whether more follows: [`Self::can_continue`].
#[derive(Debug)]
pub struct Error {
    file: Option<Box<str>>,
    line: u64,
    byte: u64,
    kind: ErrorKind,
}

/// What went wrong.
#[derive(Debug)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A line, or the rest of one, is damaged; the lines behind it are read.
    Damaged(String),
    /// Reading failed.
    Io(io::Error),
    /// What the log is written in is not clear.
    Unclear(Unclear),
    /// Logs of this format are for people and are not read.
    Unreadable(Format),
}

impl Error {
    pub(crate) fn damaged(line: u64, byte: u64, why: String) -> Self {
        Self {
            file: None,
            line,
            byte,
            kind: ErrorKind::Damaged(why),
        }
    }

    fn whole(kind: ErrorKind) -> Self {
        Self {
            file: None,
            line: 0,
            byte: 0,
            kind,
        }
    }

    /// The same in a log that is called so.
    #[must_use]
    pub fn in_file(mut self, name: Option<&str>) -> Self {
        self.file = name.map(Into::into);
        self
    }

    /// What the log is called, if it has [a name](Events::named).
    pub fn file(&self) -> Option<&str> {
        self.file.as_deref()
    }

    /// The line, counted from 1 (in a `json` format: the message); 0 when it is about the log as a whole.
    pub const fn line(&self) -> u64 {
        self.line
    }

    /// The byte within the line, counted from 1; 0 when it is about the log as a whole.
    pub const fn byte(&self) -> u64 {
        self.byte
    }

    /// What went wrong.
    pub const fn kind(&self) -> &ErrorKind {
        &self.kind
    }

    /// What went wrong, without the place.
    pub fn into_kind(self) -> ErrorKind {
        self.kind
    }

    /// Whether what follows is read all the same: yes for damaged lines.
    pub const fn can_continue(&self) -> bool {
        matches!(self.kind, ErrorKind::Damaged(_))
    }
}

/// Reading failed.
impl From<io::Error> for Error {
    fn from(error: io::Error) -> Self {
        Self::whole(ErrorKind::Io(error))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(file) = &self.file {
            write!(f, "{file}:")?;
        }
        if self.line > 0 {
            write!(f, "{}:{}:", self.line, self.byte)?;
        }
        if self.file.is_some() || self.line > 0 {
            f.write_str(" ")?;
        }
        match &self.kind {
            ErrorKind::Damaged(why) => f.write_str(why),
            ErrorKind::Io(error) => write!(f, "{error}"),
            ErrorKind::Unclear(unclear) => write!(f, "{unclear}"),
            ErrorKind::Unreadable(format) => write!(f, "logs of {format} are for people and cannot be read"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.kind {
            ErrorKind::Io(error) => Some(error),
            _ => None,
        }
    }
}

/// Reads the events of a log, in the order in which they stand, as they stand: nothing is supplied and nothing taken away.
///
/// Where a session in another dialect begins, [`Source::Auto`] reads that one; otherwise it is damage.
///
/// A damaged line is an `Err` item, and reading goes on behind it. What is held at a time is one line and its events.
///
/// ```
/// use agentglot_adapters::{Dialect, Kind, read};
/// let log = r#"{"type":"assistant","session_id":"s","message":{"id":"m","role":"assistant","content":[{"type":"text","text":"Hi"}]}}
/// {"type":"assistant","session_id":
/// {"type":"result","subtype":"success","is_error":false,"result":"Hi","session_id":"s"}
/// "#;
/// let mut outcomes = 0;
/// for event in read(log.as_bytes(), Dialect::Claude) {
///     match event {
///         Ok(event) => outcomes += usize::from(matches!(event.kind, Kind::Outcome(_))),
///         Err(error) => assert!(error.line() == 2 && error.can_continue()),
///     }
/// }
/// assert_eq!(outcomes, 1);
/// ```
pub fn read<R: Read>(reader: R, from: impl Into<Source>) -> Events<R> {
    Events {
        input: Intake::new(reader, from.into()),
        log: None,
        ear: Ear::default(),
        over: false,
    }
}

/// The events of a log: what [`read`] gives.
#[derive(Debug)]
pub struct Events<R> {
    input: Intake<R>,
    log: Option<Reader>,
    ear: Ear,
    over: bool,
}

impl<R: Read> Events<R> {
    /// The same for a log that errors call by this name.
    #[must_use]
    pub fn named(mut self, name: &str) -> Self {
        self.input.name = Some(name.into());
        self
    }

    /// What the log is written in. `None`: it holds nothing.
    ///
    /// # Errors
    /// When that cannot be found out.
    pub fn format(&mut self) -> Result<Option<Format>, Error> {
        self.input.format()
    }

    /// Reads on. False when nothing more comes.
    fn more(&mut self) -> Result<bool, Error> {
        let Some(format) = self.input.format()? else { return Ok(false) };
        if self.log.is_none() {
            self.ear.read = Some(format);
            self.ear.follow = self.input.follows();
        }
        let log = self
            .log
            .get_or_insert_with(|| Reader::new(Framing::of(format.mode.layout, MAX_LINE), MAX_LINE, Decoder::new(format)));
        let piece = self.input.piece()?;
        if piece.is_empty() {
            log.finish(&mut self.ear);
            return Ok(false);
        }
        log.feed(piece, &mut self.ear);
        Ok(true)
    }
}

impl<R: Read> Iterator for Events<R> {
    type Item = Result<Event, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(found) = self.ear.found.next() {
                return Some(found.map_err(|error| error.in_file(self.input.name.as_deref())));
            }
            if self.over {
                return None;
            }
            match self.more() {
                Ok(more) => self.over = !more,
                Err(error) => {
                    self.over = true;
                    return Some(Err(error));
                }
            }
        }
    }
}

/// The bytes of a log, and what they are written in.
#[derive(Debug)]
pub(crate) struct Intake<R> {
    input: R,
    from: Source,
    /// That was found out.
    auto: bool,
    pub(crate) name: Option<Box<str>>,
    /// What was read to find that out, and is still to be handed on.
    head: Vec<u8>,
    room: Vec<u8>,
    /// How much of it was read.
    filled: usize,
}

impl<R: Read> Intake<R> {
    pub(crate) fn new(input: R, from: Source) -> Self {
        Self {
            input,
            from,
            auto: from == Source::Auto,
            name: None,
            head: Vec::new(),
            room: Vec::new(),
            filled: 0,
        }
    }

    /// Whether a session in another dialect is read as what it is.
    pub(crate) fn follows(&self) -> bool {
        self.auto && matches!(self.from, Source::Is(format) if format.stands_with_others())
    }

    /// What the log is written in; `None` if there is nothing in it.
    pub(crate) fn format(&mut self) -> Result<Option<Format>, Error> {
        if let Source::Is(format) = self.from {
            return match format.is_readable() {
                true => Ok(Some(format)),
                false => Err(self.error(ErrorKind::Unreadable(format))),
            };
        }
        let mut detector = Detector::new(false);
        let mut over = false;
        loop {
            match detector.look(&self.head, over) {
                Answer::More if over => return Ok(None),
                Answer::More => {}
                Answer::Empty => return Ok(None),
                Answer::Found(found) => {
                    self.from = Source::Is(found.format);
                    return Ok(Some(found.format));
                }
                Answer::Unclear(unclear) => return Err(self.error(ErrorKind::Unclear(unclear))),
            }
            self.fill()?;
            over = self.filled == 0;
            self.head.extend_from_slice(&self.room[..self.filled]);
        }
    }

    /// The next piece of the log; empty at its end.
    pub(crate) fn piece(&mut self) -> Result<&[u8], Error> {
        if self.head.is_empty() {
            self.fill()?;
        } else {
            self.filled = self.head.len();
            self.room = std::mem::take(&mut self.head);
        }
        Ok(&self.room[..self.filled])
    }

    fn fill(&mut self) -> Result<(), Error> {
        if self.room.len() != PIECE {
            self.room.resize(PIECE, 0);
        }
        self.filled = 0;
        self.filled = loop {
            match self.input.read(&mut self.room) {
                Ok(read) => break read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(self.error(ErrorKind::Io(error))),
            }
        };
        Ok(())
    }

    fn error(&self, kind: ErrorKind) -> Error {
        Error::whole(kind).in_file(self.name.as_deref())
    }
}

/// Keeps what a decoder tells, or what the assembler makes of it.
#[derive(Debug, Default)]
pub struct Collector {
    found: VecDeque<Result<Event, Error>>,
    without_contents: bool,
}

impl Collector {
    pub(crate) fn next(&mut self) -> Option<Result<Event, Error>> {
        self.found.pop_front()
    }

    pub(crate) fn push(&mut self, error: Error) {
        self.found.push_back(Err(error));
    }

    /// What calls are given, what comes of them and what the model thinks is left out of what the assembler makes.
    pub(crate) const fn leave_contents(&mut self) {
        self.without_contents = true;
    }

    fn keep(&mut self, event: &event::Event<'_>) {
        self.found.push_back(Ok(Event::of_agent(event)));
    }
}

impl<'a> Sink<'a> for Collector {
    fn event(&mut self, event: &event::Event<'a>) {
        self.keep(event);
    }

    fn input(&mut self, input: &event::Input<'a>) {
        self.found.push_back(Ok(Event::of_host(input)));
    }
}

impl Encode for Collector {
    fn want(&self) -> Want {
        Want {
            at_once: true,
            whole_rounds: true,
            ..Want::SNAPSHOTS.with_subagents().with_served()
        }
    }

    fn event(&mut self, event: &event::Event<'_>, _: &mut Out) {
        use event::Kind::{Outcome, Prompt, Reply, RoundEnd, RoundStart, Session, ToolResult};
        // What becomes a part of a turn leaves behind what its line says besides.
        let is_part = matches!(
            event.kind,
            Session(_) | Prompt(_) | RoundStart(_) | Reply(_) | RoundEnd(_) | ToolResult(_) | Outcome(_)
        );
        let fields = if is_part { &[] } else { event.fields };
        match event.kind {
            Reply(reply) if self.without_contents => {
                let blocks: Vec<_> = reply.blocks.iter().map(without_contents).collect();
                let kind = Reply(&event::Reply { blocks: &blocks, ..*reply });
                self.keep(&event::Event { kind, fields, ..*event });
            }
            ToolResult(result) if self.without_contents => {
                let kind = ToolResult(&event::ToolResult {
                    content: event::Content::Text(Str::EMPTY),
                    detail: None,
                    fields: &[],
                    of: result.of.map(|call| unasked(&call)),
                    ..*result
                });
                self.keep(&event::Event { kind, fields, ..*event });
            }
            _ => self.keep(&event::Event { fields, ..*event }),
        }
    }

    fn input(&mut self, input: &event::Input<'_>, _: &mut Out) {
        self.found.push_back(Ok(Event::of_host(input)));
    }
}

fn without_contents<'a>(block: &Block<'a>) -> Block<'a> {
    match block {
        Block::Call(call) => Block::Call(unasked(call)),
        Block::Thinking(thinking) => Block::Thinking(event::Thinking {
            text: Str::EMPTY,
            signature: None,
            fields: &[],
            ..*thinking
        }),
        other => *other,
    }
}

/// A call without what it is given.
const fn unasked<'a>(call: &event::ToolCall<'a>) -> event::ToolCall<'a> {
    event::ToolCall {
        input: Raw::NULL,
        fields: &[],
        ..*call
    }
}

/// Hears what a log says, and where it goes on in another dialect.
#[derive(Debug, Default)]
struct Ear {
    found: Collector,
    /// What is read.
    read: Option<Format>,
    /// Sessions in other dialects are read; else they are damage.
    follow: bool,
    in_turn: bool,
}

/// One line.
struct Heard<'e, 'a> {
    ear: &'e mut Ear,
    text: &'a str,
    events: usize,
    foreign: Option<Evidence>,
}

impl<'a> Heard<'_, 'a> {
    /// What the line begins in another dialect.
    fn begins(&self) -> Option<Evidence> {
        follow::begins_another(self.ear.read?.dialect, self.text, self.ear.in_turn)
    }

    /// Whether it is left to another decoder.
    fn is_left(&self) -> bool {
        self.foreign.is_some() && self.ear.follow
    }
}

impl<'a> Sink<'a> for Heard<'_, 'a> {
    fn event(&mut self, event: &event::Event<'a>) {
        let read = self.ear.read.filter(|_| self.events == 0);
        if read.is_some_and(|format| follow::may_begin_another(event, format, self.ear.in_turn)) {
            self.foreign = self.foreign.or_else(|| self.begins());
        }
        if !self.is_left() {
            self.events += 1;
            self.ear.in_turn = follow::ends_turn(&event.kind).map_or(self.ear.in_turn, |ends| !ends);
            Sink::event(&mut self.ear.found, event);
        }
    }

    fn input(&mut self, input: &event::Input<'a>) {
        if !self.is_left() {
            self.events += 1;
            Sink::input(&mut self.ear.found, input);
        }
    }
}

impl Consumer for Ear {
    fn value<'a>(&mut self, text: &'a str, source: Place<'_, 'a>) -> Result<usize, crate::json::Error> {
        let Place {
            decoder, arena, line, stand, ..
        } = source;
        let cx = Cx::new(arena);
        let mut heard = Heard {
            ear: self,
            text,
            events: 0,
            foreign: None,
        };
        let used = stand.read(decoder, text, &cx, &mut heard);
        if used.is_err() {
            heard.foreign = heard.begins();
        }
        let Some(found) = heard.foreign else { return used };
        if let (false, Some(read)) = (self.follow, self.read) {
            self.found.push(Error::damaged(line, stand.at as u64 + 1, follow::why(found, read)));
            return used;
        }
        decoder.finish(&cx, &mut self.found);
        *decoder = Decoder::new(found.format);
        self.read = Some(found.format);
        self.in_turn = false;
        let mut heard = Heard {
            ear: self,
            text,
            events: 0,
            foreign: None,
        };
        decoder.line(text, &cx, &mut heard)
    }

    fn damaged(&mut self, damaged: &Damaged<'_>) {
        self.found.damaged(damaged);
    }

    fn end(&mut self, source: Place<'_, '_>) {
        self.found.end(source);
    }
}

impl Consumer for Collector {
    fn value<'a>(&mut self, text: &'a str, source: Place<'_, 'a>) -> Result<usize, crate::json::Error> {
        source.tell(text, self)
    }

    fn damaged(&mut self, damaged: &Damaged<'_>) {
        self.push(Error::damaged(damaged.line, damaged.byte, damaged.why.clone()));
    }

    fn end(&mut self, source: Place<'_, '_>) {
        source.finish(self);
    }
}
