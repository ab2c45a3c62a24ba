//! What permissions want to know of a vendor.

use agentglot_adapters::raw::codec::Dialect;
use agentglot_adapters::raw::event::ToolKind;
use agentglot_adapters::raw::launch::PermissionMode;
use serde_json::Value;

use super::{Family, Policy, Reason, Unheard, Width};
use crate::tools::{Access, Spec};

/// A question for permission, besides the call itself: suggestions, and further members.
pub type Question = (Option<Value>, Vec<(String, Value)>);

/// The vendor's side of permissions: how its rules are spelt, what its modes are called, what it says of calls that may not run.
#[derive(Debug)]
pub struct PermissionForm {
    /// What rules call the tools.
    pub names: &'static [(Family, &'static [&'static str])],
    /// How much a name without parentheses means; one with something in them means the whole family.
    pub bare: Width,
    /// Rules about writing are about every change of a file.
    pub writing_is_changing: bool,
    /// The words of a rule are the beginning of a command, though no star says so.
    pub rules_are_beginnings: bool,
    /// A rule that names a command without a star allows what this command runs in turn, as `find` does.
    pub rules_allow_what_is_run: bool,
    /// Whose words for modes stand on lines and in hooks.
    pub modes: Dialect,
    /// The mode that a host means, or what is said of a word that is no mode.
    pub mode_named: fn(&str) -> Result<PermissionMode, String>,
    /// A host may let everything run though the session was not launched so.
    pub may_bypass_later: bool,
    /// Where nobody can be asked, the model is not told of tools that somebody would have to be asked about.
    pub hides_what_nobody_allows: bool,
    /// Subagents are asked about.
    pub asks_about_subagents: bool,
    /// Tools that read say themselves where they may.
    pub reads_anywhere: bool,
    /// What the model reads when the policy itself denies a call.
    pub denied: fn(&Spec, &Access, &Reason) -> String,
    /// What the model reads when a question brought no permission.
    pub unheard: fn(&Policy, &Spec, &Access, &Unheard) -> String,
    /// What a question says besides the call. Without it the host is asked in text, and sees no arguments as such.
    pub question: Option<Asks>,
    /// Questions have a member `blocked_path`, so that the host is told where a path with links leads.
    pub tells_targets: bool,
    /// Where edits are accepted, commands that do nothing but edit files are too.
    pub commands_edit: bool,
    /// What the model reads of a call of a tool that a list or a rule keeps from it. Without it there is no such tool.
    pub withheld: Option<fn(&Spec, &Reason) -> String>,
    /// Permission for arguments of which there are none is permission for those that were asked about.
    pub empty_is_unchanged: bool,
    /// In plan mode the host is asked about what is no reading. Else that is denied.
    pub asks_in_plan: bool,
    /// What the host refuses stands among the denials of an outcome, and not only what a rule or a mode refuses.
    pub counts_refusals: bool,
}

/// Puts the question about a call.
pub type Asks = fn(&Policy, &Spec, &Value, &Access, &Reason) -> Question;

impl PermissionForm {
    /// What most vendors do: names mean one tool each, and nothing is special.
    pub(crate) const fn new(
        names: &'static [(Family, &'static [&'static str])],
        modes: Dialect,
        mode_named: fn(&str) -> Result<PermissionMode, String>,
        denied: fn(&Spec, &Access, &Reason) -> String,
        unheard: fn(&Policy, &Spec, &Access, &Unheard) -> String,
    ) -> Self {
        Self {
            names,
            bare: Width::Tool,
            writing_is_changing: false,
            rules_are_beginnings: false,
            rules_allow_what_is_run: true,
            modes,
            mode_named,
            may_bypass_later: false,
            hides_what_nobody_allows: false,
            asks_about_subagents: false,
            reads_anywhere: false,
            denied,
            unheard,
            question: None,
            tells_targets: false,
            commands_edit: true,
            withheld: None,
            empty_is_unchanged: false,
            asks_in_plan: false,
            counts_refusals: true,
        }
    }

    /// Whether a rule about a family is about tools of this kind. `has_content`: something stands in its parentheses.
    pub fn covers(&self, family: Family, kind: ToolKind, has_content: bool) -> bool {
        let width = if has_content { Width::Family } else { self.bare };
        let changes = matches!(
            kind,
            ToolKind::Edit | ToolKind::MultiEdit | ToolKind::NotebookEdit | ToolKind::Delete | ToolKind::Mkdir
        );
        family.covers(kind, width) || self.writing_is_changing && family == Family::Write && changes
    }

    /// What a mode is called; one without a word in the dialect is called as in the canonical model.
    pub fn mode_name(&self, mode: PermissionMode) -> &'static str {
        mode.name(self.modes).or(mode.name(Dialect::Agentglot)).unwrap_or("default")
    }
}

/// The mode of a dialect's word.
///
/// # Errors
/// What Claude Code says of a word that is no mode.
pub fn mode_named(dialect: Dialect, name: &str) -> Result<PermissionMode, String> {
    PermissionMode::from_name(dialect, name).ok_or_else(|| {
        let mut names: Vec<&str> = PermissionMode::ALL.iter().filter_map(|mode| mode.name(dialect)).collect();
        names.sort_unstable();
        format!("Cannot set permission mode: must be one of {}", names.join(", "))
    })
}

/// A vendor's form, and what holds whoever is played: users keep the settings of several vendors side by side.
#[derive(Debug)]
pub struct Vocabulary {
    /// The form.
    pub form: &'static PermissionForm,
    /// The family of tools that a rule means by a name of any vendor's.
    pub family: fn(&str) -> Option<Family>,
    /// What settings of any vendor lie in: nobody writes there without being asked.
    pub guarded: Guarded,
}

/// What settings lie in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Guarded {
    /// Folders, with those below them that anybody may write.
    pub folders: Vec<(&'static str, &'static [&'static str])>,
    /// Files.
    pub files: Vec<&'static str>,
}
