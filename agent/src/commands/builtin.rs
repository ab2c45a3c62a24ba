//! The commands that every session has.

use std::rc::Rc;

use serde_json::{Value, json};

use super::request::ChatRequests;
use super::{Given, chats, failed, message};
use crate::conversation::Conversation;
use crate::host::event_writer::line_id;
use crate::settings::memory;
use crate::store::{Ask, Store, Writer};
use crate::turn::compact;
use crate::turn::context::Context;
use agentglot_adapters::raw::codec::Dialect;

/// A command.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Command {
    /// Its name.
    pub name: &'static str,
    /// Its other names.
    pub aliases: &'static [&'static str],
    /// What it does.
    pub description: &'static str,
    /// Its sub-commands, and what they do.
    pub subs: &'static [(&'static str, &'static str)],
}

const fn one(
    name: &'static str,
    aliases: &'static [&'static str],
    description: &'static str,
    subs: &'static [(&'static str, &'static str)],
) -> Command {
    Command {
        name,
        aliases,
        description,
        subs,
    }
}

/// All of them, by name.
pub(crate) const COMMANDS: &[Command] = &[
    one(
        "chat",
        &[],
        "Manage conversation history.",
        &[
            ("list", "List saved conversation checkpoints"),
            ("save", "Save the current conversation as a checkpoint. Usage: /chat save <tag>"),
            ("resume", "Resume a conversation from a checkpoint. Usage: /chat resume <tag>"),
            ("delete", "Delete a conversation checkpoint. Usage: /chat delete <tag>"),
        ],
    ),
    one("clear", &["reset", "new"], "Clear the conversation history", &[]),
    one(
        "compress",
        &["compact", "summarize"],
        "Compresses the context by replacing it with a summary.",
        &[],
    ),
    one("help", &["?"], "For help on the commands", &[]),
    one("init", &[], "Analyzes the project and creates a tailored memory file.", &[]),
    one(
        "mcp",
        &[],
        "List configured MCP servers and tools",
        &[("list", "List configured MCP servers and tools")],
    ),
    one(
        "memory",
        &[],
        "Commands for interacting with memory.",
        &[
            ("show", "Show the current memory contents."),
            ("add", "Add content to the memory. Usage: /memory add <text to remember>"),
            ("refresh", "Refresh the memory from the source."),
        ],
    ),
    one("model", &[], "Show or switch the model for this session", &[]),
    one("quit", &["exit"], "Exit", &[]),
    one("quit-confirm", &[], "Show quit confirmation dialog", &[]),
    one(
        "stats",
        &["usage", "cost"],
        "Check session stats.",
        &[("model", "Show model-specific usage statistics.")],
    ),
    one(
        "tools",
        &[],
        "List available tools. Usage: /tools [desc]",
        &[
            ("desc", "List available tools with descriptions."),
            ("run", "Run a tool. Usage: /tools run <name> [arguments as JSON]"),
        ],
    ),
];

/// What only a program with a screen can do: a host of the RFC shows a dialog of its own.
const DIALOGS: &[&str] = &["auth", "theme", "editor", "privacy", "settings"];

/// The command of a name.
pub(crate) fn find(name: &str) -> Option<&'static Command> {
    COMMANDS.iter().find(|command| command.name == name || command.aliases.contains(&name))
}

/// Whether it is one of [`DIALOGS`].
pub(super) fn is_dialog(given: &Given) -> bool {
    DIALOGS.contains(&given.path[0].as_str())
}

/// Whether Claude Code or Qwen Code answers such a command itself when a program sends it. Others go to the model as text.
pub(super) fn serves(dialect: Dialect, given: &Given) -> bool {
    let Some(command) = find(&given.path[0]) else {
        return dialect == Dialect::QwenCode && is_dialog(given);
    };
    if dialect == Dialect::Claude {
        return matches!(given.path[0].as_str(), "clear" | "reset" | "new" | "compact" | "cost" | "usage");
    }
    !matches!(command.name, "quit" | "quit-confirm" | "init")
}

/// The names of its commands that a host of the dialect is told.
pub(crate) const fn of(dialect: Dialect) -> &'static [&'static str] {
    match dialect {
        Dialect::Claude => &["clear", "compact", "usage", "cost"],
        Dialect::Qwen => &[
            "chat",
            "clear",
            "compress",
            "help",
            "init",
            "mcp",
            "memory",
            "model",
            "quit",
            "quit-confirm",
            "stats",
            "tools",
        ],
        Dialect::QwenCode => &["chat", "clear", "compress", "mcp", "memory", "model", "stats", "tools"],
        _ => &[],
    }
}

