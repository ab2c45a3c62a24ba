//! `agentglot show`: what an agent did, as a person reads it.

use std::fs::File;
use std::io::{self, BufWriter, IsTerminal, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use agentglot_adapters::Source as Written;
use agentglot_adapters::raw::codec::Format;

#[cfg(all(unix, feature = "agent"))]
use crate::io::Memory;
use crate::io::{Console, Input, Joined, Output, Target};
use crate::show::{Cut, HtmlPage, JsonPage, Look, MarkdownPage, Out, Page, Pick, Row, Shown, TextPage, show};
use crate::status::{Failure, Status};

/// What is to be shown, and how.
#[derive(Debug)]
pub struct Show {
    /// The log.
    pub input: Input,
    /// What it is written in; without it, it is looked at.
    pub from: Option<Format>,
    /// How.
    pub form: Form,
    /// What of it.
    pub pick: Pick,
    /// How much of long texts.
    pub cut: Cut,
    /// What was thought is shown.
    pub thinking: bool,
    /// Times are those of Greenwich, not local ones.
    pub utc: bool,
    /// What lies in files beside the log is shown too.
    pub subagents: bool,
    /// The log may still grow.
    pub follow: bool,
    /// With colours; without it, if it is shown on a terminal.
    pub colour: Option<bool>,
    /// How wide lines may be; without it, as wide as the terminal.
    pub width: Option<usize>,
    /// A pager may be used.
    pub pager: bool,
    /// The file that is written; without it standard output.
    pub output: Option<PathBuf>,
}

/// How a session is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Text.
    Text,
    /// Markdown.
    Markdown,
    /// A page for a browser.
    Html,
    /// JSON lines.
    Json,
}

/// Shows it.
///
/// # Errors
/// When it cannot be read or written.
pub fn run(show: &Show) -> Result<Status, Failure> {
    put(show, open(show)?)
}

/// Shows a log that is in memory as text.
///
/// # Errors
/// When it cannot be read or written.
#[cfg(all(unix, feature = "agent"))]
pub(super) fn kept(log: Vec<u8>, from: Format, name: &str) -> Result<Status, Failure> {
    let show = Show {
        input: Input::Memory(Memory::new(name, log)),
        from: Some(from),
        form: Form::Text,
        pick: Pick::default(),
        cut: Cut::USUAL,
        thinking: false,
        utc: false,
        subagents: false,
        follow: false,
        colour: None,
        width: None,
        pager: true,
        output: None,
    };
    run(&show)
}

fn put(show: &Show, log: Joined<'_>) -> Result<Status, Failure> {
    let name = show.input.name();
    let on_terminal = show.output.is_none() && io::stdout().is_terminal();
    let mut sink = match &show.output {
        Some(path) => Sink::File(Target::file(&Output::Named(path.clone())).map_err(|error| Failure::Write {
            name: path.display().to_string(),
            error,
        })?),
        None if on_terminal && show.pager && !show.follow && matches!(show.form, Form::Text | Form::Markdown) => Sink::paged(),
        None => Sink::Stdout(Target::stdout()),
    };
    let failed = |error| Failure::Write {
        name: show
            .output
            .as_ref()
            .map_or_else(|| "standard output".to_owned(), |path| path.display().to_string()),
        error,
    };
    let shown = {
        let mut out = BufWriter::with_capacity(64 << 10, &mut sink);
        let shown = on_page(show, on_terminal, log, &mut out);
        shown.and_then(|shown| out.flush().map(|()| shown))
    };
    let paged = matches!(sink, Sink::Pager(_));
    let ended = sink.end();
    let shown = match shown {
        // Who leaves the pager has seen enough.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe && paged => return Ok(Status::Clean),
        shown => shown.map_err(failed)?,
    };
    ended.map_err(failed)?;
    if shown.empty {
        Console::plain().say(&format!("{name}: empty, there is nothing to show"));
    } else if let Some(turn) = show.pick.turn.filter(|turn| !(1..=shown.turns).contains(turn)) {
        Console::plain().say(&format!("{name}: there is no turn {turn}; the last one is {}", shown.turns));
    }
    match shown.stopped {
        Some(error) => Err(Failure::of_log(&name, error)),
        None if shown.damaged > 0 => Ok(Status::Damaged),
        None => Ok(Status::Clean),
    }
}

