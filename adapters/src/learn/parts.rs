//! What stands in several kinds of lines: blocks, usage, fields.

use super::Rules;
use super::mold::Pick;
use super::shape::{Hole, MOST, Match, Spot};
use crate::blocks::{DELTA, EVENT, HEAD, MESSAGE, START};
use crate::codec::Cx;
use crate::event::{At, Block, Count, Field, Fields, Provenance, Scope, Thinking, ToolCall, ToolKind, Usage};
use crate::json::{Raw, Shape, Str};

/// A member that the model has no place for.
#[derive(Debug)]
pub(super) struct FieldMold {
    at: AtMold,
    key: Spot,
    value: Spot,
    known: bool,
}

#[derive(Clone, Copy, Debug)]
enum AtMold {
    /// A place whose name is no part of the line.
    Named(At<'static>),
    /// A place that the line names.
    Said(Spot),
}

/// The blocks of a message.
#[derive(Debug)]
pub(super) struct BlocksMold(Box<[(BlockMold, Box<[FieldMold]>)]>);

#[derive(Debug)]
enum BlockMold {
    Text(Spot),
    Thinking {
        text: Spot,
        signature: Option<Spot>,
        subject: Option<Spot>,
    },
    Call {
        id: Spot,
        name: Spot,
        kind: ToolKind,
        input: Spot,
    },
}

#[derive(Debug)]
pub(super) struct UsageMold {
    counts: [Option<Spot>; 6],
    inclusive: bool,
    reasoning_beside: bool,
    scope: Scope,
    provenance: Provenance,
    raw: Option<Spot>,
}

/// A string that may be absent.
#[inline]
pub(super) fn str_at<'a>(found: Match<'_, 'a>, spot: Option<Spot>) -> Option<Str<'a>> {
    spot.map(|spot| Str::trusted(found.part(spot)))
}

/// Whether one text is a part of the other, in memory.
pub(super) fn holds(whole: &str, part: &str) -> bool {
    let from = (part.as_ptr() as usize).wrapping_sub(whole.as_ptr() as usize);
    from <= whole.len() && part.len() <= whole.len() - from
}

pub(super) fn fields_of(fields: Fields<'_>, pick: &mut Pick<'_, '_>) -> Option<Box<[FieldMold]>> {
    let mold = |field: &Field<'_>| {
        let at = match field.at {
            At::Line => AtMold::Named(At::Line),
            At::Block(n) => AtMold::Named(At::Block(n)),
            At::Part(part) => match pick.part(part, None) {
                Some(spot) => AtMold::Said(spot),
                None => AtMold::Named(At::Part(
                    [MESSAGE, EVENT, DELTA, HEAD, START]
                        .iter()
                        .chain(pick.rules.places)
                        .find(|known| **known == part)?,
                )),
            },
        };
        let key = pick.part(field.key.as_escaped(), None)?;
        // A name may be read in one spelling and not in another.
        let is_open = field.value.is_unread() && !field.key.has_escapes();
        Some(FieldMold {
            at,
            key,
            value: if is_open {
                pick.open(field.value)?
            } else {
                pick.part(field.value.as_str(), None)?
            },
            known: field.known,
        })
    };
    fields.iter().map(mold).collect()
}

#[inline]
pub(super) fn fields_at<'a>(molds: &[FieldMold], found: Match<'_, 'a>, cx: &Cx<'a>) -> Fields<'a> {
    if molds.is_empty() {
        return &[];
    }
    cx.arena.alloc_slice_fill_iter(molds.iter().map(|mold| Field {
        at: match mold.at {
            AtMold::Named(at) => at,
            AtMold::Said(spot) => At::Part(found.part(spot)),
        },
        key: Str::trusted(found.part(mold.key)),
        value: found.raw(mold.value),
        known: mold.known,
    }))
}

