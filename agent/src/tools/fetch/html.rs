//! HTML as Markdown, by html5ever and htmd.
//!
//! A page is a stranger's, and neither library has bounds of its own: the parser takes time in the square of what is open (elements, attributes of
//! one tag) and memory for formatting that is opened anew in each paragraph; the writer walks the tree by recursion and pads the columns of
//! tables to the longest cell. So the parser gets the page piece by piece within a time, [`Guard`] leaves out tags that make no text and
//! counts the others, what lies too deep is made flat, and tables are written here. What stands behind a limit is left out, and the
//! text says so.

use std::cell::Cell;
use std::rc::Rc;
use std::time::{Duration, Instant};

use htmd::element_handler::{HandlerResult, Handlers};
use htmd::options::{BulletListMarker, HrStyle, Options};
use htmd::{Element, HtmlToMarkdown, Node};
use html5ever::TokenizerResult;
use html5ever::tendril::StrTendril;
use html5ever::tokenizer::{BufferQueue, CommentToken, EOFToken, ParseError, StartTag, Tag, TagToken, Token, TokenSink, TokenSinkResult, Tokenizer};
use html5ever::tree_builder::TreeBuilder;
use markup5ever_rcdom::{NodeData, RcDom};
use reqwest::Url;

/// Elements whose content nobody reads.
const HIDDEN: [&str; 9] = ["script", "style", "template", "svg", "math", "iframe", "object", "noscript", "canvas"];

/// Elements that say how text looks: left out, for the parser opens them anew in each paragraph that begins before they end.
const LOOKS: [&str; 12] = ["b", "big", "em", "font", "i", "nobr", "s", "small", "strike", "strong", "tt", "u"];

/// So many tags of a page are read.
const TAGS: usize = 200_000;

/// Elements that lie deeper than this are text without form.
const DEPTH: usize = 64;

/// How long a page is read.
const PATIENCE: Duration = Duration::from_secs(2);

/// How many bytes the parser gets at once.
const PIECE: usize = 4096;

/// Stands behind the text of a page that went over a limit.
const CUT: &str = "\n\n[The rest of the page is left out: it has too many elements.]";

/// A page as Markdown. Links are resolved against `base`.
pub(super) fn text(html: &str, base: Option<&Url>) -> String {
    text_within(PATIENCE, html, base)
}

fn text_within(patience: Duration, html: &str, base: Option<&Url>) -> String {
    let (dom, whole) = parse(patience, html, base);
    flatten(&dom.document);
    let mut text = markdown(&dom.document);
    if !whole {
        text.push_str(CUT);
    }
    text
}

/// The bare text of a page, words with one blank between them.
pub(super) fn bare(html: &str) -> String {
    on_one_line(&plain(&parse(PATIENCE, html, None).0.document, " "))
}

/// The tree of a page, and whether all of it was read.
fn parse(patience: Duration, html: &str, base: Option<&Url>) -> (RcDom, bool) {
    let begun = Instant::now();
    let parser = Tokenizer::new(Guard::new(base), Default::default());
    let input = BufferQueue::default();
    let (mut rest, mut whole) = (html, true);
    while !rest.is_empty() {
        if begun.elapsed() > patience {
            whole = false;
            break;
        }
        let (piece, behind) = rest.split_at(rest.floor_char_boundary(PIECE));
        rest = behind;
        input.push_back(StrTendril::from_slice(piece));
        while let TokenizerResult::Script(_) = parser.feed(&input) {}
    }
    parser.end();
    whole &= parser.sink.left.get() > 0;
    (parser.sink.tree.sink, whole)
}

/// Between the tokenizer and the tree.
struct Guard<'b> {
    tree: TreeBuilder<Rc<Node>, RcDom>,
    base: Option<&'b Url>,
    /// How many tags are still read.
    left: Cell<usize>,
    /// Within `<code>`.
    code: Cell<bool>,
}

