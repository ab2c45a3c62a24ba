//! What the host says, told to the program in its own words.

use std::time::Duration;

use super::{Cli, asking};
use crate::adapters::raw::event::{ControlKind, Input, InputKind, Origin, Request};
use crate::adapters::raw::json::Str;
use crate::adapters::raw::launch::PermissionMode;
use crate::backend::word;
use crate::child::Steps;

/// The id of our own greeting; its answer is for us alone.
const GREETING: &str = "agentglot-initialize";

impl Cli {
    /// Says something to the program in its own words. Returns whether it has words for it.
    pub(super) fn say(&mut self, input: &Input<'_>) -> bool {
        let mut line = Vec::new();
        self.voice.input(input, &mut line);
        self.write(&line)
    }

    /// Writes a line to the program. Returns whether there was something to write, and somebody to read it.
    pub(super) fn write(&mut self, line: &[u8]) -> bool {
        if let Some(unheard) = &mut self.unheard {
            unheard.extend_from_slice(line);
        }
        match &self.child {
            Some(child) if !line.is_empty() => child.write(line).is_ok(),
            _ => false,
        }
    }

    /// What the host says in its handshake of how the program is to be started: there is still time, as it starts with the first thing
    /// that the host says.
    pub(super) fn amend(&mut self, input: &Input<'_>) {
        if let InputKind::Request(request) = input.kind
            && self.host != self.dialect
            && self.child.is_none()
        {
            self.host.conduct().amend(request, input.fields, &mut self.launch);
        }
    }

    /// Some programs decide by their first line whether they are controlled at all.
    pub(super) fn greet(&mut self, first: &Input<'_>) {
        if std::mem::replace(&mut self.greeted, true) || !self.traits().greeted_first {
            return;
        }
        let initializes = matches!(first.kind, InputKind::Request(request) if request.kind == ControlKind::Initialize);
        if initializes || self.host == self.dialect {
            return;
        }
        let request = Request {
            id: Some(Str::trusted(GREETING)),
            subtype: Str::trusted("initialize"),
            kind: ControlKind::Initialize,
            permission: None,
        };
        self.say(&Input {
            origin: Origin::default(),
            kind: InputKind::Request(&request),
            fields: &[],
        });
    }

    /// What is asked of the program in another word than the host's: the member of the request, and the word.
    pub(super) fn reworded(&self, input: &Input<'_>) -> Option<(&'static str, String)> {
        let InputKind::Request(request) = input.kind else { return None };
        match request.kind {
            ControlKind::SetModel => Some(("model", self.models.get(&word(input, "model")?)?.clone())),
            ControlKind::SetMode if self.traits().no_late_bypass && self.host != self.dialect => {
                let mode = PermissionMode::from_name(self.host, &word(input, "mode")?)?;
                Some(("mode", asking(mode).name(self.host)?.to_owned()))
            }
            _ => None,
        }
    }

    /// A change that a program which is started for each turn is told with the next start.
    pub(super) fn change(&mut self, input: &Input<'_>, kind: ControlKind) {
        match kind {
            ControlKind::SetModel => self.launch.model = word(input, "model").map(|model| self.models.get(&model).cloned().unwrap_or(model)),
            ControlKind::SetMode => {
                let mode = word(input, "mode").and_then(|mode| PermissionMode::from_name(self.host, &mode));
                self.launch.permission = mode.or(self.launch.permission);
            }
            ControlKind::Interrupt => {
                if let Some(child) = &self.child {
                    self.cancelled = true;
                    child.begin_stop(Steps {
                        close: Duration::ZERO,
                        ..Steps::default()
                    });
                }
            }
            _ => {}
        }
    }

    /// Closes the input of a program that lives as long as the session, once its last turn is here: until then it may ask, and Qwen
    /// Code ends behind its last turn without waiting until its output is read (recording `long_line`).
    pub(super) fn hang_up(&self) {
        if let Some(child) = self.child.as_ref().filter(|_| !self.one_turn() && self.owed == 0) {
            child.close_stdin();
        }
    }
}
