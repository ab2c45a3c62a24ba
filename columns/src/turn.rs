//! Rows of `messages`, `tool_calls` and `turns`.

use agentglot_adapters::events::{self, Json, Prompt, Scope};
use agentglot_adapters::session::{Block, Call, Round, Subagent, Thread, Turn};
use agentglot_adapters::{Event, Kind};
use serde::Serialize;

use crate::event::{agent, number, some, time, tokens, whole};
use crate::table::{CallRow, MessageRow, Piece, TurnRow};

/// The row of a turn; file and line are still to be put in, and the cost is as the source says it.
pub(crate) fn turn_row(turn: &Turn, json: bool) -> TurnRow {
    let facts = turn.facts.as_ref();
    let outcome = turn.outcome.as_ref();
    let calls = turn.calls();
    let failed = calls.iter().filter(|call| call.succeeded() == Some(false));
    let answered = turn.thread.rounds.iter().rev().find_map(|round| round.model.clone());
    TurnRow {
        version: facts.and_then(|facts| facts.version.clone()),
        session: turn.session.clone(),
        cwd: facts.and_then(|facts| facts.cwd.clone()),
        permission_mode: facts.and_then(|facts| facts.permission_mode.clone()),
        model: answered.or_else(|| facts?.model.clone()),
        started: turn.started.as_ref().and_then(time),
        ended: turn.ended.as_ref().and_then(time),
        prompt: some(joined(
            turn.thread
                .prompts
                .iter()
                .filter(|prompt| is_the_user_s(prompt))
                .map(|prompt| prompt.content.text()),
        )),
        text: some(turn.text()),
        outcome: outcome.map(|outcome| outcome.kind.as_str().to_owned()),
        word: outcome.and_then(|outcome| outcome.word.clone()),
        is_error: outcome.map(|outcome| outcome.is_error),
        synthetic: outcome.map(|outcome| outcome.synthetic),
        error: outcome.and_then(|outcome| outcome.error.clone()),
        duration_ms: outcome.and_then(|outcome| whole(outcome.duration_ms.as_ref()?)),
        duration_api_ms: outcome.and_then(|outcome| whole(outcome.duration_api_ms.as_ref()?)),
        cost_usd: outcome.and_then(|outcome| outcome.cost_usd.as_ref()?.to_f64()),
        usage: turn.usage.as_ref().map(tokens),
        replies: number(turn.thread.rounds.len() as u64),
        calls: number(calls.len() as u64),
        failed_calls: number(failed.count() as u64),
        retries: number(turn.retries.len() as u64),
        compactions: number(turn.compactions.len() as u64),
        json: json.then(|| written(turn)).flatten(),
        ..TurnRow::default()
    }
}

/// Whether the cost is that of the session so far.
pub(crate) fn costs_the_session(turn: &Turn) -> bool {
    turn.outcome.as_ref().is_some_and(|outcome| outcome.cost_scope == Scope::Session)
}

/// What a walk over the threads of a turn finds.
pub(crate) enum Found<'t> {
    /// A prompt, and where it stands.
    Prompt(&'t Prompt, u64),
    /// A reply.
    Reply(&'t Round),
    /// A call, and the reply that it is part of.
    Call(&'t Call, &'t Round),
}

/// Visits all that was said in a turn, thread by thread, with the call whose subagent says it.
pub(crate) fn walk<'t>(turn: &'t Turn, each: &mut impl FnMut(Option<&'t str>, Found<'t>)) {
    walk_thread(&turn.thread, None, each);
    for stray in &turn.strays {
        walk_thread(&stray.thread, Some(&stray.call), each);
    }
}

fn walk_thread<'t>(thread: &'t Thread, parent: Option<&'t str>, each: &mut impl FnMut(Option<&'t str>, Found<'t>)) {
    let mut prompts = thread.prompts.iter().zip(&thread.prompt_places).peekable();
    for round in &thread.rounds {
        while let Some((prompt, place)) = prompts.next_if(|(_, place)| **place <= round.place) {
            each(parent, Found::Prompt(prompt, *place));
        }
        each(parent, Found::Reply(round));
        for block in &round.blocks {
            let Block::Call(call) = block else { continue };
            each(parent, Found::Call(call, round));
            if let Some(Subagent { call, thread, .. }) = &call.subagent {
                walk_thread(thread, Some(call), each);
            }
        }
    }
    for (prompt, place) in prompts {
        each(parent, Found::Prompt(prompt, *place));
    }
}

