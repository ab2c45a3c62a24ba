//! Counts turns: those that a source log holds, and those that an output ends.

use super::json::Json;
use super::read::{is_subagents_end, is_tricode_error, message, objects};
use agentglot_adapters::raw::codec::{Dialect, Format};

/// How many turns a log holds, ended or not. A range where the log leaves it open: a replayed line outside of a turn, a
/// subagent that still speaks after the end, a reply whose end nobody sums up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Turns {
    pub least: usize,
    pub most: usize,
}

/// What a line does to the turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// Nothing.
    None,
    /// It belongs to a turn.
    Inside,
    /// The same, and the turn may be over with it.
    Stops,
    /// The turn, if one is open, may be over.
    Halts,
    /// It may belong to one.
    Perhaps,
    /// It begins a turn, even if one is open.
    Begins,
    /// It may begin another turn if one is open; else it begins one.
    Again,
    /// It ends the turn (one that has nothing but its end, if none is open).
    Ends,
    /// It ends the turn if one is open; else it may be one of its own.
    Gives,
}

/// The turns of a source log.
pub fn turns(format: Format, bytes: &[u8]) -> Turns {
    let mut count = Count::default();
    if format.dialect == Dialect::Tricode {
        for line in String::from_utf8_lossy(bytes).split('\n') {
            count.take(tricode(line));
        }
        return count.end();
    }
    let is_rollout = format.dialect == Dialect::Codex && format.is_store();
    let is_app_server = format.dialect == Dialect::Codex && format.mode.name == "app-server";
    let is_bus = format.dialect == Dialect::Opencode && format.mode.name == "bus";
    let mut session = String::new();
    let mut over = false;
    for object in objects(bytes) {
        let id = match format.dialect {
            Dialect::Qwen => object.str("id").strip_prefix("chatcmpl-").unwrap_or_default(),
            Dialect::Agentglot => object.str("session"),
            Dialect::Codex if is_app_server => thread_of(&object),
            Dialect::Codex if is_rollout => match object.str("type") {
                "session_meta" => object.at(&["payload", "id"]).and_then(Json::text).unwrap_or_default(),
                _ => "",
            },
            Dialect::Codex => object.str("thread_id"),
            Dialect::Acp => acp_session(&object),
            Dialect::AgUi => object.str("threadId"),
            Dialect::Opencode if is_bus => object.at(&["properties", "sessionID"]).and_then(Json::text).unwrap_or_default(),
            Dialect::Opencode => object.str("sessionID"),
            _ => object.str("session_id"),
        };
        if !id.is_empty() && id != session {
            if !session.is_empty() {
                count.close();
            }
            id.clone_into(&mut session);
        }
        count.take(match format.dialect {
            Dialect::Claude | Dialect::QwenCode => claude(&object),
            Dialect::Qwen => qwen(&object),
            Dialect::Cursor => cursor(&object),
            Dialect::Gemini => gemini(&object),
            Dialect::Codex if is_app_server => app_server(&object),
            Dialect::Codex if is_rollout => rollout(&object),
            Dialect::Codex => codex(&object),
            Dialect::Acp => acp(&object),
            Dialect::AgUi => ag_ui(&object),
            Dialect::Opencode if is_bus => bus(&object, &mut over),
            Dialect::Opencode => opencode(&object, &mut over),
            Dialect::Agentglot => event(&object),
            // Whole trajectories and lists of messages are counted by nobody here.
            Dialect::Tricode | Dialect::Atif | Dialect::Sharegpt | Dialect::Openai | Dialect::Anthropic => Step::None,
        });
    }
    count.end()
}

#[derive(Debug, Default)]
struct Count {
    turns: Turns,
    /// A turn is open: certainly, or perhaps.
    open: bool,
    perhaps: bool,
    /// It may be over.
    stopped: bool,
}

impl Count {
    fn take(&mut self, step: Step) {
        match step {
            Step::None => {}
            Step::Inside | Step::Stops => {
                // What comes behind a stop that nobody summed up may be another turn.
                self.turns.most += usize::from(self.open && self.stopped);
                self.open = true;
                self.stopped = step == Step::Stops;
            }
            Step::Perhaps => self.perhaps = true,
            Step::Halts => {
                self.perhaps = true;
                self.stopped = true;
            }
            Step::Begins => {
                self.close();
                self.open = true;
            }
            Step::Again => {
                self.turns.most += usize::from(self.open);
                self.open = true;
            }
            Step::Ends => {
                self.open = true;
                self.close();
            }
            Step::Gives => {
                self.perhaps = true;
                self.close();
            }
        }
    }

