//! The prompts of a log of the host's side. Most logs of an agent's output do not hold what was asked.

use crate::codec::{Decoder, Dialect, Layout};
use crate::event::{Block, ChatRequest, Content, Event, Input, InputKind, InputOrigin, Kind, Prompt, PromptSource, Sink};
use crate::json::{Error, Raw};
use crate::reader::{Consumer, Damaged, Framing, Reader, Source};

/// What a log of the host's side holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Prompts {
    /// The prompts in order, as plain text.
    pub texts: Vec<String>,
    /// How many lines could not be read.
    pub damaged: u64,
}

/// Reads the prompts out of what a host wrote to an agent of `dialect`.
pub fn prompts(dialect: Dialect, log: &[u8]) -> Prompts {
    let mut found = Prompts::default();
    let mut reader = Reader::new(Framing::of(Layout::Lines, usize::MAX), usize::MAX, Decoder::new(dialect));
    reader.feed(log, &mut found);
    reader.finish(&mut found);
    found
}

impl Consumer for Prompts {
    fn value<'a>(&mut self, text: &'a str, source: Source<'_, 'a>) -> Result<usize, Error> {
        source.tell(text, self)
    }

    fn damaged(&mut self, _damaged: &Damaged<'_>) {
        self.damaged += 1;
    }
}

impl<'a> Sink<'a> for Prompts {
    // A `user` line alone does not show on which side of the pipe it was taken; here that is known.
    fn event(&mut self, event: &Event<'a>) {
        if let (Kind::Prompt(prompt), None) = (event.kind, event.origin.parent) {
            self.prompt(prompt);
        }
    }

    fn input(&mut self, input: &Input<'a>) {
        match input.kind {
            InputKind::Prompt(prompt) => self.prompt(prompt),
            InputKind::Chat(chat) if matches!(chat.origin, None | Some(InputOrigin::User)) => {
                self.texts.extend(of_chat(chat));
            }
            _ => {}
        }
    }
}

impl Prompts {
    fn prompt(&mut self, prompt: &Prompt<'_>) {
        if !matches!(prompt.source, PromptSource::Host | PromptSource::Echo) {
            return;
        }
        self.texts.push(match prompt.content {
            Content::Text(text) => text.unescape().into_owned(),
            Content::Blocks(blocks) => {
                let texts: Vec<_> = blocks
                    .iter()
                    .filter_map(|b| if let Block::Text { text, .. } = b { Some(text.unescape()) } else { None })
                    .collect();
                texts.join("\n")
            }
        });
    }
}

/// What a Chat Request says in plain text: the texts of its parts, or of the last message of the user's.
pub fn of_chat(chat: &ChatRequest<'_>) -> Option<String> {
    chat.parts.map(|parts| texts(parts, "")).or_else(|| last_user_message(chat.messages?))
}

/// The texts of `[{type:"text",text}, …]`, put together.
fn texts(parts: Raw<'_>, between: &str) -> String {
    let texts: Vec<_> = parts
        .elements()
        .filter_map(|part| part.get("text")?.string())
        .map(|text| text.unescape())
        .collect();
    texts.join(between)
}

/// What the last message of the user says, in OpenAI's `messages`.
fn last_user_message(messages: Raw<'_>) -> Option<String> {
    let message = messages
        .elements()
        .filter(|m| m.get("role").and_then(Raw::string).is_some_and(|r| r.is("user")))
        .last()?;
    let content = message.get("content")?;
    Some(content.string().map_or_else(|| texts(content, "\n"), |text| text.unescape().into_owned()))
}
