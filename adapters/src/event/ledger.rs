use crate::json::Str;

/// What became of a part that did not go over as it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Fate {
    /// The target has no place for it.
    Dropped,
    /// It is part of something else that went over.
    Merged,
    /// It went over under another name or in another shape.
    Renamed,
    /// The target needs it and the source did not have it. The pointer is that of the output.
    Invented,
    /// Something that was missing was put in because `--repair` asked for it.
    Repaired,
    /// It could not be read.
    Damaged,
}

impl Fate {
    /// The word in the ledger.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Dropped => "dropped",
            Self::Merged => "merged",
            Self::Renamed => "renamed",
            Self::Invented => "invented",
            Self::Repaired => "repaired",
            Self::Damaged => "damaged",
        }
    }
}

/// One thing to tell about one line.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Finding {
    /// What became of it.
    pub fate: Fate,
    /// JSON pointer in the source line (in the output line for [`Fate::Invented`]); empty for the whole line.
    pub pointer: String,
    /// Why, in a few words.
    pub note: String,
}

impl Finding {
    /// Puts the three together.
    pub fn new(fate: Fate, pointer: &str, note: &str) -> Self {
        Self {
            fate,
            pointer: pointer.to_owned(),
            note: note.to_owned(),
        }
    }
}

/// One line of the ledger: a finding, and the run of lines it holds for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The finding.
    pub finding: Finding,
    /// The first line it holds for, counted from 1.
    pub line: u64,
    /// The last line of the run.
    pub last_line: u64,
    /// How many lines it holds for.
    pub count: u64,
}

impl Entry {
    /// Appends the entry as a JSON line: `file, line, last_line?, pointer, fate, dialect, note, count?`.
    pub fn write(&self, file: &str, dialect: &str, to: &mut String) {
        let mut text = |prefix: &str, value: &str| {
            to.push_str(prefix);
            Str::escape(value, to);
            to.push('"');
        };
        text("{\"file\":\"", file);
        let mut lines = format!(",\"line\":{}", self.line);
        if self.last_line != self.line {
            lines.push_str(&format!(",\"last_line\":{}", self.last_line));
        }
        text(&format!("{lines},\"pointer\":\""), &self.finding.pointer);
        text(",\"fate\":\"", self.finding.fate.as_str());
        text(",\"dialect\":\"", dialect);
        text(",\"note\":\"", &self.finding.note);
        if self.count != 1 {
            to.push_str(&format!(",\"count\":{}", self.count));
        }
        to.push_str("}\n");
    }
}
