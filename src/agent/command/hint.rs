//! Suggestions while the user types: names of commands, paths of files.

use std::cell::{Cell, RefCell};
use std::path::Path;
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use ignore::{DirEntry, WalkState};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::builtin::{COMMANDS, find};
use crate::adapters::event::{HintRequest, HintResult, Input, Kind};
use crate::adapters::json::{Raw, Str};
use crate::agent::core::Core;
use crate::agent::tools::walk::{Tree, Visit, walk};
use crate::agent::voice::body;
use crate::agent::wall::Wall;

/// So many suggestions, and so many files that are looked through.
const MOST: usize = 50;
const FILES: usize = 1_000_000;

/// An index that is older is made anew while the old one answers.
const FRESH: Duration = Duration::from_secs(5);

/// What waits, and what is known of the files.
#[derive(Debug, Default)]
pub(in crate::agent) struct Hints {
    /// The latest request that is not answered.
    waiting: RefCell<Option<Wanted>>,
    /// Somebody is about to answer it.
    at_work: Cell<bool>,
    /// The files, and when they were looked at.
    index: RefCell<Option<(Arc<Index>, Instant)>>,
    building: Cell<bool>,
}

/// A request.
#[derive(Clone, Debug, Default)]
struct Wanted {
    trigger: String,
    text: String,
    cwd: Option<String>,
    turn: String,
}

/// Paths from the working folder, folders with a slash at their end; each in small letters too.
#[derive(Debug, Default)]
struct Index {
    paths: Vec<(String, String)>,
}

/// A hint is asked for. The latest request wins.
pub(in crate::agent) fn ask(core: &Rc<Core>, input: &Input<'_>, request: &HintRequest<'_>) {
    let text = |text: Option<Str<'_>>| text.map(|text| text.unescape().into_owned());
    let whole = text(request.text).unwrap_or_default();
    let count = whole.chars().count();
    let cursor = request
        .cursor
        .and_then(|raw| raw.as_str().parse::<f64>().ok())
        .map_or(count, |cursor| cursor.max(0.0) as usize);
    let context: Value = request
        .context
        .and_then(|raw| serde_json::from_str(raw.as_str()).ok())
        .unwrap_or_default();
    let wanted = Wanted {
        trigger: text(request.trigger).unwrap_or_default(),
        text: whole.chars().take(cursor).collect(),
        cwd: context.get("cwd").and_then(Value::as_str).map(str::to_owned),
        turn: input.origin.turn.map(|turn| turn.as_escaped().to_owned()).unwrap_or_default(),
    };
    *core.desk.hints.waiting.borrow_mut() = Some(wanted);
    if !core.desk.hints.at_work.replace(true) {
        let core = core.clone();
        core.clone().chore(async move {
            answer(&core).await;
            core.desk.hints.at_work.set(false);
        });
    }
}

/// The hints are wanted no more.
pub(in crate::agent) fn cancel(core: &Core) {
    core.desk.hints.waiting.take();
}

async fn answer(core: &Rc<Core>) {
    while let Some(wanted) = core.desk.hints.waiting.take() {
        if let Err(why) = check(core, &wanted) {
            tell(core, &wanted, "error", None, Some(&why));
            continue;
        }
        if wanted.trigger != "at" {
            let found = slash(core, &wanted.text);
            tell(core, &wanted, "ok", Some(found), None);
            continue;
        }
        let index = core.desk.hints.index.borrow().clone();
        let index = match index {
            Some((index, since)) => {
                if since.elapsed() > FRESH && !core.desk.hints.building.replace(true) {
                    let core = core.clone();
                    core.clone().chore(async move {
                        build(&core).await;
                        core.desk.hints.building.set(false);
                    });
                }
                index
            }
            None => {
                tell(core, &wanted, "loading", Some((Vec::new(), false)), None);
                let index = build(core).await;
                // A later request is answered instead.
                let later = core.desk.hints.waiting.borrow().is_some();
                if later {
                    continue;
                }
                index
            }
        };
        let text = wanted.text.clone();
        let found = tokio::task::spawn_blocking(move || at(&index, &text)).await.unwrap_or_default();
        if core.desk.hints.waiting.borrow().is_none() {
            tell(core, &wanted, "ok", Some(found), None);
        }
    }
}

