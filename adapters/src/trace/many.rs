use super::held::Late;
use crate::event::Finding;

/// What there is to tell of one line: the first things one by one, of those behind them one of each kind and how many there are. So the
/// ledger of a line with a million parts is no longer than the line.
#[derive(Debug)]
pub(super) struct Many<T> {
    few: Vec<T>,
    more: Vec<(T, u64)>,
}

/// So many things are told one by one.
pub(super) const FEW: usize = 1024;
/// So many kinds of them are told apart behind those; the others count as the last kind.
const KINDS: usize = 64;

impl<T> Default for Many<T> {
    fn default() -> Self {
        Self {
            few: Vec::new(),
            more: Vec::new(),
        }
    }
}

impl<T> Many<T> {
    pub(super) fn clear(&mut self) {
        self.few.clear();
        self.more.clear();
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.few.is_empty()
    }

    pub(super) fn last(&self) -> Option<&T> {
        self.few.last()
    }

    /// Of these nothing is told.
    pub(super) fn forget(&mut self, is: impl Fn(&T) -> bool) {
        self.few.retain(|thing| !is(thing));
    }

    /// Adds something; those are `alike` that are told as one.
    pub(super) fn push(&mut self, thing: T, alike: impl Fn(&T, &T) -> bool) {
        if self.few.len() < FEW {
            return self.few.push(thing);
        }
        let full = self.more.len() == KINDS;
        let kind = self.more.iter().position(|(known, _)| alike(known, &thing));
        match kind.or_else(|| full.then_some(KINDS - 1)) {
            Some(at) => self.more[at].1 += 1,
            None => self.more.push((thing, 0)),
        }
    }

    /// Each with the number of others that it stands for.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&T, u64)> {
        let more = self.more.iter().map(|(thing, others)| (thing, *others));
        self.few.iter().map(|thing| (thing, 0)).chain(more)
    }
}

/// Of findings, each of which stands for some others, one of each kind, and how many others that stands for.
pub(super) fn of_each_kind(findings: impl IntoIterator<Item = (u64, Finding)>) -> Vec<Finding> {
    let mut kinds: Vec<(Finding, u64)> = Vec::new();
    for (more, finding) in findings {
        match kinds
            .iter_mut()
            .find(|(kind, _)| kind.fate == finding.fate && alike(&kind.note, &finding.note))
        {
            Some((_, others)) => *others += 1 + more,
            None => kinds.push((finding, more)),
        }
    }
    let told = |(kind, others): (Finding, u64)| Finding::new(kind.fate, &kind.pointer, &and_others(&kind.note, others));
    kinds.into_iter().map(told).collect()
}

/// Findings of earlier lines, in order: of each line the first one by one, of those behind them one of each kind.
pub(super) fn of_lines(late: Vec<Late>) -> Vec<(u64, Finding)> {
    let mut told = Vec::with_capacity(late.len().min(FEW));
    let mut late = late.into_iter().peekable();
    while let Some(&Late { line, .. }) = late.peek() {
        let mut of_line = std::iter::from_fn(|| late.next_if(|next| next.line == line));
        told.extend(of_line.by_ref().take(FEW).map(Late::finding));
        let others = of_each_kind(of_line.map(Late::counted));
        told.extend(others.into_iter().map(|finding| (line, finding)));
    }
    told
}

/// Why, and how many others it holds for.
pub(super) fn and_others(note: &str, others: u64) -> String {
    match others {
        0 => note.to_owned(),
        _ => format!("{note} (and {others} more parts of this line alike)"),
    }
}

/// Whether two notes say the same, but for the name behind a colon.
pub(super) fn alike(one: &str, other: &str) -> bool {
    let kind = |note: &str| note.split_once(": ").map_or(note.len(), |(kind, _)| kind.len());
    one[..kind(one)] == other[..kind(other)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::Fate;

    #[test]
    fn of_very_many_things_one_of_each_kind_is_told() {
        let mut many = Many::default();
        for n in 0..5000 {
            let kind = if n % 5 == 0 { "lost" } else { "renamed" };
            many.push(format!("{kind}: {n}"), |a, b| alike(a, b));
        }
        let told: Vec<String> = many.iter().map(|(note, others)| and_others(note, others)).collect();
        assert_eq!(told.len(), FEW + 2);
        assert_eq!(told[FEW - 1], "renamed: 1023");
        assert_eq!(told[FEW], "renamed: 1024 (and 3180 more parts of this line alike)");
        assert_eq!(told[FEW + 1], "lost: 1025 (and 794 more parts of this line alike)");
    }

    #[test]
    fn of_each_earlier_line_one_of_each_kind_is_told_behind_the_first() {
        let late = |line: u64, count: usize| (0..count).map(move |n| Late::new(line, format!("/{n}"), Fate::Dropped, "no place"));
        let told = of_lines(late(3, FEW + 7).chain(late(5, 2)).collect());
        assert_eq!(told.len(), FEW + 1 + 2);
        let note = "no place (and 6 more parts of this line alike)";
        assert_eq!(told[FEW], (3, Finding::new(Fate::Dropped, &format!("/{FEW}"), note)));
        assert_eq!(told[FEW + 2], (5, Finding::new(Fate::Dropped, "/1", "no place")));
    }
}
