use std::fs;

use super::*;
use crate::tools::shell::tests::{call, scene, within};
use serde_json::json;

fn text(given: &Given) -> &str {
    match given.content.as_slice() {
        [Part::Text(text)] => text,
        other => panic!("{other:?}"),
    }
}

fn detail(given: &Given) -> &Value {
    let (shape, detail) = given.detail.as_ref().unwrap();
    assert_eq!(*shape, DetailShape::Claude);
    detail
}

#[test]
fn answers_as_recorded() {
    within(30, async {
        let scene = scene();
        let tools = shell(&scene.processes);
        let bash = async |input: Value| call(&scene, &tools, "Bash", input).await;
        let ok = bash(json!({"command": "echo parallel; echo err >&2", "description": "Echo"})).await;
        assert_eq!((text(&ok), ok.status, ok.exit_code), ("parallel\nerr", ResultStatus::Success, Some(0)));
        assert_eq!(
            detail(&ok).to_string(),
            r#"{"stdout":"parallel\nerr","stderr":"","interrupted":false,"isImage":false,"noOutputExpected":false}"#
        );
        let bad = bash(json!({"command": "printf 'out\\n'; printf 'err\\n' >&2; exit 3"})).await;
        assert_eq!(
            (text(&bad), bad.status, bad.exit_code),
            ("Exit code 3\nout\nerr", ResultStatus::Error, Some(3))
        );
        assert_eq!(*detail(&bad), json!("Error: Exit code 3\nout\nerr"));
        let big = bash(json!({"command": "head -c 200000 /dev/zero | tr '\\0' x; echo"})).await;
        let path = detail(&big)["persistedOutputPath"].as_str().unwrap();
        assert_eq!(
            text(&big),
            format!(
                "<persisted-output>\nOutput too large (195.3KB). Full output saved to: {path}\n\nPreview (first 2KB):\n{}\n...\n</persisted-output>",
                "x".repeat(2000)
            )
        );
        assert_eq!(detail(&big)["stdout"].as_str().unwrap().len(), 30_000);
        assert_eq!(detail(&big)["persistedOutputSize"], 200_001);
        assert_eq!(fs::metadata(path).unwrap().len(), 200_001);
    });
}

#[test]
fn ends_that_are_not_plain() {
    within(30, async {
        let scene = scene();
        let tools = shell(&scene.processes);
        let bash = async |command: &str| call(&scene, &tools, "Bash", json!({"command": command, "timeout": 1500})).await;
        let late = bash("echo begun; sleep 100").await;
        assert_eq!(
            (text(&late), late.status),
            ("Exit code 143\nCommand timed out after 1.5s\nbegun", ResultStatus::Error)
        );
        let silent = bash("mkdir a && touch a/b").await;
        assert_eq!(text(&silent), "(Bash completed with no output)");
        assert_eq!(detail(&silent)["noOutputExpected"], true);
        let none = bash("grep nothing a/b").await;
        assert_eq!((none.status, none.exit_code), (ResultStatus::Success, Some(1)));
        assert_eq!(detail(&none)["returnCodeInterpretation"], "No matches found");
        let killed = bash("kill -9 $$").await;
        assert_eq!(text(&killed), "Exit code 137\nThe command was ended by signal 9 (SIGKILL).");
        let out = bash("cd /; echo there").await;
        let root = scene.root().display();
        assert_eq!(text(&out), format!("there\nShell cwd was reset to {root}"));
        assert_eq!(detail(&out)["stderr"], format!("Shell cwd was reset to {root}"));
        let picture = bash("echo 'data:image/png;base64,AAAA'").await;
        assert!(matches!(&picture.content[..], [Part::Image { data, .. }] if data == "AAAA"));
        let wide = bash("printf '\u{e9}%.0s' {1..20000}").await;
        assert_eq!(text(&wide).chars().count(), 20_000);
        assert_eq!(fs::read_dir(scene.world.scratch.join("tool-results")).unwrap().count(), 0);
        let missing = call(&scene, &tools, "Bash", json!({"cmd": "x"})).await;
        assert!(text(&missing).contains("The required parameter `command` is missing"), "{missing:?}");
        let crate::tools::Access::Run(asked) = tools[0].access(&json!({"command": "ls; rm x"})) else {
            panic!("no command")
        };
        assert_eq!(
            (asked.line.as_str(), asked.folder),
            ("ls; rm x", Some(scene.world.wall.root().to_owned()))
        );
    });
}

