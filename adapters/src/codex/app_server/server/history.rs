//! What was said in a thread before, as the list of its turns.

use crate::codec::Dialect;
use crate::event::{Block, Event, Kind, Origin, Outcome, OutcomeKind, Place, Session};
use crate::ids;
use crate::json::{Raw, Str};
use crate::live::Speaker;
use crate::server::inside::{Tools, speaker};

use super::thread::format;

/// Reads it.
#[derive(Debug)]
pub(super) struct History {
    speaker: Speaker,
    lines: Vec<u8>,
    turns: Vec<Turn>,
    items: String,
    /// The id of the prompt that the turn began with, which is the turn's, and how many prompts have joined it.
    turn: Option<String>,
    joined: u64,
    /// Why the turn has no reply, as a string is spelled, if the file says so.
    failure: Option<String>,
    /// The last message of each turn, by the turn's id.
    ends: Vec<(String, String)>,
}

/// Where a copy of a thread ends.
#[derive(Debug)]
pub(super) enum Cut {
    /// With this turn.
    Behind(String),
    /// With the one before this.
    Before(String),
    /// With the one before the last so many.
    Last(usize),
}

/// A turn that has ended. Values are as they are spelled.
#[derive(Debug)]
struct Turn {
    id: String,
    items: String,
    status: String,
    error: String,
    started: String,
    completed: String,
    took: String,
}

impl History {
    pub(super) fn new(inside: Dialect) -> Self {
        Self {
            speaker: speaker(inside, format(), Tools::Native),
            lines: Vec::new(),
            turns: Vec::new(),
            items: String::new(),
            turn: None,
            joined: 0,
            failure: None,
            ends: Vec::new(),
        }
    }

    pub(super) fn event(&mut self, event: &Event<'_>) {
        if matches!(event.kind, Kind::Prompt(_)) && event.origin.parent.is_none() {
            let id = event.origin.id.map(|id| id.as_escaped().to_owned());
            let joins = |turn: &String| id.as_ref() == Some(&joining_id(turn, self.joined + 1));
            if self.turn.as_ref().is_some_and(joins) {
                self.joined += 1;
            } else {
                (self.turn, self.joined) = (id, 0);
            }
        }
        self.hear_failure(event);
        self.mark(event);
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
                let failure = self.failure.take();
                let outcome = Outcome {
                    kind: failure.as_ref().map_or(OutcomeKind::Cancelled, |_| OutcomeKind::Failed(Place::Model)),
                    error: failure.as_deref().map(Str::trusted),
                    ..*outcome
                };
                let kind = Kind::Outcome(&outcome);
                self.speaker.event(&Event { kind, ..*event }, &mut self.lines);
            }
            _ => self.speaker.event(event, &mut self.lines),
        }
        self.read();
    }

    /// What stands for a reply that did not come says why the turn has failed, unless the model is asked again.
    fn hear_failure(&mut self, event: &Event<'_>) {
        match event.kind {
            Kind::Prompt(_) => self.failure = None,
            Kind::Reply(reply) if event.origin.parent.is_none() => {
                let said = reply.blocks.iter().find_map(|block| match block {
                    Block::Text { text, .. } => Some(text.as_escaped().to_owned()),
                    _ => None,
                });
                self.failure = said.filter(|_| reply.error.is_some());
            }
            _ => {}
        }
    }

    fn mark(&mut self, event: &Event<'_>) {
        let (Some(turn), Some(id), None) = (&self.turn, event.origin.id, event.origin.parent) else {
            return;
        };
        match self.ends.last_mut().filter(|(known, _)| known == turn) {
            Some((_, last)) => id.as_escaped().clone_into(last),
            None => self.ends.push((turn.clone(), id.as_escaped().to_owned())),
        }
    }

    /// Forgets what was said behind a point. The last message before it; nothing if there is none. `None` if there is no such turn.
    pub(super) fn cut(&mut self, cut: &Cut) -> Option<Option<String>> {
        self.speaker.finish(&mut self.lines);
        self.read();
        let place = |turn: &String| self.ends.iter().position(|(known, _)| known == turn);
        let at = match cut {
            Cut::Behind(turn) => place(turn)? + 1,
            Cut::Before(turn) => place(turn)?,
            Cut::Last(turns) => self.ends.len().saturating_sub(*turns),
        };
        self.ends.truncate(at);
        let kept = |told: &Turn| self.ends.iter().any(|(known, _)| *known == told.id);
        self.turns.retain(kept);
        Some(self.ends.last().map(|(_, last)| last.clone()))
    }

    /// The turns, as one list.
    pub(super) fn turns(mut self) -> String {
        self.speaker.finish(&mut self.lines);
        self.read();
        let turns: Vec<String> = self.turns.iter().map(Turn::object).collect();
        format!("[{}]", turns.join(","))
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
        let text = |name: &str| turn.get(name).and_then(Raw::string).map_or("", Str::as_escaped).to_owned();
        let raw = |name: &str| turn.get(name).map_or("null", Raw::as_str).to_owned();
        let turn = Turn {
            id: text("id"),
            items: std::mem::take(&mut self.items),
            status: text("status"),
            error: raw("error"),
            started: raw("startedAt"),
            completed: raw("completedAt"),
            took: raw("durationMs"),
        };
        match self.turns.last_mut().filter(|_| self.joined > 0) {
            Some(before) => before.goes_on(turn),
            None => self.turns.push(turn),
        }
    }
}

