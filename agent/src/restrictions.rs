//! Flags by which a host keeps the agent from something. Where that cannot be done the agent does not begin: nobody gets more than was asked
//! for without a word.

use std::time::Duration;

use agentglot_adapters::raw::launch::Launch;

/// What a flag keeps the agent from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Restriction {
    /// Files of settings and of instructions, and what lies in the folders beside them.
    Settings,
    /// Files of settings and of instructions of the project.
    ProjectSettings,
    /// What files add to the agent: instructions, hooks, subagents, commands, skills, styles, MCP servers. What else they say counts.
    Additions,
    /// The plugins that the command line names.
    Plugins,
    /// Subagents that the command line describes.
    Subagents,
    /// Own tools that belong to a feature, where the value names it.
    Feature(&'static str, &'static [&'static str]),
    /// Commands and skills of files.
    Commands,
    /// The commands that the flag names, whatever their case, and those that this variable names.
    NamedCommands(&'static str),
    /// More calls of tools for one prompt than the flag says. Calls of subagents do not count. -1: as many as it likes.
    MoreCalls,
    /// More time for one prompt than the flag says.
    MoreTime,
    /// Subagents that begin subagents, at more levels than the flag says. There is never more than one here, so it is kept from that anyway.
    MoreLevels,
    /// MCP servers.
    Servers,
    /// MCP servers but those that the flag names.
    OtherServers,
    /// Own tools but these, unless the command line says which.
    OtherTools(&'static [&'static str]),
    /// These tools, unless the command line names them.
    Tools(&'static [&'static str]),
    /// The mode in which everything runs.
    Bypass,
    /// Writing outside of the workspace by commands.
    WritingElsewhere,
    /// Something that it cannot be kept from. The text says what can be done instead.
    Unable(&'static str),
}

/// Of flags that begin a session in a working tree of its own.
pub const NO_WORKTREES: &[Restriction] = &[Restriction::Unable("begin it in a worktree that `git worktree add` has made")];

/// A flag of a vendor's program, by one of its names, and what it keeps the agent from.
pub type Restricting = (&'static str, &'static [Restriction]);

/// What the command line keeps an agent from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Restrictions {
    all: Vec<Restriction>,
    /// The only MCP servers.
    servers: Vec<String>,
    /// Commands that are left out.
    commands: Vec<String>,
    /// The most calls for one prompt.
    pub calls: Option<u64>,
    /// The most time for one prompt.
    pub time: Option<Duration>,
}

/// The most calls, levels of subagents and seconds that can be said: more is a slip.
const MOST_CALLS: u64 = 1_000_000;
const MOST_LEVELS: u64 = 100;
const MOST_SECONDS: f64 = 2_147_483.0;

impl Restrictions {
    /// Those of a launch, of the flags that its vendor has for that. Fails where the agent cannot be kept from something.
    pub(crate) fn of(known: &[Restricting], launch: &Launch, variable: &dyn Fn(&str) -> Option<String>) -> Result<Self, String> {
        let flags = launch.format.dialect.program().map_or(&[][..], |program| program.flags);
        let mut found = Self::default();
        for (name, restrictions) in known {
            for restriction in *restrictions {
                if let Restriction::NamedCommands(name) = restriction {
                    found.commands.extend(listed(&variable(name).unwrap_or_default()));
                }
            }
            let Some(flag) = flags.iter().find(|flag| flag.names.contains(name)) else {
                continue;
            };
            // As yargs has it, a switch may be off, too.
            let is_off = |value: &Option<String>| matches!(value.as_deref(), Some("false" | "disabled"));
            let given = launch
                .rest
                .iter()
                .filter(|(typed, value)| flag.names.contains(&typed.as_str()) && !is_off(value));
            let Some((typed, _)) = given.clone().next_back() else { continue };
            let last = given.clone().next_back().and_then(|(_, value)| value.as_deref()).unwrap_or_default();
            let wrong = |wanted: &str| format!("{typed} {last}: this is {wanted}");
            let names = || given.clone().filter_map(|(_, value)| value.as_deref()).flat_map(listed);
            for restriction in *restrictions {
                match restriction {
                    Restriction::MoreCalls if last.trim() == "-1" => {}
                    Restriction::MoreCalls => {
                        let most = whole(last, MOST_CALLS).ok_or_else(|| wrong("no number of calls: a whole number up to 1000000, or -1 for any"))?;
                        found.calls = Some(most);
                    }
                    Restriction::MoreTime => {
                        let most = duration(last).ok_or_else(|| wrong("no time: 90, 30s, 5m or 1h, at least a second and below 25 days"))?;
                        found.time = Some(most);
                    }
                    Restriction::MoreLevels => {
                        whole(last, MOST_LEVELS)
                            .filter(|levels| *levels > 0)
                            .ok_or_else(|| wrong("no number of levels: a whole number from 1 to 100"))?;
                    }
                    Restriction::Feature(feature, _) => {
                        let off = |value: &String| {
                            let value = value.trim();
                            let setting = value.strip_prefix("features.").and_then(|setting| setting.split_once('='));
                            setting.map_or(value == *feature, |(name, value)| name.trim() == *feature && value.trim() == "false")
                        };
                        if !given.clone().filter_map(|(_, value)| value.as_ref()).any(off) {
                            continue;
                        }
                    }
                    Restriction::NamedCommands(_) => found.commands.extend(names()),
                    Restriction::Unable(instead) => return Err(format!("{typed} is nothing that the built-in agent can do: {instead}")),
                    Restriction::OtherServers => found.servers.extend(names()),
                    _ => {}
                }
                found.all.push(*restriction);
            }
        }
        Ok(found)
    }

