//! The tools of Codex: a shell, patches, a plan. Texts are those of the program (version 0.80.0).

mod patch;
mod plan;
mod shell;

use std::rc::Rc;

use crate::persona::shared::args::{Step, What, Wrong};
use crate::persona::shared::web::{self, Searched};
use crate::tools::processes::Processes;
use crate::tools::seen::Seen;
use crate::tools::todo::Todos;
use crate::tools::web_search::{Engine, Hit};
use crate::tools::{Given, Spec, Tool};
use agentglot_adapters::raw::codec::Dialect;

/// All of them. What the model has seen of a file does not matter: a patch says what it changes.
pub(super) fn all(processes: &Rc<Processes>, _: &Rc<Seen>, todos: &Rc<Todos>) -> Vec<Rc<dyn Tool>> {
    vec![shell::shell(processes), patch::patch(), plan::plan(todos)]
}

/// `web_search`, where the web may be searched.
pub fn search(engine: Engine) -> Rc<dyn Tool> {
    web::search(Dialect::Codex, invalid, web::search_spec("web_search", "query", &[]), engine, found)
}

fn found(asked: Searched<'_>, hits: Result<Vec<Hit>, String>) -> Given {
    match hits {
        Ok(hits) => Given::text(web::results(asked.words, &hits)),
        Err(why) => Given::error(why),
    }
}

/// What is said of arguments that do not fit, in the manner of its parser.
fn invalid(spec: &Spec, wrong: &[Wrong]) -> Given {
    let member = |wrong: &Wrong| match wrong.path.last() {
        Some(Step::Member(name)) => name.clone(),
        Some(Step::Element(at)) => at.to_string(),
        None => "arguments".to_owned(),
    };
    let say = |wrong: &Wrong| match &wrong.what {
        What::Missing(_) => format!("missing field `{}`", member(wrong)),
        What::Type(expected, is) => format!("invalid type for `{}`: {is}, expected {expected}", member(wrong)),
        What::Choice(_) | What::Small(_) => format!("invalid value for `{}`", member(wrong)),
        What::Unexpected(names) => format!("unknown field `{}`", names.join("`, `")),
    };
    let all: Vec<String> = wrong.iter().map(say).collect();
    Given::error(format!("failed to parse arguments of {}: {}", spec.name, all.join("; ")))
}