fn on_page(asked: &Show, on_terminal: bool, log: Joined<'_>, out: Out<'_>) -> io::Result<Shown> {
    let colour = super::colour(asked.colour, on_terminal);
    let width = asked
        .width
        .or_else(|| if on_terminal { super::terminal_width() } else { None })
        .or(colour.then_some(100));
    let look = Look {
        colour,
        width,
        cut: asked.cut,
        thinking: asked.thinking,
        utc: asked.utc,
    };
    let mut text;
    let mut markdown;
    let mut html;
    let mut json;
    let page: &mut dyn Page = match asked.form {
        Form::Text => {
            text = Resized {
                page: TextPage::new(out, look),
                follows: on_terminal && asked.follow && asked.width.is_none(),
            };
            &mut text
        }
        Form::Markdown => {
            markdown = MarkdownPage::new(out, look);
            &mut markdown
        }
        Form::Html => {
            html = HtmlPage::new(out, look);
            &mut html
        }
        Form::Json => {
            json = JsonPage::new(out);
            &mut json
        }
    };
    show(log, &asked.pick, page)
}

/// A page of text. While a log grows, a person may make the terminal wider or narrower.
struct Resized<'w> {
    page: TextPage<Out<'w>>,
    follows: bool,
}

impl Page for Resized<'_> {
    fn row(&mut self, row: &Row<'_>) -> io::Result<()> {
        if self.follows {
            self.page.set_width(super::terminal_width());
        }
        self.page.row(row)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.page.flush()
    }
}

/// The log. What a subagent does while it grows is not to be seen.
fn open(show: &Show) -> Result<Joined<'static>, Failure> {
    if show.follow
        && let Some(path) = show.input.path()
    {
        let log = Growing::open(&path).map_err(|error| Failure::Read {
            name: show.input.name(),
            error,
        })?;
        return Ok(Joined::alone(log, show.from.map_or(Written::Auto, Written::Is), &show.input.name()));
    }
    Joined::open(&show.input, show.from, show.subagents, &Console::plain()).map_err(|failure| match failure {
        Failure::Read { name, error } if error.kind() == io::ErrorKind::IsADirectory => Failure::Read {
            name,
            error: io::Error::new(error.kind(), "it is a folder; `agentglot view` shows all logs of one"),
        },
        failure => failure,
    })
}

/// Where the page goes.
enum Sink {
    Stdout(Target),
    File(Target),
    Pager(Child),
}

impl Sink {
    /// A pager, if there is one that can be started.
    fn paged() -> Self {
        let named = ["AGENTGLOT_PAGER", "PAGER"].iter().find_map(|name| std::env::var(name).ok());
        let line = named.unwrap_or_else(|| "less".to_owned());
        let mut words = line.split_whitespace();
        let Some(program) = words.next().filter(|program| *program != "cat") else {
            return Self::Stdout(Target::stdout());
        };
        let mut command = Command::new(program);
        command.args(words).stdin(Stdio::piped());
        if std::env::var_os("LESS").is_none() {
            // Colours as they are; a page that fits stays on the screen.
            command.env("LESS", "FRX");
        }
        command.spawn().map_or_else(|_| Self::Stdout(Target::stdout()), Self::Pager)
    }

    /// Everything is written.
    fn end(self) -> io::Result<()> {
        match self {
            Self::Stdout(mut target) => target.flush(),
            Self::File(target) => target.commit(),
            Self::Pager(mut pager) => {
                drop(pager.stdin.take());
                pager.wait().map(|_| ())
            }
        }
    }
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Stdout(target) | Self::File(target) => target.write(bytes),
            Self::Pager(pager) => pager
                .stdin
                .as_mut()
                .map_or_else(|| Err(io::ErrorKind::BrokenPipe.into()), |pipe| pipe.write(bytes)),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Stdout(target) | Self::File(target) => target.flush(),
            Self::Pager(pager) => pager.stdin.as_mut().map_or(Ok(()), Write::flush),
        }
    }
}

/// A file that is read on while it grows.
struct Growing {
    file: File,
    path: PathBuf,
    read: u64,
}

/// So often a file is looked at.
const LOOK: Duration = Duration::from_millis(200);

impl Growing {
    fn open(path: &Path) -> io::Result<Self> {
        Ok(Self {
            file: File::open(path)?,
            path: path.to_owned(),
            read: 0,
        })
    }
}

impl Read for Growing {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let read = self.file.read(buffer)?;
            if read > 0 {
                self.read += read as u64;
                return Ok(read);
            }
            let about = self.file.metadata()?;
            if about.len() < self.read {
                Console::plain().say(&format!("{}: became shorter; what was read is shown", self.path.display()));
                return Ok(0);
            }
            if about.is_file() && !self.path.exists() {
                Console::plain().say(&format!("{}: is gone; what was read is shown", self.path.display()));
                return Ok(0);
            }
            if !about.is_file() {
                return Ok(0);
            }
            std::thread::sleep(LOOK);
        }
    }
}
