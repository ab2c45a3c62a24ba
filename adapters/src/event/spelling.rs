/// How a line was spelled that events were stored of, where the events alone would not give back each byte of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spelling<'a> {
    /// The line as it stood, with its end.
    pub line: &'a [u8],
    /// What it was read as.
    pub format: crate::codec::Format,
    /// How many of the lines that follow were stored of it.
    pub lines: u32,
    /// [`Self::check_of`] the line and those.
    pub check: u64,
}

impl Spelling<'_> {
    /// Says whether a line and the events that were stored of it, one a line, still belong together: this for the line,
    /// [`Self::check_more`] for each of the events. A log may have been edited.
    pub(crate) fn check_of(line: &[u8]) -> u64 {
        Self::check_on(crate::ids::FNV_SEED, line)
    }

    /// The check of bytes, of which the first have this one.
    pub(crate) fn check_on(check: u64, bytes: &[u8]) -> u64 {
        crate::ids::fnv(bytes, check)
    }

    /// The same with one more event, without the end of its line.
    pub(crate) fn check_more(check: u64, event: &[u8]) -> u64 {
        Self::check_on(Self::check_on(check, event), b"\n")
    }
}
