//! The commands that every session has.

use std::rc::Rc;

use serde_json::{Value, json};

use super::request::ChatRequests;
use super::{Given, chats, failed, message};
use crate::conversation::Conversation;
use crate::persona::commands::{Clears, Does, Reads, SessionReset, Stats};
use crate::settings::memory;
use crate::store::{Ask, Store, Writer};
use crate::turn::context::Context;
use crate::turn::{compact, context_usage};

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
pub(crate) fn list(context: &Context) -> Vec<Listed> {
    let ours = context
        .persona
        .commands
        .all
        .iter()
        .filter(|command| command.is_listed && context.restrictions.allows_command(command.name))
        .map(|command| Listed {
            name: command.name.to_owned(),
            description: command.description.to_owned(),
            hint: String::new(),
        });
    let settings = context.settings.get();
    let custom = settings.commands.iter().map(|command| Listed {
        name: command.name.clone(),
        description: command.description.clone(),
        hint: command.hint.clone(),
    });
    ours.chain(custom).collect()
}

/// Does what a command says, and says what came of it, as one of the RFC's results.
pub(super) async fn run(context: &Rc<Context>, chats: &ChatRequests, given: &Given) -> Value {
    let commands = context.persona.commands;
    let screen = commands.reads == Reads::Requests;
    let Some(command) = commands.find(&given.path[0]) else {
        if commands.is_dialog(&given.path[0]) && screen {
            return json!({"type": "dialog", "dialog": given.path[0]});
        }
        if let Some(say) = commands.no_screen.filter(|_| commands.is_dialog(&given.path[0])) {
            return message("info", say(&given.path[0]));
        }
        if commands.is_dialog(&given.path[0]) {
            return failed(format!("The command \"/{}\" is not supported in this mode.", given.path[0]));
        }
        return failed(format!("Unknown command: /{}", given.path.join(" ")));
    };
    let sub = given.path.get(1).map(String::as_str);
    if let Some(wrong) = sub.filter(|sub| !command.subs.iter().any(|(name, _)| name == sub)) {
        return failed(format!("/{} has no command {wrong}", command.name));
    }
    let args = given.args.trim();
    match command.does {
        Does::Help if screen => json!({"type": "dialog", "dialog": "help", "content": help(context)}),
        Does::Help => failed("The command \"/help\" is not supported in this mode."),
        Does::Clear => clear(context).await,
        Does::Context => message("info", context_used(context)),
        Does::Compress => compress(context, args).await,
        Does::Chat => chats::run(context, given),
        Does::Model if args.is_empty() && screen => {
            json!({"type": "dialog", "dialog": "model", "content": context.model.options.borrow().model})
        }
        Does::Model if args.is_empty() => message("info", (commands.model_told)(&context.model.options.borrow().model, false)),
        Does::Model => {
            if args.chars().any(char::is_whitespace) {
                return failed(format!("{args:?} is no name of a model"));
            }
            let model = context.model.names.named(args).unwrap_or_else(|| args.to_owned());
            super::request::keep_model(chats, &model);
            let told = (commands.model_told)(&model, true);
            context.model.options.borrow_mut().model = model;
            message("info", told)
        }
        Does::Tools if sub == Some("run") => run_tool(context, args),
        Does::Tools => message("info", tools(context, sub == Some("desc") || args == "desc" || args == "descriptions")),
        Does::Mcp => message("info", servers(context)),
        Does::Stats => message("info", stats(context)),
        Does::Memory => remember(context, sub, args),
        Does::Init => json!({"type": "submit_prompt", "parts": [{"type": "text", "text": init(context)}]}),
        Does::QuitConfirm => {
            json!({"type": "quit_confirmation", "prompt": "Do you want to quit?", "options": ["quit", "summary_and_quit", "save_and_quit", "cancel"]})
        }
        Does::Quit => json!({"type": "quit", "content": stats(context)}),
    }
}

/// How full the context is, as a page.
fn context_used(context: &Context) -> String {
    let Some(parts) = context_usage::parts(context) else {
        return "The conversation is in use.".to_owned();
    };
    let share = |tokens: u64, places: usize| format!("{:.places$}%", tokens as f64 / parts.window.max(1) as f64 * 100.0);
    let mut page = format!(
        "## Context Usage\n\n**Model:** {}  \n**Tokens:** {} / {} ({})\n\n### Estimated usage by category\n\n| Category | Tokens | Percentage |\n\
         |----------|--------|------------|",
        parts.model,
        short(parts.total),
        short(parts.window),
        share(parts.total, 0)
    );
    for (name, tokens) in parts.categories() {
        page.push_str(&format!("\n| {name} | {} | {} |", short(tokens), share(tokens, 1)));
    }
    page
}

/// A number in few signs: `950`, `8.8k`, `1m`.
fn short(number: u64) -> String {
    let of = |unit: f64, word: &str| {
        let text = format!("{:.1}", number as f64 / unit);
        format!("{}{word}", text.strip_suffix(".0").unwrap_or(&text))
    };
    match number {
        0..1_000 => number.to_string(),
        1_000..999_950 => of(1e3, "k"),
        _ => of(1e6, "m"),
    }
}

const INIT: &str = "Look at this project and write the file {FILE} in its root: what it is for and how it is built up, the commands that build, \
                    test and run it, and the conventions that its code keeps. It will be given to you as context in later sessions. If the file \
                    is there, make it better instead of writing it anew.";

/// The prompt that has a file about the project written.
pub(super) fn init(context: &Context) -> String {
    INIT.replace("{FILE}", memory_file(context))
}

/// What the project's memory is called.
fn memory_file(context: &Context) -> &'static str {
    let files = context.persona.memory;
    files.and_then(|files| files.names.first()).copied().unwrap_or("AGENTS.md")
}

