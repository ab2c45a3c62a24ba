//! Lines of the agent's that cannot be read, and questions that no host can be asked: whoever has asked waits, so each is refused.

use std::time::Instant;

use super::Session;
use super::control::fail;
use crate::adapters::raw::event::{At, Event, Fields, Input, InputKind, Kind, Origin, Outcome, OutcomeKind, Place, Request};
use crate::adapters::raw::json::{Raw, Shape, Str, sound_part};
use crate::backend::Backend;

/// Why a question is refused that is none.
const UNREADABLE: &str = "this request cannot be read";

impl Session {
    /// A line of the agent's that cannot be read. It may have been a question, or the end of the turn: nobody says either once more.
    pub(super) fn unreadable(&mut self, bytes: &[u8], why: &str, now: Instant, backend: &mut dyn Backend) {
        let text = String::from_utf8_lossy(bytes);
        let part = sound_part(&text);
        let line = Raw::trusted(part.as_deref().unwrap_or_else(|| text.trim_ascii()));
        if line.check().is_err() || line.shape() != Some(Shape::Object) {
            return;
        }
        backend.refuse(line, &format!("{UNREADABLE}: {why}"));
        if self.turn.is_some() && backend.format().dialect.conduct().ends_turn(line) {
            let kind = OutcomeKind::Failed(Place::Backend);
            self.end_turns(
                kind,
                &format!("the line by which the agent ends its turn cannot be read: {why}"),
                false,
                now,
            );
            // It is over for the agent too, which waits for the next prompt.
            self.ended_by_agent = true;
            backend.heard(&Event::new(Origin::default(), Kind::Outcome(&Outcome::new(kind))));
        }
    }

    /// The agent asks what only hosts ask.
    pub(super) fn turned_round(input: &Input<'_>, backend: &mut dyn Backend) {
        let InputKind::Request(request) = input.kind else { return };
        match request.id {
            Some(id) => {
                let why = format!("the host does not answer `{}`", request.subtype.unescape());
                fail(id.as_escaped(), &why, backend);
            }
            None => Self::nameless(request, input.fields, backend),
        }
    }

    /// A question under an id that is no text: what a host answers could not be told from the answer to another one.
    pub(super) fn nameless(request: &Request<'_>, fields: Fields<'_>, backend: &mut dyn Backend) {
        let members: Vec<String> = fields
            .iter()
            .filter(|field| field.at == At::Line)
            .map(|field| format!("\"{}\":{}", field.key.as_escaped(), field.value.as_str()))
            .collect();
        let subtype: Str<'_> = request.subtype;
        let why = format!("{UNREADABLE}: the id of `{}` is no text", subtype.unescape());
        backend.refuse(Raw::trusted(&format!("{{{}}}", members.join(","))), &why);
    }
}
