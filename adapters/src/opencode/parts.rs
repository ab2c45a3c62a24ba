//! Parts of messages, which are the same in every format: read into blocks, calls and results.

use super::fields::knows;
use super::{ABORTED, DENIED, INVALID, PART, STATE};
use crate::chat::{FieldList, Members};
use crate::codec::{Cx, Dialect, TellsEnd};
use crate::event::{Block, Content, Count, Detail, DetailShape, Media, Picture, ResultStatus, Stop, ToolCall, ToolResult, Usage};
use crate::json::{Raw, Shape, Str};
use crate::tools::kind_of;

/// A part of a message, of which the members are taken out that have been understood.
pub(super) struct Part<'a> {
    pub(super) members: Members<'a>,
    pub(super) cx: Cx<'a>,
    /// Nobody looks at what is left of it.
    pub(super) bare: bool,
}

/// A call, and what came of it if that is known.
pub(super) struct Called<'a> {
    pub(super) call: ToolCall<'a>,
    pub(super) result: Option<ToolResult<'a>>,
    /// Those of its state, then those of the part.
    pub(super) fields: FieldList<'a>,
}

impl<'a> Part<'a> {
    pub(super) fn of(raw: Raw<'a>, cx: &Cx<'a>) -> Option<Self> {
        let members = Members::of(raw, cx)?;
        Some(Self {
            members,
            cx: *cx,
            bare: false,
        })
    }

    /// Takes out a member that says again what is known, where anybody looks at what is left.
    pub(super) fn again(&mut self, name: &str, known: &str) {
        if !self.bare {
            self.members.again(name, known, &self.cx);
        }
    }

    /// Which message it is a part of.
    pub(super) fn message(&mut self) -> Option<Str<'a>> {
        let cx = self.cx;
        self.members.text("messageID", &cx)
    }

    pub(super) fn text(&mut self, name: &str) -> Option<Str<'a>> {
        let cx = self.cx;
        self.members.text(name, &cx)
    }

    /// What is left of it.
    pub(super) fn rest(self) -> FieldList<'a> {
        let mut fields = FieldList::new_in(self.cx.arena);
        if !self.bare {
            self.members.pour(PART, knows, &mut fields);
        }
        fields
    }

    /// The call that it is; the name of what it lacks if it is none.
    pub(super) fn call(mut self) -> Result<Called<'a>, &'static str> {
        let cx = self.cx;
        let name = self.text("tool").ok_or("part/tool")?;
        let id = self.text("callID").ok_or("part/callID")?;
        let state = self
            .members
            .shaped("state", Shape::Object, &cx)
            .and_then(|state| self.members.inside(state, &cx));
        let mut state = state.ok_or("part/state")?;
        let word = state.get("status").and_then(Raw::string).ok_or("part/state/status")?;
        let call = ToolCall {
            id,
            name,
            kind: kind_of(Dialect::Opencode, name),
            input: state.take("input", &cx).ok_or("part/state/input")?,
            fields: &[],
        };
        let done = match word.as_escaped() {
            "completed" => Some(state.text("output", &cx).ok_or("part/state/output")?),
            "error" => Some(state.text("error", &cx).ok_or("part/state/error")?),
            _ => None,
        };
        let result = done.map(|text| {
            state.word("status", &cx);
            let metadata = state.shaped("metadata", Shape::Object, &cx);
            let status = status(word.is("completed"), call.name, text, metadata);
            let files = state.get("attachments").into_iter().flat_map(Raw::elements).filter_map(image);
            let blocks: Vec<_> = std::iter::once(Block::Text { text, fields: &[] }).chain(files).collect();
            ToolResult {
                name: Some(name),
                detail: metadata.map(|raw| Detail {
                    shape: DetailShape::Opencode,
                    raw,
                }),
                of: Some(call),
                ..ToolResult::new(
                    id,
                    status,
                    if blocks.len() > 1 {
                        Content::Blocks(cx.list(&blocks))
                    } else {
                        Content::Text(text)
                    },
                )
            }
        });
        let mut fields = FieldList::new_in(cx.arena);
        if !self.bare {
            state.pour(STATE, knows, &mut fields);
            self.members.pour(PART, knows, &mut fields);
        }
        Ok(Called { call, result, fields })
    }

    /// What the round has cost, in US dollars.
    pub(super) fn cost(&self) -> Option<f64> {
        self.members.get("cost").and_then(Raw::f64)
    }

    /// Why the round stopped and what it took. The tokens stay, for they hold more than there is a place for.
    pub(super) fn finish(&mut self) -> Option<(Stop<'a>, Option<Usage<'a>>)> {
        let cx = self.cx;
        let stop = Stop::read(self.members.text("reason", &cx)?);
        Some((stop, usage(&self.members, &cx)))
    }
}

/// An image or a document among files. Those that lie on the machine are none here: nobody else can read them.
pub(super) fn image<'a>(file: Raw<'a>) -> Option<Block<'a>> {
    let kind = file.get("type").and_then(Raw::string).filter(|kind| kind.is("file"))?;
    let media = Media { kind, raw: file };
    let readable = |picture: Picture<'_>| picture.mime.is_some() || picture.value.begins("http");
    media.picture().is_some_and(readable).then_some(Block::Media(media))
}

/// Whether a call that is completed has failed.
pub(super) fn failed(tool: Str<'_>, metadata: Option<Raw<'_>>) -> bool {
    let exit = metadata.and_then(|metadata| metadata.get("exit")).filter(|exit| !exit.is_null());
    tool.is(INVALID) || exit.is_some_and(|exit| exit.as_str() != "0")
}

/// A command that failed is completed all the same, and so is a call of a tool that does not exist.
fn status(completed: bool, tool: Str<'_>, text: Str<'_>, metadata: Option<Raw<'_>>) -> ResultStatus {
    match completed {
        true if failed(tool, metadata) => ResultStatus::Error,
        true => ResultStatus::Success,
        false if text.begins(ABORTED) => ResultStatus::Canceled,
        false if DENIED.iter().any(|words| text.as_escaped().starts_with(words)) => ResultStatus::Denied,
        false => ResultStatus::Error,
    }
}

/// Only the error's words say that a call was refused or cut off.
pub(super) fn tells_end(result: &ToolResult<'_>, at: &'static str) -> TellsEnd {
    let text = result.content.texts().next().unwrap_or_default();
    let words = match result.status {
        said if status(false, Str::EMPTY, text, None) == said => return TellsEnd::Itself,
        ResultStatus::Denied if text.is_empty() => "The user rejected permission to use this specific tool call.",
        ResultStatus::Denied => "The user rejected permission to use this specific tool call with the following feedback: ",
        ResultStatus::Canceled => ABORTED,
        _ => return TellsEnd::Itself,
    };
    TellsEnd::InWords { words, at }
}

/// The tokens of a round. What the cache answered and took is not in the input, and what was thought not in the output.
pub(super) fn usage<'a>(of: &Members<'a>, cx: &Cx<'a>) -> Option<Usage<'a>> {
    let tokens = of.opened(of.get("tokens")?, cx)?;
    let count = |path: &[&str]| tokens.find(path).and_then(Count::read);
    let usage = Usage {
        input: count(&["input"]),
        output: count(&["output"]),
        reasoning: count(&["reasoning"]),
        reasoning_beside: true,
        cache_read: count(&["cache", "read"]),
        cache_write: count(&["cache", "write"]),
        total: count(&["total"]),
        ..Usage::default()
    };
    usage.sources().next().is_some().then_some(usage)
}
