//! Calls: what is said of them, message by message, and what that comes to.

mod tell;

use crate::chat::Members;
use crate::codec::{Cx, Dialect};
use crate::event::{Block, Content, Fate, Media, Permission, ResultStatus, ToolCall, ToolResult};
use crate::json::{Raw, Shape, Str};
use crate::tools::kind_of;
use crate::trace::{Kept, Trace};

/// The calls of a turn, in the order in which they are first spoken of.
#[derive(Debug, Default)]
pub(super) struct Calls {
    all: Vec<Call>,
    /// The agent says arguments: those that are missing come later.
    says_inputs: bool,
}

/// A call as far as it is known. Texts are bodies of JSON strings.
#[derive(Debug, Default)]
struct Call {
    id: String,
    name: String,
    kind: String,
    title: String,
    parent: String,
    /// The arguments as they are spelled; empty while none are known.
    input: String,
    path: String,
    /// What is changed in a file, as it is spelled.
    diff: String,
    /// What it has shown.
    shown: String,
    printed: String,
    /// The call was told; its result was.
    told: bool,
    ended: bool,
    refused: bool,
    /// Its turn is over.
    past: bool,
    /// It was said to run.
    runs: bool,
    /// What was said last is that it waits.
    waits: bool,
    /// The host has said whether it may run.
    asked: bool,
    /// What messages have said before it was told, for the ledger: its name, and its arguments.
    early: [Early; 2],
}

/// What will be told of a call, if nothing else is said of it, and where the source says it.
#[derive(Debug, Default)]
struct Early {
    text: String,
    kept: Kept,
}

impl Early {
    fn hear(&mut self, text: &str, trace: &Trace) {
        if self.text != text {
            trace.tell_held(&mut self.kept, Fate::Dropped, "a later message says something else");
            text.clone_into(&mut self.text);
        }
        trace.hold_unsaid(&mut self.kept, text);
    }

    /// The call is told with `made`.
    fn watch(&mut self, made: &str, trace: &Trace) {
        match self.text == made {
            true => trace.watch(made, &self.kept),
            false => trace.tell_held(&mut self.kept, Fate::Dropped, "a later message says something else"),
        }
    }
}

/// What was known of a call before a message spoke of it.
#[derive(Debug, Default)]
pub(super) struct Known {
    input: String,
    shown: String,
}

/// What a message makes of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// It is known, or known better.
    Known,
    /// It is whole, and begins.
    Runs,
    /// It is over.
    Ended,
}

impl Calls {
    /// So many calls that have not ended are remembered when their turn is over.
    const PAST: usize = 64;
    /// So many calls are remembered in a turn.
    const MOST: usize = 1024;

    pub(super) fn clear(&mut self) {
        self.all.clear();
    }

    /// A turn is over. What has not ended may still do so behind it, in the background.
    pub(super) fn end_turn(&mut self) {
        self.all.retain(|call| !call.ended);
        self.all.drain(..self.all.len().saturating_sub(Self::PAST));
        self.all.iter_mut().for_each(|call| call.past = true);
    }

    fn is_full(&self) -> bool {
        self.all.len() >= Self::MOST
    }

    /// Forgets old calls: those that have ended, else whichever they are.
    fn make_room(&mut self) {
        let half = Self::MOST / 2;
        let mut at = 0;
        self.all.retain(|call| {
            at += 1;
            at > half || !call.ended
        });
        if self.is_full() {
            self.all.drain(..half);
        }
    }

    fn find(&self, id: Str<'_>) -> Option<usize> {
        self.all.iter().rposition(|call| call.id == id.as_escaped())
    }

    /// Whether a call has been spoken of.
    pub(super) fn knows(&self, id: Str<'_>) -> bool {
        self.find(id).is_some()
    }

    /// Something is called a call: one that is over is not meant, nor one of an earlier turn.
    pub(super) fn call(&mut self, id: Str<'_>) {
        if let Some(at) = self.find(id).filter(|at| self.all[*at].ended || self.all[*at].past) {
            self.all.remove(at);
        }
    }

