//! `system` lines, and the types that are notices by themselves.

use crate::blocks::{Reader, plain};
use crate::event::{Event, Kind, Notice, Session, Side, Sink, Topic};
use crate::json::{Cursor, Error, Raw, Shape, Str, Why};
use crate::learn::Aside;

use super::decode::Decoder;
use super::line::Head;

/// A notice: its name on the wire, what it is about, and the member that holds its text.
pub(super) struct Word {
    pub(super) name: &'static str,
    topic: Topic,
    pub(super) text: &'static str,
}

const fn word(name: &'static str, topic: Topic, text: &'static str) -> Word {
    Word { name, topic, text }
}

/// The subtypes of `system` but `init`.
pub(super) const SYSTEM: &[Word] = &[
    word("api_retry", Topic::Retry, "error"),
    word("background_tasks_changed", Topic::Task, ""),
    word("commands_changed", Topic::Other, ""),
    word("compact_boundary", Topic::Compaction, ""),
    word("control_request_progress", Topic::Status, ""),
    word("elicitation_complete", Topic::Other, ""),
    word("files_persisted", Topic::Other, ""),
    word("hook_progress", Topic::Hook, "output"),
    word("hook_response", Topic::Hook, "output"),
    word("hook_started", Topic::Hook, ""),
    word("informational", Topic::Other, "content"),
    word("local_command_output", Topic::Other, "content"),
    word("memory_recall", Topic::Other, ""),
    word("mirror_error", Topic::Other, "error"),
    word("model_consent_fallback", Topic::Other, "content"),
    word("model_fallback", Topic::Other, "content"),
    word("model_refusal_fallback", Topic::Other, "content"),
    word("model_refusal_no_fallback", Topic::Other, "content"),
    word("notification", Topic::Other, "text"),
    word("permission_denied", Topic::Permission, "message"),
    word("plugin_install", Topic::Other, "error"),
    word("session_state_changed", Topic::Status, ""),
    word("session_title_changed", Topic::Other, "title"),
    word("session_writes_lost", Topic::Other, ""),
    word("status", Topic::Status, "status"),
    word("task_notification", Topic::Task, "summary"),
    word("task_progress", Topic::Task, "description"),
    word("task_started", Topic::Task, "description"),
    word("task_updated", Topic::Task, ""),
    word("thinking_tokens", Topic::Thinking, ""),
    word("worker_shutting_down", Topic::Other, "reason"),
];

/// The types that are notices by themselves.
pub(super) const TOP: &[Word] = &[
    word("active_goal", Topic::Other, ""),
    word("auth_status", Topic::Other, "error"),
    word("command_lifecycle", Topic::Status, ""),
    word("conversation_reset", Topic::Reset, ""),
    word("prompt_suggestion", Topic::Other, "suggestion"),
    word("rate_limit_event", Topic::Limit, ""),
    word("tool_use_summary", Topic::Other, "summary"),
    word("transcript_mirror", Topic::Other, ""),
    // Of the agent; the host's is an input.
    word("keep_alive", Topic::Other, ""),
];

