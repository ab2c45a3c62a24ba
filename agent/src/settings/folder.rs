//! Folders of settings: kinds of subagents, commands, skills and output styles, a Markdown file each.

use std::path::{Path, PathBuf};

use super::{Settings, StyleFile, text_of};
use crate::permissions::Source;

/// So large may such a file be, in bytes, and all of a folder together; so many may there be, so much else beside them; so deep may they lie.
const LARGEST: u64 = 1024 * 1024;
const ALL: usize = 32 << 20;
const MOST: usize = 1000;
const BESIDE: usize = 20_000;
const DEEPEST: usize = 4;

/// A kind of subagent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AgentFile {
    /// Its name.
    pub name: String,
    /// When to use it.
    pub description: String,
    /// Its tools; all if absent.
    pub tools: Option<Vec<String>>,
    /// Tools that it does not have.
    pub without: Vec<String>,
    /// The most rounds of it.
    pub max_rounds: Option<u64>,
    /// Nobody waits for it.
    pub background: bool,
    /// Its model; `inherit` is ours.
    pub model: Option<String>,
    /// Its system prompt.
    pub prompt: String,
    /// The file.
    pub path: PathBuf,
}

/// A command: `/name` stands for a prompt.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommandFile {
    /// Its name, folders before it with a colon.
    pub name: String,
    /// What it does.
    pub description: String,
    /// What may stand behind it.
    pub hint: String,
    /// The prompt; `$ARGUMENTS` and `$1` … stand for what the user wrote behind the name.
    pub prompt: String,
    /// The file.
    pub path: PathBuf,
    /// The model may take it up by itself.
    pub is_skill: bool,
}

impl Settings {
    /// Reads the folders of all places that count.
    pub(super) fn folders(&mut self) {
        let Some(files) = self.places.files else { return };
        let user = self.places.config.clone().filter(|_| self.places.counts(Source::User));
        let project = Some(self.places.root.join(files.folder)).filter(|_| self.places.counts(Source::Project));
        for folder in [user, project].into_iter().flatten() {
            self.folder(&folder, "");
        }
    }

    /// Reads the folders below one; what they define has a name that begins so.
    pub(super) fn folder(&mut self, folder: &Path, prefix: &str) {
        for (path, name, text) in self.texts(&folder.join("agents")) {
            let agent = agent(&text, &name, path).map(|agent| AgentFile {
                name: format!("{prefix}{}", agent.name),
                ..agent
            });
            self.add_agent(agent);
        }
        for (path, name, text) in self.texts(&folder.join("commands")) {
            self.add_command(command(&text, format!("{prefix}{name}"), path));
        }
        for (path, name, text) in self.texts(&folder.join("skills")) {
            if let Some(name) = name.strip_suffix(":SKILL") {
                let skill = command(&text, format!("{prefix}{name}"), path);
                self.add_command(CommandFile { is_skill: true, ..skill });
            }
        }
        for (path, name, text) in self.texts(&folder.join("output-styles")) {
            let mut style = style(&text, name, path);
            style.name.insert_str(0, prefix);
            self.styles.retain(|known| known.name != style.name);
            self.styles.push(style);
        }
    }

    /// The files of a folder with their names and what they say.
    fn texts(&mut self, folder: &Path) -> Vec<(PathBuf, String, String)> {
        let (mut texts, mut size) = (Vec::new(), 0);
        for (path, name) in self.files(folder) {
            match text_of(&path, LARGEST) {
                Ok(Some(text)) if size + text.len() > ALL => {
                    self.problems.push(format!(
                        "{} holds more than {ALL} bytes; the files from {} on are skipped",
                        folder.display(),
                        path.display()
                    ));
                    break;
                }
                Ok(Some(text)) => {
                    size += text.len();
                    texts.push((path, name, text));
                }
                Ok(None) => {}
                Err(problem) => self.problems.push(problem),
            }
        }
        texts
    }

    fn add_command(&mut self, command: CommandFile) {
        self.commands.retain(|known| known.name != command.name);
        self.commands.push(command);
    }

