//! What the API streams: the data of each event.

use crate::schema::parts::PIECES;
use crate::schema::{Side, Sides};

pub(super) static SIDES: Sides = Sides {
    agent: Side {
        lines: PIECES,
        tags: &["type"],
    },
    host: None,
};
