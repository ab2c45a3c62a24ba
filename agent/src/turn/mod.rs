//! Turns: a prompt, rounds with the model and its tools until it stops, one outcome.

mod arguments;
pub(crate) mod background;
pub(crate) mod calls;
pub(crate) mod client_tools;
pub(crate) mod compact;
pub(crate) mod context;
pub(crate) mod context_usage;
pub(crate) mod deferred;
mod fallback;
pub(crate) mod hooks;
pub(crate) mod joined;
pub(crate) mod mentions;
pub(crate) mod options;
pub(crate) mod outcome;
pub(crate) mod permission;
pub(crate) mod prepare;
pub(crate) mod skill;
pub(crate) mod state;
pub(crate) mod structured;
pub(crate) mod subagent;
pub(crate) mod tasks;
mod unfinished;

use std::rc::Rc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::conversation::Conversation;
use crate::host::event_writer::line_id;
use crate::host::reply::Teller;
use crate::model::message::{Call, Message, Part};
use crate::model::usage::Tokens;
use crate::model::{Ask, Gather, ModelError, ModelErrorKind, is_broken};
use crate::persona::host::Unfinished;
use crate::telemetry::{self, Span};
use crate::turn::context::Context;
use crate::turn::unfinished::{Thought, Tries, breaks_off, hides_words, is_lost};
use agentglot_adapters::raw::event::{Event, Kind, PromptSource, RoundEnd, RoundStart, Stop, StopKind, Topic};
use agentglot_adapters::raw::json::Str;

/// The most bytes of a conversation: above them it is made shorter, or the turn ends.
const MOST: usize = 256 << 20;

/// How a turn ended.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum End {
    /// The model was done. With its last words and why it stopped.
    Done(String, Option<(StopKind, String)>),
    /// The model, or a filter, refused.
    Refused(String),
    /// The request made no sense, or its command could not be done.
    Refusing(String),
    /// A limit of rounds.
    Rounds(u64),
    /// A limit of money, in US dollars.
    Budget(f64),
    /// A limit of calls of tools, and how many there were with the one that went over it.
    Calls(u64, u64),
    /// A limit of time.
    Time(Duration),
    /// The host stopped it; whether in the middle of tools.
    Interrupted(bool),
    /// A hook, or a person who denied a call, stopped it.
    Stopped(String),
    /// A hook wants the turn to end here, for this reason; that is no failure.
    Held(String),
    /// A hook has put a call off; with its arguments.
    Deferred(Call, Value),
    /// A call that was put off cannot be gone on with: there is no such tool any more.
    Unavailable(Call),
    /// A call was not allowed, and the turn ends behind the round's results without an answer.
    Denied(String),
    /// The model cannot be had.
    Failed(ModelError),
    /// It should have answered by a tool, and did not, so often; or not in the form that was asked for, with what was wrong last.
    Unstructured(u64, Option<String>),
}

/// What came of a conversation with the model.
#[derive(Clone, Debug)]
pub(crate) struct Finished {
    /// How it ended.
    pub end: End,
    /// Rounds.
    pub rounds: u64,
    /// The id of the line that says that it was stopped, if it was.
    pub note: String,
    /// The model was done, and a hook wanted the turn to end.
    pub held_at_stop: bool,
}

