//! `agentglot schema`.

use agentglot_adapters::raw::codec::Dialect;

use crate::status::{Failure, Status};

/// Writes the JSON Schema of a dialect's lines; without a dialect, an object that has each dialect's by its name.
///
/// # Errors
/// When there is none, or stdout cannot be written.
pub fn run(dialect: Option<Dialect>, input: bool) -> Result<Status, Failure> {
    let schema = match dialect {
        Some(dialect) => crate::schema::schema(dialect, input)
            .ok_or_else(|| Failure::Usage(format!("{}: its hosts do not speak in lines of JSON", dialect.name())))?,
        None => Dialect::readable()
            .filter_map(|dialect| Some((dialect.name().to_owned(), crate::schema::schema(dialect, input)?)))
            .collect::<serde_json::Map<_, _>>()
            .into(),
    };
    super::print(format!("{schema:#}\n").as_bytes())
}
