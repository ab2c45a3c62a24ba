//! Where output goes: files that get their name when they are whole, folders, full disks, readers that close.

use std::io::Read;
use std::path::Path;

use crate::common::{Scratch, arg, feed, golden, log, program, run};

#[test]
fn a_file_gets_its_name_when_it_is_whole() {
    let scratch = Scratch::new();
    let input = scratch.file("in.jsonl", log("s-1", "Good day."));
    let out = scratch.path("out.jsonl");
    let ran = run(["convert", "--to", "tricode", "-o", arg(&out), arg(&input)]);
    assert_eq!((ran.code, ran.out.len()), (0, 0), "{}", ran.err);
    assert_eq!(std::fs::read(&out).unwrap(), run(["convert", "--to", "tricode", arg(&input)]).out);
    assert_eq!(scratch.names(""), ["in.jsonl", "out.jsonl"]);
    // A log whose dialect cannot be told leaves what was there.
    let unknown = scratch.file("unknown", "{\"x\":1}\n");
    assert_eq!(run(["convert", "--to", "tricode", "-o", arg(&out), arg(&unknown)]).code, 2);
    assert!(std::fs::read_to_string(&out).unwrap().contains("Good day."));
    assert_eq!(scratch.names(""), ["in.jsonl", "out.jsonl", "unknown"]);
}

#[test]
fn the_name_of_the_output_says_the_dialect() {
    let scratch = Scratch::new();
    let file = scratch.file("log.jsonl", log("s-1", "Good day."));
    for (name, to) in [
        ("a.cursor.jsonl", "cursor"),
        ("a.claude.json", "claude:json"),
        ("a.qwen.text.txt", "qwen:text"),
    ] {
        let ran = run(["convert", "-o", arg(&scratch.path(name)), arg(&file)]);
        assert_eq!(ran.code, 0, "{}", ran.err);
        let wanted = run(["convert", "--to", to, arg(&file)]);
        assert_eq!(std::fs::read(scratch.path(name)).unwrap(), wanted.out, "{name}");
    }
    // What is asked for comes before what a name says.
    assert_eq!(
        run(["convert", "--to", "tricode", "-o", arg(&scratch.path("b.cursor.jsonl")), arg(&file)]).code,
        0
    );
    assert!(
        std::fs::read_to_string(scratch.path("b.cursor.jsonl"))
            .unwrap()
            .contains("\"type\": \"final\"")
    );
    let packed = scratch.path("a.tricode.jsonl.gz");
    assert_eq!(run(["convert", "-o", arg(&packed), arg(&file)]).code, 0);
    assert_eq!(std::fs::read(&packed).unwrap()[..2], [0x1f, 0x8b]);
    assert_eq!(run(["check", "--dialect", "tricode", arg(&packed)]).code, 0);
    for (wrong, meant) in [
        ("a.openai.jsonl", "NAME.openai.messages.jsonl"),
        ("a.anthropic.jsonl", "read and not written"),
    ] {
        let ran = run(["convert", "-o", wrong, arg(&file)]);
        assert!(ran.code == 2 && ran.err.contains(meant), "{wrong}: {}", ran.err);
    }
    let ran = run([
        "convert",
        "--to",
        "qwen",
        "-o",
        &format!("{}/", arg(&file)),
        arg(&golden("claude/cli_plain.out.jsonl")),
    ]);
    assert!(ran.code == 3 && ran.err.contains("a folder is wanted"), "{}", ran.err);
    for wrong in ["out/", "a.jsonl", "-"] {
        let ran = run(["convert", "-o", wrong, arg(&file)]);
        assert_eq!(ran.code, 2, "{wrong}");
        assert!(ran.err.contains("--to"), "{}", ran.err);
    }
    assert_eq!(run(["convert", arg(&file)]).code, 2);
}

