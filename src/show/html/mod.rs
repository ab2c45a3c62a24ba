//! A page for a browser: one file that asks for nothing else. What a log says stands in it as data: every text of a log goes through
//! [`text`], and what would be markup or a script of it is shown as it is written. Should something get through after all, the policy of
//! the page lets no script run but its own, and nothing be fetched.
//!
//! The page is written as rows come. What is folded at first and long stands in `<template>` elements, of which a browser makes nothing
//! until it is unfolded; the outline is made by the page's script.

#[cfg_attr(not(feature = "colours"), path = "colourless.rs")]
mod colour;
mod compare;
mod diff;
mod frame;
mod markdown;
mod markup;

use std::fmt::Write as _;
use std::io;

use chrono::{DateTime, SecondsFormat};

use self::colour::Colours;
use self::frame::{BAR, frame};
pub use self::frame::{STYLE, Served, policy};
#[cfg(feature = "view")]
pub(crate) use self::markup::text as escaped;
use self::markup::{count, ending, folded, indent, late, lines, piece, plain, put, short, shows, text};
use super::piece::Picture;
use super::row::{By, Ended, Head, Row, State, What};
use super::text::Look;
use super::words::{clock, duration, figures, first_line, outcome, shown};
use super::{Cut, Out, Page};

/// A page of HTML.
pub struct HtmlPage<'w> {
    out: Out<'w>,
    look: Look,
    begun: bool,
    sessions: u64,
    /// The name of the turn that is open, to link to.
    turn: Option<String>,
    calls: u64,
    colours: Colours,
    served: Option<Served>,
}

impl std::fmt::Debug for HtmlPage<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("HtmlPage").field("look", &self.look).finish_non_exhaustive()
    }
}

impl<'w> HtmlPage<'w> {
    /// An empty one. Of how text is shown, widths and colours mean nothing here.
    pub fn new(out: Out<'w>, look: Look) -> Self {
        Self {
            out,
            look,
            begun: false,
            sessions: 0,
            turn: None,
            calls: 0,
            colours: Colours::default(),
            served: None,
        }
    }

    /// It comes from a server.
    #[must_use]
    pub fn served(mut self, served: Served) -> Self {
        self.served = Some(served);
        self
    }

    /// Only the rows, for a page that is there already.
    #[must_use]
    pub const fn part(mut self) -> Self {
        self.begun = true;
        self
    }

    /// What stands above everything else.
    fn begin(&mut self, head: Option<&Head<'_>>) -> io::Result<()> {
        if std::mem::replace(&mut self.begun, true) {
            return Ok(());
        }
        let mut title = String::new();
        match head.and_then(|head| head.id) {
            Some(id) => text(&mut title, &format!("Session {id}")),
            None => title.push_str("Session"),
        }
        self.out.write_all(frame(&title, "", BAR, self.served.as_ref()).as_bytes())
    }

    /// The turn that is open ends here.
    fn close(&mut self) -> io::Result<()> {
        if self.turn.take().is_some() {
            self.out.write_all(b"</section>\n")
        } else {
            Ok(())
        }
    }

    fn session(&mut self, head: &Head<'_>) -> io::Result<()> {
        self.close()?;
        self.sessions += 1;
        let mut page = String::from("<header class=\"session\">\n<h1>Session <code>");
        text(&mut page, head.id.unwrap_or("without an id"));
        page.push_str("</code></h1>\n");
        if let Some(facts) = head.facts {
            let facts = [
                ("Model", &facts.model),
                ("Folder", &facts.cwd),
                ("Mode", &facts.permission_mode),
                ("Version", &facts.version),
            ];
            let known: Vec<_> = facts.iter().filter_map(|(name, fact)| Some((name, fact.as_deref()?))).collect();
            if !known.is_empty() {
                page.push_str("<dl>");
                for (name, fact) in known {
                    put!(page, "<div><dt>{name}</dt><dd>");
                    text(&mut page, fact);
                    page.push_str("</dd></div>");
                }
                page.push_str("</dl>\n");
            }
        }
        page.push_str("</header>\n");
        self.out.write_all(page.as_bytes())
    }

    fn turn(&mut self, number: u64, started: Option<&agentglot_adapters::events::Time>) -> io::Result<()> {
        self.close()?;
        self.calls = 0;
        // The turns of each session are counted from 1.
        let name = if self.sessions > 1 {
            format!("session-{}-turn-{number}", self.sessions)
        } else {
            format!("turn-{number}")
        };
        let mut page = format!("<section class=\"turn\" id=\"{name}\" aria-labelledby=\"{name}-title\">\n");
        put!(page, "<h2 id=\"{name}-title\"><a class=\"anchor\" href=\"#{name}\">Turn {number}</a>");
        if let Some((time, shown)) = started.and_then(|time| Some((time.millis()?, clock(time, self.look.utc)?))) {
            let time = DateTime::from_timestamp_millis(time).map(|time| time.to_rfc3339_opts(SecondsFormat::Millis, true));
            put!(page, " <time datetime=\"{}\">{shown}</time>", time.unwrap_or_default());
        }
        page.push_str("</h2>\n");
        self.turn = Some(name);
        self.out.write_all(page.as_bytes())
    }

