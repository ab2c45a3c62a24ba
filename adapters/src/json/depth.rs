//! Which kind of bracket is open at each depth, one bit a level, so that nesting costs no recursion.

/// A stack of open brackets: `true` is an object, `false` an array.
#[derive(Default)]
pub(crate) struct Depth {
    top: u64,
    levels: u32,
    spilled: Vec<u64>,
}

impl Depth {
    #[inline]
    pub(crate) fn push(&mut self, object: bool) {
        if self.levels == 64 {
            self.spilled.push(self.top);
            self.top = 0;
            self.levels = 0;
        }
        self.top = self.top << 1 | u64::from(object);
        self.levels += 1;
    }

    /// Takes the innermost bracket off; `None` when nothing is open.
    #[inline]
    pub(crate) fn pop(&mut self) -> Option<bool> {
        if self.levels == 0 {
            self.top = self.spilled.pop()?;
            self.levels = 64;
        }
        let object = self.top & 1 == 1;
        self.top >>= 1;
        self.levels -= 1;
        Some(object)
    }

    /// The innermost bracket.
    #[inline]
    pub(crate) fn last(&self) -> Option<bool> {
        if self.levels > 0 {
            Some(self.top & 1 == 1)
        } else {
            self.spilled.last().map(|word| word & 1 == 1)
        }
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.levels == 0 && self.spilled.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::Depth;

    #[test]
    fn keeps_the_kinds_of_many_levels() {
        let mut depth = Depth::default();
        let kinds: Vec<bool> = (0..1000).map(|i| i % 3 == 0 || i % 7 == 1).collect();
        for &kind in &kinds {
            depth.push(kind);
            assert_eq!(depth.last(), Some(kind));
        }
        for &kind in kinds.iter().rev() {
            assert_eq!(depth.last(), Some(kind));
            assert_eq!(depth.pop(), Some(kind));
        }
        assert!(depth.is_empty());
        assert_eq!(depth.pop(), None);
    }
}
