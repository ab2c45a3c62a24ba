//! Where in a text something stands, as a JSON pointer.

/// The JSON pointer of the value of `text` in which the byte at offset `at` lies, as far as the brackets, quotes and commas
/// before it tell. `None` for text that is no object or array, and for nesting that nobody could read.
pub(crate) fn pointer_at(text: &str, at: usize) -> Option<String> {
    const READABLE: usize = 64;
    enum Level<'a> {
        Object { key: Option<&'a str>, value: bool },
        Array(usize),
    }
    let bytes = text.as_bytes();
    if !matches!(bytes.first(), Some(b'{' | b'[')) {
        return None;
    }
    let mut levels: Vec<Level<'_>> = Vec::new();
    let mut here = 0;
    while here < at.min(bytes.len()) {
        match bytes[here] {
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
                let begin = here + 1;
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
                here = end;
            }
            _ => {}
        }
        if levels.len() > READABLE {
            return None;
        }
        here += 1;
    }
    let mut pointer = String::new();
    for level in &levels {
        match level {
            Level::Array(index) => pointer.push_str(&format!("/{index}")),
            Level::Object { key: Some(key), .. } => {
                pointer.push('/');
                pointer.push_str(&key.replace('~', "~0").replace('/', "~1"));
            }
            Level::Object { key: None, .. } => {}
        }
    }
    Some(pointer)
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
        assert_eq!(pointer_at("noise {", 7), None);
        assert_eq!(pointer_at(&"[".repeat(100_000), 99_999), None);
    }
}
