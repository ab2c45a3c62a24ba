//! Usage, prompts, the other commands, and the library's way to convert.

use crate::common::{Scratch, arg, feed, golden, log, run, skipped};

#[test]
fn wrong_usage_is_told() {
    let scratch = Scratch::new();
    let file = scratch.file("a.jsonl", log("s-1", "Hi."));
    let other = scratch.file("b.jsonl", log("s-1", "Hi."));
    for args in [
        &["convert"][..],
        &["convert", arg(&file)],
        &["convert", "--to", "nothing", arg(&file)],
        &["convert", "--to", "auto", arg(&file)],
        &["convert", "--to", "claude", "--from", "cursor:text", arg(&file)],
        &["convert", "--to", "claude", "--jobs", "0", arg(&file)],
        &["convert", "--to", "claude", "--max-line", "0", arg(&file)],
        &["convert", "--to", "claude", "--max-line", "12parsecs", arg(&file)],
        &["convert", "--to", "claude", "--tools", "some", arg(&file)],
        &["convert", "--to", "claude", "--prompt", "x", "--input-log", arg(&file), arg(&file)],
        &["convert", "--to", "claude", "--prompt", "x", arg(&file), arg(&other)],
        &["convert", "--to", "claude", "-", "-"],
        &["convert", "--to", "claude", "--no-such-option", arg(&file)],
        &["nothing"],
        &["man", "nothing"],
        &[],
    ] {
        let ran = run(args);
        assert_eq!((ran.code, ran.out.len()), (2, 0), "{args:?}: {}", ran.err);
        assert!(!ran.err.is_empty(), "{args:?}");
    }
}

#[test]
fn who_forgets_the_command_is_told_some() {
    let scratch = Scratch::new();
    let file = scratch.file("my log.jsonl", log("s-1", "Hi."));
    let ran = run([arg(&file)]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains(&format!("agentglot show '{}'", arg(&file))), "{}", ran.err);
    assert!(!run(["nothing"]).err.contains("agentglot show"));
}

/// What was typed is repeated on one line, and does nothing to a terminal, whoever finds the mistake.
#[test]
fn arguments_that_are_repeated_forge_no_line() {
    let hostile = "\u{1b}[31m\u{202e}x\r\nagentglot: all is well";
    let flag = format!("--{hostile}");
    let name = format!("{hostile}.jsonl");
    for args in [
        &["convert", "--to", hostile, "x"][..],
        &["convert", &flag, "x"],
        &["convert", "--jobs", hostile, "--to", "claude", "x"],
        &["check", "--level", hostile, "x"],
        &["check", &name],
        &["stats", "--by", hostile],
        &["schema", "--dialect", hostile],
        &["completions", hostile],
        &["man", hostile],
        &["help", hostile],
        &[hostile],
    ] {
        let ran = run(args);
        assert!(ran.code >= 2 && ran.out.is_empty(), "{args:?}: {}", ran.err);
        assert!(!ran.err.contains(['\u{1b}', '\u{202e}', '\r']), "{args:?}: {:?}", ran.err);
        assert!(
            !ran.err.lines().any(|line| line.starts_with("agentglot: all is well")),
            "{args:?}: {}",
            ran.err
        );
        assert!(ran.err.contains("all is well"), "{args:?}: {}", ran.err);
    }
    let scratch = Scratch::new();
    scratch.file(&name, log("s-1", "Hi."));
    let listed = run(["convert", "--to", "cursor", "--list", arg(&scratch.path(""))]);
    assert_eq!((listed.code, listed.text().lines().count()), (0, 1), "{}", listed.text());
    assert!(!listed.text().contains('\u{1b}'), "{:?}", listed.text());
}

/// What was left out when the program was built is named, with what to do.
#[cfg(not(feature = "columnar"))]
#[test]
fn tables_are_missing_by_name() {
    let scratch = Scratch::new();
    let file = scratch.file("a.jsonl", log("s-1", "Hi."));
    let table = scratch.file("a.parquet", "PAR1 and more");
    for args in [
        &["convert", "--to", "parquet", arg(&file)][..],
        &["convert", "--to", "arrow", "-o", "x.arrow", arg(&file)],
        &["convert", "--to", "claude", arg(&table)],
        &["convert", "--from", "parquet", "--to", "claude", arg(&table)],
    ] {
        let ran = run(args);
        assert!(ran.code >= 2 && ran.out.is_empty(), "{args:?}: {}", ran.err);
        for word in ["`columnar`", "cargo install"] {
            assert!(ran.err.contains(word), "{args:?}: {}", ran.err);
        }
    }
}

