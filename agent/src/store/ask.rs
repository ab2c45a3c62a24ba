//! Which session is wanted, and why it cannot be had.

use std::io;

use super::SessionFiles;
use agentglot_adapters::raw::launch::{ArgError, Launch, Resume};

/// Which session is wanted.
#[derive(Clone, Debug)]
pub struct Ask {
    /// A new one, the latest, or one of this id, title or file.
    pub which: Resume,
    /// The id of a new session, or of the copy.
    pub id: Option<String>,
    /// Go on in a copy.
    pub fork: bool,
    /// Go on behind this entry.
    pub at: Option<String>,
    /// What [`Self::at`] drops has to be the turn of this prompt.
    pub drops_turn: Option<String>,
    /// Keep it: otherwise nothing is written, and a copy goes on of what is read.
    pub keep: bool,
    /// Tell what is written ([`Transcript::take_mirror`](super::Transcript::take_mirror)).
    pub mirror: bool,
}

impl Default for Ask {
    fn default() -> Self {
        Self {
            which: Resume::New,
            id: None,
            fork: false,
            at: None,
            drops_turn: None,
            keep: true,
            mirror: false,
        }
    }
}

impl Ask {
    /// What a command line asks for.
    pub fn of(launch: &Launch) -> Self {
        let given = |flag| crate::flags::given(launch, flag);
        let off = ["--no-session-persistence", "--ephemeral"].iter().any(|flag| given(flag).is_some())
            || given("--chat-recording").is_some_and(|(_, value)| value.as_deref() == Some("false"))
            || given("--no-chat-recording").is_some();
        Self {
            which: launch.resume.clone(),
            id: launch.session_id.clone(),
            fork: launch.fork,
            at: launch.resume_at.clone(),
            drops_turn: given("--resume-drops-turn").and_then(|(_, value)| value.clone()),
            keep: !off,
            mirror: given("--session-mirror").is_some(),
        }
    }
}

/// Why a session cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// There is none of this id or title.
    #[error("there is no session {0:?}")]
    NotFound(String),
    /// A new session cannot have this id.
    #[error("session id {0} is already in use")]
    InUse(String),
    /// Another process writes it.
    #[error("session {0} is being written by another process")]
    Busy(String),
    /// The program itself began it.
    #[error("session {0} was not begun by agentglot, and is left alone")]
    NotOurs(String),
    /// It is no id of the dialect's.
    #[error("{0:?} is no session id")]
    BadId(String),
    /// There is no such entry in it.
    #[error("there is no message {0:?} in the session")]
    NoMessage(String),
    /// More than the turn would be dropped that was named.
    #[error("{0}")]
    DropsMore(String),
    /// It cannot be read.
    #[error("session {0} cannot be read: {1}")]
    Io(String, io::Error),
}

impl StoreError {
    /// What the program says, and its exit code. Some say it in a result too ([`Self::has_result`]).
    pub fn refusal(&self, files: &SessionFiles) -> ArgError {
        let line = |text: String| ArgError {
            text: format!(
                "{text}
"
            ),
            exit_code: files.exit_code,
        };
        match (self, files.bad_id) {
            (Self::NotFound(id), ..) => ArgError::no_session(files.dialect, id),
            (Self::BadId(_), Some(text)) => line(text.to_owned()),
            (Self::InUse(id), ..) => files.in_use.map_or_else(|| ArgError::session_in_use(id), |words| line(words(id))),
            (Self::Busy(id), ..) => line(format!(
                "Error: Session ID {id} is already in use. Another process is writing this session: end it first{}.",
                files.copies.map(|flag| format!(", or go on in a copy with {flag}")).unwrap_or_default()
            )),
            (Self::NoMessage(at), ..) => line(format!("No message found with message.uuid of: {at}")),
            (Self::DropsMore(why), ..) => line(format!("Resume rejected by --resume-drops-turn: {why}")),
            (other, ..) => line(format!("Error: {other}")),
        }
    }

    /// Whether a host that reads results gets one with the text in `errors`, before the program ends.
    pub const fn has_result(&self) -> bool {
        matches!(self, Self::NotFound(_) | Self::NoMessage(_) | Self::DropsMore(_))
    }
}
