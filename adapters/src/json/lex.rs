//! What a cursor reads without telling what it is: where strings, numbers and containers end, and whether they are well formed.
//!
//! What is a call of its own takes the text and the place in it, and tells where it ends: a cursor that is lent to nobody stays in registers.

use super::cursor::Cursor;
use super::depth::Depth;
use super::scan::{self, Block};
use super::{Error, Why};

impl Cursor<'_> {
    /// From behind the opening quote to behind the closing one; returns the index of the closing one.
    #[inline(always)]
    pub(super) fn string_end(&mut self, full: bool) -> Result<usize, Error> {
        let bytes = self.text.as_bytes();
        // Most strings are keys, words and ids.
        let stops = scan::short_block(bytes, self.at).unwrap_or(0);
        let stop = self.at + stops.trailing_zeros() as usize;
        let end = if stops != 0 && bytes.get(stop) == Some(&b'"') {
            stop
        } else {
            long_string_end(bytes, self.at, full)?
        };
        self.at = end + 1;
        Ok(end)
    }

    /// A member's key and its colon.
    #[inline(always)]
    fn member(&mut self) -> Result<(), Error> {
        if self.peek() != Some(b'"') {
            return Err(self.wrong());
        }
        self.at += 1;
        self.string_end(true)?;
        self.expect(b':')
    }
}

/// Where the closing quote stands of strings that are longer, or have escapes.
#[inline(never)]
fn long_string_end(bytes: &[u8], mut at: usize, full: bool) -> Result<usize, Error> {
    for _ in 0..3 {
        let Some(stops) = scan::short_block(bytes, at) else { break };
        if stops != 0 {
            let stop = at + stops.trailing_zeros() as usize;
            if bytes.get(stop) == Some(&b'"') {
                return Ok(stop);
            }
            return string_end_behind(bytes, at, full);
        }
        at += scan::SHORT;
    }
    while let Some(block) = scan::block(bytes, at) {
        if block.stops != 0 {
            let stop = at + block.stops.trailing_zeros() as usize;
            if bytes.get(stop) == Some(&b'"') {
                return Ok(stop);
            }
            return string_end_behind(bytes, at, full);
        }
        at += block.width;
    }
    string_end_behind(bytes, at, full)
}

/// The same for the rest of a string from `at` on, where a block with an escape begins or little is left.
fn string_end_behind(bytes: &[u8], mut at: usize, full: bool) -> Result<usize, Error> {
    // 1 if the byte at `at` stands behind a backslash that escapes it.
    let mut carry = 0;
    while let Some(Block { stops, width }) = scan::block(bytes, at) {
        if stops | carry == 0 {
            at += width;
            continue;
        }
        let escapes = scan::equal(bytes, at, b'\\');
        let (escaped, escaping) = escaped(escapes, carry);
        let mut ends = stops & !escapes & !escaped;
        if !full && ends != 0 {
            ends &= scan::equal(bytes, at, b'"');
        }
        if full && escaped != 0 {
            // What stands behind the string's end is none of it. Only escapes that are rare are looked at one by one.
            let common = escapes | scan::letters(bytes, at);
            let mut check = escaped & (ends & ends.wrapping_neg()).wrapping_sub(1) & !common;
            while check != 0 {
                let behind = at + check.trailing_zeros() as usize;
                escape_end(bytes, behind - 1).map_err(|why| Error { at: behind - 1, why })?;
                check &= check - 1;
            }
        }
        if ends != 0 {
            let end = at + ends.trailing_zeros() as usize;
            if bytes.get(end) != Some(&b'"') {
                return Err(Error { at: end, why: Why::Control });
            }
            return Ok(end);
        }
        carry = escaping >> (width - 1);
        at += width;
    }
    // The text has less than a block, or ends here.
    at -= carry as usize;
    loop {
        match bytes.get(at) {
            Some(b'"') => return Ok(at),
            Some(b'\\') if !full => at += 2,
            Some(b'\\') => at = escape_end(bytes, at).map_err(|why| Error { at, why })?,
            Some(&byte) if full && byte < 0x20 => return Err(Error { at, why: Why::Control }),
            Some(_) => at += 1,
            None => {
                return Err(Error {
                    at: bytes.len(),
                    why: Why::CutOff,
                });
            }
        }
    }
}

/// Behind the object or array that begins at `at`, of which only the structure is checked.
pub(super) fn skip_container(text: &str, at: usize) -> Result<usize, Error> {
    container_end(text.as_bytes(), at).map_or_else(|| skip_container_slowly(text, at), Ok)
}

/// The index behind the object or array that begins here, found 64 bytes at a time. `None` where the text is too short for
/// that, or is not sound.
fn container_end(bytes: &[u8], mut at: usize) -> Option<usize> {
    let mut depth = Depth::default();
    // 1 if the byte at `at` is escaped; all ones if it stands in a string.
    let (mut carry, mut inside) = (0, 0);
    while let Some(tokens) = scan::tokens(bytes, at) {
        let (escaped, escaping) = if tokens.escapes | carry == 0 {
            (0, 0)
        } else {
            escaped(tokens.escapes, carry)
        };
        let strings = between(tokens.quotes & !escaped) ^ inside;
        // Only in a string a backslash means something.
        if tokens.escapes & !strings != 0 {
            return None;
        }
        let mut brackets = tokens.brackets & !strings;
        while brackets != 0 {
            let found = at + brackets.trailing_zeros() as usize;
            match *bytes.get(found)? {
                open @ (b'{' | b'[') => depth.push(open == b'{'),
                close => {
                    if depth.pop()? != (close == b'}') {
                        return None;
                    }
                    if depth.is_empty() {
                        return Some(found + 1);
                    }
                }
            }
            brackets &= brackets - 1;
        }
        inside = 0u64.wrapping_sub(strings >> (tokens.width - 1) & 1);
        carry = escaping >> (tokens.width - 1) & 1;
        at += tokens.width;
    }
    None
}

