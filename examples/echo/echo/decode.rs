//! Lines to events.

use crate::chat::{FieldList, Members};
use crate::codec::{Cx, Decode};
use crate::event::{
    At, Block, Content, Event, Kind, Origin, Outcome, OutcomeKind, Place, Reply, ResultStatus, Session, Sink, ToolCall, ToolKind, ToolResult,
};
use crate::json::{Cursor, Error, Raw, Shape, Str, Why};

use super::fields::knows;

/// Reads it.
#[derive(Debug, Default)]
pub struct Decoder {
    session: String,
}

impl Decode for Decoder {
    fn line<'a>(&mut self, text: &'a str, cx: &Cx<'a>, sink: &mut dyn Sink<'a>) -> Result<usize, Error> {
        // Text that is no object is none of the dialect's lines, and kept.
        if !text.starts_with('{') {
            sink.event(&Event::new(Origin::default(), Kind::Noise(text)));
            return Ok(text.len());
        }
        let mut at = Cursor::new(text);
        let mut members = Members::read(&mut at, cx)?;
        let used = at.position();
        let missing = |member| Error {
            at: used,
            why: Why::Missing(member),
        };
        let word = members.get("echo").and_then(Raw::string);
        let what = word.unwrap_or_default().unescape();
        if !matches!(&*what, "say" | "call" | "result" | "end") {
            sink.event(&Event::new(Origin::default(), Kind::Unknown(Raw::trusted(&text[..used]))));
            return Ok(used);
        }
        // What is only structure is told, so that the ledger does not miss it.
        members.word("echo", cx);
        let origin = Origin {
            session: members.text("session", cx),
            ..Origin::default()
        };
        let kind = match &*what {
            "say" => {
                let text = members.text("text", cx).ok_or(missing("text"))?;
                Kind::Reply(cx.keep(Reply {
                    blocks: cx.list(&[Block::Text { text, fields: &[] }]),
                    ..Reply::default()
                }))
            }
            "call" => {
                let call = ToolCall {
                    id: members.text("id", cx).ok_or(missing("id"))?,
                    name: members.text("tool", cx).ok_or(missing("tool"))?,
                    // Nobody else knows these tools.
                    kind: ToolKind::Other,
                    input: members.shaped("input", Shape::Object, cx).ok_or(missing("input"))?,
                    fields: &[],
                };
                Kind::Reply(cx.keep(Reply {
                    blocks: cx.list(&[Block::Call(call)]),
                    ..Reply::default()
                }))
            }
            "result" => {
                let ok = truth(&mut members, cx).ok_or(missing("ok"))?;
                Kind::ToolResult(cx.keep(ToolResult {
                    call: members.text("id", cx).ok_or(missing("id"))?,
                    name: None,
                    status: if ok { ResultStatus::Success } else { ResultStatus::Error },
                    content: Content::Text(members.text("text", cx).ok_or(missing("text"))?),
                    is_error: None,
                    detail: None,
                    fields: &[],
                    of: None,
                }))
            }
            _ => {
                let ok = truth(&mut members, cx).ok_or(missing("ok"))?;
                let text = members.text("text", cx);
                let (kind, text, error) = match ok {
                    true => (OutcomeKind::Success, text, None),
                    false => (OutcomeKind::Failed(Place::Model), None, text),
                };
                Kind::Outcome(cx.keep(Outcome {
                    text,
                    error,
                    ..Outcome::new(kind)
                }))
            }
        };
        // A line that is damaged tells nothing: only here is it known to be whole.
        self.begin(origin.session, cx, sink);
        let mut fields = FieldList::new_in(cx.arena);
        members.pour(At::Line, knows, &mut fields);
        sink.event(&Event {
            origin,
            kind,
            fields: fields.into_bump_slice(),
        });
        Ok(used)
    }

    fn next_session(&mut self, to: &str) {
        to.clone_into(&mut self.session);
    }
}

impl Decoder {
    /// The first line of a session tells its facts, of which there is one: the id.
    fn begin<'a>(&mut self, session: Option<Str<'a>>, cx: &Cx<'a>, sink: &mut dyn Sink<'a>) {
        let Some(id) = session.filter(|id| id.as_escaped() != self.session) else {
            return;
        };
        id.as_escaped().clone_into(&mut self.session);
        let origin = Origin {
            session,
            ..Origin::default()
        };
        sink.event(&Event::new(origin, Kind::Session(cx.keep(Session::default()))));
    }
}

/// Takes out `ok`.
fn truth<'a>(members: &mut Members<'a>, cx: &Cx<'a>) -> Option<bool> {
    let ok = members.take("ok", cx)?;
    cx.took(ok.as_str());
    ok.bool()
}
