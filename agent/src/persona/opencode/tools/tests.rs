//! What the model reads, and what the program knows beside it, as it was seen to say it.

use std::rc::Rc;

use serde_json::{Value, json};

use super::{Files, files, say, search, shell, todo};
use crate::persona::shared::native::tools;
use crate::persona::testing::{Room, text};
use crate::tools::Given;
use crate::tools::shell::tests::{call, scene, within};
use agentglot_adapters::raw::codec::Dialect;
use agentglot_adapters::raw::event::{DetailShape, ResultStatus};

fn room() -> Room {
    let specs = [
        files::read_spec(),
        files::write_spec(),
        files::edit_spec(),
        search::glob_spec(),
        search::grep_spec(),
    ];
    let mut all = tools(Dialect::Opencode, say::invalid, specs, Files(Rc::default()));
    all.push(todo::todo(&Rc::default()));
    Room::new(all)
}

/// What the program knows beside the text.
fn metadata(given: &Given) -> &Value {
    let Some((DetailShape::Opencode, detail)) = &given.detail else {
        panic!("{given:?}")
    };
    detail
}

#[test]
fn files_and_folders_are_read() {
    within(20, async {
        let room = room();
        let many: String = (1..=12).map(|n| format!("line {n}\n")).collect();
        room.put("many.txt", &many);
        room.put("sub/a.txt", "a");
        let whole = room.call("read", json!({"filePath": "sub/a.txt"})).await;
        let path = room.path("sub/a.txt");
        assert_eq!(
            text(&whole),
            format!("<path>{path}</path>\n<type>file</type>\n<content>\n1: a\n\n(End of file - total 1 lines)\n</content>")
        );
        assert_eq!(metadata(&whole)["display"]["totalLines"], 1);
        let part = room.call("read", json!({"filePath": "many.txt", "offset": 3, "limit": 2})).await;
        assert!(
            text(&part).ends_with("3: line 3\n4: line 4\n\n(Showing lines 3-4 of 12. Use offset=5 to continue.)\n</content>"),
            "{}",
            text(&part)
        );
        assert_eq!(
            (&metadata(&part)["truncated"], &metadata(&part)["preview"]),
            (&json!(true), &json!("line 3\nline 4"))
        );
        let folder = room.call("read", json!({"filePath": "."})).await;
        assert!(
            text(&folder).ends_with("<entries>\nmany.txt\nsub/\n\n(2 entries)\n</entries>"),
            "{}",
            text(&folder)
        );
        for (input, wanted) in [
            (json!({"filePath": "nope"}), format!("File not found: {}", room.path("nope"))),
            (
                json!({"filePath": "many.txt", "offset": 13}),
                "Offset 13 is out of range for this file (12 lines)".to_owned(),
            ),
            (
                json!({"x": 1}),
                "The read tool was called with invalid arguments: SchemaError(Missing key\n  at [\"filePath\"]).\nPlease rewrite the input so it \
                 satisfies the expected schema."
                    .to_owned(),
            ),
        ] {
            let given = room.call("read", input).await;
            assert_eq!((given.status, text(&given)), (ResultStatus::Error, wanted));
        }
    });
}

#[test]
fn files_are_written_and_changed_without_being_read() {
    within(20, async {
        let room = room();
        room.put("hello.txt", "hello\n");
        room.put("many.txt", "a\na\n");
        let new = room.call("write", json!({"filePath": "new/new.txt", "content": "one\n"})).await;
        assert_eq!(
            (text(&new).as_str(), &metadata(&new)["exists"]),
            ("Wrote file successfully.", &json!(false))
        );
        let edit = async |file: &str, old: &str, new: &str, all: bool| {
            room.call("edit", json!({"filePath": file, "oldString": old, "newString": new, "replaceAll": all}))
                .await
        };
        let done = edit("hello.txt", "hello", "goodbye", false).await;
        assert_eq!(
            (text(&done).as_str(), room.get("hello.txt").as_str()),
            ("Edit applied successfully.", "goodbye\n")
        );
        assert_eq!(metadata(&done)["filediff"]["additions"], 1);
        assert_eq!(text(&edit("made.txt", "", "new\n", false).await), "Edit applied successfully.");
        assert_eq!(text(&edit("many.txt", "a", "b", true).await), "Edit applied successfully.");
        for (file, old, new, wanted) in [
            ("hello.txt", "zzz", "b", "Could not find oldString in the file."),
            ("many.txt", "b", "c", "Found multiple matches for oldString."),
            ("hello.txt", "good", "good", "No changes to apply: oldString and newString are identical."),
            ("nope.txt", "a", "b", "File "),
            ("hello.txt", "", "b", "oldString is empty, but "),
        ] {
            let given = edit(file, old, new, false).await;
            assert_eq!(given.status, ResultStatus::Error);
            assert!(text(&given).starts_with(wanted), "{}", text(&given));
        }
    });
}

