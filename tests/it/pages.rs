//! Parts of the documentation are worked out: what each direction cannot carry (from the ledgers of the goldens: docs/losses.md
//! and the matrix in the README), the fields and flags that a dialect's page names and what the built-in agent is there, the table of tools. These tests fail when a page is out of
//! date; `BLESS=1` writes it anew.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use agentglot::adapters::convert::{Converter, Options};
use agentglot::adapters::raw::codec::{Dialect, Format};
use agentglot::adapters::raw::launch::Shape;
use agentglot::adapters::raw::tools::Tools;
use agentglot::agent::about;
use agentglot::backend::reach::{Behind, Control, reach};
use serde_json::Value;

const DIALECTS: [Dialect; 5] = [Dialect::Claude, Dialect::Qwen, Dialect::QwenCode, Dialect::Tricode, Dialect::Cursor];

/// What one direction leaves behind: how often each kind of line, and each field, was dropped.
#[derive(Default)]
struct Losses {
    lines: BTreeMap<String, u64>,
    fields: BTreeMap<String, u64>,
}

#[test]
fn the_pages_say_what_the_ledgers_say() {
    let all = losses();
    let page = page(&all);
    let matrix = matrix(&all);
    compare(&root().join("docs/losses.md"), |_| page.clone());
    compare(&root().join("README.md"), |old| between(old, "losses", &matrix));
}

#[test]
fn the_pages_name_the_fields_that_the_codecs_know() {
    for dialect in DIALECTS.into_iter().chain(Dialect::APIS) {
        let mut table = String::from("| field | means |\n|---|---|\n");
        for (name, meaning) in dialect.fields() {
            let _ = writeln!(table, "| `{name}` | {} |", meaning.replace('|', "\\|"));
        }
        compare(&root().join(format!("docs/{}.md", dialect.name())), |old| between(old, "fields", &table));
    }
}

#[test]
fn the_pages_name_the_flags_that_the_command_lines_know() {
    for dialect in DIALECTS {
        let program = dialect.program().expect("the dialects of programs have command lines");
        let mut table = String::from("| flag | value | sets | means | agent |\n|---|---|---|---|---|\n");
        for flag in program.flags {
            let heeded = if about::heeds(dialect, flag) { "yes" } else { "" };
            let names: Vec<String> = flag.names.iter().map(|name| format!("`{name}`")).collect();
            let value = match flag.shape {
                Shape::Switch => String::new(),
                Shape::Value(_) | Shape::Checked(..) => "one".to_owned(),
                Shape::Maybe(_) => "one or none".to_owned(),
                Shape::List(_) => "any number".to_owned(),
                Shape::OneOf(_, words, more) => {
                    let words: Vec<String> = words.iter().chain(more).map(|word| format!("`{word}`")).collect();
                    words.join(", ")
                }
            };
            let (names, place, about) = (names.join(", "), flag.means.place(), flag.about);
            let _ = writeln!(table, "| {names} | {value} | {place} | {about} | {heeded} |");
        }
        if !program.commands.is_empty() {
            table.push_str("\n| command | means |\n|---|---|\n");
            for command in program.commands {
                let names: Vec<String> = command.names.iter().map(|name| format!("`{name}`")).collect();
                let _ = writeln!(table, "| {} | {} |", names.join(", "), command.about);
            }
        }
        compare(&root().join(format!("docs/{}.md", dialect.name())), |old| between(old, "flags", &table));
    }
}

