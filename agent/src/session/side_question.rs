//! A question of the host's beside the conversation: the model answers it without tools, and nothing of it is kept.

use std::rc::Rc;

use serde_json::json;

use crate::conversation::Conversation;
use crate::model::message::Part;
use crate::model::{Ask, Gather};
use crate::turn::context::Context;
use agentglot_adapters::raw::event::Event;

/// What the model reads before the question.
const RULES: &str = "A question beside the work, which goes on without it. Answer it at once and in a few words, by what you know; you have no tools, \
                     and nothing of this stays in the conversation.";

/// Answers a request. Whether it does.
pub(crate) fn answer(context: &Rc<Context>, id: &str, question: Option<&str>) -> bool {
    let Some(told) = context.host.persona.request_begun(id) else {
        return false;
    };
    context.host.events.told(&told);
    let (context, id, question) = (Rc::clone(context), id.to_owned(), question.unwrap_or_default().to_owned());
    Rc::clone(&context).host.jobs.spawn(async move {
        let answer = match asked(&context, &question).await {
            Ok(text) => json!({"response": text, "synthetic": false}),
            Err(why) => json!({"response": format!("(API error: {why})"), "synthetic": true}),
        };
        context.host.events.respond(&id, &Ok(answer));
    });
    true
}

/// Asks the model, which knows what was said before the turn that runs.
async fn asked(context: &Context, question: &str) -> Result<String, String> {
    if question.trim().is_empty() {
        return Err("there is no question".to_owned());
    }
    let mut beside = context.turns.before.borrow().clone();
    if let Ok(now) = context.conversation.try_borrow()
        && !context.turns.busy.get()
    {
        beside.messages.clone_from(&now.messages);
    }
    let model = if beside.model.is_empty() {
        context.model.options.borrow().model.clone()
    } else {
        beside.model
    };
    let mut asking = Conversation {
        messages: beside.messages,
        ..Conversation::default()
    };
    asking.add_user([Part::Text(format!("{RULES}\n\n{question}"))]);
    let mut gather = Gather::new(context.model.client.api(), &model);
    let ask = Ask {
        model: &model,
        system: &beside.system,
        messages: &asking.messages,
        tools: &[],
        ..Ask::default()
    };
    let mut hear = |event: &Event<'_>| gather.event(event);
    context.model.client.reply(&ask, &mut hear).await.map_err(|error| error.message)?;
    if let Some(usage) = gather.usage() {
        context.model.usage.borrow_mut().count(&model, &model, &usage);
    }
    Ok(gather.message().text())
}
