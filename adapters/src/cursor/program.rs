//! The command line of Cursor's `cursor-agent`, also named `agent`: one process is one turn, the prompt is what is left of the
//! command line, or stdin.
//! How `cursor-agent` behaves towards its host: docs/cursor.md. It reads a prompt and nothing else.

use crate::codec::Dialect;
use crate::codec::Mode;
use crate::conduct::Conduct;
use crate::launch::{ArgError, Errand, Flag, Grammar, Launch, PermissionMode, Program, PromptBy, Resume, Sub, SubCommand, Traits, flags, wants_json};

pub(crate) static PROGRAM: Program = Program {
    dialect: Dialect::Cursor,
    name: "cursor-agent",
    product: "Cursor",
    version: super::VERSION,
    grammar: Grammar::Commander,
    flags: FLAGS,
    commands: COMMANDS,
    closed: true,
    check,
    // Without --trust it refuses to start in a directory that it has not seen.
    child: &["--print", "--output-format=stream-json", "--trust"],
    prompt: PromptBy::Stdin,
    permission: PermissionMode::Ask,
    no_prompt: || ArgError::line("Error: No prompt provided for print mode", 1),
    no_session: |id| ArgError::line(format!("Error: Session {id} not found"), 1),
    no_key: None,
    links: &["cursor-agent", "agent"],
    claims: None,
    backend: &["cursor", "cursor-agent"],
    file: "cursor-agent",
    environment: &["CURSOR_*"],
    log_in: "set CURSOR_API_KEY, or log in with `cursor-agent login` once",
    api: "openai",
    patience: None,
    traits: Traits::NONE,
    conduct: &CursorAgent,
};

const FLAGS: &[Flag] = &flags! {
    "-v", "--version": Switch => Version, "the version";
    "--api-key": Value("<key>") => Private, "the key; CURSOR_API_KEY does the same";
    "-H", "--header": Value("<header>") => Private, "a header for every request";
    "-e", "--endpoint": Value("<url>") => Private, "the server; CURSOR_API_ENDPOINT does the same";
    "-p", "--print": Switch => Print, "answer and end";
    "--output-format": OneOf("<format>", &["text", "json", "stream-json"], &[]) => Output, "what stdout carries";
    "--stream-partial-output": Switch => Partial, "deltas beside the snapshots";
    "--mode": OneOf("<mode>", &["plan", "ask"], &["agent"]) => Permission, "plan, or only answer questions; neither changes anything";
    "--plan": Switch => PermissionIs(PermissionMode::Plan), "--mode plan";
    "--resume": Maybe("[chatId]") => Resume, "go on in the session of this id";
    "--continue": Switch => Latest, "go on in the latest session";
    "--model": Value("<model>") => Model, "the model";
    "--list-models": Switch => Models, "the models, as the command models";
    "-f", "--force": Switch => PermissionIs(PermissionMode::Bypass), "everything runs that is not forbidden";
    "--yolo": Switch => PermissionIs(PermissionMode::Bypass), "--force";
    "--auto-review": Switch => PermissionIs(PermissionMode::Auto), "a model judges what may run";
    "--sandbox": OneOf("<mode>", &["enabled", "disabled"], &[]) => Rest, "run commands in a sandbox";
    "--approve-mcps": Switch => Rest, "all MCP servers may run";
    "--trust": Switch => Rest, "trust the directory without a question";
    "--workspace": Value("<path>") => Cwd, "the working directory";
    "--add-dir": Value("<path>") => AddDir, "one more directory that tools may use";
    "--plugin-dir": Value("<path>") => Rest, "a plugin";
    "-w", "--worktree": Maybe("[name]") => Rest, "work in a git worktree of its own";
    "--worktree-base": Value("<ref>") => Rest, "what the worktree begins with";
    "--skip-worktree-setup": Switch => Rest, "no set-up commands in the worktree";
    "-h", "--help": Switch => Help, "this help";
    "-b", "--background": Switch => Private, "start in the background (older versions)", read_only;
    "-c", "--cloud": Switch => Private, "a session in the cloud", read_only;
    "-n", "--name": Value("<name>") => Rest, "a name for the session", read_only;
    "--fullscreen": Switch => Private, "use the whole terminal (older versions)", read_only;
    "--new-session-id": Value("<uuid>") => SessionId, "the id that the new session is to have (not documented)", read_only;
    "--system-prompt": Value("<prompt>") => System, "the system prompt (not documented)", read_only;
    "--conversation-history-file": Value("<path>") => Rest, "what was said before (not documented)", read_only;
    "--show-thinking": Switch => Rest, "show thoughts (not documented)", read_only;
    "--allowed-tools": Value("<tools>") => Allowed, "tools that run without a question (not documented)", read_only;
    "--exclude-tools": Value("<tools>") => Disallowed, "tools that are refused (not documented)", read_only;
    "--disable-project-configs": Switch => Rest, "no settings of the project (not documented)", read_only;
    "--browser": Switch => Rest, "use a browser (not documented)", read_only;
};

const COMMANDS: &[SubCommand] = &[
    SubCommand {
        names: &["agent"],
        is: Sub::Agent,
        about: "the agent; flags may stand before this word and after it",
    },
    SubCommand {
        names: &["resume"],
        is: Sub::Latest,
        about: "the agent in its latest session",
    },
    SubCommand::errand(
        &["status", "whoami"],
        |words| {
            Ok(Errand::Status {
                json: wants_json(&words[1..])?,
            })
        },
        "who is signed in",
    ),
    SubCommand::errand(&["models"], |_| Ok(Errand::Models), "the models"),
    SubCommand::errand(&["create-chat"], create_chat, "make a session and print its id"),
    SubCommand::errand(
        &["about"],
        |words| {
            Ok(Errand::About {
                json: wants_json(&words[1..])?,
            })
        },
        "version and account",
    ),
    SubCommand::errand(&["login"], |_| Ok(Errand::Login), "sign in"),
    SubCommand::errand(&["logout"], |_| Ok(Errand::Logout), "sign out"),
    SubCommand::errand(&["ls"], |_| Ok(Errand::Sessions), "the sessions"),
    SubCommand::errand(&["mcp"], |words| Ok(Errand::Mcp(words[1..].to_vec())), "MCP servers"),
    SubCommand::errand(&["update"], |_| Ok(Errand::Update), "fetch a newer version"),
    SubCommand::other(&["acp"], "be an ACP server"),
];

fn create_chat(words: &[String]) -> Result<Errand, ArgError> {
    let mut cwd = None;
    let mut words = words[1..].iter();
    while let Some(word) = words.next() {
        if word == "--workspace" {
            cwd = words.next().cloned();
        } else if let Some(path) = word.strip_prefix("--workspace=") {
            cwd = Some(path.to_owned());
        } else if word.starts_with('-') {
            return Err(ArgError::line(format!("error: unknown option '{word}'"), 1));
        }
    }
    Ok(Errand::CreateChat { cwd })
}

/// `--resume` without an id is the latest session.
fn check(launch: &mut Launch, _: &dyn Fn(&str) -> bool) -> Result<(), ArgError> {
    if launch.resume == Resume::Pick {
        launch.resume = Resume::Latest;
    }
    Ok(())
}

/// The program itself.
#[derive(Clone, Copy, Debug)]
struct CursorAgent;

impl Conduct for CursorAgent {
    fn version(&self) -> &'static str {
        super::VERSION
    }

    /// A failed turn has no line at all; the exit code says it.
    fn tells_failures(&self, _mode: Mode) -> bool {
        false
    }

    fn echoes(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests;
