use serde_json::{Value, json};

use super::*;
use crate::model::message::Part;
use crate::persona::testing::{Room, text};
use agentglot_adapters::raw::event::{DetailShape, ResultStatus};

fn room() -> Room {
    Room::new(files(&Rc::default()))
}

fn detail(given: &Given) -> &Value {
    let (shape, detail) = given.detail.as_ref().expect("a typed result");
    assert_eq!(*shape, DetailShape::Claude);
    detail
}

#[tokio::test]
async fn reading_and_editing_go_as_recorded() {
    let room = room();
    let path = room.put("hello.txt", "hello\nworld\n");
    let read = room.call("Read", json!({"file_path": path})).await;
    assert_eq!(text(&read), "1\thello\n2\tworld\n3\t");
    let file = json!({"filePath": path, "content": "hello\nworld\n", "numLines": 3, "startLine": 1, "totalLines": 3});
    assert_eq!(detail(&read), &json!({"type": "text", "file": file}));
    let edit = room
        .call("Edit", json!({"file_path": path, "old_string": "hello", "new_string": "goodbye"}))
        .await;
    assert_eq!(
        text(&edit),
        format!("The file {path} has been updated successfully. (file state is current in your context \u{2014} no need to Read it back)")
    );
    let recorded = json!({
        "filePath": path, "oldString": "hello", "newString": "goodbye", "originalFile": "hello\nworld\n",
        "structuredPatch": [{"oldStart": 1, "oldLines": 2, "newStart": 1, "newLines": 2, "lines": ["-hello", "+goodbye", " world"]}],
        "userModified": false, "replaceAll": false,
    });
    assert_eq!(detail(&edit).to_string(), recorded.to_string());
    assert_eq!(room.get("hello.txt"), "goodbye\nworld\n");
}

#[tokio::test]
async fn a_new_file_is_told_as_recorded_and_a_missing_one_too() {
    let room = room();
    let path = room.path("asked.txt");
    let write = room.call("Write", json!({"file_path": path, "content": "asked\n"})).await;
    assert_eq!(
        text(&write),
        format!("File created successfully at: {path} (file state is current in your context \u{2014} no need to Read it back)")
    );
    let recorded =
        json!({"type": "create", "filePath": path, "content": "asked\n", "structuredPatch": [], "originalFile": null, "userModified": false});
    assert_eq!(detail(&write).to_string(), recorded.to_string());
    // The model knows what it wrote.
    let again = room.call("Write", json!({"file_path": path, "content": "more\n"})).await;
    assert_eq!(detail(&again)["type"], "update");
    assert_eq!(detail(&again)["originalFile"], "asked\n");
    let missing = room.call("Read", json!({"file_path": room.path("none.txt")})).await;
    let words = format!("File does not exist. Note: your current working directory is {}.", room.root().display());
    assert_eq!((text(&missing), missing.status), (words.clone(), ResultStatus::Error));
    assert_eq!(detail(&missing), &json!(format!("Error: {words}")));
    // Another file of that name may be meant.
    for tool in ["Read", "Edit"] {
        let near = json!({"file_path": room.path("asked.md"), "old_string": "a", "new_string": "b"});
        let near = if tool == "Read" {
            json!({"file_path": room.path("asked.md")})
        } else {
            near
        };
        let near = room.call(tool, near).await;
        assert!(text(&near).contains(&format!("{words} Did you mean asked.txt?")), "{tool}: {near:?}");
    }
}

