//! What the model sees of a typed result.

use crate::codec::Cx;
use crate::event::{Content, ResultStatus};
use crate::json::{Cursor, Error, Raw, Shape, Str};
use crate::tools::reshaped::Made;

/// What was found on the way over the value of `result` in a `tool_call` object.
#[derive(Debug, Default)]
pub(super) struct Found<'a> {
    /// The member that says how it went: `success` if it is there, whatever stands beside it.
    word: Str<'a>,
    body: Option<Raw<'a>>,
    is_success: bool,
    is_rejected: bool,
    /// The strings of the body that may be what the model sees, by their places in [`SAYS`].
    strings: [Option<Str<'a>>; SAYS.len()],
    exit_code: Option<Raw<'a>>,
}

/// Members that may hold what the model sees: of a success in the order in which they are asked (`resultForModel` is `message`
/// in 2025), of a command, of a failure, and what a failure without words was about.
const SAYS: [&str; 16] = [
    "content",
    "message",
    "resultForModel",
    "markdown",
    "results",
    "output",
    "interleavedOutput",
    "stdout",
    "stderr",
    "reason",
    "errorMessage",
    "error",
    "modelVisibleErrorMessage",
    "clientVisibleErrorMessage",
    "path",
    "command",
];
const OF_SUCCESS: [usize; 6] = [0, 1, 2, 3, 4, 5];
const OF_COMMAND: [usize; 3] = [6, 7, 8];
const OF_FAILURE: [usize; 6] = [9, 10, 11, 1, 12, 13];
const OF_WHAT: [usize; 2] = [14, 15];

impl<'a> Found<'a> {
    /// Walks over the value at the cursor. Strings that may go over are checked in full, the rest for structure.
    pub(super) fn read(at: &mut Cursor<'a>) -> Result<Self, Error> {
        let mut found = Self::default();
        if at.shape()? != Shape::Object {
            at.raw()?;
            return Ok(found);
        }
        let mut object = at.object()?;
        while let Some(word) = object.key(at)? {
            let shape = at.shape()?;
            let is_success = word.is("success");
            found.is_success |= is_success;
            found.is_rejected |= word.is("rejected");
            let says_why = found.body.is_none() && !found.is_success && matches!(shape, Shape::Object | Shape::String);
            if !is_success && !says_why {
                at.skip()?;
                continue;
            }
            found.word = word;
            let (rest, begin) = (at.rest(), at.position());
            match shape {
                Shape::Object => found.body(at)?,
                _ => at.raw().map(|_| ())?,
            }
            found.body = Some(Raw::trusted(&rest[..at.position() - begin]));
        }
        Ok(found)
    }

    /// How the call of a tool of the kind `tool` went, and what the model sees of it. `result` is the value that was walked over.
    pub(super) fn content(&self, tool: &str, result: Raw<'a>, cx: &Cx<'a>) -> (ResultStatus, Content<'a>) {
        let mut text = Text::default();
        match self.body {
            Some(body) if self.is_success => self.said(tool, body, &mut text),
            Some(body) => self.failed(body, &mut text),
            None => text.value(result),
        }
        let is_aborted = || self.body.and_then(|body| body.get("aborted")).and_then(Raw::bool) == Some(true);
        let status = match (self.is_success, self.is_rejected) {
            (true, _) => ResultStatus::Success,
            (false, true) => ResultStatus::Denied,
            (false, false) if is_aborted() => ResultStatus::Canceled,
            (false, false) => ResultStatus::Error,
        };
        let text = text.into_str(cx);
        Made::stands_for(text.as_escaped(), result, cx);
        (status, Content::Text(text))
    }

    fn body(&mut self, at: &mut Cursor<'a>) -> Result<(), Error> {
        self.strings = [None; SAYS.len()];
        self.exit_code = None;
        let mut body = at.object()?;
        while let Some(key) = body.key(at)? {
            match at.shape()? {
                Shape::String => match SAYS.iter().position(|says| *says == key.as_escaped()) {
                    Some(place) => self.strings[place] = Some(at.string()?),
                    None => at.skip().map(|_| ())?,
                },
                Shape::Number if key.is("exitCode") => self.exit_code = Some(at.raw()?),
                _ => at.skip().map(|_| ())?,
            }
        }
        Ok(())
    }

