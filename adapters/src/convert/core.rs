//! What comes of the lines of a log: they are decoded, assembled, encoded, and told to the ledger.

use std::rc::Rc;

use bumpalo::Bump;

use super::pipe::{Nobody, Pipe, Told};
use super::{Damage, Options, ToolNames};
use crate::assemble::{Assembler, Down, Duties};
use crate::codec::{Cx, Decode, Decoder, Dialect, Encode, Encoder, Format, Style, Want};
use crate::event::{Fate, Finding};
use crate::json::{Cursor, Error, Out};
use crate::ledger::Ledger;
use crate::read::Collector;
use crate::reader::{Consumer, Damaged, Source, Taken};
use crate::tools::Translate;
use crate::trace::Trace;

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
    source: Dialect,
    /// Nothing of the session has reached the assembler.
    fresh: bool,
    session: String,
    pub(super) out: Out,
    trace: Option<Rc<Trace>>,
    pub(super) ledger: Option<Ledger>,
    line: u64,
    pub(super) damage: Vec<Damage>,
    pub(super) damaged: u64,
    pub(super) silent: Silent,
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

/// Whether events that were stored go back to the dialect that they come from: then each line is given back as it was, whatever
/// the flags say about partial messages. The RFC has two modes of which stored events do not say which it was.
fn gives_back(options: &Options, source: Dialect) -> bool {
    let streaming = options
        .to
        .dialect
        .modes()
        .iter()
        .filter(|&&mode| Format { mode, ..options.to }.is_streaming());
    options.from.dialect.vendor().stores_others && source == options.to.dialect && options.to.is_streaming() && streaming.count() == 1
}

pub(super) fn style(options: &Options, source: Dialect) -> Style {
    Style {
        mode: options.to.mode,
        source,
        partial: options.partial || gives_back(options, source),
        native_tools: options.tools == ToolNames::Native,
        old_text: options.old_text,
        agent: false,
        verbose: options.verbose,
    }
}

pub(super) fn assembler(options: &Options, source: Dialect, encoder: &Encoder, prompts_used: usize) -> Assembler {
    let collects = matches!(encoder, Encoder::Collector(_));
    let identity = options.from == options.to && !collects;
    let (from, to) = (source, options.to.dialect);
    let native = options.tools == ToolNames::Native && from != to && !from.vendor().stores_others && !to.vendor().stores_others;
    let escape = |text: &String| {
        let mut body = String::new();
        crate::json::Str::escape(text, &mut body);
        body
    };
    let duties = Duties {
        tools: native.then(|| Translate::new(from, to).with_cd(options.cd_in_commands)),
        repair: options.repair,
        watch: identity,
        prompts: options.prompts.iter().map(escape).collect(),
    };
    let as_is = identity || gives_back(options, source) && !collects;
    let want = if as_is { Want::AS_IS } else { encoder.want() };
    let mut assembler = Assembler::new(source, want, duties);
    assembler.skip_prompts(prompts_used);
    assembler
}

impl Core {
    /// At the beginning of a log.
    pub(super) fn new(options: Options) -> Self {
        let encoder = Encoder::new(options.to.dialect, style(&options, options.from.dialect));
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
        let trace = options.ledger.is_some().then(|| Rc::new(Trace::default()));
        let ledger = options.ledger.as_ref().map(|file| Ledger::new(file, &options.to.to_string()));
        let source = options.from.dialect;
        let collects = matches!(encoder, Encoder::Collector(_));
        let identity = options.from == options.to && !collects;
        Self {
            identity,
            by_heart: !identity && trace.is_none() && !options.strict && !options.validate,
            unended: false,
            assembler: assembler(&options, source, &encoder, 0),
            collects,
            encoder,
            source,
            fresh: true,
            session: String::new(),
            out: Out::new(trace.clone()),
            trace,
            ledger,
            line: 0,
            damage: Vec::new(),
            damaged: 0,
            silent: Silent::default(),
            options,
        }
    }

