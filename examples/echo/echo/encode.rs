//! Events to lines.

use crate::codec::{Dialect, Encode, Style, Want};
use crate::event::{Block, Content, Event, Fields, Input, Kind, Origin, OutcomeKind, ResultStatus};
use crate::json::{Out, Str};

/// Writes it.
#[derive(Debug)]
pub struct Encoder {
    /// The events were read from lines of this dialect, whose fields are its own.
    own: bool,
}

impl Encoder {
    /// At the beginning of a session.
    pub fn new(style: Style) -> Self {
        Self {
            own: style.source == Dialect::Echo,
        }
    }

    /// Everything up to what makes the line.
    fn open(what: &str, origin: Origin<'_>, out: &mut Out) {
        out.lit("{\"echo\":\"");
        out.lit(what);
        out.lit("\"");
        if let Some(session) = origin.session {
            out.lit(",\"session\":");
            out.str(session);
        }
    }

    fn close(&self, fields: Fields<'_>, out: &mut Out) {
        for field in fields.iter().filter(|_| self.own) {
            out.lit(",");
            out.str(field.key);
            out.lit(":");
            out.unchecked(field.value);
        }
        out.lit("}\n");
    }
}

impl Encode for Encoder {
    // The assembler makes whole blocks of pieces.
    fn want(&self) -> Want {
        Want::SNAPSHOTS
    }

    fn event(&mut self, event: &Event<'_>, out: &mut Out) {
        match event.kind {
            Kind::Reply(reply) => {
                let mut fields = event.fields;
                for block in reply.blocks {
                    match block {
                        Block::Text { text, .. } => {
                            Self::open("say", event.origin, out);
                            member("text", *text, out);
                        }
                        Block::Call(call) => {
                            Self::open("call", event.origin, out);
                            member("id", call.id, out);
                            member("tool", call.name, out);
                            out.lit(",\"input\":");
                            out.unchecked(call.input);
                        }
                        // Thinking and media have no place. What nothing is written of counts as dropped.
                        _ => continue,
                    }
                    self.close(std::mem::take(&mut fields), out);
                }
            }
            Kind::ToolResult(result) => {
                Self::open("result", event.origin, out);
                member("id", result.call, out);
                ok(result.status == ResultStatus::Success, out);
                out.lit(",\"text\":\"");
                texts(result.content, out);
                out.lit("\"");
                self.close(event.fields, out);
            }
            Kind::Outcome(outcome) => {
                Self::open("end", event.origin, out);
                ok(outcome.kind == OutcomeKind::Success, out);
                if let Some(text) = outcome.error.or(outcome.text) {
                    member("text", text, out);
                }
                self.close(event.fields, out);
            }
            _ => {}
        }
    }

    // Hosts say nothing in lines.
    fn input(&mut self, _input: &Input<'_>, _out: &mut Out) {}
}

/// A member that is a string.
fn member(name: &str, text: Str<'_>, out: &mut Out) {
    out.lit(",\"");
    out.lit(name);
    out.lit("\":");
    out.str(text);
}

fn ok(ok: bool, out: &mut Out) {
    out.lit(if ok { ",\"ok\":true" } else { ",\"ok\":false" });
    // A word of the source's stands for it.
    out.carried();
}

/// The texts of a result, as one.
fn texts(content: Content<'_>, out: &mut Out) {
    match content {
        Content::Text(text) => out.body(text),
        Content::Blocks(blocks) => {
            let texts = blocks.iter().filter_map(|block| match block {
                Block::Text { text, .. } => Some(*text),
                _ => None,
            });
            for (n, text) in texts.enumerate() {
                out.lit(if n == 0 { "" } else { "\\n" });
                out.body(text);
            }
        }
    }
}
