//! Where the transcript is written.

use std::cell::RefCell;
use std::rc::Rc;

use serde_json::{Value, json};

use crate::commands::at::Attached;
use crate::host::event_writer::{Done, Speaks, line_id};
use crate::model::message::{Call, CallResult, Message, Part};
use crate::session::core::{Core, Thread, Tokens};
use crate::store::{ApiFailure, Compaction, ResultFacts, Round, Subagent, Transcript, UserFacts};
use agentglot_adapters::codec::Dialect;
use agentglot_adapters::event::ResultStatus;

/// The transcript of a conversation; none if it is not kept.
pub(crate) type Kept = Option<Rc<RefCell<Transcript>>>;

/// What the user says.
pub(crate) fn prompt(core: &Core, thread: &Thread, parts: &[Part], id: &str, turn: &str, origin: Option<&Value>) {
    with(thread, |transcript| {
        let policy = core.policy.borrow();
        transcript.append_user(
            parts,
            &UserFacts {
                uuid: Some(id),
                prompt_id: Some(turn).filter(|turn| !turn.is_empty()),
                permission_mode: Some(policy.mode_name()),
                origin,
                ..UserFacts::default()
            },
        );
    });
}

/// A reply of the model's, with the ids of its blocks' lines.
pub(crate) fn reply(thread: &Thread, message: &Message, id: &str, model: &str, stop: Option<&str>, ids: &[String], tokens: Option<Tokens>) {
    with(thread, |transcript| {
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
pub(crate) fn result(thread: &Thread, done: &Done<'_>) {
    with(thread, |transcript| {
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
pub(crate) fn deferred(core: &Core, thread: &Thread, call: &Call, input: &Value) {
    with(thread, |transcript| {
        let attachment = json!({
            "type": "hook_deferred_tool", "toolUseID": call.id, "toolName": call.name, "toolInput": input,
            "hookName": format!("PreToolUse:{}", call.name), "hookEvent": "PreToolUse",
            "permissionMode": core.policy.borrow().mode_name(),
        });
        transcript.append_attachment(&attachment, None);
    });
}

/// The user's text names a file.
pub(crate) fn attached(thread: &Thread, file: &Attached) {
    with(thread, |transcript| {
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
pub(crate) fn given_up(thread: &Thread, result: &CallResult) {
    with(thread, |transcript| {
        transcript.append_result(result, &ResultFacts::default());
    });
}

/// The model did not reply.
pub(crate) fn failure(thread: &Thread, text: &str, word: &str, status: Option<u16>) {
    with(thread, |transcript| {
        transcript.append_failure(&ApiFailure {
            text,
            error: Some(word),
            status,
            ..ApiFailure::default()
        });
    });
}

/// The conversation was made shorter; a prompt that has no answer yet stays. Returns the boundary's id.
pub(crate) fn compacted(thread: &Thread, manual: bool, before: u64, after: u64, summary: &str, open: Option<&[Part]>) -> Option<String> {
    let kept = thread.kept.as_ref()?;
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
pub(crate) fn subagent(parent: &Thread, speaks: &Speaks) -> Kept {
    let kept = parent.kept.as_ref()?;
    let about = Subagent {
        id: &speaks.id,
        kind: &speaks.kind,
        description: Some(&speaks.task),
        call: Some(&speaks.call),
    };
    Some(Rc::new(RefCell::new(kept.borrow_mut().subagent(&about))))
}

/// The turn is over: what was written is made safe, and the host is told if that went wrong.
pub(crate) async fn turn_ended(core: &Core, thread: &Thread) {
    let Some(kept) = &thread.kept else { return };
    let writing = {
        let mut transcript = kept.borrow_mut();
        if let Some(Value::Object(state)) = core.persona_session.keep() {
            transcript.note(STATE, &state);
        }
        transcript.end_turn();
        transcript.to_sync()
    };
    if let Some(writing) = writing {
        let synced = writing.done().await;
        kept.borrow_mut().synced(synced);
    }
    shown(core, thread);
    if let Some(trouble) = kept.borrow_mut().take_trouble() {
        match trouble.code.filter(|_| core.dialect == Dialect::Claude) {
            Some(code) => core.events.line(&json!({
                "type": "system", "subtype": "session_writes_lost", "error_code": code, "lost": ["transcript"],
                "transcript_session_ids": [*core.session.borrow()], "uuid": line_id(), "session_id": *core.session.borrow(),
            })),
            None => (core.warn)(&trouble.text),
        }
    }
}

/// Tells a host that asked for it what was written.
pub(crate) fn shown(core: &Core, thread: &Thread) {
    let Some(kept) = &thread.kept else { return };
    for mirror in kept.borrow_mut().take_mirror() {
        if let Ok(line) = serde_json::from_str::<Value>(&mirror.line()) {
            core.events.line(&line);
        }
    }
}

/// The session is called this.
pub(crate) fn rename(core: &Core, title: &str) {
    if let Some(kept) = &core.kept {
        kept.borrow_mut().rename(title);
    }
    core.events.line(&json!({
        "type": "system", "subtype": "session_title_changed", "title": title,
        "uuid": line_id(), "session_id": *core.session.borrow(),
    }));
}

/// The kind of line that holds what a persona keeps.
pub(crate) const STATE: &str = "agentglot-state";

fn with(thread: &Thread, write: impl FnOnce(&mut Transcript)) {
    if let Some(kept) = &thread.kept {
        write(&mut kept.borrow_mut());
    }
}
