//! Tool calls: which of them run, in which order, and what comes of each.

use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;

use futures_util::stream::{FuturesUnordered, StreamExt};
use serde_json::Value;

use crate::conversation::Conversation;
use crate::host::event_writer::{Done, line_id};
use crate::model::message::{Call, CallResult, Part};
use crate::permissions::Decision;
use crate::persona::host::SubagentAtWork;
use crate::telemetry::{self, Span};
use crate::tools::text::beginning;
use crate::tools::{Access, Cx, Given, Progress, Tool, World};
use crate::turn::End;
use crate::turn::context::Context;
use crate::turn::hooks;
use crate::turn::permission::{self, Permission};
use crate::turn::structured;
use agentglot_adapters::raw::event::{DetailShape, ResultStatus, ToolKind};

/// So many bytes of text the model reads of one result; when all of a reply's have so many together, its other calls don't run.
const MOST_OF_RESULT: usize = 4 << 20;
const MOST_OF_ALL: usize = 64 << 20;

/// What came of the calls of a round.
#[derive(Debug, Default)]
pub(crate) struct AllDone {
    /// A result for each call that was not put off, in the order of the calls.
    pub results: Vec<Part>,
    /// The turn ends here.
    pub end: Option<End>,
}

/// Runs the calls of a round. Those that only read run side by side, others one after the other. `cut`: the reply was cut or refused;
/// then nothing runs.
pub(crate) async fn run(context: &Rc<Context>, conversation: &Conversation, calls: Vec<Call>, cut: bool) -> AllDone {
    let mut all = AllDone::default();
    let behind = context.persona.hooks.stops_behind_calls;
    let mut contexts = Vec::new();
    let (mut at, mut size) = (0, 0);
    while at < calls.len() {
        let many = calls[at..]
            .iter()
            .take(context.persona_session.side_by_side())
            .take_while(|call| !cut && !all.stops(behind) && only_reads(conversation, call))
            .count();
        let batch = &calls[at..at + many.max(1)];
        at += batch.len();
        let mut running: FuturesUnordered<_> = batch
            .iter()
            .enumerate()
            .map(|(number, call)| {
                if all.end.is_none() && !cut {
                    all.end = over_limit(context, conversation, call);
                }
                let (stopped, full) = (all.stops(behind), size > MOST_OF_ALL);
                let place = Place { cut, stopped, full };
                async move { (number, one(context, conversation, call, place).await) }
            })
            .collect();
        let mut results: Vec<Option<CallResult>> = vec![None; batch.len()];
        while let Some((number, one)) = running.next().await {
            size += one.result.iter().flat_map(|result| &result.content).map(Part::size).sum::<usize>();
            results[number] = one.result;
            contexts.extend(one.context);
            // Of several calls that are put off the last one is told; what ends the turn in another way goes before all of them.
            if one.end.is_some() && !all.stops(behind) {
                all.end = one.end;
            }
        }
        all.results.extend(results.into_iter().flatten().map(Part::Result));
    }
    all.results.extend(contexts.into_iter().map(Part::Text));
    let deferred = matches!(all.end, Some(End::Deferred(..)));
    if context.turns.cancel_of(conversation).is_cancelled() && !(deferred && calls.len() == 1) {
        all.end = Some(End::Interrupted(true));
    }
    all
}

/// How the turn ends if this call is one more than the main conversation may make. The answer in a form that was asked for is no such call.
fn over_limit(context: &Context, conversation: &Conversation, call: &Call) -> Option<End> {
    let most = context
        .restrictions
        .calls
        .filter(|_| conversation.subagent.is_none() && call.name != structured::NAME)?;
    let made = context.turns.calls.get() + 1;
    context.turns.calls.set(made);
    (made > most).then_some(End::Calls(most, made))
}

impl AllDone {
    /// Whether the turn ends before the calls that are left. A call that is put off keeps no other one from running, nor does a hook that
    /// ends the turn `behind` them.
    const fn stops(&self, behind: bool) -> bool {
        match self.end {
            None | Some(End::Deferred(..)) => false,
            Some(End::Held(_)) => !behind,
            Some(_) => true,
        }
    }
}

/// Where a call stands.
#[derive(Clone, Copy, Debug)]
struct Place {
    /// Its reply was cut or refused.
    cut: bool,
    /// The turn has ended before it.
    stopped: bool,
    /// The results before it are too large already.
    full: bool,
}

/// What came of one call.
struct One {
    /// None if it was put off.
    result: Option<CallResult>,
    /// What the model is told besides.
    context: Option<String>,
    end: Option<End>,
}

fn only_reads(conversation: &Conversation, call: &Call) -> bool {
    let input = serde_json::from_str(&call.input).unwrap_or(Value::Null);
    conversation.tool(&call.name).is_some_and(|tool| tool.reads_only(&input))
}

