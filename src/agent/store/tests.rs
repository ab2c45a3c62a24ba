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
