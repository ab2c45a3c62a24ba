//! `--debug`: what the model is asked and what it answers, as text between the lines.

use crate::model::Ask;
use crate::model::message::{Message, Part, Role};
use crate::model::usage::Tokens;

const RULE: &str = "================================================================================";

/// So many characters of a text are shown.
const SHOWN: usize = 500;

/// A request.
pub(super) fn request(ask: &Ask<'_>) -> String {
    let mut messages = vec![("system", ask.system.to_owned(), 0)];
    for message in ask.messages {
        match message.role {
            Role::Assistant => messages.push(("assistant", message.text(), message.calls().count())),
            Role::User => {
                // A result is a message of its own on the wire.
                let results = message.parts.iter().filter_map(|part| match part {
                    Part::Result(result) => Some(result.content.iter().map(text).collect::<String>()),
                    _ => None,
                });
                messages.extend(results.map(|text| ("tool", text, 0)));
                let said = message.text();
                if !said.is_empty() {
                    messages.push(("user", said, 0));
                }
            }
        }
    }
    let mut to = head("API Request:");
    to.push_str(&format!("Model: {}\nMessages ({}):\n", ask.model, messages.len()));
    for (at, (role, text, calls)) in messages.iter().enumerate() {
        to.push_str(&format!("\n  [{at}] Role: {role}\n"));
        if !text.is_empty() {
            to.push_str(&format!("  Content: {}\n", cut(text)));
        }
        if *calls > 0 {
            to.push_str(&format!("  Tool calls: {calls}\n"));
        }
    }
    to.push_str(&format!("\nTools: {} available\n{RULE}\n", ask.tools.len()));
    to
}

/// The answer to it.
pub(super) fn reply(id: &str, model: &str, message: &Message, tokens: Tokens) -> String {
    let mut to = head("API Response:");
    to.push_str(&format!("Response ID: {id}\nModel: {model}\n"));
    to.push_str(&format!(
        "Usage: CompletionUsage(completion_tokens={}, prompt_tokens={}, total_tokens={}, completion_tokens_details=None, \
         prompt_tokens_details=None)\nMessage role: assistant\n",
        tokens.output,
        tokens.read(),
        tokens.read() + tokens.output
    ));
    let text = message.text();
    if !text.is_empty() {
        to.push_str(&format!("Content: {}\n", cut(&text)));
    }
    let calls: Vec<&str> = message.calls().map(|call| call.name.as_str()).collect();
    if !calls.is_empty() {
        to.push_str(&format!("Tool calls: {}\n", calls.len()));
        calls.iter().for_each(|name| to.push_str(&format!("  - {name}\n")));
    }
    to.push_str(&format!("{RULE}\n"));
    to
}

fn head(title: &str) -> String {
    format!("\n{RULE}\n[DEBUG] {title}\n{RULE}\n")
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(SHOWN) {
        Some((at, _)) => format!("{}... (truncated)", &text[..at]),
        None => text.to_owned(),
    }
}

fn text(part: &Part) -> &str {
    match part {
        Part::Text(text) => text,
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use super::*;
    use crate::model::message::{Call, CallResult};

    #[test]
    fn requests_and_answers_are_shown_in_short() {
        let call = Call {
            id: "c".to_owned(),
            name: "plan".to_owned(),
            input: "{}".to_owned(),
            extra: None,
        };
        let answer = Message {
            role: Role::Assistant,
            parts: vec![Part::Call(call)],
        };
        let result = Part::Result(CallResult {
            call: "c".to_owned(),
            content: vec![Part::Text("é".repeat(501))],
            is_error: false,
        });
        let results = Message {
            role: Role::User,
            parts: vec![result, Part::Text("go on".to_owned())],
        };
        let messages = [Message::user("do"), answer.clone(), results].map(Rc::new);
        let ask = Ask {
            model: "m",
            system: "be",
            messages: &messages,
            ..Ask::default()
        };
        let shown = request(&ask);
        let want = format!(
            "Model: m\nMessages (5):\n\n  [0] Role: system\n  Content: be\n\n  [1] Role: user\n  Content: do\n\n  [2] Role: assistant\n  Tool \
             calls: 1\n\n  [3] Role: tool\n  Content: {}... (truncated)\n\n  [4] Role: user\n  Content: go on\n\nTools: 0 available\n{RULE}\n",
            "é".repeat(500)
        );
        assert_eq!(shown, format!("\n{RULE}\n[DEBUG] API Request:\n{RULE}\n{want}"));
        let tokens = Tokens {
            input: 7,
            output: 5,
            cache_read: 3,
            cache_write: 0,
        };
        let shown = reply("x", "m", &answer, tokens);
        assert!(
            shown.contains("(completion_tokens=5, prompt_tokens=10, total_tokens=15,")
                && shown.ends_with(&format!("Tool calls: 1\n  - plan\n{RULE}\n")),
            "{shown}"
        );
    }
}
