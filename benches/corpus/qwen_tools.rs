//! Qwen's tools, in the spelling of Qwen Code; the RFC's dialect uses the same.

use super::conversation::{Action, Session, file_text};
use super::json::{Json, list, map};

pub(super) fn name(action: &Action) -> &'static str {
    match action {
        Action::Read { .. } => "read_file",
        Action::Shell { .. } => "run_shell_command",
        Action::Search { .. } => "grep_search",
        Action::Edit { .. } => "edit",
        Action::Create { .. } => "write_file",
        Action::Plan { .. } => "todo_write",
    }
}

pub(super) fn arguments<'a>(session: &Session, action: &'a Action) -> Json<'a> {
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
            map! { "file_path" => absolute(path), "offset" => first - 1, "limit" => lines.len() as u64 }
        }
        Action::Shell { command, description, .. } => {
            map! { "command" => command.as_str(), "description" => description.as_str(), "is_background" => false }
        }
        Action::Search { pattern, path, .. } => {
            map! { "pattern" => pattern.as_str(), "path" => path.as_str() }
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

/// The result as the model reads it.
pub(super) fn content(session: &Session, action: &Action) -> String {
    match action {
        Action::Read { lines, .. } => file_text(&[lines]),
        Action::Shell { output, exit: 0, .. } => output.clone(),
        Action::Shell { command, output, exit, .. } => {
            format!("Command: {command}\nDirectory: (root)\nOutput: {output}\nError: (none)\nExit Code: {exit}\nSignal: (none)")
        }
        Action::Search { pattern, hits, .. } => {
            let mut text = format!("{} matches of \"{pattern}\":\n---", hits.len());
            for (path, number, line) in hits {
                text.push_str(&format!("\nFile: {path}\nL{number}: {line}\n---"));
            }
            text
        }
        Action::Edit {
            path, before, new, after, ..
        } => {
            format!(
                "{}/{path} was changed and reads now:\n\n{}",
                session.cwd,
                file_text(&[before, new, after])
            )
        }
        Action::Create { path, .. } => format!("Made {}/{path}.", session.cwd),
        Action::Plan { .. } => "The list was changed.".to_owned(),
    }
}

/// The list of tasks with their state, as arguments and as `result_display`.
pub(super) fn todos(tasks: &[String], done: usize) -> Json<'_> {
    list(tasks.iter().enumerate().map(|(n, task)| {
        let status = if n < done { "completed" } else { "pending" };
        map! { "id" => (n + 1).to_string(), "content" => task.as_str(), "status" => status }
    }))
}
