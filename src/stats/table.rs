//! What was counted, as a table, as JSON or as CSV.

use std::fmt::Write as _;

use serde_json::{Value, json};
use unicode_width::UnicodeWidthStr;

use super::{By, Counter, Sum};
use crate::io::visible;
use crate::show::{duration, fitted, number, wrapped};

/// How it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// For people.
    Table,
    /// One object.
    Json,
    /// A head and a line for each.
    Csv,
}

const HEAD: [&str; 13] = [
    "sessions",
    "turns",
    "rounds",
    "calls",
    "failed",
    "call_ms",
    "input",
    "cache_read",
    "cache_write",
    "output",
    "reasoning",
    "cost_usd",
    "unpriced",
];

/// Names of rows keep at least that of their width.
const NAME: usize = 14;

/// Columns that a narrow terminal has no room for, the one that is missed least first.
const DISPENSABLE: [&str; 6] = ["rounds", "to cache", "sessions", "failed", "turns", "calls"];

/// What was counted; a table is no wider than that.
pub fn written(counter: &Counter, form: Form, width: Option<usize>) -> String {
    let (sums, total) = counter.sums();
    let word = counter.by.word();
    let mut text = String::new();
    // A `String` takes everything.
    let _ = match form {
        Form::Json => {
            let rows: Vec<Value> = sums.iter().map(|(name, sum)| object(Some((word, name)), sum)).collect();
            let all = json!({"by": word, "prices": counter.prices().source(), "rows": rows, "total": object(None, total)});
            writeln!(text, "{all:#}")
        }
        Form::Csv => {
            let _ = writeln!(text, "{word},{}", HEAD.join(","));
            for (name, sum) in sums {
                let _ = writeln!(text, "{},{}", quoted(name), plain(sum).join(","));
            }
            Ok(())
        }
        Form::Table => {
            text = table(counter, width.unwrap_or(usize::MAX));
            Ok(())
        }
    };
    text
}

impl By {
    /// Its name.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Session => "session",
            Self::Day => "day",
            Self::Week => "week",
            Self::Model => "model",
            Self::Tool => "tool",
            Self::Project => "project",
            Self::Agent => "agent",
        }
    }
}

fn plain(sum: &Sum) -> Vec<String> {
    let tokens = &sum.tokens;
    let counts = [
        sum.sessions.len() as u64,
        sum.turns,
        sum.rounds,
        sum.calls,
        sum.failed,
        sum.ms,
        tokens.input,
        tokens.cache_read,
        tokens.cache_write,
        tokens.output,
        tokens.reasoning,
    ];
    let mut plain: Vec<String> = counts.iter().map(u64::to_string).collect();
    plain.push(format!("{:.6}", sum.cost));
    plain.push(sum.unpriced.to_string());
    plain
}

fn object(name: Option<(&str, &str)>, sum: &Sum) -> Value {
    let mut object = serde_json::Map::new();
    if let Some((word, name)) = name {
        object.insert(word.to_owned(), name.into());
    }
    for (name, value) in HEAD.iter().zip(plain(sum)) {
        object.insert((*name).to_owned(), value.parse::<u64>().map_or_else(|_| json!(sum.cost), Value::from));
    }
    Value::Object(object)
}

/// A name as CSV has it. One that a spreadsheet would take for a formula is none.
fn quoted(name: &str) -> String {
    let name = if name.starts_with(['=', '+', '-', '@', '\t', '\r']) {
        format!("'{name}")
    } else {
        name.to_owned()
    };
    if name.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", name.replace('"', "\"\""))
    } else {
        name
    }
}

