//! What becomes of control traffic behind each back end: docs/run.md shows this table, and the back ends act by it.

use crate::adapters::raw::codec::Dialect;
use crate::adapters::raw::event::ControlKind;
use crate::adapters::raw::launch;

/// What a host and an agent say to each other besides prompts and events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Control {
    /// Host: the handshake.
    Initialize,
    /// Host: stop the turn.
    Interrupt,
    /// Host: another model.
    SetModel,
    /// Host: another permission mode.
    SetMode,
    /// Host: anything else that it wants to know or to have done.
    Query,
    /// Agent: may this tool run?
    Permission,
    /// Host: yes, with these arguments instead.
    ChangedArguments,
    /// Agent: run this hook of the host's.
    Hook,
    /// Agent: a message for an MCP server that lives in the host.
    Mcp,
    /// Host: a message of such a server that answers none of the agent's.
    HostMcp,
}

impl Control {
    /// Every one.
    pub const ALL: [Self; 10] = [
        Self::Initialize,
        Self::Interrupt,
        Self::SetModel,
        Self::SetMode,
        Self::Query,
        Self::Permission,
        Self::ChangedArguments,
        Self::Hook,
        Self::Mcp,
        Self::HostMcp,
    ];

    /// What a request of the host's is, by its kind.
    pub const fn of_host(kind: ControlKind) -> Self {
        match kind {
            ControlKind::Initialize => Self::Initialize,
            ControlKind::Interrupt => Self::Interrupt,
            ControlKind::SetModel => Self::SetModel,
            ControlKind::SetMode => Self::SetMode,
            ControlKind::CanUseTool => Self::Permission,
            ControlKind::Hook => Self::Hook,
            ControlKind::Mcp => Self::HostMcp,
            ControlKind::Confirm | ControlKind::Other => Self::Query,
        }
    }

    /// What it is called on the wire.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Initialize => "initialize",
            Self::Interrupt => "interrupt",
            Self::SetModel => "set_model",
            Self::SetMode => "set_permission_mode",
            Self::Query => "any other request",
            Self::Permission => "can_use_tool",
            Self::ChangedArguments => "updatedInput",
            Self::Hook => "hook_callback",
            Self::Mcp => "mcp_message",
            Self::HostMcp => "mcp_message of the host's own accord",
        }
    }
}

/// Who answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Behind {
    /// The session inside the program.
    Demo,
    /// A recorded log.
    Replay,
    /// The program of this dialect.
    Program(Dialect),
    /// The built-in agent.
    Agent,
}

impl Behind {
    /// Every one.
    pub fn all() -> impl Iterator<Item = Self> {
        let programs = launch::Program::backends().map(|program| Self::Program(program.dialect));
        let commands = launch::Program::commands().map(|(_, program)| Self::Program(program.dialect));
        [Self::Demo, Self::Replay]
            .into_iter()
            .chain(programs)
            .chain(commands)
            .chain([Self::Agent])
    }

    /// Its name on our command line.
    pub fn name(self) -> String {
        match self {
            Self::Demo => "demo".to_owned(),
            Self::Replay => "replay".to_owned(),
            Self::Agent => "model:…".to_owned(),
            Self::Program(dialect) => {
                let program = dialect.program();
                match program.and_then(|program| program.traits.command) {
                    Some(word) => format!("{word}:…"),
                    None => {
                        let name = program.and_then(|program| program.backend.first());
                        format!("cli:{}", name.unwrap_or(&dialect.name()))
                    }
                }
            }
        }
    }
}

/// What becomes of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// It goes over in the other side's words, and so does the answer.
    Passed,
    /// We see to it in another way.
    Emulated,
    /// It is answered with an error, or cannot happen.
    Refused,
}

impl Reach {
    /// The word for it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Emulated => "emulated",
            Self::Refused => "refused",
        }
    }
}

