//! Events to lines: who writes what.

use bumpalo::Bump;

use super::output::tells_end;
use super::write::Turn;
use crate::codec::{Dialect, Encode, Style, TellsEnd, Want};
use crate::event::{Counted, Event, Input, InputKind, Kind, ToolResult, Topic, Usage};
use crate::json::{Out, Str};
use crate::store::Writing;

/// Writes a rollout file that Codex goes on with. Lines that were read here go back as they were.
#[derive(Debug)]
pub struct Encoder {
    pub(super) style: Style,
    own: bool,
    pub(super) kept: Writing,
    /// The thread whose first line is written, as the body of a JSON string.
    pub(super) begun: Option<String>,
    pub(super) turn: Turn,
    /// The usage of all turns so far.
    pub(super) total: Option<Usage<'static>>,
}

impl Encoder {
    /// At the beginning of a session.
    pub(crate) fn new(style: Style) -> Self {
        Self {
            own: style.is_own(Dialect::Codex),
            style,
            kept: Writing::new(style.at),
            begun: None,
            turn: Turn::default(),
            total: None,
        }
    }
}

impl Encode for Encoder {
    fn asks_rounds(&self) -> bool {
        true
    }

    fn counts_usage(&self) -> Counted {
        Counted::NO_TOTAL
    }

    fn tells_end(&self, result: &ToolResult<'_>) -> TellsEnd {
        tells_end(result, "/payload/output")
    }

    fn want(&self) -> Want {
        Want::SNAPSHOTS
    }

    fn takes_fields(&self) -> bool {
        self.own
    }

    fn passes_over(&self, topic: Topic, session: Option<Str<'_>>) -> bool {
        !self.own && matches!(topic, Topic::Thinking | Topic::Status) && !self.kept.would_come_to(session)
    }

    fn finish(&mut self, out: &mut Out) {
        self.kept.end(out);
    }

    fn event(&mut self, event: &Event<'_>, out: &mut Out) {
        if self.own {
            let line = event.fields.iter().find(|field| field.key.is(super::LINE));
            match (line, event.kind) {
                (Some(line), _) => out.unchecked(line.value),
                (None, Kind::Unknown(line)) => out.unchecked(line),
                (None, Kind::Noise(text)) => {
                    out.used(text);
                    out.lit(text);
                }
                // What one line says in several events is written with one of them; what was worked out is no line's.
                _ => return,
            }
            return out.lit("\n");
        }
        self.kept.come_to(&event.origin);
        let arena = Bump::new();
        let renamed = self.kept.unique.event(event, "/payload/call_id", &arena, out);
        self.foreign(renamed.as_ref().unwrap_or(event), out);
    }

    fn input(&mut self, input: &Input<'_>, out: &mut Out) {
        if self.own {
            return;
        }
        if let InputKind::Prompt(prompt) = input.kind {
            self.kept.come_to(&input.origin);
            self.asked(&input.origin, prompt, out);
        }
    }
}
