//! Who has decided whether a call may run.

use super::{Reason, Unheard};

/// Who has decided about a call, in words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decision {
    /// `accept` or `reject`.
    pub accepts: bool,
    /// `config`, `hook`, `user_temporary`, `user_permanent`, `user_reject`; `None` where nobody has decided anything.
    pub source: Option<&'static str>,
    /// `rule`, `mode`, `hook` …
    pub reason: Option<&'static str>,
    /// Why it did not run: `permission-rule`, `user-rejected`.
    pub unrun: Option<&'static str>,
    /// It is the host that has not permitted it, by its answer or by giving none.
    pub refused_by_host: bool,
}

impl Decision {
    /// It runs.
    pub(crate) const fn accepts(source: &'static str, reason: Option<&'static str>) -> Self {
        Self {
            accepts: true,
            source: Some(source),
            reason,
            unrun: None,
            refused_by_host: false,
        }
    }

    /// It does not run.
    pub(crate) const fn rejects(source: &'static str, reason: Option<&'static str>) -> Self {
        Self {
            accepts: false,
            source: Some(source),
            reason,
            unrun: Some("permission-rule"),
            refused_by_host: false,
        }
    }

    /// By a rule, a mode, or the lack of both.
    pub(crate) const fn of(reason: &Reason, accepts: bool) -> Self {
        if accepts {
            Self::accepts(reason.decider(), reason.kind())
        } else {
            Self::rejects(reason.decider(), reason.kind())
        }
    }

    /// Of a call that may not run because of this.
    pub(crate) const fn unheard(why: &Unheard) -> Self {
        let decision = match why {
            Unheard::Hook(_) => Self::rejects("hook", Some("hook")),
            Unheard::Denied(Some(_)) => Self::rejects("user_reject", None),
            Unheard::Denied(None) | Unheard::Stopped(_) => Self {
                source: None,
                unrun: Some("user-rejected"),
                ..Self::rejects("user_reject", None)
            },
            Unheard::Nobody => Self {
                unrun: Some("user-rejected"),
                ..Self::rejects("config", None)
            },
            Unheard::Invalid | Unheard::Failed(_) | Unheard::Gone | Unheard::TimedOut => Self::rejects("config", Some("other")),
        };
        Self {
            refused_by_host: !matches!(why, Unheard::Hook(_) | Unheard::Nobody),
            ..decision
        }
    }
}
