use super::members::Members;
use super::{parts, spelling};
use crate::codec::{Cx, Decode, Format};
use crate::event::{
    BlockStart, BlockStop, CancelResult, CommandResult, Content, Delta, Event, Fatal, Heartbeat, HintResult, Input, Kind, Notice, Outcome,
    OutcomeKind, Piece, Place, Reply, RoundEnd, RoundStart, RoundStop, Scope, Session, Sink, Terminal, ToolProgress, ToolResult, Withdraw,
};
use crate::json::{Cursor, Error, Raw, Why};
use crate::learn::{Aside, Learned, Rules};

/// Reads canonical events.
#[derive(Debug, Default)]
pub struct Decoder {
    learned: Learned,
}

/// What follows from the values of a line: nothing, for it says everything itself.
static RULES: Rules = Rules {
    indexed: true,
    places: &[],
    tools: None,
    counts: None,
    status: None,
};

impl Decode for Decoder {
    fn line<'a>(&mut self, text: &'a str, cx: &Cx<'a>, sink: &mut dyn Sink<'a>) -> Result<usize, Error> {
        if cx.trace.is_none()
            && let Some(used) = self.learned.read((text, false), &RULES, cx, sink, |_| true)
        {
            return Ok(used);
        }
        let origin = Default::default();
        if !text.starts_with('{') {
            // What the log of an agent holds besides JSON is an event here: other text is nobody's.
            let mut at = Cursor::new(text);
            let value = at.raw()?;
            sink.event(&Event::new(origin, Kind::Unknown(value)));
            return Ok(at.position());
        }
        let mut at = Cursor::new(text);
        let mut members = Members::read(&mut at, cx)?;
        let used = at.position();
        let line = Raw::trusted(&text[..used]);
        if let Some(name) = members.word("event") {
            let origin = members.origin(cx);
            // A known event that lacks what it needs is damage.
            let Some(kind) = kind(name.as_escaped(), &mut members, line, cx) else {
                return Err(Error {
                    at: used,
                    why: lacks(name.as_escaped(), line),
                });
            };
            let unknown = matches!(kind, Kind::Unknown(raw) if raw == line);
            let fields = if unknown { &[] } else { members.fields() };
            let event = Event { origin, kind, fields };
            if cx.trace.is_none() && !unknown {
                let aside = Aside {
                    index: members.value("index"),
                    ..Aside::default()
                };
                self.learned.learn(line.as_str(), &RULES, &event, aside);
            }
            sink.event(&event);
        } else if let Some(name) = members.word("input") {
            let origin = members.origin(cx);
            let kind = members
                .input(name.as_escaped(), line, cx)
                .unwrap_or(crate::event::InputKind::Unknown(line));
            let unknown = matches!(kind, crate::event::InputKind::Unknown(raw) if raw == line);
            let fields = if unknown { &[] } else { members.fields() };
            sink.input(&Input { origin, kind, fields });
        } else if let Some(what) = members.word("agentglot") {
            cx.took(line.as_str());
            if what.is(spelling::WORD) {
                if let Some(spelling) = spelling::read(&mut members, cx) {
                    sink.spelled(&spelling);
                }
                return Ok(used);
            }
            // Of what the header says, no event repeats whose fields and tools these are.
            let source = members.word("source");
            let format = source.and_then(|name| name.unescape().parse::<Format>().ok());
            let at = members.number("at");
            if let Some(format) = format {
                sink.source(format, at);
            }
        } else {
            sink.event(&Event::new(origin, Kind::Unknown(line)));
        }
        Ok(used)
    }

    #[inline]
    fn reads_again(&self) -> bool {
        true
    }

    #[inline]
    fn again<'a>(&mut self, text: &'a str, cx: &Cx<'a>, sink: &mut dyn Sink<'a>) -> Option<usize> {
        self.learned.read((text, true), &RULES, cx, sink, |_| true)
    }

    fn next_session(&mut self, to: &str) {
        let mut learned = std::mem::take(&mut self.learned);
        learned.next_session(to);
        *self = Self { learned };
    }
}

/// What is wrong with a known event that is not whole.
#[cold]
fn lacks(name: &str, line: Raw<'_>) -> Why {
    let needed: &[&'static str] = match name {
        "delta" => &["index", "text"],
        "block_start" => &["index", "block"],
        "block_stop" => &["index"],
        "reply" => &["blocks"],
        "tool_result" => &["call", "status"],
        "tool_progress" => &["call"],
        "notice" => &["name"],
        "outcome" => &["outcome"],
        "fatal" => &["message"],
        "unknown" => &["line"],
        "noise" => &["text"],
        "prompt" => &["content", "source"],
        "request" => &["subtype"],
        _ => &[],
    };
    let missing = needed.iter().find(|name| line.get(name).is_none());
    missing.map_or(Why::Type, |name| Why::Missing(name))
}

