//! Writing what stands beside the conversation: results of commands, hints, heartbeats and cancels, the control channel, errors.

use super::answer;
use super::encode::Encoder;
use super::own;
use crate::codec::Layout;
use crate::event::{At, CancelResult, CommandResult, ControlKind, Event, Fatal, Fields, Heartbeat, HintResult, Origin, Request, Response};
use crate::json::{Out, Raw, Shape, Str};

/// The object of a control request.
pub(super) const REQUEST: At<'static> = At::Part("/request");

impl Encoder {
    /// Begins a side line.
    fn begin_side(&mut self, kind: &str, origin: &Origin<'_>, out: &mut Out) {
        self.begin_session(out);
        out.lit("{\"type\":\"");
        out.lit(kind);
        out.lit("\"");
        let session = origin
            .session
            .or_else(|| (!self.own && !self.session.is_empty()).then(|| Str::trusted(&self.session)));
        session_and_turn(&Origin { session, ..*origin }, true, out);
    }

    /// Writes the receipt before the first line of a session. What an agent asks before it has named its session (Claude's hooks
    /// and MCP servers) comes before any session.
    pub(super) fn begin_session(&mut self, out: &mut Out) {
        self.flush_head(out);
        if !self.own && !self.session.is_empty() {
            self.begin(out);
        }
    }

    pub(super) fn command(&mut self, result: &CommandResult<'_>, origin: &Origin<'_>, fields: Fields<'_>, out: &mut Out) {
        self.begin_side("result/command", origin, out);
        out.unchecked_if(",\"command\":", result.command);
        out.unchecked_if(",\"result\":", result.result);
        own::end_line(fields, out);
    }

    pub(super) fn hint(&mut self, hint: &HintResult<'_>, origin: &Origin<'_>, fields: Fields<'_>, out: &mut Out) {
        self.begin_side("result/command_hint", origin, out);
        out.str_if(",\"trigger\":", hint.trigger);
        out.str_if(",\"status\":", hint.status);
        out.unchecked_if(",\"suggestions\":", hint.suggestions);
        out.unchecked_if(",\"metadata\":", hint.metadata);
        out.str_if(",\"message\":", hint.message);
        own::end_line(fields, out);
    }

    pub(super) fn heartbeat(&mut self, heartbeat: Heartbeat<'_>, origin: &Origin<'_>, fields: Fields<'_>, out: &mut Out) {
        self.begin_side("result/heartbeat", origin, out);
        out.str_if(",\"status\":", heartbeat.status);
        out.unchecked_if(",\"ts\":", heartbeat.ts);
        own::end_line(fields, out);
    }

    pub(super) fn cancel(&mut self, cancel: CancelResult<'_>, origin: &Origin<'_>, fields: Fields<'_>, out: &mut Out) {
        self.begin_side("result/cancel", origin, out);
        out.str_if(",\"status\":", cancel.status);
        out.str_if(",\"message\":", cancel.message);
        own::end_line(fields, out);
    }

    /// A question to the host. A question about a call comes behind the reply that made the call.
    pub(super) fn request(&mut self, request: &Request<'_>, event: &Event<'_>, out: &mut Out) {
        if request.permission.is_some() {
            match self.mode.layout {
                Layout::Pieces => self.end_calls(out),
                _ => self.flush(None, out),
            }
        }
        self.begin_session(out);
        out.lit("{\"type\":\"control_request\"");
        out.str_if(",\"request_id\":", request.id);
        out.lit(",\"request\":{\"subtype\":");
        let confirms = !self.own && request.kind == ControlKind::Confirm && !request.subtype.as_escaped().contains("confirm");
        if confirms {
            // The RFC's own question to a person.
            out.renamed(request.subtype.as_escaped(), "the RFC's own question");
            out.lit("\"confirm_action\"");
        } else if self.own {
            out.str(request.subtype);
        } else {
            request.write_subtype(out);
        }
        let origin = event.origin;
        if self.own {
            session_and_turn(&origin, true, out);
        } else {
            let session = origin.session.or_else(|| (!self.session.is_empty()).then(|| Str::trusted(&self.session)));
            out.str_if(",\"session_id\":", session);
            self.prompt_id(origin.turn, out);
        }
        if let Some(permission) = request.permission {
            out.lit(",\"tool\":{\"name\":");
            out.str(permission.name);
            out.unchecked_if(",\"arguments\":", permission.input);
            if self.own {
                own::write(own::at(event.fields, &[At::Part("/request/tool")]), out);
            }
            out.lit("}");
            self.permission_metadata(permission.call, event.fields, out);
            if self.own {
                out.unchecked_if(",\"permission_suggestions\":", permission.suggestions);
            }
        }
        if self.own
            || matches!(
                request.subtype.as_escaped(),
                "confirm_shell_commands" | "confirm_action" | "quit_confirmation"
            )
        {
            own::write(own::at(event.fields, &[REQUEST]), out);
        } else if request.permission.is_none() {
            payload(event.fields, out);
        }
        out.lit("}");
        own::end_line(self.own_fields(event.fields), out);
    }

    fn permission_metadata(&self, call: Option<Str<'_>>, fields: Fields<'_>, out: &mut Out) {
        let fields = own::at(self.own_fields(fields), &[At::Part("/request/metadata")]);
        let Some(call) = call else {
            return own::object(",\"metadata\":{", fields, out);
        };
        out.lit(",\"metadata\":{\"tool_call_id\":");
        out.str(call);
        own::write(fields, out);
        out.lit("}");
    }

