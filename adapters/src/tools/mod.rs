//! What a tool call means, and what each agent calls it.
//!
//! Each agent's folder has its [`Tools`]: names, and the ways from and to the canonical forms. A call is read into what it asks for
//! ([`Args`](args::Args)) and written in the target's words; a result is read into what it [shows](ToolOutput) and written in the
//! target's shape. Texts, paths and other values move as they were written; only what has to be worked out (numbers in other units,
//! diffs, numbered lines) is made anew. A call stays in its source's words when its arguments do not have the shape that they should
//! have, and when the target has nothing that means the same. docs/tools.md says what that comes to for each pair.

pub mod args;
pub(crate) mod diff;
pub(crate) mod json;
pub(crate) mod lines;
pub(crate) mod output;
pub(crate) mod result;
pub(crate) mod table;
#[cfg(test)]
mod tests;
pub(crate) mod texts;

use bumpalo::Bump;

/// The memory that a translated call lives in.
pub use bumpalo::Bump as Arena;

use crate::codec::Dialect;
use crate::event::{ToolCall, ToolKind, ToolResult};
use crate::json::{Raw, Str};
use args::Args;

pub use output::{FileChange, FileRead, ShellRun, SubagentRun, ToolOutput, output};
pub use table::{Tools, kind_of};

/// From one dialect's tools to another's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Translate {
    /// Whose tools the calls name.
    pub from: Dialect,
    /// Whose tools they are to name.
    pub to: Dialect,
}

impl Translate {
    /// The call in the target's own name and arguments; `None` when it stays as it is.
    pub fn call<'a>(&self, call: &ToolCall<'a>, arena: &'a Bump) -> Option<ToolCall<'a>> {
        let (from, to) = self.ends()?;
        let Some(args) = from.args(call.name, call.input, arena) else {
            return self.bare_call(call);
        };
        in_words(call, &args, (to.write)(&args, call.id, arena)?)
    }

    /// A call of which only the name is known, as one that was made up for its result.
    fn bare_call<'a>(&self, call: &ToolCall<'a>) -> Option<ToolCall<'a>> {
        let (from, to) = self.ends()?;
        let kind = from.kind(&call.name.unescape());
        if kind == ToolKind::Todo || !call.input.as_str().bytes().all(|byte| matches!(byte, b'{' | b'}' | b' ')) {
            return None;
        }
        let name = Str::trusted(to.name(kind)?);
        (name != call.name).then_some(ToolCall { name, kind, ..*call })
    }

    /// The result in the target's own shape, and its call in the target's own words; `None` for what stays as it is. `call` is the
    /// call as the source made it. Some calls can only be told when the result is known too, as where there are two names
    /// for writing a file, one for a new file and one for a file that is there.
    pub fn result<'a>(&self, call: &ToolCall<'a>, result: &ToolResult<'a>, arena: &'a Bump) -> (Option<ToolCall<'a>>, Option<ToolResult<'a>>) {
        result::result(self, call, result, arena)
    }

    /// A session's list of tools as the target lists them: an array of names, also where the source has them in one text with
    /// blanks between them. `None` when nothing changes. Names that nobody else knows stay; two tools that are one in the target
    /// are listed once. Not every agent lists its tools.
    pub fn list<'a>(&self, tools: Raw<'a>, arena: &'a Bump) -> Option<Raw<'a>> {
        let (from, to) = self.ends()?;
        let listed = to.listed?;
        let mut list = String::with_capacity(2 * tools.as_str().len());
        list.push('[');
        let mut changed = false;
        let mut seen: Vec<&str> = Vec::with_capacity(32);
        let elements = tools.strings().map(Str::as_escaped);
        let words = tools
            .string()
            .map_or("", Str::as_escaped)
            .split([' ', ','])
            .filter(|name| !name.is_empty());
        for name in elements.chain(words) {
            let native = match from.kind(&Str::trusted(name).unescape()) {
                ToolKind::Other => None,
                kind => {
                    let other = listed.iter().find(|(of, _)| *of == kind).map(|(_, name)| *name);
                    other.or_else(|| to.name(kind))
                }
            };
            let name = native.unwrap_or(name);
            changed |= native.is_some();
            if !seen.contains(&name) {
                seen.push(name);
                list.push_str(if list.len() > 1 { ",\"" } else { "\"" });
                list.push_str(name);
                list.push('"');
            }
        }
        list.push(']');
        // Names are strings that were checked.
        changed.then(|| Raw::checked(arena.alloc_str(&list)))
    }

    /// What an outcome says of refused calls (`[{tool_name,tool_use_id,tool_input}]`), with the target's own names and arguments;
    /// `None` when nothing changes.
    pub fn refused<'a>(&self, denials: Raw<'a>, arena: &'a Bump) -> Option<Raw<'a>> {
        self.ends().filter(|_| self.to.vendor().lists_denials)?;
        let mut list = String::from("[");
        let mut changed = false;
        for denial in denials.elements() {
            if list.len() > 1 {
                list.push(',');
            }
            let parts = json::members(denial, ["tool_name", "tool_use_id", "tool_input"]);
            let call = parts.and_then(|[name, id, input]| {
                let name = name?.string()?;
                let id = id?.string()?;
                let call = ToolCall {
                    id,
                    name,
                    kind: kind_of(self.from, name),
                    input: input?,
                    fields: &[],
                };
                self.call(&call, arena)
            });
            match call {
                Some(call) => {
                    changed = true;
                    for part in [
                        "{\"tool_name\":\"",
                        call.name.as_escaped(),
                        "\",\"tool_use_id\":\"",
                        call.id.as_escaped(),
                        "\",\"tool_input\":",
                        call.input.as_str(),
                        "}",
                    ] {
                        list.push_str(part);
                    }
                }
                None => list.push_str(denial.as_str()),
            }
        }
        list.push(']');
        changed.then(|| Raw::trusted(arena.alloc_str(&list)))
    }

    /// Both ends, if they have tools of their own that differ.
    fn ends(&self) -> Option<(&'static Tools, &'static Tools)> {
        let (from, to) = (Tools::of(self.from)?, Tools::of(self.to)?);
        (!from.is(to)).then_some((from, to))
    }
}

/// A call in other words; `None` if they are its own.
fn in_words<'a>(call: &ToolCall<'a>, args: &Args<'a>, (name, input): (Str<'a>, Raw<'a>)) -> Option<ToolCall<'a>> {
    // The same arguments in another order stay as they were written.
    let same = input.as_str().len() == call.input.as_str().len() && input.same_value(call.input);
    let input = if same { call.input } else { input };
    (!same || name != call.name).then_some(ToolCall {
        name,
        kind: args.kind(),
        input,
        ..*call
    })
}
