//! Members that only this dialect knows.

/// They ride in the events' fields; sorted by name.
pub(crate) const KNOWN: &[(&str, &str)] = &[("mood", "end: how the agent feels about it")];

/// Whether the page names a member.
pub(crate) fn knows(name: &str) -> bool {
    KNOWN.binary_search_by(|(known, _)| (*known).cmp(name)).is_ok()
}
