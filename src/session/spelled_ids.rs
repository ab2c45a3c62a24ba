//! Requests of the host whose ids are no strings, such as `7`: what is inside knows them by ids of ours, and the host is answered under its own.

use std::collections::VecDeque;

use crate::adapters::raw::event::{At, Field, Input};
use crate::adapters::raw::json::Raw;

/// Such ids whose requests have no answer yet.
#[derive(Debug, Default)]
pub(super) struct SpelledIds {
    count: u64,
    /// Ours, and how the host spells its own.
    open: VecDeque<(String, String)>,
}

/// An id that is no string: a decoder keeps it as a field of the line.
pub(super) fn of<'a>(input: &Input<'a>) -> Option<Raw<'a>> {
    input.fields.iter().find(|field| is_id(field)).map(|field| field.value)
}

/// Whether it is the field of such an id.
pub(super) fn is_id(field: &Field<'_>) -> bool {
    field.at == At::Line && field.key.is("request_id")
}

impl SpelledIds {
    /// More than any host has open; the oldest are forgotten.
    const MOST: usize = 1024;

    /// An id of ours for a request with this one.
    pub(super) fn ours(&mut self, spelled: Raw<'_>) -> String {
        self.count += 1;
        let ours = format!("agentglot-request-{}", self.count);
        if self.open.len() == Self::MOST {
            self.open.pop_front();
        }
        self.open.push_back((ours.clone(), spelled.as_str().to_owned()));
        ours
    }

    /// In what was written from `from` on, an answer to `id`, puts the host's own id in the place of ours.
    pub(super) fn restore(&mut self, id: &str, out: &mut Vec<u8>, from: usize) {
        let Some(at) = self.open.iter().position(|(ours, _)| ours == id) else {
            return;
        };
        if let Some((ours, spelled)) = self.open.remove(at) {
            let line = String::from_utf8_lossy(&out[from..]).replacen(&format!("\"{ours}\""), &spelled, 1);
            out.truncate(from);
            out.extend_from_slice(line.as_bytes());
        }
    }
}
