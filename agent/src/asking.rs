//! Tools that are for the user to answer: questions, and the plan that he approves. They wait for leave as others do, and the leave is
//! the answer.

use std::rc::Rc;

use async_trait::async_trait;
use serde_json::{Value, json};

use crate::tools::{Cx, Given, Spec, Tool};
use agentglot_adapters::codec::Dialect;
use agentglot_adapters::event::{DetailShape, ToolKind};

/// Those of a dialect.
pub(crate) fn tools(dialect: Dialect) -> Vec<Rc<dyn Tool>> {
    let names = match dialect {
        Dialect::Claude => ("AskUserQuestion", "ExitPlanMode"),
        Dialect::Qwen | Dialect::QwenCode => ("ask_user_question", "exit_plan_mode"),
        _ => return Vec::new(),
    };
    vec![Rc::new(Ask::new(names.0)), Rc::new(ExitPlan::new(names.1))]
}

#[derive(Debug)]
struct Ask {
    spec: Spec,
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
        let told: Vec<String> = answers
            .as_object()
            .into_iter()
            .flatten()
            .map(|(question, answer)| match answer.as_str() {
                Some(answer) => format!("\"{question}\"=\"{answer}\""),
                None => format!("\"{question}\"={answer}"),
            })
            .collect();
        if told.is_empty() {
            return Given::error("The user has not answered.");
        }
        let text = format!(
            "Your questions have been answered: {}. You can now continue with these answers in mind.",
            told.join(", ")
        );
        let detail = json!({"questions": input.get("questions").cloned().unwrap_or_default(), "answers": answers});
        Given::text(text).with(DetailShape::Claude, detail)
    }
}

#[derive(Debug)]
struct ExitPlan {
    spec: Spec,
}

/// What the model reads when it may begin.
const APPROVED: &str = "User has approved exiting plan mode. You can now proceed.";

impl ExitPlan {
    fn new(name: &str) -> Self {
        Self {
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
        let plan = input.get("plan").cloned().unwrap_or_default();
        if self.spec.name == "exit_plan_mode" {
            let message = "User approved the plan.";
            let shown = json!({"kind": "plan_summary", "message": message, "plan_markdown": plan, "text": APPROVED});
            return Given::text(APPROVED).with(DetailShape::Qwen, shown);
        }
        let detail = json!({"plan": plan, "isAgent": false});
        Given::text(APPROVED).with(DetailShape::Claude, detail)
    }
}
