//! Control lines, in both directions.

use super::super::{REQUEST, RESPONSE};
use super::{Decoder, Envelope, Line, name};
use crate::event::{At, ControlKind, Input, InputKind, Kind, Permission, Request, Response, Side, Withdraw};
use crate::json::{Error, Raw, Shape, Str, Why};

/// How many questions may be open in each direction; beyond that the oldest are forgotten.
const OPEN: usize = 256;

/// Questions that wait for an answer, by id: who asked tells who answers.
#[derive(Debug, Default)]
pub(super) struct Asked {
    by_agent: Vec<String>,
    by_host: Vec<String>,
}

impl Asked {
    fn add(&mut self, id: Option<Str<'_>>, side: Side) {
        let Some(id) = id else { return };
        let open = if side == Side::Host { &mut self.by_host } else { &mut self.by_agent };
        if open.len() == OPEN {
            open.remove(0);
        }
        open.push(id.as_escaped().to_owned());
    }

    /// Who asked the question `id`.
    fn asker(&self, id: Option<Str<'_>>) -> Option<Side> {
        let id = id?.as_escaped();
        if self.by_agent.iter().any(|open| open == id) {
            return Some(Side::Agent);
        }
        self.by_host.iter().any(|open| open == id).then_some(Side::Host)
    }

    fn answered(&mut self, id: Option<Str<'_>>) {
        let Some(id) = id.map(Str::as_escaped) else { return };
        self.by_agent.retain(|open| open != id);
        self.by_host.retain(|open| open != id);
    }
}

impl Decoder {
    pub(super) fn control_request<'a>(&mut self, mut line: Line<'_, 'a, '_>) -> Result<usize, Error> {
        let mut envelope = Envelope::new(&line.reader);
        let (mut id, mut payload) = (None, None);
        let mut object = line.at.object()?;
        while let Some(key) = object.key(&mut line.at)? {
            match name(line.cx, key) {
                "request_id" if id.is_none() => id = line.reader.text(&mut line.at, At::Line, key, &mut envelope.fields)?,
                "request" if payload.is_none() && line.at.shape()? == Shape::Object => payload = Some(line.at.raw()?),
                name => envelope.member(key, name, &line.reader, &mut line.at)?,
            }
        }
        let used = line.at.position();
        let payload: Raw<'a> = payload.ok_or(line.at.error(Why::Missing("request")))?;
        let subtype = payload
            .get("subtype")
            .and_then(Raw::string)
            .ok_or(line.at.error(Why::Missing("request/subtype")))?;
        line.cx.took(subtype.as_escaped());
        let kind = ControlKind::read(subtype);
        let permission = line.request(payload, kind, &mut envelope)?;
        // Only the agent asks these two; some hosts do so for a test. The agent's `can_use_tool` names its call.
        let asker = match kind {
            ControlKind::CanUseTool if permission.is_some_and(|p| p.call.is_some()) => Side::Agent,
            ControlKind::CanUseTool | ControlKind::Mcp if self.side == Side::Host => Side::Host,
            ControlKind::CanUseTool | ControlKind::Mcp => Side::Agent,
            // The program refuses it where a host asks, and only an agent that stands in for it asks it.
            ControlKind::Hook if self.side != Side::Host => Side::Agent,
            _ => Side::Host,
        };
        self.asked.add(id, asker);
        let request = line.cx.keep(Request {
            id,
            subtype,
            kind,
            permission,
        });
        if asker == Side::Host {
            if !matches!(kind, ControlKind::CanUseTool | ControlKind::Mcp) {
                self.side = Side::Host;
            }
            line.input(envelope, InputKind::Request(request));
        } else {
            line.event(envelope, Kind::Request(request));
        }
        Ok(used)
    }

    pub(super) fn control_response<'a>(&mut self, mut line: Line<'_, 'a, '_>) -> Result<usize, Error> {
        let mut envelope = Envelope::new(&line.reader);
        let mut payload = None;
        let mut object = line.at.object()?;
        while let Some(key) = object.key(&mut line.at)? {
            match name(line.cx, key) {
                "response" if payload.is_none() && line.at.shape()? == Shape::Object => payload = Some(line.at.raw()?),
                name => envelope.member(key, name, &line.reader, &mut line.at)?,
            }
        }
        let used = line.at.position();
        let payload: Raw<'a> = payload.ok_or(line.at.error(Why::Missing("response")))?;
        let mut response = Response {
            id: None,
            ok: true,
            body: None,
            error: None,
        };
        let mut subtype = None;
        for (key, value) in payload.members() {
            match name(line.cx, key) {
                "subtype" if subtype.is_none() && matches!(value.as_str(), "\"success\"" | "\"error\"") => {
                    subtype = value.string();
                    line.cx.took(value.as_str());
                }
                "request_id" if response.id.is_none() && value.shape() == Some(Shape::String) => response.id = value.string(),
                "response" if response.body.is_none() => response.body = Some(value),
                "error" if response.error.is_none() => response.error = Some(value),
                _ => envelope.fields.push(line.reader.field(At::Part(RESPONSE), key, value)),
            }
        }
        response.ok = subtype.map_or(response.error.is_none(), |word| word.is("success"));
        let asker = self.asked.asker(response.id);
        self.asked.answered(response.id);
        let response_kept = line.cx.keep(response);
        // Whoever did not ask answers.
        let by_host = asker.map_or(self.side == Side::Host, |asker| asker == Side::Agent);
        if by_host {
            line.input(envelope, InputKind::Response(response_kept));
        } else {
            // The answer to `initialize` names the session.
            let session = response
                .body
                .filter(|body| body.get("capabilities").is_some())
                .and_then(|body| body.get("session_id"));
            if let Some(session) = session.and_then(Raw::string) {
                line.sink.program(Some(session), None);
            }
            line.event(envelope, Kind::Response(response_kept));
        }
        Ok(used)
    }

    /// The program never takes a question back (0.24.4); a host may.
    pub(super) fn control_cancel<'a>(&mut self, mut line: Line<'_, 'a, '_>) -> Result<usize, Error> {
        let mut envelope = Envelope::new(&line.reader);
        let mut id = None;
        let mut object = line.at.object()?;
        while let Some(key) = object.key(&mut line.at)? {
            match name(line.cx, key) {
                "request_id" if id.is_none() => id = line.reader.text(&mut line.at, At::Line, key, &mut envelope.fields)?,
                name => envelope.member(key, name, &line.reader, &mut line.at)?,
            }
        }
        let by_agent = self.asked.asker(id).map_or(self.side == Side::Agent, |asker| asker == Side::Agent);
        let withdraw = Withdraw { id };
        let used = line.at.position();
        if by_agent {
            line.event(envelope, Kind::Withdraw(withdraw));
        } else {
            line.input(envelope, InputKind::Withdraw(withdraw));
        }
        Ok(used)
    }
}

