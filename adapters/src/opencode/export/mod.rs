//! `opencode:export`: a session as `opencode export` prints it and `opencode import` takes it (docs/opencode.md).
//!
//! One document: what is known of the session, and its messages, each with its parts. Of a message's parts the texts, thoughts, calls and
//! ends of rounds are those of a run. The server gives the messages alone, as an array; that is read too.

mod decode;
mod encode;
mod fields;
mod message;
#[cfg(feature = "schema")]
mod schema;

#[cfg(test)]
mod tests;

pub(crate) use decode::Decoder;
pub(crate) use encode::Encoder;

use crate::codec::{Layout, Mode};
use crate::event::At;
use crate::store::{Database, Home, Ids, Project, Root, Store};

/// Its mode.
pub(super) const MODE: Mode = Mode::new("export", Layout::Session).with_tokens_behind();

/// Where they lie: in a database. The program takes one from a file.
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
    database: Some(Database {
        file: "opencode.db",
        list: LIST,
        one: &[HEAD, MESSAGES],
        subagents: SUBAGENTS,
    }),
};

/// The sessions, but for those of subagents.
const LIST: &str = "select s.id as id, s.directory as cwd, \
    max(s.time_updated, coalesce((select max(p.time_updated) from part p where p.session_id = s.id), 0)) as written, \
    (select coalesce(sum(octet_length(p.data)), 0) from part p where p.session_id = s.id) as size, \
    s.tokens_input + s.tokens_output + s.tokens_reasoning + s.tokens_cache_read + s.tokens_cache_write as tokens, \
    (select count(*) from message m where m.session_id = s.id and case when json_valid(m.data) then m.data ->> '$.role' end = 'user') as turns, \
    (select p.data ->> '$.text' from message m join part p on p.message_id = m.id where m.session_id = s.id \
    and case when json_valid(m.data) then m.data ->> '$.role' end = 'user' and case when json_valid(p.data) then p.data ->> '$.type' end = 'text' order by m.time_created, m.id, p.id limit 1) as prompt \
    from session s where s.parent_id is null";

/// One session: what `opencode export` prints of it, its messages behind it instead of in it.
const HEAD: &str = "select '{\"info\":{\"id\":' || json_quote(id) || ',\"directory\":' || json_quote(directory) || ',\"title\":' || json_quote(title) \
    || iif(json_valid(model), ',\"model\":' || model, '') || ',\"version\":' || json_quote(version) \
    || ',\"time\":{\"created\":' || time_created || ',\"updated\":' || time_updated || '}},\"messages\":[]}' from session where id = ?1";
/// A message with its parts. The program puts ids behind what they are of, too.
const MESSAGES: &str = "select '{\"info\":' || substr(data, 1, length(data) - 1) || ',\"id\":' || json_quote(id) || ',\"sessionID\":' || json_quote(session_id) \
    || '},\"parts\":[' || coalesce((select group_concat(substr(p.data, 1, length(p.data) - 1) || ',\"id\":' || json_quote(p.id) \
    || ',\"sessionID\":' || json_quote(p.session_id) || ',\"messageID\":' || json_quote(p.message_id) || '}', ',' order by p.id) \
    from part p where p.message_id = m.id), '') || ']}' from message m where session_id = ?1 order by time_created, id";
/// Who works for a session: the call names the session of its subagent, which may have others.
const SUBAGENTS: &str = "with recursive kin(id) as (select ?1 union select s.id from session s join kin on s.parent_id = kin.id) \
    select p.data ->> '$.callID' as call, p.data ->> '$.state.metadata.sessionId' as id, p.data ->> '$.state.input.subagent_type' as name, \
    p.data ->> '$.state.input.description' as task from kin join part p on p.session_id = kin.id \
    where case when json_valid(p.data) then p.data ->> '$.tool' end = 'task' and call is not null and p.data ->> '$.state.metadata.sessionId' in kin";

/// What it says of itself.
pub(super) const STORE: Store = Store {
    mode: MODE,
    fields: fields::KNOWN,
    subagents: None,
    chain: None,
    home: Some(HOME),
    #[cfg(feature = "schema")]
    schema: &schema::SIDE,
};

/// Where a session, or a message, has what is known of it.
const INFO: At<'static> = At::Part("/info");