#[test]
fn help_and_versions_are_no_errors() {
    for args in [&["--help"][..], &["--version"], &["convert", "--help"], &["help", "check"]] {
        let ran = run(args);
        assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{args:?}");
        assert!(!ran.out.is_empty());
    }
}

#[test]
fn the_prompt_is_given_or_taken_from_the_hosts_log() {
    let scratch = Scratch::new();
    let input = scratch.file("in.jsonl", format!("{}{}", log("s-1", "One."), log("s-1", "Two.")));
    let cursor = |more: &[&str]| {
        run(["convert", "--from", "claude", "--to", "cursor"]
            .iter()
            .chain(more)
            .copied()
            .chain([arg(&input)]))
        .text()
        .to_owned()
    };
    assert!(!cursor(&[]).contains("\"type\":\"user\""), "{}", cursor(&[]));
    let given = cursor(&["--prompt", "First \"question\"?", "--prompt", "Second?"]);
    assert!(given.contains(r#"[{"type":"text","text":"First \"question\"?"}]"#), "{given}");
    assert!(given.contains(r#"[{"type":"text","text":"Second?"}]"#), "{given}");
    let host = scratch.file(
        "host.jsonl",
        "{\"type\":\"control_request\",\"request_id\":\"1\",\"request\":{\"subtype\":\"initialize\"}}\n\
         {\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":\"First \\\"question\\\"?\"}}\n\
         {\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"Second?\"}]}}\n",
    );
    assert_eq!(cursor(&["--input-log", arg(&host)]), given);
    let chats = scratch.file(
        "chats.jsonl",
        "{\"session_id\":\"_new\",\"input\":{\"origin\":\"user\",\"parts\":[{\"type\":\"text\",\"text\":\"First \"},{\"type\":\"text\",\"text\":\"\\\"question\\\"?\"}]}}\n\
         {\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"old\"},{\"role\":\"assistant\",\"content\":\"x\"},{\"role\":\"user\",\"content\":\"Second?\"}]}\n",
    );
    let chunks = scratch.file("chunks.jsonl", run(["convert", "--to", "qwen", arg(&input)]).out);
    let ran = run(["convert", "--from", "qwen", "--to", "cursor", "--input-log", arg(&chats), arg(&chunks)]);
    assert!(
        ran.text().contains(r#""text":"First \"question\"?"}"#) && ran.text().contains(r#""text":"Second?"}"#),
        "{}",
        ran.text()
    );
    assert_eq!(
        run(["convert", "--to", "cursor", "--input-log", arg(&scratch.path("missing")), arg(&input)]).code,
        3
    );
    let none = scratch.file("none.jsonl", "{\"type\":\"keep_alive\"}\n");
    assert_eq!(
        run(["convert", "--from", "claude", "--to", "cursor", "--input-log", arg(&none), arg(&input)]).code,
        2
    );
}

#[test]
fn our_own_log_is_written_when_it_is_asked_for() {
    let quiet = feed(["convert", "--from", "claude", "--to", "claude"], log("s-1", "Hi.").as_bytes());
    assert_eq!(quiet.err, "");
    let loud = feed(["-vvv", "convert", "--from", "claude", "--to", "claude"], log("s-1", "Hi.").as_bytes());
    assert_eq!(loud.out, quiet.out);
    assert!(loud.err.contains("DEBUG") && loud.err.contains("agentglot"), "{}", loud.err);
    let command = |filter: &str| crate::common::program().args(["dialects"]).env("AGENTGLOT_LOG", filter).output().unwrap();
    assert_eq!(command("agentglot=debug").status.code(), Some(0));
    assert_eq!(command("agentglot=nonsense").status.code(), Some(2));
}

#[test]
fn dialects_are_listed() {
    let table = run(["dialects"]);
    assert!(
        table.text().lines().any(|line| line.starts_with("qwen-code ") && line.contains("yes")),
        "{}",
        table.text()
    );
    let json = run(["dialects", "--json"]);
    let formats: Vec<serde_json::Value> = json.text().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let dialects: std::collections::BTreeSet<&str> = formats.iter().filter_map(|f| f["dialect"].as_str()).collect();
    assert_eq!(formats.iter().filter(|f| f["default"] == true).count(), dialects.len());
    assert!(
        formats
            .iter()
            .any(|f| f["dialect"] == "openai" && f["format"] == "sse" && f["read"] == true && f["write"] == false)
    );
    assert!(
        formats
            .iter()
            .any(|f| f["dialect"] == "claude" && f["format"] == "text" && f["read"] == false && f["write"] == true)
    );
}

#[test]
fn pages_and_completions_are_written() {
    let page = run(["man"]);
    assert!(page.text().contains(".TH agentglot 1") && page.text().contains("convert"));
    assert!(run(["man", "convert"]).text().contains("include\\-partial\\-messages"));
    #[cfg(all(unix, feature = "agent"))]
    for args in [&["man", "sessions", "copy"][..], &["man", "sessions-copy"]] {
        assert!(run(args).text().contains(".TH agentglot-sessions-copy 1"), "{args:?}");
    }
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = run(["completions", shell]);
        assert!(script.code == 0 && script.text().contains("AGENTGLOT_COMPLETE"), "{shell}");
    }
}

#[test]
fn check_says_what_is_wrong_and_where() {
    let sound = run(["check", arg(&golden("claude/cli_plain.out.jsonl"))]);
    assert_eq!((sound.code, sound.err.as_str()), (0, ""));
    assert!(sound.text().contains("1 outcome, 0 faults"), "{}", sound.text());
    let bad = run(["check", arg(&golden("hostile/claude-bad-json.jsonl"))]);
    assert_eq!(bad.code, 1);
    assert!(
        bad.text()
            .contains("claude-bad-json.jsonl:7:145: /message/content/0/text: control character in a string"),
        "{}",
        bad.text()
    );
    // What is missing is missing in its object, not in the member that stands last there.
    let lacks = feed(
        ["check", "--from", "claude", "-"],
        br#"{"type":"assistant","message":{"id":"m","content":[{"type":"tool_use","id":"t","name":"X"}]}}"#,
    );
    let place = "/message/content/0/input: required member";
    assert!(lacks.text().contains(place), "{}", lacks.text());
    let unknown = "{\"type\":\"wibble\",\"subtype\":\"x\"}\n{\"type\":\"wibble\",\"subtype\":\"x\"}\n{\"type\":\"keep_alive\",\"zz\":1}\nnot json\n";
    let [init, answer, outcome] = crate::common::session("s-1", "Hi.");
    let ran = feed(["check", "--level", "note", "-"], format!("{init}\n{answer}\n{unknown}").as_bytes());
    assert_eq!(ran.code, 1, "an outcome is missing: {}", ran.text());
    for line in [
        "-:3: unknown type wibble/x (2 in all) [warning unknown-type]",
        "-:5: unknown field, or of an unknown type: /zz (1 in all) [note unknown-field]",
        "-:1: the turn that begins here has no outcome [error missing-outcome]",
        "1 line that is no JSON (first: line 6)",
    ] {
        assert!(ran.text().contains(line), "{line}: {}", ran.text());
    }
    let ran = feed(["check", "-"], format!("{init}\n{answer}\n{unknown}{outcome}\n").as_bytes());
    assert_eq!(ran.code, 0, "what is unknown is no fault: {}", ran.text());
    assert!(
        ran.text().contains("unknown-type") && !ran.text().contains("unknown-field"),
        "{}",
        ran.text()
    );
    let odd = feed(
        ["check", "--dialect", "tricode"],
        b"{\"type\":\"system\",\"message\":\"Session ID: abcd1234\"}\n{\"type\":\"final\",\"content\":5}\n",
    );
    let told = "-:2: does not fit the schema: /content: value is not of type \"string\" (1 in all) [error schema]";
    assert!(odd.text().contains(told), "{}", odd.text());
    assert_eq!(odd.code, 1);
    assert_eq!(feed(["check"], b"{\"x\":1}\n").code, 2);
    assert_eq!(run(["check", "/no/such/file", arg(&golden("claude/cli_plain.out.jsonl"))]).code, 3);
    assert_eq!(
        feed(["check", "--dialect", "claude", "--max-line", "10"], log("s", "x").as_bytes()).code,
        1
    );
}

#[test]
fn check_tells_programs_what_it_finds() {
    let [init, answer, outcome] = crate::common::session("s-1", "Hi.");
    let twice = format!("{init}\n{answer}\n{outcome}\n{outcome}\n");
    let ran = feed(["check", "--json"], twice.as_bytes());
    assert_eq!(ran.code, 1);
    let found: Vec<serde_json::Value> = ran.text().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let second = found.iter().find(|finding| finding["rule"] == "second-outcome").unwrap();
    assert_eq!(
        (&second["file"], &second["level"], &second["pointer"]),
        (&"-".into(), &"error".into(), &"".into())
    );
    assert_eq!((&second["line"], &second["byte"]), (&4.into(), &1.into()));
    assert!(ran.err.contains("-: claude (") && ran.err.contains("4 lines, 2 outcomes"), "{}", ran.err);
    let quiet = feed(["check", "-q"], twice.as_bytes());
    assert_eq!((quiet.code, quiet.text(), quiet.err.as_str()), (1, "", ""));
    let rules = run(["check", "--rules"]);
    assert!(rules.code == 0 && rules.text().contains("second-outcome"), "{}", rules.text());
    assert_eq!(feed(["check", "--level", "bad"], b"").code, 2);
}

#[test]
fn check_follows_a_log_into_another_dialect() {
    let [init, answer, outcome] = crate::common::session("s-1", "Hi.");
    let tricode = std::fs::read_to_string(golden("tricode/plain.jsonl")).unwrap();
    let both = format!("{init}\n{answer}\n{outcome}\n{tricode}");
    let ran = feed(["check", "--level", "note"], both.as_bytes());
    assert_eq!(ran.code, 0, "{}", ran.text());
    assert!(ran.text().contains("-:4: from here on it is tricode"), "{}", ran.text());
    let ran = feed(["check", "--from", "claude"], both.as_bytes());
    assert!(ran.code == 1 && ran.text().contains("[error foreign-session]"), "{}", ran.text());
}

#[test]
fn every_rule_has_its_entry_on_the_page() {
    let page = std::fs::read_to_string(std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/check.md")).unwrap();
    let named: Vec<&str> = page.lines().filter_map(|line| line.strip_prefix("### `")?.strip_suffix('`')).collect();
    let rules = run(["check", "--rules", "--json"]);
    let rules: Vec<serde_json::Value> = rules.text().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(named, rules.iter().map(|rule| rule["rule"].as_str().unwrap()).collect::<Vec<_>>());
    for rule in &rules {
        let (name, level) = (rule["rule"].as_str().unwrap(), rule["level"].as_str().unwrap());
        let entry = page.split(&format!("### `{name}`")).nth(1).unwrap().trim_start();
        assert!(entry.to_lowercase().starts_with(&format!("{level}.")), "{name} is of level {level}");
    }
}

#[test]
fn schemas_are_written() {
    let of = |args: &[&str]| serde_json::from_slice::<serde_json::Value>(&run([&["schema"], args].concat()).out).unwrap();
    let all = of(&[]);
    assert_eq!(all["claude"], of(&["--dialect", "claude"]));
    assert_ne!(of(&["--dialect", "qwen", "--input"]), all["qwen"]);
    assert_eq!(all["claude:transcript"], of(&["--dialect", "claude:transcript"]));
    assert_eq!(run(["schema", "--dialect", "claude:transcript", "--input"]).code, 2);
    assert_eq!(run(["schema", "--dialect", "tricode", "--input"]).code, 2);
    assert_eq!(run(["schema", "--dialect", "wool"]).code, 2);
    assert!(run(["schema", "--dialect", "cursr"]).err.contains("did you mean \"cursor\"?"));
    let text = run(["schema", "--dialect", "claude:text"]);
    assert!(text.code == 2 && text.err.contains("is for people"), "{}", text.err);
}

#[test]
fn check_reads_documents_too() {
    let ran = run(["check", arg(&golden("claude/cli_json_verbose.out.json"))]);
    assert_eq!(ran.code, 0, "{}", ran.text());
    assert!(ran.text().contains("claude:json (message 1: "), "{}", ran.text());
    assert_eq!(run(["check", arg(&golden("hostile/claude-array-cut.json"))]).code, 1);
}

#[test]
fn other_programs_convert_through_the_library() {
    let options = agentglot::adapters::convert::Options::new("claude".parse().unwrap(), "tricode".parse().unwrap());
    let input = format!("{}{{\"type\":", log("s-1", "Good day."));
    let mut written = Vec::new();
    let report = agentglot::convert(input.as_bytes(), &mut written, options).unwrap();
    assert_eq!((report.lines, report.damage.len()), (4, 1));
    assert_eq!(written, feed(["convert", "--from", "claude", "--to", "tricode"], input.as_bytes()).out);
}

/// A terminal as standard input is wrong usage.
#[cfg(target_os = "linux")]
#[test]
fn a_terminal_is_not_waited_for() {
    let Ok(output) = std::process::Command::new("script")
        .args(["-qec", &format!("{} convert --to claude", env!("CARGO_BIN_EXE_agentglot")), "/dev/null"])
        .stdin(std::process::Stdio::null())
        .output()
    else {
        return skipped("a terminal as standard input", "there is no script(1)");
    };
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("standard input is a terminal"), "{text}");
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn names_that_are_nearly_right_are_corrected_and_lists_fit_the_use() {
    let err = |args: &[&str]| {
        let ran = run(args);
        assert_eq!(ran.code, 2, "{args:?}: {}", ran.err);
        ran.err
    };
    assert!(err(&["convert", "--to", "cursr", "x"]).contains("unknown dialect \"cursr\"; did you mean \"cursor\"?"));
    let written = err(&["convert", "--to", "zzz", "x"]);
    assert!(written.contains("claude:text") && !written.contains("anthropic"), "{written}");
    let read = err(&["convert", "--from", "zzz", "--to", "claude", "x"]);
    assert!(
        !read.contains("claude:text") && read.contains("anthropic") && read.contains("auto"),
        "{read}"
    );
    // What is never written is told with what is, in the same dialect.
    let sse = err(&["convert", "--to", "openai", "x"]);
    assert!(sse.contains("there is openai:messages") && !sse.contains("claude"), "{sse}");
    // A format that would not count is no part of a name.
    for (args, meant) in [
        (&["run", "--as", "claude:json"][..], "say claude\n"),
        (&["run", "--as", "opencode:bus"], "say opencode\n"),
        (&["sessions", "copy", "x", "--to", "gemini:json"], "say gemini\n"),
    ] {
        assert!(err(args).contains(meant), "{args:?}: {}", err(args));
    }
    let run = err(&["run", "--as", "zzz"]);
    assert!(
        run.contains("tricode") && !run.contains("anthropic") && !run.contains("agentglot:"),
        "{run}"
    );
}

#[test]
fn what_is_not_there_empty_or_of_no_dialect_is_told_in_words_that_help() {
    let scratch = Scratch::new();
    let empty = scratch.file("empty.jsonl", "\n\n");
    let ran = run(["show", arg(&empty)]);
    assert!(
        ran.code == 0 && ran.out.is_empty() && ran.err.contains("there is nothing to show"),
        "{}",
        ran.err
    );
    let one = scratch.file("one.jsonl", log("s-1", "Hi."));
    let ran = run(["diff", arg(&empty), arg(&one)]);
    assert!(
        ran.code == 1 && ran.err.contains("empty.jsonl: empty, there is nothing to compare"),
        "{}",
        ran.err
    );
    let ran = run(["show", "--turn", "9", arg(&one)]);
    assert!(ran.code == 0 && ran.err.contains("there is no turn 9; the last one is 1"), "{}", ran.err);
    let ran = run(["show", "--turn", "1", arg(&one)]);
    assert!(ran.code == 0 && !ran.out.is_empty() && ran.err.is_empty(), "{}", ran.err);
    let ran = run(["show", arg(&scratch.path(""))]);
    assert!(ran.code == 3 && ran.err.contains("`agentglot view` shows"), "{}", ran.err);
    let plain = scratch.file("plain.jsonl", "Some words.\n");
    let log = scratch.file("log.jsonl", log("s-1", "Hi."));
    // These commands have no --from.
    for args in [&["stats", arg(&plain)][..], &["diff", arg(&log), arg(&plain)]] {
        let ran = run(args);
        assert!(
            ran.code == 2 && ran.err.contains("agentglot convert --from DIALECT"),
            "{args:?}: {}",
            ran.err
        );
        assert!(!ran.err.contains("name it with --from"), "{args:?}: {}", ran.err);
    }
    // Nor is it standard input that `stats` reads where no log is named.
    let help = run(["stats", "--help"]);
    assert!(!help.text().contains("or nothing is standard input"), "{}", help.text());
}

/// The help of `run` names every program that it can stand in for, and every one that it can start.
#[cfg(all(unix, feature = "agent"))]
#[test]
fn the_help_of_run_names_all_programs() {
    use agentglot::adapters::raw::codec::Dialect;
    use agentglot::adapters::raw::launch::Program;

    let ran = run(["run", "--help"]);
    // Words stand whole in it, however its lines are broken.
    let words = |text: &str| -> Vec<String> { text.split([' ', '\n', ',', '.', ':', '(', ')']).map(str::to_owned).collect() };
    let (head, tail) = ran.text().split_once("Back ends:").unwrap();
    let (head, tail) = (words(head), words(tail));
    for program in Dialect::readable().filter_map(Dialect::program).filter(|program| program.has_stand_in()) {
        assert!(head.contains(&program.dialect.name().to_owned()), "--as {}", program.dialect.name());
        for link in program.links {
            assert!(tail.contains(&(*link).to_owned()), "a link {link}");
        }
    }
    for program in Program::backends() {
        assert!(
            program.backend.iter().any(|name| tail.contains(&(*name).to_owned())),
            "cli:{:?}",
            program.backend
        );
    }
}

#[test]
fn more_prompts_than_turns_are_an_error() {
    let scratch = Scratch::new();
    let input = scratch.file("in.jsonl", log("s-1", "Good day."));
    let with = |prompts: &[&str]| {
        let mut args = vec!["convert", "--to", "cursor"];
        args.extend(prompts.iter().flat_map(|prompt| ["--prompt", prompt]));
        args.push(arg(&input));
        run(args)
    };
    assert_eq!(with(&["One"]).code, 0);
    let ran = with(&["One", "Two"]);
    assert_eq!(ran.code, 2);
    assert!(
        ran.err.contains("2 prompts are given with --prompt, and 1 of its turns take one"),
        "{}",
        ran.err
    );
}

#[test]
fn a_flag_that_is_neither_ours_nor_the_program_s_is_told_before_the_program_s_own() {
    let run = |args: &[&str]| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_agentglot"));
        command.args(args).env("AGENTGLOT_BACKEND", "demo").stdin(std::process::Stdio::null());
        let out = command.output().unwrap();
        (out.status.code(), String::from_utf8_lossy(&out.stderr).into_owned())
    };
    for program in ["qwen", "claude"] {
        let (code, stderr) = run(&["run", "--as", program, "--bakend", "demo", "--", "-p", "hi"]);
        assert_eq!(code, Some(2), "{stderr}");
        assert!(stderr.contains("--bakend is no option of `agentglot run`"), "{stderr}");
        // What stands behind `--` is the program's, whose hosts may be newer than we are.
        for args in [
            &["run", "--as", program, "--", "--bakend", "-p", "hi"][..],
            &["run", "--as", program, "--model", "m", "--", "hi"],
        ] {
            let (_, stderr) = run(args);
            assert!(!stderr.contains("is no option of"), "{args:?}: {stderr}");
        }
    }
}
