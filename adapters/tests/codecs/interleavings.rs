//! Parallel tool calls: in whatever order their pieces, their ends and their results come, no call gets another's arguments,
//! and ids, names and order stay.

use std::collections::BTreeSet;
use std::hash::{Hash, Hasher};
use std::sync::Mutex;

use agentglot_adapters::raw::codec::{Dialect, Format};

use crate::common::read::{Item, read};
use crate::common::{Wrongs, convert, format, parallel, short, streaming, verbatim};

/// A call's arguments in pieces, none of which is JSON on its own, and which share beginnings with those of other calls.
fn parts(call: usize, count: usize) -> Vec<String> {
    let body = format!(
        "{{\"call\":{call},\"same\":\"part of all\",\"own\":\"\\\"{}\\u00e9\"}}",
        "abcd".repeat(call + 1)
    );
    let size = body.len().div_ceil(count);
    let mut parts: Vec<String> = Vec::new();
    for c in body.chars() {
        if parts.last().is_none_or(|p| p.len() >= size) {
            parts.push(String::new());
        }
        parts.last_mut().expect("one was pushed").push(c);
    }
    parts
}

fn id(call: usize) -> String {
    format!("call_{call}_id")
}

fn name(call: usize) -> String {
    format!("Weave{call}")
}

/// All orders in which `calls` sequences of `steps` steps can be mixed, each sequence in its own order and the first steps in
/// the order of the calls.
fn orders(calls: usize, steps: usize) -> Vec<Vec<usize>> {
    fn go(left: &mut [usize], steps: usize, order: &mut Vec<usize>, all: &mut Vec<Vec<usize>>) {
        if left.iter().all(|n| *n == 0) {
            return all.push(order.clone());
        }
        for call in 0..left.len() {
            let begins_late = left[call] == steps && left[..call].contains(&steps);
            if left[call] > 0 && !begins_late {
                left[call] -= 1;
                order.push(call);
                go(left, steps, order, all);
                order.pop();
                left[call] += 1;
            }
        }
    }
    let mut all = Vec::new();
    go(&mut vec![steps; calls], steps, &mut Vec::new(), &mut all);
    all
}

/// Chunks of the RFC: the first step of a call names it, the others bring arguments.
fn chunks(order: &[usize], calls: usize, steps: usize, results: &[usize]) -> String {
    let line = |delta: &str, finish: &str| {
        let choice = format!("{{\"index\":0,\"delta\":{delta},\"finish_reason\":{finish}}}");
        format!("{{\"id\":\"chatcmpl-s\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"m\",\"choices\":[{choice}]}}\n")
    };
    let mut log = line("{\"role\":\"assistant\"}", "null");
    let mut next: Vec<std::vec::IntoIter<String>> = (0..calls).map(|call| parts(call, steps - 1).into_iter()).collect();
    let mut begun = vec![false; calls];
    for &call in order {
        let function = if std::mem::replace(&mut begun[call], true) {
            format!(
                "\"function\":{{\"arguments\":{}}}",
                crate::common::json::quoted(&next[call].next().expect("a piece for each step"))
            )
        } else {
            format!(
                "\"id\":\"{}\",\"type\":\"function\",\"function\":{{\"name\":\"{}\",\"arguments\":\"\"}}",
                id(call),
                name(call)
            )
        };
        log += &line(&format!("{{\"tool_calls\":[{{\"index\":{call},{function}}}]}}"), "null");
    }
    log += &line("{}", "\"tool_calls\"");
    for &call in results {
        let display = format!(
            "\"type\":\"x-qwen-tool-display\",\"tool_call_id\":\"{}\",\"status\":\"success\"",
            id(call)
        );
        log += &line(
            &format!("{{\"annotations\":[{{{display},\"result_display\":{{\"kind\":\"string\",\"text\":\"result {call}\"}}}}]}}"),
            "null",
        );
    }
    log
}

