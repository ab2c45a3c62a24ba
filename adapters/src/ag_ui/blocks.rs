//! Texts, thoughts and calls in pieces, and what comes of calls.

use std::collections::BTreeMap;

use super::decode::Decoder;
use super::line::Line;
use super::parts;
use super::thread::{Open, Thread};
use super::told::{self, Seen};
use crate::event::{Block, BlockHead, BlockStart, BlockStop, Delta, Kind, Origin, Piece, Reply, ResultStatus, Sink, ToolResult};
use crate::json::{Error, Shape, Str};

/// What comes in pieces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum What {
    Text,
    Thought,
    Call,
}

const SPAN: &str = "where a thought begins and ends is told with it";

impl What {
    /// The member that names it.
    pub(super) const fn id(self) -> &'static str {
        match self {
            Self::Call => "toolCallId",
            Self::Text | Self::Thought => "messageId",
        }
    }

    pub(super) const fn piece(self, text: Str<'_>) -> Piece<'_> {
        match self {
            Self::Text => Piece::Text(text),
            Self::Thought => Piece::Thinking(text),
            Self::Call => Piece::Input(text),
        }
    }

    /// What it is in a list of all messages.
    pub(super) const fn seen(self) -> Seen {
        match self {
            Self::Call => Seen::Call,
            Self::Text | Self::Thought => Seen::Message,
        }
    }

    pub(super) const fn of(self, thread: &mut Thread) -> &mut BTreeMap<String, Open> {
        match self {
            Self::Text => &mut thread.texts,
            Self::Thought => &mut thread.thoughts,
            Self::Call => &mut thread.calls,
        }
    }
}

