//! What the model was told and said: items of OpenAI's Responses API.

use super::decode::{Decoder, NO_REPLY};
use super::line::Line;
use super::output::{Said, said};
use crate::chat::arguments_json;
use crate::codec::{Cx, Dialect};
use crate::codex::items::{MCP_TOOL_CALL, object};
use crate::codex::pictures;
use crate::codex::tools::model;
use crate::event::{
    Block, Content, Detail, DetailShape, Fate, Kind, Media, Prompt, PromptSource, Reply, ResultStatus, RoundEnd, Session, Sink, Thinking, ToolCall,
    ToolKind, ToolResult, Topic,
};
use crate::json::{Cursor, Error, Raw, Shape, Str};
use crate::tools::json::Json;
use crate::tools::kind_of;

/// The kinds of items, but for those that no version wrote without a `payload` around them.
pub(super) const KINDS: [&str; 9] = [
    "message",
    "reasoning",
    "function_call",
    "function_call_output",
    "custom_tool_call",
    "custom_tool_call_output",
    "local_shell_call",
    "web_search_call",
    "other",
];

/// What messages in the user's role begin with that the program writes, where it does not say so (0.80).
const CONTEXT: [&str; 8] = [
    "# AGENTS.md instructions for ",
    "<environment_context>",
    "<user_instructions>",
    "<turn_aborted>",
    "<user_shell_command>",
    "<subagent_notification>",
    "<skill>",
    "<permissions instructions>",
];

/// What stands before the name of an MCP server.
const MCP: &str = "mcp__";

/// More calls than this are not remembered.
const MOST_OPEN: usize = 1024;

