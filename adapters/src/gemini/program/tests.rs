use super::PROGRAM;
use crate::codec::Dialect;
use crate::launch::{Launch, PermissionMode, PromptBy, Resume, Unsaid, argv};

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
