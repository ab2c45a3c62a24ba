//! An agent's life: one prompt after the other.

use std::rc::Rc;
use std::time::Instant;

use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::host::event_writer::{body, line_id};
use crate::host::prompts::Asked;
use crate::model::message::Part;
use crate::session::core::{Core, Thread, Tokens};
use crate::settings::Plugin;
use crate::telemetry::{self, Span};
use crate::tools::Tool;
use crate::turn::structured::Structured;
use crate::turn::subagent::Subagents;
use crate::turn::{self, outcome};
use agentglot_adapters::codec::Dialect;
use agentglot_adapters::event::{PromptSource, Session, ToolKind};
use agentglot_adapters::json::{Raw, Str};
use agentglot_adapters::launch::PermissionMode;

/// Lives until the host says nothing more.
pub(crate) async fn live(core: Rc<Core>) {
    if core.deferred.borrow().is_some() {
        core.prompts.any().await;
        turn::deferred::go_on(&core).await;
    }
    while let Some(asked) = turn::background::next(&core).await {
        answer(&core, asked).await;
    }
    turn::hooks::session_ends(&core).await;
}

/// Answers one prompt.
async fn answer(core: &Rc<Core>, asked: Asked) {
    answered(core, asked).await;
    crate::commands::request::restore(core);
    core.desk.busy.set(false);
}

async fn answered(core: &Rc<Core>, mut asked: Asked) {
    let begun = begin(core);
    if core.dialect != Dialect::Qwen {
        asked.turn = name_turn(core, &asked.turn);
    }
    if asked.id.is_empty() {
        asked.id = line_id();
    }
    let Some(asked) = crate::commands::first(core, asked, begun).await else {
        return;
    };
    let turn = asked.turn.clone();
    let mut thread = thread(core).await;
    let said = said(&asked.parts);
    let heard = if asked.is_own() {
        turn::hooks::Heard::default()
    } else {
        turn::hooks::before_prompt(core, &said).await
    };
    introduce(core, &thread);
    if let Some(why) = heard.blocked {
        let text = format!("UserPromptSubmit operation blocked by hook:\n{why}\n\nOriginal prompt: {said}");
        let about = json!({
            "prevent_continuation": true,
            "prompt_submit_outcome": {"kind": "blocked_by_hook", "prompt_kept": false, "reason": why},
        });
        turn::hooks::inform(core, "warning", &text, about);
        *core.thread.borrow_mut() = thread;
        let came = turn::Came {
            end: turn::End::Done(text, None),
            rounds: 0,
        };
        let echoed = asked.fields.into_iter().filter(|(name, _)| name == "origin").collect();
        return outcome::tell(core, &came, begun, echoed);
    }
    turn::deferred::give_up(&mut thread);
    if core.launch.replay_user_messages {
        core.events.prompt(&asked.parts, PromptSource::Echo, None, &asked.id);
    }
    let mut parts = if asked.wanted.as_ref().is_some_and(|wanted| wanted.of_client) {
        // Nothing of it is the model's.
        Vec::new()
    } else if asked.parts.is_empty() {
        vec![Part::Text(String::new())]
    } else if asked.is_verbatim() {
        asked.parts.clone()
    } else {
        expanded(core, &asked.parts)
    };
    parts.extend(heard.context.map(Part::Text));
    let origin = asked.fields.iter().find(|(name, _)| name == "origin").map(|(_, value)| value);
    if !parts.is_empty() {
        crate::conversation::transcript::prompt(core, &thread, &parts, &asked.id, &turn, origin);
    }
    asked
        .files
        .iter()
        .for_each(|file| crate::conversation::transcript::attached(&thread, file));
    if let Some(checkpoints) = &core.checkpoints {
        checkpoints.borrow_mut().mark(&asked.id);
    }
    if !parts.is_empty() {
        thread.add_user(parts);
    }
    let came = match asked.wanted {
        Some(wanted) => traced(core, &turn, wanted.run(core, &mut thread)).await,
        None => traced(core, &turn, turn::rounds(core, &mut thread)).await,
    };
    if core.dialect == Dialect::Qwen && matches!(came.end, turn::End::Interrupted(_)) {
        thread.add_user([Part::Text("Request cancelled.".to_owned())]);
        crate::conversation::transcript::prompt(core, &thread, &[Part::Text("Request cancelled.".to_owned())], &line_id(), &turn, None);
    }
    let echoed = asked.fields.into_iter().filter(|(name, _)| name == "origin").collect();
    finish(core, thread, &came, begun, echoed).await;
}

/// A turn begins, now.
pub(crate) fn begin(core: &Core) -> Instant {
    *core.cancel.borrow_mut() = CancellationToken::new();
    if core.stopped_ahead.take() {
        core.cancel.borrow().cancel();
    }
    core.desk.busy.set(true);
    crate::host::state::now(core, crate::host::state::State::Running);
    core.turns.set(core.turns.get() + 1);
    {
        let mut spent = core.spent.borrow_mut();
        spent.turn = Tokens::default();
        spent.api = std::time::Duration::ZERO;
        spent.denials.clear();
    }
    *core.structured.borrow_mut() = None;
    Instant::now()
}

