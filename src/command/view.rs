//! `agentglot view`: sessions in a browser.

use crate::status::{Failure, Status};
use crate::view::{Server, View};

/// Serves pages until a signal ends it.
///
/// # Errors
/// When the logs cannot be listed, the port is taken, or stdout cannot be written.
pub fn run(view: View) -> Result<Status, Failure> {
    let server = Server::bind(view.port)?;
    server.serve(view, |address| super::print(format!("{address}\n").as_bytes()).map(|_| ()))?;
    Ok(Status::Clean)
}