#[test]
fn a_log_is_never_written_over() {
    let scratch = Scratch::new();
    let text = log("s-1", "Good day.");
    let file = scratch.file("log.jsonl", &text);
    let mut names = vec![file.clone(), scratch.path("./log.jsonl")];
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("log.jsonl", scratch.path("link")).unwrap();
        std::fs::hard_link(&file, scratch.path("hard")).unwrap();
        names.extend([scratch.path("link"), scratch.path("hard")]);
    }
    for name in &names {
        for input in [&file, name] {
            for flag in ["-o", "--ledger", "--report"] {
                let ran = run(["convert", "--to", "tricode", flag, arg(name), arg(input)]);
                assert_eq!(ran.code, 2, "{flag} {}: {}", name.display(), ran.err);
                assert!(ran.err.contains("this file is read; it would be lost"), "{}", ran.err);
                assert_eq!(std::fs::read_to_string(&file).unwrap(), text);
            }
        }
    }
    for name in &names {
        let ran = run(["show", "-o", arg(name), arg(&file)]);
        assert_eq!(ran.code, 2, "{}: {}", name.display(), ran.err);
        assert!(ran.err.contains("this file is read; it would be lost"), "{}", ran.err);
        assert_eq!(std::fs::read_to_string(&file).unwrap(), text);
    }
    // Also where the shell opens it.
    let open = || std::fs::File::open(&file).unwrap();
    let output = program()
        .args(["convert", "--to", "tricode", "-o", arg(&file)])
        .stdin(open())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    let append = std::fs::File::options().append(true).open(&file).unwrap();
    let output = program()
        .args(["convert", "--to", "tricode", arg(&file)])
        .stdout(append)
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(std::fs::read_to_string(&file).unwrap(), text);
}

#[test]
fn the_name_of_the_output_says_how_it_is_compressed() {
    let scratch = Scratch::new();
    let input = scratch.file("in.jsonl", log("s-1", "Good day."));
    let wanted = run(["convert", "--to", "cursor", arg(&input)]).out;
    assert!(!wanted.is_empty());
    for (name, magic) in [("out.jsonl.gz", &[0x1f, 0x8b][..]), ("out.jsonl.zst", &[0x28, 0xb5, 0x2f, 0xfd])] {
        let out = scratch.path(name);
        assert_eq!(run(["convert", "--to", "cursor", "-o", arg(&out), arg(&input)]).code, 0);
        assert!(std::fs::read(&out).unwrap().starts_with(magic), "{name}");
        let back = run(["convert", "--from", "cursor", "--to", "cursor", arg(&out)]);
        assert_eq!((back.code, &back.out), (0, &wanted), "{name}: {}", back.err);
    }
    assert_eq!(run(["convert", "--to", "cursor", "-o", "-", arg(&input)]).out, wanted);
}

#[cfg(unix)]
#[test]
fn permissions_stay_as_they_are_and_links_are_not_followed() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let scratch = Scratch::new();
    let input = scratch.file("in.jsonl", log("s-1", "Good day."));
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let fresh = scratch.path("fresh");
    assert_eq!(run(["convert", "--to", "tricode", "-o", arg(&fresh), arg(&input)]).code, 0);
    assert_eq!(mode(&fresh), mode(&input), "what the umask says, as for any file");
    let old = scratch.file("old", "x");
    std::fs::set_permissions(&old, std::fs::Permissions::from_mode(0o640)).unwrap();
    assert_eq!(run(["convert", "--to", "tricode", "-o", arg(&old), arg(&input)]).code, 0);
    assert_eq!(mode(&old), 0o640);
    assert!(std::fs::read_to_string(&old).unwrap().contains("Good day."));

    // What a folder holds under the names of the output nobody meant: a link leads anywhere, a pipe is never read.
    let victim = scratch.file("victim", "mine");
    std::fs::create_dir(scratch.path("to")).unwrap();
    symlink("../victim", scratch.path("to/in.tricode.jsonl")).unwrap();
    rustix::fs::mkfifoat(rustix::fs::CWD, scratch.path("to/pipe.tricode.jsonl"), rustix::fs::Mode::RWXU).unwrap();
    let piped = scratch.file("pipe.jsonl", log("s-2", "Good day."));
    let fine = scratch.file("fine.jsonl", log("s-3", "Good day."));
    let ran = run([
        "convert",
        "--to",
        "tricode",
        "-o",
        arg(&scratch.path("to")),
        arg(&input),
        arg(&piped),
        arg(&fine),
    ]);
    assert_eq!(ran.code, 3, "{}", ran.err);
    assert!(ran.err.contains("in.tricode.jsonl") && ran.err.contains("it is a link"), "{}", ran.err);
    assert!(ran.err.contains("pipe.tricode.jsonl") && ran.err.contains("no plain file"), "{}", ran.err);
    assert!(
        std::fs::read_to_string(scratch.path("to/fine.tricode.jsonl"))
            .unwrap()
            .contains("Good day.")
    );
    for flags in [["-o", "link"], ["--ledger", "link"]] {
        let _ = std::fs::remove_file(scratch.path("link"));
        symlink("victim", scratch.path("link")).unwrap();
        let path = scratch.path(flags[1]);
        let ran = run(["convert", "--to", "tricode", flags[0], arg(&path), arg(&input)]);
        assert_eq!(ran.code, 3, "{flags:?} {}", ran.err);
        assert!(ran.err.contains("it is a link"), "{flags:?} {}", ran.err);
        assert!(path.is_symlink());
    }
    assert_eq!(std::fs::read_to_string(victim).unwrap(), "mine");
    // Those of the system are where it says.
    let ran = run(["convert", "--to", "tricode", "-o", "/dev/stdout", arg(&input)]);
    assert!(ran.code == 0 && !ran.out.is_empty(), "{}", ran.err);
}

