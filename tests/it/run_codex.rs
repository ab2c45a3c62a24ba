//! Standing in for `codex exec`: the built-in agent under its tools, and other back ends behind its lines.

use std::process::Output;
use std::time::Duration;

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::support::model::{Answer, Step};
use crate::support::play::{Play, run};
use crate::support::stage::{End, Host, Stage};
use crate::support::{example, wait};

/// As the SDK starts it, with permission for everything.
const EXEC: &[&str] = &["exec", "--experimental-json", "--skip-git-repo-check", "--sandbox", "danger-full-access"];

const PATCH: &str = "*** Begin Patch\n*** Add File: added.txt\n+added\n*** Update File: hello.txt\n@@\n-hello\n+goodbye\n*** Delete File: \
                     b.txt\n*** End Patch\n";

fn shell(command: &str) -> (&'static str, Value) {
    ("shell_command", json!({"command": command}))
}

fn patch() -> (&'static str, Value) {
    ("apply_patch", json!({"input": PATCH}))
}

/// A folder with the files that the patch changes.
fn files(play: &Play) {
    std::fs::write(play.path("hello.txt"), "hello\nworld\n").unwrap();
    std::fs::write(play.path("b.txt"), "bee\n").unwrap();
}

/// The items of a type that were completed.
fn items<'e>(end: &'e End, kind: &str) -> Vec<&'e Value> {
    let done = end.lines.iter().filter(|line| line["type"] == "item.completed");
    done.map(|line| &line["item"]).filter(|item| item["type"] == kind).collect()
}

/// A turn has one beginning and one end, and nothing behind that; what starts is completed.
fn is_one_turn(end: &End) {
    let types = end.types();
    let count = |wanted: &[&str]| types.iter().filter(|kind| wanted.contains(kind)).count();
    assert_eq!(types[..2], ["thread.started", "turn.started"], "{end:#?}");
    assert_eq!(
        (
            count(&["thread.started"]),
            count(&["turn.started"]),
            count(&["turn.completed", "turn.failed"])
        ),
        (1, 1, 1),
        "{end:#?}"
    );
    assert!(matches!(types.last(), Some(&("turn.completed" | "turn.failed"))), "{end:#?}");
}

/// A run to which this is piped.
fn piped(play: &Play, args: &[&str], said: &str) -> End {
    let mut host = Host::new(play.command("codex", &[EXEC, args].concat()));
    host.say_bytes(said.as_bytes()).close();
    host.end()
}

fn output(play: &Play, args: &[&str]) -> Output {
    let mut command = play.command("codex", args);
    command.stdin(std::process::Stdio::null()).output().unwrap()
}

/// A turn is what it was, whatever becomes of the file that its answer is kept in; a pipe that nobody reads is not waited for. A file that cannot be
/// there is told before anybody is asked.
#[test]
fn a_file_for_the_answer_that_cannot_be_written_is_told() {
    let play = Play::script(vec![Answer::text("All done.")]);
    rustix::fs::mkfifoat(rustix::fs::CWD, play.path("pipe"), rustix::fs::Mode::RWXU).unwrap();
    let end = play.one("codex", &[EXEC, &["-o", "pipe"]].concat(), "go");
    assert_eq!(end.code(), 0, "{end:#?}");
    assert!(end.stderr.contains("pipe: cannot be written"), "{end:#?}");
    is_one_turn(&end);
    for file in ["nowhere/answer", "."] {
        let play = Play::new(|_, _| Answer::text("never asked"));
        let end = play.one("codex", &[EXEC, &["-o", file]].concat(), "go");
        assert_eq!((end.code(), end.lines.len(), play.server.asked().len()), (1, 0, 0), "{end:#?}");
        assert!(end.stderr.contains(&format!("Failed to open last message file {file:?}")), "{end:#?}");
    }
}

