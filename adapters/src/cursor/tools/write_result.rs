//! Results: one object beside the call, `success` with what its kind of tool says, or why there was none (docs/cursor.md).
//!
//! What cannot be typed is `{"success":{"content":TEXT}}`, as the result of a function is.

use super::args::write_todos;
use crate::event::{Detail, DetailShape, ResultStatus, ToolResult};
use crate::json::Str;
use crate::tools::args::{Args, Grep, Shell};
use crate::tools::diff::DiffStyle;
use crate::tools::json::Json;
use crate::tools::lines::{Piece, pieces};
use crate::tools::output::{FileChange, FileRead, ShellRun, ToolOutput};
use crate::tools::result::Answer;

pub(super) fn result<'a>(answer: &Answer<'_, 'a>) -> Option<ToolResult<'a>> {
    let source = answer.result.detail.map_or(0, |detail| detail.raw.as_str().len());
    let mut json = Json::with_room(2 * answer.text.as_escaped().len().max(source), answer.arena);
    json.mark('{');
    match answer.result.status {
        ResultStatus::Success => success(&mut json, answer),
        ResultStatus::Denied => rejected(&mut json, answer),
        ResultStatus::Error | ResultStatus::Canceled => failed(&mut json, answer),
    }
    json.mark('}');
    Some(ToolResult {
        detail: Some(Detail {
            shape: DetailShape::Cursor,
            raw: json.done(),
        }),
        ..*answer.result
    })
}

fn rejected(json: &mut Json<'_>, answer: &Answer<'_, '_>) {
    json.key("rejected").mark('{');
    if let Some(Args::Shell(shell)) = answer.args {
        json.key("command")
            .str(shell.command)
            .key("workingDirectory")
            .str(shell.directory.unwrap_or_default());
        json.key("reason").str(answer.text).key("isReadonly").lit("false");
    } else {
        json.key("reason").str(answer.text);
    }
    json.mark('}');
}

/// A command that failed is a `failure` with its output; everything else an `error` with its text.
fn failed(json: &mut Json<'_>, answer: &Answer<'_, '_>) {
    match answer.args {
        Some(Args::Shell(shell)) => {
            let run = match answer.output {
                ToolOutput::Shell(run) => run,
                _ => ShellRun {
                    stdout: answer.text,
                    stderr: Str::EMPTY,
                    output: answer.text,
                    ..ShellRun::default()
                },
            };
            let aborted = run.interrupted || answer.result.status == ResultStatus::Canceled;
            json.key("failure");
            ran(json, answer, shell, &run, Some(aborted));
            json.key("isBackground").bool(shell.background == Some(true));
        }
        Some(Args::Grep(_)) => {
            json.key("error").mark('{').key("error").str(answer.text).mark('}');
        }
        _ => {
            json.key("error").mark('{').key("errorMessage").str(answer.text).mark('}');
        }
    }
}

fn ran<'a>(json: &mut Json<'_>, answer: &Answer<'_, 'a>, shell: &Shell<'_>, run: &ShellRun<'a>, aborted: Option<bool>) {
    // What is said of a command that did not run was not printed.
    let ran = matches!(answer.output, ToolOutput::Shell(_));
    let printed = |text| if ran { answer.printed(text) } else { text };
    json.mark('{')
        .key("command")
        .str(shell.command)
        .key("workingDirectory")
        .str(shell.directory.unwrap_or_default());
    if let Some(exit) = run.exit {
        json.key("exitCode").number(exit);
    }
    json.key("signal")
        .lit("\"\"")
        .key("stdout")
        .str(printed(run.stdout))
        .key("stderr")
        .str(printed(run.stderr))
        .key("interleavedOutput")
        .str(printed(run.output));
    json.maybe_bool("aborted", aborted).mark('}');
}

