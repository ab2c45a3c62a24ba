//! The names of tools: one table, which is also the lookup.

use super::Family;
use crate::codec::Dialect;
use crate::event::ToolKind;
use crate::json::Str;

/// The dialects of the columns of [`table`]. The `qwen` RFC has the tools of `qwen-code`.
pub const COLUMNS: [Dialect; 4] = [Dialect::Claude, Dialect::QwenCode, Dialect::Cursor, Dialect::Tricode];

/// For each kind, its names in the dialects of [`COLUMNS`]: the first of each is the one that is written, the others are
/// read as well (older names, and names that mean the same). No name means that the dialect has no such tool.
///
/// Two names mean more than one thing, which only the arguments tell: Cursor's `editToolCall` also writes whole files, and
/// Tricode's `edit_file` also overwrites them (`mode`) and makes several changes (`hunks`).
pub fn table() -> impl Iterator<Item = (ToolKind, [&'static [&'static str]; 4])> {
    TABLE.iter().copied()
}

/// What a tool of a dialect does. Names that begin with `mcp__` are tools of MCP servers everywhere; the names of the
/// canonical events are those of any dialect.
pub fn kind_of(dialect: Dialect, name: Str<'_>) -> ToolKind {
    let plain;
    let name = if name.has_escapes() {
        plain = name.unescape();
        &*plain
    } else {
        name.as_escaped()
    };
    match Family::of(dialect) {
        Some(family) => family_kind(family, name),
        None => any_kind(name),
    }
}

/// [`kind_of`] for a family of dialects.
pub(super) fn kind_in(family: Family, name: Str<'_>) -> ToolKind {
    family_kind(family, &name.unescape())
}

/// The name under which a dialect lists the tool of a kind among those that a session has; `None` where it has none.
pub(super) fn listed(family: Family, kind: ToolKind) -> Option<&'static str> {
    // Claude's init says `Task`; its calls say `Agent`.
    if family == Family::Claude && kind == ToolKind::Subagent {
        return Some("Task");
    }
    written(family, kind)
}

/// The name that a dialect's calls of a kind of tool have; `None` where it has no such tool.
pub(super) fn written(family: Family, kind: ToolKind) -> Option<&'static str> {
    let column = match family {
        Family::Claude => 0,
        Family::Qwen => 1,
        Family::Cursor => 2,
        Family::Tricode => 3,
    };
    let (_, columns) = table().find(|(of, _)| *of == kind)?;
    columns[column].first().copied()
}

/// What a tool does, whoever's it is.
pub(super) fn any_kind(name: &str) -> ToolKind {
    Family::ALL
        .into_iter()
        .map(|family| family_kind(family, name))
        .find(|kind| *kind != ToolKind::Other)
        .unwrap_or_default()
}

/// What a tool does in one family of dialects.
pub(super) fn family_kind(family: Family, name: &str) -> ToolKind {
    if name.starts_with("mcp__") {
        return ToolKind::Mcp;
    }
    match family {
        Family::Claude => claude(name),
        Family::Qwen => qwen(name),
        // Everything that Cursor names itself ends so; the rest are functions.
        Family::Cursor if name.ends_with("ToolCall") => cursor(name),
        Family::Cursor => ToolKind::Other,
        Family::Tricode => tricode(name),
    }
}

macro_rules! names {
    ($($kind:ident: [$($claude:literal),*] [$($qwen:literal),*] [$($cursor:literal),*] [$($tricode:literal),*];)*) => {
        static TABLE: &[(ToolKind, [&[&str]; 4])] = &[
            $((ToolKind::$kind, [&[$($claude),*], &[$($qwen),*], &[$($cursor),*], &[$($tricode),*]]),)*
        ];

        fn claude(name: &str) -> ToolKind {
            match name {
                $($($claude => ToolKind::$kind,)*)*
                _ => ToolKind::Other,
            }
        }

        fn qwen(name: &str) -> ToolKind {
            match name {
                $($($qwen => ToolKind::$kind,)*)*
                _ => ToolKind::Other,
            }
        }

        fn cursor(name: &str) -> ToolKind {
            match name {
                $($($cursor => ToolKind::$kind,)*)*
                _ => ToolKind::Other,
            }
        }

        fn tricode(name: &str) -> ToolKind {
            match name {
                $($($tricode => ToolKind::$kind,)*)*
                _ => ToolKind::Other,
            }
        }
    };
}

