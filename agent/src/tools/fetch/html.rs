//! HTML as readable text, in one walk over the bytes: what nests takes no stack and no more time than what does not, which a page of a
//! stranger's must not be able to change.
//!
//! Headings, lists, links, pictures, rows and preformatted text are told as in Markdown. Scripts, styles and drawings are left out.

use reqwest::Url;

/// Elements whose content nobody reads.
const HIDDEN: [&str; 10] = [
    "script", "style", "template", "svg", "math", "iframe", "object", "noscript", "canvas", "head",
];

/// Elements that begin and end a line.
const LINES: [&str; 24] = [
    "div",
    "section",
    "article",
    "header",
    "footer",
    "main",
    "nav",
    "aside",
    "tr",
    "dl",
    "dt",
    "dd",
    "form",
    "fieldset",
    "figure",
    "figcaption",
    "address",
    "details",
    "summary",
    "caption",
    "option",
    "body",
    "legend",
    "center",
];

/// Elements with an empty line before and behind them.
const PARAGRAPHS: [&str; 8] = ["p", "ul", "ol", "table", "blockquote", "pre", "hr", "menu"];

/// What a page says. Links are told from `base`.
pub(super) fn text(html: &str, base: Option<&Url>) -> String {
    let mut page = Page {
        said: String::with_capacity(html.len() / 4),
        ..Page::default()
    };
    let mut rest = html;
    if let Some(title) = between(html, "<title", "</title") {
        page.words(title);
        page.lines(2);
    }
    // What has no end from some place on has none further on; looking for it again and again would take as long as the page is long.
    let mut endless = Vec::new();
    while let Some(at) = rest.find('<') {
        page.words(&rest[..at]);
        rest = &rest[at..];
        if let Some(comment) = rest.strip_prefix("<!--") {
            rest = comment.split_once("-->").map_or("", |(_, behind)| behind);
            continue;
        }
        let read = if endless.contains(&">") { None } else { Tag::read(rest) };
        let Some((tag, behind)) = read else {
            if Tag::begins(rest) && !endless.contains(&">") {
                endless.push(">");
            }
            // A `<` that begins no tag is one.
            page.words("<");
            rest = &rest[1..];
            continue;
        };
        rest = behind;
        let hidden = HIDDEN.iter().find(|name| !tag.closes && **name == tag.name);
        if let Some(name) = hidden.filter(|name| !endless.contains(*name)) {
            match behind_end(rest, name) {
                Some(behind) => rest = behind,
                // One that does not end takes nothing with it but its tag.
                None => endless.push(name),
            }
            continue;
        }
        page.tag(&tag, base);
    }
    page.words(rest);
    page.end_link();
    page.said.trim_matches('\n').trim_end().to_owned()
}

/// What stands between the tag `open` and the text `close`.
fn between<'a>(html: &'a str, open: &str, close: &str) -> Option<&'a str> {
    let at = find(html, open)?;
    let (_, behind) = html[at..].split_once('>')?;
    Some(&behind[..find(behind, close)?])
}

/// The text behind the end of an element.
fn behind_end<'a>(rest: &'a str, name: &str) -> Option<&'a str> {
    let at = find(rest, &format!("</{name}"))?;
    Some(rest[at..].split_once('>').map_or("", |(_, behind)| behind))
}

/// Where a text of ASCII stands, in capitals or not.
fn find(text: &str, wanted: &str) -> Option<usize> {
    let (text, wanted) = (text.as_bytes(), wanted.as_bytes());
    let mut from = 0;
    while let Some(at) = memchr::memchr(b'<', &text[from..]) {
        let at = from + at;
        if text.len() - at >= wanted.len() && text[at..at + wanted.len()].eq_ignore_ascii_case(wanted) {
            return Some(at);
        }
        from = at + 1;
    }
    None
}

/// A tag.
struct Tag<'a> {
    /// Its name in small letters.
    name: String,
    /// `</…>`
    closes: bool,
    /// What stands behind the name.
    attributes: &'a str,
}

impl<'a> Tag<'a> {
    /// Whether a text begins as a tag does.
    fn begins(text: &str) -> bool {
        let inner = text.strip_prefix('<').unwrap_or_default();
        let inner = inner.strip_prefix('/').unwrap_or(inner);
        inner.starts_with(|first: char| first.is_ascii_alphabetic() || first == '!' || first == '?')
    }

