//! Reads a transcript from its end: no further back than the last compaction, which replaces what stands before it.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use memchr::{memchr, memmem, memrchr};
use serde::Deserialize;

/// How much is read at a time.
const STEP: usize = 1 << 20;

/// So much is read back at most.
const MOST: usize = 1 << 30;

/// What stands in the line of a boundary.
const BOUNDARY: &[u8] = b"compact_boundary";

/// The end of a file, whole lines of it.
#[derive(Debug)]
pub(super) struct Tail {
    /// Room, and the bytes at its end.
    room: Vec<u8>,
    head: usize,
    /// Where in the file the bytes begin.
    pub(super) start: u64,
    /// How many bytes at the file's end are half a line.
    pub(super) torn: usize,
    /// The last line is whole, but not ended.
    pub(super) unended: bool,
}

impl Tail {
    /// Reads back to the last boundary, or all of the file.
    pub(super) fn read(file: &File, whole: bool) -> io::Result<Self> {
        let length = file.metadata()?.len();
        let mut tail = Self {
            room: Vec::new(),
            head: 0,
            start: length,
            torn: 0,
            unended: false,
        };
        if whole {
            while tail.start > 0 {
                tail.more(file, 16 * STEP)?;
            }
        } else {
            tail.seek_boundary(file)?;
        }
        tail.judge_end();
        Ok(tail)
    }

    /// The lines, and at most a torn one behind them.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.room[self.head..self.room.len() - self.torn]
    }

    fn seek_boundary(&mut self, file: &File) -> io::Result<()> {
        // What lies behind this place has been looked through.
        let mut seen = 0;
        while self.start > 0 {
            self.more(file, STEP)?;
            let bytes = &self.room[self.head..];
            // What is looked for may lie across the place where two reads meet.
            let mut window = (bytes.len() - seen + BOUNDARY.len()).min(bytes.len());
            while let Some(hit) = memmem::rfind(&self.room[self.head..][..window], BOUNDARY) {
                let begin = self.line_start(file, hit)?;
                // Reading further back has moved what was found.
                let bytes = &self.room[self.head..];
                let end = memchr(b'\n', &bytes[begin..]).map_or(bytes.len(), |at| begin + at);
                if is_boundary(&bytes[begin..end]) {
                    self.head += begin;
                    self.start += begin as u64;
                    return Ok(());
                }
                window = begin;
            }
            seen = self.room.len() - self.head;
        }
        Ok(())
    }

    /// Where the line begins that has this place in it, both counted from what is held; reads further back if need be.
    fn line_start(&mut self, file: &File, mut at: usize) -> io::Result<usize> {
        loop {
            if let Some(newline) = memrchr(b'\n', &self.room[self.head..][..at]) {
                return Ok(newline + 1);
            }
            if self.start == 0 {
                return Ok(0);
            }
            // Only what is new has to be looked through.
            let before = self.start;
            self.more(file, STEP)?;
            let added = (before - self.start) as usize;
            if let Some(newline) = memrchr(b'\n', &self.room[self.head..][..added]) {
                return Ok(newline + 1);
            }
            at = 0;
        }
    }

    /// Reads what stands before.
    fn more(&mut self, file: &File, step: usize) -> io::Result<()> {
        let step = usize::try_from(self.start).unwrap_or(step).min(step);
        if self.room.len() - self.head > MOST {
            return Err(io::Error::new(
                io::ErrorKind::FileTooLarge,
                format!("what has to be read of it is more than {MOST} bytes"),
            ));
        }
        if self.head < step {
            let held = self.room.len() - self.head;
            let mut room = vec![0; (2 * (held + step)).max(STEP).min(held.saturating_add(self.start as usize))];
            let head = room.len() - held;
            room[head..].copy_from_slice(&self.room[self.head..]);
            (self.room, self.head) = (room, head);
        }
        let place = self.head - step;
        file.read_exact_at(&mut self.room[place..self.head], self.start - step as u64)?;
        self.head = place;
        self.start -= step as u64;
        Ok(())
    }

    /// Whether the last line is whole.
    fn judge_end(&mut self) {
        let bytes = &self.room[self.head..];
        if bytes.last().is_none_or(|&byte| byte == b'\n') {
            return;
        }
        let begin = memrchr(b'\n', bytes).map_or(0, |at| at + 1);
        let last = &bytes[begin..];
        if serde_json::from_slice::<serde::de::IgnoredAny>(last).is_ok() {
            self.unended = true;
        } else {
            self.torn = last.len();
        }
    }
}

#[derive(Deserialize)]
struct Kind {
    #[serde(rename = "type", default)]
    kind: String,
    #[serde(default)]
    subtype: String,
    #[serde(rename = "isSidechain", default)]
    sidechain: bool,
}

fn is_boundary(line: &[u8]) -> bool {
    serde_json::from_slice::<Kind>(line).is_ok_and(|line| line.kind == "system" && line.subtype == "compact_boundary" && !line.sidechain)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn tail(text: &[u8], whole: bool) -> Tail {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(text).unwrap();
        Tail::read(&file, whole).unwrap()
    }

    #[test]
    fn begins_at_the_last_boundary_wherever_it_lies() {
        let boundary = "{\"type\":\"system\",\"subtype\":\"compact_boundary\"}\n";
        let talk = "{\"type\":\"user\",\"t\":\"of a compact_boundary\"}\n";
        for before in [0, 1, 17, 1000, STEP - 30, STEP, STEP + 5, 3 * STEP] {
            for after in [0, 1, 40, STEP - 60, STEP - 47, STEP - 20, STEP, 2 * STEP + 9] {
                let fill = |n: usize| format!("{}\n", "x".repeat(n));
                let text = format!("{boundary}{}{boundary}{talk}{}", fill(before), fill(after));
                let found = tail(text.as_bytes(), false);
                let place = boundary.len() + before + 1;
                assert_eq!(found.start, place as u64, "{before} {after}");
                assert_eq!(found.bytes(), &text.as_bytes()[place..]);
                assert_eq!(tail(text.as_bytes(), true).bytes(), text.as_bytes());
            }
        }
        let without = talk.repeat(70_000);
        assert_eq!(tail(without.as_bytes(), false).bytes(), without.as_bytes());
        assert_eq!(tail(b"", false).bytes(), b"");
    }

    #[test]
    fn half_a_line_is_told_from_a_whole_one() {
        let cases: [(&[u8], usize, bool); 5] = [
            (b"{}\n{\"a\":1", 6, false),
            (b"{}\n{\"a\":1}", 0, true),
            (b"{}\n", 0, false),
            (b"{\"a", 3, false),
            (b"{}\n\0\0\0", 3, false),
        ];
        for (text, torn, unended) in cases {
            let tail = tail(text, false);
            assert_eq!((tail.torn, tail.unended), (torn, unended));
            assert_eq!(tail.bytes(), &text[..text.len() - torn]);
        }
    }
}
