//! Tokens.

use super::Rule;
use super::report::{Line, Report};
use crate::json::{Raw, Shape};

/// Looks at the counts in the objects that stand at `places`, which are JSON pointers.
pub(super) fn look(value: Raw<'_>, places: &[&str], line: &mut Line<'_>, report: &mut Report) {
    let mut looked = ("", false);
    for place in places {
        // Most lines have none: that is told without reading them.
        let name = place.rsplit('/').find(|step| *step != "*").unwrap_or_default();
        if looked.0 != name {
            looked = (name, memchr::memmem::find(value.as_str().as_bytes(), name.as_bytes()).is_some());
        }
        if !looked.1 {
            continue;
        }
        at(value, place.trim_start_matches('/'), line, report);
    }
}

/// Looks at the counts below a value; a step `*` is each element of a list.
fn at(value: Raw<'_>, path: &str, line: &mut Line<'_>, report: &mut Report) {
    let (step, rest) = path.split_once('/').unwrap_or((path, ""));
    match step {
        "" => counts(value, None, 0, line, report),
        "*" => value.elements().for_each(|element| at(element, rest, line, report)),
        _ => value.get(step).into_iter().for_each(|value| at(value, rest, line, report)),
    }
}

/// Whether a member of that name counts tokens, whatever the dialect.
fn is_count(name: &str) -> bool {
    // The others are the model's own names, and those of lists of tokens.
    let own = [
        "input",
        "output",
        "reasoning",
        "thoughts",
        "prompt",
        "candidates",
        "cached",
        "cache_read",
        "cache_write",
        "total",
    ];
    name.ends_with("okens") || name.ends_with("okenCount") || own.contains(&name)
}

fn counts(value: Raw<'_>, name: Option<&str>, depth: u32, line: &mut Line<'_>, report: &mut Report) {
    const DEEP: u32 = 8;
    let wrong = match value.shape() {
        Some(Shape::Object) if depth < DEEP => {
            for (key, value) in value.members() {
                counts(value, Some(key.as_escaped()), depth + 1, line, report);
            }
            return;
        }
        Some(Shape::Number) if value.as_str().starts_with('-') => value.f64().is_none_or(|n| n < 0.0),
        Some(Shape::Number) => name.is_some_and(is_count) && value.f64().is_none_or(|n| n.fract() != 0.0),
        None | Some(Shape::Null) => false,
        Some(Shape::Object | Shape::Array) => false,
        Some(_) => name.is_none_or(is_count),
    };
    if wrong {
        let what = name.unwrap_or("usage");
        let said: String = value.as_str().chars().take(40).collect();
        report.find(Rule::InvalidUsage, line.place(value.as_str()), format!("{what} is {said}"));
    }
}
