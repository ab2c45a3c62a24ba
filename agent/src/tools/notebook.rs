//! Jupyter notebooks as text.

use serde_json::{Value, json};

use super::read::Window;
use crate::model::measure::{MOST_VALUES, Values};

/// A notebook is read as a whole.
pub const WINDOW: Window = Window {
    first: 1,
    lines: None,
    bytes: 16 << 20,
    hash: false,
};

/// The largest notebook, in JSON values.
fn is_too_large(text: &str) -> bool {
    Values::of(text) > MOST_VALUES
}

/// The most characters of an output.
const OUTPUT: usize = 10_000;

/// A cell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cell {
    /// `code`, `markdown`, `raw`.
    pub kind: String,
    /// Its id, or `cell-N` with its number from 0 where it has none.
    pub id: String,
    /// Its text.
    pub source: String,
    /// The language of its code.
    pub language: Option<String>,
    /// How many cells were run before it and it.
    pub count: Option<u64>,
    /// What it printed, each output cut at 10,000 characters.
    pub outputs: Vec<String>,
    /// Pictures that it drew.
    pub pictures: Vec<Picture>,
}

/// A picture in an output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    /// `image/png` …
    pub media_type: String,
    /// The bytes in base64.
    pub data: String,
}

impl Cell {
    /// As Claude's `tool_use_result` shows it.
    pub fn json(&self) -> Value {
        let mut cell = json!({"cellType": self.kind, "source": self.source, "cell_id": self.id});
        if let Some(count) = self.count {
            cell["execution_count"] = count.into();
        }
        if let Some(language) = &self.language {
            cell["language"] = language.as_str().into();
        }
        if !self.outputs.is_empty() {
            cell["outputs"] = self.outputs.iter().map(|text| json!({"output_type": "stream", "text": text})).collect();
        }
        cell
    }
}

/// The cells of a notebook; `None` if it is none.
pub fn cells(text: &str) -> Option<Vec<Cell>> {
    if is_too_large(text) {
        return None;
    }
    let book: Value = serde_json::from_str(text).ok()?;
    let language = book["metadata"]["language_info"]["name"].as_str().unwrap_or("python");
    let cells = book["cells"].as_array()?;
    Some(cells.iter().enumerate().map(|(n, cell)| self::cell(n, cell, language)).collect())
}

fn cell(n: usize, cell: &Value, language: &str) -> Cell {
    let kind = cell["cell_type"].as_str().unwrap_or("code").to_owned();
    let outputs = cell["outputs"].as_array().map(Vec::as_slice).unwrap_or_default();
    let pictures = outputs.iter().filter_map(|output| output["data"].as_object()).flat_map(|data| {
        let pictures = data.iter().filter(|(key, _)| matches!(key.as_str(), "image/png" | "image/jpeg"));
        pictures.map(|(key, data)| Picture {
            media_type: key.clone(),
            data: joined(data).split_whitespace().collect(),
        })
    });
    Cell {
        id: cell["id"].as_str().map_or_else(|| format!("cell-{n}"), str::to_owned),
        source: joined(&cell["source"]),
        language: (kind == "code").then(|| language.to_owned()),
        count: cell["execution_count"].as_u64(),
        outputs: outputs.iter().map(printed).filter(|text| !text.is_empty()).collect(),
        pictures: pictures.collect(),
        kind,
    }
}

/// What an output says.
fn printed(output: &Value) -> String {
    let text = match output["output_type"].as_str() {
        Some("error") => joined(&output["traceback"]),
        Some("stream") => joined(&output["text"]),
        _ => joined(&output["data"]["text/plain"]),
    };
    super::text::beginning(&text, OUTPUT).to_owned()
}

/// A text, or the lines of one.
fn joined(text: &Value) -> String {
    match text {
        Value::String(text) => text.clone(),
        Value::Array(lines) => lines.iter().filter_map(Value::as_str).collect(),
        _ => String::new(),
    }
}

/// A notebook as the model reads it.
pub fn text(cells: &[Cell]) -> String {
    let mut text = String::new();
    for cell in cells {
        if !text.is_empty() {
            text.push('\n');
        }
        let kind = if cell.kind == "code" {
            String::new()
        } else {
            format!("<cell_type>{}</cell_type>", cell.kind)
        };
        text.push_str(&format!("<cell id=\"{}\">{kind}{}</cell id=\"{}\">", cell.id, cell.source, cell.id));
        for output in &cell.outputs {
            text.push('\n');
            text.push_str(output);
        }
    }
    text
}