async fn one(context: &Rc<Context>, conversation: &Conversation, call: &Call, place: Place) -> One {
    conversation.calls.set(conversation.calls.get() + 1);
    context.model.usage.borrow_mut().calls += 1;
    progressed(context, conversation, call);
    let span = Span::begin("tool", false);
    span.set("gen_ai.operation.name", "execute_tool");
    span.set("gen_ai.tool.name", call.name.as_str());
    span.set("gen_ai.tool.call.id", call.id.as_str());
    let mut ran = Ran::default();
    let given = if place.stopped {
        context
            .persona_session
            .behind_denial()
            .unwrap_or_else(|| canceled("The turn was stopped before this call could run."))
    } else if context.turns.cancel_of(conversation).is_cancelled() {
        canceled(context.host.persona.facts().call_stopped)
    } else if place.cut {
        Given::error(CUT)
    } else if place.full {
        Given::error("This call did not run: the results of the calls before it are too large already. Make it again by itself.")
    } else {
        span.within(judged(context, conversation, call, &mut ran)).await
    };
    if let Some(End::Deferred(call, input)) = &ran.end {
        span.set("agentglot.tool.status", "deferred");
        crate::conversation::transcript::deferred(conversation, context.policy.borrow().mode_name(), call, input);
        return One {
            result: None,
            context: ran.context,
            end: ran.end,
        };
    }
    span.set("agentglot.tool.status", telemetry::word(&given.status));
    match given.status {
        ResultStatus::Success => {}
        status => span.fail(telemetry::word(&status)),
    }
    span.end();
    let refused = matches!(ran.decision, Some(decision) if decision.refused_by_host);
    if given.status == ResultStatus::Denied && (!refused || context.policy.borrow().form().counts_refusals) {
        let input = serde_json::from_str(&call.input).unwrap_or(Value::Null);
        context.model.usage.borrow_mut().denials.push(serde_json::json!({
            "tool_name": call.name, "tool_use_id": call.id, "tool_input": input,
        }));
    }
    crate::host::display::gave(&context.host, conversation.subagent.as_ref(), call, &given);
    let id = line_id();
    let done = Done {
        call,
        status: given.status,
        content: &given.content,
        detail: given.detail.as_ref(),
        id: &id,
        decision: ran.decision,
    };
    let shown = context.host.persona.result_shown(&given).map(|text| [Part::Text(text)]);
    let told = Done {
        content: shown.as_ref().map_or(&given.content, |shown| shown.as_slice()),
        ..done
    };
    context.host.events.result(&told, conversation.subagent.as_ref());
    crate::turn::background::announce(context);
    crate::conversation::transcript::result(conversation, &done);
    One {
        result: Some(CallResult {
            call: call.id.clone(),
            content: given.content,
            is_error: given.status != ResultStatus::Success,
        }),
        context: ran.context,
        end: ran.end,
    }
}

/// Tells the host of a subagent's call.
fn progressed(context: &Context, conversation: &Conversation, call: &Call) {
    let (Some(subagent), Some(tasks)) = (&conversation.subagent, context.host.persona.facts().tasks) else {
        return;
    };
    let took = subagent.begun.map_or(0, |begun| begun.elapsed().as_millis());
    let told = tasks.progressed(&SubagentAtWork {
        id: &subagent.id,
        call: &subagent.call,
        kind: &subagent.kind,
        tool: &call.name,
        input: &serde_json::from_str(&call.input).unwrap_or(Value::Null),
        tokens: conversation.context_tokens,
        calls: conversation.calls.get(),
        took: u64::try_from(took).unwrap_or(u64::MAX),
    });
    context.host.events.told(&told);
}

/// What running a call means for the turn.
#[derive(Debug, Default)]
struct Ran {
    context: Option<String>,
    end: Option<End>,
    decision: Option<Decision>,
}

/// What it reads of a call whose reply is none.
const CUT: &str = "This call did not run: the reply that it stands in was cut off or refused.";

/// Tells the host of calls of a reply that broke off, or was `stopped`, that they have not run: it was told of them. The conversation keeps none of
/// them.
pub(crate) fn not_run(context: &Context, conversation: &Conversation, calls: &[Call], stopped: bool) {
    for call in calls {
        let given = if stopped {
            canceled(context.host.persona.facts().call_stopped)
        } else {
            Given::error(CUT)
        };
        crate::host::display::gave(&context.host, conversation.subagent.as_ref(), call, &given);
        let done = Done {
            call,
            status: given.status,
            content: &given.content,
            detail: None,
            id: &line_id(),
            decision: None,
        };
        context.host.events.result(&done, conversation.subagent.as_ref());
    }
}

/// Cuts texts that nobody could read.
fn cut(content: &mut [Part]) {
    let mut left = MOST_OF_RESULT;
    for part in content {
        if let Part::Text(text) = part {
            if text.len() > left {
                let (shown, all) = (beginning(text, left).len(), text.len());
                text.truncate(shown);
                text.push_str(&format!("\n[cut here: {shown} of {all} bytes are shown]"));
            }
            left = left.saturating_sub(text.len());
        }
    }
}

