//! How a log lies in its bytes: line by line, as one document, or as something else altogether.

use crate::json::{Cursor, Shape};

/// How the values of a log lie in its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Layout {
    /// One value a line.
    Lines,
    /// Values that keep to no lines: an array of messages, or objects that were spread over lines.
    Document,
}

/// How the values lie in the text, which begins with the first byte that is not blank; `None` when that cannot be told yet.
pub(super) fn layout(text: &[u8], over: bool) -> Option<Layout> {
    let end = memchr::memchr(b'\n', text);
    let line = valid(&text[..end.unwrap_or(text.len())]);
    let head = line.trim_end();
    // Pretty-printed JSON has its bracket alone on the first line.
    if end.is_some() && matches!(head, "{" | "[") {
        return Some(Layout::Document);
    }
    if !head.starts_with('[') {
        // A bracket alone may be the beginning of such a text.
        return if head == "{" && end.is_none() && !over {
            None
        } else {
            Some(Layout::Lines)
        };
    }
    let mut at = Cursor::new(head);
    let Ok(mut array) = at.array() else { return Some(Layout::Lines) };
    match array.more(&mut at) {
        Ok(true) if at.shape() == Ok(Shape::Object) => Some(Layout::Document),
        Ok(_) => Some(Layout::Lines),
        Err(_) if end.is_none() && !over => None,
        Err(_) => Some(Layout::Lines),
    }
}

/// Whether the text holds one line alone, as far as it has been read.
pub(super) fn is_single(text: &[u8], over: bool) -> bool {
    let trimmed = text.trim_ascii();
    let rest = memchr::memchr(b'\n', trimmed);
    rest.is_none() && (over || trimmed.len() >= super::Detector::ENOUGH_BYTES)
}

/// The beginning of the line in which `at` lies.
pub(super) fn line_start(text: &[u8], at: usize) -> usize {
    memchr::memrchr(b'\n', &text[..at]).map_or(0, |n| n + 1)
}

/// As much of the beginning as is UTF-8.
pub(super) fn valid(bytes: &[u8]) -> &str {
    let end = match std::str::from_utf8(bytes) {
        Ok(text) => return text,
        Err(error) => error.valid_up_to(),
    };
    std::str::from_utf8(&bytes[..end]).unwrap_or_default()
}
