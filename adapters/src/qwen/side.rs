//! Reading what stands beside the conversation: results of commands, hints, heartbeats and cancels, session events, the control
//! channel, errors.

use super::annotations::notice;
use super::fields::knows;
use crate::chat::{FieldList, Members, inner};
use crate::codec::Cx;
use crate::event::{At, CancelResult, CommandResult, ControlKind, Event, Fatal, Heartbeat, HintResult, Kind, Origin, Permission, Request, Response};
use crate::json::{Error, Raw, Shape, Str, Why};

const fn missing(member: &'static str) -> Error {
    Error {
        at: 0,
        why: Why::Missing(member),
    }
}

const WRONG: Error = Error { at: 0, why: Why::Type };

/// Reads a line that agents write, told by its `type`; `None` for a type that nobody knows.
pub(super) fn event<'a>(kind: &str, mut members: Members<'a>, cx: &Cx<'a>) -> Result<Option<Event<'a>>, Error> {
    let mut fields = FieldList::new_in(cx.arena);
    let kind = match kind {
        "result/command" => {
            let result = CommandResult {
                command: members.take("command", cx),
                result: members.take("result", cx),
            };
            Kind::Command(cx.keep(result))
        }
        "result/command_hint" => {
            let hint = HintResult {
                trigger: members.text("trigger", cx),
                status: members.text("status", cx),
                suggestions: members.take("suggestions", cx),
                metadata: members.take("metadata", cx),
                message: members.text("message", cx),
            };
            Kind::Hint(cx.keep(hint))
        }
        "result/heartbeat" => Kind::Heartbeat(Heartbeat {
            status: members.text("status", cx),
            ts: members.take("ts", cx),
        }),
        "result/cancel" => Kind::CancelResult(CancelResult {
            status: members.text("status", cx),
            message: members.text("message", cx),
        }),
        "x-qwen-session-event" => Kind::Notice(cx.keep(notice(&mut members, cx).ok_or(missing("event"))?)),
        "control_request" => return request(members, cx).map(Some),
        "control_response" => Kind::Response(cx.keep(response(&mut members, &mut fields, cx)?)),
        _ => return Ok(None),
    };
    members.word("type", cx);
    let origin = Origin {
        session: members.text("session_id", cx),
        turn: members.text("prompt_id", cx),
        ..Origin::default()
    };
    members.pour(At::Line, knows, &mut fields);
    Ok(Some(Event {
        origin,
        kind,
        fields: fields.into_bump_slice(),
    }))
}

/// Reads a bare `{"error":{message,type,param,code}}`, with which the program ends.
pub(super) fn fatal<'a>(mut members: Members<'a>, cx: &Cx<'a>) -> Result<Event<'a>, Error> {
    let error = members.take("error", cx).ok_or(WRONG)?;
    let mut fields = FieldList::new_in(cx.arena);
    let fatal = match Members::of(error, cx) {
        Some(mut error) => {
            let fatal = Fatal {
                message: error.text("message", cx).unwrap_or_default(),
                kind: error.text("type", cx),
                param: error.take("param", cx),
                code: error.take("code", cx),
            };
            error.pour(At::Part("/error"), knows, &mut fields);
            fatal
        }
        None => Fatal {
            message: inner(error).ok_or(WRONG)?,
            ..Fatal::default()
        },
    };
    let origin = Origin {
        session: members.text("session_id", cx),
        ..Origin::default()
    };
    members.pour(At::Line, knows, &mut fields);
    Ok(Event {
        origin,
        kind: Kind::Fatal(cx.keep(fatal)),
        fields: fields.into_bump_slice(),
    })
}

/// Whether a `control_request` is one that only hosts send.
pub(super) fn is_from_host(members: &Members<'_>) -> bool {
    let subtype = members
        .get("request")
        .and_then(|r| r.get("subtype"))
        .or_else(|| members.get("subtype"))
        .and_then(inner);
    let kind = subtype.map(|s| ControlKind::read(Str::trusted(s.as_escaped())));
    let host_only = |s: &str| {
        s.starts_with("set_")
            || s.starts_with("get_")
            || matches!(
                s,
                "supported_commands" | "mcp_server_status" | "continue_last_turn" | "mcp_status" | "rewind_files" | "mcp_set_servers"
            )
    };
    matches!(
        kind,
        Some(ControlKind::Initialize | ControlKind::Interrupt | ControlKind::SetModel | ControlKind::SetMode)
    ) || subtype.is_some_and(|s| host_only(s.as_escaped()))
}

/// What a request says in all its spellings: nested in `request` (the English text, and ours), flat beside `request_id` (the
/// Chinese text), or as the program ships it (`tool_name`, `tool_use_id`, `input`).
pub(super) struct Asked<'a> {
    pub(super) origin: Origin<'a>,
    pub(super) request: Request<'a>,
    pub(super) fields: FieldList<'a>,
}

