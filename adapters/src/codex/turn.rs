//! What another dialect said, as processes of one turn each.

use bumpalo::Bump;

use super::encode::Encoder;
use super::failure;
use super::items::{Asked, Item, MCP_TOOL_CALL, TODO_LIST, Tool, answered};
use super::tools::{in_exec, lose_beside_command, lose_others, whole_paths};
use super::unrun;
use crate::codec::Dialect;
use crate::event::{
    Block, Content, Count, DetailShape, Event, Fatal, Kind, Media, Notice, Outcome, Reply, ResultStatus, Scope, ToolCall, ToolResult, Topic, Usage,
};
use crate::ids;
use crate::json::{Out, Raw, Str};
use crate::trace::Kept;
use crate::waiting::Waiting;

/// The turn that is being written.
#[derive(Debug, Default)]
pub(super) struct Turn {
    /// Its first lines are written.
    open: bool,
    /// It was told that it failed.
    failed: bool,
    /// How many items there are.
    items: u64,
    calls: Waiting<Call>,
    list: Option<List>,
    /// The last text, as the body of a JSON string.
    last: Option<String>,
    /// The usage of its rounds so far, and where the source says it.
    usage: Option<Usage<'static>>,
    pub(super) tokens: Kept,
}

/// A call that waits for its result.
#[derive(Debug)]
pub(super) struct Call {
    /// The number of its item, once it is written that it starts.
    item: Option<u64>,
    /// Its place among the calls that wait to be written.
    order: u64,
    name: String,
    input: String,
}

/// The `type` of a text.
const MESSAGE: &str = "agent_message";

/// What becomes of ids.
const COUNTED: &str = "items are counted";

/// The list of things to do: one item of the turn.
#[derive(Debug)]
struct List {
    item: u64,
    input: String,
}

impl Encoder {
    pub(super) fn foreign(&mut self, event: &Event<'_>, out: &mut Out) {
        match event.kind {
            Kind::Session(session) => {
                if let Some(cwd) = session.cwd.filter(|_| self.style.agent) {
                    cwd.as_escaped().clone_into(&mut self.cwd);
                }
                if session.opens_turn {
                    self.begin(event, out);
                } else if let Some(id) = event.origin.session {
                    out.hold(&mut self.named, id.as_escaped());
                }
            }
            Kind::Notice(notice) => self.notice(event, notice, out),
            Kind::Reply(reply) => self.reply(event, reply, out),
            Kind::RoundEnd(end) => {
                if let Some(usage) = &end.usage {
                    Usage::add(&mut self.turn.usage, &usage.with_cache());
                    out.carried();
                }
            }
            Kind::ToolResult(result) => self.result(event, result, out),
            Kind::Outcome(outcome) => self.outcome(event, outcome, out),
            Kind::Fatal(fatal) => self.fatal(event, fatal, out),
            _ => {}
        }
    }

