//! A program in which one host has many sessions ([`SessionServer`]): the host's two pipes, a process of our own for each session, the clock and the
//! signals, all served at the same time.

mod marks;
mod stored_sessions;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{ErrorKind, Write};
use std::pin::pin;
use std::time::{Duration, Instant};

use agentglot_adapters::raw::frame::{Line, Lines};
use agentglot_adapters::raw::launch::{self, Answerer, InputFormat, Launch, Program};
use agentglot_adapters::raw::live::{Heard, Listener};
use agentglot_adapters::raw::server::{Action, Actions, Listed, Open, SessionServer, Setup, Wait, inside};
use stored_sessions::{Keeper, Said, lines_of};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use crate::agent::store::own_root;
use crate::backend::choice::Choice;
use crate::backend::{Hurry, end};
use crate::child::{Child, Environment, Plan, Steps, leftover};
use crate::command::run::{Run, clock};
use crate::io::Console;
use crate::live;
use crate::session::Timers;
use crate::session::run::{DEAF, HELD, LAST_WORDS, sleep_until};
use crate::status::Failure;

/// How long all programs together may take to end: longer than the steps in which each is stopped.
const ENDING: Duration = Duration::from_secs(6);

/// So many pieces of what sessions say may wait for us before their programs have to.
const PIECES: usize = 8;

/// So much of what a program last wrote to standard error is told.
const SHOWN: usize = 2000;

/// What comes from a session's program.
enum Came {
    Bytes(Vec<u8>),
    /// It has ended by itself, for this reason.
    Over(String),
}

/// What was looked up about sessions of before.
enum Found {
    /// What was said in this one.
    Said(String, Result<Option<Said>, String>),
    /// Those that this request asks for.
    List(String, Result<Vec<Listed>, String>),
    /// What became of a wish of this request's about a session.
    Kept(String, String, Result<Option<Listed>, String>),
}

/// The program of a session.
struct Running {
    /// Which of those with this session's name it is.
    number: u64,
    tell: mpsc::UnboundedSender<Vec<u8>>,
    reader: Listener,
    /// What is waited for, and since when.
    waits: Option<(Wait, Instant)>,
}

/// All sessions, and what serves them.
struct Server<'r> {
    run: &'r Run,
    /// Which program holds each of them.
    program: &'static Program,
    protocol: Box<dyn SessionServer>,
    sessions: BTreeMap<String, Running>,
    tasks: Vec<JoinHandle<()>>,
    /// Whether they have time to end by themselves.
    hurry: Hurry,
    came: mpsc::Sender<(String, u64, Came)>,
    numbers: u64,
    /// The host is held back; since then, or since the clocks were last looked at.
    held: Option<Instant>,
    /// Where sessions are kept.
    keeper: Keeper,
    found: mpsc::UnboundedSender<Found>,
    /// How much is being looked up there.
    lookups: usize,
}

