//! What is written of every recording, held against validators that others wrote.
//!
//! `AGENTGLOT_VALIDATORS` names a folder with `bin/python3`, in which harbor, `atif`, `ag-ui-protocol` and `ag-ui-validate` are installed, and
//! `node_modules` with `@ag-ui/core` and `@ag-ui/client`. Without it, or without the recordings beside the repository, nothing is asked.

use std::path::{Path, PathBuf};
use std::process::Command;

use agentglot_adapters::raw::codec::Format;

use crate::common::{beside, format, goldens, quick, recordings};

/// Writes what every log becomes in a format into a folder; nothing for those of which nothing comes.
fn converted(to: Format, folder: &Path) -> Vec<PathBuf> {
    std::fs::create_dir_all(folder).expect("the target's folder can be written");
    let logs = recordings().into_iter().chain(goldens());
    let mut files = Vec::new();
    // Values in each other, hundreds deep, are more than validators take.
    for (n, log) in logs.filter(|log| log.format != to && !log.hostile).enumerate() {
        let out = quick(log.format, to, &log.bytes).out;
        if !out.is_empty() {
            let file = folder.join(format!(
                "{n}_{}.{}",
                log.name.replace('/', "_"),
                if to.is_streaming() { "jsonl" } else { "json" }
            ));
            std::fs::write(&file, out).expect("the target's folder can be written");
            files.push(file);
        }
    }
    files
}

/// A validator, what it is called with, and how many files it takes at a time.
struct Judge {
    program: PathBuf,
    arguments: Vec<PathBuf>,
    files: usize,
}

impl Judge {
    fn script(program: PathBuf, script: PathBuf) -> Self {
        Self {
            program,
            arguments: vec![script],
            files: 100,
        }
    }
}

/// Runs a validator over files; what it says of those that it does not like.
fn complaints(judge: &Judge, files: &[PathBuf], folder: &Path) -> Vec<String> {
    let program = &judge.program;
    let mut wrong = Vec::new();
    for some in files.chunks(judge.files) {
        let done = Command::new(program)
            .args(&judge.arguments)
            .args(some)
            .env("AGUI_MODULES", folder.join("node_modules/x"))
            .output()
            .unwrap_or_else(|e| panic!("{}: {e}", program.display()));
        if !done.status.success() {
            let said = [done.stdout, done.stderr].concat();
            wrong.extend(String::from_utf8_lossy(&said).lines().map(str::to_owned));
        }
    }
    wrong.retain(|line| !line.ends_with("valid") && !line.contains(": note: ") && !line.contains("sequence ok") && !line.contains(" valid of "));
    wrong
}

fn hold(to: &str, judges: impl Fn(&Path, &Path) -> Vec<Judge>) {
    let (Some(tools), Some(harness)) = (std::env::var_os("AGENTGLOT_VALIDATORS"), beside::shared("harness/validate")) else {
        return;
    };
    let tools = PathBuf::from(tools);
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(to);
    let files = converted(format(to), &folder);
    assert!(files.len() > 100, "{to}: {} files", files.len());
    for judge in judges(&tools, &harness) {
        let wrong = complaints(&judge, &files, &tools);
        let name = judge.arguments.last().unwrap_or(&judge.program).display();
        println!("{to}: {} files, {} complaints of {name}", files.len(), wrong.len());
        assert!(wrong.is_empty(), "{to}: {name}\n{}", wrong[..wrong.len().min(60)].join("\n"));
    }
    std::fs::remove_dir_all(&folder).expect("the target's folder can be written");
}

#[test]
fn trajectories_are_valid() {
    hold("atif", |tools, harness| {
        vec![Judge::script(tools.join("bin/python3"), harness.join("atif_validate.py"))]
    });
}

#[test]
fn streams_of_events_are_valid() {
    hold("ag-ui", |tools, harness| {
        let alone = Judge {
            program: tools.join("bin/ag-ui-validate"),
            arguments: Vec::new(),
            files: 1,
        };
        vec![
            Judge::script(tools.join("bin/python3"), harness.join("agui_models.py")),
            Judge::script("node".into(), harness.join("agui_verify.mjs")),
            alone,
        ]
    });
}
