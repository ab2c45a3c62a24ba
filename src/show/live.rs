//! A run that a person watches on a terminal: what is settled is shown as [`TextPage`] shows it, and below it, until the next thing is
//! settled, what the agent says and does just now.

mod rows;
mod sheet;

use std::fmt;
use std::io::IsTerminal;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use agentglot_adapters::Dialect;
use agentglot_adapters::events::Json;
use agentglot_adapters::raw::event::{ControlKind, Event, Kind, Piece};
use agentglot_adapters::raw::json::Str;
use agentglot_adapters::raw::live::{Heard, Listener};
use agentglot_adapters::raw::tools::kind_of;
use agentglot_adapters::session::{Call, Growing, Turn};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};

use super::words::{first_line, shown};
use super::{Look, Pick, TextPage, Walk, fitted};
use crate::io::{HeldLog, message};
use rows::Rows;
use sheet::Sheet;

/// Shows a run on a terminal. What it hears are the canonical events, as lines; what it shows are bytes for the terminal.
pub struct LivePage {
    turns: Growing,
    ear: Listener,
    walk: Walk<'static>,
    rows: Rows,
    sheet: Sheet,
    size: fn() -> (usize, usize),
    spinner: Option<ProgressBar>,
    now: Arc<Mutex<Now>>,
    /// When it turns again.
    due: Instant,
    question: Option<Question>,
    /// What was heard while a question stands there.
    held: Vec<String>,
    /// What was typed of an answer so far.
    typed: Vec<u8>,
    stopping: bool,
    /// Our log, where it goes to the same terminal.
    log: Option<HeldLog>,
}

/// What a person answers to a question for permission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Chosen {
    /// The call may run.
    Yes,
    /// So may every later one of the tool.
    Always,
    /// It may not.
    No,
}

/// What stands below what is settled.
#[derive(Debug, Default)]
struct Now {
    /// The end of the answer that comes.
    tail: String,
    /// What is done.
    below: String,
}

#[derive(Debug)]
struct Question {
    id: String,
}

/// So often the spinner turns.
const TURN: Duration = Duration::from_millis(100);
/// Of an answer that comes so many bytes are looked at to show its end.
const TAIL: usize = 64 << 10;
/// An answer to a question has no more.
const LONGEST_ANSWER: usize = 1024;
/// Where the cursor waits: what the terminal shows of a key is written over, and begins no line.
const HOME: &str = "\r";
static ALL: Pick = Pick {
    turn: None,
    tools: false,
    errors: false,
    since: None,
};

impl LivePage {
    /// Nothing is shown yet. `size`: how wide and how high the terminal is by now.
    pub fn new(look: Look, size: fn() -> (usize, usize), max_line: usize) -> Self {
        let sheet = Sheet { bytes: Arc::default(), size };
        Self {
            turns: Growing::new(Dialect::CANONICAL.into()),
            ear: Listener::to_agent(Dialect::CANONICAL, max_line),
            walk: Walk::at_once(&ALL),
            rows: Rows {
                page: TextPage::new(sheet.clone(), look),
                coming: String::new(),
                asked: Vec::new(),
            },
            sheet,
            size,
            spinner: None,
            now: Arc::default(),
            due: Instant::now(),
            question: None,
            held: Vec::new(),
            typed: Vec::new(),
            stopping: false,
            log: std::io::stderr().is_terminal().then(HeldLog::begin),
        }
    }

    /// Hears lines of events, at this time in milliseconds since 1970.
    pub fn hear(&mut self, lines: &[u8], millis: i64) {
        self.turns.now(millis);
        for line in String::from_utf8_lossy(lines).split_inclusive('\n') {
            self.line(line);
        }
        if let Some(log) = self.log.as_ref().filter(|_| self.question.is_none()) {
            self.above(&log.take());
        }
    }

    /// The person has typed that; returns what is chosen by it. What is typed when nothing is asked is no answer.
    pub fn hear_typed(&mut self, bytes: &[u8]) -> Option<Chosen> {
        if self.question.is_none() {
            let lines = bytes.iter().filter(|byte| **byte == b'\n').count();
            if self.spinner.is_some() {
                // The terminal has shown it too.
                let _ = self.sheet.moved(lines, 'A');
            }
            return None;
        }
        for byte in bytes {
            if *byte != b'\n' {
                if self.typed.len() < LONGEST_ANSWER {
                    self.typed.push(*byte);
                }
                continue;
            }
            let typed = std::mem::take(&mut self.typed);
            let chosen = match String::from_utf8_lossy(&typed).trim().to_lowercase().as_str() {
                "y" | "yes" => Chosen::Yes,
                "a" | "always" => Chosen::Always,
                "n" | "no" => Chosen::No,
                _ => {
                    self.say("  Please answer y, n or a: ");
                    continue;
                }
            };
            self.answered();
            return Some(chosen);
        }
        None
    }

