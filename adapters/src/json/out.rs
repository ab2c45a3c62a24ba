//! The one output buffer, which also sees what goes over.

mod told;

use std::rc::Rc;

use super::number::Digits;
use super::raw::Raw;
use super::scan;
use super::string::{PART, Str, copy};
use crate::trace::Trace;

/// So many bytes are many, in a line too.
pub(crate) const LONG: usize = 1 << 20;

/// Takes what was written, as far as it can.
pub type Drain = Box<dyn FnMut(&mut Vec<u8>)>;

/// Where encoders write. Everything borrowed from the source line that is written here counts as carried over, which
/// is how the ledger knows what was left behind; when nobody asked for a ledger this costs one branch.
#[derive(Default)]
pub struct Out {
    buffer: Vec<u8>,
    /// How many bytes were handed over since the buffer was exchanged; positions count from the first of them.
    drained: usize,
    /// See [`Self::promise`].
    promised: bool,
    trace: Option<Rc<Trace>>,
    drain: Option<Drain>,
    /// See [`Self::stays`].
    stays: bool,
    /// See [`Self::pin`].
    pins: u32,
}

impl std::fmt::Debug for Out {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Out").field("buffer", &self.buffer).finish_non_exhaustive()
    }
}

impl Out {
    /// An empty buffer; `trace` watches what is written.
    pub const fn new(trace: Option<Rc<Trace>>) -> Self {
        Self {
            buffer: Vec::new(),
            drained: 0,
            promised: false,
            trace,
            drain: None,
            stays: false,
            pins: 0,
        }
    }

    /// Hands much of what is written to `drain`.
    pub(crate) fn drain_to(&mut self, drain: Drain) {
        self.drain = Some(drain);
    }

    /// Whether what is written and not pinned stays as it is, so that it may be handed over in the middle of a line.
    pub(crate) const fn stays(&mut self, stays: bool) {
        self.stays = stays && self.drain.is_some();
    }

    /// What is written from here on may yet change, or is looked at, until [`Self::unpin`].
    pub(crate) const fn pin(&mut self) {
        self.pins += 1;
    }

    /// What was pinned stays as it is.
    pub(crate) const fn unpin(&mut self) {
        self.pins -= 1;
    }

    /// Hands over what was written, if it is much: it will not change any more.
    pub(crate) fn drain(&mut self) {
        if self.buffer.len() >= LONG {
            self.hand_over();
        }
    }

    const fn flows(&self) -> bool {
        self.stays && self.pins == 0
    }

    fn hand_over(&mut self) {
        if let Some(drain) = &mut self.drain {
            let before = self.buffer.len();
            drain(&mut self.buffer);
            self.drained += before - self.buffer.len();
        }
    }

    #[inline(always)]
    fn push(&mut self, bytes: &[u8]) {
        if bytes.len() > self.buffer.capacity() - self.buffer.len() {
            return self.push_more(bytes);
        }
        self.buffer.extend_from_slice(bytes);
    }

    /// The same where there is no room: what is much is handed over instead of growing, as far as it may be.
    #[cold]
    fn push_more(&mut self, mut bytes: &[u8]) {
        while self.flows() && self.buffer.len() + bytes.len() > LONG {
            let room = LONG.saturating_sub(self.buffer.len()).min(bytes.len());
            let (some, rest) = bytes.split_at(room);
            self.buffer.extend_from_slice(some);
            self.hand_over();
            bytes = rest;
            // Nobody takes it yet.
            if self.buffer.len() >= LONG {
                break;
            }
        }
        // What is long does not double.
        let len = self.buffer.len() + bytes.len();
        if len > LONG {
            self.buffer.reserve_exact(bytes.len() + len / 8);
        }
        self.buffer.extend_from_slice(bytes);
    }

    /// Writes protocol text: keys, brackets, constants.
    #[inline(always)]
    pub fn lit(&mut self, text: &str) {
        self.push(text.as_bytes());
    }

    /// Writes bytes that an encoder prepared earlier (a prefix rendered once).
    #[inline(always)]
    pub fn bytes(&mut self, bytes: &[u8]) {
        self.push(bytes);
    }

    /// Writes bytes that an encoder held until now. What is long is not copied, so that it does not stand here twice.
    pub fn held(&mut self, bytes: &mut Vec<u8>) {
        if bytes.len() < LONG {
            self.push(bytes);
            bytes.clear();
            return;
        }
        if self.flows() {
            self.hand_over();
        }
        bytes.splice(..0, self.buffer.drain(..));
        std::mem::swap(&mut self.buffer, bytes);
    }

    /// Writes elements with commas between them.
    pub fn commas(&mut self, elements: &[Vec<u8>]) {
        for (n, element) in elements.iter().enumerate() {
            if n > 0 {
                self.lit(",");
            }
            self.bytes(element);
        }
    }

    /// Writes a string with its quotes.
    #[inline(always)]
    pub fn str(&mut self, s: Str<'_>) {
        self.buffer.push(b'"');
        self.body(s);
        self.buffer.push(b'"');
    }

