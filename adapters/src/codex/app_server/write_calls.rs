//! Calls and their results, which another dialect said, as items.

use bumpalo::Bump;

use super::calls::{AGENT_TOOLS, AGENTS, TOOLS};
use super::encode::Encoder;
use crate::codec::Dialect;
use crate::codex::items::{TODO_LIST, addressed, parts};
use crate::codex::tools::{canonical, lose_beside_command, lose_others, plan_of, whole_paths};
use crate::codex::unrun;
use crate::event::{Content, Event, Picture, ResultStatus, ToolCall, ToolProgress, ToolResult};
use crate::ids;
use crate::json::{Out, Raw, Shape, Str};
use crate::tools::args::TodoStatus;
use crate::tools::reshaped::Made;

/// What becomes of the id of a call that writes the plan.
const NO_ID: &str = "a plan has no id";

impl Encoder {
    pub(super) fn call(&mut self, event: &Event<'_>, call: &ToolCall<'_>, out: &mut Out) {
        self.begin(event, out);
        let arena = Bump::new();
        let own_names = self.style.native_tools || matches!(self.style.source, Dialect::Agentglot | Dialect::Codex);
        let made = if own_names { canonical(call, &arena) } else { None };
        if let Some(plan) = plan_of(call, &arena).filter(|_| own_names) {
            self.plan(event, call.input.get("explanation"), &plan, out);
            out.used(call.name.as_escaped());
            out.used(call.input.as_str());
            lose_others(call.input.get("plan"), &["step", "status"], out);
            lose_others(call.input.get("items"), &["text", "completed"], out);
            out.renamed(call.id.as_escaped(), NO_ID);
            self.turn.calls.add(call.id.as_escaped(), (String::new(), String::new()));
            return;
        }
        let (name, mut input) = made.unwrap_or((call.name, call.input));
        if name.as_escaped() != call.name.as_escaped() || input.as_str() != call.input.as_str() {
            out.used(call.input.as_str());
            lose_beside_command(call, out);
        }
        if let Some(patch) = call
            .input
            .get("input")
            .and_then(Raw::string)
            .filter(|_| call.name.is("apply_patch") && made.is_some())
        {
            input = whole_paths(input, self.cwd.as_deref().unwrap_or_default(), &arena);
            out.renamed(patch.as_escaped(), "a patch becomes the changes of each file");
        }
        out.used(call.name.as_escaped());
        out.used(call.id.as_escaped());
        self.call_item(event, call.id, (name, input), None, out);
        let kept = (name.as_escaped().to_owned(), input.as_str().to_owned());
        self.turn.calls.add(call.id.as_escaped(), kept);
    }

