//! MCP servers that begin to come up when they are first asked for.

use std::cell::RefCell;

use serde_json::Value;

use super::{Mcp, Options, Server};
use crate::control_requests::HostRequests;

/// The servers of a session.
#[derive(Debug)]
pub(crate) struct McpServers {
    servers: Vec<Server>,
    requests: HostRequests,
    options: Options,
    running: RefCell<Option<Mcp>>,
    /// What the handshake says of them, until it was taken over.
    greeting: RefCell<Option<Value>>,
}

impl McpServers {
    /// These, which may ask the host.
    pub(crate) const fn new(servers: Vec<Server>, requests: HostRequests, options: Options) -> Self {
        Self {
            servers,
            requests,
            options,
            running: RefCell::new(None),
            greeting: RefCell::new(None),
        }
    }

    /// The handshake says this of them.
    pub(crate) fn greet(&self, greeting: Value) {
        self.greeting.replace(Some(greeting));
    }

    /// The servers, which begin to come up when this is called for the first time.
    pub(crate) fn get(&self) -> Mcp {
        let start = || Mcp::start(self.servers.clone(), self.requests.clone(), self.options.clone());
        let mcp = self.running.borrow_mut().get_or_insert_with(start).clone();
        if let Some(greeting) = self.greeting.take()
            && let Err(error) = mcp.initialize(&greeting)
        {
            tracing::warn!("{error}");
        }
        mcp
    }

    /// Those that run, for the session's end.
    pub(crate) fn take(&self) -> Option<Mcp> {
        self.running.take()
    }
}