/// The id of the `n`th prompt that joins a turn: in the session's file it tells that it began none.
pub(super) fn joining_id(turn: &str, n: u64) -> String {
    ids::uuid(&format!("{turn} more"), n)
}

impl Turn {
    /// What joined it has ended: the turn was not over before.
    fn goes_on(&mut self, more: Self) {
        let both = self.took.parse::<u64>().ok().zip(more.took.parse().ok());
        *self = Self {
            id: std::mem::take(&mut self.id),
            items: [self.items.as_str(), more.items.as_str()]
                .into_iter()
                .filter(|items| !items.is_empty())
                .collect::<Vec<_>>()
                .join(","),
            started: std::mem::take(&mut self.started),
            took: both.map_or_else(|| "null".to_owned(), |(before, took): (u64, u64)| (before + took).to_string()),
            ..more
        };
    }

    fn object(&self) -> String {
        let Self {
            id,
            items,
            status,
            error,
            started,
            completed,
            took,
        } = self;
        format!(
            "{{\"id\":\"{id}\",\"items\":[{items}],\"itemsView\":\"full\",\"status\":\"{status}\",\"error\":{error},\"startedAt\":{started},\"completedAt\":{completed},\"durationMs\":{took}}}"
        )
    }
}

#[cfg(test)]
mod tests {
    use bumpalo::Bump;

    use super::*;
    use crate::codec::{Cx, Decode, Decoder};
    use crate::event::{Input, Sink};

    impl<'a> Sink<'a> for History {
        fn event(&mut self, event: &Event<'a>) {
            Self::event(self, event);
        }

        fn input(&mut self, _: &Input<'a>) {}
    }

    /// A file says of no prompt that it began no turn: its id does.
    #[test]
    fn what_joined_a_turn_stands_in_it() {
        let turn = ids::uuid("t", 1);
        let other = ids::uuid("t", 2);
        let mut history = History::new(Dialect::Claude);
        let mut decoder = Decoder::new(Dialect::CANONICAL);
        for (id, text) in [
            (turn.clone(), "one"),
            (joining_id(&turn, 1), "more"),
            (joining_id(&turn, 2), "most"),
            (other.clone(), "two"),
        ] {
            for line in [
                format!(r#"{{"event":"prompt","session":"s","id":"{id}","time":"2026-11-24T10:00:00.000Z","content":"{text}","source":"host"}}"#),
                r#"{"event":"reply","session":"s","time":"2026-11-24T10:00:01.000Z","blocks":[{"type":"text","text":"Done."}]}"#.to_owned(),
                r#"{"event":"outcome","session":"s","time":"2026-11-24T10:00:01.000Z","outcome":"success"}"#.to_owned(),
            ] {
                let arena = Bump::new();
                let line: &str = arena.alloc_str(&line);
                decoder.line(line, &Cx::new(&arena), &mut history).unwrap();
            }
        }
        let turns = history.turns();
        let turns: Vec<Raw<'_>> = Raw::trusted(&turns).elements().collect();
        let ids: Vec<&str> = turns
            .iter()
            .map(|turn| turn.get("id").and_then(Raw::string).unwrap().as_escaped())
            .collect();
        assert_eq!(ids, [turn.as_str(), other.as_str()]);
        assert_eq!(turns[0].get("items").unwrap().elements().count(), 6, "{:?}", turns[0]);
        assert_eq!(turns[0].get("durationMs").map(Raw::as_str), Some("3000"), "{:?}", turns[0]);
    }
}
