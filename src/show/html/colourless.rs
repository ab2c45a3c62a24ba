//! Code without colours: the program was built without them.

use super::markup::text;

/// Knows no languages.
#[derive(Debug, Default)]
pub(super) struct Colours(());

/// A text in a language.
#[derive(Clone, Debug)]
pub(super) struct Painter;

impl Colours {
    /// Puts code on the page.
    pub(super) fn put(&mut self, page: &mut String, _: &str, code: &str) {
        text(page, code);
    }

    /// The beginning of code in a language that is put there line by line.
    pub(super) fn begin(&mut self, _: &str, _: usize) -> Painter {
        Painter
    }
}

impl Painter {
    /// Puts a line on the page.
    pub(super) fn line(&mut self, page: &mut String, line: &str, _: &mut Colours) {
        text(page, line);
    }
}