impl Decoder {
    pub(super) fn item<'a>(&mut self, line: &Line<'a>, sink: &mut dyn Sink<'a>) -> Result<(), Error> {
        let name = line.need("type")?.unescape();
        match &*name {
            "message" => self.message(line, sink)?,
            "agent_message" => self.agent_says(line, sink)?,
            "reasoning" => self.reasoning(line, sink),
            "function_call" => {
                let call = function(line)?;
                self.call(line, call, sink);
            }
            "custom_tool_call" => {
                line.need("input")?;
                let input = line.get("input").unwrap_or(Raw::NULL);
                let call = made(line, "name", object(&[("input", input)], &line.cx))?;
                self.call(line, call, sink);
            }
            "tool_search_call" => {
                let call = named(line, "tool_search", line.get("arguments").unwrap_or(Raw::trusted("{}")))?;
                self.call(line, call, sink);
            }
            "local_shell_call" => {
                let call = named(line, "local_shell", line.get("action").ok_or_else(|| line.missing("action"))?)?;
                self.call(line, call, sink);
            }
            "web_search_call" => self.search(line, sink),
            "function_call_output" | "custom_tool_call_output" | "tool_search_output" => self.output(line, sink)?,
            "image_generation_call" => self.image(line, sink),
            "additional_tools" | "ghost_snapshot" | "compaction_trigger" | "configuration_update" | "other" => {
                self.notice(line, &name, Topic::Other, None, sink);
            }
            "compaction" | "compaction_summary" | "context_compaction" => self.compaction(line, &name, None, sink),
            _ => self.tell_with(line, Kind::Unknown(line.raw), &[], sink),
        }
        Ok(())
    }

    fn message<'a>(&mut self, line: &Line<'a>, sink: &mut dyn Sink<'a>) -> Result<(), Error> {
        let role = line.need("role")?;
        let content = line.need_list("content")?;
        let blocks = blocks(content, &line.cx);
        line.cx.took(role.as_escaped());
        match &*role.unescape() {
            "assistant" if !blocks.is_empty() => self.reply(line, blocks, sink),
            "user" if is_prompt(line, blocks) => self.prompt(line, blocks, sink),
            // Files without a folder in their first line.
            "user" if line.is_bare() && folder(blocks).is_some() => {
                // A copy: what else the model was told has no place.
                let cwd = folder(blocks).map(|cwd| line.cx.text(cwd.as_escaped()));
                let facts = line.cx.keep(Session { cwd, ..Session::default() });
                self.tell(line, Kind::Session(facts), sink);
            }
            // What the model has to know: written anew by each run.
            role => {
                let name = format!("message/{role}");
                self.notice(line, &name, Topic::Other, None, sink);
            }
        }
        Ok(())
    }

    /// Another agent of the team gives a task, or says what came of one.
    fn agent_says<'a>(&mut self, line: &Line<'a>, sink: &mut dyn Sink<'a>) -> Result<(), Error> {
        let blocks = blocks(line.need_list("content")?, &line.cx);
        match std::mem::take(&mut self.sent_for) && !blocks.is_empty() {
            true => self.prompt(line, blocks, sink),
            false => self.notice(line, "agent_message", Topic::Other, None, sink),
        }
        Ok(())
    }

    fn prompt<'a>(&mut self, line: &Line<'a>, blocks: &'a [Block<'a>], sink: &mut dyn Sink<'a>) {
        let main = self.kept.is_main();
        // What the user says while the turn goes on becomes a part of it; where nobody says when turns end, each prompt begins one.
        let goes_on = self.tasked && self.kept.turn.is_open();
        if !goes_on {
            self.end_turn(&line.cx, sink);
        }
        self.spoken = true;
        self.compacted = false;
        let source = match (main, goes_on) {
            (false, _) => PromptSource::Parent,
            (true, true) => PromptSource::Echo,
            (true, false) => PromptSource::Host,
        };
        if main {
            self.kept.turn.goes_on();
        }
        let content = match blocks {
            [Block::Text { text, .. }] => Content::Text(*text),
            _ => Content::Blocks(blocks),
        };
        let prompt = line.cx.keep(Prompt { content, source });
        self.tell(line, Kind::Prompt(prompt), sink);
    }

    /// A review of changes begins, for which its user has asked so. The turn of the reviewer, which begins next, is a part of it.
    pub(super) fn review<'a>(&mut self, line: &Line<'a>, asked: Option<Str<'a>>, sink: &mut dyn Sink<'a>) {
        let Some(text) = asked.filter(|asked| !asked.is_empty()) else {
            return self.notice(line, line.word.as_escaped(), Topic::Status, None, sink);
        };
        self.prompt(line, line.cx.list(&[Block::Text { text, fields: &[] }]), sink);
        self.reviews = true;
    }

    /// A part of a reply.
    fn reply<'a>(&mut self, line: &Line<'a>, blocks: &'a [Block<'a>], sink: &mut dyn Sink<'a>) {
        self.spoken = true;
        self.compacted = false;
        if self.round.open && self.round.resulted {
            self.tell_with(line, Kind::RoundEnd(&RoundEnd::PLAIN), &[], sink);
        }
        self.round.open = true;
        self.round.resulted = false;
        let model = (!self.model.is_empty()).then(|| Str::trusted(line.cx.arena.alloc_str(&self.model)));
        let reply = line.cx.keep(Reply {
            model,
            blocks,
            ..Reply::default()
        });
        if self.kept.is_main() {
            self.kept.turn.reply(reply);
        }
        let name = model.unwrap_or_default().as_escaped();
        if let Some(trace) = line.cx.trace {
            trace.watch(name, &self.unsaid_model);
        }
        self.tell(line, Kind::Reply(reply), sink);
        if let Some(trace) = line.cx.trace.filter(|_| !self.unsaid_model.is_empty()) {
            trace.told_if_said(&mut self.unsaid_model, name, NO_REPLY);
        }
    }

    /// Each part of its summary is a thought, and each part of itself. What is sealed says nothing to others.
    fn reasoning<'a>(&mut self, line: &Line<'a>, sink: &mut dyn Sink<'a>) {
        let texts = |name: &str| -> Vec<Block<'a>> {
            let parts = line
                .get(name)
                .filter(|list| list.shape() == Some(Shape::Array))
                .into_iter()
                .flat_map(Raw::elements);
            let parts = parts.filter_map(|part| {
                let word = part.get("type").and_then(Raw::string).unwrap_or_default();
                if matches!(word.as_escaped(), "summary_text" | "reasoning_text" | "text") {
                    line.cx.took(word.as_escaped());
                }
                part.get("text").and_then(Raw::string)
            });
            parts
                .filter(|text| !text.is_empty())
                .map(|text| Block::Thinking(Thinking { text, ..Thinking::default() }))
                .collect()
        };
        let mut thoughts = texts("summary");
        thoughts.append(&mut texts("content"));
        if thoughts.is_empty() {
            return self.notice(line, "reasoning", Topic::Status, None, sink);
        }
        self.reply(line, line.cx.list(&thoughts), sink);
    }

    fn call<'a>(&mut self, line: &Line<'a>, call: ToolCall<'a>, sink: &mut dyn Sink<'a>) {
        if self.open.len() == MOST_OPEN {
            self.open.pop_first();
        }
        self.open.insert(call.id.as_escaped().to_owned());
        self.reply(line, line.cx.list(&[Block::Call(call)]), sink);
    }

    /// The server's own search, of which nobody says what it found.
    fn search<'a>(&mut self, line: &Line<'a>, sink: &mut dyn Sink<'a>) {
        let cx = &line.cx;
        let id = line.text("id").unwrap_or_else(|| {
            if let Some(trace) = cx.trace {
                trace.note(Fate::Invented, "", "a search has no id: it gets one");
            }
            self.searches += 1;
            cx.text(&format!("search_{}", self.searches))
        });
        let action = line.get("action");
        // Of a page that is opened the address is what people are shown.
        let of_action = |name: &str| action.and_then(|action| action.get(name)).filter(|value| value.string().is_some());
        let first = || {
            action
                .and_then(|action| action.get("queries")?.elements().next())
                .filter(|value| value.string().is_some())
        };
        let query = of_action("query").or_else(first).or_else(|| of_action("url"));
        let mut asks = vec![("query", query.unwrap_or(Raw::trusted("\"\"")))];
        asks.extend(action.map(|action| ("action", action)));
        let name = Str::trusted("web_search");
        let call = ToolCall {
            id,
            name,
            kind: kind_of(Dialect::Codex, name),
            input: object(&asks, cx),
            fields: &[],
        };
        self.reply(line, cx.list(&[Block::Call(call)]), sink);
        let failed = line.text("status").is_some_and(|status| status.is("failed"));
        let result = ToolResult {
            name: Some(name),
            ..ToolResult::new(
                id,
                if failed { ResultStatus::Error } else { ResultStatus::Success },
                Content::Text(Str::EMPTY),
            )
        };
        self.result(line, result, false, sink);
    }

    /// An image that the API's own tool has made.
    fn image<'a>(&mut self, line: &Line<'a>, sink: &mut dyn Sink<'a>) {
        let id = line.text("id").unwrap_or_else(|| {
            self.searches += 1;
            line.cx.text(&format!("image_{}", self.searches))
        });
        let (call, result) = pictures::made(id, |name, _| line.get(name), &line.cx);
        self.reply(line, line.cx.list(&[Block::Call(call)]), sink);
        self.result(line, result, false, sink);
    }

    /// A result; `is_line`: it is what the line says first.
    pub(super) fn result<'a>(&mut self, line: &Line<'a>, result: ToolResult<'a>, is_line: bool, sink: &mut dyn Sink<'a>) {
        self.spoken = true;
        self.compacted = false;
        self.round.resulted = true;
        if self.kept.is_main() {
            self.kept.turn.goes_on();
        }
        line.took();
        let fields = if is_line { line.fields() } else { &[] };
        self.tell_with(line, Kind::ToolResult(line.cx.keep(result)), fields, sink);
    }

    /// What the model was told of a call, unless people were shown it before.
    fn output<'a>(&mut self, line: &Line<'a>, sink: &mut dyn Sink<'a>) -> Result<(), Error> {
        let Some(call) = line.text("call_id") else {
            // What the model has to know, which nobody has called for: the goal of the thread.
            self.notice(line, line.word.as_escaped(), Topic::Other, None, sink);
            return Ok(());
        };
        let told = line.get("output").or_else(|| line.get("tools"));
        let told = told.ok_or_else(|| line.missing("output"))?;
        if self.shown.contains(call.as_escaped()) {
            self.said_twice(line, sink);
            return Ok(());
        }
        self.open.remove(call.as_escaped());
        let Said { content, status, exit } = said(told, &line.cx);
        let detail = exit.map(|exit| {
            let mut json = Json::new(line.cx.arena);
            json.mark('{').key("exit_code").number(exit).key("status");
            json.plain(if exit == 0 { "completed" } else { "failed" }).mark('}');
            Detail {
                shape: DetailShape::Codex,
                raw: json.done(),
            }
        });
        let result = ToolResult {
            detail,
            ..ToolResult::new(call, status, content)
        };
        self.result(line, result, true, sink);
        Ok(())
    }
}

