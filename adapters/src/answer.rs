//! What a turn says where nothing but its answer is written.

use crate::codec::Layout;
use crate::json::{Out, Str};
use crate::trace::Kept;

/// What the ledger says of a text that is not written.
const NO_ANSWER: &str = "no place in the target: the last text of a turn is its answer";
/// The same where one value is written for all turns.
pub(crate) const NOT_THE_LAST: &str = "no place in the target: the answer of the last turn is written";

/// The same of what no text can hold.
const HALVES: &str = "half of a surrogate pair cannot stand in a text";

/// A string goes over: in a text as what it says.
pub(crate) fn used_in(layout: Layout, text: Str<'_>, out: &Out) {
    match is_halved(layout, text, out) {
        true => out.renamed(text.as_escaped(), HALVES),
        false => out.used(text.as_escaped()),
    }
}

/// What was held of a string goes over with it.
pub(crate) fn release_in(layout: Layout, kept: &mut Kept, text: Str<'_>, out: &Out) {
    match is_halved(layout, text, out) {
        true => out.rename_held(kept, HALVES),
        false => out.release(kept),
    }
}

/// Whether what is written is a text that cannot hold all of it, and the ledger wants to know.
fn is_halved(layout: Layout, text: Str<'_>, out: &Out) -> bool {
    layout == Layout::Text && out.traced() && text.utf8_len().is_none()
}

/// The text that is the answer so far: whether it is written is known when the turn is over.
#[derive(Debug, Default)]
pub(crate) struct Answer {
    /// As the body of a JSON string.
    text: String,
    /// Where the source says it.
    kept: Kept,
    /// What is said next is another text: this one stands as long as there is none.
    over: bool,
    /// Each turn takes the place of the one before.
    only_last: bool,
    /// Where the source says the answer that was given last, if another may take its place.
    given: Kept,
}

impl Answer {
    /// Of turns of which only the last is written.
    pub(crate) fn of_last_turn(only_last: bool) -> Self {
        Self {
            only_last,
            ..Self::default()
        }
    }

    /// The model says more of it.
    pub(crate) fn say(&mut self, text: Str<'_>, out: &Out) {
        if self.over {
            self.take_back(out);
        }
        self.text.push_str(text.as_escaped());
        out.hold(&mut self.kept, text.as_escaped());
    }

    /// What is said next is another answer. Until then this one stands.
    pub(crate) const fn pause(&mut self) {
        self.over = true;
    }

    /// What was said so far is no answer.
    pub(crate) fn take_back(&mut self, out: &Out) {
        self.over = false;
        self.text.clear();
        out.drop_held(&mut self.kept, NO_ANSWER);
    }

    /// The answer so far, as the body of a JSON string.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// The turn is over, and its outcome says that `said` is the answer, where it does. Returns what was said before,
    /// which is the answer otherwise, as the body of a JSON string.
    pub(crate) fn end(&mut self, said: Option<Str<'_>>, out: &Out) -> String {
        out.drop_held(&mut self.given, NOT_THE_LAST);
        match said {
            // It may be worked out from earlier lines.
            Some(said) if self.only_last => out.hold(&mut self.given, said.as_escaped()),
            Some(said) => out.used(said.as_escaped()),
            None => {}
        }
        if said.is_none_or(|said| out.traced() && said.unescape().contains(&*Str::trusted(&self.text).unescape())) {
            self.goes_over(out);
        }
        let text = std::mem::take(&mut self.text);
        self.take_back(out);
        text
    }

    /// The turn is over: writes its answer as a text. Returns whether there is one.
    pub(crate) fn print(&mut self, said: Option<Str<'_>>, out: &mut Out) -> bool {
        said.into_iter().for_each(|said| used_in(Layout::Text, said, out));
        let so_far = Str::trusted(&self.text);
        if said.is_none_or(|said| out.traced() && said.unescape().contains(&*so_far.unescape())) {
            release_in(Layout::Text, &mut self.kept, so_far, out);
        }
        let held = self.end(said, out);
        let answer = said.unwrap_or(Str::trusted(&held));
        out.lit(&answer.unescape());
        !answer.is_empty()
    }

    /// The turn is over, and nothing is written of it.
    pub(crate) fn lose(&mut self, note: &'static str, out: &Out) {
        out.drop_held(&mut self.kept, note);
        self.take_back(out);
    }

    /// Where the source says the answer that was given last.
    pub(crate) fn given(&mut self) -> Kept {
        std::mem::take(&mut self.given)
    }

    fn goes_over(&mut self, out: &Out) {
        if self.only_last {
            self.given.append(std::mem::take(&mut self.kept));
        } else {
            out.release(&mut self.kept);
        }
    }
}
