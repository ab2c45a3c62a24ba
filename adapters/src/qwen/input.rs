//! Reading what the host writes: Chat Requests, plain `{model,messages}` requests, side requests, control lines.

use super::fields::knows;
use super::side;
use crate::chat::{FieldList, Members, inner};
use crate::codec::Cx;
use crate::event::{At, ChatRequest, HintRequest, Input, InputKind, InputOrigin, Origin};
use crate::json::{Error, Shape, Str, Why};

const WRONG: Error = Error { at: 0, why: Why::Type };

/// Reads a Chat Request, or a plain request with `messages`.
pub(super) fn chat_request<'a>(mut members: Members<'a>, cx: &Cx<'a>) -> Result<Input<'a>, Error> {
    let mut fields = FieldList::new_in(cx.arena);
    let origin = Origin {
        session: members.text("session_id", cx),
        turn: members.text("prompt_id", cx),
        ..Origin::default()
    };
    let mut request = ChatRequest {
        model: members.text("model", cx),
        options: members.take("options", cx),
        tools: members.take("tools", cx),
        tool_call: members.text("tool_call_id", cx),
        protocol_version: members.take("protocol_version", cx),
        messages: members.take("messages", cx),
        ..ChatRequest::default()
    };
    if request.messages.is_some_and(|m| m.shape() != Some(Shape::Array)) {
        return Err(WRONG);
    }
    if let Some(input) = members.take("input", cx) {
        let mut input = Members::of(input, cx).ok_or(WRONG)?;
        request.origin = match input.get("origin").and_then(inner).map(Str::unescape).as_deref() {
            Some("user") => Some(InputOrigin::User),
            Some("tool_response") => Some(InputOrigin::ToolResponse),
            Some("system") => Some(InputOrigin::System),
            _ => None,
        };
        if request.origin.is_some() {
            input.word("origin", cx);
        }
        request.parts = input.shaped("parts", Shape::Array, cx);
        request.command = input.take("command", cx);
        request.tool_call = request.tool_call.or_else(|| input.text("tool_call_id", cx));
        input.pour(At::Part("/input"), knows, &mut fields);
    }
    members.pour(At::Line, knows, &mut fields);
    Ok(Input {
        origin,
        kind: InputKind::Chat(cx.keep(request)),
        fields: fields.into_bump_slice(),
    })
}

/// Reads a request beside the conversation.
pub(super) fn side_request<'a>(kind: &str, mut members: Members<'a>, cx: &Cx<'a>) -> Result<Input<'a>, Error> {
    members.word("type", cx);
    let origin = Origin {
        session: members.text("session_id", cx),
        turn: members.text("prompt_id", cx),
        ..Origin::default()
    };
    let kind = match kind {
        "command_hint_request" => {
            let request = HintRequest {
                trigger: members.text("trigger", cx),
                text: members.text("text", cx),
                cursor: members.shaped("cursor", Shape::Number, cx),
                context: members.take("context", cx),
            };
            InputKind::Hint(cx.keep(request))
        }
        "command_hint_cancel" => InputKind::HintCancel,
        "heartbeat_request" => InputKind::Heartbeat {
            interval_ms: members.shaped("interval_ms", Shape::Number, cx),
        },
        _ => InputKind::Cancel {
            reason: members.text("reason", cx),
        },
    };
    let mut fields = FieldList::new_in(cx.arena);
    members.pour(At::Line, knows, &mut fields);
    Ok(Input {
        origin,
        kind,
        fields: fields.into_bump_slice(),
    })
}

/// Reads a `control_request` of the host.
pub(super) fn control_request<'a>(members: Members<'a>, cx: &Cx<'a>) -> Result<Input<'a>, Error> {
    let asked = side::asked(members, cx)?;
    Ok(Input {
        origin: asked.origin,
        kind: InputKind::Request(cx.keep(asked.request)),
        fields: asked.fields.into_bump_slice(),
    })
}
