//! What tools do, whatever a dialect calls them: typed arguments in, typed results or errors out.

pub mod confine;
pub mod environment;
pub mod shell;
