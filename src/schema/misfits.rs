//! Lines of a log that do not fit the schema of their kind.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::{Arc, Mutex, PoisonError};

use agentglot_adapters::check::{Misfit, Schemas};
use agentglot_adapters::raw::codec::Format;
use jsonschema::Validator;
use serde_json::{Value, json};

use super::shape::shape;

/// Lines that are longer are not looked at.
const LONGEST: usize = 16 << 20;
/// So many makes of lines are kept in mind; then it begins anew.
const MOST_SHAPES: usize = 1 << 16;

/// Finds what does not fit. A line of the same make as one that fits is not looked at any further.
#[derive(Debug, Default)]
pub struct Misfits {
    formats: BTreeMap<Format, Known>,
}

/// What a log has shown of a format.
#[derive(Debug)]
struct Known {
    sides: Arc<Sides>,
    fitting: HashSet<u64>,
}

/// What agents and what hosts write; a log may hold both.
#[derive(Debug)]
struct Sides {
    sides: Vec<Side>,
    /// Members whose text a schema looks at.
    tags: BTreeSet<String>,
}

/// What one side writes.
#[derive(Debug)]
struct Side {
    lines: Validator,
    /// Whether a line is of a kind that this side writes: of others its schema says nothing, and everything fits it.
    kinds: Option<Validator>,
}

impl Schemas for Misfits {
    fn misfit(&mut self, format: Format, line: &str) -> Option<Misfit> {
        let Known { sides, fitting } = self.formats.entry(format).or_insert_with(|| Known {
            sides: Sides::shared(format),
            fitting: HashSet::new(),
        });
        if sides.sides.is_empty() || line.len() > LONGEST {
            return None;
        }
        let shape = shape(line, &sides.tags);
        if fitting.contains(&shape) {
            return None;
        }
        let found = sides.look(line);
        if found.is_none() {
            if fitting.len() == MOST_SHAPES {
                fitting.clear();
            }
            fitting.insert(shape);
        }
        found
    }
}

impl Sides {
    /// Those of a format, which are made once: that takes longer than a small log.
    fn shared(format: Format) -> Arc<Self> {
        static MADE: Mutex<BTreeMap<Format, Arc<Sides>>> = Mutex::new(BTreeMap::new());
        let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(made.entry(format).or_insert_with(|| Arc::new(Self::of(format))))
    }

    fn of(format: Format) -> Self {
        let schemas = [false, true].into_iter().filter_map(|input| super::schema(format, input));
        let mut tags = BTreeSet::new();
        let sides = schemas.filter_map(|schema| {
            add_tags(&schema, &mut tags);
            // A test makes a validator of every schema.
            Some(Side {
                lines: jsonschema::validator_for(&schema).ok()?,
                kinds: kinds(&schema),
            })
        });
        Self {
            sides: sides.collect(),
            tags,
        }
    }

    /// A line that fits what a side writes is sound, if lines of its kind are that side's; where they are nobody's, either side tells. Of
    /// one that fits neither, that is told which lies deepest: the other side's schema knows nothing of it.
    fn look(&self, line: &str) -> Option<Misfit> {
        // What is no JSON is told as such, and so is what is no object.
        let value = serde_json::from_str::<Value>(line).ok().filter(Value::is_object)?;
        let knows = |side: &&Side| side.kinds.as_ref().is_none_or(|kinds| kinds.is_valid(&value));
        let mut sides: Vec<&Side> = self.sides.iter().filter(knows).collect();
        if sides.is_empty() {
            sides.extend(&self.sides);
        }
        if sides.iter().any(|side| side.lines.is_valid(&value)) {
            return None;
        }
        let wrong = sides.iter().filter_map(|side| {
            let error = side.lines.iter_errors(&value).max_by_key(|error| error.instance_path().as_str().len())?;
            let pointer = error.instance_path().as_str().to_owned();
            Some((pointer, error.masked().to_string()))
        });
        let (pointer, what) = wrong.max_by_key(|(pointer, _)| pointer.len())?;
        let place = general(&pointer);
        let place = if place.is_empty() { place } else { format!("{place}: ") };
        Some(Misfit {
            what: format!("does not fit the schema: {place}{what}"),
            pointer,
        })
    }
}