    /// Whether the agent is kept from something.
    pub(crate) fn has(&self, restriction: Restriction) -> bool {
        self.all.contains(&restriction)
    }

    /// Whether an MCP server may be used.
    pub(crate) fn allows_server(&self, name: &str) -> bool {
        !self.has(Restriction::Servers) && (!self.has(Restriction::OtherServers) || self.servers.iter().any(|known| known == name))
    }

    /// Adds what files limit, where the command line says nothing of that: calls, time, and commands that are left out.
    pub(crate) fn add(&mut self, calls: Option<u64>, time: Option<Duration>, commands: Vec<String>) {
        self.calls = self.calls.or(calls.filter(|_| !self.has(Restriction::MoreCalls)));
        self.time = self.time.or(time);
        self.commands.extend(commands);
    }

    /// Whether a command may be used.
    pub(crate) fn allows_command(&self, name: &str) -> bool {
        let name = name.to_lowercase();
        self.commands.iter().all(|left_out| left_out.to_lowercase() != name)
    }

    /// Leaves out tools, as if the command line had said so.
    pub(crate) fn limit_tools(&self, launch: &mut Launch) {
        let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        for restriction in &self.all {
            match restriction {
                Restriction::OtherTools(names) => {
                    launch.tools.get_or_insert_with(|| owned(names));
                }
                Restriction::Feature(_, names) => launch.disallowed_tools.extend(owned(names)),
                Restriction::Tools(names) => {
                    let named = launch.tools.clone().unwrap_or_default();
                    let left_out = owned(names).into_iter().filter(|name| !named.iter().any(|tool| tool.trim() == name));
                    launch.disallowed_tools.extend(left_out);
                }
                _ => {}
            }
        }
    }
}

/// The names of a list with commas.
fn listed(list: &str) -> impl Iterator<Item = String> {
    let names = list.split(',').map(|name| name.trim().to_owned());
    names.filter(|name| !name.is_empty())
}

/// A whole number, up to the most that can be meant.
fn whole(text: &str, most: u64) -> Option<u64> {
    text.trim().parse().ok().filter(|number| *number <= most)
}

/// A time: seconds, or a number and its unit.
fn duration(text: &str) -> Option<Duration> {
    let text = text.trim().to_lowercase();
    let digits = text.trim_end_matches(char::is_alphabetic).trim_end();
    let unit = match text[digits.len()..].trim() {
        "" | "s" => 1.0,
        "ms" => 0.001,
        "m" => 60.0,
        "h" => 3600.0,
        _ => return None,
    };
    let is_plain = digits.chars().all(|c| c.is_ascii_digit() || c == '.') && digits.starts_with(|c: char| c.is_ascii_digit());
    let seconds = digits.parse::<f64>().ok().filter(|_| is_plain)? * unit;
    (1.0..=MOST_SECONDS).contains(&seconds).then(|| Duration::from_secs_f64(seconds))
}

/// The flags of a vendor that the agent refuses, because it cannot be kept from what they name.
pub(crate) fn refuses(known: &[Restricting], names: &[&str]) -> bool {
    let is_unable = |restriction: &Restriction| matches!(restriction, Restriction::Unable(_));
    known.iter().any(|(name, all)| names.contains(name) && all.iter().any(is_unable))
}
