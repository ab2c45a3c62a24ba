//! Counts the tools that the logs of any agent call: `cargo run --example count_tools -- LOG…`

use std::collections::BTreeMap;
use std::error::Error;
use std::fs::File;
use std::io::{Read, Write};

use agentglot_adapters::{Source, turns};

pub(crate) fn count(log: impl Read, out: &mut impl Write) -> Result<(), Box<dyn Error>> {
    let mut tools = BTreeMap::new();
    for turn in turns(log, Source::Auto) {
        let turn = match turn {
            Ok(turn) => turn,
            Err(damage) if damage.can_continue() => continue,
            Err(error) => return Err(error.into()),
        };
        for call in turn.calls() {
            let (calls, failures) = tools.entry(call.name.clone()).or_insert((0, 0));
            *calls += 1;
            *failures += u32::from(call.succeeded() == Some(false));
        }
    }
    for (name, (calls, failures)) in tools {
        writeln!(out, "{name}: {calls} calls, {failures} failed")?;
    }
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    for path in std::env::args().skip(1) {
        count(File::open(path)?, &mut std::io::stdout())?;
    }
    Ok(())
}