/// Runs until the host has gone. Returns the exit code. `stop` resolves to the number of a signal that asks us to end.
///
/// # Errors
/// When there are no pipes to the host.
pub(crate) async fn run(run: &Run, launch: &Launch, protocol: Open, mut stop: impl AsyncFnMut() -> i32) -> Result<u8, Failure> {
    let stdin = live::Input::stdin().map_err(|error| Failure::Read {
        name: "standard input".to_owned(),
        error,
    })?;
    let mut stdout = live::Output::stdout().map_err(Failure::of_stdout)?;
    let program = inside();
    let (came, mut comes) = mpsc::channel(PIECES);
    let (found, mut finds) = mpsc::unbounded_channel();
    let choice = run.backend.clone().or_else(|| Choice::of_environment(run.dialect));
    let (say, hurry) = Hurry::new(false);
    let mut server = Server {
        run,
        program,
        protocol: protocol(Setup {
            launch: Launch {
                format: program.dialect.into(),
                input: InputFormat::StreamJson,
                answerer: Answerer::Host,
                partial: true,
                cwd: Some(absolute(launch.cwd.as_deref().unwrap_or("."))),
                // Each session's program is in a folder of its own.
                add_dirs: launch.add_dirs.iter().map(|dir| absolute(dir)).collect(),
                ..launch.clone()
            },
            new_id: || uuid::Uuid::new_v4().to_string(),
            now: || i64::try_from(clock().millis).unwrap_or(i64::MAX),
            system: [std::env::consts::FAMILY, std::env::consts::OS, std::env::consts::ARCH],
            most: run.max_sessions,
            home: own_root(&|name| std::env::var_os(name)).map_or_else(|| absolute("."), |path| path.to_string_lossy().into_owned()),
        }),
        sessions: BTreeMap::new(),
        tasks: Vec::new(),
        hurry,
        came,
        numbers: 0,
        held: None,
        keeper: Keeper::of(choice.as_ref(), program.dialect, run),
        found,
        lookups: 0,
    };
    let mut lines = Lines::new(run.max_prompt.min(run.max_line));
    let mut buffer = vec![0; crate::io::READ];
    let mut signal = None;
    // Why our output cannot be written, if not because nobody reads it.
    let mut unwritten = None;
    // The host says nothing more: what it has asked is answered first.
    let mut gone = false;
    loop {
        if gone && server.lookups == 0 && !server.protocol.is_busy() {
            break;
        }
        let hold = stdout.queued() >= run.max_queued;
        server.look_at_clocks(hold, &mut stdout);
        let deaf = stdout.queued() >= DEAF;
        let held = deaf.then(|| Instant::now() + HELD);
        let due = if hold { None } else { server.due() };
        let wake = due.into_iter().chain(held).min();
        tokio::select! {
            biased;
            number = stop() => {
                signal = Some(number);
                break;
            }
            flow = stdout.serve() => match flow {
                Ok(live::Flow::Written) => {}
                flow => {
                    unwritten = flow.err();
                    break;
                }
            },
            read = stdin.read(&mut buffer), if !deaf && !gone => match read {
                Ok(0) => {
                    lines.finish(|line| server.hear(line, &mut stdout));
                    gone = true;
                    server.deal(|protocol, actions| protocol.left(actions), &mut stdout);
                }
                Ok(read) => lines.feed(&buffer[..read], |line| server.hear(line, &mut stdout)),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => {
                    Console::plain().say(&format!("standard input cannot be read: {error}"));
                    break;
                }
            },
            Some((session, number, came)) = comes.recv(), if !hold => server.came(&session, number, came, &mut stdout),
            Some(found) = finds.recv(), if !hold => server.found(found, &mut stdout),
            () = sleep_until(wake) => {}
        }
    }
    server.deal(|protocol, actions| protocol.stop("the program was stopped", actions), &mut stdout);
    // Nobody is told any more what they say.
    drop(comes);
    server.sessions.clear();
    let ended = async {
        for task in server.tasks.drain(..) {
            let _ = task.await;
        }
    };
    // A signal that comes only now hurries them too.
    let hurried = async {
        if signal.is_none() {
            stop().await;
        }
        say.send_replace(true);
        std::future::pending::<()>().await;
    };
    let ended = async {
        tokio::select! {
            biased;
            () = ended => {}
            () = hurried => {}
            () = tokio::time::sleep(ENDING) => {}
        }
    };
    let last_words = tokio::time::timeout(LAST_WORDS, stdout.flush());
    let ((), said) = tokio::join!(ended, last_words);
    let unwritten = unwritten.or_else(|| said.ok().and_then(Result::err));
    if let Some(error) = &unwritten {
        Console::plain().say(&format!("standard output cannot be written: {error}"));
    }
    Ok(match signal {
        Some(number) => u8::try_from(128 + number).unwrap_or(1),
        None => u8::from(unwritten.is_some()),
    })
}

