//! What was said in a thread before, as the list of its turns.

use crate::codec::Dialect;
use crate::event::{Event, Kind, Origin, Outcome, OutcomeKind, Session};
use crate::front::inside::{Tools, speaker};
use crate::json::{Raw, Str};
use crate::live::Speaker;

use super::thread::format;

/// Reads it.
#[derive(Debug)]
pub(super) struct History {
    speaker: Speaker,
    lines: Vec<u8>,
    turns: Vec<String>,
    items: String,
    /// The id of the prompt that was read last, which is the turn's.
    turn: Option<String>,
}

impl History {
    pub(super) fn new(inside: Dialect) -> Self {
        Self {
            speaker: speaker(inside, format(), Tools::Native),
            lines: Vec::new(),
            turns: Vec::new(),
            items: String::new(),
            turn: None,
        }
    }

    pub(super) fn event(&mut self, event: &Event<'_>) {
        if matches!(event.kind, Kind::Prompt(_)) && event.origin.parent.is_none() {
            self.turn = event.origin.id.map(|id| id.as_escaped().to_owned());
        }
        let turn = self.turn.clone();
        let event = &Event {
            origin: Origin {
                turn: turn.as_deref().map(Str::trusted),
                ..event.origin
            },
            ..*event
        };
        match event.kind {
            Kind::Session(session) => {
                // A turn begins with its prompt.
                let session = Session {
                    opens_turn: false,
                    ..*session
                };
                let kind = Kind::Session(&session);
                self.speaker.event(&Event { kind, ..*event }, &mut self.lines);
            }
            Kind::Request(_) | Kind::Response(_) | Kind::Withdraw(_) => return,
            // A file says of no turn that it was stopped: it is one that has no end.
            Kind::Outcome(outcome) if outcome.is_error && outcome.synthetic => {
                let outcome = Outcome {
                    kind: OutcomeKind::Cancelled,
                    error: None,
                    ..*outcome
                };
                let kind = Kind::Outcome(&outcome);
                self.speaker.event(&Event { kind, ..*event }, &mut self.lines);
            }
            _ => self.speaker.event(event, &mut self.lines),
        }
        self.read();
    }

    /// The turns, as one list.
    pub(super) fn turns(mut self) -> String {
        self.speaker.finish(&mut self.lines);
        self.read();
        format!("[{}]", self.turns.join(","))
    }

    /// Of the notifications, items that are whole and the ends of turns count.
    fn read(&mut self) {
        let lines = std::mem::take(&mut self.lines);
        for line in lines.split(|byte| *byte == b'\n') {
            let Ok(line) = std::str::from_utf8(line) else { continue };
            let message = Raw::trusted(line);
            let Some((method, params)) = message.get("method").and_then(Raw::string).zip(message.get("params")) else {
                continue;
            };
            match (method.as_escaped(), params.get("item"), params.get("turn")) {
                ("item/completed", Some(item), _) => {
                    if !self.items.is_empty() {
                        self.items.push(',');
                    }
                    self.items.push_str(item.as_str());
                }
                ("turn/completed", _, Some(turn)) => self.turn(turn),
                _ => {}
            }
        }
    }

    fn turn(&mut self, turn: Raw<'_>) {
        let text = |name: &str| turn.get(name).and_then(Raw::string).map_or("", Str::as_escaped);
        let raw = |name: &str| turn.get(name).map_or("null", Raw::as_str);
        self.turns.push(format!(
            "{{\"id\":\"{}\",\"items\":[{}],\"itemsView\":\"full\",\"status\":\"{}\",\"error\":{},\"startedAt\":{},\"completedAt\":{},\"durationMs\":{}}}",
            text("id"),
            std::mem::take(&mut self.items),
            text("status"),
            raw("error"),
            raw("startedAt"),
            raw("completedAt"),
            raw("durationMs"),
        ));
    }
}