pub(super) fn skip_container_slowly(text: &str, at: usize) -> Result<usize, Error> {
    let bytes = text.as_bytes();
    let mut here = Cursor::starting(text, at);
    let mut depth = Depth::default();
    loop {
        let at = scan::structural(bytes, here.at);
        here.at = at + 1;
        match bytes.get(at) {
            Some(b'"') => {
                here.string_end(false)?;
            }
            Some(&open @ (b'{' | b'[')) => depth.push(open == b'{'),
            Some(&close) => {
                if depth.pop() != Some(close == b'}') {
                    return Err(Error { at, why: Why::Bracket });
                }
                if depth.is_empty() {
                    return Ok(here.at);
                }
            }
            None => {
                return Err(Error {
                    at: bytes.len(),
                    why: Why::CutOff,
                });
            }
        }
    }
}

pub(super) fn literal(text: &str, at: usize, word: &str) -> Result<usize, Error> {
    let rest = &text.as_bytes()[at..];
    if rest.starts_with(word.as_bytes()) {
        return Ok(at + word.len());
    }
    let why = if word.as_bytes().starts_with(rest) { Why::CutOff } else { Why::Literal };
    Err(Error { at, why })
}

/// Behind a value that is neither a string nor a container and begins with `first`.
pub(super) fn scalar(text: &str, at: usize, first: Option<u8>) -> Result<usize, Error> {
    match first {
        Some(b'-' | b'0'..=b'9') => super::number::end(text.as_bytes(), at).ok_or(Error { at, why: Why::Number }),
        Some(b't') => literal(text, at, "true"),
        Some(b'f') => literal(text, at, "false"),
        Some(b'n') => literal(text, at, "null"),
        _ => Err(Cursor::starting(text, at).wrong()),
    }
}

/// Behind one value, with everything checked.
pub(super) fn check(text: &str, at: usize) -> Result<usize, Error> {
    let mut here = Cursor::starting(text, at);
    let mut depth = Depth::default();
    loop {
        // A value is due here.
        match here.peek() {
            Some(b'"') => {
                here.at += 1;
                here.string_end(true)?;
            }
            Some(open @ (b'{' | b'[')) => {
                here.at += 1;
                let object = open == b'{';
                match here.peek() {
                    Some(b'}') if object => here.at += 1,
                    Some(b']') if !object => here.at += 1,
                    _ => {
                        depth.push(object);
                        if object {
                            here.member()?;
                        }
                        continue;
                    }
                }
            }
            first => here.at = scalar(text, here.at, first)?,
        }
        // Behind a value: close what ends here, then a comma leads to the next value.
        loop {
            // Asked before looking ahead: white space behind the value is no part of it.
            let Some(object) = depth.last() else { return Ok(here.at) };
            match here.peek() {
                Some(b',') => {
                    here.at += 1;
                    if object {
                        here.member()?;
                    }
                    break;
                }
                Some(b'}') if object => here.at += 1,
                Some(b']') if !object => here.at += 1,
                Some(b'}' | b']') => return Err(here.error(Why::Bracket)),
                _ => return Err(here.wrong()),
            }
            depth.pop();
        }
    }
}

/// Behind a value that is no string and begins with `first`, with everything checked.
pub(super) fn check_other(text: &str, at: usize, first: Option<u8>) -> Result<usize, Error> {
    match first {
        Some(b'{' | b'[') => check(text, at),
        _ => scalar(text, at, first),
    }
}

/// The same with only its structure checked.
pub(super) fn pass_other(text: &str, at: usize, first: Option<u8>) -> Result<usize, Error> {
    match first {
        Some(b'{' | b'[') => skip_container(text, at),
        _ => scalar(text, at, first),
    }
}

#[inline(never)]
pub(super) fn behind_space(bytes: &[u8], at: usize) -> usize {
    at + bytes[at..].iter().take_while(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r')).count()
}

/// Of a block's backslashes and whether its first byte is escaped: which bytes are escaped, and which backslashes escape the
/// byte behind them. A run of backslashes escapes each other in pairs, and what follows it if there is one left.
#[inline(always)]
pub(super) const fn escaped(backslashes: u64, first: u64) -> (u64, u64) {
    const ODD: u64 = 0xaaaa_aaaa_aaaa_aaaa;
    let starts = backslashes & !first;
    // Subtracting makes each run borrow up to its end; whether it arrives on an odd or an even bit tells its length.
    let ends = ((starts << 1 | ODD).wrapping_sub(starts)) ^ ODD;
    (ends ^ (backslashes | first), ends & backslashes)
}

/// Which bytes stand in a string: from each opening quote on to before its closing one.
#[inline(always)]
const fn between(quotes: u64) -> u64 {
    let mut within = quotes;
    let mut by = 1;
    while by < 64 {
        within ^= within << by;
        by *= 2;
    }
    within
}

/// Checks the escape that begins at `at`; returns the index behind it.
#[inline(always)]
pub(super) fn escape_end(bytes: &[u8], at: usize) -> Result<usize, Why> {
    match bytes.get(at + 1) {
        Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => Ok(at + 2),
        Some(b'u') => match bytes.get(at + 2..at + 6) {
            Some(hex) if hex.iter().all(u8::is_ascii_hexdigit) => Ok(at + 6),
            Some(_) => Err(Why::Escape),
            None => Err(Why::CutOff),
        },
        Some(_) => Err(Why::Escape),
        None => Err(Why::CutOff),
    }
}
