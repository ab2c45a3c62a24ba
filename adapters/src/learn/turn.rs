//! What begins and ends a turn.

use super::mold::Pick;
use super::parts::{UsageMold, str_at};
use super::shape::{Hole, Match, Spot};
use crate::codec::Cx;
use crate::event::{Count, Outcome, OutcomeKind, Scope, Session, Stop};
use crate::json::Raw;

/// A session's facts. Its lists are those that were said before.
#[derive(Debug)]
pub(super) struct SessionMold {
    texts: [Option<Spot>; 5],
    values: [Option<Spot>; 6],
    resumed: bool,
    opens_turn: bool,
}

/// The outcome of a turn that went well, or that went wrong without a word about it.
#[derive(Debug)]
pub(super) struct OutcomeMold {
    kind: OutcomeKind,
    is_error: bool,
    synthetic: bool,
    text: Option<Spot>,
    word: Option<Spot>,
    duration: Option<Spot>,
    duration_api: Option<Spot>,
    turns: Option<Spot>,
    cost: Option<Spot>,
    cost_scope: Scope,
    usage: Option<UsageMold>,
    stop: Option<Spot>,
    denials: Option<Spot>,
    request: Option<Spot>,
}

impl SessionMold {
    pub(super) fn of(session: &Session<'_>, pick: &mut Pick<'_, '_>) -> Option<Self> {
        let texts = [
            session.cwd,
            session.model,
            session.permission_mode,
            session.version,
            session.api_key_source,
        ];
        let values = [
            session.tools,
            session.mcp_servers,
            session.slash_commands,
            session.agents,
            session.protocol_version,
            session.capabilities,
        ];
        let (mut said, mut listed) = ([None; 5], [None; 6]);
        for (spot, text) in said.iter_mut().zip(texts) {
            *spot = pick.may(text, Some(Hole::Text))?;
        }
        for (spot, value) in listed.iter_mut().zip(values) {
            *spot = match value {
                None => None,
                Some(value) => Some(pick.part(value.as_str(), None)?),
            };
        }
        Some(Self {
            texts: said,
            values: listed,
            resumed: session.resumed,
            opens_turn: session.opens_turn,
        })
    }

    pub(super) fn at<'a>(&self, found: Match<'_, 'a>, cx: &Cx<'a>) -> &'a Session<'a> {
        let [cwd, model, permission_mode, version, api_key_source] = self.texts.map(|spot| str_at(found, spot));
        let [tools, mcp_servers, slash_commands, agents, protocol_version, capabilities] = self.values.map(|spot| raw_at(found, spot));
        cx.arena.alloc(Session {
            cwd,
            model,
            tools,
            permission_mode,
            version,
            api_key_source,
            mcp_servers,
            slash_commands,
            agents,
            protocol_version,
            capabilities,
            resumed: self.resumed,
            opens_turn: self.opens_turn,
        })
    }
}

impl OutcomeMold {
    pub(super) fn of(outcome: &Outcome<'_>, pick: &mut Pick<'_, '_>) -> Option<Self> {
        if outcome.error.is_some() || outcome.structured.is_some() {
            return None;
        }
        let number = |value: Option<Raw<'_>>, pick: &mut Pick<'_, '_>| pick.raw(value, Hole::Number);
        Some(Self {
            kind: outcome.kind,
            is_error: outcome.is_error,
            synthetic: outcome.synthetic,
            text: pick.may(outcome.text, Some(Hole::Text))?,
            word: pick.may(outcome.word, None)?,
            duration: number(outcome.duration_ms, pick)?,
            duration_api: number(outcome.duration_api_ms, pick)?,
            turns: match outcome.num_turns {
                None => None,
                Some(turns) => Some(pick.part(turns.source, Some(Hole::Number))?),
            },
            cost: number(outcome.cost_usd, pick)?,
            cost_scope: outcome.cost_scope,
            usage: UsageMold::of(outcome.usage, pick)?,
            stop: pick.may(outcome.stop.map(|stop| stop.word), None)?,
            denials: match outcome.denials {
                None => None,
                Some(denials) => Some(pick.part(denials.as_str(), Some(Hole::List))?),
            },
            request: pick.may(outcome.request_id, Some(Hole::Text))?,
        })
    }

    /// `None` if a number does not fit.
    pub(super) fn at<'a>(&self, found: Match<'_, 'a>, cx: &Cx<'a>) -> Option<&'a Outcome<'a>> {
        let num_turns = match raw_at(found, self.turns) {
            None => None,
            Some(turns) => Some(Count::read(turns)?),
        };
        Some(cx.arena.alloc(Outcome {
            kind: self.kind,
            is_error: self.is_error,
            told_before: false,
            synthetic: self.synthetic,
            text: str_at(found, self.text),
            error: None,
            word: str_at(found, self.word),
            duration_ms: raw_at(found, self.duration),
            duration_api_ms: raw_at(found, self.duration_api),
            num_turns,
            cost_usd: raw_at(found, self.cost),
            cost_scope: self.cost_scope,
            usage: UsageMold::at(self.usage.as_ref(), found)?,
            stop: str_at(found, self.stop).map(Stop::read),
            denials: raw_at(found, self.denials),
            structured: None,
            request_id: str_at(found, self.request),
        }))
    }
}

fn raw_at<'a>(found: Match<'_, 'a>, spot: Option<Spot>) -> Option<Raw<'a>> {
    spot.map(|spot| found.raw(spot))
}
