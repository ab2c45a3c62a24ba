//! What programs keep of a session says the same as what they wrote on standard output.

use agentglot_adapters::check::{Checker, Level};
use agentglot_adapters::convert::Options;
use agentglot_adapters::events::PromptSource;
use agentglot_adapters::session::{Block, Call, Thread};
use agentglot_adapters::{Format, Turn, turns};

use crate::common::{Log, convert, format, goldens};

/// The kept session and the log of the same run.
fn pairs() -> Vec<(Log, Log)> {
    let all = goldens();
    let stream = |name: &str| all.iter().find(|log| log.name == name.replace(".jsonl", ".out.jsonl")).cloned();
    let pairs: Vec<_> = all
        .iter()
        .filter(|log| log.format.is_store())
        .filter_map(|log| Some((log.clone(), stream(&log.name)?)))
        .collect();
    assert!(pairs.len() >= 4, "{} runs of which both are at hand", pairs.len());
    pairs
}

fn read(log: &[u8], format: Format) -> Vec<Turn> {
    turns(log, format)
        .map(|turn| turn.unwrap_or_else(|error| panic!("{format}: {error}")))
        .collect()
}

/// What a call was, and what came of it. Of what a program adds to results its recordings are cut to different lengths.
fn call(call: &Call) -> String {
    let result = call.result.as_ref().map(|result| {
        let text = result.content.text().to_string();
        let cut = text.contains("<tools-used-before-summary>") || text.starts_with("Background agent launched");
        (if cut { "(the program's)".to_owned() } else { text }, format!("{:?}", result.status))
    });
    format!("call {} {} {} -> {result:?}", call.id, call.name, call.input.as_str())
}

fn block(block: &Block) -> String {
    match block {
        Block::Call(made) => call(made),
        other => format!("{other:?}"),
    }
}

/// What a thread said, as both say it: blocks in order, and what each round used. What a stdout log says while a reply comes may count its
/// output as far as it had come; what the program says of a failed model call is no reply; and some give each line of a reply an id.
fn said(thread: &Thread, by_round: bool) -> Vec<String> {
    let mut said = Vec::new();
    for round in thread.rounds.iter().filter(|round| round.error.is_none()) {
        if by_round {
            said.push(format!("round {:?}", round.id));
        }
        said.extend(round.blocks.iter().map(block));
        if let Some(usage) = &round.usage {
            said.push(format!(
                "{:?} {:?} {:?} {:?}",
                round.model, usage.input, usage.cache_read, usage.cache_write
            ));
        }
    }
    said
}

/// The same of what is kept of a stream. Where no round of that says its tokens, those of the turn are kept with the last one.
fn said_of(stream: &Thread, kept: &Thread, by_round: bool) -> Vec<String> {
    let mut kept = kept.clone();
    if stream.rounds.iter().all(|round| round.usage.is_none()) {
        kept.rounds.iter_mut().for_each(|round| round.usage = None);
    }
    said(&kept, by_round)
}

fn prompts(turn: &Turn) -> usize {
    let by_user = |source: PromptSource| matches!(source, PromptSource::Host | PromptSource::Echo);
    turn.thread.prompts.iter().filter(|prompt| by_user(prompt.source)).count()
}

#[test]
fn a_transcript_says_what_its_stream_says() {
    for (kept, stream) in pairs().iter().filter(|(kept, _)| kept.format == format("claude:transcript")) {
        let (from_kept, from_stream) = (read(&kept.bytes, kept.format), read(&stream.bytes, stream.format));
        assert_eq!(from_kept.len(), from_stream.len(), "{}", kept.name);
        for (one, other) in from_kept.iter().zip(&from_stream) {
            assert_eq!(said(&one.thread, true), said(&other.thread, true), "{}", kept.name);
            assert_eq!(one.session, other.session);
            let (ours, theirs) = (
                one.outcome.as_ref().expect("each turn ends"),
                other.outcome.as_ref().expect("it was recorded"),
            );
            assert_eq!((ours.kind, ours.synthetic), (theirs.kind, true), "{}", kept.name);
            let tokens = |turn: &Turn| {
                turn.usage
                    .as_ref()
                    .map(|usage| (usage.input, usage.output, usage.cache_read, usage.cache_write))
            };
            assert_eq!(tokens(one), tokens(other), "{}: the sum of the rounds", kept.name);
            assert_eq!(one.thread.prompts.len(), 1, "{}: only what is kept holds the prompt", kept.name);
        }
    }
}

