//! The program that speaks the protocol: editors start it and say everything else in its lines.

use super::client::Conversation;
use super::server::Sessions;
use crate::codec::{Dialect, Layout, Mode};
use crate::conduct::{Conduct, Damage, Ended, Misread};
use crate::launch::{ArgError, Flag, Grammar, InputFormat, Launch, PermissionMode, Program, PromptBy, Traits, flags};

pub(crate) static PROGRAM: Program = Program {
    dialect: Dialect::Acp,
    name: "acp",
    product: "an agent of the Agent Client Protocol",
    version: env!("CARGO_PKG_VERSION"),
    grammar: Grammar::Commander,
    flags: FLAGS,
    commands: &[],
    closed: true,
    check,
    child: &[],
    prompt: PromptBy::Lines,
    permission: PermissionMode::Ask,
    no_prompt: || ArgError::line("error: prompts come on standard input, as session/prompt", 1),
    no_session: |id| ArgError::line(format!("error: there is no session {id}"), 1),
    no_key: None,
    links: &["acp"],
    claims: None,
    backend: &[],
    file: "acp",
    environment: &[],
    log_in: "set the variable that holds its key (--pass-env names others than the usual), or log in with its own program once",
    api: "anthropic",
    patience: None,
    traits: Traits {
        server: |_| Some(|setup| Box::new(Sessions::new(setup))),
        client: Some(|launch, program| Box::new(Conversation::new(launch, program.traits.serves))),
        command: Some("acp"),
        ..Traits::NONE
    },
    conduct: &Acp,
};

const FLAGS: &[Flag] = &flags! {
    "--model": Value("<model>") => Model, "the model that sessions begin with";
    "--permission-mode": OneOf("<mode>", &["default", "acceptEdits", "plan", "dontAsk", "bypassPermissions"], &[])
        => Permission, "the mode that they begin with";
    "--add-dir": List("<directories...>") => AddDir, "more directories that tools may use";
    "--acp": Switch => Rest, "nothing: editors give it to agents that are something else without it";
    "-v", "--version": Switch => Version, "the version";
    "-h", "--help": Switch => Help, "this help";
};

fn check(launch: &mut Launch, _: &dyn Fn(&str) -> bool) -> Result<(), ArgError> {
    if launch.prompt.take().is_some() {
        return Err((PROGRAM.no_prompt)());
    }
    launch.rest.retain(|(flag, value)| match flag.as_str() {
        "--permission-mode" => {
            let mode = PermissionMode::NAMES.iter().find(|(name, _)| Some(*name) == value.as_deref());
            launch.permission = mode.map(|(_, mode)| *mode);
            false
        }
        _ => true,
    });
    launch.format = Dialect::Acp.into();
    launch.input = InputFormat::StreamJson;
    Ok(())
}

/// The program as a whole: each session behaves as the program that it is inside.
#[derive(Clone, Copy, Debug)]
struct Acp;

impl Conduct for Acp {
    fn version(&self) -> &'static str {
        PROGRAM.version
    }

    fn damaged(&self, line: &Misread<'_>) -> Damage {
        Damage::Told(line.why.to_owned())
    }

    fn exit_code(&self, _ended: Ended) -> u8 {
        0
    }

    fn can_ask(&self) -> bool {
        true
    }

    fn tells_failures(&self, mode: Mode) -> bool {
        mode.layout == Layout::Lines
    }
}
