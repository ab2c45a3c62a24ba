//! The document of a session.

// The types say what the document has; nothing is read into them.
#![allow(dead_code, non_snake_case)]

use schemars::JsonSchema;

use super::super::schema::{Failure, Tokens};
use crate::schema::parts::Object;
use crate::schema::{Side, line};

pub(super) static SIDE: Side = Side {
    lines: &[line::<Session>(&[("messages", "")]), line::<Message>(&[("parts", "")])],
    tags: &["info"],
};

/// A session, as it is exported.
#[derive(JsonSchema)]
struct Session {
    info: SessionInfo,
    messages: Vec<Message>,
}

/// What is known of a session.
#[derive(JsonSchema)]
struct SessionInfo {
    id: String,
    slug: Option<String>,
    projectID: Option<String>,
    /// The working folder.
    directory: Option<String>,
    title: Option<String>,
    version: Option<String>,
    /// The session whose subagent works in this one.
    parentID: Option<String>,
    time: Option<Object>,
}

/// A prompt or a reply.
#[derive(JsonSchema)]
struct Message {
    info: MessageInfo,
    /// Texts, thoughts, calls, where rounds begin and end, files and more.
    parts: Vec<Object>,
}

/// What is known of a message.
#[derive(JsonSchema)]
struct MessageInfo {
    id: String,
    /// `user` or `assistant`.
    role: String,
    sessionID: Option<String>,
    /// Of a reply: the prompt that it answers.
    parentID: Option<String>,
    modelID: Option<String>,
    providerID: Option<String>,
    agent: Option<String>,
    time: Option<Object>,
    /// Of a reply: why its round is over.
    finish: Option<String>,
    tokens: Option<Tokens>,
    /// US dollars.
    cost: Option<f64>,
    error: Option<Failure>,
}
