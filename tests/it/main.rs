//! The program from outside, and the library's living parts: one binary, so that everything is linked once. What all tests of a process
//! share (its environment, its folder, its memory) belongs to none of them: a test that needs it runs `support::alone`.

#[cfg(unix)]
mod agent;
#[cfg(unix)]
mod agent_claude;
#[cfg(unix)]
mod agent_claude_lines;
#[cfg(unix)]
mod agent_claude_turns;
#[cfg(target_os = "linux")]
mod agent_commands;
#[cfg(unix)]
mod agent_faults;
#[cfg(unix)]
mod agent_granted;
mod agent_hooks;
#[cfg(target_os = "linux")]
mod agent_leftovers;
#[cfg(target_os = "linux")]
mod agent_limits;
#[cfg(unix)]
mod agent_mcp;
#[cfg(unix)]
mod agent_mcp_sse;
#[cfg(unix)]
mod agent_permissions;
mod agent_qwen_code;
#[cfg(target_os = "linux")]
mod agent_restrictions;
mod agent_run_limits;
#[cfg(target_os = "linux")]
mod agent_secrets;
#[cfg(unix)]
mod agent_sessions;
#[cfg(target_os = "linux")]
mod agent_shows;
#[cfg(unix)]
mod agent_told;
#[cfg(unix)]
mod agent_turns;
#[cfg(unix)]
mod agent_web;
#[cfg(unix)]
mod child;
mod cli_completion;
mod cli_compressed;
mod cli_detect;
mod cli_folders;
mod cli_input;
mod cli_jobs;
mod cli_live;
mod cli_output;
#[cfg(unix)]
mod cli_sessions;
mod cli_sessions_copied;
#[cfg(unix)]
mod cli_sessions_databases;
mod cli_subagents;
mod cli_usage;
mod common;
#[cfg(unix)]
mod cookbook;
mod docs;
#[cfg(unix)]
mod examples;
#[cfg(unix)]
mod fake_agent;
mod installed;
#[cfg(unix)]
mod live;
#[cfg(unix)]
mod mcp_servers;
#[cfg(unix)]
mod model;
#[cfg(unix)]
mod model_faults;
#[cfg(unix)]
mod model_local;
#[cfg(unix)]
mod model_network;
#[cfg(unix)]
mod model_requests;
#[cfg(unix)]
mod model_servers;
mod pages;
mod portable;
#[cfg(unix)]
mod python_types;
mod rfc;
#[cfg(target_os = "linux")]
mod rfc_commands;
#[cfg(target_os = "linux")]
mod rfc_ends;
#[cfg(target_os = "linux")]
mod rfc_faults;
#[cfg(target_os = "linux")]
mod rfc_requests;
#[cfg(unix)]
mod run_acp;
#[cfg(target_os = "linux")]
mod run_acp_agent;
#[cfg(target_os = "linux")]
mod run_acp_client_calls;
#[cfg(target_os = "linux")]
mod run_acp_faults;
#[cfg(target_os = "linux")]
mod run_acp_load;
#[cfg(unix)]
mod run_asks;
#[cfg(unix)]
mod run_codex;
mod run_codex_kept;
mod run_codex_server;
mod run_codex_threads;
mod run_codex_unanswerable;
#[cfg(unix)]
mod run_config;
mod run_damaged;
#[cfg(unix)]
mod run_faults;
#[cfg(unix)]
mod run_gemini;
#[cfg(unix)]
mod run_host;
mod run_host_lines;
#[cfg(target_os = "linux")]
mod run_inside;
#[cfg(unix)]
mod run_launch;
#[cfg(unix)]
mod run_opencode;
#[cfg(unix)]
mod run_plain;
#[cfg(unix)]
mod run_programs;
#[cfg(unix)]
mod run_record;
#[cfg(unix)]
mod run_rfc;
#[cfg(unix)]
mod run_samples;
mod run_served;
#[cfg(target_os = "linux")]
mod run_terminal;
#[cfg(unix)]
mod run_trust;
#[cfg(unix)]
mod run_turns;
#[cfg(unix)]
mod run_unanswerable;
#[cfg(unix)]
mod run_waits;
#[cfg(unix)]
mod sdks;
#[cfg(unix)]
mod show_html;
#[cfg(target_os = "linux")]
mod show_terminal;
#[cfg(unix)]
mod support;
#[cfg(unix)]
mod tracing;
#[cfg(unix)]
mod tricode_scenarios;
#[cfg(unix)]
mod view;
#[cfg(unix)]
mod view_access;
#[cfg(target_os = "linux")]
mod wire;