/// The file lies where the program was started, and a turn that has no answer leaves what is in it.
#[test]
fn the_file_of_the_answer_is_the_host_s_and_only_an_answer_changes_it() {
    let play = Play::script(vec![]);
    std::fs::create_dir(play.path("sub")).unwrap();
    std::fs::write(play.path("answer"), "an older answer, which is longer than this one").unwrap();
    let first = Answer::steps(vec![
        Step::Text("My last words.".into()),
        Step::Call("c-1".into(), "shell_command".into(), shell("true").1.to_string()),
    ]);
    let play = play.served(crate::support::model::Server::script(vec![first, Answer::text("")]));
    let end = play.one("codex", &[EXEC, &["-C", "sub", "-o", "answer"]].concat(), "go");
    assert_eq!((end.code(), play.read("answer").as_str()), (0, "My last words."), "{end:#?}");
    assert!(!play.path("sub/answer").exists());
    let play = play.served(crate::support::model::Server::script(vec![Answer::error(400, "that was wrong")]));
    let end = play.one("codex", &[EXEC, &["-o", "answer"]].concat(), "go");
    assert_eq!((end.code(), play.read("answer").as_str()), (1, "My last words."), "{end:#?}");
    // Who has said nothing has no line.
    let play = Play::script(vec![Answer::text("")]);
    let said = output(&play, &["exec", "--skip-git-repo-check", "go"]);
    assert_eq!((said.status.code(), said.stdout.len()), (Some(0), 0), "{said:?}");
}

#[test]
fn what_is_piped_in_stands_behind_the_prompt() {
    for (args, said, wanted) in [
        (&[][..], "piped\n", "piped"),
        (&["-"], "piped\n", "piped"),
        (&["asked"], "", "asked"),
        (&["asked"], " \n", "asked"),
        (&["asked"], "one\ntwo\n", "asked\n\n<stdin>\none\ntwo\n</stdin>"),
        (&["asked"], "\u{feff}no end", "asked\n\n<stdin>\nno end\n</stdin>"),
    ] {
        let play = Play::new(|_, _| Answer::text("ok"));
        let end = piped(&play, args, said);
        assert_eq!(end.code(), 0, "{args:?}: {end:#?}");
        let told = play.server.asked()[0].last();
        assert!(told.contains(&json!(wanted).to_string()), "{args:?}: {told}");
        // Who goes on with a thread says all on the command line.
        let end = piped(&play, &["resume", "--last", "more"], said);
        assert_eq!(end.code(), 0, "{args:?}: {end:#?}");
        assert!(play.server.asked()[1].last().contains("\"more\""), "{args:?}: {end:#?}");
    }
    let play = Play::new(|_, _| Answer::text("never asked"));
    let mut host = Host::new(play.command("codex", &[EXEC, &["asked"]].concat()));
    host.say_bytes(b"no text: \xff").close();
    let end = host.end();
    assert_eq!((end.code(), end.lines.len(), play.server.asked().len()), (1, 0, 0));
    assert!(end.stderr.contains("not valid UTF-8 (invalid byte at offset 9)"), "{end:#?}");
}

/// A standard input that somebody has inherited may never end.
#[test]
fn a_pipe_that_says_nothing_is_given_up_and_one_that_breaks_off_is_no_prompt() {
    for (said, code) in [("", 0), ("half a pro", 1)] {
        let play = Play::new(|_, _| Answer::text("ok"));
        let mut command = play.command("codex", &[EXEC, &["asked"]].concat());
        command.env("AGENTGLOT_PROMPT_TIMEOUT", "1");
        let mut host = Host::new(command);
        host.say_bytes(said.as_bytes());
        let end = host.end();
        assert_eq!(
            (end.code(), play.server.asked().len()),
            (code, 1 - usize::try_from(code).unwrap()),
            "{said}: {end:#?}"
        );
    }
}

