//! Whose a message is, on a connection that serves several sessions: answers name none, so what was asked in lines that were set aside is
//! remembered.

use crate::chat::Members;
use crate::codec::Cx;
use crate::detect::word;
use crate::json::Raw;

/// What tells whose a JSON-RPC message is, also of one that a recorder has wrapped.
pub(crate) struct Addressed<'m, 'a> {
    /// The recorder's word for who speaks, if there is one.
    pub(crate) dir: &'a str,
    message: Option<&'m Members<'a>>,
    /// The parameters, or the result.
    pub(crate) about: Option<&'a Members<'a>>,
}

impl<'m, 'a> Addressed<'m, 'a> {
    pub(crate) fn of(members: &'m Members<'a>, cx: &Cx<'a>) -> Self {
        let dir = members.get("dir").map_or("", word);
        let inside = members.get("msg").filter(|_| !dir.is_empty());
        let message = inside.map_or(Some(members), |message| members.opened(message, cx));
        let about = message.and_then(|message| {
            let about = message.get("params").or_else(|| message.get("result"))?;
            message.opened(about, cx)
        });
        Self { dir, message, about }
    }

    fn get(&self, name: &str) -> Option<Raw<'a>> {
        self.message?.get(name)
    }

    pub(crate) fn id(&self) -> Option<&'a str> {
        self.get("id").filter(|id| !id.is_null()).map(Raw::as_str)
    }

    /// Empty in an answer.
    pub(crate) fn method(&self) -> &'a str {
        self.get("method").map_or("", word)
    }

    pub(crate) fn result(&self) -> Option<Raw<'a>> {
        self.get("result")
    }
}

/// Ids of requests as they are spelled, each with whether the agent asks, and the session that it asks for.
#[derive(Debug, Default)]
pub(crate) struct Elsewhere(Vec<(bool, String, String)>);

impl Elsewhere {
    /// More than anybody has open; the oldest are forgotten.
    const MOST: usize = 256;

    pub(crate) fn asks(&mut self, by_agent: bool, id: &str, session: &str) {
        self.take(by_agent, id);
        if self.0.len() == Self::MOST {
            self.0.remove(0);
        }
        self.0.push((by_agent, id.to_owned(), session.to_owned()));
    }

    /// The session for which this was asked; it is answered, or read now.
    pub(crate) fn take(&mut self, by_agent: bool, id: &str) -> Option<String> {
        let at = self.0.iter().position(|(agent, known, _)| *agent == by_agent && known == id)?;
        Some(self.0.remove(at).2)
    }
}
