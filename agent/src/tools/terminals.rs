//! Commands that somebody else follows: an agent that is another program has them run here, looks at what they have written, waits for their
//! ends. Nothing of them is left when they are released, or the session is over.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Duration;

use tokio::sync::watch;
use tokio::task::{JoinHandle, spawn_local};
use tokio_util::sync::CancellationToken;

use super::shell::follow::Running;
use super::shell::kept::{whole_end, whole_start};
use super::shell::{CannotRun, Commands, Order};
use crate::tools::Progress;
use agentglot_process::{Exit, Tail};

/// How many terminals there may be at once, whether their commands have ended or not.
pub const MOST: usize = 64;

/// How many of the last bytes of an output are kept where nobody says it, and at most.
pub const KEPT: usize = 1 << 20;
/// See [`KEPT`].
pub const MOST_KEPT: usize = 4 << 20;

/// How long commands have to end when they are ended, before nobody waits for them any more.
const PATIENCE: Duration = Duration::from_secs(4);

/// The terminals of a session. To be used inside a [`tokio::task::LocalSet`].
#[derive(Debug)]
pub struct Terminals {
    commands: Rc<Commands>,
    all: RefCell<BTreeMap<String, Entry>>,
    /// How many there were.
    count: Cell<u64>,
    /// Those that were released while their commands ran.
    ending: RefCell<Vec<Ending>>,
}

#[derive(Debug)]
struct Entry {
    output: Rc<RefCell<Tail>>,
    ending: Ending,
}

/// The end of a command.
#[derive(Debug)]
struct Ending {
    stop: CancellationToken,
    state: watch::Receiver<State>,
    follower: JoinHandle<()>,
}

/// How a command stands. One that has ended may have ended in a way that nobody knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// It runs.
    Running,
    /// It has ended; `None` if even `SIGKILL` did not end it.
    Ended(Option<Exit>),
}

/// What a command has written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Output {
    /// The end of it: both streams, in the order in which they were written. What is no UTF-8 is U+FFFD.
    pub text: String,
    /// There was more before that.
    pub cut: bool,
    /// How it stands.
    pub state: State,
}

/// Why there is no such terminal.
#[derive(Debug, thiserror::Error)]
pub enum NoTerminal {
    /// It never was, or was released.
    #[error("there is no terminal {0:?}")]
    Unknown(String),
    /// There are too many.
    #[error("there are {MOST} terminals already; release one of them first")]
    Many,
    /// Its command was not started.
    #[error(transparent)]
    NotRun(#[from] CannotRun),
}

impl Terminals {
    /// None yet.
    pub fn new(commands: Rc<Commands>) -> Self {
        Self {
            commands,
            all: RefCell::default(),
            count: Cell::default(),
            ending: RefCell::default(),
        }
    }

    /// Starts a command, and returns at once. `keep`: so many of the last bytes that it writes, [`MOST_KEPT`] at most.
    ///
    /// # Errors
    /// When it was not run, or there are too many.
    pub fn start(&self, order: Order<'_>, keep: Option<u64>) -> Result<String, NoTerminal> {
        self.ending.borrow_mut().retain(Ending::is_running);
        if self.all.borrow().len() + self.ending.borrow().len() >= MOST {
            return Err(NoTerminal::Many);
        }
        let running = Running::start(
            &self.commands,
            Order {
                merged: true,
                keep: (0, 0),
                timeout: None,
                whole: None,
                ..order
            },
        )?;
        let keep = keep.map_or(KEPT, |keep| usize::try_from(keep).unwrap_or(MOST_KEPT).min(MOST_KEPT));
        let output = Rc::new(RefCell::new(Tail::new(keep)));
        let (tell, state) = watch::channel(State::Running);
        let stop = CancellationToken::new();
        let (commands, token, into) = (Rc::clone(&self.commands), stop.clone(), Rc::clone(&output));
        let follower = spawn_local(async move {
            let push = |progress: Progress<'_>| {
                let (Progress::Stdout(bytes) | Progress::Stderr(bytes)) = progress;
                into.borrow_mut().push(bytes);
            };
            let ran = running.end(&commands, &token, &push).await;
            tell.send_replace(State::Ended(ran.exit));
        });
        self.count.set(self.count.get() + 1);
        let id = format!("terminal-{}", self.count.get());
        let ending = Ending { stop, state, follower };
        self.all.borrow_mut().insert(id.clone(), Entry { output, ending });
        Ok(id)
    }

