//! A session from its first prompt to its end, and what its host asks of it beside the prompts.

pub(crate) mod control;
pub(crate) mod life;
pub(crate) mod requests;
pub(crate) mod side_question;
