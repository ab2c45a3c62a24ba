//! `web_fetch` and `google_web_search`. There it is the model in a call of its own that reads the pages; here it reads them itself.

use std::rc::Rc;

use serde_json::json;

use super::say;
use crate::persona::shared::web::{self, Asked, Searched};
use crate::tools::fetch::{Fetched, Policy};
use crate::tools::web_search::{Engine, Hit};
use crate::tools::{Given, Spec, Tool};
use agentglot_adapters::raw::codec::Dialect;

/// `web_fetch`, where pages may be fetched: the address stands in the prompt.
pub fn fetch(policy: Policy) -> Rc<dyn Tool> {
    let spec = Spec {
        schema: json!({
            "type": "object",
            "properties": {
                "prompt": {"type": "string", "description": "The address of the page, which begins with http:// or https://, and what is wanted of it"},
            },
            "required": ["prompt"],
        }),
        ..web::spec("web_fetch", false)
    };
    web::fetch(Dialect::Gemini, say::invalid, spec, policy, page)
}

/// `google_web_search`, where the web may be searched.
pub fn search(engine: Engine) -> Rc<dyn Tool> {
    let spec = web::search_spec("google_web_search", "query", &[]);
    web::search(Dialect::Gemini, say::invalid, spec, engine, found)
}

fn page(asked: Asked<'_>, page: Result<Fetched, String>) -> Given {
    if !["http://", "https://"].iter().any(|scheme| asked.url.starts_with(scheme)) {
        let why = "The 'prompt' must contain at least one valid URL (starting with http:// or https://).";
        return say::refused(why, say::INVALID);
    }
    match page {
        Ok(Fetched::Page(page)) => say::said(web::shown(&page, 0), &format!("Processed {} for: {}", asked.url, asked.prompt)),
        Ok(Fetched::Elsewhere { from, to, status }) => say::unseen(web::elsewhere(&from, &to, status, "web_fetch", asked.prompt)),
        Err(why) => say::failed(&why, &format!("Error: {why}"), "web_fetch_processing_error"),
    }
}

fn found(asked: Searched<'_>, hits: Result<Vec<Hit>, String>) -> Given {
    match hits {
        Ok(hits) => say::said(
            web::results(asked.words, &hits),
            &format!("Search results for \"{}\" returned.", asked.words),
        ),
        Err(why) => say::failed(&why, &format!("Error: {why}"), "web_search_failed"),
    }
}
