//! Events of the server to events of the model.

use bumpalo::Bump;

use super::event::{OPENED, Said};
use super::thread::Thread;
use crate::chat::Members;
use crate::codec::{Cx, Decode};
use crate::event::{
    Agent, Block, BlockHead, BlockStart, BlockStop, Content, Delta, Event, Fields, Kind, Notice, Origin, Others, Outcome, OutcomeKind, Piece, Place,
    Prompt, PromptSource, Reply, ResultStatus, RoundEnd, RoundStart, Session, Sink, StopKind, Thinking, Topic,
};
use crate::json::{Cursor, Error, Raw, Str};
use crate::opencode::decode::why;
use crate::opencode::parts::Called;
use crate::store::Turn;

/// Reads it.
#[derive(Debug, Default)]
pub struct Decoder {
    /// The main session.
    main: Thread,
    /// Those of its subagents.
    children: Vec<Thread>,
    /// The session's facts were told.
    begun: bool,
    /// Sessions that were left for another one, with whether their facts were told; the last one that was, last.
    left: Vec<(Thread, bool)>,
    /// The session that the last line has entered, as it was before it.
    entered: Option<(Thread, bool)>,
    /// How the turn ends is worked out of what was said in it, when the server is idle.
    turn: Turn,
    /// How many of its calls have no result.
    running: usize,
    /// It failed; the server has become idle in the middle of what it says.
    failed: bool,
    is_idle: bool,
    /// The call of a subagent that runs last.
    task: String,
}

/// More subagents than this do not work at a time.
const MOST_CHILDREN: usize = 256;
/// More sessions are forgotten.
const MOST_LEFT: usize = 64;

impl Decode for Decoder {
    fn line<'a>(&mut self, text: &'a str, cx: &Cx<'a>, sink: &mut dyn Sink<'a>) -> Result<usize, Error> {
        let value = text.strip_prefix("data:").map_or(text, str::trim_start);
        let before = text.len() - value.len();
        if !value.starts_with('{') {
            sink.event(&Event::new(self.here(cx), Kind::Noise(text)));
            return Ok(text.len());
        }
        let mut at = Cursor::new(value);
        let members = Members::read_along(&mut at, &OPENED, cx)?;
        let used = at.position();
        let line = Raw::checked(&value[..used]);
        let said = Said::read(line, &members, *cx);
        if self.is_in_turn() && sink.sets_aside(&mut || self.others(said.as_ref()?)) {
            return Ok(before + used);
        }
        self.entered = None;
        match said {
            Some(said) => self.said(&said, sink)?,
            None => sink.event(&Event::new(self.here(cx), Kind::Unknown(line))),
        }
        Ok(before + used)
    }

    fn is_in_turn(&self) -> bool {
        self.turn.is_open()
    }

    fn is_others(&mut self, text: &str) -> bool {
        let arena = Bump::new();
        let cx = Cx::new(&arena);
        let text = text.strip_prefix("data:").map_or(text, str::trim_start);
        let mut at = Cursor::new(text);
        let Ok(members) = Members::read_along(&mut at, &OPENED, &cx) else {
            return false;
        };
        let said = Said::read(Raw::checked(&text[..at.position()]), &members, cx);
        said.is_some_and(|said| self.others(&said).is_some())
    }

    fn own_sessions(&self, tell: &mut dyn FnMut(&str)) {
        tell(&self.main.id);
        self.children.iter().for_each(|child| tell(&child.id));
    }

    fn finish<'a>(&mut self, cx: &Cx<'a>, sink: &mut dyn Sink<'a>) {
        self.end_idle(cx, sink);
    }

    /// What was told of the other sessions is not told again. The line that has entered this one is read once more.
    fn next_session(&mut self, to: &str) {
        let (main, begun) = self.entered.take().unwrap_or_else(|| (Thread::of(to), false));
        *self = Self {
            main,
            begun,
            left: std::mem::take(&mut self.left),
            ..Self::default()
        };
    }
}

impl Decoder {
    /// The session that is spoken of, if that is another than the one of which a turn is going on, and of none of its subagents.
    fn others(&self, said: &Said<'_>) -> Option<Others> {
        let is_own = |id: &str| id == self.main.id || self.children.iter().any(|child| child.id == id);
        let session = said.session().map(Str::as_escaped).filter(|id| !is_own(id))?;
        let parent = said.text(&["info", "parentID"]).map(Str::as_escaped);
        (!parent.is_some_and(is_own)).then(|| Others {
            session: session.to_owned(),
            parent: parent.map(str::to_owned),
        })
    }

