//! What an agent's folder says about its tools: their names, and the way of their arguments and results from and to the canonical
//! ones.

use std::ptr;
use std::sync::LazyLock;

use bumpalo::Bump;

use super::args::{Args, Read, TodoStatus};
use super::json::Json;
use super::output::{FileChange, FileRead, ToolOutput};
use super::result::Answer;
use super::{lines, texts};
use crate::codec::Dialect;
use crate::event::{DetailShape, ResultStatus, ToolCall, ToolKind, ToolResult};
use crate::json::{Raw, Shape, Str};
use crate::snake_tools;

/// The tools of an agent, or of several that have the same.
#[derive(Debug)]
pub struct Tools {
    /// For each kind that there is a tool of, its names: the first is the one that is written, the others are read as well (older
    /// names, and names that mean the same).
    ///
    /// A name may mean more than one thing, which only the arguments tell, as an edit that also writes whole files.
    pub names: Names,
    /// Tools that it has besides, which mean nothing to anybody else.
    pub others: &'static [&'static str],
    /// [`Self::names`] the other way round; made by the same macro.
    pub(crate) kind: fn(&str) -> ToolKind,
    /// Whether the arguments are read in other agents' spellings too, so that where it is not known whose call it is, they are
    /// tried last.
    pub(crate) lenient: bool,
    /// Whether a session lists its tools, and which ones are listed under another name than their calls have.
    pub(crate) listed: Option<&'static [(ToolKind, &'static str)]>,
    /// Whether paths of files and folders that are read, written and listed have to begin at the root.
    pub(crate) whole_paths: bool,
    /// Whether an edit has to say what it replaces.
    pub(crate) names_old: bool,
    pub(crate) shell: Shell,
    /// The server and the tool that a name of its own says, where tools of MCP servers have such names here; `mcp__SERVER__TOOL` is
    /// read everywhere.
    pub(crate) mcp: for<'a> fn(Str<'a>) -> Option<(Str<'a>, Str<'a>)>,
    pub(crate) read: ReadArgs,
    pub(crate) write: WriteArgs,
    /// Whether the result of such a tool has another form than the text that the model sees.
    pub(crate) reshapes: fn(ToolKind) -> bool,
    /// The structured form that results are written in; one that is in it already stays as it is.
    pub(crate) form: Option<DetailShape>,
    pub(crate) write_result: for<'a> fn(&Answer<'_, 'a>) -> Option<ToolResult<'a>>,
    /// The call in words that only its result allows.
    pub(crate) answered: for<'a> fn(&ToolCall<'a>, &Args<'a>, ToolOutput<'a>, &'a Bump) -> Option<ToolCall<'a>>,
    pub(crate) texts: Texts,
    /// The same tools where calls say all that they ask for, if hosts are told less.
    pub(crate) whole: Option<&'static Self>,
}

/// What is said of commands.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shell {
    /// A call has a place for the folder that the command is to run in.
    pub(crate) has_folder: bool,
    /// What was printed keeps the line feed at its end; else the text ends with the last line.
    pub(crate) keeps_end: bool,
    /// What the result of a command that printed nothing says.
    pub(crate) silence: &'static str,
}

/// The names of tools by kind.
pub(crate) type Names = &'static [(ToolKind, &'static [&'static str])];

/// The stdout, the stderr and the exit code of a command.
pub(crate) type Report<'a> = (Str<'a>, Str<'a>, Option<i64>);

/// The arguments of a call of a kind of tool; `None` when they have another shape.
pub(crate) type ReadArgs = for<'a> fn(ToolKind, Raw<'a>, &'a Bump) -> Option<Args<'a>>;

/// The name and the arguments of a call; `None` when there is no such tool. The id is the call's, which some arguments repeat.
pub(crate) type WriteArgs = for<'a> fn(&Args<'a>, Str<'_>, Json<'a>) -> Option<(Str<'a>, Raw<'a>)>;

