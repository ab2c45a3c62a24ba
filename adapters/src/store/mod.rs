//! Stores: the files in which programs keep their sessions.
//!
//! A store is not what a host reads while the agent works. It holds the prompts, but no line that says how a turn ended, no pieces of
//! replies, and of a subagent's work as a rule nothing: that stands in a file of its own. What is the same for all of them stands here;
//! a vendor's folder has the module that reads and writes its own. [`Reading`] and
//! [`Writing`] are what its decoder and its encoder keep.

mod chain;
mod home;
mod reading;
mod turn;
mod writing;

pub use chain::Chain;
pub(crate) use chain::{Odd, Walk};
pub use home::{Database, Home, Ids, Project, Root, short_name, short_slug, slug, stem};
pub(crate) use reading::{Reading, unknown};
pub(crate) use turn::{DERIVED, Turn};
pub(crate) use writing::{Fact, Writing, kept, known_time, version};

use crate::codec::{Cx, Mode};
use crate::event::{Agent, Origin};
use crate::json::{Cursor, Raw};
#[cfg(feature = "schema")]
use crate::schema::Side;

/// What a vendor says of a store of its.
#[derive(Clone, Copy, Debug)]
pub struct Store {
    /// The mode in which it is read and written.
    pub mode: Mode,
    /// The members that only it has: name and meaning, sorted by name.
    pub fields: &'static [(&'static str, &'static str)],
    /// Where the files of a session's subagents lie, seen from the folder of the session's file; `ID` stands for the session's id, by
    /// which its file is called. Each is called `agent-….jsonl`, and `.meta.json` beside it says whose it is ([`Child::read`]), or what came
    /// of its call does, which names it ([`Child::called`]): a skill that runs as a subagent. Where
    /// files are not called by their session's id, `SESSION` stands for it: then each is called by the subagent's id, and the session's
    /// file says whose it is ([`Child::called`]).
    pub subagents: Option<&'static str>,
    /// How its lines hang together, if each names another.
    pub chain: Option<Chain>,
    /// Where the program keeps them, and how it goes on with one.
    pub home: Option<Home>,
    /// What its lines look like.
    #[cfg(feature = "schema")]
    pub(crate) schema: &'static Side,
}

/// The chain that several programs write alike.
pub(crate) const UUIDS: Chain = Chain {
    parent: "parentUuid",
    side: "isSidechain",
};

impl Store {
    /// Whether subagents' files are found by what stands in the session's file, and not by its name.
    pub fn names_subagents(&self) -> bool {
        self.subagents.is_some_and(|below| below.contains("SESSION"))
    }

    /// The folder with the files of the subagents of the session whose file lies in `folder` and is called `name`, or which has that id
    /// ([`Self::names_subagents`]); both are joined by slashes.
    pub fn subagents_of(&self, folder: &str, name: &str) -> Option<String> {
        let below = self.subagents?.replace("SESSION", name).replace("ID", name);
        let (folder, below) = match below.strip_prefix("../") {
            Some(below) => (folder.rsplit_once('/').map_or("..", |(above, _)| above), below),
            None => (folder, below.as_str()),
        };
        Some(format!("{folder}/{below}"))
    }
}

/// Whether a session's file that begins so is that of a subagent.
pub fn begins_as_subagent(head: &[u8]) -> bool {
    let kind = first(head, "kind").and_then(Raw::string).filter(|_| first(head, "projectHash").is_some());
    let thread = first(head, "payload").and_then(|payload| payload.get("thread_source")?.string());
    first(head, "isSidechain").and_then(Raw::bool) == Some(true) || kind.or(thread).is_some_and(|kind| kind.is("subagent"))
}

/// The id of the session whose file begins so, if its first object says it and a folder may be called by it.
pub fn session_of(head: &[u8]) -> Option<String> {
    let id = first(head, "sessionId")?.string()?.unescape().into_owned();
    let is_name = !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'));
    is_name.then_some(id)
}

/// A member of the first object, which may be laid out over lines and break off behind it.
fn first<'h>(head: &'h [u8], name: &str) -> Option<Raw<'h>> {
    let text = match std::str::from_utf8(head) {
        Ok(text) => text,
        Err(error) => std::str::from_utf8(&head[..error.valid_up_to()]).unwrap_or_default(),
    };
    let mut at = Cursor::new(text.trim_start_matches('\u{feff}'));
    let mut object = at.object().ok()?;
    while let Some(key) = object.key(&mut at).ok()? {
        let value = at.skip().ok()?;
        if key.is(name) {
            return Some(value);
        }
    }
    None
}

/// Whose file a subagent's is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Child {
    /// The call that it works for.
    pub call: String,
    /// Its id.
    pub agent: Option<String>,
    /// The name of its definition.
    pub name: Option<String>,
    /// What it was asked to do, in a few words.
    pub task: Option<String>,
}

impl Child {
    /// Reads what the file beside a subagent's says of it; `None` if that does not name the call.
    pub fn read(meta: &str) -> Option<Self> {
        let meta = Cursor::new(meta).raw().ok()?;
        let text = |name: &str| meta.get(name).and_then(Raw::string).map(|text| text.unescape().into_owned());
        Some(Self {
            call: text("toolUseId").filter(|call| !call.is_empty())?,
            agent: text("agentId"),
            name: text("agentType").or_else(|| text("subagentName")),
            task: text("description"),
        })
    }

    /// Whose the file of a subagent of this id is, if this line of the session's file has the call, or what came of it.
    pub fn called(line: &str, agent: &str) -> Option<Self> {
        let line = Cursor::new(line).raw().ok()?;
        Self::with_calls(line, agent).or_else(|| Self::answered(line, agent))
    }

    fn answered(line: Raw<'_>, agent: &str) -> Option<Self> {
        let told = line.get("toolUseResult")?;
        told.get("agentId").and_then(Raw::string).filter(|id| id.is(agent))?;
        let text = |value: Raw<'_>| value.string().map(|text| text.unescape().into_owned());
        let call = line.get("message")?.get("content")?.elements().find_map(|block| block.get("tool_use_id"));
        Some(Self {
            call: call.and_then(text).filter(|call| !call.is_empty())?,
            agent: Some(agent.to_owned()),
            name: None,
            task: told.get("commandName").and_then(text),
        })
    }

    fn with_calls(line: Raw<'_>, agent: &str) -> Option<Self> {
        let is_its = |call: &Raw<'_>| call.get("agentId").and_then(Raw::string).is_some_and(|id| id.is(agent));
        let call = line.get("toolCalls")?.elements().find(is_its)?;
        let text = |value: Option<Raw<'_>>| value.and_then(Raw::string).map(|text| text.unescape().into_owned());
        Some(Self {
            call: text(call.get("id")).filter(|call| !call.is_empty())?,
            agent: Some(agent.to_owned()),
            name: text(call.get("resultDisplay").and_then(|shown| shown.get("agentName"))),
            task: None,
        })
    }

    /// Where what it says belongs.
    pub(crate) fn origin<'a>(&self, origin: Origin<'a>, cx: &Cx<'a>) -> Origin<'a> {
        let text = |text: &Option<String>| text.as_deref().map(|text| cx.text(text));
        let said = origin.agent.copied().unwrap_or_default();
        let agent = Agent {
            id: said.id.or_else(|| text(&self.agent)),
            name: said.name.or_else(|| text(&self.name)),
            task: said.task.or_else(|| text(&self.task)),
        };
        Origin {
            parent: Some(cx.text(&self.call)),
            agent: (agent != Agent::default()).then(|| cx.keep(agent)),
            ..origin
        }
    }
}

#[cfg(test)]
mod tests;
