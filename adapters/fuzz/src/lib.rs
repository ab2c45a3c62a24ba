//! The laws that hold for any bytes, as assertions for the fuzz targets.

use agentglot_adapters::convert::{Converter, Options, ToolNames};
use agentglot_adapters::raw::codec::{Dialect, Format, Layout};

#[path = "../../tests/codecs/common/chance.rs"]
mod chance;
#[path = "../../tests/codecs/common/siblings.rs"]
mod siblings;

use chance::Chance;
use siblings::{Dictionary, siblings, sites};

/// What a conversion gave.
#[derive(Debug, PartialEq, Eq)]
pub struct Converted {
    /// The output.
    pub out: Vec<u8>,
    /// The ledger.
    pub ledger: String,
    /// How many parts were damaged.
    pub damaged: u64,
}

/// Converts in reads of at most `most` bytes.
pub fn convert(options: &Options, input: &[u8], most: usize) -> Converted {
    let mut converter = Converter::new(options.clone());
    let mut out = Vec::new();
    for read in input.chunks(most.max(1)) {
        converter.feed(read, &mut out);
    }
    converter.finish(&mut out);
    Converted {
        out,
        ledger: converter.take_ledger(),
        damaged: converter.damaged(),
    }
}

/// The decoder of a format, on any bytes: the same bytes come back; how the input is cut changes nothing; what is told of
/// damage is told in order; stored as canonical events it reads back without damage.
pub fn decode(input: &[u8]) {
    let ([format, cut], input) = chosen(input);
    let (format, cut) = (format_of(format, Format::is_readable), number(cut));
    let same = Options {
        ledger: Some("log".to_owned()),
        validate: cut & 64 != 0,
        ..Options::new(format, format)
    };
    let whole = convert(&same, input, usize::MAX);
    assert!(whole.out == input, "identity of {format}");
    assert_eq!(convert(&same, input, usize::from(cut % 17) + 1), whole, "chunking of {format}");

    let events = Format::from(Dialect::Agentglot);
    if format.dialect != Dialect::Agentglot {
        let options = Options {
            ledger: Some("log".to_owned()),
            ..Options::new(format, events)
        };
        let stored = convert(&options, input, usize::MAX);
        assert_eq!(
            convert(&options, input, usize::from(cut % 23) + 1),
            stored,
            "chunking of {format} to events"
        );
        sound(events, &stored.out);
        let back = convert(&Options::new(events, Format::from(Dialect::Claude)), &stored.out, usize::MAX);
        assert_eq!(
            back.damaged,
            0,
            "events that were written are read: {}",
            String::from_utf8_lossy(&stored.out)
        );
    }
}

/// Any pair, with any options, as the first bytes choose.
pub fn pair(input: &[u8]) {
    let ([from, to, flags], rest) = chosen(input);
    let (from, to, flags) = (format_of(from, Format::is_readable), format_of(to, |_| true), number(flags));
    let flag = |bit: u8| flags & bit != 0;
    let options = Options {
        tools: if flag(1) { ToolNames::Verbatim } else { ToolNames::Native },
        partial: flag(2),
        repair: flag(4),
        validate: flag(8),
        ledger: flag(16).then(|| "log".to_owned()),
        old_text: flag(32),
        verbose: flag(64),
        max_line: if flag(128) { 300 } else { Options::MAX_LINE },
        ..Options::new(from, to)
    };
    let whole = convert(&options, rest, usize::MAX);
    assert_eq!(convert(&options, rest, usize::from(flags % 13) + 1), whole, "chunking {from} -> {to}");
    for entry in whole.ledger.lines() {
        assert!(
            serde_json::from_str::<serde_json::Value>(entry).is_ok(),
            "a line of the ledger is no JSON: {entry}"
        );
    }
    both_ways(from, to, rest, &options);
    if from != to {
        // Within one dialect text that is no JSON stays where it stood.
        if from.dialect != to.dialect {
            sound(to, &whole.out);
        }
        one_end(from, to, rest, &options);
    }
}

