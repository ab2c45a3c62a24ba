//! Bad input: what it gets on stdout, on stderr, in the ledger, and as exit code.

use crate::common::{Scratch, arg, feed, golden, log, run, session};

const TO_TRICODE: [&str; 5] = ["convert", "--from", "claude", "--to", "tricode"];
const SAME: [&str; 5] = ["convert", "--from", "claude", "--to", "claude"];

/// Converts to Tricode and to the same dialect. The answer must come through, the given lines must be named, and the same
/// dialect must give the same bytes.
fn damaged(input: &[u8], lines: &[u64]) {
    let code = i32::from(!lines.is_empty());
    let other = feed(TO_TRICODE, input);
    assert_eq!((other.damaged_lines().as_slice(), other.code), (lines, code), "{}", other.err);
    assert!(other.text().contains("\"content\": \"Good day.\""), "{}", other.text());
    let same = feed(SAME, input);
    assert!(same.out == input, "the same dialect gives the same bytes");
    assert_eq!((same.damaged_lines().as_slice(), same.code), (lines, code), "{}", same.err);
}

fn between(first: &[u8], line: &[u8]) -> Vec<u8> {
    let [init, answer, result] = session("s-1", "Good day.");
    [
        first,
        init.as_bytes(),
        b"\n",
        line,
        b"\n",
        answer.as_bytes(),
        b"\n",
        result.as_bytes(),
        b"\n",
    ]
    .concat()
}

#[test]
fn the_last_line_is_truncated() {
    let whole = log("s-1", "Good day.");
    let next = session("s-1", "More.")[1].clone();
    for cut in [1, 8, 60, next.len() - 1] {
        damaged(format!("{whole}{}", &next[..cut]).as_bytes(), &[4]);
    }
    // Without its line feed alone a line is whole.
    damaged(whole.trim_end().as_bytes(), &[]);
    let ran = feed(TO_TRICODE, format!("{whole}{}", &next[..60]).as_bytes());
    assert!(
        ran.err.contains("-:4:61: the value is cut off; the log ends in the middle of this line"),
        "{}",
        ran.err
    );
}

#[test]
fn a_document_that_unpacks_to_too_much_is_told_and_not_held() {
    let scratch = Scratch::new();
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    std::io::Write::write_all(&mut packed, b"[{\"type\":\"assistant\",\"x\":\"").unwrap();
    for _ in 0..300 {
        std::io::Write::write_all(&mut packed, &[b'x'; 1 << 20]).unwrap();
    }
    let file = scratch.file("log.json.gz", packed.finish().unwrap());
    for from in ["claude:json", "opencode:export", "claude"] {
        let ran = run(["convert", "--to", "agentglot", "--from", from, "--max-line", "1M", arg(&file)]);
        assert_eq!((ran.code, ran.out.as_slice()), (1, &b""[..]), "{from}: {}", ran.err);
        assert!(
            ran.err
                .contains(":1:1: a document of more than 1048576 bytes is over the limit (max_line)"),
            "{from}: {}",
            ran.err
        );
    }
    // Each by itself, not all that come in a row.
    let many = feed(
        ["convert", "--to", "agentglot", "--from", "claude:json", "--max-line", "1K"],
        &b"[{\"type\":\"x\"}]\n".repeat(1000),
    );
    assert!(!many.err.contains("over the limit"), "{}", many.err);
}

#[test]
fn a_name_of_a_file_forges_no_line() {
    let scratch = Scratch::new();
    let name = "x\nagentglot: all is well\n::error::a\u{1b}[2J.jsonl";
    let whole = log("s-1", "Good day.");
    let file = scratch.file(name, format!("{whole}{{\"type\":"));
    let gone = scratch.path(&format!("{name}.gone"));
    let forged = |text: &str| {
        let trimmed = text.lines().map(str::trim_start);
        trimmed
            .filter(|line| line.starts_with("::") || line.starts_with("agentglot: all"))
            .count()
            + text.matches('\u{1b}').count()
    };
    for (args, code) in [
        (vec!["convert", "--to", "tricode"], 1),
        (vec!["check"], 1),
        (vec!["check", "--json"], 1),
        (vec!["stats"], 1),
        (vec!["show"], 1),
    ] {
        for (path, code) in [(&file, code), (&gone, 2)] {
            let ran = run(args.iter().map(std::ffi::OsStr::new).chain([path.as_os_str()]));
            assert!(
                ran.code == code || args[0] == "show" || path == &gone,
                "{args:?}: {} {}",
                ran.code,
                ran.err
            );
            assert!(
                ran.err.contains("all is well") || ran.text().contains("all is well") || args[0] == "show",
                "{args:?}: {}",
                ran.err
            );
            // What a page shows has lines of its own.
            let shown = if args[0] == "show" { "" } else { ran.text() };
            assert_eq!(forged(&ran.err) + forged(shown), 0, "{args:?}: {}{}", ran.err, ran.text());
            assert!(!ran.text().contains('\u{1b}'), "{args:?}: {}", ran.text());
        }
    }
}

