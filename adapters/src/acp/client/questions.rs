//! What the agent asks: permission of the host, and calls of us.

use super::client_calls;
use super::messages::{self, Dir, say, tell};
use super::permitted_calls::Grant;
use super::{Conversation, Stage, reply};
use crate::acp::rpc;
use crate::client::Exchange;
use crate::event::Response;
use crate::json::{Raw, Str};

/// A question for permission.
#[derive(Debug)]
pub(super) struct Question {
    /// Its id as it was spelled.
    id: String,
    /// The call that it is about, as the body of a JSON string.
    call: String,
    /// The answers to choose from: id and kind, as bodies of JSON strings.
    options: Vec<(String, String)>,
    /// What the host allows with it, if it does.
    grant: Option<Grant>,
}

impl Question {
    /// Its id as the host knows it.
    pub(super) fn name(&self) -> &str {
        self.id.trim_matches('"')
    }

    /// What is answered: the option that says no more than this.
    fn result(&self, allow: bool) -> String {
        let kinds = if allow {
            ["allow_once", "allow_always"]
        } else {
            ["reject_once", "reject_always"]
        };
        let of = |kind: &str| self.options.iter().find(|(_, known)| known == kind);
        match kinds.into_iter().find_map(of) {
            Some((option, _)) => format!("{{\"outcome\":{{\"outcome\":\"selected\",\"optionId\":\"{option}\"}}}}"),
            None => CANCELLED.to_owned(),
        }
    }
}

/// What is answered to a question whose turn the host does not want any more.
const CANCELLED: &str = "{\"outcome\":{\"outcome\":\"cancelled\"}}";

impl Conversation {
    /// The agent asks something.
    pub(super) fn asks(&mut self, text: &str, method: &str, id: Raw<'_>, params: Raw<'_>, exchange: &mut Exchange) {
        let wanted = client_calls::wanted(method, params);
        if method != "session/request_permission" && wanted.is_none() {
            exchange.notes.push(format!("the agent asks for {method:?}, which was not offered"));
            return say(&rpc::error(id.as_str(), -32601, &format!("Method not found: {method}")), exchange);
        }
        let named = wanted.is_none() || params.get("sessionId").is_some();
        if self.stage != Stage::Open || !named || !self.is_ours(params) {
            return say(&rpc::error(id.as_str(), -32602, "there is no such session"), exchange);
        }
        match wanted {
            Some(Ok(act)) => {
                let home = self.launch.cwd.as_deref().unwrap_or("/");
                return self.client_calls.begin(id.as_str(), act, self.mode, home, exchange);
            }
            Some(Err(why)) => return say(&rpc::error(id.as_str(), -32602, &why), exchange),
            None => {}
        }
        if client_calls::is_like_ours(id.as_str()) {
            return say(&rpc::error(id.as_str(), -32600, "ids of this kind are those of the host"), exchange);
        }
        if self.stops {
            return say(&rpc::answer(id.as_str(), CANCELLED), exchange);
        }
        let said = |option: Raw<'_>, name: &str| Some(option.get(name)?.string()?.as_escaped().to_owned());
        let call = params.get("toolCall");
        let Some(name) = call.and_then(|call| said(call, "toolCallId")) else {
            return say(
                &rpc::error(id.as_str(), -32602, "permission is asked for a toolCall with a toolCallId"),
                exchange,
            );
        };
        let told = call.map(|call| self.reworded(call.as_str(), Some(call)));
        if let Some(told) = &told {
            self.client_calls.grants.hear(Raw::trusted(told));
        }
        let question = Question {
            id: id.as_str().to_owned(),
            call: name,
            options: params
                .get("options")
                .into_iter()
                .flat_map(Raw::elements)
                .filter_map(|option| Some((said(option, "optionId")?, said(option, "kind")?)))
                .collect(),
            grant: call.and_then(|call| self.client_calls.grants.of(call.get("toolCallId")?.string()?.as_escaped())),
        };
        if self.questions.iter().any(|known| known.name() == question.name()) {
            return say(&rpc::error(&question.id, -32600, "a question of this id waits for its answer"), exchange);
        }
        if let Some(told) = told.filter(|_| call.is_some_and(|call| self.accepts(call))) {
            tell(Dir::Agents, &messages::update(&self.session, Raw::trusted(&told)), exchange);
            return say(&rpc::answer(&question.id, &question.result(true)), exchange);
        }
        let told = self.reworded(text, call).into_owned();
        let late = self.serves.is_some_and(|serves| serves.joins_names) && self.client_calls.grants.lacks_arguments(&question.call);
        if late {
            self.held.push((question.call.clone(), told));
        } else {
            tell(Dir::Agents, &told, exchange);
        }
        self.questions.push(question);
    }

