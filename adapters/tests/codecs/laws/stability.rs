//! Law 5. decode(encode(decode(x))) = decode(x): what was written reads back as what was meant.

use agentglot_adapters::convert::Options;
use agentglot_adapters::raw::codec::{Decode, Decoder, Dialect, Encode, Encoder, Format, Style};
use agentglot_adapters::raw::event::{Event, Input, Sink};
use agentglot_adapters::raw::json::Out;

use crate::common::read::read;
use crate::common::{Log, Wrongs, convert, events, parallel, parting, plain_goldens, quick, short, targets, verbatim};

/// Logs in formats that are not only read.
fn written_goldens() -> impl Iterator<Item = Log> {
    plain_goldens().into_iter().filter(|log| log.format.is_writable())
}

/// To another format, from there to the canonical events, and back to the format: the same bytes as the first time.
#[test]
fn of_what_each_pair_writes() {
    let over = |log: &Log, wrongs: &mut Wrongs| {
        // A host that speaks while the agent works has no line of its own in Claude's words: it reads like one of the agent's.
        let steers = memchr::memmem::find(&log.bytes, b"\"turn/steer\"").is_some();
        let targets = targets(log.format).into_iter().filter(|to| *to != events());
        for to in targets.filter(|to| !steers || to.dialect != Dialect::Claude) {
            wrongs.check();
            let first = convert(&verbatim(log.format, to), &log.bytes).out;
            let between = quick(to, events(), &first).out;
            let second = convert(&verbatim(events(), to), &between).out;
            if first != second {
                wrongs.add(
                    format!("stability {} -> {to}", log.format),
                    format!("{}: {}", log.name, parting(&first, &second)),
                );
            }
        }
    };
    parallel(&plain_goldens(), over).finish("stability");
}

/// Stored as canonical events and read back, a log goes to every target as it went directly.
#[test]
fn of_stored_events() {
    let over = |log: &Log, wrongs: &mut Wrongs| {
        let stored = quick(log.format, events(), &log.bytes).out;
        for to in targets(log.format).into_iter().filter(|to| *to != events()) {
            wrongs.check();
            // The events do not say whose tools they name, so names stay as they are on both ways.
            let direct = read(to, &convert(&verbatim(log.format, to), &log.bytes).out);
            let stored = read(to, &convert(&verbatim(events(), to), &stored).out);
            if direct != stored {
                let at = direct
                    .iter()
                    .zip(&stored)
                    .position(|(a, b)| a != b)
                    .unwrap_or(direct.len().min(stored.len()));
                let what = format!("{}: item {at}: {:?} / {:?}", log.name, direct.get(at), stored.get(at));
                wrongs.add(format!("stored {} -> {to}", log.format), short(&what, 500));
            }
        }
    };
    parallel(&plain_goldens(), over).finish("stability");
}

/// Stored as canonical events and read back into the dialect that it comes from, a log says what it said, line by line. The
/// RFC's two modes hold other events, and stored events do not say which of the two they come from.
#[test]
fn of_logs_that_are_given_back() {
    let over = |log: &Log, wrongs: &mut Wrongs| {
        let stored = quick(log.format, events(), &log.bytes).out;
        if memchr::memmem::find(&stored, b"\"synthetic\":true").is_some() {
            return; // An outcome that was made up is not the log's.
        }
        wrongs.check();
        let back = convert(&verbatim(events(), log.format), &stored).out;
        let again = quick(log.format, events(), &back).out;
        if stored != again {
            wrongs.add(
                format!("given back {}", log.format),
                format!("{}: {}", log.name, parting(&stored, &again)),
            );
        }
    };
    let logs: Vec<Log> = written_goldens().filter(|log| log.format.dialect != Dialect::Qwen).collect();
    parallel(&logs, over).finish("stability");
}

/// Hands every event to two encoders.
struct Both<'e> {
    own: &'e mut Encoder,
    own_out: &'e mut Out,
    canonical: &'e mut Encoder,
    canonical_out: &'e mut Out,
}

