use std::io::{self, Read};
use std::path::Path;

use agentglot_adapters::{Source, turns};

use super::*;

fn counted(by: By, logs: &[&str]) -> Counter {
    let mut counter = Counter::new(by, true, Prices::none());
    for log in logs {
        assert_eq!(counter.log(Joined::alone(log.as_bytes(), Source::Auto, "log"), "log").unwrap(), 0);
    }
    counter
}

fn golden(name: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("golden").join(name)).unwrap()
}

#[test]
fn usage_that_a_reply_repeats_on_each_of_its_lines_counts_once() {
    let log = golden("claude/transcript_parallel.jsonl");
    assert!(log.matches("\"output_tokens\":").count() > 2, "no reply has several lines");
    let counter = counted(By::Model, &[&log]);
    let (_, total) = counter.sums();
    // Two replies, of which the first has five lines.
    assert_eq!((total.rounds, total.calls), (2, 3));
    let each: Vec<_> = turns(log.as_bytes(), Source::Auto)
        .flat_map(|turn| turn.unwrap().thread.rounds)
        .map(|round| round.usage.unwrap().output.unwrap())
        .collect();
    assert_eq!(total.tokens.output, each.iter().sum::<u64>());
}

#[test]
fn history_that_sessions_share_counts_once() {
    let log = golden("claude/transcript_parallel.jsonl");
    let once = counted(By::Agent, &[&log]).total;
    let twice = counted(By::Agent, &[&log, &log]).total;
    assert_eq!(
        (twice.tokens, twice.calls, twice.turns, twice.rounds),
        (once.tokens, once.calls, once.turns, once.rounds)
    );
    // Another session that begins with a copy of this one.
    let id = turns(log.as_bytes(), Source::Auto).next().unwrap().unwrap().session.unwrap();
    let fork = log.replace(&id, "00000000-aaaa-4000-8000-00000000ffff");
    let both = counted(By::Session, &[&log, &fork]);
    assert_eq!(
        (both.total.tokens, both.total.calls, both.total.turns),
        (once.tokens, once.calls, once.turns)
    );
    // Without ids of replies a copy is known all the same.
    let log = golden("tricode/edit_simple.jsonl");
    assert_eq!(counted(By::Agent, &[&log, &log]).total.turns, 1);
}

#[test]
fn sums_that_count_up_over_a_session_count_what_they_grow_by() {
    let (first, second) = (golden("codex/resume_1.out.jsonl"), golden("codex/resume_2.out.jsonl"));
    let total = counted(By::Agent, &[&first, &second]).total;
    // The second says 200 tokens of input, 22 of them from the cache, and 40 of output for both.
    assert_eq!((total.tokens.input, total.tokens.cache_read, total.tokens.output), (178, 22, 40));
    assert_eq!((total.tokens.reasoning, total.turns, total.sessions.len()), (10, 2, 1));
}

#[test]
fn costs_that_count_up_over_a_session_count_what_they_grow_by() {
    let turn = |id: u32, cost: &str| {
        format!(
            "{{\"type\":\"system\",\"subtype\":\"init\",\"session_id\":\"s\",\"cwd\":\"/w\",\"model\":\"m\",\"tools\":[]}}\n{{\"type\":\"assistant\",\"session_id\":\"s\",\"message\":{{\"id\":\"m{id}\",\"role\":\"assistant\",\"model\":\"m\",\"content\":[{{\"type\":\"text\",\"text\":\"a\"}}]}}}}\n{{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,\"result\":\"a\",\"session_id\":\"s\",\"total_cost_usd\":{cost},\"usage\":{{\"input_tokens\":3,\"output_tokens\":1}}}}\n"
        )
    };
    let log = [turn(1, "0.25"), turn(2, "0.75")].concat();
    let total = counted(By::Project, &[&log]).total;
    assert_eq!((total.cost, total.unpriced, total.turns), (0.75, 0, 2));
    assert_eq!((total.tokens.input, total.tokens.output), (6, 2));
}

