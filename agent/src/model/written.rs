//! What a request has in common with the one before it is written once.
//!
//! A conversation is cut into stretches that read the same whatever stands around them: each begins with a message of the model's behind
//! one of the user's. Messages are shared and never change while somebody else holds them: a stretch of the same messages is the same text.

use std::cell::RefCell;
use std::fmt;
use std::ops::Range;
use std::rc::Rc;

use serde_json::{Map, Value};

use super::Spec;
use super::history::{self, Turn};
use super::{Api, Ask, anthropic, openai};
use crate::model::message::{Message, Role};

/// The texts of a conversation's last request, for its next one.
#[derive(Default)]
pub struct Written(RefCell<Texts>);

impl fmt::Debug for Written {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Written").finish_non_exhaustive()
    }
}

#[derive(Default)]
struct Texts {
    /// What they were written for.
    api: Option<Api>,
    model: String,
    /// The system prompt as it is, and as it is written.
    system: (String, Vec<u8>),
    /// The tools, and their list.
    tools: (Vec<Rc<Spec>>, Vec<u8>),
    messages: Vec<Rc<Message>>,
    stretches: Vec<Stretch>,
    /// The stretches, one behind the other.
    text: Vec<u8>,
}

/// Messages that were written, and what has to be known of them to go on behind them.
#[derive(Clone, Copy, Debug)]
struct Stretch {
    /// Where it begins: the message, and the byte.
    begins: (usize, usize),
    /// The place of the first turn behind the user's last words in it, if he says something.
    words: Option<usize>,
    /// The place from which on it was written as part of the work that is going on.
    current: usize,
    told: Told,
}

/// What writing a stretch has shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Told {
    /// It would read differently as part of an earlier task.
    pub(super) depends: bool,
    /// Who speaks in its last message.
    pub(super) role: Option<Role>,
    /// A mark for the server's cache may stand in its last block.
    pub(super) markable: bool,
    /// The model's last message in it has a thought that goes back.
    pub(super) thought: bool,
    /// It ends with results.
    pub(super) at_work: bool,
}

/// The parts of a request that are written already, besides its members.
pub(super) struct Parts<'t> {
    /// The system prompt, as [`openai::system`] or [`anthropic::system`] writes it; empty if there is none.
    pub(super) system: &'t [u8],
    /// The list of tools.
    pub(super) tools: &'t [u8],
    /// The messages without the brackets around them; see [`anthropic::write`] for its end.
    pub(super) messages: &'t [u8],
    /// What is known of the last stretch.
    pub(super) told: Told,
}

impl Written {
    /// Writes what is new, and gives all of it.
    pub(super) fn with<T>(&self, api: Api, ask: &Ask<'_>, give: impl FnOnce(&Parts<'_>) -> T) -> T {
        let mut texts = self.0.borrow_mut();
        texts.renew(api, ask);
        let told = texts.stretches.last().map(|stretch| stretch.told).unwrap_or_default();
        give(&Parts {
            system: &texts.system.1,
            tools: &texts.tools.1,
            messages: &texts.text,
            told,
        })
    }
}

impl Texts {
    fn renew(&mut self, api: Api, ask: &Ask<'_>) {
        if self.api != Some(api) || self.model != ask.model {
            *self = Self {
                api: Some(api),
                model: ask.model.to_owned(),
                ..Self::default()
            };
        }
        if self.system.0 != ask.system {
            let text = match api {
                _ if ask.system.is_empty() => Vec::new(),
                Api::Openai => bytes(&openai::system(ask.system)),
                Api::Anthropic => bytes(&anthropic::system(ask.system)),
            };
            self.system = (ask.system.to_owned(), text);
        }
        let same = |(a, b): (&Rc<Spec>, &Rc<Spec>)| Rc::ptr_eq(a, b) || a == b;
        let known = self.tools.0.len() == ask.tools.len() && self.tools.0.iter().zip(ask.tools).all(same);
        if !known || self.tools.1.is_empty() {
            let text = match api {
                Api::Openai => bytes(&openai::tools(ask.tools)),
                Api::Anthropic => bytes(&anthropic::tools(ask.tools)),
            };
            self.tools = (ask.tools.to_vec(), text);
        }
        self.keep(self.same(ask.messages));
        loop {
            let from = self.messages.len();
            let new: Vec<Vec<Turn<'_>>> = cut(ask.messages, from)
                .map(|range| history::turns(&ask.messages[range.clone()], range.start == 0))
                .collect();
            let words = self.stretches.iter().map(|stretch| stretch.words);
            let words: Vec<Option<usize>> = words.chain(new.iter().map(|turns| history::words(turns))).collect();
            // Those before the user's last words are not part of the work that is going on.
            let last = words.iter().rposition(Option::is_some);
            let current = |at: usize| match last {
                Some(last) if at < last => usize::MAX,
                Some(last) if at == last => words[at].unwrap_or_default(),
                _ => 0,
            };
            let stale = |(at, stretch): (usize, &Stretch)| stretch.told.depends && stretch.current != current(at);
            if let Some(stale) = self.stretches.iter().enumerate().position(stale) {
                self.keep(stale);
                continue;
            }
            let known = self.stretches.len();
            for (at, (turns, range)) in new.iter().zip(cut(ask.messages, from)).enumerate() {
                let (at, before) = (known + at, self.stretches.last().map(|stretch| stretch.told).unwrap_or_default());
                let begins = (range.start, self.text.len());
                let told = match api {
                    Api::Openai => openai::write(turns, current(at), ask.model, &mut self.text),
                    Api::Anthropic => anthropic::write(turns, before, &mut self.text),
                };
                self.stretches.push(Stretch {
                    begins,
                    words: words[at],
                    current: current(at),
                    told,
                });
            }
            self.messages.extend_from_slice(&ask.messages[from..]);
            return;
        }
    }

