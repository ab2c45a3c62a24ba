//! The codecs from outside: one binary, so that everything is linked once.

mod api;
mod by_heart;
mod checks;
mod common;
mod contents;
mod detect;
mod examples;
mod gemini_chats;
mod goldens;
mod interleavings;
mod laws;
mod learnt;
mod linear;
mod long_lines;
mod memory;
mod pieces;
mod purity;
mod reads_right;
mod rebuild;
mod source;
mod stores;
mod streams;
mod tools;
mod validators;
mod vendors;
mod waiting;
