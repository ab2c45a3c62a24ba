//! Suggestions while the user types: names of commands, paths of files.

use std::cell::{Cell, RefCell};
use std::path::Path;
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use ignore::{DirEntry, WalkState};
use serde_json::{Value, json};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use super::paths::Paths;
use crate::host::event_writer::body;
use crate::tools::walk::{Tree, Until, Visit, walk};
use crate::turn::context::Context;
use crate::workspace::Wall;
use agentglot_adapters::raw::event::{HintRequest, HintResult, Input, Kind};
use agentglot_adapters::raw::json::{Raw, Str};

/// So many suggestions, and so many files that are looked through.
const MOST: usize = 50;
const FILES: usize = 1_000_000;

/// An index that is older is made anew while the old one answers.
const FRESH: Duration = Duration::from_secs(5);

/// What waits, and what is known of the files.
#[derive(Debug, Default)]
pub(crate) struct Hints {
    /// The latest request that is not answered.
    waiting: RefCell<Option<Wanted>>,
    /// Somebody is about to answer it.
    at_work: Cell<bool>,
    /// Requests and cancels so far: what was begun for an earlier one is told no more.
    number: Cell<u64>,
    /// A request, a cancel, or an index has come.
    news: Notify,
    /// The files, and when they were looked at.
    index: RefCell<Option<(Arc<Paths>, Instant)>>,
    /// Stops the look at the files that runs.
    building: RefCell<Option<CancellationToken>>,
}

/// A request.
#[derive(Clone, Debug, Default)]
struct Wanted {
    trigger: String,
    text: String,
    cwd: Option<String>,
    turn: String,
}

/// A hint is asked for. The latest request wins.
pub(crate) fn ask(context: &Rc<Context>, hints: &Rc<Hints>, input: &Input<'_>, request: &HintRequest<'_>) {
    let text = |text: Option<Str<'_>>| text.map(|text| text.unescape().into_owned());
    let whole = text(request.text).unwrap_or_default();
    let count = whole.chars().count();
    let cursor = request
        .cursor
        .and_then(|raw| raw.as_str().parse::<f64>().ok())
        .map_or(count, |cursor| cursor.max(0.0) as usize);
    let about: Value = request
        .context
        .and_then(|raw| serde_json::from_str(raw.as_str()).ok())
        .unwrap_or_default();
    let wanted = Wanted {
        trigger: text(request.trigger).unwrap_or_default(),
        text: whole.chars().take(cursor).collect(),
        cwd: about.get("cwd").and_then(Value::as_str).map(str::to_owned),
        turn: input.origin.turn.map(|turn| turn.as_escaped().to_owned()).unwrap_or_default(),
    };
    *hints.waiting.borrow_mut() = Some(wanted);
    hints.turn_over();
    if !hints.at_work.replace(true) {
        let (context, hints) = (context.clone(), Rc::clone(hints));
        context.clone().host.jobs.spawn(async move {
            answer(&context, &hints).await;
            hints.at_work.set(false);
        });
    }
}

/// The hints are wanted no more: what is looked for is given up.
pub(crate) fn cancel(hints: &Hints) {
    hints.waiting.take();
    hints.turn_over();
    if hints.index.borrow().is_none()
        && let Some(building) = &*hints.building.borrow()
    {
        building.cancel();
    }
}

impl Hints {
    fn turn_over(&self) {
        self.number.set(self.number.get() + 1);
        self.news.notify_one();
    }
}

async fn answer(context: &Rc<Context>, hints: &Rc<Hints>) {
    while let Some(wanted) = hints.waiting.take() {
        let number = hints.number.get();
        if let Err(why) = check(context, &wanted) {
            tell(context, &wanted, "error", None, Some(&why));
            continue;
        }
        if wanted.trigger != "at" && wanted.trigger != "@" {
            let found = slash(context, &wanted.text);
            tell(context, &wanted, "ok", Some(found), None);
            continue;
        }
        let Some(index) = index_for(context, hints, &wanted, number).await else {
            continue;
        };
        let text = wanted.text.clone();
        let found = tokio::task::spawn_blocking(move || at(&index, &text)).await.unwrap_or_default();
        if hints.number.get() == number {
            tell(context, &wanted, "ok", Some(found), None);
        }
    }
}

/// The index, made if there is none; an old one is made anew beside. `None`: something else was asked meanwhile.
async fn index_for(context: &Rc<Context>, hints: &Rc<Hints>, wanted: &Wanted, number: u64) -> Option<Arc<Paths>> {
    let mut told = false;
    loop {
        let index = hints.index.borrow().clone();
        if index.as_ref().is_none_or(|(_, since)| since.elapsed() > FRESH) && hints.building.borrow().is_none() {
            let (context, hints, stop) = (context.clone(), Rc::clone(hints), CancellationToken::new());
            *hints.building.borrow_mut() = Some(stop.clone());
            context.clone().host.jobs.spawn(async move { build(&context, &hints, stop).await });
        }
        if let Some((index, _)) = index {
            return Some(index);
        }
        if !std::mem::replace(&mut told, true) {
            tell(context, wanted, "loading", Some((Vec::new(), false)), None);
        }
        hints.news.notified().await;
        if hints.number.get() != number {
            return None;
        }
    }
}

