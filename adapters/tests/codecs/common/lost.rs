//! The third law: every value of the input is in the output or in the ledger, and every value of the output that was not in
//! the input is in the ledger as invented. Judged without the library's own bookkeeping.

use std::collections::HashSet;

use agentglot_adapters::convert::Options;
use agentglot_adapters::convert::ToolNames;
use agentglot_adapters::raw::codec::{Dialect, Format, Layout};

use super::json::Json;
use super::leaves::{FRAGMENTS, Leaf, Part, Said, distinctive, leaves, parts};
use super::{Wrongs, convert, short, with_ledger};

/// An entry of the ledger, read back from its line.
#[derive(Clone, Debug)]
pub struct Entry {
    pub first: u64,
    pub last: u64,
    pub pointer: String,
    pub fate: String,
    pub note: String,
}

/// The entries of a ledger; a line that is no sound entry fails the test.
pub fn entries(ledger: &str) -> Vec<Entry> {
    let entry = |line: &str| {
        let json = Json::read(line).unwrap_or_else(|| panic!("a line of the ledger is no JSON: {line}"));
        let keys: Vec<&str> = json.members().iter().map(|(key, _)| key.as_str()).collect();
        let wanted: Vec<&str> = ["file", "line", "last_line", "pointer", "fate", "dialect", "note", "count"]
            .into_iter()
            .filter(|key| keys.contains(key))
            .collect();
        assert_eq!(keys, wanted, "keys of {line}");
        for key in ["file", "line", "pointer", "fate", "dialect", "note"] {
            assert!(json.get(key).is_some(), "{key} is missing in {line}");
        }
        let number = |key: &str| json.get(key).and_then(|n| n.compact().parse().ok());
        let first = number("line").unwrap_or_else(|| panic!("no line number: {line}"));
        let fate = json.str("fate").to_owned();
        assert!(
            ["dropped", "merged", "renamed", "invented", "repaired", "damaged"].contains(&fate.as_str()),
            "fate of {line}"
        );
        Entry {
            first,
            last: number("last_line").unwrap_or(first),
            pointer: json.str("pointer").to_owned(),
            fate,
            note: json.str("note").to_owned(),
        }
    };
    ledger.lines().map(entry).collect()
}

/// Values that go over in another unit, or summed up; no search for their digits can find them. The tests of the codecs
/// look at these. A target that knows no time and no numbers has to tell.
fn in_another_unit(leaf: &Leaf<'_>, to: Format) -> bool {
    let key = leaf.key.to_ascii_lowercase();
    let is = |word: &str| key.contains(word);
    let time = is("timestamp") || is("atms") || matches!(key.as_str(), "created" | "ts" | "time" | "time_ms" | "time_s");
    let number = is("token") || is("cost") || matches!(key.as_str(), "duration_ms" | "duration_api_ms" | "timeout");
    to.dialect != Dialect::Tricode && (time || number && matches!(leaf.value, Json::Number(_)))
}

/// Values of an input that say nothing but what other members of their line say.
fn said_again(from: Format, leaf: &Leaf<'_>, text: &str, said: &Said) -> bool {
    match from.dialect {
        // docs/tricode.md: the line for people is worked out of the rest (its decoder looks whether it is); the id in a sentence.
        Dialect::Tricode => {
            leaf.key == "formatted"
                || ["Session ID: ", "Resumed session "]
                    .iter()
                    .any(|start| text.strip_prefix(start).is_some_and(|id| said.has(id)))
        }
        // docs/qwen.md: the session's id in every other id.
        Dialect::Qwen => text.strip_prefix("chatcmpl-").is_some_and(|id| said.has(id)),
        // docs/agentglot.md: the place of a field.
        Dialect::Agentglot => leaf.key == "at",
        // docs/ag-ui.md: ids say what is a piece of what, and whose; rounds are steps with numbers.
        Dialect::AgUi => matches!(leaf.key, "messageId" | "toolCallId" | "entityId" | "stepName" | "subagentRunId"),
        // docs/codex.md: what is done with other agents is a word of the protocol, which `exec` spells otherwise.
        Dialect::Codex => leaf.key == "tool" && AGENT_TOOLS.contains(&text),
        // docs/opencode.md: a part says again what it is a part of.
        Dialect::Opencode => matches!(leaf.pointer.as_str(), "/part/sessionID" | "/part/messageID" | "/part/type"),
        _ => false,
    }
}

