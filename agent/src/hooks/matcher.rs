//! Which calls a hook is for.

use fancy_regex::Regex;
use serde_json::Value;

/// A matcher.
#[derive(Clone, Debug)]
pub(super) enum Matcher {
    /// Everything.
    All,
    /// These names.
    Names(Vec<String>),
    /// What this is found in.
    Pattern(Regex),
}

impl Matcher {
    /// As it stands in settings, more or less.
    pub(super) fn text(&self) -> String {
        match self {
            Self::All => String::new(),
            Self::Names(names) => names.join("|"),
            Self::Pattern(pattern) => pattern.as_str().to_owned(),
        }
    }

    /// Absent, empty and `*` are everything; plain names, `|` between them, are whole names; anything else is a regular expression.
    pub(super) fn read(value: Option<&Value>) -> Result<Self, String> {
        let text = match value {
            None | Some(Value::Null) => return Ok(Self::All),
            Some(Value::String(text)) => text.trim(),
            Some(other) => return Err(format!("`{other}` is no matcher")),
        };
        if matches!(text, "" | "*") {
            return Ok(Self::All);
        }
        if text.chars().all(|c| c.is_ascii_alphanumeric() || "_|- ".contains(c)) {
            return Ok(Self::Names(text.split('|').map(|name| name.trim().to_owned()).collect()));
        }
        Regex::new(text)
            .map(Self::Pattern)
            .map_err(|error| format!("`{text}` is no regular expression: {error}"))
    }

    /// Whether it is for this one, which may have a second name.
    pub(super) fn fits(&self, subject: &str, aliases: &[(&str, &str)]) -> bool {
        match self {
            Self::All => true,
            Self::Names(names) => {
                let is_alias = |name: &str| aliases.iter().any(|(one, other)| *one == name && *other == subject);
                names.iter().any(|name| name == subject || is_alias(name))
            }
            // A pattern that goes back and forth too often fits nothing.
            Self::Pattern(pattern) => pattern.is_match(subject).unwrap_or(false),
        }
    }
}