    /// Reads a tag at the beginning of a text; with it comes what stands behind it.
    fn read(text: &'a str) -> Option<(Self, &'a str)> {
        if !Self::begins(text) {
            return None;
        }
        let inner = text.strip_prefix('<')?;
        let (closes, inner) = inner.strip_prefix('/').map_or((false, inner), |inner| (true, inner));
        let (mut quote, mut end) = (None, None);
        for (at, byte) in inner.bytes().enumerate() {
            match (byte, quote) {
                (b'>', None) => {
                    end = Some(at);
                    break;
                }
                (b'"' | b'\'', None) if inner.as_bytes()[..at].trim_ascii_end().ends_with(b"=") => quote = Some(byte),
                (byte, Some(open)) if byte == open => quote = None,
                _ => {}
            }
        }
        // A quote that is never closed hides no more than its tag.
        let end = end.or_else(|| inner.find('>'))?;
        let whole = &inner[..end];
        let length = whole
            .find(|letter: char| letter.is_ascii_whitespace() || letter == '/')
            .unwrap_or(whole.len());
        let tag = Self {
            name: whole[..length].to_ascii_lowercase(),
            closes,
            attributes: &whole[length..],
        };
        Some((tag, &inner[end + 1..]))
    }

    /// The value of an attribute.
    fn attribute(&self, wanted: &str) -> Option<String> {
        let mut rest = self.attributes;
        loop {
            rest = rest.trim_start_matches(|letter: char| letter.is_ascii_whitespace() || letter == '/');
            if rest.is_empty() {
                return None;
            }
            let length = rest
                .find(|letter: char| letter.is_ascii_whitespace() || letter == '=')
                .unwrap_or(rest.len());
            let name = &rest[..length];
            rest = rest[length..].trim_start();
            let Some(behind) = rest.strip_prefix('=') else {
                if length == 0 {
                    return None;
                }
                continue;
            };
            let behind = behind.trim_start();
            let (value, left) = match behind.chars().next() {
                Some(quote @ ('"' | '\'')) => behind[1..].split_once(quote).unwrap_or((&behind[1..], "")),
                _ => behind.split_at(behind.find(|letter: char| letter.is_ascii_whitespace()).unwrap_or(behind.len())),
            };
            if name.eq_ignore_ascii_case(wanted) {
                let mut decoded = String::new();
                decode(value, &mut decoded);
                return Some(decoded);
            }
            rest = left;
        }
    }
}

/// What has been said of a page so far.
#[derive(Default)]
struct Page {
    said: String,
    /// A blank is owed before the next word.
    blank: bool,
    /// Within `<pre>`: how many of them.
    preformatted: usize,
    /// The lists around: for an ordered one, its last number.
    lists: Vec<Option<u32>>,
    /// Where the text of the link begins, and where it leads.
    link: Option<(usize, String)>,
}

impl Page {
    fn words(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        let mut decoded = String::new();
        decode(text, &mut decoded);
        if self.preformatted > 0 {
            self.said.push_str(&decoded);
            return;
        }
        if decoded.starts_with(is_blank) {
            self.blank = true;
        }
        for word in decoded.split(is_blank).filter(|word| !word.is_empty()) {
            if self.blank && !self.said.is_empty() && !self.said.ends_with(['\n', ' ']) {
                self.said.push(' ');
            }
            self.said.push_str(word);
            self.blank = true;
        }
        self.blank = decoded.ends_with(is_blank);
    }

    /// Sees to it that so many line ends stand behind what has been said.
    fn lines(&mut self, wanted: usize) {
        self.blank = false;
        while self.said.ends_with(' ') {
            self.said.pop();
        }
        if self.said.is_empty() {
            return;
        }
        let there = self.said.bytes().rev().take_while(|&byte| byte == b'\n').count();
        for _ in there..wanted {
            self.said.push('\n');
        }
    }

    /// A mark before the next word.
    fn mark(&mut self, mark: &str) {
        if self.blank && !self.said.is_empty() && !self.said.ends_with(['\n', ' ']) {
            self.said.push(' ');
        }
        self.said.push_str(mark);
        self.blank = false;
    }

