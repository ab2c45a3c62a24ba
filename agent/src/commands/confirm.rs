//! Questions that a command puts to the user, for hosts that answer them on the control channel. Others send the command again.

use std::rc::Rc;

use serde_json::{Value, json};

use super::request::ChatRequests;
use super::{Given, failed, message};
use crate::control_requests::NOBODY;
use crate::control_requests::{Question, Unanswered};
use crate::turn::context::Context;
use agentglot_adapters::raw::event::ControlKind;

/// What came of a question.
pub(super) enum Settled {
    /// The command goes on, with what the user said.
    Again,
    /// It is over, with this result.
    Over(Value),
}

/// Asks what a command's result asks, if the host has said that it answers such questions.
///
/// A host that cannot answer after all gets the result itself; one that says nothing in time has not agreed.
pub(super) async fn settle(context: &Rc<Context>, chats: &ChatRequests, given: &mut Given, result: Value) -> Settled {
    let kind = result["type"].as_str().unwrap_or_default().to_owned();
    if !chats.confirms(&kind) {
        return Settled::Over(result);
    }
    let asked = result.as_object().into_iter().flatten().filter(|(name, _)| *name != "type");
    let mut fields: Vec<(String, Value)> = asked.map(|(name, value)| (name.clone(), value.clone())).collect();
    fields.push(("command".to_owned(), given.shown()));
    let question = Question {
        kind: ControlKind::Confirm,
        subtype: kind.clone(),
        permission: None,
        fields,
    };
    let cancel = context.turns.cancel();
    let answer = tokio::select! {
        biased;
        () = cancel.cancelled() => return Settled::Over(cancelled()),
        answer = context.host.requests.ask(question) => answer,
    };
    let answer = match answer {
        Ok(answer) => answer,
        Err(Unanswered::Failed(_)) => return Settled::Over(result),
        Err(Unanswered::Gone) => return Settled::Over(not_confirmed(given, "the host is gone")),
    };
    let word = |names: &[&str]| names.iter().find_map(|name| answer.get(name)?.as_str()).map(str::to_owned);
    let outcome = word(&["outcome", "confirmationOutcome", "confirmation_outcome"]);
    let agreed = word(&["behavior"]).is_some_and(|word| word == "allow" || word == "approve") && outcome.as_deref() != Some("cancel");
    if !agreed {
        // What the session says for a host that did not answer is no answer of the user's.
        let why = word(&["message"]).filter(|why| why == NOBODY || why.starts_with("the host "));
        return Settled::Over(why.map_or_else(cancelled, |why| not_confirmed(given, &why)));
    }
    if kind == "quit_confirmation" {
        return Settled::Over(json!({"type": "quit"}));
    }
    let listed = |value: &Value| -> Vec<String> {
        let list = value.as_array().into_iter().flatten();
        list.filter_map(Value::as_str).map(str::to_owned).collect()
    };
    let chosen = ["approvedCommands", "approved_commands"].iter().find_map(|name| answer.get(name));
    given.approved.extend(listed(chosen.unwrap_or(&result["commands"])));
    given.outcome = Some(outcome.unwrap_or_else(|| "once".to_owned()));
    Settled::Again
}

fn cancelled() -> Value {
    message("info", "Operation cancelled.")
}

fn not_confirmed(given: &Given, why: &str) -> Value {
    failed(format!("/{} was not confirmed: {why}", given.path.join(" ")))
}
