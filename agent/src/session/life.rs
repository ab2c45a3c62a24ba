//! An agent's life: one prompt after the other.

use std::rc::Rc;
use std::time::Instant;

use serde_json::{Value, json};

use crate::commands::introduce;
use crate::commands::request::ChatRequests;
use crate::conversation::Conversation;
use crate::host::event_writer::line_id;
use crate::host::prompts::{self, Asked};
use crate::model::message::Part;
use crate::telemetry::{self, Span};
use crate::turn::context::Context;
use crate::turn::{self, outcome};
use agentglot_adapters::raw::event::PromptSource;

/// Lives until the host says nothing more.
pub(crate) async fn live(core: Rc<Context>, chats: Rc<ChatRequests>) {
    if core.turns.deferred.borrow().is_some() {
        core.host.prompts.any().await;
        go_on_with_deferred(&core).await;
    }
    while let Some(asked) = turn::background::next(&core).await {
        answer(&core, &chats, asked).await;
    }
    turn::hooks::session_ends(&core).await;
}

/// Answers one prompt.
async fn answer(core: &Rc<Context>, chats: &ChatRequests, asked: Asked) {
    answered(core, chats, asked).await;
    crate::commands::request::restore(core, chats);
    core.turns.busy.set(false);
}

async fn answered(core: &Rc<Context>, chats: &ChatRequests, mut asked: Asked) {
    let begun = begin(core);
    if !core.host.persona.requests_name_turns() {
        asked.turn = name_turn(core, &asked.turn);
    }
    if asked.id.is_empty() {
        asked.id = line_id();
    }
    let Some(asked) = crate::commands::first(core, chats, asked, begun).await else {
        return;
    };
    let turn = asked.turn.clone();
    let mut conversation = conversation(core).await;
    let said = prompts::said(&asked.parts);
    let heard = if asked.is_own() {
        turn::hooks::Heard::default()
    } else {
        turn::hooks::before_prompt(core, &said).await
    };
    introduce::introduce(core, &conversation);
    if let Some(why) = heard.blocked {
        let text = format!("UserPromptSubmit operation blocked by hook:\n{why}\n\nOriginal prompt: {said}");
        let about = json!({
            "prevent_continuation": true,
            "prompt_submit_outcome": {"kind": "blocked_by_hook", "prompt_kept": false, "reason": why},
        });
        turn::hooks::inform(&core.host, "warning", &text, about);
        *core.conversation.borrow_mut() = conversation;
        let came = turn::Came {
            end: turn::End::Done(text, None),
            rounds: 0,
        };
        let echoed = asked.fields.into_iter().filter(|(name, _)| name == "origin").collect();
        return outcome::tell(core, &came, begun, echoed);
    }
    turn::deferred::give_up(&mut conversation);
    if core.host.launch.replay_user_messages {
        core.host.events.prompt(&asked.parts, PromptSource::Echo, None, &asked.id);
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
        crate::conversation::transcript::prompt(&conversation, core.policy.borrow().mode_name(), &parts, &asked.id, &turn, origin);
    }
    asked
        .files
        .iter()
        .for_each(|file| crate::conversation::transcript::attached(&conversation, file));
    if let Some(checkpoints) = &core.store.checkpoints {
        checkpoints.borrow_mut().mark(&asked.id);
    }
    if !parts.is_empty() {
        conversation.add_user(parts);
    }
    let came = match asked.wanted {
        Some(wanted) => traced(core, &turn, crate::commands::wanted::run(wanted, core, &mut conversation)).await,
        None => traced(core, &turn, turn::rounds(core, &mut conversation)).await,
    };
    if let Some(note) = core
        .host
        .persona
        .cancelled_note()
        .filter(|_| matches!(came.end, turn::End::Interrupted(_)))
    {
        let note = [Part::Text(note.to_owned())];
        conversation.add_user(note.clone());
        let mode = core.policy.borrow().mode_name();
        crate::conversation::transcript::prompt(&conversation, mode, &note, &line_id(), &turn, None);
    }
    let echoed = asked.fields.into_iter().filter(|(name, _)| name == "origin").collect();
    finish(core, conversation, &came, begun, echoed).await;
}

/// A turn begins, now.
fn begin(core: &Context) -> Instant {
    core.turns.begin();
    crate::host::state::now(&core.host, crate::host::state::State::Running);
    core.model.usage.borrow_mut().begin_turn();
    *core.tools.structured.borrow_mut() = None;
    Instant::now()
}

/// The turn is called this, or has a name of ours if this is empty.
fn name_turn(core: &Context, name: &str) -> String {
    let name = match name {
        "" => format!("{}########{}", core.host.session.borrow(), core.turns.begun.get()),
        name => name.to_owned(),
    };
    core.host.events.set_turn(&name);
    name
}

/// The conversation, with all that it needs for a turn.
async fn conversation(core: &Rc<Context>) -> Conversation {
    let mut conversation = std::mem::take(&mut *core.conversation.borrow_mut());
    let mcp = core.mcp.get();
    mcp.ready().await;
    mcp.refresh().await;
    turn::prepare::prepare(core, &mut conversation);
    conversation
}

/// Runs the rounds of a turn, and traces it.
async fn traced(core: &Context, turn: &str, rounds: impl Future<Output = turn::Came>) -> turn::Came {
    let span = Span::begin("turn", false);
    span.set("gen_ai.operation.name", "invoke_agent");
    span.set("gen_ai.agent.name", "agentglot");
    span.set("gen_ai.conversation.id", core.host.session.borrow().as_str());
    span.set("agentglot.prompt.id", turn);
    span.set("agentglot.dialect", core.host.dialect.name());
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
async fn finish(core: &Rc<Context>, conversation: Conversation, came: &turn::Came, begun: Instant, fields: Vec<(String, Value)>) {
    crate::conversation::transcript::turn_ended(&core.host, &conversation, core.persona_session.keep()).await;
    *core.conversation.borrow_mut() = conversation;
    outcome::tell(core, came, begun, fields);
}

/// A prompt that begins with a command of a settings folder becomes what that command stands for.
fn expanded(core: &Context, parts: &[Part]) -> Vec<Part> {
    let mut parts = parts.to_vec();
    if let Some(Part::Text(text)) = parts.first_mut()
        && let Some(line) = text.trim_start().strip_prefix('/')
    {
        let (name, arguments) = line.split_once(char::is_whitespace).unwrap_or((line.trim_end(), ""));
        if let Some(command) = core.settings.get().commands.iter().find(|command| command.name == name) {
            *text = command.prompt_for(arguments);
        }
    }
    parts
}

/// Goes on with the call that an earlier run of the session has put off, if there is one.
async fn go_on_with_deferred(core: &Rc<Context>) {
    let Some(call) = core.turns.deferred.borrow().clone() else { return };
    let begun = begin(core);
    let turn = name_turn(core, "");
    let mut conversation = conversation(core).await;
    let context = turn::hooks::session_begins(core).await;
    introduce::introduce(core, &conversation);
    if let Some(context) = context {
        core.hooks.context.borrow_mut().insert(call.id.clone(), context);
    }
    let came = traced(core, &turn, turn::go_on(core, &mut conversation, call)).await;
    finish(core, conversation, &came, begun, Vec::new()).await;
    core.turns.deferred.take();
    core.turns.busy.set(false);
}
