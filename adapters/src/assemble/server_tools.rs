//! Tools that the model's API runs itself: searches, fetches, its sandbox, servers that it talks to.
//!
//! Their calls and results are blocks of a reply. Who keeps replies as the API gave them has such blocks; others have calls and results.

use std::collections::HashSet;

use super::{Assembler, Down};
use crate::event::{
    Block, BlockHead, BlockStart, Content, Count, Delta, Event, Kind, Media, Piece, Prompt, Reply, ResultStatus, RoundEnd, RoundStart, RoundStop,
    Stop, ToolCall, ToolResult, Usage,
};
use crate::json::{Raw, Shape, Str};
use crate::threads::Threads;
use crate::tools::kind_of;

/// Results of more calls than this are not remembered.
const MOST: usize = 4096;

/// How deep results are looked into.
const DEPTH: usize = 8;

/// What was told of such tools.
#[derive(Debug, Default)]
pub(super) struct Served {
    /// Blocks that are results, and have not ended.
    open: Vec<(Option<String>, u32)>,
    /// The calls whose results were told.
    told: HashSet<String>,
    /// The rounds that are going on, one in each thread.
    rounds: Threads<Option<Part>>,
}

/// A reply as others tell it: what it says behind a result is a reply of its own.
#[derive(Debug, Default)]
struct Part {
    /// The reply's id.
    id: String,
    /// Something was told of it. A reply may begin with the result of a call that the one before has made.
    said: bool,
    /// How often it was cut.
    cuts: u32,
    /// A result came last.
    resulted: bool,
    /// It comes in pieces.
    in_pieces: bool,
    /// Its tokens as far as they were told.
    spent: Usage<'static>,
}

