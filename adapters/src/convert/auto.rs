//! A conversion of a log of which nobody says what it is.

use super::{Converter, Options};
use crate::codec::Format;
use crate::detect::{Answer, Detector, Unclear};

/// A [`Converter`] that finds out what it is fed.
///
/// What is fed is held back until its dialect is clear, and converted then; sessions in other dialects that follow it are read too.
///
/// ```
/// use agentglot_adapters::convert::{AutoConverter, Options};
/// use agentglot_adapters::{Dialect, Format};
///
/// let tricode = Format::from(Dialect::Tricode);
/// let mut converter = AutoConverter::new(None, Options::new(tricode, tricode));
/// let mut out = Vec::new();
/// converter.feed(br#"{"type":"system","subtype":"init","claude_code_version":"2.1.329","#, &mut out)?;
/// assert_eq!(converter.from(), None);
/// converter.feed(b"\"session_id\":\"0a1b2c3d\",\"cwd\":\"/w\"}\n", &mut out)?;
/// converter.finish(&mut out)?;
/// assert_eq!(converter.from(), Some(Dialect::Claude.into()));
/// assert!(out.starts_with(br#"{"type": "system", "message": "Session ID: 0a1b2c3d"}"#));
/// # Ok::<(), agentglot_adapters::detect::Unclear>(())
/// ```
#[derive(Debug)]
pub struct AutoConverter {
    options: Options,
    detector: Detector,
    /// What has been fed while nobody knew what it is.
    head: Vec<u8>,
    converter: Option<Converter>,
}

impl AutoConverter {
    /// Ready for the first byte of a log in the format `from`, or in one that is found out. [`Options::from`] does not count, nor does
    /// [`Options::follow`] if the format is found out.
    pub fn new(from: Option<Format>, options: Options) -> Self {
        let mut auto = Self {
            options,
            detector: Detector::new(false),
            head: Vec::new(),
            converter: None,
        };
        if let Some(from) = from {
            auto.begin(from);
        }
        auto
    }

    /// Takes the next piece of the input and appends what it gives to `out`.
    ///
    /// # Errors
    /// When no dialect can be told from the others; then this is over.
    pub fn feed(&mut self, input: &[u8], out: &mut Vec<u8>) -> Result<(), Unclear> {
        if let Some(converter) = &mut self.converter {
            converter.feed(input, out);
            return Ok(());
        }
        self.head.extend_from_slice(input);
        self.find_out(false, out)
    }

    /// The input is over: appends what was still held.
    ///
    /// # Errors
    /// When no dialect can be told from the others.
    pub fn finish(&mut self, out: &mut Vec<u8>) -> Result<(), Unclear> {
        if self.converter.is_none() {
            self.find_out(true, out)?;
        }
        if let Some(converter) = &mut self.converter {
            converter.finish(out);
        }
        Ok(())
    }

    /// What is read, if that is known by now.
    pub fn from(&self) -> Option<Format> {
        self.converter.is_some().then_some(self.options.from)
    }

    /// The conversion, if it has begun.
    pub const fn converter(&self) -> Option<&Converter> {
        self.converter.as_ref()
    }

    /// The same, to take from it what it has found.
    pub const fn converter_mut(&mut self) -> Option<&mut Converter> {
        self.converter.as_mut()
    }

    fn begin(&mut self, from: Format) -> &mut Converter {
        self.options.from = from;
        self.converter.insert(Converter::new(self.options.clone()))
    }

    fn find_out(&mut self, over: bool, out: &mut Vec<u8>) -> Result<(), Unclear> {
        match self.detector.look(&self.head, over) {
            Answer::Found(found) => {
                self.options.follow = found.format.stands_with_others();
                let head = std::mem::take(&mut self.head);
                self.begin(found.format).feed(&head, out);
                Ok(())
            }
            Answer::Unclear(unclear) => Err(unclear),
            Answer::More | Answer::Empty => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::Dialect;

    const LOG: &str = concat!(
        "{\"type\": \"system\", \"message\": \"Session ID: 1f2e3d4c\"}\n",
        "{\"type\": \"final\", \"content\": \"done\"}\n"
    );

    fn fed(from: Option<Format>, log: &str, most: usize) -> Result<Vec<u8>, Unclear> {
        let mut options = Options::new(Dialect::Claude.into(), Dialect::Cursor.into());
        options.prompts = vec!["go".to_owned()];
        let mut converter = AutoConverter::new(from, options);
        let mut out = Vec::new();
        for piece in log.as_bytes().chunks(most) {
            converter.feed(piece, &mut out)?;
        }
        converter.finish(&mut out)?;
        Ok(out)
    }

    #[test]
    fn what_is_found_out_is_converted_as_if_it_had_been_named() {
        let named = fed(Some(Dialect::Tricode.into()), LOG, LOG.len()).unwrap();
        assert!(String::from_utf8_lossy(&named).contains("1f2e3d4c"));
        for most in [1, 7, LOG.len()] {
            assert_eq!(fed(None, LOG, most).unwrap(), named);
        }
        assert_eq!(fed(None, "\n", 1).unwrap(), b"");
        let unclear = fed(None, "{\"a\":1}\n", 3).unwrap_err();
        assert!(unclear.candidates.is_empty());
    }
}
