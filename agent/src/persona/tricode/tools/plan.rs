//! The plan: what the model has decided about it, its tasks, and what it is reminded of.

use serde_json::{Value, json};

use super::args::{given, string, truthy};
use crate::tools::Given;

/// The plan of a session.
#[derive(Debug, Default)]
pub(super) struct Plan {
    /// A plan was made, or the model has said that none is needed.
    decided: bool,
    tasks: Option<Vec<Task>>,
    /// Significant operations since the plan was last changed.
    done: usize,
    /// A tool was called in this run.
    called: bool,
}

#[derive(Clone, Debug, PartialEq)]
struct Task {
    /// What is to be done; whatever the model gave.
    text: Value,
    /// `pending`, `in_progress`, `completed`, or what the model says.
    status: Value,
}

/// What stands in the way of any tool before a decision.
const BLOCKED: &str = "⚠️ BLOCKED: You must make a plan decision first.\nCall plan(action='create', tasks=[...]) for multi-step tasks, or \
                       plan(action='skip', reason='...') for simple tasks.";
const UNDECIDED: &str = "WARNING: No plan decision made. Use plan(action='create', tasks=[...]) or plan(action='skip', reason='...').";
const NONE: &str = "No plan exists. Create a plan first.";

/// Operations that count as progress on a task.
const SIGNIFICANT: [&str; 7] = [
    "read_file",
    "edit_file",
    "create_file",
    "delete_file",
    "delete_path",
    "mkdir",
    "run_command",
];

impl Plan {
    /// A call is about to be made. What is given is its result: it must not run.
    pub(super) fn gate(&mut self, tool: &str) -> Option<Given> {
        self.called = true;
        (tool != "plan" && !self.decided).then(|| Given::error(BLOCKED))
    }

    /// A tool runs.
    pub(super) fn count(&mut self, tool: &str) {
        if self.tasks.is_some() && SIGNIFICANT.contains(&tool) {
            self.done += 1;
        }
    }

    /// A call of the tool.
    pub(super) fn call(&mut self, input: &Value) -> Given {
        let action = input.get("action").unwrap_or(&Value::Null);
        match action.as_str() {
            Some("create") => self.create(given(input, "tasks")),
            Some("skip") => {
                self.decided = true;
                match given(input, "reason").filter(|reason| truthy(reason)) {
                    Some(reason) => Given::text(format!("Plan skipped: {}", string(reason))),
                    None => Given::text("Plan skipped (simple task)"),
                }
            }
            Some("update") => self.update(given(input, "task_id"), given(input, "status")),
            Some("check") => match &self.tasks {
                Some(tasks) => Given::text(shown(tasks)),
                None => Given::error(NONE),
            },
            _ => Given::error(format!("Unknown action: {}", string(action))),
        }
    }

    fn create(&mut self, tasks: Option<&Value>) -> Given {
        let Some(tasks) = tasks.and_then(Value::as_array).filter(|tasks| !tasks.is_empty()) else {
            return Given::error("Create action requires 'tasks' parameter as a list");
        };
        let pending = |text: &Value| Task {
            text: text.clone(),
            status: json!("pending"),
        };
        let tasks: Vec<Task> = tasks.iter().map(pending).collect();
        let shown = shown(&tasks);
        self.tasks = Some(tasks);
        self.decided = true;
        self.done = 0;
        Given::text(shown)
    }

    fn update(&mut self, id: Option<&Value>, status: Option<&Value>) -> Given {
        let Some(tasks) = &mut self.tasks else {
            return Given::error(NONE);
        };
        let (Some(id), Some(status)) = (id, status) else {
            return Given::error("Update action requires 'task_id' and 'status' parameters");
        };
        let number = match id {
            Value::Bool(one) => Some(usize::from(*one)),
            Value::Number(number) => number.as_f64().filter(|float| float.fract() == 0.0).map(|float| float as usize),
            _ => None,
        };
        let Some(task) = number.and_then(|number| number.checked_sub(1)).and_then(|at| tasks.get_mut(at)) else {
            return Given::error(format!("Task ID {} not found", string(id)));
        };
        task.status = status.clone();
        self.done = 0;
        Given::text(shown(tasks))
    }

    /// What stands behind the last result of a round.
    pub(super) fn reminder(&self) -> Option<String> {
        let Some(tasks) = &self.tasks else {
            return (!self.decided).then(|| UNDECIDED.to_owned());
        };
        if self.done >= 2 {
            return Some(format!(
                "⚠️ WARNING: You performed {} significant operations (edit/create/run) but haven't updated the plan.\nCall \
                 plan(action='update', task_id=X, status='completed') to mark finished tasks, or plan(action='update', task_id=Y, \
                 status='in_progress') to start the next one.",
                self.done
            ));
        }
        let (at, task) = tasks.iter().enumerate().find(|(_, task)| task.status == "in_progress")?;
        let id = at + 1;
        (self.done >= 1).then(|| {
            format!(
                "⚠️ Task [{id}] '{}' is in_progress. If you finished it, call plan(action='update', task_id={id}, status='completed').",
                string(&task.text)
            )
        })
    }

