//! The protocol's own events written back as the lines that they were read from.

use std::collections::BTreeMap;

use super::blocks::What;
use super::encode::Encoder;
use super::parts;
use crate::event::{At, Block, BlockHead, Event, Field, Kind, Outcome, OutcomeKind, Piece, Time, ToolResult};
use crate::json::{Out, Raw, Str};

/// What was said to have begun, and has not ended.
#[derive(Debug, Default)]
pub(super) struct Known {
    /// By who says it, and its index.
    open: BTreeMap<(String, u32), Item>,
    /// Who is within a span of thoughts.
    spans: BTreeMap<String, ()>,
    run: String,
}

#[derive(Clone, Debug)]
struct Item {
    what: What,
    id: String,
    is_chunk: bool,
}

impl Encoder {
    pub(super) fn own(&mut self, event: &Event<'_>, out: &mut Out) {
        let parent = event.origin.parent.unwrap_or_default().as_escaped();
        match event.kind {
            Kind::Session(_) if has(event, "name") => line("CUSTOM", event, |_| {}, out),
            Kind::Session(_) => {
                event.origin.turn.unwrap_or_default().as_escaped().clone_into(&mut self.known.run);
                event.origin.session.unwrap_or_default().as_escaped().clone_into(&mut self.session);
                self.known.open.clear();
                self.known.spans.clear();
                line("RUN_STARTED", event, |out| ids(event, out), out);
            }
            Kind::Request(_) if has(event, "name") => line("CUSTOM", event, |_| {}, out),
            Kind::Prompt(_) if has(event, "messageId") => line("TEXT_MESSAGE_END", event, |_| {}, out),
            Kind::RoundStart(_) if has(event, "stepName") => line("STEP_STARTED", event, |_| {}, out),
            Kind::RoundEnd(_) if has(event, "stepName") => line("STEP_FINISHED", event, |_| {}, out),
            Kind::BlockStart(start) => {
                let (what, id, usual) = match start.head {
                    BlockHead::Text => (What::Text, id_of(event, "messageId"), "TEXT_MESSAGE_START"),
                    BlockHead::Call { id, .. } => (What::Call, id.as_escaped(), "TOOL_CALL_START"),
                    _ => (What::Thought, id_of(event, "messageId"), "REASONING_MESSAGE_START"),
                };
                let word = word(event, usual);
                let item = Item {
                    what,
                    id: id.to_owned(),
                    is_chunk: word.ends_with("_CHUNK"),
                };
                self.known.open.insert((parent.to_owned(), start.index), item);
                line(
                    word,
                    event,
                    |out| {
                        if let BlockHead::Call { id, name } = start.head {
                            out.str_if(",\"toolCallId\":", Some(id));
                            out.str_if(",\"toolCallName\":", Some(name));
                        }
                    },
                    out,
                );
            }
            Kind::Delta(delta) => self.own_piece(event, parent, delta.index, delta.piece, out),
            Kind::BlockStop(stop) => {
                let item = self.known.open.remove(&(parent.to_owned(), stop.index));
                let usual = match &item {
                    Some(item) if item.is_chunk => "",
                    Some(item) if item.what == What::Thought && self.known.spans.contains_key(parent) => "",
                    Some(item) => match item.what {
                        What::Text => "TEXT_MESSAGE_END",
                        What::Thought => "REASONING_MESSAGE_END",
                        What::Call => "TOOL_CALL_END",
                    },
                    None => "",
                };
                let word = word(event, usual);
                if word.ends_with("G_END") {
                    self.known.spans.remove(parent);
                }
                if !word.is_empty() {
                    let item = item.filter(|_| !word.ends_with("G_END"));
                    line(word, event, |out| named(item.as_ref(), event, out), out);
                }
            }
            Kind::Reply(reply) if has(event, "entityId") => {
                let data = reply.blocks.iter().find_map(|block| match block {
                    Block::Redacted { data, .. } => Some(*data),
                    _ => None,
                });
                let said = Event {
                    fields: &event.fields[event.fields.iter().take_while(|field| is_of_seal(field)).count()..],
                    ..*event
                };
                let says = |out: &mut Out| {
                    for field in &event.fields[..event.fields.len() - said.fields.len()] {
                        field.write_next(out);
                    }
                    out.str_if(",\"encryptedValue\":", data);
                };
                line("REASONING_ENCRYPTED_VALUE", &said, says, out);
            }
            Kind::ToolResult(result) if word(event, "") != "MESSAGES_SNAPSHOT" => own_result(event, result, out),
            Kind::Outcome(outcome) => self.own_outcome(event, outcome, out),
            Kind::Notice(notice) => {
                match notice.name.as_escaped() {
                    "REASONING_START" | "THINKING_START" => {
                        self.known.spans.insert(parent.to_owned(), ());
                    }
                    "REASONING_END" | "THINKING_END" => {
                        self.known.spans.remove(parent);
                    }
                    _ => {}
                }
                line(notice.name.as_escaped(), event, |_| {}, out);
            }
            Kind::Noise(text) => out.copied_line(text),
            Kind::Unknown(line) => {
                out.unchecked(line);
                out.lit("\n");
            }
            _ => {}
        }
    }

