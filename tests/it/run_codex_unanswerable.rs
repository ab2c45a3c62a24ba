//! What `codex app-server` says that is damaged, or that nobody can answer: somebody waits for it, on either side.

use serde_json::{Value, json};

use crate::run_codex_server::{answers, begins, ends, plays, says, told};
use crate::support::stage::{CLAUDE, End, Stage, user};
use crate::support::within;

/// A turn in whose middle this is said, one line for each, and that goes on when the program was answered.
fn says_in_its_turn(lines: &[&[u8]], answered: usize, then: Vec<String>) -> (Stage, End) {
    let middle = [vec!["pour 1 lines".to_owned()], vec!["read".to_owned(); answered]].concat();
    let stage = plays(&[begins(1, 3), middle, then, vec!["read all".to_owned()]]);
    std::fs::write(stage.path("lines"), [&lines.join(&b'\n'), &b"\n"[..]].concat()).unwrap();
    let mut host = stage.host("claude", "codex", &["--silence-timeout", "10"], CLAUDE);
    host.say(&user("one")).close();
    let end = host.end();
    (stage, end)
}

fn fine() -> Vec<String> {
    [says(1, "Fine."), vec![ends(1, "completed", Some("Fine."))]].concat()
}

#[test]
fn requests_that_are_none_are_refused() {
    within(120, async {
        let question = r#""params":{"threadId":"x","turnId":"turn-1","itemId":"call-1","command":"ls"}"#;
        let asks = |id: &str, method: &str| format!(r#"{{"id":{id},"method":{method},{question}}}"#);
        let approval = r#""item/commandExecution/requestApproval""#;
        for (id, line, code) in [
            ("null", asks("null", approval), -32600),
            ("true", asks("true", approval), -32600),
            ("[1]", asks("[1]", approval), -32600),
            ("7", asks("7", "7"), -32600),
            ("\"q\"", asks("\"q\"", r#""item/tool/call""#), -32601),
            // It breaks off.
            ("8", asks("8", approval)[..70].to_owned(), -32700),
        ] {
            let (stage, end) = says_in_its_turn(&[line.as_bytes()], 1, fine());
            assert_eq!((&end.result()["result"], end.code()), (&json!("Fine."), 0), "{line}: {end:#?}");
            let id: Value = serde_json::from_str(id).unwrap();
            let told = told(&stage);
            let answers: Vec<_> = told.iter().filter(|line| line["id"] == id && line["method"].is_null()).collect();
            let [answer] = answers[..] else { panic!("{line}: {told:#?}") };
            assert_eq!(answer["error"]["code"], code, "{line}: {answer}");
        }
    });
}

/// What is no answer answers nothing: the turn goes on to its end.
#[test]
fn what_says_neither_result_nor_error_is_no_answer() {
    within(60, async {
        let (_, end) = says_in_its_turn(&[br#"{"id":"agentglot-3"}"#, br#"{"id":"agentglot-3","method":null}"#], 0, fine());
        assert_eq!((&end.result()["result"], end.code()), (&json!("Fine."), 0), "{end:#?}");
    });
}

#[test]
fn an_end_with_bytes_that_are_no_utf_8_is_one() {
    within(60, async {
        let line = ends(1, "completed", Some("Fi@ne."));
        let line = line.strip_prefix("say ").unwrap().as_bytes();
        let at = line.iter().position(|byte| *byte == b'@').unwrap();
        let (_, end) = says_in_its_turn(&[&[&line[..at], b"\xff", &line[at + 1..]].concat()], 0, Vec::new());
        assert_eq!((&end.result()["subtype"], end.code()), (&json!("success"), 0), "{end:#?}");
    });
}

/// What breaks off is not said once more: the turn has failed at once, and the session lives.
#[test]
fn an_end_or_an_answer_that_breaks_off_fails_the_turn() {
    within(120, async {
        let whole = ends(1, "completed", Some("Fine."));
        let end = whole.strip_prefix("say ").unwrap();
        let cut = |text: &str, at: &str| text[..text.find(at).unwrap() + at.len()].to_owned();
        for (says_first, line) in [
            (begins(1, 3), cut(end, "\"Fin")),
            (vec!["read".to_owned()], r#"{"id":"agentglot-3","result":{"turn":{"id":"turn"#.to_owned()),
        ] {
            let stage = plays(&[
                says_first,
                vec!["pour 1 line".to_owned()],
                answers(2, 4, "Second."),
                vec!["read all".to_owned()],
            ]);
            std::fs::write(stage.path("line"), format!("{line}\n")).unwrap();
            let mut host = stage.host("claude", "codex", &[], CLAUDE);
            host.say(&user("one"));
            let first = host.until("result");
            assert!(
                first["is_error"] == true && first.to_string().contains("cannot be read"),
                "{line}: {first}"
            );
            host.say(&user("two"));
            assert_eq!(host.until("result")["result"], "Second.", "{line}");
            host.close();
            assert_eq!(host.end().results().len(), 2, "{line}");
        }
    });
}
