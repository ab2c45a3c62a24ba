//! Everything that agentglot knows about the protocols of headless coding agents.
//!
//! Bytes in, bytes out: no files, no processes, no clock, no randomness. A [`codec::Decoder`] reads one dialect into
//! canonical events ([`event`]), the assembler ([`assemble`]) gives a target what it wants (deltas, snapshots, one outcome
//! a turn), a [`codec::Encoder`] writes another dialect; [`convert::Converter`] puts the three together and keeps the
//! ledger of everything that did not go over as it was.
//!
//! ```
//! use agentglot_adapters::convert::{Converter, Options};
//! let mut converter = Converter::new(Options::new("cursor".parse()?, "tricode".parse()?));
//! let mut out = Vec::new();
//! converter.feed(b"{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,\"result\":\"hi\",\"session_id\":\"s\"}\n", &mut out);
//! converter.finish(&mut out);
//! assert!(String::from_utf8(out)?.contains("\"content\": \"hi\""));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![deny(unsafe_code)]

// First, so that the arms of the enums are known where the traits that they dispatch stand.
#[macro_use]
pub mod registry;

pub mod assemble;
pub mod check;
pub mod codec;
pub mod conduct;
pub mod convert;
pub mod cuts;
pub mod detect;
pub mod event;
pub mod events;
pub mod frame;
pub mod ids;
pub mod json;
pub mod launch;
pub mod ledger;
pub mod live;
pub mod prompts;
pub mod session;
pub mod tools;
pub mod trace;
pub mod vendor;

mod blocks;
mod chat;
mod learn;
mod read;
mod reader;
mod snake_tools;
mod threads;
mod weave;

vendors!(folders);

pub use codec::{Format, Mode, UnknownFormat};
pub use convert::{Converter, Options, ToolNames};
pub use events::{Event, Json, Kind};
pub use read::{Error, ErrorKind, Events, Source, read};
pub use registry::Dialect;
pub use session::{Session, Turn, Turns, sessions, turns};
