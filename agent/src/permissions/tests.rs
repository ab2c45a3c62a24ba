//! What is judged how.

use serde_json::{Value, json};
use tempfile::TempDir;

use super::*;
use crate::tools::{Access, Owner, ShellCommand};
use agentglot_adapters::raw::codec::Dialect;
use agentglot_adapters::raw::event::ToolKind;
use agentglot_adapters::raw::launch::Launch;

pub(super) struct Room {
    _folder: TempDir,
    pub(super) root: PathBuf,
}

pub(super) fn room() -> Room {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap().join("w");
    std::fs::create_dir_all(root.join("src")).unwrap();
    Room { _folder: folder, root }
}

pub(super) fn launch(dialect: Dialect, mode: Option<PermissionMode>) -> Launch {
    Launch {
        permission: mode,
        answerer: Answerer::Host,
        ..Launch::new(dialect)
    }
}

pub(super) fn policy(room: &Room, launch: &Launch) -> Policy {
    let words = crate::persona::of(launch.format.dialect).vocabulary();
    let (policy, problems) = Policy::new(launch, words, &room.root, Some(PathBuf::from("/home/u")), None);
    assert_eq!(problems, Vec::<String>::new());
    policy
}

pub(super) fn spec(name: &str, kind: ToolKind) -> Spec {
    Spec {
        name: name.to_owned(),
        description: String::new(),
        schema: json!({}),
        kind,
        ..Spec::default()
    }
}

pub(super) fn word(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Allow { .. } => "allow",
        Verdict::Deny { .. } => "deny",
        Verdict::Ask { .. } => "ask",
    }
}

fn write(policy: &Policy, path: &str) -> Verdict {
    policy.judge(
        &spec("Write", ToolKind::Write),
        &json!({"file_path": path, "content": "x"}),
        &Access::Write(vec![path.to_owned()]),
    )
}

fn read(policy: &Policy, path: &str) -> Verdict {
    policy.judge(
        &spec("Read", ToolKind::Read),
        &json!({"file_path": path}),
        &Access::Read(vec![path.to_owned()]),
    )
}

pub(super) fn run(policy: &Policy, line: &str) -> Verdict {
    policy.judge(&spec("Bash", ToolKind::Shell), &json!({"command": line}), &asked(line))
}

