//! Several sessions in one log, and sessions that change their id: each is read as if it stood alone.

use std::io::Write as _;

use agentglot_adapters::check::Checker;
use agentglot_adapters::convert::{Converter, Options};
use agentglot_adapters::raw::codec::{Dialect, Format};
use agentglot_adapters::raw::cuts::Cuts;

use crate::common::turns::{ends, turns};
use crate::common::{
    Chance, Log, Wrongs, convert, events, format, parallel, parting, plain_goldens, quick, recordings, rounds, stream_goldens, streaming, targets,
    verbatim, with_ledger,
};

/// All logs of agents that can be put together: goldens, and recordings where they are at hand.
fn logs() -> Vec<Log> {
    stream_goldens()
        .into_iter()
        .chain(recordings())
        .filter(|log| log.is_plain() && log.bytes.len() < 200_000)
        .collect()
}

fn lines(bytes: &[u8]) -> Vec<&[u8]> {
    bytes.split_inclusive(|&byte| byte == b'\n').collect()
}

/// With a line feed at its end.
fn ended(bytes: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    if !bytes.ends_with(b"\n") {
        bytes.push(b'\n');
    }
    bytes
}

/// The ids of sessions that a log names.
fn ids(log: &Log) -> Vec<String> {
    let mut ids: Vec<String> = Vec::new();
    let stored = quick(log.format, events(), &log.bytes).out;
    for object in crate::common::read::objects(&stored) {
        let id = object.str("session").to_owned();
        if !id.is_empty() && !ids.contains(&id) {
            ids.push(id);
        }
    }
    ids
}

fn replaced(bytes: &[u8], from: &str, to: &str) -> Vec<u8> {
    String::from_utf8_lossy(bytes).replace(from, to).into_bytes()
}

/// The same log as another session: the ids are others of the same length.
fn renamed(log: &Log, seed: usize) -> Vec<u8> {
    let mut bytes = log.bytes.clone();
    for id in ids(log).iter().filter(|id| id.len() >= 8) {
        let digits = format!("{seed:04x}");
        bytes = replaced(&bytes, id, &format!("{}{digits}", &id[..id.len() - 4]));
    }
    bytes
}

/// `/clear` gives a session another id in the middle of a turn, which goes on: there are as many outcomes as before.
#[test]
fn that_get_another_id_in_mid_turn_go_on() {
    let over = |log: &Log, wrongs: &mut Wrongs| {
        // A run of OpenCode or AG-UI is in one session; Tricode, Gemini CLI and Codex name theirs in the first line alone, an agent of ACP serves several at
        // once, and stored events are the model's own.
        let [id] = ids(log).try_into().unwrap_or_default();
        let id: String = id;
        if id.len() < 8
            || matches!(
                log.format.dialect,
                Dialect::Tricode
                    | Dialect::Gemini
                    | Dialect::Codex
                    | Dialect::Acp
                    | Dialect::AgUi
                    | Dialect::Opencode
                    | Dialect::Agentglot
                    | Dialect::Qwen
            )
        {
            return;
        }
        let lines = lines(&log.bytes);
        for at in (1..lines.len()).step_by(1 + lines.len() / 6) {
            let line = String::from_utf8_lossy(lines[at]);
            if !line.contains(&id)
                || ["\"init\"", "\"status\"", "hook_", "lifecycle"].iter().any(|word| line.contains(word))
                || line.contains("\"type\":\"user\"")
            {
                continue;
            }
            let head = lines[..at].concat();
            let tail = replaced(&lines[at..].concat(), &id, &format!("{}beef", &id[..id.len() - 4]));
            let whole = [head, tail].concat();
            for to in targets(log.format) {
                wrongs.check();
                let (before, after) = (quick(log.format, to, &log.bytes), quick(log.format, to, &whole));
                let count = |out: &[u8]| (ends(to, out), String::from_utf8_lossy(out).matches("\"synthetic\":true").count());
                if count(&before.out) != count(&after.out) {
                    wrongs.add(
                        format!("another id {} -> {to}", log.format),
                        format!(
                            "{} from line {}: outcomes {:?}, before {:?}",
                            log.name,
                            at + 1,
                            count(&after.out),
                            count(&before.out)
                        ),
                    );
                }
                // One connection serves many threads: whoever waits for a turn's end waits for it in the turn's own thread.
                let unended = |out: &[u8]| {
                    let mut checker = Checker::new(to);
                    checker.feed(out);
                    let findings = checker.finish().0;
                    findings.iter().filter(|finding| finding.rule.name() == "missing-outcome").count()
                };
                if to == format("codex:app-server") && unended(&before.out) < unended(&after.out) {
                    let what = format!("{} from line {}: a turn has no end in its thread", log.name, at + 1);
                    wrongs.add(format!("another id {} -> {to}", log.format), what);
                }
            }
        }
    };
    parallel(&logs(), over).finish("sessions");
}

