//! What a host sees of a tool while it runs: the RFC's displays and terminal output. The other dialects have no lines for it.

use std::cell::RefCell;
use std::collections::HashMap;

use serde_json::{Value, json};

use super::chat::Call;
use super::core::{Core, Thread};
use super::terminal::{Apart, Shown};
use super::tool::{Access, Progress, Tool};
use super::voice::body;
use crate::adapters::codec::Dialect;
use crate::adapters::event::{Kind, Terminal};
use crate::adapters::json::{Raw, Str};

/// The output of the calls that run: standard output and standard error, each taken apart by itself.
pub(super) type Screens = RefCell<HashMap<String, [Apart; 2]>>;

/// A call was made, and is looked at.
pub(super) fn pending(core: &Core, thread: &Thread, call: &Call) {
    if core.dialect == Dialect::Qwen {
        core.voice.progress(&call.id, "pending", None, None, thread.speaks.as_ref());
    }
}

/// The host is asked whether it may run.
pub(super) fn confirms(core: &Core, thread: &Thread, tool: &dyn Tool, call: &Call, input: &Value) {
    if core.dialect != Dialect::Qwen {
        return;
    }
    let confirmation = match tool.access(input) {
        Access::Run(command) => json!({"type": "exec", "command": command, "root_command": command.split_whitespace().next()}),
        Access::Write(paths) => json!({"type": "edit", "file_name": paths.first(), "arguments": input}),
        Access::Mcp => json!({"type": "mcp", "tool_name": call.name, "arguments": input}),
        Access::Fetch(url) => json!({"type": "info", "prompt": url, "urls": [url]}),
        Access::Nothing | Access::Read(_) => json!({"type": "info", "prompt": call.name, "arguments": input}),
    };
    core.voice
        .progress(&call.id, "confirming", None, Some(&confirmation), thread.speaks.as_ref());
}

/// A call runs.
pub(super) fn begins(core: &Core, thread: &Thread, call: &Call) {
    if core.dialect == Dialect::Qwen {
        core.voice.progress(&call.id, "executing", None, None, thread.speaks.as_ref());
    }
}

/// It prints something.
pub(super) fn printed(core: &Core, thread: &Thread, call: &Call, progress: Progress<'_>) {
    if core.dialect != Dialect::Qwen {
        return;
    }
    let (which, bytes) = match progress {
        Progress::Stdout(bytes) => (0, bytes),
        Progress::Stderr(bytes) => (1, bytes),
    };
    let shown = core.screens.borrow_mut().entry(call.id.clone()).or_default()[which].feed(bytes);
    show(core, thread, which, &shown);
}

/// It prints nothing more.
pub(super) fn ends(core: &Core, thread: &Thread, call: &Call) {
    let Some(mut screens) = core.screens.borrow_mut().remove(&call.id) else {
        return;
    };
    for (which, apart) in screens.iter_mut().enumerate() {
        show(core, thread, which, &apart.finish());
    }
}

fn show(core: &Core, thread: &Thread, which: usize, shown: &Shown) {
    if shown.is_empty() {
        return;
    }
    let text = body(&shown.text);
    let (spans, ansi) = (json!(shown.spans).to_string(), json!(shown.ansi).to_string());
    let terminal = Terminal {
        text: Some(Str::trusted(&text)),
        channel: Some(Str::trusted(["stdout", "stderr"][which])),
        source: Some(Str::trusted("tool")),
        spans: Some(Raw::trusted(&spans)),
        ansi: Some(Raw::trusted(&ansi)),
        ..Terminal::default()
    };
    core.voice.say(Kind::Terminal(&terminal), thread.speaks.as_ref(), None);
}