impl Server<'_> {
    /// Hears a line of the host's, and goes on.
    fn hear(&mut self, line: Line<'_>, stdout: &mut live::Output) -> bool {
        match line {
            Line::Whole { bytes: line, .. } => self.deal(|protocol, actions| protocol.hear(line, actions), stdout),
            Line::Oversize { bytes, start, .. } => {
                let why = format!("the line has {bytes} bytes, more than --max-prompt and --max-line allow, and was left out");
                Console::plain().say(&why);
                self.deal(|protocol, actions| protocol.left_out(start, &why, actions), stdout);
            }
        }
        true
    }

    fn came(&mut self, session: &str, number: u64, came: Came, stdout: &mut live::Output) {
        let Some(running) = self.sessions.get_mut(session).filter(|running| running.number == number) else {
            return;
        };
        let mut actions = Actions::default();
        let protocol = &mut self.protocol;
        match came {
            Came::Bytes(bytes) => running
                .reader
                .feed(&bytes, &mut |heard| tell(protocol.as_mut(), session, &heard, &mut actions)),
            Came::Over(why) => {
                running.reader.finish(&mut |heard| tell(protocol.as_mut(), session, &heard, &mut actions));
                self.protocol.ended(session, &why, &mut actions);
                self.sessions.remove(session);
            }
        }
        self.do_all(actions, stdout);
    }

    /// Lets the protocol deal with something, and does what comes of it.
    fn deal(&mut self, what: impl FnOnce(&mut dyn SessionServer, &mut Actions), stdout: &mut live::Output) {
        let mut actions = Actions::default();
        what(self.protocol.as_mut(), &mut actions);
        self.do_all(actions, stdout);
    }

    /// Does what is to be done, and what follows from that.
    fn do_all(&mut self, mut actions: Actions, stdout: &mut live::Output) {
        self.protocol.spare(&mut actions.out);
        stdout.queue().append(&mut actions.out);
        for note in actions.notes {
            tracing::warn!("{note}");
        }
        for action in actions.todo {
            let mut follows = Actions::default();
            self.one(action, &mut follows);
            self.do_all(follows, stdout);
        }
    }

    fn one(&mut self, action: Action, follows: &mut Actions) {
        match action {
            Action::Open(session, launch) => {
                if let Err(why) = self.open(&session, &launch) {
                    self.protocol.ended(&session, &why, follows);
                }
            }
            Action::Tell(session, lines) => {
                if let Some(running) = self.sessions.get(&session) {
                    // A program that has ended says so itself.
                    let _ = running.tell.send(lines);
                }
            }
            Action::Recall { session, cwd } => self.look_up(move |keeper| {
                let said = keeper.read(&session, cwd.as_deref());
                Found::Said(session, said)
            }),
            Action::List { request, cwd } => self.look_up(move |keeper| {
                let listed = keeper.list(cwd.as_deref());
                Found::List(request, listed)
            }),
            Action::Mark { request, session, mark } => self.look_up(move |keeper| {
                let kept = keeper.mark(&session, &mark);
                Found::Kept(request, session, kept)
            }),
            Action::Keep { session, id } => {
                let keeper = self.keeper.clone();
                tokio::task::spawn_blocking(move || keeper.note(&session, &id));
            }
            Action::Close(session) => drop(self.sessions.remove(&session)),
        }
    }

    fn open(&mut self, session: &str, launch: &Launch) -> Result<(), String> {
        let dialect = self.program.dialect;
        // What is left over means something to the host's program alone.
        let launch = Launch {
            rest: Vec::new(),
            unknown: Vec::new(),
            ..launch.clone()
        };
        let line = launch::argv(self.program, &launch).map_err(|error| error.to_string())?;
        let mut args: Vec<OsString> = ["run", "--as", dialect.name(), "--"].into_iter().map(OsString::from).collect();
        args.extend(line.args.iter().map(OsString::from));
        let mut files = Vec::new();
        for part in &line.files {
            let mut file = leftover::file(".json").map_err(|error| error.to_string())?;
            file.write_all(part.text.as_bytes()).map_err(|error| error.to_string())?;
            args.push(format!("{}={}", part.flag, file.path().display()).into());
            files.push(file);
        }
        let mut env = Environment::nothing().allow(["*"]);
        for (name, value) in &self.run.said {
            env = env.set(name, value);
        }
        for (name, value) in &line.variables {
            env = env.set(name, value);
        }
        let plan = Plan {
            env,
            cwd: launch.cwd.as_ref().map(Into::into),
            keeps_daemons: self.run.keep_daemons,
            // Editors keep what an agent writes there.
            pass_stderr: true,
            ..Plan::ourselves().map_err(|error| error.to_string())?
        };
        let child = Child::start(plan.args(args)).map_err(|error| error.to_string())?;
        let (tell, told) = mpsc::unbounded_channel();
        self.numbers += 1;
        let (name, number, came, hurry) = (session.to_owned(), self.numbers, self.came.clone(), self.hurry.clone());
        self.tasks.retain(|task| !task.is_finished());
        self.tasks.push(tokio::spawn(async move {
            serve(child, told, name, number, came, &hurry).await;
            drop(files);
        }));
        let running = Running {
            number,
            tell,
            reader: Listener::to_agent(dialect, self.run.max_line),
            waits: None,
        };
        self.sessions.insert(session.to_owned(), running);
        Ok(())
    }

    /// Looks for sessions of before, beside all else.
    fn look_up(&mut self, what: impl FnOnce(&Keeper) -> Found + Send + 'static) {
        let (keeper, found) = (self.keeper.clone(), self.found.clone());
        self.lookups += 1;
        // Nobody is told any more what is found behind the end.
        tokio::task::spawn_blocking(move || _ = found.send(what(&keeper)));
    }

    fn found(&mut self, found: Found, stdout: &mut live::Output) {
        self.lookups -= 1;
        let mut follows = Actions::default();
        match found {
            Found::Said(session, said) => self.recall(&session, said, &mut follows),
            Found::List(request, listed) => {
                let listed = listed.as_deref().map_err(String::as_str);
                self.protocol.listed(&request, listed, &mut follows);
            }
            Found::Kept(request, session, kept) => {
                let kept = kept.as_ref().map(Option::as_ref).map_err(String::as_str);
                self.protocol.kept(&request, &session, kept, &mut follows);
            }
        }
        self.do_all(follows, stdout);
    }

    /// Tells what was said in a session before.
    fn recall(&mut self, session: &str, said: Result<Option<Said>, String>, follows: &mut Actions) {
        let mut found = None;
        match said {
            Ok(Some(said)) => {
                follows.notes.extend(said.notes);
                found = Some(said.kept);
                let mut reader = Listener::to_agent(lines_of(self.program.dialect), self.run.max_line);
                let protocol = &mut self.protocol;
                let mut hear = |heard: Heard<'_, '_>| {
                    if let Heard::Event(event) = heard {
                        protocol.recall(session, event, follows);
                    }
                };
                reader.feed(&said.lines, &mut hear);
                reader.finish(&mut hear);
            }
            Ok(None) => {}
            Err(why) => follows.notes.push(why),
        }
        self.protocol.recalled(session, found.as_ref(), follows);
    }

    /// Until when something has to happen.
    fn due(&self) -> Option<Instant> {
        let due = self.sessions.values().filter_map(|running| {
            let (wait, since) = running.waits?;
            since.checked_add(patience(wait, &self.run.timers))
        });
        due.min()
    }

    /// Ends the sessions that were waited for too long. While the host is held back nobody is listened to, and what is waited for may have been
    /// said long ago: no clock goes on then.
    fn look_at_clocks(&mut self, hold: bool, stdout: &mut live::Output) {
        let now = Instant::now();
        let stood = self.held.map_or(Duration::ZERO, |held| now.duration_since(held));
        self.held = hold.then_some(now);
        let mut late = Vec::new();
        for (name, running) in &mut self.sessions {
            let waits = self.protocol.waits(name);
            running.waits = match running.waits {
                Some((wait, since)) if waits == Some(wait) => Some((wait, since + stood)),
                _ => waits.map(|wait| (wait, now)),
            };
            if let Some((wait, since)) = running.waits
                && !hold
                && now.duration_since(since) >= patience(wait, &self.run.timers)
            {
                late.push((name.clone(), wait));
            }
        }
        for (name, wait) in late {
            let why = match wait {
                Wait::Begin => "its program did not begin in time",
                Wait::Stop => "its turn did not stop in time",
            };
            let mut actions = Actions::default();
            self.protocol.ended(&name, why, &mut actions);
            self.sessions.remove(&name);
            self.do_all(actions, stdout);
        }
    }
}