    /// What is known of a call, before another message speaks of it.
    pub(super) fn known(&self, id: Str<'_>) -> Known {
        let call = self.find(id).map(|at| &self.all[at]);
        call.map_or_else(Known::default, |call| Known {
            input: call.input.clone(),
            shown: call.shown.clone(),
        })
    }

    /// The arguments of a call are said.
    pub(super) fn hear_input(&mut self, id: Str<'_>, input: Raw<'_>) {
        if let Some(at) = self.find(id) {
            input.as_str().clone_into(&mut self.all[at].input);
        }
    }

    /// The arguments of a call, as it is told.
    pub(super) fn input(&self, id: Str<'_>) -> String {
        self.find(id).map_or_else(|| "{}".to_owned(), |at| self.all[at].input())
    }

    /// Whether the arguments of a call are those that the message says which was heard last, and would not be without it.
    pub(super) fn takes_input(&mut self, id: Str<'_>, before: &Known) -> bool {
        let Some(at) = self.find(id) else { return false };
        let call = &mut self.all[at];
        if call.input() != call.input {
            return false;
        }
        let said = std::mem::replace(&mut call.input, before.input.clone());
        let takes = call.input() != said;
        call.input = said;
        takes
    }

    /// The text of a result that the message which was heard last does not say itself.
    pub(super) fn unsaid<'c>(&'c self, id: Str<'_>, before: &'c Known, output: Option<Raw<'c>>) -> &'c str {
        self.find(id).map_or("", |at| self.all[at].unsaid(before, output))
    }

    /// A message speaks of a call: keeps what it says.
    pub(super) fn hear(&mut self, id: Str<'_>, said: &Members<'_>) -> Step {
        let at = self.find(id).unwrap_or_else(|| {
            if self.is_full() {
                self.make_room();
            }
            self.all.push(Call {
                id: id.as_escaped().to_owned(),
                ..Call::default()
            });
            self.all.len() - 1
        });
        let call = &mut self.all[at];
        let text = |name: &str| said.get(name).and_then(Raw::string);
        let meta = said.get("_meta");
        let own = meta.and_then(|meta| meta.get("claudeCode"));
        if let Some(name) = text("name").or_else(|| inner(own, "toolName")).or_else(|| inner(meta, "toolName")) {
            name.as_escaped().clone_into(&mut call.name);
        }
        for (to, from) in [
            (&mut call.kind, text("kind")),
            (&mut call.title, text("title")),
            (&mut call.parent, inner(own, "parentToolUseId")),
        ] {
            if let Some(from) = from {
                from.as_escaped().clone_into(to);
            }
        }
        if let Some(input) = said.get("rawInput").filter(|input| !input.is_null()) {
            input.as_str().clone_into(&mut call.input);
            self.says_inputs |= input.as_str().len() > 2;
        }
        if let Some(place) = said.get("locations").and_then(|list| list.elements().next())
            && let Some(path) = inner(Some(place), "path")
        {
            path.as_escaped().clone_into(&mut call.path);
        }
        if let Some(shown) = said.get("content").filter(|list| list.shape() == Some(Shape::Array)) {
            call.shown.clear();
            call.diff.clear();
            for part in shown.elements() {
                match inner(Some(part), "type").map_or("", Str::as_escaped) {
                    "diff" if call.diff.is_empty() => part.as_str().clone_into(&mut call.diff),
                    _ => call.shown.push_str(shown_text(part).unwrap_or_default().as_escaped()),
                }
            }
        }
        if let Some(piece) = inner(meta.and_then(|meta| meta.get("terminal_output_delta")), "data") {
            call.printed.push_str(piece.as_escaped());
        }
        let status = text("status").map_or("", Str::as_escaped);
        call.runs |= status == "in_progress";
        call.waits = status == "pending";
        // Arguments may come when it runs already, but not behind what it shows.
        let shows = call.diff.len() + call.shown.len() + call.printed.len() > 0;
        let waits = !shows && (call.input == "{}" || call.input.is_empty() && self.says_inputs && call.input() == "{}");
        match status {
            "completed" | "failed" | "cancelled" if !call.ended => Step::Ended,
            _ if call.runs && !call.told && !call.ended && !waits => Step::Runs,
            _ => Step::Known,
        }
    }

