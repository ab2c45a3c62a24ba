//! Tricode `--stdio` lines: Python's spacing and key order, and `formatted` by the table of docs/tricode.md. A turn is a
//! run: later turns of a session are resumed. Only the last reply's text has a place.

use super::Dialect;
use super::conversation::{Action, Call, Session, Turn, file_text, hunk};
use super::json::{Json, Style, Text, list, map, put};
use super::rng::Rng;

pub(super) struct Tricode;

impl Dialect for Tricode {
    fn turn(&mut self, session: &Session, turn: &Turn, out: &mut Vec<u8>) {
        let greeting = if turn.number == 0 { "Session ID:" } else { "Resumed session" };
        put!(out; r#"{"type": "system", "message": ""#, greeting, " ", session.short_id, "\"}\n");
        let mut number = 0;
        let mut round = |out: &mut Vec<u8>| {
            number += 1;
            put!(out; r#"{"type": "round", "number": "#, number as u64, "}\n");
        };
        let planned = turn.calls().next().is_some_and(|call| matches!(call.action, Action::Plan { .. }));
        if turn.calls().next().is_some() && !planned {
            // The program refuses every other tool before a decision about a plan.
            round(out);
            let arguments = map! { "action" => "skip", "reason" => "simple task" };
            let said = "Plan skipped: simple task";
            pair("plan", &arguments, "PLAN SKIP", true, said, said, out);
        }
        for reply in &turn.rounds {
            round(out);
            for call in &reply.calls {
                tool(session, call, out);
            }
        }
        put!(out; r#"{"type": "final", "content": "#, Text(turn.answer()), "}\n");
    }
}

fn tool(session: &Session, call: &Call, out: &mut Vec<u8>) {
    let (name, arguments, called) = request(&call.action);
    let (result, answered) = answer(session, call);
    pair(name, &arguments, &called, !call.action.failed(), &result, &answered, out);
}

fn pair(name: &str, arguments: &Json, called: &str, success: bool, result: &str, answered: &str, out: &mut Vec<u8>) {
    put!(out; r#"{"type": "tool_call", "name": ""#, name, r#"", "arguments": "#);
    arguments.write(Style::SPACED, out);
    put!(out; r#", "formatted": "#, Text(called), "}\n");
    put!(out; r#"{"type": "tool_result", "name": ""#, name, r#"", "success": "#,
        if success { "true" } else { "false" });
    put!(out; r#", "result": "#, Text(result), r#", "formatted": "#, Text(answered), "}\n");
}

/// Name, arguments and `formatted` of a call.
fn request(action: &Action) -> (&'static str, Json<'_>, String) {
    match action {
        Action::Read {
            path,
            first: 1,
            lines,
            total,
        } if lines.len() as u64 == *total => ("read_file", map! { "path" => path.as_str() }, format!("READ(\"{path}\")")),
        Action::Read { path, first, lines, .. } => {
            let end = first + lines.len() as u64 - 1;
            let arguments = map! { "path" => path.as_str(), "start_line" => *first, "end_line" => end };
            ("read_file", arguments, format!("READ(\"{path}\", start={first}, end={end})"))
        }
        Action::Shell { command, .. } => ("run_command", map! { "command" => command.as_str() }, format!("RUN({command})")),
        Action::Search { pattern, path, .. } => {
            let arguments = map! { "pattern" => pattern.as_str(), "path" => path.as_str() };
            ("search_context", arguments, format!("SEARCH(pattern=\"{pattern}\", path=\"{path}\")"))
        }
        Action::Edit { path, old, new, .. } => {
            let anchor = map! { "type" => "exact", "pattern" => old.join("\n") };
            let hunk = map! { "op" => "replace", "anchor" => anchor, "content" => new.join("\n") };
            let arguments = map! { "path" => path.as_str(), "hunks" => list([hunk]) };
            ("edit_file", arguments, format!("EDIT(\"{path}\", hunks=1)"))
        }
        Action::Create { path, content } => {
            let arguments = map! { "path" => path.as_str(), "content" => content.as_str() };
            ("create_file", arguments, format!("CREATE(\"{path}\")"))
        }
        Action::Plan { tasks, done: 0 } => {
            let tasks = list(tasks.iter().map(String::as_str));
            ("plan", map! { "action" => "create", "tasks" => tasks }, "PLAN CREATE".to_owned())
        }
        Action::Plan { done, .. } => {
            let arguments = map! { "action" => "update", "task_id" => *done as u64, "status" => "completed" };
            ("plan", arguments, "PLAN UPDATE".to_owned())
        }
    }
}

/// Text and `formatted` of a result.
fn answer(session: &Session, call: &Call) -> (String, String) {
    let newlines = |text: &str| text.bytes().filter(|&byte| byte == b'\n').count();
    match &call.action {
        Action::Read { first, lines, .. } => {
            let numbered = lines.iter().enumerate().map(|(n, line)| format!("{}: {line}\n", first + n as u64));
            let text: String = numbered.collect();
            (text, format!("[OK] read {} lines", lines.len()))
        }
        Action::Shell { output, exit: 0, .. } => {
            let text = format!("{output}\n");
            let formatted = format!("[OK] {} lines output", newlines(&text));
            (text, formatted)
        }
        Action::Shell { output, exit, .. } => {
            let text = format!("Exit code {exit}\n[stderr]\n{output}\n");
            let formatted = format!("[FAIL] {text}");
            (text, formatted)
        }
        Action::Search { hits, .. } => {
            let found = hits
                .iter()
                .map(|(path, number, line)| format!("{}/{path}:{number}:{line}\n", session.cwd));
            let text: String = found.collect();
            let formatted = format!("[OK] {} results", newlines(&text));
            (text, formatted)
        }
        Action::Edit {
            path,
            before,
            old,
            new,
            after,
        } => {
            let formatted = format!("[OK] edited (+{} / -{}) lines", new.len(), old.len());
            // Digests of nothing in particular: readers can only compare them.
            let mut rng = Rng::at(&call.id.bytes().map(u64::from).collect::<Vec<_>>());
            let context = before.len() + after.len();
            let (was, is) = (context + old.len(), context + new.len());
            let lines: String = hunk(before, old, new, after).map(|line| line + "\n").collect();
            let from = before.len() as u64 + 1;
            let matched = map! {
                "op" => "replace", "start_line" => from, "end_line" => from + old.len() as u64 - 1,
                "anchor_snippet" => file_text(&[old]),
            };
            let result = map! {
                "success" => true, "path" => format!("{}/{path}", session.cwd), "applied" => true, "mode" => "patch",
                "hunks_applied" => 1, "matches" => list([matched]), "sha256_before" => rng.hex(64),
                "sha256_after" => rng.hex(64),
                "diff" => format!("--- a/{path}\n+++ b/{path}\n@@ -1,{was} +1,{is} @@\n{lines}"),
            };
            (result.text(Style::SPACED), formatted)
        }
        Action::Create { path, content } => {
            let formatted = format!("[OK] created {} lines", newlines(content) + 1);
            (format!("Successfully created {}/{path}", session.cwd), formatted)
        }
        Action::Plan { tasks, done } => {
            let mut text = String::from("↳ ");
            for (n, task) in tasks.iter().enumerate() {
                let colour = if n < *done { 32 } else { 31 };
                text.push_str(if n > 0 { "\n  " } else { "" });
                text.push_str(&format!("- \u{1b}[{colour}m{task}\u{1b}[0m"));
            }
            (text.clone(), text)
        }
    }
}
