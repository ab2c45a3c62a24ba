//! `agentglot show --format html`, looked at in headless Chromium (tests/html/look.mjs): folding, search, links, keyboard, dark and light,
//! accessibility, and that nothing of a hostile log runs; and `diff --format html`. `AGENTGLOT_PAGES=FOLDER` keeps the pages, with screenshots.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::common::{Scratch, arg, golden, run, skipped};

/// How long all of it may take; an idle machine needs a tenth of it.
const PATIENCE: Duration = Duration::from_secs(600);
/// A picture of one pixel.
const PIXEL: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

#[test]
fn pages_are_of_use_and_harmless() {
    let scratch = Scratch::new();
    let folder = std::env::var_os("AGENTGLOT_PAGES").map_or_else(|| scratch.path("pages"), PathBuf::from);
    fs::create_dir_all(&folder).unwrap();
    let page = |log: &Path, name: &str| {
        let to = folder.join(name);
        let ran = run(["show", "--format", "html", "--utc", "--thinking", "-o", arg(&to), arg(log)]);
        assert!(ran.code < 2, "{name}: {}", ran.err);
        to
    };
    let shown = page(&scratch.file("session.jsonl", session()), "session.html");
    page(&scratch.file("long.jsonl", long()), "long.html");
    let evil = scratch.file("evil.jsonl", hostile());
    page(&evil, "hostile-claude.html");
    for to in ["tricode", "cursor", "qwen-code", "codex"] {
        let converted = run(["convert", "--to", to, arg(&evil)]);
        page(&scratch.file(to, converted.out), &format!("hostile-{to}.html"));
    }
    let harm = "<p id=\"tampered\"></p><script>window.ran = 1; alert(1)</script><img src=\"x\" onerror=\"window.ran = 2\"><a href=\"javascript:window.ran = 3\">x</a>\
                <img src=\"http://127.0.0.1:9/x.png\"><link rel=\"stylesheet\" href=\"http://127.0.0.1:9/x.css\"><style>body { display: none }</style>";
    let text = fs::read_to_string(shown).unwrap();
    let (head, rest) = text.split_once("<main").expect("it has a main part");
    fs::write(folder.join("tampered.html"), format!("{head}{harm}<main{rest}")).unwrap();

    let Some(said) = in_chromium("pages in a browser", "look.mjs", &[folder.as_os_str()]) else {
        return;
    };
    let tried = said.lines().filter(|line| line.starts_with("ok ")).count();
    assert!(tried >= 12, "{tried} things were tried:\n{said}");
}

#[test]
fn two_sessions_are_compared_on_one_page() {
    let scratch = Scratch::new();
    let (old, new) = (golden("claude/cli_edit.out.jsonl"), golden("cursor/read_edit.jsonl"));
    let ran = run(["diff", "--format", "html", arg(&old), arg(&new)]);
    assert_eq!(ran.code, 1, "{}", ran.err);
    let page = ran.text();
    assert!(page.starts_with("<!DOCTYPE html>") && page.ends_with("</html>\n") && page.matches("class=\"row change").count() > 1);
    assert!(!page.contains("connect-src") && !page.contains("EventSource"), "a file asks for nothing");
    let ran = run(["diff", "--format", "html", arg(&old), arg(&old)]);
    assert!(ran.code == 0 && ran.text().contains("They are the same."), "{}", ran.err);
    // Names and texts are data here, too.
    let evil = scratch.file("<b>\"evil\".jsonl", hostile());
    let ran = run(["diff", "--format", "html", arg(&evil), arg(&new)]);
    assert_eq!(ran.code, 1, "{}", ran.err);
    let main = ran.text().split_once("<main").unwrap().1;
    assert!(
        main.contains("&lt;script&gt;")
            && !main.contains("<script")
            && !main.contains("<img")
            && !main.contains("<b>&quot;evil")
            && !main.contains("<b>\"evil")
    );
    let json = run(["diff", "--format", "json", arg(&old), arg(&new)]);
    assert_eq!(serde_json::from_slice::<Value>(&json.out).unwrap()["same"], false);
}