#[test]
fn a_copy_of_a_thread_goes_on_and_one_that_is_not_kept_does_not() {
    let play = Play::new(|asked, _| Answer::text(&format!("I know {} messages.", asked.body["messages"].as_array().unwrap().len())));
    let id = |end: &End| end.lines[0]["thread_id"].as_str().unwrap().to_owned();
    let text = |end: &End| items(end, "agent_message")[0]["text"].clone();
    let first = piped(&play, &["one"], "");
    let thread = id(&first);
    let copy = piped(&play, &["fork", &thread, "two"], "");
    assert_eq!(copy.code(), 0, "{copy:#?}");
    assert_ne!(id(&copy), thread);
    assert_ne!(text(&copy), text(&first));
    let on = piped(&play, &["resume", &thread, "three"], "");
    assert_eq!((id(&on), text(&on)), (thread, text(&copy)), "the thread has what its copy was asked");
    let gone = piped(&play, &["--ephemeral", "one"], "");
    for (args, code) in [(&["resume", &id(&gone), "two"][..], 1), (&["fork", &id(&gone), "two"], 1), (&["fork"], 2)] {
        let end = piped(&play, args, "");
        assert_eq!((end.code(), end.lines.len()), (code, 0), "{args:?}: {end:#?}");
    }
}

#[test]
fn calls_are_items_of_their_kinds() {
    let play = Play::script(vec![
        Answer::calls(&[shell("echo out; echo err >&2; exit 3")]),
        Answer::calls(&[patch()]),
        Answer::calls(&[(
            "update_plan",
            json!({"plan": [{"step": "one", "status": "completed"}, {"step": "two", "status": "pending"}]}),
        )]),
        Answer::text("All done."),
    ]);
    files(&play);
    let end = play.one("codex", EXEC, "go");
    assert_eq!(end.code(), 0, "{end:#?}");
    is_one_turn(&end);
    let command = items(&end, "command_execution");
    assert_eq!(command.len(), 1);
    assert_eq!(
        (&command[0]["aggregated_output"], &command[0]["exit_code"], &command[0]["status"]),
        (&json!("out\nerr\n"), &json!(3), &json!("failed"))
    );
    // What the model reads says more than what the host is shown.
    assert!(play.server.asked()[1].last().contains(r"Exit code: 3\nWall time: "));
    let change = |name: &str, kind: &str| json!({"path": play.at(name), "kind": kind});
    assert_eq!(
        items(&end, "file_change")[0]["changes"],
        json!([change("added.txt", "add"), change("hello.txt", "update"), change("b.txt", "delete")])
    );
    assert_eq!(
        (play.read("added.txt"), play.read("hello.txt")),
        ("added\n".into(), "goodbye\nworld\n".into())
    );
    assert!(!play.path("b.txt").exists());
    assert_eq!(
        items(&end, "todo_list")[0]["items"],
        json!([{"text": "one", "completed": true}, {"text": "two", "completed": false}])
    );
    assert_eq!(items(&end, "agent_message")[0]["text"], "All done.");
    assert_eq!(play.server.asked()[0].tools(), ["shell_command", "apply_patch", "update_plan"]);
}

#[test]
fn tools_of_servers_are_theirs() {
    let play = Play::script(vec![Answer::calls(&[("mcp__calc__echo", json!({"text": "42"}))]), Answer::text("42")]);
    let setting = format!("mcp_servers.calc.command={}", json!(example("mcp_server")));
    let end = play.one("codex", &[EXEC, &["-c", &setting]].concat(), "go");
    let calls = items(&end, "mcp_tool_call");
    assert_eq!(calls.len(), 1, "{end:#?}");
    assert_eq!((&calls[0]["server"], &calls[0]["tool"]), (&json!("calc"), &json!("echo")), "{end:#?}");
    assert_eq!(calls[0]["arguments"], json!({"text": "42"}));
    assert_eq!(calls[0]["result"]["content"], json!([{"type": "text", "text": "42"}]));
}

