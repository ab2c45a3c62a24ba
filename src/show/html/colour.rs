//! Colours of code: the grammars are Sublime Text's. How much is coloured is bounded, for it takes longer than all the rest.

use std::collections::HashMap;
use std::str::FromStr;
use std::sync::LazyLock;

use syntect::parsing::{ParseState, Scope, ScopeStack, SyntaxReference, SyntaxSet};

use super::markup::text;

/// A piece of code that is longer has no colours.
const PIECE: usize = 24 << 10;
/// A line that is longer ends the colours of its piece.
const LINE: usize = 1 << 10;
/// So much code of a page has colours, not counting lines that come again.
const ALL: usize = 128 << 10;

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
    /// So much was looked at.
    given: usize,
    /// The states between lines that there were.
    states: Vec<State>,
    /// The lines that were looked at. Agents read a file, change it and read it again.
    known: HashMap<String, Vec<Known>>,
}

/// What a line is in one state.
#[derive(Debug)]
struct Known {
    /// Which of the states.
    before: usize,
    /// Where each piece ends, and its class.
    pieces: Vec<(usize, &'static str)>,
    after: Option<usize>,
}

type State = (ParseState, ScopeStack);

/// A text in a language, line by line: the state that it is in.
#[derive(Clone, Debug, Default)]
pub(super) struct Painter(Option<usize>);

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
        if language.is_empty() || size > PIECE || self.given >= ALL {
            return Painter(None);
        }
        let state = find(language).map(|language| (ParseState::new(language), ScopeStack::new()));
        Painter(state.map(|state| self.state(state)))
    }

    /// Which of the states it is.
    fn state(&mut self, state: State) -> usize {
        self.states.iter().position(|known| *known == state).unwrap_or_else(|| {
            self.states.push(state);
            self.states.len() - 1
        })
    }

    /// What a line is in that state.
    fn line(&mut self, line: &str, before: usize) -> &Known {
        let found = self
            .known
            .get(line)
            .and_then(|known| known.iter().position(|known| known.before == before));
        let at = found.unwrap_or_else(|| {
            self.given += line.len() + 1;
            let (pieces, after) = pieces(line, self.states[before].clone());
            let after = after.map(|state| self.state(state));
            let known = self.known.entry(line.to_owned()).or_default();
            known.push(Known { before, pieces, after });
            known.len() - 1
        });
        &self.known[line][at]
    }
}

impl Painter {
    /// Puts a line on the page.
    pub(super) fn line(&mut self, page: &mut String, line: &str, colours: &mut Colours) {
        let Some(state) = self.0.take().filter(|_| line.len() <= LINE) else {
            return text(page, line);
        };
        let known = colours.line(line, state);
        let mut from = 0;
        for (end, class) in &known.pieces {
            paint(page, &line[from..*end], class);
            from = *end;
        }
        text(page, &line[from..]);
        self.0 = known.after;
    }
}

/// The pieces of a line, and the state behind it. What the grammar cannot read has no colours from there on.
fn pieces(line: &str, (mut state, mut scopes): State) -> (Vec<(usize, &'static str)>, Option<State>) {
    let mut pieces = Vec::new();
    let Ok(changes) = state.parse_line(&format!("{line}\n"), &LANGUAGES) else {
        return (pieces, None);
    };
    for (at, change) in changes {
        add(&mut pieces, at.min(line.len()), class_of(&scopes));
        if scopes.apply(&change).is_err() {
            return (pieces, None);
        }
    }
    add(&mut pieces, line.len(), class_of(&scopes));
    (pieces, Some((state, scopes)))
}

/// What has the same colour stands in one element.
fn add(pieces: &mut Vec<(usize, &'static str)>, end: usize, class: &'static str) {
    match pieces.last_mut() {
        Some((last, of)) if *of == class => *last = end,
        last if last.as_ref().map_or(0, |(last, _)| *last) == end => {}
        _ => pieces.push((end, class)),
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
    fn a_line_that_comes_again_is_known() {
        let code = "let a = 1;\n/* let a = 1;\nlet a = 1;\n*/ let a = 1;\n";
        let (mut colours, mut once, mut twice) = (Colours::default(), String::new(), String::new());
        colours.put(&mut once, "rs", code);
        let given = colours.given;
        colours.put(&mut twice, "rs", code);
        assert_eq!((&twice, colours.given), (&once, given));
        // The same line is another one in a comment.
        assert_eq!(once.matches("<span class=\"k\">let</span>").count(), 2, "{once}");
        assert!(once.contains("\n<span class=\"c\">let a = 1;</span>\n"), "{once}");
    }

    #[test]
    fn what_is_too_much_has_none() {
        let line = "let a = 1;\n";
        assert!(coloured("rs", &line.repeat(10)).contains("<span"));
        assert!(!coloured("rs", &line.repeat(PIECE / line.len() + 1)).contains("<span"));
        assert!(!coloured("rs", &format!("{}\nlet b", "a".repeat(LINE + 1))).contains("<span"));
        let mut colours = Colours {
            given: ALL,
            ..Colours::default()
        };
        let mut page = String::new();
        colours.put(&mut page, "rs", line);
        assert!(!page.contains("<span"));
    }
}
