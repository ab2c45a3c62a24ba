#[path = "../../adapters/tests/codecs/common/beside.rs"]
mod beside;

use std::fs;
use std::path::{Path, PathBuf};

use agentglot_adapters::raw::codec::{Dialect, Format};
use jsonschema::Validator;
use serde_json::{Value, json};

use super::{formats, schema};

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn validator(format: Format, input: bool) -> Validator {
    let schema = schema(format, input).unwrap();
    jsonschema::draft202012::meta::validate(&schema).unwrap();
    jsonschema::validator_for(&schema).unwrap()
}

fn all() -> Vec<(Format, bool)> {
    formats()
        .flat_map(|format| [(format, false), (format, true)])
        .filter(|(format, input)| schema(*format, *input).is_some())
        .collect()
}

/// The format that has the schema of this one's lines.
fn described(format: Format) -> Format {
    formats().find(|of| *of == format).unwrap_or_else(|| format.dialect.into())
}

/// The lines of a log, those that are JSON objects; of a stream of events, the data.
fn objects(text: &str) -> impl Iterator<Item = (usize, Value)> + '_ {
    text.lines().enumerate().filter_map(|(n, line)| {
        let value: Value = serde_json::from_str(line.strip_prefix("data:").unwrap_or(line)).ok()?;
        value.is_object().then_some((n + 1, value))
    })
}

/// Every golden that is written line by line, with the format that has its schema and whether a host wrote it; what the codecs write, too.
fn logs() -> Vec<(PathBuf, Format, bool)> {
    let golden = root().join("golden");
    let manifest: toml::Table = fs::read_to_string(golden.join("MANIFEST.toml")).unwrap().parse().unwrap();
    let mut logs = Vec::new();
    for entry in manifest["file"].as_array().unwrap() {
        let format: Format = entry["dialect"].as_str().unwrap().parse().unwrap();
        let hostile = entry.get("hostile").and_then(toml::Value::as_bool).unwrap_or(false);
        let path = golden.join(entry["path"].as_str().unwrap());
        if !hostile {
            logs.push((path, described(format), entry["side"].as_str() == Some("host")));
        }
    }
    for folder in fs::read_dir(golden.join("expected")).unwrap().flatten() {
        for file in fs::read_dir(folder.path()).unwrap().flatten() {
            let path = file.path();
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            if name.contains(".ledger.") {
                continue;
            }
            let target = name.trim_end_matches(".jsonl").rsplit('.').next().unwrap();
            let target = target.strip_suffix("-stream-chunk-json").unwrap_or(target);
            if let Ok(format) = target.parse::<Format>() {
                logs.push((path, described(format), name.contains(".in.")));
            }
        }
    }
    if let Some(shared) = beside::shared("protocols") {
        for mode in ["stream-json", "stream-chunk-json"] {
            logs.push((shared.join(format!("qwen-rfc-example.{mode}.jsonl")), Dialect::Qwen.into(), false));
        }
    }
    logs
}

/// Lines of hosts that are broken on purpose, to see what the programs say to them: file and line.
const BROKEN: &[(&str, usize)] = &[
    ("claude/stdin_control_no_id.in.jsonl", 1),
    ("qwen-code/ctl_queries.in.jsonl", 19),
    ("qwen-code/ctl_queries.in.jsonl", 20),
    ("qwen-code/ctl_queries.in.jsonl", 22),
    ("qwen-code/ctl_user_bad_shapes.in.jsonl", 6),
];

fn is_broken(path: &Path, line: usize) -> bool {
    BROKEN.iter().any(|(name, of)| path.ends_with(name) && *of == line)
}

#[test]
fn goldens_and_what_is_written_fit() {
    let validators: Vec<_> = all()
        .into_iter()
        .map(|(format, input)| (format, input, validator(format, input)))
        .collect();
    let mut bad = String::new();
    let mut seen = 0;
    for (path, format, input) in logs() {
        let text = fs::read_to_string(&path).unwrap_or_default();
        for (n, value) in objects(&text) {
            // Stored events of a log of both directions are of both sides.
            let input = input || format.dialect == Dialect::Agentglot && value.get("input").is_some();
            let found = validators.iter().find(|(of, host, _)| (*of, *host) == (format, input));
            let Some((.., validator)) = found else { break };
            seen += 1;
            let wrong = validator.iter_errors(&value).next();
            match (wrong, is_broken(&path, n)) {
                (Some(error), false) => bad.push_str(&format!("{}:{n}: {}: {error:.300}\n", path.display(), error.instance_path())),
                (None, true) => bad.push_str(&format!("{}:{n}: fits, and should not\n", path.display())),
                _ => {}
            }
        }
    }
    assert!(seen > 2000, "only {seen} lines");
    assert!(bad.is_empty(), "{bad}");
}