/// Content blocks of Anthropic's stream, several open at once: a block's first step starts it, the last one stops it.
fn blocks(order: &[usize], calls: usize, steps: usize, results: &[usize], snapshots: bool) -> String {
    let tail = "\"parent_tool_use_id\":null,\"session_id\":\"s\",\"uuid\":\"00000000-0000-4000-8000-000000000001\"";
    let stream = |event: &str| format!("{{\"type\":\"stream_event\",\"event\":{event},{tail}}}\n");
    let message = |content: &str| {
        format!(
            "{{\"id\":\"m\",\"type\":\"message\",\"role\":\"assistant\",\"model\":\"k\",\"content\":[{content}],\"stop_reason\":null,\"usage\":{{\"input_tokens\":1,\"output_tokens\":1}}}}"
        )
    };
    let head = |call: usize, input: &str| {
        format!(
            "{{\"type\":\"tool_use\",\"id\":\"{}\",\"name\":\"{}\",\"input\":{input}}}",
            id(call),
            name(call)
        )
    };
    let mut log = stream(&format!("{{\"type\":\"message_start\",\"message\":{}}}", message("")));
    let mut next: Vec<std::vec::IntoIter<String>> = (0..calls).map(|call| parts(call, steps - 2).into_iter()).collect();
    let mut done = vec![0; calls];
    for &call in order {
        if done[call] == 0 {
            log += &stream(&format!(
                "{{\"type\":\"content_block_start\",\"index\":{call},\"content_block\":{}}}",
                head(call, "{}")
            ));
        } else if let Some(piece) = next[call].next() {
            let delta = format!(
                "{{\"type\":\"input_json_delta\",\"partial_json\":{}}}",
                crate::common::json::quoted(&piece)
            );
            log += &stream(&format!("{{\"type\":\"content_block_delta\",\"index\":{call},\"delta\":{delta}}}"));
        } else {
            if snapshots {
                let whole = message(&head(call, &parts(call, 1)[0]));
                log += &format!("{{\"type\":\"assistant\",\"message\":{whole},{tail}}}\n");
            }
            log += &stream(&format!("{{\"type\":\"content_block_stop\",\"index\":{call}}}"));
        }
        done[call] += 1;
    }
    log += &stream("{\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"tool_use\"},\"usage\":{\"output_tokens\":5}}");
    log += &stream("{\"type\":\"message_stop\"}");
    for &call in results {
        let block = format!(
            "{{\"tool_use_id\":\"{}\",\"type\":\"tool_result\",\"content\":\"result {call}\"}}",
            id(call)
        );
        log += &format!("{{\"type\":\"user\",\"message\":{{\"role\":\"user\",\"content\":[{block}]}},{tail}}}\n");
    }
    log
}

/// What must come out: the calls in the order in which they ended where the source ends each on its own, else in that of
/// their beginning; the results in theirs.
fn check(group: &str, from: Format, to: Format, log: &str, calls: &[usize], results: &[usize], wrongs: &mut Wrongs) {
    wrongs.check();
    let out = convert(&verbatim(from, to), log.as_bytes()).out;
    // Most orders give one and the same output, which is looked at once.
    static SEEN: Mutex<BTreeSet<u64>> = Mutex::new(BTreeSet::new());
    let seen = || SEEN.lock().expect("no test panics while it holds it");
    let mut hasher = std::hash::DefaultHasher::new();
    (&out, calls, results, to).hash(&mut hasher);
    let hash = hasher.finish();
    if seen().contains(&hash) {
        return;
    }
    let items = read(to, &out);
    let input = |call: usize| crate::common::read::arguments(&parts(call, 1)[0]);
    let mut found: Vec<(String, String, String)> = Vec::new();
    let mut answered: Vec<(String, Option<String>)> = Vec::new();
    for item in items {
        match item {
            Item::Call { id, name, input } => found.push((id, name, input)),
            Item::Result { id, ok: true, text } => answered.push((id, text)),
            _ => {}
        }
    }
    let mut wanted: Vec<(String, String, String)> = calls.iter().map(|&call| (id(call), name(call), input(call))).collect();
    let mut replies: Vec<(String, Option<String>)> = results.iter().map(|&call| (id(call), Some(format!("result {call}")))).collect();
    if to.dialect == Dialect::Tricode {
        // Calls go out in the order of the reply, each with its result, and are known by their place alone.
        let place = |at: usize| (at + 1).to_string();
        wanted = calls.iter().enumerate().map(|(at, &call)| (place(at), name(call), input(call))).collect();
        replies = calls
            .iter()
            .enumerate()
            .map(|(at, &call)| (place(at), Some(format!("result {call}"))))
            .collect();
    }
    if to == format("codex") {
        // Calls are numbered as they come.
        let place = |wanted: usize| calls.iter().position(|call| *call == wanted).map_or(0, |at| at + 1).to_string();
        wanted.iter_mut().zip(calls).for_each(|(item, &call)| item.0 = place(call));
        replies.iter_mut().zip(results).for_each(|(item, &call)| item.0 = place(call));
    }
    if to.dialect == Dialect::Opencode {
        // A call stands in one line with its result; one without a result comes at the end.
        let place = |id: &String| replies.iter().position(|reply| reply.0 == *id).unwrap_or(usize::MAX);
        wanted.sort_by_key(|(id, ..)| place(id));
    }
    if to.dialect == Dialect::Agentglot {
        // Events are as the source has them: each call where it ends.
        found.sort();
    }
    if to.dialect == Dialect::Cursor {
        replies.iter_mut().for_each(|r| r.1 = None);
    }
    if found != wanted {
        wrongs.add(
            format!("{group} {from} -> {to}"),
            short(&format!("calls {found:?}\n      instead of {wanted:?}\n{log}"), 3000),
        );
    } else if answered != replies {
        wrongs.add(
            format!("{group} {from} -> {to}"),
            short(&format!("results {answered:?}\n      instead of {replies:?}\n{log}"), 3000),
        );
    } else {
        seen().insert(hash);
    }
}

