//! Standing in for an agent of the Agent Client Protocol: what an editor says and hears, with sessions beside each other, whoever answers.

use std::time::Duration;

use serde_json::{Value, json};

use crate::support::model::{Answer, Server, Step};
use crate::support::play::Play;
use crate::support::stage::Host;

const PATIENCE: Duration = Duration::from_secs(60);

/// An editor.
pub(crate) struct Editor {
    pub(crate) host: Host,
    ids: u64,
}

impl Editor {
    fn start(play: &Play, args: &[&str]) -> Self {
        Self::of(play.host("acp", args))
    }

    pub(crate) fn of(host: Host) -> Self {
        let mut editor = Self { host, ids: 0 };
        let hello = editor.ask("initialize", json!({"protocolVersion": 999, "clientCapabilities": {}}));
        assert_eq!(hello["result"]["protocolVersion"], 1);
        editor
    }

    pub(crate) fn send(&mut self, method: &str, params: Value) -> u64 {
        self.ids += 1;
        self.host
            .say(&json!({"jsonrpc": "2.0", "id": self.ids, "method": method, "params": params}).to_string());
        self.ids
    }

    pub(crate) fn tell(&mut self, method: &str, params: Value) {
        self.host.say(&json!({"jsonrpc": "2.0", "method": method, "params": params}).to_string());
    }

    /// Reads until such a message comes.
    pub(crate) fn until(&mut self, what: &str, is: impl Fn(&Value) -> bool) -> Value {
        self.host.until_is(what, PATIENCE, is)
    }

    pub(crate) fn answer(&mut self, id: u64) -> Value {
        self.until("answer", |message| message["id"] == id && message["method"].is_null())
    }

    pub(crate) fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.send(method, params);
        self.answer(id)
    }

    pub(crate) fn code(&mut self, method: &str, params: Value) -> i64 {
        let answer = self.ask(method, params);
        answer["error"]["code"]
            .as_i64()
            .unwrap_or_else(|| panic!("{method} was not refused: {answer}"))
    }

    pub(crate) fn open(&mut self, play: &Play) -> String {
        let opened = self.ask("session/new", json!({"cwd": play.at(""), "mcpServers": []}));
        opened["result"]["sessionId"].as_str().unwrap_or_else(|| panic!("{opened}")).to_owned()
    }

    pub(crate) fn prompt(&mut self, session: &str, text: &str) -> u64 {
        self.send(
            "session/prompt",
            json!({"sessionId": session, "prompt": [{"type": "text", "text": text}]}),
        )
    }

    fn permission(&mut self) -> Value {
        self.until("question", |message| message["method"] == "session/request_permission")
    }

    fn choose(&mut self, question: &Value, option: &str) {
        let outcome = json!({"outcome": {"outcome": "selected", "optionId": option}});
        self.host
            .say(&json!({"jsonrpc": "2.0", "id": question["id"], "result": outcome}).to_string());
    }

    /// What was new in a session, of one kind.
    fn updates(&self, session: &str, kind: &str) -> Vec<&Value> {
        let updates = self.host.seen.iter().filter(|message| message["params"]["sessionId"] == session);
        updates
            .map(|message| &message["params"]["update"])
            .filter(|update| update["sessionUpdate"] == kind)
            .collect()
    }

    pub(crate) fn text(&self, session: &str, kind: &str) -> String {
        let chunks = self.updates(session, kind).into_iter();
        chunks.filter_map(|chunk| chunk["content"]["text"].as_str()).collect()
    }

    /// The editor goes; so does everything else.
    pub(crate) fn leave(self, play: &Play) -> i32 {
        self.host.leave(play)
    }
}

#[test]
fn an_editor_asks_and_is_answered() {
    let play = Play::script(vec![Answer::steps(vec![
        Step::Think("let me see".into()),
        Step::Text("Hello \u{2028} 你好".into()),
        Step::Used(5, 7),
    ])]);
    let mut editor = Editor::start(&play, &[]);
    let opened = editor.ask("session/new", json!({"cwd": play.at(""), "mcpServers": []}));
    let session = opened["result"]["sessionId"].as_str().unwrap().to_owned();
    assert_eq!(opened["result"]["modes"]["currentModeId"], "default");
    let id = editor.prompt(&session, "hello");
    let end = editor.answer(id);
    assert_eq!(end["result"]["stopReason"], "end_turn");
    assert_eq!(end["result"]["usage"]["outputTokens"], 7);
    assert_eq!(editor.text(&session, "agent_message_chunk"), "Hello \u{2028} 你好");
    assert_eq!(editor.text(&session, "agent_thought_chunk"), "let me see");
    assert!(!editor.updates(&session, "available_commands_update").is_empty());
    assert!(editor.updates(&session, "user_message_chunk").is_empty());
    assert_eq!(editor.leave(&play), 0);
}