/// Runs rounds until the model stops.
pub(crate) async fn rounds(context: &Rc<Context>, conversation: &mut Conversation) -> Finished {
    let cancel = context.turns.cancel_of(conversation);
    let main = conversation.subagent.is_none();
    let mut rounds = 0;
    let mut tries = Tries::default();
    // What was said of an answer that is not over.
    let mut before = String::new();
    loop {
        if cancel.is_cancelled() {
            return Finished::of(End::Interrupted(rounds > 0), rounds);
        }
        if let Some(limit) = conversation.max_rounds.filter(|limit| rounds >= *limit + tries.gone_on) {
            return Finished::of(End::Rounds(limit), rounds);
        }
        if let Some(limit) = spent(context) {
            return Finished::of(End::Budget(limit), rounds);
        }
        if main {
            compact::if_full(context, conversation).await;
        }
        if main && rounds > 0 {
            turn_to_chosen_model(context, conversation);
        }
        rounds += 1;
        // Streams of a server or of one between may break again and again.
        let whole = tries.lost > 0;
        let reply = match round(context, conversation, whole).await {
            Ok(reply) => reply,
            Err(Broken::Cancelled) => return Finished::of(End::Interrupted(false), rounds),
            Err(Broken::Failed(error)) if error.kind == ModelErrorKind::TooLong && main && tries.shortened() => {
                if compact::now(context, conversation, "auto", None).await.is_ok() {
                    continue;
                }
                return Finished::of(End::Failed(error), rounds);
            }
            Err(Broken::Failed(error)) if fallback::takes_over(context, conversation, &error) => {
                rounds -= 1;
                continue;
            }
            Err(Broken::Failed(error)) => return Finished::of(End::Failed(error), rounds),
            Err(Broken::Lost(_)) if tries.lost < context.host.persona.facts().asks_again => {
                tries.lost += 1;
                rounds -= 1;
                continue;
            }
            Err(Broken::Lost(error)) => return Finished::of(End::Failed(error), rounds),
            Err(Broken::Off(error, text)) => match context.host.persona.goes_on(Unfinished::Broken) {
                Some((urging, most)) if tries.unfinished < most => {
                    tracing::warn!("{}: the model is asked to go on", error.message);
                    tries.unfinished += 1;
                    before.push_str(&tries.go_on(context, &mut rounds, text));
                    urge(context, conversation, urging.to_owned(), &[]);
                    continue;
                }
                _ => return Finished::of(End::Failed(error), rounds),
            },
            // It is asked for again as it was, and counts once.
            Err(Broken::Empty(_, most)) if tries.empty < most => {
                tries.empty += 1;
                rounds -= 1;
                tracing::warn!("the model's reply is empty; it is asked again");
                continue;
            }
            Err(Broken::Empty(why, _)) => return Finished::of(End::Failed(ModelError::new(ModelErrorKind::Malformed, why)), rounds),
        };
        tries.empty = 0;
        tries.lost = 0;
        let calls: Vec<_> = reply.message.calls().cloned().collect();
        let text = reply.message.text();
        let cut = matches!(reply.stop, Some((StopKind::Length | StopKind::Refusal, _)));
        conversation.messages.push(Rc::new(reply.message));
        // What such a reply wants to be done is not done any more.
        if let Some(limit) = spent(context) {
            return Finished::of(End::Budget(limit), rounds);
        }
        if matches!(reply.stop, Some((StopKind::Refusal, _))) {
            let done = calls::run(context, conversation, calls, cut).await;
            if !done.results.is_empty() {
                conversation.add_user(done.results);
            }
            if let Some((urging, most)) = context.host.persona.goes_on(Unfinished::Refused)
                && tries.refused < most
            {
                tries.refused += 1;
                tries.gone_on += 1;
                let said = format!(
                    "{} refused to go on with the reply above; it is asked once more, and knows that",
                    conversation.model
                );
                context.host.events.told(&context.host.persona.inform(&said, json!({"level": "notice"})));
                let about = [("refusal_retry", json!(true)), ("refused_message_id", json!(reply.id))];
                urge(context, conversation, urging.to_owned(), &about);
                continue;
            }
            if let Some((told, said)) = context.host.persona.refusal(&conversation.model) {
                if main {
                    context.host.events.told(&told);
                }
                return Finished::of(End::Refused(said), rounds);
            }
            // Some hosts are told nothing but this.
            let said = if text.is_empty() {
                "the model refused to answer".to_owned()
            } else {
                text
            };
            return Finished::of(End::Refused(said), rounds);
        }
        if calls.is_empty() {
            if main && let Some(reminder) = context.persona_session.unfinished().filter(|_| !cut) {
                remind(context, conversation, &reminder);
                continue;
            }
            let unfinished = match reply.stop {
                Some((StopKind::Length, _)) => Some(Unfinished::Cut),
                _ if text.trim().is_empty() && context.model.options.borrow().schema.is_none() => Some(Unfinished::Empty),
                _ => None,
            };
            if let Some((urging, most)) = unfinished.and_then(|how| context.host.persona.goes_on(how))
                && tries.unfinished < most
            {
                tries.unfinished += 1;
                before.push_str(&tries.go_on(context, &mut rounds, text));
                urge(context, conversation, urging.to_owned(), &[]);
                continue;
            }
            if main && cut {
                context
                    .host
                    .events
                    .notice("MAX_TOKENS", Topic::Limit, Some("Response truncated due to token limits."), None);
            }
            let wanted = main && context.model.options.borrow().schema.is_some();
            let missing = wanted
                .then(|| {
                    structured::take(context.model.options.borrow().schema.as_ref(), &text, &context.tools.structured);
                    structured::missing(
                        &context.tools.structured,
                        &mut tries.unstructured,
                        context.host.persona.facts().answer_reminders,
                    )
                })
                .flatten();
            match missing {
                Some(structured::Missing::Again(nudge)) => {
                    urge(context, conversation, nudge, &[]);
                    continue;
                }
                Some(structured::Missing::GivenUp(tries)) => return Finished::of(End::Unstructured(tries, None), rounds),
                None => {}
            }
            let held = match hooks::before_stop(context, conversation, &text).await {
                hooks::AtStop::GoesOn(why) => {
                    urge(context, conversation, why, &[]);
                    continue;
                }
                hooks::AtStop::Held => true,
                hooks::AtStop::Ends => false,
            };
            return Finished {
                held_at_stop: held,
                ..Finished::of(End::Done(before + &text, reply.stop), rounds)
            };
        }
        tries.unfinished = 0;
        before.clear();
        let mut done = calls::run(context, conversation, calls.clone(), cut).await;
        if done.end.is_none() {
            let (added, stop) = hooks::after_batch(context, conversation, &calls, &done.results).await;
            done.results.extend(added.map(Part::Text));
            done.end = stop.map(End::Held);
        }
        if !done.results.is_empty() {
            conversation.add_user(done.results);
        }
        if let Some(end) = done.end {
            let waits = if let End::Deferred(call, _) = &end { Some(&*call.id) } else { None };
            deferred::give_up(conversation, waits);
            return Finished::of(end, rounds);
        }
        if context.tools.structured.borrow().is_some() && main {
            return Finished::of(End::Done(text, reply.stop), rounds);
        }
        // A model that cannot give the answer its form would try for ever.
        if main && let Some(error) = structured::refused(conversation, &calls, &mut tries.misshapen) {
            return Finished::of(End::Unstructured(tries.misshapen, Some(error)), rounds);
        }
        if let Some(reminder) = context.persona_session.reminder().filter(|_| main) {
            remind(context, conversation, &reminder);
        }
        if main && let Some(end) = joined::read(context, conversation).await {
            return Finished::of(end, rounds);
        }
    }
}

