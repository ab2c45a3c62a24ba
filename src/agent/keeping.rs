//! Where the transcript is written.

use super::chat::Message;
use super::core::{Core, Thread};
use super::voice::Done;
use crate::adapters::event::Usage;

/// A reply of the model's, with the ids of its blocks' lines.
pub fn reply(core: &Core, thread: &Thread, message: &Message, ids: &[String], usage: Option<&Usage<'_>>) {
    let _ = (core, thread, message, ids, usage);
}

/// The result of a call.
pub fn result(core: &Core, thread: &Thread, done: &Done<'_>) {
    let _ = (core, thread, done);
}

/// The conversation was made shorter.
pub fn compacted(core: &Core, thread: &Thread, trigger: &str, before: u64, summary: &str) {
    let _ = (core, thread, trigger, before, summary);
}
