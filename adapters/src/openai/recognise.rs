//! Signs of the stream of an OpenAI-compatible model API. Its payloads look like the RFC's lines: `data:` before them tells.

use crate::codec::Dialect::Openai;
use crate::detect::{Evidence, Opened, PROOF};

/// What the line says for it.
pub(crate) fn recognise(line: &Opened<'_>) -> Option<Evidence> {
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