fn success(json: &mut Json<'_>, answer: &Answer<'_, '_>) {
    json.key("success");
    match (answer.output, answer.args) {
        (ToolOutput::Read(read), Some(Args::Read(asked))) => file(json, &read, asked.path),
        (ToolOutput::Wrote(change) | ToolOutput::Edited(change), Some(_)) => changed(json, &change, answer.text),
        (ToolOutput::Shell(run), Some(Args::Shell(shell))) => {
            ran(json, answer, shell, &run, None);
            json.key("isBackground").bool(shell.background == Some(true));
        }
        (shown, Some(&Args::Todos { list, merge })) => {
            let list = match shown {
                // Tricode shows a step that is an object the way Python prints it.
                ToolOutput::Todos(list) if !list.iter().any(|todo| todo.content.as_escaped().starts_with("{'")) => list,
                _ => list,
            };
            json.mark('{').key("todos");
            write_todos(json, list);
            json.key("totalCount").number(list.len() as u64).key("wasMerge").bool(merge).mark('}');
        }
        (ToolOutput::Files(files), Some(Args::Glob { path, .. })) => found(json, *path, files.iter().copied()),
        (_, Some(Args::Glob { path, .. })) if is_list(answer.text) => found(json, *path, names(answer.text)),
        (_, Some(Args::Grep(grep))) => match grep_lines(answer) {
            Some(matches) => searched(json, grep, &matches),
            None => content(json, answer.text),
        },
        (_, Some(Args::Delete { path })) => {
            json.mark('{').key("path").str(*path).key("deletedFile").str(*path).mark('}');
        }
        (_, Some(Args::Mcp { .. })) => {
            json.mark('{')
                .key("content")
                .mark('[')
                .mark('{')
                .key("text")
                .mark('{')
                .key("text")
                .str(answer.text);
            json.mark('}').mark('}').mark(']').key("isError").lit("false").mark('}');
        }
        (_, Some(Args::Fetch { url, .. })) => {
            json.mark('{').key("url").str(*url).key("markdown").str(answer.text).mark('}');
        }
        // One reference that holds everything: the text does not say which page said what.
        (_, Some(Args::WebSearch { .. })) => {
            json.mark('{')
                .key("references")
                .mark('[')
                .mark('{')
                .key("title")
                .lit("\"\"")
                .key("url")
                .lit("\"\"");
            json.key("chunk").str(answer.text).mark('}').mark(']').mark('}');
        }
        (shown, Some(Args::Subagent(asked))) => {
            let (id, time) = match shown {
                ToolOutput::Subagent(task) => (task.id, task.milliseconds),
                _ => (None, None),
            };
            json.mark('{')
                .key("conversationSteps")
                .mark('[')
                .mark('{')
                .key("assistantMessage")
                .mark('{')
                .key("text")
                .str(answer.text);
            json.mark('}')
                .mark('}')
                .mark(']')
                .maybe_str("agentId", id)
                .key("isBackground")
                .bool(asked.background == Some(true));
            if let Some(time) = time {
                // A 64-bit number, which is written as a string.
                json.key("durationMs").plain(&time.to_string());
            }
            json.mark('}');
        }
        _ => content(json, answer.text),
    }
}

fn content(json: &mut Json<'_>, text: Str<'_>) {
    json.mark('{').key("content").str(text).mark('}');
}

/// The size and the number of lines are known of a whole file only.
fn file(json: &mut Json<'_>, read: &FileRead<'_>, path: Str<'_>) {
    let shown = read.lines();
    let whole = read.start == 1 && read.total == Some(shown);
    json.mark('{')
        .key("content")
        .str(read.content)
        .key("isEmpty")
        .bool(read.content.is_empty())
        .key("exceededLimit")
        .lit("false");
    json.maybe_number("totalLines", read.total)
        .maybe_number("fileSize", read.content.utf8_len().map(|len| len as u64).filter(|_| whole));
    json.key("path")
        .str(read.path.unwrap_or(path))
        .key("readRange")
        .mark('{')
        .key("startLine")
        .number(read.start);
    json.key("endLine").number(read.start.saturating_add(shown) - 1).mark('}');
    json.key("relatedCursorRulePaths").lit("[]").key("relatedCursorRules").lit("[]").mark('}');
}

fn changed(json: &mut Json<'_>, change: &FileChange<'_>, text: Str<'_>) {
    json.mark('{').key("path").str(change.path);
    let patch = change.patch();
    if let Some((added, removed)) = change.stat_of(patch.as_ref()) {
        json.key("linesAdded").number(added).key("linesRemoved").number(removed);
    }
    if let Some(patch) = patch {
        let path = change.path.unescape();
        let from = if change.created == Some(true) {
            "/dev/null".to_owned()
        } else {
            format!("a/{path}")
        };
        json.key("diffString").plain(&patch.unified(&from, &format!("b/{path}"), DiffStyle::Bare));
    } else if let Some(bare) = change.bare() {
        json.key("diffString").plain(&bare);
    }
    json.maybe_str("beforeFullFileContent", change.before.filter(|_| change.created != Some(true)));
    json.maybe_str("afterFullFileContent", change.after).key("message").str(text).mark('}');
}

