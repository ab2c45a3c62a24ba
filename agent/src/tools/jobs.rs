//! Commands in the background: they go on while the agent does something else, and end with the session at the latest.

use std::cell::RefCell;
use std::io;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::{Duration, Instant};

use fancy_regex::Regex;
use tokio::sync::{Notify, watch};
use tokio::task::{JoinHandle, spawn_blocking, spawn_local};
use tokio_util::sync::CancellationToken;

use super::shell::follow::Running;
use super::shell::{CannotRun, Cause, Commands, Order};
use agentglot_process::Exit;
use agentglot_process::file::open_regular;

/// How many bytes of an output are given at once. Of a longer one, the end.
pub const FRESH: u64 = 256 << 10;

/// How many commands may run in the background at once.
pub const MOST: usize = 64;

/// How long a command has to end when it is stopped, before nobody waits for it any more.
const PATIENCE: Duration = Duration::from_secs(4);

/// The background commands of a session. To be used inside a [`tokio::task::LocalSet`].
#[derive(Debug)]
pub struct Jobs {
    commands: Rc<Commands>,
    all: RefCell<Vec<Entry>>,
    /// Those whose beginning nobody has heard of yet.
    started: RefCell<Vec<String>>,
    /// Those whose end nobody has heard of yet.
    ended: Rc<RefCell<Vec<String>>>,
    wake: Rc<Notify>,
}

#[derive(Debug)]
struct Entry {
    job: Job,
    begun: Instant,
    read: u64,
    stop: CancellationToken,
    state: watch::Receiver<State>,
    follower: JoinHandle<()>,
}

/// A command in the background.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Job {
    /// Its id, as the dialect spells ids.
    pub id: String,
    /// The command.
    pub command: String,
    /// What it does, in the model's words.
    pub description: Option<String>,
    /// The tool call that started it.
    pub call: String,
    /// Where its output goes: stdout and stderr, in the order in which they were written.
    pub output: PathBuf,
    /// The folder that it began in.
    pub folder: PathBuf,
    /// The process id of its shell.
    pub process: u32,
    /// How it stands.
    pub state: State,
}

/// How a background command stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// It runs.
    Running,
    /// It has ended.
    Ended {
        /// How; `None` if even `SIGKILL` did not end it.
        exit: Option<Exit>,
        /// Why; [`Cause::Cancelled`] means that it was stopped.
        cause: Cause,
        /// After how long.
        took: Duration,
    },
}

impl State {
    /// Whether it ended by itself with exit code 0.
    pub fn is_success(self) -> bool {
        matches!(
            self,
            Self::Ended {
                exit: Some(Exit::Code(0)),
                cause: Cause::Itself,
                ..
            }
        )
    }
}

/// What is to be run in the background.
#[derive(Clone, Copy, Debug)]
pub struct Start<'a> {
    /// Its id; it must be new.
    pub id: &'a str,
    /// For the shell.
    pub command: &'a str,
    /// What it does.
    pub description: Option<&'a str>,
    /// The tool call.
    pub call: &'a str,
    /// Where; if `None`, in the session's folder.
    pub folder: Option<&'a Path>,
    /// How long it may run.
    pub timeout: Option<Duration>,
}

/// Why there is no such background command.
#[derive(Debug, thiserror::Error)]
pub enum NoJob {
    /// It was never started, or the session before this one started it.
    #[error("No task found with ID: {0}")]
    Unknown(String),
    /// It has ended already.
    #[error("Task {0} is not running")]
    Over(String),
    /// The output cannot be read.
    #[error("the output of {id} could not be read: {error}")]
    Output {
        /// Whose.
        id: String,
        /// Why.
        error: io::Error,
    },
    /// The filter is no regular expression.
    #[error("the filter is not a regular expression: {0}")]
    Filter(String),
    /// There are too many of them.
    #[error("{MOST} commands run in the background already; stop one of them first")]
    Many,
    /// It was not started.
    #[error(transparent)]
    NotRun(#[from] CannotRun),
}

impl Jobs {
    /// None yet.
    pub fn new(commands: Rc<Commands>) -> Self {
        Self {
            commands,
            all: RefCell::default(),
            started: RefCell::default(),
            ended: Rc::default(),
            wake: Rc::default(),
        }
    }

