//! Whether a Chat Request says what it may say: each member of its type, of a sensible size.

use serde_json::Value;

use crate::host::prompts::HostPrompt;
use crate::persona::commands::Fault;

/// So long may a prompt's id or a model's name be, in bytes.
const LONGEST: usize = 1024;

/// A request that is refused, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refused {
    pub(super) fault: Fault,
    pub(super) why: String,
}

/// Looks at what the decoder and the parts do not.
///
/// # Errors
/// A code of the RFC, and what is wrong and where.
pub(super) fn check(asked: &HostPrompt, chat: &Value) -> Result<(), Refused> {
    for (name, value) in &asked.fields {
        match name.as_str() {
            "origin" | "parts" | "session_id" | "prompt_id" | "model" | "tool_call_id" => {
                return Err(invalid(format!("{name} is of the wrong type or has a value that is not known")));
            }
            "continuation" if !(value.is_boolean() || value.is_null()) => return Err(invalid("continuation is neither true nor false")),
            "capabilities" if !(value.is_null() || words(value).is_some()) => {
                return Err(invalid("capabilities is neither a text nor a list of texts"));
            }
            _ => {}
        }
    }
    let get = |name: &str| chat.get(name).filter(|value| !value.is_null());
    for (name, value) in [("prompt_id", Some(asked.turn.as_str())), ("model", get("model").and_then(Value::as_str))] {
        if value.is_some_and(|value| value.len() > LONGEST) {
            return Err(invalid(format!("{name} has more than {LONGEST} bytes")));
        }
    }
    if let Some(command) = get("command") {
        let kind = command.get("kind");
        if !command.is_object() || !kind.is_none_or(|kind| kind == "slash" || kind == "at") {
            return Err(invalid("input.command is an object of kind slash or at"));
        }
    }
    if let Some(messages) = get("messages") {
        let fine = |message: &Value| message["role"].is_string();
        if !messages.as_array().is_some_and(|all| all.iter().all(fine)) {
            return Err(invalid("messages is a list of objects with a role"));
        }
    }
    options(get("options"))
}

fn options(options: Option<&Value>) -> Result<(), Refused> {
    let Some(options) = options else { return Ok(()) };
    let Some(options) = options.as_object() else {
        return Err(invalid("options is no object"));
    };
    for (name, value) in options.iter().filter(|(_, value)| !value.is_null()) {
        let fine = match name.as_str() {
            "temperature" | "top_p" | "topP" => value.as_f64().is_some_and(|number| number >= 0.0),
            "max_tokens" | "max_output_tokens" | "maxOutputTokens" => value.as_u64().is_some_and(|number| number > 0),
            "model" => value.as_str().is_some_and(|name| name.len() <= LONGEST),
            "tool_overrides" => value.as_array().is_some_and(|list| list.iter().all(Value::is_string)),
            _ => true,
        };
        if !fine {
            return Err(invalid(format!("options.{name} is of the wrong type or out of range")));
        }
    }
    Ok(())
}

/// Words of a text, or of a list of texts.
pub(super) fn words(value: &Value) -> Option<Vec<String>> {
    match value {
        Value::String(text) => Some(text.split_whitespace().map(str::to_owned).collect()),
        Value::Array(list) => list.iter().map(|word| word.as_str().map(str::to_owned)).collect(),
        _ => None,
    }
}

/// A request that makes no sense.
pub(super) fn invalid(why: impl std::fmt::Display) -> Refused {
    Refused {
        fault: Fault::Request,
        why: why.to_string(),
    }
}

/// Arguments of a tool, or the description of one, that make no sense.
pub(super) fn invalid_tool(why: impl std::fmt::Display) -> Refused {
    Refused {
        fault: Fault::ToolArguments,
        why: why.to_string(),
    }
}