#[test]
fn a_turn_that_was_cut_off_gets_a_made_up_outcome() {
    let [init, answer, _] = session("s-1", "Good day.");
    let ran = feed(
        ["convert", "--from", "claude", "--to", "cursor"],
        format!("{init}\n{answer}\n{{\"type\":\"res").as_bytes(),
    );
    assert_eq!(ran.code, 1);
    assert!(ran.text().contains("Good day."), "{}", ran.text());
    let ran = feed(["convert", "--from", "claude", "--to", "qwen"], format!("{init}\n{answer}\n").as_bytes());
    assert_eq!(ran.code, 0, "a missing outcome is no damage: {}", ran.err);
    assert!(ran.text().contains("\"synthetic\":\"true\""), "{}", ran.text());
}

#[test]
fn bytes_that_are_no_utf8() {
    damaged(&between(b"", b"{\"type\":\"user\xff\"}"), &[2]);
    damaged(&between(b"", b"\xc3"), &[2]);
    let ran = feed(TO_TRICODE, &between(b"", b"{\"type\":\"user\xff\"}"));
    assert!(ran.err.contains("-:2:14: invalid UTF-8"), "{}", ran.err);
}

#[test]
fn nul_bytes() {
    damaged(&between(b"", b"{\"type\":\"system\",\"subtype\":\"x\0\"}"), &[2]);
    damaged(&between(b"", b"\0\0\0"), &[]);
}

#[test]
fn marks_line_ends_and_blank_lines() {
    damaged(&between(b"\xef\xbb\xbf", b""), &[]);
    damaged(&between(b"\n \n\r\n", b"\t"), &[]);
    damaged(log("s-1", "Good day.").replace('\n', "\r\n").as_bytes(), &[]);
}

#[test]
fn two_objects_on_one_line_and_text_between_lines() {
    damaged(session("s-1", "Good day.").concat().as_bytes(), &[]);
    damaged(&between(b"npm warn deprecated\n", b"(node:7) Warning: [x] {y}"), &[]);
    damaged(format!("{} {{\"type\":\"broken", log("s-1", "Good day.").trim_end()).as_bytes(), &[3]);
}

#[test]
fn arrays_scalars_and_unknown_types() {
    for line in [
        "[1,2,[]]",
        "[]",
        "42",
        "-1.5e300",
        "\"text\"",
        "null",
        "true",
        "{}",
        "{\"type\":\"wibble\",\"x\":1}",
        "{\"x\":1}",
    ] {
        damaged(&between(b"", line.as_bytes()), &[]);
    }
    // What does not begin like an object is text: log lines begin with brackets too.
    damaged(&between(b"", b"[1,2"), &[]);
    damaged(&between(b"", b"[12:00:01] started"), &[]);
}

#[test]
fn fields_of_the_wrong_type_or_missing() {
    for line in [
        r#"{"type":"assistant","message":7,"session_id":"s-1"}"#,
        r#"{"type":"assistant","session_id":"s-1"}"#,
    ] {
        damaged(&between(b"", line.as_bytes()), &[2]);
    }
    // What is not needed may be of any type.
    let [_, answer, _] = session("s-1", "Good day.");
    damaged(
        &between(
            b"",
            answer
                .replace("\"parent_tool_use_id\":null", "\"timestamp\":[7]")
                .replace("Good day.", "One.")
                .as_bytes(),
        ),
        &[],
    );
}

#[test]
fn duplicate_keys_lone_surrogates_and_huge_numbers() {
    let [_, answer, _] = session("s-1", "One.");
    damaged(
        &between(b"", answer.replacen("{\"type\"", "{\"zz\":1,\"zz\":2,\"type\"", 1).as_bytes()),
        &[],
    );
    damaged(&between(b"", answer.replace("One.", "\\ud83d and \\udc00").as_bytes()), &[]);
    let ran = feed(TO_TRICODE, log("s-1", "Good \\ud83d day.").as_bytes());
    assert!(ran.text().contains("\"content\": \"Good \\ud83d day.\""), "{}", ran.text());
    damaged(
        &between(b"", answer.replace("\"input_tokens\":3", "\"input_tokens\":1e400").as_bytes()),
        &[],
    );
    damaged(
        &between(
            b"",
            answer
                .replace("\"input_tokens\":3", "\"input_tokens\":123456789012345678901234567890")
                .as_bytes(),
        ),
        &[],
    );
}