    /// The person will type nothing more; returns what that means where something is asked.
    pub fn hear_no_more(&mut self) -> Option<Chosen> {
        self.question.as_ref()?;
        self.say("\n");
        self.answered();
        Some(Chosen::No)
    }

    /// Tells the person something that the agent does not say.
    pub fn note(&self, text: &str) {
        self.above(message(text).as_bytes());
    }

    /// The turn is being stopped, because the person wants it.
    pub fn stops(&mut self) {
        self.stopping = true;
    }

    /// Whether [`Self::stops`] was called.
    pub const fn is_stopping(&self) -> bool {
        self.stopping
    }

    /// When [`Self::turn`] is to be called.
    pub fn due(&self) -> Option<Instant> {
        self.spinner.as_ref().map(|_| self.due)
    }

    /// Time has passed. `busy`: somebody is waited for.
    pub fn turn(&mut self, now: Instant, busy: bool) {
        if !busy || self.question.is_some() {
            return self.quiet();
        }
        if self.spinner.is_some() && now < self.due {
            return;
        }
        self.due = now + TURN;
        let below = self.below();
        let (width, height) = (self.size)();
        let mut lines = self.rows.page.said(&self.rows.coming[start_of_tail(&self.rows.coming)..], 0);
        lines.drain(..lines.len().saturating_sub(height.saturating_sub(4)));
        let mut tail: String = lines.iter().map(|line| format!("{}\n", line.trim_end())).collect();
        if !tail.is_empty() {
            tail = format!("\n{tail}\n");
        }
        *lock(&self.now) = Now {
            tail,
            below: fitted(&below, width.saturating_sub(16)),
        };
        let (sheet, now) = (&self.sheet, &self.now);
        self.spinner.get_or_insert_with(|| spinner(sheet, now)).tick();
        self.say(HOME);
    }

    /// There is no more.
    pub fn end(&mut self) {
        self.question = None;
        self.release();
        self.turns.finish();
        self.show();
        self.quiet();
        self.log = None;
    }

    /// Takes what is to be written to the terminal.
    pub fn out(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.sheet.bytes())
    }

    fn line(&mut self, line: &str) {
        let mut about = About::default();
        self.ear.feed(line.as_bytes(), &mut |heard| {
            if let Heard::Event(event) = heard {
                about.hear(event);
            }
        });
        if let Some(question) = &self.question {
            if !about.ends_turn && about.withdrawn.as_ref() != Some(&question.id) {
                return self.held.push(line.to_owned());
            }
            self.say("\n");
            self.answered();
        }
        if about.begins_round {
            self.rows.coming.clear();
        }
        if let Some(text) = about.text {
            self.rows.coming.push_str(&text);
        }
        self.turns.feed(line.as_bytes());
        self.show();
        if let Some((id, call, name, input)) = about.asks {
            self.ask(id, call.as_deref(), &name, &input);
        }
    }

    /// Shows what is settled by now.
    fn show(&mut self) {
        let before = self.sheet.take();
        let Self { turns, walk, rows, size, .. } = self;
        rows.page.set_width(Some(size().0));
        while let Some(found) = turns.next_ended() {
            // A sheet takes everything.
            let _ = match found {
                Ok(turn) => walk.turn(turn, rows),
                Err(error) => walk.damage(&error, rows),
            };
        }
        if let Some(turn) = turns.going_on() {
            let _ = walk.going_on(turn, rows);
        }
        let told = self.sheet.replace(before);
        self.above(&told);
    }

    /// Writes whole lines, above the spinner if it turns.
    fn above(&self, lines: &[u8]) {
        match &self.spinner {
            _ if lines.is_empty() => {}
            None => self.sheet.bytes().extend_from_slice(lines),
            Some(bar) => {
                lock(&self.now).tail.clear();
                bar.suspend(|| self.sheet.bytes().extend_from_slice(lines));
                self.say(HOME);
            }
        }
    }

    /// Asks whether a call may run: shows what it would do.
    fn ask(&mut self, id: String, call: Option<&str>, name: &str, input: &str) {
        self.quiet();
        let turn = self.turns.going_on();
        let mut body = String::new();
        Str::escape(name, &mut body);
        let kind = kind_of(Dialect::CANONICAL, Str::trusted(&body));
        let is_meant = |found: &&Call| Some(&*found.id) == call && (found.name == name || found.kind == kind);
        let found = turn.and_then(|turn| turn.calls().into_iter().find(is_meant));
        // What the question says is what runs: a hook may have changed what the model wanted.
        let asked = found.cloned().zip(Json::new(input)).map(|(mut call, input): (Call, Json)| {
            call.input = input;
            call
        });
        // A sheet takes everything.
        let _ = match asked {
            Some(call) => {
                self.rows.asked.push(call.id.clone());
                self.rows.page.asked(&call)
            }
            None => self.rows.page.asked_of(name, input),
        };
        self.say("  Allow it? [y]es, [n]o, [a]lways: ");
        self.typed.clear();
        self.question = Some(Question { id });
    }

    fn answered(&mut self) {
        self.question = None;
        self.release();
    }

    /// Shows what was heard meanwhile.
    fn release(&mut self) {
        for line in std::mem::take(&mut self.held) {
            self.line(&line);
        }
    }

    fn say(&self, text: &str) {
        self.sheet.bytes().extend_from_slice(text.as_bytes());
    }

    /// Takes the spinner away.
    fn quiet(&mut self) {
        if let Some(spinner) = self.spinner.take() {
            spinner.finish_and_clear();
        }
    }

    /// What is done just now.
    fn below(&mut self) -> String {
        if self.stopping {
            return "stopping".to_owned();
        }
        let answering = !self.rows.coming.is_empty();
        let open = self.turns.going_on().map(open_calls).unwrap_or_default();
        match open.as_slice() {
            [] if answering => "answering".to_owned(),
            [] => "waiting for the model".to_owned(),
            [one] => one.clone(),
            [first, rest @ ..] => format!("{first} (+{})", rest.len()),
        }
    }
}

