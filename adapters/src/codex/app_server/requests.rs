//! Requests and their answers, in both directions.

use super::client::{FORM, approves};
use super::decode::Decoder;
use super::items;
use super::message::Message;
use crate::codex::failure::why;
use crate::codex::items::{MCP_TOOL_CALL, object};
use crate::event::{ControlKind, InputKind, Kind, Outcome, Permission, Prompt, PromptSource, Request, Response, Side, Sink};
use crate::ids;
use crate::json::{Raw, Shape, Str};

/// Requests that wait for their answer, as their ids are written: a number is another one than its digits as a text. With what each is about: the
/// call that is to be permitted, or the method, and the thread.
#[derive(Debug, Default)]
pub(super) struct Ids(Vec<(String, About)>);

/// What a request is about: the call or the method, and the thread; empty where it names none.
#[derive(Clone, Debug, Default)]
pub(super) struct About {
    pub(super) what: String,
    pub(super) thread: String,
}

impl Ids {
    /// More than anybody has open; the oldest are forgotten.
    const MOST: usize = 256;

    pub(super) fn add(&mut self, id: &str, about: About) {
        self.0.retain(|(known, _)| known != id);
        if self.0.len() == Self::MOST {
            self.0.remove(0);
        }
        self.0.push((id.to_owned(), about));
    }

    /// The thread that a request is about.
    pub(super) fn thread_of(&self, id: &str) -> Option<&str> {
        let about = &self.0.iter().find(|(known, _)| known == id)?.1;
        (!about.thread.is_empty()).then_some(&about.thread)
    }

    fn has(&self, id: Option<Raw<'_>>) -> bool {
        id.is_some_and(|id| self.0.iter().any(|(known, _)| known == id.as_str()))
    }

    /// What it was about, if it was there.
    pub(super) fn take(&mut self, id: Option<Raw<'_>>) -> Option<About> {
        let at = id.and_then(|id| self.0.iter().position(|(known, _)| known == id.as_str()))?;
        Some(self.0.remove(at).1)
    }
}

/// Whether the program asks this, not the host.
pub(super) fn by_agent(method: &str) -> bool {
    method.starts_with("item/")
        || method.ends_with("Approval")
        || matches!(
            method,
            "mcpServer/elicitation/request" | "account/chatgptAuthTokens/refresh" | "attestation/generate" | "currentTime/read"
        )
}