#[test]
fn a_thread_goes_on_under_its_id() {
    let play = Play::new(|_, number| Answer::text(&format!("answer-{number}")));
    let first = play.one("codex", EXEC, "prompt-0");
    let id = first.lines[0]["thread_id"].as_str().unwrap().to_owned();
    let second = play.one("codex", &[EXEC, &["resume", &id]].concat(), "prompt-1");
    assert_eq!(second.lines[0]["thread_id"], *id, "{second:#?}");
    // From another folder too: a thread belongs to none.
    std::fs::create_dir(play.path("sub")).unwrap();
    let third = play.one("codex", &[EXEC, &["--cd", "sub", "resume", &id]].concat(), "prompt-2");
    assert_eq!(third.code(), 0, "{third:#?}");
    let all = play.server.asked().pop().unwrap().all();
    for said in ["prompt-0", "answer-0", "prompt-1", "answer-1", "prompt-2"] {
        assert!(all.contains(said), "{said}: {all}");
    }
    // What is counted is the thread's, as the program does.
    let written = |end: &End| end.lines.last().unwrap()["usage"]["output_tokens"].as_u64().unwrap();
    let once = written(&first);
    assert!(once > 0, "{first:#?}");
    assert_eq!((written(&second), written(&third)), (2 * once, 3 * once), "{second:#?} {third:#?}");
    let none = play.one("codex", &[EXEC, &["resume", "01234567-0000-7000-8000-000000000000"]].concat(), "x");
    assert_eq!((none.code(), none.lines.len()), (1, 0), "{none:#?}");
    assert!(none.stderr.contains("01234567-0000-7000-8000-000000000000"), "{none:#?}");
}

#[test]
fn a_turn_that_fails_says_why_once_and_exits_with_1() {
    for (answer, why) in [
        (Answer::error(400, "that was wrong"), "unexpected status 400: that was wrong"),
        (Answer::error(401, "no key"), "unexpected status 401: no key"),
        (Answer::steps(vec![Step::Text("half".into()), Step::Cut]), "cut off"),
    ] {
        let play = Play::script(vec![answer]);
        let end = play.one("codex", EXEC, "go");
        is_one_turn(&end);
        let last = end.lines.last().unwrap();
        assert_eq!((end.code(), &last["type"]), (1, &json!("turn.failed")), "{end:#?}");
        assert!(last["error"]["message"].as_str().unwrap().contains(why), "{why}: {end:#?}");
        assert_eq!(
            items(&end, "error").len() + end.types().iter().filter(|kind| **kind == "error").count(),
            1,
            "{end:#?}"
        );
    }
}

#[test]
fn people_get_the_last_message_and_files_what_they_are_asked_for() {
    let play = Play::new(|_, _| Answer::text("{\"answer\": 42}"));
    let said = output(&play, &["exec", "--skip-git-repo-check", "-o", "last.txt", "go"]);
    assert_eq!(String::from_utf8_lossy(&said.stdout), "{\"answer\": 42}\n");
    assert_eq!(play.read("last.txt"), "{\"answer\": 42}");
    let schema = json!({"type": "object", "properties": {"answer": {"type": "number"}}, "required": ["answer"]});
    std::fs::write(play.path("schema.json"), schema.to_string()).unwrap();
    let end = play.one("codex", &[EXEC, &["--output-schema", "schema.json"]].concat(), "go");
    let last: Value = serde_json::from_str(items(&end, "agent_message").last().unwrap()["text"].as_str().unwrap()).unwrap();
    assert_eq!(last, json!({"answer": 42}), "{end:#?}");
    // A failure is no answer.
    let play = Play::script(vec![Answer::error(400, "that was wrong")]);
    let said = output(&play, &["exec", "--skip-git-repo-check", "-o", "last.txt", "go"]);
    assert_eq!((said.status.code(), said.stdout.len(), play.read("last.txt").as_str()), (Some(1), 0, ""));
    assert!(String::from_utf8_lossy(&said.stderr).contains("that was wrong"));
}

