//! Does what a script says.

use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command as Process, exit};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::process::{Signal, getpid, kill_process};
use rustix::time::{ClockId, clock_gettime};

use crate::lines::{Lines, Manner};
use crate::script::Command;

/// Stdout without a buffer.
#[derive(Clone, Debug)]
pub(crate) struct Out {
    file: Arc<Mutex<File>>,
    piece: Arc<AtomicU64>,
    pause: Arc<AtomicU64>,
}

impl Out {
    fn new() -> io::Result<Self> {
        use std::os::fd::AsFd;
        Ok(Self {
            file: Arc::new(Mutex::new(File::from(io::stdout().as_fd().try_clone_to_owned()?))),
            piece: Arc::default(),
            pause: Arc::default(),
        })
    }

    pub(crate) fn write(&self, bytes: &[u8]) -> io::Result<()> {
        let mut file = self.file.lock().expect("no holder panics");
        let piece = usize::try_from(self.piece.load(Ordering::Relaxed)).expect("64 bits");
        if piece == 0 {
            return file.write_all(bytes);
        }
        for piece in bytes.chunks(piece) {
            file.write_all(piece)?;
            sleep(Duration::from_millis(self.pause.load(Ordering::Relaxed)));
        }
        Ok(())
    }
}

pub(crate) struct Player {
    args: Vec<OsString>,
    out: Out,
    lines: Lines,
    /// Where process ids are written.
    pids: Option<String>,
}

impl Player {
    pub(crate) fn new(args: Vec<OsString>) -> Self {
        let out = Out::new().expect("there is a stdout");
        Self {
            args,
            lines: Lines::new(out.clone()),
            out,
            pids: None,
        }
    }

    /// The exit code.
    pub(crate) fn play(&mut self, commands: &[Command]) -> Result<u8, String> {
        for (n, command) in commands.iter().enumerate() {
            let done = match command.word.as_str() {
                "exit" => return number(&command.rest).and_then(|code| u8::try_from(code).map_err(|e| e.to_string())),
                "reexec" => return Err(self.again(&commands[n + 1..]).exec().to_string()),
                "starts" => return self.play(part(&commands[n + 1..], started(&command.rest)?)),
                "respawn" => {
                    let status = self.again(&commands[n + 1..]).status().map_err(|e| e.to_string())?;
                    return Ok(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(70));
                }
                _ => self.step(command)?,
            };
            match done {
                Ok(()) => {}
                // As a program does that does not look at it: it ends.
                Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return Ok(141),
                Err(error) => return Err(format!("{} {}: {error}", command.word, command.rest)),
            }
        }
        Ok(0)
    }

    /// What the system says is inside.
    fn step(&mut self, command: &Command) -> Result<io::Result<()>, String> {
        let rest = &command.rest;
        Ok(match command.word.as_str() {
            "say" => self.out.write(format!("{}\n", text(rest)).as_bytes()),
            "write" => self.out.write(text(rest).as_bytes()),
            "warn" => io::stderr().write_all(format!("{}\n", text(rest)).as_bytes()),
            "file" => {
                let [pause, path] = command.split()?;
                self.file(Path::new(path), Duration::from_millis(number(pause)?), 1)
            }
            "rate" => {
                let [rate, times, path] = command.split()?;
                let apart = Duration::from_secs(1) / u32::try_from(number(rate)?.max(1)).map_err(|e| e.to_string())?;
                self.file(Path::new(path), apart, number(times)?)
            }
            "pour" => {
                let [times, path] = command.split()?;
                let times = number(times)?;
                std::fs::read(path).and_then(|whole| (0..times).try_for_each(|_| self.out.write(&whole)))
            }
            "cut" => {
                let [piece, pause] = command.split()?;
                self.out.piece.store(number(piece)?, Ordering::Relaxed);
                self.out.pause.store(number(pause)?, Ordering::Relaxed);
                Ok(())
            }
            "flood" => {
                let [whither, bytes] = command.split()?;
                self.flood(whither == "stderr", number(bytes)?)
            }
            "sleep" => {
                sleep(Duration::from_millis(number(rest)?));
                Ok(())
            }
            "hang" => loop {
                sleep(Duration::from_secs(3600));
            },
            "ignore" => signal_hook::flag::register(signal(rest)?.as_raw(), Arc::new(AtomicBool::new(false))).map(drop),
            "at" => {
                let [name, line] = command.split()?;
                self.at(signal(name)?, format!("{}\n", text(line)))
            }
            "die" => {
                let _ = kill_process(getpid(), signal(rest)?);
                // One that is not deadly was meant as a joke.
                loop {
                    sleep(Duration::from_secs(3600));
                }
            }
            "spawn" => self.spawn(rest == "detached"),
            "pid" => {
                self.pids = Some(rest.clone());
                note_pid(rest)
            }
            "args" => {
                let all: Vec<String> = self.args[1..].iter().map(|arg| arg.to_string_lossy().into_owned()).collect();
                let line = format!("{}\n", serde_json::json!(all));
                match rest.as_str() {
                    "" => self.out.write(line.as_bytes()),
                    path => append(path, &line),
                }
            }
            "env" => self.out.write(format!("{rest}={}\n", std::env::var(rest).unwrap_or_default()).as_bytes()),
            "cwd" => std::env::current_dir().and_then(|cwd| self.out.write(format!("{}\n", cwd.display()).as_bytes())),
            "read" if rest == "all" => {
                while self.lines.next().is_some() {}
                Ok(())
            }
            "read" => {
                self.lines.next();
                Ok(())
            }
            "echo" => self.echo(),
            "count" => self.count(),
            "keep" => self.lines.keep(Path::new(rest)),
            "control" => {
                self.lines.manner(Manner::named(rest)?);
                Ok(())
            }
            "answered" => {
                let _ = self.lines.next_response(Duration::from_millis(number(rest)?));
                Ok(())
            }
            "ask" => {
                let [id, patience, request] = command.split()?;
                let patience = Duration::from_millis(number(patience)?);
                self.ask(id, patience, request)
            }
            other => return Err(format!("{other}: there is no such command")),
        })
    }