/// What the app-server of Codex does with other agents, which other formats spell `spawn_agent` or say by the name of their own tool.
const AGENT_TOOLS: [&str; 8] = [
    "spawnAgent",
    "sendInput",
    "resumeAgent",
    "closeAgent",
    "sendMessage",
    "followupTask",
    "interruptAgent",
    "listAgents",
];

/// Whether a text is said in a form that a rule of the target's page gives it.
fn has(said: &Said, to: Format, text: &str) -> bool {
    said.has(text) || is_address(said, text) || to.dialect == Dialect::Codex && (is_quoted(said, text) || is_exit(said, text))
}

/// docs/codex.md: a command is shown as the line that runs it; one with single quotes in it stands in double ones.
fn is_quoted(said: &Said, text: &str) -> bool {
    let quoted: String = text
        .chars()
        .flat_map(|letter| matches!(letter, '"' | '\\' | '$' | '`').then_some('\\').into_iter().chain([letter]))
        .collect();
    text.contains('\'') && said.has(&format!("\"{quoted}\""))
}

/// docs/tools.md: that a command failed and printed nothing is an exit code.
fn is_exit(said: &Said, text: &str) -> bool {
    let code = text.strip_prefix("Exit code ").filter(|code| code.parse::<u8>().is_ok());
    code.is_some_and(|code| said.has(code))
}

/// Values of an output that are worked out of the input by a rule of the target's page, and so cannot be found in it.
fn worked_out(from: Format, to: Format, key: &str, text: &str) -> bool {
    // docs/cursor.md: Cursor's results are typed; the text that the model sees is made of their parts.
    if from.dialect == Dialect::Cursor && matches!(key, "content" | "result" | "text" | "output" | "message" | "error") {
        return true;
    }
    match to.dialect {
        // docs/tricode.md: the line for people is made of name and arguments, or of the result.
        Dialect::Tricode => {
            let python = text.parse::<f64>().is_ok_and(|_| text.contains('.'));
            key == "formatted" || python || text.starts_with("Session ID: ") || text.starts_with("Resumed session ")
        }
        // docs/cursor.md: the result is all segments one after the other.
        Dialect::Cursor => key == "result",
        // docs/codex.md: what the model runs is shown as the line that runs it.
        Dialect::Codex => from.dialect == Dialect::Codex && key == "command" && text.starts_with("/bin/bash -lc "),
        // docs/gemini.md: tokens that the cache did not answer.
        Dialect::Gemini => key == "input",
        // docs/qwen.md: ids are made of the session's; the receipt's formats and capabilities are the library's own; a
        // subject is the first line of a thought; a diff is made of what the source has.
        Dialect::Qwen => {
            text.starts_with("chatcmpl-")
                || text.contains("########")
                || matches!(
                    key,
                    "input_format" | "output_format" | "capabilities" | "subject" | "outcome" | "diff" | "original" | "modified"
                )
        }
        // docs/agentglot.md: the header, which names the source, the places of fields, the names of notices.
        Dialect::Agentglot => matches!(key, "agentglot" | "at" | "source") || key == "name" && text.contains('/'),
        _ => false,
    }
}

