//! Members that only ShareGPT has.

use crate::names::Names;

/// They ride in the events' fields; sorted by name.
pub(crate) const KNOWN: &[(&str, &str)] = &[
    ("audios", "of the whole: the sounds that stand for `<audio>`, by their paths"),
    ("chosen", "of the whole: the better of two answers"),
    ("images", "of the whole: the images that stand for `<image>`, by their paths"),
    ("loss", "whether it is learned from (axolotl)"),
    ("rejected", "of the whole: the worse of two answers"),
    ("tools", "of the whole: the tools that could be called, as JSON in a text"),
    ("videos", "of the whole: the videos that stand for `<video>`, by their paths"),
    ("weight", "whether it is learned from, 0 or 1"),
];

static NAMES: Names = Names::of(KNOWN);

/// Whether the page names a member.
pub(crate) fn knows(name: &str) -> bool {
    NAMES.has(name)
}
