//! Text that looks like what coding agents write and read: sentences, code, command output.

use super::rng::Rng;

/// `sentences` sentences with commas, quotations, inline code, some paragraphs, some Chinese and Japanese, some emoji.
pub(super) fn prose(rng: &mut Rng, sentences: usize, out: &mut String) {
    for n in 0..sentences {
        if n > 0 {
            out.push_str(if rng.one_in(6) { "\n\n" } else { " " });
        }
        if rng.one_in(24) {
            out.push_str(rng.pick(FAR_EAST));
            continue;
        }
        if rng.one_in(30) {
            out.push_str("- ");
        }
        sentence(rng, out);
        if rng.one_in(26) {
            out.push(' ');
            out.push_str(rng.pick(EMOJI));
        }
    }
}

/// One short heading-like phrase without a final stop.
pub(super) fn phrase(rng: &mut Rng, words: usize) -> String {
    let mut out = String::new();
    for n in 0..words {
        if n > 0 {
            out.push(' ');
        }
        word(rng, n == 0, &mut out);
    }
    out
}

/// `lines` lines of code, each with its newline: quotes, backslashes, tabs, braces.
pub(super) fn code(rng: &mut Rng, lines: usize, out: &mut String) {
    for _ in 0..lines {
        code_line(rng, out);
        out.push('\n');
    }
}

/// One line of code without its newline.
pub(super) fn code_line(rng: &mut Rng, out: &mut String) {
    let pattern = rng.pick(CODE);
    for part in pattern.split_inclusive('@') {
        match part.strip_suffix('@') {
            Some(text) => {
                out.push_str(text);
                out.push_str(rng.pick(NAMES));
            }
            None => out.push_str(part),
        }
    }
}

/// `lines` lines that a build or a test run prints, the last one without a newline; some of them coloured.
pub(super) fn output(rng: &mut Rng, lines: usize, out: &mut String) {
    for n in 0..lines {
        if n > 0 {
            out.push('\n');
        }
        match rng.below(6) {
            0 => out.push_str(&format!("test {}::{} ... \u{1b}[32mok\u{1b}[0m", rng.pick(NAMES), rng.pick(NAMES))),
            1 => out.push_str(&format!("   Compiling {} v0.{}.{}", rng.pick(NAMES), rng.below(30), rng.below(12))),
            2 => out.push_str(&format!("-rw-r--r-- 1 dev dev {:>6} {}", rng.below(99_999), path(rng))),
            3 => out.push_str(&format!(
                "warning: unused variable: `{}`\t({}:{})",
                rng.pick(NAMES),
                path(rng),
                rng.below(400)
            )),
            4 => out.push_str(&format!("\"{}\" => C:\\build\\{}.obj", rng.pick(NAMES), rng.pick(NAMES))),
            _ => sentence(rng, out),
        }
    }
}

/// A file path relative to the working directory.
pub(super) fn path(rng: &mut Rng) -> String {
    format!(
        "{}/{}.{}",
        rng.pick(&["src", "src/net", "tests", "lib", "docs/设计"]),
        rng.pick(NAMES),
        rng.pick(&["rs", "py", "ts", "md"])
    )
}

/// A shell command.
pub(super) fn command(rng: &mut Rng) -> String {
    match rng.below(5) {
        0 => format!("cargo test {} -- --nocapture 2>&1 | tail -n {}", rng.pick(NAMES), rng.between(5, 60)),
        1 => format!("grep -rn \"{}\" {} | head", rng.pick(NAMES), path(rng)),
        2 => format!("python3 -c 'print(\"{}\\n\")'", rng.pick(NAMES)),
        3 => format!("git log --oneline -n {} -- {}", rng.between(3, 40), path(rng)),
        _ => format!("ls -la {} && wc -l {}", path(rng), path(rng)),
    }
}

/// A name of a variable, function or module.
pub(super) fn name(rng: &mut Rng) -> &'static str {
    rng.pick(NAMES)
}

fn sentence(rng: &mut Rng, out: &mut String) {
    let words = rng.between(5, 17);
    for n in 0..words {
        if n > 0 {
            out.push_str(if rng.one_in(9) { ", " } else { " " });
        }
        match rng.below(28) {
            0 => out.push_str(&format!("`{}()`", rng.pick(NAMES))),
            1 => out.push_str(&format!("\"{}\"", rng.pick(WORDS))),
            2 => out.push_str(&format!("{}", rng.below(5000))),
            _ => word(rng, n == 0, out),
        }
    }
    out.push_str(rng.pick(&[".", ".", ".", ".", ".", ":", "?", "!"]));
}

