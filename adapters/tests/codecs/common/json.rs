//! A small reader of JSON for tests, which shares no code with the library and keeps what `serde_json::Value` loses:
//! duplicate keys, the spelling of numbers, lone surrogates.

/// A value. Lone surrogates in a text stand as private characters from U+F0000 on, so that they stay apart.
#[derive(Clone, Debug, PartialEq)]
pub enum Json {
    Null,
    Bool(bool),
    Number(String),
    Text(String),
    List(Vec<Self>),
    Object(Vec<(String, Self)>),
}

/// Deeper than this nothing is read: such lines are for the tests of depth, which need no reader.
const DEPTH: usize = 100;

impl Json {
    /// Reads a whole text; `None` when it is not exactly one sound value (or too deep).
    pub fn read(text: &str) -> Option<Self> {
        let (value, rest) = Self::first(text)?;
        rest.trim_ascii().is_empty().then_some(value)
    }

    /// Reads the value at the beginning of a text; also returns what follows it.
    pub fn first(text: &str) -> Option<(Self, &str)> {
        let mut reader = Reader { text, at: 0 };
        let value = reader.value(0)?;
        Some((value, &text[reader.at..]))
    }

    /// A member of an object: the last one of that name, as most readers take it.
    pub fn get(&self, key: &str) -> Option<&Self> {
        match self {
            Self::Object(members) => members.iter().rev().find(|(name, _)| name == key).map(|(_, value)| value),
            _ => None,
        }
    }

    /// The member at the end of a path of keys.
    pub fn at(&self, path: &[&str]) -> Option<&Self> {
        path.iter().try_fold(self, |value, key| value.get(key))
    }

    pub fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The text of a member; empty when there is none.
    pub fn str(&self, key: &str) -> &str {
        self.get(key).and_then(Self::text).unwrap_or_default()
    }

    pub fn bool(&self, key: &str) -> Option<bool> {
        match self.get(key) {
            Some(Self::Bool(value)) => Some(*value),
            _ => None,
        }
    }

    pub fn list(&self) -> &[Self] {
        match self {
            Self::List(items) => items,
            _ => &[],
        }
    }

    /// The elements of a member that is a list.
    pub fn items(&self, key: &str) -> &[Self] {
        self.get(key).map_or(&[], Self::list)
    }

    pub fn members(&self) -> &[(String, Self)] {
        match self {
            Self::Object(members) => members,
            _ => &[],
        }
    }

    pub fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }

    pub fn is_object(&self) -> bool {
        matches!(self, Self::Object(_))
    }

    /// Compact JSON with the keys of objects in alphabetical order: equal for values that say the same.
    pub fn canonical(&self) -> String {
        let mut text = String::new();
        self.write(&mut text, true);
        text
    }

    /// Compact JSON, everything in its order.
    pub fn compact(&self) -> String {
        let mut text = String::new();
        self.write(&mut text, false);
        text
    }

    fn write(&self, to: &mut String, sorted: bool) {
        match self {
            Self::Null => to.push_str("null"),
            Self::Bool(value) => to.push_str(if *value { "true" } else { "false" }),
            Self::Number(digits) => to.push_str(digits),
            Self::Text(text) => quote(text, to),
            Self::List(items) => {
                to.push('[');
                for (at, item) in items.iter().enumerate() {
                    if at > 0 {
                        to.push(',');
                    }
                    item.write(to, sorted);
                }
                to.push(']');
            }
            Self::Object(members) => {
                let mut members: Vec<&(String, Self)> = members.iter().collect();
                if sorted {
                    members.sort_by(|a, b| a.0.cmp(&b.0));
                }
                to.push('{');
                for (at, (key, value)) in members.into_iter().enumerate() {
                    if at > 0 {
                        to.push(',');
                    }
                    quote(key, to);
                    to.push(':');
                    value.write(to, sorted);
                }
                to.push('}');
            }
        }
    }
}

/// Appends a text as a JSON string; private characters become the lone surrogates that they stand for.
pub fn quote(text: &str, to: &mut String) {
    to.push('"');
    for c in text.chars() {
        match c {
            '"' => to.push_str("\\\""),
            '\\' => to.push_str("\\\\"),
            '\n' => to.push_str("\\n"),
            '\r' => to.push_str("\\r"),
            '\t' => to.push_str("\\t"),
            c if (c as u32) < 0x20 => to.push_str(&format!("\\u{:04x}", c as u32)),
            c if (LONE..LONE + 0x800).contains(&(c as u32)) => to.push_str(&format!("\\u{:04x}", c as u32 - LONE + 0xd800)),
            c => to.push(c),
        }
    }
    to.push('"');
}