#[test]
fn what_is_written_into_stores_fits() {
    let goldens = [
        "claude/cli_parallel_partial.out.jsonl",
        "claude/cli_agent.out.jsonl",
        "codex/mcp.out.jsonl",
    ];
    for to in formats().filter(|format| format.is_store()) {
        let Some(validator) = schema(to, false).map(|_| validator(to, false)) else {
            continue;
        };
        for golden in goldens {
            let bytes = fs::read(root().join("golden").join(golden)).unwrap();
            let from = golden.split_once('/').unwrap().0.parse().unwrap();
            let mut options = agentglot_adapters::Options::new(from, to);
            options.prompts = vec!["Look around".to_owned()];
            let mut converter = agentglot_adapters::Converter::new(options);
            let mut text = Vec::new();
            converter.feed(&bytes, &mut text);
            converter.finish(&mut text);
            let values = serde_json::Deserializer::from_slice(&text).into_iter::<Value>();
            let values: Vec<Value> = values.collect::<Result<_, _>>().unwrap();
            assert!(!values.is_empty(), "{golden} to {to}");
            for value in values {
                let wrong = validator.iter_errors(&value).next();
                assert!(wrong.is_none(), "{golden} to {to}: {wrong:?}");
            }
        }
    }
}

/// The kinds of a schema, each with what says that a line is of the kind and its own schema.
fn kinds(schema: &Value) -> Vec<(Value, Value)> {
    let kinds = schema["allOf"].as_array().unwrap().iter();
    kinds
        .map(|kind| {
            let name = kind["then"]["$ref"].as_str().unwrap();
            (kind["if"].clone(), schema.pointer(&name[1..]).unwrap().clone())
        })
        .collect()
}

#[test]
fn a_broken_copy_of_each_kind_does_not_fit() {
    let logs = logs();
    for (format, input) in all() {
        let schema = schema(format, input).unwrap();
        let validator = validator(format, input);
        for (when, kind) in kinds(&schema) {
            let of_kind = jsonschema::validator_for(&when).unwrap();
            let is_tag = |name: &str| when["required"].as_array().unwrap().iter().any(|tag| tag == name);
            let of_format = logs.iter().filter(|(_, of, host)| (*of, *host) == (format, input));
            let line = of_format.filter_map(|(path, ..)| fs::read_to_string(path).ok()).find_map(|text| {
                objects(&text)
                    .map(|(_, value)| value)
                    .find(|value| of_kind.is_valid(value) && validator.is_valid(value))
            });
            let Some(line) = line else { continue };
            let required = kind["required"].as_array().cloned().unwrap_or_default();
            for name in required.iter().filter_map(Value::as_str).filter(|name| !is_tag(name)) {
                let mut broken = line.clone();
                broken.as_object_mut().unwrap().shift_remove(name);
                assert!(!validator.is_valid(&broken), "{format} without {name}: {broken}");
            }
            for (name, of) in kind["properties"].as_object().into_iter().flatten() {
                // A member that may be anything cannot be wrong.
                if is_tag(name) || of.as_bool() == Some(true) || of.get("type").is_none() && of.get("$ref").is_none() && of.get("anyOf").is_none() {
                    continue;
                }
                let mut broken = line.clone();
                broken[name] = if of["type"].to_string().contains("array") {
                    json!(true)
                } else {
                    json!([[7]])
                };
                assert!(!validator.is_valid(&broken), "{format} with a wrong {name}: {broken} {of}");
            }
        }
        assert!(!validator.is_valid(&json!([])) && !validator.is_valid(&json!({"unknown": 1})));
    }
}

#[test]
fn what_nobody_has_described_is_allowed() {
    let future = json!({
        "type": "future", "info": "future", "event": "future", "object": "future", "method": "future", "choices": [], "input": {"origin": "user", "parts": []}
    });
    // All trajectories are of one kind, and so are all lists of what was said.
    let of_one_kind = [Dialect::Atif, Dialect::Sharegpt];
    for (format, input) in all().into_iter().filter(|(format, _)| !of_one_kind.contains(&format.dialect)) {
        let validator = validator(format, input);
        let mut future = future.clone();
        // Among stored events it is what names a host's line.
        if format.dialect == Dialect::Agentglot {
            future["input"] = json!("future");
        }
        assert!(validator.is_valid(&future), "{format} {input}");
    }
}

#[test]
fn the_schema_of_the_chat_request_is_in_the_documentation() {
    let path = root().join("docs/ipc/qwen-chat-request-schema.json");
    let now = format!("{:#}\n", schema(Dialect::Qwen.into(), true).unwrap());
    if std::env::var_os("BLESS").is_some() {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, &now).unwrap();
    }
    assert_eq!(fs::read_to_string(&path).unwrap_or_default(), now, "BLESS=1 writes it anew");
}