/// A command as hosts are told of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Listed {
    /// Its name.
    pub name: String,
    /// What it does.
    pub description: String,
    /// What may stand behind it.
    pub hint: String,
}

/// The commands that the host of a session is told.
pub(crate) fn list(core: &Context) -> Vec<Listed> {
    let ours = of(core.host.dialect).iter().map(|name| Listed {
        name: (*name).to_owned(),
        description: find(name).map_or("", |command| command.description).to_owned(),
        hint: String::new(),
    });
    let settings = core.settings.get();
    let custom = settings.commands.iter().map(|command| Listed {
        name: command.name.clone(),
        description: command.description.clone(),
        hint: command.hint.clone(),
    });
    ours.chain(custom).collect()
}

/// Does what a command says, and says what came of it, as one of the RFC's results.
pub(super) async fn run(core: &Rc<Context>, chats: &ChatRequests, given: &Given) -> Value {
    let Some(command) = find(&given.path[0]) else {
        if is_dialog(given) && core.host.dialect == Dialect::Qwen {
            return json!({"type": "dialog", "dialog": given.path[0]});
        }
        if is_dialog(given) {
            return failed(format!("The command \"/{}\" is not supported in this mode.", given.path[0]));
        }
        return failed(format!("Unknown command: /{}", given.path.join(" ")));
    };
    let sub = given.path.get(1).map(String::as_str);
    if let Some(wrong) = sub.filter(|sub| !command.subs.iter().any(|(name, _)| name == sub)) {
        return failed(format!("/{} has no command {wrong}", command.name));
    }
    let args = given.args.trim();
    match command.name {
        "help" if core.host.dialect == Dialect::Qwen => json!({"type": "dialog", "dialog": "help", "content": help(core)}),
        "help" => failed("The command \"/help\" is not supported in this mode."),
        "clear" => clear(core).await,
        "compress" => compress(core, args).await,
        "chat" => chats::run(core, given),
        "model" if args.is_empty() && core.host.dialect == Dialect::Qwen => {
            json!({"type": "dialog", "dialog": "model", "content": core.model.options.borrow().model})
        }
        "model" if args.is_empty() => message("info", format!("Current model: {}", core.model.options.borrow().model)),
        "model" => {
            if args.chars().any(char::is_whitespace) {
                return failed(format!("{args:?} is no name of a model"));
            }
            args.clone_into(&mut core.model.options.borrow_mut().model);
            super::request::keep_model(chats, args);
            message("info", format!("The model is {args} from now on."))
        }
        "tools" if sub == Some("run") => run_tool(core, args),
        "tools" => message("info", tools(core, sub == Some("desc") || args == "desc" || args == "descriptions")),
        "mcp" => message("info", servers(core)),
        "stats" => message("info", stats(core)),
        "memory" => remember(core, sub, args),
        "init" => json!({"type": "submit_prompt", "parts": [{"type": "text", "text": INIT.replace("{FILE}", memory_file(core))}]}),
        "quit-confirm" => {
            json!({"type": "quit_confirmation", "prompt": "Do you want to quit?", "options": ["quit", "summary_and_quit", "save_and_quit", "cancel"]})
        }
        _ => json!({"type": "quit", "content": stats(core)}),
    }
}

const INIT: &str = "Look at this project and write the file {FILE} in its root: what it is for and how it is built up, the commands that build, \
                    test and run it, and the conventions that its code keeps. It will be given to you as context in later sessions. If the file \
                    is there, make it better instead of writing it anew.";

const fn memory_file(core: &Context) -> &'static str {
    match core.host.dialect {
        Dialect::Claude => "CLAUDE.md",
        _ => "QWEN.md",
    }
}

fn help(core: &Context) -> String {
    let ours = COMMANDS.iter().map(|command| {
        let subs: Vec<&str> = command.subs.iter().map(|(name, _)| *name).collect();
        let subs = if subs.is_empty() {
            String::new()
        } else {
            format!(" {}", subs.join("|"))
        };
        format!("/{}{subs} - {}", command.name, command.description)
    });
    let settings = core.settings.get();
    let custom = settings
        .commands
        .iter()
        .map(|command| format!("/{} - {}", command.name, command.description));
    ours.chain(custom)
        .chain(["@path - Add files or folders to the prompt".to_owned()])
        .collect::<Vec<_>>()
        .join("\n")
}

