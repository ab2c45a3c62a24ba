use std::collections::HashMap;

use super::line::Line;
use super::{ASIDE, ATTACHMENT, KEPT};
use crate::blocks::{Part, Reader, Said};
use crate::claude::STOP_NOTICE;
use crate::claude::decode::{is_local_output, status};
use crate::codec::{Cx, Decode, stray};
use crate::event::{
    At, Block, Content, Detail, DetailShape, Event, Fields, Kind, Limit, Notice, Origin, OutcomeKind, Prompt, PromptSource, ResultStatus, Session,
    Sink, ToolKind, Topic,
};
use crate::ids::hash;
use crate::json::{Cursor, Error, Raw, Str};
use crate::store::{Child, Reading, unknown};

/// Reads Claude Code's transcripts in the order of the file.
#[derive(Debug, Default)]
pub struct Decoder {
    kept: Reading,
    /// The file is a subagent's, and nobody said of which call.
    alone: bool,
    /// Calls of this turn that subagents work for: what they were asked, and the call.
    asked: Vec<(u64, String)>,
    /// Which of them a line of a subagent that stands in the main file belongs to, by the line's id.
    sides: HashMap<u64, usize>,
}

/// The kind of origin of what a task in the background tells.
pub(super) const NEWS: &str = "task-notification";

impl Decode for Decoder {
    fn line<'a>(&mut self, text: &'a str, cx: &Cx<'a>, sink: &mut dyn Sink<'a>) -> Result<usize, Error> {
        if !text.starts_with('{') {
            return Ok(stray(text, sink));
        }
        let line = Line::read(text, Reader { cx, words: &KEPT })?;
        let end = line.end;
        match line.kind {
            "user" => self.user(line, sink)?,
            "assistant" => self.assistant(line, sink)?,
            "attachment" => self.attachment(line, sink),
            "system" if line.subtype.is_some() => self.system(line, sink),
            kind if ASIDE.contains(&kind) => self.aside(line, sink),
            _ => {
                let raw = Cursor::new(text).raw()?;
                unknown(raw, self.session_of(&line), sink);
            }
        }
        Ok(end)
    }

    fn finish<'a>(&mut self, cx: &Cx<'a>, sink: &mut dyn Sink<'a>) {
        self.end_turn(cx, sink);
    }

    fn next_session(&mut self, _to: &str) {
        self.kept.next_session();
        *self = Self {
            kept: std::mem::take(&mut self.kept),
            ..Self::default()
        };
    }

    fn subagent(&mut self, of: &Child) {
        self.kept.of_subagent(of);
    }
}

