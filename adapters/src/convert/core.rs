//! What comes of the lines of a log: they are decoded, assembled, encoded, and told to the ledger.

use std::rc::Rc;

use bumpalo::Bump;

use super::aside::Aside;
use super::document::Document;
use super::pipe::{Pipe, Told};
use super::sessions::Sessions;
use super::setup::{assembler, by_heart, is_copied, style};
use super::stored::Stored;
use super::{Damage, Followed, Options};
use crate::assemble::{Assembler, Down};
use crate::codec::{Cx, Decode, Decoder, Encode, Encoder, Format, Layout, Part};
use crate::detect::Evidence;
use crate::event::{Fate, Finding};
use crate::follow;
use crate::json::{Cursor, Error, LONG, Out};
use crate::ledger::Ledger;
use crate::read::Collector;
use crate::reader::{Consumer, Damaged, Source, Taken};
use crate::trace::Trace;
use crate::vendor::Ends;

/// What comes of the lines, however they are framed.
#[derive(Debug)]
pub(super) struct Core {
    options: Options,
    identity: bool,
    /// Nothing is written: the encoder collects events.
    collects: bool,
    /// Nothing is asked about the lines but what they say: those spelled like ones before need not be read anew.
    by_heart: bool,
    /// The last line that was copied had no line feed.
    unended: bool,
    encoder: Encoder,
    pub(super) assembler: Assembler,
    /// The dialect that the events come from: what is read, or what stored events say of themselves.
    source: Format,
    /// Nothing of the session has reached the assembler.
    fresh: bool,
    sessions: Sessions,
    stored: Stored,
    pub(super) out: Out,
    trace: Option<Rc<Trace>>,
    pub(super) ledger: Option<Ledger>,
    line: u64,
    /// Lines of sessions that wait for the turn of another one to end.
    pub(super) aside: Aside,
    pub(super) damage: Vec<Damage>,
    pub(super) damaged: u64,
    pub(super) silent: Silent,
    pub(super) followed: Vec<Followed>,
    /// The one value that is written, if the target is one.
    document: Option<Document>,
}

/// Lines that gave no output of their own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Silent {
    /// The target has no place for them.
    pub lost: u64,
    /// They are of the conversation, which other lines of the output say.
    pub merged: u64,
}

impl Silent {
    #[inline]
    fn add(&mut self, aside: bool) {
        self.lost += u64::from(aside);
        self.merged += u64::from(!aside);
    }
}

impl std::ops::AddAssign for Silent {
    fn add_assign(&mut self, other: Self) {
        self.lost += other.lost;
        self.merged += other.merged;
    }
}

/// What may begin in the middle of a log.
enum Begin {
    /// Another session.
    Session(String),
    /// A session in another dialect.
    Dialect(Evidence),
}

impl Core {
    /// At the beginning of a log.
    pub(super) fn new(options: Options) -> Self {
        let encoder = Encoder::new(options.to.dialect, style(&options, options.from, options.at));
        Self::with(options, encoder)
    }

    /// The same, where whole replies are collected instead of written.
    pub(super) fn collecting(options: Options) -> Self {
        Self::with(options, Encoder::Collector(Collector::default()))
    }

    /// What was collected.
    pub(super) fn collected(&mut self) -> Option<&mut Collector> {
        match &mut self.encoder {
            Encoder::Collector(found) => Some(found),
            _ => None,
        }
    }

    fn with(options: Options, encoder: Encoder) -> Self {
        let trace = options.ledger.is_some().then(|| Rc::new(Trace::for_target(encoder.want())));
        let ledger = options.ledger.as_ref().map(|file| Ledger::new(file, &options.to.to_string()));
        let source = options.from;
        let collects = matches!(encoder, Encoder::Collector(_));
        let identity = is_copied(&options, collects);
        // Where nothing says how turns end, a value is a whole session.
        let is_a_session = options.to.dialect.vendor().logs.ends == Ends::Unsaid;
        Self {
            identity,
            by_heart: by_heart(&options, identity),
            unended: false,
            assembler: assembler(&options, source, &encoder, 0),
            collects,
            encoder,
            source,
            fresh: true,
            sessions: Sessions::default(),
            stored: if collects { Stored::No } else { Stored::of(&options) },
            out: Out::new(trace.clone()),
            trace,
            ledger,
            line: 0,
            aside: Aside::default(),
            damage: Vec::new(),
            damaged: 0,
            silent: Silent::default(),
            followed: Vec::new(),
            document: (options.to.mode.layout == Layout::Document && !identity && !is_a_session).then(Document::default),
            options,
        }
    }

