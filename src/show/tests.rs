//! Views of recordings: read them by eye when they change (`BLESS=1` writes them).

use std::path::Path;

use agentglot_adapters::Source;

use crate::io::Joined;
use crate::stats::{By, Counter, Form, Prices, written};

use super::{Cut, HtmlPage, JsonPage, Look, MarkdownPage, Page, Pick, TextPage, show};

const LOOK: Look = Look {
    colour: false,
    width: None,
    cut: Cut::USUAL,
    thinking: false,
    utc: true,
};

/// Recordings and hand-made logs of each dialect.
const VIEWS: [&str; 40] = [
    "acp/gemini_client_fs.jsonl",
    "acp/zed_plan.jsonl",
    "ag-ui/interrupts.jsonl",
    "ag-ui/subagents.jsonl",
    "anthropic/error.sse",
    "atif/claude_think.harbor.json",
    "claude/cli_agent.out.jsonl",
    "claude/cli_bigout.out.jsonl",
    "claude/cli_deny_default.out.jsonl",
    "claude/cli_e429.out.jsonl",
    "claude/cli_edit.out.jsonl",
    "claude/cli_parallel_partial.out.jsonl",
    "claude/cli_think.out.jsonl",
    "claude/sdk_error_then_next_turn.out.jsonl",
    "claude/stdin_slash_compact.out.jsonl",
    "claude/transcript_agent.jsonl",
    "codex/app_approval_patch_accept.jsonl",
    "codex/multi.out.jsonl",
    "codex/plan.out.jsonl",
    "codex/rollout_mcp.jsonl",
    "codex/sdk_shell_fail.out.jsonl",
    "cursor/read_edit.jsonl",
    "cursor/retry_no_result.jsonl",
    "cursor/task_subagent.jsonl",
    "gemini/chat_toolerr.jsonl",
    "gemini/edit.out.jsonl",
    "gemini/toolerr.out.jsonl",
    "hostile/claude-truncated.jsonl",
    "hostile/mixed-dialects.jsonl",
    "openai/messages.jsonl",
    "opencode/bus_edit.jsonl",
    "opencode/export_parallel.json",
    "opencode/perm_ask.out.jsonl",
    "qwen/two_tools.jsonl",
    "qwen/two_turns.chunks.jsonl",
    "qwen-code/chat_parallel.jsonl",
    "qwen-code/todo_write.out.jsonl",
    "sharegpt/conversations_tools.jsonl",
    "tricode/edit_simple.jsonl",
    "tricode/perm_deny.jsonl",
];

/// Those that are shown as HTML too.
const HTML: [&str; 6] = [
    "claude/cli_agent.out.jsonl",
    "claude/cli_deny_default.out.jsonl",
    "cursor/read_edit.jsonl",
    "gemini/toolerr.out.jsonl",
    "hostile/claude-truncated.jsonl",
    "qwen/two_tools.jsonl",
];

/// Those that are shown as Markdown and as JSON too.
const PAGES: [&str; 4] = [
    "claude/cli_agent.out.jsonl",
    "cursor/read_edit.jsonl",
    "qwen/two_tools.jsonl",
    "tricode/edit_simple.jsonl",
];

#[test]
fn recordings_read_well() {
    let mut wrong = Vec::new();
    for name in VIEWS {
        let log = golden(name);
        kept(name, "txt", &text(&log, LOOK), &mut wrong);
        if cfg!(feature = "colours") && HTML.contains(&name) {
            let page = shown(&log, &Pick::default(), |out| Box::new(HtmlPage::new(out, LOOK)));
            // What stands above is the same on all of them.
            let (_, page) = page.split_once("<main").unwrap();
            kept(name, "html", page, &mut wrong);
        }
        if PAGES.contains(&name) {
            kept(
                name,
                "md",
                &shown(&log, &Pick::default(), |out| Box::new(MarkdownPage::new(out, LOOK))),
                &mut wrong,
            );
            kept(
                name,
                "json",
                &shown(&log, &Pick::default(), |out| Box::new(JsonPage::new(out))),
                &mut wrong,
            );
        }
    }
    assert!(wrong.is_empty(), "views changed (BLESS=1 writes them):\n{}", wrong.join("\n"));
}

