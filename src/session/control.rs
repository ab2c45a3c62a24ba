//! Questions and requests in both directions: who answers, in whose words, and what of an answer is acted on.

use std::time::Instant;

use super::rules::Verdict;
use super::{OnAsk, Session, spelled_ids};
use crate::adapters::raw::codec::Dialect;
use crate::adapters::raw::conduct::Answer;
use crate::adapters::raw::event::{ControlKind, Event, Input, InputKind, Kind, Origin, Permission, Request, Response, ToolCall, ToolKind, Withdraw};
use crate::adapters::raw::json::{Raw, Shape, Str};
use crate::adapters::raw::launch::PermissionMode;
use crate::adapters::raw::tools::{Arena, Translate};
use crate::agent::control_requests::{NOBODY, UNSEEN};
use crate::backend::Backend;
use crate::backend::host_servers::OURS;

/// What the host was asked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Asked {
    /// The tool, in the host's words, and its arguments as the host saw them; empty if it was no tool.
    pub(super) tool: String,
    pub(super) input: String,
    pub(super) call: String,
    /// The line that asked, where a question may be asked once more.
    pub(super) line: String,
    /// What the agent is answered if nobody answers it, where an error would be taken for consent.
    pub(super) unheard: Option<&'static str>,
    /// The id under which it was asked for the first time, if this is the second.
    pub(super) first: Option<String>,
}

impl Asked {
    /// Tells the agent that its question, which has this id, has no answer.
    pub(super) fn unanswered(&self, id: &str, why: &str, backend: &mut dyn Backend) {
        match self.unheard.filter(|_| !backend.takes_denials()) {
            Some(answer) => respond(id, answer, backend),
            None => unanswered(id, !self.tool.is_empty(), why, backend),
        }
    }
}

impl Session {
    /// The host has answered a question. Changed arguments go over in the agent's words where it runs what it is told to run; where
    /// it would run the original ones, the call is denied.
    pub(super) fn answered(&mut self, id: &str, asked: &Asked, input: &Input<'_>, response: &Response<'_>, backend: &mut dyn Backend) {
        let body = response.body.filter(|_| response.ok);
        let word = body.and_then(|body| body.get("behavior")).and_then(Raw::string);
        let known = word.is_some_and(|word| ["allow", "approve", "deny", "reject"].iter().any(|known| word.is(known)));
        // Permission for other arguments that are none is no permission for those that were asked about; an agent that is spoken to in the host's
        // own words finds that itself.
        let changed = body.and_then(|body| body.get("updatedInput")).filter(|value| !value.is_null());
        let misshapen = changed.is_some_and(|value| value.shape() != Some(Shape::Object)) && !self.same;
        if response.ok && !asked.tool.is_empty() && (!known || misshapen) {
            self.oddities.bad_answers += 1;
            self.control_fault(id, "the host's answer to this could not be understood", false);
            return refuse(id, "the host's answer to this could not be understood", backend);
        }
        if self.same && backend.takes_changes() {
            backend.input(input);
            return;
        }
        let updated = body.and_then(|body| body.get("updatedInput")).filter(|value| !value.is_null());
        let allowed = word.is_some_and(|word| word.is("allow") || word.is("approve"));
        if asked.tool.is_empty() {
            backend.input(input);
            return;
        }
        if !allowed {
            self.note_denial(&asked.tool, &asked.call, &asked.input);
            backend.input(input);
            // Others than Claude Code go on in spite of it.
            if body.and_then(|body| body.get("interrupt")).and_then(Raw::bool) == Some(true) {
                self.interrupt(backend);
            }
            return;
        }
        self.learn_rules(body.and_then(|body| body.get("updatedPermissions")));
        let same = updated.is_none_or(|updated| Raw::trusted(&asked.input).same_value(updated));
        match updated {
            Some(_) if same => respond(id, ALLOW, backend),
            Some(updated) if backend.takes_changes() => {
                let arena = Arena::new();
                let native = Translate::new(self.host.format.dialect, backend.dialect());
                let call = ToolCall {
                    id: Str::EMPTY,
                    name: Str::trusted(&asked.tool),
                    kind: Default::default(),
                    input: updated,
                    fields: &[],
                };
                let input = native.call(&call, &arena).map_or(updated, |call| call.input);
                respond(id, &format!("{{\"behavior\":\"allow\",\"updatedInput\":{}}}", input.as_str()), backend);
            }
            Some(_) => refuse(
                id,
                "this agent runs a tool only with the arguments that it asked for; the host changed them",
                backend,
            ),
            None => {
                backend.input(input);
            }
        }
    }

