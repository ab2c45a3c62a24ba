//! The command line of the `qwen` program as it ships. Its SDK starts it with `--input-format stream-json --output-format
//! stream-json --channel=SDK` and flags of the table, and never with a prompt.
//! How `qwen` behaves towards its host: docs/qwen-code.md, recorded in `qwen-code/ctl_queries`.

use crate::codec::Dialect;
use crate::codec::{Layout, Mode};
use crate::conduct::{Answer, Conduct, Damage, Ended, Facts, Misread, add_servers, is_result, quoted, refused_request, text};
use crate::event::{ControlKind, Fields, Limit, OutcomeKind, Request};
use crate::json::Raw;
use crate::launch::{Flag, Grammar, Launch, PermissionMode, Program, PromptBy, Traits, shared_flags};

pub(crate) static PROGRAM: Program = Program {
    dialect: Dialect::QwenCode,
    name: "qwen",
    product: "Qwen Code",
    version: super::VERSION,
    grammar: Grammar::Yargs,
    flags: FLAGS,
    commands: shared_flags::COMMANDS,
    closed: false,
    check: |launch, given| shared_flags::check(&PROGRAM, true, launch, given),
    child: &["--input-format=stream-json", "--output-format=stream-json", "--channel=SDK"],
    prompt: PromptBy::Lines,
    permission: PermissionMode::Auto,
    no_prompt: shared_flags::no_prompt,
    no_session: shared_flags::no_session,
    no_key: None,
    links: &["qwen"],
    claims: None,
    backend: &["qwen", "qwen-code"],
    file: "qwen",
    environment: shared_flags::ENVIRONMENT,
    log_in: shared_flags::LOG_IN,
    api: "openai",
    patience: None,
    traits: Traits {
        schema_for_one_prompt: true,
        asks_by_hooks: true,
        greeted_first: true,
        stops_what_runs: true,
        ..shared_flags::TRAITS
    },
    conduct: &Qwen,
};

const FLAGS: &[Flag] = &shared_flags::flags(&["text", "stream-json"], &["text", "json", "stream-json"]);

/// The program itself.
#[derive(Clone, Copy, Debug)]
struct Qwen;

/// Its permission modes.
const MODES: [&str; 5] = ["plan", "default", "auto-edit", "auto", "yolo"];

/// The exit code at the limit of rounds.
const ROUNDS: u8 = 53;
/// The exit code where more calls or time were wanted than the run may have.
const BUDGET: u8 = 55;
const EFFORTS: [&str; 5] = ["low", "medium", "high", "xhigh", "max"];