/// Nothing that was said counts any more; the session stays the same.
async fn clear(core: &Rc<Context>) -> Value {
    if core.host.dialect != Dialect::Claude {
        let mut conversation = core.conversation.borrow_mut();
        conversation.messages.clear();
        let before = std::mem::take(&mut conversation.context_tokens);
        crate::conversation::transcript::compacted(
            &conversation,
            true,
            before,
            0,
            "The conversation was cleared by the user; nothing of it counts.",
            None,
        );
    }
    json!({"type": "handled", "status": "ok", "content": if core.host.dialect == Dialect::QwenCode { "Context cleared." } else { "" }})
}

/// Claude's `/clear`: the session goes on under another id. What tells so has the old one.
pub(super) async fn reset(core: &Rc<Context>, message: &str) {
    let store = Store::open(core.persona.sessions(), core.world.wall.root(), &|name| std::env::var_os(name));
    let ask = Ask {
        keep: Ask::of(&core.host.launch).keep,
        ..Ask::default()
    };
    let Ok((transcript, _)) = store.begin(&ask, Writer::new(core.world.wall.root())) else {
        return;
    };
    let id = transcript.id().to_owned();
    core.host.events.line(&json!({
        "type": "conversation_reset", "new_conversation_id": id, "trigger": "clear", "user_message_uuid": message,
        "uuid": line_id(), "session_id": *core.host.session.borrow(),
    }));
    let mut conversation = Conversation::default();
    if let Some(kept) = &core.store.transcript {
        *kept.borrow_mut() = transcript;
        conversation.transcript = Some(kept.clone());
    }
    *core.conversation.borrow_mut() = conversation;
    core.host.events.set_session(&id);
    *core.host.session.borrow_mut() = id;
}

async fn compress(core: &Rc<Context>, wish: &str) -> Value {
    let claude = core.host.dialect == Dialect::Claude;
    let status = |status: Value, result: Option<&str>| {
        if claude {
            let mut line = json!({"type": "system", "subtype": "status", "status": status});
            if let Some(result) = result {
                line["compact_result"] = json!(result);
            }
            line["session_id"] = json!(*core.host.session.borrow());
            line["uuid"] = json!(line_id());
            core.host.events.line(&line);
        }
    };
    let mut conversation = std::mem::take(&mut *core.conversation.borrow_mut());
    if conversation.messages.len() < 2 {
        *core.conversation.borrow_mut() = conversation;
        if claude {
            crate::commands::introduce::introduce_now(core);
        }
        return failed("Nothing to compress: there is no conversation yet.");
    }
    crate::turn::prepare::prepare(core, &mut conversation);
    let before = conversation.context_tokens;
    status(json!("compacting"), None);
    let done = compact::now(core, &mut conversation, "manual", Some(wish)).await;
    let after = conversation.context_tokens;
    *core.conversation.borrow_mut() = conversation;
    status(Value::Null, Some(if done.is_ok() { "success" } else { "failed" }));
    if claude {
        crate::commands::introduce::introduce_now(core);
    }
    match done {
        Ok(()) if claude => {
            core.host.events.line(&json!({
                "type": "user", "message": {"role": "user", "content": "<local-command-stdout>Compacted </local-command-stdout>"},
                "session_id": *core.host.session.borrow(), "parent_tool_use_id": null, "uuid": line_id(), "isReplay": true,
            }));
            json!({"type": "handled"})
        }
        Ok(()) if core.host.dialect == Dialect::Qwen => json!({
            "type": "handled", "status": "ok",
            "content": format!("Chat history compressed from {before} to {after} tokens."),
        }),
        Ok(()) => message("info", format!("Chat history compressed from {before} to {after} tokens.")),
        Err(error) => failed(format!("The conversation could not be compressed: {}", error.message)),
    }
}

fn tools(core: &Rc<Context>, descriptions: bool) -> String {
    let mut conversation = Conversation::default();
    crate::turn::prepare::prepare(core, &mut conversation);
    let lines: Vec<String> = conversation
        .specs
        .iter()
        .map(|spec| {
            if descriptions {
                format!("  - {}: {}", spec.name, spec.description)
            } else {
                format!("  - {}", spec.name)
            }
        })
        .collect();
    format!("Available tools:\n{}", lines.join("\n"))
}

