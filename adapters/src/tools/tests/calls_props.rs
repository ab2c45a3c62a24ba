use proptest::prelude::*;

use super::calls::{ALL, translated};
use crate::codec::Dialect::{self, Claude, Cursor, QwenCode, Tricode};

/// A random value, often with the members that tools look for.
fn value() -> impl Strategy<Value = serde_json::Value> {
    let names = prop::sample::select(vec![
        "file_path",
        "path",
        "content",
        "old_string",
        "new_string",
        "replace_all",
        "offset",
        "limit",
        "start_line",
        "end_line",
        "command",
        "timeout",
        "description",
        "hunks",
        "op",
        "anchor",
        "type",
        "pattern",
        "mode",
        "edits",
        "todos",
        "status",
        "id",
        "action",
        "tasks",
        "questions",
        "question",
        "prompt",
        "options",
        "label",
        "args",
        "providerIdentifier",
        "toolName",
        "streamContent",
        "strReplace",
        "multiStrReplace",
        "oldText",
        "newText",
        "globPattern",
        "searchTerm",
        "query",
        "url",
        "plan",
        "merge",
        "subagentType",
        "ignore",
        "header",
    ]);
    let words = prop::sample::select(vec![
        "replace",
        "exact",
        "create",
        "overwrite",
        "patch",
        "pending",
        "TODO_STATUS_PENDING",
        "",
        "\"{",
        "é\n\t😀",
    ]);
    let leaf = prop_oneof![
        Just(serde_json::Value::Null),
        any::<bool>().prop_map(Into::into),
        any::<i64>().prop_map(Into::into),
        (-10.0..1e6f64).prop_map(Into::into),
        words.prop_map(Into::into),
        any::<String>().prop_map(Into::into),
    ];
    leaf.prop_recursive(4, 32, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Into::into),
            prop::collection::vec((names.clone().prop_map(str::to_owned), inner), 0..6)
                .prop_map(|m| serde_json::Value::Object(m.into_iter().collect())),
        ]
    })
}

/// The names of every dialect that are not its own families'.
fn names(dialect: Dialect) -> Vec<&'static str> {
    let tools = crate::tools::Tools::of(dialect).unwrap();
    let others = ["mcp__s__t", "mcp__s", "x"];
    tools.names.iter().flat_map(|(_, names)| *names).copied().chain(others).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn no_arguments_make_it_panic_or_write_bad_json(value in value()) {
        let input = value.to_string();
        for from in ALL {
            for name in names(from) {
                for to in ALL {
                    translated(from, to, name, &input);
                }
            }
        }
    }

    #[test]
    fn there_and_back_is_the_same(
        path in "[a-zé/\"\\\\\n]{0,8}", text in any::<String>(), old in any::<String>(), start in 1u64..1_000_000, count in 1u64..10_000,
        seconds in 1u64..=600, windowed in any::<bool>(), timed in any::<bool>(),
    ) {
        let quoted = |s: &str| serde_json::to_string(s).unwrap();
        let window = if windowed { format!(",\"offset\":{start},\"limit\":{count}") } else { String::new() };
        let limit = if timed { format!(",\"timeout\":{seconds}000") } else { String::new() };
        let calls = [
            ("Read", format!("{{\"file_path\":{}{window}}}", quoted(&path)), &ALL[1..]),
            ("Write", format!("{{\"file_path\":{},\"content\":{}}}", quoted(&path), quoted(&text)), &[QwenCode, Tricode]),
            ("Edit", format!("{{\"file_path\":{},\"old_string\":{},\"new_string\":{}}}", quoted(&path), quoted(&format!("x{old}")), quoted(&text)), &[QwenCode, Tricode]),
            ("Bash", format!("{{\"command\":{}{limit}}}", quoted(&text)), &ALL[1..]),
            ("Grep", format!("{{\"pattern\":{},\"path\":{}}}", quoted(&text), quoted(&path)), &ALL[1..]),
            ("Glob", format!("{{\"pattern\":{},\"path\":{}}}", quoted(&text), quoted(&path)), &[QwenCode, Cursor]),
            ("WebSearch", format!("{{\"query\":{}}}", quoted(&text)), &ALL[1..]),
            ("mcp__a__b", format!("{{\"x\":{}}}", quoted(&text)), &[Cursor]),
        ];
        for (name, input, through) in calls {
            for &to in through {
                let there = translated(Claude, to, name, &input).unwrap();
                let (other, args) = there.split_once(' ').unwrap();
                prop_assert_eq!(translated(to, Claude, other, args), Some(format!("{name} {input}")), "through {:?}", to);
            }
        }
    }
}