/// How results are read that are texts only. What an agent says of its deeds travels through others as it is, so
/// `change`, `todos` and `created` are tried whoever's log it is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Texts {
    /// A file that was read.
    pub(crate) file: for<'a> fn(&Read<'a>, Str<'a>, &'a Bump) -> Option<FileRead<'a>>,
    /// A report on a command: stdout, stderr, exit code.
    pub(crate) report: for<'a> fn(Str<'a>) -> Option<Report<'a>>,
    /// The stdout and the stderr in the output of a command.
    pub(crate) streams: for<'a> fn(Str<'a>) -> (Str<'a>, Str<'a>),
    /// What became of a file.
    pub(crate) change: for<'a> fn(Str<'a>, &'a Bump) -> Option<FileChange<'a>>,
    /// The list of things to do.
    pub(crate) todos: for<'a> fn(Str<'a>, &'a Bump) -> Option<ToolOutput<'a>>,
    /// The number, from 1, and the new status of the one thing to do that a call changes, by the tool's name and its arguments.
    pub(crate) progress: fn(&str, Raw<'_>) -> Option<(u64, TodoStatus)>,
    /// Whether a file that was written is new.
    pub(crate) created: fn(&str) -> Option<bool>,
}

/// A structured form of results.
#[derive(Debug)]
pub(crate) struct DetailReader {
    pub(crate) shape: DetailShape,
    /// Whether it says all of the result of such a tool, so that nothing of the call is needed.
    pub(crate) complete: fn(ToolKind) -> bool,
    pub(crate) read: for<'a> fn(&Typed<'_, 'a>, &'a Bump) -> Option<ToolOutput<'a>>,
}

/// A result with a structured form, and what is known about its call.
pub(crate) struct Typed<'r, 'a> {
    pub(crate) kind: ToolKind,
    pub(crate) args: Option<&'r Args<'a>>,
    pub(crate) detail: Raw<'a>,
    /// What the model sees.
    pub(crate) text: Str<'a>,
    pub(crate) status: ResultStatus,
}

impl Texts {
    /// What most do: a file with numbered lines, a command's output with nothing else in it.
    pub(crate) const PLAIN: Self = Self {
        file: |read, text, arena| texts::numbered_file(read, lines::strip(text, arena)?),
        report: |_| None,
        streams: |text| (text, Str::EMPTY),
        change: |_, _| None,
        todos: |_, _| None,
        progress: |_, _| None,
        created: |_| None,
    };
}

impl Tools {
    /// Tools with results that are texts.
    pub(crate) const fn new(
        (names, kind): (Names, fn(&str) -> ToolKind),
        read: ReadArgs,
        write: WriteArgs,
        write_result: for<'a> fn(&Answer<'_, 'a>) -> Option<ToolResult<'a>>,
    ) -> Self {
        Self {
            names,
            others: &[],
            kind,
            lenient: false,
            listed: None,
            whole_paths: false,
            names_old: false,
            shell: Shell {
                has_folder: false,
                keeps_end: true,
                silence: "",
            },
            mcp: |_| None,
            read,
            write,
            reshapes: |_| true,
            form: None,
            write_result,
            answered: |_, _, _, _| None,
            texts: Texts::PLAIN,
            whole: None,
        }
    }

    /// What tools are called, in any dialect: as they are written or read, and those that have no counterpart.
    pub fn all_names() -> impl Iterator<Item = &'static str> {
        Dialect::readable()
            .filter_map(Self::of)
            .flat_map(|tools| tools.names.iter().flat_map(|(_, names)| names.iter()).chain(tools.others).copied())
    }

    /// The tools of a dialect. The canonical events and the model APIs have none of their own.
    pub fn of(dialect: Dialect) -> Option<&'static Self> {
        dialect.vendor().tools
    }

    /// Everyone's tools, in the order in which they are tried where it is not known whose they are.
    pub(crate) fn all() -> impl Iterator<Item = &'static Self> {
        static ALL: LazyLock<Vec<&Tools>> = LazyLock::new(|| {
            let mut all: Vec<&Tools> = Dialect::ALL.into_iter().filter_map(Tools::of).collect();
            all.sort_by_key(|tools| tools.lenient);
            all.dedup_by(|one, other| one.is(other));
            all
        });
        ALL.iter().copied()
    }

    /// What the tool of a name does. Names that begin with `mcp__` are tools of MCP servers everywhere.
    pub fn kind(&self, name: &str) -> ToolKind {
        if name.starts_with("mcp__") {
            return ToolKind::Mcp;
        }
        (self.kind)(name)
    }

    /// The name that calls of a kind of tool have; `None` where there is no such tool.
    pub fn name(&self, kind: ToolKind) -> Option<&'static str> {
        if kind == ToolKind::Other {
            return None;
        }
        let (_, names) = self.names.iter().find(|(of, _)| *of == kind)?;
        names.first().copied()
    }

    /// The arguments of the call of a tool; `None` when the tool is not known or its arguments have another shape.
    pub fn args<'a>(&self, name: Str<'a>, input: Raw<'a>, arena: &'a Bump) -> Option<Args<'a>> {
        let kind = self.kind(&name.unescape());
        if kind == ToolKind::Mcp && name.as_escaped().starts_with("mcp__") {
            return snake_tools::mcp(name, input);
        }
        if let Some((server, tool)) = (self.mcp)(name).filter(|_| kind == ToolKind::Mcp && input.shape() == Some(Shape::Object)) {
            return Some(Args::Mcp { server, tool, args: input });
        }
        self.read_args(kind, input, arena)
    }

    /// The arguments of a call of a kind of tool; `None` when they have another shape.
    pub fn read_args<'a>(&self, kind: ToolKind, input: Raw<'a>, arena: &'a Bump) -> Option<Args<'a>> {
        (self.read)(kind, input, arena)
    }

    /// Whether these are the same tools.
    pub fn is(&self, other: &Self) -> bool {
        ptr::eq(self, other)
    }
}

