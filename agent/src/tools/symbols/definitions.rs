//! Where names are defined.

use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};
use tokio_util::sync::CancellationToken;
use tree_sitter::{Node, Tree};

use super::language::text;
use super::{Eyes, Language, Source, each, is_test};
use crate::workspace::{Fault, Place, Wall};

/// Where a name is defined.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Definition {
    /// The file, absolute.
    pub path: PathBuf,
    /// The first line, from 1: with decorators, attributes and the comment directly above.
    pub start_line: usize,
    /// The last line.
    pub end_line: usize,
    /// The language.
    pub language: Language,
    /// What it is in its language: `function`, `class`, `struct`, …
    pub kind: &'static str,
    /// The name.
    pub name: String,
    /// The name with those of what it is in: `Class.method`, `module::Type::function`.
    pub qualified_name: String,
    /// The file is one of tests.
    pub is_test: bool,
    /// Others may use it, as far as the definition itself says.
    pub is_public: bool,
    /// The lines, from `start_line` to `end_line`.
    pub lines: Vec<String>,
}

impl Definition {
    /// An id that stays while language, kind and qualified name do: 16 hexadecimal digits.
    pub fn id(&self) -> String {
        short_hash(&format!("{}:{}:{}", self.language.name(), self.kind, self.qualified_name))
    }

    /// Whether it is meant by a name, qualified as far as somebody likes.
    pub fn is_called(&self, name: &str) -> bool {
        let joint = self.language.joint();
        self.name == name
            || self
                .qualified_name
                .strip_suffix(name)
                .is_some_and(|above| above.is_empty() || (name.contains(joint) && above.ends_with(joint)))
    }

    /// The qualified name of what it is in; empty at the top.
    pub fn enclosing(&self) -> &str {
        self.qualified_name
            .strip_suffix(&self.name)
            .and_then(|above| above.strip_suffix(self.language.joint()))
            .unwrap_or_default()
    }
}

/// The first 16 hexadecimal digits of a SHA-256.
pub(super) fn short_hash(text: &str) -> String {
    Sha256::digest(text.as_bytes())[..8].iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The definitions in a file, or in all files below a folder, that are wanted: by path, then by line. Only files that hold `word` are looked
/// into. `true`: there were more than are kept.
///
/// # Errors
/// When there is no such file or folder, and when it was cancelled.
pub fn definitions(
    wall: &Wall,
    place: &Place,
    cancel: &CancellationToken,
    word: &str,
    wanted: &(dyn Fn(&Definition) -> bool + Sync),
) -> Result<(Vec<Definition>, bool), Fault> {
    let look = |source: &Source<'_>, eyes: &mut Eyes<'_>| {
        let Some(language) = source.language else { return Vec::new() };
        if memchr::memmem::find(source.text, word.as_bytes()).is_none() {
            return Vec::new();
        }
        let Some(tree) = eyes.parse(language, source.text) else {
            return Vec::new();
        };
        let all = defined(&tree, language, source.text);
        let lines = Lines::new(source.text);
        let is_test = is_test(source.below);
        let definition = |found: Defined<'_>| found.tell(source.path, language, is_test, source.text, &lines);
        all.into_iter()
            .map(definition)
            .filter(|definition| wanted(definition))
            .map(|mut definition| {
                definition.lines = lines.between(definition.start_line, definition.end_line);
                definition
            })
            .collect()
    };
    let (mut found, cut) = each(wall, place, &[], cancel, &look, |definition: &Definition| definition.path.as_path())?;
    found.sort_unstable_by(|one, other| (&one.path, one.start_line, one.end_line).cmp(&(&other.path, other.start_line, other.end_line)));
    Ok((found, cut))
}

/// A definition in a tree.
pub(super) struct Defined<'t> {
    node: Node<'t>,
    /// The node of its name.
    pub(super) name: Node<'t>,
    kind: &'static str,
    qualified_name: String,
}

impl Defined<'_> {
    fn tell(self, path: &Path, language: Language, is_test: bool, source: &[u8], lines: &Lines<'_>) -> Definition {
        // Decorators stand around a definition of Python.
        let around = self.node.parent().filter(|parent| parent.kind() == "decorated_definition");
        let (start, end) = (around.unwrap_or(self.node).start_position(), self.node.end_position());
        let mut start_line = start.row + 1;
        while start_line > 1 && lines.line(start_line - 1).is_some_and(|above| language.belongs(&above)) {
            start_line -= 1;
        }
        let name = text(self.name, source).to_owned();
        Definition {
            path: path.to_owned(),
            start_line,
            end_line: if end.column == 0 && end.row > start.row { end.row } else { end.row + 1 },
            language,
            kind: self.kind,
            is_public: language.is_public(self.node, &name, source),
            name,
            qualified_name: self.qualified_name,
            is_test,
            lines: Vec::new(),
        }
    }
}

/// All definitions of a tree.
pub(super) fn defined<'t>(tree: &'t Tree, language: Language, source: &[u8]) -> Vec<Defined<'t>> {
    let mut found = Vec::new();
    // The names that the nodes above have, with how deep those nodes are.
    let mut above: Vec<(u32, String)> = Vec::new();
    let mut cursor = tree.walk();
    loop {
        let (node, depth) = (cursor.node(), cursor.depth());
        while above.last().is_some_and(|(deep, _)| *deep >= depth) {
            above.pop();
        }
        let name = language.name_node(node).filter(|name| !text(*name, source).is_empty());
        if let (Some(kind), Some(name)) = (language.defines(node), name) {
            let mut parts: Vec<&str> = above.iter().map(|(_, name)| name.as_str()).collect();
            let owner = language.owner(node, source);
            parts.extend(owner.as_deref());
            let short = text(name, source);
            parts.push(short);
            found.push(Defined {
                node,
                name,
                kind,
                qualified_name: parts.join(language.joint()),
            });
            above.push((depth, short.to_owned()));
        } else if let Some(scope) = language.scope(node, source) {
            above.push((depth, scope));
        }
        if cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return found;
            }
        }
    }
}

/// The lines of a text.
struct Lines<'s>(Vec<&'s [u8]>);

impl<'s> Lines<'s> {
    fn new(text: &'s [u8]) -> Self {
        Self(text.split(|byte| *byte == b'\n').collect())
    }

    /// A line by its number, from 1.
    fn line(&self, number: usize) -> Option<std::borrow::Cow<'s, str>> {
        let line = *self.0.get(number.checked_sub(1)?)?;
        Some(String::from_utf8_lossy(line.strip_suffix(b"\r").unwrap_or(line)))
    }

    fn between(&self, first: usize, last: usize) -> Vec<String> {
        (first..=last)
            .map_while(|number| self.line(number))
            .map(std::borrow::Cow::into_owned)
            .collect()
    }
}
