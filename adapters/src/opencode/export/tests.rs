use crate::detect::{Answer, Detector};
use crate::testing::converted;

fn value(text: &str) -> serde_json::Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// What a session says, without what only the program knows.
const SESSION: &str = r#"{"info":{"id":"ses_1","slug":"sunny","directory":"/w","title":"T","version":"1.18.33","cost":0.5,"time":{"created":1000,"updated":2000},"new":1},
"messages":[
{"info":{"role":"user","time":{"created":1000},"agent":"build","model":{"providerID":"p","modelID":"m"},"id":"msg_1","sessionID":"ses_1"},
 "parts":[{"type":"text","text":"Ask \u0041.","id":"prt_1","sessionID":"ses_1","messageID":"msg_1"},
          {"type":"file","mime":"image/png","url":"data:image/png;base64,AA","id":"prt_2","sessionID":"ses_1","messageID":"msg_1"}]},
{"info":{"role":"assistant","parentID":"msg_1","agent":"build","mode":"build","path":{"cwd":"/w","root":"/"},"modelID":"m","providerID":"p","cost":0.5,"tokens":{"input":10,"output":2,"reasoning":0,"cache":{"read":0,"write":0}},"time":{"created":1500,"completed":1600},"finish":"tool-calls","id":"msg_2","sessionID":"ses_1"},
 "parts":[{"type":"step-start","id":"prt_3","sessionID":"ses_1","messageID":"msg_2"},
          {"type":"reasoning","text":"Hm.","time":{"start":1,"end":2},"id":"prt_4","sessionID":"ses_1","messageID":"msg_2"},
          {"type":"tool","tool":"bash","callID":"c1","state":{"status":"completed","input":{"command":"ls"},"output":"a\n","metadata":{"output":"a\n","exit":0},"title":"ls","time":{"start":1,"end":2}},"id":"prt_5","sessionID":"ses_1","messageID":"msg_2"},
          {"type":"patch","hash":"h","files":["/w/a"],"id":"prt_6","sessionID":"ses_1","messageID":"msg_2"},
          {"type":"step-finish","reason":"tool-calls","tokens":{"input":10,"output":2,"reasoning":0,"cache":{"read":0,"write":0}},"cost":0.5,"id":"prt_7","sessionID":"ses_1","messageID":"msg_2"}]},
{"info":{"role":"assistant","parentID":"msg_1","modelID":"m","providerID":"p","time":{"created":1700},"finish":"stop","tokens":{"input":11,"output":3,"reasoning":1,"cache":{"read":0,"write":0}},"id":"msg_3","sessionID":"ses_1"},
 "parts":[{"type":"text","text":"Done.","id":"prt_8","sessionID":"ses_1","messageID":"msg_3"}]}
]}"#;

#[test]
fn it_is_made_again_of_its_events() {
    let events = converted(SESSION, "opencode:export", "agentglot");
    assert_eq!(value(&converted(&events, "agentglot", "opencode:export")), value(SESSION));
    let edited = events.replace("Done.", "Over.");
    assert_eq!(
        value(&converted(&edited, "agentglot", "opencode:export")),
        value(&SESSION.replace("Done.", "Over."))
    );
}

/// What the program says in the user's place before the user asks anything is of the turn that the user begins.
#[test]
fn what_the_program_says_first_is_no_turn() {
    let log = r#"{"type":"RUN_STARTED","threadId":"t","runId":"r"}
{"type":"TEXT_MESSAGE_CHUNK","messageId":"s","role":"system","delta":"Be kind."}
{"type":"TEXT_MESSAGE_CHUNK","messageId":"u","role":"user","delta":"Hi"}
{"type":"TEXT_MESSAGE_CHUNK","messageId":"m","role":"assistant","delta":"Hello"}
{"type":"RUN_FINISHED","threadId":"t","runId":"r"}
"#;
    for to in ["opencode:export", "gemini:chat", "qwen-code:chat", "claude:transcript"] {
        let out = converted(log, "ag-ui", to);
        let events = converted(&out, to, "agentglot");
        let count = |what: &str| events.matches(what).count();
        assert!(out.contains("Be kind."), "{to}: {out}");
        assert_eq!((count("\"source\":\"host\""), count("\"event\":\"outcome\"")), (1, 1), "{to}: {events}");
    }
}

