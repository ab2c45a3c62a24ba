use bumpalo::Bump;
use proptest::prelude::*;

use super::results::{BAD, OK, case, valid};
use crate::codec::Dialect::{Claude, Cursor, QwenCode, Tricode};
use crate::event::{Detail, DetailShape, ResultStatus, ToolResult};
use crate::json::{Raw, Str};
use crate::tools::texts::joined;
use crate::tools::{Translate, output};

fn json() -> impl Strategy<Value = serde_json::Value> {
    let names = prop::sample::select(vec![
        "success",
        "failure",
        "error",
        "rejected",
        "content",
        "file",
        "filePath",
        "type",
        "stdout",
        "stderr",
        "structuredPatch",
        "lines",
        "oldStart",
        "oldLines",
        "newStart",
        "newLines",
        "originalFile",
        "oldString",
        "newString",
        "filenames",
        "newTodos",
        "todos",
        "status",
        "diffString",
        "path",
        "workspaceResults",
        "files",
        "matches",
        "lineNumber",
        "readRange",
        "startLine",
        "kind",
        "file_name",
        "original",
        "modified",
        "diff",
        "plan",
        "references",
        "conversationSteps",
        "assistantMessage",
        "text",
        "directoryTreeRoot",
        "childrenDirs",
        "childrenFiles",
        "absPath",
        "name",
        "exitCode",
        "interleavedOutput",
        "message",
        "afterFullFileContent",
        "beforeFullFileContent",
        "agentId",
        "durationMs",
        "totalLines",
    ]);
    let words = prop::sample::select(vec![
        "text",
        "create",
        "file_diff",
        "todo_list",
        "pending",
        "@@ -1 +1 @@\n-a\n+b",
        "1\ta\n2\t",
        "a\nb\n",
        "",
    ]);
    let leaf = prop_oneof![
        Just(serde_json::Value::Null),
        any::<bool>().prop_map(Into::into),
        any::<i64>().prop_map(Into::into),
        words.prop_map(Into::into)
    ];
    leaf.prop_recursive(5, 48, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Into::into),
            prop::collection::vec((names.clone().prop_map(str::to_owned), inner), 0..8)
                .prop_map(|m| serde_json::Value::Object(m.into_iter().collect())),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]
    #[test]
    fn no_result_makes_it_panic_or_write_bad_json(
        detail in json(), inner in json(), text in "(Exit code [0-9]\n)?([0-9]{1,2}[\t:] ?)?[a-z/:\n→\\{\\}\"0-9\t]{0,30}", which in 0usize..4, wrap in any::<bool>(),
    ) {
        let detail = if wrap { serde_json::json!({ "success": inner }).to_string() } else { detail.to_string() };
        let mut body = String::new();
        Str::escape(&text, &mut body);
        let status = [OK, BAD, ResultStatus::Denied, ResultStatus::Canceled][which];
        for (name, input) in [
            ("Read", r#"{"file_path":"a","offset":2,"limit":3}"#), ("Write", r#"{"file_path":"a","content":"x\ny"}"#),
            ("Edit", r#"{"file_path":"a","old_string":"x","new_string":"y"}"#), ("Bash", r#"{"command":"x"}"#), ("Grep", r#"{"pattern":"x","path":"p","output_mode":"content"}"#),
            ("Glob", r#"{"pattern":"x"}"#), ("TodoWrite", r#"{"todos":[]}"#), ("Agent", r#"{"prompt":"p"}"#), ("LS", r#"{"path":"p"}"#), ("mcp__a__b", "{}"), ("X", "1"),
            ("ExitPlanMode", "{}"),
        ] {
            let source = case(Claude, name, input, status, &body);
            for shape in [DetailShape::Claude, DetailShape::Cursor, DetailShape::Qwen] {
                for from in [Claude, QwenCode, Cursor, Tricode] {
                    let arena = Bump::new();
                    let call = Translate::new(Claude, from).call(&source.call(), &arena).unwrap_or(source.call());
                    let result = ToolResult { detail: Some(Detail { shape, raw: Raw::trusted(&detail) }), ..source.result() };
                    output(Some(&call), &result, &arena);
                    for to in [Claude, QwenCode, Cursor, Tricode] {
                        let tools = Translate::new(from, to);
                        let (answered, made) = tools.result(&call, &result, &arena);
                        if let Some(made) = made {
                            made.detail.inspect(|detail| valid(detail.raw));
                            valid(Raw::trusted(&format!("\"{}\"", joined(made.content, &arena).as_escaped())));
                        }
                        answered.inspect(|call| valid(call.input));
                    }
                }
            }
        }
    }
}