    /// The open turn is over.
    fn close(&mut self) {
        self.turns.least += usize::from(self.open);
        self.turns.most += usize::from(self.open || self.perhaps);
        self.open = false;
        self.perhaps = false;
        self.stopped = false;
    }

    fn end(mut self) -> Turns {
        self.close();
        self.turns
    }
}

fn claude(object: &Json) -> Step {
    let subagent = object.get("parent_tool_use_id").is_some_and(|p| !p.is_null());
    let told_again = ["isReplay", "isSynthetic"].iter().any(|key| object.bool(key) == Some(true));
    match (object.str("type"), object.str("subtype")) {
        ("result", _) if is_subagents_end(object) => Step::None,
        ("result", _) => Step::Ends,
        ("system", "init") => Step::Again,
        ("assistant" | "user" | "stream_event", _) if subagent || told_again => Step::Perhaps,
        // Qwen Code streams its goal before and after turns.
        ("stream_event", _) if object.at(&["event", "type"]).and_then(Json::text) == Some("goal_state") => Step::Perhaps,
        ("assistant" | "user" | "stream_event", _) => Step::Inside,
        _ => Step::None,
    }
}

fn qwen(object: &Json) -> Step {
    if object.get("error").is_some() && object.get("object").is_none() && object.get("type").is_none() {
        return Step::Gives;
    }
    if object.str("type").starts_with("x-qwen-") {
        return Step::Perhaps;
    }
    let metadata = object.get("metadata").cloned().unwrap_or(Json::Null);
    if metadata.str("summary") == "true" {
        return Step::Ends;
    }
    let choices = object.items("choices");
    let refused =
        (metadata.get("error").is_some() || object.at(&["usage", "error"]).is_some()) && choices.iter().any(|c| c.str("finish_reason") == "error");
    let receipt = metadata.get("protocol_version").is_some() || object.str("system_fingerprint").contains("protocol_version");
    if receipt && !refused || !object.str("object").starts_with("chat.completion") && object.get("choices").is_none() {
        return Step::None;
    }
    let over = choices
        .iter()
        .any(|c| matches!(c.str("finish_reason"), "stop" | "length" | "error" | "content_filter"));
    let speaks = |choice: &Json| {
        let body = choice.get("message").or_else(|| choice.get("delta")).cloned().unwrap_or(Json::Null);
        let said = ["content", "reasoning_content"].iter().any(|key| !body.str(key).is_empty());
        let shown = body
            .items("annotations")
            .iter()
            .any(|a| matches!(a.str("type"), "x-qwen-tool-display" | "x-qwen-thought"));
        // A text beside a terminal's annotation is for the terminal.
        let terminal = body.items("annotations").iter().any(|a| a.str("type") == "x-qwen-terminal");
        shown || said && !terminal || !body.items("tool_calls").is_empty()
    };
    match (choices.iter().any(speaks), over) {
        _ if refused => Step::Gives,
        (false, true) if object.str("object") == "chat.completion.chunk" => Step::Halts,
        (false, _) => Step::Perhaps,
        (true, true) => Step::Stops,
        (true, false) => Step::Inside,
    }
}

fn tricode(line: &str) -> Step {
    let object = line.find("{\"type\": \"").and_then(|at| Json::read(&line[at..])).unwrap_or(Json::Null);
    match object.str("type") {
        "system" => Step::Begins,
        "final" => Step::Ends,
        "round" | "tool_call" | "tool_result" | "reminder" => Step::Inside,
        _ if is_tricode_error(line) => Step::Gives,
        _ => Step::None,
    }
}

fn cursor(object: &Json) -> Step {
    match (object.str("type"), object.str("subtype")) {
        // One turn a run, and each run begins with it.
        ("system", "init") => Step::Begins,
        ("result", _) => Step::Ends,
        ("user" | "assistant" | "thinking" | "tool_call", _) => Step::Inside,
        _ => Step::None,
    }
}

fn gemini(object: &Json) -> Step {
    match object.str("type") {
        "init" => Step::Begins,
        "result" => Step::Ends,
        "message" | "tool_use" | "tool_result" => Step::Inside,
        _ => Step::None,
    }
}

fn codex(object: &Json) -> Step {
    let known = [
        "agent_message",
        "reasoning",
        "command_execution",
        "file_change",
        "mcp_tool_call",
        "web_search",
        "todo_list",
        "collab_tool_call",
    ];
    match object.str("type") {
        // One turn a process, and each begins with it.
        "thread.started" => Step::Begins,
        "turn.completed" | "turn.failed" => Step::Ends,
        "item.started" | "item.updated" | "item.completed" if object.get("item").is_some_and(|item| known.contains(&item.str("type"))) => {
            Step::Inside
        }
        _ => Step::None,
    }
}

