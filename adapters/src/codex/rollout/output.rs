//! What the model was told of a call: of a command, what it printed stands behind lines about how it went.

use super::items::blocks;
use crate::codec::{Cx, TellsEnd};
use crate::event::{Block, Content, Fate, ResultStatus, ToolResult};
use crate::json::{Cursor, Raw, Shape, Str};

/// What an output says.
pub(super) struct Said<'a> {
    pub(super) content: Content<'a>,
    pub(super) status: ResultStatus,
    /// How a command ended.
    pub(super) exit: Option<i64>,
}

/// What lines about a command begin with. Of some the rest matters.
const ABOUT: [&str; 7] = [
    EXIT,
    EXITED,
    "Wall time: ",
    "Chunk ID: ",
    "Process running with session ID ",
    "Original token count: ",
    "Total output lines: ",
];
const EXIT: &str = "Exit code: ";
const EXITED: &str = "Process exited with code ";

/// The line behind which it stands what a command printed.
const OUTPUT: &str = "Output:\\n";

/// What the program says where no tool ran.
const FAILED: [&str; 11] = [
    "unable to locate image at ",
    "unable to process image",
    "unable to read image at ",
    "unsupported call: ",
    "unsupported custom tool call: ",
    "failed to parse function arguments: ",
    "apply_patch verification failed: ",
    "exec_command failed",
    "execution error: ",
    "patch rejected: ",
    "write_stdin failed: ",
];

/// What it says where the user or a policy does not let a call run.
const REFUSED: [&str; 4] = [
    "approval policy is ",
    "exec command rejected by user",
    "patch rejected by user",
    "rejected by user",
];

/// What it says of a call that was stopped, behind how long it ran, or before it.
const ABORTED: &str = "aborted by user";

/// Whether a command was not started because it is not allowed: its failure holds that as the program's own words for it.
fn is_refused(told: &str) -> bool {
    REFUSED.iter().any(|begins| told.starts_with(begins)) || told.starts_with("exec_command failed") && told.contains("Rejected(")
}

/// Whether the call was stopped or refused.
fn unrun(told: &str) -> Option<ResultStatus> {
    let is_stopped = told.ends_with(ABORTED) || told.starts_with(ABORTED) || told == "aborted";
    match is_stopped {
        true => Some(ResultStatus::Canceled),
        false => is_refused(told).then_some(ResultStatus::Denied),
    }
}

/// Only what the model is told says it.
pub(super) fn tells_end(result: &ToolResult<'_>, at: &'static str) -> TellsEnd {
    let text = result.content.texts().next().unwrap_or_default();
    let words = match result.status {
        said if unrun(text.as_escaped()) == Some(said) => return TellsEnd::Itself,
        ResultStatus::Denied => "rejected by user",
        ResultStatus::Canceled => ABORTED,
        _ => return TellsEnd::Itself,
    };
    TellsEnd::InWords { words, at }
}

/// Reads an output: a text, or the parts of a message.
pub(super) fn said<'a>(output: Raw<'a>, cx: &Cx<'a>) -> Said<'a> {
    let Some(text) = output.string() else {
        let content = match output.shape() {
            Some(Shape::Array) => match blocks(output, cx) {
                [] => Content::Text(Str::EMPTY),
                [Block::Text { text, .. }] => Content::Text(*text),
                blocks => Content::Blocks(blocks),
            },
            _ => Content::Text(cx.text(output.as_str())),
        };
        return Said {
            content,
            status: ResultStatus::Success,
            exit: None,
        };
    };
    if let Some((text, exit)) = wrapped(text, cx) {
        return ended(text, exit);
    }
    let (about, printed) = command(text);
    let Some(printed) = printed else {
        let status = match text.as_escaped() {
            told if FAILED.iter().any(|begins| told.starts_with(begins)) && !is_refused(told) => ResultStatus::Error,
            told => unrun(told).unwrap_or(ResultStatus::Success),
        };
        return Said {
            content: Content::Text(text),
            status,
            exit: None,
        };
    };
    cx.stands_for(printed, text.as_escaped());
    if let Some(trace) = cx.trace {
        trace.note(
            Fate::Merged,
            "/payload/output",
            "the lines before what a command printed say how it ended",
        );
    }
    ended(Str::trusted(printed), about)
}

fn ended(text: Str<'_>, exit: Option<i64>) -> Said<'_> {
    Said {
        content: Content::Text(text),
        status: match exit {
            None | Some(0) => ResultStatus::Success,
            Some(_) => ResultStatus::Error,
        },
        exit,
    }
}

/// The exit code of a command and what it printed, if lines about it stand before that. A text as it is escaped.
fn command(text: Str<'_>) -> (Option<i64>, Option<&str>) {
    let (mut rest, mut exit, mut any) = (text.as_escaped(), None, false);
    while let Some((line, behind)) = rest.split_once("\\n") {
        if any && line == OUTPUT.trim_end_matches("\\n") {
            return (exit, Some(behind));
        }
        if line.is_empty() && any {
            rest = behind;
            continue;
        }
        if !ABOUT.iter().any(|begins| line.starts_with(begins)) {
            break;
        }
        let code = line.strip_prefix(EXIT).or_else(|| line.strip_prefix(EXITED));
        exit = exit.or_else(|| code?.parse().ok());
        any = true;
        rest = behind;
    }
    (None, None)
}

/// The text and the exit code of an output that is an object in a text (older programs).
fn wrapped<'a>(text: Str<'a>, cx: &Cx<'a>) -> Option<(Str<'a>, Option<i64>)> {
    if !text.as_escaped().starts_with("{\\\"output\\\":") {
        return None;
    }
    let inside = text.unescape_in(cx.arena);
    let mut at = Cursor::new(inside);
    let object = at.raw().ok().filter(|_| at.at_end())?;
    let printed = object.get("output")?.string()?;
    let exit = object.get("metadata").and_then(|about| about.get("exit_code")?.i64());
    // Where nothing was printed it only says how the call ended.
    match printed.is_empty() {
        true => cx.took(text.as_escaped()),
        false => cx.stands_for(printed.as_escaped(), text.as_escaped()),
    }
    Some((printed, exit))
}
