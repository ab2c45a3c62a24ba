//! Where hooks are asked.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::oneshot;
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::conversation::Conversation;
use crate::hooks::{Facts, HookEvent, HookOutcome, Hooks, MOST_HELD_UP, Permission, Told, stop_feedback};
use crate::host::Host;
use crate::host::event_writer::{EventWriter, RunningSubagent};
use crate::model::message::{Call, Part};
use crate::persona::HostPersona;
use crate::tools::Given;
use crate::turn::context::Context;
use agentglot_adapters::raw::event::ResultStatus;

/// The hooks of a session, and what is kept of them from one question to the next.
#[derive(Debug)]
pub(crate) struct HookState {
    /// Whom hooks belong to.
    pub runner: Hooks,
    /// What hooks want the model to read behind a call, by its id.
    pub context: RefCell<BTreeMap<String, String>>,
    /// How often in a row hooks have not let a conversation stop; the main one has no id.
    held_up: RefCell<BTreeMap<String, u64>>,
}

impl HookState {
    /// Nobody has been asked yet.
    pub(crate) const fn new(runner: Hooks) -> Self {
        Self {
            runner,
            context: RefCell::new(BTreeMap::new()),
            held_up: RefCell::new(BTreeMap::new()),
        }
    }
}

/// What hooks say before a call.
#[derive(Debug)]
pub(crate) enum Before {
    /// Nothing.
    Nothing,
    /// It runs, without any further question; with these arguments, if they were changed.
    Allow(Option<Value>),
    /// The host is to be asked, for this reason; with these arguments, if they were changed.
    Ask(Option<Value>, String),
    /// It is judged with these arguments.
    Changed(Value),
    /// It does not run, for this reason.
    Deny(String),
    /// The turn ends before it, so that a later run can come back to it.
    Defer,
}

/// Why a call does not run whose hook cannot be asked any more.
const GUARD_GONE: &str =
    "The user doesn't want to take this action right now. STOP what you are doing and wait for the user to tell you how to proceed.";

/// Before a call. Besides gives why the turn is to end, if a hook wants that.
pub(crate) async fn before(context: &Rc<Context>, conversation: &Conversation, call: &Call, input: &Value) -> (Before, Option<String>) {
    let fields = about(call, input);
    let mut outcome = run(context, conversation.subagent.as_ref(), HookEvent::PreToolUse, fields, Some(&call.id)).await;
    if let Some(added) = outcome.context() {
        context.hooks.context.borrow_mut().insert(call.id.clone(), added);
    }
    let stop = outcome.stop.take();
    (said_before(context, conversation, call, outcome), stop)
}

fn said_before(context: &Context, conversation: &Conversation, call: &Call, outcome: HookOutcome) -> Before {
    // Whoever put a call off wants to have a say before it runs.
    let again = context.turns.deferred.borrow().as_ref().is_some_and(|deferred| deferred.id == call.id);
    if again && outcome.unheard {
        return Before::Defer;
    }
    // Nobody is left whose say it was.
    if outcome.unheard {
        return Before::Deny(GUARD_GONE.to_owned());
    }
    let deferrable = conversation.subagent.is_none() && context.persona.hooks.defers;
    let permission = outcome.permission.filter(|(permission, _)| {
        let ignored = *permission == Permission::Defer && !deferrable;
        if ignored {
            tracing::warn!(tool = call.name, "a hook wants to put a call off that is a subagent's");
        }
        !ignored
    });
    match (permission, outcome.updated_input) {
        (Some((Permission::Deny, why)), _) => Before::Deny(why),
        (Some((Permission::Defer, _)), _) => Before::Defer,
        (Some((Permission::Ask, why)), updated) => Before::Ask(updated, why),
        (Some((Permission::Allow, _)), updated) => Before::Allow(updated),
        (None, Some(updated)) => Before::Changed(updated),
        (None, None) => Before::Nothing,
    }
}

/// The host is about to be asked for permission, or is being asked. Returns an answer in its place, in the shape of its own.
pub(crate) async fn at_question(
    context: &Rc<Context>,
    subagent: Option<&RunningSubagent>,
    call: &Call,
    input: &Value,
    suggestions: Option<&Value>,
) -> Option<Value> {
    let mut fields = vec![("tool_name", json!(call.name)), ("tool_input", input.clone())];
    fields.extend(suggestions.map(|suggestions| ("permission_suggestions", suggestions.clone())));
    run(context, subagent, HookEvent::PermissionRequest, fields, Some(&call.id))
        .await
        .decision
}

