//! A server over the session: not yet there, there, gone, switched off.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;

use serde_json::Value;
use tokio::sync::watch;
use tokio::task::AbortHandle;

use super::Inner;
use super::config::{Reach, Server};
use super::connect::{self, Connected};
use super::link::Trouble;

/// How far a server is.
#[derive(Clone, Debug)]
pub(super) enum Phase {
    /// It is being connected to.
    Pending,
    /// It is there.
    Connected(Box<Connected>),
    /// It is not.
    Failed(Trouble),
    /// It is switched off.
    Disabled,
}

/// A server.
#[derive(Debug)]
pub(super) struct Slot {
    pub(super) server: Server,
    /// It came by `mcp_set_servers`.
    pub(super) by_host: Cell<bool>,
    /// What the host said of it beforehand.
    manifest: RefCell<Option<Value>>,
    phase: watch::Sender<Phase>,
    connecting: RefCell<Option<AbortHandle>>,
    /// Servers in the host are greeted once at a time.
    greeting: tokio::sync::Mutex<()>,
}

impl Slot {
    pub(super) fn new(server: Server, manifest: Option<Value>) -> Rc<Self> {
        Rc::new(Self {
            server,
            by_host: Cell::new(false),
            manifest: RefCell::new(manifest),
            phase: watch::Sender::new(Phase::Pending),
            connecting: RefCell::new(None),
            greeting: tokio::sync::Mutex::new(()),
        })
    }

    /// Whether this is what a user or a model calls it.
    pub(super) fn is_named(&self, name: &str) -> bool {
        self.server.name == name
    }

    pub(super) fn phase(&self) -> Phase {
        self.phase.borrow().clone()
    }

    pub(super) fn offers_resources(&self) -> bool {
        matches!(&*self.phase.borrow(), Phase::Connected(connected) if connected.offer.capabilities.resources.is_some())
    }

    /// Begins to connect. A server in the host is greeted by whoever waits for it.
    pub(super) fn begin(&self, inner: &Inner) {
        self.abort();
        self.phase.send_replace(Phase::Pending);
        if self.server.reach == Reach::Host {
            return;
        }
        let (server, options, phase) = (self.server.clone(), Arc::clone(&inner.options), self.phase.clone());
        let task = tokio::spawn(async move {
            let connected = tokio::time::timeout(options.connect, connect::connect(&server, &options)).await;
            let next = match connected.unwrap_or(Err(Trouble::TimedOut(options.connect))) {
                Ok(connected) => Phase::Connected(Box::new(connected)),
                Err(trouble) => {
                    tracing::warn!(server = server.name, "an MCP server is not there: {trouble}");
                    Phase::Failed(trouble)
                }
            };
            phase.send_replace(next);
        });
        *self.connecting.borrow_mut() = Some(task.abort_handle());
    }

    fn abort(&self) {
        if let Some(task) = self.connecting.take() {
            task.abort();
        }
    }

    /// Waits until it is there or is not.
    pub(super) async fn settled(&self, inner: &Inner) -> Phase {
        if self.server.reach == Reach::Host {
            let _one = self.greeting.lock().await;
            if let Phase::Pending = self.phase() {
                let manifest = self.manifest.borrow().clone();
                let greeted = connect::greet(&self.server, manifest.as_ref(), &inner.requests, &inner.options).await;
                let next = greeted.map_or_else(Phase::Failed, |connected| Phase::Connected(Box::new(connected)));
                // Unless it was switched off meanwhile.
                self.phase.send_if_modified(|phase| match phase {
                    Phase::Pending => {
                        *phase = next;
                        true
                    }
                    _ => false,
                });
            }
            return self.phase();
        }
        let mut phase = self.phase.subscribe();
        let settled = phase.wait_for(|phase| !matches!(phase, Phase::Pending)).await;
        // The sender is ours: it cannot be gone.
        settled.map_or(Phase::Pending, |phase| phase.clone())
    }

    /// The connection, begun anew once if it is over.
    pub(super) async fn connection(&self, inner: &Inner) -> Result<Connected, Trouble> {
        match self.phase() {
            Phase::Connected(connected) if connected.link.is_over() => {
                tracing::info!(server = self.server.name, "an MCP server is started anew");
                connected.link.stop().await;
                self.begin(inner);
            }
            Phase::Failed(_) => self.begin(inner),
            _ => {}
        }
        match self.settled(inner).await {
            Phase::Connected(connected) => Ok(*connected),
            Phase::Failed(trouble) => Err(trouble),
            Phase::Disabled => Err(Trouble::Gone("it is switched off".to_owned())),
            Phase::Pending => Err(Trouble::Gone("it is not there yet".to_owned())),
        }
    }

    /// Reads the server's lists again, if it said that they have changed.
    pub(super) async fn refresh(&self, inner: &Inner) {
        let Phase::Connected(mut connected) = self.phase() else { return };
        if !connected.link.has_changed() || connected.link.is_over() {
            return;
        }
        match connected.link.list(&mut connected.offer, inner.around(&self.server.name)).await {
            Ok(()) => {
                self.phase.send_if_modified(|phase| match phase {
                    Phase::Connected(now) => {
                        *now = connected;
                        true
                    }
                    _ => false,
                });
            }
            Err(trouble) => tracing::warn!(server = self.server.name, "what an MCP server offers now is not known: {trouble}"),
        }
    }

    /// Ends the connection. `next`: what the server is then.
    pub(super) async fn stop(&self, next: Phase) {
        self.abort();
        let before = self.phase.send_replace(next);
        if let Phase::Connected(connected) = before {
            connected.link.stop().await;
        }
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.abort();
    }
}
