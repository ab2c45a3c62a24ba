//! Texts in files: their encodings, the ends of their lines, and what is no text.

/// How a text is written in a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Encoding {
    /// UTF-8.
    #[default]
    Utf8,
    /// UTF-8 behind a byte order mark.
    Utf8Bom,
    /// UTF-16, the lower byte first, behind a byte order mark.
    Utf16Le,
    /// UTF-16, the higher byte first, behind a byte order mark.
    Utf16Be,
}

/// The text of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Decoded {
    /// The text, without a byte order mark.
    pub text: String,
    /// How it was written.
    pub encoding: Encoding,
    /// Not all bytes were text; they are U+FFFD here.
    pub lossy: bool,
}

/// How far into a file a zero byte tells that it is no text.
pub(super) const SNIFFED: usize = 8 << 10;

impl Encoding {
    /// By the byte order mark, and that one's length.
    pub(super) fn of(bytes: &[u8]) -> (Self, usize) {
        match bytes {
            [0xef, 0xbb, 0xbf, ..] => (Self::Utf8Bom, 3),
            // The mark of UTF-32 begins with that of UTF-16; its zeros tell.
            [0xff, 0xfe, 0, 0, ..] => (Self::Utf8, 0),
            [0xff, 0xfe, ..] => (Self::Utf16Le, 2),
            [0xfe, 0xff, ..] => (Self::Utf16Be, 2),
            _ => (Self::Utf8, 0),
        }
    }

    /// The bytes of a text in a file.
    pub fn encode(self, text: &str) -> Vec<u8> {
        match self {
            Self::Utf8 => text.as_bytes().to_vec(),
            Self::Utf8Bom => [&[0xef, 0xbb, 0xbf], text.as_bytes()].concat(),
            Self::Utf16Le => std::iter::once(0xfeff).chain(text.encode_utf16()).flat_map(u16::to_le_bytes).collect(),
            Self::Utf16Be => std::iter::once(0xfeff).chain(text.encode_utf16()).flat_map(u16::to_be_bytes).collect(),
        }
    }
}

/// The text of a file; `None` if its content is no text.
pub fn decode(bytes: &[u8]) -> Option<Decoded> {
    let (encoding, mark) = Encoding::of(bytes);
    let rest = &bytes[mark..];
    let wide = |of: fn([u8; 2]) -> u16| {
        // An odd byte at the end is no character.
        let units = rest.chunks(2).map(|pair| pair.try_into().map_or(0xfffd, of));
        let mut lossy = rest.len() % 2 == 1;
        let text = char::decode_utf16(units)
            .map(|char| {
                char.unwrap_or_else(|_| {
                    lossy = true;
                    char::REPLACEMENT_CHARACTER
                })
            })
            .collect();
        (text, lossy)
    };
    let (text, lossy) = match encoding {
        Encoding::Utf16Le => wide(u16::from_le_bytes),
        Encoding::Utf16Be => wide(u16::from_be_bytes),
        Encoding::Utf8 | Encoding::Utf8Bom => {
            if is_binary(rest) {
                return None;
            }
            match std::str::from_utf8(rest) {
                Ok(text) => (text.to_owned(), false),
                Err(_) => (String::from_utf8_lossy(rest).into_owned(), true),
            }
        }
    };
    Some(Decoded { text, encoding, lossy })
}

/// Whether these bytes are no text, by the first of them.
pub(super) fn is_binary(bytes: &[u8]) -> bool {
    memchr::memchr(0, &bytes[..bytes.len().min(SNIFFED)]).is_some()
}

/// How many pieces a text has between its line ends: one more than it has ends.
pub fn pieces(text: &str) -> u64 {
    memchr::memchr_iter(b'\n', text.as_bytes()).count() as u64 + 1
}

/// The text with `\n` alone at the ends of its lines.
pub fn with_plain_ends(text: &str) -> String {
    text.replace("\r\n", "\n")
}

/// A text of which every line has at most so many characters; what was longer ends in the given words.
pub fn with_short_lines(text: &str, most: usize, words: &str) -> String {
    let mut short = String::with_capacity(text.len());
    for (n, line) in text.split('\n').enumerate() {
        if n > 0 {
            short.push('\n');
        }
        match line.char_indices().nth(most).filter(|_| line.len() > most) {
            Some((at, _)) => {
                short.push_str(&line[..at]);
                short.push_str(words);
            }
            None => short.push_str(line),
        }
    }
    short
}

/// The longest beginning of a text with at most so many bytes.
pub fn beginning(text: &str, most: usize) -> &str {
    let mut end = most.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_encoding_comes_back() {
        for encoding in [Encoding::Utf8, Encoding::Utf8Bom, Encoding::Utf16Le, Encoding::Utf16Be] {
            for text in ["", "a", "grün\r\n🙂\n", "\u{feff}x"] {
                if text.starts_with('\u{feff}') && encoding == Encoding::Utf8 {
                    continue;
                }
                let decoded = decode(&encoding.encode(text)).expect("text");
                assert_eq!((decoded.text.as_str(), decoded.encoding, decoded.lossy), (text, encoding, false));
            }
        }
    }

    #[test]
    fn what_is_no_text_is_told() {
        assert_eq!(decode(b"a\0b"), None);
        assert_eq!(decode(b"\xff\xfe\0\0a\0\0\0"), None);
        assert!(decode(b"a\xffb").expect("text").lossy);
        assert!(decode(b"\xff\xfea").expect("text").lossy);
        assert!(decode(b"\xff\xfe\x00\xd8").expect("text").lossy);
        assert_eq!(decode(b"").expect("text"), Decoded::default());
    }

    #[test]
    fn lines_are_cut_between_characters() {
        assert_eq!(with_short_lines("äöü\nab\n\nabc", 2, "…"), "äö…\nab\n\nab…");
        assert_eq!(beginning("aä", 2), "a");
        assert_eq!(pieces("a\nb\n"), 3);
    }
}
