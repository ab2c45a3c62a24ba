//! What an agent changed in files, as diffs: `cargo run --example extract_diffs -- LOG…`

use std::error::Error;
use std::io::Write;

use agentglot_adapters::events::ToolKind;
use agentglot_adapters::session::Call;
use agentglot_adapters::{Converter, Dialect, Options, Source, read, turns};
use similar::TextDiff;

pub(crate) fn diffs(log: &[u8], out: &mut impl Write) -> Result<(), Box<dyn Error>> {
    let Some(from) = read(log, Source::Auto).format()? else { return Ok(()) };
    // In one dialect's words the edits of all agents look alike.
    let mut converter = Converter::new(Options::new(from, Dialect::Claude.into()));
    let mut claude = Vec::new();
    converter.feed(log, &mut claude);
    converter.finish(&mut claude);
    for turn in turns(claude.as_slice(), Dialect::Claude) {
        for call in turn?.calls().into_iter().filter(|call| call.succeeded() == Some(true)) {
            let text = |call: &Call, key| call.input.get(key).and_then(|value| value.to_text()).unwrap_or_default();
            let (old, new) = match call.kind {
                ToolKind::Edit => (text(call, "old_string"), text(call, "new_string")),
                ToolKind::Write => (String::new(), text(call, "content")),
                _ => continue,
            };
            let path = text(call, "file_path");
            write!(out, "{}", TextDiff::from_lines(&old, &new).unified_diff().header(&path, &path))?;
        }
    }
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    for path in std::env::args().skip(1) {
        diffs(&std::fs::read(path)?, &mut std::io::stdout())?;
    }
    Ok(())
}