    fn prompt(&self, page: &mut String, depth: usize, said: &str, by: By, pictures: &[Picture]) {
        let name = match by {
            By::User => "Prompt",
            By::Parent => "Task",
            By::Program => {
                // What the program adds is no news but for the model.
                let title = |page: &mut String| page.push_str("From the agent's program");
                return folded(page, &format!("row program{}", indent(depth)), false, title, &plain("", said));
            }
        };
        put!(
            page,
            "<div class=\"row prompt{}\">\n<h3 class=\"who\">{name}</h3>\n<div class=\"said\">",
            indent(depth)
        );
        text(page, said.trim());
        page.push_str("</div>\n");
        shows(page, pictures);
        page.push_str("</div>\n");
    }

    fn answer(&mut self, page: &mut String, depth: usize, said: &str, retracted: bool) {
        let (class, name) = if retracted {
            (" retracted", "Answer, taken back")
        } else {
            ("", "Answer")
        };
        put!(
            page,
            "<div class=\"row answer{class}{}\">\n<h3 class=\"who\">{name}</h3>\n<div class=\"markdown\">\n",
            indent(depth)
        );
        markdown::put(page, said, &mut self.colours);
        page.push_str("</div>\n</div>\n");
    }

    fn thinking(&self, page: &mut String, depth: usize, thought: &str, subject: Option<&str>) {
        let thought = thought.trim();
        let title = |page: &mut String| {
            page.push_str("Thinking");
            if let Some(subject) = subject {
                page.push_str(": ");
                text(page, first_line(subject).0);
            }
            count(page, thought.lines().count());
        };
        if thought.is_empty() {
            put!(page, "<p class=\"row quiet{}\">", indent(depth));
            title(page);
            page.push_str("</p>\n");
            return;
        }
        let class = format!("row thinking{}", indent(depth));
        folded(page, &class, self.look.thinking, title, &plain("", thought));
    }

    fn call(&mut self, page: &mut String, row: &Row<'_>) {
        let What::Call { call, deed, state, ms } = &row.what else { return };
        self.calls += 1;
        let diff = deed.diff.as_deref().filter(|_| state.is_fine());
        let open = diff.is_some() || !state.is_fine();
        let (mark, class) = match state {
            State::Done => ("●", "fine"),
            State::Open => ("○", "open"),
            _ => ("✗", "bad"),
        };
        let name = format!("{}-call-{}", self.turn.as_deref().unwrap_or("outside"), self.calls);
        put!(
            page,
            "<details class=\"row call {class}{}\" id=\"{name}\"{}>\n<summary><span class=\"mark\" aria-hidden=\"true\">{mark}</span> <b>",
            indent(row.depth),
            if open { " open" } else { "" }
        );
        text(page, &deed.verb.replace('\n', " "));
        page.push_str("</b>");
        let (object, more) = first_line(&deed.object);
        if !object.is_empty() {
            page.push_str(" <code>");
            short(page, object);
            page.push_str("</code>");
        }
        if more > 0 {
            put!(page, " <span class=\"quiet\">(+{more} {})</span>", lines(more));
        }
        if let Some(detail) = &deed.detail {
            page.push_str(" <span class=\"quiet\">");
            short(page, &detail.replace('\n', " "));
            page.push_str("</span>");
        }
        if let Some((added, removed)) = deed.lines.filter(|_| deed.diff.is_some()) {
            put!(page, " <span class=\"added\">+{added}</span> <span class=\"removed\">−{removed}</span>");
        }
        let exit = deed.exit.filter(|code| *code != 0);
        if let Some(code) = exit {
            put!(page, " <span class=\"fault\">exit {code}</span>");
        }
        if !state.is_fine() && exit.is_none() {
            put!(page, " <span class=\"fault\">{}</span>", state.word());
        } else if *state == State::Open {
            put!(page, " <span class=\"quiet\">{}</span>", state.word());
        }
        if let Some(ms) = ms.filter(|ms| *ms > 0) {
            put!(page, " <span class=\"quiet\">{}</span>", duration(ms));
        }
        page.push_str("</summary>\n");

        let mut body = format!("<div class=\"body\">\n<a class=\"anchor\" href=\"#{name}\" aria-label=\"Link to this call\">#</a>\n");
        let most = if open { self.look.cut } else { Cut::NONE };
        if more > 0 {
            let language = if deed.exit.is_some() || deed.verb == "Bash" { "bash" } else { "" };
            self.code(&mut body, "Asked for", language, deed.object.trim(), Cut::NONE.lines);
        }
        if let Some(diff) = diff {
            diff::put(
                &mut body,
                diff,
                deed.file.as_deref().unwrap_or(&deed.object),
                most.diff(),
                &mut self.colours,
            );
        }
        if !deed.output.trim().is_empty() {
            let language = if deed.verb == "Read" { ending(object) } else { "" };
            self.code(&mut body, "Output", language, &deed.output, most.lines);
        }
        let result = call.result.as_ref();
        shows(&mut body, &result.map(|result| Picture::of_content(&result.content)).unwrap_or_default());
        let input = call.input.as_str();
        if input.len() > 2 {
            folded(&mut body, "input", false, |page| page.push_str("Arguments"), &plain("", input));
        }
        body.push_str("</div>\n");
        late(page, &body, open);
        page.push_str("</details>\n");
    }

