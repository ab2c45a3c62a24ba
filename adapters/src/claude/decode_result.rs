//! `result` lines: how a turn ended.

use crate::blocks::Reader;
use crate::event::{At, Count, Event, Field, Kind, Limit, Outcome, OutcomeKind, Place, Scope, Side, Sink, Stop, StopKind};
use crate::json::{Error, Raw, Shape, Str};

use super::decode::Decoder;
use super::line::Head;
use crate::learn::Aside;

impl Decoder {
    pub(super) fn result<'a>(&mut self, text: &'a str, reader: Reader<'_, 'a>, sink: &mut dyn Sink<'a>) -> Result<usize, Error> {
        let mut head = Head::new(reader, false);
        let mut outcome = Outcome::new(OutcomeKind::Success);
        let mut is_error = None;
        let mut reason = None;
        let mut first_error = None;
        let (mut stop_seen, mut usage_seen) = (false, false);
        let used = head.walk(text, |head, name, key, at| {
            // A member that comes as it should is taken; of another shape it stays a field that is not known.
            let odd = |value: Raw<'a>| Field {
                at: At::Line,
                key,
                value,
                known: false,
            };
            match name {
                "subtype" if outcome.word.is_none() => outcome.word = head.text(key, at)?,
                "result" if outcome.text.is_none() => outcome.text = head.text(key, at)?,
                "stop_reason" if !stop_seen => {
                    stop_seen = true;
                    outcome.stop = head.text(key, at)?.map(Stop::read);
                }
                "usage" if !usage_seen => {
                    usage_seen = true;
                    outcome.usage = reader.usage(at, Scope::Turn, At::Line, key, &mut head.fields)?;
                }
                "duration_ms" | "duration_api_ms" | "total_cost_usd" => {
                    let slot = match name {
                        "duration_ms" => &mut outcome.duration_ms,
                        "duration_api_ms" => &mut outcome.duration_api_ms,
                        _ => &mut outcome.cost_usd,
                    };
                    if slot.is_some() {
                        return Ok(false);
                    }
                    let value = at.skip()?;
                    if value.shape() == Some(Shape::Number) {
                        *slot = Some(value);
                    } else {
                        head.fields.push(odd(value));
                    }
                }
                "num_turns" if outcome.num_turns.is_none() => {
                    let value = at.skip()?;
                    outcome.num_turns = Count::read(value).filter(|_| value.shape() == Some(Shape::Number));
                    if outcome.num_turns.is_none() {
                        head.fields.push(odd(value));
                    }
                }
                "permission_denials" if outcome.denials.is_none() => {
                    let value = at.raw()?;
                    if value.shape() == Some(Shape::Array) {
                        outcome.denials = Some(value);
                    } else {
                        head.fields.push(odd(value));
                    }
                }
                "structured_output" if outcome.structured.is_none() => outcome.structured = Some(at.raw()?),
                "is_error" | "synthetic" => {
                    let value = at.skip()?;
                    match value.bool() {
                        Some(told) if name == "synthetic" => outcome.synthetic = told,
                        Some(told) if is_error.is_none() => is_error = Some(told),
                        _ => {
                            head.fields.push(odd(value));
                            return Ok(true);
                        }
                    }
                    reader.cx.took(value.as_str());
                }
                "terminal_reason" | "errors" => {
                    let value = at.skip()?;
                    if name == "errors" {
                        first_error = value.elements().next().and_then(Raw::string);
                    } else {
                        reason = value.string();
                    }
                    head.fields.push(reader.field(At::Line, key, value));
                }
                _ => return Ok(false),
            }
            Ok(true)
        })?;
        if outcome.word.is_none() && is_error.is_none() {
            return Err(Error::missing(used, "subtype"));
        }
        outcome.is_error = is_error.unwrap_or_else(|| outcome.word.is_some_and(|word| !word.is("success")));
        outcome.kind = kind(&outcome, reason);
        if let Some(word) = outcome.word.filter(|word| SUBTYPES.contains(&word.as_escaped())) {
            // What it means goes over.
            reader.cx.took(word.as_escaped());
        }
        outcome.error = match outcome.is_error {
            true => first_error.or(outcome.text),
            false => first_error,
        };
        self.side = Side::Agent;
        let event = Event {
            origin: head.origin(),
            kind: Kind::Outcome(reader.cx.keep(outcome)),
            fields: head.fields.into_bump_slice(),
        };
        self.learn(&text[..used], &event, Aside::default(), reader.cx);
        sink.event(&event);
        Ok(used)
    }
}

/// The words of which it is known what they mean.
const SUBTYPES: [&str; 5] = [
    "success",
    "error_during_execution",
    "error_max_turns",
    "error_max_budget_usd",
    "error_max_structured_output_retries",
];

/// What subtype, `is_error`, `terminal_reason` and `stop_reason` mean together (the table in docs/claude.md).
fn kind(outcome: &Outcome<'_>, reason: Option<Str<'_>>) -> OutcomeKind {
    let reason = reason.map_or("", Str::as_escaped);
    let refused = outcome.stop.is_some_and(|stop| stop.kind == StopKind::Refusal);
    match outcome.word.map_or("", Str::as_escaped) {
        "error_max_turns" => OutcomeKind::Limit(Limit::Turns),
        "error_max_budget_usd" => OutcomeKind::Limit(Limit::Budget),
        "error_max_structured_output_retries" => OutcomeKind::Limit(Limit::Retries),
        "success" if outcome.is_error && reason == "prompt_too_long" => OutcomeKind::Limit(Limit::Tokens),
        "success" if refused => OutcomeKind::Refused,
        "success" if outcome.is_error => OutcomeKind::Failed(Place::Model),
        "error_during_execution" if reason.starts_with("aborted") => OutcomeKind::Cancelled,
        _ if outcome.is_error && outcome.synthetic => OutcomeKind::Failed(Place::Protocol),
        _ if outcome.is_error => OutcomeKind::Failed(Place::Backend),
        _ if refused => OutcomeKind::Refused,
        _ => OutcomeKind::Success,
    }
}
