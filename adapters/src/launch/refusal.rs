//! What the programs say to a launch that only turns out to be none when they look around: no prompt, no such session.

use super::ArgError;
use crate::codec::Dialect;

impl ArgError {
    /// Neither the command line nor stdin has a prompt.
    pub fn no_prompt(dialect: Dialect) -> Self {
        dialect
            .program()
            .map_or_else(|| Self::line("Error: no prompt", 1), |program| (program.no_prompt)())
    }

    /// There is no session of this id.
    pub fn no_session(dialect: Dialect, id: &str) -> Self {
        dialect.program().map_or_else(
            || Self::line(format!("No conversation found with session ID: {id}"), 1),
            |program| (program.no_session)(id),
        )
    }

    /// A new session cannot have this id, for another one has it.
    pub fn session_in_use(id: &str) -> Self {
        Self::line(format!("Error: Session ID {id} is already in use."), 1)
    }
}
