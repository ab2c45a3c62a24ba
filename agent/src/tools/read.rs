//! Reading a file: a window of its lines, or a picture, or a document.

use std::fs::File;
use std::io::Read;

use sha2::{Digest, Sha256};
use tokio_util::sync::CancellationToken;

use super::text::{Encoding, SNIFFED, beginning, decode, is_binary, pieces};
use crate::workspace::{Fault, Place, Stamp, Stat};

/// Files up to this size are read as a whole; of larger ones only the window is kept.
const WHOLE: u64 = 16 << 20;

/// UTF-16 is read up to this size.
const WIDE: u64 = 64 << 20;

/// The largest picture or document that is taken over, in bytes.
pub const LARGEST_MEDIA: u64 = 20 << 20;

/// Which part of a text is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// The first line, from 1; 0 is 1 too.
    pub first: u64,
    /// The most lines.
    pub lines: Option<u64>,
    /// The most bytes of text. What does not fit is cut off behind the last line that does, or in the first line.
    pub bytes: usize,
    /// The SHA-256 of the file is wanted, however large it is.
    pub hash: bool,
}

impl Default for Window {
    fn default() -> Self {
        Self {
            first: 1,
            lines: None,
            bytes: 1 << 20,
            hash: false,
        }
    }
}

/// What is in a file.
#[derive(Clone, Debug, PartialEq)]
pub enum Content {
    /// Text.
    Text(Text),
    /// A picture or a document.
    Media(Media),
    /// Neither: it is not shown.
    Binary(Stat),
}

/// A window of a text.
#[derive(Clone, Debug, PartialEq)]
pub struct Text {
    /// The lines, with their ends as in the file; without the end of the last one if more follow it.
    pub text: String,
    /// The number of the first line, from 1.
    pub first: u64,
    /// How many lines there are; an empty one behind the last end counts. 0 when the file has fewer lines than the window's first.
    pub count: u64,
    /// How many lines the file has, counted in the same way; of a file above [`Limits::file`](crate::workspace::Limits), how many begin in what was looked through.
    pub total: u64,
    /// Whether the file ends without the end of a line (an empty file does not).
    pub open_end: bool,
    /// The window was cut by its bytes.
    pub cut: bool,
    /// How it is written.
    pub encoding: Encoding,
    /// Not all bytes of the window were text.
    pub lossy: bool,
    /// The size of the file in bytes.
    pub size: u64,
    /// The SHA-256 of the file in hexadecimal digits, if it was wanted and the file was looked through as a whole.
    pub sha256: Option<String>,
    /// How the file looked.
    pub stamp: Stamp,
}

/// A picture or a document.
#[derive(Clone, Debug, PartialEq)]
pub struct Media {
    /// `image/png`, `application/pdf` …
    pub media_type: &'static str,
    /// The file.
    pub bytes: Vec<u8>,
    /// How the file looked.
    pub stamp: Stamp,
}

/// Reads a file.
///
/// # Errors
/// When it is no regular file, or may not be read; when the window begins behind [`Limits::file`](crate::workspace::Limits); [`Fault::TooBig`] for a picture or a document
/// above [`LARGEST_MEDIA`].
pub fn read(place: &Place, window: &Window, cancel: &CancellationToken) -> Result<Content, Fault> {
    let (mut file, stat) = place.open()?;
    let mut head = Vec::with_capacity(SNIFFED);
    let failed = |error: std::io::Error| Fault::Other(format!("{}: {error}", place.named().display()));
    (&mut file).take(SNIFFED as u64).read_to_end(&mut head).map_err(failed)?;
    if let Some(media_type) = media_type(&head) {
        let (bytes, stamp) = place.read(LARGEST_MEDIA)?;
        return Ok(Content::Media(Media { media_type, bytes, stamp }));
    }
    let (encoding, mark) = Encoding::of(&head);
    let wide = matches!(encoding, Encoding::Utf16Le | Encoding::Utf16Be);
    if !wide && is_binary(&head[mark..]) || wide && stat.size > WIDE {
        return Ok(Content::Binary(stat));
    }
    if stat.size > WHOLE && !wide {
        return stream(place, file, head, stat, window, cancel).map(Content::Text);
    }
    let (bytes, stamp) = place.read(WIDE)?;
    let Some(decoded) = decode(&bytes) else {
        return Ok(Content::Binary(stamp.stat));
    };
    let sha256 = window.hash.then(|| hex(&Sha256::digest(&bytes)));
    let mut cut = false;
    let (text, count) = lines_of(&decoded.text, window, &mut cut);
    Ok(Content::Text(Text {
        text: text.to_owned(),
        first: window.first.max(1),
        count,
        total: pieces(&decoded.text),
        open_end: !decoded.text.is_empty() && !decoded.text.ends_with('\n'),
        cut,
        encoding: decoded.encoding,
        lossy: decoded.lossy,
        size: bytes.len() as u64,
        sha256,
        stamp,
    }))
}

