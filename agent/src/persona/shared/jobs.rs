//! What the model reads of commands in the background.

use agentglot_process::Exit;

use crate::tools::jobs::{Job, State};
use crate::tools::shell::Cause;

/// What the model is told, as a message of the user's, when a background command has ended. Its end of the output is `output`, see
/// [`Jobs::output`](crate::tools::jobs::Jobs::output).
pub(in crate::persona) fn notice(job: &Job, output: &str) -> String {
    let (status, words, result) = match job.state {
        State::Running => ("running", "is running", None),
        State::Ended { exit, cause, .. } => match (cause, exit) {
            (Cause::Cancelled, _) => ("cancelled", "was cancelled", None),
            (Cause::TimedOut, _) => ("failed", "failed", Some("ran longer than it was allowed to".to_owned())),
            (Cause::Itself, Some(Exit::Code(0))) => ("completed", "completed", None),
            (Cause::Itself, Some(Exit::Code(code))) => ("failed", "failed", Some(format!("exited with code {code}"))),
            (Cause::Itself, Some(Exit::Signal(number))) => ("failed", "failed", Some(format!("terminated by signal {number}"))),
            (Cause::Itself, None) => ("failed", "failed", None),
        },
    };
    let command = escaped(&job.command);
    let mut lines = vec![
        "<task-notification>".to_owned(),
        format!("<task-id>{}</task-id>", escaped(&job.id)),
        "<kind>shell</kind>".to_owned(),
        format!("<status>{status}</status>"),
        format!("<summary>Shell command \"{command}\" {words}.</summary>"),
        format!("<command>{command}</command>"),
        format!("<cwd>{}</cwd>", escaped(&job.folder.display().to_string())),
        format!("<pid>{}</pid>", job.process),
    ];
    if let State::Ended {
        exit: Some(Exit::Code(code)),
        ..
    } = job.state
    {
        lines.push(format!("<exit-code>{code}</exit-code>"));
    }
    lines.extend(result.map(|result| format!("<result>{result}</result>")));
    if !output.trim().is_empty() {
        lines.push(format!("<output-tail>{}</output-tail>", escaped(uncoloured(output).trim())));
    }
    lines.push(format!("<output-file>{}</output-file>", escaped(&job.output.display().to_string())));
    lines.push("</task-notification>".to_owned());
    lines.join("\n")
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// A text without the sequences that colour it and move the cursor.
pub(in crate::persona) fn uncoloured(text: &str) -> String {
    if !text.contains('\u{1b}') {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text.chars();
    while let Some(letter) = rest.next() {
        if letter != '\u{1b}' {
            out.push(letter);
            continue;
        }
        match rest.next() {
            // Parameters and intermediates, up to the final byte.
            Some('[') => while rest.next().is_some_and(|letter| matches!(letter, ' '..='?')) {},
            // A string, up to BEL or ESC \.
            Some(']' | 'P' | '_' | '^' | 'X') => {
                while let Some(letter) = rest.next() {
                    if letter == '\u{7}' {
                        break;
                    }
                    if letter == '\u{1b}' {
                        rest.next();
                        break;
                    }
                }
            }
            // An intermediate and what it belongs to.
            Some('(' | ')' | '#' | '%') => drop(rest.next()),
            _ => {}
        }
    }
    out
}
