//! Charts as SVG, each with its numbers as a table below it.

use std::fmt::Write as _;

use crate::show::escaped;

/// A chart of bars: what is counted, and for each name the values of its series.
#[derive(Debug)]
pub(super) struct Chart<'c> {
    pub(super) title: &'c str,
    /// What a name is.
    pub(super) word: &'c str,
    /// The series, which stand behind each other in one bar.
    pub(super) series: &'c [&'c str],
    pub(super) bars: Vec<(String, Vec<f64>)>,
    /// How a value is said.
    pub(super) said: fn(f64) -> String,
    /// More numbers of each name, for the table alone.
    pub(super) more: Vec<&'c str>,
    pub(super) rest: Vec<Vec<String>>,
}

const LABEL: usize = 190;
const WIDTH: usize = 560;
const ROW: usize = 20;
/// So many letters of a name have room.
const LETTERS: usize = 26;

impl Chart<'_> {
    /// Puts it on a page.
    pub(super) fn put(&self, page: &mut String) {
        let all = |values: &[f64]| values.iter().sum::<f64>();
        let most = self.bars.iter().map(|(_, values)| all(values)).fold(0.0, f64::max);
        let height = self.bars.len() * ROW + 4;
        // A `String` takes everything.
        let _ = write!(page, "<figure>\n<figcaption><h2>{}</h2>", self.title);
        if self.series.len() > 1 {
            page.push_str("<p class=\"key\">");
            for (n, series) in self.series.iter().enumerate() {
                let _ = write!(
                    page,
                    "<span><svg width=\"12\" height=\"12\" aria-hidden=\"true\"><rect class=\"s{n}\" width=\"12\" height=\"12\"/></svg> {series}</span> "
                );
            }
            page.push_str("</p>");
        }
        let _ = write!(
            page,
            "</figcaption>\n<svg role=\"img\" aria-label=\"{}: the numbers stand in the table below\" viewBox=\"0 0 {} {height}\" width=\"{}\" height=\"{height}\">\n",
            self.title,
            LABEL + WIDTH + 130,
            LABEL + WIDTH + 130,
        );
        for (n, (name, values)) in self.bars.iter().enumerate() {
            let y = n * ROW + 2;
            let _ = write!(page, "<text class=\"name\" x=\"{}\" y=\"{}\">", LABEL - 8, y + 14);
            escaped(page, &short(name));
            page.push_str("</text>");
            let mut x = LABEL as f64;
            for (at, value) in values.iter().enumerate() {
                let wide = if most > 0.0 { value / most * WIDTH as f64 } else { 0.0 };
                if wide > 0.0 {
                    let _ = write!(
                        page,
                        "<rect class=\"s{at}\" x=\"{x:.1}\" y=\"{y}\" width=\"{wide:.1}\" height=\"{}\"><title>",
                        ROW - 4
                    );
                    escaped(page, &format!("{name}: {} {}", (self.said)(*value), self.series.get(at).unwrap_or(&"")));
                    page.push_str("</title></rect>");
                }
                x += wide;
            }
            let _ = write!(page, "<text x=\"{:.1}\" y=\"{}\">", x + 6.0, y + 14);
            escaped(page, &(self.said)(all(values)));
            page.push_str("</text>\n");
        }
        page.push_str("</svg>\n");
        self.table(page);
        page.push_str("</figure>\n");
    }

    fn table(&self, page: &mut String) {
        // A `String` takes everything.
        let _ = write!(
            page,
            "<details><summary>Numbers: {}</summary>\n<table class=\"figures\">\n<thead><tr><th scope=\"col\">{}</th>",
            self.title, self.word
        );
        for name in self.series.iter().chain(&self.more) {
            let _ = write!(page, "<th scope=\"col\">{name}</th>");
        }
        page.push_str("</tr></thead>\n<tbody>\n");
        for (at, (name, values)) in self.bars.iter().enumerate() {
            page.push_str("<tr><th scope=\"row\">");
            escaped(page, name);
            page.push_str("</th>");
            let values = values.iter().map(|value| (self.said)(*value));
            for value in values.chain(self.rest.get(at).cloned().unwrap_or_default()) {
                page.push_str("<td>");
                escaped(page, &value);
                page.push_str("</td>");
            }
            page.push_str("</tr>\n");
        }
        page.push_str("</tbody>\n</table>\n</details>\n");
    }
}

/// The end of a name that is long: what paths differ in.
fn short(name: &str) -> String {
    let letters = name.chars().count();
    match name.char_indices().nth(letters.saturating_sub(LETTERS)) {
        Some((at, _)) if at > 0 => format!("…{}", &name[at..]),
        _ => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_text_and_no_bar_is_longer_than_there_is_room() {
        let chart = Chart {
            title: "Tokens",
            word: "day",
            series: &["in", "out"],
            bars: vec![("<script>".to_owned(), vec![3.0, 1.0]), ("é".repeat(100), vec![0.0, 0.0])],
            said: |value| format!("{value}"),
            more: Vec::new(),
            rest: Vec::new(),
        };
        let mut page = String::new();
        chart.put(&mut page);
        assert!(!page.contains("<script>") && page.contains("&lt;script&gt;"));
        assert!(
            page.contains("width=\"420.0\"") && page.contains("width=\"140.0\"") && !page.contains("NaN"),
            "{page}"
        );
        assert_eq!(short(&"é".repeat(100)).chars().count(), LETTERS + 1);
    }
}
