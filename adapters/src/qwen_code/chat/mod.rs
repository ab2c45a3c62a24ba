//! `qwen-code:chat`: the file in which Qwen Code keeps a session, `~/.qwen/projects/<folder>/chats/<session id>.jsonl` (docs/qwen-code.md).
//!
//! Messages are Gemini's (`parts`), in lines that are chained by `parentUuid`: one line a reply, one line a result.

mod decode;
mod encode;
mod fields;
mod parts;
#[cfg(feature = "schema")]
mod schema;

pub(crate) use decode::Decoder;
pub(crate) use encode::Encoder;

use crate::codec::{Layout, Mode};
use crate::store::{Home, Ids, Project, Root, Store, UUIDS};

/// Its mode.
pub(super) const MODE: Mode = Mode::new("chat", Layout::Store);

/// Where they lie.
const HOME: Home = Home {
    roots: &[
        Root {
            variable: "QWEN_RUNTIME_DIR",
            below: "",
        },
        Root {
            variable: "QWEN_HOME",
            below: "",
        },
        Root {
            variable: "HOME",
            below: ".qwen",
        },
    ],
    files: &["projects/*/chats/*.jsonl"],
    file: "projects/PROJECT/chats/ID.jsonl",
    project: Project::Path,
    ids: Ids::Random,
    thoughts: true,
    end: "",
    takes: None,
    goes_on: &["qwen", "--resume", "ID"],
    database: None,
};

/// What it says of itself.
pub(super) const STORE: Store = Store {
    mode: MODE,
    fields: fields::KNOWN,
    subagents: Some("../subagents/ID"),
    chain: Some(UUIDS),
    home: Some(HOME),
    #[cfg(feature = "schema")]
    schema: &schema::SIDE,
};

/// Where a result has what the model sees of it.
const RESPONSE: &str = "/message/parts/0/functionResponse";
/// What the name of a notice begins with that is a measurement, before its own name.
const TELEMETRY: &str = "ui_telemetry/";
