//! What ends a run before anybody answers: a signal, a mistake of our own. The host reads of it what it would read later.

use std::cell::Cell;
use std::panic::AssertUnwindSafe;

use async_trait::async_trait;

use super::{Failure, Run, host};
use crate::adapters::raw::codec::Dialect;
use crate::adapters::raw::event::Input;
use crate::adapters::raw::launch::Launch;
use crate::adapters::raw::live::Listener;
use crate::backend::choice::Choice;
use crate::backend::replay::Live;
use crate::backend::{Backend, Hurry, Said};
use crate::io::Console;
use crate::live;
use crate::session::run::{Ears, run as drive, words};
use crate::session::{OnAsk, Session};

/// The back end of a session that has none.
#[derive(Debug)]
pub(super) struct Nobody {
    /// Why there is none, unless it is a signal that ends the session anyway.
    pub(super) why: Option<String>,
}

#[async_trait(?Send)]
impl Backend for Nobody {
    fn dialect(&self) -> Dialect {
        Dialect::CANONICAL
    }

    fn input(&mut self, _: &Input<'_>) -> bool {
        true
    }

    fn close(&mut self) {}

    async fn read(&mut self, _: &mut Vec<u8>) -> Said {
        match self.why.take() {
            Some(why) => Said::Over(Some(why)),
            None => std::future::pending().await,
        }
    }

    async fn stop(&mut self, _: &Hurry) {}
}

/// Does it. A panic before `begun`, from when on the session tells of its own, is a session in which nothing happens but that it fails.
pub(super) fn unpanicked(
    run: &Run,
    launch: &Launch,
    stdout: impl FnOnce() -> Result<live::Output, Failure>,
    body: impl FnOnce(&Cell<bool>) -> Result<u8, Failure>,
) -> Result<u8, Failure> {
    let begun = Cell::new(false);
    let panicked = match std::panic::catch_unwind(AssertUnwindSafe(|| body(&begun))) {
        Ok(done) => return done,
        Err(panicked) => panicked,
    };
    let why = format!("agentglot itself failed, and this is a bug of it: {}", words(&*panicked));
    if begun.get() {
        Console::plain().say(&why);
        return Ok(1);
    }
    let facts = Live {
        session: uuid::Uuid::new_v4().to_string(),
        cwd: String::new(),
    };
    // Who would have answered makes no difference any more.
    let host = host(launch, &facts, run, &Choice::Demo, &OnAsk::Deny);
    let mut backend = Nobody { why: Some(why) };
    let mut ears = Ears {
        host: Listener::to_host(run.dialect, run.max_line.min(run.max_prompt)),
        backend: Listener::to_agent(backend.format(), run.max_line),
        max_line: run.max_line,
        max_turn: run.max_turn,
        backlog: run.max_queued,
        record: None,
        page: None,
    };
    let mut talk = Session::new(host, backend.format(), backend.dialect(), run.timers, OnAsk::Deny);
    let prompt = launch
        .prompt
        .clone()
        .filter(|prompt| !prompt.is_empty())
        .unwrap_or_else(|| " ".to_owned());
    let prompt = (!launch.has_stdin_protocol()).then_some(prompt);
    let never = async || std::future::pending().await;
    let code = crate::system::runtime()?.block_on(async {
        let stdout = stdout()?;
        Ok::<_, Failure>(drive(&mut talk, &mut ears, &mut backend, prompt.as_deref(), None, stdout, never).await)
    })?;
    if let Some(words) = talk.last_words() {
        Console::plain().lines(&format!("{words}\n"));
    }
    Ok(code.max(1))
}

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::os::fd::AsFd;
    use std::time::Duration;

    use crate::adapters::raw::launch::{self, Command};
    use crate::backend::replay::Pace;
    use crate::session::Timers;

    use super::*;

    fn run(dialect: Dialect) -> Run {
        Run {
            dialect,
            backend: None,
            args: Vec::new(),
            strict: false,
            heeds_host: false,
            pace: Pace::Full,
            timers: Timers::default(),
            heartbeat: None,
            prompt_timeout: Duration::from_secs(1),
            on_ask: None,
            colour: None,
            pass_env: Vec::new(),
            keep_daemons: false,
            confine_commands: false,
            search_engine: None,
            models: Default::default(),
            record: None,
            max_line: 1 << 20,
            max_turn: 1 << 30,
            max_prompt: 1 << 20,
            limits: Default::default(),
            max_pending: 16,
            max_queued: 1 << 20,
            max_sessions: 16,
            said: Vec::new(),
        }
    }

    #[test]
    fn a_panic_before_anybody_answers_is_told_too() {
        for (dialect, args, outcome) in [
            (
                Dialect::Claude,
                &["-p", "--verbose", "--output-format", "stream-json", "go"][..],
                "\"type\":\"result\"",
            ),
            (Dialect::QwenCode, &["--output-format", "stream-json", "-p", "go"], "\"type\":\"result\""),
            (Dialect::Qwen, &["--output-format", "stream-json", "-p", "go"], "\"summary\":\"true\""),
            (Dialect::Cursor, &["-p", "--output-format", "stream-json", "go"], ""),
            (Dialect::Tricode, &["--stdio", "go"], ""),
        ] {
            let args: Vec<String> = args.iter().map(ToString::to_string).collect();
            let Ok(Command::Launch(launch)) = launch::parse(dialect.program().unwrap(), &args, false) else {
                panic!("{dialect:?}: no launch");
            };
            let (mut reader, writer) = std::io::pipe().unwrap();
            let stdout = || Ok(live::Output::new(writer.as_fd()).unwrap());
            let broken = unpanicked(&run(dialect), &launch, stdout, |_| panic!("the sky fell"));
            assert_eq!(broken.unwrap(), 1, "{dialect:?}");
            drop(writer);
            let mut said = String::new();
            reader.read_to_string(&mut said).unwrap();
            // The others say it on standard error, and by the exit code.
            if !outcome.is_empty() {
                assert_eq!(said.matches(outcome).count(), 1, "{dialect:?}: {said}");
                assert!(
                    said.lines().last().is_some_and(|last| last.contains("the sky fell")),
                    "{dialect:?}: {said}"
                );
            }
        }
    }
}
