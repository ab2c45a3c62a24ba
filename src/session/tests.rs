//! A session without IO: what is said and when is given, what comes out is looked at.

use std::time::{Duration, Instant};

use async_trait::async_trait;

use super::*;
use crate::adapters::raw::codec::Format;
use crate::adapters::raw::conduct::Facts;
use crate::adapters::raw::event::Input;
use crate::adapters::raw::live::Listener;
use crate::backend::{Hurry, Said};

/// Notes what it is told.
#[derive(Debug)]
pub(super) struct Fake {
    dialect: Dialect,
    pub(super) told: Vec<String>,
}

#[async_trait(?Send)]
impl Backend for Fake {
    fn dialect(&self) -> Dialect {
        self.dialect
    }

    fn input(&mut self, input: &Input<'_>) -> bool {
        self.told.push(format!("{:?}", input.kind));
        true
    }

    fn calls_hooks(&self) -> bool {
        false
    }

    fn close(&mut self) {}

    async fn read(&mut self, _into: &mut Vec<u8>) -> Said {
        Said::Over(None)
    }

    async fn stop(&mut self, _: &Hurry) {}
}

pub(super) struct Scene {
    pub(super) session: Session,
    pub(super) backend: Fake,
    host: Listener,
    agent: Listener,
    start: Instant,
    pub(super) now: Instant,
}

impl Scene {
    fn new(dialect: Dialect) -> Self {
        Self::between(dialect, Dialect::Claude)
    }

    pub(super) fn between(dialect: Dialect, agent: Dialect) -> Self {
        let start = Instant::now();
        let host = Host {
            agent: false,
            old_text: false,
            hides_thoughts: false,
            watched: false,
            format: Format::from(dialect),
            partial: false,
            verbose: false,
            interactive: true,
            answers_permissions: true,
            types_answers: false,
            heartbeat: None,
            log: false,
            allows_all: false,
            rules: Rules::default(),
            echoes: false,
            schema: None,
            max_rounds: None,
            facts: Facts::default(),
            clock: Clock {
                moment: start,
                millis: 1_800_000_000_000,
            },
        };
        let timers = Timers {
            start: Duration::from_secs(10),
            silence: Duration::from_secs(20),
            turn: Duration::from_secs(30),
            permission: Duration::from_secs(5),
            control: Duration::from_secs(3),
            shutdown: Duration::ZERO,
        };
        Self {
            session: Session::new(host, agent.into(), agent, timers, OnAsk::Deny),
            backend: Fake {
                dialect: agent,
                told: Vec::new(),
            },
            host: Listener::to_host(dialect, 1 << 20),
            agent: Listener::to_agent(agent, 1 << 20),
            start,
            now: start,
        }
    }

    pub(super) fn host(&mut self, line: &str) -> &mut Self {
        let (session, backend, now) = (&mut self.session, &mut self.backend, self.now);
        let line = format!("{line}\n");
        self.host.feed(line.as_bytes(), &mut |heard| session.host(&heard, now, backend));
        session.go_on(now, backend);
        self
    }

    pub(super) fn agent(&mut self, line: &str) -> &mut Self {
        let (session, backend, now) = (&mut self.session, &mut self.backend, self.now);
        let line = format!("{line}\n");
        self.agent.feed(line.as_bytes(), &mut |heard| session.backend(&heard, now, backend));
        session.go_on(now, backend);
        self
    }

    pub(super) fn after(&mut self, seconds: u64) -> bool {
        self.now = self.start + Duration::from_secs(seconds);
        self.session.tick(self.now, &mut self.backend)
    }

    /// What was said to the host since the last time.
    pub(super) fn said(&mut self) -> String {
        String::from_utf8(std::mem::take(self.session.out())).unwrap()
    }
}

