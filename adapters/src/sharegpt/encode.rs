//! Events to sessions.

use super::{BETWEEN, CALLS, THOUGHT};
use crate::codec::{Dialect, Encode, Style, Want};
use crate::event::{Event, Input, InputKind};
use crate::json::Out;
use crate::talk::{Call, Held, Said, Who};

/// Writes one line a session, when the session is over.
#[derive(Debug)]
pub struct Encoder {
    held: Held,
    own: bool,
}

impl Encoder {
    /// At the beginning of a session.
    pub fn new(style: Style) -> Self {
        let own = style.is_own(Dialect::Sharegpt);
        Self { held: Held::new(own), own }
    }
}

impl Encode for Encoder {
    fn want(&self) -> Want {
        Want::SNAPSHOTS
    }

    fn event(&mut self, event: &Event<'_>, out: &mut Out) {
        self.held.event(event, out);
    }

    fn input(&mut self, input: &Input<'_>, out: &mut Out) {
        if let InputKind::Prompt(prompt) = input.kind {
            self.held.prompt(prompt, &[], out);
        }
    }

    fn takes_fields(&self) -> bool {
        self.own
    }

    fn takes_usage(&self) -> bool {
        false
    }

    fn finish(&mut self, out: &mut Out) {
        if self.held.said.is_empty() {
            return;
        }
        out.lit("{");
        if !self.held.session.is_empty() {
            out.lit("\"id\":\"");
            out.lit(&self.held.session);
            out.lit("\",");
        }
        out.lit("\"conversations\":[");
        let mut between = "";
        for said in &self.held.said {
            if said.who != Who::Nobody {
                out.lit(between);
                between = ",";
                one(said, out);
            }
            if !said.answers.is_empty() {
                out.lit(between);
                between = ",";
                results(said, out);
            }
        }
        out.lit("]");
        out.bytes(&self.held.whole);
        out.lit("}\n");
    }
}

fn one(said: &Said, out: &mut Out) {
    let from = match said.who {
        Who::System(_) => "system",
        Who::User => "human",
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
fn results(said: &Said, out: &mut Out) {
    out.lit("{\"from\":\"observation\",\"value\":\"");
    for (n, answer) in said.answers.iter().enumerate() {
        out.lit(if n == 0 { "" } else { BETWEEN });
        out.bytes(&answer.text);
    }
    out.lit("\"");
    said.answers.iter().for_each(|answer| out.bytes(&answer.more));
    out.lit("}");
}