fn found<'s>(json: &mut Json<'_>, path: Option<Str<'_>>, files: impl Iterator<Item = Str<'s>>) {
    json.mark('{').key("pattern").lit("\"\"").maybe_str("path", path).key("files").mark('[');
    let mut count = 0u64;
    for file in files {
        json.item().str(file);
        count += 1;
    }
    json.mark(']')
        .key("totalFiles")
        .number(count)
        .key("clientTruncated")
        .lit("false")
        .key("ripgrepTruncated")
        .lit("false")
        .mark('}');
}

/// What Claude and Tricode say when they found nothing.
fn is_nothing(text: Str<'_>) -> bool {
    matches!(text.as_escaped(), "" | "No files found" | "No matches found")
}

/// Whether a text names a file on each line.
fn is_list(text: Str<'_>) -> bool {
    is_nothing(text) || pieces(text).all(|piece| piece.text.starts_with('/') && !piece.text.contains(": "))
}

fn names(text: Str<'_>) -> impl Iterator<Item = Str<'_>> {
    pieces(text)
        .map(|piece| Str::trusted(piece.text))
        .filter(move |line| !line.is_empty() && !is_nothing(text))
}

/// The matches of a search whose text is nothing but `FILE:LINE:TEXT` lines (Tricode in a folder, Claude's mode `content`), or
/// of a search of one file, `LINE:TEXT`.
struct Matches<'a> {
    file: Option<Str<'a>>,
    text: Str<'a>,
}

fn grep_lines<'a>(answer: &Answer<'_, 'a>) -> Option<Matches<'a>> {
    let Some(Args::Grep(grep)) = answer.args else { return None };
    if grep.mode.is_some_and(|mode| !mode.is("content")) || grep.mode.is_none() && answer.call.name.is("Grep") {
        return None;
    }
    if is_nothing(answer.text) {
        return Some(Matches {
            file: None,
            text: Str::EMPTY,
        });
    }
    let lines = || pieces(answer.text).filter(|piece| !piece.text.is_empty() || !piece.end.is_empty());
    if lines().all(|line| at_line(line).is_some()) {
        return Some(Matches {
            file: None,
            text: answer.text,
        });
    }
    (lines().all(|line| numbered(line.text).is_some())).then_some(Matches {
        file: Some(grep.path?),
        text: answer.text,
    })
}

/// `FILE:LINE:TEXT`.
fn at_line(line: Piece<'_>) -> Option<(&str, &str, &str)> {
    // A drive letter is no file name.
    let from = if line.text.get(1..2) == Some(":") { 2 } else { 0 };
    let colon = from + line.text.get(from..)?.find(':')?;
    let (number, text) = numbered(&line.text[colon + 1..])?;
    (colon > 0 && number.len() < 19).then_some((&line.text[..colon], number, text))
}

/// `LINE:TEXT`.
fn numbered(line: &str) -> Option<(&str, &str)> {
    let (number, text) = line.split_once(':')?;
    let fits = !number.is_empty() && number.len() < 19 && number.bytes().all(|b| b.is_ascii_digit()) && (number == "0" || !number.starts_with('0'));
    fits.then_some((number, text))
}

fn searched(json: &mut Json<'_>, grep: &Grep<'_>, matches: &Matches<'_>) {
    let root = grep.path.filter(|_| matches.file.is_none()).unwrap_or(Str::trusted("."));
    json.mark('{')
        .key("pattern")
        .str(grep.pattern)
        .maybe_str("path", grep.path)
        .key("outputMode")
        .lit("\"content\"");
    json.key("workspaceResults")
        .mark('{')
        .key(root.as_escaped())
        .mark('{')
        .key("content")
        .mark('{')
        .key("matches")
        .mark('[');
    let (mut count, mut open) = (0u64, None);
    for line in pieces(matches.text) {
        let found = match matches.file {
            Some(file) => numbered(line.text).map(|(number, text)| (file.as_escaped(), number, text)),
            None => at_line(line),
        };
        let Some((file, number, text)) = found else { continue };
        if open != Some(file) {
            if open.is_some() {
                json.mark(']').mark('}');
            }
            json.item().mark('{').key("file").str(Str::trusted(file)).key("matches").mark('[');
            open = Some(file);
        }
        json.item().mark('{').key("lineNumber").lit(number).key("content").str(Str::trusted(text));
        json.key("contentTruncated").lit("false").key("isContextLine").lit("false").mark('}');
        count += 1;
    }
    if open.is_some() {
        json.mark(']').mark('}');
    }
    json.mark(']').key("totalLines").number(count).key("totalMatchedLines").number(count);
    json.key("clientTruncated")
        .lit("false")
        .key("ripgrepTruncated")
        .lit("false")
        .mark('}')
        .mark('}')
        .mark('}')
        .mark('}');
}
