//! Requests whose answers need nobody: what there is none of here, and what was fixed when the program began.

use super::policy::Policy;
use super::words::{Wrong, need, quoted_or_null};
use crate::conduct::quoted;
use crate::json::Raw;
use crate::launch::Launch;

/// Requests that are always answered alike.
const FIXED: [(&str, &str); 19] = [
    ("configRequirements/read", "{\"requirements\":null}"),
    ("config/mcpServer/reload", "{}"),
    (
        "modelProvider/list",
        concat!(
            "{\"data\":[{\"id\":\"agentglot\",\"name\":\"agentglot\",\"canEdit\":false,\"baseUrl\":null,\"settings\":{\"type\":\"openai\"}}],",
            "\"defaultProviderId\":\"agentglot\",\"canChangeDefault\":false}"
        ),
    ),
    ("modelProvider/capabilities/read", "{\"imageGeneration\":false,\"webSearch\":false}"),
    ("permissionProfile/list", NONE_LISTED),
    ("experimentalFeature/list", NONE_LISTED),
    ("collaborationMode/list", "{\"data\":[]}"),
    (
        "plugin/list",
        "{\"marketplaces\":[],\"marketplaceLoadErrors\":[],\"featuredPluginIds\":[]}",
    ),
    ("plugin/installed", "{\"marketplaces\":[],\"marketplaceLoadErrors\":[]}"),
    ("app/list", NONE_LISTED),
    ("app/installed", "{\"apps\":[]}"),
    ("mcpServerStatus/list", NONE_LISTED),
    ("thread/goal/get", "{\"goal\":null}"),
    ("thread/goal/clear", "{\"cleared\":false}"),
    ("account/logout", "{}"),
    // Keys are the environment's.
    ("account/read", "{\"account\":null,\"userId\":null,\"requiresOpenaiAuth\":false}"),
    ("getAuthStatus", "{\"authMethod\":null,\"authToken\":null,\"requiresOpenaiAuth\":false}"),
    ("externalAgentConfig/detect", "{\"items\":[],\"connectors\":[]}"),
    ("windowsSandbox/readiness", "{\"status\":\"notConfigured\"}"),
];

const NONE_LISTED: &str = "{\"data\":[],\"nextCursor\":null}";

/// Those whose answer or refusal depends on what they ask.
const OTHERS: [&str; 9] = [
    "config/read",
    "skills/list",
    "hooks/list",
    "account/login/start",
    "account/login/cancel",
    "account/rateLimits/read",
    "account/usage/read",
    "getConversationSummary",
    "gitDiffToRemote",
];

/// The requests.
pub(super) fn methods() -> impl Iterator<Item = &'static str> {
    FIXED.iter().map(|(method, _)| *method).chain(OTHERS)
}

/// The answer to one of them. `model`: the one that answers.
pub(super) fn answer(method: &str, params: Raw<'_>, launch: &Launch, model: Option<&str>) -> Result<String, Wrong> {
    if let Some((_, fixed)) = FIXED.iter().find(|(known, _)| *known == method) {
        return Ok((*fixed).to_owned());
    }
    match method {
        "config/read" => {
            let layers = params.get("includeLayers").and_then(Raw::bool) == Some(true);
            Ok(config(launch, model, layers))
        }
        "skills/list" => Ok(folders(params, launch, "\"skills\":[],\"errors\":[]")),
        "hooks/list" => Ok(folders(params, launch, "\"hooks\":[],\"warnings\":[],\"errors\":[]")),
        // It is not used: whoever answers has its keys from the environment.
        "account/login/start" if need(params, "type")? == "apiKey" => Ok("{\"type\":\"apiKey\"}".to_owned()),
        _ => Err(refusal(method, params)?),
    }
}

/// What is told behind the answer.
pub(super) fn told(method: &str) -> &'static [(&'static str, &'static str)] {
    match method {
        "account/login/start" => &[
            ("account/login/completed", "{\"loginId\":null,\"success\":true,\"error\":null}"),
            ("account/updated", "{\"authMode\":\"apikey\",\"planType\":null}"),
        ],
        "account/logout" => &[("account/updated", "{\"authMode\":null,\"planType\":null}")],
        _ => &[],
    }
}

/// In the words in which the program refuses it where it is as here.
fn refusal(method: &str, params: Raw<'_>) -> Result<Wrong, Wrong> {
    Ok(Wrong::request(match method {
        "account/rateLimits/read" => "codex account authentication required to read rate limits".to_owned(),
        "account/usage/read" => "chatgpt authentication required to read token usage".to_owned(),
        "account/login/cancel" => format!("invalid login id: {}", need(params, "loginId")?),
        "getConversationSummary" => format!("no rollout found for conversation id {}", need(params, "conversationId")?),
        "gitDiffToRemote" => format!("failed to compute git diff to remote for cwd: {:?}", need(params, "cwd")?),
        _ => "nobody signs in here: whoever answers has its keys from the environment".to_owned(),
    }))
}

/// What the command line says; nothing else is read.
fn config(launch: &Launch, model: Option<&str>, layers: bool) -> String {
    let policy = Policy::of(launch);
    let nulls = [
        "review_model",
        "model_context_window",
        "model_auto_compact_token_limit",
        "model_auto_compact_token_limit_scope",
        "approvals_reviewer",
        "sandbox_workspace_write",
        "forced_chatgpt_workspace_id",
        "forced_login_method",
        "web_search",
        "tools",
        "instructions",
        "developer_instructions",
        "compact_prompt",
        "model_reasoning_effort",
        "model_reasoning_summary",
        "model_verbosity",
        "service_tier",
        "analytics",
    ];
    let nulls: String = nulls.iter().map(|name| format!(",\"{name}\":null")).collect();
    format!(
        "{{\"config\":{{\"model\":{},\"model_provider\":\"agentglot\",\"approval_policy\":{},\"sandbox_mode\":\"{}\"{nulls}}},\"origins\":{{}},\"layers\":{}}}",
        quoted_or_null(model),
        policy.approval_word(),
        policy.sandbox_word(),
        if layers { "[]" } else { "null" },
    )
}

/// A list with one entry for each folder that is asked about.
fn folders(params: Raw<'_>, launch: &Launch, members: &str) -> String {
    let named = params.get("cwds").into_iter().flat_map(Raw::elements).filter_map(Raw::string);
    let mut folders: Vec<String> = named.map(|folder| folder.unescape().into_owned()).collect();
    if folders.is_empty() {
        folders.extend(launch.cwd.clone());
    }
    let entries: Vec<String> = folders.iter().map(|folder| format!("{{\"cwd\":{},{members}}}", quoted(folder))).collect();
    format!("{{\"data\":[{}]}}", entries.join(","))
}