/// The same beside the host: hooks are heard to their end, though the host may have decided by then. `None` if they have nothing to decide.
pub(crate) fn beside_question(
    context: &Rc<Context>,
    subagent: Option<&RunningSubagent>,
    call: &Call,
    input: &Value,
    suggestions: Option<&Value>,
) -> Option<oneshot::Receiver<Value>> {
    if !context.hooks.runner.any(HookEvent::PermissionRequest) {
        return None;
    }
    let (decides, decided) = oneshot::channel();
    let (asked, subagent, call) = (Rc::clone(context), subagent.cloned(), call.clone());
    let (input, suggestions) = (input.clone(), suggestions.cloned());
    context.host.jobs.spawn(async move {
        if let Some(decision) = at_question(&asked, subagent.as_ref(), &call, &input, suggestions.as_ref()).await {
            let _ = decides.send(decision);
        }
    });
    Some(decided)
}

/// What hooks want behind a call.
#[derive(Debug, Default)]
pub(crate) struct After {
    /// What the model is told besides.
    pub context: Option<String>,
    /// The turn ends here, for this reason.
    pub stop: Option<String>,
    /// What stands in place of the result.
    pub instead: Option<Value>,
}

/// Behind a call, which took so long.
pub(crate) async fn after(context: &Rc<Context>, conversation: &Conversation, call: &Call, input: &Value, given: &Given, took: Duration) -> After {
    let earlier = context.hooks.context.borrow_mut().remove(&call.id);
    let mut fields = about(call, input);
    let text = || -> String {
        let texts = given.content.iter().filter_map(|part| match part {
            Part::Text(text) => Some(text.as_str()),
            _ => None,
        });
        texts.collect::<Vec<_>>().join("\n")
    };
    let millis = json!(u64::try_from(took.as_millis()).unwrap_or(u64::MAX));
    let event = if given.status == ResultStatus::Success {
        let response = given.detail.as_ref().map_or_else(|| json!(text()), |(_, detail)| detail.clone());
        fields.insert(2, ("tool_response", response));
        fields.push(("duration_ms", millis));
        HookEvent::PostToolUse
    } else {
        fields.push(("error", json!(text())));
        fields.push(("is_interrupt", json!(given.status == ResultStatus::Canceled)));
        fields.push(("duration_ms", millis));
        HookEvent::PostToolUseFailure
    };
    let outcome = run(context, conversation.subagent.as_ref(), event, fields, Some(&call.id)).await;
    let blocked = outcome
        .block
        .as_ref()
        .map(|why| format!("{}:{} hook blocking error: {why}", context.persona.hooks.name(event), call.name));
    let added: Vec<String> = earlier.into_iter().chain(blocked).chain(outcome.context()).collect();
    After {
        context: (!added.is_empty()).then(|| added.join("\n")),
        stop: outcome.stop,
        instead: outcome.updated_output,
    }
}

/// What the model reads of a result that a hook gives instead: in the shape of a command's own result what the command is said to have printed.
pub(crate) fn text_of_output(output: &Value) -> String {
    let printed = |name: &str| output.get(name).and_then(Value::as_str);
    match (output, printed("stdout")) {
        (Value::String(text), _) => text.clone(),
        (_, Some(stdout)) => {
            let streams = [Some(stdout), printed("stderr")].into_iter().flatten().filter(|text| !text.is_empty());
            streams.collect::<Vec<_>>().join("\n")
        }
        _ => output.to_string(),
    }
}

/// Behind all calls of a reply, with what each of them gave. Returns what the model is told besides, and why the turn ends if it does.
pub(crate) async fn after_batch(
    context: &Rc<Context>,
    conversation: &Conversation,
    calls: &[Call],
    results: &[Part],
) -> (Option<String>, Option<String>) {
    if !context.hooks.runner.any(HookEvent::PostToolBatch) {
        return (None, None);
    }
    let response = |call: &Call| {
        results.iter().find_map(|part| match part {
            Part::Result(result) if result.call == call.id => Some(result.content.iter().filter_map(text).collect::<Vec<_>>().join("\n")),
            _ => None,
        })
    };
    let told = |call: &Call| {
        let input: Value = serde_json::from_str(&call.input).unwrap_or_default();
        json!({"tool_name": call.name, "tool_input": input, "tool_use_id": call.id, "tool_response": response(call)})
    };
    let fields = vec![("tool_calls", calls.iter().map(told).collect())];
    let outcome = run(context, conversation.subagent.as_ref(), HookEvent::PostToolBatch, fields, None).await;
    let added: Vec<String> = outcome.block.clone().into_iter().chain(outcome.context()).collect();
    ((!added.is_empty()).then(|| added.join("\n")), outcome.stop)
}

fn text(part: &Part) -> Option<&str> {
    match part {
        Part::Text(text) => Some(text),
        _ => None,
    }
}

/// What hooks say of a prompt.
#[derive(Debug, Default)]
pub(crate) struct Heard {
    /// It is not answered and forgotten, for this reason.
    pub blocked: Option<String>,
    /// It is not answered, for this reason, but stays in the conversation.
    pub stopped: Option<String>,
    /// What the model is told besides.
    pub context: Option<String>,
}

