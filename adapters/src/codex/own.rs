//! Codex's own events written back as the lines that they were read from.

use super::encode::Encoder;
use super::items::{self, Asked, ITEM, Item, MCP_TOOL_CALL, TODO_LIST, Tool};
use crate::event::{At, Block, Event, Field, Fields, Kind, Notice, Outcome, ResultStatus, ToolCall, ToolResult};
use crate::json::{Out, Raw, Str};

impl Encoder {
    pub(super) fn own(&self, event: &Event<'_>, out: &mut Out) {
        match event.kind {
            Kind::Session(_) => {
                out.lit("{\"type\":\"thread.started\"");
                out.str_if(",\"thread_id\":", event.origin.session);
                close(event, out);
            }
            Kind::Notice(notice) => self::notice(event, notice, out),
            Kind::Reply(reply) => reply.blocks.iter().for_each(|block| match block {
                Block::Text { text, .. } => said(event, "agent_message", *text, out),
                Block::Thinking(thinking) => said(event, "reasoning", thinking.text, out),
                Block::Call(call) => self::call(event, call, out),
                _ => {}
            }),
            Kind::ToolResult(result) => self.own_result(event, result, out),
            Kind::Outcome(outcome) => self::outcome(event, outcome, out),
            Kind::Noise(text) => out.copied_line(text),
            Kind::Unknown(line) => {
                out.unchecked(line);
                out.lit("\n");
            }
            _ => {}
        }
    }

    fn own_result(&self, event: &Event<'_>, result: &ToolResult<'_>, out: &mut Out) {
        let Some((tool, asked)) = result.of.as_ref().and_then(item_of) else {
            return;
        };
        // What was cut off was said by no line: a repair adds it.
        let added;
        let shown = match (result.detail, result.status) {
            (Some(detail), _) => detail.raw,
            (None, ResultStatus::Canceled) => {
                added = self.shown(tool, result, out);
                Raw::trusted(&added)
            }
            (None, _) => Raw::trusted("{}"),
        };
        out.lit("{\"type\":\"item.completed\",\"item\":");
        let printed = tool.name == "command_execution" && of_item(event.fields, items::PRINTED).is_none();
        let item = Item {
            tool,
            id: items::item_id(result.call),
            asked,
            shown,
            said: printed.then_some(result.content),
            fields: event.fields,
        };
        item.write(out);
        close(event, out);
    }
}

fn close(event: &Event<'_>, out: &mut Out) {
    for field in event.fields.iter().filter(|field| !field.key.is("type")) {
        items::fields(std::slice::from_ref(field), At::Line, out);
    }
    out.lit("}\n");
}

fn notice(event: &Event<'_>, notice: &Notice<'_>, out: &mut Out) {
    out.lit("{\"type\":");
    out.str(notice.name);
    match notice.data {
        Some(item) => out.unchecked_if(",\"item\":", Some(item)),
        None => out.str_if(",\"message\":", notice.message),
    }
    close(event, out);
}

fn of_item<'e, 'a>(fields: Fields<'a>, key: &str) -> Option<&'e Field<'a>>
where
    'a: 'e,
{
    fields.iter().find(|field| field.at == ITEM && field.key.is(key))
}

fn said(event: &Event<'_>, kind: &str, text: Str<'_>, out: &mut Out) {
    out.lit("{\"type\":\"item.completed\",\"item\":{\"id\":");
    let id = of_item(event.fields, "id");
    out.unchecked(id.map_or(Raw::trusted("\"\""), |id| id.value));
    out.lit(",\"type\":\"");
    out.lit(kind);
    out.lit("\",\"text\":");
    out.str(text);
    for field in event.fields.iter().filter(|field| !id.is_some_and(|id| std::ptr::eq(id, *field))) {
        items::fields(std::slice::from_ref(field), ITEM, out);
    }
    out.lit("}");
    close(event, out);
}

/// What the name of a call says about its item.
fn item_of<'a>(call: &ToolCall<'a>) -> Option<(&'static Tool, Asked<'a>)> {
    match Tool::of(&call.name.unescape()) {
        Some(tool) => Some((tool, Asked::Own(call.input))),
        None => Some((Tool::of(MCP_TOOL_CALL)?, Asked::Builtin(call.name, call.input))),
    }
}

/// The line's type, where it is another one than that of most events of its kind.
fn line_type<'a>(event: &Event<'a>) -> Option<Str<'a>> {
    let field = event.fields.iter().find(|field| field.at == At::Line && field.key.is("type"))?;
    field.value.string()
}

fn call(event: &Event<'_>, call: &ToolCall<'_>, out: &mut Out) {
    let Some((tool, asked)) = item_of(call) else { return };
    let word = line_type(event);
    let is_list = tool.name == TODO_LIST;
    // The line is that of the result.
    if word.is_some_and(|word| word.is("item.completed")) && !is_list {
        return;
    }
    let id = of_item(event.fields, "id").filter(|_| is_list);
    let rest: Vec<Field<'_>> = event
        .fields
        .iter()
        .filter(|field| !id.is_some_and(|id| std::ptr::eq(id, *field)))
        .copied()
        .collect();
    out.lit("{\"type\":");
    out.str(word.unwrap_or(Str::trusted("item.started")));
    out.lit(",\"item\":");
    let item = Item {
        tool,
        id: id.and_then(|id| id.value.string()).unwrap_or(items::item_id(call.id)),
        asked,
        shown: Raw::trusted("{}"),
        said: None,
        fields: &rest,
    };
    item.write(out);
    close(event, out);
}

fn outcome(event: &Event<'_>, outcome: &Outcome<'_>, out: &mut Out) {
    match outcome.error {
        None => {
            out.lit("{\"type\":\"turn.completed\"");
            out.unchecked_if(",\"usage\":", outcome.usage.and_then(|usage| usage.raw));
        }
        Some(error) => {
            out.lit("{\"type\":\"turn.failed\",\"error\":{\"message\":");
            out.str(error);
            items::fields(event.fields, At::Part("/error"), out);
            out.lit("}");
        }
    }
    close(event, out);
}
