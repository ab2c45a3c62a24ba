//! Parts of the documentation are worked out: what each direction cannot carry (from the ledgers of the goldens), the fields and flags that a dialect's page names and what the built-in agent is there, the table of tools. These tests fail when a page is out of
//! date; `BLESS=1` writes it anew.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::{Path, PathBuf};

use agentglot::adapters::convert::{Converter, Options};
use agentglot::adapters::raw::codec::{Dialect, Format};
use agentglot::adapters::raw::launch::{Program, Shape};
use agentglot::adapters::raw::tools::Tools;
use agentglot::agent::about::{self, Heeded};
use agentglot::backend::control_support::{Behind, Control, reach};
use serde_json::Value;

/// The dialects of agents: all but the canonical events.
fn agents() -> impl Iterator<Item = Dialect> {
    Dialect::ALL.into_iter().filter(|&dialect| dialect != Dialect::CANONICAL)
}

/// Those whose programs can be stood in for.
fn programs() -> impl Iterator<Item = Dialect> {
    agents().filter(|dialect| dialect.program().is_some())
}

/// What one direction leaves behind of one kind of line.
#[derive(Default)]
struct Losses {
    /// How many lines of it went as a whole.
    whole: u64,
    /// How often each field went.
    fields: BTreeMap<String, u64>,
}

/// A direction, and what each kind of line loses in it.
type Directions = BTreeMap<(Dialect, Dialect), BTreeMap<String, Losses>>;

#[test]
fn the_page_on_losses_says_what_the_ledgers_say() {
    let (all, lines) = losses();
    compare(&root().join("docs/losses.md"), |old| between(old, "losses", &page(&all, &lines)));
}

#[test]
fn the_pages_name_the_fields_that_the_codecs_know() {
    for dialect in agents().chain(Dialect::APIS) {
        let mut table = String::from("| field | means |\n|---|---|\n");
        let stores = dialect.vendor().stores.iter().flat_map(|store| store.fields);
        for (name, meaning) in dialect.fields().iter().chain(stores) {
            let _ = writeln!(table, "| `{name}` | {} |", meaning.replace('|', "\\|"));
        }
        compare(&root().join(format!("docs/{}.md", dialect.name())), |old| between(old, "fields", &table));
    }
}