#[test]
fn a_sandbox_says_what_may_be_changed() {
    for (sandbox, patched, ran) in [
        ("read-only", false, false),
        ("workspace-write", true, false),
        ("danger-full-access", true, true),
    ] {
        let play = Play::script(vec![
            Answer::calls(&[shell("cat hello.txt"), shell("git init ran"), patch()]),
            Answer::text("All done."),
        ]);
        files(&play);
        let args = ["exec", "--json", "--skip-git-repo-check", "-s", sandbox];
        let end = play.one("codex", &args, "go");
        assert_eq!(end.code(), 0, "{sandbox}: {end:#?}");
        is_one_turn(&end);
        assert_eq!(
            (play.path("added.txt").exists(), play.path("ran").exists()),
            (patched, ran),
            "{sandbox}: {end:#?}"
        );
        let states: Vec<&Value> = items(&end, "command_execution").iter().map(|item| &item["status"]).collect();
        let second = if ran { "completed" } else { "declined" };
        assert_eq!(states, ["completed", second], "{sandbox}: {end:#?}");
        assert_eq!(
            items(&end, "file_change")[0]["status"],
            if patched { "completed" } else { "failed" },
            "{sandbox}"
        );
    }
}

#[test]
fn it_begins_where_the_program_would() {
    let play = Play::new(|_, _| Answer::text("hi"));
    let args = ["exec", "--json", "go"];
    let said = output(&play, &args);
    assert_eq!((said.status.code(), said.stdout.len()), (Some(1), 0));
    assert!(String::from_utf8_lossy(&said.stderr).contains("--skip-git-repo-check"));
    std::fs::create_dir(play.path(".git")).unwrap();
    assert_eq!(output(&play, &args).status.code(), Some(0));
    for (args, code) in [
        (&["exec", "--json", "--no-such-flag", "x"][..], 2),
        (&["exec", "--json", "--skip-git-repo-check"], 1),
        (&["what is here?"], 1),
        (&["login"], 1),
        (&["review", "--uncommitted"], 1),
        (&["exec", "--json", "--skip-git-repo-check", "review"], 1),
        (&["exec", "--json", "--skip-git-repo-check", "look", "review"], 2),
    ] {
        let said = output(&play, args);
        assert_eq!((said.status.code(), said.stdout.len()), (Some(code), 0), "{args:?}");
        assert!(!said.stderr.is_empty(), "{args:?}");
    }
    for args in [&["exec", "help"][..], &["help"], &["exec", "--json", "help", "resume"]] {
        let said = output(&play, args);
        assert_eq!(said.status.code(), Some(0), "{args:?}");
        assert!(String::from_utf8_lossy(&said.stdout).starts_with("Usage: codex"), "{args:?}");
    }
    assert_eq!(output(&play, &["-a", "never", "--search", "exec", "--json", "go"]).status.code(), Some(0));
    assert_eq!(String::from_utf8_lossy(&output(&play, &["--version"]).stdout), "codex-cli 0.169.0\n");
}

#[test]
fn a_signal_ends_the_turn_and_what_it_runs() {
    let play = Play::script(vec![Answer::calls(&[shell("touch began; sleep 61; touch late")]), Answer::text("late")]);
    let mut host = Host::new(play.command("codex", &[EXEC, &["go"]].concat()));
    host.close();
    wait("the command begins", Duration::from_secs(20), || play.path("began").exists());
    let process = host.process.id();
    host.signal(Signal::INT);
    let end = host.end();
    // Its SDK takes a failure for one, and not for the end that it has asked for.
    let ends = end
        .types()
        .iter()
        .filter(|kind| ["error", "turn.completed", "turn.failed"].contains(kind))
        .count();
    assert_eq!((end.code(), ends), (1, 0), "{end:#?}");
    assert_eq!(end.types()[..2], ["thread.started", "turn.started"], "{end:#?}");
    play.nothing_is_left(Some(process));
}

