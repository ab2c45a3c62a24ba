//! The command line with which we start a program.

use super::flag::{Flag, Means, Shape, Sub};
use super::program::{Program, Traits};
use super::{Answerer, Launch, PermissionMode, Resume, Text, servers};
use crate::client::Serves;
use crate::codec::Dialect;
use crate::event::ToolKind;
use crate::tools::Tools;

/// The longest argument that Linux takes, its final NUL not counted: 32 pages.
pub const MAX_ARG: usize = 131_071;

/// How a program is to be started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Child {
    /// Its arguments, without its own name. Values stand behind `=`, a prompt behind `--`.
    pub args: Vec<String>,
    /// Parts that must not stand on a command line, where everyone on the machine can read them, or do not fit there: the caller
    /// writes each to a file that only its user can read and adds `FLAG=PATH` before a `--`.
    pub files: Vec<FilePart>,
    /// What the launch asks for and this program cannot be told.
    pub unsaid: Vec<Unsaid>,
    /// Variables of its environment that say what it has no flag for.
    pub variables: Vec<(&'static str, &'static str)>,
    /// How it gets its prompts.
    pub prompt: PromptBy,
}

/// A part that needs a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilePart {
    /// The flag that names the file.
    pub flag: &'static str,
    /// What the file holds.
    pub text: String,
}

/// Something that a program cannot be told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unsaid {
    /// What the launch asks for: the member of [`Launch`].
    pub what: &'static str,
    /// Why it is not said.
    pub why: &'static str,
}

/// How a program gets its prompts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PromptBy {
    /// A line a message on stdin, for as long as the session lasts.
    Lines,
    /// The text on stdin, then its end: one turn.
    Stdin,
    /// The last argument: one turn.
    Argument,
}

/// A part that cannot be an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ArgvError {
    /// A NUL ends an argument.
    #[error("{0} holds a NUL character, which no command line can carry")]
    Nul(&'static str),
    /// The kernel refuses longer arguments.
    #[error("{what} is {bytes} bytes long; a command line carries at most {MAX_ARG} in one piece")]
    TooLong {
        /// The flag, or `the prompt`.
        what: &'static str,
        /// How long it is, with the flag's name.
        bytes: usize,
    },
    /// Only a program that takes its prompt as an argument.
    #[error("a prompt is needed to start this program")]
    NoPrompt,
    /// It would go on with the session itself, which the host wants to keep.
    #[error("this program cannot go on in a copy of a session")]
    NoCopy,
}

/// The command line with which we start a program for a launch, whosever words the launch was made of. The working directory is
/// said where the program has a flag for it; the caller starts the program there as well.
///
/// # Errors
/// When a part holds a NUL or is longer than [`MAX_ARG`], when a program that takes its prompt as an argument has none, and when a copy of a
/// session is asked of one that makes none.
pub fn argv(program: &Program, launch: &Launch) -> Result<Child, ArgvError> {
    let mut line = Line::new(program, program.child, launch);
    line.session(launch)?;
    line.model(launch)?;
    line.permission(launch)?;
    line.tools(launch)?;
    line.surroundings(launch)?;
    if line.own {
        line.rest(launch)?;
    } else if !launch.rest.is_empty() {
        line.unsaid("rest", "flags of another program");
    }
    if !launch.unknown.is_empty() {
        line.unsaid("unknown", "flags that nobody knows");
    }
    line.resume_command(launch)?;
    if line.child.prompt == PromptBy::Argument {
        let prompt = launch.prompt.as_deref().ok_or(ArgvError::NoPrompt)?;
        line.child.args.push("--".to_owned());
        line.push("the prompt", prompt.to_owned())?;
    }
    Ok(line.child)
}

/// The command line with which we start a program that serves a protocol: what it says is not said there.
///
/// # Errors
/// As those of [`argv`].
pub fn serving(program: &Program, serves: &Serves, launch: &Launch) -> Result<Child, ArgvError> {
    let mut line = Line::new(program, serves.child, launch);
    line.child.variables.extend(serves.variables);
    for flag in serves.flags {
        match flag {
            Means::Model => launch.model.iter().try_for_each(|model| line.value("model", *flag, model))?,
            Means::Permission => line.mode(launch.permission_or_default())?,
            Means::AddDir => line.folders(launch)?,
            Means::Allowed if !launch.allowed_tools.is_empty() => {
                line.rules("allowed_tools", *flag, &launch.allowed_tools, launch.format.dialect)?;
            }
            _ => {}
        }
    }
    Ok(line.child)
}

