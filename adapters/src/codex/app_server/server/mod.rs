//! The program's side, as `codex app-server` is: many threads in one process ([`crate::server`]).

mod answer;
mod facts;
mod fixed;
mod history;
mod marks;
mod pages;
mod policy;
mod prompt;
mod requests;
mod thread;
mod words;

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use answer::UNSAID;
use facts::Facts;
use history::{Cut, History};
use thread::Thread;
use words::Wrong;

use crate::event::{Event, Kind};
use crate::json::{Cursor, Raw, Shape};
use crate::launch::{Launch, Resume};
use crate::server::question::Question;
use crate::server::{Action, Actions, Listed, SessionServer, Setup, Wait};

/// The threads that a host has with us.
#[derive(Debug)]
pub(in crate::codex) struct Threads {
    setup: Setup,
    /// Who the host says it is: its name, once it has said `initialize`.
    host: Option<String>,
    /// The notifications that it does not want, by their methods.
    unwanted: BTreeSet<String>,
    threads: BTreeMap<String, Thread>,
    /// What is read of threads before somebody is answered, by the ids of the threads that are read: one after the other.
    reading: BTreeMap<String, VecDeque<Reading>>,
    /// What hosts want to be kept of threads, by their requests. One id may be two requests.
    marking: BTreeMap<String, VecDeque<marks::Wish>>,
    /// What lists are asked for, in the same way.
    listing: BTreeMap<String, VecDeque<Page>>,
    /// What the host was asked, by our numbers.
    asked: BTreeMap<u64, Question>,
    /// How many numbers were given.
    numbers: u64,
    /// The host says nothing more.
    alone: bool,
}

/// A part of a list of threads.
#[derive(Debug)]
struct Page {
    /// How many threads it may hold.
    most: usize,
    /// Behind how many it begins.
    behind: usize,
    /// What a thread begins with has this in it.
    search: String,
    /// The folders in which it may have begun; all of them if none is named.
    folders: Vec<String>,
    /// The oldest comes first.
    ascending: bool,
    /// Those that were put away.
    archived: bool,
}

/// A thread of which is read what was said before.
#[derive(Debug)]
struct Reading {
    request: String,
    /// What its turns are, where that matters.
    history: Option<History>,
    /// They are told.
    tells: bool,
    /// Where it ends for who goes on with it.
    cut: Option<Cut>,
    then: Then,
}

/// What for.
#[derive(Debug)]
enum Then {
    /// It is told what it is.
    Tell,
    /// Some of its turns or items are.
    Page(pages::Page),
    /// It goes back to where it is cut, and is told with its turns if that is wanted.
    Revert(bool),
    /// It goes on, or a copy of it does: the id of the thread that begins, and how.
    Begin(Box<(String, Launch, policy::Policy)>),
}

impl Threads {
    pub(in crate::codex) const fn new(setup: Setup) -> Self {
        Self {
            setup,
            host: None,
            unwanted: BTreeSet::new(),
            threads: BTreeMap::new(),
            reading: BTreeMap::new(),
            marking: BTreeMap::new(),
            listing: BTreeMap::new(),
            asked: BTreeMap::new(),
            numbers: 0,
            alone: false,
        }
    }

    fn message(&mut self, message: Raw<'_>, actions: &mut Actions) {
        let params = message.get("params").unwrap_or(Raw::trusted("{}"));
        let id = message.get("id").filter(|id| matches!(id.shape(), Some(Shape::Number | Shape::String)));
        match (message.get("method").and_then(Raw::string), id) {
            (Some(method), Some(id)) => {
                if let Err(wrong) = self.request(&method.unescape(), id.as_str(), params, actions) {
                    words::refuse(id.as_str(), &wrong, actions);
                }
            }
            // Hosts that wait for an answer would wait for ever.
            (Some(_), None) if message.get("id").is_some() => {
                words::refuse("null", &Wrong::params("id: a string or a number is expected"), actions);
            }
            // `initialized`, and what else is only told.
            (Some(_), None) => {}
            (None, Some(id)) => self.heard(id, message, actions),
            (None, None) => actions.notes.push("the host says a message without a method and an id".to_owned()),
        }
    }

