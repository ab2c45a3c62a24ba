//! What is said of an entry besides its words.

use std::io;
use std::path::Path;
use std::time::Duration;

use serde_json::Value;

use super::line::{Object, quoted};
use super::place;

/// Who writes, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Writer {
    /// The working folder.
    pub cwd: String,
    /// The version of the program that is stood in for.
    pub version: String,
    /// How it was started: `sdk-py`, `sdk-ts`, `sdk-cli`, `cli`.
    pub entrypoint: String,
    /// The branch of the repository; `HEAD` without one.
    pub branch: String,
}

impl Writer {
    /// One for this working folder, with its branch.
    pub fn new(cwd: &Path) -> Self {
        Self {
            cwd: cwd.to_string_lossy().into_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            entrypoint: "sdk-cli".to_owned(),
            branch: place::branch(cwd),
        }
    }
}

/// Of something that the user says.
#[derive(Clone, Copy, Debug, Default)]
pub struct UserFacts<'a> {
    /// The entry's id; made up if absent.
    pub uuid: Option<&'a str>,
    /// The prompt that it belongs to.
    pub prompt_id: Option<&'a str>,
    /// The permission mode, as the dialect calls it.
    pub permission_mode: Option<&'a str>,
    /// Said by the program in the user's name: lists leave it out, the model reads it.
    pub is_meta: bool,
    /// A summary of what was said before.
    pub is_compact_summary: bool,
    /// The model does not read it.
    pub for_people_only: bool,
    /// Where the host says that it comes from.
    pub origin: Option<&'a Value>,
}

/// Of a reply.
#[derive(Clone, Copy, Debug, Default)]
pub struct Round<'a> {
    /// The reply's id: the same for all its blocks, and no other's.
    pub message_id: &'a str,
    /// The model that replied.
    pub model: &'a str,
    /// Why it ended, if it has.
    pub stop_reason: Option<&'a str>,
    /// What it used, in the words of the Anthropic API.
    pub usage: Option<&'a Value>,
    /// The request's id, where the API gives one.
    pub request_id: Option<&'a str>,
}

/// Of a call's result.
#[derive(Clone, Copy, Debug, Default)]
pub struct ResultFacts<'a> {
    /// The entry's id; made up if absent.
    pub uuid: Option<&'a str>,
    /// The typed form; an error without one is its text.
    pub detail: Option<&'a Value>,
    /// Why the call was not allowed: `user-rejected`, `permission-rule`.
    pub denial: Option<&'a str>,
}

/// Of a reply that did not come.
#[derive(Clone, Copy, Debug, Default)]
pub struct ApiFailure<'a> {
    /// The entry's id; made up if absent.
    pub uuid: Option<&'a str>,
    /// The reason, as the host is told it.
    pub text: &'a str,
    /// The reason in the dialect's word: `rate_limit`, `server_error` …
    pub error: Option<&'a str>,
    /// The HTTP status.
    pub status: Option<u16>,
    /// The request's id.
    pub request_id: Option<&'a str>,
}

/// Of a compaction.
#[derive(Clone, Copy, Debug, Default)]
pub struct Compaction<'a> {
    /// The boundary's id; made up if absent.
    pub boundary: Option<&'a str>,
    /// The summary's id; made up if absent.
    pub summary: Option<&'a str>,
    /// The user asked for it.
    pub manual: bool,
    /// How many tokens there were.
    pub tokens_before: u64,
    /// How many are left.
    pub tokens_after: Option<u64>,
    /// How long it took.
    pub took: Option<Duration>,
}

/// Of a subagent.
#[derive(Clone, Copy, Debug, Default)]
pub struct Subagent<'a> {
    /// Its id: ASCII letters, digits, `-` and `_`.
    pub id: &'a str,
    /// Its kind: `general-purpose` …
    pub kind: &'a str,
    /// What it is for.
    pub description: Option<&'a str>,
    /// The call that started it.
    pub call: Option<&'a str>,
}

/// Why a session is no longer kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trouble {
    /// The reason in one sentence.
    pub text: String,
    /// `ENOSPC` or `EDQUOT`, if the disk is full.
    pub code: Option<&'static str>,
}

impl Trouble {
    pub(super) fn new(id: &str, error: &io::Error) -> Self {
        Self {
            text: format!("session {id} is not saved any more, and cannot be resumed from here: {error}"),
            code: match error.kind() {
                io::ErrorKind::StorageFull => Some("ENOSPC"),
                io::ErrorKind::QuotaExceeded => Some("EDQUOT"),
                _ => None,
            },
        }
    }
}

/// Lines that went into a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mirror {
    /// The file.
    pub file_path: String,
    /// The lines, each a JSON object.
    pub entries: Vec<String>,
}

impl Mirror {
    /// The line that tells a host of it: `transcript_mirror`.
    pub fn line(&self) -> String {
        let mut line = Object::new();
        line.text("type", "transcript_mirror").raw("filePath", &quoted(&self.file_path));
        line.raw("entries", &format!("[{}]", self.entries.join(",")));
        line.end()
    }
}
