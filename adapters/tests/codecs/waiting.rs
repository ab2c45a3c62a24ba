//! Sessions of one connection that wait for each other: each is told as if it were alone, and waiting costs no more work than the lines.

use agentglot_adapters::convert::Options;

use crate::common::{Wrongs, convert, events, format};
use crate::memory::made;

/// How often a line may allocate: about ten times is usual. Where all lines that wait are looked at after each turn it is sixty times here.
const MOST: u64 = 20;

/// What a session says in so many turns, each of which waits for its outcome. The ids of its requests are those of no other session.
type Says = fn(session: usize, turns: usize) -> Vec<String>;

const OF_MANY: [(&str, Says); 3] = [
    ("acp", |s, turns| {
        let turn = |t: usize| {
            let update = |text: &str| {
                format!(
                    r#"{{"jsonrpc":"2.0","method":"session/update","params":{{"sessionId":"s{s}","update":{{"sessionUpdate":"agent_message_chunk","content":{{"type":"text","text":"{text} s{s}.{t} "}}}}}}}}"#
                )
            };
            let id = s * 1000 + t;
            [
                format!(
                    r#"{{"jsonrpc":"2.0","id":{id},"method":"session/prompt","params":{{"sessionId":"s{s}","prompt":[{{"type":"text","text":"ask s{s}.{t} "}}]}}}}"#
                ),
                update("one"),
                update("two"),
                format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"stopReason":"end_turn"}}}}"#),
            ]
        };
        (0..turns).flat_map(turn).collect()
    }),
    ("codex:app-server", |s, turns| {
        let item = |thread: &str, t: usize, item: &str| {
            format!(r#"{{"method":"item/completed","params":{{"threadId":"{thread}","turnId":"{t}","item":{item}}}}}"#)
        };
        let turn = |t: usize| {
            let id = s * 1000 + t;
            let text = |of: &str| format!(r#"{{"type":"agentMessage","id":"{of}{t}","text":"{of} s{s}.{t} "}}"#);
            let spawn = r#"{"type":"collabAgentToolCall","id":"c","tool":"spawnAgent","status":"inProgress","receiverThreadIds":[],"prompt":"look","agentsStates":{}}"#;
            [
                format!(r#"{{"id":{id},"method":"turn/start","params":{{"threadId":"s{s}","input":[{{"type":"text","text":"ask s{s}.{t} "}}]}}}}"#),
                format!(r#"{{"id":{id},"result":{{"turn":{{"id":"{t}","status":"inProgress"}}}}}}"#),
                format!(r#"{{"method":"turn/started","params":{{"threadId":"s{s}","turn":{{"id":"{t}"}}}}}}"#),
                item(&format!("s{s}"), t, &text("one")),
                item(&format!("s{s}"), t, spawn).replace("completed", "started"),
                format!(r#"{{"method":"thread/started","params":{{"thread":{{"id":"k{s}.{t}","parentThreadId":"s{s}","turns":[]}}}}}}"#),
                item(&format!("k{s}.{t}"), t, &text("two")),
                format!(r#"{{"method":"turn/completed","params":{{"threadId":"s{s}","turn":{{"id":"{t}","status":"completed"}}}}}}"#),
            ]
        };
        (0..turns).flat_map(turn).collect()
    }),
    ("opencode:bus", |s, turns| {
        let turn = |t: usize| {
            let event = |kind: &str, properties: &str| format!(r#"{{"id":"e","type":"{kind}","properties":{{{properties}}}}}"#);
            let message = |of: &str, role: &str| {
                event(
                    "message.updated",
                    &format!(r#""info":{{"id":"{role}{t}","sessionID":"{of}","role":"{role}"}}"#),
                )
            };
            let text = |of: &str, role: &str, text: &str| {
                event(
                    "message.part.updated",
                    &format!(
                        r#""part":{{"id":"{text}{t}","messageID":"{role}{t}","sessionID":"{of}","type":"text","text":"{text} s{s}.{t} ","time":{{"start":1,"end":2}}}}"#
                    ),
                )
            };
            let (main, child) = (format!("s{s}"), format!("k{s}.{t}"));
            [
                message(&main, "user"),
                text(&main, "user", "ask"),
                message(&main, "assistant"),
                text(&main, "assistant", "one"),
                event(
                    "session.created",
                    &format!(r#""info":{{"id":"{child}","parentID":"{main}","directory":"/w"}}"#),
                ),
                message(&child, "assistant"),
                text(&child, "assistant", "two"),
                event("session.idle", &format!(r#""sessionID":"{main}""#)),
            ]
        };
        (0..turns).flat_map(turn).collect()
    }),
];

/// What is said in each turn.
fn turns(from: &str, log: &[String]) -> Vec<Vec<String>> {
    let done = convert(&Options::new(format(from), events()), (log.join("\n") + "\n").as_bytes());
    let mut turns = vec![Vec::new()];
    for line in done.text().lines().filter(|line| line.starts_with(r#"{"event""#)) {
        let said = line
            .split('"')
            .filter(|part| ["ask ", "one ", "two "].iter().any(|word| part.starts_with(word)));
        let turn = turns.last_mut().expect("one was begun");
        turn.extend(said.map(str::to_owned));
        if line.starts_with(r#"{"event":"outcome""#) {
            turns.push(Vec::new());
        }
    }
    turns
}

/// However many sessions wait for each other, and however their lines are mixed: a line that waits is looked at when its turn comes, not
/// whenever another turn is over.
#[test]
fn lines_wait_for_the_turns_of_their_own_sessions() {
    let mut wrongs = Wrongs::default();
    for (from, says) in OF_MANY {
        for (sessions, count, at_once) in [(3, 3, 1), (40, 5, 3), (100, 2, 7), (60, 8, 1)] {
            wrongs.check();
            let mut left: Vec<_> = (0..sessions).map(|s| says(s, count).into_iter()).collect();
            let mut mixed = Vec::new();
            while left.iter().any(|lines| lines.len() > 0) {
                mixed.extend(left.iter_mut().flat_map(|lines| lines.take(at_once).collect::<Vec<_>>()));
            }
            let mut alone: Vec<_> = (0..sessions).flat_map(|s| turns(from, &says(s, count))).collect();
            let before = made();
            let mut told = turns(from, &mixed);
            let made = made() - before;
            told.sort();
            alone.sort();
            // Behind the last outcome stands nothing.
            told.retain(|turn| !turn.is_empty());
            alone.retain(|turn| !turn.is_empty());
            let name = || format!("{sessions} sessions, {at_once} lines at once");
            if told != alone {
                wrongs.add(format!("told {from}"), format!("{}: {told:?}", name()));
            }
            if made > MOST * mixed.len() as u64 {
                wrongs.add(
                    format!("work {from}"),
                    format!("{}: {made} allocations for {} lines", name(), mixed.len()),
                );
            }
        }
    }
    wrongs.finish("sessions that wait");
}
