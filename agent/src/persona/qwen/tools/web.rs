//! Qwen Code's `web_fetch`, and the `web_search` of its versions that have one. There it is the model in a call of its own that reads the
//! page; here it reads it itself.

use std::rc::Rc;

use super::say;
use crate::persona::shared::web::{self, Asked, Searched};
use crate::tools::fetch::{Fetched, Policy};
use crate::tools::web_search::{Engine, Hit};
use crate::tools::{Given, Tool};
use agentglot_adapters::raw::codec::Dialect;

/// `web_fetch`, where pages may be fetched.
pub fn fetch(policy: Policy) -> Rc<dyn Tool> {
    web::fetch(Dialect::QwenCode, say::invalid, web::spec("web_fetch", false), policy, page)
}

/// `web_search`, where the web may be searched.
pub fn search(engine: Engine) -> Rc<dyn Tool> {
    let spec = web::search_spec("web_search", "query", &[]);
    web::search(Dialect::QwenCode, say::invalid, spec, engine, found)
}

fn page(asked: Asked<'_>, page: Result<Fetched, String>) -> Given {
    match page {
        Ok(Fetched::Page(page)) => Given::text(web::shown(&page, 0)),
        Ok(Fetched::Elsewhere { from, to, status }) => Given::text(web::elsewhere(&from, &to, status, "web_fetch", asked.prompt)),
        Err(why) => Given::error(why),
    }
}

fn found(asked: Searched<'_>, hits: Result<Vec<Hit>, String>) -> Given {
    hits.map_or_else(Given::error, |hits| Given::text(web::results(asked.words, &hits)))
}