    fn first<const N: usize>(&self, places: [usize; N]) -> Option<Str<'a>> {
        places.into_iter().find_map(|place| self.strings[place].filter(|said| !said.is_empty()))
    }

    fn said(&self, tool: &str, success: Raw<'a>, text: &mut Text<'a>) {
        match tool {
            "shellToolCall" => return self.output(text),
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
                    let parts = ["title", "url", "chunk"].into_iter().filter_map(|key| reference.get(key)?.string());
                    text.lines(parts.filter(|part| !part.is_empty()));
                }
                return;
            }
            "taskToolCall" => {
                let steps = elements(success, "conversationSteps");
                return text.lines(steps.filter_map(|step| step.get("assistantMessage")?.get("text")?.string()));
            }
            _ => {}
        }
        match OF_SUCCESS.into_iter().find_map(|place| self.strings[place]) {
            Some(whole) => text.push(whole),
            None if success.members().next().is_none() && success.shape() == Some(Shape::Object) => {}
            None => text.value(success),
        }
    }

    fn failed(&self, body: Raw<'a>, text: &mut Text<'a>) {
        if let Some(code) = self.exit_code {
            text.push(Str::trusted("Exit code "));
            text.push(Str::trusted(code.as_str()));
            text.gap("\\n");
            return self.output(text);
        }
        if let Some(reason) = body.string().or(self.first(OF_FAILURE)) {
            return text.push(reason);
        }
        text.push(self.word);
        if let Some(what) = self.first(OF_WHAT) {
            text.push(Str::trusted(": "));
            text.push(what);
        }
        if self.first(OF_COMMAND).is_some() {
            text.gap("\\n");
            self.output(text);
        }
    }

    /// What a command wrote: as it came, or what is known of it.
    fn output(&self, text: &mut Text<'a>) {
        let [whole, stdout, stderr] = OF_COMMAND.map(|place| self.strings[place].unwrap_or_default());
        for part in if whole.is_empty() { [stdout, stderr] } else { [whole, Str::EMPTY] } {
            text.push(part);
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
    let name = file.get("file").and_then(Raw::string);
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
        if part.is_empty() {
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

    fn lines(&mut self, parts: impl Iterator<Item = Str<'a>>) {
        for (n, part) in parts.enumerate() {
            if n > 0 {
                self.gap("\\n");
            }
            self.push(part);
        }
    }

    /// A string as the text that it is, another value as JSON.
    fn value(&mut self, value: Raw<'a>) {
        match value.string() {
            Some(text) => self.push(text),
            None => self.json(value),
        }
    }

    fn json(&mut self, value: Raw<'_>) {
        self.spill();
        self.many.reserve(value.as_str().len() * 9 / 8);
        Str::escape(value.as_str(), &mut self.many);
    }

    fn spill(&mut self) {
        if self.many.capacity() == 0 {
            self.many.reserve(256);
        }
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
        let cx = Cx::new(&arena);
        let found = Found::read(&mut Cursor::new(result)).unwrap();
        let (_, content) = found.content(tool, Raw::trusted(result), &cx);
        content.texts().map(|s| s.unescape().into_owned()).collect()
    }

    #[test]
    fn a_command_that_was_stopped_is_no_failure() {
        let arena = bumpalo::Bump::new();
        let cx = Cx::new(&arena);
        for (aborted, status) in [(true, ResultStatus::Canceled), (false, ResultStatus::Error)] {
            let result = format!(r#"{{"failure":{{"command":"sleep 9","exitCode":1,"aborted":{aborted}}}}}"#);
            let found = Found::read(&mut Cursor::new(&result)).unwrap();
            assert_eq!(found.content("shellToolCall", Raw::trusted(&result), &cx).0, status);
        }
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
