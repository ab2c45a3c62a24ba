//! Writing metadata: the receipt of a session and the summary of a turn; and the tokens of a turn.

use super::own;
use crate::codec::Mode;
use crate::event::{Fields, Limit, Outcome, OutcomeKind, Place, Scope, Session, Usage};
use crate::ids::{FNV_SEED, fnv};
use crate::json::{Out, Raw, Shape, Str};

/// What the receipt has told, so that later turns can be compared with it.
#[derive(Debug, Default)]
pub(super) struct Told([u64; 5]);

impl Told {
    /// Remembers the facts.
    pub(super) fn of(session: &Session<'_>) -> Self {
        Self(Self::parts(session).map(|part| part.map_or(0, |part| fnv(part.as_bytes(), FNV_SEED))))
    }

    /// The session's facts are said again: those that have not changed are in the receipt. Returns whether none has.
    pub(super) fn again(&self, session: &Session<'_>, out: &Out) -> bool {
        let mut same = true;
        if out.traced() {
            for (part, told) in Self::parts(session).into_iter().zip(self.0) {
                match part {
                    Some(part) if fnv(part.as_bytes(), FNV_SEED) == told => out.used(part),
                    _ => same &= part.is_none(),
                }
            }
        }
        same
    }

    fn parts<'a>(session: &Session<'a>) -> [Option<&'a str>; 5] {
        [
            session.cwd.map(Str::as_escaped),
            session.permission_mode.map(Str::as_escaped),
            session.version.map(Str::as_escaped),
            session.tools.map(Raw::as_str),
            session.capabilities.map(Raw::as_str),
        ]
    }
}

/// Writes `metadata` of the receipt. All values are strings, as OpenAI's type wants; what is not known is left out, except for
/// what an SDK needs to go on.
pub(super) fn write_receipt(session: &Session<'_>, fields: Fields<'_>, is_own: bool, mode: Mode, out: &mut Out) {
    out.lit(",\"metadata\":{\"protocol_version\":");
    match session.protocol_version {
        Some(version) => as_text(version, out),
        None => {
            out.invented("/metadata/protocol_version", "the version of the RFC that is written");
            out.lit("\"1\"");
        }
    }
    let field = |name: &str| own::at(fields, &[own::METADATA]).find(|field| field.key.is(name));
    if let Some(field) = field("input_format") {
        out.lit(",\"input_format\":");
        as_text(field.value, out);
    } else if !is_own {
        out.invented("/metadata/input_format", "the source does not say how its host writes");
        out.lit(",\"input_format\":\"text\"");
    }
    // Another of this dialect's formats is written in its place.
    let is_format = |value: Raw<'_>| {
        super::VENDOR
            .modes
            .iter()
            .any(|mode| value.string().is_some_and(|word| word.is(mode.name)))
    };
    if let Some(field) = field("output_format").filter(|field| is_format(field.value)) {
        out.used(field.value.as_str());
    }
    if !is_own || field("output_format").is_some() {
        out.lit(",\"output_format\":\"");
        out.lit(mode.name);
        out.lit("\"");
    }
    match session.capabilities {
        Some(capabilities) => {
            out.lit(",\"capabilities\":");
            as_text(capabilities, out);
        }
        None if is_own => {}
        None => {
            out.invented("/metadata/capabilities", "a log can do nothing");
            out.lit(",\"capabilities\":\"\"");
        }
    }
    text("cwd", session.cwd, out);
    if let Some(tools) = session.tools {
        out.lit(",\"tools\":");
        as_text(tools, out);
    }
    text("permission_mode", session.permission_mode, out);
    text("agent_version", session.version, out);
    own::write(
        own::at(fields, &[own::METADATA]).filter(|f| !f.key.is("input_format") && !f.key.is("output_format")),
        out,
    );
    out.lit("}");
}

/// Writes `metadata` of the summary, without the brace that closes it.
pub(super) fn write_summary(outcome: &Outcome<'_>, is_own: bool, finish: &str, out: &mut Out) {
    out.lit(",\"metadata\":{\"summary\":\"true\",\"outcome\":\"");
    match outcome.word.filter(|_| is_own) {
        Some(word) => out.body(word),
        None => out.lit(outcome.kind.as_str()),
    }
    out.lit(if outcome.is_error {
        "\",\"is_error\":\"true\""
    } else {
        "\",\"is_error\":\"false\""
    });
    if let Some(turns) = outcome.num_turns {
        out.used(turns.source);
        out.lit(",\"num_turns\":\"");
        out.number(turns.value);
        out.lit("\"");
    }
    number("duration_ms", outcome.duration_ms, out);
    number("duration_api_ms", outcome.duration_api_ms, out);
    write_error(outcome, finish, ",", out);
    if !outcome.is_error || outcome.error.is_some() {
        text("result", outcome.text.filter(|text| !text.is_empty()), out);
    }
    text(
        "stop_reason",
        outcome.stop.map(|stop| stop.word).filter(|word| !is_own || !is_finish(*word)),
        out,
    );
    number("cost_usd", outcome.cost_usd, out);
    if outcome.synthetic {
        out.lit(",\"synthetic\":\"true\"");
    }
}