impl Decoder {
    pub(super) fn text_start<'a>(&mut self, line: &mut Line<'a>, sink: &mut dyn Sink<'a>) -> Result<(), Error> {
        let id = line.need("messageId")?;
        self.break_off(line, sink);
        match line.find("role") {
            Some(role) if !role.is("assistant") => {
                self.hold(id, role, line, sink);
            }
            _ => {
                line.usual_role("assistant");
                self.start(What::Text, id, BlockHead::Text, Some(id), line, sink);
            }
        }
        Ok(())
    }

    pub(super) fn call_start<'a>(&mut self, line: &mut Line<'a>, sink: &mut dyn Sink<'a>) -> Result<(), Error> {
        let (id, name) = (line.need("toolCallId")?, line.need("toolCallName")?);
        self.break_off(line, sink);
        self.name_call(id, name);
        if line.is_again() && self.told.knows(Seen::Call, id) {
            self.told_before(line, sink);
            return Ok(());
        }
        let reply = line.find("parentMessageId");
        for member in ["toolCallId", "toolCallName"] {
            line.text(member);
        }
        self.start(What::Call, id, BlockHead::Call { id, name }, reply, line, sink);
        Ok(())
    }

    /// A call of an earlier run is named again, for its result.
    fn told_before<'a>(&mut self, line: &mut Line<'a>, sink: &mut dyn Sink<'a>) {
        line.origin = self.thread(line.agent).origin(line.agent, line.origin, &line.cx);
        line.structure("a call that an earlier run has told", sink);
    }

    pub(super) fn name_call(&mut self, id: Str<'_>, name: Str<'_>) {
        self.calls.insert(id.as_escaped().to_owned(), name.as_escaped().to_owned());
    }

    /// Something begins; returns its index.
    pub(super) fn start<'a>(
        &mut self,
        what: What,
        id: Str<'a>,
        head: BlockHead<'a>,
        reply: Option<Str<'a>>,
        line: &mut Line<'a>,
        sink: &mut dyn Sink<'a>,
    ) -> u32 {
        self.told.see(what.seen(), id);
        let index = self.open(what, id, true, reply, line, sink);
        let start = BlockStart { index, head };
        match line.word.as_escaped() {
            // What makes its own type a member that has to be kept: others begin such a block.
            "TEXT_MESSAGE_START" | "TOOL_CALL_START" | "REASONING_MESSAGE_START" => line.tell(Kind::BlockStart(start), sink),
            _ => line.tell_of_type(Kind::BlockStart(start), sink),
        }
        index
    }

    /// Makes room for something that is open now; returns its index.
    fn open<'a>(&mut self, what: What, id: Str<'a>, started: bool, reply: Option<Str<'a>>, line: &mut Line<'a>, sink: &mut dyn Sink<'a>) -> u32 {
        let (cx, agent) = (line.cx, line.agent);
        if let Some(agent) = agent {
            self.owners.insert((what, id.as_escaped().to_owned()), agent.as_escaped().to_owned());
        }
        let thread = self.thread(agent);
        line.origin = thread.origin(agent, line.origin, &cx);
        if what == What::Thought {
            // Another thought of the same span.
            thread.stop_ended(Origin { time: None, ..line.origin }, sink);
        }
        thread.need_round(reply, line.origin, &cx, sink);
        let before = what.of(thread).get(id.as_escaped()).filter(|open| open.started && started);
        // What begins once more is the same.
        let (index, said) = match before.copied() {
            Some(before) => (before.index, before.said),
            None => (thread.next(), told::NOTHING),
        };
        what.of(thread).insert(id.as_escaped().to_owned(), Open { index, started, said });
        index
    }

    /// What is open under an id, and whose it is.
    fn find<'s, 'a>(&'s mut self, what: What, id: Str<'_>, line: &Line<'a>) -> (&'s mut Thread, Option<Open>) {
        // What goes on need not say whose it is.
        let owner = match line.agent {
            None if !self.is_mains(what, id) => self.owners.get(&(what, id.as_escaped().to_owned())).cloned(),
            _ => None,
        };
        let agent = owner.as_deref().map(Str::trusted).or(line.agent);
        let thread = self.thread(agent);
        let open = what.of(thread).get(id.as_escaped()).copied();
        (thread, open)
    }

    /// More of something.
    pub(super) fn piece<'a>(&mut self, what: What, line: &mut Line<'a>, sink: &mut dyn Sink<'a>) -> Result<(), Error> {
        // Thoughts had no ids once.
        let is_old = line.word.as_escaped().starts_with("THINKING");
        let id = if is_old { Str::EMPTY } else { line.need(what.id())? };
        let text = line.need("delta")?;
        if let Some(held) = self.held_at(what, id, line.agent) {
            self.hear(held, text, line, sink);
            return Ok(());
        }
        self.break_off(line, sink);
        let (cx, agent) = (line.cx, line.agent);
        let (thread, open) = self.find(what, id, line);
        let index = match open {
            Some(Open { index, started, .. }) => {
                thread.says(what, id, text);
                line.origin = thread.origin(agent, line.origin, &cx);
                if started {
                    line.again(what.id());
                }
                index
            }
            None => {
                let index = self.open(what, id, false, None, line, sink);
                self.thread(agent).says(what, id, text);
                index
            }
        };
        line.text("delta");
        let kind = Kind::Delta(Delta {
            index,
            piece: what.piece(text),
        });
        if is_old {
            line.tell_of_type(kind, sink);
        } else {
            line.tell(kind, sink);
        }
        Ok(())
    }

    /// Something is whole.
    pub(super) fn stop<'a>(&mut self, what: What, line: &mut Line<'a>, sink: &mut dyn Sink<'a>) -> Result<(), Error> {
        let is_old = line.word.as_escaped().starts_with("THINKING");
        let id = if is_old { Str::EMPTY } else { line.need(what.id())? };
        if let Some(held) = self.held_at(what, id, line.agent) {
            self.tell_held(held, line, sink);
            return Ok(());
        }
        self.break_off(line, sink);
        let (cx, agent) = (line.cx, line.agent);
        let (thread, open) = self.find(what, id, line);
        if open.is_none() && line.is_again() {
            self.told_before(line, sink);
            return Ok(());
        }
        line.origin = thread.origin(agent, line.origin, &cx);
        if what == What::Thought && open.is_some() && thread.span.is_some() {
            // It may yet get its seal.
            thread.ended = Some(id.as_escaped().to_owned());
            line.structure(SPAN, sink);
            return Ok(());
        }
        let index = match open {
            Some(Open { index, started, said }) => {
                what.of(thread).remove(id.as_escaped());
                self.told.says(what.seen(), id, said);
                if started {
                    line.again(what.id());
                }
                if !self.owners.is_empty() {
                    self.owners.remove(&(what, id.as_escaped().to_owned()));
                }
                index
            }
            // Nothing of it was said.
            None => self.thread(agent).next(),
        };
        let kind = Kind::BlockStop(BlockStop { index });
        if is_old || open.is_none() {
            line.tell_of_type(kind, sink);
        } else {
            line.tell(kind, sink);
        }
        Ok(())
    }

    pub(super) fn span_start<'a>(&mut self, line: &mut Line<'a>, sink: &mut dyn Sink<'a>) -> Result<(), Error> {
        let is_old = line.word.as_escaped().starts_with("THINKING");
        let id = if is_old { Str::EMPTY } else { line.need("messageId")? };
        self.break_off(line, sink);
        let (cx, agent) = (line.cx, line.agent);
        let thread = self.thread(agent);
        line.origin = thread.origin(agent, line.origin, &cx);
        thread.ended = None;
        thread.span = Some((id.as_escaped().to_owned(), false));
        line.structure(SPAN, sink);
        Ok(())
    }

    pub(super) fn thought_start<'a>(&mut self, line: &mut Line<'a>, sink: &mut dyn Sink<'a>) -> Result<(), Error> {
        let is_old = line.word.as_escaped().starts_with("THINKING");
        let id = if is_old { Str::EMPTY } else { line.need("messageId")? };
        self.break_off(line, sink);
        if let Some((_, says)) = &mut self.thread(line.agent).span {
            *says = true;
        }
        line.usual_role("reasoning");
        self.start(What::Thought, id, BlockHead::Thinking, None, line, sink);
        Ok(())
    }

    pub(super) fn span_end<'a>(&mut self, line: &mut Line<'a>, sink: &mut dyn Sink<'a>) -> Result<(), Error> {
        if !line.word.as_escaped().starts_with("THINKING") {
            line.need("messageId")?;
        }
        self.break_off(line, sink);
        let (cx, agent) = (line.cx, line.agent);
        let owner = self.spans(line);
        let thread = self.thread(owner.as_deref().map(Str::trusted));
        line.origin = thread.origin(agent, line.origin, &cx);
        let is_open = thread.span.take().is_some();
        let ended = thread.ended.take().and_then(|id| Some((thread.thoughts.remove(&id)?, id)));
        match ended {
            Some((Open { index, said, .. }, id)) => {
                self.told.says(Seen::Message, Str::trusted(&id), said);
                self.owners.remove(&(What::Thought, id));
                line.tell_of_type(Kind::BlockStop(BlockStop { index }), sink);
            }
            None if is_open => line.structure(SPAN, sink),
            None => {
                let index = thread.next();
                line.tell_of_type(Kind::BlockStop(BlockStop { index }), sink);
            }
        }
        Ok(())
    }

    /// Whose span of thoughts an end is that does not say it.
    fn spans(&mut self, line: &Line<'_>) -> Option<String> {
        let named = line.agent.map(|agent| agent.as_escaped().to_owned());
        named.or_else(|| {
            let id = line.find("messageId")?;
            if self.is_mains(What::Thought, id) {
                return None;
            }
            self.owners.get(&(What::Thought, id.as_escaped().to_owned())).cloned()
        })
    }

    /// What a vendor sealed a thought with. A span with nothing but a seal is a thought that only the vendor can read.
    pub(super) fn seal<'a>(&mut self, line: &mut Line<'a>, sink: &mut dyn Sink<'a>) -> Result<(), Error> {
        let (id, data) = (line.need("entityId")?, line.need("encryptedValue")?);
        self.break_off(line, sink);
        let (cx, agent) = (line.cx, line.agent);
        let of_message = line.find("subtype").is_some_and(|word| word.is("message"));
        if of_message {
            self.told.says(Seen::Seal, id, told::more(told::NOTHING, data));
        }
        let (thread, open) = self.find(What::Thought, id, line);
        line.origin = thread.origin(agent, line.origin, &cx);
        let in_span = thread.span.as_ref().is_some_and(|(span, says)| span == id.as_escaped() && !says);
        match open.filter(|_| of_message) {
            Some(Open { index, started, .. }) => {
                line.text("encryptedValue");
                if started {
                    line.again("subtype");
                    line.again("entityId");
                }
                let piece = Piece::Signature(data);
                line.tell(Kind::Delta(Delta { index, piece }), sink);
            }
            None if of_message && in_span => {
                thread.need_round(None, line.origin, &cx, sink);
                line.text("encryptedValue");
                for member in ["subtype", "entityId"] {
                    cx.took(line.find(member).unwrap_or_default().as_escaped());
                }
                let reply = cx.keep(Reply {
                    blocks: cx.list(&[Block::Redacted { data, fields: &[] }]),
                    ..Reply::default()
                });
                line.bare = false;
                line.tell(Kind::Reply(reply), sink);
            }
            None => line.notice(crate::event::Topic::Thinking, None, sink),
        }
        Ok(())
    }

    pub(super) fn result<'a>(&mut self, line: &mut Line<'a>, sink: &mut dyn Sink<'a>) -> Result<(), Error> {
        let call = line.need("toolCallId")?;
        let Some(content) = line.members.get("content") else {
            return Err(line.missing("content"));
        };
        self.break_off(line, sink);
        let (cx, agent) = (line.cx, line.agent);
        self.told.says(Seen::Result, call, told::print(content));
        let thread = self.thread(agent);
        line.origin = thread.origin(agent, line.origin, &cx);
        thread.resulted(Origin { time: None, ..line.origin }, sink);
        let status = line.ours().and_then(|ours| ours.get("status")?.string()).and_then(status);
        let media = line.ours().and_then(|ours| ours.get("media"));
        line.text("toolCallId");
        line.usual_role("tool");
        let result = cx.keep(ToolResult::new(
            call,
            status.unwrap_or(ResultStatus::Success),
            parts::with_media(parts::content(content, &cx), media, &cx),
        ));
        if content.shape() == Some(Shape::String) {
            line.members.take_raw("content");
        }
        line.tell(Kind::ToolResult(result), sink);
        Ok(())
    }
}

/// How a call went that did not succeed, as we write it.
fn status(word: Str<'_>) -> Option<ResultStatus> {
    Some(match word.as_escaped() {
        "error" => ResultStatus::Error,
        "denied" => ResultStatus::Denied,
        "canceled" => ResultStatus::Canceled,
        _ => return None,
    })
}
