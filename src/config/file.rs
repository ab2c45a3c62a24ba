use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};

use toml::de::{DeTable, DeValue};

use crate::adapters::raw::launch::Program;
use crate::backend::choice::Choice;
use crate::cli::live::low::{count, on_ask, pace, search_engine};
use crate::cli::low::size;
use crate::config::durations::seconds;

/// A value as a flag would take it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// The value; lists are joined by commas, paths are absolute.
    pub text: String,
    /// Where it stands, from 1.
    pub line: usize,
}

/// One file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Layer {
    /// The file.
    pub path: PathBuf,
    /// Settings, by the names of their flags with `_` for `-`.
    pub settings: BTreeMap<&'static str, Setting>,
    /// `[programs]`, by the names of dialects.
    pub programs: BTreeMap<&'static str, Setting>,
    /// `[models]`: what the host's names of models are called behind us.
    pub models: BTreeMap<String, String>,
    /// Where `[models]` stands.
    pub models_line: Option<usize>,
    /// Folders of projects whose files may say everything.
    pub trust: Vec<PathBuf>,
    /// Where `trust` stands.
    pub trust_line: Option<usize>,
}

/// A key that is a flag too.
pub(super) struct Key {
    pub(super) name: &'static str,
    takes: Takes,
    check: fn(&str) -> Result<(), String>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Takes {
    Text,
    Path,
    TextOrNumber,
    TextOrList,
    Switch,
}

pub(super) const SETTINGS: [Key; 25] = [
    key("backend", Takes::Text, |text| Choice::read(text).map(drop)),
    key("on_ask", Takes::TextOrList, |text| on_ask(text).map(drop)),
    key("pace", Takes::TextOrNumber, |text| pace(text).map(drop)),
    key("start_timeout", Takes::TextOrNumber, |text| seconds(text).map(drop)),
    key("silence_timeout", Takes::TextOrNumber, |text| seconds(text).map(drop)),
    key("turn_timeout", Takes::TextOrNumber, |text| seconds(text).map(drop)),
    key("permission_timeout", Takes::TextOrNumber, |text| seconds(text).map(drop)),
    key("control_timeout", Takes::TextOrNumber, |text| seconds(text).map(drop)),
    key("shutdown_timeout", Takes::TextOrNumber, |text| seconds(text).map(drop)),
    key("prompt_timeout", Takes::TextOrNumber, |text| seconds(text).map(drop)),
    key("heartbeat", Takes::TextOrNumber, |text| seconds(text).map(drop)),
    key("pass_env", Takes::TextOrList, |_| Ok(())),
    key("keep_daemons", Takes::Switch, |_| Ok(())),
    key("confine_commands", Takes::Switch, |_| Ok(())),
    key("search_engine", Takes::Text, |text| search_engine(text).map(drop)),
    key("strict_args", Takes::Switch, |_| Ok(())),
    key("record", Takes::Path, |_| Ok(())),
    key("max_line", Takes::TextOrNumber, |text| size(text).map(drop)),
    key("max_turn", Takes::TextOrNumber, |text| size(text).map(drop)),
    key("max_prompt", Takes::TextOrNumber, |text| size(text).map(drop)),
    key("max_scan", Takes::TextOrNumber, |text| size(text).map(drop)),
    key("search_timeout", Takes::TextOrNumber, |text| seconds(text).map(drop)),
    key("max_pending", Takes::TextOrNumber, |text| count(text).map(drop)),
    key("max_queued", Takes::TextOrNumber, |text| size(text).map(drop)),
    key("max_sessions", Takes::TextOrNumber, |text| count(text).map(drop)),
];

/// Takes an entry of a table: its key, its text, its line.
type TakeEntry<'a> = dyn FnMut(&mut Layer, &str, &str, usize) -> Result<(), String> + 'a;

const fn key(name: &'static str, takes: Takes, check: fn(&str) -> Result<(), String>) -> Key {
    Key { name, takes, check }
}

impl Layer {
    /// Reads the text of a file.
    ///
    /// # Errors
    /// What is wrong, with file and line.
    pub fn parse(path: &Path, text: &str) -> Result<Self, String> {
        let at = |span: Option<Range<usize>>| {
            let start = span.map_or(0, |span| span.start).min(text.len());
            1 + text.as_bytes()[..start].iter().filter(|byte| **byte == b'\n').count()
        };
        let wrong = |line: usize, why: &str| format!("{}:{line}: {why}", path.display());
        let parsed = DeTable::parse(text).map_err(|error| wrong(at(error.span()), error.message()))?;
        let mut layer = Self {
            path: path.to_owned(),
            ..Self::default()
        };
        for (key, value) in parsed.get_ref() {
            let name: &str = key.get_ref();
            let line = at(Some(key.span()));
            let value = value.get_ref();
            let mut table = |take: &mut TakeEntry<'_>| {
                let DeValue::Table(entries) = value else {
                    return Err(wrong(line, &format!("`{name}` is a table: [{name}]")));
                };
                for (key, value) in entries {
                    let line = at(Some(key.span()));
                    let DeValue::String(text) = value.get_ref() else {
                        return Err(wrong(line, &format!("`{name}.{}` takes a text", key.get_ref())));
                    };
                    take(&mut layer, key.get_ref(), text, line).map_err(|why| wrong(line, &why))?;
                }
                Ok(())
            };
            match name {
                "programs" => table(&mut |layer, name, text, line| {
                    let Some(program) = Program::of_backend(name) else {
                        let programs = Program::backends();
                        return Err(unknown(
                            &format!("programs.{name}"),
                            name,
                            programs.flat_map(|program| program.backend).copied(),
                        ));
                    };
                    // A bare name is looked up in PATH, as everywhere.
                    let text = if text.contains('/') { absolute(path, text) } else { text.to_owned() };
                    layer.programs.insert(program.dialect.name(), Setting { text, line });
                    Ok(())
                })?,
                "models" => {
                    table(&mut |layer, name, text, _| {
                        layer.models.insert(name.to_owned(), text.to_owned());
                        Ok(())
                    })?;
                    layer.models_line = Some(line);
                }
                "trust" => {
                    let folders = list(value).ok_or_else(|| wrong(line, "`trust` takes a list of folders"))?;
                    layer.trust = folders.iter().map(|folder| PathBuf::from(absolute(path, folder))).collect();
                    layer.trust_line = Some(line);
                }
                _ => {
                    let Some(known) = SETTINGS.iter().find(|known| known.name == name) else {
                        let names = SETTINGS.iter().map(|known| known.name).chain(["programs", "models", "trust"]);
                        return Err(wrong(line, &unknown(name, name, names)));
                    };
                    let text = known.text(value, path).map_err(|why| wrong(line, &why))?;
                    layer.settings.insert(known.name, Setting { text, line });
                }
            }
        }
        Ok(layer)
    }
}

