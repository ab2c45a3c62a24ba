use proptest::prelude::*;

use super::*;

fn child(dialect: Dialect, asked: &Launch) -> Child {
    argv(program(dialect), asked).expect("it can be said")
}

fn why(child: &Child, what: &str) -> Option<&'static str> {
    child.unsaid.iter().find(|unsaid| unsaid.what == what).map(|unsaid| unsaid.why)
}

#[test]
fn a_launch_of_claude_in_the_words_of_others() {
    let asked = launch(
        Dialect::Claude,
        &[
            "--output-format=stream-json",
            "--verbose",
            "--input-format=stream-json",
            "--permission-prompt-tool=stdio",
            "--permission-mode=acceptEdits",
            "--model=m",
            "--system-prompt=You are x",
            "--disallowedTools=Bash,Write,mcp__a__b",
            "--allowedTools=Bash(git *),Read",
            "--max-turns=3",
            "--resume=s1",
            "--mcp-config={\"mcpServers\":{}}",
            "--settings=/s.json",
            "--include-partial-messages",
            "--debug-to-stderr",
        ],
    );
    let qwen = child(Dialect::QwenCode, &asked);
    assert_eq!(
        qwen.args,
        [
            "--input-format=stream-json",
            "--output-format=stream-json",
            "--channel=SDK",
            "--resume=s1",
            "--include-partial-messages",
            "--model=m",
            "--system-prompt=You are x",
            "--approval-mode=auto-edit",
            "--allowed-tools=read_file",
            "--exclude-tools=run_shell_command,write_file,mcp__a__b",
        ]
    );
    // Configuration of MCP servers may hold keys.
    assert_eq!(
        qwen.files,
        [FilePart {
            flag: "--mcp-config",
            text: "{\"mcpServers\":{}}".to_owned()
        }]
    );
    assert_eq!(qwen.prompt, PromptBy::Lines);
    assert!(
        why(&qwen, "max_turns").is_some()
            && why(&qwen, "allowed_tools").is_some()
            && why(&qwen, "settings").is_some()
            && why(&qwen, "rest").is_some()
    );

    let cursor = child(Dialect::Cursor, &asked);
    assert_eq!(
        cursor.args,
        [
            "--print",
            "--output-format=stream-json",
            "--trust",
            "--resume=s1",
            "--stream-partial-output",
            "--model=m",
        ]
    );
    assert!(why(&cursor, "permission").is_some() && why(&cursor, "answerer").is_some() && why(&cursor, "system.replace").is_some());
    assert!(why(&cursor, "disallowed_tools").is_some() && cursor.files.is_empty());

    assert_eq!(argv(program(Dialect::Tricode), &asked), Err(ArgvError::NoPrompt));
    let asked = Launch {
        prompt: Some("--stdio".to_owned()),
        ..asked
    };
    let tricode = child(Dialect::Tricode, &asked);
    assert_eq!(tricode.args, ["--stdio", "--resume=s1", "--", "--stdio"]);
    assert_eq!(tricode.prompt, PromptBy::Argument);
}

#[test]
fn the_same_program_hears_its_own_flags_again() {
    let asked = launch(
        Dialect::Claude,
        &[
            "--output-format=stream-json",
            "--verbose",
            "--input-format=stream-json",
            "--allowedTools=Bash(git *)",
            "--setting-sources=",
            "--betas",
            "a",
            "b",
            "--debug-to-stderr",
            "--thinking=adaptive",
            "--permission-prompt-tool=mcp__x__ask",
        ],
    );
    let said = child(Dialect::Claude, &asked);
    assert!(said.unsaid.is_empty(), "{:?}", said.unsaid);
    let again: Vec<&str> = said.args.iter().map(String::as_str).collect();
    assert_eq!(launch(Dialect::Claude, &again), asked);
    // Python's SDK always says so: to Claude no system prompt, to the others nothing.
    let asked = launch(Dialect::Claude, &["--system-prompt", "", "hi"]);
    assert!(child(Dialect::Claude, &asked).args.contains(&"--system-prompt=".to_owned()));
    assert!(why(&child(Dialect::QwenCode, &asked), "system.replace").is_some());
    // Keys and what belongs to the host alone are not said again.
    let asked = launch(Dialect::Cursor, &["-p", "--api-key", "secret", "--mode=ask", "--sandbox=enabled", "hi"]);
    let said = child(Dialect::Cursor, &asked);
    assert_eq!(
        said.args,
        ["--print", "--output-format=stream-json", "--trust", "--mode=ask", "--sandbox=enabled"]
    );
    assert!(why(&said, "rest").is_some());
}

