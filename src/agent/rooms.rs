//! Requests of the host's that concern permissions, MCP servers, files and sessions.

use std::collections::BTreeMap;
use std::rc::Rc;

use serde_json::Value;

use super::core::Core;
use crate::adapters::event::Request;

/// See [`super::control::request`].
pub fn request(core: &Rc<Core>, id: &str, request: &Request<'_>, members: &BTreeMap<String, Value>) -> bool {
    let _ = (core, id, request, members);
    false
}

/// What the handshake says.
pub fn initialize(core: &Rc<Core>, members: &BTreeMap<String, Value>) {
    let _ = (core, members);
}
