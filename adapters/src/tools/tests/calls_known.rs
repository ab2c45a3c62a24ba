//! Calls whose words depend on what is known of the session.

use bumpalo::Bump;

use super::calls::{call, translated};
use crate::codec::Dialect::{Claude, Cursor, QwenCode, Tricode};
use crate::event::{Content, ResultStatus, ToolCall, ToolKind, ToolResult};
use crate::json::Str;
use crate::tools::Translate;

#[test]
fn relative_paths_begin_at_the_root_where_the_folder_is_known() {
    let made = |from, to, folder: &str, name, input: &str| {
        let arena = Bump::new();
        let mut tools = Translate::new(from, to);
        tools.in_folder(Str::trusted(folder));
        let made = tools.call(&call(name, input), &arena);
        made.map(|made| format!("{} {}", made.name.as_escaped(), made.input.as_str()))
    };
    for (path, folder, whole) in [
        ("a.txt", "/w", "/w/a.txt"),
        ("./a.txt", "/w/", "/w/a.txt"),
        (".", "/w", "/w"),
        (".", "/", "/"),
        ("a", "/", "/a"),
        ("../x/a", "/w/v", "/w/x/a"),
        ("../../../a", "/w", "/../../a"),
        ("/b", "/w", "/b"),
        ("~/b", "/w", "~/b"),
        ("C:\\\\b", "/w", "C:\\\\b"),
        ("\\/b", "/w", "\\/b"),
        ("a", "", "a"),
    ] {
        let read = format!(r#"{{"path":"{path}"}}"#);
        assert_eq!(
            made(Cursor, Claude, folder, "readToolCall", &read).unwrap(),
            format!(r#"Read {{"file_path":"{whole}"}}"#)
        );
        assert_eq!(
            made(Tricode, QwenCode, folder, "read_file", &read).unwrap(),
            format!(r#"read_file {{"file_path":"{whole}"}}"#)
        );
        assert_eq!(
            made(Cursor, Tricode, folder, "readToolCall", &read).unwrap(),
            format!(r#"read_file {{"path":"{path}"}}"#)
        );
    }
    assert_eq!(made(Tricode, Claude, "/w", "list_directory", "{}").unwrap(), r#"LS {"path":"/w"}"#);
}

#[test]
fn the_folder_of_a_command_goes_into_it_only_if_somebody_wants_that() {
    let input = r#"{"command":"ls","workingDirectory":"/w/it's","timeout":1000}"#;
    let made = |cd, to| {
        let arena = Bump::new();
        let tools = Translate::new(Cursor, to).with_cd(cd);
        let made = tools.call(&call("shellToolCall", input), &arena).unwrap();
        made.input.as_str().to_owned()
    };
    assert_eq!(made(false, Claude), r#"{"command":"ls","timeout":1000}"#);
    assert_eq!(made(true, Claude), r#"{"command":"cd '/w/it'\\''s' && ls","timeout":1000}"#);
    assert_eq!(made(true, Tricode), r#"{"command":"cd '/w/it'\\''s' && ls","timeout":1}"#);
    assert_eq!(
        made(true, QwenCode),
        r#"{"command":"ls","is_background":false,"timeout":1000,"directory":"/w/it's"}"#,
        "there is a place for it"
    );
}

#[test]
fn one_thing_of_a_plan_changes_the_list() {
    let arena = Bump::new();
    let mut tools = Translate::new(Tricode, Claude);
    let update = call("plan", r#"{"action":"update","task_id":2,"status":"in_progress"}"#);
    assert_eq!(tools.call(&update, &arena), None, "no list is known");
    let create = ToolCall {
        kind: ToolKind::Todo,
        ..call("plan", r#"{"action":"create","tasks":["A",{"id":2,"desc":"B"}]}"#)
    };
    let shown = r"↳ - \u001b[32mA\u001b[0m\n  - \u001b[31m{'id': 2, 'desc': 'B'}\u001b[0m";
    let result = ToolResult::new(create.id, ResultStatus::Success, Content::Text(Str::trusted(shown)));
    let (_, shaped) = tools.result(&create, &result, &arena);
    assert_eq!(
        shaped.unwrap().content,
        Content::Text(Str::trusted(r"↳ - A\n  - {'id': 2, 'desc': 'B'}")),
        "without colours"
    );
    tools.follow(&create, &result, &arena);
    let made = tools.call(&update, &arena).unwrap();
    assert_eq!(
        made.input.as_str(),
        r#"{"todos":[{"content":"A","status":"completed","activeForm":"A"},{"content":"B","status":"in_progress","activeForm":"B"}]}"#
    );
    for input in [
        r#"{"action":"update","task_id":3,"status":"completed"}"#,
        r#"{"action":"update","task_id":0,"status":"completed"}"#,
        r#"{"action":"update","task_id":1,"status":"someday"}"#,
        r#"{"action":"check"}"#,
    ] {
        assert_eq!(tools.call(&call("plan", input), &arena), None, "{input}");
    }
}

#[test]
fn tools_of_servers_keep_their_names() {
    let input = r#"{"name":"calc-add","args":{"a":2,"b":3},"toolCallId":"t","providerIdentifier":"calc","toolName":"add"}"#;
    for to in [Claude, QwenCode, Tricode] {
        assert_eq!(translated(Cursor, to, "mcpToolCall", input).unwrap(), r#"mcp__calc__add {"a":2,"b":3}"#);
    }
}
