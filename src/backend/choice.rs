//! Which back end answers: by its name, or by what the environment has a key for.

use std::path::{Path, PathBuf};

use crate::adapters::raw::codec::Dialect;
use crate::adapters::raw::launch::Program;
use crate::backend::model::Api;

/// Who answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Choice {
    /// A recorded log.
    Replay(PathBuf),
    /// The session inside the program.
    Demo,
    /// Another agent's program.
    Cli(Dialect, Option<PathBuf>),
    /// Any program that speaks this protocol, by the words of the command that starts it.
    Command(Dialect, Vec<String>),
    /// The built-in agent, with a model behind this API.
    Model(Api),
}

impl Choice {
    /// `demo`, `replay:FILE`, `cli:NAME[=PATH]`, `model:API`, and a protocol with the command of an agent that speaks it.
    ///
    /// # Errors
    /// What is wrong with it, in a sentence that names the choices.
    pub fn read(text: &str) -> Result<Self, String> {
        if text == "demo" {
            return Ok(Self::Demo);
        }
        if let Some(file) = text.strip_prefix("replay:").filter(|file| !file.is_empty()) {
            return Ok(Self::Replay(PathBuf::from(file)));
        }
        if let Some(program) = text.strip_prefix("cli:") {
            let (name, path) = program.split_once('=').map_or((program, None), |(name, path)| (name, Some(path)));
            let program = Program::of_backend(name).ok_or_else(|| {
                let known: Vec<String> = programs().map(|name| format!("cli:{name}")).collect();
                format!("cli:{name}: there are {}", known.join(", "))
            })?;
            return Ok(Self::Cli(program.dialect, path.filter(|path| !path.is_empty()).map(PathBuf::from)));
        }
        if let Some(name) = text.strip_prefix("model:") {
            return Api::read(name)
                .map(Self::Model)
                .ok_or_else(|| format!("model:{name}: there are model:openai and model:anthropic"));
        }
        for (word, program) in Program::commands() {
            if let Some(command) = text.strip_prefix(word).and_then(|rest| rest.strip_prefix(':')) {
                let words = command_words(command).map_err(|why| format!("{text:?}: {why}"))?;
                return Ok(Self::Command(program.dialect, words));
            }
        }
        Err(match Self::meant(text) {
            Some(meant) => format!("{text:?} is no back end; did you mean {meant:?}?"),
            None => format!("{text:?} is no back end; there are {}", choices()),
        })
    }

    /// What was left half said: the name of a program or an API, or a file.
    fn meant(text: &str) -> Option<String> {
        let kinds = [
            ("cli", Program::of_backend(text).is_some()),
            ("model", Api::read(text).is_some()),
            ("replay", Path::new(text).is_file()),
        ];
        kinds.into_iter().find_map(|(kind, fits)| fits.then(|| format!("{kind}:{text}")))
    }

    /// The same from every folder. A program without a slash is looked up in `PATH`.
    #[must_use]
    pub fn absolute(self) -> Self {
        let absolute = |path: PathBuf| std::path::absolute(&path).unwrap_or(path);
        match self {
            Self::Replay(path) => Self::Replay(absolute(path)),
            Self::Cli(dialect, Some(path)) if path.to_string_lossy().contains('/') => Self::Cli(dialect, Some(absolute(path))),
            Self::Command(dialect, mut words) => {
                if let Some(program) = words.first_mut().filter(|program| program.contains('/')) {
                    *program = absolute(PathBuf::from(&*program)).display().to_string();
                }
                Self::Command(dialect, words)
            }
            other => other,
        }
    }

    /// Whose program answers, if one does.
    pub const fn program(&self) -> Option<Dialect> {
        match self {
            Self::Cli(dialect, _) | Self::Command(dialect, _) => Some(*dialect),
            Self::Replay(_) | Self::Demo | Self::Model(_) => None,
        }
    }

    /// What the environment has a key or an address for. With both, the program that we are decides.
    pub fn of_environment(dialect: Dialect) -> Option<Self> {
        let has = |names: [&str; 2]| names.iter().any(|name| std::env::var_os(name).is_some_and(|value| !value.is_empty()));
        let openai = has(["OPENAI_API_KEY", "OPENAI_BASE_URL"]);
        let anthropic = has(["ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"]) || has(["ANTHROPIC_AUTH_TOKEN", ""]);
        match (openai, anthropic) {
            (false, false) => None,
            (true, true) => {
                let api = dialect.program().and_then(|program| Api::read(program.api));
                Some(Self::Model(api.unwrap_or(Api::Openai)))
            }
            (true, false) => Some(Self::Model(Api::Openai)),
            (false, true) => Some(Self::Model(Api::Anthropic)),
        }
    }
}

/// As [`Choice::read`] reads it.
impl std::fmt::Display for Choice {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Replay(path) => write!(f, "replay:{}", path.display()),
            Self::Demo => f.write_str("demo"),
            Self::Model(api) => write!(f, "model:{}", api.name()),
            Self::Command(dialect, command) => {
                let word = dialect.program().and_then(|program| program.traits.command);
                let words: Vec<String> = command.iter().map(|word| quoted(word)).collect();
                write!(f, "{}:{}", word.unwrap_or_else(|| dialect.name()), words.join(" "))
            }
            Self::Cli(dialect, path) => {
                let name = dialect.program().and_then(|program| program.backend.first()).copied();
                let name = name.unwrap_or_else(|| dialect.name());
                write!(f, "cli:{name}")?;
                path.iter().try_for_each(|path| write!(f, "={}", path.display()))
            }
        }
    }
}

