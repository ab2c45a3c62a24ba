//! How `claude` behaves towards its host: docs/claude.md, recorded in `claude/probe_control_requests`.

use crate::conduct::{
    Answer, Conduct, Damage, Ended, Facts, Greeting, Misread, add_servers, is_result, member, quoted, refused_request, refused_with_code, text,
};
use crate::event::{ControlKind, Fields, Request};
use crate::json::{Raw, Shape};
use crate::launch::{Launch, Text};

/// The program itself.
#[derive(Clone, Copy, Debug)]
pub(super) struct Claude;

/// Its permission modes.
const MODES: [&str; 6] = ["acceptEdits", "auto", "bypassPermissions", "default", "dontAsk", "plan"];

/// Stands in a system prompt between what may be cached for everybody and the rest; no text for a model.
const BOUNDARY: &str = "__SYSTEM_PROMPT_DYNAMIC_BOUNDARY__";

impl Conduct for Claude {
    fn version(&self) -> &'static str {
        super::super::VERSION
    }

    fn refusal(&self, line: Raw<'_>, why: &str) -> Option<String> {
        refused_request(line, why)
    }

    fn ends_turn(&self, line: Raw<'_>) -> bool {
        is_result(line)
    }

    fn answer(&self, request: &Request<'_>, fields: Fields<'_>, facts: &Facts) -> Answer {
        let subtype = request.subtype.unescape();
        let done = |body: String| Answer::Done(Some(body));
        match request.kind {
            ControlKind::Initialize => return done(self.handshake(facts)),
            ControlKind::Interrupt => return done("{\"still_queued\":[]}".to_owned()),
            ControlKind::SetModel => {
                let model = text(fields, "model").unwrap_or_else(|| facts.first_model.clone());
                return done(format!("{{\"model\":{}}}", quoted(&model)));
            }
            ControlKind::SetMode => {
                let mode = text(fields, "mode").unwrap_or_default();
                // Another name for it.
                let mode = if mode == "manual" { "default".to_owned() } else { mode };
                return if MODES.contains(&mode.as_str()) {
                    done(format!("{{\"mode\":{}}}", quoted(&mode)))
                } else {
                    let why = format!("Cannot set permission mode: must be one of {}", MODES.join(", "));
                    Answer::Refused(why, Some("invalid_mode"))
                };
            }
            _ => {}
        }
        match &*subtype {
            "set_max_thinking_tokens"
            | "set_has_subscribers"
            | "seed_read_state"
            | "apply_flag_settings"
            | "rename_session"
            | "end_session"
            | "mcp_message" => Answer::Done(None),
            "background_tasks" if text(fields, "tool_use_id").is_some() => done("{\"backgrounded\":false}".to_owned()),
            "stop_task" | "background_tasks" | "update_settings" => done("{}".to_owned()),
            "mcp_status" => {
                let servers = if facts.mcp_servers.is_empty() { "[]" } else { &facts.mcp_servers };
                done(format!("{{\"mcpServers\":{servers}}}"))
            }
            "mcp_set_servers" => done("{\"added\":[],\"removed\":[],\"errors\":{}}".to_owned()),
            "cancel_async_message" => done("{\"cancelled\":false}".to_owned()),
            "file_suggestions" => done(format!("{{\"suggestions\":[],\"cwd\":{}}}", quoted(&facts.cwd))),
            "generate_session_title" => done("{\"title\":null}".to_owned()),
            "list_models" => done(format!("{{\"models\":{}}}", models(facts))),
            "get_binary_version" => done(format!("{{\"version\":\"{}\"}}", self.version())),
            "get_context_usage" => done(context(facts)),
            "get_settings" => done(format!(
                "{{\"effective\":{{}},\"sources\":[],\"applied\":{{\"model\":{}}}}}",
                quoted(&facts.model)
            )),
            "list_permission_rules" => done(format!(
                "{{\"state\":{{\"rules\":[],\"workspaceDirectories\":[],\"originalCwd\":{},\"managedOnly\":false}}}}",
                quoted(&facts.cwd)
            )),
            "rewind_files" => Answer::Refused("File rewinding is not enabled.".to_owned(), None),
            "mcp_call" => Answer::Refused(format!("MCP server not connected: {}", text(fields, "tool").unwrap_or_default()), None),
            "mcp_reconnect" | "mcp_toggle" => {
                let name = text(fields, "serverName").unwrap_or_default();
                Answer::Refused(format!("Server not found: {name}"), None)
            }
            _ => Answer::Refused(unsupported(&subtype), Some("unsupported_request")),
        }
    }

    /// Recorded: `stdin_bad_json`, `stdin_user_no_message`, `stdin_user_wrong_role`, `stdin_control_no_request`. A stray answer does no
    /// harm.
    fn damaged(&self, line: &Misread<'_>) -> Damage {
        let stderr = match line.json {
            Some(json) if line.is("user") => {
                let role = json.get("message").and_then(|message| message.get("role")).and_then(Raw::string);
                let role = role.map_or_else(|| "undefined".to_owned(), |role| role.unescape().into_owned());
                if role == "user" {
                    // The program says nothing at all, and its host waits.
                    return Damage::FailedTurn(format!("the prompt cannot be read: {}", line.why).into());
                }
                format!("Error: Expected message role 'user', got '{role}'")
            }
            Some(json) if line.is("control_request") => match json.get("request").filter(|request| !request.is_null()) {
                Some(request) => {
                    let subtype = request.get("subtype");
                    let text = subtype.and_then(Raw::string).map(|subtype| subtype.unescape().into_owned());
                    let subtype = text.unwrap_or_else(|| subtype.map_or("undefined", |subtype| subtype.as_str()).to_owned());
                    return refused_with_code(json, &unsupported(&subtype), Some("unsupported_request")).map_or(Damage::Ignored, Damage::Answered);
                }
                None => "Error: Missing request on control_request".to_owned(),
            },
            Some(_) => return Damage::Ignored,
            None if line.text.is_empty() => format!("Error parsing streaming input line: {}", line.why),
            None => format!(
                "Error parsing streaming input line (type=unknown, {} chars): SyntaxError",
                line.text.chars().count()
            ),
        };
        Damage::Fatal { stderr, code: 1 }
    }

    fn takes_any_bytes(&self) -> bool {
        true
    }

    /// Recorded: `probe_user_uuid_twice`.
    fn drops_repeated_prompts(&self) -> bool {
        true
    }

    /// A hook that guards a call and is an error forbids nothing (2.1.332). The words are those with which the program itself refuses a call that
    /// nobody can be asked about.
    fn unheard(&self, request: &Request<'_>, fields: Fields<'_>) -> Option<&'static str> {
        const NO: &str = r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"The user doesn't want to take this action right now. STOP what you are doing and wait for the user to tell you how to proceed."}}"#;
        let input = fields.iter().find(|field| field.key.is("input"));
        let event = input.and_then(|field| field.value.get("hook_event_name")?.string());
        event
            .filter(|event| request.kind == ControlKind::Hook && event.is("PreToolUse"))
            .map(|_| NO)
    }

    fn ill_typed(&self, request: &Request<'_>, fields: Fields<'_>) -> Option<&'static str> {
        ill_typed(&request.subtype.unescape(), fields)
    }

    fn ends_session(&self, request: &Request<'_>) -> bool {
        request.subtype.is("end_session")
    }

    fn answers_nameless(&self) -> bool {
        true
    }

    /// The last result decides; a turn that was stopped by the host fails like any other that is last.
    fn exit_code(&self, ended: Ended) -> u8 {
        u8::from(ended.is_error)
    }

    fn interrupted(&self) -> Option<u8> {
        Some(0)
    }

    /// What the program says of a model that was chosen stands in the conversation.
    fn is_said(&self, line: Raw<'_>) -> bool {
        line.get("type").and_then(Raw::string).is_some_and(|word| word.is("user"))
    }

    fn tells_no_session(&self) -> bool {
        true
    }

    fn can_ask(&self) -> bool {
        true
    }

    fn withdraws(&self) -> bool {
        true
    }

    fn declared_agents(&self, request: &Request<'_>, fields: Fields<'_>) -> Option<Vec<String>> {
        let agents = || member(fields, "agents").into_iter().flat_map(Raw::members);
        (request.kind == ControlKind::Initialize).then(|| agents().map(|(name, _)| name.unescape().into_owned()).collect())
    }

    /// The TypeScript SDK says here what the Python SDK says on the command line.
    fn amend(&self, request: &Request<'_>, fields: Fields<'_>, launch: &mut Launch) {
        if request.kind != ControlKind::Initialize {
            return;
        }
        if let Some(prompt) = member(fields, "systemPrompt").filter(|prompt| !prompt.is_null()) {
            let parts: Vec<String> = std::iter::once(prompt)
                .chain(prompt.elements())
                .filter_map(Raw::string)
                .filter(|part| !part.is(BOUNDARY))
                .map(|part| part.unescape().into_owned())
                .collect();
            launch.system.replace = Some(Text::Here(parts.join("\n\n")));
        }
        if let Some(more) = text(fields, "appendSystemPrompt") {
            launch.system.append = Some(Text::Here(more));
        }
        if let Some(schema) = member(fields, "jsonSchema").filter(|schema| !schema.is_null()) {
            launch.json_schema = Some(schema.as_str().to_owned());
        }
        add_servers(fields, launch);
    }
}

