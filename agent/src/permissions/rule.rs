//! Rules for tools, in the words of each dialect: `Bash(npm run test:*)`, `Edit(src/**)`, `run_shell_command(git status)`,
//! `Shell(ls)`, `mcp__server__*`, bare names.

use std::fmt;
use std::path::{Path, PathBuf};

use ignore::gitignore::{Gitignore, GitignoreBuilder};

use super::family::Width;
use super::place::{Place, flat};
use super::wildcard::command_matches;
use super::{Family, PermissionForm};
use crate::tools::Spec;
use crate::workspace::PathPattern;
use agentglot_adapters::raw::event::ToolKind;

/// What a rule does with the calls that it is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Behavior {
    /// They are refused.
    Deny,
    /// They are asked about.
    Ask,
    /// They run.
    Allow,
}

impl Behavior {
    /// Every behaviour, the strongest first.
    pub const ALL: [Self; 3] = [Self::Deny, Self::Ask, Self::Allow];

    /// On the wire and in settings.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Deny => "deny",
            Self::Ask => "ask",
            Self::Allow => "allow",
        }
    }

    /// The one of a name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|behavior| behavior.name() == name)
    }
}

/// Where a rule comes from; the words are those of Claude's `PermissionUpdate` and of its `matched_ask_rule`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Source {
    /// Settings of the machine's owner.
    Policy,
    /// The user's settings file.
    User,
    /// The project's settings file.
    Project,
    /// The project's settings file that is the user's own.
    Local,
    /// `--settings`.
    Flag,
    /// The command line.
    Argument,
    /// Given while the session runs.
    Session,
}

impl Source {
    /// Every source.
    pub const ALL: [Self; 7] = [
        Self::Policy,
        Self::User,
        Self::Project,
        Self::Local,
        Self::Flag,
        Self::Argument,
        Self::Session,
    ];

    /// Claude's word.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Policy => "policySettings",
            Self::User => "userSettings",
            Self::Project => "projectSettings",
            Self::Local => "localSettings",
            Self::Flag => "flagSettings",
            Self::Argument => "cliArg",
            Self::Session => "session",
        }
    }

    /// The one of a word.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|source| source.name() == name)
    }
}

/// A rule.
#[derive(Clone)]
pub struct Rule {
    text: String,
    /// The tool.
    tool: String,
    /// What is in the parentheses.
    content: Option<String>,
    /// What the tool is one of.
    family: Option<Family>,
    form: &'static PermissionForm,
    /// Patterns of paths are made once.
    paths: Option<Pattern>,
}

impl fmt::Debug for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.text)
    }
}

impl PartialEq for Rule {
    fn eq(&self, other: &Self) -> bool {
        self.tool == other.tool && self.content == other.content
    }
}

/// What rules are read by.
#[derive(Clone, Debug)]
pub struct Grounds {
    /// The vendor's form.
    pub form: &'static PermissionForm,
    /// The family of tools that a name means.
    pub family: fn(&str) -> Option<Family>,
    /// The working folder, free of links.
    pub root: PathBuf,
    /// The user's own folder.
    pub home: Option<PathBuf>,
    /// The agent's folder of settings.
    pub config: Option<PathBuf>,
}

impl Rule {
    /// A rule as it is written.
    ///
    /// # Errors
    /// A text that is no rule: no name, a parenthesis that is not closed, a pattern that cannot be read.
    pub fn parse(text: &str, grounds: &Grounds) -> Result<Self, String> {
        let text = text.trim();
        let (tool, content) = match text.split_once('(') {
            None => (text, None),
            Some((tool, rest)) => {
                let content = rest
                    .strip_suffix(')')
                    .ok_or_else(|| format!("the rule `{text}` has a parenthesis that is not closed"))?;
                (tool.trim_end(), Some(unescape(content)))
            }
        };
        Self::new(tool, content, grounds)
    }

    /// A rule of a tool's name and what would be in the parentheses.
    ///
    /// # Errors
    /// Those of [`Self::parse`].
    pub fn new(tool: &str, content: Option<String>, grounds: &Grounds) -> Result<Self, String> {
        if tool.is_empty() || tool.contains(|c: char| c.is_whitespace() || c.is_control() || "()".contains(c)) {
            return Err(format!("`{tool}` is not the name of a tool"));
        }
        // `Bash(*)` and `Bash()` say no more than `Bash`.
        let content = content.filter(|content| !matches!(content.trim(), "" | "*"));
        let text = match &content {
            Some(content) => format!("{tool}({})", escape(content)),
            None => tool.to_owned(),
        };
        let mut rule = Self {
            tool: tool.to_owned(),
            content,
            family: (grounds.family)(tool),
            form: grounds.form,
            paths: None,
            text,
        };
        if let Some(content) = &rule.content
            && matches!(
                rule.family,
                Some(Family::Read | Family::Write | Family::Edit | Family::Delete | Family::Search)
            )
        {
            rule.paths = Some(Pattern::new(content, grounds)?);
        }
        Ok(rule)
    }

