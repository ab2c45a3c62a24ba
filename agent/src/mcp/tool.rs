//! A server's tool as the loop sees it, and the two tools for resources.

use std::rc::Rc;

use async_trait::async_trait;
use serde_json::{Map, Value, json};

use super::content;
use super::link::{Around, Trouble};
use super::slot::Slot;
use super::{Inner, Naming};
use crate::model::message::Part;
use crate::tools::{Access, Cx, Given, Progress, Spec, Tool};
use agentglot_adapters::raw::event::ToolKind;

/// A tool of a server's.
#[derive(Debug)]
pub(super) struct McpTool {
    pub(super) inner: Rc<Inner>,
    pub(super) slot: Rc<Slot>,
    /// What the server calls it.
    pub(super) tool: String,
    pub(super) spec: Spec,
}

#[async_trait(?Send)]
impl Tool for McpTool {
    fn spec(&self) -> &Spec {
        &self.spec
    }

    fn access(&self, _: &Value) -> Access {
        Access::Mcp
    }

    async fn run(&self, input: &Value, cx: &Cx<'_>) -> Given {
        let arguments = match input {
            Value::Object(arguments) => arguments.clone(),
            Value::Null => Map::new(),
            _ => return failed(&self.inner, "The arguments of a tool are an object."),
        };
        let name = &self.slot.server.name;
        let tell = |line: &str| (cx.tell)(Progress::Stdout(line.as_bytes()));
        let call = async {
            let connected = self.slot.connection(&self.inner).await?;
            let around = Around {
                requests: &self.inner.requests,
                server: name,
                timeout: self.slot.server.timeout.unwrap_or(self.inner.options.call),
                tell: &tell,
            };
            let meta = self.inner.options.naming.call_meta.map(|name| json!({ name: cx.call }));
            connected.link.call(&self.tool, arguments, meta, around).await
        };
        tokio::select! {
            biased;
            () = cx.cancel.cancelled() => failed(&self.inner, "The call was interrupted."),
            result = call => match result {
                Ok(result) => content::given(&result, self.inner.options.naming, self.inner.store(&cx.world.scratch, cx.call, name)),
                Err(trouble) => failed(&self.inner, &told(name, &trouble)),
            },
        }
    }
}

/// What the model reads of a call that the server did not answer.
fn told(server: &str, trouble: &Trouble) -> String {
    match trouble {
        Trouble::Refused { code, message } => format!("MCP error {code}: {message}"),
        trouble => format!("The MCP server {server} gave no answer: {trouble}"),
    }
}

fn failed(inner: &Inner, why: &str) -> Given {
    let given = Given::error(why);
    inner.options.naming.typed(given, Value::String(format!("Error: {why}")))
}

/// Lists the resources of all servers, or of one.
#[derive(Debug)]
pub(super) struct ListResources {
    inner: Rc<Inner>,
    spec: Spec,
}

impl ListResources {
    pub(super) fn new(inner: Rc<Inner>) -> Self {
        let spec = Spec {
            name: inner.options.naming.list.to_owned(),
            description: "Lists the resources that the connected MCP servers offer: a list of objects with the server's name, the URI, and \
                          what the server says of each. `server` names one server whose resources alone are wanted."
                .to_owned(),
            schema: json!({"type":"object","properties":{"server":{"type":"string","description":"Only the resources of this server"}},"additionalProperties":false}),
            kind: ToolKind::Mcp,
            reads_only: true,
            ..Spec::default()
        };
        Self { inner, spec }
    }
}

#[async_trait(?Send)]
impl Tool for ListResources {
    fn spec(&self) -> &Spec {
        &self.spec
    }

    async fn run(&self, input: &Value, cx: &Cx<'_>) -> Given {
        let wanted = input.get("server").and_then(Value::as_str);
        let slots: Vec<Rc<Slot>> = self
            .inner
            .slots
            .borrow()
            .iter()
            .filter(|slot| wanted.is_none_or(|name| slot.is_named(name)))
            .cloned()
            .collect();
        if let (Some(name), true) = (wanted, slots.is_empty()) {
            return failed(&self.inner, &self.inner.no_server(name));
        }
        let lists = slots.iter().filter(|slot| slot.offers_resources()).map(|slot| async move {
            let connected = slot.connection(&self.inner).await?;
            let resources = connected.link.resources(self.inner.around(&slot.server.name)).await?;
            Ok::<_, Trouble>(
                resources
                    .into_iter()
                    .filter_map(|resource| {
                        let mut resource = serde_json::to_value(resource).ok()?;
                        resource["server"] = Value::String(slot.server.name.clone());
                        Some(resource)
                    })
                    .collect::<Vec<Value>>(),
            )
        });
        tokio::select! {
            biased;
            () = cx.cancel.cancelled() => failed(&self.inner, "The call was interrupted."),
            lists = futures_util::future::join_all(lists) => {
                // A server that does not answer hides only its own.
                let all = Value::Array(lists.into_iter().filter_map(Result::ok).flatten().collect());
                let text = if all == json!([]) { "No resources found.".to_owned() } else { all.to_string() };
                let given = Given::text(text);
                self.inner.options.naming.typed(given, all)
            }
        }
    }
}

/// Reads a resource of a server's.
#[derive(Debug)]
pub(super) struct ReadResource {
    inner: Rc<Inner>,
    spec: Spec,
    /// The argument that names the server.
    server: &'static str,
}

impl ReadResource {
    pub(super) fn new(inner: Rc<Inner>) -> Self {
        let Naming { read: name, server, .. } = inner.options.naming;
        let spec = Spec {
            name: name.to_owned(),
            description: "Reads one resource of a connected MCP server, by the server's name and the resource's URI.".to_owned(),
            schema: json!({
                "type":"object",
                "properties":{
                    server:{"type":"string","description":"The name of the server"},
                    "uri":{"type":"string","description":"The URI of the resource"}
                },
                "required":[server,"uri"],
                "additionalProperties":false
            }),
            kind: ToolKind::Mcp,
            reads_only: true,
            ..Spec::default()
        };
        Self { inner, spec, server }
    }
}

#[async_trait(?Send)]
impl Tool for ReadResource {
    fn spec(&self) -> &Spec {
        &self.spec
    }

    fn access(&self, _: &Value) -> Access {
        Access::Mcp
    }

    async fn run(&self, input: &Value, cx: &Cx<'_>) -> Given {
        let argument = |name: &str| input.get(name).and_then(Value::as_str);
        let (Some(server), Some(uri)) = (argument(self.server), argument("uri")) else {
            return failed(&self.inner, &format!("{} and uri are needed, both as text.", self.server));
        };
        let read = self.inner.read(server, uri);
        tokio::select! {
            biased;
            () = cx.cancel.cancelled() => failed(&self.inner, "The call was interrupted."),
            result = read => match result {
                Ok(result) => {
                    let store = self.inner.store(&cx.world.scratch, cx.call, server);
                    let contents = result.get("contents").and_then(Value::as_array).cloned().unwrap_or_default();
                    let blocks: Vec<Value> = contents.into_iter().map(|resource| json!({"type":"resource","resource":resource})).collect();
                    let mut given = content::given(&json!({ "content": blocks }), self.inner.options.naming, store);
                    if blocks.is_empty() {
                        given.content = vec![Part::Text("The resource is empty.".to_owned())];
                    }
                    given
                }
                Err(Trouble::Nonsense("", why)) => failed(&self.inner, &why),
                Err(trouble) => failed(&self.inner, &told(server, &trouble)),
            },
        }
    }
}