impl Assembler {
    /// Tells calls of the API's own tools, and their results, as those of others are told. Whether the event was one.
    pub(super) fn served<'a>(&mut self, event: &Event<'a>, down: &mut Down<'_, 'a>) -> bool {
        let parent = || event.origin.parent.map(Str::as_escaped);
        match event.kind {
            Kind::BlockStart(BlockStart { index, head }) => {
                let BlockHead::Other { kind, raw } = head else {
                    self.served_round(event, down);
                    return false;
                };
                if !is_result(kind, raw) {
                    self.served_round(event, down);
                }
                if let Some(call) = self.served_call(kind, raw, down) {
                    let (id, name) = (call.id, call.name);
                    let head = BlockHead::Call { id, name };
                    self.go_on(Kind::BlockStart(BlockStart { index, head }), event, down);
                    if call.input.members().next().is_some() {
                        let piece = Piece::Input(down.cx.text(call.input.as_str()));
                        self.go_on(Kind::Delta(Delta { index, piece }), event, down);
                    }
                    return true;
                }
                let is_result = is_result(kind, raw);
                if is_result {
                    self.served.open.push((parent().map(str::to_owned), index));
                    self.served_result(kind, raw, event, down);
                }
                is_result
            }
            Kind::Delta(Delta { index, .. }) => self.served.is_open(parent(), index).is_some(),
            Kind::BlockStop(stop) => {
                let open = self.served.is_open(parent(), stop.index);
                if let Some(at) = open {
                    self.served.open.swap_remove(at);
                    down.out.merged("the end of a block that goes over whole");
                }
                open.is_some()
            }
            Kind::RoundStart(start) => {
                let part = self.served.part(parent(), start.id);
                part.spent = start.usage.map(|usage| usage.detached()).unwrap_or_default();
                part.in_pieces = true;
                false
            }
            Kind::RoundStop(stop) => {
                let Some(part) = self.served.cut(parent()) else { return false };
                let stop = down.cx.keep(RoundStop {
                    id: None,
                    usage: stop.usage.and_then(|usage| part.rest(&usage, down)),
                    ..*stop
                });
                self.go_on(Kind::RoundStop(stop), event, down);
                true
            }
            Kind::Reply(reply) => {
                let is_served = |block: &Block<'_>| matches!(block, Block::Other { kind, raw } if is_call(*kind) || is_result(*kind, *raw));
                let part = self.served.part(parent(), reply.id);
                let any = part.cuts > 0 || part.resulted || reply.blocks.iter().any(is_served);
                if any {
                    self.served_reply(reply, event, down);
                } else {
                    part.said = true;
                    part.spent = reply.usage.map_or(part.spent, |usage| usage.detached());
                }
                any
            }
            Kind::ToolResult(result) => {
                let Some(content) = readable(result.content, down) else { return false };
                let result = down.cx.keep(ToolResult { content, ..*result });
                self.go_on(Kind::ToolResult(result), event, down);
                true
            }
            Kind::Prompt(prompt) => {
                let Some(content) = readable(prompt.content, down) else { return false };
                let prompt = down.cx.keep(Prompt { content, ..*prompt });
                self.go_on(Kind::Prompt(prompt), event, down);
                true
            }
            _ => false,
        }
    }

    /// Replies are cut where a result stands.
    fn served_reply<'a>(&mut self, reply: &'a Reply<'a>, event: &Event<'a>, down: &mut Down<'_, 'a>) {
        let mut said: Vec<Block<'a>> = Vec::new();
        let mut results = Vec::new();
        for block in reply.blocks {
            match block {
                Block::Other { kind, raw } if is_result(*kind, *raw) => results.push((*kind, *raw)),
                Block::Other { kind, raw } if is_call(*kind) && self.has_told(*raw) => down.out.merged("the call was told already"),
                Block::Other { kind, raw } => said.push(self.served_call(*kind, *raw, down).map_or(*block, Block::Call)),
                _ => {
                    if !results.is_empty() {
                        self.served_part(reply, &mut said, &mut results, event, down);
                    }
                    said.push(*block);
                }
            }
        }
        self.served_part(reply, &mut said, &mut results, event, down);
    }

    /// Whether the result of a call was told.
    fn has_told(&self, call: Raw<'_>) -> bool {
        let id = call.get("id").and_then(Raw::string);
        id.is_some_and(|id| self.served.told.contains(id.as_escaped()))
    }

    fn served_part<'a>(
        &mut self,
        reply: &'a Reply<'a>,
        said: &mut Vec<Block<'a>>,
        results: &mut Vec<(Str<'a>, Raw<'a>)>,
        event: &Event<'a>,
        down: &mut Down<'_, 'a>,
    ) {
        // A line's id is that of the first thing that it says.
        let mut event = *event;
        if !said.is_empty() {
            let blocks = down.cx.list(said);
            said.clear();
            let part = self.served.part(event.origin.parent.map(Str::as_escaped), reply.id);
            part.goes_on();
            let reply = down.cx.keep(Reply {
                blocks,
                id: part.id(reply.id, down),
                usage: reply.usage.and_then(|usage| part.rest(&usage, down)),
                ..*reply
            });
            self.go_on(Kind::Reply(reply), &event, down);
            event.origin.id = None;
        }
        for (kind, raw) in results.drain(..) {
            self.served_result(kind, raw, &event, down);
            event.origin.id = None;
        }
    }

    /// A block begins behind a result: so does a round.
    fn served_round<'a>(&mut self, event: &Event<'a>, down: &mut Down<'_, 'a>) {
        let parent = event.origin.parent.map(Str::as_escaped);
        let Some(part) = self.served.round(parent) else {
            return;
        };
        if !part.resulted {
            part.said = true;
            return;
        }
        part.goes_on();
        let id = Some(Str::trusted(down.cx.arena.alloc_str(&part.id)));
        let start = RoundStart {
            id: part.id(id, down),
            ..RoundStart::default()
        };
        self.go_on(Kind::RoundStart(down.cx.keep(start)), event, down);
    }

    fn served_call<'a>(&self, kind: Str<'a>, raw: Raw<'a>, down: &Down<'_, 'a>) -> Option<ToolCall<'a>> {
        let text = |name: &str| raw.get(name).and_then(Raw::string);
        let (id, own) = text("id").zip(text("name")).filter(|_| is_call(kind))?;
        let name = match text("server_name") {
            // As hosts call the tools of such servers.
            Some(server) => {
                let name = format!("mcp__{}__{}", server.as_escaped(), own.as_escaped());
                let name = Str::trusted(down.cx.arena.alloc_str(&name));
                down.cx.stands_for(name.as_escaped(), own.as_escaped());
                down.out.used(server.as_escaped());
                name
            }
            None => own,
        };
        down.cx.took(kind.as_escaped());
        Some(ToolCall {
            id,
            name,
            kind: kind_of(self.dialect, name),
            input: raw
                .get("input")
                .filter(|input| input.shape() == Some(Shape::Object))
                .unwrap_or(Raw::trusted("{}")),
            fields: &[],
        })
    }

    fn served_result<'a>(&mut self, kind: Str<'a>, raw: Raw<'a>, event: &Event<'a>, down: &mut Down<'_, 'a>) {
        let Some(call) = raw.get("tool_use_id").and_then(Raw::string) else {
            return;
        };
        if self.served.told.len() == MOST {
            self.served.told.clear();
        }
        if !self.served.told.insert(call.as_escaped().to_owned()) {
            down.out.merged("the result was told already");
            return;
        }
        down.cx.took(kind.as_escaped());
        let mut found = Found::default();
        raw.get("content").into_iter().for_each(|content| found.look(content, 0));
        let failed = found.failed || raw.get("is_error").is_some_and(|failed| failed.as_str() == "true");
        let content = match found.blocks.as_slice() {
            [] => Content::Text(Str::EMPTY),
            [Block::Text { text, .. }] => Content::Text(*text),
            blocks => Content::Blocks(down.cx.list(blocks)),
        };
        let result = down.cx.keep(ToolResult {
            is_error: failed.then_some(true),
            ..ToolResult::new(call, if failed { ResultStatus::Error } else { ResultStatus::Success }, content)
        });
        let parent = event.origin.parent.map(Str::as_escaped);
        if let Some(part) = self.served.round(parent)
            && part.said
            && !std::mem::replace(&mut part.resulted, true)
            && part.in_pieces
            && part.cuts == 0
        {
            // What is known of its tokens by now is this part's.
            let stop = down.cx.keep(RoundStop {
                id: None,
                stop: Some(Stop::read(Str::trusted("tool_use"))),
                usage: Some(part.spent).filter(|spent| !spent.is_blank()),
            });
            self.go_on(Kind::RoundStop(stop), event, down);
            self.go_on(Kind::RoundEnd(&RoundEnd::PLAIN), event, down);
        }
        self.go_on(Kind::ToolResult(result), event, down);
    }

    fn go_on<'a>(&mut self, kind: Kind<'a>, event: &Event<'a>, down: &mut Down<'_, 'a>) {
        let event = Event { kind, ..*event };
        if !(self.late_calls && self.holds(&event, down)) {
            self.take(&event, down);
        }
    }
}

