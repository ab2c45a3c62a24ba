//! The connection to a server, whatever it runs over: requests in, answers or the reason why there is none out.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use rmcp::model::{
    CallToolRequestParams, ClientRequest, CustomRequest, ErrorData, GetPromptRequestParams, Implementation, ListPromptsResult, ListResourcesResult,
    ListToolsResult, PaginatedRequestParams, Prompt, ReadResourceRequestParams, Request, RequestOptionalParam, Resource, ServerCapabilities,
    ServerResult, Tool,
};
use rmcp::service::{PeerRequestOptions, RequestHandle, RunningService, ServiceError};
use rmcp::transport::streamable_http_client::StreamableHttpError;
use rmcp::{Peer, RoleClient};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use super::client::{Asking, Client, Heard};
use super::host_link::{HostLink, elicit};
use super::stdio::{Fault, STEPS};
use crate::control_requests::HostRequests;
use agentglot_process::Child;

/// How many pages of a list are read, and how many bytes and entries all of them may have: each tool is told to the model with every request.
const PAGES: usize = 100;
const MOST_LISTED: usize = 32 << 20;
const MOST_ENTRIES: usize = 10_000;

/// Why there is no answer. Each says what happened, without the server's name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Trouble {
    /// The server says that it went wrong.
    #[error("{message}")]
    Refused {
        /// The code of JSON-RPC.
        code: i64,
        /// In its words.
        message: String,
    },
    /// The server is gone.
    #[error("{0}")]
    Gone(String),
    /// It took too long.
    #[error("it did not answer within {}", span(*.0))]
    TimedOut(Duration),
    /// It said something else than what was asked for.
    #[error("its answer to {0} is none: {1}")]
    Nonsense(&'static str, String),
    /// It wants somebody to log in.
    #[error("it wants somebody to log in")]
    NeedsAuth,
}

/// A time in words.
pub(super) fn span(time: Duration) -> String {
    match time.as_millis() {
        millis if millis % 1000 == 0 => format!("{} s", millis / 1000),
        millis => format!("{millis} ms"),
    }
}

/// A connection. Clones are the same one.
#[derive(Clone, Debug)]
pub(super) enum Link {
    /// To a server that rmcp speaks to.
    Remote(Arc<Remote>),
    /// To one that lives in the host.
    Host(Arc<HostLink>),
}

/// A server that rmcp speaks to.
pub(super) struct Remote {
    pub(super) service: RunningService<RoleClient, Client>,
    pub(super) heard: Arc<Heard>,
    pub(super) fault: Fault,
    /// The program, if the server is one of ours.
    pub(super) child: Option<Arc<Child>>,
}

impl fmt::Debug for Remote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Remote").field("fault", &self.fault).finish_non_exhaustive()
    }
}

/// What a server offers.
#[derive(Clone, Debug, Default)]
pub(super) struct Offer {
    pub(super) info: Option<Implementation>,
    pub(super) instructions: Option<String>,
    pub(super) capabilities: ServerCapabilities,
    pub(super) tools: Vec<Tool>,
    pub(super) prompts: Vec<Prompt>,
}

/// What belongs to a request besides what is asked.
#[derive(Clone, Copy)]
pub(super) struct Around<'a> {
    /// The line to the host.
    pub(super) requests: &'a HostRequests,
    /// The server's name.
    pub(super) server: &'a str,
    /// How long the answer may take.
    pub(super) timeout: Duration,
    /// Takes lines of progress.
    pub(super) tell: &'a dyn Fn(&str),
}

impl Link {
    /// To a server in the host, with the id that the first request gets.
    pub(super) fn host(name: &str, first: u64) -> Self {
        Self::Host(Arc::new(HostLink {
            name: name.to_owned(),
            count: AtomicU64::new(first),
            changed: AtomicBool::new(false),
        }))
    }