/// The row of a prompt.
pub(crate) fn prompt_row(prompt: &Prompt, json: bool) -> MessageRow {
    let blocks = match &prompt.content {
        events::Content::Text(text) => vec![piece("text", text)],
        events::Content::Blocks(blocks) => blocks.iter().map(part).collect(),
        _ => Vec::new(),
    };
    MessageRow {
        role: Some("user".to_owned()),
        source: Some(prompt.source.as_str().to_owned()),
        text: some(prompt.content.text()),
        blocks: Some(blocks),
        json: json.then(|| Event::new(Kind::Prompt(Box::new(prompt.clone()))).to_json()),
        ..MessageRow::default()
    }
}

/// The row of a reply.
pub(crate) fn reply_row(round: &Round, json: bool) -> MessageRow {
    let text = round.blocks.iter().filter_map(|block| match block {
        Block::Text(text) => Some(text.clone()),
        _ => None,
    });
    let thoughts = round.blocks.iter().filter_map(|block| match block {
        Block::Thinking(thinking) => Some(thinking.text.clone()),
        _ => None,
    });
    let pieces = round.blocks.iter().map(|block| match block {
        Block::Text(text) => piece("text", text),
        Block::Thinking(thinking) => piece("thinking", &thinking.text),
        Block::Call(call) => call_piece(&call.id, &call.name, &call.input),
        Block::Other(other) => part(other),
        _ => piece("other", ""),
    });
    MessageRow {
        role: Some("assistant".to_owned()),
        id: round.id.clone(),
        model: round.model.clone(),
        time: round.time.as_ref().and_then(time),
        text: some(joined(text)),
        thinking: some(joined(thoughts)),
        blocks: Some(pieces.collect()),
        stop: round.stop.as_ref().map(|stop| stop.word.clone()),
        error: round.error.clone(),
        usage: round.usage.as_ref().map(tokens),
        json: json.then(|| written(round)).flatten(),
        ..MessageRow::default()
    }
}

/// The row of a call.
pub(crate) fn call_row(call: &Call, round: &Round, json: bool) -> CallRow {
    let deed = call.deed();
    let (asked, answered) = (call.asked.as_ref().and_then(time), call.answered.as_ref().and_then(time));
    let took = asked.zip(answered).and_then(|(asked, answered)| answered.0.checked_sub(asked.0));
    let subagent = call.subagent.as_ref().and_then(|subagent| subagent.agent.as_ref());
    CallRow {
        model: round.model.clone(),
        id: some(call.id.clone()),
        tool: some(call.name.clone()),
        kind: Some(call.kind.as_str().to_owned()),
        object: some(deed.object),
        changes: deed.file,
        lines_added: deed.lines.and_then(|(added, _)| number(added)),
        lines_removed: deed.lines.and_then(|(_, removed)| number(removed)),
        input: Some(call.input.to_string()),
        asked,
        answered,
        duration_ms: took.filter(|took| *took >= 0),
        allowed: call.permission.as_ref().and_then(|permission| permission.allowed()),
        status: call.result.as_ref().map(|result| result.status.as_str().to_owned()),
        exit_code: deed.exit,
        result: call.result.as_ref().map(|result| result.content.text()),
        subagent: subagent.map(agent),
        json: json.then(|| written(call)).flatten(),
        ..CallRow::default()
    }
}

fn part(block: &events::Block) -> Piece {
    match block {
        events::Block::Text { text, .. } => piece("text", text),
        events::Block::Thinking(thinking) => piece("thinking", &thinking.text),
        events::Block::Call(call) => call_piece(&call.id, &call.name, &call.input),
        events::Block::Redacted { .. } => piece("redacted", ""),
        events::Block::Media(media) => whole_piece("media", &media.raw),
        events::Block::Other { raw, .. } => whole_piece("other", raw),
        _ => piece("other", ""),
    }
}

fn piece(kind: &str, text: &str) -> Piece {
    Piece {
        kind: Some(kind.to_owned()),
        text: some(text.to_owned()),
        ..Piece::default()
    }
}

fn call_piece(id: &str, name: &str, input: &Json) -> Piece {
    Piece {
        call: some(id.to_owned()),
        tool: some(name.to_owned()),
        json: Some(input.to_string()),
        ..piece("call", "")
    }
}

fn whole_piece(kind: &str, raw: &Json) -> Piece {
    Piece {
        json: Some(raw.to_string()),
        ..piece(kind, "")
    }
}

/// What is said in the user's role by the user, not by the program or by an agent.
fn is_the_user_s(prompt: &Prompt) -> bool {
    matches!(prompt.source, events::PromptSource::Host | events::PromptSource::Echo)
}

fn joined(texts: impl Iterator<Item = String>) -> String {
    texts.collect::<Vec<_>>().join("\n")
}

/// As JSON; nothing where that is nested deeper than serializers go.
fn written(value: &impl Serialize) -> Option<String> {
    serde_json::to_string(value).ok()
}