/// The least that git takes for a repository.
pub(super) fn repository(folder: &Path) {
    for inside in [".git/objects", ".git/refs/heads"] {
        std::fs::create_dir_all(folder.join(inside)).unwrap();
    }
    std::fs::write(folder.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
    std::fs::write(folder.join(".git/config"), "[core]\n\trepositoryformatversion = 0\n\tbare = false\n").unwrap();
}

/// A command in the working folder.
pub(super) fn asked(line: &str) -> Access {
    Access::Run(ShellCommand {
        line: line.to_owned(),
        folder: Some(PathBuf::new()),
        programs: ["/usr/local/bin", "/usr/bin", "/bin"].map(PathBuf::from).to_vec(),
    })
}

#[test]
fn the_modes_decide_what_no_rule_does() {
    use PermissionMode as M;
    let room = room();
    // Reading inside, outside; writing inside, outside, what git runs; a command that changes something.
    for (mode, then) in [
        (M::Ask, ["allow", "ask", "ask", "ask", "ask", "ask"]),
        (M::AcceptEdits, ["allow", "ask", "allow", "ask", "ask", "ask"]),
        (M::Plan, ["allow", "ask", "ask", "ask", "ask", "ask"]),
        (M::Bypass, ["allow"; 6]),
        (M::DontAsk, ["allow", "deny", "deny", "deny", "deny", "deny"]),
        (M::Auto, ["allow", "ask", "ask", "ask", "ask", "ask"]),
    ] {
        let policy = policy(&room, &launch(Dialect::Claude, Some(mode)));
        let judged = [
            read(&policy, "src/a"),
            read(&policy, "/etc/passwd"),
            write(&policy, "src/a"),
            write(&policy, "../a"),
            write(&policy, ".git/hooks/pre-commit"),
            run(&policy, "make install"),
        ];
        assert_eq!(judged.each_ref().map(word), then, "{mode:?}");
    }
}

#[test]
fn deny_goes_before_ask_and_ask_before_allow() {
    let room = room();
    let mut launch = launch(Dialect::Claude, Some(PermissionMode::Bypass));
    launch.allowed_tools = vec!["Write".into(), "Read".into(), "Bash(make:*)".into()];
    launch.disallowed_tools = vec!["Write(secret/**)".into(), "WebFetch".into()];
    let mut policy = policy(&room, &launch);
    assert_eq!(
        policy.add(Source::User, Behavior::Ask, &["Write(asked/**)", "Bash(make install)"]),
        Vec::<String>::new()
    );
    for bypass in [true, false] {
        assert_eq!(word(&write(&policy, "secret/x")), "deny");
        assert_eq!(word(&write(&policy, "asked/x")), "ask");
        assert_eq!(word(&write(&policy, "x")), "allow");
        assert_eq!(word(&run(&policy, "make install")), "ask");
        assert_eq!(word(&run(&policy, "make test")), "allow");
        assert_eq!(word(&run(&policy, "touch x")), if bypass { "allow" } else { "ask" });
        assert_eq!(policy.set_mode("default"), Ok(PermissionMode::Ask));
    }
    assert!(!policy.offered(&spec("WebFetch", ToolKind::Fetch)) && policy.offered(&spec("Write", ToolKind::Write)));
}

#[test]
fn a_bare_rule_does_not_open_what_programs_read_when_they_start() {
    let room = room();
    let mut launch = launch(Dialect::Claude, Some(PermissionMode::AcceptEdits));
    launch.allowed_tools = vec!["Write".into(), "Edit(**)".into(), "Edit(.claude/agents/**)".into()];
    let policy = policy(&room, &launch);
    assert_eq!(word(&write(&policy, ".claude/settings.json")), "ask");
    assert_eq!(word(&write(&policy, ".git/config")), "ask");
    assert_eq!(word(&write(&policy, ".claude/agents/a.md")), "allow");
    assert_eq!(word(&write(&policy, "/somewhere/else")), "allow");
}

#[test]
fn bypass_is_for_those_who_were_launched_with_it() {
    let room = room();
    let mut asking = policy(&room, &launch(Dialect::Claude, None));
    let refused = asking.set_mode("bypassPermissions").unwrap_err();
    assert_eq!(
        refused.0,
        "Cannot set permission mode to bypassPermissions because the session was not launched with --dangerously-skip-permissions"
    );
    assert_eq!(
        asking.set_mode("bogus").unwrap_err().0,
        "Cannot set permission mode: must be one of acceptEdits, auto, bypassPermissions, default, dontAsk, plan"
    );
    assert_eq!(asking.mode(), PermissionMode::Ask);
    let mut launch = launch(Dialect::Claude, None);
    launch.rest.push(("--allow-dangerously-skip-permissions".into(), None));
    assert_eq!(policy(&room, &launch).set_mode("bypassPermissions"), Ok(PermissionMode::Bypass));
}

#[test]
fn lists_of_tools_restrict_what_runs() {
    let room = room();
    let mut launch = launch(Dialect::Claude, Some(PermissionMode::Bypass));
    launch.tools = Some(vec!["Read".into()]);
    let policy = policy(&room, &launch);
    assert_eq!(word(&read(&policy, "a")), "allow");
    let Verdict::Deny { message, reason } = write(&policy, "a") else {
        panic!("a tool that does not exist ran")
    };
    assert_eq!(reason, Reason::NotOffered);
    assert!(message.starts_with("Permission to use Write has been denied"), "{message}");
    let mcp = policy.judge(&spec("mcp__a__b", ToolKind::Mcp), &Value::Null, &Access::Mcp);
    assert_eq!(word(&mcp), "allow");
}

#[test]
fn what_allows_a_server_allows_no_other_whose_name_begins_so() {
    let room = room();
    let of = |server: &str, tool: &str, trusted: bool| Spec {
        owner: Some(Owner {
            server: server.to_owned(),
            trusted,
        }),
        ..spec(&format!("mcp__{server}__{tool}"), ToolKind::Mcp)
    };
    let judged = |rule: &str, behavior: Behavior, spec: &Spec| {
        let mut launch = launch(Dialect::Claude, None);
        let rules = vec![rule.to_owned()];
        match behavior {
            Behavior::Allow => launch.allowed_tools = rules,
            _ => launch.disallowed_tools = rules,
        }
        word(&policy(&room, &launch).judge(spec, &Value::Null, &Access::Mcp))
    };
    // A rule, the server and the tool; what it does as one that allows, and as one that denies.
    let cases = [
        ("mcp__a", "a", "t", "allow", "deny"),
        ("mcp__a", "a", "b__t", "allow", "deny"),
        ("mcp__a", "a__b", "t", "ask", "deny"),
        ("mcp__a", "a_", "t", "ask", "deny"),
        ("mcp__a__*", "a__b", "t", "ask", "deny"),
        ("mcp__a__*", "a", "b__t", "allow", "deny"),
        ("mcp__a__b*", "a__b", "t", "ask", "deny"),
        ("mcp__a__b*", "a", "b__t", "allow", "deny"),
        ("mcp__a__b", "a__b", "t", "allow", "deny"),
        ("mcp__a__b", "a", "b", "allow", "deny"),
        ("mcp__a__b", "a", "b__t", "ask", "deny"),
        ("mcp__a__b__t", "a__b", "t", "allow", "deny"),
        ("mcp__a__b__t", "a", "b__t", "allow", "deny"),
        ("mcp__*", "a__b", "t", "allow", "deny"),
        ("mcp__a", "ab", "t", "ask", "ask"),
    ];
    for (rule, server, tool, allows, denies) in cases {
        let spec = of(server, tool, false);
        let got = [judged(rule, Behavior::Allow, &spec), judged(rule, Behavior::Deny, &spec)];
        assert_eq!(got, [allows, denies], "{rule} and {tool} of {server}");
    }
    let mut qwen = policy(&room, &launch(Dialect::QwenCode, Some(PermissionMode::Ask)));
    for trusts in [false, true] {
        qwen.trusts_servers(trusts);
        let got = [("a", true), ("a__b", false)].map(|(server, trusted)| word(&qwen.judge(&of(server, "t", trusted), &Value::Null, &Access::Mcp)));
        assert_eq!(got, [if trusts { "allow" } else { "ask" }, "ask"]);
    }
}

#[test]
fn questions_have_the_recorded_shape() {
    let room = room();
    let claude = policy(&room, &launch(Dialect::Claude, None));
    let Verdict::Ask { suggestions, fields, .. } = write(&claude, &room.root.join("asked.txt").display().to_string()) else {
        panic!("not asked")
    };
    assert_eq!(
        suggestions,
        Some(json!([{"type": "setMode", "mode": "acceptEdits", "destination": "session"}]))
    );
    assert_eq!(
        fields,
        [
            ("display_name".to_owned(), json!("Write")),
            ("description".to_owned(), json!("asked.txt"))
        ]
    );
    let qwen = policy(&room, &launch(Dialect::QwenCode, Some(PermissionMode::Ask)));
    let line = "touch made.txt; echo ok";
    let Verdict::Ask { suggestions, .. } = qwen.judge(&spec("run_shell_command", ToolKind::Shell), &json!({"command": line}), &asked(line)) else {
        panic!("not asked")
    };
    assert_eq!(
        suggestions,
        Some(json!([
            {"type": "allow", "label": "Allow Command", "description": "Execute: touch made.txt; echo ok"},
            {"type": "deny", "label": "Deny", "description": "Block this command execution"}
        ]))
    );
}

#[test]
fn where_nobody_answers_the_programs_say_so() {
    let room = room();
    let claude = policy(&room, &launch(Dialect::Claude, None));
    let access = Access::Write(vec!["asked.txt".to_owned()]);
    assert_eq!(
        claude.unheard(&spec("Write", ToolKind::Write), &access, &Unheard::Nobody),
        format!(
            "Claude requested permissions to write to {}, but you haven't granted it yet.",
            room.root.join("asked.txt").display()
        )
    );
    let mut headless = launch(Dialect::QwenCode, Some(PermissionMode::Ask));
    headless.answerer = Answerer::Nobody;
    let qwen = policy(&room, &headless);
    let write = spec("write_file", ToolKind::Write);
    assert_eq!(
        qwen.unheard(&write, &access, &Unheard::Nobody),
        "Qwen Code requires permission to use \"write_file\", but that permission was declined. Matching deny rule: \"edit\"."
    );
    assert!(!qwen.offered(&write) && qwen.offered(&spec("read_file", ToolKind::Read)));
}
