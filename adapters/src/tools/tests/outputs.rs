use bumpalo::Bump;

use crate::event::{Content, Detail, DetailShape, ResultStatus, ToolCall, ToolKind, ToolResult};
use crate::json::{Raw, Str};
use crate::tools::{ToolOutput, output};

fn show<'a>(name: &'a str, input: &'a str, text: &'a str, detail: Option<(DetailShape, &'a str)>, arena: &'a Bump) -> ToolOutput<'a> {
    let call = ToolCall {
        id: Str::EMPTY,
        name: Str::trusted(name),
        kind: ToolKind::Other,
        input: Raw::trusted(input),
        fields: &[],
    };
    let result = ToolResult {
        detail: detail.map(|(shape, raw)| Detail {
            shape,
            raw: Raw::trusted(raw),
        }),
        ..ToolResult::new(Str::EMPTY, ResultStatus::Success, Content::Text(Str::trusted(text)))
    };
    output(Some(&call), &result, arena)
}

proptest::proptest! {
    #[test]
    fn a_text_is_replaced_as_it_is_spelled(before in "[ab\n\\\\\"né\u{1}]{0,8}", old in "[ab\n\\\\\"n]{0,2}", new in "[ab\n\\\\/]{0,2}") {
        let body = |text: &str| {
            let mut body = String::new();
            Str::escape(text, &mut body);
            body
        };
        let detail = format!(
            r#"{{"filePath":"p","oldString":"{}","newString":"{}","originalFile":"{}"}}"#,
            body(&old), body(&new), body(&before)
        );
        let arena = Bump::new();
        let ToolOutput::Edited(change) = show("Edit", "{}", "ok", Some((DetailShape::Claude, &detail)), &arena) else {
            panic!("an edit is an edit");
        };
        let after = before.contains(&old).then(|| body(&before.replacen(&old, &new, 1)));
        proptest::prop_assert_eq!(change.after.map(Str::as_escaped), after.as_deref());
    }
}

