use std::fmt::Write;

use super::Object;
use crate::event::Time;
use crate::json::{Out, Str, alike};

/// The envelope of every line of one session: `id`, `object`, `created`, `model`, up to `"choices":`. Rendered when one of
/// them changes, copied for each line.
#[derive(Debug)]
pub(crate) struct Frame {
    object: Object,
    /// `id`, as a string's body.
    id: String,
    /// `created`: digits; empty while no time is known.
    created: String,
    /// The same as a number.
    seconds: Option<i64>,
    /// The same as the source spelled it last, up to the seconds, if that was in ISO 8601 and UTC.
    iso: [u8; 19],
    /// `model`, as a string's body; empty while none is known.
    model: String,
    line: Vec<u8>,
    /// Where `created` stands in the line.
    created_at: usize,
    stale: bool,
}

/// No line is longer, as a rule.
const USUAL: usize = 192;

impl Frame {
    /// Nothing is known yet.
    pub(crate) fn new(object: Object) -> Self {
        Self {
            object,
            id: String::new(),
            created: String::new(),
            seconds: None,
            iso: [0; 19],
            model: String::new(),
            line: Vec::with_capacity(USUAL),
            created_at: 0,
            stale: true,
        }
    }

    /// Sets the id.
    pub(crate) fn set_id(&mut self, prefix: &str, id: Str<'_>) {
        self.id.clear();
        self.id.reserve(prefix.len() + id.as_escaped().len());
        self.id.push_str(prefix);
        self.id.push_str(id.as_escaped());
        self.stale = true;
    }

    /// Sets the model.
    pub(crate) fn set_model(&mut self, model: &str) {
        if !alike(&self.model, model) {
            model.clone_into(&mut self.model);
            self.stale = true;
        }
    }

    /// The model; empty while none is known.
    pub(crate) fn model(&self) -> &str {
        &self.model
    }

    /// Sets the time. What is no time, or stands for "not known", changes nothing.
    #[inline]
    pub(crate) fn set_time(&mut self, time: Time<'_>) {
        if let Time::Seconds(seconds) = time
            && seconds.as_str() == self.created
        {
            return;
        }
        if let Time::Iso(text) = time
            && up_to_seconds(text) == Some(&self.iso)
        {
            return;
        }
        self.change_time(time);
    }

    /// Sets the time to so many milliseconds since 1970.
    pub(crate) fn set_millis(&mut self, millis: i64) {
        self.iso = [0; 19];
        self.set_seconds(millis.div_euclid(1000));
    }

    #[cold]
    fn change_time(&mut self, time: Time<'_>) {
        let Some(millis) = time.millis() else { return };
        self.iso = match time {
            Time::Iso(text) => up_to_seconds(text).copied().unwrap_or_default(),
            _ => [0; 19],
        };
        self.set_seconds(millis.div_euclid(1000));
    }

    fn set_seconds(&mut self, seconds: i64) {
        if self.seconds == Some(seconds) {
            return;
        }
        self.created.clear();
        // Writing to a `String` cannot fail.
        let _ = write!(self.created, "{seconds}");
        self.seconds = Some(seconds);
        self.stale = true;
    }

    /// Exchanges the model, for a line that was held since it answered.
    pub(crate) fn swap_model(&mut self, model: &mut String) {
        if !alike(&self.model, model) {
            std::mem::swap(&mut self.model, model);
            self.stale = true;
        }
    }

    /// Exchanges the time, for a line that was held since then.
    pub(crate) fn swap_time(&mut self, created: &mut String) {
        if !alike(&self.created, created) {
            std::mem::swap(&mut self.created, created);
            self.seconds = self.created.parse().ok();
            self.iso = [0; 19];
            self.stale = true;
        }
    }

    /// The time of the next line, to be put back by [`Self::swap_time`].
    pub(crate) fn time(&self) -> &str {
        &self.created
    }

    /// Whether something has changed since the line was rendered last.
    #[inline(always)]
    pub(crate) const fn is_stale(&self) -> bool {
        self.stale
    }

    /// Whether the line says something that nobody knows.
    #[inline(always)]
    pub(crate) fn is_guess(&self) -> bool {
        self.created.is_empty() || self.model.is_empty() || self.id.is_empty()
    }

    /// The line up to and including `"choices":`.
    pub(crate) fn line(&mut self) -> &[u8] {
        if self.stale {
            self.stale = false;
            self.line.clear();
            let id = or(&self.id, "chatcmpl-unknown");
            for part in ["{\"id\":\"", id, "\",\"object\":\"", self.object.name(), "\",\"created\":"] {
                self.line.extend_from_slice(part.as_bytes());
            }
            self.created_at = self.line.len();
            for part in [or(&self.created, "0"), ",\"model\":\"", or(&self.model, "unknown"), "\",\"choices\":"] {
                self.line.extend_from_slice(part.as_bytes());
            }
        }
        &self.line
    }

    /// Begins a line, if nothing but its time is to be made up, and returns where that stands in `out`.
    pub(crate) fn begin_late(&mut self, out: &mut Out) -> Option<usize> {
        if !self.created.is_empty() || self.id.is_empty() {
            return None;
        }
        if self.model.is_empty() {
            out.invented("/model", "the source does not name the model");
        }
        let from = out.len();
        out.bytes(self.line());
        Some(from + self.created_at)
    }

    /// Begins a line, and tells the ledger about what it had to make up.
    pub(crate) fn begin(&mut self, out: &mut Out) {
        self.admit(out);
        out.bytes(self.line());
    }

    /// Tells the ledger about what the line had to make up.
    #[inline(always)]
    pub(crate) fn admit(&self, out: &Out) {
        if out.traced() && self.is_guess() {
            self.confess(out);
        }
    }

    #[cold]
    fn confess(&self, out: &Out) {
        if self.id.is_empty() {
            out.invented("/id", "the source does not name the session");
        }
        if self.created.is_empty() {
            out.invented("/created", "the source does not say when");
        }
        if self.model.is_empty() {
            out.invented("/model", "the source does not name the model");
        }
    }
}

fn or<'s>(known: &'s str, otherwise: &'static str) -> &'s str {
    if known.is_empty() { otherwise } else { known }
}

/// A time with milliseconds in UTC, `2026-11-21T06:00:19.149Z`, up to its seconds.
#[inline]
fn up_to_seconds(text: Str<'_>) -> Option<&[u8; 19]> {
    match text.as_escaped().as_bytes().split_first_chunk() {
        Some((seconds, [b'.', b'0'..=b'9', b'0'..=b'9', b'0'..=b'9', b'Z'])) => Some(seconds),
        _ => None,
    }
}
