//! What the real programs wrote, again and again: the recordings of `golden/` one after the other, and in each round with ids of its own.
//!
//! Short sessions of several versions, few lines of which come often: what the logs of people are like.

use std::io::{self, Write};
use std::path::Path;

use agentglot_adapters::detect::{Answer, Detector};
use agentglot_adapters::raw::codec::Format;

use super::Plan;
use super::rng::Rng;

/// Writes the recordings of a format, as `--from` names it, until there are as many bytes as wanted.
pub(super) fn write(format: &str, plan: Plan, out: &mut impl Write) -> io::Result<()> {
    let logs = logs(format)?;
    let (mut written, mut told) = (0, Vec::new());
    for round in 0.. {
        for log in &logs {
            told.clear();
            with_new_ids(log, plan.seed, round, &mut told);
            out.write_all(&told)?;
            written += told.len() as u64;
            if written >= plan.bytes {
                return Ok(());
            }
        }
    }
    Ok(())
}

/// The lines that the agents wrote. Each log ends with a line feed.
fn logs(format: &str) -> io::Result<Vec<Vec<u8>>> {
    let (dialect, mode) = format.split_once(':').map_or((format, None), |(dialect, mode)| (dialect, Some(mode)));
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("golden").join(dialect);
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        paths.push(entry?.path());
    }
    let is_log = |path: &Path| {
        let name = path.to_string_lossy();
        name.ends_with(".jsonl") && ![".in.jsonl", ".chunks.jsonl"].iter().any(|end| name.ends_with(end))
    };
    paths.retain(|path| is_log(path));
    paths.sort();
    let read = |path: &std::path::PathBuf| {
        let mut log = std::fs::read(path)?;
        if log.last().is_some_and(|&last| last != b'\n') {
            log.push(b'\n');
        }
        Ok(log)
    };
    let mut logs = paths.iter().map(read).collect::<io::Result<Vec<_>>>()?;
    // Those of the dialect's own stream are all that are no file of a session.
    let format: Format = format.parse().map_err(io::Error::other)?;
    logs.retain(|log| match Detector::new(false).look(log, true) {
        Answer::Found(found) if found.format.dialect == format.dialect => found.format == format,
        _ => mode.is_none(),
    });
    if logs.is_empty() {
        return Err(io::Error::other(format!("{format} has no recordings in lines")));
    }
    Ok(logs)
}

/// What stands in front of an id that is no UUID.
const MARKS: [&[u8]; 8] = [b"msg_", b"toolu_", b"call_", b"req_", b"chatcmpl-", b"Session ID: ", b"ses_", b"prt_"];

/// The digits of ids are others in each round, the same ones wherever the same id stands.
fn with_new_ids(log: &[u8], seed: u64, round: u64, out: &mut Vec<u8>) {
    let mut at = 0;
    while at < log.len() {
        let rest = &log[at..];
        let begins = at == 0 || !log[at - 1].is_ascii_alphanumeric();
        let id = if begins { id_at(rest) } else { None };
        let Some((mark, len)) = id else {
            out.push(rest[0]);
            at += 1;
            continue;
        };
        let (mark, id) = rest[..len].split_at(mark);
        out.extend_from_slice(mark);
        let mut path = vec![seed, round];
        path.extend(id.iter().map(|&byte| u64::from(byte)));
        let mut rng = Rng::at(&path);
        for &byte in id {
            out.push(match byte {
                b'0'..=b'9' => b'0' + rng.below(10) as u8,
                other => other,
            });
        }
        at += len;
    }
}

/// If `rest` begins with an id: how long its mark is, and the whole.
fn id_at(rest: &[u8]) -> Option<(usize, usize)> {
    let is_uuid = rest.len() >= 36
        && rest[..36].iter().enumerate().all(|(n, byte)| {
            if matches!(n, 8 | 13 | 18 | 23) {
                *byte == b'-'
            } else {
                byte.is_ascii_hexdigit()
            }
        });
    if is_uuid {
        return Some((0, 36));
    }
    let mark = MARKS.iter().find(|mark| rest.starts_with(mark))?.len();
    let len = rest[mark..].iter().take_while(|byte| byte.is_ascii_alphanumeric()).count();
    (len > 0).then_some((mark, mark + len))
}

#[cfg(test)]
mod tests {
    #![allow(unused_imports)]
    use super::*;

    #[test]
    fn ids_are_others_in_each_round_and_nothing_else_is() {
        let line = br#"{"id":"msg_mock000040","again":"msg_mock000040","uuid":"fec69800-372b-46e7-a1a5-548235aa844e","n":12,"text":"msg_ 1"}"#;
        let told = |round: u64| {
            let mut out = Vec::new();
            with_new_ids(line, 1, round, &mut out);
            String::from_utf8(out).expect("only digits change")
        };
        let (one, two) = (told(0), told(1));
        assert_eq!(one.len(), line.len());
        assert_ne!(one, two);
        assert!(one.ends_with(r#"","n":12,"text":"msg_ 1"}"#));
        assert_eq!(one[7..21], one[32..46]);
    }
}