/// A log of several sessions gives what they give one by one.
#[test]
fn that_stand_one_after_the_other_are_read_one_by_one() {
    let logs = logs();
    let pairs: Vec<(usize, usize)> = {
        let mut chance = Chance::new(7);
        let all: Vec<usize> = (0..logs.len()).collect();
        (0..300)
            .map(|_| {
                let first = *chance.pick(&all);
                let alike: Vec<usize> = all.iter().copied().filter(|&n| logs[n].format == logs[first].format).collect();
                (first, *chance.pick(&alike))
            })
            .collect()
    };
    let over = |&(a, b): &(usize, usize), wrongs: &mut Wrongs| {
        let from = logs[a].format;
        let (first, second) = (ended(&logs[a].bytes), ended(&renamed(&logs[b], b)));
        // The same process answers once.
        if a == b && String::from_utf8_lossy(lines(&second)[0]).contains("\"pid\"") {
            return;
        }
        let (ours, theirs) = (ids(&logs[a]), ids(&logs[b]));
        // Short ids are not renamed: then it may be one session.
        if ours.is_empty() || theirs.is_empty() || theirs.iter().any(|id| id.len() < 8 && ours.contains(id)) {
            return;
        }
        // A role that a chunk without an id declares is told with the line that names the session.
        // Stored events begin with a header, and answers that name nobody may come before.
        let waits = !["chatcmpl-", "session_id", "sessionID", "thread_id", "Session", "\"pid\""]
            .iter()
            .any(|word| String::from_utf8_lossy(lines(&second)[0]).contains(word));
        // Of a log behind itself, as golden or recording, a first line that names no session looks like one of the session before.
        let says = |id: &String| id.len() >= 8 && String::from_utf8_lossy(lines(&second)[0]).contains(&id[..id.len() - 4]);
        if logs[a].name == logs[b].name && !theirs.iter().any(says) {
            return;
        }
        // What names nobody may as well be of a turn that has not ended.
        let names = ["session_id", "thread_id", "chatcmpl-", "Session"];
        let opens = String::from_utf8_lossy(lines(&second)[0]).into_owned();
        // What was refused has an id, and did not begin.
        let refused = from.dialect == Dialect::Qwen && opens.contains("\"error\"");
        let named = !refused && names.iter().any(|word| opens.contains(word));
        let unended = memchr::memmem::find(&quick(from, events(), &first).out, b"\"synthetic\":true").is_some();
        if unended && !named {
            return;
        }
        for to in streaming().into_iter().filter(|to| !waits || to.dialect != Dialect::Agentglot) {
            wrongs.check();
            let together = quick(from, to, &[first.clone(), second.clone()].concat()).out;
            // Made-up ids of the second are counted from the line that begins its session, which may not be its first.
            let before = quick(from, to, &first).out;
            let mut at = first.len() as u64;
            let mut alone = Vec::new();
            for line in lines(&second).into_iter().take(10) {
                let behind = Options {
                    at,
                    ..Options::new(from, to)
                };
                alone = [before.clone(), convert(&behind, &second).out].concat();
                if together == alone {
                    break;
                }
                at += line.len() as u64;
            }
            if together != alone {
                wrongs.add(
                    format!("one by one {from} -> {to}"),
                    format!("{} {}: {}", logs[a].name, logs[b].name, parting(&alone, &together)),
                );
            }
        }
    };
    parallel(&pairs, over).finish("sessions");
}

