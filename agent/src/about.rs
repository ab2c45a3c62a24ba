//! What the agent is to hosts of each dialect, for whoever wants to tell it: the pages of the documentation are made from it.

use std::rc::Rc;
use std::sync::Arc;

use crate::persona::{self, Start};
use crate::restrictions;
use crate::tools::fetch::Policy;
use crate::tools::shell::Settings;
use crate::tools::web_search::Engine;
use crate::tools::{Tool, World};
use crate::turn::{structured, subagent};
use crate::workspace::Wall;
use agentglot_adapters::raw::codec::Dialect;
use agentglot_adapters::raw::event::ToolKind;
use agentglot_adapters::raw::launch::{Flag, Launch, Means, PermissionMode};

/// What the agent makes of a flag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Heeded {
    /// It does what the flag says.
    Yes,
    /// It does not begin: the flag keeps the agent from something, and this one cannot be kept from that.
    Refused,
    /// The flag is taken and changes nothing.
    No,
}

/// What the agent makes of a flag of a dialect's program.
pub fn heeds(dialect: Dialect, flag: &Flag) -> Heeded {
    if restrictions::refuses(persona::of(dialect).restricts, flag.names) {
        Heeded::Refused
    } else if does_as_told(dialect, flag) {
        Heeded::Yes
    } else {
        Heeded::No
    }
}

fn does_as_told(dialect: Dialect, flag: &Flag) -> bool {
    use Means as M;
    let persona = persona::of(dialect);
    match flag.means {
        M::Rest => persona.heeded().any(|name| flag.names.contains(&name)),
        M::Private => false,
        M::Output | M::Lines | M::Input | M::Partial | M::Print | M::Prompt | M::PromptThenTerminal | M::Replay | M::Verbose | M::HookEvents => true,
        M::Model | M::Fallback | M::Thinking | M::ThinkingTokens | M::Effort | M::MaxTurns | M::MaxBudget | M::Schema => true,
        M::System | M::SystemFile | M::Append | M::AppendFile | M::Agents | M::Agent | M::Settings | M::SettingSources => true,
        M::Permission | M::PermissionIs(_) | M::Answerer | M::Answers | M::Tools | M::Allowed | M::Disallowed => true,
        M::Resume | M::Latest | M::SessionId | M::Fork | M::ResumeAt | M::Cwd | M::AddDir | M::Mcp | M::StrictMcp => true,
        M::Version | M::Help | M::Models | M::Sessions | M::Update => true,
    }
}

/// A tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolAbout {
    /// What the model calls it.
    pub name: String,
    /// What it means.
    pub kind: ToolKind,
    /// What it does, as the model is told, in a sentence.
    pub about: String,
    /// When it is there, if it is not always.
    pub when: &'static str,
}

/// The tools of a dialect, in the order in which the model is told of them; those of MCP servers come besides.
///
/// # Errors
/// When there is no place for a workspace to try them in.
pub fn tools(dialect: Dialect) -> std::io::Result<Vec<ToolAbout>> {
    let folder = tempfile::tempdir()?;
    let world = Rc::new(World {
        wall: Arc::new(Wall::new(folder.path())?),
        environment: Arc::default(),
        scratch: folder.path().to_owned(),
    });
    let persona = persona::of(dialect);
    let engine = Engine::new(None, |_| None).map_err(std::io::Error::other)?;
    let session = (persona.begin)(Start {
        launch: &mut Launch::new(dialect),
        world: &world,
        commands: Settings::default(),
        engine: None,
    });
    let session = session.map_err(std::io::Error::other)?;
    let tell = |tool: Rc<dyn Tool>, when: &'static str| {
        let spec = tool.spec();
        ToolAbout {
            name: spec.name.clone(),
            kind: spec.kind,
            about: sentence(&spec.description),
            when,
        }
    };
    let named = |tool: &Rc<dyn Tool>| if tool.is_told() { "" } else { "where `--tools` names it" };
    let mut all: Vec<ToolAbout> = session.tools(&world).into_iter().map(|tool| tell(tool.clone(), named(&tool))).collect();
    const WEB: &str = "where the command line or a file of settings names it";
    all.extend(persona.fetch.map(|fetch| fetch(Policy::new(Vec::new()))).map(|tool| tell(tool, WEB)));
    all.extend(persona.search.map(|search| search(engine)).map(|tool| tell(tool, WEB)));
    all.extend((persona.asking)().into_iter().map(|tool| {
        let when = if tool.spec().kind == ToolKind::ExitPlan { "in plan mode" } else { "" };
        tell(tool, when)
    }));
    if let Some(form) = persona.subagents {
        all.push(tell(Rc::new(subagent::Subagents::new(form, std::iter::empty(), false)), ""));
        all.push(tell(
            Rc::new(structured::Structured::new(&serde_json::json!({}), Rc::default())),
            "where the answer has a schema",
        ));
    }
    Ok(all)
}