/// A text as a JSON string.
pub fn quoted(text: &str) -> String {
    let mut to = String::new();
    quote(text, &mut to);
    to
}

/// Where the characters begin that stand for lone surrogates.
const LONE: u32 = 0xf_0000;

struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl Reader<'_> {
    fn peek(&mut self) -> Option<u8> {
        let bytes = self.text.as_bytes();
        while matches!(bytes.get(self.at), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
        bytes.get(self.at).copied()
    }

    fn eat(&mut self, byte: u8) -> Option<()> {
        (self.peek()? == byte).then(|| self.at += 1)
    }

    fn value(&mut self, depth: usize) -> Option<Json> {
        if depth > DEPTH {
            return None;
        }
        match self.peek()? {
            b'{' => {
                self.at += 1;
                let mut members = Vec::new();
                if self.peek()? == b'}' {
                    self.at += 1;
                    return Some(Json::Object(members));
                }
                loop {
                    self.peek()?;
                    let key = self.string()?;
                    self.eat(b':')?;
                    members.push((key, self.value(depth + 1)?));
                    match self.peek()? {
                        b',' => self.at += 1,
                        b'}' => {
                            self.at += 1;
                            return Some(Json::Object(members));
                        }
                        _ => return None,
                    }
                }
            }
            b'[' => {
                self.at += 1;
                let mut items = Vec::new();
                if self.peek()? == b']' {
                    self.at += 1;
                    return Some(Json::List(items));
                }
                loop {
                    items.push(self.value(depth + 1)?);
                    match self.peek()? {
                        b',' => self.at += 1,
                        b']' => {
                            self.at += 1;
                            return Some(Json::List(items));
                        }
                        _ => return None,
                    }
                }
            }
            b'"' => self.string().map(Json::Text),
            b't' => self.word("true", Json::Bool(true)),
            b'f' => self.word("false", Json::Bool(false)),
            b'n' => self.word("null", Json::Null),
            _ => self.number(),
        }
    }

    fn word(&mut self, word: &str, value: Json) -> Option<Json> {
        self.text[self.at..].starts_with(word).then(|| {
            self.at += word.len();
            value
        })
    }

    fn number(&mut self) -> Option<Json> {
        let rest = &self.text[self.at..];
        let end = rest
            .find(|c: char| !matches!(c, '0'..='9' | '-' | '+' | '.' | 'e' | 'E'))
            .unwrap_or(rest.len());
        let digits = &rest[..end];
        // serde_json says whether it is a number; the spelling is kept.
        serde_json::from_str::<serde_json::Number>(digits).ok()?;
        self.at += end;
        Some(Json::Number(digits.to_owned()))
    }

    fn hex(&mut self) -> Option<u32> {
        let unit = u32::from_str_radix(
            self.text.get(self.at..self.at + 4).filter(|h| h.bytes().all(|b| b.is_ascii_hexdigit()))?,
            16,
        )
        .ok()?;
        self.at += 4;
        Some(unit)
    }

    fn string(&mut self) -> Option<String> {
        self.eat(b'"')?;
        let mut text = String::new();
        loop {
            let c = self.text[self.at..].chars().next()?;
            self.at += c.len_utf8();
            match c {
                '"' => return Some(text),
                c if (c as u32) < 0x20 => return None,
                '\\' => {
                    let escape = self.text[self.at..].chars().next()?;
                    self.at += escape.len_utf8();
                    text.push(match escape {
                        '"' | '\\' | '/' => escape,
                        'b' => '\u{8}',
                        'f' => '\u{c}',
                        'n' => '\n',
                        'r' => '\r',
                        't' => '\t',
                        'u' => {
                            let unit = self.hex()?;
                            let low = self.text[self.at..]
                                .strip_prefix("\\u")
                                .and_then(|r| r.get(..4))
                                .and_then(|h| u32::from_str_radix(h, 16).ok());
                            match (unit, low) {
                                (0xd800..0xdc00, Some(low @ 0xdc00..0xe000)) => {
                                    self.at += 6;
                                    char::from_u32(0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00))?
                                }
                                (0xd800..0xe000, _) => char::from_u32(LONE + unit - 0xd800)?,
                                _ => char::from_u32(unit)?,
                            }
                        }
                        _ => return None,
                    });
                }
                c => text.push(c),
            }
        }
    }
}
