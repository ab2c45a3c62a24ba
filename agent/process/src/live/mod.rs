//! Our own stdin and stdout as async byte streams, for sessions.
//!
//! Each kind of file is served the way the system serves it best; `tokio::io::stdin` and `stdout` would send every byte through another
//! thread. Pipes and terminals are opened anew (Linux) so that `O_NONBLOCK` is on a description that is ours alone: the flag
//! belongs to the open file, and setting it on the shared one breaks other programs on the same terminal, even after we
//! were killed. Where that is not possible the flag is set, and taken away again when the stream is dropped. Sockets need no
//! flag at all. What cannot be waited for (plain files, devices) is read and written by a thread.
//!
//! A tokio runtime with IO and time enabled is needed. Every async method may be dropped at any await and called again; nothing is lost.

mod end;
mod input;
mod output;

pub use input::Input;
pub use output::{Flow, Output};
