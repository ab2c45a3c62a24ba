//! Writes a session that never was, as the log of any agent: `cargo run --example write_session -- DIALECT`

use std::error::Error;
use std::io::Write;

use agentglot_adapters::events::{Block, Outcome, OutcomeKind, Prompt, Reply, ResultStatus, SessionFacts, ToolCall, ToolResult};
use agentglot_adapters::{Dialect, Event, Format, Json, Kind, Writer};

pub(crate) fn write(to: Format, out: &mut impl Write) -> Result<(), Box<dyn Error>> {
    let mut facts = SessionFacts::default();
    facts.cwd = Some("/home/me/project".to_owned());
    facts.model = Some("a-model".to_owned());
    facts.opens_turn = true;
    let input = Json::new(r#"{"command": "ls"}"#).ok_or("no JSON")?;
    let mut outcome = Outcome::new(OutcomeKind::Success);
    outcome.text = Some("There is one file.".to_owned());
    let mut writer = Writer::new(to).tools_of(Dialect::Claude);
    for kind in [
        Kind::Session(facts.into()),
        Kind::Prompt(Prompt::new("What is here?").into()),
        Kind::Reply(Reply::new(vec![Block::Call(ToolCall::new("call-1", "Bash", input))]).into()),
        Kind::ToolResult(ToolResult::new("call-1", ResultStatus::Success, "main.rs\n").into()),
        Kind::Reply(Reply::new(vec![Block::text("There is one file.")]).into()),
        Kind::Outcome(outcome.into()),
    ] {
        writer.write(&Event::new(kind).in_session("session-1"), out)?;
    }
    Ok(writer.finish(out)?)
}

fn main() -> Result<(), Box<dyn Error>> {
    let to = std::env::args().nth(1).ok_or("write_session DIALECT")?;
    write(to.parse()?, &mut std::io::stdout())
}
