//! What the host asks and tells of servers on the control channel.

use serde_json::{Value, json};

use super::config::{self, Reach};
use super::link::{Around, Link, Trouble};
use super::slot::Phase;
use super::{Mcp, connect, told, variable};

/// What came of `mcp_set_servers`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Changed {
    /// The servers that are new or have changed.
    pub added: Vec<String>,
    /// Those that are gone.
    pub removed: Vec<String>,
    /// Those that did not come up, and why.
    pub errors: Vec<(String, String)>,
}

impl Mcp {
    /// Answers a control request of the host's that is about servers: `mcp_status`, `mcp_server_status`, `mcp_set_servers`, `mcp_reconnect`,
    /// `mcp_toggle`, `mcp_message`, `mcp_call`, `mcp_read_resource`. `None`: it is about something else. The answer is the `response` of the
    /// success, or the text of the error.
    pub async fn control(&self, subtype: &str, request: &Value) -> Option<Result<Value, String>> {
        let text = |member: &str| {
            let text = request.get(member).and_then(Value::as_str);
            text.ok_or_else(|| format!("{subtype}: {member} must be a string"))
        };
        Some(match subtype {
            "mcp_status" => Ok(self.told()),
            "mcp_server_status" => {
                let status = self
                    .status()
                    .into_iter()
                    .map(|known| (known.name, Value::String(known.status.connection().to_owned())));
                Ok(json!({ "subtype": subtype, "status": status.collect::<serde_json::Map<_, _>>() }))
            }
            "mcp_set_servers" => match request.get("servers") {
                Some(servers) => self.set(servers).await.map(|changed| {
                    let errors = changed.errors.into_iter().map(|(name, why)| (name, Value::String(why)));
                    json!({ "added": changed.added, "removed": changed.removed, "errors": errors.collect::<serde_json::Map<_, _>>() })
                }),
                None => Err(format!("{subtype}: servers must be an object")),
            },
            "mcp_reconnect" => match text("serverName") {
                Ok(name) => self.reconnect(name).await.map(|()| json!({})),
                Err(why) => Err(why),
            },
            "mcp_toggle" => match (text("serverName"), request.get("enabled").and_then(Value::as_bool)) {
                (Ok(name), Some(on)) => self.toggle(name, on).await.map(|()| json!({})),
                (Err(why), _) => Err(why),
                (_, None) => Err(format!("{subtype}: enabled must be a boolean")),
            },
            "mcp_message" => match (text("server_name"), request.get("message")) {
                (Ok(server), Some(message)) => {
                    self.from_host(server, message).await;
                    Ok(json!({}))
                }
                (Err(why), _) => Err(why),
                (_, None) => Err(format!("{subtype}: message must be an object")),
            },
            "mcp_read_resource" => match (text("serverName"), text("uri")) {
                (Ok(server), Ok(uri)) if self.inner.find(server).is_some() => {
                    self.inner.read(server, uri).await.map_err(|trouble| trouble.to_string())
                }
                (Ok(server), Ok(_)) => Err(format!("Server not found: {server}")),
                (Err(why), _) | (_, Err(why)) => Err(why),
            },
            "mcp_call" => match text("tool") {
                Ok(tool) => self.call(tool, request).await,
                Err(why) => Err(why),
            },
            _ => return None,
        })
    }

    /// What `mcp_status` answers.
    pub fn told(&self) -> Value {
        json!({ "mcpServers": self.inner.all().iter().map(|slot| told(slot)).collect::<Vec<_>>() })
    }

    /// `mcp_set_servers`: from now on the host's servers are these. Those of it that came so before and are not named are ended; those of
    /// flags and files stay. It waits until the new ones have come up or have not.
    ///
    /// # Errors
    /// When it is no object of servers by name.
    pub async fn set(&self, servers: &Value) -> Result<Changed, String> {
        let servers = config::of_value(servers, "dynamic", &variable).map_err(|error| error.to_string())?;
        let mut changed = Changed::default();
        for slot in self.inner.all().into_iter().filter(|slot| slot.by_host.get()) {
            if !servers.iter().any(|server| slot.is_named(&server.name)) {
                self.inner.slots.borrow_mut().retain(|known| !known.is_named(&slot.server.name));
                changed.removed.push(slot.server.name.clone());
                slot.stop(Phase::Disabled).await;
            }
        }
        let mut new = Vec::new();
        for server in servers {
            match self.inner.find(&server.name) {
                Some(slot) if slot.server == server => slot.by_host.set(true),
                Some(slot) => {
                    slot.stop(Phase::Disabled).await;
                    new.push(server);
                }
                None => new.push(server),
            }
        }
        let added = self.add(new, None);
        let settled = futures_util::future::join_all(added.iter().map(|slot| slot.settled(&self.inner))).await;
        for (slot, phase) in added.iter().zip(settled) {
            slot.by_host.set(true);
            changed.added.push(slot.server.name.clone());
            if let Phase::Failed(trouble) = phase {
                changed.errors.push((slot.server.name.clone(), trouble.to_string()));
            }
        }
        Ok(changed)
    }

