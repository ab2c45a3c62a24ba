/// Finds where whole JSON values end in a stream that does not keep to lines: the `json` formats, which a person or a tool
/// may have spread over many lines.
///
/// Follows quotes and brackets only; whether the value is sound is for the decoder to say.
#[derive(Debug, Default)]
pub struct Values {
    depth: u64,
    in_string: bool,
    escaped: bool,
    scanned: usize,
}

impl Values {
    /// Looks at `buffer`, of which the first bytes were seen in earlier calls, and returns the length of the first value if
    /// its end has been seen. A scalar ends at a line feed.
    pub fn end(&mut self, buffer: &[u8]) -> Option<usize> {
        for (at, &byte) in buffer.iter().enumerate().skip(self.scanned) {
            if self.in_string {
                match byte {
                    _ if self.escaped => self.escaped = false,
                    b'\\' => self.escaped = true,
                    b'"' => self.in_string = false,
                    _ => {}
                }
                continue;
            }
            let done = match byte {
                b'"' => {
                    self.in_string = true;
                    false
                }
                b'{' | b'[' => {
                    self.depth += 1;
                    false
                }
                b'}' | b']' => {
                    self.depth = self.depth.saturating_sub(1);
                    self.depth == 0
                }
                b'\n' => self.depth == 0,
                _ => false,
            };
            if done {
                *self = Self::default();
                return Some(at + 1);
            }
        }
        self.scanned = buffer.len();
        None
    }

    /// Whether `head` begins with a value that keeps to no lines: an array of objects, or an object whose bracket stands alone on its line;
    /// `None` when that cannot be told yet.
    pub fn begin(head: &[u8]) -> Option<bool> {
        let text = match head.strip_prefix(UTF8_MARK) {
            Some(text) => text,
            None if !head.is_empty() && UTF8_MARK.starts_with(head) => return None,
            None => head,
        };
        let Some((first, rest)) = text.trim_ascii_start().split_first() else {
            return (text.len() > BLANKS).then_some(false);
        };
        let next = rest.iter().position(|byte| !byte.is_ascii_whitespace());
        let blanks = &rest[..next.unwrap_or(rest.len())];
        let next = &rest[blanks.len()..];
        match first {
            _ if blanks.len() > BLANKS => Some(false),
            b'{' if blanks.contains(&b'\n') => Some(true),
            b'{' => (!next.is_empty()).then_some(false),
            // `[{` begins more than JSON does.
            b'[' => match next.split_first() {
                None => None,
                Some((b'{', inside)) => match inside.trim_ascii_start().first() {
                    None => (inside.len() > BLANKS).then_some(false),
                    Some(byte) => Some(*byte == b'"'),
                },
                Some(_) => Some(false),
            },
            _ => Some(false),
        }
    }
}

/// What some programs put at the beginning of a text in UTF-8.
const UTF8_MARK: &[u8] = "\u{feff}".as_bytes();
/// A beginning of more blanks than this is one of lines.
const BLANKS: usize = 64 << 10;

#[cfg(test)]
mod tests {
    use super::Values;

    #[test]
    fn values_may_span_lines_and_reads() {
        let text = b"[\n {\"a\": \"]\\\"\"},\n 2\n]\n{\"b\":1}";
        let mut values = Values::default();
        let first = (0..=text.len()).find_map(|n| values.end(&text[..n])).unwrap();
        assert_eq!(&text[..first], b"[\n {\"a\": \"]\\\"\"},\n 2\n]");
        let rest = &text[first + 1..];
        assert_eq!(values.end(rest), Some(rest.len()));
    }

    #[test]
    fn values_are_told_from_lines() {
        for (head, is) in [
            ("[{\"a\":1}]", Some(true)),
            ("\u{feff} \n[\n  {\n \"", Some(true)),
            ("{ \r\n", Some(true)),
            ("{\"a\"", Some(false)),
            ("{ \"a\"", Some(false)),
            ("[{module}] up", Some(false)),
            ("[\n]", Some(false)),
            ("[1,2]", Some(false)),
            ("[INFO", Some(false)),
            ("data: {", Some(false)),
            ("", None),
            (" \n", None),
            ("[ ", None),
            ("[{ ", None),
            ("{", None),
        ] {
            assert_eq!(Values::begin(head.as_bytes()), is, "{head:?}");
        }
        assert_eq!(Values::begin(b"\xef\xbb"), None);
        assert_eq!(Values::begin(&b" ".repeat(100_000)), Some(false));
    }
}
