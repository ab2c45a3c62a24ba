//! Our own log: where it goes, and how it looks.

use std::ffi::OsString;
use std::fmt;
use std::fs::File;
use std::io::Write;
use std::path::PathBuf;

use tracing::{Event, Metadata, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::writer::{BoxMakeWriter, MakeWriter};
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::registry::LookupSpan;
use tracing_subscriber::util::SubscriberInitExt;

use crate::io::journal::Journal;
use crate::io::no_link;
use crate::io::{Log, clean, one_line};
use crate::status::Failure;

/// What a host wants of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Wish {
    /// In the RFC's stream: `--log-annotations`.
    in_stream: bool,
    /// As Claude Code's hosts ask for debug messages: `--debug-to-stderr`, `--debug-file`.
    debug: Option<Debug>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Debug {
    Stderr,
    File(PathBuf),
}

impl Wish {
    /// That of a host's command line.
    pub(super) fn of(args: impl Iterator<Item = OsString>) -> Self {
        let mut wish = Self::default();
        let mut args = args.peekable();
        while let Some(arg) = args.next() {
            match arg.to_str().unwrap_or_default() {
                "--log-annotations" => wish.in_stream = true,
                "--debug-to-stderr" | "-d2e" => wish.debug = Some(Debug::Stderr),
                "--debug-file" => wish.debug = args.peek().map(|path| Debug::File(path.into())).or(wish.debug),
                other => {
                    if let Some(path) = other.strip_prefix("--debug-file=") {
                        wish.debug = Some(Debug::File(path.into()));
                    }
                }
            }
        }
        wish
    }
}

/// It goes to stderr, and only when it is asked for: `-v`, or `AGENTGLOT_LOG` (`debug`, `agentglot=trace` …), or in the way of the host's
/// dialect. In a stream it is kept from `info` on if nobody says more.
///
/// # Errors
/// When `AGENTGLOT_LOG` makes no sense, or the file for debug messages cannot be made.
pub(super) fn begin(verbose: u8, wish: &Wish) -> Result<(), Failure> {
    let level = match verbose {
        0 => LevelFilter::OFF,
        1 => LevelFilter::INFO,
        2 => LevelFilter::DEBUG,
        _ => LevelFilter::TRACE,
    };
    let wanted = match std::env::var("AGENTGLOT_LOG") {
        Ok(filter) if !filter.is_empty() => Some(
            filter
                .parse::<Targets>()
                .map_err(|error| Failure::Usage(format!("AGENTGLOT_LOG={filter:?}: {error}")))?,
        ),
        _ => (verbose > 0).then(|| Targets::new().with_default(level)),
    };
    if wanted.is_none() && *wish == Wish::default() {
        return Ok(());
    }
    let ours = |level| Targets::new().with_target("agentglot", level);
    let stream = wish
        .in_stream
        .then(|| Journal.with_filter(wanted.clone().unwrap_or_else(|| ours(LevelFilter::INFO))));
    let debug = wish.debug.as_ref().map(writer).transpose()?.map(|writer| {
        let lines = tracing_subscriber::fmt::layer().with_writer(Discreet(writer)).event_format(Plain);
        lines.with_filter(ours(LevelFilter::DEBUG))
    });
    let lines = wanted.map(|targets| {
        let lines = tracing_subscriber::fmt::layer().with_writer(Discreet(|| Log)).with_ansi(false);
        lines.without_time().with_filter(targets)
    });
    tracing_subscriber::registry().with(stream).with(debug).with(lines).init();
    Ok(())
}

fn writer(debug: &Debug) -> Result<BoxMakeWriter, Failure> {
    match debug {
        Debug::Stderr => Ok(BoxMakeWriter::new(|| Log)),
        Debug::File(path) => {
            let file = no_link(path).and_then(|()| File::options().create(true).append(true).open(path));
            let file = file.map_err(|error| Failure::Write {
                name: path.display().to_string(),
                error,
            })?;
            Ok(BoxMakeWriter::new(file))
        }
    }
}

/// Takes secrets out of each record, which is written in one piece, and makes it one line that may be shown.
struct Discreet<M>(M);

impl<'a, M: MakeWriter<'a>> MakeWriter<'a> for Discreet<M> {
    type Writer = Discreet<M::Writer>;

    fn make_writer(&'a self) -> Self::Writer {
        Discreet(self.0.make_writer())
    }

    fn make_writer_for(&'a self, about: &Metadata<'_>) -> Self::Writer {
        Discreet(self.0.make_writer_for(about))
    }
}

impl<W: Write> Write for Discreet<W> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let record = String::from_utf8_lossy(bytes);
        let mut line = one_line(&clean(record.trim_end()));
        line.push('\n');
        self.0.write_all(line.as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.0.flush()
    }
}

/// Claude Code's way: the time, `[DEBUG]`, the message.
struct Plain;

impl<S, N> FormatEvent<S, N> for Plain
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(&self, cx: &FmtContext<'_, S, N>, mut out: Writer<'_>, event: &Event<'_>) -> fmt::Result {
        let time = chrono::Utc::now().to_rfc3339_opts(chrono::SecondsFormat::Millis, true);
        write!(out, "{time} [{}] ", event.metadata().level())?;
        cx.field_format().format_fields(out.by_ref(), event)?;
        writeln!(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_wish_for_it_by_flags() {
        let wish = |args: &[&str]| Wish::of(args.iter().map(Into::into));
        assert_eq!(wish(&["-p", "--log-annotations"]).debug, None);
        assert!(wish(&["-p", "--log-annotations"]).in_stream);
        assert_eq!(wish(&["--debug-to-stderr"]).debug, Some(Debug::Stderr));
        let file = Some(Debug::File("a b".into()));
        assert_eq!(
            [wish(&["--debug-file", "a b"]).debug, wish(&["--debug-file=a b"]).debug],
            [file.clone(), file]
        );
        assert_eq!(wish(&["--verbose", "--debug-file"]), Wish::default());
    }

    #[test]
    fn a_record_is_one_line_that_may_be_shown() {
        let mut out = Vec::new();
        Discreet(&mut out).write_all(b" WARN x: a\n WARN y: \x1b[2Jb\n").unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), " WARN x: a\\u{a} WARN y: \\u{1b}[2Jb\n");
    }
}