impl<'b> Guard<'b> {
    fn new(base: Option<&'b Url>) -> Self {
        Self {
            tree: TreeBuilder::new(RcDom::default(), Default::default()),
            base,
            left: Cell::new(TAGS),
            code: Cell::new(false),
        }
    }

    /// What of a tag makes text; `None` if nothing.
    fn read(&self, mut tag: Tag) -> Option<Tag> {
        self.left.set(self.left.get().saturating_sub(1));
        let name: &str = &tag.name;
        if LOOKS.contains(&name) || (name == "code" && (tag.kind == StartTag) == self.code.get()) {
            return None;
        }
        if name == "code" {
            self.code.set(tag.kind == StartTag);
        }
        tag.attrs
            .retain(|attribute| matches!(&*attribute.name.local, "href" | "alt" | "class" | "start"));
        if let Some(at) = tag.attrs.iter().position(|attribute| &*attribute.name.local == "href") {
            match self.target(&tag.attrs[at].value) {
                Some(to) => tag.attrs[at].value = to.into(),
                None => drop(tag.attrs.remove(at)),
            }
        }
        Some(tag)
    }

    /// Where a link leads, if it leads away.
    fn target(&self, to: &str) -> Option<String> {
        let to = to.trim();
        let away = !to.is_empty() && !to.starts_with('#') && !to.to_ascii_lowercase().starts_with("javascript:");
        away.then(|| self.base.and_then(|base| base.join(to).ok()).map_or_else(|| to.to_owned(), String::from))
    }
}

impl TokenSink for Guard<'_> {
    type Handle = Rc<Node>;

    fn process_token(&self, token: Token, line: u64) -> TokenSinkResult<Rc<Node>> {
        let token = match token {
            ParseError(_) | CommentToken(_) => return TokenSinkResult::Continue,
            EOFToken => EOFToken,
            _ if self.left.get() == 0 => return TokenSinkResult::Continue,
            TagToken(tag) => match self.read(tag) {
                Some(tag) => TagToken(tag),
                None => return TokenSinkResult::Continue,
            },
            other => other,
        };
        self.tree.process_token(token, line)
    }

    fn end(&self) {
        self.tree.end();
    }

    fn adjusted_current_node_present_but_not_in_html_namespace(&self) -> bool {
        self.tree.adjusted_current_node_present_but_not_in_html_namespace()
    }
}

/// Makes text of what lies too deep.
fn flatten(document: &Rc<Node>) {
    let mut open = vec![(Rc::clone(document), 0)];
    while let Some((node, depth)) = open.pop() {
        if depth < DEPTH {
            open.extend(node.children.borrow().iter().map(|child| (Rc::clone(child), depth + 1)));
            continue;
        }
        let text = plain(&node, " ");
        *node.children.borrow_mut() = vec![Node::new(NodeData::Text {
            contents: StrTendril::from(text).into(),
        })];
    }
}

/// The bare text of an element, with `between` where another begins.
fn plain(node: &Rc<Node>, between: &str) -> String {
    let (mut text, mut open) = (String::new(), vec![Rc::clone(node)]);
    while let Some(node) = open.pop() {
        match &node.data {
            NodeData::Text { contents } => text.push_str(&contents.borrow()),
            NodeData::Element { name, .. } if HIDDEN.contains(&&*name.local) => {}
            NodeData::Element { name, .. } if &*name.local == "br" => text.push('\n'),
            _ => {
                text.push_str(between);
                open.extend(node.children.borrow().iter().rev().cloned());
            }
        }
    }
    text
}

