//! From the lines of a transcript, which are a tree, to the conversation that goes on.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::rc::Rc;

use serde_json::Value;

use super::STATE;
use super::entry::Entry;
use super::line::quoted;
use super::scan::Tail;
use crate::model::message::{Call, CallResult, Message, Part, Role};
use crate::model::usage::Tokens;

/// What a call is answered that the session ended over.
const INTERRUPTED: &str = "The tool call was interrupted: the session ended before its result was there.";

/// A conversation as it was left.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct History {
    /// What was said, as the model is to read it. Roles alternate. If the last message is the user's, the next prompt belongs to it.
    pub messages: Vec<Message>,
    /// The entry that the conversation goes on from.
    pub leaf: Option<String>,
    /// The session that was read; a fork's own id is another.
    pub session: String,
    /// The model that replied last.
    pub model: Option<String>,
    /// The permission mode of the last prompt, as the dialect calls it.
    pub permission_mode: Option<String>,
    /// What the session was called.
    pub title: Option<String>,
    /// The entries of the user's prompts behind the last compaction, in order.
    pub prompts: Vec<String>,
    /// What was found wrong with the transcript, a sentence each.
    pub notes: Vec<String>,
    /// What the agent's persona has kept last.
    pub state: Option<Value>,
    /// What its replies have used, as far as the transcript says it.
    pub(crate) used: Tokens,
    /// The call at the end that a hook has put off: it has no result, and waits for somebody to come back to it.
    pub deferred: Option<Call>,
}

impl History {
    /// What was said, as a conversation holds it.
    pub fn shared(self) -> Vec<Rc<Message>> {
        self.messages.into_iter().map(Rc::new).collect()
    }
}

/// Why a transcript cannot be gone on with in the way that was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Unfit {
    /// There is no conversation in it.
    Empty,
    /// The conversation goes on to what stands before the last compaction.
    Cut,
    /// There is no such message.
    NoMessage,
    /// More would be dropped than the turn that was named.
    Drops(String),
}

/// Where the conversation is to end.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Upto<'a> {
    /// Behind this entry.
    pub(super) at: Option<&'a str>,
    /// What is dropped has to be the turn of this prompt.
    pub(super) drops: Option<&'a str>,
}

/// The lines of a transcript that belong to one conversation.
pub(super) struct Chain<'a> {
    entries: Vec<Entry<'a>>,
    /// Each entry's line, for whoever copies it.
    lines: Vec<&'a [u8]>,
    /// The entries on the way to the leaf, first to last.
    path: Vec<usize>,
    /// Those of the entries that count: none behind the place where it is to end.
    last: usize,
    title: Option<String>,
    state: Option<Value>,
    strange: usize,
}

