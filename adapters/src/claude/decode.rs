use crate::blocks::{Part, Reader, Said, StreamEvent};
use crate::codec::{Cx, Decode, Dialect, List, TellsEnd};
use crate::event::{
    At, Content, Delta, Detail, DetailShape, Event, Fields, Input, InputKind, Kind, Origin, Prompt, PromptSource, ResultStatus, RoundEnd, Side, Sink,
    ToolResult,
};
use crate::json::{Cursor, Error, Raw, Str, no_object};
use crate::learn::{Aside, Learned, Rules};

use super::control::Ids;
use super::line::Head;
use super::{RESPONSE, WORDS};

/// Reads Claude Code's lines, those of the agent and those of the host.
#[derive(Debug, Default)]
pub struct Decoder {
    /// Whose lines the log holds, as far as lines that only one side writes have told.
    pub(super) side: Side,
    /// Control requests of the agent that have no answer yet.
    pub(super) agent_asked: Ids,
    /// Control requests of the host that have no answer yet.
    pub(super) host_asked: Ids,
    /// Only a host speaks here: what its messages carry besides makes none of them the agent's.
    hears_host: bool,
    learned: Learned,
}

/// What a line can be, by its `type`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Type {
    StreamEvent,
    Assistant,
    User,
    System,
    Result,
    ToolProgress,
    ControlRequest,
    ControlResponse,
    ControlCancel,
    KeepAlive,
    Environment,
    /// A type that is a notice by itself: its number in [`super::decode_system::TOP`].
    Notice(usize),
    Unknown,
}

impl Type {
    fn of(word: &str) -> Self {
        match word {
            "stream_event" => Self::StreamEvent,
            "assistant" => Self::Assistant,
            "user" => Self::User,
            "system" => Self::System,
            "result" => Self::Result,
            "tool_progress" => Self::ToolProgress,
            "control_request" => Self::ControlRequest,
            "control_response" => Self::ControlResponse,
            "control_cancel_request" => Self::ControlCancel,
            "keep_alive" => Self::KeepAlive,
            "update_environment_variables" => Self::Environment,
            _ => super::decode_system::TOP
                .iter()
                .position(|w| w.name == word)
                .map_or(Self::Unknown, Self::Notice),
        }
    }

    /// The type of the line that `text` begins with; it may stand anywhere in it.
    fn find(text: &str) -> Result<Self, Error> {
        if let Some(rest) = text.strip_prefix("{\"type\":\"") {
            const FREQUENT: [(&str, Type); 5] = [
                ("stream_event\"", Type::StreamEvent),
                ("system\"", Type::System),
                ("assistant\"", Type::Assistant),
                ("user\"", Type::User),
                ("result\"", Type::Result),
            ];
            if let Some((_, kind)) = FREQUENT.iter().find(|(word, _)| rest.starts_with(word)) {
                return Ok(*kind);
            }
        }
        let mut at = Cursor::new(text);
        let mut object = at.object()?;
        while let Some(key) = object.key(&mut at)? {
            let value = at.skip()?;
            if key.is("type") {
                return Ok(value.string().map_or(Self::Unknown, |word| Self::of(&word.unescape())));
            }
        }
        Ok(Self::Unknown)
    }
}

impl Decode for Decoder {
    #[inline]
    fn line<'a>(&mut self, text: &'a str, cx: &Cx<'a>, sink: &mut dyn Sink<'a>) -> Result<usize, Error> {
        if cx.trace.is_none()
            && let Some(used) = self.read_learnt(text, false, cx, sink)
        {
            return Ok(used);
        }
        self.any(text, cx, sink)
    }

    #[inline]
    fn reads_again(&self) -> bool {
        true
    }

    #[inline]
    fn again<'a>(&mut self, text: &'a str, cx: &Cx<'a>, sink: &mut dyn Sink<'a>) -> Option<usize> {
        self.read_learnt(text, true, cx, sink)
    }

    fn list(&self, line: &str) -> Option<List> {
        crate::blocks::list(line, true)
    }

    fn next_session(&mut self, to: &str) {
        let mut learned = std::mem::take(&mut self.learned);
        learned.next_session(to);
        *self = Self {
            learned,
            hears_host: self.hears_host,
            ..Self::default()
        };
    }
}

