//! Changes. They are written one line below the other; the page's script puts both sides beside each other.

use std::fmt::Write as _;

use super::colour::Colours;
use super::markup::{ending, folded, lines, piece, put, text};
use crate::show::Cut;
use crate::show::words::shown;

/// Puts the hunks of a unified diff on the page.
pub(super) fn put(page: &mut String, diff: &str, file: &str, most: usize, colours: &mut Colours) {
    let diff = shown(diff);
    let all: Vec<&str> = diff.trim_end_matches('\n').split('\n').collect();
    let shown = all.len() - Cut::of(&diff, most).1;
    piece(page, "Change");
    hunks(page, &all[..shown], ending(file), colours);
    let hidden = all.len() - shown;
    if hidden > 0 {
        let mut body = String::new();
        hunks(&mut body, &all[shown..], ending(file), colours);
        folded(page, "more", false, |page| put!(page, "{hidden} more {}", lines(hidden)), &body);
    }
    page.push_str("</div>\n");
}

fn hunks(page: &mut String, diff: &[&str], language: &str, colours: &mut Colours) {
    let size = diff.iter().map(|line| line.len() + 1).sum();
    let (mut old, mut new) = (colours.begin(language, size), colours.begin(language, size));
    page.push_str("<pre class=\"diff\">\n");
    for line in diff {
        let (sign, rest) = line.split_at_checked(1).unwrap_or((line, ""));
        match sign {
            "+" => {
                page.push_str("<span class=\"a\">+");
                new.line(page, rest, colours);
            }
            "-" => {
                page.push_str("<span class=\"r\">-");
                old.line(page, rest, colours);
            }
            "@" | "\\" => {
                page.push_str("<span class=\"h\">");
                text(page, line);
            }
            _ => {
                page.push_str("<span>");
                text(page, sign);
                new.line(page, rest, colours);
                old = new.clone();
            }
        }
        page.push_str("\n</span>");
    }
    page.push_str("</pre>\n");
}
