//! Whether a call may run: hooks, rules, and in the end the host.

use std::path::PathBuf;
use std::rc::Rc;

use serde_json::{Value, json};
use tokio::sync::oneshot;

use crate::control_requests::{self, NOBODY, Question};
use crate::conversation::Conversation;
use crate::model::message::{Call, Part};
use crate::permissions::{Decision, Reason, Unheard, Verdict};
use crate::persona::host::Refused;
use crate::tools::{Access, Cx, Given, Progress, Tool};
use crate::turn::context::Context;
use crate::turn::hooks::{self, Before};
use crate::workspace::Target;
use agentglot_adapters::raw::event::{ControlKind, DetailShape};
use agentglot_adapters::raw::launch::{Answerer, PermissionMode};

/// What became of the question.
#[derive(Debug)]
pub(crate) enum Permission {
    /// It runs, with these arguments, by this decision. These paths outside of the workspace are open to it, for the host has granted them.
    Given(Value, Decision, Vec<PathBuf>),
    /// It does not run, and the turn ends behind the results of its round, for this reason.
    Held(String),
    /// The turn ends before it. With its arguments.
    Deferred(Value),
    /// It does not run.
    Denied {
        /// What the model reads.
        given: Given,
        /// The turn ends here.
        end: bool,
        /// Whose decision it was.
        decision: Decision,
    },
}

/// Whether a tool is there for this session.
pub(crate) fn offers(context: &Context, tool: &dyn Tool) -> bool {
    tool.spec().name == crate::turn::structured::NAME || context.policy.borrow().offered(tool.spec())
}

/// What is said of a call of one of our tools that a rule or the list of tools keeps from the model, and why that is.
pub(crate) fn withheld(context: &Context, conversation: &Conversation, name: &str) -> Option<(String, Reason)> {
    let own = context.tools.own.iter().chain(context.tools.asking.iter());
    let tool = conversation
        .tool(name)
        .or_else(|| own.clone().find(|tool| tool.is_called(name)).cloned())?;
    context.policy.borrow().withheld(tool.spec())
}

/// Asks for permission: hooks first, then the rules, then the host. Besides gives why a hook wants the turn to end behind the calls of the reply.
pub(crate) async fn ask(
    context: &Rc<Context>,
    conversation: &Conversation,
    tool: &dyn Tool,
    call: &Call,
    input: &Value,
) -> (Permission, Option<String>) {
    let (before, stop) = hooks::before(context, conversation, call, input).await;
    let behind = context.persona.hooks.stops_behind_calls;
    if let Some(why) = stop.as_ref().filter(|_| !behind) {
        return (Permission::Held(why.clone()), None);
    }
    let is_final = matches!(before, Before::Deny(_));
    let permission = judged(context, conversation, tool, call, input, before).await;
    // A call that others have not allowed ends nothing: the model goes on with that.
    let stop = stop.filter(|_| is_final || matches!(permission, Permission::Given(..)));
    (permission, stop)
}

