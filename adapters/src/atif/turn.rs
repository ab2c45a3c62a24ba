//! What is said, as steps.

use super::document::{Part, Step, member, message};
use super::encode::{Encoder, Turn, reference, value};
use super::{CACHE_WRITE, EXTRA, IS_ERROR, MEDIA, METRICS, OUTCOME, REASONING, SIGNATURE, STATUS, STOP, media};
use crate::event::{
    At, Block, Content, Count, Event, Fatal, Fields, Media, Notice, Outcome, OutcomeKind, Place, Prompt, PromptSource, Reply, ResultStatus, RoundEnd,
    Scope, StopKind, ToolCall, ToolResult, Topic, Usage,
};
use crate::json::{Out, Str};

impl Encoder {
    pub(super) fn prompt(&mut self, event: &Event<'_>, prompt: &Prompt<'_>, out: &mut Out) {
        let (parts, media) = parts(prompt.content, out);
        let source = if prompt.source == PromptSource::Agent { "system" } else { "user" };
        let fields = self.own_fields(event.fields, At::Line, out);
        let at = self.place(&event.origin, out);
        self.all[at].open = None;
        let step = self.step(source, &event.origin, out);
        step.message = parts;
        if !has(&fields, EXTRA) {
            add_media(&mut step.extra, &media);
        }
        step.more = fields;
    }

    /// What people are told beside the conversation; other notices have no place.
    pub(super) fn notice(&mut self, event: &Event<'_>, notice: &Notice<'_>, out: &mut Out) {
        if event.origin.parent.is_none()
            && let Some(name) = event.origin.agent.and_then(|agent| agent.name)
        {
            // It introduces a subagent, whose trajectory says the name.
            out.hold(&mut self.kept, name.as_escaped());
        }
        let own = self.is_own() && notice.name.is("system");
        // How far the program is says nothing of what was done.
        if !own && notice.topic == Topic::Status {
            return;
        }
        let message = match (notice.message, notice.data) {
            (Some(text), _) if own || !text.is_empty() => vec![text_part(text, out)],
            // Parts that were read go back as they were.
            (None, Some(data)) if own => {
                let all = data.elements().map(|part| Part::Other(value(part, out)));
                all.collect()
            }
            (None, None) if own => Vec::new(),
            _ => return,
        };
        let fields = self.own_fields(event.fields, At::Line, out);
        let name = out.apart(|out| out.str(notice.name));
        notice.message.unwrap_or_default().as_escaped().clone_into(&mut self.turn.noticed);
        let step = self.step("system", &event.origin, out);
        step.message = message;
        step.more = fields;
        if !own {
            member(&mut step.extra, "notice", &name);
        }
    }

    pub(super) fn reply(&mut self, event: &Event<'_>, reply: &Reply<'_>, out: &mut Out) {
        if reply.blocks.is_empty() && !self.is_own() {
            return;
        }
        let (at, number) = self.answer(&event.origin, out);
        let fields = self.own_fields(event.fields, At::Line, out);
        let metrics = self.own_fields(event.fields, At::Part(METRICS), out);
        let model = reply.model.filter(|model| !model.is_empty());
        let model = model.map(|model| out.apart(|out| out.str(model)));
        let error = reply.error.map(|word| out.apart(|out| out.str(word)));
        let step = &mut self.all[at].steps[number];
        step.more.extend(fields);
        step.metrics.extend(metrics.strip_prefix(b",").unwrap_or_default());
        step.model = model.unwrap_or(std::mem::take(&mut step.model));
        if let Some(error) = error {
            member(&mut step.extra, "error", &error);
        }
        let (mut signatures, mut inline) = (0, Vec::new());
        for block in reply.blocks {
            match block {
                Block::Text { text, .. } => {
                    let part = text_part(*text, out);
                    self.all[at].steps[number].message.push(part);
                    if at == 0 {
                        self.turn.said.push_str(text.as_escaped());
                    }
                }
                Block::Thinking(thinking) => {
                    let step = &mut self.all[at].steps[number];
                    let text = out.apart(|out| out.body(thinking.text));
                    match &mut step.thought {
                        Some(before) => {
                            before.extend_from_slice(b"\\n\\n");
                            before.extend(text);
                            out.renamed(thinking.text.as_escaped(), "the thoughts of a step are one text");
                        }
                        None => step.thought = Some(text),
                    }
                    signatures += 1;
                    let known = has(&step.extra, SIGNATURE);
                    if let Some(signature) = thinking.signature.filter(|_| signatures == 1 && !known) {
                        let signature = out.apart(|out| out.str(signature));
                        member(&mut self.all[at].steps[number].extra, SIGNATURE, &signature);
                    }
                }
                Block::Call(call) => self.call(call, at, number, out),
                Block::Media(media) => media_part(media, &mut self.all[at].steps[number].message, &mut inline, out),
                // Sealed thoughts and what other blocks there are have no place.
                Block::Redacted { .. } | Block::Other { .. } => {}
            }
        }
        add_media(&mut self.all[at].steps[number].extra, &inline);
    }