    /// What a decoder talks to.
    #[inline]
    fn pipe<'p>(&'p mut self, arena: &'p Bump) -> Pipe<'p, 'p> {
        let told = Told::new(&self.out);
        Pipe {
            options: &self.options,
            identity: self.identity,
            collects: self.collects,
            assembler: &mut self.assembler,
            source: &mut self.source,
            fresh: &mut self.fresh,
            session: &mut self.session,
            down: Down {
                encoder: &mut self.encoder,
                out: &mut self.out,
                cx: Cx {
                    arena,
                    trace: self.trace.as_deref(),
                },
            },
            ledger: self.ledger.as_mut(),
            line: self.line,
            told,
        }
    }

    /// What the decoder remembers is of the session before, if that has ended with this line: a log that was cut here would read
    /// the same.
    #[inline]
    fn settle(&self, told: &Told, text: &str, decoder: &mut Decoder, arena: &Bump) {
        if told.changed {
            decoder.next_session(&self.session);
            let _ = decoder.line(text, &Cx { arena, trace: None }, &mut Nobody);
        }
    }

    /// Counts the line if nothing came of it; returns whether something did.
    #[inline]
    fn count(&mut self, told: &Told) -> bool {
        let wrote = self.out.len() > told.before;
        if !wrote && told.events > 0 && !self.identity {
            self.silent.add(told.aside);
        }
        wrote
    }

    fn damage(&mut self, at: usize, pointer: Option<String>, reason: String) {
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

impl Consumer for Core {
    fn value<'a>(&mut self, text: &'a str, source: Source<'_, 'a>) -> Result<usize, Error> {
        self.line = source.line;
        if let Some(trace) = &self.trace {
            trace.begin(text);
        }
        let Source { decoder, arena, at, .. } = source;
        let mut pipe = self.pipe(arena);
        let cx = pipe.down.cx;
        let used = decoder.line(text, &cx, &mut pipe);
        let told = pipe.told();
        self.settle(&told, text, decoder, arena);
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
        let wrote = self.count(&told);
        if let (Some(trace), Some(ledger), false) = (&self.trace, &mut self.ledger, self.identity) {
            let value = &text[..used.min(text.len())];
            ledger.add(self.line, trace.settle(value, wrote, &self.options.to.to_string()));
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

    fn again<'a>(&mut self, lines: &'a str, source: Source<'_, 'a>) -> Taken {
        let mut taken = Taken::default();
        if !self.by_heart {
            return taken;
        }
        // The one that comes next.
        self.line = source.line + 1;
        let Source { decoder, arena, .. } = source;
        let mut silent = Silent::default();
        let mut pipe = self.pipe(arena);
        let cx = pipe.down.cx;
        let mut changed = None;
        while let Some(used) = decoder.again(&lines[taken.bytes..], &cx, &mut pipe) {
            let line = taken.bytes;
            taken.bytes += used;
            taken.lines += 1;
            if pipe.is_silent() {
                silent.add(pipe.told.aside);
            }
            if pipe.told.changed {
                changed = Some((pipe.told(), &lines[line..taken.bytes]));
                break;
            }
            pipe.next_line();
        }
        self.silent += silent;
        if let Some((told, line)) = changed {
            self.settle(&told, line, decoder, arena);
        }
        taken
    }

    fn copy(&mut self, line: &[u8]) {
        if self.identity {
            self.unended = !line.ends_with(b"\n");
            self.out.bytes(line);
        }
    }

    fn damaged(&mut self, damaged: &Damaged<'_>) {
        self.line = damaged.line;
        self.damage(damaged.byte as usize - 1, damaged.pointer.clone(), damaged.why.clone());
    }

    fn goes_on(&self) -> bool {
        !self.options.strict || self.damage.is_empty()
    }

    fn end(&mut self, source: Source<'_, '_>) {
        self.line = source.line;
        let Source { decoder, arena, .. } = source;
        let mut pipe = self.pipe(arena);
        let cx = pipe.down.cx;
        let before = pipe.down.out.len();
        decoder.finish(&cx, &mut pipe);
        pipe.end_session();
        // A copied last line that lacks its line feed must not run into what was added behind it.
        if self.identity && self.unended && self.out.len() > before {
            self.out.insert(before, b'\n');
        }
        if let Some(ledger) = &mut self.ledger {
            ledger.close();
        }
    }
}
