//! What the program does with logs needs nothing of an operating system but files and standard streams: the sources of those commands and of
//! all that they use name none, and for Windows nothing is built that needs Unix. `.ci/run` compiles this part by itself.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What stands before a module of agents that live.
const LIVE: &str = "#[cfg(all(unix, feature = \"agent\"))]";

/// Words that only one system knows.
const SYSTEMS: [&str; 9] = [
    "cfg(unix",
    "cfg(windows",
    "cfg(not(unix",
    "cfg(target_os",
    "std::os::",
    "rustix",
    "libc::",
    "signal_hook",
    "landlock",
];

#[test]
fn what_is_done_with_logs_names_no_system() {
    let src = root().join("src");
    let mut files = Vec::new();
    portable(&src, "lib.rs", &mut files);
    for command in ["convert", "check", "dialects", "schema", "completions", "man"] {
        assert!(files.contains(&src.join(format!("command/{command}.rs"))), "{command}: {files:#?}");
    }
    assert!(files.len() > 20 && !files.iter().any(|path| path.ends_with("run.rs") || path.starts_with(src.join("session"))));
    let mut wrong = Vec::new();
    // The one place where systems differ.
    for path in files.iter().filter(|path| !path.ends_with("src/system.rs")) {
        for line in fs::read_to_string(path).unwrap().lines() {
            if SYSTEMS.iter().any(|word| line.contains(word)) {
                wrong.push(format!("{}: {}", path.display(), line.trim()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A file and the modules that it names, without those of agents that live.
fn portable(folder: &Path, name: &str, into: &mut Vec<PathBuf>) {
    let path = folder.join(name);
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    into.push(path.clone());
    let below = match name {
        "lib.rs" | "mod.rs" => folder.to_owned(),
        name => folder.join(name.trim_end_matches(".rs")),
    };
    let mut before = "";
    for line in text.lines() {
        let module = line.strip_suffix(';').and_then(|line| line.split_once("mod "));
        if let Some((_, module)) = module.filter(|(visible, _)| visible.is_empty() || visible.starts_with("pub"))
            && before != LIVE
            && before != "#[cfg(test)]"
        {
            let named = before.strip_prefix("#[path = \"").and_then(|rest| rest.strip_suffix("\"]"));
            let file = named.map_or_else(|| format!("{module}.rs"), str::to_owned);
            match below.join(&file).exists() {
                true => portable(&below, &file, into),
                false => portable(&below.join(module), "mod.rs", into),
            }
        }
        before = line;
    }
}

#[test]
fn nothing_that_needs_unix_is_built_for_windows() {
    let tree = |args: &[&str]| {
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args([
            "tree",
            "--package",
            "agentglot",
            "--edges",
            "normal",
            "--target",
            "x86_64-pc-windows-msvc",
        ]);
        cargo.args(["--prefix", "none", "--format", "{p}"]).args(args).current_dir(root());
        cargo.output().expect("cargo runs, as it runs this test")
    };
    for features in [&[][..], &["--no-default-features"]] {
        let mut told = tree(&[features, &["--offline"]].concat());
        if !told.status.success() {
            // Packages of other platforms are not fetched until something asks for them.
            told = tree(features);
        }
        assert!(told.status.success(), "{}", String::from_utf8_lossy(&told.stderr));
        let text = String::from_utf8(told.stdout).expect("names are UTF-8");
        let names: BTreeSet<&str> = text.lines().filter_map(|line| line.split(' ').next()).collect();
        assert!(names.contains("agentglot-adapters") && names.contains("clap"), "{names:?}");
        for unix in [
            "agentglot-agent",
            "agentglot-process",
            "landlock",
            "nix",
            "reqwest",
            "rustix",
            "signal-hook",
        ] {
            assert!(!names.contains(unix), "{unix} is built for Windows");
        }
    }
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}
