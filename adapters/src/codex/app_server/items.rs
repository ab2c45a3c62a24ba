//! Items: what happens in a turn, each with an id, a type and, when it is completed, what came of it.

use bumpalo::collections::Vec as BumpVec;

use super::decode::Decoder;
use super::message::Message;
use crate::chat::Members;
use crate::codec::Cx;
use crate::codex::pictures;
use crate::event::{Block, Content, Kind, Media, Prompt, PromptSource, Sink, Topic};
use crate::json::{Error, Raw, Shape, Str};

/// A message about an item.
pub(super) struct ItemMessage<'a> {
    pub(super) message: Message<'a>,
    pub(super) parts: &'a Members<'a>,
    pub(super) id: Str<'a>,
    kind: Str<'a>,
}

impl<'a> ItemMessage<'a> {
    /// What kind of item it is has been understood.
    pub(super) fn took(&self) {
        self.message.cx.took(self.kind.as_escaped());
    }
}

impl Decoder {
    pub(super) fn item<'a>(&mut self, message: &Message<'a>, whole: bool, sink: &mut dyn Sink<'a>) -> Result<(), Error> {
        let parts = message.params.get("item").and_then(|item| message.params.opened(item, &message.cx));
        let parts = parts.ok_or_else(|| message.missing("params/item"))?;
        let [kind, id] = ["type", "id"].map(|name| parts.get(name).and_then(Raw::string));
        let kind = kind.ok_or_else(|| message.missing("params/item/type"))?;
        let id = id.ok_or_else(|| message.missing("params/item/id"))?;
        let item = ItemMessage {
            message: *message,
            parts,
            id,
            kind,
        };
        match &*kind.unescape() {
            "userMessage" => self.prompt(&item, whole, sink),
            "agentMessage" => self.said(&item, false, whole, sink)?,
            "reasoning" => self.said(&item, true, whole, sink)?,
            "plan" if whole => self.said(&item, false, true, sink)?,
            "contextCompaction" if whole => self.compaction(message, sink),
            "hookPrompt" => self.notice(message, Topic::Hook, None, sink),
            "imageGeneration" if whole => {
                let deed = pictures::made(id, |_, name| parts.get(name), &message.cx);
                self.deed(&item, deed, sink);
            }
            "imageView" if whole && let Some(path) = parts.get("path").filter(|path| path.string().is_some()) => {
                self.deed(&item, pictures::seen(id, path, &message.cx), sink);
            }
            "functionCallOutput" => self.notice(message, Topic::Other, None, sink),
            "contextCompaction" | "plan" | "imageView" | "imageGeneration" | "enteredReviewMode" | "exitedReviewMode" | "sleep"
            | "subAgentActivity" => {
                self.notice(message, Topic::Status, None, sink);
            }
            name => {
                if !self.tool(name, &item, whole, sink)? {
                    self.tell_with(message, Kind::Unknown(message.line), &[], sink);
                }
            }
        }
        Ok(())
    }

    /// What the user says is said again when the program has taken it.
    fn prompt<'a>(&mut self, item: &ItemMessage<'a>, whole: bool, sink: &mut dyn Sink<'a>) {
        let message = &item.message;
        let list = item.parts.get("content").filter(|list| whole && list.shape() == Some(Shape::Array));
        let Some(list) = list else {
            self.notice(message, Topic::Status, None, sink);
            return;
        };
        item.took();
        let parent = self.origin(message).parent;
        if parent.is_none() {
            self.compacted = false;
            self.round.leave();
        }
        let prompt = message.cx.keep(Prompt {
            content: content(list, &message.cx),
            source: if parent.is_some() { PromptSource::Parent } else { PromptSource::Echo },
        });
        self.tell(message, Kind::Prompt(prompt), sink);
    }
}

/// What a user says, or a tool of the host's: texts, images, skills and mentions.
pub(super) fn content<'a>(list: Raw<'a>, cx: &Cx<'a>) -> Content<'a> {
    let mut blocks = BumpVec::new_in(cx.arena);
    for part in list.elements() {
        let kind = part.get("type").and_then(Raw::string).unwrap_or_default();
        match part.get("text").and_then(Raw::string).filter(|_| kind.is("text") || kind.is("inputText")) {
            Some(text) => {
                cx.took(kind.as_escaped());
                blocks.push(Block::Text { text, fields: &[] });
            }
            None if kind.is("image") || kind.is("inputImage") => blocks.push(Block::Media(Media { kind, raw: part })),
            None => blocks.push(Block::Other { kind, raw: part }),
        }
    }
    match blocks.as_slice() {
        [] => Content::Text(Str::EMPTY),
        [Block::Text { text, .. }] => Content::Text(*text),
        _ => Content::Blocks(blocks.into_bump_slice()),
    }
}
