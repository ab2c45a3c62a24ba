//! Blocks of one reply that a source tells in any order, told one after the other.
//!
//! A model API may open a second block before the first is closed, and add to both by turns. Targets know one open block at a time: the
//! first one goes on as it comes, what belongs to the others is held until those before them are complete.

use std::collections::VecDeque;

use crate::codec::Cx;
use crate::event::{At, BlockHead, BlockStart, BlockStop, Delta, Event, Fate, Field, Fields, Kind, Origin, Piece, Sink};
use crate::json::{Raw, Str};
use crate::trace::{Kept, Trace};

/// Whom it is told to, and what it is about.
pub(crate) struct Voice<'s, 'a> {
    pub(crate) cx: &'s Cx<'a>,
    pub(crate) origin: Origin<'a>,
    pub(crate) sink: &'s mut dyn Sink<'a>,
}

impl<'a> Voice<'_, 'a> {
    pub(crate) fn say(&mut self, kind: Kind<'a>, fields: Fields<'a>) {
        self.sink.event(&Event {
            origin: self.origin,
            kind,
            fields,
        });
    }
}

/// The blocks that are not complete, in the order in which they began.
#[derive(Debug, Default)]
pub(crate) struct Weave {
    slots: VecDeque<Slot>,
    /// The number of the next block that is told.
    next: u32,
}

#[derive(Debug)]
struct Slot {
    /// How the source names it.
    key: u64,
    /// Its number, once it has been told.
    told: Option<u32>,
    /// What is held: its head first.
    held: Vec<Held>,
    /// Nothing more comes.
    done: bool,
}

#[derive(Debug)]
struct Held {
    what: What,
    text: String,
    /// Where the source says it, and the name of a call, for the ledger.
    kept: Kept,
    named: Kept,
    fields: Vec<(Place, String, String, bool)>,
}

#[derive(Debug)]
enum Place {
    Line,
    Part(String),
    Block(u32),
}

#[derive(Debug)]
enum What {
    HeadText,
    HeadThinking,
    HeadRedacted,
    HeadCall { name: String },
    HeadOther { kind: String },
    Text,
    Thinking,
    Signature,
    Subject,
    Input,
    Other,
}

impl Weave {
    /// A block begins.
    pub(crate) fn begin<'a>(&mut self, key: u64, head: BlockHead<'a>, fields: Fields<'a>, voice: &mut Voice<'_, 'a>) {
        let mut slot = Slot {
            key,
            told: None,
            held: Vec::new(),
            done: false,
        };
        if self.slots.is_empty() {
            slot.told = Some(self.next);
            voice.say(Kind::BlockStart(BlockStart { index: self.next, head }), fields);
            self.next += 1;
        } else {
            slot.held.push(Held::head(head, fields, voice.cx));
        }
        self.slots.push_back(slot);
    }

    /// A piece of the block; false if no such block is open.
    pub(crate) fn piece<'a>(&mut self, key: u64, piece: Piece<'a>, fields: Fields<'a>, voice: &mut Voice<'_, 'a>) -> bool {
        let Some(slot) = self.open(key) else { return false };
        match slot.told {
            Some(index) => voice.say(Kind::Delta(Delta { index, piece }), fields),
            None => slot.held.push(Held::piece(piece, fields, voice.cx)),
        }
        true
    }

    /// Whether this block is open.
    pub(crate) fn is_open(&self, key: u64) -> bool {
        self.slots.iter().any(|slot| slot.key == key && !slot.done)
    }

    /// The block is complete.
    pub(crate) fn stop<'a>(&mut self, key: u64, voice: &mut Voice<'_, 'a>) {
        if let Some(slot) = self.open(key) {
            slot.done = true;
            self.pump(voice);
        }
    }

    /// All blocks are complete.
    pub(crate) fn stop_all<'a>(&mut self, voice: &mut Voice<'_, 'a>) {
        self.slots.iter_mut().for_each(|slot| slot.done = true);
        self.pump(voice);
    }

    /// The reply is given up: the open block is closed, what was held is forgotten, and numbers begin anew.
    pub(crate) fn abandon<'a>(&mut self, voice: &mut Voice<'_, 'a>) {
        for held in self.slots.iter_mut().skip(1).flat_map(|slot| &mut slot.held) {
            if let Some(trace) = voice.cx.trace {
                for kept in [&mut held.kept, &mut held.named] {
                    trace.tell_held(kept, Fate::Dropped, "the reply was given up");
                }
            }
        }
        self.slots.truncate(1);
        self.stop_all(voice);
        self.next = 0;
    }

    /// Another reply begins; nothing may be open.
    pub(crate) fn restart(&mut self) {
        self.slots.clear();
        self.next = 0;
    }

    fn open(&mut self, key: u64) -> Option<&mut Slot> {
        self.slots.iter_mut().rev().find(|slot| slot.key == key && !slot.done)
    }

    /// Tells what may be told.
    fn pump<'a>(&mut self, voice: &mut Voice<'_, 'a>) {
        while let Some(slot) = self.slots.front_mut() {
            let index = match slot.told {
                Some(index) => index,
                None => {
                    let index = self.next;
                    self.next += 1;
                    slot.told = Some(index);
                    for mut held in std::mem::take(&mut slot.held) {
                        held.tell(index, voice);
                    }
                    index
                }
            };
            if !slot.done {
                return;
            }
            voice.say(Kind::BlockStop(BlockStop { index }), &[]);
            self.slots.pop_front();
        }
    }
}

