//! What the model sees of a typed result.

use crate::codec::Cx;
use crate::event::{Content, ResultStatus};
use crate::json::{Cursor, Raw, Shape, Str};

/// How a call went and what the model sees of it: `result` is the value of `result` in a `tool_call` object of the kind `tool`.
/// With `success` in it the call succeeded, whatever stands beside it; with `rejected` it was refused; all else failed.
pub(super) fn content_of<'a>(tool: &str, result: Raw<'a>, cx: &Cx<'a>) -> (ResultStatus, Content<'a>) {
    let mut text = Text::default();
    let status = match body_of(result) {
        Some((word, body)) if word.is("success") => {
            said(tool, body, &mut text);
            ResultStatus::Success
        }
        Some((word, body)) => {
            failed(word, body, &mut text);
            if result.get("rejected").is_some() {
                ResultStatus::Denied
            } else {
                ResultStatus::Error
            }
        }
        None => {
            match result.string() {
                Some(whole) => text.push(whole),
                None => text.json(result),
            }
            ResultStatus::Error
        }
    };
    (status, Content::Text(text.into_str(cx)))
}

/// The member that says how it went. The value begins where it should and goes on to the end of `result`, which is all that
/// looking for members takes and spares a walk over it.
fn body_of(result: Raw<'_>) -> Option<(Str<'_>, Raw<'_>)> {
    let mut at = Cursor::new(result.as_str());
    let mut object = at.object().ok()?;
    let mut first = None;
    while let Some(word) = object.key(&mut at).ok()? {
        let says_why = matches!(at.shape().ok()?, Shape::Object | Shape::String);
        let body = (word, Raw::trusted(at.rest()));
        if word.is("success") {
            return Some(body);
        }
        first = first.or(says_why.then_some(body));
        at.skip().ok()?;
    }
    first
}

fn said<'a>(tool: &str, success: Raw<'a>, text: &mut Text<'a>) {
    match tool {
        "shellToolCall" => return output(success, text),
        "grepToolCall" => {
            for (root, found) in success.get("workspaceResults").into_iter().flat_map(Raw::members) {
                matches(root, found, text);
            }
            return;
        }
        "globToolCall" => return text.lines(elements(success, "files").filter_map(Raw::string)),
        "lsToolCall" => {
            if let Some(root) = success.get("directoryTreeRoot") {
                return tree(root, text);
            }
        }
        "mcpToolCall" => {
            let texts = elements(success, "content").filter_map(|part| part.get("text"));
            return text.lines(texts.filter_map(|inner| inner.get("text").unwrap_or(inner).string()));
        }
        "webSearchToolCall" => {
            for reference in elements(success, "references") {
                text.gap("\\n\\n");
                let parts = strings(reference, ["title", "url", "chunk"]);
                text.lines(parts.into_iter().flatten().filter(|part| !part.is_empty()));
            }
            return;
        }
        "taskToolCall" => {
            let steps = elements(success, "conversationSteps");
            return text.lines(steps.filter_map(|step| step.get("assistantMessage")?.get("text")?.string()));
        }
        _ => {}
    }
    // Read, edit, fetch, … each say it in one of these; `resultForModel` is `message` in 2025.
    let whole = strings(success, ["content", "message", "resultForModel", "markdown", "results", "output"]);
    if let Some(whole) = whole.into_iter().flatten().next() {
        return text.push(whole);
    }
    let whole = Cursor::new(success.as_str()).skip().unwrap_or(Raw::NULL);
    match whole.shape() {
        Some(Shape::String) => text.push(whole.string().unwrap_or_default()),
        Some(Shape::Object) if whole.members().next().is_none() => {}
        _ => text.json(whole),
    }
}

fn failed<'a>(word: Str<'a>, body: Raw<'a>, text: &mut Text<'a>) {
    if let Some(code) = body.get("exitCode").filter(|code| code.shape() == Some(Shape::Number)) {
        text.push(Str::trusted("Exit code "));
        text.push(Str::trusted(code.as_str()));
        text.gap("\\n");
        return output(body, text);
    }
    if let Some(reason) = body.string() {
        return text.push(reason);
    }
    let reason = [
        "reason",
        "errorMessage",
        "error",
        "message",
        "modelVisibleErrorMessage",
        "clientVisibleErrorMessage",
    ];
    let mut said = strings(body, reason).into_iter().flatten().filter(|reason| !reason.is_empty());
    if let Some(reason) = said.next() {
        return text.push(reason);
    }
    text.push(word);
    let mut what = strings(body, ["path", "command", "url"])
        .into_iter()
        .flatten()
        .filter(|what| !what.is_empty());
    if let Some(what) = what.next() {
        text.push(Str::trusted(": "));
        text.push(what);
    }
    let mut written = Text::default();
    output(body, &mut written);
    if !written.is_empty() {
        text.gap("\\n");
        text.append(written);
    }
}

