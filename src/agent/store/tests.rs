use super::*;
use crate::agent::chat::{Call, CallResult, Message, Part, Role, Source};

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
        Store::open(dialect, &self.cwd, &env).with_secrets(Secrets::of([("MY_API_KEY".to_owned(), "hush-hush-hush".to_owned())]))
    }

    pub(super) fn shelf(&self) -> Shelf {
        let config = self.temp.path().join("config");
        Shelf::open(&move |name| matches!(name, "CLAUDE_CONFIG_DIR" | "AGENTGLOT_STATE_DIR").then(|| config.clone().into_os_string()))
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
        let store = Store::open(Dialect::Claude, &home.cwd, &env);
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
            .args(["agent::store::tests::a_killed_process_leaves_a_transcript_that_goes_on", "--exact"])
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
fn of_many_that_want_one_session_one_gets_it() {
    let home = Home::new();
    let (config, cwd) = (home.temp.path().join("config"), home.cwd.clone());
    for _ in 0..20 {
        let threads: Vec<_> = (0..8)
            .map(|n| {
                let (config, cwd) = (config.clone(), cwd.clone());
                std::thread::spawn(move || {
                    let env = move |name: &str| (name == "CLAUDE_CONFIG_DIR").then(|| config.clone().into_os_string());
                    let store = Store::open(Dialect::Claude, &cwd, &env);
                    let ask = Ask {
                        id: Some(ID.to_owned()),
                        ..Ask::default()
                    };
                    match store.begin(&ask, Writer::new(&cwd)) {
                        Ok((mut transcript, _)) => {
                            // Some say nothing, and leave nothing behind.
                            if n % 2 == 0 {
                                transcript.append_user(&[text("mine")], &UserFacts::default());
                                std::thread::sleep(std::time::Duration::from_millis(5));
                            }
                            n % 2 == 0
                        }
                        Err(StoreError::InUse(id)) => {
                            assert_eq!(id, ID);
                            false
                        }
                        Err(error) => panic!("{error}"),
                    }
                })
            })
            .collect();
        let won = threads.into_iter().map(|thread| thread.join().unwrap()).filter(|&won| won).count();
        let store = home.store(Dialect::Claude);
        assert_eq!((won, store.ids().len()), (won.min(1), won));
        if won == 1 {
            assert_eq!(home.resume(ID).messages, [Message::user("mine")]);
            let shelf = home.shelf();
            shelf.delete(&shelf.list(None).unwrap()[0]).unwrap();
        }
    }
}

#[test]
fn a_hundred_megabytes_are_not_read_to_go_on_behind_a_compaction() {
    let home = Home::new();
    let (mut transcript, _) = home.begin(&Ask::default()).unwrap();
    let filler = "of a compact_boundary ".repeat(2000);
    let detail = serde_json::json!({"type": "text", "file": {"content": filler}});
    let facts = ResultFacts {
        detail: Some(&detail),
        ..ResultFacts::default()
    };
    for n in 0..20 {
        let call_id = format!("c{n}");
        transcript.append_user(&[text("go on")], &UserFacts::default());
        transcript.append_assistant(&[call(&call_id)], &round(&format!("m{n}")), &[]);
        transcript.append_results(&[result(&call_id, false)], &facts);
    }
    let path = transcript.path().unwrap().to_owned();
    let talk = std::fs::read(&path).unwrap();
    let mut more = std::fs::OpenOptions::new().append(true).open(&path).unwrap();
    for _ in 0..(100 << 20) / talk.len() {
        more.write_all(&talk).unwrap();
    }
    transcript.compact("They talked long.", &Compaction::default());
    let said = turn(&mut transcript, 1);
    let id = transcript.id().to_owned();
    drop(transcript);
    let begun = std::time::Instant::now();
    let history = home.resume(&id);
    let took = begun.elapsed();
    eprintln!("100 MB resumed in {took:?}");
    assert!(took < std::time::Duration::from_secs(1), "{took:?}");
    assert_eq!(history.messages[0].parts, [text("They talked long."), text("prompt 1")]);
    assert_eq!(history.messages[1..], said[1..]);
}

#[test]
fn copies_and_earlier_places() {
    let home = Home::new();
    let (mut transcript, _) = home.begin(&Ask::default()).unwrap();
    let id = transcript.id().to_owned();
    let first = turn(&mut transcript, 1);
    let kept = transcript.leaf().unwrap().to_owned();
    let second = turn(&mut transcript, 2);
    drop(transcript);
    let prompts = home.resume(&id).prompts;
    let fork = |at: Option<&str>, drops: Option<&str>| Ask {
        fork: true,
        at: at.map(str::to_owned),
        drops_turn: drops.map(str::to_owned),
        ..session(&id)
    };
    let (copy, history) = home.begin(&fork(None, None)).unwrap();
    let (copied, history) = (copy.id().to_owned(), history.unwrap());
    assert_ne!(copied, id);
    assert_eq!(history.messages, [&first[..], &second[..]].concat());
    drop(copy);
    assert_eq!(home.resume(&copied).messages, history.messages);
    let lines = std::fs::read_to_string(home.begin(&session(&copied)).unwrap().0.path().unwrap()).unwrap();
    assert!(!lines.contains(&format!("\"sessionId\":\"{id}\",\"cwd\"")) && lines.contains("\"forkedFrom\":{\"sessionId\":"));

    let (copy, history) = home.begin(&fork(Some(&kept), Some(&prompts[1]))).unwrap();
    assert_eq!(history.unwrap().messages, first);
    let copied = copy.id().to_owned();
    drop(copy);
    assert_eq!(home.resume(&copied).messages, first);

    for (drops, expected) in [(prompts[0].as_str(), "another prompt"), (ID, "another prompt")] {
        let error = home.begin(&fork(Some(&kept), Some(drops))).unwrap_err().refusal(Dialect::Claude);
        assert!(
            error.text.starts_with("Resume rejected by --resume-drops-turn: ") && error.text.contains(expected),
            "{}",
            error.text
        );
    }
    // The first answer's calls would lose their results.
    let error = home.begin(&fork(Some(&prompts[0]), Some(&prompts[1]))).unwrap_err();
    assert!(error.to_string().contains("part of the turn before"), "{error}");
    let error = home.begin(&fork(Some(ID), None)).unwrap_err().refusal(Dialect::Claude);
    assert_eq!(error.text, format!("No message found with message.uuid of: {ID}\n"));

    // Without a copy, the session branches where it is gone on with.
    let at = Ask {
        at: Some(kept),
        ..session(&id)
    };
    let (mut transcript, _) = home.begin(&at).unwrap();
    let third = turn(&mut transcript, 3);
    drop(transcript);
    assert_eq!(home.resume(&id).messages, [&first[..], &third[..]].concat());
}

#[test]
fn sessions_are_found_by_what_they_are_called_and_where_they_lie() {
    let home = Home::new();
    let (mut transcript, _) = home.begin(&Ask::default()).unwrap();
    let (id, path) = (transcript.id().to_owned(), transcript.path().unwrap().display().to_string());
    turn(&mut transcript, 1);
    transcript.rename(" My ../title ");
    drop(transcript);
    for wanted in [id.as_str(), &id.to_uppercase(), "My ../title", &path] {
        assert_eq!(home.begin(&session(wanted)).unwrap().0.id(), id, "{wanted}");
    }
    let latest = || Ask {
        which: Resume::Latest,
        ..Ask::default()
    };
    assert_eq!(home.begin(&latest()).unwrap().0.id(), id);
    for (wanted, said) in [
        (ID, format!("No conversation found with session ID: {ID}\n")),
        ("../../etc/passwd", "Error: --resume requires a valid session ID".to_owned()),
    ] {
        let refusal = home.begin(&session(wanted)).unwrap_err().refusal(Dialect::Claude);
        assert!(refusal.text.starts_with(&said) && refusal.exit_code == 1, "{}", refusal.text);
    }
    let used = Ask {
        id: Some(id.clone()),
        ..Ask::default()
    };
    let refusal = home.begin(&used).unwrap_err().refusal(Dialect::Claude);
    assert_eq!(
        (refusal.text, refusal.exit_code),
        (format!("Error: Session ID {id} is already in use.\n"), 1)
    );
    let bad = Ask {
        id: Some("../x".to_owned()),
        ..Ask::default()
    };
    assert_eq!(
        home.begin(&bad).unwrap_err().refusal(Dialect::Claude).text,
        "Error: Invalid session ID. Must be a valid UUID.\n"
    );
    let elsewhere = Home::new();
    assert_eq!(
        elsewhere.begin(&latest()).unwrap_err().refusal(Dialect::Claude).text,
        "No conversation found to continue\n"
    );

    let tricode = home.store(Dialect::Tricode);
    let (mut transcript, _) = tricode.begin(&Ask::default(), home.writer()).unwrap();
    let short = transcript.id().to_owned();
    assert_eq!(short.len(), 8);
    transcript.append_user(&[text("hi")], &UserFacts::default());
    drop(transcript);
    // From any folder.
    let other = Home {
        cwd: home.temp.path().to_owned(),
        ..home
    };
    assert!(other.store(Dialect::Tricode).begin(&session(&short), other.writer()).unwrap().1.is_some());
    let refusal = other
        .store(Dialect::Tricode)
        .begin(&session("00000000"), other.writer())
        .unwrap_err()
        .refusal(Dialect::Tricode);
    assert_eq!((&*refusal.text, refusal.exit_code), ("Error: Session 00000000 not found\n", 0));

    let cursor = other.store(Dialect::Cursor);
    let chat = ids::unused([7; 16]);
    let (mut transcript, history) = cursor.begin(&session(&chat), other.writer()).unwrap();
    assert_eq!((transcript.id(), history), (&*chat, None));
    transcript.append_user(&[text("hi")], &UserFacts::default());
    drop(transcript);
    assert!(cursor.begin(&session(&chat), other.writer()).unwrap().1.is_some());
    // Side by side in one folder, each sees its own.
    assert!(other.store(Dialect::QwenCode).ids().is_empty());
    assert_eq!(cursor.ids(), [chat]);
    assert!(matches!(cursor.begin(&session(ID), other.writer()), Err(StoreError::NotFound(_))));
}

#[test]
fn what_other_programs_write_is_read_as_they_read_it() {
    let home = Home::new();
    drop(home.begin(&Ask::default()).unwrap());
    let folder = home.temp.path().join("config/projects").join(place::slug(&home.cwd));
    let read = |lines: &[&str]| {
        std::fs::write(folder.join(format!("{ID}.jsonl")), lines.join("\n")).unwrap();
        home.begin(&session(ID)).map(|(_, history)| history.unwrap())
    };
    let user = r#"{"type":"user","uuid":"1","parentUuid":null,"timestamp":"t","message":{"role":"user","content":"a"}}"#;
    let reply = r#"{"type":"assistant","uuid":"2","parentUuid":"1","timestamp":"t","message":{"id":"m","role":"assistant","content":[{"type":"text","text":"b"}]}}"#;
    let noise = [
        "",
        "\r",
        "no json",
        "[1]",
        r#"{"type":"mode"}"#,
        r#"{"type":"what","uuid":"9","parentUuid":"2"}"#,
    ];
    let history = read(&[
        &format!("\u{feff}{user}\r"),
        noise[0],
        noise[1],
        noise[2],
        noise[3],
        noise[4],
        reply,
        noise[5],
    ])
    .unwrap();
    assert_eq!(history.messages.len(), 2);
    assert_eq!(history.notes.len(), 1);
    // Lines in another order, a failure at the end.
    let failure = r#"{"type":"assistant","uuid":"3","parentUuid":"2","isApiErrorMessage":true,"message":{"id":"x","content":[{"type":"text","text":"API Error"}]}}"#;
    assert_eq!(read(&[reply, user]).unwrap().messages.len(), 1);
    let after = r#"{"type":"last-prompt","leafUuid":"2","sessionId":"s"}"#;
    assert_eq!(read(&[reply, user, after]).unwrap().messages.len(), 2);
    assert_eq!(read(&[user, reply, failure]).unwrap().messages.len(), 2);
    // Two leaves: the last one, unless one is named.
    let other = reply.replace("\"2\"", "\"4\"").replace("\"b\"", "\"c\"").replace("\"m\"", "\"n\"");
    assert_eq!(read(&[user, reply, &other]).unwrap().messages[1].text(), "c");
    assert_eq!(read(&[user, reply, &other, after]).unwrap().messages[1].text(), "b");
    // A call without a result gets one; a queued prompt and what only people see.
    let call =
        r#"{"type":"assistant","uuid":"2","parentUuid":"1","message":{"id":"m","content":[{"type":"tool_use","id":"c","name":"Read","input":{}}]}}"#;
    let queued = r#"{"type":"attachment","uuid":"5","parentUuid":"2","attachment":{"type":"queued_command","prompt":"more"}}"#;
    let shown = r#"{"type":"user","uuid":"6","parentUuid":"5","isVisibleInTranscriptOnly":true,"message":{"role":"user","content":"not this"}}"#;
    let messages = read(&[user, call, queued, shown]).unwrap().messages;
    assert!(
        matches!(&messages[2].parts[..], [Part::Result(result), Part::Text(text)] if result.is_error && text == "more"),
        "{messages:?}"
    );
    // Thinking without a signature is a model's of another API.
    let thinks = r#"{"type":"assistant","uuid":"2","parentUuid":"1","message":{"id":"m","model":"q","content":[{"type":"thinking","thinking":"t","signature":""}]}}"#;
    let messages = read(&[user, thinks]).unwrap().messages;
    assert!(matches!(&messages[1].parts[0], Part::Thinking { signature: None, source, .. } if source.api == "openai" && source.model == "q"));
    for empty in [&[][..], &[noise[4]], &[&user.replace("{\"type\"", "{\"isSidechain\":true,\"type\"")]] {
        assert!(matches!(read(empty), Err(StoreError::NotFound(_))));
    }
    // A circle ends.
    let circle = user.replace("null", "\"2\"");
    assert_eq!(read(&[&circle, reply]).unwrap().messages.len(), 2);
}

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

#[test]
fn the_shelf_lists_reads_and_deletes_ours_alone() {
    let home = Home::new();
    let (mut transcript, _) = home.begin(&Ask::default()).unwrap();
    let said = turn(&mut transcript, 1);
    turn(&mut transcript, 2);
    transcript.subagent(&Subagent {
        id: "a1",
        kind: "k",
        ..Subagent::default()
    });
    transcript.checkpoints().mark("m");
    let id = transcript.id().to_owned();
    let shelf = home.shelf();
    let folder = transcript.path().unwrap().parent().unwrap().to_owned();
    let theirs = r#"{"type":"user","uuid":"1","parentUuid":null,"timestamp":"t","message":{"role":"user","content":"a"}}"#;
    std::fs::write(folder.join(format!("{ID}.jsonl")), theirs).unwrap();
    let listed = shelf.list(Some(&home.cwd)).unwrap();
    assert_eq!(listed.len(), 1);
    assert_eq!((&*listed[0].id, &*listed[0].dialect, listed[0].turns), (&*id, "claude", 2));
    assert_eq!(listed[0].prompt.as_deref(), Some("prompt 1"));
    assert_eq!(listed[0].cwd.as_deref(), home.cwd.to_str());
    assert!(shelf.list(Some(home.temp.path())).unwrap().is_empty());
    assert_eq!(shelf.read(&listed[0]).unwrap().0.messages[..4], said);
    assert!(matches!(shelf.delete(&listed[0]), Err(StoreError::Busy(_))));
    assert!(folder.join(&id).exists());
    drop(transcript);
    shelf.delete(&listed[0]).unwrap();
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 1);
    assert!(shelf.list(None).unwrap().is_empty());
}
