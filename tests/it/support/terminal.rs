//! A terminal with a screen, on which a test runs the program, types and looks.

use std::fs::File;
use std::io::{Read, Write};
use std::num::NonZero;
use std::os::fd::{AsFd, OwnedFd};
use std::process::{Child, Command, ExitStatus};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use agentglot::child::sys;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Termios, Winsize, tcgetattr, tcsetwinsize};

/// How long anything may take; an idle machine needs a hundredth of it.
const PATIENCE: Duration = Duration::from_secs(30);

/// A sequence that does nothing, and that nobody else writes.
const END: &str = "\u{1b}[0;0;0;0m";

/// What is typed to stop a program.
pub(crate) const CTRL_C: &str = "\u{3}";

/// A terminal that a program runs on.
pub(crate) struct Terminal {
    ours: File,
    /// Held, so that nothing is lost when the program ends, and its settings can be asked for.
    theirs: OwnedFd,
    seen: Arc<Mutex<Seen>>,
    child: Child,
}

struct Seen {
    screen: vt100::Parser<Tricks>,
    bytes: Vec<u8>,
}

/// What was done to the terminal besides writing on its screen.
#[derive(Default)]
struct Tricks(Vec<String>);

impl vt100::Callbacks for Tricks {
    fn audible_bell(&mut self, _: &mut vt100::Screen) {
        self.0.push("bell".to_owned());
    }

    fn resize(&mut self, _: &mut vt100::Screen, request: (u16, u16)) {
        self.0.push(format!("resize {request:?}"));
    }

    fn set_window_icon_name(&mut self, _: &mut vt100::Screen, name: &[u8]) {
        self.0.push(format!("icon {}", String::from_utf8_lossy(name)));
    }

    fn set_window_title(&mut self, _: &mut vt100::Screen, title: &[u8]) {
        self.0.push(format!("title {}", String::from_utf8_lossy(title)));
    }

    fn copy_to_clipboard(&mut self, _: &mut vt100::Screen, _: &[u8], _: &[u8]) {
        self.0.push("clipboard".to_owned());
    }
}

impl Terminal {
    /// Runs a program on a terminal of this width and 50 lines.
    pub(crate) fn run(command: Command, width: u16) -> Self {
        Self::run_with(command, width, None)
    }

    /// The same, with something else on standard input.
    pub(crate) fn run_piped(command: Command, width: u16, said: &str) -> Self {
        Self::run_with(command, width, Some(said))
    }

    fn run_with(mut command: Command, width: u16, said: Option<&str>) -> Self {
        let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
        grantpt(&ours).unwrap();
        unlockpt(&ours).unwrap();
        let name = ptsname(&ours, Vec::new()).unwrap();
        let flags = rustix::fs::OFlags::RDWR | rustix::fs::OFlags::NOCTTY | rustix::fs::OFlags::CLOEXEC;
        let theirs = rustix::fs::open(&name, flags, rustix::fs::Mode::empty()).unwrap();
        tcsetwinsize(&theirs, size(width)).unwrap();
        for end in [Command::stdin, Command::stdout, Command::stderr] {
            end(&mut command, theirs.try_clone().unwrap());
        }
        command.env("TERM", "xterm-256color");
        sys::own_terminal(&mut command);
        if let Some(said) = said {
            let (reader, mut writer) = std::io::pipe().unwrap();
            writer.write_all(said.as_bytes()).unwrap();
            command.stdin(reader);
        }
        let child = command.spawn().expect("the program starts");
        let rows = NonZero::new(ROWS).expect("it has lines");
        let columns = NonZero::new(width).expect("it has columns");
        let seen = Arc::new(Mutex::new(Seen {
            screen: vt100::Parser::new_with_callbacks(rows, columns, 10_000, Tricks::default()),
            bytes: Vec::new(),
        }));
        let ours = File::from(ours);
        let (mut reader, kept) = (ours.try_clone().unwrap(), seen.clone());
        std::thread::spawn(move || {
            let mut room = [0; 4096];
            while let Ok(read @ 1..) = reader.read(&mut room) {
                let mut seen = kept.lock().unwrap();
                seen.screen.process(&room[..read]);
                seen.bytes.extend_from_slice(&room[..read]);
            }
        });
        Self { ours, theirs, seen, child }
    }

