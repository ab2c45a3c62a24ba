use super::TELEMETRY;
use super::fields::knows;
use super::parts::{Part, parts, usage};
use crate::codec::{Cx, Decode, stray};
use crate::event::{
    Agent, At, Block, Content, Event, Field, Fields, Kind, Notice, Origin, Prompt, PromptSource, Reply, ResultStatus, Session, Sink, Time,
    ToolResult, Topic,
};
use crate::json::{Cursor, Error, Raw, Shape, Str};
use crate::qwen_code::decode::turn::status as said;
use crate::store::{Child, Reading, unknown};

/// Reads Qwen Code's chat files.
#[derive(Debug, Default)]
pub struct Decoder {
    kept: Reading,
}

/// A line, taken apart.
#[derive(Default)]
struct Line<'a> {
    kind: Option<Str<'a>>,
    subtype: Option<Str<'a>>,
    id: Option<Str<'a>>,
    parent: Option<Str<'a>>,
    session: Option<Str<'a>>,
    time: Option<Time<'a>>,
    agent: Agent<'a>,
    cwd: Option<Str<'a>>,
    version: Option<Str<'a>>,
    model: Option<Str<'a>>,
    provenance: Option<Str<'a>>,
    message: Option<Raw<'a>>,
    parts: Option<Raw<'a>>,
    usage: Option<Raw<'a>>,
    result: Option<Raw<'a>>,
    payload: Option<Raw<'a>>,
    fields: Vec<Field<'a>>,
}

impl Decode for Decoder {
    fn line<'a>(&mut self, text: &'a str, cx: &Cx<'a>, sink: &mut dyn Sink<'a>) -> Result<usize, Error> {
        let mut at = Cursor::new(text);
        if !text.starts_with('{') {
            return Ok(stray(text, sink));
        }
        let line = Line::read(&mut at, cx)?;
        let end = at.position();
        if line.is_own() {
            sink.own();
        }
        let need = || line.message.ok_or(Error::missing(end, "message"));
        match line.kind.map_or("", Str::as_escaped) {
            "user" | "tool_result" => {
                let message = need()?;
                self.user(&line, message, cx, sink);
            }
            "assistant" => {
                need()?;
                self.assistant(&line, cx, sink);
            }
            "system" => self.system(&line, cx, sink),
            _ => {
                let raw = Cursor::new(text).raw()?;
                unknown(raw, self.session_of(&line, cx), sink);
            }
        }
        Ok(end)
    }

    fn finish<'a>(&mut self, cx: &Cx<'a>, sink: &mut dyn Sink<'a>) {
        self.kept.end_turn(cx, sink);
    }

    fn next_session(&mut self, _to: &str) {
        self.kept.next_session();
    }

    fn subagent(&mut self, of: &Child) {
        self.kept.of_subagent(of);
    }
}

impl<'a> Line<'a> {
    /// Whether it is no other program's.
    fn is_own(&self) -> bool {
        let hangs = self.id.is_some() && self.parent.is_some() && self.session.is_some();
        let has_own = self.provenance.is_some() || self.payload.is_some() || self.result.is_some();
        hangs && has_own && !self.fields.iter().any(|field| field.key.is("session_id"))
    }

    fn read(at: &mut Cursor<'a>, cx: &Cx<'a>) -> Result<Self, Error> {
        let mut line = Self::default();
        let mut object = at.object()?;
        while let Some(key) = object.key(at)? {
            // What goes over as it is has to be sound all through.
            let (value, [role, parts]) = match line.message {
                None if key.is("message") => at.raw_with(["role", "parts"])?,
                _ => (at.raw()?, [None; 2]),
            };
            let name = key.unescape();
            let text = value.string();
            match &*name {
                "type" if line.kind.is_none() && text.is_some() => {
                    line.kind = text;
                    cx.took(value.as_str());
                    continue;
                }
                "uuid" if line.id.is_none() && text.is_some() => {
                    line.id = text;
                    continue;
                }
                "sessionId" if line.session.is_none() && text.is_some() => {
                    line.session = text;
                    continue;
                }
                "timestamp" if line.time.is_none() && text.is_some() => {
                    line.time = text.map(Time::Iso);
                    continue;
                }
                "message" if line.message.is_none() && value.shape() == Some(Shape::Object) => {
                    line.message = Some(value);
                    line.parts = parts;
                    if let Some(role) = role.filter(|role| matches!(role.as_str(), "\"user\"" | "\"model\"")) {
                        cx.took(role.as_str());
                    }
                    continue;
                }
                "model" if line.model.is_none() && text.is_some() => {
                    line.model = text;
                    continue;
                }
                "usageMetadata" if line.usage.is_none() && value.shape() == Some(Shape::Object) => {
                    line.usage = Some(value);
                    continue;
                }
                "agentId" if line.agent.id.is_none() && text.is_some() => {
                    line.agent.id = text;
                    continue;
                }
                "agentName" if line.agent.name.is_none() && text.is_some() => {
                    line.agent.name = text;
                    continue;
                }
                "parentUuid" => line.parent = Some(text.unwrap_or_default()),
                "isSidechain" => cx.took(value.as_str()),
                "subtype" => line.subtype = line.subtype.or(text),
                "cwd" => line.cwd = line.cwd.or(text),
                "version" => line.version = line.version.or(text),
                "provenance" => line.provenance = line.provenance.or(text),
                "toolCallResult" => line.result = line.result.or(Some(value)),
                "systemPayload" => line.payload = line.payload.or(Some(value)),
                _ => {}
            }
            line.fields.push(Field {
                at: At::Line,
                key,
                value,
                known: knows(&name),
            });
        }
        Ok(line)
    }
}

