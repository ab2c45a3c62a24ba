//! Events to sessions.

use super::{CALLS, RESULT, THOUGHT};
use crate::codec::Dialect;
use crate::json::Out;
use crate::talk::{Answer, Call, Held, Places, Said, Who, Words};

/// What people and the model said.
#[derive(Debug)]
pub struct Conversations;

impl Words for Conversations {
    const DIALECT: Dialect = Dialect::Sharegpt;
    const PLACES: Places = Places {
        ids: false,
        images: false,
        refusals: false,
        names: false,
        marks: &[THOUGHT[0], THOUGHT[1], CALLS[0], CALLS[1]],
    };

    fn begin(held: &Held, out: &mut Out) {
        out.lit("{");
        if !held.session.is_empty() {
            out.lit("\"id\":\"");
            out.lit(&held.session);
            out.lit("\",");
        }
        out.lit("\"conversations\":[");
    }

    fn said(said: &Said, out: &mut Out) {
        one(said, out);
    }

    fn answers(answers: &[Answer], out: &mut Out) {
        results(answers, out);
    }
}

fn one(said: &Said, out: &mut Out) {
    let from = match said.who {
        Who::System(_) => "system",
        Who::User | Who::Program => "human",
        _ if said.calls.is_empty() => "gpt",
        _ => "function_call",
    };
    out.lit("{\"from\":\"");
    out.lit(from);
    out.lit("\",\"value\":\"");
    if !said.thought.is_empty() {
        out.lit(THOUGHT[0]);
        out.lit("\\n");
        out.bytes(&said.thought);
        out.lit("\\n");
        out.lit(THOUGHT[1]);
        out.lit("\\n\\n");
    }
    let text = said.text();
    out.bytes(&text);
    if !said.calls.is_empty() {
        let is_marked = !text.is_empty();
        if is_marked {
            out.lit("\\n");
            out.lit(CALLS[0]);
            out.lit("\\n");
        }
        calls(&said.calls, is_marked, out);
        if is_marked {
            out.lit("\\n");
            out.lit(CALLS[1]);
        }
    }
    out.lit("\"");
    out.bytes(&said.more);
    out.lit("}");
}

/// One call is an object, several are a list.
fn calls(calls: &[Call], is_marked: bool, out: &mut Out) {
    let is_list = calls.len() > 1;
    out.lit(if is_list { "[" } else { "" });
    for (n, call) in calls.iter().enumerate() {
        out.lit(if n == 0 { "" } else { ", " });
        out.lit("{\\\"name\\\": ");
        out.json_in_string(&format!("\"{}\"", call.name));
        out.lit(", \\\"arguments\\\": ");
        // The mark behind them is looked for in them too.
        match is_marked && call.input.contains(CALLS[1]) {
            true => out.json_in_string(&call.input.replace("</", "<\\/")),
            false => out.json_in_string(&call.input),
        }
        out.lit("}");
    }
    out.lit(if is_list { "]" } else { "" });
}

/// What came of the calls of an answer is one text.
fn results(answers: &[Answer], out: &mut Out) {
    out.lit("{\"from\":\"observation\",\"value\":\"");
    for (n, answer) in answers.iter().enumerate() {
        if n > 0 {
            out.lit("\\n");
            out.lit(RESULT[1]);
            out.lit("\\n");
            out.lit(RESULT[0]);
            out.lit("\\n");
        }
        out.bytes(&answer.text);
    }
    out.lit("\"");
    answers.iter().for_each(|answer| out.bytes(&answer.more));
    out.lit("}");
}
