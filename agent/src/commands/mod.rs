//! Commands of the host's user (`/clear`, `@file`), hints for them, and what the RFC's Chat Requests say besides their text.
//!
//! A command that is answered without the model ends the host's prompt without an outcome in the RFC ([`EventWriter::answered`]); in the other
//! dialects it is a turn without rounds.
//!
//! [`EventWriter::answered`]: crate::host::event_writer::EventWriter::answered

pub(crate) mod builtin;
mod chats;
mod confirm;
mod custom;
pub(super) mod hint;
pub(super) mod introduce;
mod paths;
pub(super) mod request;
pub(super) mod wanted;
mod wellformed;

use std::rc::Rc;
use std::time::Instant;

use serde_json::{Value, json};

use self::request::ChatRequests;
use crate::host::event_writer::{body, line_id};
use crate::host::prompts::HostPrompt;
use crate::model::message::Part;
use crate::persona::commands::{Clears, Commands, Does, Reads};
use crate::turn::context::Context;
use crate::turn::{End, Finished};
use crate::turn::{mentions, outcome};
use agentglot_adapters::raw::event::{Block, Kind, Reply};
use agentglot_adapters::raw::json::Str;
pub(super) use builtin::list;

/// A command as the host gives it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Given {
    /// The command and its sub-commands, without a slash.
    pub path: Vec<String>,
    /// What stands behind them.
    pub args: String,
    /// Shell commands that the user has allowed for it.
    pub approved: Vec<String>,
    /// What the user said when he was asked: `once`, `always`, `cancel`.
    pub outcome: Option<String>,
}

impl Given {
    /// Reads a text that begins with a slash or a question mark.
    fn of_text(text: &str, commands: &Commands) -> Option<Self> {
        let text = text.trim();
        let mut words = match text.strip_prefix('/') {
            // Comments and paths of the root are no commands.
            Some(rest) if rest.starts_with(['/', '*']) => return None,
            Some(rest) => rest,
            None if text.starts_with('?') => text,
            None => return None,
        };
        let mut path = Vec::new();
        let (name, rest) = words.split_once(char::is_whitespace).unwrap_or((words, ""));
        path.push(name.to_owned());
        words = rest.trim_start();
        if let Some(command) = commands.find(name) {
            let (sub, rest) = words.split_once(char::is_whitespace).unwrap_or((words, ""));
            if command.subs.iter().any(|(known, ..)| *known == sub) {
                path.push(sub.to_owned());
                words = rest.trim_start();
            }
        }
        Some(Self {
            path,
            args: words.to_owned(),
            ..Self::default()
        })
    }

    /// Reads `input.command` of kind `slash`.
    fn of_explicit(command: &Value) -> Option<Self> {
        let words = |name: &str| -> Vec<String> {
            let list = command.get(name).and_then(Value::as_array);
            list.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
        };
        let mut path = words("path");
        if let Some(first) = path.first_mut()
            && let Some(name) = first.strip_prefix('/')
        {
            *first = name.to_owned();
        }
        let args = command.get("args").and_then(Value::as_str).unwrap_or_default();
        (!path.is_empty()).then(|| Self {
            path,
            args: args.to_owned(),
            approved: [words("approvedCommands"), words("approved_commands")].concat(),
            outcome: ["confirmationOutcome", "confirmation_outcome"]
                .iter()
                .find_map(|name| command.get(name)?.as_str())
                .map(str::to_owned),
        })
    }

    /// As `result/command` shows it.
    fn shown(&self) -> Value {
        json!({"kind": "slash", "path": self.path, "args": self.args})
    }
}

/// A note for the user.
fn message(level: &str, content: impl Into<String>) -> Value {
    json!({"type": "message", "level": level, "content": content.into()})
}

/// A note that something went wrong.
fn failed(content: impl Into<String>) -> Value {
    json!({"type": "message", "status": "error", "level": "error", "content": content.into()})
}

