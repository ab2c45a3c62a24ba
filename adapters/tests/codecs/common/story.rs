//! Stories: sessions made up by chance, told in every dialect by `write`, so that what a conversion must say is known
//! without reading any log.

use super::json::{Json, quoted};
use super::read::{Item, merged};
use super::{Chance, read};

/// A session.
#[derive(Clone, Debug)]
pub struct Story {
    pub session: String,
    pub turns: Vec<Turn>,
}

/// One prompt up to its outcome. Every round but the last calls tools.
#[derive(Clone, Debug)]
pub struct Turn {
    pub prompt: String,
    pub rounds: Vec<Round>,
    pub ok: bool,
}

/// One model call.
#[derive(Clone, Debug)]
pub struct Round {
    pub id: String,
    pub thought: Option<String>,
    pub text: Option<String>,
    pub calls: Vec<Call>,
}

/// A tool call and its result.
#[derive(Clone, Debug)]
pub struct Call {
    pub id: String,
    pub name: String,
    /// The arguments, as JSON text.
    pub input: String,
    pub ok: bool,
    pub result: String,
}

/// What a dialect has room for in a log that `write` makes.
#[derive(Clone, Copy, Debug)]
pub struct Room {
    pub thoughts: bool,
    /// Text beside tool calls.
    pub text_with_calls: bool,
    pub call_ids: bool,
    /// The plain text of tool results.
    pub results: bool,
    /// A failed turn says so.
    pub failures: bool,
    /// Calls come with their results, one after the other.
    pub pairs: bool,
}

const TEXTS: [&str; 14] = [
    "The file says alpha, beta.",
    "Done",
    "a\nb\n\tc\r\n",
    "quotes \" and \\ back\\\\slashes /",
    "Grüße, 世界 🧵👩‍👩‍👧",
    "\u{7f}\u{2028}\u{1}\u{1b}[31mred\u{1b}[0m",
    "{\"type\": \"final\", \"content\": \"not the end\"}",
    "data: [DONE]",
    " leading and trailing ",
    "0",
    "null",
    "</think>",
    "\u{feff}mark",
    "e\u{301}",
];

const NAMES: [&str; 4] = ["Frobnicate", "knit_sock", "weave", "x9"];

impl Story {
    /// A story by chance.
    pub fn tell(chance: &mut Chance) -> Self {
        let session = format!("5e55{:04x}-0000-4000-8000-{:012x}", chance.below(0x10000), chance.below(1 << 40));
        let mut calls = 0;
        let mut rounds = 0;
        let turns = (0..1 + chance.below(3))
            .map(|_| {
                let rounds = (0..1 + chance.below(3))
                    .rev()
                    .map(|left| {
                        rounds += 1;
                        Round::tell(rounds, left == 0, &mut calls, chance)
                    })
                    .collect();
                Turn {
                    prompt: text(chance),
                    rounds,
                    ok: chance.below(4) > 0,
                }
            })
            .collect();
        Self { session, turns }
    }

    /// What a reader must find in any log of the story that has this room.
    pub fn items(&self, room: Room) -> Vec<Item> {
        let mut items = Vec::new();
        let mut count = 0;
        for turn in &self.turns {
            for round in &turn.rounds {
                items.extend(round.thought.iter().filter(|_| room.thoughts).map(|t| Item::Think(t.clone())));
                let last = round.calls.is_empty();
                items.extend(
                    round
                        .text
                        .iter()
                        .filter(|_| room.text_with_calls || last && turn.ok)
                        .map(|t| Item::Text(t.clone())),
                );
                let mut results = Vec::new();
                for call in &round.calls {
                    count += 1;
                    let id = if room.call_ids { call.id.clone() } else { count.to_string() };
                    items.push(Item::Call {
                        id: id.clone(),
                        name: call.name.clone(),
                        input: read::arguments(&call.input),
                    });
                    let result = Item::Result {
                        id,
                        ok: call.ok,
                        text: room.results.then(|| call.result.clone()),
                    };
                    if room.pairs {
                        items.push(result);
                    } else {
                        results.push(result);
                    }
                }
                items.append(&mut results);
            }
            if turn.ok || room.failures {
                items.push(Item::End { ok: turn.ok });
            }
        }
        merged(items)
    }
}

impl Round {
    fn tell(number: usize, last: bool, calls: &mut usize, chance: &mut Chance) -> Self {
        let thought = (chance.below(3) == 0).then(|| text(chance));
        let said = last || chance.below(2) == 0;
        let said = said.then(|| text(chance));
        let count = if last { 0 } else { 1 + chance.below(3) };
        let calls = (0..count)
            .map(|_| {
                *calls += 1;
                Call::tell(*calls, chance)
            })
            .collect();
        Self {
            id: format!("msg_story{number:03}"),
            thought,
            text: said,
            calls,
        }
    }
}

impl Call {
    fn tell(number: usize, chance: &mut Chance) -> Self {
        let members: Vec<String> = (0..chance.below(4))
            .map(|n| {
                let value = match chance.below(6) {
                    0 => "null".to_owned(),
                    1 => chance.below(100_000).to_string(),
                    2 => format!("[true,{},{{\"deep\":{}}}]", chance.below(9), quoted(&text(chance))),
                    3 => "{}".to_owned(),
                    _ => quoted(&text(chance)),
                };
                format!("\"k{n}\":{value}")
            })
            .collect();
        let input = format!("{{{}}}", members.join(","));
        assert!(Json::read(&input).is_some(), "stories are told in sound JSON");
        Self {
            id: format!("call_{number:04}"),
            name: (*chance.pick(&NAMES)).to_owned(),
            input,
            ok: chance.below(4) > 0,
            result: text(chance),
        }
    }
}

fn text(chance: &mut Chance) -> String {
    let mut text = (*chance.pick(&TEXTS)).to_owned();
    while chance.below(3) == 0 {
        text.push_str(chance.pick::<&str>(&TEXTS));
    }
    text
}

/// A text cut into pieces by chance; never an empty list, and no piece is empty unless the text is.
pub fn pieces(text: &str, chance: &mut Chance) -> Vec<String> {
    let mut pieces = vec![String::new()];
    for c in text.chars() {
        if chance.below(6) == 0 && !pieces.last().is_none_or(String::is_empty) {
            pieces.push(String::new());
        }
        pieces.last_mut().expect("there is always one").push(c);
    }
    pieces
}
