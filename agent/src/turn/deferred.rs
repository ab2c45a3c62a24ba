//! Calls that a hook puts off.
//!
//! The turn ends before such a call, with `stop_reason` `tool_deferred` and the call in `deferred_tool_use`. A later run that resumes the
//! session begins by itself with a turn that looks at the call again, from its hooks on. Whoever asks for something else in the meantime
//! goes on without it.
//!
//! Where nobody is left to ask those hooks, the call stays put off.
//!
//! Other calls of the reply run, and have their results when somebody comes back. Of several that are put off the last one waits; the
//! others have failed.

use std::collections::HashSet;

use crate::conversation::Conversation;
use crate::model::message::{Call, CallResult, Part, Role};

/// What the model reads of a call that nobody came back to.
const GIVEN_UP: &str = "The call was put off before it ran, and the user went on without it.";

/// The conversation goes on without the calls of the last reply that were put off, but for the one that `waits`: they have failed.
pub(crate) fn give_up(conversation: &mut Conversation, waits: Option<&str>) {
    let Some(at) = conversation.messages.iter().rposition(|message| message.role == Role::Assistant) else {
        return;
    };
    let parts = conversation.messages[at + 1..].iter().flat_map(|message| &message.parts);
    let answered: HashSet<&str> = parts
        .filter_map(|part| if let Part::Result(result) = part { Some(&*result.call) } else { None })
        .collect();
    let results: Vec<Part> = conversation.messages[at]
        .calls()
        .filter(|call| !answered.contains(&*call.id) && waits != Some(&*call.id))
        .map(|call| {
            let result = CallResult {
                call: call.id.clone(),
                content: vec![Part::Text(GIVEN_UP.to_owned())],
                is_error: true,
            };
            crate::conversation::transcript::given_up(conversation, &result);
            Part::Result(result)
        })
        .collect();
    if !results.is_empty() {
        conversation.add_user(results);
    }
}

/// As a result tells it: `{id, name, input}`.
pub(crate) fn told(call: &Call, input: &serde_json::Value) -> serde_json::Value {
    serde_json::json!({"id": call.id, "name": call.name, "input": input})
}
