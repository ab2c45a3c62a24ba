use super::fields::knows;
use super::message::{EARLIER, Message, TYPES, again, block, is_one_text};
use super::parts::{Part, call_of, media_behind, parts, ran, result_of, texts, thoughts, usage, with_media};
use super::seen::{Said, Seen, Thoughts, text_hash};
use super::waiting::{CALL, Waiting};
use super::{CONTEXT, HEADER, REWIND, SET, TELLS};
use crate::chat::{FieldList, Members};
use crate::codec::{Cx, Decode, stray};
use crate::event::{
    At, Block, Content, Event, Fate, Fields, Kind, Notice, Origin, OutcomeKind, Prompt, PromptSource, Reply, ResultStatus, RoundEnd, Session, Sink,
    ToolResult, Topic,
};
use crate::gemini::ends::told;
use crate::ids::hash;
use crate::json::{Cursor, Error, Raw, Shape, Str};
use crate::store::{Child, Reading, unknown};
use crate::trace::Kept;

/// Reads Gemini CLI's chat files.
#[derive(Debug, Default)]
pub struct Decoder {
    kept: Reading,
    seen: Seen,
    /// The session of the last header.
    opened: String,
    /// The reply that goes on, by its id.
    round: Option<u64>,
    /// Results of subagents: what a subagent says stands in a file of its own, and comes before what came of it.
    waiting: Vec<Waiting>,
    /// What the user asked last, as people see it.
    asked: u64,
    cwd: String,
}

impl Decode for Decoder {
    fn line<'a>(&mut self, text: &'a str, cx: &Cx<'a>, sink: &mut dyn Sink<'a>) -> Result<usize, Error> {
        if !text.starts_with('{') {
            return Ok(stray(text, sink));
        }
        let mut at = Cursor::new(text);
        let members = Members::read_along(&mut at, &[SET, "tokens"], cx)?;
        let end = at.position();
        let is_text = |name: &str| members.get(name).and_then(Raw::string).is_some();
        // The program asks in this order.
        if is_text(REWIND) {
            self.rewind(members, cx, sink);
        } else if is_text("id")
            && let Some(kind) = members.get("type").and_then(Raw::string).map(Str::as_escaped)
            && TYPES.contains(&kind)
        {
            let is_whole = ["timestamp", "content"].iter().all(|name| members.get(name).is_some());
            if is_whole && (members.len() == 4 || kind == "gemini") {
                sink.own();
            }
            let message = self.message(members, false, cx).ok_or(Error::missing(end, "content"))?;
            self.told(message, cx, sink);
        } else if members.get(SET).is_some_and(|set| set.shape() == Some(Shape::Object)) {
            self.set(members, cx, sink);
        } else if is_text("sessionId") {
            self.header(members, cx, sink);
        } else {
            unknown(Cursor::new(text).raw()?, self.kept.known(cx), sink);
        }
        Ok(end)
    }

    fn finish<'a>(&mut self, cx: &Cx<'a>, sink: &mut dyn Sink<'a>) {
        self.answer(Origin::default(), cx, sink);
        self.kept.end_turn(cx, sink);
    }

    fn next_session(&mut self, _to: &str) {
        self.kept.next_session();
        *self = Self {
            kept: std::mem::take(&mut self.kept),
            ..Self::default()
        };
    }

    fn subagent(&mut self, of: &Child) {
        self.kept.of_subagent(of);
    }
}

