//! How the program is started: its command line, the files that it reads, its environment and what it is told on standard input.

use std::ffi::OsString;
use std::io::Write;

use super::Cli;
use crate::adapters::raw::launch::{self, PermissionMode, PromptBy, Unsaid};
use crate::agent::redact::arguments;
use crate::backend::control_support::{Control, Reach};
use crate::backend::hooks::VARIABLE;
use crate::child::{Child, Plan, leftover};

impl Cli {
    /// Starts the program. `prompt`: that of its only turn.
    pub(super) fn start(&mut self, prompt: Option<&str>) -> Result<(), String> {
        let Some(program) = self.dialect.program() else {
            return Err("there is no such program".to_owned());
        };
        self.launch.prompt = prompt.map(str::to_owned);
        let line = launch::argv(program, &self.launch).map_err(|error| error.to_string())?;
        let mut args: Vec<OsString> = Vec::new();
        args.extend(self.script.clone().map(OsString::from));
        let at = line.args.iter().position(|arg| arg == "--").unwrap_or(line.args.len());
        args.extend(line.args[..at].iter().map(OsString::from));
        for part in &line.files {
            let mut file = leftover::file(".json").map_err(|error| error.to_string())?;
            file.write_all(part.text.as_bytes()).map_err(|error| error.to_string())?;
            args.push(format!("{}={}", part.flag, file.path().display()).into());
            self.files.push(file);
        }
        args.extend(line.args[at..].iter().map(OsString::from));
        let shown: Vec<String> = args.iter().map(|arg| arg.to_string_lossy().into_owned()).collect();
        tracing::info!(program = %self.program.display(), args = ?arguments(&shown).0, "starting");
        self.tell_unsaid(&line.unsaid);
        let mut env = self.env.clone();
        for (name, value) in &line.variables {
            env = env.set(name, value);
        }
        if !self.one_turn() && self.reach(Control::Permission) == Reach::Emulated && self.hooks.is_none() {
            self.hooks = Some(
                self.listen()
                    .map_err(|error| format!("the hooks of {}: {error}", self.program.display()))?,
            );
        }
        if let Some(hooks) = &self.hooks {
            env = env.set(VARIABLE, hooks.settings());
        }
        let plan = Plan {
            env,
            cwd: Some(self.cwd.clone()),
            keeps_daemons: self.keeps_daemons,
            ..Plan::new(&self.program)
        };
        let child = Child::start(plan.args(args)).map_err(|error| error.to_string())?;
        match (line.prompt, prompt) {
            (PromptBy::Stdin, Some(prompt)) => {
                let _ = child.write(prompt.as_bytes());
                child.close_stdin();
            }
            // It is asked for permission there, and reads nothing else.
            (PromptBy::Argument, _) if self.launch.permission != Some(PermissionMode::Bypass) => {}
            (PromptBy::Argument, _) => child.close_stdin(),
            _ => {}
        }
        self.child = Some(child);
        self.answered = false;
        self.typed.begin();
        Ok(())
    }

    /// Tells our log what the host asked for and the program cannot be told, each once.
    fn tell_unsaid(&mut self, unsaid: &[Unsaid]) {
        for unsaid in unsaid {
            let asks = self.dialect.program().is_some_and(launch::Program::asks);
            let ours = asks && matches!(unsaid.what, "tools" | "allowed_tools" | "disallowed_tools")
                || (unsaid.what == "permission" && self.launch.permission == Some(PermissionMode::DontAsk));
            // Rounds are counted by the session.
            if unsaid.what != "max_turns" && !self.told.contains(unsaid) {
                self.told.push(*unsaid);
                let by = if ours {
                    "; it holds for what the program asks permission for"
                } else {
                    ""
                };
                tracing::warn!("{} is not told `{}`: {}{by}", self.program.display(), unsaid.what, unsaid.why);
            }
        }
    }

    /// Sees to it that a program that lives as long as the session runs.
    pub(super) fn awake(&mut self) -> bool {
        if self.child.is_none()
            && self.failed.is_none()
            && let Err(why) = self.start(None)
        {
            self.failed = Some(why);
        }
        self.child.is_some()
    }
}
