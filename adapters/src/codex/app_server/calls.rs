//! Items that are calls of tools, and the plan.

use super::decode::Decoder;
use super::items::ItemMessage;
use super::message::Message;
use crate::codec::{Cx, Dialect};
use crate::codex::calls::{detail, mcp_content, messages, refused, status};
use crate::codex::items::{MCP_TOOL_CALL, object};
use crate::event::{Block, Content, Fate, Kind, Reply, ResultStatus, Sink, ToolCall, ToolProgress, ToolResult, Topic};
use crate::ids;
use crate::json::{Error, Raw, Shape, Str};
use crate::tools::kind_of;

/// A kind of item that is a call: its members, and what they are called where `exec` says them.
pub(super) struct Tool {
    pub(super) kind: &'static str,
    pub(super) name: &'static str,
    /// The arguments. Without the first there is no such item.
    pub(super) asks: &'static [(&'static str, &'static str)],
    /// What came of it.
    pub(super) shows: &'static [(&'static str, &'static str)],
}

/// The kind of item that is about other agents.
pub(super) const AGENTS: &str = "collabAgentToolCall";

/// What is done with them, as it is spelled here and by `exec`.
pub(super) const AGENT_TOOLS: [(&str, &str); 8] = [
    ("\"spawnAgent\"", "\"spawn_agent\""),
    ("\"sendInput\"", "\"send_input\""),
    ("\"resumeAgent\"", "\"resume_agent\""),
    ("\"closeAgent\"", "\"close_agent\""),
    ("\"sendMessage\"", "\"send_message\""),
    ("\"followupTask\"", "\"followup_task\""),
    ("\"interruptAgent\"", "\"interrupt_agent\""),
    ("\"listAgents\"", "\"list_agents\""),
];

pub(super) static TOOLS: [Tool; 5] = [
    Tool {
        kind: "commandExecution",
        name: "command_execution",
        asks: &[("command", "command")],
        shows: &[("exitCode", "exit_code"), ("status", "status")],
    },
    Tool {
        kind: "fileChange",
        name: "file_change",
        asks: &[("changes", "changes")],
        shows: &[("status", "status")],
    },
    Tool {
        kind: "mcpToolCall",
        name: MCP_TOOL_CALL,
        asks: &[("server", "server"), ("tool", "tool"), ("arguments", "arguments")],
        shows: &[("result", "result"), ("error", "error"), ("status", "status")],
    },
    Tool {
        kind: "webSearch",
        name: "web_search",
        asks: &[("query", "query"), ("action", "action")],
        shows: &[],
    },
    Tool {
        kind: AGENTS,
        name: "collab_tool_call",
        asks: &[("tool", "tool"), ("prompt", "prompt")],
        shows: &[("agentsStates", "agents_states"), ("status", "status")],
    },
];

impl Tool {
    /// Whether this can be the first of its arguments: models say what they like.
    pub(super) fn takes(&self, asked: Raw<'_>) -> bool {
        let wanted = if self.asks[0].1 == "changes" { Shape::Array } else { Shape::String };
        asked.shape() == Some(wanted)
    }
}

/// A tool of the host's: its name and its arguments stand in the item.
const DYNAMIC: &str = "dynamicToolCall";

/// More calls than this are not remembered to have started, nor are threads of agents.
const MOST_OPEN: usize = 1024;

/// So many calls are remembered to have started when their turn is over: they may end in the background.
const MOST_PAST: usize = 64;

/// Calls without a result, in the order in which they started.
#[derive(Debug, Default)]
pub(super) struct OpenCalls(Vec<OpenCall>);

#[derive(Debug)]
pub(super) struct OpenCall {
    pub(super) id: String,
    /// A fingerprint of what it asks for.
    pub(super) print: u64,
    /// That itself where an approval does not say it again.
    pub(super) input: String,
}

