//! Who answers: a recorded log, another agent's program.
//!
//! A back end speaks its own dialect: it gives lines as its program would write them, and is told what the host says as
//! canonical [`Input`]s. Everything between the two (dialects, ids, deadlines, the one outcome a turn) is the session's
//! ([`crate::session`]).

pub mod agent;
pub mod choice;
pub mod cli;
pub mod control_support;
pub mod demo;
pub mod hooks;
pub mod host_servers;
pub mod older_versions;
pub mod replay;
pub mod requests;
mod settings;

use std::fmt;
use std::time::Duration;

use async_trait::async_trait;
use tokio::sync::watch;

use crate::adapters::raw::codec::{Dialect, Format};
use crate::adapters::raw::conduct::Facts;
use crate::adapters::raw::event::{Event, Fields, Input};
use crate::adapters::raw::json::{Raw, Str};
use crate::agent::hooks::Callback;
use crate::agent::persona;
use crate::child::{Child, Steps};
pub use agentglot_agent::model;

/// What a back end has to say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Said {
    /// Bytes were appended: lines of its dialect, or a part of one.
    Bytes,
    /// It asks for permission in plain text, which is no line. The answer comes as the response to this question.
    Asks(Box<TypedQuestion>),
    /// It has a message for a server that lives in the host, which none of its lines says. The answer comes as the response to this question.
    AsksServer(Box<host_servers::ServerMessage>),
    /// The turn that runs ends here because a call was not allowed, for this reason.
    Denied(String),
    /// The turn that runs cannot be answered, for this reason. The session ends it; the back end lives.
    Failed(String),
    /// Nothing more comes in the turn that runs, and that may be how it ends: what its lines meant is told now. If they have no outcome, it
    /// failed, for this reason.
    Ended(String),
    /// The prompt that waited longest is answered, without an outcome: it was a command.
    Answered,
    /// The turn that runs was stopped because the host asked for it.
    Cancelled,
    /// From here on it says lines of this mode of its dialect.
    Speaks(Format),
    /// Nothing more will come. With a reason, if it is not because everything was said: a turn that runs fails for it, and a session
    /// in which the host still has something to say as well.
    Over(Option<String>),
}

/// A question that a program asks in plain text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TypedQuestion {
    /// The question's id, the call's, and the tool, each as the body of a JSON string.
    pub id: String,
    /// See [`Self::id`].
    pub call: String,
    /// See [`Self::id`].
    pub tool: String,
    /// The arguments as JSON.
    pub input: String,
    /// What was printed.
    pub text: Vec<u8>,
}

/// The hooks that a host names when it begins.
pub fn callbacks(host: Dialect, fields: Fields<'_>) -> Vec<Callback> {
    let hooks = fields.iter().find(|field| field.key.is("hooks"));
    let hooks = hooks.and_then(|field| serde_json::from_str(field.value.as_str()).ok());
    hooks.map(|hooks| Callback::read(persona::of(host).hooks, &hooks)).unwrap_or_default()
}

/// The word that is the value of a member.
fn word(input: &Input<'_>, member: &str) -> Option<String> {
    let field = input.fields.iter().find(|field| field.key.is(member))?;
    field.value.string().map(|text| text.unescape().into_owned())
}

/// The same input with another word as the value of a member.
fn with_word<R>(input: &Input<'_>, member: &str, word: &str, then: impl FnOnce(&Input<'_>) -> R) -> R {
    let mut quoted = String::from("\"");
    Str::escape(word, &mut quoted);
    quoted.push('"');
    let mut fields = input.fields.to_vec();
    for field in fields.iter_mut().filter(|field| field.key.is(member)) {
        field.value = Raw::trusted(&quoted);
    }
    then(&Input { fields: &fields, ..*input })
}

/// Whether what is being stopped has no time to end by itself. That may be said at any moment, and is not taken back.
#[derive(Clone, Debug)]
pub struct Hurry(watch::Receiver<bool>);

impl Hurry {
    /// With who says it.
    #[must_use]
    pub fn new(now: bool) -> (watch::Sender<bool>, Self) {
        let (say, hurry) = watch::channel(now);
        (say, Self(hurry))
    }

    /// All the time that there is for it.
    #[must_use]
    pub fn none() -> Self {
        Self::new(false).1
    }

    /// Waits until it is said.
    async fn comes(&self) {
        if self.0.clone().wait_for(|now| *now).await.is_err() {
            std::future::pending().await
        }
    }
}

/// Ends the process of a back end. Where there is no time for it to end by itself, it is told to at once: it would be what our own signal says.
pub(crate) async fn end(child: Option<Child>, hurry: &Hurry) {
    let Some(child) = child else { return };
    tokio::select! {
        biased;
        () = hurry.comes() => {}
        _ = child.stop(Steps::default()) => return,
    }
    let steps = Steps {
        close: Duration::ZERO,
        ..Steps::default()
    };
    child.stop(steps).await;
}

/// Somebody who answers.
#[async_trait(?Send)]
pub trait Backend: fmt::Debug {
    /// Whose words it says.
    fn dialect(&self) -> Dialect;

    /// The mode of it in which they are read.
    fn format(&self) -> Format {
        self.dialect().into()
    }

    /// The host said something. Never waits. Returns whether the back end deals with it: that it will answer a request, act on
    /// a response. What it does not deal with, the session answers for it.
    fn input(&mut self, input: &Input<'_>) -> bool;

    /// It asked something that cannot be handed on, for this reason: it is told so, if it waits for an answer. `line` is that on which it asked, or
    /// an object of what nobody understood of it.
    fn refuse(&mut self, line: Raw<'_>, why: &str) {
        let _ = (line, why);
    }

    /// Whether a denial answers whatever it asks, its hooks too: an error would be taken for a hook that failed, which forbids nothing.
    fn takes_denials(&self) -> bool {
        false
    }

    /// Whether a tool that was allowed with other arguments runs with these.
    fn takes_changes(&self) -> bool {
        true
    }

    /// Whether it calls the hooks that its host names. If not, the session calls those of the moments that it sees.
    fn calls_hooks(&self) -> bool {
        true
    }

    /// How many bytes of what the host said have not been taken yet: above a limit the host is not read.
    fn queued(&self) -> usize {
        0
    }

    /// Adds what it knows of itself to what the host's handshake is answered by.
    fn tell(&self, facts: &mut Facts) {
        let _ = facts;
    }

    /// The servers inside the host to which it has a way of which its own lines do not tell.
    fn inside(&self) -> &[host_servers::Known] {
        &[]
    }

    /// Whether it has something to say that nobody has asked for, such as a turn of its own: then it is heard to its end although the host
    /// says nothing more.
    fn at_work(&self) -> bool {
        false
    }

    /// Whether a prompt that comes in the middle of a turn may become part of that turn, and has no outcome of its own then.
    fn folds_prompts(&self) -> bool {
        false
    }

    /// The host will say nothing more.
    fn close(&mut self);

    /// It was understood to have said this.
    fn heard(&mut self, event: &Event<'_>) {
        let _ = event;
    }

    /// Waits for the next thing to say and appends its bytes. May be dropped at any await and called again; nothing is lost.
    async fn read(&mut self, into: &mut Vec<u8>) -> Said;

    /// The host will say nothing more, and every turn is over: it may end by itself. What it still says is read.
    fn dismiss(&mut self) {}

    /// Ends it and leaves nothing behind. Bounded in time.
    async fn stop(&mut self, hurry: &Hurry);
}
