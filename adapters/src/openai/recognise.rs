//! Signs of the stream of an OpenAI-compatible model API, whose payloads look like the RFC's lines: `data:` before them tells. And of
//! sessions as lists of messages.

use super::messages;
use crate::codec::Dialect::Openai;
use crate::detect::{Evidence, Opened, PROOF, STRONG};

/// What the line says for it.
pub(crate) fn recognise(line: &Opened<'_>) -> Option<Evidence> {
    if let Some(is_pure) = messages::is_one(line) {
        let (weight, why) = match is_pure {
            true => (PROOF, "messages with roles"),
            false => (STRONG + 20, "messages with roles among other members, or a prompt and its completion"),
        };
        return Some(Evidence::new(Openai, weight, why).mode(messages::MODE));
    }
    let data = line.text.strip_prefix("data:")?.trim();
    let payload = Opened::new(data);
    let why = match () {
        () if data == "[DONE]" => "data: [DONE]",
        () if payload.has("choices") => "a server-sent event with choices",
        () if payload.has("error") && !payload.has("type") => "a server-sent event with an error",
        () => return None,
    };
    Some(Evidence::new(Openai, PROOF, why))
}
