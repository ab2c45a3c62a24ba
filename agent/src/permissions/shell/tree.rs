//! The commands of a line, wherever the language has them: for rules that forbid.

use tree_sitter::{Node, Parser, TreeCursor};

use super::{Command, Word, plain, unreadable};

/// What a line may run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::permissions) struct Tree {
    /// The commands, in the order of the text: those in substitutions, loops and functions too.
    pub commands: Vec<Command>,
    /// Files of redirections, words of loops.
    pub loose: Vec<Word>,
    /// Why there may be more in it.
    pub problem: Option<String>,
}

/// What the grammar calls things that are understood.
const KNOWN: &[&str] = &[
    "program",
    "list",
    "pipeline",
    "command",
    "command_name",
    "word",
    "number",
    "string",
    "string_content",
    "raw_string",
    "ansi_c_string",
    "translated_string",
    "concatenation",
    "brace_expression",
    "redirected_statement",
    "file_redirect",
    "file_descriptor",
    "herestring_redirect",
    "heredoc_redirect",
    "heredoc_start",
    "heredoc_body",
    "heredoc_content",
    "heredoc_end",
    "variable_assignment",
    "variable_name",
    "special_variable_name",
    "simple_expansion",
    "expansion",
    "command_substitution",
    "process_substitution",
    "subshell",
    "compound_statement",
    "negated_command",
    "if_statement",
    "elif_clause",
    "else_clause",
    "while_statement",
    "for_statement",
    "do_group",
    "case_statement",
    "case_item",
    "extglob_pattern",
    "regex",
    "function_definition",
    "declaration_command",
    "unset_command",
    "test_command",
    "test_operator",
    "unary_expression",
    "binary_expression",
    "parenthesized_expression",
    "comment",
];

impl Tree {
    /// Reads a line.
    pub(in crate::permissions) fn read(line: &str) -> Self {
        let mut tree = Self {
            problem: unreadable(line),
            ..Self::default()
        };
        let mut parser = Parser::new();
        let parsed = match parser.set_language(&tree_sitter_bash::LANGUAGE.into()) {
            Ok(()) if line.len() <= super::LONGEST => parser.parse(line, None),
            _ => None,
        };
        match parsed {
            Some(parsed) => tree.walk(&mut parsed.walk(), line),
            None => tree.problem = tree.problem.or_else(|| Some("the command cannot be read".to_owned())),
        }
        tree
    }

    /// Every node, without recursion: commands can be nested as deeply as they like.
    fn walk(&mut self, cursor: &mut TreeCursor<'_>, line: &str) {
        loop {
            self.node(cursor.node(), line);
            if cursor.goto_first_child() {
                continue;
            }
            while !cursor.goto_next_sibling() {
                if !cursor.goto_parent() {
                    return;
                }
            }
        }
    }

    fn node(&mut self, node: Node<'_>, line: &str) {
        let kind = node.kind();
        if !node.is_named() && !node.is_missing() {
            return;
        }
        // `${x}` is no more than `$x`, `${x:-y}` is.
        let computes = kind == "expansion" && node.child_count() > 3;
        if node.is_error() || node.is_missing() || computes || !KNOWN.contains(&kind) {
            let what = if node.is_error() || node.is_missing() { "its syntax" } else { kind };
            self.problem
                .get_or_insert_with(|| format!("the command cannot be judged for sure: {}", what.replace('_', " ")));
        }
        let mut cursor = node.walk();
        let children = node.children(&mut cursor);
        match kind {
            "command" | "declaration_command" | "unset_command" | "test_command" => {
                let own = children.filter(|child| kind != "command" || child.kind() != "variable_assignment" && !child.kind().ends_with("_redirect"));
                let words: Vec<Word> = own.map(|child| word(child, line)).collect();
                if !words.is_empty() {
                    self.commands.push(Command { words, ..Command::default() });
                }
            }
            "file_redirect" | "herestring_redirect" | "for_statement" => {
                let words = children.filter(|child| child.is_named() && !matches!(child.kind(), "do_group" | "file_descriptor"));
                self.loose.extend(words.map(|child| word(child, line)));
            }
            _ => {}
        }
    }
}

fn word(node: Node<'_>, line: &str) -> Word {
    let raw = line.get(node.byte_range()).unwrap_or_default().to_owned();
    Word {
        value: plain::value(&raw),
        raw,
    }
}