#[tokio::test]
async fn what_was_not_read_or_has_changed_is_left_alone() {
    let room = room();
    let path = room.put("a.txt", "one\none\n");
    for (tool, more) in [
        ("Edit", json!({"old_string": "one", "new_string": "two"})),
        ("Write", json!({"content": "x"})),
    ] {
        let mut input = more;
        input["file_path"] = path.clone().into();
        let given = room.call(tool, input).await;
        assert_eq!(
            text(&given),
            "<tool_use_error>File has not been read yet. Read it first before writing to it.</tool_use_error>"
        );
        assert_eq!(detail(&given), "Error: File has not been read yet. Read it first before writing to it.");
    }
    room.call("Read", json!({"file_path": path})).await;
    let several = room
        .call("Edit", json!({"file_path": path, "old_string": "one", "new_string": "two"}))
        .await;
    assert!(text(&several).starts_with("<tool_use_error>Found 2 matches of the string to replace, but replace_all is false."));
    let none = room
        .call("Edit", json!({"file_path": path, "old_string": "three", "new_string": "two"}))
        .await;
    assert_eq!(
        text(&none),
        "<tool_use_error>String to replace not found in file.\nString: three</tool_use_error>"
    );
    // Of the same size and perhaps of the same time: its content tells.
    room.put("a.txt", "ONE\none\n");
    for (tool, more) in [
        ("Edit", json!({"old_string": "one", "new_string": "two", "replace_all": true})),
        ("Write", json!({"content": "x"})),
    ] {
        let mut input = more;
        input["file_path"] = path.clone().into();
        assert!(text(&room.call(tool, input).await).starts_with("<tool_use_error>File has been modified since read"));
    }
    assert_eq!(room.get("a.txt"), "ONE\none\n");
}

#[tokio::test]
async fn links_out_of_the_workspace_lead_nowhere() {
    let room = room();
    std::os::unix::fs::symlink("/etc", room.root().join("out")).expect("a link");
    for path in [
        room.path("out/passwd"),
        "/etc/passwd".into(),
        room.path("../x"),
        "../../etc/passwd".into(),
        "~/.ssh/id".into(),
    ] {
        for (tool, more) in [
            ("Read", json!({})),
            ("Write", json!({"content": "x"})),
            ("Edit", json!({"old_string": "", "new_string": "x"})),
        ] {
            let mut input = more;
            input["file_path"] = path.clone().into();
            let given = room.call(tool, input).await;
            assert!(text(&given).contains("is outside the workspace"), "{tool} {path}: {}", text(&given));
        }
    }
}

#[tokio::test]
async fn windows_empty_files_and_what_is_no_text() {
    let room = room();
    let path = room.put("lines", &(1..=5000).map(|n| format!("{n}\n")).collect::<String>());
    let given = room.call("Read", json!({"file_path": path, "offset": 10, "limit": 2})).await;
    assert_eq!(text(&given), "10\t10\n11\t11");
    assert_eq!(detail(&given)["file"]["content"], "10\n11");
    assert_eq!(detail(&given)["file"]["totalLines"], 5001);
    let given = room.call("Read", json!({"file_path": path})).await;
    assert_eq!(detail(&given)["file"]["numLines"], 2000);
    assert!(text(&given).contains("Lines 1 to 2000 of 5001 are shown."));
    let given = room.call("Read", json!({"file_path": path, "offset": 6000})).await;
    assert!(text(&given).contains("shorter than the provided offset (6000). The file has 5001 lines."));
    let empty = room.put("empty", "");
    assert!(text(&room.call("Read", json!({"file_path": empty})).await).contains("the contents are empty"));
    let binary = room.put("binary", "a\0b");
    assert!(text(&room.call("Read", json!({"file_path": binary})).await).contains("cannot read binary files"));
    let folder = room.call("Read", json!({"file_path": room.root()})).await;
    assert!(text(&folder).starts_with("EISDIR"));
    std::fs::write(room.root().join("p.png"), b"\x89PNG\r\n\x1a\nrest").expect("written");
    let picture = room.call("Read", json!({"file_path": room.path("p.png")})).await;
    assert!(matches!(&picture.content[..], [Part::Image { media_type, .. }] if media_type == "image/png"));
    assert_eq!(detail(&picture)["file"]["originalSize"], 12);
}

#[tokio::test]
async fn a_preview_changes_nothing() {
    let room = room();
    let path = room.put("a.txt", "one\n");
    let tool = room.tool("Edit");
    let input = json!({"file_path": path, "old_string": "one", "new_string": "two"});
    let shown = tool.preview(&input, &room.cx()).await;
    assert_eq!(shown, Some(format!("--- {path}\n+++ {path}\n@@ -1,1 +1,1 @@\n-one\n+two\n")));
    assert_eq!(room.get("a.txt"), "one\n");
}

