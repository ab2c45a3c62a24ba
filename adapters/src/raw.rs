//! The inside: events that borrow from the line that is read, codecs, live streams, command lines. agentglot's own program and agent are
//! built of it. It changes with any release.
//!
//! A decoder ([`codec::Decode`]) reads lines into [`event::Event`]s, which live in an arena as long as their line; the assembler
//! ([`assemble`]) supplies what a target wants and the source lacks; an encoder ([`codec::Encode`]) writes lines.

/// Modules whose items are handed on.
macro_rules! inside {
    ($($(#[$meta:meta])* $name:ident,)+) => { $(
        $(#[$meta])*
        pub mod $name {
            pub use crate::$name::*;
        }
    )+ };
}

inside! {
    /// What stands between a decoder and an encoder.
    assemble,
    /// Protocols in which a program answers requests.
    client,
    /// What every dialect's folder provides.
    codec,
    /// How programs behave towards their hosts.
    conduct,
    /// Where a log may be cut in two.
    cuts,
    /// The canonical model, borrowed.
    event,
    /// Protocols of many sessions.
    server,
    /// Bytes to lines, values and server-sent events.
    frame,
    /// Characters that nobody sees for what they are.
    hidden,
    /// Ids that are made up.
    ids,
    /// JSON that need not change moves as bytes.
    json,
    /// Command lines of the agents' programs.
    launch,
    /// What did not go over as it was.
    ledger,
    /// Both ends of a conversation that is going on.
    live,
    /// The prompts of a log of the host's side.
    prompts,
    /// The closed set of vendors.
    registry,
    /// The files in which programs keep sessions.
    store,
    /// What a tool call means.
    tools,
    /// Which parts of a line went over.
    trace,
    /// What is known of a vendor.
    vendor,
}

vendors!(inside_folders);