    /// What is to be done.
    pub(super) const fn options(&self) -> &Options {
        &self.options
    }

    /// The next line is of another file than the last one.
    pub(super) fn other_file(&mut self) {
        if let (Some(trace), Some(ledger)) = (&self.trace, &mut self.ledger) {
            ledger.add_late(trace.take_late());
            ledger.close();
        }
    }

    /// Whether `strict` has ended the run.
    pub(super) const fn has_stopped(&self) -> bool {
        self.options.strict && self.damaged > 0
    }

    /// Writes to `out` from here on.
    pub(super) fn begin(&mut self, out: &mut Vec<u8>) {
        self.out.swap(out);
        self.stored.resume(&mut self.out);
    }

    /// Whether what was written of the lines before stays as it is.
    const fn hands_over(&self) -> bool {
        !self.identity && self.document.is_none() && self.stored.hands_over()
    }

    /// Gives `out` back.
    pub(super) fn pause(&mut self, out: &mut Vec<u8>) {
        self.stored.pause(&mut self.out);
        self.out.swap(out);
    }

    /// What a decoder talks to.
    #[inline]
    fn pipe<'p>(&'p mut self, text: &'p str, arena: &'p Bump) -> Pipe<'p, 'p> {
        let told = Told::new(&self.out);
        Pipe {
            options: &self.options,
            identity: self.identity,
            collects: self.collects,
            assembler: &mut self.assembler,
            source: &mut self.source,
            fresh: &mut self.fresh,
            sessions: &mut self.sessions,
            stored: &mut self.stored,
            down: Down {
                encoder: &mut self.encoder,
                out: &mut self.out,
                cx: Cx {
                    arena,
                    trace: self.trace.as_deref(),
                    line: None,
                },
            },
            ledger: self.ledger.as_mut(),
            line: self.line,
            text,
            by_heart: false,
            takes_aside: self.aside.takes,
            told,
        }
    }

    /// Another session begins with the line `text`, of which nothing that names it has been told: ends the one before, and reads the line
    /// with a decoder that knows nothing of it. A log that was cut here would read the same. `own`: it begins none in another dialect.
    #[cold]
    fn next_session<'a>(
        &mut self,
        (begin, own): (Begin, bool),
        at: u64,
        text: &'a str,
        decoder: &mut Decoder,
        arena: &'a Bump,
    ) -> (Result<usize, Error>, Told) {
        // What is still to say belongs to the line before this one, which was the session's last.
        let line = self.line;
        self.line = (line - 1).max(1);
        if let (Some(trace), Some(ledger)) = (&self.trace, &mut self.ledger) {
            ledger.add_late(trace.take_late());
            trace.begin("");
        }
        let mut pipe = self.pipe("", arena);
        pipe.told.over = true;
        let cx = pipe.down.cx;
        let before = pipe.down.out.len();
        decoder.finish(&cx, &mut pipe);
        let in_turn = pipe.assembler.is_in_turn();
        pipe.end_session();
        let given = std::mem::take(&mut pipe.told.given);
        // A session that is one value was given back as it was.
        if let Stored::Giving(giving) = &mut self.stored
            && self.options.to.mode.layout.is_one_value()
            && giving.has_given_session()
        {
            self.out.truncate(before);
        }
        self.bind(before, false);
        if let Some(document) = &mut self.document {
            document.keeps_session(given);
            document.end_session(&mut self.out);
        }
        if self.options.to.mode.layout.is_one_value() {
            self.stored.begins_behind(&self.out);
        }
        self.line = line;
        match begin {
            Begin::Session(id) => {
                self.pipe("", arena).next_session(&id, at, in_turn);
                decoder.next_session(&id);
            }
            Begin::Dialect(found) => {
                self.options.from = found.format;
                self.identity = is_copied(&self.options, self.collects);
                self.by_heart = by_heart(&self.options, self.identity);
                self.source = found.format;
                *decoder = Decoder::new(self.source);
                self.sessions = Sessions::default();
                self.pipe("", arena).next_session("", at, false);
                self.followed.push(Followed {
                    line,
                    format: found.format,
                    why: found.why,
                });
            }
        }
        if let Some(trace) = &self.trace {
            trace.begin(text);
        }
        let mut pipe = self.pipe(text, arena);
        pipe.told.own = own;
        let cx = pipe.down.cx;
        let used = decoder.line(text, &cx, &mut pipe);
        (used, pipe.told())
    }

    /// What begins with a line that was read so.
    #[inline]
    fn begins(&self, told: &mut Told, used: &Result<usize, Error>, text: &str) -> Option<Begin> {
        if used.is_err() {
            told.foreign = follow::begins_another(self.options.from.dialect, text, self.assembler.is_in_turn());
        }
        match told.foreign {
            Some(found) if self.options.follow => Some(Begin::Dialect(found)),
            _ => told.another.take().map(Begin::Session),
        }
    }

    /// Counts the line if nothing came of it; returns whether something did.
    #[inline]
    fn count(&mut self, told: &Told, part: Option<Part>) -> bool {
        let promised = self.out.take_promise();
        let wrote = promised || self.out.len() > told.before;
        self.sessions.wrote(wrote);
        if !wrote && told.events > 0 && !self.identity && part.is_none_or(|part| part.first == 0) {
            self.silent.add(told.aside);
        }
        wrote
    }

    /// What was written behind `before` goes into the one value, if one is written.
    #[inline]
    fn bind(&mut self, before: usize, ends: bool) {
        let Some(document) = &mut self.document else { return };
        // Of a session that is one value, the line says all.
        let ends = ends || self.options.from.mode.layout.is_one_value();
        let replaces = document.take(before, (self.line, ends), &mut self.out, self.ledger.as_mut());
        self.silent.lost += u64::from(replaces);
    }

    pub(super) fn damage(&mut self, at: usize, pointer: Option<String>, reason: String) {
        if let Some(ledger) = &mut self.ledger {
            ledger.add(self.line, [Finding::new(Fate::Damaged, "", &reason)]);
        }
        self.damage.push(Damage {
            line: self.line,
            byte: at as u64 + 1,
            pointer,
            reason,
        });
        self.damaged += 1;
    }
}

