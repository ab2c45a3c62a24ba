//! How Claude Code says that something is wrong.
//!
//! What is found out before a tool runs stands in `<tool_use_error>`, what goes wrong in it does not; `tool_use_result` is in both cases
//! `Error: ` and the plain text (recorded: `cli_toolerr`, `cli_badtool`). Of arguments it is the list of what is wrong as zod gives it
//! (`cli_badinput`).

use std::path::Path;

use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::persona::shared::args::{Step, What, Wrong};
use crate::tools::{Given, Spec, list};
use crate::workspace::{Fault, Wall};
use agentglot_adapters::raw::event::DetailShape;

/// A call that cannot be made.
pub(in crate::persona) fn refused(text: &str) -> Given {
    let words = text.strip_prefix("Error: ").unwrap_or(text);
    Given::error(format!("<tool_use_error>{text}</tool_use_error>")).with(DetailShape::Claude, format!("Error: {words}").into())
}

/// A call that failed.
pub(in crate::persona) fn failed(text: &str) -> Given {
    Given::error(text).with(DetailShape::Claude, format!("Error: {text}").into())
}

/// A file operation that failed, in Node's words where the real program hands those on.
pub(in crate::persona) fn fault(fault: &Fault, wall: &Wall) -> Given {
    failed(&match fault {
        Fault::Missing(path) => missing(path, wall),
        Fault::Folder(path) => format!("EISDIR: illegal operation on a directory, read '{}'", path.display()),
        Fault::Denied(path) => format!("EACCES: permission denied, open '{}'", path.display()),
        other => other.to_string(),
    })
}

/// There is no such file; one beside it that differs behind the last dot may be meant.
pub(in crate::persona) fn missing(path: &Path, wall: &Wall) -> String {
    let said = format!("File does not exist. Note: your current working directory is {}.", wall.root().display());
    match alike(path, wall) {
        Some(name) => format!("{said} Did you mean {name}?"),
        None => said,
    }
}

/// So many names of a folder are looked at.
const MOST_NAMES: usize = 10_000;

fn alike(path: &Path, wall: &Wall) -> Option<String> {
    let (folder, stem) = (path.parent()?, path.file_stem()?);
    let wanted = list::Asked {
        hidden: true,
        ignored: true,
        depth: 1,
        most: MOST_NAMES,
        ..list::Asked::default()
    };
    let found = list::list(&wall.locate(folder).ok()?, &wanted, &CancellationToken::new()).ok()?;
    let names = found
        .entries
        .iter()
        .map(|entry| &entry.path)
        .filter(|name| name.file_stem() == Some(stem));
    Some(names.min()?.display().to_string())
}

/// A member of arguments that were checked.
pub(in crate::persona) fn text<'v>(arguments: &'v Value, name: &str) -> &'v str {
    arguments[name].as_str().unwrap_or_default()
}

/// The result of a call whose arguments do not fit.
pub(in crate::persona) fn invalid(spec: &Spec, wrong: &[Wrong]) -> Given {
    // What is missing comes first, then what nobody expected.
    let mut lines: Vec<(u8, String)> = Vec::new();
    for wrong in wrong {
        let path = path(&wrong.path);
        match &wrong.what {
            What::Missing(_) => lines.push((0, format!("The required parameter `{path}` is missing"))),
            What::Unexpected(names) => {
                lines.extend(names.iter().map(|name| (1, format!("An unexpected parameter `{name}` was provided"))));
            }
            What::Type(expected, is) => lines.push((
                2,
                format!("The parameter `{path}` type is expected as `{expected}` but provided as `{is}`"),
            )),
            What::Choice(_) | What::Small(_) => lines.push((2, format!("The parameter `{path}` is invalid: {}", message(&wrong.what)))),
        }
    }
    lines.sort_by_key(|(rank, _)| *rank);
    let issues = if lines.len() == 1 { "issue" } else { "issues" };
    let lines: Vec<String> = lines.into_iter().map(|(_, line)| line).collect();
    let text = format!(
        "InputValidationError: {} failed due to the following {issues}:\n{}",
        spec.name,
        lines.join("\n")
    );
    let all: Value = wrong.iter().map(issue).collect();
    // A value that was made here can be written.
    let all = serde_json::to_string_pretty(&all).unwrap_or_default();
    Given::error(format!("<tool_use_error>{text}</tool_use_error>")).with(DetailShape::Claude, format!("InputValidationError: {all}").into())
}