struct Line<'p> {
    program: &'p Program,
    child: Child,
    /// The launch is in this program's own words.
    own: bool,
}

impl<'p> Line<'p> {
    fn new(program: &'p Program, words: &[&str], launch: &Launch) -> Self {
        Self {
            program,
            child: Child {
                args: words.iter().map(|&arg| arg.to_owned()).collect(),
                files: Vec::new(),
                unsaid: Vec::new(),
                variables: Vec::new(),
                prompt: program.prompt,
            },
            own: program.dialect == launch.format.dialect,
        }
    }

    fn session(&mut self, launch: &Launch) -> Result<(), ArgvError> {
        match &launch.resume {
            Resume::New => {}
            Resume::Latest | Resume::Session(_) if self.resumes_by_command().is_some() => {}
            Resume::Latest => match self.program.traits.latest {
                Some(word) => self.value("resume", Means::Resume, word)?,
                None => self.switch("resume", Means::Latest)?,
            },
            Resume::Session(id) => self.value("resume", Means::Resume, id)?,
            Resume::Pick => self.unsaid("resume", "nobody is there to pick a session"),
        }
        if let Some(id) = &launch.session_id {
            self.value("session_id", Means::SessionId, id)?;
        }
        if launch.fork {
            let resumes = matches!(launch.resume, Resume::Latest | Resume::Session(_));
            if resumes && self.program.flag_for(Means::Fork).is_none() {
                return Err(ArgvError::NoCopy);
            }
            self.switch("fork", Means::Fork)?;
        }
        if let Some(id) = &launch.resume_at {
            self.value("resume_at", Means::ResumeAt, id)?;
        }
        if launch.partial && !self.program.traits.always_in_pieces {
            self.switch("partial", Means::Partial)?;
        }
        if launch.replay_user_messages {
            self.switch("replay_user_messages", Means::Replay)?;
        }
        if launch.hook_events {
            self.switch("hook_events", Means::HookEvents)?;
        }
        Ok(())
    }