fn word(rng: &mut Rng, capital: bool, out: &mut String) {
    let word = rng.pick(WORDS);
    if capital {
        let (head, tail) = word.split_at(1);
        out.push_str(&head.to_ascii_uppercase());
        out.push_str(tail);
    } else {
        out.push_str(word);
    }
}

const WORDS: &[&str] = &[
    "the",
    "a",
    "this",
    "that",
    "which",
    "because",
    "so",
    "then",
    "and",
    "or",
    "but",
    "while",
    "after",
    "before",
    "without",
    "with",
    "file",
    "line",
    "function",
    "module",
    "buffer",
    "reader",
    "writer",
    "parser",
    "token",
    "string",
    "number",
    "value",
    "field",
    "record",
    "error",
    "result",
    "test",
    "case",
    "build",
    "change",
    "commit",
    "branch",
    "message",
    "event",
    "stream",
    "session",
    "request",
    "answer",
    "returns",
    "reads",
    "writes",
    "calls",
    "fails",
    "passes",
    "checks",
    "keeps",
    "drops",
    "opens",
    "closes",
    "holds",
    "starts",
    "stops",
    "small",
    "large",
    "empty",
    "full",
    "first",
    "last",
    "next",
    "same",
    "other",
    "new",
    "old",
    "safe",
    "fast",
    "slow",
    "clean",
    "plain",
    "I",
    "we",
    "it",
    "they",
    "should",
    "must",
    "can",
    "could",
    "need",
    "want",
    "look",
    "see",
    "find",
    "move",
    "rename",
    "remove",
    "add",
    "handle",
    "boundary",
    "overflow",
    "encoding",
    "timeout",
    "allocation",
    "permission",
    "configuration",
    "directory",
    "dependency",
    "implementation",
    "naïve",
    "café",
    "only",
    "once",
    "again",
    "never",
    "always",
    "already",
    "still",
    "instead",
    "of",
    "to",
    "in",
    "on",
    "for",
    "from",
    "by",
    "at",
    "is",
    "are",
    "was",
    "be",
    "not",
    "no",
    "all",
    "each",
    "every",
    "one",
    "two",
    "three",
];

const NAMES: &[&str] = &[
    "parse_line",
    "read_chunk",
    "total",
    "index",
    "buf",
    "state",
    "next_event",
    "config",
    "retry_count",
    "flush",
    "write_all",
    "encode",
    "decode",
    "lexer",
    "session_id",
    "utf8",
    "offset",
    "limit",
    "header",
    "payload",
    "on_close",
    "poll",
    "render",
    "diff",
    "cursor",
    "tokens",
    "usage",
    "pending",
    "queue",
    "worker",
    "deadline",
    "escape",
    "unescape",
    "frame",
    "handle",
    "路径",
    "größe",
];

const CODE: &[&str] = &[
    "",
    "// @ keeps what @ left over; see \"@\" for the rest",
    "fn @(@: &[u8]) -> Result<usize, Error> {",
    "    let @ = @.get(\"@\").map(|v| v.len()).unwrap_or(0);",
    "    if @.ends_with(\"\\\\\") && !@.is_empty() {",
    "        println!(\"{}: \\\"{}\\\"\\n\", @, @);",
    "        return Err(Error::new(\"bad \\u{1b} in @\"));",
    "    }",
    "}",
    "def @(self, @=None, *, @: int = 0) -> str:",
    "\tfor @ in range(10):",
    "\t\tself.@ += re.sub(r\"\\d+\\.\\d+\", '', @)",
    "    return f\"{@!r}: {@:>8}\"",
    "const @ = await fetch(`/api/@?q=${encodeURIComponent(@)}`);",
    "export type @ = { @: string; @?: number | null };",
    "    @.push({ id: @, label: '@', path: \"C:\\\\tmp\\\\@\" });",
    "    // 注意：@ 在这里可能为空",
    "    assert_eq!(@(b\"{\\\"a\\\":[1,2]}\"), Ok(@));",
    "    while let Some(@) = @.next() { @ += 1; }",
];

const FAR_EAST: &[&str] = &[
    "这里需要先读取文件，然后再修改配置。",
    "测试全部通过，没有发现新的问题。",
    "函数返回值应该是字节数，而不是字符数。",
    "エラー処理をもう一度確認してください。",
    "この変更で速度が約二倍になりました。",
    "버퍼가 비어 있으면 바로 반환합니다.",
];

const EMOJI: &[&str] = &["🎉", "✅", "🚀", "⚠️", "👩\u{200d}💻", "🇯🇵", "→", "…"];
