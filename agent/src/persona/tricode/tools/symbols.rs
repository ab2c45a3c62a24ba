//! `search_symbol`, `list_symbols` and `search_references`. Version 341a160 runs them and does not tell the model of them; here the model
//! is told of those that `--tools` names.

use std::path::Path;

use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::args::{given, int, is_set, string, text_or};
use super::place::{errno, refused};
use super::search::{PATIENCE, Watch};
use crate::tools::Given;
use crate::tools::symbols::{Confidence, Definition, Language, Named, Reference, definitions, is_test, is_third_party, reference_id, references};
use crate::workspace::{Fault, Place, Wall};

/// So many definitions are shown with their lines, symbols and references without, unless the model says how many.
const SHOWN: usize = 50;
const LISTED: usize = 200;

/// So many lines of a definition are shown.
const PREVIEW: usize = 60;

pub(super) fn search(input: &Value, wall: &Wall, cancel: &CancellationToken) -> Result<Given, Given> {
    let symbol = match given(input, "symbol") {
        Some(Value::String(symbol)) if !symbol.is_empty() => symbol,
        _ => return Err(Given::error("Symbol name is required")),
    };
    let place = folder(input, wall)?;
    let filter = Filter::of(input)?;
    let qualified = text_or(input, "qualified_name", "")?;
    let enclosing = text_or(input, "enclosing", "")?;
    let last = symbol.rsplit(['.', ':']).next().unwrap_or_default();
    let found = find(wall, &place, cancel, last, &|one| {
        one.is_called(symbol)
            && filter.fits(one)
            && (qualified.is_empty() || one.qualified_name == qualified)
            && (enclosing.is_empty() || one.enclosing() == enclosing || one.enclosing().ends_with(&format!("{}{enclosing}", one.language.joint())))
    })?;
    let page = Page::of(input, SHOWN)?;
    let mut to = format!("status=ok\nsymbol={symbol}\npath={}\nmatches={}", place.path().display(), found.len());
    page.head(found.len(), &mut to);
    for (at, (number, one)) in page.items(&found).enumerate() {
        to.push_str(if at == 0 { "\n\ndefinitions:\n" } else { "\n" });
        to.push_str(&described(number, one));
        to.push_str(&preview(one));
    }
    Ok(Given::text(to))
}

pub(super) fn list(input: &Value, wall: &Wall, cancel: &CancellationToken) -> Result<Given, Given> {
    let place = folder(input, wall)?;
    let filter = Filter::of(input)?;
    let found = find(wall, &place, cancel, "", &|one| filter.fits(one))?;
    let page = Page::of(input, LISTED)?;
    let mut to = format!("status=ok\npath={}\ntotal_symbols={}", place.path().display(), found.len());
    page.head(found.len(), &mut to);
    for (at, (number, one)) in page.items(&found).enumerate() {
        to.push_str(if at == 0 { "\n\nsymbols:\n" } else { "\n" });
        to.push_str(&described(number, one));
    }
    Ok(Given::text(to))
}