    /// A control request of the host's: the back end answers what it can, and we the rest.
    pub(super) fn request(&mut self, input: &Input<'_>, request: &Request<'_>, now: Instant, backend: &mut dyn Backend) {
        self.host.facts.busy = self.turn.is_some();
        if let Some(spelled) = spelled_ids::of(input).filter(|_| request.id.is_none() && !self.conduct.tells_faults()) {
            let id = self.spelled_ids.ours(spelled);
            let named = Request {
                id: Some(Str::trusted(&id)),
                ..*request
            };
            let fields: Vec<_> = input.fields.iter().filter(|field| !spelled_ids::is_id(field)).copied().collect();
            let input = Input {
                kind: InputKind::Request(&named),
                fields: &fields,
                ..*input
            };
            return self.request(&input, &named, now, backend);
        }
        // The program itself says so, if it is the back end.
        let ill_typed = self.conduct.ill_typed(request, input.fields).filter(|_| !self.same || self.host.agent);
        if let Some(why) = ill_typed {
            return self.reply(request.id.map(|id| id.as_escaped()), &Answer::Refused(why.to_owned(), None));
        }
        // Without an id nobody could tell what an answer of the back end's belongs to.
        let Some(id) = request.id.map(|id| id.as_escaped().to_owned()) else {
            if self.conduct.answers_nameless() {
                let answer = self.conduct.answer(request, input.fields, &self.host.facts);
                if request.kind == ControlKind::Interrupt && self.turn.is_some() {
                    self.interrupt(backend);
                }
                self.reply(None, &answer);
            } else if self.conduct.tells_faults() {
                self.complain("QWEN_INVALID_REQUEST: a control_request has a request_id", Some(backend));
            }
            return;
        };
        self.hear_schema(request, input.fields);
        if let Some(agents) = self.conduct.declared_agents(request, input.fields) {
            self.host.facts.agents = agents;
        }
        let answer = self.conduct.answer(request, input.fields, &self.host.facts);
        let refused = matches!(answer, Answer::Refused(..));
        if !refused {
            self.take_over(request, input);
        }
        // What the dialect's own program would refuse does not reach the back end, unless that is the program itself.
        if refused && !self.same {
            return self.reply(Some(&id), &answer);
        }
        self.learn_hooks(request, input.fields, backend);
        if request.kind == ControlKind::Interrupt {
            self.hooks_stop(now);
        }
        let taken = backend.input(input);
        let answer = if request.kind == ControlKind::Initialize {
            backend.tell(&mut self.host.facts);
            self.conduct.answer(request, input.fields, &self.host.facts)
        } else {
            answer
        };
        if request.kind == ControlKind::SetMode && !refused {
            let mode = PermissionMode::from_name(self.host.format.dialect, &self.host.facts.permission_mode);
            self.freeing = Some((id.clone(), mode == Some(PermissionMode::Bypass)));
            if !taken && let Some((_, all)) = self.freeing.take() {
                self.host.allows_all = all;
            }
        }
        if request.kind == ControlKind::Interrupt && !(self.same && taken) {
            self.take_back();
        }
        if self.conduct.ends_session(request) {
            self.ends = true;
            if self.turn.is_some() && !(self.same && taken) {
                self.interrupt(backend);
            }
        }
        if taken && (self.same || request.kind != ControlKind::Initialize) {
            self.requested.add(id, answer, now, self.timers.control);
            return;
        }
        self.reply(Some(&id), &answer);
    }

