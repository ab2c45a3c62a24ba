//! What the encoder of a store keeps.

use std::cell::Cell;

use crate::event::{Origin, Session, Time, iso};
use crate::ids::Uuids;
use crate::json::{Out, Str};
use crate::seen::Seen;
use crate::trace::Kept;
use crate::unique::Unique;

/// So many ids are remembered.
const MOST: usize = 1 << 16;

/// The session that is written, as far as it is. All texts are the bodies of JSON strings.
#[derive(Debug, Default)]
pub(crate) struct Writing {
    session: String,
    ids: Uuids,
    cwd: Fact,
    model: Fact,
    /// The line that the next one hangs from.
    tip: Option<String>,
    /// The source's ids of the session's lines: of several lines that come of one, and of one that the source says again, only the first has its id.
    /// Lines hang from each other by their ids: one that came twice would make a circle of them.
    seen: Seen<MOST>,
    /// When the last line was written.
    time: String,
    /// The calls of the file: models are sent all of it, and their servers refuse ids that come twice.
    pub(crate) unique: Unique,
}

impl Writing {
    /// Of a session that begins at this byte of its log.
    pub(crate) fn new(at: u64) -> Self {
        Self {
            ids: Uuids::new("", at + 1),
            ..Self::default()
        }
    }

    /// An event of this origin comes: of another session, perhaps.
    pub(crate) fn come_to(&mut self, origin: &Origin<'_>) {
        if let Some(id) = origin.session.filter(|id| id.as_escaped() != self.session) {
            id.as_escaped().clone_into(&mut self.session);
            self.ids = self.ids.of(&self.session);
            self.seen = Seen::default();
        }
    }

    /// Whether an event of this session is of another one.
    pub(crate) fn would_come_to(&self, session: Option<Str<'_>>) -> bool {
        session.is_some_and(|id| id.as_escaped() != self.session)
    }

    /// Keeps what the source says of the session, for the lines that say it.
    pub(crate) fn facts(&mut self, session: &Session<'_>, out: &Out) {
        self.cwd.hear(session.cwd, out);
        self.model.hear(session.model, out);
    }

    /// No line follows: what none has said has no place.
    pub(crate) fn end(&mut self, out: &Out) {
        self.cwd.end(out);
        self.model.end(out);
    }

    /// A made-up id.
    pub(crate) fn fresh_id(&mut self) -> String {
        self.ids.next_ascii().into_iter().map(char::from).collect()
    }

    /// The id of the line that is about to be written: that of the source's, for one line, else a made-up one.
    pub(crate) fn line_id(&mut self, id: Option<Str<'_>>, at: &'static str, out: &Out) -> String {
        match id.filter(|id| !id.is_empty() && self.seen.add(*id)) {
            Some(id) => kept(id, out),
            None => {
                out.invented(at, "each line needs an id of its own");
                self.fresh_id()
            }
        }
    }

    /// Writes the id of the line that this one hangs from: of `parent`, or of the last one; `null` for the first.
    pub(crate) fn parent(&self, parent: Option<&str>, at: &'static str, out: &mut Out) {
        match parent.or(self.tip.as_deref()) {
            Some(parent) => {
                out.lit("\"");
                out.lit(parent);
                out.lit("\"");
                out.invented(at, "the line before it in the conversation");
            }
            None => out.lit("null"),
        }
    }

    /// The line of this id is the last one now.
    pub(crate) fn hang(&mut self, id: String) {
        self.tip = Some(id);
    }

    /// The id of the session.
    pub(crate) fn session(&mut self, at: &'static str, out: &Out) -> &str {
        if self.session.is_empty() {
            self.session = self.ids.name_session();
            out.invented(at, "the source names no session");
        }
        &self.session
    }

    /// The working folder.
    pub(crate) fn cwd(&self, at: &'static str, out: &Out) -> &str {
        self.cwd.say().unwrap_or_else(|| {
            out.invented(at, "the source does not name the working folder, and the program looks for it");
            "/"
        })
    }

    /// The session's model, if the source has named it.
    pub(crate) fn known_model(&self) -> Option<&str> {
        self.model.say()
    }

    /// The model of a reply that names this one.
    pub(crate) fn model<'m>(&'m self, said: Option<&'m str>, at: &'static str, out: &Out) -> &'m str {
        if let Some(model) = said {
            return model;
        }
        match self.model.say() {
            Some(model) => {
                out.invented(at, "the session's model");
                model
            }
            None => {
                out.invented(at, "the source does not name the model");
                "unknown"
            }
        }
    }

    /// When a line is written; `known` is what [`known_time`] says. Without a time no program goes on with a session: where the source
    /// has none, it is that of the line before.
    pub(crate) fn time(&mut self, known: Option<String>, at: &'static str, out: &Out) -> &str {
        match known {
            Some(time) => self.time = time,
            None if self.time.is_empty() => {
                "1970-01-01T00:00:00.000Z".clone_into(&mut self.time);
                out.invented(at, "the source does not say when it was");
            }
            None => out.invented(at, "that of the line before"),
        }
        &self.time
    }
}

/// What the source says of the session, until a line says it: the body of a JSON string.
#[derive(Debug, Default)]
pub(crate) struct Fact {
    text: Option<String>,
    /// Where the source says it.
    kept: Kept,
    said: Cell<bool>,
}

impl Fact {
    /// The source says it, or not.
    pub(crate) fn hear(&mut self, text: Option<Str<'_>>, out: &Out) {
        let Some(text) = text else { return };
        if self.text.as_deref() != Some(text.as_escaped()) {
            self.end(out);
            self.text = Some(text.as_escaped().to_owned());
            self.said.set(false);
        }
        out.hold(&mut self.kept, text.as_escaped());
    }

    /// A line says it.
    pub(crate) fn say(&self) -> Option<&str> {
        let text = self.text.as_deref()?;
        self.said.set(true);
        Some(text)
    }

    /// No line follows that may say it.
    pub(crate) fn end(&mut self, out: &Out) {
        match self.said.get() {
            true => out.release(&mut self.kept),
            false => out.drop_held(&mut self.kept, "no line that says it follows"),
        }
    }
}

/// A text of the source that is kept to be written later.
pub(crate) fn kept(text: Str<'_>, out: &Out) -> String {
    out.used(text.as_escaped());
    text.as_escaped().to_owned()
}

/// When it was, if that is known.
pub(crate) fn known_time(time: Option<Time<'_>>, out: &Out) -> Option<String> {
    let time = time?;
    let millis = time.millis()?;
    out.used(time.source());
    Some(match time {
        Time::Iso(text) => text.as_escaped().to_owned(),
        _ => String::from_utf8_lossy(&iso(millis)).into_owned(),
    })
}

/// Tells the ledger of the version that lines name.
pub(crate) fn version<'v>(version: &'v str, at: &'static str, out: &Out) -> &'v str {
    out.invented(at, "the version whose files are written");
    version
}
