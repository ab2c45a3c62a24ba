//! Reading `metadata`, and the receipt that may stand in `system_fingerprint` instead: the receipt, the summary of a turn, the
//! error of a reply.

use super::fields::knows;
use super::line::outcome_of;
use crate::chat::{Envelope, FieldList, Members, inner, plain};
use crate::codec::Cx;
use crate::event::{At, Count, Limit, Outcome, OutcomeKind, Place, Session, Stop, StopKind};
use crate::json::{Raw, Shape, Str};

/// The members of `metadata`.
#[derive(Debug)]
pub(super) struct Meta<'a> {
    members: Members<'a>,
    place: At<'a>,
    /// The whole object, where it is the line's own.
    pub(super) raw: Option<Raw<'a>>,
}

const PLACE: &str = "/metadata";

/// Takes `metadata` out of a line, or a receipt in its `system_fingerprint` (an object, or a string that holds one).
pub(super) fn read<'a>(envelope: &mut Envelope<'a>, cx: &Cx<'a>) -> Meta<'a> {
    let place = At::Part(PLACE);
    if let Some(meta) = envelope.rest.shaped("metadata", Shape::Object, cx).and_then(|raw| Meta::of(raw, cx)) {
        return meta;
    }
    let fingerprint = envelope.rest.get("system_fingerprint");
    let text = fingerprint.map(|raw| match inner(raw) {
        Some(body) => &*cx.arena.alloc_str(&body.unescape()),
        None => raw.as_str(),
    });
    let members = text
        .filter(|t| t.contains("protocol_version"))
        .and_then(|text| Members::of(Raw::trusted(text), cx));
    if let Some(members) = members.filter(|m| m.get("protocol_version").is_some()) {
        if let Some(raw) = envelope.rest.take("system_fingerprint", cx) {
            cx.took(raw.as_str());
        }
        return Meta { members, place, raw: None };
    }
    Meta {
        members: Members::new(cx),
        place,
        raw: None,
    }
}

/// A value of a receipt as a string, as all values of `metadata` are: in `system_fingerprint` they may have types of their own.
fn as_text<'a>(value: Raw<'a>, cx: &Cx<'a>) -> Raw<'a> {
    let mut text = String::from("\"");
    match value.shape() {
        Some(Shape::Number | Shape::Bool) => text.push_str(value.as_str()),
        Some(Shape::Array) if value.elements().all(|element| inner(element).is_some()) => {
            for (n, element) in value.elements().filter_map(inner).enumerate() {
                text.push_str(if n > 0 { " " } else { "" });
                text.push_str(element.as_escaped());
            }
        }
        _ => return value,
    }
    text.push('"');
    let text = cx.arena.alloc_str(&text);
    cx.stands_for(text, value.as_str());
    Raw::trusted(text)
}

impl<'a> Meta<'a> {
    /// Reads the object; `None` for another value, or a damaged one.
    pub(super) fn of(raw: Raw<'a>, cx: &Cx<'a>) -> Option<Self> {
        Some(Self {
            members: Members::of(raw, cx)?,
            place: At::Part(PLACE),
            raw: Some(raw),
        })
    }

    pub(super) fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// Whether this is the receipt.
    pub(super) fn is_receipt(&self) -> bool {
        self.members.get("protocol_version").is_some() && !self.is_summary()
    }

    /// Whether this is the summary of a turn.
    pub(super) fn is_summary(&self) -> bool {
        ["summary", "outcome", "is_error"].iter().any(|name| self.members.get(name).is_some())
    }

