//! What a conversion is to do.

use crate::codec::Format;

/// How tools are called in the output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ToolNames {
    /// The target's own names, arguments and results (docs/tools.md).
    #[default]
    Native,
    /// The source's names and arguments, untouched.
    Verbatim,
}

/// What a conversion is to do.
#[derive(Clone, Debug)]
pub struct Options {
    /// What is read.
    pub from: Format,
    /// What is read was found out: where a session in another dialect begins, that one is read. Without it such a session is damage.
    pub follow: bool,
    /// What is written.
    pub to: Format,
    /// How tools are called.
    pub tools: ToolNames,
    /// Deltas are written beside snapshots by dialects that leave them out unless asked.
    pub partial: bool,
    /// The first damaged line, unknown type or unknown field ends the run.
    pub strict: bool,
    /// Missing results are added; within one dialect, missing outcomes too.
    pub repair: bool,
    /// Parts that do not go over are checked in full too, not for their structure only.
    pub validate: bool,
    /// A line longer than this many bytes is left out, and told.
    pub max_line: usize,
    /// Prompts that the log does not hold, in the order of the turns, as plain text.
    pub prompts: Vec<String>,
    /// Keep a ledger; the input is called this in it.
    pub ledger: Option<String>,
    /// The older of two styles, where a dialect has one (Cursor's text).
    pub old_text: bool,
    /// The folder in which a command runs goes into the command (`cd FOLDER && …`), where the target has no other place for it.
    pub cd_in_commands: bool,
    /// Where events are stored: lines of which the events alone would not give back each byte are kept beside them.
    pub keep_spelling: bool,
    /// All messages instead of the outcome alone, where a `json` format knows both (Claude).
    pub verbose: bool,
}

impl Options {
    /// The default length limit of a line: 256 MiB.
    pub const MAX_LINE: usize = 256 << 20;

    /// From one format to another, everything else as it is by default.
    pub const fn new(from: Format, to: Format) -> Self {
        Self {
            from,
            follow: false,
            to,
            tools: ToolNames::Native,
            partial: false,
            strict: false,
            repair: false,
            validate: false,
            max_line: Self::MAX_LINE,
            prompts: Vec::new(),
            ledger: None,
            old_text: false,
            verbose: false,
            cd_in_commands: false,
            keep_spelling: false,
        }
    }
}
