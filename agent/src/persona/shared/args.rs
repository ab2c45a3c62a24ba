//! What a model writes as a call's arguments, held against the tool's schema.

use serde_json::{Map, Value};

/// What is wrong with a call's arguments.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::persona) struct Wrong {
    /// Where: the names and numbers on the way there.
    pub path: Vec<Step>,
    /// What.
    pub what: What,
}

/// A step into a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::persona) enum Step {
    /// A member of an object.
    Member(String),
    /// An element of an array, from 0.
    Element(usize),
}

/// What is wrong with a value.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::persona) enum What {
    /// It is not there, and has to be: what is expected.
    Missing(String),
    /// It is not of the type that it should be: what is expected, and what it is.
    Type(String, &'static str),
    /// It is none of these.
    Choice(Vec<Value>),
    /// It is less than this.
    Small(Value),
    /// Members that nobody knows.
    Unexpected(Vec<String>),
}

/// The arguments as the tool reads them (numbers and truth values that came as texts are what they say), or what is wrong with them, in
/// the order of the schema. Of JSON Schema it knows `type`, `properties`, `required`, `additionalProperties:false`, `items`, `enum` and
/// `minimum`.
///
/// # Errors
/// What is wrong: the first of it, where it is very much.
pub(in crate::persona) fn check(schema: &Value, input: &Value) -> Result<Value, Vec<Wrong>> {
    let mut wrong = Vec::new();
    let read = value(schema, input, &mut Vec::new(), &mut wrong);
    wrong.truncate(MOST);
    if wrong.is_empty() { Ok(read) } else { Err(wrong) }
}

/// So much of what is wrong is told: the model and the host read all of it.
const MOST: usize = 100;

/// The recursion is as deep as the schema is.
fn value(schema: &Value, input: &Value, path: &mut Vec<Step>, wrong: &mut Vec<Wrong>) -> Value {
    let expected = schema["type"].as_str().unwrap_or_default();
    let input = read_as(expected, input);
    let fits = match expected {
        "object" => input.is_object(),
        "array" => input.is_array(),
        "string" => input.is_string(),
        "number" => input.is_number(),
        "integer" => input.is_i64() || input.is_u64(),
        "boolean" => input.is_boolean(),
        _ => true,
    };
    if !fits {
        let expected = if expected == "integer" { "number" } else { expected };
        wrong.push(Wrong {
            path: path.clone(),
            what: What::Type(expected.to_owned(), type_of(&input)),
        });
        return input;
    }
    if let Some(choice) = schema["enum"].as_array().filter(|choice| !choice.contains(&input)) {
        wrong.push(Wrong {
            path: path.clone(),
            what: What::Choice(choice.clone()),
        });
    }
    if let (Some(least), Some(number)) = (schema["minimum"].as_f64(), input.as_f64())
        && number < least
    {
        wrong.push(Wrong {
            path: path.clone(),
            what: What::Small(schema["minimum"].clone()),
        });
    }
    match input {
        Value::Object(members) => object(schema, &members, path, wrong),
        Value::Array(elements) if schema["items"].is_object() => {
            let elements = elements.iter().enumerate().map(|(n, element)| {
                path.push(Step::Element(n));
                let element = value(&schema["items"], element, path, wrong);
                path.pop();
                element
            });
            elements.collect()
        }
        other => other,
    }
}

fn object(schema: &Value, members: &Map<String, Value>, path: &mut Vec<Step>, wrong: &mut Vec<Wrong>) -> Value {
    let none = Map::new();
    let known = schema["properties"].as_object().unwrap_or(&none);
    let required = |name: &str| schema["required"].as_array().is_some_and(|all| all.iter().any(|one| one == name));
    let mut read = members.clone();
    for (name, schema) in known {
        path.push(Step::Member(name.clone()));
        match members.get(name) {
            // What is left out on purpose.
            Some(Value::Null) if !required(name) => {
                read.remove(name);
            }
            Some(member) => {
                read.insert(name.clone(), value(schema, member, path, wrong));
            }
            None if required(name) => wrong.push(Wrong {
                path: path.clone(),
                what: What::Missing(schema["type"].as_str().unwrap_or("value").to_owned()),
            }),
            None => {}
        }
        path.pop();
    }
    if schema["additionalProperties"] == Value::Bool(false) {
        let unknown: Vec<String> = members.keys().filter(|name| !known.contains_key(*name)).take(MOST).cloned().collect();
        if !unknown.is_empty() {
            wrong.push(Wrong {
                path: path.clone(),
                what: What::Unexpected(unknown),
            });
        }
    }
    Value::Object(read)
}