    /// A text that may be copied; what is cut off may be unfolded.
    fn code(&mut self, page: &mut String, title: &str, language: &str, code: &str, most: usize) {
        let code = shown(code);
        let (head, hidden) = Cut::of(&code, most);
        let code = code.trim_end_matches('\n');
        // The cut ends a line.
        let end = if hidden == 0 {
            code.len()
        } else {
            code.match_indices('\n').nth(head.len() - 1).map_or(code.len(), |(at, _)| at)
        };
        piece(page, title);
        page.push_str("<pre>\n");
        self.colours.put(page, language, &code[..end]);
        page.push_str("</pre>\n");
        if hidden > 0 {
            let title = |page: &mut String| put!(page, "{hidden} more {}", lines(hidden));
            folded(page, "more", false, title, &plain("", code[end..].trim_start_matches('\n')));
        }
        page.push_str("</div>\n");
    }

    fn outcome(&self, page: &mut String, ended: &Ended<'_>) {
        let (word, why) = outcome(ended);
        let fine = ended.outcome.is_some_and(|outcome| !outcome.is_error);
        let (mark, class) = if fine { ("✓", "fine") } else { ("✗", "bad") };
        put!(
            page,
            "<div class=\"row outcome {class}\">\n<p><span class=\"mark\" aria-hidden=\"true\">{mark}</span> <b>"
        );
        text(page, &word);
        page.push_str("</b>");
        for figure in figures(ended) {
            put!(page, " · {figure}");
        }
        page.push_str("</p>\n");
        if let Some(why) = why {
            page.push_str("<p class=\"said\">");
            text(page, &why);
            page.push_str("</p>\n");
        }
        page.push_str("</div>\n");
    }
}

impl Page for HtmlPage<'_> {
    fn row(&mut self, row: &Row<'_>) -> io::Result<()> {
        let head = if let What::Session(head) = &row.what { Some(head) } else { None };
        self.begin(head)?;
        let page = &mut String::new();
        let depth = row.depth;
        match &row.what {
            What::Session(head) => return self.session(head),
            What::Turn { started } => return self.turn(row.turn, *started),
            What::Prompt { text, by, content } => self.prompt(page, depth, text, *by, &Picture::of_content(content)),
            What::Answer { text, retracted } => self.answer(page, depth, text, *retracted),
            What::Thinking { text, subject } => self.thinking(page, depth, text, *subject),
            What::Call { .. } => self.call(page, row),
            What::Permission { name, allowed, message } => {
                let (answer, class) = match allowed {
                    Some(true) => ("allowed", ""),
                    Some(false) => ("refused", " fault"),
                    None => ("asked", ""),
                };
                put!(page, "<p class=\"row quiet{class}{}\">Permission: ", indent(depth));
                text(page, name);
                put!(page, " {answer}");
                if let Some(message) = message {
                    page.push_str(": ");
                    text(page, message);
                }
                page.push_str("</p>\n");
            }
            What::Notice { name, text: said, fault } => {
                put!(page, "<p class=\"row quiet{}{}\">", if *fault { " fault" } else { "" }, indent(depth));
                text(page, name);
                if !said.is_empty() {
                    page.push_str(": ");
                    text(page, said);
                }
                page.push_str("</p>\n");
            }
            What::Raw { name, text: said, piece } => {
                let class = format!("row raw{}", indent(depth));
                let picture: Vec<Picture> = piece.and_then(Picture::of_piece).into_iter().collect();
                if said.trim().is_empty() {
                    put!(page, "<div class=\"{class}\"><p class=\"quiet\">");
                    text(page, name);
                    page.push_str("</p>\n");
                    shows(page, &picture);
                    page.push_str("</div>\n");
                } else {
                    let title = |page: &mut String| {
                        text(page, name);
                        count(page, said.lines().count());
                    };
                    shows(page, &picture);
                    folded(page, &class, false, title, &plain("", said));
                }
            }
            What::Damage { text: why } => {
                page.push_str("<p class=\"row damage\"><span class=\"mark\" aria-hidden=\"true\">!</span> cannot be read: ");
                text(page, why);
                page.push_str("</p>\n");
            }
            What::Outcome(ended) => self.outcome(page, ended),
        }
        self.out.write_all(page.as_bytes())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }

    fn end(&mut self) -> io::Result<()> {
        let empty = !self.begun;
        self.begin(None)?;
        self.close()?;
        if empty {
            self.out.write_all(b"<p class=\"row quiet\">There is nothing to show.</p>\n")?;
        }
        self.out.write_all(b"</main>\n</body>\n</html>\n")?;
        self.flush()
    }
}
