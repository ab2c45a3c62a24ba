//! Claude Code's `WebFetch`. There it is a small model that reads the page; here the model reads it itself.

use std::rc::Rc;
use std::time::Instant;

use async_trait::async_trait;
use serde_json::{Value, json};

use crate::adapters::event::DetailShape;
use crate::agent::catalog::web;
use crate::agent::tool::{Access, Cx, Given, Spec, Tool};
use crate::agent::tools::fetch::{Fetched, Policy};

/// The tools for the web, where pages may be fetched.
pub fn web(policy: Policy) -> Vec<Rc<dyn Tool>> {
    let spec = web::spec("WebFetch", true);
    vec![Rc::new(WebFetch { spec, policy })]
}

#[derive(Debug)]
struct WebFetch {
    spec: Spec,
    policy: Policy,
}

#[async_trait(?Send)]
impl Tool for WebFetch {
    fn spec(&self) -> &Spec {
        &self.spec
    }

    fn access(&self, input: &Value) -> Access {
        Access::Fetch(input.get("url").and_then(Value::as_str).unwrap_or_default().to_owned())
    }

    async fn run(&self, input: &Value, cx: &Cx<'_>) -> Given {
        let (url, prompt) = match web::asked(input) {
            Ok(asked) => asked,
            Err(why) => return web::failed(&why),
        };
        let offset = input
            .get("offset")
            .and_then(Value::as_u64)
            .and_then(|offset| usize::try_from(offset).ok())
            .unwrap_or(0);
        let began = Instant::now();
        let (text, code, reason, bytes) = match web::fetched(url, &self.policy, cx).await {
            Ok(Fetched::Page(page)) => (web::shown(&page, offset), page.status, page.reason, page.bytes),
            Ok(Fetched::Elsewhere { from, to, status }) => (web::elsewhere(&from, &to, status, "WebFetch", prompt), status, "Redirect".to_owned(), 0),
            Err(why) => {
                let detail = Value::String(format!("Error: {why}"));
                return web::failed(&why).with(DetailShape::Claude, detail);
            }
        };
        let took = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
        let detail = json!({ "bytes": bytes, "code": code, "codeText": reason, "result": text, "durationMs": took, "url": url });
        Given::text(text).with(DetailShape::Claude, detail)
    }
}