    fn tag(&mut self, tag: &Tag<'_>, base: Option<&Url>) {
        let name = tag.name.as_str();
        match name {
            "br" => self.lines(usize::from(!self.said.ends_with('\n'))),
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => {
                self.lines(2);
                if !tag.closes {
                    self.said.push_str(&"#".repeat(usize::from(name.as_bytes()[1] - b'0')));
                    self.said.push(' ');
                }
            }
            "li" => {
                self.lines(1);
                if !tag.closes {
                    let depth = self.lists.len().saturating_sub(1).min(8);
                    self.said.push_str(&"  ".repeat(depth));
                    match self.lists.last_mut() {
                        Some(Some(number)) => {
                            *number += 1;
                            self.said.push_str(&format!("{number}. "));
                        }
                        _ => self.said.push_str("- "),
                    }
                }
            }
            "td" | "th" if !tag.closes && !self.said.is_empty() && !self.said.ends_with('\n') => self.mark(" | "),
            "code" if self.preformatted == 0 => {
                if tag.closes {
                    self.said.push('`');
                } else {
                    self.mark("`");
                }
            }
            "a" => {
                self.end_link();
                if let Some(to) = (!tag.closes).then(|| tag.attribute("href")).flatten() {
                    let to = base.and_then(|base| base.join(&to).ok()).map_or(to, String::from);
                    if !to.starts_with('#') && !to.to_ascii_lowercase().starts_with("javascript:") {
                        self.mark("[");
                        self.link = Some((self.said.len(), to));
                    }
                }
            }
            "img" => {
                if let Some(alt) = tag.attribute("alt").filter(|alt| !alt.trim().is_empty()) {
                    self.mark("![");
                    self.said.push_str(alt.trim());
                    self.said.push(']');
                }
            }
            _ if PARAGRAPHS.contains(&name) => {
                let nested = matches!(name, "ul" | "ol" | "menu") && self.lists.len() > usize::from(tag.closes);
                self.lines(if nested { 1 } else { 2 });
                match (name, tag.closes) {
                    ("ul" | "menu", false) => self.lists.push(None),
                    ("ol", false) => self.lists.push(Some(0)),
                    ("ul" | "ol" | "menu", true) => {
                        self.lists.pop();
                    }
                    ("pre", false) => {
                        self.said.push_str("```\n");
                        self.preformatted += 1;
                    }
                    ("pre", true) if self.preformatted > 0 => {
                        self.preformatted -= 1;
                        self.lines(0);
                        while self.said.ends_with('\n') {
                            self.said.pop();
                        }
                        self.said.push_str("\n```\n\n");
                    }
                    ("hr", _) => self.said.push_str("---\n\n"),
                    _ => {}
                }
            }
            _ if LINES.contains(&name) => self.lines(1),
            _ => {}
        }
    }

    fn end_link(&mut self) {
        let Some((start, to)) = self.link.take() else { return };
        if self.said.len() <= start || self.said[start..].trim().is_empty() {
            // Nothing to click on: the bracket goes.
            self.said.truncate(start.saturating_sub(1).min(self.said.len()));
            return;
        }
        let blank = self.said.ends_with(' ');
        self.said.truncate(self.said.trim_end().len());
        self.said.push_str("](");
        self.said.push_str(&to);
        self.said.push(')');
        self.blank |= blank;
    }
}

fn is_blank(letter: char) -> bool {
    letter.is_whitespace()
}

/// Puts a text with its references (`&amp;`, `&#228;`) resolved behind another.
fn decode(text: &str, decoded: &mut String) {
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        decoded.push_str(&rest[..at]);
        rest = &rest[at..];
        // None is longer than this.
        let end = rest.bytes().take(12).position(|byte| byte == b';');
        match end.and_then(|end| Some((reference(&rest[1..end])?, end))) {
            Some((letter, end)) => {
                decoded.push(letter);
                rest = &rest[end + 1..];
            }
            None => {
                decoded.push('&');
                rest = &rest[1..];
            }
        }
    }
    decoded.push_str(rest);
}

fn reference(name: &str) -> Option<char> {
    if let Some(number) = name.strip_prefix('#') {
        let code = match number.strip_prefix(['x', 'X']) {
            Some(hex) => u32::from_str_radix(hex, 16).ok()?,
            None => number.parse().ok()?,
        };
        return Some(char::from_u32(code).filter(|&letter| letter != '\0').unwrap_or('\u{fffd}'));
    }
    NAMED.iter().find(|(known, _)| *known == name).map(|&(_, letter)| letter)
}

