use std::path::Path;

use tokio_util::sync::CancellationToken;

use super::*;

/// A workspace with files.
fn room(files: &[(&str, &str)]) -> (tempfile::TempDir, Wall) {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let wall = Wall::new(folder.path()).unwrap();
    (folder, wall)
}

/// Every definition as `FILE:FIRST-LAST KIND QUALIFIED`, with a `+` if it is public.
fn defined(files: &[(&str, &str)]) -> Vec<String> {
    let (_folder, wall) = room(files);
    let place = wall.locate(".").unwrap();
    let (found, cut) = definitions(&wall, &place, &CancellationToken::new(), "", &|_| true).unwrap();
    assert!(!cut);
    let tell = |one: &Definition| {
        assert_eq!(one.lines.len(), one.end_line + 1 - one.start_line);
        format!(
            "{}:{}-{} {} {}{}",
            one.path.file_name().unwrap().to_str().unwrap(),
            one.start_line,
            one.end_line,
            one.kind,
            one.qualified_name,
            if one.is_public { "+" } else { "" }
        )
    };
    found.iter().map(tell).collect()
}

/// Every use as `FILE:LINE:FROM->LINE:TO USAGE`, with a `?` if it is a word in a text.
fn used(files: &[(&str, &str)], name: &str, language: Option<Language>) -> Vec<String> {
    let (_folder, wall) = room(files);
    let place = wall.locate(".").unwrap();
    let named = Named {
        name: name.to_owned(),
        language,
        text: true,
        globs: Vec::new(),
    };
    let (found, _) = references(&wall, &place, &CancellationToken::new(), &named).unwrap();
    let tell = |one: &Reference| {
        let file = one.path.file_name().unwrap().to_str().unwrap();
        let (a, b, c, d) = (one.start.0, one.start.1, one.end.0, one.end.1);
        let sure = if one.confidence == Confidence::TextOnly { "?" } else { "" };
        format!("{file}:{a}:{b}->{c}:{d} {}{sure}", one.usage.name())
    };
    found.iter().map(tell).collect()
}

#[test]
fn definitions_of_python() {
    let text = "import os\n\n@cached\n@other(1)\ndef top(a, b=2):\n    def inner():\n        return a\n    return inner\n\n\nclass Box(Base):\n    x = 1\n\n    async def _get(self):\n        return self.x\n";
    assert_eq!(
        defined(&[
            ("a.py", text),
            ("run", "#!/usr/bin/env python3.12\ndef script():\n  pass\n"),
            ("b.txt", "def no(): pass")
        ]),
        [
            "a.py:3-8 function top+",
            "a.py:6-7 function top.inner+",
            "a.py:11-15 class Box+",
            "a.py:14-15 function Box._get",
            "run:2-3 function script+",
        ]
    );
}

#[test]
fn definitions_of_c_and_its_heir() {
    let c = "#include <a.h>\n/* Adds.\n * Both. */\nstatic int *add(int a, int b)\n{\n    return 0;\n}\n\nstruct point { int x; };\nstruct point far;\nenum color { RED };\n";
    let cpp = "namespace geo {\nclass Shape {\npublic:\n    double area() const { return 0; }\n};\n}\n\ntemplate <typename T>\nint &geo::Shape::count(T t) { return n; }\nstruct Shape *other;\n";
    assert_eq!(
        defined(&[("a.c", c), ("b.cpp", cpp)]),
        [
            "a.c:2-7 function add",
            "a.c:9-9 struct point+",
            "a.c:11-11 enum color+",
            "b.cpp:2-5 class geo::Shape+",
            "b.cpp:4-4 function geo::Shape::area+",
            "b.cpp:9-9 function geo::Shape::count+",
        ]
    );
}

