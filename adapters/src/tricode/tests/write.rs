use proptest::prelude::*;

use std::rc::Rc;

use crate::codec::{Dialect, Encode, Style};
use crate::event::{
    Block, Content, Event, Fatal, InputKind, Kind, Limit, Media, Notice, Origin, Outcome, OutcomeKind, Place, Prompt, PromptSource, Reply,
    ResultStatus, RoundEnd, RoundStart, Session, Thinking, ToolCall, ToolKind, ToolResult, Topic,
};
use crate::json::{Out, Raw, Str};
use crate::trace::Trace;
use crate::tricode::Encoder;

const S: fn(&'static str) -> Str<'static> = Str::trusted;

fn style(native_tools: bool) -> Style {
    Style {
        native_tools,
        ..Style::new(Dialect::Tricode.modes()[0], Dialect::Claude)
    }
}

/// What comes of the events, given as the assembler gives them.
fn written(native: bool, session: &str, kinds: &[Kind<'_>]) -> String {
    let mut encoder = Encoder::new(style(native));
    let mut out = Out::default();
    for &kind in kinds {
        let origin = Origin {
            session: Some(Str::trusted(session)).filter(|s| !s.is_empty()),
            ..Origin::default()
        };
        encoder.event(&Event::new(origin, kind), &mut out);
    }
    encoder.finish(&mut out);
    String::from_utf8(out.written().to_vec()).unwrap()
}

fn keep<T>(value: T) -> &'static T {
    Box::leak(Box::new(value))
}

fn init() -> Kind<'static> {
    Kind::Session(keep(Session {
        opens_turn: true,
        ..Session::default()
    }))
}

const fn round() -> Kind<'static> {
    Kind::RoundStart(&RoundStart {
        id: None,
        model: None,
        usage: None,
        number: None,
    })
}

