//! The rules by which streams of OpenAI-compatible servers are read; each test names its rule.

use super::{Decoder, End};
use crate::weave::told::told;
use crate::weave::told::told as told_again;

/// A chunk with this delta, and why it stopped.
fn chunk(delta: &str, finish: &str) -> String {
    let finish = if finish.is_empty() { "null".to_owned() } else { format!("\"{finish}\"") };
    format!(
        "{{\"id\":\"r\",\"object\":\"chat.completion.chunk\",\"model\":\"m\",\"choices\":[{{\"index\":0,\"delta\":{delta},\"finish_reason\":{finish}}}]}}"
    )
}

fn calls(list: &str) -> String {
    chunk(&format!("{{\"tool_calls\":{list}}}"), "")
}

fn read(payloads: &[String]) -> (String, End) {
    let mut decoder = Decoder::live(7);
    let payloads: Vec<&str> = payloads.iter().map(String::as_str).collect();
    let told = told(&mut decoder, &payloads);
    (told, decoder.end())
}

#[track_caller]
fn says(payloads: &[String], wanted: &str) {
    assert_eq!(read(payloads).0, wanted);
}

const CALL: &str = r#"[{"index":0,"id":"a","type":"function","function":{"name":"f","arguments":"{\"x\":1}"}}]"#;

