//! The calls of agents that are spoken to in this protocol. It has no tools of its own, only kinds of calls: where an agent does not say
//! what it called and with what, the kind names the call and what it shows are its arguments; others say their own tools' names.

use bumpalo::Bump;

use crate::event::ToolKind;
use crate::json::{Raw, Shape, Str};
use crate::tools::args::{Args, Change, Read, Shell, Todos};
use crate::tools::json::{members, optional, whole};
use crate::tools::table::{Tools, names};

names! {
    Read: "read", "read_file", "Read";
    Edit: "edit", "replace", "Edit";
    Write: "write", "write_file", "Write";
    Shell: "execute", "run_shell_command", "Bash", "bash", "exec_command", "shell_command", "shell";
    Todo: "plan";
}

/// The calls that are understood. Calls of others are written as they are: which tools an agent has is not the protocol's to say.
pub(super) static TOOLS: Tools = Tools {
    names_old: true,
    reshapes: |_| false,
    ..Tools::new(NAMES, read, |_, _, _| None, |_| None)
};

fn read<'a>(kind: ToolKind, input: Raw<'a>, arena: &'a Bump) -> Option<Args<'a>> {
    let path = || {
        members(input, ["path", "file_path", "filePath", "absolute_path"])?
            .into_iter()
            .flatten()
            .next()?
            .string()
    };
    Some(match kind {
        ToolKind::Read => {
            let [start, count] = members(input, ["offset", "limit"])?;
            Args::Read(Read {
                path: path()?,
                start: optional(start, whole)?,
                count: optional(count, whole)?,
                ..Read::default()
            })
        }
        ToolKind::Edit => edit(input, path)?,
        ToolKind::Write => {
            let [content] = members(input, ["content"])?;
            Args::Write {
                path: path()?,
                content: content?.string()?,
            }
        }
        ToolKind::Shell => {
            let [command, timeout, description, folder] = members(input, ["command", "timeout", "description", "cwd"])?;
            Args::Shell(Shell {
                command: command?.string()?,
                timeout: optional(timeout, whole)?,
                description: optional(description, Raw::string)?,
                directory: optional(folder, Raw::string)?,
                ..Shell::default()
            })
        }
        ToolKind::Todo => {
            let [todos] = members(input, ["todos"])?;
            Args::Todos {
                list: Todos::read(todos?, arena)?,
                merge: false,
            }
        }
        _ => return None,
    })
}

/// A change as it is shown has both texts, or the new one alone, of a file that was not there. Of a patch only a file that it adds is said whole.
fn edit<'a>(input: Raw<'a>, path: impl Fn() -> Option<Str<'a>>) -> Option<Args<'a>> {
    let [changes] = members(input, ["changes"])?;
    if let Some(changes) = changes.filter(|changes| changes.shape() == Some(Shape::Object)) {
        let mut files = changes.members();
        let (path, change) = files.next().filter(|_| files.next().is_none())?;
        let [kind, content] = members(change, ["type", "content"])?;
        return Some(Args::Write {
            path,
            content: content
                .filter(|_| kind.and_then(Raw::string).is_some_and(|kind| kind.is("add")))?
                .string()?,
        });
    }
    let path = path()?;
    let [old, new] = members(input, ["oldText", "newText"])?;
    let [old_string, new_string, all] = members(input, ["old_string", "new_string", "replace_all"])?;
    let new = new.or(new_string)?.string()?;
    let old = optional(old.or(old_string), Raw::string)?;
    Some(match old {
        None => Args::Write { path, content: new },
        Some(old) => Args::Edit {
            path,
            change: Change {
                old: Some(old),
                new,
                all: optional(all, Raw::bool)?,
            },
        },
    })
}
