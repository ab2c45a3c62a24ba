//! `system` lines: the session's facts, once a turn, and notices.

use super::{Decoder, Envelope, Line, name};
use crate::event::{At, Event, Field, Kind, Notice, Origin, RoundEnd, Session, Side, Topic};
use crate::json::{Error, Raw, Shape, Str, Why};

impl Decoder {
    pub(super) fn init<'a>(&mut self, mut line: Line<'_, 'a, '_>) -> Result<usize, Error> {
        let mut envelope = Envelope::new(&line.reader);
        let mut session = Session {
            opens_turn: true,
            ..Session::default()
        };
        let mut named = false;
        let mut object = line.at.object()?;
        while let Some(key) = object.key(&mut line.at)? {
            let name = name(line.cx, key);
            let at = &mut line.at;
            let text = match name {
                "subtype" if !named => {
                    named = true;
                    line.cx.took(at.string()?.as_escaped());
                    continue;
                }
                "cwd" => Some(&mut session.cwd),
                "model" => Some(&mut session.model),
                "permission_mode" => Some(&mut session.permission_mode),
                "qwen_code_version" => Some(&mut session.version),
                _ => None,
            };
            if let Some(slot) = text.filter(|slot| slot.is_none()) {
                *slot = line.reader.text(at, At::Line, key, &mut envelope.fields)?;
                continue;
            }
            let list = match name {
                "tools" => Some(&mut session.tools),
                "mcp_servers" => Some(&mut session.mcp_servers),
                "slash_commands" => Some(&mut session.slash_commands),
                "agents" => Some(&mut session.agents),
                "capabilities" => Some(&mut session.capabilities),
                _ => None,
            };
            match list.filter(|slot| slot.is_none()) {
                Some(slot) => {
                    let value = at.raw()?;
                    match value.shape() {
                        Some(Shape::Array | Shape::Object) => *slot = Some(value),
                        _ => envelope.fields.push(Field {
                            at: At::Line,
                            key,
                            value,
                            known: false,
                        }),
                    }
                }
                None => envelope.member(key, name, &line.reader, at)?,
            }
        }
        let used = line.at.position();
        let session = line.cx.keep(session);
        line.only(self, &envelope.event(Kind::Session(session)), used, None);
        Ok(used)
    }

    /// Any other `system` line: `retry`, `task_started`, `task_notification`, `model_fallback` … with its payload in `data`.
    pub(super) fn notice<'a>(&mut self, mut line: Line<'_, 'a, '_>) -> Result<usize, Error> {
        let mut envelope = Envelope::new(&line.reader);
        let (mut subtype, mut data) = (None, None);
        let mut object = line.at.object()?;
        while let Some(key) = object.key(&mut line.at)? {
            match name(line.cx, key) {
                "subtype" if subtype.is_none() && line.at.peek() == Some(b'"') => subtype = Some(line.at.string()?),
                "data" if data.is_none() => data = Some(line.at.raw()?),
                name => envelope.member(key, name, &line.reader, &mut line.at)?,
            }
        }
        let subtype: Str<'a> = subtype.ok_or(line.at.error(Why::Missing("subtype")))?;
        let used = line.at.position();
        self.side = Side::Agent;
        let topic = topic(&subtype.unescape());
        let gives_up = topic == Topic::Retry && data.and_then(|data| data.get("preserveText")).and_then(Raw::bool) == Some(false);
        if gives_up && self.open.unconfirmed && envelope.origin.parent.is_none() {
            // The pieces that have come belong to a reply that is fetched again. No line of the program says that it ends.
            self.open.unconfirmed = false;
            let origin = Origin {
                session: envelope.origin.session,
                ..Origin::default()
            };
            let end = line.cx.keep(RoundEnd {
                abandoned_from: Some(0),
                ..RoundEnd::PLAIN
            });
            line.sink.event(&Event::new(origin, Kind::RoundEnd(end)));
        }
        let message = data.and_then(|data| data.get("message")).and_then(Raw::string);
        let notice = line.cx.keep(Notice {
            name: subtype,
            topic,
            message,
            data,
        });
        match data {
            None => line.only(self, &envelope.event(Kind::Notice(notice)), used, None),
            // It may say something that is asked for.
            Some(_) => line.event(envelope, Kind::Notice(notice)),
        }
        Ok(used)
    }
}

fn topic(subtype: &str) -> Topic {
    match subtype {
        "retry" => Topic::Retry,
        "task_started" | "task_notification" | "task_progress" | "task_event" => Topic::Task,
        "session_start" | "session_end" | "model_fallback" | "continue_turn_failed" => Topic::Status,
        "permission_denied" => Topic::Permission,
        _ if subtype.starts_with("compact") || subtype.starts_with("chat_compress") => Topic::Compaction,
        _ if subtype.starts_with("hook_") => Topic::Hook,
        _ => Topic::Other,
    }
}