impl Held {
    fn new(what: What, text: &str, fields: Fields<'_>, cx: &Cx<'_>) -> Self {
        let mut kept = Kept::default();
        if let Some(trace) = cx.trace.filter(|_| !text.is_empty()) {
            trace.hold(&mut kept, text);
        }
        let fields = fields.iter().map(|field| {
            let place = match field.at {
                At::Line => Place::Line,
                At::Part(part) => Place::Part(part.to_owned()),
                At::Block(n) => Place::Block(n),
            };
            (place, field.key.as_escaped().to_owned(), field.value.as_str().to_owned(), field.known)
        });
        Self {
            what,
            text: text.to_owned(),
            kept,
            named: Kept::default(),
            fields: fields.collect(),
        }
    }

    fn head(head: BlockHead<'_>, fields: Fields<'_>, cx: &Cx<'_>) -> Self {
        match head {
            BlockHead::Text => Self::new(What::HeadText, "", fields, cx),
            BlockHead::Thinking => Self::new(What::HeadThinking, "", fields, cx),
            BlockHead::Redacted { data } => Self::new(What::HeadRedacted, data.as_escaped(), fields, cx),
            BlockHead::Call { id, name } => {
                let mut named = Kept::default();
                cx.trace.inspect(|trace| trace.hold(&mut named, name.as_escaped()));
                let name = name.as_escaped().to_owned();
                Self {
                    named,
                    ..Self::new(What::HeadCall { name }, id.as_escaped(), fields, cx)
                }
            }
            BlockHead::Other { kind, raw } => {
                let kind = kind.as_escaped().to_owned();
                Self::new(What::HeadOther { kind }, raw.as_str(), fields, cx)
            }
        }
    }

    fn piece(piece: Piece<'_>, fields: Fields<'_>, cx: &Cx<'_>) -> Self {
        match piece {
            Piece::Text(text) => Self::new(What::Text, text.as_escaped(), fields, cx),
            Piece::Thinking(text) => Self::new(What::Thinking, text.as_escaped(), fields, cx),
            Piece::Signature(text) => Self::new(What::Signature, text.as_escaped(), fields, cx),
            Piece::Subject(text) => Self::new(What::Subject, text.as_escaped(), fields, cx),
            Piece::Input(text) => Self::new(What::Input, text.as_escaped(), fields, cx),
            Piece::Other(raw) => Self::new(What::Other, raw.as_str(), fields, cx),
        }
    }

    fn tell<'a>(&mut self, index: u32, voice: &mut Voice<'_, 'a>) {
        let arena = voice.cx.arena;
        let keep = |text: &str| -> &'a str { arena.alloc_str(text) };
        let fields: Vec<Field<'a>> = self
            .fields
            .iter()
            .map(|(place, key, value, known)| Field {
                at: match place {
                    Place::Line => At::Line,
                    Place::Part(part) => At::Part(keep(part)),
                    Place::Block(n) => At::Block(*n),
                },
                key: Str::trusted(keep(key)),
                value: Raw::trusted(keep(value)),
                known: *known,
            })
            .collect();
        let fields = voice.cx.list(&fields);
        let text = Str::trusted(keep(&self.text));
        let raw = Raw::trusted(text.as_escaped());
        let trace = voice.cx.trace.filter(|_| !text.is_empty());
        if let Some(trace) = trace {
            trace.watch(text.as_escaped(), &self.kept);
        }
        let head = match &self.what {
            What::HeadText => BlockHead::Text,
            What::HeadThinking => BlockHead::Thinking,
            What::HeadRedacted => BlockHead::Redacted { data: text },
            What::HeadCall { name } => {
                let name = Str::trusted(keep(name));
                if let Some(trace) = trace {
                    trace.watch(name.as_escaped(), &self.named);
                }
                BlockHead::Call { id: text, name }
            }
            What::HeadOther { kind } => BlockHead::Other {
                kind: Str::trusted(keep(kind)),
                raw,
            },
            piece => {
                let piece = match piece {
                    What::Thinking => Piece::Thinking(text),
                    What::Signature => Piece::Signature(text),
                    What::Subject => Piece::Subject(text),
                    What::Input => Piece::Input(text),
                    What::Other => Piece::Other(raw),
                    _ => Piece::Text(text),
                };
                voice.say(Kind::Delta(Delta { index, piece }), fields);
                self.told(text, trace);
                return;
            }
        };
        voice.say(Kind::BlockStart(BlockStart { index, head }), fields);
        if let (BlockHead::Call { id, name }, Some(trace)) = (head, trace) {
            trace.told_if_said(&mut self.kept, id.as_escaped(), "the call has no place");
            trace.told_if_said(&mut self.named, name.as_escaped(), "the call has no place");
            return;
        }
        self.told(text, trace);
    }

    fn told(&mut self, text: Str<'_>, trace: Option<&Trace>) {
        if let Some(trace) = trace {
            trace.told(&mut self.kept, text.as_escaped(), "the block has no place");
        }
    }
}

