//! What the agent asked to be allowed: arguments that the host changes in its answer are those of a tool that the question alone names.

use std::collections::VecDeque;

use super::{Assembler, Down};
use crate::event::{Input, InputKind, Request, Response, ToolCall};
use crate::json::{Raw, Str};
use crate::tools::kind_of;

/// Permission requests that have no answer yet: their ids, and the tools as the source calls them.
#[derive(Debug, Default)]
pub(super) struct Asked(VecDeque<(String, String)>);

/// More than anybody has open; the oldest are forgotten.
const MOST: usize = 256;
/// The member of an answer that says other arguments.
const CHANGED: &str = "updatedInput";

impl Asked {
    pub(super) fn add(&mut self, request: &Request<'_>) {
        let Some((id, permission)) = request.id.zip(request.permission) else {
            return;
        };
        if self.0.len() == MOST {
            self.0.pop_front();
        }
        self.0.push_back((id.as_escaped().to_owned(), permission.name.as_escaped().to_owned()));
    }

    fn take(&mut self, id: Str<'_>) -> Option<String> {
        let at = self.0.iter().position(|(asked, _)| asked == id.as_escaped())?;
        self.0.remove(at).map(|(_, name)| name)
    }
}

impl Assembler {
    /// The host's answer with the arguments that it changed in the target's words; `None` when it stays as it is.
    pub(super) fn answered<'a>(&mut self, input: &Input<'a>, down: &Down<'_, 'a>) -> Option<Response<'a>> {
        let InputKind::Response(response) = input.kind else { return None };
        let name = self.asked.take(response.id?)?;
        let tools = self.duties.tools.as_ref()?;
        let (body, arena) = (response.body?, down.cx.arena);
        let changed = body.get(CHANGED).filter(|changed| !changed.is_null())?;
        let name = Str::trusted(arena.alloc_str(&name));
        let call = ToolCall {
            id: Str::EMPTY,
            name,
            kind: kind_of(tools.from, name),
            input: changed,
            fields: &[],
        };
        let made = tools.call(&call, arena)?;
        tools.tell(&call, &made, None, down.out);
        let (mut text, mut others) = (String::from("{"), Vec::new());
        for (key, value) in body.members() {
            text.push_str(if text.len() > 1 { ",\"" } else { "\"" });
            text.push_str(key.as_escaped());
            text.push_str("\":");
            let from = text.len();
            if key.is(CHANGED) {
                text.push_str(made.input.as_str());
            } else {
                text.push_str(value.as_str());
                others.push((from..text.len(), value));
            }
        }
        text.push('}');
        let text: &'a str = arena.alloc_str(&text);
        for (range, value) in others {
            down.cx.stands_for(&text[range], value.as_str());
        }
        Some(Response {
            body: Some(Raw::trusted(text)),
            ..*response
        })
    }
}
