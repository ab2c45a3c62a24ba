//! What a call asks for, however an agent spells it.
//!
//! An agent's arguments are read into [`Args`], which holds slices of the source, and written in another's shape. What the target has
//! no member for is left out; what the source does not say is not made up, except for members whose absence and default mean the
//! same and that the target's own program always writes (named beside the code).

use bumpalo::Bump;
use bumpalo::collections::Vec as BumpVec;

use super::json::{Json, array, members, optional};
use crate::event::ToolKind;
use crate::json::{Cursor, Raw, Str};

/// What a call asks for.
#[derive(Clone, Copy, Debug)]
pub enum Args<'a> {
    /// Read a file.
    Read(Read<'a>),
    /// Write a whole file.
    Write {
        /// Which file.
        path: Str<'a>,
        /// The whole text.
        content: Str<'a>,
    },
    /// Replace a text in a file.
    Edit {
        /// Which file.
        path: Str<'a>,
        /// What is replaced.
        change: Change<'a>,
    },
    /// Replace several texts in a file.
    MultiEdit {
        /// Which file.
        path: Str<'a>,
        /// What is replaced, one after the other.
        changes: &'a [Change<'a>],
    },
    /// Change a cell of a Jupyter notebook.
    NotebookEdit(NotebookEdit<'a>),
    /// Run a command.
    Shell(Shell<'a>),
    /// Search in files.
    Grep(Grep<'a>),
    /// Find files by name.
    Glob {
        /// What their names look like.
        pattern: Str<'a>,
        /// The folder to look in.
        path: Option<Str<'a>>,
    },
    /// List a folder.
    List {
        /// Which folder.
        path: Str<'a>,
        /// Patterns of names to leave out: an array.
        ignore: Option<Raw<'a>>,
    },
    /// Delete a file.
    Delete {
        /// Which file.
        path: Str<'a>,
    },
    /// Write the list of things to do.
    Todos {
        /// The list.
        list: Todos<'a>,
        /// Whether it only adds to the list before and changes it.
        merge: bool,
    },
    /// Hand work to a subagent.
    Subagent(Subagent<'a>),
    /// Fetch a page.
    Fetch {
        /// Its address.
        url: Str<'a>,
        /// What is asked about it.
        prompt: Option<Str<'a>>,
    },
    /// Search the web.
    WebSearch {
        /// What for.
        query: Str<'a>,
    },
    /// Call a tool of an MCP server.
    Mcp {
        /// Which server.
        server: Str<'a>,
        /// Which of its tools.
        tool: Str<'a>,
        /// The tool's own arguments: an object.
        args: Raw<'a>,
    },
    /// Ask the user.
    Ask {
        /// The questions.
        questions: &'a [Question<'a>],
    },
    /// Show a plan and ask to leave plan mode.
    Plan {
        /// The plan, in Markdown.
        plan: Option<Str<'a>>,
    },
}

/// Reading a file or a part of it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Read<'a> {
    /// Which file.
    pub path: Str<'a>,
    /// The first line, counted from 1.
    pub start: Option<u64>,
    /// How many lines.
    pub count: Option<u64>,
    /// Pages of a document.
    pub pages: Option<Str<'a>>,
    /// No more than a number of bytes was asked for, so what comes may be less than the lines say.
    pub capped: bool,
}

/// One replacement in a file.
#[derive(Clone, Copy, Debug)]
pub struct Change<'a> {
    /// What is replaced, where the agent says it.
    pub old: Option<Str<'a>>,
    /// By what.
    pub new: Str<'a>,
    /// Every occurrence, not only the one.
    pub all: Option<bool>,
}

/// Changing a cell of a Jupyter notebook.
#[derive(Clone, Copy, Debug)]
pub struct NotebookEdit<'a> {
    /// Which notebook.
    pub path: Str<'a>,
    /// Which cell; a new one goes behind it, or to the beginning where none is named.
    pub cell: Option<Str<'a>>,
    /// The cell's new text, which a cell that is deleted need not have.
    pub source: Option<Str<'a>>,
    /// What the cell is: `code`, `markdown`.
    pub cell_type: Option<Str<'a>>,
    /// What is done: `replace` (also where nothing is said), `insert`, `delete`.
    pub mode: Option<Str<'a>>,
}

/// Running a command.
#[derive(Clone, Copy, Debug, Default)]
pub struct Shell<'a> {
    /// The command line.
    pub command: Str<'a>,
    /// Milliseconds.
    pub timeout: Option<u64>,
    /// What it is for, in a few words.
    pub description: Option<Str<'a>>,
    /// Whether nobody waits for it.
    pub background: Option<bool>,
    /// Where it runs.
    pub directory: Option<Str<'a>>,
}

