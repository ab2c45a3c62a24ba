//! What another dialect said, as lines.

use std::collections::BTreeSet;

use bumpalo::Bump;

use super::encode::Encoder;
use super::output::tells_end;
use crate::codec::{Dialect, TellsEnd};
use crate::codex::failure;
use crate::codex::items::{addressed, answered};
use crate::codex::tools::model::{Asked, asked};
use crate::codex::unrun;
use crate::event::{
    Block, Content, DetailShape, Event, Fatal, Kind, Origin, Outcome, OutcomeKind, Prompt, PromptSource, Reply, ResultStatus, Scope, Time, ToolCall,
    ToolResult, Usage,
};
use crate::json::{Out, Raw, Str};
use crate::store::{known_time, version};
use crate::tools::told::{Made, tell_arguments};

/// The version of the program whose files are written.
const VERSION: &str = "0.169.0";

/// The turn that is being written.
#[derive(Debug, Default)]
pub(super) struct Turn {
    /// Its id; empty until it begins.
    id: String,
    /// Calls that are patches, of which the results are patches' too; and searches, which have none.
    patches: BTreeSet<String>,
    searches: BTreeSet<String>,
    /// What its host has asked, until the agent says it again.
    asked: Option<String>,
    /// The last text, as the body of a JSON string.
    last: Option<String>,
    /// Its rounds have said what they used.
    counted: bool,
    /// The program has ended with an error.
    failed: bool,
}

impl Encoder {
    pub(super) fn foreign(&mut self, event: &Event<'_>, out: &mut Out) {
        match event.kind {
            Kind::Session(session) => self.kept.facts(session, out),
            Kind::Prompt(prompt) => {
                let asked = self.turn.asked.take();
                if prompt.source == PromptSource::Echo && asked.is_some_and(|asked| asked == whole(prompt)) {
                    return out.merged("what its host has asked already");
                }
                self.prompt(&event.origin, prompt, out);
            }
            Kind::Reply(reply) => self.reply(event, reply, out),
            Kind::ToolResult(result) => self.result(event, result, out),
            Kind::RoundEnd(end) => {
                if let Some(usage) = end.usage.filter(|usage| !self.turn.id.is_empty() && !usage.is_blank()) {
                    self.turn.counted = true;
                    self.tokens(event.origin.time, &usage, out);
                }
            }
            Kind::Outcome(outcome) => self.outcome(event, outcome, out),
            Kind::Fatal(fatal) => self.fatal(event, fatal, out),
            _ => {}
        }
    }

    /// A line, up to its payload.
    fn head(&mut self, time: Option<Time<'_>>, kind: &str, out: &mut Out) {
        let time = known_time(time, out);
        out.lit("{\"timestamp\":\"");
        out.lit(self.kept.time(time, "/timestamp", out));
        out.lit("\",\"type\":\"");
        out.lit(kind);
        out.lit("\",\"payload\":{");
    }

    /// Begins the file, if that has not been done yet.
    fn begin_file(&mut self, origin: &Origin<'_>, out: &mut Out) {
        out.used(origin.session.map_or("", Str::as_escaped));
        let id = self.kept.session("/payload/id", out).to_owned();
        if self.begun.as_deref() != Some(&id) {
            self.begun = Some(id.clone());
            self.total = None;
            self.turn.id.clear();
            self.head(origin.time, "session_meta", out);
            out.lit("\"id\":\"");
            out.lit(&id);
            out.lit("\",\"timestamp\":\"");
            out.lit(self.kept.time(None, "/payload/timestamp", out));
            out.lit("\",\"cwd\":\"");
            out.lit(self.kept.cwd("/payload/cwd", out));
            out.lit("\",\"originator\":\"codex_exec\",\"cli_version\":\"");
            out.lit(version(VERSION, "/payload/cli_version", out));
            out.lit("\",\"source\":\"exec\"}}\n");
            out.invented("/payload/originator", "what the program calls itself");
        }
    }

