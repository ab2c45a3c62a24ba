//! What there is to say about the sessions of every agent.

use std::fmt::Write as _;
use std::sync::Mutex;
use std::time::{SystemTime, UNIX_EPOCH};

use agentglot_adapters::events::PromptSource;
use agentglot_adapters::session::Turn;
use agentglot_adapters::turns;
use serde_json::json;

use super::ago;
use crate::homes::{self, InDatabase, Kept, Lies};
use crate::io::{Console, Input, Source, one_line};
use crate::stats::{By, Counter, Prices};
use crate::status::{Failure, Status};

/// A session of any agent.
#[derive(Clone, Debug)]
struct About {
    agent: String,
    id: String,
    cwd: Option<String>,
    prompt: Option<String>,
    turns: u64,
    tokens: u64,
    written: SystemTime,
    path: Option<String>,
}

/// So much of a prompt is shown, and said to programs.
const SHOWN: usize = 60;
const SAID: usize = 400;

/// Writes the sessions of every agent on this machine, the latest first.
///
/// # Errors
/// When stdout cannot be written.
pub(super) fn list(as_json: bool) -> Result<Status, Failure> {
    let console = Console::plain();
    let mut status = Status::Clean;
    let mut all = Vec::new();
    let (kept, failed) = homes::kept();
    for failure in failed {
        status.worsen(failure.status());
        console.say(&failure.to_string());
    }
    for (path, about) in read(&kept) {
        match about {
            Ok(about) => all.extend(about),
            Err(failure) => {
                status.worsen(match failure.status() {
                    Status::Failed => Status::Failed,
                    _ => Status::Damaged,
                });
                console.say(&match failure {
                    Failure::Usage(text) => format!("{path}: {text}"),
                    failure => failure.to_string(),
                });
            }
        }
    }
    all.sort_by(|a, b| b.written.cmp(&a.written).then_with(|| a.id.cmp(&b.id)));
    // An empty list would say that there is nothing.
    if all.is_empty() && status != Status::Clean {
        return Ok(status);
    }
    let text = if as_json { lines(&all) } else { table(&all) };
    super::super::print(text.as_bytes())?;
    Ok(status)
}

/// Reads the files, several at a time; those with nothing in them are left out.
fn read(kept: &[Kept]) -> Vec<(String, Result<Option<About>, Failure>)> {
    let next = Mutex::new(kept.iter());
    let read = Mutex::new(Vec::with_capacity(kept.len()));
    let at_a_time = std::thread::available_parallelism().map_or(1, usize::from).min(kept.len());
    std::thread::scope(|scope| {
        for _ in 0..at_a_time {
            scope.spawn(|| {
                loop {
                    // A lock is poisoned only by a panic, which ends the whole run.
                    let Some(kept) = next.lock().unwrap_or_else(|e| e.into_inner()).next() else {
                        return;
                    };
                    let about = one(kept);
                    let path = match &kept.lies {
                        Lies::InFile(path) => path.display().to_string(),
                        Lies::InDatabase(_) => String::new(),
                    };
                    read.lock().unwrap_or_else(|e| e.into_inner()).push((path, about));
                }
            });
        }
    });
    let mut read = read.into_inner().unwrap_or_else(|e| e.into_inner());
    read.sort_by(|(a, _), (b, _)| a.cmp(b));
    read
}

fn one(kept: &Kept) -> Result<Option<About>, Failure> {
    let input = match &kept.lies {
        Lies::InFile(path) => Input::File(path.clone()),
        Lies::InDatabase(row) => return Ok(Some(told(row))),
    };
    let name = input.name();
    let (log, from) = Source::log(&input, kept.owner, &Console::plain())?;
    let mut counter = Counter::new(By::Session, true, Prices::none());
    let mut about = About {
        agent: kept.owner.map_or("agentglot", |format| format.dialect.name()).to_owned(),
        id: kept.id.clone(),
        cwd: None,
        prompt: None,
        turns: 0,
        tokens: 0,
        written: kept.written,
        path: Some(name.clone()),
    };
    for turn in turns(log, from).named(&name) {
        match turn {
            Ok(turn) => {
                counter.turn(&turn, &about.agent, &name);
                about.cwd = turn.facts.as_ref().and_then(|facts| facts.cwd.clone()).or(about.cwd.take());
                about.prompt = about.prompt.take().or_else(|| prompt(&turn));
                about.turns += 1;
            }
            // A list is no check: what else the file says counts.
            Err(error) if error.can_continue() => {}
            Err(error) => return Err(Failure::of_log(&name, error)),
        }
    }
    about.cwd = about.cwd.or_else(|| homes::claimed_for(&input.path()?));
    about.tokens = counter.sums().1.tokens.all();
    Ok((about.turns > 0).then_some(about))
}

/// What a turn's user asked for.
pub(crate) fn prompt(turn: &Turn) -> Option<String> {
    let asked = turn.thread.prompts.iter().filter(|prompt| prompt.source != PromptSource::Agent);
    let mut texts = asked.map(|prompt| prompt.content.text());
    texts.find(|text| !text.trim().is_empty())
}

/// What a database says of a session.
fn told(row: &InDatabase) -> About {
    About {
        agent: row.format.dialect.name().to_owned(),
        id: row.id.clone(),
        cwd: row.cwd.clone(),
        prompt: row.prompt.clone(),
        turns: row.turns,
        tokens: row.tokens,
        written: row.written,
        path: None,
    }
}

fn table(sessions: &[About]) -> String {
    let mut text = String::new();
    for about in sessions {
        let words = about.prompt.as_deref().unwrap_or_default().split_whitespace();
        let prompt: String = words.collect::<Vec<_>>().join(" ").chars().take(SHOWN).collect();
        // Writing to a `String` cannot fail.
        let _ = write!(
            text,
            "{:<9}  {:<36}  {:>8}  {:>3} {}  {:>9} tokens  {}",
            about.agent,
            one_line(&about.id),
            ago(about.written),
            about.turns,
            if about.turns == 1 { "turn " } else { "turns" },
            about.tokens,
            one_line(&prompt)
        );
        if let Some(cwd) = &about.cwd {
            let _ = write!(text, "  [{}]", one_line(cwd));
        }
        text.truncate(text.trim_end().len());
        text.push('\n');
    }
    if sessions.is_empty() {
        text.push_str("No sessions.\n");
    }
    text
}

fn lines(sessions: &[About]) -> String {
    let mut text = String::new();
    for about in sessions {
        let prompt = about.prompt.as_ref().map(|prompt| prompt.chars().take(SAID).collect::<String>());
        let line = json!({
            "agent": about.agent,
            "id": about.id,
            "cwd": about.cwd,
            "prompt": prompt,
            "turns": about.turns,
            "tokens": about.tokens,
            "written": about.written.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs(),
            "path": about.path,
        });
        let _ = writeln!(text, "{line}");
    }
    text
}
