use super::read::{FieldList, Reader, since};
use super::{UsageForm, UsagePlace, Writer};
use crate::event::{At, Count, Counted, Field, Provenance, Scope, Usage};
use crate::json::{Cursor, Error, Out, Raw, Str};

/// The members of a `usage` that are read.
pub(crate) const COUNTS: [&str; 6] = [
    "input_tokens",
    "output_tokens",
    "cache_read_input_tokens",
    "cache_creation_input_tokens",
    "total_tokens",
    DETAILS,
];

/// What the output is made of.
const DETAILS: &str = "output_tokens_details";

impl<'a> Reader<'_, 'a> {
    /// Reads a `usage` object; `null` is none, and anything else becomes a field that is not known.
    pub(crate) fn usage(
        &self,
        at: &mut Cursor<'a>,
        scope: Scope,
        place: At<'a>,
        key: Str<'a>,
        fields: &mut FieldList<'a>,
    ) -> Result<Option<Usage<'a>>, Error> {
        if at.peek() != Some(b'{') {
            let value = at.skip()?;
            if value.is_null() {
                self.cx.took(value.as_str());
            } else {
                fields.push(Field {
                    at: place,
                    key,
                    value,
                    known: false,
                });
            }
            return Ok(None);
        }
        let before = at.rest();
        let inclusive = self.words.usage == UsageForm::Inclusive;
        let mut usage = Usage {
            scope,
            provenance: Provenance::Reported,
            inclusive,
            ..Usage::default()
        };
        let mut object = at.object()?;
        while let Some(key) = object.key(at)? {
            let value = at.skip()?;
            let Some(which) = COUNTS.iter().position(|name| *name == key.as_escaped()) else {
                continue;
            };
            let slot = match which {
                0 => &mut usage.input,
                1 => &mut usage.output,
                2 => &mut usage.cache_read,
                3 => &mut usage.cache_write,
                4 => &mut usage.total,
                _ => {
                    usage.reasoning = usage.reasoning.or_else(|| value.get("thinking_tokens").and_then(Count::read));
                    continue;
                }
            };
            *slot = slot.or(Count::read(value));
        }
        usage.raw = Some(since(before, at));
        Ok(Some(usage))
    }
}

impl Writer {
    /// Writes a usage object. What the source wrote itself goes over as it is when it is this dialect's own; else the numbers
    /// that a parser of this dialect requires are written as 0 where they are absent, and told as invented.
    pub(crate) fn usage(&self, out: &mut Out, usage: Option<&Usage<'_>>) {
        self.usage_at(out, usage, UsagePlace::Line);
    }

    /// The same, for an object that stands elsewhere than in the line itself.
    pub(crate) fn usage_at(&self, out: &mut Out, usage: Option<&Usage<'_>>, place: UsagePlace) {
        let [input_at, write, read, output] = place.pointers();
        if let Some(raw) = usage.and_then(|u| u.raw).filter(|_| self.own) {
            out.unchecked(raw);
            return;
        }
        let usage = usage.copied().unwrap_or_default();
        match self.words.usage {
            UsageForm::Split => {
                match usage.input {
                    Some(input) if usage.inclusive => {
                        usage.parts().for_each(|s| out.used(s));
                        out.lit("{\"input_tokens\":");
                        out.number(usage.fresh_tokens().unwrap_or(input.value));
                    }
                    input => required(out, "{\"input_tokens\":", input, input_at),
                }
                required(out, ",\"cache_creation_input_tokens\":", usage.cache_write, write);
                required(out, ",\"cache_read_input_tokens\":", usage.cache_read, read);
                required(out, ",\"output_tokens\":", written(&usage, out), output);
                thought(&usage, out);
            }
            UsageForm::Inclusive => {
                match usage.input {
                    Some(input) if !usage.inclusive => {
                        usage.said_by(WITHOUT_DETAILS).for_each(|s| out.used(s));
                        out.lit("{\"input_tokens\":");
                        out.number(usage.prompt_tokens().unwrap_or(input.value));
                    }
                    input => required(out, "{\"input_tokens\":", input, input_at),
                }
                required(out, ",\"output_tokens\":", written(&usage, out), output);
                // Zeros alone stand for what is not known, and there are two of them.
                if usage.is_blank() {
                    usage.parts().for_each(|source| out.used(source));
                } else {
                    optional(out, ",\"cache_read_input_tokens\":", usage.cache_read);
                    optional(out, ",\"total_tokens\":", usage.total);
                }
            }
        }
        out.lit("}");
    }
}

/// What is said of all that the model wrote.
const WITHOUT_DETAILS: Counted = Counted::NO_TOTAL.without_reasoning();

/// What the model thought with, if that is known.
pub(crate) fn thought(usage: &Usage<'_>, out: &mut Out) {
    let Some(tokens) = usage.reasoning_tokens() else { return };
    usage.reasoning.iter().for_each(|count| out.used(count.source));
    out.lit(",\"output_tokens_details\":{\"thinking_tokens\":");
    out.number(tokens);
    out.lit("}");
}

/// All that the model wrote. What the source says of it is used, also where thoughts stand beside the output.
fn written<'a>(usage: &Usage<'a>, out: &Out) -> Option<Count<'a>> {
    let written = usage.written();
    if written != usage.output {
        usage.said_by(WITHOUT_DETAILS).for_each(|source| out.used(source));
    }
    written
}

impl UsagePlace {
    /// Where input, cache writes, cache reads and output stand in the output line.
    const fn pointers(self) -> [&'static str; 4] {
        match self {
            Self::Line => [
                "/usage/input_tokens",
                "/usage/cache_creation_input_tokens",
                "/usage/cache_read_input_tokens",
                "/usage/output_tokens",
            ],
            Self::Message => [
                "/message/usage/input_tokens",
                "/message/usage/cache_creation_input_tokens",
                "/message/usage/cache_read_input_tokens",
                "/message/usage/output_tokens",
            ],
            Self::Start => [
                "/event/message/usage/input_tokens",
                "/event/message/usage/cache_creation_input_tokens",
                "/event/message/usage/cache_read_input_tokens",
                "/event/message/usage/output_tokens",
            ],
        }
    }
}

#[inline(always)]
fn required(out: &mut Out, prefix: &str, count: Option<Count<'_>>, pointer: &'static str) {
    match count {
        Some(_) => optional(out, prefix, count),
        None => {
            out.lit(prefix);
            out.lit("0");
            out.invented(pointer, "not known; the target's parsers need a number");
        }
    }
}

#[inline(always)]
fn optional(out: &mut Out, prefix: &str, count: Option<Count<'_>>) {
    let Some(count) = count else { return };
    out.lit(prefix);
    if count.source.is_empty() || !count.source.bytes().all(|byte| byte.is_ascii_digit()) {
        out.used(count.source);
        out.number(count.value);
    } else {
        out.raw(Raw::trusted(count.source));
    }
}
