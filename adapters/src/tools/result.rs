//! Results in the target's own shape.

use bumpalo::Bump;

use super::args::Args;
use super::output::{ToolOutput, read};
use super::texts::joined;
use super::{Translate, in_words, lines};
use crate::event::{Content, ResultStatus, ToolCall, ToolResult};
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
    let mut answer = Answer {
        call,
        args: None,
        result,
        text,
        output: ToolOutput::Text(text),
        arena,
    };
    let args = from.args(call.name, call.input, arena);
    let mut answered = None;
    if let Some(args) = &args {
        let kind = args.kind();
        let output = if (to.reshapes)(kind) {
            read(kind, Some(args), Some(from), result, arena)
        } else {
            ToolOutput::Text(text)
        };
        let words = (to.write)(args, call.id, arena);
        let told = (to.answered)(call, args, output, arena);
        if words.is_some() || told.is_some() {
            (answer.args, answer.output) = (Some(args), output);
        }
        answered = told
            .filter(|_| result.status == ResultStatus::Success)
            .or_else(|| in_words(call, args, words?));
    }
    (answered, (to.write_result)(&answer))
}

impl<'a> Answer<'_, 'a> {
    /// The text for a dialect that numbers no lines. A command that failed says its exit code first, unless the text already
    /// does or holds a report.
    pub(crate) fn plain_text(&self) -> Option<Str<'a>> {
        match self.output {
            ToolOutput::Read(file) => Some(file.content),
            _ => self.with_exit_code(),
        }
    }

    /// The text with the exit code before it, where a structured form alone has it.
    pub(crate) fn with_exit_code(&self) -> Option<Str<'a>> {
        match self.output {
            ToolOutput::Shell(run) if self.result.status == ResultStatus::Error => {
                let said = lines::exit_code(self.text).is_some() || self.text.as_escaped().starts_with("Command: ");
                let code = run.exit.filter(|_| !said)?;
                Some(Str::trusted(
                    bumpalo::format!(in self.arena, "Exit code {}\\n{}", code, self.text.as_escaped()).into_bump_str(),
                ))
            }
            _ => None,
        }
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
