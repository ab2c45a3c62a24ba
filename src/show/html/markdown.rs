//! Markdown of a log as HTML: what has a meaning that cannot do harm. Markup in it is text; links lead to the web and to mail only, and
//! nothing is fetched: a picture is a link.

use std::fmt::Write as _;

use pulldown_cmark::{Alignment, CodeBlockKind, Event, Options, Parser, Tag, TagEnd};

use super::colour::Colours;
use super::markup::{piece, put, text};
use crate::show::words::shown;

/// What is nested deeper stands at this depth.
const DEEPEST: usize = 24;

/// Puts Markdown on the page.
pub(super) fn put(page: &mut String, said: &str, colours: &mut Colours) {
    let said = shown(said);
    let mut made = Made {
        page,
        colours,
        open: Vec::new(),
        code: None,
        columns: Vec::new(),
        column: 0,
        in_head: false,
        places: Vec::new(),
    };
    for event in Parser::new_ext(
        said.trim(),
        Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS,
    ) {
        made.take(event);
    }
}

struct Made<'p> {
    page: &'p mut String,
    colours: &'p mut Colours,
    /// The ends of what is open.
    open: Vec<&'static str>,
    /// The language of the block of code that is open, and what it holds.
    code: Option<(String, String)>,
    columns: Vec<Alignment>,
    column: usize,
    in_head: bool,
    /// Where links lead to that may lead nowhere.
    places: Vec<Option<String>>,
}

impl Made<'_> {
    fn take(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(tag),
            Event::Text(said) | Event::Html(said) | Event::InlineHtml(said) => match &mut self.code {
                Some((_, code)) => code.push_str(&said),
                None => text(self.page, &said),
            },
            Event::Code(said) | Event::InlineMath(said) | Event::DisplayMath(said) => {
                self.page.push_str("<code>");
                text(self.page, &said);
                self.page.push_str("</code>");
            }
            Event::SoftBreak => self.page.push('\n'),
            Event::HardBreak => self.page.push_str("<br>\n"),
            Event::Rule => self.page.push_str("<hr>\n"),
            Event::TaskListMarker(done) => self.page.push_str(if done { "☑ " } else { "☐ " }),
            Event::FootnoteReference(name) => text(self.page, &format!("[^{name}]")),
        }
    }

    fn open(&mut self, begin: &str, end: &'static str) {
        if self.open.len() < DEEPEST {
            self.page.push_str(begin);
            self.open.push(end);
        } else {
            self.open.push("");
        }
    }

    fn start(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::Paragraph => self.open("<p>", "</p>\n"),
            // Below the headings of the page itself.
            Tag::Heading { level, .. } => match level as u8 {
                1 => self.open("<h4>", "</h4>\n"),
                2 => self.open("<h5>", "</h5>\n"),
                _ => self.open("<h6>", "</h6>\n"),
            },
            Tag::BlockQuote(_) => self.open("<blockquote>\n", "</blockquote>\n"),
            Tag::CodeBlock(kind) => {
                let language = match &kind {
                    CodeBlockKind::Fenced(about) => about.split([' ', ',', '{']).next().unwrap_or_default(),
                    CodeBlockKind::Indented => "",
                };
                self.code = Some((language.to_owned(), String::new()));
                self.open("", "");
            }
            Tag::List(None) => self.open("<ul>\n", "</ul>\n"),
            Tag::List(Some(first)) => self.open(&format!("<ol start=\"{first}\">\n"), "</ol>\n"),
            Tag::Item => self.open("<li>", "</li>\n"),
            Tag::Emphasis => self.open("<em>", "</em>"),
            Tag::Strong => self.open("<strong>", "</strong>"),
            Tag::Strikethrough => self.open("<del>", "</del>"),
            Tag::Table(columns) => {
                self.columns = columns;
                self.open("<table>\n", "</tbody></table>\n");
            }
            Tag::TableHead => {
                self.in_head = true;
                self.column = 0;
                self.open("<thead><tr>", "</tr></thead>\n<tbody>\n");
            }
            Tag::TableRow => {
                self.column = 0;
                self.open("<tr>", "</tr>\n");
            }
            Tag::TableCell => {
                let class = match self.columns.get(self.column) {
                    Some(Alignment::Right) => " class=\"right\"",
                    Some(Alignment::Center) => " class=\"center\"",
                    _ => "",
                };
                self.column += 1;
                if self.in_head {
                    self.open(&format!("<th scope=\"col\"{class}>"), "</th>");
                } else {
                    self.open(&format!("<td{class}>"), "</td>");
                }
            }
            Tag::Link { dest_url, .. } => self.link(&dest_url, ""),
            Tag::Image { dest_url, .. } => self.link(&dest_url, "picture: "),
            _ => self.open("", ""),
        }
    }

    fn link(&mut self, place: &str, about: &str) {
        // A link in a link is text.
        if leads_out(place) && !self.places.contains(&None) {
            let mut begin = String::from("<a href=\"");
            text(&mut begin, place);
            put!(begin, "\" rel=\"noopener noreferrer\">{about}");
            self.open(&begin, "</a>");
            self.places.push(None);
        } else {
            self.open(about, "");
            self.places.push(Some(place.to_owned()));
        }
    }

    fn end(&mut self, tag: TagEnd) {
        let end = self.open.pop().unwrap_or_default();
        if let Some((language, code)) = self.code.take() {
            piece(self.page, "Code");
            self.page.push_str("<pre>\n");
            self.colours.put(self.page, &language, code.trim_end_matches('\n'));
            self.page.push_str("</pre>\n</div>\n");
        }
        if matches!(tag, TagEnd::TableHead) {
            self.in_head = false;
        }
        self.page.push_str(end);
        if matches!(tag, TagEnd::Link | TagEnd::Image)
            && let Some(Some(place)) = self.places.pop()
            && !place.is_empty()
        {
            // What a link says that leads nowhere.
            let cut: String = place.chars().take(200).collect();
            self.page.push_str(" (");
            text(self.page, &cut);
            self.page.push_str(if cut.len() < place.len() { "…)" } else { ")" });
        }
    }
}

