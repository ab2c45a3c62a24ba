//! What a Chat Request of the RFC says besides its text: session, prompt id, options, tools that the host runs.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeSet, HashMap, HashSet};
use std::rc::Rc;
use std::time::SystemTime;

use base64::Engine;
use serde_json::{Value, json};

use super::wanted;
use super::wellformed::Refused;
use super::wellformed::{self, invalid, invalid_tool};
use crate::conversation::Conversation;
use crate::host::prompts::{HostPrompt, plain};
use crate::model::message::{Message, Part, Role};
use crate::permissions::Overrides;
use crate::persona::commands::Fault;
use crate::store::{Ask, History, Store, Writer};
use crate::tools::Spec;
use crate::turn::context::Context;
use crate::turn::options::Options;
use agentglot_adapters::raw::event::{CancelResult, Heartbeat, Input, Kind, ToolKind};
use agentglot_adapters::raw::json::{Raw, Str};
use agentglot_adapters::raw::launch::Resume;

/// The largest file that a request may name, in bytes.
const LARGEST: u64 = 20 << 20;

/// What is known of the host's Chat Requests.
#[derive(Debug, Default)]
pub(crate) struct ChatRequests {
    /// Prompt ids that were used.
    seen: RefCell<HashSet<String>>,
    /// The last prompt id of each session, and how many prompts it had.
    prompts: RefCell<HashMap<String, (String, u64)>>,
    /// The questions about commands that the host answers on the control channel.
    confirms: RefCell<BTreeSet<String>>,
    /// Conversations of this process that wait to be gone on with, by their sessions.
    parked: RefCell<HashMap<String, Conversation>>,
    /// What was wished before the prompt in work.
    before: RefCell<Option<Options>>,
    /// Shell commands of custom commands that the user allows always.
    pub allowed: RefCell<BTreeSet<String>>,
    /// The session in use has had a prompt.
    used: Cell<bool>,
}

impl ChatRequests {
    /// Whether the host answers this question on the control channel.
    pub(super) fn confirms(&self, subtype: &str) -> bool {
        self.confirms.borrow().contains(subtype)
    }
}

/// Whether a request goes on with the prompt before it.
pub(super) fn goes_on(asked: &HostPrompt) -> bool {
    let is = |(name, value): &(String, Value)| name == "continuation" && *value == Value::Bool(true);
    asked.fields.iter().any(is)
}

