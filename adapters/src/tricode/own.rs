//! Tricode's own events written back as the lines that they were read from: one line an event, fields included, nothing held.

use super::formatted_result::{self, Shown};
use super::{ask, failure, formatted_call, lines};
use crate::event::{Block, Event, Fields, Kind, Notice, Outcome, OutcomeKind, Place, Reply, ResultStatus, ToolCall, ToolResult, Topic};
use crate::json::{Out, Raw, Str};

/// The last call: its result, which follows it, is shown by its arguments.
#[derive(Debug, Default)]
pub(super) struct Own {
    call: String,
    arguments: String,
    scratch: String,
    /// A question was printed, and its line is open: the next object is glued to it.
    asked: bool,
    asks: bool,
}

impl Own {
    pub(super) fn event(&mut self, event: &Event<'_>, out: &mut Out) {
        let fields = event.fields;
        match event.kind {
            Kind::Session(session) => {
                let id = event.origin.session.unwrap_or_default();
                out.used(id.as_escaped());
                lines::system(if session.resumed { lines::RESUMED } else { lines::NEW }, id, fields, out);
            }
            Kind::Notice(notice) => notice_line(notice, fields, out),
            Kind::RoundStart(start) => lines::round(start.number, fields, out),
            Kind::Reply(reply) => self.reply(reply, fields, out),
            Kind::ToolResult(result) => self.result(result, fields, out),
            Kind::Outcome(outcome) => {
                self.close(out);
                outcome_line(outcome, fields, out);
            }
            Kind::Request(request) => {
                if let Some(permission) = request.permission.filter(|_| self.asks) {
                    self.ask(permission.name, permission.input, ask::preview(fields), out);
                }
            }
            Kind::Noise(text) => out.copied_line(text),
            Kind::Unknown(line) => {
                lines::value(line, out);
                out.lit("\n");
            }
            _ => {}
        }
    }

    /// From here on, questions for permission are asked.
    pub(super) const fn asks(&mut self) {
        self.asks = true;
    }

    /// Asks a person for permission.
    pub(super) fn ask(&mut self, tool: Str<'_>, arguments: Option<Raw<'_>>, preview: Option<Str<'_>>, out: &mut Out) {
        self.scratch.clear();
        ask::write(tool, arguments, preview, &mut self.scratch);
        out.lit(&self.scratch);
        self.asked = true;
    }

    /// Ends the line of a question to which nothing is glued.
    pub(super) fn close(&mut self, out: &mut Out) {
        if std::mem::take(&mut self.asked) {
            out.lit("\n");
        }
    }

    /// What follows a question is glued to it.
    pub(super) const fn answered(&mut self) {
        self.asked = false;
    }

    fn reply(&mut self, reply: &Reply<'_>, fields: Fields<'_>, out: &mut Out) {
        for block in reply.blocks {
            match block {
                Block::Call(call) => self.call(call, fields, out),
                // It comes again with the outcome, whose line it is part of.
                Block::Text { text, .. } => out.used(text.as_escaped()),
                _ => {}
            }
        }
    }

    fn call(&mut self, call: &ToolCall<'_>, fields: Fields<'_>, out: &mut Out) {
        call.id.as_escaped().clone_into(&mut self.call);
        call.input.as_str().clone_into(&mut self.arguments);
        out.used(call.name.as_escaped());
        out.used(call.input.as_str());
        lines::tool_call_open(call.name, call.input, out);
        formatted(fields, out, |out| formatted_call::write(call.name, call.input, out));
    }

    fn result(&mut self, result: &ToolResult<'_>, fields: Fields<'_>, out: &mut Out) {
        self.answered();
        let success = result.status == ResultStatus::Success;
        let text = join(result, &mut self.scratch, out);
        let name = result.name.or(result.of.map(|call| call.name));
        let known = self.call == result.call.as_escaped();
        let arguments = result.of.map(|call| call.input).or(known.then(|| Raw::trusted(&self.arguments)));
        let arguments = arguments.filter(|arguments| !arguments.as_str().is_empty());
        lines::tool_result_open(name, success, text, out);
        let shown = Shown {
            name: name.unwrap_or_default(),
            arguments,
            success,
            result: text,
        };
        formatted(fields, out, |out| formatted_result::write(shown, out));
    }
}

fn notice_line(notice: &Notice<'_>, fields: Fields<'_>, out: &mut Out) {
    let message = notice.message.unwrap_or_default();
    out.used(message.as_escaped());
    match notice.topic {
        Topic::Reminder => lines::reminder(message, fields, out),
        _ => lines::system("", message, fields, out),
    }
}

fn outcome_line(outcome: &Outcome<'_>, fields: Fields<'_>, out: &mut Out) {
    // The program ends without a word when a call was not allowed.
    if outcome.synthetic && outcome.kind == OutcomeKind::Failed(Place::Tool) {
        return;
    }
    if outcome.kind != OutcomeKind::Success {
        failure::write(outcome.kind, outcome.error, out);
        return;
    }
    if let Some(text) = outcome.text {
        out.used(text.as_escaped());
    }
    lines::last(outcome.text, fields, out);
}

/// The texts of a result in one. `scratch` holds them when there are several.
pub(super) fn join<'t>(result: &ToolResult<'t>, scratch: &'t mut String, out: &Out) -> Str<'t> {
    let mut texts = result.content.as_one().inspect(|text| out.used(text.as_escaped()));
    let first = texts.next().unwrap_or_default();
    let Some(second) = texts.next() else { return first };
    scratch.clear();
    [first, second]
        .into_iter()
        .chain(texts)
        .for_each(|text| scratch.push_str(text.as_escaped()));
    Str::trusted(scratch)
}

/// Ends a line with `formatted`: what is worked out, unless it was kept as a field because it says something else.
fn formatted(fields: Fields<'_>, out: &mut Out, work_out: impl FnOnce(&mut Out)) {
    if fields.iter().all(|field| !field.key.is("formatted")) {
        out.lit(", \"formatted\": \"");
        work_out(out);
        out.lit("\"");
    }
    lines::close(fields, out);
}
