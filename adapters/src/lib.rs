//! The logs of headless coding agents: read, put together, converted, written.
//!
//! Bytes in, bytes out: no files, no processes, no clock, no randomness.
//!
//! * [`read`] gives the events of a log, as they stand: what an agent and its host say, as owned values ([`events`]). With the feature
//!   `serde` they are `Serialize` and `Deserialize`.
//! * [`turns`] and [`sessions`] put them together ([`session`]): turns, rounds, blocks, calls with their results.
//! * [`Writer`] writes events as the log of any agent.
//! * [`Converter`] turns the log of one agent into that of another, and keeps a ledger of everything that did not go over as it was.
//! * [`check`] finds the faults of a log, [`detect`] what it is written in.
//!
//! ```
//! use agentglot_adapters::{Source, turns};
//!
//! let log = r#"{"type":"system","subtype":"init","session_id":"s","cwd":"/tmp","model":"Auto","permissionMode":"default","apiKeySource":"login"}
//! {"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"Good day."}]},"session_id":"s"}
//! {"type":"result","subtype":"success","is_error":false,"duration_ms":1200,"result":"Good day.","session_id":"s"}
//! "#;
//! for turn in turns(log.as_bytes(), Source::Auto) {
//!     let turn = turn?;
//!     assert_eq!(turn.text(), "Good day.");
//!     assert_eq!(turn.outcome.unwrap().kind.as_str(), "success");
//! }
//! # Ok::<(), agentglot_adapters::Error>(())
//! ```
//!
//! Between formats:
//!
//! ```
//! use agentglot_adapters::{Converter, Options};
//! let mut converter = Converter::new(Options::new("cursor".parse()?, "tricode".parse()?));
//! let mut out = Vec::new();
//! converter.feed(b"{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,\"result\":\"hi\",\"session_id\":\"s\"}\n", &mut out);
//! converter.finish(&mut out);
//! assert!(String::from_utf8(out)?.contains("\"content\": \"hi\""));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Programs of at most 40 lines stand in the package's `examples/`.

#![deny(unsafe_code)]
// What is said of the inside is for those who read it.
#![allow(rustdoc::private_intra_doc_links)]

// First, so that the arms of the enums are known where the traits that they dispatch stand.
#[macro_use]
mod registry;

pub mod check;
pub mod convert;
pub mod detect;
pub mod events;
pub mod raw;
#[cfg(feature = "schema")]
pub mod schema;
pub mod session;

mod answer;
mod assemble;
#[cfg(test)]
#[path = "../tests/codecs/common/beside.rs"]
mod beside;
mod blocks;
mod chat;
mod client;
mod codec;
mod conduct;
mod cuts;
mod elsewhere;
mod event;
mod follow;
mod frame;
mod hidden;
mod ids;
mod json;
mod launch;
mod learn;
mod ledger;
mod live;
mod names;
mod prompts;
mod read;
mod reader;
mod seen;
mod server;
mod snake_tools;
mod store;
mod talk;
#[cfg(test)]
mod testing;
mod threads;
mod tools;
mod trace;
mod unique;
mod unsaid;
mod vendor;
mod waiting;
mod weave;
mod write;

vendors!(folders);

pub use codec::{Format, Layout, Mode, UnknownFormat};
pub use convert::{Converter, Drain, Options, ToolNames};
pub use events::{Event, Json, Kind};
pub use read::{Error, ErrorKind, Events, Source, read};
pub use registry::Dialect;
pub use session::{Session, Turn, Turns, sessions, turns};
pub use write::Writer;
