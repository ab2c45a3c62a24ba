//! The plain lines with which a run ends badly.
//!
//! The program prints one of them instead of `final`: `OpenAI API error: …` when the model failed (whatever the provider),
//! `Error: …` when it could not even begin (no key, no such session), `❌ Agent terminated: …` when the user stopped it.

use crate::codec::Cx;
use crate::event::{Fate, Limit, OutcomeKind, Place};
use crate::json::{Out, Str};

/// What a bare `Error:` means. Printed texts may hold such a line too.
pub(super) const GENERAL: OutcomeKind = OutcomeKind::Failed(Place::Backend);

const MODEL: OutcomeKind = OutcomeKind::Failed(Place::Model);

const BEGINNINGS: [(&str, OutcomeKind); 3] = [
    ("OpenAI API error:", MODEL),
    ("❌ Agent terminated", OutcomeKind::Cancelled),
    ("Error:", GENERAL),
];

/// What a plain line says about the end of the run, if it is such a line.
pub(super) fn read(line: &str) -> Option<OutcomeKind> {
    BEGINNINGS.iter().find_map(|&(beginning, kind)| {
        let said = line.strip_prefix(beginning)?;
        Some(if kind == MODEL { why(said.trim_start()) } else { kind })
    })
}

/// What a run failed of, by what stands behind the beginning of its line.
fn why(said: &str) -> OutcomeKind {
    let is_said = |kind: &OutcomeKind| {
        said.strip_prefix(words(*kind))
            .is_some_and(|rest| rest.is_empty() || rest.starts_with(": "))
    };
    let named = OutcomeKind::ALL.into_iter().find(is_said).filter(|kind| *kind != OutcomeKind::Success);
    named.or_else(|| OutcomeKind::named(said)).unwrap_or(MODEL)
}

/// The line as the body of a JSON string.
pub(super) fn text<'a>(line: &'a str, cx: &Cx<'a>) -> Str<'a> {
    match line.bytes().any(|byte| byte < b' ' || matches!(byte, b'"' | b'\\')) {
        true => cx.text(line),
        false => Str::trusted(line),
    }
}

/// What the ledger says of an error with newlines, or blanks around it.
pub(super) const ON_A_LINE: &str = "a failure is told on one line";

/// Writes the line. Newlines become blanks: it has to stay one line. Returns whether nothing else became of the error.
pub(super) fn write(kind: OutcomeKind, error: Option<Str<'_>>, out: &mut Out) -> bool {
    let whole = error.map_or(std::borrow::Cow::Borrowed(""), Str::unescape);
    let said = match whole.trim() {
        "" => {
            out.invented("", "the source does not say what went wrong");
            words(kind)
        }
        said => said,
    };
    let told = read(said).unwrap_or_else(|| {
        out.lit(match kind {
            OutcomeKind::Cancelled => "❌ Agent terminated: ",
            GENERAL => "Error: ",
            _ => "OpenAI API error: ",
        });
        match kind {
            OutcomeKind::Cancelled | GENERAL => kind,
            _ if why(said) == kind || kind.prefix().is_none() => why(said),
            _ => {
                out.lit(words(kind));
                out.lit(": ");
                kind
            }
        }
    });
    kind.told_as(told, out);
    let mut from = 0;
    for (at, newline) in said.match_indices(['\n', '\r']) {
        quoted(&said[from..at], out);
        out.lit(" ");
        from = at + newline.len();
    }
    quoted(&said[from..], out);
    out.lit("\n");
    let as_said = from == 0 && said.len() == whole.len() || whole.is_empty();
    if let Some(error) = error {
        match as_said {
            true => out.used(error.as_escaped()),
            false => out.renamed(error.as_escaped(), ON_A_LINE),
        }
    }
    as_said
}

/// Writes a part of the line. A line that holds the beginning of an object is read as that object, wherever it stands; without
/// its blank it is none.
fn quoted(said: &str, out: &mut Out) {
    const OBJECT: &str = "{\"type\": \"";
    let mut parts = said.split(OBJECT);
    out.lit(parts.next().unwrap_or_default());
    for part in parts {
        out.lit("{\"type\":\"");
        out.lit(part);
        out.note(
            Fate::Renamed,
            "",
            "a blank is left out of an object in the text of an error, which would be read as a line",
        );
    }
}

const fn words(kind: OutcomeKind) -> &'static str {
    match kind {
        OutcomeKind::Success => "no answer",
        OutcomeKind::Refused => "the model refused",
        OutcomeKind::Cancelled => "the user stopped the run",
        OutcomeKind::Limit(Limit::Turns) => "the limit of rounds was reached",
        OutcomeKind::Limit(Limit::Budget) => "the budget was used up",
        OutcomeKind::Limit(Limit::Tokens) => "the limit of tokens was reached",
        OutcomeKind::Limit(Limit::Retries) => "the limit of attempts was reached",
        OutcomeKind::Limit(Limit::Time) => "the time was up",
        OutcomeKind::Failed(Place::Model) => "the model failed",
        OutcomeKind::Failed(Place::Tool) => "a tool failed",
        OutcomeKind::Failed(Place::Protocol) => "the log ends before the run does",
        OutcomeKind::Failed(Place::Backend) => "the program failed",
    }
}
