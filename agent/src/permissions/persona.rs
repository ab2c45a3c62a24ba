//! What permissions want to know of a vendor.

use std::fmt;

use agentglot_adapters::raw::event::ToolKind;
use agentglot_adapters::raw::launch::PermissionMode;
use serde_json::Value;

use super::{Family, Policy, Reason, Unheard};
use crate::tools::{Access, Spec};

/// A question for permission, besides the call itself: suggestions, and further members.
pub type Question = (Option<Value>, Vec<(String, Value)>);

/// The vendor's side of permissions: how its rules are spelt, what its modes are called, what it says of calls that may not run.
pub trait PermissionPersona: fmt::Debug + Sync {
    /// The family of tools that a rule means by a name.
    fn family(&self, name: &str) -> Option<Family>;

    /// Whether a rule about a family is about tools of this kind. `has_content`: something stands in its parentheses.
    fn covers(&self, family: Family, kind: ToolKind, has_content: bool) -> bool;

    /// The words of a rule are the beginning of a command, though no star says so.
    fn rules_are_beginnings(&self) -> bool;

    /// A rule that names a command without a star allows what this command runs in turn, as `find` does.
    fn rules_allow_what_is_run(&self) -> bool;

    /// What a mode is called, on lines and for hooks.
    fn mode_name(&self, mode: PermissionMode) -> &'static str;

    /// The mode that a host means.
    ///
    /// # Errors
    /// What is said of a word that is no mode.
    fn mode_named(&self, name: &str) -> Result<PermissionMode, String>;

    /// A host may let everything run though the session was not launched so.
    fn may_bypass_later(&self) -> bool;

    /// Where nobody can be asked, the model is not told of tools that somebody would have to be asked about.
    fn hides_what_nobody_allows(&self) -> bool;

    /// Subagents are asked about.
    fn asks_about_subagents(&self) -> bool;

    /// Tools that read say themselves where they may.
    fn reads_anywhere(&self) -> bool;

    /// Folders and files of any vendor's settings: nobody writes them without being asked.
    fn guarded(&self) -> Guarded;

    /// What the model reads when the policy itself denies a call.
    fn denied(&self, spec: &Spec, access: &Access, reason: &Reason) -> String;

    /// What the model reads when a question brought no permission.
    fn unheard(&self, policy: &Policy, spec: &Spec, access: &Access, why: &Unheard) -> String;

    /// What a question says.
    fn question(&self, policy: &Policy, spec: &Spec, input: &Value, access: &Access, reason: &Reason) -> Question;
}

/// What settings lie in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Guarded {
    /// Folders, with those below them that anybody may write.
    pub folders: Vec<(&'static str, &'static [&'static str])>,
    /// Files.
    pub files: Vec<&'static str>,
}
