use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use super::{Layer, Setting};
use crate::cli::live::low::pace;
use crate::config::durations::seconds;

/// What counts of a file that nobody trusts: how long is waited and how strictly arguments are read. There is no place in it for anything else.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HarmlessSettings {
    /// The file.
    pub path: PathBuf,
    said: BTreeMap<HarmlessSetting, Setting>,
}

/// A setting that harms nobody.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum HarmlessSetting {
    Pace,
    StartTimeout,
    SilenceTimeout,
    TurnTimeout,
    PermissionTimeout,
    ControlTimeout,
    ShutdownTimeout,
    PromptTimeout,
    Heartbeat,
    StrictArgs,
}

/// Nobody waits longer because a stranger says so, and not at all for ever.
const LONGEST: Duration = Duration::from_secs(3600);

/// Nor is a log replayed more slowly than so many times.
const SLOWEST: &str = "10";

impl HarmlessSetting {
    const ALL: [Self; 10] = [
        Self::Pace,
        Self::StartTimeout,
        Self::SilenceTimeout,
        Self::TurnTimeout,
        Self::PermissionTimeout,
        Self::ControlTimeout,
        Self::ShutdownTimeout,
        Self::PromptTimeout,
        Self::Heartbeat,
        Self::StrictArgs,
    ];

    const fn key(self) -> &'static str {
        match self {
            Self::Pace => "pace",
            Self::StartTimeout => "start_timeout",
            Self::SilenceTimeout => "silence_timeout",
            Self::TurnTimeout => "turn_timeout",
            Self::PermissionTimeout => "permission_timeout",
            Self::ControlTimeout => "control_timeout",
            Self::ShutdownTimeout => "shutdown_timeout",
            Self::PromptTimeout => "prompt_timeout",
            Self::Heartbeat => "heartbeat",
            Self::StrictArgs => "strict_args",
        }
    }

    /// Whether this value of it is one that harms nobody.
    fn takes(self, text: &str) -> bool {
        match self {
            Self::Pace => pace(text).is_ok_and(|wanted| pace(SLOWEST).is_ok_and(|slowest| wanted.is_no_slower_than(slowest))),
            Self::StrictArgs => true,
            _ => seconds(text).is_ok_and(|wait| wait <= LONGEST),
        }
    }
}

impl HarmlessSettings {
    /// Those of a file, and the keys of it that do not count, each with its line.
    pub(super) fn of(layer: Layer) -> (Self, Vec<(String, usize)>) {
        let mut harmless = Self {
            path: layer.path,
            ..Self::default()
        };
        let mut others: Vec<(String, usize)> = Vec::new();
        for (key, setting) in layer.settings {
            match HarmlessSetting::ALL
                .into_iter()
                .find(|known| known.key() == key && known.takes(&setting.text))
            {
                Some(known) => drop(harmless.said.insert(known, setting)),
                None => others.push((key.to_owned(), setting.line)),
            }
        }
        others.extend(layer.programs.iter().map(|(name, setting)| (format!("programs.{name}"), setting.line)));
        others.extend(
            layer
                .models_line
                .filter(|_| !layer.models.is_empty())
                .map(|line| ("models".to_owned(), line)),
        );
        (harmless, others)
    }

    /// What it says of a setting.
    pub(super) fn setting(&self, key: &str) -> Option<&Setting> {
        self.said.iter().find(|(known, _)| known.key() == key).map(|(_, setting)| setting)
    }
}
