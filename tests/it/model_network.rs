//! What stands between the built-in agent and its model: proxies, TLS, compression. The proxies and the servers are real ones on this
//! machine; the agent is the program with the environment that its user would give it.

use std::process::Command;
use std::time::{Duration, Instant};

use crate::support::free_port;
use crate::support::model::{Answer, Says, Step};
use crate::support::play::{PRINT, Play, run};
use crate::support::stage::{End, Host, user};
use crate::support::wire::{Kind, Wire, certificate};

const LONG: (i32, i32) = (2020, 2120);

fn done() -> Answer {
    Answer::text("All done.")
}

fn agent(play: &Play, base: &str, variables: &[(&str, &str)]) -> Command {
    let mut command = play.command("claude", &[PRINT, &["go"]].concat());
    command.env("OPENAI_BASE_URL", base).envs(variables.iter().copied());
    command
}

#[track_caller]
fn well(end: &End) {
    assert_eq!((end.result()["result"].as_str(), end.code()), (Some("All done."), 0), "{end:#?}");
    assert_eq!(end.stderr, "");
}

/// One failed outcome that says why in one sentence, without anything secret.
#[track_caller]
fn badly(end: &End, why: &str) {
    let result = end.result();
    assert_eq!((&result["is_error"], end.code()), (&true.into(), 1), "{end:#?}");
    let text = result["result"].as_str().or_else(|| result["errors"][0].as_str()).unwrap_or_default();
    assert!(text.contains(why), "{text:?} does not say {why:?}");
    assert!(text.len() < 500 && !text.trim_end().contains('\n'), "{text}");
    assert!(!format!("{end:?}").contains("secret"), "{end:#?}");
}

#[test]
fn a_proxy_of_the_environment_is_asked_for_the_model() {
    // Nobody but the proxy finds this host.
    let named = "http://model.invalid/v1";
    for variable in ["HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"] {
        let play = Play::script(vec![done()]);
        let proxy = Wire::new(Kind::Http(None), play.server.port);
        let url = format!("http://127.0.0.1:{}", proxy.port);
        well(&run(agent(&play, named, &[(variable, &url)])));
        let seen = proxy.seen();
        assert_eq!(seen.len(), 1, "{variable}");
        assert!(
            seen[0].starts_with("POST http://model.invalid/v1/chat/completions HTTP/1.1\r\n"),
            "{seen:?}"
        );
    }
    let play = Play::script(vec![done()]);
    let proxy = Wire::new(Kind::Http(None), play.server.port);
    let url = format!("http://me:secret%21@127.0.0.1:{}", proxy.port);
    well(&run(agent(&play, named, &[("HTTP_PROXY", &url)])));
    // me:secret!
    assert!(
        proxy.seen()[0].to_lowercase().contains("proxy-authorization: basic bwu6c2vjcmv0iq=="),
        "{:?}",
        proxy.seen()
    );
}

#[test]
fn a_proxy_of_the_environment_hands_tls_on() {
    let play = Play::script(vec![done()]);
    let (kind, pem) = certificate("model.invalid", LONG);
    let model = Wire::new(kind, play.server.port);
    let proxy = Wire::new(Kind::Http(None), model.port);
    std::fs::write(play.path("ca.pem"), pem).unwrap();
    let (url, ca) = (format!("http://127.0.0.1:{}", proxy.port), play.at("ca.pem"));
    for variable in ["HTTPS_PROXY", "https_proxy", "ALL_PROXY"] {
        well(&run(agent(
            &play,
            "https://model.invalid/v1",
            &[(variable, &url), ("SSL_CERT_FILE", &ca)],
        )));
    }
    assert_eq!(model.seen(), ["model.invalid"; 3]);
    let seen = proxy.seen();
    assert!(
        seen.iter().all(|head| head.starts_with("CONNECT model.invalid:443 HTTP/1.1\r\n")),
        "{seen:?}"
    );
    // What the proxy hears does not hold the key.
    assert!(seen.len() == 3 && !seen.concat().contains("sk-a-secret-of-ours"), "{seen:?}");
}