    /// Writes a string without its quotes.
    #[inline(always)]
    pub fn body(&mut self, s: Str<'_>) {
        self.used(s.as_escaped());
        self.push(s.as_escaped().as_bytes());
    }

    /// Writes a string or `null`.
    #[inline]
    pub fn str_or_null(&mut self, s: Option<Str<'_>>) {
        match s {
            Some(s) => self.str(s),
            None => self.lit("null"),
        }
    }

    /// Writes a value that was checked in full when it was read ([`super::Cursor::raw`]).
    #[inline]
    pub fn raw(&mut self, value: Raw<'_>) {
        self.used(value.as_str());
        self.push(value.as_str().as_bytes());
    }

    /// Writes a value of which only the structure was checked when it was read ([`super::Cursor::skip`]). If it turns
    /// out to be damaged, `null` is written in its place and the ledger is told.
    pub fn unchecked(&mut self, value: Raw<'_>) {
        match value.check() {
            Ok(()) => self.raw(value),
            Err(error) => {
                if let Some(trace) = &self.trace {
                    trace.damaged(value.as_str(), &error);
                }
                self.lit("null");
            }
        }
    }

    /// Writes a member with a string, if there is one; `key` is all that stands before it.
    #[inline]
    pub fn str_if(&mut self, key: &str, value: Option<Str<'_>>) {
        if let Some(value) = value {
            self.lit(key);
            self.str(value);
        }
    }

    /// The same for a value that was checked in full.
    #[inline]
    pub fn raw_if(&mut self, key: &str, value: Option<Raw<'_>>) {
        if let Some(value) = value {
            self.lit(key);
            self.raw(value);
        }
    }

    /// The same for a value of which only the structure was checked.
    #[inline]
    pub fn unchecked_if(&mut self, key: &str, value: Option<Raw<'_>>) {
        if let Some(value) = value {
            self.lit(key);
            self.unchecked(value);
        }
    }

    /// Writes plain text as a JSON string with its quotes.
    pub fn text(&mut self, plain: &str) {
        self.buffer.push(b'"');
        Str::escape_parts(plain, |part| self.push(part.as_bytes()));
        self.buffer.push(b'"');
    }

    /// Writes a whole number.
    #[inline]
    pub fn number(&mut self, n: impl Into<i128>) {
        let n = n.into();
        match u8::try_from(n) {
            // Most numbers are the indices of blocks.
            Ok(digit @ 0..=9) => self.buffer.push(b'0' + digit),
            _ => self.push(Digits::of(n).as_bytes()),
        }
    }

    /// Writes the body of a JSON string that holds `json` as text: quotes and backslashes are escaped once more. Control
    /// characters cannot stand inside `json`, except as white space between tokens, which is escaped as well.
    pub fn json_in_string(&mut self, json: &str) {
        self.used(json);
        let mut rest = json;
        while self.flows() && rest.len() > LONG {
            let (part, behind) = rest.split_at(rest.floor_char_boundary(LONG));
            self.drain();
            escape_json(part, &mut self.buffer);
            rest = behind;
        }
        escape_json(rest, &mut self.buffer);
    }

    /// Writes a line of the source as it was.
    pub fn copied_line(&mut self, line: &str) {
        self.used(line);
        self.lit(line);
        self.lit("\n");
    }

    /// Takes back what was written behind `len`.
    pub fn truncate(&mut self, len: usize) {
        self.buffer.truncate(self.at(len));
    }

    /// Where in the buffer a position is.
    const fn at(&self, position: usize) -> usize {
        debug_assert!(position >= self.drained, "what was written there was handed over");
        position.saturating_sub(self.drained)
    }

    /// Writes another byte in the place of one.
    pub fn replace(&mut self, at: usize, byte: u8) {
        let at = self.at(at);
        self.buffer[at] = byte;
    }

    /// Puts bytes in front of what was written from `at` on.
    pub fn insert(&mut self, at: usize, bytes: &[u8]) {
        let at = self.at(at).min(self.buffer.len());
        self.buffer.extend_from_slice(bytes);
        self.buffer[at..].rotate_right(bytes.len());
    }

    /// Moves what was written from `from` on before what was written from `at` on.
    pub fn move_before(&mut self, at: usize, from: usize) {
        let (at, from) = (self.at(at), self.at(from));
        self.buffer[at..].rotate_left(from - at);
    }

    /// Takes away what was written from `at` on. What is long is not copied.
    pub fn take_from(&mut self, at: usize) -> Vec<u8> {
        let at = self.at(at).min(self.buffer.len());
        if self.buffer.len() - at < LONG {
            return self.buffer.split_off(at);
        }
        let before = self.buffer[..at].to_vec();
        let mut taken = std::mem::replace(&mut self.buffer, before);
        taken.drain(..at);
        taken
    }

