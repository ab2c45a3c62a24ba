//! Messages: answers, errors, notifications. Those of this protocol have no member `jsonrpc`.

use crate::conduct::quoted;
use crate::json::{Raw, Str};
use crate::server::Actions;

/// Why a request is refused, in the program's words where it has some.
#[derive(Debug)]
pub(super) struct Wrong {
    code: i32,
    message: String,
}

impl Wrong {
    /// The program has one number for all that is wrong with a request.
    pub(super) fn request(message: impl Into<String>) -> Self {
        Self {
            code: -32600,
            message: message.into(),
        }
    }

    pub(super) fn params(why: &str) -> Self {
        Self::request(format!("Invalid request: {why}"))
    }

    pub(super) fn internal(message: impl Into<String>) -> Self {
        Self {
            code: -32603,
            message: message.into(),
        }
    }

    pub(super) fn no_thread(id: &str) -> Self {
        Self::request(format!("thread not found: {id}"))
    }
}

/// Answers a request. `id` is spelled as the host has spelled it.
pub(super) fn answer(id: &str, result: &str, actions: &mut Actions) {
    say(&format!("{{\"id\":{id},\"result\":{result}}}"), actions);
}

/// Refuses one.
pub(super) fn refuse(id: &str, wrong: &Wrong, actions: &mut Actions) {
    let why = quoted(&wrong.message);
    say(
        &format!("{{\"error\":{{\"code\":{},\"message\":{why}}},\"id\":{id}}}", wrong.code),
        actions,
    );
}

/// Tells something that is no part of a turn.
pub(super) fn notify(method: &str, params: &str, now: i64, actions: &mut Actions) {
    say(&format!("{{\"method\":\"{method}\",\"params\":{params},\"emittedAtMs\":{now}}}"), actions);
}

/// Asks the host something.
pub(super) fn ask(number: u64, method: &str, params: &str, actions: &mut Actions) {
    say(&format!("{{\"method\":\"{method}\",\"id\":{number},\"params\":{params}}}"), actions);
}

fn say(message: &str, actions: &mut Actions) {
    actions.out.extend_from_slice(message.as_bytes());
    actions.out.push(b'\n');
}

/// A text among the parameters, which need not be there.
pub(super) fn text(params: Raw<'_>, name: &str) -> Result<Option<String>, Wrong> {
    match params.get(name).filter(|value| !value.is_null()) {
        None => Ok(None),
        Some(value) => match value.string().map(Str::unescape) {
            Some(text) => Ok(Some(text.into_owned())),
            None => Err(Wrong::params(&format!("{name}: a string is expected"))),
        },
    }
}

/// One that has to be there.
pub(super) fn need(params: Raw<'_>, name: &str) -> Result<String, Wrong> {
    text(params, name)?.ok_or_else(|| Wrong::params(&format!("missing field `{name}`")))
}

/// A text, or null.
pub(super) fn quoted_or_null(text: Option<&str>) -> String {
    text.map_or_else(|| "null".to_owned(), quoted)
}