/// Logs as they come about: whole, killed, with a mark at their beginning, or two that wrote into one file.
fn heap(logs: &[&Log], chance: &mut Chance) -> Vec<u8> {
    let mut heap = Vec::new();
    for n in 0..4 + chance.below(4) {
        let mut bytes = ended(&renamed(logs[chance.below(logs.len())], n));
        match chance.below(6) {
            0 => bytes.truncate(chance.below(bytes.len())),
            1 => bytes.splice(..0, *b"\xef\xbb\xbf").for_each(drop),
            2 => {
                let other = ended(&renamed(logs[chance.below(logs.len())], 100 + n));
                let (left, right) = (lines(&bytes), lines(&other));
                let mixed: Vec<&[u8]> = (0..left.len().max(right.len()))
                    .flat_map(|at| [left.get(at), right.get(at)].into_iter().flatten().copied())
                    .collect();
                bytes = mixed.concat();
            }
            3 => bytes.extend_from_slice(b"npm warn something\n"),
            _ => {}
        }
        heap.extend_from_slice(&ended(&bytes));
    }
    heap
}

/// Where a log may be cut, both parts give what the log gives in one piece: output, damage, ledger.
#[test]
fn that_are_cut_apart_give_the_same() {
    let logs = logs();
    let dialects: Vec<Format> = ["claude", "qwen-code", "qwen", "qwen:stream-chunk-json", "tricode", "cursor", "gemini"]
        .map(format)
        .into();
    let seeds: Vec<(usize, u64)> = (0..rounds(10) as u64)
        .flat_map(|seed| (0..dialects.len()).map(move |n| (n, seed)))
        .collect();
    let found = std::sync::atomic::AtomicUsize::new(0);
    let over = |&(n, seed): &(usize, u64), wrongs: &mut Wrongs| {
        let from = dialects[n];
        let own: Vec<&Log> = logs.iter().filter(|log| log.format == from).collect();
        let mut chance = Chance::new(seed * 31 + n as u64);
        let heap = heap(&own, &mut chance);
        let all = lines(&heap);
        // Whoever looks for a place to cut begins somewhere.
        let begin = if chance.below(2) == 0 { 0 } else { chance.below(all.len()) };
        let mut cuts = Cuts::new(from.dialect, 1 << 20);
        let places: Vec<usize> = (begin..all.len()).filter(|&at| cuts.line(all[at])).collect();
        found.fetch_add(places.len(), std::sync::atomic::Ordering::Relaxed);
        for to in streaming() {
            let mut options = with_ledger(Options::new(from, to));
            options.follow = true;
            let whole = convert(&options, &heap);
            if to.dialect != Dialect::Agentglot && to != from {
                wrongs.check();
                let (stored, direct) = (convert(&verbatim(from, events()), &heap).out, convert(&verbatim(from, to), &heap).out);
                let back = convert(&verbatim(events(), to), &stored).out;
                if back != direct {
                    wrongs.add(format!("stored {from} -> {to}"), format!("seed {seed}: {}", parting(&direct, &back)));
                }
            }
            for &at in &places {
                wrongs.check();
                let head = all[..at].concat();
                let behind = Options {
                    at: head.len() as u64,
                    ..options.clone()
                };
                let (left, right) = (convert(&options, &head), convert(&behind, &all[at..].concat()));
                let out = [left.out, right.out].concat();
                if out != whole.out {
                    let what = parting(&whole.out, &out);
                    wrongs.add(format!("cut {from} -> {to}"), format!("seed {seed}, line {}: {what}", at + 1));
                    if let Some(folder) = std::env::var_os("KEEP") {
                        let path = std::path::Path::new(&folder).join(format!("{}-{seed}.jsonl", from.dialect.name()));
                        std::fs::File::create(path)
                            .and_then(|mut file| file.write_all(&heap))
                            .expect("KEEP names a folder");
                    }
                }
                if left.damage.len() + right.damage.len() != whole.damage.len() {
                    wrongs.add(format!("damage {from} -> {to}"), format!("seed {seed}, line {}", at + 1));
                }
                let told = |ledger: &str| -> Vec<String> {
                    ledger
                        .lines()
                        .map(|entry| entry.split_once(",\"fate\"").map_or(entry, |e| e.1).to_owned())
                        .collect()
                };
                let (parts, one) = ([told(&left.ledger), told(&right.ledger)].concat(), told(&whole.ledger));
                if parts != one {
                    let differs = (0..).find(|&n| parts.get(n) != one.get(n));
                    let entry = |told: &[String]| differs.and_then(|n| told.get(n).cloned());
                    wrongs.add(
                        format!("ledger {from} -> {to}"),
                        format!("seed {seed}, line {}: {:?} / {:?}", at + 1, entry(&one), entry(&parts)),
                    );
                }
            }
        }
    };
    parallel(&seeds, over).finish("sessions");
    assert!(found.into_inner() > 40, "hardly a place to cut was found");
}

