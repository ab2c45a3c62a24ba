//! Drives a session: the host's two pipes, the back end, the clock and the signals, all served at the same time.

use std::any::Any;
use std::io::{self, IsTerminal as _};
use std::panic::AssertUnwindSafe;
use std::pin::{Pin, pin};
use std::task::Poll;
use std::time::{Duration, Instant};

use rustix::process::Signal;

use super::Session;
use super::policy::{self, Decision};
use crate::adapters::raw::event::{Content, Event, Input, InputKind, Kind, Origin, OutcomeKind, Place, Prompt, PromptSource};
use crate::adapters::raw::json::Str;
use crate::adapters::raw::live::{Heard, Listener};
use crate::backend::{Backend, Hurry, Said};
use crate::io::Console;
use crate::live;
use crate::record::{Recorder, Who};
use crate::show::LivePage;

/// Above this many bytes that the back end has not taken, the host is not read.
const PROMPTS: usize = 8 << 20;

/// Above this many bytes the host, which says so much and reads nothing, is not read either.
pub(crate) const DEAF: usize = 64 << 20;

/// How soon a host that is held back is looked at again.
pub(crate) const HELD: Duration = Duration::from_millis(5);

/// How long the last bytes may take to reach the host after a signal. Without one, a host that reads slowly has all the time it
/// wants.
pub(crate) const LAST_WORDS: Duration = Duration::from_secs(1);

/// How long an agent may take to end a turn that the person who watches wants to end.
const STOPPING: Duration = Duration::from_secs(5);

/// What Ctrl-C sends.
const INTERRUPT: i32 = Signal::INT.as_raw();

/// So much of a line that cannot be read stands in the log.
const SHOWN: usize = 4096;

/// The two sides, as they are read.
#[derive(Debug)]
pub struct Ears {
    /// What the host says.
    pub host: Listener,
    /// What the back end says.
    pub backend: Listener,
    /// Longer lines of the back end are left out.
    pub max_line: usize,
    /// How much the back end may say in a turn.
    pub max_turn: usize,
    /// Above this many bytes that the host has not taken, the back end is not read: it waits, and nothing is dropped.
    pub backlog: usize,
    /// What is heard and said is kept here.
    pub record: Option<Recorder>,
    /// Where a person watches: what is said is shown here.
    pub page: Option<LivePage>,
}

impl Ears {
    fn keep(&self, who: Who, bytes: &[u8]) {
        if let Some(record) = &self.record {
            record.said(who, bytes);
        }
    }

    /// Says what the reader of text is to be told besides: on standard error, or on the page if that is the same terminal.
    fn note(&self, session: &mut Session) {
        for text in session.take_words() {
            match &self.page {
                Some(page) if io::stderr().is_terminal() => page.note(&text),
                _ => Console::plain().say(&text),
            }
        }
    }

    /// Hands on what the session says: to the host, or to the page for a person.
    fn tell(&mut self, session: &mut Session, stdout: &mut live::Output) {
        self.keep(Who::Us, session.out());
        let Some(page) = &mut self.page else {
            return stdout.queue().append(session.out());
        };
        let now = Instant::now();
        let millis = session.millis(now);
        page.hear(session.out(), millis);
        session.out().clear();
        // One spinner on the way to a slow terminal is enough.
        if stdout.queued() == 0 {
            page.turn(now, session.busy());
        }
        stdout.queue().append(&mut page.out());
    }

    /// The same, and there is no more.
    fn tell_end(&mut self, session: &mut Session, stdout: &mut live::Output) {
        self.tell(session, stdout);
        if let Some(page) = &mut self.page {
            page.end();
            stdout.queue().append(&mut page.out());
        }
    }
}