    fn add_agent(&mut self, agent: Result<AgentFile, String>) {
        match agent {
            Ok(agent) => {
                self.agents.retain(|known| known.name != agent.name);
                self.agents.push(agent);
            }
            Err(problem) => self.problems.push(problem),
        }
    }

    /// The Markdown files of a folder, in the order of their names.
    fn files(&mut self, folder: &Path) -> Vec<(PathBuf, String)> {
        let mut found = Vec::new();
        let mut waiting = vec![(folder.to_owned(), String::new(), 0)];
        let mut left = BESIDE;
        while let Some((folder, before, depth)) = waiting.pop() {
            let Ok(entries) = std::fs::read_dir(&folder) else { continue };
            for entry in entries.flatten().take(left) {
                left -= 1;
                let Some(name) = entry.file_name().to_str().map(str::to_owned) else {
                    continue;
                };
                let Ok(kind) = entry.file_type() else { continue };
                if kind.is_dir() && depth < DEEPEST {
                    waiting.push((entry.path(), format!("{before}{name}:"), depth + 1));
                } else if let Some(stem) = name.strip_suffix(".md").filter(|_| !kind.is_dir()) {
                    found.push((entry.path(), format!("{before}{stem}")));
                }
            }
            if found.len() > MOST || left == 0 {
                self.problems
                    .push(format!("{} holds more than {MOST} files; the others are skipped", folder.display()));
                break;
            }
        }
        found.sort();
        found.truncate(MOST);
        found
    }
}

impl CommandFile {
    /// The prompt for what stands behind the name.
    pub fn prompt_for(&self, arguments: &str) -> String {
        let arguments = arguments.trim();
        let words: Vec<&str> = arguments.split_whitespace().collect();
        let mut prompt = String::with_capacity(self.prompt.len() + arguments.len());
        let mut rest = self.prompt.as_str();
        let mut used = false;
        while let Some(at) = rest.find('$') {
            prompt.push_str(&rest[..at]);
            rest = &rest[at + 1..];
            if let Some(behind) = rest.strip_prefix("ARGUMENTS") {
                prompt.push_str(arguments);
                (rest, used) = (behind, true);
            } else if let Some(number) = rest.chars().next().and_then(|c| c.to_digit(10)).filter(|number| *number > 0) {
                prompt.push_str(words.get(number as usize - 1).unwrap_or(&""));
                (rest, used) = (&rest[1..], true);
            } else {
                prompt.push('$');
            }
        }
        prompt.push_str(rest);
        if !used && !arguments.is_empty() {
            prompt.push_str("\n\nARGUMENTS: ");
            prompt.push_str(arguments);
        }
        prompt
    }
}

fn agent(text: &str, file: &str, path: PathBuf) -> Result<AgentFile, String> {
    let (front, prompt) = front_matter(text);
    let get = |name: &str| front.iter().find(|(key, _)| key == name).map(|(_, value)| value);
    let name = get("name").map_or_else(|| file.to_owned(), |name| name.text());
    let description = get("description").map(Entry::text).unwrap_or_default();
    if name.is_empty() || name.contains(char::is_whitespace) || description.is_empty() {
        return Err(format!("{} says no name or description of an agent and is skipped", path.display()));
    }
    Ok(AgentFile {
        tools: get("tools").map(Entry::list).filter(|tools| !tools.is_empty()),
        without: get("disallowedTools").map(Entry::list).unwrap_or_default(),
        max_rounds: get("maxTurns").and_then(|most| most.text().parse().ok()).filter(|most| *most > 0),
        background: get("background").is_some_and(|word| word.text() == "true"),
        model: get("model").map(Entry::text).filter(|model| !model.is_empty() && model != "inherit"),
        prompt: prompt.trim().to_owned(),
        name,
        description,
        path,
    })
}