fn check(core: &Core, wanted: &Wanted) -> Result<(), String> {
    if !matches!(wanted.trigger.as_str(), "slash" | "at" | "?" | "/" | "@") {
        return Err(format!("{:?} is no trigger: it is slash or at", wanted.trigger));
    }
    match &wanted.cwd {
        Some(cwd) if !cwd.is_empty() => match core.world.wall.locate(cwd) {
            Ok(_) => Ok(()),
            Err(fault) => Err(fault.to_string()),
        },
        _ => Ok(()),
    }
}

type Found = (Vec<Value>, bool);

/// The word behind the last `@` before the cursor, without its escapes.
fn word(text: &str) -> String {
    let mut word = String::new();
    let mut escaped = false;
    for c in text.chars() {
        match c {
            '\\' if !escaped => {
                escaped = true;
                continue;
            }
            '@' if !escaped => word.clear(),
            c if c.is_whitespace() && !escaped => word.clear(),
            c => word.push(c),
        }
        escaped = false;
    }
    word
}

fn escaped(path: &str) -> String {
    let mut out = String::with_capacity(path.len());
    for c in path.chars() {
        if c.is_whitespace() || "\\()[]{};,!'\"`@*?<>".contains(c) {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

fn at(index: &Index, text: &str) -> Found {
    let wanted = word(text).to_lowercase();
    let wanted = wanted.strip_prefix("./").unwrap_or(&wanted);
    // The best come first: the path itself, its beginning, the beginning of its name, anywhere.
    let mut ranked: Vec<(u8, usize, &str)> = Vec::new();
    let mut perfect = false;
    for (path, small) in &index.paths {
        let rank = if small == wanted {
            perfect = true;
            0
        } else if small.starts_with(wanted) {
            1
        } else {
            let name = small.trim_end_matches('/').rfind('/').map_or(0, |at| at + 1);
            if small[name..].starts_with(wanted) {
                2
            } else if small.contains(wanted) {
                3
            } else {
                continue;
            }
        };
        ranked.push((rank, path.len(), path));
    }
    let order = |a: &(u8, usize, &str), b: &(u8, usize, &str)| a.cmp(b);
    if ranked.len() > MOST {
        ranked.select_nth_unstable_by(MOST, order);
        ranked.truncate(MOST);
    }
    ranked.sort_unstable_by(order);
    let found = ranked
        .into_iter()
        .map(|(_, _, path)| json!({"label": path, "value": escaped(path)}))
        .collect();
    (found, perfect)
}

fn slash(core: &Core, text: &str) -> Found {
    let text = text.trim_start();
    let text = text.strip_prefix('/').unwrap_or(text);
    if let Some((name, rest)) = text.split_once(char::is_whitespace) {
        let rest = rest.trim_start();
        let subs = find(name).map(|command| command.subs).unwrap_or_default();
        let perfect = subs.iter().any(|(sub, _)| *sub == rest);
        let fitting = subs.iter().filter(|(sub, _)| sub.starts_with(rest));
        let found = fitting.map(|(sub, description)| json!({"label": sub, "value": sub, "description": description}));
        return (found.collect(), perfect);
    }
    let small = text.to_lowercase();
    let mut perfect = false;
    let mut found = Vec::new();
    for command in COMMANDS {
        let names = std::iter::once(command.name).chain(command.aliases.iter().copied());
        // Another name counts when it is written out: `/c` is not meant to find what is also called `cost`.
        let fits: Vec<(usize, &str)> = names
            .enumerate()
            .filter(|(number, name)| *name == small || *number == 0 && name.starts_with(&small))
            .collect();
        let Some((number, name)) = fits.first() else { continue };
        perfect |= fits.iter().any(|(_, name)| *name == small);
        let mut one = json!({"label": command.name, "value": command.name, "description": command.description});
        if *number > 0 || *name == small {
            one["matchedIndex"] = json!(0);
        }
        found.push(one);
    }
    for command in &core.settings.commands {
        if command.name.to_lowercase().starts_with(&small) {
            perfect |= command.name == text;
            found.push(json!({"label": command.name, "value": command.name, "description": command.description}));
        }
    }
    found.sort_by(|a, b| a["label"].as_str().cmp(&b["label"].as_str()));
    (found, perfect)
}

fn tell(core: &Core, wanted: &Wanted, status: &str, found: Option<Found>, why: Option<&str>) {
    let suggestions = found.as_ref().map(|(list, _)| Value::Array(list.clone()).to_string());
    let metadata = found.as_ref().map(|(_, perfect)| json!({"is_perfect_match": perfect}).to_string());
    let trigger = match wanted.trigger.as_str() {
        "?" | "/" => "slash",
        "@" => "at",
        other => other,
    };
    let (trigger, why) = (body(trigger), why.map(body));
    let result = HintResult {
        trigger: Some(Str::trusted(&trigger)),
        status: Some(Str::trusted(status)),
        suggestions: suggestions.as_deref().map(Raw::trusted),
        metadata: metadata.as_deref().map(Raw::trusted),
        message: why.as_deref().map(Str::trusted),
    };
    core.voice
        .side(Kind::Hint(&result), Some(wanted.turn.as_str()).filter(|turn| !turn.is_empty()));
}

/// Looks at the files, on threads of its own.
async fn build(core: &Core) -> Arc<Index> {
    let wall = core.world.wall.clone();
    let index = tokio::task::spawn_blocking(move || index(&wall)).await.unwrap_or_default();
    let index = Arc::new(index);
    *core.desk.hints.index.borrow_mut() = Some((index.clone(), Instant::now()));
    index
}

struct Collect<'a> {
    own: Vec<String>,
    all: &'a Mutex<Vec<String>>,
}

impl Visit for Collect<'_> {
    fn file(&mut self, path: &Path, _: &DirEntry) -> WalkState {
        self.own.push(path.to_string_lossy().into_owned());
        if self.own.len() >= FILES { WalkState::Quit } else { WalkState::Continue }
    }
}

impl Drop for Collect<'_> {
    fn drop(&mut self) {
        self.all.lock().unwrap_or_else(PoisonError::into_inner).append(&mut self.own);
    }
}

