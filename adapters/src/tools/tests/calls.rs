use bumpalo::Bump;

use crate::codec::Dialect::{self, Claude, Cursor, QwenCode, Tricode};
use crate::event::{ToolCall, ToolKind};
use crate::json::{Raw, Str};
use crate::tools::args::Args;
use crate::tools::{Tools, Translate, kind_of};

pub(super) const ALL: [Dialect; 4] = [Claude, QwenCode, Cursor, Tricode];

pub(super) fn call<'a>(name: &'a str, input: &'a str) -> ToolCall<'a> {
    ToolCall {
        id: Str::trusted("c1"),
        name: Str::trusted(name),
        kind: ToolKind::Other,
        input: Raw::trusted(input),
        fields: &[],
    }
}

/// What becomes of a call, as `NAME INPUT`.
pub(super) fn translated(from: Dialect, to: Dialect, name: &str, input: &str) -> Option<String> {
    let arena = Bump::new();
    let made = Translate::new(from, to).call(&call(name, input), &arena)?;
    serde_json::from_str::<&serde_json::value::RawValue>(made.input.as_str()).expect("valid JSON");
    assert_ne!(kind_of(to, made.name), ToolKind::Other, "the target knows its own name");
    Some(format!("{} {}", made.name.as_escaped(), made.input.as_str()))
}

/// A call in the words of several dialects. Every one of them becomes every other; those that lose something on the way stand in
/// tests of their own.
fn check(rows: &[(Dialect, &str)]) {
    for &(from, source) in rows {
        for &(to, target) in rows {
            if from == to {
                continue;
            }
            let (name, input) = source.split_once(' ').unwrap();
            let made = translated(from, to, name, input);
            assert_eq!(made.as_deref().unwrap_or(source), target, "{from:?} to {to:?}");
        }
    }
}

