//! The command line of Cursor's `cursor-agent`, also named `agent`: one process is one turn, the prompt is what is left of the
//! command line, or stdin.
//! How `cursor-agent` behaves towards its host: docs/cursor.md. It reads a prompt and nothing else.

use crate::codec::Dialect;
use crate::codec::Mode;
use crate::conduct::{Answer, Conduct, Damage, Ended, Facts, Misread};
use crate::event::{Fields, Request};
use crate::launch::{
    ArgError, Errand, Flag, Grammar, Launch, Means, PermissionMode, Program, PromptBy, Resume, Shape, Sub, SubCommand, Traits, wants_json,
};

pub(crate) static PROGRAM: Program = Program {
    dialect: Dialect::Cursor,
    name: "cursor-agent",
    product: "Cursor",
    version: "2026.09.10-fd3934a",
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

const FLAGS: &[Flag] = &[
    Flag::new(&["-v", "--version"], Shape::Switch, Means::Version, "the version"),
    Flag::new(
        &["--api-key"],
        Shape::Value("<key>"),
        Means::Private,
        "the key; CURSOR_API_KEY does the same",
    ),
    Flag::new(
        &["-H", "--header"],
        Shape::Value("<header>"),
        Means::Private,
        "a header for every request",
    ),
    Flag::new(
        &["-e", "--endpoint"],
        Shape::Value("<url>"),
        Means::Private,
        "the server; CURSOR_API_ENDPOINT does the same",
    ),
    Flag::new(&["-p", "--print"], Shape::Switch, Means::Print, "answer and end"),
    Flag::new(
        &["--output-format"],
        Shape::OneOf("<format>", &["text", "json", "stream-json"], &[]),
        Means::Output,
        "what stdout carries",
    ),
    Flag::new(&["--stream-partial-output"], Shape::Switch, Means::Partial, "deltas beside the snapshots"),
    Flag::new(
        &["--mode"],
        Shape::OneOf("<mode>", &["plan", "ask"], &["agent"]),
        Means::Permission,
        "plan, or only answer questions; neither changes anything",
    ),
    Flag::new(&["--plan"], Shape::Switch, Means::PermissionIs(PermissionMode::Plan), "--mode plan"),
    Flag::new(&["--resume"], Shape::Maybe("[chatId]"), Means::Resume, "go on in the session of this id"),
    Flag::new(&["--continue"], Shape::Switch, Means::Latest, "go on in the latest session"),
    Flag::new(&["--model"], Shape::Value("<model>"), Means::Model, "the model"),
    Flag::new(&["--list-models"], Shape::Switch, Means::Models, "the models, as the command models"),
    Flag::new(
        &["-f", "--force"],
        Shape::Switch,
        Means::PermissionIs(PermissionMode::Bypass),
        "everything runs that is not forbidden",
    ),
    Flag::new(&["--yolo"], Shape::Switch, Means::PermissionIs(PermissionMode::Bypass), "--force"),
    Flag::new(
        &["--auto-review"],
        Shape::Switch,
        Means::PermissionIs(PermissionMode::Auto),
        "a model judges what may run",
    ),
    Flag::new(
        &["--sandbox"],
        Shape::OneOf("<mode>", &["enabled", "disabled"], &[]),
        Means::Rest,
        "run commands in a sandbox",
    ),
    Flag::new(&["--approve-mcps"], Shape::Switch, Means::Rest, "all MCP servers may run"),
    Flag::new(&["--trust"], Shape::Switch, Means::Rest, "trust the directory without a question"),
    Flag::new(&["--workspace"], Shape::Value("<path>"), Means::Cwd, "the working directory"),
    Flag::new(
        &["--add-dir"],
        Shape::Value("<path>"),
        Means::AddDir,
        "one more directory that tools may use",
    ),
    Flag::new(&["--plugin-dir"], Shape::Value("<path>"), Means::Rest, "a plugin"),
    Flag::new(
        &["-w", "--worktree"],
        Shape::Maybe("[name]"),
        Means::Rest,
        "work in a git worktree of its own",
    ),
    Flag::new(&["--worktree-base"], Shape::Value("<ref>"), Means::Rest, "what the worktree begins with"),
    Flag::new(
        &["--skip-worktree-setup"],
        Shape::Switch,
        Means::Rest,
        "no set-up commands in the worktree",
    ),
    Flag::new(&["-h", "--help"], Shape::Switch, Means::Help, "this help"),
    Flag::new(
        &["-b", "--background"],
        Shape::Switch,
        Means::Private,
        "start in the background (older versions)",
    )
    .read_only(),
    Flag::new(&["-c", "--cloud"], Shape::Switch, Means::Private, "a session in the cloud").read_only(),
    Flag::new(&["-n", "--name"], Shape::Value("<name>"), Means::Rest, "a name for the session").read_only(),
    Flag::new(
        &["--fullscreen"],
        Shape::Switch,
        Means::Private,
        "use the whole terminal (older versions)",
    )
    .read_only(),
    Flag::new(
        &["--new-session-id"],
        Shape::Value("<uuid>"),
        Means::SessionId,
        "the id that the new session is to have (not documented)",
    )
    .read_only(),
    Flag::new(
        &["--system-prompt"],
        Shape::Value("<prompt>"),
        Means::System,
        "the system prompt (not documented)",
    )
    .read_only(),
    Flag::new(
        &["--conversation-history-file"],
        Shape::Value("<path>"),
        Means::Rest,
        "what was said before (not documented)",
    )
    .read_only(),
    Flag::new(&["--show-thinking"], Shape::Switch, Means::Rest, "show thoughts (not documented)").read_only(),
    Flag::new(
        &["--allowed-tools"],
        Shape::Value("<tools>"),
        Means::Allowed,
        "tools that run without a question (not documented)",
    )
    .read_only(),
    Flag::new(
        &["--exclude-tools"],
        Shape::Value("<tools>"),
        Means::Disallowed,
        "tools that are refused (not documented)",
    )
    .read_only(),
    Flag::new(
        &["--disable-project-configs"],
        Shape::Switch,
        Means::Rest,
        "no settings of the project (not documented)",
    )
    .read_only(),
    Flag::new(&["--browser"], Shape::Switch, Means::Rest, "use a browser (not documented)").read_only(),
];

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
    errand(
        &["status", "whoami"],
        |words| {
            Ok(Errand::Status {
                json: wants_json(&words[1..])?,
            })
        },
        "who is signed in",
    ),
    errand(&["models"], |_| Ok(Errand::Models), "the models"),
    errand(&["create-chat"], create_chat, "make a session and print its id"),
    errand(
        &["about"],
        |words| {
            Ok(Errand::About {
                json: wants_json(&words[1..])?,
            })
        },
        "version and account",
    ),
    errand(&["login"], |_| Ok(Errand::Login), "sign in"),
    errand(&["logout"], |_| Ok(Errand::Logout), "sign out"),
    errand(&["ls"], |_| Ok(Errand::Sessions), "the sessions"),
    errand(&["mcp"], |words| Ok(Errand::Mcp(words[1..].to_vec())), "MCP servers"),
    errand(&["update"], |_| Ok(Errand::Update), "fetch a newer version"),
    errand(&["acp"], |words| Ok(Errand::Other(words.to_vec())), "be an ACP server"),
];

const fn errand(names: &'static [&'static str], read: fn(&[String]) -> Result<Errand, ArgError>, about: &'static str) -> SubCommand {
    SubCommand {
        names,
        is: Sub::Errand(read),
        about,
    }
}

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
        "2026.09.10-fd3934a"
    }

    fn answer(&self, request: &Request<'_>, _fields: Fields<'_>, _facts: &Facts) -> Answer {
        Answer::Refused(format!("no control channel: {}", request.subtype.unescape()), None)
    }

    fn damaged(&self, _line: &Misread<'_>) -> Damage {
        Damage::Ignored
    }

    /// A run that fails has no result line; the code says it.
    fn exit_code(&self, ended: Ended) -> u8 {
        u8::from(ended.is_error || ended.outcome.is_none())
    }

    /// A failed turn has no line at all.
    fn tells_failures(&self, _mode: Mode) -> bool {
        false
    }

    fn echoes(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests;