impl Part {
    /// More is said of the reply.
    const fn goes_on(&mut self) {
        if self.resulted {
            self.cuts += 1;
        }
        (self.said, self.resulted) = (true, false);
    }

    fn id<'a>(&self, id: Option<Str<'a>>, down: &Down<'_, 'a>) -> Option<Str<'a>> {
        let whole = id?;
        if self.cuts == 0 {
            return id;
        }
        let made = format!("{}_{}", whole.as_escaped(), self.cuts + 1);
        let made = down.cx.arena.alloc_str(&made);
        down.cx.stands_for(made, whole.as_escaped());
        Some(Str::trusted(made))
    }

    /// The tokens that were not told of the reply's parts before.
    fn rest<'a>(&mut self, usage: &Usage<'a>, down: &Down<'_, 'a>) -> Option<Usage<'a>> {
        let told = std::mem::replace(&mut self.spent, usage.detached());
        if self.cuts == 0 {
            return Some(*usage);
        }
        let rest = |now: Option<Count<'a>>, told: Option<Count<'_>>| {
            let (now, told) = (now?, told.map_or(0, |told| told.value));
            Some(Count::derived(now.value.saturating_sub(told)))
        };
        usage.sources().for_each(|source| down.out.used(source));
        let rest = Usage {
            input: rest(usage.input, told.input),
            output: rest(usage.output, told.output),
            reasoning: rest(usage.reasoning, told.reasoning),
            cache_read: rest(usage.cache_read, told.cache_read),
            cache_write: rest(usage.cache_write, told.cache_write),
            total: rest(usage.total, told.total),
            raw: None,
            ..*usage
        };
        (!rest.is_blank()).then_some(rest)
    }
}

impl Served {
    /// Whether such an event may be one of such a tool, or of a reply that has one.
    #[inline]
    pub(super) fn looks_at(&self, kind: &Kind<'_>) -> bool {
        match kind {
            Kind::Delta(_) | Kind::BlockStop(_) => !self.open.is_empty(),
            Kind::ToolResult(result) => matches!(result.content, Content::Blocks(_)),
            Kind::Prompt(prompt) => matches!(prompt.content, Content::Blocks(_)),
            Kind::BlockStart(_) | Kind::RoundStart(_) | Kind::RoundStop(_) | Kind::Reply(_) => true,
            _ => false,
        }
    }