/// The window of a text, and its number of lines.
fn lines_of<'t>(text: &'t str, window: &Window, cut: &mut bool) -> (&'t str, u64) {
    let mut ends = memchr::memchr_iter(b'\n', text.as_bytes());
    let skipped = window.first.max(1) - 1;
    let start = match usize::try_from(skipped).unwrap_or(usize::MAX).checked_sub(1) {
        None => 0,
        Some(before) => match ends.nth(before) {
            Some(end) => end + 1,
            None => return ("", 0),
        },
    };
    let last = usize::try_from(window.lines.unwrap_or(u64::MAX)).unwrap_or(usize::MAX);
    let end = match last.checked_sub(1) {
        None => return ("", 0),
        Some(before) => ends.nth(before).unwrap_or(text.len()),
    };
    let shown = within(&text[start..end], window.bytes, cut);
    (shown, pieces(shown))
}

/// What fits of some lines.
fn within<'t>(text: &'t str, most: usize, cut: &mut bool) -> &'t str {
    if text.len() <= most {
        return text;
    }
    *cut = true;
    let fits = beginning(text, most);
    fits.rfind('\n').map_or(fits, |end| &fits[..end])
}

/// Reads the window of a file that is too large to be kept, and counts all its lines.
fn stream(place: &Place, mut file: File, head: Vec<u8>, stat: Stat, window: &Window, cancel: &CancellationToken) -> Result<Text, Fault> {
    let (encoding, mark) = Encoding::of(&head);
    let mut hash = window.hash.then(Sha256::new);
    if let Some(hash) = &mut hash {
        hash.update(&head);
    }
    let skipped = window.first.max(1) - 1;
    let beyond = window.lines.map_or(u64::MAX, |lines| skipped.saturating_add(lines));
    // Line ends so far, and the bytes of the window.
    let (mut ends, mut kept, mut size, mut last) = (0u64, Vec::new(), head.len() as u64, 0u8);
    let mut whole = true;
    let mut take = |bytes: &[u8]| {
        let mut rest = bytes;
        if ends < skipped {
            let more = memchr::memchr_iter(b'\n', rest).count() as u64;
            // None of it is in the window.
            if ends + more < skipped {
                ends += more;
                rest = &[];
            }
        }
        while !rest.is_empty() && (ends < beyond || ends == 0) && whole && window.lines != Some(0) {
            let end = memchr::memchr(b'\n', rest).map_or(rest.len(), |end| end + 1);
            if ends >= skipped {
                kept.extend_from_slice(&rest[..end]);
                // A little more than fits, so that it is seen that it does not; with room for a character.
                whole = kept.len() <= window.bytes.saturating_add(4);
            }
            ends += u64::from(rest[end - 1] == b'\n');
            rest = &rest[end..];
        }
        ends += memchr::memchr_iter(b'\n', rest).count() as u64;
        last = bytes.last().copied().unwrap_or(last);
    };
    take(&head[mark..]);
    let mut chunk = vec![0; 256 << 10];
    let most = place.limits().file;
    let mut scanned = (&mut file).take(most);
    loop {
        if cancel.is_cancelled() {
            return Err(Fault::Cancelled);
        }
        let read = match scanned.read(&mut chunk) {
            Ok(0) => break,
            Ok(read) => read,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(Fault::Other(format!("{}: {error}", place.named().display()))),
        };
        size += read as u64;
        take(&chunk[..read]);
        if let Some(hash) = &mut hash {
            hash.update(&chunk[..read]);
        }
    }
    let is_cut = size >= most && matches!(file.read(&mut chunk[..1]), Ok(1));
    if is_cut && kept.is_empty() && window.lines != Some(0) {
        return Err(Fault::Other(format!(
            "line {} of {} lies behind the first {} MiB, and no more of a file is looked through (--max-scan of agentglot says how much)",
            window.first,
            place.named().display(),
            most >> 20
        )));
    }
    let total = ends + 1;
    let complete = beyond >= total && whole;
    if !complete && kept.last() == Some(&b'\n') && whole {
        // More follows it.
        kept.pop();
    }
    let lossy = std::str::from_utf8(&kept).is_err_and(|error| whole || error.error_len().is_some());
    let text = String::from_utf8_lossy(&kept);
    let mut cut = is_cut && beyond >= total;
    let text = within(&text, window.bytes, &mut cut).to_owned();
    let count = if skipped >= total || window.lines == Some(0) { 0 } else { pieces(&text) };
    Ok(Text {
        text,
        first: window.first.max(1),
        count,
        total,
        open_end: !is_cut && size > mark as u64 && last != b'\n',
        cut,
        encoding,
        lossy,
        size: if is_cut { stat.size } else { size },
        sha256: hash.filter(|_| !is_cut).map(|hash| hex(&hash.finalize())),
        stamp: Stamp { stat, hash: None },
    })
}

/// What a picture or a document begins with.
fn media_type(head: &[u8]) -> Option<&'static str> {
    match head {
        [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n', ..] => Some("image/png"),
        [0xff, 0xd8, 0xff, ..] => Some("image/jpeg"),
        [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => Some("image/gif"),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some("image/webp"),
        [b'%', b'P', b'D', b'F', b'-', ..] => Some("application/pdf"),
        _ => None,
    }
}

/// Hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write;
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
#[path = "read_tests.rs"]
mod tests;
