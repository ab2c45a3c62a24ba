//! Results in the target's own shape.

mod claude;
mod cursor;
mod tricode;

use bumpalo::Bump;

use super::args::Args;
use super::shown::{FileRead, Shown, joined, read};
use super::{Family, Translate, in_words};
use crate::event::{Content, DetailShape, ResultStatus, ToolCall, ToolKind, ToolResult};
use crate::json::Str;

/// A result and what is known about it.
struct Answer<'r, 'a> {
    call: &'r ToolCall<'a>,
    /// The arguments, if the call went over in the target's own words.
    args: Option<&'r Args<'a>>,
    result: &'r ToolResult<'a>,
    /// What the model sees.
    text: Str<'a>,
    shown: Shown<'a>,
    arena: &'a Bump,
}

/// The call in the target's words, and the result in the target's shape; `None` for what stays as it is. A call that stays in its
/// source's words keeps its result, but every result has a place of its own in Cursor.
pub(super) fn result<'a>(
    tools: &Translate,
    call: &ToolCall<'a>,
    result: &ToolResult<'a>,
    arena: &'a Bump,
) -> (Option<ToolCall<'a>>, Option<ToolResult<'a>>) {
    let Some((from, to)) = tools.families() else { return (None, None) };
    // An agent of ours gives its results in Cursor's form already.
    if to == Family::Cursor && result.detail.is_some_and(|detail| detail.shape == DetailShape::Cursor) {
        return (None, None);
    }
    let text = joined(result.content, arena);
    let mut answer = Answer {
        call,
        args: None,
        result,
        text,
        shown: Shown::Text(text),
        arena,
    };
    let args = Args::read(from, call.name, call.input, arena);
    let mut answered = None;
    if let Some(args) = &args {
        // Qwen's results are texts, of which only these two are others than in the source.
        let shown = match (to, args.kind()) {
            (Family::Qwen, kind) if !matches!(kind, ToolKind::Read | ToolKind::Shell) => Shown::Text(text),
            (_, kind) => read(kind, Some(args), Some(from), result, arena),
        };
        let words = args.write(to, call.id, arena);
        let told = if to == Family::Tricode {
            tricode::answered(call, args, shown, arena)
        } else {
            None
        };
        if words.is_some() || told.is_some() {
            (answer.args, answer.shown) = (Some(args), shown);
        }
        answered = told
            .filter(|_| result.status == ResultStatus::Success)
            .or_else(|| in_words(call, args, words?));
    }
    let result = match to {
        Family::Cursor => Some(cursor::result(&answer)),
        _ if answer.args.is_none() => None,
        Family::Claude => claude::result(&answer),
        Family::Qwen => with_text(result, answer.plain_text()),
        Family::Tricode => with_text(result, tricode::text(&answer)),
    };
    (answered, result)
}

impl<'a> Answer<'_, 'a> {
    /// The text for a dialect that numbers no lines. A command that failed says its exit code first, unless the text already
    /// does or holds Qwen's report.
    fn plain_text(&self) -> Option<Str<'a>> {
        match self.shown {
            Shown::Read(file) => Some(file.content),
            _ => self.with_exit_code(),
        }
    }

    /// Cursor alone keeps the exit code apart from the output. Its reader puts it before the text; where nobody did, it is done here.
    fn with_exit_code(&self) -> Option<Str<'a>> {
        match self.shown {
            Shown::Shell(run) if self.result.status == ResultStatus::Error => {
                let said = super::lines::exit_code(self.text).is_some() || self.text.as_escaped().starts_with("Command: ");
                let code = run.exit.filter(|_| !said)?;
                Some(Str::trusted(
                    bumpalo::format!(in self.arena, "Exit code {}\\n{}", code, self.text.as_escaped()).into_bump_str(),
                ))
            }
            _ => None,
        }
    }
}

/// The same result with another text; `None` if it is the one that it has.
fn with_text<'a>(result: &ToolResult<'a>, text: Option<Str<'a>>) -> Option<ToolResult<'a>> {
    let text = text?;
    (result.content != Content::Text(text)).then_some(ToolResult {
        content: Content::Text(text),
        ..*result
    })
}

/// How many lines a part of a file has, as its pieces are counted.
fn lines(file: &FileRead<'_>) -> u64 {
    super::lines::count(file.content)
}

/// How many bytes a text has in UTF-8.
fn bytes(text: Str<'_>) -> Option<u64> {
    text.utf8_len().map(|len| len as u64)
}

#[cfg(test)]
mod props_tests;
#[cfg(test)]
mod tests;
