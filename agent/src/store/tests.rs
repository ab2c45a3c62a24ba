use super::*;
use crate::model::message::{Call, CallResult, Message, Part, Role, Source};

pub(super) struct Home {
    pub(super) temp: tempfile::TempDir,
    pub(super) cwd: PathBuf,
}

impl Home {
    pub(super) fn new() -> Self {
        let temp = tempfile::tempdir().unwrap();
        let cwd = temp.path().join("work");
        std::fs::create_dir(&cwd).unwrap();
        Self { temp, cwd }
    }

    pub(super) fn store(&self, dialect: Dialect) -> Store {
        let config = self.temp.path().join("config");
        let env = move |name: &str| matches!(name, "CLAUDE_CONFIG_DIR" | "AGENTGLOT_STATE_DIR").then(|| config.clone().into_os_string());
        Store::open(crate::persona::of(dialect).sessions, &self.cwd, &env)
            .with_secrets(Secrets::of([("MY_API_KEY".to_owned(), "hush-hush-hush".to_owned())]))
    }

    pub(super) fn shelf(&self) -> Shelf {
        let config = self.temp.path().join("config");
        crate::persona::shelf(&move |name| matches!(name, "CLAUDE_CONFIG_DIR" | "AGENTGLOT_STATE_DIR").then(|| config.clone().into_os_string()))
    }

    pub(super) fn writer(&self) -> Writer {
        Writer::new(&self.cwd)
    }

    pub(super) fn begin(&self, ask: &Ask) -> Result<(Transcript, Option<History>), StoreError> {
        self.store(Dialect::Claude).begin(ask, self.writer())
    }

    pub(super) fn resume(&self, id: &str) -> History {
        let (_, history) = self.begin(&session(id)).unwrap();
        history.unwrap()
    }
}

pub(super) fn session(id: &str) -> Ask {
    Ask {
        which: Resume::Session(id.to_owned()),
        ..Ask::default()
    }
}

pub(super) fn text(text: &str) -> Part {
    Part::Text(text.to_owned())
}

pub(super) fn call(id: &str) -> Part {
    Part::Call(Call {
        id: id.to_owned(),
        name: "Read".to_owned(),
        input: format!(r#"{{"file_path":"{id}","n":1.50}}"#),
        extra: None,
    })
}

pub(super) fn result(id: &str, is_error: bool) -> CallResult {
    CallResult {
        call: id.to_owned(),
        content: vec![text(&format!("result of {id}"))],
        is_error,
    }
}

pub(super) fn round(id: &str) -> Round<'_> {
    Round {
        message_id: id,
        model: "claude-x",
        stop_reason: Some("end_turn"),
        ..Round::default()
    }
}

/// A turn with two parallel calls whose results come in the other order.
pub(super) fn turn(transcript: &mut Transcript, n: usize) -> Vec<Message> {
    let (a, b) = (format!("a{n}"), format!("b{n}"));
    let prompt = format!("prompt {n}");
    let reply = vec![
        Part::Thinking {
            text: "hm".to_owned(),
            signature: Some("sig==".to_owned()),
            source: Source {
                api: "anthropic".to_owned(),
                model: "claude-x".to_owned(),
                member: String::new(),
            },
        },
        text("I look."),
        call(&a),
        call(&b),
    ];
    transcript.append_user(&[text(&prompt)], &UserFacts::default());
    transcript.append_assistant(&reply, &round(&format!("msg_{n}_1")), &[]);
    transcript.append_results(&[result(&b, false), result(&a, true)], &ResultFacts::default());
    transcript.append_assistant(&[text("Done.")], &round(&format!("msg_{n}_2")), &[]);
    transcript.end_turn();
    vec![
        Message::user(prompt),
        Message {
            role: Role::Assistant,
            parts: reply,
        },
        Message {
            role: Role::User,
            parts: vec![Part::Result(result(&a, true)), Part::Result(result(&b, false))],
        },
        Message {
            role: Role::Assistant,
            parts: vec![text("Done.")],
        },
    ]
}