/// Runs a session to its end and returns the exit code.
///
/// `prompt`: the only one, for hosts that do not talk over standard input; what is read there are then answers, if anything. `stop` resolves to the number
/// of a signal that asks us to end.
pub async fn run(
    session: &mut Session,
    ears: &mut Ears,
    backend: &mut dyn Backend,
    prompt: Option<&str>,
    stdin: Option<live::Input>,
    mut stdout: live::Output,
    stop: impl AsyncFnMut() -> i32,
) -> u8 {
    let panicked = match unpanicked(drive(session, ears, backend, prompt, stdin, &mut stdout, stop)).await {
        Ok(code) => return code,
        Err(panicked) => panicked,
    };
    // It may have happened in the session itself: what it can still say, it says, and the rest is left.
    let why = format!("agentglot itself failed, and this is a bug of it: {panicked}");
    let last_words = async {
        let _ = std::panic::catch_unwind(AssertUnwindSafe(|| {
            session.end_turns(OutcomeKind::Failed(Place::Backend), &why, true, Instant::now());
            session.finish();
        }));
        ears.tell_end(session, &mut stdout);
        let _ = tokio::time::timeout(LAST_WORDS, stdout.flush()).await;
    };
    let _ = unpanicked(last_words).await;
    let _ = unpanicked(backend.stop(&Hurry::none())).await;
    Console::plain().say(&why);
    std::panic::catch_unwind(AssertUnwindSafe(|| session.exit_code())).unwrap_or(1).max(1)
}

/// What a future gives, or what it panicked with.
async fn unpanicked<T>(future: impl Future<Output = T>) -> Result<T, String> {
    let mut future = std::pin::pin!(future);
    std::future::poll_fn(|cx| {
        // What it leaves behind is looked at with care, and by nobody else.
        match std::panic::catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(cx))) {
            Ok(poll) => poll.map(Ok),
            Err(panicked) => Poll::Ready(Err(words(&*panicked))),
        }
    })
    .await
}

/// What a panic says.
pub(crate) fn words(panicked: &(dyn Any + Send)) -> String {
    let text = panicked.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panicked.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "no reason is known".to_owned())
}

async fn drive(
    session: &mut Session,
    ears: &mut Ears,
    backend: &mut dyn Backend,
    prompt: Option<&str>,
    mut stdin: Option<live::Input>,
    stdout: &mut live::Output,
    mut stop: impl AsyncFnMut() -> i32,
) -> u8 {
    let mut room = vec![0; crate::io::READ];
    let mut said_bytes = Vec::new();
    let mut signal = None;
    let mut reader_gone = false;
    // Why our output cannot be written, if not because nobody reads it.
    let mut unwritten = None;
    let mut backend_over = false;
    // Until when a back end may end by itself.
    let mut dismissed: Option<Instant> = None;
    if let Some(prompt) = prompt {
        say_prompt(session, prompt, backend);
    }
    if prompt.is_some() || stdin.is_none() {
        backend.close();
    }
    let mut deciding = None;
    // The signal by which a person wants the turn to end, and how long the agent may take for it.
    let mut stopping: Option<(i32, Instant)> = None;
    loop {
        session.go_on(Instant::now(), backend);
        if deciding.is_none() {
            let patience = session.patience();
            deciding = session.next_undecided().map(|question| Box::pin(policy::ask(question, patience)));
        }
        ears.note(session);
        ears.tell(session, stdout);
        // A turn that nobody asked for is none that the session counts.
        let at_work = session.busy() || backend.at_work() && !session.broke_off();
        let done = (prompt.is_some() || stdin.is_none()) && !at_work;
        let hold = stdout.queued() >= ears.backlog;
        if let Some((number, _)) = stopping.filter(|(_, until)| !session.busy() || *until <= Instant::now()) {
            signal = Some(number);
        }
        if !done || hold {
            dismissed = None;
        } else if dismissed.is_none() {
            backend.dismiss();
            // Before the first turn, and behind one that was broken off, there is nothing to finish but answers.
            let patience = if session.ended_by_agent() || session.owes_answers() {
                session.shutdown()
            } else {
                Duration::ZERO
            };
            dismissed = Some(Instant::now() + patience);
        }
        let too_late = dismissed.is_some_and(|until| until <= Instant::now());
        if session.over() || reader_gone || signal.is_some() || too_late || (backend_over && !session.busy()) {
            break;
        }
        let deaf = stdin.is_some() && (backend.queued() + session.queued() >= PROMPTS || stdout.queued() >= DEAF);
        // While the host takes nothing the agent is not listened to, so its silence means nothing.
        let wake = if hold { session.due_host() } else { session.deadline() };
        let wake = if deaf { Some(Instant::now() + HELD) } else { wake };
        let turns = ears.page.as_ref().filter(|_| stdout.queued() == 0).and_then(LivePage::due);
        let wake = wake
            .into_iter()
            .chain(dismissed)
            .chain(turns)
            .chain(stopping.map(|(_, until)| until))
            .min();
        tokio::select! {
            biased;
            number = stop() => match &mut ears.page {
                Some(page) if number == INTERRUPT && stopping.is_none() && session.busy() => {
                    session.stop_turn(backend);
                    page.stops();
                    stopping = Some((number, Instant::now() + STOPPING));
                }
                _ => signal = Some(number),
            },
            flow = stdout.serve() => {
                reader_gone = !matches!(flow, Ok(live::Flow::Written));
                unwritten = flow.err();
            }
            read = read_some(&mut stdin, &mut room), if stdin.is_some() && !deaf => {
                if hear_host(session, ears, backend, &room, read) {
                    stdin = None;
                }
            }
            decision = decided(&mut deciding), if deciding.is_some() => {
                deciding = None;
                session.decided(&decision, Instant::now(), backend);
            }
            () = crate::io::journal::ready(), if session.wants_log() && !hold => session.log(crate::io::journal::take()),
            said = backend.read(&mut said_bytes), if !hold && !backend_over => {
                // Its end is what it was asked for.
                let said = if dismissed.is_some() && matches!(said, Said::Over(_)) { Said::Over(None) } else { said };
                backend_over = hear_backend(session, ears, backend, &mut said_bytes, said);
                // One that talks without a pause keeps nobody from looking at the clock.
                if wake.is_some_and(|wake| wake <= Instant::now()) {
                    backend_over |= session.tick(Instant::now(), backend);
                }
            }
            () = sleep_until(wake) => {
                if hold {
                    session.waited(Instant::now());
                }
                backend_over |= session.tick(Instant::now(), backend);
            }
        }
    }
    // Nobody has heard how the turn ended.
    let unheard = reader_gone && session.busy();
    let breaks_off = signal.is_some() && session.breaks_off();
    if signal.is_some() && !breaks_off {
        if session.busy() {
            session.say_unfinished();
        }
        session.end_turns(OutcomeKind::Cancelled, "stopped by a signal", true, Instant::now());
    }
    if session.wants_log() {
        session.log(crate::io::journal::take());
    }
    if !breaks_off {
        session.finish();
    }
    ears.note(session);
    if let Some(number) = signal {
        session.stopped(number);
    }
    ears.tell_end(session, stdout);
    let no_time = signal.is_some() || dismissed.is_some() && session.ended_by_agent();
    let failed = part(backend, no_time, stdout, &mut signal, &mut stop).await;
    let unwritten = unwritten.or(failed);
    if let Some(error) = &unwritten {
        Console::plain().say(&format!("standard output cannot be written: {error}"));
    }
    match signal {
        Some(number) => session.code_of_signal(number),
        None if unwritten.is_some() || unheard => session.exit_code().max(1),
        None => session.exit_code(),
    }
}