    /// The round that is going on in a thread; another id is another one.
    fn part(&mut self, parent: Option<&str>, id: Option<Str<'_>>) -> &mut Part {
        let part = match parent {
            None => &mut self.rounds.main,
            Some(call) => {
                if self.rounds.len() == MOST && !self.rounds.has(call) {
                    self.rounds.end_all();
                }
                self.rounds.subagent(call, |_| None)
            }
        };
        let part = part.get_or_insert_default();
        let id = id.map_or("", Str::as_escaped);
        if part.id != id {
            *part = Part::default();
            part.id.push_str(id);
        }
        part
    }

    /// The round that is going on in a thread, if there is one.
    fn round(&mut self, parent: Option<&str>) -> Option<&mut Part> {
        match parent {
            None => self.rounds.main.as_mut(),
            Some(call) => self.rounds.of(call)?.as_mut(),
        }
    }

    /// The same, if it was cut.
    fn cut(&mut self, parent: Option<&str>) -> Option<&mut Part> {
        self.round(parent).filter(|part| part.cuts > 0)
    }

    fn is_open(&self, parent: Option<&str>, index: u32) -> Option<usize> {
        self.open.iter().position(|(of, at)| *at == index && of.as_deref() == parent)
    }
}

fn is_call(kind: Str<'_>) -> bool {
    kind.is("server_tool_use") || kind.is("mcp_tool_use")
}

fn is_result(kind: Str<'_>, raw: Raw<'_>) -> bool {
    (kind.is("tool_result") || kind.as_escaped().ends_with("_tool_result")) && raw.get("tool_use_id").is_some_and(|id| id.string().is_some())
}

/// A block that holds texts and is none: what a search found, a document that is a text, the name of a tool.
fn holds_text(block: &Block<'_>) -> bool {
    match block {
        Block::Other { kind, .. } => kind.is("search_result") || kind.is("tool_reference"),
        Block::Media(media) if media.kind.is("document") => {
            let source = media.raw.get("source").and_then(|source| source.get("type"));
            source.is_some_and(|kind| matches!(kind.as_str(), "\"text\"" | "\"content\""))
        }
        _ => false,
    }
}

/// Content with such blocks as texts; `None` where there are none.
fn readable<'a>(content: Content<'a>, down: &Down<'_, 'a>) -> Option<Content<'a>> {
    let Content::Blocks(blocks) = content else { return None };
    if !blocks.iter().any(holds_text) {
        return None;
    }
    let mut found = Found::default();
    for block in blocks {
        match block {
            Block::Other { raw, .. } | Block::Media(Media { raw, .. }) if holds_text(block) => found.look(*raw, 0),
            _ => found.blocks.push(*block),
        }
    }
    Some(Content::Blocks(down.cx.list(&found.blocks)))
}

/// What people are shown of a result.
#[derive(Default)]
struct Found<'a> {
    blocks: Vec<Block<'a>>,
    failed: bool,
}

impl<'a> Found<'a> {
    fn look(&mut self, what: Raw<'a>, depth: usize) {
        if depth > DEPTH {
            return;
        }
        match what.shape() {
            Some(Shape::String) => what.string().into_iter().for_each(|text| self.text(text)),
            Some(Shape::Array) => what.elements().for_each(|part| self.look(part, depth + 1)),
            Some(Shape::Object) => self.object(what, depth),
            _ => {}
        }
    }

    fn object(&mut self, what: Raw<'a>, depth: usize) {
        let kind = what.get("type").and_then(Raw::string).unwrap_or_default();
        let source = what.get("source").filter(|source| source.get("type").is_some());
        if kind.is("image") || source.is_some_and(|source| source.get("media_type").is_some_and(|mime| mime.as_str() != "\"text/plain\"")) {
            self.blocks.push(Block::Media(Media { kind, raw: what }));
            return;
        }
        self.failed |= kind.as_escaped().ends_with("_error") || what.get("return_code").is_some_and(|code| code.as_str() != "0");
        for name in [
            "title",
            "url",
            "tool_name",
            "text",
            "stdout",
            "stderr",
            "error_code",
            "error_message",
            "data",
        ] {
            what.get(name).and_then(Raw::string).into_iter().for_each(|text| self.text(text));
        }
        for inside in ["content", "source", "tool_references"].iter().filter_map(|name| what.get(name)) {
            self.look(inside, depth + 1);
        }
    }

    fn text(&mut self, text: Str<'a>) {
        if text.is_empty() {
            return;
        }
        if matches!(self.blocks.last(), Some(Block::Text { .. })) {
            self.blocks.push(Block::Text {
                text: Str::trusted("\\n"),
                fields: &[],
            });
        }
        self.blocks.push(Block::Text { text, fields: &[] });
    }
}
