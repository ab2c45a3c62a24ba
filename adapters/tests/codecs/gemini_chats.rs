//! Gemini CLI's chat files say what its streams of the same runs say, as far as a stream says it.

use agentglot_adapters::check::{Checker, Level};
use agentglot_adapters::convert::Options;
use agentglot_adapters::events::PromptSource;
use agentglot_adapters::session::{Block, Call};
use agentglot_adapters::{Turn, turns};

use crate::common::{Log, convert, format, goldens, manifest};

/// The chat file and the stream of the same run.
fn pairs() -> Vec<(Log, Log)> {
    let all = goldens();
    let of = |name: &str| all.iter().find(|log| log.name == name).cloned();
    let entries = manifest()
        .into_iter()
        .filter(|entry| entry.get("dialect") == "gemini" && !entry.get("kept").is_empty());
    let pairs: Vec<_> = entries
        .filter_map(|entry| Some((of(entry.get("kept"))?, of(entry.get("path"))?)))
        .collect();
    assert!(pairs.len() >= 8, "{} runs of which both are at hand", pairs.len());
    pairs
}

fn chats() -> Vec<Log> {
    let chats: Vec<_> = goldens().into_iter().filter(|log| log.format == format("gemini:chat")).collect();
    assert!(chats.len() >= 12, "{} chat files", chats.len());
    chats
}

fn read(log: &[u8], format: agentglot_adapters::Format) -> Vec<Turn> {
    turns(log, format)
        .map(|turn| turn.unwrap_or_else(|error| panic!("{format}: {error}")))
        .collect()
}

/// The texts of those prompts that the user has written.
fn prompts(turn: &Turn) -> Vec<String> {
    let by_user = |source: PromptSource| matches!(source, PromptSource::Host | PromptSource::Echo);
    let prompts = turn.thread.prompts.iter().filter(|prompt| by_user(prompt.source));
    prompts.map(|prompt| prompt.content.text().to_string()).collect()
}

/// What a stream says of a call. Of what the model sees of a result it says only the errors: a result's text is what people see, which
/// stands in `resultDisplay` here, and of a file that was read, an edit or a subagent it is nothing.
fn call(call: &Call) -> String {
    let result = call.result.as_ref().map(|result| {
        let failed = result.is_error == Some(true) || format!("{:?}", result.status) == "Error";
        (failed, failed.then(|| result.content.text().to_string()))
    });
    format!("call {} {} {} -> {result:?}", call.id, call.name, call.input.as_str())
}

/// Texts and calls in order. Thoughts are in no stream, nor is what a round used; and nothing there says where a round ends.
fn said(turn: &Turn) -> Vec<String> {
    let blocks = turn.thread.rounds.iter().flat_map(|round| &round.blocks);
    let said = blocks.filter_map(|block| match block {
        Block::Call(made) => Some(call(made)),
        Block::Text(text) => Some(format!("text {text}")),
        _ => None,
    });
    said.collect()
}

/// The stdout of a session that goes on is that of its last turn.
#[test]
fn a_chat_file_says_what_its_stream_says() {
    for (kept, stream) in pairs() {
        let (from_kept, from_stream) = (read(&kept.bytes, kept.format), read(&stream.bytes, stream.format));
        let expected = if kept.name.contains("resume") { 3 } else { 1 };
        assert_eq!((from_kept.len(), from_stream.len()), (expected, 1), "{}", kept.name);
        let (one, other) = (&from_kept[expected - 1], &from_stream[0]);
        assert_eq!(prompts(one), prompts(other), "{}", kept.name);
        assert_eq!(said(one), said(other), "{}", kept.name);
        assert_eq!(one.session, other.session, "{}", kept.name);
        let (ours, theirs) = (
            one.outcome.as_ref().expect("each turn ends"),
            other.outcome.as_ref().expect("it was recorded"),
        );
        assert_eq!((ours.is_error, ours.synthetic), (theirs.is_error, true), "{}", kept.name);
        let rounds = one.thread.rounds.iter().filter_map(|round| round.usage.as_ref());
        let sum = |count: fn(&agentglot_adapters::events::Usage) -> Option<u64>| rounds.clone().filter_map(count).sum::<u64>();
        let theirs = other.usage.as_ref().expect("it was recorded");
        // The stream counts the model calls of subagents too, which stand in their own files.
        if !kept.name.contains("agent") {
            assert_eq!(
                [
                    Some(sum(|usage| usage.input)),
                    Some(sum(|usage| usage.output)),
                    Some(sum(|usage| usage.cache_read))
                ],
                [theirs.input, theirs.output, theirs.cache_read],
                "{}",
                kept.name
            );
        }
    }
}

