//! A program that is spoken to in requests, and whose older versions only know lines, a turn a run: one that ends before it has answered
//! the first request is taken for one of those.

use async_trait::async_trait;

use super::cli::Cli;
use super::host_servers::Known;
use super::requests::Requests;
use crate::adapters::raw::codec::{Dialect, Format};
use crate::adapters::raw::conduct::Facts;
use crate::adapters::raw::event::{Event, Input};
use crate::adapters::raw::json::Raw;
use crate::backend::{Backend, Hurry, Said};

/// Both ways to speak to it.
#[derive(Debug)]
pub struct MaybeOlder {
    /// None once it turned out that the program is older.
    requests: Option<Requests>,
    /// The other way, which hears what the host says and starts nothing until it is needed; none once the program has answered.
    lines: Option<Cli>,
}

impl MaybeOlder {
    /// Nothing has been started.
    pub const fn new(requests: Requests, lines: Cli) -> Self {
        Self {
            requests: Some(requests),
            lines: Some(lines),
        }
    }

    fn now(&self) -> &dyn Backend {
        match (&self.requests, &self.lines) {
            (Some(requests), _) => requests,
            (None, Some(lines)) => lines,
            (None, None) => unreachable!("only one of the two is ever given up"),
        }
    }

    fn now_mut(&mut self) -> &mut dyn Backend {
        match (&mut self.requests, &mut self.lines) {
            (Some(requests), _) => requests,
            (None, Some(lines)) => lines,
            (None, None) => unreachable!("only one of the two is ever given up"),
        }
    }
}

#[async_trait(?Send)]
impl Backend for MaybeOlder {
    fn dialect(&self) -> Dialect {
        self.now().dialect()
    }

    fn format(&self) -> Format {
        self.now().format()
    }

    fn input(&mut self, input: &Input<'_>) -> bool {
        if let (Some(_), Some(lines)) = (&self.requests, &mut self.lines) {
            lines.input(input);
        }
        self.now_mut().input(input)
    }

    fn refuse(&mut self, line: Raw<'_>, why: &str) {
        self.now_mut().refuse(line, why);
    }

    fn takes_changes(&self) -> bool {
        self.now().takes_changes()
    }

    fn calls_hooks(&self) -> bool {
        self.now().calls_hooks()
    }

    fn queued(&self) -> usize {
        self.now().queued()
    }

    fn tell(&self, facts: &mut Facts) {
        self.now().tell(facts);
    }

    fn inside(&self) -> &[Known] {
        self.now().inside()
    }

    fn at_work(&self) -> bool {
        self.now().at_work()
    }

    fn close(&mut self) {
        if let (Some(_), Some(lines)) = (&self.requests, &mut self.lines) {
            lines.close();
        }
        self.now_mut().close();
    }

    fn heard(&mut self, event: &Event<'_>) {
        self.now_mut().heard(event);
    }

    async fn read(&mut self, into: &mut Vec<u8>) -> Said {
        let said = self.now_mut().read(into).await;
        let Some(requests) = &self.requests else { return said };
        if requests.has_begun() {
            self.lines = None;
        }
        match (&said, &self.lines) {
            (Said::Over(Some(why)), Some(lines)) if requests.ended_unheard() => {
                tracing::warn!("{why}; it is taken for an older version, and started anew for each turn");
                let format = lines.format();
                self.requests = None;
                Said::Speaks(format)
            }
            _ => said,
        }
    }

    fn dismiss(&mut self) {
        self.now_mut().dismiss();
    }

    async fn stop(&mut self, hurry: &Hurry) {
        self.now_mut().stop(hurry).await;
    }
}