/// Checks one conversion, under the name `name`.
pub fn check(name: &str, options: &Options, input: &[u8], wrongs: &mut Wrongs) {
    let done = convert(&with_ledger(options.clone()), input);
    let entries = entries(&done.ledger);
    let said = Said::of_output(&done.out, options.to);
    let is_text = options.to.mode.layout == Layout::Text;
    let native = if options.tools == ToolNames::Native { " (native)" } else { "" };
    let group = format!("lost {} -> {}{native}", options.from, options.to);
    let told = |line: u64, pointer: &str| {
        let holds = |e: &&Entry| e.first <= line && line <= e.last && e.fate != "invented";
        entries.iter().filter(holds).any(|e| {
            pointer
                .strip_prefix(e.pointer.as_str())
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        })
    };
    // What is neither said nor told on its line; and what is told on any: a value that many lines repeat is told of once.
    let mut silent: Vec<(u64, String, String)> = Vec::new();
    let mut once: HashSet<(String, String)> = HashSet::new();
    for (number, line) in (1u64..).zip(input.split(|b| *b == b'\n')) {
        let Ok(line) = std::str::from_utf8(line) else {
            wrongs.check();
            if !told(number, "") {
                wrongs.add(&group, format!("{name}:{number} is no UTF-8 and nobody says so"));
            }
            continue;
        };
        let line = line.strip_prefix('\u{feff}').unwrap_or(line);
        for part in parts(line) {
            wrongs.check();
            let value = match part {
                Part::Value(value) => value,
                Part::Text(text) => {
                    let too_deep = text.starts_with('{') && serde_json::from_str::<&serde_json::value::RawValue>(text).is_ok();
                    if !too_deep && !said.has(text) && !told(number, "") {
                        wrongs.add(&group, format!("{name}:{number} text: {}", short(text, 80)));
                    }
                    continue;
                }
            };
            let all = leaves(&value);
            let told_beside = |text: &str| all.iter().any(|other| other.value.text() == Some(text) && told(number, &other.pointer));
            let of_call = |leaf: &&Leaf<'_>| leaf.key == "type" && leaf.value.text().is_some_and(|kind| kind.starts_with("TOOL_CALL_"));
            let is_call = all.iter().any(|leaf| of_call(&leaf));
            for leaf in &all {
                let Some(text) = distinctive(leaf) else { continue };
                let text = if is_text { text.trim() } else { text };
                wrongs.check();
                if told(number, &leaf.pointer) {
                    once.insert((leaf.pointer.clone(), text.to_owned()));
                    continue;
                }
                // Arguments are objects: a text between quotes may be a piece of one.
                let is_piece = FRAGMENTS.contains(&leaf.key) || leaf.key == "delta" && is_call;
                let fragment = is_piece && !matches!(Json::read(text), Some(Json::Object(_) | Json::List(_)));
                let in_another_form = fragment || in_another_unit(leaf, options.to) || said_again(options.from, leaf, text, &said);
                if !in_another_form && !has(&said, options.to, text) && !in_parts(&said, options.to, text) && !told_beside(text) {
                    silent.push((number, leaf.pointer.clone(), text.to_owned()));
                }
            }
        }
    }
    for (number, pointer, text) in silent {
        if !once.contains(&(pointer.clone(), text.clone())) {
            wrongs.add(&group, format!("{name}:{number} {pointer} = {}", short(&text, 100)));
        }
    }
    if options.tools == ToolNames::Verbatim {
        // Arguments in pieces: what they say together, on lines that the ledger does not tell as dropped whole, or to have some that are,
        // or that another format of their program says in other words.
        let one_program = options.from.dialect == options.to.dialect;
        let dropped = |line: u64| {
            let told = |e: &Entry| match e.fate.as_str() {
                "dropped" => e.pointer.is_empty() || ["/arguments", "/partial_json", "/delta"].iter().any(|end| e.pointer.ends_with(end)),
                "renamed" => one_program && e.pointer.ends_with("/arguments"),
                _ => false,
            };
            entries.iter().any(|e| e.first <= line && line <= e.last && told(e))
        };
        let lines = (1u64..).zip(input.split_inclusive(|b| *b == b'\n'));
        let heard: Vec<&[u8]> = lines.filter(|(number, _)| !dropped(*number)).map(|(_, line)| line).collect();
        for text in Said::of(&heard.concat()).arguments() {
            let mut rest = text;
            while let Some((value, after)) = Json::first(rest) {
                for leaf in leaves(&value) {
                    if let Some(text) = distinctive(&leaf).filter(|text| !has(&said, options.to, text)) {
                        wrongs.add(&group, format!("{name}: arguments in pieces, {} = {}", leaf.pointer, short(text, 100)));
                    }
                }
                rest = after;
            }
        }
        // What stores and documents need beside what was said is looked at by their own tests.
        if options.to.is_streaming() {
            made_up(name, options, input, &done.out, &entries, wrongs);
        }
    }
}

/// Whether a text that is itself JSON, or lines, is said leaf by leaf or line by line: the RFC's `arguments` as an object,
/// a list of tools as names with blanks between them.
fn in_parts(said: &Said, to: Format, text: &str) -> bool {
    match Json::read(text) {
        Some(value @ (Json::Object(_) | Json::List(_))) => leaves(&value).iter().all(|leaf| distinctive(leaf).is_none_or(|text| has(said, to, text))),
        _ => {
            text.contains(' ')
                && !text.contains(". ")
                && text.split(' ').all(|word| !word.is_empty() && said.has(word))
                && text.split(' ').count() > 1
        }
    }
}

/// Whether a text is the address of an image, which holds the type and the data that are said.
fn is_address(said: &Said, text: &str) -> bool {
    let held = text.strip_prefix("data:").and_then(|rest| rest.split_once(";base64,"));
    held.is_some_and(|(kind, data)| said.has(kind) && said.has(data))
}

