use super::*;
use crate::model::message::Part;

struct Folder {
    dir: tempfile::TempDir,
    wall: Wall,
}

impl Folder {
    fn new(files: &[(&str, &str)]) -> Self {
        let dir = tempfile::tempdir().unwrap();
        for (name, text) in files {
            std::fs::write(dir.path().join(name), text).unwrap();
        }
        let wall = Wall::new(dir.path()).unwrap();
        Self { dir, wall }
    }

    fn call(&self, input: Value) -> String {
        let given = edit(&input, &self.wall).unwrap_or_else(|given| given);
        match given.content.into_iter().next() {
            Some(Part::Text(text)) => text.replace(self.wall.root().to_str().unwrap(), "/w"),
            other => panic!("{other:?}"),
        }
    }

    fn text(&self, name: &str) -> String {
        std::fs::read_to_string(self.dir.path().join(name)).unwrap()
    }
}

fn hunk(op: &str, kind: &str, pattern: &str, content: &str) -> Value {
    json!({"op": op, "anchor": {"type": kind, "pattern": pattern}, "content": content})
}

#[test]
fn hunks_are_applied_one_after_the_other() {
    let folder = Folder::new(&[("a.py", "import sys\n\ndef main():\n    print('grün')\n\ndef other():\n    return 1\n")]);
    let said = folder.call(json!({"path": "a.py", "hunks": [
        hunk("insert_before", "exact", "import sys", "# head\n"),
        hunk("replace", "regex", r"^def (?=other)", "async def "),
        hunk("insert_after", "regex", "^    return .*$", " + 1"),
        hunk("delete", "exact", "\ndef main():\n", ""),
    ]}));
    assert_eq!(
        folder.text("a.py"),
        "# head\nimport sys\n    print('grün')\n\nasync def other():\n    return 1 + 1\n"
    );
    // Behind the first hunk the snippets are cut out of the original text at the places of the new one.
    assert!(
        said.starts_with(
            "{\"success\": true, \"path\": \"/w/a.py\", \"applied\": true, \"mode\": \"patch\", \"hunks_applied\": 4, \"matches\": \
             [{\"op\": \"insert_before\", \"start_line\": 1, \"end_line\": 1, \"anchor_snippet\": \"import sys\"}, \
             {\"op\": \"replace\", \"start_line\": 7, \"end_line\": 7, \"anchor_snippet\": \"er()\"}, \
             {\"op\": \"insert_after\", \"start_line\": 8, \"end_line\": 8, \"anchor_snippet\": \"\"}, \
             {\"op\": \"delete\", \"start_line\": 3, \"end_line\": 4, \"anchor_snippet\": \"in():\\n    pri\"}], \
             \"sha256_before\": \""
        ),
        "{said}"
    );
    assert!(said.contains("\"diff\": \"--- a/a.py\\n+++ b/a.py\\n@@ -1,7 +1,6 @@\\n+# head\\n import sys\\n-\\n-def main():\\n     print('gr\\u00fcn')\\n \\n-def other():\\n-    return 1\\n+async def other():\\n+    return 1 + 1\\n\"}"), "{said}");
}

#[test]
fn an_anchor_that_does_not_fit_changes_nothing() {
    let folder = Folder::new(&[("a", "one\ntwo\none\n")]);
    let with = |anchor: Value| json!({"path": "a", "hunks": [{"op": "replace", "anchor": anchor, "content": "X"}]});
    for (call, want) in [
        (with(json!({"type": "exact", "pattern": "three"})), "Anchor not found for op=replace."),
        (
            with(json!({"type": "regex", "pattern": "a.*b", "range": [1, 2]})),
            "Anchor not found for op=replace. Consider setting anchor.dotall=true or using [\\s\\S]*? for multi-line matches. Verify that \
             anchor.range covers the intended lines.",
        ),
        (
            with(json!({"type": "exact", "pattern": "one", "nth": 3})),
            "Requested occurrence not found",
        ),
        (
            with(json!({"type": "exact", "pattern": "one", "nth": 0})),
            "Requested occurrence not found",
        ),
        (
            with(json!({"type": "exact", "pattern": "two", "range": [8, 9]})),
            "Anchor not found for op=replace. Verify that anchor.range covers the intended lines.",
        ),
        (
            with(json!({"pattern": "one"})),
            "Edit failed: Unsupported anchor.type; use 'exact' or 'regex'",
        ),
        (json!({"path": "a"}), "Missing hunks for patch mode"),
        (json!({"path": "a", "hunks": "x"}), "Edit failed: hunks must be a list of objects"),
        (json!({"path": "a", "hunks": [hunk("turn", "exact", "one", "")]}), "Unsupported op: turn"),
        (
            json!({"path": "a", "hunks": [{"op": "delete", "anchor": {"type": "exact", "pattern": "one"}, "must_unique": true}]}),
            "Anchor ambiguous: 2 matches. Specify anchor.nth or anchor.occurrence, or set must_unique=false.",
        ),
        (
            json!({"path": "a", "hunks": [hunk("delete", "exact", "two", ""), hunk("delete", "exact", "two", "")]}),
            "Anchor not found for op=delete.",
        ),
        (
            json!({"path": "a", "mode": "append", "content": "x", "precondition": {"file_sha256": "00"}}),
            "Precondition failed: file sha256 mismatch",
        ),
        (
            json!({"path": "no", "hunks": [hunk("delete", "exact", "x", "")]}),
            "File not found: /w/no",
        ),
    ] {
        assert_eq!(folder.call(call.clone()), want, "{call}");
        assert_eq!(folder.text("a"), "one\ntwo\none\n");
    }
    let wrong = folder.call(with(json!({"type": "regex", "pattern": "("})));
    assert!(wrong.starts_with("Edit failed: Invalid regex: "), "{wrong}");
    let endless = Folder::new(&[("a", &format!("{}!", "a".repeat(64)))]);
    let slow = endless.call(with(json!({"type": "regex", "pattern": r"^(?:a|aa)+(?!a)b"})));
    assert!(slow.starts_with("Edit failed: Invalid regex: "), "{slow}");
}