    fn with<T>(&self, id: &str, what: impl FnOnce(&Entry) -> T) -> Result<T, NoTerminal> {
        self.all.borrow().get(id).map(what).ok_or_else(|| NoTerminal::Unknown(id.to_owned()))
    }

    /// What a command has written by now.
    ///
    /// # Errors
    /// When there is none of this id.
    pub fn output(&self, id: &str) -> Result<Output, NoTerminal> {
        self.with(id, |entry| {
            let state = *entry.ending.state.borrow();
            let output = entry.output.borrow();
            let cut = output.total > output.kept() as u64;
            let bytes = output.to_vec();
            let most = bytes.len();
            let bytes = if cut { whole_start(&bytes) } else { &bytes };
            // The rest of a character may be on its way.
            let bytes = if state == State::Running { whole_end(bytes) } else { bytes };
            let text = String::from_utf8_lossy(bytes);
            let fits = ending(&text, most.max(bytes.len()));
            Output {
                cut: cut || fits.len() < text.len(),
                text: fits.to_owned(),
                state,
            }
        })
    }

    /// How a command stands, to be waited for.
    ///
    /// # Errors
    /// When there is none of this id.
    pub fn watch(&self, id: &str) -> Result<watch::Receiver<State>, NoTerminal> {
        self.with(id, |entry| entry.ending.state.clone())
    }

    /// Ends a command; one that has ended already stays what it is. It is over when [its state](Self::watch) says so.
    ///
    /// # Errors
    /// When there is none of this id.
    pub fn kill(&self, id: &str) -> Result<(), NoTerminal> {
        self.with(id, |entry| entry.ending.stop.cancel())
    }

    /// Forgets a terminal, and ends its command.
    ///
    /// # Errors
    /// When there is none of this id.
    pub fn release(&self, id: &str) -> Result<(), NoTerminal> {
        let entry = self.all.borrow_mut().remove(id);
        let entry = entry.ok_or_else(|| NoTerminal::Unknown(id.to_owned()))?;
        entry.ending.stop.cancel();
        self.ending.borrow_mut().push(entry.ending);
        Ok(())
    }

    /// Ends all of them, and waits until nothing is left.
    pub async fn end(&self) {
        let all = std::mem::take(&mut *self.all.borrow_mut());
        let mut ending = std::mem::take(&mut *self.ending.borrow_mut());
        ending.extend(all.into_values().map(|entry| entry.ending));
        ending.iter().for_each(|ending| ending.stop.cancel());
        let over = async {
            for ending in &mut ending {
                let _ = ending.state.wait_for(|state| *state != State::Running).await;
            }
        };
        let _ = tokio::time::timeout(PATIENCE, over).await;
        self.commands.end().await;
    }
}

impl Ending {
    fn is_running(&self) -> bool {
        *self.state.borrow() == State::Running
    }
}

impl Drop for Ending {
    fn drop(&mut self) {
        // What follows a command kills it when it is dropped.
        self.follower.abort();
    }
}

