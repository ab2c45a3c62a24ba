//! What a session asks goes to the editor, and what the editor answers goes back.

use super::super::lines;
use super::words::Wrong;
use super::{Sessions, words};
use crate::event::{Request, Response, ToolCall, ToolKind};
use crate::front::Actions;
use crate::json::{Out, Raw, Str};

/// A question that waits for the editor.
#[derive(Debug)]
pub(super) struct Question {
    pub(super) session: String,
    /// The number that the session knows it by, escaped.
    pub(super) id: String,
    /// The arguments of the call.
    input: String,
    /// What may be allowed together with it, in the session's own form.
    always: Option<String>,
}

impl Sessions {
    /// Asks the editor whether a call may run. What else a session asks, nobody can answer here.
    pub(super) fn ask(&mut self, name: &str, request: &Request<'_>, actions: &mut Actions) {
        let (Some(session), Some(id)) = (self.sessions.get_mut(name), request.id) else {
            return;
        };
        let Some(permission) = request.permission else {
            let response = Response {
                id: Some(id),
                ok: false,
                body: None,
                error: Some(Raw::trusted("\"an editor cannot be asked this\"")),
            };
            return session.answer(&response, actions);
        };
        let input = permission.input.unwrap_or(Raw::trusted("{}"));
        let always = permission.suggestions.filter(|list| list.elements().next().is_some());
        let question = Question {
            session: name.to_owned(),
            id: id.as_escaped().to_owned(),
            input: input.as_str().to_owned(),
            always: always.map(|list| list.as_str().to_owned()),
        };
        if self.alone {
            return self.decide(&question, None, false, actions);
        }
        self.numbers += 1;
        let mut out = Out::new(None);
        out.lit("{\"jsonrpc\":\"2.0\",\"id\":");
        out.number(self.numbers);
        out.lit(",\"method\":\"session/request_permission\",\"params\":{\"sessionId\":\"");
        out.lit(name);
        out.lit("\",\"toolCall\":{\"toolCallId\":");
        let call = permission.call.unwrap_or(id);
        out.str(call);
        let call = ToolCall {
            id: call,
            name: permission.name,
            kind: ToolKind::Other,
            input,
            fields: &[],
        };
        lines::call(&call, session.inside(), &mut out);
        out.lit("},\"options\":[{\"optionId\":\"allow_once\",\"name\":\"Allow\",\"kind\":\"allow_once\"}");
        if always.is_some() {
            out.lit(",{\"optionId\":\"allow_always\",\"name\":\"Always allow\",\"kind\":\"allow_always\"}");
        }
        out.lit(",{\"optionId\":\"reject_once\",\"name\":\"Reject\",\"kind\":\"reject_once\"}]}}\n");
        actions.out.extend_from_slice(out.written());
        self.asked.insert(self.numbers, question);
    }

    /// The editor answers a question of ours.
    pub(super) fn heard(&mut self, id: Raw<'_>, message: Raw<'_>, actions: &mut Actions) {
        let Some(question) = id.u64().and_then(|id| self.asked.remove(&id)) else {
            return actions.notes.push(format!("an answer to {}, which nobody asked", id.as_str()));
        };
        let outcome = message.get("result").and_then(|result| result.get("outcome"));
        let chosen = outcome.and_then(|outcome| outcome.get("optionId")).and_then(Raw::string);
        let cancelled = outcome
            .and_then(|outcome| outcome.get("outcome"))
            .and_then(Raw::string)
            .is_some_and(|word| word.is("cancelled"));
        self.decide(&question, chosen.map(Str::as_escaped), cancelled, actions);
    }

    /// Tells a session what was chosen; nothing, where nobody chooses.
    pub(super) fn decide(&mut self, question: &Question, chosen: Option<&str>, cancelled: bool, actions: &mut Actions) {
        let Some(session) = self.sessions.get_mut(&question.session) else {
            return;
        };
        let input = &question.input;
        let body = match chosen.filter(|_| !cancelled) {
            Some("allow_once") => format!("{{\"behavior\":\"allow\",\"updatedInput\":{input}}}"),
            Some("allow_always") => {
                let rules = question.always.as_deref().unwrap_or("[]");
                format!("{{\"behavior\":\"allow\",\"updatedInput\":{input},\"updatedPermissions\":{rules}}}")
            }
            Some(_) => "{\"behavior\":\"deny\",\"message\":\"The user does not want this.\"}".to_owned(),
            None if cancelled => "{\"behavior\":\"deny\",\"message\":\"The user stopped the turn.\",\"interrupt\":true}".to_owned(),
            None => "{\"behavior\":\"deny\",\"message\":\"The editor did not say whether this may run.\"}".to_owned(),
        };
        let response = Response {
            id: Some(Str::trusted(&question.id)),
            ok: true,
            body: Some(Raw::trusted(&body)),
            error: None,
        };
        session.answer(&response, actions);
    }

    /// The editor need not answer these questions any more.
    pub(super) fn withdraw(&mut self, which: impl Fn(&Question) -> bool, actions: &mut Actions) {
        for (number, _) in self.asked.extract_if(.., |_, question| which(question)) {
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
