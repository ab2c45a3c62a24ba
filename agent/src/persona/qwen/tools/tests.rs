use serde_json::{Value, json};

use super::*;
use crate::persona::testing::{Room, text};
use agentglot_adapters::raw::event::{DetailShape, ResultStatus};

fn room() -> Room {
    Room::new(files(&Rc::default()))
}

fn shown(given: &Given) -> &Value {
    let (shape, detail) = given.detail.as_ref().expect("a short form");
    assert_eq!(*shape, DetailShape::Qwen);
    detail
}

#[tokio::test]
async fn files_are_written_read_and_edited_as_recorded() {
    let room = room();
    let path = room.path("n.txt");
    let given = room.call("write_file", json!({"file_path": path, "content": "x\ny\n"})).await;
    assert_eq!(text(&given), format!("Successfully created and wrote to new file: {path}."));
    assert_eq!(shown(&given)["stat"]["ai_added_lines"], 2);
    let main = room.put("main.py", "print('Hi')\n");
    let given = room.call("read_file", json!({"file_path": main})).await;
    assert_eq!((text(&given), &given.detail), ("print('Hi')\n".to_owned(), &None));
    let edit = json!({"file_path": main, "old_string": "print('Hi')", "new_string": "print('Yo')"});
    let given = room.call("edit", edit).await;
    assert_eq!(
        text(&given),
        format!("The file: {main} has been updated. Showing lines 1-2 of 2 from the edited file:\n\n---\n\nprint('Yo')\n")
    );
    let patch = "Index: main.py\n===================================================================\n--- main.py\tCurrent\n+++ main.py\tProposed\n@@ -1,1 +1,1 @@\n-print('Hi')\n+print('Yo')\n";
    assert_eq!(shown(&given)["diff"], patch);
    assert_eq!(shown(&given)["original"], "print('Hi')\n");
    assert_eq!(room.get("main.py"), "print('Yo')\n");
}

#[tokio::test]
async fn what_goes_wrong_is_told_as_recorded() {
    let room = room();
    let given = room.call("read_file", json!({"wrong": 1})).await;
    assert_eq!(text(&given), "params must have required property 'file_path'");
    assert_eq!(given.status, ResultStatus::Error);
    let given = room.call("read_file", json!({"file_path": room.path("missing.txt")})).await;
    assert_eq!(text(&given), format!("File not found: {}", room.path("missing.txt")));
    let path = room.put("a", "one\none\n");
    let edit = |old: &str, new: &str| json!({"file_path": path, "old_string": old, "new_string": new});
    assert!(text(&room.call("edit", edit("one", "two")).await).contains("has not been read in this session"));
    room.call("read_file", json!({"file_path": path})).await;
    assert!(text(&room.call("edit", edit("one", "two")).await).starts_with("Failed to edit. Found 2 occurrences"));
    assert!(text(&room.call("edit", edit("three", "two")).await).starts_with("Failed to edit, 0 occurrences found"));
    assert!(text(&room.call("edit", edit("one", "one")).await).starts_with("No changes to apply."));
    assert!(text(&room.call("edit", edit("", "one")).await).starts_with("File already exists, cannot create"));
    room.put("a", "one\nTWO\n");
    assert!(text(&room.call("edit", edit("one", "two")).await).contains("has been modified since you last read it"));
    assert_eq!(room.get("a"), "one\nTWO\n");
}

#[tokio::test]
async fn a_part_of_a_file_says_which() {
    let room = room();
    let path = room.put("lines", &(1..=30).map(|n| format!("{n}\n")).collect::<String>());
    let given = room.call("read_file", json!({"file_path": path, "offset": 4, "limit": 2})).await;
    assert_eq!(text(&given), "Showing lines 5-6 of 31 total lines.\n\n---\n\n5\n6");
    assert_eq!(shown(&given)["text"], "Read lines 5-6 of 31 from lines");
    let edit = json!({"file_path": path, "old_string": "15\n", "new_string": ""});
    let given = room.call("edit", edit).await;
    assert!(text(&given).ends_with("Showing lines 11-18 of 30 from the edited file:\n\n---\n\n11\n12\n13\n14\n16\n17\n18\n19"));
}

