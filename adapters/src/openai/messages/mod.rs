//! `openai:messages`: a session a line, as a list of chat messages with tool calls (docs/openai.md).
//!
//! It is what fine-tuning takes and what training and evaluation read. The body of a request for a chat completion has the same list, and is
//! read as the session up to there.

mod decode;
mod encode;

#[cfg(test)]
mod tests;

pub(crate) use decode::Decoder;

/// Writes a session when it is over.
pub(crate) type Encoder = crate::talk::Encoder<encode::Messages>;

use crate::codec::{Layout, Mode};
use crate::detect::{Opened, word};
use crate::json::{Raw, Str};

/// The `name` of messages in the user's role that the agent's own program wrote.
const PROGRAM: &str = "program";

/// Its mode.
pub(super) const MODE: Mode = Mode::new("messages", Layout::Rows);

/// The roles that a message may have.
const ROLES: [&str; 6] = ["system", "developer", "user", "assistant", "tool", "function"];

/// What is asked and what is answered, where these are apart: each a text or a list of messages, as trl takes them.
const PAIR: [&str; 2] = ["prompt", "completion"];

/// Whether it can be one of the two.
fn is_half(half: Raw<'_>) -> bool {
    half.string().is_some() || half.elements().next().is_some_and(has_role)
}

fn has_role(message: Raw<'_>) -> bool {
    message.get("role").is_some_and(|role| ROLES.contains(&word(role)))
}

/// Members of the whole that those have who train.
const OF_TRAINING: [&str; 4] = ["messages", "tools", "functions", "parallel_tool_calls"];

/// Members of the whole by which a request is told from a session of a data set, which may have columns of any other name.
const OF_REQUESTS: [&str; 4] = ["model", "stream", "max_tokens", "max_completion_tokens"];

/// Whether a line is such a session and nothing else (true), or one among other members: of a data set, or a request. A request has calls
/// or what came of them, for hosts of an agent send requests too, and its agent calls tools itself. The requests of another API have such a
/// list as well: there the system speaks beside it, and calls are blocks.
pub(super) fn is_one(line: &Opened<'_>) -> Option<bool> {
    let Some(messages) = line.get("messages") else {
        let is_pair = PAIR.iter().all(|name| line.get(name).is_some_and(is_half));
        return is_pair.then_some(false);
    };
    messages.elements().next().filter(|first| has_role(*first))?;
    let is_of = |known: &[&str], name: Str<'_>| known.iter().any(|known| name.is(known));
    if line.members().all(|name| is_of(&OF_TRAINING, name)) {
        return Some(true);
    }
    let is_request = || line.members().any(|name| is_of(&OF_REQUESTS, name));
    let has_calls = |message: Raw<'_>| message.get("tool_calls").is_some() || message.get("tool_call_id").is_some();
    (line.kind.is_empty() && !is_request() || messages.elements().any(has_calls)).then_some(false)
}
