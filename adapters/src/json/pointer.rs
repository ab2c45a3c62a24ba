//! Where in a text something stands, as a JSON pointer.

/// Nesting that is deeper could not be read by anybody.
const READABLE: usize = 64;

/// The JSON pointer of the value of `text` in which the byte at offset `at` lies, as far as the brackets, quotes and commas
/// before it tell. `None` for text that is no object or array, and for nesting that nobody could read.
pub(crate) fn pointer_at(text: &str, at: usize) -> Option<String> {
    Pointers::new(text).at(at)
}

/// The JSON pointer of the object of `text` that ends with the byte at offset `end`.
pub(crate) fn pointer_of_object(text: &str, end: usize) -> Option<String> {
    let mut pointers = Pointers::new(text);
    pointers.at(end)?;
    // Behind the members of an object the innermost level is that object, at its last key.
    if text.as_bytes().get(end) == Some(&b'}') {
        pointers.levels.pop();
    }
    Some(pointers.pointer())
}

/// Gives the pointers of several places of one text. Asked for in their order, all of them together take one walk.
#[derive(Debug)]
pub(crate) struct Pointers<'a> {
    text: &'a str,
    here: usize,
    levels: Vec<Level<'a>>,
    too_deep: bool,
}

#[derive(Debug)]
enum Level<'a> {
    Object { key: Option<&'a str>, value: bool },
    Array(usize),
}

impl<'a> Pointers<'a> {
    /// At the beginning of `text`.
    pub(crate) const fn new(text: &'a str) -> Self {
        Self {
            text,
            here: 0,
            levels: Vec::new(),
            too_deep: false,
        }
    }

    /// [`pointer_at`] of this text.
    pub(crate) fn at(&mut self, at: usize) -> Option<String> {
        if !matches!(self.text.as_bytes().first(), Some(b'{' | b'[')) {
            return None;
        }
        if at < self.here {
            *self = Self::new(self.text);
        }
        self.walk(at);
        (!self.too_deep).then(|| self.pointer())
    }

    fn pointer(&self) -> String {
        let mut pointer = String::new();
        for level in &self.levels {
            match level {
                Level::Array(index) => pointer.push_str(&format!("/{index}")),
                Level::Object { key: Some(key), .. } => {
                    pointer.push('/');
                    pointer.push_str(&key.replace('~', "~0").replace('/', "~1"));
                }
                Level::Object { key: None, .. } => {}
            }
        }
        pointer
    }

    fn walk(&mut self, at: usize) {
        let Self {
            text,
            here,
            levels,
            too_deep,
        } = self;
        let bytes = text.as_bytes();
        while *here < at.min(bytes.len()) && !*too_deep {
            match bytes[*here] {
                b'{' => levels.push(Level::Object { key: None, value: false }),
                b'[' => levels.push(Level::Array(0)),
                b'}' | b']' => {
                    levels.pop();
                }
                b':' => {
                    if let Some(Level::Object { value, .. }) = levels.last_mut() {
                        *value = true;
                    }
                }
                b',' => match levels.last_mut() {
                    Some(Level::Array(index)) => *index += 1,
                    Some(Level::Object { key, value }) => (*key, *value) = (None, false),
                    None => {}
                },
                b'"' => {
                    let begin = *here + 1;
                    let mut end = begin;
                    while end < bytes.len() && bytes[end] != b'"' {
                        end += if bytes[end] == b'\\' { 2 } else { 1 };
                    }
                    if end >= at {
                        break;
                    }
                    if let Some(Level::Object { key, value: false }) = levels.last_mut() {
                        *key = text.get(begin..end);
                    }
                    *here = end;
                }
                _ => {}
            }
            *too_deep = levels.len() > READABLE;
            *here += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pointers_lead_to_the_damage() {
        let text = r#"{"type":"x","a/b":[1,{"c":"say \"hi\"","d":}]}"#;
        let at = |needle: &str| pointer_at(text, text.find(needle).unwrap()).unwrap();
        assert_eq!(at("\"x\""), "/type");
        assert_eq!(at("hi"), "/a~1b/1/c");
        assert_eq!(at("}]}"), "/a~1b/1/d");
        assert_eq!(pointer_at(text, text.len()), Some(String::new()));
        let mut several = Pointers::new(text);
        for needle in ["\"x\"", "hi", "}]}", "x\"", "hi"] {
            assert_eq!(several.at(text.find(needle).unwrap()), pointer_at(text, text.find(needle).unwrap()));
        }
        let text = r#"{"a":[{},{"b":{"c":1},"d":2}],"e":"}"}"#;
        let object = |from: &str| pointer_of_object(text, text.rfind(from).unwrap()).unwrap();
        assert_eq!(
            (object("},{"), object("},\"d"), object("}],")),
            ("/a/0".into(), "/a/1/b".into(), "/a/1".into())
        );
        assert_eq!(pointer_of_object(text, text.len() - 1), Some(String::new()));
        assert_eq!(pointer_at("noise {", 7), None);
        assert_eq!(pointer_at(&"[".repeat(100_000), 99_999), None);
    }
}
