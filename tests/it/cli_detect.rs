//! The dialect of a log, told by the program.

use agentglot::adapters::raw::codec::Format;

use crate::common::{Scratch, arg, feed, golden, log, run};

#[test]
fn the_dialect_and_the_reason_are_told() {
    let ran = run(["convert", "--to", "tricode", arg(&golden("claude/cli_plain.out.jsonl"))]);
    assert!(
        ran.err
            .contains("cli_plain.out.jsonl: claude (line 1: system/init with claude_code_version)"),
        "{}",
        ran.err
    );
    let named = run([
        "convert",
        "--from",
        "claude",
        "--to",
        "claude",
        arg(&golden("claude/cli_plain.out.jsonl")),
    ]);
    assert_eq!(named.err, "");
}

#[test]
fn every_golden_of_an_agent_is_told_rightly() {
    let manifest = std::fs::read_to_string(golden("MANIFEST.toml")).unwrap();
    let (mut path, mut dialect, mut checked) = (String::new(), String::new(), 0);
    let value = |line: &str| line.split('"').nth(1).unwrap_or_default().to_owned();
    for line in manifest.lines() {
        match line.split_once(" = ").map(|(key, _)| key) {
            Some("path") => path = value(line),
            Some("dialect") => dialect = value(line),
            Some("side") if value(line) == "agent" && !path.starts_with("hostile/") => {
                // What is only read is told all the same.
                let written = dialect.parse::<Format>().unwrap().is_writable();
                let to = if written { dialect.as_str() } else { "agentglot" };
                let ran = run(["convert", "--to", to, arg(&golden(&path))]);
                assert!(
                    ran.err.contains(&format!("{path}: {dialect} (")) || ran.err.contains(": empty"),
                    "{path}: {}",
                    ran.err
                );
                assert!(
                    !written || ran.out == std::fs::read(golden(&path)).unwrap(),
                    "{path} is not the same in {dialect}"
                );
                checked += 1;
            }
            _ => {}
        }
    }
    assert!(checked > 150, "{checked}");
}

#[test]
fn the_hosts_side_is_told_by_the_agents_side_beside_it() {
    let ran = run(["convert", "--to", "agentglot", arg(&golden("qwen-code/ctl_interrupt_text.in.jsonl"))]);
    assert!(
        ran.err
            .contains("ctl_interrupt_text.in.jsonl: qwen-code (ctl_interrupt_text.out.jsonl, line 1: "),
        "{}",
        ran.err
    );
    let scratch = Scratch::new();
    let alone = scratch.path("alone.in.jsonl");
    std::fs::copy(golden("qwen-code/ctl_interrupt_text.in.jsonl"), &alone).unwrap();
    let ran = run(["convert", "--to", "agentglot", arg(&alone)]);
    assert_eq!((ran.code, ran.out.len()), (2, 0));
    assert!(
        ran.err.contains("may be claude (line 1: ") && ran.err.contains("), or qwen-code (line 1: ") && ran.err.contains("--from"),
        "{}",
        ran.err
    );
}

#[test]
fn a_session_in_another_dialect_is_followed_or_said_to_be_damage() {
    let mut log = std::fs::read(golden("claude/cli_bash.out.jsonl")).unwrap();
    let first = log.iter().filter(|&&byte| byte == b'\n').count();
    log.extend(std::fs::read(golden("tricode/list.jsonl")).unwrap());
    let ran = feed(["convert", "--to", "cursor"], &log);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let told = format!("-:{}: tricode (", first + 1);
    assert!(ran.err.contains(&told), "{}", ran.err);
    let calls = |out: &[u8]| String::from_utf8_lossy(out).matches("\"subtype\":\"started\"").count();
    assert!(calls(&ran.out) > 5, "{}", calls(&ran.out));
    let named = feed(["convert", "--from", "claude", "--to", "cursor"], &log);
    assert_eq!(named.code, 1);
    assert!(named.err.contains("a session in tricode begins here"), "{}", named.err);
}

