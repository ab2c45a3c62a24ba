//! A run that a person watches on a terminal.

use std::fs::{File, OpenOptions};
use std::io::{IsTerminal, stdin, stdout};
use std::os::unix::fs::OpenOptionsExt;

use agentglot_adapters::raw::codec::Mode;
use agentglot_adapters::raw::launch::Launch;
use rustix::fs::OFlags;

use crate::show::{Cut, Look};

/// Where the person who watches types answers.
#[derive(Debug)]
pub(super) enum Typist {
    /// Nowhere.
    Nobody,
    /// On standard input.
    Stdin,
    /// On the terminal itself: something else came in on standard input.
    Terminal(File),
}

impl Typist {
    /// Where somebody who watches can type.
    pub(super) fn who_watches() -> Self {
        if stdin().is_terminal() {
            return Self::Stdin;
        }
        let flags = OFlags::NOCTTY.bits().cast_signed();
        let keys = OpenOptions::new().read(true).custom_flags(flags).open("/dev/tty").ok();
        // A job in the background is stopped when it reads from its terminal.
        let ours = |keys: &File| rustix::termios::tcgetpgrp(keys).is_ok_and(|group| group == rustix::process::getpgrp());
        keys.filter(ours).map_or(Self::Nobody, Self::Terminal)
    }
}

/// Whether a person watches on a terminal what would be plain text elsewhere.
pub(super) fn is_watched(launch: &Launch) -> bool {
    let moves = std::env::var_os("TERM").is_none_or(|term| term != "dumb");
    launch.format.mode == Mode::TEXT && !launch.has_stdin_protocol() && moves && stdout().is_terminal()
}

/// The launch of an agent whose answers are shown as they come.
pub(super) fn asked_for_pieces(launch: &Launch, watched: bool) -> Launch {
    let mut launch = launch.clone();
    launch.partial |= watched;
    launch
}

/// How a run looks there.
pub(super) fn look(colour: Option<bool>) -> Look {
    Look {
        colour: crate::command::colour(colour, true),
        width: crate::command::terminal_width(),
        cut: Cut::USUAL,
        thinking: false,
        utc: false,
    }
}

/// How wide and how high it is.
pub(super) fn size() -> (usize, usize) {
    terminal_size::terminal_size().map_or((80, 24), |(width, height)| (usize::from(width.0).max(20), usize::from(height.0).max(4)))
}
