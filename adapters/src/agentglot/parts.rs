//! Blocks, contents, usage and the like: written and read the same way wherever they stand.

use bumpalo::collections::Vec as ArenaVec;

use super::members::{Members, Writer};
use crate::codec::Cx;
use crate::event::{
    Agent, Block, BlockHead, Content, Count, Detail, DetailShape, Media, Origin, PromptSource, Provenance, ResultStatus, Scope, Stop, Thinking, Time,
    ToolCall, ToolKind, Topic, Usage,
};
use crate::json::{Raw, Shape, Str};

/// A closed set of words: how each value is spelled.
macro_rules! words {
    ($write:ident, $read:ident, $type:ty, $($value:path => $word:literal),+ $(,)?) => {
        pub(super) const fn $write(value: $type) -> &'static str {
            match value { $($value => $word),+ }
        }
        pub(super) fn $read(word: Str<'_>) -> Option<$type> {
            match word.as_escaped() { $($word => Some($value),)+ _ => None }
        }
    };
}

words!(status, read_status, ResultStatus,
    ResultStatus::Success => "success", ResultStatus::Error => "error", ResultStatus::Denied => "denied", ResultStatus::Canceled => "canceled");
words!(scope, read_scope, Scope, Scope::Round => "round", Scope::Turn => "turn", Scope::Session => "session");
words!(tool_kind, read_tool_kind, ToolKind,
    ToolKind::Read => "read", ToolKind::Write => "write", ToolKind::Edit => "edit", ToolKind::MultiEdit => "multi_edit",
    ToolKind::NotebookEdit => "notebook_edit", ToolKind::Shell => "shell",
    ToolKind::Grep => "grep", ToolKind::Glob => "glob", ToolKind::List => "list", ToolKind::Delete => "delete", ToolKind::Mkdir => "mkdir",
    ToolKind::Todo => "todo", ToolKind::Subagent => "subagent", ToolKind::Fetch => "fetch", ToolKind::WebSearch => "web_search", ToolKind::Mcp => "mcp",
    ToolKind::Ask => "ask", ToolKind::ExitPlan => "exit_plan", ToolKind::Other => "other");
words!(topic, read_topic, Topic,
    Topic::Retry => "retry", Topic::Compaction => "compaction", Topic::Status => "status", Topic::Task => "task", Topic::Hook => "hook",
    Topic::Permission => "permission", Topic::Limit => "limit", Topic::Cancelled => "cancelled", Topic::Reminder => "reminder", Topic::Query => "query",
    Topic::Reset => "reset", Topic::SubagentEnd => "subagent_end", Topic::Thinking => "thinking", Topic::Other => "other");

/// The words of canonical events, as texts.
macro_rules! texts {
    ($($type:ident: $word:path),+ $(,)?) => { $(
        impl $type {
            /// Its word in `agentglot:events`.
            pub const fn as_str(self) -> &'static str {
                $word(self)
            }
        }
    )+ };
}

texts!(ResultStatus: status, Scope: scope, ToolKind: tool_kind, Topic: topic, PromptSource: super::encode::source);

fn read_shape(word: Str<'_>) -> Option<DetailShape> {
    let mut known = DetailShape::ALL.into_iter().filter(|dialect| dialect.vendor().detail.is_some());
    known.find(|dialect| word.is(dialect.name()))
}

