//! The owned events say what the codec of `agentglot:events` says, in every golden; turns lose nothing of them.

use crate::common::{Log, events, goldens};
use agentglot_adapters::convert::{Converter, Options};
use agentglot_adapters::events::{Block, InputKind};
use agentglot_adapters::{Error, Event, Kind, Source, read, sessions, turns};
use serde_json::Value;

/// The events of a log, and where it is damaged.
fn owned(log: &Log) -> (Vec<Event>, Vec<Error>) {
    let (events, errors): (Vec<_>, Vec<_>) = read(log.bytes.as_slice(), log.format).partition(Result::is_ok);
    (
        events.into_iter().map(Result::unwrap).collect(),
        errors.into_iter().map(Result::unwrap_err).collect(),
    )
}

/// Half of a surrogate pair has no place in text.
fn without_halves(line: &str) -> String {
    let mut text = String::new();
    let mut rest = line;
    while let Some(at) = rest.find("\\u") {
        // An escaped backslash in front makes a plain letter of the `u`.
        let slashes = rest[..at].len() - rest[..at].trim_end_matches('\\').len();
        let unit = rest.get(at + 2..at + 6).and_then(|hex| u32::from_str_radix(hex, 16).ok());
        let next = rest
            .get(at + 6..at + 12)
            .and_then(|low| u32::from_str_radix(low.strip_prefix("\\u")?, 16).ok());
        let taken = match (unit, next) {
            (Some(0xd800..=0xdbff), Some(0xdc00..=0xdfff)) => 12,
            (Some(0xd800..=0xdfff), _) if slashes.is_multiple_of(2) => {
                text.push_str(&rest[..at]);
                text.push_str("\\ufffd");
                rest = &rest[at + 6..];
                continue;
            }
            _ => 2,
        };
        text.push_str(&rest[..at + taken]);
        rest = &rest[at + taken..];
    }
    text + rest
}

fn value(line: &str) -> Value {
    serde_json::from_str(&without_halves(line)).unwrap_or_else(|error| panic!("{error}: {line}"))
}

/// An outcome that a turn of the log lacks, and a conversion supplies.
fn made_up(line: &str) -> bool {
    line.starts_with("{\"event\":\"outcome\"") && line.contains("\"synthetic\":true")
}

#[test]
fn events_are_what_the_codec_writes() {
    let mut seen = 0;
    for log in goldens() {
        let mut converter = Converter::new(Options::new(log.format, events()));
        let mut written = Vec::new();
        converter.feed(&log.bytes, &mut written);
        converter.finish(&mut written);
        let written = String::from_utf8(written).unwrap();
        let mut written = written.lines().filter(|line| !line.starts_with("{\"agentglot\":"));
        let (found, errors) = owned(&log);
        assert_eq!(errors.len() as u64, converter.damaged(), "{}", log.name);
        for event in &found {
            let line = event.to_json();
            loop {
                let expected = written.next().unwrap_or_else(|| panic!("{}: {line} is written too", log.name));
                let same = line == expected || value(&line) == value(expected);
                if same || !made_up(expected) {
                    assert!(same, "{}: {line}\n{expected}", log.name);
                    break;
                }
            }
            seen += 1;
        }
        assert!(written.all(made_up), "{}", log.name);
    }
    assert!(seen > 2500, "only {seen} events");
}

#[test]
fn events_read_back() {
    for log in goldens() {
        for event in owned(&log).0 {
            let line = event.to_json();
            let back = Event::from_json(&line).unwrap_or_else(|error| panic!("{}: {error}: {line}", log.name));
            assert_eq!(back.to_json(), line, "{}", log.name);
            // Deep values are refused: serializers recurse.
            let Ok(serde) = serde_json::to_string(&event) else {
                assert!(log.hostile, "{}", log.name);
                continue;
            };
            let back: Event = serde_json::from_str(&serde).unwrap_or_else(|error| panic!("{}: {error}: {serde}", log.name));
            assert_eq!(serde_json::to_string(&back).unwrap(), serde, "{}", log.name);
        }
    }
}

#[test]
fn what_no_event_is_cannot_be_read() {
    for line in [
        "",
        "{",
        "{\"agentglot\":\"events\",\"version\":1}",
        "{\"event\":\"delta\"}",
        "{\"event\":\"noise\",\"text\":\"a\"}}",
    ] {
        assert!(Event::from_json(line).is_err(), "{line}");
    }
    let deep = format!("{{\"event\":\"unknown\",\"line\":{}1{}}}", "[".repeat(10_000), "]".repeat(10_000));
    let event = Event::from_json(&deep).unwrap();
    assert_eq!(event.to_json(), deep);
    assert!(serde_json::to_string(&event).is_err(), "serializers recurse");
}

