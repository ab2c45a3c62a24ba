//! Lines of texts that are still escaped, and the numbers that some agents put before them.
//!
//! | [`Numbering`] | a file `hello⏎world⏎` |
//! |---|---|
//! | `Tab` | `1⇥hello⏎2⇥world⏎3⇥`: every piece between line ends, the empty last one too |
//! | `Arrow` | the same as `     1→hello` |
//! | `Colon` | `1: hello⏎2: world⏎`: every line with its end |

use bumpalo::Bump;
use bumpalo::collections::String as BumpString;

use crate::json::{Digits, Str, next_escape};

/// A piece of a text between two line ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Piece<'a> {
    /// Where it begins in the escaped text.
    pub(crate) at: usize,
    /// Without its line end.
    pub(crate) text: &'a str,
    /// The line end as it is escaped; empty for the last piece.
    pub(crate) end: &'a str,
}

/// The pieces of a text, at least one; behind a line end at the end of the text comes an empty one.
pub(crate) fn pieces<'a>(text: Str<'a>) -> impl Iterator<Item = Piece<'a>> {
    let body = text.as_escaped();
    let mut from = Some(0);
    std::iter::from_fn(move || {
        let at = from?;
        let (stop, end) = line_end(body, at);
        from = (end > 0).then_some(stop + end);
        Some(Piece {
            at,
            text: &body[at..stop],
            end: &body[stop..stop + end],
        })
    })
}

/// Where the line that begins at `from` ends, and how long its end is (0 at the end of the text).
fn line_end(body: &str, from: usize) -> (usize, usize) {
    let bytes = body.as_bytes();
    let mut at = from;
    while let Some(found) = next_escape(body, at) {
        at = found;
        match bytes.get(at + 1) {
            Some(b'n') => return (at, 2),
            Some(b'u') if bytes.get(at + 2..at + 6).is_some_and(|hex| hex.eq_ignore_ascii_case(b"000a")) => return (at, 6),
            Some(_) => at += 2,
            None => break,
        }
    }
    (body.len(), 0)
}

/// How many pieces a text has: its lines, and one more if it ends with a line end.
pub(crate) fn count(text: Str<'_>) -> u64 {
    pieces(text).count() as u64
}

/// Whether a text ends with a line end.
pub(crate) fn ends_line(text: Str<'_>) -> bool {
    last_end(text) > 0
}

/// How long the line end at the end of a text is as it is escaped; 0 if there is none.
pub(crate) fn last_end(text: Str<'_>) -> usize {
    let bytes = text.as_escaped().as_bytes();
    let found = [2, 6].into_iter().find(|len| {
        let Some((before, [b'\\', letter, hex @ ..])) = bytes.len().checked_sub(*len).map(|at| bytes.split_at(at)) else {
            return false;
        };
        let is_end = match letter {
            b'n' => hex.is_empty(),
            b'u' => hex.eq_ignore_ascii_case(b"000a"),
            _ => false,
        };
        // Behind an odd number of backslashes stands one that is escaped itself.
        is_end && before.iter().rev().take_while(|byte| **byte == b'\\').count() % 2 == 0
    });
    found.unwrap_or(0)
}

/// A text without the line ends at its end.
pub(crate) fn without_ends(text: Str<'_>) -> Str<'_> {
    let mut body = text.as_escaped();
    loop {
        match last_end(Str::trusted(body)) {
            0 => return Str::trusted(body),
            end => body = &body[..body.len() - end],
        }
        // A carriage return before it; what is escaped itself is none.
        if let Some(line) = body.strip_suffix("\\r")
            && line.bytes().rev().take_while(|byte| *byte == b'\\').count() % 2 == 0
        {
            body = line;
        }
    }
}

/// A text whose lines were numbered.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Numbered<'a> {
    /// The text without the numbers.
    pub(crate) content: Str<'a>,
    /// The number of the first line.
    pub(crate) start: u64,
    /// Whether a note says that no more lines follow.
    pub(crate) note: bool,
}

/// How lines are numbered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Numbering {
    /// `1⇥`.
    Tab,
    /// `     1→`.
    Arrow,
    /// `1: `.
    Colon,
}

/// What stands behind the lines when more lines were asked for than there are.
const NOTE: &str = "NOTE: Requested end_line exceeds file length; this is all available content.";

/// Takes the numbers off; `None` unless every line has one and they count up by one.
pub(crate) fn strip<'a>(text: Str<'a>, arena: &'a Bump) -> Option<Numbered<'a>> {
    let (start, how, _) = prefix(pieces(text).next()?.text)?;
    let mut content = BumpString::with_capacity_in(text.as_escaped().len(), arena);
    let mut next = start;
    let mut note = false;
    for piece in pieces(text) {
        if how == Numbering::Colon && (piece.text.is_empty() && piece.end.is_empty() || piece.text == NOTE) {
            note |= piece.text == NOTE;
            continue;
        }
        let (number, found, rest) = prefix(piece.text)?;
        if number != next || found != how || note {
            return None;
        }
        next = next.checked_add(1)?;
        content.push_str(rest);
        content.push_str(piece.end);
    }
    Some(Numbered {
        content: Str::trusted(content.into_bump_str()),
        start,
        note,
    })
}

