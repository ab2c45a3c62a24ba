//! What the program inside asks goes to the host, and what the host answers goes back.

use super::Threads;
use super::policy::Ask;
use super::words;
use crate::conduct::quoted;
use crate::event::{Request, Response, ToolKind};
use crate::front::Actions;
use crate::json::{Raw, Str};
use crate::tools::kind_of;

/// A question that waits for the host.
#[derive(Debug)]
pub(super) struct Question {
    pub(super) thread: String,
    /// The id that the program inside knows it by, escaped.
    pub(super) id: String,
    /// The arguments of the call.
    input: String,
    /// What may be allowed together with it, in the program's own form.
    always: Option<String>,
}

/// What is decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Decision {
    Accept,
    AcceptForSession,
    Decline,
    Cancel,
    /// Nobody decides.
    Nothing,
}

impl Threads {
    /// Asks the host whether a call may run. What else the program inside asks, nobody can answer here.
    pub(super) fn ask(&mut self, name: &str, request: &Request<'_>, actions: &mut Actions) {
        let (Some(thread), Some(id)) = (self.threads.get_mut(name), request.id) else {
            return;
        };
        let Some(permission) = request.permission else {
            let response = Response {
                id: Some(id),
                ok: false,
                body: None,
                error: Some(Raw::trusted("\"the host cannot be asked this\"")),
            };
            return thread.answer(&response, actions);
        };
        let input = permission.input.unwrap_or(Raw::trusted("{}"));
        let always = permission.suggestions.filter(|list| list.elements().next().is_some());
        let question = Question {
            thread: name.to_owned(),
            id: id.as_escaped().to_owned(),
            input: input.as_str().to_owned(),
            always: always.map(|list| list.as_str().to_owned()),
        };
        match thread.policy.asks() {
            Ask::Allow => return self.decide(&question, Decision::Accept, actions),
            Ask::Nobody => return self.decide(&question, Decision::Nothing, actions),
            Ask::Host if self.alone => return self.decide(&question, Decision::Nothing, actions),
            Ask::Host => {}
        }
        let now = (self.setup.now)();
        let call = permission.call.unwrap_or(id);
        let item = format!(
            "\"threadId\":\"{name}\",\"turnId\":{},\"itemId\":\"{}\",\"startedAtMs\":{now}",
            quoted(thread.turn().unwrap_or_default()),
            call.as_escaped()
        );
        let inside = thread.inside();
        thread.status("{\"type\":\"active\",\"activeFlags\":[\"waitingOnApproval\"]}", now, actions);
        self.numbers += 1;
        let command = input.get("command").and_then(Raw::string);
        match (kind_of(inside, permission.name), command) {
            (ToolKind::Edit | ToolKind::Write, _) => {
                let params = format!("{{{item},\"reason\":null,\"grantRoot\":null}}");
                words::ask(self.numbers, "item/fileChange/requestApproval", &params, actions);
            }
            (ToolKind::Shell, Some(command)) => {
                let params = format!("{{{item},\"kind\":\"command\",\"reason\":null,\"command\":\"{}\"}}", command.as_escaped());
                words::ask(self.numbers, "item/commandExecution/requestApproval", &params, actions);
            }
            // Hosts know of no other question that each of them answers.
            _ => {
                let what = quoted(&format!("{} {}", permission.name.unescape(), input.as_str()));
                let params = format!("{{{item},\"kind\":\"command\",\"reason\":{what},\"command\":null}}");
                words::ask(self.numbers, "item/commandExecution/requestApproval", &params, actions);
            }
        }
        self.asked.insert(self.numbers, question);
    }

    /// The host answers a question of ours.
    pub(super) fn heard(&mut self, id: Raw<'_>, message: Raw<'_>, actions: &mut Actions) {
        let Some((number, question)) = id.u64().and_then(|id| Some((id, self.asked.remove(&id)?))) else {
            return actions.notes.push(format!("an answer to {}, which nobody asked", id.as_str()));
        };
        let decision = message.get("result").and_then(|result| result.get("decision"));
        let decision = match (decision.and_then(Raw::string).map(Str::as_escaped), decision) {
            (Some("accept"), _) => Decision::Accept,
            (Some("acceptForSession"), _) => Decision::AcceptForSession,
            (Some("decline"), _) => Decision::Decline,
            (Some("cancel"), _) => Decision::Cancel,
            // From now on.
            (None, Some(amended)) if amended.get("acceptWithExecpolicyAmendment").is_some() => Decision::AcceptForSession,
            _ => Decision::Nothing,
        };
        self.resolved(number, &question, actions);
        self.decide(&question, decision, actions);
    }

    fn resolved(&self, number: u64, question: &Question, actions: &mut Actions) {
        let now = (self.setup.now)();
        let params = format!("{{\"threadId\":\"{}\",\"requestId\":{number}}}", question.thread);
        words::notify("serverRequest/resolved", &params, now, actions);
        let waits = self.asked.values().any(|other| other.thread == question.thread);
        if let Some(thread) = self.threads.get(&question.thread).filter(|thread| !waits && thread.turn().is_some()) {
            thread.status("{\"type\":\"active\",\"activeFlags\":[]}", now, actions);
        }
    }

    /// Tells the program inside what was decided.
    pub(super) fn decide(&mut self, question: &Question, decision: Decision, actions: &mut Actions) {
        let Some(thread) = self.threads.get_mut(&question.thread) else {
            return;
        };
        let input = &question.input;
        let body = match decision {
            Decision::Accept => format!("{{\"behavior\":\"allow\",\"updatedInput\":{input}}}"),
            Decision::AcceptForSession => {
                let rules = question.always.as_deref().unwrap_or("[]");
                format!("{{\"behavior\":\"allow\",\"updatedInput\":{input},\"updatedPermissions\":{rules}}}")
            }
            Decision::Decline => "{\"behavior\":\"deny\",\"message\":\"The user does not want this.\"}".to_owned(),
            Decision::Cancel => "{\"behavior\":\"deny\",\"message\":\"The user stopped the turn.\",\"interrupt\":true}".to_owned(),
            Decision::Nothing => "{\"behavior\":\"deny\",\"message\":\"The sandbox does not allow this, and nobody can be asked.\"}".to_owned(),
        };
        if decision == Decision::Cancel {
            thread.stopped();
        }
        let response = Response {
            id: Some(Str::trusted(&question.id)),
            ok: true,
            body: Some(Raw::trusted(&body)),
            error: None,
        };
        thread.answer(&response, actions);
    }

    /// The host need not answer these questions any more.
    pub(super) fn withdraw(&mut self, which: impl Fn(&Question) -> bool, actions: &mut Actions) {
        let gone: Vec<(u64, Question)> = self.asked.extract_if(.., |_, question| which(question)).collect();
        for (number, question) in gone {
            self.resolved(number, &question, actions);
        }
    }
}
