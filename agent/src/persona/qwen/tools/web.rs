//! Qwen Code's `web_fetch`, and the `web_search` of its versions that have one. There it is the model in a call of its own that reads the
//! page; here it reads it itself.

use std::rc::Rc;

use async_trait::async_trait;
use serde_json::Value;

use crate::persona::shared::web;
use crate::tools::fetch::{Fetched, Policy};
use crate::tools::web_search::{Asked, Engine};
use crate::tools::{Access, Cx, Given, Spec, Tool};

/// `web_fetch`, where pages may be fetched.
pub fn fetch(policy: Policy) -> Rc<dyn Tool> {
    let spec = web::spec("web_fetch", false);
    Rc::new(WebFetch { spec, policy })
}

/// `web_search`, where the web may be searched.
pub fn search(engine: Engine) -> Rc<dyn Tool> {
    let spec = web::search_spec("web_search", "query", &[]);
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
        match web::fetched(url, &self.policy, cx).await {
            Ok(Fetched::Page(page)) => Given::text(web::shown(&page, 0)),
            Ok(Fetched::Elsewhere { from, to, status }) => Given::text(web::elsewhere(&from, &to, status, "web_fetch", prompt)),
            Err(why) => web::failed(&why),
        }
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
        let words = match web::words(input, "query") {
            Ok(words) => words,
            Err(why) => return web::failed(&why),
        };
        let asked = Asked {
            words,
            most: web::RESULTS,
            ..Asked::default()
        };
        match web::searched(&self.engine, asked, cx).await {
            Ok(hits) => Given::text(web::results(words, &hits)),
            Err(why) => web::failed(&why),
        }
    }
}