fn check(context: &Context, wanted: &Wanted) -> Result<(), String> {
    if !matches!(wanted.trigger.as_str(), "slash" | "at" | "?" | "/" | "@") {
        return Err(format!("{:?} is no trigger: it is slash or at", wanted.trigger));
    }
    match &wanted.cwd {
        Some(cwd) if !cwd.is_empty() => match context.world.wall.locate(cwd) {
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

fn at(index: &Paths, text: &str) -> Found {
    let wanted = word(text).to_lowercase();
    let wanted = wanted.strip_prefix("./").unwrap_or(&wanted);
    let (found, perfect) = index.find(wanted, MOST);
    let found = found.into_iter().map(|path| json!({"label": path, "value": escaped(path)}));
    (found.collect(), perfect)
}

fn slash(context: &Context, text: &str) -> Found {
    let text = text.trim_start();
    let text = text.strip_prefix('/').unwrap_or(text);
    if let Some((name, rest)) = text.split_once(char::is_whitespace) {
        let rest = rest.trim_start();
        let subs = context.persona.commands.find(name).map(|command| command.subs).unwrap_or_default();
        let perfect = subs.iter().any(|(sub, _)| *sub == rest);
        let fitting = subs.iter().filter(|(sub, _)| sub.starts_with(rest));
        let found = fitting.map(|(sub, description)| json!({"label": sub, "value": sub, "description": description}));
        return (found.collect(), perfect);
    }
    let small = text.to_lowercase();
    let mut perfect = false;
    let mut found = Vec::new();
    for command in context.persona.commands.all {
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
    for command in &context.settings.get().commands {
        if command.name.to_lowercase().starts_with(&small) {
            perfect |= command.name == text;
            found.push(json!({"label": command.name, "value": command.name, "description": command.description}));
        }
    }
    found.sort_by(|a, b| a["label"].as_str().cmp(&b["label"].as_str()));
    (found, perfect)
}

fn tell(context: &Context, wanted: &Wanted, status: &str, found: Option<Found>, why: Option<&str>) {
    let suggestions = found.as_ref().map(|(list, _)| Value::Array(list.clone()).to_string());
    let metadata = found.as_ref().map(|(_, perfect)| json!({"is_perfect_match": perfect}).to_string());
    let trigger = match wanted.trigger.as_str() {
        "?" | "/" => "slash",
        "@" => "at",
        // What is no trigger is told in the words that there are.
        other if other == "at" || other != "slash" && wanted.text.contains('@') => "at",
        _ => "slash",
    };
    let (trigger, why) = (body(trigger), why.map(body));
    let result = HintResult {
        trigger: Some(Str::trusted(&trigger)),
        status: Some(Str::trusted(status)),
        suggestions: suggestions.as_deref().map(Raw::trusted),
        metadata: metadata.as_deref().map(Raw::trusted),
        message: why.as_deref().map(Str::trusted),
    };
    context
        .host
        .events
        .side(Kind::Hint(&result), Some(wanted.turn.as_str()).filter(|turn| !turn.is_empty()));
}

/// Looks at the files, on threads of its own. What was stopped is forgotten.
async fn build(context: &Context, hints: &Hints, stop: CancellationToken) {
    let wall = context.world.wall.clone();
    let stopped = stop.clone();
    let index = tokio::task::spawn_blocking(move || index(&wall, &stop)).await.unwrap_or_default();
    if !stopped.is_cancelled() {
        *hints.index.borrow_mut() = Some((Arc::new(index), Instant::now()));
    }
    hints.building.take();
    hints.news.notify_one();
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

fn index(wall: &Wall, stop: &CancellationToken) -> Paths {
    let all = Mutex::new(Vec::new());
    if let Ok(root) = wall.locate(wall.root()) {
        let visitor = || Collect { own: Vec::new(), all: &all };
        // What was found by then counts if something goes wrong.
        let _ = walk(&root, &Tree::default(), &Until::new(&root, stop), visitor);
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
    if stop.is_cancelled() {
        return Paths::default();
    }
    Paths::new(files)
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
    fn paths_are_escaped_and_perfect_ones_are_known() {
        let index = Paths::new(["notes/Button with spaces.tsx", "button/", "src/x.rs"].map(str::to_owned).to_vec());
        let (found, perfect) = at(&index, "look at @but");
        assert_eq!((found[0]["value"].as_str(), perfect), (Some("button/"), false));
        assert_eq!(found[1]["value"], "notes/Button\\ with\\ spaces.tsx");
        assert!(at(&index, "@./src/x.rs").1);
    }
}