    /// How many stretches are those of this conversation.
    fn same(&self, messages: &[Rc<Message>]) -> usize {
        let pairs = self.messages.iter().zip(messages);
        let same = pairs.take_while(|(a, b)| Rc::ptr_eq(a, b)).count();
        let ends = self.stretches.iter().skip(1).map(|next| next.begins.0).chain([self.messages.len()]);
        // The last one may have grown since.
        ends.take_while(|&end| end <= same && (end == messages.len() || begins(messages, end)))
            .count()
    }

    /// Forgets all but so many stretches.
    fn keep(&mut self, many: usize) {
        if let Some(first) = self.stretches.get(many) {
            self.messages.truncate(first.begins.0);
            self.text.truncate(first.begins.1);
            self.stretches.truncate(many);
        }
    }
}

/// Whether a stretch begins with this message: both sides say something here, so that nothing behind it changes what is before it.
fn begins(messages: &[Rc<Message>], at: usize) -> bool {
    let speaks = |at: usize, role: Role| {
        let message: Option<&Rc<Message>> = messages.get(at);
        message.is_some_and(|message| message.role == role && message.parts.iter().any(history::says_something))
    };
    at > 0 && speaks(at - 1, Role::User) && speaks(at, Role::Assistant)
}

/// The stretches from this message on, which begins one.
fn cut(messages: &[Rc<Message>], from: usize) -> impl Iterator<Item = Range<usize>> {
    let mut start = from;
    std::iter::from_fn(move || {
        if start >= messages.len() {
            return None;
        }
        let end = (start + 1..messages.len()).find(|&at| begins(messages, at)).unwrap_or(messages.len());
        let range = start..end;
        start = end;
        Some(range)
    })
}

/// Values of our own are always written.
fn bytes(value: &Value) -> Vec<u8> {
    value.to_string().into_bytes()
}

