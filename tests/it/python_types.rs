//! What we write, read by the vendors' own Python packages: `qwen` and `openai:messages` by `openai`, `claude` by `claude-agent-sdk`,
//! `ag-ui` by `ag-ui-protocol` and `ag-ui-validate`.
//!
//! Without Python, or without a way to install the packages, the test says so and passes.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use agentglot::adapters::raw::codec::Format;

use crate::common::skipped;

#[test]
fn the_official_python_packages_read_what_we_write() {
    let python = match crate::installed::python("python/requirements.txt") {
        Ok(python) => python,
        Err(why) => return skipped("the official Python packages", why),
    };
    let scratch = tempfile::tempdir().unwrap();
    let mut failed = String::new();
    for (script, target, extra) in [
        ("check_openai.py", "qwen", &[][..]),
        ("check_openai.py", "qwen:stream-chunk-json", &[]),
        ("check_training.py", "openai:messages", &[]),
        ("check_training.py", "sharegpt", &["--tools", "verbatim"]),
        ("check_ag_ui.py", "ag-ui", &[]),
        ("check_ag_ui.py", "ag-ui", &["--tools", "verbatim"]),
        ("check_claude_sdk.py", "claude", &[]),
        ("check_claude_sdk.py", "claude", &["--include-partial-messages"]),
    ] {
        let folder = scratch.path().join(format!("{}{}", target.replace(':', "-"), extra.len()));
        let logs = convert_goldens(target.parse().unwrap(), extra, &folder);
        assert!(logs.len() > 50, "only {} logs to check", logs.len());
        let output = Command::new(&python)
            .arg(root().join("tests/python").join(script))
            .args(&logs)
            .output()
            .unwrap();
        if !output.status.success() {
            failed.push_str(&format!("{script} on {target} {extra:?}:\n{}", text(&output)));
        }
    }
    for dialect in [
        "claude",
        "claude:transcript",
        "qwen",
        "qwen-code",
        "qwen-code:chat",
        "tricode",
        "cursor",
        "codex:rollout",
        "gemini",
        "gemini:chat",
        "agentglot",
    ] {
        let schema = scratch.path().join(format!("{}.json", dialect.replace(':', "-")));
        let written = Command::new(env!("CARGO_BIN_EXE_agentglot"))
            .args(["schema", "--dialect", dialect])
            .output()
            .unwrap();
        std::fs::write(&schema, written.stdout).unwrap();
        let mut logs = goldens_of(dialect);
        logs.extend(convert_goldens(
            dialect.parse().unwrap(),
            &[],
            &scratch.path().join(format!("written-{}", dialect.replace(':', "-"))),
        ));
        let output = Command::new(&python)
            .arg(root().join("tests/python/check_schema.py"))
            .arg(&schema)
            .args(&logs)
            .output()
            .unwrap();
        if !output.status.success() {
            failed.push_str(&format!("the schema of {dialect}:\n{}", text(&output)));
        }
    }
    assert!(failed.is_empty(), "{failed}");
}

/// What agents of a dialect wrote, and what is written for them, one object a line; of a store, its files.
fn goldens_of(dialect: &str) -> Vec<PathBuf> {
    let wanted: Format = dialect.parse().unwrap();
    let manifest: toml::Table = std::fs::read_to_string(root().join("golden/MANIFEST.toml")).unwrap().parse().unwrap();
    let entries = manifest["file"].as_array().unwrap().iter();
    let entries = entries.filter(|entry| entry["side"].as_str() == Some("agent"));
    let entries = entries.filter(|entry| !entry.get("hostile").and_then(toml::Value::as_bool).unwrap_or(false));
    let of_dialect = entries.filter(|entry| {
        let format: Format = entry["dialect"].as_str().unwrap().parse().unwrap();
        format == wanted || format.dialect == wanted.dialect && !format.is_store() && !wanted.is_store()
    });
    let paths = of_dialect.filter_map(|entry| entry["path"].as_str());
    let mut logs: Vec<PathBuf> = paths
        .filter(|path| path.ends_with(".jsonl"))
        .map(|path| root().join("golden").join(path))
        .collect();
    let ending = format!(".{dialect}.jsonl");
    for folder in std::fs::read_dir(root().join("golden/expected")).unwrap().flatten() {
        let files = std::fs::read_dir(folder.path()).unwrap().flatten().map(|file| file.path());
        logs.extend(files.filter(|path| path.to_str().is_some_and(|path| path.ends_with(&ending) && !path.contains(".in."))));
    }
    logs
}

/// Converts every golden of another dialect, and of this one in another format; logs that say nothing are left out.
fn convert_goldens(target: Format, extra: &[&str], folder: &Path) -> Vec<PathBuf> {
    std::fs::create_dir_all(folder).unwrap();
    let manifest: toml::Table = std::fs::read_to_string(root().join("golden/MANIFEST.toml")).unwrap().parse().unwrap();
    let mut logs = Vec::new();
    for entry in manifest["file"].as_array().unwrap() {
        let from: Format = entry["dialect"].as_str().unwrap().parse().unwrap();
        let hostile = entry.get("hostile").and_then(toml::Value::as_bool).unwrap_or(false);
        if hostile || from == target || entry["side"].as_str() != Some("agent") {
            continue;
        }
        let path = entry["path"].as_str().unwrap();
        let output = Command::new(env!("CARGO_BIN_EXE_agentglot"))
            .args(["convert", "--from", &from.to_string(), "--to", &target.to_string()])
            .args(extra)
            .arg(root().join("golden").join(path))
            .output()
            .unwrap();
        assert!(matches!(output.status.code(), Some(0 | 1)), "{path}: {}", text(&output));
        // A log without a turn (answers to control requests alone) has nothing that the packages would read.
        let written = String::from_utf8(output.stdout).unwrap();
        let signs = [
            "\"type\":\"result\"",
            "chat.completion",
            "\"type\":\"RUN_STARTED\"",
            "\"messages\":[",
            "\"conversations\":[",
        ];
        if signs.iter().any(|sign| written.contains(sign)) {
            let log = folder.join(path.replace('/', "-"));
            std::fs::write(&log, written).unwrap();
            logs.push(log);
        }
    }
    logs
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn text(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}