    /// What went wrong.
    pub(super) fn error(&self) -> Option<Raw<'a>> {
        self.members.get("error")
    }

    /// Takes out the error of a reply.
    pub(super) fn take_error(&mut self, cx: &Cx<'a>) -> Option<Str<'a>> {
        self.members.text("error", cx)
    }

    /// Takes out the error that refuses a version, and the version that is spoken.
    pub(super) fn take_refusal(&mut self, cx: &Cx<'a>) -> Option<Raw<'a>> {
        if let Some(version) = self
            .members
            .take("protocol_version", cx)
            .filter(|version| matches!(version.as_str(), "\"1\"" | "1"))
        {
            cx.took(version.as_str());
        }
        self.members.take("error", cx)
    }

    /// Takes the session's facts out of a receipt.
    pub(super) fn session(&mut self, model: Option<Str<'a>>, cx: &Cx<'a>) -> Session<'a> {
        let members = &mut self.members;
        Session {
            cwd: members.text("cwd", cx),
            model,
            tools: members.take("tools", cx).map(|raw| as_text(raw, cx)),
            permission_mode: members.text("permission_mode", cx),
            version: members.text("agent_version", cx),
            protocol_version: members.take("protocol_version", cx).map(|raw| as_text(raw, cx)),
            capabilities: members.take("capabilities", cx).map(|raw| as_text(raw, cx)),
            ..Session::default()
        }
    }

    /// Takes the outcome out of a summary. `finish` is the turn's last `finish_reason`.
    pub(super) fn outcome(&mut self, finish: Option<Str<'a>>, cx: &Cx<'a>) -> Outcome<'a> {
        let members = &mut self.members;
        if let Some(summary) = members.take("summary", cx).filter(|summary| plain(*summary).bool() == Some(true)) {
            cx.took(summary.as_str());
        }
        let is_error = truth(members, "is_error", cx);
        let synthetic = truth(members, "synthetic", cx).unwrap_or(false);
        let word = members.text("outcome", cx);
        let stop = members.text("stop_reason", cx).map(Stop::read);
        if let Some(word) = word.filter(|word| kind(*word, stop, finish).is_some()) {
            cx.took(word.as_escaped());
        }
        let plain_finish = || outcome_of(finish.unwrap_or(Str::trusted("stop"))).kind;
        let kind = match (word.map_or_else(|| Some(plain_finish()), |word| kind(word, stop, finish)), is_error) {
            (None | Some(OutcomeKind::Success), Some(true)) if word.is_none_or(|w| !w.is("success")) => OutcomeKind::Failed(Place::Model),
            (kind, _) => kind.unwrap_or(OutcomeKind::Success),
        };
        Outcome {
            is_error: is_error.unwrap_or(Outcome::new(kind).is_error),
            synthetic,
            text: members.text("result", cx),
            error: members.text("error", cx),
            word,
            duration_ms: number(members, "duration_ms", cx),
            duration_api_ms: number(members, "duration_api_ms", cx),
            num_turns: number(members, "num_turns", cx).and_then(Count::read),
            cost_usd: number(members, "cost_usd", cx),
            stop,
            ..Outcome::new(kind)
        }
    }

    /// What is left, while the line is still looked at.
    pub(super) fn pour_copy(&self, into: &mut FieldList<'a>) {
        self.members.copy(self.place, knows, into);
    }

    /// What is left.
    pub(super) fn pour(&mut self, into: &mut FieldList<'a>) {
        let bump = into.bump();
        let cx = Cx::new(bump);
        std::mem::replace(&mut self.members, Members::new(&cx)).pour(self.place, knows, into);
    }
}

/// Takes out a truth value, written as such or as a string.
fn truth<'a>(members: &mut Members<'a>, name: &str, cx: &Cx<'a>) -> Option<bool> {
    let value = members.get(name)?;
    let found = plain(value).bool();
    if found.is_some() || value.is_null() {
        members.take(name, cx);
        cx.took(value.as_str());
    }
    found
}

/// Takes out a number, written as such or as a string.
fn number<'a>(members: &mut Members<'a>, name: &str, cx: &Cx<'a>) -> Option<Raw<'a>> {
    let value = plain(members.get(name)?);
    if value.shape() != Some(Shape::Number) {
        return None;
    }
    members.take(name, cx);
    Some(value)
}

/// What the summary's `outcome` means, if it is a word that somebody knows. `limit` and `failed` alone don't say which.
fn kind(word: Str<'_>, stop: Option<Stop<'_>>, finish: Option<Str<'_>>) -> Option<OutcomeKind> {
    let word = word.unescape();
    let long = [stop, finish.map(Stop::read)].into_iter().flatten().any(|s| s.kind == StopKind::Length);
    match &*word {
        "limit" if long => Some(OutcomeKind::Limit(Limit::Tokens)),
        "limit" => Some(OutcomeKind::Limit(Limit::Turns)),
        "canceled" => Some(OutcomeKind::Cancelled),
        "failed" | "error" => Some(OutcomeKind::Failed(Place::Model)),
        word => OutcomeKind::read(word),
    }
}