/// Searching in files. Numbers are moved as they are.
#[derive(Clone, Copy, Debug, Default)]
pub struct Grep<'a> {
    /// A regular expression.
    pub pattern: Str<'a>,
    /// The file or folder to look in.
    pub path: Option<Str<'a>>,
    /// What the names of the files look like.
    pub glob: Option<Str<'a>>,
    /// What is shown: `content`, `files_with_matches`, `count`.
    pub mode: Option<Str<'a>>,
    /// Whether small and capital letters are the same.
    pub ignore_case: Option<bool>,
    /// How many lines around a match are shown.
    pub context: Option<Raw<'a>>,
    /// How many lines before a match are shown.
    pub before: Option<Raw<'a>>,
    /// How many lines behind it.
    pub after: Option<Raw<'a>>,
    /// Whether lines have their numbers before them.
    pub numbers: Option<bool>,
    /// Whether nothing but the matches is shown.
    pub only: Option<bool>,
    /// The kind of files, by its name in ripgrep.
    pub file_type: Option<Str<'a>>,
    /// How many lines or files are shown.
    pub limit: Option<Raw<'a>>,
    /// How many are left out first.
    pub offset: Option<Raw<'a>>,
    /// Whether a match may go over the end of a line.
    pub multiline: Option<bool>,
}

/// Handing work to a subagent.
#[derive(Clone, Copy, Debug, Default)]
pub struct Subagent<'a> {
    /// The task in a few words.
    pub description: Option<Str<'a>>,
    /// What it is told to do.
    pub prompt: Str<'a>,
    /// What kind of agent.
    pub agent: Option<Str<'a>>,
    /// Whether nobody waits for it.
    pub background: Option<bool>,
    /// The model that it is.
    pub model: Option<Str<'a>>,
}

/// A list of so many bytes is read once more each time it is looked at.
const LONG: usize = 1 << 16;

/// Things to do, as they are or, of very many, read one after the other.
#[derive(Clone, Copy, Debug)]
pub struct Todos<'a> {
    made: &'a [Todo<'a>],
    /// An array of which each element can be read.
    read: Raw<'a>,
    len: usize,
}

/// One thing to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Todo<'a> {
    /// Its id, where the agent has ids.
    pub id: Option<Str<'a>>,
    /// What is to be done.
    pub content: Str<'a>,
    /// How far it is.
    pub status: TodoStatus,
    /// What is said while it is done: `activeForm`.
    pub active: Option<Str<'a>>,
}

/// How far a thing to do is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TodoStatus {
    /// Not begun.
    Pending,
    /// Being done.
    InProgress,
    /// Done.
    Completed,
    /// Called off. Not every agent knows it.
    Cancelled,
}

/// A question to the user.
#[derive(Clone, Copy, Debug)]
pub struct Question<'a> {
    /// The question.
    pub text: Str<'a>,
    /// A short headline, or an id.
    pub head: Option<Str<'a>>,
    /// Whether several answers may be chosen.
    pub several: Option<bool>,
    /// The answers to choose from.
    pub options: &'a [Choice<'a>],
}

/// An answer to choose.
#[derive(Clone, Copy, Debug)]
pub struct Choice<'a> {
    /// What it is called.
    pub label: Str<'a>,
    /// What it means.
    pub description: Option<Str<'a>>,
}

impl Args<'_> {
    /// What it asks for.
    pub const fn kind(&self) -> ToolKind {
        match self {
            Self::Read(_) => ToolKind::Read,
            Self::Write { .. } => ToolKind::Write,
            Self::Edit { .. } => ToolKind::Edit,
            Self::MultiEdit { .. } => ToolKind::MultiEdit,
            Self::NotebookEdit(_) => ToolKind::NotebookEdit,
            Self::Shell(_) => ToolKind::Shell,
            Self::Grep(_) => ToolKind::Grep,
            Self::Glob { .. } => ToolKind::Glob,
            Self::List { .. } => ToolKind::List,
            Self::Delete { .. } => ToolKind::Delete,
            Self::Todos { .. } => ToolKind::Todo,
            Self::Subagent(_) => ToolKind::Subagent,
            Self::Fetch { .. } => ToolKind::Fetch,
            Self::WebSearch { .. } => ToolKind::WebSearch,
            Self::Mcp { .. } => ToolKind::Mcp,
            Self::Ask { .. } => ToolKind::Ask,
            Self::Plan { .. } => ToolKind::ExitPlan,
        }
    }
}

