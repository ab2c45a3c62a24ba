//! `codex:rollout`: the file in which Codex keeps a thread, `~/.codex/sessions/YYYY/MM/DD/rollout-<time>-<thread id>.jsonl` (docs/codex.md).
//!
//! Each line is `{timestamp, type, payload}`. What the model said and was told are `response_item`s in the words of OpenAI's Responses API;
//! what people are shown of it stands beside them as `event_msg`s, in two generations of names. Both say the same things once each: texts,
//! thoughts and calls are read from the items, results from whichever comes first.

mod decode;
mod encode;
mod items;
mod line;
mod output;
#[cfg(feature = "schema")]
mod schema;
mod view;
mod write;

#[cfg(test)]
mod tests;

pub(crate) use decode::Decoder;
pub(crate) use encode::Encoder;

use crate::codec::{Layout, Mode};
use crate::store::{Home, Ids, Project, Root, Store};

/// Its mode.
pub(super) const MODE: Mode = Mode::new("rollout", Layout::Store).with_tokens_behind();

/// Where they lie.
const HOME: Home = Home {
    roots: &[
        Root {
            variable: "CODEX_HOME",
            below: "",
        },
        Root {
            variable: "HOME",
            below: ".codex",
        },
    ],
    files: &["sessions/*/*/*/rollout-*.jsonl"],
    file: "sessions/YEAR/MONTH/DAY/rollout-TIME-ID.jsonl",
    project: Project::None,
    ids: Ids::Timed,
    thoughts: false,
    end: "",
    takes: None,
    goes_on: &["codex", "resume", "ID"],
    database: None,
};

/// What it says of itself. Threads of subagents have files of their own beside it, which say whose they are themselves.
pub(super) const STORE: Store = Store {
    mode: MODE,
    fields: &[],
    subagents: None,
    chain: None,
    home: Some(HOME),
    #[cfg(feature = "schema")]
    schema: &schema::SIDE,
};

/// The field in which the events of a line keep it.
const LINE: &str = "line";
