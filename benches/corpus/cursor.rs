//! Cursor `stream-json` of the current generation (docs/cursor.md): thinking always in pieces, text in whole segments and,
//! with partial output, in pieces before them; a tool call as a started and a completed line. A turn is a run.

use super::Dialect;
use super::conversation::{Action, Call, Session, Turn, file_text, hunk};
use super::json::{Json, Style, Text, list, map, pieces, put};
use super::rng::Rng;

pub(super) struct Cursor {
    partial: bool,
    rng: Rng,
}

impl Cursor {
    pub(super) fn new(seed: u64, partial: bool) -> Self {
        Self {
            partial,
            rng: Rng::at(&[seed, 0xC502]),
        }
    }
}

impl Dialect for Cursor {
    fn turn(&mut self, session: &Session, turn: &Turn, out: &mut Vec<u8>) {
        put!(out; r#"{"type":"system","subtype":"init","apiKeySource":"login","cwd":""#,
            session.cwd);
        put!(out; r#"","session_id":""#, session.id,
            r#"","model":"Claude Opus 5.5","permissionMode":"default"}"#, "\n");
        put!(out; r#"{"type":"user","message":{"role":"user","content":[{"type":"text","text":"#,
            Text(&turn.prompt));
        put!(out; r#"}]},"session_id":""#, session.id, "\"}\n");
        for (n, round) in turn.rounds.iter().enumerate() {
            let at = round.start_ms + round.ttft_ms;
            if !round.thinking.is_empty() {
                for piece in pieces(&mut self.rng, &round.thinking, 10, 60) {
                    put!(out; r#"{"type":"thinking","subtype":"delta","text":"#, Text(piece));
                    stamp(session, at, out);
                }
                put!(out; r#"{"type":"thinking","subtype":"completed""#);
                stamp(session, at + 400, out);
            }
            let call_id = format!("{}-{n}-{}", turn.request_id, &round.message_id[10..14]);
            self.text(session, &round.text, at + 500, (!round.calls.is_empty()).then_some(&call_id), out);
            for call in &round.calls {
                tool(session, call, &call_id, at + 900, Half::Started, out);
            }
            for &place in &round.finished {
                tool(session, &round.calls[place], &call_id, at + 1500, Half::Completed, out);
            }
        }
        let whole: String = turn.rounds.iter().map(|round| round.text.as_str()).collect();
        let usage = turn.usage();
        put!(out; r#"{"type":"result","subtype":"success","duration_ms":"#, turn.duration_ms,
            r#","duration_api_ms":"#);
        put!(out; turn.duration_ms, r#","is_error":false,"result":"#, Text(&whole),
            r#","session_id":""#, session.id);
        put!(out; r#"","request_id":""#, turn.request_id, r#"","usage":{"inputTokens":"#,
            usage.input);
        put!(out; r#","outputTokens":"#, usage.output, r#","cacheReadTokens":"#, usage.cache_read);
        put!(out; r#","cacheWriteTokens":"#, usage.cache_write, "}}\n");
    }
}

impl Cursor {
    /// A segment: its pieces if they are wanted, then the whole, marked with the model call when tools follow.
    fn text(&mut self, session: &Session, text: &str, at_ms: u64, call_id: Option<&String>, out: &mut Vec<u8>) {
        if text.is_empty() {
            return;
        }
        let head = r#"{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"#;
        if self.partial {
            for piece in pieces(&mut self.rng, text, 4, 40) {
                put!(out; head, Text(piece), "}]}");
                stamp(session, at_ms, out);
            }
        }
        put!(out; head, Text(text), r#"}]},"session_id":""#, session.id, "\"");
        if let Some(call_id) = call_id {
            put!(out; r#","model_call_id":""#, *call_id, r#"","timestamp_ms":"#, at_ms);
        }
        put!(out; "}\n");
    }
}

/// Session and time, and the end of the line.
fn stamp(session: &Session, at_ms: u64, out: &mut Vec<u8>) {
    put!(out; r#","session_id":""#, session.id, r#"","timestamp_ms":"#, at_ms, "}\n");
}

#[derive(PartialEq)]
enum Half {
    Started,
    Completed,
}

fn tool(session: &Session, call: &Call, model_call_id: &str, at_ms: u64, half: Half, out: &mut Vec<u8>) {
    let id = format!("toolu_01{}", call.id);
    let (kind, args) = request(session, &call.action, &id);
    let word = if half == Half::Started { "started" } else { "completed" };
    put!(out; r#"{"type":"tool_call","subtype":""#, word, r#"","call_id":""#, id,
        r#"","tool_call":{""#, kind, r#"":{"args":"#);
    args.write(Style::COMPACT, out);
    if half == Half::Completed {
        put!(out; r#","result":"#);
        result(session, &call.action).write(Style::COMPACT, out);
    }
    if let Action::Shell { description, .. } = &call.action {
        put!(out; r#","description":"#, Text(description));
    }
    put!(out; r#"},"hookAdditionalContexts":[],"toolCallId":""#, id, r#"","startedAtMs":""#, at_ms);
    if half == Half::Completed {
        put!(out; r#"","completedAtMs":""#, at_ms + 300);
    }
    put!(out; r#""},"model_call_id":""#, model_call_id, "\"");
    stamp(session, at_ms, out);
}

fn request<'a>(session: &Session, action: &'a Action, id: &'a str) -> (&'static str, Json<'a>) {
    let absolute = |path: &str| format!("{}/{path}", session.cwd);
    match action {
        Action::Read {
            path,
            first: 1,
            lines,
            total,
        } if lines.len() as u64 == *total => ("readToolCall", map! { "path" => absolute(path) }),
        Action::Read { path, first, lines, .. } => (
            "readToolCall",
            map! { "path" => absolute(path), "offset" => *first, "limit" => lines.len() as u64 },
        ),
        Action::Shell { command, description, .. } => {
            let args = map! {
                "command" => command.as_str(), "workingDirectory" => "", "timeout" => 30_000, "toolCallId" => id,
                "simpleCommands" => list(command.split(' ').take(1)), "hasInputRedirect" => false,
                "hasOutputRedirect" => false, "fileOutputThresholdBytes" => "40000", "isBackground" => false,
                "skipApproval" => false, "timeoutBehavior" => "TIMEOUT_BEHAVIOR_BACKGROUND", "hardTimeout" => 86_400_000,
                "description" => description.as_str(), "closeStdin" => true, "conversationId" => session.id.clone(),
            };
            ("shellToolCall", args)
        }
        Action::Search { pattern, path, .. } => {
            let args = map! {
                "pattern" => pattern.as_str(), "path" => absolute(path), "caseInsensitive" => false, "multiline" => false,
                "toolCallId" => id, "offset" => 0,
            };
            ("grepToolCall", args)
        }
        Action::Edit { path, new, .. } => ("editToolCall", map! { "path" => absolute(path), "streamContent" => new.join("\n") }),
        Action::Create { path, content } => ("editToolCall", map! { "path" => absolute(path), "streamContent" => content.as_str() }),
        Action::Plan { tasks, done } => ("updateTodosToolCall", map! { "todos" => todos(tasks, *done), "merge" => *done > 0 }),
    }
}

fn result<'a>(session: &Session, action: &'a Action) -> Json<'a> {
    let absolute = |path: &str| format!("{}/{path}", session.cwd);
    match action {
        Action::Read { path, first, lines, total } => {
            let content = file_text(&[lines]);
            let end = first + lines.len() as u64;
            let size = content.len() as u64;
            let success = map! {
                "content" => content, "isEmpty" => false, "exceededLimit" => false, "totalLines" => total + 1,
                "fileSize" => size, "path" => absolute(path),
                "readRange" => map! { "startLine" => *first, "endLine" => end },
                "relatedCursorRulePaths" => list::<&str>([]), "relatedCursorRules" => list::<&str>([]),
            };
            map! { "success" => success }
        }
        Action::Shell { command, output, exit, .. } => {
            let (stdout, stderr) = if *exit == 0 { (output.as_str(), "") } else { ("", output.as_str()) };
            let mut members = vec![
                ("command", command.as_str().into()),
                ("workingDirectory", "".into()),
                ("exitCode", (*exit).into()),
                ("signal", "".into()),
                ("stdout", stdout.into()),
                ("stderr", stderr.into()),
                ("executionTime", 1230.into()),
                ("interleavedOutput", output.as_str().into()),
                ("localExecutionTimeMs", 264.into()),
            ];
            if *exit != 0 {
                members.push(("aborted", false.into()));
            }
            let key = if *exit == 0 { "success" } else { "failure" };
            Json::Map(vec![(key, Json::Map(members)), ("isBackground", false.into())])
        }
        Action::Search { pattern, path, hits } => {
            let found = hits.iter().map(|(path, number, line)| {
                let hit = map! {
                    "lineNumber" => *number, "content" => line.as_str(), "contentTruncated" => false, "isContextLine" => false,
                };
                map! { "file" => format!("./{path}"), "matches" => list([hit]) }
            });
            let content = map! {
                "matches" => list(found), "totalLines" => hits.len() as u64, "totalMatchedLines" => hits.len() as u64,
                "clientTruncated" => false, "ripgrepTruncated" => false,
            };
            let success = map! {
                "pattern" => pattern.as_str(), "path" => absolute(path), "outputMode" => "content",
                "workspaceResults" => map! { "/home/dev" => map! { "content" => content } },
            };
            map! { "success" => success }
        }
        Action::Edit {
            path,
            before,
            old,
            new,
            after,
        } => {
            let context = before.len() + after.len();
            let (was, is) = (context + old.len(), context + new.len());
            let lines: Vec<_> = hunk(before, old, new, after).collect();
            let path = absolute(path);
            let message = format!("The file {path} has been updated.");
            let success = map! {
                "path" => path.clone(), "linesAdded" => new.len() as u64, "linesRemoved" => old.len() as u64,
                "diffString" => format!("--- a/{path}\n+++ b/{path}\n@@ -1,{was} +1,{is} @@\n{}", lines.join("\n")),
                "beforeFullFileContent" => file_text(&[before, old, after]),
                "afterFullFileContent" => file_text(&[before, new, after]),
                "message" => message,
            };
            map! { "success" => success }
        }
        Action::Create { path, content } => {
            let path = absolute(path);
            let added: Vec<_> = content.lines().map(|line| format!("+{line}")).collect();
            let success = map! {
                "path" => path.clone(), "linesAdded" => added.len() as u64, "linesRemoved" => 0,
                "diffString" => format!("--- /dev/null\n+++ b/{path}\n@@ -1,0 +1,{} @@\n{}", added.len(), added.join("\n")),
                "afterFullFileContent" => content.as_str(), "message" => format!("Wrote contents to {path}"),
            };
            map! { "success" => success }
        }
        Action::Plan { tasks, done } => {
            let success = map! {
                "todos" => todos(tasks, *done), "totalCount" => tasks.len() as u64, "wasMerge" => *done > 0,
            };
            map! { "success" => success }
        }
    }
}

fn todos(tasks: &[String], done: usize) -> Json<'_> {
    list(tasks.iter().enumerate().map(|(n, task)| {
        let status = if n < done { "TODO_STATUS_COMPLETED" } else { "TODO_STATUS_PENDING" };
        map! {
            "id" => (n + 1).to_string(), "content" => task.as_str(), "status" => status, "createdAt" => "1795240800000",
            "updatedAt" => "1795240800000", "dependencies" => list::<&str>([]),
        }
    }))
}
