//! What programs keep of a session says the same as what they wrote on standard output.

mod common;

use agentglot_adapters::convert::Options;
use agentglot_adapters::events::PromptSource;
use agentglot_adapters::session::{Block, Call, Thread};
use agentglot_adapters::{Turn, turns};

use common::{Log, convert, format, goldens};

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

fn read(log: &[u8], format: agentglot_adapters::Format) -> Vec<Turn> {
    turns(log, format).map(|turn| turn.unwrap_or_else(|error| panic!("{format}: {error}"))).collect()
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
            said.push(format!("{:?} {:?} {:?} {:?}", round.model, usage.input, usage.cache_read, usage.cache_write));
        }
    }
    said
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
            let (ours, theirs) = (one.outcome.as_ref().expect("each turn ends"), other.outcome.as_ref().expect("it was recorded"));
            assert_eq!((ours.kind, ours.synthetic), (theirs.kind, true), "{}", kept.name);
            let tokens = |turn: &Turn| turn.usage.as_ref().map(|usage| (usage.input, usage.output, usage.cache_read, usage.cache_write));
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
        let (ours, theirs) = (one.outcome.as_ref().expect("each turn ends"), other.outcome.as_ref().expect("it was recorded"));
        assert_eq!((ours.is_error, ours.synthetic), (theirs.is_error, true), "{}", kept.name);
        let texts = |turn: &Turn| -> Vec<String> { turn.thread.prompts.iter().map(|prompt| prompt.content.text().to_string()).collect() };
        assert_eq!(texts(one)[1..], texts(other)[..], "{}: what the program says of its own", kept.name);
    }
}

/// A log that is kept and read again holds what it held.
#[test]
fn a_stream_that_is_kept_says_the_same() {
    for (kept, stream) in &pairs() {
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
            assert_eq!(said(&there.thread, ids), said(&back.thread, ids), "{}", stream.name);
            assert_eq!(prompts(back), 1, "{}", stream.name);
        }
        let again = convert(&Options::new(kept.format, stream.format), &written).out;
        let again = read(&again, stream.format);
        for (there, again) in there.iter().zip(&again) {
            assert_eq!(said(&there.thread, ids), said(&again.thread, ids), "{}: back again", stream.name);
        }
    }
}
