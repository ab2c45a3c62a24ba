//! What a server says to the program of a session.

use crate::codec::{Dialect, Format};
use crate::conduct::quoted;
use crate::event::{At, Block, Content, ControlKind, Field, Input, InputKind, Media, Origin, Prompt, PromptSource, Request, Response};
use crate::json::{Raw, Str};
use crate::live::{Manner, Speaker};
use crate::server::{Action, Actions};

/// The program of a session, as its server sees it.
#[derive(Debug)]
pub(crate) struct Inside {
    session: String,
    dialect: Dialect,
    words: Speaker,
    requests: u64,
}

impl Inside {
    pub(crate) fn new(session: &str, dialect: Dialect) -> Self {
        Self {
            session: session.to_owned(),
            dialect,
            words: speaker(Dialect::CANONICAL, dialect.into(), Tools::AsTheyAre),
            requests: 0,
        }
    }

    /// Whose words are said there.
    pub(crate) const fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// A prompt.
    pub(crate) fn prompt(&mut self, parts: &[Part], actions: &mut Actions) {
        self.prompt_as(None, parts, false, actions);
    }

    /// The same under an id, by which it is kept. `verbatim`: nothing in it is a command.
    pub(crate) fn prompt_as(&mut self, id: Option<&str>, parts: &[Part], verbatim: bool, actions: &mut Actions) {
        let mut line = Part::with(parts, |content| {
            let prompt = Prompt {
                content,
                source: PromptSource::Host,
            };
            self.written(InputKind::Prompt(&prompt), &[])
        });
        // Members that only this program knows: no other dialect's prompt has them.
        let id = id.map(|id| format!("\"uuid\":{},", quoted(id)));
        let members = [id.as_deref(), verbatim.then_some("\"client_composed\":true,")];
        let members: String = members.into_iter().flatten().collect();
        if line.first() == Some(&b'{') {
            line.splice(1..1, members.into_bytes());
        }
        self.tell(line, actions);
    }

    /// A request, with one member that is a text. Returns its id.
    pub(crate) fn request(&mut self, subtype: &str, kind: ControlKind, member: Option<(&str, &str)>, actions: &mut Actions) -> String {
        self.requests += 1;
        let id = format!("editor-{}", self.requests);
        let value = member.map(|(_, value)| quoted(value)).unwrap_or_default();
        let field = member.map(|(name, _)| Field {
            key: Str::trusted(name),
            value: Raw::trusted(&value),
            at: At::Line,
            known: true,
        });
        let request = Request {
            id: Some(Str::trusted(&id)),
            subtype: Str::trusted(subtype),
            kind,
            permission: None,
        };
        self.say(InputKind::Request(&request), field.as_slice(), actions);
        id
    }

    /// The answer to a request of the program's.
    pub(crate) fn answer(&mut self, response: &Response<'_>, actions: &mut Actions) {
        self.say(InputKind::Response(response), &[], actions);
    }

    fn say(&mut self, kind: InputKind<'_>, fields: &[Field<'_>], actions: &mut Actions) {
        let line = self.written(kind, fields);
        self.tell(line, actions);
    }

    fn written(&mut self, kind: InputKind<'_>, fields: &[Field<'_>]) -> Vec<u8> {
        let input = Input {
            origin: Origin::default(),
            kind,
            fields,
        };
        let mut line = Vec::new();
        self.words.input(&input, &mut line);
        line
    }

    fn tell(&self, line: Vec<u8>, actions: &mut Actions) {
        actions.todo.push(Action::Tell(self.session.clone(), line));
    }
}

/// A part of a prompt: a text as the body of a JSON string, or an image as one value in the canonical form.
#[derive(Debug)]
pub(crate) enum Part {
    Text(String),
    Image(String),
}

impl Part {
    /// Hands parts on as the content of a prompt.
    pub(crate) fn with<R>(parts: &[Self], tell: impl FnOnce(Content<'_>) -> R) -> R {
        match parts {
            // A command is a text of its own.
            [Self::Text(text)] => tell(Content::Text(Str::trusted(text))),
            parts => tell(Content::Blocks(&parts.iter().map(Self::block).collect::<Vec<_>>())),
        }
    }

    fn block(&self) -> Block<'_> {
        match self {
            Self::Text(text) => Block::Text {
                text: Str::trusted(text),
                fields: &[],
            },
            Self::Image(raw) => Block::Media(Media {
                kind: Str::trusted("image"),
                raw: Raw::trusted(raw),
            }),
        }
    }
}

/// What the names of tools are to be for the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tools {
    AsTheyAre,
    /// The host's own.
    Native,
}

/// What one side says, written for the other: whoever hears it says its own part itself.
pub(crate) fn speaker(from: Dialect, to: Format, tools: Tools) -> Speaker {
    Speaker::new(Manner {
        native_tools: tools == Tools::Native,
        partial: true,
        agent: from != Dialect::CANONICAL,
        ..Manner::new(from, to)
    })
}