fn path(steps: &[Step]) -> String {
    let mut path = String::new();
    for step in steps {
        match step {
            Step::Member(name) if path.is_empty() => path.push_str(name),
            Step::Member(name) => path.push_str(&format!(".{name}")),
            Step::Element(n) => path.push_str(&format!("[{n}]")),
        }
    }
    path
}

fn issue(wrong: &Wrong) -> Value {
    let path: Value = wrong
        .path
        .iter()
        .map(|step| match step {
            Step::Member(name) => Value::from(name.as_str()),
            Step::Element(n) => Value::from(*n),
        })
        .collect();
    let message = message(&wrong.what);
    match &wrong.what {
        What::Missing(expected) | What::Type(expected, _) => {
            json!({"expected": zod(expected), "code": "invalid_type", "path": path, "message": message})
        }
        What::Choice(choice) => json!({"code": "invalid_value", "values": choice, "path": path, "message": message}),
        What::Small(least) => json!({"origin": "number", "code": "too_small", "minimum": least, "inclusive": true, "path": path, "message": message}),
        What::Unexpected(names) => json!({"code": "unrecognized_keys", "keys": names, "path": path, "message": message}),
    }
}

fn message(what: &What) -> String {
    match what {
        What::Missing(expected) => format!("Invalid input: expected {}, received undefined", zod(expected)),
        What::Type(expected, is) => format!("Invalid input: expected {}, received {is}", zod(expected)),
        What::Choice(choice) => {
            let choice: Vec<String> = choice.iter().map(Value::to_string).collect();
            format!("Invalid option: expected one of {}", choice.join("|"))
        }
        What::Small(least) => format!("Too small: expected number to be >={least}"),
        What::Unexpected(names) => {
            let keys: Vec<String> = names.iter().map(|name| format!("\"{name}\"")).collect();
            format!("Unrecognized key{}: {}", if keys.len() == 1 { "" } else { "s" }, keys.join(", "))
        }
    }
}

fn zod(expected: &str) -> &str {
    if expected == "integer" { "number" } else { expected }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::message::Part;
    use crate::persona::shared::args::check;
    use agentglot_adapters::raw::event::ToolKind;

    #[test]
    fn wrong_arguments_are_told_as_recorded() {
        let spec = Spec {
            name: "Read".into(),
            description: String::new(),
            schema: json!({"type": "object", "properties": {"file_path": {"type": "string"}}, "required": ["file_path"], "additionalProperties": false}),
            kind: ToolKind::Read,
            reads_only: true,
            ..Spec::default()
        };
        let given = invalid(&spec, &check(&spec.schema, &json!({"path_is_wrong": 1})).expect_err("wrong"));
        let text = "<tool_use_error>InputValidationError: Read failed due to the following issues:\nThe required parameter `file_path` is missing\nAn unexpected parameter `path_is_wrong` was provided</tool_use_error>";
        assert_eq!(given.content, [Part::Text(text.into())]);
        let detail = "InputValidationError: [\n  {\n    \"expected\": \"string\",\n    \"code\": \"invalid_type\",\n    \"path\": [\n      \"file_path\"\n    ],\n    \"message\": \"Invalid input: expected string, received undefined\"\n  },\n  {\n    \"code\": \"unrecognized_keys\",\n    \"keys\": [\n      \"path_is_wrong\"\n    ],\n    \"path\": [],\n    \"message\": \"Unrecognized key: \\\"path_is_wrong\\\"\"\n  }\n]";
        assert_eq!(given.detail, Some((DetailShape::Claude, detail.into())));
    }
}
