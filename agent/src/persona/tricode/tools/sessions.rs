//! `start_session`, `send_input`, `read_output`, `close_session`, `list_sessions`: shells that stay open.
//!
//! The real program gives a shell pipes; here it has a terminal, so that what it starts has one too (a Python prompt, ssh). The
//! terminal does not echo and the shell prints no prompt, so that commands give what they give there.

use std::cell::RefCell;
use std::rc::{Rc, Weak};
use std::time::{Duration, Instant};

use serde_json::Value;
use tokio::task::spawn_local;

use super::args::{seconds, text, text_or, whole_end};
use crate::tools::processes::Processes;
use crate::tools::pty::{NoTerminal, Size};
use crate::tools::{Cx, Given};

/// How many may be open.
const MOST: usize = 3;

/// How long one lives, and how long after it was last used.
const LONGEST: Duration = Duration::from_secs(300);
const IDLE: Duration = Duration::from_secs(30);

/// How often it is looked after them.
const ROUND: Duration = Duration::from_secs(10);

/// So many bytes are read at once.
const PIECE: usize = 4096;

/// How long nothing has to come for what came to be all.
const QUIET: Duration = Duration::from_millis(100);

/// How long a shell may take to be there.
const PATIENCE: Duration = Duration::from_secs(5);

/// What is printed when the terminal is ready: nothing that was typed before stays in it.
const READY: &str = "\u{1}ready\u{1}";

/// The open sessions.
#[derive(Debug, Default)]
pub(super) struct Sessions {
    open: RefCell<Vec<Open>>,
}

#[derive(Debug)]
struct Open {
    id: String,
    begun: Instant,
    used: Instant,
    /// What was printed and not read yet.
    unread: String,
}

impl Sessions {
    pub(super) async fn start(self: &Rc<Self>, processes: &Rc<Processes>, input: &Value) -> Given {
        let (command, shell) = match (text(input, "command"), text_or(input, "shell", "/bin/bash")) {
            (Ok(command), Ok(shell)) => (command, shell),
            (Err(wrong), _) | (_, Err(wrong)) => return wrong,
        };
        self.expire(processes).await;
        if self.open.borrow().len() >= MOST {
            return Given::error(format!("Maximum {MOST} sessions reached. Close existing sessions first."));
        }
        let failed = |why: &str| Given::error(format!("Failed to start session: {why}"));
        let id = uuid::Uuid::new_v4().simple().to_string()[..8].to_owned();
        if let Err(error) = processes.terminals.start(&id, &script(shell), None, Size::default()) {
            return failed(&error.to_string());
        }
        let until = Instant::now() + PATIENCE;
        let mut printed = String::new();
        while !printed.contains(READY) {
            match processes.terminals.read(&id, Duration::from_millis(500), Duration::ZERO).await {
                Ok(more) if !more.is_empty() => printed.push_str(&more),
                Ok(_) if Instant::now() < until && processes.terminals.list().iter().any(|seen| seen.id == id && seen.alive) => {}
                _ => {
                    let _ = processes.terminals.close(&id).await;
                    return failed(if printed.trim().is_empty() {
                        "the shell does not start"
                    } else {
                        printed.trim()
                    });
                }
            }
        }
        let now = Instant::now();
        self.open.borrow_mut().push(Open {
            id: id.clone(),
            begun: now,
            used: now,
            unread: printed.split_once(READY).map_or("", |(_, rest)| rest).trim_start().to_owned(),
        });
        if self.open.borrow().len() == 1 {
            spawn_local(look_after(Rc::downgrade(self), Rc::downgrade(processes)));
        }
        if !command.is_empty()
            && let Err(error) = processes.terminals.send(&id, format!("{command}\n").as_bytes()).await
        {
            return failed(&error.to_string());
        }
        Given::text(format!("Session {id} started"))
    }

    pub(super) async fn send(&self, processes: &Processes, input: &Value) -> Given {
        let (id, typed) = match (text(input, "session_id"), text(input, "input_text")) {
            (Ok(id), Ok(typed)) => (id, typed),
            (Err(wrong), _) | (_, Err(wrong)) => return wrong,
        };
        self.expire(processes).await;
        if let Err(unknown) = self.touch(id) {
            return unknown;
        }
        if !processes.terminals.list().iter().any(|seen| seen.id == id && seen.alive) {
            return Given::error(format!("Session {id} has terminated"));
        }
        match processes.terminals.send(id, format!("{typed}\n").as_bytes()).await {
            Ok(()) => Given::text(format!("Input sent to session {id}")),
            Err(NoTerminal::Over(_)) => Given::error(format!("Session {id} has terminated")),
            Err(error) => Given::error(format!("Failed to send input: {error}")),
        }
    }

