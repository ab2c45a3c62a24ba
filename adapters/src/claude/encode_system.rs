//! `system` lines, and the types that are notices by themselves.

use crate::event::{Event, Fate, Field, Kind, Notice, Origin, Session, Topic};
use crate::json::{Out, Raw, Shape, Str};
use crate::unsaid::Unsaid;

use super::VERSION;
use super::decode_system::{SYSTEM, TOP};
use super::encode::{Encoder, LINE, Line};
use super::encode_turn::ERRORS;

/// What is known of the session, to be said again at the beginning of each turn.
#[derive(Debug, Default)]
pub(super) struct Facts {
    known: bool,
    cwd: Option<String>,
    model: Option<String>,
    /// The model that answered last, where the session names none.
    answers: String,
    tools: Option<String>,
    mode: Option<String>,
    key_source: Option<String>,
    mcp_servers: Option<String>,
    slash_commands: Option<String>,
    agents: Option<String>,
    /// Where the source says them, until they are said here.
    kept: Unsaid,
}

impl Facts {
    /// What a session says of itself.
    fn of(session: &Session<'_>) -> Self {
        let text = |s: Option<Str<'_>>| s.map(|s| s.as_escaped().to_owned());
        let list = |raw: Option<Raw<'_>>| raw.filter(|raw| raw.check().is_ok()).map(|raw| raw.as_str().to_owned());
        Self {
            known: true,
            cwd: text(session.cwd),
            model: text(session.model),
            answers: String::new(),
            tools: list(session.tools).map(|raw| names(&raw)),
            mode: session.permission_mode.map(|mode| self::mode(mode.as_escaped()).to_owned()),
            key_source: text(session.api_key_source),
            mcp_servers: list(session.mcp_servers),
            slash_commands: list(session.slash_commands),
            agents: list(session.agents),
            kept: Unsaid::default(),
        }
    }

    /// The model, as the body of a JSON string.
    pub(super) fn model(&self) -> Option<&str> {
        self.model.as_deref().filter(|model| !model.is_empty())
    }

    /// Whether the session has said something of itself.
    pub(super) const fn are_known(&self) -> bool {
        self.known
    }

    /// This model has answered.
    pub(super) fn answered(&mut self, model: Str<'_>) {
        if self.answers != model.as_escaped() && self.model().is_none() {
            model.as_escaped().clone_into(&mut self.answers);
        }
    }
}

impl Encoder {
    pub(super) fn init(&mut self, event: &Event<'_>, session: &Session<'_>, out: &mut Out) {
        if self.own() {
            self.turn.opened = true;
            if self.shows(Line::Message) {
                self.own_init(event, session, out);
            }
            return;
        }
        if !self.shows(Line::Message) {
            return;
        }
        let before = std::mem::replace(&mut self.facts, Facts::of(session));
        (self.facts.kept, self.facts.answers) = (before.kept, before.answers);
        let texts = [
            session.cwd,
            session.model,
            session.permission_mode,
            session.api_key_source,
            event.origin.session,
        ];
        let lists = [session.mcp_servers, session.slash_commands, session.agents, session.tools];
        let texts = texts.into_iter().flatten().map(Str::as_escaped);
        self.facts.kept.hear(texts.chain(lists.into_iter().flatten().map(Raw::as_str)), out);
        if let Some(tools) = session.tools.filter(|tools| self.facts.tools.as_deref() != Some(tools.as_str())) {
            out.renamed(tools.as_str(), "a list here, a text in the source");
        }
        out.carried();
        // A session's facts that open no turn are said when the first one begins.
        if session.opens_turn {
            self.init_again(event, out);
        }
    }

    /// What is known of the session was not said, for no turn has begun.
    pub(super) fn unsaid_facts(&mut self, out: &Out) {
        self.facts.kept.drop(out);
    }

    fn own_init(&mut self, event: &Event<'_>, session: &Session<'_>, out: &mut Out) {
        self.begin(out, "{\"type\":\"system\",\"subtype\":\"init\"");
        out.str_if(",\"cwd\":", session.cwd);
        out.str_if(",\"session_id\":", event.origin.session);
        out.raw_if(",\"tools\":", session.tools);
        out.raw_if(",\"mcp_servers\":", session.mcp_servers);
        out.str_if(",\"model\":", session.model);
        out.str_if(",\"permissionMode\":", session.permission_mode);
        out.raw_if(",\"slash_commands\":", session.slash_commands);
        out.str_if(",\"apiKeySource\":", session.api_key_source);
        out.str_if(",\"claude_code_version\":", session.version);
        let (before, behind) = up_to("output_style", event.fields);
        self.writer.fields(out, before, LINE);
        out.raw_if(",\"agents\":", session.agents);
        self.writer.fields(out, behind, LINE);
        self.own_tail(
            out,
            &Origin {
                session: None,
                ..event.origin
            },
        );
        self.end(out);
    }

