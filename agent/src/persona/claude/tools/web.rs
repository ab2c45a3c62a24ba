//! Claude Code's `WebFetch` and `WebSearch`. There it is a small model that reads the page or searches; here the model reads what came itself.

use std::rc::Rc;

use serde_json::{Value, json};

use super::say;
use crate::persona::shared::web::{self, Asked, Searched};
use crate::tools::fetch::{Fetched, Policy};
use crate::tools::web_search::{Engine, Hit};
use crate::tools::{Given, Tool};
use agentglot_adapters::raw::codec::Dialect;
use agentglot_adapters::raw::event::DetailShape;

/// `WebFetch`, where pages may be fetched.
pub fn fetch(policy: Policy) -> Rc<dyn Tool> {
    web::fetch(Dialect::Claude, say::invalid, web::spec("WebFetch", true), policy, page)
}

/// `WebSearch`, where the web may be searched.
pub fn search(engine: Engine) -> Rc<dyn Tool> {
    let hosts = |text: &str| json!({"type": "array", "items": {"type": "string"}, "description": text});
    let more = [
        ("allowed_domains", hosts("Only results from these hosts and what is below them")),
        ("blocked_domains", hosts("No results from these")),
    ];
    let spec = web::search_spec("WebSearch", "query", &more);
    web::search(Dialect::Claude, say::invalid, spec, engine, found)
}

fn page(asked: Asked<'_>, page: Result<Fetched, String>) -> Given {
    let (text, code, reason, bytes) = match page {
        Ok(Fetched::Page(page)) => (web::shown(&page, asked.offset), page.status, page.reason, page.bytes),
        Ok(Fetched::Elsewhere { from, to, status }) => {
            let text = web::elsewhere(&from, &to, status, "WebFetch", asked.prompt);
            (text, status, "Redirect".to_owned(), 0)
        }
        Err(why) => return say::failed(&why),
    };
    let took = u64::try_from(asked.took.as_millis()).unwrap_or(u64::MAX);
    let detail = json!({ "bytes": bytes, "code": code, "codeText": reason, "result": text, "durationMs": took, "url": asked.url });
    Given::text(text).with(DetailShape::Claude, detail)
}

fn found(asked: Searched<'_>, hits: Result<Vec<Hit>, String>) -> Given {
    let hits = match hits {
        Ok(hits) => hits,
        Err(why) => return say::failed(&why),
    };
    let told = web::results(asked.words, &hits);
    let links: Vec<Value> = hits.iter().map(|hit| json!({"title": hit.title, "url": hit.url})).collect();
    let detail = json!({
        "query": asked.words,
        "results": [{"tool_use_id": asked.call, "content": links}, told],
        "durationSeconds": asked.took.as_secs_f64(),
    });
    Given::text(told).with(DetailShape::Claude, detail)
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