/// Whether the user wrote a message in the user's role.
fn is_prompt(line: &Line<'_>, blocks: &[Block<'_>]) -> bool {
    let kinds = line
        .get("internal_chat_message_metadata_passthrough")
        .and_then(|beside| beside.get("content_item_kinds"));
    if let Some(kinds) = kinds.filter(|kinds| kinds.shape() == Some(Shape::Array)) {
        return kinds.strings().any(|kind| kind.as_escaped().starts_with("user."));
    }
    let first = blocks.iter().find_map(|block| match block {
        Block::Text { text, .. } => Some(text.as_escaped()),
        _ => None,
    });
    !blocks.is_empty() && !first.is_some_and(|text| CONTEXT.iter().any(|begins| text.starts_with(begins)))
}

/// The folder, where a message says to the model in which one it is.
fn folder<'a>(blocks: &[Block<'a>]) -> Option<Str<'a>> {
    let Some(Block::Text { text, .. }) = blocks.first() else { return None };
    let about = text.as_escaped().strip_prefix("<environment_context>")?;
    let (_, rest) = about.split_once("<cwd>").or_else(|| about.split_once("Current working directory: "))?;
    let end = rest.find("</cwd>").or_else(|| rest.find("\\n"))?;
    Some(Str::trusted(&rest[..end]))
}

