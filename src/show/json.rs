//! Rows as JSON lines.

use std::fmt::Write as _;
use std::io;

use serde_json::{Map, Value, json};

use super::row::{By, Row, What};
use super::{Out, Page};
use agentglot_adapters::raw::hidden::is_hidden;

/// A page of JSON lines: one object for each row. Nothing is cut.
pub struct JsonPage<'w> {
    out: Out<'w>,
}

impl std::fmt::Debug for JsonPage<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("JsonPage").finish_non_exhaustive()
    }
}

impl<'w> JsonPage<'w> {
    /// An empty one.
    pub fn new(out: Out<'w>) -> Self {
        Self { out }
    }
}

impl Page for JsonPage<'_> {
    fn row(&mut self, row: &Row<'_>) -> io::Result<()> {
        let (name, said) = said(&row.what);
        let mut line = Map::new();
        line.insert("row".to_owned(), name.into());
        if row.turn > 0 {
            line.insert("turn".to_owned(), row.turn.into());
        }
        if row.depth > 0 {
            line.insert("depth".to_owned(), row.depth.into());
        }
        let members = if let Value::Object(members) = said { members } else { Map::new() };
        line.extend(members.into_iter().filter(|(_, value)| !value.is_null()));
        let line = Value::Object(line).to_string();
        // Only strings have such characters.
        if line.chars().any(is_hidden) {
            let mut plain = String::with_capacity(line.len() + 16);
            for c in line.chars() {
                if is_hidden(c) {
                    for unit in c.encode_utf16(&mut [0; 2]) {
                        // A `String` takes everything.
                        let _ = write!(plain, "\\u{unit:04x}");
                    }
                } else {
                    plain.push(c);
                }
            }
            return writeln!(self.out, "{plain}");
        }
        writeln!(self.out, "{line}")
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// The name of a row, and its members.
fn said(what: &What<'_>) -> (&'static str, Value) {
    match what {
        What::Session(head) => {
            let facts = head.facts;
            let said = json!({
                "id": head.id,
                "model": facts.and_then(|facts| facts.model.as_ref()),
                "cwd": facts.and_then(|facts| facts.cwd.as_ref()),
                "mode": facts.and_then(|facts| facts.permission_mode.as_ref()),
                "version": facts.and_then(|facts| facts.version.as_ref()),
            });
            ("session", said)
        }
        What::Turn { started } => ("turn", json!({ "started": started.and_then(|time| time.millis()) })),
        What::Prompt { text, by, .. } => {
            let by = match by {
                By::User => "user",
                By::Program => "program",
                By::Parent => "parent",
            };
            ("prompt", json!({ "by": by, "text": text }))
        }
        What::Answer { text, retracted } => ("answer", json!({ "text": text, "retracted": retracted.then_some(true) })),
        What::Thinking { text, subject } => ("thinking", json!({ "subject": subject, "text": text })),
        What::Call { call, deed, state, ms } => {
            let said = json!({
                "id": call.id,
                "tool": call.name,
                "verb": deed.verb,
                "object": deed.object,
                "detail": deed.detail,
                "input": serde_json::from_str::<Value>(call.input.as_str()).ok(),
                "state": state.word(),
                "exit": deed.exit,
                "ms": ms,
                "file": deed.file,
                "added": deed.lines.map(|(added, _)| added),
                "removed": deed.lines.map(|(_, removed)| removed),
                "diff": deed.diff,
                "output": (!deed.output.is_empty()).then_some(&deed.output),
            });
            ("call", said)
        }
        What::Permission { name, allowed, message } => ("permission", json!({ "tool": name, "allowed": allowed, "message": message })),
        What::Notice { name, text, fault } => ("notice", json!({ "name": name, "text": text, "fault": fault.then_some(true) })),
        What::Raw { name, text, .. } => ("other", json!({ "name": name, "text": text })),
        What::Damage { text } => ("damage", json!({ "text": text })),
        What::Outcome(ended) => {
            let outcome = ended.outcome;
            let usage = ended.usage;
            let said = json!({
                "outcome": outcome.map(|outcome| outcome.kind.as_str()),
                "synthetic": outcome.filter(|outcome| outcome.synthetic).map(|_| true),
                "error": outcome.and_then(|outcome| outcome.error.as_ref()),
                "ms": ended.ms,
                "input_tokens": usage.and_then(|usage| usage.prompt_tokens()),
                "cache_read_tokens": usage.and_then(|usage| usage.cache_read),
                "cache_write_tokens": usage.and_then(|usage| usage.cache_write),
                "output_tokens": usage.and_then(|usage| usage.written_tokens()),
                "reasoning_tokens": usage.and_then(|usage| usage.reasoning_tokens()),
                "cost_usd": outcome.and_then(|outcome| outcome.cost_usd.as_ref()?.to_f64()),
                "cost_scope": outcome.and_then(|outcome| outcome.cost_usd.as_ref().map(|_| outcome.cost_scope.as_str())),
            });
            ("outcome", said)
        }
    }
}