    /// The call is told later, with what a message says that spoke of it, unless another one says something else.
    pub(super) fn keep(&mut self, id: Str<'_>, said: &Members<'_>, trace: &Trace) {
        let Some(at) = self.find(id).filter(|at| !self.all[*at].told) else {
            return;
        };
        let Call { name, input, early, .. } = &mut self.all[at];
        if let Some(said) = facts(said).find(|fact| fact.as_escaped() == name) {
            early[0].hear(said.as_escaped(), trace);
        }
        if let Some(said) = said.get("rawInput").filter(|said| said.as_str() == input) {
            early[1].hear(said.as_str(), trace);
        }
    }

    /// Whether a call was told.
    pub(super) fn is_told(&self, id: Str<'_>) -> bool {
        self.find(id).is_some_and(|at| self.all[at].told)
    }

    /// The host has said whether a call may run.
    pub(super) fn permitted(&mut self, id: &str, permits: bool) {
        if let Some(at) = self.find(Str::trusted(id)) {
            (self.all[at].asked, self.all[at].refused) = (true, !permits);
        }
    }

    /// The result of a call has been told.
    pub(super) fn ended(&mut self, id: Str<'_>) {
        if let Some(at) = self.find(id) {
            self.all[at].ended = true;
        }
    }

    /// A call as a request for permission says it.
    pub(super) fn told<'a>(&self, id: Str<'a>, said: &Members<'a>, cx: &Cx<'a>) -> Permission<'a> {
        let Some(at) = self.find(id) else { return Permission::default() };
        let call = self.all[at].call(id, Some(said), cx);
        Permission {
            name: call.name,
            call: Some(id),
            input: Some(call.input),
            suggestions: None,
        }
    }

    /// What came of a call: the text that the model sees is what the agent says it is, or what it shows to people.
    ///
    /// What the message says stays in it where it would be known without it.
    pub(super) fn result<'a>(&mut self, id: Str<'a>, said: &mut Members<'a>, before: &Known, cancelled: bool, cx: &Cx<'a>) -> ToolResult<'a> {
        let at = self.find(id).unwrap_or_default();
        let call = &mut self.all[at];
        call.ended = true;
        let (status, word) = match said.get("status").and_then(Raw::string).map_or("", Str::as_escaped) {
            "completed" => (ResultStatus::Success, true),
            "cancelled" => (ResultStatus::Canceled, true),
            _ if call.refused => (ResultStatus::Denied, true),
            _ if cancelled => (ResultStatus::Canceled, false),
            _ if did_not_run(said) => (ResultStatus::Denied, true),
            _ => (ResultStatus::Error, true),
        };
        if word {
            said.word("status", cx);
        }
        let output = said.get("rawOutput");
        let content = match output.and_then(Raw::string).filter(|text| !text.is_empty()) {
            Some(text) => {
                if text.as_escaped() != call.unsaid(before, None) {
                    said.take_raw("rawOutput");
                }
                let mut blocks = bumpalo::collections::Vec::new_in(cx.arena);
                blocks.push(Block::Text { text, fields: &[] });
                blocks.extend(said.get("content").into_iter().flat_map(Raw::elements).filter_map(shown_media));
                content_of(blocks.into_bump_slice())
            }
            None => call
                .shown(said, before, output, cx)
                .unwrap_or_else(|| call.output(output, said, before, cx)),
        };
        ToolResult::new(id, status, content)
    }
}