impl fmt::Debug for LivePage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LivePage").field("question", &self.question).finish_non_exhaustive()
    }
}

/// What turns while somebody waits, with what is done just now.
fn spinner(sheet: &Sheet, now: &Arc<Mutex<Now>>) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::term_like(Box::new(sheet.clone())));
    let (tail, below) = (now.clone(), now.clone());
    // The template is a constant that is one.
    let style = ProgressStyle::with_template("{tail}{spinner} {below}  {elapsed}").unwrap_or_else(|_| ProgressStyle::default_spinner());
    let style = style.with_key("tail", move |_: &ProgressState, to: &mut dyn fmt::Write| {
        let _ = to.write_str(&lock(&tail).tail);
    });
    bar.with_style(style.with_key("below", move |_: &ProgressState, to: &mut dyn fmt::Write| {
        let _ = to.write_str(&lock(&below).below);
    }))
}

fn lock<T>(what: &Mutex<T>) -> MutexGuard<'_, T> {
    // Nothing that holds it can panic in between.
    what.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The calls that wait for their results, those of subagents too.
fn open_calls(turn: &mut Turn) -> Vec<String> {
    let open = turn.calls().into_iter().filter(|call| call.result.is_none());
    open.map(|call| {
        let deed = call.deed();
        let words = format!("{} {}", deed.verb, first_line(&deed.object).0);
        shown(&words).replace(['\n', '\t'], " ")
    })
    .collect()
}

/// Where the end of a text begins that may still be seen.
fn start_of_tail(text: &str) -> usize {
    let start = text.ceil_char_boundary(text.len().saturating_sub(TAIL));
    if start == 0 {
        0
    } else {
        text[start..].find('\n').map_or(start, |at| start + at + 1)
    }
}

/// What a line says that cannot wait until it is settled.
#[derive(Debug, Default)]
struct About {
    text: Option<String>,
    begins_round: bool,
    ends_turn: bool,
    withdrawn: Option<String>,
    /// The question's id, the call's, the tool and its arguments.
    asks: Option<(String, Option<String>, String, String)>,
}

impl About {
    fn hear(&mut self, event: &Event<'_>) {
        let is_main = event.origin.parent.is_none();
        match event.kind {
            Kind::Delta(delta) if is_main => {
                if let Piece::Text(text) = delta.piece {
                    self.text.get_or_insert_default().push_str(&text.unescape());
                }
            }
            Kind::RoundStart(_) => self.begins_round |= is_main,
            Kind::Outcome(_) => self.ends_turn = true,
            Kind::Withdraw(withdraw) => self.withdrawn = withdraw.id.map(|id| id.as_escaped().to_owned()),
            Kind::Request(request) if request.kind == ControlKind::CanUseTool => {
                let asked = request.permission.copied().unwrap_or_default();
                self.asks = request.id.map(|id| {
                    let call = asked.call.map(|call| call.unescape().into_owned());
                    let input = asked.input.map_or("", |input| input.as_str());
                    (id.as_escaped().to_owned(), call, asked.name.unescape().into_owned(), input.to_owned())
                });
            }
            _ => {}
        }
    }
}
