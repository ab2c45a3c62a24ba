//! What the program asks, and what a host's answer to it is in the program's words.

use crate::conduct::quoted;
use crate::event::Response;
use crate::json::{Raw, Str};

/// A question that waits for the host.
#[derive(Debug)]
pub(super) struct Question {
    /// Its id as JSON.
    pub(super) id: String,
    /// It is asked as a form of an MCP server: no decision is wanted but an action.
    is_form: bool,
}

impl Question {
    /// Whether this is its id, as hosts know it.
    pub(super) fn is(&self, id: Str<'_>) -> bool {
        self.id.trim_matches('"') == id.as_escaped()
    }
}

/// The question, if a host can be asked it.
pub(super) fn question(method: Str<'_>, id: Raw<'_>, message: Raw<'_>) -> Option<Question> {
    let is_form = match &*method.unescape() {
        "item/commandExecution/requestApproval" | "item/fileChange/requestApproval" => false,
        FORM if approves(message.get("params")?.get("_meta")) => true,
        _ => return None,
    };
    Some(Question {
        id: id.as_str().to_owned(),
        is_form,
    })
}

/// The request by which the program asks what an MCP server wants to know of the user.
pub(in super::super) const FORM: &str = "mcpServer/elicitation/request";

/// Whether the program itself asks by the form of which this is the `_meta`: may this tool of the server run?
pub(in super::super) fn approves(meta: Option<Raw<'_>>) -> bool {
    let kind = meta.and_then(|meta| meta.get("codex_approval_kind")?.string());
    kind.is_some_and(|kind| kind.is("mcp_tool_call"))
}

/// The host's answer. What is no permission is a denial, and its words go along: the program reads the decision alone, and who reads the
/// conversation sees why.
pub(super) fn answer(asked: &Question, response: &Response<'_>) -> String {
    let body = response.body.filter(|_| response.ok);
    let get = |name: &str| body.and_then(|body| body.get(name));
    let allows = get("behavior")
        .and_then(Raw::string)
        .is_some_and(|word| word.is("allow") || word.is("approve"));
    let keeps = get("updatedPermissions").is_some_and(|rules| rules.elements().next().is_some());
    let stops = get("interrupt").and_then(Raw::bool) == Some(true);
    let result = match (asked.is_form, allows) {
        (true, true) => "\"action\":\"accept\",\"content\":{}".to_owned(),
        (true, false) => format!("\"action\":\"{}\"", if stops { "cancel" } else { "decline" }),
        (false, true) => format!("\"decision\":\"{}\"", if keeps { "acceptForSession" } else { "accept" }),
        (false, false) => format!("\"decision\":\"{}\"", if stops { "cancel" } else { "decline" }),
    };
    let error = response.error.filter(|_| !response.ok);
    let words = get("message").or(error).filter(|_| !allows);
    let words = words.and_then(Raw::string).map(|words| quoted(&words.unescape()));
    let words = words.map_or_else(String::new, |words| format!(",\"message\":{words}"));
    format!("{{\"id\":{},\"result\":{{{result}{words}}}}}", asked.id)
}
