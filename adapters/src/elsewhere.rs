//! What was asked in lines that were set aside, of a connection that serves several sessions: answers name no session.

/// Ids of requests as they are spelled, each with whether the agent asks.
#[derive(Debug, Default)]
pub(crate) struct Elsewhere(Vec<(bool, String)>);

impl Elsewhere {
    /// More than anybody has open; the oldest are forgotten.
    const MOST: usize = 256;

    pub(crate) fn asks(&mut self, by_agent: bool, id: &str) {
        self.take(by_agent, id);
        if self.0.len() == Self::MOST {
            self.0.remove(0);
        }
        self.0.push((by_agent, id.to_owned()));
    }

    /// Whether this was asked there; it is answered, or read now.
    pub(crate) fn take(&mut self, by_agent: bool, id: &str) -> bool {
        let at = self.0.iter().position(|(agent, known)| *agent == by_agent && known == id);
        at.map(|at| self.0.remove(at)).is_some()
    }
}
