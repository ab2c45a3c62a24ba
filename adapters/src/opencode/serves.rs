//! OpenCode as an agent of the Agent Client Protocol (`opencode acp`): how it is made to ask, and what it says of a call otherwise than others do.

use super::parts::failed;
use crate::client::{Member, Serves};
use crate::codec::Dialect;
use crate::conduct::quoted;
use crate::json::{Raw, Str};

pub(super) const SERVES: Serves = Serves {
    protocol: Dialect::Acp,
    child: &["acp"],
    flags: &[],
    variables: &[("OPENCODE_PERMISSION", ASKS)],
    settings: Some(("OPENCODE_CONFIG_CONTENT", SETTINGS)),
    unknown: &["opencode service failure"],
    in_lines: |_| false,
    joins_names: true,
    wants_objects: false,
    call,
};

/// By itself it asks about little. Whatever the mode is, the host's side answers. What a subagent asks never reaches the protocol, and is
/// waited for without end: only those are started that ask nothing ([`SETTINGS`]). Tools of servers have a `_` in their names; of its own
/// tools those do that begin and end a plan, which are not there by themselves.
const ASKS: &str = concat!(
    r#"{"*_*":"ask","plan_enter":"deny","plan_exit":"deny","edit":"ask","bash":"ask","webfetch":"ask","websearch":"ask","codesearch":"ask","external_directory":"ask","doom_loop":"ask","#,
    r#""task":{"*":"deny","general":"allow","explore":"allow"}}"#
);

/// A turn goes on when a call was not allowed. Subagents read.
const SETTINGS: &str = concat!(
    r#"{"experimental":{"continue_loop_on_deny":true},"agent":{"general":{"permission":"#,
    r#"{"*_*":"deny","edit":"deny","bash":"deny","webfetch":"deny","websearch":"deny","codesearch":"deny","external_directory":"deny","doom_loop":"deny","task":"deny"}},"#,
    r#""explore":{"permission":"#,
    r#"{"*_*":"deny","edit":"deny","bash":"deny","webfetch":"deny","websearch":"deny","codesearch":"deny","external_directory":"deny","doom_loop":"deny","task":"deny"}}}}"#
);

fn call(said: Raw<'_>) -> Vec<Member> {
    let mut members = Vec::new();
    let update = said.get("sessionUpdate").and_then(Raw::string);
    // The first title of a call is its tool; what it has of arguments by then is made up.
    if update.is_some_and(|update| update.is("tool_call")) {
        members.push(("name", said.get("title").map(|title| title.as_str().to_owned())));
        members.push(("rawInput", None));
    }
    match said.get("rawInput") {
        // A question has what it is about in the place of arguments, which were said already.
        Some(_) if update.is_none() => members.push(("rawInput", None)),
        Some(input) if members.is_empty() && input.get("cwd").is_some() => members.push(("rawInput", Some(without(input, "cwd")))),
        _ => {}
    }
    // What the model sees.
    let output = said.get("rawOutput");
    if let Some(text) = output.and_then(|output| output.get("output").or_else(|| output.get("error"))?.string()) {
        members.push(("rawOutput", Some(format!("\"{}\"", text.as_escaped()))));
    }
    let is_over = said.get("status").and_then(Raw::string).is_some_and(|status| status.is("completed"));
    if is_over && failed(Str::EMPTY, output.and_then(|output| output.get("metadata"))) {
        members.push(("status", Some(quoted("failed"))));
    }
    members
}

/// An object without a member.
fn without(object: Raw<'_>, member: &str) -> String {
    let kept = object.members().filter(|(name, _)| !name.is(member));
    let kept: Vec<String> = kept
        .map(|(name, value)| format!("\"{}\":{}", name.as_escaped(), value.as_str()))
        .collect();
    format!("{{{}}}", kept.join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(call: &str) -> Vec<(&'static str, Option<String>)> {
        super::call(Raw::trusted(call))
    }

    #[test]
    fn the_first_title_is_the_tool_and_what_is_asked_no_argument() {
        let first = said(r#"{"sessionUpdate":"tool_call","title":"bash","status":"pending","rawInput":{"cwd":"/w"}}"#);
        assert_eq!(first, [("name", Some("\"bash\"".to_owned())), ("rawInput", None)]);
        let runs = said(r#"{"sessionUpdate":"tool_call_update","title":"ls","status":"in_progress","rawInput":{"command":"ls","cwd":"/w"}}"#);
        assert_eq!(runs, [("rawInput", Some(r#"{"command":"ls"}"#.to_owned()))]);
        let asks = said(r#"{"toolCallId":"c","title":"/w/a","rawInput":{"filepath":"/w/a","diff":"…"}}"#);
        assert_eq!(asks, [("rawInput", None)]);
    }

    #[test]
    fn a_result_is_what_the_model_sees_and_says_whether_a_command_failed() {
        for (exit, status) in [("3", Some("\"failed\"")), ("0", None)] {
            let ends = said(&format!(
                r#"{{"sessionUpdate":"tool_call_update","status":"completed","rawOutput":{{"output":"a\n","metadata":{{"exit":{exit}}}}}}}"#
            ));
            let of = |name: &str| ends.iter().find(|(member, _)| *member == name).and_then(|(_, value)| value.as_deref());
            assert_eq!((of("rawOutput"), of("status")), (Some(r#""a\n""#), status));
        }
    }

    /// A setting that could not be read would be left out, and the program run everything.
    #[test]
    fn what_it_is_started_with_is_json() {
        for text in [ASKS, SETTINGS] {
            assert!(Raw::trusted(text).check().is_ok(), "{text}");
        }
    }
}
