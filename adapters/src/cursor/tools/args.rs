//! Arguments: members in camel case; many repeat the call's id.

use bumpalo::Bump;

use crate::event::ToolKind;
use crate::json::{Raw, Str};
use crate::snake_tools::{change, changes, common, grep, replacement};
use crate::tools::args::{Args, Change, Grep, Question, Read, Shell, Subagent, TodoStatus, Todos};
use crate::tools::json::{Json, array, members, number, object, optional, whole};

const CHANGE: [&str; 3] = ["oldText", "newText", "replaceAll"];

pub(super) fn read<'a>(kind: ToolKind, input: Raw<'a>, arena: &'a Bump) -> Option<Args<'a>> {
    Some(match kind {
        ToolKind::Read => {
            let [path, offset, limit] = members(input, ["path", "offset", "limit"])?;
            Args::Read(Read {
                path: path?.string()?,
                start: optional(offset, whole)?.map(|line| line.max(1)),
                count: optional(limit, whole)?,
                ..Read::default()
            })
        }
        ToolKind::Write => {
            let [path, content, other] = members(input, ["path", "fileText", "content"])?;
            Args::Write {
                path: path?.string()?,
                content: content.or(other)?.string()?,
            }
        }
        ToolKind::Edit => return edit(input, arena),
        ToolKind::Delete => {
            let [path] = members(input, ["path"])?;
            Args::Delete { path: path?.string()? }
        }
        ToolKind::Shell => {
            let [command, directory, timeout, background, description] =
                members(input, ["command", "workingDirectory", "timeout", "isBackground", "description"])?;
            Args::Shell(Shell {
                command: command?.string()?,
                timeout: optional(timeout, whole)?,
                description: optional(description, Raw::string)?,
                background: optional(background, Raw::bool)?,
                // An empty one is the workspace.
                directory: optional(directory, Raw::string)?.filter(|path| !path.is_empty()),
            })
        }
        ToolKind::Grep => {
            let [mode, case, context, limit] = members(input, ["outputMode", "caseInsensitive", "context", "headLimit"])?;
            Args::Grep(Grep {
                mode: optional(mode, Raw::string)?,
                ignore_case: optional(case, Raw::bool)?,
                context: optional(context, number)?,
                limit: optional(limit, number)?,
                ..grep(input)?
            })
        }
        ToolKind::Glob => {
            let [pattern, path, short, dir] = members(input, ["globPattern", "targetDirectory", "pattern", "path"])?;
            Args::Glob {
                pattern: pattern.or(short)?.string()?,
                path: optional(path.or(dir), Raw::string)?,
            }
        }
        ToolKind::WebSearch => {
            let [query, term] = members(input, ["query", "searchTerm"])?;
            Args::WebSearch {
                query: term.or(query)?.string()?,
            }
        }
        ToolKind::Subagent => {
            let [description, prompt, agent, background, model] =
                members(input, ["description", "prompt", "subagentType", "run_in_background", "model"])?;
            Args::Subagent(Subagent {
                description: optional(description, Raw::string)?,
                prompt: prompt?.string()?,
                agent: optional(agent, agent_type)?.flatten(),
                background: optional(background, Raw::bool)?,
                model: optional(model, Raw::string)?,
            })
        }
        ToolKind::Mcp => {
            let [args, provider, server, tool] = members(input, ["args", "providerIdentifier", "serverIdentifier", "toolName"])?;
            let (server, tool) = (provider.or(server)?.string()?, tool?.string()?);
            let args = optional(args, object)?.unwrap_or(Raw::trusted("{}"));
            return (!server.is_empty() && !tool.is_empty()).then_some(Args::Mcp { server, tool, args });
        }
        ToolKind::Ask => {
            let [questions] = members(input, ["questions"])?;
            Args::Ask {
                questions: Question::list(array(questions?)?, ["prompt", "id", "allowMultiple", "options"], arena)?,
            }
        }
        kind => return common(kind, input, arena),
    })
}

/// Only the new text is said, of the place or of the whole file: nothing tells which. In 2025 more was.
fn edit<'a>(input: Raw<'a>, arena: &'a Bump) -> Option<Args<'a>> {
    let [path, stream, one, several, new] = members(input, ["path", "streamContent", "strReplace", "multiStrReplace", "newText"])?;
    let path = path?.string()?;
    if let Some(new) = stream {
        return Some(Args::Edit {
            path,
            change: Change {
                old: None,
                new: new.string()?,
                all: None,
            },
        });
    }
    if let Some(several) = several {
        let [edits] = members(several, ["edits"])?;
        return Some(Args::MultiEdit {
            path,
            changes: changes(edits?, CHANGE, arena)?,
        });
    }
    let change = match (one, new) {
        (Some(one), _) => change(one, CHANGE)?,
        (None, Some(_)) => change(input, CHANGE)?,
        _ => return None,
    };
    Some(Args::Edit { path, change })
}

/// A one-of: `{"unspecified":{}}`, `{"NAME":{}}`, `{"custom":{"name":"NAME"}}`.
fn agent_type<'a>(value: Raw<'a>) -> Option<Option<Str<'a>>> {
    if let Some(name) = value.string() {
        return Some(Some(name));
    }
    let (name, inner) = value.members().next()?;
    if name.is("custom") {
        return Some(inner.get("name").and_then(Raw::string).or(Some(name)));
    }
    Some((!name.is("unspecified")).then_some(name))
}

