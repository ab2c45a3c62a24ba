//! Whose a message is, on a connection that serves several sessions at the same time.

use super::decode::{AGENT_SAYS, Decoder};
use crate::chat::Members;
use crate::codec::Cx;
use crate::detect::word;
use crate::elsewhere::Addressed;

impl Decoder {
    /// Whether a line is of another session than the one of which a turn is going on.
    pub(super) fn is_of_another<'a>(&mut self, members: &Members<'a>, cx: &Cx<'a>) -> bool {
        let line = Addressed::of(members, cx);
        let named = line.about.and_then(|about| about.get("sessionId")).map_or("", word);
        // As a rule it names the session of the turn.
        if named == self.session && !named.is_empty() {
            return false;
        }
        let (id, method) = (line.id(), line.method());
        if named.is_empty() {
            // An answer.
            let Some(id) = id.filter(|_| method.is_empty()) else { return false };
            let to_agent = match line.dir {
                "" => line.result().is_some_and(|result| result.get("outcome").is_some()),
                dir => dir == "c2a",
            };
            let asked = if to_agent { &self.agent_asked } else { &self.host_asked };
            return self.elsewhere.take(to_agent, id) || asked.session_of(id).is_some_and(|session| session != self.session);
        }
        if let Some(id) = id.filter(|_| !method.is_empty()) {
            self.elsewhere.asks(AGENT_SAYS.iter().any(|word| method.starts_with(word)), id);
        }
        true
    }
}