    /// Stops the turn because of what the host has answered.
    pub(super) fn interrupt(&mut self, backend: &mut dyn Backend) {
        self.interrupts += 1;
        let id = format!("agentglot-interrupt-{}", self.interrupts);
        let request = Request {
            id: Some(Str::trusted(&id)),
            subtype: Str::trusted("interrupt"),
            kind: ControlKind::Interrupt,
            permission: None,
        };
        backend.input(&Input {
            origin: Origin::default(),
            kind: InputKind::Request(&request),
            fields: &[],
        });
    }

    /// Keeps the rules that the host gives together with its permission, where a whole tool is allowed: the agent does not know them.
    pub(super) fn learn_rules(&mut self, updates: Option<Raw<'_>>) {
        let is = |value: Raw<'_>, name: &str, word: &str| value.get(name).and_then(Raw::string).is_some_and(|text| text.is(word));
        let adds = |update: &Raw<'_>| is(*update, "type", "addRules") && is(*update, "behavior", "allow");
        for update in updates.into_iter().flat_map(Raw::elements).filter(adds) {
            for rule in update
                .get("rules")
                .into_iter()
                .flat_map(Raw::elements)
                .filter(|rule| rule.get("ruleContent").is_none())
            {
                self.allowed
                    .extend(rule.get("toolName").and_then(Raw::string).map(|name| name.as_escaped().to_owned()));
            }
        }
    }

    /// Takes all open questions back: the host need not answer any more. What it has not allowed is denied.
    pub(super) fn take_back(&mut self) {
        // What a server inside the host is asked belongs to no turn.
        for asked in self.asked.drain_if(|asked| !asked.id.starts_with(OURS)) {
            let Asked { tool, call, input, .. } = &asked.note;
            if !tool.is_empty() {
                self.note_denial(tool, call, input);
            }
            if self.withdraws() {
                let id = Str::trusted(&asked.id);
                self.say(&Event::new(Origin::default(), Kind::Withdraw(Withdraw { id: Some(id) })));
            }
        }
    }