    /// Whether it is over.
    pub(super) fn is_over(&self) -> bool {
        match self {
            Self::Remote(remote) => remote.service.is_transport_closed() || remote.fault.get().is_some(),
            Self::Host(_) => false,
        }
    }

    /// Why it is over, if that is known.
    pub(super) fn fault(&self) -> Option<String> {
        match self {
            Self::Remote(remote) => remote.fault.get(),
            Self::Host(_) => None,
        }
    }

    /// Whether the server's lists have changed since this was last asked.
    pub(super) fn has_changed(&self) -> bool {
        match self {
            Self::Remote(remote) => &remote.heard.changed,
            Self::Host(host) => &host.changed,
        }
        .swap(false, Ordering::Relaxed)
    }

    /// Ends it, and the program behind it.
    pub(super) async fn stop(&self) {
        if let Self::Remote(remote) = self {
            remote.service.cancellation_token().cancel();
            if let Some(child) = &remote.child {
                child.stop(STEPS).await;
            }
        }
    }

    /// Calls a tool; a server in the host is told `meta` besides. The answer is `tools/call`'s result.
    pub(super) async fn call(&self, tool: &str, arguments: Map<String, Value>, meta: Option<Value>, cx: Around<'_>) -> Result<Value, Trouble> {
        match self {
            Self::Remote(remote) => {
                let params = CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments);
                let request = ClientRequest::CallToolRequest(Request::new(params));
                remote
                    .request("tools/call", request, cx.timeout, cx.tell, remote.ask_host(cx.requests, cx.server))
                    .await
            }
            Self::Host(host) => {
                let mut params = json!({ "name": tool, "arguments": arguments });
                if let Some(meta) = meta {
                    params["_meta"] = meta;
                }
                host.request(cx, "tools/call", params, true).await
            }
        }
    }

    /// A request whose answer comes at once: lists, resources, prompts.
    async fn ask(&self, method: &'static str, params: Value, cx: Around<'_>) -> Result<Value, Trouble> {
        match self {
            Self::Remote(remote) => remote.ask(method, params, cx.timeout).await,
            Self::Host(host) => host.request(cx, method, params, false).await,
        }
    }

    /// Reads what the server offers now.
    pub(super) async fn list(&self, offer: &mut Offer, cx: Around<'_>) -> Result<(), Trouble> {
        list(offer, |method, params| self.ask(method, params, cx)).await
    }

    /// The server's resources.
    pub(super) async fn resources(&self, cx: Around<'_>) -> Result<Vec<Resource>, Trouble> {
        let split = |page: ListResourcesResult| (page.resources, page.next_cursor);
        pages("resources/list", |params| self.ask("resources/list", params, cx), split).await
    }

    /// `resources/read`'s result.
    pub(super) async fn read(&self, uri: &str, cx: Around<'_>) -> Result<Value, Trouble> {
        self.ask("resources/read", json!({ "uri": uri }), cx).await
    }

    /// `prompts/get`'s result.
    pub(super) async fn prompt(&self, name: &str, arguments: Map<String, Value>, cx: Around<'_>) -> Result<Value, Trouble> {
        self.ask("prompts/get", json!({ "name": name, "arguments": arguments }), cx).await
    }
}

