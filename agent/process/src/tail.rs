use std::collections::VecDeque;

/// The last bytes of a stream.
#[derive(Debug)]
pub struct Tail {
    bytes: VecDeque<u8>,
    limit: usize,
    /// How many bytes there were in all.
    pub total: u64,
}

impl Tail {
    /// Keeps so many bytes.
    pub const fn new(limit: usize) -> Self {
        Self {
            bytes: VecDeque::new(),
            limit,
            total: 0,
        }
    }

    /// These come behind the others.
    pub fn push(&mut self, bytes: &[u8]) {
        self.total += bytes.len() as u64;
        let kept = &bytes[bytes.len().saturating_sub(self.limit)..];
        let excess = (self.bytes.len() + kept.len()).saturating_sub(self.limit);
        self.bytes.drain(..excess);
        self.bytes.extend(kept);
    }

    /// How many bytes are kept.
    pub fn kept(&self) -> usize {
        self.bytes.len()
    }

    /// What is kept, in one piece.
    pub fn to_vec(&self) -> Vec<u8> {
        self.bytes.iter().copied().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_the_last_bytes_however_they_come() {
        let all: Vec<u8> = (0..=255).cycle().take(1000).collect();
        for piece in [1, 7, 99, 100, 101, 1000] {
            let mut tail = Tail::new(100);
            all.chunks(piece).for_each(|chunk| tail.push(chunk));
            assert_eq!(tail.to_vec(), &all[900..], "in pieces of {piece}");
            assert_eq!(tail.total, 1000);
        }
        let mut short = Tail::new(100);
        short.push(b"oh no");
        assert_eq!(short.to_vec(), b"oh no");
        let mut none = Tail::new(0);
        none.push(b"oh no");
        assert_eq!(none.to_vec(), b"");
    }
}