/// The turn is called this, or has a name of ours if this is empty.
pub(crate) fn name_turn(core: &Core, name: &str) -> String {
    let name = match name {
        "" => format!("{}########{}", core.session.borrow(), core.turns.get()),
        name => name.to_owned(),
    };
    core.events.set_turn(&name);
    name
}

/// The conversation, with all that it needs for a turn.
pub(crate) async fn thread(core: &Rc<Core>) -> Thread {
    let mut thread = std::mem::take(&mut *core.thread.borrow_mut());
    let mcp = core.mcp();
    mcp.ready().await;
    mcp.refresh().await;
    prepare(core, &mut thread);
    thread
}

/// Runs the rounds of a turn, and traces it.
pub(crate) async fn traced(core: &Core, turn: &str, rounds: impl Future<Output = turn::Came>) -> turn::Came {
    let span = Span::begin("turn", false);
    span.set("gen_ai.operation.name", "invoke_agent");
    span.set("gen_ai.agent.name", "agentglot");
    span.set("gen_ai.conversation.id", core.session.borrow().as_str());
    span.set("agentglot.prompt.id", turn);
    span.set("agentglot.dialect", core.dialect.name());
    let came = span.within(rounds).await;
    span.set("agentglot.rounds", came.rounds);
    match &came.end {
        turn::End::Done(..) | turn::End::Deferred(..) | turn::End::Held(_) => {}
        turn::End::Failed(error) => span.fail(telemetry::word(&error.kind)),
        other => span.fail(telemetry::word(other)),
    }
    came
}

/// A turn is over: what was said is kept, and the host is told how it ended.
pub(crate) async fn finish(core: &Rc<Core>, thread: Thread, came: &turn::Came, begun: Instant, fields: Vec<(String, Value)>) {
    crate::conversation::transcript::turn_ended(core, &thread).await;
    *core.thread.borrow_mut() = thread;
    outcome::tell(core, came, begun, fields);
}

/// The text of a prompt.
pub(crate) fn said(parts: &[Part]) -> String {
    let texts = parts.iter().filter_map(|part| match part {
        Part::Text(text) => Some(text.as_str()),
        _ => None,
    });
    texts.collect()
}

/// A prompt that begins with a command of a settings folder becomes what that command stands for.
fn expanded(core: &Core, parts: &[Part]) -> Vec<Part> {
    let mut parts = parts.to_vec();
    if let Some(Part::Text(text)) = parts.first_mut()
        && let Some(line) = text.trim_start().strip_prefix('/')
    {
        let (name, arguments) = line.split_once(char::is_whitespace).unwrap_or((line.trim_end(), ""));
        if let Some(command) = core.settings().commands.iter().find(|command| command.name == name) {
            *text = command.prompt_for(arguments);
        }
    }
    parts
}

/// Makes the thread what the host wants it to be now.
pub(crate) fn prepare(core: &Rc<Core>, thread: &mut Thread) {
    let wishes = core.wishes.borrow();
    thread.model.clone_from(&wishes.model);
    thread.max_rounds = core.launch.max_turns;
    let chosen = core.launch.agent.as_ref().and_then(|name| wishes.agents.get(name)).cloned();
    let agents = chosen.as_ref().map(|agent| agent.prompt.clone());
    thread.system = wishes
        .system
        .clone()
        .filter(|system| agents.is_none() || !system.is_empty())
        .or(agents)
        .unwrap_or_else(|| core.persona_session.system_prompt(&core.world));
    if let Some(model) = chosen
        .as_ref()
        .and_then(|agent| core.models.named(agent.model.as_deref()?))
        .filter(|_| core.launch.model.is_none())
    {
        thread.model = model;
    }
    if let Some(append) = &wishes.append_system {
        if !thread.system.is_empty() {
            thread.system.push_str("\n\n");
        }
        thread.system.push_str(append);
    }
    if let Some(style) = core
        .settings()
        .style_prompt()
        .filter(|_| wishes.system.as_deref().is_none_or(str::is_empty))
    {
        if !thread.system.is_empty() {
            thread.system.push_str("\n\n");
        }
        thread.system.push_str(&style);
    }
    // A host that wants no system prompt of ours, as the SDKs do unless told otherwise, still has the files that it named read.
    if let Some(memory) = &core.memory {
        if !thread.system.is_empty() {
            thread.system.push_str("\n\n");
        }
        thread.system.push_str(memory);
    }
    let schema = wishes.schema.clone();
    let wishes_plan = wishes.system.as_deref() != Some("");
    drop(wishes);
    let mut tools = core.tools.clone();
    tools.extend(core.asking.iter().cloned());
    if core.policy.borrow().mode() != PermissionMode::Plan {
        tools.retain(|tool| tool.spec().kind != ToolKind::ExitPlan);
    } else if wishes_plan {
        thread.system.push_str(PLANNING);
    }
    let mcp = core.mcp();
    tools.extend(mcp.tools());
    for (server, text) in mcp.instructions() {
        thread.system.push_str(&format!("\n\nOf the MCP server {server}:\n{text}"));
    }
    if let Some(names) = core.persona.subagents() {
        let background = turn::background::begins_turns(core);
        tools.push(Rc::new(Subagents::new(names, turn::subagent::kinds(core), background)) as Rc<dyn Tool>);
    }
    tools.extend(turn::skill::tool(core));
    if let Some(schema) = schema {
        tools.push(Rc::new(Structured::new(&schema, core.structured.clone())));
    }
    if let Some(agent) = chosen {
        tools.retain(|tool| tool.spec().name == turn::structured::NAME || agent.has(&tool.spec().name));
    }
    crate::commands::request::tools(core, &mut tools);
    {
        let policy = core.policy.borrow();
        tools.retain(|tool| tool.spec().name == turn::structured::NAME || policy.offered(tool.spec()));
    }
    thread.equip(tools);
}