/// A draft of a file that only its owner may read is that from its first moment: seen from outside, while a big log is converted into it.
#[cfg(target_os = "linux")]
#[test]
fn a_draft_is_never_readable_by_more_than_its_target() {
    use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
    let scratch = Scratch::new();
    let secret = scratch.path("secret");
    std::fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&secret)
        .unwrap();
    let mut child = program()
        .args(["convert", "--from", "claude", "--to", "tricode", "-o", arg(&secret)])
        .stdin(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    use std::io::Write;
    let mut input = child.stdin.take().unwrap();
    input.write_all(log("s-1", "Good day.").as_ref()).unwrap();
    input.flush().unwrap();
    let until = std::time::Instant::now() + std::time::Duration::from_secs(30);
    let draft = loop {
        let name = scratch.names("").into_iter().find(|name| name.ends_with(".part"));
        if name.is_some() || std::time::Instant::now() > until {
            break name.expect("a draft");
        }
        std::thread::sleep(std::time::Duration::from_millis(5));
    };
    assert_eq!(scratch.path(&draft).metadata().unwrap().permissions().mode() & 0o777, 0o600);
    drop(input);
    assert!(child.wait().unwrap().success());
    assert_eq!(secret.metadata().unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn a_folder_takes_many_logs() {
    let scratch = Scratch::new();
    let one = scratch.file("one.out.jsonl", log("s-1", "First."));
    let two = scratch.file("two.jsonl", log("s-2", "Second."));
    let folder = scratch.path("made/here");
    let ran = run(["convert", "--to", "qwen:stream-chunk-json", "-o", arg(&folder), arg(&one), arg(&two)]);
    assert_eq!((ran.code, ran.out.len()), (0, 0), "{}", ran.err);
    assert_eq!(
        scratch.names("made/here"),
        ["one.out.qwen.stream-chunk-json.jsonl", "two.qwen.stream-chunk-json.jsonl"]
    );
    assert!(
        std::fs::read_to_string(folder.join("two.qwen.stream-chunk-json.jsonl"))
            .unwrap()
            .contains("Second.")
    );
    // One log goes into a folder too, when the name says that it is one.
    let slash = format!("{}/", arg(&scratch.path("more")));
    assert_eq!(run(["convert", "--to", "cursor:text", "-o", &slash, arg(&one)]).code, 0);
    assert_eq!(scratch.names("more"), ["one.out.cursor.txt"]);
    assert_eq!(feed(["convert", "--to", "tricode", "-o", &slash], log("s-1", "Hi.").as_bytes()).code, 0);
    assert_eq!(scratch.names("more"), ["one.out.cursor.txt", "stdin.tricode.jsonl"]);
}

#[test]
fn logs_that_would_become_one_file_are_refused_before_anything_is_done() {
    let scratch = Scratch::new();
    let one = scratch.file("a/log.jsonl", log("s-1", "First."));
    let two = scratch.file("b/log.json", log("s-2", "Second."));
    let ran = run(["convert", "--to", "tricode", "-o", arg(&scratch.path("out")), arg(&one), arg(&two)]);
    assert_eq!(ran.code, 2);
    assert!(
        ran.err.contains("a/log.jsonl and ") && ran.err.contains("would both become"),
        "{}",
        ran.err
    );
    assert!(!scratch.path("out").exists());
    let file = scratch.file("file", "");
    assert_eq!(run(["convert", "--to", "tricode", "-o", arg(&file), arg(&one), arg(&two)]).code, 2);
}

#[test]
fn one_log_that_fails_does_not_keep_the_others_out_of_the_folder() {
    let scratch = Scratch::new();
    let good = scratch.file("good.jsonl", log("s-1", "Good day."));
    let out = scratch.path("out");
    let ran = run([
        "convert",
        "--to",
        "tricode",
        "-o",
        arg(&out),
        arg(&scratch.path("missing.jsonl")),
        arg(&good),
    ]);
    assert_eq!(ran.code, 3);
    assert_eq!(scratch.names("out"), ["good.tricode.jsonl"]);
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_told() {
    let scratch = Scratch::new();
    let input = scratch.file("in.jsonl", log("s-1", "Good day."));
    let to_device = run(["convert", "--to", "tricode", "-o", "/dev/full", arg(&input)]);
    assert_eq!(to_device.code, 3);
    assert!(to_device.err.contains("/dev/full: cannot be written: No space left"), "{}", to_device.err);
    let source = golden("claude/cli_parallel_partial.out.jsonl");
    let nothing_written = run(["convert", "--to", "qwen", "-o", "/dev/full", arg(&source)]);
    assert!(!nothing_written.err.contains("no place in the target"), "{}", nothing_written.err);
    let full = || std::fs::File::options().write(true).open("/dev/full").unwrap();
    let output = program()
        .args(["convert", "--to", "tricode", arg(&input), arg(&input)])
        .stdout(full())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(3));
    let err = String::from_utf8(output.stderr).unwrap();
    assert_eq!(err.matches("standard output: cannot be written: No space left").count(), 1, "{err}");
    let ledger = run(["convert", "--to", "tricode", "--ledger", "/dev/full", arg(&input)]);
    assert_eq!(ledger.code, 3, "{}", ledger.err);
    for command in [
        &["dialects"][..],
        &["man"],
        &["--help"],
        &["run", "--help"],
        &["--version"],
        &["check", arg(&input)],
    ] {
        assert_eq!(
            program().args(command).stdout(full()).output().unwrap().status.code(),
            Some(3),
            "{command:?}"
        );
    }
}

#[test]
fn a_folder_that_cannot_be_made_is_told() {
    let scratch = Scratch::new();
    let input = scratch.file("in.jsonl", log("s-1", "Good day."));
    let ran = run(["convert", "--to", "tricode", "-o", arg(&scratch.path("no/such/folder/out")), arg(&input)]);
    assert_eq!(ran.code, 3, "{}", ran.err);
    assert!(ran.err.contains("out: cannot be written: No such file"), "{}", ran.err);
}

#[test]
fn a_reader_that_closes_is_no_error() {
    let scratch = Scratch::new();
    let many: String = (0..20_000).map(|n| log(&format!("session-{n}"), "Good day.")).collect();
    let input = scratch.file("in.jsonl", many);
    for args in [
        &["convert", "--to", "claude", "--jobs", "1"][..],
        &["convert", "--to", "tricode", "--jobs", "3"],
        &["check"],
    ] {
        let mut child = program().args(args).arg(&input).spawn().unwrap();
        let mut some = [0; 100];
        child.stdout.take().unwrap().read_exact(&mut some).unwrap();
        let output = child.wait_with_output().unwrap();
        let err = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(0), "{args:?}: {err}");
        assert!(!err.contains("pipe"), "{err}");
    }
    let child = program().args(["completions", "zsh"]).spawn().unwrap();
    assert_eq!(child.wait_with_output().unwrap().status.code(), Some(0));
}

#[test]
fn what_is_left_out_is_told_in_one_line_unless_a_ledger_tells_it() {
    let scratch = Scratch::new();
    let mut text = log("s-1", "Good day.");
    text.push_str("{\"type\":\"system\",\"subtype\":\"status\",\"status\":\"requesting\",\"session_id\":\"s-1\",\"uuid\":\"u\"}\n");
    let input = scratch.file("in.jsonl", text);
    let ran = run(["convert", "--to", "tricode", arg(&input)]);
    assert!(
        ran.err
            .ends_with("agentglot: 1 line has no place in the target; --ledger FILE lists what was left out\n"),
        "{}",
        ran.err
    );
    assert!(!run(["convert", "-q", "--to", "tricode", arg(&input)]).err.contains("no place"));
    let ledger = scratch.path("ledger");
    let ran = run(["convert", "--to", "tricode", "--ledger", arg(&ledger), arg(&input)]);
    assert!(!ran.err.contains("no place in the target"), "{}", ran.err);
    assert!(
        std::fs::read_to_string(&ledger)
            .unwrap()
            .contains("\"line\":4,\"pointer\":\"\",\"fate\":\"dropped\"")
    );
    // Within one dialect nothing is left out.
    assert!(!run(["convert", "--to", "claude", arg(&input)]).err.contains("no place in the target"));
}

#[test]
fn a_ledger_never_overwrites_a_log() {
    let scratch = Scratch::new();
    let input = scratch.file("in.jsonl", log("s-1", "Good day."));
    let out = scratch.path("out.jsonl");
    assert_eq!(run(["convert", "--to", "tricode", "--ledger", arg(&input), arg(&input)]).code, 2);
    assert_eq!(
        run(["convert", "--to", "tricode", "--ledger", arg(&out), "-o", arg(&out), arg(&input)]).code,
        2
    );
    assert_eq!(std::fs::read_to_string(&input).unwrap(), log("s-1", "Good day."));
}

#[test]
fn an_output_that_cannot_be_written_does_not_hold_up_the_others() {
    let scratch = Scratch::new();
    let many: String = (0..6000).map(|n| log(&format!("session-{n}"), "Good day.")).collect();
    let big = scratch.file("big.jsonl", many);
    let good = scratch.file("good.jsonl", log("s-1", "Good day."));
    std::fs::create_dir_all(scratch.path("out/big.tricode.jsonl")).unwrap();
    for jobs in ["1", "4"] {
        let ran = run([
            "convert",
            "--to",
            "tricode",
            "--jobs",
            jobs,
            "-o",
            arg(&scratch.path("out")),
            arg(&big),
            arg(&good),
        ]);
        assert_eq!(ran.code, 3, "{}", ran.err);
        assert_eq!(ran.err.matches("cannot be written: is a directory").count(), 1, "{}", ran.err);
        assert!(
            std::fs::read_to_string(scratch.path("out/good.tricode.jsonl"))
                .unwrap()
                .contains("Good day.")
        );
        std::fs::remove_file(scratch.path("out/good.tricode.jsonl")).unwrap();
    }
}

#[cfg(unix)]
#[test]
fn nothing_is_left_behind_when_a_run_is_interrupted() {
    use std::io::Write;
    let scratch = Scratch::new();
    let old = scratch.file("out", "old\n");
    for (signal, code) in [("-INT", 2), ("-TERM", 15)] {
        let mut child = program()
            .args(["convert", "--to", "claude", "-o", arg(&old)])
            .stdin(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdin = child.stdin.take().unwrap();
        stdin.write_all(log("s-1", "Good day.").as_bytes()).unwrap();
        let begun = std::time::Instant::now();
        while scratch.names("").len() < 2 {
            assert!(begun.elapsed().as_secs() < 20, "no file is made");
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        assert!(
            std::process::Command::new("kill")
                .arg(signal)
                .arg(child.id().to_string())
                .status()
                .unwrap()
                .success()
        );
        let status = child.wait().unwrap();
        assert_eq!(std::os::unix::process::ExitStatusExt::signal(&status), Some(code), "{status}");
        assert_eq!(scratch.names(""), ["out"]);
        assert_eq!(std::fs::read_to_string(&old).unwrap(), "old\n");
    }
}

#[cfg(unix)]
#[test]
fn what_a_killed_conversion_leaves_goes_with_the_next_one() {
    use std::io::Write;
    let scratch = Scratch::new();
    let input = scratch.file("in.jsonl", log("s-1", "Good day."));
    let begin = |name: &str| {
        let out = scratch.path(name);
        let mut child = program()
            .args(["convert", "--from", "claude", "--to", "tricode", "-o", arg(&out), "-"])
            .stdin(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.as_mut().unwrap().write_all(log("s-1", "Good day.").as_bytes()).unwrap();
        let draft = format!(".agentglot-{}-", child.id());
        let until = std::time::Instant::now() + std::time::Duration::from_secs(10);
        while !scratch.names("").iter().any(|name| name.starts_with(&draft)) {
            assert!(std::time::Instant::now() < until, "{:?}", scratch.names(""));
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        child
    };
    let mut killed = begin("killed");
    killed.kill().unwrap();
    killed.wait().unwrap();
    let mut living = begin("living");
    let other = scratch.file(".agentglot-999999999-notes", "of somebody else");
    assert_eq!(run(["convert", "--to", "tricode", "-o", arg(&scratch.path("out")), arg(&input)]).code, 0);
    let drafts: Vec<String> = scratch.names("").into_iter().filter(|name| name.ends_with(".part")).collect();
    assert!(
        drafts.len() == 1 && drafts[0].starts_with(&format!(".agentglot-{}-", living.id())),
        "{drafts:?}"
    );
    assert!(other.exists());
    drop(living.stdin.take());
    assert!(living.wait().unwrap().success() && scratch.path("living").exists());
}
