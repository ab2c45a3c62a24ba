//! What a script can say: one command a line, `#` begins a comment.
//!
//! | command | what happens |
//! |---|---|
//! | `say TEXT` | a line on stdout; `write TEXT` leaves the line end out; `warn TEXT` is a line on stderr |
//! | `file MS PATH` | the lines of a file, so many milliseconds apart; `rate N TIMES PATH`: N lines a second, the file so many times over |
//! | `pour TIMES PATH` | a file so many times over, in the largest writes that there are |
//! | `cut N MS` | every write from here on is cut into pieces of N bytes, so many milliseconds apart; `cut 0 0` ends it |
//! | `flood stdout\|stderr BYTES` | so many bytes, in lines |
//! | `sleep MS` · `hang` | waits · never ends, whatever happens to stdin |
//! | `ignore SIGNAL` · `at SIGNAL TEXT` | TERM, INT or HUP does nothing · writes a line and ends with 128 and its number |
//! | `die SIGNAL` · `exit CODE` | ends at once |
//! | `spawn` · `spawn detached` | a grandchild that ignores TERM, holds our pipes and never ends · in a session of its own |
//! | `reexec` · `respawn` | the rest of the script is done by this program executed anew · started anew and waited for |
//! | `pid PATH` | adds our process id to a file; a grandchild that `spawn` started does so too |
//! | `starts PATH` | what follows are parts, with lines of `---` between them: the first start does the first one, the second start the second one |
//! | `args` · `env NAME` · `cwd` | a line about it; `args PATH` adds the line to a file |
//! | `read` · `read all` | waits for a line, or the end, of stdin; `echo` gives every line back until the end; `count` reads all and says how many bytes |
//! | `keep PATH` | from here on, lines from stdin are added to a file |
//! | `control answer\|never\|twice\|unknown\|malformed` | how `control_request` lines are answered, while anything else goes on |
//! | `answered MS` | waits for the next `control_response`, whatever its id, at most so long |
//! | `ask ID MS JSON` | a `control_request` with this request, and waits for the answer, at most so long; a line says which it was |
//!
//! `@NS@` in a text or in a line of a file becomes the monotonic clock in nanoseconds; `\n` and `\t` in a text what they mean.

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;

/// One line of a script.
#[derive(Clone, Debug)]
pub(crate) struct Command {
    pub(crate) word: String,
    pub(crate) rest: String,
}

impl Command {
    /// So many words, and then what is left.
    pub(crate) fn split<const N: usize>(&self) -> Result<[&str; N], String> {
        let mut parts = self.rest.splitn(N, ' ');
        let all = std::array::from_fn(|_| parts.next().unwrap_or_default());
        if all.last().is_none_or(|last| last.is_empty()) {
            return Err(format!("{} {}: {N} words are needed", self.word, self.rest));
        }
        Ok(all)
    }
}

/// The text of the script.
pub(crate) fn find(args: &[OsString]) -> Result<String, String> {
    let read = |path: &OsString| std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()));
    let text = |arg: &OsString| String::from_utf8_lossy(arg.as_bytes()).into_owned();
    match args {
        [_, flag, path, ..] if flag == "--script" => return read(path),
        [_, flag, commands @ ..] if flag == "--do" => return Ok(commands.iter().map(text).collect::<Vec<_>>().join("\n")),
        _ => {}
    }
    if let Some(path) = std::env::var_os("FAKE_AGENT_SCRIPT") {
        return read(&path);
    }
    // What stands in argv may be a bare name; the program itself is where the link to it was looked up.
    let mut beside = args.first().cloned().unwrap_or_default();
    beside.push(".script");
    read(&beside)
}

pub(crate) fn parse(text: &str) -> Result<Vec<Command>, String> {
    const WORDS: [&str; 30] = [
        "say", "write", "warn", "file", "rate", "pour", "cut", "flood", "sleep", "hang", "ignore", "at", "die", "exit", "spawn", "reexec", "respawn",
        "pid", "args", "env", "cwd", "read", "echo", "count", "keep", "control", "answered", "ask", "starts", "---",
    ];
    let mut commands = Vec::new();
    for line in text
        .lines()
        .map(str::trim_start)
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
    {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        if !WORDS.contains(&word) {
            return Err(format!("{word}: there is no such command"));
        }
        commands.push(Command {
            word: word.to_owned(),
            rest: rest.to_owned(),
        });
    }
    Ok(commands)
}