    /// Starts one, and returns at once.
    ///
    /// # Errors
    /// When it was not run, or too many run.
    pub fn start(&self, start: Start<'_>) -> Result<Job, NoJob> {
        let running = self.all.borrow().iter().filter(|entry| *entry.state.borrow() == State::Running).count();
        if running >= MOST {
            return Err(NoJob::Many);
        }
        let output = self.commands.file("tasks", &format!("{}.output", start.id)).map_err(CannotRun::Start)?;
        let order = Order {
            folder: start.folder,
            timeout: start.timeout,
            merged: true,
            keep: (0, 0),
            whole: Some((output.clone(), 0)),
            ..Order::new(start.command)
        };
        let running = Running::start(&self.commands, order)?;
        let folder = start.folder.map_or_else(|| self.commands.folder(), Path::to_owned);
        let job = Job {
            id: start.id.to_owned(),
            command: start.command.to_owned(),
            description: start.description.map(str::to_owned),
            call: start.call.to_owned(),
            output,
            folder,
            process: running.id(),
            state: State::Running,
        };
        let (tell, state) = watch::channel(State::Running);
        let stop = CancellationToken::new();
        let (commands, ended, wake) = (Rc::clone(&self.commands), Rc::clone(&self.ended), Rc::clone(&self.wake));
        let (token, id) = (stop.clone(), job.id.clone());
        let follower = spawn_local(async move {
            let ran = running.end(&commands, &token, &|_| {}).await;
            tell.send_replace(State::Ended {
                exit: ran.exit,
                cause: ran.cause,
                took: ran.took,
            });
            ended.borrow_mut().push(id);
            wake.notify_one();
        });
        self.all.borrow_mut().push(Entry {
            job: job.clone(),
            begun: Instant::now(),
            read: 0,
            stop,
            state,
            follower,
        });
        self.started.borrow_mut().push(job.id.clone());
        Ok(job)
    }

    fn with<T>(&self, id: &str, what: impl FnOnce(&mut Entry) -> T) -> Result<T, NoJob> {
        let mut all = self.all.borrow_mut();
        let entry = all.iter_mut().find(|entry| entry.job.id == id);
        entry.map(what).ok_or_else(|| NoJob::Unknown(id.to_owned()))
    }

    /// One of them.
    ///
    /// # Errors
    /// When there is none of this id.
    pub fn get(&self, id: &str) -> Result<Job, NoJob> {
        self.with(id, |entry| entry.now())
    }

    /// All of them, the oldest first, with how long each has run or ran.
    pub fn list(&self) -> Vec<(Job, Duration)> {
        let all = self.all.borrow();
        let time = |entry: &Entry| match *entry.state.borrow() {
            State::Running => entry.begun.elapsed(),
            State::Ended { took, .. } => took,
        };
        all.iter().map(|entry| (entry.now(), time(entry))).collect()
    }

    /// What it has written since this was called the last time; with a filter, only the lines in which the regular expression is found.
    /// No more than the last [`FRESH`] bytes.
    ///
    /// # Errors
    /// When there is none of this id, or the filter is none.
    pub async fn fresh(&self, id: &str, filter: Option<&str>) -> Result<String, NoJob> {
        let filter = filter.filter(|filter| !filter.is_empty()).map(Regex::new).transpose();
        let filter = filter.map_err(|error| NoJob::Filter(error.to_string()))?;
        let from = self.with(id, |entry| entry.read)?;
        let (bytes, skipped, end) = self.since(id, from).await?;
        self.with(id, |entry| entry.read = end)?;
        let text = String::from_utf8_lossy(&bytes);
        let text = match filter {
            Some(filter) => text
                .split_inclusive('\n')
                .filter(|line| filter.is_match(line.trim_end_matches('\n')).unwrap_or(false))
                .collect(),
            None => text.into_owned(),
        };
        Ok(if skipped > 0 {
            format!("... [{skipped} bytes left out] ...\n{text}")
        } else {
            text
        })
    }

    /// The last [`FRESH`] bytes of what it has written.
    ///
    /// # Errors
    /// When there is none of this id.
    pub async fn output(&self, id: &str) -> Result<String, NoJob> {
        Ok(self.measured_output(id).await?.0)
    }

    /// The same, with how many bytes it has written, and whether these are only the last of them.
    ///
    /// # Errors
    /// When there is none of this id.
    pub async fn measured_output(&self, id: &str) -> Result<(String, u64, bool), NoJob> {
        let (bytes, skipped, end) = self.since(id, 0).await?;
        Ok((String::from_utf8_lossy(&bytes).into_owned(), end, skipped > 0))
    }