    /// `mcp_reconnect`: ends a server's connection, if there is one, and begins a new one.
    ///
    /// # Errors
    /// When there is no such server or it does not come up.
    pub async fn reconnect(&self, name: &str) -> Result<(), String> {
        let slot = self.inner.find(name).ok_or_else(|| format!("Server not found: {name}"))?;
        slot.stop(Phase::Pending).await;
        slot.begin(&self.inner);
        match slot.settled(&self.inner).await {
            Phase::Failed(trouble) => Err(format!("Failed to reconnect to {name}: {trouble}")),
            _ => Ok(()),
        }
    }

    /// `mcp_toggle`: switches a server off, or on again.
    ///
    /// # Errors
    /// When there is no such server or it does not come up.
    pub async fn toggle(&self, name: &str, on: bool) -> Result<(), String> {
        let slot = self.inner.find(name).ok_or_else(|| format!("Server not found: {name}"))?;
        match (on, slot.phase()) {
            (false, _) => slot.stop(Phase::Disabled).await,
            (true, Phase::Disabled) => return self.reconnect(name).await,
            (true, _) => {}
        }
        Ok(())
    }

    /// A message of a server in the host that is no answer: news of its lists, questions to the user, a ping. Of servers that are not known
    /// nothing becomes.
    pub async fn from_host(&self, server: &str, message: &Value) {
        let Some(slot) = self.inner.find(server).filter(|slot| slot.server.reach == Reach::Host) else {
            return;
        };
        let Phase::Connected(connected) = slot.phase() else { return };
        let Link::Host(link) = &connected.link else { return };
        let Some(method) = message.get("method").and_then(Value::as_str) else {
            return;
        };
        let Some(id) = message.get("id").filter(|id| !id.is_null()) else {
            if method.ends_with("/list_changed") {
                link.changed();
            }
            return;
        };
        let requests = &self.inner.requests;
        let answer = match method {
            "ping" => Ok(json!({})),
            "roots/list" => Ok(json!({ "roots": [{ "uri": connect::address(&self.inner.options.cwd) }] })),
            "elicitation/create" if self.inner.options.asks_user => {
                Ok(super::host_link::elicit(requests, server, message.get("params").unwrap_or(&Value::Null)).await)
            }
            "elicitation/create" => Ok(json!({ "action": "decline" })),
            _ => Err(json!({ "code": -32601, "message": "Method not found" })),
        };
        link.say(
            requests,
            match answer {
                Ok(result) => json!({ "jsonrpc": "2.0", "id": id, "result": result }),
                Err(error) => json!({ "jsonrpc": "2.0", "id": id, "error": error }),
            },
        );
    }

    /// `mcp_call`: a call of the host's own. What comes back is `tools/call`'s result.
    async fn call(&self, name: &str, request: &Value) -> Result<Value, String> {
        let found = self.inner.all().into_iter().find_map(|slot| {
            let (tool, _) = self.inner.specs(&slot).into_iter().find(|(_, spec)| spec.name == name)?;
            Some((slot, tool))
        });
        let Some((slot, tool)) = found else {
            let server = name.strip_prefix("mcp__").and_then(|rest| rest.split("__").next()).unwrap_or(name);
            return Err(format!("MCP server not connected: {server}"));
        };
        let arguments = request.get("arguments").and_then(Value::as_object).cloned().unwrap_or_default();
        let millis = request.get("timeout_ms").and_then(Value::as_u64);
        let around = Around {
            requests: &self.inner.requests,
            server: &slot.server.name,
            timeout: millis.map_or(slot.server.timeout.unwrap_or(self.inner.options.call), std::time::Duration::from_millis),
            tell: &|_| {},
        };
        let result = async { slot.connection(&self.inner).await?.link.call(&tool, arguments, None, around).await };
        result.await.map_err(|trouble: Trouble| trouble.to_string())
    }
}