/// A line of another session that comes before its first one, in the middle of a turn, does not make that turn the other session's: the
/// outcome that is made up for it is its own, and stored as events the log says the same.
#[test]
fn that_are_heard_of_before_they_begin_take_no_turn_over() {
    const LOG: &str = r#"
{"type":"system","subtype":"init","cwd":"/w","session_id":"aaaaaaaa-1","tools":[],"model":"m","permissionMode":"default","uuid":"1"}
{"type":"assistant","message":{"id":"m1","role":"assistant","model":"m","content":[{"type":"text","text":"one"}]},"session_id":"aaaaaaaa-1","uuid":"2"}
@
{"type":"system","subtype":"init","cwd":"/w","session_id":"bbbbbbbb-2","tools":[],"model":"m","permissionMode":"default","uuid":"4"}
{"type":"assistant","message":{"id":"m2","role":"assistant","model":"m","content":[{"type":"text","text":"two"}]},"session_id":"bbbbbbbb-2","uuid":"5"}
"#;
    let claude = format("claude");
    let mut wrongs = Wrongs::default();
    for line in [
        r#"{"type":"command_lifecycle","command_uuid":"c","state":"queued","session_id":"bbbbbbbb-2","uuid":"3"}"#,
        r#"{"type":"system","subtype":"hook_started","hook_id":"h","hook_name":"SessionStart","hook_event":"SessionStart","session_id":"bbbbbbbb-2","uuid":"3"}"#,
        r#"{"type":"system","subtype":"status","status":"requesting","session_id":"bbbbbbbb-2","uuid":"3"}"#,
    ] {
        let log = LOG.replace('@', line);
        let stored = quick(claude, events(), log.as_bytes());
        let ends: Vec<String> = crate::common::read::objects(&stored.out)
            .iter()
            .filter(|event| event.str("event") == "outcome")
            .map(|event| event.str("session").to_owned())
            .collect();
        assert_eq!(ends, ["aaaaaaaa-1", "bbbbbbbb-2"], "{}", stored.text());
        gives_back(&log, &stored.out, &mut wrongs);
    }
    wrongs.finish("sessions");
}

/// What a log of Claude Code gives in each dialect, its stored events give too.
fn gives_back(log: &str, stored: &[u8], wrongs: &mut Wrongs) {
    let claude = format("claude");
    for to in targets(claude).into_iter().filter(|to| *to != events()) {
        wrongs.check();
        let (direct, back) = (
            convert(&verbatim(claude, to), log.as_bytes()).out,
            convert(&verbatim(events(), to), stored).out,
        );
        if direct != back {
            wrongs.add(format!("stored claude -> {to}"), parting(&direct, &back));
        }
    }
}

/// Of sessions that name themselves late or never, stored events tell as well where each begins, which made-up ids tell.
#[test]
fn that_name_themselves_late_are_stored_as_such() {
    let claude = format("claude");
    let answer = |pid: u32| {
        format!(
            r#"{{"type":"control_response","response":{{"subtype":"success","request_id":"i{pid}","response":{{"commands":[],"models":[],"account":{{}},"pid":{pid}}}}}}}"#
        )
    };
    let session = |id: &str| {
        format!(
            r#"{{"type":"system","subtype":"init","cwd":"/w","session_id":"{id}","tools":[],"model":"m","permissionMode":"default","uuid":"{id}-1"}}
{{"type":"assistant","message":{{"id":"m1","role":"assistant","model":"m","content":[{{"type":"text","text":"one"}}]}},"session_id":"{id}","uuid":"{id}-2"}}
{{"type":"result","subtype":"success","is_error":false,"duration_ms":1,"duration_api_ms":1,"num_turns":1,"result":"one","session_id":"{id}","total_cost_usd":0,"usage":{{}},"uuid":"{id}-3"}}"#
        )
    };
    let log = [session("aaaaaaaa-1"), answer(1), answer(2), session("bbbbbbbb-2"), String::new()].join("\n");
    let stored = convert(&verbatim(claude, events()), log.as_bytes());
    let mut wrongs = Wrongs::default();
    gives_back(&log, &stored.out, &mut wrongs);
    wrongs.finish("sessions");
}

