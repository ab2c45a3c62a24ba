//! How OpenCode says things: what the model reads, and beside it what the program knows (`metadata`).

use serde_json::Value;

use crate::persona::shared::args::{Step, What, Wrong};
use crate::tools::{Given, Spec};
use crate::workspace::Fault;
use agentglot_adapters::raw::event::DetailShape;

/// It went well. `metadata` is an object.
pub(super) fn said(text: impl Into<String>, mut metadata: Value, truncated: bool) -> Given {
    metadata["truncated"] = truncated.into();
    Given::text(text).with(DetailShape::Opencode, metadata)
}

/// The result of a call whose arguments do not fit: the first thing that is wrong.
pub(super) fn invalid(spec: &Spec, wrong: &[Wrong]) -> Given {
    let why = wrong.first().map(issue).unwrap_or_default();
    Given::error(format!(
        "The {} tool was called with invalid arguments: SchemaError({why}).\nPlease rewrite the input so it satisfies the expected schema.",
        spec.name
    ))
}

fn issue(wrong: &Wrong) -> String {
    let what = match &wrong.what {
        What::Missing(_) => "Missing key".to_owned(),
        What::Type(expected, is) => format!("Expected {expected}, got {is}"),
        What::Choice(choice) => {
            let choice: Vec<String> = choice.iter().map(Value::to_string).collect();
            format!("Expected {}", choice.join(" | "))
        }
        What::Small(least) => format!("Expected a value greater than or equal to {least}"),
        What::Unexpected(names) => format!("Unexpected key {}", names.join(", ")),
    };
    let step = |step: &Step| match step {
        Step::Member(name) => format!("[{}]", Value::from(name.as_str())),
        Step::Element(n) => format!("[{n}]"),
    };
    let place: String = wrong.path.iter().map(step).collect();
    format!("{what}\n  at {place}")
}

/// A file operation that failed.
pub(super) fn fault(fault: &Fault) -> Given {
    Given::error(match fault {
        Fault::Missing(path) => format!("File not found: {}", path.display()),
        Fault::Folder(path) => format!("Path is a directory, not a file: {}", path.display()),
        other => other.to_string(),
    })
}
