//! Arrows run one way: what a part of the agent imports stands below it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The parts, those that know nobody first.
const PARTS: [&str; 25] = [
    "clock",
    "ids",
    "flags",
    "restrictions",
    "redact",
    "http",
    "telemetry",
    "workspace",
    "model",
    "tools",
    "control_requests",
    "permissions",
    "settings",
    "store",
    "hooks",
    "mcp",
    "persona",
    "workplace",
    "host",
    "conversation",
    "turn",
    "commands",
    "session",
    "about",
    "setup",
];

#[test]
fn no_part_imports_what_stands_above_it() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut wrong = Vec::new();
    let mut files = Vec::new();
    collect(&root, &mut files);
    for file in &files {
        let below = file.strip_prefix(&root).expect("it was found below the root");
        let first = below.components().next().expect("a file has a name").as_os_str().to_string_lossy();
        let part = first.trim_end_matches(".rs");
        if part == "lib" {
            continue;
        }
        let Some(height) = height(part) else {
            wrong.push(format!("{part} has no place among the parts"));
            continue;
        };
        let text = std::fs::read_to_string(file).expect("a source file is text");
        let (code, tests) = apart(&text, is_test_file(below));
        for (name, of_test) in imports(&code).map(|name| (name, false)).chain(imports(&tests).map(|name| (name, true))) {
            // Tests of any part play the personas.
            if of_test && name == "persona" {
                continue;
            }
            if self::height(&name).is_some_and(|other| other > height) {
                wrong.push(format!("{} imports {name}", below.display()));
            }
        }
    }
    assert!(files.len() > 100, "only {} files were read", files.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn crates_depend_downwards() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for (manifest, forbidden) in [
        (
            "../adapters/Cargo.toml",
            &["agentglot-agent", "agentglot-process", "tokio", "reqwest"][..],
        ),
        ("process/Cargo.toml", &["agentglot-agent", "agentglot-adapters", "reqwest"]),
        ("models/Cargo.toml", &["agentglot-agent", "agentglot-process", "tokio", "reqwest"]),
        ("Cargo.toml", &["agentglot = "]),
    ] {
        let text = std::fs::read_to_string(root.join(manifest)).expect("the manifest is there");
        let dependencies = text
            .split("\n[")
            .filter(|table| table.starts_with("dependencies]") || table.contains("'.dependencies]"));
        let lines: Vec<&str> = dependencies.flat_map(str::lines).collect();
        assert!(lines.len() > 1, "{manifest} has dependencies");
        for name in forbidden {
            assert!(!lines.iter().any(|line| line.starts_with(name)), "{manifest} depends on {name}");
        }
    }
}

fn height(part: &str) -> Option<usize> {
    PARTS.iter().position(|known| *known == part)
}

fn collect(folder: &Path, into: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder of sources").flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect(&path, into);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            into.push(path);
        }
    }
}

fn is_test_file(path: &Path) -> bool {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    stem == "testing" || stem.starts_with("tests") || stem.ends_with("_tests")
}

/// What the program is made of, and what only tests see: each `mod … { … }` behind `#[cfg(test)]`, wherever it stands. Formatted code
/// closes such a module with a brace of the same indentation.
fn apart(text: &str, all_test: bool) -> (String, String) {
    if all_test {
        return (String::new(), text.to_owned());
    }
    let (mut code, mut tests) = (String::new(), String::new());
    let mut closes: Option<String> = None;
    let mut announced = false;
    for line in text.lines() {
        let trimmed = line.trim_start();
        let indent = &line[..line.len() - trimmed.len()];
        if trimmed.starts_with("//") {
            continue;
        }
        if let Some(brace) = &closes {
            tests += line;
            tests.push('\n');
            if line == brace {
                closes = None;
            }
            continue;
        }
        if announced && trimmed.contains("mod ") && trimmed.ends_with('{') {
            closes = Some(format!("{indent}}}"));
        } else {
            code += line;
            code.push('\n');
        }
        announced = trimmed == "#[cfg(test)]" || announced && trimmed.starts_with("#[");
    }
    (code, tests)
}