/// Writes what went wrong. A turn whose last finish reason is `error` has to say something.
pub(super) fn write_error(outcome: &Outcome<'_>, finish: &str, before: &str, out: &mut Out) {
    let said = outcome
        .error
        .or(outcome.text.filter(|_| outcome.is_error))
        .filter(|text| !text.is_empty());
    if said.is_none() && finish != "error" {
        return;
    }
    out.lit(before);
    out.lit("\"error\":\"");
    match said {
        Some(text) => out.body(text),
        None => {
            out.invented("/metadata/error", "the source does not say what went wrong");
            out.lit(what(outcome.kind));
        }
    }
    out.lit("\"");
}

/// A turn that the source ends without a word about why.
const fn what(kind: OutcomeKind) -> &'static str {
    match kind {
        OutcomeKind::Success => "the turn failed",
        OutcomeKind::Refused => "the model refused",
        OutcomeKind::Limit(Limit::Turns) => "the limit of rounds was reached",
        OutcomeKind::Limit(Limit::Budget) => "the budget is used up",
        OutcomeKind::Limit(Limit::Tokens) => "the limit of tokens was reached",
        OutcomeKind::Limit(Limit::Retries) => "the limit of attempts was reached",
        OutcomeKind::Limit(Limit::Time) => "the time is used up",
        OutcomeKind::Cancelled => "the turn was cancelled",
        OutcomeKind::Failed(Place::Model) => "the model failed",
        OutcomeKind::Failed(Place::Tool) => "a tool failed",
        OutcomeKind::Failed(Place::Protocol) => "the stream was damaged",
        OutcomeKind::Failed(Place::Backend) => "the agent's program failed",
    }
}

/// Whether a stop word is one of the turn's finish reasons, which the line says anyway.
fn is_finish(word: Str<'_>) -> bool {
    matches!(word.as_escaped(), "stop" | "length" | "error" | "content_filter" | "tool_calls")
}

/// The tokens of the turn alone. `None` when no number is known.
pub(super) fn of_turn<'a>(usage: Usage<'a>, before: &mut Usage<'static>) -> Option<Usage<'a>> {
    usage.sources().next()?;
    if usage.scope != Scope::Session {
        return Some(usage);
    }
    Some(usage.of_turn(before))
}

/// Writes a value as a string: a list as its members, with blanks between them.
fn as_text(value: Raw<'_>, out: &mut Out) {
    out.lit("\"");
    match value.shape() {
        Some(Shape::String) => match value.string() {
            Some(text) => out.body(text),
            None => out.used(value.as_str()),
        },
        Some(Shape::Array) => {
            out.used(value.as_str());
            let mut before = "";
            for element in value.elements() {
                out.lit(before);
                before = " ";
                match element.string() {
                    Some(text) => out.body(text),
                    None => out.json_in_string(element.as_str()),
                }
            }
        }
        _ => out.json_in_string(value.as_str()),
    }
    out.lit("\"");
}

fn text(name: &str, value: Option<Str<'_>>, out: &mut Out) {
    if let Some(value) = value {
        out.lit(",\"");
        out.lit(name);
        out.lit("\":");
        out.str(value);
    }
}

fn number(name: &str, value: Option<Raw<'_>>, out: &mut Out) {
    if let Some(value) = value.filter(|v| !v.is_null()) {
        out.lit(",\"");
        out.lit(name);
        out.lit("\":");
        as_text(value, out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::Count;

    #[test]
    fn only_numbers_that_go_on_over_turns_are_worked_out() {
        let mut before = Usage::default();
        let nothing = Usage {
            scope: Scope::Session,
            ..Usage::default()
        };
        assert_eq!(of_turn(nothing, &mut before), None);
        let turn = Usage {
            input: Some(Count::derived(7)),
            scope: Scope::Turn,
            ..Usage::default()
        };
        assert_eq!(of_turn(turn, &mut before), Some(turn));
        let session = Usage {
            scope: Scope::Session,
            ..turn
        };
        assert_eq!(of_turn(session, &mut before).map(|usage| usage.scope), Some(Scope::Turn));
    }

    #[test]
    fn values_of_metadata_are_strings() {
        let written = |raw: &str| {
            let mut out = Out::default();
            as_text(Raw::trusted(raw), &mut out);
            String::from_utf8(out.written().to_vec()).unwrap()
        };
        assert_eq!(written("[\"Read\",\"Ba\\u0073h\"]"), "\"Read Ba\\u0073h\"");
        assert_eq!(written("1"), "\"1\"");
        assert_eq!(written("\"a b\""), "\"a b\"");
        assert_eq!(written("{\"a\":\"b\"}"), "\"{\\\"a\\\":\\\"b\\\"}\"");
    }
}
