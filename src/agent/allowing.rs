//! Whether a call may run: hooks, rules, and in the end the host.

use std::rc::Rc;

use serde_json::{Value, json};

use super::chat::Call;
use super::core::{Core, Thread};
use super::hotline::{self, Question};
use super::tool::{Access, Cx, Given, Progress, Tool};
use crate::adapters::codec::Dialect;
use crate::adapters::event::ControlKind;

/// What became of the question.
#[derive(Debug)]
pub enum Leave {
    /// It runs, with these arguments.
    Given(Value),
    /// It does not run.
    Denied {
        /// What the model reads.
        given: Given,
        /// The turn ends here.
        end: bool,
    },
}

/// Whether a tool is there for this session.
pub fn offers(core: &Core, name: &str) -> bool {
    let _ = (core, name);
    true
}

/// Asks for leave.
pub async fn ask(core: &Rc<Core>, thread: &Thread, tool: &dyn Tool, call: &Call, input: &Value) -> Leave {
    let _ = thread;
    let needs = core
        .persona
        .needs_leave(&call.name)
        .unwrap_or_else(|| matches!(tool.access(input), Access::Write(_) | Access::Run(_) | Access::Fetch(_) | Access::Mcp));
    if !needs {
        return Leave::Given(input.clone());
    }
    let tell = |_: Progress<'_>| {};
    let cx = Cx {
        call: &call.id,
        cancel: core.cancel.borrow().clone(),
        world: &core.world,
        tell: &tell,
    };
    let preview = match core.dialect {
        Dialect::Tricode => tool.preview(input, &cx).await,
        _ => None,
    };
    let fields = preview.map(|diff| ("preview".to_owned(), Value::String(diff)));
    host(core, call, input, None, fields.into_iter().collect()).await
}

/// Asks the host.
pub async fn host(core: &Rc<Core>, call: &Call, input: &Value, suggestions: Option<Value>, fields: Vec<(String, Value)>) -> Leave {
    let question = Question {
        kind: ControlKind::CanUseTool,
        subtype: "can_use_tool".to_owned(),
        permission: Some(hotline::Asked {
            name: call.name.clone(),
            call: call.id.clone(),
            input: input.clone(),
            suggestions,
        }),
        fields,
    };
    match core.hotline.ask(question).await {
        Ok(answer) => read(&answer, input),
        Err(why) => denied(&why.to_string(), false),
    }
}

fn read(answer: &Value, input: &Value) -> Leave {
    let word = ["behavior", "decision", "outcome"]
        .iter()
        .find_map(|name| answer.get(name)?.as_str())
        .unwrap_or_default();
    if matches!(word, "allow" | "approve") {
        let updated = ["updatedInput", "updated_input"]
            .iter()
            .find_map(|name| answer.get(name))
            .filter(|value| value.is_object());
        return Leave::Given(updated.unwrap_or(input).clone());
    }
    let why = ["message", "reason"]
        .iter()
        .find_map(|name| answer.get(name)?.as_str())
        .unwrap_or("not allowed");
    denied(why, answer.get("interrupt").and_then(Value::as_bool).unwrap_or(false))
}

/// A call that was not allowed.
pub fn denied(why: &str, end: bool) -> Leave {
    Leave::Denied {
        given: Given::denied(why).with(crate::adapters::event::DetailShape::Claude, json!(format!("Error: {why}"))),
        end,
    }
}