// Claude: `sdk-tools.d.ts` and recorded lists of tools; `LS`, `MultiEdit`, `Task` and `TodoWrite` are older.
// Qwen: recorded lists and its own table of renamed tools (`replace`, `search_file_content`, `task`).
// Cursor: the `oneof` of its tool calls; `writeToolCall` is of 2025, the `pi…` ones are its second set of basic tools.
// Tricode: docs/STDIO_API.md and recordings.
names! {
    Read: ["Read"] ["read_file"] ["readToolCall", "piReadToolCall"] ["read_file"];
    Write: ["Write"] ["write_file"] ["writeToolCall", "piWriteToolCall"] ["create_file"];
    Edit: ["Edit"] ["edit", "replace"] ["editToolCall", "piEditToolCall"] ["edit_file"];
    MultiEdit: ["MultiEdit"] [] [] [];
    Shell: ["Bash"] ["run_shell_command"] ["shellToolCall", "piBashToolCall"] ["run_command"];
    Grep: ["Grep"] ["grep_search", "search_file_content"] ["grepToolCall", "piGrepToolCall"] ["search_context"];
    Glob: ["Glob"] ["glob"] ["globToolCall", "piFindToolCall"] [];
    List: ["LS"] ["list_directory"] ["lsToolCall", "piLsToolCall"] ["list_directory"];
    Delete: [] [] ["deleteToolCall"] ["delete_file", "delete_path"];
    Mkdir: [] [] [] ["mkdir"];
    Todo: ["TodoWrite"] ["todo_write"] ["updateTodosToolCall", "readTodosToolCall"] ["plan"];
    Subagent: ["Agent", "Task"] ["agent", "task"] ["taskToolCall"] [];
    Fetch: ["WebFetch"] ["web_fetch"] ["webFetchToolCall", "fetchToolCall"] ["fetch_url"];
    WebSearch: ["WebSearch"] ["web_search"] ["webSearchToolCall"] ["web_search"];
    Mcp: [] [] ["mcpToolCall"] [];
    Ask: ["AskUserQuestion"] ["ask_user_question"] ["askQuestionToolCall"] [];
    ExitPlan: ["ExitPlanMode"] ["exit_plan_mode"] ["createPlanToolCall"] [];
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_of_the_table_is_found_and_no_name_stands_twice() {
        let mut seen = std::collections::HashSet::new();
        for (kind, names) in table() {
            for (column, names) in COLUMNS.into_iter().zip(names) {
                for name in names {
                    assert_eq!(kind_of(column, Str::trusted(name)), kind, "{name}");
                    assert!(seen.insert((column, *name)), "{name} stands twice");
                    assert_ne!(kind_of(Dialect::Agentglot, Str::trusted(name)), ToolKind::Other);
                }
            }
        }
    }

    #[test]
    fn names_are_read_through_their_escapes_and_belong_to_their_dialect() {
        assert_eq!(kind_of(Dialect::Claude, Str::trusted("\\u0052ead")), ToolKind::Read);
        assert_eq!(kind_of(Dialect::Qwen, Str::trusted("read_file")), ToolKind::Read);
        assert_eq!(kind_of(Dialect::Claude, Str::trusted("read_file")), ToolKind::Other);
        assert_eq!(kind_of(Dialect::Tricode, Str::trusted("edit_file")), ToolKind::Edit);
        assert_eq!(kind_of(Dialect::Cursor, Str::trusted("Read")), ToolKind::Other);
        for dialect in Dialect::ALL {
            assert_eq!(kind_of(dialect, Str::trusted("mcp__calc__add")), ToolKind::Mcp);
            assert_eq!(kind_of(dialect, Str::trusted("")), ToolKind::Other);
            assert_eq!(kind_of(dialect, Str::trusted("no_such_tool")), ToolKind::Other);
        }
    }
}
