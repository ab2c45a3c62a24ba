//! Runs: how they begin and end, and what they wait for.

use super::decode::Decoder;
use super::line::Line;
use super::{INTERRUPT, usage};
use crate::codec::Cx;
use crate::event::{ControlKind, Count, Event, Kind, Origin, Outcome, OutcomeKind, Permission, Place, Request, Scope, Session, Sink, Stop};
use crate::json::{Error, Raw, Shape, Str};

/// What is asked where a call waits for permission.
pub(super) const CAN_USE_TOOL: &str = "can_use_tool";

impl Decoder {
    pub(super) fn run_started<'a>(&mut self, line: &mut Line<'a>, sink: &mut dyn Sink<'a>) -> Result<(), Error> {
        let (session, run) = (line.need("threadId")?, line.need("runId")?);
        self.over(line, sink);
        self.forget_run();
        session.as_escaped().clone_into(&mut self.session);
        line.text("threadId");
        line.text("runId");
        line.origin.session = Some(session);
        line.origin.turn = Some(run);
        let cx = line.cx;
        let said = line.ours().map(facts).unwrap_or_default();
        let facts = Session { opens_turn: true, ..said };
        let input = line.members.get("input");
        let origin = line.origin;
        line.bare = false;
        line.tell(Kind::Session(cx.keep(facts)), sink);
        self.asked(input, Origin { time: None, ..origin }, &cx, sink);
        Ok(())
    }

    pub(super) fn run_finished<'a>(&mut self, line: &mut Line<'a>, sink: &mut dyn Sink<'a>) -> Result<(), Error> {
        line.need("threadId")?;
        line.need("runId")?;
        let session = line.find("threadId").filter(|id| id.as_escaped() == self.session);
        // A thread that the run was not started in begins no session here.
        line.origin.session = session;
        if session.is_some() {
            line.text("threadId");
        }
        line.origin.turn = line.text("runId");
        let cx = line.cx;
        let outcome = line.members.get("outcome").filter(|outcome| outcome.shape() == Some(Shape::Object));
        let word = outcome.and_then(|outcome| outcome.get("type")?.string());
        let kind = match word.map(Str::as_escaped) {
            Some("cancelled") => OutcomeKind::Cancelled,
            _ => OutcomeKind::Success,
        };
        self.over(line, sink);
        if let Some(word) = word.filter(|word| ["success", "cancelled", INTERRUPT].contains(&word.as_escaped())) {
            cx.took(word.as_escaped());
        }
        let waits = outcome.filter(|_| word.is_some_and(|word| word.is(INTERRUPT)));
        for interrupt in waits.and_then(|outcome| outcome.get("interrupts")).into_iter().flat_map(Raw::elements) {
            self.interrupt(interrupt, line.origin, &cx, sink);
        }
        let result = line.members.get("result").filter(|result| !result.is_null());
        let made = Outcome {
            text: result.and_then(Raw::string),
            structured: result.filter(|result| result.string().is_none()),
            word,
            ..Outcome::new(kind)
        };
        self.end_run(made, line, sink);
        Ok(())
    }

    pub(super) fn run_error<'a>(&mut self, line: &mut Line<'a>, sink: &mut dyn Sink<'a>) -> Result<(), Error> {
        let message = line.need("message")?;
        line.text("message");
        let code = line.find("code");
        let kind = code.and_then(|code| OutcomeKind::read(code.as_escaped()));
        if kind.is_some() {
            line.cx.took(code.unwrap_or_default().as_escaped());
        }
        self.over(line, sink);
        let made = Outcome {
            error: Some(message),
            word: code,
            ..Outcome::new(kind.unwrap_or(OutcomeKind::Failed(Place::Model)))
        };
        self.end_run(made, line, sink);
        Ok(())
    }

    /// Nothing more is said in the run.
    fn over<'a>(&mut self, line: &Line<'a>, sink: &mut dyn Sink<'a>) {
        self.break_off(line, sink);
        self.end_prompts(&line.cx, sink);
        self.end_rounds(Origin::default(), &line.cx, sink);
    }

    fn end_run<'a>(&mut self, made: Outcome<'a>, line: &mut Line<'a>, sink: &mut dyn Sink<'a>) {
        self.finished = true;
        let cx = line.cx;
        let ours = line.ours();
        let value = |name: &str, shape: Shape| ours?.get(name).filter(|value| value.shape() == Some(shape));
        let text = |name: &str| ours?.get(name)?.string();
        let usage = line.members.get("usage").and_then(|usage| usage::of_run(usage, &cx));
        let outcome = Outcome {
            usage,
            error: made.error.or_else(|| text("error")),
            word: text("word").or(made.word),
            synthetic: ours.and_then(|ours| ours.get("synthetic")?.bool()).unwrap_or(false),
            duration_ms: value("durationMs", Shape::Number),
            duration_api_ms: value("durationApiMs", Shape::Number),
            num_turns: value("numTurns", Shape::Number).and_then(Count::read),
            cost_usd: value("costUsd", Shape::Number),
            cost_scope: if text("costOf").is_some() { Scope::Session } else { Scope::Turn },
            stop: text("stopReason").map(Stop::read),
            denials: value("denials", Shape::Array),
            request_id: text("requestId"),
            ..made
        };
        line.bare = false;
        line.tell_of_type(Kind::Outcome(cx.keep(outcome)), sink);
        self.forget_run();
    }

    /// What the run waits for, unless it was asked while it went on.
    fn interrupt<'a>(&mut self, interrupt: Raw<'a>, origin: Origin<'a>, cx: &Cx<'a>, sink: &mut dyn Sink<'a>) {
        let text = |name: &str| interrupt.get(name).and_then(Raw::string);
        let id = text("id");
        if id.is_some_and(|id| self.asked.contains(id.as_escaped())) {
            return;
        }
        let reason = text("reason").unwrap_or(Str::trusted("confirmation"));
        let call = text("toolCallId");
        let name = call.and_then(|call| self.calls.get(call.as_escaped()));
        let request = match name {
            Some(name) => {
                if reason.is("tool_call") {
                    cx.took(reason.as_escaped());
                }
                Request {
                    id,
                    subtype: Str::trusted(CAN_USE_TOOL),
                    kind: ControlKind::CanUseTool,
                    permission: Some(cx.keep(Permission {
                        name: Str::trusted(cx.arena.alloc_str(name)),
                        call,
                        ..Permission::default()
                    })),
                }
            }
            None => Request {
                id,
                subtype: reason,
                kind: ControlKind::Confirm,
                permission: None,
            },
        };
        sink.event(&Event::new(Origin { time: None, ..origin }, Kind::Request(cx.keep(request))));
    }
}

