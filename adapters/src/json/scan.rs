//! Byte scanning: the only module of this crate that may use `unsafe`.
//!
//! Two questions are asked of every byte that passes through the program: where does this string stop, and where is
//! the next bracket or quote. Both are answered sixteen bytes at a time with SSE2, which every x86-64 has; [`swar`]
//! answers them eight bytes at a time in safe code, on every other machine and as the oracle of this module's tests.

/// Index of the first `"`, `\` or control character (below 0x20) at or after `from`; `bytes.len()` when there is none.
#[inline(always)]
pub(crate) fn string_stop(bytes: &[u8], from: usize) -> usize {
    #[cfg(target_arch = "x86_64")]
    return sse2::string_stop(bytes, from);
    #[cfg(not(target_arch = "x86_64"))]
    swar::string_stop(bytes, from)
}

/// Some bytes of a string, one bit each: the lowest bit is the first byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Block {
    /// Which of the bytes are a `"`, a `\` or a control character.
    pub(crate) stops: u64,
    /// How many bytes there are; not 0.
    pub(crate) width: usize,
}

/// Where the last block of that many bytes begins that holds the byte at `at`, if there are as many bytes at all.
#[inline(always)]
const fn begin(bytes: &[u8], at: usize, width: usize) -> Option<usize> {
    match bytes.len().checked_sub(width) {
        Some(last) if at < bytes.len() => Some(if at < last { at } else { last }),
        _ => None,
    }
}

/// How many bytes [`short_block`] looks at.
pub(crate) const SHORT: usize = 16;

/// Which of the [`SHORT`] bytes from `at` on are a `"`, a `\` or a control character. `None` when there are fewer bytes left.
#[inline(always)]
pub(crate) fn short_block(bytes: &[u8], at: usize) -> Option<u64> {
    (at.checked_add(SHORT)? <= bytes.len()).then(|| machine::stops(bytes, at))
}

/// Looks at the bytes from `at` on: at 64 of them, or at those that are left. `None` when none is left, and when all of `bytes` are
/// fewer than 16.
#[inline(always)]
pub(crate) fn block(bytes: &[u8], at: usize) -> Option<Block> {
    if let Some(from) = begin(bytes, at, 64) {
        let stops = machine::stops(bytes, from)
            | machine::stops(bytes, from + 16) << 16
            | machine::stops(bytes, from + 32) << 32
            | machine::stops(bytes, from + 48) << 48;
        return Some(Block {
            stops: stops >> (at - from),
            width: 64 - (at - from),
        });
    }
    let from = begin(bytes, at, 16)?;
    Some(Block {
        stops: machine::stops(bytes, from) >> (at - from),
        width: 16 - (at - from),
    })
}

/// Which bytes of the [`block`] at `at` equal `byte`.
#[inline(always)]
pub(crate) fn equal(bytes: &[u8], at: usize, byte: u8) -> u64 {
    if let Some(from) = begin(bytes, at, 64) {
        let found = machine::equal(bytes, from, byte)
            | machine::equal(bytes, from + 16, byte) << 16
            | machine::equal(bytes, from + 32, byte) << 32
            | machine::equal(bytes, from + 48, byte) << 48;
        return found >> (at - from);
    }
    begin(bytes, at, 16).map_or(0, |from| machine::equal(bytes, from, byte) >> (at - from))
}

/// Which bytes of the [`block`] at `at` are those that mostly stand behind a backslash, besides another one: `"`, `n` and `t`.
#[inline(always)]
pub(crate) fn letters(bytes: &[u8], at: usize) -> u64 {
    if let Some(from) = begin(bytes, at, 64) {
        let found = machine::letters(bytes, from)
            | machine::letters(bytes, from + 16) << 16
            | machine::letters(bytes, from + 32) << 32
            | machine::letters(bytes, from + 48) << 48;
        return found >> (at - from);
    }
    begin(bytes, at, 16).map_or(0, |from| machine::letters(bytes, from) >> (at - from))
}

/// What structure is made of, in some bytes; one bit each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Tokens {
    /// Which are a `"`.
    pub(crate) quotes: u64,
    /// Which are a `\`.
    pub(crate) escapes: u64,
    /// Which are a bracket of an object or an array.
    pub(crate) brackets: u64,
    /// How many bytes there are; not 0.
    pub(crate) width: usize,
}

