//! A vendor's commands: which there are, and what they are called.

use serde_json::Value;

/// A vendor's commands.
#[derive(Debug)]
pub struct Commands {
    /// Where they are read from.
    pub reads: Reads,
    /// All that the agent answers itself. Others go to the model as text.
    pub all: &'static [Command],
    /// What only a program with a screen can do.
    pub dialogs: &'static [&'static str],
    /// What is said of such a command where there is no screen, as an answer. Without it that is a failure.
    pub no_screen: Option<fn(&str) -> String>,
    /// What becomes of a session whose user wants to begin anew.
    pub clears: Clears,
    /// What is told of a conversation that is made shorter; else the command says it.
    pub compressing: Option<Compressing>,
    /// Which model is said to have said what a command says; else the one in use.
    pub model: Option<&'static str>,
    /// What is said of the model in use, and of one that was chosen.
    pub model_told: fn(&str, bool) -> String,
    /// What a session has used.
    pub stats: fn(&Stats) -> String,
    /// `@path` may name any file, not only those of the workspace.
    pub reads_any_file: bool,
    /// What a request that is refused is answered with, before the reason.
    pub codes: fn(Fault) -> &'static str,
    /// Files that list what nobody wants to see.
    pub ignores: &'static [&'static str],
}

/// No commands at all.
pub(crate) static NONE: Commands = Commands {
    reads: Reads::Nowhere,
    all: &[],
    dialogs: &[],
    no_screen: None,
    clears: Clears::Conversation(""),
    compressing: None,
    model: None,
    model_told,
    stats: |_| String::new(),
    reads_any_file: false,
    codes: |_| "refused",
    ignores: &[],
};

/// In the words of most vendors.
pub(crate) fn model_told(model: &str, is_new: bool) -> String {
    if is_new {
        format!("The model is {model} from now on.")
    } else {
        format!("Current model: {model}")
    }
}

/// What is wrong with a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// It makes no sense.
    Request,
    /// Arguments of a tool, or the description of one, make no sense.
    ToolArguments,
    /// Its id was used before.
    PromptId,
    /// There is no such session.
    Session,
}

/// Where commands are read from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reads {
    /// There are none: prompts are text.
    Nowhere,
    /// Prompts that begin so; what comes of one is told as a turn without rounds.
    Prompts,
    /// Requests, whose host has a screen: what comes of one is told as a result of its own.
    Requests,
}

/// A command.
#[derive(Clone, Copy, Debug)]
pub struct Command {
    /// Its name.
    pub name: &'static str,
    /// Its other names.
    pub aliases: &'static [&'static str],
    /// What it does, in words.
    pub description: &'static str,
    /// Its sub-commands, and what they do.
    pub subs: &'static [(&'static str, &'static str)],
    /// What it does.
    pub does: Does,
    /// Hosts are told of it.
    pub is_listed: bool,
}

/// What a command does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Does {
    /// Keeps conversations under names.
    Chat,
    /// Begins anew.
    Clear,
    /// Tells how full the context is.
    Context,
    /// Makes the conversation shorter.
    Compress,
    /// Tells of the commands.
    Help,
    /// Has a file about the project written.
    Init,
    /// Tells of MCP servers.
    Mcp,
    /// Shows what is remembered, and adds to it.
    Memory,
    /// Chooses the model.
    Model,
    /// Ends the program.
    Quit,
    /// The same, after a question.
    QuitConfirm,
    /// Tells what was used.
    Stats,
    /// Tells of the tools, or runs one.
    Tools,
}

/// The line of a session that goes on under another id: of the old id, the new one and the message that asked for it.
pub(crate) type SessionReset = fn(session: &str, new: &str, message: &str) -> Value;

/// What becomes of a session whose user wants to begin anew.
#[derive(Clone, Copy, Debug)]
pub enum Clears {
    /// It goes on without its conversation; this is said.
    Conversation(&'static str),
    /// Another one begins, which is told so.
    Session(SessionReset),
}

/// Lines about a conversation that is made shorter.
#[derive(Debug)]
pub struct Compressing {
    /// How far it is: of the session's id, a word for the work, and how it went.
    pub status: fn(session: &str, status: Option<&str>, result: Option<&str>) -> Value,
    /// It is done.
    pub done: fn(session: &str) -> Value,
}

/// What a session has used.
#[derive(Clone, Copy, Debug)]
pub struct Stats {
    /// Turns.
    pub turns: u64,
    /// Requests to models.
    pub requests: u64,
    /// Tokens that the model read.
    pub read: u64,
    /// Tokens that it wrote.
    pub written: u64,
    /// Calls of tools.
    pub calls: u64,
    /// US dollars.
    pub cost: f64,
}

impl Commands {
    /// The command of a name.
    pub(crate) fn find(&self, name: &str) -> Option<&'static Command> {
        let commands: &'static [Command] = self.all;
        commands.iter().find(|command| command.name == name || command.aliases.contains(&name))
    }

    /// Whether only a program with a screen can do it.
    pub(crate) fn is_dialog(&self, name: &str) -> bool {
        self.dialogs.contains(&name)
    }
}
