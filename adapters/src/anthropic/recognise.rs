//! Signs of the stream of Anthropic's model API.

use crate::codec::Dialect::Anthropic;
use crate::detect::{Evidence, Opened, PROOF};

/// The events of a stream.
const EVENTS: &[&str] = &[
    "message_start",
    "content_block_start",
    "content_block_delta",
    "content_block_stop",
    "message_delta",
    "message_stop",
    "ping",
    "error",
];

/// What the line says for it.
pub(crate) fn recognise(line: &Opened<'_>) -> Option<Evidence> {
    let payload = Opened::new(line.text.strip_prefix("data:")?.trim());
    EVENTS
        .contains(&payload.kind)
        .then(|| Evidence::new(Anthropic, PROOF, "a server-sent event of Anthropic's"))
}