impl Decoder {
    fn end_turn<'a>(&mut self, cx: &Cx<'a>, sink: &mut dyn Sink<'a>) {
        self.kept.end_turn(cx, sink);
        self.asked.clear();
        self.sides.clear();
    }

    /// The session that a line belongs to.
    fn session_of<'a>(&mut self, line: &Line<'_, 'a>) -> Option<Str<'a>> {
        let root = line.parent.is_some_and(Str::is_empty) && line.message.is_some() && !line.is_sidechain;
        self.kept.session(line.session, root, line.reader.cx)
    }

    /// Where a line of the conversation belongs.
    fn place<'a>(&mut self, line: &Line<'_, 'a>, sink: &mut dyn Sink<'a>) -> Origin<'a> {
        self.place_of(line, false, sink)
    }

    /// The same; `opens_turn`: a turn begins with it.
    fn place_of<'a>(&mut self, line: &Line<'_, 'a>, opens_turn: bool, sink: &mut dyn Sink<'a>) -> Origin<'a> {
        let origin = Origin {
            session: self.session_of(line),
            ..line.origin()
        };
        if self.kept.is_main() && !self.kept.has_begun() {
            self.alone = line.is_sidechain;
        }
        let facts = Session {
            cwd: line.cwd,
            version: line.version,
            permission_mode: line.mode,
            opens_turn,
            ..Session::default()
        };
        if !line.is_sidechain {
            let reply = || {
                let message = line.message.filter(|_| line.kind == "assistant");
                Some(message?.skip().ok()?.get("id").and_then(Raw::string))
            };
            self.kept
                .hangs(line.id, line.parent, line.message.is_some(), opens_turn, reply, line.reader.cx);
        }
        let mut origin = self.kept.place(origin, facts, line.reader.cx, sink);
        if line.is_sidechain && !self.alone && self.kept.is_main() {
            origin.parent = Some(self.call_of(line));
        }
        origin
    }

    /// The call that a subagent's line in the main file belongs to: the one whose prompt its first line says, else the last one.
    fn call_of<'a>(&mut self, line: &Line<'_, 'a>) -> Str<'a> {
        let cx = line.reader.cx;
        let id = line.id.map(|id| hash(id.as_escaped()));
        let known = line.parent.and_then(|parent| self.sides.get(&hash(parent.as_escaped())).copied());
        let asked = || {
            let said = line.message.and_then(|mut at| at.skip().ok()?.get("content")?.string())?;
            let said = hash(said.as_escaped());
            self.asked.iter().position(|(prompt, _)| *prompt == said)
        };
        let call = known.or_else(asked).or(self.asked.len().checked_sub(1));
        let Some(call) = call else {
            return Str::trusted("sidechain");
        };
        if let Some(id) = id {
            self.sides.insert(id, call);
        }
        Str::trusted(cx.arena.alloc_str(&self.asked[call].1))
    }

    fn user<'a>(&mut self, mut line: Line<'_, 'a>, sink: &mut dyn Sink<'a>) -> Result<(), Error> {
        let mut at = line.message.ok_or(Error::missing(line.end, "message"))?;
        let said = line.reader.user(&mut at, &mut line.fields)?;
        let cx = *line.reader.cx;
        let detail = line.detail;
        match said {
            Said::Content(content) => {
                if let Some((key, value)) = detail {
                    line.fields.push(line.reader.field(At::Line, key, value));
                }
                self.prompt(line, content, sink);
            }
            Said::Parts(parts) => {
                let origin = self.place(&line, sink);
                self.results(&line, parts, detail.map(|(_, raw)| raw), origin, cx, sink);
            }
        }
        Ok(())
    }

    fn prompt<'a>(&mut self, line: Line<'_, 'a>, content: Content<'a>, sink: &mut dyn Sink<'a>) {
        let cx = *line.reader.cx;
        let first = content.texts().next().unwrap_or_default();
        let stopped = first.begins(STOP_NOTICE);
        let local = is_local_output(first);
        let own = line.is_meta || stopped || local;
        let main = self.kept.is_main() && !(line.is_sidechain && self.kept.has_begun() && !self.alone);
        // What a task in the background tells begins a turn, and is not the user's word.
        let opens_turn = main && !own;
        if opens_turn {
            self.end_turn(&cx, sink);
        }
        let origin = self.place_of(&line, opens_turn, sink);
        let source = match (main, own || line.is_news) {
            (false, _) => PromptSource::Parent,
            (true, true) => PromptSource::Agent,
            (true, false) => PromptSource::Host,
        };
        if main {
            match () {
                () if stopped => self.kept.turn.ends_as(OutcomeKind::Cancelled),
                () if local => self.kept.turn.answered(),
                // What the program says before anybody has asked something begins no turn.
                () if own => {}
                () => self.kept.turn.goes_on(),
            }
        }
        sink.event(&Event {
            origin,
            kind: Kind::Prompt(cx.keep(Prompt { content, source })),
            fields: line.fields.into_bump_slice(),
        });
    }

    fn results<'a>(
        &mut self,
        line: &Line<'_, 'a>,
        parts: &'a [Part<'a>],
        mut detail: Option<Raw<'a>>,
        origin: Origin<'a>,
        cx: Cx<'a>,
        sink: &mut dyn Sink<'a>,
    ) {
        if origin.parent.is_none() {
            self.kept.turn.goes_on();
            // A call that gives the answer: the model says nothing behind its result.
            if line.ends_turn {
                self.kept.turn.ends_as(OutcomeKind::Success);
            }
        }
        // The line's own members go to its first event. Other blocks between results are prompts of their own.
        let mut fields: Fields<'a> = cx.list(&line.fields);
        for part in parts {
            let kind = match part {
                Part::Result(result) => {
                    let mut result = *result;
                    result.detail = detail.take().map(|raw| Detail {
                        shape: DetailShape::Claude,
                        raw,
                    });
                    result.status = if line.denied && result.is_error == Some(true) {
                        ResultStatus::Denied
                    } else {
                        status(&result, None)
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

    fn assistant<'a>(&mut self, mut line: Line<'_, 'a>, sink: &mut dyn Sink<'a>) -> Result<(), Error> {
        let mut at = line.message.ok_or(Error::missing(line.end, "message"))?;
        let mut reply = line.reader.reply(&mut at, &mut line.fields)?;
        let cx = *line.reader.cx;
        if line.is_error {
            let word = line.error.and_then(Raw::string);
            if word.is_some() {
                line.take("error");
            }
            reply.error = Some(word.unwrap_or(Str::trusted("unknown")));
        }
        let origin = self.place(&line, sink);
        if origin.parent.is_none() {
            self.kept.turn.reply(&reply);
            self.remember(reply.blocks);
        }
        sink.event(&Event {
            origin,
            kind: Kind::Reply(cx.keep(reply)),
            fields: line.fields.into_bump_slice(),
        });
        Ok(())
    }

    /// Remembers what subagents were asked.
    fn remember(&mut self, blocks: &[Block<'_>]) {
        for block in blocks {
            if let Block::Call(call) = block
                && call.kind == ToolKind::Subagent
            {
                let prompt = call.input.get("prompt").and_then(Raw::string).unwrap_or_default();
                self.asked.push((hash(prompt.as_escaped()), call.id.as_escaped().to_owned()));
            }
        }
    }

    fn attachment<'a>(&mut self, line: Line<'_, 'a>, sink: &mut dyn Sink<'a>) {
        let cx = *line.reader.cx;
        let member = |name: &str| line.attachment.and_then(|attachment| attachment.get(name));
        let name = member("type").and_then(Raw::string).unwrap_or_default();
        let name = name.as_escaped();
        if name == "queued_command"
            && let Some(prompt) = member("prompt").filter(|prompt| prompt.check().is_ok())
        {
            // What the user says while the turn goes on becomes a part of it.
            let content = match prompt.string() {
                Some(text) => Some(Content::Text(text)),
                None => line.reader.content(&mut Cursor::new(prompt.as_str())).ok(),
            };
            if let Some(content) = content {
                let origin = self.place(&line, sink);
                if origin.parent.is_none() && self.kept.turn.is_open() {
                    self.kept.turn.goes_on();
                }
                // Earlier versions say it in a word of its own.
                let kind = member("origin").and_then(|origin| origin.get("kind")).or(member("commandMode"));
                let is_news = kind.and_then(Raw::string).is_some_and(|kind| kind.is(NEWS));
                let is_meta = member("isMeta").and_then(Raw::bool) == Some(true);
                let source = if is_news || is_meta { PromptSource::Agent } else { PromptSource::Echo };
                let prompt = Prompt { content, source };
                return sink.event(&Event {
                    origin,
                    kind: Kind::Prompt(cx.keep(prompt)),
                    fields: line.fields.into_bump_slice(),
                });
            }
        }
        let topic = match name {
            "max_turns_reached" => Topic::Limit,
            name if name.starts_with("hook_") => Topic::Hook,
            _ => Topic::Other,
        };
        let origin = self.place(&line, sink);
        if topic == Topic::Limit && origin.parent.is_none() {
            self.kept.turn.ends_as(OutcomeKind::Limit(Limit::Turns));
        }
        let name = Str::trusted(cx.arena.alloc_str(&format!("{ATTACHMENT}{name}")));
        notice(line, origin, name, topic, sink);
    }

    fn system<'a>(&mut self, line: Line<'_, 'a>, sink: &mut dyn Sink<'a>) {
        let name = line.subtype.unwrap_or_default();
        let topic = match name.as_escaped() {
            "api_error" => Topic::Retry,
            "compact_boundary" | "microcompact_boundary" => Topic::Compaction,
            "stop_hook_summary" => Topic::Hook,
            "informational" => Topic::Status,
            _ => Topic::Other,
        };
        let origin = self.place(&line, sink);
        if name.is("local_command") && origin.parent.is_none() {
            self.kept.turn.answered();
        }
        notice(line, origin, name, topic, sink);
    }

    fn aside<'a>(&mut self, line: Line<'_, 'a>, sink: &mut dyn Sink<'a>) {
        let cx = line.reader.cx;
        let session = self.session_of(&line);
        let origin = self.kept.beside(Origin { session, ..line.origin() }, cx);
        let name = cx.text(line.kind);
        notice(line, origin, name, Topic::Other, sink);
    }
}

/// Tells what is no part of the conversation. All that it says is in its fields.
fn notice<'a>(line: Line<'_, 'a>, origin: Origin<'a>, name: Str<'a>, topic: Topic, sink: &mut dyn Sink<'a>) {
    let cx = *line.reader.cx;
    let mut fields = line.fields;
    if let Some((key, value)) = line.detail {
        fields.push(line.reader.field(At::Line, key, value));
    }
    if let Some(mut at) = line.message
        && let Ok(value) = at.skip()
    {
        fields.push(line.reader.field(At::Line, Str::trusted("message"), value.unread()));
    }
    let notice = Notice {
        name,
        topic,
        message: None,
        data: None,
    };
    sink.event(&Event {
        origin,
        kind: Kind::Notice(cx.keep(notice)),
        fields: fields.into_bump_slice(),
    });
}
