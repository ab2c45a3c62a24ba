//! Models that answer in place of one that cannot be had, where the host has named some. With the next turn the first one is asked again.

use crate::conversation::Conversation;
use crate::model::{ModelError, ModelErrorKind};
use crate::turn::context::Context;

/// A model that is overloaded is asked again so often before another one answers.
pub(super) const PATIENCE: u32 = 2;

/// The model that answers in place of this one.
pub(super) fn next(context: &Context, model: &str) -> Option<String> {
    let named = context.host.launch.fallback_models.iter();
    let all: Vec<String> = named.filter_map(|name| context.model.names.named(name)).collect();
    let behind = all.iter().position(|known| known == model).map_or(0, |at| at + 1);
    all.into_iter().nth(behind)
}

/// Whether another model answers from here on: the host is told then.
pub(super) fn takes_over(context: &Context, conversation: &mut Conversation, error: &ModelError) -> bool {
    let why = match error.kind {
        ModelErrorKind::Overloaded => "overloaded",
        _ if error.is_of_unknown_model() => "model_not_found",
        _ => return false,
    };
    let Some(to) = next(context, &conversation.model) else { return false };
    context.host.events.told(&context.host.persona.falls_back(&conversation.model, &to, why));
    conversation.model = to;
    true
}
