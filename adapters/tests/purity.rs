//! The package is pure: bytes in, bytes out. Its dependencies do no input and output, its source touches no file, process,
//! socket, clock or chance, and its folders point one way.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What the package is built from, on any platform, without what only its tests need.
fn dependencies() -> BTreeSet<String> {
    let run = |offline: &[&str]| {
        Command::new(env!("CARGO"))
            .args([
                "tree",
                "--package",
                "agentglot-adapters",
                "--edges",
                "normal,build",
                "--target",
                "all",
                "--prefix",
                "none",
                "--format",
                "{lib} {p}",
            ])
            .args(offline)
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .output()
            .expect("cargo runs, as it runs this test")
    };
    let mut tree = run(&["--offline"]);
    if !tree.status.success() {
        // Packages of other platforms are not fetched until something asks for them.
        tree = run(&[]);
    }
    assert!(tree.status.success(), "{}", String::from_utf8_lossy(&tree.stderr));
    let text = String::from_utf8(tree.stdout).expect("names are UTF-8");
    text.lines()
        .filter_map(|line| line.split_whitespace().nth(1))
        .map(str::to_owned)
        .collect()
}

/// Packages that are known to do no input and output. A new one is looked at before it is added here.
const PURE: [&str; 19] = [
    "agentglot-adapters",
    "allocator-api2",
    "bstr",
    "bumpalo",
    "enum_dispatch",
    "memchr",
    "once_cell",
    "proc-macro2",
    "quote",
    "ryu",
    "similar",
    "simdutf8",
    "syn",
    "thiserror",
    "thiserror-impl",
    "unicode-ident",
    "unicode-segmentation",
    "regex-automata",
    "zmij",
];

#[test]
fn depends_on_nothing_that_touches_the_world() {
    let found = dependencies();
    assert!(found.contains("memchr"), "the tree was not understood: {found:?}");
    let strange: Vec<&String> = found.iter().filter(|name| !PURE.contains(&name.as_str())).collect();
    assert!(strange.is_empty(), "are these pure? {strange:?}");
}

fn source() -> Vec<(String, String)> {
    fn walk(folder: &Path, into: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(folder).expect("the source is there") {
            let path = entry.expect("it can be read").path();
            if path.is_dir() { walk(&path, into) } else { into.push(path) }
        }
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut paths = Vec::new();
    walk(&root, &mut paths);
    let read = |path: PathBuf| {
        let name = path
            .strip_prefix(&root)
            .expect("it lies below")
            .to_str()
            .expect("names are UTF-8")
            .to_owned();
        let text = fs::read_to_string(&path).expect("source is UTF-8");
        (name, code(&text))
    };
    let mut all: Vec<(String, String)> = paths.into_iter().filter(|p| p.extension().is_some_and(|e| e == "rs")).map(read).collect();
    all.sort();
    assert!(all.len() > 50, "{} files", all.len());
    all
}

/// The code of a file: without comments, and without its tests, which stand last and may read logs.
fn code(text: &str) -> String {
    let mut code = String::new();
    for line in text.lines() {
        if line.trim_start().starts_with("#[cfg(test)]") {
            break;
        }
        if !line.trim_start().starts_with("//") {
            code.push_str(line);
            code.push('\n');
        }
    }
    code
}

/// Files that hold tests alone, for they are modules under `#[cfg(test)]`.
fn is_test(name: &str) -> bool {
    name.ends_with("tests.rs") || name.contains("/tests/")
}

#[test]
fn touches_no_file_process_socket_clock_or_chance() {
    const WORLD: [&str; 17] = [
        "std::fs",
        "std::process",
        "std::net",
        "std::os",
        "std::env",
        "std::thread",
        "std::io",
        "SystemTime",
        "Instant",
        "std::time",
        "println!",
        "eprintln!",
        "dbg!",
        "RandomState",
        "static mut",
        "thread_local",
        "unsafe impl",
    ];
    const READS: [&str; 3] = ["read.rs", "session.rs", "write.rs"];
    let mut wrong = Vec::new();
    for (name, code) in source().iter().filter(|(name, _)| !is_test(name)) {
        for word in WORLD {
            // The traits of what can be read and written are no files.
            let reads = READS.contains(&name.as_str()) && word == "std::io";
            for line in code.lines().filter(|line| line.contains(word) && !reads) {
                wrong.push(format!("{name}: {}", line.trim()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn holds_unsafe_code_in_one_module() {
    let files: Vec<String> = source()
        .into_iter()
        .filter(|(_, code)| code.contains("unsafe {") || code.contains("unsafe fn"))
        .map(|(name, _)| name)
        .collect();
    assert!(files.iter().all(|name| name == "json/scan.rs"), "unsafe code in {files:?}");
}

#[test]
fn no_value_tree_and_no_serializer() {
    let wrong: Vec<String> = source()
        .into_iter()
        .filter(|(name, code)| {
            !is_test(name) && name != "events/serde.rs" && code.replace("feature = \"serde\"", "").replace("mod serde;", "").contains("serde")
        })
        .map(|(name, _)| name)
        .collect();
    assert!(wrong.is_empty(), "serde in {wrong:?}");
}

/// A dialect's folder uses the shared vocabulary and never another dialect's folder; the shared vocabulary uses no dialect.
#[test]
fn arrows_run_one_way() {
    const DIALECTS: [&str; 6] = ["agentglot", "claude", "cursor", "qwen", "qwen_code", "tricode"];
    const BELOW: [&str; 6] = ["blocks", "chat", "tools", "json", "event", "frame"];
    let mut wrong = Vec::new();
    for (name, code) in source() {
        let folder = name.split('/').next().unwrap_or_default().trim_end_matches(".rs").to_owned();
        for dialect in DIALECTS {
            let another = DIALECTS.contains(&folder.as_str()) && folder != dialect;
            if !another && !BELOW.contains(&folder.as_str()) {
                continue;
            }
            for line in code.lines() {
                let named = [
                    format!("crate::{dialect}::"),
                    format!("crate::{dialect};"),
                    format!("super::super::{dialect}::"),
                ];
                if named.iter().any(|n| line.contains(n.as_str())) {
                    wrong.push(format!("{name}: {}", line.trim()));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Files are for reading: about five hundred lines at most.
#[test]
fn files_are_short() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let long: Vec<String> = source()
        .into_iter()
        .map(|(name, _)| {
            let lines = fs::read_to_string(root.join(&name)).expect("it was just read").lines().count();
            (name, lines)
        })
        .filter(|(name, lines)| !is_test(name) && *lines > 600)
        .map(|(name, lines)| format!("{name}: {lines}"))
        .collect();
    assert!(long.is_empty(), "{}", long.join("\n"));
}
