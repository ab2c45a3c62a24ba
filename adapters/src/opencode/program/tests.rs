use super::{EDITS, PROGRAM, READS, RULES};
use crate::codec::Dialect;
use crate::launch::{Launch, PermissionMode, PromptBy, Resume, argv};

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
