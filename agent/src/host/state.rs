//! Whether the session works, waits for its host or rests, for hosts that want to know: they keep their side of the control channel open
//! until it rests.

use std::cell::Cell;

use serde_json::json;

use super::Host;

/// What it does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum State {
    /// Nothing, until the host says something.
    #[default]
    Idle,
    /// It works.
    Running,
    /// It waits for an answer of the host's.
    RequiresAction,
}

/// What the host was told of it.
#[derive(Debug)]
pub(crate) struct SessionState {
    /// `None` if the host does not want to know; else whether the host's program alone is to see it.
    tells: Option<bool>,
    last: Cell<State>,
    /// Questions that wait for the host.
    asked: Cell<usize>,
}

impl SessionState {
    /// For the host of a launch. `tells`: whether it wants to know, and whether its program alone is to see it.
    pub(crate) fn new(tells: Option<bool>) -> Self {
        Self {
            tells,
            last: Cell::default(),
            asked: Cell::new(0),
        }
    }
}

/// It does this from now on.
pub(crate) fn now(host: &Host, state: State) {
    let Some(hidden) = host.state.tells else { return };
    if host.state.last.replace(state) == state {
        return;
    }
    let word = match state {
        State::Idle => "idle",
        State::Running => "running",
        State::RequiresAction => "requires_action",
    };
    let mut members = json!({"state": word});
    if hidden {
        members["sdk_host_only"] = true.into();
    }
    host.events.system("session_state_changed", &members);
}

/// Waits for an answer of the host's.
pub(crate) async fn waiting<T>(host: &Host, answer: impl Future<Output = T>) -> T {
    let asked = &host.state.asked;
    asked.set(asked.get() + 1);
    now(host, State::RequiresAction);
    let waits = Waits(host);
    let answer = answer.await;
    drop(waits);
    answer
}

struct Waits<'a>(&'a Host);

impl Drop for Waits<'_> {
    fn drop(&mut self) {
        let asked = &self.0.state.asked;
        asked.set(asked.get() - 1);
        if asked.get() == 0 {
            now(self.0, State::Running);
        }
    }
}
