//! What is said beside the turns where the dialect has lines for it (the RFC): what the host did wrong, faults of the control channel, the
//! program's own log, its last words.

use std::time::Instant;

use serde_json::{Value, json};

use super::Session;
use super::control::Asked;
use super::pending::Waiting;
use crate::adapters::raw::codec::Layout;
use crate::adapters::raw::event::{At, Event, Fatal, Field, Input, InputKind, Kind, Origin, Response, Terminal};
use crate::adapters::raw::json::{Raw, Str};
use crate::adapters::raw::live::Speaker;
use crate::agent::host::terminal::Apart;
use crate::backend::Backend;
use crate::io::journal::Record;

/// So many things wait to be said before the session's facts were told; more are forgotten.
const MOST: usize = 1024;

/// Something that waits until the session's facts were told.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Aside {
    /// A fault, and the member of the metadata that tells it.
    Fault(&'static str, String, String),
    /// A line of the log.
    Log(Record),
}

/// Output of the program itself, for a terminal.
#[derive(Clone, Copy, Debug, Default)]
struct Output<'a> {
    source: &'a str,
    level: Option<&'a str>,
    scope: &'a str,
    exit_code: Option<u8>,
    /// A member of the metadata and its text.
    told: Option<(&'a str, &'a str)>,
    /// No turn runs or waits: nothing that belongs to the same answer follows.
    alone: bool,
}

