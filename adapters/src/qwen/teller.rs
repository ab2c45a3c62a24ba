//! Telling what a line says: its events, each with its time and its fields.

use super::annotations::{Display, Status};
use super::line::Shown;
use crate::chat::inner;
use crate::codec::Cx;
use crate::event::{At, Content, Detail, DetailShape, Event, Field, Fields, Kind, Origin, ResultStatus, Sink, Time, ToolProgress, ToolResult};
use crate::json::{Raw, Str};

/// Tells the sink what one line says. The line's own fields go with its first event.
pub(super) struct Teller<'s, 'c, 'a> {
    pub(super) cx: &'c Cx<'a>,
    pub(super) sink: &'s mut dyn Sink<'a>,
    pub(super) origin: Origin<'a>,
    pub(super) fields: Fields<'a>,
    /// How many events were told.
    pub(super) told: u32,
    /// The line is the receipt too, which was told.
    pub(super) is_receipt: bool,
    /// The last result among them.
    pub(super) result: Option<&'a ToolResult<'a>>,
}

impl<'a> Teller<'_, '_, 'a> {
    /// Tells an event, with the line's fields if nobody had them yet.
    #[inline]
    pub(super) fn tell(&mut self, kind: Kind<'a>) {
        let fields = std::mem::take(&mut self.fields);
        self.told += 1;
        self.sink.event(&Event {
            origin: self.origin,
            kind,
            fields,
        });
    }

    /// Tells an event that has fields of its own.
    pub(super) fn tell_with(&mut self, kind: Kind<'a>, own: Fields<'a>) {
        self.tell_at(self.origin, kind, own);
    }

    /// Tells an event of another turn or time.
    pub(super) fn tell_at(&mut self, origin: Origin<'a>, kind: Kind<'a>, own: Fields<'a>) {
        let line = std::mem::take(&mut self.fields);
        let fields = match (line.is_empty(), own.is_empty()) {
            (true, _) => own,
            (_, true) => line,
            _ => self.cx.arena.alloc_slice_fill_iter(line.iter().chain(own).copied().collect::<Vec<_>>()),
        };
        self.told += 1;
        self.sink.event(&Event { origin, kind, fields });
    }

    /// Output for a terminal.
    pub(super) fn terminal(&mut self, (terminal, turn, own): Shown<'a>) {
        let origin = Origin { turn, ..self.origin };
        self.tell_at(origin, Kind::Terminal(self.cx.keep(terminal)), own);
    }

    /// A tool call on its way, or its result.
    pub(super) fn display(&mut self, display: Display<'a>, own: Fields<'a>) {
        let (time, timestamp) = time_of(self.origin.time, display.timestamp.map(|(_, value)| value), self.cx);
        let origin = Origin { time, ..self.origin };
        let again = |field: &&Field<'a>| field.key.is("session_id") && field.value.string().is_some_and(|id| Some(id) == origin.session);
        if let Some(field) = own.iter().find(again) {
            // The session that the line names says it too.
            self.cx.took(field.value.as_str());
        }
        let mut own = own;
        if let Some(value) = timestamp {
            let mut fields = own.to_vec();
            fields.push(Field {
                at: At::Block(0),
                key: Str::trusted("timestamp"),
                value,
                known: true,
            });
            own = self.cx.list(&fields);
        }
        let status = match display.status {
            Status::OnItsWay(status) => {
                let progress = ToolProgress {
                    call: display.call,
                    status: Some(status),
                    content: display.shown,
                    confirmation: display.confirmation,
                };
                return self.tell_at(origin, Kind::ToolProgress(self.cx.keep(progress)), own);
            }
            Status::Final(status) => status,
        };
        let text = display.shown.and_then(seen).unwrap_or_default();
        let told = settled(status, text);
        let result = ToolResult {
            detail: display.shown.map(|raw| Detail {
                shape: DetailShape::Qwen,
                raw,
            }),
            fields: own,
            ..ToolResult::new(display.call, told, Content::Text(text))
        };
        let result = self.cx.keep(result);
        self.result = Some(result);
        self.tell_at(origin, Kind::ToolResult(result), &[]);
    }
}

/// The time of an annotation with a timestamp, in milliseconds or (the Chinese text) in seconds; and the timestamp again if
/// `created` says another time.
pub(super) fn time_of<'a>(time: Option<Time<'a>>, timestamp: Option<Raw<'a>>, cx: &Cx<'a>) -> (Option<Time<'a>>, Option<Raw<'a>>) {
    let Some(timestamp) = timestamp else { return (time, None) };
    let created = time.and_then(Time::millis);
    let millis = match timestamp.i64() {
        Some(seconds) if seconds.unsigned_abs() < 100_000_000_000 => seconds.checked_mul(1000),
        other => other,
    };
    match (created, millis) {
        (Some(created), Some(millis)) if created == millis && timestamp.i64() != Some(millis) => {
            if let Some(time) = time {
                cx.stands_for(time.source(), timestamp.as_str());
            }
            (time, None)
        }
        (Some(created), Some(millis)) if created == millis.div_euclid(1000) * 1000 && timestamp.i64() == Some(millis) => {
            if let Some(time) = time {
                cx.stands_for(timestamp.as_str(), time.source());
            }
            (Some(Time::Millis(timestamp)), None)
        }
        (None, Some(_)) => (Some(Time::Millis(timestamp)), None),
        _ => (time, Some(timestamp)),
    }
}

/// How a call went. The RFC has one word for a call that was refused and one that was stopped; a refusal says why.
pub(super) const fn settled(status: ResultStatus, text: Str<'_>) -> ResultStatus {
    match status {
        ResultStatus::Canceled if !text.is_empty() => ResultStatus::Denied,
        status => status,
    }
}

/// What the model saw of a result: `text`, which every kind may have, else what comes nearest to it.
fn seen(shown: Raw<'_>) -> Option<Str<'_>> {
    // The result may be long: one walk finds the first member of each name.
    let mut found: [Option<Raw<'_>>; 5] = [None; 5];
    for (key, value) in shown.members() {
        if let Some(at) = ["text", "kind", "diff", "message", "result"].iter().position(|name| key.is(name)) {
            found[at] = found[at].or(Some(value));
        }
    }
    let [text, kind, diff, message, result] = found.map(|value| value.and_then(inner));
    text.or_else(|| match &*kind?.unescape() {
        "file_diff" => diff,
        "plan_summary" => message,
        "task_execution" => result,
        _ => None,
    })
}