#[test]
fn thoughts_and_results_are_as_the_model_knows_them() {
    let all = chats();
    let turn = |name: &str| {
        let log = all.iter().find(|log| log.name == format!("gemini/{name}")).expect("it is there");
        read(&log.bytes, log.format).remove(0)
    };
    let parallel = turn("chat_parallel.jsonl");
    assert_eq!(parallel.thread.rounds.len(), 2, "a reply with its calls, and the answer");
    assert_eq!(parallel.thread.rounds[0].blocks.len(), 5, "a thought, a text, three calls");
    let calls = parallel.calls();
    let results: Vec<String> = calls
        .iter()
        .map(|call| call.result.as_ref().expect("it was answered").content.text().to_string())
        .collect();
    assert_eq!(results[..2], ["hello world\nsecond line\n", "bee\n"]);
    assert!(results[2].starts_with("<untrusted_context>\nOutput: parallel\nerr"), "{}", results[2]);
    assert!(format!("{:?}", parallel.thread.rounds[0].blocks[0]).contains("Three at once."));
    let asked = turn("chat_loop.jsonl");
    assert_eq!(
        prompts(&asked),
        ["[[slow]] x"],
        "what the program asks in the user's place is not the user's"
    );
    assert_eq!(asked.thread.prompts.len(), 2);
}

#[test]
fn whole_recordings_are_no_errors() {
    for log in chats() {
        let mut checker = Checker::new(log.format);
        checker.feed(&log.bytes);
        let (findings, _) = checker.finish();
        let wrong: Vec<_> = findings.iter().filter(|finding| finding.level == Level::Error).collect();
        assert!(wrong.is_empty(), "{}: {wrong:?}", log.name);
    }
}