    pub(super) async fn read(&self, processes: &Processes, input: &Value, cx: &Cx<'_>) -> Given {
        let id = match text(input, "session_id") {
            Ok(id) => id,
            Err(wrong) => return wrong,
        };
        let most = match seconds(input, "timeout", 2.0) {
            Ok(most) => Duration::from_secs_f64(most.clamp(0.0, LONGEST.as_secs_f64())),
            Err(why) => return Given::error(format!("Failed to read output: {why}")),
        };
        self.expire(processes).await;
        let mut printed = match self.touch(id) {
            Ok(unread) => unread,
            Err(unknown) => return unknown,
        };
        if printed.is_empty() {
            let read = tokio::select! {
                read = processes.terminals.read(id, most, QUIET) => read,
                () = cx.cancel.cancelled() => return Given::error("Failed to read output: cancelled"),
            };
            match read {
                Ok(read) => printed = read,
                Err(error) => return Given::error(format!("Failed to read output: {error}")),
            }
        }
        let (shown, rest) = piece(&printed);
        self.with(id, |open| rest.clone_into(&mut open.unread));
        Given::text(shown)
    }

    pub(super) async fn close(&self, processes: &Processes, input: &Value) -> Given {
        let id = match text(input, "session_id") {
            Ok(id) => id,
            Err(wrong) => return wrong,
        };
        self.expire(processes).await;
        if let Err(unknown) = self.touch(id) {
            return unknown;
        }
        self.open.borrow_mut().retain(|open| open.id != id);
        match processes.terminals.close(id).await {
            Ok(()) => Given::text(format!("Session {id} closed")),
            Err(error) => Given::error(format!("Failed to close session: {error}")),
        }
    }

    pub(super) async fn list(&self, processes: &Processes) -> Given {
        self.expire(processes).await;
        let open = self.open.borrow();
        if open.is_empty() {
            return Given::text("No active sessions");
        }
        let all = processes.terminals.list();
        let line = |open: &Open| {
            let alive = all.iter().any(|seen| seen.id == open.id && seen.alive);
            format!(
                "{}: {}, age={}s, idle={}s",
                open.id,
                if alive { "alive" } else { "dead" },
                open.begun.elapsed().as_secs(),
                open.used.elapsed().as_secs()
            )
        };
        Given::text(open.iter().map(line).collect::<Vec<_>>().join("\n"))
    }

    /// A session is used. Gives what it printed and nobody has read.
    fn touch(&self, id: &str) -> Result<String, Given> {
        let unread = self.with(id, |open| {
            open.used = Instant::now();
            std::mem::take(&mut open.unread)
        });
        unread.ok_or_else(|| Given::error(format!("Session {id} not found")))
    }

    fn with<T>(&self, id: &str, work: impl FnOnce(&mut Open) -> T) -> Option<T> {
        self.open.borrow_mut().iter_mut().find(|open| open.id == id).map(work)
    }

    /// Closes the sessions whose time is up.
    async fn expire(&self, processes: &Processes) {
        let (over, open) = std::mem::take(&mut *self.open.borrow_mut())
            .into_iter()
            .partition(|open: &Open| open.begun.elapsed() > LONGEST || open.used.elapsed() > IDLE);
        *self.open.borrow_mut() = open;
        for open in over {
            let _ = processes.terminals.close(&open.id).await;
        }
    }
}

/// Looks after the sessions as long as there are some.
async fn look_after(sessions: Weak<Sessions>, processes: Weak<Processes>) {
    loop {
        tokio::time::sleep(ROUND).await;
        let (Some(sessions), Some(processes)) = (sessions.upgrade(), processes.upgrade()) else {
            return;
        };
        sessions.expire(&processes).await;
        if sessions.open.borrow().is_empty() {
            return;
        }
    }
}

/// What makes a terminal silent and becomes the shell. A shell that reads no files of its user's prints nothing by itself.
fn script(shell: &str) -> String {
    let quoted = format!("'{}'", shell.replace('\'', r"'\''"));
    let flags = match shell.rsplit('/').next() {
        Some("bash") => " --norc --noprofile --noediting",
        Some("zsh") => " -f",
        _ => "",
    };
    format!(
        "command -v {quoted} >/dev/null || {{ echo {quoted}: not found; exit 127; }}\nstty -echo -onlcr 2>/dev/null\nexport PS1= PS2= \
         TERM=dumb\nunset PROMPT_COMMAND ENV\nprintf '\\001ready\\001\\n'\nexec {quoted}{flags}"
    )
}

