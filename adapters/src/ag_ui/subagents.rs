//! Subagents: what says that they begin and are done.

use super::decode::Decoder;
use super::line::Line;
use crate::event::{Agent, Origin, Sink, Topic};
use crate::json::Error;

impl Decoder {
    pub(super) fn subagent_started<'a>(&mut self, line: &mut Line<'a>, sink: &mut dyn Sink<'a>) -> Result<(), Error> {
        let (Some(id), name) = (line.agent, line.need("name")?) else {
            return Err(line.missing("subagentRunId"));
        };
        self.break_off(line, sink);
        let (cx, call, task) = (line.cx, line.find("parentToolCallId"), line.find("description"));
        let thread = self.thread(Some(id));
        for (known, said) in [(&mut thread.call, call), (&mut thread.name, Some(name)), (&mut thread.task, task)] {
            said.unwrap_or_default().as_escaped().clone_into(known);
        }
        // That it begins is said by who has begun it.
        line.origin.agent = Some(cx.keep(Agent {
            id: Some(id),
            name: Some(name),
            task,
        }));
        if let Some(trace) = cx.trace {
            trace.merged("a subagent is told with what it says");
            trace.took(call.unwrap_or_default().as_escaped());
        }
        line.notice(Topic::Task, task, sink);
        Ok(())
    }

    /// A subagent is done.
    pub(super) fn subagent_over<'a>(&mut self, line: &mut Line<'a>, sink: &mut dyn Sink<'a>) -> Result<(), Error> {
        let Some(id) = line.agent else {
            return Err(line.missing("subagentRunId"));
        };
        self.break_off(line, sink);
        let cx = line.cx;
        let thread = self.thread(Some(id));
        line.origin = thread.origin(Some(id), line.origin, &cx);
        let origin = Origin { time: None, ..line.origin };
        thread.end_implied(origin, sink);
        line.notice(Topic::Task, None, sink);
        Ok(())
    }
}
