//! A conversion that is fed, and finds out what it is fed if nobody says.

use std::ffi::OsString;

use agentglot::adapters::Format;
use agentglot::adapters::convert::{Converter, Damage, Options};
use agentglot::adapters::detect::{Answer, Detector, Unclear};
use agentglot::cli::call::Call;
use agentglot::io::Memory;
use agentglot::status::Failure;

use crate::as_one::AsOne;

#[derive(Debug)]
pub(crate) struct Machine {
    options: Options,
    from: Option<Format>,
    /// What has been fed while nobody knew what it is.
    head: Vec<u8>,
    converter: AsOne<Option<Converter>>,
}

impl Machine {
    /// The options are those of `convert` on the command line.
    pub(crate) fn new(args: Vec<OsString>) -> Result<Self, Failure> {
        let call = Call {
            args,
            memory: Some(Memory::new("-", "")),
        };
        let (from, options) = call.options()?;
        let mut machine = Self {
            options,
            from,
            head: Vec::new(),
            converter: AsOne(None),
        };
        if let Some(from) = from {
            machine.begin(from);
        }
        Ok(machine)
    }

    /// The same for other options.
    pub(crate) fn with(mut self, change: impl FnOnce(&mut Options)) -> Self {
        change(&mut self.options);
        match self.from {
            Some(from) => {
                self.begin(from);
            }
            None => self.converter = AsOne(None),
        }
        self
    }

    fn begin(&mut self, from: Format) -> &mut Converter {
        self.from = Some(from);
        self.options.from = from;
        self.converter.0.insert(Converter::new(self.options.clone()))
    }

    /// What is read, if that is known by now.
    pub(crate) const fn from(&self) -> Option<Format> {
        self.from
    }

    pub(crate) fn feed(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> Result<(), Unclear> {
        if let Some(converter) = &mut self.converter.0 {
            converter.feed(bytes, out);
            return Ok(());
        }
        self.head.extend_from_slice(bytes);
        self.find_out(false, out)
    }

    fn find_out(&mut self, over: bool, out: &mut Vec<u8>) -> Result<(), Unclear> {
        match Detector::new(false).look(&self.head, over) {
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

    pub(crate) fn finish(&mut self, out: &mut Vec<u8>) -> Result<(), Unclear> {
        if self.converter.0.is_none() {
            self.find_out(true, out)?;
        }
        if let Some(converter) = &mut self.converter.0 {
            converter.finish(out);
        }
        Ok(())
    }

    pub(crate) fn take_damage(&mut self) -> Vec<Damage> {
        self.converter.0.as_mut().map(Converter::take_damage).unwrap_or_default()
    }

    pub(crate) fn take_ledger(&mut self) -> String {
        self.converter.0.as_mut().map(Converter::take_ledger).unwrap_or_default()
    }

    pub(crate) fn lines(&self) -> u64 {
        self.converter.0.as_ref().map_or(0, Converter::lines)
    }
}
