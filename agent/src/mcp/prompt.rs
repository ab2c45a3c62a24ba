//! Prompts of servers, which the user calls as commands: `/mcp__server__prompt argument argument`.

use serde_json::{Map, Value};

use super::Mcp;
use super::content::{self, Store};
use super::link::Trouble;
use super::slot::Phase;
use crate::model::message::{Message, Part, Role};
use std::path::Path;

/// A command that a server's prompt is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    /// Its name, without the slash.
    pub name: String,
    /// What it does.
    pub description: String,
    /// What its arguments are called, in order.
    pub arguments: Vec<String>,
}

impl Mcp {
    /// The commands that there are.
    pub fn commands(&self) -> Vec<Command> {
        let mut commands = Vec::new();
        for slot in self.inner.all() {
            let Phase::Connected(connected) = slot.phase() else { continue };
            for prompt in connected.offer.prompts {
                commands.push(Command {
                    name: self.inner.options.naming.tool(&slot.server.name, &prompt.name),
                    description: prompt.description.unwrap_or_default(),
                    arguments: prompt.arguments.unwrap_or_default().into_iter().map(|argument| argument.name).collect(),
                });
            }
        }
        commands
    }

    /// What a command says to the model, if there is such a command. The words behind it are its arguments, in order; the last one
    /// takes what is left. Pictures and other bytes that models do not take go below `scratch`.
    pub async fn prompt(&self, name: &str, words: &str, scratch: &Path) -> Option<Result<Vec<Message>, String>> {
        let (slot, prompt) = self.inner.all().into_iter().find_map(|slot| {
            let Phase::Connected(connected) = slot.phase() else { return None };
            let named = |prompt: &rmcp::model::Prompt| self.inner.options.naming.tool(&slot.server.name, &prompt.name) == name;
            let prompt = connected.offer.prompts.into_iter().find(named)?;
            Some((slot, prompt))
        })?;
        let names: Vec<String> = prompt.arguments.unwrap_or_default().into_iter().map(|argument| argument.name).collect();
        let got = async {
            let connected = slot.connection(&self.inner).await?;
            connected
                .link
                .prompt(&prompt.name, arguments(&names, words), self.inner.around(&slot.server.name))
                .await
        };
        let store = self.inner.store(scratch, name, &slot.server.name);
        Some(match got.await {
            Ok(result) => Ok(messages(&result, store)),
            Err(Trouble::Refused { message, .. }) => Err(message),
            Err(trouble) => Err(format!("The MCP server {} gave no answer: {trouble}", slot.server.name)),
        })
    }
}

fn arguments(names: &[String], words: &str) -> Map<String, Value> {
    let mut left = words.trim();
    let mut arguments = Map::new();
    for (n, name) in names.iter().enumerate() {
        if left.is_empty() {
            break;
        }
        let (word, rest) = match left.split_once(char::is_whitespace) {
            Some((word, rest)) if n + 1 < names.len() => (word, rest.trim_start()),
            _ => (left, ""),
        };
        arguments.insert(name.clone(), Value::String(word.to_owned()));
        left = rest;
    }
    arguments
}

/// The messages of `prompts/get`'s result; those of the same speaker are one.
fn messages(result: &Value, store: Store<'_>) -> Vec<Message> {
    let mut messages: Vec<Message> = Vec::new();
    for (n, message) in result.get("messages").and_then(Value::as_array).into_iter().flatten().enumerate() {
        let role = match message.get("role").and_then(Value::as_str) {
            Some("assistant") => Role::Assistant,
            _ => Role::User,
        };
        let content = match message.get("content") {
            Some(Value::Array(blocks)) => blocks.as_slice(),
            Some(block) => std::slice::from_ref(block),
            None => &[],
        };
        let parts = content.iter().filter_map(|block| match block {
            Value::String(text) => Some(Part::Text(text.clone())),
            block => content::part(block, n, store),
        });
        match messages.last_mut() {
            Some(last) if last.role == role => last.parts.extend(parts),
            _ => messages.push(Message {
                role,
                parts: parts.collect(),
            }),
        }
    }
    messages
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_arguments_and_the_last_takes_the_rest() {
        let names = ["a".to_owned(), "b".to_owned()];
        assert_eq!(
            Value::Object(arguments(&names, " one two  three ")),
            serde_json::json!({"a":"one","b":"two  three"})
        );
        assert_eq!(Value::Object(arguments(&names, "one")), serde_json::json!({"a":"one"}));
        assert!(arguments(&names, "  ").is_empty() && arguments(&[], "x").is_empty());
    }

    #[test]
    fn messages_of_a_prompt_take_turns() {
        let store = Store {
            folder: Path::new("/nonexistent"),
            call: "c",
            server: "s",
            tokens: 10,
        };
        let result = serde_json::json!({"messages":[
            {"role":"user","content":{"type":"text","text":"a"}},
            {"role":"user","content":[{"type":"text","text":"b"}]},
            {"role":"assistant","content":{"type":"text","text":"c"}}]});
        let messages = messages(&result, store);
        assert_eq!(messages.len(), 2);
        assert_eq!((messages[0].parts.len(), messages[1].role), (2, Role::Assistant));
    }
}
