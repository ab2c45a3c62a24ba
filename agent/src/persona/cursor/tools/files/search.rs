//! Finding files by name and by what is in them, in Cursor's words.

use serde_json::{Value, json};

use super::{error, failed, success};
use crate::persona::shared::grep::{asked, rows};
use crate::persona::shared::native::{folder, number, plain};
use crate::tools::walk::Tree;
use crate::tools::work::blocking;
use crate::tools::{Cx, Given, glob, grep};
use crate::workspace::{Fault, Wall};
use agentglot_adapters::raw::json::Str;
use agentglot_adapters::raw::tools::args::Grep;

/// The most files of a search by name.
const FILES: usize = 500;
/// The most lines or files of a search.
const LIMIT: usize = 250;
/// The most characters of a line.
const WIDTH: usize = 500;

pub(super) async fn find(pattern: Str<'_>, path: Option<Str<'_>>, cx: &Cx<'_>) -> Given {
    let path = folder(path);
    let asked = glob::Asked {
        pattern: plain(pattern),
        names: true,
        any_case: false,
        tree: Tree {
            hidden: true,
            ..Tree::default()
        },
        order: glob::Order::Newest,
        most: FILES,
    };
    let done = blocking(cx, move |wall, cancel| {
        let place = wall.locate(path)?;
        Ok::<_, Fault>((glob::glob(wall, &place, &asked, cancel)?, place))
    });
    let (found, place) = match done.await {
        Ok(done) => done,
        Err(fault) => return error(&fault.to_string()),
    };
    let files: Vec<String> = found
        .files
        .iter()
        .map(|path| path.strip_prefix(place.path()).unwrap_or(path).display().to_string())
        .collect();
    let words = if files.is_empty() {
        "No files found".to_owned()
    } else {
        files.join("\n")
    };
    let typed = json!({
        "pattern": "",
        "path": place.named(),
        "files": files,
        "totalFiles": found.total,
        "clientTruncated": found.total > files.len(),
        "ripgrepTruncated": false,
    });
    success(words, typed)
}

pub(super) async fn search(grep: &Grep<'_>, cx: &Cx<'_>) -> Given {
    let mode = grep.mode.map_or_else(|| "content".to_owned(), plain);
    let limit = number(grep.limit).filter(|limit| *limit > 0).unwrap_or(LIMIT);
    let offset = number(grep.offset).unwrap_or(0);
    let around = number(grep.context).unwrap_or(0);
    let want = match mode.as_str() {
        "content" => grep::Want::Lines {
            before: around,
            after: around,
            width: WIDTH,
            most: offset.saturating_add(limit).saturating_add(1),
            only: false,
        },
        "count" => grep::Want::Counts,
        _ => grep::Want::Files,
    };
    let asked = asked(
        grep,
        want,
        Tree {
            hidden: true,
            ..Tree::default()
        },
    );
    let path = folder(grep.path);
    let done = blocking(cx, move |wall, cancel| {
        let place = wall.locate(path)?;
        Ok::<_, Fault>((grep::grep(&place, &asked, cancel)?, place))
    });
    let (mut found, place) = match done.await {
        Ok(done) => done,
        Err(fault) => {
            let words = fault.to_string();
            return failed(&words, "error", json!({"error": words}));
        }
    };
    let root = place.named().display().to_string();
    let name = |hits: &grep::Hits| match hits.path.strip_prefix(place.path()) {
        Ok(path) if path.as_os_str().is_empty() => root.clone(),
        Ok(path) => format!("./{}", path.display()),
        Err(_) => hits.path.display().to_string(),
    };
    let matched: u64 = found.files.iter().map(|hits| hits.count).sum();
    let (kept, whole) = paged(&mut found, &mode, offset, limit);
    let (key, mut part) = match mode.as_str() {
        "content" => {
            let files: Vec<Value> = found.files.iter().map(|hits| lines(&name(hits), hits)).collect();
            ("content", json!({"matches": files, "totalLines": kept, "totalMatchedLines": matched}))
        }
        "count" => {
            let files: Vec<Value> = found.files.iter().map(|hits| json!({"file": name(hits), "count": hits.count})).collect();
            ("count", json!({"counts": files, "totalFiles": kept, "totalMatches": matched}))
        }
        _ => {
            let files: Vec<String> = found.files.iter().map(name).collect();
            ("files", json!({"files": files, "totalFiles": kept}))
        }
    };
    part["clientTruncated"] = (!whole).into();
    part["ripgrepTruncated"] = found.cut.into();
    let typed = json!({
        "pattern": plain(grep.pattern),
        "path": root,
        "outputMode": mode,
        "workspaceResults": {root.clone(): {key: part}},
    });
    success(words(&found, &mode, whole, &cx.world.wall), typed)
}

/// Leaves what is on the page, and says how much that is and whether it is all.
fn paged(found: &mut grep::Found, mode: &str, offset: usize, limit: usize) -> (usize, bool) {
    let before: usize;
    if mode == "content" {
        before = found.files.iter().map(|hits| hits.lines.len()).sum();
        let (mut skip, mut left) = (offset, limit);
        for hits in &mut found.files {
            let skipped = skip.min(hits.lines.len());
            hits.lines.drain(..skipped);
            skip -= skipped;
            hits.lines.truncate(left);
            left -= hits.lines.len();
        }
        found.files.retain(|hits| !hits.lines.is_empty());
        let kept = limit - left;
        return (kept, before <= kept.saturating_add(offset) && !found.cut);
    }
    before = found.files.len();
    found.files = std::mem::take(&mut found.files).into_iter().skip(offset).take(limit).collect();
    let kept = found.files.len();
    (kept, before <= kept.saturating_add(offset) && !found.cut)
}

fn lines(name: &str, hits: &grep::Hits) -> Value {
    let line = |line: &grep::Line| {
        json!({
            "lineNumber": line.number,
            "content": line.text,
            "contentTruncated": line.cut,
            "isContextLine": line.around,
        })
    };
    json!({"file": name, "matches": hits.lines.iter().map(line).collect::<Value>()})
}

/// What the model reads.
fn words(found: &grep::Found, mode: &str, whole: bool, wall: &Wall) -> String {
    let shown = |path: &std::path::Path| wall.shown(path).display().to_string();
    let rows = match mode {
        "content" => rows(found, true, |path| Some(shown(path))),
        "count" => found.files.iter().map(|hits| format!("{}:{}", shown(&hits.path), hits.count)).collect(),
        _ => found.files.iter().map(|hits| shown(&hits.path)).collect(),
    };
    if rows.is_empty() {
        return "No matches found".to_owned();
    }
    let more = if whole {
        ""
    } else {
        "\n[There is more: use offset, or narrow the search.]"
    };
    rows.join("\n") + more
}
