//! Law 3, one change at a time: a field that nobody knows in one object of a log, or one value of it marked. What is marked is
//! in the output, or exactly one entry of the ledger says why not.
//!
//! By default a part of all changes is tried, another for each pair; `MARKED=5` tries a fifth, and `MARKED=all` every one and tools
//! as they are besides. `FROM`, `TO` and `LOG` choose among the pairs and logs.

use std::borrow::Cow;

use agentglot_adapters::convert::{Converter, LedgerEntry, Options};
use agentglot_adapters::raw::codec::{Format, Layout};
use agentglot_adapters::raw::event::Fate;
use agentglot_adapters::raw::json::{Raw, Shape};

use crate::common::{Log, Wrongs, all_targets, parallel, plain_goldens, targets, verbatim, with_ledger};

/// As a rule one of so many changes is tried.
const USUAL: usize = 40;

/// One place of a log that is changed.
struct Spot {
    line: u64,
    pointer: String,
    /// What is exchanged, and for what.
    from: usize,
    to: usize,
    text: String,
    /// What is looked for in the output.
    mark: String,
    what: What,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum What {
    Unknown,
    Text,
    Number,
}

/// What came of a log.
struct Came {
    out: Vec<u8>,
    entries: Vec<LedgerEntry>,
}

fn came(options: &Options, input: &[u8]) -> Came {
    let mut converter = Converter::new(options.clone());
    let mut out = Vec::new();
    converter.feed(input, &mut out);
    converter.finish(&mut out);
    let entries = converter.take_entries();
    Came { out, entries }
}

/// The places of a log, one number a place.
fn spots(log: &[u8]) -> Vec<Spot> {
    let Ok(text) = std::str::from_utf8(log) else { return Vec::new() };
    let mut spots = Vec::new();
    for (number, line) in (1..).zip(text.split('\n')) {
        // What stands before an object on its line is told of the line too.
        let object = Some(line).filter(|line| line.starts_with('{'));
        if let Some(value) = object.filter(|text| serde_json::from_str::<&serde_json::value::RawValue>(text).is_ok()) {
            inside(text, Raw::trusted(value.trim_end()), number, &mut String::new(), &mut spots);
        }
    }
    spots
}

fn inside(log: &str, value: Raw<'_>, line: u64, pointer: &mut String, into: &mut Vec<Spot>) {
    let from = value.as_str().as_ptr() as usize - log.as_ptr() as usize;
    let to = from + value.as_str().len();
    let length = pointer.len();
    let n = into.len();
    match value.shape() {
        Some(Shape::Object) => {
            let mut any = false;
            for (key, member) in value.members() {
                any = true;
                // Of a name that stands twice one pointer says both.
                if value.members().filter(|(other, _)| *other == key).count() > 1 {
                    continue;
                }
                pointer.push('/');
                pointer.push_str(&key.unescape().replace('~', "~0").replace('/', "~1"));
                inside(log, member, line, pointer, into);
                pointer.truncate(length);
            }
            let n = into.len();
            let comma = if any { "," } else { "" };
            into.push(Spot {
                line,
                pointer: format!("{pointer}/x_unknown_{n}"),
                from: to - 1,
                to: to - 1,
                text: format!("{comma}\"x_unknown_{n}\":\"marker-{n}-\""),
                mark: format!("marker-{n}-"),
                what: What::Unknown,
            });
        }
        Some(Shape::Array) => {
            for (at, element) in value.elements().enumerate() {
                pointer.push_str(&format!("/{at}"));
                inside(log, element, line, pointer, into);
                pointer.truncate(length);
            }
        }
        Some(Shape::String) => into.push(Spot {
            line,
            pointer: pointer.clone(),
            from,
            to,
            text: format!("\"marker-{n}-\""),
            mark: format!("marker-{n}-"),
            what: What::Text,
        }),
        Some(Shape::Number) => {
            let fraction = if value.as_str().contains('.') { ".5" } else { "" };
            into.push(Spot {
                line,
                pointer: pointer.clone(),
                from,
                to,
                text: format!("{}{fraction}", 77_000_000 + n),
                mark: (77_000_000 + n).to_string(),
                what: What::Number,
            });
        }
        _ => {}
    }
}

fn lines(log: &[u8]) -> Vec<&str> {
    std::str::from_utf8(log).unwrap_or_default().split('\n').collect()
}

/// What is wrong with a change, if anything is.
fn wrong((to, lines): (Format, &[&str]), spot: &Spot, base: &Came, now: &Came) -> Option<(&'static str, String)> {
    let said = memchr::memmem::find(&now.out, spot.mark.as_bytes()).is_some();
    let covers = |entry: &&LedgerEntry| {
        let rest = spot.pointer.strip_prefix(entry.finding.pointer.as_str());
        entry.line <= spot.line && spot.line <= entry.last_line && rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    let of = |fates: &[Fate]| -> Vec<&LedgerEntry> {
        let told = now.entries.iter().filter(covers);
        told.filter(|entry| fates.contains(&entry.finding.fate)).collect()
    };
    // What is told of a text that came in pieces is told of their lines.
    let elsewhere = |entry: &&LedgerEntry| !entry.finding.note.contains("on lines before this one");
    let show = |list: &[&LedgerEntry]| {
        let entry = |entry: &&LedgerEntry| format!("{:?} {:?} {}", entry.finding.fate, entry.finding.pointer, entry.finding.note);
        list.iter().map(entry).collect::<Vec<_>>().join(" + ")
    };
    let gone: Vec<&LedgerEntry> = of(&[Fate::Dropped, Fate::Damaged]).into_iter().filter(elsewhere).collect();
    let merged = of(&[Fate::Merged]);
    // A session's id names the line: for it alone none counts as carried.
    let names_the_line = matches!(
        spot.pointer.as_str(),
        "/session_id"
            | "/sessionID"
            | "/sessionId"
            | "/threadId"
            | "/thread_id"
            | "/payload/id"
            | "/properties/sessionID"
            | "/properties/info/id"
            | "/id"
            | "/params/threadId"
            | "/msg/params/threadId"
            | "/params/sessionId"
            | "/msg/params/sessionId"
    );
    // A target that counts its calls has other ids, and says so of each.
    let is_id = names_the_line
        || spot
            .pointer
            .rsplit('/')
            .next()
            .is_some_and(|key| key == "id" || ["_id", "Id", "ID"].iter().any(|end| key.ends_with(end)));
    if said && (names_the_line || !gone.is_empty() && spot.what == What::Number) {
        return None;
    }
    // What was refused is said once more at the end, wherever it is told of.
    let refused = memchr::memmem::find(&now.out, b"\"permission_denials\":[{").is_some_and(|at| {
        let once = |from: usize| memchr::memmem::find(&now.out[from..], spot.mark.as_bytes());
        once(0) == once(at).map(|found| at + found)
    });
    if said && refused && matches!(to.mode.layout, Layout::Document) {
        return None;
    }
    if said {
        return (!gone.is_empty()).then(|| ("said, and told as lost", show(&gone)));
    }
    let mut all = gone.clone();
    all.extend(&merged);
    // Text before an object on its line is told of the line as well.
    let begins = |line: u64| lines.get(line as usize - 1).is_none_or(|line| line.starts_with('{'));
    let once = |entry: &&&LedgerEntry| (entry.line..=entry.last_line).all(begins);
    let twice = all.len() > 1 || all.iter().filter(once).any(|entry| entry.count > entry.last_line - entry.line + 1);
    if twice {
        return Some(("told twice", show(&all)));
    }
    if all.is_empty() {
        // A target that says it once tells of another one so.
        // A text names no session, and one value the last.
        if names_the_line && matches!(to.mode.layout, Layout::Document | Layout::Text) {
            return None;
        }
        if is_id && of(&[Fate::Renamed]).iter().any(|entry| entry.finding.pointer == spot.pointer) {
            return None;
        }
        return match () {
            () if spot.what == What::Unknown || now.out == base.out => Some(("silent", show(&of(&[Fate::Renamed])))),
            () => None,
        };
    }
    None
}

/// Values that the law is not asked about: an index only says which block it is about; counts and costs are summed up (the tests of usage look
/// at them); a time that is none is said with the next line that names one.
fn is_beside(spot: &Spot) -> bool {
    let key = spot.pointer.rsplit('/').next().unwrap_or_default();
    spot.what != What::Unknown
        && (spot.pointer.contains("sage")
            || spot.pointer.contains("cost")
            || spot.pointer.starts_with("/tokens/")
            || spot.pointer == "/properties/time"
            || matches!(key, "index" | "timestamp" | "timestamp_ms" | "emittedAtMs" | "created"))
}

/// A subagent that nothing has begun is named by the call that is made up for it, which the line that names it may not say otherwise.
fn is_a_made_up_call(options: &Options, spot: &Spot) -> bool {
    let pair = (options.from.to_string(), options.to.to_string());
    pair.0 == "ag-ui" && pair.1 == "qwen" && spot.pointer == "/subagentRunId"
}

/// The kind of a line and the pointer without indices: what findings are grouped by.
fn group(log: &str, spot: &Spot) -> String {
    let line = log.split('\n').nth(spot.line as usize - 1).unwrap_or_default();
    let value = crate::common::json::Json::read(&line[line.find('{').unwrap_or(0)..]);
    let kind = value.as_ref().map_or(String::new(), |value| {
        let words = ["type", "subtype", "object", "event"].map(|key| value.str(key).to_owned());
        let inner = value.at(&["event", "type"]).and_then(|v| v.text()).unwrap_or_default();
        let request = value.at(&["request", "subtype"]).and_then(|v| v.text()).unwrap_or_default();
        format!(
            "{} {inner}{request}",
            words.into_iter().filter(|w| !w.is_empty()).collect::<Vec<_>>().join("/")
        )
    });
    let generic = |name: &str| match name {
        _ if !name.is_empty() && name.bytes().all(|b| b.is_ascii_digit()) => "#".to_owned(),
        _ if name.starts_with("x_unknown_") => "?".to_owned(),
        _ => name.to_owned(),
    };
    let pattern: Vec<String> = spot.pointer.split('/').map(generic).collect();
    format!("{kind} {}", pattern.join("/"))
}

fn changed<'l>(log: &'l [u8], spot: &Spot) -> Cow<'l, [u8]> {
    let mut bytes = Vec::with_capacity(log.len() + 64);
    bytes.extend_from_slice(&log[..spot.from]);
    bytes.extend_from_slice(spot.text.as_bytes());
    bytes.extend_from_slice(&log[spot.to..]);
    Cow::Owned(bytes)
}