/// docs/codex.md: the app-server says of a file that a patch changes the whole path, and of a new one what is in it without the marks
/// before its lines; a patch says the path from the working folder on.
fn of_patch(options: &Options, key: &str, source: &Said, text: &str) -> bool {
    let within = options.from.dialect == Dialect::Codex && options.to.dialect == Dialect::Codex;
    within
        && match key {
            "path" => text
                .match_indices('/')
                .any(|(at, _)| at > 0 && source.has(&text[..at]) && source.has(&text[at + 1..])),
            "diff" => text.lines().all(|line| source.has(line)),
            _ => false,
        }
}

/// The other direction: what is in the output and not in the input.
fn made_up(name: &str, options: &Options, input: &[u8], out: &[u8], entries: &[Entry], wrongs: &mut Wrongs) {
    let source = Said::of(String::from_utf8_lossy(input).replace("\n\u{feff}", "\n").as_bytes());
    let pair = format!("{} -> {}", options.from, options.to);
    let invented: Vec<&str> = entries
        .iter()
        .filter(|e| matches!(e.fate.as_str(), "invented" | "repaired"))
        .map(|e| e.pointer.as_str())
        .collect();
    let mut silent: Vec<(u64, String, String)> = Vec::new();
    let mut once: HashSet<String> = HashSet::new();
    for (number, line) in (1u64..).zip(String::from_utf8_lossy(out).split('\n')) {
        let Some(value) = Json::read(line) else { continue };
        for leaf in leaves(&value) {
            let Some(text) = distinctive(&leaf) else { continue };
            wrongs.check();
            if invented
                .iter()
                .any(|p| leaf.pointer.strip_prefix(p).is_some_and(|rest| rest.is_empty() || rest.starts_with('/')))
            {
                once.insert(text.to_owned());
                continue;
            }
            let known = source.has(text)
                || worked_out(options.from, options.to, leaf.key, text)
                || in_parts(&source, options.to, text)
                || is_address(&source, text)
                || of_patch(options, leaf.key, &source, text);
            if !known && !in_another_unit(&leaf, options.to) {
                silent.push((number, leaf.pointer.clone(), text.to_owned()));
            }
        }
    }
    // An id that was made up stands in many places and is told of once.
    for (number, pointer, text) in silent.into_iter().filter(|(_, _, text)| !once.contains(text)) {
        wrongs.add(
            format!("made up {pair}"),
            format!("{name}: output line {number} {pointer} = {}", short(&text, 100)),
        );
    }
}

/// The log with a field that nobody knows at the end of every object of every line, but for the arguments of tools, which
/// stand in other lines piece by piece. The text is not written anew: spelling and order of everything else stay.
pub fn with_unknown_fields(input: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(input.len() * 2);
    for (number, line) in (1..).zip(input.split_inclusive(|b| *b == b'\n')) {
        let sound = std::str::from_utf8(line).is_ok_and(|text| text.find('{').is_some_and(|at| Json::read(&text[at..]).is_some()));
        let begin = if sound {
            line.iter().position(|b| *b == b'{').unwrap_or(0)
        } else {
            line.len()
        };
        out.extend_from_slice(&line[..begin]);
        let (mut in_string, mut escaped, mut last, mut count) = (false, false, b' ', 0);
        // For each open object or array whether it belongs to a tool's arguments; where the last string began and ended.
        let (mut open, mut string): (Vec<bool>, _) = (Vec::new(), 0..0);
        for (at, &byte) in line.iter().enumerate().skip(begin) {
            match byte {
                _ if escaped => escaped = false,
                b'\\' if in_string => escaped = true,
                b'"' => {
                    in_string = !in_string;
                    string = if in_string { at + 1..at } else { string.start..at };
                }
                _ if in_string => {}
                b'{' | b'[' => {
                    let arguments = last == b':' && matches!(&line[string.clone()], b"input" | b"arguments" | b"args");
                    open.push(arguments || open.last() == Some(&true));
                }
                b'}' | b']' if open.pop() == Some(false) && byte == b'}' => {
                    count += 1;
                    let comma = if last == b'{' { "" } else { "," };
                    out.extend_from_slice(format!("{comma}\"zz_unknown_{number}_{count}\":\"Zz value {number}.{count}\"").as_bytes());
                }
                _ => {}
            }
            if !byte.is_ascii_whitespace() {
                last = byte;
            }
            out.push(byte);
        }
    }
    out
}