/// Follows the brackets of a JSON text that comes in pieces, to know when a call's arguments are complete.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Balance {
    depth: u32,
    in_string: bool,
    escaped: bool,
    /// Something that is not blank has come.
    begun: bool,
    /// Something came behind the end.
    beyond: bool,
}

impl Balance {
    /// Takes the next piece, as plain text.
    pub(crate) fn feed(&mut self, text: &str) {
        for byte in text.bytes() {
            if self.in_string {
                match byte {
                    _ if self.escaped => self.escaped = false,
                    b'\\' => self.escaped = true,
                    b'"' => self.in_string = false,
                    _ => {}
                }
                continue;
            }
            if byte.is_ascii_whitespace() {
                continue;
            }
            self.beyond |= self.begun && self.depth == 0;
            self.begun = true;
            match byte {
                b'"' => self.in_string = true,
                b'{' | b'[' => self.depth += 1,
                b'}' | b']' => self.depth = self.depth.saturating_sub(1),
                _ => {}
            }
        }
    }

    /// Nothing but blanks has come.
    pub(crate) const fn is_blank(&self) -> bool {
        !self.begun
    }

    /// One whole object has come, and nothing behind it.
    pub(crate) const fn is_complete(&self) -> bool {
        self.begun && self.depth == 0 && !self.in_string && !self.beyond
    }
}

/// How far a reply has come when its stream is over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum End {
    /// No reply has begun.
    #[default]
    Nothing,
    /// It is cut off.
    Incomplete,
    /// It is whole: the API has said why it stopped, or that it is done.
    Terminal,
    /// The API has said that it failed.
    Failed,
}

/// What a reader of a stream tells, in short: for tests.
#[cfg(test)]
pub(crate) mod told {
    use bumpalo::Bump;

    use crate::codec::{Cx, Decode};
    use crate::event::{BlockHead, Event, Input, Kind, Piece, Sink};

    #[derive(Default)]
    struct Told(Vec<String>);

    impl<'a> Sink<'a> for Told {
        fn event(&mut self, event: &Event<'a>) {
            let fields: String = event
                .fields
                .iter()
                .map(|field| format!(" {}={}", field.key.as_escaped(), field.value.as_str()))
                .collect();
            let said = match event.kind {
                Kind::RoundStart(start) => format!("round {}", start.id.unwrap_or_default().as_escaped()),
                Kind::BlockStart(start) => match start.head {
                    BlockHead::Text => "text".to_owned(),
                    BlockHead::Thinking => format!("thinking{fields}"),
                    BlockHead::Redacted { data } => format!("redacted {}", data.as_escaped()),
                    BlockHead::Call { id, name } => format!("call {} {}{fields}", id.as_escaped(), name.as_escaped()),
                    BlockHead::Other { kind, .. } => format!("other {}", kind.as_escaped()),
                },
                Kind::Delta(delta) => match delta.piece {
                    Piece::Text(text) | Piece::Thinking(text) => text.unescape().into_owned(),
                    Piece::Input(text) => format!("{}{fields}", text.unescape()),
                    Piece::Signature(text) => format!("signature {}", text.as_escaped()),
                    Piece::Subject(_) | Piece::Other(_) => "other".to_owned(),
                },
                Kind::BlockStop(_) => "stop".to_owned(),
                Kind::RoundStop(stop) => {
                    let word = stop.stop.map(|stop| format!(" {:?} {}", stop.kind, stop.word.as_escaped()));
                    let usage = stop.usage.map(|usage| {
                        let count = |count: Option<crate::event::Count<'_>>| count.map_or("?".to_owned(), |count| count.value.to_string());
                        let [input, read, output] = [usage.input, usage.cache_read, usage.output].map(count);
                        format!(" {input}({read})+{output}")
                    });
                    format!("because{}{}", word.unwrap_or_default(), usage.unwrap_or_default())
                }
                Kind::RoundEnd(end) => match end.abandoned_from {
                    Some(_) => "abandoned".to_owned(),
                    None => "end".to_owned(),
                },
                Kind::Fatal(fatal) => format!("failed {}: {}", fatal.kind.unwrap_or_default().as_escaped(), fatal.message.unescape()),
                ref other => format!("{other:?}"),
            };
            self.0.push(said);
        }

        fn input(&mut self, _input: &Input<'a>) {}
    }

    /// What these payloads say, one thing behind the other.
    pub(crate) fn told(decoder: &mut impl Decode, payloads: &[&str]) -> String {
        let arena = Bump::new();
        let cx = Cx::new(&arena);
        let mut told = Told::default();
        for payload in payloads {
            let payload: &str = arena.alloc_str(payload);
            assert_eq!(decoder.line(payload, &cx, &mut told), Ok(payload.len()));
        }
        decoder.finish(&cx, &mut told);
        told.0.join("|")
    }
}