#[test]
fn other_back_ends_speak_its_lines() {
    let play = Play::new(|_, _| Answer::text("never asked"));
    let mut command = play.command("codex", &[EXEC, &["go"]].concat());
    command.env("AGENTGLOT_BACKEND", "demo");
    let args: Vec<_> = command.get_args().map(|arg| arg.to_owned()).collect();
    let mut other = std::process::Command::new(command.get_program());
    let at = args.iter().position(|arg| arg == "--backend").unwrap();
    other.args(&args[..at]).args(["--backend", "demo"]).args(&args[at + 2..]);
    other.current_dir(play.path("")).stdin(std::process::Stdio::piped());
    other.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
    let end = run(other);
    assert_eq!(end.code(), 0, "{end:#?}");
    is_one_turn(&end);
    assert!(!items(&end, "agent_message").is_empty(), "{end:#?}");
    assert!(play.server.asked().is_empty());
}

/// A session that is not there is no run: nothing of it is in the stream, whoever knows that it is not there.
#[test]
fn a_thread_that_another_back_end_does_not_have_is_refused_before_the_stream() {
    const ID: &str = "01234567-0000-7000-8000-000000000000";
    let says = format!("warn Error: thread/resume: thread/resume failed: no rollout found for thread id {ID} (code -32600)");
    let stage = Stage::new(&["read all", &says, "exit 1"]);
    let mut host = stage.host("codex", "codex", &[], &[EXEC, &["resume", ID, "go"]].concat());
    host.close();
    let end = host.end();
    assert_eq!((end.code(), end.lines.len()), (1, 0), "{end:#?}");
    assert!(end.stderr.contains(&format!("no rollout found for thread id {ID}")), "{end:#?}");
}

/// Not every outcome says what the answer was.
#[test]
fn the_last_message_is_kept_whoever_says_it() {
    let message = |text: &str| format!(r#"say {{"type":"item.completed","item":{{"id":"item_0","type":"agent_message","text":"{text}"}}}}"#);
    let usage = r#"{"input_tokens":1,"cached_input_tokens":0,"output_tokens":1}"#;
    let codex = vec![
        r#"say {"type":"thread.started","thread_id":"t-1"}"#.to_owned(),
        r#"say {"type":"turn.started"}"#.to_owned(),
        message("First."),
        message("Last."),
        format!(r#"say {{"type":"turn.completed","usage":{usage}}}"#),
    ];
    let answers = |id: u64, result: &str| format!(r#"say {{"jsonrpc":"2.0","id":{id},"result":{result}}}"#);
    let update = |update: &str| {
        format!(r#"say {{"jsonrpc":"2.0","method":"session/update","params":{{"sessionId":"s-1","update":{{"sessionUpdate":{update}}}}}}}"#)
    };
    let piece = |text: &str| update(&format!(r#""agent_message_chunk","content":{{"type":"text","text":"{text}"}}"#));
    let gemini = vec![
        "read".to_owned(),
        answers(0, r#"{"protocolVersion":1}"#),
        "read".to_owned(),
        answers(1, r#"{"sessionId":"s-1"}"#),
        "read".to_owned(),
        piece("First."),
        update(r#""tool_call","toolCallId":"c-1","title":"ls","kind":"execute","status":"completed""#),
        piece("La"),
        piece("st."),
        answers(2, r#"{"stopReason":"end_turn"}"#),
        "read all".to_owned(),
    ];
    for (backend, script) in [("codex", codex), ("gemini", gemini)] {
        let stage = Stage::new(&script);
        let mut host = stage.host("codex", backend, &[], &[EXEC, &["-o", "answer", "go"]].concat());
        host.close();
        let end = host.end();
        is_one_turn(&end);
        assert_eq!(std::fs::read_to_string(stage.path("answer")).unwrap(), "Last.", "{backend}: {end:#?}");
    }
}
