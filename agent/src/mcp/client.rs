//! What we are to a server: it may ask for our folders and put questions to the user; what it says beside its answers is kept briefly.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use rmcp::model::{
    ClientCapabilities, ClientConfig, ElicitRequestParams, ElicitResult, ElicitationAction, ErrorData, Implementation, ProgressNotificationParam,
    ProgressToken,
};
use rmcp::service::{NotificationContext, RequestContext};
use rmcp::{ClientHandler, RoleClient};
use serde_json::Value;
use tokio::sync::{mpsc, oneshot};

/// How many lines of progress wait for whoever shows them; more are left out.
const PROGRESS: usize = 16;

/// A question of a server's to the user.
#[derive(Debug)]
pub(super) struct Asking {
    /// `params` of `elicitation/create`.
    pub(super) params: Value,
    /// Takes the answer.
    pub(super) answer: oneshot::Sender<ElicitResult>,
}

/// What a server said beside its answers.
#[derive(Debug)]
pub(super) struct Heard {
    /// Its lists are no longer what they were.
    pub(super) changed: AtomicBool,
    /// Its questions to the user. Whoever waits for an answer of the server's puts them to the host.
    pub(super) asks: tokio::sync::Mutex<mpsc::Receiver<Asking>>,
    progress: Mutex<HashMap<ProgressToken, mpsc::Sender<String>>>,
}

impl Heard {
    /// Shows the progress of the request with this token as long as what is given lives.
    pub(super) fn progress(&self, token: ProgressToken) -> (Listening<'_>, mpsc::Receiver<String>) {
        let (tell, told) = mpsc::channel(PROGRESS);
        self.progress.lock().unwrap_or_else(PoisonError::into_inner).insert(token.clone(), tell);
        (Listening { heard: self, token }, told)
    }
}

/// Somebody listens to the progress of a request.
pub(super) struct Listening<'a> {
    heard: &'a Heard,
    token: ProgressToken,
}

impl Drop for Listening<'_> {
    fn drop(&mut self) {
        self.heard.progress.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.token);
    }
}

/// Our side of a connection.
pub(super) struct Client {
    /// The server, for what is logged.
    name: String,
    /// The address of the session's folder, `file://…`.
    root: String,
    heard: Arc<Heard>,
    asks: Option<mpsc::Sender<Asking>>,
}

impl Client {
    /// `asks`: whether the user can be asked.
    pub(super) fn new(name: &str, root: String, asks: bool) -> (Self, Arc<Heard>) {
        let (ask, asked) = mpsc::channel(4);
        let heard = Arc::new(Heard {
            changed: AtomicBool::new(false),
            asks: tokio::sync::Mutex::new(asked),
            progress: Mutex::default(),
        });
        let client = Self {
            name: name.to_owned(),
            root,
            heard: Arc::clone(&heard),
            asks: asks.then_some(ask),
        };
        (client, heard)
    }

    fn changed(&self) -> std::future::Ready<()> {
        self.heard.changed.store(true, Ordering::Relaxed);
        std::future::ready(())
    }
}

/// What we say of ourselves in `initialize`.
pub(super) fn introduction(asks: bool) -> ClientConfig {
    let mut capabilities = serde_json::json!({ "roots": {} });
    if asks {
        capabilities["elicitation"] = serde_json::json!({});
    }
    // Said as JSON, for rmcp calls the types of what older servers know deprecated.
    let capabilities: ClientCapabilities = serde_json::from_value(capabilities).unwrap_or_default();
    ClientConfig::new(capabilities, Implementation::new("agentglot", env!("CARGO_PKG_VERSION")))
}

impl ClientHandler for Client {
    fn get_info(&self) -> ClientConfig {
        introduction(self.asks.is_some())
    }

    #[allow(deprecated)] // Servers of today ask for it.
    async fn list_roots(&self, _: RequestContext<RoleClient>) -> Result<rmcp::model::ListRootsResult, ErrorData> {
        Ok(rmcp::model::ListRootsResult::new(vec![rmcp::model::Root::new(self.root.clone())]))
    }

    async fn create_elicitation(&self, request: ElicitRequestParams, cx: RequestContext<RoleClient>) -> Result<ElicitResult, ErrorData> {
        let decline = || ElicitResult::new(ElicitationAction::Decline);
        let (Some(asks), Ok(params)) = (&self.asks, serde_json::to_value(&request)) else {
            return Ok(decline());
        };
        let (answer, answered) = oneshot::channel();
        if asks.try_send(Asking { params, answer }).is_err() {
            return Ok(decline());
        }
        tokio::select! {
            answer = answered => Ok(answer.unwrap_or_else(|_| ElicitResult::new(ElicitationAction::Cancel))),
            () = cx.ct.cancelled() => Ok(ElicitResult::new(ElicitationAction::Cancel)),
        }
    }

    async fn on_progress(&self, params: ProgressNotificationParam, _: NotificationContext<RoleClient>) {
        let listening = self
            .heard
            .progress
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .get(&params.progress_token)
            .cloned();
        if let Some(listening) = listening {
            let _ = listening.try_send(line(&params));
        }
    }

    #[allow(deprecated)] // Servers of today say it.
    async fn on_logging_message(&self, params: rmcp::model::LoggingMessageNotificationParam, _: NotificationContext<RoleClient>) {
        tracing::debug!(server = self.name, level = ?params.level, "an MCP server logs {}", params.data);
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.changed().await;
    }

    async fn on_prompt_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.changed().await;
    }

    async fn on_resource_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.changed().await;
    }
}

/// A line of progress: `3/10 reading`.
fn line(params: &ProgressNotificationParam) -> String {
    let mut line = params.progress.to_string();
    if let Some(total) = params.total {
        line.push('/');
        line.push_str(&total.to_string());
    }
    if let Some(message) = params.message.as_deref().filter(|message| !message.is_empty()) {
        line.push(' ');
        line.extend(message.chars().take(1000));
    }
    line.push('\n');
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn we_say_who_we_are_and_ask_the_user_only_where_there_is_one() {
        let said = |asks| serde_json::to_value(introduction(asks)).unwrap();
        assert_eq!(said(false)["capabilities"], serde_json::json!({"roots":{}}));
        assert_eq!(said(true)["capabilities"], serde_json::json!({"roots":{},"elicitation":{}}));
        assert_eq!(said(true)["clientInfo"]["name"], "agentglot");
    }

    #[test]
    fn progress_is_a_line() {
        let params: ProgressNotificationParam =
            serde_json::from_value(serde_json::json!({"progressToken":1,"progress":3,"total":10,"message":"reading"})).unwrap();
        assert_eq!(line(&params), "3/10 reading\n");
    }
}
