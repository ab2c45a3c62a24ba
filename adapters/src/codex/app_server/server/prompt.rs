//! What a host says to a model.

use super::words::{Wrong, need};
use crate::conduct::quoted;
use crate::json::{Raw, Shape, Str};
use crate::server::inside::Part;

/// The parts of `input`. A file or a skill that is mentioned is told by its name and its place.
pub(super) fn parts(input: Raw<'_>) -> Result<Vec<Part>, Wrong> {
    if input.shape() != Some(Shape::Array) {
        return Err(Wrong::params("input: a list is expected"));
    }
    let mut parts = Vec::new();
    for item in input.elements() {
        let escaped = |name: &str| {
            let mut body = String::new();
            need(item, name).map(|text| {
                Str::escape(&text, &mut body);
                body
            })
        };
        parts.push(match &*need(item, "type")? {
            "text" => Part::Text(escaped("text")?),
            "image" => Part::Image(image(&need(item, "url")?)?),
            "localImage" => Part::Text(format!("[@{path}]({path})", path = escaped("path")?)),
            "skill" | "mention" => Part::Text(format!("[@{}]({})", escaped("name")?, escaped("path")?)),
            other => return Err(Wrong::params(&format!("input: an item of type {other:?} is not taken"))),
        });
    }
    if parts.is_empty() {
        return Err(Wrong::params("input: it is empty"));
    }
    Ok(parts)
}

/// An image as the model is told it.
fn image(url: &str) -> Result<String, Wrong> {
    let data = url.strip_prefix("data:").and_then(|rest| rest.split_once(";base64,"));
    let (kind, data) = data.ok_or_else(|| Wrong::request("remote image URLs are not supported; use an inline data URL instead"))?;
    Ok(format!(
        "{{\"type\":\"image\",\"source\":{{\"type\":\"base64\",\"media_type\":{},\"data\":{}}}}}",
        quoted(kind),
        quoted(data)
    ))
}