/// Runs the call that was put off, and then rounds until the model stops.
pub(crate) async fn go_on(context: &Rc<Context>, conversation: &mut Conversation, call: Call) -> Finished {
    if conversation.tool(&call.name).is_none() {
        return Finished::of(End::Unavailable(call), 0);
    }
    let done = calls::run(context, conversation, vec![call], false).await;
    if !done.results.is_empty() {
        conversation.add_user(done.results);
    }
    match done.end {
        Some(end) => Finished::of(end, 0),
        None => rounds(context, conversation).await,
    }
}

impl Finished {
    pub(crate) fn of(end: End, rounds: u64) -> Self {
        Self {
            end,
            rounds,
            note: line_id(),
            held_at_stop: false,
        }
    }
}

/// A reply that came to its end.
struct Reply {
    id: String,
    message: Message,
    stop: Option<(StopKind, String)>,
}

enum Broken {
    Cancelled,
    Failed(ModelError),
    /// It broke off behind this text, which the conversation has.
    Off(ModelError, String),
    /// It broke off, and the conversation has nothing of it.
    Lost(ModelError),
    /// There is nothing in it. In words, and how often it is to be asked for again.
    Empty(&'static str, u64),
}

/// Asks the model once.
async fn round(context: &Rc<Context>, conversation: &mut Conversation, whole: bool) -> Result<Reply, Broken> {
    let cancel = context.turns.cancel_of(conversation);
    if conversation.messages.iter().map(|message| message.size()).sum::<usize>() > MOST {
        let why = format!("the conversation has more than {} MiB", MOST >> 20);
        return Err(Broken::Failed(ModelError::new(ModelErrorKind::TooLong, why)));
    }
    let subagent = conversation.subagent.clone();
    let mut gather = Gather::new(context.model.client.api(), &conversation.model);
    let mut ids = Vec::new();
    let wishes = context.model.options.borrow().clone();
    let begun = Instant::now();
    let mut teller = Teller::new(
        context.host.events.clone(),
        subagent.clone(),
        hides_words(context, conversation, wishes.forwards_text),
        context.host.persona.facts().whole_calls,
    );
    // Hosts that count rounds are told of one before the model is asked, and of those that fail too.
    let counts = context.host.persona.facts().counts_rounds;
    if counts {
        context.host.events.say(Kind::RoundStart(&RoundStart::default()), subagent.as_ref(), None);
    }
    let tells = subagent.is_none().then_some(context.host.persona);
    if let Some(told) = tells.filter(|_| context.host.launch.partial).and_then(|persona| persona.asking()) {
        context.host.events.told(&told);
    }
    let ask = Ask {
        model: &conversation.model,
        system: &conversation.system,
        messages: &conversation.messages,
        written: Some(&conversation.written),
        tools: &conversation.specs,
        max_tokens: wishes.max_tokens,
        temperature: wishes.temperature,
        top_p: wishes.top_p,
        thinking: wishes.thinking,
        effort: wishes.effort.as_deref(),
        must_call: None,
        most_overloaded: fallback::next(context, &conversation.model).map(|_| fallback::PATIENCE),
        whole,
    };
    let made = conversation.messages.iter().flat_map(|message| message.calls());
    context.model.calls.borrow_mut().know(made.map(|call| call.id.as_str()));
    let mut thought = Thought::default();
    let keeps_whole = context.host.persona.facts().keeps_whole_blocks;
    let mut broken = false;
    let mut tell = |event: &Event<'_>| {
        if is_broken(event) {
            broken = keeps_whole;
            return;
        }
        // What ends there has not come to its end.
        if broken && matches!(event.kind, Kind::BlockStop(_) | Kind::RoundStop(_) | Kind::RoundEnd(_)) {
            return;
        }
        gather.event(event);
        if let (Kind::Delta(delta), Some(persona)) = (event.kind, tells)
            && let Some(told) = thought.told(delta.piece, persona)
        {
            context.host.events.told(&told);
        }
        if let Kind::Notice(notice) = event.kind
            && notice.topic == Topic::Retry
            && crate::host::display::retried(&context.host, notice)
        {
            return;
        }
        if counts && matches!(event.kind, Kind::RoundStart(_)) {
            return;
        }
        // A block's whole is written when it stops: its line has this id.
        let id = matches!(event.kind, Kind::BlockStop(_)).then(line_id);
        teller.tell(event, id.as_deref());
        ids.extend(id);
    };
    let mut hear = |event: &Event<'_>| context.model.calls.borrow_mut().told(event, &mut tell);
    tracing::debug!(
        model = conversation.model,
        messages = conversation.messages.len(),
        tools = conversation.specs.len(),
        "the model is asked"
    );
    let span = Span::begin("round", true);
    span.set("gen_ai.operation.name", "chat");
    span.set("gen_ai.request.model", conversation.model.as_str());
    if let Some(text) = context.persona_session.debug_request(&ask) {
        context.host.events.lines(&text);
    }
    let said = tokio::select! {
        biased;
        () = cancel.cancelled() => None,
        said = span.within(context.model.client.reply(&ask, &mut hear)) => Some(said),
    };
    context.model.usage.borrow_mut().api += begun.elapsed();
    let model = gather.model().map_or_else(|| conversation.model.clone(), str::to_owned);
    let tokens = gather
        .usage()
        .map(|usage| context.model.usage.borrow_mut().count(&model, &conversation.model, &usage))
        .unwrap_or_default();
    span.set("gen_ai.response.model", model.as_str());
    if tokens != Tokens::default() {
        span.set("gen_ai.usage.input_tokens", tokens.read());
        span.set("gen_ai.usage.output_tokens", tokens.output);
    }
    match &said {
        None => span.fail("cancelled"),
        Some(Err(error)) => span.fail(telemetry::word(&error.kind)),
        Some(Ok(())) => {}
    }
    span.end();
    if tokens != Tokens::default() {
        conversation.context_tokens = tokens.read() + tokens.output;
        if subagent.is_none() {
            let mut spent = context.model.usage.borrow_mut();
            spent.turn += tokens;
            spent.session += tokens;
        }
    }
    let id = gather
        .id()
        .map_or_else(|| format!("msg_{}", uuid::Uuid::new_v4().simple()), str::to_owned);
    let stop = gather.stop().map(|(kind, word)| (kind, word.to_owned()));
    let whole_blocks = keeps_whole && matches!(said, Some(Err(_)));
    let mut message = if whole_blocks { gather.whole_message() } else { gather.message() };
    // A call that the host was told of is not gone on with.
    let off = matches!(&said, Some(Err(error)) if breaks_off(context, error, &message)) && (!whole_blocks || gather.calls().is_empty());
    let lost = matches!(&said, Some(Err(error)) if is_lost(context, error, &gather)) && !off;
    if (said.is_none() || off || lost || broken) && gather.id().is_some() {
        let given_up = whole_blocks && (off || lost);
        // It did not come to a reason to stop.
        let stop = Stop {
            kind: StopKind::Other,
            word: Str::EMPTY,
        };
        let end = RoundEnd {
            stop: (!given_up).then_some(stop),
            abandoned_from: given_up.then(|| u32::try_from(gather.whole_blocks()).unwrap_or(u32::MAX)),
            ..RoundEnd::PLAIN
        };
        context.host.events.say(Kind::RoundEnd(&end), subagent.as_ref(), None);
    }
    if !matches!(said, Some(Ok(()))) {
        calls::not_run(context, conversation, &gather.calls(), said.is_none());
    }
    match said {
        None => {
            // What was said by then stays in the conversation, but for calls, which nobody will run.
            message.parts.retain(|part| matches!(part, Part::Text(text) if !text.is_empty()));
            if !message.parts.is_empty() {
                crate::conversation::transcript::reply(conversation, &message, &id, &model, None, &[], None);
                conversation.messages.push(Rc::new(message));
            }
            Err(Broken::Cancelled)
        }
        Some(Err(error)) if off => {
            let text = message.text();
            message.parts.retain(|part| matches!(part, Part::Text(_)));
            crate::conversation::transcript::reply(conversation, &message, &id, &model, None, &[], None);
            conversation.messages.push(Rc::new(message));
            Err(Broken::Off(error, text))
        }
        Some(Err(error)) if lost => Err(Broken::Lost(error)),
        Some(Err(error)) => Err(Broken::Failed(error)),
        Some(Ok(())) => {
            if message
                .parts
                .iter()
                .all(|part| matches!(part, Part::Text(text) if text.trim().is_empty()))
                && !matches!(stop, Some((StopKind::Refusal | StopKind::Length, _)))
                && let Some((why, most)) = context.host.persona.facts().empty_reply
            {
                return Err(Broken::Empty(why, most));
            }
            if let Some(text) = context.persona_session.debug_reply(&id, &model, &message, tokens) {
                context.host.events.lines(&text);
            }
            let word = stop.as_ref().map(|(_, word)| word.as_str());
            crate::conversation::transcript::reply(conversation, &message, &id, &model, word, &ids, Some(tokens));
            Ok(Reply { id, message, stop })
        }
    }
}

