//! Both ends of a conversation that is going on: what one side says is read as soon as a line is whole, and what is to be
//! said to the other is written at once. Like everything here it does no IO: bytes in, bytes out.

use bumpalo::Bump;

use crate::assemble::{Assembler, Down, Duties};
use crate::codec::{Cx, Decoder, Dialect, Encode, Encoder, Format, Layout, Style, Want};
use crate::event::{Event, Input, Kind, Others, Piece, Sink};
use crate::json::{Error, Out};
use crate::reader::{Consumer, Damaged, Framing, Reader, Source};
use crate::tools::Translate;

/// One thing that was heard.
#[derive(Debug)]
pub enum Heard<'l, 'a> {
    /// The agent said something.
    Event(&'l Event<'a>),
    /// The host said something.
    Input(&'l Input<'a>),
    /// A line, or the rest of one, that could not be read.
    Damaged {
        /// Which line, counted from 1.
        line: u64,
        /// The byte within it, counted from 1.
        byte: u64,
        /// The bytes of the line; of one that is over the length limit how it begins, if an agent says it, or nothing.
        bytes: &'l [u8],
        /// What is wrong.
        why: String,
    },
}

/// Reads one side of a conversation.
#[derive(Debug)]
pub struct Listener {
    reader: Reader,
    /// An agent is listened to.
    agent: bool,
    /// What is no UTF-8 is read all the same.
    lenient: bool,
}

impl Listener {
    /// Listens to an agent; lines of more than `max_line` bytes are left out and told. What is no UTF-8 may be what is waited for: it is read with other
    /// characters in place of the bytes that are none.
    pub fn to_agent(format: impl Into<Format>, max_line: usize) -> Self {
        Self::new(Decoder::new(format), max_line, true, true)
    }

    /// Listens to a host.
    pub fn to_host(dialect: Dialect, max_line: usize) -> Self {
        Self::new(Decoder::of_host(dialect), max_line, false, dialect.conduct().takes_any_bytes())
    }

    fn new(decoder: Decoder, max_line: usize, agent: bool, lenient: bool) -> Self {
        Self {
            agent,
            lenient,
            reader: Reader::new(Framing::lines(max_line), max_line, decoder),
        }
    }

    /// Takes what came, in pieces of any size, and tells `hear` what each whole line means.
    pub fn feed(&mut self, bytes: &[u8], hear: &mut dyn FnMut(Heard<'_, '_>)) {
        let (agent, lenient) = (self.agent, self.lenient);
        self.reader.feed(bytes, &mut Ear { hear, agent, lenient });
    }

    /// Nothing more comes: a last line without a line feed is read as it stands, and what the decoder held is told.
    pub fn finish(&mut self, hear: &mut dyn FnMut(Heard<'_, '_>)) {
        let (agent, lenient) = (self.agent, self.lenient);
        self.reader.finish(&mut Ear { hear, agent, lenient });
    }

    /// How many lines were read.
    pub const fn lines(&self) -> u64 {
        self.reader.lines()
    }
}

/// Who hears; `agent` and `lenient` are the listener's.
struct Ear<'f> {
    hear: &'f mut dyn FnMut(Heard<'_, '_>),
    agent: bool,
    lenient: bool,
}

impl<'a> Sink<'a> for Ear<'_> {
    fn event(&mut self, event: &Event<'a>) {
        (self.hear)(Heard::Event(event));
    }

    fn input(&mut self, input: &Input<'a>) {
        (self.hear)(Heard::Input(input));
    }

    /// A live conversation is about one session: what is said of another one is nobody's here.
    fn sets_aside(&mut self, others: &mut dyn FnMut() -> Option<Others>) -> bool {
        others().is_some()
    }
}

impl Consumer for Ear<'_> {
    fn value<'a>(&mut self, text: &'a str, source: Source<'_, 'a>) -> Result<usize, Error> {
        source.tell(text, self)
    }

    fn takes_any_bytes(&self) -> bool {
        self.lenient
    }

    fn keeps_starts(&self) -> bool {
        self.agent
    }

    fn damaged(&mut self, damaged: &Damaged<'_>) {
        (self.hear)(Heard::Damaged {
            line: damaged.line,
            byte: damaged.byte,
            bytes: damaged.bytes,
            why: damaged.why.clone(),
        });
    }

    fn end(&mut self, source: Source<'_, '_>) {
        source.finish(self);
    }
}

/// How one side of a conversation is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Manner {
    /// Whose words the other side says.
    pub from: Dialect,
    /// Whose tools they are: a program's own behind a protocol that is nobody's.
    pub tools: Dialect,
    /// What is written.
    pub to: Format,
    /// Tools carry the target's own names and shapes.
    pub native_tools: bool,
    /// Deltas beside snapshots.
    pub partial: bool,
    /// The older of two styles, where a dialect has one.
    pub old_text: bool,
    /// The reader has not asked for thoughts: [`Style::hides_thoughts`].
    pub hides_thoughts: bool,
    /// `json` with all messages.
    pub verbose: bool,
    /// What is said is that of an agent of ours: [`Style::agent`].
    pub agent: bool,
}