/// Takes a request up: its session, its id, its options, and the parts that are no text.
///
/// # Errors
/// When it makes no sense. Nothing has changed then but the prompt's id.
pub(crate) fn take_up(context: &Context, chats: &ChatRequests, asked: &mut HostPrompt, chat: &Value) -> Result<(), Refused> {
    let notices: Vec<Part> = asked.parts.drain(..asked.notices.min(asked.parts.len())).collect();
    let checked = wellformed::check(asked, chat);
    let given = std::mem::take(&mut asked.turn);
    asked.turn = if given.is_empty() || checked.is_err() {
        next_id(context, chats)
    } else {
        given.clone()
    };
    context.host.events.set_turn(&asked.turn);
    checked?;
    let get = |name: &str| chat.get(name).filter(|value| !value.is_null());
    let field = |name: &str| asked.fields.iter().find(|(known, _)| known == name).map(|(_, value)| value);
    let wanted = field("tool_request").filter(|value| !value.is_null()).map(wanted::read).transpose()?;
    if let Some(words) = field("capabilities").and_then(wellformed::words) {
        *chats.confirms.borrow_mut() = words.into_iter().collect();
    }
    let tools = match get("tools") {
        None => Vec::new(),
        Some(Value::Array(tools)) => tools.iter().enumerate().map(spec).collect::<Result<_, _>>()?,
        Some(_) => return Err(invalid("tools is no array")),
    };
    let parts = match get("parts").and_then(Value::as_array) {
        Some(list) => parts(context, list)?,
        None => std::mem::take(&mut asked.parts),
    };
    let instruction = get("instruction").is_some();
    if parts.is_empty() && get("command").is_none() && !instruction && wanted.is_none() {
        return Err(invalid("the request holds no text"));
    }
    let history = history(get("messages"));
    let goes_on = goes_on(asked);
    if !given.is_empty() && !goes_on && chats.seen.borrow().contains(&given) {
        return Err(Refused {
            fault: Fault::PromptId,
            why: format!("the prompt id {given:?} was used before"),
        });
    }
    choose_session(context, chats, get("session").and_then(Value::as_str), !history.is_empty())?;
    if given.is_empty() {
        let session = context.host.session.borrow();
        let last = chats.prompts.borrow().get(&*session).map(|(last, _)| last.clone());
        asked.turn = last.filter(|_| goes_on).unwrap_or_else(|| next_id(context, chats));
        context.host.events.set_turn(&asked.turn);
    }
    chats.seen.borrow_mut().insert(asked.turn.clone());
    {
        let count = prompts_so_far(context, chats) + u64::from(!goes_on);
        let session = context.host.session.borrow().clone();
        chats.prompts.borrow_mut().insert(session, (asked.turn.clone(), count));
    }
    chats.used.set(true);
    if !history.is_empty() {
        context.conversation.borrow_mut().messages = history;
    }
    asked.parts = [notices, parts].concat();
    asked.wanted = wanted;
    let mut wishes = context.model.options.borrow_mut();
    *chats.before.borrow_mut() = Some(wishes.clone());
    let none = Value::Null;
    let options = get("options").unwrap_or(&none);
    let text = |value: Option<&Value>| value.and_then(Value::as_str).filter(|text| !text.is_empty()).map(str::to_owned);
    if let Some(model) = text(get("model")).or_else(|| text(options.get("model"))) {
        // The name of a model that is none is the model's business, but for the placeholder of the RFC.
        wishes.model = model;
    }
    let number = |names: &[&str]| names.iter().find_map(|name| options.get(name)?.as_f64());
    wishes.temperature = number(&["temperature"]).or(wishes.temperature);
    wishes.top_p = number(&["top_p", "topP"]).or(wishes.top_p);
    let most = ["max_tokens", "max_output_tokens", "maxOutputTokens"];
    wishes.max_tokens = most.iter().find_map(|name| options.get(name)?.as_u64()).or(wishes.max_tokens);
    let list = options.get("tool_overrides").and_then(Value::as_array);
    let only = list.map(|list| list.iter().filter_map(Value::as_str).map(str::to_owned).collect());
    context.tools.client.set(tools, only);
    Ok(())
}

/// The prompt is answered: what it wished counts no more.
pub(crate) fn restore(context: &Context, chats: &ChatRequests) {
    let Some(before) = chats.before.take() else { return };
    {
        let mut wishes = context.model.options.borrow_mut();
        wishes.temperature = before.temperature;
        wishes.top_p = before.top_p;
        wishes.max_tokens = before.max_tokens;
        wishes.model = before.model;
    }
    context.policy.borrow_mut().set_overrides(Overrides::default());
    context.tools.client.clear();
}

/// A model that the user chooses by a command stays beyond the prompt.
pub(super) fn keep_model(chats: &ChatRequests, model: &str) {
    if let Some(before) = chats.before.borrow_mut().as_mut() {
        model.clone_into(&mut before.model);
    }
}

/// `<session>########<n>`: the next number of the session that was not used.
fn next_id(context: &Context, chats: &ChatRequests) -> String {
    let session = context.host.session.borrow();
    let mut number = 1 + prompts_so_far(context, chats);
    loop {
        let id = format!("{session}########{number}");
        if !chats.seen.borrow().contains(&id) {
            return id;
        }
        number += 1;
    }
}

/// How many prompts the session had, in earlier runs too.
fn prompts_so_far(context: &Context, chats: &ChatRequests) -> u64 {
    if let Some((_, count)) = chats.prompts.borrow().get(&*context.host.session.borrow()) {
        return *count;
    }
    let conversation = context.conversation.borrow();
    let is_prompt = |message: &&Rc<Message>| message.role == Role::User && message.parts.iter().any(|part| matches!(part, Part::Text(_)));
    conversation.messages.iter().filter(is_prompt).count() as u64
}