pub(super) fn find_references(input: &Value, wall: &Wall, cancel: &CancellationToken) -> Result<Given, Given> {
    let place = folder(input, wall)?;
    let (symbol, source) = identity(input, wall, &place, cancel)?;
    let sort = text_or(input, "sort_by", "file")?;
    if !["file", "confidence"].contains(&sort) {
        return Err(wrong("invalid_input", "sort_by must be 'file' or 'confidence'."));
    }
    let mode = text_or(input, "mode", "include_text")?;
    let globs = text_or(input, "path_glob", "")?;
    let named = Named {
        name: symbol.name.clone(),
        language: symbol.language,
        text: mode == "include_text",
        globs: if globs.is_empty() { Vec::new() } else { vec![globs.to_owned()] },
    };
    let watch = Watch::start(cancel);
    let (mut found, _) = references(wall, &place, &watch.cancel, &named).map_err(|fault| failed("Reference search", &fault, &place, cancel))?;
    let (tests, third_party) = (is_set(input, "include_tests", true), is_set(input, "include_third_party", true));
    let prefixes = prefixes(input)?;
    found.retain(|one| {
        let below = one.path.strip_prefix(place.path()).unwrap_or(&one.path);
        (tests || !is_test(below))
            && (third_party || !is_third_party(below))
            && (prefixes.is_empty() || prefixes.iter().any(|prefix| below.starts_with(prefix)))
    });
    if sort == "confidence" {
        found.sort_by_key(|one| one.confidence);
    }
    let mut lines: Vec<String> = Vec::new();
    if let Some(definition) = symbol.definition.as_ref().filter(|_| is_set(input, "include_definition", false)) {
        let (file, line) = (definition.path.display(), definition.start_line);
        lines.push(format!(
            "confidence=exact kind=definition language={} is_definition=True location={file}:{line}:0->{line}:0 reference_id={}",
            definition.language.name(),
            reference_id(&definition.path, (line, 0), 1)
        ));
    }
    let words = found.iter().filter(|one| one.confidence == Confidence::TextOnly).count();
    let semantic = found.len() - words + lines.len();
    let before = lines.len();
    lines.extend(found.iter().enumerate().map(|(at, one)| referred(one, at + 1 + before)));
    let unknown = || "unknown".to_owned();
    let mut to = format!(
        "status=ok\nsymbol: source={source} language={} name={} kind={} symbol_id={}\ncapabilities: semantic_languages={} text_fallback=True\n\
         summary: total={} semantic={semantic} text_only={words}",
        symbol.language.map_or("unknown", Language::name),
        symbol.name,
        symbol.kind.clone().unwrap_or_else(unknown),
        symbol.id.clone().unwrap_or_else(unknown),
        Language::ALL.map(Language::name).join(","),
        lines.len(),
    );
    let page = Page::of(input, LISTED)?;
    page.head(lines.len(), &mut to);
    for (at, (number, line)) in page.items(&lines).enumerate() {
        to.push_str(if at == 0 { "\n\nreferences:\n" } else { "\n" });
        to.push_str(&format!("- [{number}] {line}"));
    }
    Ok(Given::text(to))
}

/// What is looked for, by the place of its definition, by its id or by its name.
struct Identity {
    name: String,
    language: Option<Language>,
    kind: Option<String>,
    id: Option<String>,
    definition: Option<Definition>,
}

impl Identity {
    fn of(definition: Definition) -> Self {
        Self {
            name: definition.name.clone(),
            language: Some(definition.language),
            kind: Some(definition.kind.to_owned()),
            id: Some(definition.id()),
            definition: Some(definition),
        }
    }
}

fn identity(input: &Value, wall: &Wall, place: &Place, cancel: &CancellationToken) -> Result<(Identity, &'static str), Given> {
    match (given(input, "definition"), given(input, "symbol")) {
        (None, None) => Err(wrong("invalid_input", "Either definition or symbol must be provided.")),
        (Some(_), Some(_)) => Err(wrong("invalid_input", "Provide either definition or symbol, not both.")),
        (Some(definition), None) => {
            let file = text_or(definition, "file", "")?;
            let line = given(definition, "start_line").and_then(|line| int(line).ok()).unwrap_or(0);
            let line = usize::try_from(line).unwrap_or(0);
            let place = wall.locate(file).map_err(|fault| refused(&fault, wall.absolute(file.as_ref())))?;
            let around = find(wall, &place, cancel, "", &|one| one.start_line <= line && line <= one.end_line)?;
            let innermost = around.into_iter().min_by_key(|one| one.end_line - one.start_line);
            let none = || wrong("definition_not_found", "No symbol definition found at the given location.");
            innermost.map(|one| (Identity::of(one), "definition")).ok_or_else(none)
        }
        (None, Some(symbol)) => {
            let name = symbol.as_str().map_or_else(|| text_or(symbol, "name", ""), Ok)?;
            let id = text_or(symbol, "symbol_id", "")?;
            if name.is_empty() && !id.is_empty() {
                let found = find(wall, place, cancel, "", &|one| one.id() == id)?;
                let none = || wrong("symbol_id_not_found", "No symbol matched the given symbol_id.");
                return found.into_iter().next().map(|one| (Identity::of(one), "identifier")).ok_or_else(none);
            }
            // A reference is written by the last part of a name.
            let name = name.rsplit(['.', ':']).next().unwrap_or_default();
            if name.is_empty() {
                return Err(wrong("invalid_input", "Symbol must have a non-empty name."));
            }
            let optional = |name: &str| given(symbol, name).map(string);
            let identity = Identity {
                name: name.to_owned(),
                language: language(symbol)?,
                kind: optional("kind"),
                id: optional("symbol_id"),
                definition: None,
            };
            Ok((identity, "identifier"))
        }
    }
}