    /// For people the last message is all that is said on standard output.
    pub(super) fn text(&mut self, event: &Event<'_>, out: &mut Out) {
        match event.kind {
            Kind::Reply(reply) if event.origin.parent.is_none() => {
                let said = |block: &Block<'_>| match block {
                    Block::Text { text, .. } if !text.is_empty() => Some(text.as_escaped().to_owned()),
                    _ => None,
                };
                if let Some(last) = reply.blocks.iter().rev().find_map(said) {
                    self.turn.last = Some(last);
                }
            }
            Kind::Outcome(outcome) => {
                let last = std::mem::take(&mut self.turn).last;
                let answer = structured(outcome)
                    .or(last)
                    .or_else(|| outcome.text.map(|text| text.as_escaped().to_owned()));
                // Where nothing was said there is no line, not even an empty one.
                if let Some(answer) = answer.filter(|answer| !outcome.is_error && !answer.is_empty()) {
                    out.lit(&Str::trusted(&answer).unescape());
                    out.lit("\n");
                }
            }
            _ => {}
        }
    }

    /// Begins the turn, if that has not been done yet. Later ones are processes that resume the thread.
    fn begin(&mut self, event: &Event<'_>, out: &mut Out) {
        if std::mem::replace(&mut self.turn.open, true) {
            return;
        }
        if self.thread.is_empty() {
            self.thread = ids::uuid("", self.style.at);
            out.invented("/thread_id", "the source names no session");
        }
        out.lit("{\"type\":\"thread.started\",\"thread_id\":\"");
        out.lit(&self.thread);
        out.lit("\"}\n{\"type\":\"turn.started\"}\n");
        out.release(&mut self.named);
        if let Some(id) = event.origin.session {
            out.used(id.as_escaped());
        }
    }

    /// An attempt that is made again.
    fn notice(&self, event: &Event<'_>, notice: &Notice<'_>, out: &mut Out) {
        let field = |key: &str| event.fields.iter().find(|field| field.key.is(key)).map(|field| field.value);
        let numbers = (field("attempt"), field("max_retries"));
        let (Topic::Retry, (Some(attempt), Some(most)), true) = (notice.topic, numbers, self.turn.open) else {
            return;
        };
        if attempt.u64().is_some() && most.u64().is_some() {
            out.lit("{\"type\":\"error\",\"message\":\"Reconnecting... ");
            out.unchecked(attempt);
            out.lit("/");
            out.unchecked(most);
            out.lit("\"}\n");
            out.invented("/message", "the program's own words for an attempt that is made again");
        }
    }

    fn next_item(&mut self, out: &Out) -> u64 {
        out.invented("/item/id", COUNTED);
        self.turn.items += 1;
        self.turn.items - 1
    }

    fn reply(&mut self, event: &Event<'_>, reply: &Reply<'_>, out: &mut Out) {
        self.begin(event, out);
        // Why there is no reply is said by the turn's outcome, and is nothing that the agent says.
        if self.style.agent && reply.error.is_some() {
            return;
        }
        for block in reply.blocks {
            match block {
                Block::Text { text, .. } => self.said(MESSAGE, *text, out),
                Block::Thinking(thinking) => self.said("reasoning", thinking.text, out),
                Block::Call(call) => self.call(call, out),
                // Media and sealed thoughts have no place.
                _ => {}
            }
        }
    }

    fn said(&mut self, kind: &str, text: Str<'_>, out: &mut Out) {
        if text.is_empty() {
            out.used(text.as_escaped());
            return;
        }
        if kind == MESSAGE {
            self.turn.last = Some(text.as_escaped().to_owned());
        }
        out.lit("{\"type\":\"item.completed\",\"item\":{\"id\":\"item_");
        let item = self.next_item(out);
        out.number(item);
        out.lit("\",\"type\":\"");
        out.lit(kind);
        out.lit("\",\"text\":");
        out.str(text);
        out.lit("}}\n");
    }

    /// The item of a call, if its tool has one of its own. Other dialects' names are names of tools without.
    fn tool(&self, name: &str, input: Raw<'_>) -> Option<&'static Tool> {
        let own_names = self.style.native_tools || matches!(self.style.source, Dialect::Agentglot | Dialect::Codex);
        Tool::of(name).filter(|tool| own_names && tool.takes(input))
    }

    fn call(&mut self, call: &ToolCall<'_>, out: &mut Out) {
        let arena = Bump::new();
        if let Some((name, input)) = self.in_own_words(call, &arena) {
            out.used(call.name.as_escaped());
            match call.name.is("apply_patch") {
                // How a patch changes files has no place.
                true => call
                    .input
                    .members()
                    .for_each(|(_, patch)| out.lost(patch.as_str(), None, "no place in codex")),
                false => out.used(call.input.as_str()),
            }
            lose_beside_command(call, out);
            if let Some(why) = call.input.get("explanation") {
                out.lost(why.as_str(), None, "why the plan changes has no place in exec");
            }
            lose_others(call.input.get("changes"), &["path", "kind"], out);
            let kinds = call.input.get("changes").into_iter().flat_map(Raw::elements);
            for (_, value) in kinds
                .filter_map(|change| change.get("kind"))
                .flat_map(Raw::members)
                .filter(|(name, _)| !name.is("type"))
            {
                out.lost(value.as_str(), None, "no place in codex");
            }
            lose_others(call.input.get("plan"), &["step", "status"], out);
            return self.own_call(&ToolCall { name, input, ..*call }, out);
        }
        self.own_call(call, out);
    }

    /// The calls of the program's other formats.
    fn in_own_words<'a>(&self, call: &ToolCall<'a>, arena: &'a Bump) -> Option<(Str<'a>, Raw<'a>)> {
        if self.style.agent {
            return in_exec(call, arena).map(|(name, input)| (name, whole_paths(input, &self.cwd, arena)));
        }
        in_exec(call, arena).filter(|_| self.style.source == Dialect::Codex)
    }

    fn own_call(&mut self, call: &ToolCall<'_>, out: &mut Out) {
        let name = call.name.unescape();
        let tool = self.tool(&name, call.input);
        out.renamed(call.id.as_escaped(), COUNTED);
        match tool.map(|tool| tool.name) {
            Some(TODO_LIST) => return self.list(call, out),
            // Only the result tells whether a file is new.
            Some("file_change") => {
                out.used(call.name.as_escaped());
                out.used(call.input.as_str());
                out.carried();
                return self.remember(call, None);
            }
            None => {
                out.invented("/item/server", "the tool has no item of its own");
            }
            Some(_) => {}
        }
        let item = self.next_item(out);
        self.line("item.started", item, (call.name, call.input), None, out);
        self.remember(call, Some(item));
    }

    fn remember(&mut self, call: &ToolCall<'_>, item: Option<u64>) {
        let waiting = Call {
            item,
            order: self.turn.calls.len() as u64 + self.turn.items,
            name: call.name.as_escaped().to_owned(),
            input: call.input.as_str().to_owned(),
        };
        self.turn.calls.add(call.id.as_escaped(), waiting);
    }

    /// Each time that the list is written it is the same item.
    fn list(&mut self, call: &ToolCall<'_>, out: &mut Out) {
        let (item, word) = match &self.turn.list {
            Some(list) => (list.item, "item.updated"),
            None => (self.next_item(out), "item.started"),
        };
        self.line(word, item, (call.name, call.input), None, out);
        let input = call.input.as_str().to_owned();
        self.turn.list = Some(List { item, input });
        self.remember(call, Some(item));
    }

    /// Writes a line with the item of a call.
    fn line(&self, word: &str, item: u64, (name, input): (Str<'_>, Raw<'_>), done: Option<&ToolResult<'_>>, out: &mut Out) {
        let (tool, asked) = match self.tool(&name.unescape(), input) {
            Some(tool) => {
                out.used(name.as_escaped());
                (tool, Asked::Own(input))
            }
            // It is one of the table.
            None => match Tool::of(MCP_TOOL_CALL) {
                Some(tool) => (tool, Asked::Builtin(name, input)),
                None => return,
            },
        };
        let id = format!("item_{item}");
        let shown = match done {
            Some(result) => self.shown(tool, result, out),
            None => match tool.begins.strip_prefix("{\"receiver_thread_ids\"") {
                Some(rest) => format!("{{\"sender_thread_id\":\"{}\",\"receiver_thread_ids\"{rest}", self.thread),
                None => tool.begins.to_owned(),
            },
        };
        out.lit("{\"type\":\"");
        out.lit(word);
        out.lit("\",\"item\":");
        let item = Item {
            tool,
            id: Str::trusted(&id),
            asked,
            shown: Raw::trusted(&shown),
            said: done.map(|result| result.content),
            fields: &[],
        };
        item.write(out);
        out.lit("}\n");
    }

    /// What came of a call, as its item says it.
    pub(super) fn shown(&self, tool: &Tool, result: &ToolResult<'_>, out: &Out) -> String {
        unrun::lose(tool.name, result.status, false, out);
        // What a model was told of a call may say how it ended, and not what came of it.
        let is_whole = |raw: Raw<'_>| tool.shows.first().is_none_or(|first| raw.get(first).is_some());
        if let Some(detail) = result.detail.filter(|detail| detail.shape == DetailShape::Codex && is_whole(detail.raw)) {
            let shown = detail.raw.members().filter(|(name, _)| tool.shows.contains(&name.as_escaped()));
            shown.for_each(|(_, value)| out.used(value.as_str()));
            return detail.raw.as_str().to_owned();
        }
        let status = match result.status {
            ResultStatus::Success => "completed",
            ResultStatus::Denied if tool.name == "command_execution" => "declined",
            _ => "failed",
        };
        let tell = || result.content.texts().for_each(|text| out.used(text.as_escaped()));
        match tool.name {
            "command_execution" => format!("{{\"exit_code\":null,\"status\":\"{status}\"}}"),
            MCP_TOOL_CALL => {
                tell();
                match result.status {
                    ResultStatus::Success | ResultStatus::Error => format!(
                        "{{\"result\":{{\"content\":[{}],\"structured_content\":null}},\"error\":null,\"status\":\"{status}\"}}",
                        blocks(result.content, out)
                    ),
                    ResultStatus::Denied | ResultStatus::Canceled => {
                        let text: String = result.content.as_one().map(Str::as_escaped).collect();
                        let words = unrun::words(result.status, Str::trusted(&text), "/item/error/message", out);
                        format!("{{\"result\":null,\"error\":{{\"message\":\"{words}{text}\"}},\"status\":\"failed\"}}")
                    }
                }
            }
            "collab_tool_call" => {
                tell();
                let text: String = result.content.as_one().map(Str::as_escaped).collect();
                let agent = ids::uuid_of(&self.thread, result.call.as_escaped());
                out.invented("/item/receiver_thread_ids", "the source does not name the subagent's thread");
                let how = if result.status == ResultStatus::Success {
                    "completed"
                } else {
                    "errored"
                };
                format!(
                    "{{\"sender_thread_id\":\"{}\",\"receiver_thread_ids\":[\"{agent}\"],\"agents_states\":{{\"{agent}\":{{\"status\":\"{how}\",\"message\":\"{text}\"}}}},\"status\":\"{status}\"}}",
                    self.thread
                )
            }
            "file_change" => format!("{{\"status\":\"{status}\"}}"),
            _ => "{}".to_owned(),
        }
    }

    fn result(&mut self, event: &Event<'_>, result: &ToolResult<'_>, out: &mut Out) {
        self.begin(event, out);
        out.renamed(result.call.as_escaped(), COUNTED);
        let id = result.call.as_escaped();
        let waiting = self.turn.calls.take(id).or_else(|| self.late.take(id));
        let Some(Call { item, name, input, .. }) = waiting else { return };
        let mut call = (Str::trusted(name.as_str()), Raw::trusted(input.as_str()));
        if let Some(name) = result.name_again() {
            out.used(name.as_escaped());
        }
        let is_held = item.is_none();
        if call.0.is(TODO_LIST) && self.tool(TODO_LIST, call.1).is_some() {
            return unrun::lose(TODO_LIST, result.status, false, out);
        }
        // Where the call was not written yet, its result may know better what it is.
        let arena = Bump::new();
        if let Some(of) = result.of.filter(|of| is_held && self.tool(&of.name.unescape(), of.input).is_some()) {
            call = self.in_own_words(&of, &arena).unwrap_or((of.name, of.input));
        }
        let item = match item {
            Some(item) => item,
            None => {
                let item = self.next_item(out);
                self.line("item.started", item, call, None, out);
                item
            }
        };
        self.line("item.completed", item, call, Some(result), out);
    }

    /// Writes the calls of which nobody said yet that they start, and the list of things to do for the last time.
    pub(super) fn release(&mut self, out: &mut Out) {
        let mut calls: Vec<(String, Call)> = std::mem::take(&mut self.turn.calls).into_all().collect();
        calls.sort_by_key(|(_, call)| call.order);
        self.late = Waiting::default();
        for (id, mut call) in calls {
            // Each process counts its items.
            if call.item.take().is_none() {
                let item = self.next_item(out);
                self.line("item.started", item, (Str::trusted(&call.name), Raw::trusted(&call.input)), None, out);
            }
            self.late.add(&id, call);
        }
        if let Some(List { item, input }) = self.turn.list.take() {
            self.line("item.completed", item, (Str::trusted(TODO_LIST), Raw::trusted(&input)), None, out);
        }
    }

    fn outcome(&mut self, event: &Event<'_>, outcome: &Outcome<'_>, out: &mut Out) {
        if self.turn.failed {
            out.merged("the error was told already");
        } else {
            self.begin(event, out);
            self.release(out);
            self.spent(outcome);
            if outcome.is_error {
                fail(Str::trusted(&failure::words(outcome, "/error/message", out)), out);
            } else {
                // An agent of ours gives such an answer by a call; in a log the model's own words are there.
                match structured(outcome).filter(|_| self.style.agent) {
                    Some(body) => self.answer(Some(Str::trusted(&body)), out),
                    None => self.answer(outcome.answer(out), out),
                }
                match &outcome.usage {
                    Some(usage) => usage.parts().for_each(|source| out.used(source)),
                    None => out.release(&mut self.turn.tokens),
                }
                self.completed(out);
            }
        }
        out.drop_held(
            &mut self.turn.tokens,
            "no place in codex: a turn that succeeds says the tokens of its thread, a model call does not",
        );
        self.turn = Turn::default();
    }

    /// The answer is the last text of the turn, or what the program said where the model said nothing.
    fn answer(&mut self, text: Option<Str<'_>>, out: &mut Out) {
        let Some(text) = text else { return };
        match &self.turn.last {
            None => self.said(MESSAGE, text, out),
            Some(last) => answered(last, text, out),
        }
    }

    /// Counts up what the thread has used.
    fn spent(&mut self, outcome: &Outcome<'_>) {
        let rounds = self.turn.usage.take();
        match outcome.usage {
            // A turn that failed may say zeros in the place of the sum.
            Some(usage) if usage.scope == Scope::Session && !usage.is_blank() => {
                self.total = Some(usage.with_cache());
            }
            Some(usage) if usage.scope != Scope::Session => Usage::add(&mut self.total, &usage.with_cache()),
            Some(_) => {}
            None => {
                if let Some(usage) = rounds {
                    Usage::add(&mut self.total, &usage.with_cache());
                }
            }
        }
    }

    fn completed(&self, out: &mut Out) {
        out.lit("{\"type\":\"turn.completed\",\"usage\":{\"input_tokens\":");
        let Usage {
            input,
            output,
            reasoning,
            cache_read,
            cache_write,
            ..
        } = self.total.unwrap_or_default();
        if input.is_none() {
            out.invented("/usage", "the source says nothing of tokens");
        } else if reasoning.is_none() {
            out.invented("/usage/reasoning_output_tokens", "the source does not say it");
        }
        let number = |count: Option<Count<'_>>, out: &mut Out| out.number(count.map_or(0, |count| count.value));
        number(input, out);
        out.lit(",\"cached_input_tokens\":");
        number(cache_read, out);
        out.lit(",\"cache_write_input_tokens\":");
        number(cache_write, out);
        out.lit(",\"output_tokens\":");
        number(output, out);
        out.lit(",\"reasoning_output_tokens\":");
        number(reasoning, out);
        out.lit("}}\n");
    }

    /// The program itself ends with an error; an outcome may follow, and then says nothing new.
    fn fatal(&mut self, event: &Event<'_>, fatal: &Fatal<'_>, out: &mut Out) {
        self.begin(event, out);
        self.release(out);
        fail(fatal.message, out);
        self.turn.failed = true;
    }
}