    /// The last bytes from a place on, how many were left out before them, and where they end.
    async fn since(&self, id: &str, from: u64) -> Result<(Vec<u8>, u64, u64), NoJob> {
        let path = self.with(id, |entry| entry.job.output.clone())?;
        let read = spawn_blocking(move || tail(&path, from)).await;
        let read = read.unwrap_or_else(|error| Err(io::Error::other(error)));
        read.map_err(|error| NoJob::Output { id: id.to_owned(), error })
    }

    /// Stops one, and waits until nothing of it is left.
    ///
    /// # Errors
    /// When there is none of this id, or it has ended.
    pub async fn stop(&self, id: &str) -> Result<Job, NoJob> {
        let job = self.get(id)?;
        if job.state != State::Running {
            return Err(NoJob::Over(id.to_owned()));
        }
        self.with(id, |entry| entry.stop.cancel())?;
        self.wait(id, PATIENCE).await
    }

    /// Waits until one has ended, or the time is over.
    ///
    /// # Errors
    /// When there is none of this id.
    pub async fn wait(&self, id: &str, most: Duration) -> Result<Job, NoJob> {
        let mut state = self.with(id, |entry| entry.state.clone())?;
        let ended = state.wait_for(|state| *state != State::Running);
        let _ = tokio::time::timeout(most, ended).await;
        self.get(id)
    }

    /// Waits until the end of one can be [taken](Self::take_ended). Cancel-safe.
    pub async fn some_ended(&self) {
        while self.ended.borrow().is_empty() {
            self.wake.notified().await;
        }
    }

    /// Those that have ended since this was called the last time.
    pub fn take_ended(&self) -> Vec<Job> {
        let ended = std::mem::take(&mut *self.ended.borrow_mut());
        ended.iter().filter_map(|id| self.get(id).ok()).collect()
    }

    /// Whether [`Self::take_ended`] has something to give.
    pub fn any_ended(&self) -> bool {
        !self.ended.borrow().is_empty()
    }

    /// Those that were started since this was called the last time.
    pub fn take_started(&self) -> Vec<Job> {
        let started = std::mem::take(&mut *self.started.borrow_mut());
        started.iter().filter_map(|id| self.get(id).ok()).collect()
    }

    /// Whether one runs.
    pub fn any_running(&self) -> bool {
        self.all.borrow().iter().any(|entry| *entry.state.borrow() == State::Running)
    }