/// The parts of a message.
pub(super) fn blocks<'a>(list: Raw<'a>, cx: &Cx<'a>) -> &'a [Block<'a>] {
    let block = |part: Raw<'a>| {
        let kind = part.get("type").and_then(Raw::string).unwrap_or_default();
        let text = || part.get(if kind.is("refusal") { "refusal" } else { "text" }).and_then(Raw::string);
        match text().filter(|_| ["input_text", "output_text", "text", "refusal"].iter().any(|word| kind.is(word))) {
            Some(text) => {
                cx.took(kind.as_escaped());
                Block::Text { text, fields: &[] }
            }
            None if kind.is("input_image") => Block::Media(Media { kind, raw: part }),
            None => Block::Other { kind, raw: part },
        }
    };
    let all: Vec<Block<'a>> = list.elements().map(block).collect();
    cx.list(&all)
}

fn named<'a>(line: &Line<'a>, name: &'static str, input: Raw<'a>) -> Result<ToolCall<'a>, Error> {
    let name = Str::trusted(name);
    Ok(ToolCall {
        id: line.text("call_id").or_else(|| line.text("id")).ok_or_else(|| line.missing("call_id"))?,
        name,
        kind: kind_of(Dialect::Codex, name),
        input,
        fields: &[],
    })
}

fn made<'a>(line: &Line<'a>, name: &'static str, input: Raw<'a>) -> Result<ToolCall<'a>, Error> {
    let name = line.need(name)?;
    Ok(ToolCall {
        id: line.need("call_id")?,
        name,
        kind: kind_of(Dialect::Codex, name),
        input,
        fields: &[],
    })
}

/// A call of a function: its arguments are a text, and an MCP server stands in its name or beside it.
fn function<'a>(line: &Line<'a>) -> Result<ToolCall<'a>, Error> {
    let cx = &line.cx;
    if let Some(input) = patch_by_shell(line) {
        line.cx.took(line.need("name")?.as_escaped());
        return Ok(ToolCall {
            name: Str::trusted("apply_patch"),
            kind: ToolKind::Edit,
            ..made(line, "name", input)?
        });
    }
    let arguments = line.need("arguments")?;
    let input = arguments_json(Some(arguments), cx);
    let call = made(line, "name", input)?;
    let beside = line
        .text("namespace")
        .and_then(|space| Some((space.as_escaped().strip_prefix(MCP)?, call.name.as_escaped())));
    let inside = || call.name.as_escaped().strip_prefix(MCP)?.split_once("__");
    let Some((server, tool)) = beside.or_else(inside) else { return Ok(call) };
    let mut json = Json::new(cx.arena);
    json.mark('{').key("server").str(Str::trusted(server)).key("tool").str(Str::trusted(tool));
    json.key("arguments").raw(input).mark('}');
    let made = json.done();
    let name = Str::trusted(MCP_TOOL_CALL);
    for (part, source) in [("server", server), ("tool", tool), ("arguments", arguments.as_escaped())] {
        if let Some(part) = made.get(part) {
            cx.stands_for(part.string().map_or(part.as_str(), Str::as_escaped), source);
        }
    }
    Ok(ToolCall {
        name,
        kind: kind_of(Dialect::Codex, name),
        input: made,
        ..call
    })
}

/// The arguments of the tool that takes a patch, where a shell is called with one.
fn patch_by_shell<'a>(line: &Line<'a>) -> Option<Raw<'a>> {
    let arguments = line.text("arguments").filter(|text| text.as_escaped().contains("apply_patch"))?;
    line.text("name").filter(|name| name.is("shell"))?;
    let arena = line.cx.arena;
    let patch = model::by_shell(Cursor::new(arguments.unescape_in(arena)).raw().ok()?, arena)?;
    let mut json = Json::new(arena);
    json.mark('{').key("input").str(patch).mark('}');
    let input = json.done();
    let written = input.get("input").and_then(Raw::string)?;
    line.cx.stands_for(written.as_escaped(), arguments.as_escaped());
    Some(input)
}