#[test]
fn calls_are_permitted_refused_and_shown() {
    let play = Play::script(Vec::new());
    let writes = |name: &str| Answer::calls(&[("Write", json!({"file_path": play.at(name), "content": "one\n"}))]);
    let done = || Answer::text("Done.");
    let script = vec![writes("a.txt"), done(), writes("b.txt"), done()];
    let play = play.served(Server::script(script));
    let mut editor = Editor::start(&play, &[]);
    let session = editor.open(&play);
    let id = editor.prompt(&session, "write");
    let question = editor.permission();
    assert_eq!(question["params"]["toolCall"]["content"][0]["type"], "diff");
    // An answer to nobody, and one that is none, change nothing.
    editor.host.say(r#"{"jsonrpc":"2.0","id":4711,"result":{}}"#);
    editor.choose(&question, "allow_once");
    assert_eq!(editor.answer(id)["result"]["stopReason"], "end_turn");
    assert_eq!(play.read("a.txt"), "one\n");
    let done = editor.updates(&session, "tool_call_update");
    assert_eq!(done.last().unwrap()["status"], "completed");
    assert!(done.last().unwrap()["content"].is_null(), "the change is still shown");
    let id = editor.prompt(&session, "write again");
    let question = editor.permission();
    editor.choose(&question, "reject_once");
    assert_eq!(editor.answer(id)["result"]["stopReason"], "end_turn");
    assert!(!play.path("b.txt").exists());
    assert_eq!(editor.updates(&session, "tool_call_update").last().unwrap()["status"], "failed");
    assert_eq!(editor.leave(&play), 0);
}

#[test]
fn sessions_live_beside_each_other() {
    let play = Play::new(|asked, _| match asked.last() {
        last if last.contains("first") => Answer::text("One."),
        last if last.contains("slow") => Answer::steps(vec![Step::Pause(30_000)]),
        _ => Answer::text("Two."),
    });
    let mut editor = Editor::start(&play, &[]);
    let (first, second) = (editor.open(&play), editor.open(&play));
    assert_ne!(first, second);
    let ids = [editor.prompt(&first, "first"), editor.prompt(&second, "second")];
    let mut open = ids.to_vec();
    while !open.is_empty() {
        let end = editor.until("end", |message| message["result"]["stopReason"] == "end_turn");
        open.retain(|id| end["id"] != *id);
    }
    assert_eq!(editor.text(&first, "agent_message_chunk"), "One.");
    assert_eq!(editor.text(&second, "agent_message_chunk"), "Two.");
    assert_eq!(editor.ask("session/close", json!({"sessionId": first}))["result"], json!({}));
    assert_eq!(
        editor.code("session/prompt", json!({"sessionId": first, "prompt": [{"type": "text", "text": "x"}]})),
        -32002
    );
    let id = editor.prompt(&second, "second");
    assert_eq!(editor.answer(id)["result"]["stopReason"], "end_turn");
    let id = editor.prompt(&second, "slow");
    let close = editor.send("session/close", json!({"sessionId": second}));
    assert_eq!(editor.answer(id)["result"]["stopReason"], "cancelled");
    assert_eq!(editor.answer(close)["result"], json!({}));
    assert_eq!(editor.leave(&play), 0);
}

#[test]
fn a_turn_is_stopped_and_what_waits_behind_it() {
    let play = Play::new(|asked, _| match asked.last() {
        last if last.contains("slow") => Answer::steps(vec![Step::Text("I think".into()), Step::Pause(30_000), Step::Text("so".into())]),
        _ => Answer::text("Quick."),
    });
    let mut editor = Editor::start(&play, &[]);
    let session = editor.open(&play);
    // Where nothing runs there is nothing to stop.
    editor.tell("session/cancel", json!({"sessionId": session}));
    let (slow, behind) = (editor.prompt(&session, "slow"), editor.prompt(&session, "quick"));
    editor.until("piece", |message| message["params"]["update"]["sessionUpdate"] == "agent_message_chunk");
    editor.tell("session/cancel", json!({"sessionId": session}));
    let mut ends = [
        editor.until("end", |message| !message["result"]["stopReason"].is_null()),
        editor.until("end", |message| !message["result"]["stopReason"].is_null()),
    ];
    ends.sort_by_key(|end| end["id"].as_u64());
    assert_eq!(
        ends.map(|end| (end["id"].clone(), end["result"]["stopReason"].clone())),
        [slow, behind].map(|id| (json!(id), json!("cancelled")))
    );
    let id = editor.prompt(&session, "quick");
    assert_eq!(editor.answer(id)["result"]["stopReason"], "end_turn");
    // One that runs when the editor goes is no reason to stay.
    editor.prompt(&session, "slow");
    assert_eq!(editor.leave(&play), 0);
}

#[test]
fn modes_and_models_are_chosen() {
    let play = Play::new(|_, _| Answer::text("Fine."));
    let mut editor = Editor::start(&play, &["--permission-mode", "acceptEdits"]);
    let opened = editor.ask("session/new", json!({"cwd": play.at(""), "mcpServers": []}));
    let session = opened["result"]["sessionId"].clone();
    assert_eq!(opened["result"]["modes"]["currentModeId"], "acceptEdits");
    let modes = opened["result"]["modes"]["availableModes"].as_array().unwrap();
    assert!(modes.iter().all(|mode| mode["id"] != "bypassPermissions"), "nobody began in it");
    let set = editor.ask("session/set_mode", json!({"sessionId": session, "modeId": "plan"}));
    assert_eq!(set["result"], json!({}));
    assert_eq!(
        editor.code("session/set_mode", json!({"sessionId": session, "modeId": "bypassPermissions"})),
        -32602
    );
    let option = json!({"sessionId": session, "configId": "mode", "value": "default"});
    let set = editor.ask("session/set_config_option", option);
    assert_eq!(set["result"]["configOptions"][0]["currentValue"], "default");
    let option = json!({"sessionId": session, "configId": "model", "value": "no-such-model"});
    assert_eq!(editor.code("session/set_config_option", option), -32602);
    assert_eq!(editor.leave(&play), 0);
}

#[test]
fn a_session_is_loaded_with_what_was_said() {
    let play = Play::new(|asked, _| Answer::text(&format!("I know {} messages.", asked.body["messages"].as_array().unwrap().len())));
    let mut editor = Editor::start(&play, &[]);
    let session = editor.open(&play);
    let id = editor.prompt(&session, "remember me");
    editor.answer(id);
    let before = editor.text(&session, "agent_message_chunk");
    assert_eq!(editor.leave(&play), 0);

    let mut editor = Editor::start(&play, &[]);
    let listed = editor.ask("session/list", json!({"cwd": play.at("")}));
    assert_eq!(listed["result"]["sessions"][0]["sessionId"], session.as_str());
    let params = json!({"sessionId": session, "cwd": play.at(""), "mcpServers": []});
    let loaded = editor.ask("session/load", params.clone());
    assert_eq!(loaded["result"]["modes"]["currentModeId"], "default", "{loaded}");
    assert_eq!(editor.text(&session, "user_message_chunk"), "remember me");
    assert_eq!(editor.text(&session, "agent_message_chunk"), before);
    assert_eq!(editor.code("session/load", params.clone()), -32602, "it is open");
    let id = editor.prompt(&session, "go on");
    assert_eq!(editor.answer(id)["result"]["stopReason"], "end_turn");
    assert_ne!(
        editor.text(&session, "agent_message_chunk"),
        before.repeat(2),
        "the model was told what was said before"
    );
    editor.ask("session/close", json!({"sessionId": session}));
    let from = editor.host.seen.len();
    let resumed = editor.ask("session/resume", params);
    assert!(resumed["result"].is_object(), "{resumed}");
    assert!(
        editor.host.seen[from..]
            .iter()
            .all(|message| message["params"]["update"]["content"].is_null()),
        "nothing is said again"
    );
    let unknown = json!({"sessionId": "00000000-0000-4000-8000-000000000000", "cwd": play.at(""), "mcpServers": []});
    assert_eq!(editor.code("session/load", unknown), -32002);
    assert_eq!(editor.leave(&play), 0);
}

#[test]
fn what_is_wrong_is_told_and_harms_nothing_else() {
    let play = Play::new(|asked, _| match asked.last() {
        last if last.contains("who") && !last.contains("go on") => Answer::error(401, "a scripted fault"),
        last if last.contains("fail") && !last.contains("go on") => Answer::error(400, "a scripted fault"),
        _ => Answer::text("Fine."),
    });
    let mut editor = Editor::start(&play, &[]);
    for (line, code) in [
        ("{\"jsonrpc\":\"2.0\",", -32700),
        ("[]", -32600),
        ("{\"jsonrpc\":\"2.0\"}", -32600),
        ("{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"initialize\"}", -32600),
    ] {
        editor.host.say(line);
        let error = editor.until("error", |message| message["id"].is_null() && !message["error"].is_null());
        assert_eq!(error["error"]["code"], code, "{line}");
    }
    assert_eq!(editor.code("no/such_method", json!({})), -32601);
    assert_eq!(editor.code("authenticate", json!({"methodId": "x"})), -32602);
    assert_eq!(editor.code("session/new", json!({"cwd": 5})), -32602);
    assert_eq!(editor.code("session/new", json!({"cwd": "relative", "mcpServers": []})), -32602);
    assert_eq!(editor.code("session/prompt", json!({"sessionId": "nope", "prompt": []})), -32602);
    let prompt = json!([{"type": "text", "text": "x"}]);
    assert_eq!(editor.code("session/prompt", json!({"sessionId": "nope", "prompt": prompt})), -32002);
    // A folder that is not there: the session is not opened, and the reason is said.
    let nowhere = editor.ask("session/new", json!({"cwd": play.at("nowhere"), "mcpServers": []}));
    assert!(nowhere["error"]["message"].as_str().unwrap().contains("nowhere"), "{nowhere}");
    let session = editor.open(&play);
    assert_eq!(
        editor.code("session/prompt", json!({"sessionId": session, "prompt": [{"type": "audio"}]})),
        -32602
    );
    let id = editor.prompt(&session, "fail");
    let failed = editor.answer(id);
    assert!(failed["error"]["message"].as_str().unwrap().contains("a scripted fault"), "{failed}");
    assert_eq!(failed["error"]["code"], -32603, "{failed}");
    let id = editor.prompt(&session, "who");
    let failed = editor.answer(id);
    assert_eq!(failed["error"]["code"], -32000, "{failed}");
    let id = editor.prompt(&session, "go on");
    assert_eq!(editor.answer(id)["result"]["stopReason"], "end_turn");
    assert_eq!(editor.leave(&play), 0);
}

#[test]
fn a_session_whose_program_dies_takes_no_other_with_it() {
    let play = Play::new(|asked, _| match asked.last() {
        last if last.contains("slow") => Answer::steps(vec![Step::Text("I think".into()), Step::Pause(30_000)]),
        _ => Answer::text("Fine."),
    });
    let mut editor = Editor::start(&play, &[]);
    let (first, second) = (editor.open(&play), editor.open(&play));
    let id = editor.prompt(&first, "slow");
    editor.until("piece", |message| message["params"]["update"]["sessionUpdate"] == "agent_message_chunk");
    let inside = std::fs::read_dir("/proc").unwrap().flatten().find(|entry| {
        let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        line.windows(first.len()).any(|window| window == first.as_bytes())
    });
    let inside = inside.and_then(|entry| entry.file_name().to_str()?.parse().ok()).unwrap();
    rustix::process::kill_process(rustix::process::Pid::from_raw(inside).unwrap(), rustix::process::Signal::KILL).unwrap();
    assert_eq!(editor.answer(id)["error"]["code"], -32603);
    let id = editor.prompt(&second, "go on");
    assert_eq!(editor.answer(id)["result"]["stopReason"], "end_turn");
    assert_eq!(editor.leave(&play), 0);
}

#[test]
fn the_short_form_means_the_same() {
    let play = Play::new(|_, _| Answer::text("Fine."));
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_agentglot"));
    command.args(["acp", "--backend", "demo", "--", "--version"]).current_dir(play.path(""));
    let said = command.output().unwrap();
    assert_eq!(String::from_utf8_lossy(&said.stdout).trim(), env!("CARGO_PKG_VERSION"));
}
