use std::borrow::Cow;

use super::{Content, Fields};
use crate::codec::Dialect;
use crate::json::{Out, Raw, Str};

/// The model calls a tool.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ToolCall<'a> {
    /// The call's id. Tricode has none: its decoder makes `call_1`, `call_2` …
    pub id: Str<'a>,
    /// The tool's name in the source dialect (Cursor: the key, `readToolCall`, or a `function`'s name).
    pub name: Str<'a>,
    /// What the tool does, if it is known.
    pub kind: ToolKind,
    /// The arguments: a JSON object as a rule, but whatever the source wrote.
    pub input: Raw<'a>,
    /// Other members of the call.
    pub fields: Fields<'a>,
}

impl ToolCall<'_> {
    /// Writes the arguments as an object, which APIs take no call without: what is none, as a model may have said it, stands in one.
    pub(crate) fn write_object(&self, out: &mut Out) {
        let object = self.object(out);
        out.unchecked(Raw::known(&object, self.input.is_checked()));
    }

    /// The arguments as such an object, with a word for the ledger where they are none.
    pub(crate) fn object(&self, out: &Out) -> Cow<'_, str> {
        let input = self.input.as_str();
        if input.starts_with('{') {
            return Cow::Borrowed(input);
        }
        out.renamed(input, "arguments are an object");
        Cow::Owned(format!("{{\"input\":{input}}}"))
    }
}

/// What a tool does, whatever it is called. The names are in `tools/` (and in docs/tools.md).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ToolKind {
    /// Read a file.
    Read,
    /// Write a whole file, new or not.
    Write,
    /// Replace a text in a file.
    Edit,
    /// Several replacements in one file.
    MultiEdit,
    /// Change a cell of a Jupyter notebook.
    NotebookEdit,
    /// Run a shell command.
    Shell,
    /// Search in files.
    Grep,
    /// Find files by name.
    Glob,
    /// List a directory.
    List,
    /// Delete a file or folder.
    Delete,
    /// Make a directory.
    Mkdir,
    /// Keep a list of things to do, or a plan.
    Todo,
    /// Hand a task to a subagent.
    Subagent,
    /// Fetch a page.
    Fetch,
    /// Search the web.
    WebSearch,
    /// A tool of an MCP server.
    Mcp,
    /// Ask the user.
    Ask,
    /// Show a plan and ask to leave plan mode.
    ExitPlan,
    /// Not known.
    #[default]
    Other,
}

/// What came of a tool call.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ToolResult<'a> {
    /// The call's id.
    pub call: Str<'a>,
    /// The tool's name, where the result repeats it (Tricode, Cursor).
    pub name: Option<Str<'a>>,
    /// How it went.
    pub status: ResultStatus,
    /// What the model sees.
    pub content: Content<'a>,
    /// Claude's `is_error` as written; Claude leaves it out for some tools that succeed.
    pub is_error: Option<bool>,
    /// The result in a structured form, where the dialect has one.
    pub detail: Option<Detail<'a>>,
    /// Other members of the result block.
    pub fields: Fields<'a>,
    /// The call that it answers. The assembler puts it in where it knows the call; decoders leave it out, except where the
    /// result's line says its call again (Cursor), which may be the only line that does.
    pub of: Option<ToolCall<'a>>,
}

impl<'a> ToolResult<'a> {
    /// One that says no more than what came of the call.
    pub const fn new(call: Str<'a>, status: ResultStatus, content: Content<'a>) -> Self {
        Self {
            call,
            name: None,
            status,
            content,
            is_error: None,
            detail: None,
            fields: &[],
            of: None,
        }
    }

    /// The tool's name, where the result says of it what its call does: where the call has it, it is not lost.
    pub(crate) fn name_again(&self) -> Option<Str<'a>> {
        self.name.filter(|name| self.of.is_none_or(|call| call.name == *name))
    }
}

/// How a tool call went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResultStatus {
    /// It ran and succeeded.
    Success,
    /// It ran and failed, or could not run.
    Error,
    /// It was not allowed to run.
    Denied,
    /// It was interrupted.
    Canceled,
}

/// A result in the structured form of its dialect.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Detail<'a> {
    /// Whose form it is.
    pub shape: DetailShape,
    /// The value as written, of which only the structure is known to be sound: who takes a part of it checks that.
    pub raw: Raw<'a>,
}

/// Whose structured form a result has: that of a vendor whose descriptor says how it is read ([`crate::vendor::Vendor`]).
pub type DetailShape = Dialect;

/// A tool call is on its way.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ToolProgress<'a> {
    /// The call's id.
    pub call: Str<'a>,
    /// The RFC's `status`: `pending`, `executing`, `confirming`.
    pub status: Option<Str<'a>>,
    /// What there is to see so far (text, or a structured form).
    pub content: Option<Raw<'a>>,
    /// What the user is asked to confirm: the RFC's `confirmation`.
    pub confirmation: Option<Raw<'a>>,
}