impl OpenCalls {
    pub(super) fn all(&self) -> impl Iterator<Item = &OpenCall> {
        self.0.iter()
    }

    pub(super) fn get(&self, id: Str<'_>) -> Option<&OpenCall> {
        self.all().find(|call| call.id == id.as_escaped())
    }

    fn started(&mut self, call: OpenCall) {
        if self.0.len() == MOST_OPEN {
            self.0.remove(0);
        }
        self.0.push(call);
    }

    fn ended(&mut self, id: Str<'_>) {
        self.0.retain(|call| call.id != id.as_escaped());
    }

    /// A turn is over. Nobody asks any more whether what it has begun may run.
    pub(super) fn end_turn(&mut self) {
        self.0.drain(..self.0.len().saturating_sub(MOST_PAST));
        self.0.iter_mut().for_each(|call| call.input = String::new());
    }
}

impl Decoder {
    /// A call or its result. Whether it is one.
    pub(super) fn tool<'a>(&mut self, kind: &str, item: &ItemMessage<'a>, whole: bool, sink: &mut dyn Sink<'a>) -> Result<bool, Error> {
        let tool = TOOLS.iter().find(|tool| tool.kind == kind);
        if tool.is_none() && kind != DYNAMIC {
            return Ok(false);
        }
        let message = &item.message;
        let cx = &message.cx;
        let call = match tool {
            Some(tool) => self.call_of(tool, item)?,
            None => dynamic(item).ok_or_else(|| message.missing("params/item/tool"))?,
        };
        if kind == AGENTS {
            self.agents(item, whole);
        }
        let print = ids::fnv(call.input.as_str().as_bytes(), ids::FNV_SEED);
        let opened = self.open.get(item.id).map(|call| call.print);
        // What is searched for may be known at the end only.
        let is_empty = kind == "webSearch" && item.parts.get("query").is_some_and(|query| query.as_str() == "\"\"");
        if !whole && (opened.is_some() || is_empty) {
            self.notice(message, Topic::Status, None, sink);
            return Ok(true);
        }
        item.took();
        if !whole {
            let input = if kind == "fileChange" {
                call.input.as_str().to_owned()
            } else {
                String::new()
            };
            let id = item.id.as_escaped().to_owned();
            self.open.started(OpenCall { id, print, input });
            if let Some(begins) = item.parts.get("status").filter(|status| status.as_str() == "\"inProgress\"") {
                cx.took(begins.as_str());
            }
            self.enter(message, false, sink);
            self.reply(message, call, true, sink);
            return Ok(true);
        }
        self.open.ended(item.id);
        match opened {
            Some(before) if before == print => {
                let asked = tool.map_or(&[("tool", ""), ("arguments", "")][..], |tool| tool.asks);
                let values = asked.iter().filter_map(|(name, _)| item.parts.get(name));
                values.for_each(|value| cx.took(value.as_str()));
            }
            Some(_) => {}
            None => {
                self.enter(message, false, sink);
                self.reply(message, call, false, sink);
            }
        }
        self.round.results();
        let denied = self.denied.remove(item.id.as_escaped());
        let result = cx.keep(result(tool, item, call, denied.as_deref()));
        self.tell(message, Kind::ToolResult(result), sink);
        Ok(true)
    }

    /// A call and what came of it, which one item says.
    pub(super) fn deed<'a>(&mut self, item: &ItemMessage<'a>, (call, result): (ToolCall<'a>, ToolResult<'a>), sink: &mut dyn Sink<'a>) {
        item.took();
        self.enter(&item.message, false, sink);
        self.reply(&item.message, call, false, sink);
        self.round.results();
        let result = item.message.cx.keep(ToolResult { of: Some(call), ..result });
        self.tell(&item.message, Kind::ToolResult(result), sink);
    }

    fn reply<'a>(&self, message: &Message<'a>, call: ToolCall<'a>, is_line: bool, sink: &mut dyn Sink<'a>) {
        let cx = &message.cx;
        let blocks = cx.list(&[Block::Call(call)]);
        let reply = cx.keep(Reply { blocks, ..Reply::default() });
        let fields = if is_line { message.fields() } else { &[] };
        self.tell_with(message, Kind::Reply(reply), fields, sink);
    }

    fn call_of<'a>(&self, tool: &Tool, item: &ItemMessage<'a>) -> Result<ToolCall<'a>, Error> {
        let message = &item.message;
        let cx = &message.cx;
        let asked = tool
            .asks
            .iter()
            .filter_map(|(name, made)| Some((*made, item.parts.get(name).filter(|value| !value.is_null())?)));
        let mut asked: Vec<_> = asked.collect();
        for (_, value) in asked.iter_mut().filter(|(name, _)| tool.kind == AGENTS && *name == "tool") {
            if let Some((_, made)) = AGENT_TOOLS.iter().find(|(said, _)| value.as_str() == *said) {
                cx.took(value.as_str());
                *value = Raw::trusted(made);
            }
        }
        if asked.first().is_none_or(|(first, _)| *first != tool.asks[0].1) {
            return Err(message.missing("params/item"));
        }
        let name = Str::trusted(tool.name);
        Ok(ToolCall {
            id: item.id,
            name,
            kind: kind_of(Dialect::Codex, name),
            input: object(&asked, cx),
            fields: &[],
        })
    }

    /// The threads of the agents that a call has started, or talks to.
    fn agents(&mut self, item: &ItemMessage<'_>, whole: bool) {
        let id = item.id.as_escaped();
        let spawns = item.parts.get("tool").is_some_and(|tool| tool.as_str() == "\"spawnAgent\"");
        self.spawning.retain(|call| call != id);
        let receivers = item.parts.get("receiverThreadIds").into_iter().flat_map(Raw::strings);
        let mut named = false;
        for thread in receivers.filter(|thread| thread.as_escaped() != self.thread) {
            named = true;
            let known = self.children.iter().position(|(child, _)| child == thread.as_escaped());
            match known {
                // Which call a thread came of that began before the call named it was a guess.
                Some(at) if spawns => id.clone_into(&mut self.children[at].1),
                None if self.children.len() < MOST_OPEN => self.children.push((thread.as_escaped().to_owned(), id.to_owned())),
                _ => {}
            }
        }
        if spawns && !whole && !named && self.spawning.len() < MOST_OPEN {
            self.spawning.push(id.to_owned());
        }
    }

    /// What a call has printed so far, or says of itself.
    pub(super) fn progress<'a>(&self, message: &Message<'a>, sink: &mut dyn Sink<'a>) -> Result<(), Error> {
        let progress = message.cx.keep(ToolProgress {
            call: message.need("itemId")?,
            status: None,
            content: message.params.get("delta").or_else(|| message.params.get("message")),
            confirmation: None,
        });
        self.tell(message, Kind::ToolProgress(progress), sink);
        Ok(())
    }

    /// The plan as it is now: a call of the tool that keeps it, which has no item.
    pub(super) fn plan<'a>(&mut self, message: &Message<'a>, sink: &mut dyn Sink<'a>) -> Result<(), Error> {
        let cx = &message.cx;
        let plan = message.params.get("plan").filter(|plan| plan.shape() == Some(Shape::Array));
        let plan = plan.ok_or_else(|| message.missing("params/plan"))?;
        self.plans += 1;
        let id = Str::trusted(bumpalo::format!(in cx.arena, "plan_{}", self.plans).into_bump_str());
        if let Some(trace) = cx.trace {
            trace.note(Fate::Invented, "", "a plan is the call of a tool: it gets an id");
        }
        let why = message.params.get("explanation").filter(|why| !why.is_null());
        let asked: Vec<_> = why.map(|why| ("explanation", why)).into_iter().chain([("plan", plan)]).collect();
        let name = Str::trusted("update_plan");
        let call = ToolCall {
            id,
            name,
            kind: kind_of(Dialect::Codex, name),
            input: object(&asked, cx),
            fields: &[],
        };
        self.enter(message, false, sink);
        self.reply(message, call, true, sink);
        let result = cx.keep(ToolResult {
            name: Some(name),
            ..ToolResult::new(id, ResultStatus::Success, Content::Text(Str::EMPTY))
        });
        self.round.results();
        self.tell_with(message, Kind::ToolResult(result), &[], sink);
        Ok(())
    }
}

