//! Where names are used.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use tokio_util::sync::CancellationToken;
use tree_sitter::Node;

use super::definitions::{defined, short_hash};
use super::language::text;
use super::{Eyes, Language, Source, each};
use crate::workspace::{Fault, Place, Wall};

/// What is looked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named {
    /// The name, not qualified.
    pub name: String,
    /// Only in this language; elsewhere it is another's.
    pub language: Option<Language>,
    /// Where there is no syntax to look at, the word is looked for in the text.
    pub text: bool,
    /// Only files that these globs match, in the way of `.gitignore` lines; all if there are none.
    pub globs: Vec<String>,
}

/// How a name is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Usage {
    /// It is called.
    Call,
    /// It is brought in from elsewhere.
    Import,
    /// Something is derived from it, or implements it.
    Inheritance,
    /// It is a decorator, an annotation, an attribute.
    Annotation,
    /// It is the type of something.
    Type,
    /// It is a macro that is used.
    Macro,
    /// Anything else.
    Other,
}

impl Usage {
    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Call => "call",
            Self::Import => "import",
            Self::Inheritance => "inheritance",
            Self::Annotation => "annotation",
            Self::Type => "type_usage",
            Self::Macro => "macro_use",
            Self::Other => "other",
        }
    }
}

/// How sure it is that it is the name which is meant: types are not worked out, so it is never certain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Confidence {
    /// A name in the syntax.
    Probable,
    /// A word in a text.
    TextOnly,
}

/// A place where a name is used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reference {
    /// The file, absolute.
    pub path: PathBuf,
    /// Line from 1 and byte of the line from 0, where it begins.
    pub start: (usize, usize),
    /// The same behind its end. A call of Python ends behind its arguments.
    pub end: (usize, usize),
    /// The language of the file, if it is known.
    pub language: Option<Language>,
    /// How.
    pub usage: Usage,
    /// How sure.
    pub confidence: Confidence,
}

/// An id for what is at a place, as the member of a list with this number, counted from 1: 16 hexadecimal digits.
pub fn reference_id(path: &Path, start: (usize, usize), number: usize) -> String {
    short_hash(&format!("{}:{}:{}:{number}", path.display(), start.0, start.1))
}

/// Where a name is used in a file, or in all files below a folder: by path, then by place. Where it is defined is no use of it. `true`:
/// there were more than are kept.
///
/// # Errors
/// When there is no such file or folder, when a glob makes no sense, and when it was cancelled.
pub fn references(wall: &Wall, place: &Place, cancel: &CancellationToken, named: &Named) -> Result<(Vec<Reference>, bool), Fault> {
    let look = |source: &Source<'_>, eyes: &mut Eyes<'_>| match source.language {
        Some(language) if named.language.is_none_or(|wanted| wanted == language) => in_syntax(source, language, eyes, &named.name),
        _ if named.text => in_text(source, &named.name),
        _ => Vec::new(),
    };
    let (mut found, cut) = each(wall, place, &named.globs, cancel, &look, |reference: &Reference| reference.path.as_path())?;
    found.sort_unstable_by(|one, other| (&one.path, one.start).cmp(&(&other.path, other.start)));
    found.dedup_by(|one, other| (&one.path, one.start, one.end) == (&other.path, other.start, other.end));
    Ok((found, cut))
}