impl<'a> Sink<'a> for Both<'_> {
    fn event(&mut self, event: &Event<'a>) {
        self.own.event(event, self.own_out);
        self.canonical.event(event, self.canonical_out);
    }

    fn input(&mut self, input: &Input<'a>) {
        self.own.input(input, self.own_out);
        self.canonical.input(input, self.canonical_out);
    }
}

/// Decodes each line and encodes it twice, without copying raw lines: in its own dialect, and as canonical events.
fn rebuilt(format: Format, log: &[u8]) -> (Vec<u8>, Vec<u8>) {
    let style = |format: Format| Style {
        source_mode: format.mode,
        partial: true,
        ..Style::new(format.mode, format.dialect)
    };
    let own_style = style(format);
    let (mut own, mut own_out) = (Encoder::new(format.dialect, own_style), Out::default());
    let canonical_style = Style {
        mode: events().mode,
        ..own_style
    };
    let (mut canonical, mut canonical_out) = (Encoder::new(Dialect::Agentglot, canonical_style), Out::default());
    let mut decoder = Decoder::new(format);
    let arena = bumpalo::Bump::new();
    for line in log.split(|b| *b == b'\n') {
        let Ok(text) = std::str::from_utf8(line) else { continue };
        let mut rest = text.trim_ascii_start();
        let cx = agentglot_adapters::raw::codec::Cx::new(&arena);
        while !rest.is_empty() {
            let mut both = Both {
                own: &mut own,
                own_out: &mut own_out,
                canonical: &mut canonical,
                canonical_out: &mut canonical_out,
            };
            let Ok(used) = decoder.line(rest, &cx, &mut both) else { break };
            rest = rest[used..].trim_ascii_start();
        }
    }
    (own_out.written().to_vec(), canonical_out.written().to_vec())
}

/// A log that its own encoder wrote means the same, event by event.
#[test]
fn of_logs_written_anew() {
    let over = |log: &Log, wrongs: &mut Wrongs| {
        wrongs.check();
        let (again, first) = rebuilt(log.format, &log.bytes);
        let (_, second) = rebuilt(log.format, &again);
        if first != second {
            wrongs.add(format!("rebuilt {}", log.format), format!("{}: {}", log.name, parting(&first, &second)));
        }
    };
    // What is one value is written when its session is over: its folder's tests write it anew.
    let by_line = written_goldens().filter(|log| !log.format.mode.layout.is_one_value());
    parallel(&by_line.collect::<Vec<_>>(), over).finish("stability");
}

/// What canonical events hold is what they are read back as.
#[test]
fn of_events() {
    let over = |log: &Log, wrongs: &mut Wrongs| {
        wrongs.check();
        let first = quick(log.format, events(), &log.bytes).out;
        let (again, _) = rebuilt(events(), &first);
        // The header names the dialect that the events come from, which events alone do not know.
        let body = |bytes: &[u8]| -> Vec<u8> {
            let lines: Vec<&[u8]> = bytes.split(|b| *b == b'\n').filter(|l| !l.starts_with(b"{\"agentglot\"")).collect();
            lines.join(&b'\n')
        };
        let (first, again) = (body(&first), body(&again));
        if first != again {
            wrongs.add("events", format!("{}: {}", log.name, parting(&first, &again)));
        }
    };
    parallel(&plain_goldens(), over).finish("stability");
}

/// Two conversions of one log give the same bytes: nothing depends on memory, time or chance.
#[test]
fn of_repeated_conversions() {
    let over = |log: &Log, wrongs: &mut Wrongs| {
        for to in targets(log.format) {
            wrongs.check();
            let options = crate::common::with_ledger(Options::new(log.format, to));
            if convert(&options, &log.bytes) != convert(&options, &log.bytes) {
                wrongs.add(format!("repeated {} -> {to}", log.format), log.name.clone());
            }
        }
    };
    parallel(&plain_goldens(), over).finish("stability");
}