/// The end of a text with at most so many bytes.
fn ending(text: &str, most: usize) -> &str {
    let mut from = text.len().saturating_sub(most);
    while !text.is_char_boundary(from) {
        from += 1;
    }
    &text[from..]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::shell::tests::{scene, within};

    async fn ended(terminals: &Terminals, id: &str) -> Option<Exit> {
        let mut state = terminals.watch(id).unwrap();
        match *state.wait_for(|state| *state != State::Running).await.unwrap() {
            State::Ended(exit) => exit,
            State::Running => unreachable!("it was waited for"),
        }
    }

    #[test]
    fn an_output_keeps_its_end_and_whole_characters() {
        within(30, async {
            let scene = scene();
            let terminals = Terminals::new(Rc::clone(&scene.commands));
            let env = [("WHAT".to_owned(), "grün".to_owned())];
            let order = Order {
                env: &env,
                ..Order::new("echo one; echo $WHAT >&2; exit 3")
            };
            let id = terminals.start(order, Some(6)).unwrap();
            assert_eq!(ended(&terminals, &id).await, Some(Exit::Code(3)));
            let output = terminals.output(&id).unwrap();
            assert_eq!((output.text.as_str(), output.cut), ("grün\n", true));
            // Bytes that are no text take more room when they are told.
            let id = terminals.start(Order::new(r"printf 'aaaa\377\377'"), Some(6)).unwrap();
            ended(&terminals, &id).await;
            let output = terminals.output(&id).unwrap();
            assert_eq!((output.text.as_str(), output.cut), ("\u{fffd}\u{fffd}", true));
            let id = terminals.start(Order::new("printf x"), Some(0)).unwrap();
            ended(&terminals, &id).await;
            let output = terminals.output(&id).unwrap();
            assert_eq!((output.text.as_str(), output.cut), ("", true));
            let id = terminals
                .start(Order::new("head -c 100000000 /dev/zero | tr '\\0' x; echo end"), None)
                .unwrap();
            ended(&terminals, &id).await;
            let output = terminals.output(&id).unwrap();
            assert!(output.cut && output.text.len() == KEPT && output.text.ends_with("xend\n"));
        });
    }

    #[test]
    fn what_ignores_its_end_is_killed_and_what_is_released_is_unknown() {
        within(30, async {
            let scene = scene();
            let terminals = Terminals::new(Rc::clone(&scene.commands));
            let stubborn = "trap '' TERM; (trap '' TERM; sleep 61.5) & echo ready; sleep 61.5";
            let id = terminals.start(Order::new(stubborn), None).unwrap();
            while terminals.output(&id).unwrap().text.is_empty() {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
            terminals.kill(&id).unwrap();
            terminals.kill(&id).unwrap();
            assert_eq!(ended(&terminals, &id).await, Some(Exit::Signal(9)));
            assert_eq!(terminals.output(&id).unwrap().text, "ready\n");
            terminals.release(&id).unwrap();
            for gone in [&id, "terminal-99"] {
                assert!(matches!(terminals.kill(gone), Err(NoTerminal::Unknown(_))));
                assert!(matches!(terminals.release(gone), Err(NoTerminal::Unknown(_))));
                assert!(matches!(terminals.output(gone), Err(NoTerminal::Unknown(_))));
            }
            // One that nobody releases, and one that is released while it runs.
            let left = terminals.start(Order::new("sleep 61.5"), None).unwrap();
            let released = terminals.start(Order::new("sleep 61.5"), None).unwrap();
            let mut states = [terminals.watch(&left).unwrap(), terminals.watch(&released).unwrap()];
            terminals.release(&released).unwrap();
            terminals.end().await;
            for state in &mut states {
                assert_eq!(*state.borrow(), State::Ended(Some(Exit::Signal(15))));
            }
            assert!(matches!(terminals.watch(&left), Err(NoTerminal::Unknown(_))));
        });
    }

    #[test]
    fn there_are_not_too_many_and_what_cannot_run_is_told() {
        within(30, async {
            let scene = scene();
            let terminals = Terminals::new(Rc::clone(&scene.commands));
            assert!(matches!(terminals.start(Order::new("  "), None), Err(NoTerminal::NotRun(_))));
            for _ in 0..MOST {
                terminals.start(Order::new("exit"), None).unwrap();
            }
            assert!(matches!(terminals.start(Order::new("exit"), None), Err(NoTerminal::Many)));
            terminals.release("terminal-1").unwrap();
            // Its command has to be gone, too.
            while terminals.start(Order::new("exit"), None).is_err() {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
            terminals.end().await;
        });
    }
}