/// The event of that name: [`Kind::Unknown`] for a name that this version does not know, `None` when something is missing.
fn kind<'a>(name: &str, m: &mut Members<'a, '_>, line: Raw<'a>, cx: &Cx<'a>) -> Option<Kind<'a>> {
    let index = |m: &mut Members<'a, '_>| m.number("index").and_then(|n| u32::try_from(n).ok());
    Some(match name {
        "delta" => {
            let index = index(m)?;
            let piece = if let Some(text) = m.str("text") {
                Piece::Text(text)
            } else if let Some(text) = m.str("thinking") {
                Piece::Thinking(text)
            } else if let Some(text) = m.str("input") {
                Piece::Input(text)
            } else if let Some(text) = m.str("signature") {
                Piece::Signature(text)
            } else if let Some(text) = m.str("subject") {
                Piece::Subject(text)
            } else {
                Piece::Other(m.part("other")?)
            };
            Kind::Delta(Delta { index, piece })
        }
        "block_start" => Kind::BlockStart(BlockStart {
            index: index(m)?,
            head: m.head(cx)?,
        }),
        "block_stop" => Kind::BlockStop(BlockStop { index: index(m)? }),
        "round_start" => Kind::RoundStart(cx.arena.alloc(RoundStart {
            id: m.str("round"),
            model: m.str("model"),
            usage: m.usage(cx),
            number: m.number("number"),
        })),
        "round_stop" => Kind::RoundStop(cx.arena.alloc(RoundStop {
            id: m.str("round"),
            stop: m.stop(),
            usage: m.usage(cx),
        })),
        "round_end" => {
            let abandoned_from = m.number("abandoned_from").and_then(|n| u32::try_from(n).ok());
            Kind::RoundEnd(cx.arena.alloc(RoundEnd {
                stop: m.stop(),
                usage: m.usage(cx),
                abandoned_from,
            }))
        }
        "reply" => Kind::Reply(cx.keep(Reply {
            id: m.str("round"),
            model: m.str("model"),
            blocks: parts::blocks(m.part("blocks")?, cx),
            stop: m.stop(),
            usage: m.usage(cx),
            error: m.str("error"),
            last: m.flag("last").unwrap_or(false),
        })),
        "tool_result" => {
            let call = m.str("call")?;
            let fields = m.part("result").map_or(&[][..], |raw| {
                let mut result = Members::of(raw, cx);
                result.word("type");
                result.fields()
            });
            Kind::ToolResult(cx.keep(ToolResult {
                call,
                name: m.str("name"),
                status: m.word("status").and_then(parts::read_status)?,
                content: m.content(cx).unwrap_or(Content::Blocks(&[])),
                is_error: m.flag("is_error"),
                detail: m.detail(),
                fields,
                of: m.part("of").and_then(|raw| parts::call(raw, cx)),
            }))
        }
        "tool_progress" => Kind::ToolProgress(cx.keep(ToolProgress {
            call: m.str("call")?,
            status: m.str("status"),
            content: m.part("content"),
            confirmation: m.part("confirmation"),
        })),
        "session" => Kind::Session(cx.keep(Session {
            cwd: m.str("cwd"),
            model: m.str("model"),
            tools: m.part("tools"),
            permission_mode: m.str("permission_mode"),
            version: m.str("version"),
            api_key_source: m.str("api_key_source"),
            mcp_servers: m.part("mcp_servers"),
            slash_commands: m.part("slash_commands"),
            agents: m.part("agents"),
            protocol_version: m.part("protocol_version"),
            capabilities: m.part("capabilities"),
            resumed: m.flag("resumed").unwrap_or(false),
            opens_turn: m.flag("opens_turn").unwrap_or(false),
        })),
        "notice" => Kind::Notice(cx.keep(Notice {
            name: m.str("name")?,
            topic: m.word("topic").and_then(parts::read_topic).unwrap_or_default(),
            message: m.str("message"),
            data: m.part("data"),
        })),
        "prompt" => Kind::Prompt(m.prompt(cx)?),
        "terminal" => Kind::Terminal(cx.keep(Terminal {
            text: m.str("text"),
            channel: m.str("channel"),
            source: m.str("source"),
            spans: m.part("spans"),
            ansi: m.part("ansi"),
            level: m.str("level"),
            exit_code: m.part("exit_code"),
            raw_ansi: m.str("raw_ansi"),
        })),
        "request" => Kind::Request(m.request(cx)?),
        "response" => Kind::Response(m.response(cx)),
        "withdraw" => Kind::Withdraw(Withdraw { id: m.str("request_id") }),
        "command" => Kind::Command(cx.keep(CommandResult {
            command: m.part("command"),
            result: m.part("result"),
        })),
        "hint" => Kind::Hint(cx.keep(HintResult {
            trigger: m.str("trigger"),
            status: m.str("status"),
            suggestions: m.part("suggestions"),
            metadata: m.part("metadata"),
            message: m.str("message"),
        })),
        "heartbeat" => Kind::Heartbeat(Heartbeat {
            status: m.str("status"),
            ts: m.part("ts"),
        }),
        "cancel_result" => Kind::CancelResult(CancelResult {
            status: m.str("status"),
            message: m.str("message"),
        }),
        "outcome" => Kind::Outcome(
            cx.keep(Outcome {
                kind: m
                    .word("outcome")
                    .map(|w| OutcomeKind::read(w.as_escaped()).unwrap_or(OutcomeKind::Failed(Place::Protocol)))?,
                is_error: m.flag("is_error").unwrap_or(false),
                told_before: false,
                synthetic: m.flag("synthetic").unwrap_or(false),
                text: m.str("text"),
                error: m.str("error"),
                word: m.str("word"),
                duration_ms: m.part("duration_ms"),
                duration_api_ms: m.part("duration_api_ms"),
                num_turns: m.num_turns(),
                cost_usd: m.part("cost_usd"),
                cost_scope: m.word("cost_scope").and_then(parts::read_scope).unwrap_or(Scope::Session),
                usage: m.usage(cx),
                stop: m.stop(),
                denials: m.part("denials"),
                structured: m.part("structured"),
                request_id: m.str("request_id"),
            }),
        ),
        "fatal" => Kind::Fatal(cx.keep(Fatal {
            message: m.str("message")?,
            kind: m.str("kind"),
            param: m.part("param"),
            code: m.part("code"),
        })),
        "noise" => Kind::Noise(m.noise(cx)?),
        "unknown" => Kind::Unknown(m.part("line")?),
        _ => Kind::Unknown(line),
    })
}
