//! The pieces of which a page is made.

use std::fmt::Write as _;

use crate::show::piece::Picture;
use crate::show::words::shown;

/// A folded text that is longer stands in a template.
const LATE: usize = 1 << 10;
/// A line that says what was called is no longer.
const LONGEST: usize = 300;

/// Puts a text of a log on the page: the only way there. What would be markup is not, colours of terminals are taken out, and what could
/// not be seen is written as what it is.
pub(crate) fn text(page: &mut String, text: &str) {
    let text = shown(text);
    let mut rest = &*text;
    while let Some(at) = rest.find(['&', '<', '>', '"', '\'']) {
        page.push_str(&rest[..at]);
        page.push_str(match rest.as_bytes()[at] {
            b'&' => "&amp;",
            b'<' => "&lt;",
            b'>' => "&gt;",
            b'"' => "&quot;",
            _ => "&#39;",
        });
        rest = &rest[at + 1..];
    }
    page.push_str(rest);
}

/// A text as it stands. The first line break behind `<pre>` is none.
pub(super) fn plain(class: &str, said: &str) -> String {
    let class = if class.is_empty() {
        String::new()
    } else {
        format!(" class=\"{class}\"")
    };
    let mut page = format!("<pre{class}>\n");
    text(&mut page, said.trim_end_matches('\n'));
    page.push_str("</pre>\n");
    page
}

/// The beginning of something that can be copied.
pub(super) fn piece(page: &mut String, title: &str) {
    put!(
        page,
        "<div class=\"piece\">\n<div class=\"title\">{title} <button type=\"button\" class=\"copy\">Copy</button></div>\n"
    );
}

/// What is folded.
pub(super) fn folded(page: &mut String, class: &str, open: bool, title: impl FnOnce(&mut String), body: &str) {
    put!(page, "<details class=\"{class}\"{}><summary>", if open { " open" } else { "" });
    title(page);
    page.push_str("</summary>\n");
    late(page, body, open);
    page.push_str("</details>\n");
}

/// What stands in something folded: of what is long nothing is made until it is unfolded.
pub(super) fn late(page: &mut String, body: &str, open: bool) {
    if open || body.len() < LATE {
        page.push_str(body);
    } else {
        put!(page, "<template>{body}</template>\n");
    }
}

/// Pictures. A browser reads them when they are to be seen.
pub(super) fn shows(page: &mut String, pictures: &[Picture]) {
    for Picture { kind, data } in pictures {
        // Both are checked: a name of ours, and digits of base64.
        put!(
            page,
            "<img src=\"data:{kind};base64,{data}\" alt=\"Picture of the log ({kind})\" loading=\"lazy\">\n"
        );
    }
}

pub(super) fn indent(depth: usize) -> String {
    if depth == 0 { String::new() } else { format!(" d{depth}") }
}

pub(super) const fn lines(count: usize) -> &'static str {
    if count == 1 { "line" } else { "lines" }
}

pub(super) fn count(page: &mut String, count: usize) {
    if count > 0 {
        put!(page, "<span class=\"quiet\">, {count} {}</span>", lines(count));
    }
}

/// Puts the beginning of a long line on the page.
pub(super) fn short(page: &mut String, line: &str) {
    let end = line.char_indices().nth(LONGEST).map_or(line.len(), |(at, _)| at);
    text(page, &line[..end]);
    if end < line.len() {
        page.push('…');
    }
}

/// What the name of a file ends with.
pub(super) fn ending(path: &str) -> &str {
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
    name.rsplit_once('.').map_or(name, |(_, ending)| ending)
}

/// Writes to a `String`, which takes everything.
macro_rules! put {
    ($page:expr, $($what:tt)*) => {{
        let _ = write!($page, $($what)*);
    }};
}
pub(super) use put;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_a_text_is_markup() {
        let mut page = String::new();
        text(&mut page, "<a href=\"x\" b='y'>&amp;\u{1b}[31mred\u{202e}\u{0}");
        assert_eq!(page, "&lt;a href=&quot;x&quot; b=&#39;y&#39;&gt;&amp;amp;red\\u{202e}\\u{0}");
    }
}
