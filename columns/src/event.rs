//! Rows of `events`.

use agentglot_adapters::events::{Block, Content, InputKind, Json, Kind, Piece, Reply, Time, Usage};
use agentglot_adapters::{Event, events};

use crate::cell::Millis;
use crate::table::{Agent, EventRow, Tokens};

/// The row of an event.
pub(crate) fn row(event: &Event) -> EventRow {
    let origin = &event.origin;
    let mut row = EventRow {
        session: origin.session.clone(),
        id: origin.id.clone(),
        turn: origin.turn.clone(),
        parent: origin.parent.clone(),
        subagent: origin.agent.as_deref().map(agent),
        time: origin.time.as_ref().and_then(time),
        host: Some(matches!(event.kind, Kind::Input(_))),
        ..EventRow::default()
    };
    match &event.kind {
        Kind::Session(facts) => row.model = facts.model.clone(),
        Kind::Notice(notice) => {
            row.text = notice.message.clone();
            row.status = Some(notice.topic.as_str().to_owned());
        }
        Kind::Prompt(prompt) => row.text = some(prompt.content.text()),
        Kind::RoundStart(start) => {
            row.reply = start.id.clone();
            row.model = start.model.clone();
            row.usage = start.usage.as_ref().map(tokens);
        }
        Kind::BlockStart(start) => {
            if let events::BlockHead::Call { id, name } = &start.head {
                row.calls = some(id.clone()).map(|id| vec![id]);
                row.tools = some(name.clone()).map(|name| vec![name]);
            }
        }
        Kind::Delta(delta) => match &delta.piece {
            Piece::Text(text) | Piece::Input(text) => row.text = Some(text.clone()),
            Piece::Thinking(text) => row.thinking = Some(text.clone()),
            _ => {}
        },
        Kind::RoundStop(stop) => {
            row.stop = stop.stop.as_ref().map(|stop| stop.word.clone());
            row.usage = stop.usage.as_ref().map(tokens);
        }
        Kind::RoundEnd(end) => {
            row.stop = end.stop.as_ref().map(|stop| stop.word.clone());
            row.usage = end.usage.as_ref().map(tokens);
        }
        Kind::Reply(reply) => of_reply(&mut row, reply),
        Kind::ToolResult(result) => {
            row.text = some(result.content.text());
            row.calls = Some(vec![result.call.clone()]);
            row.tools = result.name.clone().map(|name| vec![name]);
            row.status = Some(result.status.as_str().to_owned());
            row.is_error = result.is_error;
        }
        Kind::ToolProgress(progress) => {
            row.calls = Some(vec![progress.call.clone()]);
            row.status = progress.status.clone();
        }
        Kind::Terminal(terminal) => row.text = terminal.text.clone(),
        Kind::Request(request) => of_request(&mut row, request),
        Kind::Outcome(outcome) => {
            row.text = outcome.text.clone();
            row.status = Some(outcome.kind.as_str().to_owned());
            row.is_error = Some(outcome.is_error);
            row.error = outcome.error.clone();
            row.stop = outcome.stop.as_ref().map(|stop| stop.word.clone());
            row.duration_ms = outcome.duration_ms.as_ref().and_then(whole);
            row.cost_usd = outcome.cost_usd.as_ref().and_then(Json::to_f64);
            row.usage = outcome.usage.as_ref().map(tokens);
        }
        Kind::Fatal(fatal) => row.error = Some(fatal.message.clone()),
        Kind::Noise(text) => row.text = Some(text.to_string()),
        Kind::Input(input) => match &**input {
            InputKind::Prompt(prompt) => row.text = some(prompt.content.text()),
            InputKind::Chat(chat) => row.model = chat.model.clone(),
            InputKind::Request(request) => of_request(&mut row, request),
            InputKind::Noise(text) => row.text = Some(text.to_string()),
            _ => {}
        },
        _ => {}
    }
    row
}

fn of_reply(row: &mut EventRow, reply: &Reply) {
    row.reply = reply.id.clone();
    row.model = reply.model.clone();
    row.error = reply.error.clone();
    row.stop = reply.stop.as_ref().map(|stop| stop.word.clone());
    row.usage = reply.usage.as_ref().map(tokens);
    row.text = some(Content::Blocks(reply.blocks.clone()).text());
    let thoughts = reply.blocks.iter().filter_map(|block| match block {
        Block::Thinking(thinking) => Some(thinking.text.as_str()),
        _ => None,
    });
    row.thinking = some(thoughts.collect());
    let calls = || {
        reply.blocks.iter().filter_map(|block| match block {
            Block::Call(call) => Some(call),
            _ => None,
        })
    };
    if calls().next().is_some() {
        row.calls = Some(calls().map(|call| call.id.clone()).collect());
        row.tools = Some(calls().map(|call| call.name.clone()).collect());
    }
}

fn of_request(row: &mut EventRow, request: &events::Request) {
    row.status = some(request.subtype.clone());
    if let Some(asked) = &request.permission {
        row.calls = asked.call.clone().map(|call| vec![call]);
        row.tools = some(asked.name.clone()).map(|name| vec![name]);
    }
}

pub(crate) fn agent(agent: &events::Agent) -> Agent {
    Agent {
        id: agent.id.clone(),
        name: agent.name.clone(),
        task: agent.task.clone(),
    }
}

pub(crate) fn time(time: &Time) -> Option<Millis> {
    time.millis().map(Millis)
}

/// Tokens, each counted in one place.
pub(crate) fn tokens(usage: &Usage) -> Tokens {
    let cached = usage.cache_read.unwrap_or(0).saturating_add(usage.cache_write.unwrap_or(0));
    let input = usage
        .input
        .map(|input| if usage.inclusive { input.saturating_sub(cached) } else { input });
    Tokens {
        input: input.and_then(number),
        cache_read: usage.cache_read.and_then(number),
        cache_write: usage.cache_write.and_then(number),
        output: usage.written_tokens().and_then(number),
        total: usage.total.and_then(number),
        scope: Some(usage.scope.as_str().to_owned()),
        derived: Some(usage.provenance == events::Provenance::Derived),
        reasoning: usage.reasoning_tokens().and_then(number),
    }
}

/// A number that fits; one that does not is not known.
pub(crate) fn number(number: u64) -> Option<i64> {
    i64::try_from(number).ok()
}

/// A number that is whole, or nearly: some sources have fractions of milliseconds.
pub(crate) fn whole(json: &Json) -> Option<i64> {
    let rounded = || json.to_f64().map(f64::round).filter(|number| number.abs() < 9e15);
    json.to_i64().or_else(|| rounded().map(|number| number as i64))
}

/// A text, if there is any.
pub(crate) fn some(text: String) -> Option<String> {
    (!text.is_empty()).then_some(text)
}
