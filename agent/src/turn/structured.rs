//! An answer in the form of the host's JSON schema: the model gives it by calling a tool.

use std::cell::RefCell;
use std::rc::Rc;

use async_trait::async_trait;
use serde_json::Value;

use crate::conversation::Conversation;
use crate::model::message::{Call, Part};
use crate::persona::host::Reminders;
use crate::tools::{Cx, Given, Spec, Tool};
use agentglot_adapters::raw::event::{DetailShape, ToolKind};

/// The tool's name.
pub(crate) const NAME: &str = "StructuredOutput";

/// So often the model may call it with what has not the form.
const TRIES: u64 = 5;

const TAKEN: &str = "Structured output provided successfully";

/// What the model gave, if it did.
pub(crate) type Slot = Rc<RefCell<Option<Value>>>;

/// Takes the answer.
#[derive(Debug)]
pub(crate) struct Structured {
    spec: Spec,
    slot: Slot,
}

impl Structured {
    /// For answers of this schema.
    pub(crate) fn new(schema: &Value, slot: Slot) -> Self {
        Self {
            spec: Spec {
                name: NAME.to_owned(),
                description:
                    "Gives the final answer of this task in the form that was asked for. Call it exactly once, when everything else is done."
                        .to_owned(),
                schema: schema.clone(),
                kind: ToolKind::Other,
                ..Spec::default()
            },
            slot,
        }
    }
}

#[async_trait(?Send)]
impl Tool for Structured {
    fn spec(&self) -> &Spec {
        &self.spec
    }

    async fn run(&self, input: &Value, _: &Cx<'_>) -> Given {
        match jsonschema_of(&self.spec.schema, input) {
            Ok(()) => {
                *self.slot.borrow_mut() = Some(input.clone());
                Given::text(TAKEN).with(DetailShape::Claude, TAKEN.into())
            }
            Err(why) => {
                let why = format!("Output does not match required schema: {why}");
                Given::error(why.as_str()).with(DetailShape::Claude, format!("Error: {why}").into())
            }
        }
    }
}

/// What is to be done because the answer is missing.
pub(crate) enum Missing {
    /// The model is asked again, so.
    Again(String),
    /// It was asked so often, in vain.
    GivenUp(u64),
}

/// What is to be done about a model that ends without the answer that it has to give by the tool, once it was reminded so often.
pub(crate) fn missing(slot: &Slot, tries: &mut u64, wanted: Reminders) -> Option<Missing> {
    if slot.borrow().is_some() {
        return None;
    }
    if *tries == wanted.most {
        return wanted.fails.then_some(Missing::GivenUp(wanted.most));
    }
    *tries += 1;
    Some(Missing::Again(format!("Call the {NAME} tool now with your final answer.")))
}

/// Counts the calls of these in which the answer had not its form. Gives what was wrong, once there were too many of them.
pub(crate) fn refused(conversation: &Conversation, calls: &[Call], misshapen: &mut u64) -> Option<String> {
    let parts = conversation.messages.last().map(|last| &last.parts[..]).unwrap_or_default();
    let mut why = None;
    for call in calls.iter().filter(|call| call.name == NAME) {
        let failed = parts.iter().find_map(|part| match part {
            Part::Result(result) if result.call == call.id && result.is_error => Some(&result.content),
            _ => None,
        });
        if let Some(content) = failed {
            *misshapen += 1;
            why = content.iter().find_map(|part| match part {
                Part::Text(text) => Some(text.clone()),
                _ => None,
            });
        }
    }
    why.filter(|_| *misshapen >= TRIES)
}

/// Models give the answer as a text too.
pub(crate) fn take(schema: Option<&Value>, text: &str, slot: &Slot) {
    if slot.borrow().is_none()
        && let Some(schema) = schema
    {
        *slot.borrow_mut() = of_text(schema, text);
    }
}

/// The answer in a text: one that is JSON of the schema, and nothing else but a fence around it.
pub fn of_text(schema: &Value, text: &str) -> Option<Value> {
    let text = text.trim();
    let fenced = text.strip_prefix("```json").or_else(|| text.strip_prefix("```"));
    let text = fenced.and_then(|text| text.strip_suffix("```")).unwrap_or(text);
    let value = serde_json::from_str(text.trim()).ok()?;
    jsonschema_of(schema, &value).is_ok().then_some(value)
}

/// Whether a value is of a schema, as far as the words that the common schemas use go.
fn jsonschema_of(schema: &Value, value: &Value) -> Result<(), String> {
    let validator = jsonschema::validator_for(schema).map_err(|error| format!("the schema itself is wrong: {error}"))?;
    validator
        .iter_errors(value)
        .next()
        .map_or(Ok(()), |error| Err(format!("{} at {:?}", error, error.instance_path().to_string())))
}
