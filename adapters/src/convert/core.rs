//! What comes of the lines of a log: they are decoded, assembled, encoded, and told to the ledger.

use std::rc::Rc;

use bumpalo::Bump;

use super::pipe::{Nobody, Pipe, Told};
use super::{Damage, Options, ToolNames};
use crate::assemble::{Assembler, Down, Duties};
use crate::codec::{Cx, Decode, Decoder, Dialect, Encode, Encoder, Format, Style, Want};
use crate::event::{Fate, Finding};
use crate::frame::{Frame, Line, Lines};
use crate::json::{Cursor, Error, Out, on_one_line};
use crate::ledger::Ledger;
use crate::tools::Translate;
use crate::trace::Trace;

/// What comes of the lines, however they are framed.
#[derive(Debug)]
pub(super) struct Core {
    options: Options,
    identity: bool,
    /// The last line that was copied had no line feed.
    unended: bool,
    decoder: Decoder,
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
    arena: Bump,
    pub(super) line: u64,
    pub(super) damage: Vec<Damage>,
    pub(super) damaged: u64,
    pub(super) dropped: u64,
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
    let identity = options.from == options.to;
    let (from, to) = (source, options.to.dialect);
    let native = options.tools == ToolNames::Native && from != to && !from.vendor().stores_others && !to.vendor().stores_others;
    let escape = |text: &String| {
        let mut body = String::new();
        crate::json::Str::escape(text, &mut body);
        body
    };
    let duties = Duties {
        tools: native.then_some(Translate { from, to }),
        repair: options.repair,
        watch: identity,
        prompts: options.prompts.iter().map(escape).collect(),
    };
    let as_is = identity || gives_back(options, source);
    let want = if as_is { Want::AS_IS } else { encoder.want() };
    let mut assembler = Assembler::new(source, want, duties);
    assembler.skip_prompts(prompts_used);
    assembler
}

/// What some programs put at the beginning of a text in UTF-8.
pub(super) const MARK: &str = "\u{feff}";
/// How many bytes of the input are checked to be UTF-8 at a time: few enough to be still at hand when their lines are read.
pub(super) const WINDOW: usize = 32 << 10;

impl Core {
    /// At the beginning of a log.
    pub(super) fn new(options: Options) -> Self {
        let trace = options.ledger.is_some().then(|| Rc::new(Trace::default()));
        let ledger = options.ledger.as_ref().map(|file| Ledger::new(file, &options.to.to_string()));
        let source = options.from.dialect;
        let encoder = Encoder::new(options.to.dialect, style(&options, source));
        Self {
            identity: options.from == options.to,
            unended: false,
            decoder: Decoder::new(options.from.dialect),
            assembler: assembler(&options, source, &encoder, 0),
            encoder,
            source,
            fresh: true,
            session: String::new(),
            out: Out::new(trace.clone()),
            trace,
            ledger,
            arena: Bump::new(),
            line: 0,
            damage: Vec::new(),
            damaged: 0,
            dropped: 0,
            options,
        }
    }

    /// Handles a read, of which `framing` has kept what no line feed has ended so far; returns whether to go on.
    pub(super) fn lines(&mut self, mut input: &[u8], framing: &mut Lines) -> bool {
        let mut go_on = true;
        while !input.is_empty() && go_on {
            let window = &input[..input.len().min(WINDOW)];
            let whole = memchr::memrchr(b'\n', window)
                .map(|at| &window[..=at])
                .filter(|lines| framing.is_between_lines() && lines.len() <= self.options.max_line);
            let taken = match whole {
                Some(lines) => lines,
                // The rest of a line that has begun, or a line that is longer than the window.
                None => &input[..memchr::memchr(b'\n', input).map_or(input.len(), |at| at + 1)],
            };
            go_on = match whole.and_then(|lines| simdutf8::basic::from_utf8(lines).ok()) {
                Some(text) => self.whole_lines(text),
                None => self.framed(taken, framing),
            };
            input = &input[taken.len()..];
        }
        go_on
    }

    /// The same for a read that is known to be UTF-8.
    pub(super) fn text_lines(&mut self, input: &str, framing: &mut Lines) -> bool {
        if input.len() > self.options.max_line {
            return self.lines(input.as_bytes(), framing);
        }
        let begun = if framing.is_between_lines() {
            0
        } else {
            input.find('\n').map_or(input.len(), |at| at + 1)
        };
        let (begun, input) = input.split_at(begun);
        let (whole, rest) = input.split_at(input.rfind('\n').map_or(0, |at| at + 1));
        self.framed(begun.as_bytes(), framing) && self.whole_lines(whole) && self.framed(rest.as_bytes(), framing)
    }

