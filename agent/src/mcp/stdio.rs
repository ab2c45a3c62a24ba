//! A server that is a program of ours, as a transport of rmcp's.
//!
//! The program runs in a process group of its own and is ended in steps ([`Child`]). Its output is bounded: a line longer than
//! [`LONGEST_LINE`], or more than a flood's worth of messages that nobody asked for, ends the connection with the reason kept.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rmcp::RoleClient;
use rmcp::model::{ClientJsonRpcMessage, ErrorData, JsonRpcMessage, NumberOrString, ServerJsonRpcMessage};
use rmcp::transport::Transport;
use serde_json::Value;

use agentglot_process::{Child, Steps};

/// The longest line that a server may say, in bytes.
pub(super) const LONGEST_LINE: usize = 16 << 20;

/// How many messages that nobody asked for a server may say within [`WINDOW`].
const MOST_MESSAGES: u32 = 5000;

/// How many bytes of them.
const MOST_BYTES: usize = 32 << 20;

/// Over which time floods are measured.
const WINDOW: Duration = Duration::from_secs(1);

/// How long each step of its end may take.
pub(super) const STEPS: Steps = Steps {
    close: Duration::from_millis(500),
    terminate: Duration::from_millis(1000),
    kill: Duration::from_millis(500),
};

/// Why a connection is over, if it is told.
#[derive(Clone, Debug, Default)]
pub(super) struct Fault(Arc<Mutex<Option<String>>>);

impl Fault {
    /// Keeps the first reason.
    pub(super) fn set(&self, why: impl Into<String>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_with(|| why.into());
    }

    /// The reason.
    pub(super) fn get(&self) -> Option<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// The connection to a program.
pub(super) struct Stdio {
    child: Arc<Child>,
    fault: Fault,
    /// What has been read and not yet told.
    held: Vec<u8>,
    /// Where in it the next line begins.
    start: usize,
    /// Up to where there is no line end.
    seen: usize,
    /// What the next read fills.
    chunk: Box<[u8]>,
    flood: Flood,
}

impl Stdio {
    pub(super) fn new(child: Arc<Child>, fault: Fault) -> Self {
        Self {
            child,
            fault,
            held: Vec::new(),
            start: 0,
            seen: 0,
            chunk: vec![0; 64 << 10].into_boxed_slice(),
            flood: Flood::default(),
        }
    }

    /// The next line that is held, without its end.
    fn line(&mut self) -> Option<std::ops::Range<usize>> {
        let found = memchr::memchr(b'\n', &self.held[self.seen..]);
        let Some(end) = found.map(|at| self.seen + at) else {
            self.held.drain(..self.start);
            (self.start, self.seen) = (0, self.held.len());
            return None;
        };
        let line = self.start..end;
        (self.start, self.seen) = (end + 1, end + 1);
        Some(line)
    }
}

impl Transport<RoleClient> for Stdio {
    type Error = io::Error;

    fn send(&mut self, item: ClientJsonRpcMessage) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        let child = Arc::clone(&self.child);
        async move {
            let mut line = serde_json::to_vec(&item)?;
            line.push(b'\n');
            // A server that does not read is not given more.
            child.room().await;
            child.write(&line)
        }
    }

    async fn receive(&mut self) -> Option<ServerJsonRpcMessage> {
        loop {
            while let Some(line) = self.line() {
                let (message, bytes) = (message(&self.held[line.clone()]), line.len());
                let answer = matches!(message, Some(JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_)));
                if !answer && self.flood.rises(bytes, Instant::now()) {
                    self.fault.set("it said far more than it was asked for");
                    return None;
                }
                if message.is_some() {
                    return message;
                }
            }
            if self.held.len() > LONGEST_LINE {
                self.fault.set(format!("it said a line of more than {} MiB", LONGEST_LINE >> 20));
                return None;
            }
            match self.child.read(&mut self.chunk).await {
                Ok(0) => {
                    // What it said on stderr has been read when nothing of it is left.
                    let exit = tokio::time::timeout(STEPS.terminate, self.child.ended())
                        .await
                        .ok()
                        .and_then(|ending| ending.exit);
                    self.fault.set(ended(exit.map(|exit| exit.to_string()), &self.child.stderr_tail()));
                    return None;
                }
                Ok(read) => self.held.extend_from_slice(&self.chunk[..read]),
                Err(error) => {
                    self.fault.set(format!("it cannot be read: {error}"));
                    return None;
                }
            }
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        let child = Arc::clone(&self.child);
        child.stop(STEPS).await;
        Ok(())
    }
}