    fn plan(&self, event: &Event<'_>, why: Option<Raw<'_>>, plan: &[(Str<'_>, TodoStatus)], out: &mut Out) {
        self.open_in_turn("turn/plan/updated", out);
        out.lit(",\"explanation\":");
        out.unchecked(why.unwrap_or(Raw::NULL));
        out.lit(",\"plan\":[");
        for (n, (step, status)) in plan.iter().enumerate() {
            out.lit(if n > 0 { ",{\"step\":" } else { "{\"step\":" });
            out.str(*step);
            out.lit(",\"status\":\"");
            out.lit(match status {
                TodoStatus::Completed => "completed",
                TodoStatus::InProgress => "inProgress",
                _ => "pending",
            });
            out.lit("\"}");
        }
        out.lit("]}");
        self.close(event, out);
    }

    /// The item of a call, which starts or is completed.
    fn call_item(&mut self, event: &Event<'_>, id: Str<'_>, (name, input): (Str<'_>, Raw<'_>), done: Option<&ToolResult<'_>>, out: &mut Out) {
        let tool = TOOLS
            .iter()
            .find(|tool| name.is(tool.name) && input.get(tool.asks[0].1).is_some_and(|asked| tool.takes(asked)));
        let status = match done.map(|result| result.status) {
            None => "inProgress",
            Some(ResultStatus::Success) => "completed",
            Some(ResultStatus::Denied) if tool.is_some_and(|tool| matches!(tool.kind, "commandExecution" | "fileChange")) => "declined",
            Some(_) => "failed",
        };
        if let Some(result) = done {
            unrun::lose(tool.map_or("", |tool| tool.name), result.status, true, out);
        }
        let Some(tool) = tool else {
            return self.dynamic(event, id, (name, input), status, done, out);
        };
        self.item(done.is_some(), tool.kind, id.as_escaped(), out);
        for (member, made) in tool.asks {
            let Some(value) = input.get(made) else { continue };
            out.lit(",\"");
            out.lit(member);
            out.lit("\":");
            let own = AGENT_TOOLS.iter().find(|(_, said)| value.as_str() == *said);
            match (*made, own) {
                ("changes", _) => changes(value, out),
                ("tool", Some((own, _))) if tool.kind == AGENTS => {
                    out.invented("/params/item/tool", "the app-server's own spelling");
                    out.lit(own);
                }
                _ => out.unchecked(value),
            }
        }
        let content = done.map(|result| result.content);
        let shown = done
            .and_then(|result| result.detail)
            .filter(|detail| detail.shape == Dialect::Codex)
            .map(|detail| detail.raw);
        match tool.kind {
            "commandExecution" => {
                out.lit(",\"cwd\":\"");
                out.lit(self.cwd.as_deref().unwrap_or("/"));
                self.says_cwd = true;
                out.lit("\",\"processId\":null,\"source\":\"agent\",\"commandActions\":[],\"aggregatedOutput\":");
                texts(content, out);
                out.lit(",\"exitCode\":");
                out.unchecked(shown.and_then(|shown| shown.get("exit_code")).unwrap_or(Raw::NULL));
                out.lit(",\"durationMs\":null");
            }
            "mcpToolCall" => {
                out.lit(",\"result\":");
                match content.filter(|_| !matches!(done, Some(result) if matches!(result.status, ResultStatus::Denied | ResultStatus::Canceled))) {
                    Some(content) => {
                        out.lit("{\"content\":[");
                        server_blocks(content, out);
                        out.lit("],\"structuredContent\":");
                        let server = shown.and_then(|shown| shown.get("result"));
                        lose_others(server.and_then(|result| result.get("content")), &["type", "text"], out);
                        let members = server.into_iter().flat_map(Raw::members);
                        for (_, value) in members.filter(|(name, _)| !name.is("content") && !name.is("structured_content")) {
                            out.lost(value.as_str(), None, "no place in codex");
                        }
                        let structured = server.and_then(|result| result.get("structured_content"));
                        out.unchecked(structured.unwrap_or(Raw::NULL));
                        out.lit("},\"error\":null");
                    }
                    None if content.is_some() => {
                        out.lit("null,\"error\":{\"message\":\"");
                        let text = content.into_iter().flat_map(Content::texts).next().unwrap_or_default();
                        out.lit(done.map_or("", |result| unrun::words(result.status, text, "/params/item/error/message", out)));
                        content.into_iter().flat_map(Content::as_one).for_each(|text| out.body(text));
                        out.lit("\"}");
                    }
                    None => out.lit("null,\"error\":null"),
                }
            }
            "collabAgentToolCall" => {
                out.lit(",\"senderThreadId\":\"");
                out.lit(&self.thread);
                let agent = ids::uuid_of(&self.thread, id.as_escaped());
                out.invented("/params/item/receiverThreadIds", "the source does not name the subagent's thread");
                out.lit("\",\"receiverThreadIds\":[\"");
                out.lit(&agent);
                out.lit("\"],\"agentsStates\":{");
                if let Some(result) = done {
                    out.lit("\"");
                    out.lit(&agent);
                    out.lit("\":{\"status\":\"");
                    out.lit(if result.status == ResultStatus::Success {
                        "completed"
                    } else {
                        "errored"
                    });
                    out.lit("\",\"message\":");
                    texts(content, out);
                    out.lit("}");
                }
                out.lit("}");
            }
            _ => {}
        }
        if tool.kind != "webSearch" {
            out.lit(",\"status\":\"");
            out.lit(status);
            out.lit("\"");
        }
        self.close_item(event, done.is_some(), out);
    }

    /// A tool that has no kind of item of its own: one of the host's, as far as the program is concerned.
    fn dynamic(&self, event: &Event<'_>, id: Str<'_>, call: (Str<'_>, Raw<'_>), status: &str, done: Option<&ToolResult<'_>>, out: &mut Out) {
        self.item(done.is_some(), "dynamicToolCall", id.as_escaped(), out);
        out.lit(",\"tool\":");
        out.str(call.0);
        out.lit(",\"arguments\":");
        out.unchecked(call.1);
        out.lit(",\"status\":\"");
        out.lit(status);
        out.lit("\",\"contentItems\":");
        match done {
            Some(result) => {
                out.lit("[");
                host_items(result.content, out);
                out.lit("],\"success\":");
                out.lit(if result.status == ResultStatus::Success { "true" } else { "false" });
            }
            None => out.lit("null,\"success\":null"),
        }
        self.close_item(event, done.is_some(), out);
    }

    pub(super) fn progress(&mut self, event: &Event<'_>, progress: &ToolProgress<'_>, out: &mut Out) {
        let known = self.turn.calls.get(progress.call.as_escaped());
        let text = progress.content.and_then(Raw::string);
        let (Some(text), true) = (text, known.is_some_and(|(name, _)| name == "command_execution")) else {
            return;
        };
        self.open_in_turn("item/commandExecution/outputDelta", out);
        out.lit(",\"itemId\":");
        out.str(progress.call);
        out.lit(",\"delta\":");
        out.str(text);
        out.lit("}");
        self.close(event, out);
    }

    pub(super) fn result(&mut self, event: &Event<'_>, result: &ToolResult<'_>, out: &mut Out) {
        self.begin(event, out);
        let id = result.call.as_escaped();
        let Some((name, input)) = self.turn.calls.take(id).or_else(|| self.late.take(id)) else {
            return;
        };
        out.used(result.call.as_escaped());
        if let Some(name) = result.name_again() {
            out.used(name.as_escaped());
        }
        if name.is_empty() {
            unrun::lose(TODO_LIST, result.status, true, out);
            out.renamed(result.call.as_escaped(), NO_ID);
            out.carried();
            return;
        }
        let mut call = (Str::trusted(name.as_str()), Raw::trusted(input.as_str()));
        // The result may know better whether a file is new.
        let has_diff = |input: Raw<'_>| {
            input
                .get("changes")
                .into_iter()
                .flat_map(Raw::elements)
                .any(|change| change.get("diff").is_some())
        };
        if let Some(of) = result
            .of
            .filter(|of| call.0.is("file_change") && of.name.is("file_change") && !has_diff(call.1))
        {
            call = (of.name, of.input);
            if let Some(detail) = result.detail {
                Made::whole(vec![of.input.as_str().as_bytes()]).tell_beside(detail.raw, out);
            }
        }
        self.call_item(event, result.call, call, Some(result), out);
    }
}

/// The texts of a result as one.
fn texts(content: Option<Content<'_>>, out: &mut Out) {
    let Some(content) = content else { return out.lit("null") };
    out.lit("\"");
    content.as_one().for_each(|text| out.body(text));
    out.lit("\"");
}

/// The texts and the images of a result, as a server gives them.
fn server_blocks(content: Content<'_>, out: &mut Out) {
    let text = |text: Str<'_>, out: &mut Out| {
        out.lit("{\"type\":\"text\",\"text\":");
        out.str(text);
        out.lit("}");
    };
    let image = |picture: &Picture<'_>, out: &mut Out| {
        match picture.mime {
            Some(mime) => {
                out.lit("{\"type\":\"image\",\"data\":");
                out.str(picture.value);
                out.lit(",\"mimeType\":");
                out.str(mime);
            }
            None => {
                out.lit("{\"type\":\"resource_link\",\"name\":\"image\",\"uri\":");
                out.str(picture.value);
            }
        }
        out.lit("}");
    };
    parts(content, text, image, out);
}

