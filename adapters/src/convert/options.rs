//! What a conversion is to do.

use crate::codec::{Cx, Format};
use crate::event::{Origin, Session, Time, iso};

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
    /// A line longer than this many bytes is left out, and told; so is a document (an array of messages, an export), and what follows it.
    pub max_line: usize,
    /// Prompts that the log does not hold, in the order of the turns, as plain text.
    pub prompts: Vec<String>,
    /// At which byte of its log the input begins, of which the parts before are converted by themselves: made-up ids are those that the
    /// whole log gives.
    pub at: u64,
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
    /// A session that is new to the target: what it is called there, and where it belongs.
    pub anew: Option<Anew>,
}

/// What a session is called, and where it belongs, that is written anew for a program to go on with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Anew {
    /// Its id.
    pub session: String,
    /// The working folder.
    pub cwd: String,
    /// When that was said for which the source has no time, neither its own nor one before it, in ISO 8601.
    pub time: String,
}

impl Anew {
    /// Where the event of another session belongs in this one. `latest`: the last time that was said, in milliseconds since 1970.
    pub(super) fn origin<'a>(&self, origin: Origin<'a>, latest: Option<i64>, cx: &Cx<'a>) -> Origin<'a> {
        let latest = || match latest.map(iso) {
            Some(time) => cx.text(&String::from_utf8_lossy(&time)),
            None => cx.text(&self.time),
        };
        Origin {
            session: Some(cx.text(&self.session)),
            time: origin.time.filter(|time| time.millis().is_some()).or_else(|| Some(Time::Iso(latest()))),
            ..origin
        }
    }

    /// The facts of another session, as they are in this one.
    pub(super) fn facts<'a>(&self, facts: Session<'a>, cx: &Cx<'a>) -> Session<'a> {
        if let Some(cwd) = facts.cwd {
            cx.took(cwd.as_escaped());
        }
        Session {
            cwd: Some(cx.text(&self.cwd)),
            ..facts
        }
    }
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
            at: 0,
            ledger: None,
            old_text: false,
            verbose: false,
            anew: None,
            cd_in_commands: false,
            keep_spelling: false,
        }
    }
}
