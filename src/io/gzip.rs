//! gzip as it is read: one member behind the other, and behind the last one as many zeros as there are. Tapes and tools that fill blocks
//! leave them, and gzip itself does not mind.

use std::io::{self, BufRead, BufReader, Read};

use flate2::bufread::GzDecoder;

/// The contents of all members.
pub(super) struct Members<R> {
    /// None once all is read.
    member: Option<GzDecoder<BufReader<R>>>,
    /// The member has ended.
    between: bool,
}

impl<R: Read> Members<R> {
    pub(super) fn new(reader: R) -> Self {
        let member = Some(GzDecoder::new(BufReader::new(reader)));
        Self { member, between: false }
    }
}

impl<R: Read> Read for Members<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        while let Some(member) = &mut self.member {
            if !self.between {
                match member.read(buffer)? {
                    0 => self.between = true,
                    read => return Ok(read),
                }
            }
            let rest = member.get_mut();
            let next = rest.fill_buf()?;
            let zeros = next.iter().take_while(|byte| **byte == 0).count();
            let (is_over, is_next) = (next.is_empty(), zeros == 0);
            rest.consume(zeros);
            if is_over {
                self.member = None;
            } else if is_next {
                self.member = self.member.take().map(|member| GzDecoder::new(member.into_inner()));
                self.between = false;
            }
        }
        Ok(0)
    }
}
