use super::{DELTA, EVENT, HEAD, START, Signature, StartForm, UsagePlace, Writer};
use crate::event::{At, Block, BlockHead, Fields, Piece, RoundStart, Stop, Usage};
use crate::json::{Out, Str};

impl Writer {
    /// Writes `message_start`. `id` and `model` are those to be written.
    pub(crate) fn message_start(&self, out: &mut Out, id: Str<'_>, model: Str<'_>, start: &RoundStart<'_>, fields: Fields<'_>) {
        let place = At::Part(START);
        out.lit("{\"type\":\"message_start\",\"message\":{\"id\":");
        out.str(id);
        out.lit(match self.words.start {
            StartForm::Full => ",\"type\":\"message\",\"role\":\"assistant\",\"model\":",
            StartForm::Bare => ",\"role\":\"assistant\",\"model\":",
        });
        out.str(model);
        if !self.has(fields, place, "content") {
            out.lit(",\"content\":[]");
        }
        if self.words.start == StartForm::Full {
            if !self.has(fields, place, "stop_reason") {
                out.lit(",\"stop_reason\":null");
            }
            if !self.has(fields, place, "stop_sequence") {
                out.lit(",\"stop_sequence\":null");
            }
            if !self.own || start.usage.is_some() {
                out.lit(",\"usage\":");
                self.usage_at(out, start.usage.as_ref(), UsagePlace::Start);
            }
        }
        self.fields(out, fields, place);
        out.lit("}");
        self.end(out, fields);
    }

    /// Writes `content_block_start`.
    pub(crate) fn block_start(&self, out: &mut Out, index: u32, head: &BlockHead<'_>, fields: Fields<'_>) {
        out.lit("{\"type\":\"content_block_start\",\"index\":");
        out.number(index);
        out.lit(",\"content_block\":");
        match head {
            BlockHead::Text => out.lit("{\"type\":\"text\",\"text\":\"\""),
            BlockHead::Thinking => {
                out.lit("{\"type\":\"thinking\",\"thinking\":\"\"");
                if !self.has(fields, At::Part(HEAD), "signature") {
                    out.lit(",\"signature\":\"\"");
                }
            }
            BlockHead::Redacted { data } => {
                out.lit("{\"type\":\"redacted_thinking\",\"data\":");
                out.str(*data);
            }
            BlockHead::Call { id, name } => {
                out.lit("{\"type\":\"tool_use\",\"id\":");
                out.str(*id);
                out.lit(",\"name\":");
                out.str(*name);
                out.lit(",\"input\":{}");
            }
            BlockHead::Other { kind, raw } => {
                self.block(out, &Block::as_written(*kind, *raw));
                return self.end(out, fields);
            }
        }
        self.fields(out, fields, At::Part(HEAD));
        out.lit("}");
        self.end(out, fields);
    }

    /// Writes `content_block_delta`.
    pub(crate) fn delta(&self, out: &mut Out, index: u32, piece: &Piece<'_>, fields: Fields<'_>) {
        out.lit("{\"type\":\"content_block_delta\",\"index\":");
        out.number(index);
        out.lit(",\"delta\":");
        if let Piece::Other(raw) = piece {
            out.raw(*raw);
            return self.end(out, fields);
        }
        out.lit(Self::piece_head(piece));
        if let Some(text) = Self::piece_text(piece) {
            out.str(text);
        }
        self.fields(out, fields, At::Part(DELTA));
        out.lit("}");
        self.end(out, fields);
    }

    /// A delta up to its string.
    #[inline]
    pub(crate) const fn piece_head(piece: &Piece<'_>) -> &'static str {
        match piece {
            Piece::Text(_) => "{\"type\":\"text_delta\",\"text\":",
            Piece::Thinking(_) => "{\"type\":\"thinking_delta\",\"thinking\":",
            Piece::Signature(_) | Piece::Subject(_) => "{\"type\":\"signature_delta\",\"signature\":",
            Piece::Input(_) => "{\"type\":\"input_json_delta\",\"partial_json\":",
            Piece::Other(_) => "",
        }
    }

    /// A delta's string.
    #[inline]
    pub(crate) const fn piece_text<'a>(piece: &Piece<'a>) -> Option<Str<'a>> {
        match *piece {
            Piece::Text(text) | Piece::Thinking(text) | Piece::Signature(text) | Piece::Subject(text) | Piece::Input(text) => Some(text),
            Piece::Other(_) => None,
        }
    }

    /// Whether this dialect has a place for a piece: a seal or a subject, not both.
    #[inline]
    pub(crate) fn has_place(&self, piece: &Piece<'_>) -> bool {
        match piece {
            Piece::Signature(_) => self.words.signature == Signature::Seal,
            Piece::Subject(_) => self.words.signature == Signature::Subject,
            _ => true,
        }
    }

    /// Writes `content_block_stop`.
    pub(crate) fn block_stop(&self, out: &mut Out, index: u32, fields: Fields<'_>) {
        out.lit("{\"type\":\"content_block_stop\",\"index\":");
        out.number(index);
        self.end(out, fields);
    }

    /// Writes `message_delta`. `usage` is left out where there is none.
    pub(crate) fn message_delta(&self, out: &mut Out, stop: Option<&Stop<'_>>, usage: Option<&Usage<'_>>, fields: Fields<'_>) {
        out.lit("{\"type\":\"message_delta\",\"delta\":{\"stop_reason\":");
        out.str_or_null(stop.map(|stop| stop.word));
        if !self.has(fields, At::Part(DELTA), "stop_sequence") {
            out.lit(",\"stop_sequence\":null");
        }
        self.fields(out, fields, At::Part(DELTA));
        out.lit("}");
        if usage.is_some() {
            out.lit(",\"usage\":");
            self.usage(out, usage);
        }
        self.end(out, fields);
    }

    /// Writes `message_stop`.
    pub(crate) fn message_stop(&self, out: &mut Out, fields: Fields<'_>) {
        out.lit("{\"type\":\"message_stop\"");
        self.end(out, fields);
    }

    fn end(&self, out: &mut Out, fields: Fields<'_>) {
        self.fields(out, fields, At::Part(EVENT));
        out.lit("}");
    }
}
