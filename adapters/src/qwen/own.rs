//! Writing back what only the RFC's own lines have: the fields of events that were read from them.

use crate::event::{At, Field, Fields};
use crate::json::{Out, Raw, Str};

/// Where a chat object has its metadata.
pub(super) const METADATA: At<'static> = At::Part("/metadata");
/// The first choice.
pub(super) const CHOICE: At<'static> = At::Part("/choices/0");
/// Its message or delta.
pub(super) const BODIES: [At<'static>; 2] = [At::Part("/choices/0/message"), At::Part("/choices/0/delta")];

/// The fields that stand in one of the objects.
pub(super) fn at<'f, 'a>(fields: Fields<'a>, places: &'f [At<'f>]) -> impl Iterator<Item = &'a Field<'a>> + use<'f, 'a> {
    fields.iter().filter(move |field| places.contains(&field.at))
}

/// The fields of annotations and tool calls.
pub(super) fn in_blocks<'a>(fields: Fields<'a>) -> impl Iterator<Item = &'a Field<'a>> {
    fields
        .iter()
        .filter(|field| matches!(field.at, At::Block(_)) && !field.key.is("annotations"))
}

/// Whole annotations that the model has no place for.
pub(super) fn annotations<'a>(fields: Fields<'a>) -> impl Iterator<Item = Raw<'a>> {
    fields
        .iter()
        .filter(|field| matches!(field.at, At::Block(_)) && field.key.is("annotations"))
        .map(|field| field.value)
}

/// Writes members behind others.
#[inline]
pub(super) fn write<'a>(fields: impl Iterator<Item = &'a Field<'a>>, out: &mut Out) {
    for field in fields {
        field.write_next(out);
    }
}

/// The finish reason of a line that has an unusual one.
pub(super) fn finish_reason(fields: Fields<'_>) -> Option<Str<'_>> {
    at(fields, &[CHOICE])
        .find(|field| field.key.is("finish_reason"))
        .and_then(|field| field.value.string())
}

/// The model of a line that has another one than those around it.
pub(super) fn model(fields: Fields<'_>) -> Option<Str<'_>> {
    at(fields, &[At::Line])
        .find(|field| field.key.is("model"))
        .and_then(|field| field.value.string())
}

/// Writes what stands in the first choice behind its finish reason, closes it, and writes other choices.
#[inline]
pub(super) fn end_choice(fields: Fields<'_>, out: &mut Out) {
    if fields.is_empty() {
        return out.lit("}]");
    }
    write(at(fields, &[CHOICE]).filter(|field| !field.key.is("finish_reason")), out);
    out.lit("}");
    for field in at(fields, &[At::Part("/choices")]) {
        out.lit(",");
        out.unchecked(field.value);
    }
    out.lit("]");
}

/// Writes the members of the line itself, and its end. What says who and when is in the envelope.
#[inline]
pub(super) fn end_line(fields: Fields<'_>, out: &mut Out) {
    if !fields.is_empty() {
        let others = at(fields, &[At::Line]).filter(|field| !field.key.is("model") && !field.key.is("created"));
        write(others, out);
    }
    out.lit("}\n");
}

/// Writes metadata that holds nothing but fields, if there are any.
#[inline]
pub(super) fn metadata(fields: Fields<'_>, out: &mut Out) {
    object(",\"metadata\":{", at(fields, &[METADATA]), out);
}

/// Writes an object that holds these fields, if there are any; `before` opens it.
#[inline]
pub(super) fn object<'a>(mut before: &str, fields: impl Iterator<Item = &'a Field<'a>>, out: &mut Out) {
    for field in fields {
        out.lit(before);
        field.write(out);
        before = ",";
    }
    if before == "," {
        out.lit("}");
    }
}

/// The fields of a line that is held, as text.
#[derive(Debug, Default)]
pub(super) struct Kept {
    choice: String,
    line: String,
    metadata: String,
}

impl Kept {
    /// Keeps the fields.
    pub(super) fn of(fields: Fields<'_>, out: &Out) -> Self {
        let mut kept = Self::default();
        for field in fields {
            let to = match field.at {
                At::Line if field.key.is("model") => continue,
                At::Line => &mut kept.line,
                place if place == CHOICE && !field.key.is("finish_reason") => &mut kept.choice,
                place if place == METADATA && !field.key.is("error") => &mut kept.metadata,
                _ => continue,
            };
            out.used(field.value.as_str());
            to.push_str(",\"");
            to.push_str(field.key.as_escaped());
            to.push_str("\":");
            to.push_str(if field.value.check().is_ok() { field.value.as_str() } else { "null" });
        }
        kept
    }

    /// Writes the fields of the choice, closes it and its list.
    pub(super) fn end_choice(&self, out: &mut Out) {
        out.lit(&self.choice);
        out.lit("}]");
    }

    /// The members of the metadata, each behind a comma.
    pub(super) fn metadata(&self) -> &str {
        &self.metadata
    }

    /// The members of the line itself, each behind a comma.
    pub(super) fn line(&self) -> &str {
        &self.line
    }

    /// Writes the members of the line itself.
    pub(super) fn end_line(&self, out: &mut Out) {
        out.lit(&self.line);
        out.lit("}\n");
    }
}
