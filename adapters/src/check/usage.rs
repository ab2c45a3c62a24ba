//! Tokens.

use super::Rule;
use super::report::{Line, Report};
use crate::json::{Raw, Shape};

/// Looks at the counts in the objects that stand at `places`, which are JSON pointers.
pub(super) fn look(value: Raw<'_>, places: &[&str], line: &mut Line<'_>, report: &mut Report) {
    let mut looked = ("", false);
    for place in places {
        // Most lines have none: that is told without reading them.
        let name = place.rsplit('/').next().unwrap_or_default();
        if looked.0 != name {
            looked = (name, memchr::memmem::find(value.as_str().as_bytes(), name.as_bytes()).is_some());
        }
        if !looked.1 {
            continue;
        }
        let mut at = Some(value);
        for step in place.split('/').skip(1) {
            at = at.and_then(|value| value.get(step));
        }
        if let Some(usage) = at {
            counts(usage, None, 0, line, report);
        }
    }
}

/// Whether a member of that name counts tokens, whatever the dialect.
fn is_count(name: &str) -> bool {
    // The others are the model's own names, and those of lists of tokens.
    name.ends_with("okens") || name.ends_with("okenCount") || matches!(name, "input" | "output" | "cached" | "cache_read" | "cache_write" | "total")
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
        Some(Shape::Number) if value.as_str().starts_with('-') => value.f64().is_some_and(|n| n < 0.0),
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
