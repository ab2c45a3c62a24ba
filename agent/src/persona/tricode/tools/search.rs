//! `search_context`: what ripgrep finds, as `PATH:LINE:TEXT`.

use std::time::{Duration, Instant};

use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::args::{text, text_or};
use super::place::refused;
use crate::tools::Given;
use crate::tools::grep::{Asked, Want, grep};
use crate::tools::walk::Tree;
use crate::workspace::{Fault, Kind, Wall};

/// How long a search may take.
pub(super) const PATIENCE: Duration = Duration::from_secs(10);

/// So many bytes of lines are given, and so many characters of each.
const MOST: usize = 1 << 20;
const WIDTH: usize = 4096;

pub(super) fn search(input: &Value, wall: &Wall, cancel: &CancellationToken) -> Result<Given, Given> {
    let pattern = text(input, "pattern")?;
    let asked = text_or(input, "path", ".")?;
    let place = wall.locate(asked).map_err(|fault| refused(&fault, wall.absolute(asked.as_ref())))?;
    let path = place.path().display();
    let failed = |why: String| Given::error(format!("Search error: {why}\n"));
    let missing = |_| failed(format!("rg: {path}: No such file or directory (os error 2)"));
    let is_file = place.stat().map_err(missing)?.kind == Kind::File;
    let wanted = |pattern: String| Asked {
        pattern,
        any_case: false,
        multiline: false,
        want: Want::lines(WIDTH, usize::MAX),
        tree: Tree::default(),
    };
    let watch = Watch::start(cancel);
    let found = match grep(&place, &wanted(pattern.to_owned()), &watch.cancel) {
        // A pattern that is no regular expression is looked for as it stands.
        Err(Fault::Other(_)) => grep(&place, &wanted(escaped(pattern)), &watch.cancel),
        found => found,
    };
    let found = found.map_err(|fault| match fault {
        Fault::Cancelled if !cancel.is_cancelled() => Given::error(format!("Search failed: timed out after {} seconds", PATIENCE.as_secs())),
        other => failed(other.to_string()),
    })?;
    let mut lines = String::new();
    for file in &found.files {
        for line in &file.lines {
            if lines.len() > MOST {
                lines.push_str(&format!("[output truncated at {MOST} bytes; look for something rarer]\n"));
                return Ok(Given::text(lines));
            }
            if !is_file {
                lines.push_str(&format!("{}:", file.path.display()));
            }
            lines.push_str(&format!("{}:{}{}\n", line.number, line.text, if line.cut { " [...]" } else { "" }));
        }
    }
    Ok(Given::text(if lines.is_empty() { "No matches found".to_owned() } else { lines }))
}

/// A pattern that matches these characters.
fn escaped(plain: &str) -> String {
    let mut pattern = String::with_capacity(2 * plain.len());
    for c in plain.chars() {
        // Of other characters some have a meaning only behind a backslash.
        if r"\.+*?()|[]{}^$#&-~".contains(c) {
            pattern.push('\\');
        }
        pattern.push(c);
    }
    pattern
}

/// Stops a search with the turn, or when it takes too long.
pub(super) struct Watch {
    pub(super) cancel: CancellationToken,
    over: CancellationToken,
}

impl Watch {
    pub(super) fn start(cancel: &CancellationToken) -> Self {
        let watch = Self {
            cancel: cancel.child_token(),
            over: CancellationToken::new(),
        };
        let (cancel, over) = (watch.cancel.clone(), watch.over.clone());
        let until = Instant::now() + PATIENCE;
        // Tools run in the agent's runtime; a search outside of one has no end of its own.
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move {
                tokio::select! {
                    () = tokio::time::sleep_until(until.into()) => cancel.cancel(),
                    () = over.cancelled() => {}
                }
            });
        }
        watch
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.over.cancel();
    }
}