/// Goes over to the session that a request names.
fn choose_session(context: &Context, chats: &ChatRequests, wanted: Option<&str>, history: bool) -> Result<(), Refused> {
    let now = context.host.session.borrow().clone();
    let wanted = wanted.filter(|id| !id.is_empty() && *id != "_new");
    match wanted {
        Some(id) if *id == now => return Ok(()),
        None if !(chats.used.get() || history && context.store.resumed) => return Ok(()),
        _ => {}
    }
    if let Some(conversation) = wanted.and_then(|id| chats.parked.borrow_mut().remove(id)) {
        enter(context, chats, wanted.unwrap_or_default(), conversation);
        return Ok(());
    }
    let store = Store::open(context.persona.sessions, context.world.wall.root(), &|name| std::env::var_os(name));
    let ask = Ask {
        which: wanted.map_or(Resume::New, |id| Resume::Session(id.to_owned())),
        keep: Ask::of(&context.host.launch).keep,
        ..Ask::default()
    };
    let (transcript, history) = store.begin(&ask, Writer::new(context.world.wall.root())).map_err(|error| Refused {
        fault: Fault::Session,
        why: error.to_string(),
    })?;
    let id = transcript.id().to_owned();
    let conversation = Conversation {
        messages: history.map(History::shared).unwrap_or_default(),
        transcript: Some(Rc::new(RefCell::new(transcript))),
        ..Conversation::default()
    };
    enter(context, chats, &id, conversation);
    Ok(())
}

fn enter(context: &Context, chats: &ChatRequests, id: &str, conversation: Conversation) {
    let left = context.conversation.replace(conversation);
    let old = context.host.session.replace(id.to_owned());
    chats.parked.borrow_mut().insert(old, left);
    context.host.events.set_session(id);
    context.host.introduced.set(false);
}

/// A tool of the host's, in OpenAI's function shape.
fn spec((at, tool): (usize, &Value)) -> Result<Spec, Refused> {
    let function = tool.get("function").unwrap_or(tool);
    let text = |name: &str| function.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    let name = text("name");
    let fine = |c: char| c.is_ascii_alphanumeric() || "_-.".contains(c);
    if name.is_empty() || name.len() > 64 || !name.chars().all(fine) {
        return Err(invalid(format!(
            "tools[{at}].function.name: a tool has a name of up to 64 letters, digits, _, - and ."
        )));
    }
    let schema = function.get("parameters").filter(|schema| !schema.is_null());
    if schema.is_some_and(|schema| !schema.is_object()) {
        return Err(invalid_tool(format!("tools[{at}].function.parameters is no object")));
    }
    Ok(Spec {
        name,
        description: text("description"),
        schema: schema.cloned().unwrap_or_else(|| json!({"type": "object", "properties": {}})),
        kind: ToolKind::Other,
        reads_only: true,
        ..Spec::default()
    })
}

/// The parts of a request: texts joined without anything between them, and what is no text.
fn parts(context: &Context, list: &[Value]) -> Result<Vec<Part>, Refused> {
    let mut all: Vec<Part> = Vec::new();
    for one in list {
        let kind = one.get("type").and_then(Value::as_str).unwrap_or("text");
        let inside = one.get(kind).filter(|inside| inside.is_object()).unwrap_or(one);
        let text = |names: &[&str]| names.iter().find_map(|name| inside.get(name)?.as_str());
        match kind {
            "text" => {
                let text = one
                    .get("text")
                    .and_then(Value::as_str)
                    .ok_or_else(|| invalid("a part of type text has a text"))?;
                match all.last_mut() {
                    Some(Part::Text(before)) => before.push_str(text),
                    _ if text.is_empty() => {}
                    _ => all.push(Part::Text(text.to_owned())),
                }
            }
            "instruction" => {}
            "function_response" => all.push(Part::Text(inside.to_string())),
            "inline_data" => {
                let (Some(data), Some(mime)) = (text(&["data"]), text(&["mime_type", "mimeType"])) else {
                    return Err(invalid("inline_data has data and mime_type"));
                };
                base64::engine::general_purpose::STANDARD
                    .decode(data)
                    .map_err(|_| invalid("the data of inline_data is no base64"))?;
                all.push(media(mime, data.to_owned()));
            }
            "file_data" => {
                let Some(uri) = text(&["file_uri", "fileUri", "path"]) else {
                    return Err(invalid("file_data has file_uri"));
                };
                all.push(file(context, uri, text(&["mime_type", "mimeType"]))?);
            }
            other => return Err(invalid(format!("{other:?} is no type of parts that is known"))),
        }
    }
    Ok(all)
}

