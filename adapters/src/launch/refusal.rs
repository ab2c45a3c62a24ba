//! What the programs say to a launch that only turns out to be none when they look around: no prompt, no such session. The exit
//! code is that of [`ArgError::exit_code`]; Tricode's is 0 and its text goes to stdout.

use super::{ArgError, is_uuid};
use crate::codec::Dialect;

impl ArgError {
    /// Neither the command line nor stdin has a prompt.
    pub fn no_prompt(dialect: Dialect) -> Self {
        match dialect {
            Dialect::Qwen | Dialect::QwenCode => Self::line(
                "No input provided via stdin. Input can be provided by piping data into gemini or using the --prompt option.",
                1,
            ),
            Dialect::Cursor => Self::line("Error: No prompt provided for print mode", 1),
            Dialect::Tricode => super::argparse_error(&crate::tricode::args::PROGRAM, "the following arguments are required: prompt"),
            Dialect::Claude | Dialect::Agentglot | Dialect::Openai | Dialect::Anthropic => Self::line(
                "Error: Input must be provided either through stdin or as a prompt argument when using --print",
                1,
            ),
        }
    }

    /// There is no session of this id.
    pub fn no_session(dialect: Dialect, id: &str) -> Self {
        match dialect {
            Dialect::Qwen | Dialect::QwenCode => Self::line(
                format!("No saved session found with ID {id}. Run `qwen --resume` without an ID to choose from existing sessions."),
                1,
            ),
            Dialect::Cursor => Self::line(format!("Error: Session {id} not found"), 1),
            Dialect::Tricode => Self::line(format!("Error: Session {id} not found"), 0),
            Dialect::Claude if !is_uuid(id) => Self::line(
                format!(
                    "Error: --resume requires a valid session ID or session title when used with --print. Usage: claude -p --resume \
                     <session-id|title>. Provided value \"{id}\" is not a UUID and does not match any session title."
                ),
                1,
            ),
            Dialect::Claude | Dialect::Agentglot | Dialect::Openai | Dialect::Anthropic => {
                Self::line(format!("No conversation found with session ID: {id}"), 1)
            }
        }
    }

    /// A new session cannot have this id, for another one has it: Claude's words and Cursor's.
    pub fn session_in_use(id: &str) -> Self {
        Self::line(format!("Error: Session ID {id} is already in use."), 1)
    }
}
