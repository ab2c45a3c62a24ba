//! `opencode:export`: a session as `opencode export` prints it and `opencode import` takes it (docs/opencode.md).
//!
//! One document: what is known of the session, and its messages, each with its parts. Of a message's parts the texts, thoughts, calls and
//! ends of rounds are those of a run. The server gives the messages alone, as an array; that is read too.

mod decode;
mod encode;
mod fields;
mod message;

#[cfg(test)]
mod tests;

pub(crate) use decode::Decoder;
pub(crate) use encode::Encoder;

use crate::codec::{Layout, Mode};
use crate::event::At;
use crate::store::{Asked, Home, Ids, Project, Root, Store};

/// Its mode.
pub(super) const MODE: Mode = Mode::new("export", Layout::Session);

/// Where they lie: in a database, of which the program gives one session and takes one.
const HOME: Home = Home {
    roots: &[
        Root {
            variable: "XDG_DATA_HOME",
            below: "opencode",
        },
        Root {
            variable: "HOME",
            below: ".local/share/opencode",
        },
    ],
    files: &[],
    file: "agentglot/ID.json",
    project: Project::None,
    ids: Ids::Prefixed("ses_"),
    thoughts: true,
    end: "",
    takes: Some(&["opencode", "import", "FILE"]),
    goes_on: &["opencode", "-s", "ID"],
    asked: Some(Asked {
        kept: "opencode.db",
        list: &["opencode", "db", "--format", "json", LIST],
        one: &["opencode", "export", "ID"],
    }),
};

/// What the program's database is asked for all sessions.
const LIST: &str = "select s.id as id, s.directory as cwd, s.time_updated as written, \
    s.tokens_input + s.tokens_output + s.tokens_reasoning + s.tokens_cache_read + s.tokens_cache_write as tokens, \
    (select count(*) from message m where m.session_id = s.id and json_extract(m.data, '$.role') = 'user') as turns, \
    (select json_extract(p.data, '$.text') from part p join message m on m.id = p.message_id where m.session_id = s.id \
    and json_extract(m.data, '$.role') = 'user' and json_extract(p.data, '$.type') = 'text' order by p.id limit 1) as prompt \
    from session s where s.parent_id is null";

/// What it says of itself.
pub(super) const STORE: Store = Store {
    mode: MODE,
    fields: fields::KNOWN,
    subagents: None,
    chain: None,
    home: Some(HOME),
};

/// Where a session, or a message, has what is known of it.
const INFO: At<'static> = At::Part("/info");