    /// Writes an init of what is known, in the order in which Claude Code writes it.
    pub(super) fn init_again(&mut self, event: &Event<'_>, out: &mut Out) {
        self.turn.opened = true;
        if !self.shows(Line::Message) {
            return;
        }
        let mut facts = std::mem::take(&mut self.facts);
        facts.kept.said(out);
        self.begin(out, "{\"type\":\"system\",\"subtype\":\"init\"");
        text(out, ",\"cwd\":", facts.cwd.as_deref(), "", "/cwd");
        self.session_id(out);
        list(out, ",\"tools\":", facts.tools.as_deref(), "/tools");
        list(out, ",\"mcp_servers\":", facts.mcp_servers.as_deref(), "/mcp_servers");
        match facts.model() {
            None if !facts.answers.is_empty() => {
                text(out, ",\"model\":", Some(&facts.answers), "", "/model");
                out.invented("/model", "that of the reply before");
            }
            model => text(out, ",\"model\":", model, "unknown", "/model"),
        }
        text(out, ",\"permissionMode\":", facts.mode.as_deref(), "default", "/permissionMode");
        list(out, ",\"slash_commands\":", facts.slash_commands.as_deref(), "/slash_commands");
        text(out, ",\"apiKeySource\":", facts.key_source.as_deref(), "none", "/apiKeySource");
        text(out, ",\"claude_code_version\":", None, VERSION, "/claude_code_version");
        let told = |name: &str| {
            let field = self.told(event.fields, name).filter(|_| matches!(event.kind, Kind::Session(_)));
            field.map(|field| field.value.as_str())
        };
        match told("output_style") {
            Some(style) => list(out, ",\"output_style\":", Some(style), "/output_style"),
            None => text(out, ",\"output_style\":", None, "default", "/output_style"),
        }
        if let Some(agents) = &facts.agents {
            list(out, ",\"agents\":", Some(agents), "/agents");
        }
        list(out, ",\"skills\":", told("skills"), "/skills");
        list(out, ",\"plugins\":", told("plugins"), "/plugins");
        if matches!(event.kind, Kind::Session(_)) {
            self.added_but(out, event.fields, LINE, &["output_style", "skills", "plugins"]);
        }
        self.uuid(out, event.origin.id.filter(|_| facts.known));
        self.end(out);
        self.facts = facts;
    }

