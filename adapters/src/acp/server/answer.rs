//! What a session asks goes to the editor, and what the editor answers goes back.

use super::super::lines;
use super::words::Wrong;
use super::{Sessions, words};
use crate::event::{Request, ToolCall, ToolKind};
use crate::json::{Out, Raw, Str};
use crate::server::Actions;
use crate::server::question::{Decision, Question, unanswerable};

/// Nobody has said what may be done.
pub(super) const UNSAID: Decision = Decision::Nothing("The editor did not say whether this may run.");

impl Sessions {
    /// Asks the editor whether a call may run. What else a session asks, nobody can answer here.
    pub(super) fn ask(&mut self, name: &str, request: &Request<'_>, actions: &mut Actions) {
        let (Some(session), Some(id)) = (self.sessions.get_mut(name), request.id) else {
            return;
        };
        let (Some(question), Some(permission)) = (Question::of(name, request), request.permission) else {
            return unanswerable(request, |response| session.answer(response, actions));
        };
        if self.alone {
            return self.decide(&question, UNSAID, actions);
        }
        self.numbers += 1;
        let mut out = Out::new(None);
        out.lit("{\"jsonrpc\":\"2.0\",\"id\":");
        out.number(self.numbers);
        out.lit(",\"method\":\"session/request_permission\",\"params\":{\"sessionId\":\"");
        out.lit(name);
        out.lit("\",\"toolCall\":{\"toolCallId\":");
        let call = permission.call.unwrap_or(id);
        let shown = session.called(call);
        out.str(shown);
        let call = ToolCall {
            id: shown,
            name: permission.name,
            kind: ToolKind::Other,
            input: question.input(),
            fields: &[],
        };
        // The editor was shown that it runs, as calls do that nobody is asked about.
        out.lit(",\"status\":\"pending\"");
        lines::call(&call, session.inside(), &mut out);
        out.lit("},\"options\":[{\"optionId\":\"allow_once\",\"name\":\"Allow\",\"kind\":\"allow_once\"}");
        if question.is_lasting() {
            out.lit(",{\"optionId\":\"allow_always\",\"name\":\"Always allow\",\"kind\":\"allow_always\"}");
        }
        out.lit(",{\"optionId\":\"reject_once\",\"name\":\"Reject\",\"kind\":\"reject_once\"}]}}\n");
        actions.out.extend_from_slice(out.written());
        let shown = shown.as_escaped().to_owned();
        self.asked.insert(self.numbers, (question, shown));
    }

    /// The editor answers a question of ours.
    pub(super) fn heard(&mut self, id: Raw<'_>, message: Raw<'_>, actions: &mut Actions) {
        let Some((question, call)) = id.u64().and_then(|id| self.asked.remove(&id)) else {
            return actions.notes.push(format!("an answer to {}, which nobody asked", id.as_str()));
        };
        let outcome = message.get("result").and_then(|result| result.get("outcome"));
        let chosen = outcome.and_then(|outcome| outcome.get("optionId")).and_then(Raw::string);
        let cancelled = outcome
            .and_then(|outcome| outcome.get("outcome"))
            .and_then(Raw::string)
            .is_some_and(|word| word.is("cancelled"));
        let decision = match chosen.map(Str::as_escaped).filter(|_| !cancelled) {
            Some("allow_once") => Decision::Allow,
            Some("allow_always") => Decision::Always,
            Some(_) => Decision::Deny,
            None if cancelled => Decision::Stop,
            None => UNSAID,
        };
        if matches!(decision, Decision::Allow | Decision::Always) {
            let runs = format!(
                "{{\"jsonrpc\":\"2.0\",\"method\":\"session/update\",\"params\":{{\"sessionId\":\"{}\",\"update\":{{\"sessionUpdate\":\"tool_call_update\",\"toolCallId\":\"{call}\",\"status\":\"in_progress\"}}}}}}\n",
                question.session
            );
            actions.out.extend_from_slice(runs.as_bytes());
        }
        self.decide(&question, decision, actions);
    }

    /// Tells a session what was decided.
    pub(super) fn decide(&mut self, question: &Question, decision: Decision, actions: &mut Actions) {
        if let Some(session) = self.sessions.get_mut(&question.session) {
            question.answered(decision, |response| session.answer(response, actions));
        }
    }

    /// The editor need not answer these questions any more.
    pub(super) fn withdraw(&mut self, which: impl Fn(&Question) -> bool, actions: &mut Actions) {
        for (number, _) in self.asked.extract_if(.., |_, (question, _)| which(question)) {
            let line = format!("{{\"jsonrpc\":\"2.0\",\"method\":\"$/cancel_request\",\"params\":{{\"requestId\":{number}}}}}\n");
            actions.out.extend_from_slice(line.as_bytes());
        }
    }
}

/// Refuses each of these requests.
pub(super) fn refuse_all(ids: impl IntoIterator<Item = String>, why: &str, actions: &mut Actions) {
    for id in ids {
        words::refuse(&id, &Wrong::internal(why), actions);
    }
}
