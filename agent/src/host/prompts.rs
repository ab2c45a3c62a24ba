//! What the host says, kept until the agent has time for it.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::path::PathBuf;

use serde_json::Value;
use tokio::sync::Notify;

use crate::model::message::{Call, Part};
use agentglot_adapters::raw::event::{Block, ChatRequest, Content, Fields, Input, Prompt};
use agentglot_adapters::raw::json::{Raw, Str};
use agentglot_adapters::raw::prompts;

/// A file that was read as text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Attached {
    /// Where it is.
    pub path: PathBuf,
    /// The same as the user would call it.
    pub shown: String,
    /// What it says, as much of it as was read.
    pub text: String,
}

/// A call that the host wants to be run, not the model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RequestedCall {
    /// The call.
    pub call: Call,
    /// The model is not told of it, and the turn ends with its result: `isClientInitiated`.
    pub of_client: bool,
}

/// A prompt of the host's.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct HostPrompt {
    /// What it says.
    pub parts: Vec<Part>,
    /// It came as a text, not as a list of blocks.
    pub is_text: bool,
    /// The id of the host's line; empty if it has none.
    pub id: String,
    /// Members of the host's line that have no place in the model (Claude's `origin`, `isSynthetic` …).
    pub fields: Vec<(String, Value)>,
    /// The RFC's request, as far as it says more than its text.
    pub chat: Option<Value>,
    /// The files that its text names.
    pub files: Vec<Attached>,
    /// So many parts at the beginning are not the host's.
    pub notices: usize,
    /// The call that the host wants instead of the model.
    pub wanted: Option<RequestedCall>,
    /// The id that the host gives the turn; empty if it gives none.
    pub turn: String,
    /// Nothing is said: the turn before goes on.
    pub continues: bool,
    /// It came while another one was answered, or waited itself.
    pub waited: bool,
    /// The ids of those that are part of it.
    pub with: Vec<String>,
}

impl HostPrompt {
    /// Whether nobody has asked: the agent itself begins the turn.
    pub(crate) fn is_own(&self) -> bool {
        self.continues || (self.notices >= self.parts.len() && !self.parts.is_empty())
    }

    /// Whether the host's text is to be taken as it stands, without commands and paths in it.
    pub(crate) fn is_verbatim(&self) -> bool {
        let set = |(name, value): &(String, Value)| name == "client_composed" && *value == Value::Bool(true);
        self.is_own() || self.fields.iter().any(set)
    }

    /// Whether the model is not to answer it: it stands in the conversation when it is asked for the next time.
    pub(crate) fn is_only_kept(&self) -> bool {
        let set = |(name, value): &(String, Value)| name == "shouldQuery" && *value == Value::Bool(false);
        self.fields.iter().any(set)
    }

    /// A prompt that is a user's message.
    pub(crate) fn of_prompt(input: &Input<'_>, prompt: &Prompt<'_>) -> Self {
        Self {
            parts: parts(prompt.content),
            is_text: matches!(prompt.content, Content::Text(_)),
            id: plain(input.origin.id),
            fields: fields(input.fields),
            turn: plain(input.origin.turn),
            ..Self::default()
        }
    }

    /// A prompt that is a Chat Request of the RFC.
    pub(crate) fn of_chat(input: &Input<'_>, chat: &ChatRequest<'_>) -> Self {
        let text = prompts::of_chat(chat).map(|text| text.to_string()).unwrap_or_default();
        let value = |raw: Option<Raw<'_>>| {
            raw.and_then(|raw| serde_json::from_str::<Value>(raw.as_str()).ok())
                .unwrap_or(Value::Null)
        };
        Self {
            parts: if text.is_empty() { Vec::new() } else { vec![Part::Text(text)] },
            is_text: true,
            id: plain(input.origin.id),
            fields: fields(input.fields),
            chat: Some(serde_json::json!({
                "model": chat.model.map(|model| model.unescape().into_owned()),
                "parts": value(chat.parts),
                "command": value(chat.command),
                "tool_call": chat.tool_call.map(|call| call.unescape().into_owned()),
                "options": value(chat.options),
                "tools": value(chat.tools),
                "messages": value(chat.messages),
                "session": input.origin.session.map(|id| id.unescape().into_owned()),
                "instruction": instruction(chat.parts),
            })),
            turn: plain(input.origin.turn),
            ..Self::default()
        }
    }
}

/// The first instruction among the parts of a request.
fn instruction(parts: Option<Raw<'_>>) -> Option<String> {
    let one = parts?
        .elements()
        .find(|part| part.get("type").and_then(Raw::string).is_some_and(|kind| kind.is("instruction")))?;
    let text = one.get("text").or_else(|| one.get("instruction")).and_then(Raw::string);
    Some(text.map(|text| text.unescape().into_owned()).unwrap_or_default())
}