fn share() -> usize {
    match std::env::var("MARKED").ok().as_deref() {
        Some("all") => 1,
        Some(n) => n.parse().unwrap_or(USUAL),
        None => USUAL,
    }
}

/// Values that other lines of their log say, or that are said later: the line and the pointer.
const SAID_ELSEWHERE: [(&str, u64, &str); 52] = [
    // What goes over with an outcome, an answer, a call or a run that comes later, or does not.
    ("opencode/bus_e400.jsonl", 12, "/properties/error/data/message"),
    ("qwen-code/chat_e400.jsonl", 3, "/systemPayload/uiEvent/error_message"),
    ("acp/codex_parallel.jsonl", 6, "/msg/params/modeId"),
    ("acp/codex_parallel.jsonl", 5, "/msg/result/modes/currentModeId"),
    ("acp/claude_load.jsonl", 6, "/msg/params/update/name"),
    ("acp/claude_load.jsonl", 6, "/msg/params/update/rawInput/file_path"),
    ("acp/claude_load.jsonl", 7, "/msg/params/update/toolCallId"),
    ("acp/claude_permission_allow.jsonl", 13, "/msg/params/update/_meta/claudeCode/toolName"),
    ("acp/v2_claude_parallel.jsonl", 24, "/msg/params/update/rawInput/command"),
    ("acp/v2_claude_parallel.jsonl", 27, "/msg/params/update/rawOutput"),
    ("codex/app_plain.jsonl", 4, "/result/cwd"),
    ("gemini/chat_agent.jsonl", 7, "/toolCalls/0/result/0/functionResponse/response/output"),
    ("claude/cli_agent.out.jsonl", 7, "/parent_tool_use_id"),
    // Names of which nothing else is said.
    ("opencode/think.out.jsonl", 1, "/sessionID"),
    ("opencode/think.out.jsonl", 1, "/part/messageID"),
    ("opencode/bus_edit.jsonl", 17, "/properties/info/id"),
    ("qwen/plain.chunks.jsonl", 2, "/id"),
    ("opencode/bash.out.jsonl", 2, "/part/callID"),
    ("claude/cli_agent.out.jsonl", 7, "/agent_id"),
    // What the target says in its own words, or twice.
    ("claude/ctl_mid_turn_control.out.jsonl", 16, "/errors/0"),
    ("claude/transcript_parallel.out.jsonl", 9, "/message/content/0/content"),
    ("codex/app_approval_patch_accept.jsonl", 21, "/msg/params/item/status"),
    ("gemini/chat_parallel.jsonl", 7, "/thoughts/0/subject"),
    ("gemini/chat_parallel.jsonl", 7, "/thoughts/0/description"),
    // A word that nobody knows for why a reply stopped, how a retry goes on, whether something went well.
    ("qwen/zh_spelling.jsonl", 5, "/choices/0/finish_reason"),
    ("qwen/unsupported_protocol_usage.jsonl", 1, "/choices/0/finish_reason"),
    ("qwen/fingerprint_receipt.jsonl", 6, "/metadata/stop_reason"),
    ("cursor/retry_no_result.jsonl", 4, "/subtype"),
    ("qwen/control.jsonl", 10, "/response/subtype"),
    // What a reply says of itself that says nothing else; a folder that only paths and commands say.
    ("opencode/bus_e400.jsonl", 7, "/properties/info/modelID"),
    ("cursor/deltas_2025.jsonl", 1, "/cwd"),
    ("qwen/displays.jsonl", 1, "/metadata/cwd"),
    ("qwen-code/ctl_set_permission_mode.out.jsonl", 10, "/cwd"),
    // A subagent that is only heard of by a piece of a call; an item that says its name twice.
    ("qwen-code/subagent_partial.out.jsonl", 15, "/parent_tool_use_id"),
    ("ag-ui/subagents.jsonl", 24, "/subagentRunId"),
    ("codex/search.out.jsonl", 5, "/item/id"),
    // Arguments that results decide or say, and results that calls say.
    ("cursor/read_edit.jsonl", 12, "/tool_call/editToolCall/args/x_unknown_101"),
    ("cursor/read_edit.jsonl", 14, "/tool_call/editToolCall/args/streamContent"),
    (
        "cursor/read_edit.jsonl",
        13,
        "/tool_call/editToolCall/result/success/afterFullFileContent",
    ),
    ("cursor/read_edit.jsonl", 13, "/tool_call/editToolCall/result/success/message"),
    ("gemini/edit.out.jsonl", 5, "/parameters/old_string"),
    ("acp/gemini_client_fs.jsonl", 13, "/msg/params/toolCall/content/0/oldText"),
    ("qwen-code/todo_write.out.jsonl", 3, "/message/content/0/input/todos/0/status"),
    ("qwen/displays.jsonl", 7, "/choices/0/message/annotations/0/result_display/text"),
    ("qwen/displays.jsonl", 6, "/choices/0/message/annotations/0/result_display/text"),
    // What is told later than it is said.
    ("opencode/todo.out.jsonl", 2, "/part/state/metadata/todos/0/content"),
    ("acp/v2_claude_parallel.jsonl", 19, "/msg/params/update/rawInput/x_unknown_291"),
    ("acp/qwen_parallel.jsonl", 24, "/msg/method"),
    // What is besides a command or a search where that alone has a place.
    ("acp/codex_parallel.jsonl", 17, "/msg/params/update/rawInput/cwd"),
    ("tricode/fetch_web.jsonl", 12, "/arguments/x_unknown_52"),
    // What is asked before the tokens of its round are known.
    ("codex/app_approval_shell_cancel.jsonl", 17, "/msg/params/command"),
    ("acp/claude_permission_allow.jsonl", 16, "/msg/method"),
];

