//! Gemini CLI as an agent of the Agent Client Protocol (`gemini --acp`): what it says there of a call otherwise than others do. It says neither tool
//! nor arguments, but shows what they come to.

use super::tools::{mcp, report};
use crate::client::{Member, Serves};
use crate::codec::Dialect;
use crate::json::{Raw, Shape, Str, on_one_line};
use crate::launch::{Means, Resume};

pub(super) const SERVES: Serves = Serves {
    protocol: Dialect::Acp,
    // What a command prints is told of in this mode only: it is for a terminal otherwise.
    child: &["--acp", "--skip-trust", "--debug"],
    flags: &[Means::Model, Means::Permission, Means::Allowed, Means::AddDir],
    variables: &[],
    settings: None,
    unknown: &[],
    // Where it loads a session, it begins another file of the same id, which it deletes with the first at its next start; in the minute in which
    // the session began, it writes over the first.
    in_lines: |launch| launch.resume != Resume::New,
    joins_names: false,
    wants_objects: true,
    call,
};

/// The beginning of an id is the tool's name: `NAME__NAME_TIME_N`, or `NAME__ID` where the model gives an id. Where it is not (older versions
/// leave such an id as it is), the kind says it, for commands.
fn call(said: Raw<'_>) -> Vec<Member> {
    let text = |name: &str| said.get(name).and_then(Raw::string);
    let id = text("toolCallId").map_or("", Str::as_escaped);
    let mut ends = id.match_indices("__").map(|(at, _)| at);
    let repeated = ends.find(|&at| id[at + 2..].starts_with(&id[..at]));
    // A name may hold the mark too, that of a server's tool.
    let tool = match repeated.or_else(|| id.rfind("__")).filter(|&at| at > 0) {
        Some(at) => &id[..at],
        None if text("kind").is_some_and(|kind| kind.is("execute")) => SHELL,
        None => return Vec::new(),
    };
    let mut members = vec![("name", Some(format!("\"{tool}\"")))];
    let content = || said.get("content").into_iter().flat_map(Raw::elements);
    let diff = content().find(|part| part.get("type").and_then(Raw::string).is_some_and(|kind| kind.is("diff")));
    let value = |of: Option<Raw<'_>>, name: &str| {
        of.and_then(|of| of.get(name))
            .filter(|value| !value.is_null())
            .map_or("\"\"", Raw::as_str)
            .to_owned()
    };
    let place = said.get("locations").and_then(|places| places.elements().next());
    let is_over = text("status").is_some_and(|status| status.is("completed"));
    let input = match tool {
        SHELL => text("title").map(|title| format!("{{\"command\":\"{}\"}}", title.as_escaped())),
        WRITE if diff.is_some() => Some(format!(
            "{{\"file_path\":{},\"content\":{}}}",
            value(diff, "path"),
            value(diff, "newText")
        )),
        // The whole file before and after: which words were meant is not said.
        REPLACE if diff.is_some() => {
            let (path, old, new) = (value(diff, "path"), value(diff, "oldText"), value(diff, "newText"));
            Some(format!("{{\"file_path\":{path},\"old_string\":{old},\"new_string\":{new}}}"))
        }
        // They are known when the file has been changed.
        WRITE | REPLACE if !is_over => {
            members.push(("status", Some("\"pending\"".to_owned())));
            None
        }
        "read_file" if place.is_some() => Some(format!("{{\"file_path\":{}}}", value(place, "path"))),
        "list_directory" if place.is_some() => Some(format!("{{\"dir_path\":{}}}", value(place, "path"))),
        // A question shows the arguments of a server's tool.
        _ if mcp(Str::trusted(tool)).is_some() && text("status").is_some_and(|status| status.is("pending")) => {
            let shown = content().find_map(|part| part.get("content")?.get("text")?.string());
            let shown = shown.map(|shown| shown.unescape().into_owned());
            let shown = shown.filter(|shown| Raw::trusted(shown).check().is_ok() && Raw::trusted(shown).shape() == Some(Shape::Object));
            shown.map(|shown| on_one_line(&shown).into_owned())
        }
        _ => None,
    };
    members.extend(input.map(|input| ("rawInput", Some(input))));
    // A command that failed is completed all the same.
    let printed = content().find_map(|part| part.get("content")?.get("text")?.string()).and_then(report);
    if is_over && tool == SHELL && printed.is_some_and(|(_, _, code)| code != Some(0)) {
        members.push(("status", Some("\"failed\"".to_owned())));
    }
    members
}

const SHELL: &str = "run_shell_command";
const WRITE: &str = "write_file";
const REPLACE: &str = "replace";

