use super::MESSAGE;
use super::read::{FieldList, Reader, plain_key};
use crate::event::{At, Block, Content, Reply, Scope, Stop, ToolResult};
use crate::json::{Cursor, Error, Raw, Shape, Str, Why};

/// One element of the content of a user message.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Part<'a> {
    /// Anything but a result.
    Block(Block<'a>),
    /// `tool_result`. Its status follows `is_error`, its `detail` is for the caller to fill in.
    Result(ToolResult<'a>),
}

/// What a user message says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Said<'a> {
    /// Text or blocks, no result among them.
    Content(Content<'a>),
    /// At least one result, perhaps with other blocks around it.
    Parts(&'a [Part<'a>]),
}

impl<'a> Reader<'_, 'a> {
    /// Reads the `message` of an `assistant` line: `id type role model content stop_reason stop_sequence usage …`. `content` has to
    /// be there.
    pub(crate) fn reply(&self, at: &mut Cursor<'a>, fields: &mut FieldList<'a>) -> Result<Reply<'a>, Error> {
        let place = At::Part(MESSAGE);
        let mut reply = Reply::default();
        let mut content = None;
        let (mut usage_seen, mut stop_seen) = (false, false);
        let mut object = at.object()?;
        while let Some(key) = object.key(at)? {
            let mut name = key.as_escaped();
            loop {
                match name {
                    "id" if reply.id.is_none() => reply.id = self.text(at, place, key, fields)?,
                    "model" if reply.model.is_none() => reply.model = self.text(at, place, key, fields)?,
                    "content" if content.is_none() => content = Some(self.blocks(at)?),
                    "usage" if !usage_seen => {
                        usage_seen = true;
                        reply.usage = self.usage(at, Scope::Round, place, key, fields)?;
                    }
                    "stop_reason" if !stop_seen => {
                        stop_seen = true;
                        reply.stop = self.text(at, place, key, fields)?.map(Stop::read);
                    }
                    _ => match plain_key(self.cx, name) {
                        Some(plain) => {
                            name = plain;
                            continue;
                        }
                        None => self.constant(at, place, key, fields)?,
                    },
                }
                break;
            }
        }
        reply.blocks = content.ok_or(at.error(Why::Missing("content")))?;
        Ok(reply)
    }

    /// Reads the `message` of a `user` line: `role content`. Another role than `user` is no user message.
    pub(crate) fn user(&self, at: &mut Cursor<'a>, fields: &mut FieldList<'a>) -> Result<Said<'a>, Error> {
        let place = At::Part(MESSAGE);
        let mut said = None;
        let mut object = at.object()?;
        while let Some(key) = object.key(at)? {
            let mut name = key.as_escaped();
            loop {
                match name {
                    "content" if said.is_none() => said = Some(self.said(at)?),
                    "role" => {
                        let role = at.string()?;
                        if !role.is("user") {
                            return Err(at.error(Why::Type));
                        }
                        self.cx.took(role.as_escaped());
                    }
                    _ => match plain_key(self.cx, name) {
                        Some(plain) => {
                            name = plain;
                            continue;
                        }
                        None => self.constant(at, place, key, fields)?,
                    },
                }
                break;
            }
        }
        said.ok_or(at.error(Why::Missing("content")))
    }

    fn said(&self, at: &mut Cursor<'a>) -> Result<Said<'a>, Error> {
        match at.shape()? {
            Shape::String => return at.string().map(|text| Said::Content(Content::Text(text))),
            // Programs read it as a prompt that says nothing.
            Shape::Null => {
                self.cx.took(at.skip()?.as_str());
                return Ok(Said::Content(Content::Blocks(&[])));
            }
            _ => {}
        }
        let begin = *at;
        let mut blocks = bumpalo::collections::Vec::with_capacity_in(at.elements_ahead(), self.cx.arena);
        let mut array = at.array()?;
        while array.more(at)? {
            match self.part(at, blocks.len() as u32, true)? {
                Part::Block(block) => blocks.push(block),
                part @ Part::Result(_) => {
                    // There may be very many blocks, and none of them needs as much memory as a result.
                    let mut parts = bumpalo::collections::Vec::with_capacity_in(begin.elements_ahead(), self.cx.arena);
                    parts.extend(blocks.into_iter().map(Part::Block));
                    parts.push(part);
                    while array.more(at)? {
                        parts.push(self.part(at, parts.len() as u32, true)?);
                    }
                    return Ok(Said::Parts(parts.into_bump_slice()));
                }
            }
        }
        Ok(Said::Content(Content::Blocks(blocks.into_bump_slice())))
    }

    /// What a host has said, of which the message stands in `line`. A result in it has no meaning to the program, which passes its JSON text to
    /// the model.
    pub(crate) fn as_prompt(&self, said: Said<'a>, line: &'a str) -> Result<Content<'a>, Error> {
        let parts = match said {
            Said::Content(content) => return Ok(content),
            Said::Parts(parts) => parts,
        };
        let content = Raw::trusted(line).get("message").and_then(|message| message.get("content"));
        let raw = content.unwrap_or(Raw::NULL);
        raw.check()?;
        let mut blocks = bumpalo::collections::Vec::with_capacity_in(parts.len(), self.cx.arena);
        blocks.extend(parts.iter().zip(raw.elements()).map(|(part, raw)| match part {
            Part::Block(block) => *block,
            Part::Result(_) => Block::Other {
                kind: Str::trusted("tool_result"),
                raw,
            },
        }));
        Ok(Content::Blocks(blocks.into_bump_slice()))
    }

    /// A member of a message that says nothing new (`type`, `role`, a `stop_sequence` that is null), or a field.
    pub(super) fn constant(&self, at: &mut Cursor<'a>, place: At<'a>, key: Str<'a>, fields: &mut FieldList<'a>) -> Result<(), Error> {
        let value = at.skip()?;
        match (key.as_escaped(), value.as_str()) {
            ("type", "\"message\"") | ("role", "\"assistant\"") | ("stop_sequence", "null") => self.cx.took(value.as_str()),
            ("type" | "role" | "stop_sequence" | "content" | "stop_reason", _) => fields.push(self.field(place, key, value)),
            _ => fields.push(self.field(place, key, value.unread())),
        }
        Ok(())
    }
}
