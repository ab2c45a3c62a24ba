//! Ids that a target needs and the source does not have.
//!
//! They come from the session's id and a counter, so the same log always gives the same output. The ledger calls them
//! invented.

use std::fmt::Write;

/// The n-th made-up UUID of a session (version 8, which RFC 9562 leaves to the maker).
pub fn uuid(session: &str, n: u64) -> String {
    let high = mix(fnv(session.as_bytes(), 0xcbf2_9ce4_8422_2325) ^ n);
    let low = mix(fnv(session.as_bytes(), 0x8422_2325_cbf2_9ce4).wrapping_add(n.wrapping_mul(0x9e37_79b9_7f4a_7c15)));
    let mut text = String::with_capacity(36);
    // Writing to a `String` cannot fail.
    let _ = write!(
        text,
        "{:08x}-{:04x}-8{:03x}-{:04x}-{:012x}",
        high >> 32,
        high >> 16 & 0xffff,
        high & 0xfff,
        low >> 48 & 0x3fff | 0x8000,
        low & 0xffff_ffff_ffff
    );
    text
}

/// The made-up UUIDs of one session in their order: the same as [`uuid`] gives, for those who need one a line.
#[derive(Clone, Debug)]
pub struct Uuids {
    high: u64,
    low: u64,
    next: u64,
}

impl Uuids {
    /// Begins with the `first` one of a session.
    pub fn new(session: &str, first: u64) -> Self {
        Self {
            high: fnv(session.as_bytes(), 0xcbf2_9ce4_8422_2325),
            low: fnv(session.as_bytes(), 0x8422_2325_cbf2_9ce4),
            next: first,
        }
    }

    /// The next one, in ASCII.
    pub fn next_ascii(&mut self) -> [u8; 36] {
        let n = self.next;
        self.next += 1;
        let high = mix(self.high ^ n) & !0xf000 | 0x8000;
        let low = mix(self.low.wrapping_add(n.wrapping_mul(0x9e37_79b9_7f4a_7c15))) & !(0b11 << 62) | 1 << 63;
        let mut text = [b'-'; 36];
        let (high, low) = (high.to_be_bytes(), low.to_be_bytes());
        let mut put = |from: usize, bytes: &[u8]| {
            for (n, &byte) in bytes.iter().enumerate() {
                text[from + 2 * n..from + 2 * n + 2].copy_from_slice(&HEX[usize::from(byte)]);
            }
        };
        put(0, &high[..4]);
        put(9, &high[4..6]);
        put(14, &high[6..]);
        put(19, &low[..2]);
        put(24, &low[2..]);
        text
    }
}

/// Each byte as two hexadecimal digits.
const HEX: [[u8; 2]; 256] = {
    let digits = b"0123456789abcdef";
    let mut table = [[0; 2]; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = [digits[byte >> 4], digits[byte & 15]];
        byte += 1;
    }
    table
};

/// Eight hexadecimal digits for a session, as Tricode uses them: the first eight of the id if it begins so, else made up.
pub fn short(session: &str) -> String {
    match session.get(..8) {
        Some(head) if head.bytes().all(|b| b.is_ascii_hexdigit()) => head.to_ascii_lowercase(),
        _ => format!("{:08x}", mix(fnv(session.as_bytes(), 0xcbf2_9ce4_8422_2325)) >> 32),
    }
}

/// A fingerprint of bytes that were too many to keep (64-bit FNV-1a).
pub fn fnv(bytes: &[u8], seed: u64) -> u64 {
    bytes
        .iter()
        .fold(seed, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// The seed of [`fnv`].
pub const FNV_SEED: u64 = 0xcbf2_9ce4_8422_2325;

fn mix(mut x: u64) -> u64 {
    x = (x ^ x >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ x >> 31
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_stable_distinct_and_well_formed() {
        let ids: std::collections::HashSet<String> = (0..1000).map(|n| uuid("s", n)).chain((0..1000).map(|n| uuid("t", n))).collect();
        assert_eq!(ids.len(), 2000);
        assert!(
            ids.iter()
                .all(|id| id.len() == 36 && id.as_bytes()[14] == b'8' && matches!(id.as_bytes()[19], b'8' | b'9' | b'a' | b'b'))
        );
        assert_eq!(uuid("s", 1), uuid("s", 1));
        for session in ["", "s", "3f0c"] {
            let mut ids = Uuids::new(session, 5);
            assert!((5..200).all(|n| ids.next_ascii() == *uuid(session, n).as_bytes()));
        }
        assert_eq!(short("71BB7F65-cc9b"), "71bb7f65");
        assert_eq!(short("session-123").len(), 8);
    }
}