impl DetailReader {
    /// The reader of a structured form.
    pub(crate) fn of(shape: DetailShape) -> Option<&'static Self> {
        let readers = Dialect::ALL.into_iter().filter_map(|dialect| dialect.vendor().detail);
        readers.into_iter().find(|reader| reader.shape == shape)
    }
}

/// What a tool of a dialect does. The names of the canonical events are those of any dialect.
pub fn kind_of(dialect: Dialect, name: Str<'_>) -> ToolKind {
    let plain;
    let name = if name.has_escapes() {
        plain = name.unescape();
        &*plain
    } else {
        name.as_escaped()
    };
    Tools::of(dialect).map_or_else(|| any_kind(name), |tools| tools.kind(name))
}

/// What a tool does, whoever's it is.
pub(crate) fn any_kind(name: &str) -> ToolKind {
    Tools::all()
        .map(|tools| tools.kind(name))
        .find(|kind| *kind != ToolKind::Other)
        .unwrap_or_default()
}

/// The names of an agent's tools, both ways: for each kind, the name that is written, then others that are read as well.
macro_rules! names {
    ($($kind:ident: $($name:literal),+;)*) => {
        const NAMES: (&[($crate::event::ToolKind, &[&str])], fn(&str) -> $crate::event::ToolKind) = {
            fn kind(name: &str) -> $crate::event::ToolKind {
                match name {
                    $($($name)|+ => $crate::event::ToolKind::$kind,)*
                    _ => $crate::event::ToolKind::Other,
                }
            }
            (&[$(($crate::event::ToolKind::$kind, &[$($name),+])),*], kind)
        };
    };
}
pub(crate) use names;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_found_and_no_name_stands_twice() {
        for dialect in Dialect::ALL {
            let mut seen = std::collections::HashSet::new();
            for (kind, names) in Tools::of(dialect).into_iter().flat_map(|tools| tools.names) {
                for name in *names {
                    assert_eq!(kind_of(dialect, Str::trusted(name)), *kind, "{name}");
                    assert!(seen.insert(*name), "{name} stands twice");
                    assert_ne!(kind_of(Dialect::Agentglot, Str::trusted(name)), ToolKind::Other);
                }
            }
        }
    }

    #[test]
    fn names_are_read_through_their_escapes_and_belong_to_their_dialect() {
        assert_eq!(kind_of(Dialect::Claude, Str::trusted("\\u0052ead")), ToolKind::Read);
        assert_eq!(kind_of(Dialect::Qwen, Str::trusted("read_file")), ToolKind::Read);
        assert_eq!(kind_of(Dialect::Claude, Str::trusted("read_file")), ToolKind::Other);
        assert_eq!(kind_of(Dialect::Tricode, Str::trusted("edit_file")), ToolKind::Edit);
        assert_eq!(kind_of(Dialect::Cursor, Str::trusted("Read")), ToolKind::Other);
        for dialect in Dialect::ALL {
            assert_eq!(kind_of(dialect, Str::trusted("mcp__calc__add")), ToolKind::Mcp);
            assert_eq!(kind_of(dialect, Str::trusted("")), ToolKind::Other);
            assert_eq!(kind_of(dialect, Str::trusted("no_such_tool")), ToolKind::Other);
        }
    }
}