#[test]
fn the_pages_say_what_the_built_in_agent_is() {
    for dialect in DIALECTS {
        let mut said = String::from("| tool | what it does | when it is there |\n|---|---|---|\n");
        for tool in about::tools(dialect).unwrap() {
            let when = if tool.when.is_empty() { "always" } else { tool.when };
            let _ = writeln!(said, "| `{}` | {} | {when} |", tool.name, tool.about.replace('|', "\\|"));
        }
        let modes = about::modes(dialect);
        if !modes.is_empty() {
            said.push_str("\n| mode of permission | what it does |\n|---|---|\n");
            for (name, does) in modes {
                let _ = writeln!(said, "| {name} | {does} |");
            }
        }
        let commands = about::commands(dialect);
        if !commands.is_empty() {
            said.push_str("\n| command | also | what it does |\n|---|---|---|\n");
            for (name, others, does) in commands {
                let others: Vec<String> = others.iter().map(|name| format!("`/{name}`")).collect();
                let _ = writeln!(said, "| `/{name}` | {} | {does} |", others.join(", "));
            }
        }
        compare(&root().join(format!("docs/{}.md", dialect.name())), |old| between(old, "agent", &said));
    }
}

#[test]
fn the_page_on_tools_has_the_table_that_is_used() {
    let mut columns: Vec<(&Tools, Vec<&str>)> = Vec::new();
    for (dialect, tools) in Dialect::ALL.into_iter().filter_map(|dialect| Some((dialect, Tools::of(dialect)?))) {
        match columns.iter_mut().find(|(of, _)| of.is(tools)) {
            Some((_, names)) => names.push(dialect.name()),
            None => columns.push((tools, vec![dialect.name()])),
        }
    }
    let mut kinds: Vec<_> = columns.iter().flat_map(|(tools, _)| tools.names).map(|(kind, _)| *kind).collect();
    kinds.sort_by_key(|kind| *kind as u8);
    kinds.dedup();
    let mut table = String::from("| tool |");
    for (_, names) in &columns {
        let _ = write!(table, " {} |", names.join(", "));
    }
    let _ = writeln!(table, "\n|---|{}", "---|".repeat(columns.len()));
    for kind in kinds {
        let _ = write!(table, "| {kind:?} |");
        for (tools, _) in &columns {
            let names = tools.names.iter().find(|(of, _)| *of == kind).map_or(&[][..], |(_, names)| names);
            let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
            let _ = write!(table, " {} |", if quoted.is_empty() { "–".to_owned() } else { quoted.join(", ") });
        }
        table.push('\n');
    }
    table.push_str("\nThe first name of a cell is the one that is written.\n");
    compare(&root().join("docs/tools.md"), |old| between(old, "tools", &table));
}

/// Behind a host of another dialect: the table that the back ends act by.
#[test]
fn the_page_on_runs_says_what_becomes_of_control_traffic() {
    let mut table = String::from("| |");
    for behind in Behind::all() {
        let _ = write!(table, " {} |", behind.name());
    }
    let _ = writeln!(table, "\n|---|{}", "---|".repeat(Behind::all().count()));
    for control in Control::ALL {
        let _ = write!(table, "| {} |", control.name());
        for behind in Behind::all() {
            let host = if behind == Behind::Program(Dialect::Claude) {
                Dialect::QwenCode
            } else {
                Dialect::Claude
            };
            let (what, how) = reach(control, host, behind);
            let _ = write!(table, " **{}**: {how} |", what.name());
        }
        table.push('\n');
    }
    compare(&root().join("docs/run.md"), |old| between(old, "reach", &table));
}

/// The page with what stands between two of its markers replaced.
fn between(old: &str, name: &str, new: &str) -> String {
    let (start, end) = (format!("<!-- {name}:start -->\n"), format!("<!-- {name}:end -->"));
    let (head, rest) = old.split_once(&start).expect("the page has a start marker");
    let (_, tail) = rest.split_once(&end).expect("the page has an end marker");
    format!("{head}{start}{new}{end}{tail}")
}

