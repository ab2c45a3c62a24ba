//! Ids that a target needs and the source does not have.
//!
//! They come from the session's id and a counter, so the same log always gives the same output. A session may come back in the middle of
//! a log, and a part that is converted by itself knows nothing of those before: the counter begins with the byte of the log at which the
//! session begins or comes back, for of no byte comes more than one id. The ledger calls them invented.

use std::fmt::Write;
use std::hash::{DefaultHasher, Hasher};

/// The n-th made-up UUID of a session (version 8, which RFC 9562 leaves to the maker).
pub fn uuid(session: &str, n: u64) -> String {
    let text = Uuids::new(session, n).next_ascii();
    text.into_iter().map(char::from).collect()
}

/// The made-up UUID of what has this id of its own in a session.
pub fn uuid_of(session: &str, id: &str) -> String {
    uuid(session, fnv(id.as_bytes(), FNV_SEED))
}

/// The made-up UUIDs of one session in their order: the same as [`uuid`] gives, for those who need one a line.
#[derive(Clone, Debug)]
pub struct Uuids {
    high: u64,
    low: u64,
    next: u64,
}

impl Default for Uuids {
    fn default() -> Self {
        Self::new("", 1)
    }
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

    /// Names a session that has no name, and goes on with its ids.
    pub(crate) fn name_session(&mut self) -> String {
        let id = uuid("", self.next - 1);
        *self = self.of(&id);
        id
    }

    /// Those of another session, whose numbers go on where these are.
    pub fn of(&self, session: &str) -> Self {
        Self::new(session, self.next)
    }

    /// The next one, in ASCII.
    pub fn next_ascii(&mut self) -> [u8; 36] {
        let n = self.next;
        self.next += 1;
        let high = mix(self.high ^ n) & !0xf000 | 0x8000;
        let low = mix(self.low.wrapping_add(n.wrapping_mul(0x9e37_79b9_7f4a_7c15))) & !(0b11 << 62) | 1 << 63;
        let mut text = [b'-'; 36];
        let (first, second) = (digits((high >> 32) as u32), digits(high as u32));
        let (third, fourth) = (digits((low >> 32) as u32), digits(low as u32));
        text[..8].copy_from_slice(&first);
        text[9..13].copy_from_slice(&second[..4]);
        text[14..18].copy_from_slice(&second[4..]);
        text[19..23].copy_from_slice(&third[..4]);
        text[24..28].copy_from_slice(&third[4..]);
        text[28..].copy_from_slice(&fourth);
        text
    }
}

/// A number as eight hexadecimal digits, all of them worked out at once, a byte for each.
#[inline]
pub(crate) const fn digits(n: u32) -> [u8; 8] {
    const ONES: u64 = 0x0101_0101_0101_0101;
    let n = n as u64;
    let n = (n << 16 | n) & 0x0000_ffff_0000_ffff;
    let n = (n << 8 | n) & 0x00ff_00ff_00ff_00ff;
    let n = (n << 4 | n) & 0x0f0f_0f0f_0f0f_0f0f;
    // Of a digit of ten and more, adding six sets bit 4.
    let letters = (n + 6 * ONES) >> 4 & ONES;
    (n + ONES * b'0' as u64 + letters * (b'a' - b'0' - 10) as u64).to_be_bytes()
}

/// The id of a conversation that was made before anything was said in it (`create-chat`): of random bytes, a UUID of version 4 in
/// which [`is_unused`] sees what it is.
pub fn unused(random: [u8; 16]) -> String {
    let mut bytes = random;
    bytes[6] = bytes[6] & 0x0f | 0x40;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    let mark = mark(&bytes);
    bytes[12..].copy_from_slice(&mark);
    let mut text = String::with_capacity(36);
    for (n, byte) in bytes.iter().enumerate() {
        if matches!(n, 4 | 6 | 8 | 10) {
            text.push('-');
        }
        // Writing to a `String` cannot fail.
        let _ = write!(text, "{byte:02x}");
    }
    text
}

/// Whether an id is one that [`unused`] gives. A program that knows no such session may begin it.
pub fn is_unused(id: &str) -> bool {
    let digits: Vec<u8> = id.bytes().filter(|&byte| byte != b'-').collect();
    let mut bytes = [0; 16];
    if id.len() != 36 || digits.len() != 32 {
        return false;
    }
    for (byte, pair) in bytes.iter_mut().zip(digits.chunks(2)) {
        let pair = std::str::from_utf8(pair).ok().and_then(|pair| u8::from_str_radix(pair, 16).ok());
        let Some(value) = pair else { return false };
        *byte = value;
    }
    bytes[12..] == mark(&bytes)
}

/// What the last four bytes are by the others.
fn mark(bytes: &[u8; 16]) -> [u8; 4] {
    ((mix(fnv(&bytes[..12], FNV_SEED)) >> 32) as u32).to_be_bytes()
}

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

/// A hash of an id for looking it up. It is the same in every run, so that what is held does not depend on one.
pub(crate) fn hash(id: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(id.as_bytes());
    hasher.finish()
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
        assert_eq!(uuid("s", 1), "a0b3249c-656b-88a0-9dc1-5cab2a8138c3");
        assert_eq!(uuid("", 7), "f121e776-47e3-8933-bf1a-3a39d4828241");
        for session in ["", "s", "3f0c"] {
            let mut ids = Uuids::new(session, 5);
            assert!((5..200).all(|n| ids.next_ascii() == *uuid(session, n).as_bytes()));
        }
        let chats: Vec<String> = (0..=255).map(|n| unused([n; 16])).collect();
        assert!(
            chats
                .iter()
                .all(|id| is_unused(id) && id.as_bytes()[14] == b'4' && matches!(id.as_bytes()[19], b'8' | b'9' | b'a' | b'b'))
        );
        assert!(!is_unused(&chats[7].replacen('0', "1", 1)) && !is_unused(&uuid("s", 1)) && !is_unused("") && !is_unused(&"ü".repeat(18)));
        assert_eq!(short("71BB7F65-cc9b"), "71bb7f65");
        assert_eq!(short("session-123").len(), 8);
    }
}