/// What becomes of a control message between a host and a back end, and how. A program behind a host of its own dialect gets
/// everything as it is.
pub fn reach(control: Control, host: Dialect, behind: Behind) -> (Reach, &'static str) {
    use Control::{ChangedArguments, Hook, HostMcp, Initialize, Interrupt, Mcp, Permission, Query, SetMode, SetModel};
    use Reach::{Emulated, Passed, Refused};
    let dialect = match (behind, control) {
        (Behind::Demo | Behind::Replay, Permission | Hook | Mcp) => return (Passed, "asked again as in the log, and waited for"),
        (Behind::Demo | Behind::Replay, ChangedArguments) => return (Emulated, "permission like any other: the log goes on as it was recorded"),
        (Behind::Demo | Behind::Replay, Interrupt) => return (Emulated, "the turn ends here"),
        (Behind::Demo | Behind::Replay, Initialize | SetModel | SetMode | Query | HostMcp) => {
            return (Emulated, "the recorded answer of the same request, else our own");
        }
        (Behind::Agent, Query) => {
            return (
                Passed,
                "context, usage, MCP servers, files and what runs in the background by the agent itself; the rest is answered by us, from what is known",
            );
        }
        (Behind::Agent, _) => return (Passed, "it is the agent's own"),
        (Behind::Program(dialect), _) => dialect,
    };
    let program = dialect.program();
    let by_hooks = program.is_some_and(|program| program.traits.asks_by_hooks);
    if let Some(program) = program.filter(|program| program.takes_requests(host)) {
        return match control {
            SetModel | SetMode if program.changes_with_turns() => (Passed, "with the next turn"),
            Initialize => (Emulated, "answered by us at once; its session begins with the servers that are named"),
            Interrupt => (Passed, "in its own words; the turn ends when it says so"),
            SetModel => (Passed, "where it has a choice of models, and it has this one"),
            SetMode => (Passed, "where it has a mode that means it; else its questions are answered by us"),
            Query => (Emulated, "answered by us, from what is known"),
            Permission => (Passed, "in its own words"),
            ChangedArguments => (Refused, "it runs what it asked for: such a permission is a denial that says so"),
            Hook => (
                Emulated,
                "it calls none of its host's: the session does, for prompts, calls and the end of a turn",
            ),
            Mcp => (Emulated, "in place of the server it starts our program, which passes its messages on"),
            HostMcp => (Emulated, "passed to the program by the same way"),
        };
    }
    if program.is_some_and(launch::Program::is_one_turn) {
        return match control {
            Interrupt => (Emulated, "the program of the turn is stopped"),
            SetModel | SetMode => (Emulated, "told to the program of the next turn"),
            Initialize | Query => (Emulated, "answered by us, from what is known"),
            Permission if dialect.conduct().asks_in_text() => (Emulated, "its question in plain text is put to the host, and the answer typed"),
            Permission => (Refused, "it asks nobody"),
            ChangedArguments => (Refused, "it runs what it asked for: such a permission is a denial that says so"),
            Hook => (
                Emulated,
                "it calls none of its host's: the session does, for prompts, calls and the end of a turn",
            ),
            Mcp => (Refused, "it has no way to a server inside the host"),
            HostMcp => (Emulated, "acknowledged; the program is not told"),
        };
    }
    // From here on the programs that live as long as the session.
    match control {
        ChangedArguments if by_hooks && host == dialect => (Refused, "it runs what it asked for"),
        _ if host == dialect => (Passed, "in its own words"),
        Permission | ChangedArguments | Hook if by_hooks => (Emulated, "its settings hooks ask the host"),
        Initialize if by_hooks => (
            Emulated,
            "answered by us at once; it is started with the servers and the system prompt that are named, and told the agents",
        ),
        Initialize => (
            Emulated,
            "answered by us at once; it is started with the servers that are named, and told the agents",
        ),
        Query if by_hooks => (Passed, "where it has a word for it; else answered by us"),
        Query => (Emulated, "answered by us, from what is known"),
        HostMcp if by_hooks => (Emulated, "acknowledged; the program is not told"),
        _ => (Passed, "in its own words"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::adapters::raw::live::{Heard, Listener, Manner, Speaker};

    /// What a host's line is in the words of a program.
    fn said(host: Dialect, program: Dialect, line: &str) -> Vec<u8> {
        let mut voice = Speaker::new(Manner::new(host, program.into()));
        let mut words = Vec::new();
        Listener::to_host(host, 1 << 20).feed(format!("{line}\n").as_bytes(), &mut |heard| {
            if let Heard::Input(input) = heard {
                voice.input(input, &mut words);
            }
        });
        words
    }

    #[test]
    fn what_is_passed_has_words_in_the_other_dialect() {
        let requests = [
            (Control::Interrupt, r#"{"subtype":"interrupt"}"#),
            (Control::SetModel, r#"{"subtype":"set_model","model":"m"}"#),
            (Control::SetMode, r#"{"subtype":"set_permission_mode","mode":"plan"}"#),
            (
                Control::HostMcp,
                r#"{"subtype":"mcp_message","server_name":"s","message":{"jsonrpc":"2.0","id":1,"method":"ping"}}"#,
            ),
            (Control::Query, r#"{"subtype":"get_context_usage"}"#),
        ];
        for (host, program) in [(Dialect::Claude, Dialect::QwenCode), (Dialect::QwenCode, Dialect::Claude)] {
            for (control, request) in requests {
                let line = format!(r#"{{"type":"control_request","request_id":"r","request":{request}}}"#);
                let passed = reach(control, host, Behind::Program(program)).0 == Reach::Passed;
                let words = said(host, program, &line);
                assert_eq!(
                    !words.is_empty(),
                    passed,
                    "{host:?} over {program:?}: {request} is {}",
                    String::from_utf8_lossy(&words)
                );
            }
        }
    }

    #[test]
    fn a_program_behind_a_host_of_its_own_gets_everything_as_it_is() {
        for dialect in [Dialect::Claude, Dialect::QwenCode] {
            for control in Control::ALL.into_iter().filter(|control| *control != Control::ChangedArguments) {
                assert_eq!(
                    reach(control, dialect, Behind::Program(dialect)).0,
                    Reach::Passed,
                    "{dialect:?} {control:?}"
                );
            }
        }
    }
}