fn compare(path: &Path, make: impl FnOnce(&str) -> String) {
    let old = std::fs::read_to_string(path).unwrap_or_default();
    let new = make(&old);
    if old == new {
        return;
    }
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(path, new).unwrap();
        return;
    }
    let diff = similar::TextDiff::from_lines(&old, &new);
    panic!(
        "{} is out of date (BLESS=1 writes it anew):\n{}",
        path.display(),
        diff.unified_diff().context_radius(1)
    );
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn losses() -> BTreeMap<(Dialect, Dialect), Losses> {
    let manifest: toml::Table = std::fs::read_to_string(root().join("golden/MANIFEST.toml")).unwrap().parse().unwrap();
    let mut all: BTreeMap<(Dialect, Dialect), Losses> = BTreeMap::new();
    for entry in manifest["file"].as_array().unwrap() {
        let flag = |key: &str| entry.get(key).and_then(toml::Value::as_bool).unwrap_or(false);
        let from: Format = entry["dialect"].as_str().unwrap().parse().unwrap();
        if flag("hostile") || entry["side"].as_str() != Some("agent") || !from.is_streaming() {
            continue;
        }
        let source = std::fs::read(root().join("golden").join(entry["path"].as_str().unwrap())).unwrap();
        for target in DIALECTS.into_iter().filter(|&d| d != from.dialect) {
            let mut options = Options::new(from, target.into());
            options.ledger = Some(String::new());
            let mut converter = Converter::new(options);
            let mut out = Vec::new();
            converter.feed(&source, &mut out);
            converter.finish(&mut out);
            count(
                &source,
                &converter.take_ledger(),
                from.dialect,
                all.entry((from.dialect, target)).or_default(),
            );
        }
    }
    all
}

fn count(source: &[u8], ledger: &str, dialect: Dialect, losses: &mut Losses) {
    let lines: Vec<&[u8]> = source.split(|&b| b == b'\n').collect();
    for entry in ledger.lines() {
        let entry: Value = serde_json::from_str(entry).unwrap();
        if entry["fate"] != "dropped" {
            continue;
        }
        let first = entry["line"].as_u64().unwrap();
        let last = entry["last_line"].as_u64().unwrap_or(first);
        let pointer = entry["pointer"].as_str().unwrap();
        for line in first..=last {
            let kind = lines.get(line as usize - 1).map_or_else(String::new, |line| kind_of(line, dialect));
            if pointer.is_empty() {
                *losses.lines.entry(kind).or_default() += 1;
            } else {
                *losses.fields.entry(general(pointer)).or_default() += 1;
            }
        }
    }
}

/// What kind of line it is, in the dialect's words.
fn kind_of(line: &[u8], dialect: Dialect) -> String {
    let text = String::from_utf8_lossy(line);
    let Ok(value) = serde_json::from_str::<Value>(&text[text.find('{').unwrap_or(0)..]) else {
        return "text that is no JSON".to_owned();
    };
    let word = |value: &Value, key: &str| value[key].as_str().map(str::to_owned);
    let name = match dialect {
        Dialect::Qwen => word(&value, "object").or_else(|| word(&value, "type")),
        _ => word(&value, "type"),
    };
    let detail = word(&value, "subtype")
        .or_else(|| word(&value["event"], "type"))
        .or_else(|| word(&value["request"], "subtype"));
    match (name, detail) {
        (Some(name), Some(detail)) => format!("`{name}/{detail}`"),
        (Some(name), None) => format!("`{name}`"),
        (None, _) => "other JSON".to_owned(),
    }
}

/// A pointer with array indices, file names and the like left open.
fn general(pointer: &str) -> String {
    let mut parts = pointer
        .split('/')
        .skip(1)
        .map(|part| if part.bytes().all(|b| b.is_ascii_digit()) { "*" } else { part });
    let mut text = String::from("`");
    for (depth, part) in parts.by_ref().enumerate() {
        // Below the fourth level stand the payloads of single tools.
        if depth == 4 {
            text.push_str("/…");
            break;
        }
        text.push('/');
        text.push_str(part);
    }
    text.push('`');
    text
}