/// Judges a call about which hooks have said this.
async fn judged(context: &Rc<Context>, conversation: &Conversation, tool: &dyn Tool, call: &Call, input: &Value, before: Before) -> Permission {
    let (spec, access) = (tool.spec(), tool.access(input));
    let mut input = input.clone();
    let (mut asked_by_hook, mut allowed_by_hook) = (None, false);
    match before {
        Before::Nothing => {}
        Before::Allow(updated) => {
            input = updated.unwrap_or(input);
            allowed_by_hook = true;
        }
        Before::Ask(updated, why) => {
            input = updated.unwrap_or(input);
            asked_by_hook = Some(why);
        }
        Before::Changed(updated) => input = updated,
        Before::Defer => return Permission::Deferred(input),
        Before::Deny(why) => return unheard(context, tool, &access, &Unheard::Hook(why), false),
    }
    // What hooks have changed is judged as it is now.
    let access = tool.access(&input);
    let judged = context.policy.borrow().judge(spec, &input, &access);
    let bypass = context.policy.borrow().mode() == PermissionMode::Bypass;
    let needs = context.persona_session.needs_permission(&call.name).map(|needs| needs && !bypass);
    let verdict = match judged {
        denied @ Verdict::Deny { .. } => denied,
        _ if let Some(why) = &asked_by_hook => context.policy.borrow().ask(spec, &input, &access, Reason::Hook(why.clone())),
        _ if needs == Some(true) && !allowed_by_hook => Verdict::Ask {
            reason: Reason::Nothing,
            suggestions: None,
            fields: Vec::new(),
        },
        asked @ Verdict::Ask {
            reason: Reason::Rule { .. } | Reason::Hidden(_) | Reason::Mode(_),
            ..
        } => asked,
        // A hook's permission makes other questions needless. What a rule or the mode forbids, or wants a person to say, it does not allow.
        _ if allowed_by_hook => return given(input, Decision::accepts("hook", Some("hook"))),
        asked @ Verdict::Ask {
            reason: Reason::Unclear(_), ..
        } => asked,
        _ if needs == Some(false) => return given(input, Decision::accepts("config", None)),
        judged => judged,
    };
    match verdict {
        Verdict::Allow { reason } => given(input, Decision::of(&reason, true)),
        Verdict::Deny { message, reason } => {
            let permission = denied(&message, false, Decision::of(&reason, false));
            let by_mode = context.policy.borrow().mode() == PermissionMode::DontAsk && reason.kind() == Some("mode");
            // What files may not be read or written is no question at all.
            let by_rule = matches!(reason, Reason::Rule { .. }) && !matches!(access, Access::Read(_) | Access::Write(_));
            if by_mode || by_rule {
                tell_refused(context, conversation, call, &permission, reason.kind(), None);
            }
            permission
        }
        Verdict::Ask {
            reason,
            suggestions,
            mut fields,
        } => {
            if let Some(subagent) = &conversation.subagent {
                fields.push(("agent_id".to_owned(), json!(subagent.id)));
            }
            if let Some(whose) = context
                .mcp
                .get()
                .provenance(&call.name)
                .filter(|_| context.host.persona.facts().names_servers)
            {
                fields.push(("mcp_server".to_owned(), json!({"name": whose.server, "source": whose.source})));
            }
            if context.host.persona.facts().previews_changes {
                fields.extend(
                    preview(context, tool, call, &input)
                        .await
                        .map(|diff| ("preview".to_owned(), Value::String(diff))),
                );
            }
            let by = match (&asked_by_hook, &reason) {
                (Some(why), _) => Some(("hook", Some(why.as_str()).filter(|why| !why.is_empty()))),
                (None, Reason::Mode(_)) => Some(("mode", None)),
                (None, _) => None,
            };
            host(context, conversation, tool, &access, call, &input, suggestions, fields, by).await
        }
    }
}

/// What a call would change, for a person who is asked about it.
async fn preview(context: &Context, tool: &dyn Tool, call: &Call, input: &Value) -> Option<String> {
    let tell = |_: Progress<'_>| {};
    let cx = Cx {
        call: &call.id,
        cancel: context.turns.cancel(),
        world: &context.world,
        tell: &tell,
    };
    tool.preview(input, &cx).await
}