#[test]
fn no_mode_is_replaced_by_a_freer_one() {
    for from in PROGRAMS {
        for mode in PermissionMode::ALL {
            let asked = Launch {
                permission: Some(mode),
                prompt: Some("x".to_owned()),
                ..Launch::new(from)
            };
            for to in PROGRAMS {
                let said = child(to, &asked);
                let list: Vec<&str> = said.args.iter().map(String::as_str).collect();
                let heard = launch(to, &list).permission_or_default();
                if heard != mode {
                    assert!(why(&said, "permission").is_some() || to == Dialect::Cursor, "{mode:?} {to:?} {heard:?}");
                    assert_eq!(heard, PermissionMode::Ask, "{mode:?} {to:?}");
                }
            }
        }
    }
    // Qwen's own default would let a model judge; a host of another program did not ask for that.
    assert!(
        child(Dialect::QwenCode, &Launch::new(Dialect::Claude))
            .args
            .contains(&"--approval-mode=default".to_owned())
    );
}

/// Without a word for it the program would write into the session that its host wants to keep.
#[test]
fn a_copy_is_not_asked_of_a_program_that_makes_none() {
    let asked = |resume: Resume| Launch {
        resume,
        fork: true,
        prompt: Some("go".to_owned()),
        ..Launch::new(Dialect::Claude)
    };
    for dialect in [Dialect::Gemini, Dialect::Cursor, Dialect::Tricode, Dialect::Codex] {
        for resume in [Resume::Latest, Resume::Session("s1".to_owned())] {
            assert_eq!(argv(program(dialect), &asked(resume)), Err(ArgvError::NoCopy), "{dialect:?}");
        }
        assert!(argv(program(dialect), &asked(Resume::New)).is_ok(), "{dialect:?}");
    }
    for dialect in [Dialect::Claude, Dialect::QwenCode, Dialect::Opencode] {
        assert!(argv(program(dialect), &asked(Resume::Session("s1".to_owned()))).is_ok(), "{dialect:?}");
    }
}

#[test]
fn what_cannot_be_an_argument_is_refused() {
    let mut asked = Launch::new(Dialect::Claude);
    asked.model = Some("a\0b".to_owned());
    assert_eq!(argv(program(Dialect::QwenCode), &asked), Err(ArgvError::Nul("--model")));
    asked.model = None;
    asked.system.append = Some(Text::Here("x".repeat(200_000)));
    assert_eq!(
        argv(program(Dialect::QwenCode), &asked),
        Err(ArgvError::TooLong {
            what: "--append-system-prompt",
            bytes: 200_023
        })
    );
    let said = child(Dialect::Claude, &asked);
    assert_eq!(said.files[0].flag, "--append-system-prompt-file");
    asked.system.append = None;
    asked.prompt = Some("x".repeat(MAX_ARG));
    assert_eq!(child(Dialect::Tricode, &asked).args.last().map(String::len), Some(MAX_ARG));
    asked.prompt = Some("x".repeat(MAX_ARG + 1));
    assert!(matches!(
        argv(program(Dialect::Tricode), &asked),
        Err(ArgvError::TooLong { what: "the prompt", .. })
    ));
}

fn name() -> impl Strategy<Value = String> {
    "[a-zA-Z0-9_.:/ é-]{1,12}"
}

