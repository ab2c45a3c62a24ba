//! Lists of things to do, plans, questions to the user.

use bumpalo::Bump;
use bumpalo::collections::Vec as BumpVec;

use super::Args;
use crate::json::{Raw, Str};
use crate::tools::json::{Json, array, members, optional};
use crate::tools::{Family, Todo, TodoStatus};

/// The list that a call writes, in any dialect's shape: `todos` with either spelling of the status, or Tricode's `plan` with
/// `action:"create"`. `None` when it writes no whole list.
pub(in crate::tools) fn read_todos<'a>(input: Raw<'a>, mut add: impl FnMut(Todo<'a>)) -> Option<()> {
    let [todos, action, tasks] = members(input, ["todos", "action", "tasks"])?;
    if let Some(todos) = todos {
        for todo in array(todos)?.elements() {
            add(read_todo(todo)?);
        }
        return Some(());
    }
    if !action?.string()?.is("create") {
        return None;
    }
    for task in array(tasks?)?.elements() {
        // Strings; the document of an older version shows objects with `id` and `desc`.
        let content = match task.string() {
            Some(text) => text,
            None => task.get("desc")?.string()?,
        };
        add(Todo {
            id: None,
            content,
            status: TodoStatus::Pending,
            active: None,
        });
    }
    Some(())
}

/// One item of a `todos` list, in any dialect's spelling.
pub(in crate::tools) fn read_todo(todo: Raw<'_>) -> Option<Todo<'_>> {
    let [id, content, status, active] = members(todo, ["id", "content", "status", "activeForm"])?;
    Some(Todo {
        id: optional(id, Raw::string)?,
        content: content?.string()?,
        status: optional(status, |word| read_status(word.string()?))?.unwrap_or(TodoStatus::Pending),
        active: optional(active, Raw::string)?,
    })
}

fn read_status(word: Str<'_>) -> Option<TodoStatus> {
    Some(match word.as_escaped() {
        "pending" | "TODO_STATUS_PENDING" | "TODO_STATUS_UNSPECIFIED" => TodoStatus::Pending,
        "in_progress" | "TODO_STATUS_IN_PROGRESS" => TodoStatus::InProgress,
        "completed" | "TODO_STATUS_COMPLETED" => TodoStatus::Completed,
        "cancelled" | "canceled" | "TODO_STATUS_CANCELLED" => TodoStatus::Cancelled,
        _ => return None,
    })
}

/// A status as Claude and Qwen write it. They have none for what was called off; `cancelled` says it all the same.
pub(in crate::tools) const fn status_word(status: TodoStatus) -> &'static str {
    match status {
        TodoStatus::Pending => "pending",
        TodoStatus::InProgress => "in_progress",
        TodoStatus::Completed => "completed",
        TodoStatus::Cancelled => "cancelled",
    }
}

pub(super) fn todos<'a>(input: Raw<'a>, arena: &'a Bump) -> Option<Args<'a>> {
    let mut list = BumpVec::new_in(arena);
    read_todos(input, |todo| list.push(todo))?;
    let [merge] = members(input, ["merge"])?;
    Some(Args::Todos {
        list: list.into_bump_slice(),
        merge: optional(merge, Raw::bool)? == Some(true),
    })
}

/// A list that only adds to the one before has no counterpart outside Cursor. Tricode's plan is kept by its encoder, which
/// knows the list so far.
pub(super) fn write_todos<'a>(list: &[Todo<'_>], merge: bool, to: Family, arena: &'a Bump) -> Option<(Str<'a>, Raw<'a>)> {
    let name = match to {
        Family::Tricode => return None,
        Family::Claude | Family::Qwen if merge => return None,
        Family::Claude => "TodoWrite",
        Family::Qwen => "todo_write",
        Family::Cursor => "updateTodosToolCall",
    };
    let mut json = Json::new(arena);
    json.mark('{').key("todos").mark('[');
    for (index, todo) in list.iter().enumerate() {
        json.item();
        write_todo(&mut json, todo, index, to);
    }
    json.mark(']');
    if to == Family::Cursor {
        json.key("merge").bool(merge);
    }
    json.mark('}');
    Some((Str::trusted(name), json.done()))
}

