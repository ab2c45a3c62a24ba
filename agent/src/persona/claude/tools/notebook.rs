//! `NotebookEdit`.

use serde_json::json;

use super::{MODIFIED, UNREAD, say};
use crate::persona::shared::native::plain;
use crate::tools::notebook::{CellChange, Mode, changed};
use crate::tools::seen::Seen;
use crate::tools::text::decode;
use crate::tools::work::blocking;
use crate::tools::write::{LARGEST_CHANGED, Put, write};
use crate::tools::{Cx, Given, Spec};
use crate::workspace::Fault;
use agentglot_adapters::raw::event::{DetailShape, ToolKind};
use agentglot_adapters::raw::json::Str;
use agentglot_adapters::raw::tools::args::NotebookEdit;

pub(super) fn spec() -> Spec {
    Spec {
        name: "NotebookEdit".into(),
        description: "Replaces, inserts or deletes a cell of a Jupyter notebook of the workspace, which has to have been read before.".into(),
        schema: json!({
            "type": "object",
            "properties": {
                "notebook_path": {"type": "string", "description": "The absolute path of the notebook"},
                "cell_id": {"type": "string", "description": "The cell. A new one goes behind it, or to the beginning if it is left out"},
                "new_source": {"type": "string", "description": "The text of the cell"},
                "cell_type": {"type": "string", "enum": ["code", "markdown"], "description": "Needed for a new cell"},
                "edit_mode": {"type": "string", "enum": ["replace", "insert", "delete"], "description": "replace if it is left out"},
            },
            "required": ["notebook_path", "new_source"],
            "additionalProperties": false,
        }),
        kind: ToolKind::NotebookEdit,
        reads_only: false,
    }
}

pub(super) async fn run(asked: &NotebookEdit<'_>, files: &Seen, cx: &Cx<'_>) -> Given {
    let mode = match asked.mode.map(Str::as_escaped) {
        Some("insert") => Mode::Insert,
        Some("delete") => Mode::Delete,
        _ => Mode::Replace,
    };
    let change = CellChange {
        cell: asked.cell.map(plain),
        source: asked.source.map(plain).unwrap_or_default(),
        kind: asked.cell_type.map(plain),
        mode,
    };
    if mode == Mode::Insert && change.kind.is_none() {
        return say::refused("Cell type is required when using edit_mode=insert.");
    }
    let wall = &cx.world.wall;
    let place = match wall.locate(plain(asked.path)) {
        Ok(place) => place,
        Err(fault) => return say::fault(&fault, wall),
    };
    if place.named().extension().is_none_or(|end| end != "ipynb") {
        return say::refused("File must be a Jupyter notebook (.ipynb file). For editing other file types, use the Edit tool.");
    }
    let seen = files.get(place.path());
    let at = place.clone();
    let done = blocking(cx, move |_, _| {
        let (bytes, _) = at.read(LARGEST_CHANGED)?;
        let Some(seen) = seen else { return Ok(Err(UNREAD.to_owned())) };
        let Some(old) = decode(&bytes).filter(|text| !text.lossy) else {
            return Ok(Err("Notebook is not valid JSON.".to_owned()));
        };
        Ok(match changed(&old.text, &change) {
            Ok(done) => Ok((write(&at, &done.text, Put::Instead, Some(&seen))?, old.text, done)),
            Err(why) => Err(why),
        })
    });
    let (written, before, change) = match done.await {
        Ok(Ok(done)) => done,
        Ok(Err(why)) => return say::refused(&why),
        Err(Fault::Changed(_)) => return say::refused(MODIFIED),
        Err(Fault::Missing(_)) => return say::refused("Notebook file does not exist."),
        Err(fault) => return say::fault(&fault, wall),
    };
    files.put(place.path(), written.stamp);
    let new_source = asked.source.map(plain).unwrap_or_default();
    let (text, word) = match mode {
        Mode::Replace => (format!("Updated cell {} with {new_source}", change.cell), "replace"),
        Mode::Insert => (format!("Inserted cell {} with {new_source}", change.cell), "insert"),
        Mode::Delete => (format!("Deleted cell {}", change.cell), "delete"),
    };
    let mut detail = json!({"new_source": new_source});
    if let Some(old) = change.old_source {
        detail["old_source"] = old.into();
    }
    detail["cell_id"] = change.cell.into();
    detail["cell_type"] = change.kind.into();
    detail["language"] = change.language.into();
    detail["edit_mode"] = word.into();
    detail["notebook_path"] = place.named().display().to_string().into();
    detail["original_file"] = before.into();
    detail["updated_file"] = change.text.into();
    Given::text(text).with(DetailShape::Claude, detail)
}