    pub(super) fn notice(&mut self, event: &Event<'_>, notice: &Notice<'_>, out: &mut Out) {
        if !self.shows(Line::Message) {
            return;
        }
        if !self.own() {
            return self.foreign_notice(event, notice, out);
        }
        let system = SYSTEM.iter().find(|word| notice.name.is(word.name));
        let Some(word) = system.or_else(|| TOP.iter().find(|word| notice.name.is(word.name))) else {
            return;
        };
        self.begin(
            out,
            if system.is_some() {
                "{\"type\":\"system\",\"subtype\":"
            } else {
                "{\"type\":"
            },
        );
        out.str(notice.name);
        // What a task is about, and what came of it, stands in the middle.
        let (before, behind) = match word.name {
            "task_started" => up_to("tool_use_id", event.fields),
            "task_notification" => up_to("output_file", event.fields),
            _ => (event.fields, &[] as &[Field<'_>]),
        };
        self.writer.fields(out, before, LINE);
        if let Some(message) = notice.message {
            out.lit(",\"");
            out.lit(word.text);
            out.lit("\":");
            out.str(message);
        }
        self.writer.fields(out, behind, LINE);
        self.own_tail(out, &event.origin);
        self.end(out);
    }

    /// What another dialect tells about its session, where Claude Code has a line for it.
    fn foreign_notice(&mut self, event: &Event<'_>, notice: &Notice<'_>, out: &mut Out) {
        let data = notice.data.unwrap_or(Raw::NULL);
        // A member of the payload, where the dialect has one, or of the line.
        let member = |name: &str| {
            let of_line = || {
                event
                    .fields
                    .iter()
                    .find(|field| field.at == LINE && field.key.is(name))
                    .map(|field| field.value)
            };
            data.get(name).or_else(of_line)
        };
        let number = |names: &[&str]| {
            names
                .iter()
                .find_map(|name| member(name).filter(|value| value.u64().is_some() && value.shape() == Some(Shape::Number)))
        };
        match notice.topic {
            Topic::Retry => {
                self.begin(out, "{\"type\":\"system\",\"subtype\":\"api_retry\"");
                count(out, ",\"attempt\":", number(&["attempt"]), "1", "/attempt");
                count(out, ",\"max_retries\":", number(&["max_retries", "maxRetries"]), "0", "/max_retries");
                count(
                    out,
                    ",\"retry_delay_ms\":",
                    number(&["retry_delay_ms", "delayMs", "delay_ms"]),
                    "0",
                    "/retry_delay_ms",
                );
                match number(&["error_status", "status"]) {
                    Some(status) => count(out, ",\"error_status\":", Some(status), "", ""),
                    None => out.lit(",\"error_status\":null"),
                }
                match member("error").and_then(Raw::string).filter(|word| ERRORS.contains(&word.as_escaped())) {
                    Some(word) => {
                        out.lit(",\"error\":");
                        out.str(word);
                    }
                    None => {
                        out.lit(",\"error\":\"unknown\"");
                        out.invented("/error", "the source has no word for the error that this target knows");
                    }
                }
            }
            Topic::Compaction => {
                self.begin(
                    out,
                    "{\"type\":\"system\",\"subtype\":\"compact_boundary\",\"compact_metadata\":{\"trigger\":\"auto\"",
                );
                out.invented("/compact_metadata/trigger", "the source does not say what caused it");
                let before = number(&[
                    "pre_tokens",
                    "original_token_count",
                    "originalTokenCount",
                    "original_tokens",
                    "tokens_before",
                ]);
                count(out, ",\"pre_tokens\":", before, "0", "/compact_metadata/pre_tokens");
                if let Some(after) = number(&["post_tokens", "new_token_count", "newTokenCount", "compressed_tokens", "tokens_after"]) {
                    count(out, ",\"post_tokens\":", Some(after), "", "");
                }
                out.lit("}");
            }
            Topic::Task if member("task_id").is_some() => {
                let (subtype, members): (_, &[(&str, Option<&'static str>)]) = match notice.name.as_escaped() {
                    "task_started" => (
                        "task_started",
                        &[
                            ("task_id", None),
                            ("tool_use_id", None),
                            ("description", Some("")),
                            ("subagent_type", None),
                        ],
                    ),
                    "task_notification" => (
                        "task_notification",
                        &[
                            ("task_id", None),
                            ("tool_use_id", None),
                            ("status", Some("completed")),
                            ("output_file", Some("")),
                            ("summary", Some("")),
                            ("usage", None),
                        ],
                    ),
                    _ => return,
                };
                self.begin(out, "{\"type\":\"system\",\"subtype\":\"");
                out.lit(subtype);
                out.lit("\"");
                for (name, otherwise) in members {
                    match (member(name), otherwise) {
                        (Some(value), _) => {
                            out.lit(",\"");
                            out.lit(name);
                            out.lit("\":");
                            out.unchecked(value);
                        }
                        (None, Some(text)) => {
                            out.lit(",\"");
                            out.lit(name);
                            out.lit("\":\"");
                            out.lit(text);
                            out.lit("\"");
                            out.note(Fate::Invented, &format!("/{name}"), "not known; the target's parsers need it");
                        }
                        (None, None) => {}
                    }
                }
            }
            _ => return,
        }
        self.session_id(out);
        self.uuid(out, event.origin.id);
        self.end(out);
    }
}

/// The fields of a line up to and including the one of this name, and those behind it: what the model has a place for stood
/// between them.
pub(super) fn up_to<'f, 'a>(name: &str, fields: &'f [Field<'a>]) -> (&'f [Field<'a>], &'f [Field<'a>]) {
    let at = fields.iter().position(|field| field.key.is(name)).map_or(0, |at| at + 1);
    fields.split_at(at)
}

/// Tool names as an array; the RFC has them in one text, separated by blanks.
fn names(raw: &str) -> String {
    let Some(text) = Raw::trusted(raw).string() else { return raw.to_owned() };
    let mut list = String::from("[");
    for name in text.as_escaped().split([' ', ',']).filter(|name| !name.is_empty()) {
        list.push_str(if list.len() > 1 { ",\"" } else { "\"" });
        list.push_str(name);
        list.push('"');
    }
    list.push(']');
    list
}

/// Claude's word for a permission mode.
pub(super) fn mode(word: &str) -> &str {
    match word {
        "auto-edit" | "auto_edit" | "autoEdit" => "acceptEdits",
        "yolo" => "bypassPermissions",
        word => word,
    }
}

#[inline(always)]
fn text(out: &mut Out, key: &str, value: Option<&str>, otherwise: &'static str, pointer: &'static str) {
    out.lit(key);
    out.lit("\"");
    out.lit(value.unwrap_or(otherwise));
    out.lit("\"");
    if value.is_none() {
        out.invented(pointer, "not known; the target's parsers need it");
    }
}

#[inline(always)]
fn list(out: &mut Out, key: &str, value: Option<&str>, pointer: &'static str) {
    out.lit(key);
    out.lit(value.unwrap_or("[]"));
    if value.is_none() {
        out.invented(pointer, "not known; the target's parsers need it");
    }
}

fn count(out: &mut Out, key: &str, value: Option<Raw<'_>>, otherwise: &'static str, pointer: &'static str) {
    out.lit(key);
    match value {
        Some(value) => out.raw(value),
        None => {
            out.lit(otherwise);
            out.invented(pointer, "not known; the target's parsers need it");
        }
    }
}
