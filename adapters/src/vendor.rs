//! What a vendor's folder says of itself: one static descriptor, which everything shared asks.

use crate::codec::{Dialect, Mode, Style};
use crate::conduct::{Conduct, NoProgram};
use crate::detect::{Evidence, Opened};
use crate::launch::{PermissionMode, Program};
use crate::registry::{Decoder, Encoder};
#[cfg(feature = "schema")]
use crate::schema::Sides;
use crate::store::Store;
use crate::tools::table::{DetailReader, Tools};

/// A vendor: an agent's maker as we know it, or a protocol that belongs to nobody.
#[derive(Debug)]
pub struct Vendor {
    /// Its name on the command line.
    pub name: &'static str,
    /// What it is, in a few words.
    pub about: &'static str,
    /// Its modes; the first is the default.
    pub modes: &'static [Mode],
    /// A decoder at the beginning of a log in one of its modes.
    pub decoder: fn(Mode) -> Decoder,
    /// A decoder of what a host says, where hosts say it in lines of another kind than the agent's.
    pub host_decoder: Option<fn() -> Decoder>,
    /// An encoder at the beginning of a session; `None` if nobody writes it.
    pub encoder: Option<fn(Style) -> Encoder>,
    /// The files in which its program keeps sessions: what else there is to know of those of its modes.
    pub stores: &'static [Store],
    /// The dialect whose tools the built-in agent uses in this one, where those are not its own.
    pub agent_tools: Option<Dialect>,
    /// The members that only this dialect knows and that ride in [`crate::event::Event::fields`]: name and meaning, sorted by
    /// name. They stand on the dialect's page.
    pub fields: &'static [(&'static str, &'static str)],
    /// What a line says about the dialect of its log.
    pub(crate) recognise: fn(&Opened<'_>) -> Option<Evidence>,
    /// What its lines look like.
    #[cfg(feature = "schema")]
    pub schema: &'static Sides,
    /// Its names of permission modes; the first of a mode is the one that is written.
    pub permission_modes: &'static [(&'static str, PermissionMode)],
    /// Its program, if it has one.
    pub program: Option<&'static Program>,
    /// What its agent's tools are called, and how their arguments and results are spelled; `None` where calls are those of any agent.
    pub tools: Option<&'static Tools>,
    /// The structured form in which it says the results of tools, beside what the model sees.
    pub(crate) detail: Option<&'static DetailReader>,
    /// What is so of its logs and not of all.
    pub logs: Logs,
}

/// What is so of the logs of some vendors and not of others.
#[derive(Clone, Copy, Debug)]
pub struct Logs {
    /// Whether a run of its program is one turn, so that a session's facts always begin another turn.
    pub one_turn_a_run: bool,
    /// Whether all lines of one reply carry one id that no other reply has. Without it the end of a round is told by other
    /// signs.
    pub ids_name_rounds: bool,
    /// Whether it stores the events of other dialects: below a header that says whose they are, tools are named as they named them, and
    /// what is stored goes back as it was.
    pub stores_others: bool,
    /// Whether an answer comes in pieces only for those who ask for them; the whole follows in any case.
    pub pieces_on_request: bool,
    /// Where a line says the arguments of a call, as a JSON pointer; `NAME` stands for the tool's name.
    pub(crate) arguments_at: &'static str,
    /// Whether a log begins with its session's facts, before anything of a turn.
    pub(crate) facts: Facts,
    /// Who says where replies and blocks in pieces begin and stop, and numbers the blocks.
    pub(crate) pieces: Pieces,
    /// Whether a call that waits for the host's permission may get its result from the host.
    pub(crate) host_answers: bool,
    /// Whether tools may be the host's, which has their results: they are no part of the turn.
    pub(crate) host_runs_tools: bool,
    /// Whether what came of a call may be told when its turn is over.
    pub(crate) results_outlive_turns: bool,
    /// Whether subagents may work for no call.
    pub(crate) free_subagents: bool,
    /// Whether a call may be spoken of, as being on its way, before it is told, and has its place there.
    pub(crate) late_calls: bool,
    /// Whether a command may still run when its turn ends well, and then has no result.
    pub(crate) commands_outlive_turns: bool,
    /// Where lines say how many tokens were used, as JSON pointers.
    pub(crate) usage_at: &'static [&'static str],
    /// Where a compaction names the lines that it keeps, which may be told again: a field, and the names on the way through it.
    pub(crate) kept_at: &'static [&'static str],
    /// What the program writes in the user's role when the user stops it begins so. The outcome of the turn says it to others.
    pub(crate) stop_notice: &'static str,
    /// Whether the outcome of a turn lists the calls that were refused.
    pub lists_denials: bool,
    /// Whether a line that begins a session, names it and says its program's version is this dialect's for that alone.
    pub(crate) version_tells: bool,
    /// Whether its logs say of each turn how it ended.
    pub ends: Ends,
}

impl Logs {
    /// Those of a vendor of whose logs none of this has to be said.
    pub(crate) const USUAL: Self = Self {
        one_turn_a_run: false,
        ids_name_rounds: false,
        stores_others: false,
        pieces_on_request: false,
        arguments_at: "",
        facts: Facts::Always,
        pieces: Pieces::Made,
        host_answers: false,
        host_runs_tools: false,
        results_outlive_turns: false,
        free_subagents: false,
        late_calls: false,
        commands_outlive_turns: false,
        usage_at: &[],
        kept_at: &[],
        stop_notice: "",
        lists_denials: false,
        version_tells: false,
        ends: Ends::Said,
    };
}

/// Whether logs say of each turn how it ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ends {
    /// A line of each turn does.
    Said,
    /// Its last round says that it is the last: so its decoder tells an outcome, marked `synthetic`.
    WorkedOut,
    /// Nothing does. Trajectories do not, nor do the earlier turns of a session that is loaded.
    Unsaid,
}

/// Whether a log begins with its session's facts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Facts {
    /// They are told of no session.
    Never,
    /// Of most.
    Usual,
    /// Of each.
    Always,
}

/// Who says where replies and blocks in pieces begin and stop, and numbers the blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pieces {
    /// Its decoder.
    Made,
    /// Its lines do, with one numbering for each reply.
    Replies,
    /// Its lines do; behind a whole message the numbers begin anew, and so does the message's id. Subagents' messages have no start.
    Messages,
}

impl Dialect {
    /// Its name on the command line.
    pub const fn name(self) -> &'static str {
        self.vendor().name
    }

    /// What it is, in a few words.
    pub const fn about(self) -> &'static str {
        self.vendor().about
    }

    /// Its modes; the first is the default.
    pub const fn modes(self) -> &'static [Mode] {
        self.vendor().modes
    }

    /// The members that only this dialect knows and that ride in [`crate::event::Event::fields`]: name and meaning, sorted by
    /// name. They stand on the dialect's page.
    pub const fn fields(self) -> &'static [(&'static str, &'static str)] {
        self.vendor().fields
    }

    /// Its program; the canonical events and the model APIs have none.
    pub const fn program(self) -> Option<&'static Program> {
        self.vendor().program
    }

    /// How its own program behaves towards its host.
    pub fn conduct(self) -> &'static dyn Conduct {
        self.program().map_or(&NoProgram, |program| program.conduct)
    }
}
