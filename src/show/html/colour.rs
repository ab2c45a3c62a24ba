//! Colours of code: the grammars are Sublime Text's. How much is coloured is bounded, for it takes longer than all the rest.

use std::collections::HashMap;
use std::str::FromStr;
use std::sync::LazyLock;

use syntect::parsing::{ParseState, Scope, ScopeStack, SyntaxSet};

use super::markup::text;

/// A piece of code that is longer has no colours.
const PIECE: usize = 24 << 10;
/// A line that is longer ends the colours of its piece.
const LINE: usize = 1 << 10;
/// So much code of a page has colours, not counting lines that come again.
const ALL: usize = 128 << 10;

/// The grammars of so many megabytes, about, are held at a time; [`weight`] says what one takes.
const HELD: usize = 50;
/// So often a grammar is compiled, which takes 10 to 100 ms. Lines that are known by then keep their colours.
const COMPILED: usize = 16;

/// What languages there are. Nothing is read with it, for what a grammar compiles is let go with its set alone.
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
    grammars: Grammars,
    /// The states between lines that there were.
    states: Vec<State>,
    /// Those in which texts begin.
    beginnings: HashMap<Language, usize>,
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

/// The place in a text, which a grammar compiled anew understands as well.
#[derive(Clone, Debug, PartialEq)]
struct State {
    language: Language,
    parse: ParseState,
    scopes: ScopeStack,
}

/// Which of [`LANGUAGES`].
type Language = usize;

/// The grammars that lines were read with last, each in a set of its own, the latest first.
#[derive(Debug, Default)]
struct Grammars {
    held: Vec<(Language, SyntaxSet)>,
    compiled: usize,
}

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
        Painter(find(language).and_then(|language| self.beginning(language)))
    }

    /// The state in which a text begins.
    fn beginning(&mut self, language: Language) -> Option<usize> {
        if let Some(known) = self.beginnings.get(&language) {
            return Some(*known);
        }
        let set = self.grammars.of(language)?;
        let parse = ParseState::new(&set.syntaxes()[language]);
        let state = State {
            language,
            parse,
            scopes: ScopeStack::new(),
        };
        let state = self.state(state);
        self.beginnings.insert(language, state);
        Some(state)
    }

    /// Which of the states it is.
    fn state(&mut self, state: State) -> usize {
        self.states.iter().position(|known| *known == state).unwrap_or_else(|| {
            self.states.push(state);
            self.states.len() - 1
        })
    }

    /// What a line is in that state, if it is known or its grammar may be compiled.
    fn line(&mut self, line: &str, before: usize) -> Option<&Known> {
        let is = |known: &Known| known.before == before;
        let at = match self.known.get(line).and_then(|known| known.iter().position(is)) {
            Some(at) => at,
            None => {
                let state = self.states[before].clone();
                let (pieces, after) = pieces(line, state, self.grammars.of(self.states[before].language)?);
                self.given += line.len() + 1;
                let after = after.map(|state| self.state(state));
                let known = self.known.entry(line.to_owned()).or_default();
                known.push(Known { before, pieces, after });
                known.len() - 1
            }
        };
        Some(&self.known[line][at])
    }
}

impl Grammars {
    /// The set in which this language is compiled as it is needed; none if that was done too often.
    fn of(&mut self, language: Language) -> Option<&SyntaxSet> {
        match self.held.iter().position(|(held, _)| *held == language) {
            Some(at) => self.held[..=at].rotate_right(1),
            None if self.compiled == COMPILED => return None,
            None => {
                self.compiled += 1;
                let mut taken = weight(language);
                let fits = |(held, _): &&(Language, SyntaxSet)| {
                    taken += weight(*held);
                    taken <= HELD
                };
                let kept = self.held.iter().take_while(fits).count();
                self.held.truncate(kept);
                self.held.insert(0, (language, SyntaxSet::load_defaults_newlines()));
            }
        }
        Some(&self.held[0].1)
    }
}

impl Painter {
    /// Puts a line on the page.
    pub(super) fn line(&mut self, page: &mut String, line: &str, colours: &mut Colours) {
        let state = self.0.take().filter(|_| line.len() <= LINE);
        let Some(known) = state.and_then(|state| colours.line(line, state)) else {
            return text(page, line);
        };
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
fn pieces(line: &str, mut state: State, grammar: &SyntaxSet) -> (Vec<(usize, &'static str)>, Option<State>) {
    let mut pieces = Vec::new();
    let Ok(changes) = state.parse.parse_line(&format!("{line}\n"), grammar) else {
        return (pieces, None);
    };
    for (at, change) in changes {
        add(&mut pieces, at.min(line.len()), class_of(&state.scopes));
        if state.scopes.apply(&change).is_err() {
            return (pieces, None);
        }
    }
    add(&mut pieces, line.len(), class_of(&state.scopes));
    (pieces, Some(state))
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

/// The megabytes that a compiled grammar takes at the most, read with tens of kilobytes of real code.
fn weight(language: Language) -> usize {
    match &*LANGUAGES.syntaxes()[language].name {
        "C++" | "Objective-C++" | "Scala" => 30,
        "ASP" | "C#" | "JavaScript" | "Lisp" => 18,
        name if name.starts_with("HTML") => 18,
        "Diff" | "JSON" | "Makefile" | "XML" | "YAML" => 4,
        _ => 13,
    }
}

fn find(language: &str) -> Option<Language> {
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
    let found = match &*LANGUAGES.find_syntax_by_token(name)?.name {
        // Little would have a colour, for 20 MB.
        "Markdown" | "MultiMarkdown" | "Plain Text" => return None,
        // Their own grammars take 75 MB.
        "PHP" | "PHP Source" => "JavaScript",
        found => found,
    };
    LANGUAGES.syntaxes().iter().position(|language| language.name == found)
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
    fn few_grammars_are_held() {
        let mut colours = Colours::default();
        let mut put = |language: &str, code: &str| {
            let mut page = String::new();
            colours.put(&mut page, language, code);
            let grammars = &colours.grammars;
            let held: Vec<_> = grammars.held.iter().map(|(language, _)| weight(*language)).collect();
            assert!(held.iter().sum::<usize>() <= HELD && grammars.compiled <= COMPILED, "{held:?}");
            (page, held.len())
        };
        let (comment, _) = put("cpp", "/* a\nb */");
        assert!(comment.ends_with("<span class=\"c\">b */</span>"), "{comment}");
        let mut coloured = |code: &str| {
            let all = LANGUAGES.syntaxes().iter().map(|language| put(&language.name, code));
            let all: Vec<_> = all.map(|(page, held)| (page.contains("<span"), held)).collect();
            (all.iter().filter(|(coloured, _)| *coloured).count(), all[0].1)
        };
        assert!(coloured("\"a\"").0 > 8);
        // By then none is compiled any more. Those that are held read on.
        let (coloured, held) = coloured("\"b\"");
        assert!(coloured > 0 && coloured <= held, "{coloured} of {held}");
        // What is known is not read again.
        assert_eq!(put("cpp", "/* a\nb */").0, comment);
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
