//! What the host asks of the agent on the control channel.

use std::collections::BTreeMap;
use std::rc::Rc;

use serde_json::{Value, json};

use crate::conversation::Conversation;
use crate::host::prompts::{HostPrompt, fields, plain};
use crate::model::key_variable;
use crate::model::message::Role;
use crate::persona::host::PromptState;
use crate::settings::subagent;
use crate::turn::context::Context;
use crate::turn::context_usage;
use agentglot_adapters::raw::conduct::Greeting;
use agentglot_adapters::raw::event::{ControlKind, Input, Request};

/// Deals with a request. Returns whether it will be answered here; otherwise the session answers it as the dialect's program does.
pub(crate) fn request(context: &Rc<Context>, input: &Input<'_>, request: &Request<'_>) -> bool {
    let id = plain(request.id);
    let members: BTreeMap<String, Value> = fields(input.fields).into_iter().collect();
    let text = |name: &str| members.get(name).and_then(Value::as_str).map(str::to_owned);
    match (request.kind, plain(Some(request.subtype)).as_str()) {
        (ControlKind::Initialize, _) => {
            initialize(context, &members);
            false
        }
        (ControlKind::Interrupt, _) => {
            context.interrupt();
            tell_queue(context, &id, members.get("cancel_queued") == Some(&Value::Bool(true)))
        }
        (_, "cancel_async_message") => cancel_prompt(context, &id, text("message_uuid").as_deref()),
        (ControlKind::SetModel, _) => {
            {
                let mut wishes = context.model.options.borrow_mut();
                let named = text("model").and_then(|model| context.model.names.named(&model));
                match named {
                    Some(model) => wishes.model = model,
                    None if context.host.persona.facts().takes_models_back => wishes.model = wishes.first_model.clone(),
                    None => {}
                }
            }
            tell_model(context);
            false
        }
        (_, "get_context_usage") => {
            context.host.events.respond(&id, &Ok(context_usage::told(context)));
            true
        }
        (_, "continue_last_turn") => continue_turn(context, &id),
        (_, "side_question") => crate::session::side_question::answer(context, &id, text("question").as_deref()),
        (_, "set_effort") => {
            set_effort(context, text("effort"));
            false
        }
        (_, "set_max_thinking_tokens") => {
            context.model.options.borrow_mut().thinking = members.get("max_thinking_tokens").and_then(Value::as_u64);
            false
        }
        _ => crate::session::requests::request(context, &id, request, &members),
    }
}

/// The host wants the last turn to go on whose prompt has no answer. Whether that was answered here.
fn continue_turn(context: &Context, id: &str) -> bool {
    let Some(answer) = context.host.persona.facts().continued else {
        return false;
    };
    let idle = !context.turns.busy.get() && !context.host.prompts.any_waits();
    let open = |conversation: &Conversation| conversation.messages.last().is_some_and(|last| last.role == Role::User);
    let accepted = idle && context.conversation.try_borrow().is_ok_and(|conversation| open(&conversation));
    context.host.events.respond(id, &Ok(answer(accepted)));
    if accepted {
        context.host.prompts.put(HostPrompt {
            continues: true,
            ..HostPrompt::default()
        });
    }
    true
}

/// A model was chosen: in the middle of a conversation the host reads that there.
pub(crate) fn tell_model(context: &Context) {
    let begun = context.turns.busy.get()
        || context
            .conversation
            .try_borrow()
            .is_ok_and(|conversation| !conversation.messages.is_empty());
    let model = context.model.options.borrow().model.clone();
    if begun && let Some(told) = context.host.persona.model_set(&model) {
        context.host.events.told(&told);
    }
}