/// How a program ended, with the last line of its stderr.
pub(super) fn ended(exit: Option<String>, stderr: &[u8]) -> String {
    let exit = exit.map_or_else(|| "it closed its output".to_owned(), |exit| format!("it {exit}"));
    match last_line(stderr) {
        Some(line) => format!("{exit} ({line})"),
        None => exit,
    }
}

/// The last line with something in it, cut after 200 characters.
fn last_line(stderr: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(stderr);
    let line = text.lines().map(str::trim).rfind(|line| !line.is_empty())?;
    let clean = |letter: char| if letter.is_control() { ' ' } else { letter };
    Some(line.chars().take(200).map(clean).collect())
}

/// A message of a server's. What is no JSON (banners of programs that believe to speak to a person) is none; an answer that is not as it
/// should be is an error for whoever waits for it.
pub(super) fn message(line: &[u8]) -> Option<ServerJsonRpcMessage> {
    let line = line.trim_ascii();
    if line.first() != Some(&b'{') {
        return None;
    }
    match serde_json::from_slice(line) {
        Ok(message) => Some(message),
        // What is nested too deeply for a value still has an id.
        Err(error) => unanswerable(&serde_json::from_slice(line).ok()?, &error.to_string()),
    }
}

/// What of a message says whose it is.
#[derive(Debug, serde::Deserialize)]
pub(super) struct Shallow {
    id: Option<Value>,
    method: Option<serde::de::IgnoredAny>,
}

/// What an answer becomes that cannot be understood.
pub(super) fn unanswerable(message: &Shallow, why: &str) -> Option<ServerJsonRpcMessage> {
    if message.method.is_some() {
        return None;
    }
    let id = match message.id.as_ref()? {
        Value::Number(id) => NumberOrString::Number(id.as_i64()?),
        Value::String(id) => NumberOrString::String(id.as_str().into()),
        _ => return None,
    };
    let why = format!("the answer is not JSON-RPC: {why}");
    Some(ServerJsonRpcMessage::error(ErrorData::internal_error(why, None), Some(id)))
}

/// Measures what a server says without being asked.
#[derive(Debug, Default)]
pub(super) struct Flood {
    since: Option<Instant>,
    messages: u32,
    bytes: usize,
}

impl Flood {
    /// Counts a message, and whether that is too much.
    pub(super) fn rises(&mut self, bytes: usize, now: Instant) -> bool {
        if self.since.is_none_or(|since| now.duration_since(since) > WINDOW) {
            *self = Self {
                since: Some(now),
                ..Self::default()
            };
        }
        self.messages += 1;
        self.bytes += bytes;
        self.messages > MOST_MESSAGES || self.bytes > MOST_BYTES
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_that_cannot_be_understood_are_errors_for_whoever_waits() {
        assert!(message(b"Server running on stdio").is_none());
        assert!(message(b"{\"nothing\":1}").is_none());
        assert!(matches!(
            message(br#"{"jsonrpc":"2.0","id":1,"result":{}}"#),
            Some(JsonRpcMessage::Response(_))
        ));
        for broken in [
            &br#"{"jsonrpc":"2.0","id":1,"error":"no"}"#[..],
            br#"{"jsonrpc":"2.0","id":"a","result":{},"error":{"code":1,"message":"x"}}"#,
            br#"{"id":7,"result":{}}"#,
            format!(
                "{{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{{\"content\":{}{}}}}}",
                "[".repeat(100_000),
                "]".repeat(100_000)
            )
            .as_bytes(),
        ] {
            assert!(
                matches!(message(broken), Some(JsonRpcMessage::Error(_) | JsonRpcMessage::Response(_))),
                "{}",
                String::from_utf8_lossy(broken)
            );
        }
    }

    #[test]
    fn a_flood_is_a_flood_within_its_time() {
        let (mut flood, now) = (Flood::default(), Instant::now());
        assert!((0..MOST_MESSAGES).all(|_| !flood.rises(10, now)));
        assert!(flood.rises(10, now));
        assert!(!flood.rises(10, now + WINDOW * 2));
        assert!(flood.rises(MOST_BYTES, now + WINDOW * 2));
    }

    #[test]
    fn ends_are_told_with_the_last_line_of_stderr() {
        assert_eq!(
            ended(Some("ended with exit code 3".to_owned()), b"a\nb \x1b[0m\n\n"),
            "it ended with exit code 3 (b  [0m)"
        );
        assert_eq!(ended(None, b""), "it closed its output");
    }
}