/// All targets for all orders of one shape.
fn all(group: &str, from: &str, calls: usize, steps: usize, tell: impl Fn(&[usize]) -> String + Sync) -> Wrongs {
    let from = format(from);
    let orders = orders(calls, steps);
    let results: Vec<usize> = (0..calls).collect();
    parallel(&orders, |order, wrongs| {
        let log = tell(order);
        for to in streaming().into_iter().filter(|to| *to != from) {
            check(group, from, to, &log, &results, &results, wrongs);
        }
    })
}

#[test]
fn orders_are_complete() {
    // (calls·steps)! / (steps!)^calls / calls!
    assert_eq!(orders(2, 2).len(), 3);
    assert_eq!(orders(3, 3).len(), 280);
    assert_eq!(orders(4, 2).len(), 105);
    assert_eq!(orders(4, 3).len(), 15_400);
}

#[test]
fn of_chunks() {
    let mut wrongs = Wrongs::default();
    for (calls, steps) in [(1, 3), (2, 5), (3, 3), (4, 3)] {
        let results: Vec<usize> = (0..calls).collect();
        wrongs.extend(all("chunks", "qwen:stream-chunk-json", calls, steps, |order| {
            chunks(order, calls, steps, &results)
        }));
    }
    wrongs.finish("parallel calls");
}

#[test]
fn of_content_blocks() {
    let mut wrongs = Wrongs::default();
    for (calls, steps) in [(1, 4), (2, 5), (3, 4), (4, 3)] {
        let results: Vec<usize> = (0..calls).collect();
        for from in ["claude", "qwen-code"] {
            wrongs.extend(all("blocks", from, calls, steps, |order| blocks(order, calls, steps, &results, false)));
        }
    }
    wrongs.finish("parallel calls");
}

/// The same with a whole message for each block as it ends: the order of the messages is that of the calls.
#[test]
fn of_content_blocks_with_messages() {
    let from = format("claude");
    let mut wrongs = Wrongs::default();
    for (calls, steps) in [(2, 5), (3, 4)] {
        let orders = orders(calls, steps);
        wrongs.extend(parallel(&orders, |order, wrongs| {
            let results: Vec<usize> = (0..calls).collect();
            let log = blocks(order, calls, steps, &results, true);
            let mut ended: Vec<usize> = results.clone();
            ended.sort_by_key(|call| order.iter().rposition(|c| c == call));
            for to in streaming().into_iter().filter(|to| *to != from && to.dialect != Dialect::Agentglot) {
                check("messages", from, to, &log, &ended, &results, wrongs);
            }
        }));
    }
    wrongs.finish("parallel calls");
}

/// Results in every order, and in the middle of things.
#[test]
fn of_results() {
    let orders: Vec<Vec<usize>> = orders(4, 1).into_iter().chain(permutations(4)).collect();
    let over = |results: &Vec<usize>, wrongs: &mut Wrongs| {
        let calls: Vec<usize> = (0..4).collect();
        let order: Vec<usize> = [0, 1, 2, 3, 3, 1, 0, 2, 2, 0, 1, 3].to_vec();
        for (from, log) in [
            ("qwen:stream-chunk-json", chunks(&order, 4, 3, results)),
            ("claude", blocks(&order, 4, 3, results, false)),
        ] {
            for to in streaming().into_iter().filter(|to| *to != format(from)) {
                check("results", format(from), to, &log, &calls, results, wrongs);
            }
        }
    };
    parallel(&orders, over).finish("parallel calls");
}

fn permutations(n: usize) -> Vec<Vec<usize>> {
    let mut all = vec![Vec::new()];
    for _ in 0..n {
        all = all
            .into_iter()
            .flat_map(|p: Vec<usize>| {
                (0..n)
                    .filter(|x| !p.contains(x))
                    .map(|x| [p.clone(), vec![x]].concat())
                    .collect::<Vec<_>>()
            })
            .collect();
    }
    all
}