impl BlocksMold {
    pub(super) fn of(blocks: &[Block<'_>], pick: &mut Pick<'_, '_>) -> Option<Self> {
        // Each block changes somewhere.
        if blocks.len() > MOST {
            return None;
        }
        let mold = |block: &Block<'_>| {
            Some(match *block {
                Block::Text { text, fields } => (BlockMold::Text(pick.text(text)?), fields_of(fields, pick)?),
                Block::Thinking(Thinking {
                    text,
                    signature,
                    subject,
                    fields,
                }) => {
                    let mold = BlockMold::Thinking {
                        text: pick.text(text)?,
                        signature: pick.may(signature, Some(Hole::Text))?,
                        subject: pick.may(subject, Some(Hole::Text))?,
                    };
                    (mold, fields_of(fields, pick)?)
                }
                Block::Call(call) => {
                    let mold = BlockMold::Call {
                        id: pick.text(call.id)?,
                        name: pick.text(call.name)?,
                        kind: call.kind,
                        input: pick.part(call.input.as_str(), Some(Hole::Value))?,
                    };
                    (mold, fields_of(call.fields, pick)?)
                }
                Block::Redacted { .. } | Block::Media(_) | Block::Other { .. } => return None,
            })
        };
        blocks.iter().map(mold).collect::<Option<_>>().map(Self)
    }

    pub(super) fn at<'a>(&self, found: Match<'_, 'a>, rules: &Rules, cx: &Cx<'a>) -> &'a [Block<'a>] {
        let text = |spot: Spot| Str::trusted(found.part(spot));
        cx.arena.alloc_slice_fill_iter(self.0.iter().map(|(block, fields)| {
            let fields = fields_at(fields, found, cx);
            match *block {
                BlockMold::Text(at) => Block::Text { text: text(at), fields },
                BlockMold::Thinking {
                    text: at,
                    signature,
                    subject,
                } => Block::Thinking(Thinking {
                    text: text(at),
                    signature: signature.map(text),
                    subject: subject.map(text),
                    fields,
                }),
                BlockMold::Call { id, name, kind, input } => Block::Call(ToolCall {
                    id: text(id),
                    name: text(name),
                    kind: rules.tools.map_or(kind, |dialect| crate::tools::kind_of(dialect, text(name))),
                    input: found.raw(input),
                    fields,
                }),
            }
        }))
    }
}

impl UsageMold {
    /// The mold of a usage object, each of whose members may change.
    #[allow(clippy::option_option)]
    pub(super) fn of(usage: Option<Usage<'_>>, pick: &mut Pick<'_, '_>) -> Option<Option<Self>> {
        let Some(usage) = usage else { return Some(None) };
        let Usage {
            input, output, reasoning, ..
        } = usage;
        let counts = [input, output, reasoning, usage.cache_read, usage.cache_write, usage.total];
        let raw = match usage.raw {
            None => None,
            Some(raw) => match pick.rules.counts {
                Some(read) => {
                    let is_open = |key: Str<'_>, value: Raw<'_>| {
                        matches!(value.shape(), Some(Shape::Object | Shape::Array | Shape::Number))
                            && !key.has_escapes()
                            && !read.contains(&key.as_escaped())
                    };
                    for (_, value) in raw.members().filter(|&(key, value)| is_open(key, value)) {
                        pick.open(value)?;
                    }
                    Some(pick.part(raw.as_str(), None)?)
                }
                None => Some(pick.open(raw)?),
            },
        };
        let mut spots = [None; 6];
        for (spot, count) in spots.iter_mut().zip(counts) {
            if let Some(count) = count {
                *spot = Some(pick.open(Raw::trusted(count.source))?);
            }
        }
        Some(Some(Self {
            counts: spots,
            inclusive: usage.inclusive,
            reasoning_beside: usage.reasoning_beside,
            scope: usage.scope,
            provenance: usage.provenance,
            raw,
        }))
    }

    /// `None` if a number does not fit.
    #[inline]
    #[allow(clippy::option_option)]
    pub(super) fn at<'a>(mold: Option<&Self>, found: Match<'_, 'a>) -> Option<Option<Usage<'a>>> {
        let Some(mold) = mold else { return Some(None) };
        let mut counts = [None; 6];
        for (count, spot) in counts.iter_mut().zip(mold.counts) {
            if let Some(spot) = spot {
                *count = Some(Count::read(found.raw(spot))?);
            }
        }
        let [input, output, reasoning, cache_read, cache_write, total] = counts;
        Some(Some(Usage {
            input,
            output,
            reasoning,
            cache_read,
            cache_write,
            total,
            inclusive: mold.inclusive,
            reasoning_beside: mold.reasoning_beside,
            scope: mold.scope,
            provenance: mold.provenance,
            raw: mold.raw.map(|at| found.raw(at)),
        }))
    }
}
