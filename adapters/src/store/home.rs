//! Where programs keep their sessions, and how they go on with one.
//!
//! All of it is said in patterns; who has files walks them.

/// Where a program keeps the sessions of a store.
#[derive(Clone, Copy, Debug)]
pub struct Home {
    /// The program's own folder: that of the first variable that is set.
    pub roots: &'static [Root],
    /// The files of sessions, seen from there: `*` stands for a name, and for a part of one.
    pub files: &'static [&'static str],
    /// Where it looks for one, seen from there too. `ID` stands for the session's id, `SHORT` for the beginning of it, `PROJECT` for the
    /// folder of the working folder, `YEAR`, `MONTH`, `DAY`, `TIME` and `MINUTE` for when it was written.
    pub file: &'static str,
    /// What `PROJECT` is.
    pub project: Project,
    /// What its ids are.
    pub ids: Ids,
    /// A model is sent the thoughts of another one, and takes them: else they are left out.
    pub thoughts: bool,
    /// What stands behind all that a new file says; `NOW` stands for the time.
    pub end: &'static str,
    /// The program and what it is told before it knows a session from a file, if it has to be told; `FILE` stands for the file.
    pub takes: Option<&'static [&'static str]>,
    /// The program and what it is told to go on with the session `ID`.
    pub goes_on: &'static [&'static str],
    /// Where those lie that are in no files.
    pub database: Option<Database>,
}

/// A folder that a variable of the environment names.
#[derive(Clone, Copy, Debug)]
pub struct Root {
    /// The variable.
    pub variable: &'static str,
    /// The folder, seen from what the variable says; empty for that itself.
    pub below: &'static str,
}

/// How a program names the folder in which it keeps the sessions of a working folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Project {
    /// It has none.
    None,
    /// By its path: [`slug`].
    Path,
    /// The same, and a long one is cut: [`short_slug`].
    ShortPath,
    /// By its last name, made unique. Who has it is said by a file in it.
    Claimed {
        /// That file, which holds the path of the working folder.
        marker: &'static str,
        /// A list of those that there are, as a JSON object: `{"projects": {PATH: NAME}}`.
        list: &'static str,
        /// Other folders that have a folder of the same name, with the same file, for each.
        beside: &'static [&'static str],
    },
}

/// What a program's ids of sessions are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ids {
    /// UUIDs of version 4.
    Random,
    /// UUIDs of version 7, which begin with the time.
    Timed,
    /// This, and 26 letters and digits.
    Prefixed(&'static str),
}

/// A database of SQLite in which a program keeps sessions.
#[derive(Clone, Copy, Debug)]
pub struct Database {
    /// The file, seen from the program's folder: where there is none, it has no sessions.
    pub file: &'static str,
    /// The query for all sessions: `id`, `cwd`, `prompt`, `turns`, `tokens`, `written` (milliseconds since 1970) and `size` (bytes).
    pub list: &'static str,
    /// The queries for the session `?1` in the store's format: each row is a line. None if there is no such session.
    pub one: &'static [&'static str],
    /// The query for the sessions of all who work for the session `?1`: `call`, `id`, `name` and `task`. A line that has the call has its
    /// result, too.
    pub subagents: &'static str,
}

/// A folder's name is cut behind so many characters of the path that it stands for.
const LONGEST: usize = 200;

/// The name of a working folder's folder: every UTF-16 unit that is no ASCII letter or digit is `-`.
pub fn slug(cwd: &str) -> String {
    let mut name = String::with_capacity(cwd.len());
    for c in cwd.chars() {
        if c.is_ascii_alphanumeric() {
            name.push(c);
        } else {
            name.extend(std::iter::repeat_n('-', c.len_utf16()));
        }
    }
    name
}

/// The same; what is too long is cut, and a hash of the whole path follows.
pub fn short_slug(cwd: &str) -> String {
    let mut name = slug(cwd);
    if name.len() > LONGEST {
        name.truncate(LONGEST);
        name.push('-');
        name.push_str(&base36(path_hash(cwd)));
    }
    name
}

/// What all names of a long path begin with, whatever hash follows.
pub fn stem(slug: &str) -> Option<&str> {
    (slug.len() > LONGEST).then(|| &slug[..=LONGEST])
}

/// The name that a folder would be claimed by, if nobody else has it.
pub fn short_name(cwd: &str) -> String {
    let last = cwd.trim_end_matches('/').rsplit('/').next().unwrap_or_default().to_lowercase();
    let words: Vec<&str> = last
        .split(|c: char| !c.is_ascii_lowercase() && !c.is_ascii_digit())
        .filter(|word| !word.is_empty())
        .collect();
    if words.is_empty() { "project".to_owned() } else { words.join("-") }
}

/// The hash that the SDKs use: 31 times the one before, plus the next UTF-16 unit, in 32 bits.
fn path_hash(text: &str) -> u32 {
    let hash = text
        .encode_utf16()
        .fold(0_i32, |hash, unit| hash.wrapping_shl(5).wrapping_sub(hash).wrapping_add(i32::from(unit)));
    hash.unsigned_abs()
}

fn base36(mut n: u32) -> String {
    let mut digits = Vec::new();
    loop {
        digits.push(char::from_digit(n % 36, 36).unwrap_or('0'));
        n /= 36;
        if n == 0 {
            return digits.iter().rev().collect();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_called_as_the_programs_call_them() {
        assert_eq!(slug("/home/me/a_b.c"), "-home-me-a-b-c");
        assert_eq!(slug("/ä/😀"), "-----");
        let long = format!("/{}", "x".repeat(300));
        assert_eq!(slug(&long).len(), 301);
        let name = short_slug(&long);
        assert!(name.starts_with("-xxx") && name.len() > 201 && name.len() <= 208, "{name}");
        assert_eq!(stem(&name).map(str::len), Some(201));
        // The numbers of the SDK's own function.
        assert_eq!(base36(path_hash("/workspace")), "7nghty");
        assert_eq!(base36(path_hash("a")), "2p");
        assert_eq!(base36(0), "0");
        assert_eq!(short_name("/home/me/My  Project.2/"), "my-project-2");
        assert_eq!(short_name("/"), "project");
        assert_eq!(short_name("/x/.."), "project");
    }
}
