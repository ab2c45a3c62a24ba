//! Keeps what a session says, as logs that `convert` and `replay` read.
//!
//! A thread of its own redacts and writes, so that no disk holds a session up: what waits for it is bounded, and a disk that is
//! full or too slow ends the record with one warning, never the session.

use std::collections::VecDeque;
use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use crate::agent::redact::{Pieces, Redactor, Secrets, arguments};
use chrono::{DateTime, SecondsFormat, Utc};
use serde_json::{Value, json};

use crate::io::Console;
use crate::system::no_folder;

/// Who speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Who {
    /// The host, to us: `NAME.in.jsonl`.
    Host,
    /// We, to the host: `NAME.out.jsonl`.
    Us,
    /// The back end, to us: `NAME.backend.jsonl`.
    Agent,
}

impl Who {
    const ALL: [(Self, &str); 3] = [(Self::Host, "in"), (Self::Us, "out"), (Self::Agent, "backend")];
}

/// What `NAME.meta.json` says besides times, sizes and the end.
#[derive(Clone, Debug, Default)]
pub struct About {
    /// The session.
    pub session: String,
    /// The dialect and format of the host.
    pub host: String,
    /// The dialect of the back end.
    pub backend: String,
    /// The back end as it was chosen.
    pub chosen: String,
    /// The program's own arguments.
    pub argv: Vec<String>,
    /// The folder that was worked in.
    pub cwd: String,
    /// The prompt of a host that does not talk over standard input.
    pub prompt: Option<String>,
    /// What is to be taken out besides the secrets of our environment and command line.
    pub secrets: Vec<String>,
}

/// A record that is being made.
#[derive(Debug)]
pub struct Recorder(Arc<Shared>);

/// How many bytes may wait for the disk.
const WAITING: usize = 8 << 20;

/// How long the session waits for a slow disk, before it goes on without a record.
const PATIENCE: Duration = Duration::from_secs(2);

/// How long the end of the process waits for the disk.
const LAST: Duration = Duration::from_secs(5);

#[derive(Debug)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    waiting: VecDeque<(Who, Vec<u8>)>,
    bytes: usize,
    exit: Option<u8>,
    /// Why nothing more is kept.
    broken: Option<String>,
    over: bool,
}

impl Recorder {
    /// Makes the folder if need be, readable by us alone, and the files in it.
    ///
    /// # Errors
    /// When they cannot be made.
    pub fn start(dir: &Path, about: &About) -> io::Result<Self> {
        DirBuilder::new().recursive(true).mode(0o700).create(dir).map_err(no_folder)?;
        let mut secrets = Secrets::ours().clone();
        let (argv, taken) = arguments(&about.argv);
        secrets.add(about.secrets.iter().cloned());
        let began = SystemTime::now();
        let short: String = about.session.chars().filter(char::is_ascii_alphanumeric).take(8).collect();
        let stem = format!("{}-{short}-{}", stamp(began).replace(['-', ':'], ""), std::process::id());
        let mut writer = Writer {
            secrets,
            began,
            about: About { argv, ..about.clone() },
            taken: taken.len() as u64,
            meta: (dir.join(format!("{stem}.meta.json")), None),
            streams: Vec::new(),
        };
        for (who, ending) in Who::ALL {
            // A host that does not talk has no log: its prompt is an argument, or all of its input.
            if who != Who::Host || about.prompt.is_none() {
                let path = dir.join(format!("{stem}.{ending}.jsonl"));
                let file = create(&path)?;
                writer.streams.push(Stream {
                    who,
                    path,
                    file,
                    redactor: Redactor::default(),
                    // A host says its texts whole.
                    pieces: (who != Who::Host).then(Pieces::default),
                });
            }
        }
        writer.meta.1 = Some(create(&writer.meta.0)?);
        writer.write_meta(None, false)?;
        let shared = Arc::new(Shared {
            state: Mutex::default(),
            changed: Condvar::new(),
        });
        let theirs = Arc::clone(&shared);
        std::thread::Builder::new().name("record".to_owned()).spawn(move || writer.run(&theirs))?;
        Ok(Self(shared))
    }