fn tree(room: &Room) {
    room.put("src/a.rs", "fn one() {}\n// two\nfn three() {}\n");
    room.put("src/deep/b.rs", "fn four() {}\n");
    room.put("notes.md", "one fn\n");
    room.put(".hidden.rs", "fn hidden() {}\n");
    room.put("target/out.rs", "fn built() {}\n");
    room.put(".gitignore", "target\n");
    room.put(".git/HEAD.rs", "fn git() {}\n");
    for (n, name) in ["notes.md", "src/a.rs", "src/deep/b.rs", ".hidden.rs", "target/out.rs"]
        .iter()
        .enumerate()
    {
        let file = std::fs::File::options().write(true).open(room.root().join(name)).expect("opened");
        let time = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000 + n as u64);
        file.set_modified(time).expect("a time");
    }
}

#[tokio::test]
async fn files_are_found_by_name_the_newest_first() {
    let room = room();
    tree(&room);
    let given = room.call("Glob", json!({"pattern": "**/*.rs"})).await;
    assert_eq!(text(&given), "target/out.rs\n.hidden.rs\nsrc/deep/b.rs\nsrc/a.rs");
    assert_eq!(detail(&given)["numFiles"], 4);
    assert_eq!(detail(&given)["truncated"], false);
    for (pattern, path, found) in [
        ("*.rs", "src", "src/deep/b.rs\nsrc/a.rs"),
        ("src/*.rs", ".", "src/a.rs"),
        ("*.{md,txt}", ".", "notes.md"),
        ("../notes.*", "src", "notes.md"),
        ("none", ".", "No files found"),
    ] {
        let given = room.call("Glob", json!({"pattern": pattern, "path": path})).await;
        assert_eq!(text(&given), found, "{pattern}");
    }
    let absolute = room.call("Glob", json!({"pattern": room.path("src/**")})).await;
    assert_eq!(text(&absolute), "src/deep/b.rs\nsrc/a.rs");
    let out = room.call("Glob", json!({"pattern": "/etc/*"})).await;
    assert!(text(&out).contains("is outside the workspace"));
    let none = room.call("Glob", json!({"pattern": "*", "path": "none"})).await;
    assert!(text(&none).starts_with("<tool_use_error>Directory does not exist: "));
}

#[tokio::test]
async fn searches_in_every_mode() {
    let room = room();
    tree(&room);
    let call = async |more: Value| {
        let mut input = json!({"pattern": "fn \\w+"});
        input
            .as_object_mut()
            .expect("an object")
            .extend(more.as_object().expect("an object").clone());
        text(&room.call("Grep", input).await)
    };
    assert_eq!(call(json!({})).await, "Found 3 files\n.hidden.rs\nsrc/deep/b.rs\nsrc/a.rs");
    assert_eq!(
        call(json!({"output_mode": "content", "path": "src"})).await,
        "src/a.rs:1:fn one() {}\nsrc/a.rs:3:fn three() {}\nsrc/deep/b.rs:1:fn four() {}"
    );
    assert_eq!(
        call(json!({"output_mode": "content", "path": "src/a.rs", "-n": false})).await,
        "fn one() {}\nfn three() {}"
    );
    assert_eq!(
        call(json!({"output_mode": "content", "path": "src/a.rs", "-o": true})).await,
        "1:fn one\n3:fn three"
    );
    assert_eq!(
        call(json!({"output_mode": "content", "path": "src", "-A": 1, "head_limit": 2, "offset": 1})).await,
        "src/a.rs-2-// two\nsrc/a.rs:3:fn three() {}\n\n[Showing results with pagination = limit: 2, offset: 1]"
    );
    assert_eq!(
        call(json!({"output_mode": "count", "path": "src"})).await,
        "src/a.rs:2\nsrc/deep/b.rs:1\n\nFound 3 total occurrences across 2 files."
    );
    assert_eq!(
        call(json!({"glob": "*.md", "-i": true, "pattern": "ONE"})).await,
        "Found 1 file\nnotes.md"
    );
    assert_eq!(call(json!({"type": "markdown", "pattern": "one"})).await, "Found 1 file\nnotes.md");
    assert_eq!(call(json!({"pattern": "one.*two", "multiline": true})).await, "Found 1 file\nsrc/a.rs");
    assert_eq!(call(json!({"pattern": "nothing at all"})).await, "No files found");
    assert!(call(json!({"pattern": "("})).await.contains("regex parse error"));
    assert!(call(json!({"type": "no such"})).await.contains("unrecognized file type"));
    let given = room.call("Grep", json!({"pattern": "fn", "head_limit": 1})).await;
    assert_eq!(
        detail(&given),
        &json!({"mode": "files_with_matches", "filenames": [".hidden.rs"], "numFiles": 1, "appliedLimit": 1})
    );
}

