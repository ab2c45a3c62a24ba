//! Tools that are for the user to answer: questions, and the plan that he approves. They wait for permission as others do, and the
//! permission is the answer.

use std::rc::Rc;

use agentglot_adapters::raw::event::{DetailShape, ToolKind};
use async_trait::async_trait;
use serde_json::{Map, Value, json};

use crate::tools::{Cx, Given, Spec, Tool};

/// The one that asks questions.
pub(in crate::persona) fn ask(name: &str, tell: Answers) -> Rc<dyn Tool> {
    Rc::new(Ask { tell, ..Ask::new(name) })
}

/// What the model reads of answers: of the questions, and the answers by question. Nothing where there are none.
pub(in crate::persona) type Answers = fn(questions: &Value, answers: &Map<String, Value>) -> Option<String>;

/// The answers by question.
pub(in crate::persona) fn by_question(_: &Value, answers: &Map<String, Value>) -> Option<String> {
    let told: Vec<String> = answers
        .iter()
        .map(|(question, answer)| match answer.as_str() {
            Some(answer) => format!("\"{question}\"=\"{answer}\""),
            None => format!("\"{question}\"={answer}"),
        })
        .collect();
    (!told.is_empty()).then(|| {
        format!(
            "Your questions have been answered: {}. You can now continue with these answers in mind.",
            told.join(", ")
        )
    })
}

/// The answers by what each question is about. A host names questions by their numbers, or by their texts.
pub(in crate::persona) fn by_header(questions: &Value, answers: &Map<String, Value>) -> Option<String> {
    let questions = questions.as_array().map(Vec::as_slice).unwrap_or_default();
    let told: Vec<String> = questions
        .iter()
        .enumerate()
        .filter_map(|(number, question)| {
            let text = question.get("question").and_then(Value::as_str).unwrap_or_default();
            let answer = answers.get(&number.to_string()).or_else(|| answers.get(text))?;
            let answer = answer.as_str().map_or_else(|| answer.to_string(), str::to_owned);
            let header = question.get("header").and_then(Value::as_str).unwrap_or(text);
            Some(format!("**{header}**: {answer}"))
        })
        .collect();
    if told.is_empty() {
        return by_question(&Value::Null, answers);
    }
    Some(format!("User has provided the following answers:\n\n{}", told.join("\n")))
}

/// The one that shows a plan. `detail`: the typed form of an approval.
pub(in crate::persona) fn exit_plan(name: &str, detail: Detail) -> Rc<dyn Tool> {
    Rc::new(ExitPlan::new(name, detail))
}

/// The typed form of an approved plan.
pub(in crate::persona) type Detail = fn(plan: &Value) -> (DetailShape, Value);

/// The one of hosts that see nothing but the plan.
pub(in crate::persona) fn plan_detail(plan: &Value) -> (DetailShape, Value) {
    (DetailShape::Claude, json!({"plan": plan, "isAgent": false}))
}

/// What the model reads when it may begin.
pub(in crate::persona) const APPROVED: &str = "User has approved exiting plan mode. You can now proceed.";

#[derive(Debug)]
struct Ask {
    spec: Spec,
    tell: Answers,
}

impl Ask {
    fn new(name: &str) -> Self {
        let option = json!({
            "type": "object",
            "properties": {
                "label": {"type": "string", "description": "The answer in a few words"},
                "description": {"type": "string", "description": "What it means"}
            },
            "required": ["label", "description"]
        });
        let question = json!({
            "type": "object",
            "properties": {
                "question": {"type": "string", "description": "The whole question"},
                "header": {"type": "string", "description": "What it is about, in a word or two"},
                "options": {"type": "array", "items": option, "minItems": 2, "maxItems": 4},
                "multiSelect": {"type": "boolean", "description": "Several answers may be chosen"}
            },
            "required": ["question", "header", "options"]
        });
        Self {
            tell: by_question,
            spec: Spec {
                name: name.to_owned(),
                description: "Asks the user one to four questions, each with answers to choose from. For decisions that only the user can make."
                    .to_owned(),
                schema: json!({
                    "type": "object",
                    "properties": {"questions": {"type": "array", "items": question, "minItems": 1, "maxItems": 4}},
                    "required": ["questions"]
                }),
                kind: ToolKind::Ask,
                reads_only: true,
                ..Spec::default()
            },
        }
    }
}

#[async_trait(?Send)]
impl Tool for Ask {
    fn spec(&self) -> &Spec {
        &self.spec
    }

    async fn run(&self, input: &Value, _: &Cx<'_>) -> Given {
        let answers = input.get("answers").cloned().unwrap_or_else(|| json!({}));
        let questions = input.get("questions").cloned().unwrap_or_default();
        let Some(text) = answers.as_object().and_then(|answers| (self.tell)(&questions, answers)) else {
            return Given::error("The user has not answered.");
        };
        let detail = json!({"questions": questions, "answers": answers});
        Given::text(text).with(DetailShape::Claude, detail)
    }
}

#[derive(Debug)]
struct ExitPlan {
    spec: Spec,
    detail: Detail,
}

impl ExitPlan {
    fn new(name: &str, detail: Detail) -> Self {
        Self {
            detail,
            spec: Spec {
                name: name.to_owned(),
                description: "Only in plan mode: shows the user the plan, in Markdown, and asks to leave plan mode so that it can be carried out."
                    .to_owned(),
                schema: json!({
                    "type": "object",
                    "properties": {"plan": {"type": "string", "description": "The plan"}},
                    "required": ["plan"]
                }),
                kind: ToolKind::ExitPlan,
                reads_only: true,
                ..Spec::default()
            },
        }
    }
}

#[async_trait(?Send)]
impl Tool for ExitPlan {
    fn spec(&self) -> &Spec {
        &self.spec
    }

    async fn run(&self, input: &Value, _: &Cx<'_>) -> Given {
        let (shape, detail) = (self.detail)(input.get("plan").unwrap_or(&Value::Null));
        Given::text(APPROVED).with(shape, detail)
    }
}