/// Asks the host. `by`: who wants that, and for which reason.
#[allow(clippy::too_many_arguments)]
async fn host(
    context: &Rc<Context>,
    conversation: &Conversation,
    tool: &dyn Tool,
    access: &Access,
    call: &Call,
    input: &Value,
    suggestions: Option<Value>,
    mut fields: Vec<(String, Value)>,
    by: Option<(&'static str, Option<&str>)>,
) -> Permission {
    let why = by.filter(|(whose, _)| *whose == "hook").and_then(|(_, why)| why);
    let subagent = conversation.subagent.as_ref();
    let beside = context.persona.hooks.beside_host && context.host.launch.answerer == Answerer::Host;
    if !beside && let Some(decision) = hooks::at_question(context, subagent, call, input, suggestions.as_ref()).await {
        return read_hook(context, tool, access, &decision, input);
    }
    let shown = show_targets(context, access, &mut fields);
    let diff = if crate::host::display::shows_changes(&context.host, access) {
        preview(context, tool, call, input).await
    } else {
        None
    };
    crate::host::display::confirms(&context.host, conversation.subagent.as_ref(), tool, call, input, diff.as_deref());
    let hooks = beside
        .then(|| hooks::beside_question(context, subagent, call, input, suggestions.as_ref()))
        .flatten();
    let question = Question {
        kind: ControlKind::CanUseTool,
        subtype: "can_use_tool".to_owned(),
        permission: Some(control_requests::PermissionRequest {
            name: call.name.clone(),
            call: call.id.clone(),
            input: input.clone(),
            suggestions,
        }),
        fields,
    };
    let notice = hooks::notice_later(
        context,
        format!("{} needs your permission to use {}", context.persona.hooks.agent, call.name),
        "permission_prompt",
    );
    let asked = async {
        let asked = context.host.requests.ask(question);
        match context.host.launch.answerer {
            // Nobody is waited for.
            Answerer::Nobody => asked.await,
            _ => crate::host::state::waiting(&context.host, asked).await,
        }
    };
    let answer = tokio::select! {
        biased;
        answer = asked => answer,
        decision = decided(hooks) => return read_hook(context, tool, access, &decision, input),
    };
    drop(notice);
    match answer {
        Ok(answer) => {
            let shown = shown.filter(|_| !control_requests::is_unseen(&answer));
            let permission = match (read(context, tool, access, &answer, input, shown.as_deref()), why) {
                (Permission::Denied { decision, end, .. }, Some(why)) if is_of_nobody(&answer) => denied(why, end, decision),
                (permission, _) => permission,
            };
            if is_of_nobody(&answer) {
                tell_refused(context, conversation, call, &permission, by.map(|(whose, _)| whose), why);
            }
            permission
        }
        Err(control_requests::Unanswered::Failed(why)) => unheard(context, tool, access, &Unheard::Failed(why), false),
        Err(control_requests::Unanswered::Gone) => unheard(context, tool, access, &Unheard::Gone, false),
    }
}

/// What hooks decide beside the host, once they do.
async fn decided(hooks: Option<oneshot::Receiver<Value>>) -> Value {
    match hooks {
        Some(hooks) => match hooks.await {
            Ok(decision) => decision,
            Err(_) => std::future::pending().await,
        },
        None => std::future::pending().await,
    }
}

/// Reads what a hook has decided in the host's place.
fn read_hook(context: &Context, tool: &dyn Tool, access: &Access, decision: &Value, input: &Value) -> Permission {
    match read(context, tool, access, decision, input, None) {
        Permission::Given(input, decision, open) if decision.source == Some("user_temporary") => {
            Permission::Given(input, Decision::accepts("hook", Some("hook")), open)
        }
        Permission::Denied { given, end: false, decision } if decision.source == Some("user_reject") => Permission::Denied {
            given,
            end: false,
            decision: Decision {
                refused_by_host: decision.refused_by_host,
                ..Decision::rejects("hook", Some("hook"))
            },
        },
        permission => permission,
    }
}

/// Whether an answer says that there is nobody who could answer.
fn is_of_nobody(answer: &Value) -> bool {
    answer.get("message").and_then(Value::as_str) == Some(NOBODY)
}

/// Tells the host that a call was refused about which nobody was asked.
fn tell_refused(context: &Context, conversation: &Conversation, call: &Call, permission: &Permission, kind: Option<&str>, why: Option<&str>) {
    let Permission::Denied { given, .. } = permission else { return };
    let text = given.content.iter().find_map(|part| match part {
        Part::Text(text) => Some(text.as_str()),
        _ => None,
    });
    let refused = Refused {
        call,
        agent: conversation.subagent.as_ref().map(|subagent| subagent.id.as_str()),
        text: text.unwrap_or_default(),
        kind,
        why,
    };
    if let Some(told) = context.host.persona.refused(&refused) {
        context.host.events.told(&told);
    }
}

fn given(input: Value, decision: Decision) -> Permission {
    Permission::Given(input, decision, Vec::new())
}

/// Says in a question where a path leads outside that goes through a link, if questions can say that. Gives the paths outside whose end the
/// host then knows; `None` where it sees no paths.
fn show_targets(context: &Context, access: &Access, fields: &mut Vec<(String, Value)>) -> Option<Vec<Target>> {
    let tells_targets = context.policy.borrow().shows_paths()?;
    let mut shown = targets(context, access);
    let linked = shown.iter().position(|target| tells_targets && target.is_linked());
    if let Some(at) = linked {
        fields.retain(|(name, _)| name != "blocked_path");
        fields.push(("blocked_path".to_owned(), json!(shown[at].real)));
    }
    // A question has room for one.
    let mut number = 0..;
    shown.retain(|target| number.next() == linked || !target.is_linked());
    Some(shown)
}

/// Where the paths of a call lead that lead outside.
fn targets(context: &Context, access: &Access) -> Vec<Target> {
    let (Access::Read(paths) | Access::Write(paths)) = access else {
        return Vec::new();
    };
    paths.iter().filter_map(|path| context.world.wall.target_outside(path)).collect()
}

/// Reads an answer. `shown`: where the host saw that the call leads, if it was the host that answered: what it allows of that is open to the
/// call, and so is a path without links that it gives instead.
fn read(context: &Context, tool: &dyn Tool, access: &Access, answer: &Value, input: &Value, shown: Option<&[Target]>) -> Permission {
    let text = |names: &[&str]| names.iter().find_map(|name| answer.get(name)?.as_str());
    let word = text(&["behavior", "decision", "outcome"]).unwrap_or_default();
    let why = text(&["message", "reason"]).filter(|why| !why.is_empty()).map(str::to_owned);
    let interrupt = answer.get("interrupt").and_then(Value::as_bool).unwrap_or(false);
    match word {
        "allow" | "approve" => {
            let updates = ["updatedPermissions", "updated_permissions"].iter().find_map(|name| answer.get(name));
            if let Some(updates) = updates
                && let Err(why) = permission_updates(context, updates)
            {
                tracing::warn!("{why}");
                return unheard(context, tool, access, &Unheard::Invalid, false);
            }
            let updated = ["updatedInput", "updated_input"]
                .iter()
                .find_map(|name| answer.get(name))
                .filter(|value| !value.is_null())
                .filter(|value| !(context.policy.borrow().form().empty_is_unchanged && value.as_object().is_some_and(serde_json::Map::is_empty)));
            // Permission for other arguments that are none is no permission for those that were asked about.
            if updated.is_some_and(|updated| !updated.is_object()) {
                return unheard(context, tool, access, &Unheard::Invalid, false);
            }
            let input = updated.unwrap_or(input);
            let now = tool.access(input);
            if updated.is_some()
                && let Verdict::Deny {
                    message,
                    reason: reason @ Reason::Rule { .. },
                } = context.policy.borrow().judge(tool.spec(), input, &now)
            {
                return denied(&message, false, Decision::of(&reason, false));
            }
            let open = |shown: &[Target]| {
                let targets = targets(context, &now).into_iter();
                let granted = targets.filter(|target| !target.is_linked() || shown.contains(target));
                granted.map(|target| target.real).collect()
            };
            let decision = Decision::accepts(
                if text(&["decisionClassification"]) == Some("user_permanent") {
                    "user_permanent"
                } else {
                    "user_temporary"
                },
                None,
            );
            Permission::Given(input.clone(), decision, shown.map(open).unwrap_or_default())
        }
        "deny" | "reject" if why.as_deref() == Some(NOBODY) => unheard(context, tool, access, &Unheard::Nobody, false),
        "deny" | "reject" if interrupt => unheard(context, tool, access, &Unheard::Stopped(why), true),
        "deny" | "reject" => unheard(context, tool, access, &Unheard::Denied(why), false),
        _ => unheard(context, tool, access, &Unheard::Invalid, false),
    }
}

fn unheard(context: &Context, tool: &dyn Tool, access: &Access, why: &Unheard, end: bool) -> Permission {
    denied(&context.policy.borrow().unheard(tool.spec(), access, why), end, Decision::unheard(why))
}

/// A call that was not allowed.
fn denied(why: &str, end: bool, decision: Decision) -> Permission {
    Permission::Denied {
        given: Given::denied(why).with(DetailShape::Claude, json!(format!("Error: {why}"))),
        end,
        decision,
    }
}

/// Rules that the host gives together with its permission.
///
/// # Errors
/// When they cannot be understood: then the answer that they stand in is none.
fn permission_updates(context: &Context, updates: &Value) -> Result<(), String> {
    let updated = context.policy.borrow_mut().update(updates);
    match updated {
        Ok(updated) => {
            for (source, update) in &updated.keep {
                if let Err(problem) = context.settings.get().places().write(*source, update) {
                    tracing::warn!("{problem}");
                }
            }
            for problem in &updated.problems {
                tracing::warn!("{problem}");
            }
            if updated.mode.is_some() {
                let mode = context.policy.borrow().mode_name();
                context.host.events.told(&context.host.persona.mode_changed(mode));
            }
            for folder in context.policy.borrow().folders().skip(1) {
                // One that is there already, or cannot be had, changes nothing.
                let _ = context.world.wall.add(folder);
            }
        }
        Err(problem) => return Err(problem),
    }
    Ok(())
}
