//! The time, as lines and transcripts write it.

/// The time in ISO 8601.
pub(crate) fn now_iso() -> String {
    chrono::Utc::now().to_rfc3339_opts(chrono::SecondsFormat::Millis, true)
}
