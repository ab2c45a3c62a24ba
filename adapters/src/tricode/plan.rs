//! Lists of things to do, as calls of `plan`.
//!
//! Claude, Qwen Code and Cursor write the whole list with each call; Tricode creates a plan once and then changes one task
//! at a time. A list with other tasks than before becomes a `create`; then each status that differs becomes an `update`.
//! Tasks are numbered by their position. Each call has its own result: the list in colours, red for what is still to do,
//! yellow for what is being done, green for what is done (docs/tricode.md).

use super::formatted_result::Shown;
use super::lines;
use crate::event::{ToolCall, ToolKind};
use crate::json::python;
use crate::json::{Out, Raw, Shape, Str};
use crate::trace::Kept;

/// The plan as it stands.
#[derive(Debug, Default)]
pub(super) struct Plan {
    tasks: Vec<Task>,
}

/// A list that a call writes.
#[derive(Debug)]
pub(super) struct List {
    tasks: Vec<Task>,
    /// Only the tasks named are changed: Cursor's `merge`.
    merge: bool,
}

/// One thing to do. All texts are bodies of JSON strings in Python's spelling.
#[derive(Clone, Debug, Default)]
struct Task {
    /// The id in the source; empty when it has none.
    id: String,
    /// What is to be done; a task that is merged may leave it out.
    text: Option<String>,
    status: String,
    /// Where the source says the status.
    kept: Kept,
}

/// One call of `plan`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Create,
    /// The task at this index.
    Update(usize),
    /// Nothing changes; the plan is only shown.
    Check,
}

const NOTE: &str = "a list of things to do becomes calls of plan";
const NAME: Str<'static> = Str::trusted("plan");
/// A plan has no more tasks than this, for it shows all of itself with each change; a longer list goes over as the call that it was.
const MOST: usize = 512;
const PENDING: &str = "pending";
const CANCELLED: &str = "cancelled";

impl List {
    /// The list that a call writes, if it is a call of that kind.
    pub(super) fn read(call: &ToolCall<'_>) -> Option<Self> {
        if call.kind != ToolKind::Todo {
            return None;
        }
        let todos = call.input.get("todos").filter(|todos| todos.shape() == Some(Shape::Array))?;
        // What is no plan need not be read.
        if todos.elements().nth(MOST).is_some() {
            return None;
        }
        let tasks = todos.elements().map(Task::read).collect::<Option<_>>()?;
        let merge = call.input.get("merge").and_then(Raw::bool).unwrap_or(false);
        Some(Self { tasks, merge })
    }

    /// Tells the ledger what of such a call a plan holds. How far things are is known to go over when the calls are written.
    pub(super) fn tell(&mut self, call: &ToolCall<'_>, out: &Out) {
        out.renamed(call.name.as_escaped(), NOTE);
        let merge = call.input.get("merge");
        if let Some(merge) = merge {
            out.renamed(merge.as_str(), NOTE);
        }
        let todos = call.input.get("todos").unwrap_or(Raw::trusted("[]"));
        if todos.elements().next().is_none() {
            out.renamed(todos.as_str(), NOTE);
        }
        for (todo, task) in todos.elements().zip(&mut self.tasks).filter(|(_, task)| task.status != CANCELLED) {
            for (key, value) in todo.members() {
                match () {
                    () if key.is("status") => out.hold(&mut task.kept, value.as_str()),
                    () if key.is("content") => out.renamed(value.as_str(), NOTE),
                    () => {}
                }
            }
        }
    }

    /// What was called off is in no plan.
    fn going_on(tasks: Vec<Task>) -> Vec<Task> {
        tasks.into_iter().filter(|task| task.status != CANCELLED).collect()
    }
}

impl Task {
    fn read(todo: Raw<'_>) -> Option<Self> {
        if todo.shape() != Some(Shape::Object) {
            return None;
        }
        let text = |key| todo.get(key).and_then(Raw::string).map(spelled);
        let status = text("status").unwrap_or_else(|| PENDING.to_owned());
        // Cursor: TODO_STATUS_IN_PROGRESS.
        let status = status
            .strip_prefix("TODO_STATUS_")
            .map_or_else(|| status.clone(), str::to_ascii_lowercase);
        Some(Self {
            id: text("id").unwrap_or_default(),
            text: text("content"),
            status,
            kept: Kept::NONE,
        })
    }
}

fn result(success: bool, text: Str<'_>, out: &mut Out) {
    lines::tool_result(
        Shown {
            name: NAME,
            arguments: None,
            success,
            result: text,
        },
        out,
    );
}

fn spelled(body: Str<'_>) -> String {
    let mut bytes = Vec::with_capacity(body.as_escaped().len());
    python::text(body, &mut bytes);
    // What is UTF-8 stays UTF-8 in Python's spelling.
    String::from_utf8(bytes).unwrap_or_default()
}