impl Claude {
    /// The answer to `initialize`: the members that the SDKs read, and those that a program which is no Claude knows.
    fn handshake(&self, facts: &Facts) -> String {
        let agents: Vec<String> = facts
            .agents
            .iter()
            .map(|name| format!("{{\"name\":{},\"description\":\"\"}}", quoted(name)))
            .collect();
        let mode = if facts.permission_mode.is_empty() {
            "default"
        } else {
            &facts.permission_mode
        };
        let known = facts.greeting.clone().unwrap_or_else(|| Greeting {
            commands: "[]".to_owned(),
            agents: format!("[{}]", agents.join(",")),
            models: models(facts),
            key_source: String::new(),
            output_style: "default".to_owned(),
            output_styles: vec!["default".to_owned()],
        });
        let styles: Vec<String> = known.output_styles.iter().map(|name| quoted(name)).collect();
        format!(
            "{{\"commands\":{},\"agents\":{},\"output_style\":{},\"available_output_styles\":[{}],\"models\":{},\
             \"account\":{{\"tokenSource\":\"none\",\"apiKeySource\":{}}},\"pid\":{},\"claude_code_version\":\"{}\",\
             \"current_permission_mode\":{},\"session_state\":\"{}\",\"capabilities\":[]}}",
            known.commands,
            known.agents,
            quoted(&known.output_style),
            styles.join(","),
            known.models,
            quoted(if known.key_source.is_empty() { "none" } else { &known.key_source }),
            facts.pid,
            self.version(),
            quoted(mode),
            if facts.busy { "running" } else { "idle" },
        )
    }
}

