//! Where the transcript is written.

use std::cell::RefCell;
use std::rc::Rc;

use serde_json::{Value, json};

use crate::conversation::Conversation;
use crate::host::Host;
use crate::host::event_writer::{Done, RunningSubagent, line_id};
use crate::host::prompts::Attached;
use crate::model::message::{Call, CallResult, Message, Part};
use crate::model::usage::Tokens;
use crate::store::{ApiFailure, Compaction, ResultFacts, Round, STATE, Subagent, Transcript, UserFacts};
use agentglot_adapters::raw::event::ResultStatus;

/// The transcript of a conversation; none if it is not kept.
pub(crate) type Handle = Option<Rc<RefCell<Transcript>>>;

/// What the user says.
pub(crate) fn prompt(conversation: &Conversation, mode: &str, parts: &[Part], id: &str, turn: &str, origin: Option<&Value>) {
    with(conversation, |transcript| {
        transcript.append_user(
            parts,
            &UserFacts {
                uuid: Some(id),
                prompt_id: Some(turn).filter(|turn| !turn.is_empty()),
                permission_mode: Some(mode),
                origin,
                ..UserFacts::default()
            },
        );
    });
}

/// A reply of the model's, with the ids of its blocks' lines.
pub(crate) fn reply(
    conversation: &Conversation,
    message: &Message,
    id: &str,
    model: &str,
    stop: Option<&str>,
    ids: &[String],
    tokens: Option<Tokens>,
) {
    with(conversation, |transcript| {
        let usage = tokens.map(|tokens| {
            json!({
                "input_tokens": tokens.input, "output_tokens": tokens.output,
                "cache_read_input_tokens": tokens.cache_read, "cache_creation_input_tokens": tokens.cache_write,
            })
        });
        let round = Round {
            message_id: id,
            model,
            stop_reason: stop,
            usage: usage.as_ref(),
            request_id: None,
        };
        transcript.append_assistant(&message.parts, &round, ids);
    });
}

/// The result of a call.
pub(crate) fn result(conversation: &Conversation, done: &Done<'_>) {
    with(conversation, |transcript| {
        let result = CallResult {
            call: done.call.id.clone(),
            content: done.content.to_vec(),
            is_error: done.status != ResultStatus::Success,
        };
        let facts = ResultFacts {
            uuid: Some(done.id),
            detail: done.detail.map(|(_, detail)| detail),
            denial: (done.status == ResultStatus::Denied).then(|| done.decision.and_then(|decision| decision.unrun).unwrap_or("user-rejected")),
        };
        transcript.append_result(&result, &facts);
    });
}

/// A hook has put a call off.
pub(crate) fn deferred(conversation: &Conversation, mode: &str, call: &Call, input: &Value) {
    with(conversation, |transcript| {
        let attachment = json!({
            "type": "hook_deferred_tool", "toolUseID": call.id, "toolName": call.name, "toolInput": input,
            "hookName": format!("PreToolUse:{}", call.name), "hookEvent": "PreToolUse",
            "permissionMode": mode,
        });
        transcript.append_attachment(&attachment, None);
    });
}

/// The user's text names a file.
pub(crate) fn attached(conversation: &Conversation, file: &Attached) {
    with(conversation, |transcript| {
        let lines = file.text.split('\n').count();
        let content = json!({
            "filePath": file.path, "content": file.text, "numLines": lines, "startLine": 1, "totalLines": lines,
        });
        let attachment = json!({
            "type": "file", "filename": file.path, "content": {"type": "text", "file": content}, "displayPath": file.shown,
        });
        transcript.append_attachment(&attachment, None);
    });
}

/// Nobody came back to a call that was put off.
pub(crate) fn given_up(conversation: &Conversation, result: &CallResult) {
    with(conversation, |transcript| {
        transcript.append_result(result, &ResultFacts::default());
    });
}

/// The model did not reply.
pub(crate) fn failure(conversation: &Conversation, text: &str, word: &str, status: Option<u16>) {
    with(conversation, |transcript| {
        transcript.append_failure(&ApiFailure {
            text,
            error: Some(word),
            status,
            ..ApiFailure::default()
        });
    });
}

/// The conversation was made shorter; a prompt that has no answer yet stays. Returns the boundary's id.
pub(crate) fn compacted(conversation: &Conversation, manual: bool, before: u64, after: u64, summary: &str, open: Option<&[Part]>) -> Option<String> {
    let kept = conversation.transcript.as_ref()?;
    let facts = Compaction {
        manual,
        tokens_before: before,
        tokens_after: Some(after),
        ..Compaction::default()
    };
    let mut transcript = kept.borrow_mut();
    let (boundary, _) = transcript.compact(summary, &facts);
    if let Some(parts) = open {
        transcript.append_user(parts, &UserFacts::default());
    }
    Some(boundary)
}

/// A subagent's own transcript.
pub(crate) fn subagent(parent: &Conversation, subagent: &RunningSubagent) -> Handle {
    let kept = parent.transcript.as_ref()?;
    let about = Subagent {
        id: &subagent.id,
        kind: &subagent.kind,
        description: Some(&subagent.task),
        call: Some(&subagent.call),
    };
    Some(Rc::new(RefCell::new(kept.borrow_mut().subagent(&about))))
}

/// The turn is over: what was written is made safe, and the host is told if that went wrong.
pub(crate) async fn turn_ended(host: &Host, conversation: &Conversation, persona: Option<Value>) {
    let Some(kept) = &conversation.transcript else { return };
    let writing = {
        let mut transcript = kept.borrow_mut();
        if let Some(Value::Object(state)) = persona {
            transcript.note(STATE, &state);
        }
        transcript.end_turn();
        transcript.to_sync()
    };
    if let Some(writing) = writing {
        let synced = writing.done().await;
        kept.borrow_mut().synced(synced);
    }
    shown(host, conversation);
    if let Some(trouble) = kept.borrow_mut().take_trouble() {
        let told = trouble.code.and_then(|code| host.persona.writes_lost(code, &host.session.borrow()));
        match told {
            Some(told) => host.events.told(&told),
            None => (host.warn)(&trouble.text),
        }
    }
}

/// Tells a host that asked for it what was written.
pub(crate) fn shown(host: &Host, conversation: &Conversation) {
    let Some(kept) = &conversation.transcript else { return };
    for mirror in kept.borrow_mut().take_mirror() {
        if let Ok(line) = serde_json::from_str::<Value>(&mirror.line()) {
            host.events.line(&line);
        }
    }
}

/// The session is called this.
pub(crate) fn rename(host: &Host, transcript: &Handle, title: &str) {
    if let Some(kept) = transcript {
        kept.borrow_mut().rename(title);
    }
    host.events.line(&json!({
        "type": "system", "subtype": "session_title_changed", "title": title,
        "uuid": line_id(), "session_id": *host.session.borrow(),
    }));
}

fn with(conversation: &Conversation, write: impl FnOnce(&mut Transcript)) {
    if let Some(kept) = &conversation.transcript {
        write(&mut kept.borrow_mut());
    }
}