/// Whether a link leads to the web or to mail.
fn leads_out(place: &str) -> bool {
    ["http://", "https://", "mailto:"]
        .iter()
        .any(|scheme| place.get(..scheme.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(scheme)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(said: &str) -> String {
        let mut page = String::new();
        put(&mut page, said, &mut Colours::default());
        page
    }

    #[test]
    fn markdown_is_shown_and_markup_is_text() {
        assert_eq!(made("# A *b*\n\nc `d<`"), "<h4>A <em>b</em></h4>\n<p>c <code>d&lt;</code></p>\n");
        assert_eq!(
            made("<script>alert(1)</script>\n\nx <img src=x onerror=y>"),
            "&lt;script&gt;alert(1)&lt;/script&gt;\n<p>x &lt;img src=x onerror=y&gt;</p>\n"
        );
        assert_eq!(
            made("| a | b |\n|---|--:|\n| 1 | 2 |"),
            "<table>\n<thead><tr><th scope=\"col\">a</th><th scope=\"col\" class=\"right\">b</th></tr></thead>\n<tbody>\n<tr><td>1</td><td class=\"right\">2</td></tr>\n</tbody></table>\n"
        );
        assert!(made("```\"><script>\n</pre><script>\n```").contains("<pre>\n&lt;/pre&gt;&lt;script&gt;</pre>"));
    }

    #[test]
    fn links_lead_to_the_web_and_to_mail_only() {
        assert_eq!(
            made("[a](https://example.org/?a=\"b\")"),
            "<p><a href=\"https://example.org/?a=&quot;b&quot;\" rel=\"noopener noreferrer\">a</a></p>\n"
        );
        assert_eq!(made("[a](javascript:alert)"), "<p>a (javascript:alert)</p>\n");
        assert_eq!(made("[a](JaVaScRiPt&colon;alert)"), "<p>a (JaVaScRiPt:alert)</p>\n");
        assert_eq!(made("[a](<\tjavascript:alert>)"), "<p>a (\tjavascript:alert)</p>\n");
        for scheme in [
            "data:text/html,x",
            "file:///etc/passwd",
            "vbscript:x",
            "//example.org",
            "#turn-1",
            "blob:x",
        ] {
            assert!(!made(&format!("[a]({scheme})")).contains("<a"), "{scheme}");
        }
        assert_eq!(
            made("![b](https://example.org/b.png)"),
            "<p><a href=\"https://example.org/b.png\" rel=\"noopener noreferrer\">picture: b</a></p>\n"
        );
    }

    #[test]
    fn what_is_nested_too_deep_stays_flat() {
        let deep = made(&format!("{} x", "> ".repeat(5000)));
        assert_eq!(deep.matches("<blockquote>").count(), DEEPEST);
        assert_eq!(deep.matches("</blockquote>").count(), DEEPEST);
    }
}
