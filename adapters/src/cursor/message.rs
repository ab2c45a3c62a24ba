//! The `message` of Cursor's lines.

use bumpalo::collections::Vec as ArenaVec;

use super::members::{Inside, Line, Members, Message};
use crate::event::{At, Block, Field};
use crate::json::{Error, Raw, Shape, Why};

/// `message`: its blocks; what is in it besides becomes fields.
pub(super) fn message<'a>(
    line: &Line<'a>,
    members: &mut Members<'a>,
    inside: Inside<'a>,
    fields: &mut ArenaVec<'a, Field<'a>>,
) -> Result<&'a [Block<'a>], Error> {
    let value = members.need("message", line)?;
    let wrong = |part: Raw<'a>| line.place(part.as_str(), Error { at: 0, why: Why::Type });
    let Message { mut outer, blocks } = inside.message.ok_or(wrong(value))?;
    outer.take_word("role", line)?;
    let content = outer.take("content").ok_or(line.missing("message/content"))?;
    outer.rest(At::Part("/message"), fields);
    if content.shape() == Some(Shape::String) {
        let text = line.string(content)?;
        return Ok(line.cx.list(&[Block::Text { text, fields: &[] }]));
    }
    let blocks = blocks.filter(|_| content.shape() == Some(Shape::Array)).ok_or(wrong(content))?;
    let mut read = ArenaVec::with_capacity_in(blocks.len(), line.cx.arena);
    for (raw, members) in blocks {
        read.push(block(line, raw, members)?);
    }
    Ok(read.into_bump_slice())
}

fn block<'a>(line: &Line<'a>, raw: Raw<'a>, mut members: Members<'a>) -> Result<Block<'a>, Error> {
    let kind = members.take_string("type", line)?.unwrap_or_default();
    if !kind.is("text") {
        return Ok(Block::Other {
            kind,
            raw: line.checked(raw)?,
        });
    }
    line.cx.took(kind.as_escaped());
    let end = Error {
        at: raw.as_str().len(),
        why: Why::Missing("text"),
    };
    let text = members.take("text").ok_or(line.place(raw.as_str(), end))?;
    let mut fields = line.fields();
    members.rest(At::Block(0), &mut fields);
    Ok(Block::Text {
        text: line.string(text)?,
        fields: fields.into_bump_slice(),
    })
}
