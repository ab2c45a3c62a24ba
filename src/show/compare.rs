//! Two sessions, thing by thing: what was said and done in one and not in the other.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io;

use anstyle::{AnsiColor, Effects, Style};
use serde_json::{Value, json};
use similar::{Algorithm, DiffTag, capture_diff_slices};

use super::rendered::{fitted, wrapped};
use super::row::{By, Row, What};
use super::words::{cost, counted, duration, is_known, money, number, shown};
use super::{Cut, Page, Pick, Shown, show};
use crate::io::{Console, Input, Joined, one_line};
use crate::status::Failure;

/// What makes no difference.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ignore {
    /// Ids of sessions and calls, and the folder that was worked in.
    pub ids: bool,
    /// How long things took.
    pub times: bool,
    /// Tokens and costs.
    pub usage: bool,
}

/// A page that keeps what it is told, to be compared.
#[derive(Debug)]
pub struct Kept {
    ignore: Ignore,
    folder: Option<String>,
    things: Vec<Thing>,
    figures: Figures,
}

/// One thing that was said or done.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Thing {
    pub(super) kind: &'static str,
    pub(super) depth: usize,
    /// What its line says.
    pub(super) line: String,
    /// What stands below.
    pub(super) more: String,
}

#[derive(Clone, Debug, Default)]
struct Figures {
    turns: u64,
    calls: u64,
    failed: u64,
    /// `None`, here and below: no turn says it.
    ms: Option<u64>,
    input: Option<u64>,
    output: Option<u64>,
    cost: Option<f64>,
    outcome: String,
    /// Lines added to and removed from each file.
    files: BTreeMap<String, (u64, u64)>,
}

/// What is different.
#[derive(Debug)]
pub struct Difference {
    pub(super) names: [String; 2],
    figures: [Figures; 2],
    pub(super) steps: Vec<Step>,
}

#[derive(Debug)]
pub(super) enum Step {
    /// So many things are the same.
    Same(usize),
    /// Only one of the two has this: the first or the second.
    Only(usize, Thing),
}

impl Kept {
    /// Nothing yet.
    pub fn new(ignore: Ignore) -> Self {
        Self {
            ignore,
            folder: None,
            things: Vec::new(),
            figures: Figures::default(),
        }
    }

    /// A text with the folder that was worked in as `.`.
    fn at_home(&self, text: &str) -> String {
        match self.folder.as_deref().filter(|folder| self.ignore.ids && folder.len() > 1) {
            Some(folder) => text.replace(&format!("{folder}/"), "").replace(folder, "."),
            None => text.to_owned(),
        }
    }

    fn put(&mut self, kind: &'static str, depth: usize, line: &str, more: &str) {
        let thing = Thing {
            kind,
            depth,
            line: self.at_home(line.trim()),
            more: self.at_home(more.trim_end()),
        };
        self.things.push(thing);
    }

    fn call(&mut self, row: &Row<'_>) {
        let What::Call { call, deed, state, ms } = &row.what else { return };
        self.figures.calls += 1;
        self.figures.failed += u64::from(!state.is_fine());
        if let (Some(file), Some((added, removed)), true) = (&deed.file, deed.lines, state.is_fine()) {
            let file = self.at_home(file);
            let lines = self.figures.files.entry(file).or_default();
            *lines = (lines.0 + added, lines.1 + removed);
        }
        let mut line = format!("{} {}", deed.verb, deed.object);
        if let Some(detail) = &deed.detail {
            let _ = write!(line, "  {detail}");
        }
        match deed.exit.filter(|code| *code != 0) {
            Some(code) => drop(write!(line, "  exit {code}")),
            None if !state.is_fine() => drop(write!(line, "  {}", state.word())),
            None => {}
        }
        if let Some(ms) = ms.filter(|_| !self.ignore.times) {
            let _ = write!(line, "  {}", duration(ms));
        }
        if !self.ignore.ids {
            let _ = write!(line, "  {}", call.id);
        }
        let more = [deed.diff.as_deref().unwrap_or_default(), &deed.output];
        let more: Vec<&str> = more.into_iter().filter(|text| !text.is_empty()).collect();
        self.put("call", row.depth, &line, &more.join("\n"));
    }
}

