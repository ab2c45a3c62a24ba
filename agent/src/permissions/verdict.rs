//! What is to be done with a call, and why.

use std::path::PathBuf;

use serde_json::Value;

use super::rule::{Behavior, Rule, Source};
use agentglot_adapters::raw::codec::Dialect;
use agentglot_adapters::raw::launch::PermissionMode;

/// What is to be done with a call.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// It runs.
    Allow {
        /// Why.
        reason: Reason,
    },
    /// It does not run.
    Deny {
        /// Why.
        reason: Reason,
        /// What the model reads.
        message: String,
    },
    /// Somebody has to be asked; where nobody can be, it is denied with [`Policy::unheard`](super::Policy::unheard).
    Ask {
        /// Why.
        reason: Reason,
        /// What the host may accept together with the call, in its dialect's words.
        suggestions: Option<Value>,
        /// Claude's other members of the question, in order: `blocked_path`, `decision_reason` …
        fields: Vec<(String, Value)>,
    },
}

/// Why a call may run or may not.
#[derive(Clone, Debug, PartialEq)]
pub enum Reason {
    /// A rule says so.
    Rule {
        /// Where it comes from.
        source: Source,
        /// What it does.
        behavior: Behavior,
        /// As settings write it.
        rule: String,
    },
    /// The mode says so.
    Mode(PermissionMode),
    /// Each part of a command may run.
    Parts,
    /// It leads out of the workspace.
    Outside(PathBuf),
    /// It would change what is read when programs start.
    Sensitive(PathBuf, &'static str),
    /// The tool is not among those that exist.
    NotOffered,
    /// The tool is for the user to answer.
    User,
    /// A hook wants somebody to be asked, for this reason.
    Hook(String),
    /// Nothing allows it.
    Nothing,
    /// A command that cannot be told for sure.
    Unclear(String),
    /// A command that may be what a rule denies or asks about.
    Hidden(String),
}

impl Reason {
    /// A word for it, where there is one.
    pub const fn kind(&self) -> Option<&'static str> {
        match self {
            Self::Rule { .. } => Some("rule"),
            Self::Mode(_) => Some("mode"),
            Self::Parts => Some("subcommandResults"),
            Self::Outside(_) => Some("workingDir"),
            Self::Sensitive(..) => Some("safetyCheck"),
            Self::Unclear(_) | Self::Hidden(_) | Self::NotOffered => Some("other"),
            Self::Hook(_) => Some("hook"),
            Self::User | Self::Nothing => None,
        }
    }

    /// Who decided.
    pub const fn decider(&self) -> &'static str {
        match self {
            Self::Rule { source: Source::Session, .. } => "user_temporary",
            _ => "config",
        }
    }
}

impl std::fmt::Display for Reason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Rule { source, behavior, rule } => write!(f, "the rule `{rule}` ({}, {})", behavior.name(), source.name()),
            Self::Mode(mode) => write!(f, "the permission mode is {}", mode.name(Dialect::Agentglot).unwrap_or("default")),
            Self::Parts => write!(f, "every part of the command may run"),
            Self::Outside(path) => write!(f, "{} is outside the workspace", path.display()),
            Self::Sensitive(path, why) => write!(f, "{}: {why}", path.display()),
            Self::NotOffered => write!(f, "the tool is not among those that may be used"),
            Self::User => write!(f, "only the user can answer this"),
            Self::Nothing => write!(f, "nothing allows it"),
            Self::Unclear(why) | Self::Hidden(why) | Self::Hook(why) => write!(f, "{why}"),
        }
    }
}

/// That this rule says so.
pub(super) fn reason(source: Source, behavior: Behavior, rule: &Rule) -> Reason {
    Reason::Rule {
        source,
        behavior,
        rule: rule.text().to_owned(),
    }
}

/// Why a question brought no permission.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unheard {
    /// There is nobody to ask.
    Nobody,
    /// The host has denied it, in these words.
    Denied(Option<String>),
    /// The host has denied it and stops the turn, or the turn was stopped while the question was open.
    Stopped(Option<String>),
    /// The host's answer cannot be understood.
    Invalid,
    /// The host says that it went wrong.
    Failed(String),
    /// The host is gone.
    Gone,
    /// It took too long.
    TimedOut,
    /// A hook has denied it, in these words. The event and the tool name the hook.
    Hook(String),
}

impl Unheard {
    /// The words of whoever has denied it.
    pub fn reason(&self) -> Option<&str> {
        match self {
            Self::Hook(reason) | Self::Denied(Some(reason)) | Self::Stopped(Some(reason)) => Some(reason),
            _ => None,
        }
    }
}