    fn own_piece(&self, event: &Event<'_>, parent: &str, index: u32, piece: Piece<'_>, out: &mut Out) {
        let item = self.known.open.get(&(parent.to_owned(), index));
        let (usual, member, text) = match piece {
            Piece::Text(text) => ("TEXT_MESSAGE_CONTENT", ",\"delta\":", text),
            Piece::Thinking(text) => ("REASONING_MESSAGE_CONTENT", ",\"delta\":", text),
            Piece::Input(text) => ("TOOL_CALL_ARGS", ",\"delta\":", text),
            Piece::Signature(text) => ("REASONING_ENCRYPTED_VALUE", ",\"encryptedValue\":", text),
            Piece::Subject(_) | Piece::Other(_) => return,
        };
        let is_chunk = item.is_some_and(|item| item.is_chunk);
        // The first piece stands on the line with which the block begins.
        let usual = if is_chunk { "" } else { usual };
        let word = word(event, usual);
        if word.is_empty() {
            return;
        }
        let is_seal = matches!(piece, Piece::Signature(_));
        let says = |out: &mut Out| {
            match item.filter(|_| is_seal && !has(event, "entityId")) {
                Some(item) => {
                    out.lit(",\"subtype\":\"message\",\"entityId\":\"");
                    out.lit(&item.id);
                    out.lit("\"");
                }
                None if !is_seal && !is_chunk => named(item, event, out),
                None => {}
            }
            out.lit(member);
            out.str(text);
        };
        line(word, event, says, out);
    }

    fn own_outcome(&self, event: &Event<'_>, outcome: &Outcome<'_>, out: &mut Out) {
        let failed = !matches!(outcome.kind, OutcomeKind::Success | OutcomeKind::Cancelled);
        let made_up = word(event, "").is_empty();
        let usual = if failed { "RUN_ERROR" } else { "RUN_FINISHED" };
        let word = word(event, usual);
        let says = |out: &mut Out| {
            if word == "RUN_ERROR" {
                out.lit(",\"message\":");
                out.str(outcome.error.unwrap_or(Str::trusted("the run failed")));
                if made_up && outcome.synthetic {
                    out.lit(",\"metadata\":{\"agentglot\":{\"synthetic\":true}}");
                }
            } else if made_up {
                out.lit(",\"threadId\":\"");
                out.lit(&self.session);
                out.lit("\",\"runId\":\"");
                out.lit(&self.known.run);
                out.lit("\"");
            } else {
                ids(event, out);
            }
        };
        line(word, event, says, out);
    }
}

/// What a seal is of.
fn is_of_seal(field: &Field<'_>) -> bool {
    field.key.is("subtype") || field.key.is("entityId")
}

fn own_result(event: &Event<'_>, result: &ToolResult<'_>, out: &mut Out) {
    let says = |out: &mut Out| {
        out.str_if(",\"toolCallId\":", Some(result.call));
        if !has(event, "messageId") {
            out.lit(",\"messageId\":\"result-");
            out.body(result.call);
            out.lit("\"");
        }
        if !has(event, "content") {
            out.lit(",\"content\":");
            parts::texts(result.content, out);
        }
    };
    line("TOOL_CALL_RESULT", event, says, out);
}

/// Writes a line: what is its own, and the rest of its members.
fn line(word: &str, event: &Event<'_>, says: impl FnOnce(&mut Out), out: &mut Out) {
    out.lit("{\"type\":\"");
    out.lit(word);
    out.lit("\"");
    if let Some(Time::Millis(time)) = event.origin.time {
        out.unchecked_if(",\"timestamp\":", Some(time));
    }
    out.str_if(",\"subagentRunId\":", event.origin.agent.and_then(|agent| agent.id));
    says(out);
    for field in event.fields.iter().filter(|field| field.at == At::Line && !field.key.is("type")) {
        field.write_next(out);
    }
    out.lit("}\n");
}

fn find<'a>(event: &Event<'a>, name: &str) -> Option<Raw<'a>> {
    event.fields.iter().find(|field| field.key.is(name)).map(|field| field.value)
}

fn has(event: &Event<'_>, name: &str) -> bool {
    find(event, name).is_some()
}

/// Its type, where that is not the usual one of what it says.
fn word<'a>(event: &Event<'a>, usual: &'a str) -> &'a str {
    find(event, "type").and_then(Raw::string).map_or(usual, Str::as_escaped)
}

fn id_of<'a>(event: &Event<'a>, name: &str) -> &'a str {
    find(event, name).and_then(Raw::string).unwrap_or_default().as_escaped()
}

/// Thread and run.
fn ids(event: &Event<'_>, out: &mut Out) {
    if !has(event, "threadId") {
        out.str_if(",\"threadId\":", event.origin.session);
    }
    out.str_if(",\"runId\":", event.origin.turn);
}

/// What a line goes on with that does not name it itself. Thoughts had no ids once.
fn named(item: Option<&Item>, event: &Event<'_>, out: &mut Out) {
    let Some(item) = item else { return };
    let member = item.what.id();
    if has(event, member) || word(event, "").starts_with("THINKING") {
        return;
    }
    out.lit(",\"");
    out.lit(member);
    out.lit("\":\"");
    out.lit(&item.id);
    out.lit("\"");
}
