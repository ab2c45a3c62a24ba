//! What the host has allowed an agent to do: its calls of which it was asked. What such a call does through us is not asked about again.
//!
//! A grant says no more than the question did: the arguments that the host saw, in the words in which it was told of the call, not what the
//! agent says of the call afterwards.

use std::collections::BTreeMap;

use super::client_calls::{plain, shell_words};
use crate::acp::tools::TOOLS;
use crate::client::Act;
use crate::codec::Dialect;
use crate::event::ToolKind;
use crate::json::{Raw, Shape, Str};
use crate::tools::kind_of;

/// Variables that change how a program shows things, and nothing that it does.
const HARMLESS: &[&str] = &[
    "CI",
    "CLAUDECODE",
    "CLICOLOR",
    "COLORTERM",
    "COLUMNS",
    "FORCE_COLOR",
    "LANG",
    "LC_ALL",
    "LINES",
    "NO_COLOR",
    "TERM",
    "TZ",
];

/// Shells, which take a line behind an option that ends in `c`.
const SHELLS: &[&str] = &["sh", "bash", "zsh", "dash"];

/// The calls of a turn that the agent speaks of, and what the host has allowed.
#[derive(Debug, Default)]
pub(super) struct Grants {
    calls: BTreeMap<String, Call>,
    given: Vec<Grant>,
}

/// A call as far as it is known. Texts are bodies of JSON strings.
#[derive(Clone, Debug, Default)]
struct Call {
    name: String,
    kind: String,
    title: String,
    /// The arguments as they are spelled.
    input: String,
    diff: String,
    place: String,
    /// What it shows, by ids.
    terminals: Vec<String>,
}

/// What was allowed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Grant {
    call: String,
    what: What,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum What {
    /// Changes of this file, as long as the call goes on.
    Change(String),
    /// This command, once; the folder that the question named.
    Run(Vec<String>, Option<String>),
}

/// Whether a variable need not be shown to whoever is asked about a command.
pub(super) fn harmless(name: &str) -> bool {
    HARMLESS.contains(&name)
}

impl Grants {
    /// Whether this is a call of a server's tool, and what it is given was not said yet.
    pub(super) fn lacks_arguments(&self, call: &str) -> bool {
        let known = self.calls.get(call);
        known.is_some_and(|call| call.name.starts_with("mcp__") && call.input.is_empty())
    }

    /// The agent speaks of a call.
    pub(super) fn hear(&mut self, said: Raw<'_>) {
        let text = |name: &str| said.get(name).and_then(Raw::string);
        let Some(id) = text("toolCallId") else { return };
        let call = self.calls.entry(id.as_escaped().to_owned()).or_default();
        let meta = said.get("_meta");
        let tool = |of: Option<Raw<'_>>| {
            of.and_then(|of| of.get("toolName"))
                .and_then(Raw::string)
                .map(|name| name.as_escaped().to_owned())
        };
        let name = text("name").map(|name| name.as_escaped().to_owned());
        if let Some(name) = name.or_else(|| tool(meta.and_then(|meta| meta.get("claudeCode")))).or_else(|| tool(meta)) {
            call.name = name;
        }
        for (to, from) in [(&mut call.kind, text("kind")), (&mut call.title, text("title"))] {
            if let Some(from) = from {
                from.as_escaped().clone_into(to);
            }
        }
        if let Some(input) = said.get("rawInput").filter(|input| !input.is_null()) {
            input.as_str().clone_into(&mut call.input);
        }
        let path = |part: Raw<'_>| Some(part.get("path")?.string()?.as_escaped().to_owned());
        let is_diff = |part: &Raw<'_>| part.get("type").and_then(Raw::string).is_some_and(|word| word.is("diff"));
        if let Some(shown) = said.get("content").filter(|list| list.shape() == Some(Shape::Array)) {
            call.diff = shown.elements().find(is_diff).and_then(path).unwrap_or_default();
            let terminals = shown.elements().filter_map(|part| part.get("terminalId")?.string());
            call.terminals = terminals.map(|id| id.unescape().into_owned()).collect();
        }
        if let Some(place) = said.get("locations").and_then(|list| list.elements().next()).and_then(path) {
            call.place = place;
        }
    }

    /// If a call is over with what is said here, nothing is allowed with it any more. Gives the terminals that it shows.
    pub(super) fn end(&mut self, said: Raw<'_>) -> Vec<String> {
        let is_over = |status: Str<'_>| ["completed", "failed", "cancelled"].iter().any(|word| status.is(word));
        let over = said.get("status").and_then(Raw::string).is_some_and(is_over);
        let Some(id) = said.get("toolCallId").and_then(Raw::string).filter(|_| over) else {
            return Vec::new();
        };
        self.given.retain(|grant| grant.call != id.as_escaped());
        self.calls.remove(id.as_escaped()).map_or_else(Vec::new, |call| call.terminals)
    }

    /// What is allowed with the call of a question, as far as the question says it.
    pub(super) fn of(&self, call: &str) -> Option<Grant> {
        let what = self.calls.get(call)?.what()?;
        Some(Grant { call: call.to_owned(), what })
    }

    /// The host has allowed it.
    pub(super) fn give(&mut self, grant: Grant) {
        self.given.push(grant);
    }

    /// Whether this was allowed; a command is only once. `home`: the session's folder.
    pub(super) fn cover(&mut self, act: &Act, home: &str) -> bool {
        let covers = |grant: &Grant| match (act, &grant.what) {
            (Act::Write { path, .. }, What::Change(granted)) => absolute(granted, home) == absolute(path, home),
            (Act::Start(start), What::Run(commands, folder)) => {
                let there = |folder: Option<&str>| absolute(folder.unwrap_or(home), home);
                // What a variable makes of the command was not shown.
                let line = start.shown.trim();
                commands.iter().any(|granted| granted == line) && there(start.folder.as_deref()) == there(folder.as_deref())
            }
            _ => false,
        };
        let Some(at) = self.given.iter().position(covers) else { return false };
        if matches!(act, Act::Start(_)) {
            self.given.remove(at);
        }
        true
    }

    /// The turn is over.
    pub(super) fn clear(&mut self) {
        self.calls.clear();
        self.given.clear();
    }
}