/// A session in another dialect is followed, or said to be damage.
#[test]
fn in_another_dialect_are_followed_or_told() {
    let logs = logs();
    let mut chance = Chance::new(17);
    let pairs: Vec<(&Log, &Log)> = (0..200)
        .map(|_| (chance.pick(&logs), chance.pick(&logs)))
        .filter(|(a, b)| a.format.dialect != b.format.dialect && begins(b))
        // In the middle of a turn an answer of the program's begins nothing.
        .filter(|(a, b)| {
            // No line of OpenCode's ends a turn that went well.
            let over = a.format.dialect != Dialect::Opencode && turns(a.format, &a.bytes).least <= ends(a.format, &a.bytes);
            !b.bytes.starts_with(b"{\"type\":\"control_response\"") || over
        })
        .collect();
    let over = |&(a, b): &(&Log, &Log), wrongs: &mut Wrongs| {
        let (first, second) = (ended(&a.bytes), ended(&b.bytes));
        let whole = [first.clone(), second.clone()].concat();
        for to in streaming() {
            wrongs.check();
            let mut options = Options::new(a.format, to);
            if quick(a.format, to, &whole).damage.is_empty() {
                wrongs.add(format!("told {} {} -> {to}", a.format, b.format), format!("{} {}", a.name, b.name));
            }
            options.follow = true;
            let mut converter = Converter::new(options.clone());
            let mut out = Vec::new();
            converter.feed(&whole, &mut out);
            converter.finish(&mut out);
            // A log of chunks holds objects of both kinds, which are read alike.
            let behind = Options {
                at: first.len() as u64,
                ..Options::new(b.format, to)
            };
            let alone = [convert(&options, &first).out, convert(&behind, &second).out].concat();
            if converter.take_followed().is_empty() || out != alone && to.dialect != b.format.dialect {
                wrongs.add(
                    format!("followed {} {} -> {to}", a.format, b.format),
                    format!("{} {}: {}", a.name, b.name, parting(&alone, &out)),
                );
            }
        }
    };
    parallel(&pairs, over).finish("sessions");
}