fn help(context: &Context) -> String {
    let ours = context.persona.commands.all.iter().map(|command| {
        let subs: Vec<&str> = command.subs.iter().map(|(name, _)| *name).collect();
        let subs = if subs.is_empty() {
            String::new()
        } else {
            format!(" {}", subs.join("|"))
        };
        format!("/{}{subs} - {}", command.name, command.description)
    });
    let settings = context.settings.get();
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
async fn clear(context: &Rc<Context>) -> Value {
    let clears = context.persona.commands.clears;
    if let Clears::Conversation(_) = clears {
        let mut conversation = context.conversation.borrow_mut();
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
    json!({"type": "handled", "status": "ok", "content": if let Clears::Conversation(said) = clears { said } else { "" }})
}

/// The session goes on under another id. What tells so has the old one.
pub(super) async fn reset(context: &Rc<Context>, told: SessionReset, message: &str) {
    let store = Store::open(context.persona.sessions, context.world.wall.root(), &|name| std::env::var_os(name));
    let ask = Ask {
        keep: Ask::of(&context.host.launch).keep,
        ..Ask::default()
    };
    let Ok((transcript, _)) = store.begin(&ask, Writer::new(context.world.wall.root())) else {
        return;
    };
    let id = transcript.id().to_owned();
    let line = told(&context.host.session.borrow(), &id, message);
    context.host.events.line(&line);
    let mut conversation = Conversation::default();
    if let Some(kept) = &context.store.transcript {
        *kept.borrow_mut() = transcript;
        conversation.transcript = Some(kept.clone());
    }
    *context.conversation.borrow_mut() = conversation;
    context.host.events.set_session(&id);
    *context.host.session.borrow_mut() = id;
}

async fn compress(context: &Rc<Context>, wish: &str) -> Value {
    let lines = context.persona.commands.compressing.as_ref();
    let status = |status: Option<&str>, result: Option<&str>| {
        if let Some(lines) = lines {
            let line = (lines.status)(&context.host.session.borrow(), status, result);
            context.host.events.line(&line);
        }
    };
    let mut conversation = std::mem::take(&mut *context.conversation.borrow_mut());
    if conversation.messages.len() < 2 {
        *context.conversation.borrow_mut() = conversation;
        if lines.is_some() {
            crate::commands::introduce::introduce_now(context);
        }
        return failed("Nothing to compress: there is no conversation yet.");
    }
    crate::turn::prepare::prepare(context, &mut conversation);
    let before = conversation.context_tokens;
    status(Some("compacting"), None);
    let done = compact::now(context, &mut conversation, "manual", Some(wish)).await;
    let after = conversation.context_tokens;
    *context.conversation.borrow_mut() = conversation;
    status(None, Some(if done.is_ok() { "success" } else { "failed" }));
    if lines.is_some() {
        crate::commands::introduce::introduce_now(context);
    }
    match (done, lines) {
        (Ok(()), Some(lines)) => {
            let line = (lines.done)(&context.host.session.borrow());
            context.host.events.line(&line);
            json!({"type": "handled"})
        }
        (Ok(()), None) => json!({
            "type": "handled", "status": "ok",
            "content": format!("Chat history compressed from {before} to {after} tokens."),
        }),
        (Err(error), _) => failed(format!("The conversation could not be compressed: {}", error.message)),
    }
}

fn tools(context: &Rc<Context>, descriptions: bool) -> String {
    let mut conversation = Conversation::default();
    crate::turn::prepare::prepare(context, &mut conversation);
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
fn run_tool(context: &Rc<Context>, args: &str) -> Value {
    let (name, args) = args.split_once(char::is_whitespace).unwrap_or((args, "{}"));
    let mut conversation = Conversation::default();
    crate::turn::prepare::prepare(context, &mut conversation);
    if context.persona.commands.reads != Reads::Requests {
        return failed("The command \"/tools run\" is not supported in this mode.");
    }
    if conversation.tool(name).is_none() {
        return failed(format!("There is no tool {name:?}. Usage: /tools run <name> [arguments as JSON]"));
    }
    match serde_json::from_str::<Value>(args) {
        Ok(args) if args.is_object() => super::wanted::result(name, &args, &context.host.events.turn()),
        _ => failed(format!("The arguments of {name} are no JSON object.")),
    }
}

fn servers(context: &Context) -> String {
    let mcp = context.mcp.get();
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

/// What the session has used, in words.
pub(crate) fn stats(context: &Context) -> String {
    let spent = context.model.usage.borrow();
    let requests: u64 = spent.models.values().map(|model| model.requests).sum();
    (context.persona.commands.stats)(&Stats {
        turns: context.turns.begun.get(),
        requests,
        read: spent.session.read(),
        written: spent.session.output,
        calls: spent.calls,
        cost: spent.cost(),
    })
}

fn remember(context: &Rc<Context>, sub: Option<&str>, args: &str) -> Value {
    match sub {
        Some("add") if args.is_empty() => failed("Usage: /memory add <text to remember>"),
        Some("add") => match add(context, args) {
            Ok(file) => message("info", format!("{file} says so now; it counts from the next session on.")),
            Err(why) => failed(why),
        },
        _ => {
            let (memories, problems) = memory::load(context.persona.memory, context.settings.get().places(), context.world.wall.read_rules());
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
fn add(context: &Context, fact: &str) -> Result<&'static str, String> {
    use crate::workspace::Guard;
    const HEAD: &str = "## Added Memories";
    let name = memory_file(context);
    let place = context.world.wall.locate(name).map_err(|fault| fault.to_string())?;
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