fn media(mime: &str, data: String) -> Part {
    let media_type = mime.to_owned();
    if mime.starts_with("image/") {
        Part::Image { media_type, data }
    } else if mime.starts_with("text/") || mime == "application/json" {
        let bytes = base64::engine::general_purpose::STANDARD.decode(&data).unwrap_or_default();
        Part::Text(String::from_utf8_lossy(&bytes).into_owned())
    } else {
        Part::Document { media_type, data }
    }
}

/// A file of the workspace.
fn file(context: &Context, uri: &str, mime: Option<&str>) -> Result<Part, Refused> {
    let path = uri.strip_prefix("file://").unwrap_or(uri);
    if path.contains("://") {
        return Err(invalid(format!("{uri} is no file of the workspace")));
    }
    let place = context.world.wall.locate(path).map_err(invalid)?;
    let (bytes, _) = place.read(LARGEST).map_err(invalid)?;
    let ending = place
        .path()
        .extension()
        .and_then(|ending| ending.to_str())
        .unwrap_or_default()
        .to_lowercase();
    let known = match ending.as_str() {
        "png" => "image/png",
        "jpg" | "jpeg" => "image/jpeg",
        "gif" => "image/gif",
        "webp" => "image/webp",
        "pdf" => "application/pdf",
        _ => "text/plain",
    };
    let mime = mime.unwrap_or(known);
    if mime.starts_with("text/") {
        return match String::from_utf8(bytes) {
            Ok(text) => Ok(Part::Text(format!("\nContent from @{path}:\n{text}\n"))),
            Err(_) => Err(invalid(format!("{path} is no text; its mime_type would be needed"))),
        };
    }
    Ok(media(mime, base64::engine::general_purpose::STANDARD.encode(bytes)))
}

/// What was said before the last message of the user's, in a plain request. Its system message is left out: the agent has its own.
fn history(messages: Option<&Value>) -> Vec<Rc<Message>> {
    let list = messages.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let last = list.iter().rposition(|message| message["role"] == "user").unwrap_or(0);
    let mut conversation = Conversation::default();
    for message in &list[..last] {
        let content = &message["content"];
        let text = match content {
            Value::String(text) => text.clone(),
            Value::Array(parts) => parts.iter().filter_map(|part| part["text"].as_str()).collect(),
            _ => String::new(),
        };
        match message["role"].as_str() {
            _ if text.is_empty() => {}
            Some("user") => conversation.add_user([Part::Text(text)]),
            Some("assistant") => conversation.messages.push(Rc::new(Message {
                role: Role::Assistant,
                parts: vec![Part::Text(text)],
            })),
            _ => {}
        }
    }
    conversation.messages
}

/// Stops the prompt in work, if it is the one that is meant, and says so.
pub(crate) fn cancel(context: &Context, chats: &ChatRequests, input: &Input<'_>) {
    let meant = input.origin.turn.map(Str::as_escaped);
    let turn = context.host.events.turn();
    let session = plain(input.origin.session);
    let ours = session.is_empty() || session == "_new" || session == *context.host.session.borrow() || !chats.parked.borrow().contains_key(&session);
    let busy = context.turns.busy.get();
    // A request that was said just before is about to begin.
    let waits = !busy && context.host.prompts.bytes() > 0 && meant.is_none();
    let runs = ours && (waits || busy && meant.is_none_or(|meant| meant == turn));
    let (status, message) = if runs {
        ("ok", "Request cancelled.")
    } else {
        ("noop", "Nothing to cancel.")
    };
    let result = CancelResult {
        status: Some(Str::trusted(status)),
        message: Some(Str::trusted(message)),
    };
    context
        .host
        .events
        .side(Kind::CancelResult(result), meant.or(runs.then_some(turn.as_str())));
    if runs {
        context.interrupt();
    }
}

/// Gives a sign of life.
pub(crate) fn heartbeat(context: &Context, input: &Input<'_>) {
    let seconds = SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .map_or(0, |since| since.as_secs());
    let seconds = seconds.to_string();
    let heartbeat = Heartbeat {
        status: Some(Str::trusted("ok")),
        ts: Some(Raw::trusted(&seconds)),
    };
    context
        .host
        .events
        .side(Kind::Heartbeat(heartbeat), input.origin.turn.map(Str::as_escaped));
}