/// What of the RFC's side channels there is.
const CAPABILITIES: &str = r#""can_use_tool command_hint heartbeat cancel""#;

/// What the model is told in plan mode.
const PLANNING: &str = "\n\nPlan mode is on: change nothing, neither files nor anything else. Look around as much as you need, then give the plan \
                        with the tool that leaves plan mode, if there is one, or as your answer.";

/// Tells the session's facts for a prompt that goes no further.
pub(crate) fn introduce_now(core: &Rc<Core>) {
    let Ok(mut thread) = core.thread.try_borrow_mut().map(|mut thread| std::mem::take(&mut *thread)) else {
        return;
    };
    prepare(core, &mut thread);
    introduce(core, &thread);
    *core.thread.borrow_mut() = thread;
}

/// The plugins that there are, as hosts of Claude's are told of them.
pub(crate) fn plugins(core: &Core) -> Value {
    let about =
        |plugin: &Plugin| json!({"name": plugin.name, "path": plugin.path, "source": format!("{}@inline", plugin.name), "version": plugin.version});
    core.settings().installed.iter().map(about).collect()
}

/// A host of the RFC is told the session's facts before anything else.
pub(crate) fn introduce_first(core: &Rc<Core>) {
    if core.dialect == Dialect::Qwen && !core.desk.introduced.get() {
        introduce_now(core);
    }
}

/// Tells the session's facts.
pub(crate) fn introduce(core: &Core, thread: &Thread) {
    let names: Vec<&str> = thread.specs.iter().map(|spec| spec.name.as_str()).collect();
    let tools = json!(names).to_string();
    let agents: Vec<String> = turn::subagent::kinds(core).map(|(name, _)| name).collect();
    let agents = json!(agents).to_string();
    let servers: Vec<Value> = core
        .mcp()
        .status()
        .into_iter()
        .map(|known| json!({"name": known.name, "status": known.status.as_str()}))
        .collect();
    let servers = json!(servers).to_string();
    let commands: Value = crate::commands::list(core).into_iter().map(|command| command.name).collect();
    let commands = commands.to_string();
    let (cwd, model) = (body(&core.world.wall.root().display().to_string()), body(&thread.model));
    let mode = core.policy.borrow().mode_name();
    let rfc = core.dialect == Dialect::Qwen;
    let session = Session {
        cwd: Some(Str::trusted(&cwd)),
        model: Some(Str::trusted(&model)),
        tools: Some(Raw::trusted(&tools)),
        permission_mode: Some(Str::trusted(mode)),
        version: Some(Str::trusted(core.dialect.conduct().version())),
        api_key_source: Some(Str::trusted("env")),
        mcp_servers: Some(Raw::trusted(&servers)),
        slash_commands: Some(Raw::trusted(&commands)),
        agents: Some(Raw::trusted(&agents)),
        opens_turn: !rfc || core.desk.busy.get(),
        capabilities: rfc.then_some(Raw::trusted(CAPABILITIES)),
        resumed: core.resumed,
        ..Session::default()
    };
    core.desk.introduced.set(true);
    let added: Vec<(&str, Value)> = if core.dialect == Dialect::Claude {
        let skills: Value = core.settings().skills().map(|skill| skill.name.clone()).collect();
        vec![
            ("output_style", json!(core.settings().style())),
            ("skills", skills),
            ("plugins", plugins(core)),
        ]
    } else if rfc {
        vec![
            ("input_format", json!("stream-json")),
            ("output_format", json!(core.launch.format.mode.name())),
        ]
    } else {
        Vec::new()
    };
    core.events.session(&session, &added, &line_id());
}