    fn file(&self, path: &Path, apart: Duration, times: u64) -> io::Result<()> {
        let whole = std::fs::read_to_string(path)?;
        let mut next = Instant::now();
        for _ in 0..times {
            for line in whole.split_inclusive('\n') {
                sleep(next.saturating_duration_since(Instant::now()));
                next += apart;
                self.out.write(stamped(line).as_bytes())?;
            }
        }
        Ok(())
    }

    fn flood(&self, stderr: bool, mut bytes: u64) -> io::Result<()> {
        let line = [&[b'.'; 1023][..], b"\n"].concat().repeat(64);
        while bytes > 0 {
            let count = bytes.min(line.len() as u64);
            let piece = &line[..usize::try_from(count).expect("it is small")];
            if stderr {
                io::stderr().write_all(piece)?
            } else {
                self.out.write(piece)?
            }
            bytes -= count;
        }
        Ok(())
    }

    fn at(&self, signal: Signal, line: String) -> io::Result<()> {
        let mut signals = signal_hook::iterator::Signals::new([signal.as_raw()])?;
        let out = self.out.clone();
        std::thread::spawn(move || {
            if signals.forever().next().is_some() {
                let _ = out.write(line.as_bytes());
                exit(128 + signal.as_raw());
            }
        });
        Ok(())
    }

    fn spawn(&self, detached: bool) -> io::Result<()> {
        let ignore = ["ignore TERM", "ignore INT", "ignore HUP"];
        let mut commands: Vec<String> = ignore.map(str::to_owned).to_vec();
        commands.extend(self.pids.iter().map(|path| format!("pid {path}")));
        commands.push("hang".to_owned());
        let program = std::env::current_exe()?;
        let mut process = if detached { Process::new("setsid") } else { Process::new(&program) };
        if detached {
            process.arg(program);
        }
        process.arg("--do").args(commands).spawn()?;
        Ok(())
    }

    /// This program with the rest of the script.
    fn again(&self, commands: &[Command]) -> Process {
        let mut process = Process::new(std::env::current_exe().unwrap_or_default());
        process.arg("--do").args(self.pids.iter().map(|path| format!("pid {path}")));
        process.args(commands.iter().map(|command| format!("{} {}", command.word, command.rest)));
        process
    }

    fn echo(&mut self) -> io::Result<()> {
        while let Some(line) = self.lines.next() {
            self.out.write(&line)?;
        }
        Ok(())
    }

    fn count(&self) -> io::Result<()> {
        let (mut count, mut buffer) = (0, vec![0; 64 << 10]);
        loop {
            match io::stdin().lock().read(&mut buffer)? {
                0 => break,
                read => count += read,
            }
        }
        self.out.write(format!("{count}\n").as_bytes())
    }

    fn ask(&mut self, id: &str, patience: Duration, request: &str) -> io::Result<()> {
        let line = format!("{{\"type\":\"control_request\",\"request_id\":\"{id}\",\"request\":{}}}\n", text(request));
        self.out.write(line.as_bytes())?;
        let answer = match self.lines.response(id, patience) {
            Ok(response) => format!("answered {id} {response}\n"),
            Err(error) => format!("not answered {id}: {error}\n"),
        };
        io::stderr().write_all(answer.as_bytes())
    }
}

fn note_pid(path: &str) -> io::Result<()> {
    let mut file = OpenOptions::new().append(true).create(true).open(path)?;
    file.write_all(format!("{}\n", std::process::id()).as_bytes())
}

fn number(text: &str) -> Result<u64, String> {
    text.parse().map_err(|error| format!("{text:?}: {error}"))
}

fn signal(name: &str) -> Result<Signal, String> {
    Ok(match name {
        "TERM" => Signal::TERM,
        "INT" => Signal::INT,
        "HUP" => Signal::HUP,
        "KILL" => Signal::KILL,
        "SEGV" => Signal::SEGV,
        "ABRT" => Signal::ABORT,
        other => return Err(format!("{other}: there is no such signal here")),
    })
}

fn text(text: &str) -> String {
    stamped(&text.replace("\\n", "\n").replace("\\t", "\t"))
}

fn stamped(line: &str) -> String {
    if !line.contains("@NS@") {
        return line.to_owned();
    }
    let now = clock_gettime(ClockId::Monotonic);
    line.replace("@NS@", &format!("{}", now.tv_sec * 1_000_000_000 + now.tv_nsec))
}

/// Counts our starts in a file: which one this is, from 0.
fn started(path: &str) -> Result<usize, String> {
    let before = std::fs::read_to_string(path).unwrap_or_default().lines().count();
    append(path, "started\n").map_err(|error| format!("{path}: {error}"))?;
    Ok(before)
}

fn append(path: &str, line: &str) -> io::Result<()> {
    OpenOptions::new().create(true).append(true).open(path)?.write_all(line.as_bytes())
}

/// The part of a script with this number; of the last one there are as many as one likes.
fn part(commands: &[Command], number: usize) -> &[Command] {
    let parts: Vec<&[Command]> = commands.split(|command| command.word == "---").collect();
    parts[number.min(parts.len() - 1)]
}
