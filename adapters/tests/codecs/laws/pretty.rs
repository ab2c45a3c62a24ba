//! A `json` log says the same however it is laid out, and what is written of it stays on its lines.

use crate::common::json::Json;
use crate::common::{Log, Wrongs, convert, format, goldens, parallel, parting, stream_goldens, streaming, verbatim, with_ledger};

/// The lines of a log as the elements of an array.
fn array(log: &Log) -> Option<String> {
    let text = std::str::from_utf8(&log.bytes).ok()?;
    let lines: Vec<&str> = text.split('\n').map(str::trim).filter(|line| !line.is_empty()).collect();
    let sound = lines.iter().all(|line| line.starts_with('{') && Json::read(line).is_some());
    sound.then(|| format!("[{}]", lines.join(",")))
}

/// The same with line feeds and indents between all tokens.
fn laid_out(json: &str, feed: &str) -> String {
    let mut pretty = String::new();
    let (mut in_string, mut escaped) = (false, false);
    for c in json.chars() {
        match c {
            _ if escaped => escaped = false,
            '\\' if in_string => escaped = true,
            '"' => in_string = !in_string,
            '}' | ']' | ':' if !in_string => pretty.push_str(feed),
            _ => {}
        }
        pretty.push(c);
        if !in_string && matches!(c, '{' | '[' | ',' | ':') {
            pretty.push_str(feed);
        }
    }
    pretty
}

#[test]
fn a_log_says_the_same() {
    let over = |log: &Log, wrongs: &mut Wrongs| {
        let from = format(&format!("{}:json", log.format.dialect.name()));
        let Some(compact) = array(log) else { return };
        for to in streaming() {
            let options = with_ledger(verbatim(from, to));
            let wanted = convert(&options, compact.as_bytes());
            for feed in ["\n  ", "\r\n\t"] {
                wrongs.check();
                let found = convert(&options, laid_out(&compact, feed).as_bytes());
                if wanted.out != found.out {
                    wrongs.add(format!("{from} -> {to}"), format!("{}: {}", log.name, parting(&wanted.out, &found.out)));
                }
                if wanted.ledger != found.ledger || wanted.damage != found.damage {
                    wrongs.add(format!("{from} -> {to}"), format!("{}: another ledger", log.name));
                }
            }
        }
    };
    let logs: Vec<Log> = stream_goldens()
        .into_iter()
        .filter(|log| matches!(log.format.dialect.name(), "claude" | "qwen-code") && log.bytes.len() < 40_000)
        .collect();
    parallel(&logs, over).finish("layout");
}

/// Without the blanks between tokens, which go where a value is put on one line.
fn squeezed(out: &[u8]) -> String {
    String::from_utf8_lossy(out).replace(' ', "")
}

/// The same without ids and the places in the log from which those are counted that are made up of later sessions.
fn without_ids(out: &[u8]) -> String {
    let is_id = |word: &str| word.len() >= 20 && word.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
    let squeezed = squeezed(out);
    let words: Vec<&str> = squeezed.split(['"', '_']).collect();
    let stays = |n: &usize| !is_id(words[*n]) && (*n == 0 || words[n - 1] != "at");
    (0..words.len()).filter(stays).map(|n| words[n]).collect()
}

/// People keep the lines of a log in one array, whatever wrote them.
#[test]
fn lines_kept_in_an_array_are_read() {
    let over = |log: &Log, wrongs: &mut Wrongs| {
        let Some(array) = array(log) else { return };
        let spread = array.replacen('[', "[\n", 1) + "\n";
        let each = |log: &Log| String::from_utf8_lossy(&log.bytes).replace("\n{", "\n{\n").replacen('{', "{\n", 1);
        for to in [format("claude"), format("agentglot")] {
            if to == log.format {
                continue;
            }
            let options = verbatim(log.format, to);
            let wanted = convert(&options, &log.bytes);
            for form in [&array, &spread, &each(log)] {
                wrongs.check();
                let found = convert(&options, form.as_bytes());
                if without_ids(&wanted.out) != without_ids(&found.out) || wanted.damage.len() != found.damage.len() {
                    wrongs.add(
                        format!("{} -> {to}", log.format),
                        format!("{}: {}", log.name, parting(&wanted.out, &found.out)),
                    );
                }
            }
        }
    };
    let logs: Vec<Log> = goldens()
        .into_iter()
        .filter(|log| log.format.is_streaming() && !log.hostile && log.bytes.len() < 8_000)
        .collect();
    parallel(&logs, over).finish("array");
}
