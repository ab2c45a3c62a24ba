//! The command lines of the recordings, when they are there: what the programs accepted we accept, what they refused we
//! refuse in their words.

use std::path::PathBuf;

use proptest::prelude::*;
use serde_json::Value;

use super::*;

fn metas(folder: &str) -> Vec<(PathBuf, Value)> {
    let mut found = Vec::new();
    let Some(root) = crate::beside::shared(&format!("recordings/{folder}")) else {
        return found;
    };
    for entry in std::fs::read_dir(root).expect("a folder of recordings").flatten() {
        let path = entry.path();
        if path.to_string_lossy().ends_with(".meta.json") {
            let value = serde_json::from_slice(&std::fs::read(&path).expect("it can be read")).expect("it is JSON");
            found.push((path, value));
        }
    }
    found
}

fn args(meta: &Value) -> Vec<String> {
    match &meta["argv"] {
        // Some recorders kept the words, some the line.
        Value::Array(list) => list.iter().skip(1).map(|word| word.as_str().unwrap_or_default().to_owned()).collect(),
        line => line.as_str().unwrap_or_default().split(' ').skip(1).map(str::to_owned).collect(),
    }
}

/// Texts with which the programs refuse a command line; what else goes to stderr comes later in a run.
fn refused(stderr: &str) -> bool {
    [
        "error: ",
        "Error: When using",
        "Error: --",
        "Error: Invalid session ID",
        "Tricode-cli dev",
    ]
    .iter()
    .any(|start| stderr.starts_with(start))
}

#[test]
fn what_the_recorded_programs_said() {
    for (dialect, folder) in [
        (Dialect::Claude, "claude"),
        (Dialect::Tricode, "tricode"),
        (Dialect::Tricode, "tricode/65cba1e"),
    ] {
        for (path, meta) in metas(folder) {
            let stderr = meta["stderr"].as_str().unwrap_or_default();
            let parsed = parse(program(dialect), &args(&meta), true);
            match parsed {
                Err(error) => {
                    assert!(refused(stderr), "{}: {error:?}", path.display());
                    assert_eq!(error.text, stderr, "{}", path.display());
                    assert_eq!(Value::from(error.exit_code), meta["exit_code"], "{}", path.display());
                }
                Ok(_) => assert!(!refused(stderr), "{}: not refused", path.display()),
            }
        }
    }
}

#[test]
fn what_the_recorded_qwen_said() {
    for (path, meta) in metas("qwen-code") {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let usage = meta["stderr"].as_str().unwrap_or_default().contains("Enable screen reader mode");
        match parse(program(Dialect::QwenCode), &args(&meta), true) {
            Err(error) => {
                assert!(usage, "{name}: {error:?}");
                assert_eq!(Value::from(error.exit_code), meta["exit_code"], "{name}");
            }
            Ok(_) => assert!(!usage, "{name}: not refused"),
        }
    }
    let Some(sdk) = crate::beside::shared("recordings/qwen-code/sdk") else {
        return;
    };
    for entry in std::fs::read_dir(sdk).expect("a folder of recordings").flatten() {
        if !entry.path().to_string_lossy().ends_with(".argv.json") {
            continue;
        }
        let list: Vec<String> = serde_json::from_slice(&std::fs::read(entry.path()).expect("it can be read")).expect("a list of words");
        let Ok(Command::Launch(asked)) = parse(program(Dialect::QwenCode), &list, true) else {
            panic!("{list:?}");
        };
        assert!(asked.has_stdin_protocol() && asked.session_id.is_some() && asked.prompt.is_none());
    }
}

#[test]
fn what_the_recorded_programs_said_later() {
    for (folder, name, error) in [
        ("claude", "cli_no_prompt", ArgError::no_prompt(Dialect::Claude)),
        (
            "claude",
            "cli_resume_missing",
            ArgError::no_session(Dialect::Claude, "11111111-2222-4333-8444-555555555555"),
        ),
        ("claude", "cli_session_id_again", ArgError::session_in_use(UUID)),
        ("qwen-code", "bad_no_prompt", ArgError::no_prompt(Dialect::QwenCode)),
        (
            "qwen-code",
            "ctl_resume_continue_badid",
            ArgError::no_session(Dialect::QwenCode, "11111111-2222-4333-8444-777777777777"),
        ),
    ] {
        for (path, meta) in metas(folder) {
            if path.file_name().and_then(|file| file.to_str()) == Some(&format!("{name}.meta.json")) {
                assert_eq!(meta["stderr"], error.text);
                assert_eq!(meta["exit_code"], error.exit_code);
            }
        }
    }
}

/// Words that look like those of a command line.
fn word() -> impl Strategy<Value = String> {
    let names: Vec<&'static str> = PROGRAMS
        .into_iter()
        .flat_map(|dialect| program(dialect).flags.iter().flat_map(|flag| flag.names).copied())
        .chain(["--", "-", "", "--x", "agent", "mcp", "status", "true", "false", "stream-json", "-1"])
        .collect();
    let names = proptest::sample::select(names);
    prop_oneof![
        names.clone().prop_map(str::to_owned),
        (names.clone(), ".{0,6}").prop_map(|(name, value)| format!("{name}={value}")),
        (names, ".{0,3}").prop_map(|(name, more)| format!("{name}{more}")),
        "-{0,3}[a-zé]{0,5}=?.{0,4}",
        ".{0,8}",
    ]
}

proptest! {
    #[test]
    fn no_command_line_panics(list in proptest::collection::vec(word(), 0..8), strict in any::<bool>()) {
        for dialect in PROGRAMS {
            match parse(program(dialect), &list, strict) {
                Ok(Command::Launch(asked)) => {
                    for other in PROGRAMS {
                        if let Ok(child) = argv(program(other), &asked) {
                            prop_assert!(child.args.iter().all(|arg| arg.len() <= MAX_ARG && !arg.contains('\0')));
                        }
                    }
                }
                Ok(Command::Errand(errand)) => {
                    let answer = errand.answer(program(dialect), &facts());
                    prop_assert!(!answer.stdout.is_empty() || !answer.stderr.is_empty());
                }
                Err(error) => {
                    prop_assert!(error.exit_code != 0);
                    prop_assert!(error.text.ends_with('\n'));
                }
            }
        }
    }
}

#[test]
fn long_clusters_take_no_stack() {
    for letters in ["v", "y", "p", "x"] {
        let long = words(&[format!("-{}", letters.repeat(100_000))]);
        for dialect in PROGRAMS {
            let _ = parse(program(dialect), &long, false);
        }
    }
}
