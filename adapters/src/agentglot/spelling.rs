//! Lines that events alone would not give back: keys in an order of their own, blanks, damage.
//!
//! They stand beside their events, as `{"agentglot":"spelling","format":…,"lines":…,"check":…,"line":…}` before them.

use super::members::Members;
use crate::codec::{Cx, Format};
use crate::event::Spelling;
use crate::json::{LONG, Out};

/// What the member `agentglot` says of such a line.
pub(super) const WORD: &str = "spelling";
/// How a header begins.
const HEADER: &[u8] = b"{\"agentglot\":\"events\"";

/// Puts `line`, which was read as `format`, before the events that were written of it: those behind `from`.
pub(super) fn write(line: &[u8], format: Format, from: usize, out: &mut Out) {
    let written = out.since(from);
    // A log begins with its header.
    let header = match memchr::memchr(b'\n', written) {
        Some(end) if written.starts_with(HEADER) => end + 1,
        _ => 0,
    };
    let (mut lines, mut check) = (0u32, Spelling::check_of(line));
    for event in written[header..].split_inclusive(|byte| *byte == b'\n') {
        lines += 1;
        check = Spelling::check_more(check, event.strip_suffix(b"\n").unwrap_or(event));
    }
    // What is long is handed over while it is written, and the events behind it.
    let mut events = Vec::new();
    let (end, is_long) = (out.len(), line.len() > LONG);
    if is_long {
        events = out.take_from(from + header);
    }
    out.lit(&format!(
        "{{\"agentglot\":\"{WORD}\",\"format\":\"{format}\",\"lines\":{lines},\"check\":\"{check:016x}\","
    ));
    match std::str::from_utf8(line) {
        Ok(line) => {
            out.lit("\"line\":");
            out.text(line);
        }
        Err(_) => {
            out.lit("\"bytes\":\"");
            for byte in line {
                out.bytes(&[byte >> 4, byte & 15].map(|half| b"0123456789abcdef"[usize::from(half)]));
            }
            out.lit("\"");
        }
    }
    out.lit("}\n");
    match is_long {
        true => out.held(&mut events),
        false => out.move_before(from + header, end),
    }
}

/// Reads such a line; `None` if it lacks something.
pub(super) fn read<'a>(members: &mut Members<'a, '_>, cx: &Cx<'a>) -> Option<Spelling<'a>> {
    let format = members.str("format")?.unescape().parse().ok()?;
    let lines = members.number("lines").and_then(|lines| u32::try_from(lines).ok())?;
    let check = u64::from_str_radix(members.str("check")?.as_escaped(), 16).ok()?;
    let line = match (members.str("line"), members.str("bytes")) {
        (Some(line), _) => cx.arena.alloc_str(&line.unescape()).as_bytes(),
        (None, Some(bytes)) => cx.arena.alloc_slice_copy(&from_digits(bytes.as_escaped())?),
        (None, None) => return None,
    };
    Some(Spelling { line, format, lines, check })
}

fn from_digits(text: &str) -> Option<Vec<u8>> {
    let half = |digit: u8| char::from(digit).to_digit(16);
    let pairs = text.as_bytes().chunks(2);
    pairs
        .map(|pair| match pair {
            &[high, low] => u8::try_from(half(high)? << 4 | half(low)?).ok(),
            _ => None,
        })
        .collect()
}
