//! Sessions in a browser: a server on this machine, over all logs of a place.
//!
//! Who knows the address reads everything, and nobody else anything (`door`); nothing is ever written but the index (`library`). What a
//! log says goes onto pages as data: a session is the page of `show --format html`, and lists are made of texts by a script.

mod chart;
mod door;
mod gist;
mod hits;
mod kept;
mod library;
mod live;
mod pages;
mod place;
mod server;
mod stats;
mod words;

pub use place::Place;
pub use server::Server;
