//! Law 1. Reading and writing the same dialect and format gives back the same bytes.

use agentglot_adapters::convert::{Options, ToolNames};
use agentglot_adapters::raw::codec::Format;

use crate::common::lost::entries;
use crate::common::{Log, Wrongs, convert, goldens, parallel, parting, recordings, with_ledger};

/// Every way of asking for it.
fn ways(format: Format) -> Vec<Options> {
    let mut ways = Vec::new();
    for partial in [false, true] {
        for tools in [ToolNames::Native, ToolNames::Verbatim] {
            for validate in [false, true] {
                ways.push(Options {
                    partial,
                    tools,
                    validate,
                    ..Options::new(format, format)
                });
            }
        }
    }
    ways.push(with_ledger(Options::new(format, format)));
    ways
}

fn check(log: &Log, format: Format, options: &Options, wrongs: &mut Wrongs) {
    wrongs.check();
    let done = convert(options, &log.bytes);
    let group = format!("identity {format}");
    if done.out != log.bytes {
        let how = format!(
            "partial {}, {:?}, validate {}, ledger {:?}",
            options.partial, options.tools, options.validate, options.ledger
        );
        wrongs.add(&group, format!("{} ({how}): {}", log.name, parting(&log.bytes, &done.out)));
    }
    for entry in entries(&done.ledger).iter().filter(|e| e.fate != "damaged") {
        wrongs.add(&group, format!("{}: nothing changes, and yet the ledger says {entry:?}", log.name));
    }
}

fn all(logs: &[Log]) -> Wrongs {
    parallel(logs, |log, wrongs| {
        for options in ways(log.format) {
            check(log, log.format, &options, wrongs);
        }
        // The bytes of another dialect are noise and unknown types, and just as dear.
        for format in Format::all().filter(|f| f.is_readable() && *f != log.format) {
            check(log, format, &Options::new(format, format), wrongs);
        }
    })
}

#[test]
fn of_goldens() {
    all(&goldens()).finish("identity");
}

#[test]
fn of_recordings() {
    let logs = recordings();
    if !logs.is_empty() {
        all(&logs).finish("identity");
    }
}

/// A line over the limit is the one thing that does not come back, and it is told.
#[test]
fn but_for_lines_over_the_limit() {
    let format = "claude".parse().unwrap();
    let long = format!("{{\"type\":\"x\",\"pad\":\"{}\"}}\n", "p".repeat(200));
    let input = format!("{{\"type\":\"a\"}}\n{long}{{\"type\":\"b\"}}\n");
    let done = convert(
        &with_ledger(Options {
            max_line: 100,
            ..Options::new(format, format)
        }),
        input.as_bytes(),
    );
    assert_eq!(String::from_utf8(done.out).unwrap(), "{\"type\":\"a\"}\n{\"type\":\"b\"}\n");
    assert_eq!(done.damage.len(), 1);
    assert_eq!(done.damage[0].line, 2);
    let told = entries(&done.ledger);
    assert_eq!((told.len(), told[0].first, told[0].fate.as_str()), (1, 2, "damaged"));
    assert!(told[0].note.contains(&long.len().to_string()), "the length is told: {}", told[0].note);
}