/// The same as the model is told them by a tool of the host's.
fn host_items(content: Content<'_>, out: &mut Out) {
    let words = [r#"{"type":"inputText","text":"#, "}", r#"{"type":"inputImage","imageUrl":"#];
    addressed(content, words, out);
}

/// Files that change, with what is known of it: `exec` does not say what.
fn changes(list: Raw<'_>, out: &mut Out) {
    lose_others(Some(list), &["path", "kind", "diff"], out);
    out.lit("[");
    for (n, change) in list.elements().enumerate() {
        out.lit(if n > 0 { ",{\"path\":" } else { "{\"path\":" });
        out.unchecked(change.get("path").unwrap_or(Raw::trusted("\"\"")));
        out.lit(",\"kind\":");
        match change.get("kind") {
            Some(kind) if kind.shape() == Some(Shape::Object) => out.unchecked(kind),
            Some(kind) => {
                out.lit("{\"type\":");
                out.unchecked(kind);
                out.lit(if kind.as_str() == "\"update\"" { ",\"move_path\":null}" } else { "}" });
            }
            None => out.lit("{\"type\":\"update\",\"move_path\":null}"),
        }
        out.lit(",\"diff\":");
        match change.get("diff") {
            Some(diff) => out.unchecked(diff),
            None => {
                out.invented("/params/item/changes/0/diff", "what was changed is not known");
                out.lit("\"\"");
            }
        }
        out.lit("}");
    }
    out.lit("]");
}
