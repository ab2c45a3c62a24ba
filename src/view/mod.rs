//! Sessions in a browser: a server on this machine, over all logs of a place.
//!
//! Who knows the address reads everything, and nobody else anything (`access`); nothing is ever written but the index (`library`). What a
//! log says goes onto pages as data: a session is the page of `show --format html`, and lists are made of texts by a script.

mod access;
mod chart;
mod disk_cache;
mod library;
mod live;
mod pages;
mod place;
mod search_hits;
mod search_index;
mod server;
mod stats;
mod summary;

pub use place::Place;
pub use server::Server;

use crate::stats::Prices;

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