#[test]
fn searches_are_told_as_the_program_tells_them() {
    within(20, async {
        let room = room();
        room.put("hello.txt", "hello\nnothing\nhello you\n");
        room.put("sub/deep.txt", "hello deep\n");
        let found = room.call("grep", json!({"pattern": "hello"})).await;
        let (one, other) = (room.path("hello.txt"), room.path("sub/deep.txt"));
        assert_eq!(
            text(&found),
            format!("Found 3 matches\n{one}:\n  Line 1: hello\n\n  Line 3: hello you\n\n\n{other}:\n  Line 1: hello deep\n")
        );
        assert_eq!(metadata(&found)["matches"], 3);
        for (tool, input) in [("grep", json!({"pattern": "zebra"})), ("glob", json!({"pattern": "*.zip"}))] {
            assert_eq!(text(&room.call(tool, input).await), "No files found");
        }
        let files = room.call("glob", json!({"pattern": "**/deep.*"})).await;
        assert_eq!((text(&files), &metadata(&files)["count"]), (other, &json!(1)));
        room.put("long.txt", &"line\n".repeat(150));
        let long = room.call("grep", json!({"pattern": "line", "include": "long.*"})).await;
        assert!(text(&long).starts_with("Found 100 matches (more matches available)\n"), "{}", text(&long));
        assert_eq!(metadata(&long)["truncated"], true);
    });
}

#[test]
fn lists_of_things_to_do_are_told_again() {
    within(10, async {
        let room = room();
        let todos = json!([{"content": "a", "status": "in_progress", "priority": "high"}]);
        let told = room.call("todowrite", json!({"todos": todos})).await;
        assert_eq!(metadata(&told)["todos"], todos);
        assert_eq!(serde_json::from_str::<Value>(&text(&told)).unwrap(), todos);
    });
}

#[test]
fn commands_are_successes_beside_which_stands_how_they_ended() {
    within(30, async {
        let scene = scene();
        let tools = [shell::shell(&scene.processes)];
        let run = async |input: Value| call(&scene, &tools, "bash", input).await;
        let failed = run(json!({"command": "printf 'out\\n'; printf 'err\\n' >&2; exit 3"})).await;
        assert_eq!((text(&failed).as_str(), failed.status), ("out\nerr\n", ResultStatus::Success));
        assert_eq!((&metadata(&failed)["exit"], failed.exit_code), (&json!(3), Some(3)));
        assert_eq!(text(&run(json!({"command": "true"})).await), "(no output)");
        assert_eq!(metadata(&run(json!({"command": "kill -9 $$"})).await)["exit"], Value::Null);
        let late = run(json!({"command": "echo a; sleep 61", "timeout": 300})).await;
        assert!(
            text(&late).starts_with("a\n\n\n<shell_metadata>\nshell tool terminated"),
            "{}",
            text(&late)
        );
        let long = run(json!({"command": "seq 1 30000"})).await;
        assert!(
            text(&long).starts_with("...output truncated...\n\nFull output saved to: ") && text(&long).ends_with("30000\n"),
            "{}",
            text(&long).len()
        );
        assert_eq!(metadata(&long)["truncated"], true);
        scene.processes.end().await;
        scene.nothing_is_left().await;
    });
}