#[tokio::test]
async fn a_cancelled_search_is_soon_over() {
    let room = room();
    let line = "no match in this line, however long it is looked at\n".repeat(2000);
    for n in 0..400 {
        room.put(&format!("d{}/f{n}", n % 20), &line);
    }
    let cancel = room.cancel.clone();
    tokio::spawn(async move {
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        cancel.cancel();
    });
    let began = std::time::Instant::now();
    // Slow to search for: a long run before each possible end.
    let given = room.call("Grep", json!({"pattern": "(?:[a-z ,]{1,40}){20}Z"})).await;
    assert!(text(&given).contains("cancelled"), "{}", text(&given));
    assert!(began.elapsed() < std::time::Duration::from_secs(2));
}

/// What the engine does with one piece of a file, nothing stops.
#[tokio::test]
async fn a_pattern_that_takes_for_ever_is_given_up() {
    let mut room = room();
    let limits = crate::workspace::Limits {
        search: std::time::Duration::from_millis(200),
        ..crate::workspace::Limits::default()
    };
    room.world.wall = std::sync::Arc::new(crate::workspace::Wall::new(room.root()).unwrap().within(limits));
    room.put("f", &format!("{}!\n", "a".repeat(30_000)).repeat(4));
    let began = std::time::Instant::now();
    let given = room.call("Grep", json!({"pattern": "(a{1,100}){1,100}$"})).await;
    assert!(began.elapsed() < std::time::Duration::from_secs(20));
    assert_eq!(given.status, ResultStatus::Error, "{}", text(&given));
}

#[tokio::test]
async fn a_notebook_is_read_and_changed() {
    let room = room();
    let book = json!({
        "cells": [
            {"cell_type": "markdown", "metadata": {}, "source": ["# Title\n", "text"]},
            {"cell_type": "code", "execution_count": 3, "id": "abc", "metadata": {}, "source": "print(1)",
             "outputs": [{"output_type": "stream", "name": "stdout", "text": ["1\n"]}]},
        ],
        "metadata": {"language_info": {"name": "python"}}, "nbformat": 4, "nbformat_minor": 5,
    });
    let path = room.put("n.ipynb", &book.to_string());
    let given = room.call("Read", json!({"file_path": path})).await;
    assert_eq!(
        text(&given),
        "<cell id=\"cell-0\"><cell_type>markdown</cell_type># Title\ntext</cell id=\"cell-0\">\n<cell id=\"abc\">print(1)</cell id=\"abc\">\n1\n"
    );
    assert_eq!(detail(&given)["file"]["cells"][1]["execution_count"], 3);
    let change = json!({"notebook_path": path, "cell_id": "abc", "new_source": "print(2)"});
    let given = room.call("NotebookEdit", change).await;
    assert_eq!(text(&given), "Updated cell abc with print(2)");
    assert_eq!(detail(&given)["old_source"], "print(1)");
    let insert = json!({"notebook_path": path, "cell_id": "cell-0", "new_source": "x", "cell_type": "markdown", "edit_mode": "insert"});
    assert_eq!(room.call("NotebookEdit", insert).await.status, ResultStatus::Success);
    let delete = json!({"notebook_path": path, "cell_id": "abc", "new_source": "", "edit_mode": "delete"});
    assert_eq!(text(&room.call("NotebookEdit", delete).await), "Deleted cell abc");
    let now: Value = serde_json::from_str(&room.get("n.ipynb")).expect("a notebook");
    assert_eq!(now["cells"].as_array().map(Vec::len), Some(2));
    assert_eq!(now["cells"][1]["source"], "x");
}
