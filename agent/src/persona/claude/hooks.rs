//! Claude Code's hooks.

use crate::hooks::{HookEvent, HookForm};

pub(super) static HOOKS: HookForm = HookForm {
    names: &[
        (HookEvent::PreToolUse, "PreToolUse"),
        (HookEvent::PostToolUse, "PostToolUse"),
        (HookEvent::PostToolUseFailure, "PostToolUseFailure"),
        (HookEvent::PostToolBatch, "PostToolBatch"),
        (HookEvent::UserPromptSubmit, "UserPromptSubmit"),
        (HookEvent::Stop, "Stop"),
        (HookEvent::StopFailure, "StopFailure"),
        (HookEvent::SubagentStart, "SubagentStart"),
        (HookEvent::SubagentStop, "SubagentStop"),
        (HookEvent::PreCompact, "PreCompact"),
        (HookEvent::Notification, "Notification"),
        (HookEvent::SessionStart, "SessionStart"),
        (HookEvent::SessionEnd, "SessionEnd"),
        (HookEvent::PermissionRequest, "PermissionRequest"),
    ],
    aliases: &[("Task", "Agent"), ("Agent", "Task")],
    counts_milliseconds: false,
    has_time: false,
    takes_callbacks: true,
    defers: true,
    beside_host: true,
    stops_behind_calls: true,
    names_speakers: true,
    stop_cap_variable: Some("CLAUDE_CODE_STOP_HOOK_BLOCK_CAP"),
    project_variable: "CLAUDE_PROJECT_DIR",
    agent: "Claude",
};
