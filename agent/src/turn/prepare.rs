//! What a conversation has for the next turn: model, system prompt, tools.

use std::rc::Rc;

use super::context::Context;
use super::structured::Structured;
use super::subagent::Subagents;
use crate::conversation::Conversation;
use crate::tools::Tool;
use crate::turn;
use agentglot_adapters::raw::event::ToolKind;
use agentglot_adapters::raw::launch::PermissionMode;

/// Makes the conversation what the host wants it to be now.
pub(crate) fn prepare(context: &Rc<Context>, conversation: &mut Conversation) {
    let wishes = context.model.options.borrow();
    conversation.model.clone_from(&wishes.model);
    let most = || context.settings.get().max_rounds();
    conversation.max_rounds = context.host.launch.max_turns.or_else(most);
    let chosen = context.host.launch.agent.as_ref().and_then(|name| wishes.agents.get(name)).cloned();
    let agents = chosen.as_ref().map(|agent| agent.prompt.clone());
    conversation.system = wishes
        .system
        .clone()
        .filter(|system| agents.is_none() || !system.is_empty())
        .or(agents)
        .unwrap_or_else(|| context.persona_session.system_prompt(&context.world));
    if let Some(model) = chosen
        .as_ref()
        .and_then(|agent| context.model.names.named(agent.model.as_deref()?))
        .filter(|_| context.host.launch.model.is_none())
    {
        conversation.model = model;
    }
    if let Some(append) = &wishes.append_system {
        if !conversation.system.is_empty() {
            conversation.system.push_str("\n\n");
        }
        conversation.system.push_str(append);
    }
    if let Some(style) = context
        .settings
        .get()
        .style_prompt()
        .filter(|_| wishes.system.as_deref().is_none_or(str::is_empty))
    {
        if !conversation.system.is_empty() {
            conversation.system.push_str("\n\n");
        }
        conversation.system.push_str(&style);
    }
    // A host that wants no system prompt of ours, as the SDKs do unless told otherwise, still has the files that it named read.
    if let Some(memory) = &context.settings.memory {
        if !conversation.system.is_empty() {
            conversation.system.push_str("\n\n");
        }
        conversation.system.push_str(memory);
    }
    let schema = wishes.schema.clone();
    let wishes_plan = wishes.system.as_deref() != Some("");
    drop(wishes);
    let mut tools = context.tools.own.clone();
    tools.extend(context.tools.asking.iter().cloned());
    if context.policy.borrow().mode() != PermissionMode::Plan {
        tools.retain(|tool| tool.spec().kind != ToolKind::ExitPlan);
    } else if wishes_plan {
        conversation.system.push_str(PLANNING);
    }
    let mcp = context.mcp.get();
    context.policy.borrow_mut().trusts_servers(context.host.persona.facts().trusts_servers);
    tools.extend(mcp.tools());
    for (server, text) in mcp.instructions() {
        conversation.system.push_str(&format!("\n\nOf the MCP server {server}:\n{text}"));
    }
    if let Some(form) = context.persona.subagents {
        let background = turn::background::begins_turns(context);
        tools.push(Rc::new(Subagents::new(form, turn::subagent::kinds(context), background)) as Rc<dyn Tool>);
    }
    if context.persona.has_skills {
        tools.extend(turn::skill::tool(&context.settings.get()));
    }
    if let Some(schema) = schema {
        tools.push(Rc::new(Structured::new(&schema, context.tools.structured.clone())));
    }
    if let Some(agent) = chosen {
        tools.retain(|tool| tool.spec().name == turn::structured::NAME || agent.has(&tool.spec().name));
    }
    context.tools.client.join(&mut tools, &context.policy);
    {
        let policy = context.policy.borrow();
        tools.retain(|tool| tool.spec().name == turn::structured::NAME || policy.offered(tool.spec()));
    }
    conversation.equip(tools);
}

/// What the model is told in plan mode.
const PLANNING: &str = "\n\nPlan mode is on: change nothing, neither files nor anything else. Look around as much as you need, then give the plan \
                        with the tool that leaves plan mode, if there is one, or as your answer.";