/// What a command wrote: as it came, or what is known of it.
fn output<'a>(body: Raw<'a>, text: &mut Text<'a>) {
    let [whole, stdout, stderr] = strings(body, ["interleavedOutput", "stdout", "stderr"]);
    match whole.filter(|whole| !whole.is_empty()) {
        Some(whole) => text.push(whole),
        None => {
            text.push(stdout.unwrap_or_default());
            text.push(stderr.unwrap_or_default());
        }
    }
}

/// The matches of one folder, as grep prints them, or its files.
fn matches<'a>(root: Str<'a>, found: Raw<'a>, text: &mut Text<'a>) {
    for (kind, found) in found.members() {
        match kind.as_escaped() {
            "files" => {
                text.gap("\\n");
                text.lines(elements(found, "files").filter_map(Raw::string));
            }
            "content" => elements(found, "matches").for_each(|file| file_matches(file, text)),
            _ => {
                text.gap("\\n");
                text.push(root);
                text.push(Str::trusted(": "));
                text.json(found);
            }
        }
    }
}

fn file_matches<'a>(file: Raw<'a>, text: &mut Text<'a>) {
    let [name] = strings(file, ["file"]);
    for hit in elements(file, "matches") {
        let (mut number, mut line) = ("", Str::EMPTY);
        for (key, value) in hit.members() {
            match key.as_escaped() {
                "lineNumber" if value.shape() == Some(Shape::Number) => number = value.as_str(),
                "content" => line = value.string().unwrap_or_default(),
                _ => {}
            }
        }
        text.gap("\\n");
        text.push(name.unwrap_or_default());
        for part in [":", number, ":"] {
            text.push(Str::trusted(part));
        }
        text.push(line);
    }
}

/// A folder and what is in it, one path a line.
fn tree<'a>(root: Raw<'a>, text: &mut Text<'a>) {
    // Deeper folders are left out: each level is walked anew for what is in it.
    const LEVELS: u32 = 32;
    let mut open = vec![(root, 0)];
    while let Some((folder, level)) = open.pop() {
        let path = folder.get("absPath").and_then(Raw::string).unwrap_or_default();
        text.gap("\\n");
        text.push(path);
        text.push(Str::trusted("/"));
        for file in elements(folder, "childrenFiles") {
            text.gap("\\n");
            text.push(path);
            text.push(Str::trusted("/"));
            text.push(file.get("name").and_then(Raw::string).unwrap_or_default());
        }
        if level < LEVELS {
            let before = open.len();
            open.extend(elements(folder, "childrenDirs").map(|child| (child, level + 1)));
            open[before..].reverse();
        }
    }
}

/// The strings of some members, found in one walk. Values are looked at only where they are wanted.
fn strings<'a, const N: usize>(object: Raw<'a>, keys: [&str; N]) -> [Option<Str<'a>>; N] {
    let mut found = [None; N];
    let mut at = Cursor::new(object.as_str());
    let Ok(mut members) = at.object() else { return found };
    while let Ok(Some(key)) = members.key(&mut at) {
        let is_string = at.shape() == Ok(Shape::String);
        let wanted = keys.iter().position(|wanted| key.is(wanted)).filter(|_| is_string);
        let read = match wanted {
            Some(n) => at.string().map(|string| found[n] = Some(string)),
            None => at.skip().map(|_| ()),
        };
        if read.is_err() || found.iter().all(Option::is_some) {
            break;
        }
    }
    found
}

fn elements<'a>(object: Raw<'a>, key: &str) -> impl Iterator<Item = Raw<'a>> {
    object.get(key).into_iter().flat_map(Raw::elements)
}

/// A text that is put together from parts of the line; one that is a single part stays that part.
#[derive(Default)]
struct Text<'a> {
    one: Str<'a>,
    many: String,
}

impl<'a> Text<'a> {
    fn push(&mut self, part: Str<'a>) {
        if self.is_empty() {
            self.one = part;
            return;
        }
        self.spill();
        self.many.push_str(part.as_escaped());
    }

    /// Puts an (escaped) text between what is there and what follows.
    fn gap(&mut self, between: &'static str) {
        if !self.is_empty() {
            self.spill();
            self.many.push_str(between);
        }
    }

    const fn is_empty(&self) -> bool {
        self.one.is_empty() && self.many.is_empty()
    }

    fn append(&mut self, other: Text<'a>) {
        self.push(other.one);
        if !other.many.is_empty() {
            self.spill();
            self.many.push_str(&other.many);
        }
    }

    fn lines(&mut self, parts: impl Iterator<Item = Str<'a>>) {
        for (n, part) in parts.enumerate() {
            if n > 0 {
                self.gap("\\n");
            }
            self.push(part);
        }
    }

    /// A value, as JSON.
    fn json(&mut self, value: Raw<'_>) {
        self.spill();
        Str::escape(value.as_str(), &mut self.many);
    }

