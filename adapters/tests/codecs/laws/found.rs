//! Law 3 for what programs wrote where it was broken: a few lines each, cut out of logs of theirs.

use agentglot_adapters::convert::Options;

use crate::common::lost::{check, entries};
use crate::common::{Wrongs, all_targets, convert, format, quick, verbatim, with_ledger};

fn holds(from: &str, lines: &[&str]) {
    let from = format(from);
    let log = lines.join("\n") + "\n";
    let mut wrongs = Wrongs::default();
    for to in all_targets(from) {
        let verbatim = verbatim(from, to);
        let in_pieces = Options {
            partial: true,
            ..verbatim.clone()
        };
        for options in [verbatim, in_pieces, Options::new(from, to)] {
            check("log", &options, log.as_bytes(), &mut wrongs);
        }
    }
    wrongs.finish("nothing is lost in silence");
}

/// Whether the ledger says that this of a line has no place in the target.
fn is_dropped(from: &str, to: &str, lines: &[&str], line: usize, pointer: &str) {
    let log = lines.join("\n") + "\n";
    let ledger = convert(&with_ledger(Options::new(format(from), format(to))), log.as_bytes()).ledger;
    let told = entries(&ledger)
        .into_iter()
        .filter(|entry| entry.first <= line as u64 && line as u64 <= entry.last);
    let told: Vec<_> = told.filter(|entry| entry.pointer == pointer).map(|entry| entry.fate).collect();
    assert_eq!(told, ["dropped"], "{to}: {pointer}: {ledger}");
}

const META: &str =
    r#"{"timestamp":"2026-01-01T00:00:00.000Z","type":"session_meta","payload":{"id":"t-0001","cwd":"/home/user/work","cli_version":"0.171.0"}}"#;

/// An image is an address here, and its type and its data elsewhere.
#[test]
fn images_of_rollouts() {
    let image = r#"{"type":"input_image","image_url":"data:image/png;base64,iVBORw0KGgo=","detail":"high"}"#;
    let prompt = format!(
        r#"{{"timestamp":"2026-01-01T00:00:00.000Z","type":"response_item","payload":{{"type":"message","role":"user","content":[{{"type":"input_text","text":"Look at it"}},{image}]}}}}"#
    );
    let result = format!(
        r#"{{"timestamp":"2026-01-01T00:00:00.000Z","type":"response_item","payload":{{"type":"function_call_output","call_id":"call_1","output":[{image}]}}}}"#
    );
    holds(
        "codex:rollout",
        &[
            META,
            &prompt,
            r#"{"timestamp":"2026-01-01T00:00:00.000Z","type":"response_item","payload":{"type":"function_call","name":"view_image","arguments":"{\"path\":\"/home/user/work/one.png\"}","call_id":"call_1"}}"#,
            &result,
        ],
    );
}

/// A patch says which files and how they change, `exec` which alone; a command is quoted as the shell needs it.
#[test]
fn patches_and_commands_of_rollouts() {
    let asks = r#"{"timestamp":"2026-01-01T00:00:00.000Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"Go on"}]}}"#;
    holds(
        "codex:rollout",
        &[
            META,
            asks,
            r#"{"timestamp":"2026-01-01T00:00:00.000Z","type":"response_item","payload":{"type":"function_call","name":"apply_patch","arguments":"{\"input\": \"*** Begin Patch\\n*** Add File: new.txt\\n+The first\\n+The second\\n*** Update File: old.txt\\n@@\\n-It was\\n+It is\\n*** End Patch\\n\"}","call_id":"call_1"}}"#,
            r#"{"timestamp":"2026-01-01T00:00:00.000Z","type":"response_item","payload":{"type":"function_call","name":"exec_command","arguments":"{\"cmd\": \"printf '\\\\033[31mred'\"}","call_id":"call_2"}}"#,
            r#"{"timestamp":"2026-01-01T00:00:00.000Z","type":"response_item","payload":{"type":"function_call_output","call_id":"call_1","output":"Done"}}"#,
            r#"{"timestamp":"2026-01-01T00:00:00.000Z","type":"response_item","payload":{"type":"function_call_output","call_id":"call_2","output":"Exit code: 0\nOutput:\nred"}}"#,
        ],
    );
}