/// The call that the host is to ask for.
fn run_tool(core: &Rc<Context>, args: &str) -> Value {
    let (name, args) = args.split_once(char::is_whitespace).unwrap_or((args, "{}"));
    let mut conversation = Conversation::default();
    crate::turn::prepare::prepare(core, &mut conversation);
    if core.host.dialect != Dialect::Qwen {
        return failed("The command \"/tools run\" is not supported in this mode.");
    }
    if conversation.tool(name).is_none() {
        return failed(format!("There is no tool {name:?}. Usage: /tools run <name> [arguments as JSON]"));
    }
    match serde_json::from_str::<Value>(args) {
        Ok(args) if args.is_object() => super::wanted::result(name, &args, &core.host.events.turn()),
        _ => failed(format!("The arguments of {name} are no JSON object.")),
    }
}

fn servers(core: &Context) -> String {
    let mcp = core.mcp.get();
    let lines: Vec<String> = mcp
        .status()
        .into_iter()
        .map(|known| format!("  - {}: {}", known.name, known.status.as_str()))
        .collect();
    if lines.is_empty() {
        return "No MCP servers configured.".to_owned();
    }
    let tools: Vec<String> = mcp.tools().iter().map(|tool| format!("  - {}", tool.spec().name)).collect();
    format!("MCP servers:\n{}\nTools:\n{}", lines.join("\n"), tools.join("\n"))
}

fn stats(core: &Context) -> String {
    let spent = core.model.usage.borrow();
    let requests: u64 = spent.models.values().map(|model| model.requests).sum();
    let (read, written) = (spent.session.read(), spent.session.output);
    if core.host.dialect == Dialect::Claude {
        return format!(
            "Estimated cost:        ${:.4}\nTotal input tokens:    {read}\nTotal output tokens:   {written}\nAPI requests:          {requests}",
            spent.cost()
        );
    }
    format!(
        "Prompts: {}\nAPI requests: {requests}\nTokens — prompt: {read}, output: {written}\nTool calls: {}\nEstimated cost: ${:.4}",
        core.turns.begun.get(),
        spent.calls,
        spent.cost()
    )
}

fn remember(core: &Rc<Context>, sub: Option<&str>, args: &str) -> Value {
    match sub {
        Some("add") if args.is_empty() => failed("Usage: /memory add <text to remember>"),
        Some("add") => match add(core, args) {
            Ok(file) => message("info", format!("{file} says so now; it counts from the next session on.")),
            Err(why) => failed(why),
        },
        _ => {
            let (memories, problems) = memory::load(core.persona.memory(), core.settings.get().places());
            for problem in problems {
                tracing::warn!("{problem}");
            }
            let sum: usize = memories.iter().map(|memory| memory.text.chars().count()).sum();
            if sub == Some("refresh") {
                return message("info", format!("Memory read: {sum} characters from {} files.", memories.len()));
            }
            match memory::prompt(&memories) {
                Some(text) => message(
                    "info",
                    format!("Current memory content from {} files:\n\n---\n{text}\n---", memories.len()),
                ),
                None => message("info", "Memory is currently empty."),
            }
        }
    }
}

/// Adds a fact to the project's memory.
fn add(core: &Context, fact: &str) -> Result<&'static str, String> {
    use crate::workspace::Guard;
    const HEAD: &str = "## Added Memories";
    let name = memory_file(core);
    let place = core.world.wall.locate(name).map_err(|fault| fault.to_string())?;
    let old = place.stat_if_there().map_err(|fault| fault.to_string())?;
    let (mut text, stamp) = match old {
        None => (String::new(), None),
        Some(_) => {
            let (bytes, stamp) = place.read(1 << 20).map_err(|fault| fault.to_string())?;
            (String::from_utf8(bytes).map_err(|_| format!("{name} is no text"))?, Some(stamp))
        }
    };
    if !text.contains(HEAD) {
        if !text.is_empty() {
            text.push_str(if text.ends_with('\n') { "\n" } else { "\n\n" });
        }
        text.push_str(HEAD);
        text.push('\n');
    }
    let fact = fact.split_whitespace().collect::<Vec<_>>().join(" ");
    let at = text.find(HEAD).map_or(text.len(), |at| at + HEAD.len());
    let at = text[at..].find('\n').map_or(text.len(), |line| at + line + 1);
    text.insert_str(at, &format!("- {fact}\n"));
    let guard = stamp.as_ref().map_or(Guard::New, Guard::Same);
    place.write(text.as_bytes(), guard).map_err(|fault| fault.to_string())?;
    Ok(name)
}