/// The folder or file in which is looked.
fn folder(input: &Value, wall: &Wall) -> Result<Place, Given> {
    let asked = text_or(input, "path", ".")?;
    wall.locate(asked).map_err(|fault| refused(&fault, wall.absolute(asked.as_ref())))
}

fn find(
    wall: &Wall,
    place: &Place,
    cancel: &CancellationToken,
    word: &str,
    wanted: &(dyn Fn(&Definition) -> bool + Sync),
) -> Result<Vec<Definition>, Given> {
    let watch = Watch::start(cancel);
    let found = definitions(wall, place, &watch.cancel, word, wanted);
    found
        .map(|(found, _)| found)
        .map_err(|fault| failed("Symbol search", &fault, place, cancel))
}

fn failed(what: &str, fault: &Fault, place: &Place, cancel: &CancellationToken) -> Given {
    match fault {
        Fault::Cancelled if !cancel.is_cancelled() => Given::error(format!("{what} failed: timed out after {} seconds", PATIENCE.as_secs())),
        other => Given::error(format!("{what} failed: {}", errno(other, &place.path().display().to_string()))),
    }
}

fn wrong(kind: &str, message: &str) -> Given {
    Given::error(format!("status=error\nerror={kind}\nmessage={message}"))
}

fn language(input: &Value) -> Result<Option<Language>, Given> {
    let name = text_or(input, "language", "")?;
    match (name, Language::named(name)) {
        ("", _) => Ok(None),
        (_, Some(language)) => Ok(Some(language)),
        (name, None) => {
            let known = Language::ALL.map(Language::name).join(", ");
            Err(wrong(
                "invalid_input",
                &format!("Language '{name}' is not known. Supported values are {known}."),
            ))
        }
    }
}

/// Which definitions are meant.
struct Filter {
    language: Option<Language>,
    kind: String,
}

impl Filter {
    fn of(input: &Value) -> Result<Self, Given> {
        Ok(Self {
            language: language(input)?,
            kind: text_or(input, "kind", "")?.to_owned(),
        })
    }

    fn fits(&self, one: &Definition) -> bool {
        self.language.is_none_or(|language| language == one.language) && (self.kind.is_empty() || self.kind.eq_ignore_ascii_case(one.kind))
    }
}

/// Which part of a list is shown.
struct Page {
    first: usize,
    most: usize,
}

impl Page {
    fn of(input: &Value, most: usize) -> Result<Self, Given> {
        let number = |name: &str| match given(input, name).map(int) {
            Some(Err(why)) => Err(Given::error(format!("Invalid arguments: {why}"))),
            Some(Ok(number)) => Ok(usize::try_from(number).ok()),
            None => Ok(None),
        };
        Ok(Self {
            first: number("offset")?.unwrap_or(0),
            most: number("max_results")?.filter(|most| *most > 0).unwrap_or(most),
        })
    }

    /// Where to go on, if there is more.
    fn head(&self, all: usize, to: &mut String) {
        let next = self.first.saturating_add(self.most);
        if next < all {
            to.push_str(&format!("\nnext_offset={next}"));
        }
    }

    /// With their numbers, from 1.
    fn items<'v, T>(&self, all: &'v [T]) -> impl Iterator<Item = (usize, &'v T)> {
        all.iter().enumerate().map(|(at, one)| (at + 1, one)).skip(self.first).take(self.most)
    }
}

