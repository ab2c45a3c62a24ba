//! Reading and writing: files, pipes and compressed logs in, files, folders and stdout out, messages to stderr.

mod console;
mod folder;
mod gzip;
mod interrupt;
mod joined;
pub mod journal;
mod range;
mod read_ahead;
mod source;
mod subagents;
mod tables;
mod target;

pub(crate) use console::clean;
pub use console::{Console, HeldLog, Log, message, one_line, shell_word, visible};
pub use folder::Walk;
pub use joined::Joined;
pub use range::{Range, Shared};
pub use read_ahead::{Piece, Pieces};
pub use source::{Input, Memory, Record, Source, other_side};
#[cfg(feature = "view")]
pub(crate) use subagents::of_log;
pub(crate) use subagents::{Family, Step, Subagent, beside, leave_to_their_sessions};
pub use tables::Columnar;
pub(crate) use tables::NO_TABLES;
pub use target::{Output, Target, no_link, no_link_below};

/// How much is read at once.
pub const READ: usize = 256 << 10;
