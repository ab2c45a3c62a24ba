//! Results in the target's own shape.

use bumpalo::Bump;

use super::args::{Args, Change};
use super::json::{Json, plain};
use super::output::{ShellRun, ToolOutput, read};
use super::table::Tools;
use super::texts::{joined, uncoloured};
use super::{Translate, in_words, lines};
use crate::event::{Content, ResultStatus, ToolCall, ToolKind, ToolResult};
use crate::json::Str;

/// A result and what is known about it.
pub(crate) struct Answer<'r, 'a> {
    pub(crate) call: &'r ToolCall<'a>,
    /// The arguments, if the call went over in the target's own words.
    pub(crate) args: Option<&'r Args<'a>>,
    pub(crate) result: &'r ToolResult<'a>,
    /// What the model sees.
    pub(crate) text: Str<'a>,
    pub(crate) output: ToolOutput<'a>,
    /// Whose result it is.
    pub(crate) from: &'static Tools,
    /// Whose it is to be.
    pub(crate) to: &'static Tools,
    pub(crate) arena: &'a Bump,
}

/// The call in the target's words, and the result in the target's shape; `None` for what stays as it is. A call that stays in its
/// source's words keeps its result, unless every result has a place of its own in the target.
pub(super) fn result<'a>(
    tools: &Translate,
    call: &ToolCall<'a>,
    result: &ToolResult<'a>,
    arena: &'a Bump,
) -> (Option<ToolCall<'a>>, Option<ToolResult<'a>>) {
    let Some((from, to)) = tools.ends() else { return (None, None) };
    // An agent of ours gives its results in that form already.
    if result.detail.is_some_and(|detail| Some(detail.shape) == to.form) {
        return (None, None);
    }
    let text = joined(result.content, arena);
    // The colours of a list are its own agent's.
    let plain = (call.kind == ToolKind::Todo).then(|| uncoloured(text, arena)).flatten();
    let bare = plain.map(|text| ToolResult {
        content: Content::Text(text),
        ..*result
    });
    let text = plain.unwrap_or(text);
    let mut answer = Answer {
        call,
        args: None,
        result: bare.as_ref().unwrap_or(result),
        text,
        output: ToolOutput::Text(text),
        from,
        to,
        arena,
    };
    let args = tools.args(from, call.name, call.input, arena);
    let told_late;
    let mut answered = None;
    if let Some(args) = args.as_ref() {
        let kind = args.kind();
        let output = if (to.reshapes)(kind) {
            read(kind, Some(args), Some(from), result, arena)
        } else {
            ToolOutput::Text(text)
        };
        let deed = deed(args, output).filter(|_| result.status == ResultStatus::Success);
        let made = tools.if_said(|| {
            let args = tools.fitted(deed.unwrap_or(*args), to, arena);
            let words = (to.write)(&args, call.id, Json::like(call.input, arena));
            let told = (to.answered)(call, &args, output, arena);
            (words.is_some() || told.is_some()).then_some((args, words, told))
        });
        if let Some((args, words, told)) = made {
            told_late = args;
            (answer.args, answer.output) = (Some(&told_late), output);
            answered = told
                .filter(|_| result.status == ResultStatus::Success)
                .or_else(|| in_words(call, &told_late, words?));
        }
    }
    let shaped = (to.write_result)(&answer);
    (answered, shaped.or(bare))
}

/// What an edit did of which only the result says what was there before.
fn deed<'a>(args: &Args<'a>, output: ToolOutput<'a>) -> Option<Args<'a>> {
    let (ToolOutput::Wrote(change) | ToolOutput::Edited(change)) = output else {
        return None;
    };
    let Args::Edit {
        path,
        change: Change { old: None, new, .. },
    } = *args
    else {
        return None;
    };
    if change.created == Some(true) {
        return Some(Args::Write {
            path,
            content: change.after.unwrap_or(new),
        });
    }
    let once = |old: Str<'_>| Some(plain(change.before?)?.matches(&*plain(old)?).nth(1).is_none());
    match change.replaced.filter(|(old, _)| !old.is_empty() && once(*old) == Some(true)) {
        Some((old, new)) => Some(Args::Edit {
            path,
            change: Change {
                old: Some(old),
                new,
                all: None,
            },
        }),
        None => change.after.map(|content| Args::Write { path, content }),
    }
}

impl<'a> Answer<'_, 'a> {
    /// The text for a dialect that numbers no lines.
    pub(crate) fn plain_text(&self) -> Option<Str<'a>> {
        match self.output {
            ToolOutput::Read(file) => Some(file.content),
            ToolOutput::Shell(run) => Some(self.report(&run, self.printed(run.output))),
            _ => None,
        }
    }

    /// What a command printed to one of its streams, or to both: with the line feed at its end, or without it, as the target has it.
    pub(crate) fn printed(&self, text: Str<'a>) -> Str<'a> {
        match (self.from.shell.keeps_end, self.to.shell.keeps_end) {
            (_, false) => lines::without_ends(text),
            (false, true) if !text.is_empty() && !lines::ends_line(text) => {
                Str::trusted(bumpalo::format!(in self.arena, "{}\\n", text.as_escaped()).into_bump_str())
            }
            _ => text,
        }
    }

    /// The result of a command that printed `printed`: the exit code first if it failed.
    pub(crate) fn report(&self, run: &ShellRun<'a>, printed: Str<'a>) -> Str<'a> {
        if self.result.status == ResultStatus::Success {
            return if printed.is_empty() {
                Str::trusted(self.to.shell.silence)
            } else {
                printed
            };
        }
        let Some(code) = run.exit else { return printed };
        let end = if printed.is_empty() { "" } else { "\\n" };
        Str::trusted(bumpalo::format!(in self.arena, "Exit code {}{}{}", code, end, printed.as_escaped()).into_bump_str())
    }

    /// The same result with another text; `None` if it is the one that it has.
    pub(crate) fn with_text(&self, text: Option<Str<'a>>) -> Option<ToolResult<'a>> {
        let text = text?;
        (self.result.content != Content::Text(text)).then_some(ToolResult {
            content: Content::Text(text),
            ..*self.result
        })
    }
}
