//! Protocols in which the host makes requests of a program and serves those that it makes: the host's side of them.
//!
//! A program that hosts speak to in lines is told what our host says as it comes ([`crate::live::Speaker`]). Here a conversation stands
//! between: a handshake, a session that is opened or loaded, prompts that are requests, questions whose answers carry the number of the
//! request. A [`Client`] holds it. It is the counterpart of a [`SessionServer`](crate::server::SessionServer) and like everything here it does no IO: it takes
//! what the host says and the program's lines, and tells what is to be written to the program and what the session is to read.

use std::fmt::Debug;

use crate::codec::{Dialect, Format};
use crate::event::Input;
use crate::json::Raw;
use crate::launch::{Launch, Means, PermissionMode, Program};
use crate::server::Listed;

/// The host's side of such a protocol, for one session.
pub trait Client: Debug {
    /// What the session reads: [`Exchange::session`] is lines of it.
    fn format(&self) -> Format;

    /// What stands on the program's command line behind its name.
    fn args(&self) -> Vec<String>;

    /// Asks the program of its sessions in place of holding one. Said before [`Self::begin`]; when all was said, it is over for no reason (an
    /// empty [`Exchange::over`]). Returns whether it can be asked.
    fn inquire(&mut self, inquiry: Inquiry) -> bool {
        let _ = inquiry;
        false
    }

    /// The sessions that it has named.
    fn sessions(&mut self) -> Vec<Listed> {
        Vec::new()
    }

    /// The program has started: the handshake.
    fn begin(&mut self, exchange: &mut Exchange);

    /// The host says something. Returns whether the program will deal with it; what it does not deal with, the session answers. What comes
    /// before the handshake is over waits here.
    fn input(&mut self, input: &Input<'_>, exchange: &mut Exchange) -> bool;

    /// The program says a line, without its line feed.
    fn hear(&mut self, line: &[u8], exchange: &mut Exchange);

    /// Whether the program has answered anything. One that ends before that does not speak the protocol.
    fn has_answered(&self) -> bool;

    /// What is waited for: it may not take for ever.
    fn waits(&self) -> Option<Wait>;

    /// What is waited for did not come in time.
    fn late(&mut self, exchange: &mut Exchange);

    /// How many bytes of what the host said wait here.
    fn queued(&self) -> usize;

    /// What came of a [`ClientCall`] of this number. Each is told once, whatever became of it.
    fn done(&mut self, number: u64, done: Result<Done, Undone>, exchange: &mut Exchange) {
        let _ = (number, done, exchange);
    }
}

/// Begins such a conversation with a program, as a launch wants it.
pub type Begin = for<'l> fn(&'l Launch, &'static Program) -> Box<dyn Client>;

/// How a program is spoken to that serves a protocol which is nobody's: its client is the one of that protocol.
#[derive(Clone, Copy, Debug)]
pub struct Serves {
    /// The protocol.
    pub protocol: Dialect,
    /// What stands first on its command line.
    pub child: &'static [&'static str],
    /// What its flags say there; all else is said in the protocol, or not at all.
    pub flags: &'static [Means],
    /// Variables of its environment that it is started with.
    pub variables: &'static [(&'static str, &'static str)],
    /// A variable that holds settings of its own as JSON, and what they say besides. What stands there already counts more.
    pub settings: Option<(&'static str, &'static str)>,
    /// Words of its answer to a session that it does not know.
    pub unknown: &'static [&'static str],
    /// Launches that its own lines serve better, a turn a process.
    pub in_lines: fn(&Launch) -> bool,
    /// Tools of MCP servers are called `SERVER_TOOL`, whatever characters the two have; it asks about a call of them before it says the
    /// arguments.
    pub joins_names: bool,
    /// A text of an MCP tool's result that is JSON is its structured content too, and where that is no object the call has failed.
    pub wants_objects: bool,
    /// What it says otherwise of a call than others do.
    pub call: fn(Raw<'_>) -> Vec<Member>,
}

/// A member that an object is to have: its name and its value as JSON, or none if it is to have none.
pub type Member = (&'static str, Option<String>);

/// What a program is asked of the sessions that it keeps.
#[derive(Clone, Debug)]
pub enum Inquiry {
    /// Which there are.
    Sessions {
        /// In this folder; in all, if none is named.
        cwd: Option<String>,
    },
    /// What was said in the one of this id, which worked in the launch's folder: [`Exchange::session`] is that.
    Said(String),
}

/// What a program is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    /// The answers of the handshake, up to an open session.
    Begin,
    /// The end of a turn that the host does not want any more.
    Stop,
    /// The arguments of a call of which it has asked already.
    Arguments,
}

/// What comes of something that was said.
#[derive(Debug, Default)]
pub struct Exchange {
    /// Lines for the program.
    pub program: Vec<u8>,
    /// Lines for the session: of the conversation, both sides', as a recorder would have written them.
    pub session: Vec<u8>,
    /// No turn of this session can be answered any more, for this reason.
    pub over: Option<String>,
    /// What nobody is told but our log.
    pub notes: Vec<String>,
    /// What the program wants done here, in this order.
    pub client_calls: Vec<ClientCall>,
}

/// Something that the program does not do itself, but wants done by its host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientCall {
    /// The number under which it is told what came of it.
    pub number: u64,
    /// What is to be done.
    pub act: Act,
    /// The host has been asked about just this, and allows it.
    pub permitted: bool,
    /// The permission mode that the host wants.
    pub mode: PermissionMode,
}

/// What is to be done. Paths are as the program wrote them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Act {
    /// Read a text.
    Read {
        /// The file.
        path: String,
        /// The first line, from 1.
        line: Option<u64>,
        /// How many lines.
        limit: Option<u64>,
    },
    /// Write a text as a whole.
    Write {
        /// The file.
        path: String,
        /// The text.
        content: String,
    },
    /// Run a command in a terminal.
    Start(Start),
    /// Say what the command of this terminal has written, and whether it has ended.
    Output(String),
    /// Wait until it has.
    Wait(String),
    /// End it.
    Kill(String),
    /// End it, and forget the terminal.
    Release(String),
}

/// A command for a terminal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Start {
    /// For a shell.
    pub command: String,
    /// The same as people and rules are told it: with the variables that may change what it does.
    pub shown: String,
    /// Variables that it gets besides the usual ones.
    pub env: Vec<(String, String)>,
    /// Where; in the session's folder if this is `None`.
    pub folder: Option<String>,
    /// How many of the last bytes of its output are kept.
    pub keep: Option<u64>,
}

/// What was done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Done {
    /// Just that.
    Nothing,
    /// A text was read.
    Text(String),
    /// A command runs in the terminal of this id.
    Started(String),
    /// What a command has written.
    Output {
        /// The end of it.
        text: String,
        /// There was more before that.
        cut: bool,
        /// How it ended, if it has.
        exit: Option<Exit>,
    },
    /// A command has ended.
    Ended(Exit),
}

/// How a command ended: by itself, by a signal, or nobody knows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Exit {
    /// Its exit code.
    pub code: Option<i32>,
    /// The signal that ended it, by its name.
    pub signal: Option<String>,
}

/// Why something was not done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Undone {
    /// The host has to be asked first. It is wanted once more, as permitted, if that is allowed.
    AskHost,
    /// There is no such thing.
    Missing(String),
    /// It makes no sense.
    Wrong(String),
    /// It may not be.
    Refused(String),
    /// It went wrong.
    Failed(String),
}