/// The budget, if it is spent.
fn spent(context: &Context) -> Option<f64> {
    let limit = context.host.launch.max_budget_usd?;
    (context.model.usage.borrow().cost() >= limit).then_some(limit)
}

/// The host may have named another model since the turn began.
fn turn_to_chosen_model(context: &Context, conversation: &mut Conversation) {
    if context.host.persona.facts().changes_models_at_once && context.host.launch.agent.is_none() {
        conversation.model.clone_from(&context.model.options.borrow().model);
    }
}

/// The model reads this in the user's place, so that it goes on.
fn urge(context: &Context, conversation: &mut Conversation, text: String, about: &[(&str, Value)]) {
    let part = Part::Text(text);
    if conversation.subagent.is_none() && context.host.persona.facts().tells_urging {
        let said = std::slice::from_ref(&part);
        context.host.events.prompt_with(said, PromptSource::Agent, None, &line_id(), about);
    }
    conversation.add_user([part]);
}

/// Tells the model something that the agent reminds it of, and the host that it did.
fn remind(context: &Context, conversation: &mut Conversation, reminder: &str) {
    conversation.add_user([Part::Text(reminder.to_owned())]);
    context.host.events.notice("reminder", Topic::Reminder, Some(reminder), None);
}

/// How long a turn may take to end once it is stopped.
pub(crate) const STOPPING: Duration = Duration::from_secs(5);
