//! What the model sees of a typed result.

use crate::codec::Cx;
use crate::event::Content;
use crate::json::{Raw, Shape, Str};

/// The text of `result`, the value of `result` in a `tool_call` object of the kind `tool`.
pub(super) fn content_of<'a>(tool: &str, result: Raw<'a>, cx: &Cx<'a>) -> Content<'a> {
    if let Some(text) = result.string() {
        return Content::Text(text);
    }
    let mut text = Text::default();
    match result.get("success") {
        Some(success) => said(tool, success, &mut text),
        None => {
            let first = result.members().find(|(_, value)| value.shape() == Some(Shape::Object));
            if let Some((word, body)) = first {
                failed(word, body, &mut text);
            } else {
                text.json(result);
            }
        }
    }
    Content::Text(text.into_str(cx))
}

fn said<'a>(tool: &str, success: Raw<'a>, text: &mut Text<'a>) {
    let member = |key: &str| success.get(key);
    let string = |key: &str| member(key).and_then(Raw::string);
    match tool {
        "shellToolCall" => return output(success, text),
        "grepToolCall" => {
            for (root, found) in member("workspaceResults").into_iter().flat_map(Raw::members) {
                matches(root, found, text);
            }
            return;
        }
        "globToolCall" => return text.lines(member("files").into_iter().flat_map(Raw::elements).filter_map(Raw::string)),
        "lsToolCall" => {
            if let Some(root) = member("directoryTreeRoot") {
                return tree(root, text);
            }
        }
        "mcpToolCall" => {
            let parts = member("content").into_iter().flat_map(Raw::elements);
            let texts = parts
                .filter_map(|part| part.get("text"))
                .filter_map(|inner| inner.get("text").unwrap_or(inner).string());
            return text.lines(texts);
        }
        "webSearchToolCall" => {
            for reference in member("references").into_iter().flat_map(Raw::elements) {
                text.gap("\\n\\n");
                let parts = ["title", "url", "chunk"]
                    .into_iter()
                    .filter_map(|key| reference.get(key).and_then(Raw::string));
                text.lines(parts.filter(|part| !part.is_empty()));
            }
            return;
        }
        "taskToolCall" => {
            let steps = member("conversationSteps").into_iter().flat_map(Raw::elements);
            return text.lines(steps.filter_map(|step| step.get("assistantMessage")?.get("text")?.string()));
        }
        _ => {}
    }
    // Read, edit, fetch, … each say it in one of these; `resultForModel` is `message` in 2025.
    match ["content", "message", "resultForModel", "markdown", "results", "output"]
        .into_iter()
        .find_map(string)
    {
        Some(whole) => text.push(whole),
        None if success.as_str() == "{}" => {}
        None => text.json(success),
    }
}

fn failed<'a>(word: Str<'a>, body: Raw<'a>, text: &mut Text<'a>) {
    let string = |key: &str| body.get(key).and_then(Raw::string).filter(|s| !s.is_empty());
    if let Some(code) = body.get("exitCode").filter(|code| code.shape() == Some(Shape::Number)) {
        text.push(Str::trusted("Exit code "));
        text.push(Str::trusted(code.as_str()));
        text.gap("\\n");
        return output(body, text);
    }
    let reason = [
        "reason",
        "errorMessage",
        "error",
        "message",
        "modelVisibleErrorMessage",
        "clientVisibleErrorMessage",
    ];
    if let Some(reason) = reason.into_iter().find_map(string) {
        return text.push(reason);
    }
    text.push(word);
    if let Some(what) = ["path", "command", "url"].into_iter().find_map(string) {
        text.push(Str::trusted(": "));
        text.push(what);
    }
    if ["interleavedOutput", "stdout", "stderr"].into_iter().any(|key| string(key).is_some()) {
        text.gap("\\n");
        output(body, text);
    }
}

/// What a command wrote: as it came, or what is known of it.
fn output<'a>(body: Raw<'a>, text: &mut Text<'a>) {
    let string = |key: &str| body.get(key).and_then(Raw::string).filter(|s| !s.is_empty());
    match string("interleavedOutput") {
        Some(whole) => text.push(whole),
        None => {
            for stream in ["stdout", "stderr"].into_iter().filter_map(string) {
                text.push(stream);
            }
        }
    }
}

/// The matches of one folder, as grep prints them, or its files.
fn matches<'a>(root: Str<'a>, found: Raw<'a>, text: &mut Text<'a>) {
    if let Some(files) = found.get("files").and_then(|files| files.get("files")) {
        return text.lines(files.elements().filter_map(Raw::string));
    }
    let Some(content) = found.get("content") else {
        text.gap("\\n");
        text.push(root);
        text.push(Str::trusted(": "));
        return text.json(found);
    };
    for file in content.get("matches").into_iter().flat_map(Raw::elements) {
        let name = file.get("file").and_then(Raw::string).unwrap_or_default();
        for hit in file.get("matches").into_iter().flat_map(Raw::elements) {
            text.gap("\\n");
            text.push(name);
            let number = hit.get("lineNumber").filter(|n| n.shape() == Some(Shape::Number));
            text.push(Str::trusted(":"));
            text.push(Str::trusted(number.map_or("", Raw::as_str)));
            text.push(Str::trusted(":"));
            text.push(hit.get("content").and_then(Raw::string).unwrap_or_default());
        }
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
        for file in folder.get("childrenFiles").into_iter().flat_map(Raw::elements) {
            text.gap("\\n");
            text.push(path);
            text.push(Str::trusted("/"));
            text.push(file.get("name").and_then(Raw::string).unwrap_or_default());
        }
        if level < LEVELS {
            let before = open.len();
            open.extend(
                folder
                    .get("childrenDirs")
                    .into_iter()
                    .flat_map(Raw::elements)
                    .map(|child| (child, level + 1)),
            );
            open[before..].reverse();
        }
    }
}

/// A text that is put together from parts of the line; one that is a single part stays that part.
#[derive(Default)]
struct Text<'a> {
    one: Str<'a>,
    many: String,
}

impl<'a> Text<'a> {
    fn push(&mut self, part: Str<'a>) {
        if self.one.is_empty() && self.many.is_empty() {
            self.one = part;
            return;
        }
        self.spill();
        self.many.push_str(part.as_escaped());
    }

    /// Puts an (escaped) text between what is there and what follows.
    fn gap(&mut self, between: &'static str) {
        if !(self.one.is_empty() && self.many.is_empty()) {
            self.spill();
            self.many.push_str(between);
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