/// Before the first turn the session begins. Returns what the model is told of that.
pub(crate) async fn session_begins(context: &Rc<Context>) -> Option<String> {
    if context.turns.begun.get() > 1 {
        return None;
    }
    let source = if context.store.resumed { "resume" } else { "startup" };
    let fields = vec![("source", json!(source))];
    run(context, None, HookEvent::SessionStart, fields, None).await.context()
}

/// The user has said something.
pub(crate) async fn before_prompt(context: &Rc<Context>, prompt: &str) -> Heard {
    let mut added: Vec<String> = session_begins(context).await.into_iter().collect();
    let heard = before_prompt_in_turn(context, prompt).await;
    added.extend(heard.context);
    Heard {
        context: (!added.is_empty()).then(|| added.join("\n")),
        ..heard
    }
}

/// The user has said something while a turn runs.
pub(crate) async fn before_prompt_in_turn(context: &Rc<Context>, prompt: &str) -> Heard {
    let outcome = run(context, None, HookEvent::UserPromptSubmit, vec![("prompt", json!(prompt))], None).await;
    let context = outcome.context();
    Heard {
        blocked: outcome.block,
        stopped: outcome.stop,
        context,
    }
}

/// Tells the host that hooks keep a prompt from its answer, and what became of it.
pub(crate) fn kept_from_answer(host: &Host, text: &str, became: &Value) {
    inform(
        host,
        "warning",
        text,
        json!({"prevent_continuation": true, "prompt_submit_outcome": became}),
    );
}

/// Somebody waits for the user. Hooks hear of it if he has not answered by then.
const PATIENCE: Duration = Duration::from_secs(6);

/// Somebody waits for the user, until what this gives is dropped: hooks hear of it after [`PATIENCE`].
pub(crate) fn notice_later(context: &Rc<Context>, message: String, kind: &'static str) -> Option<DropGuard> {
    context.hooks.runner.any(HookEvent::Notification).then(|| {
        let answered = CancellationToken::new();
        let (context, token) = (Rc::clone(context), answered.clone());
        Rc::clone(&context).host.jobs.spawn(async move {
            if tokio::time::timeout(PATIENCE, token.cancelled()).await.is_err() {
                let fields = vec![("message", json!(message)), ("notification_type", json!(kind))];
                run(&context, None, HookEvent::Notification, fields, None).await;
            }
        });
        answered.drop_guard()
    })
}

/// The session ends.
pub(crate) async fn session_ends(context: &Rc<Context>) {
    run(context, None, HookEvent::SessionEnd, vec![("reason", json!("other"))], None).await;
}

/// How often in a row hooks may keep a conversation from its end: 8 times, or as often as the variable says (0 is without end).
fn most_held_up(variable: Option<&str>) -> u64 {
    let said = variable.and_then(|name| std::env::var(name).ok()?.trim().parse().ok());
    said.map_or(MOST_HELD_UP, |most| if most == 0 { u64::MAX } else { most })
}

/// A turn begins: no hook has held up its end.
pub(crate) fn turn_begins(context: &Context) {
    context.hooks.held_up.borrow_mut().remove("");
}

/// What becomes of a turn that is about to end.
pub(crate) enum AtStop {
    /// It ends.
    Ends,
    /// It ends because a hook wants that.
    Held,
    /// The model reads this, and goes on.
    GoesOn(String),
}

/// The model wants to stop. Returns why it may not.
pub(crate) async fn before_stop(context: &Rc<Context>, conversation: &Conversation, text: &str) -> AtStop {
    let who = conversation.subagent.as_ref().map(|subagent| subagent.id.clone()).unwrap_or_default();
    let before = context.hooks.held_up.borrow().get(&who).copied().unwrap_or_default();
    let active = before > 0;
    let mut fields = vec![("stop_hook_active", json!(active))];
    let event = match &conversation.subagent {
        None => HookEvent::Stop,
        Some(_) => {
            fields.push(("agent_transcript_path", json!(transcript(conversation))));
            HookEvent::SubagentStop
        }
    };
    fields.extend([
        ("last_assistant_message", json!(text)),
        ("background_tasks", context.tasks.for_hooks().into()),
        ("session_crons", json!([])),
    ]);
    let outcome = run(context, conversation.subagent.as_ref(), event, fields, None).await;
    if outcome.stop.is_some() {
        context.hooks.held_up.borrow_mut().remove(&who);
        return AtStop::Held;
    }
    let added = outcome.context();
    let why = outcome.block.as_deref().map(stop_feedback).or(added);
    let mut held_up = context.hooks.held_up.borrow_mut();
    match why {
        Some(_) if before >= most_held_up(context.persona.hooks.stop_cap_variable) => {
            held_up.remove(&who);
            drop(held_up);
            let mut text = format!(
                "Hooks kept the turn from its end {} times in a row; it ends now. A hook that reads `stop_hook_active` as true should let it end.",
                before + 1
            );
            if let Some(variable) = context.persona.hooks.stop_cap_variable {
                text.push_str(&format!(" {variable} says how often they may (0: without limit)."));
            }
            inform(&context.host, "warning", &text, json!({}));
            AtStop::Ends
        }
        Some(why) => {
            held_up.insert(who, before + 1);
            AtStop::GoesOn(why)
        }
        None => {
            held_up.remove(&who);
            AtStop::Ends
        }
    }
}