fn dynamic<'a>(item: &ItemMessage<'a>) -> Option<ToolCall<'a>> {
    let name = item.parts.get("tool").and_then(Raw::string)?;
    Some(ToolCall {
        id: item.id,
        name,
        kind: kind_of(Dialect::Codex, name),
        input: item.parts.get("arguments").unwrap_or(Raw::trusted("{}")),
        fields: &[],
    })
}

fn result<'a>(tool: Option<&Tool>, item: &ItemMessage<'a>, call: ToolCall<'a>, denied: Option<&str>) -> ToolResult<'a> {
    let cx = &item.message.cx;
    let get = |name: &str| item.parts.get(name);
    let word = get("status");
    let exit = get("exitCode").filter(|exit| !exit.is_null());
    let status = match status(word.and_then(Raw::string), exit) {
        ResultStatus::Error if denied.is_some() => ResultStatus::Denied,
        ResultStatus::Error => get("error").and_then(refused).unwrap_or(ResultStatus::Error),
        status => status,
    };
    if let Some(word) = word.filter(|word| matches!(word.as_str(), "\"completed\"" | "\"failed\"" | "\"declined\"")) {
        cx.took(word.as_str());
    }
    let exit = exit.filter(|exit| status == ResultStatus::Success && exit.as_str() == "0");
    if let Some(exit) = exit {
        cx.took(exit.as_str());
    }
    let content = match tool.map(|tool| tool.name) {
        _ if let Some(words) = denied.filter(|_| status == ResultStatus::Denied) => {
            // The host's answer has said it.
            let words = cx.arena.alloc_str(words);
            cx.stands_for(words, item.id.as_escaped());
            Content::Text(Str::trusted(words))
        }
        Some(MCP_TOOL_CALL) => mcp_content(get("result"), get("error"), cx),
        Some("collab_tool_call") => messages(get("agentsStates"), cx),
        Some("web_search") => found(get("results"), cx),
        Some("command_execution") => Content::Text(get("aggregatedOutput").and_then(Raw::string).unwrap_or_default()),
        Some(_) => Content::Text(Str::EMPTY),
        None => super::items::content(get("contentItems").unwrap_or(Raw::trusted("[]")), cx),
    };
    let shown = tool
        .into_iter()
        .flat_map(|tool| tool.shows)
        .filter_map(|(name, made)| Some((*made, get(name)?)));
    let shown: Vec<_> = shown.collect();
    ToolResult {
        name: Some(call.name),
        detail: detail(&shown, cx),
        // The line says its call again.
        of: Some(call),
        ..ToolResult::new(call.id, status, content)
    }
}

/// What a search found: of each page its title and its address.
fn found<'a>(results: Option<Raw<'a>>, cx: &Cx<'a>) -> Content<'a> {
    let mut blocks = bumpalo::collections::Vec::new_in(cx.arena);
    let mut between = "";
    for page in results.into_iter().flat_map(Raw::elements) {
        for text in ["title", "url"].iter().filter_map(|name| page.get(name)?.string()) {
            blocks.extend([between, text.as_escaped()].map(|text| Block::Text {
                text: Str::trusted(text),
                fields: &[],
            }));
            between = "\\n";
        }
    }
    if blocks.is_empty() {
        return Content::Text(Str::EMPTY);
    }
    Content::Blocks(blocks.into_bump_slice())
}
