//! The package is pure: bytes in, bytes out. Its dependencies do no input and output, its source touches no file, process,
//! socket, clock or chance, and its folders point one way.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use crate::source::{File, Word, files};

/// What the package is built from, on any platform, without what only its tests need.
fn dependencies(features: &str) -> BTreeSet<String> {
    let run = |offline: &[&str]| {
        Command::new(env!("CARGO"))
            .args([
                "tree",
                "--package",
                "agentglot-adapters",
                features,
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
const PURE: [&str; 26] = [
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
    // Settings on a command line are TOML. Its family names the macros for no target, so that versions stay together.
    "serde_core",
    "serde_derive",
    "serde_spanned",
    "similar",
    "simdutf8",
    "syn",
    "thiserror",
    "thiserror-impl",
    "toml",
    "toml_datetime",
    "toml_parser",
    "unicode-ident",
    "unicode-segmentation",
    "regex-automata",
    "winnow",
    "zmij",
];

/// The same for what features bring: serde's family, and what schemas are made with.
const PURE_FEATURES: [&str; 13] = [
    "dyn-clone",
    "equivalent",
    "foldhash",
    "hashbrown",
    "indexmap",
    "itoa",
    "ref-cast",
    "ref-cast-impl",
    "schemars",
    "schemars_derive",
    "serde",
    "serde_derive_internals",
    "serde_json",
];

#[test]
fn depends_on_nothing_that_touches_the_world() {
    for (features, more) in [("--no-default-features", &[][..]), ("--all-features", &PURE_FEATURES[..])] {
        let found = dependencies(features);
        assert!(found.contains("memchr"), "the tree was not understood: {found:?}");
        let known = |name: &str| PURE.contains(&name) || more.contains(&name);
        let strange: Vec<&String> = found.iter().filter(|name| !known(name)).collect();
        assert!(strange.is_empty(), "are these pure? {strange:?}");
    }
}

fn source() -> Vec<File> {
    let all = files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"));
    assert!(all.len() > 50, "{} files", all.len());
    all
}

#[test]
fn touches_no_file_process_socket_clock_or_chance() {
    const WORLD: [&str; 8] = ["fs", "process", "net", "os", "env", "thread", "io", "time"];
    const READS: [&str; 3] = ["read.rs", "session.rs", "write.rs"];
    const NAMES: [&str; 3] = ["SystemTime", "Instant", "RandomState"];
    const MACROS: [&str; 6] = ["println", "eprintln", "print", "eprint", "dbg", "thread_local"];
    let mut wrong = Vec::new();
    for file in source() {
        for path in file.paths() {
            // The traits of what can be read and written are no files.
            let reads = READS.contains(&file.name.as_str()) && path.get(1).is_some_and(|module| module == "io");
            if path[0] == "std" && !reads && path.get(1).is_some_and(|module| WORLD.contains(&module.as_str())) {
                wrong.push(format!("{}: {}", file.name, path.join("::")));
            }
        }
        for pair in file.words.windows(2) {
            match pair {
                [Word::Name(name), _] if NAMES.contains(&name.as_str()) => wrong.push(format!("{}: {name}", file.name)),
                [Word::Name(name), Word::Mark('!')] if MACROS.contains(&name.as_str()) => wrong.push(format!("{}: {name}!", file.name)),
                [Word::Name(first), Word::Name(second)] if matches!((first.as_str(), second.as_str()), ("static", "mut") | ("unsafe", "impl")) => {
                    wrong.push(format!("{}: {first} {second}", file.name));
                }
                _ => {}
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn holds_unsafe_code_in_one_module() {
    let is_unsafe = |file: &File| file.words.contains(&Word::Name("unsafe".to_owned()));
    let files: Vec<String> = source().into_iter().filter(is_unsafe).map(|file| file.name).collect();
    assert_eq!(files, ["json/scan.rs"], "unsafe code");
}

/// What the features add on top (JSON Schemas, owned events) is for people; nothing that reads or writes a line goes through it.
const FEATURES: [&str; 2] = ["schema", "serde"];

#[test]
fn no_value_tree_and_no_serializer() {
    // `mod serde` and its use are behind the feature of that name.
    let crates = ["serde_json", "serde_core", "serde_derive"];
    let brings_serde = |file: &File| {
        file.words
            .iter()
            .any(|word| matches!(word, Word::Name(name) if crates.contains(&name.as_str())))
    };
    let wrong: Vec<String> = source()
        .into_iter()
        .filter(|file| !file.module.iter().any(|part| FEATURES.contains(&part.as_str())) && brings_serde(file))
        .map(|file| file.name)
        .collect();
    assert!(wrong.is_empty(), "serde in {wrong:?}");
}

/// The lowest layers, and what each may use. What stands above them is free to use all of them and one another; vendors stand above all
/// (`tests/vendors.rs`).
const LAYERS: [(&str, &[&str]); 5] = [
    // What is written tells the ledger.
    ("json", &["trace", "event::Fate"]),
    // A dialect and a format are names.
    ("event", &["json", "ids", "codec::Dialect", "codec::Format"]),
    ("frame", &["json", "ids"]),
    ("blocks", &["codec", "event", "json", "tools"]),
    ("chat", &["codec", "event", "json", "tools"]),
];

#[test]
fn arrows_run_one_way() {
    let mut wrong = Vec::new();
    for file in source() {
        let Some((layer, below)) = LAYERS.iter().find(|(layer, _)| file.module.first().is_some_and(|own| own == layer)) else {
            continue;
        };
        for path in file.paths() {
            let whole = path.join("::");
            let is_below = |name: &str| whole.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with("::"));
            let free = path[0] == "std" || path[0] == *layer || below.iter().any(|name| is_below(name));
            if !free {
                wrong.push(format!("{}: {whole}", file.name));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Files are for reading: about five hundred lines at most.
#[test]
fn files_are_short() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let lines = |file: &File| fs::read_to_string(root.join(&file.name)).expect("it was just read").lines().count();
    let lines = source().into_iter().map(|file| (lines(&file), file.name));
    let long: Vec<String> = lines
        .filter(|(lines, _)| *lines > 600)
        .map(|(lines, name)| format!("{name}: {lines}"))
        .collect();
    assert!(long.is_empty(), "{}", long.join("\n"));
}