impl Plan {
    /// Whether a list makes no plan of too many tasks.
    pub(super) fn takes(&self, list: &List) -> bool {
        let before = if list.merge { self.tasks.len() } else { 0 };
        before + list.tasks.len() <= MOST
    }

    /// Writes the calls of a list, each with its result; `failed` is what was said if it did not go well.
    pub(super) fn answered(&mut self, list: List, failed: Option<Str<'_>>, out: &mut Out) {
        match failed {
            None => self.follow(list, out),
            Some(text) => self.fail(list, text, out),
        }
    }

    /// Writes the calls that bring the plan to where the list wants it, each with its result.
    fn follow(&mut self, list: List, out: &mut Out) {
        let mut next = self.next(list);
        next.iter_mut().for_each(|task| out.rename_held(&mut task.kept, NOTE));
        for step in self.steps(&next) {
            self.call(step, &next, out);
            match step {
                Step::Create => {
                    self.tasks.clone_from(&next);
                    self.tasks.iter_mut().for_each(|task| task.status = PENDING.to_owned());
                }
                Step::Update(at) => self.tasks[at].status.clone_from(&next[at].status),
                Step::Check => {}
            }
            let shown = self.show();
            result(true, Str::trusted(&shown), out);
        }
        // Ids and what else the source says of tasks that have not changed.
        self.tasks = next;
    }

    /// Writes the first of these calls with the result of one that failed. The plan stays.
    fn fail(&self, list: List, text: Str<'_>, out: &mut Out) {
        self.begin(list, out);
        result(false, text, out);
    }

    /// Writes the first of these calls without a result: nobody knows what came of it.
    pub(super) fn begin(&self, list: List, out: &mut Out) {
        let mut next = self.next(list);
        let steps = self.steps(&next);
        let Some(&step) = steps.first() else { return };
        self.call(step, &next, out);
        for (at, task) in next.iter_mut().enumerate() {
            match step {
                Step::Update(only) if only == at => out.rename_held(&mut task.kept, NOTE),
                _ => out.drop_held(
                    &mut task.kept,
                    "no place in tricode: the first call of the list failed, which does not say it",
                ),
            }
        }
    }

    /// The whole list that a list means.
    fn next(&self, list: List) -> Vec<Task> {
        if !list.merge {
            return List::going_on(list.tasks);
        }
        let mut next = self.tasks.clone();
        for task in list.tasks {
            match next.iter_mut().find(|known| known.id == task.id && !task.id.is_empty()) {
                Some(known) => {
                    (known.status, known.kept) = (task.status, task.kept);
                    known.text = task.text.or_else(|| known.text.take());
                }
                None => next.push(task),
            }
        }
        List::going_on(next)
    }

    fn steps(&self, next: &[Task]) -> Vec<Step> {
        let same = !self.tasks.is_empty() && self.tasks.len() == next.len() && self.tasks.iter().zip(next).all(|(a, b)| a.text == b.text);
        let before = |at: usize| if same { self.tasks[at].status.as_str() } else { PENDING };
        let updates = (0..next.len()).filter(|&at| next[at].status != before(at)).map(Step::Update);
        let mut steps: Vec<Step> = (!same).then_some(Step::Create).into_iter().chain(updates).collect();
        if steps.is_empty() {
            steps.push(Step::Check);
        }
        steps
    }

    fn call(&self, step: Step, next: &[Task], out: &mut Out) {
        let mut arguments = String::from("{\"action\": \"");
        match step {
            Step::Create => {
                arguments.push_str("create\", \"tasks\": [");
                for (at, task) in next.iter().enumerate() {
                    arguments.push_str(if at == 0 { "\"" } else { ", \"" });
                    arguments.push_str(task.text());
                    arguments.push('"');
                }
                arguments.push(']');
            }
            Step::Update(at) => {
                arguments.push_str(&format!("update\", \"task_id\": {}, \"status\": \"{}\"", at + 1, next[at].status));
            }
            Step::Check => arguments.push_str("check\""),
        }
        arguments.push('}');
        lines::tool_call(NAME, Raw::trusted(&arguments), out);
    }

    /// The list in colours: `↳ - A`, then `  - B` on lines of their own.
    fn show(&self) -> String {
        let mut shown = String::new();
        for (at, task) in self.tasks.iter().enumerate() {
            shown.push_str(if at == 0 { "↳ - " } else { "\\n  - " });
            let colour = match task.status.as_str() {
                PENDING => "31",
                "in_progress" => "33",
                "completed" => "32",
                _ => {
                    shown.push_str(task.text());
                    continue;
                }
            };
            shown.push_str(&format!("\\u001b[{colour}m{}\\u001b[0m", task.text()));
        }
        shown
    }
}

impl Task {
    fn text(&self) -> &str {
        self.text.as_deref().unwrap_or_default()
    }
}