    /// Begins the file, if that has not been done yet, and the turn.
    fn begin(&mut self, origin: &Origin<'_>, out: &mut Out) {
        self.begin_file(origin, out);
        if !self.turn.id.is_empty() {
            return;
        }
        self.turn.id = self.kept.fresh_id();
        out.invented("/payload/turn_id", "turns get ids");
        self.view(origin.time, "task_started", out);
        self.turn_id(out);
        out.lit(",\"model_context_window\":null}}\n");
        // The program warns of a model that it does not know.
        let Some(model) = self.kept.known_model().map(str::to_owned) else {
            return;
        };
        self.head(origin.time, "turn_context", out);
        out.lit("\"turn_id\":\"");
        out.lit(&self.turn.id);
        out.lit("\",\"cwd\":\"");
        out.lit(self.kept.cwd("/payload/cwd", out));
        out.lit("\",\"approval_policy\":\"never\",\"sandbox_policy\":{\"type\":\"read-only\"},\"model\":\"");
        out.lit(&model);
        out.lit("\",\"summary\":\"auto\"}}\n");
        out.invented("/payload/approval_policy", "what each run decides anew");
        out.invented("/payload/sandbox_policy", "what each run decides anew");
    }

    /// An item, up to its other members.
    fn item(&mut self, time: Option<Time<'_>>, kind: &str, out: &mut Out) {
        self.head(time, "response_item", out);
        out.lit("\"type\":\"");
        out.lit(kind);
        out.lit("\"");
    }

    /// What people are shown, up to its other members.
    fn view(&mut self, time: Option<Time<'_>>, kind: &str, out: &mut Out) {
        self.head(time, "event_msg", out);
        out.lit("\"type\":\"");
        out.lit(kind);
        out.lit("\"");
    }

    fn turn_id(&self, out: &mut Out) {
        out.lit(",\"turn_id\":\"");
        out.lit(&self.turn.id);
        out.lit("\"");
    }

    /// What the host asks.
    pub(super) fn asked(&mut self, origin: &Origin<'_>, prompt: &Prompt<'_>, out: &mut Out) {
        self.prompt(origin, prompt, out);
        self.turn.asked = Some(whole(prompt));
    }

    fn prompt(&mut self, origin: &Origin<'_>, prompt: &Prompt<'_>, out: &mut Out) {
        match prompt.source {
            PromptSource::Parent => return,
            // The model is told, and nothing is shown: no turn begins with it.
            PromptSource::Agent => {
                self.begin_file(origin, out);
                return self.message(origin, prompt, "generic.context", out);
            }
            PromptSource::Host | PromptSource::Echo => {}
        }
        self.begin(origin, out);
        self.message(origin, prompt, "user.text", out);
        if prompt.content.has_other_than_text() {
            out.left_out("what is no text in a prompt");
        }
        self.view(origin.time, "user_message", out);
        out.lit(",\"message\":\"");
        prompt.content.texts().for_each(|text| out.body(text));
        out.lit("\",\"images\":[]}}\n");
    }

    /// What the model is told in the user's role. The program says of what kind it is, for what the user wrote may look like its own words.
    fn message(&mut self, origin: &Origin<'_>, prompt: &Prompt<'_>, kind: &str, out: &mut Out) {
        self.item(origin.time, "message", out);
        out.lit(",\"role\":\"user\",\"content\":[");
        let from = out.len();
        input_parts(prompt.content, out);
        if out.len() == from {
            out.lit("{\"type\":\"input_text\",\"text\":\"\"}");
        }
        out.lit("],\"internal_chat_message_metadata_passthrough\":{\"content_item_kinds\":[\"");
        out.lit(kind);
        out.lit("\"]}}}\n");
    }

    fn reply(&mut self, event: &Event<'_>, reply: &Reply<'_>, out: &mut Out) {
        if reply.error.is_some() {
            // The turn's end says it.
            return;
        }
        for block in reply.blocks {
            match block {
                Block::Text { text, .. } if text.is_empty() => out.carried(),
                Block::Text { text, .. } => self.said(&event.origin, *text, out),
                Block::Thinking(thinking) if thinking.text.is_empty() => out.carried(),
                Block::Thinking(thinking) => {
                    self.begin(&event.origin, out);
                    self.item(event.origin.time, "reasoning", out);
                    out.lit(",\"summary\":[{\"type\":\"summary_text\",\"text\":");
                    out.str(thinking.text);
                    out.lit("}],\"content\":null,\"encrypted_content\":null}}\n");
                }
                Block::Call(call) => self.call(event, call, out),
                // Media and sealed thoughts have no place.
                _ => {}
            }
        }
    }

