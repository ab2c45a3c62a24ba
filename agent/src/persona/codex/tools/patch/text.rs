//! The text of a patch, read, and what it makes of a file's text.

/// One file of a patch.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Op {
    pub(super) path: String,
    pub(super) change: Change,
}

/// What becomes of it.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Change {
    /// It gets this text, whether it was there or not.
    Add(String),
    Delete,
    Update {
        /// Where it goes.
        to: Option<String>,
        hunks: Vec<Hunk>,
    },
}

/// Lines that others take the place of.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Hunk {
    /// A line that stands somewhere before them.
    within: Option<String>,
    old: Vec<String>,
    new: Vec<String>,
    /// They are the file's last.
    last: bool,
}

impl Op {
    /// The files that are written or deleted.
    pub(super) fn paths(&self) -> impl Iterator<Item = &str> {
        let to = match &self.change {
            Change::Update { to, .. } => to.as_deref(),
            _ => None,
        };
        std::iter::once(self.path.as_str()).chain(to)
    }
}

/// Reads a patch. The lines that begin and end it must be there.
pub(super) fn read(patch: &str) -> Result<Vec<Op>, String> {
    let mut lines: Vec<&str> = patch.trim().lines().collect();
    if lines.first().map(|line| line.trim()) != Some("*** Begin Patch") {
        return Err("The first line of the patch must be '*** Begin Patch'".to_owned());
    }
    if lines.pop().map(str::trim) != Some("*** End Patch") {
        return Err("The last line of the patch must be '*** End Patch'".to_owned());
    }
    let mut ops: Vec<Op> = Vec::new();
    for (at, line) in lines.iter().enumerate().skip(1) {
        let bare = line.trim_end();
        let header = |name: &str| bare.trim_start().strip_prefix(name).map(|path| path.trim().to_owned());
        let change = if let Some(path) = header("*** Add File: ") {
            Some((path, Change::Add(String::new())))
        } else if let Some(path) = header("*** Delete File: ") {
            Some((path, Change::Delete))
        } else {
            header("*** Update File: ").map(|path| {
                let change = Change::Update { to: None, hunks: Vec::new() };
                (path, change)
            })
        };
        if let Some((path, change)) = change {
            if path.is_empty() {
                return Err(format!("line {} names no file", at + 1));
            }
            ops.push(Op { path, change });
            continue;
        }
        let wrong = || format!("line {} is no line of a patch: '{bare}'", at + 1);
        match ops.last_mut().map(|op| &mut op.change) {
            Some(Change::Add(text)) => {
                text.push_str(line.strip_prefix('+').ok_or_else(wrong)?);
                text.push('\n');
            }
            Some(Change::Update { to, hunks }) => match header("*** Move to: ") {
                Some(path) if hunks.is_empty() && to.is_none() => *to = Some(path),
                Some(_) => return Err(wrong()),
                None => hunk_line(line, hunks).ok_or_else(wrong)?,
            },
            _ if bare.is_empty() => {}
            _ => return Err(wrong()),
        }
    }
    let empty = |op: &&Op| matches!(&op.change, Change::Update { to: None, hunks } if hunks.is_empty());
    match ops.iter().find(empty) {
        Some(op) => Err(format!("Update file hunk for path '{}' is empty", op.path)),
        None if ops.is_empty() => Err("there is nothing in it".to_owned()),
        None => Ok(ops),
    }
}

/// One line below the header of a file that is updated.
fn hunk_line(line: &str, hunks: &mut Vec<Hunk>) -> Option<()> {
    if let Some(within) = line.strip_prefix("@@") {
        let within = Some(within.trim()).filter(|within| !within.is_empty());
        hunks.push(Hunk {
            within: within.map(str::to_owned),
            ..Hunk::default()
        });
        return Some(());
    }
    if hunks.is_empty() {
        // The first hunk may lack its head.
        hunks.push(Hunk::default());
    }
    let hunk = hunks.last_mut()?;
    if line.trim_end() == "*** End of File" {
        hunk.last = true;
        return Some(());
    }
    let (mark, rest) = line.split_at_checked(1).unwrap_or((" ", ""));
    if matches!(mark, " " | "-") {
        hunk.old.push(rest.to_owned());
    }
    if matches!(mark, " " | "+") {
        hunk.new.push(rest.to_owned());
    }
    matches!(mark, " " | "-" | "+").then_some(())
}

/// A text with the hunks applied, one behind the other. Ends of lines stay what they are.
pub(super) fn updated(text: &str, hunks: &[Hunk], path: &str) -> Result<String, String> {
    let end = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let mut from = 0;
    for hunk in hunks {
        if let Some(within) = &hunk.within {
            let at = seek(&lines, std::slice::from_ref(within), from, false);
            from = at.ok_or_else(|| format!("Failed to find context '{within}' in {path}"))? + 1;
        }
        if hunk.old.is_empty() {
            // Lines that nothing is said of the place of go to the end.
            lines.extend(hunk.new.iter().cloned());
            from = lines.len();
            continue;
        }
        let (mut old, mut new) = (hunk.old.as_slice(), hunk.new.as_slice());
        let mut at = seek(&lines, old, from, hunk.last);
        // An empty line at the end may be the end of the file.
        if let (None, [before @ .., empty]) = (at, old)
            && empty.is_empty()
            && !before.is_empty()
        {
            old = before;
            new = new.strip_suffix(&[String::new()]).unwrap_or(new);
            at = seek(&lines, old, from, hunk.last);
        }
        let at = at.ok_or_else(|| format!("Failed to find expected lines in {path}:\n{}", hunk.old.join("\n")))?;
        lines.splice(at..at + old.len(), new.iter().cloned());
        from = at + new.len();
    }
    Ok(lines.iter().flat_map(|line| [line.as_str(), end]).collect())
}

/// Where these lines stand from a line on: as they are, else but for blanks at their ends, else but for blanks around them.
fn seek(lines: &[String], wanted: &[String], from: usize, last: bool) -> Option<usize> {
    let most = lines.len().checked_sub(wanted.len())?;
    let alike: [fn(&str, &str) -> bool; 3] = [|a, b| a == b, |a, b| a.trim_end() == b.trim_end(), |a, b| a.trim() == b.trim()];
    let start = if last { most.max(from) } else { from };
    alike.iter().find_map(|alike| {
        let stands = |at: &usize| lines[*at..*at + wanted.len()].iter().zip(wanted).all(|(a, b)| alike(a, b));
        (start..=most).find(stands).or_else(|| (from..=most).find(stands))
    })
}
