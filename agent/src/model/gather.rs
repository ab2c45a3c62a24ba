use std::borrow::Cow;

use serde_json::{Map, Value};

use crate::model::message::{Call, Message, Part, Role, Source};
use agentglot_adapters::raw::event::{BlockHead, Count, Event, Field, Kind, Piece, StopKind, Usage};
use agentglot_adapters::raw::json::Str;
use agentglot_models::Api;

/// No more is kept of a call that nobody here knows, in bytes.
const MOST_EXTRA: usize = 64 << 10;

/// Puts together what a model says: give it every event of one reply, in order. A reply that was broken off is put together as far as it
/// came.
#[derive(Debug)]
pub struct Gather {
    source: Source,
    id: Option<String>,
    model: Option<String>,
    blocks: Vec<Gathered>,
    stop: Option<(StopKind, String)>,
    usage: Option<Usage<'static>>,
    ended: bool,
}

#[derive(Clone, Debug)]
struct Gathered {
    part: Part,
    /// Its stop has come.
    whole: bool,
    /// OpenRouter's thoughts, put together.
    details: Vec<Value>,
    /// Its text as it was written: a piece may end in one half of a character, which the next one completes.
    body: String,
}

impl Gather {
    /// For a reply of this API to a request for this model.
    pub fn new(api: Api, model: &str) -> Self {
        Self {
            source: Source {
                api: api.name().to_owned(),
                model: model.to_owned(),
                member: String::new(),
            },
            id: None,
            model: None,
            blocks: Vec::new(),
            stop: None,
            usage: None,
            ended: false,
        }
    }

    /// Takes the next event. Those that are no part of a reply are passed over.
    pub fn event(&mut self, event: &Event<'_>) {
        match event.kind {
            Kind::RoundStart(start) => {
                self.id = start.id.map(plain);
                self.model = start.model.map(plain);
                self.ended = false;
                self.used(start.usage);
            }
            Kind::BlockStart(start) => self.begin(start.head, event.fields),
            Kind::Delta(delta) => self.piece(delta.piece, event.fields),
            Kind::BlockStop(_) => {
                if let Some(block) = self.blocks.last_mut() {
                    block.settle();
                    block.whole = true;
                }
            }
            Kind::RoundStop(stop) => {
                if let Some(stop) = stop.stop {
                    self.stop = Some((stop.kind, plain(stop.word)));
                }
                self.used(stop.usage);
            }
            Kind::RoundEnd(end) => match end.abandoned_from {
                Some(from) => self.blocks.truncate(from as usize),
                None => self.ended = true,
            },
            _ => {}
        }
    }

    /// What the model said: text, thinking, calls. Of a reply that was broken off, what came of it, without calls whose arguments are not
    /// whole; a thought without its signature never goes back to Anthropic.
    pub fn message(&self) -> Message {
        self.message_of(self.blocks.len())
    }

    /// The same of a reply that was broken off, without what came of its last block.
    pub fn whole_message(&self) -> Message {
        self.message_of(self.whole_blocks())
    }

    /// So many blocks have come to their end.
    pub fn whole_blocks(&self) -> usize {
        self.blocks.iter().take_while(|block| block.whole).count()
    }

    fn message_of(&self, blocks: usize) -> Message {
        let mut parts = Vec::new();
        for mut block in self.blocks[..blocks].iter().cloned() {
            block.settle();
            if let Part::Call(call) = &mut block.part {
                // No arguments, or none yet: where a reply broke off nobody knows.
                let unsaid = call.input.trim().is_empty();
                if unsaid {
                    "{}".clone_into(&mut call.input);
                }
                let cut = !self.ended && (unsaid || !block.whole || !is_json(&call.input));
                if cut {
                    continue;
                }
            }
            let empty = match &block.part {
                Part::Text(text) => text.is_empty(),
                Part::Thinking { text, signature, .. } => text.is_empty() && signature.is_none(),
                _ => false,
            };
            if !empty {
                parts.push(block.part);
            }
        }
        Message {
            role: Role::Assistant,
            parts,
        }
    }

    /// All calls that were told, also those of which nobody knows all arguments.
    pub fn calls(&self) -> Vec<Call> {
        let settled = self.blocks.iter().cloned().filter_map(|mut block| {
            block.settle();
            match block.part {
                Part::Call(call) => Some(call),
                _ => None,
            }
        });
        settled.collect()
    }

    /// Why it stopped, and the API's word for it. Calls are to be run after [`StopKind::Tools`] alone. A stream that says it is over and
    /// names no reason has an empty word; `None`: the reply did not come to its end.
    pub fn stop(&self) -> Option<(StopKind, &str)> {
        let unsaid = || match self.blocks.iter().any(|block| matches!(block.part, Part::Call(_))) {
            true => (StopKind::Tools, ""),
            false => (StopKind::Done, ""),
        };
        let said = self.stop.as_ref().map(|(kind, word)| (*kind, word.as_str()));
        self.ended.then(|| said.unwrap_or_else(unsaid))
    }

