//! Flags by which a host keeps the agent from something. Where that cannot be done the agent does not begin: nobody gets more than was asked
//! for without a word.

use agentglot_adapters::raw::launch::Launch;

/// What a flag keeps the agent from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Restriction {
    /// Files of settings and of instructions, and what lies in the folders beside them.
    Settings,
    /// What files add to the agent: instructions, hooks, subagents, commands, skills, styles, MCP servers. What else they say counts.
    Additions,
    /// The plugins that the command line names.
    Plugins,
    /// Commands and skills of files.
    Commands,
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
}

impl Restrictions {
    /// Those of a launch, of the flags that its vendor has for that. Fails where the agent cannot be kept from something.
    pub(crate) fn of(known: &[Restricting], launch: &Launch) -> Result<Self, String> {
        let flags = launch.format.dialect.program().map_or(&[][..], |program| program.flags);
        let mut found = Self::default();
        for (name, restrictions) in known {
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
            for restriction in *restrictions {
                match restriction {
                    Restriction::Unable(instead) => return Err(format!("{typed} is nothing that the built-in agent can do: {instead}")),
                    Restriction::OtherServers => {
                        let lists = given.clone().filter_map(|(_, value)| value.as_deref());
                        found
                            .servers
                            .extend(lists.flat_map(|list| list.split(',')).map(|name| name.trim().to_owned()));
                    }
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

    /// Leaves out tools, as if the command line had said so.
    pub(crate) fn limit_tools(&self, launch: &mut Launch) {
        let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        for restriction in &self.all {
            match restriction {
                Restriction::OtherTools(names) => {
                    launch.tools.get_or_insert_with(|| owned(names));
                }
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

/// The flags of a vendor that the agent refuses, because it cannot be kept from what they name.
pub(crate) fn refuses(known: &[Restricting], names: &[&str]) -> bool {
    let is_unable = |restriction: &Restriction| matches!(restriction, Restriction::Unable(_));
    known.iter().any(|(name, all)| names.contains(name) && all.iter().any(is_unable))
}