fn command(text: &str, name: String, path: PathBuf) -> CommandFile {
    let (front, prompt) = front_matter(text);
    let get = |name: &str| front.iter().find(|(key, _)| key == name).map(|(_, value)| value.text());
    let first = || {
        prompt
            .lines()
            .map(str::trim)
            .find(|line| !line.is_empty())
            .unwrap_or_default()
            .trim_start_matches(['#', ' '])
    };
    CommandFile {
        description: get("description").unwrap_or_else(|| first().to_owned()),
        hint: get("argument-hint").unwrap_or_default(),
        prompt: prompt.trim().to_owned(),
        name,
        path,
        is_skill: false,
    }
}

fn style(text: &str, file: String, path: PathBuf) -> StyleFile {
    let (front, prompt) = front_matter(text);
    let get = |name: &str| front.iter().find(|(key, _)| key == name).map(|(_, value)| value.text());
    StyleFile {
        name: get("name").filter(|name| !name.is_empty()).unwrap_or(file),
        description: get("description").unwrap_or_default(),
        prompt: prompt.trim().to_owned(),
        path,
    }
}

/// What stands behind a key of a front matter.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Entry {
    line: String,
    /// Lines below it that stand further in.
    below: Vec<String>,
}

impl Entry {
    fn text(&self) -> String {
        let line = self.line.trim();
        if matches!(line, "|" | ">" | "|-" | ">-" | "|+" | ">+") || (line.is_empty() && !self.below.is_empty()) {
            let between = if line.starts_with('|') { "\n" } else { " " };
            return self
                .below
                .iter()
                .map(|line| line.trim())
                .collect::<Vec<_>>()
                .join(between)
                .trim()
                .to_owned();
        }
        let mut text = unquote(line);
        for line in &self.below {
            text.push(' ');
            text.push_str(line.trim());
        }
        text
    }

    /// `a, b`, `[a, b]`, or a line each with a stroke.
    fn list(&self) -> Vec<String> {
        let line = self.line.trim();
        let inside = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')).unwrap_or(line);
        let here = inside.split(',');
        let below = self.below.iter().filter_map(|line| line.trim().strip_prefix("- "));
        here.chain(below)
            .map(|item| unquote(item.trim()))
            .filter(|item| !item.is_empty())
            .collect()
    }
}

fn unquote(text: &str) -> String {
    if let Some(inside) = text.strip_prefix('"').and_then(|text| text.strip_suffix('"')).filter(|_| text.len() > 1) {
        return serde_json::from_str(text).unwrap_or_else(|_| inside.to_owned());
    }
    match text
        .strip_prefix('\'')
        .and_then(|text| text.strip_suffix('\''))
        .filter(|_| text.len() > 1)
    {
        Some(inside) => inside.replace("''", "'"),
        None => text.to_owned(),
    }
}

/// The keys of a front matter and what stands behind it. Of YAML that part is read which such files use: texts, lists, blocks.
fn front_matter(text: &str) -> (Vec<(String, Entry)>, &str) {
    let text = text.trim_start_matches('\u{feff}');
    let none = (Vec::new(), text);
    let Some(rest) = text
        .strip_prefix("---")
        .and_then(|rest| rest.strip_prefix("\r\n").or_else(|| rest.strip_prefix('\n')))
    else {
        return none;
    };
    let mut keys: Vec<(String, Entry)> = Vec::new();
    let mut at = 0;
    for line in rest.split_inclusive('\n') {
        at += line.len();
        let line = line.trim_end();
        if line == "---" {
            return (keys, &rest[at..]);
        }
        let inwards = line.starts_with([' ', '\t']) || line.starts_with("- ");
        if inwards || line.is_empty() {
            if let Some((_, entry)) = keys.last_mut().filter(|_| inwards) {
                entry.below.push(line.to_owned());
            }
            continue;
        }
        if let Some((key, value)) = line.split_once(':').filter(|_| !line.starts_with('#')) {
            let entry = Entry {
                line: value.trim().to_owned(),
                below: Vec::new(),
            };
            keys.push((key.trim().to_owned(), entry));
        }
    }
    none
}
