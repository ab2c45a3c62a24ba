//! `notebook_edit`.

use std::path::Path;

use serde_json::json;

use super::{say, unchanged};
use crate::persona::shared::native::{cell_change, plain};
use crate::tools::files::edit_notebook;
use crate::tools::notebook::Mode;
use crate::tools::seen::Seen;
use crate::tools::{Cx, Given, Spec};
use agentglot_adapters::raw::event::{DetailShape, ToolKind};
use agentglot_adapters::raw::tools::args::NotebookEdit;

pub(super) fn spec() -> Spec {
    Spec {
        name: "notebook_edit".into(),
        description: "Replaces, inserts or deletes a cell of a Jupyter notebook of the workspace, which has to have been read before: read_file \
                      shows the ids of its cells."
            .into(),
        schema: json!({
            "type": "object",
            "properties": {
                "notebook_path": {"type": "string", "description": "The absolute path of the notebook, which ends in .ipynb"},
                "cell_id": {"type": "string", "description": "The cell, by its id or as cell-N, counted from 0. A new one goes behind it, or to the beginning if it is left out"},
                "new_source": {"type": "string", "description": "The text of the cell, unless it is deleted"},
                "cell_type": {"type": "string", "enum": ["code", "markdown"], "description": "What a new cell is, or another becomes"},
                "edit_mode": {"type": "string", "enum": ["replace", "insert", "delete"], "description": "replace if it is left out"},
            },
            "required": ["notebook_path"],
        }),
        kind: ToolKind::NotebookEdit,
        ..Spec::default()
    }
}

pub(super) async fn run(asked: &NotebookEdit<'_>, seen: &Seen, cx: &Cx<'_>) -> Given {
    let change = cell_change(asked);
    let (mode, source) = (change.mode, change.source.clone());
    let word = match mode {
        Mode::Replace => "replace",
        Mode::Insert => "insert",
        Mode::Delete => "delete",
    };
    let path = plain(asked.path);
    let refused = |why: &str| say::failed(why, &format!("Error: {why}"));
    if Path::new(&path).extension().is_none_or(|end| end != "ipynb") {
        return refused("File must be a Jupyter notebook (.ipynb). Use the edit tool for other file types.");
    }
    if mode != Mode::Insert && change.cell.is_none() {
        return refused("cell_id is required for replace and delete operations.");
    }
    if mode != Mode::Delete && asked.source.is_none() {
        return refused(&format!("new_source is required when edit_mode is \"{word}\"."));
    }
    let (place, before, done) = match edit_notebook(&path, change, seen, cx).await {
        Ok(Ok(done)) => done,
        Ok(Err(why)) => return refused(&why),
        Err(why) => return unchanged(&why, asked.path, "editing", cx),
    };
    let named = place.named().display().to_string();
    let mut text = format!("Notebook {named} has been updated. {word} cell {}.", done.cell);
    if mode != Mode::Delete {
        text += &format!("\n\nUpdated source:\n\n---\n\n{source}");
    }
    let diff = say::file_diff(&named, Some(&before), &done.text, ("Current", "Proposed"));
    Given::text(text).with(DetailShape::Qwen, diff)
}
