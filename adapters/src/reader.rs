//! The one way from bytes to events: lines, values or server-sent events are cut out of the stream, their text is checked, and the
//! decoder reads one value after the other. What is done with them is a [`Consumer`]'s: [`convert`](crate::convert),
//! [`live`](crate::live), [`check`](crate::check), [`prompts`](crate::prompts) and [`cuts`](crate::cuts) are the five.

mod blanks;
mod framing;
mod parts;

use std::borrow::Cow;
use std::rc::Rc;

use bumpalo::Bump;

use crate::codec::{Cx, Decode, Decoder, Part};
use crate::event::Sink;
use crate::frame::{Frame, Line, Lines, Values};
use crate::json::{Cursor, Error, on_one_line, unfolded};
pub(crate) use blanks::Stand;
pub(crate) use framing::Framing;

/// What some programs put at the beginning of a text in UTF-8.
pub(crate) const MARK: &str = "\u{feff}";
/// How many bytes of the input are checked to be UTF-8 at a time: few enough to be still at hand when their lines are read.
pub(crate) const WINDOW: usize = 32 << 10;

/// Reads one log, in pieces of any size; where they are cut changes nothing.
#[derive(Debug)]
pub(crate) struct Reader {
    framing: Framing,
    lines: Stage,
    stopped: bool,
}

/// What is done with what a [`Reader`] finds.
pub(crate) trait Consumer {
    /// Has the decoder read the value that `text` begins with; returns how many bytes it took.
    fn value<'a>(&mut self, text: &'a str, source: Source<'_, 'a>) -> Result<usize, Error>;

    /// Has the decoder read those of the first of `lines`, which all have their line feeds, that are spelled like ones before them.
    fn again<'a>(&mut self, lines: &'a str, source: Source<'_, 'a>) -> Taken {
        let _ = (lines, source);
        Taken::default()
    }

    /// A line has been read, or a value with what stands around it, which was this; not called for a line that was too long.
    fn copy(&mut self, line: &[u8]) {
        let _ = line;
    }

    /// A line, or the rest of one, could not be read.
    fn damaged(&mut self, damaged: &Damaged<'_>);

    /// Whether a very long line may come in parts, each as a line of its own.
    fn takes_parts(&self) -> bool {
        false
    }

    /// Whether it wants to know how a line begins that is over the length limit.
    fn keeps_starts(&self) -> bool {
        false
    }

    /// Whether what is no UTF-8 is read with other characters in place of the bytes that are none.
    fn takes_any_bytes(&self) -> bool {
        false
    }

    /// Whether reading goes on.
    fn goes_on(&self) -> bool {
        true
    }

    /// The input is over.
    fn end(&mut self, source: Source<'_, '_>) {
        let _ = source;
    }
}

/// The decoder, the memory of what it tells, and where it is.
pub(crate) struct Source<'r, 'a> {
    pub(crate) decoder: &'r mut Decoder,
    pub(crate) arena: &'a Bump,
    /// The line, counted from 1. In a `json` format: the message.
    pub(crate) line: u64,
    /// See [`Cx::line`].
    pub(crate) held: Option<&'a Rc<Vec<u8>>>,
    pub(crate) stand: Stand<'a>,
    /// How much was read before it. Of a log of lines these are bytes, and those before the line are counted.
    pub(crate) read: u64,
    /// Which part of a line it is that is told in parts.
    pub(crate) part: Option<Part>,
}

/// Lines that were read at once.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Taken {
    pub(crate) bytes: usize,
    pub(crate) lines: u64,
}

/// What could not be read.
#[derive(Debug)]
pub(crate) struct Damaged<'l> {
    /// Which line, counted from 1.
    pub(crate) line: u64,
    /// The byte within it, counted from 1.
    pub(crate) byte: u64,
    /// The JSON pointer of what is wrong, where there is one.
    pub(crate) pointer: Option<String>,
    /// What is wrong.
    pub(crate) why: String,
    /// The line without its end; of one that is over the length limit nothing, or how it begins where [that is wanted](Consumer::keeps_starts).
    pub(crate) bytes: &'l [u8],
}

