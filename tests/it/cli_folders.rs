//! Folders of logs: what is found in them, where the output goes, what is said at the end.

use crate::common::{Scratch, arg, log, run};

/// Three logs in two folders, something that is none, and what nobody wants to read.
fn tree() -> Scratch {
    let scratch = Scratch::new();
    scratch.file("logs/b/two.jsonl", log("s-2", "Second."));
    scratch.file("logs/a/one.jsonl", log("s-1", "First."));
    scratch.file("logs/three.json", log("s-3", "Third."));
    scratch.file("logs/notes.md", "# Notes");
    scratch.file("logs/.git/log.jsonl", log("s-4", "Fourth."));
    scratch
}

#[test]
fn a_folder_is_walked_in_the_order_of_names_and_its_tree_is_kept() {
    let scratch = tree();
    let folder = scratch.path("logs");
    let ran = run(["convert", "-t", "tricode", arg(&folder)]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let text = ran.text();
    let at = |word: &str| text.find(word).unwrap_or_else(|| panic!("{word}: {text}"));
    assert!(at("First.") < at("Second.") && at("Second.") < at("Third.") && !text.contains("Fourth."));
    let out = scratch.path("made/here");
    let ran = run(["convert", "-t", "tricode", "-o", arg(&out), arg(&folder)]);
    assert_eq!((ran.code, ran.out.len()), (0, 0), "{}", ran.err);
    assert_eq!(scratch.names("made/here"), ["a", "b", "three.tricode.jsonl"]);
    assert!(std::fs::read_to_string(out.join("b/two.tricode.jsonl")).unwrap().contains("Second."));
    assert!(ran.err.contains("agentglot: 3 logs (3 claude), 9 lines, 0 damaged\n"), "{}", ran.err);
    // What is written below the folder is not read when it is walked again.
    let below = folder.join("out");
    for _ in 0..2 {
        let ran = run(["convert", "-t", "cursor", "-o", arg(&below), arg(&folder)]);
        assert!(ran.err.contains("3 logs"), "{}", ran.err);
    }
    assert_eq!(scratch.names("logs/out"), ["a", "b", "three.cursor.jsonl"]);
}

#[test]
fn one_bad_log_loses_nothing_else_and_the_report_says_what_came_of_each() {
    let scratch = tree();
    scratch.file("logs/a/bad.jsonl", format!("{}{{\"type\":\n", log("s-5", "Fifth.")));
    scratch.file("logs/a/none.jsonl", "{\"x\":1}\n");
    let report = scratch.path("report.json");
    let ran = run([
        "convert",
        "-q",
        "--to",
        "tricode",
        "--report",
        arg(&report),
        "-o",
        arg(&scratch.path("out")),
        arg(&scratch.path("logs")),
    ]);
    assert_eq!(ran.code, 2, "{}", ran.err);
    assert_eq!(scratch.names("out/a"), ["bad.tricode.jsonl", "one.tricode.jsonl"]);
    assert!(!ran.err.contains("logs ("), "quiet: {}", ran.err);
    let report: serde_json::Value = serde_json::from_slice(&std::fs::read(&report).unwrap()).unwrap();
    assert_eq!(
        (&report["totals"]["logs"], &report["totals"]["converted"], &report["totals"]["damaged"]),
        (&5.into(), &4.into(), &1.into())
    );
    let of = |name: &str| {
        let logs = report["logs"].as_array().unwrap();
        logs.iter().find(|log| log["log"].as_str().unwrap().ends_with(name)).unwrap().clone()
    };
    assert_eq!(
        (&of("bad.jsonl")["from"], &of("bad.jsonl")["damage"][0]["line"]),
        (&"claude".into(), &4.into())
    );
    assert!(of("none.jsonl")["error"].as_str().unwrap().contains("no dialect recognised"));
    assert_eq!(of("/one.jsonl")["error"], serde_json::Value::Null);
}

#[test]
fn which_files_are_logs_can_be_said() {
    let scratch = tree();
    let listed = |include: &[&str]| {
        let mut args = vec!["convert", "--list", "-t", "qwen"];
        args.extend(include.iter().flat_map(|glob| ["--include", glob]));
        let folder = scratch.path("logs");
        args.push(arg(&folder));
        let ran = run(args);
        assert_eq!(ran.code, 0, "{}", ran.err);
        let names = ran
            .text()
            .lines()
            .map(|line| line.split_once(": ").unwrap().0.rsplit('/').next().unwrap().to_owned());
        names.collect::<Vec<_>>()
    };
    assert_eq!(listed(&[]), ["one.jsonl", "two.jsonl", "three.json"]);
    assert_eq!(listed(&["*.json"]), ["three.json"]);
    assert_eq!(listed(&["a/*", "two*"]), ["one.jsonl", "two.jsonl"]);
    assert_eq!(run(["convert", "-t", "qwen", "--include", "[", "x"]).code, 2);
}

#[test]
fn what_would_be_done_is_listed_and_not_done() {
    let scratch = tree();
    let out = scratch.path("out");
    let ran = run(["convert", "--list", "--to", "cursor", "-o", arg(&out), arg(&scratch.path("logs"))]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let line = ran.text().lines().next().unwrap();
    assert!(
        line.contains("one.jsonl: claude (line 1: ") && line.ends_with("out/a/one.cursor.jsonl"),
        "{line}"
    );
    assert!(!out.exists());
}

#[test]
fn check_walks_folders_too() {
    let scratch = tree();
    let ran = run(["check", arg(&scratch.path("logs"))]);
    assert_eq!(ran.text().matches(", 0 faults").count(), 3, "{}", ran.text());
    assert!(ran.err.contains("3 logs, ") && ran.err.contains("0 faults in 0 logs"), "{}", ran.err);
    scratch.file("empty/notes.md", "");
    assert_eq!(run(["check", arg(&scratch.path("empty"))]).code, 2);
}
