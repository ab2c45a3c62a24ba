//! Commands: the program runs `/bin/bash -lc SCRIPT`, and shows that as one line, quoted for a shell.

use bumpalo::Bump;

use crate::json::Str;
use crate::tools::json::{escaped, plain};

/// What comes before a script.
const SHELL: &str = "/bin/bash -lc ";

/// The script that a shell is given, if the line starts one and nothing else.
pub(super) fn script<'a>(line: Str<'a>, arena: &'a Bump) -> Option<Str<'a>> {
    let line = plain(line)?;
    let words = words(&line)?;
    let [program, flags @ .., script] = words.as_slice() else {
        return None;
    };
    let name = program.rsplit(['/', '\\']).next()?.trim_end_matches(".exe");
    let starts = match (name, flags) {
        ("bash" | "zsh" | "sh", [flag]) => matches!(flag.as_str(), "-lc" | "-c"),
        ("powershell" | "pwsh", [.., flag]) => flag == "-Command",
        _ => false,
    };
    starts.then(|| escaped(script, arena))
}

/// The line that runs a script.
pub(in crate::codex) fn line<'a>(script: Str<'a>, arena: &'a Bump) -> Str<'a> {
    let mut line = SHELL.to_owned();
    match plain(script) {
        Some(script) => quote(&script, &mut line),
        // No text, but a string all the same: it is quoted as it is spelled, in which quotes are no escapes.
        None => {
            let quoted = script.as_escaped().replace('\'', "'\\\\''");
            return Str::trusted(bumpalo::format!(in arena, "{}'{}'", SHELL, quoted).into_bump_str());
        }
    }
    escaped(&line, arena)
}

/// Words as one line.
pub(super) fn joined<'w>(words: &[impl std::ops::Deref<Target = str> + 'w]) -> String {
    let mut line = String::new();
    for word in words {
        if !line.is_empty() {
            line.push(' ');
        }
        quote(word, &mut line);
    }
    line
}

/// Quotes a word: not at all if that is not needed, in single quotes if it holds none, else in double ones.
fn quote(word: &str, to: &mut String) {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"+-./:@]_".contains(&byte);
    if !word.is_empty() && word.bytes().all(is_plain) {
        to.push_str(word);
    } else if !word.contains('\'') {
        to.extend(["'", word, "'"]);
    } else if word.contains(['!', '^']) {
        to.extend(["'", &word.replace('\'', "'\\''"), "'"]);
    } else {
        to.push('"');
        for letter in word.chars() {
            if matches!(letter, '"' | '\\' | '$' | '`') {
                to.push('\\');
            }
            to.push(letter);
        }
        to.push('"');
    }
}

/// Few words are longer.
const USUAL: usize = 32;

/// The words of a line; `None` where a quote is not closed, or something stands in it that only a shell understands.
fn words(line: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let fresh = || String::with_capacity(USUAL);
    let mut letters = line.chars();
    while let Some(letter) = letters.next() {
        match letter {
            ' ' | '\t' | '\n' => words.extend(word.take()),
            '\'' => {
                let rest = letters.as_str();
                let end = rest.find('\'')?;
                word.get_or_insert_with(fresh).push_str(&rest[..end]);
                letters = rest[end + 1..].chars();
            }
            '"' => {
                let word = word.get_or_insert_with(fresh);
                loop {
                    match letters.next()? {
                        '"' => break,
                        '\\' => match letters.next()? {
                            '\n' => {}
                            escaped @ ('"' | '\\' | '$' | '`') => word.push(escaped),
                            other => word.extend(['\\', other]),
                        },
                        other => word.push(other),
                    }
                }
            }
            '\\' => word.get_or_insert_with(fresh).push(letters.next()?),
            '$' | '`' | '|' | '&' | ';' | '<' | '>' | '(' | ')' => return None,
            other => word.get_or_insert_with(fresh).push(other),
        }
    }
    words.extend(word);
    Some(words)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(line: &str) -> Option<String> {
        let arena = Bump::new();
        let mut body = String::new();
        Str::escape(line, &mut body);
        Some(script(Str::trusted(&body), &arena)?.unescape().into_owned())
    }

    fn written(script: &str) -> String {
        let arena = Bump::new();
        let mut body = String::new();
        Str::escape(script, &mut body);
        line(Str::trusted(&body), &arena).unescape().into_owned()
    }

    #[test]
    fn recorded_lines_are_read_and_written() {
        for (line, script) in [
            ("/bin/bash -lc 'echo shell-ok'", "echo shell-ok"),
            (
                "/bin/bash -lc \"python3 -c \\\"print('x'*200000)\\\"\"",
                "python3 -c \"print('x'*200000)\"",
            ),
            (
                "/bin/bash -lc \"printf 'out\\\\n'; printf 'err\\\\n' >&2; exit 3\"",
                "printf 'out\\n'; printf 'err\\n' >&2; exit 3",
            ),
            ("/bin/bash -lc pwd", "pwd"),
        ] {
            assert_eq!(read(line).as_deref(), Some(script));
            assert_eq!(written(script), line);
        }
        for (line, script) in [("zsh -lc 'a b'", "a b"), ("'C:\\bin\\pwsh.exe' -NoProfile -Command 'dir x'", "dir x")] {
            assert_eq!(read(line).as_deref(), Some(script));
        }
    }

    #[test]
    fn other_lines_are_what_they_are() {
        for line in [
            "",
            "ls -la",
            "bash",
            "bash -lc",
            "bash -lc 'a",
            "bash -lc a | cat",
            "bash -x a",
            "python -c 'print()'",
            "bash -lc a b",
        ] {
            assert_eq!(read(line), None, "{line}");
        }
    }

    #[test]
    fn a_lone_surrogate_survives() {
        let arena = Bump::new();
        let script = Str::trusted("a'\\ud800");
        assert_eq!(line(script, &arena).as_escaped(), "/bin/bash -lc 'a'\\\\''\\ud800'");
    }

    proptest! {
        #[test]
        fn what_is_quoted_is_read_back(script in "[a-z '\"$`\\\\!^\\n|&;é]{0,24}") {
            prop_assert_eq!(read(&written(&script)), Some(script));
        }
    }
}