    /// What was said in a thread before has been read, or there is none: what it was read for is done.
    fn was_read(&mut self, session: &str, mut reading: Reading, found: Option<&Listed>, actions: &mut Actions) -> Result<(), Wrong> {
        let Some(found) = found else {
            // One that runs here need not be kept.
            return match (reading.then, self.threads.get(session)) {
                (Then::Tell, Some(thread)) => {
                    words::answer(&reading.request, &thread.opening_answer(""), actions);
                    Ok(())
                }
                (Then::Page(page), Some(_)) => {
                    words::answer(&reading.request, &page.of("[]"), actions);
                    Ok(())
                }
                (Then::Tell | Then::Page(_), None) => Err(Wrong::request(format!("thread not loaded: {session}"))),
                (Then::Begin(_) | Then::Revert(_), _) => Err(no_rollout(session)),
            };
        };
        let asked = reading.cut.take();
        // It has gone back, and nothing was said since.
        let back = self.threads.get(session).and_then(Thread::went_back);
        let end = match (asked.as_ref().or(back), reading.history.as_mut()) {
            (Some(cut), Some(history)) => {
                let end = history.cut(cut);
                if let (Some(Cut::Behind(turn) | Cut::Before(turn)), None) = (&asked, &end) {
                    return Err(Wrong::request(format!("turn not found: {turn}")));
                }
                end
            }
            _ => None,
        };
        let mut facts = self.facts(Some(found));
        let turns = reading.history.map(History::turns).unwrap_or_default();
        if reading.tells {
            facts.turns.clone_from(&turns);
        }
        match reading.then {
            Then::Tell => {
                let answer = match self.threads.get(session) {
                    Some(thread) => thread.opening_answer(&facts.turns),
                    None => {
                        let thread = facts.object(session, &found.cwd, None, "{\"type\":\"notLoaded\"}");
                        format!("{{\"thread\":{thread}}}")
                    }
                };
                words::answer(&reading.request, &answer, actions);
            }
            Then::Page(page) => words::answer(&reading.request, &page.of(&turns), actions),
            Then::Revert(told) => {
                let (Some(end), Some(cut)) = (end, asked) else {
                    return Err(no_rollout(session));
                };
                let thread = self.threads.get_mut(session).ok_or_else(|| Wrong::no_thread(session))?;
                thread.go_back(reading.request, end, cut, told.then_some(turns), actions)?;
            }
            Then::Begin(how) => {
                let (id, mut launch, policy) = *how;
                if id == session && found.archived {
                    return Err(Wrong::request(format!(
                        "session {session} is archived. Run `codex unarchive {session}` to unarchive it first."
                    )));
                }
                self.room()?;
                if id != session {
                    facts.of = Some(session.to_owned());
                    facts.name = None;
                }
                launch.cwd.get_or_insert_with(|| found.cwd.clone());
                launch.resume = Resume::Session(found.id.clone());
                match end {
                    Some(None) => (launch.resume, launch.fork) = (Resume::New, false),
                    Some(end) => launch.resume_at = end,
                    None => {}
                }
                let mut thread = Thread::new(&id, &reading.request, launch, policy, facts);
                if id == session {
                    thread.kept_as.clone_from(&found.id);
                }
                thread.begin(actions);
                self.threads.insert(id, thread);
            }
        }
        Ok(())
    }

    /// What is told of a thread that is kept, or of a new one.
    fn facts(&self, kept: Option<&Listed>) -> Facts {
        let written = kept.map_or_else(|| (self.setup.now)(), |kept| kept.written) / 1000;
        Facts {
            originator: self.host.clone().unwrap_or_default(),
            name: kept.and_then(|kept| kept.name.clone()),
            preview: kept.and_then(|kept| kept.title.clone()).unwrap_or_default(),
            created: written,
            updated: written,
            ..Facts::default()
        }
    }

