//! What is written of every recording, held against validators that others wrote.
//!
//! `AGENTGLOT_VALIDATORS` names a folder with `bin/python3`, in which harbor, `atif`, `ag-ui-protocol` and `ag-ui-validate` are installed, and
//! `node_modules` with `@ag-ui/core` and `@ag-ui/client`. Without it, or without the recordings beside the repository, nothing is asked.

mod common;

use std::path::{Path, PathBuf};
use std::process::Command;

use agentglot_adapters::raw::codec::Format;

use common::{beside, format, goldens, quick, recordings};

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

/// Runs a validator over files, a hundred at a time; what it says of those that it does not like.
fn complaints(program: &Path, arguments: &[&Path], files: &[PathBuf], folder: &Path) -> Vec<String> {
    let mut wrong = Vec::new();
    for some in files.chunks(100) {
        let done = Command::new(program)
            .args(arguments)
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

fn hold(to: &str, judges: impl Fn(&Path, &Path) -> Vec<(PathBuf, Vec<PathBuf>)>) {
    let (Some(tools), Some(harness)) = (std::env::var_os("AGENTGLOT_VALIDATORS"), beside::shared("harness/validate")) else {
        return;
    };
    let tools = PathBuf::from(tools);
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(to);
    let files = converted(format(to), &folder);
    assert!(files.len() > 100, "{to}: {} files", files.len());
    for (program, arguments) in judges(&tools, &harness) {
        let arguments: Vec<&Path> = arguments.iter().map(PathBuf::as_path).collect();
        let wrong = complaints(&program, &arguments, &files, &tools);
        println!(
            "{to}: {} files, {} complaints of {} {arguments:?}",
            files.len(),
            wrong.len(),
            program.display()
        );
        assert!(wrong.is_empty(), "{to}: {arguments:?}\n{}", wrong[..wrong.len().min(60)].join("\n"));
    }
    std::fs::remove_dir_all(&folder).expect("the target's folder can be written");
}

#[test]
fn trajectories_are_valid() {
    hold("atif", |tools, harness| {
        vec![(tools.join("bin/python3"), vec![harness.join("atif_validate.py")])]
    });
}
