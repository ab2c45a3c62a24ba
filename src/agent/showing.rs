//! What a host sees of a tool while it runs.

use serde_json::Value;

use super::chat::Call;
use super::core::{Core, Thread};
use super::tool::{Progress, Tool};

/// A call is about to run.
pub fn begins(core: &Core, thread: &Thread, tool: &dyn Tool, call: &Call, input: &Value) {
    let _ = (core, thread, tool, call, input);
}

/// It prints something.
pub fn printed(core: &Core, thread: &Thread, call: &Call, progress: Progress<'_>) {
    let _ = (core, thread, call, progress);
}