impl<'a> Source<'_, 'a> {
    /// Tells `sink` what the value that `text` begins with means.
    pub(crate) fn tell(self, text: &'a str, sink: &mut dyn Sink<'a>) -> Result<usize, Error> {
        self.stand.read(self.decoder, text, &Cx::new(self.arena), sink)
    }

    /// Tells `sink` what the decoder still holds.
    pub(crate) fn finish(self, sink: &mut dyn Sink<'a>) {
        self.decoder.finish(&Cx::new(self.arena), sink);
    }
}

impl Reader {
    /// Ready for the first byte.
    pub(crate) fn new(framing: Framing, max_line: usize, decoder: Decoder) -> Self {
        Self {
            framing,
            lines: Stage {
                decoder,
                arena: Bump::new(),
                max_line,
                line: 0,
                read: 0,
                held: None,
            },
            stopped: false,
        }
    }

    /// Takes the next piece of the input.
    pub(crate) fn feed(&mut self, input: &[u8], to: &mut impl Consumer) {
        if self.stopped {
            return;
        }
        let Self { framing, lines: stage, .. } = self;
        let mut go_on = true;
        match framing {
            Framing::Begun { .. } => return self.begin(input, to),
            Framing::Lines(lines) => go_on = stage.bytes(input, lines, to),
            Framing::Events(events) => events.feed(input, |frame| {
                go_on = stage.frame(frame, to);
                go_on
            }),
            Framing::LeftOut => {}
            Framing::Values { finder, buffer, most, then } => {
                buffer.extend_from_slice(input);
                let mut read = 0;
                let mut lies_so = Some(true);
                let mut is_too_large = false;
                while go_on
                    && lies_so == Some(true)
                    && let Some(end) = finder.end(&buffer[read..])
                {
                    is_too_large = end > *most;
                    if is_too_large {
                        break;
                    }
                    let value = &buffer[read..read + end];
                    read += end;
                    go_on = stage.document(value, to);
                    to.copy(value);
                    if then.is_some() {
                        lies_so = Values::begin(&buffer[read..]);
                    }
                }
                buffer.drain(..read);
                if let (true, Some(then), None | Some(false)) = (go_on, *then, lies_so) {
                    let rest = std::mem::take(buffer);
                    *framing = Framing::Begun {
                        head: Vec::new(),
                        then,
                        max_line: *most,
                    };
                    return self.begin(&rest, to);
                }
                // However it comes in pieces.
                if go_on && (is_too_large || buffer.len() > *most) {
                    *framing = Framing::LeftOut;
                    go_on = stage.too_large(to);
                }
            }
        }
        self.stopped = !go_on;
    }

    /// Takes more of a log of which it is not known how it lies.
    fn begin(&mut self, input: &[u8], to: &mut impl Consumer) {
        let Framing::Begun { head, then, max_line } = &mut self.framing else {
            return;
        };
        // As a rule the first piece tells.
        let begun = match head.is_empty() {
            true => Cow::Borrowed(input),
            false => {
                head.extend_from_slice(input);
                Cow::Owned(std::mem::take(head))
            }
        };
        let framing = match (Values::begin(&begun), *then, *max_line) {
            (None, ..) => {
                *head = begun.into_owned();
                return;
            }
            (Some(true), then, max_line) => Framing::Values {
                finder: Values::default(),
                buffer: Vec::new(),
                most: max_line,
                then: Some(then),
            },
            (Some(false), then, max_line) => then.framing(max_line),
        };
        self.framing = framing;
        self.feed(&begun, to);
    }

    /// The same for a piece that is known to be UTF-8.
    pub(crate) fn feed_text(&mut self, input: &str, to: &mut impl Consumer) {
        match &mut self.framing {
            Framing::Lines(lines) if !self.stopped => self.stopped = !self.lines.known_text(input, lines, to),
            _ => self.feed(input.as_bytes(), to),
        }
    }

