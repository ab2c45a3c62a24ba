//! A run that cannot begin, told in the way of the program that we are: on standard error, in the stream, or both.

use std::io::Write;

use agentglot_adapters::codec::{Dialect, Format, Mode};
use agentglot_adapters::event::{Event, Kind, Origin, Outcome, OutcomeKind, Place};
use agentglot_adapters::json::Str;
use agentglot_adapters::launch::{ArgError, Launch};
use agentglot_adapters::live::{Manner, Speaker};

use crate::io::Console;
use crate::session::tell_end;

/// Says why a run cannot begin: Tricode does so on standard output, the RFC in the stream too.
pub(super) fn refuse(format: Format, refusal: &ArgError, code: &str) -> u8 {
    match format.dialect {
        Dialect::Tricode => _ = std::io::stdout().lock().write_all(refusal.text.as_bytes()),
        _ => Console::plain().lines(&refusal.text),
    }
    in_stream(format, &refusal.text, code, refusal.exit_code);
    refusal.exit_code
}

/// The same on standard error in every dialect, for a command line or an environment that makes no sense.
pub(super) fn on_stderr(format: Format, text: &str, exit_code: u8) -> u8 {
    Console::plain().lines(text);
    in_stream(format, text, "QWEN_INVALID_REQUEST", exit_code);
    exit_code
}

/// The RFC's way: the last line of the reason in red, then the error object. Other dialects, and plain text, have none.
pub(super) fn in_stream(format: Format, why: &str, code: &str, exit_code: u8) {
    if format.dialect != Dialect::Qwen || format.mode == Mode::Text {
        return;
    }
    let mut voice = voice(format, false);
    let why = why.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("the run cannot begin");
    let mut lines = Vec::new();
    let session = uuid::Uuid::new_v4().to_string();
    tell_end(&mut voice, &session, why.trim(), code, exit_code, &mut lines);
    // A host that is gone does not want to know.
    let _ = std::io::stdout().lock().write_all(&lines);
}

/// The format that the host of a command line wants that cannot be read.
pub(super) fn format_of(dialect: Dialect, args: &[String]) -> Format {
    let value = |at: usize| {
        let arg = args[at].as_str();
        match arg.split_once('=') {
            Some(("--output-format" | "-o", value)) => Some(value),
            None if matches!(arg, "--output-format" | "-o") => args.get(at + 1).map(String::as_str),
            _ => None,
        }
    };
    let wanted = (0..args.len()).rev().find_map(value).unwrap_or("text");
    let named = format!("{}:{wanted}", dialect.name());
    named.parse().unwrap_or(Format { dialect, mode: Mode::Text })
}

/// Tells a session that cannot begin in the stream too, where the dialect's program does that: Claude Code.
pub(super) fn tell_failure(launch: &Launch, why: &str) {
    if launch.format.dialect != Dialect::Claude || launch.format.mode == Mode::Text {
        return;
    }
    let mut error = String::new();
    Str::escape(why.trim_end(), &mut error);
    let outcome = Outcome {
        error: Some(Str::trusted(&error)),
        ..Outcome::new(OutcomeKind::Failed(Place::Backend))
    };
    let mut line = Vec::new();
    voice(launch.format, launch.verbose).directly(&Event::new(Origin::default(), Kind::Outcome(&outcome)), &mut line);
    let _ = std::io::stdout().lock().write_all(&line);
}

fn voice(to: Format, verbose: bool) -> Speaker {
    Speaker::new(Manner {
        from: Dialect::Agentglot,
        to,
        native_tools: true,
        partial: false,
        old_text: false,
        verbose,
        agent: true,
    })
}