fn markdown(document: &Rc<Node>) -> String {
    let options = Options {
        hr_style: HrStyle::Dashes,
        bullet_list_marker: BulletListMarker::Dash,
        ul_bullet_spacing: 1,
        ol_number_spacing: 1,
        ..Options::default()
    };
    let writer = HtmlToMarkdown::builder()
        .options(options)
        .skip_tags(HIDDEN.to_vec())
        .add_handler(vec!["title", "table"], block)
        .add_handler(vec!["tbody", "thead", "tfoot"], |all: &dyn Handlers, element: Element<'_>| {
            Some(all.walk_children(element.node))
        })
        .add_handler(vec!["tr"], row)
        .add_handler(vec!["pre"], preformatted)
        .add_handler(vec!["td", "th"], |all: &dyn Handlers, element: Element<'_>| {
            Some(on_one_line(&all.walk_children(element.node).content).into())
        })
        .add_handler(vec!["a"], link)
        .add_handler(vec!["img"], picture)
        .build();
    writer.tree_to_markdown(document)
}

fn block(all: &dyn Handlers, element: Element<'_>) -> Option<HandlerResult> {
    let said = all.walk_children(element.node).content;
    Some(format!("\n\n{}\n\n", said.trim()).into())
}

/// A row of a table: its cells, and nothing that keeps columns straight.
fn row(all: &dyn Handlers, element: Element<'_>) -> Option<HandlerResult> {
    let cells: Vec<String> = element
        .node
        .children
        .borrow()
        .iter()
        .filter_map(|cell| Some(all.handle(cell)?.content))
        .collect();
    let cells: Vec<&str> = cells.iter().map(|cell| cell.trim()).filter(|cell| !cell.is_empty()).collect();
    Some(format!("\n{}", cells.join(" | ")).into())
}

fn on_one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A link with words to click on.
fn link(all: &dyn Handlers, element: Element<'_>) -> Option<HandlerResult> {
    let said = all.walk_children(element.node);
    let to = element.attrs.iter().find(|attribute| &*attribute.name.local == "href");
    let words = said.content.trim();
    Some(match to {
        Some(to) if !words.is_empty() => {
            let (before, behind) = said.content.split_once(words).unwrap_or_default();
            format!("{before}[{words}]({}){behind}", to.value).into()
        }
        _ => said,
    })
}

/// What a picture shows; nobody fetches it.
fn picture(_: &dyn Handlers, element: Element<'_>) -> Option<HandlerResult> {
    let alt = element.attrs.iter().find(|attribute| &*attribute.name.local == "alt")?;
    let alt = on_one_line(&alt.value);
    (!alt.is_empty()).then(|| format!("![{alt}]").into())
}