/// The facts of a session, as we write them.
pub(super) fn facts(value: Raw<'_>) -> Session<'_> {
    let text = |name: &str| value.get(name).and_then(Raw::string);
    let list = |name: &str| value.get(name).filter(|value| value.shape() == Some(Shape::Array));
    Session {
        cwd: text("cwd"),
        model: text("model"),
        tools: list("tools"),
        permission_mode: text("permissionMode"),
        version: text("version"),
        api_key_source: text("apiKeySource"),
        mcp_servers: list("mcpServers"),
        slash_commands: list("slashCommands"),
        agents: list("agents"),
        resumed: value.get("resumed").and_then(Raw::bool).unwrap_or(false),
        ..Session::default()
    }
}

/// What the agent asks, as we write it.
pub(super) fn request<'a>(value: Raw<'a>, cx: &Cx<'a>) -> &'a Request<'a> {
    let text = |name: &str| value.get(name).and_then(Raw::string);
    let subtype = text("subtype").unwrap_or(Str::trusted("confirm"));
    let kind = ControlKind::read(subtype);
    let permission = text("toolName").map(|name| {
        cx.keep(Permission {
            name,
            call: text("toolCallId"),
            input: value.get("input"),
            suggestions: value.get("suggestions"),
        })
    });
    cx.keep(Request {
        id: text("id"),
        subtype,
        kind,
        permission,
    })
}