    /// Keeps what somebody said.
    pub fn said(&self, who: Who, bytes: &[u8]) {
        if bytes.is_empty() {
            return;
        }
        let full = |state: &mut State| state.broken.is_none() && state.bytes > 0 && state.bytes + bytes.len() > WAITING;
        let state = self.0.lock();
        let waited = self.0.changed.wait_timeout_while(state, PATIENCE, full);
        let (mut state, timeout) = waited.unwrap_or_else(PoisonError::into_inner);
        if timeout.timed_out() {
            give_up(&mut state, "the disk is too slow");
        }
        if state.broken.is_none() {
            state.bytes += bytes.len();
            match state.waiting.back_mut() {
                Some((last, waiting)) if *last == who && waiting.len() < crate::io::READ => waiting.extend_from_slice(bytes),
                _ => state.waiting.push_back((who, bytes.to_vec())),
            }
            self.0.changed.notify_all();
        }
    }

    /// The session is over.
    pub fn finish(self, exit: u8) {
        let mut state = self.0.lock();
        state.exit = Some(exit);
        self.0.changed.notify_all();
        let _ = self.0.changed.wait_timeout_while(state, LAST, |state| !state.over);
    }
}

impl Shared {
    /// Nothing is left half done by a panic in between: whoever comes next may go on.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Keeps nothing more, and says so once.
fn give_up(state: &mut State, why: &str) {
    if state.broken.is_none() {
        Console::plain().say(&format!("the session is no longer recorded: {why}"));
        state.broken = Some(why.to_owned());
    }
    state.waiting.clear();
    state.bytes = 0;
}

#[derive(Debug)]
struct Stream {
    who: Who,
    path: PathBuf,
    file: File,
    redactor: Redactor,
    pieces: Option<Pieces>,
}

impl Stream {
    fn write(&mut self, secrets: &Secrets, mut clean: Vec<u8>, last: bool) -> io::Result<()> {
        if let Some(pieces) = &mut self.pieces {
            let mut out = Vec::with_capacity(clean.len());
            pieces.feed(secrets, &clean, &mut out);
            if last {
                pieces.finish(secrets, &mut out);
            }
            clean = out;
        }
        self.file.write_all(&clean)
    }

    fn redacted(&self) -> u64 {
        self.redactor.count + self.pieces.as_ref().map_or(0, |pieces| pieces.count)
    }
}

/// What the thread owns.
#[derive(Debug)]
struct Writer {
    secrets: Secrets,
    began: SystemTime,
    about: About,
    /// How many secrets its arguments held.
    taken: u64,
    meta: (PathBuf, Option<File>),
    streams: Vec<Stream>,
}

impl Writer {
    fn run(mut self, shared: &Shared) {
        loop {
            let state = shared.lock();
            let waited = shared.changed.wait_while(state, |state| state.waiting.is_empty() && state.exit.is_none());
            let mut state = waited.unwrap_or_else(PoisonError::into_inner);
            let (Some((who, bytes)), _) = (state.waiting.pop_front(), ()) else {
                break;
            };
            drop(state);
            let written = self.write(who, &bytes);
            let mut state = shared.lock();
            state.bytes = state.bytes.saturating_sub(bytes.len());
            if let Err(error) = written {
                give_up(&mut state, &error.to_string());
            }
            drop(state);
            shared.changed.notify_all();
        }
        let (exit, whole) = {
            let state = shared.lock();
            (state.exit, state.broken.is_none())
        };
        let mut ended = Ok(());
        for at in 0..self.streams.len() {
            ended = ended.and(self.end(at));
        }
        let ended = self.write_meta(exit, whole && ended.is_ok()).and(ended);
        let mut state = shared.lock();
        if let Err(error) = ended {
            give_up(&mut state, &error.to_string());
        }
        state.over = true;
        drop(state);
        shared.changed.notify_all();
    }

    fn write(&mut self, who: Who, bytes: &[u8]) -> io::Result<()> {
        let Some(stream) = self.streams.iter_mut().find(|stream| stream.who == who) else {
            return Ok(());
        };
        let mut clean = Vec::with_capacity(bytes.len());
        stream.redactor.feed(&self.secrets, bytes, &mut clean);
        stream.write(&self.secrets, clean, false)
    }

    fn end(&mut self, at: usize) -> io::Result<()> {
        let stream = &mut self.streams[at];
        let mut clean = Vec::new();
        stream.redactor.finish(&self.secrets, &mut clean);
        stream.write(&self.secrets, clean, true)
    }

