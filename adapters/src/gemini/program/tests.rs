use super::{GeminiCli, PROGRAM};
use crate::codec::Dialect;
use crate::codec::Mode;
use crate::conduct::{Conduct, Ended};
use crate::event::{Limit, OutcomeKind, Place};
use crate::launch::{Command, Launch, PermissionMode, PromptBy, Resume, Unsaid, argv, parse};

fn asked(change: impl FnOnce(&mut Launch)) -> Launch {
    let mut launch = Launch::new(Dialect::Claude);
    change(&mut launch);
    launch
}

#[test]
fn it_is_started_for_a_turn() {
    let launch = asked(|launch| {
        launch.model = Some("gemini-2.5-pro".to_owned());
        launch.session_id = Some("11111111-2222-4333-8444-555555555555".to_owned());
        launch.permission = Some(PermissionMode::AcceptEdits);
        launch.allowed_tools = vec!["Bash".to_owned(), "Read".to_owned()];
        launch.add_dirs = vec!["/more".to_owned()];
        launch.partial = true;
    });
    let child = argv(&PROGRAM, &launch).unwrap();
    assert_eq!(
        child.args,
        [
            "--output-format=stream-json",
            "--skip-trust",
            "--session-id=11111111-2222-4333-8444-555555555555",
            "--model=gemini-2.5-pro",
            "--approval-mode=auto_edit",
            "--allowed-tools=run_shell_command,read_file",
            "--include-directories=/more",
        ]
    );
    assert_eq!((child.prompt, child.unsaid), (PromptBy::Stdin, Vec::<Unsaid>::new()));
    let next = asked(|launch| launch.resume = Resume::Session("s".to_owned()));
    assert!(argv(&PROGRAM, &next).unwrap().args.contains(&"--resume=s".to_owned()));
}

/// Its settings may be freer than what the host asks for.
#[test]
fn every_mode_is_said_and_none_is_freer() {
    for (mode, word) in [
        (PermissionMode::Ask, "default"),
        (PermissionMode::DontAsk, "default"),
        (PermissionMode::Plan, "plan"),
        (PermissionMode::Auto, "default"),
        (PermissionMode::Bypass, "yolo"),
    ] {
        let child = argv(&PROGRAM, &asked(|launch| launch.permission = Some(mode))).unwrap();
        assert!(child.args.contains(&format!("--approval-mode={word}")), "{mode:?}: {child:?}");
        assert_eq!(child.unsaid.is_empty(), mode != PermissionMode::Auto, "{mode:?}: {child:?}");
    }
}

fn read(words: &[&str]) -> Launch {
    let args: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
    match parse(&PROGRAM, &args, false) {
        Ok(Command::Launch(launch)) => *launch,
        other => panic!("{other:?}"),
    }
}

#[test]
fn its_command_line_is_understood() {
    let launch = read(&[
        "-m",
        "m",
        "-o",
        "stream-json",
        "-y",
        "--allowed-tools",
        "a,b",
        "c",
        "--include-directories",
        "/x,/y",
        "-p",
        "hi",
    ]);
    assert_eq!(launch.format, Dialect::Gemini.into());
    assert_eq!((launch.model.as_deref(), launch.prompt.as_deref()), (Some("m"), Some("hi")));
    assert_eq!(launch.permission, Some(PermissionMode::Bypass));
    assert_eq!((launch.allowed_tools.len(), launch.add_dirs.len(), launch.print), (3, 2, true));
    assert_eq!((read(&["hello", "you"]).prompt.as_deref(), read(&[]).prompt), (Some("hello you"), None));
    for (words, resume) in [
        (&["-r", "latest"][..], Resume::Latest),
        (&["--resume"], Resume::Latest),
        (&["--resume=5"], Resume::Session("5".to_owned())),
        (&[], Resume::New),
    ] {
        let launch = read(words);
        assert_eq!((&launch.resume, launch.format.mode), (&resume, Mode::TEXT), "{words:?}");
        let said = argv(&PROGRAM, &launch).unwrap().args;
        assert_eq!(said.contains(&"--resume=latest".to_owned()), resume == Resume::Latest, "{said:?}");
    }
}

#[test]
fn exit_codes_say_what_went_wrong() {
    for (outcome, status, is_text, code) in [
        (OutcomeKind::Success, None, false, 0),
        (OutcomeKind::Failed(Place::Model), Some(400), false, 144),
        (OutcomeKind::Failed(Place::Model), Some(500), false, 244),
        (OutcomeKind::Failed(Place::Model), Some(500), true, 1),
        (OutcomeKind::Failed(Place::Model), None, false, 1),
        (OutcomeKind::Limit(Limit::Turns), None, true, 53),
        (OutcomeKind::Failed(Place::Tool), None, false, 54),
        (OutcomeKind::Cancelled, None, false, 130),
    ] {
        let ended = Ended {
            outcome: Some(outcome),
            is_error: outcome != OutcomeKind::Success,
            status,
            is_text,
            ..Ended::default()
        };
        assert_eq!(GeminiCli.exit_code(ended), code, "{outcome:?}");
    }
}
