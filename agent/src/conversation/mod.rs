//! What the model is told and has said, as it is kept and as it is made shorter.

pub(crate) mod compact;
pub(crate) mod transcript;