/// The body of a JSON string that holds the answer, where it has the form that the host asked for.
pub(super) fn structured(outcome: &Outcome<'_>) -> Option<String> {
    let answer = outcome.structured?;
    let mut body = String::new();
    Str::escape(answer.as_str(), &mut body);
    Some(body)
}

/// What went wrong stands in a line of its own, then in that of the turn's end.
fn fail(message: Str<'_>, out: &mut Out) {
    out.lit("{\"type\":\"error\",\"message\":");
    out.str(message);
    out.lit("}\n{\"type\":\"turn.failed\",\"error\":{\"message\":");
    out.str(message);
    out.lit("}}\n");
}

/// The blocks of a result, as a server gives them.
fn blocks(content: Content<'_>, out: &Out) -> String {
    let text = |text: Str<'_>| format!("{{\"type\":\"text\",\"text\":\"{}\"}}", text.as_escaped());
    let all: Vec<String> = match content {
        Content::Text(one) => vec![text(one)],
        Content::Blocks(blocks) => blocks
            .iter()
            .filter_map(|block| match block {
                Block::Text { text: one, .. } => Some(text(*one)),
                Block::Media(media) if media.raw.get("data").is_none() => image(media, out),
                Block::Media(Media { raw, .. }) | Block::Other { raw, .. } if raw.check().is_ok() => {
                    out.used(raw.as_str());
                    Some(raw.as_str().to_owned())
                }
                _ => None,
            })
            .collect(),
    };
    all.join(",")
}

/// An image as servers give it: its data stand in the block. They have none that lies elsewhere, and no documents of this kind.
fn image(media: &Media<'_>, out: &Out) -> Option<String> {
    let picture = media.picture().filter(|picture| !picture.is_document)?;
    let (mime, data) = (picture.mime?.as_escaped(), picture.value.as_escaped());
    picture.tell("an image has its data beside its type", out);
    Some(format!("{{\"type\":\"image\",\"data\":\"{data}\",\"mimeType\":\"{mime}\"}}"))
}