impl<'a> Chain<'a> {
    /// Reads the lines and finds the way. `sidechain`: it is a subagent's file.
    pub(super) fn read(tail: &'a Tail, upto: Upto<'_>, sidechain: bool) -> Result<Self, Unfit> {
        let mut chain = Self {
            entries: Vec::new(),
            lines: Vec::new(),
            path: Vec::new(),
            last: usize::MAX,
            title: None,
            state: None,
            strange: 0,
        };
        let mut named = None;
        for line in tail.bytes().split(|&byte| byte == b'\n') {
            let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line).trim_ascii();
            if line.is_empty() {
                continue;
            }
            let Some(entry) = Entry::read(line) else {
                chain.strange += 1;
                continue;
            };
            if entry.is_chained() && entry.is_sidechain == sidechain {
                // What is written behind the note goes on from somewhere else.
                named = None;
                chain.entries.push(entry);
                chain.lines.push(line);
            } else if entry.kind == "last-prompt" {
                named = entry.leaf_uuid;
            } else if entry.kind == "custom-title" {
                chain.title = entry.custom_title.filter(|title| !title.is_empty());
            } else if entry.kind == STATE {
                chain.state = serde_json::from_slice(line).ok();
            }
        }
        chain.find_path(named.as_deref(), upto, tail.start > 0)?;
        Ok(chain)
    }

    fn find_path(&mut self, named: Option<&str>, upto: Upto<'_>, cut: bool) -> Result<(), Unfit> {
        let places = self.places();
        let is_message = |entry: &Entry<'_>| matches!(&*entry.kind, "user" | "assistant");
        let missing = if cut { Unfit::Cut } else { Unfit::Empty };
        let leaf = match named {
            Some(named) => places.get(named).copied().or_else(|| self.entries.iter().rposition(is_message)),
            None => self.entries.iter().rposition(|entry| is_message(entry) || entry.queued().is_some()),
        };
        let walk = |leaf: usize| {
            let mut path = vec![leaf];
            let mut been = HashSet::from([leaf]);
            let mut broken = false;
            let mut at = leaf;
            while let Some(parent) = &self.entries[at].parent_uuid {
                match places.get(parent.as_str()) {
                    Some(&next) if been.insert(next) => {
                        path.push(next);
                        at = next;
                    }
                    Some(_) => break,
                    None => {
                        broken = true;
                        break;
                    }
                }
            }
            path.reverse();
            (path, broken)
        };
        let (mut path, broken) = walk(leaf.ok_or(missing.clone())?);
        if broken && cut {
            return Err(Unfit::Cut);
        }
        if let Some(at) = upto.at {
            let found = places.get(at).copied().ok_or(if cut { Unfit::Cut } else { Unfit::NoMessage })?;
            // A parallel call is not on the way itself, but its reply is.
            let (before, broken) = walk(found);
            if broken && cut {
                return Err(Unfit::Cut);
            }
            if let Some(prompt) = upto.drops {
                let dropped: Vec<usize> = match path.iter().position(|&on| on == found) {
                    Some(cut) => path[cut + 1..].to_vec(),
                    None => path.iter().copied().filter(|&on| on > found).collect(),
                };
                self.judge_drop(&dropped, prompt).map_err(Unfit::Drops)?;
            }
            (path, self.last) = (before, found);
        }
        if !path.iter().any(|&on| is_message(&self.entries[on])) {
            return Err(missing);
        }
        self.path = path;
        Ok(())
    }

    fn places(&self) -> HashMap<&str, usize> {
        let entries = self.entries.iter().enumerate();
        entries.filter_map(|(at, entry)| Some((entry.uuid.as_deref()?, at))).collect()
    }

    /// Whether all of these belong to the turn of one prompt.
    fn judge_drop(&self, dropped: &[usize], prompt: &str) -> Result<(), String> {
        let mut begun = false;
        for &at in dropped {
            let entry = &self.entries[at];
            let id = entry.uuid.as_deref().unwrap_or_default();
            if id == prompt {
                begun = true;
            } else if entry.queued().is_some() {
                return Err(format!("a prompt that was queued while the turn ran would be dropped with it ({id})"));
            } else if entry.is_prompt() && !entry.has(b"[Request interrupted by user") {
                return Err(format!("another prompt would be dropped with it ({id})"));
            } else if !begun {
                let output = entry
                    .attachment
                    .is_some_and(|attachment| attachment.get().contains("\"structured_output\""));
                let result = entry.kind == "user" && entry.has(b"\"tool_result\"") && !entry.has(b"\"is_error\":true");
                if entry.kind == "assistant" || output || result {
                    return Err(format!("part of the turn before it would be dropped too ({id})"));
                }
            }
        }
        if begun || dropped.is_empty() {
            Ok(())
        } else {
            Err(format!("what would be dropped is not the turn of {prompt}"))
        }
    }

    /// The conversation.
    pub(super) fn history(&self) -> History {
        let mut history = History {
            leaf: self.path.last().and_then(|&leaf| self.entries[leaf].uuid.clone()),
            title: self.title.clone(),
            state: self.state.clone(),
            ..History::default()
        };
        if self.strange > 0 {
            history.notes.push(match self.strange {
                1 => "1 line of the transcript is no JSON and was passed over".to_owned(),
                lines => format!("{lines} lines of the transcript are no JSON and were passed over"),
            });
        }
        let replies = self.replies();
        let mut results = self.results();
        let mut done = HashSet::new();
        let mut open = Vec::new();
        for &at in &self.path {
            let entry = &self.entries[at];
            match &*entry.kind {
                "assistant" if !entry.is_api_error_message && done.insert(at) => {
                    let blocks = replies.get(&at).map_or_else(|| Rc::from([at]), Rc::clone);
                    done.extend(blocks.iter().copied());
                    // Each block of a reply says what all of it has used.
                    history.used += blocks.last().map(|&block| self.entries[block].used()).unwrap_or_default();
                    let (mut parts, mut answers) = (Vec::new(), Vec::new());
                    for &block in &*blocks {
                        let said = self.entries[block].said();
                        if let Some(model) = said.model.filter(|model| model != "<synthetic>") {
                            history.model = Some(model);
                        }
                        answers.extend(self.answers(block, &said.parts, &mut results));
                        parts.extend(said.parts);
                    }
                    history.say(Role::Assistant, parts);
                    open.extend(answers.iter().filter(|(place, _)| place.is_none()).map(|(_, answer)| answer.call.clone()));
                    history.say(Role::User, answers.into_iter().map(|(_, answer)| Part::Result(answer)).collect());
                }
                "user" => {
                    if entry.is_prompt() {
                        history.prompts.extend(entry.uuid.clone());
                    }
                    if entry.permission_mode.is_some() {
                        history.permission_mode.clone_from(&entry.permission_mode);
                    }
                    if entry.is_compact_summary || !entry.is_visible_in_transcript_only {
                        // Results stand behind their calls already.
                        let parts = entry.said().parts.into_iter().filter(|part| !matches!(part, Part::Result(_)));
                        history.say(Role::User, parts.collect());
                    }
                }
                "attachment" => {
                    if let Some(prompt) = entry.queued() {
                        history.say(Role::User, vec![Part::Text(prompt)]);
                    }
                }
                _ => {}
            }
        }
        history.deferred = self.deferred(&open).and_then(|call| history.take_deferred(call));
        history
    }

    /// The one of these calls that a hook has put off.
    fn deferred<'o>(&self, open: &'o [String]) -> Option<&'o str> {
        let entries = self.entries.iter().enumerate().filter(|(at, _)| *at <= self.last);
        let deferred: Vec<String> = entries.filter_map(|(_, entry)| entry.deferred()).collect();
        open.iter().rfind(|call| deferred.contains(call)).map(String::as_str)
    }

    /// The blocks of each reply of which one is on the way, in the order of the file, by each block.
    ///
    /// A server may give the same id to every reply: blocks are one reply only if no other one and nothing of the user's stands between
    /// them.
    fn replies(&self) -> HashMap<usize, Rc<[usize]>> {
        let on: HashSet<usize> = self.path.iter().copied().collect();
        let mut replies = HashMap::new();
        let mut open: Option<(String, Vec<usize>)> = None;
        let mut close = |open: Option<(String, Vec<usize>)>| {
            if let Some((_, blocks)) = open.filter(|(_, blocks)| blocks.iter().any(|block| on.contains(block))) {
                let blocks: Rc<[usize]> = blocks.into();
                replies.extend(blocks.iter().map(|&block| (block, blocks.clone())));
            }
        };
        for (at, entry) in self.entries.iter().enumerate().filter(|(at, _)| *at <= self.last) {
            match entry.reply() {
                Some(id) => match &mut open {
                    Some((same, blocks)) if *same == id => blocks.push(at),
                    _ => close(open.replace((id, vec![at]))),
                },
                None if entry.kind == "user" && !entry.has(b"\"tool_result\"") => close(open.take()),
                None => {}
            }
        }
        close(open);
        replies
    }

    /// The results that are there.
    fn results(&self) -> Results {
        let mut results = Results::default();
        let places = self.places();
        let lines = self.entries.iter().enumerate().filter(|(at, _)| *at <= self.last);
        for (at, entry) in lines.filter(|(_, entry)| entry.kind == "user" && entry.has(b"\"tool_result\"")) {
            for part in entry.said().parts {
                if let Part::Result(result) = part {
                    let parent = entry.parent_uuid.clone();
                    let owner = parent.as_deref().and_then(|parent| places.get(parent)).map(|&at| &self.entries[at]);
                    let owned = owner.is_some_and(|owner| owner.kind == "assistant" && owner.has(quoted(&result.call).as_bytes()));
                    results
                        .by_call
                        .entry(result.call.clone())
                        .or_default()
                        .push(Answer { at, parent, owned, result });
                }
            }
        }
        results
    }

    /// A block of a reply, and if it is a call the place of its result and the result.
    fn answers(&self, block: usize, parts: &[Part], results: &mut Results) -> Vec<(Option<usize>, CallResult)> {
        let uuid = self.entries[block].uuid.as_deref();
        let calls = parts
            .iter()
            .filter_map(|part| if let Part::Call(call) = part { Some(&call.id) } else { None });
        calls.map(|call| results.take(call, block, uuid)).collect()
    }

    /// The lines of the conversation, in the order of the file: those on the way, the other blocks of their replies, and the results of
    /// their calls.
    pub(super) fn lines(&self) -> Vec<&'a [u8]> {
        let mut kept: BTreeSet<usize> = self.path.iter().copied().collect();
        kept.extend(self.replies().into_keys());
        let mut results = self.results();
        for block in kept.clone() {
            let answers = self.answers(block, &self.entries[block].said().parts, &mut results);
            kept.extend(answers.into_iter().filter_map(|(at, _)| at));
        }
        kept.into_iter().map(|at| self.lines[at]).collect()
    }

    /// The id that the lines say the session has.
    pub(super) fn session(&self) -> Option<&str> {
        self.entries.iter().find_map(|entry| entry.session_id.as_deref())
    }
}