impl Core {
    /// Reads a value.
    pub(super) fn read<'a>(&mut self, text: &'a str, source: Source<'_, 'a>) -> Result<usize, Error> {
        let Source {
            decoder,
            arena,
            line,
            held,
            stand,
            read,
            part,
        } = source;
        let at = stand.at;
        self.line = line;
        self.out.stays(text.len() > LONG && self.hands_over());
        if let Some(trace) = &self.trace {
            trace.begin(stand.with_blanks(text));
            trace.is_part(part);
        }
        let mut pipe = self.pipe(text, arena);
        pipe.down.cx.line = held;
        let cx = pipe.down.cx;
        let mut used = stand.read(decoder, text, &cx, &mut pipe);
        let mut told = pipe.told();
        if let (Some(others), Ok(used)) = (told.waits.take(), &used) {
            self.aside.add((line, read), &text[..*used], others);
            return Ok(*used);
        }
        if let Some(begin) = self.begins(&mut told, &used, text) {
            if let Some(trace) = self.trace.as_ref().filter(|_| told.events == 0) {
                // What the decoder has found is of the line, which is read once more.
                trace.take_findings();
            }
            self.bind(told.before, told.ends);
            let begins_at = self.sessions.begins_at().unwrap_or(self.options.at + read);
            (used, told) = self.next_session((begin, told.own), begins_at, text, decoder, arena);
        }
        if let Some(found) = told.foreign.filter(|_| !self.options.follow) {
            self.damage(at, None, follow::why(found, self.options.from));
        }
        let used = used?;
        // What begins otherwise is text, or was checked in full.
        if self.options.validate
            && text.starts_with('{')
            && let Err(error) = Cursor::new(text).raw()
        {
            self.damage(
                at + error.at,
                error.pointer(text),
                format!("{} (in a part that does not go over)", error.why),
            );
        }
        let wrote = self.count(&told, part);
        self.bind(told.before, told.ends);
        if let (Some(trace), Some(ledger), false) = (&self.trace, &mut self.ledger, self.identity) {
            let value = &text[..used.min(text.len())];
            let findings = trace.settle(value, wrote, &self.options.to.to_string());
            let mut findings = trace.of_part(findings);
            if let Some(document) = &mut self.document {
                document.keeps(self.line, &mut findings);
            }
            ledger.add(self.line, findings);
            trace.settle_held(value, self.line);
            ledger.add_late(trace.take_late());
        }
        if let Some(reason) = told.objection {
            self.damage.push(Damage {
                line: self.line,
                byte: 1,
                pointer: None,
                reason,
            });
            self.damaged += 1;
        }
        Ok(used)
    }
}