#[test]
fn nesting_a_hundred_thousand_deep() {
    let deep = |open: &str, close: &str| format!("{}1{}", open.repeat(100_000), close.repeat(100_000));
    let [_, answer, _] = session("s-1", "One.");
    for value in [deep("[", "]"), deep("{\"a\":", "}")] {
        damaged(
            &between(b"", answer.replacen("{\"type\"", &format!("{{\"zz\":{value},\"type\""), 1).as_bytes()),
            &[],
        );
        damaged(&between(b"", value.as_bytes()), &[]);
    }
    damaged(&between(b"", format!("{{\"type\":{}", "[".repeat(100_000)).as_bytes()), &[2]);
    let scratch = Scratch::new();
    let input = scratch.file("deep.jsonl", between(b"", deep("[", "]").as_bytes()));
    let ledger = scratch.path("ledger");
    let ran = run([
        "convert",
        "--from",
        "claude",
        "--to",
        "qwen",
        "--validate",
        "--ledger",
        arg(&ledger),
        arg(&input),
    ]);
    assert_eq!(ran.code, 0, "{}", ran.err);
}

#[test]
fn a_line_of_twenty_megabytes() {
    let answer = "x".repeat(20 << 20);
    let ran = feed(TO_TRICODE, log("s-1", &answer).as_bytes());
    assert_eq!((ran.code, ran.damage().len()), (0, 0));
    assert!(ran.text().contains(&answer));
}

#[test]
fn a_line_over_the_limit() {
    let [_, answer, _] = session("s-1", &"x".repeat(3000));
    let input = between(b"", answer.as_bytes());
    let scratch = Scratch::new();
    let ledger = scratch.path("ledger");
    let ran = feed([&TO_TRICODE[..], &["--max-line", "2K", "--ledger", arg(&ledger)]].concat(), &input);
    assert_eq!((ran.damaged_lines(), ran.code), (vec![2], 1));
    let told = format!("-:2:1: a line of {} bytes is over the limit of 2048 (fingerprint ", answer.len() + 1);
    assert!(ran.err.contains(&told), "{}", ran.err);
    assert!(ran.text().contains("\"content\": \"Good day.\""));
    assert!(!ran.text().contains("xxx"));
    let ledger = std::fs::read_to_string(ledger).unwrap();
    assert!(ledger.contains("\"line\":2,\"pointer\":\"\",\"fate\":\"damaged\""), "{ledger}");
}

#[test]
fn an_empty_log() {
    let scratch = Scratch::new();
    let empty = scratch.file("empty.jsonl", "");
    for args in [
        &["convert", "--to", "qwen", arg(&empty)][..],
        &["convert", "--from", "claude", "--to", "qwen", arg(&empty)],
        &["check", arg(&empty)],
    ] {
        let ran = run(args);
        assert_eq!((ran.code, ran.damage().len()), (0, 0), "{args:?}: {}", ran.err);
    }
    assert_eq!(feed(["convert", "--to", "claude"], b"\n \n").code, 0);
}

#[test]
fn a_folder_and_a_missing_file_do_not_keep_the_others_from_being_converted() {
    let scratch = Scratch::new();
    let good = scratch.file("good.jsonl", log("s-1", "Good day."));
    let missing = scratch.path("missing.jsonl");
    let folder = scratch.path("empty");
    std::fs::create_dir(&folder).unwrap();
    let ran = run(["convert", "--to", "tricode", arg(&missing), arg(&folder), arg(&good)]);
    assert_eq!(ran.code, 3);
    assert!(ran.text().contains("Good day."));
    assert!(ran.err.contains("missing.jsonl: cannot be read: No such file"), "{}", ran.err);
    assert!(ran.err.contains("empty: no log is in this folder"), "{}", ran.err);
}

#[test]
fn the_worst_exit_code_wins() {
    let scratch = Scratch::new();
    let good = scratch.file("good.jsonl", log("s-1", "Good day."));
    let broken = scratch.file("broken.jsonl", format!("{}{{\"type\":", log("s-1", "Good day.")));
    let unknown = scratch.file("unknown.jsonl", "{\"x\":1}\n");
    let code = |files: &[&std::path::Path]| run(["convert", "--to", "tricode"].into_iter().chain(files.iter().map(|f| arg(f)))).code;
    assert_eq!(code(&[&good]), 0);
    assert_eq!(code(&[&good, &broken]), 1);
    assert_eq!(code(&[&broken, &unknown, &good]), 2);
    assert_eq!(code(&[&unknown, &scratch.path("missing"), &good]), 3);
}

