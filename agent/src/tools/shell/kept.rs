//! What is kept of a stream: its first bytes and its last ones.

use agentglot_process::Tail;

/// The beginning and the end of what a command wrote.
#[derive(Debug)]
pub struct Kept {
    head: Vec<u8>,
    head_limit: usize,
    tail: Tail,
    total: u64,
}

impl Kept {
    /// Keeps so many bytes of the beginning, and so many of the end of what comes after them.
    pub const fn new(head: usize, tail: usize) -> Self {
        Self {
            head: Vec::new(),
            head_limit: head,
            tail: Tail::new(tail),
            total: 0,
        }
    }

    /// Takes what comes next.
    pub fn push(&mut self, bytes: &[u8]) {
        self.total += bytes.len() as u64;
        let (head, rest) = bytes.split_at(bytes.len().min(self.head_limit - self.head.len()));
        self.head.extend_from_slice(head);
        if !rest.is_empty() {
            self.tail.push(rest);
        }
    }

    /// How many bytes there were.
    pub const fn total(&self) -> u64 {
        self.total
    }

    /// How many of them are not kept.
    pub fn missing(&self) -> u64 {
        self.total - self.head.len() as u64 - self.tail.kept() as u64
    }

    /// The first bytes.
    pub fn head(&self) -> &[u8] {
        &self.head
    }

    /// What is kept, as text: bytes that are not UTF-8 become U+FFFD, and where bytes are missing a line says how many.
    pub fn text(&self) -> String {
        let missing = self.missing();
        let tail = self.tail.to_vec();
        if missing == 0 {
            let mut all = self.head.clone();
            all.extend_from_slice(&tail);
            return String::from_utf8(all).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned());
        }
        let (head, tail) = (whole_end(&self.head), whole_start(&tail));
        let missing = self.total - head.len() as u64 - tail.len() as u64;
        let (head, tail) = (String::from_utf8_lossy(head), String::from_utf8_lossy(tail));
        format!("{head}\n\n... [{missing} bytes left out] ...\n\n{tail}")
    }
}

/// Without the beginning of a character at the end.
pub(crate) fn whole_end(bytes: &[u8]) -> &[u8] {
    let from = bytes.len().saturating_sub(3);
    for (at, &byte) in bytes.iter().enumerate().skip(from).rev() {
        let length = match byte {
            0xC0..=0xDF => 2,
            0xE0..=0xEF => 3,
            0xF0..=0xF7 => 4,
            0x80..=0xBF => continue,
            _ => break,
        };
        return if at + length > bytes.len() { &bytes[..at] } else { bytes };
    }
    bytes
}

/// Without the end of a character at the beginning.
pub(crate) fn whole_start(bytes: &[u8]) -> &[u8] {
    let skip = bytes.iter().take(3).take_while(|byte| matches!(byte, 0x80..=0xBF)).count();
    &bytes[skip..]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_both_ends_however_the_bytes_come() {
        let all: Vec<u8> = (b'a'..=b'z').collect();
        for piece in [1, 3, 26] {
            let mut kept = Kept::new(4, 3);
            all.chunks(piece).for_each(|chunk| kept.push(chunk));
            assert_eq!(kept.text(), "abcd\n\n... [19 bytes left out] ...\n\nxyz", "in pieces of {piece}");
            assert_eq!((kept.total(), kept.missing()), (26, 19));
        }
        let mut whole = Kept::new(4, 3);
        whole.push(b"abcdefg");
        assert_eq!((whole.text().as_str(), whole.missing()), ("abcdefg", 0));
        let mut none = Kept::new(0, 0);
        none.push(b"abc");
        assert_eq!(none.text(), "\n\n... [3 bytes left out] ...\n\n");
    }

    #[test]
    fn cuts_between_characters() {
        let mut kept = Kept::new(4, 4);
        kept.push("abc\u{1F98A}def\u{1F98A}".as_bytes());
        assert_eq!(kept.text(), "abc\n\n... [7 bytes left out] ...\n\n\u{1F98A}");
        let mut cut = Kept::new(2, 2);
        cut.push("\u{1F98A}\u{e9}\u{1F98A}".as_bytes());
        assert_eq!(cut.text(), "\n\n... [10 bytes left out] ...\n\n");
        let mut joined = Kept::new(2, 2);
        joined.push("\u{1F98A}".as_bytes());
        assert_eq!(joined.text(), "\u{1F98A}");
        let mut damaged = Kept::new(9, 9);
        damaged.push(b"a\xff\xfeb\0");
        assert_eq!(damaged.text(), "a\u{FFFD}\u{FFFD}b\0");
    }
}
