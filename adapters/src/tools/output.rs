//! What a result shows, whatever its dialect: read from the structured form where there is one, else from the text and the call.

use bumpalo::Bump;

use super::args::{Args, Read, Todos};
use super::diff::{self, DiffStyle, Patch};
use super::json::{escaped, plain as plain_text};
use super::lines;
use super::table::{DetailReader, Tools, Typed, any_kind};
use super::texts::{self, joined};
use crate::event::{Block, Content, ResultStatus, ToolCall, ToolKind, ToolResult};
use crate::json::{Raw, Str};

/// What a tool result shows.
#[derive(Clone, Copy, Debug)]
pub enum ToolOutput<'a> {
    /// A file or a part of it.
    Read(FileRead<'a>),
    /// A whole file was written.
    Wrote(FileChange<'a>),
    /// A file was changed in places.
    Edited(FileChange<'a>),
    /// A command ran.
    Shell(ShellRun<'a>),
    /// The list of things to do, as it is now.
    Todos(Todos<'a>),
    /// A plan was shown to the user.
    Plan {
        /// What came of it.
        message: Str<'a>,
        /// The plan, in Markdown.
        plan: Option<Str<'a>>,
    },
    /// A subagent worked.
    Subagent(SubagentRun<'a>),
    /// Files were found.
    Files(&'a [Str<'a>]),
    /// Nothing but what the model sees.
    Text(Str<'a>),
}

/// A file, or some lines of it.
#[derive(Clone, Copy, Debug)]
pub struct FileRead<'a> {
    /// Which file.
    pub path: Option<Str<'a>>,
    /// The text itself, without line numbers. Of a part that ends before the file does, the last line has no line end.
    pub content: Str<'a>,
    /// The number of the first line, from 1.
    pub start: u64,
    /// How many lines the file has, counted as the pieces between line ends.
    pub total: Option<u64>,
}

/// What became of a file.
#[derive(Clone, Copy, Debug)]
pub struct FileChange<'a> {
    /// Which file.
    pub path: Str<'a>,
    /// Whether it is new.
    pub created: Option<bool>,
    /// The whole text before.
    pub before: Option<Str<'a>>,
    /// The whole text after.
    pub after: Option<Str<'a>>,
    /// What was replaced, and by what, where that is all that is known.
    pub replaced: Option<(Str<'a>, Str<'a>)>,
    pub(crate) hunks: Hunks<'a>,
}

/// The changes as the source spells them.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) enum Hunks<'a> {
    /// `structuredPatch`: a list of objects.
    Structured(Raw<'a>),
    /// The text of a diff.
    Unified(Str<'a>, DiffStyle),
    #[default]
    Unknown,
}

/// A command that ran.
#[derive(Clone, Copy, Debug, Default)]
pub struct ShellRun<'a> {
    /// What ran.
    pub command: Option<Str<'a>>,
    /// What it printed to stdout; what it printed to both where the dialect does not keep them apart.
    pub stdout: Str<'a>,
    /// What it printed to stderr.
    pub stderr: Str<'a>,
    /// What the model sees of its output, without the exit code.
    pub output: Str<'a>,
    /// Its exit code, where it is known.
    pub exit: Option<i64>,
    /// Whether it was stopped.
    pub interrupted: bool,
}

/// A subagent that worked.
#[derive(Clone, Copy, Debug)]
pub struct SubagentRun<'a> {
    /// Its id.
    pub id: Option<Str<'a>>,
    /// What kind of agent it is.
    pub name: Option<Str<'a>>,
    /// What it was told to do.
    pub prompt: Option<Str<'a>>,
    /// What it said at the end.
    pub text: Str<'a>,
    /// How long it took.
    pub milliseconds: Option<u64>,
}

impl<'a> FileRead<'a> {
    /// What a reading of a file gave. How many lines the file has is known when all of it was asked for.
    pub(crate) fn of(read: &Read<'a>, content: Str<'a>, start: u64) -> Self {
        let whole = read.start.is_none() && read.count.is_none() && !read.capped;
        Self {
            path: Some(read.path),
            content,
            start,
            total: whole.then(|| lines::count(content)),
        }
    }

    /// How many lines are shown, as its pieces are counted.
    pub(crate) fn lines(&self) -> u64 {
        lines::count(self.content)
    }
}

impl<'a> FileChange<'a> {
    pub(crate) const fn of(path: Str<'a>) -> Self {
        Self {
            path,
            created: None,
            before: None,
            after: None,
            replaced: None,
            hunks: Hunks::Unknown,
        }
    }

    /// The change as the text of a unified diff with `a/` and `b/` before the path (the source's own text where it has one), and
    /// how many lines it adds and removes; `None` when the place of the change is not known.
    pub fn diff(&self, arena: &'a Bump) -> Option<(Str<'a>, Option<(u64, u64)>)> {
        if let Hunks::Unified(text, _) = self.hunks {
            return Some((text, self.stat_of(self.patch().as_ref())));
        }
        if let Hunks::Structured(patch) = self.hunks
            && self.path.is_plainly_escaped()
            && let Some((diff, stat)) = diff::as_spelled(patch, self.path, self.created == Some(true), arena)
        {
            return Some((diff, Some(stat)));
        }
        // Structured, a new file has no hunks.
        let no_hunks = match self.hunks {
            Hunks::Structured(patch) => patch.as_str() == "[]",
            Hunks::Unified(..) => false,
            Hunks::Unknown => true,
        };
        if self.created == Some(true)
            && no_hunks
            && let Some(text) = self.after.filter(|text| !text.is_empty())
            && [text, self.path].iter().all(|text| text.is_plainly_escaped())
        {
            let (diff, lines) = diff::created_as_spelled(text, self.path, arena);
            return Some((diff, Some((lines, 0))));
        }
        let patch = self.patch();
        let stat = self.stat_of(patch.as_ref());
        let path = self.path.unescape();
        let from = if self.created == Some(true) {
            "/dev/null".to_owned()
        } else {
            format!("a/{path}")
        };
        Some((escaped(&patch?.unified(&from, &format!("b/{path}"), DiffStyle::Git), arena), stat))
    }

    /// Lines added and removed, if `patch` is what [`Self::patch`] gives.
    pub(crate) fn stat_of(&self, patch: Option<&Patch>) -> Option<(u64, u64)> {
        match patch {
            Some(patch) => Some(patch.stat()),
            None => self.replaced.map(|(old, new)| Patch::between(&old.unescape(), &new.unescape()).stat()),
        }
    }

    pub(crate) fn patch(&self) -> Option<Patch> {
        match self.hunks {
            // Structured, a new file has no hunks.
            Hunks::Structured(patch) => {
                let patch = Patch::structured(patch)?;
                if patch.is_empty() { self.whole().or(Some(patch)) } else { Some(patch) }
            }
            Hunks::Unified(text, style) => Patch::parse(&plain_text(text)?, style),
            Hunks::Unknown => self.whole(),
        }
    }

    fn whole(&self) -> Option<Patch> {
        let before = if self.created == Some(true) { Str::EMPTY } else { self.before? };
        Some(Patch::between(&plain_text(before)?, &plain_text(self.after?)?))
    }

    /// The replaced lines without their place in the file.
    pub(crate) fn bare(&self) -> Option<String> {
        self.replaced.map(|(old, new)| diff::bare(old, new))
    }
}

/// What a result shows. `call` is the call that it answers, in its own dialect's words or already in another's.
pub fn output<'a>(call: Option<&ToolCall<'a>>, result: &ToolResult<'a>, arena: &'a Bump) -> ToolOutput<'a> {
    let name = call.map(|call| call.name).or(result.name);
    let kind = match call.map(|call| call.kind) {
        Some(kind) if kind != ToolKind::Other => kind,
        _ => name.map_or(ToolKind::Other, |name| any_kind(&name.unescape())),
    };
    let reader = result.detail.and_then(|detail| DetailReader::of(detail.shape));
    if reader.is_some_and(|reader| (reader.complete)(kind))
        && let Some(typed) = typed(kind, None, joined(result.content, arena), result, arena)
    {
        return typed;
    }
    let args = call.and_then(|call| {
        let name = call.name.unescape();
        Tools::all()
            .filter(|tools| tools.kind(&name) == kind)
            .find_map(|tools| tools.args(call.name, call.input, arena))
    });
    read(kind, args.as_ref(), None, result, arena)
}

