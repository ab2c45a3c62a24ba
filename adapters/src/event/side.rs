use crate::json::{Raw, Str};

/// The outcome of a slash or `@` command: the RFC's `result/command`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CommandResult<'a> {
    /// The command: `{kind,path,args,references?}`.
    pub command: Option<Raw<'a>>,
    /// What came of it, by `type`: handled, message, dialog, tool, submit_prompt, load_history, quit, quit_confirmation,
    /// confirm_shell_commands, confirm_action.
    pub result: Option<Raw<'a>>,
}

/// Suggestions while the user types: the RFC's `result/command_hint`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct HintResult<'a> {
    /// `slash` or `at`.
    pub trigger: Option<Str<'a>>,
    /// `ok`, `loading` or `error`.
    pub status: Option<Str<'a>>,
    /// `[{label,value,description?,matchedIndex?}]`.
    pub suggestions: Option<Raw<'a>>,
    /// `{is_perfect_match}`.
    pub metadata: Option<Raw<'a>>,
    /// For `error`: what went wrong.
    pub message: Option<Str<'a>>,
}

/// A sign of life: the RFC's `result/heartbeat`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Heartbeat<'a> {
    /// `ok`.
    pub status: Option<Str<'a>>,
    /// Seconds since 1970.
    pub ts: Option<Raw<'a>>,
}

/// The answer to a cancel: the RFC's `result/cancel`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CancelResult<'a> {
    /// `ok` or `noop`.
    pub status: Option<Str<'a>>,
    /// A text for people.
    pub message: Option<Str<'a>>,
}

/// Output for a terminal. Offsets are code points of the text; the dialect's page says which other units are read.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Terminal<'a> {
    /// The text that is shown (the `content` beside the annotation), if any.
    pub text: Option<Str<'a>>,
    /// `stdout` or `stderr`.
    pub channel: Option<Str<'a>>,
    /// `assistant`, `tool`, `console` or `system`.
    pub source: Option<Str<'a>>,
    /// Styled ranges: `[{start_index,end_index,style}]`.
    pub spans: Option<Raw<'a>>,
    /// Escape sequences and where they stand: `[{offset,sequence}]`.
    pub ansi: Option<Raw<'a>>,
    /// `log`, `warn`, `error`, `info` or `debug`, with source `console`.
    pub level: Option<Str<'a>>,
    /// The exit code, with source `system` at the end of the process.
    pub exit_code: Option<Raw<'a>>,
    /// A raw escape string on its own: `x-qwen-ansi`.
    pub raw_ansi: Option<Str<'a>>,
}
