//! `agentglot view`: sessions in a browser.

use crate::stats::Prices;
use crate::status::{Failure, Status};
use crate::view::{Place, Server};

/// What is to be shown, and how.
#[derive(Debug)]
pub struct View {
    /// Where the logs are.
    pub place: Place,
    /// The port; 0 for one that is free.
    pub port: u16,
    /// Times are those of Greenwich, not local ones.
    pub utc: bool,
    /// What tokens cost.
    pub prices: Prices,
    /// What is known of logs is kept on disk.
    pub keep: bool,
}

/// Serves pages until a signal ends it.
///
/// # Errors
/// When the logs cannot be listed, the port is taken, or stdout cannot be written.
pub fn run(view: View) -> Result<Status, Failure> {
    let server = Server::bind(view.port)?;
    server.serve(view, |address| super::print(format!("{address}\n").as_bytes()).map(|_| ()))?;
    Ok(Status::Clean)
}
