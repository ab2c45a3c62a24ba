//! What was counted, as a table, as JSON or as CSV.

use std::fmt::Write as _;

use serde_json::{Value, json};
use unicode_width::UnicodeWidthStr;

use super::{By, Counter, Sum};
use crate::io::visible;
use crate::show::{duration, money, number};

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

/// What was counted.
pub fn written(counter: &Counter, form: Form) -> String {
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
            text = table(counter);
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

fn table(counter: &Counter) -> String {
    let (sums, total) = counter.sums();
    let is_tools = counter.by == By::Tool;
    let head: &[&str] = if is_tools {
        &["calls", "failed", "time", "a call"]
    } else {
        &[
            "sessions", "turns", "rounds", "calls", "failed", "input", "cached", "to cache", "output", "cost",
        ]
    };
    let cells = |sum: &Sum| -> Vec<String> {
        if is_tools {
            let each = sum.ms.checked_div(sum.calls).unwrap_or(0);
            return vec![number(sum.calls), number(sum.failed), duration(sum.ms), duration(each)];
        }
        let tokens = &sum.tokens;
        let mut cost = if sum.cost == 0.0 && sum.unpriced > 0 {
            String::new()
        } else {
            money(sum.cost)
        };
        if sum.unpriced > 0 {
            cost.push('?');
        }
        let counts = [sum.sessions.len() as u64, sum.turns, sum.rounds, sum.calls, sum.failed];
        let tokens = [tokens.input, tokens.cache_read, tokens.cache_write, tokens.output];
        let mut cells: Vec<String> = counts.iter().chain(&tokens).map(|n| number(*n)).collect();
        cells.push(cost);
        cells
    };
    let mut rows: Vec<(String, Vec<String>)> = vec![(counter.by.word().to_owned(), head.iter().map(|word| (*word).to_owned()).collect())];
    rows.extend(sums.iter().map(|(name, sum)| (visible(name).replace('\n', " "), cells(sum))));
    if sums.len() != 1 {
        rows.push(("total".to_owned(), cells(total)));
    }
    let widths: Vec<usize> = (0..head.len())
        .map(|at| rows.iter().map(|(_, cells)| cells[at].width()).max().unwrap_or(0))
        .collect();
    let first = rows.iter().map(|(name, _)| name.width()).max().unwrap_or(0);
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
    // A `String` takes everything.
    let _ = match (is_tools, total.unpriced) {
        (true, _) => Ok(()),
        (false, 0) => writeln!(text, "\nCost: what logs say; else {}.", counter.prices().source()),
        (false, n) => writeln!(
            text,
            "\nCost: what logs say; else {}. ?: of {n} replies or turns the price is not known.",
            counter.prices().source()
        ),
    };
    text
}
