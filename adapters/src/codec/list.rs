use std::ops::Range;

/// A list in a line whose elements might as well stand on lines of their own, each with all that stands around the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct List {
    /// Where in the line it stands, with its brackets.
    pub at: Range<usize>,
    /// The JSON pointer to it.
    pub pointer: &'static str,
}

/// Which part of a line is told.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Part {
    /// The JSON pointer to the list of which the line holds a part here.
    pub(crate) list: &'static str,
    /// The place in the list of the first element that it holds.
    pub(crate) first: usize,
}

impl Part {
    /// Where in the line something stands that stands there in its part. Nothing for what stands around the list, and was told with the
    /// first part.
    pub(crate) fn placed(self, pointer: String) -> Option<String> {
        let element = pointer.strip_prefix(self.list).and_then(|rest| rest.strip_prefix('/'));
        let Some(element) = element.filter(|_| self.first > 0) else {
            return (self.first == 0).then_some(pointer);
        };
        let (index, rest) = element.split_at(element.find('/').unwrap_or(element.len()));
        let index: usize = index.parse().ok()?;
        Some(format!("{}/{}{rest}", self.list, self.first + index))
    }
}