    fn said(&mut self, origin: &Origin<'_>, text: Str<'_>, out: &mut Out) {
        self.begin(origin, out);
        self.turn.last = Some(text.as_escaped().to_owned());
        self.view(origin.time, "agent_message", out);
        out.lit(",\"message\":");
        out.str(text);
        out.lit("}}\n");
        self.item(origin.time, "message", out);
        out.lit(",\"role\":\"assistant\",\"content\":[{\"type\":\"output_text\",\"text\":");
        out.str(text);
        out.lit("}]}}\n");
    }

    fn call(&mut self, event: &Event<'_>, call: &ToolCall<'_>, out: &mut Out) {
        self.begin(&event.origin, out);
        let time = event.origin.time;
        let arena = Bump::new();
        let own_names = self.style.native_tools || matches!(self.style.source, Dialect::Agentglot | Dialect::Codex);
        let made = if own_names { asked(call, &arena) } else { None };
        if made.is_some() {
            out.used(call.name.as_escaped());
            if out.traced() {
                tell_arguments(
                    call,
                    &|input| made_of(call, input),
                    &mut |part, name| out.lost(part, None, &format!("no place in codex: {name}")),
                    out,
                );
            }
        }
        let id = || call.id.as_escaped().to_owned();
        match made {
            // The program has the model's own tool, of which a file never says what it found. What others have found is known.
            Some(Asked::Search { query, action }) if action.is_some() || self.style.source == Dialect::Codex => {
                self.turn.searches.insert(id());
                self.item(time, "web_search_call", out);
                out.lit(",\"id\":");
                out.str(call.id);
                out.lit(",\"status\":\"completed\",\"action\":");
                search(query, action, out);
                out.lit("}}\n");
                return;
            }
            Some(Asked::Search { .. }) => self.function(time, call.name, None, call.input, out),
            Some(Asked::Patch(patch)) => {
                self.turn.patches.insert(id());
                self.item(time, "custom_tool_call", out);
                out.lit(",\"status\":\"completed\",\"name\":\"apply_patch\",\"input\":");
                out.str(patch);
            }
            Some(Asked::Function(name, arguments)) => self.function(time, Str::trusted(name), None, arguments, out),
            Some(Asked::Mcp { server, tool, arguments }) => self.function(time, tool, Some(server), arguments, out),
            None => self.function(time, call.name, None, call.input, out),
        }
        out.lit(",\"call_id\":");
        out.str(call.id);
        out.lit("}}\n");
    }

    fn function(&mut self, time: Option<Time<'_>>, name: Str<'_>, server: Option<Str<'_>>, arguments: Raw<'_>, out: &mut Out) {
        self.item(time, "function_call", out);
        out.lit(",\"name\":");
        out.str(name);
        if let Some(server) = server {
            out.lit(",\"namespace\":\"mcp__");
            out.body(server);
            out.lit("\"");
        }
        out.lit(",\"arguments\":\"");
        match arguments.string() {
            Some(text) => out.body(text),
            None => out.json_in_string(arguments.as_str()),
        }
        out.lit("\"");
    }