#[test]
fn anchors_choose_among_several_places() {
    for (anchor, want) in [
        (json!({"type": "exact", "pattern": "one", "nth": 2}), "one\nX\none\n"),
        (json!({"type": "exact", "pattern": "one", "occurrence": "last"}), "one\none\nX\n"),
        (json!({"type": "exact", "pattern": "one", "range": [2, 2]}), "one\nX\none\n"),
        (
            json!({"type": "regex", "pattern": "ONE.one", "dotall": true, "ignorecase": true}),
            "X\none\n",
        ),
        (json!({"type": "regex", "pattern": "^one$", "occurrence": "last"}), "one\none\nX\n"),
    ] {
        let folder = Folder::new(&[("a", "one\none\none\n")]);
        folder.call(json!({"path": "a", "hunks": [{"op": "replace", "anchor": anchor, "content": "X"}]}));
        assert_eq!(folder.text("a"), want, "{anchor}");
    }
}

#[test]
fn a_try_changes_nothing_and_line_ends_stay() {
    let folder = Folder::new(&[("a", "one\r\ntwo\r\n"), ("mixed", "a\r\nb\n")]);
    let call = json!({"path": "a", "dry_run": true, "hunks": [hunk("replace", "exact", "one\ntwo", "1\n2")]});
    let said = folder.call(call.clone());
    assert!(
        said.contains("\"applied\": false") && said.contains("\"diff\": \"--- a/a\\n+++ b/a\\n@@ -1,2 +1,2 @@\\n-one\\n-two\\n+1\\n+2\\n\"}"),
        "{said}"
    );
    assert!(!said.contains("sha256"), "{said}");
    assert_eq!(folder.text("a"), "one\r\ntwo\r\n");
    assert!(preview(&call, &folder.wall).unwrap().ends_with("+1\n+2\n"));
    let mut real = call;
    real["dry_run"] = json!(false);
    folder.call(real);
    assert_eq!(folder.text("a"), "1\r\n2\r\n");
    folder.call(json!({"path": "a", "mode": "append", "content": "3\n"}));
    assert_eq!(folder.text("a"), "1\r\n2\r\n3\r\n");
    folder.call(json!({"path": "mixed", "mode": "prepend", "content": "0\n"}));
    assert_eq!(folder.text("mixed"), "0\na\r\nb\n");
    folder.call(json!({"path": "a", "mode": "overwrite", "content": "x\n"}));
    assert_eq!(folder.text("a"), "x\n");
    // What read_file and the last edit call the file's hash, and what the system does.
    let hash = sha256("x\n");
    folder.call(json!({"path": "a", "mode": "append", "content": "y", "precondition": {"file_sha256": hash}}));
    assert_eq!(folder.text("a"), "x\ny");
}

#[test]
fn what_is_no_text_stays_as_it_is() {
    let folder = Folder::new(&[]);
    std::fs::write(folder.dir.path().join("b"), b"ab\xff").unwrap();
    let said = folder.call(json!({"path": "b", "mode": "append", "content": "x"}));
    assert_eq!(
        said,
        "Edit failed: 'utf-8' codec can't decode byte 0xff in position 2: invalid start byte"
    );
    let said = folder.call(json!({"path": ".", "mode": "append", "content": "x"}));
    assert_eq!(said, "Edit failed: [Errno 21] Is a directory: '/w'");
}