    /// As settings write it.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The tool that it names.
    pub fn tool(&self) -> &str {
        &self.tool
    }

    /// What is in the parentheses; `None`: every call of the tool.
    pub fn content(&self) -> Option<&str> {
        self.content.as_deref()
    }

    /// Whether it is about this tool at all, whatever the arguments.
    pub fn names(&self, name: &str, kind: ToolKind) -> bool {
        if self.tool == name || self.tool == "*" {
            return true;
        }
        if let Some(server) = self.tool.strip_prefix("mcp__") {
            let Some(rest) = name.strip_prefix("mcp__") else { return false };
            // `mcp__server`, `mcp__server__*`, `mcp__server__get_*`.
            return match server.strip_suffix('*') {
                Some(start) => rest.starts_with(start) || start.strip_suffix("__") == Some(rest),
                None => rest.strip_prefix(server).is_some_and(|rest| rest.starts_with("__")),
            };
        }
        if kind == ToolKind::Mcp {
            return false;
        }
        self.family.is_some_and(|family| self.form.covers(family, kind, self.content.is_some()))
    }

    /// Whether it is about this tool. The name of a tool of an MCP server can be split in more than one way: what forbids counts by each,
    /// what allows by the server that has the tool.
    pub(super) fn is_about(&self, spec: &Spec, allows: bool) -> bool {
        if !self.names(&spec.name, spec.kind) {
            return false;
        }
        let (Some(owner), Some(meant)) = (spec.owner.as_ref().filter(|_| allows), self.tool.strip_prefix("mcp__")) else {
            return true;
        };
        match meant.strip_suffix('*') {
            Some("") => true,
            Some(start) => start.strip_prefix(owner.server.as_str()).is_some_and(|rest| rest.starts_with("__")),
            None => meant == owner.server || self.tool == spec.name,
        }
    }

    /// Whether a list of the tools that there are means this tool by it: each name is one tool, however much a rule of that name is about.
    pub(super) fn is_tool(&self, name: &str, kind: ToolKind) -> bool {
        let Some(family) = self.family.filter(|_| self.tool != name && kind != ToolKind::Mcp) else {
            return self.names(name, kind);
        };
        // What changes files is one family, and notebooks have a tool of their own.
        let means_notebooks = self.tool.to_ascii_lowercase().contains("notebook");
        family.covers(kind, Width::Tool) && (kind == ToolKind::NotebookEdit) == means_notebooks
    }

    /// Whether it is about this path, for rules whose parentheses hold a pattern of paths. To allow, the pattern has to hold for the path
    /// as it is written and for where it leads; to forbid, one of both is enough.
    pub(super) fn matches_path(&self, place: &Place, allows: bool) -> bool {
        let Some(pattern) = &self.paths else { return self.content.is_none() };
        let (written, real) = (pattern.matches(&place.written), pattern.matches(&place.real));
        if allows { written && real } else { written || real }
    }

    /// Whether it is a rule about paths.
    pub(super) const fn is_about_paths(&self) -> bool {
        self.paths.is_some()
    }

    /// What it says of paths, if it is about reading them.
    pub(super) fn read_pattern(&self) -> Option<Box<dyn PathPattern>> {
        let pattern = self.paths.as_ref().filter(|_| self.family == Some(Family::Read))?;
        Some(Box::new(pattern.clone()))
    }

    /// Whether it is about this text of one command.
    pub(super) fn matches_command(&self, command: &str) -> bool {
        let Some(content) = self.content.as_deref() else { return true };
        command_matches(content, command, self.form.rules_are_beginnings)
    }

    /// Whether it is about this host (`WebFetch(domain:example.com)`).
    pub(super) fn matches_host(&self, host: &str) -> bool {
        let Some(content) = self.content.as_deref() else { return true };
        let domain = content.strip_prefix("domain:").unwrap_or(content).trim().trim_end_matches('.');
        let host = host.trim_end_matches('.');
        match domain.strip_prefix("*.") {
            Some(above) => host.len() > above.len() && host[..].to_ascii_lowercase().ends_with(&format!(".{}", above.to_ascii_lowercase())),
            None => host.eq_ignore_ascii_case(domain),
        }
    }
}

/// A pattern of paths, as `.gitignore` has them.
#[derive(Clone, Debug)]
struct Pattern {
    base: PathBuf,
    ignore: Gitignore,
    /// The one file that it means, where it has no wildcard.
    names: Option<PathBuf>,
    /// What holds all that it may be about.
    below: PathBuf,
}