impl TodoStatus {
    /// The word that most agents write. Not all of them know what was called off.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::InProgress => "in_progress",
            Self::Completed => "completed",
            Self::Cancelled => "cancelled",
        }
    }

    /// The status that a word means; any agent's spelling is read.
    pub fn read(word: Str<'_>) -> Option<Self> {
        Some(match word.as_escaped() {
            "pending" | "TODO_STATUS_PENDING" | "TODO_STATUS_UNSPECIFIED" => Self::Pending,
            "in_progress" | "TODO_STATUS_IN_PROGRESS" => Self::InProgress,
            "completed" | "TODO_STATUS_COMPLETED" => Self::Completed,
            "cancelled" | "canceled" | "TODO_STATUS_CANCELLED" => Self::Cancelled,
            _ => return None,
        })
    }
}

impl<'a> Todo<'a> {
    /// One item of a list `todos`; any agent's spelling is read.
    pub(crate) fn read(todo: Raw<'a>) -> Option<Self> {
        let [id, content, status, active] = members(todo, ["id", "content", "status", "activeForm"])?;
        Some(Self {
            id: optional(id, Raw::string)?,
            content: content?.string()?,
            status: optional(status, |word| TodoStatus::read(word.string()?))?.unwrap_or(TodoStatus::Pending),
            active: optional(active, Raw::string)?,
        })
    }

    /// Ids count from 1 where the source has none.
    pub(crate) fn write_id(&self, json: &mut Json<'_>, index: usize) {
        match self.id {
            Some(id) => json.key("id").str(id),
            None => json.key("id").plain(&(index + 1).to_string()),
        };
    }
}

impl<'a> Todos<'a> {
    const NONE: Raw<'static> = Raw::trusted("[]");

    /// A list that was made.
    pub const fn made(made: &'a [Todo<'a>]) -> Self {
        Self {
            made,
            read: Self::NONE,
            len: made.len(),
        }
    }

    /// The items of a list `todos`.
    pub(crate) fn read(todos: Raw<'a>, arena: &'a Bump) -> Option<Self> {
        let read = array(todos)?;
        if todos.as_str().len() > LONG {
            let len = read.elements().try_fold(0, |len, todo| Todo::read(todo).map(|_| len + 1))?;
            return Some(Self { made: &[], read, len });
        }
        let mut list = BumpVec::with_capacity_in(Cursor::new(todos.as_str()).elements_ahead(), arena);
        for todo in read.elements() {
            list.push(Todo::read(todo)?);
        }
        Some(Self::made(list.into_bump_slice()))
    }

    /// How many things there are.
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Whether there is nothing to do.
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// One after the other.
    pub fn iter(self) -> impl Iterator<Item = Todo<'a>> {
        self.made.iter().copied().chain(self.read.elements().filter_map(Todo::read))
    }

    /// The same for an agent that does not know what was called off: what is not to be done is not in its list.
    pub(crate) fn going_on(self) -> impl Iterator<Item = Todo<'a>> {
        self.iter().filter(|todo| todo.status != TodoStatus::Cancelled)
    }
}

impl<'a> Shell<'a> {
    /// The same with its folder in the command.
    pub(crate) fn with_cd(self, arena: &'a Bump) -> Self {
        let Some(folder) = self.directory else { return self };
        // In single quotes nothing has a meaning; one of those stands behind a backslash, outside of them.
        let quoted = folder.as_escaped().replace('\'', "'\\\\''");
        let command = bumpalo::format!(in arena, "cd '{}' && {}", quoted, self.command.as_escaped());
        Self {
            command: Str::trusted(command.into_bump_str()),
            directory: None,
            ..self
        }
    }

    /// The time limit, for an agent that knows none above `most` milliseconds and none of 0.
    pub(crate) fn limit(&self, most: u64) -> Option<u64> {
        self.timeout.filter(|timeout| *timeout > 0).map(|timeout| timeout.min(most))
    }
}

impl<'a> Question<'a> {
    /// A list of questions, by the names of its text, its head, whether several answers may be chosen, and its options.
    pub(crate) fn list(questions: Raw<'a>, names: [&str; 4], arena: &'a Bump) -> Option<&'a [Self]> {
        let mut list = BumpVec::new_in(arena);
        for question in questions.elements() {
            let [text, head, several, options] = members(question, names)?;
            let mut labels = BumpVec::new_in(arena);
            for option in optional(options, array)?.iter().flat_map(|options| options.elements()) {
                let [label, description] = members(option, ["label", "description"])?;
                labels.push(Choice {
                    label: label?.string()?,
                    description: optional(description, Raw::string)?,
                });
            }
            list.push(Self {
                text: text?.string()?,
                head: optional(head, Raw::string)?,
                several: optional(several, Raw::bool)?,
                options: labels.into_bump_slice(),
            });
        }
        Some(list.into_bump_slice())
    }
}
