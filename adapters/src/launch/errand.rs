//! The small commands that clients call first.

use std::fmt::Write;

use super::{ArgError, Program, help};
use crate::json::Str;

/// A small command, answered at once and without a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Errand {
    /// `--version`, `-v`.
    Version,
    /// `--help`, `-h`.
    Help,
    /// Whether somebody is signed in: Cursor `status`, `whoami`.
    Status {
        /// `--format json`.
        json: bool,
    },
    /// The models: Cursor `models`, `--list-models`.
    Models,
    /// A new session's id: Cursor `create-chat`.
    CreateChat {
        /// `--workspace`.
        cwd: Option<String>,
    },
    /// What the program is: Cursor `about`.
    About {
        /// `--format json`.
        json: bool,
    },
    /// Sign in.
    Login,
    /// Sign out.
    Logout,
    /// The sessions there are: Cursor `ls`, Tricode `-l`.
    Sessions,
    /// MCP servers: the words after `mcp`.
    Mcp(Vec<String>),
    /// Fetch a newer version.
    Update,
    /// Any other command of the program, with the words after it: a stand-in does not have it.
    Other(Vec<String>),
}

/// What an answer needs to know and only the caller knows.
#[derive(Clone, Copy, Debug)]
pub struct Facts<'a> {
    /// The id of a new session: a UUID.
    pub new_id: &'a str,
    /// Who is signed in: an address.
    pub account: &'a str,
    /// Id and label of each model; the first is the default.
    pub models: &'a [(&'a str, &'a str)],
    /// The sessions there are, latest first.
    pub sessions: &'a [&'a str],
}

/// What a program answers to an errand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// For stdout.
    pub stdout: String,
    /// For stderr.
    pub stderr: String,
    /// The exit code.
    pub exit_code: u8,
}

impl Answer {
    fn says(stdout: impl Into<String>) -> Self {
        Self {
            stdout: stdout.into(),
            stderr: String::new(),
            exit_code: 0,
        }
    }

    fn refuses(stderr: String) -> Self {
        Self {
            stdout: String::new(),
            stderr,
            exit_code: 1,
        }
    }
}

impl Errand {
    /// The answer, in the program's own words where these are recorded (version, Cursor's `status`, `models`, `create-chat`).
    pub fn answer(&self, program: &Program, facts: &Facts<'_>) -> Answer {
        match self {
            Self::Version => Answer::says(format!("{}\n", program.version)),
            Self::Help => Answer::says(help(program)),
            Self::Status { json: false } => Answer::says(format!("✓ Logged in as {}\n", facts.account)),
            Self::Status { json: true } => {
                let message = quoted(&format!("Logged in as {}", facts.account));
                Answer::says(format!(
                    "{{\n  \"status\": \"authenticated\",\n  \"isAuthenticated\": true,\n  \"message\": {message}\n}}\n"
                ))
            }
            Self::Models => Answer::says(models(facts)),
            Self::CreateChat { .. } => Answer::says(format!("{}\n", facts.new_id)),
            Self::About { json: false } => Answer::says(format!("CLI Version  {}\nUser Email   {}\n", program.version, facts.account)),
            Self::About { json: true } => Answer::says(format!(
                "{{\n  \"cliVersion\": {},\n  \"userEmail\": {}\n}}\n",
                quoted(program.version),
                quoted(facts.account)
            )),
            Self::Login => Answer::says(format!("Already logged in as {}\n", facts.account)),
            Self::Logout => Answer::says("Nothing to log out of: this is a stand-in, its back end holds the keys.\n"),
            Self::Sessions if program.traits.numbers_sessions => Answer::says(numbered(facts.sessions)),
            Self::Sessions if facts.sessions.is_empty() => Answer::says("No sessions.\n"),
            Self::Sessions => Answer::says(facts.sessions.iter().fold(String::new(), |mut text, id| {
                text.push_str(id);
                text.push('\n');
                text
            })),
            Self::Mcp(words) => {
                let list = words.first().is_none_or(|word| word == "list");
                if list {
                    Answer::says("No MCP servers configured\n")
                } else {
                    Answer::refuses(not_here(program, &format!("mcp {}", words.join(" "))) + "\n")
                }
            }
            Self::Update => Answer::says(format!("Already up-to-date (current {}).\n", program.version)),
            Self::Other(words) => Answer::refuses(not_here(program, &words.join(" ")) + "\n"),
        }
    }
}

/// What Gemini CLI prints for `--list-sessions`: the oldest first, each with its number.
fn numbered(sessions: &[&str]) -> String {
    if sessions.is_empty() {
        return "No previous sessions found for this project.".to_owned();
    }
    let mut text = format!("\nAvailable sessions for this project ({}):\n", sessions.len());
    for (number, id) in (1..).zip(sessions.iter().rev()) {
        // Writing to a `String` cannot fail.
        let _ = writeln!(text, "  {number}. [{id}]");
    }
    text
}

/// What Cursor prints for `models`: the heading, a line a model, the hint.
fn models(facts: &Facts<'_>) -> String {
    let mut text = String::from("Available models\n\n");
    for (n, (id, label)) in facts.models.iter().enumerate() {
        // Writing to a `String` cannot fail.
        let _ = writeln!(text, "{id} - {label}{}", if n == 0 { " (default)" } else { "" });
    }
    text.push_str("\nTip: use --model <id> (or /model <id> in interactive mode) to switch.\n");
    text
}

/// What is said of a command or a flag that is not for a stand-in.
pub(crate) fn not_here(program: &Program, words: &str) -> String {
    format!(
        "error: '{} {words}' is a command of {} itself, which a stand-in does not have",
        program.name, program.product
    )
}

fn quoted(plain: &str) -> String {
    let mut text = String::from('"');
    Str::escape(plain, &mut text);
    text.push('"');
    text
}

/// Reads `--format json`, `--format=json` after a command; other words are kept out by the program's own error.
pub(crate) fn wants_json(words: &[String]) -> Result<bool, ArgError> {
    let mut json = false;
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let value = match word.as_str() {
            "--format" => words
                .next()
                .ok_or_else(|| ArgError::line("error: option '--format <format>' argument missing", 1))?,
            word => match word.strip_prefix("--format=") {
                Some(value) => value,
                None if word.starts_with('-') => return Err(ArgError::line(format!("error: unknown option '{word}'"), 1)),
                None => continue,
            },
        };
        match value {
            "json" => json = true,
            "text" => json = false,
            other => {
                return Err(ArgError::line(
                    format!("error: option '--format <format>' argument '{other}' is invalid. Allowed choices are text, json."),
                    1,
                ));
            }
        }
    }
    Ok(json)
}
