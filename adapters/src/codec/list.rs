use std::ops::Range;

/// A list in a line whose elements might as well stand on lines of their own, each with all that stands around the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct List {
    /// Where in the line it stands, with its brackets.
    pub at: Range<usize>,
    /// The JSON pointer to it.
    pub pointer: &'static str,
}
