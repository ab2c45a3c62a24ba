use std::time::Instant;

use super::*;
use agentglot_adapters::raw::codec::Dialect;

fn facts() -> Facts {
    Facts {
        session: "s".into(),
        transcript: "/t.jsonl".into(),
        cwd: "/w".into(),
        prompt: Some("p".into()),
        mode: "default".into(),
        agent: None,
        effort: Some("medium".into()),
    }
}

fn hooks(tell: Option<Tell>) -> (Hooks, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let environment = vec![("PATH".to_owned(), std::env::var("PATH").unwrap_or_default())];
    (
        Hooks::new(
            crate::persona::of(Dialect::Claude).hooks,
            folder.path().to_owned(),
            environment,
            HostRequests::default(),
            tell,
        )
        .watched_by(Watcher::Nobody),
        folder,
    )
}

fn local<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    tokio::task::LocalSet::new().block_on(&runtime, future)
}

fn bash() -> Vec<(&'static str, Value)> {
    vec![
        ("tool_name", json!("Bash")),
        ("tool_input", json!({"command": "ls"})),
        ("tool_use_id", json!("toolu_1")),
    ]
}

fn command(line: &str) -> Value {
    json!([{"matcher": "Bash|Write", "hooks": [{"type": "command", "command": line, "timeout": 5}]}])
}

#[test]
fn callbacks_are_asked_with_the_recorded_payload() {
    local(async {
        let (hooks, _folder) = hooks(None);
        hooks.set_callbacks(&json!({
            "PreToolUse": [{"matcher": "Bash", "hookCallbackIds": ["h0"]}, {"matcher": "Write", "hookCallbackIds": ["h1"]}],
            "UserPromptSubmit": [{"hookCallbackIds": ["h2"]}],
            "SessionStart": [{"hookCallbackIds": ["h3"]}],
        }));
        let facts = facts();
        let answering = async {
            loop {
                let (asked, _) = hooks.requests.take();
                if let Some((id, question)) = asked.into_iter().next() {
                    let answer = json!({"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": "no"}});
                    hooks.requests.answer(&id, Ok(answer));
                    return question;
                }
                hooks.requests.wake().notified().await;
            }
        };
        let (outcome, question) = tokio::join!(hooks.run(HookEvent::PreToolUse, &facts, bash(), Some("toolu_1")), answering);
        assert_eq!(outcome.permission, Some((Permission::Deny, "no".to_owned())));
        assert_eq!((question.kind, question.subtype.as_str()), (ControlKind::Hook, "hook_callback"));
        let body: serde_json::Map<String, Value> = question.fields.into_iter().collect();
        // ctl_hooks: the members and their order.
        assert_eq!(
            Value::Object(body).to_string(),
            r#"{"callback_id":"h0","input":{"session_id":"s","transcript_path":"/t.jsonl","cwd":"/w","prompt_id":"p","permission_mode":"default","effort":{"level":"medium"},"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls"},"tool_use_id":"toolu_1"},"tool_use_id":"toolu_1"}"#
        );
        // Nobody is asked about the beginning of a session.
        let silent = hooks.run(HookEvent::SessionStart, &facts, vec![("source", json!("startup"))], None).await;
        assert_eq!(silent, HookOutcome::default());

        let failing = async {
            loop {
                let (asked, _) = hooks.requests.take();
                if let Some((id, _)) = asked.into_iter().next() {
                    hooks
                        .requests
                        .answer(&id, Err(crate::control_requests::Unanswered::Failed("broke".into())));
                    return;
                }
                hooks.requests.wake().notified().await;
            }
        };
        let (outcome, ()) = tokio::join!(
            hooks.run(HookEvent::UserPromptSubmit, &facts, vec![("prompt", json!("x"))], None),
            failing
        );
        assert_eq!(
            outcome.failures,
            ["UserPromptSubmit: Hook callback h2 failed: the SDK host replied with an error or an invalid answer. Its answer was treated as empty."]
        );
    });
}

#[test]
fn commands_answer_by_exit_code_and_json() {
    local(async {
        let facts = facts();
        for (line, event, then) in [
            ("true", HookEvent::PreToolUse, HookOutcome::default()),
            (
                "echo no >&2; exit 2",
                HookEvent::PreToolUse,
                HookOutcome {
                    permission: Some((Permission::Deny, "[echo no >&2; exit 2]: no".into())),
                    ..HookOutcome::default()
                },
            ),
            (
                "echo oh >&2; exit 3",
                HookEvent::PreToolUse,
                HookOutcome {
                    failures: vec!["PreToolUse:Bash hook [echo oh >&2; exit 3] failed with exit code 3: oh".into()],
                    ..HookOutcome::default()
                },
            ),
            ("echo plain", HookEvent::PreToolUse, HookOutcome::default()),
            (
                r#"grep -q '"tool_name":"Bash"' && echo '{"hookSpecificOutput":{"permissionDecision":"allow","updatedInput":{"command":"pwd"},"additionalContext":"c"},"systemMessage":"m","suppressOutput":true}'"#,
                HookEvent::PreToolUse,
                HookOutcome {
                    permission: Some((Permission::Allow, String::new())),
                    updated_input: Some(json!({"command": "pwd"})),
                    context: vec!["c".into()],
                    said: vec!["m".into()],
                    quiet: true,
                    ..HookOutcome::default()
                },
            ),
            (
                r#"echo '{"continue":false,"stopReason":"halt"}'"#,
                HookEvent::PostToolUse,
                HookOutcome {
                    stop: Some("halt".into()),
                    ..HookOutcome::default()
                },
            ),
            (
                r#"echo '{"decision":"block","reason":"bad"}'"#,
                HookEvent::PostToolUse,
                HookOutcome {
                    block: Some("bad".into()),
                    ..HookOutcome::default()
                },
            ),
            (
                r#"echo '{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"allow","updatedInput":{"a":1}}}}'"#,
                HookEvent::PermissionRequest,
                HookOutcome {
                    decision: Some(json!({"behavior": "allow", "updatedInput": {"a": 1}})),
                    updated_input: None,
                    ..HookOutcome::default()
                },
            ),
            (
                r#"echo '{"hookSpecificOutput":{"hookEventName":"Stop","permissionDecision":"deny"}}'"#,
                HookEvent::PreToolUse,
                HookOutcome::default(),
            ),
        ] {
            let (hooks, _folder) = hooks(None);
            assert!(hooks.add_settings(Source::Flag, &json!({PLAIN.name(event): command(line)})).is_empty());
            assert_eq!(hooks.run(event, &facts, bash(), None).await, then, "{line}");
            let other = vec![("tool_name", json!("Read"))];
            assert_eq!(hooks.run(event, &facts, other, None).await, HookOutcome::default());
        }
    });
}

