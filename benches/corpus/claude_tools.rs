//! Claude Code's tools: names, inputs, the text that goes back to the model, and the object beside it.

use super::conversation::{Action, Session, file_text, hunk};
use super::json::{Json, list, map};

pub(super) fn name(action: &Action) -> &'static str {
    match action {
        Action::Read { .. } => "Read",
        Action::Shell { .. } => "Bash",
        Action::Search { .. } => "Grep",
        Action::Edit { .. } => "Edit",
        Action::Create { .. } => "Write",
        Action::Plan { .. } => "TodoWrite",
    }
}

/// The input as the model sends it.
pub(super) fn input<'a>(session: &Session, action: &'a Action) -> Json<'a> {
    let absolute = |path: &str| format!("{}/{path}", session.cwd);
    match action {
        Action::Read {
            path,
            first: 1,
            lines,
            total,
        } if lines.len() as u64 == *total => {
            map! { "file_path" => absolute(path) }
        }
        Action::Read { path, first, lines, .. } => {
            map! { "file_path" => absolute(path), "offset" => *first, "limit" => lines.len() as u64 }
        }
        Action::Shell { command, description, .. } => {
            map! { "command" => command.as_str(), "description" => description.as_str() }
        }
        Action::Search { pattern, path, .. } => {
            map! { "pattern" => pattern.as_str(), "path" => path.as_str(), "output_mode" => "content", "-n" => true }
        }
        Action::Edit { path, old, new, .. } => {
            map! { "file_path" => absolute(path), "old_string" => old.join("\n"), "new_string" => new.join("\n") }
        }
        Action::Create { path, content } => {
            map! { "file_path" => absolute(path), "content" => content.as_str() }
        }
        Action::Plan { tasks, done } => map! { "todos" => todos(tasks, *done) },
    }
}

/// The input as the assistant line shows it: defaults are filled in.
pub(super) fn filled_input<'a>(session: &Session, action: &'a Action) -> Json<'a> {
    let mut input = input(session, action);
    if let (Action::Edit { .. }, Json::Map(members)) = (action, &mut input) {
        members.insert(0, ("replace_all", Json::Bool(false)));
    }
    input
}

/// The result as the model reads it.
pub(super) fn content(session: &Session, action: &Action) -> String {
    match action {
        Action::Read { first, lines, total, .. } => {
            let mut text = String::new();
            for (n, line) in lines.iter().enumerate() {
                text.push_str(&format!("{}\t{line}\n", first + n as u64));
            }
            if lines.len() as u64 == *total {
                text.push_str(&format!("{}\t", total + 1));
            } else {
                text.pop();
            }
            text
        }
        Action::Shell { output, exit: 0, .. } => output.clone(),
        Action::Shell { output, exit, .. } => format!("Exit code {exit}\n{output}"),
        Action::Search { hits, .. } => {
            let lines: Vec<_> = hits.iter().map(|(path, number, line)| format!("{path}:{number}:{line}")).collect();
            lines.join("\n")
        }
        Action::Edit { path, .. } => format!("{}/{path} was changed.", session.cwd),
        Action::Create { path, .. } => format!("Made {}/{path}.", session.cwd),
        Action::Plan { .. } => "The list was changed.".to_owned(),
    }
}

/// The object beside the result, for programs; a string when the tool failed.
pub(super) fn structured<'a>(session: &Session, action: &'a Action) -> Json<'a> {
    let absolute = |path: &str| format!("{}/{path}", session.cwd);
    match action {
        Action::Read { path, first, lines, total } => {
            let whole = lines.len() as u64 == *total;
            let mut content = file_text(&[lines]);
            if !whole {
                content.pop();
            }
            let file = map! {
                "filePath" => absolute(path), "content" => content, "numLines" => lines.len() as u64 + u64::from(whole),
                "startLine" => *first, "totalLines" => total + 1,
            };
            map! { "type" => "text", "file" => file }
        }
        Action::Shell { output, exit: 0, .. } => map! {
            "stdout" => output.as_str(), "stderr" => "", "interrupted" => false, "isImage" => false, "noOutputExpected" => false,
        },
        Action::Shell { .. } => format!("Error: {}", content(session, action)).into(),
        Action::Search { hits, .. } => map! {
            "mode" => "content", "numFiles" => 0, "filenames" => list::<&str>([]), "content" => content(session, action),
            "numLines" => hits.len() as u64,
        },
        Action::Edit {
            path,
            before,
            old,
            new,
            after,
        } => {
            let patch = map! {
                "oldStart" => 1, "oldLines" => (before.len() + old.len() + after.len()) as u64,
                "newStart" => 1, "newLines" => (before.len() + new.len() + after.len()) as u64,
                "lines" => list(hunk(before, old, new, after)),
            };
            map! {
                "filePath" => absolute(path), "oldString" => old.join("\n"), "newString" => new.join("\n"),
                "originalFile" => file_text(&[before, old, after]), "structuredPatch" => list([patch]),
                "userModified" => false, "replaceAll" => false,
            }
        }
        Action::Create { path, content } => map! {
            "type" => "create", "filePath" => absolute(path), "content" => content.as_str(),
            "structuredPatch" => list::<&str>([]), "originalFile" => Json::Null, "userModified" => false,
        },
        Action::Plan { tasks, done } => {
            let old = if *done == 0 { list::<&str>([]) } else { todos(tasks, done - 1) };
            map! { "oldTodos" => old, "newTodos" => todos(tasks, *done) }
        }
    }
}

fn todos(tasks: &[String], done: usize) -> Json<'_> {
    list(tasks.iter().enumerate().map(|(n, task)| {
        let status = if n < done { "completed" } else { "pending" };
        map! { "content" => task.as_str(), "status" => status, "activeForm" => task.as_str() }
    }))
}
