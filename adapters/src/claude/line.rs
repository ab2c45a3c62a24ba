//! What all lines have in common.

use crate::blocks::{FieldList, Reader, plain_key};
use crate::event::{Agent, At, Origin, Time};
use crate::json::{Cursor, Error, Str};

/// The members that most lines have, and those that have no place in the model.
pub(super) struct Head<'c, 'a> {
    pub(super) reader: Reader<'c, 'a>,
    pub(super) session: Option<Str<'a>>,
    pub(super) id: Option<Str<'a>>,
    pub(super) parent: Option<Str<'a>>,
    pub(super) time: Option<Time<'a>>,
    pub(super) fields: FieldList<'a>,
    agent: Agent<'a>,
    /// Whether `agent_id`, `subagent_type` and `task_description` say who speaks. In system lines they say who is spoken of.
    speaks: bool,
    typed: bool,
}

impl<'c, 'a> Head<'c, 'a> {
    pub(super) fn new(reader: Reader<'c, 'a>, speaks: bool) -> Self {
        Self {
            reader,
            session: None,
            id: None,
            parent: None,
            time: None,
            fields: reader.fields(),
            agent: Agent::default(),
            speaks,
            typed: false,
        }
    }

    /// Where the line belongs.
    pub(super) fn origin(&self) -> Origin<'a> {
        let agent = if self.agent == Agent::default() {
            None
        } else {
            Some(self.reader.cx.keep(self.agent))
        };
        Origin {
            session: self.session,
            id: self.id,
            parent: self.parent,
            agent,
            turn: None,
            time: self.time,
        }
    }

    /// Reads a string, or keeps what is none as a field that is not known.
    pub(super) fn text(&mut self, key: Str<'a>, at: &mut Cursor<'a>) -> Result<Option<Str<'a>>, Error> {
        self.reader.text(at, At::Line, key, &mut self.fields)
    }

    /// Takes a member that most lines have.
    fn common(&mut self, name: &str, key: Str<'a>, at: &mut Cursor<'a>) -> Result<bool, Error> {
        match name {
            "session_id" if self.session.is_none() => self.session = self.text(key, at)?,
            "uuid" if self.id.is_none() => self.id = self.text(key, at)?,
            "parent_tool_use_id" if self.parent.is_none() => self.parent = self.text(key, at)?,
            "timestamp" if self.time.is_none() => self.time = self.text(key, at)?.map(Time::Iso),
            "agent_id" if self.speaks && self.agent.id.is_none() => self.agent.id = self.text(key, at)?,
            "subagent_type" if self.speaks && self.agent.name.is_none() => self.agent.name = self.text(key, at)?,
            "task_description" if self.speaks && self.agent.task.is_none() => self.agent.task = self.text(key, at)?,
            "type" if !self.typed => {
                self.typed = true;
                let value = at.skip()?;
                self.reader.cx.took(value.as_str());
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Walks over a line, once and in any key order. `member` takes what this type of line has of its own; of the rest the
    /// members that most lines have are taken, and all others become fields. Returns where the line ends.
    #[inline]
    pub(super) fn walk(
        &mut self,
        text: &'a str,
        mut member: impl FnMut(&mut Self, &str, Str<'a>, &mut Cursor<'a>) -> Result<bool, Error>,
    ) -> Result<usize, Error> {
        let mut at = Cursor::new(text);
        let mut object = at.object()?;
        while let Some(key) = object.key(&mut at)? {
            let mut name = key.as_escaped();
            while !member(self, name, key, &mut at)? && !self.common(name, key, &mut at)? {
                match plain_key(self.reader.cx, name) {
                    Some(plain) => name = plain,
                    None => {
                        let value = at.skip()?.unread();
                        self.fields.push(self.reader.field(At::Line, key, value));
                        break;
                    }
                }
            }
        }
        Ok(at.position())
    }
}
