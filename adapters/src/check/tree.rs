//! Whether a program that goes on with a session comes to its lines.

use super::report::{Line, Report};
use super::{Level, Rule};
use crate::event::{At, Event, Field, Kind};
use crate::json::Raw;
use crate::store::{Chain, Odd, Walk};

/// The lines of a store.
#[derive(Debug, Default)]
pub(super) struct Tree {
    walk: Walk,
    begun: bool,
    /// The line that was taken last: one may be several events.
    last: u64,
}

impl Tree {
    /// Takes an event. `of_subagent`: the file is one of a subagent, and said to be.
    pub(super) fn line(&mut self, event: &Event<'_>, chain: &Chain, of_subagent: bool, line: &mut Line<'_>, report: &mut Report) {
        let member = |name: &str| {
            event
                .fields
                .iter()
                .find(|field| field.at == At::Line && field.key.is(name))
                .map(|Field { value, .. }| *value)
        };
        let says = matches!(event.kind, Kind::Prompt(_) | Kind::Reply(_) | Kind::ToolResult(_));
        let parent = member(chain.parent);
        if !says && parent.is_none() || self.last == line.number() {
            return;
        }
        self.last = line.number();
        let is_first = !std::mem::replace(&mut self.begun, true);
        if let Some(side) = member(chain.side).filter(|side| side.bool() == Some(true)) {
            let (level, text) = if is_first {
                (Level::Warning, "the file is that of a subagent: no program goes on with it")
            } else {
                (Level::Note, "a line of a subagent stands in the session's file")
            };
            if !of_subagent {
                let place = line.place(side.as_str());
                report.find_as(Rule::Sidechain, level, place, text);
                return;
            }
        }
        let reply = match event.kind {
            Kind::Reply(reply) => Some(reply.id),
            Kind::RoundStart(start) => Some(start.id),
            _ => None,
        };
        let opens = event.origin.parent.is_none() && (matches!(event.kind, Kind::Prompt(_)) || reply.is_some_and(|id| self.walk.begins_reply(id)));
        let id = event.origin.id;
        let name = |parent: Option<Raw<'_>>| {
            parent
                .and_then(Raw::string)
                .map_or_else(|| "null".to_owned(), |id| format!("{:?}", id.unescape()))
        };
        let (rule, text) = match self.walk.line(id, parent.map(|parent| parent.string().unwrap_or_default()), says, opens) {
            None => return,
            Some(Odd::NoId) => (Rule::MissingUuid, "a line without an id".to_owned()),
            Some(Odd::NoParent) => (Rule::BrokenChain, "a line that does not say which one it goes on from".to_owned()),
            Some(Odd::Lost) => (Rule::BrokenChain, format!("no line before goes by the id {}", name(parent))),
            Some(Odd::Back) => (
                Rule::OtherBranch,
                format!("it goes back to the line {}: what was said since is another branch", name(parent)),
            ),
        };
        let place = match parent {
            Some(parent) => line.place(parent.as_str()),
            None => line.whole(),
        };
        report.find(rule, place, text);
    }
}
