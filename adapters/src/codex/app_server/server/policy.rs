//! Two settings of a thread say what may run without a question: when to ask, and what the sandbox allows. The program inside has one, its mode.

use super::words::{Wrong, text};
use crate::codex::program::config::text as text_of;
use crate::conduct::quoted;
use crate::json::{Raw, Shape};
use crate::launch::{Launch, PermissionMode};

/// What becomes of what the program inside asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ask {
    /// The host is asked.
    Host,
    /// Nobody is: it does not run.
    Nobody,
    /// Nobody is: it runs.
    Allow,
}

/// What the sandbox allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sandbox {
    ReadOnly,
    Workspace,
    Full,
}

/// When to ask.
const WORDS: [&str; 4] = ["untrusted", "on-failure", "on-request", "never"];

/// The two settings.
#[derive(Clone, Debug)]
pub(super) struct Policy {
    /// `approvalPolicy` as it was said.
    approval: String,
    sandbox: Sandbox,
}

impl Policy {
    /// What the program was started with.
    pub(super) fn of(launch: &Launch) -> Self {
        let approval = text_of(launch, "approval_policy").filter(|word| WORDS.contains(&word.as_str()));
        Self {
            approval: quoted(approval.as_deref().unwrap_or("on-request")),
            sandbox: match launch.permission {
                Some(PermissionMode::Bypass) => Sandbox::Full,
                Some(PermissionMode::AcceptEdits) => Sandbox::Workspace,
                _ => Sandbox::ReadOnly,
            },
        }
    }

    /// With what the parameters of a request change: a thread's `sandbox` is a word, a turn's `sandboxPolicy` an object. Returns whether any was
    /// named.
    pub(super) fn change(&mut self, params: Raw<'_>) -> Result<bool, Wrong> {
        let approval = params.get("approvalPolicy").filter(|policy| !policy.is_null());
        if let Some(policy) = approval {
            let is_known = policy.string().is_some_and(|word| WORDS.iter().any(|known| word.is(known)));
            let is_granular = || {
                let mut members = policy.members();
                members
                    .next()
                    .is_some_and(|(name, value)| name.is("granular") && value.shape() == Some(Shape::Object))
                    && members.next().is_none()
            };
            if !is_known && !is_granular() {
                return Err(Wrong::params(&format!("approvalPolicy: one of {} is expected", WORDS.join(", "))));
            }
            policy.as_str().clone_into(&mut self.approval);
        }
        let word = match params.get("sandboxPolicy").filter(|policy| !policy.is_null()) {
            Some(policy) => text(policy, "type")?,
            None => text(params, "sandbox")?,
        };
        let named = word.is_some();
        if let Some(word) = word {
            self.sandbox = match &*word {
                "read-only" | "readOnly" => Sandbox::ReadOnly,
                "workspace-write" | "workspaceWrite" => Sandbox::Workspace,
                "danger-full-access" | "dangerFullAccess" | "externalSandbox" => Sandbox::Full,
                other => return Err(Wrong::params(&format!("sandbox: there is none that is called {other:?}"))),
            };
        }
        Ok(named || approval.is_some())
    }

    fn approval(&self) -> &str {
        self.approval.trim_matches('"')
    }

    /// The mode of the program inside.
    pub(super) fn mode(&self) -> PermissionMode {
        match (self.approval(), self.sandbox) {
            ("untrusted", _) => PermissionMode::Ask,
            (_, Sandbox::Full) => PermissionMode::Bypass,
            (_, Sandbox::Workspace) => PermissionMode::AcceptEdits,
            // Where nobody is to be asked, what it asks is refused here: the sandbox may be another one later.
            (_, Sandbox::ReadOnly) => PermissionMode::Ask,
        }
    }

    /// Who answers what it asks all the same.
    pub(super) fn asks(&self) -> Ask {
        match (self.approval(), self.sandbox) {
            ("untrusted", _) => Ask::Host,
            (_, Sandbox::Full) => Ask::Allow,
            ("never", _) => Ask::Nobody,
            _ => Ask::Host,
        }
    }

    /// When to ask, as it was said.
    pub(super) fn approval_word(&self) -> &str {
        &self.approval
    }

    /// What the sandbox allows, as a thread's parameters call it.
    pub(super) const fn sandbox_word(&self) -> &'static str {
        match self.sandbox {
            Sandbox::ReadOnly => "read-only",
            Sandbox::Workspace => "workspace-write",
            Sandbox::Full => "danger-full-access",
        }
    }

    /// As the members of an answer.
    pub(super) fn members(&self) -> String {
        let sandbox = match self.sandbox {
            Sandbox::ReadOnly => "{\"type\":\"readOnly\",\"networkAccess\":false}",
            Sandbox::Workspace => {
                "{\"type\":\"workspaceWrite\",\"writableRoots\":[],\"networkAccess\":false,\"excludeTmpdirEnvVar\":false,\"excludeSlashTmp\":false}"
            }
            Sandbox::Full => "{\"type\":\"dangerFullAccess\"}",
        };
        format!(
            "\"approvalPolicy\":{},\"approvalsReviewer\":\"user\",\"sandbox\":{sandbox}",
            self.approval
        )
    }
}