    fn call(&mut self, call: &ToolCall<'_>, at: usize, number: usize, out: &mut Out) {
        let fields = self.own_fields(call.fields, At::Line, out);
        let written = out.apart(|out| {
            out.lit("{\"tool_call_id\":");
            out.str(call.id);
            out.lit(",\"function_name\":");
            out.str(call.name);
            out.lit(",\"arguments\":");
            call.write_object(out);
            out.bytes(&fields);
            out.lit("}");
        });
        self.all[at].steps[number].calls.push(written);
        self.call_stands(call.id, at, number);
    }

    /// A result stands in the step of its call.
    pub(super) fn tool_result(&mut self, event: &Event<'_>, result: &ToolResult<'_>, out: &mut Out) {
        out.promise();
        if let Some(time) = event.origin.time {
            out.beside(time.source());
        }
        let place = self.calls.get(result.call.as_escaped()).copied();
        let (at, number) = match place {
            Some(place) => place,
            None => {
                let place = self.answer(&event.origin, out);
                self.all[place.0].open = None;
                place
            }
        };
        let fields = self.own_fields(event.fields, At::Line, out);
        let (has_extra, refers) = (has(&fields, EXTRA), has(&fields, "subagent_trajectory_ref"));
        let (content, media) = parts(result.content, out);
        let mut extra = Vec::new();
        if !has_extra {
            failed(result.status, &mut extra);
            add_media(&mut extra, &media);
        }
        let subagent = self.subagent_of(result.call);
        if let Some(name) = result.name_again() {
            out.used(name.as_escaped());
        }
        let written = out.apart(|out| {
            out.lit("{");
            if place.is_some() {
                out.lit("\"source_call_id\":");
                out.str(result.call);
                out.lit(",");
            }
            out.lit("\"content\":");
            message(&content, out);
            if let Some(id) = subagent.as_deref().filter(|_| !refers) {
                out.bytes(&reference(id));
            }
            out.bytes(&fields);
            if !extra.is_empty() {
                out.lit(",\"extra\":{");
                out.bytes(&extra);
                out.lit("}");
            }
            out.lit("}");
        });
        let results = &mut self.all[at].steps[number].results;
        results.push(written);
        if subagent.is_none() && !refers {
            let place = (at, number, results.len() - 1);
            self.answers.insert(result.call.as_escaped().to_owned(), place);
        }
    }

    pub(super) fn round_end(&mut self, event: &Event<'_>, end: &RoundEnd<'_>, out: &mut Out) {
        let at = self.place(&event.origin, out);
        let usage = end.usage.filter(|usage| !usage.is_blank());
        // A call of the model that gave nothing has its tokens all the same.
        if self.all[at].open.is_none() && usage.is_some() {
            self.answer(&event.origin, out);
        }
        let Some(number) = self.all[at].open.take() else {
            if let Some(stop) = end.stop.filter(|stop| at == 0 && stop.kind == StopKind::Other) {
                let (word, kept) = &mut self.turn.stop;
                out.drop_held(kept, "another word followed");
                stop.word.as_escaped().clone_into(word);
                out.hold(kept, stop.word.as_escaped());
            }
            return;
        };
        out.carried();
        let own = self.is_own();
        let one = &mut self.all[at];
        let step = &mut one.steps[number];
        step.without_model = has(&step.extra, "error");
        if let Some(usage) = usage {
            metrics(&usage, step, out);
            Usage::add(&mut one.sum, &usage.with_cache());
            self.turn.counted |= at == 0;
        }
        let step = &mut self.all[at].steps[number];
        if let Some(stop) = end.stop.filter(|_| !own) {
            let word = out.apart(|out| out.str(stop.word));
            member(&mut step.extra, STOP, &word);
        }
        // What was read has its own free room.
        if own && has(&step.more, EXTRA) {
            step.extra.clear();
        }
    }

    pub(super) fn fatal(&mut self, event: &Event<'_>, fatal: &Fatal<'_>, out: &mut Out) {
        let part = text_part(fatal.message, out);
        let step = self.step("system", &event.origin, out);
        step.message.push(part);
        member(&mut step.extra, "error", b"true");
        let failed = step.extra.len();
        let told = told(&Outcome::new(OutcomeKind::Failed(Place::Backend)), false, out);
        member(&mut step.extra, OUTCOME, &told);
        let main = event.origin.parent.is_none();
        self.turn.failed = self.all[0].steps.len().checked_sub(1).filter(|_| main).map(|step| (step, failed));
    }