    /// What the host calls a mode of a program that says it in the words of a protocol. One that it wanted, and for want of which the program asks,
    /// is the mode.
    pub(super) fn mode_of(&self, mode: Str<'_>, backend: &dyn Backend) -> Option<&'static str> {
        use PermissionMode::{AcceptEdits, Ask, Bypass, DontAsk};
        let (host, protocol) = (self.host.format.dialect, backend.format().dialect);
        let meant = PermissionMode::from_name(protocol, &mode.unescape()).filter(|_| protocol != backend.dialect())?;
        let wanted = PermissionMode::from_name(host, &self.host.facts.permission_mode);
        let is_so = wanted.filter(|wanted| meant == Ask && matches!(wanted, AcceptEdits | Bypass | DontAsk));
        is_so.unwrap_or(meant).name(host)
    }

    /// What the host calls a model: most know no names of who serves it.
    pub(super) fn model_of<'m>(&self, model: Str<'m>, backend: &dyn Backend) -> Str<'m> {
        let names = self.host.format.dialect.program().is_some_and(|host| host.traits.names_providers);
        match backend.dialect().program().filter(|_| !names) {
            Some(program) => Str::trusted(program.bare_model(model.as_escaped())),
            None => model,
        }
    }

    /// Facts that the host changes.
    pub(super) fn take_over(&mut self, request: &Request<'_>, input: &Input<'_>) {
        let text = |name: &str| {
            let field = input.fields.iter().find(|field| field.key.is(name));
            field.and_then(|field| field.value.string()).map(|text| text.unescape().into_owned())
        };
        match request.kind {
            ControlKind::SetModel => self.host.facts.model = text("model").unwrap_or_else(|| self.host.facts.first_model.clone()),
            ControlKind::SetMode => self.host.facts.permission_mode = text("mode").unwrap_or_default(),
            _ => {}
        }
    }

    /// Whether a call that asks for permission has it already: the host lets everything run. Questions to the user are no such calls.
    pub(super) fn is_free(&self, permission: Option<&Permission<'_>>, agent: Dialect) -> bool {
        let asks_user = permission.is_some_and(|permission| {
            let kind = crate::adapters::raw::tools::kind_of(agent, permission.name);
            self.host.answers_permissions && matches!(kind, ToolKind::Ask | ToolKind::ExitPlan)
        });
        !self.same && self.host.allows_all && !asks_user
    }

    /// Keeps what was denied for the outcome of the turn; each is the body of a JSON string, but for the arguments, which are JSON.
    fn note_denial(&mut self, tool: &str, call: &str, input: &str) {
        self.hooks.denied(call);
        let comma = if self.denials.is_empty() { "" } else { "," };
        let input = if input.is_empty() { "{}" } else { input };
        self.denials.push_str(&format!(
            "{comma}{{\"tool_name\":\"{tool}\",\"tool_use_id\":\"{call}\",\"tool_input\":{input}}}"
        ));
    }

    /// Answers a question for permission by what the host has said before: on its command line, or of a tool for the rest of the session. Returns
    /// whether it has said anything.
    pub(super) fn ruled(&mut self, id: &str, request: &Request<'_>, backend: &mut dyn Backend) -> bool {
        let (true, Some(permission)) = (!self.same, request.permission) else {
            return false;
        };
        let (tool, input) = self.in_hosts_words(permission, backend.dialect());
        let mode = PermissionMode::from_name(self.host.format.dialect, &self.host.facts.permission_mode);
        match self.host.rules.judge(&Str::trusted(&tool).unescape(), Some(Raw::trusted(&input)), mode) {
            None if self.allowed.contains(&tool) => allow_unseen(id, backend),
            None => return false,
            Some(Verdict::Allow) => allow_unseen(id, backend),
            Some(Verdict::Deny(why)) => {
                let by_id = permission.call.map_or("", |id| id.as_escaped());
                self.note_denial(&tool, by_id, &input);
                refuse(id, why, backend);
            }
        }
        true
    }

    /// The tool that is asked about, as the body of a JSON string, and its arguments, as the host knows them.
    pub(super) fn in_hosts_words(&self, permission: &Permission<'_>, agent: Dialect) -> (String, String) {
        let call = ToolCall {
            id: Str::EMPTY,
            name: permission.name,
            kind: crate::adapters::raw::tools::kind_of(agent, permission.name),
            input: permission.input.unwrap_or(Raw::trusted("{}")),
            fields: &[],
        };
        let arena = Arena::new();
        let call = Translate::new(agent, self.host.format.dialect)
            .call(&call, &arena)
            .filter(|_| !self.same)
            .unwrap_or(call);
        (call.name.as_escaped().to_owned(), call.input.as_str().to_owned())
    }

    /// Answers a question of the agent's by policy: the host cannot be asked.
    pub(super) fn decide(&mut self, id: &str, request: &Request<'_>, backend: &mut dyn Backend) {
        let name = request
            .permission
            .map(|permission| permission.name.unescape().into_owned())
            .unwrap_or_default();
        match &self.on_ask {
            // Who plays the host's own program has been told its mode, and asks in spite of it.
            _ if self.host.allows_all && !self.same && request.kind == ControlKind::CanUseTool => allow_unseen(id, backend),
            OnAsk::Allow(names) if request.kind == ControlKind::CanUseTool && names.contains(&name) => {
                allow_unseen(id, backend);
            }
            OnAsk::Command(command) if request.kind == ControlKind::CanUseTool => {
                let command = command.clone();
                self.put_to_command(id, request, &command);
            }
            _ => {
                if let Some(plain) = self.plain.as_mut().filter(|_| request.kind == ControlKind::CanUseTool) {
                    plain.denied();
                }
                unanswered(id, request.kind == ControlKind::CanUseTool, NOBODY, backend);
            }
        }
    }

    /// Answers a request of the host's.
    pub(super) fn reply(&mut self, id: Option<&str>, answer: &Answer) {
        let mut error = String::new();
        let (ok, body) = match answer {
            Answer::Done(body) => (true, body.as_deref()),
            Answer::Refused(why, code) => {
                error.push_str(if code.is_some() { "{\"message\":\"" } else { "\"" });
                Str::escape(why, &mut error);
                error.push('"');
                if let Some(code) = code {
                    error.push_str(&format!(",\"code\":\"{code}\"}}"));
                }
                (false, None)
            }
        };
        let response = Response {
            id: id.map(Str::trusted),
            ok,
            body: body.map(Raw::trusted),
            error: (!ok).then_some(Raw::trusted(&error)),
        };
        let from = self.out.len();
        self.say(&Event::new(Origin::default(), Kind::Response(&response)));
        self.spelled_ids.restore(id.unwrap_or_default(), &mut self.out, from);
    }
}