/// Some sources count what was thought beside what was written.
#[test]
fn tokens_are_those_that_are_counted() {
    for name in [
        "gemini/chat_parallel.jsonl",
        "gemini/chat_think.jsonl",
        "gemini/chat_maxtok.out.jsonl",
        "codex/rollout_mcp.jsonl",
    ] {
        let log = std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("golden").join(name)).unwrap();
        let mut counter = Counter::new(By::Session, true, Prices::none());
        counter.log(Joined::alone(&*log, Source::Auto, "log"), "log").unwrap();
        let counted = written(&counter, Form::Json, None);
        let total = &serde_json::from_str::<serde_json::Value>(&counted).unwrap()["total"];
        let json = shown(&log, &Pick::default(), |out| Box::new(JsonPage::new(out)));
        let rows = json.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
        let shown: u64 = rows.filter_map(|row| row["output_tokens"].as_u64()).sum();
        assert_eq!(Some(shown), total["output"].as_u64(), "{name}");
    }
}

/// Whatever a turn is made of, what was shown of it is not held.
#[test]
fn what_is_shown_of_a_long_turn_is_let_go() {
    let mut log = String::from(
        r#"{"type":"system","subtype":"init","cwd":"/w","session_id":"s","tools":[],"mcp_servers":[],"model":"m","permissionMode":"default","slash_commands":[],"apiKeySource":"none","claude_code_version":"2.1.0"}"#,
    );
    let usage = r#""usage":{"input_tokens":3,"output_tokens":2}"#;
    for n in 0..300 {
        log.push_str(&format!(
            r#"
{{"type":"user","message":{{"role":"user","content":[{{"type":"text","text":"by the program {n}"}}]}},"isSynthetic":true,"session_id":"s"}}
{{"type":"novel","text":"nobody knows {n}","session_id":"s"}}
{{"type":"assistant","message":{{"id":"m{n}","role":"assistant","content":[{{"type":"tool_use","id":"t{n}","name":"Bash","input":{{"command":"ls {n}"}}}}],{usage}}},"session_id":"s"}}
{{"type":"user","message":{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"t{n}","content":"a{n}.txt"}}]}},"session_id":"s"}}"#
        ));
    }
    log.push('\n');
    let mut turns = Joined::alone(Pieces(log.as_bytes(), 500), Source::Auto, "log");
    let (mut out, mut most) = (Vec::new(), [0; 4]);
    let pick = Pick::default();
    let mut page = TextPage::new(&mut out, LOOK);
    let mut walk = super::Walk::new(&pick);
    while let Some(step) = turns.step() {
        if let Some(turn) = step.unwrap() {
            // The tokens of what was let go count.
            let usage = turn.usage.as_ref().unwrap();
            assert_eq!((usage.input, usage.output), (Some(900), Some(600)));
            walk.turn(turn, &mut page).unwrap();
        } else if let Some(turn) = turns.going_on() {
            walk.going_on(turn, &mut page).unwrap();
            let held = [turn.thread.rounds.len(), turn.thread.prompts.len(), turn.others.len(), turn.asides.len()];
            most = std::array::from_fn(|at| most[at].max(held[at]));
        }
    }
    assert!(most.iter().all(|held| *held < 10), "{most:?}");
    let text = String::from_utf8(out).unwrap();
    for n in 0..300 {
        let places = [
            format!("by the program {n}\n"),
            format!("nobody knows {n}\""),
            format!("Bash ls {n}\n"),
            format!("a{n}.txt\n"),
        ];
        let at: Vec<usize> = places
            .iter()
            .map(|said| text.find(said).unwrap_or_else(|| panic!("no {said:?} in {}", &text[..2000])))
            .collect();
        assert!(at.is_sorted(), "{n}: {at:?}");
    }
}

