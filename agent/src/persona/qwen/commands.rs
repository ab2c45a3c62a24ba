//! Qwen Code's commands. A host of the RFC knows all of them and shows dialogs of its own; in Qwen Code those that need a screen are
//! refused, and those that end the program are text.

use crate::persona::commands::{Clears, Command, Commands, Does, Fault, Reads, Stats, model_told};

pub(super) static RFC: Commands = Commands {
    reads: Reads::Requests,
    all: &[
        CHAT,
        CLEAR,
        COMPRESS,
        HELP,
        INIT,
        MCP,
        MEMORY,
        MODEL,
        command("quit", &["exit"], "Exit", &[], Does::Quit),
        command("quit-confirm", &[], "Show quit confirmation dialog", &[], Does::QuitConfirm),
        STATS,
        TOOLS,
    ],
    dialogs: DIALOGS,
    no_screen: None,
    clears: Clears::Conversation(""),
    compressing: None,
    model: None,
    model_told,
    stats,
    reads_any_file: false,
    codes,
    ignores: &[".qwenignore"],
};

pub(super) static CODE: Commands = Commands {
    reads: Reads::Prompts,
    all: &[
        CHAT,
        CLEAR,
        COMPRESS,
        Command { is_listed: false, ..HELP },
        INIT,
        MCP,
        MEMORY,
        MODEL,
        STATS,
        TOOLS,
    ],
    dialogs: DIALOGS,
    no_screen: None,
    clears: Clears::Conversation("Context cleared. Previous messages are no longer in context."),
    compressing: None,
    model: None,
    model_told,
    stats,
    reads_any_file: false,
    codes,
    ignores: &[".qwenignore"],
};

/// What only a program with a screen can do.
const DIALOGS: &[&str] = &["auth", "theme", "editor", "privacy", "settings"];

const CHAT: Command = command(
    "chat",
    &[],
    "Manage conversation history.",
    &[
        ("list", "List saved conversation checkpoints"),
        ("save", "Save the current conversation as a checkpoint. Usage: /chat save <tag>"),
        ("resume", "Resume a conversation from a checkpoint. Usage: /chat resume <tag>"),
        ("delete", "Delete a conversation checkpoint. Usage: /chat delete <tag>"),
    ],
    Does::Chat,
);
const CLEAR: Command = command("clear", &["reset", "new"], "Clear the conversation history", &[], Does::Clear);
const COMPRESS: Command = command(
    "compress",
    &["compact", "summarize"],
    "Compresses the context by replacing it with a summary.",
    &[],
    Does::Compress,
);
const HELP: Command = command("help", &["?"], "For help on the commands", &[], Does::Help);
const INIT: Command = command("init", &[], "Analyzes the project and creates a tailored memory file.", &[], Does::Init);
const MCP: Command = command(
    "mcp",
    &[],
    "List configured MCP servers and tools",
    &[("list", "List configured MCP servers and tools")],
    Does::Mcp,
);
const MEMORY: Command = command(
    "memory",
    &[],
    "Commands for interacting with memory.",
    &[
        ("show", "Show the current memory contents."),
        ("add", "Add content to the memory. Usage: /memory add <text to remember>"),
        ("refresh", "Refresh the memory from the source."),
    ],
    Does::Memory,
);
const MODEL: Command = command("model", &[], "Show or switch the model for this session", &[], Does::Model);
const STATS: Command = command(
    "stats",
    &["usage", "cost"],
    "Check session stats.",
    &[("model", "Show model-specific usage statistics.")],
    Does::Stats,
);
const TOOLS: Command = command(
    "tools",
    &[],
    "List available tools. Usage: /tools [desc]",
    &[
        ("desc", "List available tools with descriptions."),
        ("run", "Run a tool. Usage: /tools run <name> [arguments as JSON]"),
    ],
    Does::Tools,
);

const fn command(
    name: &'static str,
    aliases: &'static [&'static str],
    description: &'static str,
    subs: &'static [(&'static str, &'static str)],
    does: Does,
) -> Command {
    Command {
        name,
        aliases,
        description,
        subs,
        does,
        is_listed: true,
    }
}

fn stats(stats: &Stats) -> String {
    format!(
        "Prompts: {}\nAPI requests: {}\nTokens — prompt: {}, output: {}\nTool calls: {}\nEstimated cost: ${:.4}",
        stats.turns, stats.requests, stats.read, stats.written, stats.calls, stats.cost
    )
}

fn codes(fault: Fault) -> &'static str {
    match fault {
        Fault::Request => "QWEN_INVALID_REQUEST",
        Fault::ToolArguments => "QWEN_INVALID_TOOL_ARGS",
        Fault::PromptId => "QWEN_DUPLICATE_PROMPT_ID",
        Fault::Session => "QWEN_UNKNOWN_SESSION",
    }
}