    /// How a turn ended stands with its last step; what went wrong is a step of its own.
    pub(super) fn outcome(&mut self, event: &Event<'_>, outcome: &Outcome<'_>, out: &mut Out) {
        out.promise();
        self.all[0].open = None;
        self.said(event, outcome, out);
        let error = outcome
            .error
            .or(outcome.text)
            .filter(|text| outcome.is_error && !text.is_empty() && !self.has_said(*text));
        let is_bare = self.all[0].steps.len() == self.turn.first;
        let worked_out = self.is_own() && outcome.synthetic;
        let is_noticed = error.is_some_and(|error| error.as_escaped() == self.turn.noticed) && self.all[0].steps.last().is_some_and(Step::is_notice);
        if is_noticed {
            error.into_iter().for_each(|error| out.used(error.as_escaped()));
        } else if worked_out && !is_bare {
            // So it will be again.
        } else if let Some(error) = error.filter(|_| self.turn.failed.is_none()) {
            let part = text_part(error, out);
            self.step("system", &event.origin, out).message.push(part);
        } else if is_bare {
            self.step("system", &event.origin, out);
        } else if let Some(time) = event.origin.time {
            out.beside(time.source());
        }
        self.spent(outcome, out);
        let told = told(outcome, error.is_none(), out);
        let (word, mut kept) = std::mem::take(&mut self.turn.stop);
        match outcome.stop.is_some_and(|stop| stop.word.as_escaped() == word) {
            true => out.release(&mut kept),
            false => out.drop_held(&mut kept, "no place in the target"),
        }
        let fields = self.own_fields(event.fields, At::Line, out);
        if let Some((step, at)) = self.turn.failed {
            // The outcome says more than that the program has ended.
            self.all[0].steps[step].extra.truncate(at);
        }
        if let Some(step) = self.all[0].steps.last_mut() {
            step.more.extend(fields);
            if !worked_out && !has(&step.more, EXTRA) {
                member(&mut step.extra, OUTCOME, &told);
            }
        }
        self.turn = Turn {
            first: self.all[0].steps.len(),
            ..Turn::default()
        };
    }

    fn has_said(&self, text: Str<'_>) -> bool {
        let said = Str::trusted(&self.turn.said);
        said.as_escaped().contains(text.as_escaped()) || said.unescape().contains(&*text.unescape())
    }

    /// The answer that the outcome says again; one that nothing said before is said now.
    fn said(&mut self, event: &Event<'_>, outcome: &Outcome<'_>, out: &mut Out) {
        let Some(text) = outcome.answer(out).filter(|text| !text.is_empty()) else {
            return;
        };
        if self.has_said(text) {
            out.used(text.as_escaped());
        } else if !outcome.is_error {
            let part = text_part(text, out);
            let step = self.step("agent", &event.origin, out);
            step.message.push(part);
        }
    }

    /// What a turn took that its rounds did not say.
    fn spent(&mut self, outcome: &Outcome<'_>, out: &Out) {
        if let Some(usage) = outcome.usage.filter(|usage| !usage.is_blank()) {
            if usage.scope == Scope::Session && !self.turn.counted && self.turn.first == 0 || usage.scope == Scope::Turn && !self.turn.counted {
                Usage::add(&mut self.all[0].sum, &usage.with_cache());
                usage.parts().for_each(|source| out.used(source));
            } else if usage.provenance == crate::event::Provenance::Derived {
                usage.parts().for_each(|source| out.used(source));
            }
        }
        let Some(cost) = outcome.cost_usd.filter(|cost| cost.f64().is_some()) else {
            return;
        };
        out.used(cost.as_str());
        let before = self.cost.as_deref().and_then(|before| before.parse::<f64>().ok());
        self.cost = Some(match (outcome.cost_scope, before, cost.f64()) {
            (Scope::Session, _, _) | (_, None, _) | (_, _, None) => cost.as_str().to_owned(),
            (_, Some(before), Some(more)) => format!("{}", before + more),
        });
    }

    /// Members that were read in this dialect, each behind a comma.
    fn own_fields(&self, fields: Fields<'_>, at: At<'_>, out: &mut Out) -> Vec<u8> {
        if !self.is_own() {
            return Vec::new();
        }
        out.apart(|out| {
            for field in fields.iter().filter(|field| field.at == at) {
                field.write_next(out);
            }
        })
    }
}