pub(super) fn write<'a>(args: &Args<'a>, id: Str<'_>, mut json: Json<'a>) -> Option<(Str<'a>, Raw<'a>)> {
    let arena = json.arena();
    json.mark('{');
    let name = match *args {
        Args::Read(read) => {
            json.key("path")
                .str(read.path)
                .maybe_number("offset", read.start)
                .maybe_number("limit", read.count);
            "readToolCall"
        }
        Args::Write { path, content } => {
            json.key("path").str(path).key("streamContent").str(content);
            "editToolCall"
        }
        // The current generation has no place for the old text.
        Args::Edit { path, change } => {
            json.key("path").str(path).key("streamContent").str(change.new);
            "editToolCall"
        }
        Args::MultiEdit { path, changes } => {
            json.key("path").str(path).key("multiStrReplace").mark('{').key("edits").mark('[');
            for change in changes {
                json.item().mark('{');
                replacement(&mut json, *change, CHANGE);
                json.mark('}');
            }
            json.mark(']').mark('}');
            "editToolCall"
        }
        // The list is written even when it is empty.
        Args::List { path, ignore } => {
            json.key("path").str(path).key("ignore").raw(ignore.unwrap_or(Raw::trusted("[]")));
            json.key("toolCallId").str(id);
            "lsToolCall"
        }
        Args::Delete { path } => {
            json.key("path").str(path).key("toolCallId").str(id);
            "deleteToolCall"
        }
        Args::Shell(shell) => {
            json.key("command")
                .str(shell.command)
                .key("workingDirectory")
                .str(shell.directory.unwrap_or_default());
            json.maybe_number("timeout", shell.timeout).key("toolCallId").str(id);
            json.key("isBackground")
                .bool(shell.background.unwrap_or(false))
                .maybe_str("description", shell.description);
            "shellToolCall"
        }
        Args::Grep(grep) => {
            json.key("pattern")
                .str(grep.pattern)
                .maybe_str("path", grep.path)
                .maybe_str("glob", grep.glob);
            json.maybe_str("outputMode", grep.mode).maybe_raw("context", grep.context);
            json.maybe_bool("caseInsensitive", grep.ignore_case).maybe_str("type", grep.file_type);
            json.maybe_raw("headLimit", grep.limit).maybe_bool("multiline", grep.multiline);
            json.key("toolCallId").str(id).maybe_raw("offset", grep.offset);
            "grepToolCall"
        }
        Args::Glob { pattern, path } => {
            json.maybe_str("targetDirectory", path).key("globPattern").str(pattern);
            "globToolCall"
        }
        Args::Fetch { url, .. } => {
            json.key("url").str(url).key("toolCallId").str(id);
            "webFetchToolCall"
        }
        Args::WebSearch { query } => {
            json.key("searchTerm").str(query).key("toolCallId").str(id);
            "webSearchToolCall"
        }
        Args::Subagent(call) => {
            json.maybe_str("description", call.description).key("prompt").str(call.prompt);
            let agent = call.agent.unwrap_or(Str::trusted("unspecified"));
            json.key("subagentType").mark('{').key(agent.as_escaped()).lit("{}").mark('}');
            json.maybe_str("model", call.model);
            "taskToolCall"
        }
        Args::Mcp { server, tool, args } => {
            let name = bumpalo::format!(in arena, "{}-{}", server.as_escaped(), tool.as_escaped());
            json.key("name").str(Str::trusted(&name)).key("args").raw(args).key("toolCallId").str(id);
            json.key("providerIdentifier").str(server).key("toolName").str(tool);
            "mcpToolCall"
        }
        Args::Todos { list, merge } => {
            json.key("todos");
            write_todos(&mut json, list);
            json.key("merge").bool(merge);
            "updateTodosToolCall"
        }
        Args::Ask { questions } => {
            ask(&mut json, questions);
            "askQuestionToolCall"
        }
        Args::Plan { plan } => {
            json.maybe_str("plan", plan);
            "createPlanToolCall"
        }
        Args::NotebookEdit(_) => return None,
    };
    json.mark('}');
    Some((Str::trusted(name), json.done()))
}

pub(super) fn write_todos(json: &mut Json<'_>, list: Todos<'_>) {
    json.mark('[');
    for (index, todo) in list.iter().enumerate() {
        json.item().mark('{');
        todo.write_id(json, index);
        json.key("content").str(todo.content).key("status").lit(match todo.status {
            TodoStatus::Pending => "\"TODO_STATUS_PENDING\"",
            TodoStatus::InProgress => "\"TODO_STATUS_IN_PROGRESS\"",
            TodoStatus::Completed => "\"TODO_STATUS_COMPLETED\"",
            TodoStatus::Cancelled => "\"TODO_STATUS_CANCELLED\"",
        });
        json.mark('}');
    }
    json.mark(']');
}

/// A question has an id where others have a headline, and an option's label is its id.
fn ask(json: &mut Json<'_>, questions: &[Question<'_>]) {
    let title = questions.first().and_then(|first| first.head);
    json.key("title").str(title.unwrap_or_default()).key("questions").mark('[');
    for (index, question) in questions.iter().enumerate() {
        json.item().mark('{');
        match question.head {
            Some(head) => json.key("id").str(head),
            None => json.key("id").plain(&(index + 1).to_string()),
        };
        json.key("prompt").str(question.text).key("options").mark('[');
        for choice in question.options {
            json.item().mark('{').key("id").str(choice.label).key("label").str(choice.label).mark('}');
        }
        json.mark(']').key("allowMultiple").bool(question.several.unwrap_or(false)).mark('}');
    }
    json.mark(']').key("runAsync").lit("false").key("asyncOriginalToolCallId").lit("\"\"");
}