    fn result(&mut self, event: &Event<'_>, result: &ToolResult<'_>, out: &mut Out) {
        if self.turn.searches.remove(result.call.as_escaped()) {
            // What a search found the server keeps for itself.
            unrun::lose("web_search", result.status, false, out);
            out.used(result.call.as_escaped());
            return;
        }
        self.begin(&event.origin, out);
        let patch = self.turn.patches.remove(result.call.as_escaped());
        let kind = if patch { "custom_tool_call_output" } else { "function_call_output" };
        self.item(event.origin.time, kind, out);
        out.lit(",\"call_id\":");
        out.str(result.call);
        if result.status == ResultStatus::Success && has_image(result.content) {
            out.lit(",\"output\":[");
            input_parts(result.content, out);
            return out.lit("]}}\n");
        }
        out.lit(",\"output\":\"");
        let detail = result.detail.filter(|detail| detail.shape == DetailShape::Codex);
        let code = detail.and_then(|detail| detail.raw.get("exit_code")).filter(|code| code.i64().is_some());
        let says_end = matches!(result.status, ResultStatus::Denied | ResultStatus::Canceled) && tells_end(result, "") == TellsEnd::Itself;
        if !says_end && (code.is_some() || result.status != ResultStatus::Success) {
            out.lit("Exit code: ");
            match code {
                Some(code) => out.unchecked(code),
                None => out.lit("1"),
            }
            out.lit("\\nWall time: 0 seconds\\nOutput:\\n");
        }
        result.content.as_one().for_each(|text| out.body(text));
        out.lit("\"}}\n");
        if result.content.has_other_than_text() {
            out.left_out("what is no text in a result");
        }
    }

    fn tokens(&mut self, time: Option<Time<'_>>, usage: &Usage<'_>, out: &mut Out) {
        let last = match usage.scope {
            Scope::Session => usage.of_turn(self.total.get_or_insert_default()),
            _ => {
                Usage::add(&mut self.total, &usage.with_cache());
                *usage
            }
        };
        // The sum is made anew.
        usage.parts().for_each(|source| out.used(source));
        self.view(time, "token_count", out);
        out.lit(",\"info\":{\"total_token_usage\":");
        counts(&self.total.unwrap_or_default(), out);
        out.lit(",\"last_token_usage\":");
        counts(&last, out);
        out.lit(",\"model_context_window\":null},\"rate_limits\":null}}\n");
        if last.reasoning_tokens().is_none() {
            out.invented("/payload/info/last_token_usage/reasoning_output_tokens", "the source does not say it");
        }
    }

    fn outcome(&mut self, event: &Event<'_>, outcome: &Outcome<'_>, out: &mut Out) {
        if self.turn.failed {
            out.merged("the error was told already");
        } else {
            self.begin(&event.origin, out);
            if let Some(text) = outcome.answer(out).filter(|_| !outcome.is_error) {
                match &self.turn.last {
                    None if text.is_empty() => {}
                    None => self.said(&event.origin, text, out),
                    Some(last) => answered(last, text, out),
                }
            }
            if let Some(usage) = outcome.usage.filter(|usage| !usage.is_blank()) {
                if self.turn.counted {
                    usage.parts().for_each(|source| out.used(source));
                } else {
                    self.tokens(event.origin.time, &usage, out);
                }
            }
            match outcome.kind {
                OutcomeKind::Cancelled => {
                    self.view(event.origin.time, "turn_aborted", out);
                    self.turn_id(out);
                    out.lit(",\"reason\":\"interrupted\"");
                    self.end(outcome.duration_ms, out);
                }
                _ if outcome.is_error => {
                    let words = failure::words(outcome, "/payload/message", out);
                    self.fail(event, Str::trusted(&words), outcome.duration_ms, out);
                }
                _ => self.complete(event, None, outcome.duration_ms, out),
            }
        }
        self.turn = Turn::default();
    }

    fn complete(&mut self, event: &Event<'_>, error: Option<Str<'_>>, took: Option<Raw<'_>>, out: &mut Out) {
        self.view(event.origin.time, "task_complete", out);
        self.turn_id(out);
        out.lit(",\"last_agent_message\":");
        match &self.turn.last {
            Some(last) => {
                out.lit("\"");
                out.lit(last);
                out.lit("\"");
            }
            None => out.lit("null"),
        }
        if let Some(error) = error {
            out.lit(",\"error\":{\"message\":");
            out.str(error);
            out.lit("}");
        }
        self.end(took, out);
    }

    fn end(&self, took: Option<Raw<'_>>, out: &mut Out) {
        out.unchecked_if(",\"duration_ms\":", took);
        out.lit("}}\n");
    }