/// The stdout of a session that goes on is that of its last turn. Lines of one reply have ids of their own there.
#[test]
fn a_chat_file_says_what_its_stream_says() {
    for (kept, stream) in pairs().iter().filter(|(kept, _)| kept.format == format("qwen-code:chat")) {
        let (from_kept, from_stream) = (read(&kept.bytes, kept.format), read(&stream.bytes, stream.format));
        let expected = if kept.name.contains("resume") { 2 } else { 1 };
        assert_eq!((from_kept.len(), from_stream.len()), (expected, 1), "{}", kept.name);
        let (one, other) = (&from_kept[expected - 1], &from_stream[0]);
        assert_eq!(said(&one.thread, false), said(&other.thread, false), "{}", kept.name);
        let (ours, theirs) = (
            one.outcome.as_ref().expect("each turn ends"),
            other.outcome.as_ref().expect("it was recorded"),
        );
        assert_eq!((ours.is_error, ours.synthetic), (theirs.is_error, true), "{}", kept.name);
        let texts = |turn: &Turn| -> Vec<String> { turn.thread.prompts.iter().map(|prompt| prompt.content.text().to_string()).collect() };
        assert_eq!(texts(one)[1..], texts(other)[..], "{}: what the program says of its own", kept.name);
    }
}

/// A log that is kept and read again holds what it held.
#[test]
fn a_stream_that_is_kept_says_the_same() {
    for (kept, stream) in pairs().iter().filter(|(kept, _)| kept.format != format("codex:rollout")) {
        // Qwen Code's streams have an id a line, its files none.
        let ids = kept.format == format("claude:transcript");
        let options = Options {
            prompts: vec!["What was asked".to_owned()],
            ..Options::new(stream.format, kept.format)
        };
        let written = convert(&options, &stream.bytes).out;
        let (there, back) = (read(&stream.bytes, stream.format), read(&written, kept.format));
        assert_eq!(there.len(), back.len(), "{}", stream.name);
        for (there, back) in there.iter().zip(&back) {
            assert_eq!(said(&there.thread, ids), said_of(&there.thread, &back.thread, ids), "{}", stream.name);
            assert_eq!(prompts(back), 1, "{}", stream.name);
        }
        let again = convert(&Options::new(kept.format, stream.format), &written).out;
        let again = read(&again, stream.format);
        for (there, again) in there.iter().zip(&again) {
            assert_eq!(
                said(&there.thread, ids),
                said_of(&there.thread, &again.thread, ids),
                "{}: back again",
                stream.name
            );
        }
    }
}

/// What a thread of Codex's said, in the words of Claude Code: its stdout shows items, under ids of their own, where its file has what the
/// model called. Of a list of things to do the one says what is done, of files that change which they are.
fn said_by_codex(log: &[u8], from: Format) -> Vec<Vec<String>> {
    let claude = convert(&Options::new(from, format("claude")), log).out;
    let call = |call: &Call| {
        let input = call.input.as_str();
        let asked = match call.name.as_str() {
            "TodoWrite" => format!(
                "{} of {} done",
                input.matches("\"completed\"").count(),
                input.matches("\"content\"").count()
            ),
            "file_change" | "apply_patch" => "files change".to_owned(),
            name => format!("{name} {}", input.replace(' ', "")),
        };
        let result = call.result.as_ref().map(|result| {
            let text = result.content.text().to_string();
            let told = !matches!(asked.as_bytes(), [b'0'..=b'9', ..]) && asked != "files change";
            (if told { text } else { String::new() }, result.status)
        });
        format!("{asked} -> {result:?}")
    };
    let block = |block: &Block| match block {
        Block::Call(made) => call(made),
        other => format!("{other:?}"),
    };
    let turns = read(&claude, format("claude"));
    turns
        .iter()
        .map(|turn| {
            let rounds = turn.thread.rounds.iter().filter(|round| round.error.is_none());
            rounds.flat_map(|round| round.blocks.iter().map(block)).collect()
        })
        .collect()
}