#[test]
fn lines_are_counted_from_one_or_zero_and_ranges_by_their_end() {
    check(&[
        (Claude, r#"Read {"file_path":"/w/a.txt"}"#),
        (QwenCode, r#"read_file {"file_path":"/w/a.txt"}"#),
        (Cursor, r#"readToolCall {"path":"/w/a.txt"}"#),
        (Tricode, r#"read_file {"path":"/w/a.txt"}"#),
    ]);
    check(&[
        (Claude, r#"Read {"file_path":"a","offset":10,"limit":5}"#),
        (QwenCode, r#"read_file {"file_path":"a","offset":9,"limit":5}"#),
        (Cursor, r#"readToolCall {"path":"a","offset":10,"limit":5}"#),
        (Tricode, r#"read_file {"path":"a","start_line":10,"end_line":14}"#),
    ]);
    check(&[
        (Claude, r#"Read {"file_path":"a","offset":10}"#),
        (QwenCode, r#"read_file {"file_path":"a","offset":9}"#),
        (Tricode, r#"read_file {"path":"a","start_line":10}"#),
    ]);
    assert_eq!(
        translated(Claude, Tricode, "Read", r#"{"limit":5,"file_path":"a"}"#).unwrap(),
        r#"read_file {"path":"a","start_line":1,"end_line":5}"#
    );
    // The program ignores an end without a beginning.
    assert_eq!(
        translated(Tricode, Claude, "read_file", r#"{"path":"a","end_line":2}"#).unwrap(),
        r#"Read {"file_path":"a"}"#
    );
    assert_eq!(
        translated(QwenCode, Claude, "read_file", r#"{"absolute_path":"a"}"#).unwrap(),
        r#"Read {"file_path":"a"}"#
    );
    assert_eq!(
        translated(Claude, QwenCode, "Read", r#"{"file_path":"a","pages":"1-3"}"#).unwrap(),
        r#"read_file {"file_path":"a","pages":"1-3"}"#
    );
    assert_eq!(
        translated(Claude, QwenCode, "Read", r#"{"file_path":"a","offset":0}"#).unwrap(),
        r#"read_file {"file_path":"a","offset":0}"#
    );
}

#[test]
fn what_has_no_equivalent_stays() {
    for (from, to, name, input) in [
        (Claude, Tricode, "Read", r#"{"file_path":"a","offset":1,"limit":0}"#),
        (Claude, Tricode, "Read", r#"{"file_path":"a","offset":18446744073709551615,"limit":2}"#),
        (Claude, Tricode, "Read", r#"{"file_path":"a","offset":-3}"#),
        (Claude, Tricode, "Read", r#"{"path_is_wrong":1}"#),
        (Claude, Tricode, "Read", r#"{"file_path":7}"#),
        (Claude, Tricode, "Read", "[]"),
        (Claude, Tricode, "Read", "\"{not json\""),
        (QwenCode, Claude, "read_file", r#"{"file_path":"a","offset":18446744073709551615}"#),
        (
            Claude,
            Tricode,
            "Edit",
            r#"{"file_path":"a","old_string":"x","new_string":"y","replace_all":true}"#,
        ),
        (Claude, QwenCode, "MultiEdit", r#"{"file_path":"a","edits":[]}"#),
        (Claude, Tricode, "MultiEdit", r#"{"file_path":"a","edits":[]}"#),
        (Tricode, Claude, "edit_file", r#"{"path":"a","mode":"append","content":"x"}"#),
        (
            Tricode,
            Claude,
            "edit_file",
            r#"{"path":"a","mode":"overwrite","content":"x","dry_run":true}"#,
        ),
        (Tricode, Claude, "edit_file", r#"{"path":"a","hunks":[]}"#),
        (
            Tricode,
            Claude,
            "edit_file",
            r#"{"path":"a","hunks":[{"op":"delete","anchor":{"type":"exact","pattern":"x"}}]}"#,
        ),
        (
            Tricode,
            Claude,
            "edit_file",
            r#"{"path":"a","hunks":[{"op":"replace","anchor":{"type":"regex","pattern":"x"},"content":"y"}]}"#,
        ),
        (
            Tricode,
            Claude,
            "edit_file",
            r#"{"path":"a","hunks":[{"op":"replace","anchor":{"type":"exact","pattern":"x","nth":2},"content":"y"}]}"#,
        ),
        (
            Tricode,
            QwenCode,
            "edit_file",
            r#"{"path":"a","hunks":[{"op":"replace","anchor":{"type":"exact","pattern":"x"},"content":"y"},{"op":"replace","anchor":{"type":"exact","pattern":"u"},"content":"v"}]}"#,
        ),
        (Cursor, Claude, "editToolCall", r#"{"path":"a","applyPatch":{"patchContent":"x"}}"#),
        (
            Cursor,
            Claude,
            "updateTodosToolCall",
            r#"{"todos":[{"id":"1","content":"a","status":"TODO_STATUS_PENDING"}],"merge":true}"#,
        ),
        (Cursor, Claude, "readTodosToolCall", "{}"),
        (Cursor, Tricode, "globToolCall", r#"{"globPattern":"*"}"#),
        (Cursor, Claude, "deleteToolCall", r#"{"path":"a"}"#),
        (Tricode, Claude, "mkdir", r#"{"path":"a"}"#),
        (Tricode, Claude, "plan", r#"{"action":"update","task_id":1,"status":"completed"}"#),
        (Tricode, Claude, "plan", r#"{"action":"skip","reason":"simple"}"#),
        (
            Claude,
            Tricode,
            "TodoWrite",
            r#"{"todos":[{"content":"a","status":"pending","activeForm":"b"}]}"#,
        ),
        (Claude, QwenCode, "TodoWrite", r#"{"todos":[{"content":"a","status":"someday"}]}"#),
        (Claude, Tricode, "mcp__calc__add", r#"{"a":1}"#),
        (Claude, QwenCode, "mcp__calc__add", r#"{"a":1}"#),
        (Claude, Cursor, "mcp__calc", r#"{"a":1}"#),
        (Claude, Cursor, "mcp__calc__add", "7"),
        (Claude, Cursor, "NoSuchTool", r#"{"x":1}"#),
        (Claude, Claude, "Read", r#"{"file_path":"a"}"#),
        (Dialect::Qwen, QwenCode, "read_file", r#"{"file_path":"a"}"#),
        (Dialect::Agentglot, Claude, "read_file", r#"{"file_path":"a"}"#),
        (Claude, Dialect::Agentglot, "Read", r#"{"file_path":"a"}"#),
    ] {
        assert_eq!(translated(from, to, name, input), None, "{from:?} to {to:?}: {name} {input}");
    }
}

#[test]
fn files_are_written_and_edited_in_everyones_words() {
    check(&[
        (Claude, r#"Write {"file_path":"/w/a","content":"x\n\ud83d"}"#),
        (QwenCode, r#"write_file {"file_path":"/w/a","content":"x\n\ud83d"}"#),
        (Tricode, r#"create_file {"path":"/w/a","content":"x\n\ud83d"}"#),
    ]);
    assert_eq!(
        translated(Claude, Cursor, "Write", r#"{"file_path":"a","content":"x"}"#).unwrap(),
        r#"editToolCall {"path":"a","streamContent":"x"}"#
    );
    assert_eq!(
        translated(Cursor, Claude, "writeToolCall", r#"{"path":"a","fileText":"x","toolCallId":"t"}"#).unwrap(),
        r#"Write {"file_path":"a","content":"x"}"#
    );
    assert_eq!(
        translated(Tricode, Claude, "edit_file", r#"{"path":"a","mode":"overwrite","content":"x"}"#).unwrap(),
        r#"Write {"file_path":"a","content":"x"}"#
    );
    let hunk = r#"edit_file {"path":"a","hunks":[{"op":"replace","anchor":{"type":"exact","pattern":"x"},"content":"y"}]}"#;
    check(&[
        (Claude, r#"Edit {"file_path":"a","old_string":"x","new_string":"y"}"#),
        (QwenCode, r#"edit {"file_path":"a","old_string":"x","new_string":"y"}"#),
        (Tricode, hunk),
    ]);
    // As recorded: Claude Code puts the default in front.
    let filled = r#"{"replace_all":false,"file_path":"a","old_string":"x","new_string":"y"}"#;
    assert_eq!(translated(Claude, Tricode, "Edit", filled).as_deref(), Some(hunk));
    assert_eq!(
        translated(Claude, QwenCode, "Edit", filled),
        Some(format!("edit {filled}")),
        "the same arguments stay as written"
    );
    assert_eq!(
        translated(Claude, Cursor, "Edit", filled).unwrap(),
        r#"editToolCall {"path":"a","streamContent":"y"}"#
    );
    // Cursor does not say what was there before, if its result does not.
    assert_eq!(
        translated(Cursor, Claude, "editToolCall", r#"{"path":"a","streamContent":"y"}"#).unwrap(),
        r#"Edit {"file_path":"a","old_string":"","new_string":"y"}"#
    );
    assert_eq!(translated(Cursor, Tricode, "editToolCall", r#"{"path":"a","streamContent":"y"}"#), None);
    let old = r#"{"path":"a","strReplace":{"oldText":"x","newText":"y","replaceAll":false}}"#;
    assert_eq!(
        translated(Cursor, Claude, "editToolCall", old).unwrap(),
        r#"Edit {"file_path":"a","old_string":"x","new_string":"y","replace_all":false}"#
    );
    // An edit without an old text makes a file.
    for input in [
        r#"{"file_path":"a","old_string":"","new_string":"y"}"#,
        r#"{"file_path":"a","new_string":"y"}"#,
    ] {
        let made = |to| translated(Claude, to, "Edit", input).unwrap();
        assert_eq!(made(Tricode), r#"create_file {"path":"a","content":"y"}"#);
        assert_eq!(made(QwenCode), r#"write_file {"file_path":"a","content":"y"}"#);
        assert_eq!(
            translated(QwenCode, Claude, "edit", input).unwrap(),
            r#"Write {"file_path":"a","content":"y"}"#
        );
    }
    check(&[
        (
            Claude,
            r#"MultiEdit {"file_path":"a","edits":[{"old_string":"x","new_string":"y"},{"old_string":"u","new_string":"v"}]}"#,
        ),
        (
            Cursor,
            r#"editToolCall {"path":"a","multiStrReplace":{"edits":[{"oldText":"x","newText":"y"},{"oldText":"u","newText":"v"}]}}"#,
        ),
        (
            Tricode,
            r#"edit_file {"path":"a","hunks":[{"op":"replace","anchor":{"type":"exact","pattern":"x"},"content":"y"},{"op":"replace","anchor":{"type":"exact","pattern":"u"},"content":"v"}]}"#,
        ),
    ]);
    check(&[
        (Claude, r#"LS {"path":"/w"}"#),
        (QwenCode, r#"list_directory {"path":"/w"}"#),
        (Tricode, r#"list_directory {"path":"/w"}"#),
    ]);
    assert_eq!(
        translated(Tricode, Claude, "list_directory", r#"{"show_hidden":true}"#).unwrap(),
        r#"LS {"path":"."}"#
    );
    assert_eq!(
        translated(QwenCode, Cursor, "list_directory", r#"{"path":"/w","ignore":["a"]}"#).unwrap(),
        r#"lsToolCall {"path":"/w","ignore":["a"],"toolCallId":"c1"}"#
    );
    check(&[
        (Cursor, r#"deleteToolCall {"path":"a","toolCallId":"c1"}"#),
        (Tricode, r#"delete_file {"path":"a"}"#),
    ]);
    assert_eq!(
        translated(Tricode, Cursor, "delete_path", r#"{"path":"d","recursive":true}"#).unwrap(),
        r#"deleteToolCall {"path":"d","toolCallId":"c1"}"#
    );
}

#[test]
fn commands_keep_their_time_limit_in_the_units_of_the_target() {
    check(&[
        (Claude, r#"Bash {"command":"ls","timeout":30000}"#),
        (QwenCode, r#"run_shell_command {"command":"ls","is_background":false,"timeout":30000}"#),
        (
            Cursor,
            r#"shellToolCall {"command":"ls","workingDirectory":"","timeout":30000,"toolCallId":"c1","isBackground":false}"#,
        ),
        (Tricode, r#"run_command {"command":"ls","timeout":30}"#),
    ]);
    // Whole seconds; and nobody waits longer than they can say.
    assert_eq!(
        translated(Claude, Tricode, "Bash", r#"{"command":"ls","timeout":1250}"#).unwrap(),
        r#"run_command {"command":"ls","timeout":2}"#
    );
    assert_eq!(
        translated(Tricode, QwenCode, "run_command", r#"{"command":"ls","timeout":86400}"#).unwrap(),
        r#"run_shell_command {"command":"ls","is_background":false,"timeout":600000}"#
    );
    check(&[
        (Claude, r#"Bash {"command":"ls","description":"List","run_in_background":true}"#),
        (
            QwenCode,
            r#"run_shell_command {"command":"ls","is_background":true,"description":"List"}"#,
        ),
        (
            Cursor,
            r#"shellToolCall {"command":"ls","workingDirectory":"","toolCallId":"c1","isBackground":true,"description":"List"}"#,
        ),
    ]);
    let rich = r#"{"command":"sleep 5","workingDirectory":"/w","timeout":10000,"toolCallId":"c1","simpleCommands":["sleep"],"isBackground":false}"#;
    assert_eq!(
        translated(Cursor, QwenCode, "shellToolCall", rich).unwrap(),
        r#"run_shell_command {"command":"sleep 5","is_background":false,"timeout":10000,"directory":"/w"}"#
    );
    assert_eq!(translated(Claude, Tricode, "Bash", r#"{"command":"a","timeout":"soon"}"#), None);
}

#[test]
fn searches_keep_what_the_target_knows() {
    check(&[
        (
            Claude,
            r#"Grep {"pattern":"fn","path":"src","glob":"*.rs","output_mode":"content","-i":true,"-C":2,"type":"rust","head_limit":20,"offset":0,"multiline":false}"#,
        ),
        (
            Cursor,
            r#"grepToolCall {"pattern":"fn","path":"src","glob":"*.rs","outputMode":"content","context":2,"caseInsensitive":true,"type":"rust","headLimit":20,"multiline":false,"toolCallId":"c1","offset":0}"#,
        ),
    ]);
    check(&[
        (Claude, r#"Grep {"pattern":"fn","path":"src"}"#),
        (QwenCode, r#"grep_search {"pattern":"fn","path":"src"}"#),
        (Cursor, r#"grepToolCall {"pattern":"fn","path":"src","toolCallId":"c1"}"#),
        (Tricode, r#"search_context {"pattern":"fn","path":"src"}"#),
    ]);
    assert_eq!(
        translated(QwenCode, Claude, "search_file_content", r#"{"pattern":"a","include":"*.c","limit":3}"#).unwrap(),
        r#"Grep {"pattern":"a","glob":"*.c","head_limit":3}"#
    );
    check(&[
        (Claude, r#"Glob {"pattern":"*.rs","path":"src"}"#),
        (QwenCode, r#"glob {"pattern":"*.rs","path":"src"}"#),
        (Cursor, r#"globToolCall {"targetDirectory":"src","globPattern":"*.rs"}"#),
    ]);
    check(&[
        (Cursor, r#"webFetchToolCall {"url":"https://x","toolCallId":"c1"}"#),
        (Tricode, r#"fetch_url {"url":"https://x"}"#),
    ]);
    check(&[
        (Claude, r#"WebFetch {"url":"https://x","prompt":"p"}"#),
        (QwenCode, r#"web_fetch {"url":"https://x","prompt":"p"}"#),
    ]);
    // A prompt is needed there.
    assert_eq!(
        translated(Tricode, Claude, "fetch_url", r#"{"url":"https://x","timeout":3}"#).unwrap(),
        r#"WebFetch {"url":"https://x","prompt":"Give the text of the page."}"#
    );
    // A pattern has a place for it.
    check(&[
        (Claude, r#"Grep {"pattern":"fn","-i":true}"#),
        (Cursor, r#"grepToolCall {"pattern":"fn","caseInsensitive":true,"toolCallId":"c1"}"#),
        (Tricode, r#"search_context {"pattern":"(?i)fn"}"#),
    ]);
    check(&[
        (Claude, r#"WebSearch {"query":"rust"}"#),
        (QwenCode, r#"web_search {"query":"rust"}"#),
        (Cursor, r#"webSearchToolCall {"searchTerm":"rust","toolCallId":"c1"}"#),
        (Tricode, r#"web_search {"query":"rust"}"#),
    ]);
}

#[test]
fn lists_questions_plans_subagents_and_servers() {
    check(&[
        (
            QwenCode,
            r#"todo_write {"todos":[{"id":"7","content":"a","status":"in_progress"},{"id":"8","content":"b","status":"completed"}]}"#,
        ),
        (
            Cursor,
            r#"updateTodosToolCall {"todos":[{"id":"7","content":"a","status":"TODO_STATUS_IN_PROGRESS"},{"id":"8","content":"b","status":"TODO_STATUS_COMPLETED"}],"merge":false}"#,
        ),
    ]);
    // What was called off is not to be done, and others have no word for it.
    let off = r#"{"todos":[{"id":"7","content":"a","status":"TODO_STATUS_CANCELLED"},{"id":"8","content":"b","status":"TODO_STATUS_PENDING"}],"merge":false}"#;
    assert_eq!(
        translated(Cursor, QwenCode, "updateTodosToolCall", off).unwrap(),
        r#"todo_write {"todos":[{"id":"8","content":"b","status":"pending"}]}"#
    );
    assert_eq!(
        translated(Cursor, Claude, "updateTodosToolCall", off).unwrap(),
        r#"TodoWrite {"todos":[{"content":"b","status":"pending","activeForm":"b"}]}"#
    );
    assert_eq!(
        translated(
            Claude,
            QwenCode,
            "TodoWrite",
            r#"{"todos":[{"content":"a","status":"completed","activeForm":"doing a"}]}"#
        )
        .unwrap(),
        r#"todo_write {"todos":[{"id":"1","content":"a","status":"completed"}]}"#
    );
    assert_eq!(
        translated(Tricode, Claude, "plan", r#"{"action":"create","tasks":["a",{"id":2,"desc":"b"}]}"#).unwrap(),
        r#"TodoWrite {"todos":[{"content":"a","status":"pending","activeForm":"a"},{"content":"b","status":"pending","activeForm":"b"}]}"#
    );
    check(&[
        (Claude, r#"Agent {"description":"d","prompt":"p","subagent_type":"general-purpose"}"#),
        (QwenCode, r#"agent {"description":"d","prompt":"p","subagent_type":"general-purpose"}"#),
        (
            Cursor,
            r#"taskToolCall {"description":"d","prompt":"p","subagentType":{"general-purpose":{}}}"#,
        ),
    ]);
    check(&[
        (Claude, r#"Agent {"description":"d","prompt":"p"}"#),
        (
            Cursor,
            r#"taskToolCall {"description":"d","prompt":"p","subagentType":{"unspecified":{}}}"#,
        ),
    ]);
    assert_eq!(
        translated(Cursor, Claude, "taskToolCall", r#"{"prompt":"p","subagentType":{"custom":{"name":"n"}}}"#).unwrap(),
        r#"Agent {"description":"p","prompt":"p","subagent_type":"n"}"#
    );
    assert_eq!(
        translated(Claude, QwenCode, "Task", r#"{"prompt":"p"}"#).unwrap(),
        r#"agent {"description":"p","prompt":"p"}"#
    );
    check(&[
        (Claude, r#"mcp__calc__add {"a":1.50}"#),
        (
            Cursor,
            r#"mcpToolCall {"name":"calc-add","args":{"a":1.50},"toolCallId":"c1","providerIdentifier":"calc","toolName":"add"}"#,
        ),
    ]);
    check(&[
        (Claude, r#"ExitPlanMode {"plan":"1. do"}"#),
        (QwenCode, r#"exit_plan_mode {"plan":"1. do"}"#),
        (Cursor, r#"createPlanToolCall {"plan":"1. do"}"#),
    ]);
    let cell = r#"{"notebook_path":"/w/n.ipynb","cell_id":"c","new_source":"print(2)","cell_type":"code","edit_mode":"insert"}"#;
    check(&[(Claude, &format!("NotebookEdit {cell}")), (QwenCode, &format!("notebook_edit {cell}"))]);
    // Claude's tool asks for a text, whatever is done with the cell.
    assert_eq!(
        translated(
            QwenCode,
            Claude,
            "notebook_edit",
            r#"{"notebook_path":"n","cell_id":"c","edit_mode":"delete"}"#
        )
        .unwrap(),
        r#"NotebookEdit {"notebook_path":"n","cell_id":"c","new_source":"","edit_mode":"delete"}"#
    );
    for (from, to) in [(Claude, Cursor), (Claude, Tricode), (QwenCode, Tricode)] {
        let name = if from == Claude { "NotebookEdit" } else { "notebook_edit" };
        assert_eq!(translated(from, to, name, cell), None, "{from:?} {to:?}");
    }
    // Not what the tool takes.
    assert_eq!(
        translated(
            Claude,
            QwenCode,
            "NotebookEdit",
            r#"{"notebook_path":"n","new_source":"x","edit_mode":"paint"}"#
        ),
        None
    );
    let questions = r#"{"questions":[{"question":"Which?","header":"Pick","options":[{"label":"A","description":"A"}],"multiSelect":true}]}"#;
    check(&[
        (Claude, &format!("AskUserQuestion {questions}")),
        (
            Cursor,
            r#"askQuestionToolCall {"title":"Pick","questions":[{"id":"Pick","prompt":"Which?","options":[{"id":"A","label":"A"}],"allowMultiple":true}],"runAsync":false,"asyncOriginalToolCallId":""}"#,
        ),
    ]);
    assert_eq!(
        translated(Claude, QwenCode, "AskUserQuestion", questions),
        Some(format!("ask_user_question {questions}"))
    );
}

#[test]
fn todo_lists_of_every_dialect_are_read() {
    let words = |name, input| -> Option<Vec<String>> {
        let arena = Bump::new();
        let args = Tools::all().find_map(|tools| tools.args(Str::trusted(name), Raw::trusted(input), &arena))?;
        let Args::Todos { list, .. } = args else { return None };
        Some(
            list.iter()
                .map(|t| format!("{} {} {}", t.id.map_or("-", Str::as_escaped), t.content.as_escaped(), t.status.word()))
                .collect(),
        )
    };
    assert_eq!(
        words("TodoWrite", r#"{"todos":[{"content":"a","status":"pending","activeForm":"x"}]}"#).unwrap(),
        ["- a pending"]
    );
    assert_eq!(
        words(
            "updateTodosToolCall",
            r#"{"todos":[{"id":"1","content":"a","status":"TODO_STATUS_COMPLETED","dependencies":[]}]}"#
        )
        .unwrap(),
        ["1 a completed"]
    );
    assert_eq!(
        words("plan", r#"{"action":"create","tasks":["a","b"]}"#).unwrap(),
        ["- a pending", "- b pending"]
    );
    assert_eq!(words("plan", r#"{"action":"check"}"#), None);
    assert_eq!(words("plan", r#"{"action":"create","tasks":[1]}"#), None);
    assert_eq!(words("plan", "7"), None);
}
