//! Plain use: a person or a script that reads text on standard output, and is told beside it, on standard error, what the text does not say.

use super::Session;
use crate::adapters::raw::event::{Block, Event, Kind, Notice, Outcome, Piece, Topic};

/// What a reader of text is told besides.
#[derive(Debug, Default)]
pub(super) struct Plain {
    /// What the agent has said in the reply that is not over.
    said: String,
    /// It came in pieces: the snapshot says it again.
    in_pieces: bool,
    /// Calls that were denied because nobody could be asked.
    denied: usize,
    /// Lines for standard error.
    words: Vec<String>,
}

impl Plain {
    /// The agent said something.
    pub(super) fn hear(&mut self, event: &Event<'_>) {
        if event.origin.parent.is_some() {
            return;
        }
        match event.kind {
            Kind::RoundStart(_) => {
                self.said.clear();
                self.in_pieces = false;
            }
            Kind::Delta(delta) => {
                if let Piece::Text(text) = delta.piece {
                    self.in_pieces = true;
                    self.said.push_str(&text.unescape());
                }
            }
            Kind::Reply(reply) if !self.in_pieces => {
                for block in reply.blocks {
                    if let Block::Text { text, .. } = block {
                        if !self.said.is_empty() {
                            self.said.push('\n');
                        }
                        self.said.push_str(&text.unescape());
                    }
                }
            }
            Kind::Notice(notice) if notice.topic == Topic::Retry => self.words.push(retry(event, notice)),
            _ => {}
        }
    }

    /// A turn ends.
    pub(super) fn ended(&mut self, outcome: &Outcome<'_>) {
        let denied = outcome
            .denials
            .map_or(0, |list| list.elements().count())
            .max(std::mem::take(&mut self.denied));
        if denied > 0 {
            let calls = if denied == 1 {
                "1 tool call was".to_owned()
            } else {
                format!("{denied} tool calls were")
            };
            self.words.push(format!(
                "{calls} denied; --on-ask (or AGENTGLOT_ON_ASK) says what may run, see `agentglot run --help`"
            ));
        }
    }

    /// A call was denied, for nobody could be asked.
    pub(super) const fn denied(&mut self) {
        self.denied += 1;
    }
}

impl Session {
    /// Takes what a reader of text is to be told on standard error.
    pub fn take_words(&mut self) -> Vec<String> {
        self.plain.as_mut().map(|plain| std::mem::take(&mut plain.words)).unwrap_or_default()
    }

    /// A reader of text gets what was said by now of a reply that was broken off, if he has not got it already.
    pub fn say_unfinished(&mut self) {
        if self.conduct.writes_text_at_once() {
            return;
        }
        let Some(plain) = self.plain.as_mut().filter(|plain| !plain.said.is_empty()) else {
            return;
        };
        self.out.extend_from_slice(plain.said.as_bytes());
        if !plain.said.ends_with('\n') {
            self.out.push(b'\n');
        }
        plain.said.clear();
    }
}

/// A model call that failed and is tried again, in a sentence.
fn retry(event: &Event<'_>, notice: &Notice<'_>) -> String {
    // A program's own notice has members of its own; the model's client puts them in the data.
    let member = |name: &str| {
        let field = event.fields.iter().find(|field| field.key.is(name)).map(|field| field.value);
        field.or_else(|| notice.data?.get(name))
    };
    let number = |name: &str| member(name).map(|value| value.as_str());
    let why = notice.message.or_else(|| member("error")?.string());
    let mut text = why.map_or_else(|| "the model did not answer".to_owned(), |text| text.unescape().into_owned());
    text.push_str("; trying again");
    if let Some(ms) = number("retry_delay_ms").and_then(|ms| ms.parse::<f64>().ok()) {
        text.push_str(&format!(" in {:.1} s", ms / 1000.0));
    }
    if let (Some(attempt), Some(most)) = (number("attempt"), number("max_retries")) {
        text.push_str(&format!(" ({attempt} of {most})"));
    }
    text
}