/// The thread that a message names; the program's own, who may say more of them, comes first.
fn thread_of(object: &Json) -> &str {
    let params = message(object).get("params");
    let named = params.and_then(|params| params.get("threadId").or_else(|| params.at(&["thread", "id"])));
    named.and_then(Json::text).unwrap_or_default()
}

fn app_server(object: &Json) -> Step {
    let message = message(object);
    let kind = message.at(&["params", "item", "type"]).and_then(Json::text).unwrap_or_default();
    match message.str("method") {
        "turn/completed" => Step::Ends,
        "item/completed" if kind == "userMessage" => Step::Inside,
        "item/agentMessage/delta" | "item/reasoning/summaryTextDelta" | "turn/plan/updated" => Step::Inside,
        "item/started" if kind == "agentMessage" => Step::Inside,
        "item/started" | "item/completed"
            if matches!(
                kind,
                "agentMessage" | "commandExecution" | "fileChange" | "mcpToolCall" | "webSearch" | "collabAgentToolCall" | "dynamicToolCall"
            ) =>
        {
            Step::Inside
        }
        _ => Step::None,
    }
}

/// Of what stands in a rollout file only the prompt begins a turn.
fn rollout(object: &Json) -> Step {
    let Some(payload) = object.get("payload") else { return Step::None };
    match (object.str("type"), payload.str("type")) {
        ("event_msg", "task_complete" | "turn_aborted") => Step::Gives,
        ("response_item", "message") if payload.str("role") == "user" => {
            let kinds = payload.at(&["internal_chat_message_metadata_passthrough", "content_item_kinds"]);
            let first = payload.items("content").first().map_or("", |part| part.str("text"));
            let by_user = match kinds {
                Some(kinds) => kinds.list().iter().any(|kind| kind.text() == Some("user.text")),
                None => !first.starts_with('<') && !first.starts_with("# AGENTS.md"),
            };
            if by_user { Step::Again } else { Step::None }
        }
        ("response_item", "message") if payload.str("role") == "assistant" => Step::Inside,
        ("response_item", "reasoning" | "function_call" | "custom_tool_call" | "function_call_output" | "custom_tool_call_output") => Step::Inside,
        _ => Step::None,
    }
}

fn acp_session(object: &Json) -> &str {
    let message = message(object);
    let named = message.at(&["params", "sessionId"]).or_else(|| message.at(&["result", "sessionId"]));
    named.and_then(Json::text).unwrap_or_default()
}

/// Hosts fail to answer too: questions in an agent's own words.
fn is_agents_error(object: &Json) -> bool {
    let code = message(object).at(&["error", "code"]).map(Json::compact);
    object.str("dir") != "c2a" && code.is_some_and(|code| code != "-32601")
}

fn acp(object: &Json) -> Step {
    let message = message(object);
    let update = message.at(&["params", "update"]);
    let idle = update.is_some_and(|update| update.str("state") == "idle" && update.get("stopReason").is_some());
    match update.map_or("", |update| update.str("sessionUpdate")) {
        "state_update" if idle => return Step::Ends,
        "agent_message_chunk" | "agent_thought_chunk" | "tool_call" | "tool_call_update" | "plan" | "plan_update" => return Step::Perhaps,
        "user_message_chunk" | "user_message" => return Step::Perhaps,
        _ => {}
    }
    match message.str("method") {
        "session/prompt" => Step::Again,
        "" if message.at(&["result", "stopReason"]).is_some() => Step::Ends,
        // What else was asked may fail too; what a session is opened with may be said behind what was said in it.
        "" if is_agents_error(object) => Step::Gives,
        "" if message.at(&["result", "configOptions"]).is_some() || message.at(&["result", "modes"]).is_some() => Step::Gives,
        _ => Step::None,
    }
}

fn ag_ui(object: &Json) -> Step {
    let is_agents = matches!(object.str("role"), "" | "assistant" | "reasoning") && object.get("subagentRunId").is_none();
    match object.str("type") {
        "RUN_STARTED" => Step::Begins,
        "RUN_FINISHED" | "RUN_ERROR" => Step::Ends,
        "TEXT_MESSAGE_START" | "TOOL_CALL_START" | "TOOL_CALL_ARGS" | "TOOL_CALL_RESULT" | "REASONING_MESSAGE_START" if is_agents => Step::Inside,
        "REASONING_MESSAGE_CONTENT" | "THINKING_TEXT_MESSAGE_START" | "THINKING_TEXT_MESSAGE_CONTENT" if is_agents => Step::Inside,
        "STEP_STARTED" if is_agents && object.str("stepName").starts_with("round-") => Step::Inside,
        // What goes on may be what the user says, and so may chunks be.
        "" => Step::None,
        _ => Step::Perhaps,
    }
}