impl Pattern {
    /// `//x` is absolute, `~/x` the user's, anything else the working folder's.
    fn new(content: &str, grounds: &Grounds) -> Result<Self, String> {
        let content = content.trim();
        let (base, pattern) = if let Some(rest) = content.strip_prefix("//") {
            (PathBuf::from("/"), format!("/{rest}"))
        } else if let Some(rest) = content.strip_prefix("~/") {
            let home = grounds.home.clone().ok_or("there is no home folder for a rule with `~`")?;
            (home, format!("/{rest}"))
        } else {
            let mut base = grounds.root.clone();
            let mut rest = content;
            let mut anchored = rest.starts_with('/');
            loop {
                if let Some(shorter) = rest.strip_prefix("./") {
                    (rest, anchored) = (shorter, true);
                } else if let Some(shorter) = rest.strip_prefix("../") {
                    base.pop();
                    (rest, anchored) = (shorter, true);
                } else {
                    break;
                }
            }
            let rest = rest.trim_start_matches('/');
            // An absolute path of this very workspace is meant as one, though a rule would write it with two strokes.
            if content.starts_with('/') && flat(Path::new(content)).starts_with(&grounds.root) {
                (PathBuf::from("/"), content.to_owned())
            } else if anchored {
                (base, format!("/{rest}"))
            } else {
                (base, rest.to_owned())
            }
        };
        let pattern = match pattern.strip_prefix("/") {
            Some("" | ".") => "/**".to_owned(),
            _ => pattern,
        };
        let mut builder = GitignoreBuilder::new(&base);
        builder.allow_unclosed_class(false);
        // A rule is neither a comment nor an exception.
        let line = if pattern.starts_with(['!', '#']) {
            format!("\\{pattern}")
        } else {
            pattern
        };
        builder
            .add_line(None, &line)
            .map_err(|error| format!("the pattern `{content}` cannot be read: {error}"))?;
        let ignore = builder
            .build()
            .map_err(|error| format!("the pattern `{content}` cannot be read: {error}"))?;
        let plain = !line.contains(['*', '?', '[', '\\']);
        let names = plain.then(|| base.join(line.trim_matches('/')));
        // With a stroke in it, it begins at the base; without, it is about any folder below.
        let fixed = line.trim_end_matches('/').contains('/');
        let fixed = line.split('/').take_while(|part| fixed && !part.contains(['*', '?', '[', '\\']));
        let below = base.join(fixed.filter(|part| !part.is_empty()).collect::<PathBuf>());
        Ok(Self { base, ignore, names, below })
    }
}

impl PathPattern for Pattern {
    fn names(&self) -> Option<&Path> {
        self.names.as_deref()
    }

    fn below(&self) -> &Path {
        &self.below
    }

    fn matches(&self, path: &Path) -> bool {
        let Ok(rest) = path.strip_prefix(&self.base) else { return false };
        if rest.as_os_str().is_empty() {
            return false;
        }
        self.ignore.matched_path_or_any_parents(rest, false).is_ignore() || self.ignore.matched(rest, true).is_ignore()
    }
}

/// Parentheses inside the parentheses are written with a backslash.
fn escape(content: &str) -> String {
    content.replace('\\', "\\\\").replace('(', "\\(").replace(')', "\\)")
}