impl Key {
    /// The value as a flag would take it.
    fn text(&self, value: &DeValue<'_>, path: &Path) -> Result<String, String> {
        let text = match (self.takes, value) {
            (Takes::Switch, DeValue::Boolean(on)) => on.to_string(),
            (Takes::Path, DeValue::String(text)) if !text.is_empty() => absolute(path, text),
            (Takes::Text | Takes::TextOrNumber | Takes::TextOrList, DeValue::String(text)) => text.to_string(),
            (Takes::TextOrNumber, DeValue::Integer(number)) => number.to_string(),
            (Takes::TextOrNumber, DeValue::Float(number)) => number.to_string(),
            (Takes::TextOrList, value) => match list(value) {
                Some(names) if names.iter().all(|name| !name.contains(',')) => names.join(","),
                _ => return Err(self.wanted()),
            },
            _ => return Err(self.wanted()),
        };
        if text.is_empty() && self.takes != Takes::TextOrList {
            return Err(self.wanted());
        }
        (self.check)(&text).map_err(|why| format!("`{}`: {why}", self.name))?;
        Ok(match Choice::read(&text) {
            Ok(Choice::Replay(file)) if self.name == "backend" => format!("replay:{}", absolute(path, &file.to_string_lossy())),
            Ok(Choice::Cli(_, Some(program))) if self.name == "backend" && program.to_string_lossy().contains('/') => {
                let (name, _) = text.split_once('=').unwrap_or((&text, ""));
                format!("{name}={}", absolute(path, &program.to_string_lossy()))
            }
            Ok(Choice::Command(dialect, mut words)) if self.name == "backend" => {
                if let Some(program) = words.first_mut().filter(|program| program.contains('/')) {
                    *program = absolute(path, program);
                }
                Choice::Command(dialect, words).to_string()
            }
            _ => text,
        })
    }

