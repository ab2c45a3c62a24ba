//! `check`: no real log breaks a rule, and a broken one breaks the rule that it was made to break.

#![allow(missing_docs, unreachable_pub)]

mod broken;
mod damaged;
mod documents;
mod lines;
mod whole;

use agentglot_adapters::check::{Checker, Finding, Settings};
use agentglot_adapters::raw::codec::Format;

/// What is found in a log.
fn found(format: Format, log: &[u8]) -> Vec<Finding> {
    let mut settings = Settings::default();
    settings.follow = true;
    let mut checker = Checker::with(format, settings);
    checker.feed(log);
    checker.finish().0
}