    /// Whether one more thread may be open.
    fn room(&self) -> Result<(), Wrong> {
        if self.threads.len() < self.setup.most {
            Ok(())
        } else {
            Err(Wrong::request(self.setup.too_many("thread/unsubscribe")))
        }
    }

    /// Ends a thread and its program, for this reason. What is asked of the host in its name is asked no more.
    fn close(&mut self, name: &str, why: &str, actions: &mut Actions) {
        self.ended(name, why, actions);
        actions.todo.push(Action::Close(name.to_owned()));
    }
}

/// What is waited for longest under this id.
fn first_of<T>(waiting: &mut BTreeMap<String, VecDeque<T>>, request: &str) -> Option<T> {
    let all = waiting.get_mut(request)?;
    let first = all.pop_front();
    if all.is_empty() {
        waiting.remove(request);
    }
    first
}

/// Nobody keeps such a thread.
fn no_rollout(id: &str) -> Wrong {
    Wrong::request(format!("no rollout found for thread id {id}"))
}

impl SessionServer for Threads {
    /// What is no message is not answered, as the program does not: nobody could tell to what.
    fn hear(&mut self, line: &[u8], actions: &mut Actions) {
        let Ok(line) = std::str::from_utf8(line) else {
            return actions.notes.push("the host says a line that is no UTF-8".to_owned());
        };
        if line.trim().is_empty() {
            return;
        }
        let mut cursor = Cursor::new(line);
        match cursor.raw() {
            Ok(message) if cursor.at_end() && message.shape() == Some(Shape::Object) => self.message(message, actions),
            Ok(_) => actions.notes.push("the host says a line that is no message".to_owned()),
            Err(error) => actions.notes.push(format!("the host says a line that is no JSON: {error}")),
        }
    }

    fn left_out(&mut self, start: &[u8], why: &str, actions: &mut Actions) {
        let start = String::from_utf8_lossy(start);
        let id = Raw::trusted(&start).get("id");
        match id.filter(|id| matches!(id.shape(), Some(Shape::Number | Shape::String))) {
            Some(id) => words::refuse(id.as_str(), &Wrong::request(why), actions),
            None => actions.notes.push(why.to_owned()),
        }
    }

    fn said(&mut self, name: &str, event: &Event<'_>, actions: &mut Actions) {
        let now = (self.setup.now)();
        let Some(thread) = self.threads.get_mut(name) else { return };
        match event.kind {
            Kind::Response(response) => {
                if let Err(why) = thread.answered(response, now, actions) {
                    self.close(name, &why, actions);
                }
            }
            Kind::Request(request) => self.ask(name, request, actions),
            Kind::Withdraw(withdraw) => {
                let id = withdraw.id.unwrap_or_default();
                self.withdraw(|question| question.session == name && question.id == id.as_escaped(), actions);
            }
            Kind::Outcome(outcome) => {
                thread.over(event, outcome, now, actions);
            }
            Kind::Session(session) => thread.session(event, session, self.setup.new_id, now, actions),
            _ => thread.show(event, now, actions),
        }
    }

    fn recall(&mut self, session: &str, event: &Event<'_>, _: &mut Actions) {
        let reading = self.reading.get_mut(session).and_then(VecDeque::front_mut);
        if let Some(history) = reading.and_then(|reading| reading.history.as_mut()) {
            history.event(event);
        }
    }

    fn recalled(&mut self, session: &str, found: Option<&Listed>, actions: &mut Actions) {
        let Some(waiting) = self.reading.get_mut(session) else { return };
        let reading = waiting.pop_front();
        if waiting.is_empty() {
            self.reading.remove(session);
        } else {
            let session = session.to_owned();
            actions.todo.push(Action::Recall { session, cwd: None });
        }
        let Some(reading) = reading else { return };
        let request = reading.request.clone();
        if let Err(wrong) = self.was_read(session, reading, found, actions) {
            words::refuse(&request, &wrong, actions);
        }
    }

