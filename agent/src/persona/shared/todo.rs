//! The tool by which the model writes its list of things to do.

use std::rc::Rc;

use async_trait::async_trait;
use serde_json::Value;

use super::native::{Invalid, Run, stray, tool};
use crate::tools::todo::{Todo, Todos, read};
use crate::tools::{Cx, Given, Spec, Tool};
use agentglot_adapters::raw::codec::Dialect;
use agentglot_adapters::raw::event::ToolKind;
use agentglot_adapters::raw::tools::args::Args;

/// A list as the model wrote it.
#[derive(Debug)]
pub(in crate::persona) struct Written<'a> {
    /// What is to be done.
    pub list: Vec<Todo>,
    /// What is on the list and not named here stays.
    pub merges: bool,
    /// The call's own words.
    pub input: &'a Value,
}

/// Puts a list in the place of the session's and says so.
pub(in crate::persona) type Tell = fn(Written<'_>, &Todos) -> Given;

/// What such a tool is, but for its name, its description and its schema.
pub(in crate::persona) fn spec(name: &str, description: &str, schema: Value) -> Spec {
    Spec {
        name: name.to_owned(),
        description: description.to_owned(),
        schema,
        kind: ToolKind::Todo,
        ..Spec::default()
    }
}

/// The tool. `todos` is the session's (a subagent has its own); `unfit` says what is wrong with a list.
pub(in crate::persona) fn todo(
    dialect: Dialect,
    invalid: Invalid,
    spec: Spec,
    todos: &Rc<Todos>,
    unfit: fn(String) -> Given,
    tell: Tell,
) -> Rc<dyn Tool> {
    let todos = Rc::clone(todos);
    tool(dialect, invalid, spec, Writes { todos, unfit, tell })
}

#[derive(Debug)]
struct Writes {
    todos: Rc<Todos>,
    unfit: fn(String) -> Given,
    tell: Tell,
}

#[async_trait(?Send)]
impl Run for Writes {
    async fn run(&self, args: &Args<'_>, input: &Value, _: &Cx<'_>) -> Given {
        let &Args::Todos { list, merge: merges } = args else { return stray() };
        match read(list) {
            Ok(list) => (self.tell)(Written { list, merges, input }, &self.todos),
            Err(why) => (self.unfit)(why),
        }
    }
}
