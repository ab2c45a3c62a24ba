//! `NotebookEdit`.

use std::path::Path;

use serde_json::json;

use super::{MODIFIED, UNREAD, say};
use crate::persona::shared::native::{cell_change, plain};
use crate::tools::files::{Unchanged, edit_notebook};
use crate::tools::notebook::Mode;
use crate::tools::seen::Seen;
use crate::tools::{Cx, Given, Spec};
use crate::workspace::Fault;
use agentglot_adapters::raw::event::{DetailShape, ToolKind};
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
        ..Spec::default()
    }
}

pub(super) async fn run(asked: &NotebookEdit<'_>, files: &Seen, cx: &Cx<'_>) -> Given {
    let change = cell_change(asked);
    let (mode, new_source) = (change.mode, change.source.clone());
    if mode == Mode::Insert && change.kind.is_none() {
        return say::refused("Cell type is required when using edit_mode=insert.");
    }
    let (path, wall) = (plain(asked.path), &cx.world.wall);
    if Path::new(&path).extension().is_none_or(|end| end != "ipynb") {
        return say::refused("File must be a Jupyter notebook (.ipynb file). For editing other file types, use the Edit tool.");
    }
    let (place, before, change) = match edit_notebook(&path, change, files, cx).await {
        Ok(Ok(done)) => done,
        Ok(Err(why)) => return say::refused(&why),
        Err(Unchanged::Fault(Fault::Missing(_))) => return say::refused("Notebook file does not exist."),
        Err(Unchanged::Nowhere(fault) | Unchanged::Fault(fault)) => return say::fault(&fault, wall),
        Err(Unchanged::Modified) => return say::refused(MODIFIED),
        Err(Unchanged::Unread | Unchanged::Exists | Unchanged::Unfit(_)) => return say::refused(UNREAD),
    };
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