#[test]
fn tasks_in_the_background() {
    within(30, async {
        let scene = scene();
        let tools = shell(&scene.processes);
        let call = async |name: &str, input: Value| call(&scene, &tools, name, input).await;
        let begun = call(
            "Bash",
            json!({"command": "echo up; sleep 0.5; exit 9", "description": "Be slow", "run_in_background": true}),
        )
        .await;
        let id = detail(&begun)["backgroundTaskId"].as_str().unwrap().to_owned();
        let path = scene.world.scratch.join(format!("tasks/{id}.output"));
        let begins = format!(
            "Command running in background with ID: {id}. Output is being written to: {}. You will be",
            path.display()
        );
        assert!(text(&begun).starts_with(&begins), "{}", text(&begun));
        let soon = call("TaskOutput", json!({"task_id": id, "block": false})).await;
        assert_eq!(detail(&soon)["retrieval_status"], "not_ready");
        let ended = call("TaskOutput", json!({"task_id": id})).await;
        let expected = format!(
            "<retrieval_status>success</retrieval_status>\n\n<task_id>{id}</task_id>\n\n<task_type>local_bash</task_type>\n\n\
             <status>failed</status>\n\n<exit_code>9</exit_code>\n\n<output>\nup\n</output>"
        );
        assert_eq!(text(&ended), expected);
        assert_eq!(detail(&ended)["task"]["exitCode"], 9);
        let jobs = scene.processes.jobs.take_ended();
        let expected = format!(
            "<task-notification>\n<task-id>{id}</task-id>\n<tool-use-id>c1</tool-use-id>\n<output-file>{}</output-file>\n\
             <status>failed</status>\n<summary>Background command \"Be slow\" failed with exit code 9</summary>\n</task-notification>",
            path.display()
        );
        assert_eq!(jobs.iter().map(notice).collect::<Vec<_>>(), [expected]);
        let over = call("TaskStop", json!({"task_id": id})).await;
        assert_eq!(
            (text(&over), over.status),
            (
                format!("<tool_use_error>Task {id} is not running</tool_use_error>").as_str(),
                ResultStatus::Error
            )
        );

        let begun = call("Bash", json!({"command": "sleep 100", "run_in_background": true})).await;
        let id = detail(&begun)["backgroundTaskId"].as_str().unwrap().to_owned();
        let late = call("TaskOutput", json!({"task_id": id, "timeout": 100})).await;
        assert_eq!(
            (&detail(&late)["retrieval_status"], &detail(&late)["task"]["status"]),
            (&json!("timeout"), &json!("running"))
        );
        let stopped = call("TaskStop", json!({"shell_id": id})).await;
        let expected =
            format!(r#"{{"message":"Successfully stopped task: {id} (sleep 100)","task_id":"{id}","task_type":"local_bash","command":"sleep 100"}}"#);
        assert_eq!((text(&stopped), detail(&stopped).to_string()), (expected.as_str(), expected.clone()));
        assert!(notice(&scene.processes.jobs.take_ended()[0]).contains("<status>killed</status>"));
        let unknown = call("TaskStop", json!({"task_id": "b0"})).await;
        assert_eq!(text(&unknown), "<tool_use_error>No task found with ID: b0</tool_use_error>");
        scene.nothing_is_left().await;
    });
}

#[test]
fn spans_and_sizes() {
    assert_eq!(span(Duration::from_secs(120)), "2m 0s");
    assert_eq!(span(Duration::from_secs(165)), "2m 45s");
    assert_eq!(span(Duration::from_secs(30)), "30s");
    assert_eq!((size_of(200_001).as_str(), size_of(3 << 20).as_str()), ("195.3KB", "3MB"));
    assert_eq!((last("a\u{e9}bc", 3), last("ab", 2)), ("\u{e9}bc", "ab"));
    assert_eq!(milliseconds(f64::MAX, LONGEST), LONGEST);
    assert_eq!(trimmed("\n \n  a\n\n"), "  a");
    assert!(is_silent("cd x && rm y") && !is_silent("cd x && ls") && !is_silent(""));
}
