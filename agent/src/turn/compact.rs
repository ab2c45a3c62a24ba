//! A conversation that grows too long for the model is replaced by a summary of it.

use std::rc::Rc;

use crate::conversation::Conversation;
use crate::model::message::{Message, Part};
use crate::model::{Ask, Gather, ModelError, ModelErrorKind, window};
use crate::persona::host::Compacted;
use crate::turn::context::Context;
use agentglot_adapters::raw::event::Event;

/// Above this part of the window the conversation is made shorter before the next request.
const FULL: f64 = 0.85;

/// Texts of so many bytes are not cut any more.
const SHORT: usize = 2000;

/// Makes the conversation shorter if the next request might not fit.
pub(crate) async fn if_full(context: &Rc<Context>, conversation: &mut Conversation) {
    let most = window(&conversation.model) as f64 * FULL;
    if conversation.context_tokens as f64 > most && conversation.messages.len() > 2 {
        let _ = now(context, conversation, "auto", None).await;
    }
}

/// Makes it shorter now: one request for a summary, then the summary stands for all that was said.
///
/// # Errors
/// When the model cannot be had; the conversation stays as it is.
pub(crate) async fn now(context: &Rc<Context>, conversation: &mut Conversation, trigger: &str, wish: Option<&str>) -> Result<(), ModelError> {
    crate::turn::hooks::before_compaction(context, trigger, wish).await;
    let cancel = context.turns.cancel();
    let before = conversation.context_tokens;
    let mut messages = conversation.messages.clone();
    let kept = unanswered(&mut messages);
    let mut request = "Summarise this conversation for yourself, who will go on with it and see nothing but the summary: what was asked, what was \
                       decided, which files were read or changed and how, what was tried and failed, what is still to be done, and the exact \
                       names, paths and values that matter. Answer with the summary alone."
        .to_owned();
    if let Some(wish) = wish.filter(|wish| !wish.is_empty()) {
        request.push_str("\n\nThe user asks for this of it: ");
        request.push_str(wish);
    }
    let gather = loop {
        let mut asking = Conversation {
            messages: messages.clone(),
            ..Conversation::default()
        };
        asking.add_user([Part::Text(request.clone())]);
        let mut gather = Gather::new(context.model.client.api(), &conversation.model);
        let ask = Ask {
            model: &conversation.model,
            system: &conversation.system,
            messages: &asking.messages,
            written: Some(&conversation.written),
            tools: &[],
            ..Ask::default()
        };
        let mut hear = |event: &Event<'_>| gather.event(event);
        let said = tokio::select! {
            biased;
            () = cancel.cancelled() => return Err(stopped()),
            said = context.model.client.reply(&ask, &mut hear) => said,
        };
        match said {
            Ok(()) => break gather,
            // What does not fit cannot be summed up either: its later part can.
            Err(error) if error.kind == ModelErrorKind::TooLong && halve(&mut messages) => {}
            Err(error) => return Err(error),
        }
    };
    let usage = gather
        .usage()
        .map(|usage| context.model.usage.borrow_mut().count(&conversation.model, &conversation.model, &usage))
        .unwrap_or_default();
    let summary = gather.message().text();
    if summary.trim().is_empty() {
        return Err(ModelError::new(ModelErrorKind::Malformed, "the model gave no summary"));
    }
    let summary = format!("This session goes on from an earlier conversation that did not fit any more. What it was about:\n\n{summary}");
    conversation.messages = vec![Rc::new(Message::user(summary.clone()))];
    let open = kept.clone();
    if let Some(last) = kept {
        conversation.add_user(last);
    }
    conversation.context_tokens = usage.output;
    let boundary = crate::conversation::transcript::compacted(conversation, trigger == "manual", before, usage.output, &summary, open.as_deref());
    told(context, trigger, before, usage.output, boundary);
    Ok(())
}

/// Leaves the older half away; of a single message, the end of its texts. Whether there was anything to leave away.
fn halve(messages: &mut Vec<Rc<Message>>) -> bool {
    if messages.len() > 1 {
        messages.drain(..messages.len() / 2);
        return true;
    }
    let parts = messages.iter_mut().flat_map(|message| &mut Rc::make_mut(message).parts);
    let texts = parts.flat_map(|part| match part {
        Part::Result(result) => result.content.iter_mut().collect(),
        part => vec![part],
    });
    let mut shorter = false;
    for part in texts {
        if let Part::Text(text) = part
            && text.len() > SHORT
        {
            let mut half = text.len() / 2;
            while !text.is_char_boundary(half) {
                half -= 1;
            }
            text.truncate(half);
            shorter = true;
        }
    }
    shorter
}

/// The prompt that stands at the end and has no answer yet: it stays as it is.
fn unanswered(messages: &mut Vec<Rc<Message>>) -> Option<Vec<Part>> {
    use crate::model::message::Role;
    let last = messages.last()?;
    let is_prompt = last.role == Role::User && !last.parts.iter().any(|part| matches!(part, Part::Result(_)));
    (is_prompt && messages.len() > 1)
        .then(|| messages.pop().map(|last| Rc::unwrap_or_clone(last).parts))
        .flatten()
}

/// Tells the host, as its dialect does.
fn told(context: &Context, trigger: &str, before: u64, after: u64, boundary: Option<String>) {
    let told = context.host.persona.compacted(&Compacted {
        trigger,
        before,
        after,
        boundary: &boundary.unwrap_or_else(crate::host::event_writer::line_id),
        session: &context.host.session.borrow(),
    });
    context.host.events.told(&told);
}

fn stopped() -> ModelError {
    ModelError::new(ModelErrorKind::Incomplete, "stopped")
}
