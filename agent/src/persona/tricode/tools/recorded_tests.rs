//! The calls that were recorded with the real program, made again in the same workspace: each has to give the same text.

use std::path::Path;
use std::time::{Duration, SystemTime};

use fancy_regex::Regex;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::*;
use crate::model::message::Part;
use crate::workspace::Wall;
use agentglot_adapters::raw::event::ResultStatus;

/// The files of every recording, and when they were last written.
const FILES: [(&str, &str); 5] = [
    ("README.md", "# Demo\n\nA small project.\n"),
    (
        "src/main.py",
        "import sys\n\ndef main():\n    print('hello')\n\ndef other():\n    return 1\n\nif __name__ == '__main__':\n    main()\n",
    ),
    ("notes.txt", "alpha\nbeta\ngamma"),
    ("empty.txt", ""),
    ("uni.txt", "héllo 世界 🎉\nline two\n"),
];
const WRITTEN: u64 = 1_735_732_800;

/// Recordings that hold calls, with those whose results are others here, and why.
const RECORDED: [(&str, &[&str]); 18] = [
    ("api_error_mid", &[]),
    // The real program dies of this call.
    ("bad_arguments", &["read_file"]),
    ("create", &[]),
    ("delete_mkdir", &[]),
    ("edit_simple", &[]),
    // What the network said where it was recorded, which no test asks.
    ("fetch_web", &["web_search"]),
    ("list", &[]),
    ("no_plan_reminder", &[]),
    ("plan_doc_shape", &[]),
    ("plan_errors", &[]),
    ("plan_required", &[]),
    ("read", &[]),
    ("resume_1", &[]),
    ("run_command", &[]),
    ("search_no_rg", &[]),
    ("symbols_refs", &[]),
    ("tools_whitelist", &[]),
    ("unknown_tool", &[]),
];

#[tokio::test(flavor = "current_thread")]
async fn recorded_calls_give_the_recorded_texts() {
    for (name, others) in RECORDED {
        // Without the symbol tools such calls are calls of an unknown tool.
        if cfg!(feature = "symbols") || !name.starts_with("symbols") {
            replay(name, others).await;
        }
    }
}

async fn replay(name: &str, others: &[&str]) {
    let dir = tempfile::tempdir().unwrap();
    // A name of a fixed length, so that columns of `ls` stay as they are.
    let root = dir.path().canonicalize().unwrap().join("workspace");
    make(&root);
    let world = Rc::new(World {
        wall: Arc::new(Wall::new(&root).unwrap()),
        environment: Arc::new(std::env::vars().collect()),
        scratch: dir.path().join("scratch"),
    });
    let persona = Session::new(Wish::default());
    let tools = persona.tools(&world);
    let log = std::fs::read_to_string(format!("{}/../golden/tricode/{name}.jsonl", env!("CARGO_MANIFEST_DIR"))).unwrap();
    let lines: Vec<Value> = log.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let mut calls = 0;
    for pair in lines.windows(2).filter(|pair| pair[0]["type"] == "tool_call") {
        let (tool, input) = (pair[0]["name"].as_str().unwrap(), &pair[0]["arguments"]);
        let given = match (persona.gate(tool, input), tools.iter().find(|known| known.spec().name == tool)) {
            (Some(refused), _) => refused,
            (None, None) => persona.unknown(tool),
            (None, Some(known)) => {
                let cx = Cx {
                    call: "call_1",
                    cancel: CancellationToken::new(),
                    world: &world,
                    tell: &|_| {},
                };
                known.run(input, &cx).await
            }
        };
        calls += 1;
        if others.contains(&tool) {
            continue;
        }
        let text = given.content.iter().map(|part| match part {
            Part::Text(text) => text.as_str(),
            other => panic!("{other:?}"),
        });
        let (recorded, root) = (&pair[1], root.to_str().unwrap());
        let mut said = recorded["result"].as_str().unwrap().to_owned();
        // There was no ripgrep where it was recorded; with it the last line has its end.
        if tool == "search_context" && said.contains(':') {
            said.push('\n');
        }
        assert_eq!(
            (given.status == ResultStatus::Success, plain(&text.collect::<String>(), root)),
            (recorded["success"].as_bool().unwrap(), plain(&said, "/workspace")),
            "{name}: {}",
            pair[0]["formatted"]
        );
    }
    assert!(calls > 0, "{name} holds no calls");
}

fn make(root: &Path) {
    let time = SystemTime::UNIX_EPOCH + Duration::from_secs(WRITTEN);
    for (name, text) in FILES {
        let path = root.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        std::fs::File::options().write(true).open(&path).unwrap().set_modified(time).unwrap();
    }
    std::fs::File::open(root.join("src")).unwrap().set_modified(time).unwrap();
}

/// A text without what differs from place to place: the workspace, the owner, sizes of folders, times.
fn plain(text: &str, root: &str) -> String {
    // The committed recordings have other words there.
    if text.starts_with("⚠️ BLOCKED") {
        return "blocked".to_owned();
    }
    let text = text.replace(root, "/W");
    let entry = Regex::new(r"(?m)^([-d][-rwx]{9})[.+]? +\d+ \S+ +\S+ +(\d+) \w{3} [ \d]\d +[\d:]+ ").unwrap();
    let text = entry.replace_all(&text, |found: &fancy_regex::Captures<'_, str>| {
        let size = if found[1].starts_with('d') { "" } else { &found[2] };
        format!("{} {size} ", &found[1])
    });
    // Made of the whole path.
    let id = Regex::new("reference_id=[0-9a-f]{16}").unwrap();
    let text = id.replace_all(&text, "reference_id=ID");
    let total = Regex::new(r"(?m)^total \d+$").unwrap();
    let text = total.replace_all(&text, "total");
    let time = Regex::new(r#""mtime": "2025-01-0[12]T\d\d:\d\d:\d\d""#).unwrap();
    time.replace_all(&text, "mtime").into_owned()
}
