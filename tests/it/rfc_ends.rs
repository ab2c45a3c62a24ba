//! How runs of the RFC end that cannot go on, and what stands in the stream besides.

use serde_json::json;

use super::rfc_faults::{echo, prompt};
use crate::support::model::{Answer, Server, Step};
use crate::support::play::Play;
use crate::support::rfc::{CHUNKS, End, MESSAGES, Rfc, said, terminals};
use crate::support::stage::{INIT, Stage, result, text};
use crate::support::within;

/// The end of a run that broke off: the reason in red, then the bare error object, and nothing behind it.
fn told_in_red(end: &End, code: &str, exit_code: i32) {
    assert_eq!(end.code, Some(exit_code), "{end:#?}");
    let [.., red, last] = &end.lines[..] else { panic!("{end:#?}") };
    let seen = std::slice::from_ref(red);
    let [(terminal, text)] = &terminals(seen, "system")[..] else {
        panic!("{end:#?}")
    };
    assert_eq!((&terminal["channel"], &terminal["exit_code"]), (&json!("stderr"), &json!(exit_code)));
    assert_eq!(terminal["ansi"][0], json!({"offset": 0, "sequence": "\u{1b}[31m"}));
    assert_eq!(terminal["spans"][0]["style"]["theme_token"], "AccentRed");
    let error = &last["error"];
    assert_eq!(last.as_object().map(serde_json::Map::len), Some(1), "a bare error object: {last}");
    assert_eq!(error["code"], code, "{last}");
    assert!(
        error["message"].as_str().is_some_and(|message| text.trim_end() == message),
        "{text:?} and {last}"
    );
    assert!(error["type"].is_string(), "{last}");
    assert_eq!(end.lines[0]["metadata"]["protocol_version"], "1", "{end:#?}");
    assert!(!end.stderr.is_empty(), "people read it on standard error");
}

#[test]
fn a_run_that_cannot_begin_says_so_in_red_and_ends_with_the_error() {
    type Prepare = dyn Fn(&mut std::process::Command);
    let nothing: &Prepare = &|_| {};
    let no_key: &Prepare = &|command| {
        command.env_remove("OPENAI_API_KEY").env_remove("OPENAI_BASE_URL");
    };
    for formats in [MESSAGES, CHUNKS] {
        for (args, prepare, code) in [
            (&["--resume", "00000000-0000-4000-8000-000000000000"][..], nothing, "QWEN_UNKNOWN_SESSION"),
            (&["--mcp-config", "{\"mcpServers\":3}"], nothing, "QWEN_INVALID_REQUEST"),
            (&["--control-timeout", "soon"], nothing, "QWEN_INVALID_REQUEST"),
            (&["--approval-mode", "whatever"], nothing, "QWEN_INVALID_REQUEST"),
            (&[], no_key, "QWEN_MODEL_ERROR"),
        ] {
            let end = Rfc::with(Play::of(echo()), &[formats, args].concat(), prepare).rest();
            assert_eq!(end.lines[0]["metadata"]["input_format"], "stream-json");
            told_in_red(&end, code, 1);
        }
    }
    // Plain text has no such lines.
    let play = Play::of(echo());
    let end = crate::support::play::run(play.command("qwen", &["--resume", "00000000-0000-4000-8000-000000000000", "-p", "hi"]));
    assert_eq!((end.code(), end.lines.len()), (1, 0), "{end:#?}");
}

#[test]
fn a_program_that_dies_between_two_turns_ends_the_run_in_red() {
    within(60, async {
        let script = [
            "read".to_owned(),
            format!("say {INIT}"),
            format!("say {}", text("an answer")),
            format!("say {}", result("an answer")),
            "exit 9".to_owned(),
        ];
        for args in [MESSAGES, CHUNKS] {
            let stage = Stage::new(&script);
            let mut host = stage.host("qwen", "claude", &[], args);
            host.say(&prompt("hi").to_string());
            let end = host.end();
            told_in_red(
                &End {
                    code: end.status.code(),
                    lines: end.lines,
                    stderr: end.stderr,
                },
                "QWEN_INTERNAL",
                1,
            );
        }
    });
}

#[test]
fn a_model_that_cannot_be_had_has_a_code() {
    let mut host = Rfc::new(Server::script(vec![Answer::error(500, "the loom is broken")]));
    host.say(&prompt("hi"));
    let summary = host.summary();
    assert_eq!(summary["error"], "QWEN_MODEL_ERROR: [API Error: 500 the loom is broken]");
    assert_eq!(host.end().code, Some(0), "the session lives");
}

#[test]
fn a_signal_ends_the_stream_with_its_exit_code() {
    for args in [MESSAGES, CHUNKS] {
        let server = Server::script(vec![Answer::steps(vec![Step::Text("a word".to_owned()), Step::Pause(20_000)])]);
        let mut host = Rfc::with(Play::of(server), args, &|_| {});
        host.say(&prompt("hi"));
        host.until(|line| line["metadata"]["protocol_version"] == "1");
        let pid = rustix::process::Pid::from_raw(i32::try_from(host.child.id()).unwrap()).unwrap();
        rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
        let end = host.rest();
        assert_eq!(end.code, Some(143));
        let [.., summary, last] = &end.lines[..] else { panic!("{end:#?}") };
        assert_eq!(summary["metadata"]["outcome"], "cancelled", "{summary}");
        let seen = std::slice::from_ref(last);
        let [(terminal, text)] = &terminals(seen, "system")[..] else {
            panic!("{last}")
        };
        assert_eq!((&terminal["exit_code"], text.as_str()), (&json!(143), "stopped by signal 15\n"));
    }
}

#[test]
fn the_log_stands_in_the_stream_where_it_is_wanted() {
    let settings = json!({"permissions": {"allow": "no list"}, "mcpServers": {"gone": {"command": "/no/such/program"}}});
    let run = |args: &[&str], more: &[&str]| {
        let play = Play::of(echo());
        std::fs::create_dir_all(play.base().join("home/.qwen")).unwrap();
        std::fs::write(play.base().join("home/.qwen/settings.json"), settings.to_string()).unwrap();
        let mut host = Rfc::with(play, &[args, more].concat(), &|command| {
            command.env("AGENTGLOT_LOG", "agentglot=debug");
        });
        host.say(&prompt("hi"));
        host.summary();
        host.end()
    };
    for args in [MESSAGES, CHUNKS] {
        let end = run(args, &["--log-annotations"]);
        let told = terminals(&end.lines, "console");
        assert!(!told.is_empty(), "{end:#?}");
        for (terminal, text) in &told {
            assert_eq!(terminal["channel"], "stderr");
            let is = |name: &str, words: &[&str]| words.iter().any(|word| terminal[name] == *word);
            assert!(is("console_level", &["log", "warn", "error", "info", "debug"]), "{terminal}");
            assert!(is("log_scope", &["system", "tool", "debug"]), "{terminal}");
            assert!(text.ends_with('\n') && text.trim().len() > 3, "{text:?}");
            // The same stands on standard error, where it was asked for too.
            assert!(end.stderr.contains(text.trim()), "{text:?} in {}", end.stderr);
        }
        assert_eq!(end.lines[0]["metadata"]["protocol_version"], "1", "nothing comes before the receipt");
        // Its words are none of the model's.
        let answer: String = end
            .lines
            .iter()
            .filter(|line| said(line)["annotations"].is_null())
            .filter_map(|line| said(line)["content"].as_str())
            .collect();
        assert_eq!(answer, "well done");
        assert!(terminals(&run(args, &[]).lines, "console").is_empty());
    }
}