/// Looks at the 64 bytes from `at` on, or at those that are left. `None` when none is left, and when all of `bytes` are fewer than 64.
#[inline(always)]
pub(crate) fn tokens(bytes: &[u8], at: usize) -> Option<Tokens> {
    let from = begin(bytes, at, 64)?;
    let (mut quotes, mut escapes, mut brackets) = (0, 0, 0);
    for part in 0..4 {
        let found = machine::tokens(bytes, from + 16 * part);
        quotes |= found[0] << (16 * part);
        escapes |= found[1] << (16 * part);
        brackets |= found[2] << (16 * part);
    }
    let past = at - from;
    Some(Tokens {
        quotes: quotes >> past,
        escapes: escapes >> past,
        brackets: brackets >> past,
        width: 64 - past,
    })
}

#[cfg(target_arch = "x86_64")]
use sse2 as machine;
#[cfg(not(target_arch = "x86_64"))]
use swar as machine;

/// Index of the first `"`, `{`, `}`, `[` or `]` at or after `from`; `bytes.len()` when there is none.
#[inline(always)]
pub(crate) fn structural(bytes: &[u8], from: usize) -> usize {
    #[cfg(target_arch = "x86_64")]
    return sse2::structural(bytes, from);
    #[cfg(not(target_arch = "x86_64"))]
    swar::structural(bytes, from)
}

const fn stops_string(byte: u8) -> bool {
    byte < 0x20 || byte == b'"' || byte == b'\\'
}

const fn is_structural(byte: u8) -> bool {
    matches!(byte, b'"' | b'{' | b'}' | b'[' | b']')
}

#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code)]
mod sse2 {
    use super::{is_structural, stops_string};
    use core::arch::x86_64::{__m128i, _mm_cmpeq_epi8, _mm_loadu_si128, _mm_min_epu8, _mm_movemask_epi8, _mm_or_si128, _mm_set1_epi8};

    /// SAFETY of both loads below: `at + 16 <= bytes.len()` is checked by the loop, and the load is unaligned.
    #[inline(always)]
    fn load(bytes: &[u8], at: usize) -> __m128i {
        debug_assert!(at + 16 <= bytes.len());
        // SAFETY: the caller's loop keeps `at + 16` within the slice; `_mm_loadu_si128` needs no alignment, and SSE2
        // is part of the x86-64 baseline.
        unsafe { _mm_loadu_si128(bytes.as_ptr().add(at).cast()) }
    }

    /// Which of the 16 bytes from `at` on, which the caller sees to, stop a string.
    #[inline(always)]
    pub(super) fn stops(bytes: &[u8], at: usize) -> u64 {
        let block = load(bytes, at);
        // SAFETY: SSE2 is part of the x86-64 baseline.
        let mask = unsafe {
            let control = _mm_cmpeq_epi8(_mm_min_epu8(block, _mm_set1_epi8(0x1f)), block);
            let quote = _mm_cmpeq_epi8(block, _mm_set1_epi8(b'"' as i8));
            let escape = _mm_cmpeq_epi8(block, _mm_set1_epi8(b'\\' as i8));
            _mm_movemask_epi8(_mm_or_si128(control, _mm_or_si128(quote, escape)))
        };
        u64::from(mask as u32)
    }

    /// Which of the 16 bytes from `at` on, which the caller sees to, are quotes, backslashes, brackets.
    #[inline(always)]
    pub(super) fn tokens(bytes: &[u8], at: usize) -> [u64; 3] {
        let block = load(bytes, at);
        // SAFETY: SSE2 is part of the x86-64 baseline.
        let masks = unsafe {
            // As in `structural`.
            let folded = _mm_or_si128(block, _mm_set1_epi8(0x20));
            let open = _mm_cmpeq_epi8(folded, _mm_set1_epi8(b'{' as i8));
            let close = _mm_cmpeq_epi8(folded, _mm_set1_epi8(b'}' as i8));
            [
                _mm_movemask_epi8(_mm_cmpeq_epi8(block, _mm_set1_epi8(b'"' as i8))),
                _mm_movemask_epi8(_mm_cmpeq_epi8(block, _mm_set1_epi8(b'\\' as i8))),
                _mm_movemask_epi8(_mm_or_si128(open, close)),
            ]
        };
        let [quotes, escapes, brackets] = masks;
        [u64::from(quotes as u32), u64::from(escapes as u32), u64::from(brackets as u32)]
    }

    /// Which of the 16 bytes from `at` on, which the caller sees to, equal `byte`.
    #[inline(always)]
    pub(super) fn equal(bytes: &[u8], at: usize, byte: u8) -> u64 {
        let block = load(bytes, at);
        // SAFETY: SSE2 is part of the x86-64 baseline.
        let mask = unsafe { _mm_movemask_epi8(_mm_cmpeq_epi8(block, _mm_set1_epi8(byte as i8))) };
        u64::from(mask as u32)
    }

