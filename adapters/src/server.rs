//! Protocols in which one host, such as an editor, has many sessions with one program.
//!
//! Each session is a process of its own: our own program, which is there another dialect's program, one that a host speaks to in lines for
//! as long as it likes ([`inside`]). So sessions share nothing, and all that one needs (turns, deadlines, permissions, whoever answers) is
//! there already. A [`SessionServer`] stands before them: it takes the host's lines and what the sessions say, and tells what is to be done. Like
//! everything here it does no IO.

pub(crate) mod inside;
pub(crate) mod question;

use crate::codec::Dialect;
use crate::event::Event;
use crate::launch::{Launch, Program};

/// The program's side of such a protocol.
pub trait SessionServer: std::fmt::Debug {
    /// The host says a line.
    fn hear(&mut self, line: &[u8], actions: &mut Actions);

    /// The host says a line that was left out, for this reason; so it begins.
    fn left_out(&mut self, start: &[u8], why: &str, actions: &mut Actions);

    /// A session says something.
    fn said(&mut self, session: &str, event: &Event<'_>, actions: &mut Actions);

    /// This was said in a session before.
    fn recall(&mut self, session: &str, event: &Event<'_>, actions: &mut Actions);

    /// All that was said in this session before was told, and whoever answers keeps it so, perhaps under another id. Or there is no such session.
    fn recalled(&mut self, session: &str, found: Option<&Listed>, actions: &mut Actions);

    /// These sessions there are: what was asked for by this request. Or nobody can say, for this reason.
    fn listed(&mut self, request: &str, sessions: Result<&[Listed], &str>, actions: &mut Actions);

    /// What this request wants to be kept of a session is kept, and so it is from now on. Or there is no such session; or it cannot be kept, for this
    /// reason.
    fn kept(&mut self, _request: &str, _session: &str, _found: Result<Option<&Listed>, &str>, _actions: &mut Actions) {}

    /// The program of a session has ended, or is ended now, for this reason.
    fn ended(&mut self, session: &str, why: &str, actions: &mut Actions);

    /// The host says nothing more: nobody answers what it is asked.
    fn left(&mut self, actions: &mut Actions);

    /// Whether a request of the host's has no answer yet.
    fn is_busy(&self) -> bool;

    /// Every session ends now, for this reason: what has no answer gets one.
    fn stop(&mut self, why: &str, actions: &mut Actions);

    /// Takes out of whole lines for the host those that it has said it does not want.
    fn spare(&self, _out: &mut Vec<u8>) {}

    /// What is waited for in a session.
    fn waits(&self, session: &str) -> Option<Wait>;
}

/// What a session is waited for; neither may take for ever.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    /// That it begins.
    Begin,
    /// That it stops a turn that the host does not want any more.
    Stop,
}

/// What is to be done.
#[derive(Debug, Default)]
pub struct Actions {
    /// What the host is told.
    pub out: Vec<u8>,
    /// What else, in this order.
    pub todo: Vec<Action>,
    /// What nobody is told but our log.
    pub notes: Vec<String>,
}

/// One thing to do.
#[derive(Debug)]
pub enum Action {
    /// Start the program of a session.
    Open(String, Box<Launch>),
    /// Say these lines to it.
    Tell(String, Vec<u8>),
    /// Tell what was said in a session before: [`SessionServer::recall`], [`SessionServer::recalled`].
    Recall {
        /// The session.
        session: String,
        /// The folder in which it has to have worked, if one is named.
        cwd: Option<String>,
    },
    /// Remember that whoever answers keeps this session under an id of its own.
    Keep {
        /// The session.
        session: String,
        /// The other id.
        id: String,
    },
    /// Keep something of a session: [`SessionServer::kept`].
    Mark {
        /// The request, which the answer names.
        request: String,
        /// The session.
        session: String,
        /// What.
        mark: Mark,
    },
    /// Say which sessions there are: [`SessionServer::listed`].
    List {
        /// The request, which the answer names.
        request: String,
        /// Those of this folder.
        cwd: Option<String>,
    },
    /// End its program.
    Close(String),
}

/// What a host wants to be kept of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mark {
    /// It is called so.
    Name(String),
    /// It is put away.
    Archived,
    /// It is put away no more.
    Unarchived,
    /// There is no such session any more.
    Deleted,
}

/// A session that somebody can go on with.
#[derive(Clone, Debug)]
pub struct Listed {
    /// Its id.
    pub id: String,
    /// Where it worked.
    pub cwd: String,
    /// How it begins, or what the program that keeps it calls it.
    pub title: Option<String>,
    /// What its host calls it.
    pub name: Option<String>,
    /// When it was written last, in milliseconds since 1970.
    pub written: i64,
    /// It is put away.
    pub archived: bool,
}

/// What a server is made of.
#[derive(Clone, Debug)]
pub struct Setup {
    /// What each session begins with.
    pub launch: Launch,
    /// Makes the id of a session.
    pub new_id: fn() -> String,
    /// What time it is, in milliseconds since 1970.
    pub now: fn() -> i64,
    /// The system: its family, its name, and the processors that it runs on.
    pub system: [&'static str; 3],
    /// How many sessions may be open at a time.
    pub most: usize,
    /// The folder below which our own files are kept.
    pub home: String,
}

impl Setup {
    /// What is said where one more session is wanted than may be open, by a host that ends one with this request.
    pub(crate) fn too_many(&self, close: &str) -> String {
        format!("so many sessions are open as may be, {} (--max-sessions): {close} ends one", self.most)
    }
}

/// How a server begins.
pub type Open = fn(Setup) -> Box<dyn SessionServer>;

/// Whose program the sessions behind a server are.
///
/// # Panics
/// Never: one vendor's program says that it holds sessions.
pub fn inside() -> &'static Program {
    let mut programs = Dialect::readable().filter_map(Dialect::program);
    programs
        .find(|program| program.traits.holds_sessions)
        .expect("one program of the registry holds sessions")
}