/// Claude's `activeForm` is the content when the source has none; ids count from 1 when it has none.
pub(in crate::tools) fn write_todo(json: &mut Json<'_>, todo: &Todo<'_>, index: usize, to: Family) {
    json.mark('{');
    if to != Family::Claude {
        match todo.id {
            Some(id) => json.key("id").str(id),
            None => json.key("id").plain(&(index + 1).to_string()),
        };
    }
    json.key("content").str(todo.content);
    match to {
        Family::Cursor => json.key("status").lit(match todo.status {
            TodoStatus::Pending => "\"TODO_STATUS_PENDING\"",
            TodoStatus::InProgress => "\"TODO_STATUS_IN_PROGRESS\"",
            TodoStatus::Completed => "\"TODO_STATUS_COMPLETED\"",
            TodoStatus::Cancelled => "\"TODO_STATUS_CANCELLED\"",
        }),
        _ => json.key("status").plain(status_word(todo.status)),
    };
    if to == Family::Claude {
        json.key("activeForm").str(todo.active.unwrap_or(todo.content));
    }
    json.mark('}');
}

pub(super) fn ask<'a>(from: Family, input: Raw<'a>) -> Option<Args<'a>> {
    let [questions] = members(input, ["questions"])?;
    let questions = array(questions?)?;
    let cursor = from == Family::Cursor;
    for question in questions.elements() {
        read_question(question, cursor)?;
    }
    Some(Args::Ask { questions, cursor })
}

struct Question<'a> {
    text: Str<'a>,
    /// Claude's short headline, Cursor's id.
    head: Option<Str<'a>>,
    several: Option<bool>,
    options: Option<Raw<'a>>,
}

fn read_question(question: Raw<'_>, cursor: bool) -> Option<Question<'_>> {
    let names = if cursor {
        ["prompt", "id", "allowMultiple", "options"]
    } else {
        ["question", "header", "multiSelect", "options"]
    };
    let [text, head, several, options] = members(question, names)?;
    let options = optional(options, array)?;
    for option in options.iter().flat_map(|options| options.elements()) {
        option.get("label")?.string()?;
    }
    Some(Question {
        text: text?.string()?,
        head: optional(head, Raw::string)?,
        several: optional(several, Raw::bool)?,
        options,
    })
}

/// Claude and Qwen ask in one shape. Cursor has ids where they have a headline, and no description of an option: the label is
/// its id, and a description that nobody gave is empty.
pub(super) fn write_ask<'a>(questions: Raw<'_>, cursor: bool, to: Family, arena: &'a Bump) -> Option<(Str<'a>, Raw<'a>)> {
    let name = match to {
        Family::Claude => "AskUserQuestion",
        Family::Qwen => "ask_user_question",
        Family::Cursor => "askQuestionToolCall",
        Family::Tricode => return None,
    };
    let mut json = Json::new(arena);
    json.mark('{');
    if to != Family::Cursor && !cursor {
        json.key("questions").raw(questions).mark('}');
        return Some((Str::trusted(name), json.done()));
    }
    if to == Family::Cursor {
        let title = questions.elements().next().and_then(|first| read_question(first, cursor)?.head);
        json.key("title").str(title.unwrap_or_default());
    }
    json.key("questions").mark('[');
    for (index, question) in questions.elements().enumerate() {
        let question = read_question(question, cursor)?;
        json.item().mark('{');
        if to == Family::Cursor {
            match question.head {
                Some(head) => json.key("id").str(head),
                None => json.key("id").plain(&(index + 1).to_string()),
            };
            json.key("prompt").str(question.text);
        } else {
            json.key("question")
                .str(question.text)
                .maybe_str("header", question.head)
                .maybe_bool("multiSelect", question.several);
        }
        json.key("options").mark('[');
        for option in question.options.iter().flat_map(|options| options.elements()) {
            let label = option.get("label")?.string()?;
            json.item().mark('{');
            match to {
                Family::Cursor => json.key("id").str(label).key("label").str(label),
                _ => json.key("label").str(label).key("description").lit("\"\""),
            };
            json.mark('}');
        }
        json.mark(']');
        if to == Family::Cursor {
            json.key("allowMultiple").bool(question.several.unwrap_or(false));
        }
        json.mark('}');
    }
    json.mark(']');
    if to == Family::Cursor {
        json.key("runAsync").lit("false").key("asyncOriginalToolCallId").lit("\"\"");
    }
    json.mark('}');
    Some((Str::trusted(name), json.done()))
}

pub(super) fn plan<'a>(input: Raw<'a>) -> Option<Args<'a>> {
    let [plan] = members(input, ["plan"])?;
    Some(Args::Plan {
        plan: optional(plan, Raw::string)?,
    })
}

pub(super) fn write_plan<'a>(plan: Option<Str<'_>>, to: Family, arena: &'a Bump) -> Option<(Str<'a>, Raw<'a>)> {
    let name = match to {
        Family::Claude => "ExitPlanMode",
        Family::Qwen => "exit_plan_mode",
        Family::Cursor => "createPlanToolCall",
        Family::Tricode => return None,
    };
    let mut json = Json::new(arena);
    json.mark('{').maybe_str("plan", plan).mark('}');
    Some((Str::trusted(name), json.done()))
}