/// What became of the prompts that wait when the turn is interrupted: they go on waiting, or are taken back with it. Whether that was told.
fn tell_queue(context: &Context, id: &str, cancels: bool) -> bool {
    let queue = &context.host.prompts;
    if !context.host.persona.facts().withdraws_prompts || !queue.any_waits() {
        return false;
    }
    let ids = queue.ids();
    let answer = if cancels {
        ids.iter().for_each(|id| context.host.prompt_is(id, PromptState::Cancelled));
        (0..queue.withdraw_all()).for_each(|_| context.host.events.answered());
        json!({"still_queued": [], "cancelled": ids})
    } else {
        json!({"still_queued": ids})
    };
    context.host.events.respond(id, &Ok(answer));
    true
}

/// Takes back a prompt that waits. Whether it was told that there was one.
fn cancel_prompt(context: &Context, id: &str, prompt: Option<&str>) -> bool {
    let prompt = prompt.filter(|prompt| !prompt.is_empty() && context.host.persona.facts().withdraws_prompts);
    let Some(prompt) = prompt.filter(|prompt| context.host.prompts.withdraw(prompt)) else {
        return false;
    };
    context.host.prompt_is(prompt, PromptState::Cancelled);
    context.host.events.answered();
    context.host.events.respond(id, &Ok(json!({"cancelled": true, "message_uuid": prompt})));
    true
}

/// What a host is told by the handshake of the commands, kinds of subagents, models and output styles that there are.
pub(crate) fn greeting(context: &Context) -> Greeting {
    let text = |value: Value| value.to_string();
    let agents = crate::turn::subagent::kinds(context).map(|(name, description)| json!({"name": name, "description": description}));
    let commands = crate::commands::list(context)
        .into_iter()
        .map(|command| json!({"name": command.name, "description": command.description, "argumentHint": command.hint}));
    let models = context.model.names.choice().into_iter().map(|(name, model)| {
        let shown = if name == "default" { format!("Default ({model})") } else { name.clone() };
        json!({"value": name, "displayName": shown, "description": model})
    });
    Greeting {
        commands: text(commands.collect()),
        agents: text(agents.collect()),
        models: text(models.collect()),
        key_source: key_variable(context.model.client.api()).to_owned(),
        output_style: context.settings.get().style().to_owned(),
        output_styles: context.settings.get().style_names(),
    }
}

/// Takes over what the handshake says.
fn initialize(context: &Rc<Context>, members: &BTreeMap<String, Value>) {
    let text = |names: &[&str]| names.iter().find_map(|name| members.get(*name)?.as_str()).map(str::to_owned);
    {
        let mut wishes = context.model.options.borrow_mut();
        match members.get("systemPrompt").or_else(|| members.get("system_prompt")) {
            Some(Value::String(prompt)) => wishes.system = Some(prompt.clone()),
            Some(Value::Array(parts)) => {
                wishes.system = Some(parts.iter().filter_map(Value::as_str).collect::<Vec<_>>().join("\n\n"));
            }
            _ => {}
        }
        if let Some(append) = text(&["appendSystemPrompt", "append_system_prompt"]) {
            wishes.append_system = Some(append);
        }
        if let Some(forwards) = members.get("forwardSubagentText").and_then(Value::as_bool) {
            wishes.forwards_text = forwards;
        }
        if let Some(schema) = members.get("jsonSchema").filter(|schema| schema.is_object()) {
            wishes.schema = Some(schema.clone());
        }
        wishes.agents.extend(members.get("agents").map(subagent::kinds).unwrap_or_default());
    }
    set_effort(context, text(&["effort"]));
    crate::session::requests::initialize(context, members);
    if context.turns.deferred.borrow().is_some() {
        // Its hooks are known from here on: the session goes on without being asked to.
        context.host.prompts.rouse();
    }
}

/// How much the model is to think from now on. A word that means nothing is refused, and changes nothing.
fn set_effort(context: &Context, effort: Option<String>) {
    if let Some(effort) = effort.filter(|effort| EFFORTS.contains(&effort.as_str())) {
        context.model.options.borrow_mut().effort = Some(effort);
    }
}

/// The words for how much a model is to think.
const EFFORTS: [&str; 5] = ["low", "medium", "high", "xhigh", "max"];