/// Says the last words and ends the back end, both at the same time. A signal leaves neither of them time; one that comes when all is said hurries
/// the back end, and changes no more how it ended. Returns why the words could not be said.
async fn part(
    backend: &mut dyn Backend,
    no_time: bool,
    stdout: &mut live::Output,
    signal: &mut Option<i32>,
    stop: &mut impl AsyncFnMut() -> i32,
) -> Option<io::Error> {
    let (say, hurry) = Hurry::new(no_time);
    let mut gone = pin!(backend.stop(&hurry));
    let (mut is_gone, mut is_said, mut failed) = (false, false, None);
    let mut hurried = signal.is_some();
    let mut until = hurried.then(|| Instant::now() + LAST_WORDS);
    while !(is_said && is_gone) {
        tokio::select! {
            biased;
            flow = stdout.flush(), if !is_said => (is_said, failed) = (true, flow.err()),
            number = stop(), if !hurried => {
                hurried = true;
                say.send_replace(true);
                until = Some(Instant::now() + LAST_WORDS);
                if !is_said {
                    *signal = Some(number);
                }
            }
            () = sleep_until(until), if !is_said => is_said = true,
            () = &mut gone, if !is_gone => is_gone = true,
        }
    }
    failed
}

/// Gives the session the one prompt of a host that does not talk.
fn say_prompt(session: &mut Session, prompt: &str, backend: &mut dyn Backend) {
    let mut body = String::new();
    Str::escape(prompt, &mut body);
    let prompt = Prompt {
        content: Content::Text(Str::trusted(&body)),
        source: PromptSource::Host,
    };
    let input = Input {
        origin: Origin::default(),
        kind: InputKind::Prompt(&prompt),
        fields: &[],
    };
    session.host(&Heard::Input(&input), Instant::now(), backend);
}