    /// The turn's id, which every question names; by default `<session>########<turn>`.
    fn prompt_id(&self, turn: Option<Str<'_>>, out: &mut Out) {
        match turn {
            Some(turn) => out.str_if(",\"prompt_id\":", Some(turn)),
            // What is asked before there is a session belongs to no turn.
            None if self.session.is_empty() => {}
            None => {
                out.invented("/request/prompt_id", "the source does not number its turns");
                out.lit(",\"prompt_id\":\"");
                out.lit(&self.session);
                out.lit("########");
                out.number(self.turn.number);
                out.lit("\"");
            }
        }
    }

    /// An answer to the host: the RFC has it for a cancel alone.
    pub(super) fn response(&mut self, response: &Response<'_>, fields: Fields<'_>, out: &mut Out) {
        write_response(response, fields, out);
    }

    /// The program ends with an error.
    pub(super) fn fatal(&mut self, fatal: &Fatal<'_>, fields: Fields<'_>, out: &mut Out) {
        match self.mode.layout {
            Layout::Pieces => self.break_chunks(out),
            _ => self.flush(None, out),
        }
        if fatal
            .code
            .is_some_and(|code| code.string().is_some_and(|code| code.is("unsupported_protocol")))
        {
            return self.unsupported(fatal, fields, out);
        }
        out.lit("{\"error\":{\"message\":");
        out.str(fatal.message);
        match fatal.kind {
            Some(kind) => out.str_if(",\"type\":", Some(kind)),
            None if self.own => {}
            None => {
                out.invented("/error/type", "OpenAI's type wants one");
                out.lit(",\"type\":\"server_error\"");
            }
        }
        if self.own {
            out.unchecked_if(",\"param\":", fatal.param);
            out.unchecked_if(",\"code\":", fatal.code);
            own::write(own::at(fields, &[At::Part("/error")]), out);
        } else {
            out.lit(",\"param\":");
            nullable(fatal.param, out);
            out.lit(",\"code\":");
            match fatal.code {
                Some(code) => nullable(Some(code), out),
                None => {
                    out.invented("/error/code", "the source has no code");
                    out.lit("\"QWEN_INTERNAL\"");
                }
            }
        }
        out.lit("}");
        own::end_line(fields, out);
    }

    /// The program does not speak the version that the host wants.
    fn unsupported(&mut self, fatal: &Fatal<'_>, fields: Fields<'_>, out: &mut Out) {
        self.frame.begin(out);
        out.lit(match self.mode.layout {
            Layout::Pieces => "[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":",
            _ => "[{\"index\":0,\"message\":{\"role\":\"assistant\",\"content\":",
        });
        out.str(fatal.message);
        own::write(own::at(fields, &own::BODIES), out);
        out.lit("},\"finish_reason\":\"error\"");
        own::end_choice(fields, out);
        out.lit(",\"metadata\":{\"error\":\"unsupported_protocol\",\"protocol_version\":\"1\"");
        out.used_raw(fatal.code);
        own::write(own::at(fields, &[own::METADATA]), out);
        out.lit("}");
        own::end_line(fields, out);
    }
}

/// Writes session and turn of a side line, where it names them.
pub(super) fn session_and_turn(origin: &Origin<'_>, named: bool, out: &mut Out) {
    if named {
        out.str_if(",\"session_id\":", origin.session);
        out.str_if(",\"prompt_id\":", origin.turn);
    }
}

/// Writes a `control_response` of either side.
pub(super) fn write_response(response: &Response<'_>, fields: Fields<'_>, out: &mut Out) {
    out.lit("{\"type\":\"control_response\"");
    out.str_if(",\"request_id\":", response.id);
    if response.ok {
        out.lit(",\"response\":{\"subtype\":\"success\",\"result\":");
        match response.body {
            Some(body) => answer::write(body, out),
            None => out.lit("{}"),
        }
    } else {
        out.lit(",\"response\":{\"subtype\":\"error\",\"error\":");
        match response.error {
            Some(error) if error.shape() == Some(Shape::Object) => out.unchecked(error),
            Some(error) => {
                out.lit("{\"message\":");
                match error.shape() {
                    Some(Shape::String) => out.unchecked(error),
                    _ => {
                        out.lit("\"");
                        out.json_in_string(error.as_str());
                        out.lit("\"");
                    }
                }
                out.invented("/response/error/retryable", "the source does not say whether to ask again");
                out.lit(",\"retryable\":false}");
            }
            None => {
                out.invented("/response/error/message", "the source does not say what went wrong");
                out.lit("{\"message\":\"no answer\",\"retryable\":false}");
            }
        }
    }
    own::write(own::at(fields, &[At::Part("/response")]), out);
    out.lit("}");
    own::end_line(fields, out);
}

/// Writes what another dialect's question says besides, in one piece.
fn payload(fields: Fields<'_>, out: &mut Out) {
    let known = own::at(fields, &[REQUEST]).filter(|field| field.known);
    own::object(",\"payload\":{", known, out);
}

/// Writes a text, or `null` for whatever else it is: OpenAI's type knows nothing else there.
fn nullable(value: Option<Raw<'_>>, out: &mut Out) {
    match value {
        Some(value) if value.shape() == Some(Shape::String) => out.unchecked(value),
        _ => out.lit("null"),
    }
}