#[test]
fn the_pages_name_the_flags_that_the_command_lines_know() {
    for dialect in programs() {
        let program = dialect.program().expect("the dialects of programs have command lines");
        let mut table = String::from("| flag | value | sets | means | agent |\n|---|---|---|---|---|\n");
        for flag in program.flags {
            let heeded = match about::heeds(dialect, flag) {
                Heeded::Yes if program.has_stand_in() => "yes",
                Heeded::Refused => "refused",
                _ => "",
            };
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
    // In a program of many sessions the agent is that of the program inside.
    let alone = |program: &Program| program.has_stand_in() && program.traits.command.is_none();
    for dialect in programs().filter(|dialect| dialect.program().is_some_and(alone)) {
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

/// What is lost in each direction, and how many lines of each kind there are in the goldens.
fn losses() -> (Directions, BTreeMap<(Dialect, String), u64>) {
    let manifest: toml::Table = std::fs::read_to_string(root().join("golden/MANIFEST.toml")).unwrap().parse().unwrap();
    let (mut all, mut lines) = (Directions::new(), BTreeMap::new());
    for entry in manifest["file"].as_array().unwrap() {
        let flag = |key: &str| entry.get(key).and_then(toml::Value::as_bool).unwrap_or(false);
        let from: Format = entry["dialect"].as_str().unwrap().parse().unwrap();
        // What stands on standard output beside a kept session says nothing that other logs do not.
        if entry.get("kept").is_some() || flag("hostile") || entry["side"].as_str() != Some("agent") || !from.is_streaming() {
            continue;
        }
        let source = std::fs::read(root().join("golden").join(entry["path"].as_str().unwrap())).unwrap();
        let kinds: Vec<String> = source.split(|&b| b == b'\n').map(|line| kind_of(line, from.dialect)).collect();
        for kind in &kinds {
            *lines.entry((from.dialect, kind.clone())).or_default() += 1;
        }
        for target in agents().filter(|&d| d != from.dialect) {
            let mut options = Options::new(from, target.into());
            options.ledger = Some(String::new());
            let mut converter = Converter::new(options);
            let mut out = Vec::new();
            converter.feed(&source, &mut out);
            converter.finish(&mut out);
            count(&kinds, &converter.take_ledger(), all.entry((from.dialect, target)).or_default());
        }
    }
    (all, lines)
}

fn count(kinds: &[String], ledger: &str, losses: &mut BTreeMap<String, Losses>) {
    for entry in ledger.lines() {
        let entry: Value = serde_json::from_str(entry).unwrap();
        if entry["fate"] != "dropped" {
            continue;
        }
        let first = entry["line"].as_u64().unwrap();
        let last = entry["last_line"].as_u64().unwrap_or(first);
        let pointer = entry["pointer"].as_str().unwrap();
        for line in first..=last {
            let kind = kinds.get(line as usize - 1).cloned().unwrap_or_default();
            let of = losses.entry(kind).or_default();
            if pointer.is_empty() {
                of.whole += 1;
            } else {
                *of.fields.entry(general(pointer)).or_default() += 1;
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
        .or_else(|| word(&value["request"], "subtype"))
        .or_else(|| word(&value["item"], "type"));
    match (name, detail) {
        (Some(name), Some(detail)) => format!("`{name}/{detail}`"),
        (Some(name), None) => format!("`{name}`"),
        (None, _) => "other JSON".to_owned(),
    }
}

/// A pointer as a path, with array indices left open.
fn general(pointer: &str) -> String {
    let parts = pointer.split('/').skip(1);
    let mut parts: Vec<&str> = parts
        .map(|part| if part.bytes().all(|b| b.is_ascii_digit()) { "*" } else { part })
        .collect();
    // Below the fourth level stand the payloads of single tools.
    if parts.len() > 4 {
        parts.truncate(4);
        parts.push("…");
    }
    parts.join(".")
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

/// A table of all directions, and one for each.
fn page(all: &Directions, lines: &BTreeMap<(Dialect, String), u64>) -> String {
    let mut text = String::from("| from \\ to |");
    for to in agents() {
        let _ = write!(text, " {} |", to.name());
    }
    let _ = writeln!(text, "\n|---|{}", "---|".repeat(agents().count()));
    // What is one document has no lines to count.
    for from in agents().filter(|&from| Format::from(from).is_streaming()) {
        let _ = write!(text, "| **{}** |", from.name());
        for to in agents() {
            let Some(losses) = all.get(&(from, to)) else {
                text.push_str(" everything, byte for byte |");
                continue;
            };
            let whole = losses.values().filter(|of| of.whole > 0).count();
            let fields: BTreeSet<&String> = losses.values().flat_map(|of| of.fields.keys()).collect();
            let counted = |n: usize, what: &str| format!("{n} {what}{}", if n == 1 { "" } else { "s" });
            let (whole, fields) = (counted(whole, "line"), counted(fields.len(), "field"));
            let _ = write!(text, " [{whole}, {fields}](#{}--{}) |", from.name(), to.name());
        }
        text.push('\n');
    }
    for ((from, to), losses) in all {
        let _ = write!(text, "\n## {} → {}\n\n| line | left out |\n|---|---|\n", from.name(), to.name());
        let mut rows: Vec<(&String, &Losses)> = losses.iter().collect();
        rows.sort_by_key(|(kind, of)| (std::cmp::Reverse(of.whole + of.fields.values().max().unwrap_or(&0)), *kind));
        let everywhere = everywhere(losses);
        if !everywhere.is_empty() {
            let _ = writeln!(text, "| most kinds | {} |", grouped(everywhere.iter().map(String::as_str)));
        }
        let (mut gone, mut parts) = (Vec::new(), String::new());
        for (kind, of) in rows {
            let there = lines.get(&(*from, kind.clone())).copied().unwrap_or(of.whole);
            let fields = grouped(of.fields.keys().filter(|field| !everywhere.contains(*field)).map(String::as_str));
            match (of.whole, fields.is_empty()) {
                (whole, true) if whole == there => gone.push(kind.as_str()),
                (0, true) => {}
                (0, false) => parts.push_str(&format!("| {kind} | {fields} |\n")),
                (whole, true) => parts.push_str(&format!("| {kind} | {whole} of {there} lines |\n")),
                (whole, false) => parts.push_str(&format!("| {kind} | {whole} of {there} lines; {fields} |\n")),
            }
        }
        if !gone.is_empty() {
            let _ = writeln!(text, "| {} | all of it |", gone.join(", "));
        }
        text.push_str(&parts);
    }
    text
}

/// Fields that at least four kinds of lines lose.
fn everywhere(losses: &BTreeMap<String, Losses>) -> BTreeSet<String> {
    let mut kinds: BTreeMap<&String, usize> = BTreeMap::new();
    losses
        .values()
        .flat_map(|of| of.fields.keys())
        .for_each(|field| *kinds.entry(field).or_default() += 1);
    kinds
        .into_iter()
        .filter(|&(_, kinds)| kinds >= 4)
        .map(|(field, _)| field.clone())
        .collect()
}

/// Paths, those of one object together.
fn grouped<'a>(paths: impl Iterator<Item = &'a str>) -> String {
    let mut objects: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for path in paths {
        let (object, name) = path.rsplit_once('.').unwrap_or(("", path));
        objects.entry(object).or_default().push(format!("`{name}`"));
    }
    let said = objects.into_iter().map(|(object, names)| match object {
        "" => names.join(", "),
        object => format!("in `{object}`: {}", names.join(", ")),
    });
    said.collect::<Vec<_>>().join("; ")
}
