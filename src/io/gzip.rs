//! gzip as it is read: one member behind the other, and behind the last one as many zeros as there are. Tapes and tools that fill blocks
//! leave them, and gzip itself does not mind.

use std::io::{self, BufRead, BufReader, ErrorKind, Read};

use flate2::bufread::GzDecoder;

/// What is unpacked. What is wrong with the packing is told in words for people: libraries say "incomplete deflate stream".
pub(super) struct Unpacked<R> {
    pub(super) inner: R,
    /// What it is packed with.
    pub(super) by: &'static str,
}

impl<R: Read> Read for Unpacked<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.inner.read(buffer).map_err(|error| {
            let by = self.by;
            let why = match error.kind() {
                // The system could not read it.
                _ if error.raw_os_error().is_some() => return error,
                ErrorKind::Interrupted => return error,
                ErrorKind::UnexpectedEof => format!("it ends in the middle of what {by} has packed"),
                _ => format!("it is not what {by} packs, or is damaged ({error})"),
            };
            io::Error::new(error.kind(), why)
        })
    }
}

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