impl Writer<'_> {
    pub(super) fn origin(&mut self, origin: &Origin<'_>) {
        self.str("session", origin.session);
        self.str("id", origin.id);
        self.str("parent", origin.parent);
        self.str("turn", origin.turn);
        match origin.time {
            None => {}
            Some(Time::Iso(text)) => self.str("time", Some(text)),
            Some(Time::Millis(n)) => self.unchecked("time_ms", Some(n)),
            Some(Time::Seconds(n)) => self.unchecked("time_s", Some(n)),
        }
        if let Some(agent) = origin.agent {
            self.object("agent", |w| {
                w.out.lit("{\"is\":\"subagent\"");
                w.str("id", agent.id);
                w.str("name", agent.name);
                w.str("task", agent.task);
                w.out.lit("}");
            });
        }
    }

    fn count(&mut self, key: &str, count: Option<Count<'_>>) {
        if let Some(count) = count {
            self.out.used(count.source);
            self.number(key, Some(count.value));
        }
    }

    pub(super) fn usage(&mut self, usage: Option<&Usage<'_>>) {
        let Some(usage) = usage else { return };
        self.object("usage", |w| {
            w.out.lit("{\"scope\":\"");
            w.out.lit(scope(usage.scope));
            w.out.lit("\"");
            w.count("input", usage.input);
            w.count("output", usage.output);
            w.count("reasoning", usage.reasoning);
            w.count("cache_read", usage.cache_read);
            w.count("cache_write", usage.cache_write);
            w.count("total", usage.total);
            w.flag("inclusive", usage.inclusive);
            w.flag("reasoning_beside", usage.reasoning_beside);
            w.flag("derived", usage.provenance == Provenance::Derived);
            w.unchecked("raw", usage.raw);
            w.out.lit("}");
        });
    }

    pub(super) fn num_turns(&mut self, count: Option<Count<'_>>) {
        self.count("num_turns", count);
    }

    pub(super) fn stop(&mut self, stop: Option<Stop<'_>>) {
        self.str("stop", stop.map(|s| s.word));
    }

    pub(super) fn content(&mut self, content: Content<'_>) {
        match content {
            Content::Text(text) => self.str("content", Some(text)),
            Content::Blocks(blocks) => self.list("content", blocks, |w, block| w.block(block)),
        }
    }

    pub(super) fn block(&mut self, block: &Block<'_>) {
        match block {
            Block::Text { text, fields } => {
                self.out.lit("{\"type\":\"text\"");
                self.str("text", Some(*text));
                self.fields(fields);
            }
            Block::Thinking(thinking) => {
                self.out.lit("{\"type\":\"thinking\"");
                self.str("text", Some(thinking.text));
                self.str("signature", thinking.signature);
                self.str("subject", thinking.subject);
                self.fields(thinking.fields);
            }
            Block::Redacted { data, fields } => {
                self.out.lit("{\"type\":\"redacted\"");
                self.str("data", Some(*data));
                self.fields(fields);
            }
            Block::Call(call) => {
                self.out.lit("{\"type\":\"call\"");
                self.str("id", Some(call.id));
                self.str("name", Some(call.name));
                self.word("kind", tool_kind(call.kind));
                self.raw("input", Some(call.input));
                self.fields(call.fields);
            }
            Block::Media(media) => {
                self.out.lit("{\"type\":\"media\"");
                self.str("kind", Some(media.kind));
                self.unchecked("raw", Some(media.raw));
            }
            Block::Other { kind, raw } => {
                self.out.lit("{\"type\":\"other\"");
                self.str("kind", Some(*kind));
                self.unchecked("raw", Some(*raw));
            }
        }
        self.out.lit("}");
    }

    pub(super) fn head(&mut self, head: &BlockHead<'_>) {
        self.object("block", |w| {
            match head {
                BlockHead::Text => w.out.lit("{\"type\":\"text\""),
                BlockHead::Thinking => w.out.lit("{\"type\":\"thinking\""),
                BlockHead::Redacted { data } => {
                    w.out.lit("{\"type\":\"redacted\"");
                    w.str("data", Some(*data));
                }
                BlockHead::Call { id, name } => {
                    w.out.lit("{\"type\":\"call\"");
                    w.str("id", Some(*id));
                    w.str("name", Some(*name));
                }
                BlockHead::Other { kind, raw } => {
                    w.out.lit("{\"type\":\"other\"");
                    w.str("kind", Some(*kind));
                    w.unchecked("raw", Some(*raw));
                }
            }
            w.out.lit("}");
        });
    }

    pub(super) fn detail(&mut self, detail: Option<Detail<'_>>) {
        if let Some(detail) = detail {
            self.word("detail_shape", detail.shape.name());
            self.unchecked("detail", Some(detail.raw));
        }
    }
}