/// Looks at a prompt before it goes to the model. `None`: it was a command and is answered.
pub(super) async fn first(context: &Rc<Context>, chats: &ChatRequests, mut asked: HostPrompt, begun: Instant) -> Option<HostPrompt> {
    let commands = context.persona.commands;
    match commands.reads {
        Reads::Requests => return request(context, chats, asked).await,
        Reads::Nowhere => return Some(asked),
        Reads::Prompts if asked.is_verbatim() => return Some(asked),
        Reads::Prompts => {}
    }
    if asked.notices < asked.parts.len()
        && let Some(Part::Text(text)) = asked.parts.get(asked.notices)
        && let Some(given) = Given::of_text(text, commands).filter(|_| text.trim_start().starts_with('/'))
    {
        if disabled(context, &given).is_some() {
            return turn(context, chats, &given, asked, begun).await;
        }
        if commands.find(&given.path[0]).is_some_and(|command| command.does == Does::Init) {
            asked.parts[asked.notices] = Part::Text(builtin::init(context));
            return Some(asked);
        }
        let custom = custom::find(context, &given);
        if commands.find(&given.path[0]).is_some() || (commands.is_dialog(&given.path[0]) && custom.is_none()) {
            return turn(context, chats, &given, asked, begun).await;
        }
        if let Some(custom) = custom {
            let text = custom::prompt(context, &custom, &given.args, true).await;
            asked.parts[asked.notices] = Part::Text(text.unwrap_or_else(|why| why));
            return Some(asked);
        }
    }
    mentions::expand(context, &mut asked).await;
    Some(asked)
}

/// Why a command may not be used, if the command line or a file of settings leaves it out.
fn disabled(context: &Context, given: &Given) -> Option<String> {
    let known = context.persona.commands.find(&given.path[0]).map(|command| command.name);
    let whole = given.path.join(":");
    let mut names = known.into_iter().chain([given.path[0].as_str(), whole.as_str()]);
    let name = names.find(|name| !context.restrictions.allows_command(name))?;
    Some(format!("The command \"/{name}\" is disabled by the current configuration."))
}

/// A command that is a turn without rounds.
async fn turn(context: &Rc<Context>, chats: &ChatRequests, given: &Given, asked: HostPrompt, begun: Instant) -> Option<HostPrompt> {
    let commands = context.persona.commands;
    let does = commands
        .find(&given.path[0])
        .filter(|_| disabled(context, given).is_none())
        .map(|command| command.does);
    // Lines of their own say what comes of it.
    let silent = commands.compressing.is_some() && does == Some(Does::Compress);
    if let (Some(Does::Clear), Clears::Session(told)) = (does, commands.clears) {
        builtin::reset(context, told, &asked.id).await;
        introduce::introduce_now(context);
    } else if !silent {
        introduce::introduce_now(context);
    }
    let result = match disabled(context, given) {
        Some(why) => failed(why),
        None => builtin::run(context, chats, given).await,
    };
    let text = result.get("content").and_then(Value::as_str).unwrap_or_default().to_owned();
    let bad = result.get("level").is_some_and(|level| level == "error");
    let told = context.host.persona.of_command(&given.path[0]);
    let excused = bad && told.is_some();
    if !(text.is_empty() || silent && !excused) {
        let shown = if excused { format!("Error: {text}") } else { text.clone() };
        let shown = body(&shown);
        let blocks = [Block::Text {
            text: Str::trusted(&shown),
            fields: &[],
        }];
        let id = line_id();
        let model = body(commands.model.unwrap_or(&context.model.options.borrow().model));
        let reply = Reply {
            id: Some(Str::trusted(&id)),
            model: Some(Str::trusted(&model)),
            blocks: &blocks,
            last: true,
            ..Reply::default()
        };
        context.host.events.say(Kind::Reply(&reply), None, Some(&id));
    }
    let end = if bad && !excused {
        End::Refusing(text)
    } else {
        End::Done(if silent || excused { String::new() } else { text }, None)
    };
    let fields = told.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    outcome::tell(context, &Finished::of(end, 0), begun, fields);
    None
}