impl Decoder {
    pub(super) fn system<'a>(&mut self, text: &'a str, reader: Reader<'_, 'a>, sink: &mut dyn Sink<'a>) -> Result<usize, Error> {
        // A line of the program itself begins with type and subtype; in any other the subtype is looked for.
        let hint = text.strip_prefix("{\"type\":\"system\",\"subtype\":\"").and_then(|rest| {
            let end = rest.bytes().position(|byte| matches!(byte, b'"' | b'\\'))?;
            (rest.as_bytes()[end] == b'"').then_some(&rest[..end])
        });
        let subtype = match hint {
            Some(word) => word,
            None => {
                let mut at = Cursor::new(text);
                let whole = at.skip()?;
                let value = whole.get("subtype").ok_or(Error {
                    at: at.position(),
                    why: Why::Missing("subtype"),
                })?;
                let word = value.string().ok_or(Error {
                    at: at.position(),
                    why: Why::Type,
                })?;
                plain(reader.cx, word)
            }
        };
        let used = if subtype == "init" {
            self.init(text, reader, sink)?
        } else {
            match SYSTEM.iter().find(|w| w.name == subtype) {
                Some(word) => self.word(text, reader, word, true, sink)?,
                None => self.unknown(text, reader, sink)?,
            }
        };
        self.side = Side::Agent;
        Ok(used)
    }

    pub(super) fn notice<'a>(&mut self, text: &'a str, reader: Reader<'_, 'a>, which: usize, sink: &mut dyn Sink<'a>) -> Result<usize, Error> {
        let used = self.word(text, reader, &TOP[which], false, sink)?;
        self.side = Side::Agent;
        Ok(used)
    }

    fn init<'a>(&mut self, text: &'a str, reader: Reader<'_, 'a>, sink: &mut dyn Sink<'a>) -> Result<usize, Error> {
        let mut head = Head::new(reader, false);
        let mut session = Session {
            opens_turn: true,
            ..Session::default()
        };
        let mut subtyped = false;
        let used = head.walk(text, |head, name, key, at| {
            let list = match name {
                "subtype" if !subtyped => {
                    subtyped = true;
                    reader.cx.took(at.string()?.as_escaped());
                    return Ok(true);
                }
                "cwd" if session.cwd.is_none() => {
                    session.cwd = head.text(key, at)?;
                    return Ok(true);
                }
                "model" if session.model.is_none() => {
                    session.model = head.text(key, at)?;
                    return Ok(true);
                }
                "permissionMode" if session.permission_mode.is_none() => {
                    session.permission_mode = head.text(key, at)?;
                    return Ok(true);
                }
                "claude_code_version" if session.version.is_none() => {
                    session.version = head.text(key, at)?;
                    return Ok(true);
                }
                "apiKeySource" if session.api_key_source.is_none() => {
                    session.api_key_source = head.text(key, at)?;
                    return Ok(true);
                }
                "tools" if session.tools.is_none() => &mut session.tools,
                "mcp_servers" if session.mcp_servers.is_none() => &mut session.mcp_servers,
                "slash_commands" if session.slash_commands.is_none() => &mut session.slash_commands,
                "agents" if session.agents.is_none() => &mut session.agents,
                _ => return Ok(false),
            };
            let value: Raw<'a> = at.raw()?;
            if value.shape() == Some(Shape::Array) {
                *list = Some(value);
            } else {
                head.fields.push(crate::event::Field {
                    at: crate::event::At::Line,
                    key,
                    value,
                    known: false,
                });
            }
            Ok(true)
        })?;
        let event = Event {
            origin: head.origin(),
            kind: Kind::Session(reader.cx.keep(session)),
            fields: head.fields.into_bump_slice(),
        };
        self.learn(&text[..used], &event, Aside::default(), reader.cx);
        sink.event(&event);
        Ok(used)
    }

    fn word<'a>(
        &mut self,
        text: &'a str,
        reader: Reader<'_, 'a>,
        word: &'static Word,
        system: bool,
        sink: &mut dyn Sink<'a>,
    ) -> Result<usize, Error> {
        let mut head = Head::new(reader, false);
        let mut subtyped = !system;
        let mut name = Str::trusted(word.name);
        let mut message = None;
        let used = head.walk(text, |_, member, _, at| {
            match member {
                "subtype" if !subtyped => {
                    subtyped = true;
                    name = at.string()?;
                    reader.cx.took(name.as_escaped());
                }
                _ if message.is_none() && member == word.text && at.peek() == Some(b'"') => message = Some(at.string()?),
                _ => return Ok(false),
            }
            Ok(true)
        })?;
        let notice = Notice {
            name,
            topic: word.topic,
            message,
            data: None,
        };
        let event = Event {
            origin: head.origin(),
            kind: Kind::Notice(reader.cx.keep(notice)),
            fields: head.fields.into_bump_slice(),
        };
        self.learn(&text[..used], &event, Aside::default(), reader.cx);
        sink.event(&event);
        Ok(used)
    }
}