fn unescape(content: &str) -> String {
    let mut plain = String::with_capacity(content.len());
    let mut chars = content.chars().peekable();
    while let Some(c) = chars.next() {
        match (c, chars.peek()) {
            ('\\', Some('(' | ')' | '\\')) => plain.extend(chars.next()),
            _ => plain.push(c),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;
    use agentglot_adapters::raw::codec::Dialect;

    fn grounds(dialect: Dialect) -> Grounds {
        let words = crate::persona::of(dialect).vocabulary();
        Grounds {
            form: words.form,
            family: words.family,
            root: PathBuf::from("/w/p"),
            home: Some(PathBuf::from("/home/u")),
            config: None,
        }
    }

    fn rule(text: &str) -> Rule {
        Rule::parse(text, &grounds(Dialect::Claude)).unwrap()
    }

    fn place(path: &str) -> Place {
        Place::of(path, Path::new("/w/p"), Some(Path::new("/home/u")))
    }

    #[test]
    fn patterns_of_paths_are_relative_to_what_they_say() {
        for (text, path, then) in [
            ("Read(./src/**)", "src/a/b.rs", true),
            ("Read(./src/**)", "/w/p/src/a.rs", true),
            ("Read(src/**)", "lib/src/a.rs", false),
            ("Read(/src/**)", "src/x", true),
            ("Read(//etc/**)", "/etc/passwd", true),
            ("Read(//etc/**)", "etc/passwd", false),
            ("Read(~/.zshrc)", "/home/u/.zshrc", true),
            ("Read(~/.zshrc)", "~/.zshrc", true),
            ("Read(*.env)", "deep/down/x.env", true),
            ("Read(.env)", "deep/.env", true),
            ("Read(.env)", "/elsewhere/.env", false),
            ("Read(./.env)", "deep/.env", false),
            ("Read(secrets)", "secrets/a/b", true),
            ("Read(secrets/)", "secrets/a/b", true),
            ("Read(../other/**)", "/w/other/x", true),
            ("Read(../other/**)", "../other/x", true),
            ("Edit(/w/p/docs/**)", "docs/a.md", true),
            ("Read(src/../lib/*)", "src/../lib/x", false),
            ("Read(**)", "a/b", true),
            ("Read(**)", "/etc/passwd", false),
            ("Read(!x)", "!x", true),
            ("Read(#x)", "#x", true),
        ] {
            assert_eq!(rule(text).matches_path(&place(path), true), then, "{text} {path}");
        }
    }

    #[test]
    fn commands_are_matched_by_words() {
        use Dialect::{Claude, Cursor, QwenCode};
        for (dialect, content, command, then) in [
            (Claude, "npm run test:*", "npm run test", true),
            (Claude, "npm run test:*", "npm run test -- x", true),
            (Claude, "npm run test:*", "npm run tests", false),
            (Claude, "git *", "git status", true),
            (Claude, "git *", "git", true),
            (Claude, "git *", "gitk", false),
            (Claude, "ls*", "lsof", true),
            (Claude, "git * main", "git push origin main", true),
            (Claude, "git * main", "git push origin maint", false),
            (Claude, "* --version", "node --version", true),
            (Claude, "git status", "git status", true),
            (Claude, "git status", "git status -s", false),
            (QwenCode, "git status", "git status -s", true),
            (QwenCode, "git status", "git statusx", false),
            (Cursor, "ls", "ls -l", true),
            (Cursor, "curl:*", "curl x", true),
            (Claude, "a*b*a", "aba", true),
            (Claude, "a*a", "a", false),
        ] {
            assert_eq!(
                command_matches(content, command, grounds(dialect).form.rules_are_beginnings),
                then,
                "{content} {command}"
            );
        }
    }

    #[test]
    fn names_are_tools_families_and_servers() {
        use ToolKind as K;
        for (text, dialect, name, kind, then) in [
            ("Edit", Dialect::Claude, "Write", K::Write, false),
            ("Edit(src/**)", Dialect::Claude, "Write", K::Write, true),
            ("edit", Dialect::QwenCode, "write_file", K::Write, true),
            ("ShellTool(ls)", Dialect::QwenCode, "run_shell_command", K::Shell, true),
            ("Write(src/**)", Dialect::Cursor, "Edit", K::Edit, true),
            ("Read", Dialect::Claude, "Grep", K::Grep, false),
            ("Read(x)", Dialect::Claude, "Grep", K::Grep, true),
            ("mcp__calc", Dialect::Claude, "mcp__calc__add", K::Mcp, true),
            ("mcp__calc__*", Dialect::Claude, "mcp__calc__add", K::Mcp, true),
            ("mcp__calc__add", Dialect::Claude, "mcp__calc__add", K::Mcp, true),
            ("mcp__calc__add", Dialect::Claude, "mcp__calc__add_all", K::Mcp, false),
            ("mcp__calc", Dialect::Claude, "mcp__calculator__add", K::Mcp, false),
            ("mcp__calc__get_*", Dialect::Claude, "mcp__calc__get_x", K::Mcp, true),
            ("Agent(x)", Dialect::Claude, "Task", K::Subagent, true),
            ("Read", Dialect::Claude, "Read", K::Mcp, true),
        ] {
            let rule = Rule::parse(text, &grounds(dialect)).unwrap();
            assert_eq!(rule.names(name, kind), then, "{text} {name}");
        }
    }

    #[test]
    fn what_is_no_rule_is_said_to_be_none() {
        for text in ["", "Bash(", "Ba sh", "(x)", "Read(a[b)", "Read({a)"] {
            assert!(Rule::parse(text, &grounds(Dialect::Claude)).is_err(), "{text}");
        }
        assert_eq!(rule("Bash(*)").text(), "Bash");
        assert_eq!(rule(r"Bash(echo \(a\))").content(), Some("echo (a)"));
        assert_eq!(rule(r"Bash(echo \(a\))").text(), r"Bash(echo \(a\))");
    }

    #[test]
    fn hosts_are_whole_names() {
        let rule = rule("WebFetch(domain:example.com)");
        assert!(rule.matches_host("EXAMPLE.com") && rule.matches_host("example.com."));
        assert!(!rule.matches_host("evil-example.com") && !rule.matches_host("example.com.evil") && !rule.matches_host("a.example.com"));
        let below = Rule::parse("WebFetch(domain:*.example.com)", &grounds(Dialect::Claude)).unwrap();
        assert!(below.matches_host("a.example.com") && !below.matches_host("xexample.com"));
    }
}
