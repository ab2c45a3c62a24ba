//! How lines begin and end, and whose ids they carry.

use crate::event::Field;
use crate::ids::{self, Uuids};
use crate::json::{Out, Raw, Str};

/// Writes what all lines have in common.
#[derive(Debug)]
pub(super) struct Pen {
    /// One array instead of lines.
    array: bool,
    /// The array is open.
    begun: bool,
    /// The events come from this dialect: ids are what they are.
    own: bool,
    /// The session's id, as the body of a JSON string.
    session: String,
    /// The place of the main thread's lines in the session.
    main: Vec<u8>,
    ids: Uuids,
    /// How many ids were made up.
    made: u64,
    /// The id that the last line had from its source, and that of the last message. No two lines share one.
    last: String,
    message: String,
    /// That of the last line with a result.
    result: String,
}

impl Pen {
    pub(super) fn new(array: bool, own: bool, at: u64) -> Self {
        Self {
            array,
            begun: false,
            own,
            session: String::new(),
            main: Vec::new(),
            ids: Uuids::new("", at),
            made: at,
            last: String::new(),
            message: String::new(),
            result: String::new(),
        }
    }

    /// Whether one array is written instead of lines.
    pub(super) const fn is_array(&self) -> bool {
        self.array
    }

    /// An event says which session it belongs to.
    #[inline]
    pub(super) fn session(&mut self, id: Option<Str<'_>>) {
        if let Some(id) = id
            && id.as_escaped() != self.session
        {
            self.begin_session(id.as_escaped());
        }
    }

    #[cold]
    fn begin_session(&mut self, id: &str) {
        id.clone_into(&mut self.session);
        self.main.clear();
        for part in [",\"session_id\":\"", id, "\",\"parent_tool_use_id\":null"] {
            self.main.extend_from_slice(part.as_bytes());
        }
        self.ids = Uuids::new(id, self.made);
    }

    /// The session's id; made up if no event has said it.
    pub(super) fn session_id(&mut self, out: &Out) -> Str<'_> {
        if self.session.is_empty() && !self.own {
            let made = ids::uuid("", self.made);
            self.made += 1;
            out.invented("/session_id", "the source says none");
            self.begin_session(&made);
        }
        Str::trusted(&self.session)
    }

    /// A made-up id.
    pub(super) fn made_up(&mut self) -> [u8; 36] {
        self.made += 1;
        self.ids.next_ascii()
    }

    /// Begins a line of this type.
    #[inline(always)]
    pub(super) fn open(&mut self, kind: &str, out: &mut Out) {
        self.separate(out);
        out.lit("{\"type\":\"");
        out.lit(kind);
        out.lit("\"");
    }

    /// Ends a line.
    #[inline]
    pub(super) fn close(&self, out: &mut Out) {
        out.lit(if self.array { "}" } else { "}\n" });
    }

    /// Writes a whole line of the source.
    pub(super) fn line(&mut self, raw: Raw<'_>, out: &mut Out) {
        self.separate(out);
        out.raw(raw);
        if !self.array {
            out.lit("\n");
        }
    }

    /// Ends the array, if one was begun.
    pub(super) fn finish(&mut self, out: &mut Out) {
        if std::mem::take(&mut self.begun) {
            out.lit("]\n");
        }
    }

    /// `uuid`, `session_id` and `parent_tool_use_id`, behind a comma.
    pub(super) fn envelope(&mut self, id: Option<Str<'_>>, parent: Option<Str<'_>>, out: &mut Out) {
        out.lit(",\"uuid\":\"");
        self.id(id, out);
        out.lit("\"");
        self.place(parent, out);
    }

    /// `session_id` and `parent_tool_use_id`, behind a comma.
    pub(super) fn place(&mut self, parent: Option<Str<'_>>, out: &mut Out) {
        // The session's id is told by whoever hands the events over.
        let session = self.session_id(out);
        if parent.is_none() && !session.is_empty() {
            return out.bytes(&self.main);
        }
        out.lit(",\"session_id\":\"");
        out.lit(session.as_escaped());
        out.lit("\",\"parent_tool_use_id\":");
        out.str_or_null(parent);
    }

    /// The session, for those who remember what they wrote of it.
    pub(super) fn session_now(&self) -> &str {
        &self.session
    }

    /// Writes the id of the source's line; a made-up one if it has none, or if a line before was of the same foreign one.
    #[inline]
    pub(super) fn id(&mut self, id: Option<Str<'_>>, out: &mut Out) {
        match id {
            Some(id) if self.own || id.as_escaped() != self.last && id.as_escaped() != self.message => {
                self.last.clear();
                self.last.push_str(id.as_escaped());
                out.body(id);
            }
            _ => {
                out.invented("/uuid", "each line has an id of its own");
                let made = self.made_up();
                out.bytes(&made);
            }
        }
    }

    /// The id for a result: one line of the source may hold several, of which the first has its id.
    pub(super) fn id_of_result<'e>(&mut self, id: Option<Str<'e>>) -> Option<Str<'e>> {
        let said = id.map_or("", Str::as_escaped);
        let again = said == self.result;
        said.clone_into(&mut self.result);
        id.filter(|_| !again)
    }

    /// A message was written, whose line has its id.
    pub(super) fn has_id(&mut self, id: &str) {
        self.message.clear();
        self.message.push_str(id);
    }

    #[inline]
    fn separate(&mut self, out: &mut Out) {
        if self.array {
            out.lit(if std::mem::replace(&mut self.begun, true) { "," } else { "[" });
        }
    }
}

/// Writes a field behind a comma.
pub(super) fn member(field: &Field<'_>, out: &mut Out) {
    out.lit(",\"");
    out.lit(field.key.as_escaped());
    out.lit("\":");
    out.unchecked(field.value);
}