fn any_launch() -> impl Strategy<Value = Launch> {
    let session = (
        proptest::option::of(name()),
        proptest::option::of(Just(UUID.to_owned())),
        any::<bool>(),
        prop_oneof![Just(Resume::New), Just(Resume::Latest), name().prop_map(Resume::Session)],
    );
    let limits = (proptest::option::of(0..1000_u64), proptest::option::of(1..1000_u32), any::<bool>());
    let permission = proptest::option::of(proptest::sample::select(PermissionMode::ALL.to_vec()));
    let rules = || proptest::collection::vec("[A-Za-z_]{1,8}", 0..3);
    let texts = (
        proptest::option::of(name()),
        proptest::option::of(name()),
        proptest::collection::vec("/[a-z]{1,6}", 0..3),
    );
    (session, limits, permission, (rules(), rules()), texts).prop_map(
        |((model, session_id, fork, resume), (max_turns, cents, partial), permission, (allowed, refused), (system, append, add_dirs))| {
            let mut asked = Launch::new(Dialect::Claude);
            asked.fork = fork && resume != Resume::New;
            asked.session_id = session_id.filter(|_| resume == Resume::New);
            asked.model = model;
            asked.resume = resume;
            asked.max_turns = max_turns;
            asked.max_budget_usd = cents.map(|cents| f64::from(cents) / 100.0);
            asked.partial = partial;
            asked.permission = permission;
            asked.allowed_tools = allowed;
            asked.disallowed_tools = refused;
            asked.system.replace = system.map(Text::Here);
            asked.system.append = append.map(Text::Here);
            asked.add_dirs = add_dirs;
            asked
        },
    )
}

proptest! {
    /// What a program is told, it reads as it was meant: each member is the same, or was reported as unsaid.
    #[test]
    fn what_is_said_is_what_is_meant(asked in any_launch()) {
        for dialect in PROGRAMS {
            let asked = Launch {
                format: dialect.into(),
                prompt: (dialect == Dialect::Tricode).then(|| "do it".to_owned()),
                // Of others a copy is not asked.
                fork: asked.fork && program(dialect).flag_for(Means::Fork).is_some(),
                ..asked.clone()
            };
            let said = child(dialect, &asked);
            let list: Vec<&str> = said.args.iter().map(String::as_str).collect();
            let heard = launch(dialect, &list);
            let meant = |what: &str, same: bool| {
                let reported = said.unsaid.iter().any(|unsaid| unsaid.what == what);
                prop_assert!(same != reported, "{what} of {dialect:?}: {:?}", said);
                Ok(())
            };
            let empty = Launch::new(dialect);
            let same_or_unsaid = |what: &str, same: bool, asked_for: bool| if asked_for { meant(what, same) } else { meant(what, true) };
            same_or_unsaid("model", heard.model == asked.model, asked.model.is_some())?;
            same_or_unsaid("resume", heard.resume == asked.resume, asked.resume != Resume::New)?;
            same_or_unsaid("fork", heard.fork == asked.fork, asked.fork)?;
            same_or_unsaid("session_id", heard.session_id == asked.session_id, asked.session_id.is_some())?;
            same_or_unsaid("max_turns", heard.max_turns == asked.max_turns, asked.max_turns.is_some())?;
            same_or_unsaid("max_budget_usd", heard.max_budget_usd == asked.max_budget_usd, asked.max_budget_usd.is_some())?;
            same_or_unsaid("system.replace", heard.system.replace == asked.system.replace, asked.system.replace.is_some())?;
            same_or_unsaid("system.append", heard.system.append == asked.system.append, asked.system.append.is_some())?;
            same_or_unsaid("allowed_tools", heard.allowed_tools == asked.allowed_tools, asked.allowed_tools != empty.allowed_tools)?;
            same_or_unsaid("disallowed_tools", heard.disallowed_tools == asked.disallowed_tools, asked.disallowed_tools != empty.disallowed_tools)?;
            same_or_unsaid("add_dirs", heard.add_dirs == asked.add_dirs, asked.add_dirs != empty.add_dirs)?;
        }
    }
}