const HI: &str = r#"{"type":"user","message":{"role":"user","content":"hi"}}"#;
const INIT: &str = r#"{"type":"system","subtype":"init","session_id":"s-1","tools":[],"model":"m","uuid":"u-1"}"#;
const DONE: &str =
    r#"{"type":"result","subtype":"success","is_error":false,"duration_ms":1,"duration_api_ms":1,"num_turns":1,"result":"ok","session_id":"s-1"}"#;
const ASK: &str =
    r#"{"type":"control_request","request_id":"q1","request":{"subtype":"can_use_tool","tool_name":"Bash","input":{},"tool_use_id":"t"}}"#;

fn results(said: &str) -> usize {
    said.matches("\"type\":\"result\"").count()
}

#[test]
fn each_prompt_has_one_outcome_when_the_agent_goes() {
    let mut scene = Scene::new(Dialect::Claude);
    scene.host(HI).host(HI).host(HI).agent(INIT).agent(DONE);
    assert_eq!(results(&scene.said()), 1);
    let now = scene.now;
    scene.session.backend_over(Some("it fell over".to_owned()), now);
    let said = scene.said();
    assert_eq!((results(&said), said.matches("it fell over").count()), (2, 2), "{said}");
    assert!(said.contains("\"session_id\":\"s-1\""), "{said}");
    assert!(!scene.session.busy());
    scene.session.finish();
    assert_eq!(scene.said(), "");
    assert_eq!(scene.session.exit_code(), 1);
}

#[test]
fn results_without_a_turn_are_counted_and_left_out() {
    let mut scene = Scene::new(Dialect::Claude);
    scene.host(HI).agent(INIT).agent(DONE).agent(DONE).agent(DONE);
    assert_eq!(results(&scene.said()), 1);
    assert_eq!(scene.session.oddities().extra_outcomes, 2);
    scene.agent(INIT).agent(DONE);
    assert_eq!(results(&scene.said()), 1);
}

