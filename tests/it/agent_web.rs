//! The built-in agent and the web, from outside: what it may do there, and who is asked.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::mpsc::{Receiver, channel};

use serde_json::json;

use crate::support::model::Answer;
use crate::support::play::{ONE, Play, run, said};

const FOUND: &str = r#"{"type":"search","web":{"results":[{"title":"Found it","url":"https://found.example/","description":"a page"}]}}"#;

/// A search engine that always finds the same: its address, and what it was asked.
fn engine() -> (String, Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/search", listener.local_addr().unwrap());
    let (heard, asked) = channel();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let (mut head, mut chunk) = (Vec::new(), [0; 1024]);
            while !head.ends_with(b"\r\n\r\n") {
                match stream.read(&mut chunk) {
                    Ok(0) | Err(_) => break,
                    Ok(read) => head.extend_from_slice(&chunk[..read]),
                }
            }
            let _ = heard.send(String::from_utf8_lossy(&head).into_owned());
            let head = format!(
                "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\ncontent-length: {}\r\n\r\n",
                FOUND.len()
            );
            let _ = stream.write_all(format!("{head}{FOUND}").as_bytes());
        }
    });
    (address, asked)
}

/// What the tool is called, and what names it.
fn named(dialect: &str) -> (&'static str, &'static str, &'static [&'static str]) {
    match dialect {
        "claude" => ("WebSearch", "query", &["--allowedTools=WebSearch"]),
        "cursor" => ("webSearch", "searchTerm", &[]),
        "tricode" => ("web_search", "query", &[]),
        _ => ("web_search", "query", &["--allowed-tools=web_search"]),
    }
}

#[test]
fn the_web_is_searched_where_it_is_allowed() {
    for (dialect, args) in ONE {
        let (engine, asked) = engine();
        let (tool, words, names) = named(dialect);
        let calls = match *dialect {
            "tricode" => vec![("plan", json!({"action": "skip"})), (tool, json!({words: "a b"}))],
            _ => vec![(tool, json!({words: "a b"}))],
        };
        let play = Play::script(vec![Answer::calls(&calls), Answer::text("All done.")]);
        if *dialect == "cursor" {
            std::fs::create_dir(play.base().join("home/.cursor")).unwrap();
            let allowed = r#"{"permissions":{"allow":["WebSearch"],"deny":[]}}"#;
            std::fs::write(play.base().join("home/.cursor/cli-config.json"), allowed).unwrap();
        }
        let mut all = names.to_vec();
        all.extend(args.iter());
        all.push("go");
        let mut command = play.command(dialect, &all);
        command
            .env("AGENTGLOT_SEARCH_ENGINE", &engine)
            .env("AGENTGLOT_SEARCH_KEY", "a-key-of-theirs");
        let end = run(command);
        assert_eq!(end.code(), 0, "{dialect} {args:?}: {end:#?}");
        let request = asked.try_recv().unwrap_or_else(|_| panic!("{dialect}: nobody was asked: {end:#?}"));
        assert!(request.starts_with("GET /search?q=a+b&count="), "{dialect}: {request}");
        assert!(request.contains("x-subscription-token: a-key-of-theirs\r\n"), "{dialect}: {request}");
        let read = play.server.asked()[1].all();
        assert!(read.contains("Found it") && read.contains("https://found.example/"), "{dialect}: {read}");
        let shown = said(&end);
        assert!(!shown.contains("a-key-of-theirs") && !read.contains("a-key-of-theirs"), "{dialect}");
        if *dialect == "cursor" {
            let typed = r#""webSearchToolCall":{"#;
            assert!(shown.contains(typed) && shown.contains(r#"{"references":[{"#), "{shown}");
        }
    }
}

#[test]
fn the_web_is_not_there_where_nobody_names_it() {
    for (dialect, args) in ONE.iter().filter(|(dialect, _)| *dialect != "tricode") {
        let (engine, asked) = engine();
        let (tool, words, _) = named(dialect);
        let play = Play::script(vec![Answer::calls(&[(tool, json!({words: "a"}))]), Answer::text("All done.")]);
        let mut all = args.to_vec();
        all.push("go");
        let mut command = play.command(dialect, &all);
        command.env("AGENTGLOT_SEARCH_ENGINE", &engine);
        let end = run(command);
        assert_eq!(end.code(), 0, "{dialect} {args:?}: {end:#?}");
        let offered = play.server.asked()[0].tools();
        assert!(!offered.iter().any(|name| name.to_lowercase().contains("web")), "{dialect}: {offered:?}");
        assert!(asked.try_recv().is_err(), "{dialect}");
    }
}

#[test]
fn an_address_that_is_none_is_an_error_of_the_user() {
    let play = Play::script(vec![Answer::text("All done.")]);
    let (dialect, args) = ONE[0];
    let mut all = args.to_vec();
    all.push("go");
    let mut command = play.command(dialect, &all);
    command.env("AGENTGLOT_SEARCH_ENGINE", "localhost:8888");
    let end = run(command);
    assert_ne!(end.code(), 0, "{end:#?}");
    assert!(format!("{end:?}").contains("localhost:8888 is no address of a search engine"), "{end:#?}");
    assert!(play.server.asked().is_empty());
}