#[test]
fn damage_is_told_to_the_ledger_too() {
    let scratch = Scratch::new();
    let input = scratch.file("in.jsonl", between(b"", b"{\"type\":nope}"));
    let ledger = scratch.path("ledger");
    let ran = run(["convert", "--to", "qwen", "--ledger", arg(&ledger), arg(&input)]);
    assert_eq!(ran.damage(), [(arg(&input).to_owned(), 2, 9, "bad literal (/type)".to_owned())]);
    let ledger = std::fs::read_to_string(ledger).unwrap();
    let entry = ledger
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap())
        .find(|e| e["fate"] == "damaged")
        .unwrap();
    assert_eq!(
        (entry["file"].as_str(), entry["line"].as_u64(), entry["note"].as_str()),
        (Some(arg(&input)), Some(2), Some("bad literal"))
    );
}

#[test]
fn strict_stops_at_the_first_fault() {
    for (line, reason) in [
        ("{\"type\":nope}", "bad literal"),
        ("{\"type\":\"wibble\"}", "unknown type of line"),
        ("{\"type\":\"keep_alive\",\"zz\":1}", "unknown field \"zz\""),
    ] {
        let ran = feed([&TO_TRICODE[..], &["--strict"]].concat(), &between(b"", line.as_bytes()));
        assert_eq!((ran.code, ran.damaged_lines()), (1, vec![2]), "{line}: {}", ran.err);
        assert!(ran.err.contains(reason), "{line}: {}", ran.err);
        assert!(!ran.text().contains("Good day."), "{line}: {}", ran.text());
    }
    assert_eq!(
        feed([&TO_TRICODE[..], &["--strict"]].concat(), log("s-1", "Good day.").as_bytes()).code,
        0
    );
    // The run ends, the logs that follow included; what is not whole gets no name.
    let scratch = Scratch::new();
    let broken = scratch.file("a.jsonl", between(b"", b"{\"type\":nope}"));
    let good = scratch.file("b.jsonl", log("s-1", "Good day."));
    let ran = run([
        "convert",
        "--to",
        "tricode",
        "--strict",
        "-o",
        arg(&scratch.path("out")),
        arg(&broken),
        arg(&good),
    ]);
    assert_eq!(ran.code, 1);
    assert!(
        !scratch.names("out").contains(&"a.tricode.jsonl".to_owned()),
        "{:?}",
        scratch.names("out")
    );
}

#[test]
fn validate_looks_at_what_does_not_go_over() {
    let [_, answer, _] = session("s-1", "One.");
    let line = answer.replacen("{\"type\"", "{\"zz\":[1 2],\"type\"", 1);
    assert_eq!(
        feed([&TO_TRICODE[..], &["--validate"]].concat(), &between(b"", line.as_bytes())).damaged_lines(),
        [2]
    );
    assert_eq!(feed(TO_TRICODE, &between(b"", line.as_bytes())).damaged_lines(), [] as [u64; 0]);
    // Text is no damaged JSON.
    let debug = feed([&TO_TRICODE[..], &["--validate"]].concat(), &between(b"", b"[DEBUG] request {"));
    assert_eq!((debug.code, debug.damage().len()), (0, 0), "{}", debug.err);
}

#[test]
fn hostile_goldens_end_well_in_every_dialect() {
    for entry in std::fs::read_dir(golden("hostile")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        let from = ["claude-array", "claude", "qwen-code", "qwen", "cursor", "tricode", "mixed"]
            .into_iter()
            .find(|d| name.starts_with(d))
            .unwrap();
        let from = match from {
            "claude-array" => "claude:json",
            "mixed" => "claude",
            from => from,
        };
        for to in [
            "claude",
            "qwen",
            "qwen:stream-chunk-json",
            "qwen-code",
            "tricode",
            "cursor",
            "agentglot",
            "claude:json",
            "cursor:text",
        ] {
            let ran = run(["convert", "--from", from, "--to", to, arg(&path)]);
            assert!(ran.code <= 1, "{name} to {to}: {} {}", ran.code, ran.err);
            assert_eq!(ran.code == 1, !ran.damage().is_empty(), "{name} to {to}: {}", ran.err);
            if from == to {
                assert!(ran.out == std::fs::read(&path).unwrap(), "{name} in its own dialect");
            } else {
                assert!(std::str::from_utf8(&ran.out).is_ok(), "{name} to {to} is no UTF-8");
            }
        }
    }
}
