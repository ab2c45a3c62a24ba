//! A folder as a tree.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::files::{listed, unlisted};
use crate::tools::list::{Asked, Listed, list as entries};
use crate::tools::work::blocking;
use crate::tools::{Cx, Given};
use crate::workspace::{Fault, Kind};

/// How many folders deep.
const DEPTH: usize = 3;
/// The most entries.
const MOST: usize = 1000;

pub(super) async fn list(path: String, without: Vec<String>, cx: &Cx<'_>) -> Given {
    let asked = Asked {
        depth: DEPTH,
        without,
        most: MOST,
        ..Asked::default()
    };
    let done = blocking(cx, move |wall, cancel| {
        let place = wall.locate(path)?;
        Ok::<_, Fault>((entries(&place, &asked, cancel)?, place))
    });
    match done.await {
        Ok((found, place)) => listed(words(&found), json!({"directoryTreeRoot": tree(&found, place.named())})),
        Err(fault) => unlisted(&fault),
    }
}

/// One entry a line, folders with a slash.
fn words(found: &Listed) -> String {
    let mut lines: Vec<String> = found
        .entries
        .iter()
        .map(|entry| {
            let name = entry.path.file_name().unwrap_or_default().to_string_lossy();
            let slash = if entry.kind == Kind::Folder { "/" } else { "" };
            format!("{}{name}{slash}", "  ".repeat(entry.depth - 1))
        })
        .collect();
    if lines.is_empty() {
        lines.push("The folder is empty.".to_owned());
    }
    if found.cut {
        lines.push(format!("[These are the first {MOST} entries.]"));
    }
    lines.join("\n")
}

/// Nested, from the innermost folders to the root.
fn tree(found: &Listed, root: &Path) -> Value {
    let node = |path: &Path| json!({"absPath": root.join(path), "childrenDirs": [], "childrenFiles": [], "numFiles": 0});
    let mut open: HashMap<PathBuf, Value> = HashMap::from([(PathBuf::new(), node(Path::new("")))]);
    open.insert(
        PathBuf::new(),
        json!({"absPath": root, "childrenDirs": [], "childrenFiles": [], "numFiles": 0}),
    );
    for entry in &found.entries {
        if entry.kind == Kind::Folder {
            open.insert(entry.path.clone(), node(&entry.path));
        }
    }
    // An entry stands behind the folder that it is in: from the last to the first, a folder is whole when it is reached.
    for entry in found.entries.iter().rev() {
        let child = match entry.kind {
            Kind::Folder => open.remove(&entry.path),
            _ => None,
        };
        let Some(parent) = entry.path.parent().and_then(|parent| open.get_mut(parent)) else {
            continue;
        };
        let (list, value) = match child {
            Some(mut folder) => {
                turn(&mut folder);
                ("childrenDirs", folder)
            }
            None => {
                parent["numFiles"] = (parent["numFiles"].as_u64().unwrap_or(0) + 1).into();
                (
                    "childrenFiles",
                    json!({"name": entry.path.file_name().unwrap_or_default().to_string_lossy()}),
                )
            }
        };
        if let Some(list) = parent[list].as_array_mut() {
            list.push(value);
        }
    }
    let mut whole = open.remove(&PathBuf::new()).unwrap_or_default();
    turn(&mut whole);
    whole
}

/// The children were put in from the last to the first.
fn turn(folder: &mut Value) {
    for list in ["childrenDirs", "childrenFiles"] {
        if let Some(list) = folder[list].as_array_mut() {
            list.reverse();
        }
    }
}