#[test]
fn what_was_said_is_read_back() {
    let home = Home::new();
    let (mut transcript, none) = home.begin(&Ask::default()).unwrap();
    assert_eq!(none, None);
    let id = transcript.id().to_owned();
    let mut said = turn(&mut transcript, 1);
    said.extend(turn(&mut transcript, 2));
    let leaf = transcript.leaf().unwrap().to_owned();
    transcript.sync_now();
    assert!(transcript.take_trouble().is_none());
    drop(transcript);
    let (mut transcript, history) = home.begin(&session(&id)).unwrap();
    let history = history.unwrap();
    assert_eq!(history.messages, said);
    assert_eq!((history.leaf.as_deref(), history.model.as_deref()), (Some(&*leaf), Some("claude-x")));
    assert_eq!(history.prompts.len(), 2);
    assert!(history.notes.is_empty());
    said.extend(turn(&mut transcript, 3));
    drop(transcript);
    assert_eq!(home.resume(&id).messages, said);
}

#[test]
fn a_transcript_cut_at_any_byte_is_read_up_to_there() {
    let home = Home::new();
    let (mut transcript, _) = home.begin(&Ask::default()).unwrap();
    turn(&mut transcript, 1);
    transcript.compact("They talked.", &Compaction::default());
    turn(&mut transcript, 2);
    let (id, path) = (transcript.id().to_owned(), transcript.path().unwrap().to_owned());
    drop(transcript);
    let whole = std::fs::read(&path).unwrap();
    let (store, writer, ask) = (home.store(Dialect::Claude), home.writer(), session(&id));
    let read = |bytes: &[u8]| {
        // A file that is made anew is not waited for, as one is that is cut.
        std::fs::remove_file(&path).unwrap();
        std::fs::write(&path, bytes).unwrap();
        store.begin(&ask, writer.clone()).map(|(_, history)| history.unwrap())
    };
    let mut last: Option<History> = None;
    for cut in 0..=whole.len() {
        let bytes = &whole[..cut];
        let ended = bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
        let torn = cut - ended;
        match read(bytes) {
            Err(StoreError::NotFound(_)) => assert!(last.is_none(), "{cut}"),
            Err(error) => panic!("{cut}: {error}"),
            Ok(history) => {
                // All but the line end is there, or nothing of the line is.
                let complete = torn == 0 || whole.get(cut) == Some(&b'\n');
                assert_eq!(history.notes.is_empty(), complete, "{cut}: {:?}", history.notes);
                if !complete {
                    assert_eq!(history.messages, last.as_ref().unwrap().messages, "{cut}");
                }
                // What is left is whole lines, and the session goes on.
                let left = std::fs::read(&path).unwrap();
                assert_eq!(
                    left,
                    [
                        &bytes[..if complete { cut } else { ended }],
                        if complete && torn > 0 { b"\n" } else { b"" }
                    ]
                    .concat()
                );
                last = Some(history);
            }
        }
    }
    assert_eq!(last.unwrap().messages.len(), 4);
}

#[test]
fn a_killed_process_leaves_a_transcript_that_goes_on() {
    if let Some(dir) = std::env::var_os("AGENTGLOT_TEST_WRITER") {
        let home = Home {
            cwd: PathBuf::from(&dir).join("work"),
            temp: tempfile::Builder::new().disable_cleanup(true).tempdir_in(&dir).unwrap(),
        };
        let config = PathBuf::from(&dir).join("config");
        let env = move |name: &str| (name == "CLAUDE_CONFIG_DIR").then(|| config.clone().into_os_string());
        let store = Store::open(crate::persona::of(Dialect::Claude).sessions, &home.cwd, &env);
        let ask = Ask {
            id: Some(ID.to_owned()),
            ..Ask::default()
        };
        let (mut transcript, _) = store.begin(&ask, home.writer()).unwrap();
        for n in 0.. {
            turn(&mut transcript, n);
            transcript.sync_now();
        }
    }
    let home = Home::new();
    for wait in [50, 90, 140] {
        let mut child = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["store::tests::a_killed_process_leaves_a_transcript_that_goes_on", "--exact"])
            .env("AGENTGLOT_TEST_WRITER", home.temp.path())
            .stdout(std::process::Stdio::null())
            .spawn()
            .unwrap();
        let path = home
            .temp
            .path()
            .join("config/projects")
            .join(place::slug(&home.cwd))
            .join(format!("{ID}.jsonl"));
        while std::fs::metadata(&path).map_or(0, |about| about.len()) < 4096 {
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        // It is being written: nobody else may.
        assert!(matches!(home.begin(&session(ID)), Err(StoreError::Busy(_))));
        std::thread::sleep(std::time::Duration::from_millis(wait));
        child.kill().unwrap();
        child.wait().unwrap();
        let (mut transcript, history) = home.begin(&session(ID)).unwrap();
        let history = history.unwrap();
        let turns = history.prompts.len();
        assert!(turns > 0 && history.messages.len() > 4 * (turns - 1));
        for pair in history.messages.windows(2) {
            assert_ne!(pair[0].role, pair[1].role);
        }
        let said = turn(&mut transcript, 1_000_000);
        drop(transcript);
        let again = home.resume(ID);
        assert!(again.messages.ends_with(&said[1..]) && again.notes.is_empty());
        std::fs::remove_file(&path).unwrap();
    }
}

