//! What a session needs to know when it begins, and what it counts.

use std::time::{Duration, Instant};

use super::Rules;
use crate::adapters::raw::codec::Format;
use crate::adapters::raw::conduct::Facts;

/// What a session needs to know of its host when it begins.
#[derive(Clone, Debug)]
pub struct Host {
    /// What the host reads.
    pub format: Format,
    /// Behind it is the built-in agent, which answers it in its own words.
    pub agent: bool,
    /// Cursor's text with a line for each action.
    pub old_text: bool,
    /// The reader has not asked for thoughts, in a program that shows them only then.
    pub hides_thoughts: bool,
    /// A person watches: what is said to it are the canonical events, which a page shows ([`crate::show::LivePage`]).
    pub watched: bool,
    /// Deltas beside snapshots.
    pub partial: bool,
    /// `json` with all messages.
    pub verbose: bool,
    /// It talks over standard input, for as many turns as it likes.
    pub interactive: bool,
    /// It said that it answers permission questions.
    pub answers_permissions: bool,
    /// A person answers them, by typing: its standard input is lines of answers.
    pub types_answers: bool,
    /// Everything may run without a question.
    pub allows_all: bool,
    /// What its command line says about tools, where the agent behind us is not told.
    pub rules: Rules,
    /// It wants its prompts back.
    pub echoes: bool,
    /// The JSON schema that it wants its answers to have.
    pub schema: Option<String>,
    /// The most rounds of a turn, where the back end does not count them itself.
    pub max_rounds: Option<u64>,
    /// How often it gets a sign of life that it did not ask for, where its dialect has one. It may ask for another pace.
    pub heartbeat: Option<Duration>,
    /// It wants the program's own log in the stream.
    pub log: bool,
    /// What is known of the session.
    pub facts: Facts,
    /// What time it is.
    pub clock: Clock,
}

/// A moment on both clocks: the one that never jumps, by which a session waits, and that of the calendar.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    /// The moment.
    pub moment: Instant,
    /// The same in milliseconds since 1970.
    pub millis: u64,
}

impl Clock {
    /// Seconds since 1970 at another moment.
    pub fn at(self, moment: Instant) -> u64 {
        self.millis_at(moment) / 1000
    }

    /// Milliseconds since 1970 at another moment.
    pub fn millis_at(self, moment: Instant) -> u64 {
        let since = moment.saturating_duration_since(self.moment).as_millis();
        self.millis.saturating_add(u64::try_from(since).unwrap_or(u64::MAX))
    }
}

/// What happens to a permission question when the host cannot be asked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum OnAsk {
    /// It is denied.
    #[default]
    Deny,
    /// Tools of these names are allowed, others denied.
    Allow(Vec<String>),
    /// A command decides: it reads the question as JSON, and its exit code 0 is permission.
    Command(String),
    /// A person is asked in plain text, where the program that we are does that; else it is denied.
    Host,
}

/// How long a session waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timers {
    /// For the first sign of a back end after a prompt.
    pub start: Duration,
    /// For the next sign of a back end while a turn runs and nobody is asked.
    pub silence: Duration,
    /// For the end of a turn, while nobody is asked.
    pub turn: Duration,
    /// For the host's answer to a question.
    pub permission: Duration,
    /// For the back end's answer to a request of the host's.
    pub control: Duration,
    /// For the end of a back end by itself, once the host will say nothing more and the last turn is over.
    pub shutdown: Duration,
}

impl Default for Timers {
    fn default() -> Self {
        Self {
            start: Duration::from_secs(120),
            silence: Duration::from_secs(1800),
            turn: Duration::from_secs(86_400),
            permission: Duration::from_secs(600),
            control: Duration::from_secs(60),
            shutdown: Duration::from_millis(1500),
        }
    }
}

/// What did not go as it should, counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Oddities {
    /// Answers of the host to questions that nobody asked, or that were answered already.
    pub stray_answers: u64,
    /// Answers of the host to permission questions that say neither yes nor no; the question is then denied.
    pub bad_answers: u64,
    /// Answers of the back end to requests that the host did not make.
    pub stray_replies: u64,
    /// Outcomes when no turn ran.
    pub extra_outcomes: u64,
    /// What the agent went on with behind the outcome of a run that has only one.
    pub afterthoughts: u64,
    /// Lines of the back end that could not be read.
    pub damaged: u64,
}