    /// What `write` writes, apart from all else: it goes somewhere later, or is looked at.
    pub fn apart(&mut self, write: impl FnOnce(&mut Self)) -> Vec<u8> {
        self.pin();
        let from = self.len();
        write(self);
        let written = self.take_from(from);
        self.unpin();
        written
    }

    /// Has `write` write to `other`, behind what stands there.
    #[inline]
    pub(crate) fn write_to(&mut self, other: &mut Vec<u8>, write: impl FnOnce(&mut Self)) {
        self.pin();
        std::mem::swap(&mut self.buffer, other);
        write(self);
        std::mem::swap(&mut self.buffer, other);
        self.unpin();
    }

    /// A line will be written that waits for one behind it.
    pub const fn promise(&mut self) {
        self.promised = true;
    }

    /// Whether a line was promised since the last call.
    pub(crate) const fn take_promise(&mut self) -> bool {
        std::mem::replace(&mut self.promised, false)
    }

    /// How many bytes were written, those too that were handed over.
    #[inline(always)]
    pub const fn len(&self) -> usize {
        self.drained + self.buffer.len()
    }

    /// Whether nothing was written.
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What was written, and not handed over.
    pub fn written(&self) -> &[u8] {
        &self.buffer
    }

    /// What was written from `at` on.
    pub fn since(&self, at: usize) -> &[u8] {
        &self.buffer[self.at(at).min(self.buffer.len())..]
    }

    /// Exchanges the buffer for another one.
    pub fn swap(&mut self, other: &mut Vec<u8>) {
        std::mem::swap(&mut self.buffer, other);
        self.drained = 0;
    }
}

/// How many bytes are escaped at a time: there has to be room as if each of them were.
const CHUNK: usize = 1024;

/// Appends `json` as the body of a JSON string that holds it as text.
pub(crate) fn escape_json(json: &str, to: &mut Vec<u8>) {
    to.reserve(json.len() + json.len() / 8);
    for chunk in json.as_bytes().chunks(CHUNK) {
        let begin = to.len();
        to.resize(begin + 2 * chunk.len() + PART, 0);
        let len = escape_chunk(chunk, &mut to[begin..]);
        to.truncate(begin + len);
    }
}

/// Writes a chunk to `to`, which has room for it; returns how much it became.
#[inline]
fn escape_chunk(chunk: &[u8], to: &mut [u8]) -> usize {
    // What stands before `from` has been written, `len` bytes of it.
    let (mut from, mut len, mut at) = (0, 0, 0);
    let mut escape = |stop: usize| {
        len = copy(chunk, from..stop, to, len);
        to[len..len + 2].copy_from_slice(&[b'\\', letter(chunk[stop])]);
        (from, len) = (stop + 1, len + 2);
    };
    while let Some(scan::Block { mut stops, width }) = scan::block(chunk, at) {
        while stops != 0 {
            escape(at + stops.trailing_zeros() as usize);
            stops &= stops - 1;
        }
        at += width;
    }
    // Fewer bytes than a block.
    while at < chunk.len() {
        let stop = scan::string_stop(chunk, at);
        if stop < chunk.len() {
            escape(stop);
        }
        at = stop + 1;
    }
    copy(chunk, from..chunk.len(), to, len)
}

/// What stands behind the backslash.
#[inline(always)]
const fn letter(byte: u8) -> u8 {
    match byte {
        b' '.. => byte,
        b'\n' => b'n',
        b'\r' => b'r',
        b'\t' => b't',
        _ => byte,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_inside_a_string_reads_back_as_the_same_text() {
        let text = "{\"a\": \"b\\n\\\"c\\\\ of many more bytes than a block has, é and so on\",\n\t\"d\":[]}";
        // A block of nothing but escapes stands between blocks with few, and there are more of them than are escaped at a time.
        let json = &format!("{text}{}\r{}x{text}{}", "\"\\".repeat(40), "a".repeat(70), "é\"".repeat(CHUNK));
        for from in (0..json.len()).filter(|from| json.is_char_boundary(*from)) {
            let mut out = Out::default();
            out.lit("\"");
            out.json_in_string(&json[from..]);
            out.lit("\"");
            assert_eq!(serde_json::from_slice::<String>(out.written()).unwrap(), json[from..]);
        }
    }

    #[test]
    fn numbers_of_all_sizes() {
        let mut out = Out::default();
        for n in [0, -1, i128::from(i64::MIN), i128::from(u64::MAX), i128::from(u64::MAX) + 1, i128::MIN] {
            out.number(n);
            out.lit(" ");
        }
        let wanted = "0 -1 -9223372036854775808 18446744073709551615 18446744073709551616 -170141183460469231731687303715884105728 ";
        assert_eq!(out.written(), wanted.as_bytes());
    }

    #[test]
    fn a_value_that_was_only_skipped_is_checked_when_it_is_written() {
        let mut out = Out::default();
        out.unchecked(Raw::trusted("[1,2]"));
        out.unchecked(Raw::trusted("{\"a\":\"\\x\"}"));
        assert_eq!(out.written(), b"[1,2]null");
    }
}
