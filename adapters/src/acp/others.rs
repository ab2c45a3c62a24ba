//! Whose a message is, on a connection that serves several sessions at the same time.

use super::decode::{AGENT_SAYS, Decoder};
use crate::chat::Members;
use crate::codec::Cx;
use crate::detect::word;
use crate::elsewhere::Addressed;
use crate::event::Others;

impl Decoder {
    /// The session that a line is of, if that is another than the one of which a turn is going on.
    pub(super) fn others<'a>(&mut self, members: &Members<'a>, cx: &Cx<'a>) -> Option<Others> {
        let line = Addressed::of(members, cx);
        let named = line.about.and_then(|about| about.get("sessionId")).map_or("", word);
        // As a rule it names the session of the turn.
        if named == self.session && !named.is_empty() {
            return None;
        }
        let (id, method) = (line.id(), line.method());
        if named.is_empty() {
            // An answer.
            let id = id.filter(|_| method.is_empty())?;
            let to_agent = match line.dir {
                "" => line.result().is_some_and(|result| result.get("outcome").is_some()),
                dir => dir == "c2a",
            };
            let asked = if to_agent { &self.agent_asked } else { &self.host_asked };
            let session = self.elsewhere.take(to_agent, id);
            let asked = || Some(asked.session_of(id).filter(|session| *session != self.session)?.to_owned());
            return session.or_else(asked).map(|session| Others { session, parent: None });
        }
        if let Some(id) = id.filter(|_| !method.is_empty()) {
            self.elsewhere.asks(AGENT_SAYS.iter().any(|word| method.starts_with(word)), id, named);
        }
        Some(Others::of(named))
    }
}