/// A format that is one value is one, whatever the log holds: the outcome of its last turn, or an array of all messages.
#[test]
fn become_one_value_where_the_format_is_one() {
    // Files of sessions are not put together.
    let logs: Vec<Log> = logs().into_iter().filter(|log| log.format.is_streaming()).collect();
    let mut chance = Chance::new(23);
    let heaps: Vec<(Format, Vec<u8>)> = (0..60)
        .map(|n| {
            let from = chance.pick(&logs).format;
            let own: Vec<&Log> = logs.iter().filter(|log| log.format == from).collect();
            match n % 3 {
                0 => (from, own[chance.below(own.len())].bytes.clone()),
                _ => (from, heap(&own, &mut chance)),
            }
        })
        .collect();
    let over = |(from, bytes): &(Format, Vec<u8>), wrongs: &mut Wrongs| {
        let ended = ends(format("claude"), &quick(*from, format("claude"), bytes).out);
        let events = quick(*from, events(), bytes).out;
        let outcomes = events
            .split(|&byte| byte == b'\n')
            .filter(|line| memchr::memmem::find(line, b"\"event\":\"outcome\"").is_some());
        // Of one that is made up there is nothing to tell.
        let is_said: Vec<bool> = outcomes.map(|line| memchr::memmem::find(line, b"\"synthetic\":true").is_none()).collect();
        let leaves_one = is_said.split_last().is_some_and(|(_, before)| before.contains(&true));
        for to in Format::all().filter(|to| to.mode.layout.is_one_value()) {
            for (verbose, piece) in [(false, bytes.len().max(1)), (true, bytes.len().max(1)), (false, 1000), (true, 1000)] {
                wrongs.check();
                let options = Options {
                    verbose,
                    ..with_ledger(Options::new(*from, to))
                };
                let done = crate::common::feed(&options, bytes.chunks(piece));
                let values: Vec<_> = serde_json::Deserializer::from_slice(&done.out).into_iter::<serde_json::Value>().collect();
                // A trajectory is one session, and so is what a program keeps.
                let sound = values.iter().all(Result::is_ok) && (values.len() <= 1 || to.dialect == Dialect::Atif || to.is_store());
                // A Cursor turn that fails writes nothing, and a list of nothing that was said is none.
                let may_be_nothing = matches!(to.dialect, Dialect::Cursor | Dialect::Openai | Dialect::Sharegpt);
                if !sound || values.is_empty() && ended > 0 && !may_be_nothing {
                    wrongs.add(format!("one value {from} -> {to}"), format!("{} values, verbose {verbose}", values.len()));
                }
                let array = done.out.starts_with(b"[");
                // Where no line says how a turn ended, that of its answer is all that there is to tell.
                let told = ["one outcome is written, the last", "the answer of the last turn is written"];
                let told = told.iter().any(|told| done.ledger.contains(told));
                if to.dialect == Dialect::Claude && !array && leaves_one && !told {
                    wrongs.add(format!("one value {from} -> {to}"), "the ledger does not tell");
                }
                let outcomes = done.text().matches("\"type\":\"result\"").count();
                if array && outcomes < ended {
                    wrongs.add(format!("one value {from} -> {to}"), format!("{outcomes} of {ended} outcomes"));
                }
            }
        }
    };
    parallel(&heaps, over).finish("sessions");
}

/// Whether the first line of a log is one that a session begins with, and a sure sign of its dialect.
fn begins(log: &Log) -> bool {
    let first = String::from_utf8_lossy(lines(&log.bytes)[0]).into_owned();
    match log.format.dialect {
        // An answer that its host got before says as much, and begins none.
        Dialect::Claude | Dialect::QwenCode => first.contains("_code_version") && first.contains("\"init\""),
        Dialect::Cursor => first.contains("apiKeySource"),
        Dialect::Gemini => first.contains("\"init\""),
        Dialect::Codex => first.contains("thread.started"),
        Dialect::Tricode => first.contains("Session ID: "),
        // What was refused did not begin.
        Dialect::Qwen => first.contains("\"chat.completion") && !first.contains("\"error\""),
        _ => false,
    }
}

/// How the turns of a log ended, and what they used.
fn ended_and_used(format: Format, bytes: &[u8]) -> Vec<String> {
    let turns = agentglot_adapters::turns(bytes, format).map(|turn| turn.expect("it is not damaged"));
    turns
        .map(|turn| {
            let outcome = turn.outcome.map(|outcome| outcome.kind);
            let used = turn.usage.map(|usage| (usage.prompt_tokens(), usage.written_tokens()));
            format!("{outcome:?} {used:?} {}", turn.thread.rounds.len())
        })
        .collect()
}

/// A line with which another session begins says nothing of the one before it, in whose words it is read first.
#[test]
fn two_sessions_in_one_store_share_nothing() {
    let over = |log: &Log, wrongs: &mut Wrongs| {
        let one = ended(&log.bytes);
        let both = [one.clone(), ended(&renamed(log, 7))].concat();
        if both == one.repeat(2) {
            return;
        }
        wrongs.check();
        let (alone, found) = (ended_and_used(log.format, &one), ended_and_used(log.format, &both));
        if found != [alone.clone(), alone.clone()].concat() {
            wrongs.add(format!("{}", log.format), format!("{}: {alone:?}, then {found:?}", log.name));
        }
    };
    let stores = plain_goldens()
        .into_iter()
        .filter(|log| log.format.is_store() && log.bytes.starts_with(b"{"));
    let logs: Vec<Log> = stores.collect();
    parallel(&logs, over).finish("two sessions in one store share nothing");
}
