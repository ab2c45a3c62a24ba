//! No module of the agent names a vendor, but for the personas; no persona knows another, and each says which flags are heeded.

use std::path::{Path, PathBuf};

/// What names a vendor, wherever it stands in a word. `cursor` alone is a word of its own.
const NAMES: &[&str] = &[
    "claude",
    "Claude",
    "CLAUDE",
    "qwen",
    "Qwen",
    "QWEN",
    "tricode",
    "Tricode",
    "TRICODE",
    "Cursor",
    "CURSOR",
    ".cursor\"",
    "cursor-agent",
];

/// What names one outside of `persona/` all the same, and why.
const ALLOWED: &[(&str, &str, &str)] = &[
    ("", "DetailShape::Claude", "a shape of the event model"),
    ("model/", "claude-", "names of models, not of a program"),
    ("permissions/shell/", "TreeCursor", "a place in a syntax tree"),
    ("model/", "Qwen", "a family of models, which servers want to be asked in its own way"),
    (
        "model/endpoint.rs",
        "CLAUDE_CODE_MAX_RETRIES",
        "a variable that users set for whatever asks models",
    ),
];

#[test]
fn no_module_names_a_vendor() {
    let mut found = Vec::new();
    let mut allowed = vec![false; ALLOWED.len()];
    for (path, code) in sources("") {
        if path.starts_with("persona/") {
            continue;
        }
        for (number, line) in code.lines().enumerate() {
            let mut line = line.to_owned();
            for (at, (folder, text, _)) in ALLOWED.iter().enumerate() {
                if path.starts_with(folder) && line.contains(text) {
                    allowed[at] = true;
                    line = line.replace(text, "");
                }
            }
            if NAMES.iter().any(|name| line.contains(name)) {
                found.push(format!("{path}:{}: {}", number + 1, line.trim()));
            }
        }
    }
    assert!(found.is_empty(), "these name a vendor, and should ask the persona:\n{}", found.join("\n"));
    for ((folder, text, why), used) in ALLOWED.iter().zip(allowed) {
        assert!(used, "{text} in {folder:?} ({why}) is nowhere any more");
    }
}

#[test]
fn no_persona_knows_another() {
    const FOLDERS: &[&str] = &["claude", "qwen", "cursor", "tricode", "codex", "gemini", "opencode"];
    let mut seen = 0;
    for folder in FOLDERS {
        for (path, code) in sources(&format!("persona/{folder}")) {
            seen += 1;
            for other in FOLDERS.iter().filter(|other| *other != folder) {
                let import = [format!("persona::{other}"), format!("super::{other}"), format!("persona::{{{other}")];
                assert!(
                    !import.iter().any(|import| code.contains(import)),
                    "{path} imports the persona of {other}"
                );
            }
        }
    }
    assert!(seen > 20, "the personas are elsewhere: {seen}");
}

/// A flag that is looked for without being among those of a persona is one that the pages call without effect.
#[test]
fn flags_that_are_heeded_are_said_to_be() {
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("../src/command/run.rs");
    let program = std::fs::read_to_string(program).expect("the program looks for flags too");
    let mut seen = 0;
    for (path, code) in sources("").into_iter().chain([("run.rs".to_owned(), program)]) {
        if !code.contains("flags::given") && !code.contains("flags::every") {
            continue;
        }
        for (at, _) in code.match_indices("\"--") {
            let flag = code[at + 1..].split('"').next().unwrap_or_default();
            let call = code[..at].trim_end();
            if ["given(", "given(launch,", "has(", "time("].iter().any(|start| call.ends_with(start)) {
                seen += 1;
                let mut flags = agentglot_agent::persona::all().flat_map(|persona| persona.flags);
                assert!(flags.any(|known| *known == flag), "{path} heeds {flag}, and no persona says so");
            }
        }
    }
    assert!(seen > 8, "flags are looked for elsewhere: {seen}");
}