#[test]
fn errors_say_where_and_whether_more_follows() {
    let log = "{\"type\":\"system\",\"subtype\":\"init\",\"session_id\":\"s\",\"tools\":[]}\n{\"type\":\n{\"type\":\"keep_alive\"}\n";
    let found: Vec<_> = read(log.as_bytes(), "claude".parse::<agentglot_adapters::Format>().unwrap())
        .named("a.jsonl")
        .collect();
    assert!(found[0].is_ok() && found[2].is_ok() && found.len() == 3);
    let error = found[1].as_ref().unwrap_err();
    assert_eq!(
        (error.file(), error.line(), error.byte(), error.can_continue()),
        (Some("a.jsonl"), 2, 9, true)
    );
    assert!(error.to_string().starts_with("a.jsonl:2:9: "), "{error}");

    let found: Vec<_> = read("what is this\n".as_bytes(), Source::Auto).collect();
    assert_eq!(found.len(), 1);
    assert!(!found[0].as_ref().unwrap_err().can_continue());
    assert_eq!(read("\n".as_bytes(), Source::Auto).count(), 0);
}

/// Whole replies, calls and results of a log, counted in its events.
#[derive(Debug, Default, PartialEq)]
struct Counts {
    outcomes: usize,
    calls: usize,
    results: usize,
    retries: usize,
}

#[test]
fn turns_lose_nothing() {
    let mut all = Counts::default();
    for log in goldens().into_iter().filter(Log::is_plain) {
        // The canonical events with whole replies, as another agent's snapshots would give them.
        let (found, _) = owned(&log);
        let mut calls: Vec<String> = Vec::new();
        let mut results: Vec<String> = Vec::new();
        for event in &found {
            match &event.kind {
                Kind::Reply(reply) => calls.extend(reply.blocks.iter().filter_map(|block| match block {
                    Block::Call(call) => Some(call.id.clone()),
                    _ => None,
                })),
                Kind::ToolResult(result) => results.push(result.call.clone()),
                Kind::Input(kind) => assert!(!matches!(**kind, InputKind::Chat(_)), "{}", log.name),
                _ => {}
            }
        }
        for ids in [&mut calls, &mut results] {
            ids.sort();
            ids.dedup();
        }
        let mut counts = Counts::default();
        for turn in turns(log.bytes.as_slice(), log.format).filter_map(Result::ok) {
            assert!(turn.outcome.is_some(), "{}", log.name);
            counts.outcomes += 1;
            counts.retries += turn.retries.len();
            for call in turn.calls() {
                counts.calls += 1;
                counts.results += usize::from(call.result.is_some());
                assert!(
                    calls.contains(&call.id) || results.contains(&call.id) || call.id.is_empty() || !log.format.is_streaming() || calls.is_empty(),
                    "{}: {}",
                    log.name,
                    call.id
                );
            }
        }
        assert!(counts.calls >= calls.len(), "{}: {counts:?}, {calls:?}", log.name);
        assert!(counts.results >= results.len(), "{}: {counts:?}, {results:?}", log.name);
        all = Counts {
            outcomes: all.outcomes + counts.outcomes,
            calls: all.calls + counts.calls,
            results: all.results + counts.results,
            retries: all.retries + counts.retries,
        };
    }
    assert!(all.outcomes > 100 && all.calls > 50 && all.results > 50 && all.retries > 0, "{all:?}");
}

#[test]
fn a_session_is_put_together() {
    let log = goldens()
        .into_iter()
        .find(|log| log.name == "claude/cli_agent.out.jsonl")
        .expect("a golden with a subagent");
    let (sessions, errors) = sessions(log.bytes.as_slice(), Source::Auto);
    assert!(errors.is_empty() && sessions.len() == 1, "{errors:?}");
    let turn = &sessions[0].turns[0];
    assert_eq!(turn.number, 1);
    assert!(sessions[0].facts.as_ref().is_some_and(|facts| facts.model.is_some()));
    assert!(turn.usage.is_some() && !turn.text().is_empty());
    let with_agent = turn
        .calls()
        .into_iter()
        .find(|call| call.subagent.is_some())
        .expect("a call with a subagent");
    let subagent = with_agent.subagent.as_ref().unwrap();
    assert!(!subagent.thread.rounds.is_empty());
    assert_eq!(with_agent.succeeded(), Some(true));
    // A log that breaks off ends in a turn that says so.
    let cut = &log.bytes[..log.bytes.len() / 2];
    let last = turns(cut, log.format).filter_map(Result::ok).last().unwrap();
    assert!(last.outcome.unwrap().synthetic);
}