/// What a result shows, with what is known of its call. `from` is whose result it is.
pub(crate) fn read<'a>(
    kind: ToolKind,
    args: Option<&Args<'a>>,
    from: Option<&'static Tools>,
    result: &ToolResult<'a>,
    arena: &'a Bump,
) -> ToolOutput<'a> {
    let text = joined(result.content, arena);
    // No form of a result but blocks holds an image.
    let has_media = matches!(result.content, Content::Blocks(blocks) if blocks.iter().any(|block| matches!(block, Block::Media(_))));
    if !has_media && let Some(typed) = typed(kind, args, text, result, arena) {
        return typed;
    }
    if result.content.has_other_than_text() || matches!(result.status, ResultStatus::Denied | ResultStatus::Canceled) {
        return ToolOutput::Text(text);
    }
    texts::read(kind, args, from, text, result.status == ResultStatus::Success, arena).unwrap_or(ToolOutput::Text(text))
}

/// What the structured form of a result shows.
fn typed<'a>(kind: ToolKind, args: Option<&Args<'a>>, text: Str<'a>, result: &ToolResult<'a>, arena: &'a Bump) -> Option<ToolOutput<'a>> {
    let detail = result.detail?;
    let typed = Typed {
        kind,
        args,
        detail: detail.raw,
        text,
        status: result.status,
    };
    (DetailReader::of(detail.shape)?.read)(&typed, arena)
}
