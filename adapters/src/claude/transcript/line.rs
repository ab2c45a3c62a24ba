//! What all lines have in common.

use crate::blocks::{FieldList, Reader, plain, plain_key};
use crate::event::{Agent, At, Origin, Time};
use crate::json::{Cursor, Error, Raw, Str};

/// A line, walked over once. Its message is read when it is known what it is.
pub(super) struct Line<'c, 'a> {
    pub(super) reader: Reader<'c, 'a>,
    /// `type`, without escapes.
    pub(super) kind: &'a str,
    pub(super) subtype: Option<Str<'a>>,
    pub(super) id: Option<Str<'a>>,
    /// `parentUuid`; an empty text where it is null.
    pub(super) parent: Option<Str<'a>>,
    pub(super) session: Option<Str<'a>>,
    pub(super) time: Option<Time<'a>>,
    agent: Option<Str<'a>>,
    pub(super) cwd: Option<Str<'a>>,
    pub(super) version: Option<Str<'a>>,
    pub(super) mode: Option<Str<'a>>,
    /// The message, not read yet.
    pub(super) message: Option<Cursor<'a>>,
    /// `toolUseResult` and its key.
    pub(super) detail: Option<(Str<'a>, Raw<'a>)>,
    pub(super) attachment: Option<Raw<'a>>,
    /// A text for people.
    pub(super) content: Option<Str<'a>>,
    pub(super) error: Option<Raw<'a>>,
    pub(super) is_sidechain: bool,
    pub(super) is_error: bool,
    /// The program's own words in the user's role.
    pub(super) is_meta: bool,
    /// The call did not run.
    pub(super) denied: bool,
    /// The turn ends with this result: the model is not asked again.
    pub(super) ends_turn: bool,
    /// A task that ran in the background tells how it stands: nobody has asked something.
    pub(super) is_news: bool,
    pub(super) fields: FieldList<'a>,
    /// Where the line ends.
    pub(super) end: usize,
}

impl<'c, 'a> Line<'c, 'a> {
    /// Walks over the line.
    pub(super) fn read(text: &'a str, reader: Reader<'c, 'a>) -> Result<Self, Error> {
        let mut line = Self {
            reader,
            kind: "",
            subtype: None,
            id: None,
            parent: None,
            session: None,
            time: None,
            agent: None,
            cwd: None,
            version: None,
            mode: None,
            message: None,
            detail: None,
            attachment: None,
            content: None,
            error: None,
            is_sidechain: false,
            is_error: false,
            is_meta: false,
            denied: false,
            ends_turn: false,
            is_news: false,
            fields: reader.fields(),
            end: 0,
        };
        let mut at = Cursor::new(text);
        let mut object = at.object()?;
        while let Some(key) = object.key(&mut at)? {
            let name = plain_key(reader.cx, key.as_escaped()).unwrap_or(key.as_escaped());
            line.member(name, key, &mut at)?;
        }
        line.end = at.position();
        Ok(line)
    }

    fn member(&mut self, name: &str, key: Str<'a>, at: &mut Cursor<'a>) -> Result<(), Error> {
        match name {
            "type" if self.kind.is_empty() && at.peek() == Some(b'"') => {
                let word = at.string()?;
                self.reader.cx.took(word.as_escaped());
                self.kind = plain(self.reader.cx, word);
            }
            "uuid" if self.id.is_none() => self.id = self.text(key, at)?,
            "sessionId" if self.session.is_none() => self.session = self.text(key, at)?,
            "timestamp" if self.time.is_none() => self.time = self.text(key, at)?.map(Time::Iso),
            "agentId" if self.agent.is_none() => self.agent = self.text(key, at)?,
            "subtype" if self.subtype.is_none() => self.subtype = self.text(key, at)?,
            "message" if self.message.is_none() && at.peek() == Some(b'{') => {
                self.message = Some(*at);
                at.skip()?;
            }
            "toolUseResult" if self.detail.is_none() => self.detail = Some((key, at.skip()?)),
            _ => self.field(name, key, at)?,
        }
        Ok(())
    }

    /// A member that rides in the fields, whatever it tells besides.
    fn field(&mut self, name: &str, key: Str<'a>, at: &mut Cursor<'a>) -> Result<(), Error> {
        let value = at.skip()?;
        let truth = || value.bool() == Some(true);
        match name {
            "parentUuid" => self.parent = Some(value.string().unwrap_or_default()),
            "isSidechain" => {
                self.is_sidechain |= truth();
                self.reader.cx.took(value.as_str());
            }
            "isApiErrorMessage" => self.is_error |= truth(),
            "isMeta" | "isCompactSummary" | "isVisibleInTranscriptOnly" => self.is_meta |= truth(),
            "cwd" => self.cwd = self.cwd.or(value.string()),
            "version" => self.version = self.version.or(value.string()),
            "permissionMode" => self.mode = self.mode.or(value.string()),
            "content" => self.content = self.content.or(value.string()),
            "attachment" => self.attachment = self.attachment.or(Some(value)),
            "error" => self.error = self.error.or(Some(value)),
            "toolEndsTurn" => self.ends_turn |= truth(),
            "origin" => {
                let kind = value.get("kind").and_then(Raw::string);
                self.is_news |= kind.is_some_and(|kind| kind.is(super::decode::NEWS));
            }
            "toolDenialKind" => self.denied |= !value.is_null(),
            "permissionDecision" => {
                let decision = value.get("decision").and_then(Raw::string);
                self.denied |= decision.is_some_and(|word| word.is("reject"));
            }
            _ => {}
        }
        self.fields.push(self.reader.field(At::Line, key, value.unread()));
        Ok(())
    }

    fn text(&mut self, key: Str<'a>, at: &mut Cursor<'a>) -> Result<Option<Str<'a>>, Error> {
        self.reader.text(at, At::Line, key, &mut self.fields)
    }

    /// Takes a field out whose meaning is said otherwise.
    pub(super) fn take(&mut self, name: &str) -> Option<Raw<'a>> {
        let at = self.fields.iter().position(|field| field.at == At::Line && field.key.is(name))?;
        Some(self.fields.remove(at).value)
    }

    /// Where it belongs, but for the session.
    pub(super) fn origin(&self) -> Origin<'a> {
        let agent = self.agent.map(|id| Agent {
            id: Some(id),
            ..Agent::default()
        });
        Origin {
            session: None,
            id: self.id,
            parent: None,
            agent: agent.map(|agent| self.reader.cx.keep(agent)),
            turn: None,
            time: self.time,
        }
    }
}
