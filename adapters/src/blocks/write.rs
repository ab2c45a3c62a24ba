use super::{Signature, Vocabulary};
use crate::event::{At, Block, Content, Field, Fields, Media, ToolResult};
use crate::json::{Out, Raw};

/// Writes the objects of a dialect.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Writer {
    pub(crate) words: &'static Vocabulary,
    /// Whether the events come from the same dialect.
    pub(crate) own: bool,
}

impl Writer {
    /// Writes the fields that stand at `place`, each behind a comma. Only the dialect's own ones have a place.
    #[inline]
    pub(crate) fn fields(&self, out: &mut Out, fields: Fields<'_>, place: At<'_>) {
        if self.own {
            fields.iter().filter(|f| f.at == place).for_each(|f| member(out, f));
        }
    }

    /// Whether a member stands among the fields of the line, and so will be written with them.
    #[inline]
    pub(crate) fn has(&self, fields: Fields<'_>, place: At<'_>, name: &str) -> bool {
        self.own && fields.iter().any(|f| f.at == place && f.key.is(name))
    }

    /// Writes the fields of a block.
    fn inner(&self, out: &mut Out, fields: Fields<'_>) {
        if self.own {
            fields.iter().for_each(|f| member(out, f));
        }
    }

    /// Writes a text, or a list of blocks.
    pub(crate) fn content(&self, out: &mut Out, content: Content<'_>) {
        match content {
            Content::Text(text) => out.str(text),
            Content::Blocks(blocks) => self.blocks(out, blocks),
        }
    }

    /// Writes a list of blocks.
    pub(crate) fn blocks(&self, out: &mut Out, blocks: &[Block<'_>]) {
        out.lit("[");
        let mut between = "";
        for block in blocks.iter().filter(|block| self.is_block(block)) {
            out.lit(std::mem::replace(&mut between, ","));
            self.block(out, block);
        }
        out.lit("]");
    }

    /// Whether there is such a block here. What is not known may be one.
    pub(crate) fn is_block(&self, block: &Block<'_>) -> bool {
        match block {
            _ if self.own => true,
            Block::Media(media) => {
                let is_one = || media.raw.get("type").is_some() && !ELSEWHERE.iter().any(|kind| media.kind.is(kind));
                is_one() || media.picture().is_some()
            }
            // Others have parts of this name; the API's own holds the summary.
            Block::Other { kind, raw } if kind.is("compaction") => raw.get("content").is_some(),
            Block::Other { kind, .. } => !HERE.iter().chain(&ELSEWHERE).any(|known| kind.is(known)),
            _ => true,
        }
    }

    /// Writes one block.
    pub(crate) fn block(&self, out: &mut Out, block: &Block<'_>) {
        let fields = match block {
            Block::Text { text, fields } => {
                out.lit("{\"type\":\"text\",\"text\":");
                out.str(*text);
                // What it rests on is said in the API's own words: who seals thoughts has them.
                let cited = || {
                    fields
                        .iter()
                        .find(|field| field.key.is("citations") && field.value.elements().any(is_citation))
                };
                if let Some(field) = cited().filter(|_| !self.own && matches!(self.words.signature, Signature::Seal)) {
                    out.lit(",\"citations\":");
                    out.raw(field.value);
                }
                *fields
            }
            Block::Thinking(thinking) => {
                out.lit("{\"type\":\"thinking\",\"thinking\":");
                out.str(thinking.text);
                match (self.words.signature, thinking.signature, thinking.subject) {
                    (Signature::Seal, Some(mark), _) | (Signature::Subject, _, Some(mark)) => {
                        out.lit(",\"signature\":");
                        out.str(mark);
                    }
                    (Signature::Subject, _, None) => out.lit(",\"signature\":\"\""),
                    (Signature::Seal, None, _) if self.own => {}
                    (Signature::Seal, None, _) => {
                        out.lit(",\"signature\":\"\"");
                        out.invented("/message/content/0/signature", "no seal is known; the target's parsers need one");
                    }
                }
                thinking.fields
            }
            Block::Redacted { data, fields } => {
                out.lit("{\"type\":\"redacted_thinking\",\"data\":");
                out.str(*data);
                *fields
            }
            Block::Call(call) => {
                out.lit("{\"type\":\"tool_use\",\"id\":");
                out.str(call.id);
                out.lit(",\"name\":");
                out.str(call.name);
                out.lit(",\"input\":");
                match self.own {
                    true => out.raw(call.input),
                    false => call.write_object(out),
                }
                call.fields
            }
            Block::Media(Media { raw, .. }) | Block::Other { raw, .. } => {
                match block {
                    Block::Media(media) if !self.own && raw.get("source").is_none() => match media.picture() {
                        Some(picture) => {
                            picture.write(out);
                            picture.tell("an image has a source", out);
                        }
                        None => out.raw(*raw),
                    },
                    _ => out.raw(*raw),
                }
                return;
            }
        };
        self.inner(out, fields);
        out.lit("}");
    }

    /// Writes a `tool_result` block, with `is_error` if it is to have one.
    pub(crate) fn result(&self, out: &mut Out, result: &ToolResult<'_>, is_error: Option<bool>) {
        out.lit("{\"type\":\"tool_result\",\"tool_use_id\":");
        out.str(result.call);
        out.lit(",\"content\":");
        self.content(out, result.content);
        match is_error {
            Some(true) => out.lit(",\"is_error\":true"),
            Some(false) => out.lit(",\"is_error\":false"),
            None => {}
        }
        self.inner(out, result.fields);
        out.lit("}");
    }
}

fn is_citation(citation: Raw<'_>) -> bool {
    let kind = citation.get("type").and_then(Raw::string);
    kind.is_some_and(|kind| kind.as_escaped().ends_with("_location")) && citation.get("cited_text").is_some()
}

/// What content blocks are that have a meaning here: one of these that was not understood elsewhere is none.
const HERE: [&str; 6] = ["", "text", "thinking", "redacted_thinking", "tool_use", "tool_result"];

/// What other protocols have among their contents, and no content block is.
const ELSEWHERE: [&str; 14] = [
    "audio",
    "resource",
    "resource_link",
    "input_audio",
    "file",
    "input_file",
    "tool_call",
    "video_url",
    "subtask",
    "agent",
    "compaction",
    "localImage",
    "mention",
    "skill",
];

/// Writes one member behind a comma.
#[inline]
pub(crate) fn member(out: &mut Out, field: &Field<'_>) {
    out.lit(",\"");
    out.bytes(field.key.as_escaped().as_bytes());
    out.lit("\":");
    out.unchecked(field.value);
}