impl Consumer for Core {
    fn value<'a>(&mut self, text: &'a str, source: Source<'_, 'a>) -> Result<usize, Error> {
        let used = match self.options.from.mode.serves_many && !self.identity {
            true => self.read_of_many(text, source),
            false => self.read(text, source),
        };
        if self.hands_over() {
            self.out.drain();
        }
        used
    }

    fn again<'a>(&mut self, lines: &'a str, source: Source<'_, 'a>) -> Taken {
        if !self.stored.looks_at_lines() {
            let taken = self.lines_again(lines, source);
            if let (Stored::Giving(giving), 1..) = (&mut self.stored, taken.lines) {
                giving.plain();
            }
            if self.hands_over() {
                self.out.drain();
            }
            return taken;
        }
        let first = &lines[..memchr::memchr(b'\n', lines.as_bytes()).map_or(lines.len(), |at| at + 1)];
        let taken = self.lines_again(first, source);
        if taken.lines > 0 {
            self.copy(first.as_bytes());
        }
        taken
    }

    fn copy(&mut self, line: &[u8]) {
        if self.identity {
            self.unended = !line.ends_with(b"\n");
            self.out.bytes(line);
        }
        match &mut self.stored {
            Stored::No => {}
            Stored::Storing(storing) => storing.line(line, &self.encoder, &mut self.out),
            Stored::Giving(giving) => {
                if giving.line(line, &mut self.out)
                    && let Some(document) = &mut self.document
                {
                    *document = Document::default();
                }
            }
        }
    }

    fn damaged(&mut self, damaged: &Damaged<'_>) {
        self.line = damaged.line;
        self.damage(damaged.byte as usize - 1, damaged.pointer.clone(), damaged.why.clone());
    }

    fn takes_parts(&self) -> bool {
        !self.collects && !matches!(self.stored, Stored::Giving(_))
    }

    fn goes_on(&self) -> bool {
        !self.options.strict || self.damage.is_empty()
    }

    fn end(&mut self, source: Source<'_, '_>) {
        self.line = source.line;
        let Source { decoder, arena, .. } = source;
        self.read_aside(decoder, arena, true);
        self.line = source.line;
        let mut pipe = self.pipe("", arena);
        let cx = pipe.down.cx;
        let before = pipe.down.out.len();
        decoder.finish(&cx, &mut pipe);
        pipe.end_session();
        let given = std::mem::take(&mut pipe.told.given);
        self.bind(before, false);
        if let Some(ledger) = &mut self.ledger {
            ledger.add_late(given.stays);
        }
        if let Some(document) = &mut self.document {
            document.end(&mut self.out, self.ledger.as_mut());
        }
        match &mut self.stored {
            Stored::No => {}
            Stored::Storing(storing) => storing.end(&self.encoder, &mut self.out),
            Stored::Giving(giving) => {
                let given = match self.options.to.mode.layout.is_one_value() {
                    true => giving.has_given_session(),
                    false => giving.has_given_all(),
                };
                if given {
                    self.out.truncate(before);
                }
            }
        }
        // A copied last line that lacks its line feed must not run into what was added behind it.
        if self.identity && self.unended && self.out.len() > before {
            self.out.insert(before, b"\n");
        }
        if let Some(ledger) = &mut self.ledger {
            ledger.close();
        }
    }
}

impl Core {
    /// Reads those of the first of `lines` that are spelled like ones before them.
    fn lines_again<'a>(&mut self, lines: &'a str, source: Source<'_, 'a>) -> Taken {
        let mut taken = Taken::default();
        if !self.by_heart || !source.decoder.reads_again() {
            return taken;
        }
        // The one that comes next.
        self.line = source.line + 1;
        let Source { decoder, arena, .. } = source;
        let mut silent = Silent::default();
        let mut pipe = self.pipe("", arena);
        pipe.by_heart = true;
        let cx = pipe.down.cx;
        while taken.bytes < LONG {
            pipe.text = &lines[taken.bytes..];
            let Some(used) = decoder.again(pipe.text, &cx, &mut pipe) else { break };
            // A line that another session begins with is read by itself.
            if pipe.told.another.is_some() || pipe.told.foreign.is_some() {
                break;
            }
            taken.bytes += used;
            taken.lines += 1;
            if pipe.is_silent() {
                silent.add(pipe.told.aside);
            }
            pipe.next_line();
        }
        self.silent += silent;
        taken
    }
}
