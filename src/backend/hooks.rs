//! Settings hooks of Qwen Code: what its control channel does not carry (docs/qwen-code.md).
//!
//! Qwen Code asks for permission over its control channel, but runs the original arguments whatever the answer says, and calls no hooks of
//! its host's there. The hooks of a settings file do both. So it gets a settings file of its own, merged with the one that the user
//! had, whose hooks start our own program; that hands the question over a socket to the session, which asks the host.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream as BlockingStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use agentglot_process::file::read_regular;
use serde_json::{Map, Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::{mpsc, oneshot};

use crate::child::leftover;

/// The variable that names the settings file.
pub const VARIABLE: &str = "QWEN_CODE_SYSTEM_SETTINGS_PATH";

/// Its settings file for the whole system, where the variable names none.
const SYSTEM: &str = if cfg!(target_os = "macos") {
    "/Library/Application Support/QwenCode/settings.json"
} else {
    "/etc/qwen-code/settings.json"
};

/// The hidden command that the hooks start: it passes its standard input to a socket, and prints the answer.
pub const RELAY: &str = "hook-relay";

/// A hook that wants an answer.
#[derive(Debug)]
pub struct Question {
    /// What Qwen Code tells its hooks.
    pub input: Map<String, Value>,
    /// Where the answer goes. Dropped unanswered, the hook says nothing, which denies what was asked for.
    pub reply: oneshot::Sender<String>,
}

/// The socket, the settings file and their folder, which only we can read. All are gone with this.
#[derive(Debug)]
pub struct Hooks {
    folder: leftover::Folder,
    questions: mpsc::UnboundedReceiver<Question>,
    server: tokio::task::JoinHandle<()>,
}

impl Hooks {
    /// Listens, and writes the settings. `events`: those that hooks are wanted for; `patience`: how long an
    /// answer may take.
    ///
    /// # Errors
    /// Those of the file system, and a settings file of the user's that is no JSON object.
    pub fn new(events: &[&str], users: Option<&Path>, patience: Duration) -> std::io::Result<Self> {
        let folder = leftover::Folder::new()?;
        let listener = UnixListener::bind(folder.path().join("socket"))?;
        let mut settings = match users {
            Some(path) => serde_json::from_slice(&read_regular(path, LARGEST)?)?,
            // Where it would have looked itself.
            None => match read_regular(Path::new(SYSTEM), LARGEST) {
                Ok(text) => serde_json::from_slice(&text)?,
                Err(_) => json!({ "$version": 4 }),
            },
        };
        // The session answers first. Node waits for no more than this many milliseconds.
        let timeout = i32::try_from((patience + SLACK).as_millis()).unwrap_or(i32::MAX);
        let own = std::env::current_exe()?;
        let command = format!("{} {RELAY} {}", quoted(&own), quoted(&folder.path().join("socket")));
        let refused = || std::io::Error::other("the settings are no JSON object");
        let hooks = settings.as_object_mut().ok_or_else(refused)?.entry("hooks").or_insert_with(|| json!({}));
        for event in events {
            let ours = json!({ "matcher": "*", "hooks": [{ "type": "command", "command": command, "timeout": timeout }] });
            let list = hooks.as_object_mut().ok_or_else(refused)?.entry(*event).or_insert_with(|| json!([]));
            list.as_array_mut().ok_or_else(refused)?.push(ours);
        }
        std::fs::write(folder.path().join("settings.json"), serde_json::to_vec(&settings)?)?;
        let (sender, questions) = mpsc::unbounded_channel();
        let server = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, sender.clone()));
            }
        });
        Ok(Self { folder, questions, server })
    }

    /// The settings file.
    pub fn settings(&self) -> PathBuf {
        self.folder.path().join("settings.json")
    }

    /// Waits for the next question. Cancel-safe.
    pub async fn next(&mut self) -> Question {
        match self.questions.recv().await {
            Some(question) => question,
            None => std::future::pending().await,
        }
    }
}

impl Drop for Hooks {
    fn drop(&mut self) {
        self.server.abort();
    }
}

/// What the relay does: asks the session, and prints what it says.
///
/// # Errors
/// Those of the socket: the session has gone. Nothing was printed then.
pub fn relay(socket: &Path) -> std::io::Result<()> {
    let mut question = Vec::new();
    std::io::stdin().lock().read_to_end(&mut question)?;
    let mut stream = BlockingStream::connect(socket)?;
    stream.write_all(&question)?;
    stream.shutdown(std::net::Shutdown::Write)?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer)?;
    std::io::stdout().lock().write_all(&answer)
}

/// The largest file of settings, in bytes.
const LARGEST: u64 = 4 << 20;

/// How much longer than the session the program is to wait for an answer.
const SLACK: Duration = Duration::from_secs(60);

/// The longest question: a tool's arguments and its result.
const LONGEST: u64 = 64 << 20;

async fn serve(mut stream: UnixStream, questions: mpsc::UnboundedSender<Question>) {
    let mut bytes = Vec::new();
    let (reply, answer) = oneshot::channel();
    if (&mut stream).take(LONGEST).read_to_end(&mut bytes).await.is_err() {
        return;
    }
    let Ok(input) = serde_json::from_slice(&bytes) else { return };
    if questions.send(Question { input, reply }).is_ok()
        && let Ok(answer) = answer.await
    {
        let _ = stream.write_all(answer.as_bytes()).await;
    }
}

/// A path for the shell that runs hooks.
fn quoted(path: &Path) -> String {
    format!("'{}'", path.display().to_string().replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn hooks_stand_beside_those_of_the_user_and_outwait_the_session() {
        let users = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(
            users.path(),
            r#"{"$version":4,"model":{"name":"m"},"hooks":{"Stop":[{"matcher":"*","hooks":[]}]}}"#,
        )
        .unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        for (patience, timeout) in [(5, 65_000), (u64::from(u32::MAX), i64::from(i32::MAX))] {
            let events = ["Stop", "PermissionRequest"];
            let hooks = runtime.block_on(async { Hooks::new(&events, Some(users.path()), Duration::from_secs(patience)).unwrap() });
            let settings: Value = serde_json::from_slice(&std::fs::read(hooks.settings()).unwrap()).unwrap();
            assert_eq!(settings["model"]["name"], "m");
            assert_eq!(settings["hooks"]["Stop"].as_array().map(Vec::len), Some(2));
            assert_eq!(settings["hooks"]["PermissionRequest"][0]["hooks"][0]["timeout"], timeout);
            let folder = hooks.settings().parent().unwrap().to_owned();
            let mode = std::fs::metadata(&folder).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o700);
            drop(hooks);
            assert!(!folder.exists());
        }
    }
}