#[test]
fn a_turn_ends_as_its_last_message_says() {
    let end = |old: &str, new: &str| -> serde_json::Value {
        let claude = converted(&SESSION.replace(old, new), "opencode:export", "claude");
        value(claude.lines().last().expect("it ends"))
    };
    let well = end("", "");
    assert_eq!((&well["result"], &well["is_error"]), (&"Done.".into(), &false.into()));
    assert_eq!(well["usage"]["input_tokens"], 21);
    let failed = end(
        r#""finish":"stop""#,
        r#""error":{"name":"APIError","data":{"message":"bad","isRetryable":false}}"#,
    );
    assert_eq!((&failed["result"], &failed["is_error"]), (&"bad".into(), &true.into()));
    assert_eq!(end(r#""finish":"stop""#, r#""finish":"length""#)["is_error"], true);
}

#[test]
fn a_session_of_another_program_is_one_that_is_taken() {
    let log = concat!(
        r#"{"type":"user","message":{"role":"user","content":"Ask \"it\"."},"uuid":"u1","parentUuid":null,"sessionId":"s-1","cwd":"/w","timestamp":"2026-01-01T00:00:00.000Z","version":"2","isSidechain":false}"#,
        "\n",
        r#"{"type":"assistant","message":{"id":"m1","role":"assistant","model":"mm","content":[{"type":"text","text":"Look."},{"type":"tool_use","id":"c1","name":"Bash","input":{"command":"ls"}}],"stop_reason":"tool_use","usage":{"input_tokens":5,"output_tokens":1}},"uuid":"a1","parentUuid":"u1","sessionId":"s-1","cwd":"/w","timestamp":"2026-01-01T00:00:01.000Z","version":"2","isSidechain":false}"#,
        "\n",
    );
    let session = value(&converted(log, "claude:transcript", "opencode:export"));
    let info = &session["info"];
    assert!(info["id"].as_str().is_some_and(|id| id.starts_with("ses_") && id.len() == 30), "{info}");
    assert_eq!((&info["directory"], &info["title"]), (&"/w".into(), &"Ask \"it\".".into()));
    let messages = session["messages"].as_array().expect("messages");
    let ids: Vec<&str> = messages.iter().map(|message| message["info"]["id"].as_str().expect("an id")).collect();
    assert!(
        ids.is_sorted() && ids.iter().all(|id| id.starts_with("msg_") && id.len() == 30),
        "{ids:?}"
    );
    assert_eq!(messages[1]["info"]["parentID"], messages[0]["info"]["id"]);
    assert_eq!(messages[1]["info"]["modelID"], "mm");
    for message in messages {
        for part in message["parts"].as_array().expect("parts") {
            assert_eq!((&part["sessionID"], &part["messageID"]), (&info["id"], &message["info"]["id"]), "{part}");
            assert!(part["id"].as_str().is_some_and(|id| id.starts_with("prt_")), "{part}");
        }
    }
    let call = &messages[1]["parts"][2];
    assert_eq!(
        (&call["tool"], &call["state"]["status"]),
        (&"bash".into(), &"running".into()),
        "nothing came of it"
    );
}

/// The program leaves a reply that failed out of what it sends to the model, unless it was aborted.
#[test]
fn what_was_said_before_a_turn_failed_stays_in_the_conversation() {
    let log = |outcome: &str| {
        format!(
            r#"{{"agentglot":"events","version":1}}
{{"event":"session","session":"s","cwd":"/w","model":"m","opens_turn":true}}
{{"event":"prompt","session":"s","source":"host","content":"Ask."}}
{{"event":"reply","session":"s","round":"r1","blocks":[{{"type":"text","text":"Look."}},{{"type":"call","id":"c1","name":"bash","kind":"shell","input":{{"command":"ls"}}}}]}}
{{"event":"tool_result","session":"s","call":"c1","status":"success","content":"a"}}
{{"event":"outcome","session":"s","outcome":"{outcome}","is_error":true,"error":"why"}}
"#
        )
    };
    let errors = |outcome: &str| -> Vec<bool> {
        let session = value(&converted(&log(outcome), "agentglot", "opencode:export"));
        let messages = session["messages"].as_array().expect("messages");
        messages[1..].iter().map(|message| message["info"].get("error").is_some()).collect()
    };
    for outcome in ["failed_model", "failed_protocol", "limit_tokens", "refused"] {
        assert_eq!(errors(outcome), [false, true], "{outcome}");
        let back = converted(&converted(&log(outcome), "agentglot", "opencode:export"), "opencode:export", "agentglot");
        assert!(back.contains("Look.") && back.contains("why"), "{back}");
        assert_eq!(back.matches("\"event\":\"outcome\"").count(), 1, "{back}");
    }
    assert_eq!(errors("cancelled"), [true]);
}

/// Values of a source that is spread over lines are copied as they stand.
#[test]
fn a_session_of_many_lines_loses_nothing() {
    let pretty = serde_json::to_string_pretty(&value(SESSION)).expect("it is JSON");
    let atif = serde_json::to_string_pretty(&value(&converted(&pretty, "opencode:export", "atif"))).expect("it is JSON");
    let back = value(&converted(&atif, "atif", "opencode:export"));
    let kinds: Vec<&str> = back["messages"][1]["parts"]
        .as_array()
        .expect("parts")
        .iter()
        .filter_map(|part| part["type"].as_str())
        .collect();
    assert_eq!(kinds, ["step-start", "reasoning", "tool", "step-finish"], "{back}");
}

#[test]
fn it_is_told_from_a_run() {
    let found = |log: &str| match Detector::new(false).look(log.as_bytes(), true) {
        Answer::Found(found) => found.format.to_string(),
        other => panic!("{other:?}"),
    };
    assert_eq!(found(SESSION), "opencode:export");
    let messages = value(SESSION)["messages"].to_string();
    assert_eq!(found(&messages), "opencode:export");
    let both = format!("{}\n{}\n", value(SESSION), value(SESSION));
    assert_eq!(found(&both), "opencode:export", "one a line");
    assert!(converted(&messages, "opencode:export", "claude").contains("\"result\":\"Done.\""));
}

/// The program asks to go on, or to make the conversation shorter, in the user's place.
#[test]
fn what_the_program_says_in_the_users_place_ends_no_turn() {
    for part in [
        r#"{"type":"text","synthetic":true,"text":"Go on.","id":"prt_8","sessionID":"ses_1","messageID":"msg_3"}"#,
        r#"{"type":"compaction","auto":true,"id":"prt_8","sessionID":"ses_1","messageID":"msg_3"}"#,
    ] {
        let user = format!(
            r#"{{"info":{{"role":"user","time":{{"created":1650}},"id":"msg_3a","sessionID":"ses_1"}},"parts":[{part}]}},
{{"info":{{"role":"assistant","parentID":"msg_1","modelID":"m","providerID":"p","time":{{"created":1700}},"finish":"stop""#
        );
        let last = r#"{"info":{"role":"assistant","parentID":"msg_1","modelID":"m","providerID":"p","time":{"created":1700},"finish":"stop""#;
        let session = SESSION.replace(last, &user);
        assert_ne!(session, SESSION);
        let events = converted(&session, "opencode:export", "agentglot");
        assert_eq!(events.matches("\"event\":\"outcome\"").count(), 1, "{events}");
        assert_eq!(value(&converted(&events, "agentglot", "opencode:export")), value(&session));
        let claude = converted(&session, "opencode:export", "claude");
        assert!(!claude.contains("compaction"), "{claude}");
        for to in [
            "claude",
            "claude:transcript",
            "qwen-code",
            "qwen-code:chat",
            "openai:messages",
            "sharegpt",
        ] {
            let out = converted(&session, "opencode:export", to);
            let empty = [r#""content":[]"#, r#""content":"""#, r#""value":"""#, r#""parts":[]"#, r#"{"text":""}"#];
            assert!(!empty.iter().any(|empty| out.contains(empty)), "{to}: {out}");
        }
    }
}

#[test]
fn files_that_came_with_a_result_are_images_elsewhere() {
    let files = r#""attachments":[{"id":"prt_x","type":"file","mime":"image/png","url":"data:image/png;base64,QUJD"},{"type":"file","mime":"image/png","url":"file:///w/a.png"}],"title":"ls""#;
    let session = SESSION.replace(r#""title":"ls""#, files);
    let events = converted(&session, "opencode:export", "agentglot");
    assert_eq!(value(&converted(&events, "agentglot", "opencode:export")), value(&session));
    let claude = converted(&session, "opencode:export", "claude");
    let image = r#"{"type":"image","source":{"type":"base64","media_type":"image/png","data":"QUJD"}}"#;
    assert_eq!(claude.matches(image).count(), 1, "{claude}");
    assert!(
        claude.contains(r#"{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AA"}}"#),
        "{claude}"
    );
}