/// Reads what a server offers, where it says that it offers such a thing.
pub(super) async fn list<F>(offer: &mut Offer, ask: impl Fn(&'static str, Value) -> F) -> Result<(), Trouble>
where
    F: Future<Output = Result<Value, Trouble>>,
{
    if offer.capabilities.tools.is_some() {
        let split = |page: ListToolsResult| (page.tools, page.next_cursor);
        offer.tools = pages("tools/list", |params| ask("tools/list", params), split).await?;
    }
    if offer.capabilities.prompts.is_some() {
        let split = |page: ListPromptsResult| (page.prompts, page.next_cursor);
        // Prompts are an extra: a server whose prompts cannot be listed still serves.
        offer.prompts = pages("prompts/list", |params| ask("prompts/list", params), split)
            .await
            .unwrap_or_default();
    }
    Ok(())
}

async fn pages<P, T, F>(method: &'static str, ask: impl Fn(Value) -> F, split: impl Fn(P) -> (Vec<T>, Option<String>)) -> Result<Vec<T>, Trouble>
where
    P: DeserializeOwned,
    F: Future<Output = Result<Value, Trouble>>,
{
    let (mut all, mut cursor, mut bytes) = (Vec::new(), None::<String>, 0);
    for _ in 0..PAGES {
        let params = cursor.take().map_or_else(|| json!({}), |cursor| json!({ "cursor": cursor }));
        let page = ask(params).await?;
        bytes += size(&page);
        if bytes > MOST_LISTED {
            return Err(Trouble::Nonsense(method, format!("it has more than {} MiB", MOST_LISTED >> 20)));
        }
        let (more, next) = split(serde_json::from_value(page).map_err(|error| Trouble::Nonsense(method, error.to_string()))?);
        all.extend(more);
        if all.len() > MOST_ENTRIES {
            return Err(Trouble::Nonsense(method, format!("it lists more than {MOST_ENTRIES}")));
        }
        cursor = next.filter(|next| !next.is_empty());
        if cursor.is_none() {
            break;
        }
    }
    Ok(all)
}

/// About how many bytes a value has as text.
fn size(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len() + 2,
        Value::Array(items) => items.iter().map(|item| size(item) + 1).sum::<usize>() + 2,
        Value::Object(members) => members.iter().map(|(name, value)| name.len() + size(value) + 4).sum::<usize>() + 2,
        _ => 4,
    }
}

/// A request in rmcp's words.
fn request(method: &'static str, params: Value) -> Result<ClientRequest, Trouble> {
    fn typed<T: DeserializeOwned>(method: &'static str, params: Value) -> Result<T, Trouble> {
        serde_json::from_value(params).map_err(|error| Trouble::Nonsense(method, error.to_string()))
    }
    let page = |params: &Value| {
        let mut page = PaginatedRequestParams::default();
        page.cursor = params.get("cursor").and_then(Value::as_str).map(str::to_owned);
        Some(page)
    };
    Ok(match method {
        "tools/list" => ClientRequest::ListToolsRequest(paged(page(&params))),
        "prompts/list" => ClientRequest::ListPromptsRequest(paged(page(&params))),
        "resources/list" => ClientRequest::ListResourcesRequest(paged(page(&params))),
        "resources/read" => ClientRequest::ReadResourceRequest(Request::new(typed::<ReadResourceRequestParams>(method, params)?)),
        "prompts/get" => ClientRequest::GetPromptRequest(Request::new(typed::<GetPromptRequestParams>(method, params)?)),
        _ => ClientRequest::CustomRequest(CustomRequest::new(method, Some(params))),
    })
}

fn paged<M: Default>(params: Option<PaginatedRequestParams>) -> RequestOptionalParam<M, PaginatedRequestParams> {
    RequestOptionalParam {
        params,
        ..RequestOptionalParam::default()
    }
}

impl Remote {
    /// A request whose answer comes at once.
    pub(super) async fn ask(&self, method: &'static str, params: Value, timeout: Duration) -> Result<Value, Trouble> {
        self.request(method, request(method, params)?, timeout, |_: &str| {}, std::future::pending())
            .await
    }

    /// A request, with `beside` going on until the answer comes. If its future is dropped, the server is told that nobody waits.
    async fn request(
        &self,
        method: &'static str,
        request: ClientRequest,
        timeout: Duration,
        tell: impl Fn(&str),
        beside: impl Future<Output = ()>,
    ) -> Result<Value, Trouble> {
        let peer: &Peer<RoleClient> = self.service.peer();
        let sent = peer.send_cancellable_request(request, PeerRequestOptions::no_options());
        let handle = sent.await.map_err(|error| self.trouble(method, error))?;
        let (_listening, mut progress) = self.heard.progress(handle.progress_token.clone());
        let mut waiting = Waiting(Some(handle));
        let mut beside = std::pin::pin!(beside);
        let answer = async {
            loop {
                tokio::select! {
                    biased;
                    answer = waiting.answer() => return answer,
                    Some(line) = progress.recv() => tell(&line),
                    // It never ends.
                    () = &mut beside => return Err(ServiceError::TransportClosed),
                }
            }
        };
        let answer = tokio::time::timeout(timeout, answer).await.map_err(|_| Trouble::TimedOut(timeout))?;
        waiting.0 = None;
        let result = answer.map_err(|error| self.trouble(method, error))?;
        match result {
            // Not one of the shapes that rmcp knows: some server's own reading of the protocol.
            ServerResult::CustomResult(result) => Ok(result.0),
            result => serde_json::to_value(result).map_err(|error| Trouble::Nonsense(method, error.to_string())),
        }
    }

    fn trouble(&self, method: &'static str, error: ServiceError) -> Trouble {
        match error {
            ServiceError::McpError(ErrorData { code, message, .. }) => Trouble::Refused {
                code: code.0.into(),
                message: message.into_owned(),
            },
            ServiceError::TransportClosed | ServiceError::Cancelled { .. } => {
                Trouble::Gone(self.fault.get().unwrap_or_else(|| "the connection was closed".to_owned()))
            }
            ServiceError::TransportSend(error) => Trouble::Gone(self.fault.get().unwrap_or_else(|| innermost(&error))),
            other => Trouble::Nonsense(method, other.to_string()),
        }
    }

    /// Puts the server's questions to the host, one after the other, for as long as it is polled.
    async fn ask_host(&self, requests: &HostRequests, server: &str) {
        let mut asks = self.heard.asks.lock().await;
        while let Some(Asking { params, answer }) = asks.recv().await {
            let result = elicit(requests, server, &params).await;
            let result = serde_json::from_value(result).unwrap_or_else(|_| rmcp::model::ElicitResult::new(rmcp::model::ElicitationAction::Decline));
            let _ = answer.send(result);
        }
        // The other end is gone with the connection; the answer says so.
        std::future::pending().await
    }
}

/// The innermost reason of an error, which is the one that says something; without addresses, which may hold secrets.
pub(super) fn innermost(error: &(dyn std::error::Error + 'static)) -> String {
    let mut innermost = error;
    loop {
        // It does not name its source as such.
        let within = match innermost.downcast_ref::<StreamableHttpError<reqwest::Error>>() {
            Some(StreamableHttpError::Client(error)) => Some(error as &(dyn std::error::Error + 'static)),
            _ => innermost.source(),
        };
        match within {
            Some(source) => innermost = source,
            None => break,
        }
    }
    let said = innermost.to_string();
    match said.split_once(" for url (") {
        Some((before, behind)) => format!("{before}{}", behind.split_once(')').map_or("", |(_, rest)| rest)),
        None => said,
    }
}

/// A request that is under way. Dropped, it tells the server that nobody waits any more.
struct Waiting(Option<RequestHandle<RoleClient>>);

impl Waiting {
    async fn answer(&mut self) -> Result<ServerResult, ServiceError> {
        match &mut self.0 {
            Some(handle) => (&mut handle.rx).await.unwrap_or(Err(ServiceError::TransportClosed)),
            None => std::future::pending().await,
        }
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        if let Some(handle) = self.0.take() {
            tokio::spawn(handle.cancel(Some("nobody waits for the answer".to_owned())));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_those_that_rmcp_knows() {
        let said = |method: &'static str, params: Value| serde_json::to_value(request(method, params).unwrap()).unwrap();
        assert_eq!(
            said("resources/read", json!({"uri":"a:b"})),
            json!({"method":"resources/read","params":{"uri":"a:b"}})
        );
        assert_eq!(
            said("tools/list", json!({"cursor":"2"})),
            json!({"method":"tools/list","params":{"cursor":"2"}})
        );
    }
}