#[test]
fn a_price_that_is_not_known_is_counted() {
    let counter = counted(By::Model, &[&golden("claude/transcript_read.jsonl")]);
    assert!(counter.total.unpriced > 0 && counter.total.cost == 0.0);
    let table = written(&counter, Form::Table, None);
    assert!(
        table.contains("price is not known") && table.lines().next().unwrap().starts_with("model"),
        "{table}"
    );
    let csv = written(&counter, Form::Csv, None);
    assert_eq!(csv.lines().count(), 1 + counter.sums.len());
    let json: serde_json::Value = serde_json::from_str(&written(&counter, Form::Json, None)).unwrap();
    assert_eq!(json["total"]["unpriced"], counter.total.unpriced);
}

#[test]
fn tokens_that_nobody_says_are_not_none() {
    let counter = counted(By::Session, &[&golden("tricode/65cba1e-read.jsonl")]);
    assert!(counter.total.unpriced > 0 && counter.total.unpriced == counter.total.rounds);
    let table = written(&counter, Form::Table, None);
    let row: Vec<&str> = table.lines().nth(1).unwrap().split_whitespace().collect();
    assert_eq!(row[row.len() - 5..], ["?"; 5], "{table}");
}

/// A log that comes in pieces.
struct Pieces<'l>(&'l [u8], usize);

impl Read for Pieces<'_> {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        let size = self.1.min(room.len());
        self.0.read(&mut room[..size])
    }
}

#[test]
fn what_is_counted_while_a_turn_goes_on_is_what_the_whole_turn_has_used() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("golden");
    let mut counted = 0;
    for agent in ["claude", "qwen-code", "cursor", "tricode", "codex", "gemini", "opencode", "acp"] {
        let files = std::fs::read_dir(folder.join(agent)).unwrap().map(|file| file.unwrap().path());
        for path in files.filter(|path| path.extension().is_some_and(|extension| extension == "jsonl")) {
            let log = std::fs::read(&path).unwrap();
            let count = |size| {
                let mut counter = Counter::new(By::Tool, true, Prices::none()).also(By::Model);
                counter.log(Joined::alone(Pieces(&log, size), Source::Auto, "log"), "log").ok()?;
                let plain = |sums: &BTreeMap<String, Sum>| sums.iter().map(|(name, sum)| (name.clone(), uncalled(sum))).collect::<Vec<_>>();
                Some((counter.ways().map(|(_, sums)| plain(sums)).collect::<Vec<_>>(), uncalled(&counter.total)))
            };
            let whole = count(usize::MAX);
            assert_eq!(count(16), whole, "{}", path.display());
            // With all that the turns hold.
            let mut counter = Counter::new(By::Tool, true, Prices::none());
            let mut log = turns(&*log, Source::Auto);
            let agent = log.format().ok().flatten().map_or("", |format| format.dialect.name());
            for turn in log.flatten() {
                counter.turn(&turn, agent, "log");
            }
            assert!(
                whole.as_ref().is_none_or(|(_, total)| *total == uncalled(&counter.total)),
                "{}",
                path.display()
            );
            counted += usize::from(whole.is_some());
        }
    }
    assert!(counted > 200, "{counted} logs were counted");
}

/// A sum without the numbers of its sessions, which each counter makes up.
fn uncalled(sum: &Sum) -> (usize, Sum) {
    let mut sum = sum.clone();
    let sessions = std::mem::take(&mut sum.sessions).len();
    (sessions, sum)
}

#[test]
fn several_ways_count_as_each_alone() {
    let log = golden("claude/transcript_parallel.jsonl");
    let mut both = Counter::new(By::Model, true, Prices::none()).also(By::Tool);
    both.log(Joined::alone(log.as_bytes(), Source::Auto, "log"), "log").unwrap();
    for (by, sums) in both.ways() {
        // Sessions are told apart by numbers that each counter makes up.
        let plain = |sums: &BTreeMap<String, Sum>| sums.iter().map(|(name, sum)| (name.clone(), sum.calls, sum.tokens)).collect::<Vec<_>>();
        let alone = counted(by, &[&log]);
        assert!(!sums.is_empty());
        assert_eq!(plain(sums), plain(alone.sums().0));
    }
}

