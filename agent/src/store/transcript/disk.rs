//! How a transcript reaches the disk: line by line, whole or not at all, and what becomes of one that takes nothing.

use std::fs::File;
use std::io::{self, ErrorKind, Write};
use std::sync::Arc;

use super::Transcript;
use crate::store::facts::{Mirror, Trouble};

/// So many bytes are held for a disk that takes none. Above that nothing more is kept: what was written stays whole.
const HELD: usize = 16 << 20;

/// What is on its way to the disk.
#[derive(Debug)]
pub struct Writing(Arc<File>);

impl Writing {
    /// Waits until it is there, on a thread of its own.
    ///
    /// # Errors
    /// Those of the disk.
    pub async fn done(self) -> io::Result<()> {
        let done = tokio::task::spawn_blocking(move || self.0.sync_data()).await;
        done.unwrap_or_else(|error| Err(io::Error::other(error)))
    }
}

impl Transcript {
    pub(super) fn redacted(&self, line: String) -> String {
        let (clean, count) = self.secrets.redact(line.as_bytes());
        // Secrets are replaced by ASCII, in whole characters or not: what is left may be no UTF-8 only where it was cut.
        if count == 0 {
            line
        } else {
            String::from_utf8_lossy(&clean).into_owned()
        }
    }

    /// Writes a line that has no line end yet.
    pub(super) fn put(&mut self, line: String) {
        self.put_all([line]);
    }

    /// Writes lines at once.
    pub(in crate::store) fn put_all(&mut self, lines: impl IntoIterator<Item = String>) {
        for line in lines {
            let line = self.redacted(line);
            if self.file.is_some() && !self.stopped {
                self.held.extend_from_slice(line.as_bytes());
                self.held.push(b'\n');
            }
            self.mirrored(line);
        }
        self.flush();
    }

    pub(super) fn mirrored(&mut self, line: String) {
        let Some(mirror) = &mut self.mirror else { return };
        let path = self.path.as_deref().map(|path| path.to_string_lossy().into_owned()).unwrap_or_default();
        match mirror.last_mut() {
            Some(last) if last.file_path == path => last.entries.push(line),
            _ => mirror.push(Mirror {
                file_path: path,
                entries: vec![line],
            }),
        }
    }

    /// Hands what is held to the system, in one piece.
    pub(super) fn flush(&mut self) {
        let Some(file) = &self.file else { return };
        if self.held.is_empty() {
            return;
        }
        let before = file.metadata().map_or(0, |about| about.len());
        match (&**file).write_all(&self.held) {
            Ok(()) => {
                self.held.clear();
                (self.dirty, self.fresh) = (true, false);
            }
            Err(error) => {
                // Half a line would be the end of the next one.
                if let Ok(about) = file.metadata()
                    && about.len() > before
                {
                    let _ = file.set_len(before);
                }
                if self.held.len() > HELD {
                    (self.held, self.stopped) = (Vec::new(), true);
                }
                self.fail(&error);
            }
        }
    }

    pub(in crate::store) fn fail(&mut self, error: &io::Error) {
        if !self.told {
            self.told = true;
            self.trouble = Some(Trouble::new(&self.id, error));
        }
    }

    /// What was written so far is to outlive a power cut; once a turn is enough. `None`: there is nothing new. Whoever waits for it says
    /// what came of it to [`Self::synced`].
    pub fn to_sync(&mut self) -> Option<Writing> {
        self.flush();
        let file = std::mem::take(&mut self.dirty).then(|| self.file.clone()).flatten();
        file.map(Writing)
    }

    /// What came of [`Self::to_sync`].
    pub fn synced(&mut self, result: io::Result<()>) {
        match result {
            // Some file systems cannot.
            Err(error) if !matches!(error.kind(), ErrorKind::InvalidInput | ErrorKind::Unsupported) => self.fail(&error),
            _ => {}
        }
    }

    /// The same for those who may wait.
    pub fn sync_now(&mut self) {
        if let Some(Writing(file)) = self.to_sync() {
            self.synced(file.sync_data());
        }
    }

    /// Why the session is no longer kept, if it has just come to that. Told once.
    pub fn take_trouble(&mut self) -> Option<Trouble> {
        self.trouble.take()
    }

    /// What was written since the last time, by files: for a host that asked for `--session-mirror`.
    pub fn take_mirror(&mut self) -> Vec<Mirror> {
        self.mirror.as_mut().map(std::mem::take).unwrap_or_default()
    }
}

impl Drop for Transcript {
    fn drop(&mut self) {
        if !self.fresh {
            return self.flush();
        }
        let (Some(file), Some(home)) = (&self.file, &self.home) else {
            return;
        };
        let name = format!("{}.jsonl", self.id);
        if file.metadata().is_ok_and(|about| about.len() == 0) && home.holds(&name, file) {
            let _ = home.remove(&name);
        }
    }
}
