use bumpalo::Bump;

use crate::codec::Dialect::{self, Claude, Cursor, QwenCode, Tricode};
use crate::event::{Content, Detail, DetailShape, ResultStatus, ToolCall, ToolKind, ToolResult};
use crate::json::{Raw, Str};
use crate::tools::Translate;
use crate::tools::texts::joined;

/// A recorded call and its result: name, arguments, status, text, structured form.
#[derive(Clone, Copy)]
pub(super) struct Case<'a> {
    from: Dialect,
    name: &'a str,
    input: &'a str,
    status: ResultStatus,
    text: &'a str,
    detail: Option<&'a str>,
}

pub(super) const OK: ResultStatus = ResultStatus::Success;
pub(super) const BAD: ResultStatus = ResultStatus::Error;

pub(super) const fn case<'a>(from: Dialect, name: &'a str, input: &'a str, status: ResultStatus, text: &'a str) -> Case<'a> {
    Case {
        from,
        name,
        input,
        status,
        text,
        detail: None,
    }
}

impl<'a> Case<'a> {
    const fn with(self, detail: &'a str) -> Self {
        Self {
            detail: Some(detail),
            ..self
        }
    }

    pub(super) fn call(&self) -> ToolCall<'a> {
        ToolCall {
            id: Str::trusted("c1"),
            name: Str::trusted(self.name),
            kind: ToolKind::Other,
            input: Raw::trusted(self.input),
            fields: &[],
        }
    }

    pub(super) fn result(&self) -> ToolResult<'a> {
        let shape = if self.from == Cursor { DetailShape::Cursor } else { DetailShape::Claude };
        ToolResult {
            detail: self.detail.map(|raw| Detail {
                shape,
                raw: Raw::trusted(raw),
            }),
            ..ToolResult::new(Str::trusted("c1"), self.status, Content::Text(Str::trusted(self.text)))
        }
    }

    /// The text and the structured form in the target, if something changed.
    fn to(&self, to: Dialect) -> Option<(String, Option<String>)> {
        let arena = Bump::new();
        let tools = Translate::new(self.from, to);
        let (call, made) = tools.result(&self.call(), &self.result(), &arena);
        call.inspect(|call| valid(call.input));
        let made = made?;
        let text = joined(made.content, &arena);
        valid(Raw::trusted(&format!("\"{}\"", text.as_escaped())));
        made.detail.inspect(|detail| valid(detail.raw));
        Some((text.as_escaped().to_owned(), made.detail.map(|detail| detail.raw.as_str().to_owned())))
    }

    fn text_in(&self, to: Dialect) -> String {
        self.to(to).map_or(self.text.to_owned(), |(text, _)| text)
    }

    fn detail_in(&self, to: Dialect) -> String {
        self.to(to).and_then(|(_, detail)| detail).unwrap_or_default()
    }

    fn answered(&self, to: Dialect) -> String {
        let arena = Bump::new();
        let call = Translate::new(self.from, to)
            .result(&self.call(), &self.result(), &arena)
            .0
            .unwrap_or(self.call());
        format!("{} {}", call.name.as_escaped(), call.input.as_str())
    }
}

pub(super) fn valid(json: Raw<'_>) {
    serde_json::from_str::<&serde_json::value::RawValue>(json.as_str()).unwrap_or_else(|e| panic!("{e}: {}", json.as_str()));
}