    /// The input is over: reads what no line feed has ended.
    pub(crate) fn finish(&mut self, to: &mut impl Consumer) {
        self.rest(to);
        to.end(self.lines.source());
        self.lines.arena.reset();
    }

    /// Reads what no line feed has ended: nothing more of this comes, but something else may.
    pub(crate) fn rest(&mut self, to: &mut impl Consumer) {
        if let Framing::Begun { head, then, max_line } = &mut self.framing {
            let (head, framing) = (std::mem::take(head), then.framing(*max_line));
            if head.trim_ascii().is_empty() {
                return to.copy(&head);
            }
            self.framing = framing;
            self.feed(&head, to);
        }
        let Self {
            framing,
            lines: stage,
            stopped,
        } = self;
        if !*stopped {
            match framing {
                Framing::Lines(lines) => lines.finish(|line| {
                    *stopped = !stage.line(line, to);
                    !*stopped
                }),
                Framing::Events(events) => events.finish(|frame| {
                    *stopped = !stage.frame(frame, to);
                    !*stopped
                }),
                Framing::Begun { .. } | Framing::LeftOut => {}
                Framing::Values { buffer, .. } => {
                    let value = std::mem::take(buffer);
                    *stopped = !stage.document(&value, to);
                    if !value.is_empty() {
                        to.copy(&value);
                    }
                }
            }
        }
    }

    /// Whether the consumer did not want to go on.
    pub(crate) const fn stopped(&self) -> bool {
        self.stopped
    }

    /// How many lines were read.
    pub(crate) const fn lines(&self) -> u64 {
        self.lines.line
    }
}

/// Everything behind the framing.
#[derive(Debug)]
struct Stage {
    decoder: Decoder,
    arena: Bump,
    max_line: usize,
    line: u64,
    /// How much was read.
    read: u64,
    /// The line that is read, where it is long.
    held: Option<Rc<Vec<u8>>>,
}

impl Stage {
    #[inline]
    fn source(&mut self) -> Source<'_, '_> {
        self.source_at(Stand { at: 0, line: "" })
    }