impl Call {
    /// What it does, by what the host is told of it: arguments, or else what it shows.
    fn what(&self) -> Option<What> {
        let named = kind_of(Dialect::CANONICAL, Str::trusted(&self.name));
        let kind = match named {
            // A tool of an unknown name, or of a server.
            ToolKind::Other | ToolKind::Mcp => TOOLS.kind(&plain(&self.kind)),
            known => known,
        };
        let input = Raw::trusted(&self.input);
        let text = |names: &[&str]| {
            let value = names.iter().find_map(|name| input.get(name)?.string());
            value.map(|value| value.unescape().into_owned())
        };
        match kind {
            ToolKind::Write | ToolKind::Edit | ToolKind::MultiEdit | ToolKind::NotebookEdit => {
                let path = if self.input.is_empty() {
                    let shown = [&self.diff, &self.place].into_iter().find(|path| !path.is_empty());
                    shown.map(|path| plain(path))
                } else {
                    text(&["path", "file_path", "filePath", "absolute_path", "notebook_path"])
                };
                path.map(What::Change)
            }
            ToolKind::Shell => {
                let command = if self.input.is_empty() {
                    vec![plain(&self.title)]
                } else {
                    match text(&["command"]) {
                        Some(command) => vec![command],
                        None => words(input.get("command")?)?,
                    }
                };
                let lines = command.into_iter().map(|line| line.trim().to_owned()).collect();
                Some(What::Run(lines, text(&["cwd", "workdir", "directory", "dir_path"])))
            }
            _ => None,
        }
    }
}

/// A command that is a list of words, as a line; and, of a shell that is given one, that line.
fn words(list: Raw<'_>) -> Option<Vec<String>> {
    let words: Option<Vec<String>> = list.elements().map(|word| Some(word.string()?.unescape().into_owned())).collect();
    let words = words.filter(|words| !words.is_empty())?;
    let mut lines = vec![shell_words(words.iter().map(String::as_str))];
    if let [shell, option, line] = &words[..]
        && SHELLS.contains(&shell.rsplit('/').next().unwrap_or_default())
        && option.starts_with('-')
        && option.ends_with('c')
    {
        lines.push(line.clone());
    }
    Some(lines)
}

/// A path from everywhere, without `.` and `..`, by its letters alone.
fn absolute(path: &str, home: &str) -> String {
    let whole = if path.starts_with('/') {
        path.to_owned()
    } else {
        format!("{home}/{path}")
    };
    let mut parts = Vec::new();
    for part in whole.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    format!("/{}", parts.join("/"))
}