/// Hands on what the host said. Returns whether it will say nothing more.
fn hear_host(session: &mut Session, ears: &mut Ears, backend: &mut dyn Backend, room: &[u8], read: io::Result<usize>) -> bool {
    let now = Instant::now();
    let read = read.unwrap_or(0);
    ears.keep(Who::Host, &room[..read]);
    if let Some(page) = &mut ears.page {
        let chosen = if read == 0 {
            page.hear_no_more()
        } else {
            page.hear_typed(&room[..read])
        };
        if let Some(chosen) = chosen {
            session.chosen(chosen, now, backend);
        }
        if read == 0 {
            session.host_gone(now, backend);
        }
        return read == 0;
    }
    let mut hear = |heard: Heard<'_, '_>| session.host(&heard, now, backend);
    ears.host.feed(&room[..read], &mut hear);
    if read == 0 {
        ears.host.finish(&mut hear);
    }
    let over = read == 0 || session.host_ends();
    if over {
        session.host_gone(now, backend);
        backend.close();
    }
    over
}

/// Hands on what the back end said. Returns whether it will say nothing more.
fn hear_backend(session: &mut Session, ears: &mut Ears, backend: &mut dyn Backend, bytes: &mut Vec<u8>, said: Said) -> bool {
    let now = Instant::now();
    ears.keep(Who::Agent, bytes);
    if session.heard_bytes(bytes.len(), ears.max_turn, now) {
        return true;
    }
    // How long the last line is that could not be read.
    let mut cut = None;
    let mut ended = false;
    let mut hear = |heard: Heard<'_, '_>| {
        ended |= matches!(heard, Heard::Event(Event { kind: Kind::Outcome(_), .. }));
        if let Heard::Damaged { line, byte, bytes, why } = &heard {
            cut = Some(bytes.len());
            let shown = String::from_utf8_lossy(&bytes[..bytes.len().min(SHOWN)]);
            tracing::warn!(line, byte, bytes = bytes.len(), text = %shown, "a line of the agent cannot be read: {why}");
        }
        session.backend(&heard, now, backend);
    };
    ears.backend.feed(bytes, &mut hear);
    bytes.clear();
    if matches!(said, Said::Over(_) | Said::Ended(_)) {
        ears.backend.finish(&mut hear);
    }
    let cut = |why: String| match cut {
        Some(bytes) => format!("{why}; it ended in the middle of a line of {bytes} bytes"),
        None => why,
    };
    match said {
        Said::Bytes => return false,
        Said::Asks(question) => {
            ears.keep(Who::Agent, &question.text);
            session.asks(&question, now, backend);
        }
        Said::AsksServer(message) => session.asks_server(&message, now, backend),
        Said::Denied(why) => session.end_turns(OutcomeKind::Failed(Place::Tool), &why, false, now),
        Said::Ended(_) if ended => {}
        Said::Ended(why) | Said::Failed(why) => session.end_turns(OutcomeKind::Failed(Place::Backend), &cut(why), false, now),
        Said::Answered => session.prompt_answered(now),
        Said::Speaks(format) => {
            ears.backend = Listener::to_agent(format, ears.max_line);
            session.speaks(format);
        }
        Said::Cancelled => session.end_turns(OutcomeKind::Cancelled, "stopped by the host", false, now),
        Said::Over(why) => {
            session.backend_over(why.map(cut), now);
            return true;
        }
    }
    false
}

async fn read_some(stdin: &mut Option<live::Input>, room: &mut [u8]) -> io::Result<usize> {
    match stdin {
        Some(stdin) => stdin.read(room).await,
        None => std::future::pending().await,
    }
}

async fn decided(deciding: &mut Option<Pin<Box<impl Future<Output = Decision>>>>) -> Decision {
    match deciding {
        Some(deciding) => deciding.await,
        None => std::future::pending().await,
    }
}

/// Sleeps until then; without a time, for ever.
pub(crate) async fn sleep_until(wake: Option<Instant>) {
    match wake {
        Some(wake) => tokio::time::sleep_until(wake.into()).await,
        None => std::future::pending().await,
    }
}