impl Call {
    /// As it is told. What the message `said` says itself is told as its part.
    fn call<'a>(&self, id: Str<'a>, said: Option<&Members<'a>>, cx: &Cx<'a>) -> ToolCall<'a> {
        let known = self.input();
        // Where the arguments are what is shown, they are those of the kind: a shell that is shown as the file that it reads takes no path.
        let shown = self.input.is_empty() && known != "{}" && !self.kind.is_empty() && self.kind != "other";
        let is_another = || kind_of(Dialect::Acp, Str::trusted(&self.kind)) != kind_of(Dialect::Acp, Str::trusted(&self.name));
        let names: &[&String] = if shown && is_another() {
            &[&self.kind]
        } else {
            &[&self.name, &self.kind]
        };
        let name = names.iter().find(|name| !name.is_empty()).map_or("other", |name| name.as_str());
        let name = said
            .into_iter()
            .flat_map(facts)
            .find(|fact| fact.as_escaped() == name)
            .unwrap_or_else(|| Str::trusted(cx.arena.alloc_str(name)));
        let here = said.and_then(|said| said.get("rawInput"));
        let input = match here.filter(|input| input.as_str() == known) {
            Some(input) => input,
            None => {
                // They were checked when they were read, or are made of what was.
                let made = Raw::checked(cx.arena.alloc_str(&known));
                let shown = said.and_then(|said| said.get("content")).into_iter().flat_map(Raw::elements);
                for (key, value) in shown.flat_map(Raw::members) {
                    if let Some(own) = made.get(key.as_escaped()).filter(|own| *own == value) {
                        cx.stands_for(own.as_str(), value.as_str());
                    }
                }
                for fact in said.into_iter().flat_map(facts) {
                    for own in made.members().filter_map(|(_, value)| value.string()) {
                        if own == fact {
                            cx.stands_for(own.as_escaped(), fact.as_escaped());
                        }
                    }
                }
                made
            }
        };
        ToolCall {
            id,
            name,
            kind: kind_of(Dialect::Acp, name),
            input,
            fields: &[],
        }
    }

    /// The arguments. Agents that do not say them show what a call is about.
    fn input(&self) -> String {
        if !self.input.is_empty() && (self.input != "{}" || self.is_bare()) {
            return self.input.clone();
        }
        let mut input = String::from("{");
        let mut add = |key: &str, value: &str| {
            input.push_str(if input.len() > 1 { ",\"" } else { "\"" });
            input.push_str(key);
            input.push_str("\":");
            input.push_str(value);
        };
        let diff = Raw::trusted(&self.diff);
        if !self.diff.is_empty() {
            for key in ["path", "oldText", "newText"] {
                if let Some(value) = diff.get(key).filter(|value| !value.is_null()) {
                    add(key, value.as_str());
                }
            }
        } else if self.kind == "execute" && !self.title.is_empty() {
            add("command", &format!("\"{}\"", self.title));
        } else if !self.path.is_empty() {
            add("path", &format!("\"{}\"", self.path));
        } else if !self.title.is_empty() && self.name.is_empty() {
            add("title", &format!("\"{}\"", self.title));
        }
        input.push('}');
        input
    }

    /// Whether nothing else is known of what it is about, or the agent says arguments as a rule.
    fn is_bare(&self) -> bool {
        !self.name.is_empty() || self.diff.is_empty() && self.path.is_empty() && self.title.is_empty()
    }

    /// The text of a result that the message which was heard last does not say itself.
    fn unsaid<'c>(&'c self, before: &'c Known, output: Option<Raw<'c>>) -> &'c str {
        if let Some(text) = written(output) {
            return text.as_escaped();
        }
        if self.printed.is_empty() { &before.shown } else { &self.printed }
    }

    /// The text of a result that shows nothing new.
    fn output<'a>(&self, output: Option<Raw<'a>>, said: &Members<'a>, before: &Known, cx: &Cx<'a>) -> Content<'a> {
        if let Some(text) = written(output) {
            return Content::Text(text);
        }
        let piece = said
            .get("_meta")
            .and_then(|meta| meta.get("terminal_output_delta"))
            .and_then(|piece| piece.get("data"))
            .and_then(Raw::string);
        let kept = self.unsaid(before, None);
        if kept.is_empty() && said.get("content").is_some_and(|list| list.as_str() == "[]") {
            return Content::Blocks(&[]);
        }
        match piece.filter(|piece| piece.as_escaped() == kept) {
            Some(text) => Content::Text(text),
            None => Content::Text(Str::trusted(cx.arena.alloc_str(kept))),
        }
    }

    /// The texts of what a message shows of a call, taken out of it; `None` if there are none.
    fn shown<'a>(&self, said: &mut Members<'a>, before: &Known, output: Option<Raw<'a>>, cx: &Cx<'a>) -> Option<Content<'a>> {
        let list = said.get("content")?;
        let mut blocks = bumpalo::collections::Vec::new_in(cx.arena);
        let text = |part| shown_text(part).map(|text| Block::Text { text, fields: &[] });
        blocks.extend(list.elements().filter_map(|part| text(part).or_else(|| shown_media(part))));
        let plain = |part: Raw<'a>| {
            let inside = part.get("content")?;
            let (outer, inner) = (part.get("type")?, inside.get("type")?);
            let words = outer.string()?.is("content") && inner.string()?.is("text");
            (part.members().count() == 2 && inside.members().count() == 2 && words).then_some((outer, inner))
        };
        if list.elements().all(|part| plain(part).is_some()) && !blocks.is_empty() && super::lines::shown(list) != self.unsaid(before, output) {
            for (outer, inner) in list.elements().filter_map(plain) {
                cx.took(outer.as_str());
                cx.took(inner.as_str());
            }
            said.take_raw("content");
        }
        let has_text = blocks.iter().any(|block| matches!(block, Block::Text { .. }));
        if !has_text && !blocks.is_empty() {
            // Images may stand beside a text that was shown before.
            let text = self.output(output, said, before, cx).texts().find(|text| !text.is_empty());
            blocks.splice(0..0, text.map(|text| Block::Text { text, fields: &[] }));
        }
        (!blocks.is_empty()).then(|| content_of(blocks.into_bump_slice()))
    }
}

