//! `gemini:chat`: the file in which Gemini CLI keeps a session, `~/.gemini/tmp/<project>/chats/session-<time>-<id>.jsonl` (docs/gemini.md).
//!
//! A journal: a header each time that the session is opened, a line a message, and `$set` lines that change the header. A message's line is
//! written again when more of it is known, under the same id: first the reply, then the reply with its calls and their results.

mod asides;
mod decode;
mod encode;
mod fields;
mod message;
mod parts;
#[cfg(feature = "schema")]
mod schema;
mod seen;
mod waiting;

pub(crate) use decode::Decoder;
pub(crate) use encode::Encoder;

use crate::codec::{Layout, Mode};
use crate::event::At;
use crate::store::{Home, Ids, Project, Root, Store};

/// Its mode.
pub(crate) const MODE: Mode = Mode::new("chat", Layout::Store);

/// Where they lie. The program deletes what was last written long ago, by what the file says.
const HOME: Home = Home {
    roots: &[
        Root {
            variable: "GEMINI_CLI_HOME",
            below: ".gemini",
        },
        Root {
            variable: "HOME",
            below: ".gemini",
        },
    ],
    files: &["tmp/*/chats/session-*.jsonl", "tmp/*/chats/session-*.json"],
    file: "tmp/PROJECT/chats/session-MINUTE-SHORT.jsonl",
    project: Project::Claimed {
        marker: ".project_root",
        list: "projects.json",
        beside: &["history"],
    },
    ids: Ids::Random,
    thoughts: true,
    end: "{\"$set\":{\"lastUpdated\":\"NOW\"}}\n",
    takes: None,
    goes_on: &["gemini", "--resume", "ID"],
    database: None,
};

/// What it says of itself.
pub(super) const STORE: Store = Store {
    mode: MODE,
    fields: fields::KNOWN,
    subagents: Some("SESSION"),
    chain: None,
    home: Some(HOME),
    #[cfg(feature = "schema")]
    schema: &schema::SIDE,
};

/// Changes the header; `messages` in it is the conversation anew.
const SET: &str = "$set";
/// Takes back a message and what follows it.
const REWIND: &str = "$rewindTo";
/// What the notice of a header is called.
const HEADER: &str = "header";
/// What the notice of a line is called that says again what an earlier one says.
const AGAIN: &str = "again";
/// Where a message stands that has no line of its own.
const INNER: At<'static> = At::Part("/$set/messages");
/// What a message begins with that tells the model where it is.
const CONTEXT: &str = "<session_context>";
/// What the program itself tells the model within a turn begins with one of these.
const TELLS: [&str; 3] = [
    "System: Potential loop detected.",
    "System: You previously returned an empty response",
    "System: You successfully executed a tool but returned an empty response",
];