/// What a script of `tests/html` said that looked at pages in Chromium; `None` if that cannot be done here.
pub(crate) fn in_chromium(what: &str, script: &str, args: &[&OsStr]) -> Option<String> {
    let modules = match crate::installed::node_modules("html/package.json") {
        Ok(modules) => modules,
        Err(why) => {
            skipped(what, why);
            return None;
        }
    };
    // On a small machine two take each other's time.
    static ONE_BROWSER: Mutex<()> = Mutex::new(());
    let _alone = ONE_BROWSER.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(chromium) = ["chromium", "chromium-browser", "google-chrome"].into_iter().find_map(program) else {
        skipped(what, "there is no Chromium");
        return None;
    };
    // Beside the modules, where scripts find them.
    let home = modules.parent().expect("node_modules is in a folder");
    let copy = home.join(format!("{script}-{}", std::process::id()));
    fs::create_dir_all(&copy).unwrap();
    for name in ["browser.mjs", script] {
        fs::copy(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/html").join(name), copy.join(name)).unwrap();
    }
    let scratch = Scratch::new();
    let said = scratch.path("said");
    let mut command = Command::new("node");
    command.arg(copy.join(script)).arg(chromium).args(args).stdin(Stdio::null());
    let output = fs::File::create(&said).unwrap();
    command.stdout(output.try_clone().unwrap()).stderr(output);
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    let mut child = command.spawn().unwrap();
    let until = Instant::now() + PATIENCE;
    let status = loop {
        match child.try_wait().unwrap() {
            Some(status) => break Some(status),
            None if Instant::now() > until => break None,
            None => std::thread::sleep(Duration::from_millis(50)),
        }
    };
    if status.is_none() {
        let _ = rustix::process::kill_process_group(rustix::process::Pid::from_child(&child), rustix::process::Signal::KILL);
        let _ = child.wait();
    }
    let _ = fs::remove_dir_all(copy);
    let said = fs::read_to_string(said).unwrap();
    println!("{said}");
    assert!(status.is_some_and(|status| status.success()), "{status:?}\n{said}");
    Some(said)
}

#[test]
fn a_page_goes_to_standard_output_and_is_whole_without_a_log() {
    let log = golden("cursor/read_edit.jsonl");
    let ran = run(["show", "--format", "html", arg(&log)]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.text().starts_with("<!DOCTYPE html>") && ran.text().ends_with("</html>\n"));
    let scratch = Scratch::new();
    let ran = run(["show", "--format", "html", "--from", "claude", arg(&scratch.file("empty", ""))]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.text().contains("There is nothing to show.") && ran.text().ends_with("</html>\n"));
}

fn said(messages: impl IntoIterator<Item = Value>) -> Vec<u8> {
    let lines = messages.into_iter().map(|message| message.to_string() + "\n");
    lines.collect::<String>().into_bytes()
}

fn user(content: Value) -> Value {
    json!({"type": "user", "session_id": "s", "parent_tool_use_id": null, "message": {"role": "user", "content": content}})
}

/// What the user asks: the program says it again.
fn prompt(content: Value) -> Value {
    let mut said = user(content);
    said["isReplay"] = true.into();
    said
}

fn assistant(id: &str, content: Value) -> Value {
    json!({"type": "assistant", "session_id": "s", "parent_tool_use_id": null,
        "message": {"id": id, "type": "message", "role": "assistant", "model": "m-1", "content": content}})
}

fn result() -> Value {
    json!({"type": "result", "subtype": "success", "is_error": false, "duration_ms": 4200, "num_turns": 1, "result": "", "session_id": "s",
        "total_cost_usd": 0.01, "usage": {"input_tokens": 30, "output_tokens": 5}})
}

fn init() -> Value {
    json!({"type": "system", "subtype": "init", "session_id": "s", "cwd": "/home/ada/loom", "model": "m-1", "tools": ["Bash"], "permissionMode": "default"})
}

/// Two turns with everything that a page shows.
pub(crate) fn session() -> Vec<u8> {
    let output: String = (1..300).map(|n| format!("line {n} of the output\n")).collect();
    let picture = json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PIXEL}});
    let old = "def greet(name):\n    return \"hello \" + name\n";
    let new = "def greet(name):\n    return (\"hello \" + name).upper()\n";
    let answer = "# Done\n\n- `greet.py` **shouts**\n- see [the notes](https://example.org/notes)\n\n| file | lines |\n|---|--:|\n| greet.py | 2 |\n\n\
                  ```python\ndef greet(name):\n    return 1  # loud\n```\n\n> quoted\n";
    said([
        init(),
        prompt(json!([{"type": "text", "text": "Make the greeting in greet.py loud."}, picture])),
        assistant(
            "m1",
            json!([{"type": "thinking", "thinking": "First I look.\nThen I change it.", "signature": ""}]),
        ),
        assistant(
            "m2",
            json!([{"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "cat <<'X' | sort\nb\nX"}}]),
        ),
        user(json!([{"type": "tool_result", "tool_use_id": "t1", "content": format!("{output}<b>the last</b> & NEEDLE in the output")}])),
        assistant(
            "m3",
            json!([{"type": "tool_use", "id": "t2", "name": "Edit", "input": {"file_path": "/home/ada/loom/greet.py", "old_string": old, "new_string": new}}]),
        ),
        json!({"type": "user", "session_id": "s", "parent_tool_use_id": null, "message": {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t2", "content": "ok"}]},
            "tool_use_result": {"filePath": "/home/ada/loom/greet.py", "oldString": old, "newString": new, "originalFile": old,
                "structuredPatch": [{"oldStart": 1, "oldLines": 2, "newStart": 1, "newLines": 2,
                    "lines": [" def greet(name):", "-    return \"hello \" + name", "+    return (\"hello \" + name).upper()"]}]}}),
        assistant(
            "m4",
            json!([{"type": "tool_use", "id": "t3", "name": "Read", "input": {"file_path": "/home/ada/loom/a.png"}}]),
        ),
        user(json!([{"type": "tool_result", "tool_use_id": "t3", "content": [picture]}])),
        assistant(
            "m5",
            json!([{"type": "tool_use", "id": "t4", "name": "Read", "input": {"file_path": "/home/ada/loom/missing.py"}}]),
        ),
        user(json!([{"type": "tool_result", "tool_use_id": "t4", "is_error": true, "content": "File not found"}])),
        assistant("m6", json!([{"type": "text", "text": answer}])),
        result(),
        prompt(json!("And the greeting of the others?")),
        assistant("m7", json!([{"type": "text", "text": "They are loud too."}])),
        result(),
    ])
}

/// Many turns.
fn long() -> Vec<u8> {
    let output: String = (0..400).map(|n| format!("{n} of an output that nobody reads\n")).collect();
    let turn = |n: usize| {
        let call = format!("t{n}");
        [
            prompt(json!(format!("Question {n}"))),
            assistant(
                &format!("a{n}"),
                json!([{"type": "tool_use", "id": call, "name": "Bash", "input": {"command": "make"}}]),
            ),
            user(json!([{"type": "tool_result", "tool_use_id": call, "content": output}])),
            assistant(&format!("b{n}"), json!([{"type": "text", "text": "It **works**."}])),
            result(),
        ]
    };
    said(std::iter::once(init()).chain((0..200).flat_map(turn)))
}

/// What does harm where a text becomes markup, in each place of a log.
pub(crate) fn hostile() -> Vec<u8> {
    let evil = [
        "<script>window.ran=1;alert(1)</script>",
        "</script></style></title></template></textarea></pre></details><script>window.ran=1;alert(1)</script>",
        "\"><img src=x onerror=\"window.ran=1;alert(1)\">",
        "' autofocus onfocus='window.ran=1;alert(1)' x='",
        "<svg onload=alert(1)><math><mtext><style><img src=x onerror=alert(1)></style>",
        "<!--<script>alert(1)",
        "--><iframe srcdoc='<script>parent.ran=1</script>'></iframe><object data='data:text/html,x'></object>",
        "<base href='http://127.0.0.1:9/'><link rel=stylesheet href='http://127.0.0.1:9/alert'><meta http-equiv=refresh content='0;url=http://127.0.0.1:9/alert'>",
        "<form action='javascript:alert(1)' id=main><button id=dark><input name=getElementById>",
        "[alert](javascript:alert(1)) [alert](JAVA&#115;cript:alert(1)) [alert](data:text/html,<script>alert(1)</script>) <javascript:alert(1)>",
        "![alert](http://127.0.0.1:9/alert.png) ![alert](javascript:alert(1)) [![x](x)](https://example.org/\"onclick=\"alert(1))",
        "```\"><script>alert(1)</script>\n</pre></code><script>window.ran=1;alert(1)</script>\n```\n",
        "| <img src=x onerror=alert(1)> |\n|---|\n| </td></table><script>alert(1)</script> |",
        "&lt;script&gt;alert(1)&lt;/script&gt; &#60;script>",
        "\u{1b}[31malert\u{1b}[0m \u{1b}]8;;http://127.0.0.1:9/\u{7}x\u{1b}[2J\u{9b}31m \u{202e}txt.exe \u{2066}\u{200b}\u{feff}\u{0}\u{8}\r alert(1)",
        "\u{fffe}{{constructor.constructor('alert(1)')()}} ${alert(1)} <%= alert(1) %>",
    ];
    let mut messages = Vec::new();
    for (n, text) in evil.into_iter().enumerate() {
        let (a, b, c) = (format!("a{n}{text}"), format!("b{n}{text}"), format!("c{n}"));
        let picture = |kind: &str, data: &str| json!({"type": "image", "source": {"type": "base64", "media_type": kind, "data": data}});
        messages.extend([
            json!({"type": "system", "subtype": "init", "session_id": "s", "cwd": text, "model": text, "permissionMode": text, "claude_code_version": text, "tools": [text]}),
            user(json!(text)),
            prompt(json!([{"type": "text", "text": text}, picture("image/png", text), picture(text, PIXEL), picture("image/svg+xml", "PHN2ZyBvbmxvYWQ9ImFsZXJ0KDEpIi8+")])),
            assistant(&format!("m{n}"), json!([{"type": "thinking", "thinking": text, "signature": text}, {"type": "text", "text": text}, {"type": text, "text": text}])),
            assistant(&format!("n{n}"), json!([
                {"type": "tool_use", "id": a, "name": text, "input": {text: text}},
                {"type": "tool_use", "id": b, "name": "Bash", "input": {"command": format!("{text}\n{text}"), "description": text}},
                {"type": "tool_use", "id": c, "name": "Write", "input": {"file_path": format!("/{text}.html"), "content": format!("{text}\n").repeat(80)}},
            ])),
            user(json!([{"type": "tool_result", "tool_use_id": a, "content": format!("{text}\n").repeat(60)}])),
            user(json!([{"type": "tool_result", "tool_use_id": b, "is_error": true, "content": [{"type": "text", "text": text}, picture("text/html", PIXEL)]}])),
            user(json!([{"type": "tool_result", "tool_use_id": c, "content": text}])),
            json!({"type": "system", "subtype": "compact_boundary", "session_id": "s", "compact_metadata": {"trigger": text}}),
            json!({"type": text, "session_id": "s", "text": text}),
            json!({"type": "result", "subtype": "error_during_execution", "is_error": true, "errors": [text], "result": text, "session_id": "s",
                "permission_denials": [{"tool_name": text, "tool_use_id": a, "tool_input": {text: text}}]}),
        ]);
    }
    let mut log = said(messages);
    // Text that is no JSON, no UTF-8, and a line that ends too soon.
    log.extend(b"<script>alert(1)</script>\n\xff\xfe\xc3\x28<script>alert(1)</script>\n");
    log.extend(b"{\"type\":\"assistant\",\"session_id\":\"s\",\"message\":{\"id\":\"z\",\"role\":\"assistant\",\"content\":[{\"type\":\"text\",\"text\":\"\xff\xfe\xed\xa0\x80 \\ud800<script>alert(1)</script>\"}]}}\n");
    log.extend(b"{\"type\":\"assistant\",\"message\":{\"content\":[{\"type\":\"text\",\"text\":\"<script>alert(1)</scr");
    log
}

fn program(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(|path| path.is_file())
}
