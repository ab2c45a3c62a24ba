//! A prompt's blocks as a model is told them.

use super::words::Wrong;
use crate::json::{Raw, Shape};
use crate::server::inside::Part;

/// What the editor's blocks say. A link is a name and an address; what a file holds stands below its address.
pub(super) fn blocks(prompt: Raw<'_>) -> Result<Vec<Part>, Wrong> {
    if prompt.shape() != Some(Shape::Array) {
        return Err(Wrong::params("prompt: a list is wanted"));
    }
    let mut parts = Vec::new();
    for block in prompt.elements() {
        let text = |of: Raw<'_>, name: &str| {
            let text = of.get(name).and_then(Raw::string).map(|text| text.as_escaped().to_owned());
            text.ok_or_else(|| Wrong::params(&format!("prompt: a block has no {name}")))
        };
        let kind = text(block, "type")?;
        parts.push(match &*kind {
            "text" => Part::Text(text(block, "text")?),
            "resource_link" => Part::Text(format!("[@{}]({})", text(block, "name")?, text(block, "uri")?)),
            "resource" => {
                let held = block.get("resource").unwrap_or(Raw::NULL);
                let uri = text(held, "uri")?;
                match text(held, "text") {
                    Ok(said) => Part::Text(format!("<context ref=\\\"{uri}\\\">\\n{said}\\n</context>")),
                    Err(_) => Part::Text(format!("[@{uri}]({uri})")),
                }
            }
            "image" => Part::Image(format!(
                "{{\"type\":\"image\",\"source\":{{\"type\":\"base64\",\"media_type\":\"{}\",\"data\":\"{}\"}}}}",
                text(block, "mimeType")?,
                text(block, "data")?
            )),
            other => return Err(Wrong::params(&format!("prompt: a block of type {other:?} is not taken"))),
        });
    }
    if parts.is_empty() {
        return Err(Wrong::params("prompt: it is empty"));
    }
    Ok(parts)
}