impl Conduct for Qwen {
    fn version(&self) -> &'static str {
        super::VERSION
    }

    fn refusal(&self, line: Raw<'_>, why: &str) -> Option<String> {
        refused_request(line, why)
    }

    fn ends_turn(&self, line: Raw<'_>) -> bool {
        is_result(line)
    }

    fn answer(&self, request: &Request<'_>, fields: Fields<'_>, facts: &Facts) -> Answer {
        let subtype = request.subtype.unescape();
        let done = |members: &str| Answer::Done(Some(format!("{{\"subtype\":{}{members}}}", quoted(&subtype))));
        match request.kind {
            ControlKind::Initialize => {
                let effort = text(fields, "effort");
                if effort.as_ref().is_some_and(|effort| !EFFORTS.contains(&effort.as_str())) {
                    return Answer::Refused(format!("Invalid effort value. Supported: {}", EFFORTS.join(", ")), None);
                }
                let status = effort.map(|effort| {
                    let effort = quoted(&effort);
                    format!(",\"effort_status\":{{\"effort\":{effort},\"applied\":true,\"override\":null}}")
                });
                return done(&format!(
                    ",\"session_id\":{},\"capabilities\":{{\"can_handle_can_use_tool\":true,\"can_handle_hook_callback\":false,\
                     \"can_set_permission_mode\":true,\"can_set_model\":true,\"can_set_effort\":true,\"can_get_context_usage\":true,\
                     \"can_get_available_models\":true,\"can_get_usage_info\":true,\"can_handle_mcp_message\":true}}{}",
                    quoted(&facts.session),
                    status.unwrap_or_default()
                ));
            }
            ControlKind::Interrupt => return done(""),
            ControlKind::SetModel => {
                return match text(fields, "model").filter(|model| !model.trim().is_empty()) {
                    Some(model) => done(&format!(",\"model\":{}", quoted(&model))),
                    None => Answer::Refused("Invalid model specified for set_model request".to_owned(), None),
                };
            }
            ControlKind::SetMode => {
                let mode = text(fields, "mode").unwrap_or_default();
                return if MODES.contains(&mode.as_str()) {
                    Answer::Done(Some(format!("{{\"status\":\"updated\",\"mode\":{}}}", quoted(&mode))))
                } else {
                    Answer::Refused(format!("Invalid permission mode: {mode}. Valid values are: {}", MODES.join(", ")), None)
                };
            }
            _ => {}
        }
        match &*subtype {
            "supported_commands" => done(",\"commands\":[\"compress\",\"init\",\"summary\"]"),
            "get_context_usage" => {
                let (input, output) = facts.tokens;
                done(&format!(
                    ",\"modelName\":{},\"totalTokens\":{}",
                    quoted(&facts.model),
                    input.saturating_add(output)
                ))
            }
            "mcp_server_status" => done(",\"status\":{}"),
            "get_available_models" => done(",\"models\":[]"),
            "get_usage_info" => {
                let (input, output) = facts.tokens;
                let total = input.saturating_add(output);
                Answer::Done(Some(format!(
                    "{{\"range\":\"today\",\"summary\":{{\"totalTokens\":{total},\"inputTokens\":{input},\"outputTokens\":{output}}},\"models\":[]}}"
                )))
            }
            "set_effort" => {
                let effort = text(fields, "effort").unwrap_or_default();
                if EFFORTS.contains(&effort.as_str()) {
                    done(&format!(",\"effort\":{},\"applied\":true,\"override\":null", quoted(&effort)))
                } else {
                    Answer::Refused(format!("Invalid effort value. Supported: {}", EFFORTS.join(", ")), None)
                }
            }
            "continue_last_turn" => done(",\"accepted\":false,\"interruption\":\"none\""),
            "can_use_tool" => {
                let message = "Tool execution requires manual approval. Update permission mode or approve via host.";
                done(&format!(",\"behavior\":\"deny\",\"message\":{}", quoted(message)))
            }
            _ => Answer::Refused(format!("Unknown control request subtype: {subtype}"), None),
        }
    }

    /// Recorded: `ctl_malformed_first`, `ctl_malformed_after_init`, `ctl_user_bad_shapes`. What is no request is ignored, and what
    /// is no message fails a turn.
    fn damaged(&self, line: &Misread<'_>) -> Damage {
        if line.is("user") {
            return Damage::FailedTurn("Cannot read properties of null (reading 'content')".into());
        }
        if ["control_request", "control_response", "control_cancel_request"]
            .iter()
            .any(|word| line.is(word))
        {
            return Damage::Ignored;
        }
        if line.busy {
            return Damage::Fatal {
                stderr: "Operation cancelled.".to_owned(),
                code: 130,
            };
        }
        Damage::Fatal {
            stderr: format!(
                "An unexpected critical error occurred:\nError: Failed to parse stream-json line: {}",
                line.why
            ),
            code: 1,
        }
    }

    fn needs_type(&self) -> bool {
        true
    }

    fn ignores_empty_prompts(&self) -> bool {
        true
    }

    /// A host that talks over standard input reads results; a single prompt's failure shows in the code. Limits show to both.
    fn exit_code(&self, ended: Ended) -> u8 {
        match ended.outcome {
            Some(OutcomeKind::Limit(Limit::Turns)) => return ROUNDS,
            Some(OutcomeKind::Limit(Limit::Budget | Limit::Time)) => return BUDGET,
            _ => {}
        }
        u8::from(!ended.interactive && ended.is_error)
    }

    /// A failure is no answer: as text it stands on standard error, where `qwen-code/api_401_text` has it.
    fn tells_failures(&self, mode: Mode) -> bool {
        mode.layout != Layout::Text
    }

    fn can_ask(&self) -> bool {
        true
    }

    fn amend(&self, request: &Request<'_>, fields: Fields<'_>, launch: &mut Launch) {
        if request.kind == ControlKind::Initialize {
            add_servers(fields, launch);
        }
    }
}

#[cfg(test)]
mod tests;
