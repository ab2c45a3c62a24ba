use super::*;
use crate::persona::testing::{Room, text as words};

fn room() -> Room {
    Room::new(files(&Rc::default()))
}

fn typed(given: &Given) -> &Value {
    let (shape, detail) = given.detail.as_ref().expect("a typed result");
    assert_eq!(*shape, DetailShape::Cursor);
    detail
}

const MATH: &str = "// Small math helpers.\nfunction add(a, b) {\n  return a - b;\n}\n\nfunction multiply(a, b) {\n  return a * b;\n}\n\nmodule.exports = { add, multiply };\n";

#[tokio::test]
async fn results_are_typed_as_recorded() {
    let room = room();
    let path = room.put("src/math.js", MATH);
    let read = room.call("read", json!({"path": path})).await;
    let recorded = json!({
        "content": MATH, "isEmpty": false, "exceededLimit": false, "totalLines": 11, "fileSize": 144, "path": path,
        "readRange": {"startLine": 1, "endLine": 11}, "relatedCursorRulePaths": [], "relatedCursorRules": [],
    });
    assert_eq!(typed(&read).to_string(), json!({"success": recorded}).to_string());
    let edit = room
        .call("edit", json!({"path": path, "oldText": "  return a - b;", "newText": "  return a + b;"}))
        .await;
    let after = MATH.replace("a - b", "a + b");
    let recorded = json!({
        "path": path, "linesAdded": 1, "linesRemoved": 1,
        "diffString": format!("--- a/{path}\n+++ b/{path}\n@@ -1,6 +1,6 @@\n // Small math helpers.\n function add(a, b) {{\n-  return a - b;\n+  return a + b;\n }}\n \n function multiply(a, b) {{"),
        "beforeFullFileContent": MATH, "afterFullFileContent": after, "message": format!("The file {path} has been updated."),
    });
    assert_eq!(typed(&edit).to_string(), json!({"success": recorded}).to_string());
    let notes = room.path("NOTES.md");
    let line = "Fixed add to return the sum of its arguments.";
    let write = room.call("write", json!({"path": notes, "fileText": format!("{line}\n")})).await;
    let recorded = json!({
        "path": notes, "linesAdded": 1, "linesRemoved": 0, "diffString": format!("--- /dev/null\n+++ b/{notes}\n@@ -1,0 +1 @@\n+{line}"),
        "afterFullFileContent": format!("{line}\n"), "message": format!("Wrote contents to {notes}"),
    });
    assert_eq!(typed(&write).to_string(), json!({"success": recorded}).to_string());
    let root = room.root().display().to_string();
    let grep = room
        .call("grep", json!({"pattern": "add\\(", "path": root, "caseInsensitive": false}))
        .await;
    let found = json!({"lineNumber": 2, "content": "function add(a, b) {", "contentTruncated": false, "isContextLine": false});
    let part = json!({
        "matches": [{"file": "./src/math.js", "matches": [found]}], "totalLines": 1, "totalMatchedLines": 1,
        "clientTruncated": false, "ripgrepTruncated": false,
    });
    let recorded = json!({"pattern": "add\\(", "path": root, "outputMode": "content", "workspaceResults": {root.clone(): {"content": part}}});
    assert_eq!(typed(&grep).to_string(), json!({"success": recorded}).to_string());
    let glob = room.call("glob", json!({"globPattern": "*.js", "targetDirectory": root})).await;
    let recorded =
        json!({"pattern": "", "path": root, "files": ["src/math.js"], "totalFiles": 1, "clientTruncated": false, "ripgrepTruncated": false});
    assert_eq!(typed(&glob).to_string(), json!({"success": recorded}).to_string());
    let ls = room.call("ls", json!({"path": root})).await;
    let folder = json!({"absPath": room.path("src"), "childrenDirs": [], "childrenFiles": [{"name": "math.js"}], "numFiles": 1});
    let recorded = json!({"absPath": root, "childrenDirs": [folder], "childrenFiles": [{"name": "NOTES.md"}], "numFiles": 1});
    assert_eq!(typed(&ls), &json!({"success": {"directoryTreeRoot": recorded}}));
    assert_eq!(words(&ls), "src/\n  math.js\nNOTES.md");
    let delete = room.call("delete", json!({"path": "NOTES.md"})).await;
    let recorded = json!({"path": notes, "deletedFile": notes, "fileSize": "46", "prevContent": format!("{line}\n")});
    assert_eq!(typed(&delete), &json!({"success": recorded}));
}

#[tokio::test]
async fn what_goes_wrong_has_cursors_word_for_it() {
    let room = room();
    let path = room.put("a", "one\n");
    let none = room.path("none");
    for (tool, input, key) in [
        ("read", json!({"path": none}), "error"),
        ("read", json!({}), "error"),
        ("edit", json!({"path": none, "oldText": "a", "newText": "b"}), "fileNotFound"),
        ("edit", json!({"path": path, "oldText": "x", "newText": "b"}), "error"),
        (
            "edit",
            json!({"path": "/etc/passwd", "oldText": "root", "newText": "b"}),
            "writePermissionDenied",
        ),
        ("write", json!({"path": "../x", "fileText": "b"}), "writePermissionDenied"),
        ("delete", json!({"path": none}), "fileNotFound"),
        ("delete", json!({"path": room.root()}), "notFile"),
        ("ls", json!({"path": path}), "error"),
        ("glob", json!({"globPattern": "[", "targetDirectory": "."}), "error"),
        ("grep", json!({"pattern": "("}), "error"),
    ] {
        let given = room.call(tool, input.clone()).await;
        assert_eq!(given.status, ResultStatus::Error, "{tool} {input}");
        assert!(typed(&given).get(key).is_some(), "{tool} {input}: {}", typed(&given));
    }
    room.call("read", json!({"path": path})).await;
    room.put("a", "ONE\n");
    let given = room.call("edit", json!({"path": path, "oldText": "ONE", "newText": "b"})).await;
    assert!(words(&given).contains("has changed since it was read"));
}

#[test]
fn calls_are_told_in_the_words_of_the_wire() {
    let edit = json!({"path": "a", "oldText": "x", "newText": "y", "replaceAll": true});
    assert_eq!(told("edit", &edit), Some(("editToolCall", json!({"path": "a", "streamContent": "y"}))));
    let write = json!({"path": "a", "fileText": "y"});
    assert_eq!(told("write", &write), Some(("editToolCall", json!({"path": "a", "streamContent": "y"}))));
    assert_eq!(told("read", &json!({"path": "a"})), Some(("readToolCall", json!({"path": "a"}))));
    assert_eq!(told("mcp__a__b", &json!({})), None);
}