#[test]
fn rule_1_stop_behind_a_whole_call_means_the_call() {
    says(
        &[calls(CALL), chunk("{}", "stop")],
        r#"round r|call a f|{"x":1}|stop|because Tools stop|end"#,
    );
    says(
        &[chunk(r#"{"content":"x"}"#, ""), chunk("{}", "stop")],
        "round r|text|x|stop|because Done stop|end",
    );
}

#[test]
fn rule_2_a_limit_is_never_hidden() {
    let half = CALL.replace(":1}", "");
    says(
        &[calls(&half), chunk("{}", "length"), chunk("{}", "tool_calls")],
        r#"round r|call a f|{"x"|stop|because Length length|end"#,
    );
    says(
        &[calls(CALL), chunk("{}", "content_filter")],
        r#"round r|call a f|{"x":1}|stop|because Refusal content_filter|end"#,
    );
    // Half a call under a good word: `stop` is not made `tool_calls`.
    says(
        &[calls(&half), chunk("{}", "stop")],
        r#"round r|call a f|{"x"|stop|because Done stop|end"#,
    );
}

#[test]
fn rule_3_calls_are_told_apart_by_index_and_id() {
    let second = CALL.replace("\"a\"", "\"b\"").replace('1', "2");
    // The same index for all.
    says(
        &[calls(CALL), calls(&second), chunk("{}", "tool_calls")],
        r#"round r|call a f|{"x":1}|stop|call b f|{"x":2}|stop|because Tools tool_calls|end"#,
    );
    // No index at all, all in one list; and a list that begins at 1.
    let bare = |call: &str| call.replace("\"index\":0,", "");
    let both = format!("{},{}", bare(CALL).trim_end_matches(']'), bare(&second).trim_start_matches('['));
    says(
        &[calls(&both), chunk("{}", "tool_calls")],
        r#"round r|call a f|{"x":1}|stop|call b f|{"x":2}|stop|because Tools tool_calls|end"#,
    );
    says(
        &[calls(&CALL.replace("\"index\":0", "\"index\":1")), chunk("{}", "tool_calls")],
        r#"round r|call a f|{"x":1}|stop|because Tools tool_calls|end"#,
    );
    // No index, and the id only at the beginning.
    says(
        &[
            calls(r#"[{"id":"a","function":{"name":"f","arguments":"{\"x\":"}}]"#),
            calls(r#"[{"function":{"arguments":"1}"}}]"#),
            calls(&bare(&second)),
        ],
        r#"round r|call a f|{"x":|1}|stop|call b f|{"x":2}|stop"#,
    );
    // No list around it.
    says(
        &[calls(CALL.trim_matches(['[', ']'])), chunk("{}", "tool_calls")],
        r#"round r|call a f|{"x":1}|stop|because Tools tool_calls|end"#,
    );
    // No id at all, the same index, a whole call under a name again.
    let nameless = |call: &str| call.replace("\"id\":\"a\",", "");
    let (told, _) = read(&[calls(&nameless(CALL)), calls(&nameless(CALL)), chunk("{}", "tool_calls")]);
    assert_eq!(told.matches("|call call_").count(), 2, "{told}");
    assert_eq!(told.matches(r#"|{"x":1}|"#).count(), 2, "{told}");
}

#[test]
fn rule_4_ids_and_names_come_when_they_come() {
    // First the name, then the id, empty and null ones in between, a name that is said again.
    says(
        &[
            calls(r#"[{"index":0,"function":{"name":"f","arguments":"{"}}]"#),
            calls(r#"[{"index":0,"id":"","function":{"name":null,"arguments":"\"x\""}}]"#),
            calls(r#"[{"index":0,"id":"a","function":{"name":"","arguments":":"}}]"#),
            calls(r#"[{"index":0,"id":"","function":{"name":"f","arguments":"1}"}}]"#),
            chunk("{}", "tool_calls"),
        ],
        r#"round r|call a f|{"x":|1}|stop|because Tools tool_calls|end"#,
    );
    // An id that never comes is made up, another one for each reply.
    let no_id = [
        calls(r#"[{"index":0,"function":{"name":"f","arguments":"{}"}}]"#),
        chunk("{}", "tool_calls"),
    ];
    let (told, _) = read(&no_id);
    assert!(told.starts_with("round r|call call_") && told.contains(" f|{}|stop|"), "{told}");
    let mut other = Decoder::live(8);
    let payloads: Vec<&str> = no_id.iter().map(String::as_str).collect();
    assert_ne!(told_again(&mut other, &payloads), told);
}

#[test]
fn rule_5_no_arguments_are_no_pieces_and_the_first_piece_is_kept() {
    for arguments in [r#","arguments":"""#, "", r#","arguments":null"#] {
        let call = format!(r#"[{{"index":0,"id":"a","function":{{"name":"f"{arguments}}}}}]"#);
        says(
            &[calls(&call), chunk("{}", "tool_calls")],
            "round r|call a f|stop|because Tools tool_calls|end",
        );
    }
    says(
        &[calls(&CALL.replace(r#""{\"x\":1}""#, r#"{"x":1}"#)), chunk("{}", "tool_calls")],
        r#"round r|call a f|{"x":1}|stop|because Tools tool_calls|end"#,
    );
}

#[test]
fn rule_6_blocks_never_overlap() {
    says(
        &[
            chunk(r#"{"reasoning_content":"hm"}"#, ""),
            chunk(r#"{"content":"A"}"#, ""),
            calls(r#"[{"index":0,"id":"a","function":{"name":"f","arguments":"{\"x\":"}}]"#),
            calls(r#"[{"index":1,"id":"b","function":{"name":"g","arguments":"{"}}]"#),
            chunk(r#"{"content":"B"}"#, ""),
            calls(r#"[{"index":0,"function":{"arguments":"1}"}},{"index":1,"function":{"arguments":"}"}}]"#),
            chunk(r#"{"content":"C"}"#, "tool_calls"),
        ],
        r#"round r|thinking member="reasoning_content"|hm|stop|text|A|stop|call a f|{"x":|1}|stop|call b g|{|}|stop|text|B|stop|text|C|stop|because Tools tool_calls|end"#,
    );
}

#[test]
fn rule_9_thoughts_have_many_names() {
    for name in ["reasoning_content", "reasoning"] {
        says(
            &[chunk(&format!("{{\"content\":null,\"{name}\":\"hm\"}}"), ""), chunk("{}", "stop")],
            &format!("round r|thinking member=\"{name}\"|hm|stop|because Done stop|end"),
        );
    }
    says(
        &[
            chunk(
                r#"{"content":[{"type":"thinking","thinking":[{"type":"text","text":"hm"}]},{"type":"text","text":"4"}]}"#,
                "",
            ),
            chunk("{}", "stop"),
        ],
        "round r|thinking member=\"content\"|hm|stop|text|4|stop|because Done stop|end",
    );
    // Both at once say the same: it is told once, and the list goes along.
    says(
        &[
            chunk(
                r#"{"reasoning":"hm","reasoning_details":[{"type":"reasoning.text","text":"hm","signature":"s"}]}"#,
                "",
            ),
            chunk(r#"{"content":"4"}"#, "stop"),
        ],
        "round r|thinking member=\"reasoning_details\"|hm|stop|text|4|stop|because Done stop|end",
    );
    // What only the vendor knows of a call.
    let signed = CALL.replace("\"type\"", "\"extra_content\":{\"google\":{\"thought_signature\":\"s\"}},\"type\"");
    says(
        &[calls(&signed), chunk("{}", "tool_calls")],
        r#"round r|call a f extra_content={"google":{"thought_signature":"s"}}|{"x":1}|stop|because Tools tool_calls|end"#,
    );
}

#[test]
fn rule_10_the_last_usage_counts_wherever_it_stands() {
    let usage = |n: u32| format!("\"usage\":{{\"prompt_tokens\":{n},\"completion_tokens\":{n},\"prompt_tokens_details\":{{\"cached_tokens\":1}}}}");
    let with = |payload: String, n| payload.replacen('{', &format!("{{{},", usage(n)), 1);
    says(
        &[
            r#"{"choices":[],"id":"","model":"","prompt_filter_results":[],"usage":null}"#.to_owned(),
            with(chunk(r#"{"content":"x"}"#, ""), 5),
            with(chunk("{}", "stop"), 6),
            format!("{{\"id\":\"r\",\"object\":\"chat.completion.chunk\",\"choices\":[],{}}}", usage(7)),
            "[DONE]".to_owned(),
        ],
        "round r|text|x|stop|because Done stop 7(1)+7|end",
    );
    says(&[chunk(r#"{"content":"x"}"#, "stop")], "round r|text|x|stop|because Done stop|end");
    let deepseek = r#"{"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":1,"prompt_cache_hit_tokens":4}}"#;
    says(
        &[chunk(r#"{"content":"x"}"#, "stop"), deepseek.to_owned()],
        "round r|text|x|stop|because Done stop 9(4)+1|end",
    );
}

#[test]
fn rule_12_a_stream_that_just_ends_is_cut_off() {
    let text = chunk(r#"{"content":"x"}"#, "");
    assert_eq!(read(std::slice::from_ref(&text)), ("round r|text|x|stop".to_owned(), End::Incomplete));
    // The reason alone is enough, and so is the word that nothing follows; both are not needed.
    assert_eq!(read(&[text.clone(), chunk("{}", "stop")]).1, End::Terminal);
    assert_eq!(read(&[text, "[DONE]".to_owned()]).1, End::Terminal);
    // But not in the middle of a call.
    assert_eq!(read(&[calls(&CALL.replace(":1}", "")), "[DONE]".to_owned()]).1, End::Incomplete);
    assert_eq!(read(&[]).1, End::Nothing);
}

#[test]
fn rule_13_errors_may_come_under_a_good_status() {
    let text = chunk(r#"{"content":"x"}"#, "");
    let error =
        r#"{"error":{"message":"no","type":"server_error","code":502},"choices":[{"index":0,"delta":{"content":""},"finish_reason":"error"}]}"#;
    assert_eq!(
        read(&[text.clone(), error.to_owned()]),
        ("round r|text|x|stop|failed server_error: no".to_owned(), End::Failed)
    );
    for error in [
        r#"{"error":"no"}"#,
        r#"{"object":"error","message":"no","type":"BadRequestError","code":400}"#,
        r#"{"detail":"no"}"#,
    ] {
        let (told, end) = read(&[error.to_owned()]);
        assert!(told.ends_with(": no") && end == End::Failed, "{told}");
    }
    says(&[text.replacen('{', "{\"error\":null,", 1)], "round r|text|x|stop");
}

#[test]
fn a_reply_in_one_piece_is_read_like_a_stream() {
    let whole = r#"{"id":"r","object":"chat.completion","model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"A","reasoning_content":"hm","tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]},"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":3,"completion_tokens":2}}"#;
    assert_eq!(
        read(&[whole.to_owned()]),
        (
            "round r|thinking member=\"reasoning_content\"|hm|stop|text|A|stop|call a f|{}|stop|because Tools tool_calls 3(?)+2|end".to_owned(),
            End::Terminal
        )
    );
}

#[test]
fn one_of_several_answers_is_read_and_refusals_are_text() {
    let other = chunk(r#"{"content":"other"}"#, "stop").replace("\"index\":0", "\"index\":1");
    says(
        &[chunk(r#"{"refusal":"I cannot"}"#, ""), other, chunk("{}", "stop")],
        "round r|text|I cannot|stop|because Refusal refusal|end",
    );
}

/// The word says `stop`; what it means goes over.
#[test]
fn a_refusal_goes_over_as_one() {
    let log: String = [chunk(r#"{"refusal":"I cannot"}"#, ""), chunk("{}", "stop"), "[DONE]".to_owned()]
        .iter()
        .map(|line| format!("data: {line}\n\n"))
        .collect();
    let out = crate::testing::converted(&log, "openai", "openai:messages");
    assert!(out.contains(r#""content":null,"refusal":"I cannot""#), "{out}");
}

/// A tool may take a text in place of arguments.
#[test]
fn custom_calls_are_calls() {
    let piece = |rest: &str| chunk(&format!(r#"{{"tool_calls":[{{"index":0,{rest}}}]}}"#), "");
    let log = [
        piece(r#""id":"c","type":"custom","custom":{"name":"patch","input":"a \"b\""}"#),
        piece(r#""custom":{"input":"\nc"}"#),
        chunk("{}", "tool_calls"),
        "[DONE]".to_owned(),
    ];
    let whole = r#"{"id":"r","object":"chat.completion","model":"m","choices":[{"index":0,"message":{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"custom","custom":{"name":"patch","input":"a \"b\"\nc"}}]},"finish_reason":"tool_calls"}]}"#;
    let of_pieces: String = log.iter().map(|line| format!("data: {line}\n\n")).collect();
    for log in [of_pieces, format!("data: {whole}\n\n")] {
        let out = crate::testing::converted(&log, "openai", "claude");
        assert!(out.contains(r#""name":"patch","input":{"input":"a \"b\"\nc"}"#), "{out}");
        assert!(out.contains(r#""stop_reason":"tool_use""#), "{out}");
    }
}