    fn said<'a>(&mut self, said: &Said<'a>, sink: &mut dyn Sink<'a>) -> Result<(), Error> {
        match &*said.kind.unescape() {
            "session.created" | "session.updated" => self.session(said, sink),
            "session.status" => {
                let status = said.text(&["status", "type"]).unwrap_or_default();
                match status.as_escaped() {
                    "idle" => self.idle(said, sink),
                    "retry" => self.notice(said, Topic::Retry, said.text(&["status", "message"]), sink),
                    _ => self.notice(said, Topic::Status, None, sink),
                }
            }
            "session.idle" => self.idle(said, sink),
            "session.error" => self.error(said, sink),
            "message.updated" => self.message(said, sink)?,
            "message.part.updated" => self.part(said, sink)?,
            "message.part.delta" => self.piece(said, sink)?,
            "session.compacted" => self.notice(said, Topic::Compaction, None, sink),
            "session.diff" | "session.deleted" | "server.connected" | "server.heartbeat" | "file.edited" | "file.watcher.updated" => {
                self.notice(said, Topic::Status, None, sink);
            }
            "permission.asked" | "permission.replied" | "permission.updated" => self.notice(said, Topic::Permission, said.text(&["title"]), sink),
            name if FAMILIES.iter().any(|family| name.starts_with(family)) => self.notice(said, Topic::Other, None, sink),
            _ => {
                let origin = self.origin(said);
                sink.event(&Event::new(origin, Kind::Unknown(said.line)));
            }
        }
        Ok(())
    }

    /// Where what names no session belongs.
    fn here<'a>(&self, cx: &Cx<'a>) -> Origin<'a> {
        Origin {
            session: (!self.main.id.is_empty()).then(|| Str::trusted(cx.arena.alloc_str(&self.main.id))),
            ..Origin::default()
        }
    }

    /// Where an event belongs.
    fn origin<'a>(&self, said: &Said<'a>) -> Origin<'a> {
        let cx = &said.cx;
        let here = Origin {
            time: said.time(),
            ..self.here(cx)
        };
        let Some(id) = said.session() else { return here };
        match self.children.iter().find(|child| child.id == id.as_escaped()) {
            Some(child) => Origin {
                parent: (!child.call.is_empty()).then(|| Str::trusted(cx.arena.alloc_str(&child.call))),
                agent: Some(cx.keep(Agent {
                    id: Some(id),
                    ..Agent::default()
                })),
                ..here
            },
            None => Origin { session: Some(id), ..here },
        }
    }

    /// The session that an event is about, and whether it is the main one.
    fn thread(&mut self, said: &Said<'_>) -> (&mut Thread, bool) {
        let id = said.session().unwrap_or_default();
        match self.children.iter().position(|child| child.id == id.as_escaped()) {
            Some(at) => (&mut self.children[at], false),
            None => {
                if !id.is_empty() && self.main.id != id.as_escaped() {
                    self.enter(id.as_escaped());
                }
                (&mut self.main, true)
            }
        }
    }

    /// Another session is the main one from here on.
    fn enter(&mut self, id: &str) {
        let known = self.left.iter().position(|(thread, _)| thread.id == id);
        let (main, begun) = known.map_or_else(|| (Thread::of(id), false), |at| self.left.remove(at));
        self.entered = Some((main.clone(), begun));
        let left = (std::mem::replace(&mut self.main, main), std::mem::replace(&mut self.begun, begun));
        if !left.0.id.is_empty() {
            if self.left.len() == MOST_LEFT {
                self.left.remove(0);
            }
            self.left.push(left);
        }
        self.children.clear();
        self.turn = Turn::default();
        self.over();
    }

    /// What the line says.
    fn tell<'a>(&self, said: &Said<'a>, kind: Kind<'a>, sink: &mut dyn Sink<'a>) {
        self.tell_with(said, kind, said.fields(), sink);
    }

    /// What the line says too.
    fn tell_with<'a>(&self, said: &Said<'a>, kind: Kind<'a>, fields: Fields<'a>, sink: &mut dyn Sink<'a>) {
        let origin = self.origin(said);
        sink.event(&Event { origin, kind, fields });
    }

    fn notice<'a>(&self, said: &Said<'a>, topic: Topic, message: Option<Str<'a>>, sink: &mut dyn Sink<'a>) {
        let notice = said.cx.keep(Notice {
            name: said.kind,
            topic,
            message,
            data: None,
        });
        self.tell(said, Kind::Notice(notice), sink);
    }

    fn session<'a>(&mut self, said: &Said<'a>, sink: &mut dyn Sink<'a>) {
        let parent = said.text(&["info", "parentID"]);
        let (_, main) = match parent {
            Some(parent) if parent.as_escaped() == self.main.id => {
                let id = said.session().unwrap_or_default();
                if !self.children.iter().any(|child| child.id == id.as_escaped()) {
                    let mut child = Thread::of(id.as_escaped());
                    // Its call may be told before or behind it; that of an earlier subagent is not its own.
                    child.call = std::mem::take(&mut self.task);
                    if self.children.len() == MOST_CHILDREN {
                        self.children.remove(0);
                    }
                    self.children.push(child);
                }
                return self.notice(said, Topic::Task, None, sink);
            }
            _ => self.thread(said),
        };
        if !main || std::mem::replace(&mut self.begun, true) {
            return self.notice(said, Topic::Status, None, sink);
        }
        let session = said.cx.keep(Session {
            cwd: said.text(&["info", "directory"]),
            version: said.text(&["info", "version"]),
            model: said.text(&["info", "model", "id"]),
            ..Session::default()
        });
        self.tell(said, Kind::Session(session), sink);
    }

    /// A message begins, or more is known of it.
    fn message<'a>(&mut self, said: &Said<'a>, sink: &mut dyn Sink<'a>) -> Result<(), Error> {
        let id = said.text(&["info", "id"]).ok_or_else(|| said.missing("properties/info/id"))?;
        let role = said.text(&["info", "role"]).ok_or_else(|| said.missing("properties/info/role"))?;
        let (thread, main) = self.thread(said);
        let first = thread.first(if role.is("user") { "user" } else { "reply" }, id.as_escaped());
        if !first || !role.is("assistant") {
            self.notice(said, Topic::Status, None, sink);
            return Ok(());
        }
        thread.enter(id.as_escaped());
        if main {
            self.end_idle(&said.cx, sink);
            self.turn.goes_on();
        }
        let start = said.cx.keep(RoundStart {
            id: Some(id),
            model: said.text(&["info", "modelID"]),
            ..RoundStart::default()
        });
        self.tell(said, Kind::RoundStart(start), sink);
        Ok(())
    }

    /// A part begins, goes on or is whole.
    fn part<'a>(&mut self, said: &Said<'a>, sink: &mut dyn Sink<'a>) -> Result<(), Error> {
        said.find(&["part"]).ok_or_else(|| said.missing("properties/part"))?;
        let kind = said.text(&["part", "type"]).ok_or_else(|| said.missing("properties/part/type"))?;
        let id = said.text(&["part", "id"]).ok_or_else(|| said.missing("properties/part/id"))?;
        let message = said.text(&["part", "messageID"]).unwrap_or_default();
        said.cx.took(kind.as_escaped());
        let (thread, main) = self.thread(said);
        if thread.has("user", message.as_escaped()) {
            let text = said.text(&["part", "text"]).filter(|_| kind.is("text"));
            match text.filter(|_| thread.first("prompt", id.as_escaped())) {
                Some(text) => self.prompt(said, text, main, sink),
                None => self.notice(said, Topic::Status, None, sink),
            }
            return Ok(());
        }
        match kind.as_escaped() {
            "text" | "reasoning" => self.text(said, id, kind.is("reasoning"), sink)?,
            "tool" => self.tool(said, main, sink)?,
            "step-finish" => {
                let mut part = said.part().ok_or_else(|| said.missing("properties/part"))?;
                let (stop, usage) = part.finish().ok_or_else(|| said.missing("properties/part/reason"))?;
                let denied = thread.denied && stop.kind == StopKind::Tools;
                // Subagents work for the turn, too.
                self.turn.cost(part.cost());
                if main {
                    self.turn.reply(&Reply {
                        id: Some(message),
                        stop: Some(stop),
                        usage,
                        ..Reply::default()
                    });
                }
                if main && denied {
                    self.turn.ends_as(OutcomeKind::Cancelled);
                }
                let end = said.cx.keep(RoundEnd {
                    stop: Some(stop),
                    usage,
                    abandoned_from: None,
                });
                self.tell(said, Kind::RoundEnd(end), sink);
            }
            _ => self.notice(said, Topic::Status, None, sink),
        }
        Ok(())
    }

    fn prompt<'a>(&mut self, said: &Said<'a>, text: Str<'a>, main: bool, sink: &mut dyn Sink<'a>) {
        if main {
            self.end_idle(&said.cx, sink);
            self.turn.goes_on();
        }
        let synthetic = said.find(&["part", "synthetic"]).and_then(Raw::bool) == Some(true);
        let prompt = said.cx.keep(Prompt {
            content: Content::Text(text),
            source: match main {
                true if synthetic => PromptSource::Agent,
                true => PromptSource::Host,
                false => PromptSource::Parent,
            },
        });
        self.tell(said, Kind::Prompt(prompt), sink);
    }

    /// A text or a thought: empty where it begins, with its end where it is whole. Older versions say each piece so too.
    fn text<'a>(&mut self, said: &Said<'a>, id: Str<'a>, thinks: bool, sink: &mut dyn Sink<'a>) -> Result<(), Error> {
        let text = said.text(&["part", "text"]).ok_or_else(|| said.missing("properties/part/text"))?;
        let message = said.text(&["part", "messageID"]);
        let whole = said.find(&["part", "time", "end"]).is_some();
        if let Some(delta) = said.text(&["delta"]).filter(|_| !whole) {
            self.delta(said, id, delta, thinks, sink);
            return Ok(());
        }
        let (thread, _) = self.thread(said);
        if whole {
            if !thread.first("text", id.as_escaped()) {
                self.notice(said, Topic::Status, None, sink);
                return Ok(());
            }
            let ended = thread.end(id.as_escaped());
            let block = match thinks {
                true => Block::Thinking(Thinking { text, ..Thinking::default() }),
                false => Block::Text { text, fields: &[] },
            };
            let reply = said.cx.keep(Reply {
                id: message,
                blocks: said.cx.list(&[block]),
                ..Reply::default()
            });
            self.tell(said, Kind::Reply(reply), sink);
            if let Some(index) = ended {
                self.tell_with(said, Kind::BlockStop(BlockStop { index }), &[], sink);
            }
            return Ok(());
        }
        if !text.is_empty() || thread.block(id.as_escaped()).is_some() {
            self.notice(said, Topic::Status, None, sink);
            return Ok(());
        }
        let index = thread.begin(id.as_escaped(), thinks);
        let head = if thinks { BlockHead::Thinking } else { BlockHead::Text };
        self.tell(said, Kind::BlockStart(BlockStart { index, head }), sink);
        Ok(())
    }

    fn piece<'a>(&mut self, said: &Said<'a>, sink: &mut dyn Sink<'a>) -> Result<(), Error> {
        let id = said.text(&["partID"]).ok_or_else(|| said.missing("properties/partID"))?;
        let delta = said.text(&["delta"]).ok_or_else(|| said.missing("properties/delta"))?;
        let message = said.text(&["messageID"]).unwrap_or_default();
        let (thread, _) = self.thread(said);
        let known = thread.block(id.as_escaped());
        let is_text = said.text(&["field"]).is_none_or(|field| field.is("text"));
        if !is_text || thread.has("user", message.as_escaped()) {
            self.notice(said, Topic::Status, None, sink);
            return Ok(());
        }
        self.delta(said, id, delta, known.is_some_and(|(_, thinks)| thinks), sink);
        Ok(())
    }

    fn delta<'a>(&mut self, said: &Said<'a>, id: Str<'a>, delta: Str<'a>, thinks: bool, sink: &mut dyn Sink<'a>) {
        let (thread, _) = self.thread(said);
        let index = match thread.block(id.as_escaped()) {
            Some((index, _)) => index,
            None => {
                let index = thread.begin(id.as_escaped(), thinks);
                let head = if thinks { BlockHead::Thinking } else { BlockHead::Text };
                self.tell_with(said, Kind::BlockStart(BlockStart { index, head }), &[], sink);
                index
            }
        };
        let piece = if thinks { Piece::Thinking(delta) } else { Piece::Text(delta) };
        self.tell(said, Kind::Delta(Delta { index, piece }), sink);
    }

    /// A call is told when its arguments are whole, and its result when it is over.
    fn tool<'a>(&mut self, said: &Said<'a>, main: bool, sink: &mut dyn Sink<'a>) -> Result<(), Error> {
        let status = said.text(&["part", "state", "status"]).unwrap_or_default();
        let part = said.part().ok_or_else(|| said.missing("properties/part"))?;
        let message = said.text(&["part", "messageID"]);
        let Called { call, result, .. } = part.call().map_err(|_| said.missing("properties/part/state"))?;
        let session = said.text(&["part", "state", "metadata", "sessionId"]);
        if call.name.is("task") && main && !status.is("pending") {
            match session.and_then(|id| self.children.iter_mut().find(|child| child.id == id.as_escaped())) {
                Some(child) => call.id.as_escaped().clone_into(&mut child.call),
                None if status.is("running") => call.id.as_escaped().clone_into(&mut self.task),
                None => {}
            }
        }
        let (thread, main) = self.thread(said);
        let tells_call = !status.is("pending") && thread.first("call", call.id.as_escaped());
        let result = result.filter(|_| thread.first("result", call.id.as_escaped()));
        thread.denied |= result.is_some_and(|result| result.status == ResultStatus::Denied);
        if main {
            self.running = (self.running + usize::from(tells_call)).saturating_sub(usize::from(result.is_some()));
        }
        if tells_call {
            let reply = said.cx.keep(Reply {
                id: message,
                blocks: said.cx.list(&[Block::Call(call)]),
                ..Reply::default()
            });
            let fields = if result.is_some() { &[][..] } else { said.fields() };
            self.tell_with(said, Kind::Reply(reply), fields, sink);
        }
        match result {
            Some(result) => self.tell(said, Kind::ToolResult(said.cx.keep(result)), sink),
            None if !tells_call => self.notice(said, Topic::Status, None, sink),
            None => {}
        }
        Ok(())
    }

    fn error<'a>(&mut self, said: &Said<'a>, sink: &mut dyn Sink<'a>) {
        let name = said.text(&["error", "name"]).unwrap_or_default();
        let message = said.text(&["error", "data", "message"]);
        let error = message.unwrap_or(name);
        let main = self.thread(said).1;
        if main {
            self.turn.failed(error);
            self.turn.ends_as(why(name, message));
            self.failed = true;
        }
        self.notice(said, Topic::Other, message, sink);
        if main {
            self.turn.keeps(error, &said.cx);
        }
    }

    /// The server waits for the next prompt: the turn is over, or a subagent is.
    fn idle<'a>(&mut self, said: &Said<'a>, sink: &mut dyn Sink<'a>) {
        if !self.thread(said).1 {
            return self.notice(said, Topic::SubagentEnd, None, sink);
        }
        if self.failed && (self.running > 0 || self.main.is_open()) {
            // What came of the calls that were aborted, and the rest of a text, follow, and the server says once more that it is idle.
            self.is_idle = true;
            return self.notice(said, Topic::Status, None, sink);
        }
        let Some(outcome) = self.turn.outcome(&said.cx) else {
            return self.notice(said, Topic::Status, None, sink);
        };
        let cut = outcome.kind == OutcomeKind::Failed(Place::Protocol);
        let outcome = said.cx.keep(Outcome {
            synthetic: false,
            word: Some(said.kind),
            error: outcome
                .error
                .filter(|_| !cut)
                .or(cut.then_some(Str::trusted("the server became idle in the middle of the turn"))),
            ..outcome
        });
        self.tell(said, Kind::Outcome(outcome), sink);
        self.turn.told(outcome, &said.cx);
        self.over();
    }

    /// Nothing follows of what was aborted: the turn was over when the server became idle.
    fn end_idle<'a>(&mut self, cx: &Cx<'a>, sink: &mut dyn Sink<'a>) {
        if !self.is_idle {
            return;
        }
        if let Some(outcome) = self.turn.outcome(cx) {
            let outcome = cx.keep(Outcome { synthetic: false, ..outcome });
            sink.event(&Event::new(self.here(cx), Kind::Outcome(outcome)));
            self.turn.told(outcome, cx);
        }
        self.over();
    }

    const fn over(&mut self) {
        (self.running, self.failed, self.is_idle) = (0, false, false);
    }
}

/// What else its events are called.
const FAMILIES: [&str; 21] = [
    "catalog.",
    "command.",
    "file.",
    "ide.",
    "installation.",
    "integration.",
    "lsp.",
    "mcp.",
    "message.",
    "plugin.",
    "project.",
    "pty.",
    "question.",
    "reference.",
    "server.",
    "session.",
    "todo.",
    "tui.",
    "vcs.",
    "workspace.",
    "worktree.",
];
