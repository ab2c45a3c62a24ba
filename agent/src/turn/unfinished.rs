//! Replies that are no answer yet: what was tried, and what is left of one that broke off.

use crate::conversation::Conversation;
use crate::model::message::Message;
use crate::model::{Gather, ModelError, ModelErrorKind};
use crate::persona::host::{HostPersona, Told, Unfinished};
use crate::turn::context::Context;
use agentglot_adapters::raw::event::Piece;

/// What was tried already.
#[derive(Debug, Default)]
pub(super) struct Tries {
    pub(super) shortened: bool,
    pub(super) unstructured: u64,
    pub(super) misshapen: u64,
    /// Replies in a row in which there was nothing.
    pub(super) empty: u64,
    /// Replies in a row of which nothing is left.
    pub(super) lost: u64,
    /// Replies that were refused.
    pub(super) refused: u64,
    /// Replies in a row that did not end well.
    pub(super) unfinished: u64,
    /// All rounds that go on with one: they count for no limit.
    pub(super) gone_on: u64,
}

impl Tries {
    /// The model goes on with a reply that holds this text. Returns what of it is the beginning of the answer: replies that are one answer count as
    /// one, others count for no limit.
    pub(super) fn go_on(&mut self, context: &Context, rounds: &mut u64, text: String) -> String {
        if context.host.persona.facts().joins_replies {
            *rounds -= 1;
            return text;
        }
        self.gone_on += 1;
        String::new()
    }

    pub(super) const fn shortened(&mut self) -> bool {
        !std::mem::replace(&mut self.shortened, true)
    }
}

/// Whether a subagent's words and thoughts stay with it: those of one in the background are told.
pub(super) fn hides_words(context: &Context, conversation: &Conversation, forwards: bool) -> bool {
    let background = conversation.stop.is_some() && context.host.persona.facts().tells_background;
    conversation.subagent.is_some() && context.host.persona.facts().hides_subagents && !forwards && !background
}

/// Whether a reply whose connection broke is gone on with: there is text to go on with, and no call.
pub(super) fn breaks_off(context: &Context, error: &ModelError, message: &Message) -> bool {
    (error.kind == ModelErrorKind::Incomplete || (context.host.persona.facts().keeps_whole_blocks && error.may_pass()))
        && context.host.persona.goes_on(Unfinished::Broken).is_some()
        && message.calls().next().is_none()
        && !message.text().trim().is_empty()
}

/// Whether a reply that broke off is asked for again: the host was told of its beginning, and there is no call in it.
pub(super) fn is_lost(context: &Context, error: &ModelError, gather: &Gather) -> bool {
    error.may_pass() && context.host.persona.facts().asks_again > 0 && gather.id().is_some() && gather.calls().is_empty()
}

/// How much a reply has thought.
#[derive(Debug, Default)]
pub(super) struct Thought {
    /// So many UTF-16 units.
    units: u64,
    told: u64,
}

impl Thought {
    /// What a host is told of one more piece: four units are about a token.
    pub(super) fn told(&mut self, piece: Piece<'_>, persona: &dyn HostPersona) -> Option<Told> {
        let Piece::Thinking(text) = piece else { return None };
        self.units += text.unescape().encode_utf16().count() as u64;
        let so_far = self.units / 4;
        let more = so_far - std::mem::replace(&mut self.told, so_far);
        if more > 0 { persona.thought(so_far, more) } else { None }
    }
}