/// Writes an object's members; one whose value is written already stands there as `null`.
pub(super) fn object(members: &Map<String, Value>, out: &mut Vec<u8>, written: impl Fn(&str, &mut Vec<u8>) -> bool) {
    out.push(b'{');
    for (at, (name, value)) in members.iter().enumerate() {
        if at > 0 {
            out.push(b',');
        }
        out.extend_from_slice(Value::String(name.clone()).to_string().as_bytes());
        out.push(b':');
        if !written(name, out) {
            out.extend_from_slice(value.to_string().as_bytes());
        }
    }
    out.push(b'}');
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::catalog;
    use crate::model::message::{Call, CallResult, Part, Source};

    /// Numbers that look like chance, and are the same in every run.
    struct Chance(u64);

    impl Chance {
        fn below(&mut self, end: u64) -> u64 {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (self.0 >> 33) % end
        }

        fn id(&mut self) -> String {
            format!("call:{}", self.below(4))
        }

        fn part(&mut self, role: Role) -> Part {
            let text = ["", "  \n", "a \"b\"\u{1}", "ü", "last"][self.below(5) as usize];
            let (pick, id) = (self.below(6), self.id());
            match (role, pick) {
                (_, 0..=2) => Part::Text(text.to_owned()),
                (Role::User, 3) => Part::Image {
                    media_type: "image/png".to_owned(),
                    data: "aaaa".to_owned(),
                },
                (Role::User, _) => Part::Result(CallResult {
                    call: id,
                    content: vec![Part::Text(text.to_owned())],
                    is_error: self.below(2) == 0,
                }),
                (Role::Assistant, 3) => Part::Redacted { data: "b3Bh".to_owned() },
                (Role::Assistant, 4) => Part::Thinking {
                    text: text.to_owned(),
                    signature: (self.below(2) == 0).then(|| "[{}]".to_owned()),
                    source: Source {
                        api: ["openai", "anthropic"][self.below(2) as usize].to_owned(),
                        model: ["m", "n"][self.below(2) as usize].to_owned(),
                        member: ["reasoning_content", "reasoning_details", "content", ""][self.below(4) as usize].to_owned(),
                    },
                },
                (Role::Assistant, _) => Part::Call(Call {
                    id,
                    name: "f".to_owned(),
                    input: ["{\"b\": 1, \"a\": [ ]}", "", "{\"x"][self.below(3) as usize].to_owned(),
                    extra: None,
                }),
            }
        }

        fn message(&mut self) -> Rc<Message> {
            let role = if self.below(2) == 0 { Role::User } else { Role::Assistant };
            let parts = (0..self.below(4)).map(|_| self.part(role)).collect();
            Rc::new(Message { role, parts })
        }
    }

    fn request(api: Api, ask: &Ask<'_>, written: &Written) -> String {
        let manner = catalog().manner(api, "h", ask.model);
        let body = written.with(api, ask, |parts| match api {
            Api::Openai => openai::body(&openai::members(ask, manner), parts),
            Api::Anthropic => anthropic::body(&anthropic::members(ask, manner, None, parts.told), parts),
        });
        String::from_utf8(body).unwrap()
    }

    /// The same as one stretch.
    fn whole(api: Api, ask: &Ask<'_>) -> String {
        let turns = history::turns(ask.messages, true);
        let (mut messages, current) = (Vec::new(), history::words(&turns).unwrap_or(0));
        let told = match api {
            Api::Openai => openai::write(&turns, current, ask.model, &mut messages),
            Api::Anthropic => anthropic::write(&turns, Told::default(), &mut messages),
        };
        let (system, tools) = match api {
            _ if ask.system.is_empty() => (Vec::new(), openai::tools(ask.tools)),
            Api::Openai => (bytes(&openai::system(ask.system)), openai::tools(ask.tools)),
            Api::Anthropic => (bytes(&anthropic::system(ask.system)), anthropic::tools(ask.tools)),
        };
        let tools = bytes(&tools);
        let parts = Parts {
            system: &system,
            tools: &tools,
            messages: &messages,
            told,
        };
        let manner = catalog().manner(api, "h", ask.model);
        let body = match api {
            Api::Openai => openai::body(&openai::members(ask, manner), &parts),
            Api::Anthropic => anthropic::body(&anthropic::members(ask, manner, None, told), &parts),
        };
        String::from_utf8(body).unwrap()
    }

    #[test]
    fn what_was_written_bit_by_bit_is_what_is_written_at_once() {
        let mut chance = Chance(7);
        let mut stretches = 0;
        for api in [Api::Openai, Api::Anthropic] {
            for _ in 0..300 {
                let (written, mut messages) = (Written::default(), Vec::<Rc<Message>>::new());
                let mut model = "m";
                for _ in 0..12 {
                    match chance.below(10) {
                        // Somebody goes back, changes what was said, or takes another model.
                        0 => messages.truncate(chance.below(messages.len() as u64 + 1) as usize),
                        1 if !messages.is_empty() => {
                            let at = chance.below(messages.len() as u64) as usize;
                            let role = messages[at].role;
                            Rc::make_mut(&mut messages[at]).parts.push(chance.part(role));
                        }
                        2 => model = ["m", "n"][chance.below(2) as usize],
                        _ => messages.extend((0..=chance.below(3)).map(|_| chance.message()).collect::<Vec<_>>()),
                    }
                    let ask = Ask {
                        model,
                        system: ["", "be"][chance.below(2) as usize],
                        messages: &messages,
                        thinking: Some(2000),
                        ..Ask::default()
                    };
                    let body = request(api, &ask, &written);
                    assert_eq!(body, whole(api, &ask), "{messages:?}");
                    assert!(serde_json::from_str::<Value>(&body).is_ok(), "{body}");
                    stretches += written.0.borrow().stretches.len();
                }
            }
        }
        assert!(stretches > 10_000, "{stretches}");
    }

    #[test]
    fn what_stands_already_is_not_written_again() {
        let (written, mut messages) = (Written::default(), vec![Rc::new(Message::user("0"))]);
        for at in 1..=50 {
            let ask = Ask {
                model: "m",
                messages: &messages,
                ..Ask::default()
            };
            request(Api::Anthropic, &ask, &written);
            assert_eq!(written.0.borrow().same(&messages), at);
            let reply = Message {
                role: Role::Assistant,
                parts: vec![Part::Text("yes".to_owned())],
            };
            messages.extend([Rc::new(reply), Rc::new(Message::user(at.to_string()))]);
            assert_eq!(written.0.borrow().same(&messages), at);
        }
    }
}