    /// Types it.
    pub(crate) fn types(&self, text: &str) {
        (&self.ours).write_all(text.as_bytes()).unwrap();
    }

    /// Waits until the screen shows this.
    pub(crate) fn shows(&self, text: &str) {
        self.comes(text, |screen| screen.contains(text));
    }

    /// Waits until this is so of the text of the screen.
    pub(crate) fn comes(&self, what: &str, so: impl Fn(&str) -> bool) {
        let until = Instant::now() + PATIENCE;
        while !so(&self.screen()) {
            assert!(Instant::now() < until, "{what:?} does not come:\n{}", self.screen());
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// What the screen shows.
    pub(crate) fn screen(&self) -> String {
        self.seen.lock().unwrap().screen.screen().contents()
    }

    /// The colour of the first letter of this text on the screen, as the terminal has it.
    pub(crate) fn colour(&self, text: &str) -> vt100::Color {
        let seen = self.seen.lock().unwrap();
        let screen = seen.screen.screen();
        let (_, columns) = screen.size();
        for (row, line) in screen.rows(0, columns.get()).enumerate() {
            let Some(at) = line.find(text) else { continue };
            let column = unicode_width::UnicodeWidthStr::width(&line[..at]);
            let cell = screen
                .cell(row.try_into().unwrap(), column.try_into().unwrap())
                .expect("it is on the screen");
            return cell.fgcolor();
        }
        panic!("{text:?} is not there:\n{}", screen.contents());
    }

    /// What was written, as it came.
    pub(crate) fn said(&self) -> String {
        self.all().replace(END, "")
    }

    fn all(&self) -> String {
        String::from_utf8_lossy(&self.seen.lock().unwrap().bytes).into_owned()
    }

    /// Whether the cursor is to be seen, and what was done to the terminal besides writing.
    pub(crate) fn state(&self) -> (bool, Vec<String>) {
        let seen = self.seen.lock().unwrap();
        (!seen.screen.screen().hide_cursor(), seen.screen.callbacks().0.clone())
    }

    /// Makes it that wide.
    pub(crate) fn resize(&self, width: u16) {
        let mut seen = self.seen.lock().unwrap();
        let columns = NonZero::new(width).expect("it has columns");
        seen.screen.set_size(NonZero::new(ROWS).expect("it has lines"), columns);
        tcsetwinsize(&self.theirs, size(width)).unwrap();
    }

    /// How its lines are set: echo, signals, line ends.
    pub(crate) fn settings(&self) -> Settings {
        Settings::of(&tcgetattr(self.theirs.as_fd()).unwrap())
    }

    /// Waits until the program has ended, and until all that it wrote was read.
    pub(crate) fn ends(&mut self) -> ExitStatus {
        let until = Instant::now() + PATIENCE;
        let status = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status;
            }
            assert!(Instant::now() < until, "it does not end:\n{}", self.screen());
            std::thread::sleep(Duration::from_millis(5));
        };
        // What is written last comes last.
        rustix::io::write(&self.theirs, END.as_bytes()).unwrap();
        self.comes("the end", |_| self.all().contains(END));
        status
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What programs change of a terminal.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Settings(rustix::termios::InputModes, rustix::termios::OutputModes, rustix::termios::LocalModes);

impl Settings {
    const fn of(termios: &Termios) -> Self {
        Self(termios.input_modes, termios.output_modes, termios.local_modes)
    }
}

const ROWS: u16 = 50;

const fn size(width: u16) -> Winsize {
    Winsize {
        ws_row: ROWS,
        ws_col: width,
        ws_xpixel: 0,
        ws_ypixel: 0,
    }
}
