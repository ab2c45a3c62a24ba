//! The control channel: requests, answers, and who said them.

use crate::blocks::{Members, Reader};
use crate::event::{At, ControlKind, Event, Input, InputKind, Kind, Notice, Permission, Request, Response, Side, Sink, Topic, Withdraw};
use crate::json::{Cursor, Error, Raw, Shape, Str, Why};

use super::decode::Decoder;
use super::line::Head;
use super::{REQUEST, RESPONSE};
use crate::learn::Aside;

/// Requests that wait for their answer.
#[derive(Debug, Default)]
pub(super) struct Ids(Vec<String>);

impl Ids {
    /// More than anybody has open; the oldest are forgotten.
    const MOST: usize = 256;

    pub(super) fn add(&mut self, id: Option<Str<'_>>) {
        let Some(id) = id else { return };
        if self.0.len() == Self::MOST {
            self.0.remove(0);
        }
        self.0.push(id.as_escaped().to_owned());
    }

    pub(super) fn has(&self, id: Option<Str<'_>>) -> bool {
        id.is_some_and(|id| self.0.iter().any(|known| known == id.as_escaped()))
    }

    /// Whether it was there.
    pub(super) fn take(&mut self, id: Option<Str<'_>>) -> bool {
        let found = id.and_then(|id| self.0.iter().position(|known| known == id.as_escaped()));
        if let Some(at) = found {
            self.0.remove(at);
        }
        found.is_some()
    }
}

/// What a control request is about.
fn kind_of(subtype: &str) -> ControlKind {
    match subtype {
        "can_use_tool" => ControlKind::CanUseTool,
        "hook_callback" => ControlKind::Hook,
        "mcp_message" => ControlKind::Mcp,
        "elicitation" | "request_user_dialog" => ControlKind::Confirm,
        "initialize" => ControlKind::Initialize,
        "interrupt" => ControlKind::Interrupt,
        "set_model" => ControlKind::SetModel,
        "set_permission_mode" => ControlKind::SetMode,
        _ => ControlKind::Other,
    }
}

