//! A run that cannot begin, told in the way of the program that we are: on standard error, in the stream, or both.

use std::io::{BufRead, IsTerminal, Read, Write};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use agentglot_adapters::raw::codec::{Dialect, Format, Layout, Mode};
use agentglot_adapters::raw::event::{At, Event, Field, Kind, Origin, Outcome, OutcomeKind, Place, Session};
use agentglot_adapters::raw::json::{Raw, Str};
use agentglot_adapters::raw::launch::{ArgError, Launch};
use agentglot_adapters::raw::live::{Manner, Speaker};

use crate::io::{Console, visible};
use crate::session::tell_end;

/// Whom it is told.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reader {
    format: Format,
    /// It writes lines of JSON.
    writes_lines: bool,
}

impl Reader {
    /// The host of a launch.
    pub(super) fn of(launch: &Launch) -> Self {
        Self {
            format: launch.format,
            writes_lines: launch.has_stdin_protocol(),
        }
    }

    /// The host of a command line that cannot be read.
    pub(super) fn of_args(dialect: Dialect, args: &[String]) -> Self {
        let wanted = given(args, &["--output-format", "-o"]).unwrap_or("text");
        let named = format!("{}:{wanted}", dialect.name());
        Self {
            format: named.parse().unwrap_or(Format { dialect, mode: Mode::TEXT }),
            writes_lines: given(args, &["--input-format"]).is_some_and(|format| format.starts_with("stream")),
        }
    }
}

/// The last value that a flag is given.
fn given<'a>(args: &'a [String], names: &[&str]) -> Option<&'a str> {
    let value = |at: usize| match args[at].split_once('=') {
        Some((name, value)) if names.contains(&name) => Some(value),
        None if names.contains(&args[at].as_str()) => args.get(at + 1).map(String::as_str),
        _ => None,
    };
    (0..args.len()).rev().find_map(value)
}

/// Says why a run cannot begin, where the program does so.
pub(super) fn refuse(to: Reader, refusal: &ArgError, code: &str) -> u8 {
    if to.format.dialect.conduct().refuses_on_stdout() {
        let stdout = std::io::stdout();
        let text = if stdout.is_terminal() {
            visible(&refusal.text)
        } else {
            refusal.text.as_str().into()
        };
        // A host that is gone does not want to know.
        let _ = stdout.lock().write_all(text.as_bytes());
    } else {
        Console::plain().lines(&refusal.text);
    }
    in_stream(to, &refusal.text, code, refusal.exit_code);
    hear_first_line(to);
    refusal.exit_code
}

/// The same on standard error in every dialect, for a command line or an environment that makes no sense.
pub(super) fn on_stderr(to: Reader, text: &str, exit_code: u8) -> u8 {
    Console::plain().lines(text);
    in_stream(to, text, "QWEN_INVALID_REQUEST", exit_code);
    hear_first_line(to);
    exit_code
}

/// How long a host may take to write its first line.
const FIRST_LINE: Duration = Duration::from_secs(1);
/// So much is read of it.
const LONGEST: u64 = 1 << 20;

/// Hosts that write lines write the first one as soon as they have started us. If we were gone by then, they would tell of a broken
/// pipe, and not of the reason.
pub(super) fn hear_first_line(to: Reader) {
    if !to.writes_lines || std::io::stdin().is_terminal() {
        return;
    }
    let (heard, hears) = mpsc::channel();
    thread::spawn(move || {
        let _ = std::io::stdin().lock().take(LONGEST).read_until(b'\n', &mut Vec::new());
        // Nobody may wait any more.
        let _ = heard.send(());
    });
    let _ = hears.recv_timeout(FIRST_LINE);
}

/// The last line of the reason in red, then the error object, where the stream tells such faults; plain text never does.
pub(super) fn in_stream(to: Reader, why: &str, code: &str, exit_code: u8) {
    if !to.format.dialect.conduct().tells_faults() || to.format.mode.layout == Layout::Text {
        return;
    }
    let mut voice = voice(to.format, false);
    let why = why.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("the run cannot begin");
    let mut lines = Vec::new();
    let session = uuid::Uuid::new_v4().to_string();
    let input = if to.writes_lines { "\"stream-json\"" } else { "\"text\"" };
    let field = Field {
        at: At::Part("/metadata"),
        key: Str::trusted("input_format"),
        value: Raw::trusted(input),
        known: true,
    };
    let facts = Session::default();
    let receipt = Event {
        origin: Origin {
            session: Some(Str::trusted(&session)),
            ..Origin::default()
        },
        kind: Kind::Session(&facts),
        fields: &[field],
    };
    voice.directly(&receipt, &mut lines);
    tell_end(&mut voice, &session, why.trim(), code, exit_code, &mut lines);
    // A host that is gone does not want to know.
    let _ = std::io::stdout().lock().write_all(&lines);
}

/// Tells a session that cannot begin in the stream too, where the dialect's program does that.
pub(super) fn tell_failure(launch: &Launch, why: &str) {
    if !launch.format.dialect.conduct().tells_no_session() || launch.format.mode.layout == Layout::Text {
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
    let mut voice = Speaker::new(Manner {
        verbose,
        agent: true,
        ..Manner::new(Dialect::CANONICAL, to)
    });
    voice.now(i64::try_from(super::run::clock().millis).unwrap_or(i64::MAX));
    voice
}
