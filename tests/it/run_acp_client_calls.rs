//! Agents of the Agent Client Protocol that have files read and written and commands run by their host, which is us: what they may, and what not.

use std::collections::BTreeMap;
use std::os::unix::fs::symlink;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::stage::{CLAUDE, Host, Stage, user};

const GREETED: &str = r#"say {"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1,"agentCapabilities":{}}}"#;
const MODES: &str = r#"say {"jsonrpc":"2.0","id":1,"result":{"sessionId":"s-1","modes":{"currentModeId":"default","availableModes":[{"id":"default"},{"id":"plan"},{"id":"acceptEdits"}]}}}"#;
const ENDED: &str = r#"say {"jsonrpc":"2.0","id":2,"result":{"stopReason":"end_turn"}}"#;

/// An agent that makes these requests, each after the answer to the one before, in a session of this mode.
struct Scene {
    stage: Stage,
    script: Vec<String>,
    mode: &'static str,
}

impl Scene {
    fn new(mode: &'static str) -> Self {
        let stage = Stage::new::<&str>(&[]);
        let mut script: Vec<String> = ["keep heard", "read", GREETED, "read", MODES].map(str::to_owned).to_vec();
        if ["plan", "acceptEdits"].contains(&mode) {
            script.push("read".to_owned());
            script.push(r#"say {"jsonrpc":"2.0","id":2,"result":{}}"#.to_owned());
        }
        script.push("read".to_owned());
        Self { stage, script, mode }
    }

    fn at(&self, name: &str) -> String {
        self.stage.path("").canonicalize().unwrap().join(name).display().to_string()
    }

    fn says(&mut self, command: &str) -> &mut Self {
        self.script.push(command.to_owned());
        self
    }

    /// The agent asks; with `answered` it waits for the next line.
    fn asks(&mut self, id: &str, method: &str, mut params: Value, answered: bool) -> &mut Self {
        if params.get("sessionId").is_none() {
            params["sessionId"] = json!("s-1");
        }
        let message = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        self.says(&format!("say {message}"));
        if answered { self.says("read") } else { self }
    }

    fn update(&mut self, update: Value) -> &mut Self {
        let message = json!({"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": "s-1", "update": update}});
        self.says(&format!("say {message}"))
    }

    fn host(&mut self, settings: &[&str], args: &[&str]) -> Host {
        // The mode of the agent's that had to be set has taken a number.
        let ended = if ["plan", "acceptEdits"].contains(&self.mode) {
            ENDED.replace("\"id\":2", "\"id\":3")
        } else {
            ENDED.to_owned()
        };
        self.script.extend([ended, "read all".to_owned()]);
        std::fs::write(self.stage.path("agent-program.script"), self.script.join("\n")).unwrap();
        let mut run = Command::new(env!("CARGO_BIN_EXE_agentglot"));
        run.args(["run", "--as", "claude", "--backend", "acp:./agent-program"]);
        run.args(settings)
            .arg("--")
            .args(CLAUDE)
            .args(["--permission-mode", self.mode])
            .args(args);
        run.current_dir(self.stage.path(""));
        for name in ["AGENTGLOT_BACKEND", "AGENTGLOT_DEPTH", "AGENTGLOT_LOG"] {
            run.env_remove(name);
        }
        run.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        Host::new(run)
    }

    /// Runs it to its end, and gives the answers to its requests.
    fn run(&mut self, settings: &[&str], args: &[&str]) -> Answers {
        let mut host = self.host(settings, args);
        host.say(&user("go"));
        host.until_within("result", Duration::from_secs(60));
        host.close();
        let end = host.end();
        assert_eq!(end.code(), 0, "{end:#?}");
        assert_eq!(end.result()["subtype"], "success", "{end:#?}");
        self.answers()
    }

    fn answers(&self) -> Answers {
        let heard = std::fs::read_to_string(self.stage.path("heard")).unwrap();
        let lines = heard.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let answers = lines.filter(|line| line.get("method").is_none());
        Answers(answers.filter_map(|line| Some((line["id"].as_str()?.to_owned(), line))).collect())
    }

    fn file(&self, name: &str) -> Option<String> {
        std::fs::read_to_string(self.stage.path(name)).ok()
    }
}

struct Answers(BTreeMap<String, Value>);

impl Answers {
    fn result(&self, id: &str) -> &Value {
        let answer = self.0.get(id).unwrap_or_else(|| panic!("{id} was not answered: {:#?}", self.0));
        answer.get("result").unwrap_or_else(|| panic!("{answer}"))
    }