    /// Which of the 16 bytes from `at` on, which the caller sees to, are a `"`, an `n` or a `t`.
    #[inline(always)]
    pub(super) fn letters(bytes: &[u8], at: usize) -> u64 {
        let block = load(bytes, at);
        // SAFETY: SSE2 is part of the x86-64 baseline.
        let mask = unsafe {
            let is = |bytes: __m128i, byte: u8| _mm_cmpeq_epi8(bytes, _mm_set1_epi8(byte as i8));
            _mm_movemask_epi8(_mm_or_si128(_mm_or_si128(is(block, b'"'), is(block, b'n')), is(block, b't')))
        };
        u64::from(mask as u32)
    }

    #[inline(always)]
    pub(super) fn string_stop(bytes: &[u8], from: usize) -> usize {
        let mut at = from;
        while at + 16 <= bytes.len() {
            let mask = stops(bytes, at);
            if mask != 0 {
                return at + mask.trailing_zeros() as usize;
            }
            at += 16;
        }
        while at < bytes.len() && !stops_string(bytes[at]) {
            at += 1;
        }
        at.max(from)
    }

    #[inline(always)]
    pub(super) fn structural(bytes: &[u8], from: usize) -> usize {
        let mut at = from;
        while at + 16 <= bytes.len() {
            let block = load(bytes, at);
            // SAFETY: SSE2 is part of the x86-64 baseline.
            let mask = unsafe {
                // `[` and `{` differ only in bit 5, and so do `]` and `}`; setting it folds each pair into one byte.
                let folded = _mm_or_si128(block, _mm_set1_epi8(0x20));
                let open = _mm_cmpeq_epi8(folded, _mm_set1_epi8(b'{' as i8));
                let close = _mm_cmpeq_epi8(folded, _mm_set1_epi8(b'}' as i8));
                let quote = _mm_cmpeq_epi8(block, _mm_set1_epi8(b'"' as i8));
                _mm_movemask_epi8(_mm_or_si128(quote, _mm_or_si128(open, close)))
            };
            if mask != 0 {
                return at + mask.trailing_zeros() as usize;
            }
            at += 16;
        }
        while at < bytes.len() && !is_structural(bytes[at]) {
            at += 1;
        }
        at.max(from)
    }
}

/// The same answers in safe code, eight bytes at a time.
#[cfg(any(test, not(target_arch = "x86_64")))]
pub(crate) mod swar {
    use super::{is_structural, stops_string};

    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGHS: u64 = 0x8080_8080_8080_8080;

    /// A word with bit 7 set in (at least) the lowest byte of `word` that equals `byte`.
    const fn lowest(word: u64, byte: u8) -> u64 {
        let x = word ^ (ONES * byte as u64);
        x.wrapping_sub(ONES) & !x & HIGHS
    }

    fn word(bytes: &[u8], at: usize) -> Option<u64> {
        bytes.get(at..at + 8).and_then(|w| w.try_into().ok()).map(u64::from_le_bytes)
    }

