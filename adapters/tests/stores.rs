//! What programs keep of a session says the same as what they wrote on standard output.

mod common;

use agentglot_adapters::convert::Options;
use agentglot_adapters::session::{Block, Call, Round, Thread};
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

/// A round as both say it. What a stdout log says while a reply comes counts its output as far as it had come.
fn round(round: &Round) -> String {
    let usage = round.usage.as_ref().map(|usage| (usage.input, usage.cache_read, usage.cache_write));
    let blocks: Vec<String> = round.blocks.iter().map(block).collect();
    format!("{:?} {:?} {usage:?} {blocks:#?}", round.id, round.model)
}

fn rounds(thread: &Thread) -> Vec<String> {
    thread.rounds.iter().map(round).collect()
}

#[test]
fn a_transcript_says_what_its_stream_says() {
    for (kept, stream) in pairs().iter().filter(|(kept, _)| kept.format == format("claude:transcript")) {
        let (from_kept, from_stream) = (read(&kept.bytes, kept.format), read(&stream.bytes, stream.format));
        assert_eq!(from_kept.len(), from_stream.len(), "{}", kept.name);
        for (one, other) in from_kept.iter().zip(&from_stream) {
            assert_eq!(rounds(&one.thread), rounds(&other.thread), "{}", kept.name);
            assert_eq!(one.session, other.session);
            let (ours, theirs) = (one.outcome.as_ref().expect("each turn ends"), other.outcome.as_ref().expect("it was recorded"));
            assert_eq!((ours.kind, ours.synthetic), (theirs.kind, true), "{}", kept.name);
            let tokens = |turn: &Turn| turn.usage.as_ref().map(|usage| (usage.input, usage.output, usage.cache_read, usage.cache_write));
            assert_eq!(tokens(one), tokens(other), "{}: the sum of the rounds", kept.name);
            assert_eq!(one.thread.prompts.len(), 1, "{}: only what is kept holds the prompt", kept.name);
        }
    }
}

/// A log that is kept and read again holds what it held.
#[test]
fn a_stream_that_is_kept_says_the_same() {
    for (kept, stream) in &pairs() {
        let options = Options {
            prompts: vec!["What was asked".to_owned()],
            ..Options::new(stream.format, kept.format)
        };
        let written = convert(&options, &stream.bytes).out;
        let (there, back) = (read(&stream.bytes, stream.format), read(&written, kept.format));
        assert_eq!(there.len(), back.len(), "{}", stream.name);
        for (there, back) in there.iter().zip(&back) {
            assert_eq!(rounds(&there.thread), rounds(&back.thread), "{}", stream.name);
            assert_eq!(back.thread.prompts.len(), 1, "{}", stream.name);
        }
        let again = convert(&Options::new(kept.format, stream.format), &written).out;
        let again = read(&again, stream.format);
        for (there, again) in there.iter().zip(&again) {
            assert_eq!(rounds(&there.thread), rounds(&again.thread), "{}: back again", stream.name);
        }
    }
}