impl Decoder {
    /// The origin of what belongs to the session as it is known.
    fn origin<'a>(&self, cx: &Cx<'a>) -> Origin<'a> {
        let origin = Origin {
            session: self.kept.known(cx).filter(|_| self.kept.is_main()),
            ..Origin::default()
        };
        self.kept.beside(origin, cx)
    }

    fn notice<'a>(name: &'static str, message: Option<Str<'a>>, origin: Origin<'a>, fields: Fields<'a>, cx: &Cx<'a>, sink: &mut dyn Sink<'a>) {
        let notice = Notice {
            name: Str::trusted(name),
            topic: Topic::Other,
            message,
            data: None,
        };
        sink.event(&Event {
            origin,
            kind: Kind::Notice(cx.keep(notice)),
            fields,
        });
    }

    /// The session was opened, for the first time or once more. Of a subagent's file the id is the subagent's.
    fn header<'a>(&mut self, mut members: Members<'a>, cx: &Cx<'a>, sink: &mut dyn Sink<'a>) {
        if members.get("projectHash").is_some() && members.get("type").and_then(Raw::string).is_none() {
            sink.own();
        }
        let id = members.text("sessionId", cx);
        if self.kept.is_main() && !self.opened.is_empty() && id.is_some_and(|id| id.as_escaped() != self.opened) {
            // The session before is over, and no line says so.
            self.finish(cx, sink);
        }
        let mut origin = self.origin(cx);
        if self.kept.is_main() {
            origin.session = self.kept.session(id, true, cx);
            if let Some(id) = id.filter(|id| id.as_escaped() != self.opened) {
                // Another session may have the same ids.
                self.seen = Seen::default();
                self.kept.goes_on_in(id);
                id.as_escaped().clone_into(&mut self.opened);
            }
        }
        self.seen.reopened();
        let messages = members.get("messages");
        let mut fields = FieldList::new_in(cx.arena);
        members.pour(At::Line, knows, &mut fields);
        Self::notice(HEADER, None, origin, fields.into_bump_slice(), cx, sink);
        let messages: Vec<_> = messages.into_iter().flat_map(Raw::elements).collect();
        self.inner(&messages, cx, sink);
    }

    /// The header changes, or the conversation is another.
    fn set<'a>(&mut self, members: Members<'a>, cx: &Cx<'a>, sink: &mut dyn Sink<'a>) {
        if members.len() == 1 {
            sink.own();
        }
        let messages = members.get(SET).and_then(|set| members.opened(set, cx)?.get("messages"));
        let mut fields = FieldList::new_in(cx.arena);
        members.pour(At::Line, knows, &mut fields);
        Self::notice(SET, None, self.origin(cx), fields.into_bump_slice(), cx, sink);
        let Some(messages) = messages else { return };
        let messages: Vec<_> = messages.elements().collect();
        let ids = messages.iter().filter_map(|message| message.get("id")).filter_map(Raw::string);
        if self.seen.now(ids.map(Str::as_escaped))
            && let Some(trace) = cx.trace
        {
            trace.note(
                Fate::Merged,
                "",
                "the program has left out messages that were said: they are read nevertheless",
            );
        }
        self.inner(&messages, cx, sink);
    }

    /// Messages that have no lines of their own. Those that have were told.
    fn inner<'a>(&mut self, messages: &[Raw<'a>], cx: &Cx<'a>, sink: &mut dyn Sink<'a>) {
        for &raw in messages {
            let id = raw.get("id").and_then(Raw::string);
            if cx.trace.is_none() && id.is_some_and(|id| self.seen.message(id.as_escaped()).is_some()) {
                continue;
            }
            let members = Members::of(raw, cx).filter(|members| {
                let kind = members.get("type").and_then(Raw::string);
                kind.is_some_and(|kind| TYPES.contains(&kind.as_escaped()))
            });
            let Some(message) = members.and_then(|members| self.message(members, true, cx)) else {
                continue;
            };
            if self.seen.message(message.id.as_escaped()).is_some() {
                cx.took(raw.as_str());
            } else {
                self.told(message, cx, sink);
            }
        }
    }

    fn rewind<'a>(&self, members: Members<'a>, cx: &Cx<'a>, sink: &mut dyn Sink<'a>) {
        if let Some(trace) = cx.trace {
            trace.note(
                Fate::Merged,
                "",
                "messages before this line are taken back: they are another branch, and read before it",
            );
        }
        let mut fields = FieldList::new_in(cx.arena);
        members.pour(At::Line, knows, &mut fields);
        Self::notice(REWIND, None, self.origin(cx), fields.into_bump_slice(), cx, sink);
    }

    fn message<'a>(&self, members: Members<'a>, inner: bool, cx: &Cx<'a>) -> Option<Message<'a>> {
        Message::of(members, self.origin(cx), inner, cx)
    }

    fn told<'a>(&mut self, message: Message<'a>, cx: &Cx<'a>, sink: &mut dyn Sink<'a>) {
        let content = message.content.map_or(&[][..], |content| parts(content, cx));
        match message.kind.as_escaped() {
            "gemini" => {
                let content = ran(content, message.id, cx);
                self.reply(message, content, cx, sink);
            }
            "user" => {
                if content.iter().any(|part| matches!(part, Part::Result(..))) {
                    self.results(message, content, cx, sink);
                } else {
                    self.answer(message.origin, cx, sink);
                    self.prompt(message, content, cx, sink);
                }
            }
            kind => {
                let kind = kind.to_owned();
                self.aside(message, &kind, content, cx, sink);
            }
        }
    }

    /// What the program says to people.
    fn aside<'a>(&mut self, message: Message<'a>, kind: &str, content: &[Part<'a>], cx: &Cx<'a>, sink: &mut dyn Sink<'a>) {
        let text = content.iter().find_map(|part| match part {
            Part::Block(Block::Text { text, .. }) => Some(*text),
            _ => None,
        });
        let failed = kind == "error" && self.kept.is_main();
        if failed {
            let text = text.unwrap_or_default();
            self.kept.turn.failed(text);
            if let Some(end) = OutcomeKind::named(text.as_escaped()) {
                self.kept.turn.ends_as(end);
            }
        } else if kind == "info"
            && self.kept.is_main()
            && let Some(end) = text.and_then(|text| told(text.as_escaped()))
        {
            self.kept.turn.ends_as(end);
        }
        let notice = Notice {
            name: cx.text(kind),
            topic: Topic::Other,
            message: text,
            data: None,
        };
        sink.event(&Event {
            origin: message.origin,
            kind: Kind::Notice(cx.keep(notice)),
            fields: message.fields(cx),
        });
        if failed {
            self.kept.turn.keeps(text.unwrap_or_default(), cx);
        }
    }

    fn prompt<'a>(&mut self, message: Message<'a>, content: &[Part<'a>], cx: &Cx<'a>, sink: &mut dyn Sink<'a>) {
        let said = Said {
            text: text_hash(texts(content)),
            ..Said::default()
        };
        let id = message.id.as_escaped();
        if self.seen.said(id, said) == Some(said) {
            return again(message, true, cx, sink);
        }
        if let Some(text) = texts(content).next().filter(|text| text.starts_with(CONTEXT)) {
            self.context(text);
            let (origin, fields) = (message.origin, message.fields(cx));
            return Self::notice("session_context", None, origin, fields, cx, sink);
        }
        // What the program tells the model in place of what the user has asked is shown as what the user has asked.
        let shown = message.members.get("displayContent").map(|shown| text_hash(texts(parts(shown, cx))));
        let main = self.kept.is_main();
        let is_told = texts(content)
            .next()
            .is_some_and(|text| TELLS.iter().any(|words| text.starts_with(words)));
        let own = main && (is_told || shown.is_some_and(|shown| shown == self.asked)) && self.kept.turn.is_open();
        if !is_told {
            self.asked = shown.unwrap_or(said.text);
        }
        self.round = None;
        if main && !own {
            self.kept.end_turn(cx, sink);
        }
        let origin = self.place(message.origin, main && !own, cx, sink);
        if main {
            self.kept.turn.goes_on();
        }
        let source = match (main, own) {
            (false, _) => PromptSource::Parent,
            (true, true) => PromptSource::Agent,
            (true, false) => PromptSource::Host,
        };
        let blocks: Vec<Block<'a>> = content.iter().filter_map(block).collect();
        let (content, message) = match (blocks.as_slice(), message.content) {
            ([Block::Text { text, .. }], Some(raw)) if is_one_text(raw) => (Content::Text(*text), message.without_content()),
            ([Block::Text { text, .. }], _) => (Content::Text(*text), message),
            (blocks, _) => (Content::Blocks(cx.list(blocks)), message),
        };
        sink.event(&Event {
            origin,
            kind: Kind::Prompt(cx.keep(Prompt { content, source })),
            fields: message.fields(cx),
        });
    }

    /// The program says where it works.
    fn context(&mut self, text: &str) {
        let folder = text.split_once("**Workspace Directories:**\\n  - ").map(|(_, rest)| rest);
        if let Some((folder, _)) = folder.and_then(|rest| rest.split_once("\\n")) {
            folder.clone_into(&mut self.cwd);
        }
    }

    fn place<'a>(&mut self, origin: Origin<'a>, opens_turn: bool, cx: &Cx<'a>, sink: &mut dyn Sink<'a>) -> Origin<'a> {
        let facts = Session {
            cwd: (!self.cwd.is_empty()).then(|| Str::trusted(cx.arena.alloc_str(&self.cwd))),
            opens_turn,
            ..Session::default()
        };
        self.kept.place(origin, facts, cx, sink)
    }

    /// A line with results. As a rule the calls have said them already.
    fn results<'a>(&mut self, mut message: Message<'a>, content: &[Part<'a>], cx: &Cx<'a>, sink: &mut dyn Sink<'a>) {
        let is_again = self.seen.said(message.id.as_escaped(), Said::default()).is_some();
        if is_again {
            message.is_again();
        }
        let origin = self.place(message.origin, false, cx, sink);
        let inner = message.inner;
        let mut told: Vec<Kind<'a>> = Vec::new();
        let mut known = Kept::default();
        let mut parts = content.iter().peekable();
        while let Some(part) = parts.next() {
            match part {
                Part::Result(result, raw) => {
                    let media = media_behind(&mut parts);
                    let waiting = self.waiting.iter().position(|waiting| waiting.call == result.call.as_escaped());
                    let mut result = *result;
                    if let Some(at) = waiting {
                        let waiting = self.waiting.remove(at);
                        result.status = waiting.status;
                        result.is_error = Some(result.status != ResultStatus::Success);
                        let says = result.content.texts().any(|text| text.as_escaped() == waiting.text);
                        waiting.tell(says, cx);
                    } else if self.seen.has_result(result.call.as_escaped()) && (inner || !self.seen.has_own_result(result.call.as_escaped())) {
                        for again in media.iter().map(|media| media.raw).chain([*raw]) {
                            cx.trace.inspect(|trace| trace.place(&mut known, again.as_str()));
                            cx.took(again.as_str());
                        }
                        continue;
                    }
                    result.content = with_media(result.content, media.into_iter().map(Block::Media), cx);
                    self.seen.own_result(result.call.as_escaped());
                    told.push(Kind::ToolResult(cx.keep(result)));
                }
                Part::Block(block) => told.push(Kind::Prompt(cx.keep(Prompt {
                    content: Content::Blocks(cx.list(&[*block])),
                    source: PromptSource::Agent,
                }))),
            }
        }
        self.answer(origin, cx, sink);
        if told.is_empty() {
            return again(message, is_again, cx, sink);
        }
        cx.trace.inspect(|trace| trace.tell_held(&mut known, Fate::Merged, EARLIER));
        self.round = None;
        if self.kept.is_main() {
            self.kept.turn.goes_on();
        }
        let mut fields = message.fields(cx);
        for kind in told {
            sink.event(&Event { origin, kind, fields });
            if !inner {
                fields = &[];
            }
        }
    }

    /// What came of subagents' calls, if no line has said it since.
    fn answer<'a>(&mut self, origin: Origin<'a>, cx: &Cx<'a>, sink: &mut dyn Sink<'a>) {
        for waiting in std::mem::take(&mut self.waiting) {
            let text = |text: &str| Str::trusted(cx.arena.alloc_str(text));
            let result = ToolResult {
                name: waiting.name.as_deref().map(text),
                is_error: Some(waiting.status != ResultStatus::Success),
                ..ToolResult::new(text(&waiting.call), waiting.status, Content::Text(text(&waiting.text)))
            };
            let origin = Origin {
                session: origin.session.or_else(|| self.origin(cx).session),
                id: None,
                ..origin
            };
            self.seen.result(&waiting.call);
            self.round = None;
            sink.event(&Event::new(origin, Kind::ToolResult(cx.keep(result))));
            waiting.tell(true, cx);
        }
    }

    fn reply<'a>(&mut self, mut message: Message<'a>, content: &[Part<'a>], cx: &Cx<'a>, sink: &mut dyn Sink<'a>) {
        self.answer(message.origin, cx, sink);
        let id = message.id.as_escaped();
        let before = self.seen.message(id);
        let was = before.unwrap_or_default();
        let tokens = message.members.get("tokens").filter(|tokens| tokens.shape() == Some(Shape::Object));
        let thought = message.members.get("thoughts").filter(|thoughts| !thoughts.is_null());
        let mut blocks: Vec<Block<'a>> = thought.into_iter().flat_map(thoughts).collect();
        let model = message.members.get("model").and_then(Raw::string);
        let named = model.map_or(0, |model| hash(model.as_escaped()).max(1));
        let said = Said {
            text: text_hash(texts(content)),
            thoughts: Thoughts::of(&blocks),
            usage: was.usage || tokens.is_some(),
            model: if was.model == 0 { named } else { was.model },
        };
        self.seen.said(id, said);
        let known = was.thoughts.known(&blocks);
        blocks.drain(..known.unwrap_or_default());
        match thought {
            Some(list) if said.thoughts == Thoughts::default() => cx.took(list.as_str()),
            list => {
                let known = list.into_iter().flat_map(Raw::elements).take(known.unwrap_or_default());
                took_again(known, &["subject", "description", "timestamp"], cx);
            }
        }
        let says = said.text != was.text && said.text != 0;
        if (says && was.text != 0 || known.is_none())
            && let Some(trace) = cx.trace
        {
            trace.note(
                Fate::Renamed,
                "",
                "the line takes the place of one that says something else: both are read",
            );
        }
        for part in content.iter().filter_map(block) {
            match part {
                Block::Call(call) if !self.seen.call(id, call.id.as_escaped()) => {}
                Block::Call(_) => blocks.push(part),
                Block::Text { text, .. } if text.is_empty() => {}
                _ if says || before.is_none() => blocks.push(part),
                _ => {}
            }
        }
        let is_told = |content: &Raw<'_>| !says && (before.is_some() || content.string().is_some());
        if let Some(content) = message.content.filter(is_told) {
            cx.took(content.as_str());
        }
        let mut answers = Vec::new();
        let calls = message.members.get("toolCalls");
        let waiting = self.waiting.len();
        for (raw, says) in calls.into_iter().flat_map(|calls| calls.elements_with(CALL)) {
            self.called((id, raw), says, &mut blocks, &mut answers, cx);
        }
        let new_usage = tokens
            .filter(|_| !was.usage)
            .and_then(|raw| Some(usage(raw, message.members.opened(raw, cx)?)));
        let counts = ["input", "output", "cached", "thoughts", "tool", "total"];
        took_again(tokens.filter(|_| was.usage).into_iter(), &counts, cx);
        // One reply has one model. What was told of it may be written already.
        let model = model.filter(|_| named == said.model);
        if before.is_some() && blocks.is_empty() && new_usage.is_none() && answers.is_empty() {
            return again(message, true, cx, sink);
        }
        if before.is_some() {
            cx.took(message.id.as_escaped());
            message.is_again();
        }
        // It names the reply, not the line.
        message.origin.id = None;
        let round = hash(id);
        let origin = self.place(message.origin, false, cx, sink);
        if self.round.replace(round).is_some_and(|open| open != round) {
            sink.event(&Event::new(Origin { id: None, ..origin }, Kind::RoundEnd(&RoundEnd::PLAIN)));
        }
        let reply = Reply {
            id: before.is_none().then_some(message.id),
            model,
            blocks: cx.list(&blocks),
            stop: None,
            usage: new_usage,
            error: None,
            last: false,
        };
        if self.kept.is_main() {
            self.kept.turn.reply(&reply);
        }
        let whole = message.content.and_then(Raw::string);
        let modelled = whole.is_some_and(|whole| says && !whole.is_empty());
        let message = if modelled { message.without_content() } else { message };
        sink.event(&Event {
            origin,
            kind: Kind::Reply(cx.keep(reply)),
            fields: if sink.takes_fields() { message.fields(cx) } else { &[] },
        });
        self.waiting[waiting..].iter_mut().for_each(|waiting| waiting.hold(calls, cx));
        for result in answers {
            self.round = None;
            if self.kept.is_main() {
                self.kept.turn.goes_on();
            }
            sink.event(&Event::new(origin, Kind::ToolResult(cx.keep(result))));
        }
    }

    /// One of `toolCalls`: the call, if it was not told, and what came of it.
    fn called<'a>(
        &mut self,
        (message, raw): (&str, Raw<'a>),
        [id, name, args, result, status, agent]: [Option<Raw<'a>>; 6],
        blocks: &mut Vec<Block<'a>>,
        answers: &mut Vec<ToolResult<'a>>,
        cx: &Cx<'a>,
    ) {
        let Some(call) = call_of([id, name, args]) else { return };
        if self.seen.call(message, call.id.as_escaped()) {
            blocks.push(Block::Call(call));
        } else {
            for again in [call.name.as_escaped(), call.input.as_str()] {
                cx.took(again);
            }
        }
        let Some(result) = result_of(raw, [name, result, status], call.id, cx) else {
            return;
        };
        let waits = self.waiting.iter().any(|waiting| waiting.call == call.id.as_escaped());
        if waits || self.seen.has_result(call.id.as_escaped()) {
            return;
        }
        let (Content::Text(text), Some(_)) = (result.content, agent) else {
            self.seen.result(call.id.as_escaped());
            return answers.push(result);
        };
        self.waiting.push(Waiting {
            call: call.id.as_escaped().to_owned(),
            name: result.name.map(|name| name.as_escaped().to_owned()),
            status: result.status,
            text: text.as_escaped().to_owned(),
            kept: Kept::default(),
        });
    }
}

/// What an earlier line has said is not lost.
fn took_again<'a>(objects: impl Iterator<Item = Raw<'a>>, names: &[&str], cx: &Cx<'a>) {
    if cx.trace.is_none() {
        return;
    }
    for value in objects.flat_map(|object| names.iter().filter_map(move |name| object.get(name))) {
        cx.took(value.as_str());
    }
}
