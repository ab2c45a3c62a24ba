//! How the lines of a store hang together.

use std::collections::HashSet;

use crate::ids::hash;
use crate::json::Str;

/// The members by which each line of a conversation names the one that it goes on from. A program that resumes a session walks from the
/// last line to the first.
#[derive(Clone, Copy, Debug)]
pub struct Chain {
    /// The line before; null for the first.
    pub parent: &'static str,
    /// Whether the line is a subagent's, which no program goes on with.
    pub side: &'static str,
}

/// Why a walk does not come to a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Odd {
    /// It has no id.
    NoId,
    /// It does not say what it goes on from.
    NoParent,
    /// What it goes on from is not there, or it begins anew.
    Lost,
    /// It goes back: what was said since then is another branch.
    Back,
}

/// The lines that were read.
#[derive(Debug, Default)]
pub(crate) struct Walk {
    ids: HashSet<u64>,
    last: Option<u64>,
    /// The id of the reply that was read last.
    reply: Option<u64>,
    /// Some ids were forgotten: what is not known may have been there.
    forgot: bool,
}

/// More ids are forgotten.
const MOST: usize = 1 << 20;

impl Walk {
    /// Whether it has come to no line yet.
    pub(crate) const fn is_empty(&self) -> bool {
        self.last.is_none()
    }

    /// Whether a reply begins with a line that has a part of the one of this id: several lines may be one reply.
    pub(crate) fn begins_reply(&mut self, id: Option<Str<'_>>) -> bool {
        let id = id.map(|id| hash(id.as_escaped()));
        id.is_none() || std::mem::replace(&mut self.reply, id) != id
    }

    /// Takes a line of the main conversation. `parent`: an empty text for null, nothing where the line does not say it. `says`: it is a
    /// part of the conversation, and not about it; `opens`: it is a prompt, or a reply begins with it.
    pub(crate) fn line(&mut self, id: Option<Str<'_>>, parent: Option<Str<'_>>, says: bool, opens: bool) -> Option<Odd> {
        let id = id.filter(|id| !id.is_empty()).map(|id| hash(id.as_escaped()));
        let odd = match (id, parent) {
            (None, _) => says.then_some(Odd::NoId),
            (_, None) => says.then_some(Odd::NoParent),
            (_, Some(parent)) if parent.is_empty() => (says && self.last.is_some()).then_some(Odd::Lost),
            (_, Some(parent)) => {
                let parent = hash(parent.as_escaped());
                match self.ids.contains(&parent) {
                    false => (!self.forgot).then_some(Odd::Lost),
                    true => (opens && self.last != Some(parent)).then_some(Odd::Back),
                }
            }
        };
        if let Some(id) = id {
            if self.ids.len() == MOST {
                self.ids.clear();
                self.forgot = true;
            }
            self.ids.insert(id);
            self.last = Some(id);
        }
        odd
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_walk_sees_what_it_cannot_reach() {
        let mut walk = Walk::default();
        let mut line =
            |id: Option<&'static str>, parent: Option<&'static str>, opens| walk.line(id.map(Str::trusted), parent.map(Str::trusted), true, opens);
        assert_eq!(line(Some("a"), Some(""), true), None);
        assert_eq!(line(Some("b"), Some("a"), false), None);
        assert_eq!(line(Some("c"), Some("a"), false), None, "results hang from their calls");
        assert_eq!(line(Some("d"), Some("a"), true), Some(Odd::Back));
        assert_eq!(line(Some("e"), Some("x"), false), Some(Odd::Lost));
        assert_eq!(line(Some("f"), Some(""), true), Some(Odd::Lost));
        assert_eq!(line(Some("g"), None, true), Some(Odd::NoParent));
        assert_eq!(line(None, Some("g"), true), Some(Odd::NoId));
        assert_eq!(line(Some("h"), Some("g"), true), None);
    }
}
