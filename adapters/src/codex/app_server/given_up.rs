//! Items of replies that were given up: the same may come again, or something else in its place.

use super::encode::Encoder;
use crate::event::Event;
use crate::json::{Out, Str};
use crate::trace::Kept;

/// What has come since the reply was given up whose item is open.
#[derive(Debug, Default)]
pub(super) struct GivenUp {
    /// A piece that goes on with the item, or begins another one: the whole text tells, or that more pieces come.
    held: Option<String>,
    kept: Kept,
}

impl Encoder {
    /// The reply was given up. Its item stays open, for it may be fetched again.
    pub(super) fn give_up(&mut self, event: &Event<'_>, out: &mut Out) {
        if self.turn.given_up.as_ref().is_some_and(|given_up| given_up.held.is_some()) {
            self.begin_anew(event, out);
        }
        if self.turn.said.is_some() {
            self.turn.given_up.get_or_insert_default();
        }
    }

    /// Whether a piece waits until it is known which item it is of.
    pub(super) fn holds(&mut self, event: &Event<'_>, piece: Str<'_>, out: &mut Out) -> bool {
        match &mut self.turn.given_up {
            None => false,
            Some(given_up) if given_up.held.is_none() => {
                out.hold(&mut given_up.kept, piece.as_escaped());
                out.carried();
                given_up.held = Some(piece.as_escaped().to_owned());
                true
            }
            Some(_) => {
                // What is fetched again comes whole.
                self.begin_anew(event, out);
                false
            }
        }
    }

    /// The whole text comes, which goes on with the item that was given up if it begins with what that says.
    pub(super) fn decide(&mut self, event: &Event<'_>, whole: Str<'_>, out: &mut Out) {
        let Some(given_up) = &self.turn.given_up else { return };
        let all = format!("{}{}", self.turn.pieces, given_up.held.as_deref().unwrap_or_default());
        if whole.same_text(Str::trusted(&all)) {
            let given_up = self.turn.given_up.take().unwrap_or_default();
            self.tell_held(event, given_up, out);
        } else {
            self.begin_anew(event, out);
        }
    }

    /// Nothing goes on with the item that was given up: it ends with what its pieces said.
    pub(super) fn end_given_up(&mut self, event: &Event<'_>, out: &mut Out) {
        if self.turn.given_up.as_ref().is_some_and(|given_up| given_up.held.is_some()) {
            self.begin_anew(event, out);
        } else if self.turn.given_up.take().is_none() {
            return;
        }
        if let Some((item, thinks)) = self.turn.said.take() {
            let pieces = std::mem::take(&mut self.turn.pieces);
            self.text(event, (true, thinks), &self.said_id(item), Str::trusted(&pieces), out);
        }
    }

    /// The item that was given up ends, and what has come since begins another one.
    fn begin_anew(&mut self, event: &Event<'_>, out: &mut Out) {
        let thinks = self.turn.said.is_some_and(|(_, thinks)| thinks);
        let since = std::mem::take(self.turn.given_up.get_or_insert_default());
        self.end_given_up(event, out);
        self.block(event, thinks, out);
        self.tell_held(event, since, out);
    }

    fn tell_held(&mut self, event: &Event<'_>, given_up: GivenUp, out: &mut Out) {
        let GivenUp { held: Some(held), mut kept } = given_up else { return };
        let thinks = self.turn.said.is_some_and(|(_, thinks)| thinks);
        out.tells(&held, &kept);
        self.piece(event, thinks, Str::trusted(&held), out);
        out.told(&mut kept, &held);
    }
}
