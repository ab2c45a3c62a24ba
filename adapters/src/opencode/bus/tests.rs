use crate::detect::{Answer, Detector};
use crate::testing::{self, format};

fn converted(log: &str, to: &str) -> String {
    testing::converted(log, "opencode:bus", to)
}

fn event(kind: &str, properties: &str) -> String {
    format!("{{\"id\":\"evt_1\",\"type\":\"{kind}\",\"properties\":{properties}}}\n")
}

/// A prompt, a subagent's whole work, and its answer.
fn log() -> String {
    let part = |session: &str, rest: &str| {
        event(
            "message.part.updated",
            &format!("{{\"sessionID\":\"{session}\",\"part\":{{\"sessionID\":\"{session}\",{rest}}}}}"),
        )
    };
    let message = |session: &str, id: &str, role: &str| {
        let info = format!("{{\"id\":\"{id}\",\"role\":\"{role}\",\"sessionID\":\"{session}\",\"modelID\":\"m\"}}");
        event("message.updated", &format!("{{\"sessionID\":\"{session}\",\"info\":{info}}}"))
    };
    let finish = |session: &str, message: &str, reason: &str| {
        part(
            session,
            &format!(
                "\"id\":\"prt_f{message}\",\"messageID\":\"{message}\",\"type\":\"step-finish\",\"reason\":\"{reason}\",\"tokens\":{{\"input\":10,\"output\":2,\"reasoning\":0,\"cache\":{{\"read\":0,\"write\":0}}}}"
            ),
        )
    };
    let task = |state: &str| {
        part(
            "ses_a",
            &format!("\"id\":\"prt_2\",\"messageID\":\"msg_2\",\"type\":\"tool\",\"tool\":\"task\",\"callID\":\"c1\",\"state\":{state}"),
        )
    };
    let input = r#""input":{"description":"d","prompt":"look","subagent_type":"general"}"#;
    let created = |id: &str, more: &str| {
        event(
            "session.created",
            &format!("{{\"sessionID\":\"{id}\",\"info\":{{\"id\":\"{id}\",\"directory\":\"/w\"{more}}}}}"),
        )
    };
    let idle = |id: &str| event("session.idle", &format!("{{\"sessionID\":\"{id}\"}}"));
    [
        created("ses_a", ""),
        message("ses_a", "msg_1", "user"),
        part("ses_a", r#""id":"prt_1","messageID":"msg_1","type":"text","text":"Ask.""#),
        message("ses_a", "msg_2", "assistant"),
        task(r#"{"status":"pending","input":{},"raw":""}"#),
        task(&format!("{{\"status\":\"running\",{input},\"time\":{{\"start\":1}}}}")),
        created("ses_b", ",\"parentID\":\"ses_a\""),
        message("ses_b", "msg_3", "user"),
        part("ses_b", r#""id":"prt_3","messageID":"msg_3","type":"text","text":"look""#),
        message("ses_b", "msg_4", "assistant"),
        part(
            "ses_b",
            r#""id":"prt_4","messageID":"msg_4","type":"text","text":"Found.","time":{"start":1,"end":2}"#,
        ),
        finish("ses_b", "msg_4", "stop"),
        idle("ses_b"),
        task(&format!(
            "{{\"status\":\"completed\",{input},\"output\":\"Found.\",\"metadata\":{{}},\"title\":\"d\",\"time\":{{\"start\":1,\"end\":2}}}}"
        )),
        finish("ses_a", "msg_2", "tool-calls"),
        message("ses_a", "msg_5", "assistant"),
        part("ses_a", r#""id":"prt_5","messageID":"msg_5","type":"text","text":"","time":{"start":1}"#),
        event(
            "message.part.delta",
            r#"{"sessionID":"ses_a","messageID":"msg_5","partID":"prt_5","field":"text","delta":"Do"}"#,
        ),
        event(
            "message.part.delta",
            r#"{"sessionID":"ses_a","messageID":"msg_5","partID":"prt_5","field":"text","delta":"ne."}"#,
        ),
        part(
            "ses_a",
            r#""id":"prt_5","messageID":"msg_5","type":"text","text":"Done.","time":{"start":1,"end":2}"#,
        ),
        finish("ses_a", "msg_5", "stop"),
        event("session.status", r#"{"sessionID":"ses_a","status":{"type":"idle"}}"#),
        idle("ses_a"),
    ]
    .concat()
}

#[test]
fn a_turn_is_told_once_with_its_subagent() {
    let claude = converted(&log(), "claude");
    let lines: Vec<serde_json::Value> = claude.lines().map(|line| serde_json::from_str(line).expect("it is JSON")).collect();
    let results: Vec<_> = lines.iter().filter(|line| line["type"] == "result").collect();
    assert_eq!(results.len(), 1, "{claude}");
    assert_eq!((&results[0]["result"], &results[0]["is_error"]), (&"Done.".into(), &false.into()));
    assert_eq!(results[0]["usage"]["input_tokens"], 20, "{claude}");
    let inside: Vec<_> = lines.iter().filter(|line| line["parent_tool_use_id"] == "c1").collect();
    assert!(inside.iter().any(|line| line.to_string().contains("Found.")), "{claude}");
    assert_eq!(claude.matches("\"tool_use_id\":\"c1\"").count(), 1, "{claude}");
    assert!(lines.iter().all(|line| line["session_id"] == "ses_a"), "{claude}");
}

#[test]
fn server_sent_events_say_the_same() {
    let framed: String = log().lines().map(|line| format!("data: {line}\n\n")).collect();
    assert_eq!(converted(&framed, "claude"), converted(&log(), "claude"));
    assert_eq!(converted(&framed, "opencode:bus"), framed);
    for log in [framed, log()] {
        match Detector::new(false).look(log.as_bytes(), true) {
            Answer::Found(found) => assert_eq!(found.format.to_string(), "opencode:bus"),
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn an_error_is_why_the_turn_fails() {
    let cut = log();
    let cut = &cut[..cut
        .find("msg_5")
        .map(|at| cut[..at].rfind('\n').map_or(0, |at| at + 1))
        .expect("it is there")];
    let failed = format!(
        "{cut}{}{}",
        event(
            "session.error",
            r#"{"sessionID":"ses_a","error":{"name":"MessageAbortedError","data":{"message":"Aborted"}}}"#
        ),
        event("session.idle", r#"{"sessionID":"ses_a"}"#)
    );
    let events = converted(&failed, "agentglot");
    assert_eq!(events.matches("\"event\":\"outcome\"").count(), 1, "{events}");
    assert!(events.contains("\"cancelled\""), "{events}");
}

/// As the server of OpenCode 1.18.33 says it when a summary fails: it is idle, says the rest of what was begun, and is idle again.
#[test]
fn what_follows_an_error_is_of_the_turn_that_failed() {
    let log = log();
    let lines: Vec<&str> = log.split_inclusive('\n').collect();
    let begun = lines.iter().position(|line| line.contains("\"text\":\"Done.\"")).expect("the log has it");
    let error = event(
        "session.error",
        r#"{"sessionID":"ses_a","error":{"name":"UnknownError","data":{"message":"no"}}}"#,
    );
    let idle = event("session.idle", r#"{"sessionID":"ses_a"}"#);
    let failed = [lines[..begun].concat(), error, idle.clone(), lines[begun].to_owned(), idle].concat();
    for log in [failed.as_str(), failed.trim_end().rsplit_once('\n').expect("lines").0] {
        let events = converted(log, "agentglot");
        let lines: Vec<_> = events.lines().collect();
        assert_eq!(events.matches("\"event\":\"outcome\"").count(), 1, "{events}");
        assert!(lines[lines.len() - 1].contains("\"error\":\"no\""), "{events}");
    }
}

#[test]
fn it_is_not_written() {
    let bus = format("opencode:bus");
    assert!(bus.is_readable() && !bus.is_writable());
    let step = "{\"type\":\"step_start\",\"timestamp\":1,\"sessionID\":\"ses_1\",\"part\":{\"id\":\"prt_1\",\"messageID\":\"msg_1\",\"sessionID\":\"ses_1\",\"type\":\"step-start\"}}\n";
    assert_eq!(testing::converted(step, "opencode", "opencode:bus"), "");
}

/// OpenCode 1.18.33 begins a subagent's session before it says that the call runs.
#[test]
fn a_subagent_that_begins_before_its_call_runs_is_that_calls() {
    let log = log();
    let lines: Vec<&str> = log.split_inclusive('\n').collect();
    let at = |what: &str| lines.iter().position(|line| line.contains(what)).expect("the log has it");
    let (runs, begins) = (at(r#""status":"running""#), at(r#""parentID":"ses_a""#));
    let mut swapped = lines.clone();
    let running = lines[runs].replace(r#""status":"running","#, r#""status":"running","metadata":{"sessionId":"ses_b"},"#);
    swapped[runs] = lines[begins];
    swapped[begins] = &running;
    let events = converted(&swapped.concat(), "agentglot");
    assert!(!events.contains(r#""parent":"""#), "{events}");
    assert_eq!(converted(&swapped.concat(), "claude"), converted(&log, "claude"));
}