impl Decoder {
    /// The session that a line belongs to.
    fn session_of<'a>(&mut self, line: &Line<'a>, cx: &Cx<'a>) -> Option<Str<'a>> {
        let root = line.parent.is_some_and(Str::is_empty) && line.message.is_some();
        self.kept.session(line.session, root, cx)
    }

    /// Where a line belongs.
    fn place<'a>(&mut self, line: &Line<'a>, opens_turn: bool, cx: &Cx<'a>, sink: &mut dyn Sink<'a>) -> Origin<'a> {
        let origin = Origin {
            session: self.session_of(line, cx),
            id: line.id,
            parent: None,
            agent: (line.agent != Agent::default()).then(|| cx.keep(line.agent)),
            turn: None,
            time: line.time,
        };
        let facts = Session {
            cwd: line.cwd,
            version: line.version,
            opens_turn,
            ..Session::default()
        };
        // A line is a whole reply.
        let reply = || line.kind.is_some_and(|kind| kind.is("assistant")).then_some(None);
        self.kept.hangs(line.id, line.parent, line.message.is_some(), opens_turn, reply, cx);
        self.kept.place(origin, facts, cx, sink)
    }

    fn user<'a>(&mut self, line: &Line<'a>, message: Raw<'a>, cx: &Cx<'a>, sink: &mut dyn Sink<'a>) {
        let parts = parts(line.parts, line.id, cx);
        if parts.iter().any(|part| matches!(part, Part::Result(..))) {
            return self.results(line, &parts, cx, sink);
        }
        let blocks: Vec<Block<'a>> = parts
            .iter()
            .filter_map(|part| match part {
                Part::Block(block) => Some(*block),
                Part::Result(..) => None,
            })
            .collect();
        let whose = line.provenance.map_or("real_user", Str::as_escaped);
        let own = line.subtype.is_some() || whose != "real_user";
        let main = self.kept.is_main();
        if main && !own {
            self.kept.end_turn(cx, sink);
        }
        let origin = self.place(line, main && !own, cx, sink);
        if main && (!own || self.kept.turn.is_open()) {
            self.kept.turn.goes_on();
        }
        // What the program tells its hosts of its own messages is shorter than what it tells the model.
        let shown = line.payload.and_then(|payload| payload.get("displayText")).and_then(Raw::string);
        let content = match (shown.filter(|_| own), blocks.as_slice()) {
            (Some(shown), _) => Content::Text(shown),
            (None, [Block::Text { text, fields: [] }]) => Content::Text(*text),
            (None, blocks) => Content::Blocks(cx.list(blocks)),
        };
        let source = match (main, own) {
            (false, _) => PromptSource::Parent,
            (true, true) => PromptSource::Agent,
            (true, false) => PromptSource::Host,
        };
        let mut fields = line.fields.clone();
        if shown.is_some() && own {
            fields.push(Field {
                at: At::Line,
                key: Str::trusted("message"),
                value: message,
                known: true,
            });
        }
        sink.event(&Event {
            origin,
            kind: Kind::Prompt(cx.keep(Prompt { content, source })),
            fields: cx.list(&fields),
        });
    }

    fn results<'a>(&mut self, line: &Line<'a>, parts: &[Part<'a>], cx: &Cx<'a>, sink: &mut dyn Sink<'a>) {
        let origin = self.place(line, false, cx, sink);
        if self.kept.is_main() {
            self.kept.turn.goes_on();
        }
        let mut fields: Fields<'a> = cx.list(&line.fields);
        for part in parts {
            let kind = match part {
                Part::Result(result, response) => {
                    let result = ToolResult {
                        fields: cx.list(&[*response]),
                        ..told(*result, line.result, cx)
                    };
                    Kind::ToolResult(cx.keep(result))
                }
                Part::Block(block) => Kind::Prompt(cx.keep(Prompt {
                    content: Content::Blocks(cx.list(&[*block])),
                    source: PromptSource::Agent,
                })),
            };
            let fields = std::mem::take(&mut fields);
            sink.event(&Event { origin, kind, fields });
        }
    }

    fn assistant<'a>(&mut self, line: &Line<'a>, cx: &Cx<'a>, sink: &mut dyn Sink<'a>) {
        let blocks: Vec<Block<'a>> = parts(line.parts, line.id, cx)
            .into_iter()
            .filter_map(|part| match part {
                Part::Block(block) => Some(block),
                Part::Result(..) => None,
            })
            .collect();
        let reply = Reply {
            id: None,
            model: line.model,
            blocks: cx.list(&blocks),
            stop: None,
            usage: line.usage.map(usage),
            error: None,
            // A subagent's reply may stand on several lines.
            last: self.kept.is_main(),
        };
        let origin = self.place(line, false, cx, sink);
        if self.kept.is_main() {
            self.kept.turn.reply(&reply);
        }
        sink.event(&Event {
            origin,
            kind: Kind::Reply(cx.keep(reply)),
            fields: cx.list(&line.fields),
        });
    }

    fn system<'a>(&mut self, line: &Line<'a>, cx: &Cx<'a>, sink: &mut dyn Sink<'a>) {
        let origin = self.place(line, false, cx, sink);
        let subtype = line.subtype.unwrap_or_default();
        let measured = line.payload.and_then(|payload| payload.get("uiEvent"));
        let member = |name: &str| measured.and_then(|measured| measured.get(name)).and_then(Raw::string);
        let measure = member("event.name").unwrap_or_default();
        let name = if subtype.is("ui_telemetry") {
            Str::trusted(cx.arena.alloc_str(&format!("{TELEMETRY}{}", measure.as_escaped())))
        } else {
            subtype
        };
        // Of a model call that failed nothing else is kept.
        let failed = measure.as_escaped().ends_with(".api_error") && member("subagent_name").is_none();
        let error = member("error_message").unwrap_or(Str::trusted("the model could not be asked"));
        let failed = failed && self.kept.is_main();
        if failed {
            self.kept.turn.failed(error);
        }
        let topic = match subtype.as_escaped() {
            "chat_compression" => Topic::Compaction,
            _ => Topic::Other,
        };
        let notice = Notice {
            name,
            topic,
            message: None,
            data: None,
        };
        sink.event(&Event {
            origin,
            kind: Kind::Notice(cx.keep(notice)),
            fields: cx.list(&line.fields),
        });
        if failed {
            self.kept.turn.keeps(error, cx);
        }
    }
}