    /// Handles text that ends with a line feed.
    fn whole_lines(&mut self, mut text: &str) -> bool {
        // Nothing is asked about the lines but what they say.
        let by_heart = self.trace.is_none() && !self.identity && !self.options.strict && !self.options.validate;
        let mut go_on = true;
        while go_on {
            if by_heart {
                text = self.by_heart(text);
            }
            let Some(at) = memchr::memchr(b'\n', text.as_bytes()) else { break };
            let (line, rest) = text.split_at(at + 1);
            text = rest;
            self.line += 1;
            go_on = self.checked(line, true);
            if self.identity {
                self.unended = false;
                self.out.bytes(line.as_bytes());
            }
        }
        go_on
    }

    /// Handles the lines that `input` ends.
    fn framed(&mut self, input: &[u8], framing: &mut Lines) -> bool {
        let mut go_on = true;
        framing.feed(input, |line| {
            go_on = self.line(line);
            go_on
        });
        go_on
    }

    /// Handles one line; returns whether to go on.
    pub(super) fn line(&mut self, line: Line<'_>) -> bool {
        self.line += 1;
        let bytes = match line {
            Line::Whole(bytes) => bytes,
            Line::Oversize { bytes, hash } => {
                let reason = format!(
                    "a line of {bytes} bytes is over the limit of {} (fingerprint {hash:016x}); it was left out",
                    self.options.max_line
                );
                return self.damage(0, reason);
            }
        };
        let go_on = self.text(bytes, bytes.ends_with(b"\n"));
        if self.identity {
            self.unended = !bytes.ends_with(b"\n");
            self.out.bytes(bytes);
        }
        go_on
    }

    /// Handles one server-sent event, or a line that is none: a payload that stands there as it is.
    pub(super) fn frame(&mut self, frame: Frame<'_>) -> bool {
        let (data, line) = match frame {
            Frame::Event { data, line, .. } => (data, line),
            Frame::Stray { text, line } => (text, line),
            Frame::Oversize { bytes, line } => {
                self.line = line;
                let limit = self.options.max_line;
                return self.damage(
                    0,
                    format!("an event of more than {bytes} bytes is over the limit of {limit}; it was left out"),
                );
            }
        };
        self.line = line;
        match std::str::from_utf8(data) {
            Ok(text) if text.starts_with('{') => self.text(on_one_line(text).as_bytes(), true),
            _ => self.text(data, true),
        }
    }

    /// Handles one value of a `json` format: an array is the list of its elements, each a message of its own.
    pub(super) fn value(&mut self, bytes: &[u8]) -> bool {
        let text = bytes.trim_ascii();
        self.line += 1;
        let Ok(text) = std::str::from_utf8(text) else {
            return self.text(text, true);
        };
        if !text.starts_with('[') {
            return self.message(text);
        }
        let mut at = Cursor::new(text);
        let Ok(mut array) = at.array() else {
            return self.text(text.as_bytes(), true);
        };
        loop {
            match array.more(&mut at) {
                Ok(true) => {}
                Ok(false) => return true,
                Err(error) => return self.damage(error.at, error.why.to_string()),
            }
            match at.skip() {
                Ok(element) => {
                    if !self.message(element.as_str()) {
                        return false;
                    }
                }
                Err(error) => return self.damage(error.at, error.why.to_string()),
            }
        }
    }

    /// Handles one message of a `json` format. What goes over as it is has to stay on one line.
    fn message(&mut self, text: &str) -> bool {
        match text.as_bytes().first() {
            Some(b'{' | b'[') => self.text(on_one_line(text).as_bytes(), true),
            _ => self.text(text.as_bytes(), true),
        }
    }

    fn text(&mut self, bytes: &[u8], ended: bool) -> bool {
        match simdutf8::basic::from_utf8(bytes) {
            Ok(text) => self.checked(text, ended),
            Err(_) => {
                let at = std::str::from_utf8(bytes).map_or_else(|e| e.valid_up_to(), str::len);
                // The mark at the beginning of a log is no part of its first line.
                let mark = if self.line == 1 && bytes.starts_with(MARK.as_bytes()) {
                    MARK.len()
                } else {
                    0
                };
                self.damage(at - mark, "invalid UTF-8".to_owned())
            }
        }
    }

