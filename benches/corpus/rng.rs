//! A small seeded random source, so that the same arguments always give the same bytes, on every machine and in every
//! version of the dependencies.

/// SplitMix64: one 64-bit word of state, good enough to draw words and sizes from.
#[derive(Clone)]
pub(super) struct Rng(u64);

impl Rng {
    /// A source that depends on every number of `path` (seed, session, turn, …) and on their order.
    pub(super) fn at(path: &[u64]) -> Self {
        let mut rng = Self(0x5DEE_CE66_D1CE_4E5B);
        for &step in path {
            rng.0 ^= step.wrapping_mul(0xD6E8_FEB8_6659_FD93);
            rng.0 = rng.word();
        }
        rng
    }

    /// The next 64 random bits.
    pub(super) fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number in `0..bound`; 0 when `bound` is 0.
    pub(super) fn below(&mut self, bound: usize) -> usize {
        ((u128::from(self.word()) * bound as u128) >> 64) as usize
    }

    /// A number in `low..=high`.
    pub(super) fn between(&mut self, low: usize, high: usize) -> usize {
        low + self.below(high - low + 1)
    }

    /// True once in `n` draws, on average.
    pub(super) fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    /// One of `items`, which must not be empty.
    pub(super) fn pick<'a, T: ?Sized>(&mut self, items: &[&'a T]) -> &'a T {
        items[self.below(items.len())]
    }

    /// `count` characters of `alphabet`, which must not be empty.
    pub(super) fn token(&mut self, alphabet: &[u8], count: usize) -> String {
        (0..count).map(|_| char::from(alphabet[self.below(alphabet.len())])).collect()
    }

    /// `count` lower-case hexadecimal digits.
    pub(super) fn hex(&mut self, count: usize) -> String {
        self.token(b"0123456789abcdef", count)
    }

    /// The tail of a vendor's identifier, such as the part after `toolu_01`.
    pub(super) fn ident(&mut self, count: usize) -> String {
        self.token(b"ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz123456789", count)
    }

    /// A random UUID in its usual spelling.
    pub(super) fn uuid(&mut self) -> String {
        let (high, low) = (self.word(), self.word());
        format!(
            "{:08x}-{:04x}-4{:03x}-{:04x}-{:012x}",
            high >> 32,
            high >> 16 & 0xFFFF,
            high & 0xFFF,
            low >> 48 & 0x3FFF | 0x8000,
            low & 0xFFFF_FFFF_FFFF
        )
    }

    /// Puts `items` in a random order.
    pub(super) fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            items.swap(i, self.below(i + 1));
        }
    }
}