#[test]
fn definitions_of_go_java_and_rust() {
    let go = "package main\n\n// Box holds.\ntype Box[T any] struct{}\n\nfunc (b *Box[T]) Get() {}\n\nfunc main() {}\n";
    let java = "package a;\n\n/** Doc. */\npublic class Box {\n    Box() {}\n    @Override\n    public int get() { return 1; }\n    private enum Color { RED }\n}\n";
    let rust = "mod far;\n\n/// Doc.\n#[derive(Debug)]\npub struct Box<T>(T);\n\nimpl<T> Box<T> {\n    fn get(&self) {}\n}\n\nmod tests {\n    pub fn top() {}\n}\n";
    assert_eq!(
        defined(&[("a.go", go), ("b.java", java), ("c.rs", rust)]),
        [
            "a.go:3-4 type Box+",
            "a.go:6-6 method Box.Get+",
            "a.go:8-8 function main",
            "b.java:3-9 class Box+",
            "b.java:5-5 constructor Box.Box",
            "b.java:6-7 method Box.get+",
            "b.java:8-8 enum Box.Color",
            "c.rs:3-5 struct Box+",
            "c.rs:8-8 function Box::get",
            "c.rs:11-13 module tests",
            "c.rs:12-12 function tests::top+",
        ]
    );
}

#[test]
fn uses_of_python() {
    let text = "from lib import main\n\nclass A(main):\n    pass\n\n@main\ndef f(main, x=main):\n    a.main(1)\n    a.main = 2\n    g(main=3)\n    return main(\n        4)\n\ndef main():\n    pass\n";
    assert_eq!(
        used(&[("a.py", text)], "main", None),
        [
            "a.py:1:16->1:20 import",
            "a.py:3:8->3:12 inheritance",
            "a.py:6:1->6:5 annotation",
            "a.py:7:14->7:18 other",
            "a.py:8:4->8:13 call",
            "a.py:11:11->12:10 call",
        ]
    );
}

#[test]
fn uses_of_the_others() {
    let rust = "use a::Get;\nimpl Get for A {}\n#[Get]\nfn f(x: Get) { Get::<u8>(1); b::Get(2); Get!(3); y.Get(); }\n";
    assert_eq!(
        used(&[("a.rs", rust)], "Get", None),
        [
            "a.rs:1:7->1:10 import",
            "a.rs:2:5->2:8 inheritance",
            "a.rs:3:2->3:5 annotation",
            "a.rs:4:8->4:11 type_usage",
            "a.rs:4:15->4:18 call",
            "a.rs:4:32->4:35 call",
            "a.rs:4:40->4:43 macro_use",
            "a.rs:4:51->4:54 call",
        ]
    );
    let java = "import a.Get;\n@Get\nclass A extends Get {\n  Get x = new Get();\n  void f() { b.Get(Get); }\n}\n";
    assert_eq!(
        used(&[("A.java", java)], "Get", None),
        [
            "A.java:1:9->1:12 import",
            "A.java:2:1->2:4 annotation",
            "A.java:3:16->3:19 inheritance",
            "A.java:4:2->4:5 type_usage",
            "A.java:4:14->4:17 call",
            "A.java:5:15->5:18 call",
            "A.java:5:19->5:22 other",
        ]
    );
    let go = "package a\nfunc Get() {}\nfunc f() { b.Get(); Get(); var g = Get }\n";
    assert_eq!(
        used(&[("a.go", go)], "Get", None),
        ["a.go:3:13->3:16 call", "a.go:3:20->3:23 call", "a.go:3:35->3:38 other"]
    );
    let cpp = "class A : public Get {};\nint f() { ns::Get(); Get<int>(1); a->Get(); return Get; }\n";
    assert_eq!(
        used(&[("a.cpp", cpp)], "Get", None),
        [
            "a.cpp:1:17->1:20 inheritance",
            "a.cpp:2:14->2:17 call",
            "a.cpp:2:21->2:24 call",
            "a.cpp:2:37->2:40 call",
            "a.cpp:2:51->2:54 other",
        ]
    );
}

#[test]
fn other_files_are_looked_through_as_text() {
    let files = [
        ("a.py", "Get()\n"),
        ("b.go", "package b\nvar x = Get\n"),
        ("c.md", "Getter\nthe Get of it, Get\n"),
        ("d.bin", "Get\0"),
    ];
    assert_eq!(
        used(&files, "Get", Some(Language::Python)),
        ["a.py:1:0->1:5 call", "b.go:2:8->2:11 other?", "c.md:2:4->2:7 other?"]
    );
}