/// The sources below a folder without their comments and their tests, by their paths.
fn sources(folder: &str) -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut found = Vec::new();
    let mut waiting = vec![root.join(folder)];
    while let Some(folder) = waiting.pop() {
        let mut entries: Vec<PathBuf> = std::fs::read_dir(&folder)
            .expect("a folder")
            .map(|entry| entry.expect("an entry").path())
            .collect();
        entries.sort();
        for path in entries {
            let name = path.file_stem().and_then(|name| name.to_str()).unwrap_or_default().to_owned();
            if path.is_dir() {
                waiting.push(path);
            } else if path.extension().is_some_and(|ending| ending == "rs")
                && !(name == "tests" || name.starts_with("tests_") || name.ends_with("_tests"))
            {
                let text = std::fs::read_to_string(&path).expect("a source");
                let shown = path.strip_prefix(&root).expect("below the root").display().to_string();
                found.push((shown, without_tests(&text)));
            }
        }
    }
    found
}

/// A source without comments and what is there for tests alone; lines stay where they are.
fn without_tests(source: &str) -> String {
    let (mut code, mut plain) = read(source);
    while let Some(at) = plain.find("#[cfg(test)]") {
        let rest = &plain[at..];
        let open = rest.find('{').unwrap_or(rest.len());
        let end = match rest.find(';') {
            Some(end) if end < open => at + end + 1,
            _ => {
                let mut depth = 0;
                let closed = rest.char_indices().skip_while(|(index, _)| *index < open).find(|(_, c)| {
                    depth += i32::from(*c == '{') - i32::from(*c == '}');
                    depth == 0
                });
                closed.map_or(plain.len(), |(index, _)| at + index + 1)
            }
        };
        for text in [&mut code, &mut plain] {
            let blank: String = text[at..end].chars().map(|c| if c == '\n' { '\n' } else { ' ' }).collect();
            text.replace_range(at..end, &blank);
        }
    }
    code
}

/// A source without its comments, and the same without what its texts hold; both of the same length. What is no ASCII is a blank.
fn read(source: &str) -> (String, String) {
    let source: Vec<u8> = source.bytes().map(|byte| if byte.is_ascii() { byte } else { b' ' }).collect();
    let (mut code, mut plain) = (String::new(), String::new());
    let mut at = 0;
    let mut put = |range: &[u8], in_code: bool, in_plain: bool| {
        for &byte in range {
            let shown = |wanted: bool| if wanted || byte == b'\n' { char::from(byte) } else { ' ' };
            code.push(shown(in_code));
            plain.push(shown(in_plain));
        }
    };
    while at < source.len() {
        let rest = &source[at..];
        let (length, is_comment, is_text) = if rest.starts_with(b"//") {
            (rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len()), true, false)
        } else if let Some(hashes) = raw(rest) {
            let end = [b"\"".as_slice(), &vec![b'#'; hashes]].concat();
            let start = hashes + 2;
            let found = rest[start..].windows(end.len()).position(|window| window == end);
            (found.map_or(rest.len(), |found| start + found + end.len()), false, true)
        } else if rest[0] == b'"' {
            let mut end = 1;
            while end < rest.len() && rest[end] != b'"' {
                end += if rest[end] == b'\\' { 2 } else { 1 };
            }
            ((end + 1).min(rest.len()), false, true)
        } else if rest.starts_with(b"'{'") || rest.starts_with(b"'}'") || rest.starts_with(b"'\"'") || rest.starts_with(b"';'") {
            (3, false, true)
        } else {
            (1, false, false)
        };
        put(&rest[..length], !is_comment, !(is_comment || is_text));
        at += length;
    }
    (code, plain)
}

/// How many hashes a raw text has that begins here.
fn raw(rest: &[u8]) -> Option<usize> {
    let behind = rest.strip_prefix(b"r")?;
    let hashes = behind.iter().take_while(|byte| **byte == b'#').count();
    (behind.get(hashes) == Some(&b'"')).then_some(hashes)
}

#[test]
fn comments_and_tests_are_left_out() {
    let source = "// claude\nlet a = \"// qwen {\";\n#[cfg(test)]\nmod tests {\n    fn f() { \"}claude\"; }\n}\n#[cfg(test)]\nmod more;\nlet b = r#\"\"}\"#; // x\n";
    let code = without_tests(source);
    assert!(
        code.contains("// qwen {") && code.contains("let b") && !code.contains("claude") && !code.contains("more"),
        "{code}"
    );
    assert_eq!(code.lines().count(), source.lines().count());
}
