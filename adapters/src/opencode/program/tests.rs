use super::{EDITS, OpencodeRun, PROGRAM, READS, RULES, RUNS};
use crate::codec::{Dialect, Mode};
use crate::conduct::{Conduct, Ended};
use crate::event::{OutcomeKind, Place};
use crate::launch::{ArgError, Command, Launch, PermissionMode, PromptBy, Resume, argv, parse};

#[test]
fn it_is_started_for_a_turn() {
    let mut launch = Launch::new(Dialect::Claude);
    launch.model = Some("anthropic/claude".to_owned());
    launch.cwd = Some("/w".to_owned());
    launch.permission = Some(PermissionMode::Bypass);
    let child = argv(&PROGRAM, &launch).unwrap();
    let begin = ["run", "--format=json", "--thinking"];
    assert_eq!(child.args, [&begin[..], &["--model=anthropic/claude", "--auto", "--dir=/w"]].concat());
    assert_eq!((child.prompt, child.variables.len(), child.unsaid.len()), (PromptBy::Stdin, 0, 0));
    let mut next = Launch::new(Dialect::Claude);
    next.resume = Resume::Session("ses_1".to_owned());
    assert_eq!(argv(&PROGRAM, &next).unwrap().args, [&begin[..], &["--session=ses_1"]].concat());
}

/// By itself it runs everything.
#[test]
fn every_mode_but_the_freest_is_said_by_rules() {
    for mode in PermissionMode::ALL.into_iter().filter(|mode| *mode != PermissionMode::Bypass) {
        let mut launch = Launch::new(Dialect::Claude);
        launch.permission = Some(mode);
        let child = argv(&PROGRAM, &launch).unwrap();
        let rules = if mode == PermissionMode::AcceptEdits { EDITS } else { READS };
        assert_eq!(child.variables, [(RULES, rules)], "{mode:?}");
        assert!(!child.args.contains(&"--auto".to_owned()), "{mode:?}");
    }
}

fn read(words: &[&str]) -> Result<Launch, ArgError> {
    let args: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
    match parse(&PROGRAM, &args, false)? {
        Command::Launch(launch) => Ok(*launch),
        other => panic!("{other:?}"),
    }
}

#[test]
fn its_command_line_is_understood() {
    let launch = read(&[
        "run",
        "-m",
        "openai/gpt-4o",
        "--format",
        "json",
        "--variant=high",
        "--dir",
        "/w",
        "stats",
        "of",
        "it",
    ])
    .unwrap();
    assert_eq!((launch.format, launch.prompt.as_deref()), (Dialect::Opencode.into(), Some("stats of it")));
    assert_eq!((launch.model.as_deref(), launch.effort.as_deref()), (Some("openai/gpt-4o"), Some("high")));
    assert_eq!((launch.cwd.as_deref(), launch.print), (Some("/w"), true));
    assert_eq!(PROGRAM.bare_model("openrouter/some/model"), "some/model");
    for (words, mode) in [(&["run"][..], Mode::TEXT), (&["run", "--format", "default"], Mode::TEXT)] {
        assert_eq!(read(words).unwrap().format.mode, mode, "{words:?}");
    }
    for (words, resume, fork) in [
        (&["run", "-c", "x"][..], Resume::Latest, false),
        (&["run", "-s", "ses_1", "--fork"], Resume::Session("ses_1".to_owned()), true),
        (&["run", "x"], Resume::New, false),
    ] {
        let launch = read(words).unwrap();
        assert_eq!((launch.resume, launch.fork), (resume, fork), "{words:?}");
    }
}

/// It runs what is in its folder, and plans where it is told to.
#[test]
fn agents_and_flags_are_modes() {
    for (words, mode) in [
        (&["run", "x"][..], PermissionMode::AcceptEdits),
        (&["run", "--agent", "build", "x"], PermissionMode::AcceptEdits),
        (&["run", "--agent", "plan", "--auto", "x"], PermissionMode::Plan),
        (&["run", "--auto", "x"], PermissionMode::Bypass),
    ] {
        let launch = read(words).unwrap();
        assert_eq!((launch.permission_or_default(), launch.agent.as_deref()), (mode, None), "{words:?}");
        assert_eq!(launch.allowed_tools, RUNS);
    }
    assert_eq!(read(&["run", "--agent", "mine", "x"]).unwrap().agent.as_deref(), Some("mine"));
}

#[test]
fn what_is_not_for_a_stand_in_is_refused() {
    for (words, why) in [
        (&["run", "--fork", "x"][..], "Error: --fork requires --continue or --session"),
        (&["run", "--attach", "http://h", "x"], "'opencode run --attach'"),
        (&["run", "--command", "init"], "'opencode run --command'"),
        (&["hello"], "say 'opencode run'"),
        (&[], "say 'opencode run'"),
    ] {
        let refused = read(words).unwrap_err();
        assert!(refused.text.contains(why) && refused.exit_code == 1, "{refused:?}");
    }
}

#[test]
fn exit_codes_are_one_or_none() {
    for (outcome, code) in [
        (Some(OutcomeKind::Success), 0),
        (Some(OutcomeKind::Failed(Place::Model)), 1),
        (Some(OutcomeKind::Refused), 1),
        (Some(OutcomeKind::Cancelled), 0),
        (None, 1),
    ] {
        let ended = Ended {
            outcome,
            is_error: outcome != Some(OutcomeKind::Success),
            ..Ended::default()
        };
        assert_eq!(OpencodeRun.exit_code(ended), code, "{outcome:?}");
    }
}
