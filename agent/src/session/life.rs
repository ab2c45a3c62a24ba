//! An agent's life: one prompt after the other.

use std::rc::Rc;
use std::time::Instant;

use serde_json::{Value, json};

use crate::commands::introduce;
use crate::commands::request::ChatRequests;
use crate::conversation::Conversation;
use crate::host::event_writer::line_id;
use crate::host::prompts::{self, HostPrompt};
use crate::model::message::Part;
use crate::persona::host::PromptState;
use crate::telemetry::{self, Span};
use crate::turn::context::Context;
use crate::turn::state::Before;
use crate::turn::{self, outcome};

/// Lives until the host says nothing more.
pub(crate) async fn live(context: Rc<Context>, chats: Rc<ChatRequests>) {
    if context.turns.deferred.borrow().is_some() {
        context.host.prompts.any().await;
        go_on_with_deferred(&context).await;
    }
    while let Some(asked) = turn::background::next(&context).await {
        let asked = turn::joined::with_those_behind(&context, asked);
        answer(&context, &chats, asked).await;
        if context.turns.is_last.get() {
            break;
        }
    }
    turn::hooks::session_ends(&context).await;
}

/// Answers one prompt.
async fn answer(context: &Rc<Context>, chats: &ChatRequests, asked: HostPrompt) {
    let mut ids = asked.with.clone();
    ids.push(asked.id.clone());
    ids.iter().for_each(|id| context.host.prompt_is(id, PromptState::Started));
    answered(context, chats, asked).await;
    let failed = context.turns.failed.take();
    let became = if failed { PromptState::Cancelled } else { PromptState::Completed };
    ids.iter().for_each(|id| context.host.prompt_is(id, became));
    crate::commands::request::restore(context, chats);
    context.turns.busy.set(false);
}

async fn answered(context: &Rc<Context>, chats: &ChatRequests, mut asked: HostPrompt) {
    let begun = begin(context);
    if !asked.is_own() {
        context.turns.calls.set(0);
    }
    if !context.host.persona.facts().requests_name_turns {
        asked.turn = name_turn(context, &asked.turn);
    }
    if asked.id.is_empty() {
        asked.id = line_id();
    }
    let Some(asked) = crate::commands::first(context, chats, asked, begun).await else {
        return;
    };
    let turn = asked.turn.clone();
    let mut conversation = conversation(context).await;
    let said = prompts::said(&asked.parts);
    let heard = if asked.is_own() {
        turn::hooks::Heard::default()
    } else {
        turn::hooks::before_prompt(context, &said).await
    };
    introduce::introduce(context, &conversation);
    if let Some(why) = heard.blocked {
        let text = crate::hooks::blocked_prompt(&why, &said);
        *context.conversation.borrow_mut() = conversation;
        let finished = unanswered(context, text, &json!({"kind": "blocked_by_hook", "prompt_kept": false, "reason": why}));
        let echoed = asked.fields.into_iter().filter(|(name, _)| name == "origin").collect();
        return outcome::tell(context, &finished, begun, echoed);
    }
    turn::deferred::give_up(&mut conversation, None);
    if context.host.launch.replay_user_messages {
        context.host.events.echo(&asked.parts, asked.is_text, &asked.id);
    }
    let only_kept = asked.is_only_kept();
    let mut parts = if asked.continues || asked.wanted.as_ref().is_some_and(|wanted| wanted.of_client) {
        // Nothing of it is the model's.
        Vec::new()
    } else if asked.parts.is_empty() {
        vec![Part::Text(String::new())]
    } else if asked.is_verbatim() {
        asked.parts.clone()
    } else {
        expanded(context, &asked.parts)
    };
    parts.extend(heard.context.map(Part::Text));
    turn::joined::take_in(context, &mut conversation, &asked, parts);
    let echoed = asked.fields.into_iter().filter(|(name, _)| name == "origin").collect();
    if let Some(why) = heard.stopped {
        let text = format!("Operation stopped by hook: {why}");
        let finished = unanswered(context, text, &json!({"kind": "stopped_by_hook", "prompt_kept": true, "reason": why}));
        return finish(context, conversation, &finished, begun, echoed).await;
    }
    let finished = match asked.wanted {
        None if only_kept => turn::Finished::of(turn::End::Done(String::new(), None), 0),
        Some(wanted) => traced(context, &turn, crate::commands::wanted::run(wanted, context, &mut conversation)).await,
        None => in_time(context, begun, traced(context, &turn, turn::rounds(context, &mut conversation))).await,
    };
    context
        .turns
        .is_last
        .set(matches!(finished.end, turn::End::Calls(..) | turn::End::Time(_)));
    if let turn::End::Interrupted(in_tools) = finished.end
        && let Some(note) = context.host.persona.cancelled_note(in_tools)
    {
        let note = [Part::Text(note.to_owned())];
        conversation.add_user(note.clone());
        let mode = context.policy.borrow().mode_name();
        crate::conversation::transcript::prompt(&conversation, mode, &note, &finished.note, &turn, None);
    }
    finish(context, conversation, &finished, begun, echoed).await;
}