/// Fits the lines of which a schema says more than of any line.
fn kinds(schema: &Value) -> Option<Validator> {
    let kinds = schema.get("allOf")?.as_array()?.iter().filter_map(|kind| kind.get("if"));
    jsonschema::validator_for(&json!({ "anyOf": kinds.collect::<Vec<_>>() })).ok()
}

/// The members whose values are told from one another.
fn add_tags(schema: &Value, tags: &mut BTreeSet<String>) {
    match schema {
        Value::Object(members) => {
            if let Some(Value::Object(properties)) = members.get("properties") {
                let told = |of: &Value| {
                    ["const", "enum", "pattern", "format", "minLength", "maxLength"]
                        .iter()
                        .any(|word| of.get(word).is_some())
                };
                tags.extend(properties.iter().filter(|(_, of)| told(of)).map(|(name, _)| name.clone()));
            }
            members.values().for_each(|value| add_tags(value, tags));
        }
        Value::Array(elements) => elements.iter().for_each(|value| add_tags(value, tags)),
        _ => {}
    }
}

/// A JSON pointer with `*` for the elements of lists.
fn general(pointer: &str) -> String {
    let steps = pointer.split('/').map(|step| if step.parse::<u64>().is_ok() { "*" } else { step });
    steps.collect::<Vec<_>>().join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(dialect: &str, log: &str) -> Vec<(String, u64)> {
        let format: Format = dialect.parse().unwrap();
        let mut misfits = Misfits::default();
        let lines = log.lines().zip(1..);
        let wrong = lines.filter_map(|(line, n)| Some((misfits.misfit(format, line)?, n)));
        wrong
            .map(|(misfit, n)| (misfit.what.replace("does not fit the schema: ", ""), n))
            .collect()
    }

    #[test]
    fn what_does_not_fit_is_named_by_place() {
        let log = concat!(
            "{\"type\":\"final\",\"content\":\"done\"}\nnoise\n",
            "{\"type\":\"round\",\"number\":1}\n{\"type\":\"round\",\"number\":\"two\"}\n{\"type\":\"round\",\"number\":-1}\n",
            "{\"type\":\"round\",\"number\":2.5}\n{\"type\":\"round\",\"number\":2.0}\n{\"type\":\"other\",\"number\":[]}\n",
            "{\"type\":\"tool_result\",\"name\":\"n\",\"result\":\"r\"}"
        );
        let number = "/number: value is not of type \"integer\"".to_owned();
        let success = "\"success\" is a required property".to_owned();
        let found = found("tricode", log);
        assert_eq!(found.len(), 4, "{found:?}");
        assert_eq!([&found[0], &found[2], &found[3]], [&(number.clone(), 4), &(number, 6), &(success, 9)]);
        assert_eq!(found[1].1, 5, "a negative number is no count");
    }

    #[test]
    fn schemas_are_made_once_for_all_logs() {
        let format: Format = "tricode".parse().unwrap();
        assert!(Arc::ptr_eq(&Sides::shared(format), &Sides::shared(format)));
    }

    #[test]
    fn both_sides_may_stand_in_a_log() {
        let log = concat!(
            "{\"session_id\":\"s\",\"input\":{\"origin\":\"user\",\"parts\":[]}}\n",
            "{\"type\":\"result/cancel\",\"status\":\"ok\"}\n",
            "{\"session_id\":\"s\",\"input\":{\"origin\":\"user\",\"parts\":[{\"type\":\"text\",\"text\":\"t\"}]}}\n",
            "{\"session_id\":\"s\",\"input\":{\"origin\":\"user\",\"parts\":[{\"type\":\"text\",\"text\":5}]}}\n"
        );
        assert_eq!(
            found("qwen", log),
            [("/input/parts/*/text: value is not of type \"string\"".to_owned(), 4)]
        );
        // Of lines of the agent's, the host's schema does not say that they are sound.
        let log = "{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":\"no\",\"session_id\":\"s\"}\n{\"type\":\"other\"}\n";
        for dialect in ["claude", "qwen-code"] {
            assert_eq!(
                found(dialect, log),
                [("/is_error: value is not of type \"boolean\"".to_owned(), 1)],
                "{dialect}"
            );
        }
    }
}