fn in_syntax(source: &Source<'_>, language: Language, eyes: &mut Eyes<'_>, name: &str) -> Vec<Reference> {
    // A file without the word needs no tree.
    if memchr::memmem::find(source.text, name.as_bytes()).is_none() {
        return Vec::new();
    }
    let Some(tree) = eyes.parse(language, source.text) else {
        return Vec::new();
    };
    let definitions: HashSet<usize> = defined(&tree, language, source.text).iter().map(|defined| defined.name.id()).collect();
    let mut found = Vec::new();
    let mut cursor = tree.walk();
    loop {
        let node = cursor.node();
        if node.child_count() == 0
            && node.kind().ends_with("identifier")
            && text(node, source.text) == name
            && !definitions.contains(&node.id())
            && let Some((usage, whole)) = usage(node, language)
        {
            let (start, end) = (whole.start_position(), whole.end_position());
            found.push(Reference {
                path: source.path.to_owned(),
                start: (start.row + 1, start.column),
                end: (end.row + 1, end.column),
                language: Some(language),
                usage,
                confidence: Confidence::Probable,
            });
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

/// How a name is used, with the node that is shown; `None` if it is the name of something else.
fn usage(node: Node<'_>, language: Language) -> Option<(Usage, Node<'_>)> {
    let is = |parent: Node<'_>, field: &str, child: Node<'_>| parent.child_by_field_name(field).is_some_and(|it| it.id() == child.id());
    // `a.b.name` and `a::name::<T>` are called as a whole.
    let mut whole = node;
    while let Some(parent) = whole.parent() {
        let last = match parent.kind() {
            "attribute" => "attribute",
            "field_expression" | "selector_expression" => "field",
            "scoped_identifier" | "scoped_type_identifier" | "qualified_identifier" | "template_function" | "qualified_type" => "name",
            "generic_function" => "function",
            "generic_type" | "template_type" => match parent.child_by_field_name("type") {
                Some(_) => "type",
                None => "name",
            },
            _ => break,
        };
        if !is(parent, last, whole) {
            break;
        }
        whole = parent;
    }
    let parent = whole.parent()?;
    let called = match parent.kind() {
        "call" | "call_expression" => is(parent, "function", whole),
        "method_invocation" => is(parent, "name", whole),
        "object_creation_expression" | "new_expression" => is(parent, "type", whole),
        _ => false,
    };
    if called {
        return Some((Usage::Call, if language == Language::Python { parent } else { node }));
    }
    if parent.kind() == "macro_invocation" && is(parent, "macro", whole) {
        return Some((Usage::Macro, node));
    }
    if parent.kind() == "impl_item" && is(parent, "trait", whole) {
        return Some((Usage::Inheritance, node));
    }
    if let Some(usage) = surroundings(whole, language) {
        return Some((usage, node));
    }
    if language == Language::Python && is_other_name(node) {
        return None;
    }
    let usage = if node.kind() == "type_identifier" || parent.kind() == "type" {
        Usage::Type
    } else {
        Usage::Other
    };
    Some((usage, node))
}

/// What the nodes above say.
fn surroundings(node: Node<'_>, language: Language) -> Option<Usage> {
    const DEEP: usize = 8;
    let mut below = node;
    for _ in 0..DEEP {
        let parent = below.parent()?;
        match parent.kind() {
            "import_statement"
            | "import_from_statement"
            | "import_declaration"
            | "import_spec"
            | "package_declaration"
            | "package_clause"
            | "use_declaration"
            | "using_declaration" => return Some(Usage::Import),
            "superclass" | "super_interfaces" | "extends_interfaces" | "base_class_clause" => return Some(Usage::Inheritance),
            "class_definition" if language == Language::Python && below.kind() == "argument_list" => return Some(Usage::Inheritance),
            "decorator" | "annotation" | "marker_annotation" | "attribute_item" | "inner_attribute_item" => return Some(Usage::Annotation),
            // Beyond these it is about something else.
            "block" | "compound_statement" | "class_body" | "declaration_list" | "arguments" => return None,
            _ => below = parent,
        }
    }
    None
}

/// Names of Python that mean no variable: of parameters, of arguments, of members, in `global`.
fn is_other_name(node: Node<'_>) -> bool {
    let Some(parent) = node.parent() else { return false };
    let is_field = |field: &str| parent.child_by_field_name(field).is_some_and(|it| it.id() == node.id());
    match parent.kind() {
        "parameters" | "lambda_parameters" | "typed_parameter" | "list_splat_pattern" | "dictionary_splat_pattern" => true,
        "default_parameter" | "typed_default_parameter" | "keyword_argument" => is_field("name"),
        "attribute" => is_field("attribute"),
        "global_statement" | "nonlocal_statement" => true,
        _ => false,
    }
}

fn in_text(source: &Source<'_>, name: &str) -> Vec<Reference> {
    if source.text.contains(&0) || name.is_empty() {
        return Vec::new();
    }
    let is_word = |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_' || !byte.is_ascii());
    let finder = memchr::memmem::Finder::new(name);
    let mut found = Vec::new();
    for (row, line) in source.text.split(|byte| *byte == b'\n').enumerate() {
        let whole = |at: &usize| !is_word(at.checked_sub(1).and_then(|at| line.get(at))) && !is_word(line.get(at + name.len()));
        if let Some(at) = finder.find_iter(line).find(whole) {
            found.push(Reference {
                path: source.path.to_owned(),
                start: (row + 1, at),
                end: (row + 1, at + name.len()),
                language: source.language,
                usage: Usage::Other,
                confidence: Confidence::TextOnly,
            });
        }
    }
    found
}