/// A turn begins, now.
fn begin(context: &Context) -> Instant {
    context.turns.begin();
    crate::host::state::now(&context.host, crate::host::state::State::Running);
    turn::hooks::turn_begins(context);
    context.model.usage.borrow_mut().begin_turn();
    *context.tools.structured.borrow_mut() = None;
    Instant::now()
}

/// The turn is called this, or has a name of ours if this is empty.
fn name_turn(context: &Context, name: &str) -> String {
    let name = match name {
        "" => context.host.persona.turn_name(&context.host.session.borrow(), context.turns.begun.get()),
        name => name.to_owned(),
    };
    context.host.events.set_turn(&name);
    name
}

/// The conversation, with all that it needs for a turn.
async fn conversation(context: &Rc<Context>) -> Conversation {
    let mut conversation = std::mem::take(&mut *context.conversation.borrow_mut());
    let mcp = context.mcp.get();
    mcp.ready().await;
    mcp.refresh().await;
    turn::prepare::prepare(context, &mut conversation);
    *context.turns.before.borrow_mut() = Before {
        model: conversation.model.clone(),
        system: conversation.system.clone(),
        messages: conversation.messages.clone(),
    };
    conversation
}

/// Stops rounds when the time for the prompt is over.
async fn in_time(context: &Context, begun: Instant, rounds: impl Future<Output = turn::Finished>) -> turn::Finished {
    let Some(most) = context.restrictions.time else { return rounds.await };
    let mut rounds = std::pin::pin!(rounds);
    let left = most.saturating_sub(begun.elapsed());
    tokio::select! {
        biased;
        finished = &mut rounds => return finished,
        () = tokio::time::sleep(left) => context.turns.cancel().cancel(),
    }
    let mut finished = rounds.await;
    if matches!(finished.end, turn::End::Interrupted(_)) {
        finished.end = turn::End::Time(most);
    }
    finished
}

/// Runs the rounds of a turn, and traces it.
async fn traced(context: &Context, turn: &str, rounds: impl Future<Output = turn::Finished>) -> turn::Finished {
    let span = Span::begin("turn", false);
    span.set("gen_ai.operation.name", "invoke_agent");
    span.set("gen_ai.agent.name", "agentglot");
    span.set("gen_ai.conversation.id", context.host.session.borrow().as_str());
    span.set("agentglot.prompt.id", turn);
    span.set("agentglot.dialect", context.host.dialect.name());
    let finished = span.within(rounds).await;
    span.set("agentglot.rounds", finished.rounds);
    match &finished.end {
        turn::End::Done(..) | turn::End::Deferred(..) | turn::End::Held(_) => {}
        turn::End::Failed(error) => span.fail(telemetry::word(&error.kind)),
        other => span.fail(telemetry::word(other)),
    }
    finished
}

/// A prompt that hooks keep from its answer: the host is told why, and what became of it.
fn unanswered(context: &Context, text: String, became: &Value) -> turn::Finished {
    turn::hooks::kept_from_answer(&context.host, &text, became);
    turn::Finished::of(turn::End::Done(text, None), 0)
}

/// A turn is over: what was said is kept, and the host is told how it ended.
async fn finish(context: &Rc<Context>, conversation: Conversation, finished: &turn::Finished, begun: Instant, fields: Vec<(String, Value)>) {
    if let turn::End::Failed(error) = &finished.end {
        let word = outcome::Synthetic::of(error).word();
        turn::hooks::model_failed(context, word, &context.host.persona.failure(error)).await;
    }
    crate::conversation::transcript::turn_ended(&context.host, &conversation, context.persona_session.keep()).await;
    *context.conversation.borrow_mut() = conversation;
    let joined = context.turns.joined.take();
    joined.iter().for_each(|id| context.host.prompt_is(id, PromptState::Completed));
    outcome::tell(context, finished, begun, fields);
}

/// A prompt that begins with a command of a settings folder becomes what that command stands for.
fn expanded(context: &Context, parts: &[Part]) -> Vec<Part> {
    let mut parts = parts.to_vec();
    if let Some(Part::Text(text)) = parts.first_mut()
        && let Some(line) = text.trim_start().strip_prefix('/')
    {
        let (name, arguments) = line.split_once(char::is_whitespace).unwrap_or((line.trim_end(), ""));
        if let Some(command) = context.settings.get().commands.iter().find(|command| command.name == name) {
            *text = command.prompt_for(arguments);
        }
    }
    parts
}

/// Goes on with the call that an earlier run of the session has put off, if there is one.
async fn go_on_with_deferred(context: &Rc<Context>) {
    let Some(call) = context.turns.deferred.borrow().clone() else { return };
    let begun = begin(context);
    let turn = name_turn(context, "");
    let mut conversation = conversation(context).await;
    let added = turn::hooks::session_begins(context).await;
    introduce::introduce(context, &conversation);
    if let Some(added) = added {
        context.hooks.context.borrow_mut().insert(call.id.clone(), added);
    }
    let finished = traced(context, &turn, turn::go_on(context, &mut conversation, call)).await;
    finish(context, conversation, &finished, begun, Vec::new()).await;
    context.turns.deferred.take();
    context.turns.busy.set(false);
}