/// A result as the program tells it to its hosts: of a command only what it has written.
fn told<'a>(mut result: ToolResult<'a>, known: Option<Raw<'a>>, cx: &Cx<'a>) -> ToolResult<'a> {
    let Some(known) = known else { return result };
    let status = known.get("status").and_then(Raw::string);
    if let Some(status) = status {
        if matches!(status.as_escaped(), "success" | "error" | "cancelled") {
            cx.took(status.as_escaped());
        }
        result.status = match status.as_escaped() {
            "success" => ResultStatus::Success,
            word @ ("cancelled" | "error") => match said(&ToolResult {
                is_error: Some(true),
                ..result
            }) {
                ResultStatus::Denied => ResultStatus::Denied,
                _ if word == "cancelled" => ResultStatus::Canceled,
                _ => ResultStatus::Error,
            },
            _ => result.status,
        };
        result.is_error = Some(result.status != ResultStatus::Success);
    }
    let shown = known.get("resultDisplay").filter(|shown| {
        let kind = shown.get("type").and_then(Raw::string);
        kind.is_some_and(|kind| kind.is("shell_result"))
    });
    if let Some(text) = shown.and_then(|shown| shown.get("text")).and_then(Raw::string)
        && !text.is_empty()
        && result.status == ResultStatus::Success
    {
        result.content = Content::Text(text);
    }
    result
}
