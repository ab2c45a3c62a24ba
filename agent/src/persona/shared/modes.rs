//! Permission modes by their words.

use agentglot_adapters::raw::codec::Dialect;
use agentglot_adapters::raw::launch::PermissionMode;

/// What a dialect calls a mode; a mode without a word there is called as in the canonical model.
pub(crate) fn name(dialect: Dialect, mode: PermissionMode) -> &'static str {
    mode.name(dialect).or(mode.name(Dialect::Agentglot)).unwrap_or("default")
}

/// The mode of a dialect's word.
pub(in crate::persona) fn named(dialect: Dialect, name: &str) -> Result<PermissionMode, String> {
    PermissionMode::from_name(dialect, name).ok_or_else(|| {
        let mut names: Vec<&str> = PermissionMode::ALL.iter().filter_map(|mode| mode.name(dialect)).collect();
        names.sort_unstable();
        format!("Cannot set permission mode: must be one of {}", names.join(", "))
    })
}