#[test]
fn what_replies_have_cost_is_what_their_turn_has() {
    let total = counted(By::Session, &[&golden("opencode/export_parallel.json")]).total;
    assert_eq!((total.cost, total.unpriced, total.rounds), (0.000_283, 0, 2));
    let total = counted(By::Session, &[&golden("opencode/read.out.jsonl")]).total;
    assert_eq!((total.cost, total.unpriced), (0.000_283, 0));
    // One that costs nothing is one whose price the program does not know.
    let unknown = golden("opencode/read.out.jsonl").replace("\"cost\":0.", "\"cost\":0,\"was\":0.");
    assert!(counted(By::Session, &[&unknown]).total.unpriced > 0);
}

#[test]
fn what_was_thought_counts_as_written() {
    for name in ["gemini/chat_parallel.jsonl", "gemini/agent.out.jsonl"] {
        let log = golden(name);
        let total = counted(By::Session, &[&log]).total.tokens;
        assert!(total.reasoning > 0 && total.output > total.reasoning, "{name}: {total:?}");
    }
    let log = golden("claude/cli_think.out.jsonl").replace("\"thinking_tokens\":0", "\"thinking_tokens\":7");
    assert_eq!(counted(By::Session, &[&log]).total.tokens.reasoning, 7);
}

/// A turn is not held for a call whose result never comes, and one that comes late is counted once.
#[test]
fn a_call_without_a_result_holds_nothing() {
    let call = |n: u32| {
        format!(
            r#"{{"type":"assistant","message":{{"id":"m{n}","role":"assistant","model":"m","content":[{{"type":"tool_use","id":"t{n}","name":"Bash","input":{{}}}}],"usage":{{"input_tokens":3,"output_tokens":2}}}},"session_id":"s"}}"#
        )
    };
    let result = |n: u32, is_error: bool| {
        format!(
            r#"{{"type":"user","message":{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"t{n}","content":"a","is_error":{is_error}}}]}},"session_id":"s"}}"#
        )
    };
    let mut lines = vec![
        r#"{"type":"system","subtype":"init","session_id":"s","cwd":"/w","model":"m","tools":[],"claude_code_version":"2.1.0"}"#.to_owned(),
        call(0),
        call(1),
    ];
    for n in 2..1000 {
        lines.extend([call(n), result(n, false)]);
    }
    // That of the first never does.
    lines.push(result(1, true));
    let log = lines.join("\n") + "\n";
    let mut turns = Joined::alone(log.as_bytes(), Source::Auto, "log");
    let (mut work, mut seen, mut most) = (Work::default(), Seen::default(), 0);
    while let Some(step) = turns.step() {
        match step.unwrap() {
            Some(turn) => work.end(&turn, &mut seen),
            None => {
                if let Some(turn) = turns.going_on() {
                    work.settle(turn, &mut seen);
                    most = most.max(turn.thread.rounds.len());
                }
            }
        }
    }
    assert!(most < 600, "{most} replies were held");
    let total = counted(By::Tool, &[&log]);
    let bash = &total.sums().0["Bash"];
    assert_eq!(
        (bash.calls, bash.failed, total.total.rounds, total.total.tokens.input),
        (1000, 1, 1000, 3000)
    );
}

#[test]
fn numbers_that_are_too_large_stop_nothing() {
    let reply = |n: u32| {
        format!(
            r#"{{"type":"assistant","message":{{"id":"m{n}","role":"assistant","model":"m","content":[{{"type":"text","text":"a"}}],"usage":{{"input_tokens":18446744073709551615,"output_tokens":2}}}},"session_id":"s"}}"#
        )
    };
    let log = [
        r#"{"type":"system","subtype":"init","session_id":"s","cwd":"/w","model":"m","tools":[],"claude_code_version":"2.1.0"}"#.to_owned(),
        reply(1),
        reply(2),
        r#"{"type":"result","subtype":"success","is_error":false,"result":"a","total_cost_usd":1e999,"session_id":"s"}"#.to_owned(),
    ]
    .join("\n");
    let total = counted(By::Session, &[&log]).total;
    assert_eq!((total.tokens.input, total.tokens.output), (u64::MAX, 4));
    // No sum has room for such a cost: it is not known.
    assert!(total.cost == 0.0 && total.unpriced > 0, "{} {}", total.cost, total.unpriced);
}
