use std::collections::HashMap;

use super::line::Line;
use super::{ASIDE, ATTACHMENT, KEPT};
use crate::blocks::{Part, Reader, Said};
use crate::claude::decode::status;
use crate::codec::{Cx, Decode};
use crate::event::{
    At, Block, Content, Detail, DetailShape, Event, Fields, Kind, Limit, Notice, Origin, OutcomeKind, Prompt, PromptSource, ResultStatus, Session,
    Sink, ToolKind, Topic,
};
use crate::ids::hash;
use crate::json::{Cursor, Error, Raw, Shape, Str};
use crate::store::{Child, Turn};

/// Reads Claude Code's transcripts in the order of the file.
#[derive(Debug, Default)]
pub struct Decoder {
    /// The session's id, as the body of a JSON string.
    session: String,
    /// The session's facts were told.
    begun: bool,
    cwd: String,
    version: String,
    turn: Turn,
    /// The file is a subagent's, of this call.
    child: Option<Child>,
    /// The file is a subagent's, and nobody said of which call.
    alone: bool,
    /// Calls of this turn that subagents work for: what they were asked, and the call.
    asked: Vec<(u64, String)>,
    /// Which of them a line of a subagent that stands in the main file belongs to, by the line's id.
    sides: HashMap<u64, usize>,
}

/// What the program writes in the user's role when the user stops it.
const INTERRUPTED: &str = "[Request interrupted by user";

impl Decode for Decoder {
    fn line<'a>(&mut self, text: &'a str, cx: &Cx<'a>, sink: &mut dyn Sink<'a>) -> Result<usize, Error> {
        if !text.starts_with('{') {
            return Ok(other(text, sink));
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
                let mut at = Cursor::new(text);
                let raw = at.raw()?;
                let session = self.session_of(&line, cx);
                sink.event(&Event::new(
                    Origin {
                        session,
                        ..Origin::default()
                    },
                    Kind::Unknown(raw),
                ));
            }
        }
        Ok(end)
    }

    fn finish<'a>(&mut self, cx: &Cx<'a>, sink: &mut dyn Sink<'a>) {
        self.end_turn(cx, sink);
    }

    fn next_session(&mut self, _to: &str) {
        *self = Self {
            child: self.child.take(),
            ..Self::default()
        };
    }

    fn subagent(&mut self, of: &Child) {
        self.child = Some(of.clone());
    }
}

impl Decoder {
    fn end_turn<'a>(&mut self, cx: &Cx<'a>, sink: &mut dyn Sink<'a>) {
        if self.child.is_none() {
            self.turn.end(&self.session, cx, sink);
        }
        self.asked.clear();
        self.sides.clear();
    }

    /// The session, where the line names the one that the file is of. A session that goes on from another one has lines of that one too,
    /// with its id: only a line that goes on from nothing begins another.
    fn session_of<'a>(&mut self, line: &Line<'_, 'a>, cx: &Cx<'a>) -> Option<Str<'a>> {
        let id = line.session.filter(|id| !id.is_empty())?;
        if self.session.is_empty() {
            id.as_escaped().clone_into(&mut self.session);
        }
        let root = line.parent.is_some_and(Str::is_empty) && line.message.is_some() && !line.is_sidechain;
        if id.as_escaped() == self.session || root && self.child.is_none() {
            return Some(id);
        }
        cx.took(id.as_escaped());
        Some(Str::trusted(cx.arena.alloc_str(&self.session)))
    }

    /// Where a line of the conversation belongs; the session's facts are told before the first one.
    fn place<'a>(&mut self, line: &Line<'_, 'a>, sink: &mut dyn Sink<'a>) -> Origin<'a> {
        self.place_of(line, false, sink)
    }

    /// The same; `opens`: a turn begins with it.
    fn place_of<'a>(&mut self, line: &Line<'_, 'a>, opens: bool, sink: &mut dyn Sink<'a>) -> Origin<'a> {
        let cx = line.reader.cx;
        let session = self.session_of(line, cx);
        let mut origin = Origin { session, ..line.origin() };
        if let Some(child) = &self.child {
            return child.origin(origin, cx);
        }
        if !self.begun {
            self.begun = true;
            self.alone = line.is_sidechain;
            self.facts(line, origin, opens, sink);
        } else {
            self.told_facts(line);
        }
        if line.is_sidechain && !self.alone {
            origin.parent = Some(self.call_of(line));
        }
        origin
    }

    fn facts<'a>(&mut self, line: &Line<'_, 'a>, origin: Origin<'a>, opens_turn: bool, sink: &mut dyn Sink<'a>) {
        line.cwd.unwrap_or_default().as_escaped().clone_into(&mut self.cwd);
        line.version.unwrap_or_default().as_escaped().clone_into(&mut self.version);
        let session = Session {
            cwd: line.cwd,
            version: line.version,
            permission_mode: line.mode,
            opens_turn,
            ..Session::default()
        };
        let origin = Origin {
            session: origin.session,
            time: origin.time,
            ..Origin::default()
        };
        sink.event(&Event::new(origin, Kind::Session(line.reader.cx.keep(session))));
    }

    /// What a line says again of the session is nothing that is lost.
    fn told_facts(&self, line: &Line<'_, '_>) {
        for (again, told) in [(line.cwd, &self.cwd), (line.version, &self.version)] {
            if let Some(again) = again.filter(|again| again.as_escaped() == told) {
                line.reader.cx.took(again.as_escaped());
            }
        }
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
        let begins = |start: &str| first.as_escaped().starts_with(start);
        let stopped = begins(INTERRUPTED);
        let local = begins("<local-command-std");
        let own = line.is_meta || stopped || local;
        let main = self.child.is_none() && !(line.is_sidechain && self.begun && !self.alone);
        if main && !own {
            self.end_turn(&cx, sink);
        }
        let origin = self.place_of(&line, main && !own, sink);
        let source = match (main, own) {
            (false, _) => PromptSource::Parent,
            (true, true) => PromptSource::Agent,
            (true, false) => PromptSource::Host,
        };
        if main {
            match () {
                () if stopped => self.turn.ends_as(OutcomeKind::Cancelled),
                () if local => self.turn.answered(),
                // What the program says before anybody has asked something begins no turn.
                () if own => {}
                () => self.turn.goes_on(),
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
            self.turn.goes_on();
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
            self.turn.reply(&reply);
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
                if origin.parent.is_none() && self.turn.is_open() {
                    self.turn.goes_on();
                }
                let prompt = Prompt {
                    content,
                    source: PromptSource::Echo,
                };
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
            self.turn.ends_as(OutcomeKind::Limit(Limit::Turns));
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
            self.turn.answered();
        }
        notice(line, origin, name, topic, sink);
    }

    fn aside<'a>(&mut self, line: Line<'_, 'a>, sink: &mut dyn Sink<'a>) {
        let cx = *line.reader.cx;
        let session = self.session_of(&line, &cx);
        let origin = Origin { session, ..line.origin() };
        let origin = self.child.as_ref().map_or(origin, |child| child.origin(origin, &cx));
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

/// What is no object: another JSON value, or no JSON at all.
fn other<'a>(text: &'a str, sink: &mut dyn Sink<'a>) -> usize {
    let mut at = Cursor::new(text);
    match at.raw() {
        // A scalar that something follows is the beginning of a text, not a value.
        Ok(raw) if raw.shape() == Some(Shape::Array) || at.at_end() => {
            sink.event(&Event::new(Origin::default(), Kind::Unknown(raw)));
            at.position()
        }
        _ => {
            sink.event(&Event::new(Origin::default(), Kind::Noise(text)));
            text.len()
        }
    }
}