    /// Tokens used, each kind once: `input` is without what the cache answered or took. What the API did not say is absent.
    pub const fn usage(&self) -> Option<Usage<'static>> {
        self.usage
    }

    /// The reply's id.
    pub fn id(&self) -> Option<&str> {
        self.id.as_deref()
    }

    /// The model that answered, as the API calls it.
    pub fn model(&self) -> Option<&str> {
        self.model.as_deref()
    }

    /// Whether the reply came to its end.
    pub const fn is_whole(&self) -> bool {
        self.ended
    }

    /// Takes over what a usage says; numbers that it does not say stay. Totals so far are said again and again: the last one counts.
    fn used(&mut self, usage: Option<Usage<'_>>) {
        let Some(usage) = usage else { return };
        let so_far = self.usage.get_or_insert_default();
        let value = |count: Option<Count<'_>>| count.map(|count| Count::derived(count.value));
        so_far.input = usage.fresh_tokens().map(Count::derived).or(so_far.input);
        so_far.output = value(usage.output).or(so_far.output);
        so_far.cache_read = value(usage.cache_read).or(so_far.cache_read);
        so_far.cache_write = value(usage.cache_write).or(so_far.cache_write);
    }

    fn begin(&mut self, head: BlockHead<'_>, fields: &[Field<'_>]) {
        let part = match head {
            BlockHead::Text => Part::Text(String::new()),
            BlockHead::Thinking => {
                let member = fields.iter().find(|field| field.key.is("member")).and_then(|field| field.value.string());
                Part::Thinking {
                    text: String::new(),
                    signature: None,
                    source: Source {
                        member: member.map(plain).unwrap_or_default(),
                        ..self.source.clone()
                    },
                }
            }
            BlockHead::Redacted { data } => Part::Redacted { data: plain(data) },
            BlockHead::Call { id, name } => Part::Call(Call {
                id: plain(id),
                name: plain(name),
                input: String::new(),
                extra: None,
            }),
            // What no message can hold: blocks of server tools, which are never asked for here.
            BlockHead::Other { .. } => Part::Text(String::new()),
        };
        self.blocks.push(Gathered {
            part,
            whole: false,
            details: Vec::new(),
            body: String::new(),
        });
        if !matches!(head, BlockHead::Thinking) {
            self.extra(fields);
        }
    }

    fn piece(&mut self, piece: Piece<'_>, fields: &[Field<'_>]) {
        let Some(block) = self.blocks.last_mut() else { return };
        match (&mut block.part, piece) {
            (Part::Text(_), Piece::Text(more)) | (Part::Thinking { .. }, Piece::Thinking(more)) | (Part::Call(_), Piece::Input(more)) => {
                block.body.push_str(more.as_escaped());
            }
            (Part::Thinking { signature, .. }, Piece::Signature(more)) => {
                signature.get_or_insert_default().push_str(&more.unescape());
            }
            _ => {}
        }
        if let Part::Thinking { source, .. } = &mut block.part {
            for field in fields.iter().filter(|field| field.key.is("reasoning_details")) {
                "reasoning_details".clone_into(&mut source.member);
                for detail in field.value.elements() {
                    if let Ok(detail) = serde_json::from_str(detail.as_str()) {
                        add_detail(&mut block.details, detail);
                    }
                }
            }
        }
        self.extra(fields);
    }

    /// Members of a call that nobody here knows.
    fn extra(&mut self, fields: &[Field<'_>]) {
        let Some(Gathered { part: Part::Call(call), .. }) = self.blocks.last_mut() else {
            return;
        };
        for field in fields.iter().filter(|field| !field.key.is("type")) {
            if call.extra.as_ref().is_some_and(|extra| extra.len() > MOST_EXTRA) {
                return;
            }
            let Ok(value) = serde_json::from_str::<Value>(field.value.as_str()) else {
                continue;
            };
            let before = call
                .extra
                .as_deref()
                .and_then(|text| serde_json::from_str::<Map<String, Value>>(text).ok());
            let mut members = before.unwrap_or_default();
            members.insert(plain(field.key), value);
            call.extra = Some(Value::Object(members).to_string());
        }
    }
}

impl Gathered {
    /// Turns what was gathered as it was written into text.
    fn settle(&mut self) {
        let body = std::mem::take(&mut self.body);
        if !body.is_empty() {
            let text = Str::trusted(&body).unescape();
            match &mut self.part {
                Part::Text(to) | Part::Thinking { text: to, .. } => to.push_str(&text),
                Part::Call(call) => call.input.push_str(&text),
                _ => {}
            }
        }
        if let (Part::Thinking { signature, .. }, false) = (&mut self.part, self.details.is_empty()) {
            *signature = Some(Value::Array(std::mem::take(&mut self.details)).to_string());
        }
    }
}

/// Adds a piece of OpenRouter's thoughts. Pieces of one thought have one type and one index, and become one.
fn add_detail(details: &mut Vec<Value>, detail: Value) {
    let text = match detail["type"].as_str() {
        Some("reasoning.text") => "text",
        Some("reasoning.summary") => "summary",
        _ => return details.push(detail),
    };
    let Some(last) = details
        .last_mut()
        .filter(|last| last["type"] == detail["type"] && last["index"] == detail["index"])
    else {
        return details.push(detail);
    };
    let Value::Object(members) = detail else { return };
    for (name, value) in members {
        match (name == text, value.as_str()) {
            (true, Some(more)) => match &mut last[&name] {
                Value::String(before) => before.push_str(more),
                other => *other = more.into(),
            },
            (false, _) if !value.is_null() => last[&name] = value,
            _ => {}
        }
    }
}

fn plain(text: Str<'_>) -> String {
    match text.unescape() {
        Cow::Borrowed(text) => text.to_owned(),
        Cow::Owned(text) => text,
    }
}

fn is_json(text: &str) -> bool {
    serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok()
}
