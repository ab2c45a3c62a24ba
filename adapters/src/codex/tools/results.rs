//! Results: a text, and of a command its exit code.

use bumpalo::Bump;

use crate::event::{Content, Detail, DetailShape, ResultStatus, ToolKind, ToolResult};
use crate::json::{Raw, Str};
use crate::tools::args::Args;
use crate::tools::json::{Json, members, optional};
use crate::tools::output::{ShellRun, ToolOutput};
use crate::tools::result::Answer;
use crate::tools::table::Typed;

/// Both streams are one.
pub(super) fn read<'a>(typed: &Typed<'_, 'a>, _: &'a Bump) -> Option<ToolOutput<'a>> {
    if typed.kind != ToolKind::Shell {
        return None;
    }
    let [exit] = members(typed.detail, ["exit_code"])?;
    let exit = optional(exit, Raw::i64)?;
    // Without an exit code it did not run, or was stopped.
    if exit.is_none() && typed.status != ResultStatus::Success {
        return None;
    }
    Some(ToolOutput::Shell(ShellRun {
        command: match typed.args {
            Some(Args::Shell(shell)) => Some(shell.command),
            _ => None,
        },
        stdout: typed.text,
        stderr: Str::EMPTY,
        output: typed.text,
        exit,
        interrupted: false,
    }))
}

pub(super) fn write<'a>(answer: &Answer<'_, 'a>) -> Option<ToolResult<'a>> {
    let Some(Args::Shell(_)) = answer.args else { return None };
    let (text, exit) = match answer.output {
        ToolOutput::Shell(run) => (answer.printed(run.output), run.exit),
        _ => (answer.text, None),
    };
    let status = match answer.result.status {
        ResultStatus::Success => "completed",
        ResultStatus::Denied => "declined",
        ResultStatus::Error | ResultStatus::Canceled => "failed",
    };
    let mut json = Json::new(answer.arena);
    json.mark('{').key("exit_code");
    match exit {
        Some(exit) => json.number(exit),
        None => json.lit("null"),
    };
    json.key("status").plain(status).mark('}');
    Some(ToolResult {
        content: Content::Text(text),
        detail: Some(Detail {
            shape: DetailShape::Codex,
            raw: json.done(),
        }),
        ..*answer.result
    })
}