/// The back ends, for messages.
fn choices() -> String {
    let programs: Vec<&str> = programs().collect();
    let commands: String = Program::commands().map(|(word, _)| format!(", {word}:COMMAND")).collect();
    format!(
        "demo, replay:FILE, cli:{}[=PATH]{commands} and model:openai|anthropic",
        programs.join("|")
    )
}

/// The words of a command: spaces divide them, quotes and backslashes keep what they would divide. Nothing else means anything, for no shell
/// reads it.
///
/// # Errors
/// What is wrong with it.
fn command_words(command: &str) -> Result<Vec<String>, String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut letters = command.chars();
    while let Some(letter) = letters.next() {
        match letter {
            ' ' | '\t' | '\n' => words.extend(word.take()),
            '\'' | '"' => {
                let into = word.get_or_insert_default();
                loop {
                    match letters.next() {
                        None => return Err(format!("a quote {letter} has no end")),
                        Some(end) if end == letter => break,
                        Some('\\') if letter == '"' => match letters.next() {
                            Some(kept @ ('"' | '\\')) => into.push(kept),
                            other => into.extend(std::iter::once('\\').chain(other)),
                        },
                        Some(inside) => into.push(inside),
                    }
                }
            }
            '\\' => match letters.next() {
                Some(kept) => word.get_or_insert_default().push(kept),
                None => return Err("nothing stands behind the last backslash".to_owned()),
            },
            other => word.get_or_insert_default().push(other),
        }
    }
    words.extend(word);
    match words.first() {
        Some(program) if !program.is_empty() => Ok(words),
        _ => Err("a command is wanted that starts an agent".to_owned()),
    }
}

/// A word of a command as [`command_words`] reads it.
fn quoted(word: &str) -> String {
    let plain = |letter: char| letter.is_alphanumeric() || "-_./=:@%+,~".contains(letter);
    match word {
        word if !word.is_empty() && word.chars().all(plain) => word.to_owned(),
        word if !word.contains('\'') => format!("'{word}'"),
        word => format!("\"{}\"", word.replace('\\', "\\\\").replace('"', "\\\"")),
    }
}

/// What the programs are called that can be started behind us.
fn programs() -> impl Iterator<Item = &'static str> {
    Program::backends().filter_map(|program| program.backend.first().copied())
}

/// What is said to somebody who has chosen no back end.
pub fn no_backend() -> String {
    format!(
        "no back end is chosen: --backend, AGENTGLOT_BACKEND or `backend` in agentglot.toml names it, or a model's API by OPENAI_API_KEY, \
         OPENAI_BASE_URL, ANTHROPIC_API_KEY or ANTHROPIC_BASE_URL; there are {}",
        choices()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_words_as_a_shell_would_divide_them() {
        for (command, words) in [
            ("agent", &["agent"][..]),
            ("  npx  -y @a/b ", &["npx", "-y", "@a/b"]),
            (r#"'a b' "c \" d\e" f\ g '' $HOME;x"#, &["a b", r#"c " d\e"#, "f g", "", "$HOME;x"]),
            (r#"a"b"'c'"#, &["abc"]),
        ] {
            assert_eq!(command_words(command).unwrap(), words, "{command}");
        }
        for (command, why) in [
            ("", "is wanted"),
            ("   ", "is wanted"),
            ("''", "is wanted"),
            ("a 'b", "no end"),
            ("a \"b", "no end"),
            ("a\\", "backslash"),
        ] {
            assert!(command_words(command).unwrap_err().contains(why), "{command}");
        }
    }

    #[test]
    fn what_is_left_half_said_is_offered_whole() {
        let log = tempfile::NamedTempFile::new().unwrap();
        let log = log.path().to_str().unwrap();
        for (text, meant) in [("qwen", "cli:qwen"), ("openai", "model:openai"), (log, &format!("replay:{log}"))] {
            let told = Choice::read(text).unwrap_err();
            assert!(told.ends_with(&format!("did you mean {meant:?}?")), "{told}");
        }
        assert!(Choice::read("nobody").unwrap_err().contains("there are demo, "));
    }

    #[test]
    fn what_is_chosen_is_read_as_it_is_written() {
        for text in [
            "demo",
            "replay:a b.jsonl",
            "cli:claude=/x",
            "model:openai",
            "acp:agent --acp",
            r#"acp:agent 'a b' "it's \"so\" \\" ''"#,
        ] {
            let choice = Choice::read(text).unwrap();
            assert_eq!(choice.to_string(), text);
        }
        assert!(Choice::read("acp:").unwrap_err().contains("a command is wanted"));
        assert!(Choice::read("what").unwrap_err().contains("acp:COMMAND"));
        let choice = Choice::read("acp:./agent x/y").unwrap().absolute();
        let here = std::env::current_dir().unwrap();
        assert_eq!(
            choice.to_string(),
            format!("acp:{} x/y", quoted(&here.join("agent").display().to_string()))
        );
    }
}
