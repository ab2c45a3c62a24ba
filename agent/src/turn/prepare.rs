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
pub(crate) fn prepare(core: &Rc<Context>, conversation: &mut Conversation) {
    let wishes = core.model.options.borrow();
    conversation.model.clone_from(&wishes.model);
    conversation.max_rounds = core.host.launch.max_turns;
    let chosen = core.host.launch.agent.as_ref().and_then(|name| wishes.agents.get(name)).cloned();
    let agents = chosen.as_ref().map(|agent| agent.prompt.clone());
    conversation.system = wishes
        .system
        .clone()
        .filter(|system| agents.is_none() || !system.is_empty())
        .or(agents)
        .unwrap_or_else(|| core.persona_session.system_prompt(&core.world));
    if let Some(model) = chosen
        .as_ref()
        .and_then(|agent| core.model.names.named(agent.model.as_deref()?))
        .filter(|_| core.host.launch.model.is_none())
    {
        conversation.model = model;
    }
    if let Some(append) = &wishes.append_system {
        if !conversation.system.is_empty() {
            conversation.system.push_str("\n\n");
        }
        conversation.system.push_str(append);
    }
    if let Some(style) = core
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
    if let Some(memory) = &core.settings.memory {
        if !conversation.system.is_empty() {
            conversation.system.push_str("\n\n");
        }
        conversation.system.push_str(memory);
    }
    let schema = wishes.schema.clone();
    let wishes_plan = wishes.system.as_deref() != Some("");
    drop(wishes);
    let mut tools = core.tools.own.clone();
    tools.extend(core.tools.asking.iter().cloned());
    if core.policy.borrow().mode() != PermissionMode::Plan {
        tools.retain(|tool| tool.spec().kind != ToolKind::ExitPlan);
    } else if wishes_plan {
        conversation.system.push_str(PLANNING);
    }
    let mcp = core.mcp.get();
    tools.extend(mcp.tools());
    for (server, text) in mcp.instructions() {
        conversation.system.push_str(&format!("\n\nOf the MCP server {server}:\n{text}"));
    }
    if let Some(names) = core.persona.subagents {
        let background = turn::background::begins_turns(core);
        tools.push(Rc::new(Subagents::new(names, turn::subagent::kinds(core), background)) as Rc<dyn Tool>);
    }
    if core.persona.has_skills {
        tools.extend(turn::skill::tool(&core.settings.get()));
    }
    if let Some(schema) = schema {
        tools.push(Rc::new(Structured::new(&schema, core.tools.structured.clone())));
    }
    if let Some(agent) = chosen {
        tools.retain(|tool| tool.spec().name == turn::structured::NAME || agent.has(&tool.spec().name));
    }
    core.tools.client.join(&mut tools, &core.policy);
    {
        let policy = core.policy.borrow();
        tools.retain(|tool| tool.spec().name == turn::structured::NAME || policy.offered(tool.spec()));
    }
    conversation.equip(tools);
}

/// What the model is told in plan mode.
const PLANNING: &str = "\n\nPlan mode is on: change nothing, neither files nor anything else. Look around as much as you need, then give the plan \
                        with the tool that leaves plan mode, if there is one, or as your answer.";