pub(super) const ID: &str = "11111111-2222-4333-8444-555555555555";

#[test]
fn ids_of_servers_that_give_the_same_again_and_again_are_told_apart() {
    let home = Home::new();
    let (mut transcript, _) = home.begin(&Ask::default()).unwrap();
    let mut said = Vec::new();
    for n in 0..3 {
        let answer = CallResult {
            content: vec![text(&format!("answer {n}"))],
            ..result("call_0", false)
        };
        transcript.append_user(&[text(&format!("prompt {n}"))], &UserFacts::default());
        transcript.append_assistant(&[text("I look."), call("call_0")], &round("chatcmpl-1"), &[]);
        transcript.append_results(std::slice::from_ref(&answer), &ResultFacts::default());
        said.push(Message::user(format!("prompt {n}")));
        said.push(Message {
            role: Role::Assistant,
            parts: vec![text("I look."), call("call_0")],
        });
        said.push(Message {
            role: Role::User,
            parts: vec![Part::Result(answer)],
        });
        if n < 2 {
            transcript.append_assistant(&[text("Done.")], &round("chatcmpl-2"), &[]);
            said.push(Message {
                role: Role::Assistant,
                parts: vec![text("Done.")],
            });
        }
    }
    let id = transcript.id().to_owned();
    drop(transcript);
    assert_eq!(home.resume(&id).messages, said);
    let fork = Ask { fork: true, ..session(&id) };
    let copy = home.begin(&fork).unwrap().0.id().to_owned();
    assert_eq!(home.resume(&copy).messages, said);
}

