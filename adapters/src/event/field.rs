use crate::json::{Out, Raw, Str};

/// The members of a line that the model has no place for, in the order in which they stand.
pub type Fields<'a> = &'a [Field<'a>];

/// One member that only its own dialect understands.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Field<'a> {
    /// In which object of the line it stands.
    pub at: At<'a>,
    /// Its name, as on the wire.
    pub key: Str<'a>,
    /// Its value. Only its structure has been checked: write it with [`crate::json::Out::unchecked`].
    pub value: Raw<'a>,
    /// Whether the dialect's page names it. An unknown field is kept, passes through within its dialect, and is told to
    /// the ledger of every other.
    pub known: bool,
}

impl Field<'_> {
    /// Writes it as a member of an object.
    pub(crate) fn write(&self, out: &mut Out) {
        out.str(self.key);
        out.lit(":");
        out.unchecked(self.value);
    }

    /// The same behind a comma.
    pub(crate) fn write_next(&self, out: &mut Out) {
        out.lit(",");
        self.write(out);
    }
}

/// The object of a line that a field stands in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum At<'a> {
    /// The line itself.
    Line,
    /// An object inside, named by its JSON pointer in the dialect's canonical line (`/message`, `/event/delta`, `/request`).
    Part(&'a str),
    /// The n-th content block (or annotation, or tool call) of the line.
    Block(u32),
}
