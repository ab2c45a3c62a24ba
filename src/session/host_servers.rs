//! Servers that live in the host, where the agent has a way to them of which its own lines do not tell.

use std::time::Instant;

use serde_json::{Value, json};

use super::Session;
use crate::adapters::raw::event::Session as SessionFacts;
use crate::adapters::raw::event::{At, ControlKind, Event, Field, Kind, Origin, Request};
use crate::adapters::raw::json::{Raw, Str};
use crate::adapters::raw::live::Heard;
use crate::backend::Backend;
use crate::backend::host_servers::{Known, ServerMessage};

impl Session {
    /// The back end has a message for such a server.
    pub fn asks_server(&mut self, message: &ServerMessage, now: Instant, backend: &mut dyn Backend) {
        let (server, text) = (json!(message.server).to_string(), message.message.to_string());
        let field = |key, value| Field {
            at: At::Part("/request"),
            key: Str::trusted(key),
            value: Raw::trusted(value),
            known: true,
        };
        let request = Request {
            id: Some(Str::trusted(&message.id)),
            subtype: Str::trusted("mcp_message"),
            kind: ControlKind::Mcp,
            permission: None,
        };
        let event = Event {
            origin: Origin::default(),
            kind: Kind::Request(&request),
            fields: &[field("server_name", server.as_str()), field("message", text.as_str())],
        };
        self.backend(&Heard::Event(&event), now, backend);
    }
}

/// The tools and the servers of a session, as JSON, with those inside the host.
pub(super) fn facts(session: &SessionFacts<'_>, inside: &[Known]) -> (String, String) {
    let list = |told: Option<Raw<'_>>| -> Vec<Value> {
        let read = told.and_then(|told| serde_json::from_str(told.as_str()).ok());
        read.unwrap_or_default()
    };
    let (mut tools, mut servers) = (list(session.tools), list(session.mcp_servers));
    for known in inside {
        let status = if known.connected { "connected" } else { "failed" };
        servers.retain(|server| server["name"] != known.name);
        servers.push(json!({ "name": known.name, "status": status }));
        for tool in known.tools.iter().map(|tool| json!(tool)) {
            if !tools.contains(&tool) {
                tools.push(tool);
            }
        }
    }
    (Value::Array(tools).to_string(), Value::Array(servers).to_string())
}
