//! How numbers, times and outcomes are said, whatever shows them.

use std::borrow::Cow;
use std::fmt::Write as _;

use agentglot_adapters::events::{OutcomeKind, Scope, Time, Usage};
use chrono::{DateTime, Local};

use super::row::Ended;
use crate::io::visible;

/// A text of a log as it may be shown: colours of terminals are taken out, what else is not to be seen is written as what it is.
pub(crate) fn shown(text: &str) -> Cow<'_, str> {
    if !text.contains(['\u{1b}', '\r']) {
        return visible(text);
    }
    let text = text.replace("\r\n", "\n");
    let mut plain = String::with_capacity(text.len());
    let mut rest = &*text;
    while let Some(at) = rest.find("\u{1b}[") {
        let codes = &rest[at + 2..];
        let end = codes.find(|c: char| !c.is_ascii_digit() && c != ';' && c != ':').unwrap_or(codes.len());
        let is_colour = codes[end..].starts_with('m');
        plain.push_str(&rest[..if is_colour { at } else { at + 2 }]);
        rest = if is_colour { &codes[end + 1..] } else { codes };
    }
    plain.push_str(rest);
    Cow::Owned(visible(&plain).into_owned())
}

/// The first line of a text, and how many there are behind it.
pub(crate) fn first_line(text: &str) -> (&str, usize) {
    let text = text.trim();
    match text.split_once('\n') {
        Some((first, rest)) => (first.trim_end(), rest.lines().count()),
        None => (text, 0),
    }
}

/// `1 line`, `2 lines`.
pub(crate) fn counted(n: usize, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

/// `850 ms`, `4.2 s`, `3 min 20 s`, `2 h 05 min`.
pub(crate) fn duration(ms: u64) -> String {
    match ms {
        0..1000 => format!("{ms} ms"),
        1000..60_000 => format!("{}.{} s", ms / 1000, ms % 1000 / 100),
        60_000..3_600_000 => format!("{} min {:02} s", ms / 60_000, ms / 1000 % 60),
        _ => format!("{} h {:02} min", ms / 3_600_000, ms / 60_000 % 60),
    }
}

/// `1,234,567`.
pub(crate) fn number(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::with_capacity(digits.len() * 4 / 3);
    for (at, digit) in digits.char_indices() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `1,234 tokens in (1,000 cached), 56 out (30 thinking)`.
pub(crate) fn tokens(usage: &Usage) -> Option<String> {
    if !is_known(usage) {
        return None;
    }
    let mut text = String::new();
    if let Some(input) = usage.prompt_tokens() {
        // A `String` takes everything.
        let _ = write!(text, "{} tokens in", number(input));
        if let Some(cached) = usage.cache_read.filter(|cached| *cached > 0) {
            let _ = write!(text, " ({} cached)", number(cached));
        }
    }
    if let Some(output) = usage.written_tokens() {
        let comma = if text.is_empty() { "" } else { ", " };
        let _ = write!(text, "{comma}{} out", number(output));
        if let Some(thought) = usage.reasoning_tokens().filter(|thought| *thought > 0) {
            let _ = write!(text, " ({} thinking)", number(thought));
        }
    }
    (!text.is_empty()).then_some(text)
}

/// Whether tokens were counted: a program that is told of none writes zeros.
pub(crate) fn is_known(usage: &Usage) -> bool {
    [usage.prompt_tokens(), usage.output, usage.total]
        .into_iter()
        .flatten()
        .any(|count| count > 0)
}

/// What a turn has cost, where the log says it: not where nothing was counted that could cost something.
pub(crate) fn cost(ended: &Ended<'_>) -> Option<f64> {
    let cost = ended.outcome?.cost_usd.as_ref()?.to_f64()?;
    (cost != 0.0 || ended.usage.is_some_and(is_known)).then_some(cost)
}

/// `$0.0123`, `$12.34`.
pub(crate) fn money(dollars: f64) -> String {
    if dollars != 0.0 && dollars.abs() < 1.0 {
        format!("${dollars:.4}")
    } else {
        format!("${dollars:.2}")
    }
}

/// The day and the time of day: local, or of Greenwich.
pub(crate) fn clock(time: &Time, utc: bool) -> Option<String> {
    clock_of(time.millis()?, utc)
}

/// That of milliseconds since 1970.
pub(crate) fn clock_of(millis: i64, utc: bool) -> Option<String> {
    let time = DateTime::from_timestamp_millis(millis)?;
    let format = "%Y-%m-%d %H:%M:%S";
    Some(if utc {
        time.format(format).to_string()
    } else {
        time.with_timezone(&Local).format(format).to_string()
    })
}

/// How a turn ended: one word or two, and what went wrong.
pub(crate) fn outcome(ended: &Ended<'_>) -> (String, Option<String>) {
    let Some(outcome) = ended.outcome else {
        return ("no outcome".to_owned(), None);
    };
    let word = match outcome.kind {
        OutcomeKind::Success => "done".to_owned(),
        kind => kind.as_str().replace('_', " "),
    };
    let why = outcome.error.clone().filter(|why| !why.is_empty());
    // A log that keeps no outcomes does not break off either.
    let open = outcome.synthetic && outcome.kind != OutcomeKind::Success;
    (
        if open {
            format!("{word} (the log does not say how it ended)")
        } else {
            word
        },
        why,
    )
}

/// What a turn has cost, besides how it ended.
pub(crate) fn figures(ended: &Ended<'_>) -> Vec<String> {
    let mut figures: Vec<String> = ended.ms.map(duration).into_iter().collect();
    figures.extend(ended.usage.and_then(tokens));
    if let Some(outcome) = ended.outcome
        && let Some(cost) = cost(ended)
    {
        let scope = if outcome.cost_scope == Scope::Session { " in the session" } else { "" };
        figures.push(format!("{}{scope}", money(cost)));
    }
    figures
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_go_and_the_rest_is_to_be_seen() {
        assert_eq!(shown("a\u{1b}[1;31mred\u{1b}[0m b\r\nc"), "ared b\nc");
        assert_eq!(shown("\u{1b}[2J\u{1b}]0;t\u{7}\u{202e}x"), "\\u{1b}[2J\\u{1b}]0;t\\u{7}\\u{202e}x");
        assert_eq!(shown("50%\rdone"), "50%\\u{d}done");
    }

    #[test]
    fn numbers_are_said_as_people_read_them() {
        assert_eq!(
            [0, 1, 2].map(|n| counted(n, "more line")),
            ["0 more lines", "1 more line", "2 more lines"]
        );
        assert_eq!(
            [number(0), number(999), number(1000), number(1_234_567)],
            ["0", "999", "1,000", "1,234,567"]
        );
        assert_eq!(
            [duration(850), duration(4_230), duration(200_000), duration(7_500_000)],
            ["850 ms", "4.2 s", "3 min 20 s", "2 h 05 min"]
        );
        assert_eq!([money(0.0), money(0.01234), money(12.25)], ["$0.00", "$0.0123", "$12.25"]);
    }
}