    #[inline]
    fn source_at<'s>(&'s mut self, stand: Stand<'s>) -> Source<'s, 's> {
        Source {
            decoder: &mut self.decoder,
            arena: &self.arena,
            line: self.line,
            held: self.held.as_ref(),
            stand,
            read: self.read,
            part: None,
        }
    }

    /// Reads a piece, of which `framing` has kept what no line feed has ended so far; returns whether to go on.
    fn bytes(&mut self, mut input: &[u8], framing: &mut Lines, to: &mut impl Consumer) -> bool {
        let mut go_on = true;
        while !input.is_empty() && go_on {
            let window = &input[..input.len().min(WINDOW)];
            let whole = memchr::memrchr(b'\n', window)
                .map(|at| &window[..=at])
                .filter(|lines| framing.is_between_lines() && lines.len() <= self.max_line);
            let taken = match whole {
                Some(lines) => lines,
                // The rest of a line that has begun, or a line that is longer than the window.
                None => &input[..memchr::memchr(b'\n', input).map_or(input.len(), |at| at + 1)],
            };
            go_on = match whole.and_then(|lines| simdutf8::basic::from_utf8(lines).ok()) {
                Some(text) => self.whole_lines(text, to),
                None => self.framed(taken, framing, to),
            };
            input = &input[taken.len()..];
        }
        go_on
    }

    fn known_text(&mut self, input: &str, framing: &mut Lines, to: &mut impl Consumer) -> bool {
        if input.len() > self.max_line {
            return self.bytes(input.as_bytes(), framing, to);
        }
        let begun = if framing.is_between_lines() {
            0
        } else {
            input.find('\n').map_or(input.len(), |at| at + 1)
        };
        let (begun, input) = input.split_at(begun);
        let (whole, rest) = input.split_at(input.rfind('\n').map_or(0, |at| at + 1));
        self.framed(begun.as_bytes(), framing, to) && self.whole_lines(whole, to) && self.framed(rest.as_bytes(), framing, to)
    }

    /// Reads text that ends with a line feed.
    fn whole_lines(&mut self, mut text: &str, to: &mut impl Consumer) -> bool {
        let mut go_on = true;
        while go_on {
            let taken = to.again(text, self.source());
            if taken.lines > 0 {
                self.line += taken.lines;
                self.read += taken.bytes as u64;
                self.arena.reset();
                text = &text[taken.bytes..];
            }
            let Some(at) = memchr::memchr(b'\n', text.as_bytes()) else { break };
            let (line, rest) = text.split_at(at + 1);
            text = rest;
            self.line += 1;
            go_on = self.values(without_mark(line), true, None, to);
            to.copy(line.as_bytes());
            self.read += line.len() as u64;
        }
        go_on
    }

    /// Reads the lines that `input` ends.
    fn framed(&mut self, input: &[u8], framing: &mut Lines, to: &mut impl Consumer) -> bool {
        let mut go_on = true;
        framing.feed(input, |line| {
            go_on = self.line(line, to);
            go_on
        });
        go_on
    }

    fn line(&mut self, line: Line<'_>, to: &mut impl Consumer) -> bool {
        self.line += 1;
        match line {
            Line::Whole { bytes, held } => {
                self.held = held.cloned();
                let go_on = self.unchecked(bytes, bytes.ends_with(b"\n"), to);
                self.held = None;
                to.copy(bytes);
                self.read += bytes.len() as u64;
                go_on
            }
            Line::Oversize { bytes, hash, start } => {
                self.read += bytes;
                let limit = self.max_line;
                self.too_long(
                    format!("a line of {bytes} bytes is over the limit of {limit} (fingerprint {hash:016x}); it was left out"),
                    if to.keeps_starts() { start } else { &[] },
                    to,
                )
            }
        }
    }

    /// Reads one server-sent event, or a line that is none: a payload that stands there as it is.
    fn frame(&mut self, frame: Frame<'_>, to: &mut impl Consumer) -> bool {
        let (data, line) = match frame {
            Frame::Event { data, line, .. } => (data, line),
            Frame::Stray { text, line } => (text, line),
            Frame::Oversize { bytes, line } => {
                self.line = line;
                let limit = self.max_line;
                return self.too_long(
                    format!("an event of more than {bytes} bytes is over the limit of {limit}; it was left out"),
                    &[],
                    to,
                );
            }
        };
        self.line = line;
        self.read += data.len() as u64;
        match std::str::from_utf8(data) {
            Ok(text) => self.message(text, to),
            Err(_) => self.unchecked(data, true, to),
        }
    }

    /// Reads one value of a `json` format: an array is the list of its elements, each a message of its own.
    fn document(&mut self, bytes: &[u8], to: &mut impl Consumer) -> bool {
        let bytes = bytes.strip_prefix(MARK.as_bytes()).unwrap_or(bytes);
        let bytes = bytes.trim_ascii();
        if bytes.is_empty() {
            return true;
        }
        let Some(text) = simdutf8::basic::from_utf8(bytes).ok().filter(|text| text.starts_with('[')) else {
            self.line += 1;
            self.read += bytes.len() as u64;
            return match simdutf8::basic::from_utf8(bytes) {
                Ok(text) => self.message(text, to),
                Err(_) => self.unchecked(bytes, true, to),
            };
        };
        let mut at = Cursor::new(text);
        let mut elements = at.array();
        loop {
            let element = match &mut elements {
                Ok(array) => match array.more(&mut at) {
                    Ok(true) => at.skip(),
                    Ok(false) => return true,
                    Err(error) => Err(error),
                },
                Err(error) => Err(*error),
            };
            self.line += 1;
            match element {
                Ok(element) => {
                    self.read += element.as_str().len() as u64;
                    if !self.message(element.as_str(), to) {
                        return false;
                    }
                }
                Err(error) => return self.damage(text, error.at, text, &error, "", to),
            }
        }
    }

    /// Tells of a value that is not held.
    fn too_large(&mut self, to: &mut impl Consumer) -> bool {
        self.line += 1;
        let why = format!(
            "a document of more than {} bytes is over the limit (max_line); it was left out, and all behind it",
            self.max_line
        );
        self.too_long(why, &[], to)
    }

    /// Reads one message that may stand on several lines. What goes over as it is has to stay on one.
    fn message(&mut self, text: &str, to: &mut impl Consumer) -> bool {
        match text.as_bytes().first() {
            Some(b'{' | b'[') => match on_one_line(text) {
                Cow::Borrowed(text) => self.values(text, true, None, to),
                Cow::Owned(line) => self.values(&line, true, Some(text), to),
            },
            // Noise is told line by line, as anywhere.
            _ => text.split('\n').all(|line| self.values(line, true, None, to)),
        }
    }

    /// Reads a line of which nothing is known.
    fn unchecked(&mut self, bytes: &[u8], ended: bool, to: &mut impl Consumer) -> bool {
        let error = match simdutf8::compat::from_utf8(bytes) {
            Ok(text) => return self.values(without_mark(text), ended, None, to),
            Err(_) if to.takes_any_bytes() => return self.values(without_mark(&String::from_utf8_lossy(bytes)), ended, None, to),
            Err(error) => error,
        };
        let (sound, _) = bytes.split_at(error.valid_up_to());
        let sound = without_mark(std::str::from_utf8(sound).unwrap_or_default());
        let bytes = &bytes[error.valid_up_to() - sound.len()..];
        let bytes = bytes.strip_suffix(b"\n").unwrap_or(bytes);
        to.damaged(&Damaged {
            line: self.line,
            byte: sound.len() as u64 + 1,
            pointer: None,
            why: "invalid UTF-8".to_owned(),
            bytes: bytes.strip_suffix(b"\r").unwrap_or(bytes),
        });
        to.goes_on()
    }

    /// Reads the values of one line, which was put together from `folded`.
    #[inline]
    fn values(&mut self, text: &str, ended: bool, folded: Option<&str>, to: &mut impl Consumer) -> bool {
        let text = text.strip_suffix("\n").unwrap_or(text);
        let text = text.strip_suffix("\r").unwrap_or(text);
        let mut rest = text.trim_ascii_start();
        if text.len() > parts::LONG
            && folded.is_none()
            && to.takes_parts()
            && let Some(go_on) = self.in_parts(rest.trim_ascii_end(), to)
        {
            return go_on;
        }
        while !rest.is_empty() {
            let at = text.len() - rest.len();
            let read = to.value(rest, self.source_at(Stand { at, line: text }));
            self.arena.reset();
            match read {
                Ok(used) => rest = rest[used.clamp(1, rest.len())..].trim_ascii_start(),
                Err(error) => {
                    let place = folded.map_or(at + error.at, |folded| unfolded(folded, at + error.at));
                    let cut = if ended { "" } else { "; the log ends in the middle of this line" };
                    return self.damage(text, place, rest, &error, cut, to);
                }
            }
            if !to.goes_on() {
                return false;
            }
        }
        true
    }

    /// Tells of damage in the value `text` at offset `place` of `line`.
    #[cold]
    fn damage(&self, line: &str, place: usize, text: &str, error: &Error, cut: &str, to: &mut impl Consumer) -> bool {
        to.damaged(&Damaged {
            line: self.line,
            byte: place as u64 + 1,
            pointer: error.pointer(text),
            why: format!("{}{cut}", error.why),
            bytes: line.as_bytes(),
        });
        to.goes_on()
    }

    #[cold]
    fn too_long(&self, why: String, start: &[u8], to: &mut impl Consumer) -> bool {
        to.damaged(&Damaged {
            line: self.line,
            byte: 1,
            pointer: None,
            why,
            bytes: start,
        });
        to.goes_on()
    }
}

/// The mark at the beginning of a log is no part of its first line. Where logs were put together, it stands in the middle.
#[inline]
fn without_mark(text: &str) -> &str {
    text.strip_prefix(MARK).unwrap_or(text)
}