/// A folder's path from everywhere.
fn absolute(path: &str) -> String {
    std::path::absolute(path).map_or_else(|_| path.to_owned(), |path| path.to_string_lossy().into_owned())
}

const fn patience(wait: Wait, timers: &Timers) -> Duration {
    match wait {
        Wait::Begin => timers.start,
        Wait::Stop => timers.control,
    }
}

fn tell(protocol: &mut dyn SessionServer, session: &str, heard: &Heard<'_, '_>, actions: &mut Actions) {
    match heard {
        Heard::Event(event) => protocol.said(session, event, actions),
        Heard::Input(_) => {}
        Heard::Damaged { why, .. } => actions.notes.push(format!("session {session}: a line that cannot be read: {why}")),
    }
}

/// Serves a session's program until it ends, or nobody has anything to say to it any more.
async fn serve(
    child: Child,
    mut told: mpsc::UnboundedReceiver<Vec<u8>>,
    name: String,
    number: u64,
    came: mpsc::Sender<(String, u64, Came)>,
    hurry: &Hurry,
) {
    let mut buffer = vec![0; crate::io::READ];
    loop {
        tokio::select! {
            biased;
            lines = told.recv() => match lines {
                // One that does not take it has ended, and is read to its end.
                Some(lines) => _ = child.write(&lines),
                None => {
                    end(Some(child), hurry).await;
                    return;
                }
            },
            read = child.read(&mut buffer) => match read {
                Ok(read @ 1..) => {
                    let sent = came.send((name.clone(), number, Came::Bytes(buffer[..read].to_vec())));
                    let mut sent = pin!(sent);
                    // Whoever waits for room to be heard listens all the same.
                    loop {
                        tokio::select! {
                            biased;
                            _ = &mut sent => break,
                            lines = told.recv() => match lines {
                                Some(lines) => _ = child.write(&lines),
                                None => {
                                    end(Some(child), hurry).await;
                                    return;
                                }
                            },
                        }
                    }
                }
                _ => break,
            },
        }
    }
    child.begin_stop(Steps::default());
    let ending = child.ended().await;
    let words = child.stderr_tail();
    let words = String::from_utf8_lossy(&words[words.len().saturating_sub(SHOWN)..]);
    let words = words.trim();
    let how = ending
        .exit
        .map_or_else(|| "its program ended".to_owned(), |exit| format!("its program {exit}"));
    let why = if words.is_empty() { how } else { format!("{how}: {words}") };
    let _ = came.send((name, number, Came::Over(why))).await;
}
