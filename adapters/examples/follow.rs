//! Says what an agent does while its log grows: `cargo run --example follow -- LOG`

use std::fs::File;
use std::io::{self, Read, Write};
use std::time::Duration;

use agentglot_adapters::events::Block;
use agentglot_adapters::{Kind, Source, read};

pub(crate) fn follow(log: impl Read, out: &mut impl Write) -> io::Result<()> {
    for event in read(log, Source::Auto).flatten() {
        let Kind::Reply(reply) = event.kind else { continue };
        for block in &reply.blocks {
            match block {
                Block::Text { text, .. } => writeln!(out, "{text}")?,
                Block::Call(call) => writeln!(out, "> {} {}", call.name, call.input)?,
                _ => {}
            }
        }
    }
    Ok(())
}

struct GrowingFile(File);

impl Read for GrowingFile {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        let mut read = self.0.read(room)?;
        while read == 0 {
            std::thread::sleep(Duration::from_millis(100));
            read = self.0.read(room)?;
        }
        Ok(read)
    }
}

fn main() -> io::Result<()> {
    let path = std::env::args().nth(1).unwrap_or_default();
    follow(GrowingFile(File::open(path)?), &mut io::stdout())
}
