//! What the model reads, and what people see, as the program was seen to say it.

use std::rc::Rc;

use serde_json::{Value, json};

use super::*;
use crate::persona::testing::{Room, text};
use crate::tools::shell::tests::{call, scene, within};
use agentglot_adapters::raw::event::{DetailShape, ResultStatus};

fn room() -> Room {
    let specs = [
        search::list_spec(),
        files::read_spec(),
        search::grep_spec(),
        search::glob_spec(),
        files::replace_spec(),
        files::write_spec(),
    ];
    let mut all = tools(Dialect::Gemini, say::invalid, specs, Files(Rc::default()));
    all.push(todo::todo(&Rc::default()));
    Room::new(all)
}

/// What people see, and what the error is called.
fn seen(given: &Given) -> (Option<&str>, Option<&str>) {
    let Some((DetailShape::Gemini, detail)) = &given.detail else {
        panic!("{given:?}")
    };
    (detail["output"].as_str(), detail["error"].as_str())
}

#[test]
fn files_are_read_in_parts_and_people_see_which() {
    within(20, async {
        let room = room();
        room.put("hello.txt", "hello\n");
        let many: String = (1..=12).map(|n| format!("line {n}\n")).collect();
        room.put("many.txt", &many);
        std::fs::create_dir(room.root().join("sub")).unwrap();
        let whole = room.call("read_file", json!({"file_path": "hello.txt"})).await;
        assert_eq!((text(&whole).as_str(), seen(&whole)), ("hello\n", (Some(""), None)));
        let part = room
            .call("read_file", json!({"file_path": "many.txt", "start_line": 3, "end_line": 5}))
            .await;
        assert_eq!(seen(&part), (Some("Read lines 3-5 of 13 from many.txt"), None));
        assert!(text(&part).ends_with("start_line 6 to read on.\n\n--- FILE CONTENT (truncated) ---\nline 3\nline 4\nline 5"));
        for (name, shown, error) in [
            ("nope", "File not found.", "file_not_found"),
            ("sub", "Path is a directory.", "target_is_directory"),
        ] {
            let given = room.call("read_file", json!({"file_path": name})).await;
            assert_eq!(seen(&given), (Some(shown), Some(error)));
            assert!(text(&given).ends_with(&room.path(name)), "{}", text(&given));
        }
        let wrong = room.call("read_file", json!({"x": 1})).await;
        let why = "params must have required property 'file_path'";
        assert_eq!((text(&wrong).as_str(), seen(&wrong)), (why, (Some(why), Some("invalid_tool_params"))));
    });
}

#[test]
fn files_are_written_and_changed_without_being_read() {
    within(20, async {
        let room = room();
        room.put("hello.txt", "hello\n");
        room.put("many.txt", "a\na\n");
        let new = room.call("write_file", json!({"file_path": "new.txt", "content": "one\n"})).await;
        assert_eq!(
            (text(&new), seen(&new)),
            (
                format!(
                    "Successfully created and wrote to new file: {}. Here is the updated code:\none\n",
                    room.path("new.txt")
                ),
                (None, None)
            )
        );
        let edit = async |file: &str, old: &str, new: &str, all: bool| {
            let input = json!({"file_path": file, "old_string": old, "new_string": new, "instruction": "x", "allow_multiple": all});
            room.call("replace", input).await
        };
        let done = edit("hello.txt", "hello", "goodbye", false).await;
        assert!(
            text(&done).contains("(1 replacements). Here is the updated code:\ngoodbye\n"),
            "{}",
            text(&done)
        );
        assert_eq!((seen(&done), room.get("hello.txt").as_str()), ((None, None), "goodbye\n"));
        let made = edit("made.txt", "", "new\n", false).await;
        assert_eq!(seen(&made), (Some("Created made.txt"), None));
        for (file, old, error, shown) in [
            (
                "hello.txt",
                "zzz",
                "edit_no_occurrence_found",
                "Error: Could not find an exact match for old_string in '",
            ),
            (
                "many.txt",
                "a",
                "edit_expected_occurrence_mismatch",
                "Error: Failed to edit, expected 1 occurrence but found 2.",
            ),
            ("nope.txt", "a", "file_not_found", "Error: File not found. Cannot apply edit."),
            (
                "hello.txt",
                "",
                "attempt_to_create_existing_file",
                "Error: Failed to edit. Attempted to create",
            ),
        ] {
            let given = edit(file, old, "b", false).await;
            let (told, kind) = seen(&given);
            assert_eq!((given.status, kind), (ResultStatus::Error, Some(error)));
            assert!(told.unwrap().starts_with(shown), "{told:?}");
        }
        let all = edit("many.txt", "a", "b", true).await;
        assert_eq!((all.status, room.get("many.txt").as_str()), (ResultStatus::Success, "b\nb\n"));
    });
}