    fn refused(&self, id: &str, code: i64, why: &str) {
        let answer = self.0.get(id).unwrap_or_else(|| panic!("{id} was not answered: {:#?}", self.0));
        assert_eq!(answer["error"]["code"], code, "{answer}");
        assert!(answer["error"]["message"].as_str().unwrap().contains(why), "{answer}");
    }
}

fn read(path: &str) -> Value {
    json!({"path": path})
}

fn write(path: &str, content: &str) -> Value {
    json!({"path": path, "content": content})
}

fn answer(host: &mut Host, question: &Value, behavior: &str) {
    let id = &question["request_id"];
    let response = json!({"subtype": "success", "request_id": id, "response": {"behavior": behavior, "message": "no"}});
    host.say(&json!({"type": "control_response", "response": response}).to_string());
}

#[test]
fn files_inside_are_read_and_written_and_nothing_else_is() {
    let mut scene = Scene::new("bypassPermissions");
    let outside = tempfile::tempdir().unwrap();
    let secret = outside.path().join("secret");
    std::fs::write(&secret, "secret").unwrap();
    let added = tempfile::tempdir().unwrap();
    std::fs::write(added.path().join("more"), "more").unwrap();
    let here = scene.stage.path("");
    std::fs::write(here.join("lines"), "one\r\ntwo\nthree\nfour").unwrap();
    std::fs::write(here.join("latin1"), b"gr\xfcn").unwrap();
    std::fs::write(here.join("zeros"), b"a\0b").unwrap();
    std::fs::File::create(here.join("huge")).unwrap().set_len(20 << 20).unwrap();
    std::fs::write(here.join("long"), "x".repeat(17 << 20)).unwrap();
    symlink(&secret, here.join("link")).unwrap();
    symlink(outside.path(), here.join("folder")).unwrap();
    symlink("/dev/zero", here.join("zero")).unwrap();
    assert!(Command::new("mkfifo").arg(here.join("fifo")).status().unwrap().success());
    let at = |name: &str| here.canonicalize().unwrap().join(name).display().to_string();
    scene.asks("write", "fs/write_text_file", write(&at("new/deep/file"), "grün"), true);
    scene.asks("back", "fs/read_text_file", read(&at("new/../new/deep/file")), true);
    scene.asks("all", "fs/read_text_file", read(&at("lines")), true);
    scene.asks("some", "fs/read_text_file", json!({"path": at("lines"), "line": 2, "limit": 2}), true);
    scene.asks("last", "fs/read_text_file", json!({"path": at("lines"), "line": 4, "limit": null}), true);
    scene.asks("none", "fs/read_text_file", json!({"path": at("lines"), "line": 9}), true);
    scene.asks("added", "fs/read_text_file", read(&added.path().join("more").display().to_string()), true);
    for (name, path) in [
        ("secret", secret.display().to_string()),
        ("dots", at("../../../../../../../etc/passwd")),
        ("link", at("link")),
        ("folder", at("folder/secret")),
        ("zero", at("zero")),
        ("dev", "/dev/zero".to_owned()),
        ("fifo", at("fifo")),
        ("here", at("")),
        ("missing", at("missing")),
        ("latin1", at("latin1")),
        ("zeros", at("zeros")),
        ("huge", at("huge")),
        ("long", at("long")),
        ("relative", "lines".to_owned()),
        ("tilde", "~/x".to_owned()),
    ] {
        scene.asks(name, "fs/read_text_file", read(&path), true);
    }
    for name in ["link", "folder/new", "fifo", "zero"] {
        scene.asks(&format!("to {name}"), "fs/write_text_file", write(&at(name), "gone"), true);
    }
    scene.asks("to dev", "fs/write_text_file", write("/dev/shm/agentglot-test", "gone"), true);
    scene.asks("other", "fs/read_text_file", json!({"path": at("lines"), "sessionId": "s-2"}), true);
    scene.asks("textless", "fs/write_text_file", json!({"path": at("lines")}), true);
    scene.asks("minus", "fs/read_text_file", json!({"path": at("lines"), "line": -1}), true);
    scene.asks("unknown", "fs/remove", json!({"path": at("lines")}), true);
    let folder = added.path().display().to_string();
    let answers = scene.run(&[], &["--add-dir", &folder]);
    assert_eq!(answers.result("write"), &json!({}));
    assert_eq!(scene.file("new/deep/file").unwrap(), "grün");
    for (id, content) in [
        ("back", "grün"),
        ("all", "one\r\ntwo\nthree\nfour"),
        ("some", "two\nthree\n"),
        ("last", "four"),
        ("none", ""),
        ("added", "more"),
    ] {
        assert_eq!(answers.result(id), &json!({"content": content}), "{id}");
    }
    for id in [
        "secret",
        "dots",
        "link",
        "folder",
        "zero",
        "dev",
        "to link",
        "to folder/new",
        "to zero",
        "to dev",
    ] {
        answers.refused(id, -32603, "is outside the workspace");
    }
    answers.refused("fifo", -32602, "is a named pipe");
    answers.refused("to fifo", -32602, "is a named pipe");
    answers.refused("here", -32602, "is a directory");
    answers.refused("missing", -32002, "Resource not found");
    for id in ["latin1", "zeros", "huge"] {
        answers.refused(id, -32603, "is no text in UTF-8");
    }
    answers.refused("long", -32603, "read it in parts");
    for id in ["relative", "tilde"] {
        answers.refused(id, -32602, "is not absolute");
    }
    answers.refused("other", -32602, "no such session");
    answers.refused("textless", -32602, "`content`");
    answers.refused("minus", -32602, "`line`");
    answers.refused("unknown", -32601, "fs/remove");
    assert_eq!(std::fs::read_to_string(&secret).unwrap(), "secret");
    assert!(!outside.path().join("new").exists());
}