    fn wanted(&self) -> String {
        let what = match self.takes {
            Takes::Text => "a text",
            Takes::Path => "a path",
            Takes::TextOrNumber => "a number or a text",
            Takes::TextOrList => "a list of texts without commas, or one text",
            Takes::Switch => "true or false",
        };
        format!("`{}` takes {what}", self.name)
    }
}

fn list<'a>(value: &'a DeValue<'_>) -> Option<Vec<&'a str>> {
    let DeValue::Array(values) = value else { return None };
    let text = |value: &'a toml::Spanned<DeValue<'_>>| match value.get_ref() {
        DeValue::String(text) => Some(text.as_ref()),
        _ => None,
    };
    values.iter().map(text).collect()
}

/// A path of a file means what it means beside that file; `~/` is the user's home.
fn absolute(file: &Path, path: &str) -> String {
    let home = std::env::var_os("HOME").map(PathBuf::from);
    let expanded = match (path.strip_prefix("~/"), home) {
        (Some(rest), Some(home)) => home.join(rest),
        _ => file.parent().unwrap_or(Path::new("")).join(path),
    };
    // Takes `.` out.
    expanded.components().collect::<PathBuf>().display().to_string()
}

fn unknown<'a>(full: &str, name: &str, known: impl Iterator<Item = &'a str>) -> String {
    let nearest = known.min_by_key(|known| distance(name, known)).unwrap_or_default();
    format!("there is no key `{full}`; the nearest is `{nearest}`")
}

/// How many letters have to be changed, put in or taken out.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.chars().enumerate() {
        let mut corner = i;
        row[0] = i + 1;
        for (j, to) in b.iter().enumerate() {
            let best = (corner + usize::from(from != *to)).min(row[j] + 1).min(row[j + 1] + 1);
            corner = std::mem::replace(&mut row[j + 1], best);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Layer, String> {
        Layer::parse(Path::new("/p/agentglot.toml"), text)
    }

    #[test]
    fn values_become_what_a_flag_would_take() {
        let layer = parse(
            "backend = 'replay:logs/a.jsonl'\non_ask = ['Read', 'Glob']\npace = 0.5\nstart_timeout = 7\nmax_line = '1M'\nstrict_args = true\nrecord = 'kept'",
        )
        .unwrap();
        let text = |key: &str| layer.settings[key].text.as_str();
        assert_eq!(
            [
                text("backend"),
                text("on_ask"),
                text("pace"),
                text("start_timeout"),
                text("max_line"),
                text("strict_args"),
                text("record")
            ],
            ["replay:/p/logs/a.jsonl", "Read,Glob", "0.5", "7", "1M", "true", "/p/kept"]
        );
        assert_eq!(layer.settings["on_ask"].line, 2);
    }

    #[test]
    fn what_cannot_be_meant_is_named_with_its_line() {
        for (text, error) in [
            ("\n\npacee = 1", "/p/agentglot.toml:3: there is no key `pacee`; the nearest is `pace`"),
            (
                "[programs]\ncursr = 'x'",
                "/p/agentglot.toml:2: there is no key `programs.cursr`; the nearest is `cursor`",
            ),
            ("strict_args = 'yes'", "/p/agentglot.toml:1: `strict_args` takes true or false"),
            ("pace = 'slow'", "/p/agentglot.toml:1: `pace`: full, original or a factor is wanted"),
            ("max_pending = 0", "/p/agentglot.toml:1: `max_pending`: a number above 0 is wanted"),
            (
                "on_ask = ['Read', 'Globb']",
                "/p/agentglot.toml:1: `on_ask`: no agent has a tool called \"Globb\"; did you mean \"Glob\"?",
            ),
            ("programs = 1", "/p/agentglot.toml:1: `programs` is a table: [programs]"),
            ("record = ''", "/p/agentglot.toml:1: `record` takes a path"),
        ] {
            assert_eq!(parse(text).unwrap_err(), error);
        }
        let error = parse("a = 1\nb = = 2").unwrap_err();
        assert!(error.starts_with("/p/agentglot.toml:2: "), "{error}");
        assert!(parse("backend = 'cli:vim'").unwrap_err().contains("cli:vim"));
    }
}