#[test]
fn a_proxy_may_speak_socks() {
    for (scheme, base, named, wanted) in [
        ("socks5h", "http://model.invalid/v1", false, "model.invalid:80"),
        ("socks5", "http://127.0.0.2:8080/v1", false, "127.0.0.2:8080"),
        ("socks5h", "http://model.invalid:8080/v1", true, "me:secret@model.invalid:8080"),
    ] {
        let play = Play::script(vec![done()]);
        let proxy = Wire::new(Kind::Socks(named), play.server.port);
        let who = if named { "me:secret@" } else { "" };
        let url = format!("{scheme}://{who}127.0.0.1:{}", proxy.port);
        well(&run(agent(&play, base, &[("ALL_PROXY", &url)])));
        assert_eq!(proxy.seen(), [wanted]);
    }
}

#[test]
fn hosts_that_want_no_proxy_get_none() {
    let play = Play::script(vec![done()]);
    let proxy = Wire::new(
        Kind::Http(Some("HTTP/1.1 502 Bad Gateway\r\ncontent-length: 0\r\n\r\n")),
        play.server.port,
    );
    let (url, base) = (
        format!("http://127.0.0.1:{}", proxy.port),
        format!("http://127.0.0.1:{}/v1", play.server.port),
    );
    for (variable, value) in [("NO_PROXY", "127.0.0.1"), ("no_proxy", "example.com, 127.0.0.0/8"), ("NO_PROXY", "*")] {
        well(&run(agent(&play, &base, &[("HTTP_PROXY", &url), ("ALL_PROXY", &url), (variable, value)])));
    }
    assert!(proxy.seen().is_empty());
    let end = run(agent(&play, &base, &[("HTTP_PROXY", &url), ("NO_PROXY", "example.com")]));
    badly(&end, "502");
    assert_eq!(proxy.seen().len(), 1);
}

#[test]
fn a_proxy_that_fails_is_one_failed_outcome() {
    let play = Play::script(vec![done()]);
    let free = free_port();
    let refuses = "HTTP/1.1 407 Proxy Authentication Required\r\nproxy-authenticate: Basic\r\ncontent-length: 0\r\n\r\n";
    let refusing = Wire::new(Kind::Http(Some(refuses)), play.server.port);
    let closing = Wire::new(Kind::Closes, play.server.port);
    let socks = Wire::new(Kind::Socks(true), play.server.port);
    for (scheme, port, base, why) in [
        ("http", free, "http://model.invalid/v1", "connection"),
        ("http", free, "https://model.invalid/v1", "connection"),
        ("socks5h", free, "http://model.invalid/v1", "connection"),
        ("http", refusing.port, "http://model.invalid/v1", "407"),
        ("http", refusing.port, "https://model.invalid/v1", "connection"),
        ("http", closing.port, "http://model.invalid/v1", ""),
        ("http", closing.port, "https://model.invalid/v1", "connection"),
        ("socks5h", closing.port, "http://model.invalid/v1", "connection"),
        ("socks5h", socks.port, "http://model.invalid/v1", "connection"),
    ] {
        let url = format!("{scheme}://127.0.0.1:{port}");
        badly(&run(agent(&play, base, &[("ALL_PROXY", &url)])), why);
    }
    assert!(play.server.asked().is_empty());
    // The password of a proxy is nobody's business.
    let url = format!("http://me:secret@127.0.0.1:{free}");
    badly(&run(agent(&play, "https://model.invalid/v1", &[("ALL_PROXY", &url)])), "connection");
}

