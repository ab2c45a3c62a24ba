//! What tests of the codecs share.

use crate::codec::Format;
use crate::convert::{Converter, Damage, Options};

/// A log in another format.
pub(crate) fn converted(log: &str, from: &str, to: &str) -> String {
    with(log, Options::new(format(from), format(to)))
}

/// A log in another format, numbers and strings spelt as they were.
pub(crate) fn kept(log: &str, from: &str, to: &str) -> String {
    traced(log, from, to).0
}

/// That, and the ledger of what was lost.
pub(crate) fn traced(log: &str, from: &str, to: &str) -> (String, String) {
    let mut converter = Converter::new(Options {
        ledger: Some("log".to_owned()),
        keep_spelling: true,
        ..Options::new(format(from), format(to))
    });
    (whole(&mut converter, log), converter.take_ledger())
}

/// A log converted as asked for.
pub(crate) fn with(log: &str, options: Options) -> String {
    whole(&mut Converter::new(options), log)
}

/// What is damaged in a log.
pub(crate) fn damage(log: &str, from: &str, to: &str) -> Vec<Damage> {
    let mut converter = Converter::new(Options::new(format(from), format(to)));
    whole(&mut converter, log);
    converter.take_damage()
}

/// The text of a recorded log below `golden/`.
pub(crate) fn golden(path: &str) -> String {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../golden/").to_owned() + path;
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

pub(crate) fn format(name: &str) -> Format {
    name.parse().expect("it is a format")
}

fn whole(converter: &mut Converter, log: &str) -> String {
    let mut out = Vec::new();
    converter.feed(log.as_bytes(), &mut out);
    converter.finish(&mut out);
    String::from_utf8(out).expect("what is written is UTF-8")
}