impl Decoder {
    pub(super) fn request<'a>(&mut self, message: &Message<'a>, method: Str<'a>, id: Raw<'a>, sink: &mut dyn Sink<'a>) {
        let agent = match message.side {
            Side::Agent => true,
            Side::Host => false,
            Side::Unknown => by_agent(&method.unescape()),
        };
        self.elsewhere.take(agent, id.as_str());
        let about = |what: Str<'_>| About {
            what: what.as_escaped().to_owned(),
            thread: message.text("threadId").unwrap_or_default().as_escaped().to_owned(),
        };
        if agent {
            let call = self.agent_request(message, method, sink);
            self.agent_asked.add(id.as_str(), about(call.unwrap_or_default()));
        } else {
            if method.is("initialize") {
                // Nothing else names the process.
                sink.program(None, None);
            }
            self.host_asked.add(id.as_str(), about(method));
            self.host_request(message, method, sink);
        }
    }

    /// Tells what the program asks, and returns the call that it is about.
    fn agent_request<'a>(&self, message: &Message<'a>, method: Str<'a>, sink: &mut dyn Sink<'a>) -> Option<Str<'a>> {
        let cx = &message.cx;
        let (kind, tool) = match &*method.unescape() {
            "item/commandExecution/requestApproval" => (ControlKind::CanUseTool, Some("command_execution")),
            "item/fileChange/requestApproval" => (ControlKind::CanUseTool, Some("file_change")),
            FORM if approves(message.params.get("_meta")) => (ControlKind::CanUseTool, Some(MCP_TOOL_CALL)),
            "item/permissions/requestApproval" | "item/tool/requestUserInput" | FORM => (ControlKind::Confirm, None),
            _ => (ControlKind::Other, None),
        };
        let of_server = tool.filter(|tool| *tool == MCP_TOOL_CALL).map(|_| self.of_server(message));
        let call = of_server.map_or_else(|| message.text("itemId"), |(call, _)| call);
        let permission = tool.map(|tool| {
            let started = call
                .and_then(|call| self.open.get(call))
                .map(|call| &call.input)
                .filter(|input| !input.is_empty());
            let input = match (message.params.get("command"), started) {
                _ if let Some((_, input)) = of_server => Some(input),
                (Some(command), _) if command.shape() == Some(Shape::String) => Some(object(&[("command", command)], cx)),
                (_, Some(input)) => {
                    // The request names the item, which has said it.
                    let input = cx.arena.alloc_str(input);
                    cx.stands_for(input, call.map_or("", Str::as_escaped));
                    Some(Raw::checked(input))
                }
                _ => None,
            };
            let permission: &Permission<'a> = cx.keep(Permission {
                name: Str::trusted(tool),
                call,
                input,
                suggestions: message.params.get("proposedExecpolicyAmendment").filter(|rule| !rule.is_null()),
            });
            permission
        });
        let request = cx.keep(Request {
            id: message.id_text(),
            subtype: method,
            kind,
            permission,
        });
        self.tell(message, Kind::Request(request), sink);
        call
    }

    /// The call of a server's tool that a form asks about, which names no item: the one that asks for the same.
    fn of_server<'a>(&self, message: &Message<'a>) -> (Option<Str<'a>>, Raw<'a>) {
        let cx = &message.cx;
        let of = |path: &[&str]| message.find(path);
        let asked = [
            ("server", of(&["serverName"])),
            ("tool", of(&["_meta", "tool_name"])),
            ("arguments", of(&["_meta", "tool_params"])),
        ];
        let asked: Vec<_> = asked.into_iter().filter_map(|(name, value)| Some((name, value?))).collect();
        let input = object(&asked, cx);
        let print = ids::fnv(input.as_str().as_bytes(), ids::FNV_SEED);
        let call = self.open.all().find(|call| call.print == print);
        (call.map(|call| Str::trusted(cx.arena.alloc_str(&call.id))), input)
    }

    /// What the host asks, or tells.
    pub(super) fn host_request<'a>(&mut self, message: &Message<'a>, method: Str<'a>, sink: &mut dyn Sink<'a>) {
        let cx = &message.cx;
        let kind = match &*method.unescape() {
            "turn/start" | "turn/steer" => {
                self.begin_turn(message);
                if let Some(content) = message.params.get("input").filter(|input| input.shape() == Some(Shape::Array)) {
                    let prompt = cx.keep(Prompt {
                        content: items::content(content, cx),
                        source: PromptSource::Host,
                    });
                    self.changed(message, sink);
                    self.input(message, InputKind::Prompt(prompt), sink);
                    return;
                }
                ControlKind::Other
            }
            "initialize" => ControlKind::Initialize,
            "turn/interrupt" => ControlKind::Interrupt,
            _ => ControlKind::Other,
        };
        let request = cx.keep(Request {
            id: message.id_text(),
            subtype: method,
            kind,
            permission: None,
        });
        self.input(message, InputKind::Request(request), sink);
    }

    /// An answer. Where the recording does not tell whose it is, the one who was asked has given it; an answer to nobody is the program's.
    pub(super) fn answer<'a>(&mut self, message: &Message<'a>, sink: &mut dyn Sink<'a>) {
        let answer = message.answer;
        let [decision, action, home, words, thread, model] =
            ["decision", "action", "codexHome", "message", "thread", "model"].map(|name| answer.get(name));
        let decides = decision.is_some();
        let by_host = match message.side {
            Side::Host => true,
            Side::Agent => false,
            Side::Unknown => self.agent_asked.has(message.id) && (decides || !self.host_asked.has(message.id)),
        };
        if !by_host && home.is_some() {
            sink.program(None, None);
        }
        let asked = if by_host { &mut self.agent_asked } else { &mut self.host_asked };
        let about = asked.take(message.id);
        if let (Some(id), Some(about)) = (message.id, &about) {
            self.last = Some((by_host, id.as_str().to_owned(), about.clone()));
        }
        let About { what: about, thread: of } = about.unwrap_or_default();
        let is_child = self.children.iter().any(|(child, _)| *child == of);
        if !of.is_empty() && !is_child {
            self.thread = of;
        }
        if let Some(words) = words.and_then(Raw::string).filter(|_| by_host) {
            // Who denied a call has said why; the program does not say it again.
            self.denied.insert(about.clone(), words.as_escaped().to_owned());
        }
        // A thread that was started or resumed says what its turns will be like; one that is only looked at does not.
        let thread = thread
            .filter(|_| !by_host && model.is_some())
            .and_then(|thread| answer.opened(thread, &message.cx));
        if let Some(thread) = thread.filter(|thread| thread.get("id").is_some()) {
            self.session(message, thread, answer, sink);
            return;
        }
        let response = message.cx.keep(Response {
            id: message.id_text(),
            ok: message.error.is_none(),
            body: if by_host {
                decision.or(action).and_then(decided)
            } else {
                message.result
            },
            error: message.error,
        });
        if by_host {
            self.input(message, InputKind::Response(response), sink);
        } else {
            self.tell(message, Kind::Response(response), sink);
        }
        if let Some(error) = message.error.filter(|_| !by_host && about == "turn/start") {
            // A turn that was refused says nothing more.
            self.in_turn = false;
            let words = error.get("message").and_then(Raw::string);
            let outcome = message.cx.keep(Outcome {
                error: words,
                ..Outcome::new(why(words.map_or("", Str::as_escaped)))
            });
            self.tell_with(message, Kind::Outcome(outcome), &[], sink);
        }
    }
}

/// What a host has decided, in canonical words. Some decisions are objects with rules in them (`acceptWithExecpolicyAmendment`), and permit.
fn decided(decision: Raw<'_>) -> Option<Raw<'static>> {
    let words = match decision.string() {
        Some(word) if word.is("accept") || word.is("acceptForSession") => r#"{"behavior":"allow"}"#,
        Some(word) if word.is("decline") => r#"{"behavior":"deny","message":""}"#,
        Some(word) if word.is("cancel") => r#"{"behavior":"deny","message":"","interrupt":true}"#,
        None if decision.members().next().is_some_and(|(key, _)| key.as_escaped().starts_with("accept")) => r#"{"behavior":"allow"}"#,
        _ => return None,
    };
    Some(Raw::trusted(words))
}
