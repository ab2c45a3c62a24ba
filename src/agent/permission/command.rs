//! Judging commands for a shell.

use super::rule::{Behavior, Rule};
use super::{Policy, Reason, reason};
use crate::agent::tool::Spec;

impl Policy {
    /// A rule that is about a part of a command line.
    pub(super) fn command_rule(&self, behavior: Behavior, spec: &Spec, line: &str) -> Option<Reason> {
        let pieces: Vec<&str> = line
            .split([';', '&', '|', '\n', '(', ')', '`', '{', '}'])
            .map(str::trim)
            .chain([line.trim()])
            .collect();
        self.rules_for(behavior, spec)
            .find(|(_, rule)| pieces.iter().any(|piece| rule.matches_command(piece)))
            .map(|(source, rule)| reason(source, behavior, rule))
    }

    /// A command that could hide from rules about parts of commands.
    pub(super) fn hides_from_rules(&self, spec: &Spec, line: &str) -> Option<Reason> {
        let ruled = [Behavior::Deny, Behavior::Ask]
            .into_iter()
            .any(|behavior| self.rules_for(behavior, spec).next().is_some());
        (ruled && !is_plain(line)).then(|| Reason::Unclear(UNCLEAR.to_owned()))
    }

    /// Whether each part of a command is covered by a list of rules.
    pub(super) fn command_is_covered(&self, rules: &[&Rule], line: &str) -> bool {
        is_plain(line) && rules.iter().any(|rule| rule.matches_command(line.trim()))
    }

    /// Whether a command changes nothing.
    pub(super) fn command_only_reads(&self, line: &str) -> bool {
        is_plain(line) && matches!(line.trim(), "pwd" | "ls" | "git status")
    }

    /// What allows a command, or why it has to be asked about.
    pub(super) fn may_run(&self, spec: &Spec, line: &str) -> Result<Reason, Reason> {
        if !is_plain(line) {
            return Err(Reason::Unclear(UNCLEAR.to_owned()));
        }
        let rule = self.rules_for(Behavior::Allow, spec).find(|(_, rule)| rule.matches_command(line.trim()));
        if let Some((source, rule)) = rule {
            return Ok(reason(source, Behavior::Allow, rule));
        }
        if self.command_only_reads(line) {
            return Ok(Reason::Parts);
        }
        Err(Reason::Nothing)
    }

    /// What rules would have to say so that a command may run.
    pub(super) fn unallowed(&self, spec: &Spec, line: &str) -> Vec<String> {
        let _ = spec;
        if is_plain(line) { vec![line.trim().to_owned()] } else { Vec::new() }
    }
}

const UNCLEAR: &str = "it cannot be told what this command does";

/// One command of plain words.
fn is_plain(line: &str) -> bool {
    line.chars().all(|c| c.is_ascii_alphanumeric() || " _./:@%+,-".contains(c))
}
