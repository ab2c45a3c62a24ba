//! Messages in JSON-RPC, without the line feed behind them. Ids are written as they are spelled.

use crate::conduct::quoted;
use crate::json::{Raw, Shape};

/// A request.
pub(super) fn request(id: &str, method: &str, params: &str) -> String {
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"{method}\",\"params\":{params}}}")
}

/// An answer to one.
pub(super) fn answer(id: &str, result: &str) -> String {
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{result}}}")
}

/// A refusal of one.
pub(super) fn error(id: &str, code: i32, message: &str) -> String {
    format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"error\":{{\"code\":{code},\"message\":{}}}}}",
        quoted(message)
    )
}

/// Whether a request can have this id.
pub(super) fn is_id(id: Raw<'_>) -> bool {
    matches!(id.shape(), Some(Shape::Number | Shape::String))
}