/// What is shown of what was printed, without blanks at the ends of lines, and what is left for the next time.
fn piece(printed: &str) -> (String, &str) {
    if printed.is_empty() {
        return ("[no output within timeout]".to_owned(), "");
    }
    let mut lines = Vec::new();
    let (mut rest, mut size) = (printed, 0);
    while !rest.is_empty() {
        let end = rest.find('\n').map_or(rest.len(), |at| at + 1);
        let end = whole_end(rest, end.min(PIECE));
        let (line, behind) = rest.split_at(end);
        lines.push(line.trim_end().to_owned());
        (rest, size) = (behind, size + line.len());
        if size > PIECE || end == PIECE {
            lines.push(format!("[output truncated at {PIECE} bytes]"));
            break;
        }
    }
    (lines.join("\n"), rest)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;
    use tokio_util::sync::CancellationToken;

    use super::*;
    use crate::model::message::Part;
    use crate::tools::World;
    use crate::tools::shell::Settings;
    use crate::workspace::Wall;

    fn said(given: Given) -> String {
        match given.content.into_iter().next() {
            Some(Part::Text(text)) => text,
            other => panic!("{other:?}"),
        }
    }

    #[tokio::test(flavor = "current_thread")]
    async fn a_shell_stays_open_and_prints_only_what_its_commands_print() {
        let local = tokio::task::LocalSet::new();
        local.run_until(talk()).await;
    }

    async fn talk() {
        let dir = tempfile::tempdir().unwrap();
        let world = World {
            wall: Arc::new(Wall::new(dir.path()).unwrap()),
            environment: Arc::new(vec![("PATH".to_owned(), std::env::var("PATH").unwrap())]),
            scratch: dir.path().join("scratch"),
        };
        let processes = Processes::new(&world, Settings::default());
        let sessions = Rc::new(Sessions::default());
        let cx = Cx {
            call: "",
            cancel: CancellationToken::new(),
            world: &world,
            tell: &|_| {},
        };
        assert_eq!(said(sessions.list(&processes).await), "No active sessions");
        let started = said(sessions.start(&processes, &json!({"command": "echo one; echo two"})).await);
        let id = started
            .strip_prefix("Session ")
            .and_then(|rest| rest.strip_suffix(" started"))
            .unwrap()
            .to_owned();
        assert_eq!(id.len(), 8);
        let on = json!({"session_id": id, "timeout": 10});
        assert_eq!(said(sessions.read(&processes, &on, &cx).await), "one\ntwo");
        let typed = json!({"session_id": id, "input_text": "x=5; test -t 0 && echo terminal $x >&2; pwd"});
        assert_eq!(said(sessions.send(&processes, &typed).await), format!("Input sent to session {id}"));
        let root = world.wall.root().display().to_string();
        assert_eq!(said(sessions.read(&processes, &on, &cx).await), format!("terminal 5\n{root}"));
        let quick = json!({"session_id": id, "timeout": 0});
        assert_eq!(said(sessions.read(&processes, &quick, &cx).await), "[no output within timeout]");
        assert_eq!(said(sessions.list(&processes).await), format!("{id}: alive, age=0s, idle=0s"));
        sessions
            .send(&processes, &json!({"session_id": id, "input_text": "seq 1 3000; exit"}))
            .await;
        let mut all = String::new();
        while !all.contains("3000") {
            let piece = said(sessions.read(&processes, &on, &cx).await);
            assert!(piece.len() < PIECE + 100, "{}", piece.len());
            all.push_str(&piece);
        }
        assert!(all.starts_with("1\n2\n3\n") && all.contains("[output truncated at 4096 bytes]"), "{all}");
        tokio::time::sleep(Duration::from_millis(500)).await;
        let typed = json!({"session_id": id, "input_text": "echo more"});
        assert_eq!(said(sessions.send(&processes, &typed).await), format!("Session {id} has terminated"));
        assert!(said(sessions.list(&processes).await).starts_with(&format!("{id}: dead")));
        assert_eq!(said(sessions.close(&processes, &on).await), format!("Session {id} closed"));
        assert_eq!(said(sessions.close(&processes, &on).await), format!("Session {id} not found"));

        for _ in 0..MOST {
            assert!(said(sessions.start(&processes, &json!({"command": ""})).await).ends_with("started"));
        }
        let many = said(sessions.start(&processes, &json!({"command": ""})).await);
        assert_eq!(many, "Maximum 3 sessions reached. Close existing sessions first.");
        processes.end().await;
        assert!(processes.terminals.list().is_empty());
    }

    #[tokio::test(flavor = "current_thread")]
    async fn a_shell_that_is_not_there_is_no_session() {
        let local = tokio::task::LocalSet::new();
        let dir = tempfile::tempdir().unwrap();
        let world = World {
            wall: Arc::new(Wall::new(dir.path()).unwrap()),
            environment: Arc::new(vec![("PATH".to_owned(), std::env::var("PATH").unwrap())]),
            scratch: dir.path().join("scratch"),
        };
        let talk = async {
            let processes = Processes::new(&world, Settings::default());
            let sessions = Rc::new(Sessions::default());
            let started = said(sessions.start(&processes, &json!({"command": "", "shell": "/no/such shell"})).await);
            assert_eq!(started, "Failed to start session: /no/such shell: not found");
            assert_eq!(said(sessions.list(&processes).await), "No active sessions");
        };
        local.run_until(talk).await;
    }
}