#[test]
fn what_other_lines_say_is_told_once() {
    let logs = plain_goldens();
    let over = |(name, line, pointer): &(&str, u64, &str), wrongs: &mut Wrongs| {
        let log = logs.iter().find(|log| log.name == *name).unwrap_or_else(|| panic!("no golden {name}"));
        let spot = spots(&log.bytes).into_iter().find(|spot| spot.line == *line && spot.pointer == *pointer);
        let spot = spot.unwrap_or_else(|| panic!("{name}:{line} has no {pointer}"));
        for to in targets(log.format) {
            for options in [Options::new(log.format, to), verbatim(log.format, to)].map(with_ledger) {
                wrongs.check();
                let now = came(&options, &changed(&log.bytes, &spot));
                if let Some((class, why)) = wrong((to, &lines(&log.bytes)), &spot, &came(&options, &log.bytes), &now) {
                    wrongs.add(class, format!("{name}:{line} {pointer} -> {to} | {why}"));
                }
            }
        }
    };
    parallel(&SAID_ELSEWHERE, over).finish("what other lines say is told once");
}

#[test]
fn nothing_that_is_marked_is_lost() {
    let share = share();
    let pick = |name: &str, key: &str| std::env::var(name).map_or(true, |wanted| key.contains(&wanted));
    let logs: Vec<Log> = plain_goldens()
        .into_iter()
        .filter(|log| pick("FROM", &log.format.to_string()) && pick("LOG", &log.name))
        .collect();
    let mut work: Vec<(&Log, Options)> = Vec::new();
    for log in &logs {
        for to in all_targets(log.format).into_iter().filter(|to| pick("TO", &to.to_string())) {
            work.push((log, with_ledger(Options::new(log.format, to))));
            if share == 1 {
                work.push((log, with_ledger(verbatim(log.format, to))));
            }
        }
    }
    let over = |(log, options): &(&Log, Options), wrongs: &mut Wrongs| {
        let base = came(options, &log.bytes);
        let text = String::from_utf8_lossy(&log.bytes);
        let lines = lines(&log.bytes);
        let seed = log.name.len() + options.to.to_string().len();
        for spot in spots(&log.bytes)
            .into_iter()
            .enumerate()
            .filter(|(n, spot)| (n + seed) % share == 0 && !is_beside(spot) && !is_a_made_up_call(options, spot))
            .map(|(_, spot)| spot)
        {
            wrongs.check();
            let now = came(options, &changed(&log.bytes, &spot));
            if let Some((class, why)) = wrong((options.to, &lines), &spot, &base, &now) {
                let key = format!("{class}: {} -> {} | {}", options.from, options.to, group(&text, &spot));
                wrongs.add(key, format!("{}:{} {} | {why}", log.name, spot.line, spot.pointer));
            }
        }
    };
    parallel(&work, over).finish("nothing that is marked is lost");
}