    fn fail(&mut self, event: &Event<'_>, error: Str<'_>, took: Option<Raw<'_>>, out: &mut Out) {
        self.view(event.origin.time, "error", out);
        out.lit(",\"message\":");
        out.str(error);
        out.lit(",\"codex_error_info\":null}}\n");
        self.complete(event, Some(error), took, out);
    }

    /// The program itself ends with an error; an outcome may follow, and then says nothing new.
    fn fatal(&mut self, event: &Event<'_>, fatal: &Fatal<'_>, out: &mut Out) {
        self.begin(&event.origin, out);
        self.fail(event, fatal.message, None, out);
        self.turn.failed = true;
    }
}

/// A call with these arguments as it would be written.
fn made_of(call: &ToolCall<'_>, input: &str) -> Option<Made> {
    let arena = Bump::new();
    let call = ToolCall {
        input: Raw::trusted(input),
        ..*call
    };
    Some(match asked(&call, &arena)? {
        Asked::Function(name, arguments) => Made::new(name, arguments.as_str()),
        Asked::Mcp { server, tool, arguments } => Made::new(&format!("{} {}", server.as_escaped(), tool.as_escaped()), arguments.as_str()),
        Asked::Patch(patch) => Made::new("", &format!("\"{}\"", patch.as_escaped())),
        Asked::Search { query, action } => {
            let mut out = Out::default();
            search(query, action, &mut out);
            Made::new("", &String::from_utf8_lossy(out.written()))
        }
    })
}

/// What the server does for a search; hosts are shown the kinds of actions in other words.
fn search(query: Str<'_>, action: Option<Raw<'_>>, out: &mut Out) {
    let kind = action.and_then(|action| action.get("type")?.string());
    let kind = match kind.map_or("", Str::as_escaped) {
        "openPage" => "open_page",
        "findInPage" => "find_in_page",
        "" | "other" => "search",
        kind => kind,
    };
    out.lit("{\"type\":\"");
    out.lit(kind);
    out.lit("\"");
    let members = || {
        action
            .into_iter()
            .flat_map(Raw::members)
            .filter(|(name, value)| !name.is("type") && !value.is_null())
    };
    for (name, value) in members() {
        out.lit(",");
        out.str(name);
        out.lit(":");
        out.unchecked(value);
    }
    let says_it = |(name, value): (Str<'_>, Raw<'_>)| name.is("query") || value.string() == Some(query);
    if kind == "search" && !members().any(says_it) {
        out.str_if(",\"query\":", Some(query));
    }
    out.lit("}");
}

/// The texts and images of content, as the model is told them.
fn input_parts(content: Content<'_>, out: &mut Out) {
    let words = [r#"{"type":"input_text","text":"#, "}", r#"{"type":"input_image","image_url":"#];
    addressed(content, words, out);
}

fn has_image(content: Content<'_>) -> bool {
    let is_image = |block: &Block<'_>| matches!(block, Block::Media(media) if media.picture().is_some_and(|picture| !picture.is_document));
    matches!(content, Content::Blocks(blocks) if blocks.iter().any(is_image))
}

/// All that a prompt says.
fn whole(prompt: &Prompt<'_>) -> String {
    prompt.content.texts().map(Str::as_escaped).collect()
}

fn counts(usage: &Usage<'_>, out: &mut Out) {
    let value = |count: Option<crate::event::Count<'_>>| count.map_or(0, |count| count.value);
    let (input, output) = (usage.prompt_tokens().unwrap_or(0), usage.written_tokens().unwrap_or(0));
    let numbers = [
        ("{\"input_tokens\":", input),
        (",\"cached_input_tokens\":", value(usage.cache_read)),
        (",\"cache_write_input_tokens\":", value(usage.cache_write)),
        (",\"output_tokens\":", output),
        (",\"reasoning_output_tokens\":", usage.reasoning_tokens().unwrap_or(0)),
        (",\"total_tokens\":", input.saturating_add(output)),
    ];
    for (name, number) in numbers {
        out.lit(name);
        out.number(number);
    }
    out.lit("}");
}
