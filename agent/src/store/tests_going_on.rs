//! Sessions that are found, gone on with and copied.

use super::tests::*;
use super::*;
use crate::model::message::{Message, Part};

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
                    let store = Store::open(crate::persona::of(Dialect::Claude).sessions, &cwd, &env);
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
            shelf.delete(&shelf.list(None).sessions[0]).unwrap();
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
        let error = home
            .begin(&fork(Some(&kept), Some(drops)))
            .unwrap_err()
            .refusal(crate::persona::of(Dialect::Claude).sessions);
        assert!(
            error.text.starts_with("Resume rejected by --resume-drops-turn: ") && error.text.contains(expected),
            "{}",
            error.text
        );
    }
    // The first answer's calls would lose their results.
    let error = home.begin(&fork(Some(&prompts[0]), Some(&prompts[1]))).unwrap_err();
    assert!(error.to_string().contains("part of the turn before"), "{error}");
    let error = home
        .begin(&fork(Some(ID), None))
        .unwrap_err()
        .refusal(crate::persona::of(Dialect::Claude).sessions);
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
        let refusal = home
            .begin(&session(wanted))
            .unwrap_err()
            .refusal(crate::persona::of(Dialect::Claude).sessions);
        assert!(refusal.text.starts_with(&said) && refusal.exit_code == 1, "{}", refusal.text);
    }
    let used = Ask {
        id: Some(id.clone()),
        ..Ask::default()
    };
    let refusal = home.begin(&used).unwrap_err().refusal(crate::persona::of(Dialect::Claude).sessions);
    assert_eq!(
        (refusal.text, refusal.exit_code),
        (format!("Error: Session ID {id} is already in use.\n"), 1)
    );
    let bad = Ask {
        id: Some("../x".to_owned()),
        ..Ask::default()
    };
    assert_eq!(
        home.begin(&bad).unwrap_err().refusal(crate::persona::of(Dialect::Claude).sessions).text,
        "Error: Invalid session ID. Must be a valid UUID.\n"
    );
    let elsewhere = Home::new();
    assert!(elsewhere.begin(&latest()).unwrap().1.is_none(), "a new one");

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
        .refusal(crate::persona::of(Dialect::Tricode).sessions);
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
    let all = shelf.list(Some(&home.cwd)).sessions;
    let (listed, others): (Vec<_>, Vec<_>) = all.into_iter().partition(|session| session.ours);
    assert_eq!((listed.len(), others.len()), (1, 1));
    assert_eq!(
        (&*others[0].id, &*others[0].dialect, others[0].prompt.as_deref()),
        (ID, "claude", Some("a"))
    );
    assert_eq!(shelf.at(&others[0].path).unwrap().as_ref(), Some(&others[0]));
    assert_eq!(shelf.read(&others[0]).unwrap().0.messages.len(), 1);
    assert!(matches!(shelf.delete(&others[0]), Err(StoreError::NotOurs(_))));
    std::fs::write(folder.join("x.txt"), "no transcript\n").unwrap();
    assert_eq!(shelf.at(&folder.join("x.txt")).unwrap(), None);
    assert_eq!(
        shelf.at(&listed[0].path).unwrap().map(|session| session.dialect),
        Some("claude".to_owned())
    );
    assert_eq!((&*listed[0].id, &*listed[0].dialect, listed[0].turns), (&*id, "claude", 2));
    assert_eq!(listed[0].prompt.as_deref(), Some("prompt 1"));
    assert_eq!(listed[0].cwd.as_deref(), home.cwd.to_str());
    assert!(shelf.list(Some(home.temp.path())).sessions.is_empty());
    assert_eq!(shelf.read(&listed[0]).unwrap().0.messages[..4], said);
    assert!(matches!(shelf.delete(&listed[0]), Err(StoreError::Busy(_))));
    assert!(folder.join(&id).exists());
    drop(transcript);
    shelf.delete(&listed[0]).unwrap();
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 2);
    assert_eq!(shelf.list(None).sessions, others);
}

#[test]
fn what_lies_beside_a_transcript_from_elsewhere_puts_no_file_back() {
    let home = Home::new();
    let (mut transcript, _) = home.begin(&Ask::default()).unwrap();
    turn(&mut transcript, 1);
    let victim = home.temp.path().join("victim");
    std::fs::write(&victim, "evil").unwrap();
    let mut points = transcript.checkpoints();
    points.mark("m");
    points.before_change(&victim);
    std::fs::write(&victim, "good").unwrap();
    let (id, path) = (transcript.id().to_owned(), transcript.path().unwrap().to_owned());
    drop((transcript, points));
    // The same files, as somebody may have sent them.
    let sent = home.temp.path().join("sent");
    std::fs::rename(path.parent().unwrap(), &sent).unwrap();
    let ask = Ask {
        which: Resume::Session(sent.join(format!("{id}.jsonl")).display().to_string()),
        ..Ask::default()
    };
    let (transcript, history) = home.begin(&ask).unwrap();
    assert!(history.is_some());
    assert!(transcript.checkpoints().rewind("m", false).error.is_some());
    assert_eq!(std::fs::read_to_string(&victim).unwrap(), "good");
    drop(transcript);
    // In their own place they count.
    std::fs::rename(&sent, path.parent().unwrap()).unwrap();
    let ask = Ask {
        which: Resume::Session(path.display().to_string()),
        ..Ask::default()
    };
    let (transcript, _) = home.begin(&ask).unwrap();
    assert_eq!(transcript.checkpoints().rewind("m", false).error, None);
    assert_eq!(std::fs::read_to_string(&victim).unwrap(), "evil");
}