/// What another agent says is a prompt that is encrypted in part, or news.
#[test]
fn what_other_agents_of_a_team_say() {
    let line = |kind: &str, payload: &str| format!(r#"{{"timestamp":"2026-01-01T00:00:00.000Z","type":"{kind}","payload":{payload}}}"#);
    let sends = |for_it: bool| line("inter_agent_communication_metadata", &format!(r#"{{"trigger_turn":{for_it}}}"#));
    let says = |text: &str| {
        line(
            "response_item",
            &format!(
                r#"{{"type":"agent_message","id":"amsg-1","author":"/lead","recipient":"/lead/a","content":[{{"type":"input_text","text":"{text}"}},{{"type":"encrypted_content","encrypted_content":"gAAAAB {text}"}}]}}"#
            ),
        )
    };
    let answers = line(
        "response_item",
        r#"{"type":"message","role":"assistant","content":[{"type":"output_text","text":"I have looked"}]}"#,
    );
    let lines = [
        META.to_owned(),
        sends(true),
        says("Message Type: NEW_TASK"),
        answers,
        sends(false),
        says("Message Type: FINAL_ANSWER"),
    ];
    holds("codex:rollout", &lines.each_ref().map(String::as_str));
}

#[test]
fn what_is_done_with_other_agents() {
    let item = |word: &str, tool: &str, status: &str| {
        format!(
            r#"{{"method":"item/{word}","params":{{"threadId":"t-0001","turnId":"u-0001","item":{{"type":"collabAgentToolCall","id":"{tool}-1","tool":"{tool}","status":"{status}","senderThreadId":"t-0001","receiverThreadIds":["k-0001"],"prompt":"Look there","agentsStates":{{}}}}}}}}"#
        )
    };
    let items: Vec<String> = ["spawnAgent", "sendInput", "closeAgent"]
        .iter()
        .flat_map(|tool| [item("started", tool, "inProgress"), item("completed", tool, "completed")])
        .collect();
    let mut lines = vec![r#"{"method":"thread/started","params":{"thread":{"id":"t-0001","turns":[]}}}"#];
    lines.extend(items.iter().map(String::as_str));
    holds("codex:app-server", &lines);
}

const INIT: &str =
    r#"{"type":"system","subtype":"init","cwd":"/home/user/work","session_id":"s-0001","tools":[],"model":"m-1","permissionMode":"default"}"#;

/// A block that is all there when it begins is told with the whole one; a piece of arguments may be a text between quotes.
#[test]
fn blocks_of_claude_in_pieces() {
    let line = |event: &str| format!(r#"{{"type":"stream_event","event":{event},"session_id":"s-0001","parent_tool_use_id":null,"uuid":"u"}}"#);
    let whole = |block: &str| {
        format!(
            r#"{{"type":"assistant","message":{{"id":"msg-1","role":"assistant","model":"m-1","content":[{block}]}},"parent_tool_use_id":null,"session_id":"s-0001"}}"#
        )
    };
    let piece = |text: &str| {
        line(&format!(
            r#"{{"type":"content_block_delta","index":1,"delta":{{"type":"input_json_delta","partial_json":"{text}"}}}}"#
        ))
    };
    let lines = [
        INIT.to_owned(),
        line(r#"{"type":"message_start","message":{"id":"msg-1","role":"assistant","model":"m-1","content":[]}}"#),
        line(r#"{"type":"content_block_start","index":0,"content_block":{"type":"redacted_thinking","data":"cmVkYWN0ZWQ="}}"#),
        whole(r#"{"type":"redacted_thinking","data":"cmVkYWN0ZWQ="}"#),
        line(r#"{"type":"content_block_stop","index":0}"#),
        line(r#"{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"call_1","name":"Bash","input":{}}}"#),
        piece(r#"{\"command\": "#),
        piece(r#"\"echo whole\""#),
        piece("}"),
        whole(r#"{"type":"tool_use","id":"call_1","name":"Bash","input":{"command":"echo whole"}}"#),
        line(r#"{"type":"content_block_stop","index":1}"#),
        r#"{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"call_1","content":"Exit code 9","is_error":true}]},"session_id":"s-0001"}"#.to_owned(),
    ];
    holds("claude", &lines.each_ref().map(String::as_str));
}

/// What a subagent does has no line of its own everywhere: a call of it is lost with all that it asks for where its own has no result.
#[test]
fn calls_of_subagents_whose_own_has_no_result() {
    let call = |id: &str, name: &str, input: &str, parent: &str| {
        format!(
            r#"{{"type":"assistant","message":{{"id":"msg-{id}","role":"assistant","model":"m-1","content":[{{"type":"tool_use","id":"{id}","name":"{name}","input":{input}}}]}},"parent_tool_use_id":{parent},"session_id":"s-0001"}}"#
        )
    };
    let begins = call("call_1", "Agent", r#"{"description":"Look there","prompt":"Look there now"}"#, "null");
    let runs = call("call_2", "Bash", r#"{"command":"sleep 15","description":"Wait for long"}"#, "\"call_1\"");
    let ends = r#"{"type":"result","subtype":"success","is_error":false,"session_id":"s-0001","result":"Over and out"}"#;
    holds("claude", &[INIT, &begins, &runs, ends]);
    let shows = r#"{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"call_1","content":"I have looked"}]},"session_id":"s-0001","tool_use_result":{"status":"completed","prompt":"Look there now","content":[{"type":"text","text":"I have looked"}]}}"#;
    holds("claude", &[INIT, &begins, &runs, shows, ends]);
    // Lines are counted from another number there, if they are told at all.
    let reads = call("call_3", "Read", r#"{"file_path":"/w/a.txt","offset":517,"limit":23}"#, "\"call_1\"");
    holds("claude", &[INIT, &begins, &reads, shows, ends]);
    holds("claude", &[INIT, &begins, &reads, ends]);
    is_dropped("claude", "qwen", &[INIT, &begins, &reads, ends], 3, "/message/content/0/input/offset");
}

/// What a command of the program's own prints is the answer, and has more blanks behind it there.
#[test]
fn answers_that_are_not_quite_the_last_text() {
    holds(
        "claude",
        &[
            INIT,
            r#"{"type":"assistant","message":{"id":"msg-1","role":"assistant","model":"<synthetic>","content":[{"type":"text","text":"Context Usage"}]},"session_id":"s-0001"}"#,
            r#"{"type":"result","subtype":"success","is_error":false,"session_id":"s-0001","result":"Context Usage\n\n"}"#,
        ],
    );
}

/// Of a turn that failed Tricode says why on one line.
#[test]
fn errors_of_several_lines() {
    let says = r#"{"type":"assistant","message":{"id":"msg-1","role":"assistant","model":"m-1","content":[{"type":"text","text":"A slow text "}]},"session_id":"s-0001"}"#;
    for end in [r#","result":"API Error: refused\n\nTry again""#, ""] {
        let fails = format!(r#"{{"type":"result","subtype":"error_during_execution","is_error":true,"session_id":"s-0001"{end}}}"#);
        holds("claude", &[INIT, says, &fails]);
    }
}

/// A reply that goes on when its block has ended is several messages of AG-UI, of which one has the reply's id.
#[test]
fn replies_that_go_on_behind_their_end() {
    let line = |event: &str| format!(r#"{{"type":"stream_event","event":{event},"session_id":"s-0001","parent_tool_use_id":null,"uuid":"u"}}"#);
    let piece = line(r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Cut off he"}}"#);
    let lines = [
        INIT.to_owned(),
        line(r#"{"type":"message_start","message":{"id":"msg-0001","role":"assistant","model":"m-1","content":[]}}"#),
        line(r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#),
        piece.clone(),
        line(r#"{"type":"content_block_stop","index":0}"#),
        piece.clone(),
        piece,
        r#"{"type":"assistant","message":{"id":"msg-0001","type":"message","role":"assistant","model":"m-1","content":[{"type":"text","text":"Cut off heCut off heCut off he"}]},"session_id":"s-0001"}"#.to_owned(),
        line(r#"{"type":"message_stop"}"#),
        r#"{"type":"result","subtype":"success","is_error":false,"session_id":"s-0001","result":"Cut off heCut off heCut off he"}"#.to_owned(),
    ];
    holds("qwen-code", &lines.each_ref().map(String::as_str));
}

/// No text holds half of a surrogate pair, which a string of JSON may.
#[test]
fn halves_of_surrogate_pairs_in_texts() {
    holds(
        "claude",
        &[
            INIT,
            r#"{"type":"assistant","message":{"id":"msg-1","role":"assistant","model":"m-1","content":[{"type":"thinking","thinking":"Odd \udc00 thought","signature":"c2NyaXB0ZWQ="},{"type":"text","text":"Odd \udc00 text"}]},"session_id":"s-0001"}"#,
            r#"{"type":"result","subtype":"success","is_error":false,"session_id":"s-0001","result":"Odd \udc00 text"}"#,
        ],
    );
}

/// A line with the results of a reply's calls says some that the calls have said, and others that waited for what subagents did.
#[test]
fn results_that_the_calls_of_a_chat_have_said() {
    holds(
        "gemini:chat",
        &[
            r#"{"sessionId":"s-0001","projectHash":"0","startTime":"2026-01-01T00:00:00.000Z","lastUpdated":"2026-01-01T00:00:00.000Z","kind":"main"}"#,
            r#"{"id":"m-0001","timestamp":"2026-01-01T00:00:00.000Z","type":"user","content":[{"text":"Go on"}]}"#,
            r#"{"id":"m-0002","timestamp":"2026-01-01T00:00:00.000Z","type":"gemini","content":"Both.","thoughts":[],"model":"m-1","toolCalls":[{"id":"invoke-0001","name":"invoke_agent","args":{"agent_name":"generalist","prompt":"Look there"},"result":[{"functionResponse":{"id":"invoke-0001","name":"invoke_agent","response":{"output":"It has looked."}}}],"status":"success","agentId":"agent-0001"},{"id":"run-0002","name":"run_shell_command","args":{"command":"echo main"},"result":[{"functionResponse":{"id":"run-0002","name":"run_shell_command","response":{"output":"<context>\nOutput: main\nProcess Group PGID: 18116\n</context>"}}}],"status":"success"}]}"#,
            r#"{"id":"m-0003","timestamp":"2026-01-01T00:00:00.000Z","type":"user","content":[{"functionResponse":{"id":"invoke-0001","name":"invoke_agent","response":{"output":"It has looked."}}},{"functionResponse":{"id":"run-0002","name":"run_shell_command","response":{"output":"<context>\nOutput: main\nProcess Group PGID: 18116\n</context>"},"beside":"Value 42"}}]}"#,
        ],
    );
}

/// A thought comes in pieces, and the first of them opens the round, of which the target has a line: the thought has none.
#[test]
fn thoughts_in_pieces() {
    let line = |method: &str, params: &str| format!(r#"{{"method":"{method}","params":{{"threadId":"t-0001","turnId":"turn-1",{params}}}}}"#);
    let item = |summary: &str| format!(r#""item":{{"type":"reasoning","id":"rs-0001","summary":[{summary}],"content":[]}}"#);
    let lines = [
        r#"{"id":1,"result":{"thread":{"id":"t-0001","cwd":"/home/user/work"},"model":"m-1","cwd":"/home/user/work"}}"#.to_owned(),
        r#"{"method":"turn/started","params":{"threadId":"t-0001","turn":{"id":"turn-1","items":[],"status":"inProgress","error":null}}}"#.to_owned(),
        line("item/started", &item("")),
        line(
            "item/reasoning/summaryTextDelta",
            r#""itemId":"rs-0001","delta":"A slow thought","summaryIndex":0"#,
        ),
        line("item/completed", &item(r#""A slow thought""#)),
        line("item/completed", r#""item":{"type":"agentMessage","id":"msg-0001","text":"Well then."}"#),
        r#"{"method":"turn/completed","params":{"threadId":"t-0001","turn":{"id":"turn-1","items":[],"status":"completed","error":null}}}"#
            .to_owned(),
    ];
    holds("codex:app-server", &lines.each_ref().map(String::as_str));
}

/// Where a target says names of some calls only, that of a call in pieces is said by the whole one.
#[test]
fn names_of_calls_in_pieces() {
    let line = |event: &str| format!(r#"{{"type":"stream_event","event":{event},"session_id":"s-0001","parent_tool_use_id":null,"uuid":"u"}}"#);
    let lines = [
        INIT.to_owned(),
        line(r#"{"type":"message_start","message":{"id":"msg-0001","role":"assistant","model":"m-1","content":[]}}"#),
        line(r#"{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"call-0001","name":"NoSuchTool","input":{}}}"#),
        line(r#"{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{}"}}"#),
        r#"{"type":"assistant","message":{"id":"msg-0001","type":"message","role":"assistant","model":"m-1","content":[{"type":"tool_use","id":"call-0001","name":"NoSuchTool","input":{}}]},"session_id":"s-0001"}"#.to_owned(),
        line(r#"{"type":"content_block_stop","index":0}"#),
        r#"{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"call-0001","content":"There is none","is_error":true}]},"session_id":"s-0001"}"#.to_owned(),
        r#"{"type":"result","subtype":"success","is_error":false,"session_id":"s-0001","result":"Well then."}"#.to_owned(),
    ];
    holds("claude", &lines.each_ref().map(String::as_str));
}

/// An image that goes over in another shape goes without what only its own has.
#[test]
fn what_stands_beside_an_image() {
    let of_claude = [
        INIT,
        r#"{"type":"assistant","message":{"id":"msg-1","role":"assistant","model":"m-1","content":[{"type":"tool_use","id":"call-0001","name":"mcp__calc__picture","input":{}}]},"session_id":"s-0001"}"#,
        r#"{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"call-0001","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBORw0KGgo=","beside":"Value 42"}}]}]},"session_id":"s-0001"}"#,
        r#"{"type":"result","subtype":"success","is_error":false,"session_id":"s-0001","result":"Well then."}"#,
    ];
    holds("claude", &of_claude);
    is_dropped("claude", "codex", &of_claude, 3, "/message/content/0/content/0/source/beside");
    let of_opencode = [
        r#"{"type":"tool_use","timestamp":1795832696398,"sessionID":"ses_0001","part":{"id":"prt_0001","messageID":"msg_0001","sessionID":"ses_0001","type":"tool","tool":"calc_picture","callID":"call_0001","state":{"status":"completed","input":{},"output":"Seen","title":"","metadata":{},"time":{"start":1795832696390,"end":1795832696395},"attachments":[{"id":"prt_0002","sessionID":"ses_0001","messageID":"msg_0001","type":"file","beside":"Value 43","mime":"image/png","url":"data:image/png;base64,iVBORw0KGgo="}]}}}"#,
    ];
    holds("opencode", &of_opencode);
    is_dropped("opencode", "claude", &of_opencode, 1, "/part/state/attachments/0/beside");
}

/// Another turn lists its tools again, and not the same ones, where the target lists them once.
#[test]
fn tools_of_later_turns() {
    let begins = |tools: &str| {
        format!(r#"{{"type":"system","subtype":"init","session_id":"s-0001","cwd":"/home/user/work","model":"m-1","tools":[{tools}],"uuid":"u"}}"#)
    };
    let ends = r#"{"type":"result","subtype":"success","is_error":false,"session_id":"s-0001","result":"Well then."}"#;
    let (first, second) = (begins(r#""Read""#), begins(r#""Read","NoSuchTool""#));
    let lines = [first.as_str(), ends, &second, ends];
    holds("claude", &lines);
    is_dropped("claude", "qwen", &lines, 3, "/tools");
}

/// A call of the model that gave nothing has used its tokens all the same.
#[test]
fn tokens_of_a_reply_without_words() {
    let step = |kind: &str, part: &str| {
        format!(
            r#"{{"type":"{kind}","timestamp":1795832696101,"sessionID":"ses_0001","part":{{"messageID":"msg_0001","sessionID":"ses_0001",{part}}}}}"#
        )
    };
    let ends = |n: u64, reason: &str| {
        let tokens = format!(r#"{{"input":{n},"output":20,"reasoning":0,"cache":{{"write":0,"read":0}}}}"#);
        step(
            "step_finish",
            &format!(r#""id":"prt_{n}","type":"step-finish","reason":"{reason}","tokens":{tokens},"cost":0"#),
        )
    };
    let lines = [
        step("step_start", r#""id":"prt_1","type":"step-start""#),
        step("text", r#""id":"prt_2","type":"text","text":"Well then.""#),
        ends(1007, "tool-calls"),
        step("step_start", r#""id":"prt_4","type":"step-start""#),
        ends(1012, "stop"),
    ];
    holds("opencode", &lines.each_ref().map(String::as_str));
    let log = lines.join("\n") + "\n";
    let done = quick(format("opencode"), format("atif"), log.as_bytes());
    assert!(
        done.text().contains(r#""total_prompt_tokens":2019,"total_completion_tokens":40"#),
        "{}",
        done.text()
    );
}
