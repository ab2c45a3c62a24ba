//! Colours of code: the grammars are Sublime Text's. How much is coloured is bounded, for it takes longer than all the rest.

use std::str::FromStr;
use std::sync::LazyLock;

use syntect::parsing::{ParseState, Scope, ScopeStack, SyntaxReference, SyntaxSet};

use super::markup::text;

/// A piece of code that is longer has no colours.
const PIECE: usize = 24 << 10;
/// A line that is longer ends the colours of its piece.
const LINE: usize = 1 << 10;
/// So much code of a page has colours.
const ALL: usize = 384 << 10;

static LANGUAGES: LazyLock<SyntaxSet> = LazyLock::new(SyntaxSet::load_defaults_newlines);

/// Whose colours are whose, the first that fits. `text` ends the search: what stands in an interpolation is no string.
static KINDS: LazyLock<Vec<(Scope, &str)>> = LazyLock::new(|| {
    let kinds = [
        ("comment", "c"),
        ("meta.interpolation", ""),
        ("constant.character.escape", "n"),
        ("string", "s"),
        ("constant", "n"),
        ("keyword.operator", ""),
        ("keyword", "k"),
        ("storage", "k"),
        ("entity.name.function", "f"),
        ("support.function", "f"),
        ("variable.function", "f"),
        ("entity.name.tag", "k"),
        ("entity.other.attribute-name", "f"),
        ("entity.name", "t"),
        ("support.type", "t"),
        ("support.class", "t"),
        ("markup.heading", "k"),
        ("variable", ""),
    ];
    let scope = |(name, class)| Some((Scope::from_str(name).ok()?, class));
    kinds.into_iter().filter_map(scope).collect()
});

/// Gives code its colours.
#[derive(Debug, Default)]
pub(super) struct Colours {
    /// So much has been given.
    given: usize,
}

/// A text in a language, line by line.
#[derive(Clone, Debug, Default)]
pub(super) struct Painter(Option<(ParseState, ScopeStack)>);

impl Colours {
    /// Puts code on the page.
    pub(super) fn put(&mut self, page: &mut String, language: &str, code: &str) {
        let mut painter = self.begin(language, code.len());
        for (n, line) in code.split('\n').enumerate() {
            if n > 0 {
                page.push('\n');
            }
            painter.line(page, line, self);
        }
    }

    /// The beginning of so much code in a language that is put there line by line.
    pub(super) fn begin(&mut self, language: &str, size: usize) -> Painter {
        if language.is_empty() || size > PIECE || self.given + size > ALL {
            return Painter(None);
        }
        let Some(language) = find(language) else { return Painter(None) };
        self.given += size;
        Painter(Some((ParseState::new(language), ScopeStack::new())))
    }
}

impl Painter {
    /// Puts a line on the page.
    pub(super) fn line(&mut self, page: &mut String, line: &str, _: &Colours) {
        if line.len() > LINE {
            self.0 = None;
        }
        let Some((state, scopes)) = &mut self.0 else { return text(page, line) };
        let Ok(changes) = state.parse_line(&format!("{line}\n"), &LANGUAGES) else {
            self.0 = None;
            return text(page, line);
        };
        // What has the same colour stands in one element.
        let (mut from, mut done, mut class) = (0, 0, "");
        for (at, change) in changes {
            let at = at.min(line.len());
            let next = class_of(scopes);
            if at > done && next != class {
                paint(page, &line[from..done], class);
                (from, class) = (done, next);
            }
            done = at;
            if scopes.apply(&change).is_err() {
                self.0 = None;
                paint(page, &line[from..done], class);
                return text(page, &line[done..]);
            }
        }
        let last = class_of(scopes);
        if last == class {
            done = from;
        }
        paint(page, &line[from..done], class);
        paint(page, &line[done..], last);
    }
}

/// The class of what stands in these scopes; none has no name.
fn class_of(scopes: &ScopeStack) -> &'static str {
    let kind = |scope: &Scope| KINDS.iter().find(|(kind, _)| kind.is_prefix_of(*scope)).map(|(_, class)| *class);
    scopes.as_slice().iter().rev().find_map(kind).unwrap_or_default()
}

fn paint(page: &mut String, code: &str, class: &str) {
    if class.is_empty() || code.trim().is_empty() {
        return text(page, code);
    }
    page.push_str("<span class=\"");
    page.push_str(class);
    page.push_str("\">");
    text(page, code);
    page.push_str("</span>");
}

fn find(language: &str) -> Option<&'static SyntaxReference> {
    let language = language.to_ascii_lowercase();
    // Near relatives of those that there are.
    let name = match &*language {
        "ts" | "tsx" | "mts" | "cts" | "jsx" | "mjs" | "cjs" | "typescript" => "js",
        "console" | "shell" | "shell-session" | "zsh" | "fish" => "bash",
        "jsonc" | "json5" | "jsonl" => "json",
        "golang" => "go",
        "vue" | "svelte" => "html",
        other => other,
    };
    LANGUAGES
        .find_syntax_by_token(name)
        .filter(|found| !std::ptr::eq(*found, LANGUAGES.find_syntax_plain_text()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn coloured(language: &str, code: &str) -> String {
        let mut page = String::new();
        Colours::default().put(&mut page, language, code);
        page
    }

    #[test]
    fn code_has_colours_and_stays_what_it_is() {
        assert_eq!(
            coloured("rs", "let a = \"<b>\"; // x"),
            "<span class=\"k\">let</span> a = <span class=\"s\">&quot;&lt;b&gt;&quot;</span>; <span class=\"c\">// x</span>"
        );
        assert_eq!(coloured("", "let a"), "let a");
        assert_eq!(coloured("no such language", "let <a>"), "let &lt;a&gt;");
    }

    #[test]
    fn what_is_too_much_has_none() {
        let line = "let a = 1;\n";
        assert!(coloured("rs", &line.repeat(10)).contains("<span"));
        assert!(!coloured("rs", &line.repeat(PIECE / line.len() + 1)).contains("<span"));
        assert!(!coloured("rs", &format!("{}\nlet b", "a".repeat(LINE + 1))).contains("<span"));
        let mut colours = Colours { given: ALL };
        let mut page = String::new();
        colours.put(&mut page, "rs", line);
        assert!(!page.contains("<span"));
    }
}