#[test]
fn hooks_run_side_by_side_and_the_strictest_counts() {
    local(async {
        let (hooks, _folder) = hooks(None);
        let one = |decision: &str| {
            let line = format!(
                "sleep 0.4; echo '{{\"hookSpecificOutput\":{{\"permissionDecision\":\"{decision}\",\"permissionDecisionReason\":\"{decision}\"}}}}'"
            );
            json!({"type": "command", "command": line})
        };
        let settings = json!({"PreToolUse": [{"matcher": "*", "hooks": [one("allow"), one("deny"), one("ask"), one("ask")]}]});
        assert!(hooks.add_settings(Source::User, &settings).is_empty());
        let begun = Instant::now();
        let outcome = hooks.run(HookEvent::PreToolUse, &facts(), bash(), None).await;
        assert_eq!(outcome.permission, Some((Permission::Deny, "deny".into())));
        assert!(begun.elapsed() < Duration::from_millis(1100), "{:?}", begun.elapsed());
    });
}

#[test]
fn a_hook_that_hangs_is_ended_with_all_that_it_started() {
    local(async {
        let (hooks, folder) = hooks(None);
        let settings = json!({"Stop": [{"hooks": [{"type": "command", "command": "(sleep 1.5; touch late) & sleep 60", "timeout": 0.3}]}]});
        assert!(hooks.add_settings(Source::User, &settings).is_empty());
        let begun = Instant::now();
        let outcome = hooks.run(HookEvent::Stop, &facts(), Vec::new(), None).await;
        assert!(begun.elapsed() < Duration::from_secs(2));
        assert!(outcome.failures[0].contains("did not end within 0.3 s"), "{:?}", outcome.failures);
        tokio::time::sleep(Duration::from_millis(2000)).await;
        assert!(!folder.path().join("late").exists(), "something outlived the hook");
    });
}

#[test]
fn hosts_see_command_hooks_as_claude_code_shows_them() {
    local(async {
        let told: Rc<RefCell<Vec<Told>>> = Rc::default();
        let tell = {
            let told = told.clone();
            Rc::new(move |event: Told| told.borrow_mut().push(event)) as Tell
        };
        let (hooks, _folder) = hooks(Some(tell));
        hooks.add_settings(Source::Flag, &json!({"PreToolUse": command("echo from-settings-hook")}));
        hooks.run(HookEvent::PreToolUse, &facts(), bash(), None).await;
        let told = told.borrow();
        assert_eq!(told.iter().map(|told| told.name).collect::<Vec<_>>(), ["hook_started", "hook_response"]);
        let mut data = told[1].data.clone();
        assert_eq!(data["hook_id"], told[0].data["hook_id"]);
        data.as_object_mut().unwrap().shift_remove("hook_id");
        assert_eq!(
            data,
            json!({"hook_name": "PreToolUse:Bash", "hook_event": "PreToolUse", "stdout": "from-settings-hook\n", "stderr": "", "exit_code": 0, "outcome": "success"})
        );
        assert_eq!(told[1].output.as_deref(), Some("from-settings-hook\n"));
    });
}

#[test]
fn matchers_are_names_patterns_or_everything() {
    for (text, subject, then) in [
        ("", "Bash", true),
        ("*", "Bash", true),
        ("Bash", "Bash", true),
        ("Bash", "BashOutput", false),
        ("Edit|Write", "Write", true),
        ("Task", "Agent", true),
        ("mcp__.*", "mcp__a__b", true),
        ("^Note", "NotebookEdit", true),
        (".*", "x", true),
    ] {
        assert_eq!(
            Matcher::read(Some(&json!(text)))
                .unwrap()
                .fits(subject, crate::persona::of(Dialect::Claude).hooks.aliases),
            then,
            "{text} {subject}"
        );
    }
    let (hooks, _folder) = hooks(None);
    let settings = json!({"Stop": [{"matcher": "([", "hooks": []}], "Nonsense": [], "PreToolUse": [{"hooks": [{"type": "prompt"}]}]});
    assert_eq!(hooks.add_settings(Source::User, &settings).len(), 3);
    assert_eq!(hooks.add_settings(Source::User, &json!([])).len(), 1);
}