fn prefixes(input: &Value) -> Result<Vec<&Path>, Given> {
    let list = match given(input, "files_prefix") {
        None => return Ok(Vec::new()),
        Some(Value::String(one)) => return Ok(vec![Path::new(one)]),
        Some(Value::Array(list)) => list,
        Some(_) => return Err(wrong("invalid_input", "files_prefix must be a list of strings.")),
    };
    let texts = list.iter().filter_map(Value::as_str).filter(|text| !text.is_empty());
    Ok(texts.map(|text| Path::new(text.trim_start_matches("./"))).collect())
}

const fn truth(it: bool) -> &'static str {
    if it { "True" } else { "False" }
}

fn described(number: usize, one: &Definition) -> String {
    format!(
        "- [{number}] file={} start_line={} end_line={} language={} kind={} name={} qualified_name={} symbol_id={} is_test={} is_public={}",
        one.path.display(),
        one.start_line,
        one.end_line,
        one.language.name(),
        one.kind,
        one.name,
        one.qualified_name,
        one.id(),
        truth(one.is_test),
        truth(one.is_public)
    )
}

fn preview(one: &Definition) -> String {
    let mut to = format!(
        "\n    preview:\n        {}:{}-{} [language={} kind={} name={}]",
        one.path.display(),
        one.start_line,
        one.end_line,
        one.language.name(),
        one.kind,
        one.name
    );
    for (number, line) in (one.start_line..).zip(&one.lines).take(PREVIEW) {
        to.push_str(&format!("\n        {number}: {line}"));
    }
    if one.lines.len() > PREVIEW {
        to.push_str(&format!("\n        ... ({} more lines)", one.lines.len() - PREVIEW));
    }
    to
}

