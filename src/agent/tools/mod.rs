//! What tools do, whatever a dialect calls them: typed arguments in, typed results or errors out.
