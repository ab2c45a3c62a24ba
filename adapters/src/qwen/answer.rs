//! Answers on the control channel: the RFC says `approve` where every other dialect says `allow`.

use crate::codec::Cx;
use crate::json::{Out, Raw, Str};

/// An answer with one word for its `behavior` exchanged for another; as written, if it has another one.
pub(super) fn respelled<'a>(body: Raw<'a>, from: &str, to: &str, cx: &Cx<'a>) -> Raw<'a> {
    let is_meant = |key: Str<'_>, value: Raw<'_>| key.is("behavior") && value.string().is_some_and(|word| word.is(from));
    if !body.members().any(|(key, value)| is_meant(key, value)) {
        return body;
    }
    let mut text = String::with_capacity(body.as_str().len());
    let mut before = '{';
    for (key, value) in body.members() {
        text.push(before);
        before = ',';
        text.push('"');
        text.push_str(key.as_escaped());
        text.push_str("\":");
        if is_meant(key, value) {
            cx.took(value.as_str());
            text.push('"');
            text.push_str(to);
            text.push('"');
        } else {
            cx.took(value.as_str());
            text.push_str(value.as_str());
        }
    }
    text.push('}');
    Raw::trusted(cx.arena.alloc_str(&text))
}

/// Writes an answer with `allow` said as `approve`.
pub(super) fn write(body: Raw<'_>, out: &mut Out) {
    let is_meant = |key: Str<'_>, value: Raw<'_>| key.is("behavior") && value.string().is_some_and(|word| word.is("allow"));
    if !body.members().any(|(key, value)| is_meant(key, value)) {
        return out.unchecked(body);
    }
    let mut before = "{";
    for (key, value) in body.members() {
        out.lit(before);
        before = ",";
        out.str(key);
        out.lit(":");
        if is_meant(key, value) {
            out.used(value.as_str());
            out.lit("\"approve\"");
        } else {
            out.unchecked(value);
        }
    }
    out.lit("}");
}