fn referred(one: &Reference, number: usize) -> String {
    let confidence = match one.confidence {
        Confidence::Probable => "probable",
        Confidence::TextOnly => "text_only",
    };
    format!(
        "confidence={confidence} kind={} language={} is_definition=False location={}:{}:{}->{}:{} reference_id={}",
        one.usage.name(),
        one.language.map_or("unknown", Language::name),
        one.path.display(),
        one.start.0,
        one.start.1,
        one.end.0,
        one.end.1,
        reference_id(&one.path, one.start, number)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::persona::testing::text;
    use serde_json::json;

    const CODE: &str = "class Box:\n    def get(self):\n        return 1\n\ndef get():\n    return Box().get()\n";

    struct Stage {
        _folder: tempfile::TempDir,
        wall: Wall,
    }

    impl Stage {
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            std::fs::create_dir(folder.path().join("tests")).unwrap();
            std::fs::write(folder.path().join("a.py"), CODE).unwrap();
            std::fs::write(folder.path().join("tests/b.py"), "get()\n").unwrap();
            std::fs::write(folder.path().join("notes.md"), "call get\n").unwrap();
            let wall = Wall::new(folder.path()).unwrap();
            Self { _folder: folder, wall }
        }

        fn ask(&self, tool: fn(&Value, &Wall, &CancellationToken) -> Result<Given, Given>, input: Value) -> Result<String, String> {
            let plain = |given: Given| text(&given).replace(self.wall.root().to_str().unwrap(), "/W");
            tool(&input, &self.wall, &CancellationToken::new()).map(plain).map_err(plain)
        }

        /// How many there are, and how many of them are shown.
        fn count(&self, tool: fn(&Value, &Wall, &CancellationToken) -> Result<Given, Given>, input: Value) -> (String, usize) {
            let told = self.ask(tool, input).unwrap();
            let counts = ["matches=", "total_symbols=", "summary: total="];
            let count = told.lines().find_map(|line| counts.iter().find_map(|name| line.strip_prefix(name)));
            let shown = told.lines().filter(|line| line.starts_with("- [")).count();
            (count.unwrap().split(' ').next().unwrap().to_owned(), shown)
        }
    }

    #[test]
    fn symbols_are_chosen_by_what_is_known_of_them() {
        let stage = Stage::new();
        for (input, many) in [
            (json!({"symbol": "get"}), 2),
            (json!({"symbol": "Box.get"}), 1),
            (json!({"symbol": "get", "qualified_name": "get"}), 1),
            (json!({"symbol": "get", "enclosing": "Box"}), 1),
            (json!({"symbol": "get", "kind": "class"}), 0),
            (json!({"symbol": "get", "language": "go"}), 0),
            (json!({"symbol": "get", "path": "tests"}), 0),
            (json!({"symbol": "get", "path": "a.py"}), 2),
        ] {
            assert_eq!(stage.count(search, input.clone()), (many.to_string(), many), "{input}");
        }
        assert_eq!(stage.ask(search, json!({"symbol": ""})), Err("Symbol name is required".to_owned()));
        assert!(
            stage
                .ask(search, json!({"symbol": "x", "path": "/"}))
                .unwrap_err()
                .starts_with("Access denied: /")
        );
        assert!(
            stage
                .ask(search, json!({"symbol": "x", "path": "none"}))
                .unwrap_err()
                .contains("No such file")
        );
        assert!(
            stage
                .ask(list, json!({"language": "cobol"}))
                .unwrap_err()
                .contains("Supported values are c, cpp")
        );
    }

    #[test]
    fn lists_come_in_pages() {
        let stage = Stage::new();
        let told = stage.ask(list, json!({"max_results": 2})).unwrap();
        assert!(
            told.starts_with("status=ok\npath=/W\ntotal_symbols=3\nnext_offset=2\n\nsymbols:\n- [1] "),
            "{told}"
        );
        let rest = stage.ask(list, json!({"max_results": 2, "offset": 2})).unwrap();
        assert!(
            rest.contains("total_symbols=3\n\nsymbols:\n- [3] ") && !rest.contains("next_offset"),
            "{rest}"
        );
        assert_eq!(stage.ask(list, json!({"offset": 9})).unwrap(), "status=ok\npath=/W\ntotal_symbols=3");
    }

    #[test]
    fn references_are_found_by_place_by_name_and_by_id() {
        let stage = Stage::new();
        let told = stage.ask(
            find_references,
            json!({"definition": {"file": "a.py", "start_line": 3}, "include_definition": true}),
        );
        let told = told.unwrap();
        let id = told.split("symbol_id=").nth(1).unwrap().split('\n').next().unwrap();
        assert!(
            told.starts_with("status=ok\nsymbol: source=definition language=python name=get kind=function symbol_id="),
            "{told}"
        );
        assert!(told.contains("summary: total=4 semantic=3 text_only=1\n"), "{told}");
        assert!(
            told.contains("- [1] confidence=exact kind=definition language=python is_definition=True location=/W/a.py:2:0->2:0"),
            "{told}"
        );
        let by_id = json!({"symbol": {"symbol_id": id}});
        for (input, many) in [
            (by_id, 3),
            (json!({"symbol": {"name": "get"}}), 3),
            (json!({"symbol": "Box.get"}), 3),
            (json!({"symbol": "get", "mode": "precise"}), 2),
            (json!({"symbol": "get", "mode": "precise", "include_tests": false}), 1),
            (json!({"symbol": "get", "files_prefix": ["tests"]}), 1),
            (json!({"symbol": "get", "path_glob": "*.md"}), 1),
            (json!({"symbol": {"name": "get", "language": "rust"}, "path_glob": "*.py"}), 4),
        ] {
            assert_eq!(stage.count(find_references, input.clone()), (many.to_string(), many), "{input}");
        }
        for (input, why) in [
            (json!({}), "invalid_input"),
            (json!({"symbol": "a", "definition": {}}), "invalid_input"),
            (json!({"symbol": {"name": ""}}), "invalid_input"),
            (json!({"symbol": "a", "sort_by": "size"}), "invalid_input"),
            (json!({"symbol": {"symbol_id": "0"}}), "symbol_id_not_found"),
            (json!({"definition": {"file": "a.py", "start_line": 4}}), "definition_not_found"),
        ] {
            let told = stage.ask(find_references, input.clone()).unwrap_err();
            assert!(told.starts_with(&format!("status=error\nerror={why}\nmessage=")), "{input}: {told}");
        }
    }
}
