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

/// How many bytes [`string_stops`] looks at.
pub(crate) const BLOCK: usize = 16;

/// Which of the [`BLOCK`] bytes from `at` on are a `"`, a `\` or a control character: bit n stands for `bytes[at + n]`. `None` when
/// there are fewer bytes left.
#[inline(always)]
pub(crate) fn string_stops(bytes: &[u8], at: usize) -> Option<u32> {
    if at.checked_add(BLOCK)? > bytes.len() {
        return None;
    }
    #[cfg(target_arch = "x86_64")]
    return Some(sse2::string_stops(bytes, at));
    #[cfg(not(target_arch = "x86_64"))]
    Some(swar::string_stops(bytes, at))
}

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

    /// The caller sees to it that there are 16 bytes from `at` on.
    #[inline(always)]
    pub(super) fn string_stops(bytes: &[u8], at: usize) -> u32 {
        let block = load(bytes, at);
        // SAFETY: SSE2 is part of the x86-64 baseline.
        let mask = unsafe {
            let control = _mm_cmpeq_epi8(_mm_min_epu8(block, _mm_set1_epi8(0x1f)), block);
            let quote = _mm_cmpeq_epi8(block, _mm_set1_epi8(b'"' as i8));
            let escape = _mm_cmpeq_epi8(block, _mm_set1_epi8(b'\\' as i8));
            _mm_movemask_epi8(_mm_or_si128(control, _mm_or_si128(quote, escape)))
        };
        mask as u32
    }

    #[inline(always)]
    pub(super) fn string_stop(bytes: &[u8], from: usize) -> usize {
        let mut at = from;
        while at + 16 <= bytes.len() {
            let mask = string_stops(bytes, at);
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
    const fn equal(word: u64, byte: u8) -> u64 {
        let x = word ^ (ONES * byte as u64);
        x.wrapping_sub(ONES) & !x & HIGHS
    }

    fn word(bytes: &[u8], at: usize) -> Option<u64> {
        bytes.get(at..at + 8).and_then(|w| w.try_into().ok()).map(u64::from_le_bytes)
    }

    pub(crate) fn string_stops(bytes: &[u8], at: usize) -> u32 {
        (0..super::BLOCK).filter(|&n| stops_string(bytes[at + n])).map(|n| 1 << n).sum()
    }

    pub(crate) fn string_stop(bytes: &[u8], from: usize) -> usize {
        let mut at = from;
        while let Some(word) = word(bytes, at) {
            let control = word.wrapping_sub(ONES * 0x20) & !word & HIGHS;
            let hit = control | equal(word, b'"') | equal(word, b'\\');
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
            let hit = equal(folded, b'{') | equal(folded, b'}') | equal(word, b'"');
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
            let stops = (from + BLOCK <= bytes.len()).then(|| swar::string_stops(&bytes, from));
            prop_assert_eq!(string_stops(&bytes, from), stops);
            prop_assert_eq!(stops.filter(|&stops| stops != 0).map(|stops| from + stops.trailing_zeros() as usize), stops.filter(|&s| s != 0).map(|_| plain(stops_string)));
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
