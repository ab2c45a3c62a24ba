//! What the host says, to a program that hears nothing.
//!
//! Tricode takes its prompt from the command line and reads standard input only to ask a person for permission (docs/tricode.md),
//! so nothing that a host writes has a place in its log. The ledger is told why.

use crate::event::{Input, InputKind, Prompt};
use crate::json::Out;

/// Something that a host wrote.
pub(super) fn input(input: &Input<'_>, out: &Out) {
    let why = match input.kind {
        InputKind::Prompt(_) | InputKind::Chat(_) => PROMPT,
        InputKind::Noise(_) | InputKind::Unknown(_) => return,
        _ => "no place in tricode: it reads no messages from its host",
    };
    out.left_out(why);
}

/// The prompt, said again in the agent's log.
pub(super) fn prompt(_: &Prompt<'_>, out: &Out) {
    out.left_out(PROMPT);
}

const PROMPT: &str = "no place in tricode: it takes its prompt from the command line and does not print it";