/// Models write numbers and truth values as texts, and whole numbers with a point.
fn read_as(expected: &str, input: &Value) -> Value {
    let read = match (expected, input) {
        ("number" | "integer", Value::String(text)) => serde_json::from_str::<Value>(text.trim()).ok().filter(Value::is_number),
        ("boolean", Value::String(text)) => match text.as_str() {
            "true" => Some(true.into()),
            "false" => Some(false.into()),
            _ => None,
        },
        _ => None,
    };
    let read = read.unwrap_or_else(|| input.clone());
    match read.as_f64() {
        // Up to here every whole number is exact.
        Some(number) if expected == "integer" && read.is_f64() && number.fract() == 0.0 && number.abs() < 9e15 => (number as i64).into(),
        _ => read,
    }
}

/// A value's type in JavaScript's words.
fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn schema() -> Value {
        json!({
            "type": "object",
            "properties": {
                "path": {"type": "string"},
                "limit": {"type": "integer", "minimum": 0},
                "mode": {"type": "string", "enum": ["a", "b"]},
                "all": {"type": "boolean"},
                "edits": {"type": "array", "items": {"type": "object", "properties": {"old": {"type": "string"}}, "required": ["old"]}},
            },
            "required": ["path"],
            "additionalProperties": false,
        })
    }

    #[test]
    fn what_fits_is_read() {
        let read = check(
            &schema(),
            &json!({"path": "x", "limit": "5", "all": "true", "mode": null, "edits": [{"old": "y"}]}),
        );
        assert_eq!(read, Ok(json!({"path": "x", "limit": 5, "all": true, "edits": [{"old": "y"}]})));
        assert_eq!(
            check(&schema(), &json!({"path": "x", "limit": 2.0})),
            Ok(json!({"path": "x", "limit": 2}))
        );
    }

    #[test]
    fn all_that_is_wrong_is_told() {
        let wrong = check(
            &schema(),
            &json!({"limit": -1, "mode": "c", "all": 1, "edits": [{}, {"old": 1}], "more": 1}),
        );
        let wrong: Vec<_> = wrong
            .expect_err("wrong")
            .into_iter()
            .map(|wrong| (wrong.path.len(), wrong.what))
            .collect();
        assert_eq!(
            wrong,
            [
                (1, What::Missing("string".into())),
                (1, What::Small(0.into())),
                (1, What::Choice(vec!["a".into(), "b".into()])),
                (1, What::Type("boolean".into(), "number")),
                (3, What::Missing("string".into())),
                (3, What::Type("string".into(), "number")),
                (0, What::Unexpected(vec!["more".into()])),
            ]
        );
        for input in [json!(null), json!([]), json!("x"), json!(1)] {
            assert!(check(&schema(), &input).is_err(), "{input}");
        }
    }

    #[test]
    fn of_very_much_that_is_wrong_the_first_is_told() {
        let mut input: Map<String, Value> = (0..5000).map(|n| (format!("k{n}"), json!(n))).collect();
        let told = check(&schema(), &Value::Object(input.clone())).unwrap_err();
        let Some(What::Unexpected(names)) = told.last().map(|wrong| &wrong.what) else {
            panic!("{told:?}")
        };
        assert_eq!(names.len(), MOST);
        input.insert("edits".to_owned(), vec![json!({}); 5000].into());
        assert_eq!(check(&schema(), &Value::Object(input)).unwrap_err().len(), MOST);
    }
}