pub(super) fn has(members: &[u8], name: &str) -> bool {
    let key = format!("\"{name}\":");
    members.windows(key.len()).any(|part| part == key.as_bytes())
}

fn text_part(text: Str<'_>, out: &mut Out) -> Part {
    Part::Text(out.apart(|out| out.body(text)))
}

/// What a message says: its parts, and the media that no path leads to.
fn parts(content: Content<'_>, out: &mut Out) -> (Vec<Part>, Vec<Vec<u8>>) {
    let (mut all, mut inline) = (Vec::new(), Vec::new());
    match content {
        Content::Text(text) => all.push(text_part(text, out)),
        Content::Blocks(blocks) => {
            for block in blocks {
                match block {
                    Block::Text { text, .. } => all.push(text_part(*text, out)),
                    Block::Media(media) => media_part(media, &mut all, &mut inline, out),
                    _ => {}
                }
            }
        }
    }
    (all, inline)
}

fn media_part(media: &Media<'_>, parts: &mut Vec<Part>, inline: &mut Vec<Vec<u8>>, out: &mut Out) {
    let part = out.apart(|out| media::write(media, out));
    if part.is_empty() {
        inline.push(value(media.raw, out));
    } else {
        parts.push(Part::Other(part));
    }
}

/// Says in a free room how a call failed.
fn failed(status: ResultStatus, extra: &mut Vec<u8>) {
    let word = match status {
        ResultStatus::Success => return,
        ResultStatus::Error => None,
        ResultStatus::Denied => Some("\"denied\""),
        ResultStatus::Canceled => Some("\"canceled\""),
    };
    member(extra, IS_ERROR, b"true");
    if let Some(word) = word {
        member(extra, STATUS, word.as_bytes());
    }
}

/// Adds a list of media to a free room.
fn add_media(extra: &mut Vec<u8>, media: &[Vec<u8>]) {
    if !media.is_empty() {
        member(extra, MEDIA, &[b"[", media.join(&b',').as_slice(), b"]"].concat());
    }
}

fn metrics(usage: &Usage<'_>, step: &mut Step, out: &Out) {
    usage.parts().for_each(|source| out.used(source));
    let mut all = Vec::new();
    let count = |count: Option<Count<'_>>| count.map(|count| count.value);
    for (name, number) in [
        ("prompt_tokens", usage.prompt_tokens()),
        ("completion_tokens", usage.written_tokens()),
        ("cached_tokens", count(usage.cache_read)),
    ] {
        if let Some(number) = number {
            member(&mut all, name, number.to_string().as_bytes());
        }
    }
    let mut extra = Vec::new();
    for (name, number) in [(CACHE_WRITE, count(usage.cache_write)), (REASONING, usage.reasoning_tokens())] {
        if let Some(number) = number {
            member(&mut extra, name, number.to_string().as_bytes());
        }
    }
    if !extra.is_empty() && !has(&step.metrics, EXTRA) {
        member(&mut all, EXTRA, &[b"{", extra.as_slice(), b"}"].concat());
    }
    if !step.metrics.is_empty() && !all.is_empty() {
        all.push(b',');
    }
    all.append(&mut step.metrics);
    step.metrics = all;
}

/// What an outcome says besides what went wrong, if that is a step's message.
fn told(outcome: &Outcome<'_>, with_error: bool, out: &mut Out) -> Vec<u8> {
    out.apart(|out| {
        out.lit("{\"kind\":\"");
        out.lit(outcome.kind.as_str());
        out.lit(if outcome.is_error {
            "\",\"is_error\":true"
        } else {
            "\",\"is_error\":false"
        });
        match outcome.word {
            // It says no more than the kind.
            Some(word) if word.is(outcome.kind.as_str()) => out.used(word.as_escaped()),
            word => out.str_if(",\"word\":", word),
        }
        if outcome.synthetic {
            out.lit(",\"synthetic\":true");
        }
        if with_error {
            out.str_if(",\"error\":", outcome.error.filter(|_| outcome.is_error));
        }
        out.unchecked_if(",\"duration_ms\":", outcome.duration_ms);
        out.unchecked_if(",\"duration_api_ms\":", outcome.duration_api_ms);
        if let Some(turns) = outcome.num_turns {
            out.used(turns.source);
            out.lit(",\"num_turns\":");
            out.number(turns.value);
        }
        if let Some(stop) = outcome.stop {
            out.str_if(",\"stop_reason\":", Some(stop.word));
        }
        out.unchecked_if(",\"denials\":", outcome.denials);
        out.unchecked_if(",\"structured\":", outcome.structured);
        out.str_if(",\"request_id\":", outcome.request_id);
        out.lit("}");
    })
}
