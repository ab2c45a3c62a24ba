//! How full the context of the model is.

use serde_json::{Value, json};

use crate::persona::host::ContextParts;
use crate::turn::context::Context;

/// About a token for every four bytes of each part, scaled to what the API counted last. `None` while a turn has the conversation.
pub(crate) fn parts(context: &Context) -> Option<ContextParts> {
    let (conversation, wishes) = (context.conversation.try_borrow().ok()?, context.model.options.borrow());
    let model = if conversation.model.is_empty() {
        &wishes.model
    } else {
        &conversation.model
    };
    let tokens = |bytes: usize| (bytes / 4) as u64;
    let system = tokens(conversation.system.len());
    let tools: u64 = conversation
        .specs
        .iter()
        .map(|spec| tokens(spec.description.len() + spec.schema.to_string().len()))
        .sum();
    let said: u64 = conversation
        .messages
        .iter()
        .map(|message| tokens(serde_json::to_string(&**message).map_or(0, |text| text.len())))
        .sum();
    let counted = conversation.context_tokens > 0;
    Some(ContextParts {
        model: model.clone(),
        window: crate::model::window(model),
        total: if counted { conversation.context_tokens } else { system + tools + said },
        system,
        tools,
        said,
        counted,
    })
}

/// The same as hosts are told it.
pub(crate) fn told(context: &Context) -> Value {
    let Some(parts) = parts(context) else {
        return json!({"categories": [], "totalTokens": 0});
    };
    if let Some(shown) = context.host.persona.context_shown(&parts) {
        return shown;
    }
    let colours = ["promptBorder", "inactive", "purple_FOR_SUBAGENTS_ONLY", "promptBorder"];
    let categories = parts.categories().into_iter().zip(colours);
    let spent = context.model.usage.borrow().models.get(&parts.model).copied().unwrap_or_default().tokens;
    json!({
        "categories": categories.map(|((name, tokens), colour)| json!({"name": name, "tokens": tokens, "color": colour})).collect::<Value>(),
        "totalTokens": parts.total, "maxTokens": parts.window, "rawMaxTokens": parts.window,
        "percentage": (parts.total as f64 / parts.window as f64 * 100.0).round(),
        "model": parts.model, "isAutoCompactEnabled": true, "memoryFiles": [], "mcpTools": [], "agents": [], "gridRows": [],
        "messageBreakdown": {"userMessageTokens": parts.said}, "apiUsage": {
            "input_tokens": spent.input, "output_tokens": spent.output,
            "cache_creation_input_tokens": spent.cache_write, "cache_read_input_tokens": spent.cache_read,
        },
    })
}
