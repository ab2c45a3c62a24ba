//! How a file looked at a time: what tells whether it is still the same.

use sha2::{Digest, Sha256};

use super::place::Stat;

/// The content of files up to this size, in bytes, is told by its hash; that of larger ones by size and times alone.
pub const HASHED_UP_TO: u64 = 16 << 20;

/// How a file looked at a time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stamp {
    /// What the system said of it.
    pub stat: Stat,
    /// The SHA-256 of its content, where it was read as a whole and is not larger than [`HASHED_UP_TO`].
    pub hash: Option<[u8; 32]>,
}

impl Stamp {
    /// Of a file with this content.
    pub fn of(stat: Stat, content: &[u8]) -> Self {
        let hash = (content.len() as u64 <= HASHED_UP_TO).then(|| sha256(content));
        Self { stat, hash }
    }
}

/// The SHA-256 of bytes.
pub(super) fn sha256(bytes: &[u8]) -> [u8; 32] {
    Sha256::digest(bytes).into()
}