/// Gives a few bytes at a time.
struct Trickle<'l>(&'l [u8], usize);

impl std::io::Read for Trickle<'_> {
    fn read(&mut self, room: &mut [u8]) -> std::io::Result<usize> {
        let taken = self.1.min(room.len()).min(self.0.len());
        let (now, rest) = self.0.split_at(taken);
        room[..taken].copy_from_slice(now);
        self.0 = rest;
        Ok(taken)
    }
}

/// The calls of a serialized thread, each before those of its subagent, and what its rounds say to the user.
fn said_by(thread: &Value, calls: &mut Vec<String>, texts: &mut Vec<String>) {
    let list = |value: &Value, name: &str| value[name].as_array().cloned().unwrap_or_default();
    for block in list(thread, "rounds").iter().flat_map(|round| list(round, "blocks")) {
        match block["type"].as_str().expect("a block has a type") {
            "text" => texts.push(block["text"].as_str().expect("a text").to_owned()),
            "call" => {
                calls.push(block["id"].as_str().expect("an id").to_owned());
                said_by(&block["subagent"], calls, &mut Vec::new());
            }
            _ => {}
        }
    }
}

#[test]
fn turns_are_serialized_as_their_events_are() {
    let mut seen = 0;
    for log in goldens().into_iter().filter(|log| !log.hostile) {
        for turn in turns(log.bytes.as_slice(), log.format).filter_map(Result::ok) {
            let value = serde_json::to_value(&turn).unwrap_or_else(|error| panic!("{}: {error}", log.name));
            let (mut calls, mut texts) = (Vec::new(), Vec::new());
            said_by(&value, &mut calls, &mut texts);
            for stray in value["strays"].as_array().into_iter().flatten() {
                said_by(stray, &mut calls, &mut Vec::new());
            }
            let ids: Vec<&str> = turn.calls().iter().map(|call| call.id.as_str()).collect();
            assert_eq!(
                (texts.join("\n"), calls),
                (turn.text(), ids.iter().map(ToString::to_string).collect()),
                "{}",
                log.name
            );
            let Some(outcome) = &turn.outcome else { continue };
            let member = &value["outcome"];
            assert_eq!(
                (member["event"].as_str(), member["text"].as_str()),
                (Some("outcome"), outcome.text.as_deref()),
                "{}",
                log.name
            );
            seen += 1;
        }
    }
    assert!(seen > 100, "only {seen} turns");
}

#[test]
fn where_a_log_is_cut_into_reads_changes_nothing() {
    let said = |found: Vec<Result<Event, Error>>| -> Vec<String> {
        let line = |item: Result<Event, Error>| item.map_or_else(|error| error.to_string(), |event| event.to_json());
        found.into_iter().map(line).collect()
    };
    for log in goldens().into_iter().filter(|log| log.bytes.len() < 8000) {
        let whole = said(read(log.bytes.as_slice(), log.format).collect());
        assert_eq!(said(read(Trickle(&log.bytes, 7), log.format).collect()), whole, "{}", log.name);
        let count = |found: Vec<Result<_, _>>| found.into_iter().filter(Result::is_ok).count();
        assert_eq!(
            count(turns(Trickle(&log.bytes, 7), log.format).collect()),
            count(turns(log.bytes.as_slice(), log.format).collect()),
            "{}",
            log.name
        );
    }
}

#[test]
fn every_turn_has_its_outcome_wherever_a_log_breaks_off() {
    for log in goldens().into_iter().filter(|log| !log.host) {
        for part in 1..6 {
            let cut = &log.bytes[..log.bytes.len() * part / 6];
            for turn in turns(cut, log.format).filter_map(Result::ok) {
                let holds = !turn.thread.rounds.is_empty() || !turn.strays.is_empty();
                assert!(turn.outcome.is_some() || !holds, "{} {part}: {turn:?}", log.name);
            }
        }
    }
}