/// Each row of the tables of faults names its tests, and each of them is in the file that the row or its table names.
#[test]
fn the_page_on_runs_names_tests_that_exist() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = std::fs::read_to_string(root.join("docs/run.md")).unwrap();
    let (_, faults) = page.split_once("## What must not go wrong").unwrap();
    let (mut file, mut rows) = ("run_faults.rs", 0);
    for line in faults.lines() {
        if line.starts_with("### The host") {
            file = "run_host.rs";
        }
        let Some(cells) = line.strip_prefix("| ").and_then(|line| line.strip_suffix(" |")) else {
            continue;
        };
        let Some((_, named)) = cells.rsplit_once(" | ") else { continue };
        if named == "test" {
            continue;
        }
        rows += 1;
        let words: Vec<&str> = named.split('`').skip(1).step_by(2).filter(|word| !word.starts_with("--")).collect();
        assert!(named == "the same" || !words.is_empty(), "no test: {line}");
        let file = words.iter().find(|word| word.ends_with(".rs")).copied().unwrap_or(file);
        let tests = std::fs::read_to_string(root.join("tests/it").join(file)).unwrap();
        for test in words.iter().filter(|word| !word.ends_with(".rs")) {
            assert!(tests.contains(&format!("fn {test}()")), "{file} has no {test}");
        }
    }
    assert!(rows >= 30, "only {rows} rows");
}

fn most_frequent(of: &BTreeMap<String, u64>) -> Vec<(&String, u64)> {
    let mut list: Vec<_> = of.iter().map(|(name, &n)| (name, n)).collect();
    list.sort_by_key(|&(name, n)| (std::cmp::Reverse(n), name));
    list
}

fn page(all: &BTreeMap<(Dialect, Dialect), Losses>) -> String {
    let mut text = String::from(
        "# What each direction cannot carry\n\n\
         Worked out from the ledgers of all logs in `golden/` (tools `native`, no partial messages asked for); `BLESS=1 cargo test --test it pages`\n\
         writes this page anew. In brackets: how many lines of the goldens it concerns. A conversion of your own log says exactly what it left out\n\
         with `--ledger FILE`.\n",
    );
    for ((from, to), losses) in all {
        let _ = write!(text, "\n## {} → {}\n", from.name(), to.name());
        for (title, list) in [("Whole lines", &losses.lines), ("Fields", &losses.fields)] {
            if list.is_empty() {
                continue;
            }
            let _ = write!(text, "\n{title}: ");
            let names: Vec<String> = most_frequent(list).into_iter().map(|(name, n)| format!("{name} ({n})")).collect();
            text.push_str(&names.join(", "));
            text.push_str(".\n");
        }
    }
    text
}

fn matrix(all: &BTreeMap<(Dialect, Dialect), Losses>) -> String {
    let mut text = String::from("| from \\ to |");
    for to in DIALECTS {
        let _ = write!(text, " {} |", to.name());
    }
    text.push_str("\n|---|---|---|---|---|---|\n");
    for from in DIALECTS {
        let _ = write!(text, "| **{}** |", from.name());
        for to in DIALECTS {
            let cell = all.get(&(from, to)).map_or_else(
                || "everything, byte for byte".to_owned(),
                |losses| {
                    let lines: Vec<String> = most_frequent(&losses.lines).into_iter().take(3).map(|(name, _)| name.clone()).collect();
                    let fields: Vec<String> = most_frequent(&losses.fields).into_iter().take(3).map(|(name, _)| name.clone()).collect();
                    let more = |shown: &[String], all: usize, what: &str| match all - shown.len() {
                        0 => String::new(),
                        n => format!(" and {n} more {what}"),
                    };
                    let mut cell = String::new();
                    if !lines.is_empty() {
                        let _ = write!(cell, "lines {}{}", lines.join(", "), more(&lines, losses.lines.len(), "kinds"));
                    }
                    if !fields.is_empty() {
                        let _ = write!(
                            cell,
                            "{}fields {}{}",
                            if cell.is_empty() { "" } else { "; " },
                            fields.join(", "),
                            more(&fields, losses.fields.len(), "names")
                        );
                    }
                    if cell.is_empty() { "nothing is left out".to_owned() } else { cell }
                },
            );
            let _ = write!(text, " {cell} |");
        }
        text.push('\n');
    }
    text
}
