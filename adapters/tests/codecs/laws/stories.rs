//! Sessions made up by chance, told in every dialect: every conversion says what the story says.

use agentglot_adapters::convert::Options;

use crate::common::read::claude::pieces as claude_pieces;
use crate::common::read::{Item, merged, read};
use crate::common::story::Story;
use crate::common::turns::{ends, turns};
use crate::common::write::{Telling, common};
use crate::common::{Chance, Wrongs, convert, feed, format, parallel, short, streaming, verbatim};

/// What a target can hold of a story.
fn room(to: &str) -> crate::common::story::Room {
    let all = Telling::Claude.room();
    match to {
        "cursor" => Telling::Cursor.room(),
        "gemini" => Telling::Gemini.room(),
        "tricode" => Telling::Tricode.room(),
        "codex" => Telling::Codex.room(),
        "opencode" => Telling::Opencode.room(),
        _ => all,
    }
}

fn tell(seed: u64) -> (Story, Chance) {
    let mut chance = Chance::new(seed);
    (Story::tell(&mut chance), chance)
}

/// Calls and results without ids are numbered as they come: in Tricode's own order, or in that of the log it was made from.
fn numbered(items: Vec<Item>) -> Vec<Item> {
    let mut known: Vec<String> = Vec::new();
    let mut place = |id: String| match known.iter().position(|k| *k == id) {
        Some(at) => (at + 1).to_string(),
        None => {
            known.push(id);
            known.len().to_string()
        }
    };
    items
        .into_iter()
        .map(|item| match item {
            Item::Call { id, name, input } => Item::Call { id: place(id), name, input },
            Item::Result { id, ok, text } => Item::Result { id: place(id), ok, text },
            item => item,
        })
        .collect()
}

/// A list of what was said does not say how calls and turns ended.
fn as_list(items: Vec<Item>) -> Vec<Item> {
    let items = items.into_iter().filter(|item| !matches!(item, Item::End { .. })).map(|item| match item {
        Item::Result { id, text, .. } => Item::Result { id, ok: true, text },
        item => item,
    });
    merged(items.collect())
}

fn difference(wanted: &[Item], found: &[Item]) -> Option<String> {
    let at = (0..wanted.len().max(found.len())).find(|at| wanted.get(*at) != found.get(*at))?;
    Some(short(&format!("item {at}: wanted {:?}, found {:?}", wanted.get(at), found.get(at)), 400))
}

/// The tellers and the readers agree with each other before they judge anybody.
#[test]
fn are_told_as_they_are_read() {
    let mut wrongs = Wrongs::default();
    for seed in 0..300 {
        let (story, mut chance) = tell(seed);
        for telling in Telling::ALL.into_iter().filter(|t| *t != Telling::CursorPartial) {
            wrongs.check();
            let log = telling.tell(&story, &mut chance);
            let format = format(telling.format());
            if let Some(what) = difference(&story.items(telling.room()), &read(format, log.as_bytes())) {
                wrongs.add(format!("{telling:?}"), format!("story {seed}: {what}"));
            }
            if turns(format, log.as_bytes()).least != story.turns.len() {
                wrongs.add(
                    format!("{telling:?}"),
                    format!("story {seed}: {:?} for {} turns", turns(format, log.as_bytes()), story.turns.len()),
                );
            }
        }
    }
    wrongs.finish("the tests themselves");
}

