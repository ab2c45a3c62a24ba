//! Standing in for `codex app-server`: what a host does with threads besides their turns, and what it looks up.

use serde_json::{Value, json};

use crate::support::app_server::Client;
use crate::support::model::Answer;
use crate::support::play::Play;

const NOBODY: &str = "01a1fcf8-4143-7513-ad2b-ab712607a611";

fn counting() -> Play {
    Play::new(|asked, _| Answer::text(&format!("I know {} messages.", asked.body["messages"].as_array().unwrap().len())))
}

fn told(client: &mut Client, method: &str) -> Value {
    client.until(method, |message| message["method"] == method)["params"].clone()
}

fn names(client: &mut Client, params: Value) -> Vec<String> {
    let list = client.ask("thread/list", params);
    let threads = list["data"].as_array().unwrap().iter();
    threads.map(|thread| thread["name"].as_str().unwrap_or("-").to_owned()).collect()
}

#[test]
fn a_thread_has_the_name_that_its_host_gives_it() {
    let play = counting();
    let mut client = Client::start(&play);
    let thread = client.open(json!({"cwd": play.at("")}));
    // Nothing was said in it yet.
    client.ask("thread/name/set", json!({"threadId": thread, "name": "Early"}));
    client.run(&thread, "hello");
    client.ask("thread/name/set", json!({"threadId": thread, "name": " My \"name\" "}));
    assert_eq!(
        told(&mut client, "thread/name/updated"),
        json!({"threadId": thread, "threadName": "My \"name\""})
    );
    assert_eq!(names(&mut client, json!({})), ["My \"name\""]);
    for (params, why) in [
        (json!({"threadId": thread, "name": "  "}), "thread name must not be empty"),
        (json!({"threadId": thread}), "Invalid request: missing field `name`"),
        (
            json!({"threadId": NOBODY, "name": "x"}),
            "no rollout found for thread id 01a1fcf8-4143-7513-ad2b-ab712607a611",
        ),
    ] {
        assert_eq!(client.refusal("thread/name/set", params), why);
    }
    assert_eq!(client.leave(&play), 0);
    // It is kept, whoever asks, and given without opening the thread.
    let mut client = Client::start(&play);
    assert_eq!(names(&mut client, json!({"searchTerm": "My"})), ["My \"name\""]);
    client.ask("thread/name/set", json!({"threadId": thread, "name": "Another"}));
    assert_eq!(client.ask("thread/resume", json!({"threadId": thread}))["thread"]["name"], "Another");
    assert_eq!(client.run(&thread, "go on")["status"], "completed");
    assert_eq!(client.leave(&play), 0);
}

#[test]
fn a_thread_is_put_away_brought_back_and_removed() {
    let play = counting();
    let mut client = Client::start(&play);
    let thread = client.open(json!({"cwd": play.at("")}));
    client.run(&thread, "hello");
    assert_eq!(client.ask("thread/archive", json!({"threadId": thread})), json!({}));
    assert_eq!(told(&mut client, "thread/archived"), json!({"threadId": thread}));
    let input = json!([{"type": "text", "text": "x"}]);
    assert_eq!(
        client.refusal("turn/start", json!({"threadId": thread, "input": input})),
        format!("thread not found: {thread}")
    );
    assert_eq!(client.leave(&play), 0);

    let mut client = Client::start(&play);
    assert!(names(&mut client, json!({})).is_empty());
    assert_eq!(names(&mut client, json!({"archived": true})).len(), 1);
    assert_eq!(
        client.refusal("thread/resume", json!({"threadId": thread})),
        format!("session {thread} is archived. Run `codex unarchive {thread}` to unarchive it first.")
    );
    assert_eq!(
        client.refusal("thread/archive", json!({"threadId": thread})),
        format!("no rollout found for thread id {thread}")
    );
    // It can be read all the same.
    let page = client.ask("thread/turns/list", json!({"threadId": thread}));
    assert_eq!(page["data"].as_array().unwrap().len(), 1);
    let back = client.ask("thread/unarchive", json!({"threadId": thread}));
    assert_eq!(
        (&back["thread"]["id"], &back["thread"]["status"]["type"]),
        (&json!(thread), &json!("notLoaded"))
    );
    assert_eq!(
        client.refusal("thread/unarchive", json!({"threadId": thread})),
        format!("no archived rollout found for thread id {thread}")
    );
    client.ask("thread/resume", json!({"threadId": thread}));
    assert_eq!(client.run(&thread, "go on")["status"], "completed");
    // One that is open is closed before it is removed.
    client.ask("thread/delete", json!({"threadId": thread}));
    assert_eq!(told(&mut client, "thread/deleted"), json!({"threadId": thread}));
    assert!(names(&mut client, json!({})).is_empty());
    assert_eq!(
        client.refusal("thread/resume", json!({"threadId": thread})),
        format!("no rollout found for thread id {thread}")
    );
    assert_eq!(client.leave(&play), 0);
}