/// Prompts that wait.
#[derive(Debug, Default)]
pub(crate) struct PromptQueue {
    waiting: RefCell<VecDeque<HostPrompt>>,
    closed: Cell<bool>,
    /// There is something to do without a prompt.
    roused: Cell<bool>,
    wake: Notify,
}

impl PromptQueue {
    /// One more.
    pub(crate) fn put(&self, asked: HostPrompt) {
        self.waiting.borrow_mut().push_back(asked);
        self.wake.notify_one();
    }

    /// No more will come.
    pub(crate) fn close(&self) {
        self.closed.set(true);
        self.wake.notify_one();
    }

    /// There is something to do without a prompt.
    pub(crate) fn rouse(&self) {
        self.roused.set(true);
        self.wake.notify_one();
    }

    /// Waits until there is a prompt, or none will come, or there is something to do without one.
    pub(crate) async fn any(&self) {
        while !self.roused.get() && !self.closed.get() && self.waiting.borrow().is_empty() {
            self.wake.notified().await;
        }
    }

    /// Whether a prompt waits.
    pub(crate) fn any_waits(&self) -> bool {
        !self.waiting.borrow().is_empty()
    }

    /// The next one, if it is such.
    pub(crate) fn take_if(&self, is: impl Fn(&HostPrompt) -> bool) -> Option<HostPrompt> {
        let mut waiting = self.waiting.borrow_mut();
        let is = waiting.front().is_some_and(is);
        if is { waiting.pop_front() } else { None }
    }

    /// The ids of those that wait, where they have one.
    pub(crate) fn ids(&self) -> Vec<String> {
        let waiting = self.waiting.borrow();
        waiting
            .iter()
            .filter(|asked| !asked.id.is_empty())
            .map(|asked| asked.id.clone())
            .collect()
    }

    /// The one of this id is taken back. Whether it has waited.
    pub(crate) fn withdraw(&self, id: &str) -> bool {
        let mut waiting = self.waiting.borrow_mut();
        let at = waiting.iter().position(|asked| asked.id == id);
        at.and_then(|at| waiting.remove(at)).is_some()
    }

    /// All of them are taken back. How many that are.
    pub(crate) fn withdraw_all(&self) -> usize {
        std::mem::take(&mut *self.waiting.borrow_mut()).len()
    }

    /// The next one; `None` when there will be none.
    pub(crate) async fn next(&self) -> Option<HostPrompt> {
        loop {
            if let Some(asked) = self.waiting.borrow_mut().pop_front() {
                return Some(asked);
            }
            if self.closed.get() {
                return None;
            }
            self.wake.notified().await;
        }
    }

    /// About how many bytes wait.
    pub(crate) fn bytes(&self) -> usize {
        let size = |part: &Part| match part {
            Part::Text(text) => text.len(),
            Part::Image { data, .. } | Part::Document { data, .. } => data.len(),
            _ => 0,
        };
        self.waiting.borrow().iter().flat_map(|asked| &asked.parts).map(size).sum()
    }
}

/// The text of a prompt.
pub(crate) fn said(parts: &[Part]) -> String {
    let texts = parts.iter().filter_map(|part| match part {
        Part::Text(text) => Some(text.as_str()),
        _ => None,
    });
    texts.collect()
}

/// The members of a line that have no place in the model.
pub(crate) fn fields(fields: Fields<'_>) -> Vec<(String, Value)> {
    let read = |raw: Raw<'_>| serde_json::from_str(raw.as_str()).unwrap_or(Value::Null);
    fields
        .iter()
        .map(|field| (field.key.unescape().into_owned(), read(field.value)))
        .collect()
}

pub(crate) fn plain(text: Option<Str<'_>>) -> String {
    text.map(|text| text.unescape().into_owned()).unwrap_or_default()
}

fn parts(content: Content<'_>) -> Vec<Part> {
    match content {
        Content::Text(text) => vec![Part::Text(text.unescape().into_owned())],
        Content::Blocks(blocks) => blocks.iter().filter_map(part).collect(),
    }
}

fn part(block: &Block<'_>) -> Option<Part> {
    match block {
        Block::Text { text, .. } => Some(Part::Text(text.unescape().into_owned())),
        Block::Media(media) => {
            let source = media.raw.get("source")?;
            let member = |name: &str| source.get(name).and_then(Raw::string).map(|text| text.unescape().into_owned());
            let (media_type, data) = (member("media_type")?, member("data")?);
            Some(if media.kind.is("image") {
                Part::Image { media_type, data }
            } else {
                Part::Document { media_type, data }
            })
        }
        _ => None,
    }
}