#[test]
fn searches_are_told_as_the_program_tells_them() {
    within(20, async {
        let room = room();
        room.put("hello.txt", "hello\n");
        room.put("sub/deep.txt", "Hello deep\nx\n");
        std::fs::create_dir(room.root().join("empty")).unwrap();
        let found = room.call("grep_search", json!({"pattern": "hello"})).await;
        assert_eq!(
            text(&found),
            "Found 2 matches for pattern \"hello\" in the workspace directory:\n---\nFile: hello.txt\nL1: hello\n---\nFile: sub/deep.txt\nL1: Hello \
             deep\n---"
        );
        assert_eq!(seen(&found), (None, None));
        let names = room.call("grep_search", json!({"pattern": "hello", "names_only": true})).await;
        assert_eq!(
            text(&names),
            "Found 2 files with matches for pattern \"hello\" in the workspace directory:\nhello.txt\nsub/deep.txt"
        );
        let none = room.call("grep_search", json!({"pattern": "zebra", "include_pattern": "*.txt"})).await;
        assert_eq!(
            text(&none),
            "No matches found for pattern \"zebra\" in the workspace directory (filter: \"*.txt\")."
        );
        let files = room.call("glob", json!({"pattern": "sub/*.txt"})).await;
        let root = room.root().display().to_string();
        assert_eq!(
            text(&files),
            format!("Found 1 file(s) matching \"sub/*.txt\" within {root}, sorted by modification time (newest first):\n{root}/sub/deep.txt")
        );
        assert_eq!(seen(&files), (Some("Found 1 matching file(s)"), None));
        let list = room.call("list_directory", json!({"dir_path": "."})).await;
        assert!(text(&list).ends_with(":\n[DIR] empty\n[DIR] sub\nhello.txt (6 bytes)"), "{}", text(&list));
        let empty = room.call("list_directory", json!({"dir_path": "empty"})).await;
        assert_eq!(seen(&empty), (Some("Directory is empty."), None));
        let file = room.call("list_directory", json!({"dir_path": "hello.txt"})).await;
        assert_eq!(seen(&file), (Some("Error: Path is not a directory."), Some("path_is_not_a_directory")));
    });
}

#[test]
fn lists_of_things_to_do_are_told_again() {
    within(10, async {
        let room = room();
        let list = json!([{"description": "a", "status": "in_progress"}, {"description": "b", "status": "blocked"}]);
        let told = room.call("write_todos", json!({"todos": list})).await;
        let text_of = "Successfully updated the todo list. The current list is now:\n1. [in_progress] a\n2. [blocked] b";
        assert_eq!((text(&told).as_str(), seen(&told)), (text_of, (None, None)));
        let none = room.call("write_todos", json!({"todos": []})).await;
        assert_eq!(text(&none), "Successfully cleared the todo list.");
        let wrong = room.call("write_todos", json!({"todos": [{"description": "a", "status": "nope"}]})).await;
        assert_eq!(text(&wrong), "params/todos/0/status must be equal to one of the allowed values");
    });
}

#[test]
fn commands_are_successes_that_say_how_they_ended() {
    within(30, async {
        let scene = scene();
        let tools = shell::shell(&scene.processes);
        let run = async |input: Value| call(&scene, &tools, "run_shell_command", input).await;
        let group = |given: &Given| {
            let said = text(given);
            let (before, rest) = said.split_once("\nProcess Group PGID: ").unwrap();
            assert!(rest.ends_with("\n</untrusted_context>"), "{rest}");
            before.to_owned()
        };
        let failed = run(json!({"command": "printf 'out\\n'; printf 'err\\n' >&2; exit 3"})).await;
        assert_eq!(group(&failed), "<untrusted_context>\nOutput: out\nerr\nExit Code: 3");
        assert_eq!((seen(&failed), failed.exit_code), ((Some("out\nerr"), None), Some(3)));
        let silent = run(json!({"command": "true"})).await;
        assert_eq!(
            (group(&silent).as_str(), seen(&silent)),
            ("<untrusted_context>\nOutput: (empty)", (Some(""), None))
        );
        let killed = run(json!({"command": "kill -9 $$"})).await;
        assert_eq!(group(&killed), "<untrusted_context>\nOutput: (empty)\nSignal: 9");
        assert_eq!(seen(&killed).0, Some("Command terminated by signal: 9"));
        assert_eq!(seen(&run(json!({"command": " "})).await).1, Some("invalid_tool_params"));
        let begun = run(json!({"command": "echo up; sleep 100", "is_background": true})).await;
        let shown = seen(&begun).0.unwrap().to_owned();
        let pid: u64 = shown.trim_end_matches(").").rsplit(' ').next().unwrap().parse().unwrap();
        let listed = call(&scene, &tools, "list_background_processes", json!({})).await;
        assert_eq!(text(&listed), format!("- [PID {pid}] running: `echo up; sleep 100`"));
        let read = call(&scene, &tools, "read_background_output", json!({"pid": pid, "delay_ms": 500})).await;
        assert_eq!(text(&read), "up");
        let none = call(&scene, &tools, "read_background_output", json!({"pid": 1})).await;
        assert_eq!(none.status, ResultStatus::Error);
        scene.processes.end().await;
        scene.nothing_is_left().await;
    });
}
