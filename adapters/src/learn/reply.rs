//! What stands in a turn: replies and results.

use super::Rules;
use super::mold::Pick;
use super::parts::{BlocksMold, FieldMold, UsageMold, fields_at, fields_of, holds, str_at};
use super::shape::{Hole, Match, Spot};
use crate::codec::Cx;
use crate::event::{Content, Detail, DetailShape, Reply, ResultStatus, Stop, ToolResult};
use crate::json::{Raw, Str};

/// A reply, or a part of it.
#[derive(Debug)]
pub(super) struct ReplyMold {
    id: Option<Spot>,
    model: Option<Spot>,
    stop: Option<Spot>,
    error: Option<Spot>,
    usage: Option<UsageMold>,
    blocks: BlocksMold,
    last: bool,
}

/// The result of a call.
#[derive(Debug)]
pub(super) struct ResultMold {
    call: Spot,
    name: Option<Spot>,
    content: ContentMold,
    status: ResultStatus,
    is_error: Option<bool>,
    detail: Option<(DetailShape, Spot)>,
    meta: Option<Spot>,
    fields: Box<[FieldMold]>,
}

/// What a result or a prompt says.
#[derive(Debug)]
pub(super) enum ContentMold {
    Text(Spot),
    Blocks(BlocksMold),
}

impl ReplyMold {
    pub(super) fn of(reply: &Reply<'_>, pick: &mut Pick<'_, '_>) -> Option<Self> {
        Some(Self {
            id: pick.may(reply.id, Some(Hole::Text))?,
            model: pick.may(reply.model, None)?,
            stop: pick.may(reply.stop.map(|stop| stop.word), Some(Hole::Text))?,
            error: pick.may(reply.error, Some(Hole::Text))?,
            usage: UsageMold::of(reply.usage, pick)?,
            blocks: BlocksMold::of(reply.blocks, pick)?,
            last: reply.last,
        })
    }

    /// `None` if a number does not fit. Nobody may ask for the tokens.
    pub(super) fn at<'a>(&self, found: Match<'_, 'a>, rules: &Rules, with_usage: bool, cx: &Cx<'a>) -> Option<&'a Reply<'a>> {
        let reply = Reply {
            id: str_at(found, self.id),
            model: str_at(found, self.model),
            blocks: self.blocks.at(found, rules, cx),
            stop: str_at(found, self.stop).map(Stop::read),
            usage: UsageMold::at(self.usage.as_ref().filter(|_| with_usage), found)?,
            error: str_at(found, self.error),
            last: self.last,
        };
        Some(cx.arena.alloc(reply))
    }
}

impl ContentMold {
    pub(super) fn of(content: Content<'_>, pick: &mut Pick<'_, '_>) -> Option<Self> {
        Some(match content {
            Content::Text(text) => Self::Text(pick.text(text)?),
            Content::Blocks(blocks) => Self::Blocks(BlocksMold::of(blocks, pick)?),
        })
    }

    pub(super) fn at<'a>(&self, found: Match<'_, 'a>, rules: &Rules, cx: &Cx<'a>) -> Content<'a> {
        match self {
            Self::Text(at) => Content::Text(Str::trusted(found.part(*at))),
            Self::Blocks(blocks) => Content::Blocks(blocks.at(found, rules, cx)),
        }
    }
}

impl ResultMold {
    pub(super) fn of(result: &ToolResult<'_>, meta: Option<Raw<'_>>, pick: &mut Pick<'_, '_>) -> Option<Self> {
        if result.of.is_some() {
            return None;
        }
        Some(Self {
            call: pick.text(result.call)?,
            name: pick.may(result.name, Some(Hole::Text))?,
            content: ContentMold::of(result.content, pick)?,
            status: result.status,
            is_error: result.is_error,
            detail: match result.detail {
                None => None,
                // Where the content is a text of it, all but that text stays.
                Some(detail) => {
                    let said = matches!(result.content, Content::Text(text) if holds(detail.raw.as_str(), text.as_escaped()));
                    let whole = if detail.raw.is_checked() { Hole::Value } else { Hole::Loose };
                    let hole = (!said).then_some(whole);
                    Some((detail.shape, pick.part(detail.raw.as_str(), hole)?))
                }
            },
            meta: match meta {
                None => None,
                Some(meta) => Some(pick.open(meta)?),
            },
            fields: fields_of(result.fields, pick)?,
        })
    }

    pub(super) fn at<'a>(&self, found: Match<'_, 'a>, rules: &Rules, cx: &Cx<'a>) -> &'a ToolResult<'a> {
        let raw = |spot: Spot| found.raw(spot);
        let text = |spot: Spot| Str::trusted(found.part(spot));
        let mut result = ToolResult {
            call: text(self.call),
            name: self.name.map(text),
            status: self.status,
            content: self.content.at(found, rules, cx),
            is_error: self.is_error,
            detail: self.detail.map(|(shape, at)| Detail { shape, raw: raw(at) }),
            fields: fields_at(&self.fields, found, cx),
            of: None,
        };
        if let Some(status) = rules.status {
            result.status = status(&result, self.meta.map(raw));
        }
        cx.arena.alloc(result)
    }
}
