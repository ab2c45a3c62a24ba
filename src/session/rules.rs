//! What a host's command line says about tools, where the agent behind us is another program: questions for permission are answered by
//! it before the host is asked, as the host's own program would.

use crate::adapters::raw::codec::Dialect;
use crate::adapters::raw::json::Raw;
use crate::adapters::raw::launch::{Launch, PermissionMode};

/// Rules for tools, in the host's words.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rules {
    /// Run without a question.
    pub allowed: Vec<String>,
    /// Are refused, whatever else is said.
    pub refused: Vec<String>,
    /// The tools that exist; `None` is all.
    pub only: Option<Vec<String>>,
}

/// What they say about a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Allow,
    /// For this reason.
    Deny(&'static str),
}

impl Rules {
    /// Those of a command line for a program behind us. One of the host's own dialect is told them itself.
    pub fn of(launch: &Launch, behind: Dialect) -> Self {
        if launch.format.dialect == behind {
            return Self::default();
        }
        let list = |rules: &[String]| rules.iter().map(|rule| rule.trim().to_owned()).filter(|rule| !rule.is_empty()).collect();
        Self {
            allowed: list(&launch.allowed_tools),
            refused: list(&launch.disallowed_tools),
            // `default` stands for the program's usual set.
            only: launch
                .tools
                .as_deref()
                .map(list)
                .filter(|tools: &Vec<String>| !tools.iter().any(|tool| tool == "default")),
        }
    }

    /// What they say, `None`: nothing. `tool` is the host's name for it.
    pub(super) fn judge(&self, tool: &str, input: Option<Raw<'_>>, mode: Option<PermissionMode>) -> Option<Verdict> {
        let command = input
            .and_then(|input| input.get("command"))
            .and_then(Raw::string)
            .map(|text| text.unescape());
        let command = command.as_deref();
        let server = tool.starts_with("mcp__");
        if self.refused.iter().any(|rule| matches(rule, tool, command, true)) {
            return Some(Verdict::Deny("the host has ruled this tool out"));
        }
        if !server && self.only.as_ref().is_some_and(|tools| !tools.iter().any(|known| name(known) == tool)) {
            return Some(Verdict::Deny("this tool is not among those that the host has named"));
        }
        if self.allowed.iter().any(|rule| matches(rule, tool, command, false)) {
            return Some(Verdict::Allow);
        }
        (mode == Some(PermissionMode::DontAsk)).then_some(Verdict::Deny("the permission mode is dontAsk: nobody is asked"))
    }
}

/// The tool that a rule is about.
fn name(rule: &str) -> &str {
    rule.split_once('(').map_or(rule, |(name, _)| name)
}

/// Whether a rule is about this call. Of rules with parentheses only those about commands are understood: the command itself, or
/// its beginning with `:*` after it. A rule that forbids is read widely, one that allows narrowly: not a command of several.
fn matches(rule: &str, tool: &str, command: Option<&str>, forbids: bool) -> bool {
    if name(rule) != tool {
        // `mcp__server` and `mcp__server__*` are all tools of a server. Nothing but their names tells whose they are, and that of `mcp__a__b__c` may be `a` or `a__b`.
        let rest = match rule.strip_suffix('*') {
            Some(start) => tool.strip_prefix(start),
            None => tool.strip_prefix(rule).and_then(|rest| rest.strip_prefix("__")),
        };
        let of_server = |rest: &str| forbids || rule == "mcp__*" || !rest.starts_with('_') && !rest.contains("__");
        return rule.starts_with("mcp__") && rest.is_some_and(of_server);
    }
    let Some(inside) = rule[name(rule).len()..].strip_prefix('(').and_then(|inside| inside.strip_suffix(')')) else {
        return true;
    };
    let Some(command) = command.map(str::trim) else { return inside == "*" };
    if !forbids && command.contains(['&', '|', ';', '<', '>', '\n', '`', '$']) {
        return inside == "*";
    }
    match inside.strip_suffix(":*") {
        _ if inside == "*" => true,
        Some(start) if forbids => command.split(['&', '|', ';', '\n']).any(|part| begins(part.trim(), start)),
        Some(start) => begins(command, start),
        None => command == inside,
    }
}

/// Whether a command begins with these words.
fn begins(command: &str, words: &str) -> bool {
    command
        .strip_prefix(words)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with(char::is_whitespace))
}

#[cfg(test)]
mod tests {
    use super::{Rules, Verdict};
    use crate::adapters::raw::json::Raw;
    use crate::adapters::raw::launch::PermissionMode;

    fn judged(rules: &Rules, tool: &str, command: &str, mode: Option<PermissionMode>) -> &'static str {
        let input = format!("{{\"command\":\"{command}\"}}");
        match rules.judge(tool, Some(Raw::trusted(&input)), mode) {
            None => "asked",
            Some(Verdict::Allow) => "allowed",
            Some(Verdict::Deny(_)) => "denied",
        }
    }

    fn list(rules: &[&str]) -> Vec<String> {
        rules.iter().map(|&rule| rule.to_owned()).collect()
    }

    #[test]
    fn a_rule_that_forbids_counts_first() {
        let rules = Rules {
            allowed: list(&["Bash(git status:*)", "Bash(ls)", "Read", "mcp__calc", "mcp__web__get_*", "Write"]),
            refused: list(&["Bash(rm:*)", "Write", "mcp__x", "mcp__y__drop_*"]),
            only: None,
        };
        for (tool, command, then) in [
            ("Bash", "ls", "allowed"),
            ("Bash", "ls -l", "asked"),
            ("Bash", "git status -s", "allowed"),
            ("Bash", "git statusx", "asked"),
            ("Bash", "git status && rm -rf x", "denied"),
            ("Bash", "git status $(curl x)", "asked"),
            ("Bash", "rm x", "denied"),
            ("Bash", "rmdir x", "asked"),
            ("Read", "", "allowed"),
            ("ReadMore", "", "asked"),
            ("Write", "", "denied"),
            ("mcp__calc__add", "", "allowed"),
            ("mcp__calculator__add", "", "asked"),
            ("mcp__calc__or__add", "", "asked"),
            ("mcp__calc___add", "", "asked"),
            ("mcp__web__get_page", "", "allowed"),
            ("mcp__web__get_it__x", "", "asked"),
            ("mcp__x__y__z", "", "denied"),
            ("mcp__y__drop_all", "", "denied"),
        ] {
            assert_eq!(judged(&rules, tool, command, None), then, "{tool} {command}");
        }
    }

    #[test]
    fn what_nobody_allowed_is_denied_where_nobody_is_to_be_asked() {
        let rules = Rules {
            allowed: list(&["Read"]),
            ..Rules::default()
        };
        let mode = Some(PermissionMode::DontAsk);
        assert_eq!(judged(&rules, "Read", "", mode), "allowed");
        assert_eq!(judged(&rules, "Bash", "ls", mode), "denied");
        assert_eq!(judged(&rules, "Bash", "ls", Some(PermissionMode::Ask)), "asked");
    }

    #[test]
    fn only_the_tools_that_exist_are_asked_about() {
        let rules = Rules {
            only: Some(list(&["Read"])),
            ..Rules::default()
        };
        assert_eq!(judged(&rules, "Read", "", None), "asked");
        assert_eq!(judged(&rules, "Bash", "ls", None), "denied");
        assert_eq!(judged(&rules, "mcp__calc__add", "", None), "asked");
    }
}
