//! What is different between two sessions, as a page.

use std::fmt::Write as _;
use std::time::Duration;

use similar::TextDiff;

use super::colour::Colours;
use super::frame::{BAR, Served, frame};
use super::markup::{put, text};
use super::{diff, markup};
use crate::show::Cut;
use crate::show::compare::{Difference, Step, Thing};
use crate::show::words::first_line;

/// Longer is not looked for what two texts have in common; then all of both is shown.
const PATIENCE: Duration = Duration::from_millis(500);

impl Difference {
    /// As a page for a browser: one file, or what a server gives.
    pub fn html(&self, cut: Cut, served: Option<&Served>) -> String {
        let (bar, _) = BAR.split_once("<nav id=\"outline\"").unwrap_or((BAR, ""));
        let bar = bar.replace("Skip to the session", "Skip to the comparison").replace(
            "id=\"failure\">Next failure",
            "id=\"failure\" data-none=\"Nothing is different\">Next difference",
        );
        let mut page = frame("Comparison of two sessions", " class=\"plain\"", &bar, served);
        self.head(&mut page);
        if self.is_empty() {
            page.push_str("<p class=\"row\">They are the same.</p>\n");
        }
        let mut colours = Colours::default();
        let mut steps = self.steps.iter().peekable();
        while let Some(step) = steps.next() {
            if let Step::Same(n) = step {
                let things = if *n == 1 { "thing is" } else { "things are" };
                put!(page, "<p class=\"row quiet\">{n} {things} the same</p>\n");
                continue;
            }
            let mut sides: [Vec<&Thing>; 2] = Default::default();
            let mut at = Some(step);
            while let Some(Step::Only(side, thing)) = at {
                sides[*side].push(thing);
                at = steps.next_if(|next| matches!(next, Step::Only(..)));
            }
            for (old, new) in pairs(&sides) {
                change(&mut page, old, new, cut, &mut colours);
            }
        }
        page.push_str("</main>\n</body>\n</html>\n");
        page
    }

    fn head(&self, page: &mut String) {
        page.push_str(
            "<header class=\"session\">\n<h1>Comparison of two sessions</h1>\n<table class=\"figures\">\n<thead><tr><th scope=\"col\">Figure</th>",
        );
        for (side, name) in ["First", "Second"].iter().zip(&self.names) {
            put!(page, "<th scope=\"col\">{side}: <code>");
            text(page, name);
            page.push_str("</code></th>");
        }
        page.push_str("</tr></thead>\n<tbody>\n");
        for (name, values) in self.rows() {
            put!(page, "<tr><th scope=\"row\">{name}</th>");
            for value in &values {
                page.push_str("<td>");
                text(page, value);
                page.push_str("</td>");
            }
            page.push_str("</tr>\n");
        }
        for (file, lines) in self.files() {
            page.push_str("<tr><th scope=\"row\"><code>");
            text(page, file);
            page.push_str("</code></th>");
            for lines in lines {
                match lines {
                    Some((added, removed)) => put!(
                        page,
                        "<td><span class=\"added\">+{added}</span> <span class=\"removed\">−{removed}</span></td>"
                    ),
                    None => page.push_str("<td>–</td>"),
                }
            }
            page.push_str("</tr>\n");
        }
        page.push_str("</tbody>\n</table>\n</header>\n");
    }
}

/// Which things stand in each other's place: those of one kind, calls of one tool, in their order.
fn pairs<'t>([olds, news]: &[Vec<&'t Thing>; 2]) -> Vec<(Option<&'t Thing>, Option<&'t Thing>)> {
    let verb = |thing: &Thing| thing.line.split(' ').next().map(str::to_owned).filter(|_| thing.kind == "call");
    let (mut pairs, mut next) = (Vec::new(), 0);
    for &old in olds {
        let fits = |new: &&Thing| new.kind == old.kind && verb(new) == verb(old);
        match news[next..].iter().position(fits) {
            Some(at) => {
                pairs.extend(news[next..next + at].iter().map(|&new| (None, Some(new))));
                pairs.push((Some(old), Some(news[next + at])));
                next += at + 1;
            }
            None => pairs.push((Some(old), None)),
        }
    }
    pairs.extend(news[next..].iter().map(|&new| (None, Some(new))));
    pairs
}

fn change(page: &mut String, old: Option<&Thing>, new: Option<&Thing>, cut: Cut, colours: &mut Colours) {
    let Some(thing) = old.or(new) else { return };
    let whole = |thing: &Thing| {
        let mut whole = format!("{}\n", thing.line);
        if !thing.more.is_empty() {
            whole.push_str(&thing.more);
            whole.push('\n');
        }
        whole
    };
    let signed = |sign: char, thing: &Thing| whole(thing).lines().map(|line| format!("{sign}{line}\n")).collect::<String>();
    let (word, change) = match (old, new) {
        (Some(old), Some(new)) => {
            let (old, new) = (whole(old), whole(new));
            let mut found = TextDiff::configure();
            let found = found.timeout(PATIENCE).diff_lines(&*old, &*new);
            ("changed", found.unified_diff().context_radius(3).to_string())
        }
        (Some(old), None) => ("in the first alone", signed('-', old)),
        (None, Some(new)) => ("in the second alone", signed('+', new)),
        (None, None) => return,
    };
    put!(
        page,
        "<details class=\"row change{}\" open>\n<summary><b>{}</b> <code>",
        markup::indent(thing.depth),
        thing.kind
    );
    markup::short(page, first_line(&thing.line).0);
    put!(page, "</code> <span class=\"quiet\">{word}</span></summary>\n<div class=\"body\">\n");
    diff::put(page, &change, "", cut.diff(), colours);
    page.push_str("</div>\n</details>\n");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn things_of_a_kind_stand_in_each_other_s_place() {
        let thing = |kind, line: &str| Thing {
            kind,
            depth: 0,
            line: line.to_owned(),
            more: String::new(),
        };
        let olds = [thing("call", "Read a"), thing("answer", "x"), thing("call", "Edit a")];
        let news = [thing("call", "Bash b"), thing("call", "Read b"), thing("answer", "y")];
        let sides = [olds.iter().collect(), news.iter().collect()];
        let lines: Vec<_> = pairs(&sides)
            .into_iter()
            .map(|(old, new)| (old.map_or("", |old| &old.line), new.map_or("", |new| &new.line)))
            .collect();
        assert_eq!(lines, [("", "Bash b"), ("Read a", "Read b"), ("x", "y"), ("Edit a", "")]);
    }
}
