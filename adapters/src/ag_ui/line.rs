//! An event, opened.

use super::fields::knows;
use super::{AGAIN, OURS};
use crate::chat::{FieldList, Members};
use crate::codec::Cx;
use crate::event::{At, Event, Fields, Kind, Notice, Origin, Sink, Time, Topic};
use crate::json::{Error, Raw, Shape, Str};

/// An event, of which the members are taken out that have been understood.
pub(super) struct Line<'a> {
    pub(super) text: &'a str,
    pub(super) cx: Cx<'a>,
    pub(super) members: Members<'a>,
    pub(super) origin: Origin<'a>,
    /// The subagent that it names.
    pub(super) agent: Option<Str<'a>>,
    /// Its type.
    pub(super) word: Str<'a>,
    /// Nobody looks at the fields of what is said within a turn.
    pub(super) bare: bool,
}

impl<'a> Line<'a> {
    /// Takes out what every event may have; `None` if it has no type.
    pub(super) fn open(text: &'a str, mut members: Members<'a>, cx: &Cx<'a>) -> Option<Self> {
        let word = members.get("type").and_then(Raw::string)?;
        let time = members.shaped("timestamp", Shape::Number, cx);
        let agent = members.text("subagentRunId", cx);
        Some(Self {
            text,
            cx: *cx,
            members,
            origin: Origin {
                time: time.map(Time::Millis),
                ..Origin::default()
            },
            agent,
            word,
            bare: false,
        })
    }

    pub(super) fn missing(&self, member: &'static str) -> Error {
        Error::missing(self.text.len(), member)
    }

    /// A string that has to be there; it stays among the members.
    pub(super) fn need(&self, member: &'static str) -> Result<Str<'a>, Error> {
        self.find(member).ok_or_else(|| self.missing(member))
    }

    /// A string.
    pub(super) fn find(&self, member: &str) -> Option<Str<'a>> {
        self.members.get(member).and_then(Raw::string)
    }

    /// Takes out a string that only says again what is known.
    pub(super) fn again(&mut self, member: &str) {
        let cx = self.cx;
        self.members.word(member, &cx);
    }

    /// Takes out a string.
    pub(super) fn text(&mut self, member: &str) -> Option<Str<'a>> {
        let cx = self.cx;
        self.members.text(member, &cx)
    }

    /// A role that goes without saying is only structure.
    pub(super) fn usual_role(&self, role: &str) {
        if let Some(role) = self.find("role").filter(|said| said.is(role)) {
            self.cx.took(role.as_escaped());
        }
    }

    /// What we have written of it that the protocol has no place for; it stays.
    pub(super) fn ours(&self) -> Option<Raw<'a>> {
        self.members.get("metadata")?.get(OURS).filter(|ours| ours.shape() == Some(Shape::Object))
    }

    /// Whether it is of a call that was told in an earlier run.
    pub(super) fn is_again(&self) -> bool {
        self.ours().and_then(|ours| ours.get(AGAIN)?.bool()) == Some(true)
    }

    /// What is left of it.
    pub(super) fn rest(&mut self) -> Fields<'a> {
        let members = std::mem::replace(&mut self.members, Members::new(&self.cx));
        if self.bare || members.is_empty() {
            return &[];
        }
        let mut fields = FieldList::new_in(self.cx.arena);
        members.pour(At::Line, knows, &mut fields);
        fields.into_bump_slice()
    }

    /// Tells what the line says, and what is left of it. That it is said in a line of this type goes without saying.
    pub(super) fn tell(&mut self, kind: Kind<'a>, sink: &mut dyn Sink<'a>) {
        self.again("type");
        self.tell_of_type(kind, sink);
    }

    /// The same where the type has to be said.
    pub(super) fn tell_of_type(&mut self, kind: Kind<'a>, sink: &mut dyn Sink<'a>) {
        self.cx.took(self.word.as_escaped());
        let fields = self.rest();
        sink.event(&Event {
            origin: self.origin,
            kind,
            fields,
        });
    }

    /// Tells something that is no part of the conversation.
    pub(super) fn notice(&mut self, topic: Topic, message: Option<Str<'a>>, sink: &mut dyn Sink<'a>) {
        let notice = self.cx.keep(Notice {
            name: self.word,
            topic,
            message,
            data: None,
        });
        self.bare = false;
        self.tell(Kind::Notice(notice), sink);
    }

    /// The same of something that another event tells too.
    pub(super) fn structure(&mut self, note: &'static str, sink: &mut dyn Sink<'a>) {
        if let Some(trace) = self.cx.trace {
            trace.merged(note);
        }
        self.notice(Topic::Status, None, sink);
    }
}