#[test]
fn only_a_server_that_can_show_who_it_is_is_told_the_key() {
    let play = Play::script(vec![done()]);
    let port = play.server.port;
    let base = |wire: &Wire| format!("https://localhost:{}/v1", wire.port);
    let (kind, pem) = certificate("localhost", LONG);
    let good = Wire::new(kind, port);
    std::fs::write(play.path("ca.pem"), pem).unwrap();
    let ca = play.at("ca.pem");
    let (kind, pem) = certificate("another.invalid", LONG);
    let another = Wire::new(kind, port);
    std::fs::write(play.path("another.pem"), pem).unwrap();
    let (kind, pem) = certificate("localhost", (2020, 2021));
    let expired = Wire::new(kind, port);
    std::fs::write(play.path("expired.pem"), pem).unwrap();
    let closes = Wire::new(Kind::Closes, port);
    for (what, wire, trusted) in [
        ("signed by itself", &good, None),
        ("signed by somebody else", &good, Some("another.pem")),
        ("for another name", &another, Some("another.pem")),
        ("expired", &expired, Some("expired.pem")),
        ("closes", &closes, Some("ca.pem")),
    ] {
        let mut command = agent(&play, &base(wire), &[("AGENTGLOT_MODEL_RETRIES", "0")]);
        command.env(
            "SSL_CERT_FILE",
            trusted.map_or_else(|| "/etc/ssl/certs/ca-certificates.crt".to_owned(), |name| play.at(name)),
        );
        let begun = Instant::now();
        let end = run(command);
        badly(&end, if what == "closes" { "connection" } else { "TLS" });
        assert!(begun.elapsed() < Duration::from_secs(8), "{what}");
    }
    assert!(play.server.asked().is_empty(), "nothing was said to any of them");
    well(&run(agent(&play, &base(&good), &[("SSL_CERT_FILE", &ca)])));
    assert_eq!(play.server.asked().len(), 1);
    // A certificate that is no good does not become better: it is not tried again.
    let knocks = another.seen().len();
    let end = run(agent(&play, &base(&another), &[("SSL_CERT_FILE", &ca), ("AGENTGLOT_MODEL_RETRIES", "5")]));
    badly(&end, "TLS");
    assert_eq!(another.seen().len(), knocks);
    assert!(end.lines.iter().all(|line| line["subtype"] != "api_retry"), "{end:#?}");
}

#[test]
fn packed_answers_are_read_as_they_come() {
    for api in ["openai", "anthropic"] {
        let steps = vec![Step::Text("All ".into()), Step::Pause(3000), Step::Text("done.".into())];
        let play = Play::script(vec![Answer::steps(steps).packed()]);
        let mut command = play.command_of(
            api,
            "claude",
            &[
                "-p",
                "--verbose",
                "--output-format",
                "stream-json",
                "--input-format",
                "stream-json",
                "--include-partial-messages",
            ],
        );
        command.env("AGENTGLOT_MODEL_STALL_TIMEOUT", "30");
        let mut host = Host::new(command);
        host.say(&user("go"));
        let mut begun = None;
        while begun.is_none() {
            let event = host.until("stream_event");
            begun = (event["event"]["delta"]["text"] == "All ").then(Instant::now);
        }
        assert_eq!(host.until("result")["result"], "All done.", "{api}: {:#?}", host.seen);
        assert!(
            begun.is_some_and(|begun| begun.elapsed() > Duration::from_secs(2)),
            "{api}: it came at once"
        );
        host.close();
        assert_eq!(host.end().code(), 0);
        assert!(
            play.server.asked()[0].head.to_lowercase().contains("accept-encoding: gzip"),
            "{:?}",
            play.server.asked()[0].head
        );
    }
}

#[test]
fn packed_answers_that_are_no_stream_or_break_off() {
    let whole = r#"{"id":"c-1","object":"chat.completion","model":"m-1","choices":[{"index":0,"message":{"role":"assistant","content":"All done."},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":2}}"#;
    let json = |status, body: &str| Answer::with(status, Says::Body("application/json", body.to_owned())).packed();
    let play = Play::script(vec![json(200, whole)]);
    well(&play.print("go"));
    for (answer, why) in [
        (Answer::error(400, "your wool is wet").packed(), "your wool is wet"),
        (
            Answer::with(502, Says::Body("text/html", "<html><h1>Bad Gateway</h1></html>".to_owned())).packed(),
            "502",
        ),
        (Answer::steps(vec![Step::Text("All".into()), Step::Cut]).packed(), "cut off"),
        (Answer::steps(vec![Step::Cut]).packed(), ""),
        // It says that it is packed, and is not.
        (
            Answer::with(200, Says::Body("application/json", whole.to_owned())).header("content-encoding", "gzip"),
            "",
        ),
        (
            Answer::with(200, Says::Body("text/event-stream", "data: {}\n\n".to_owned())).header("content-encoding", "gzip"),
            "",
        ),
    ] {
        let play = Play::script(vec![answer]);
        badly(&play.print("go"), why);
    }
}
