//! Events to sessions.

use super::PROGRAM;
use crate::chat::inner;
use crate::codec::Dialect;
use crate::json::{Out, Raw};
use crate::talk::{Answer, Call, Held, Part, Places, Said, Who, Words};

/// Chat messages.
#[derive(Debug)]
pub struct Messages;

impl Words for Messages {
    const DIALECT: Dialect = Dialect::Openai;
    const PLACES: Places = Places {
        ids: true,
        images: true,
        refusals: true,
        names: true,
        marks: &[],
    };

    fn begin(_held: &Held, out: &mut Out) {
        out.lit("{\"messages\":[");
    }

    fn said(said: &Said, out: &mut Out) {
        message(said, out);
    }

    fn answers(answers: &[Answer], out: &mut Out) {
        for (n, answer) in answers.iter().enumerate() {
            out.lit(if n == 0 { "" } else { "," });
            result(answer, out);
        }
    }
}

fn message(said: &Said, out: &mut Out) {
    out.lit("{\"role\":\"");
    out.lit(match said.who {
        Who::User | Who::Program => "user",
        Who::Model => "assistant",
        system => system.system(),
    });
    out.lit("\"");
    if said.who == Who::Program {
        out.lit(",\"name\":\"");
        out.lit(PROGRAM);
        out.lit("\"");
    }
    out.lit(",\"content\":");
    let is_list = said.parts.iter().any(|part| !matches!(part, Part::Text(_)));
    if said.refused {
        out.lit("null,\"refusal\":");
        string(&said.text(), out);
    } else if is_list {
        list(&said.parts, out);
    } else if said.parts.is_empty() && !said.calls.is_empty() {
        out.lit("null");
    } else {
        string(&said.text(), out);
    }
    if !said.thought.is_empty() {
        out.lit(",\"reasoning_content\":");
        string(&said.thought, out);
    }
    for (n, call) in said.calls.iter().enumerate() {
        out.lit(if n == 0 { ",\"tool_calls\":[" } else { "," });
        tool_call(call, out);
    }
    out.lit(if said.calls.is_empty() { "" } else { "]" });
    out.bytes(&said.more);
    out.lit("}");
}

fn list(parts: &[Part], out: &mut Out) {
    for (n, part) in parts.iter().enumerate() {
        out.lit(if n == 0 { "[" } else { "," });
        match part {
            Part::Text(text) => {
                out.lit("{\"type\":\"text\",\"text\":");
                string(text, out);
                out.lit("}");
            }
            Part::Image(address) => {
                out.lit("{\"type\":\"image_url\",\"image_url\":{\"url\":");
                string(address.as_bytes(), out);
                out.lit("}}");
            }
            Part::Other(part) => out.bytes(part),
        }
    }
    out.lit("]");
}

/// The member of a call of a tool that takes a text.
const CUSTOM: &[u8] = b",\"type\":\"custom\"";

/// Arguments are a text that is JSON; what was none goes back as the text that it was.
fn tool_call(call: &Call, out: &mut Out) {
    out.lit("{\"id\":");
    out.bytes(&call.id);
    let text = Raw::trusted(&call.input).get("input");
    if let (Some(more), Some(text)) = (call.more.strip_prefix(CUSTOM), text) {
        out.bytes(CUSTOM);
        out.lit(",\"custom\":{\"name\":");
        string(call.name.as_bytes(), out);
        out.lit(",\"input\":");
        out.lit(text.as_str());
        out.lit("}");
        out.bytes(more);
        return out.lit("}");
    }
    out.lit(",\"type\":\"function\",\"function\":{\"name\":");
    string(call.name.as_bytes(), out);
    out.lit(",\"arguments\":\"");
    match inner(Raw::trusted(&call.input)) {
        Some(text) => out.lit(text.as_escaped()),
        None => out.json_in_string(&call.input),
    }
    out.lit("\"}");
    out.bytes(&call.more);
    out.lit("}");
}

fn result(answer: &Answer, out: &mut Out) {
    out.lit("{\"role\":\"tool\",\"tool_call_id\":");
    out.bytes(&answer.call);
    out.lit(",\"content\":");
    string(&answer.text, out);
    out.bytes(&answer.more);
    out.lit("}");
}

/// Writes the body of a string with its quotes.
fn string(body: &[u8], out: &mut Out) {
    out.lit("\"");
    out.bytes(body);
    out.lit("\"");
}