fn table(counter: &Counter, width: usize) -> String {
    let (sums, total) = counter.sums();
    let is_tools = counter.by == By::Tool;
    // What is counted together as one session is one.
    let dropped = usize::from(counter.by == By::Session);
    let head: &[&str] = if is_tools {
        &["calls", "failed", "time", "a call"]
    } else {
        &[
            "sessions", "turns", "rounds", "calls", "failed", "input", "cached", "to cache", "output", "cost",
        ][dropped..]
    };
    let cells = |sum: &Sum| -> Vec<String> {
        if is_tools {
            let each = sum.ms.checked_div(sum.calls).unwrap_or(0);
            return vec![number(sum.calls), number(sum.failed), duration(sum.ms), duration(each)];
        }
        let tokens = &sum.tokens;
        let counts = [sum.sessions.len() as u64, sum.turns, sum.rounds, sum.calls, sum.failed];
        let tokens = [tokens.input, tokens.cache_read, tokens.cache_write, tokens.output];
        let is_known = sum.unpriced == 0 || !sum.tokens.is_empty();
        let tokens = tokens.iter().map(|n| if is_known { number(*n) } else { "?".to_owned() });
        let counts = counts.iter().skip(dropped).map(|n| number(*n));
        let mut cells: Vec<String> = counts.chain(tokens).collect();
        cells.push(sum.cost());
        cells
    };
    let mut rows: Vec<(String, Vec<String>)> = vec![(counter.by.word().to_owned(), head.iter().map(|word| (*word).to_owned()).collect())];
    rows.extend(sums.iter().map(|(name, sum)| (visible(name).replace('\n', " "), cells(sum))));
    if sums.len() != 1 {
        rows.push(("total".to_owned(), cells(total)));
    }
    let left_out = narrow(&mut rows, width, counter.by == By::Project);
    let first = rows.iter().map(|(name, _)| name.width()).max().unwrap_or(0);
    let widths = widths(&rows);
    let mut text = String::new();
    for (name, cells) in rows {
        text.push_str(&name);
        text.extend(std::iter::repeat_n(' ', first - name.width()));
        for (cell, width) in cells.iter().zip(&widths) {
            text.extend(std::iter::repeat_n(' ', 2 + width - cell.width()));
            text.push_str(cell);
        }
        text.push('\n');
    }
    let mut notes = Vec::new();
    if !left_out.is_empty() {
        notes.push(format!("For want of room left out: {} (--json has them).", left_out.join(", ")));
    }
    match (is_tools, total.unpriced) {
        (true, _) => {}
        (false, 0) => notes.push(format!("Cost: what logs say; else {}.", counter.prices().source())),
        (false, n) => notes.push(format!(
            "Cost: what logs say; else {}. ?: of {n} replies or turns the price is not known.",
            counter.prices().source()
        )),
    }
    for (n, note) in notes.iter().enumerate() {
        text.push_str(if n == 0 { "\n" } else { "" });
        for line in wrapped(note, width) {
            text.push_str(line.trim_end());
            text.push('\n');
        }
    }
    text
}

/// How wide each column is.
fn widths(rows: &[(String, Vec<String>)]) -> Vec<usize> {
    let columns = rows.first().map_or(0, |(_, cells)| cells.len());
    (0..columns)
        .map(|at| rows.iter().map(|(_, cells)| cells[at].width()).max().unwrap_or(0))
        .collect()
}

/// Shortens names, of paths the beginning, and leaves out columns until all of it is no wider than that. Returns the columns' heads.
fn narrow(rows: &mut [(String, Vec<String>)], width: usize, paths: bool) -> Vec<String> {
    let room = |rows: &[(String, Vec<String>)]| width.saturating_sub(widths(rows).iter().map(|width| width + 2).sum());
    let name = rows.iter().map(|(name, _)| name.width()).max().unwrap_or(0);
    let mut left_out = Vec::new();
    for column in DISPENSABLE {
        if room(rows) >= name.min(NAME) {
            break;
        }
        if let Some(at) = rows[0].1.iter().position(|head| head == column) {
            left_out.push(rows[0].1[at].clone());
            rows.iter_mut().for_each(|(_, cells)| drop(cells.remove(at)));
        }
    }
    let room = room(rows).max(NAME);
    for (name, _) in rows.iter_mut().filter(|(name, _)| name.width() > room) {
        *name = if paths {
            let turned: String = name.chars().rev().collect();
            fitted(&turned, room).chars().rev().collect()
        } else {
            fitted(name, room)
        };
    }
    left_out
}