/// Looks at a call from all sides, and runs it if nothing speaks against it.
async fn judged(context: &Rc<Context>, conversation: &Conversation, call: &Call, ran: &mut Ran) -> Given {
    let tool = conversation.tool(&call.name);
    let input = match super::arguments::read(&call.input) {
        Ok(input) => input,
        Err(why) => return Given::error(format!("InputValidationError: the arguments of {} {why}", call.name)),
    };
    if let Some(refused) = context
        .persona_session
        .gate(&call.name, &input)
        .filter(|_| conversation.subagent.is_none())
    {
        return refused;
    }
    let Some(tool) = tool.filter(|tool| permission::offers(context, tool.as_ref())) else {
        let Some((message, reason)) = permission::withheld(context, conversation, &call.name) else {
            return context.persona_session.unknown(&call.name);
        };
        ran.decision = Some(Decision::of(&reason, false));
        return Given::denied(message);
    };
    crate::host::display::pending(&context.host, conversation.subagent.as_ref(), call);
    let cancel = context.turns.cancel_of(conversation);
    let (permission, stop) = tokio::select! {
        biased;
        () = cancel.cancelled() => return canceled(context.host.persona.facts().call_stopped),
        permission = permission::ask(context, conversation, tool.as_ref(), call, &input) => permission,
    };
    let (input, granted) = match permission {
        Permission::Given(input, decision, granted) => {
            ran.decision = Some(decision);
            (input, granted)
        }
        Permission::Held(why) => {
            ran.end = Some(End::Held(why.clone()));
            return Given::denied(why);
        }
        Permission::Deferred(input) => {
            ran.end = Some(End::Deferred(call.clone(), input));
            return canceled("The call was put off.");
        }
        Permission::Denied { given, end, decision } => {
            ran.decision = Some(decision);
            ran.end = stop.map(End::Held);
            let why = given.content.iter().find_map(text);
            if end && let Some(why) = why {
                ran.end = Some(End::Stopped(why.to_owned()));
                context.turns.cancel_of(conversation).cancel();
            } else if let Some(why) = why.filter(|_| context.persona_session.behind_denial().is_some()) {
                ran.end = Some(End::Denied(why.to_owned()));
            }
            return given;
        }
    };
    let begun = std::time::Instant::now();
    let mut given = running(context, conversation, tool.as_ref(), call, &input, &granted).await;
    cut(&mut given.content);
    if tool.spec().kind == ToolKind::ExitPlan && given.status == ResultStatus::Success {
        let set = context.policy.borrow_mut().set_mode("default");
        if set.is_ok() {
            let mode = context.policy.borrow().mode_name();
            context.host.events.told(&context.host.persona.mode_changed(mode));
        }
    }
    let after = hooks::after(context, conversation, call, &input, &given, begun.elapsed()).await;
    ran.context = after.context;
    ran.end = stop.or(after.stop).map(End::Held);
    if let Some(instead) = after.instead {
        given.content = vec![Part::Text(hooks::text_of_output(&instead))];
        if instead.is_object() {
            given.detail = Some((DetailShape::Claude, instead));
        }
    }
    given
}

async fn running(context: &Rc<Context>, conversation: &Conversation, tool: &dyn Tool, call: &Call, input: &Value, granted: &[PathBuf]) -> Given {
    let opened = (!granted.is_empty()).then(|| World {
        wall: Arc::new(context.world.wall.with_granted(granted)),
        ..World::clone(&context.world)
    });
    let cancel = context.turns.cancel_of(conversation);
    let tell = |progress: Progress<'_>| crate::host::display::printed(&context.host, conversation.subagent.as_ref(), call, progress);
    let cx = Cx {
        call: &call.id,
        cancel: cancel.clone(),
        world: opened.as_ref().unwrap_or(&context.world),
        tell: &tell,
    };
    if let (Some(checkpoints), Access::Write(paths)) = (&context.store.checkpoints, tool.access(input)) {
        for path in paths {
            checkpoints.borrow_mut().before_change(&context.world.wall.absolute(path.as_ref()));
        }
    }
    crate::host::display::begins(&context.host, conversation.subagent.as_ref(), call);
    let late = async {
        cancel.cancelled().await;
        // A tool comes back soon once it is stopped; one that does not is left.
        tokio::time::sleep(crate::turn::STOPPING).await;
    };
    let given = tokio::select! {
        given = run_tool(context, conversation, tool, call, input, &cx) => given,
        () = late => canceled(context.host.persona.facts().call_stopped),
    };
    crate::host::display::ends(&context.host, conversation.subagent.as_ref(), call);
    if cancel.is_cancelled() && given.status == ResultStatus::Error {
        return Given {
            status: ResultStatus::Canceled,
            ..given
        };
    }
    given
}

/// Subagents are conversations of their own, and run in the loop itself.
async fn run_tool(context: &Rc<Context>, conversation: &Conversation, tool: &dyn Tool, call: &Call, input: &Value, cx: &Cx<'_>) -> Given {
    match crate::turn::subagent::wanted(context.persona.subagents, tool, input) {
        Some(wanted) => Box::pin(crate::turn::subagent::run(context, conversation, call, wanted)).await,
        None => tool.run(input, cx).await,
    }
}

fn canceled(text: &str) -> Given {
    Given {
        status: ResultStatus::Canceled,
        ..Given::text(text)
    }
}

fn text(part: &Part) -> Option<&str> {
    match part {
        Part::Text(text) => Some(text),
        _ => None,
    }
}
