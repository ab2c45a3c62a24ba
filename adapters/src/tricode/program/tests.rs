use crate::codec::{Dialect, Mode};
use crate::launch::tests::*;
use crate::launch::*;

#[test]
fn tricode_reads_as_argparse_does() {
    let read = |list: &[&str]| launch(Dialect::Tricode, list);
    let asked = read(&["--stdio", "--tools", "read_file, plan", "--work-dir=/w", "do the task"]);
    assert_eq!((asked.format, asked.prompt.as_deref()), (Dialect::Tricode.into(), Some("do the task")));
    assert_eq!(asked.tools, Some(words(&["read_file", "plan"])));
    assert_eq!((asked.cwd.as_deref(), asked.answerer), (Some("/w"), Answerer::Typed));
    assert_eq!(read(&["--stdio", "--bypass-permission", "go"]).permission, Some(PermissionMode::Bypass));
    // Abbreviations, clusters, prompts that look like flags.
    assert_eq!(read(&["--std", "--res", "0a1b2c3d", "go"]).resume, Resume::Session("0a1b2c3d".to_owned()));
    assert!(read(&["-vrabc", "go"]).verbose);
    assert_eq!(read(&["-vrabc", "go"]).resume, Resume::Session("abc".to_owned()));
    assert_eq!(read(&["-what is this"]).prompt.as_deref(), Some("-what is this"));
    assert_eq!(read(&["--", "--stdio"]).prompt.as_deref(), Some("--stdio"));
    assert_eq!(read(&["-5"]).prompt.as_deref(), Some("-5"));
    assert_eq!(read(&["a", "--"]).prompt.as_deref(), Some("a"));
    // Without --stdio it writes for people.
    assert_eq!(read(&["go"]).format.mode, Mode::TEXT);
    assert_eq!(errand(Dialect::Tricode, &["-l"]), Errand::Sessions);
    assert_eq!(errand(Dialect::Tricode, &["--version"]), Errand::Version);
    assert_eq!(errand(Dialect::Tricode, &["--upd"]), Errand::Update);
}

#[test]
fn tricode_refuses_what_argparse_refuses() {
    for (args, text) in [
        (&["--stdio"][..], "the following arguments are required: prompt"),
        (&["--stdio", "a", "b"], "unrecognized arguments: b"),
        (&["--stdio", "--new", "a"], "unrecognized arguments: --new"),
        (&["--tools"], "argument --tools: expected one argument"),
        (&["-r", "-l", "x"], "argument -r/--resume: expected one argument"),
        (&["--stdio=1", "x"], "argument --stdio: ignored explicit argument '1'"),
        (&["-v=x", "x"], "argument -v/--verbose: ignored explicit argument 'x'"),
        (&["-vx", "x"], "unrecognized arguments: -x"),
        (&["a", "-v", "--"], "unrecognized arguments: --"),
        (&["-x", "-v", "a", "b", "-l"], "unrecognized arguments: -x b"),
        (
            &["--tools", "--bypass"],
            "ambiguous option: --bypass could match --bypass-work-directory-limit, --bypass-permission",
        ),
        (
            &["--bypass", "x"],
            "ambiguous option: --bypass could match --bypass-work-directory-limit, --bypass-permission",
        ),
        (&["--ver", "x"], "ambiguous option: --ver could match --version, --verbose"),
    ] {
        let error = refusal(Dialect::Tricode, args);
        assert_eq!(error.exit_code, 2);
        assert!(
            error.text.starts_with("Tricode-cli dev (git-unknown)\n\nusage: tricode.py [-h]"),
            "{}",
            error.text
        );
        assert!(
            error.text.ends_with(&format!("\ntricode.py: error: {text}\n")),
            "{args:?}: {}",
            error.text
        );
    }
}
