//! `result` lines: how a turn, or a subagent, ended.

use super::super::{ERROR, why};
use super::{Decoder, Envelope, Line, name};
use crate::event::{At, Count, Field, Kind, Limit, Notice, Outcome, OutcomeKind, Scope, Side, Topic, Usage};
use crate::json::{Cursor, Error, Raw, Shape, Str};

/// The members of a `result` line.
#[derive(Default)]
struct Members<'a> {
    subtype: Option<Str<'a>>,
    is_error: Option<bool>,
    duration_ms: Option<Raw<'a>>,
    duration_api_ms: Option<Raw<'a>>,
    num_turns: Option<Count<'a>>,
    result: Option<Str<'a>>,
    usage: Option<Usage<'a>>,
    denials: Option<Raw<'a>>,
    structured: Option<Raw<'a>>,
    error: Option<Str<'a>>,
    synthetic: bool,
}

impl Decoder {
    pub(super) fn result<'a>(&mut self, mut line: Line<'_, 'a, '_>) -> Result<usize, Error> {
        let mut envelope = Envelope::new(&line.reader);
        let mut members = Members::default();
        let mut object = line.at.object()?;
        while let Some(key) = object.key(&mut line.at)? {
            members.member(key, &mut line, &mut envelope)?;
        }
        let used = line.at.position();
        self.side = Side::Agent;
        if members.is_of_subagent(!self.open.subagents.is_empty()) {
            return line.subagent_end();
        }
        let succeeded = members.subtype.is_some_and(|word| word.is("success"));
        let is_error = members.is_error.unwrap_or(!succeeded);
        let outcome = Outcome {
            is_error,
            synthetic: members.synthetic,
            text: members.result,
            error: members.error,
            word: members.subtype,
            duration_ms: members.duration_ms,
            duration_api_ms: members.duration_api_ms,
            num_turns: members.num_turns,
            usage: members.usage,
            denials: members.denials,
            structured: members.structured,
            ..Outcome::new(kind(&members, is_error))
        };
        let outcome = line.cx.keep(outcome);
        line.only(self, &envelope.event(Kind::Outcome(outcome)), used, None);
        Ok(used)
    }
}

/// The words of which it is known what they mean.
const SUBTYPES: [&str; 3] = ["success", "error_during_execution", "error_max_turns"];

impl<'a> Members<'a> {
    fn member(&mut self, key: Str<'a>, line: &mut Line<'_, 'a, '_>, envelope: &mut Envelope<'a>) -> Result<(), Error> {
        let (cx, reader, at) = (line.cx, line.reader, &mut line.at);
        let name = name(cx, key);
        let shape = at.shape()?;
        let mut field = |value| {
            envelope.fields.push(Field {
                at: At::Line,
                key,
                value,
                known: false,
            })
        };
        match name {
            "subtype" if self.subtype.is_none() && shape == Shape::String => {
                let word = at.string()?;
                if SUBTYPES.contains(&word.as_escaped()) {
                    cx.took(word.as_escaped());
                }
                self.subtype = Some(word);
            }
            "result" if self.result.is_none() => self.result = reader.text(at, At::Line, key, &mut envelope.fields)?,
            "is_error" if self.is_error.is_none() => {
                let value = at.skip()?;
                match value.bool() {
                    Some(truth) => {
                        cx.took(value.as_str());
                        self.is_error = Some(truth);
                    }
                    None => field(value),
                }
            }
            "synthetic" if !self.synthetic && shape == Shape::Bool => {
                let value = at.skip()?;
                cx.took(value.as_str());
                self.synthetic = value.bool() == Some(true);
            }
            "duration_ms" if self.duration_ms.is_none() && shape == Shape::Number => self.duration_ms = Some(at.raw()?),
            "duration_api_ms" if self.duration_api_ms.is_none() && shape == Shape::Number => self.duration_api_ms = Some(at.raw()?),
            "num_turns" if self.num_turns.is_none() => {
                let value = at.raw()?;
                match Count::read(value) {
                    Some(count) => self.num_turns = Some(count),
                    None => field(value),
                }
            }
            "usage" if self.usage.is_none() => self.usage = reader.usage(at, Scope::Session, At::Line, key, &mut envelope.fields)?,
            "permission_denials" if self.denials.is_none() && shape == Shape::Array => self.denials = Some(at.raw()?),
            "structured_result" | "structured_output" if self.structured.is_none() => self.structured = Some(at.raw()?),
            "error" if self.error.is_none() && shape == Shape::Object => {
                let raw = at.raw()?;
                match raw.get("message").and_then(Raw::string) {
                    Some(message) => {
                        self.error = Some(message);
                        let mut seen = false;
                        for (key, value) in raw.members() {
                            if key.is("message") && !std::mem::replace(&mut seen, true) {
                                continue;
                            }
                            envelope.fields.push(reader.field(At::Part(ERROR), key, value));
                        }
                    }
                    None => field(raw),
                }
            }
            name => envelope.member(key, name, &reader, at)?,
        }
        Ok(())
    }

    /// A subagent that fails or is cancelled writes a `result` of its own into the turn, in which every number is 0, before its call has
    /// its result (recording `ctl_subagent_perm_shell`). The end of a turn that was never begun is written with zeros, too.
    fn is_of_subagent(&self, one_is_open: bool) -> bool {
        let zero = |raw: Option<Raw<'_>>| raw.is_none_or(|raw| raw.u64() == Some(0));
        self.error.is_some_and(|error| one_is_open || error.is("CANCELLED"))
            && zero(self.duration_ms)
            && zero(self.duration_api_ms)
            && self.num_turns.is_none_or(|count| count.value == 0)
            && self.usage.is_none_or(|usage| usage.is_blank())
    }
}

impl Line<'_, '_, '_> {
    /// The members of such a line have no meaning; they ride as fields.
    fn subagent_end(mut self) -> Result<usize, Error> {
        let used = self.at.position();
        let mut envelope = Envelope::new(&self.reader);
        let mut message = None;
        self.at = Cursor::new(self.text);
        let mut object = self.at.object()?;
        while let Some(key) = object.key(&mut self.at)? {
            match name(self.cx, key) {
                "error" if message.is_none() && self.at.shape()? == Shape::Object => {
                    let raw = self.at.raw()?;
                    message = raw.get("message").and_then(Raw::string);
                    let mut seen = false;
                    for (key, value) in raw.members().filter(|(key, _)| !key.is("message") || std::mem::replace(&mut seen, true)) {
                        envelope.fields.push(self.reader.field(At::Part(ERROR), key, value));
                    }
                }
                name => envelope.member(key, name, &self.reader, &mut self.at)?,
            }
        }
        let notice = Notice {
            name: Str::trusted("result"),
            topic: Topic::SubagentEnd,
            message,
            data: None,
        };
        let notice = self.cx.keep(notice);
        self.event(envelope, Kind::Notice(notice));
        Ok(used)
    }
}

/// What a result means: told by its `subtype` and by the program's own sentences.
fn kind(members: &Members<'_>, is_error: bool) -> OutcomeKind {
    if !is_error {
        return OutcomeKind::Success;
    }
    match members.subtype.map_or("", Str::as_escaped) {
        "error_max_turns" => return OutcomeKind::Limit(Limit::Turns),
        "error_max_budget_usd" => return OutcomeKind::Limit(Limit::Budget),
        _ => {}
    }
    why(members.error.map_or("", Str::as_escaped))
}