    /// The word by which it goes on with a session, where that is a command and no flag.
    fn resumes_by_command(&self) -> Option<&'static str> {
        let command = self.program.commands.iter().find(|command| matches!(command.is, Sub::Resume));
        command.and_then(|command| command.names.first().copied())
    }

    /// Such a command stands behind all flags: it takes fewer of them than the agent itself.
    fn resume_command(&mut self, launch: &Launch) -> Result<(), ArgvError> {
        let Some(word) = self.resumes_by_command() else { return Ok(()) };
        match &launch.resume {
            Resume::Latest => {
                self.child.args.push(word.to_owned());
                self.switch("resume", Means::Latest)
            }
            // An id that begins with a dash would be a flag.
            Resume::Session(id) if id.starts_with('-') => {
                self.unsaid("resume", "no session has such an id");
                Ok(())
            }
            Resume::Session(id) => {
                self.child.args.push(word.to_owned());
                self.push("the session's id", id.clone())
            }
            Resume::New | Resume::Pick => Ok(()),
        }
    }

    fn model(&mut self, launch: &Launch) -> Result<(), ArgvError> {
        let asked_of = traits(launch.format.dialect);
        if let Some(model) = &launch.model {
            self.value("model", Means::Model, model)?;
        }
        if !launch.fallback_models.is_empty() {
            self.value("fallback_models", Means::Fallback, &launch.fallback_models.join(","))?;
        }
        self.text("system.replace", Means::System, Means::SystemFile, launch.system.replace.as_ref())?;
        self.text("system.append", Means::Append, Means::AppendFile, launch.system.append.as_ref())?;
        match launch.max_turns {
            Some(_) if self.program.traits.limits_sessions && !asked_of.limits_sessions => {
                self.unsaid(
                    "max_turns",
                    "this program counts a whole session and dies at its limit; rounds have to be counted",
                );
            }
            Some(turns) => self.value("max_turns", Means::MaxTurns, &turns.to_string())?,
            None => {}
        }
        if let Some(amount) = launch.max_budget_usd {
            self.value("max_budget_usd", Means::MaxBudget, &amount.to_string())?;
        }
        if let Some(tokens) = launch.max_thinking_tokens {
            self.value("max_thinking_tokens", Means::ThinkingTokens, &tokens.to_string())?;
        }
        for (what, means, word) in [("thinking", Means::Thinking, &launch.thinking), ("effort", Means::Effort, &launch.effort)] {
            if let Some(word) = word {
                self.value(what, means, word)?;
            }
        }
        if let Some(schema) = &launch.json_schema {
            if self.program.traits.schema_for_one_prompt {
                self.unsaid("json_schema", "this program takes a schema for a single prompt only");
            } else if self.program.traits.schema_in_file {
                self.configuration("json_schema", Means::Schema, schema)?;
            } else {
                self.value("json_schema", Means::Schema, schema)?;
            }
        }
        Ok(())
    }

    /// The mode in the program's own words. A mode that it does not have is never replaced by a freer one.
    fn permission(&mut self, launch: &Launch) -> Result<(), ArgvError> {
        let mode = match launch.permission {
            None if self.own => None,
            _ => Some(launch.permission_or_default()),
        };
        let named_in_rest = self.own && launch.rest.iter().any(|(name, _)| self.means(name) == Some(Means::Permission));
        if let Some(mode) = mode.filter(|_| !named_in_rest) {
            self.mode(mode)?;
        }
        match &launch.answerer {
            Answerer::Nobody => {}
            Answerer::Tool(name) if self.own => self.value("answerer", Means::Answerer, name)?,
            Answerer::Tool(_) => self.unsaid("answerer", "a tool of another program's MCP server"),
            Answerer::Host | Answerer::Typed => match self.program.flag_for(Means::Answerer) {
                Some(flag) => self.push(flag.long(), format!("{}=stdio", flag.long()))?,
                // It asks unbidden.
                None if self.program.asks() => {}
                None => self.unsaid("answerer", "this program asks nobody"),
            },
        }
        Ok(())
    }

    fn mode(&mut self, mode: PermissionMode) -> Result<(), ArgvError> {
        if self.says(mode)? {
            return Ok(());
        }
        // A program that asks nobody refuses what it would ask about: the two modes are one.
        let asks = self.program.asks();
        match mode {
            // What a program without the mode does by itself.
            PermissionMode::Ask if asks => {}
            PermissionMode::Ask => {
                self.says(PermissionMode::DontAsk)?;
            }
            PermissionMode::DontAsk if !asks => {
                self.says(PermissionMode::Ask)?;
            }
            PermissionMode::DontAsk => {
                self.unsaid("permission", "this program has no such mode; its questions have to be refused");
                // Without a mode a model would judge instead.
                if self.program.permission == PermissionMode::Auto {
                    return self.mode(PermissionMode::Ask);
                }
            }
            _ if asks => self.unsaid("permission", "this program has no such mode; it asks"),
            _ => {
                self.unsaid("permission", "this program has no such mode; what needs a permission is refused");
                return self.mode(PermissionMode::Ask);
            }
        }
        Ok(())
    }

    /// Says a mode if the program has a word for it.
    fn says(&mut self, mode: PermissionMode) -> Result<bool, ArgvError> {
        if let (Some(flag), Some(name)) = (self.program.flag_for(Means::Permission), mode.name(self.program.dialect)) {
            self.push(flag.long(), format!("{}={name}", flag.long()))?;
        } else if let Some(flag) = self.program.flag_for(Means::PermissionIs(mode)) {
            self.push(flag.long(), flag.long().to_owned())?;
        } else if let Some((_, name, value)) = self.program.traits.mode_variables.iter().find(|(of, ..)| *of == mode) {
            self.child.variables.push((name, value));
        } else {
            return Ok(false);
        }
        Ok(true)
    }

    fn tools(&mut self, launch: &Launch) -> Result<(), ArgvError> {
        let from = launch.format.dialect;
        if let Some(list) = &launch.tools {
            if list.is_empty() && !self.program.traits.takes_empty {
                self.unsaid("tools", "this program cannot be without tools");
            } else {
                self.rules("tools", Means::Tools, list, from)?;
            }
        }
        for (what, means, list) in [
            ("allowed_tools", Means::Allowed, &launch.allowed_tools),
            ("disallowed_tools", Means::Disallowed, &launch.disallowed_tools),
        ] {
            if !list.is_empty() {
                self.rules(what, means, list, from)?;
            }
        }
        Ok(())
    }

    fn surroundings(&mut self, launch: &Launch) -> Result<(), ArgvError> {
        if let Some(path) = &launch.cwd
            && self.program.flag_for(Means::Cwd).is_some()
        {
            self.value("cwd", Means::Cwd, path)?;
        }
        self.folders(launch)?;
        self.servers(launch)?;
        if launch.strict_mcp {
            self.switch("strict_mcp", Means::StrictMcp)?;
        }
        for (what, means, text) in [("settings", Means::Settings, &launch.settings), ("agents", Means::Agents, &launch.agents)] {
            match text {
                Some(text) if self.own => self.configuration(what, means, text)?,
                Some(_) => self.unsaid(what, "in another program's words"),
                None => {}
            }
        }
        if let Some(sources) = &launch.setting_sources {
            self.value("setting_sources", Means::SettingSources, &sources.join(","))?;
        }
        if let Some(agent) = &launch.agent {
            if self.own {
                self.value("agent", Means::Agent, agent)?;
            } else {
                self.unsaid("agent", "an agent of another program");
            }
        }
        Ok(())
    }

    fn folders(&mut self, launch: &Launch) -> Result<(), ArgvError> {
        for path in &launch.add_dirs {
            if self.program.traits.cuts_at_commas && path.contains(',') {
                self.unsaid("add_dirs", "this program cuts paths at commas");
            } else {
                self.value("add_dirs", Means::AddDir, path)?;
            }
        }
        Ok(())
    }

    /// MCP servers: as they are to a program of the same dialect, else all of them as one configuration in its words. A path that is
    /// left was not to be read, and the program says so itself.
    fn servers(&mut self, launch: &Launch) -> Result<(), ArgvError> {
        let here = |text: &&str| text.trim_start().starts_with('{');
        let (texts, paths): (Vec<&str>, Vec<&str>) = launch.mcp_config.iter().map(String::as_str).partition(here);
        let mut said: Vec<String> = Vec::new();
        let merged = (!self.own && !texts.is_empty())
            .then(|| servers::merged(&texts, traits(launch.format.dialect).servers, self.program.traits.servers))
            .flatten();
        match merged {
            Some((text, why)) => {
                said.push(text);
                if let Some(why) = why {
                    self.unsaid("mcp_config", why);
                }
                said.extend(paths.into_iter().map(str::to_owned));
            }
            None => said.clone_from(&launch.mcp_config),
        }
        let takes_one = matches!(self.program.flag_for(Means::Mcp).map(|flag| flag.shape), Some(Shape::Value(_)));
        for (n, text) in said.iter().enumerate() {
            if n > 0 && takes_one {
                self.unsaid("mcp_config", "this program takes one configuration");
            } else {
                self.configuration("mcp_config", Means::Mcp, text)?;
            }
        }
        Ok(())
    }

    /// The program's own flags without a place in [`Launch`]. What belongs to the host alone stays with it.
    fn rest(&mut self, launch: &Launch) -> Result<(), ArgvError> {
        for (name, value) in &launch.rest {
            let Some(flag) = self.flag_as_typed(name) else {
                continue;
            };
            if flag.means == Means::Private {
                self.unsaid("rest", "a key or a channel of the host's, or no agent on a pipe");
                continue;
            }
            let long = flag.long();
            let arg = match (flag.shape, value) {
                (Shape::Switch, Some(value)) if value == "false" => format!("--no-{}", long.trim_start_matches('-')),
                (Shape::Switch, _) | (_, None) => long.to_owned(),
                (_, Some(value)) => format!("{long}={value}"),
            };
            if self.program.child.contains(&arg.as_str()) {
                continue;
            }
            self.push(long, arg)?;
        }
        Ok(())
    }

    fn flag_as_typed(&self, name: &str) -> Option<&'static Flag> {
        self.program.flag(name).or_else(|| {
            let same = |long: &str| long.replace('-', "").eq_ignore_ascii_case(&name.replace('-', ""));
            self.program.flags.iter().find(|flag| flag.names.iter().any(|long| same(long)))
        })
    }

    fn means(&self, name: &str) -> Option<Means> {
        self.flag_as_typed(name).map(|flag| flag.means)
    }

    fn switch(&mut self, what: &'static str, means: Means) -> Result<(), ArgvError> {
        match self.program.flag_for(means) {
            Some(flag) => self.push(flag.long(), flag.long().to_owned()),
            None => {
                self.unsaid(what, NO_FLAG);
                Ok(())
            }
        }
    }

    fn value(&mut self, what: &'static str, means: Means, value: &str) -> Result<(), ArgvError> {
        match self.program.flag_for(means) {
            Some(flag) => self.push(flag.long(), format!("{}={value}", flag.long())),
            None => {
                self.unsaid(what, NO_FLAG);
                Ok(())
            }
        }
    }

    /// A text, which goes by a file when it is too long and the program can read one.
    fn text(&mut self, what: &'static str, here: Means, file: Means, text: Option<&Text>) -> Result<(), ArgvError> {
        match text {
            None => Ok(()),
            Some(Text::File(path)) => self.value(what, file, path),
            Some(Text::Here(text)) if text.is_empty() && !self.program.traits.takes_empty => {
                self.unsaid(what, "an empty text says nothing to this program");
                Ok(())
            }
            Some(Text::Here(text)) => match self.program.flag_for(file) {
                Some(flag) if text.len() > MAX_ARG / 2 => {
                    self.child.files.push(FilePart {
                        flag: flag.long(),
                        text: text.clone(),
                    });
                    Ok(())
                }
                _ => self.value(what, here, text),
            },
        }
    }

    /// A configuration that may hold keys: a path goes on the command line, JSON goes by a file.
    fn configuration(&mut self, what: &'static str, means: Means, text: &str) -> Result<(), ArgvError> {
        match self.program.flag_for(means) {
            Some(flag) if text.trim_start().starts_with(['{', '[']) => {
                self.child.files.push(FilePart {
                    flag: flag.long(),
                    text: text.to_owned(),
                });
                Ok(())
            }
            _ => self.value(what, means, text),
        }
    }

    /// A list of rules in the names of this program's tools.
    fn rules(&mut self, what: &'static str, means: Means, rules: &[String], from: Dialect) -> Result<(), ArgvError> {
        let mut said: Vec<String> = Vec::new();
        for rule in rules {
            match rule_for(rule, from, self.program.dialect) {
                Ok(rule) if self.program.traits.cuts_at_commas && rule.contains(',') => {
                    self.unsaid(what, "this program cuts rules at commas");
                }
                Ok(rule) => said.push(rule),
                Err(why) => self.unsaid(what, why),
            }
        }
        // A list of which nothing is left says nothing, but for a list of the tools that exist where empty means none.
        if said.is_empty() && !(means == Means::Tools && self.program.traits.takes_empty) {
            return Ok(());
        }
        self.value(what, means, &said.join(","))
    }

    fn unsaid(&mut self, what: &'static str, why: &'static str) {
        let unsaid = Unsaid { what, why };
        if !self.child.unsaid.contains(&unsaid) {
            self.child.unsaid.push(unsaid);
        }
    }

    fn push(&mut self, what: &'static str, arg: String) -> Result<(), ArgvError> {
        if arg.contains('\0') {
            return Err(ArgvError::Nul(what));
        }
        if arg.len() > MAX_ARG {
            return Err(ArgvError::TooLong { what, bytes: arg.len() });
        }
        self.child.args.push(arg);
        Ok(())
    }
}

/// What sets the program apart that a launch was meant for.
fn traits(dialect: Dialect) -> Traits {
    dialect.program().map_or(Traits::NONE, |program| program.traits)
}

const NO_FLAG: &str = "this program has no flag for it";

/// A rule in another program's names. What a rule says in parentheses is in its own program's language and does not go over.
fn rule_for(rule: &str, from: Dialect, to: Dialect) -> Result<String, &'static str> {
    let (Some(source), Some(target)) = (Tools::of(from), Tools::of(to)) else {
        return Ok(rule.to_owned());
    };
    if source.is(target) || rule.starts_with("mcp__") {
        return Ok(rule.to_owned());
    }
    if rule.contains('(') {
        return Err("what a rule has in parentheses is in its own program's language");
    }
    match source.kind(rule) {
        ToolKind::Other => Err("a tool whose meaning is not known"),
        kind => target.name(kind).map(str::to_owned).ok_or("this program has no such tool"),
    }
}