#[test]
fn go_over() {
    let seeds: Vec<u64> = (0..150).collect();
    let over = |seed: &u64, wrongs: &mut Wrongs| {
        let (story, mut chance) = tell(*seed);
        for telling in Telling::ALL {
            let log = telling.tell(&story, &mut chance);
            let from = format(telling.format());
            let sessions = [format("atif"), format("openai:messages")];
            for to in streaming().into_iter().chain(sessions).filter(|to| *to != from) {
                let target = to.to_string();
                let room = common(telling.room(), room(&target));
                let group = format!("story {telling:?} -> {to}");
                let options = verbatim(from, to);
                let done = convert(&options, log.as_bytes());
                wrongs.check();
                let (wanted, mut found) = (story.items(room), read(to, &done.out));
                if !room.results {
                    for item in &mut found {
                        if let Item::Result { text, .. } = item {
                            *text = None;
                        }
                    }
                }
                let (wanted, found) = if room.call_ids {
                    (wanted, found)
                } else {
                    (numbered(wanted), numbered(found))
                };
                // Tricode and OpenCode pair what others group, and their room shows it both ways.
                let found = if target == "tricode" || !matches!(telling, Telling::Tricode | Telling::Opencode) {
                    found
                } else {
                    paired(found)
                };
                let found = if telling.format() == "cursor" && target == "tricode" {
                    last_segments(&wanted, found)
                } else {
                    found
                };
                let (wanted, found) = if to.is_store() {
                    (as_list(wanted), as_list(found))
                } else {
                    (wanted, found)
                };
                if let Some(what) = difference(&wanted, &found) {
                    wrongs.add(&group, format!("story {seed}: {what}"));
                }
                if !done.damage.is_empty() {
                    wrongs.add(&group, format!("story {seed}: damage in a sound log: {:?}", done.damage));
                }
                let cut = feed(&options, log.as_bytes().chunks(1 + chance.below(40)));
                if cut.out != done.out {
                    wrongs.add(&group, format!("story {seed}: other output in other reads"));
                }
            }
        }
    };
    parallel(&seeds, over).finish("stories");
}

/// Cursor's answer is all its segments in one; Tricode's may be that or the last segment.
fn last_segments(wanted: &[Item], found: Vec<Item>) -> Vec<Item> {
    let shorten = |(at, item): (usize, Item)| match (wanted.get(at), &item) {
        (Some(Item::Text(last)), Item::Text(whole)) if whole.ends_with(last.as_str()) => Item::Text(last.clone()),
        _ => item,
    };
    found.into_iter().enumerate().map(shorten).collect()
}

/// Each result right behind its call.
fn paired(items: Vec<Item>) -> Vec<Item> {
    let (results, rest): (Vec<Item>, Vec<Item>) = items.into_iter().partition(|i| matches!(i, Item::Result { .. }));
    let mut all = Vec::new();
    for item in rest {
        let call = match &item {
            Item::Call { id, .. } => Some(id.clone()),
            _ => None,
        };
        all.push(item);
        all.extend(
            results
                .iter()
                .filter(|r| matches!(r, Item::Result { id, .. } if Some(id) == call.as_ref()))
                .cloned(),
        );
    }
    all
}

/// With partial messages the deltas say the same as the whole messages.
#[test]
fn go_over_in_pieces_and_whole() {
    let seeds: Vec<u64> = (1000..1060).collect();
    let over = |seed: &u64, wrongs: &mut Wrongs| {
        let (story, mut chance) = tell(*seed);
        for telling in Telling::ALL {
            let log = telling.tell(&story, &mut chance);
            let from = format(telling.format());
            for to in ["claude", "qwen-code"].map(format).into_iter().filter(|to| *to != from) {
                wrongs.check();
                let done = convert(
                    &Options {
                        partial: true,
                        ..verbatim(from, to)
                    },
                    log.as_bytes(),
                );
                let (whole, pieces) = (read(to, &done.out), claude_pieces(&done.out));
                if let Some(what) = difference(&whole, &pieces) {
                    wrongs.add(format!("pieces {telling:?} -> {to}"), format!("story {seed}: {what}"));
                }
            }
        }
    };
    parallel(&seeds, over).finish("stories");
}

/// Wherever a story breaks off, every turn that began ends.
#[test]
fn end_wherever_they_break_off() {
    let seeds: Vec<u64> = (2000..2060).collect();
    let over = |seed: &u64, wrongs: &mut Wrongs| {
        let (story, mut chance) = tell(*seed);
        for telling in Telling::ALL {
            let log = telling.tell(&story, &mut chance);
            let from = format(telling.format());
            for _ in 0..4 {
                let cut = &log.as_bytes()[..chance.below(log.len())];
                let wanted = turns(from, cut);
                for to in streaming().into_iter().filter(|to| *to != from && to.to_string() != "cursor") {
                    wrongs.check();
                    let found = ends(to, &convert(&Options::new(from, to), cut).out);
                    if !(wanted.least..=wanted.most).contains(&found) {
                        wrongs.add(
                            format!("ends {telling:?} -> {to}"),
                            format!("story {seed} cut at {}: {found} ends for {wanted:?}", cut.len()),
                        );
                    }
                }
            }
        }
    };
    parallel(&seeds, over).finish("one end");
}
