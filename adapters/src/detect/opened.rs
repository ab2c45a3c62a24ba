//! One line, opened for the recognisers.

use crate::json::{Cursor, Raw, Str};

/// Few lines have more members.
const USUAL: usize = 24;

/// One line, opened at its top level. A line that is cut off has the members that came through, the last one cut.
#[derive(Debug)]
pub(crate) struct Opened<'a> {
    /// The whole text.
    pub(crate) text: &'a str,
    /// `type`, if it is a string.
    pub(crate) kind: &'a str,
    members: Vec<(Str<'a>, Raw<'a>)>,
}

impl<'a> Opened<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        let mut members = Vec::with_capacity(USUAL);
        let mut at = Cursor::new(text);
        if let Ok(mut object) = at.object() {
            while let Ok(Some(key)) = object.key(&mut at) {
                let rest = at.rest().trim_ascii_start();
                match at.skip() {
                    Ok(value) => members.push((key, value)),
                    Err(_) => {
                        members.push((key, Raw::trusted(rest)));
                        break;
                    }
                }
            }
        }
        let mut line = Self { text, kind: "", members };
        line.kind = line.word("type");
        line
    }

    /// Whether it is an object (at least the beginning of one).
    pub(crate) fn is_object(&self) -> bool {
        !self.members.is_empty()
    }

    /// The value of a member.
    pub(crate) fn get(&self, key: &str) -> Option<Raw<'a>> {
        self.members.iter().find(|(name, _)| name.is(key)).map(|(_, value)| *value)
    }

    /// Whether there is such a member.
    pub(crate) fn has(&self, key: &str) -> bool {
        self.get(key).is_some()
    }

    /// Whether there is any of these members.
    pub(crate) fn has_any(&self, keys: &[&str]) -> bool {
        keys.iter().any(|key| self.has(key))
    }

    /// Whether all of these members are there.
    pub(crate) fn has_all(&self, keys: &[&str]) -> bool {
        keys.iter().all(|key| self.has(key))
    }

    /// The text of a member that is a string; else empty.
    pub(crate) fn word(&self, key: &str) -> &'a str {
        self.get(key).map_or("", word)
    }

    /// The member at the end of a path of keys.
    pub(crate) fn find(&self, path: &[&str]) -> Option<Raw<'a>> {
        let (first, rest) = path.split_first()?;
        rest.iter().try_fold(self.get(first)?, |value, key| value.get(key))
    }

    /// Where a member stands among the others.
    pub(crate) fn place(&self, key: &str) -> Option<usize> {
        self.members.iter().position(|(name, _)| name.is(key))
    }
}

/// The escaped text of a value that is a string; else empty.
pub(crate) fn word(value: Raw<'_>) -> &str {
    value.string().map_or("", Str::as_escaped)
}