/// Lines that repeat are read by comparing them with earlier ones, unless somebody keeps a ledger. Both ways give the same, for the log,
/// for the log said twice, and with lines between that differ from its own in one value.
fn both_ways(from: Format, to: Format, input: &[u8], options: &Options) {
    let twice = [input, b"\n", input].concat();
    for log in [input, &twice, &with_siblings(input)] {
        let with = |ledger: Option<&str>| {
            let options = Options {
                ledger: ledger.map(str::to_owned),
                ..options.clone()
            };
            let Converted { out, damaged, .. } = convert(&options, log, usize::MAX);
            (out, damaged)
        };
        assert!(with(None) == with(Some("log")), "with a ledger and without one, {from} -> {to}");
    }
}

/// The log with lines like its own in front of them.
fn with_siblings(input: &[u8]) -> Vec<u8> {
    let mut chance = Chance::new(input.iter().fold(0, |seed, &byte| seed.wrapping_mul(31) + u64::from(byte)));
    let mut dictionary = Dictionary::default();
    let mut log = Vec::new();
    for line in input.split(|byte| *byte == b'\n') {
        if let Ok(line) = std::str::from_utf8(line) {
            dictionary.add(&sites(line));
            for like in siblings(line, 2, &dictionary, &mut chance) {
                log.extend_from_slice(like.as_bytes());
                log.push(b'\n');
            }
        }
        log.extend_from_slice(line);
        log.push(b'\n');
    }
    log
}

/// UTF-8, and each line a JSON value; Tricode also writes plain sentences, and text is text.
fn sound(to: Format, out: &[u8]) {
    let text = std::str::from_utf8(out).unwrap_or_else(|e| panic!("{to}: {e}"));
    if to.mode.layout == Layout::Text {
        return;
    }
    let sound = |text: &str| serde_json::from_str::<&serde_json::value::RawValue>(text).is_ok();
    // One value may be laid out over lines.
    if to.mode.layout.is_one_value() && sound(text) {
        return;
    }
    for line in text.split('\n').filter(|line| !line.is_empty()) {
        let plain = to.dialect == Dialect::Tricode && !line.starts_with('{');
        assert!(plain || sound(line), "{to}: no JSON: {line}");
    }
}

/// As many turns end in the RFC's formats as in the canonical events, which say how many there are.
fn one_end(from: Format, to: Format, input: &[u8], options: &Options) {
    if to.dialect != Dialect::Qwen || to.mode.layout == Layout::Text || from.dialect == Dialect::Qwen {
        return;
    }
    let count = |format: Format, is_end: &dyn Fn(&str) -> bool| {
        let options = Options {
            ledger: None,
            to: format,
            ..options.clone()
        };
        let out = convert(&options, input, usize::MAX).out;
        String::from_utf8_lossy(&out).lines().filter(|line| is_end(line)).count()
    };
    let found = count(to, &|line| {
        line.starts_with("{\"id\":\"chatcmpl-") && line.contains("\"metadata\":{\"summary\":\"true\"")
    });
    if from.dialect == Dialect::Agentglot {
        // Stored events are as they were: several outcomes, or none, where the log is damaged.
        return;
    }
    let events = count(Format::from(Dialect::Agentglot), &|line| line.starts_with("{\"event\":\"outcome\""));
    assert_eq!(found, events, "ends {from} -> {to}");
}

/// The words of the first line, and what is behind it.
fn chosen<const WORDS: usize>(input: &[u8]) -> ([&[u8]; WORDS], &[u8]) {
    let end = input.iter().position(|byte| *byte == b'\n').unwrap_or(input.len());
    let mut words = input[..end].split(|byte| *byte == b' ');
    (
        std::array::from_fn(|_| words.next().unwrap_or_default()),
        input.get(end + 1..).unwrap_or_default(),
    )
}

/// The format of this name. A word that is no name of one chooses as well, so that a changed line is no wasted one.
fn format_of(word: &[u8], fits: impl Fn(Format) -> bool) -> Format {
    let all: Vec<Format> = Format::all().filter(|format| fits(*format)).collect();
    let named = std::str::from_utf8(word).ok().and_then(|name| name.parse().ok());
    named
        .filter(|format| all.contains(format))
        .unwrap_or_else(|| all[usize::from(number(word)) % all.len()])
}

/// The number that a word says, or that comes of it.
fn number(word: &[u8]) -> u8 {
    let said = std::str::from_utf8(word).ok().and_then(|word| word.parse().ok());
    said.unwrap_or_else(|| word.iter().fold(0, |sum: u8, byte| sum.wrapping_mul(31).wrapping_add(*byte)))
}