    fn kept(&mut self, request: &str, session: &str, found: Result<Option<&Listed>, &str>, actions: &mut Actions) {
        if let Err(wrong) = self.marked(request, session, found, actions) {
            words::refuse(request, &wrong, actions);
        }
    }

    fn listed(&mut self, request: &str, sessions: Result<&[Listed], &str>, actions: &mut Actions) {
        let Some(page) = first_of(&mut self.listing, request) else { return };
        let sessions = match sessions {
            Ok(sessions) => sessions,
            Err(why) => return words::refuse(request, &Wrong::internal(why), actions),
        };
        let wanted = |listed: &&Listed| {
            let mut titles = listed.name.iter().chain(&listed.title);
            listed.archived == page.archived
                && (page.search.is_empty() || titles.any(|title| title.contains(&page.search)))
                && (page.folders.is_empty() || page.folders.contains(&listed.cwd))
        };
        let mut all: Vec<&Listed> = sessions.iter().filter(wanted).collect();
        if page.ascending {
            all.reverse();
        }
        let rest = all.get(page.behind..).unwrap_or_default();
        let threads: Vec<String> = rest
            .iter()
            .take(page.most)
            .map(|listed| match self.threads.get(&listed.id) {
                Some(thread) => thread.object_with(""),
                None => {
                    let facts = self.facts(Some(listed));
                    facts.object(&listed.id, &listed.cwd, None, "{\"type\":\"notLoaded\"}")
                }
            })
            .collect();
        let next = if rest.len() > page.most {
            format!("\"{}\"", page.behind + page.most)
        } else {
            "null".to_owned()
        };
        let result = format!("{{\"data\":[{}],\"nextCursor\":{next},\"backwardsCursor\":null}}", threads.join(","));
        words::answer(request, &result, actions);
    }

    fn ended(&mut self, name: &str, why: &str, actions: &mut Actions) {
        self.withdraw(|question| question.session == name, actions);
        if let Some(mut thread) = self.threads.remove(name) {
            let now = (self.setup.now)();
            let was_open = thread.is_open();
            thread.leave(why, now, actions);
            if was_open {
                words::notify("thread/closed", &format!("{{\"threadId\":\"{name}\"}}"), now, actions);
            }
            actions.notes.push(format!("thread {name}: {why}"));
        }
    }

    fn left(&mut self, actions: &mut Actions) {
        self.alone = true;
        for (_, question) in std::mem::take(&mut self.asked) {
            self.decide(&question, UNSAID, actions);
        }
    }

    fn is_busy(&self) -> bool {
        !self.reading.is_empty() || !self.marking.is_empty() || self.threads.values().any(Thread::is_busy)
    }

    fn stop(&mut self, why: &str, actions: &mut Actions) {
        let now = (self.setup.now)();
        for thread in std::mem::take(&mut self.threads).values_mut() {
            thread.leave(why, now, actions);
        }
    }

    fn spare(&self, out: &mut Vec<u8>) {
        if self.unwanted.is_empty() {
            return;
        }
        let is_unwanted = |line: &[u8]| {
            let Ok(line) = std::str::from_utf8(line) else { return false };
            let message = Raw::trusted(line.trim_end());
            let method = message.get("method").and_then(Raw::string);
            message.get("id").is_none() && method.is_some_and(|method| self.unwanted.contains(&*method.unescape()))
        };
        let said = std::mem::take(out);
        for line in said.split_inclusive(|byte| *byte == b'\n').filter(|line| !is_unwanted(line)) {
            out.extend_from_slice(line);
        }
    }

    fn waits(&self, session: &str) -> Option<Wait> {
        self.threads.get(session)?.waits()
    }
}
