//! What the program inside asks goes to the host, and what the host answers goes back.

use bumpalo::Bump;

use super::Threads;
use super::policy::Ask;
use super::words;
use crate::codex::tools::command_line as line;
use crate::conduct::quoted;
use crate::event::{Request, ToolKind};
use crate::json::{Raw, Str};
use crate::server::Actions;
use crate::server::question::{Decision, Question, unanswerable};
use crate::tools::kind_of;

/// Nobody has said what may be done.
pub(super) const UNSAID: Decision = Decision::Nothing("The sandbox does not allow this, and nobody can be asked.");

impl Threads {
    /// Asks the host whether a call may run. What else the program inside asks, nobody can answer here.
    pub(super) fn ask(&mut self, name: &str, request: &Request<'_>, actions: &mut Actions) {
        let (Some(thread), Some(id)) = (self.threads.get_mut(name), request.id) else {
            return;
        };
        let (Some(question), Some(permission)) = (Question::of(name, request), request.permission) else {
            return unanswerable(request, |response| thread.answer(response, actions));
        };
        let input = question.input();
        let command = input.get("command").and_then(Raw::string);
        let command = command.filter(|_| kind_of(thread.inside(), permission.name) == ToolKind::Shell);
        if command.is_some_and(|command| thread.granted.contains(command.as_escaped())) {
            return self.decide(&question, Decision::Allow, actions);
        }
        match thread.policy.asks() {
            Ask::Allow => return self.decide(&question, Decision::Allow, actions),
            Ask::Nobody => return self.decide(&question, UNSAID, actions),
            Ask::Host if self.alone => return self.decide(&question, UNSAID, actions),
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
        match (kind_of(inside, permission.name), command) {
            (ToolKind::Edit | ToolKind::Write, _) => {
                let params = format!("{{{item},\"reason\":null,\"grantRoot\":null}}");
                words::ask(self.numbers, "item/fileChange/requestApproval", &params, actions);
            }
            (_, Some(command)) => {
                let arena = Bump::new();
                let line = line(command, &arena);
                let params = format!(
                    "{{{item},\"kind\":\"command\",\"reason\":null,\"command\":\"{}\",\"cwd\":{}}}",
                    line.as_escaped(),
                    quoted(thread.cwd())
                );
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
            (Some("accept"), _) => Decision::Allow,
            (Some("acceptForSession"), _) => Decision::Always,
            (Some("decline"), _) => Decision::Deny,
            (Some("cancel"), _) => Decision::Stop,
            // From now on.
            (None, Some(amended)) if amended.get("acceptWithExecpolicyAmendment").is_some() => Decision::Always,
            _ => UNSAID,
        };
        // The agent may propose nothing that would allow this very command from here on.
        let command = question
            .input()
            .get("command")
            .and_then(Raw::string)
            .filter(|_| decision == Decision::Always);
        if let (Some(command), Some(thread)) = (command, self.threads.get_mut(&question.session)) {
            thread.granted.insert(command.as_escaped().to_owned());
        }
        self.resolved(number, &question, actions);
        self.decide(&question, decision, actions);
    }

    fn resolved(&self, number: u64, question: &Question, actions: &mut Actions) {
        let now = (self.setup.now)();
        let params = format!("{{\"threadId\":\"{}\",\"requestId\":{number}}}", question.session);
        words::notify("serverRequest/resolved", &params, now, actions);
        let waits = self.asked.values().any(|other| other.session == question.session);
        if let Some(thread) = self.threads.get(&question.session).filter(|thread| !waits && thread.turn().is_some()) {
            thread.status("{\"type\":\"active\",\"activeFlags\":[]}", now, actions);
        }
    }

    /// Tells the program inside what was decided.
    pub(super) fn decide(&mut self, question: &Question, decision: Decision, actions: &mut Actions) {
        let Some(thread) = self.threads.get_mut(&question.session) else {
            return;
        };
        if decision == Decision::Stop {
            thread.stopped();
        }
        question.answered(decision, |response| thread.answer(response, actions));
    }

    /// The host need not answer these questions any more.
    pub(super) fn withdraw(&mut self, which: impl Fn(&Question) -> bool, actions: &mut Actions) {
        let gone: Vec<(u64, Question)> = self.asked.extract_if(.., |_, question| which(question)).collect();
        for (number, question) in gone {
            self.resolved(number, &question, actions);
        }
    }
}