/// What follows from the values of a line.
static RULES: Rules = Rules {
    indexed: true,
    places: &[RESPONSE],
    tools: Some(Dialect::Claude),
    counts: Some(&crate::blocks::COUNTS),
    status: Some(status),
};

impl Decoder {
    /// At the beginning of what a host says.
    pub(crate) fn of_host() -> Self {
        Self {
            side: Side::Host,
            hears_host: true,
            ..Self::default()
        }
    }

    /// Reads a line that is spelled like an earlier one, tells what it says, and returns how long it is. The `first` of some lines is read
    /// with its end.
    #[inline(always)]
    pub(super) fn read_learnt<'a>(&mut self, text: &'a str, first: bool, cx: &Cx<'a>, sink: &mut dyn Sink<'a>) -> Option<usize> {
        let Self {
            side,
            agent_asked,
            host_asked,
            learned,
            ..
        } = self;
        // The host's lines are not learnt. Hosts answer too, in the same words.
        let mut writes = Side::Agent;
        let used = learned.read((text, first), &RULES, cx, sink, |question| {
            writes = *side;
            !agent_asked.has(question) && (host_asked.take(question) || *side != Side::Host)
        })?;
        *side = writes;
        Some(used)
    }

    /// Remembers how a line of the agent is spelled that says this and nothing else.
    pub(super) fn learn(&mut self, line: &str, event: &Event<'_>, aside: Aside<'_>, cx: &Cx<'_>) {
        if cx.trace.is_none() {
            self.learned.learn(line, &RULES, event, aside);
        }
    }

    /// Reads a line of any type, spelled in any way.
    fn any<'a>(&mut self, text: &'a str, cx: &Cx<'a>, sink: &mut dyn Sink<'a>) -> Result<usize, Error> {
        if !text.starts_with('{') {
            return Ok(self.other(text, sink));
        }
        let reader = Reader { cx, words: &WORDS };
        let kind = Type::find(text)?;
        match kind {
            Type::StreamEvent => self.stream_event(text, reader, sink),
            Type::Assistant => self.assistant(text, reader, sink),
            Type::User => self.user(text, reader, sink),
            Type::System => self.system(text, reader, sink),
            Type::Result => self.result(text, reader, sink),
            Type::ToolProgress => self.tool_progress(text, reader, sink),
            Type::ControlRequest => self.control_request(text, reader, sink),
            Type::ControlResponse => self.control_response(text, reader, sink),
            Type::ControlCancel => self.control_cancel(text, reader, sink),
            Type::KeepAlive => self.keep_alive(text, reader, sink),
            Type::Environment => self.environment(text, reader, sink),
            Type::Notice(n) => self.notice(text, reader, n, sink),
            Type::Unknown => self.unknown(text, reader, sink),
        }
    }

    /// What is no object: another JSON value, or no JSON at all.
    fn other<'a>(&self, text: &'a str, sink: &mut dyn Sink<'a>) -> usize {
        let (value, used) = no_object(text);
        let origin = Origin::default();
        match (self.side, value) {
            (Side::Host, Some(raw)) => sink.input(&Input {
                origin,
                kind: InputKind::Unknown(raw),
                fields: &[],
            }),
            (Side::Host, None) => sink.input(&Input {
                origin,
                kind: InputKind::Noise(text),
                fields: &[],
            }),
            (_, Some(raw)) => sink.event(&Event::new(origin, Kind::Unknown(raw))),
            (_, None) => sink.event(&Event::new(origin, Kind::Noise(text))),
        }
        used
    }

    /// An object of no type that is known. It goes on whole.
    pub(super) fn unknown<'a>(&self, text: &'a str, reader: Reader<'_, 'a>, sink: &mut dyn Sink<'a>) -> Result<usize, Error> {
        let mut at = Cursor::new(text);
        let (raw, [session, kind]) = at.raw_with(["session_id", "type"])?;
        let session = session.and_then(Raw::string);
        if let Some(kind) = kind {
            reader.cx.took(kind.as_str());
        }
        match self.side {
            Side::Host => sink.input(&Input {
                origin: Origin::default(),
                kind: InputKind::Unknown(raw),
                fields: &[],
            }),
            _ => sink.event(&Event::new(
                Origin {
                    session,
                    ..Origin::default()
                },
                Kind::Unknown(raw),
            )),
        }
        Ok(at.position())
    }

    fn stream_event<'a>(&mut self, text: &'a str, reader: Reader<'_, 'a>, sink: &mut dyn Sink<'a>) -> Result<usize, Error> {
        let mut head = Head::new(reader, false);
        let mut found = None;
        let mut abandoned = None;
        let used = head.walk(text, |head, name, key, at| {
            match name {
                "event" if found.is_none() => found = Some(reader.event_and_index(at, &mut head.fields)?),
                "abandoned_blocks" if abandoned.is_none() => {
                    let value = at.skip()?;
                    abandoned = value.get("from_block_index").and_then(Raw::u64).and_then(|n| u32::try_from(n).ok());
                    head.fields.push(reader.field(At::Line, key, value));
                }
                _ => return Ok(false),
            }
            Ok(true)
        })?;
        let (found, index) = found.ok_or(Error::missing(used, "event"))?;
        self.side = Side::Agent;
        let origin = head.origin();
        let mut piece = None;
        let kind = match found {
            StreamEvent::MessageStart(start) => Kind::RoundStart(reader.cx.keep(start)),
            StreamEvent::BlockStart(start, opening) => {
                piece = opening.map(|piece| Delta { index: start.index, piece });
                Kind::BlockStart(start)
            }
            StreamEvent::Delta(delta) => Kind::Delta(delta),
            StreamEvent::BlockStop(stop) => Kind::BlockStop(stop),
            StreamEvent::MessageDelta(stop) => Kind::RoundStop(reader.cx.keep(stop)),
            StreamEvent::MessageStop => Kind::RoundEnd(reader.cx.keep(RoundEnd {
                abandoned_from: abandoned,
                ..RoundEnd::PLAIN
            })),
            StreamEvent::Other { .. } => return self.unknown(text, reader, sink),
        };
        let event = Event {
            origin,
            kind,
            fields: head.fields.into_bump_slice(),
        };
        if piece.is_none() {
            self.learn(&text[..used], &event, Aside { index, ..Aside::default() }, reader.cx);
        }
        sink.event(&event);
        if let Some(delta) = piece {
            sink.event(&Event::new(origin, Kind::Delta(delta)));
        }
        Ok(used)
    }

    fn assistant<'a>(&mut self, text: &'a str, reader: Reader<'_, 'a>, sink: &mut dyn Sink<'a>) -> Result<usize, Error> {
        let mut head = Head::new(reader, true);
        let mut reply = None;
        let mut error = None;
        let used = head.walk(text, |head, name, key, at| {
            match name {
                "message" if reply.is_none() => reply = Some(reader.reply(at, &mut head.fields)?),
                "error" if error.is_none() => error = head.text(key, at)?,
                _ => return Ok(false),
            }
            Ok(true)
        })?;
        let mut reply = reply.ok_or(Error::missing(used, "message"))?;
        reply.error = error;
        self.side = Side::Agent;
        let event = Event {
            origin: head.origin(),
            kind: Kind::Reply(reader.cx.keep(reply)),
            fields: head.fields.into_bump_slice(),
        };
        self.learn(&text[..used], &event, Aside::default(), reader.cx);
        sink.event(&event);
        Ok(used)
    }

    fn tool_progress<'a>(&mut self, text: &'a str, reader: Reader<'_, 'a>, sink: &mut dyn Sink<'a>) -> Result<usize, Error> {
        let mut head = Head::new(reader, false);
        let mut call = None;
        let used = head.walk(text, |head, name, key, at| {
            match name {
                "tool_use_id" if call.is_none() => call = head.text(key, at)?,
                _ => return Ok(false),
            }
            Ok(true)
        })?;
        let call = call.ok_or(Error::missing(used, "tool_use_id"))?;
        self.side = Side::Agent;
        let progress = crate::event::ToolProgress {
            call,
            status: None,
            content: None,
            confirmation: None,
        };
        sink.event(&Event {
            origin: head.origin(),
            kind: Kind::ToolProgress(reader.cx.keep(progress)),
            fields: head.fields.into_bump_slice(),
        });
        Ok(used)
    }

    fn user<'a>(&mut self, text: &'a str, reader: Reader<'_, 'a>, sink: &mut dyn Sink<'a>) -> Result<usize, Error> {
        let mut head = Head::new(reader, true);
        let mut said = None;
        let mut detail: Option<(Str<'a>, Raw<'a>)> = None;
        let mut meta: Option<Raw<'a>> = None;
        let (mut replay, mut synthetic) = (false, false);
        let mut no_parent = None;
        let used = head.walk(text, |head, name, key, at| {
            match name {
                "message" if said.is_none() => said = Some(reader.user(at, &mut head.fields)?),
                "tool_use_result" if detail.is_none() => detail = Some((key, at.skip()?)),
                "tool_result_meta" | "isReplay" | "isSynthetic" => {
                    let value = at.skip()?;
                    match name {
                        "tool_result_meta" => meta = meta.or(Some(value)),
                        "isReplay" => replay |= value.bool() == Some(true),
                        _ => synthetic |= value.bool() == Some(true),
                    }
                    head.fields.push(reader.field(At::Line, key, value));
                }
                "parent_tool_use_id" if no_parent.is_none() && at.peek() == Some(b'n') => {
                    let value = at.skip()?;
                    reader.cx.took(value.as_str());
                    no_parent = Some((key, value));
                }
                _ => return Ok(false),
            }
            Ok(true)
        })?;
        let said = said.ok_or(Error::missing(used, "message"))?;
        let origin = head.origin();
        let mut fields = head.fields;
        if self.hears_host {
            fields.extend(detail.map(|(key, value)| reader.field(At::Line, key, value)));
            fields.extend(no_parent.map(|(key, value)| reader.field(At::Line, key, value)));
            sink.input(&Input {
                origin,
                kind: InputKind::Prompt(reader.cx.keep(Prompt {
                    content: reader.as_prompt(said, text)?,
                    source: PromptSource::Host,
                })),
                fields: fields.into_bump_slice(),
            });
            return Ok(used);
        }
        let parts = match said {
            Said::Parts(parts) => parts,
            Said::Content(content) => {
                if let Some((key, value)) = detail {
                    fields.push(reader.field(At::Line, key, value));
                }
                let marked = replay || synthetic || detail.is_some() || meta.is_some();
                if self.by_host(&origin, marked) {
                    self.side = Side::Host;
                    // The host may leave it out; the agent never does.
                    fields.extend(no_parent.map(|(key, value)| reader.field(At::Line, key, value)));
                    let prompt = Prompt {
                        content,
                        source: PromptSource::Host,
                    };
                    sink.input(&Input {
                        origin,
                        kind: InputKind::Prompt(reader.cx.keep(prompt)),
                        fields: fields.into_bump_slice(),
                    });
                    return Ok(used);
                }
                self.side = Side::Agent;
                let prompt = Prompt {
                    content,
                    source: source(content, &origin, replay),
                };
                sink.event(&Event {
                    origin,
                    kind: Kind::Prompt(reader.cx.keep(prompt)),
                    fields: fields.into_bump_slice(),
                });
                return Ok(used);
            }
        };
        self.side = Side::Agent;
        // The line's own members go to its first event. Other blocks between results are prompts of their own.
        let mut fields: Fields<'a> = fields.into_bump_slice();
        let mut rest = parts;
        while let Some(part) = rest.first() {
            match part {
                Part::Result(result) => {
                    rest = &rest[1..];
                    let mut result = *result;
                    result.detail = detail.take().map(|(_, raw)| Detail {
                        shape: DetailShape::Claude,
                        raw,
                    });
                    result.status = status(&result, meta);
                    let event = Event {
                        origin,
                        kind: Kind::ToolResult(reader.cx.keep(result)),
                        fields: std::mem::take(&mut fields),
                    };
                    if parts.len() == 1 {
                        self.learn(&text[..used], &event, Aside { meta, ..Aside::default() }, reader.cx);
                    }
                    sink.event(&event);
                }
                Part::Block(_) => {
                    let count = rest.iter().take_while(|part| matches!(part, Part::Block(_))).count();
                    let blocks = rest[..count].iter().filter_map(|part| match part {
                        Part::Block(block) => Some(*block),
                        Part::Result(_) => None,
                    });
                    let content = Content::Blocks(bumpalo::collections::Vec::from_iter_in(blocks, reader.cx.arena).into_bump_slice());
                    rest = &rest[count..];
                    let prompt = Prompt {
                        content,
                        source: source(content, &origin, replay),
                    };
                    sink.event(&Event {
                        origin,
                        kind: Kind::Prompt(reader.cx.keep(prompt)),
                        fields: std::mem::take(&mut fields),
                    });
                }
            }
        }
        Ok(used)
    }

    /// Whether the host wrote a `user` line without results. The agent gives each of its lines an id and a time, and names the
    /// session as it is; hosts write `default`, nothing, or what they were told.
    const fn by_host(&self, origin: &Origin<'_>, marked: bool) -> bool {
        if marked || origin.parent.is_some() || origin.agent.is_some() || origin.time.is_some() {
            return false;
        }
        match (origin.session, self.side) {
            (None, _) => true,
            (Some(session), _) if matches!(session.as_escaped().as_bytes(), b"" | b"default") => true,
            (_, Side::Host) => true,
            (_, Side::Agent) => false,
            (_, Side::Unknown) => origin.id.is_none(),
        }
    }
}