/// What comes behind a call whose result does not come is shown all the same, and what was shown is not held.
#[test]
fn a_call_without_a_result_holds_nothing_back() {
    let mut log =
        String::from(r#"{"type":"system","subtype":"init","session_id":"s","cwd":"/w","model":"m","tools":[],"claude_code_version":"2.1.0"}"#);
    let call = |n: u32| {
        format!(
            "\n{{\"type\":\"assistant\",\"message\":{{\"id\":\"m{n}\",\"role\":\"assistant\",\"content\":[{{\"type\":\"tool_use\",\"id\":\"t{n}\",\"name\":\"Bash\",\"input\":{{\"command\":\"ls {n}\"}}}}]}},\"session_id\":\"s\"}}"
        )
    };
    let result = |n: u32| {
        format!(
            "\n{{\"type\":\"user\",\"message\":{{\"role\":\"user\",\"content\":[{{\"type\":\"tool_result\",\"tool_use_id\":\"t{n}\",\"content\":\"a{n}.txt\"}}]}},\"session_id\":\"s\"}}"
        )
    };
    log.push_str(&call(0));
    for n in 1..1000 {
        log.push_str(&call(n));
        log.push_str(&result(n));
    }
    log.push_str(&result(0));
    log.push('\n');
    let mut turns = Joined::alone(Pieces(log.as_bytes(), 500), Source::Auto, "log");
    let (mut out, mut most) = (Vec::new(), 0);
    let pick = Pick::default();
    let mut page = TextPage::new(&mut out, LOOK);
    let mut walk = super::Walk::new(&pick);
    while let Some(step) = turns.step() {
        if let Some(turn) = step.unwrap() {
            walk.turn(turn, &mut page).unwrap();
        } else if let Some(turn) = turns.going_on() {
            walk.going_on(turn, &mut page).unwrap();
            most = most.max(turn.thread.rounds.len());
        }
    }
    assert!(most < 300, "{most} replies were held");
    let text = String::from_utf8(out).unwrap();
    let at = |said: &str| text.find(said).unwrap_or_else(|| panic!("no {said:?} in {text}"));
    assert!(at("Bash ls 0  no result\n") < at("Bash ls 1\n") && at(" a999.txt") < at(" a0.txt"));
    // The late one names its tool.
    assert!(text[at("a999.txt")..].contains("Bash"));
}

#[test]
fn what_is_read_at_a_time_changes_nothing() {
    for name in VIEWS {
        let log = golden(name);
        let whole = text(&log, LOOK);
        for size in [1, 7, 100] {
            let mut out = Vec::new();
            show(
                Joined::alone(Pieces(&log, size), Source::Auto, "log"),
                &Pick::default(),
                &mut TextPage::new(&mut out, LOOK),
            )
            .unwrap();
            assert_eq!(String::from_utf8(out).unwrap(), whole, "{name} in pieces of {size}");
        }
    }
}

/// What a turn has said before the outcome of an earlier one came is not shown again as its answer.
#[test]
fn an_answer_that_was_shown_is_not_shown_again() {
    let view = text(&golden("claude/cli_agent_background.out.jsonl"), LOOK);
    let shown = |text: &str| view.lines().filter(|line| line.trim() == text).count();
    assert_eq!((shown("Launched."), shown("It came back.")), (1, 1), "{view}");
}

#[test]
fn nothing_of_a_log_moves_the_cursor() {
    let evil = "\\u001b[2J\\u001b]0;x\\u0007\\u202e\\u009b\\r<script>";
    let log = format!(
        r#"{{"type":"system","subtype":"init","session_id":"s{evil}","cwd":"/{evil}","model":"{evil}","tools":[]}}
{{"type":"user","session_id":"s","message":{{"role":"user","content":"{evil}"}}}}
{{"type":"assistant","session_id":"s","message":{{"id":"m","role":"assistant","content":[{{"type":"text","text":"{evil} `{evil}`\n```{evil}\n{evil}\n```"}},{{"type":"thinking","thinking":"{evil}"}},{{"type":"tool_use","id":"t","name":"{evil}","input":{{"command":"{evil}"}}}},{{"type":"tool_use","id":"u","name":"Bash","input":{{"command":"{evil}"}}}},{{"type":"{evil}"}}]}}}}
{{"type":"user","session_id":"s","message":{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"t","content":"{evil}"}},{{"type":"tool_result","tool_use_id":"u","content":"{evil}","is_error":true}}]}}}}
{{"type":"{evil}","session_id":"s"}}
{evil}
{{"type":"result","subtype":"error_during_execution","is_error":true,"errors":["{evil}"],"session_id":"s"}}
"#
    );
    let look = Look { thinking: true, ..LOOK };
    let pages = [
        text(log.as_bytes(), look),
        shown(log.as_bytes(), &Pick::default(), |out| Box::new(MarkdownPage::new(out, look))),
        shown(log.as_bytes(), &Pick::default(), |out| Box::new(JsonPage::new(out))),
        shown(log.as_bytes(), &Pick::default(), |out| Box::new(HtmlPage::new(out, look))),
        anstream::adapter::strip_str(&text(
            log.as_bytes(),
            Look {
                colour: true,
                width: Some(60),
                ..look
            },
        ))
        .to_string(),
    ];
    for page in pages {
        assert!(page.contains("script"));
        let bad = page.chars().find(|c| *c != '\n' && c.is_control() || *c == '\u{202e}');
        assert_eq!(bad, None, "{page}");
    }
}

