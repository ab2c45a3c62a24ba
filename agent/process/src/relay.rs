use std::io::Write;
use std::sync::mpsc::{SyncSender, TrySendError, sync_channel};
use std::time::Duration;

use tokio::sync::oneshot;

/// How many pieces may wait for our stderr. A piece is one read of the child's.
const WAITING: usize = 64;

/// Passes bytes on to our stderr without ever waiting for whoever reads it: hosts are known that never do.
#[derive(Debug)]
pub(super) struct Relay {
    pieces: SyncSender<Vec<u8>>,
    left_out: u64,
    written: oneshot::Receiver<()>,
}

/// How long the last words of a child may take to be written when it is over.
const LAST_WORDS: Duration = Duration::from_millis(200);

impl Relay {
    pub(super) fn start() -> std::io::Result<Self> {
        let (pieces, waiting) = sync_channel::<Vec<u8>>(WAITING);
        let (done, written) = oneshot::channel();
        let write = move || {
            // Dropped when all is written.
            let _done: oneshot::Sender<()> = done;
            let mut stderr = std::io::stderr();
            for piece in waiting {
                if stderr.write_all(&piece).is_err() {
                    return;
                }
            }
        };
        std::thread::Builder::new().name("stderr".to_owned()).spawn(write)?;
        Ok(Self {
            pieces,
            left_out: 0,
            written,
        })
    }

    pub(super) fn pass(&mut self, bytes: &[u8]) {
        let mut piece = Vec::with_capacity(bytes.len());
        if self.left_out > 0 {
            piece.extend_from_slice(format!("\n[{} bytes of stderr left out]\n", self.left_out).as_bytes());
        }
        piece.extend_from_slice(bytes);
        match self.pieces.try_send(piece) {
            Ok(()) => self.left_out = 0,
            Err(TrySendError::Full(_) | TrySendError::Disconnected(_)) => self.left_out += bytes.len() as u64,
        }
    }

    /// Waits until all is written, as far as somebody reads it.
    pub(super) async fn finish(self) {
        drop(self.pieces);
        let _ = tokio::time::timeout(LAST_WORDS, self.written).await;
    }
}