/// The parts that a text names by `crate::`, alone or in braces.
fn imports(text: &str) -> impl Iterator<Item = String> {
    let mut names = Vec::new();
    for (at, _) in text.match_indices("crate::") {
        if text[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_') {
            continue;
        }
        let rest = &text[at + "crate::".len()..];
        let list = match rest.strip_prefix('{') {
            Some(inside) => inside.split('}').next().unwrap_or_default(),
            None => rest,
        };
        let several = rest.starts_with('{');
        for one in list.split(',').take(if several { usize::MAX } else { 1 }) {
            let name: String = one.trim().chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
            if name.starts_with(|c: char| c.is_ascii_lowercase()) {
                names.push(name);
            }
        }
    }
    names.into_iter()
}

/// Who opens files, and which. Everything else that reads a file does it by the workspace, which asks the session's rules; what stands here
/// reads nothing that a model or a prompt names.
const OPEN: [(&str, &str); 24] = [
    ("workspace/mod.rs", "the folders of the workspace"),
    ("workspace/place.rs", "files of the workspace: the rules are asked"),
    ("workspace/draft.rs", "new files"),
    ("workspace/granted.rs", "what the host granted outside of it"),
    ("workspace/read_rules.rs", "files outside of it: the rules are asked"),
    ("workspace/twins.rs", "names in folders that rules keep from being read; shown to nobody"),
    ("settings/mod.rs", "files of settings"),
    ("settings/folder.rs", "folders of settings"),
    ("mcp/config.rs", "files of settings, and what the command line names"),
    ("mcp/content.rs", "new files of the session"),
    ("model/client.rs", "the user's table of models"),
    ("setup.rs", "what the command line names"),
    ("store/checkpoint.rs", "what files were before they were changed; shown to nobody"),
    ("store/dir.rs", "transcripts"),
    ("store/place.rs", "the name of git's branch"),
    ("commands/chats.rs", "conversations that were kept"),
    ("tools/ignored.rs", "files of ignore rules"),
    ("tools/jobs.rs", "what background commands print"),
    ("tools/pty.rs", "terminals"),
    ("tools/shell/follow.rs", "where a command ended"),
    ("tools/shell/whole.rs", "new files of the session"),
    ("permissions/place.rs", "where links lead"),
    ("permissions/forbids.rs", "names in folders that a command names"),
    ("permissions/shell/git.rs", "what a repository says of programs"),
];

/// What files and folders are opened by.
const OPENERS: [&str; 17] = [
    "File::open",
    "File::options",
    "File::create",
    "OpenOptions::",
    "fs::read(",
    "fs::read_to_string",
    "fs::read_dir",
    "fs::read_link",
    "fs::copy",
    "read_link()",
    "fs::open(",
    "openat(",
    "open_ambient_dir",
    "open_regular(",
    "read_regular(",
    "read_text(",
    "read_named_text(",
];

#[test]
fn only_known_places_open_files() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let (mut files, mut wrong, mut met) = (Vec::new(), Vec::new(), BTreeSet::new());
    collect(&root, &mut files);
    for file in &files {
        let below = file.strip_prefix(&root).expect("it was found below the root");
        let text = std::fs::read_to_string(file).expect("a source file is text");
        let (code, _) = apart(&text, is_test_file(below));
        let opens = |line: &&str| OPENERS.iter().any(|opener| line.contains(opener)) || line.contains("tokio::fs") || line.contains("Mmap");
        let Some(line) = code.lines().filter(|line| !line.trim_start().starts_with("use ")).find(opens) else {
            continue;
        };
        match OPEN.iter().find(|(known, _)| Path::new(known) == below) {
            Some(known) => _ = met.insert(known),
            None => wrong.push(format!("{}: {}", below.display(), line.trim())),
        }
    }
    assert!(
        wrong.is_empty(),
        "these open files past the workspace, which asks the session's rules about reading:\n{}",
        wrong.join("\n")
    );
    let idle: Vec<_> = OPEN.iter().filter(|known| !met.contains(known)).collect();
    assert!(idle.is_empty(), "these open no files any more: {idle:?}");
}
