//! The conversation in the shape that the APIs take.

use std::borrow::Cow;
use std::collections::HashSet;
use std::rc::Rc;

use serde_json::{Value, json};

use crate::model::message::{CallResult, Message, Part, Role};

/// One message, ready to be written: the parts of messages of one role that stood one behind the other.
#[derive(Debug)]
pub(super) struct Turn<'a> {
    pub(super) role: Role,
    pub(super) parts: Vec<Cow<'a, Part>>,
}

/// Roles alternate and the user begins; all calls of a message are answered in the one behind it, once each and before anything else; text
/// says something. What has no answer gets one that says so, and an answer to nothing becomes text. `first`: nothing stands before them.
pub(super) fn turns(messages: &[Rc<Message>], first: bool) -> Vec<Turn<'_>> {
    let mut turns: Vec<Turn<'_>> = Vec::new();
    for message in messages {
        let says = message.parts.iter().filter(|part| says_something(part)).map(Cow::Borrowed);
        // A prompt of blanks is one all the same: the model is asked something.
        let is_blank = message.role == Role::User && !message.parts.is_empty() && !message.parts.iter().any(says_something);
        let parts = says.chain(is_blank.then(|| Cow::Owned(Part::Text("(the prompt is empty)".to_owned()))));
        match turns.last_mut().filter(|last| last.role == message.role) {
            Some(last) => last.parts.extend(parts),
            None => turns.push(Turn {
                role: message.role,
                parts: parts.collect(),
            }),
        }
    }
    turns.retain(|turn| !turn.parts.is_empty());
    let mut at = 0;
    while at < turns.len() {
        let asked: Vec<String> = match turns[at].role {
            Role::User => Vec::new(),
            Role::Assistant => turns[at].parts.iter().filter_map(|part| call_id(part)).collect(),
        };
        if turns[at].role == Role::Assistant && !asked.is_empty() && turns.get(at + 1).is_none_or(|next| next.role == Role::Assistant) {
            turns.insert(
                at + 1,
                Turn {
                    role: Role::User,
                    parts: Vec::new(),
                },
            );
        }
        if turns[at].role == Role::User {
            // What stands at the beginning answers nothing.
            if at == 0 && first {
                answer(&mut turns[0], &[]);
            }
        } else if let Some(next) = turns.get_mut(at + 1) {
            answer(next, &asked);
        }
        at += 1;
    }
    if first && turns.first().is_some_and(|turn| turn.role == Role::Assistant) {
        turns.insert(
            0,
            Turn {
                role: Role::User,
                parts: vec![Cow::Owned(Part::Text("(the conversation goes on from here)".to_owned()))],
            },
        );
    }
    turns
}

/// Brings the results to the front, in the order of the calls.
fn answer(turn: &mut Turn<'_>, asked: &[String]) {
    let (results, rest): (Vec<_>, Vec<_>) = std::mem::take(&mut turn.parts)
        .into_iter()
        .partition(|part| matches!(**part, Part::Result(_)));
    let mut results: Vec<Option<Cow<'_, Part>>> = results.into_iter().map(Some).collect();
    let mut seen = HashSet::new();
    for id in asked.iter().filter(|id| seen.insert(id.as_str())) {
        let found = results
            .iter_mut()
            .find(|slot| matches!(slot.as_deref(), Some(Part::Result(result)) if result.call == *id));
        turn.parts.push(match found.and_then(Option::take) {
            Some(result) => result,
            None => Cow::Owned(Part::Result(CallResult {
                call: id.clone(),
                content: vec![Part::Text("The call was interrupted: there is no result.".to_owned())],
                is_error: true,
            })),
        });
    }
    for part in results.into_iter().flatten() {
        if let Part::Result(result) = &*part
            && !asked.contains(&result.call)
        {
            let text = format!(
                "Result of an earlier call that is no longer part of the conversation:\n{}",
                text_of(&result.content)
            );
            turn.parts.push(Cow::Owned(Part::Text(text)));
        }
    }
    turn.parts.extend(rest);
}

fn call_id(part: &Part) -> Option<String> {
    match part {
        Part::Call(call) => Some(call.id.clone()),
        _ => None,
    }
}

/// Blank text is refused by the APIs.
pub(super) fn says_something(part: &Part) -> bool {
    !matches!(part, Part::Text(text) if text.trim().is_empty())
}

/// The text of a result.
pub(super) fn text_of(content: &[Part]) -> String {
    let texts = content.iter().filter_map(|part| match part {
        Part::Text(text) => Some(text.as_str()),
        _ => None,
    });
    texts.collect::<Vec<_>>().join("\n")
}

/// A call's arguments as an object. What is none goes back as a text that shows what was wrong.
pub(super) fn arguments(input: &str) -> Value {
    if input.trim().is_empty() {
        return json!({});
    }
    match serde_json::from_str::<Value>(input) {
        Ok(value @ Value::Object(_)) => value,
        _ => json!({ "invalid_json": input }),
    }
}

/// The place of the first message behind the user's last words, if he says something: from there on the model is in the middle of its work.
pub(super) fn words(turns: &[Turn<'_>]) -> Option<usize> {
    let words = |turn: &Turn<'_>| turn.role == Role::User && !turn.parts.iter().any(|part| matches!(**part, Part::Result(_)));
    turns.iter().rposition(words).map(|at| at + 1)
}
