//! What tools that search say alike.

use std::fmt::Write;
use std::path::Path;

use crate::tools::grep::Found;

/// Several globs stand in one text, with blanks or commas between them, but for commas in braces.
pub(in crate::persona) fn globs(text: &str) -> Vec<String> {
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