#[test]
fn a_change_has_its_diff_and_its_numbers_whoever_made_it() {
    let arena = Bump::new();
    let diff = r"--- a/w/h\n+++ b/w/h\n@@ -1,2 +1,2 @@\n-hello\n+goodbye\n world\n";
    let claude = r#"{"filePath":"w/h","oldString":"hello","newString":"goodbye","originalFile":"hello\nworld\n","structuredPatch":[{"oldStart":1,"oldLines":2,"newStart":1,"newLines":2,"lines":["-hello","+goodbye"," world"]}],"userModified":false,"replaceAll":false}"#;
    let tricode = r#"{\"success\": true, \"path\": \"w/h\", \"applied\": true, \"mode\": \"patch\", \"diff\": \"--- a/w/h\\n+++ b/w/h\\n@@ -1,2 +1,2 @@\\n-hello\\n+goodbye\\n world\\n\"}"#;
    let qwen =
        format!(r#"{{"kind":"file_diff","file_name":"w/h","diff":"{diff}","original":"hello\nworld\n","modified":"goodbye\nworld\n","stat":{{}}}}"#);
    for shown in [
        show(
            "Edit",
            r#"{"file_path":"w/h","old_string":"hello","new_string":"goodbye"}"#,
            "ok",
            Some((DetailShape::Claude, claude)),
            &arena,
        ),
        // In another dialect's words already.
        show(
            "edit",
            r#"{"file_path":"w/h","old_string":"hello","new_string":"goodbye"}"#,
            "ok",
            Some((DetailShape::Claude, claude)),
            &arena,
        ),
        show(
            "edit_file",
            r#"{"path":"w/h","hunks":[{"op":"replace","anchor":{"type":"exact","pattern":"hello"},"content":"goodbye"}]}"#,
            tricode,
            None,
            &arena,
        ),
        show("whatever", "{}", "ok", Some((DetailShape::Qwen, &qwen)), &arena),
        // An edit that no other dialect knows.
        show("edit_file", r#"{"path":"w/h","hunks":[{"op":"delete"}]}"#, tricode, None, &arena),
    ] {
        let ToolOutput::Edited(change) = shown else { panic!("{shown:?}") };
        assert_eq!(change.path.as_escaped(), "w/h");
        assert_eq!(change.diff(&arena), Some((Str::trusted(diff), Some((1, 1)))));
    }
    let ToolOutput::Edited(change) = show("Edit", "{}", "ok", Some((DetailShape::Claude, claude)), &arena) else {
        panic!()
    };
    assert_eq!(
        (change.before, change.after),
        (Some(Str::trusted(r"hello\nworld\n")), Some(Str::trusted(r"goodbye\nworld\n")))
    );
    // A new file is all additions.
    let new = r#"{"type":"create","filePath":"/w/n","content":"a\nb\n","structuredPatch":[],"originalFile":null,"userModified":false}"#;
    let ToolOutput::Wrote(change) = show(
        "Write",
        r#"{"file_path":"/w/n","content":"a\nb\n"}"#,
        "ok",
        Some((DetailShape::Claude, new)),
        &arena,
    ) else {
        panic!()
    };
    assert_eq!(change.created, Some(true));
    let diff = Str::trusted(r"--- /dev/null\n+++ b//w/n\n@@ -0,0 +1,2 @@\n+a\n+b\n");
    assert_eq!(change.diff(&arena), Some((diff, Some((2, 0)))));
    // The user had a hand in it: only the patch tells.
    let touched = claude.replace("\"userModified\":false", "\"userModified\":true");
    let ToolOutput::Edited(change) = show("Edit", "{}", "ok", Some((DetailShape::Claude, &touched)), &arena) else {
        panic!()
    };
    assert_eq!(change.after, None);
}

#[test]
fn lists_plans_and_subagents() {
    let arena = Bump::new();
    let words = |shown| {
        let ToolOutput::Todos(list) = shown else { panic!("{shown:?}") };
        list.iter()
            .map(|todo| format!("{} {}", todo.content.as_escaped(), todo.status.word()))
            .collect::<Vec<_>>()
    };
    let list = r#"{"todos":[{"content":"a","status":"in_progress","activeForm":"x"}]}"#;
    assert_eq!(words(show("TodoWrite", list, "ok", None, &arena)), ["a in_progress"]);
    assert_eq!(
        words(show(
            "plan",
            r#"{"action":"update","task_id":1,"status":"completed"}"#,
            r"↳ - \u001b[32mA [1m\u001b[0m\n  - \u001b[33mB\u001b[0m",
            None,
            &arena
        )),
        ["A [1m completed", "B in_progress"]
    );
    let cursor = r#"{"success":{"todos":[{"id":"1","content":"a","status":"TODO_STATUS_CANCELLED"}],"totalCount":1,"wasMerge":true}}"#;
    assert_eq!(
        words(show(
            "updateTodosToolCall",
            r#"{"todos":[],"merge":true}"#,
            "",
            Some((DetailShape::Cursor, cursor)),
            &arena
        )),
        ["a cancelled"]
    );
    assert!(matches!(
        show("plan", r#"{"action":"skip"}"#, "Plan skipped", None, &arena),
        ToolOutput::Text(_)
    ));
    let plan = r#"{"plan":null,"isAgent":false,"filePath":"/p.md"}"#;
    let ToolOutput::Plan { message, plan } = show(
        "ExitPlanMode",
        r#"{"plan":"1. do it"}"#,
        "approved",
        Some((DetailShape::Claude, plan)),
        &arena,
    ) else {
        panic!()
    };
    assert_eq!((message.as_escaped(), plan.unwrap().as_escaped()), ("approved", "1. do it"));
    let agent = r#"{"status":"completed","prompt":"p","agentId":"a5","agentType":"general-purpose","content":[{"type":"text","text":"<used>"},{"type":"text","text":"fine"}],"totalDurationMs":155}"#;
    let ToolOutput::Subagent(task) = show("Agent", r#"{"prompt":"p"}"#, "long", Some((DetailShape::Claude, agent)), &arena) else {
        panic!()
    };
    assert_eq!(
        (task.text.as_escaped(), task.milliseconds, task.name.unwrap().as_escaped()),
        ("fine", Some(155), "general-purpose")
    );
}

#[test]
fn deep_results_need_no_stack() {
    let arena = Bump::new();
    let deep = format!(
        "{{\"success\":{{\"directoryTreeRoot\":{}1{}}}}}",
        "{\"childrenDirs\":[".repeat(20_000),
        "]}".repeat(20_000)
    );
    for name in ["Read", "Edit", "Bash", "Glob", "TodoWrite", "Agent"] {
        for shape in [DetailShape::Claude, DetailShape::Cursor, DetailShape::Qwen] {
            show(name, &deep, "x", Some((shape, &deep)), &arena);
        }
    }
}