#[test]
fn what_was_said_is_read_page_by_page() {
    let play = counting();
    let mut client = Client::start(&play);
    let thread = client.open(json!({"cwd": play.at("")}));
    let empty = client.ask("thread/turns/list", json!({"threadId": thread}));
    assert_eq!(empty, json!({"data": [], "nextCursor": null, "backwardsCursor": null}));
    let turns: Vec<Value> = ["one", "two", "three"].map(|text| client.run(&thread, text)["id"].clone()).to_vec();
    // Two requests at a time, as an editor that shows a thread says them.
    let first = client.send("thread/turns/list", json!({"threadId": thread, "limit": 2}));
    let items = client.send("thread/items/list", json!({"threadId": thread, "limit": 3}));
    let page = client.answer(first)["result"].clone();
    let ids = |page: &Value| page["data"].as_array().unwrap().iter().map(|turn| turn["id"].clone()).collect::<Vec<_>>();
    assert_eq!(ids(&page), [turns[2].clone(), turns[1].clone()]);
    let newest = &page["data"][0];
    assert_eq!((&newest["itemsView"], newest["items"].as_array().unwrap().len()), (&json!("summary"), 2));
    let items = client.answer(items)["result"].clone();
    assert_eq!(items["data"][2]["turnId"], turns[1]);
    assert_eq!(items["data"][2]["item"]["content"][0]["text"], "two");
    let next = json!({"threadId": thread, "cursor": page["nextCursor"], "itemsView": "notLoaded"});
    let rest = client.ask("thread/turns/list", next);
    assert_eq!((ids(&rest), &rest["nextCursor"]), (vec![turns[0].clone()], &Value::Null));
    assert_eq!(rest["data"][0]["items"], json!([]));
    // Back the way it came, with the one that it began with.
    let back = client.ask(
        "thread/turns/list",
        json!({"threadId": thread, "cursor": rest["backwardsCursor"], "sortDirection": "asc"}),
    );
    assert_eq!(ids(&back), turns);
    let one = client.ask(
        "thread/items/list",
        json!({"threadId": thread, "turnId": turns[1], "sortDirection": "desc"}),
    );
    assert_eq!(one["data"][0]["item"]["type"], "agentMessage");
    assert_eq!(one["data"].as_array().unwrap().len(), 2);
    assert_eq!(
        client.refusal("thread/turns/list", json!({"threadId": thread, "cursor": "junk"})),
        "invalid cursor: junk"
    );
    assert_eq!(
        client.refusal("thread/turns/list", json!({"threadId": NOBODY})),
        format!("thread not loaded: {NOBODY}")
    );
    assert_eq!(client.leave(&play), 0);
}

#[test]
fn a_thread_goes_back_and_is_made_shorter() {
    let play = counting();
    let mut client = Client::start(&play);
    let thread = client.open(json!({"cwd": play.at("")}));
    let first = client.run(&thread, "one");
    let second = client.run(&thread, "two");
    let known = |client: &Client, turn: &Value| client.items(turn["id"].as_str().unwrap())[1]["text"].as_str().unwrap().to_owned();
    let before = known(&client, &second);
    let nowhere = json!({"threadId": thread, "beforeTurnId": "nope"});
    assert_eq!(client.refusal("thread/revert", nowhere), "turn not found: nope");
    let reverted = client.ask("thread/revert", json!({"threadId": thread, "beforeTurnId": second["id"]}));
    assert_eq!((&reverted["thread"]["id"], &reverted["thread"]["turns"]), (&json!(thread), &json!([])));
    assert_eq!(told(&mut client, "thread/reverted"), json!({"threadId": thread}));
    let left = client.ask("thread/turns/list", json!({"threadId": thread}));
    assert_eq!(left["data"].as_array().unwrap().len(), 1, "{left}");
    let again = client.run(&thread, "two again");
    assert_eq!(known(&client, &again), before, "the turn is forgotten");
    // What older hosts say.
    let back = client.ask("thread/rollback", json!({"threadId": thread, "numTurns": 1}));
    let turns = back["thread"]["turns"].as_array().unwrap();
    assert_eq!((turns.len(), &turns[0]["id"]), (1, &first["id"]));
    assert_eq!(client.ask("thread/compact/start", json!({"threadId": thread})), json!({}));
    let turn = told(&mut client, "turn/started")["turn"]["id"].as_str().unwrap().to_owned();
    // What is said meanwhile is a turn of its own.
    let next = client.turn(&thread, "and now?");
    assert_ne!(next, turn);
    assert_eq!(client.completed(&next)["status"], "completed");
    assert_eq!(client.kinds(&turn), ["contextCompaction"]);
    assert_eq!(
        client.refusal("thread/compact/start", json!({"threadId": NOBODY})),
        format!("thread not found: {NOBODY}")
    );
    assert_eq!(client.leave(&play), 0);
}

#[test]
fn what_there_is_none_of_is_said_so() {
    let play = counting();
    let mut client = Client::start(&play);
    let config = client.ask("config/read", json!({"includeLayers": true}));
    assert_eq!(config["config"]["sandbox_mode"], "read-only", "{config}");
    assert_eq!(config["layers"], json!([]));
    let skills = client.ask("skills/list", json!({"cwds": ["/somewhere"]}));
    assert_eq!(skills["data"], json!([{"cwd": "/somewhere", "skills": [], "errors": []}]));
    for method in ["permissionProfile/list", "experimentalFeature/list", "mcpServerStatus/list", "app/list"] {
        assert_eq!(client.ask(method, json!({})), json!({"data": [], "nextCursor": null}), "{method}");
    }
    assert_eq!(client.ask("configRequirements/read", Value::Null), json!({"requirements": null}));
    assert_eq!(client.ask("getAuthStatus", json!({}))["authMethod"], Value::Null);
    assert_eq!(client.ask("thread/goal/get", json!({"threadId": NOBODY})), json!({"goal": null}));
    let limits = client.refusal("account/rateLimits/read", Value::Null);
    assert_eq!(limits, "codex account authentication required to read rate limits");
    let signed = client.ask("account/login/start", json!({"type": "apiKey", "apiKey": "sk-of-the-host"}));
    assert_eq!(signed, json!({"type": "apiKey"}));
    assert_eq!(told(&mut client, "account/login/completed")["success"], true);
    assert!(client.refusal("account/login/start", json!({"type": "chatgpt"})).contains("environment"));
    assert_eq!(client.leave(&play), 0);
}
