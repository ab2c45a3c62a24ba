//! Calls and results from every agent's words to every other's.

mod calls;
mod calls_known;
mod calls_props;
mod outputs;
mod recorded;
mod results;
mod results_props;
