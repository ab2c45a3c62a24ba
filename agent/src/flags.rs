//! Flags of a command line that have no place in [`Launch`]. A persona says of each that the agent heeds it (`tests/vendors.rs` looks).

use agentglot_adapters::raw::launch::Launch;

/// A flag without a place in [`Launch`], as it was given last: its name and its value.
pub fn given<'l>(launch: &'l Launch, flag: &'static str) -> Option<&'l (String, Option<String>)> {
    every(launch, flag).next_back()
}

/// The same, each time that it was given.
pub(crate) fn every<'l>(launch: &'l Launch, flag: &'static str) -> impl DoubleEndedIterator<Item = &'l (String, Option<String>)> {
    launch.rest.iter().filter(move |(known, _)| known == flag)
}