/// What is said of a file that is no notebook.
pub const UNSOUND: &str = "Notebook is not valid JSON.";

/// A change of one cell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CellChange {
    /// Its id, or `cell-N`. None: the first one, and a new cell goes before it.
    pub cell: Option<String>,
    /// Its new text.
    pub source: String,
    /// `code` or `markdown`, if it is to become that.
    pub kind: Option<String>,
    /// What is done.
    pub mode: Mode,
}

/// What is done with a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// It gets another text.
    Replace,
    /// A new one comes behind it.
    Insert,
    /// It goes.
    Delete,
}

/// A notebook with a cell changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Changed {
    /// The file.
    pub text: String,
    /// The cell's id.
    pub cell: String,
    /// What kind it is now.
    pub kind: String,
    /// Its text before; none of a new one.
    pub old_source: Option<String>,
    /// The language of the notebook.
    pub language: String,
}

/// Changes a cell of a notebook. What a cell printed goes with its old text.
///
/// # Errors
/// Why that cannot be done, for the model.
pub fn changed(text: &str, change: &CellChange) -> Result<Changed, String> {
    if is_too_large(text) {
        return Err(format!("The notebook holds more than {MOST_VALUES} JSON values."));
    }
    let mut book: Value = serde_json::from_str(text).map_err(|_| UNSOUND.to_owned())?;
    let language = book["metadata"]["language_info"]["name"].as_str().unwrap_or("python").to_owned();
    // Cells have ids since version 4.5 of the format.
    let version = (book["nbformat"].as_u64().unwrap_or(4), book["nbformat_minor"].as_u64().unwrap_or(0));
    let cells = book["cells"].as_array_mut().ok_or(UNSOUND)?;
    let at = match &change.cell {
        None => None,
        Some(id) => {
            let named = cells.iter().position(|cell| cell["id"] == *id.as_str());
            let counted = || id.strip_prefix("cell-")?.parse().ok().filter(|n| *n < cells.len());
            let at = named.or_else(counted);
            Some(at.ok_or_else(|| format!("Cell with ID \"{id}\" not found in notebook."))?)
        }
    };
    let name = |cell: &Value, n: usize| cell["id"].as_str().map_or_else(|| format!("cell-{n}"), str::to_owned);
    let (cell, kind, old_source) = match change.mode {
        Mode::Insert => {
            let n = at.map_or(0, |at| at + 1);
            let kind = change.kind.clone().unwrap_or_else(|| "code".to_owned());
            let mut cell = json!({"cell_type": kind});
            if version >= (4, 5) {
                cell["id"] = format!("{:08x}", rand::random::<u32>()).into();
            }
            cell["metadata"] = json!({});
            cell["source"] = change.source.as_str().into();
            if kind == "code" {
                cell["execution_count"] = Value::Null;
                cell["outputs"] = json!([]);
            }
            let id = name(&cell, n);
            cells.insert(n, cell);
            (id, kind, None)
        }
        mode => {
            let n = at.unwrap_or(0);
            let cell = cells.get_mut(n).ok_or("The notebook has no cells.")?;
            let (id, old) = (name(cell, n), joined(&cell["source"]));
            if let Some(kind) = &change.kind {
                cell["cell_type"] = kind.as_str().into();
            }
            let kind = cell["cell_type"].as_str().unwrap_or("code").to_owned();
            if mode == Mode::Delete {
                cells.remove(n);
            } else {
                cell["source"] = change.source.as_str().into();
                if kind == "code" {
                    cell["execution_count"] = Value::Null;
                    cell["outputs"] = json!([]);
                } else if let Some(cell) = cell.as_object_mut() {
                    cell.remove("execution_count");
                    cell.remove("outputs");
                }
            }
            (id, kind, Some(old))
        }
    };
    Ok(Changed {
        text: written(&book, text.ends_with('\n')),
        cell,
        kind,
        old_source,
        language,
    })
}

/// As Jupyter writes notebooks: one blank a level.
fn written(book: &Value, line_end: bool) -> String {
    use serde::Serialize;
    let mut bytes = Vec::new();
    let how = serde_json::ser::PrettyFormatter::with_indent(b" ");
    // A value that was read can be written.
    let _ = book.serialize(&mut serde_json::Serializer::with_formatter(&mut bytes, how));
    if line_end {
        bytes.push(b'\n');
    }
    String::from_utf8(bytes).unwrap_or_default()
}