#[tokio::test]
async fn a_cell_of_a_notebook_is_changed() {
    let room = room();
    let cell = json!({"cell_type": "code", "execution_count": 1, "id": "abc", "metadata": {}, "source": "print(1)", "outputs": []});
    let path = room.put(
        "n.ipynb",
        &json!({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}).to_string(),
    );
    let change = json!({"notebook_path": path, "cell_id": "abc", "new_source": "print(2)"});
    let unread = room.call("notebook_edit", change.clone()).await;
    assert_eq!(unread.status, ResultStatus::Error);
    assert!(text(&unread).contains("has not been read"), "{}", text(&unread));
    assert!(text(&room.call("read_file", json!({"file_path": path})).await).contains("abc"));
    let given = room.call("notebook_edit", change).await;
    assert_eq!(
        text(&given),
        format!("Notebook {path} has been updated. replace cell abc.\n\nUpdated source:\n\n---\n\nprint(2)")
    );
    assert_eq!(shown(&given)["kind"], "file_diff");
    assert!(
        shown(&given)["diff"]
            .as_str()
            .is_some_and(|diff| diff.contains("+   \"source\": \"print(2)\""))
    );
    for (input, why) in [
        (json!({"notebook_path": path, "new_source": "x"}), "cell_id is required"),
        (json!({"notebook_path": path, "cell_id": "abc"}), "new_source is required"),
        (json!({"notebook_path": path, "cell_id": "no", "new_source": "x"}), "not found"),
        (json!({"notebook_path": "a.py", "cell_id": "abc", "new_source": "x"}), "Jupyter notebook"),
    ] {
        let wrong = room.call("notebook_edit", input).await;
        assert_eq!(wrong.status, ResultStatus::Error);
        assert!(text(&wrong).contains(why), "{}", text(&wrong));
    }
    let delete = json!({"notebook_path": path, "cell_id": "abc", "edit_mode": "delete"});
    assert_eq!(
        text(&room.call("notebook_edit", delete).await),
        format!("Notebook {path} has been updated. delete cell abc.")
    );
    let now: Value = serde_json::from_str(&room.get("n.ipynb")).expect("a notebook");
    assert_eq!(now["cells"], json!([]));
}

#[tokio::test]
async fn searches_and_lists() {
    let room = room();
    room.put("hello.txt", "Hello\nworld\n");
    room.put("src/a.txt", "say hello\n");
    room.put("b.md", "x");
    let given = room.call("glob", json!({"pattern": "*.txt"})).await;
    assert_eq!(shown(&given), &json!({"kind": "string", "text": "Found 1 matching file(s)"}));
    assert_eq!(
        text(&given),
        format!(
            "Found 1 file(s) matching \"*.txt\" in the workspace directory, sorted by modification time (newest first):\n---\n{}",
            room.path("hello.txt")
        )
    );
    let given = room.call("grep_search", json!({"pattern": "hello"})).await;
    assert_eq!(
        text(&given),
        format!(
            "Found 2 matches for pattern \"hello\" in the workspace directory:\n---\n{}:1:Hello\n{}:1:say hello",
            room.path("hello.txt"),
            room.path("src/a.txt")
        )
    );
    let given = room
        .call("grep_search", json!({"pattern": "hello", "path": "src", "glob": "*.txt", "limit": 1}))
        .await;
    assert!(text(&given).starts_with("Found 1 match for pattern \"hello\" in path \"src\" (filter: \"*.txt\"):\n---\n"));
    let given = room.call("list_directory", json!({"path": room.root(), "ignore": ["*.md"]})).await;
    assert_eq!(
        text(&given),
        format!("Listed 2 item(s) in {}:\n---\n[DIR] src\nhello.txt", room.root().display())
    );
    assert_eq!(shown(&given)["text"], "Listed 2 item(s)");
    let given = room.call("glob", json!({"pattern": "*", "path": "/etc"})).await;
    assert!(text(&given).contains("is outside the workspace"));
}
