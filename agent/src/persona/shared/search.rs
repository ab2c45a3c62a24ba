//! Searches that go through all folders of the workspace where the model names none.

use std::collections::HashSet;

use tokio_util::sync::CancellationToken;

use super::native::plain;
use crate::tools::{glob, grep};
use crate::workspace::{Fault, Place, Wall};
use agentglot_adapters::raw::json::Str;

/// The path that the model has named, if it has.
pub(in crate::persona) fn path_of(path: Option<Str<'_>>) -> Option<String> {
    path.filter(|path| !path.is_empty()).map(plain)
}

/// A path as it is said.
pub(in crate::persona) fn named(wall: &Wall, path: &str) -> String {
    let place = wall.locate(path);
    place.map_or_else(|_| path.to_owned(), |place| place.named().display().to_string())
}

/// The folder that was named, or all of the workspace.
pub(in crate::persona) fn places(wall: &Wall, path: Option<&str>) -> Result<Vec<Place>, Fault> {
    match path {
        Some(path) => Ok(vec![wall.locate(path)?]),
        None => wall.folders().iter().map(|folder| wall.locate(folder)).collect(),
    }
}

/// Files by their names. Folders may lie in each other.
pub(in crate::persona) fn by_name(wall: &Wall, places: &[Place], asked: &glob::Asked, cancel: &CancellationToken) -> Result<glob::Found, Fault> {
    let mut all = glob::Found::default();
    for place in places {
        let found = glob::glob(wall, place, asked, cancel)?;
        all.total += found.total;
        all.files.extend(found.files);
    }
    let mut seen = HashSet::new();
    all.files.retain(|path| seen.insert(path.clone()));
    all.files.truncate(asked.most);
    Ok(all)
}

/// Files by their text.
pub(in crate::persona) fn by_text(places: &[Place], asked: &grep::Asked, cancel: &CancellationToken) -> Result<grep::Found, Fault> {
    let mut all = grep::Found::default();
    for place in places {
        let found = grep::grep(place, asked, cancel)?;
        all.cut |= found.cut;
        all.files.extend(found.files);
    }
    let mut seen = HashSet::new();
    all.files.retain(|hits| seen.insert(hits.path.clone()));
    Ok(all)
}
