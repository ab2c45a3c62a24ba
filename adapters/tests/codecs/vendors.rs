//! No shared module names a vendor, here and in the program (`agent/tests/vendors.rs` looks at the agent's own): what is to be known of
//! one is asked of its descriptor. And no vendor's folder uses another's.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::source::{File, Word, files};
use agentglot_adapters::raw::codec::Dialect;

/// What still names a vendor outside its folder: the beginning of the path below the repository, and why.
const ALLOWED: &[(&str, &str)] = &[
    ("adapters/src/registry.rs", "the list of vendors"),
    ("src/backend/demo.rs", "the demonstration is a log of this dialect"),
    ("src/command/sessions.rs", "sessions are kept in lines of this dialect"),
    ("src/command/run", "the model APIs"),
    ("adapters/src/launch/shared_flags.rs", "an API that a flag names"),
    ("src/backend/choice.rs", "the model APIs, and the environment that names one"),
];

/// Words that mean something else too; as such they are no vendor's name.
const COMMON: [&str; 2] = ["agentglot", "cursor"];

/// The model APIs have names in protocols and settings.
const APIS: [&str; 2] = ["anthropic", "openai"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// A name as words: `QwenCode` and `qwen_code` are `qwen`, `code`.
fn parts(name: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut before = '_';
    for letter in name.chars() {
        if letter == '_' || letter.is_ascii_uppercase() && !before.is_ascii_uppercase() {
            parts.push(String::new());
        }
        if letter != '_' {
            parts.last_mut().expect("there is one").push(letter.to_ascii_lowercase());
        }
        before = letter;
    }
    parts.retain(|part| !part.is_empty());
    parts
}

/// The folders of the vendors, as the registry names them.
fn folders() -> BTreeSet<String> {
    Dialect::readable().map(|dialect| dialect.name().replace('-', "_")).collect()
}

/// What of a file's code names a vendor.
fn named(file: &File) -> Vec<String> {
    let names: BTreeSet<&str> = Dialect::readable().map(Dialect::name).collect();
    let words: BTreeSet<String> = names
        .iter()
        .map(|name| name.split('-').next().expect("there is one").to_owned())
        .filter(|word| !COMMON.contains(&word.as_str()))
        .collect();
    let variants: BTreeSet<String> = Dialect::readable().map(|dialect| format!("{dialect:?}")).collect();
    let folders = folders();
    let is_common = |text: &str| COMMON.contains(&text) || APIS.contains(&text);
    let mut found = BTreeSet::new();
    for (at, word) in file.words.iter().enumerate() {
        match word {
            Word::Name(name) if parts(name).iter().any(|part| words.contains(part)) => _ = found.insert(name.clone()),
            Word::Name(name) if matches!(name.as_str(), "Dialect" | "Decoder" | "Encoder") => {
                if let [Word::Mark(':'), Word::Mark(':'), Word::Name(variant), ..] = &file.words[at + 1..]
                    && variants.contains(variant)
                {
                    found.insert(format!("{name}::{variant}"));
                }
            }
            Word::Name(name) if name == "agentglot_adapters" || name == "adapters" => {
                // Vendors' folders stand in the module of what is inside.
                let rest = match &file.words[at + 1..] {
                    [Word::Mark(':'), Word::Mark(':'), Word::Name(raw), rest @ ..] if raw == "raw" => rest,
                    rest => rest,
                };
                if let [Word::Mark(':'), Word::Mark(':'), Word::Name(folder), ..] = rest
                    && folders.contains(folder)
                {
                    found.insert(format!("{name}::{folder}"));
                }
            }
            Word::Text(text) if names.contains(text.as_str()) && !is_common(text) => _ = found.insert(format!("{text:?}")),
            _ => {}
        }
    }
    for path in file.paths() {
        if folders.contains(&path[0]) && file.module.first() != Some(&path[0]) {
            found.insert(path.join("::"));
        }
    }
    found.into_iter().collect()
}

#[test]
fn shared_modules_name_no_vendor() {
    let folders = folders();
    let mut wrong = Vec::new();
    let mut needed = BTreeSet::new();
    for crate_root in ["adapters/src", "agent/process/src", "src"] {
        let path = root().join(crate_root);
        for file in files(&path) {
            if file.module.iter().any(|part| folders.contains(part)) {
                continue;
            }
            let name = format!("{crate_root}/{}", file.name);
            let found = named(&file);
            if found.is_empty() {
                continue;
            }
            match ALLOWED.iter().find(|(allowed, _)| name.starts_with(allowed)) {
                Some((allowed, _)) => _ = needed.insert(*allowed),
                None => wrong.push(format!("{name}: {}", found.join(", "))),
            }
        }
    }
    assert!(wrong.is_empty(), "ask the descriptor:\n{}", wrong.join("\n"));
    let idle: Vec<&str> = ALLOWED
        .iter()
        .map(|(allowed, _)| *allowed)
        .filter(|allowed| !needed.contains(allowed))
        .collect();
    assert!(idle.is_empty(), "they name no vendor any more: {idle:?}");
}

#[test]
fn no_vendor_uses_another() {
    let folders = folders();
    let mut wrong = Vec::new();
    for file in files(&root().join("adapters/src")) {
        let Some(own) = file.module.first().filter(|folder| folders.contains(*folder)) else {
            continue;
        };
        let others = file.paths().into_iter().filter(|path| folders.contains(&path[0]) && path[0] != *own);
        wrong.extend(others.map(|path| format!("{}: {}", file.name, path.join("::"))));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn source_is_read_as_it_is() {
    let text = r##"
        use crate::{a, b::{self, c as d}, e::f}; // crate::no
        /* crate::no */
        #[cfg(test)]
        use crate::no::{x};
        fn g<'a>(x: &'a str) -> char { let _ = "crate::no\"crate::no"; let _ = r#"crate::no"#; super::h::<'a>(x); '\'' }
        #[cfg(test)]
        mod tests { use crate::no; fn f() { ']' } }
        #[cfg(test)]
        pub(crate) mod more;
        #[cfg(feature = "x")]
        mod kept { fn f() { crate::i::j() } }
    "##;
    let folder = std::env::temp_dir().join(format!("agentglot-source-{}", std::process::id()));
    std::fs::create_dir_all(folder.join("one/two")).expect("the folder for passing files can be written");
    std::fs::write(folder.join("one/two.rs"), text).expect("so can a file");
    std::fs::write(folder.join("one/two/more.rs"), "use crate::no;").expect("and another");
    let found = files(&folder);
    std::fs::remove_dir_all(&folder).expect("it was just made");
    assert_eq!(found.len(), 1, "a module for tests is none");
    let paths: Vec<String> = found[0].paths().iter().map(|path| path.join("::")).collect();
    assert_eq!(paths, ["a", "b", "b::c", "e::f", "one::h", "i::j"]);
    assert!(found[0].words.contains(&Word::Text("crate::no\\\"crate::no".to_owned())));
    assert_eq!(parts("QwenCode"), parts("qwen_code"));
    assert_eq!(parts("OPENAI_KEY"), ["openai", "key"]);
}