impl Decoder {
    pub(super) fn control_request<'a>(&mut self, text: &'a str, reader: Reader<'_, 'a>, sink: &mut dyn Sink<'a>) -> Result<usize, Error> {
        let mut head = Head::new(reader, false);
        let mut id = None;
        let mut body = None;
        let used = head.walk(text, |head, name, key, at| {
            match name {
                "request_id" if id.is_none() => id = head.text(key, at)?,
                "request" if body.is_none() => {
                    let mut members = Members::new(reader, At::Part(REQUEST));
                    let mut object = at.object()?;
                    while let Some(key) = object.key(at)? {
                        members.push(key, at)?;
                    }
                    body = Some((members, at.position()));
                }
                _ => return Ok(false),
            }
            Ok(true)
        })?;
        let (mut members, end) = body.ok_or(Error::missing(used, "request"))?;
        let subtype = members.need("subtype", end)?;
        let kind = kind_of(&subtype.unescape());
        let mut permission = None;
        if kind == ControlKind::CanUseTool {
            permission = Some(Permission {
                name: members.need("tool_name", end)?,
                call: members.text("tool_use_id"),
                input: members.value("input"),
                suggestions: members.value("permission_suggestions"),
            });
        }
        reader.cx.took(subtype.as_escaped());
        members.pour(&mut head.fields);
        let permission = permission.map(|p| reader.cx.keep(p));
        let request = reader.cx.keep(Request {
            id,
            subtype,
            kind,
            permission,
        });
        let by_agent = match kind {
            ControlKind::CanUseTool | ControlKind::Hook | ControlKind::Confirm => true,
            ControlKind::Mcp => self.side != Side::Host,
            ControlKind::Initialize | ControlKind::Interrupt | ControlKind::SetModel | ControlKind::SetMode => false,
            ControlKind::Other => self.side == Side::Agent && !super::input::HOST_REQUESTS.contains(&&*subtype.unescape()),
        };
        let (origin, fields) = (head.origin(), head.fields.into_bump_slice());
        if by_agent {
            self.agent_asked.add(id);
            sink.event(&Event {
                origin,
                kind: Kind::Request(request),
                fields,
            });
        } else {
            if kind != ControlKind::Mcp {
                self.side = Side::Host;
            }
            self.host_asked.add(id);
            sink.input(&Input {
                origin,
                kind: InputKind::Request(request),
                fields,
            });
        }
        Ok(used)
    }

    pub(super) fn control_response<'a>(&mut self, text: &'a str, reader: Reader<'_, 'a>, sink: &mut dyn Sink<'a>) -> Result<usize, Error> {
        let mut head = Head::new(reader, false);
        let mut response: Option<Response<'a>> = None;
        let used = head.walk(text, |head, name, _, at| {
            if name != "response" || response.is_some() {
                return Ok(false);
            }
            let mut members = Members::new(reader, At::Part(RESPONSE));
            let mut body = None;
            let mut object = at.object()?;
            while let Some(key) = object.key(at)? {
                if body.is_none() && key.is("response") {
                    body = Some(at.raw()?);
                } else {
                    members.push(key, at)?;
                }
            }
            let end = at.position();
            let subtype = members.need("subtype", end)?;
            let ok = match &*subtype.unescape() {
                "success" => true,
                "error" => false,
                _ => return Err(Error { at: end, why: Why::Type }),
            };
            reader.cx.took(subtype.as_escaped());
            let id = members.text("request_id");
            let error = members.value("error");
            members.pour(&mut head.fields);
            response = Some(Response { id, ok, body, error });
            Ok(true)
        })?;
        let response = reader.cx.keep(response.ok_or(Error::missing(used, "response"))?);
        let (origin, fields) = (head.origin(), head.fields.into_bump_slice());
        let by_host = self.agent_asked.take(response.id) || (!self.host_asked.take(response.id) && self.side == Side::Host);
        if by_host {
            sink.input(&Input {
                origin,
                kind: InputKind::Response(response),
                fields,
            });
        } else {
            let event = Event {
                origin,
                kind: Kind::Response(response),
                fields,
            };
            // The answer to `initialize`: nothing else names the process.
            let body = response.body.filter(|body| body.get("commands").is_some());
            match body.and_then(|body| body.get("pid")) {
                Some(process) => sink.program(None, Some(process)),
                None => self.learn(&text[..used], &event, Aside::default(), reader.cx),
            }
            sink.event(&event);
        }
        Ok(used)
    }

    pub(super) fn control_cancel<'a>(&mut self, text: &'a str, reader: Reader<'_, 'a>, sink: &mut dyn Sink<'a>) -> Result<usize, Error> {
        let mut head = Head::new(reader, false);
        let mut id = None;
        let used = head.walk(text, |head, name, key, at| {
            match name {
                "request_id" if id.is_none() => id = head.text(key, at)?,
                _ => return Ok(false),
            }
            Ok(true)
        })?;
        let withdraw = Withdraw { id };
        let (origin, fields) = (head.origin(), head.fields.into_bump_slice());
        // Only who asked can take it back.
        let by_host = self.host_asked.has(id) || (!self.agent_asked.has(id) && self.side == Side::Host);
        if by_host {
            sink.input(&Input {
                origin,
                kind: InputKind::Withdraw(withdraw),
                fields,
            });
        } else {
            sink.event(&Event {
                origin,
                kind: Kind::Withdraw(withdraw),
                fields,
            });
        }
        Ok(used)
    }

    pub(super) fn keep_alive<'a>(&mut self, text: &'a str, reader: Reader<'_, 'a>, sink: &mut dyn Sink<'a>) -> Result<usize, Error> {
        let mut head = Head::new(reader, false);
        let used = head.walk(text, |_, _, _, _| Ok(false))?;
        let (origin, fields) = (head.origin(), head.fields.into_bump_slice());
        if self.side == Side::Agent {
            let notice = Notice {
                name: Str::trusted("keep_alive"),
                topic: Topic::Other,
                message: None,
                data: None,
            };
            sink.event(&Event {
                origin,
                kind: Kind::Notice(reader.cx.keep(notice)),
                fields,
            });
        } else {
            sink.input(&Input {
                origin,
                kind: InputKind::KeepAlive,
                fields,
            });
        }
        Ok(used)
    }

    pub(super) fn environment<'a>(&mut self, text: &'a str, reader: Reader<'_, 'a>, sink: &mut dyn Sink<'a>) -> Result<usize, Error> {
        let mut head = Head::new(reader, false);
        let mut variables: Option<Raw<'a>> = None;
        let used = head.walk(text, |_, name, _, at: &mut Cursor<'a>| {
            if name != "variables" || variables.is_some() || at.shape()? != Shape::Object {
                return Ok(false);
            }
            variables = Some(at.raw()?);
            Ok(true)
        })?;
        let variables = variables.ok_or(Error::missing(used, "variables"))?;
        self.side = Side::Host;
        sink.input(&Input {
            origin: head.origin(),
            kind: InputKind::Environment(variables),
            fields: head.fields.into_bump_slice(),
        });
        Ok(used)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::{Cx, Decode};
    use bumpalo::Bump;

    #[derive(Default)]
    struct Told(Vec<String>);

    impl<'a> Sink<'a> for Told {
        fn event(&mut self, event: &Event<'a>) {
            self.0.push(format!("{event:?}"));
        }

        fn input(&mut self, input: &Input<'a>) {
            self.0.push(format!("{input:?}"));
        }
    }

    /// Whether the line is read like an earlier one. It says the same as in the general way.
    fn is_learnt(decoder: &mut Decoder, general: &mut Decoder, line: &str) -> bool {
        let arena = Bump::new();
        let (cx, trace) = (Cx::new(&arena), crate::trace::Trace::default());
        trace.begin(line);
        let (mut fast, mut whole) = (Told::default(), Told::default());
        let used = decoder.read_learnt(line, false, &cx, &mut fast);
        if used.is_none() {
            decoder.line(line, &cx, &mut fast).unwrap();
        }
        let watched = Cx { trace: Some(&trace), ..cx };
        general.line(line, &watched, &mut whole).unwrap();
        assert_eq!(fast.0, whole.0);
        assert_eq!(decoder.side, general.side);
        used.is_some()
    }

    #[test]
    fn answers_are_learnt_but_those_that_a_host_may_have_given() {
        let models = r#"{"name":"a","description":"what it does"},"#.repeat(300);
        let answer = |id: &str, pid: u32, mode: &str| {
            format!(
                "{{\"type\":\"control_response\",\"response\":{{\"subtype\":\"success\",\"request_id\":\"{id}\",\"response\":{{\"models\":[{models}1],\"pid\":{pid},\"mode\":\"{mode}\"}},\"pending\":[]}}}}"
            )
        };
        let asks = |id: &str| {
            format!(
                "{{\"type\":\"control_request\",\"request_id\":\"{id}\",\"request\":{{\"subtype\":\"can_use_tool\",\"tool_name\":\"Bash\",\"input\":{{}}}}}}"
            )
        };
        let interrupts = "{\"type\":\"control_request\",\"request_id\":\"i\",\"request\":{\"subtype\":\"interrupt\"}}";
        let (mut decoder, mut general) = (Decoder::default(), Decoder::default());
        let mut is_learnt = |line: &str| is_learnt(&mut decoder, &mut general, line);
        assert!(!is_learnt(&answer("1", 7, "x")));
        assert!(is_learnt(&answer("2", 123_456, "x")));
        assert!(!is_learnt(&answer("2", 8, "y")));
        assert!(is_learnt(&answer("3", 9, "y")));
        // The agent has asked this.
        is_learnt(&asks("4"));
        assert!(is_learnt(&answer("5", 9, "y")));
        assert!(!is_learnt(&answer("4", 9, "y")));
        assert!(is_learnt(&answer("4", 9, "y")), "it has been answered");
        // A log of the host's, too, in which the agent answers what it was asked.
        is_learnt(interrupts);
        assert!(is_learnt(&answer("i", 9, "y")));
        assert!(!is_learnt(&answer("i", 9, "y")), "the host answers somebody");
    }

    #[test]
    fn as_many_shapes_are_kept_as_there_is_room_for() {
        let line = |n: usize, len: usize| {
            let key = "x".repeat(len);
            format!("{{\"type\":\"system\",\"subtype\":\"status\",\"uuid\":\"u\",\"session_id\":\"s\",\"{n}{key}\":\"a\"}}")
        };
        // More than there is room for, and longer ones of which there are fewer.
        for (count, len) in [(520, 1), (150, 8000)] {
            let (mut decoder, mut general) = (Decoder::default(), Decoder::default());
            let mut is_learnt = |line: &str| is_learnt(&mut decoder, &mut general, line);
            for n in 0..count {
                assert!(!is_learnt(&line(n, len)));
                assert!(is_learnt(&line(n, len)) && is_learnt(&line(n, len)));
            }
            assert!(is_learnt(&line(count - 100, len)));
            assert!(!is_learnt(&line(0, len)), "the oldest is forgotten");
            assert!(is_learnt(&line(0, len)));
            assert!(!is_learnt(&line(1, len)));
        }
    }

    /// The answer to `initialize` says which process speaks from here on, each time.
    #[test]
    fn a_process_is_told_each_time() {
        #[derive(Default)]
        struct Told(Vec<String>);
        impl<'a> Sink<'a> for Told {
            fn event(&mut self, _: &Event<'a>) {}
            fn input(&mut self, _: &Input<'a>) {}
            fn program(&mut self, _: Option<Str<'a>>, process: Option<Raw<'a>>) {
                self.0.extend(process.map(|process| process.as_str().to_owned()));
            }
        }
        let (arena, mut decoder, mut told) = (Bump::new(), Decoder::default(), Told::default());
        let cx = Cx::new(&arena);
        for pid in ["7", "8", "9"] {
            let line = arena.alloc_str(&format!(
                "{{\"type\":\"control_response\",\"response\":{{\"subtype\":\"success\",\"request_id\":\"r\",\"response\":{{\"commands\":[],\"pid\":{pid}}}}}}}"
            ));
            decoder.line(line, &cx, &mut told).unwrap();
        }
        assert_eq!(told.0, ["7", "8", "9"]);
    }
}