    /// One bit for each byte of `word` that is 0.
    const fn zeros(word: u64) -> u64 {
        let zeros = !(((word & !HIGHS) + !HIGHS) | word | !HIGHS);
        (zeros >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56
    }

    fn two(bytes: &[u8], at: usize, mask: impl Fn(u64) -> u64) -> u64 {
        let half = |at| word(bytes, at).map_or(0, &mask);
        half(at) | half(at + 8) << 8
    }

    pub(crate) fn stops(bytes: &[u8], at: usize) -> u64 {
        two(bytes, at, |word| {
            zeros(word & (ONES * 0xe0)) | zeros(word ^ (ONES * b'"' as u64)) | zeros(word ^ (ONES * b'\\' as u64))
        })
    }

    pub(crate) fn tokens(bytes: &[u8], at: usize) -> [u64; 3] {
        let brackets = |word: u64| {
            let folded = word | (ONES * 0x20);
            zeros(folded ^ (ONES * b'{' as u64)) | zeros(folded ^ (ONES * b'}' as u64))
        };
        [equal(bytes, at, b'"'), equal(bytes, at, b'\\'), two(bytes, at, brackets)]
    }

    pub(crate) fn equal(bytes: &[u8], at: usize, byte: u8) -> u64 {
        two(bytes, at, |word| zeros(word ^ (ONES * byte as u64)))
    }

    pub(crate) fn letters(bytes: &[u8], at: usize) -> u64 {
        b"\"nt".iter().map(|&byte| equal(bytes, at, byte)).fold(0, |all, found| all | found)
    }

    pub(crate) fn string_stop(bytes: &[u8], from: usize) -> usize {
        let mut at = from;
        while let Some(word) = word(bytes, at) {
            let control = word.wrapping_sub(ONES * 0x20) & !word & HIGHS;
            let hit = control | lowest(word, b'"') | lowest(word, b'\\');
            if hit != 0 {
                return at + (hit.trailing_zeros() / 8) as usize;
            }
            at += 8;
        }
        (at..bytes.len()).find(|&i| stops_string(bytes[i])).unwrap_or(bytes.len().max(from))
    }

    pub(crate) fn structural(bytes: &[u8], from: usize) -> usize {
        let mut at = from;
        while let Some(word) = word(bytes, at) {
            let folded = word | (ONES * 0x20);
            let hit = lowest(folded, b'{') | lowest(folded, b'}') | lowest(word, b'"');
            if hit != 0 {
                return at + (hit.trailing_zeros() / 8) as usize;
            }
            at += 8;
        }
        (at..bytes.len()).find(|&i| is_structural(bytes[i])).unwrap_or(bytes.len().max(from))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn both_scanners_agree_with_a_plain_loop(bytes in proptest::collection::vec(any::<u8>(), 0..200), from in 0usize..200) {
            let from = from.min(bytes.len());
            let plain = |f: fn(u8) -> bool| (from..bytes.len()).find(|&i| f(bytes[i])).unwrap_or(bytes.len());
            prop_assert_eq!(string_stop(&bytes, from), plain(stops_string));
            prop_assert_eq!(swar::string_stop(&bytes, from), plain(stops_string));
            let bits = |f: &dyn Fn(u8) -> bool, width| (0..width).filter(|&n| f(bytes[from + n])).map(|n| 1u64 << n).sum::<u64>();
            match block(&bytes, from) {
                Some(Block { stops, width }) => {
                    prop_assert!(width == 64 || (from + width == bytes.len() && width > 0) || width == 16);
                    prop_assert_eq!(stops, bits(&stops_string, width));
                    prop_assert_eq!(equal(&bytes, from, b'\\'), bits(&|byte| byte == b'\\', width));
                    prop_assert_eq!(letters(&bytes, from), bits(&|byte| b"\"nt".contains(&byte), width));
                }
                None => prop_assert!(from == bytes.len() || bytes.len() < 16),
            }
            prop_assert_eq!(short_block(&bytes, from), (from + 16 <= bytes.len()).then(|| bits(&stops_string, 16)));
            if from + 16 <= bytes.len() {
                prop_assert_eq!(swar::stops(&bytes, from), bits(&stops_string, 16));
                prop_assert_eq!(swar::equal(&bytes, from, b'"'), bits(&|byte| byte == b'"', 16));
                prop_assert_eq!(swar::letters(&bytes, from), machine::letters(&bytes, from));
                let found = [bits(&|byte| byte == b'"', 16), bits(&|byte| byte == b'\\', 16), bits(&|byte| is_structural(byte) && byte != b'"', 16)];
                prop_assert_eq!(swar::tokens(&bytes, from), found);
                prop_assert_eq!(machine::tokens(&bytes, from), found);
            }
            match tokens(&bytes, from) {
                Some(Tokens { quotes, escapes, brackets, width }) => {
                    prop_assert!(width == 64 || from + width == bytes.len());
                    prop_assert_eq!(quotes, bits(&|byte| byte == b'"', width));
                    prop_assert_eq!(escapes, bits(&|byte| byte == b'\\', width));
                    prop_assert_eq!(brackets, bits(&|byte| is_structural(byte) && byte != b'"', width));
                }
                None => prop_assert!(from == bytes.len() || bytes.len() < 64),
            }
            prop_assert_eq!(structural(&bytes, from), plain(is_structural));
            prop_assert_eq!(swar::structural(&bytes, from), plain(is_structural));
        }

        #[test]
        fn rare_stops_are_found_wherever_they_stand(len in 1usize..120, at in 0usize..120, stop in prop::sample::select(vec![b'"', b'\\', b'{', b'}', b'[', b']', 0u8, 0x1f, b'\n'])) {
            let mut bytes = vec![b'x'; len];
            let at = at % len;
            bytes[at] = stop;
            let wanted = if stops_string(stop) { at } else { len };
            prop_assert_eq!(string_stop(&bytes, 0), wanted);
            prop_assert_eq!(swar::string_stop(&bytes, 0), wanted);
            let wanted = if is_structural(stop) { at } else { len };
            prop_assert_eq!(structural(&bytes, 0), wanted);
            prop_assert_eq!(swar::structural(&bytes, 0), wanted);
        }
    }
}
