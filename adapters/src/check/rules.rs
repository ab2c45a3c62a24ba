//! The rules by name.

use std::fmt;
use std::str::FromStr;

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// Worth knowing; nothing is wrong.
    Note,
    /// Odd: a reader may stumble, or something is lost.
    Warning,
    /// Wrong: the dialect's programs never write this.
    Error,
}

impl Level {
    /// Its name on the command line and in findings.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A name that is no level.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is no level; there are error, warning and note")]
pub struct UnknownLevel(pub String);

impl FromStr for Level {
    type Err = UnknownLevel;

    fn from_str(text: &str) -> Result<Self, UnknownLevel> {
        [Self::Error, Self::Warning, Self::Note]
            .into_iter()
            .find(|level| level.as_str() == text)
            .ok_or_else(|| UnknownLevel(text.to_owned()))
    }
}

macro_rules! rules {
    ($($Rule:ident $name:literal $level:ident $about:literal,)+) => {
        /// What a log is held against. `docs/check.md` has an entry for each.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum Rule {
            $(#[doc = $about] $Rule,)+
        }

        impl Rule {
            /// Every rule.
            pub const ALL: [Self; [$($name),+].len()] = [$(Self::$Rule),+];

            /// Its name, which stays as it is.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$Rule => $name,)+
                }
            }

            /// How bad it is to break it. What the circumstances excuse is less bad; a finding says its own level.
            pub const fn level(self) -> Level {
                match self {
                    $(Self::$Rule => Level::$level,)+
                }
            }

            /// What breaks it, in a few words.
            pub const fn about(self) -> &'static str {
                match self {
                    $(Self::$Rule => $about,)+
                }
            }
        }
    };
}

rules! {
    DamagedLine "damaged-line" Error "A line, or a part of one, that cannot be read.",
    Schema "schema" Error "A line that does not fit the schema of its kind.",
    UnknownType "unknown-type" Warning "A line of a type that the dialect does not know.",
    UnknownField "unknown-field" Note "A member that the dialect does not know.",
    Noise "noise" Note "A line that is no JSON.",
    ForeignSession "foreign-session" Error "A session in another dialect than the one that was named.",
    NextDialect "next-dialect" Note "The log goes on in another dialect.",
    SessionChanges "session-changes" Warning "The session's id changes within a turn.",
    NextSession "next-session" Note "Another session begins.",
    MixedSessions "mixed-sessions" Warning "A session goes on behind lines of another that broke into its turn.",
    MissingInit "missing-init" Error "A turn, or a session, without the line that says its facts.",
    MissingOutcome "missing-outcome" Error "A turn that never ends.",
    SecondOutcome "second-outcome" Error "A second outcome for one turn.",
    LineAfterOutcome "line-after-outcome" Error "A part of a turn behind its outcome.",
    ResultWithoutCall "result-without-call" Error "A result of a call that nobody made.",
    ResultBeforeCall "result-before-call" Error "A result that stands before its call.",
    SecondResult "second-result" Error "A second result of one call.",
    CallWithoutResult "call-without-result" Error "A call without a result.",
    DuplicateCallId "duplicate-call-id" Error "Two calls with one id.",
    UnknownParent "unknown-parent" Error "A subagent of a call that nobody made.",
    DuplicateUuid "duplicate-uuid" Error "Two lines with one id.",
    MissingUuid "missing-uuid" Warning "A line of a stored conversation without an id.",
    BrokenChain "broken-chain" Warning "A line of a stored conversation that goes on from none before it.",
    OtherBranch "other-branch" Warning "A prompt or a reply that goes back behind what was said since.",
    Sidechain "sidechain" Warning "A line of a subagent where a session is stored.",
    MessageNotStarted "message-not-started" Error "Blocks of a reply whose start is missing.",
    MessageNotStopped "message-not-stopped" Error "A reply in pieces whose stop is missing.",
    BlockNotStarted "block-not-started" Error "A piece, or the stop, of a block that is not open.",
    BlockStartedTwice "block-started-twice" Error "A second start of one block.",
    BlockOutOfOrder "block-out-of-order" Error "A block whose index is not the next one.",
    BlockNotStopped "block-not-stopped" Error "A block whose stop is missing.",
    DeltasDiffer "deltas-differ" Error "A whole block that is not what its pieces said.",
    MessageIdDiffers "message-id-differs" Error "A whole reply with another id than its pieces.",
    InvalidPartialJson "invalid-partial-json" Error "Pieces of a call's arguments that are no JSON when put together.",
    InvalidUsage "invalid-usage" Error "A number of tokens that is negative, or no whole number.",
    TimeRunsBack "time-runs-back" Note "A line that is older than the one before.",
}

impl Rule {
    /// Whether it may be broken only because a line of the turn could not be read.
    pub(super) const fn follows_from_damage(self) -> bool {
        !matches!(
            self,
            Self::DamagedLine | Self::Schema | Self::ForeignSession | Self::DuplicateUuid | Self::InvalidUsage | Self::SecondOutcome
        )
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A name that is no rule.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is no rule")]
pub struct UnknownRule(pub String);

impl FromStr for Rule {
    type Err = UnknownRule;

    fn from_str(text: &str) -> Result<Self, UnknownRule> {
        let found = Self::ALL.into_iter().find(|rule| rule.name() == text);
        found.ok_or_else(|| UnknownRule(text.to_owned()))
    }
}
