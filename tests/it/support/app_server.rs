//! A host of `codex app-server`, as the tests play it.

use std::time::Duration;

use serde_json::{Value, json};

use super::play::Play;
use super::stage::Host;

const PATIENCE: Duration = Duration::from_secs(60);

/// A host, as an editor or Codex's SDK for Python is one.
pub(crate) struct Client {
    pub(crate) host: Host,
    pub(crate) ids: u64,
}

impl Client {
    pub(crate) fn start(play: &Play) -> Self {
        Self::of(play.host("codex", &["app-server", "--listen", "stdio://"]))
    }

    pub(crate) fn of(host: Host) -> Self {
        let mut client = Self { host, ids: 0 };
        assert_eq!(client.refusal("thread/start", json!({})), "Not initialized");
        let who = json!({"clientInfo": {"name": "rec", "title": "t", "version": "1"}, "capabilities": {"experimentalApi": true}});
        let hello = client.ask("initialize", who.clone());
        assert!(hello["userAgent"].as_str().unwrap().starts_with("rec/0.169.0 ("), "{hello}");
        assert_eq!(client.refusal("initialize", who), "Already initialized");
        client.host.say(r#"{"method":"initialized"}"#);
        client
    }

    pub(crate) fn send(&mut self, method: &str, params: Value) -> u64 {
        self.ids += 1;
        self.host.say(&json!({"id": self.ids, "method": method, "params": params}).to_string());
        self.ids
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
        let answer = self.answer(id);
        assert!(answer["error"].is_null(), "{method}: {answer}");
        answer["result"].clone()
    }

    pub(crate) fn refusal(&mut self, method: &str, params: Value) -> String {
        let id = self.send(method, params);
        let answer = self.answer(id);
        assert_eq!(answer["error"]["code"], -32600, "{method}: {answer}");
        answer["error"]["message"].as_str().unwrap().to_owned()
    }

    pub(crate) fn open(&mut self, params: Value) -> String {
        let opened = self.ask("thread/start", params);
        opened["thread"]["id"].as_str().unwrap().to_owned()
    }

    pub(crate) fn turn(&mut self, thread: &str, text: &str) -> String {
        let input = json!([{"type": "text", "text": text}]);
        let answer = self.ask("turn/start", json!({"threadId": thread, "input": input}));
        assert_eq!(answer["turn"]["status"], "inProgress");
        answer["turn"]["id"].as_str().unwrap().to_owned()
    }

    /// Reads to the end of a turn.
    pub(crate) fn completed(&mut self, turn: &str) -> Value {
        let end = self.until("end of the turn", |message| {
            message["method"] == "turn/completed" && message["params"]["turn"]["id"] == turn
        });
        end["params"]["turn"].clone()
    }

    pub(crate) fn run(&mut self, thread: &str, text: &str) -> Value {
        let turn = self.turn(thread, text);
        self.completed(&turn)
    }

    /// The items of a turn that were completed.
    pub(crate) fn items(&self, turn: &str) -> Vec<&Value> {
        let done = self.host.seen.iter().filter(|message| message["method"] == "item/completed");
        done.filter(|message| message["params"]["turnId"] == turn)
            .map(|message| &message["params"]["item"])
            .collect()
    }

    pub(crate) fn kinds(&self, turn: &str) -> Vec<String> {
        self.items(turn).iter().map(|item| item["type"].as_str().unwrap().to_owned()).collect()
    }

    pub(crate) fn question(&mut self, what: &str) -> Value {
        let method = format!("item/{what}/requestApproval");
        self.until("question", |message| message["method"] == method.as_str())
    }

    pub(crate) fn decide(&mut self, question: &Value, decision: Value) {
        self.host
            .say(&json!({"id": question["id"], "result": {"decision": decision}}).to_string());
    }

    /// The host goes; so does everything else.
    pub(crate) fn leave(self, play: &Play) -> i32 {
        self.host.leave(play)
    }
}