#[test]
fn what_is_no_log_is_refused() {
    for (input, reason) in [
        (&b"hello\nworld\n"[..], "no dialect recognised"),
        (b"{\"x\":1}\n", "no dialect recognised"),
        (b"\xff\xfe{\0\n\0", "UTF-16"),
        (&[0x7f, b'E', b'L', b'F', 2, 1, 1, 0, 0xff, 0xfe], "no dialect recognised"),
    ] {
        let ran = feed(["convert", "--to", "claude"], input);
        assert_eq!((ran.code, ran.out.len()), (2, 0), "{input:?}");
        assert!(ran.err.contains(reason), "{input:?}: {}", ran.err);
    }
    // Something endless does not fill the memory before it is refused.
    let noise = "no json here\n".repeat(200_000);
    assert_eq!(feed(["convert", "--to", "claude"], noise.as_bytes()).code, 2);
    assert_eq!(feed(["convert", "--to", "claude"], &vec![b'x'; 3 << 20]).code, 2);
}

#[test]
fn a_dialect_that_was_named_wrongly_is_told() {
    let scratch = Scratch::new();
    let input = scratch.file("in.jsonl", log("s-1", "Good day."));
    let ran = run(["convert", "--from", "cursor", "--to", "tricode", arg(&input)]);
    assert!(ran.err.contains("in.jsonl: this looks like claude (line 1: "), "{}", ran.err);
    assert!(
        !run(["convert", "--from", "claude", "--to", "tricode", arg(&input)])
            .err
            .contains("looks like")
    );
}

#[test]
fn formats_of_other_programs_are_told_by_name() {
    let scratch = Scratch::new();
    for (bytes, name) in [(&b"BZh91AY&SY"[..], "bzip2 data"), (b"\xfd7zXZ\0\0", "xz data")] {
        let input = scratch.file("in.jsonl", bytes);
        let ran = run(["convert", "--to", "claude", arg(&input)]);
        assert_eq!(ran.code, 2, "{}", ran.err);
        assert!(ran.err.contains("in.jsonl: this is ") && ran.err.contains(name), "{}", ran.err);
    }
}

/// Logs that came through a container's or a service's log: what is in the way is said, also to who has named the dialect.
#[test]
fn what_is_put_around_lines_is_said_with_what_takes_it_away() {
    let scratch = Scratch::new();
    let plain = log("s-1", "Hi.");
    let lines = |change: &dyn Fn(&str) -> String| plain.lines().map(change).collect::<String>();
    let docker = |line: &str| serde_json::json!({"log": format!("{line}\n"), "stream": "stdout"}).to_string() + "\n";
    let kubectl = scratch.file("kubectl.jsonl", lines(&|line| format!("2026-01-02T03:04:05.1Z {line}\n")));
    let docker = scratch.file("docker.json", lines(&docker));
    for (file, told) in [(&kubectl, "sed 's/^[^{]*//'"), (&docker, "jq -j .log")] {
        for args in [
            &["convert", "--to", "cursor", arg(file)][..],
            &["check", arg(file)],
            &["show", arg(file)],
            &["stats", arg(file)],
        ] {
            let ran = run(args);
            assert_eq!(ran.code, 2, "{args:?}: {}", ran.err);
            assert!(ran.err.contains("line 1 is claude") && ran.err.contains(told), "{args:?}: {}", ran.err);
        }
        for args in [
            &["convert", "--from", "claude", "--to", "cursor", arg(file)][..],
            &["check", "--dialect", "claude", arg(file)],
        ] {
            let ran = run(args);
            assert!(
                ran.err.contains(told) && ran.err.contains("nothing of it is read as claude"),
                "{args:?}: {}",
                ran.err
            );
        }
    }
    let whole = scratch.file("whole.jsonl", plain.as_bytes());
    for args in [
        &["convert", "--from", "claude", "--to", "cursor", arg(&whole)][..],
        &["check", "--dialect", "claude", arg(&whole)],
    ] {
        assert!(!run(args).err.contains("another program"), "{args:?}");
    }
}