/// Who wrote a message in the user's role that the agent shows.
fn source(content: Content<'_>, origin: &Origin<'_>, replay: bool) -> PromptSource {
    if origin.parent.is_some() {
        return PromptSource::Parent;
    }
    if replay && !content.texts().next().is_some_and(is_local_output) {
        return PromptSource::Echo;
    }
    PromptSource::Agent
}

/// What a local command wrote, a slash command's or a shell's that the user typed behind an exclamation mark, stands in the user's role.
pub(super) fn is_local_output(text: Str<'_>) -> bool {
    ["<local-command-std", "<bash-std"].iter().any(|start| text.begins(start))
}

/// Of a call that was stopped the result itself says so.
pub(super) fn tells_end(result: &ToolResult<'_>, at: &'static str) -> TellsEnd {
    let read = ToolResult {
        is_error: Some(true),
        detail: result.detail.filter(|detail| detail.shape == DetailShape::Claude),
        ..*result
    };
    match result.status {
        ResultStatus::Canceled if status(&read, None) != ResultStatus::Canceled => TellsEnd::InWords {
            words: "[Request interrupted by user for tool use]",
            at,
        },
        _ => TellsEnd::Itself,
    }
}

/// How a call went: refused where the line says so, interrupted where the tool says so, else by `is_error`.
pub(super) fn status(result: &ToolResult<'_>, meta: Option<Raw<'_>>) -> ResultStatus {
    if result.is_error != Some(true) {
        return ResultStatus::Success;
    }
    let refused = |entry: Raw<'_>| {
        let decision = entry.get("permission_decision").and_then(|d| d.get("decision")).and_then(Raw::string);
        entry.get("non_execution_kind").is_some_and(|kind| !kind.is_null()) || decision.is_some_and(|word| word.is("reject"))
    };
    let mine = |entry: &Raw<'_>| entry.get("id").and_then(Raw::string).is_none_or(|id| id.same_text(result.call));
    if meta.is_some_and(|meta| meta.elements().filter(mine).any(refused)) {
        return ResultStatus::Denied;
    }
    let interrupted = result.detail.and_then(|d| d.raw.get("interrupted")).and_then(Raw::bool) == Some(true);
    let notice = |text: Str<'_>| text.begins(super::STOP_NOTICE);
    let told = match result.content {
        Content::Text(text) => notice(text),
        content => content.texts().next().is_some_and(notice),
    };
    if interrupted || told {
        ResultStatus::Canceled
    } else {
        ResultStatus::Error
    }
}