/// One text alone is a text.
const fn content_of<'a>(blocks: &'a [Block<'a>]) -> Content<'a> {
    match blocks {
        [Block::Text { text, .. }] => Content::Text(*text),
        _ => Content::Blocks(blocks),
    }
}

/// What a message says a call is and is about, besides its arguments: any of it may become the name, or an argument.
fn facts<'a>(said: &Members<'a>) -> impl Iterator<Item = Str<'a>> {
    let text = |name: &str| said.get(name).and_then(Raw::string);
    let meta = said.get("_meta");
    let own = meta.and_then(|meta| meta.get("claudeCode"));
    let place = said.get("locations").and_then(|list| list.elements().next());
    let facts = [
        text("name"),
        inner(own, "toolName"),
        inner(meta, "toolName"),
        text("kind"),
        text("title"),
        inner(place, "path"),
    ];
    facts.into_iter().flatten()
}

/// The text in an output of the tool's own form.
fn written(output: Option<Raw<'_>>) -> Option<Str<'_>> {
    let words = ["formatted_output", "aggregated_output", "text", "output", "stdout"];
    words.into_iter().find_map(|name| output?.get(name)?.string())
}

/// Whether an agent says that a call that has failed was not let run.
fn did_not_run(said: &Members<'_>) -> bool {
    let own = said.get("_meta").and_then(|meta| meta.get("claudeCode"));
    inner(own, "nonExecutionKind").is_some()
}

fn inner<'a>(of: Option<Raw<'a>>, name: &str) -> Option<Str<'a>> {
    of?.get(name)?.string()
}

/// The image, or other media, in a part of what a call shows.
fn shown_media(part: Raw<'_>) -> Option<Block<'_>> {
    let raw = part.get("content")?;
    let kind = raw.get("type")?.string()?;
    let holds_data = || raw.get("resource").is_some_and(|resource| resource.get("blob").is_some());
    (kind.is("image") || kind.is("audio") || kind.is("resource") && holds_data()).then_some(Block::Media(Media { kind, raw }))
}

/// The text of a part of what a call shows.
fn shown_text(part: Raw<'_>) -> Option<Str<'_>> {
    let shown = part.get("content")?;
    shown.get("text").or_else(|| shown.get("resource")?.get("text"))?.string()
}