#[test]
fn commands_run_in_terminals_and_nothing_of_them_is_left() {
    let mut scene = Scene::new("bypassPermissions");
    let pids = scene.at("pids");
    let of = |id: &str| json!({"terminalId": id});
    // A line for a shell, and a program with arguments.
    let line = json!({"command": "echo $A $PWD >&2 | cat; exit 3", "args": [], "env": [{"name": "A", "value": "x y"}], "cwd": scene.at("")});
    scene.asks("create", "terminal/create", line, true);
    scene.asks("wait", "terminal/wait_for_exit", of("terminal-1"), true);
    scene.asks("output", "terminal/output", of("terminal-1"), true);
    scene.asks("release", "terminal/release", of("terminal-1"), true);
    scene.asks("gone", "terminal/output", of("terminal-1"), true);
    scene.asks("again", "terminal/release", of("terminal-1"), true);
    scene.asks("never", "terminal/kill", of("x"), true);
    let words = json!({"command": "printf", "args": ["%s|", "a b", "$HOME", "it's"]});
    scene.asks("words", "terminal/create", words, true);
    scene.asks("waited", "terminal/wait_for_exit", of("terminal-2"), true);
    scene.asks("printed", "terminal/output", of("terminal-2"), true);
    // 100 MB, of which 1001 bytes are wanted: the first character of those is cut.
    let flood = json!({"command": "head -c 100000000 /dev/zero | tr '\\0' x; printf 'ü%.0s' $(seq 600)", "outputByteLimit": 1001});
    scene.asks("flood", "terminal/create", flood, true);
    scene.asks("flooded", "terminal/wait_for_exit", of("terminal-3"), true);
    scene.asks("cut", "terminal/output", of("terminal-3"), true);
    // What forks, leaves its group and hears no signal is killed; a second time makes no difference.
    let stubborn = format!("trap '' TERM; echo $$ >> {pids}; (trap '' TERM; setsid sh -c 'echo $$ >> {pids}; sleep 61.5') & echo ready; sleep 61.5");
    scene.asks("stubborn", "terminal/create", json!({"command": stubborn}), true);
    scene.asks("pending", "terminal/wait_for_exit", of("terminal-4"), false);
    scene.says("sleep 500");
    scene.asks("kill", "terminal/kill", of("terminal-4"), true);
    scene.says("read");
    scene.asks("twice", "terminal/kill", of("terminal-4"), true);
    scene.asks("killed", "terminal/output", of("terminal-4"), true);
    // Nobody ever releases this one, nor what it leaves behind.
    scene.asks("left", "terminal/create", json!({"command": stubborn}), true);
    for (id, params) in [
        ("outside", json!({"command": "ls", "cwd": "/etc"})),
        ("empty", json!({"command": ""})),
        ("nothing", json!({"args": ["x"]})),
        ("variable", json!({"command": "ls", "env": [{"name": "A=B", "value": ""}]})),
        ("other", json!({"command": "ls", "sessionId": "s-2"})),
    ] {
        scene.asks(id, "terminal/create", params, true);
    }
    scene.says("sleep 500");
    let answers = scene.run(&[], &[]);
    let ended = |code: i64| json!({"exitCode": code, "signal": null});
    assert_eq!(answers.result("create"), &of("terminal-1"));
    assert_eq!(answers.result("wait"), &ended(3));
    let output = answers.result("output");
    let home = scene.at("");
    assert_eq!(output["output"].as_str().unwrap(), format!("x y {}\n", home.trim_end_matches('/')));
    assert_eq!((&output["truncated"], &output["exitStatus"]), (&json!(false), &ended(3)));
    assert_eq!(answers.result("release"), &json!({}));
    for id in ["gone", "again", "never"] {
        answers.refused(id, -32002, "there is no terminal");
    }
    assert_eq!(answers.result("printed")["output"], "a b|$HOME|it's|");
    let cut = answers.result("cut");
    assert_eq!((cut["output"].as_str().unwrap(), &cut["truncated"]), (&*"ü".repeat(500), &json!(true)));
    let killed = json!({"exitCode": null, "signal": "SIGKILL"});
    for id in ["kill", "twice"] {
        assert_eq!(answers.result(id), &json!({}));
    }
    assert_eq!(answers.result("pending"), &killed);
    assert_eq!(answers.result("killed")["exitStatus"], killed);
    answers.refused("outside", -32603, "is outside the workspace");
    answers.refused("empty", -32603, "the command is empty");
    answers.refused("nothing", -32602, "`command`");
    answers.refused("variable", -32602, "cannot be set");
    answers.refused("other", -32602, "no such session");
    assert_eq!(scene.file("pids").unwrap().lines().count(), 4, "each has run");
    let until = Instant::now() + Duration::from_secs(5);
    while !scene.stage.living().is_empty() {
        assert!(Instant::now() < until, "{:?} are left", scene.stage.living());
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// What nothing allows is asked about, in words that say what will be done.
#[test]
fn the_host_is_asked_and_what_it_refuses_is_not_done() {
    let mut scene = Scene::new("default");
    let (yes, no) = (scene.at("yes"), scene.at("no"));
    scene.asks("yes", "fs/write_text_file", write(&yes, "y"), true);
    scene.asks("no", "fs/write_text_file", write(&no, "n"), true);
    let env = json!([{"name": "LD_PRELOAD", "value": "x y"}, {"name": "TERM", "value": "dumb"}]);
    scene.asks("run", "terminal/create", json!({"command": "touch ran", "env": env}), true);
    scene.asks("deny", "terminal/create", json!({"command": "touch denied"}), true);
    scene.asks("wait", "terminal/wait_for_exit", json!({"terminalId": "terminal-1"}), true);
    let mut host = scene.host(&[], &[]);
    host.say(&user("go"));
    for (behavior, tool, input) in [
        ("allow", "Write", json!({"file_path": yes, "content": "y"})),
        ("deny", "Write", json!({"file_path": no, "content": "n"})),
        ("allow", "Bash", json!({"command": "LD_PRELOAD='x y' touch ran"})),
        ("deny", "Bash", json!({"command": "touch denied"})),
    ] {
        let asked = host.until("control_request");
        assert_eq!((&asked["request"]["tool_name"], &asked["request"]["input"]), (&json!(tool), &input));
        answer(&mut host, &asked, behavior);
    }
    host.until("result");
    host.close();
    let end = host.end();
    let answers = scene.answers();
    assert_eq!(scene.file("yes").unwrap(), "y");
    answers.result("wait");
    for id in ["no", "deny"] {
        answers.refused(id, -32603, "did not allow");
    }
    assert_eq!([scene.file("no"), scene.file("denied")], [None, None]);
    let denials = end.result()["permission_denials"].as_array().unwrap();
    assert_eq!(denials.len(), 2, "{denials:?}");
    // Each of them is a call with its result.
    let blocks = end.lines.iter().filter_map(|line| line["message"]["content"].as_array()).flatten();
    let results: Vec<bool> = blocks
        .filter(|block| block["type"] == "tool_result")
        .map(|block| block["is_error"].as_bool().unwrap_or(false))
        .collect();
    assert_eq!(results, [false, true, false, true]);
}

/// Who has been asked about a call is not asked again about what it does; about anything else it is.
#[test]
fn what_the_host_has_allowed_with_a_call_is_this_and_no_more() {
    let mut scene = Scene::new("default");
    let (a, b, c) = (scene.at("a"), scene.at("b"), scene.at("c"));
    let options = json!([{"optionId": "yes", "kind": "allow_once"}, {"optionId": "no", "kind": "reject_once"}]);
    let permission = |id: &str, kind: &str, input: Value| json!({"toolCall": {"toolCallId": id, "kind": kind, "title": id, "rawInput": input}, "options": options});
    scene.asks(
        "p-1",
        "session/request_permission",
        permission("c-1", "edit", json!({"path": a, "oldText": "", "newText": "x"})),
        true,
    );
    // What it says of the call now was not in the question.
    scene.update(json!({"sessionUpdate": "tool_call_update", "toolCallId": "c-1", "rawInput": {"path": c}}));
    scene.asks("a", "fs/write_text_file", write(&a, "x"), true);
    scene.asks("b", "fs/write_text_file", write(&b, "x"), true);
    scene.update(json!({"sessionUpdate": "tool_call_update", "toolCallId": "c-1", "status": "completed"}));
    scene.asks("late", "fs/write_text_file", write(&a, "y"), true);
    // Reading allows no writing.
    scene.asks("p-2", "session/request_permission", permission("c-2", "read", json!({"path": b})), true);
    scene.asks("read", "fs/write_text_file", write(&b, "x"), true);
    scene.asks(
        "p-3",
        "session/request_permission",
        permission("c-3", "execute", json!({"command": "echo 1 >> count"})),
        true,
    );
    let run = |scene: &mut Scene, id: &str, more: Value| {
        let mut params = json!({"command": "echo 1 >> count", "env": [{"name": "CLAUDECODE", "value": "1"}]});
        params.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        scene.asks(id, "terminal/create", params, true);
    };
    std::fs::create_dir(scene.stage.path("elsewhere")).unwrap();
    let elsewhere = scene.at("elsewhere");
    run(&mut scene, "moved", json!({"cwd": elsewhere}));
    run(&mut scene, "preload", json!({"env": [{"name": "PATH", "value": "/evil"}]}));
    run(&mut scene, "once", json!({}));
    run(&mut scene, "twice", json!({}));
    scene.asks("wait", "terminal/wait_for_exit", json!({"terminalId": "terminal-1"}), true);
    let mut host = scene.host(&[], &[]);
    host.say(&user("go"));
    // The calls are allowed, and nothing that was not in the question is.
    for behavior in ["allow", "deny", "deny", "allow", "deny", "allow", "deny", "deny", "deny"] {
        let asked = host.until("control_request");
        answer(&mut host, &asked, behavior);
    }
    host.until("result");
    host.close();
    assert_eq!(host.end().result()["subtype"], "success");
    let answers = scene.answers();
    for id in ["a", "once", "wait"] {
        answers.result(id);
    }
    for id in ["b", "late", "read", "moved", "preload", "twice"] {
        answers.refused(id, -32603, "did not allow");
    }
    assert_eq!(
        (scene.file("a").unwrap(), scene.file("count").unwrap()),
        ("x".to_owned(), "1\n".to_owned())
    );
    assert_eq!([scene.file("b"), scene.file("c")], [None, None]);
}

/// The host's mode and its rules hold for what an agent has done by us, whatever the agent thinks of them.
#[test]
fn modes_and_rules_decide_without_a_question() {
    for (mode, args, written, ran, read_secret) in [
        ("acceptEdits", &[][..], true, false, true),
        ("plan", &[], false, false, true),
        ("dontAsk", &[], false, false, true),
        ("dontAsk", &["--allowedTools", "Write", "Bash(sh run.sh)"], true, true, true),
        (
            "bypassPermissions",
            &["--disallowedTools", "Bash", "Read(secret)", "Write(secret)"],
            true,
            false,
            false,
        ),
        ("bypassPermissions", &["--tools", "Read"], false, false, true),
    ] {
        let mut scene = Scene::new(mode);
        std::fs::write(scene.stage.path("secret"), "s").unwrap();
        let (file, secret) = (scene.at("file"), scene.at("secret"));
        scene.asks("write", "fs/write_text_file", write(&file, "x"), true);
        scene.asks("run", "terminal/create", json!({"command": "sh run.sh"}), true);
        scene.asks("look", "terminal/create", json!({"command": "ls"}), true);
        scene.asks("read", "fs/read_text_file", read(&secret), true);
        let told = format!("{mode} {args:?}");
        // Nobody answers: the host is none that could be asked for long.
        let answers = scene.run(&["--permission-timeout", "1"], args);
        assert_eq!(scene.file("file").is_some(), written, "{told}");
        if ran {
            answers.result("run");
        } else {
            answers.refused("run", -32603, "");
        }
        assert_eq!(answers.0["read"].get("result").is_some(), read_secret, "{told}: {}", answers.0["read"]);
        assert_eq!(answers.0["write"].get("result").is_some(), written, "{told}: {}", answers.0["write"]);
        if mode == "plan" {
            answers.result("look");
        }
    }
}

/// Nobody is asked in a turn that is stopped, and what was asked is answered.
#[test]
fn a_turn_that_is_stopped_asks_nothing_more() {
    let mut scene = Scene::new("default");
    let file = scene.at("file");
    scene.asks("open", "fs/write_text_file", write(&file, "x"), true);
    scene.says("read");
    scene.asks("late", "terminal/create", json!({"command": "touch ran"}), true);
    let mut host = scene.host(&[], &[]);
    host.say(&user("go"));
    host.until("control_request");
    host.say(r#"{"type":"control_request","request_id":"r","request":{"subtype":"interrupt"}}"#);
    host.until("result");
    host.close();
    host.end();
    let answers = scene.answers();
    answers.refused("open", -32800, "cancelled");
    answers.refused("late", -32603, "cannot be asked");
    assert_eq!([scene.file("file"), scene.file("ran")], [None, None]);
}

/// What the model took for a reply may be said behind a call of ours that the host was asked about: it is still that reply's.
#[test]
fn a_client_call_ends_no_round_before_its_tokens_are_told() {
    let text = |text: &str, more: Value| {
        let mut update = json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}});
        update.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        json!({"dir": "a2c", "msg": {"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": "s-1", "update": update}}})
    };
    let usage = |input: u64, output: u64| text("", json!({"_meta": {"usage": {"inputTokens": input, "outputTokens": output}}}));
    let call = json!({"toolCallId": "agentglot-1", "name": "write_file", "kind": "edit", "title": "Write /w/x", "rawInput": {"path": "/w/x", "content": "hi"}});
    let options = json!([{"optionId": "allow", "name": "Allow", "kind": "allow_once"}]);
    let asks = json!({"dir": "a2c", "msg": {"jsonrpc": "2.0", "id": "agentglot-1", "method": "session/request_permission",
                      "params": {"sessionId": "s-1", "toolCall": call, "options": options}}});
    let answers =
        json!({"dir": "c2a", "msg": {"jsonrpc": "2.0", "id": "agentglot-1", "result": {"outcome": {"outcome": "selected", "optionId": "allow"}}}});
    let ended = json!({"dir": "a2c", "msg": {"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": "s-1",
                       "update": {"sessionUpdate": "tool_call_update", "toolCallId": "agentglot-1", "status": "completed"}}}});
    let log = [
        json!({"dir": "c2a", "msg": {"jsonrpc": "2.0", "id": 1, "method": "session/new", "params": {"cwd": "/w", "mcpServers": []}}}),
        json!({"dir": "a2c", "msg": {"jsonrpc": "2.0", "id": 1, "result": {"sessionId": "s-1"}}}),
        json!({"dir": "c2a", "msg": {"jsonrpc": "2.0", "id": 2, "method": "session/prompt", "params": {"sessionId": "s-1", "prompt": [{"type": "text", "text": "hi"}]}}}),
        text("Let me write.", json!({})),
        asks,
        answers,
        ended,
        usage(111, 22),
        text("Done.", json!({})),
        usage(333, 44),
        json!({"dir": "a2c", "msg": {"jsonrpc": "2.0", "id": 2, "result": {"stopReason": "end_turn"}}}),
    ];
    let log: String = log.iter().map(|line| format!("{line}\n")).collect();
    let ran = crate::common::feed(["convert", "--from", "acp", "--to", "claude", "-"], log.as_bytes());
    let out = String::from_utf8(ran.out).unwrap();
    let result: Value = out.lines().map(|line| serde_json::from_str(line).unwrap()).next_back().unwrap();
    let took = ["input_tokens", "output_tokens"].map(|name| result["usage"][name].as_u64());
    assert_eq!(took, [Some(444), Some(66)], "{out}");
}