/// The stdout of a thread that goes on is that of its last turn; tokens are those of the thread.
#[test]
fn a_rollout_file_says_what_its_stream_says() {
    let (mut seen, rollout) = (0, format("codex:rollout"));
    for (kept, stream) in pairs().iter().filter(|(kept, _)| kept.format == rollout) {
        let (from_kept, from_stream) = (read(&kept.bytes, kept.format), read(&stream.bytes, stream.format));
        let (ours, theirs) = (said_by_codex(&kept.bytes, kept.format), said_by_codex(&stream.bytes, stream.format));
        let expected = if kept.name.contains("resume") { 2 } else { 1 };
        assert_eq!((from_kept.len(), ours.len()), (expected, expected), "{}", kept.name);
        let (one, other) = (&from_kept[expected - 1], &from_stream[0]);
        // What was interrupted is shown as begun, and ended by whoever reads the log.
        let stopped = kept.name.contains("sigint");
        let whole = |said: &[String]| -> Vec<String> {
            let cut = |line: &String| line.split(" -> ").next().unwrap_or_default().to_owned();
            said.iter().map(|line| if stopped { cut(line) } else { line.clone() }).collect()
        };
        assert_eq!(whole(&ours[expected - 1]), whole(&theirs[0]), "{}", kept.name);
        assert_eq!(one.session, other.session, "{}", kept.name);
        assert_eq!(prompts(one), 1, "{}: only what is kept holds the prompt", kept.name);
        let (mine, its) = (
            one.outcome.as_ref().expect("each turn ends"),
            other.outcome.as_ref().expect("it was recorded, or made up"),
        );
        if !stopped {
            assert_eq!(mine.kind, its.kind, "{}", kept.name);
            let sum = |count: fn(&agentglot_adapters::events::Usage) -> Option<u64>| -> u64 {
                from_kept.iter().filter_map(|turn| turn.usage.as_ref().and_then(count)).sum()
            };
            let used = other.usage.as_ref().expect("it says what was used");
            // A thread that was forked off another one has used what that had.
            if !kept.name.contains("fork") {
                assert_eq!(Some(sum(|usage| usage.input)), used.input, "{}", kept.name);
                assert_eq!(Some(sum(|usage| usage.output)), used.output, "{}", kept.name);
                assert_eq!(Some(sum(|usage| usage.cache_read)), used.cache_read, "{}", kept.name);
            }
        }
        seen += 1;
    }
    assert!(seen >= 9, "{seen} runs");
}

/// A log of Codex's that is kept and read again holds what it held.
#[test]
fn a_stream_of_codex_that_is_kept_says_the_same() {
    for (kept, stream) in pairs().iter().filter(|(kept, _)| kept.format == format("codex:rollout")) {
        let options = Options {
            prompts: vec!["What was asked".to_owned()],
            ..Options::new(stream.format, kept.format)
        };
        let written = convert(&options, &stream.bytes).out;
        let there = said_by_codex(&stream.bytes, stream.format);
        assert_eq!(there, said_by_codex(&written, kept.format), "{}", stream.name);
        let back = read(&written, kept.format);
        // A prompt is put before what was said.
        assert!(
            back.iter().all(|turn| prompts(turn) == 1 || turn.thread.rounds.is_empty()),
            "{}",
            stream.name
        );
        let again = convert(&Options::new(kept.format, stream.format), &written).out;
        assert_eq!(there, said_by_codex(&again, stream.format), "{}: back again", stream.name);
    }
}

/// Wherever a file breaks off, each prompt's turn has one end, and so has what is made of it.
#[test]
fn a_file_that_breaks_off_has_one_end_a_turn() {
    for log in goldens().iter().filter(|log| log.format.is_store()) {
        let lines: Vec<&[u8]> = log.bytes.split_inclusive(|byte| *byte == b'\n').collect();
        for end in 0..=lines.len() {
            let mut cut = lines[..end].concat();
            if end > 0 && end % 2 == 0 {
                cut.truncate(cut.len() - 5); // The last line is not whole.
            }
            let events = convert(&Options::new(log.format, format("agentglot")), &cut).out;
            let events = String::from_utf8(events).expect("what is written is text");
            let of = |sign: &str| events.lines().filter(|line| line.contains(sign)).count();
            let (turns, ends) = (of("\"event\":\"prompt\"") - of("\"source\":\"agent\""), of("\"event\":\"outcome\""));
            assert_eq!(turns, ends, "{} up to line {end}", log.name);
            let stream = convert(&Options::new(log.format, format("claude")), &cut).out;
            let results = String::from_utf8(stream)
                .expect("what is written is text")
                .matches("\"type\":\"result\"")
                .count();
            assert_eq!(results, ends, "{} up to line {end}", log.name);
        }
    }
}