fn unsupported(subtype: &str) -> String {
    format!("Unsupported control request subtype: {subtype}")
}

/// Why a request is refused of which a member is of another type (2.1.332).
fn ill_typed(subtype: &str, fields: Fields<'_>) -> Option<&'static str> {
    let given = |name: &str| member(fields, name).filter(|value| !value.is_null());
    let is = |value: Raw<'_>, shape: Shape| value.shape() == Some(shape);
    let strings = |value: Raw<'_>| is(value, Shape::Array) && value.elements().all(|one| is(one, Shape::String));
    let matcher = |value: Raw<'_>| {
        let pattern = value.get("matcher").filter(|pattern| !pattern.is_null());
        pattern.is_none_or(|pattern| is(pattern, Shape::String)) && value.get("hookCallbackIds").is_some_and(strings)
    };
    let hooks = |value: Raw<'_>| {
        let mut events = value.members();
        is(value, Shape::Object) && events.all(|(_, matchers)| is(matchers, Shape::Array) && matchers.elements().all(matcher))
    };
    let is_wrong = |name: &str, sound: &dyn Fn(Raw<'_>) -> bool| given(name).is_some_and(|value| !sound(value));
    Some(match subtype {
        "set_model" if is_wrong("model", &|model| is(model, Shape::String)) => "set_model: model must be a string",
        "initialize" if is_wrong("hooks", &hooks) => {
            "initialize: hooks must map hook events to arrays of matchers carrying hookCallbackIds arrays and string matchers"
        }
        "initialize" if is_wrong("sdkMcpServers", &strings) || is_wrong("webSearchIsolationExemptMcpServers", &strings) => {
            "initialize: sdkMcpServers and webSearchIsolationExemptMcpServers must be arrays of strings"
        }
        "set_max_thinking_tokens" if is_wrong("max_thinking_tokens", &|most| most.as_str().parse::<i64>().is_ok()) => {
            "set_max_thinking_tokens: max_thinking_tokens must be an integer or null"
        }
        "apply_flag_settings" if !given("settings").is_some_and(|settings| is(settings, Shape::Object)) => {
            "apply_flag_settings requires `settings` to be an object"
        }
        "stop_task" if !given("task_id").is_some_and(|id| is(id, Shape::String)) => "stop_task: task_id must be a string",
        _ => return None,
    })
}

/// The models on offer: the one that is set, under the name that stands for it.
fn models(facts: &Facts) -> String {
    let name = if facts.model.is_empty() { "default" } else { &facts.model };
    format!("[{{\"value\":\"default\",\"displayName\":{0},\"description\":{0}}}]", quoted(name))
}

/// What fills the context, as far as the tokens of the session tell.
fn context(facts: &Facts) -> String {
    let (input, output) = facts.tokens;
    let total = input.saturating_add(output);
    format!(
        "{{\"categories\":[{{\"id\":\"messages\",\"name\":\"Messages\",\"tokens\":{total},\"color\":\"purple_FOR_SUBAGENTS_ONLY\",\"kind\":\"used\"}}],\
         \"totalTokens\":{total},\"model\":{}}}",
        quoted(&facts.model)
    )
}