/// A round that called nothing is the last one of its turn, unless an error follows. `over`: such a one was the last line.
fn opencode(object: &Json, over: &mut bool) -> Step {
    match object.str("type") {
        "step_start" if std::mem::take(over) => Step::Begins,
        "step_finish" => {
            let reason = object.at(&["part", "reason"]).and_then(Json::text);
            *over = !matches!(reason, Some("tool-calls" | "unknown"));
            Step::Inside
        }
        "step_start" | "text" | "reasoning" | "tool_use" => Step::Inside,
        "error" => {
            *over = false;
            Step::Ends
        }
        _ => Step::None,
    }
}

/// The server is idle behind a prompt or a reply. What came of the calls of a turn that was aborted may follow: it belongs to that turn.
fn bus(object: &Json, aborted: &mut bool) -> Step {
    let at = |path: &[&str]| object.at(path).and_then(Json::text).unwrap_or_default();
    match object.str("type") {
        "session.error" if at(&["properties", "error", "name"]) == "MessageAbortedError" => {
            *aborted = true;
            Step::None
        }
        "message.updated" if at(&["properties", "info", "role"]) == "user" => {
            *aborted = false;
            Step::None
        }
        "message.part.updated" if *aborted && at(&["properties", "part", "type"]) == "tool" => Step::None,
        "session.idle" => Step::Gives,
        "session.status" if at(&["properties", "status", "type"]) == "idle" => Step::Gives,
        "message.updated" if at(&["properties", "info", "role"]) == "assistant" => Step::Perhaps,
        "message.part.updated" if matches!(at(&["properties", "part", "type"]), "text" | "reasoning" | "tool" | "step-finish") => Step::Inside,
        "message.part.delta" => Step::Inside,
        _ => Step::None,
    }
}

fn event(object: &Json) -> Step {
    match object.str("event") {
        "outcome" => Step::Ends,
        "session" if object.bool("opens_turn") == Some(true) => Step::Again,
        "prompt" | "round_start" | "block_start" | "delta" | "reply" | "tool_result" => Step::Inside,
        _ => Step::None,
    }
}

/// How many turns an output ends. A Cursor turn that fails has no line for it, so for Cursor these are the successes.
pub fn ends(format: Format, bytes: &[u8]) -> usize {
    let count = |ends: &dyn Fn(&Json) -> bool| objects(bytes).iter().filter(|o| ends(o)).count();
    match format.dialect {
        Dialect::Claude => count(&|o| o.str("type") == "result"),
        Dialect::QwenCode => count(&|o| o.str("type") == "result" && !is_subagents_end(o)),
        Dialect::Qwen => qwen_ends(&objects(bytes)),
        Dialect::Cursor | Dialect::Gemini => count(&|o| o.str("type") == "result"),
        Dialect::Atif => String::from_utf8_lossy(bytes).matches("\"outcome\":{").count(),
        Dialect::Codex if format.mode.name == "app-server" => count(&|o| message(o).str("method") == "turn/completed"),
        Dialect::Codex => count(&|o| matches!(o.str("type"), "turn.completed" | "turn.failed")),
        Dialect::Acp => count(&|o| acp(o) == Step::Ends || is_agents_error(o)),
        Dialect::AgUi => count(&|o| matches!(o.str("type"), "RUN_FINISHED" | "RUN_ERROR")),
        Dialect::Opencode => super::read::read(format, bytes)
            .iter()
            .filter(|item| matches!(item, super::read::Item::End { .. }))
            .count(),
        Dialect::Agentglot | Dialect::Sharegpt | Dialect::Openai | Dialect::Anthropic => count(&|o| o.str("event") == "outcome"),
        Dialect::Tricode => {
            let text = String::from_utf8_lossy(bytes);
            text.split('\n')
                .filter(|line| is_tricode_error(line) || line.starts_with("{\"type\": \"final\""))
                .count()
        }
    }
}

/// Summaries; and bare errors, with which the program itself ends, unless the turn was summed up just before.
fn qwen_ends(objects: &[Json]) -> usize {
    let (mut ends, mut open) = (0, true);
    for object in objects {
        if object.at(&["metadata", "summary"]).and_then(Json::text) == Some("true") {
            ends += 1;
            open = false;
        } else if object.get("error").is_some() && object.get("object").is_none() && object.get("type").is_none() {
            ends += usize::from(open);
            open = false;
        } else if object.get("choices").is_some() {
            open = true;
        }
    }
    ends
}

/// How many of the outcomes in an `agentglot` log are successes.
pub fn successes(events: &[u8]) -> usize {
    objects(events)
        .iter()
        .filter(|o| o.str("event") == "outcome" && o.bool("is_error") != Some(true))
        .count()
}