fn reply(blocks: Vec<Block<'static>>) -> Kind<'static> {
    Kind::Reply(keep(Reply {
        blocks: Vec::leak(blocks),
        ..Reply::default()
    }))
}

fn text(text: &'static str) -> Block<'static> {
    Block::Text { text: S(text), fields: &[] }
}

fn call(id: &'static str, name: &'static str, input: &'static str) -> ToolCall<'static> {
    let kind = if name == "TodoWrite" { ToolKind::Todo } else { ToolKind::Other };
    ToolCall {
        id: S(id),
        name: S(name),
        kind,
        input: Raw::trusted(input),
        fields: &[],
    }
}

fn result(of: ToolCall<'static>, status: ResultStatus, content: Content<'static>) -> Kind<'static> {
    let result = ToolResult {
        of: Some(of),
        ..ToolResult::new(of.id, status, content)
    };
    Kind::ToolResult(keep(result))
}

fn outcome(outcome: Outcome<'static>) -> Kind<'static> {
    Kind::Outcome(keep(outcome))
}

fn success(text: Option<&'static str>) -> Kind<'static> {
    outcome(Outcome {
        text: text.map(S),
        ..Outcome::new(OutcomeKind::Success)
    })
}

fn failed(kind: OutcomeKind, error: Option<&'static str>) -> Kind<'static> {
    outcome(Outcome {
        error: error.map(S),
        ..Outcome::new(kind)
    })
}

const SYSTEM: &str = "{\"type\": \"system\", \"message\": \"Session ID: abcdef01\"}\n";
const ROUND: &str = "{\"type\": \"round\", \"number\": 1}\n";
const ID: &str = "ABCDEF01-2345";

#[test]
fn calls_stand_before_their_results_and_only_the_last_text_goes_over() {
    let (x, y) = (call("t1", "X", "{\"a\":[1.50,\"\\u00e9\"]}"), call("t2", "Y", "{}"));
    let media = Block::Media(Media {
        kind: S("image"),
        raw: Raw::trusted("{\"type\":\"image\"}"),
    });
    let several = Content::Blocks(Vec::leak(vec![text("a\\/"), media, text("b\\n")]));
    let log = [
        init(),
        Kind::Prompt(&Prompt {
            content: Content::Text(S("do it")),
            source: PromptSource::Echo,
        }),
        round(),
        reply(vec![
            Block::Thinking(Thinking {
                text: S("hm"),
                ..Thinking::default()
            }),
            text("Let me see."),
            Block::Call(x),
            Block::Call(y),
        ]),
        Kind::RoundEnd(&RoundEnd::PLAIN),
        result(y, ResultStatus::Error, Content::Text(S("no"))),
        result(x, ResultStatus::Success, several),
        round(),
        reply(vec![text("Do"), text("ne.")]),
        success(None),
    ];
    let wanted = concat!(
        // In the order of the calls, not in that of their results.
        "{\"type\": \"tool_call\", \"name\": \"X\", \"arguments\": {\"a\": [1.5, \"é\"]}, \"formatted\": \"X({'a': [1.5, 'é']})\"}\n",
        "{\"type\": \"tool_result\", \"name\": \"X\", \"success\": true, \"result\": \"a/\\nb\\n\", \"formatted\": \"[OK] a/ b \"}\n",
        "{\"type\": \"tool_call\", \"name\": \"Y\", \"arguments\": {}, \"formatted\": \"Y({})\"}\n",
        "{\"type\": \"tool_result\", \"name\": \"Y\", \"success\": false, \"result\": \"no\", \"formatted\": \"[FAIL] no\"}\n",
        "{\"type\": \"round\", \"number\": 2}\n",
        "{\"type\": \"final\", \"content\": \"Done.\"}\n",
    );
    assert_eq!(written(false, ID, &log), format!("{SYSTEM}{ROUND}{wanted}"));
}

#[test]
fn later_turns_resume_the_session_and_count_their_rounds_anew() {
    let log = [
        init(),
        round(),
        round(),
        success(Some("a")),
        round(),
        success(Some("")),
        init(),
        failed(OutcomeKind::Cancelled, Some("stop\\nit")),
    ];
    let wanted = concat!(
        "{\"type\": \"round\", \"number\": 2}\n",
        "{\"type\": \"final\", \"content\": \"a\"}\n",
        "{\"type\": \"system\", \"message\": \"Resumed session abcdef01\"}\n",
        "{\"type\": \"round\", \"number\": 1}\n",
        "{\"type\": \"final\", \"content\": \"No response generated\"}\n",
        "{\"type\": \"system\", \"message\": \"Resumed session abcdef01\"}\n",
        "❌ Agent terminated: stop it\n",
    );
    assert_eq!(written(false, ID, &log), format!("{SYSTEM}{ROUND}{wanted}"));
}

#[test]
fn failures_are_one_plain_line() {
    let line = |kind, error| {
        let log = written(false, ID, &[init(), round(), failed(kind, error)]);
        log.strip_prefix(&format!("{SYSTEM}{ROUND}")).unwrap().to_owned()
    };
    assert_eq!(
        line(OutcomeKind::Failed(Place::Model), Some("a \\\"b\\\"\\r\\nc")),
        "OpenAI API error: a \"b\"  c\n"
    );
    assert_eq!(
        line(OutcomeKind::Failed(Place::Model), Some("OpenAI API error: x")),
        "OpenAI API error: x\n"
    );
    assert_eq!(line(OutcomeKind::Failed(Place::Backend), Some("x")), "Error: x\n");
    assert_eq!(
        line(OutcomeKind::Limit(Limit::Turns), None),
        "OpenAI API error: the limit of rounds was reached\n"
    );
    assert_eq!(line(OutcomeKind::Cancelled, Some("❌ Agent terminated: x")), "❌ Agent terminated: x\n");
    // Nothing had begun.
    assert_eq!(
        written(false, ID, &[failed(OutcomeKind::Failed(Place::Backend), Some("no key"))]),
        "Error: no key\n"
    );
    let fatal = Kind::Fatal(keep(Fatal {
        message: S("boom"),
        ..Fatal::default()
    }));
    let after = failed(OutcomeKind::Failed(Place::Protocol), Some("the log ends"));
    assert_eq!(written(false, ID, &[init(), fatal, after]), format!("{SYSTEM}OpenAI API error: boom\n"));
}

#[test]
fn a_call_without_a_result_stands_at_the_end() {
    let x = call("t1", "run_command", "{\"command\":\"ls\"}");
    let log = [
        init(),
        round(),
        reply(vec![Block::Call(x)]),
        failed(OutcomeKind::Failed(Place::Protocol), Some("cut")),
    ];
    let wanted = "{\"type\": \"tool_call\", \"name\": \"run_command\", \"arguments\": {\"command\": \"ls\"}, \"formatted\": \"RUN(ls)\"}\nOpenAI API error: cut\n";
    assert_eq!(written(false, ID, &log), format!("{SYSTEM}{ROUND}{wanted}"));
}

#[test]
fn a_reply_that_was_given_up_is_not_said_twice() {
    let given_up = Kind::RoundEnd(&RoundEnd {
        abandoned_from: Some(0),
        ..RoundEnd::PLAIN
    });
    let log = [
        init(),
        round(),
        reply(vec![text("a")]),
        Kind::RoundEnd(&RoundEnd::PLAIN),
        round(),
        reply(vec![text("b")]),
        given_up,
        round(),
        reply(vec![text("bc")]),
        success(None),
    ];
    assert!(written(false, ID, &log).ends_with("{\"type\": \"final\", \"content\": \"abc\"}\n"));
}

#[test]
fn denied_results_say_so_with_native_tools() {
    let x = call("t1", "mkdir", "{}");
    let log = |text| {
        [
            init(),
            reply(vec![Block::Call(x)]),
            result(x, ResultStatus::Denied, Content::Text(S(text))),
            success(Some("ok")),
        ]
    };
    assert!(written(true, ID, &log("no")).contains("\"success\": false, \"result\": \"Denied: no\", \"formatted\": \"[FAIL] Denied: no\"}"));
    assert!(written(true, ID, &log("Denied: no")).contains("\"result\": \"Denied: no\""));
    assert!(written(false, ID, &log("no")).contains("\"result\": \"no\""));
}

#[test]
fn lists_of_things_to_do_become_plans() {
    let todo = |id, input| call(id, "TodoWrite", input);
    let calls = [
        todo(
            "1",
            r#"{"todos":[{"content":"A","status":"in_progress","activeForm":"a"},{"content":"\u00df\"","status":"pending"}]}"#,
        ),
        todo(
            "2",
            r#"{"todos":[{"content":"A","status":"completed"},{"content":"ß\"","status":"in_progress"}]}"#,
        ),
        todo(
            "3",
            r#"{"todos":[{"content":"A","status":"completed"},{"content":"ß\"","status":"in_progress"}]}"#,
        ),
        todo("4", r#"{"todos":[{"content":"C","status":"pending"}]}"#),
        todo("5", r#"{"no":"list"}"#),
    ];
    let mut log = vec![init()];
    for (at, call) in calls.into_iter().enumerate() {
        log.push(reply(vec![Block::Call(call)]));
        let status = if at == 3 { ResultStatus::Error } else { ResultStatus::Success };
        log.push(result(call, status, Content::Text(S("Todos have been modified"))));
    }
    log.push(success(Some("ok")));
    let all = written(true, ID, &log);
    let lines: Vec<&str> = all.lines().skip(1).collect();
    let pair = |call: &str, action: &str, shown: &str| {
        [
            format!("{{\"type\": \"tool_call\", \"name\": \"plan\", \"arguments\": {{{call}}}, \"formatted\": \"PLAN {action}\"}}"),
            format!("{{\"type\": \"tool_result\", \"name\": \"plan\", \"success\": true, \"result\": \"{shown}\", \"formatted\": \"{shown}\"}}"),
        ]
    };
    let red_a_red = "↳ - \\u001b[31mA\\u001b[0m\\n  - \\u001b[31mß\\\"\\u001b[0m";
    let wanted = [
        pair("\"action\": \"create\", \"tasks\": [\"A\", \"ß\\\"\"]", "CREATE", red_a_red),
        pair(
            "\"action\": \"update\", \"task_id\": 1, \"status\": \"in_progress\"",
            "UPDATE",
            &red_a_red.replacen("31", "33", 1),
        ),
        pair(
            "\"action\": \"update\", \"task_id\": 1, \"status\": \"completed\"",
            "UPDATE",
            &red_a_red.replacen("31", "32", 1),
        ),
        pair(
            "\"action\": \"update\", \"task_id\": 2, \"status\": \"in_progress\"",
            "UPDATE",
            &red_a_red.replacen("31", "32", 1).replacen("31", "33", 1),
        ),
        pair(
            "\"action\": \"check\"",
            "CHECK",
            &red_a_red.replacen("31", "32", 1).replacen("31", "33", 1),
        ),
    ];
    assert_eq!(lines[..10], wanted.concat());
    assert!(lines[10].contains("\"tasks\": [\"C\"]") && lines[11].contains("\"success\": false, \"result\": \"Todos have been modified\""));
    assert!(
        lines[12].contains("\"name\": \"TodoWrite\"") && lines[13].contains("\"name\": \"TodoWrite\""),
        "no list, no plan"
    );
    // A plan shows all of itself with each change.
    let many = |count: usize| {
        String::leak(format!(
            "{{\"todos\":[{}]}}",
            vec![r#"{"content":"A","status":"completed"}"#; count].join(",")
        ))
    };
    for (input, name) in [(many(512), "plan"), (many(513), "TodoWrite")] {
        let calls = [init(), reply(vec![Block::Call(todo("6", input))])];
        assert!(written(true, ID, &calls).contains(&format!("\"name\": \"{name}\"")), "{name}");
    }
    // With verbatim tools the calls go as they are.
    assert_eq!(written(false, ID, &log).matches("\"name\": \"TodoWrite\"").count(), 10);
}

#[test]
fn a_merged_list_changes_the_tasks_it_names() {
    let calls = [
        call(
            "1",
            "TodoWrite",
            r#"{"todos":[{"id":"x","content":"A","status":"TODO_STATUS_PENDING"},{"id":"y","content":"B","status":"TODO_STATUS_PENDING"}],"merge":false}"#,
        ),
        call(
            "2",
            "TodoWrite",
            r#"{"todos":[{"id":"y","status":"TODO_STATUS_CANCELLED"}],"merge":true}"#,
        ),
    ];
    let log: Vec<_> = [init()]
        .into_iter()
        .chain(
            calls
                .into_iter()
                .flat_map(|c| [reply(vec![Block::Call(c)]), result(c, ResultStatus::Success, Content::Text(S("")))]),
        )
        .collect();
    let all = written(true, ID, &log);
    let last = all.lines().last().unwrap();
    assert!(
        last.contains("\"result\": \"↳ - \\u001b[31mA\\u001b[0m\""),
        "what was called off is in no plan: {last}"
    );
    assert!(!all.contains("cancelled"), "{all}");
}

proptest! {
    /// Whatever the order of results, and whichever are missing, calls stand in their own order, each before its result.
    #[test]
    fn calls_stand_in_the_order_of_the_reply(order in Just((0..6_usize).collect::<Vec<_>>()).prop_shuffle(), given in 0..=6_usize, lists in any::<[bool; 6]>()) {
        let ids = ["c0", "c1", "c2", "c3", "c4", "c5"];
        let list = r#"{"todos":[{"content":"a","status":"pending","activeForm":"a"}]}"#;
        let calls: Vec<_> = (0..6).map(|n| if lists[n] { call(ids[n], "TodoWrite", list) } else { call(ids[n], "T", "{}") }).collect();
        let mut log = vec![init(), round(), reply(calls.iter().map(|call| Block::Call(*call)).collect())];
        log.extend(order[..given].iter().map(|&n| result(calls[n], ResultStatus::Success, Content::Text(S(ids[n])))));
        log.extend([round(), reply(vec![text("end")]), success(None)]);
        let all = written(true, ID, &log);
        let told: Vec<(bool, bool)> = all
            .lines()
            .filter(|line| line.contains("\"type\": \"tool_"))
            .map(|line| (line.contains("\"tool_call\""), line.contains("\"name\": \"plan\"")))
            .collect();
        let wanted: Vec<(bool, bool)> = (0..6)
            .flat_map(|n| [Some((true, lists[n])), order[..given].contains(&n).then_some((false, lists[n]))])
            .flatten()
            .collect();
        prop_assert_eq!(told, wanted, "{}", all);
    }
}

#[test]
fn reminders_go_over_and_other_notices_do_not() {
    let notice = |topic| {
        Kind::Notice(keep(Notice {
            name: S("n"),
            topic,
            message: Some(S("m")),
            data: None,
        }))
    };
    assert_eq!(written(false, "", &[notice(Topic::Retry), Kind::Noise("x")]), "");
    let made_up = crate::ids::short("");
    let wanted = format!("{{\"type\": \"system\", \"message\": \"Session ID: {made_up}\"}}\n{{\"type\": \"reminder\", \"message\": \"m\"}}\n");
    assert_eq!(written(false, "", &[notice(Topic::Reminder)]), wanted);
}

#[test]
fn the_ledger_is_told_what_is_made_up_and_what_has_no_place() {
    let findings = |kinds: &[Kind<'_>], input: bool| {
        let trace = Rc::new(Trace::default());
        let mut out = Out::new(Some(trace.clone()));
        let mut encoder = Encoder::new(style(false));
        let line = "{\"text\":\"hello\"}";
        trace.begin(line);
        for &kind in kinds {
            encoder.event(&Event::new(Origin::default(), kind), &mut out);
        }
        if input {
            let prompt = Prompt {
                content: Content::Text(Str::EMPTY),
                source: PromptSource::Host,
            };
            encoder.input(
                &crate::event::Input {
                    origin: Origin::default(),
                    kind: InputKind::Prompt(&prompt),
                    fields: &[],
                },
                &mut out,
            );
        }
        let found = trace.settle(line, !out.is_empty(), "tricode");
        found
            .into_iter()
            .map(|f| format!("{} {} {}", f.fate.as_str(), f.pointer, f.note))
            .collect::<Vec<_>>()
    };
    let prompt = "dropped  no place in tricode: it takes its prompt from the command line and does not print it";
    assert_eq!(findings(&[], true), [prompt]);
    let found = findings(
        &[reply(vec![text("beside")]), reply(vec![Block::Call(call("1", "X", "{\"n\":1e400}"))])],
        false,
    );
    assert!(found.contains(&"invented /message the source says no session id".to_owned()), "{found:?}");
    assert!(
        found
            .iter()
            .any(|f| f.starts_with("dropped  no place in tricode: of a turn's texts only the last has one")),
        "{found:?}"
    );
    assert!(
        found.contains(&"invented /formatted worked out from the name and the arguments".to_owned()),
        "{found:?}"
    );
    assert!(
        found.contains(&"renamed  a number beyond Python's floats keeps its digits".to_owned()),
        "{found:?}"
    );
}
