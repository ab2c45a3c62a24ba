//! A session as one list of what was said, as training data has it: the system's words, the user's, the model's with its calls, and
//! what came of those.
//!
//! [`Teller`] is what decoders of such lists tell with, [`Held`] what encoders write them from in their [`Words`]. A list says of no turn how it ended, and
//! few name the session.

mod encode;
mod hold;
mod tell;

pub(crate) use encode::{Encoder, Words};
pub(crate) use hold::{Answer, Call, Held, Part, Places, Said, Who};
pub(crate) use tell::Teller;

/// The notice that holds what the system says to the model.
const SYSTEM: [&str; 2] = ["system", "developer"];
