//! Chunks: pieces of something that no line begins and none ends.

use super::blocks::What;
use super::decode::Decoder;
use super::line::Line;
use crate::codec::Cx;
use crate::event::{BlockHead, BlockStop, Delta, Event, Kind, Origin, Sink};
use crate::json::{Error, Str};

/// What chunks are of, until something else is said.
#[derive(Debug)]
pub(super) struct Chunk {
    what: What,
    /// Its id, escaped.
    id: String,
    /// The subagent that says it; empty for the main agent.
    agent: String,
    index: u32,
    /// It is no agent's, and is told whole.
    is_prompt: bool,
}

impl Decoder {
    pub(super) fn chunk<'a>(&mut self, what: What, line: &mut Line<'a>, sink: &mut dyn Sink<'a>) -> Result<(), Error> {
        let id = line.find(what.id());
        let delta = line.find("delta");
        let goes_on = self
            .chunk
            .as_ref()
            .is_some_and(|chunk| chunk.what == what && same(&chunk.id, id) && same(&chunk.agent, line.agent));
        if !goes_on {
            let name = line.find("toolCallName");
            let Some(id) = id else { return Err(line.missing(what.id())) };
            if what == What::Call && name.is_none() {
                return Err(line.missing("toolCallName"));
            }
            self.break_off(line, sink);
            self.begin_chunk(what, id, name, line, sink);
            return Ok(());
        }
        self.more_chunk(what, delta, line, sink);
        Ok(())
    }

    /// Something else is said than what the chunk before was of.
    fn begin_chunk<'a>(&mut self, what: What, id: Str<'a>, name: Option<Str<'a>>, line: &mut Line<'a>, sink: &mut dyn Sink<'a>) {
        let mut chunk = Chunk {
            what,
            id: id.as_escaped().to_owned(),
            agent: line.agent.unwrap_or_default().as_escaped().to_owned(),
            index: 0,
            is_prompt: false,
        };
        let delta = line.find("delta");
        let role = line.find("role").filter(|role| what == What::Text && !role.is("assistant"));
        if let Some(role) = role {
            chunk.is_prompt = true;
            self.chunk = Some(chunk);
            let held = self.hold(id, role, line, sink);
            self.held[held].add(delta);
            return;
        }
        let head = match what {
            What::Text => BlockHead::Text,
            What::Thought => BlockHead::Thinking,
            What::Call => {
                let name = name.unwrap_or_default();
                self.name_call(id, name);
                BlockHead::Call { id, name }
            }
        };
        let reply = match what {
            What::Text => Some(id),
            What::Thought => None,
            What::Call => line.find("parentMessageId"),
        };
        if what == What::Call {
            for member in ["toolCallId", "toolCallName"] {
                line.text(member);
            }
        }
        line.usual_role("assistant");
        chunk.index = self.start(what, id, head, reply, line, sink);
        if let Some(text) = delta {
            self.thread(line.agent).says(what, id, text);
            let kind = Kind::Delta(Delta {
                index: chunk.index,
                piece: what.piece(text),
            });
            sink.event(&Event::new(line.origin, kind));
        }
        self.chunk = Some(chunk);
    }

    fn more_chunk<'a>(&mut self, what: What, delta: Option<Str<'a>>, line: &mut Line<'a>, sink: &mut dyn Sink<'a>) {
        let Some(chunk) = &self.chunk else { return };
        let (cx, said, index) = (line.cx, line.agent, chunk.index);
        let agent = said.or_else(|| (!chunk.agent.is_empty()).then(|| Str::trusted(cx.arena.alloc_str(&chunk.agent))));
        let id = Str::trusted(cx.arena.alloc_str(&chunk.id));
        if chunk.is_prompt
            && let Some(held) = self.held_at(what, id, agent)
        {
            return self.hear(held, delta.unwrap_or_default(), line, sink);
        }
        let thread = self.thread(agent);
        thread.says(what, id, delta.unwrap_or_default());
        line.origin = thread.origin(said, line.origin, &cx);
        cx.took(line.find(what.id()).unwrap_or_default().as_escaped());
        line.usual_role("assistant");
        match delta {
            Some(text) => {
                line.text("delta");
                let piece = what.piece(text);
                line.tell_of_type(Kind::Delta(Delta { index, piece }), sink);
            }
            None => line.structure("it says nothing", sink),
        }
    }

    /// What the chunks were of is whole.
    pub(super) fn end_chunk<'a>(&mut self, cx: &Cx<'a>, sink: &mut dyn Sink<'a>) {
        let Some(chunk) = self.chunk.take() else { return };
        let agent = (!chunk.agent.is_empty()).then(|| Str::trusted(cx.arena.alloc_str(&chunk.agent)));
        if chunk.is_prompt {
            return self.end_prompt(chunk.what, Str::trusted(&chunk.id), agent, cx, sink);
        }
        if agent.is_some() {
            self.owners.remove(&(chunk.what, chunk.id.clone()));
        }
        let thread = self.thread(agent);
        let open = chunk.what.of(thread).remove(&chunk.id);
        let origin = thread.origin(None, Origin::default(), cx);
        if let Some(open) = open {
            self.told.says(chunk.what.seen(), Str::trusted(&chunk.id), open.said);
        }
        sink.event(&Event::new(origin, Kind::BlockStop(BlockStop { index: chunk.index })));
    }
}

/// Whether a chunk goes on with what is known, which it need not say.
fn same(known: &str, said: Option<Str<'_>>) -> bool {
    said.is_none_or(|said| said.as_escaped() == known)
}
