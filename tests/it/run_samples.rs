//! The sample programs of Tricode's own document, unmodified, with our stand-in in the place of `tricode.py`.
//!
//! They are taken from the document in `../shared/seeds`, and need Python, the second one Node as well. Where one of these is not
//! there, the test says so and passes.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use crate::common::skipped;
use crate::support::stage::{INIT, Stage, result, text};
use crate::support::{example, within};

/// The first block of code of a language that stands behind a heading.
fn block<'d>(document: &'d str, heading: &str, language: &str) -> Option<&'d str> {
    let rest = &document[document.find(heading)?..];
    let rest = &rest[rest.find(&format!("```{language}\n"))? + language.len() + 4..];
    Some(&rest[..rest.find("\n```")? + 1])
}

/// A folder in which `python tricode.py` is our stand-in.
fn desk(document: &str) -> tempfile::TempDir {
    let desk = tempfile::tempdir().unwrap();
    let path = |name: &str| desk.path().join(name);
    std::fs::write(path("sample.py"), block(document, "### Python", "python").expect("a Python sample")).unwrap();
    std::fs::write(path("sample.js"), block(document, "### Node.js", "javascript").expect("a Node sample")).unwrap();
    std::fs::create_dir(path("bin")).unwrap();
    let done = Command::new(env!("CARGO_BIN_EXE_agentglot"))
        .arg("install-shims")
        .arg(path("bin"))
        .output()
        .unwrap();
    assert!(done.status.success(), "{done:?}");
    let link = path("bin/tricode").display().to_string();
    let launcher = format!("import os, sys\nos.execv({link:?}, [{link:?}] + sys.argv[1:])\n");
    std::fs::write(path("tricode.py"), launcher).unwrap();
    desk
}

/// Where a program is, if it runs.
fn program(names: &[&str]) -> Option<PathBuf> {
    names.iter().find_map(|name| {
        let found = Command::new("sh").args(["-c", &format!("command -v {name}")]).output().ok()?;
        let path = PathBuf::from(String::from_utf8(found.stdout).ok()?.trim());
        let runs = Command::new(&path).arg("--version").output().is_ok_and(|output| output.status.success());
        runs.then_some(path)
    })
}

/// Logs that end well, of each dialect.
const LOGS: [&str; 14] = [
    "claude/cli_bash.out.jsonl",
    "claude/cli_agent.out.jsonl",
    "claude/cli_parallel_partial.out.jsonl",
    "qwen-code/ctl_perm_edit_write.out.jsonl",
    "qwen-code/ctl_set_model.out.jsonl",
    "qwen/two_tools.jsonl",
    "qwen/two_tools.chunks.jsonl",
    "qwen/two_turns.chunks.jsonl",
    "cursor/parallel_shell.jsonl",
    "cursor/read_edit.jsonl",
    "cursor/denials.jsonl",
    "tricode/create.jsonl",
    "tricode/65cba1e-list.jsonl",
    "tricode/65cba1e-resume_1.jsonl",
];

/// The back ends that need no network, with what they answer.
fn backends(stage: &[(&'static str, Stage)]) -> Vec<(String, String)> {
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("golden");
    let mut all = vec![("demo".to_owned(), String::new())];
    all.extend(LOGS.map(|log| (format!("replay:{}", golden.join(log).display()), String::new())));
    all.extend(stage.iter().map(|(name, stage)| {
        let program = stage.path("agent-program");
        (format!("cli:{name}={}", program.display()), format!("I am {name}"))
    }));
    all
}

fn agents() -> Vec<(&'static str, Stage)> {
    let claude = |name: &str| {
        vec![
            "read".to_owned(),
            format!("say {INIT}"),
            format!("say {}", text(&format!("I am {name}"))),
            format!("say {}", result(&format!("I am {name}"))),
        ]
    };
    // Qwen Code wants to be greeted first.
    let qwen = [vec!["control answer".to_owned()], claude("qwen")].concat();
    let id = "aaaaaaaa-1111-4222-8333-bbbbbbbbbbbb";
    let cursor = vec![
        "read all".to_owned(),
        format!(
            r#"say {{"type":"system","subtype":"init","apiKeySource":"login","cwd":"/w","session_id":"{id}","model":"Auto","permissionMode":"default"}}"#
        ),
        format!(
            r#"say {{"type":"assistant","message":{{"role":"assistant","content":[{{"type":"text","text":"I am cursor"}}]}},"session_id":"{id}"}}"#
        ),
        format!(
            r#"say {{"type":"result","subtype":"success","duration_ms":5,"duration_api_ms":5,"is_error":false,"result":"I am cursor","session_id":"{id}","request_id":"{id}"}}"#
        ),
    ];
    let tricode = vec![
        r#"say {"type": "system", "message": "Session ID: 0a1b2c3d"}"#.to_owned(),
        r#"say {"type": "round", "number": 1}"#.to_owned(),
        r#"say {"type": "final", "content": "I am tricode"}"#.to_owned(),
    ];
    [("claude", claude("claude")), ("qwen", qwen), ("cursor", cursor), ("tricode", tricode)]
        .into_iter()
        .map(|(name, script)| (name, Stage::new(&script)))
        .collect()
}

fn run(interpreter: &Path, python: &Path, desk: &Path, sample: &str, backend: &str) -> Output {
    // The samples call it `python`, which not every system does.
    let bin = desk.join("bin");
    let _ = std::os::unix::fs::symlink(python, bin.join("python"));
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap_or_default());
    let mut command = Command::new(interpreter);
    command.arg(sample).current_dir(desk).env("PATH", path).env("AGENTGLOT_BACKEND", backend);
    command.env("PYTHONIOENCODING", "utf-8").stdin(Stdio::null());
    for name in ["AGENTGLOT_DEPTH", "AGENTGLOT_LOG", "AGENTGLOT_ON_ASK"] {
        command.env_remove(name);
    }
    command.output().unwrap()
}

#[test]
fn the_sample_programs_of_tricodes_document_run_over_every_back_end() {
    within(120, async {
        example("fake_agent");
        let document = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/seeds/tricode-stdio-api.md");
        let Ok(document) = std::fs::read_to_string(&document) else {
            return skipped("sample programs of Tricode's document", "it is not beside this clone");
        };
        let Some(python) = program(&["python3", "python"]) else {
            return skipped("sample programs of Tricode's document", "there is no Python");
        };
        let node = program(&["node", "nodejs"]);
        if node.is_none() {
            skipped("the Node sample program of Tricode's document", "there is no Node");
        }
        let desk = desk(&document);
        let agents = agents();
        let mut wrong = String::new();
        for (backend, answer) in backends(&agents) {
            let mut shown = Vec::new();
            for (interpreter, sample) in [(Some(&python), "sample.py"), (node.as_ref(), "sample.js")] {
                let Some(interpreter) = interpreter else { continue };
                let output = run(interpreter, &python, desk.path(), sample, &backend);
                let out = String::from_utf8_lossy(&output.stdout).into_owned();
                let good = output.status.success() && out.contains("[Result] ") && out.contains(&answer);
                if !good {
                    wrong.push_str(&format!("{sample} over {backend}: {output:#?}\n"));
                }
                shown.push(
                    out.lines()
                        .filter(|line| line.starts_with("[Tool] "))
                        .map(str::to_owned)
                        .collect::<Vec<_>>(),
                );
            }
            eprintln!("{backend}: {shown:?}");
            if shown.windows(2).any(|two| two[0] != two[1]) {
                wrong.push_str(&format!("{backend}: the two programs show other calls: {shown:#?}\n"));
            }
        }
        assert!(wrong.is_empty(), "{wrong}");
    });
}
