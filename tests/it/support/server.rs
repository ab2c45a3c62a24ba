//! An HTTP server that does what a test says: it cuts, waits, splits, lies. One connection is one answer.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// What it does with a connection, in order; then it closes it.
#[derive(Clone, Debug)]
pub(crate) enum Do {
    /// Sends bytes.
    Send(Vec<u8>),
    /// Sends bytes one by one.
    Drip(Vec<u8>),
    /// Waits.
    Wait(Duration),
    /// Breaks the connection off.
    Reset,
}

/// A request that came.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    /// Its first line and its headers, in small letters.
    pub head: String,
    /// Its body.
    pub body: Value,
    /// Whether the client left before the answer was over.
    pub left: bool,
}

pub(crate) struct Server {
    pub(crate) port: u16,
    seen: Arc<Mutex<Vec<Seen>>>,
}

impl Server {
    /// Answers the n-th connection with the n-th script; the last one answers all that follow.
    pub(crate) async fn new(scripts: Vec<Vec<Do>>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let seen: Arc<Mutex<Vec<Seen>>> = Arc::default();
        let all = seen.clone();
        tokio::spawn(async move {
            let mut n = 0;
            while let Ok((stream, _)) = listener.accept().await {
                let script = scripts[n.min(scripts.len() - 1)].clone();
                n += 1;
                tokio::spawn(answer(stream, script, all.clone()));
            }
        });
        Self { port, seen }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    pub(crate) fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }
}

async fn answer(mut stream: TcpStream, script: Vec<Do>, seen: Arc<Mutex<Vec<Seen>>>) {
    let Some((head, body)) = request(&mut stream).await else { return };
    let at = {
        let mut seen = seen.lock().unwrap();
        seen.push(Seen { head, body, left: false });
        seen.len() - 1
    };
    for step in script {
        let sent = match step {
            Do::Send(bytes) => stream.write_all(&bytes).await,
            Do::Drip(bytes) => {
                let mut sent = Ok(());
                for byte in bytes {
                    sent = stream.write_all(&[byte]).await;
                    tokio::task::yield_now().await;
                    if sent.is_err() {
                        break;
                    }
                }
                sent
            }
            Do::Wait(time) => {
                let mut byte = [0];
                tokio::select! {
                    () = tokio::time::sleep(time) => Ok(()),
                    _ = stream.read(&mut byte) => Err(std::io::ErrorKind::BrokenPipe.into()),
                }
            }
            Do::Reset => {
                let _ = stream.set_zero_linger();
                return;
            }
        };
        if sent.is_err() {
            seen.lock().unwrap()[at].left = true;
            return;
        }
    }
    let _ = stream.shutdown().await;
}

async fn request(stream: &mut TcpStream) -> Option<(String, Value)> {
    let mut bytes = Vec::new();
    loop {
        let mut part = [0; 4096];
        let n = stream.read(&mut part).await.ok().filter(|n| *n > 0)?;
        bytes.extend_from_slice(&part[..n]);
        let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") else {
            continue;
        };
        let head = String::from_utf8_lossy(&bytes[..end]).to_lowercase();
        let length = head
            .lines()
            .find_map(|line| line.strip_prefix("content-length: "))?
            .trim()
            .parse::<usize>()
            .ok()?;
        if bytes.len() < end + 4 + length {
            continue;
        }
        return Some((head, serde_json::from_slice(&bytes[end + 4..]).ok()?));
    }
}

/// An answer's head: it goes on until the connection closes.
pub(crate) fn head(status: &str, kind: &str, more: &str) -> Vec<u8> {
    format!("HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nConnection: close\r\n{more}\r\n").into_bytes()
}

/// A stream of these payloads.
pub(crate) fn stream(payloads: &[&str]) -> Vec<u8> {
    let mut bytes = head("200 OK", "text/event-stream", "");
    for payload in payloads {
        bytes.extend_from_slice(format!("data: {payload}\n\n").as_bytes());
    }
    bytes
}

/// A whole answer.
pub(crate) fn whole(status: &str, kind: &str, more: &str, body: &str) -> Vec<Do> {
    let mut bytes = head(status, kind, more);
    bytes.extend_from_slice(body.as_bytes());
    vec![Do::Send(bytes)]
}
