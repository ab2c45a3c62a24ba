//! In place of tables, where agentglot was built without them: none are ever asked for.

use super::Tables;
use super::order::Made;
use crate::io::Target;
use crate::status::Failure;

#[derive(Debug)]
pub(super) enum TableFiles {}

impl TableFiles {
    pub(super) fn open(_: &Tables, _: Option<Target>) -> Result<Self, Failure> {
        Err(Failure::Usage(crate::io::NO_TABLES.to_owned()))
    }

    pub(super) const fn begin(&mut self, _: &str) {
        match *self {}
    }

    pub(super) const fn put(&mut self, _: &mut Made, _: u64) -> Result<(), Failure> {
        match *self {}
    }

    pub(super) const fn lacks(&mut self, _: &Failure) {
        match *self {}
    }

    pub(super) const fn give_up(self) {
        match self {}
    }

    pub(super) const fn close(self) -> Result<(), Failure> {
        match self {}
    }
}