impl<'a> Line<'_, 'a, '_> {
    fn input(&mut self, envelope: Envelope<'a>, kind: InputKind<'a>) {
        self.sink.input(&Input {
            origin: envelope.origin,
            kind,
            fields: envelope.fields.into_bump_slice(),
        });
    }

    /// The members of a request's payload, which has been checked in full. `null` stands for nothing in two places.
    fn request(&self, payload: Raw<'a>, kind: ControlKind, envelope: &mut Envelope<'a>) -> Result<Option<&'a Permission<'a>>, Error> {
        let asks = kind == ControlKind::CanUseTool;
        let mut permission = Permission::default();
        let (mut typed, mut named) = (false, false);
        for (key, value) in payload.members() {
            let text = value.shape() == Some(Shape::String);
            match name(self.cx, key) {
                "subtype" if !typed => typed = true,
                "tool_name" if asks && !named && text => {
                    named = true;
                    permission.name = value.string().unwrap_or_default();
                }
                "tool_use_id" if asks && permission.call.is_none() && text => permission.call = value.string(),
                "input" if asks && permission.input.is_none() => permission.input = Some(value),
                "permission_suggestions" if asks && permission.suggestions.is_none() && !value.is_null() => permission.suggestions = Some(value),
                "permission_suggestions" | "blocked_path" if asks && value.is_null() => self.cx.took(value.as_str()),
                _ => envelope.fields.push(self.reader.field(At::Part(REQUEST), key, value)),
            }
        }
        if !asks {
            return Ok(None);
        }
        if !named {
            return Err(self.at.error(Why::Missing("request/tool_name")));
        }
        Ok(Some(self.cx.keep(permission)))
    }
}