/// The model cannot be had, for this reason, and the turn ends. What hooks answer changes nothing.
pub(crate) async fn model_failed(context: &Rc<Context>, error: &str, said: &str) {
    let fields = vec![("error", json!(error)), ("last_assistant_message", json!(said))];
    run(context, None, HookEvent::StopFailure, fields, None).await;
}

/// The conversation is about to be made shorter.
pub(crate) async fn before_compaction(context: &Rc<Context>, trigger: &str, wish: Option<&str>) {
    let fields = vec![
        ("trigger", json!(trigger)),
        ("custom_instructions", json!(wish.filter(|wish| !wish.is_empty()))),
    ];
    run(context, None, HookEvent::PreCompact, fields, None).await;
}

/// A subagent begins.
pub(crate) async fn subagent_begins(context: &Rc<Context>, subagent: &RunningSubagent) {
    run(context, Some(subagent), HookEvent::SubagentStart, Vec::new(), None).await;
}

/// A subagent ended. Its hooks have been asked when it wanted to, as [`before_stop`] does for it too.
pub(crate) fn subagent_ends(context: &Context, subagent: &RunningSubagent) {
    context.hooks.held_up.borrow_mut().remove(&subagent.id);
}

/// Shows what a command hook does.
pub(crate) fn show(persona: &dyn HostPersona, events: &EventWriter, told: &Told) {
    events.told(&persona.hook(told.name, told.output.as_deref(), &told.data));
}

/// A word of the agent's to whoever looks on.
pub(crate) fn inform(host: &Host, level: &str, text: &str, more: Value) {
    let mut data = json!({"level": level});
    if let (Value::Object(data), Value::Object(more)) = (&mut data, more) {
        data.extend(more);
    }
    host.events.told(&host.persona.inform(text, data));
}

fn about(call: &Call, input: &Value) -> Vec<(&'static str, Value)> {
    vec![
        ("tool_name", json!(call.name)),
        ("tool_input", input.clone()),
        ("tool_use_id", json!(call.id)),
    ]
}

fn transcript(conversation: &Conversation) -> String {
    let kept = conversation.transcript.as_ref().map(|kept| kept.borrow());
    kept.and_then(|kept| kept.path().map(|path| path.display().to_string()))
        .unwrap_or_default()
}

async fn run(
    context: &Rc<Context>,
    subagent: Option<&RunningSubagent>,
    event: HookEvent,
    fields: Vec<(&str, Value)>,
    call: Option<&str>,
) -> HookOutcome {
    if !context.hooks.runner.any(event) {
        return HookOutcome::default();
    }
    let facts = Facts {
        session: context.host.session.borrow().clone(),
        transcript: context
            .store
            .transcript
            .as_ref()
            .and_then(|kept| kept.borrow().path().map(|path| path.display().to_string()))
            .unwrap_or_default(),
        cwd: context.world.wall.root().display().to_string(),
        prompt: Some(context.host.events.turn()).filter(|turn| !turn.is_empty()),
        mode: context.policy.borrow().mode_name().to_owned(),
        agent: subagent.map(|subagent| (subagent.id.clone(), subagent.kind.clone())),
        effort: Some(context.model.options.borrow().effort.clone().unwrap_or_else(|| "medium".to_owned())),
    };
    let form = &context.persona.hooks;
    let tool = fields.iter().find(|(name, _)| *name == "tool_name").and_then(|(_, tool)| tool.as_str());
    let speaker = tool.map_or_else(|| form.name(event).to_owned(), |tool| format!("{}:{tool}", form.name(event)));
    let outcome = context.hooks.runner.run(event, &facts, fields, call).await;
    for failure in &outcome.failures {
        inform(&context.host, "warning", failure, json!({"tag": "hook_callback_failed"}));
    }
    for message in &outcome.messages {
        inform(&context.host, "notice", message, json!({}));
    }
    for said in &outcome.said {
        let named = form.names_speakers.then(|| format!("{speaker} says: {said}"));
        inform(&context.host, "notice", named.as_ref().unwrap_or(said), json!({}));
    }
    outcome
}