    fn spill(&mut self) {
        self.many.push_str(std::mem::take(&mut self.one).as_escaped());
    }

    fn into_str(self, cx: &Cx<'a>) -> Str<'a> {
        if self.many.is_empty() {
            self.one
        } else {
            Str::trusted(cx.arena.alloc_str(&self.many))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(tool: &str, result: &str) -> String {
        let arena = bumpalo::Bump::new();
        let cx = Cx { arena: &arena, trace: None };
        content_of(tool, Raw::trusted(result), &cx)
            .1
            .texts()
            .map(|s| s.unescape().into_owned())
            .collect()
    }

    #[test]
    fn each_kind_says_what_it_found() {
        for (tool, result, wanted) in [
            ("readToolCall", r#"{"success":{"content":"a\nb\n","totalLines":3}}"#, "a\nb\n"),
            ("readToolCall", r#"{"error":{"errorMessage":"no such file"}}"#, "no such file"),
            ("readToolCall", r#"{"success":{"content":7}}"#, r#"{"content":7}"#),
            ("readToolCall", r#""done""#, "done"),
            ("readToolCall", r#"{"x":false,"error":"gone"}"#, "gone"),
            ("readToolCall", r#"{"success":"ok"}"#, "ok"),
            ("readToolCall", r#"{"success":true}"#, "true"),
            ("readToolCall", "{}", "{}"),
            (
                "editToolCall",
                r#"{"success":{"path":"/a","message":"The file /a has been updated."}}"#,
                "The file /a has been updated.",
            ),
            ("editToolCall", r#"{"fileNotFound":{"path":"/a"}}"#, "fileNotFound: /a"),
            (
                "shellToolCall",
                r#"{"success":{"stdout":"o","stderr":"e","interleavedOutput":"oe!"},"isBackground":false}"#,
                "oe!",
            ),
            ("shellToolCall", r#"{"success":{"stdout":"o","stderr":"e","interleavedOutput":""}}"#, "oe"),
            ("shellToolCall", r#"{"failure":{"exitCode":2,"stderr":"bad\n"}}"#, "Exit code 2\nbad\n"),
            (
                "shellToolCall",
                r#"{"rejected":{"command":"ls","reason":"","isReadonly":false}}"#,
                "rejected: ls",
            ),
            (
                "shellToolCall",
                r#"{"timeout":{"command":"sleep 9","stdout":"z"}}"#,
                "timeout: sleep 9\nz",
            ),
            ("webFetchToolCall", r#"{"rejected":{"reason":"User Rejected"}}"#, "User Rejected"),
            ("globToolCall", r#"{"success":{"files":["a","b"]}}"#, "a\nb"),
            (
                "grepToolCall",
                r#"{"success":{"workspaceResults":{"/r":{"content":{"matches":[{"file":"./a","matches":[{"lineNumber":2,"content":"x\t"},{"lineNumber":3,"content":"y"}]}]}}}}}"#,
                "./a:2:x\t\n./a:3:y",
            ),
            (
                "grepToolCall",
                r#"{"success":{"workspaceResults":{"/r":{"files":{"files":["a","b"]}}}}}"#,
                "a\nb",
            ),
            (
                "lsToolCall",
                r#"{"success":{"directoryTreeRoot":{"absPath":"/r","childrenDirs":[{"absPath":"/r/d","childrenFiles":[{"name":"f"}]},{"absPath":"/r/e"}],"childrenFiles":[{"name":"g"}]}}}"#,
                "/r/\n/r/g\n/r/d/\n/r/d/f\n/r/e/",
            ),
            (
                "mcpToolCall",
                r#"{"success":{"content":[{"text":{"text":"9"}},{"text":"8"}],"isError":false}}"#,
                "9\n8",
            ),
            (
                "webSearchToolCall",
                r#"{"success":{"references":[{"title":"T","url":"u","chunk":"c"},{"title":"T2","url":"u2","chunk":""}]}}"#,
                "T\nu\nc\n\nT2\nu2",
            ),
            (
                "taskToolCall",
                r#"{"success":{"conversationSteps":[{"assistantMessage":{"text":"a"}},{"toolCall":{}},{"assistantMessage":{"text":"b"}}]}}"#,
                "a\nb",
            ),
            ("getMcpToolsToolCall", r#"{"success":{"content":"[1]"}}"#, "[1]"),
            ("knotToolCall", r#"{"success":{"tight":true}}"#, r#"{"tight":true}"#),
            ("knotToolCall", r#"{"success":{}}"#, ""),
        ] {
            assert_eq!(text(tool, result), wanted, "{tool} {result}");
        }
    }

    #[test]
    fn nesting_does_not_matter() {
        let deep = format!(
            "{{\"success\":{{\"directoryTreeRoot\":{}1{}}}}}",
            "{\"childrenDirs\":[".repeat(20_000),
            "]}".repeat(20_000)
        );
        assert_eq!(text("lsToolCall", &deep).lines().count(), 33);
    }
}
