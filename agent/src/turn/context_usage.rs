//! How full the context of the model is.

use serde_json::{Value, json};

use crate::model::usage::ModelUsage;
use crate::persona::host::ContextParts;
use crate::turn::context::Context;

/// How full the context is: about a token for every four bytes of each part, scaled to what the API counted last.
pub(crate) fn context_usage(context: &Context) -> Value {
    let (Ok(conversation), wishes) = (context.conversation.try_borrow(), context.model.options.borrow()) else {
        return json!({"categories": [], "totalTokens": 0});
    };
    let model = if conversation.model.is_empty() {
        &wishes.model
    } else {
        &conversation.model
    };
    let window = crate::model::window(model);
    let tokens = |bytes: usize| (bytes / 4) as u64;
    let system = tokens(conversation.system.len());
    let tools: u64 = conversation
        .specs
        .iter()
        .map(|spec| tokens(spec.description.len() + spec.schema.to_string().len()))
        .sum();
    let messages: u64 = conversation
        .messages
        .iter()
        .map(|message| tokens(serde_json::to_string(&**message).map_or(0, |text| text.len())))
        .sum();
    let guessed = system + tools + messages;
    let total = if conversation.context_tokens > 0 {
        conversation.context_tokens
    } else {
        guessed
    };
    let spent: ModelUsage = context.model.usage.borrow().models.get(model).copied().unwrap_or_default();
    let parts = ContextParts {
        model,
        window,
        total,
        system,
        tools,
        counted: conversation.context_tokens > 0,
    };
    if let Some(shown) = context.host.persona.context_shown(&parts) {
        return shown;
    }
    json!({
        "categories": [
            {"name": "System prompt", "tokens": system, "color": "promptBorder"},
            {"name": "System tools", "tokens": tools, "color": "inactive"},
            {"name": "Messages", "tokens": total.saturating_sub(system + tools), "color": "purple_FOR_SUBAGENTS_ONLY"},
            {"name": "Free space", "tokens": window.saturating_sub(total), "color": "promptBorder"},
        ],
        "totalTokens": total, "maxTokens": window, "rawMaxTokens": window,
        "percentage": (total as f64 / window as f64 * 100.0).round(),
        "model": model, "isAutoCompactEnabled": true, "memoryFiles": [], "mcpTools": [], "agents": [], "gridRows": [],
        "messageBreakdown": {"userMessageTokens": messages}, "apiUsage": {
            "input_tokens": spent.tokens.input, "output_tokens": spent.tokens.output,
            "cache_creation_input_tokens": spent.tokens.cache_write, "cache_read_input_tokens": spent.tokens.cache_read,
        },
    })
}
