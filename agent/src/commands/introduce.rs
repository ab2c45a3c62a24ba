//! What the host is told of the session before it hears of a turn: its tools, commands, servers.

use std::rc::Rc;

use serde_json::{Value, json};

use crate::conversation::Conversation;
use crate::host::event_writer::{body, line_id};
use crate::model::key_variable;
use crate::persona::host::SessionFacts;
use crate::settings::Plugin;
use crate::turn::context::Context;
use crate::turn::{self, prepare::prepare};
use agentglot_adapters::raw::codec::Layout;
use agentglot_adapters::raw::event::Session;
use agentglot_adapters::raw::json::{Raw, Str};

/// Tells the session's facts for a prompt that goes no further.
pub(crate) fn introduce_now(context: &Rc<Context>) {
    let Ok(mut conversation) = context
        .conversation
        .try_borrow_mut()
        .map(|mut conversation| std::mem::take(&mut *conversation))
    else {
        return;
    };
    prepare(context, &mut conversation);
    introduce(context, &conversation);
    *context.conversation.borrow_mut() = conversation;
}

/// The plugins that there are, as hosts of Claude's are told of them.
pub(crate) fn plugins(context: &Context) -> Value {
    let about =
        |plugin: &Plugin| json!({"name": plugin.name, "path": plugin.path, "source": format!("{}@inline", plugin.name), "version": plugin.version});
    context.settings.get().installed.iter().map(about).collect()
}

/// A host of the RFC is told the session's facts before anything else.
pub(crate) fn introduce_first(context: &Rc<Context>) {
    if context.host.persona.facts().introduces_first && !context.host.introduced.get() {
        introduce_now(context);
    }
}

/// Tells the session's facts.
pub(crate) fn introduce(context: &Context, conversation: &Conversation) {
    let names: Vec<&str> = conversation.specs.iter().map(|spec| spec.name.as_str()).collect();
    let tools = json!(names).to_string();
    let agents: Vec<String> = if context.host.persona.facts().lists_own_agents {
        turn::subagent::kinds(context).map(|(name, _)| name).collect()
    } else {
        context.model.options.borrow().agents.keys().cloned().collect()
    };
    let agents = json!(agents).to_string();
    let servers: Vec<Value> = context
        .mcp
        .get()
        .status()
        .into_iter()
        .map(|known| json!({"name": known.name, "status": context.host.persona.server_status(known.status)}))
        .collect();
    let servers = json!(servers).to_string();
    let commands: Value = super::list(context).into_iter().map(|command| command.name).collect();
    let commands = commands.to_string();
    let (cwd, model) = (body(&context.world.wall.root().display().to_string()), body(&conversation.model));
    let mode = context.policy.borrow().mode_name();
    let persona = context.host.persona;
    let key_source = persona.key_source(key_variable(context.model.client.api()));
    let session = Session {
        cwd: Some(Str::trusted(&cwd)),
        model: Some(Str::trusted(&model)),
        tools: Some(Raw::trusted(&tools)),
        permission_mode: Some(Str::trusted(mode)),
        version: Some(Str::trusted(context.host.dialect.conduct().version())),
        api_key_source: Some(Str::trusted(key_source)),
        mcp_servers: Some(Raw::trusted(&servers)),
        slash_commands: Some(Raw::trusted(&commands)),
        agents: Some(Raw::trusted(&agents)),
        opens_turn: !persona.facts().introduces_first || context.turns.busy.get(),
        capabilities: persona.facts().capabilities.map(Raw::trusted),
        resumed: context.store.resumed,
        ..Session::default()
    };
    let first = !context.host.introduced.replace(true);
    let settings = context.settings.get();
    let added = persona.session_members(&SessionFacts {
        style: settings.style(),
        skills: settings.skills().map(|skill| skill.name.clone()).collect(),
        plugins: plugins(context),
        output: context.host.launch.format.mode.name,
    });
    context.host.events.session(&session, &added, &line_id());
    if let Some(told) = persona
        .introduced()
        .filter(|_| first && context.host.launch.format.mode.layout == Layout::Lines)
    {
        context.host.events.told(&told);
    }
}
