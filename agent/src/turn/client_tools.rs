//! Tools that the host runs, for the prompt in work (the RFC's `tools` and `tool_overrides`).

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use async_trait::async_trait;
use serde_json::Value;
use tokio::sync::oneshot;

use crate::permissions::Policy;
use crate::tools::{Cx, Given, Spec, Tool};

/// The host's tools, and the calls that it works on.
#[derive(Debug, Default)]
pub(crate) struct ClientTools {
    specs: RefCell<Vec<Spec>>,
    /// The only tools of the prompt in work, as the host calls them.
    only: RefCell<Option<Vec<String>>>,
    /// Calls that the host runs.
    calls: RefCell<HashMap<String, oneshot::Sender<Given>>>,
}

impl ClientTools {
    /// These are there for the prompt that begins, and, if some are named, no others than those.
    pub(crate) fn set(&self, specs: Vec<Spec>, only: Option<Vec<String>>) {
        self.specs.replace(specs);
        self.only.replace(only);
    }

    /// The prompt is answered.
    pub(crate) fn clear(&self) {
        self.set(Vec::new(), None);
        self.calls.borrow_mut().clear();
    }

    /// Adds them to the others, and leaves those that the prompt may use.
    pub(crate) fn join(self: &Rc<Self>, tools: &mut Vec<Rc<dyn Tool>>, policy: &RefCell<Policy>) {
        let hosts = self.specs.borrow();
        tools.retain(|tool| !hosts.iter().any(|spec| spec.name == tool.spec().name));
        for spec in hosts.iter() {
            tools.push(Rc::new(ClientTool {
                spec: spec.clone(),
                client: Rc::clone(self),
            }));
        }
        if let Some(only) = &*self.only.borrow() {
            let specs: Vec<&Spec> = tools.iter().map(|tool| tool.spec()).collect();
            policy.borrow_mut().restrict(only, &specs);
        }
    }

    /// The host has run a tool. Returns whether a call waits for this.
    pub(crate) fn answer(&self, call: &str, parts: &Value) -> bool {
        let Some(waiting) = self.calls.borrow_mut().remove(call) else {
            return false;
        };
        let mut text = String::new();
        let mut failed = false;
        for part in parts.as_array().map(Vec::as_slice).unwrap_or_default() {
            if let Some(more) = part.get("text").and_then(Value::as_str) {
                text.push_str(more);
                continue;
            }
            let Some(response) = part.get("function_response").or_else(|| part.get("functionResponse")) else {
                continue;
            };
            let response = response.get("response").unwrap_or(response);
            let output = response.get("output").or_else(|| response.get("result"));
            match (response, output.and_then(Value::as_str), response.get("error")) {
                (_, _, Some(error)) => {
                    failed = true;
                    text.push_str(error.as_str().unwrap_or(&error.to_string()));
                }
                (Value::String(said), ..) => text.push_str(said),
                (_, Some(said), _) => text.push_str(said),
                (other, ..) => text.push_str(&other.to_string()),
            }
        }
        waiting.send(if failed { Given::error(text) } else { Given::text(text) }).is_ok()
    }
}

/// A tool that the host runs: the call goes out as any other, and its result comes as a request of origin `tool_response`.
#[derive(Debug)]
struct ClientTool {
    spec: Spec,
    client: Rc<ClientTools>,
}

#[async_trait(?Send)]
impl Tool for ClientTool {
    fn spec(&self) -> &Spec {
        &self.spec
    }

    async fn run(&self, _: &Value, cx: &Cx<'_>) -> Given {
        let (give, take) = oneshot::channel();
        self.client.calls.borrow_mut().insert(cx.call.to_owned(), give);
        let given = tokio::select! {
            biased;
            () = cx.cancel.cancelled() => Given::error("Request cancelled."),
            given = take => given.unwrap_or_else(|_| Given::error("the host did not answer")),
        };
        self.client.calls.borrow_mut().remove(cx.call);
        given
    }
}
