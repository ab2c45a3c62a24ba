//! What tools that search say alike.

use std::fmt::Write;
use std::path::Path;

use super::native::plain;
use crate::tools::grep::{Asked, Found, Want};
use crate::tools::walk::Tree;
use agentglot_adapters::raw::tools::args::Grep;

/// Several globs stand in one text, with blanks or commas between them, but for commas in braces.
fn globs(text: &str) -> Vec<String> {
    let mut globs = Vec::new();
    for word in text.split_whitespace() {
        if word.contains('{') {
            globs.push(word.to_owned());
        } else {
            globs.extend(word.split(',').filter(|glob| !glob.is_empty()).map(str::to_owned));
        }
    }
    globs
}

/// A search in files, in the folders and files of `tree`.
pub(in crate::persona) fn asked(grep: &Grep<'_>, want: Want, tree: Tree) -> Asked {
    Asked {
        pattern: plain(grep.pattern),
        any_case: grep.ignore_case == Some(true),
        multiline: grep.multiline == Some(true),
        want,
        tree: Tree {
            globs: globs(&grep.glob.map(plain).unwrap_or_default()),
            kind: grep.file_type.map(plain),
            ..tree
        },
    }
}

/// Lines as ripgrep prints them: `:` around the number of a match, `-` around that of a line near one, `--` between groups.
pub(in crate::persona) fn rows(found: &Found, numbers: bool, name: impl Fn(&Path) -> Option<String>) -> Vec<String> {
    let mut rows = Vec::new();
    let near = found.files.iter().flat_map(|hits| &hits.lines).any(|line| line.around || line.gap);
    for hits in &found.files {
        let name = name(&hits.path);
        for (n, line) in hits.lines.iter().enumerate() {
            if near && !rows.is_empty() && (n == 0 || line.gap) {
                rows.push("--".to_owned());
            }
            let mark = if line.around { '-' } else { ':' };
            let mut row = String::new();
            if let Some(name) = &name {
                row.push_str(name);
                row.push(mark);
            }
            if numbers {
                let _ = write!(row, "{}{mark}", line.number);
            }
            row.push_str(&line.text);
            if line.cut {
                row.push_str(" [... omitted end of long line]");
            }
            rows.push(row);
        }
    }
    rows
}