fn index(wall: &Wall) -> Index {
    let all = Mutex::new(Vec::new());
    if let Ok(root) = wall.locate(wall.root()) {
        let visitor = || Collect { own: Vec::new(), all: &all };
        // What was found by then counts if something goes wrong.
        let _ = walk(&root, &Tree::default(), &CancellationToken::new(), visitor);
    }
    let mut files = all.into_inner().unwrap_or_else(PoisonError::into_inner);
    files.truncate(FILES);
    let mut folders = std::collections::HashSet::new();
    for file in &files {
        let mut at = file.as_str();
        while let Some(end) = at.rfind('/') {
            at = &at[..end];
            if !folders.insert(at.to_owned()) {
                break;
            }
        }
    }
    files.extend(folders.into_iter().map(|folder| format!("{folder}/")));
    let paths = files.into_iter().map(|path| (path.clone(), path.to_lowercase())).collect();
    Index { paths }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_word_behind_the_at_is_what_is_looked_for() {
        assert_eq!(word("see @src/co"), "src/co");
        assert_eq!(word("@a\\ b"), "a b");
        assert_eq!(word("@done and"), "and");
    }

    #[test]
    fn a_large_tree_is_searched_by_rank() {
        let mut paths: Vec<_> = (0..100_000).map(|n| format!("src/dir{}/file{n}.rs", n % 300)).collect();
        paths.push("notes/Button with spaces.tsx".to_owned());
        paths.push("button/".to_owned());
        let index = Index {
            paths: paths.into_iter().map(|path| (path.clone(), path.to_lowercase())).collect(),
        };
        let begun = Instant::now();
        let (found, perfect) = at(&index, "look at @but");
        let took = begun.elapsed();
        assert_eq!(found[0]["value"], "button/");
        assert_eq!(found[1]["value"], "notes/Button\\ with\\ spaces.tsx");
        assert!(!perfect && took < Duration::from_secs(1), "{took:?}");
        assert_eq!(at(&index, "@src/").0.len(), MOST);
        assert!(at(&index, "@src/dir1/file1.rs").1);
    }
}