/// As it stands, between fences that are longer than any in it.
fn preformatted(_: &dyn Handlers, element: Element<'_>) -> Option<HandlerResult> {
    let text = plain(element.node, "");
    let children = element.node.children.borrow();
    let language = children.first().and_then(|child| match &child.data {
        NodeData::Element { attrs, .. } => {
            let attrs = attrs.borrow();
            let class = attrs.iter().find(|attribute| &*attribute.name.local == "class")?;
            class
                .value
                .split(' ')
                .find_map(|class| class.strip_prefix("language-"))
                .map(str::to_owned)
        }
        _ => None,
    });
    let mut fence = "```".to_owned();
    while text.contains(&fence) {
        fence.push('`');
    }
    Some(format!("\n\n{fence}{}\n{}\n{fence}\n\n", language.unwrap_or_default(), text.trim_matches('\n')).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(html: &str) -> String {
        text(html, Some(&Url::parse("https://h.test/a/b").unwrap()))
    }

    #[test]
    fn pages_become_markdown() {
        let page = "<!doctype html><html><head><title>A &amp; B</title><style>p{}</style><script>if (a < b) evil('</p>')</script></head><body>\
            <!-- <p>no</p> --><h2>Head <em>line</em></h2><p>One <a href='/two'>link</a>, and\n  more.<br>Next &auml;&#228;&#xe4;&unknown; 1 < 2</p>\
            <ul><li>a<li>b<ol><li>x</li><li>y</li></ol></ul><table><tr><th>k</th><th>v</th></tr><tr><td>1</td><td>2</td></tr></table>\
            <pre>x\n  <b>y_z</b>\n</pre><pre><code class='a language-rust'>fn</code></pre><p>Use <code>cargo</code>.</p>\
            <img alt='a cat' src=c.png><a href='#x'></a><hr></body></html>";
        let wanted = "A & B\n\n## Head line\n\nOne [link](https://h.test/two), and more.  \nNext äää&unknown; 1 < 2\n\n- a\n- b\n  1. x\n  2. y\n\n\
            k | v\n1 | 2\n\n```\nx\n  y_z\n```\n\n```rust\nfn\n```\n\nUse `cargo`.\n\n![a cat]\n\n- - -";
        assert_eq!(read(page), wanted);
        assert_eq!(bare("a <b>b</b>_c&amp;<br>d<script>e</script>"), "a b_c& d");
    }

    #[test]
    fn rows_keep_all_their_cells() {
        let page = "<table><caption>c</caption><tr><th>name</th><td>value</td></tr><tr><th>n2<td><p>v<p>2</table>";
        assert_eq!(read(page), "c\n\nname | value\nn2 | v 2");
    }

    #[test]
    fn broken_pages_are_read_too() {
        assert_eq!(read("a < b > c <"), "a < b > c <");
        assert_eq!(read("<p title=\"x>y\">a<p>b"), "a\n\nb");
        assert_eq!(read("</ul></pre></a>x<script>never ends"), "x");
        assert_eq!(read("<a href=x>"), "");
        assert_eq!(read("<a href=x><a href=y>t"), "[t](https://h.test/a/y)");
        assert_eq!(read("<a href='javascript:evil()'>t</a>"), "t");
        assert_eq!(read("<pre>```</pre>"), "````\n```\n````");
        assert_eq!(read(""), "");
        assert_eq!(read("<!-- open"), "");
    }

    /// Nothing here may take more time, memory or stack than a page of its size; without a limit most of them would never end.
    #[test]
    fn hostile_pages_end() {
        let attributes: String = (0..100_000).map(|n| format!("a{n} ")).collect();
        let (begun, patience) = (Instant::now(), Duration::from_millis(200));
        for page in [
            format!("{}x{}", "<div>".repeat(100_000), "</div>".repeat(100_000)),
            format!("{}x", "<ul><li>".repeat(100_000)),
            format!("{}x", "<blockquote>".repeat(60)) + &"<br>y".repeat(20_000),
            "<table><tr><td>".repeat(20_000),
            format!("<table>{}", "<p>a</p>b".repeat(20_000)),
            format!("<table><tr><td>{}</table>", "wide ".repeat(20_000)) + &"<tr><td>x".repeat(20_000),
            format!("<p {attributes}>x"),
            (0..20_000).map(|n| format!("<b x{n}>")).collect::<String>() + &"<p>".repeat(20_000),
            (0..20_000).map(|n| format!("<code x{n}>")).collect::<String>() + &"<p>x".repeat(20_000),
            "<".repeat(500_000),
            "&".repeat(500_000),
            "<a href=x>".repeat(100_000),
            "<p a=\"".repeat(20_000),
            "<script>".repeat(20_000),
        ] {
            let text = text_within(patience, &page, None);
            assert!(text.len() < 4 << 20, "{} became {}", page.len(), text.len());
        }
        // How long the machine takes beside reading them is its own affair; none takes minutes.
        assert!(begun.elapsed() < Duration::from_secs(60), "{:?}", begun.elapsed());
    }

    #[test]
    fn what_is_left_out_is_said() {
        let text = read(&"<br>x".repeat(TAGS + 10));
        assert!(text.ends_with(CUT.trim_start()), "{}", &text[text.len() - 100..]);
        // What lies deep is text without form.
        let deep = format!("{}<a href=y>far</a> down<script>no</script>", "<div>".repeat(100));
        assert_eq!(read(&deep), "far down");
    }
}
