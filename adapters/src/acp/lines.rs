//! What a call looks like to people, and blocks of content.

use bumpalo::Bump;

use crate::codec::Dialect;
use crate::event::{Block, Content, Media, Picture, ToolCall, ToolKind};
use crate::json::{Out, Raw, Str};
use crate::tools::args::Args;
use crate::tools::{Tools, kind_of};

/// Writes what a call is shown with, behind its id: title, name, kind, places, changes and arguments. Returns whether there is a change.
pub(super) fn call(call: &ToolCall<'_>, source: Dialect, out: &mut Out) -> bool {
    let arena = Bump::new();
    let args = Tools::of(source).and_then(|tools| tools.args(call.name, call.input, &arena));
    let (path, title) = match &args {
        Some(Args::Read(read)) => (Some(read.path), read.path),
        Some(Args::Write { path, .. } | Args::Edit { path, .. } | Args::MultiEdit { path, .. } | Args::Delete { path }) => (Some(*path), *path),
        Some(Args::NotebookEdit(edit)) => (Some(edit.path), edit.path),
        Some(Args::List { path, .. }) => (Some(*path), *path),
        Some(Args::Shell(shell)) => (None, shell.command),
        Some(Args::Grep(grep)) => (None, grep.pattern),
        Some(Args::Glob { pattern, .. }) => (None, *pattern),
        Some(Args::Fetch { url, .. }) => (None, *url),
        Some(Args::WebSearch { query }) => (None, *query),
        Some(Args::Subagent(subagent)) => (None, subagent.description.unwrap_or(call.name)),
        _ => (None, call.name),
    };
    out.lit(",\"title\":");
    out.str(if title.is_empty() { call.name } else { title });
    out.lit(",\"name\":");
    out.str(call.name);
    let kind = match call.kind {
        ToolKind::Other => kind_of(source, call.name),
        kind => kind,
    };
    out.lit(",\"kind\":\"");
    out.lit(word(kind));
    out.lit("\"");
    if let Some(path) = path {
        out.lit(",\"locations\":[{\"path\":");
        out.str(path);
        out.lit("}]");
    }
    let change = match &args {
        Some(Args::Write { path, content }) => Some((*path, None, *content)),
        Some(Args::Edit { path, change }) => change.old.map(|old| (*path, Some(old), change.new)),
        _ => None,
    };
    if let Some((path, old, new)) = change {
        diff(path, old, new, out);
    }
    out.unchecked_if(",\"rawInput\":", Some(call.input));
    change.is_some()
}

fn diff(path: Str<'_>, old: Option<Str<'_>>, new: Str<'_>, out: &mut Out) {
    out.lit(",\"content\":[{\"type\":\"diff\",\"path\":");
    out.str(path);
    out.lit(",\"oldText\":");
    out.str_or_null(old);
    out.lit(",\"newText\":");
    out.str(new);
    out.lit("}]");
}

/// The texts of what a call shows, one after the other.
pub(super) fn shown(list: Raw<'_>) -> String {
    list.elements()
        .filter_map(|part| part.get("content")?.get("text")?.string())
        .map(Str::as_escaped)
        .collect()
}

/// The word for what a tool does.
const fn word(kind: ToolKind) -> &'static str {
    match kind {
        ToolKind::Read | ToolKind::List => "read",
        ToolKind::Write | ToolKind::Edit | ToolKind::MultiEdit | ToolKind::NotebookEdit | ToolKind::Mkdir => "edit",
        ToolKind::Delete => "delete",
        ToolKind::Shell => "execute",
        ToolKind::Grep | ToolKind::Glob | ToolKind::WebSearch => "search",
        ToolKind::Fetch => "fetch",
        ToolKind::Todo | ToolKind::Subagent => "think",
        ToolKind::ExitPlan => "switch_mode",
        ToolKind::Mcp | ToolKind::Ask | ToolKind::Other => "other",
    }
}

/// Writes the blocks of content, each behind `before` and before `behind`.
pub(super) fn blocks(content: Content<'_>, before: &str, behind: &str, out: &mut Out) {
    let one;
    let list = match content {
        Content::Text(text) => {
            one = [Block::Text { text, fields: &[] }];
            &one[..]
        }
        Content::Blocks(blocks) => blocks,
    };
    let mut first = true;
    for block in list {
        let whole = match block {
            Block::Text { .. } => None,
            Block::Media(media) => match placed(media) {
                Some(placed) => Some(placed),
                None => continue,
            },
            _ => continue,
        };
        out.lit(if std::mem::replace(&mut first, false) { "" } else { "," });
        out.lit(before);
        match (block, whole) {
            (_, Some(picture)) => self::picture(&picture, out),
            (Block::Text { text: said, .. }, None) => text(*said, out),
            _ => {}
        }
        out.lit(behind);
    }
}

/// What there is a block for.
pub(super) fn placed<'a>(media: &Media<'a>) -> Option<Picture<'a>> {
    media.shown().filter(|shown| shown.is_seen() || shown.is_sound())
}

/// Writes an image or a sound, a document as a resource, and a link where only an address is known.
fn picture(picture: &Picture<'_>, out: &mut Out) {
    let Some(mime) = picture.mime else {
        out.lit("{\"type\":\"resource_link\",\"uri\":");
        out.str(picture.value);
        out.lit(",\"name\":");
        out.str(picture.value);
        return out.lit("}");
    };
    out.lit(if picture.is_document {
        // The protocol wants an address; what stands in the session has none.
        "{\"type\":\"resource\",\"resource\":{\"uri\":\"attachment:document\",\"mimeType\":"
    } else if picture.is_sound() {
        "{\"type\":\"audio\",\"mimeType\":"
    } else {
        "{\"type\":\"image\",\"mimeType\":"
    });
    out.str(mime);
    out.lit(if picture.is_document { ",\"blob\":" } else { ",\"data\":" });
    out.str(picture.value);
    out.lit(if picture.is_document { "}}" } else { "}" });
}

/// Writes a block with a text.
pub(super) fn text(text: Str<'_>, out: &mut Out) {
    out.lit("{\"type\":\"text\",\"text\":");
    out.str(text);
    out.lit("}");
}
