//! The ledger: one entry for each thing that did not go over as it was.

use std::collections::HashMap;

use crate::event::{Entry, Fate, Finding};

/// Folds the findings of a run of lines into one entry, and writes entries out as JSON lines.
#[derive(Debug, Default)]
pub struct Ledger {
    file: String,
    dialect: String,
    open: HashMap<Finding, Entry>,
    done: Vec<Entry>,
    ready: Vec<Entry>,
    counts: HashMap<Fate, u64>,
    /// The last line that turned out to be lost as a whole.
    lost_line: Option<u64>,
}

impl Ledger {
    /// A ledger for one input, named `file`, on its way to `dialect`.
    pub fn new(file: &str, dialect: &str) -> Self {
        Self {
            file: file.to_owned(),
            dialect: dialect.to_owned(),
            ..Self::default()
        }
    }

    /// Adds what there is to say about a line. Lines come in rising order.
    pub fn add(&mut self, line: u64, findings: impl IntoIterator<Item = Finding>) {
        for finding in findings {
            *self.counts.entry(finding.fate).or_default() += 1;
            match self.open.get_mut(&finding) {
                Some(entry) if line <= entry.last_line + 1 => {
                    entry.count += 1;
                    entry.last_line = line.max(entry.last_line);
                }
                Some(entry) => {
                    let fresh = Entry {
                        finding,
                        line,
                        last_line: line,
                        count: 1,
                    };
                    self.done.push(std::mem::replace(entry, fresh));
                }
                None => {
                    self.open.insert(
                        finding.clone(),
                        Entry {
                            finding,
                            line,
                            last_line: line,
                            count: 1,
                        },
                    );
                }
            }
        }
        // Runs that this line did not continue are over; forgetting them keeps memory small.
        if self.open.len() > 4096 {
            self.close_before(line);
        }
        if self.done.len() > 4096 {
            self.order();
        }
    }

    /// Adds what a later line has shown about an earlier one, which was held.
    pub fn add_late(&mut self, findings: impl IntoIterator<Item = (u64, Finding)>) {
        for (line, finding) in findings {
            if self.lost_line == Some(line) && !outlives_its_line(&finding) {
                continue;
            }
            *self.counts.entry(finding.fate).or_default() += 1;
            self.done.push(Entry {
                finding,
                line,
                last_line: line,
                count: 1,
            });
        }
    }

    /// A line that was told of already turned out to be lost as a whole: one entry says so, in the place of those of its parts.
    pub fn lose_line(&mut self, line: u64, note: &str) {
        if self.lost_line == Some(line) {
            return;
        }
        let counts = &mut self.counts;
        let mut stays = |entry: &Entry| {
            let stays = (entry.line, entry.last_line) != (line, line) || outlives_its_line(&entry.finding);
            if let (false, Some(count)) = (stays, counts.get_mut(&entry.finding.fate)) {
                *count -= entry.count;
            }
            stays
        };
        self.open.retain(|_, entry| stays(entry));
        self.done.retain(|entry| stays(entry));
        self.add_late([(line, Finding::new(Fate::Dropped, "", note))]);
        self.lost_line = Some(line);
    }

    /// Ends all runs: the session is over.
    pub fn close(&mut self) {
        self.close_before(u64::MAX);
        self.order();
    }

    /// How many findings of each fate there were.
    pub const fn counts(&self) -> &HashMap<Fate, u64> {
        &self.counts
    }

    /// Takes what is finished, as JSON lines. Entries come in the order of their first lines, except that a long run may come
    /// behind others that ended before it, and what a target held behind the lines that followed.
    pub fn take(&mut self) -> String {
        let mut text = String::new();
        for entry in self.ready.drain(..) {
            entry.write(&self.file, &self.dialect, &mut text);
        }
        text
    }

    /// Takes what is finished.
    pub fn take_entries(&mut self) -> Vec<Entry> {
        std::mem::take(&mut self.ready)
    }

    /// Puts what is finished in order. Happens after so many entries and at the end of a session, never because somebody
    /// takes: so the order does not depend on how the input was cut into reads.
    fn order(&mut self) {
        self.done.sort_by(|a, b| {
            (a.line, &a.finding.pointer, a.finding.fate, &a.finding.note).cmp(&(b.line, &b.finding.pointer, b.finding.fate, &b.finding.note))
        });
        // What was found late may fill a run.
        let mut runs: HashMap<Finding, usize> = HashMap::new();
        for entry in self.done.drain(..) {
            match runs.get(&entry.finding).map(|&at| &mut self.ready[at]) {
                Some(run) if entry.line <= run.last_line + 1 => {
                    run.last_line = run.last_line.max(entry.last_line);
                    run.count += entry.count;
                }
                _ => {
                    runs.insert(entry.finding.clone(), self.ready.len());
                    self.ready.push(entry);
                }
            }
        }
    }

    fn close_before(&mut self, line: u64) {
        let over: Vec<Finding> = self.open.iter().filter(|(_, e)| e.last_line < line).map(|(f, _)| f.clone()).collect();
        for finding in over {
            self.done.extend(self.open.remove(&finding));
        }
    }
}

/// Whether there is something to say of a line that is lost as a whole: what was made up is of the output.
const fn outlives_its_line(finding: &Finding) -> bool {
    matches!(finding.fate, Fate::Damaged | Fate::Invented)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_found_late_fills_the_run_that_it_belongs_to() {
        let merged = || Finding::new(Fate::Merged, "", "pieces");
        let mut ledger = Ledger::new("a", "qwen");
        ledger.add(1, [merged()]);
        ledger.add(4, [Finding::new(Fate::Dropped, "/uuid", "no place")]);
        ledger.add_late([(2, merged()), (3, merged()), (6, merged())]);
        ledger.close();
        let entries = ledger.take_entries();
        let told: Vec<_> = entries.iter().map(|entry| (entry.line, entry.last_line, entry.count)).collect();
        assert_eq!(told, [(1, 3, 3), (4, 4, 1), (6, 6, 1)]);
    }

    #[test]
    fn equal_findings_of_neighbouring_lines_are_folded() {
        let uuid = || Finding::new(Fate::Dropped, "/uuid", "no place in qwen");
        let mut ledger = Ledger::new("a \"b\".jsonl", "qwen");
        for line in [1, 2, 3, 7, 8] {
            ledger.add(line, [uuid()]);
        }
        ledger.add(8, [Finding::new(Fate::Invented, "/created", "no time")]);
        ledger.close();
        assert_eq!(
            ledger.take(),
            "{\"file\":\"a \\\"b\\\".jsonl\",\"line\":1,\"last_line\":3,\"pointer\":\"/uuid\",\"fate\":\"dropped\",\"dialect\":\"qwen\",\"note\":\"no place in qwen\",\"count\":3}\n\
             {\"file\":\"a \\\"b\\\".jsonl\",\"line\":7,\"last_line\":8,\"pointer\":\"/uuid\",\"fate\":\"dropped\",\"dialect\":\"qwen\",\"note\":\"no place in qwen\",\"count\":2}\n\
             {\"file\":\"a \\\"b\\\".jsonl\",\"line\":8,\"pointer\":\"/created\",\"fate\":\"invented\",\"dialect\":\"qwen\",\"note\":\"no time\"}\n"
        );
        assert_eq!(ledger.counts()[&Fate::Dropped], 5);
    }
}
