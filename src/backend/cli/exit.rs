//! What there is to say about a program that has ended, and what follows.

use std::ffi::OsString;
use std::fmt::Display;
use std::path::Path;
use std::time::Duration;

use super::{Cli, version};
use crate::adapters::raw::codec::Dialect;
use crate::adapters::raw::launch::{self, Resume};
use crate::backend::Said;
use crate::child::{Ending, Step, Steps};

/// How long a program that has just failed may take to say its version.
const VERSION: Duration = Duration::from_secs(5);

impl Cli {
    /// The program has ended: what there is to say about it.
    pub(super) async fn epilogue(&mut self) -> Said {
        // It stays ours until all is known: this may be dropped while it waits.
        let Some(child) = &self.child else { return Said::Over(None) };
        // One that has only closed its output is not waited for.
        child.begin_stop(Steps::default());
        let ending = child.ended().await;
        let words = last_words(&ending);
        let name = self.script.as_ref().unwrap_or(&self.program).display();
        let mut why = how(&name, &ending, &words);
        if is_of_another_version(&words) {
            why.push_str("; ");
            why.push_str(&self.wrong_version().await);
        } else if let Some(advice) = advice(self.dialect, &words) {
            why.push_str("; ");
            why.push_str(advice);
        }
        self.child = None;
        if let (Resume::Session(id), true) = (&self.launch.resume, unknown_session(&words)) {
            if let Some(unheard) = self.unheard.take() {
                return self.begin_session(id.clone(), &unheard);
            }
            let why = launch::ArgError::no_session(self.host, id).text.trim_end().to_owned();
            return Said::Over(Some(why));
        }
        if !self.one_turn() {
            return Said::Over(Some(why));
        }
        match (std::mem::take(&mut self.cancelled), self.answered) {
            (_, true) => Said::Bytes,
            (true, false) => Said::Cancelled,
            (false, false) if self.traits().end_is_outcome => Said::Ended(why),
            (false, false) => match self.typed.denied() {
                Some(tool) if ending.exit.is_some_and(|exit| exit.code() == 0) => {
                    Said::Denied(format!("{tool} was not allowed, and {name} ends its run there"))
                }
                _ => Said::Failed(why),
            },
        }
    }

    /// Starts the program anew with a session that it does not know yet, and says everything again.
    fn begin_session(&mut self, id: String, unheard: &[u8]) -> Said {
        (self.launch.resume, self.launch.session_id) = (Resume::New, Some(id));
        if let Err(why) = self.start(None) {
            return Said::Over(Some(why));
        }
        if let Some(child) = &self.child {
            let _ = child.write(unheard);
        }
        Said::Bytes
    }

    /// What to do about a program that does not understand us. Only then is it asked for its version: no start waits for that.
    async fn wrong_version(&self) -> String {
        let args = self.script.iter().map(OsString::from).chain([OsString::from("--version")]).collect();
        let env = self.env.clone();
        let says = match version(&self.program, args, env, VERSION).await {
            Ok(version) => format!("it is {version}"),
            Err(_) => "it does not say its version".to_owned(),
        };
        let known = self.dialect.conduct().version();
        format!(
            "{says} and does not know what agentglot tells it, which works with {known}: update the program, or name another one with cli:NAME=PATH"
        )
    }
}

/// Why nothing more comes of a program that has ended, and what to do about it.
pub(in crate::backend) fn died(dialect: Dialect, program: &Path, ending: &Ending) -> String {
    let words = last_words(ending);
    let mut why = how(&program.display(), ending, &words);
    if let Some(advice) = advice(dialect, &words).filter(|advice| !advice.is_empty()) {
        why.push_str("; ");
        why.push_str(advice);
    }
    why
}

/// What it wrote last to standard error.
fn last_words(ending: &Ending) -> String {
    String::from_utf8_lossy(&ending.stderr_tail).trim().to_owned()
}

fn how(name: &impl Display, ending: &Ending, words: &str) -> String {
    let how = match ending.exit {
        Some(_) if matches!(ending.step, Step::Terminated | Step::Killed) => "has closed its output, and did not end".to_owned(),
        Some(exit) => exit.to_string(),
        None => "does not end".to_owned(),
    };
    if words.is_empty() {
        format!("{name} {how}")
    } else {
        format!("{name} {how}: {words}")
    }
}

/// Whether a program says that it does not know the session that it is to go on with.
fn unknown_session(words: &str) -> bool {
    const WORDS: [&str; 6] = [
        "No saved session found",
        "No conversation found",
        "no rollout found for thread id",
        "Session not found",
        "Invalid session identifier",
        "No previous sessions found",
    ];
    WORDS.iter().any(|known| words.contains(known))
}

/// Whether a program says that it does not know an argument.
fn is_of_another_version(words: &str) -> bool {
    let words = words.to_ascii_lowercase();
    let known = ["unknown option", "unknown argument", "unexpected argument", "unrecognized option"];
    known.iter().any(|known| words.contains(known))
}

/// What to do about what a program said last, if that is something that its user can mend.
fn advice(dialect: Dialect, words: &str) -> Option<&'static str> {
    let words = words.to_ascii_lowercase();
    let has = |known: &[&str]| known.iter().any(|known| words.contains(known));
    let no_key = [
        "api key",
        "api_key",
        "apikey",
        "/login",
        "not logged in",
        "log in",
        "authentication",
        "no auth type",
    ];
    dialect.program().filter(|_| has(&no_key)).map(|program| program.log_in)
}