    /// Stops all of them.
    pub async fn end(&self) {
        let states: Vec<_> = self.all.borrow().iter().map(|entry| (entry.stop.clone(), entry.state.clone())).collect();
        states.iter().for_each(|(stop, _)| stop.cancel());
        let all = async {
            for (_, mut state) in states {
                let _ = state.wait_for(|state| *state != State::Running).await;
            }
        };
        let _ = tokio::time::timeout(PATIENCE, all).await;
    }
}

impl Drop for Jobs {
    fn drop(&mut self) {
        // What follows a command kills it when it is dropped.
        self.all.borrow().iter().for_each(|entry| entry.follower.abort());
    }
}

impl Entry {
    fn now(&self) -> Job {
        Job {
            state: *self.state.borrow(),
            ..self.job.clone()
        }
    }
}

/// What a file holds from here on, no more than the last [`FRESH`] bytes of it; how many bytes were left out; where it ends.
fn tail(path: &Path, from: u64) -> io::Result<(Vec<u8>, u64, u64)> {
    // The command may have put anything there.
    let (mut file, about) = open_regular(path)?;
    let end = about.len().max(from);
    let begin = from.max(end.saturating_sub(FRESH));
    file.seek(SeekFrom::Start(begin))?;
    let mut bytes = Vec::new();
    file.take(end - begin).read_to_end(&mut bytes)?;
    Ok((bytes, begin - from, end))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::shell::tests::{scene, within};

    const fn start<'a>(id: &'a str, command: &'a str) -> Start<'a> {
        Start {
            id,
            command,
            description: None,
            call: "c1",
            folder: None,
            timeout: None,
        }
    }

    #[test]
    fn what_is_new_is_read_and_ends_are_noticed() {
        within(30, async {
            let scene = scene();
            let jobs = Jobs::new(Rc::clone(&scene.commands));
            let job = jobs.start(start("b1", "echo one; echo two >&2; sleep 0.8; echo three; exit 4")).unwrap();
            assert!(job.output.is_file() && jobs.any_running());
            let read = async |filter| {
                tokio::time::sleep(Duration::from_millis(300)).await;
                jobs.fresh("b1", filter).await.unwrap()
            };
            assert_eq!(read(None).await, "one\ntwo\n");
            jobs.some_ended().await;
            let ended = jobs.take_ended();
            assert_eq!(ended.len(), 1);
            let State::Ended { exit, cause, .. } = ended[0].state else {
                panic!("{ended:?}")
            };
            assert_eq!((exit, cause), (Some(Exit::Code(4)), Cause::Itself));
            assert_eq!((read(None).await.as_str(), read(None).await.as_str()), ("three\n", ""));
            assert!(jobs.take_ended().is_empty() && !jobs.any_running());
            assert!(matches!(jobs.stop("b1").await, Err(NoJob::Over(_))));
            assert!(matches!(jobs.fresh("b9", None).await, Err(NoJob::Unknown(_))));
            assert!(matches!(jobs.fresh("b1", Some("(")).await, Err(NoJob::Filter(_))));

            jobs.start(start("b2", "seq 1 100")).unwrap();
            jobs.wait("b2", Duration::from_secs(5)).await.unwrap();
            assert_eq!(
                jobs.fresh("b2", Some("^9.$")).await.unwrap(),
                (90..100).map(|n| format!("{n}\n")).collect::<String>()
            );
            assert_eq!(jobs.list().len(), 2);
        });
    }

    #[test]
    fn a_job_is_stopped_with_all_that_it_started() {
        within(30, async {
            let scene = scene();
            let jobs = Jobs::new(Rc::clone(&scene.commands));
            jobs.start(start("b1", "trap '' TERM; setsid sleep 100 & echo up; while :; do sleep 1; done"))
                .unwrap();
            jobs.start(Start {
                timeout: Some(Duration::from_millis(300)),
                ..start("b2", "sleep 100")
            })
            .unwrap();
            let late = jobs.wait("b2", Duration::from_secs(5)).await.unwrap();
            assert!(matches!(late.state, State::Ended { cause: Cause::TimedOut, .. }), "{late:?}");
            let stopped = jobs.stop("b1").await.unwrap();
            assert!(matches!(stopped.state, State::Ended { cause: Cause::Cancelled, .. }), "{stopped:?}");
            scene.nothing_is_left().await;
            assert_eq!(jobs.fresh("b1", None).await.unwrap(), "up\n");
        });
    }

    #[test]
    fn all_end_with_the_session_however_it_ends() {
        within(30, async {
            let scene = scene();
            for dropped in [false, true] {
                let jobs = Jobs::new(Rc::clone(&scene.commands));
                for n in 0..5 {
                    jobs.start(start(&format!("{dropped}{n}"), "setsid sleep 100 & sleep 100")).unwrap();
                }
                tokio::time::sleep(Duration::from_millis(300)).await;
                assert!(scene.alive() >= 10, "{}", scene.alive());
                if !dropped {
                    jobs.end().await;
                }
                drop(jobs);
                scene.nothing_is_left().await;
            }
        });
    }

    #[test]
    fn not_more_than_so_many() {
        within(60, async {
            let scene = scene();
            let jobs = Jobs::new(Rc::clone(&scene.commands));
            for n in 0..MOST {
                jobs.start(start(&format!("b{n}"), "sleep 100")).unwrap();
            }
            assert!(matches!(jobs.start(start("one-more", "true")), Err(NoJob::Many)));
            jobs.end().await;
            assert!(!jobs.any_running());
            jobs.start(start("one-more", "true")).unwrap();
            jobs.end().await;
            scene.nothing_is_left().await;
        });
    }

    #[test]
    fn a_long_output_is_read_from_its_end() {
        within(60, async {
            let scene = scene();
            let jobs = Jobs::new(Rc::clone(&scene.commands));
            jobs.start(start("b1", "head -c 3000000 /dev/zero | tr '\\0' x; echo; echo end")).unwrap();
            jobs.wait("b1", Duration::from_secs(30)).await.unwrap();
            let fresh = jobs.fresh("b1", None).await.unwrap();
            assert!(
                fresh.starts_with("... [2737861 bytes left out] ...\nxxx") && fresh.ends_with("x\nend\n"),
                "{}",
                &fresh[..60]
            );
        });
    }
}