/// A message's line may be written again with more in it, taken back, or left out of the conversation.
#[test]
fn a_line_takes_the_place_of_an_earlier_one() {
    let header =
        r#"{"sessionId":"s","projectHash":"p","startTime":"2026-01-01T00:00:00.000Z","lastUpdated":"2026-01-01T00:00:00.000Z","kind":"main"}"#;
    let user =
        |id: &str, text: &str| format!(r#"{{"id":"{id}","timestamp":"2026-01-01T00:00:01.000Z","type":"user","content":[{{"text":"{text}"}}]}}"#);
    let reply = |id: &str, text: &str, more: &str| {
        format!(r#"{{"id":"{id}","timestamp":"2026-01-01T00:00:02.000Z","type":"gemini","content":"{text}","model":"m"{more}}}"#)
    };
    let call = |status: &str, result: &str| {
        format!(
            r#","toolCalls":[{{"id":"c1","name":"glob","args":{{"pattern":"*"}},"status":"{status}","timestamp":"2026-01-01T00:00:03.000Z"{result}}}]"#
        )
    };
    let result = r#","result":[{"functionResponse":{"id":"c1","name":"glob","response":{"output":"a\nb"}}}]"#;
    let chat = [
        header.to_owned(),
        user("u1", "find"),
        reply("a1", "I look.", ""),
        reply("a1", "I look.", &call("executing", "")),
        reply("a1", "I look.", &call("success", result)),
        r#"{"id":"r1","timestamp":"2026-01-01T00:00:04.000Z","type":"user","content":[{"functionResponse":{"id":"c1","name":"glob","response":{"output":"a\nb"}}}]}"#.to_owned(),
        reply("a2", "Two files.", ""),
        r#"{"$rewindTo":"a2"}"#.to_owned(),
        user("u2", "again"),
        r#"{"id":"e1","timestamp":"2026-01-01T00:00:05.000Z","type":"error","content":"no quota"}"#.to_owned(),
    ]
    .join("\n");
    let turns = read(chat.as_bytes(), format("gemini:chat"));
    assert_eq!(turns.len(), 2);
    assert_eq!(
        said(&turns[0]),
        [
            "text I look.".to_owned(),
            r#"call c1 glob {"pattern":"*"} -> Some((false, None))"#.to_owned(),
            "text Two files.".to_owned()
        ]
    );
    assert_eq!(turns[0].calls()[0].result.as_ref().expect("it was answered").content.text(), "a\nb");
    let failed = turns[1].outcome.as_ref().expect("each ends");
    assert!(failed.is_error, "{failed:?}");
    let options = Options {
        ledger: Some("log".to_owned()),
        ..Options::new(format("gemini:chat"), format("claude"))
    };
    let ledger = convert(&options, chat.as_bytes()).ledger;
    assert!(
        ledger.lines().any(|line| line.contains("\"line\":8") && line.contains("taken back")),
        "{ledger}"
    );
}

/// Of a message that is written again, thoughts that were told are not told again, unless one of them is another one now.
#[test]
fn thoughts_that_change_are_told() {
    let reply = |thoughts: &[&str]| {
        let thoughts: Vec<_> = thoughts
            .iter()
            .map(|text| format!(r#"{{"subject":"S","description":"{text}","timestamp":"2026-01-01T00:00:02.000Z"}}"#))
            .collect();
        format!(
            r#"{{"id":"a1","timestamp":"2026-01-01T00:00:02.000Z","type":"gemini","content":"","thoughts":[{}],"model":"m"}}"#,
            thoughts.join(",")
        )
    };
    let told = |lines: &[&[&str]]| {
        let header = r#"{"sessionId":"s","projectHash":"p","startTime":"2026-01-01T00:00:00.000Z","kind":"main"}"#;
        let lines = lines.iter().map(|thoughts| reply(thoughts));
        let chat: Vec<_> = std::iter::once(header.to_owned()).chain(lines).collect();
        let turns = read(chat.join("\n").as_bytes(), format("gemini:chat"));
        let blocks = turns[0].thread.rounds.iter().flat_map(|round| &round.blocks);
        let texts = blocks.filter_map(|block| match block {
            Block::Thinking(thinking) => Some(thinking.text.to_string()),
            _ => None,
        });
        texts.collect::<Vec<_>>()
    };
    assert_eq!(told(&[&["a"], &["a", "b"], &["a", "b"]]), ["a", "b"]);
    assert_eq!(told(&[&["a", "b"], &["a", "c"], &["a"]]), ["a", "b", "a", "c"]);
}

/// The one document that older versions write, as one line, and a conversation that stands in the header alone.
#[test]
fn messages_in_the_header_are_read() {
    let chat = r#"{"sessionId":"s","projectHash":"p","startTime":"2025-09-01T00:00:00.000Z","lastUpdated":"2025-09-01T00:00:09.000Z","messages":[{"id":"u1","timestamp":"2025-09-01T00:00:01.000Z","type":"user","content":"list"},{"id":"a1","timestamp":"2025-09-01T00:00:02.000Z","type":"gemini","content":"Done.","thoughts":[],"tokens":{"input":10,"output":2,"cached":0,"thoughts":0,"tool":0,"total":12},"model":"m","toolCalls":[{"id":"c1","name":"glob","args":{},"result":[{"functionResponse":{"id":"c1","name":"glob","response":{"output":"a"}}}],"status":"success","timestamp":"2025-09-01T00:00:03.000Z"}]}]}"#;
    let turns = read(chat.as_bytes(), format("gemini:chat"));
    assert_eq!(turns.len(), 1);
    assert_eq!(prompts(&turns[0]), ["list"]);
    assert_eq!(said(&turns[0]), ["text Done.", "call c1 glob {} -> Some((false, None))"]);
}

/// What is written is a file that the program goes on with: a header, one line a message, results in their calls.
#[test]
fn a_session_of_another_is_written_as_the_program_reads_it() {
    let log = goldens()
        .into_iter()
        .find(|log| log.name == "claude/transcript_parallel.jsonl")
        .expect("it is there");
    let written = convert(&Options::new(log.format, format("gemini:chat")), &log.bytes).out;
    let (there, back) = (read(&log.bytes, log.format), read(&written, format("gemini:chat")));
    let text = String::from_utf8(written).expect("what is written is text");
    let lines: Vec<&str> = text.lines().collect();
    assert!(
        lines[0].starts_with("{\"sessionId\":\"") && lines[0].contains("\"projectHash\":\""),
        "{text}"
    );
    assert_eq!(text.matches("\"sessionId\"").count(), 1, "{text}");
    assert!(
        !lines
            .iter()
            .any(|line| line.contains("\"type\":\"user\"") && line.contains("functionResponse")),
        "{text}"
    );
    let results = |turns: &[Turn]| -> Vec<String> {
        let calls = turns.iter().flat_map(Turn::calls);
        calls.filter_map(|call| Some(call.result.as_ref()?.content.text().to_string())).collect()
    };
    assert_eq!(results(&there).len(), results(&back).len());
    assert_eq!(
        there.iter().map(prompts).collect::<Vec<_>>(),
        back.iter().map(prompts).collect::<Vec<_>>()
    );
}

/// The program writes the parts of a result once with its call and once more on a line of its own, an image each time as a part behind the
/// result's; when a session is resumed, all of it again.
#[test]
fn an_image_is_part_of_the_result_that_it_stands_behind() {
    let png = r#"{"inlineData":{"mimeType":"image/png","data":"QUJD"}}"#;
    let answer = |id: &str, text: &str| format!(r#"{{"functionResponse":{{"id":"{id}","name":"read_file","response":{{"output":"{text}"}}}}}}"#);
    let (first, second) = (answer("a", "Binary content"), answer("b", "words"));
    let call = |id: &str, result: &str| {
        format!(r#"{{"id":"{id}","name":"read_file","args":{{"file_path":"/w/{id}"}},"result":[{result}],"status":"success"}}"#)
    };
    let line = |id: &str, kind: &str, rest: &str| format!(r#"{{"id":"{id}","timestamp":"2026-01-01T00:00:00.000Z","type":"{kind}",{rest}}}"#);
    let header =
        r#"{"sessionId":"s","projectHash":"h","startTime":"2026-01-01T00:00:00.000Z","lastUpdated":"2026-01-01T00:00:00.000Z","kind":"main"}"#;
    let prompt = line("p", "user", r#""content":[{"text":"look"}]"#);
    let results = line("r", "user", &format!(r#""content":[{first},{png},{second}]"#));
    let end = line("e", "gemini", r#""content":"Seen.""#);
    let told = line(
        "c",
        "gemini",
        &format!(
            r#""content":"","toolCalls":[{},{}]"#,
            call("a", &format!("{first},{png}")),
            call("b", &second)
        ),
    );
    let untold = line(
        "c",
        "gemini",
        &format!(
            r#""content":[{}]"#,
            ["a", "b"]
                .map(|id| format!(r#"{{"functionCall":{{"id":"{id}","name":"read_file","args":{{}}}}}}"#))
                .join(",")
        ),
    );
    let history = |calls: &str| format!(r#"{{"$set":{{"messages":[{prompt},{calls},{results},{end}]}}}}"#);
    for calls in [&told, &untold] {
        let chat = [header, &prompt, calls, &results, &end, header, &history(&untold)].join("\n") + "\n";
        let turns = read(chat.as_bytes(), format("gemini:chat"));
        assert_eq!(turns.len(), 1, "{chat}");
        assert_eq!(prompts(&turns[0]), ["look"]);
        assert_eq!(
            turns[0].thread.prompts.len(),
            1,
            "an image of a result is nothing that anybody asks: {chat}"
        );
        let outcome = turns[0].outcome.as_ref().expect("a store's turn has an end");
        assert!(!outcome.is_error, "{outcome:?}");
        let calls = turns[0].calls();
        let shown: Vec<String> = calls
            .iter()
            .map(|call| format!("{:?}", call.result.as_ref().map(|result| &result.content)))
            .collect();
        assert!(shown[0].contains("QUJD") && shown[0].contains("Binary content"), "{shown:?}");
        assert!(shown[1].contains("words") && !shown[1].contains("QUJD"), "{shown:?}");
    }
}

/// Where a model goes round in circles, or says nothing, the program itself speaks to it; that is no other turn.
#[test]
fn what_the_program_tells_the_model_begins_no_turn() {
    for words in [
        "Potential loop detected. Details: x",
        "You previously returned an empty response with no text or thoughts.",
    ] {
        let line = |id: &str, kind: &str, content: &str| {
            format!(r#"{{"id":"{id}","timestamp":"2026-01-01T00:00:00.000Z","type":"{kind}","content":[{{"text":"{content}"}}]}}"#)
        };
        let header = r#"{"sessionId":"s","projectHash":"h","startTime":"2026-01-01T00:00:00.000Z","kind":"main"}"#.to_owned();
        let system = line("b", "user", &format!("System: {words}"));
        let chat = [
            header,
            line("a", "user", "look"),
            line("x", "gemini", "So"),
            system,
            line("y", "gemini", "Done."),
        ]
        .join("\n");
        let turns = read(chat.as_bytes(), format("gemini:chat"));
        assert_eq!(turns.len(), 1, "{chat}");
        assert_eq!(prompts(&turns[0]), ["look"]);
        assert!(!turns[0].outcome.as_ref().expect("a store's turn has an end").is_error);
    }
}

/// Servers that count calls anew in each reply give one id to calls of several messages.
#[test]
fn calls_of_two_messages_may_have_one_id() {
    let header = r#"{"sessionId":"5e550001-0000-4000-8000-000000000001","projectHash":"0","startTime":"2026-01-01T00:00:00.000Z","lastUpdated":"2026-01-01T00:00:00.000Z","kind":"main"}"#;
    let asks = r#"{"id":"m0","timestamp":"2026-01-01T00:00:01.000Z","type":"user","content":[{"text":"Go on"}]}"#;
    let calls = |id: &str, command: &str, answer: &str| {
        let result = format!(r#"[{{"functionResponse":{{"id":"call_0","name":"run_shell_command","response":{{"output":"{answer}"}}}}}}]"#);
        format!(
            r#"{{"id":"{id}","timestamp":"2026-01-01T00:00:02.000Z","type":"gemini","content":"","model":"m","toolCalls":[{{"id":"call_0","name":"run_shell_command","args":{{"command":"{command}"}},"result":{result},"status":"success","timestamp":"2026-01-01T00:00:02.000Z"}}]}}"#
        )
    };
    let (one, two) = (calls("m1", "ls", "alpha"), calls("m2", "pwd", "beta"));
    // The second line of the first message says nothing new.
    let log = [header, asks, &one, &one, &two].join("\n") + "\n";
    let read = read(log.as_bytes(), format("gemini:chat"));
    let rounds = read[0].thread.rounds.iter().flat_map(|round| &round.blocks);
    let told: Vec<_> = rounds
        .filter_map(|block| match block {
            Block::Call(call) => Some((call.input.as_str().to_owned(), call.result.as_ref().map(|r| r.content.text().to_string()))),
            _ => None,
        })
        .collect();
    let wanted = [("ls", "alpha"), ("pwd", "beta")].map(|(c, a)| (format!(r#"{{"command":"{c}"}}"#), Some(a.to_owned())));
    assert_eq!(told, wanted);
}