/// Results by their calls' ids. A server may give the same id to several calls.
#[derive(Default)]
struct Results {
    by_call: HashMap<String, Vec<Answer>>,
}

struct Answer {
    at: usize,
    parent: Option<String>,
    /// The entry that it hangs from has such a call.
    owned: bool,
    result: CallResult,
}

impl Results {
    /// The result of a call in this entry: the one that hangs from it, else the first one behind it that hangs from no other,
    /// else the first such one.
    fn take(&mut self, call: &str, entry: usize, uuid: Option<&str>) -> (Option<usize>, CallResult) {
        let found = self.by_call.get_mut(call).and_then(|found| {
            let hangs = found
                .iter()
                .position(|answer| answer.parent.is_some() && answer.parent.as_deref() == uuid);
            let behind = || found.iter().position(|answer| !answer.owned && answer.at > entry);
            let any = || found.iter().position(|answer| !answer.owned);
            let answer = found.remove(hangs.or_else(behind).or_else(any)?);
            Some((Some(answer.at), answer.result))
        });
        found.unwrap_or_else(|| {
            let result = CallResult {
                call: call.to_owned(),
                content: vec![Part::Text(INTERRUPTED.to_owned())],
                is_error: true,
            };
            (None, result)
        })
    }
}

impl History {
    /// Takes the answer away that was made up for a call of the last reply, behind which nothing was said.
    fn take_deferred(&mut self, call: &str) -> Option<Call> {
        let [.., asks, answers] = &mut self.messages[..] else { return None };
        let call = asks.calls().find(|known| known.id == call).cloned()?;
        if !answers.parts.iter().all(|part| matches!(part, Part::Result(_))) {
            return None;
        }
        answers
            .parts
            .retain(|part| !matches!(part, Part::Result(result) if result.call == call.id));
        if answers.parts.is_empty() {
            self.messages.pop();
        }
        Some(call)
    }

    fn say(&mut self, role: Role, mut parts: Vec<Part>) {
        if parts.is_empty() {
            return;
        }
        match self.messages.last_mut().filter(|last| last.role == role) {
            Some(last) => last.parts.append(&mut parts),
            None => self.messages.push(Message { role, parts }),
        }
    }
}
