//! Claude Code's `WebFetch` and `WebSearch`. There it is a small model that reads the page or searches; here the model reads what came itself.

use std::rc::Rc;
use std::time::Instant;

use async_trait::async_trait;
use serde_json::{Value, json};

use crate::persona::shared::web;
use crate::tools::fetch::{Fetched, Policy};
use crate::tools::web_search::{Asked, Engine};
use crate::tools::{Access, Cx, Given, Spec, Tool};
use agentglot_adapters::raw::event::DetailShape;

/// `WebFetch`, where pages may be fetched.
pub fn fetch(policy: Policy) -> Rc<dyn Tool> {
    let spec = web::spec("WebFetch", true);
    Rc::new(WebFetch { spec, policy })
}

/// `WebSearch`, where the web may be searched.
pub fn search(engine: Engine) -> Rc<dyn Tool> {
    let hosts = |text: &str| json!({"type": "array", "items": {"type": "string"}, "description": text});
    let more = [
        ("allowed_domains", hosts("Only results from these hosts and what is below them")),
        ("blocked_domains", hosts("No results from these")),
    ];
    let spec = web::search_spec("WebSearch", "query", &more);
    Rc::new(WebSearch { spec, engine })
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

#[derive(Debug)]
struct WebSearch {
    spec: Spec,
    engine: Engine,
}

#[async_trait(?Send)]
impl Tool for WebSearch {
    fn spec(&self) -> &Spec {
        &self.spec
    }

    async fn run(&self, input: &Value, cx: &Cx<'_>) -> Given {
        let hosts = |name: &str| -> Vec<String> {
            let list = input.get(name).and_then(Value::as_array).into_iter().flatten();
            list.filter_map(Value::as_str).map(str::to_owned).collect()
        };
        let (only, without) = (hosts("allowed_domains"), hosts("blocked_domains"));
        let failed = |why: String| {
            let detail = Value::String(format!("Error: {why}"));
            web::failed(&why).with(DetailShape::Claude, detail)
        };
        let words = match web::words(input, "query") {
            Ok(_) if !only.is_empty() && !without.is_empty() => return failed("Give allowed_domains or blocked_domains, not both.".to_owned()),
            Ok(words) => words,
            Err(why) => return failed(why),
        };
        let began = Instant::now();
        let asked = Asked {
            words,
            most: web::RESULTS,
            only: &only,
            without: &without,
        };
        let hits = match web::searched(&self.engine, asked, cx).await {
            Ok(hits) => hits,
            Err(why) => return failed(why),
        };
        let told = web::results(words, &hits);
        let links: Vec<Value> = hits.iter().map(|hit| json!({"title": hit.title, "url": hit.url})).collect();
        let detail = json!({
            "query": words,
            "results": [{"tool_use_id": cx.call, "content": links}, told],
            "durationSeconds": began.elapsed().as_secs_f64(),
        });
        Given::text(told).with(DetailShape::Claude, detail)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::persona::testing::{Room, text};
    use crate::tools::web_search::tests::{BRAVE, engine};
    use agentglot_adapters::raw::event::ResultStatus;

    #[tokio::test]
    async fn a_search_is_told_with_its_links() {
        let (engine, _) = engine("application/json", 200, BRAVE, None).await;
        let room = Room::new(vec![search(engine)]);
        let given = room.call("WebSearch", json!({"query": "serde"})).await;
        let told = text(&given);
        assert!(
            told.ends_with("\n\n1. Serde & friends\n   https://serde.rs/\n   A framework for data\n\n2. Docs\n   https://docs.rs/serde"),
            "{told}"
        );
        let (_, detail) = given.detail.unwrap();
        assert_eq!(
            (detail["query"].as_str(), detail["results"][1].as_str()),
            (Some("serde"), Some(told.as_str()))
        );
        assert_eq!(
            detail["results"][0],
            json!({"tool_use_id": "call", "content": [
                {"title": "Serde & friends", "url": "https://serde.rs/"}, {"title": "Docs", "url": "https://docs.rs/serde"}]})
        );
        let none = room.call("WebSearch", json!({"query": "serde", "allowed_domains": ["a.org"]})).await;
        assert_eq!(text(&none), "Nothing was found for \"serde\".");
        for wrong in [
            json!({"query": " "}),
            json!({"query": "a", "allowed_domains": ["a"], "blocked_domains": ["b"]}),
        ] {
            assert_eq!(room.call("WebSearch", wrong).await.status, ResultStatus::Error);
        }
    }

    #[tokio::test]
    async fn a_search_that_fails_says_why() {
        let (engine, _) = engine("text/plain", 429, "", None).await;
        let room = Room::new(vec![search(engine)]);
        let given = room.call("WebSearch", json!({"query": "serde"})).await;
        assert_eq!(
            (given.status, text(&given).as_str()),
            (ResultStatus::Error, "the search engine wants to be asked less often (429)")
        );
        room.cancel.cancel();
        assert_eq!(
            text(&room.call("WebSearch", json!({"query": "serde"})).await),
            "The search was interrupted."
        );
    }
}
