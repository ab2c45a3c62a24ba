//! The conversation as model APIs see it, whatever the API.

use serde::{Deserialize, Serialize};

/// One message. Roles alternate; the results of all calls of a reply stand in the one message behind it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    /// Who speaks.
    pub role: Role,
    /// What is said, in order.
    pub parts: Vec<Part>,
}

/// Who speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// The user, and with him the results of tools.
    User,
    /// The model.
    Assistant,
}

/// A part of a message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// Text.
    Text(String),
    /// A picture.
    Image {
        /// `image/png` …
        media_type: String,
        /// The bytes in base64.
        data: String,
    },
    /// A document, such as a PDF.
    Document {
        /// `application/pdf` …
        media_type: String,
        /// The bytes in base64.
        data: String,
    },
    /// What the model thought. It goes back only to the API that it came from, and to Anthropic only with its signature.
    Thinking {
        /// The text.
        text: String,
        /// The signature, as it came.
        signature: Option<String>,
        /// The API and the model that it came from: `anthropic`, `openai`, and the model's name; and the name of the member that held it,
        /// where an API has several.
        source: Source,
    },
    /// Thinking that only the vendor can read.
    Redacted {
        /// As it came.
        data: String,
    },
    /// A tool call of the model's.
    Call(Call),
    /// The result of one.
    Result(CallResult),
}

impl Part {
    /// About how many bytes it holds.
    pub fn size(&self) -> usize {
        match self {
            Self::Text(text) | Self::Thinking { text, .. } => text.len(),
            Self::Image { data, .. } | Self::Document { data, .. } | Self::Redacted { data } => data.len(),
            Self::Call(call) => call.input.len(),
            Self::Result(result) => result.content.iter().map(Self::size).sum(),
        }
    }
}

/// Where thinking comes from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Source {
    /// `anthropic` or `openai`.
    pub api: String,
    /// The model.
    pub model: String,
    /// The member of the stream that held it: `reasoning_content`, `reasoning` …; empty for Anthropic.
    pub member: String,
}

/// A tool call of the model's.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Call {
    /// Its id; made up if the API gave none.
    pub id: String,
    /// The tool, as the model was told its name.
    pub name: String,
    /// The arguments as the model wrote them: JSON, if nothing went wrong. Blank ones are `{}` already.
    pub input: String,
    /// Members of the call that nobody here knows, as one JSON object: they go back to the same API.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extra: Option<String>,
}

/// The result of a tool call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallResult {
    /// The call's id.
    pub call: String,
    /// Text and pictures.
    pub content: Vec<Part>,
    /// It failed, or was denied.
    pub is_error: bool,
}

impl Message {
    /// A message of the user's.
    pub fn user(text: impl Into<String>) -> Self {
        Self {
            role: Role::User,
            parts: vec![Part::Text(text.into())],
        }
    }

    /// About how many bytes it holds.
    pub fn size(&self) -> usize {
        self.parts.iter().map(Part::size).sum()
    }

    /// The calls in it.
    pub fn calls(&self) -> impl Iterator<Item = &Call> {
        self.parts.iter().filter_map(|part| match part {
            Part::Call(call) => Some(call),
            _ => None,
        })
    }

    /// Its text, the pieces one behind the other.
    pub fn text(&self) -> String {
        let texts = self.parts.iter().filter_map(|part| match part {
            Part::Text(text) => Some(text.as_str()),
            _ => None,
        });
        texts.collect()
    }
}
