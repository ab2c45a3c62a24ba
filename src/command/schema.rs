//! `agentglot schema`.

use agentglot_adapters::raw::codec::Format;

use crate::status::{Failure, Status};

/// Writes the JSON Schema of a format's lines; without one, an object that has each by its name.
///
/// # Errors
/// When there is none, or stdout cannot be written.
pub fn run(format: Option<Format>, input: bool) -> Result<Status, Failure> {
    let schema = match format {
        Some(format) => {
            crate::schema::schema(format, input).ok_or_else(|| Failure::Usage(format!("{format}: hosts write no lines of JSON in it")))?
        }
        None => crate::schema::formats()
            .filter_map(|format| Some((format.to_string(), crate::schema::schema(format, input)?)))
            .collect::<serde_json::Map<_, _>>()
            .into(),
    };
    super::print(format!("{schema:#}\n").as_bytes())
}
