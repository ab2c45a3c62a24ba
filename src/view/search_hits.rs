//! Where in a session words stand that were looked for.

use std::io::{self, Read};
use std::sync::Arc;

use axum::extract::{Path, Query, State};
use axum::response::Response;
use serde::{Deserialize, Serialize};

use super::pages::{broken, gone, json};
use super::search_index::words;
use super::server::AppState;
use crate::io::{Console, Input, Joined, Source, of_log};
use crate::show::{Page, Pick, Row, What, show, shown};

/// So many places of a session are told.
const MOST: usize = 3;
/// So much of a log is looked through.
const FAR: u64 = 64 << 20;
/// So many letters stand before and behind what was looked for.
const AROUND: usize = 90;

/// What is looked for.
#[derive(Debug, Deserialize)]
pub(super) struct Wanted {
    text: String,
}

/// A place.
#[derive(Debug, Serialize)]
struct Hit {
    /// The name of its turn on the page of the session.
    turn: String,
    kind: &'static str,
    text: String,
}

pub(super) async fn hits(State(app): State<Arc<AppState>>, Path((_, id)): Path<(String, usize)>, Query(Wanted { text }): Query<Wanted>) -> Response {
    let Some(log) = app.library.log(id) else { return gone() };
    let Ok(place) = Arc::clone(&app.reading).acquire_owned().await else {
        return broken();
    };
    let found = tokio::task::spawn_blocking(move || {
        let _place = place;
        look(&log.input, &text)
    });
    found.await.map_or_else(|_| broken(), |hits| json(&hits))
}

/// The first places where all words stand, else where some of them do.
fn look(input: &Input, text: &str) -> Vec<Hit> {
    let mut wanted = Vec::new();
    words(text, &mut |word| wanted.push(word.to_owned()));
    let mut seeker = Seeker {
        wanted,
        sessions: 0,
        all: Vec::new(),
        some: Vec::new(),
    };
    if seeker.wanted.is_empty() {
        return Vec::new();
    }
    let Ok(mut source) = Source::open(input, &Console::plain()) else {
        return Vec::new();
    };
    let Ok(from) = source.written_in(input, None) else {
        return Vec::new();
    };
    let subagents = of_log(input, from, source.head());
    let log = Joined::with(source.into_reader().take(FAR), from, "", subagents);
    // It ends with an error when there is enough.
    let _ = show(log, &Pick::default(), &mut seeker);
    seeker.all.append(&mut seeker.some);
    seeker.all.truncate(MOST);
    seeker.all
}

struct Seeker {
    wanted: Vec<String>,
    sessions: u64,
    all: Vec<Hit>,
    some: Vec<Hit>,
}

impl Seeker {
    fn look(&mut self, turn: u64, kind: &'static str, texts: &[&str]) {
        let lower: Vec<String> = texts.iter().map(|text| text.to_lowercase()).collect();
        let has = |word: &String| lower.iter().any(|text| text.contains(word));
        let many = self.wanted.iter().filter(|word| has(word)).count();
        let to = if many == self.wanted.len() { &mut self.all } else { &mut self.some };
        if many == 0 || to.len() >= MOST {
            return;
        }
        let around = texts.iter().zip(&lower).find_map(|(text, lower)| {
            let (at, word) = self.wanted.iter().find_map(|word| Some((lower.find(word)?, word)))?;
            // Where small letters are longer than large ones, places are not the same.
            let text = if text.len() == lower.len() && text.is_char_boundary(at) && text.is_char_boundary(at + word.len()) {
                text
            } else {
                lower.as_str()
            };
            Some(around(text, at, at + word.len()))
        });
        let turn = match (turn, self.sessions) {
            (0, _) => String::new(),
            (turn, ..=1) => format!("turn-{turn}"),
            (turn, session) => format!("session-{session}-turn-{turn}"),
        };
        to.extend(around.map(|text| Hit { turn, kind, text }));
    }
}

/// A stretch of a text with what stands around it, as one line.
fn around(text: &str, from: usize, to: usize) -> String {
    let begin = text[..from].char_indices().rev().nth(AROUND - 1).map_or(0, |(at, _)| at);
    let end = text[to..].char_indices().nth(AROUND).map_or(text.len(), |(at, _)| to + at);
    let line = shown(&text[begin..end]).split_whitespace().collect::<Vec<_>>().join(" ");
    let (before, behind) = (if begin > 0 { "…" } else { "" }, if end < text.len() { "…" } else { "" });
    format!("{before}{line}{behind}")
}

impl Page for Seeker {
    fn row(&mut self, row: &Row<'_>) -> io::Result<()> {
        match &row.what {
            What::Session(_) => self.sessions += 1,
            What::Prompt { text, .. } => self.look(row.turn, "prompt", &[text]),
            What::Answer { text, .. } => self.look(row.turn, "answer", &[text]),
            What::Thinking { text, .. } => self.look(row.turn, "thinking", &[text]),
            What::Call { call, deed, .. } => {
                let texts = [
                    &deed.object,
                    call.input.as_str(),
                    deed.diff.as_deref().unwrap_or_default(),
                    &deed.output,
                    &call.name,
                    &deed.verb,
                ];
                self.look(row.turn, "call", &texts);
            }
            What::Permission { name, message, .. } => self.look(row.turn, "permission", &[name, message.unwrap_or_default()]),
            What::Notice { name, text, .. } | What::Raw { name, text, .. } => self.look(row.turn, "notice", &[name, text]),
            What::Outcome(ended) => {
                let why = ended.outcome.and_then(|outcome| outcome.error.as_deref());
                self.look(row.turn, "outcome", &[why.unwrap_or_default()]);
            }
            What::Turn { .. } | What::Damage { .. } => {}
        }
        if self.all.len() >= MOST {
            return Err(io::ErrorKind::Interrupted.into());
        }
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_named_with_what_stands_around_them() {
        let log = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("golden/cursor/read_edit.jsonl");
        let hits = look(&Input::File(log.clone()), "GREETING loud");
        assert!(!hits.is_empty() && hits.len() <= MOST);
        assert!(hits.iter().all(|hit| hit.turn == "turn-1" && !hit.text.contains('\n')), "{hits:?}");
        assert!(look(&Input::File(log.clone()), "zebra").is_empty() && look(&Input::File(log), "  ").is_empty());
        assert_eq!(around("a\u{202e}b needle c", 6, 12), "a\\u{202e}b needle c");
        let long = "é".repeat(500);
        assert_eq!(around(&long, 400, 402).chars().count(), 2 * AROUND + 3);
    }
}
