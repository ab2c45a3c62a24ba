//! Writing a file as a whole.

use super::diff::Diff;
use super::text::{Encoding, decode};
use crate::workspace::{Fault, Guard, Kind, Place, Stamp};

/// The largest file that is changed, in bytes: it is kept whole, and its difference is worked out.
pub const LARGEST_CHANGED: u64 = 64 << 20;

/// A file that was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// There was none before.
    pub created: bool,
    /// Its text before; `None` if it was new, no text, or larger than [`LARGEST_CHANGED`].
    pub before: Option<String>,
    /// How it looks now.
    pub stamp: Stamp,
}

/// What a text does to what is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Put {
    /// It takes its place.
    Instead,
    /// It goes behind it.
    Behind,
    /// It goes before it.
    Before,
}

/// Writes a text. A file that is there keeps its encoding. `seen` is how it has to look, if that matters.
///
/// # Errors
/// [`Fault::Changed`] when it looks otherwise; the file is then, and after every other fault, what it was.
pub fn write(place: &Place, text: &str, put: Put, seen: Option<&Stamp>) -> Result<Written, Fault> {
    let there = place.stat_if_there()?;
    let Some(there) = there else {
        if seen.is_some() {
            return Err(Fault::Changed(place.named().to_owned()));
        }
        return create(place, text);
    };
    let old = match place.read(LARGEST_CHANGED) {
        Ok((bytes, stamp)) => Some((decode(&bytes), stamp)),
        Err(Fault::TooBig { .. }) if put == Put::Instead && there.kind == Kind::File => None,
        Err(fault) => return Err(fault),
    };
    let (decoded, stamp) = old.unzip();
    let decoded = decoded.flatten();
    let encoding = decoded.as_ref().map(|old| old.encoding).unwrap_or_default();
    let bytes = match (put, &decoded) {
        (Put::Instead, _) => encoding.encode(text),
        (_, None) => return Err(Fault::Other(format!("{} is no text file", place.named().display()))),
        (_, Some(old)) if old.lossy => return Err(not_utf8(place)),
        (Put::Behind, Some(old)) => encoding.encode(&[&old.text, text].concat()),
        (Put::Before, Some(old)) => encoding.encode(&[text, &old.text].concat()),
    };
    let guard = seen.or(stamp.as_ref()).map_or(Guard::Anything, Guard::Same);
    let stamp = place.write(&bytes, guard)?;
    Ok(Written {
        created: false,
        before: decoded.map(|old| old.text),
        stamp,
    })
}

/// Writes a file that is not there yet.
///
/// # Errors
/// [`Fault::Exists`] when it is.
pub fn create(place: &Place, text: &str) -> Result<Written, Fault> {
    let stamp = place.write(&Encoding::Utf8.encode(text), Guard::New)?;
    Ok(Written {
        created: true,
        before: None,
        stamp,
    })
}

/// What writing a text instead of what is there would change, as a unified diff.
///
/// # Errors
/// When the file cannot be read, or is no text.
pub fn preview(place: &Place, text: &str) -> Result<String, Fault> {
    let before = match place.read(LARGEST_CHANGED) {
        Ok((bytes, _)) => decode(&bytes).ok_or_else(|| not_utf8(place))?.text,
        Err(Fault::Missing(_)) => String::new(),
        Err(fault) => return Err(fault),
    };
    let named = place.named().display().to_string();
    Ok(Diff::of(&before, text).unified(&named, &named))
}

/// Writing such a text back would change bytes that nobody meant.
pub(super) fn not_utf8(place: &Place) -> Fault {
    Fault::Other(format!("{} is not valid UTF-8; it would not stay what it is", place.named().display()))
}