impl Page for Kept {
    fn row(&mut self, row: &Row<'_>) -> io::Result<()> {
        match &row.what {
            What::Session(head) => {
                self.folder = head.facts.and_then(|facts| facts.cwd.clone());
                if !self.ignore.ids {
                    self.put("session", 0, head.id.unwrap_or_default(), "");
                }
            }
            What::Turn { .. } => self.figures.turns += 1,
            What::Prompt {
                text,
                by: By::User | By::Parent,
                ..
            } => self.put("prompt", row.depth, text, ""),
            What::Answer { text, retracted: false } => self.put("answer", row.depth, text, ""),
            What::Call { .. } => self.call(row),
            What::Permission {
                name,
                allowed: Some(allowed),
                ..
            } => {
                let answer = if *allowed { "allowed" } else { "refused" };
                self.put("permission", row.depth, &format!("{name} {answer}"), "");
            }
            What::Outcome(ended) => {
                let outcome = ended.outcome.map_or("none", |outcome| outcome.kind.as_str());
                outcome.clone_into(&mut self.figures.outcome);
                let mut line = outcome.to_owned();
                add(&mut self.figures.ms, ended.ms);
                if let Some(ms) = ended.ms.filter(|_| !self.ignore.times) {
                    let _ = write!(line, "  {}", duration(ms));
                }
                if let Some(usage) = ended.usage {
                    let (input, output) = (usage.prompt_tokens(), usage.written_tokens());
                    if is_known(usage) {
                        add(&mut self.figures.input, input);
                        add(&mut self.figures.output, output);
                    }
                    if !self.ignore.usage {
                        let _ = write!(line, "  {} in, {} out", input.unwrap_or(0), output.unwrap_or(0));
                    }
                }
                // Most logs that say it say that of the session so far.
                self.figures.cost = cost(ended).or(self.figures.cost);
                self.put("outcome", 0, &line, "");
            }
            // How it came to be is no difference in what was done.
            _ => {}
        }
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn add(sum: &mut Option<u64>, more: Option<u64>) {
    if let Some(more) = more {
        *sum = Some(sum.unwrap_or(0).saturating_add(more));
    }
}

/// What stands before each line: which side, and what it is.
const MARGIN: usize = 13;
const SIDES: [Style; 2] = [AnsiColor::Red.on_default(), AnsiColor::Green.on_default()];
const QUIET: Style = Style::new().effects(Effects::DIMMED);

impl Difference {
    /// Between two logs that are called so, and what came of reading each; without `subagents`, the files beside them are
    /// left alone.
    ///
    /// # Errors
    /// When one of them cannot be read.
    pub fn of(logs: &[Input; 2], names: [String; 2], ignore: Ignore, subagents: bool) -> Result<(Self, [Shown; 2]), Failure> {
        let keep = |input: &Input| {
            let name = input.name();
            let log = Joined::open(input, None, subagents, &Console::plain()).map_err(Failure::without_from)?;
            let mut kept = Kept::new(ignore);
            let shown = show(log, &Pick::default(), &mut kept);
            // It keeps everything.
            let shown = shown.map_err(|error| Failure::Read { name: name.clone(), error })?;
            match shown.stopped {
                Some(error) => Err(Failure::of_log(&name, error)),
                None => Ok((kept, shown)),
            }
        };
        let [(old, olds), (new, news)] = [keep(&logs[0])?, keep(&logs[1])?];
        Ok((Self::between(names, [old, new]), [olds, news]))
    }

    /// Between two sessions of these names.
    fn between(names: [String; 2], kept: [Kept; 2]) -> Self {
        let [old, new] = kept;
        let mut steps = Vec::new();
        for op in capture_diff_slices(Algorithm::Patience, &old.things, &new.things) {
            let (tag, olds, news) = op.as_tag_tuple();
            match tag {
                DiffTag::Equal => steps.push(Step::Same(olds.len())),
                _ => {
                    steps.extend(old.things[olds].iter().map(|thing| Step::Only(0, thing.clone())));
                    steps.extend(new.things[news].iter().map(|thing| Step::Only(1, thing.clone())));
                }
            }
        }
        Self {
            names,
            figures: [old.figures, new.figures],
            steps,
        }
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.steps.iter().all(|step| matches!(step, Step::Same(_)))
    }

    /// As text, in lines that are no longer than `width`; with `colour`, what each of the two has stands in a colour of its own.
    pub fn text(&self, cut: Cut, width: Option<usize>, colour: bool) -> String {
        let width = width.unwrap_or(usize::MAX);
        let mut text = String::new();
        if self.is_empty() {
            return text;
        }
        // A `String` takes everything.
        let paint = |style: Style, line: &str| match line.trim_end() {
            line if colour => format!("{style}{line}{style:#}"),
            line => line.to_owned(),
        };
        let names = self.names.each_ref().map(|name| one_line(name));
        let _ = writeln!(
            text,
            "{}\n{}",
            paint(SIDES[0], &format!("--- {}", names[0])),
            paint(SIDES[1], &format!("+++ {}", names[1]))
        );
        for step in &self.steps {
            let (sign, style, thing) = match step {
                Step::Same(n) => {
                    let _ = writeln!(text, "{}", paint(QUIET, &format!("  … {n} the same")));
                    continue;
                }
                Step::Only(side, thing) => (["-", "+"][*side], SIDES[*side], thing),
            };
            let indent = "  ".repeat(thing.depth);
            let (line, more) = (shown(&thing.line), shown(&thing.more));
            let room = width.saturating_sub(MARGIN + indent.len()).max(20);
            for (n, line) in line.lines().flat_map(|line| wrapped(line, room)).enumerate() {
                let kind = if n == 0 { thing.kind } else { "" };
                let _ = writeln!(text, "{}", paint(style, &format!("{sign} {kind:<10} {indent}{line}")));
            }
            let (lines, hidden) = Cut::of(&more, cut.lines);
            for line in lines {
                let line = match width {
                    usize::MAX => line.to_owned(),
                    _ => fitted(&line.replace('\t', "    "), room.saturating_sub(4)),
                };
                let _ = writeln!(text, "{}", paint(style, &format!("{sign} {:<10} {indent}  │ {line}", "")));
            }
            if hidden > 0 {
                let _ = writeln!(
                    text,
                    "{}",
                    paint(style, &format!("{sign} {:<10} {indent}  │ … {}", "", counted(hidden, "more line")))
                );
            }
        }
        let _ = writeln!(text);
        for (name, values) in self.rows() {
            let _ = writeln!(text, "{name:<10}  {:>14}  {:>14}", values[0], values[1]);
        }
        for (file, lines) in self.files() {
            let lines = lines.map(|lines| lines.map_or_else(|| "–".to_owned(), |(added, removed)| format!("+{added} −{removed}")));
            let _ = writeln!(text, "{:<10}  {:>14}  {:>14}  {}", "file", lines[0], lines[1], one_line(file));
        }
        text
    }

    /// As one JSON object.
    pub fn json(&self) -> Value {
        let mut at = 0;
        let changes: Vec<Value> = self
            .steps
            .iter()
            .filter_map(|step| match step {
                Step::Same(n) => {
                    at += n;
                    None
                }
                Step::Only(side, thing) => {
                    let more = (!thing.more.is_empty()).then_some(&thing.more);
                    Some(json!({"in": side + 1, "behind": at, "kind": thing.kind, "depth": thing.depth, "line": thing.line, "more": more}))
                }
            })
            .collect();
        let figures: Vec<Value> = self
            .figures
            .iter()
            .zip(&self.names)
            .map(|(figures, name)| {
                let files: BTreeMap<&String, Value> = figures
                    .files
                    .iter()
                    .map(|(file, (added, removed))| (file, json!({"added": added, "removed": removed})))
                    .collect();
                json!({
                    "log": name,
                    "turns": figures.turns,
                    "calls": figures.calls,
                    "failed": figures.failed,
                    "ms": figures.ms,
                    "input_tokens": figures.input,
                    "output_tokens": figures.output,
                    "cost_usd": figures.cost,
                    "outcome": figures.outcome,
                    "files": files,
                })
            })
            .collect();
        json!({"same": self.is_empty(), "changes": changes, "sessions": figures})
    }

    pub(super) fn rows(&self) -> Vec<(&'static str, [String; 2])> {
        let of = |value: fn(&Figures) -> String| [value(&self.figures[0]), value(&self.figures[1])];
        fn known<T>(value: Option<T>, said: impl FnOnce(T) -> String) -> String {
            value.map_or_else(|| "?".to_owned(), said)
        }
        vec![
            ("turns", of(|figures| number(figures.turns))),
            ("calls", of(|figures| number(figures.calls))),
            ("failed", of(|figures| number(figures.failed))),
            ("time", of(|figures| known(figures.ms, duration))),
            ("tokens in", of(|figures| known(figures.input, number))),
            ("tokens out", of(|figures| known(figures.output, number))),
            ("cost", of(|figures| known(figures.cost, money))),
            ("outcome", of(|figures| figures.outcome.clone())),
        ]
    }

    /// The lines of each file that one of them has changed.
    pub(super) fn files(&self) -> BTreeMap<&String, [Option<(u64, u64)>; 2]> {
        let mut files: BTreeMap<&String, [Option<(u64, u64)>; 2]> = BTreeMap::new();
        for (side, figures) in self.figures.iter().enumerate() {
            for (file, lines) in &figures.files {
                files.entry(file).or_default()[side] = Some(*lines);
            }
        }
        files
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::show::{Pick, show};
    use agentglot_adapters::Source;

    const IGNORED: Ignore = Ignore {
        ids: true,
        times: true,
        usage: true,
    };

    fn kept(log: &str, ignore: Ignore) -> Kept {
        let mut kept = Kept::new(ignore);
        show(Joined::alone(log.as_bytes(), Source::Auto, "log"), &Pick::default(), &mut kept).unwrap();
        kept
    }

    fn between(old: &str, new: &str, ignore: Ignore) -> Difference {
        Difference::between(["a".to_owned(), "b".to_owned()], [kept(old, ignore), kept(new, ignore)])
    }

    fn golden(name: &str) -> String {
        std::fs::read_to_string(std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("golden").join(name)).unwrap()
    }

    #[test]
    fn ids_times_and_usage_make_no_difference_unless_they_are_asked_for() {
        let log = golden("cursor/read_edit.jsonl");
        let other = log
            .replace("4520d466", "00000000")
            .replace("48037", "48038")
            .replace("\"duration_ms\":4", "\"duration_ms\":5");
        assert_ne!(log, other);
        assert!(between(&log, &other, IGNORED).is_empty());
        assert!(!between(&log, &other, Ignore::default()).is_empty());
        assert_eq!(between(&log, &log, Ignore::default()).text(Cut::USUAL, None, false), "");
    }

    #[test]
    fn what_was_done_otherwise_is_told() {
        let log = golden("cursor/read_edit.jsonl");
        let other = log
            .replace("The greeting is loud now.", "It shouts.")
            .replace("shouts and", "is loud and");
        let found = between(&log, &other, IGNORED);
        let text = found.text(Cut::USUAL, None, false);
        assert!(
            text.contains("-            │ +- The greeting is loud now.") || text.contains("- The greeting is loud now."),
            "{text}"
        );
        assert!(
            text.contains("It shouts.") && text.contains("the same") && text.contains("+3 −0"),
            "{text}"
        );
        let json = found.json();
        assert_eq!((&json["same"], json["changes"].as_array().unwrap().len()), (&Value::Bool(false), 4));
    }

    #[test]
    fn each_of_the_two_has_its_colour_where_there_are_colours() {
        let log = golden("cursor/read_edit.jsonl");
        let other = log.replace("The greeting is loud now.", "It shouts.");
        let found = between(&log, &other, IGNORED);
        let (plain, coloured) = (found.text(Cut::USUAL, None, false), found.text(Cut::USUAL, None, true));
        assert!(!plain.contains('\u{1b}'));
        let of = |sign: &str, colour: &str| {
            let lines = coloured.lines().filter(|line| line.starts_with(&format!("\u{1b}[{colour}m{sign}")));
            lines.filter(|line| line.ends_with("\u{1b}[0m")).count()
        };
        let signs = |sign| plain.lines().filter(|line| line.starts_with(sign)).count();
        assert!(signs('-') > 1 && signs('+') > 1);
        assert_eq!((of("-", "31"), of("+", "32")), (signs('-'), signs('+')), "{coloured}");
    }

    #[test]
    fn a_name_of_a_log_or_a_file_forges_no_line() {
        let log = golden("cursor/read_edit.jsonl");
        let mut found = between(&log, &log.replace("The greeting is loud now.", "It shouts."), IGNORED);
        found.names[1].push_str("\nforged");
        found.figures[1].files.insert("a\nforged".to_owned(), (1, 0));
        let text = found.text(Cut::USUAL, None, false);
        assert!(text.contains("+++ b\\u{a}forged\n") && text.contains("a\\u{a}forged\n"), "{text}");
    }

    #[test]
    fn what_no_log_says_is_no_number() {
        let log = golden("cursor/read_edit.jsonl");
        let silent: String = log
            .lines()
            .filter(|line| !line.contains("\"type\":\"result\""))
            .map(|line| format!("{line}\n"))
            .collect();
        assert_ne!(log, silent);
        let found = between(&log, &silent, IGNORED);
        let text = found.text(Cut::USUAL, None, false);
        let row = |name: &str| {
            text.lines()
                .find(|line| line.starts_with(name))
                .unwrap()
                .split_whitespace()
                .map(str::to_owned)
                .collect::<Vec<_>>()
        };
        assert_eq!(
            (&*row("tokens in")[2], &*row("tokens in")[3], &*row("cost")[2]),
            ("48,037", "?", "?"),
            "{text}"
        );
        assert_eq!(found.json()["sessions"][1]["output_tokens"], Value::Null);
    }

    #[test]
    fn agents_that_do_the_same_say_the_same() {
        // Two agents that read and changed the same file.
        let (one, other) = (golden("claude/cli_edit.out.jsonl"), golden("gemini/edit.out.jsonl"));
        let text = between(&one, &other, IGNORED).text(Cut::USUAL, None, false);
        assert!(text.contains("the same"), "{text}");
    }
}