fn prefix(line: &str) -> Option<(u64, Numbering, &str)> {
    let bytes = line.as_bytes();
    let blanks = bytes.iter().take_while(|byte| **byte == b' ').count();
    let mut at = blanks;
    let mut number: u64 = 0;
    while let Some(digit) = bytes.get(at).filter(|byte| byte.is_ascii_digit()) {
        number = number.checked_mul(10)?.checked_add(u64::from(digit - b'0'))?;
        at += 1;
    }
    if at == blanks {
        return None;
    }
    let seps = match bytes.get(at)? {
        b':' => &[(Numbering::Colon, ": ")][..],
        b'\\' => &[(Numbering::Tab, "\\t"), (Numbering::Tab, "\\u0009"), (Numbering::Arrow, "\\u2192")],
        _ => &[(Numbering::Arrow, "→")],
    };
    let (how, rest) = seps.iter().find_map(|(how, sep)| Some((*how, line[at..].strip_prefix(sep)?)))?;
    // Only these numbers are indented.
    (how == Numbering::Arrow || blanks == 0).then_some((number, how, rest))
}

/// Puts numbers before the lines.
pub(crate) fn number<'a>(content: Str<'_>, start: u64, how: Numbering, arena: &'a Bump) -> Str<'a> {
    let body = content.as_escaped();
    let mut text = BumpString::with_capacity_in(body.len() + body.len() / 4 + 8, arena);
    for (piece, number) in pieces(content).zip(start..) {
        if how == Numbering::Colon && piece.text.is_empty() && piece.end.is_empty() {
            break;
        }
        let digits = Digits::of(number.into());
        let digits = digits.as_str();
        if how == Numbering::Arrow {
            (digits.len()..6).for_each(|_| text.push(' '));
        }
        text.push_str(digits);
        text.push_str(match how {
            Numbering::Tab => "\\t",
            Numbering::Arrow => "→",
            Numbering::Colon => ": ",
        });
        text.push_str(piece.text);
        text.push_str(piece.end);
    }
    Str::trusted(text.into_bump_str())
}

/// The exit code that a text begins with (`Exit code 3`, as several agents write), and what follows it.
pub(crate) fn exit_code(text: Str<'_>) -> Option<(i64, Str<'_>)> {
    let first = pieces(text).next()?;
    let code = first.text.strip_prefix("Exit code ")?.parse().ok()?;
    Some((code, Str::trusted(&text.as_escaped()[first.text.len() + first.end.len()..])))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn stripped(text: &str) -> Option<(String, u64)> {
        let arena = Bump::new();
        strip(Str::trusted(text), &arena).map(|n| (n.content.as_escaped().to_owned(), n.start))
    }

    #[test]
    fn recorded_numbers_come_off() {
        assert_eq!(stripped(r"1\thello\n2\tworld\n3\t"), Some((r"hello\nworld\n".into(), 1)));
        assert_eq!(stripped(r"     9→a\n    10→b"), Some((r"a\nb".into(), 9)));
        assert_eq!(stripped(r"     9\u2192a\u000A    10\u2192\\n"), Some((r"a\u000A\\n".into(), 9)));
        assert_eq!(stripped(r"8: \n9: if x:\n10:     y()\n"), Some((r"\nif x:\n    y()\n".into(), 8)));
        assert_eq!(stripped(r"1: alpha\n2: gamma"), Some((r"alpha\ngamma".into(), 1)));
        assert_eq!(stripped(&format!(r"8: a\n9: b\n{NOTE}\n")), Some((r"a\nb\n".into(), 8)));
        for text in [
            "",
            "a",
            r"1\ta\n3\tb",
            r"1\ta\nb",
            r"1\ta\n2: b",
            r"1: a\nx",
            r"  1\ta",
            "1",
            r"1\\ta",
            r"99999999999999999999999\ta",
        ] {
            assert_eq!(stripped(text), None, "{text}");
        }
    }

    #[test]
    fn pieces_see_line_ends_through_escapes() {
        let found: Vec<_> = pieces(Str::trusted(r"a\\nb\u000ac\n\u00e9\")).map(|p| (p.at, p.text, p.end)).collect();
        assert_eq!(found, [(0, r"a\\nb", r"\u000a"), (11, "c", r"\n"), (14, r"\u00e9\", "")]);
        assert_eq!(count(Str::trusted("")), 1);
        for text in [
            r"a\n",
            r"\n",
            r"a\\\n",
            r"\u000A",
            r"a\\\u000a",
            "a",
            "",
            r"a\\n",
            r"a\\u000a",
            r"\u000b",
            "n",
            "u000a",
        ] {
            let last = pieces(Str::trusted(text)).last().unwrap();
            assert_eq!(ends_line(Str::trusted(text)), last.text.is_empty() && last.at > 0, "{text}");
        }
        assert_eq!(exit_code(Str::trusted(r"Exit code 3\nout")), Some((3, Str::trusted("out"))));
        assert_eq!(exit_code(Str::trusted("Exit code -1")), Some((-1, Str::EMPTY)));
        assert_eq!(exit_code(Str::trusted("Exit code x")), None);
    }

    proptest! {
        #[test]
        fn numbers_put_on_come_off_again(text in "[a-z:→ \t\n\\\\\"0-9]{0,40}", start in 1u64..1000) {
            let arena = Bump::new();
            let mut body = String::new();
            Str::escape(&text, &mut body);
            for how in [Numbering::Tab, Numbering::Arrow, Numbering::Colon] {
                if how == Numbering::Colon && text.is_empty() {
                    continue;
                }
                let numbered = number(Str::trusted(&body), start, how, &arena);
                let back = strip(numbered, &arena).unwrap();
                prop_assert_eq!((back.content.as_escaped(), back.start), (body.as_str(), start));
            }
        }

        #[test]
        fn no_text_makes_it_panic(text in "[1-3\\\\nu0a:\t ]{0,20}") {
            let arena = Bump::new();
            let text = Str::trusted(&text);
            strip(text, &arena);
            exit_code(text);
            prop_assert_eq!(pieces(text).map(|p| p.text.len() + p.end.len()).sum::<usize>(), text.as_escaped().len());
        }
    }
}