impl<'a> Members<'a, '_> {
    pub(super) fn origin(&mut self, cx: &Cx<'a>) -> Origin<'a> {
        let agent = self.part("agent").map(|raw| {
            let mut agent = Members::of(raw, cx);
            agent.word("is");
            cx.keep(Agent {
                id: agent.str("id"),
                name: agent.str("name"),
                task: agent.str("task"),
            })
        });
        let time = self
            .str("time")
            .map(Time::Iso)
            .or_else(|| self.part("time_ms").map(Time::Millis))
            .or_else(|| self.part("time_s").map(Time::Seconds));
        Origin {
            session: self.str("session"),
            id: self.str("id"),
            parent: self.str("parent"),
            agent,
            turn: self.str("turn"),
            time,
        }
    }

    fn count(&mut self, key: &str) -> Option<Count<'a>> {
        self.part(key).and_then(Count::read)
    }

    pub(super) fn usage(&mut self, cx: &Cx<'a>) -> Option<Usage<'a>> {
        let mut usage = Members::of(self.part("usage")?, cx);
        Some(Usage {
            scope: usage.word("scope").and_then(read_scope).unwrap_or_default(),
            input: usage.count("input"),
            output: usage.count("output"),
            reasoning: usage.count("reasoning"),
            cache_read: usage.count("cache_read"),
            cache_write: usage.count("cache_write"),
            total: usage.count("total"),
            inclusive: usage.flag("inclusive").unwrap_or(false),
            reasoning_beside: usage.flag("reasoning_beside").unwrap_or(false),
            provenance: if usage.flag("derived") == Some(true) {
                Provenance::Derived
            } else {
                Provenance::Reported
            },
            raw: usage.part("raw"),
        })
    }

    pub(super) fn num_turns(&mut self) -> Option<Count<'a>> {
        self.count("num_turns")
    }

    pub(super) fn stop(&mut self) -> Option<Stop<'a>> {
        self.str("stop").map(Stop::read)
    }

    pub(super) fn content(&mut self, cx: &Cx<'a>) -> Option<Content<'a>> {
        let raw = self.part("content")?;
        match raw.shape() {
            Some(Shape::String) => raw.string().map(Content::Text),
            _ => Some(Content::Blocks(blocks(raw, cx))),
        }
    }

    pub(super) fn head(&mut self, cx: &Cx<'a>) -> Option<BlockHead<'a>> {
        let mut head = Members::of(self.part("block")?, cx);
        Some(match head.word("type")?.as_escaped() {
            "text" => BlockHead::Text,
            "thinking" => BlockHead::Thinking,
            "redacted" => BlockHead::Redacted {
                data: head.str("data").unwrap_or_default(),
            },
            "call" => BlockHead::Call {
                id: head.str("id").unwrap_or_default(),
                name: head.str("name").unwrap_or_default(),
            },
            _ => BlockHead::Other {
                kind: head.str("kind").unwrap_or_default(),
                raw: head.part("raw").unwrap_or(Raw::NULL),
            },
        })
    }

    pub(super) fn detail(&mut self) -> Option<Detail<'a>> {
        let shape = self.word("detail_shape").and_then(read_shape)?;
        Some(Detail {
            shape,
            raw: self.part("detail")?,
        })
    }
}

/// The blocks of an array; an element that is no block is kept as [`Block::Other`].
pub(super) fn blocks<'a>(raw: Raw<'a>, cx: &Cx<'a>) -> &'a [Block<'a>] {
    // Counted before: the arena would hold each smaller list as well.
    let mut list = ArenaVec::with_capacity_in(raw.elements().count(), cx.arena);
    list.extend(raw.elements().map(|raw| block(raw, cx)));
    list.into_bump_slice()
}

/// The call that a result's line says again.
pub(super) fn call<'a>(raw: Raw<'a>, cx: &Cx<'a>) -> Option<ToolCall<'a>> {
    match block(raw, cx) {
        Block::Call(call) => Some(call),
        _ => None,
    }
}

fn block<'a>(raw: Raw<'a>, cx: &Cx<'a>) -> Block<'a> {
    let mut members = Members::of(raw, cx);
    let kind = members.word("type");
    let read = match kind.map(Str::as_escaped) {
        Some("text") => members.str("text").map(|text| Block::Text {
            text,
            fields: members.fields(),
        }),
        Some("thinking") => members.str("text").map(|text| {
            let (signature, subject) = (members.str("signature"), members.str("subject"));
            Block::Thinking(Thinking {
                text,
                signature,
                subject,
                fields: members.fields(),
            })
        }),
        Some("redacted") => members.str("data").map(|data| Block::Redacted {
            data,
            fields: members.fields(),
        }),
        Some("call") => {
            let (id, name, input) = (members.str("id"), members.str("name"), members.part("input"));
            let kind = members.word("kind").and_then(read_tool_kind).unwrap_or_default();
            id.zip(name).zip(input).map(|((id, name), input)| {
                Block::Call(ToolCall {
                    id,
                    name,
                    kind,
                    input,
                    fields: members.fields(),
                })
            })
        }
        Some("media") => members
            .str("kind")
            .zip(members.part("raw"))
            .map(|(kind, raw)| Block::Media(Media { kind, raw })),
        Some("other") => members.str("kind").zip(members.part("raw")).map(|(kind, raw)| Block::Other { kind, raw }),
        _ => None,
    };
    read.unwrap_or(Block::Other {
        kind: kind.unwrap_or_default(),
        raw,
    })
}