    fn write_meta(&mut self, exit: Option<u8>, complete: bool) -> io::Result<()> {
        let mut redacted = self.taken + self.streams.iter().map(Stream::redacted).sum::<u64>();
        let mut clean = |text: &str| {
            let (bytes, count) = self.secrets.redact(text.as_bytes());
            redacted += count;
            String::from_utf8_lossy(&bytes).into_owned()
        };
        let about = &self.about;
        let argv: Vec<String> = about.argv.iter().map(|arg| clean(arg)).collect();
        let prompt = about.prompt.as_deref().map(&mut clean);
        let (chosen, cwd) = (clean(&about.chosen), clean(&about.cwd));
        let files: Vec<Value> = self
            .streams
            .iter()
            .map(|stream| {
                // On a full disk less stands there than was to be written.
                let bytes = stream.file.metadata().map_or(0, |about| about.len());
                json!({"file": stream.path.file_name().map(|name| name.to_string_lossy()), "bytes": bytes})
            })
            .collect();
        let meta = json!({
            "agentglot": env!("CARGO_PKG_VERSION"),
            "session_id": about.session,
            "host": about.host,
            "backend": about.backend,
            "backend_chosen": chosen,
            "argv": argv,
            "prompt": prompt,
            "cwd": cwd,
            "began": stamp(self.began),
            "ended": exit.map(|_| stamp(SystemTime::now())),
            "exit_code": exit,
            "complete": complete,
            "redacted": redacted,
            "files": files,
        });
        let Some(file) = &mut self.meta.1 else { return Ok(()) };
        let mut text = serde_json::to_string_pretty(&meta)?;
        text.push('\n');
        // In one piece: whoever looks meanwhile sees the old one or the new one, and the new one is never the shorter.
        std::os::unix::fs::FileExt::write_all_at(file, text.as_bytes(), 0)?;
        file.set_len(text.len() as u64)
    }
}

fn create(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)
}

/// `2026-01-31T12:00:00Z`.
fn stamp(time: SystemTime) -> String {
    DateTime::<Utc>::from(time).to_rfc3339_opts(SecondsFormat::Secs, true)
}

#[cfg(test)]
mod tests {
    use std::time::UNIX_EPOCH;

    use super::*;

    #[test]
    fn times_are_in_utc_and_whole_seconds() {
        let at = |millis| stamp(UNIX_EPOCH + Duration::from_millis(millis));
        assert_eq!(at(0), "1970-01-01T00:00:00Z");
        assert_eq!(at(1_767_225_599_900), "2025-12-31T23:59:59Z");
    }

    #[test]
    fn a_disk_that_takes_nothing_ends_the_record_alone() {
        let mut writer = Writer {
            secrets: Secrets::default(),
            began: UNIX_EPOCH,
            about: About::default(),
            taken: 0,
            meta: (PathBuf::new(), Some(tempfile::tempfile().unwrap())),
            streams: Vec::new(),
        };
        let mut meta = writer.meta.1.as_ref().unwrap().try_clone().unwrap();
        // Every write to it fails as on a full disk.
        let Ok(full) = OpenOptions::new().write(true).open("/dev/full") else {
            return;
        };
        writer.streams.push(Stream {
            who: Who::Us,
            path: PathBuf::from("full"),
            file: full,
            redactor: Redactor::default(),
            pieces: None,
        });
        let shared = Arc::new(Shared {
            state: Mutex::default(),
            changed: Condvar::new(),
        });
        let theirs = Arc::clone(&shared);
        let thread = std::thread::spawn(move || writer.run(&theirs));
        let recorder = Recorder(Arc::clone(&shared));
        for _ in 0..100 {
            recorder.said(Who::Us, b"a line\n");
        }
        recorder.finish(0);
        thread.join().unwrap();
        let state = shared.lock();
        assert!(state.over && state.bytes == 0);
        assert!(state.broken.as_deref().is_some_and(|why| why.contains("No space")), "{:?}", state.broken);
        let mut text = String::new();
        io::Seek::rewind(&mut meta).unwrap();
        io::Read::read_to_string(&mut meta, &mut text).unwrap();
        let told: Value = serde_json::from_str(&text).unwrap();
        assert_eq!((&told["complete"], &told["files"][0]["bytes"]), (&json!(false), &json!(0)), "{told}");
    }
}