#[test]
fn a_question_is_denied_in_time_and_late_answers_are_counted() {
    let mut scene = Scene::new(Dialect::Claude);
    scene.host(HI).agent(INIT).agent(ASK);
    assert_eq!(scene.session.deadline(), Some(scene.start + Duration::from_secs(5)));
    assert!(!scene.after(4));
    assert_eq!(scene.backend.told.len(), 1);
    assert!(!scene.after(5));
    let told = scene.backend.told.last().unwrap();
    assert!(told.contains("did not answer within 5.0 s"), "{told}");
    assert!(scene.said().contains("control_cancel_request"));
    scene.host(r#"{"type":"control_response","response":{"subtype":"success","request_id":"q1","response":{"behavior":"allow"}}}"#);
    assert_eq!(scene.session.oddities().stray_answers, 1);
    assert_eq!(scene.backend.told.len(), 2);
}

#[test]
fn a_question_that_an_interrupt_leaves_open_is_denied_and_taken_back_once() {
    let mut scene = Scene::between(Dialect::Claude, Dialect::QwenCode);
    scene.host(HI).agent(INIT).agent(ASK).said();
    scene.host(r#"{"type":"control_request","request_id":"r1","request":{"subtype":"interrupt"}}"#);
    // Some say themselves that nobody need answer any more, and even behind the end of the turn.
    scene.agent(r#"{"type":"control_cancel_request","request_id":"q1"}"#).agent(DONE);
    scene.agent(r#"{"type":"control_cancel_request","request_id":"q1"}"#);
    let said = scene.said();
    assert_eq!(said.matches("control_cancel_request").count(), 1, "{said}");
    assert!(said.contains(r#""permission_denials":[{"tool_name":"#), "{said}");
}

#[test]
fn silence_ends_the_turn_and_waits_for_the_host_do_not_count() {
    let mut scene = Scene::new(Dialect::Claude);
    scene.host(HI);
    assert!(!scene.after(9));
    assert!(scene.after(10));
    let said = scene.said();
    assert!(results(&said) == 1 && said.contains("has said nothing for 10 s"), "{said}");
    assert_eq!(scene.session.deadline(), None);
}

#[test]
fn an_agent_that_talks_for_ever_is_stopped() {
    let mut scene = Scene::new(Dialect::Claude);
    scene.host(HI).agent(INIT);
    for seconds in [9, 18, 27] {
        assert!(!scene.after(seconds));
        scene.agent(INIT);
    }
    assert_eq!(scene.session.deadline(), Some(scene.start + Duration::from_secs(30)));
    assert!(scene.after(30));
    let said = scene.said();
    assert!(results(&said) == 1 && said.contains("not ended within 30 s (--turn-timeout)"), "{said}");
    // The host is waited for from the 8th second to the 12th, and for five seconds in vain from the 20th.
    let mut scene = Scene::new(Dialect::Claude);
    scene.host(HI).agent(INIT);
    assert!(!scene.after(8));
    scene.agent(ASK);
    assert!(!scene.after(12));
    scene.host(r#"{"type":"control_response","response":{"subtype":"success","request_id":"q1","response":{"behavior":"allow"}}}"#);
    assert!(!scene.after(20));
    scene.agent(&ASK.replace("q1", "q2"));
    assert!(!scene.after(25));
    scene.agent(INIT);
    assert!(!scene.after(38) && scene.after(39));
    // By time, and by size; each turn anew.
    scene.host(HI).agent(INIT);
    let now = scene.now;
    assert!(!scene.session.heard_bytes(60, 100, now) && !scene.session.heard_bytes(40, 100, now));
    scene.agent(DONE);
    assert!(!scene.session.heard_bytes(60, 100, now), "no turn runs");
    scene.said();
    scene.host(HI).agent(INIT);
    assert!(!scene.session.heard_bytes(60, 100, now) && scene.session.heard_bytes(41, 100, now));
    let said = scene.said();
    assert!(
        results(&said) == 1 && said.contains("more than the 100 bytes") && said.contains("--max-turn"),
        "{said}"
    );
}

#[test]
fn a_heartbeat_says_what_time_it_is() {
    let mut scene = Scene::new(Dialect::Qwen);
    scene.now += Duration::from_secs(7);
    scene.host(r#"{"type":"heartbeat_request","session_id":"s"}"#);
    let said = scene.said();
    assert!(said.contains("\"ts\":1800000007"), "{said}");
}

#[test]
fn signs_of_life_come_unasked_at_the_pace_that_the_host_wants() {
    let mut scene = Scene::new(Dialect::Qwen);
    assert_eq!(scene.session.deadline(), None, "none, unless somebody wants them");
    scene.host(r#"{"type":"heartbeat_request","session_id":"s","interval_ms":2000}"#);
    scene.said();
    for n in 1..4 {
        assert_eq!(scene.session.deadline(), Some(scene.now + Duration::from_secs(2)));
        scene.after(2 * n);
        let said = scene.said();
        assert!(
            said.contains("\"result/heartbeat\"") && said.contains(&format!("\"ts\":180000000{}", 2 * n)),
            "{said}"
        );
        assert_eq!(said.lines().count(), 1, "{said}");
    }
    scene.host(r#"{"type":"heartbeat_request","session_id":"s","interval_ms":0}"#);
    assert_eq!((scene.said().lines().count(), scene.session.deadline()), (1, None));

    // Claude's dialect has none.
    let mut scene = Scene::new(Dialect::Claude);
    scene.host(r#"{"type":"heartbeat_request","session_id":"s","interval_ms":2000}"#);
    assert_eq!(scene.session.deadline(), None);
}

#[test]
fn a_message_that_is_none_fails_a_turn_behind_the_one_that_runs() {
    let mut scene = Scene::new(Dialect::QwenCode);
    scene.host(HI).agent(INIT).host(r#"{"type":"user","message":null}"#);
    assert_eq!(results(&scene.said()), 0);
    scene.agent(DONE);
    let said = scene.said();
    assert_eq!(results(&said), 2, "{said}");
    assert!(
        said.find("\"result\":\"ok\"").unwrap() < said.find("Cannot read properties").unwrap(),
        "{said}"
    );
    assert!(!scene.session.over());
}

#[test]
fn a_dead_agent_between_two_turns_is_the_end_of_the_program() {
    let mut scene = Scene::new(Dialect::Claude);
    scene.host(HI).agent(INIT).agent(DONE);
    let now = scene.now;
    scene.session.backend_over(Some("it fell over".to_owned()), now);
    assert!(scene.session.over());
    assert_eq!((scene.session.last_words(), scene.session.exit_code()), (Some("it fell over"), 1));
}

/// One of ours that breaks.
#[derive(Debug)]
struct Breaks {
    /// What it says before.
    says: Vec<&'static str>,
    /// It breaks again when it is stopped.
    twice: bool,
}

#[async_trait(?Send)]
impl Backend for Breaks {
    fn dialect(&self) -> Dialect {
        Dialect::Claude
    }

    fn input(&mut self, _: &Input<'_>) -> bool {
        true
    }

    fn close(&mut self) {}

    async fn read(&mut self, into: &mut Vec<u8>) -> Said {
        assert!(!self.says.is_empty(), "the sky fell");
        into.extend_from_slice(self.says.remove(0).as_bytes());
        Said::Bytes
    }

    async fn stop(&mut self, _: &Hurry) {
        assert!(!self.twice, "and the ground too");
    }
}

#[test]
fn a_panic_ends_with_the_dialect_s_last_words() {
    const INIT: &str = "{\"type\":\"system\",\"subtype\":\"init\",\"session_id\":\"s\",\"cwd\":\"/\",\"tools\":[],\"model\":\"m\"}\n";
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    for (dialect, outcome) in [
        (Dialect::Claude, "\"type\":\"result\""),
        (Dialect::QwenCode, "\"type\":\"result\""),
        (Dialect::Qwen, "\"summary\":\"true\""),
        // They say it on standard error, and by the exit code.
        (Dialect::Cursor, ""),
        (Dialect::Tricode, ""),
    ] {
        for (says, twice) in [(vec![], false), (vec![INIT], true), (vec![INIT, "{\"type\":\"assis"], false)] {
            let mut scene = Scene::new(dialect);
            let mut backend = Breaks { says, twice };
            let mut ears = run::Ears {
                host: Listener::to_host(dialect, 1 << 20),
                backend: Listener::to_agent(Dialect::Claude, 1 << 20),
                max_line: 1 << 20,
                max_turn: 1 << 30,
                backlog: 1 << 20,
                record: None,
                page: None,
            };
            let (mut reader, writer) = std::io::pipe().unwrap();
            let code = runtime.block_on(async {
                use std::os::fd::AsFd;
                let stdout = crate::live::Output::new(writer.as_fd()).unwrap();
                let never = async || std::future::pending::<i32>().await;
                run::run(&mut scene.session, &mut ears, &mut backend, Some("go"), None, stdout, never).await
            });
            drop(writer);
            let mut said = String::new();
            std::io::Read::read_to_string(&mut reader, &mut said).unwrap();
            assert_ne!(code, 0, "{dialect:?}: {said}");
            if !outcome.is_empty() {
                let last: serde_json::Value = serde_json::from_str(said.lines().last().unwrap()).unwrap();
                assert!(last.to_string().contains("the sky fell"), "{dialect:?}: {said}");
                assert_eq!(said.matches(outcome).count(), 1, "{dialect:?}: {said}");
                assert!(
                    said.lines().all(|line| serde_json::from_str::<serde_json::Value>(line).is_ok()),
                    "{dialect:?}: {said}"
                );
            }
        }
    }
    // It would be of no use to a program that aborts.
    assert!(!include_str!("../../Cargo.toml").contains("panic = \"abort\""));
}