/// The references that pages are full of.
const NAMED: [(&str, char); 72] = [
    ("amp", '&'),
    ("lt", '<'),
    ("gt", '>'),
    ("quot", '"'),
    ("apos", '\''),
    ("nbsp", ' '),
    ("ensp", ' '),
    ("emsp", ' '),
    ("thinsp", ' '),
    ("shy", '\u{ad}'),
    ("zwnj", '\u{200c}'),
    ("zwj", '\u{200d}'),
    ("copy", '©'),
    ("reg", '®'),
    ("trade", '™'),
    ("hellip", '…'),
    ("mdash", '—'),
    ("ndash", '–'),
    ("lsquo", '‘'),
    ("rsquo", '’'),
    ("sbquo", '‚'),
    ("ldquo", '“'),
    ("rdquo", '”'),
    ("bdquo", '„'),
    ("laquo", '«'),
    ("raquo", '»'),
    ("lsaquo", '‹'),
    ("rsaquo", '›'),
    ("bull", '•'),
    ("middot", '·'),
    ("times", '×'),
    ("divide", '÷'),
    ("plusmn", '±'),
    ("deg", '°'),
    ("micro", 'µ'),
    ("para", '¶'),
    ("sect", '§'),
    ("euro", '€'),
    ("pound", '£'),
    ("yen", '¥'),
    ("cent", '¢'),
    ("larr", '←'),
    ("rarr", '→'),
    ("uarr", '↑'),
    ("darr", '↓'),
    ("harr", '↔'),
    ("check", '✓'),
    ("infin", '∞'),
    ("ne", '≠'),
    ("le", '≤'),
    ("ge", '≥'),
    ("asymp", '≈'),
    ("frac12", '½'),
    ("sup2", '²'),
    ("auml", 'ä'),
    ("ouml", 'ö'),
    ("uuml", 'ü'),
    ("Auml", 'Ä'),
    ("Ouml", 'Ö'),
    ("Uuml", 'Ü'),
    ("szlig", 'ß'),
    ("eacute", 'é'),
    ("egrave", 'è'),
    ("ecirc", 'ê'),
    ("agrave", 'à'),
    ("aacute", 'á'),
    ("acirc", 'â'),
    ("aring", 'å'),
    ("ccedil", 'ç'),
    ("ntilde", 'ñ'),
    ("oslash", 'ø'),
    ("iexcl", '¡'),
];

#[cfg(test)]
mod tests {
    use super::*;

    fn read(html: &str) -> String {
        text(html, Some(&Url::parse("https://h.test/a/b").unwrap()))
    }

    #[test]
    fn pages_are_told_as_markdown() {
        let page = "<!doctype html><html><head><title>A &amp; B</title><style>p{}</style><script>if (a < b) evil('</p>')</script></head><body>\
            <!-- <p>no</p> --><h2>Head <em>line</em></h2><p>One <a href='/two'>link</a>, and\n  more.<br>Next &auml;&#228;&#xe4;&unknown; 1 < 2</p>\
            <ul><li>a<li>b<ol><li>x</li><li>y</li></ol></ul><table><tr><th>k</th><th>v</th></tr><tr><td>1</td><td>2</td></tr></table>\
            <pre>x\n  <b>y</b>\n</pre><p>Use <code>cargo</code>.</p><img alt='a cat' src=c.png><a href='#x'></a><hr></body></html>";
        let told = "A & B\n\n## Head line\n\nOne [link](https://h.test/two), and more.\nNext äää&unknown; 1 < 2\n\n- a\n- b\n  1. x\n  2. y\n\n\
            k | v\n1 | 2\n\n```\nx\n  y\n```\n\nUse `cargo`.\n\n![a cat]\n\n---";
        assert_eq!(read(page), told);
    }

    #[test]
    fn broken_pages_are_told_too() {
        assert_eq!(read("a < b > c <"), "a < b > c <");
        assert_eq!(read("<p title=\"x>y\">a<p title=\"open>b"), "a\n\nb");
        assert_eq!(
            read("</ul></pre></a>x<script>never ends"),
            "x never ends".replace(' ', "").replace("xnever", "xnever ").trim()
        );
        assert_eq!(read("<a href=x>"), "");
        assert_eq!(read("<a href=x><a href=y>t"), "[t](https://h.test/a/y)");
        assert_eq!(read("<a href='javascript:evil()'>t</a>"), "t");
        assert_eq!(read(""), "");
        assert_eq!(read("<!-- open"), "");
        assert_eq!(read("<é>ü&"), "<é>ü&");
    }

    #[test]
    fn size_and_nesting_cost_no_more_than_their_length() {
        let began = std::time::Instant::now();
        for page in [
            format!("{}x{}", "<div>".repeat(100_000), "</div>".repeat(100_000)),
            format!("{}x", "<ul><li>".repeat(100_000)),
            "<".repeat(500_000),
            "&".repeat(500_000),
            "<a href=x>".repeat(100_000),
            "<p a=\"".repeat(20_000),
            "<script>".repeat(20_000),
        ] {
            let _ = read(&page);
        }
        assert!(began.elapsed() < std::time::Duration::from_secs(20), "{:?}", began.elapsed());
    }
}