/// What is said of a session stands on lines of its own: none of it is read as another line.
#[test]
fn facts_of_a_session_forge_no_line() {
    let log = r##"{"type":"system","subtype":"init","session_id":"s\n# Turn 2","cwd":"/x\n\n# Turn 3","model":"m\n# Turn 4","tools":[],"permissionMode":"d\n# Turn 5","claude_code_version":"2\n# Turn 6"}
"##;
    for page in [
        text(log.as_bytes(), LOOK),
        shown(log.as_bytes(), &Pick::default(), |out| Box::new(MarkdownPage::new(out, LOOK))),
    ] {
        assert!(page.contains("Turn 6") && !page.lines().any(|line| line.starts_with("# Turn")), "{page}");
    }
}

#[test]
fn what_is_asked_for_is_shown() {
    let log = golden("cursor/read_edit.jsonl");
    let with = |pick: Pick| shown(&log, &pick, |out| Box::new(TextPage::new(out, LOOK)));
    let tools = with(Pick {
        tools: true,
        ..Pick::default()
    });
    assert!(
        tools.contains("● Edit") && !tools.contains("Make the greeting") && !tools.contains("✓"),
        "{tools}"
    );
    let errors = with(Pick {
        errors: true,
        ..Pick::default()
    });
    assert!(errors.contains("✗ Read") && !errors.contains("● Edit"), "{errors}");
    let began = 1_788_000_000_000;
    assert!(
        with(Pick {
            since: Some(began - 1),
            ..Pick::default()
        })
        .contains("● Edit")
    );
    assert_eq!(
        with(Pick {
            since: Some(began + 3_600_000),
            ..Pick::default()
        }),
        ""
    );
    assert_eq!(
        with(Pick {
            turn: Some(2),
            ..Pick::default()
        }),
        ""
    );
    let wide = text(
        &log,
        Look {
            colour: true,
            width: Some(40),
            ..LOOK
        },
    );
    let plain = anstream::adapter::strip_str(&wide).to_string();
    assert!(wide.contains('\u{1b}'));
    let wide = plain.lines().find(|line| unicode_width::UnicodeWidthStr::width(*line) > 40);
    assert_eq!(wide, None);
}

/// Gives no more than so many bytes at a time.
struct Pieces<'l>(&'l [u8], usize);

impl std::io::Read for Pieces<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let size = self.1.min(buffer.len());
        std::io::Read::read(&mut self.0, &mut buffer[..size])
    }
}

fn golden(name: &str) -> Vec<u8> {
    std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("golden").join(name)).unwrap()
}

fn text(log: &[u8], look: Look) -> String {
    shown(log, &Pick::default(), |out| Box::new(TextPage::new(out, look)))
}

fn shown(log: &[u8], pick: &Pick, page: impl for<'w> FnOnce(super::Out<'w>) -> Box<dyn Page + 'w>) -> String {
    let mut out = Vec::new();
    show(Joined::alone(log, Source::Auto, "log"), pick, &mut *page(&mut out)).unwrap();
    String::from_utf8(out).unwrap()
}

fn kept(name: &str, ending: &str, view: &str, wrong: &mut Vec<String>) {
    let name = format!("{}.{ending}", name.replace('/', "_"));
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/views").join(&name);
    let before = std::fs::read_to_string(&path).unwrap_or_default();
    if before == view {
        return;
    }
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&path, view).unwrap();
        return;
    }
    wrong.push(format!("{name}:\n{}", similar::TextDiff::from_lines(&before, view).unified_diff()));
}
