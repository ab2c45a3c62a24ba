//! A server that lives in the host: spoken to over the control channel.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use serde_json::{Value, json};

use super::link::{Around, Trouble};
use crate::control_requests::{HostRequests, Question, Unanswered};
use agentglot_adapters::raw::event::ControlKind;

/// A server that lives in the host.
#[derive(Debug)]
pub(super) struct HostLink {
    pub(super) name: String,
    pub(super) count: AtomicU64,
    pub(super) changed: AtomicBool,
}

impl HostLink {
    /// One request. If its future is dropped, the question is taken back; `cancels`: and the server is told.
    pub(super) async fn request(&self, cx: Around<'_>, method: &'static str, params: Value, cancels: bool) -> Result<Value, Trouble> {
        let id = self.count.fetch_add(1, Ordering::Relaxed);
        let message = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        let mut given_up = GivenUp {
            link: self,
            requests: cx.requests,
            id: cancels.then_some(id),
        };
        let asked = tokio::time::timeout(cx.timeout, cx.requests.ask(self.question(message)));
        let answer = asked.await.map_err(|_| Trouble::TimedOut(cx.timeout))?;
        given_up.id = None;
        let mut answer = answer.map_err(|unanswered| match unanswered {
            Unanswered::Failed(message) => Trouble::Refused { code: -32603, message },
            Unanswered::Gone => Trouble::Gone("the host did not answer".to_owned()),
        })?;
        match answer.get_mut("mcp_response").map(Value::take) {
            Some(response) => result(method, response),
            None => Err(Trouble::Nonsense(method, "there is no mcp_response".to_owned())),
        }
    }

    /// Says something that has no answer.
    pub(super) fn notify(&self, requests: &HostRequests, method: &str, params: Option<Value>) {
        let mut message = json!({ "jsonrpc": "2.0", "method": method });
        if let Some(params) = params {
            message["params"] = params;
        }
        self.say(requests, message);
    }

    /// Says a message, such as the answer to a request of the server's own.
    pub(super) fn say(&self, requests: &HostRequests, message: Value) {
        requests.say(self.question(message));
    }

    /// The server's lists are no longer what they were.
    pub(super) fn changed(&self) {
        self.changed.store(true, Ordering::Relaxed);
    }

    fn question(&self, message: Value) -> Question {
        Question {
            kind: ControlKind::Mcp,
            subtype: "mcp_message".to_owned(),
            permission: None,
            fields: vec![
                ("server_name".to_owned(), Value::String(self.name.clone())),
                ("message".to_owned(), message),
            ],
        }
    }
}

/// Tells a server in the host that nobody waits any more.
struct GivenUp<'a> {
    link: &'a HostLink,
    requests: &'a HostRequests,
    id: Option<u64>,
}

impl Drop for GivenUp<'_> {
    fn drop(&mut self) {
        if let Some(id) = self.id {
            let params = json!({ "requestId": id, "reason": "nobody waits for the answer" });
            self.link.notify(self.requests, "notifications/cancelled", Some(params));
        }
    }
}

/// The result in a JSON-RPC response.
fn result(method: &'static str, mut response: Value) -> Result<Value, Trouble> {
    if let Some(error) = response.get("error").filter(|error| !error.is_null()) {
        return Err(Trouble::Refused {
            code: error.get("code").and_then(Value::as_i64).unwrap_or(-32603),
            message: error
                .get("message")
                .and_then(Value::as_str)
                .map_or_else(|| error.to_string(), str::to_owned),
        });
    }
    match response.get_mut("result").map(Value::take) {
        Some(result) => Ok(result),
        None => Err(Trouble::Nonsense(method, "there is neither a result nor an error".to_owned())),
    }
}

/// Puts `elicitation/create` to the host. What comes back is the answer for the server; without one it is declined.
pub(super) async fn elicit(requests: &HostRequests, server: &str, params: &Value) -> Value {
    let mut fields = vec![("mcp_server_name".to_owned(), Value::String(server.to_owned()))];
    let schema = params.get("requestedSchema");
    for (theirs, ours) in [
        ("message", "message"),
        ("mode", "mode"),
        ("url", "url"),
        ("elicitationId", "elicitation_id"),
        ("requestedSchema", "requested_schema"),
    ] {
        if let Some(value) = params.get(theirs) {
            fields.push((ours.to_owned(), value.clone()));
        }
    }
    if let Some(properties) = schema.and_then(|schema| schema.get("properties")).and_then(Value::as_object) {
        let order = properties.keys().cloned().map(Value::String).collect();
        fields.push(("property_order".to_owned(), Value::Array(order)));
    }
    let asked = requests.ask(Question {
        kind: ControlKind::Confirm,
        subtype: "elicitation".to_owned(),
        permission: None,
        fields,
    });
    match asked.await {
        Ok(answer) if answer.get("action").is_some_and(Value::is_string) => answer,
        _ => json!({ "action": "decline" }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn responses_hold_a_result_or_say_why_not() {
        let result = |text: &str| result("x", serde_json::from_str(text).unwrap());
        assert_eq!(result(r#"{"jsonrpc":"2.0","id":1,"result":{"a":1}}"#), Ok(json!({"a":1})));
        assert_eq!(
            result(r#"{"id":1,"error":{"code":-32601,"message":"Method not found"}}"#),
            Err(Trouble::Refused {
                code: -32601,
                message: "Method not found".to_owned()
            })
        );
        assert!(matches!(result("{}"), Err(Trouble::Nonsense(..))));
        assert!(matches!(result(r#"{"error":"no"}"#), Err(Trouble::Refused { .. })));
    }
}
