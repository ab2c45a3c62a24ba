//! Lines of a log that do not fit the schema of their kind.

use std::collections::BTreeMap;

use agentglot_adapters::check::Tally;
use agentglot_adapters::raw::codec::Format;
use agentglot_adapters::raw::frame::{Line, Lines};
use jsonschema::Validator;
use serde_json::Value;

/// Lines that are longer are not looked at.
const LONGEST: usize = 16 << 20;

/// Reads a log piece by piece, and finds what does not fit. Formats that are not one JSON object a line are passed over.
#[derive(Debug)]
pub struct Misfits {
    lines: Lines,
    line: u64,
    /// What agents and what hosts write; a log may hold both.
    sides: Vec<Validator>,
    found: BTreeMap<String, Tally>,
}

impl Misfits {
    /// Ready for the first byte of a log.
    pub fn new(format: Format) -> Self {
        let by_line = format.mode.layout.is_lines();
        let schemas = [false, true].into_iter().filter(|_| by_line);
        let schemas = schemas.filter_map(|input| super::schema(format.dialect, input));
        Self {
            lines: Lines::new(LONGEST),
            line: 0,
            // A test makes a validator of every schema.
            sides: schemas.filter_map(|schema| jsonschema::validator_for(&schema).ok()).collect(),
            found: BTreeMap::new(),
        }
    }

    /// Takes the next piece.
    pub fn feed(&mut self, input: &[u8]) {
        if self.sides.is_empty() {
            return;
        }
        let Self { lines, line, sides, found } = self;
        lines.feed(input, |bytes| look(bytes, line, sides, found));
    }

    /// What does not fit, as `POINTER: what is wrong`: how often, and where first.
    pub fn finish(mut self) -> BTreeMap<String, Tally> {
        let Self { lines, line, sides, found } = &mut self;
        if !sides.is_empty() {
            lines.finish(|bytes| look(bytes, line, sides, found));
        }
        self.found
    }
}

/// A line that fits what either side writes is sound. Of one that fits neither, that is told which lies deepest: the other side's schema
/// knows nothing of it.
fn look(bytes: Line<'_>, line: &mut u64, sides: &[Validator], found: &mut BTreeMap<String, Tally>) -> bool {
    *line += 1;
    let value = match bytes {
        Line::Whole(bytes) => serde_json::from_slice::<Value>(bytes),
        Line::Oversize { .. } => return true,
    };
    // What is no JSON is told as such, and so is what is no object.
    let Ok(value) = value else { return true };
    if !value.is_object() || sides.iter().any(|side| side.is_valid(&value)) {
        return true;
    }
    let wrong = sides.iter().filter_map(|side| {
        let error = side.iter_errors(&value).max_by_key(|error| error.instance_path().as_str().len())?;
        let what = error.masked().to_string();
        Some((general(error.instance_path().as_str()), what))
    });
    if let Some((pointer, what)) = wrong.max_by_key(|(pointer, _)| pointer.len()) {
        let what = if pointer.is_empty() { what } else { format!("{pointer}: {what}") };
        let tally = found.entry(what).or_insert(Tally { count: 0, first: *line });
        tally.count += 1;
    }
    true
}

/// A JSON pointer with `*` for the elements of lists.
fn general(pointer: &str) -> String {
    let steps = pointer.split('/').map(|step| if step.parse::<u64>().is_ok() { "*" } else { step });
    steps.collect::<Vec<_>>().join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(dialect: &str, log: &str) -> Vec<(String, u64, u64)> {
        let mut misfits = Misfits::new(dialect.parse().unwrap());
        let (head, tail) = log.split_at(log.len() / 2);
        misfits.feed(head.as_bytes());
        misfits.feed(tail.as_bytes());
        misfits
            .finish()
            .into_iter()
            .map(|(what, tally)| (what, tally.first, tally.count))
            .collect()
    }

    #[test]
    fn what_does_not_fit_is_counted_by_place() {
        let log = concat!(
            "{\"type\":\"final\",\"content\":\"done\"}\nnoise\n",
            "{\"type\":\"round\",\"number\":\"one\"}\n{\"type\":\"round\",\"number\":\"two\"}\n{\"type\":\"other\",\"number\":[]}\n",
            "{\"type\":\"tool_result\",\"name\":\"n\",\"result\":\"r\"}"
        );
        let number = "/number: value is not of type \"integer\"".to_owned();
        let success = "\"success\" is a required property".to_owned();
        assert_eq!(found("tricode", log), [(success, 6, 1), (number, 3, 2)]);
    }

    #[test]
    fn both_sides_may_stand_in_a_log() {
        let log = concat!(
            "{\"session_id\":\"s\",\"input\":{\"origin\":\"user\",\"parts\":[]}}\n",
            "{\"type\":\"result/cancel\",\"status\":\"ok\"}\n",
            "{\"session_id\":\"s\",\"input\":{\"origin\":\"user\",\"parts\":[{\"type\":\"text\",\"text\":5}]}}\n"
        );
        assert_eq!(
            found("qwen", log),
            [("/input/parts/*/text: value is not of type \"string\"".to_owned(), 3, 1)]
        );
        assert!(found("claude:json", log).is_empty());
    }
}
