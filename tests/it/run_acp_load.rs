//! Sessions that another agent's program keeps: an editor is told of them, hears what was said in one, and goes on with it.

use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::common::golden;
use crate::run_acp::Editor;
use crate::support::model::Answer;
use crate::support::play::Play;
use crate::support::stage::{Host, Stage};

/// The thread of the recording.
const THREAD: &str = "01a1fcec-3a5d-7473-bd94-6e349025bd4c";

/// A user whose home lies beside the session's folder.
fn home(stage: &Stage) -> PathBuf {
    stage.path("home")
}

/// The folder of the session.
fn work(stage: &Stage) -> String {
    let work = stage.path("work");
    std::fs::create_dir_all(&work).unwrap();
    work.canonicalize().unwrap().display().to_string()
}

/// A file as a program would have written it in the session's folder.
fn keep(stage: &Stage, log: &str, path: &str) {
    let path = home(stage).join(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    let text = std::fs::read_to_string(golden(log)).unwrap();
    std::fs::write(path, text.replace("\"/workspace\"", &format!("\"{}\"", work(stage)))).unwrap();
}

fn editor(stage: &Stage, backend: &str, more: impl FnOnce(&mut Command)) -> Editor {
    let mut command = stage.command("acp", backend, &[], &[]);
    command.env("HOME", home(stage));
    for name in ["CODEX_HOME", "GEMINI_CLI_HOME", "XDG_DATA_HOME"] {
        command.env_remove(name);
    }
    more(&mut command);
    Editor::of(Host::new(command))
}

fn leave(mut editor: Editor) {
    editor.host.close();
    assert_eq!(editor.host.end().code(), 0);
}

#[test]
fn a_session_of_codex_is_listed_loaded_and_gone_on_with() {
    let thread = json!({"id": THREAD, "cwd": "/w", "cliVersion": "0.169.0", "model": "gpt-5.5", "turns": []});
    let turn = |status: &str| json!({"id": "turn-1", "items": [], "status": status, "error": null});
    let tells = |method: &str, params: Value| {
        let mut params = params;
        params["threadId"] = json!(THREAD);
        params["turnId"] = json!("turn-1");
        format!("say {}", json!({"method": method, "params": params}))
    };
    let message = json!({"item": {"type": "agentMessage", "id": "msg-1", "text": "third answer"}});
    let stage = Stage::new(&[
        "keep heard".to_owned(),
        "read".to_owned(),
        r#"say {"id":"agentglot-1","result":{"userAgent":"agentglot/0.169.0","codexHome":"/h"}}"#.to_owned(),
        "read".to_owned(),
        "read".to_owned(),
        format!(
            "say {}",
            json!({"id": "agentglot-2", "result": {"thread": thread, "model": "gpt-5.5", "cwd": "/w"}})
        ),
        "read".to_owned(),
        format!("say {}", json!({"id": "agentglot-3", "result": {"turn": turn("inProgress")}})),
        tells("turn/started", json!({"turn": turn("inProgress")})),
        tells("item/completed", message),
        tells("turn/completed", json!({"turn": turn("completed")})),
        "read all".to_owned(),
    ]);
    let (cwd, other) = (work(&stage), stage.path("").display().to_string());
    keep(
        &stage,
        "codex/rollout_resume.jsonl",
        &format!(".codex/sessions/2026/11/21/rollout-2026-11-21T07-05-02-{THREAD}.jsonl"),
    );
    keep(
        &stage,
        "codex/rollout_plan.jsonl",
        ".codex/sessions/2026/11/22/rollout-2026-11-22T07-05-02-01a1fcec-3a5d-7473-bd94-6e3490250000.jsonl",
    );
    let mut editor = editor(&stage, "codex", |_| {});
    let listed = editor.ask("session/list", json!({"cwd": cwd}));
    let sessions = listed["result"]["sessions"].as_array().unwrap().clone();
    assert_eq!(sessions.len(), 2, "{listed}");
    let ours = sessions.iter().find(|session| session["sessionId"] == THREAD).unwrap();
    assert_eq!((&ours["title"], &ours["cwd"]), (&json!("[[plain]] first"), &json!(cwd)));
    assert_eq!(editor.ask("session/list", json!({"cwd": other}))["result"]["sessions"], json!([]));

    // Nobody finds it from another folder, nor one that is not there.
    let params = |session: &str, cwd: &str| json!({"sessionId": session, "cwd": cwd, "mcpServers": []});
    assert_eq!(editor.code("session/load", params(THREAD, &other)), -32002);
    assert_eq!(editor.code("session/load", params("01a1fcec-3a5d-7473-bd94-6e3490259999", &cwd)), -32002);

    let loaded = editor.ask("session/load", params(THREAD, &cwd));
    assert!(loaded["result"]["modes"].is_object(), "{loaded}");
    assert_eq!(editor.text(THREAD, "user_message_chunk"), "[[plain]] first[[plain2]] second");
    let before = editor.text(THREAD, "agent_message_chunk");
    assert_eq!(before, "Hello from the scripted model.Second answer.");
    let id = editor.prompt(THREAD, "third");
    assert_eq!(editor.answer(id)["result"]["stopReason"], "end_turn");
    assert_eq!(editor.text(THREAD, "agent_message_chunk"), format!("{before}third answer"));
    leave(editor);
    let heard = std::fs::read_to_string(stage.path("work").join("heard")).unwrap();
    let resumed = heard
        .lines()
        .find(|line| line.contains("\"thread/resume\""))
        .unwrap_or_else(|| panic!("{heard}"));
    assert!(resumed.contains(&format!("\"threadId\":\"{THREAD}\"")), "{resumed}");
}

/// Codex names its sessions itself: an editor knows the one that it has begun by the id that it was told.
#[test]
fn a_session_that_began_here_is_loaded_by_the_id_that_the_editor_knows() {
    let thread = json!({"id": THREAD, "cwd": "/w", "cliVersion": "0.169.0", "model": "gpt-5.5", "turns": []});
    let turn = |status: &str| json!({"id": "turn-1", "items": [], "status": status, "error": null});
    let told = |method: &str, status: &str| {
        let params = json!({"threadId": THREAD, "turnId": "turn-1", "turn": turn(status)});
        format!("say {}", json!({"method": method, "params": params}))
    };
    let script = [
        "keep heard".to_owned(),
        "read".to_owned(),
        r#"say {"id":"agentglot-1","result":{"userAgent":"agentglot/0.169.0","codexHome":"/h"}}"#.to_owned(),
        "read".to_owned(),
        "read".to_owned(),
        format!(
            "say {}",
            json!({"id": "agentglot-2", "result": {"thread": thread, "model": "gpt-5.5", "cwd": "/w"}})
        ),
        "read".to_owned(),
        format!("say {}", json!({"id": "agentglot-3", "result": {"turn": turn("inProgress")}})),
        told("turn/started", "inProgress"),
        told("turn/completed", "completed"),
        "read all".to_owned(),
    ];
    let stage = Stage::new(&script);
    let cwd = work(&stage);
    let params = |session: &str| json!({"sessionId": session, "cwd": cwd, "mcpServers": []});
    let mut first = editor(&stage, "codex", |_| {});
    let opened = first.ask("session/new", json!({"cwd": cwd, "mcpServers": []}));
    let session = opened["result"]["sessionId"].as_str().unwrap().to_owned();
    assert_ne!(session, THREAD);
    let id = first.prompt(&session, "first");
    first.answer(id);
    assert_eq!(first.code("session/load", params(THREAD)), -32602, "it is open under the other id");
    leave(first);
    keep(
        &stage,
        "codex/rollout_resume.jsonl",
        &format!(".codex/sessions/2026/11/21/rollout-2026-11-21T07-05-02-{THREAD}.jsonl"),
    );
    let mut second = editor(&stage, "codex", |_| {});
    let listed = second.ask("session/list", json!({"cwd": cwd}));
    let ids: Vec<&Value> = listed["result"]["sessions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| &one["sessionId"])
        .collect();
    assert_eq!(ids, [&json!(session)]);
    let loaded = second.ask("session/load", params(&session));
    assert!(loaded["result"]["modes"].is_object(), "{loaded}");
    assert_eq!(second.text(&session, "user_message_chunk"), "[[plain]] first[[plain2]] second");
    let id = second.prompt(&session, "go on");
    second.answer(id);
    leave(second);
    let heard = std::fs::read_to_string(stage.path("work").join("heard")).unwrap();
    let begun: Vec<&str> = heard.lines().filter(|line| line.contains("\"thread/")).collect();
    assert!(begun[0].contains("thread/start") && begun[1].contains("thread/resume"), "{begun:?}");
    assert!(begun[1].contains(THREAD), "{begun:?}");
}

/// The folders of Gemini CLI are named by a file in each; its sessions do not say theirs.
#[test]
fn a_session_of_gemini_is_loaded_with_what_was_said() {
    let stage = Stage::new(&["args args", "exit 1"]);
    let cwd = work(&stage);
    keep(
        &stage,
        "gemini/chat_resume.jsonl",
        ".gemini/tmp/work/chats/session-2026-11-21T07-05-aaaa.jsonl",
    );
    std::fs::write(home(&stage).join(".gemini/tmp/work/.project_root"), &cwd).unwrap();
    let mut editor = editor(&stage, "gemini", |_| {});
    let listed = editor.ask("session/list", json!({}));
    let session = listed["result"]["sessions"][0]["sessionId"]
        .as_str()
        .unwrap_or_else(|| panic!("{listed}"))
        .to_owned();
    editor.ask("session/load", json!({"sessionId": session, "cwd": cwd, "mcpServers": []}));
    assert!(!editor.text(&session, "user_message_chunk").is_empty());
    assert!(!editor.text(&session, "agent_message_chunk").is_empty());
    let id = editor.prompt(&session, "go on");
    editor.answer(id);
    leave(editor);
    let args = std::fs::read_to_string(stage.path("work").join("args")).unwrap();
    assert!(
        args.contains(&format!("--resume={session}")) || args.contains(&format!("\"--resume\",\"{session}\"")),
        "{args}"
    );
}

/// A program that keeps its sessions in a database is asked for them.
#[test]
fn a_session_of_opencode_is_loaded_with_what_was_said() {
    let stage = Stage::new(&["args args", "exit 1"]);
    let cwd = work(&stage);
    let session = "ses_df5081a0dffegdwHZAiORZUoLc".to_owned();
    let data = home(&stage).join(".local/share/opencode");
    std::fs::create_dir_all(&data).unwrap();
    let base = rusqlite::Connection::open(data.join("opencode.db")).unwrap();
    base.execute_batch("pragma foreign_keys = off;").unwrap();
    base.execute_batch(include_str!("support/opencode.sql")).unwrap();
    base.execute("update session set directory = ?1", [&cwd]).unwrap();
    drop(base);
    let mut editor = editor(&stage, "opencode", |_| {});
    let listed = editor.ask("session/list", json!({"cwd": cwd}));
    assert_eq!(listed["result"]["sessions"][0]["sessionId"], session, "{listed}");
    let loaded = editor.ask("session/load", json!({"sessionId": session, "cwd": cwd, "mcpServers": []}));
    assert!(loaded["result"].is_object(), "{loaded}");
    assert!(!editor.text(&session, "user_message_chunk").is_empty());
    let id = editor.prompt(&session, "go on");
    editor.answer(id);
    leave(editor);
    let args = std::fs::read_to_string(stage.path("work").join("args")).unwrap();
    assert!(args.contains(&session), "{args}");
}

/// An agent of the protocol is asked for its sessions, tells again what was said in one, and goes on with it.
#[test]
fn a_session_of_any_agent_of_the_protocol_is_listed_loaded_and_gone_on_with() {
    let play = Play::script(vec![Answer::text("first answer"), Answer::text("second answer")]);
    let url = format!("http://127.0.0.1:{}/v1", play.server.port);
    let script = format!(
        "#!/bin/sh\nexport OPENAI_BASE_URL={url} OPENAI_API_KEY=k OPENAI_MODEL=gpt-4o\nexec '{}' acp --backend model:openai\n",
        env!("CARGO_BIN_EXE_agentglot")
    );
    let agent = play.base().join("agent.sh");
    std::fs::write(&agent, script).unwrap();
    std::fs::set_permissions(&agent, std::fs::Permissions::from_mode(0o755)).unwrap();
    let editor = || {
        let mut command = play.command("acp", &[]);
        command.env("AGENTGLOT_BACKEND", format!("acp:{}", agent.display()));
        Editor::of(Host::new(without_backend(command)))
    };
    let cwd = play.at("");
    let params = |session: &str| json!({"sessionId": session, "cwd": cwd, "mcpServers": []});

    let mut first = editor();
    let opened = first.ask("session/new", json!({"cwd": cwd, "mcpServers": []}));
    let ours = opened["result"]["sessionId"].as_str().unwrap_or_else(|| panic!("{opened}")).to_owned();
    let id = first.prompt(&ours, "first prompt");
    assert_eq!(first.answer(id)["result"]["stopReason"], "end_turn");
    assert_eq!(first.leave(&play), 0);

    let mut second = editor();
    let listed = second.ask("session/list", json!({"cwd": cwd}));
    assert_eq!(listed["result"]["sessions"][0]["sessionId"], json!(ours));
    assert_eq!(listed["result"]["sessions"][0]["title"], "first prompt", "{listed}");
    assert_eq!(second.code("session/load", params("11111111-2222-4333-8444-555555555555")), -32002);
    // By the id that the editor was told, and by the agent's own: agents name their sessions themselves.
    let note = std::fs::read_to_string(play.base().join("home/.local/state/agentglot/sessions/names").join(&ours)).unwrap();
    let theirs = note.strip_prefix("acp ").unwrap().trim().to_owned();
    assert_ne!(theirs, ours);
    for session in [&ours, &theirs] {
        let loaded = second.ask("session/load", params(session));
        assert!(loaded["result"]["modes"].is_object(), "{loaded}");
        assert_eq!(second.text(session, "user_message_chunk"), "first prompt");
        assert_eq!(second.text(session, "agent_message_chunk"), "first answer");
        second.ask("session/close", json!({"sessionId": session}));
    }
    second.ask("session/resume", params(&theirs));
    let id = second.prompt(&theirs, "second prompt");
    assert_eq!(second.answer(id)["result"]["stopReason"], "end_turn");
    assert_eq!(second.text(&theirs, "agent_message_chunk"), "first answersecond answer");
    assert_eq!(second.leave(&play), 0);
    let asked = play.server.asked();
    let last = asked.last().unwrap().body.to_string();
    assert!(last.contains("first prompt") && last.contains("first answer"), "{last}");
}

/// The same command, with the back end left to the environment.
fn without_backend(command: Command) -> Command {
    let mut anew = Command::new(command.get_program());
    let args: Vec<_> = command.get_args().collect();
    let at = args.iter().position(|arg| *arg == "--backend").unwrap();
    anew.args(&args[..at]).args(&args[at + 2..]);
    anew.env_clear().envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    anew.current_dir(command.get_current_dir().unwrap());
    anew.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    anew
}
