//! Ids of lines.

/// A new one.
pub(crate) fn line_id() -> String {
    uuid::Uuid::new_v4().to_string()
}