impl Session {
    /// Something that the host said makes no sense, and belongs to no turn.
    pub(super) fn complain(&mut self, why: &str, backend: Option<&mut (dyn Backend + '_)>) {
        if self.host.format.mode.layout == Layout::Text {
            // Plain text has no line for it.
            tracing::warn!("{why}");
        }
        self.aside(Aside::Fault("error", why.to_owned(), why.to_owned()), backend);
    }

    /// A question on the control channel was not answered as it should be.
    pub(super) fn control_fault(&mut self, id: &str, why: &str, retryable: bool) {
        if self.conduct.tells_faults() {
            let faults = json!([{"request_id": Str::trusted(id).unescape(), "message": why, "retryable": retryable}]);
            self.aside(Aside::Fault("control_errors", faults.to_string(), why.to_owned()), None);
        }
    }

    /// Something of the program's own log.
    pub(super) fn log(&mut self, records: Vec<Record>) {
        for record in records {
            self.aside(Aside::Log(record), None);
        }
    }

    /// Whether the host wants the program's own log.
    pub(super) fn wants_log(&self) -> bool {
        self.host.log && self.conduct.tells_faults()
    }

    fn aside(&mut self, aside: Aside, backend: Option<&mut (dyn Backend + '_)>) {
        if self.introduced || !self.host.agent && matches!(aside, Aside::Fault(..)) {
            return self.tell_aside(&aside);
        }
        if self.asides.len() < MOST {
            self.asides.push_back(aside);
        }
        // The session's facts come before anything else.
        if let Some(backend) = backend {
            backend.input(&Input {
                origin: Origin::default(),
                kind: InputKind::KeepAlive,
                fields: &[],
            });
        }
    }

    /// What waits is told: the session's facts were.
    pub(super) fn tell_asides(&mut self) {
        while let Some(aside) = self.asides.pop_front() {
            self.tell_aside(&aside);
        }
    }

    fn tell_aside(&mut self, aside: &Aside) {
        let (session, alone) = (self.host.facts.session.clone(), !self.busy());
        let mut say = |text: &str, output: Output<'_>| {
            output.tell(&session, text, |event| match &mut self.own {
                Some(own) => own.directly(event, &mut self.out),
                None => self.voice.directly(event, &mut self.out),
            });
        };
        match aside {
            Aside::Fault(member, told, text) => say(
                &red(text),
                Output {
                    source: "system",
                    scope: "system",
                    told: Some((member, told)),
                    alone,
                    ..Output::default()
                },
            ),
            Aside::Log(record) => say(
                &format!("{}\n", record.text),
                Output {
                    source: "console",
                    level: Some(record.level),
                    scope: record.scope,
                    alone,
                    ..Output::default()
                },
            ),
        }
    }

    /// The program ends for this reason before its time.
    pub(super) fn last_words_in_stream(&mut self, why: &str, code: &str, exit_code: u8) {
        if self.conduct.tells_faults() {
            let session = self.host.facts.session.clone();
            tell_end(&mut self.voice, &session, why, code, exit_code, &mut self.out);
        }
    }

    /// A signal ends the program.
    pub(super) fn stopped(&mut self, signal: i32) {
        if self.conduct.tells_faults() && self.introduced {
            let output = Output {
                source: "system",
                scope: "system",
                exit_code: u8::try_from(128 + signal).ok(),
                ..Output::default()
            };
            let session = self.host.facts.session.clone();
            let text = red(&format!("stopped by signal {signal}"));
            output.tell(&session, &text, |event| self.voice.directly(event, &mut self.out));
        }
    }

    /// The host says that it could not answer a question: it is asked once more if it wants that. Returns whether it was.
    pub(super) fn asks_again(&mut self, asked: &Waiting<Asked>, error: Option<Raw<'_>>, now: Instant) -> bool {
        let retryable = error.and_then(|error| error.get("retryable")).and_then(Raw::bool) == Some(true);
        if !retryable || asked.note.first.is_some() || !self.conduct.tells_faults() {
            return false;
        }
        let again = format!("{}-again", asked.id);
        let (old, new) = (format!("\"request_id\":\"{}\"", asked.id), format!("\"request_id\":\"{again}\""));
        self.out.extend_from_slice(asked.note.line.replacen(&old, &new, 1).as_bytes());
        let note = Asked {
            first: Some(asked.id.clone()),
            ..asked.note.clone()
        };
        self.asked.add(again, note, now, self.timers.permission);
        true
    }
}

/// An answer to a question that was asked twice, as one to the question that the agent knows.
pub(super) fn under_first_id<T>(asked: &Waiting<Asked>, input: &Input<'_>, response: &Response<'_>, then: impl FnOnce(&Input<'_>) -> T) -> T {
    let Some(first) = &asked.note.first else { return then(input) };
    let response = Response {
        id: Some(Str::trusted(first)),
        ..*response
    };
    then(&Input {
        kind: InputKind::Response(&response),
        ..*input
    })
}

/// What a host of the RFC is told when its program ends before its time: the reason as red output, then the error object, behind which
/// nothing comes. `why` is plain text, `code` one of the RFC's.
pub fn tell_end(voice: &mut Speaker, session: &str, why: &str, code: &str, exit_code: u8, out: &mut Vec<u8>) {
    let output = Output {
        source: "system",
        scope: "system",
        exit_code: Some(exit_code),
        ..Output::default()
    };
    output.tell(session, &red(why), |event| voice.directly(event, out));
    let (message, code_text) = (escaped(why), format!("\"{code}\""));
    let kind = match code {
        "QWEN_INTERNAL" | "QWEN_MODEL_ERROR" => "server_error",
        _ => "invalid_request_error",
    };
    let fatal = Fatal {
        message: Str::trusted(&message),
        kind: Some(Str::trusted(kind)),
        param: None,
        code: Some(Raw::trusted(&code_text)),
    };
    let origin = Origin {
        session: Some(Str::trusted(session)),
        ..Origin::default()
    };
    voice.directly(&Event::new(origin, Kind::Fatal(&fatal)), out);
}

impl Output<'_> {
    /// Tells `text`, escape sequences and all.
    fn tell(&self, session: &str, text: &str, tell: impl FnOnce(&Event<'_>)) {
        let mut apart = Apart::default();
        let shown = apart.feed(text.as_bytes());
        let text = escaped(&shown.text);
        let (spans, ansi) = (Value::Array(shown.spans).to_string(), Value::Array(shown.ansi).to_string());
        let exit_code = self.exit_code.map(|code| code.to_string());
        let terminal = Terminal {
            text: Some(Str::trusted(&text)),
            channel: Some(Str::trusted("stderr")),
            source: Some(Str::trusted(self.source)),
            spans: Some(Raw::trusted(&spans)),
            ansi: Some(Raw::trusted(&ansi)),
            level: self.level.map(Str::trusted),
            exit_code: exit_code.as_deref().map(Raw::trusted),
            raw_ansi: None,
        };
        let scope = format!("\"{}\"", self.scope);
        let told = self.told.map(|(member, text)| (member, format!("\"{}\"", escaped(text))));
        let field = |at, key, value| Field {
            at,
            key: Str::trusted(key),
            value: Raw::trusted(value),
            known: true,
        };
        let mut fields = vec![field(At::Block(0), "log_scope", scope.as_str())];
        if let Some((member, value)) = &told {
            fields.push(field(At::Part("/metadata"), member, value));
        }
        if self.alone {
            fields.push(field(At::Part("/choices/0"), "finish_reason", "\"stop\""));
        }
        let origin = Origin {
            session: Some(Str::trusted(session)).filter(|session| !session.is_empty()),
            ..Origin::default()
        };
        tell(&Event {
            origin,
            kind: Kind::Terminal(&terminal),
            fields: &fields,
        });
    }
}

fn red(text: &str) -> String {
    format!("\u{1b}[31m{}\u{1b}[0m\n", text.trim_end())
}

fn escaped(plain: &str) -> String {
    let mut body = String::new();
    Str::escape(plain, &mut body);
    body
}
