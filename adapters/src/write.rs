//! Sessions that are written event by event.

use std::io::{self, Write};

use crate::codec::Format;
use crate::convert::{Converter, Options};
use crate::events::{Block, Event, Kind, ToolCall, ToolKind};
use crate::json::Str;
use crate::registry::Dialect;

/// Writes owned events as the log of any agent. What the format wants and the events lack is supplied: beginnings of rounds, pieces, an
/// outcome for each turn.
///
/// ```
/// use agentglot_adapters::events::{Block, Outcome, OutcomeKind, Reply};
/// use agentglot_adapters::{Event, Kind, Writer};
/// let mut log = Vec::new();
/// let mut writer = Writer::new("claude".parse()?);
/// writer.write(&Event::new(Kind::Reply(Box::new(Reply::new(vec![Block::text("Hello")])))).in_session("s"), &mut log)?;
/// writer.write(&Event::new(Kind::Outcome(Box::new(Outcome::new(OutcomeKind::Success)))).in_session("s"), &mut log)?;
/// writer.finish(&mut log)?;
/// let log = String::from_utf8(log)?;
/// assert!(log.contains(r#""type":"text","text":"Hello""#) && log.contains(r#""subtype":"success""#));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Writer {
    tools: Dialect,
    converter: Converter,
    begun: bool,
    written: Vec<u8>,
}

impl Writer {
    /// Writes `to`. Tools are called as they are called there.
    pub fn new(to: Format) -> Self {
        Self {
            tools: Dialect::CANONICAL,
            converter: Converter::new(Options::new(Dialect::CANONICAL.into(), to)),
            begun: false,
            written: Vec::new(),
        }
    }

    /// Tools are called, and called with what they are called with, as in this dialect; they are translated.
    #[must_use]
    pub const fn tools_of(mut self, dialect: Dialect) -> Self {
        self.tools = dialect;
        self
    }

    /// Writes one event, or keeps it until its lines are known.
    ///
    /// # Errors
    /// When `out` cannot be written to.
    pub fn write(&mut self, event: &Event, out: &mut impl Write) -> io::Result<()> {
        if !std::mem::replace(&mut self.begun, true) {
            self.converter.feed(Event::header(self.tools).as_bytes(), &mut self.written);
        }
        let mut event = event.clone();
        self.name_tools(&mut event);
        self.converter.feed((event.to_json() + "\n").as_bytes(), &mut self.written);
        self.flush(out)
    }

    /// The session is over.
    ///
    /// # Errors
    /// When `out` cannot be written to.
    pub fn finish(mut self, out: &mut impl Write) -> io::Result<()> {
        self.converter.finish(&mut self.written);
        self.flush(out)
    }

    fn flush(&mut self, out: &mut impl Write) -> io::Result<()> {
        let result = out.write_all(&self.written);
        self.written.clear();
        result
    }

    /// Says what tools do whose names say it.
    fn name_tools(&self, event: &mut Event) {
        let name = |call: &mut ToolCall| {
            if call.kind == ToolKind::Other {
                let mut escaped = String::new();
                Str::escape(&call.name, &mut escaped);
                call.kind = crate::tools::kind_of(self.tools, Str::trusted(&escaped));
            }
        };
        match &mut event.kind {
            Kind::Reply(reply) => {
                for block in &mut reply.blocks {
                    if let Block::Call(call) = block {
                        name(call);
                    }
                }
            }
            Kind::ToolResult(result) => result.of.iter_mut().for_each(name),
            _ => {}
        }
    }
}