const READ: Case<'_> = case(Claude, "Read", r#"{"file_path":"/workspace/hello.txt"}"#, OK, r"1\thello\n2\tworld\n3\t")
    .with(r#"{"type":"text","file":{"filePath":"/workspace/hello.txt","content":"hello\nworld\n","numLines":3,"startLine":1,"totalLines":3}}"#);

#[test]
fn a_file_that_was_read() {
    let typed = r#"{"success":{"content":"hello\nworld\n","isEmpty":false,"exceededLimit":false,"totalLines":3,"fileSize":12,"path":"/workspace/hello.txt","readRange":{"startLine":1,"endLine":3},"relatedCursorRulePaths":[],"relatedCursorRules":[]}}"#;
    assert_eq!(READ.detail_in(Cursor), typed);
    assert_eq!(READ.text_in(QwenCode), r"hello\nworld\n");
    assert_eq!(READ.text_in(Tricode), r"1: hello\n2: world\n");
    // The same without the structured form, as in subagents, and with the older numbers.
    assert_eq!(Case { detail: None, ..READ }.detail_in(Cursor), typed);
    assert_eq!(
        Case {
            detail: None,
            text: r"     1→hello\n     2→world\n     3→",
            ..READ
        }
        .detail_in(Cursor),
        typed
    );
    // Back, and from where lines have no numbers or other ones.
    let claude = r#"{"type":"text","file":{"filePath":"/workspace/hello.txt","content":"hello\nworld\n","numLines":3,"startLine":1,"totalLines":3}}"#;
    let cursor = case(Cursor, "readToolCall", r#"{"path":"/workspace/hello.txt"}"#, OK, r"hello\nworld\n").with(typed);
    assert_eq!(cursor.to(Claude), Some((READ.text.into(), Some(claude.into()))));
    assert_eq!(cursor.text_in(Tricode), r"1: hello\n2: world\n");
    assert_eq!(cursor.to(QwenCode), None);
    for text in [r"1: hello\n2: world\n", r"hello\nworld\n"] {
        let tricode = case(Tricode, "read_file", r#"{"path":"/workspace/hello.txt"}"#, OK, text);
        assert_eq!(tricode.to(Claude), Some((READ.text.into(), Some(claude.into()))));
        assert_eq!(tricode.detail_in(Cursor), typed);
        assert_eq!(tricode.text_in(QwenCode), r"hello\nworld\n");
    }
    let qwen = case(QwenCode, "read_file", r#"{"file_path":"/workspace/hello.txt"}"#, OK, r"hello\nworld\n");
    assert_eq!(qwen.to(Claude), Some((READ.text.into(), Some(claude.into()))));
    assert_eq!(qwen.text_in(Tricode), r"1: hello\n2: world\n");
    // An empty file has one empty piece and no line.
    let empty = case(Tricode, "read_file", r#"{"path":"e"}"#, OK, "");
    assert_eq!(empty.text_in(Claude), r"1\t");
    assert!(
        empty
            .detail_in(Cursor)
            .contains(r#""isEmpty":true,"exceededLimit":false,"totalLines":1,"fileSize":0"#)
    );
    // Metadata around it (recorded; the hash shortened).
    let meta = r#"{\"path\": \"/workspace/README.md\", \"total_lines\": 3, \"mtime\": \"2025-01-01T12:00:00\", \"sha256\": \"a7\", \"content\": \"1: # Demo\\n2: \\n3: A small project.\\n\"}"#;
    let meta = case(Tricode, "read_file", r#"{"path":"README.md","with_metadata":true}"#, OK, meta);
    assert_eq!(meta.text_in(Claude), r"1\t# Demo\n2\t\n3\tA small project.\n4\t");
    assert_eq!(meta.text_in(QwenCode), r"# Demo\n\nA small project.\n");
}

#[test]
fn a_part_of_a_file_that_was_read() {
    let part = case(
        Tricode,
        "read_file",
        r#"{"path":"m.py","start_line":1,"end_line":2}"#,
        OK,
        r"1: import sys\n2: \n",
    );
    assert_eq!(part.text_in(Claude), r"1\timport sys\n2\t");
    assert_eq!(
        part.detail_in(Claude),
        r#"{"type":"text","file":{"filePath":"m.py","content":"import sys\n","numLines":2,"startLine":1}}"#
    );
    let back = case(
        Claude,
        "Read",
        r#"{"file_path":"m.py","offset":1,"limit":2}"#,
        OK,
        r"1\timport sys\n2\tx = 1",
    );
    assert_eq!(back.text_in(Tricode), r"1: import sys\n2: x = 1\n");
    let more = r#"{"type":"text","file":{"filePath":"m.py","content":"x = 1","numLines":1,"startLine":2,"totalLines":9}}"#;
    let more = case(Claude, "Read", r#"{"file_path":"m.py","offset":2,"limit":1}"#, OK, r"2\tx = 1").with(more);
    assert_eq!(more.text_in(Tricode), r"2: x = 1\n");
    assert!(
        more.detail_in(Cursor)
            .contains(r#""totalLines":9,"path":"m.py","readRange":{"startLine":2,"endLine":2}"#)
    );
    // More was asked for than there is.
    let note = r"9: if x:\n10:     main()\nNOTE: Requested end_line exceeds file length; this is all available content.\n";
    let note = case(Tricode, "read_file", r#"{"path":"m.py","start_line":9,"end_line":99}"#, OK, note);
    assert_eq!(note.text_in(Claude), r"9\tif x:\n10\t    main()\n11\t");
    // Cut off after some bytes: nobody knows how much there is.
    let cut = case(Tricode, "read_file", r#"{"path":"u","max_bytes":8}"#, OK, "1: héllo ");
    assert!(
        cut.detail_in(Cursor)
            .starts_with(r#"{"success":{"content":"héllo ","isEmpty":false,"exceededLimit":false,"path":"u""#)
    );
    // Qwen speaks about the file.
    let about = case(
        QwenCode,
        "read_file",
        r#"{"file_path":"a"}"#,
        OK,
        r"Showing lines 1-2 of 9 total lines.\n\n---\n\na\nb",
    );
    assert_eq!(about.to(Claude), None);
    assert_eq!(about.to(Tricode), None);
}

#[test]
fn what_cannot_be_typed_keeps_its_text() {
    let reminder = Case {
        text: r"<system-reminder>the file is empty</system-reminder>",
        detail: None,
        ..READ
    };
    assert_eq!(
        reminder.detail_in(Cursor),
        r#"{"success":{"content":"<system-reminder>the file is empty</system-reminder>"}}"#
    );
    assert_eq!(reminder.to(Tricode), None);
    let missing = Case {
        status: BAD,
        text: "File does not exist.",
        detail: Some(r#""Error: File does not exist.""#),
        ..READ
    };
    assert_eq!(missing.detail_in(Cursor), r#"{"error":{"errorMessage":"File does not exist."}}"#);
    assert_eq!(missing.to(Tricode), None);
    let denied = Case {
        status: ResultStatus::Denied,
        text: "No.",
        detail: Some(r#""Error: No.""#),
        ..READ
    };
    assert_eq!(denied.detail_in(Cursor), r#"{"rejected":{"reason":"No."}}"#);
    // A tool that nobody knows, and a call that stays as it is: the text goes over as it is.
    let unknown = case(Claude, "NoSuchTool", r#"{"x":1}"#, BAD, "<tool_use_error>no</tool_use_error>");
    assert_eq!(
        unknown.detail_in(Cursor),
        r#"{"error":{"errorMessage":"<tool_use_error>no</tool_use_error>"}}"#
    );
    assert_eq!(unknown.to(Tricode), None);
    assert_eq!(
        case(Claude, "Read", r#"{"file_path":"a","offset":1,"limit":0}"#, OK, r"1\ta").to(Tricode),
        None
    );
    assert_eq!(case(Claude, "TodoWrite", r#"{"todos":[]}"#, OK, "ok").to(Tricode), None);
    assert_eq!(
        case(Tricode, "read_file", r#"{"path":"nope"}"#, BAD, "File not found: /w/nope").detail_in(Claude),
        r#""Error: File not found: /w/nope""#
    );
}

#[test]
fn commands_and_their_exit_codes() {
    let ran = case(Claude, "Bash", r#"{"command":"echo hi","description":"d"}"#, OK, r"hi\nerr")
        .with(r#"{"stdout":"hi","stderr":"err","interrupted":false,"isImage":false,"noOutputExpected":false}"#);
    assert_eq!(
        ran.detail_in(Cursor),
        r#"{"success":{"command":"echo hi","workingDirectory":"","exitCode":0,"signal":"","stdout":"hi\n","stderr":"err\n","interleavedOutput":"hi\nerr\n"},"isBackground":false}"#
    );
    assert_eq!(ran.text_in(Tricode), r"hi\n\n[stderr]\nerr\n", "as recorded");
    let failed = case(Claude, "Bash", r#"{"command":"exit 3"}"#, BAD, r"Exit code 3\nout\nerr").with(r#""Error: Exit code 3\nout\nerr""#);
    let typed = r#"{"failure":{"command":"exit 3","workingDirectory":"","exitCode":3,"signal":"","stdout":"out\nerr\n","stderr":"","interleavedOutput":"out\nerr\n","aborted":false},"isBackground":false}"#;
    assert_eq!(failed.detail_in(Cursor), typed);
    assert_eq!(failed.text_in(Tricode), r"Exit code 3\nout\nerr\n");
    let back = case(
        Cursor,
        "shellToolCall",
        r#"{"command":"exit 3","workingDirectory":""}"#,
        BAD,
        r"out\nerr\n",
    )
    .with(typed);
    assert_eq!(back.to(Claude), Some((failed.text.into(), Some(failed.detail.unwrap().into()))));
    assert_eq!(back.text_in(Tricode), r"Exit code 3\nout\nerr\n");
    assert_eq!(back.text_in(QwenCode), failed.text);
    // It did not run: no exit code is made up.
    let hook = Case {
        text: "hook error: no",
        ..failed
    };
    assert_eq!(
        hook.detail_in(Cursor),
        r#"{"failure":{"command":"exit 3","workingDirectory":"","signal":"","stdout":"hook error: no","stderr":"","interleavedOutput":"hook error: no","aborted":false},"isBackground":false}"#
    );
    let stopped = Case {
        status: ResultStatus::Canceled,
        ..hook
    };
    assert!(stopped.detail_in(Cursor).contains(r#""aborted":true"#));
    let denied = Case {
        status: ResultStatus::Denied,
        ..hook
    };
    assert_eq!(
        denied.detail_in(Cursor),
        r#"{"rejected":{"command":"exit 3","workingDirectory":"","reason":"hook error: no","isReadonly":false}}"#
    );
    // Qwen reports (recorded).
    let report = r"Command: echo before; exit 3\nDirectory: (root)\nOutput: before\nmore\nError: (none)\nExit Code: 3\nSignal: (none)\nProcess Group PGID: (none)";
    let report = case(
        QwenCode,
        "run_shell_command",
        r#"{"command":"echo before; exit 3","is_background":false}"#,
        BAD,
        report,
    );
    let detail = report.detail_in(Cursor);
    assert!(
        detail.contains(r#""exitCode":3,"signal":"","stdout":"before\nmore\n","stderr":"","interleavedOutput":"before\nmore\n"#),
        "{detail}"
    );
    assert_eq!(report.text_in(Claude), r"Exit code 3\nbefore\nmore");
    assert_eq!(report.text_in(Tricode), r"Exit code 3\nbefore\nmore\n");
    let quiet = r"Command: touch m2\nDirectory: (root)\nOutput: (empty)\nError: (none)\nExit Code: 0\nSignal: (none)\nProcess Group PGID: 9945";
    let quiet = Case {
        status: OK,
        text: quiet,
        ..report
    };
    assert!(quiet.detail_in(Cursor).contains(r#""exitCode":0,"signal":"","stdout":"","stderr":"","#));
    assert_eq!(quiet.text_in(Tricode), "[no output]");
    assert_eq!(quiet.text_in(Claude), "(Bash completed with no output)");
}

#[test]
fn what_a_command_printed_ends_as_the_target_ends_it() {
    let shell = |from, text| {
        let (name, input) = match from {
            Claude => ("Bash", r#"{"command":"c"}"#),
            QwenCode => ("run_shell_command", r#"{"command":"c","is_background":false}"#),
            _ => ("run_command", r#"{"command":"c"}"#),
        };
        case(from, name, input, OK, text)
    };
    for (from, text, claude, qwen, tricode) in [
        (Claude, "loop 0", "loop 0", "loop 0", r"loop 0\n"),
        (QwenCode, r"a\nb", r"a\nb", r"a\nb", r"a\nb\n"),
        (Tricode, r"hi\n", "hi", "hi", r"hi\n"),
        (Tricode, r"a\nb\nc", r"a\nb\nc", r"a\nb\nc", r"a\nb\nc"),
        (Tricode, r"a\r\n\n", "a", "a", r"a\r\n\n"),
        (Tricode, r"out\n\n[stderr]\nerr\n", r"out\nerr", r"out\nerr", r"out\n\n[stderr]\nerr\n"),
        (Tricode, "[no output]", "(Bash completed with no output)", "", "[no output]"),
        (
            Claude,
            "(Bash completed with no output)",
            "(Bash completed with no output)",
            "",
            "[no output]",
        ),
        (Claude, r"a\\n", r"a\\n", r"a\\n", r"a\\n\n"),
    ] {
        let case = shell(from, text);
        for (to, want) in [(Claude, claude), (QwenCode, qwen), (Tricode, tricode)] {
            assert_eq!(case.text_in(to), want, "{text} from {from:?} to {to:?}");
        }
    }
    // A text that is too long is told as its beginning; the structured form has all of it.
    let long =
        shell(Claude, r"<persisted-output>\nOutput too large (1KB).\n\nPreview:\nx").with(r#"{"stdout":"x\ny","stderr":"","interrupted":false}"#);
    assert_eq!(long.text_in(Tricode), r"x\ny\n");
}

const EDIT: Case<'_> = case(
    Claude,
    "Edit",
    r#"{"replace_all":false,"file_path":"/workspace/hello.txt","old_string":"hello","new_string":"goodbye"}"#,
    OK,
    "The file /workspace/hello.txt has been updated successfully.",
)
.with(
    r#"{"filePath":"/workspace/hello.txt","oldString":"hello","newString":"goodbye","originalFile":"hello\nworld\n","structuredPatch":[{"oldStart":1,"oldLines":2,"newStart":1,"newLines":2,"lines":["-hello","+goodbye"," world"]}],"userModified":false,"replaceAll":false}"#,
);

#[test]
fn edits_carry_their_diff() {
    let typed = r#"{"success":{"path":"/workspace/hello.txt","linesAdded":1,"linesRemoved":1,"diffString":"--- a//workspace/hello.txt\n+++ b//workspace/hello.txt\n@@ -1,2 +1,2 @@\n-hello\n+goodbye\n world","beforeFullFileContent":"hello\nworld\n","afterFullFileContent":"goodbye\nworld\n","message":"The file /workspace/hello.txt has been updated successfully."}}"#;
    assert_eq!(EDIT.detail_in(Cursor), typed);
    let json = r#"{\"success\": true, \"path\": \"/workspace/hello.txt\", \"applied\": true, \"mode\": \"patch\", \"hunks_applied\": 1, \"diff\": \"--- a/hello.txt\\n+++ b/hello.txt\\n@@ -1,2 +1,2 @@\\n-hello\\n+goodbye\\n world\\n\"}"#;
    assert_eq!(EDIT.text_in(Tricode), json);
    assert_eq!(
        EDIT.answered(Tricode),
        r#"edit_file {"path":"/workspace/hello.txt","hunks":[{"op":"replace","anchor":{"type":"exact","pattern":"hello"},"content":"goodbye"}]}"#
    );
    assert_eq!(EDIT.to(QwenCode), None);
    // Without the structured form nobody knows where it was.
    let bare = Case { detail: None, ..EDIT };
    assert_eq!(bare.to(Tricode), None);
    assert_eq!(
        bare.detail_in(Cursor),
        r#"{"success":{"path":"/workspace/hello.txt","linesAdded":1,"linesRemoved":1,"diffString":"-hello\n+goodbye","message":"The file /workspace/hello.txt has been updated successfully."}}"#
    );
    // Tricode's answer keeps its text and gains the structured form.
    let tricode = case(
        Tricode,
        "edit_file",
        r#"{"path":"/workspace/hello.txt","hunks":[{"op":"replace","anchor":{"type":"exact","pattern":"hello"},"content":"goodbye"}]}"#,
        OK,
        json,
    );
    assert_eq!(
        tricode.to(Claude),
        Some((
            json.into(),
            Some(r#"{"filePath":"/workspace/hello.txt","oldString":"hello","newString":"goodbye","structuredPatch":[{"oldStart":1,"oldLines":2,"newStart":1,"newLines":2,"lines":["-hello","+goodbye"," world"]}],"userModified":false,"replaceAll":false}"#.into())
        ))
    );
    assert!(
        tricode
            .detail_in(Cursor)
            .contains(r#""linesAdded":1,"linesRemoved":1,"diffString":"--- a//workspace/hello.txt\n+++ b//workspace/hello.txt\n@@ -1,2 +1,2 @@"#)
    );
    // Cursor's own: what was there before is in the result, not in the call.
    let cursor = case(
        Cursor,
        "editToolCall",
        r#"{"path":"/workspace/hello.txt","streamContent":"goodbye"}"#,
        OK,
        "m",
    )
    .with(typed);
    let claude = cursor.detail_in(Claude);
    assert_eq!(claude, EDIT.detail.unwrap());
    assert_eq!(cursor.answered(Tricode), EDIT.answered(Tricode));
    assert_eq!(cursor.text_in(Tricode), json);
    // What was there before stands twice: the whole file is written over.
    let twice = typed
        .replace("hello\\nworld\\n", "hello\\nhello\\n")
        .replace("goodbye\\nworld\\n", "goodbye\\nhello\\n")
        .replace("\\n world", "\\n hello");
    let twice = Case {
        detail: Some(&twice),
        ..cursor
    };
    assert_eq!(
        twice.answered(Tricode),
        r#"edit_file {"path":"/workspace/hello.txt","mode":"overwrite","content":"goodbye\nhello\n"}"#
    );
    assert!(
        twice
            .text_in(Tricode)
            .contains(r#"\"mode\": \"overwrite\", \"bytes_written\": 14, \"diff\": \"--- a/hello.txt\\n"#)
    );
    // Nothing was there that the new text stands for.
    let other = typed.replace("hello\\nworld\\n\",\"after", "quite another\",\"after");
    assert!(
        Case {
            detail: Some(&other),
            ..cursor
        }
        .answered(Tricode)
        .contains("overwrite")
    );
}

#[test]
fn files_that_were_written() {
    let new = case(
        Claude,
        "Write",
        r#"{"file_path":"/w/a.txt","content":"asked\n"}"#,
        OK,
        "File created successfully at: /w/a.txt",
    )
    .with(r#"{"type":"create","filePath":"/w/a.txt","content":"asked\n","structuredPatch":[],"originalFile":null,"userModified":false}"#);
    let typed = r#"{"success":{"path":"/w/a.txt","linesAdded":1,"linesRemoved":0,"diffString":"--- /dev/null\n+++ b//w/a.txt\n@@ -1,0 +1 @@\n+asked","afterFullFileContent":"asked\n","message":"File created successfully at: /w/a.txt"}}"#;
    assert_eq!(new.detail_in(Cursor), typed);
    assert_eq!(Case { detail: None, ..new }.detail_in(Cursor), typed);
    assert_eq!(new.answered(Tricode), r#"create_file {"path":"/w/a.txt","content":"asked\n"}"#);
    assert_eq!(new.to(Tricode), None);
    let over = Case { text: "The file /w/a.txt has been updated.", ..new }
        .with(r#"{"type":"update","filePath":"/w/a.txt","content":"asked\n","structuredPatch":[{"oldStart":1,"oldLines":1,"newStart":1,"newLines":1,"lines":["-x","+asked"]}],"originalFile":"x\n","userModified":false}"#);
    assert_eq!(
        over.answered(Tricode),
        r#"edit_file {"path":"/w/a.txt","mode":"overwrite","content":"asked\n"}"#
    );
    assert_eq!(
        over.text_in(Tricode),
        r#"{\"success\": true, \"path\": \"/w/a.txt\", \"applied\": true, \"mode\": \"overwrite\", \"bytes_written\": 6, \"diff\": \"--- a/a.txt\\n+++ b/a.txt\\n@@ -1 +1 @@\\n-x\\n+asked\\n\", \"created\": false}"#
    );
    let cursor = case(
        Cursor,
        "editToolCall",
        r#"{"path":"/w/a.txt","streamContent":"asked\n"}"#,
        OK,
        "Wrote contents to /w/a.txt",
    )
    .with(typed);
    assert_eq!(cursor.answered(Tricode), r#"create_file {"path":"/w/a.txt","content":"asked\n"}"#);
    assert_eq!(
        cursor.detail_in(Claude),
        r#"{"type":"create","filePath":"/w/a.txt","content":"asked\n","structuredPatch":[],"originalFile":null,"userModified":false}"#
    );
    let qwen = case(
        QwenCode,
        "write_file",
        r#"{"file_path":"/w/n","content":"x\ny\n"}"#,
        OK,
        "Successfully created and wrote to new file: /w/n.",
    );
    assert_eq!(
        qwen.detail_in(Claude),
        r#"{"type":"create","filePath":"/w/n","content":"x\ny\n","structuredPatch":[],"originalFile":null,"userModified":false}"#
    );
    // Recorded, older: all that is known is the call.
    let old = case(Cursor, "writeToolCall", r#"{"path":"s.txt","fileText":"x","toolCallId":"t"}"#, OK, "")
        .with(r#"{"success":{"path":"/p/s.txt","linesCreated":1,"fileSize":1}}"#);
    assert_eq!(old.detail_in(Claude), "");
}

#[test]
fn searches_and_the_rest_are_typed() {
    let grep = case(
        Tricode,
        "search_context",
        r#"{"pattern":"def ","path":"."}"#,
        OK,
        r"/w/src/m.py:3:def main():\n/w/src/m.py:6:def other():\n/w/t.py:1:def a(): x\n",
    );
    assert_eq!(
        grep.detail_in(Cursor),
        r#"{"success":{"pattern":"def ","path":".","outputMode":"content","workspaceResults":{".":{"content":{"matches":[{"file":"/w/src/m.py","matches":[{"lineNumber":3,"content":"def main():","contentTruncated":false,"isContextLine":false},{"lineNumber":6,"content":"def other():","contentTruncated":false,"isContextLine":false}]},{"file":"/w/t.py","matches":[{"lineNumber":1,"content":"def a(): x","contentTruncated":false,"isContextLine":false}]}],"totalLines":3,"totalMatchedLines":3,"clientTruncated":false,"ripgrepTruncated":false}}}}}"#
    );
    let one = Case {
        input: r#"{"pattern":"x","path":"a.c"}"#,
        text: "12:int x;",
        ..grep
    };
    assert!(
        one.detail_in(Cursor)
            .contains(r#""matches":[{"file":"a.c","matches":[{"lineNumber":12,"content":"int x;""#)
    );
    let none = Case {
        text: "No matches found",
        ..grep
    };
    assert!(none.detail_in(Cursor).contains(r#""matches":[],"totalLines":0"#));
    let files = case(Claude, "Grep", r#"{"pattern":"x"}"#, OK, r"Found 1 file\n/w/a");
    assert_eq!(files.detail_in(Cursor), r#"{"success":{"content":"Found 1 file\n/w/a"}}"#);
    let glob = case(Claude, "Glob", r#"{"pattern":"*.rs","path":"/w"}"#, OK, r"/w/a.rs\n/w/b.rs");
    assert_eq!(
        glob.detail_in(Cursor),
        r#"{"success":{"pattern":"","path":"/w","files":["/w/a.rs","/w/b.rs"],"totalFiles":2,"clientTruncated":false,"ripgrepTruncated":false}}"#
    );
    assert_eq!(
        case(QwenCode, "glob", r#"{"pattern":"*"}"#, OK, "Found 1 matching file(s)").detail_in(Cursor),
        r#"{"success":{"content":"Found 1 matching file(s)"}}"#
    );
    let todos = case(
        Claude,
        "TodoWrite",
        r#"{"todos":[{"content":"a","status":"pending","activeForm":"x"}]}"#,
        OK,
        "Todos have been modified",
    );
    assert_eq!(
        todos.detail_in(Cursor),
        r#"{"success":{"todos":[{"id":"1","content":"a","status":"TODO_STATUS_PENDING"}],"totalCount":1,"wasMerge":false}}"#
    );
    let mcp = case(Claude, "mcp__calc__add", r#"{"a":1}"#, OK, "42");
    assert_eq!(
        mcp.detail_in(Cursor),
        r#"{"success":{"content":[{"text":{"text":"42"}}],"isError":false}}"#
    );
    let back = case(
        Cursor,
        "mcpToolCall",
        r#"{"name":"calc-add","args":{"a":1},"providerIdentifier":"calc","toolName":"add"}"#,
        OK,
        "42",
    )
    .with(r#"{"success":{"content":[{"text":{"text":"42"}}],"isError":false}}"#);
    assert_eq!(back.detail_in(Claude), r#"[{"type":"text","text":"42"}]"#);
    let fetch = case(Claude, "WebFetch", r#"{"url":"https://x","prompt":"p"}"#, OK, "page");
    assert_eq!(fetch.detail_in(Cursor), r#"{"success":{"url":"https://x","markdown":"page"}}"#);
    assert_eq!(
        case(Tricode, "delete_file", r#"{"path":"n.txt"}"#, OK, "Deleted file: /w/n.txt").detail_in(Cursor),
        r#"{"success":{"path":"n.txt","deletedFile":"n.txt"}}"#
    );
    let agent = case(Claude, "Agent", r#"{"description":"d","prompt":"p","subagent_type":"g"}"#, OK, "report").with(
        r#"{"status":"completed","prompt":"p","agentId":"a1","agentType":"g","content":[{"type":"text","text":"all fine"}],"totalDurationMs":155}"#,
    );
    assert_eq!(
        agent.detail_in(Cursor),
        r#"{"success":{"conversationSteps":[{"assistantMessage":{"text":"report"}}],"agentId":"a1","isBackground":false,"durationMs":"155"}}"#
    );
}