/// What a program's own resume would not take for the same is told for what it is.
#[test]
fn odd_transcripts_are_read() {
    let line = |kind: &str, id: &str, parent: &str, side: bool, content: &str| {
        let (role, message) = match kind {
            "user" => ("user", format!("\"role\":\"user\",\"content\":{content}")),
            _ => (
                "assistant",
                format!("\"id\":\"m-{id}\",\"role\":\"assistant\",\"model\":\"m\",\"content\":{content},\"stop_reason\":null"),
            ),
        };
        format!(
            "{{\"parentUuid\":{parent},\"isSidechain\":{side},\"type\":\"{role}\",\"message\":{{{message}}},\"uuid\":\"{id}\",\"timestamp\":\"2026-01-01T00:00:00.000Z\",\"sessionId\":\"s\",\"cwd\":\"/w\",\"version\":\"2\"}}\n"
        )
    };
    let call = r#"[{"type":"tool_use","id":"c1","name":"Task","input":{"description":"d","prompt":"look","subagent_type":"x"}}]"#;
    let transcript = [
        line("user", "u1", "null", false, "\"do it\""),
        line("assistant", "a1", "\"u1\"", false, call),
        line("user", "s1", "null", true, "\"look\""),
        line("assistant", "s2", "\"s1\"", true, r#"[{"type":"text","text":"found"}]"#),
        line(
            "user",
            "r1",
            "\"a1\"",
            false,
            r#"[{"type":"tool_result","tool_use_id":"c1","content":"found"}]"#,
        ),
        line("assistant", "a2", "\"gone\"", false, r#"[{"type":"text","text":"done"}]"#),
        line("user", "u2", "\"u1\"", false, "\"once more\""),
        line("user", "u3", "\"u2\"", false, "\"[Request interrupted by user]\""),
    ]
    .concat();
    let turns = read(transcript.as_bytes(), format("claude:transcript"));
    let ends: Vec<&str> = turns.iter().map(|turn| turn.outcome.as_ref().expect("each ends").kind.as_str()).collect();
    assert_eq!(ends, ["success", "cancelled"]);
    let calls = turns[0].calls();
    let made = calls.first().expect("it was called");
    let subagent = made.subagent.as_ref().expect("the lines in the main file are its own");
    assert_eq!(said(&subagent.thread, false), ["Text(\"found\")"]);
    assert_eq!(made.result.as_ref().expect("it was answered").content.text(), "found");
}

/// What a task in the background tells is nobody's word, whether a turn begins with it or goes on; an answer in the form of a schema ends
/// the turn with its call.
#[test]
fn the_program_speaks_for_itself_and_a_call_may_end_a_turn() {
    let line = |kind: &str, id: &str, parent: &str, rest: &str| {
        format!(
            "{{\"parentUuid\":{parent},\"isSidechain\":false,\"type\":\"{kind}\",{rest},\"uuid\":\"{id}\",\"timestamp\":\"2026-01-01T00:00:00.000Z\",\"sessionId\":\"s\",\"cwd\":\"/w\",\"version\":\"2\"}}\n"
        )
    };
    let user = |content: &str| format!("\"message\":{{\"role\":\"user\",\"content\":{content}}}");
    let reply = |id: &str, block: &str| {
        format!(
            "\"message\":{{\"id\":\"{id}\",\"type\":\"message\",\"role\":\"assistant\",\"model\":\"m\",\"content\":[{block}],\"stop_reason\":null}}"
        )
    };
    let call = r#"{"type":"tool_use","id":"c1","name":"StructuredOutput","input":{"n":1}}"#;
    let news = "\"origin\":{\"kind\":\"task-notification\",\"producer\":\"session-task\"}";
    let transcript = [
        line("user", "u1", "null", &user("\"do it\"")),
        line("assistant", "a1", "\"u1\"", &reply("m1", call)),
        line(
            "attachment",
            "q1",
            "\"a1\"",
            &format!(
                "\"attachment\":{{\"type\":\"queued_command\",\"prompt\":\"<task-notification>1\",\"commandMode\":\"task-notification\",{news}}}"
            ),
        ),
        line(
            "user",
            "r1",
            "\"a1\"",
            &(user(r#"[{"type":"tool_result","tool_use_id":"c1","content":"given"}]"#) + ",\"toolEndsTurn\":true"),
        ),
        line("user", "u2", "\"r1\"", &(user("\"<task-notification>2\"") + "," + news)),
        line("assistant", "a2", "\"u2\"", &reply("m2", r#"{"type":"text","text":"seen"}"#)),
        "{\"type\":\"worktree-state\",\"worktreeSession\":null,\"sessionId\":\"s\"}\n".to_owned(),
        "{\"type\":\"relocated\",\"relocatedCwd\":\"/w\",\"sessionId\":\"s\"}\n".to_owned(),
    ]
    .concat();
    let turns = read(transcript.as_bytes(), format("claude:transcript"));
    let ends: Vec<&str> = turns.iter().map(|turn| turn.outcome.as_ref().expect("each ends").kind.as_str()).collect();
    assert_eq!(ends, ["success", "success"]);
    let options = Options::new(format("claude:transcript"), format("agentglot"));
    let events = String::from_utf8(convert(&options, transcript.as_bytes()).out).expect("it is JSON");
    let prompts: Vec<&str> = events.lines().filter(|line| line.contains("\"event\":\"prompt\"")).collect();
    let by: Vec<bool> = prompts.iter().map(|line| line.contains("\"source\":\"agent\"")).collect();
    assert_eq!(by, [false, true, true], "{events}");
    assert!(!events.contains("\"event\":\"unknown\""), "{events}");
}

/// A command that the user typed for the shell is a turn of its own, which what it wrote ends: however its first sign is spelled.
#[test]
fn what_a_local_command_wrote_is_no_prompt() {
    for output in [
        "<bash-stdout>a.txt</bash-stdout><bash-stderr></bash-stderr>",
        "\\u003clocal-command-stdout>a\\u003c/local-command-stdout>",
    ] {
        let line = |id: &str, parent: &str, said: &str| {
            format!(
                "{{\"parentUuid\":{parent},\"isSidechain\":false,\"type\":\"user\",\"message\":{{\"role\":\"user\",\"content\":\"{said}\"}},\"uuid\":\"{id}\",\"timestamp\":\"2026-01-01T00:00:00.000Z\",\"sessionId\":\"s\",\"cwd\":\"/w\",\"version\":\"2\"}}\n"
            )
        };
        let log = line("u1", "null", "<bash-input>ls</bash-input>") + &line("u2", "\"u1\"", output);
        let turns = read(log.as_bytes(), format("claude:transcript"));
        assert_eq!(turns.len(), 1, "{output}");
        assert_eq!(turns[0].outcome.as_ref().expect("it ends").kind.as_str(), "success", "{output}");
    }
}

/// What a program that goes on with a session would not come to is told, and read nevertheless.
#[test]
fn what_no_walk_comes_to_is_told() {
    let line = |kind: &str, id: &str, parent: &str| {
        let message = match kind {
            "user" => "{\"role\":\"user\",\"content\":\"ask\"}",
            _ => "{\"id\":\"m\",\"role\":\"assistant\",\"model\":\"m\",\"content\":[{\"type\":\"text\",\"text\":\"say\"}],\"stop_reason\":null}",
        };
        format!(
            "{{\"parentUuid\":{parent},\"isSidechain\":false,\"type\":\"{kind}\",\"message\":{message}{id},\"timestamp\":\"2026-01-01T00:00:00.000Z\",\"sessionId\":\"s\",\"cwd\":\"/w\",\"version\":\"2\"}}\n"
        )
    };
    let whole = [line("user", ",\"uuid\":\"a\"", "null"), line("assistant", ",\"uuid\":\"b\"", "\"a\"")].concat();
    let odd = [
        ("other-branch", line("user", ",\"uuid\":\"c\"", "\"a\""), "another branch"),
        (
            "other-branch",
            line("assistant", ",\"uuid\":\"c\"", "\"a\"").replace("\"id\":\"m\"", "\"id\":\"n\""),
            "another branch",
        ),
        ("broken-chain", line("assistant", ",\"uuid\":\"c\"", "\"x\""), "is not there"),
        ("broken-chain", line("user", ",\"uuid\":\"c\"", "null"), "is not there"),
        ("missing-uuid", line("assistant", "", "\"b\""), "where it belongs"),
    ];
    let from = format("claude:transcript");
    let rules = |log: &str| -> Vec<String> {
        let mut checker = Checker::new(from);
        checker.feed(log.as_bytes());
        let (findings, _) = checker.finish();
        findings
            .iter()
            .filter(|finding| finding.level == Level::Warning)
            .map(|finding| format!("{} {}", finding.line, finding.rule))
            .collect()
    };
    assert_eq!(rules(&whole), [""; 0]);
    // Lines of one reply may all hang from its prompt.
    assert_eq!(rules(&(whole.clone() + &line("assistant", ",\"uuid\":\"c\"", "\"a\""))), [""; 0]);
    for (rule, line, word) in odd {
        let log = whole.clone() + &line;
        assert_eq!(rules(&log), [format!("3 {rule}")]);
        let options = Options {
            ledger: Some("log".to_owned()),
            ..Options::new(from, format("claude"))
        };
        let made = convert(&options, log.as_bytes());
        assert!(
            made.ledger.lines().any(|line| line.contains("\"line\":3") && line.contains(word)),
            "{}",
            made.ledger
        );
        assert_eq!(
            String::from_utf8_lossy(&made.out).matches("\"text\":\"say\"").count(),
            log.matches("\"say\"").count()
        );
    }
}

/// What a line calls the API's id of a model call is the format's; who counts tokens tells by it which lines are one reply.
#[test]
fn the_ids_of_model_calls_go_over() {
    let [streams, transcripts] = [format("claude:stream-json"), format("claude:transcript")];
    let ids = |log: &[u8], name: &str| -> Vec<String> {
        let text = String::from_utf8_lossy(log);
        let start = format!("\"{name}\":\"");
        let main = |line: &&str| !line.contains("\"parent_tool_use_id\":\"");
        let id = |line: &str| Some(line.split_once(&start)?.1.split_once('"')?.0.to_owned());
        text.lines().filter(main).filter_map(id).collect()
    };
    let mut tried = 0;
    for (_, stream) in pairs().iter().filter(|(kept, _)| kept.format == transcripts) {
        let there = ids(&stream.bytes, "request_id");
        let kept = convert(&Options::new(streams, transcripts), &stream.bytes).out;
        assert_eq!(ids(&kept, "requestId"), there, "{}", stream.name);
        let back = convert(&Options::new(transcripts, streams), &kept).out;
        assert_eq!(ids(&back, "request_id"), there, "{}: back again", stream.name);
        tried += there.len();
    }
    assert!(tried > 0);
}

/// Whatever a log begins with, the file begins with what it is.
#[test]
fn a_rollout_begins_with_its_session() {
    let log = r#"{"type":"system","subtype":"init","cwd":"/w","session_id":"s","tools":[],"model":"m","uuid":"u0"}
{"type":"user","message":{"role":"user","content":[{"type":"text","text":"What the program says."}]},"session_id":"s","uuid":"u1"}
{"type":"assistant","message":{"id":"m1","role":"assistant","model":"m","content":[{"type":"text","text":"x"}]},"session_id":"s","uuid":"u2"}
"#;
    let done = convert(&Options::new(format("claude"), format("codex:rollout")), log.as_bytes());
    assert!(done.text().lines().next().unwrap().contains("session_meta"), "{}", done.text());
    assert_eq!(done.text().matches("session_meta").count(), 1, "{}", done.text());
}

/// A reply ends behind what the program says in the user's place: it is the same message all the same.
#[test]
fn messages_of_an_export_have_ids_of_their_own() {
    let claude = format("claude");
    for log in goldens().iter().filter(|log| log.format == claude) {
        let done = convert(&Options::new(claude, format("opencode:export")), &log.bytes);
        for session in done.text().lines() {
            let mut ids: Vec<&str> = session
                .split("{\"info\":{\"role\":\"")
                .filter_map(|message| message.split("\"id\":\"").nth(1)?.split('"').next())
                .collect();
            let all = ids.len();
            ids.sort_unstable();
            ids.dedup();
            assert_eq!(ids.len(), all, "{}: {session}", log.name);
        }
    }
}

#[test]
fn subagents_of_one_reply_have_threads_of_their_own() {
    let call = |id: &str| {
        format!(
            r#"{{"type":"assistant","message":{{"id":"m1","role":"assistant","model":"m","content":[{{"type":"tool_use","id":"{id}","name":"Agent","input":{{"description":"d","prompt":"p","subagent_type":"general-purpose"}}}}]}},"session_id":"s","uuid":"u{id}"}}"#
        )
    };
    let result = |id: &str| {
        format!(
            r#"{{"type":"user","message":{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"{id}","content":"done"}}]}},"session_id":"s","uuid":"r{id}"}}"#
        )
    };
    let init = r#"{"type":"system","subtype":"init","cwd":"/w","session_id":"s","tools":["Agent"],"model":"m","uuid":"u0"}"#;
    let log = [init, &call("a"), &call("b"), &result("b"), &result("a"), ""].join("\n");
    let done = convert(&Options::new(format("claude"), format("codex")), log.as_bytes());
    let mut threads: Vec<&str> = done
        .text()
        .lines()
        .filter_map(|line| line.split("\"receiver_thread_ids\":[\"").nth(1)?.split('"').next())
        .collect();
    threads.dedup();
    assert_eq!(threads.len(), 2, "{}", done.text());
}

/// Codex's own searches are the model's, and their finds are in no file; of others' what was found is part of the conversation.
#[test]
fn what_a_search_has_found_stays_in_a_rollout() {
    let log = [
        r#"{"type":"system","subtype":"init","cwd":"/w","session_id":"s","tools":["WebSearch"],"model":"m","uuid":"u0"}"#,
        r#"{"type":"assistant","message":{"id":"m1","role":"assistant","model":"m","content":[{"type":"tool_use","id":"a","name":"WebSearch","input":{"query":"owls"}}]},"session_id":"s","uuid":"u1"}"#,
        r#"{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"no connection","is_error":true}]},"session_id":"s","uuid":"u2"}"#,
        "",
    ]
    .join("\n");
    let rollout = convert(&Options::new(format("claude"), format("codex:rollout")), log.as_bytes()).out;
    let turns = read(&rollout, format("codex:rollout"));
    let calls = turns[0].calls();
    assert_eq!((calls.len(), calls[0].name.as_str()), (1, "web_search"));
    let result = calls[0].result.as_ref().expect("it failed");
    assert_eq!(
        (result.content.text().as_ref(), format!("{:?}", result.status).as_str()),
        ("no connection", "Error")
    );
}

/// Claude Code says in a message of its own why a turn failed.
#[test]
fn why_a_turn_failed_stands_in_a_transcript() {
    let log = [
        r#"{"type":"init","timestamp":"2026-01-01T00:00:00.000Z","session_id":"s","model":"m"}"#,
        r#"{"type":"message","timestamp":"2026-01-01T00:00:00.000Z","role":"user","content":"go"}"#,
        r#"{"type":"message","timestamp":"2026-01-01T00:00:01.000Z","role":"assistant","content":"So","delta":true}"#,
        r#"{"type":"result","timestamp":"2026-01-01T00:00:02.000Z","status":"error","error":{"type":"Error","message":"the stream broke off"},"stats":{}}"#,
        "",
    ]
    .join("\n");
    let done = convert(&Options::new(format("gemini"), format("claude:transcript")), log.as_bytes());
    assert_eq!(done.text().matches("\"isApiErrorMessage\":true").count(), 1, "{}", done.text());
    let turns = read(&done.out, format("claude:transcript"));
    assert_eq!(turns.len(), 1);
    let outcome = turns[0].outcome.as_ref().expect("a store's turn has an end");
    assert!(outcome.is_error, "{outcome:?}");
    assert_eq!(outcome.error.as_deref(), Some("the stream broke off"));
    let again = convert(&Options::new(format("claude:transcript"), format("claude")), &done.out);
    let transcript = convert(&Options::new(format("claude"), format("claude:transcript")), &again.out);
    assert_eq!(
        transcript.text().matches("\"isApiErrorMessage\":true").count(),
        1,
        "once however often it goes over: {}",
        transcript.text()
    );
}