/// What a question that was just written says of the tool and its arguments.
pub(super) fn seen_by_host(line: &[u8]) -> Asked {
    let line = String::from_utf8_lossy(line);
    let Some(last) = line.trim_end().lines().last() else {
        return Asked::default();
    };
    let raw = Raw::trusted(last);
    let Some(request) = raw.get("request") else { return Asked::default() };
    // The RFC has the two one level deeper.
    let tool = request.get("tool");
    let name = request.get("tool_name").or_else(|| tool?.get("name")).and_then(Raw::string);
    let input = request.get("input").or_else(|| tool?.get("arguments"));
    Asked {
        tool: name.map(|name| name.as_escaped().to_owned()).unwrap_or_default(),
        input: input.map(|input| input.as_str().to_owned()).unwrap_or_default(),
        call: request
            .get("tool_use_id")
            .and_then(Raw::string)
            .map(|id| id.as_escaped().to_owned())
            .unwrap_or_default(),
        ..Asked::default()
    }
}

/// Denies what the agent asks.
pub(super) fn refuse(id: &str, why: &str, backend: &mut dyn Backend) {
    let mut message = String::new();
    Str::escape(why, &mut message);
    respond(id, &format!("{{\"behavior\":\"deny\",\"message\":\"{message}\"}}"), backend);
}

/// Permission that the host gives.
pub(super) const ALLOW: &str = "{\"behavior\":\"allow\"}";

/// Permission by a rule, a mode or a command: the host has not seen this call. Our own agent is told so, for it trusts the host with more.
pub(super) fn allow_unseen(id: &str, backend: &mut dyn Backend) {
    respond(id, if backend.dialect() == Dialect::CANONICAL { UNSEEN } else { ALLOW }, backend);
}

pub(super) fn respond(id: &str, body: &str, backend: &mut dyn Backend) {
    let response = Response {
        id: Some(Str::trusted(id)),
        ok: true,
        body: Some(Raw::trusted(body)),
        error: None,
    };
    put(&response, backend);
}

/// Denies a call, or says that another question has no answer: as a rule who has asked something else reads no denial in it.
pub(super) fn unanswered(id: &str, asks_permission: bool, why: &str, backend: &mut dyn Backend) {
    match asks_permission || backend.takes_denials() {
        true => refuse(id, why, backend),
        false => fail(id, why, backend),
    }
}

/// Says that what the agent asks has no answer.
pub(super) fn fail(id: &str, why: &str, backend: &mut dyn Backend) {
    let mut error = String::from("\"");
    Str::escape(why, &mut error);
    error.push('"');
    let response = Response {
        id: Some(Str::trusted(id)),
        ok: false,
        body: None,
        error: Some(Raw::trusted(&error)),
    };
    put(&response, backend);
}

fn put(response: &Response<'_>, backend: &mut dyn Backend) {
    backend.input(&Input {
        origin: Origin::default(),
        kind: InputKind::Response(response),
        fields: &[],
    });
}
