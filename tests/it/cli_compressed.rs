//! gzip and zstd: by name and by first bytes, many members and frames, cut off.

use std::io::Write;

use crate::common::{Scratch, arg, feed, log, run};

type Pack = fn(&[u8]) -> Vec<u8>;

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn zstandard(bytes: &[u8]) -> Vec<u8> {
    zstd::encode_all(bytes, 3).unwrap()
}

#[test]
fn compressed_logs_are_unpacked() {
    let scratch = Scratch::new();
    let text = log("s-1", "Good day.");
    let (first, second) = text.split_at(text.find('\n').unwrap() + 1);
    let plain = feed(["convert", "--to", "tricode"], text.as_bytes()).out;
    for (ending, pack) in [("gz", gzip as Pack), ("zst", zstandard)] {
        let one = pack(text.as_bytes());
        let several = [pack(first.as_bytes()), pack(b""), pack(second.as_bytes())].concat();
        // Zeros behind the last member are no member.
        let filled = [&one[..], &[0; 1000]].concat();
        for bytes in [&one, &several, &filled].into_iter().filter(|bytes| ending == "gz" || **bytes != filled) {
            for name in [format!("log.jsonl.{ending}"), "log.jsonl".to_owned()] {
                let path = scratch.file(&name, bytes);
                let ran = run(["convert", "--to", "tricode", arg(&path)]);
                assert_eq!((ran.code, &ran.out), (0, &plain), "{name}: {}", ran.err);
            }
            assert_eq!(feed(["convert", "--to", "tricode", "-"], bytes).out, plain, "{ending} on stdin");
        }
        let folder = scratch.path(ending);
        let path = scratch.file(&format!("log.jsonl.{ending}"), &one);
        assert_eq!(
            run(["convert", "--to", "tricode", "-o", &format!("{}/", arg(&folder)), arg(&path)]).code,
            0
        );
        assert_eq!(scratch.names(ending), ["log.tricode.jsonl"]);
        assert_eq!(run(["check", arg(&path)]).code, 0);
    }
}

#[test]
fn what_was_cut_off_is_converted_as_far_as_it_goes() {
    let scratch = Scratch::new();
    let many: String = (0..400).map(|n| log(&format!("session-{n}"), &format!("Answer {n}."))).collect();
    for (ending, whole) in [("gz", gzip(many.as_bytes())), ("zst", zstandard(many.as_bytes()))] {
        let path = scratch.file(&format!("cut.{ending}"), &whole[..whole.len() - 7]);
        let ran = run(["convert", "--from", "claude", "--to", "tricode", arg(&path)]);
        assert_eq!(ran.code, 3, "{}", ran.err);
        assert!(
            ran.err.contains(&format!("cut.{ending}: cannot be read: it ends in the middle of what ")),
            "{}",
            ran.err
        );
        let out = scratch.path("out");
        assert_eq!(
            run(["convert", "--from", "claude", "--to", "tricode", "-o", arg(&out), arg(&path)]).code,
            3
        );
        assert!(!out.exists(), "what is not whole gets no name");
    }
    // What was read of the last turn stands before the place where it breaks off, and the turn is not taken for one that went well.
    let ran = run(["show", arg(&scratch.path("cut.gz"))]);
    let shown = ran.text();
    let (before, behind) = shown.split_once("! cannot be read: ").unwrap();
    assert!(before.contains("Answer 1.") && behind.trim().lines().count() == 1, "{shown}");
    assert!(!shown.contains("✓ no outcome"), "{shown}");
    assert!(
        run(["convert", "--from", "claude", "--to", "tricode", arg(&scratch.path("cut.gz"))])
            .text()
            .contains("Answer 1.")
    );
    // A name that promises what the file does not hold.
    let liar = scratch.file("liar.gz", log("s-1", "Good day."));
    assert_eq!(run(["convert", "--to", "tricode", arg(&liar)]).code, 3);
    let empty = scratch.file("empty.gz", "");
    assert_eq!(run(["convert", "--to", "tricode", arg(&empty)]).code, 0);
}
