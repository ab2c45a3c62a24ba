//! A line: a message, and who says it.

use crate::chat::Members;
use crate::codec::Cx;
use crate::event::{At, Field, Fields, Side, Time};
use crate::json::{Error, Raw, Shape, Str};

/// A message.
#[derive(Clone, Copy, Debug)]
pub(super) struct Message<'a> {
    pub(super) cx: Cx<'a>,
    /// The whole line.
    pub(super) line: Raw<'a>,
    /// Who says it, if the recording tells.
    pub(super) side: Side,
    pub(super) method: Option<Str<'a>>,
    pub(super) id: Option<Raw<'a>>,
    /// None where they are no object.
    pub(super) params: &'a Members<'a>,
    pub(super) result: Option<Raw<'a>>,
    /// The members of the result; none where it is no object.
    pub(super) answer: &'a Members<'a>,
    pub(super) error: Option<Raw<'a>>,
    /// The line is no other protocol's: it is about a thread, a turn or an item, or nothing but a recorded message.
    pub(super) is_own: bool,
    /// When the program said it.
    pub(super) time: Option<Time<'a>>,
}

/// How methods begin that no other protocol without a version has.
const ABOUT: [&str; 3] = ["thread/", "turn/", "item/"];

impl<'a> Message<'a> {
    /// The message of a line, if it is one.
    pub(super) fn read(line: Raw<'a>, members: &Members<'a>, cx: Cx<'a>) -> Option<Self> {
        let recorded = members.get("dir").and_then(Raw::string).zip(members.get("msg"));
        let (side, inside) = match recorded {
            Some((dir, message)) if message.shape() == Some(Shape::Object) => {
                let side = match dir.as_escaped() {
                    "c2s" => Side::Host,
                    "s2c" => Side::Agent,
                    _ => Side::Unknown,
                };
                if side != Side::Unknown {
                    cx.took(dir.as_escaped());
                }
                (side, members.opened(message, &cx))
            }
            _ => (Side::Unknown, None),
        };
        let of = inside.unwrap_or(members);
        let get = |name: &str| of.get(name);
        let method = get("method").and_then(Raw::string);
        let (result, error) = (get("result"), get("error").filter(|error| error.shape() == Some(Shape::Object)));
        if method.is_none() && result.is_none() && error.is_none() {
            return None;
        }
        if let Some(method) = method {
            cx.took(method.as_escaped());
        }
        let is_about = method.is_some_and(|method| ABOUT.iter().any(|word| method.as_escaped().starts_with(word)));
        let has = |name: &str| usize::from(members.get(name).is_some());
        let is_own = of.get("jsonrpc").is_none()
            && match inside {
                Some(_) => is_about || members.len() == 2 + has("ms"),
                None => is_about && has("dir") + has("msg") < 2,
            };
        let opened = |value: Option<Raw<'a>>| {
            let members = value.and_then(|value| of.opened(value, &cx));
            members.unwrap_or_else(|| cx.arena.alloc(Members::new(&cx)))
        };
        Some(Self {
            cx,
            line,
            side,
            method,
            id: get("id").filter(|id| !id.is_null()),
            params: opened(get("params")),
            result,
            answer: opened(result),
            error,
            is_own,
            time: get("emittedAtMs").filter(|time| time.i64().is_some()).map(Time::Millis),
        })
    }

    /// The line, as the field of an event.
    pub(super) fn fields(&self) -> Fields<'a> {
        self.cx.list(&[Field {
            at: At::Line,
            key: Str::trusted(super::LINE),
            value: self.line,
            known: true,
        }])
    }

    /// Its id as text.
    pub(super) fn id_text(&self) -> Option<Str<'a>> {
        self.id.map(|id| id.string().unwrap_or(Str::trusted(id.as_str())))
    }

    /// The member of its parameters at the end of a path.
    pub(super) fn find(&self, path: &[&str]) -> Option<Raw<'a>> {
        let (first, rest) = path.split_first()?;
        self.params.get(first)?.find(rest)
    }

    /// A text among its parameters.
    pub(super) fn text(&self, name: &str) -> Option<Str<'a>> {
        self.params.get(name).and_then(Raw::string)
    }

    /// The same, which has to be there.
    pub(super) fn need(&self, name: &'static str) -> Result<Str<'a>, Error> {
        self.text(name).ok_or_else(|| self.missing(name))
    }

    pub(super) fn missing(&self, name: &'static str) -> Error {
        Error::missing(self.line.as_str().len(), name)
    }
}