    /// Tells the session questions that waited for arguments which are known by now; all of them if nothing is waited for any more.
    pub(super) fn ask_held(&mut self, all: bool, exchange: &mut Exchange) {
        let grants = &self.client_calls.grants;
        for (_, text) in self.held.extract_if(.., |(call, _)| all || !grants.lacks_arguments(call)) {
            tell(Dir::Agents, &text, exchange);
        }
    }

    /// The host answers a question. Returns whether it is one of the agent's, or one about what the agent wants done.
    pub(super) fn answered(&mut self, response: &Response<'_>, exchange: &mut Exchange) -> bool {
        let Some(id) = response.id.map(Str::as_escaped) else { return false };
        let word = response
            .body
            .filter(|_| response.ok)
            .and_then(|body| body.get("behavior"))
            .and_then(Raw::string);
        let allow = word.is_some_and(|word| word.is("allow") || word.is("approve"));
        let Some(at) = self.questions.iter().position(|question| question.name() == id) else {
            return self.client_calls.answered(id, allow, self.mode, &self.session, exchange);
        };
        let question = self.questions.remove(at);
        reply(&rpc::answer(&question.id, &question.result(allow)), exchange);
        if let Some(grant) = question.grant.filter(|_| allow) {
            self.client_calls.grants.give(grant);
        }
        if !allow {
            // The agent has a word of its own for it, or none; the host is to read what was said.
            let said = response.body.and_then(|body| body.get("message")).and_then(Raw::string);
            let said = said.map(Str::as_escaped).filter(|text| !text.is_empty());
            let said = said.unwrap_or("The call was not allowed.");
            tell(Dir::Agents, &messages::denied(&self.session, &question.call, said), exchange);
        }
        true
    }

    /// The agent takes a request back.
    pub(super) fn taken_back(&mut self, text: &str, id: &str, exchange: &mut Exchange) {
        if let Some(at) = self.questions.iter().position(|question| question.id == id) {
            let question = self.questions.remove(at);
            self.held.retain(|(call, _)| *call != question.call);
            say(&rpc::error(&question.id, -32800, "Request cancelled"), exchange);
            return tell(Dir::Agents, text, exchange);
        }
        if let Some(question) = self.client_calls.cancel(id, exchange) {
            let params = format!("{{\"requestId\":\"{question}\"}}");
            let message = format!("{{\"jsonrpc\":\"2.0\",\"method\":\"$/cancel_request\",\"params\":{params}}}");
            tell(Dir::Agents, &message, exchange);
        }
    }

    /// The host wants the turn to end: nobody is asked any more.
    pub(super) fn cancel_questions(&mut self, exchange: &mut Exchange) {
        self.held.clear();
        for question in std::mem::take(&mut self.questions) {
            reply(&rpc::answer(&question.id, CANCELLED), exchange);
        }
        self.client_calls.stop(exchange);
    }

    /// The turn is over: no answer of the host's counts any more.
    pub(super) fn forget_questions(&mut self, exchange: &mut Exchange) {
        self.held.clear();
        for question in std::mem::take(&mut self.questions) {
            say(&rpc::answer(&question.id, CANCELLED), exchange);
        }
        self.client_calls.stop(exchange);
    }
}