#[test]
fn what_is_asked_for_may_be_a_file_and_may_be_stopped() {
    let (_folder, wall) = room(&[("tests/a.py", "def one(): pass\n"), ("tests/b.py", "def two(): pass\n")]);
    let place = wall.locate("tests/a.py").unwrap();
    let (found, _) = definitions(&wall, &place, &CancellationToken::new(), "", &|_| true).unwrap();
    assert_eq!(found.len(), 1);
    let folder = wall.locate("").unwrap();
    let (found, _) = definitions(&wall, &folder, &CancellationToken::new(), "", &|one| one.is_called("two")).unwrap();
    assert!(found.len() == 1 && found[0].is_test, "{found:?}");
    let cancel = CancellationToken::new();
    cancel.cancel();
    assert!(matches!(definitions(&wall, &folder, &cancel, "", &|_| true), Err(Fault::Cancelled)));
    assert!(matches!(definitions(&wall, &place, &cancel, "", &|_| true), Err(Fault::Cancelled)));
}

#[test]
fn names_may_be_qualified() {
    let (_folder, wall) = room(&[("a.py", "class Box:\n  def get(self): pass\n")]);
    let place = wall.locate(".").unwrap();
    let found = |name: &str| {
        definitions(&wall, &place, &CancellationToken::new(), "", &|one| one.is_called(name))
            .unwrap()
            .0
            .len()
    };
    assert_eq!(["get", "Box.get", "Box", "et", "ox.get", "a.Box.get"].map(found), [1, 1, 1, 0, 0, 0]);
    let (all, _) = definitions(&wall, &place, &CancellationToken::new(), "", &|one| one.enclosing() == "Box").unwrap();
    assert_eq!((all.len(), all[0].name.as_str()), (1, "get"));
}

#[test]
fn ids_are_those_of_the_recordings() {
    let (_folder, wall) = room(&[("a.py", "def main(): pass\n")]);
    let place = wall.locate(".").unwrap();
    let (found, _) = definitions(&wall, &place, &CancellationToken::new(), "", &|_| true).unwrap();
    assert_eq!(found[0].id(), "bb242281c27cb13c");
}

#[test]
fn tests_and_the_code_of_others_are_known_by_their_paths() {
    for (path, test, other) in [
        ("src/main.py", false, false),
        ("Tests/main.py", true, false),
        ("src/test_main.py", true, false),
        ("pkg/main_test.go", true, false),
        ("src/BoxTest.java", true, false),
        ("contest/main.py", false, false),
        ("vendor/a/main.go", false, true),
        ("vendor", false, false),
    ] {
        assert_eq!((is_test(Path::new(path)), is_third_party(Path::new(path))), (test, other), "{path}");
    }
}

/// Texts that are no program of the language end no search.
#[test]
fn nonsense_is_looked_through() {
    let half = "def a(:\n  class 世界 {{{ <<\n fn \u{0} struct";
    for extension in ["c", "cpp", "go", "java", "py", "rs"] {
        let (_folder, wall) = room(&[(&format!("a.{extension}"), half)]);
        let place = wall.locate(".").unwrap();
        definitions(&wall, &place, &CancellationToken::new(), "", &|_| true).unwrap();
    }
}

#[test]
fn texts_that_nobody_has_written_are_passed_over() {
    let code = "def one(): pass\n";
    let deep = format!("{code}x = {}{}\n", "(".repeat(DEEPEST + 1), ")".repeat(DEEPEST + 1));
    let large = code.repeat(1 + usize::try_from(BIGGEST).unwrap() / code.len());
    assert_eq!(
        defined(&[("deep.py", &deep), ("large.py", &large), ("small.py", code)]),
        ["small.py:1-1 function one+"]
    );
    assert_eq!(depth(b"(()[{}])(("), 3);
}

#[test]
fn files_without_the_word_are_not_looked_into() {
    let (_folder, wall) = room(&[("a.py", "def one(): pass\n"), ("b.py", "def two(): pass\n")]);
    let place = wall.locate(".").unwrap();
    let (found, _) = definitions(&wall, &place, &CancellationToken::new(), "two", &|_| true).unwrap();
    assert_eq!((found.len(), found[0].name.as_str()), (1, "two"));
}