    /// Handles one line, which is known to be UTF-8.
    #[inline]
    fn checked(&mut self, text: &str, ended: bool) -> bool {
        let text = if self.line == 1 { text.strip_prefix(MARK).unwrap_or(text) } else { text };
        let text = text.strip_suffix("\n").unwrap_or(text);
        let text = text.strip_suffix("\r").unwrap_or(text);
        let mut rest = text.trim_ascii_start();
        let mut go_on = true;
        while !rest.is_empty() && go_on {
            let from = text.len() - rest.len();
            match self.decode(rest, from) {
                Ok(used) => rest = rest[used.clamp(1, rest.len())..].trim_ascii_start(),
                Err(error) => {
                    let cut = if ended { "" } else { "; the log ends in the middle of this line" };
                    return self.damage(from + error.at, format!("{}{cut}", error.why));
                }
            }
            if self.options.strict && !self.damage.is_empty() {
                go_on = false;
            }
        }
        go_on
    }

    /// Decodes what stands at the beginning of `text`, which begins at offset `from` of its line, and passes it all the way on.
    fn decode(&mut self, text: &str, from: usize) -> Result<usize, Error> {
        if let Some(trace) = &self.trace {
            trace.begin(text);
        }
        let (decoder, mut pipe) = self.pipe();
        let cx = pipe.down.cx;
        let used = decoder.line(text, &cx, &mut pipe);
        let told = pipe.told();
        self.settle(&told, text);
        let used = match used {
            Ok(used) => used,
            Err(error) => {
                self.arena.reset();
                return Err(error);
            }
        };
        // What begins otherwise is text, or was checked in full.
        if self.options.validate
            && text.starts_with('{')
            && let Err(error) = Cursor::new(text).raw()
        {
            self.damage(from + error.at, format!("{} (in a part that does not go over)", error.why));
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
                reason,
            });
            self.damaged += 1;
        }
        self.arena.reset();
        Ok(used)
    }

    /// Reads lines, as long as they are spelled like ones before them, and passes them all the way on; returns the rest.
    fn by_heart<'t>(&mut self, mut lines: &'t str) -> &'t str {
        let (mut read, mut silent) = (0, 0);
        let (decoder, mut pipe) = self.pipe();
        let cx = pipe.down.cx;
        let mut changed = None;
        while let Some(used) = decoder.again(lines, &cx, &mut pipe) {
            let (line, rest) = lines.split_at(used);
            lines = rest;
            read += 1;
            silent += u64::from(pipe.is_silent());
            if pipe.told.changed.is_some() {
                changed = Some((pipe.told(), line));
                break;
            }
            pipe.next_line();
        }
        self.line += read;
        self.dropped += silent;
        if let Some((told, line)) = changed {
            self.settle(&told, line);
        }
        self.arena.reset();
        lines
    }

    /// The decoder, and what it talks to.
    #[inline]
    fn pipe(&mut self) -> (&mut Decoder, Pipe<'_, '_>) {
        let told = Told::new(&self.out);
        let pipe = Pipe {
            options: &self.options,
            identity: self.identity,
            assembler: &mut self.assembler,
            source: &mut self.source,
            fresh: &mut self.fresh,
            session: &mut self.session,
            down: Down {
                encoder: &mut self.encoder,
                out: &mut self.out,
                cx: Cx {
                    arena: &self.arena,
                    trace: self.trace.as_deref(),
                },
            },
            ledger: self.ledger.as_mut(),
            line: self.line,
            told,
        };
        (&mut self.decoder, pipe)
    }

    /// What the decoder remembers is of the session before, if that has ended with this line: a log that was cut here would read
    /// the same.
    #[inline]
    fn settle(&mut self, told: &Told, text: &str) {
        if let Some(before_it) = &told.changed {
            self.decoder.next_session(before_it, &self.session);
            let cx = Cx {
                arena: &self.arena,
                trace: None,
            };
            let _ = self.decoder.line(text, &cx, &mut Nobody);
        }
    }

    /// Counts the line if nothing came of it; returns whether something did.
    #[inline]
    fn count(&mut self, told: &Told) -> bool {
        let wrote = self.out.len() > told.before;
        self.dropped += u64::from(!wrote && told.events > 0 && !self.identity);
        wrote
    }

    fn damage(&mut self, at: usize, reason: String) -> bool {
        if let Some(ledger) = &mut self.ledger {
            ledger.add(self.line, [Finding::new(Fate::Damaged, "", &reason)]);
        }
        self.damage.push(Damage {
            line: self.line,
            byte: at as u64 + 1,
            reason,
        });
        self.damaged += 1;
        !self.options.strict
    }

    pub(super) fn finish(&mut self) {
        let (decoder, mut pipe) = self.pipe();
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
        self.arena.reset();
    }
}