impl Manner {
    /// For somebody who reads whole replies, with tools under the names that he knows.
    pub const fn new(from: Dialect, to: Format) -> Self {
        Self {
            from,
            tools: from,
            to,
            native_tools: true,
            partial: false,
            old_text: false,
            hides_thoughts: false,
            agent: false,
            verbose: false,
        }
    }

    /// The same for what is said in no dialect's words but in those of the model itself.
    #[must_use]
    pub const fn of_ours(self) -> Self {
        Self {
            from: Dialect::CANONICAL,
            tools: Dialect::CANONICAL,
            ..self
        }
    }
}

/// Writes one side of a conversation.
#[derive(Debug)]
pub struct Speaker {
    assembler: Assembler,
    encoder: Encoder,
    /// Pieces of an answer are left out: nobody asked for them, and the whole segment follows.
    whole: bool,
    out: Out,
    arena: Bump,
}

impl Speaker {
    /// Has said nothing yet.
    pub fn new(manner: Manner) -> Self {
        let style = Style {
            mode: manner.to.mode,
            source: manner.from,
            source_mode: manner.from.modes()[0],
            partial: manner.partial,
            native_tools: manner.native_tools,
            old_text: manner.old_text,
            hides_thoughts: manner.hides_thoughts,
            agent: manner.agent,
            verbose: manner.verbose,
            at: 0,
        };
        let encoder = Encoder::new(manner.to.dialect, style);
        let (from, to) = (manner.from, manner.to.dialect);
        // A stream of the same dialect has what it needs; text and single objects are put together as for any other.
        let same = from == to && !manner.to.mode.layout.is_one_value() && manner.to.mode.layout != Layout::Text;
        let want = if same { Want::AS_IS } else { encoder.want() };
        let tools = match to.vendor().agent_tools {
            Some(tools) if manner.agent => tools,
            _ => manner.tools,
        };
        let native = manner.native_tools && tools != to && !tools.vendor().logs.stores_others && !to.vendor().logs.stores_others;
        let duties = Duties {
            tools: native.then(|| Translate::new(tools, to).for_format(manner.to)),
            // Others say themselves what became of a turn that is broken off.
            live: !same && from.program().is_some_and(|program| program.client().is_some()),
            gone: !same,
            whole_at_stop: manner.agent && from == Dialect::CANONICAL,
            ..Duties::default()
        };
        Self {
            assembler: Assembler::new(from.into(), want, duties),
            encoder,
            whole: same && to.vendor().logs.pieces_on_request && !manner.partial,
            out: Out::new(None),
            arena: Bump::new(),
        }
    }

    /// Says what an agent said.
    pub fn event(&mut self, event: &Event<'_>, to: &mut Vec<u8>) {
        if self.whole && matches!(event.kind, Kind::Delta(delta) if matches!(delta.piece, Piece::Text(_))) {
            return;
        }
        self.say(What::Event(event), to);
    }

    /// Says what a host said.
    pub fn input(&mut self, input: &Input<'_>, to: &mut Vec<u8>) {
        self.say(What::Input(input), to);
    }

    /// The prompt of the next turn, as the body of a JSON string, for dialects that say it again and sources that do not.
    pub fn prompt(&mut self, body: &str) {
        self.assembler.prompted(body);
    }

    /// It is this time, in milliseconds since 1970: what is said of no other time is said now.
    pub fn now(&mut self, millis: i64) {
        self.encoder.now(millis);
    }

    /// From here on a person is there who can be asked: what is asked in plain text is said too.
    pub fn asks(&mut self) {
        self.encoder.asks();
    }

    /// What a call without a result is called in what was said, if that is another id than its own.
    pub fn called(&self, call: &str) -> Option<&str> {
        self.encoder.called(call)
    }

    /// Every turn has its outcome: what was said after the last one began none, and gets none.
    pub const fn settled(&mut self) {
        self.assembler.settled();
    }

    /// Says something as it is: neither is anything supplied nor taken away.
    pub fn directly(&mut self, event: &Event<'_>, to: &mut Vec<u8>) {
        self.out.swap(to);
        self.encoder.event(event, &mut self.out);
        self.out.swap(to);
    }

    /// The conversation is over: says what is still held. A turn that has no outcome gets one.
    pub fn finish(&mut self, to: &mut Vec<u8>) {
        self.say(What::End, to);
        self.out.swap(to);
        self.encoder.finish(&mut self.out);
        self.out.swap(to);
    }

    fn say(&mut self, what: What<'_, '_>, to: &mut Vec<u8>) {
        self.out.swap(to);
        let mut down = Down {
            encoder: &mut self.encoder,
            out: &mut self.out,
            cx: Cx::new(&self.arena),
        };
        match what {
            What::Event(event) => self.assembler.event(event, &mut down),
            What::Input(input) => self.assembler.input(input, &mut down),
            What::End => self.assembler.finish(&mut down),
        }
        self.out.swap(to);
        self.arena.reset();
    }
}

enum What<'l, 'a> {
    Event(&'l Event<'a>),
    Input(&'l Input<'a>),
    End,
}