#[cfg(test)]
mod tests {
    use super::*;

    fn said(call: &str) -> Vec<(&'static str, String)> {
        let members = super::call(Raw::trusted(call));
        members.into_iter().map(|(name, value)| (name, value.unwrap_or_default())).collect()
    }

    fn has(members: &[(&str, String)], name: &str) -> Option<String> {
        members.iter().find(|(member, _)| *member == name).map(|(_, value)| value.clone())
    }

    #[test]
    fn a_call_has_the_tool_of_its_id_and_the_arguments_that_it_shows() {
        let diff = r#"[{"type":"diff","path":"/w/a","oldText":"x\n","newText":"y\n"}]"#;
        for (tool, more, input) in [
            (SHELL, r#""title":"ls \"a\"""#, r#"{"command":"ls \"a\""}"#),
            (WRITE, &format!(r#""content":{diff}"#), r#"{"file_path":"/w/a","content":"y\n"}"#),
            (
                REPLACE,
                &format!(r#""content":{diff}"#),
                r#"{"file_path":"/w/a","old_string":"x\n","new_string":"y\n"}"#,
            ),
            ("read_file", r#""locations":[{"path":"/w/a"}]"#, r#"{"file_path":"/w/a"}"#),
        ] {
            for rest in [&format!("{tool}_1_0"), "call_1", "8f2b1a3c", "synth_p########0_1_0"] {
                let members = said(&format!(r#"{{"toolCallId":"{tool}__{rest}","status":"in_progress",{more}}}"#));
                assert_eq!(has(&members, "name"), Some(format!("\"{tool}\"")), "{rest}");
                assert_eq!(has(&members, "rawInput").as_deref(), Some(input));
                assert_eq!(has(&members, "status"), None);
            }
        }
    }

    #[test]
    fn the_tool_of_an_id_may_have_the_mark_in_its_name() {
        for (id, name) in [
            ("mcp_calc_add__up__mcp_calc_add__up_1_0", Some("\"mcp_calc_add__up\"")),
            ("mcp_calc_add__up__8f2b1a3c", Some("\"mcp_calc_add__up\"")),
            ("call_1", None),
            ("__call_1", None),
        ] {
            let members = said(&format!(r#"{{"toolCallId":"{id}","status":"in_progress","kind":"read"}}"#));
            assert_eq!(has(&members, "name").as_deref(), name, "{id}");
        }
    }

    #[test]
    fn a_question_about_a_tool_of_a_server_shows_its_arguments() {
        for (tool, status, shown, input) in [
            ("mcp_calc_add", "pending", r#"{\"a\":[1,\"x\"]}"#, Some(r#"{"a":[1,"x"]}"#)),
            ("mcp_calc_add", "pending", "as it likes", None),
            ("mcp_calc_add", "completed", r#"{\"sum\":1}"#, None),
            ("web_fetch", "pending", r#"{\"a\":1}"#, None),
        ] {
            let content = format!(r#"[{{"type":"content","content":{{"type":"text","text":"{shown}"}}}}]"#);
            let members = said(&format!(
                r#"{{"toolCallId":"{tool}__{tool}_1_0","status":"{status}","title":"add (calc MCP Server)","content":{content},"kind":"other"}}"#
            ));
            assert_eq!(has(&members, "rawInput").as_deref(), input, "{tool} {status} {shown}");
        }
    }

    /// It is told when it is over, with its arguments.
    #[test]
    fn an_edit_that_nobody_was_asked_about_waits_for_what_it_has_changed() {
        let members = said(r#"{"toolCallId":"write_file__write_file_1_0","status":"in_progress","content":[],"locations":[{"path":"/w/a"}]}"#);
        assert_eq!(has(&members, "status").as_deref(), Some("\"pending\""));
        assert_eq!(has(&members, "rawInput"), None);
    }

    #[test]
    fn a_command_that_ends_with_another_code_than_0_has_failed() {
        for (text, status) in [
            (r"Output: a\nExit Code: 3\nProcess Group PGID: 1", Some("\"failed\"")),
            (r"Output: a\nProcess Group PGID: 1", None),
            ("anything", None),
        ] {
            let content = format!(r#"[{{"type":"content","content":{{"type":"text","text":"{text}"}}}}]"#);
            let members = said(&format!(
                r#"{{"toolCallId":"given","kind":"execute","status":"completed","title":"x","content":{content}}}"#
            ));
            assert_eq!(has(&members, "status").as_deref(), status, "{text}");
            assert_eq!(has(&members, "name").as_deref(), Some("\"run_shell_command\""));
        }
    }
}
