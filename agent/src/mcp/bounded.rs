//! A connection to a server that may say no more than somebody waits for, whatever it runs over. Each message that nobody asked for costs
//! us something: those that come too fast, and questions whose answers the server does not take, end the connection with the reason kept.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use rmcp::RoleClient;
use rmcp::model::{ClientJsonRpcMessage, JsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::Transport;

use super::stdio::{Fault, Flood};

/// So many answers of ours may wait until the server takes them.
const MOST_ANSWERS: usize = 1000;

/// A bounded connection.
pub(super) struct Bounded<T> {
    inner: T,
    fault: Fault,
    flood: Flood,
    /// Requests of ours that have no answer.
    waits: usize,
    /// Answers of ours that are on their way.
    answers: Arc<AtomicUsize>,
}

impl<T> Bounded<T> {
    pub(super) fn new(inner: T, fault: Fault) -> Self {
        Self {
            inner,
            fault,
            flood: Flood::default(),
            waits: 0,
            answers: Arc::default(),
        }
    }
}

impl<T: Transport<RoleClient>> Transport<RoleClient> for Bounded<T> {
    type Error = T::Error;

    fn send(&mut self, item: ClientJsonRpcMessage) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        let answers = match &item {
            JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_) => Some(Arc::clone(&self.answers)),
            JsonRpcMessage::Request(_) => {
                self.waits += 1;
                None
            }
            JsonRpcMessage::Notification(_) => None,
        };
        if let Some(answers) = &answers {
            answers.fetch_add(1, Ordering::Relaxed);
        }
        let sent = self.inner.send(item);
        async move {
            let sent = sent.await;
            if let Some(answers) = answers {
                answers.fetch_sub(1, Ordering::Relaxed);
            }
            sent
        }
    }

    async fn receive(&mut self) -> Option<ServerJsonRpcMessage> {
        let message = self.inner.receive().await?;
        let is_answer = matches!(message, JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_));
        if is_answer && self.waits > 0 {
            self.waits -= 1;
        } else if self.flood.rises(0, Instant::now()) {
            self.fault.set("it said far more than it was asked for");
            return None;
        }
        if self.answers.load(Ordering::Relaxed) > MOST_ANSWERS {
            self.fault.set("it asks and does not take the answers");
            return None;
        }
        Some(message)
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.inner.close().await
    }
}
