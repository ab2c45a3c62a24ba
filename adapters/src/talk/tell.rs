//! What was said, to events.

use std::collections::HashMap;

use crate::chat::{FieldList, Members};
use crate::codec::Cx;
use crate::event::{
    At, Block, Content, Event, Fate, Fields, Kind, Notice, Origin, Prompt, PromptSource, Reply, ResultStatus, Session, Sink, Stop, ToolResult, Topic,
};
use crate::ids::uuid;
use crate::json::{Raw, Str};
use crate::store::Turn;

const NO_ID: &str = "it names no session: an id is made of its text";

/// Tells what one session's list says.
pub(crate) struct Teller<'t, 'a> {
    pub(crate) cx: Cx<'a>,
    sink: &'t mut dyn Sink<'a>,
    knows: fn(&str) -> bool,
    session: Str<'a>,
    turn: Turn,
    /// The list as it was read.
    text: &'a str,
    /// How many ids of calls were made up, and what stands in them all so that they are no other's.
    made: u64,
    apart: Option<String>,
    open: Open<'a>,
    /// Nothing but the user's words has been said in the turn.
    prompted: bool,
}

impl<'t, 'a> Teller<'t, 'a> {
    /// Begins with a list that stands in `text`. Each is a session of its own: `lists` counts them.
    pub(crate) fn new(text: &'a str, id: Option<Str<'a>>, lists: &mut u64, knows: fn(&str) -> bool, cx: &Cx<'a>, sink: &'t mut dyn Sink<'a>) -> Self {
        *lists += 1;
        sink.program(None, Some(Raw::trusted(cx.arena.alloc_str(&lists.to_string()))));
        let session = id.unwrap_or_else(|| {
            if let Some(trace) = cx.trace {
                trace.note(Fate::Invented, "", NO_ID);
            }
            Str::trusted(cx.arena.alloc_str(&uuid(text, 0)))
        });
        Self {
            cx: *cx,
            sink,
            knows,
            session,
            turn: Turn::default(),
            text,
            made: 0,
            apart: None,
            open: Open::default(),
            prompted: false,
        }
    }

    /// What is known of the session, before anything that was said in it.
    pub(crate) fn session(&mut self, model: Option<Str<'a>>, rest: Members<'a>) {
        let facts = Session {
            model,
            opens_turn: true,
            ..Session::default()
        };
        self.tell(Kind::Session(self.cx.keep(facts)), rest);
    }

    /// What the system says to the model; `data` are its parts where it is not one text.
    pub(crate) fn system(&mut self, name: Str<'a>, content: Content<'a>, data: Option<Raw<'a>>, rest: Members<'a>) {
        let (message, data) = match content {
            Content::Text(text) => (Some(text), None),
            Content::Blocks(_) => (None, data),
        };
        let notice = Notice {
            name,
            topic: Topic::Other,
            message,
            data,
        };
        self.tell(Kind::Notice(self.cx.keep(notice)), rest);
    }

    /// What the user says; the turn before ends, if it has said anything else.
    pub(crate) fn prompt(&mut self, content: Content<'a>, rest: Members<'a>) {
        if !std::mem::replace(&mut self.prompted, true) {
            self.end_turn();
        }
        self.turn.goes_on();
        self.open = Open::default();
        let source = PromptSource::Host;
        self.tell(Kind::Prompt(self.cx.keep(Prompt { content, source })), rest);
    }

    /// What the program says in the user's place while the turn goes on.
    pub(crate) fn said_by_program(&mut self, content: Content<'a>, rest: Members<'a>) {
        let source = PromptSource::Agent;
        self.tell(Kind::Prompt(self.cx.keep(Prompt { content, source })), rest);
    }

    /// What the model says.
    pub(crate) fn reply(&mut self, blocks: &'a [Block<'a>], stop: Option<Stop<'a>>, rest: Members<'a>) {
        let reply = self.cx.keep(Reply {
            blocks,
            stop,
            last: true,
            ..Reply::default()
        });
        self.prompted = false;
        self.turn.reply(reply);
        for block in blocks {
            if let Block::Call(call) = block {
                self.open.push(call.id);
            }
        }
        self.tell(Kind::Reply(reply), rest);
    }

    /// What came of a call: of the one that is named, else of the first that nothing has come of.
    pub(crate) fn result(&mut self, call: Option<Str<'a>>, content: Content<'a>, rest: Members<'a>) {
        let open = self.open.take(call);
        let call = call.or(open).unwrap_or_else(|| self.id());
        let result = ToolResult::new(call, ResultStatus::Success, content);
        self.prompted = false;
        self.turn.goes_on();
        self.tell(Kind::ToolResult(self.cx.keep(result)), rest);
    }

    /// What is known of nothing.
    pub(crate) fn unknown(&mut self, raw: Raw<'a>) {
        let rest = Members::new(&self.cx);
        self.tell(Kind::Unknown(raw), rest);
    }

    /// How many calls nothing has come of yet.
    pub(crate) const fn waiting(&self) -> usize {
        self.open.waiting
    }

    /// An id for a call that has none, which is no other's of the list.
    pub(crate) fn id(&mut self) -> Str<'a> {
        self.made += 1;
        if let Some(trace) = self.cx.trace {
            trace.note(Fate::Invented, "", "the id of a call");
        }
        let text = self.text;
        let apart = self.apart.get_or_insert_with(|| match text.contains("call_") {
            true => format!("{:.8}_", uuid(text, 1)),
            false => String::new(),
        });
        Str::trusted(self.cx.arena.alloc_str(&format!("call_{apart}{}", self.made)))
    }

    /// The list is over.
    pub(crate) fn end(mut self) {
        self.end_turn();
    }

    fn end_turn(&mut self) {
        self.turn.end(self.session.as_escaped(), &self.cx, self.sink);
    }

    /// Members of a part, as fields.
    pub(crate) fn fields(&self, rest: Members<'a>) -> Fields<'a> {
        let mut fields = FieldList::new_in(self.cx.arena);
        rest.pour(At::Line, self.knows, &mut fields);
        fields.into_bump_slice()
    }

    fn tell(&mut self, kind: Kind<'a>, rest: Members<'a>) {
        let origin = Origin {
            session: Some(self.session),
            ..Origin::default()
        };
        let fields = self.fields(rest);
        self.sink.event(&Event { origin, kind, fields });
    }
}

/// The calls of a turn that nothing has come of yet, in their order.
#[derive(Default)]
struct Open<'a> {
    calls: Vec<Option<Str<'a>>>,
    /// Where each stands.
    places: HashMap<&'a str, usize>,
    /// Before it none waits.
    first: usize,
    waiting: usize,
}

impl<'a> Open<'a> {
    fn push(&mut self, call: Str<'a>) {
        self.places.insert(call.as_escaped(), self.calls.len());
        self.calls.push(Some(call));
        self.waiting += 1;
    }

    /// Takes the one that is named, else the first.
    fn take(&mut self, named: Option<Str<'a>>) -> Option<Str<'a>> {
        while self.calls.get(self.first).is_some_and(Option::is_none) {
            self.first += 1;
        }
        let at = match named {
            Some(call) => *self.places.get(call.as_escaped())?,
            None => self.first,
        };
        let call = self.calls.get_mut(at)?.take();
        self.waiting -= usize::from(call.is_some());
        call
    }
}
