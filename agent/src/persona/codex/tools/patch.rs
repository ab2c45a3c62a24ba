//! `apply_patch`: several changes of files in one text. All of them are tried before the first is made.

mod text;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use async_trait::async_trait;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use self::text::{Change, Op, read, updated};
use super::invalid;
use crate::persona::shared::args::check;
use crate::tools::work::blocking;
use crate::tools::write::{LARGEST_CHANGED, Put, write};
use crate::tools::{Access, Cx, Given, Spec, Tool, text as texts};
use crate::workspace::{Fault, Kind, Stamp, Wall};
use agentglot_adapters::raw::event::{DetailShape, ToolKind};

pub(super) fn patch() -> Rc<dyn Tool> {
    let spec = Spec {
        name: "apply_patch".to_owned(),
        description: "Changes files by a patch. It begins with `*** Begin Patch` and ends with `*** End Patch`; in between, each file has a \
                      header: `*** Add File: PATH` (every line behind it begins with +), `*** Delete File: PATH`, or `*** Update File: PATH`, \
                      which `*** Move to: PATH` may follow. An update has hunks: each begins with `@@` (behind it, if need be, the line of a \
                      class or function that the hunk lies in), then lines that begin with a blank (unchanged, three before and three after a \
                      change), - (removed) or + (added). Paths are relative to the working folder."
            .to_owned(),
        schema: json!({
            "type": "object",
            "properties": {"input": {"type": "string", "description": "The entire contents of the patch"}},
            "required": ["input"],
        }),
        kind: ToolKind::Edit,
        ..Spec::default()
    };
    Rc::new(Patch(spec))
}

/// What a call touches is told by the reader that it is applied with, and no other: so it has no canonical arguments.
#[derive(Debug)]
struct Patch(Spec);

#[async_trait(?Send)]
impl Tool for Patch {
    fn spec(&self) -> &Spec {
        &self.0
    }

    fn access(&self, input: &Value) -> Access {
        // What is no patch changes nothing.
        let Ok(ops) = read(input["input"].as_str().unwrap_or_default()) else {
            return Access::Nothing;
        };
        Access::Write(ops.iter().flat_map(Op::paths).map(str::to_owned).collect())
    }

    async fn run(&self, input: &Value, cx: &Cx<'_>) -> Given {
        match check(&self.0.schema, input) {
            Ok(checked) => patched(&checked, cx).await,
            Err(wrong) => invalid(&self.0, &wrong),
        }
    }
}

async fn patched(input: &Value, cx: &Cx<'_>) -> Given {
    let ops = match read(input["input"].as_str().unwrap_or_default()) {
        Ok(ops) => ops,
        Err(why) => return failed(&format!("apply_patch verification failed: invalid patch: {why}")),
    };
    match blocking(cx, move |wall, cancel| apply(&ops, wall, cancel)).await {
        Ok(done) => Given::text(format!("Success. Updated the following files:\n{done}")).with(DetailShape::Codex, json!({"status": "completed"})),
        Err(Unfit(why)) => failed(&why),
    }
}

fn failed(why: &str) -> Given {
    Given::error(why).with(DetailShape::Codex, json!({"status": "failed"}))
}

/// Why a patch is not applied.
struct Unfit(String);

impl From<Fault> for Unfit {
    fn from(fault: Fault) -> Self {
        Self(format!("apply_patch verification failed: {fault}"))
    }
}

/// A file as the patch leaves it.
struct After {
    /// How it looked, if it was there.
    seen: Option<Stamp>,
    /// Its text; none if it is gone.
    text: Option<String>,
}

/// Applies it. What each file becomes is known before one is written.
fn apply(ops: &[Op], wall: &Wall, cancel: &CancellationToken) -> Result<String, Unfit> {
    let mut after: BTreeMap<PathBuf, After> = BTreeMap::new();
    let mut lists = [("A", Vec::new()), ("M", Vec::new()), ("D", Vec::new())];
    for op in ops {
        let place = wall.locate(&op.path)?;
        let path = place.path().to_owned();
        if !after.contains_key(&path) {
            after.insert(path.clone(), found(wall, &op.path)?);
        }
        let missing = || Unfit(format!("apply_patch verification failed: {} does not exist", path.display()));
        let list = match &op.change {
            Change::Add(text) => {
                replace(&mut after, &path, Some(text.clone()));
                0
            }
            Change::Delete => {
                after.get(&path).and_then(|file| file.text.as_ref()).ok_or_else(missing)?;
                replace(&mut after, &path, None);
                2
            }
            Change::Update { to, hunks } => {
                let before = after.get(&path).and_then(|file| file.text.as_ref()).ok_or_else(missing)?;
                let new =
                    updated(before, hunks, &path.display().to_string()).map_err(|why| Unfit(format!("apply_patch verification failed: {why}")))?;
                match to {
                    Some(to) => {
                        let target = wall.locate(to)?.path().to_owned();
                        if !after.contains_key(&target) {
                            after.insert(target.clone(), found(wall, to)?);
                        }
                        replace(&mut after, &path, None);
                        replace(&mut after, &target, Some(new));
                    }
                    None => replace(&mut after, &path, Some(new)),
                }
                1
            }
        };
        lists[list].1.push(op.path.clone());
    }
    if cancel.is_cancelled() {
        return Err(Unfit("aborted by user".to_owned()));
    }
    for (path, file) in &after {
        put(wall, path, file).map_err(|fault| Unfit(format!("apply_patch failed: {fault}")))?;
    }
    let lines = lists
        .iter()
        .flat_map(|(mark, paths)| paths.iter().map(move |path| format!("{mark} {path}\n")));
    Ok(lines.collect())
}

fn replace(after: &mut BTreeMap<PathBuf, After>, path: &Path, text: Option<String>) {
    if let Some(file) = after.get_mut(path) {
        file.text = text;
    }
}

/// A file as it is.
fn found(wall: &Wall, path: &str) -> Result<After, Unfit> {
    let place = wall.locate(path)?;
    match place.stat_if_there()?.map(|stat| stat.kind) {
        None => return Ok(After { seen: None, text: None }),
        Some(Kind::Folder) => return Err(Fault::Folder(place.named().to_owned()).into()),
        Some(_) => {}
    }
    let (bytes, stamp) = place.read(LARGEST_CHANGED)?;
    let decoded = texts::decode(&bytes).filter(|decoded| !decoded.lossy);
    let decoded = decoded.ok_or_else(|| Unfit(format!("apply_patch verification failed: {} is no text file", place.named().display())))?;
    Ok(After {
        seen: Some(stamp),
        text: Some(decoded.text),
    })
}

fn put(wall: &Wall, path: &Path, file: &After) -> Result<(), Fault> {
    let place = wall.locate(path)?;
    match (&file.text, &file.seen) {
        (Some(text), seen) => _ = write(&place, text, Put::Instead, seen.as_ref())?,
        (None, Some(seen)) => match place.is_still(seen)? {
            true => place.delete_file()?,
            false => return Err(Fault::Changed(place.named().to_owned())),
        },
        // It came and went within the patch.
        (None, None) => {}
    }
    Ok(())
}

#[cfg(test)]
mod tests;