    /// Why the model may not finish yet. It may answer at once, whatever an earlier run has left open.
    pub(super) fn unfinished(&self) -> Option<String> {
        let tasks = self.tasks.as_ref().filter(|_| self.called)?;
        let open: Vec<_> = tasks.iter().enumerate().filter(|(_, task)| task.status != "completed").collect();
        if open.is_empty() {
            return None;
        }
        let mut text = format!("⚠️ WARNING: {} task(s) still incomplete:", open.len());
        for (at, task) in open {
            text.push_str(&format!("\n  [{}] {:12} - {}", at + 1, string(&task.status), string(&task.text)));
        }
        text.push_str("\n\nYou must complete all tasks before finishing.");
        Some(text)
    }

    /// For a later run of the session. A decision without a plan is made anew there.
    pub(super) fn keep(&self) -> Option<Value> {
        let tasks = self.tasks.as_ref()?;
        let kept = tasks
            .iter()
            .enumerate()
            .map(|(at, task)| json!({"id": at + 1, "desc": task.text, "status": task.status}));
        Some(json!({"tasks": kept.collect::<Vec<_>>()}))
    }

    /// Goes on with what an earlier run has kept.
    pub(super) fn restore(&mut self, kept: &Value) {
        let Some(tasks) = kept.get("tasks").and_then(Value::as_array) else {
            return;
        };
        let task = |kept: &Value| Task {
            text: kept.get("desc").cloned().unwrap_or_default(),
            status: kept.get("status").cloned().unwrap_or_else(|| json!("pending")),
        };
        self.tasks = Some(tasks.iter().map(task).collect());
        self.decided = true;
        self.done = 0;
    }
}

/// The tasks in colours: red is to do, yellow is being done, green is done.
fn shown(tasks: &[Task]) -> String {
    let mut text = String::new();
    for (at, task) in tasks.iter().enumerate() {
        text.push_str(if at == 0 { "↳ - " } else { "\n  - " });
        let colour = match task.status.as_str() {
            Some("pending") => "31",
            Some("in_progress") => "33",
            Some("completed") => "32",
            _ => {
                text.push_str(&string(&task.text));
                continue;
            }
        };
        text.push_str(&format!("\u{1b}[{colour}m{}\u{1b}[0m", string(&task.text)));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::message::Part;
    use agentglot_adapters::raw::event::ResultStatus;

    fn said(given: Given) -> (bool, String) {
        let ok = given.status == ResultStatus::Success;
        match &given.content[..] {
            [Part::Text(text)] => (ok, text.clone()),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn nothing_runs_before_a_decision_and_all_after_it() {
        let mut plan = Plan::default();
        assert!(said(plan.gate("read_file").unwrap()).1.starts_with("⚠️ BLOCKED"));
        assert_eq!(plan.reminder().as_deref(), Some(UNDECIDED));
        assert!(plan.gate("plan").is_none());
        assert_eq!(said(plan.call(&json!({"action": "check"}))), (false, NONE.to_owned()),);
        assert_eq!(said(plan.call(&json!({}))), (false, "Unknown action: None".to_owned()));
        assert!(plan.gate("read_file").is_some());
        assert_eq!(
            said(plan.call(&json!({"action": "skip", "reason": ""}))),
            (true, "Plan skipped (simple task)".to_owned())
        );
        assert!(plan.gate("read_file").is_none());
        plan.count("run_command");
        assert_eq!((plan.reminder(), plan.unfinished(), plan.keep()), (None, None, None));
    }

    #[test]
    fn open_tasks_are_reminded_of() {
        let mut plan = Plan::default();
        plan.gate("plan");
        plan.call(&json!({"action": "create", "tasks": ["read", {"id": 7, "desc": "write"}]}));
        let open = "⚠️ WARNING: 2 task(s) still incomplete:\n  [1] pending      - read\n  [2] pending      - {'id': 7, 'desc': 'write'}\n\nYou \
                    must complete all tasks before finishing.";
        assert_eq!(plan.unfinished().as_deref(), Some(open));
        plan.count("search_context");
        assert_eq!(plan.reminder(), None);
        plan.call(&json!({"action": "update", "task_id": 1, "status": "in_progress"}));
        assert_eq!(plan.reminder(), None);
        plan.count("mkdir");
        let one = "⚠️ Task [1] 'read' is in_progress. If you finished it, call plan(action='update', task_id=1, status='completed').";
        assert_eq!(plan.reminder().as_deref(), Some(one));
        plan.count("edit_file");
        assert!(plan.reminder().unwrap().starts_with("⚠️ WARNING: You performed 2 significant operations (edit/create/run) but haven't updated the plan.\nCall plan(action='update', task_id=X, status='completed') to mark"));
        assert_eq!(
            said(plan.call(&json!({"action": "update", "task_id": "1", "status": "x"}))),
            (false, "Task ID 1 not found".to_owned())
        );

        let mut later = Plan::default();
        later.restore(&plan.keep().unwrap());
        assert!(later.gate("run_command").is_none());
        let shown = "↳ - \u{1b}[33mread\u{1b}[0m\n  - \u{1b}[31m{'id': 7, 'desc': 'write'}\u{1b}[0m";
        assert_eq!(said(later.call(&json!({"action": "check"}))), (true, shown.to_owned()));

        let mut silent = Plan::default();
        silent.restore(&plan.keep().unwrap());
        assert_eq!(silent.unfinished(), None, "a first answer is never held back");
    }
}
