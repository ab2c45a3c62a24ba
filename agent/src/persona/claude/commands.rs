//! Claude Code's commands, as far as its SDKs can send them. Others go to the model as text.

use serde_json::{Value, json};

use crate::ids::line_id;
use crate::persona::commands::{Clears, Command, Commands, Compressing, Does, Reads, Stats};

pub(super) static COMMANDS: Commands = Commands {
    reads: Reads::Prompts,
    all: &[
        command("clear", &["reset", "new"], "Clear the conversation history", Does::Clear),
        command("compact", &[], "Compresses the context by replacing it with a summary.", Does::Compress),
        command("context", &[], "Show how full the context is", Does::Context),
        command("model", &[], "Show the model, or choose another one", Does::Model),
        command("usage", &["stats"], "Check session stats.", Does::Stats),
        command("cost", &[], "Check session stats.", Does::Stats),
    ],
    dialogs: DIALOGS,
    no_screen: Some(|name| format!("/{name} isn't available in this environment.")),
    clears: Clears::Session(reset),
    compressing: Some(Compressing { status, done: compacted }),
    model: Some("<synthetic>"),
    model_told,
    stats,
    // The user of the program may name any file; its hosts say of other people's text that it is to be taken as it stands.
    reads_any_file: true,
    // Its hosts send no requests that could be refused so.
    codes: |_| "refused",
    ignores: &[],
};

/// What the program says so of, in this mode.
const DIALOGS: &[&str] = &[
    "add-dir",
    "bug",
    "copy",
    "diff",
    "exit",
    "export",
    "extra-usage",
    "feedback",
    "help",
    "hooks",
    "ide",
    "login",
    "logout",
    "memory",
    "permissions",
    "plan",
    "plugin",
    "privacy-settings",
    "quit",
    "release-notes",
    "resume",
    "rewind",
    "skills",
    "status",
    "statusline",
    "tasks",
    "terminal-setup",
    "theme",
    "upgrade",
    "vim",
];

const fn command(name: &'static str, aliases: &'static [&'static str], description: &'static str, does: Does) -> Command {
    Command {
        name,
        aliases,
        description,
        subs: &[],
        does,
        is_listed: true,
    }
}

/// The session goes on under another id: what says so has the old one.
fn reset(session: &str, new: &str, message: &str) -> Value {
    json!({
        "type": "conversation_reset", "new_conversation_id": new, "trigger": "clear", "user_message_uuid": message,
        "uuid": line_id(), "session_id": session,
    })
}

fn status(session: &str, status: Option<&str>, result: Option<&str>) -> Value {
    let mut line = json!({"type": "system", "subtype": "status", "status": status});
    if let Some(result) = result {
        line["compact_result"] = json!(result);
    }
    line["session_id"] = json!(session);
    line["uuid"] = json!(line_id());
    line
}

fn compacted(session: &str) -> Value {
    json!({
        "type": "user", "message": {"role": "user", "content": "<local-command-stdout>Compacted </local-command-stdout>"},
        "session_id": session, "parent_tool_use_id": null, "uuid": line_id(), "isReplay": true,
    })
}

fn model_told(model: &str, is_new: bool) -> String {
    if is_new {
        format!("Set model to `{model}` for this session only")
    } else {
        format!("Current model: `{model}`\nUsage: /model <name>.")
    }
}

fn stats(stats: &Stats) -> String {
    format!(
        "Estimated cost:        ${:.4}\nTotal input tokens:    {}\nTotal output tokens:   {}\nAPI requests:          {}",
        stats.cost, stats.read, stats.written, stats.requests
    )
}
