//! The programming languages whose names are found, and what their grammars call things.

use std::path::Path;

use tree_sitter::Node;

/// A programming language, in the order of the names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Language {
    /// C, with all `.h`.
    C,
    /// C++.
    Cpp,
    /// Go.
    Go,
    /// Java.
    Java,
    /// Python.
    Python,
    /// Rust.
    Rust,
}

impl Language {
    /// All of them.
    pub const ALL: [Self; 6] = [Self::C, Self::Cpp, Self::Go, Self::Java, Self::Python, Self::Rust];

    /// Its name in small letters: `cpp`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::C => "c",
            Self::Cpp => "cpp",
            Self::Go => "go",
            Self::Java => "java",
            Self::Python => "python",
            Self::Rust => "rust",
        }
    }

    /// The one of a name.
    pub fn named(name: &str) -> Option<Self> {
        let name = name.trim();
        Self::ALL.into_iter().find(|language| language.name().eq_ignore_ascii_case(name))
    }

    /// The language of a file, by the end of its name.
    pub fn of(path: &Path) -> Option<Self> {
        let extension = path.extension()?.to_str()?.to_ascii_lowercase();
        Some(match extension.as_str() {
            "c" | "h" => Self::C,
            "cc" | "cpp" | "cxx" | "hh" | "hpp" | "hxx" => Self::Cpp,
            "go" => Self::Go,
            "java" => Self::Java,
            "py" | "pyi" => Self::Python,
            "rs" => Self::Rust,
            _ => return None,
        })
    }

    pub(super) fn grammar(self) -> tree_sitter::Language {
        let grammar = match self {
            Self::C => tree_sitter_c::LANGUAGE,
            Self::Cpp => tree_sitter_cpp::LANGUAGE,
            Self::Go => tree_sitter_go::LANGUAGE,
            Self::Java => tree_sitter_java::LANGUAGE,
            Self::Python => tree_sitter_python::LANGUAGE,
            Self::Rust => tree_sitter_rust::LANGUAGE,
        };
        grammar.into()
    }

    /// What stands between the parts of a qualified name.
    pub const fn joint(self) -> &'static str {
        match self {
            Self::C | Self::Cpp | Self::Rust => "::",
            Self::Go | Self::Java | Self::Python => ".",
        }
    }

    /// What a node defines, if it defines something that is looked for.
    pub(super) fn defines(self, node: Node<'_>) -> Option<&'static str> {
        let has_body = || node.child_by_field_name("body").is_some();
        Some(match (self, node.kind()) {
            (Self::C | Self::Cpp, "function_definition") => "function",
            (Self::C, "struct_specifier") if has_body() => "struct",
            (Self::C, "union_specifier") if has_body() => "union",
            (Self::Cpp, "class_specifier" | "struct_specifier") if has_body() => "class",
            (Self::C | Self::Cpp, "enum_specifier") if has_body() => "enum",
            (Self::Go, "function_declaration") => "function",
            (Self::Go, "method_declaration") => "method",
            (Self::Go, "type_spec") => "type",
            (Self::Java, "class_declaration") => "class",
            (Self::Java, "interface_declaration") => "interface",
            (Self::Java, "enum_declaration") => "enum",
            (Self::Java, "record_declaration") => "record",
            (Self::Java, "annotation_type_declaration") => "annotation",
            (Self::Java, "method_declaration") => "method",
            (Self::Java, "constructor_declaration") => "constructor",
            (Self::Python, "function_definition") => "function",
            (Self::Python, "class_definition") => "class",
            (Self::Rust, "function_item") => "function",
            (Self::Rust, "struct_item") => "struct",
            (Self::Rust, "enum_item") => "enum",
            (Self::Rust, "trait_item") => "trait",
            (Self::Rust, "mod_item") if has_body() => "module",
            _ => return None,
        })
    }

    /// The node that is the name of what a node defines. In C's family it stands inside of pointers and parameters.
    pub(super) fn name_node<'t>(self, node: Node<'t>) -> Option<Node<'t>> {
        if !matches!(self, Self::C | Self::Cpp) || node.kind() != "function_definition" {
            return node.child_by_field_name("name");
        }
        let mut name = node.child_by_field_name("declarator")?;
        loop {
            let inner = match name.kind() {
                // A reference's declarator has no field.
                "reference_declarator" | "parenthesized_declarator" => name.named_child(0),
                "qualified_identifier" | "template_function" => name.child_by_field_name("name"),
                _ => name.child_by_field_name("declarator"),
            };
            match inner {
                Some(inner) => name = inner,
                None => return Some(name),
            }
        }
    }

    /// The names above what a node defines that are not above it in the tree: the type of a method of Go, the class of a function of C++
    /// that is defined outside of it.
    pub(super) fn owner(self, node: Node<'_>, source: &[u8]) -> Option<String> {
        match self {
            Self::Go if node.kind() == "method_declaration" => {
                let receiver = node.child_by_field_name("receiver")?;
                let kind = receiver.named_child(0)?.child_by_field_name("type")?;
                let kind = text(kind, source).trim_start_matches(['*', ' ']);
                Some(kind.split('[').next().unwrap_or(kind).to_owned())
            }
            Self::Cpp if node.kind() == "function_definition" => {
                let mut outer = node.child_by_field_name("declarator")?;
                while outer.kind() != "qualified_identifier" {
                    outer = match outer.kind() {
                        "reference_declarator" | "parenthesized_declarator" => outer.named_child(0)?,
                        _ => outer.child_by_field_name("declarator")?,
                    };
                }
                let whole = text(outer, source);
                Some(whole.rsplit_once("::")?.0.to_owned())
            }
            _ => None,
        }
    }

    /// The name that a node which defines nothing itself gives to what is in it: of a namespace, of the type of an `impl`.
    pub(super) fn scope(self, node: Node<'_>, source: &[u8]) -> Option<String> {
        let name = match (self, node.kind()) {
            (Self::Cpp, "namespace_definition") => node.child_by_field_name("name")?,
            (Self::Rust, "impl_item") => node.child_by_field_name("type")?,
            _ => return None,
        };
        let name = text(name, source);
        Some(name.split('<').next().unwrap_or(name).trim().to_owned())
    }

    /// Whether others may use what a node defines, as far as the node itself says.
    pub(super) fn is_public(self, node: Node<'_>, name: &str, source: &[u8]) -> bool {
        let child = |kind: &str| {
            let mut cursor = node.walk();
            node.children(&mut cursor).find(|child| child.kind() == kind)
        };
        match self {
            Self::Python => !name.starts_with('_') || (name.starts_with("__") && name.ends_with("__")),
            Self::Go => name.chars().next().is_some_and(char::is_uppercase),
            Self::Rust => child("visibility_modifier").is_some(),
            Self::Java => child("modifiers").is_some_and(|modifiers| text(modifiers, source).split_whitespace().any(|word| word == "public")),
            Self::C | Self::Cpp => child("storage_class_specifier").is_none_or(|class| text(class, source) != "static"),
        }
    }

    /// Whether a line above a definition belongs to it: a comment, an attribute.
    pub(super) fn belongs(self, line: &str) -> bool {
        let line = line.trim();
        match self {
            Self::Python => false,
            Self::Rust => ["//", "/*", "*", "#["].iter().any(|begin| line.starts_with(begin)),
            _ => ["//", "/*", "*"].iter().any(|begin| line.starts_with(begin)),
        }
    }
}

/// The text of a node; empty if it is no UTF-8.
pub(super) fn text<'s>(node: Node<'_>, source: &'s [u8]) -> &'s str {
    source
        .get(node.byte_range())
        .and_then(|bytes| std::str::from_utf8(bytes).ok())
        .unwrap_or_default()
}