#[test]
fn parts_of_every_kind_survive() {
    let home = Home::new();
    let (mut transcript, _) = home.begin(&Ask::default()).unwrap();
    let source = Source {
        api: "openai".to_owned(),
        model: "claude-x".to_owned(),
        member: "reasoning".to_owned(),
    };
    let picture = Part::Image {
        media_type: "image/png".to_owned(),
        data: "AAAA".to_owned(),
    };
    let paper = Part::Document {
        media_type: "application/pdf".to_owned(),
        data: "BBBB".to_owned(),
    };
    let odd = |input: &str, extra: Option<&str>| {
        Part::Call(Call {
            id: format!("c{}", input.len()),
            name: "N".to_owned(),
            input: input.to_owned(),
            extra: extra.map(str::to_owned),
        })
    };
    let reply = vec![
        Part::Thinking {
            text: "hm".to_owned(),
            signature: None,
            source,
        },
        Part::Redacted { data: "xyz".to_owned() },
        odd(r#"{"big":123456789012345678901234567890,"a":1,"a":2}"#, Some(r#"{"index":0}"#)),
        odd("{\"cut", None),
        odd("[1]", None),
    ];
    let answer = |call: &str, content: Vec<Part>| CallResult {
        call: call.to_owned(),
        content,
        is_error: false,
    };
    let results = [
        answer("c50", vec![picture.clone(), text("and text")]),
        answer("c5", vec![]),
        answer("c3", vec![text("")]),
    ];
    let Part::Call(first) = &reply[2] else { panic!() };
    assert_eq!(first.input.len(), 50, "the ids above");
    transcript.append_user(&[text("see"), picture, paper], &UserFacts::default());
    transcript.append_assistant(&reply, &round("m"), &[]);
    transcript.append_results(&results, &ResultFacts::default());
    let id = transcript.id().to_owned();
    drop(transcript);
    let messages = home.resume(&id).messages;
    assert_eq!(messages[1].parts, reply);
    let Part::Result(last) = &messages[2].parts[0] else { panic!() };
    assert_eq!(*last, results[0]);
    assert_eq!(messages[0].parts.len(), 3);
}

#[test]
fn secrets_are_not_written_and_hosts_can_follow() {
    let home = Home::new();
    let ask = Ask {
        mirror: true,
        ..Ask::default()
    };
    let (mut transcript, _) = home.begin(&ask).unwrap();
    let id = "99999999-2222-4333-8444-555555555555";
    let facts = UserFacts {
        uuid: Some(id),
        permission_mode: Some("default"),
        ..UserFacts::default()
    };
    assert_eq!(transcript.append_user(&[text("my key is hush-hush-hush")], &facts), id);
    let about = Subagent {
        id: "a1",
        kind: "general-purpose",
        description: Some("Look"),
        call: Some("toolu_1"),
    };
    let mut agent = transcript.subagent(&about);
    agent.append_user(&[text("look")], &UserFacts::default());
    let inner = agent.take_mirror();
    let path = transcript.path().unwrap().to_owned();
    let mirror = transcript.take_mirror();
    assert_eq!(mirror.len(), 1);
    assert!(transcript.take_mirror().is_empty());
    let line: serde_json::Value = serde_json::from_str(&mirror[0].line()).unwrap();
    assert_eq!(
        (&line["type"], &line["filePath"]),
        (&"transcript_mirror".into(), &path.display().to_string().into())
    );
    assert_eq!(line["entries"][0]["message"]["content"], "my key is [redacted]");
    let session = path.with_extension("");
    assert_eq!(inner[0].file_path, session.join("subagents/agent-a1.jsonl").display().to_string());
    assert!(inner[0].entries[0].starts_with(r#"{"type":"agent_metadata","agentType":"general-purpose""#));
    assert!(inner[0].entries[1].contains(r#""isSidechain":true,"agentId":"a1""#));
    let meta: serde_json::Value = serde_json::from_slice(&std::fs::read(session.join("subagents/agent-a1.meta.json")).unwrap()).unwrap();
    assert_eq!((&meta["toolUseId"], &meta["description"]), (&"toolu_1".into(), &"Look".into()));
    assert!(!std::fs::read_to_string(&path).unwrap().contains("hush"));
    assert!(
        !transcript
            .subagent(&Subagent { id: "../x", ..about })
            .append_user(&[text("x")], &UserFacts::default())
            .is_empty()
    );
    drop((agent, transcript));
    assert_eq!(std::fs::read_dir(session.join("subagents")).unwrap().count(), 2);
}

#[test]
fn a_disk_that_takes_nothing_is_told_of_once() {
    let home = Home::new();
    let Ok(full) = std::fs::OpenOptions::new().append(true).open("/dev/full") else {
        return;
    };
    let place = Place {
        home: Rc::new(Dir::root(home.temp.path(), false).unwrap()),
        path: PathBuf::from("/dev/full"),
        file: full,
        fresh: None,
        elsewhere: false,
    };
    let mut transcript = Transcript::new(ID.to_owned(), Some(place), Rc::new(home.writer()), Rc::default());
    turn(&mut transcript, 1);
    let trouble = transcript.take_trouble().unwrap();
    assert_eq!(trouble.code, Some("ENOSPC"));
    turn(&mut transcript, 2);
    transcript.sync_now();
    assert_eq!(transcript.take_trouble(), None);
    drop(transcript);

    // A folder that cannot be made is no error either.
    std::fs::write(home.temp.path().join("config"), "a file").unwrap();
    let (mut transcript, _) = home.begin(&Ask::default()).unwrap();
    assert!(transcript.path().is_none() && transcript.take_trouble().is_some());
    turn(&mut transcript, 1);
    assert_eq!(transcript.take_trouble(), None);
}

#[test]
fn a_session_that_is_not_kept_leaves_nothing() {
    let home = Home::new();
    let (mut kept, _) = home.begin(&Ask::default()).unwrap();
    let said = turn(&mut kept, 1);
    let (id, path) = (kept.id().to_owned(), kept.path().unwrap().to_owned());
    drop(kept);
    let before = std::fs::read(&path).unwrap();
    let ask = Ask { keep: false, ..session(&id) };
    let (mut transcript, history) = home.begin(&ask).unwrap();
    assert_eq!((transcript.id(), history.unwrap().messages), (&*id, said));
    turn(&mut transcript, 2);
    drop(transcript);
    assert_eq!(std::fs::read(&path).unwrap(), before);
}
