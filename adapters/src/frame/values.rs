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
}

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
}