/// The first sentence of a description.
fn sentence(text: &str) -> String {
    let paragraph = text.split("\n\n").next().unwrap_or_default();
    let end = paragraph.find(". ").map_or(paragraph.len(), |at| at + 1);
    paragraph[..end].split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The commands (`/NAME`) of a dialect, with their other names and what they do; those of files in settings folders come besides.
pub fn commands(dialect: Dialect) -> Vec<(&'static str, &'static [&'static str], &'static str)> {
    let known = persona::of(dialect).commands.all.iter().filter(|command| command.is_listed);
    known.map(|command| (command.name, command.aliases, command.description)).collect()
}

/// What a dialect calls the modes of permission, and what the agent does in them.
pub fn modes(dialect: Dialect) -> Vec<(String, &'static str)> {
    let words = PermissionMode::ALL
        .into_iter()
        .filter_map(|mode| mode.name(dialect).map(|name| (format!("`{name}`"), mode)));
    let flags = dialect.program().map_or(&[][..], |program| program.flags);
    let flags = flags.iter().filter_map(|flag| match flag.means {
        Means::PermissionIs(mode) => Some((flag.names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", "), mode)),
        _ => None,
    });
    let asks_in_plan = persona::of(dialect).permissions.asks_in_plan;
    let does = |mode| match mode {
        PermissionMode::Plan if asks_in_plan => "what reads runs; what changes something is asked about",
        _ => does(mode),
    };
    words.chain(flags).map(|(name, mode)| (name, does(mode))).collect()
}

const fn does(mode: PermissionMode) -> &'static str {
    match mode {
        PermissionMode::Ask => "reading in the workspace runs; writing, commands, the web, MCP tools and reading elsewhere are asked about",
        PermissionMode::AcceptEdits => "the same, but files of the workspace are changed without a question",
        PermissionMode::Plan => "what reads runs; what changes something is refused",
        PermissionMode::Bypass => "everything runs that no rule forbids or wants to be asked about",
        PermissionMode::DontAsk => "what would be asked about is refused",
        PermissionMode::Auto => "what changes something is asked about, as by `default`: no model judges calls here",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_that_are_heeded_are_flags() {
        for persona in persona::all() {
            let dialect = persona.dialect;
            for name in persona.heeded() {
                let program = dialect.program().unwrap();
                // `--no-x` is another way to write `--x`.
                let plain = name.replace("--no-chat", "--chat");
                let known = program.flags.iter().any(|flag| flag.names.contains(&plain.as_str()));
                assert!(known, "{} has no {name}", dialect.name());
            }
        }
    }

    #[test]
    fn descriptions_are_cut_behind_their_first_sentence() {
        assert_eq!(sentence("Reads a file. Not a folder."), "Reads a file.");
        assert_eq!(sentence("Gives work\n  to another\n\nKinds:\n- a. b"), "Gives work to another");
        let all = tools(Dialect::Claude).unwrap();
        let read = all.iter().find(|tool| tool.name == "Read").unwrap();
        assert!(read.kind == ToolKind::Read && read.about.ends_with('.'), "{read:?}");
    }
}