/// Reads a `control_request` of either side.
pub(super) fn asked<'a>(mut members: Members<'a>, cx: &Cx<'a>) -> Result<Asked<'a>, Error> {
    let id = members.text("request_id", cx);
    let mut fields = FieldList::new_in(cx.arena);
    let mut origin = Origin {
        session: members.text("session_id", cx),
        turn: members.text("prompt_id", cx),
        ..Origin::default()
    };
    let nested = members.shaped("request", Shape::Object, cx).and_then(|raw| Members::of(raw, cx));
    members.word("type", cx);
    let mut inside = match nested {
        Some(inside) => {
            members.pour(At::Line, knows, &mut fields);
            inside
        }
        None => members,
    };
    let subtype = inside.text("subtype", cx).ok_or(missing("request/subtype"))?;
    origin.session = inside.text("session_id", cx).or(origin.session);
    origin.turn = inside.text("prompt_id", cx).or(origin.turn);
    let kind = ControlKind::read(subtype);
    let permission = if kind == ControlKind::CanUseTool {
        Some(cx.keep(permission(&mut inside, &mut fields, cx)?))
    } else {
        None
    };
    inside.pour(At::Part("/request"), knows, &mut fields);
    Ok(Asked {
        origin,
        request: Request {
            id,
            subtype,
            kind,
            permission,
        },
        fields,
    })
}

fn request<'a>(members: Members<'a>, cx: &Cx<'a>) -> Result<Event<'a>, Error> {
    let asked = asked(members, cx)?;
    Ok(Event {
        origin: asked.origin,
        kind: Kind::Request(cx.keep(asked.request)),
        fields: asked.fields.into_bump_slice(),
    })
}

fn permission<'a>(inside: &mut Members<'a>, fields: &mut FieldList<'a>, cx: &Cx<'a>) -> Result<Permission<'a>, Error> {
    let suggestions = inside.take("permission_suggestions", cx);
    let mut call = inside.text("tool_use_id", cx);
    if let Some(mut metadata) = inside.shaped("metadata", Shape::Object, cx).and_then(|raw| Members::of(raw, cx)) {
        call = metadata.text("tool_call_id", cx).or(call);
        metadata.pour(At::Part("/request/metadata"), knows, fields);
    }
    let Some(mut tool) = inside.shaped("tool", Shape::Object, cx).and_then(|raw| Members::of(raw, cx)) else {
        let name = inside.text("tool_name", cx).ok_or(missing("request/tool_name"))?;
        return Ok(Permission {
            name,
            call,
            input: inside.take("input", cx),
            suggestions,
        });
    };
    let name = tool.text("name", cx).ok_or(missing("request/tool/name"))?;
    let input = tool.take("arguments", cx);
    tool.pour(At::Part("/request/tool"), knows, fields);
    Ok(Permission {
        name,
        call,
        input,
        suggestions,
    })
}

/// The id of the question that a `control_response` answers.
pub(super) fn answered<'a>(members: &Members<'a>) -> Option<Str<'a>> {
    members
        .get("request_id")
        .or_else(|| members.get("response").and_then(|r| r.get("request_id")))
        .and_then(inner)
}

/// Reads a `control_response`: `request_id` at the top and `result` inside (both texts), or both inside as `request_id` and
/// `response` (as shipped). The behavior of an answer is `allow` or `deny`, whatever it is spelled like.
pub(super) fn response<'a>(members: &mut Members<'a>, fields: &mut FieldList<'a>, cx: &Cx<'a>) -> Result<Response<'a>, Error> {
    members.word("type", cx);
    let top = members.text("request_id", cx);
    let mut inside = members
        .shaped("response", Shape::Object, cx)
        .and_then(|raw| Members::of(raw, cx))
        .ok_or(missing("response"))?;
    let subtype = inside.text("subtype", cx).ok_or(missing("response/subtype"))?;
    // Whatever is no error is a success, and any other word for it has no place.
    if matches!(subtype.as_escaped(), "success" | "error") {
        cx.took(subtype.as_escaped());
    }
    let id = inside.text("request_id", cx).or(top);
    let body = inside
        .take("result", cx)
        .or_else(|| inside.take("response", cx))
        .map(|body| allowed(body, cx));
    let error = inside.take("error", cx);
    inside.pour(At::Part("/response"), knows, fields);
    Ok(Response {
        id,
        ok: !subtype.is("error"),
        body,
        error,
    })
}

/// An answer with `approve` said as `allow`.
fn allowed<'a>(body: Raw<'a>, cx: &Cx<'a>) -> Raw<'a> {
    super::answer::respelled(body, "approve", "allow", cx)
}