/// A request of a host that has a screen.
async fn request(context: &Rc<Context>, chats: &ChatRequests, mut asked: HostPrompt) -> Option<HostPrompt> {
    let begun = Instant::now();
    let chat = asked.chat.take().unwrap_or(Value::Null);
    let taken_up = request::take_up(context, chats, &mut asked, &chat);
    if let Err(refused) = taken_up {
        let why = format!("{}: {}", (context.persona.commands.codes)(refused.fault), refused.why);
        introduce::introduce_now(context);
        outcome::tell(context, &Finished::of(End::Refusing(why), 0), begun, Vec::new());
        return None;
    }
    introduce::introduce_now(context);
    // What goes on with an earlier prompt, or wants a call, is no command whatever its text looks like.
    if asked.wanted.is_some() || request::goes_on(&asked) && chat["command"].is_null() {
        return Some(asked);
    }
    let command = chat.get("command").filter(|command| !command.is_null());
    let text = crate::host::prompts::said(asked.parts.get(asked.notices..).unwrap_or_default());
    let kind = command.and_then(|command| command.get("kind")).and_then(Value::as_str);
    let instruction = chat.get("instruction").and_then(Value::as_str);
    let given = match (command, kind, instruction) {
        (_, _, Some(text)) => match Given::of_text(text, context.persona.commands) {
            Some(given) => Some(given),
            None => {
                let shown = json!({"kind": "slash", "path": [], "args": text});
                context
                    .host
                    .events
                    .command(&shown, &failed(format!("{text:?} is no instruction that is known")));
                context.host.events.answered();
                return None;
            }
        },
        (Some(command), Some("slash") | None, _) => match Given::of_explicit(command) {
            Some(given) => Some(given),
            None => return refuse(context, command, "a slash command has a path: a list of names"),
        },
        (Some(command), Some("at"), _) => return explicit_at(context, asked, command).await,
        _ => Given::of_text(&text, context.persona.commands),
    };
    if let Some(mut given) = given {
        let shown = given.shown();
        let result = loop {
            let result = result(context, chats, &given).await;
            match confirm::settle(context, chats, &mut given, result).await {
                confirm::Settled::Again => {}
                confirm::Settled::Over(result) => break result,
            }
        };
        context.host.events.command(&shown, &result);
        if context.turns.cancel().is_cancelled() {
            outcome::tell_cancelled(context);
        }
        context.host.events.answered();
        return None;
    }
    let found = mentions::expand(context, &mut asked).await;
    if !found.read.is_empty() || !found.skipped.is_empty() {
        let command = json!({"kind": "at", "references": found.references()});
        context.host.events.command(&command, &found.result());
    }
    Some(asked)
}

/// What comes of a command.
async fn result(context: &Rc<Context>, chats: &ChatRequests, given: &Given) -> Value {
    if let Some(why) = disabled(context, given) {
        failed(why)
    } else if context.persona.commands.find(&given.path[0]).is_some() || context.persona.commands.is_dialog(&given.path[0]) {
        builtin::run(context, chats, given).await
    } else if let Some(custom) = custom::find(context, given) {
        custom::result(context, chats, &custom, given).await
    } else {
        failed(format!("Unknown command: /{}", given.path.join(" ")))
    }
}

/// `input.command` of kind `at`: what the host has resolved is read, or what its text names.
async fn explicit_at(context: &Rc<Context>, mut asked: HostPrompt, command: &Value) -> Option<HostPrompt> {
    let listed = command.get("references").and_then(Value::as_array).filter(|list| !list.is_empty());
    let found = match listed {
        None => mentions::expand(context, &mut asked).await,
        Some(list) => {
            let mut references = Vec::new();
            for one in list {
                let text = |name: &str| one.get(name).and_then(Value::as_str);
                let Some(original) = text("original").or_else(|| text("resolved")) else {
                    return refuse(context, command, "a reference has original and resolved");
                };
                let path = text("resolved").unwrap_or_else(|| original.trim_start_matches('@'));
                references.push(mentions::Reference {
                    original: original.to_owned(),
                    path: path.to_owned(),
                });
            }
            mentions::expand_with(context, &mut asked, references).await
        }
    };
    if found.read.is_empty() {
        let why: Vec<String> = found.skipped.iter().map(|(_, why)| why.clone()).collect();
        let why = if why.is_empty() {
            "nothing is named by @path".to_owned()
        } else {
            why.join("\n")
        };
        return refuse(context, command, &why);
    }
    context.host.events.command(command, &found.result());
    Some(asked)
}

fn refuse(context: &Context, command: &Value, why: &str) -> Option<HostPrompt> {
    context.host.events.command(&sound(command), &failed(why));
    context.host.events.answered();
    None
}

/// What is sound of a command that the host has described: its result names the command.
fn sound(command: &Value) -> Value {
    let kind = command.get("kind").and_then(Value::as_str).unwrap_or("slash");
    let mut sound = json!({"kind": kind});
    let of_texts = |list: &&Value| list.as_array().is_some_and(|list| list.iter().all(Value::is_string));
    if let Some(path) = command.get("path").filter(of_texts) {
        sound["path"] = path.clone();
    }
    if let Some(args) = command.get("args").filter(|args| args.is_string()) {
        sound["args"] = args.clone();
    }
    let names = |one: &Value| one["original"].is_string() && one["resolved"].is_string();
    let of_names = |list: &&Value| list.as_array().is_some_and(|list| list.iter().all(names));
    if let Some(references) = command.get("references").filter(of_names) {
        sound["references"] = references.clone();
    }
    sound
}
