//! Commands that change nothing and run nothing else, whatever files they are given: those whose grammar stands in the [table].
//!
//! What is not in it is asked about. An option counts only if it is written out as it stands there: no abbreviations, and letters that
//! are bundled are taken apart by the table.

use super::table::{EDITS, GIT, PROGRAMS};

/// What a command that only reads reads.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::permissions) struct Looks<'a> {
    /// Arguments that are paths, or may be.
    pub paths: Vec<&'a str>,
    /// None of them may be a folder: the program would look at what is in it, and follow links there.
    pub files: bool,
    /// It tells what is in files, and not only their names.
    pub content: bool,
    /// It is a builtin of the shell.
    pub builtin: bool,
    /// It runs git, in the folder that these lead to one after the other.
    pub git: Option<Vec<&'a str>>,
}

/// How a program understands its words.
#[derive(Debug)]
pub(super) struct Program {
    /// Its names.
    pub names: &'static str,
    /// Options of one letter, as for `getopt`: `:` behind those that take a text, `/` for a path, `?` for a text that is in the same word.
    /// A `!` at the beginning: one letter a word, and a text is the next word. A `#`: `-5` is an option.
    pub short: &'static str,
    /// Options with names, with `=`, `/` or `?` behind them.
    pub long: &'static str,
    /// The other words.
    pub operands: Operands,
    /// See [`Looks::content`].
    pub content: bool,
}

/// What the words are that are no options.
#[derive(Clone, Copy, Debug)]
pub(super) enum Operands {
    /// There are none.
    None,
    /// Texts.
    Text,
    /// Paths.
    Paths,
    /// Paths, none of which begins with `+`: that was an option once.
    Named,
    /// Paths of files, but not of folders.
    Files,
    /// A path at most: a second would be written.
    One,
    /// A pattern, unless it is an option, then paths; without one and with an option of the first list (or always), the working folder.
    Pattern(&'static [&'static str]),
    /// A program for jq, then paths.
    Jq,
    /// Only behind an option that says that there are some.
    Listed,
    /// Looks of dates.
    Dates,
    /// Names of programs, which are looked for where they say if there is a slash in them.
    Programs,
    /// All words are judged by this.
    Own(for<'a> fn(&[&'a str]) -> Option<Vec<&'a str>>),
}

/// Builtins that read nothing, or what their words say.
const BUILTINS: &[&str] = &["echo", "printf", "test", "[", "pwd", "true", "false", ":", "type", "command"];

/// Whether a command only reads, and what. `None`: it does not, or that cannot be told.
pub(in crate::permissions) fn looks<'a>(words: &[&'a str]) -> Option<Looks<'a>> {
    let (name, rest) = words.split_first()?;
    if *name == "git" {
        return git(rest);
    }
    let program = PROGRAMS.iter().find(|program| program.names.split(' ').any(|known| known == *name))?;
    Some(Looks {
        paths: paths(program, rest)?,
        files: matches!(program.operands, Operands::Files),
        content: program.content,
        builtin: BUILTINS.contains(name),
        git: None,
    })
}

/// The paths that a command of a file system changes, if it is one that counts as an edit.
pub(in crate::permissions) fn edits<'a>(words: &[&'a str]) -> Option<Vec<&'a str>> {
    let (name, rest) = words.split_first()?;
    let program = EDITS.iter().find(|program| program.names.split(' ').any(|known| known == *name))?;
    paths(program, rest).filter(|paths| !paths.is_empty())
}

/// The command that another one runs as it is, with less time or less of the processor.
pub(in crate::permissions) fn bare<'w, 'a>(words: &'w [&'a str]) -> &'w [&'a str] {
    let number = |word: &str| word.starts_with(|c: char| c.is_ascii_digit()) && word.chars().all(|c| c.is_ascii_digit() || ".smhd".contains(c));
    match words {
        ["timeout", time, rest @ ..] if number(time) && rest.first().is_some_and(|first| !first.starts_with('-')) => bare(rest),
        ["nice", "-n", level, rest @ ..] if number(level) && rest.first().is_some_and(|first| !first.starts_with('-')) => bare(rest),
        _ => words,
    }
}

fn git<'a>(words: &[&'a str]) -> Option<Looks<'a>> {
    let mut words = words;
    let mut folders = Vec::new();
    loop {
        match words {
            ["--no-pager", rest @ ..] => words = rest,
            ["-C", folder, rest @ ..] => {
                folders.push(*folder);
                words = rest;
            }
            _ => break,
        }
    }
    if matches!(words, ["--version" | "version"]) {
        return Some(Looks::default());
    }
    let named = |name: &str| GIT.iter().find(|program| program.names.split(' ').any(|known| known == name));
    let (program, rest) = match words {
        [first, second, rest @ ..] if named(&format!("{first}.{second}")).is_some() => (named(&format!("{first}.{second}"))?, rest),
        [first, rest @ ..] => (named(first)?, rest),
        [] => return None,
    };
    // A format may ask for the check of a signature, which runs another program: `%G?`, `%+G?`.
    let checks = |word: &str| {
        word.split('%')
            .skip(1)
            .any(|place| place.trim_start_matches(['+', '-', ' ']).starts_with('G'))
    };
    if rest.iter().any(|word| checks(word) || word.contains("signature")) {
        return None;
    }
    Some(Looks {
        paths: paths(program, rest)?,
        content: program.content,
        git: Some(folders),
        ..Looks::default()
    })
}

/// Whether an option takes something, and what.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Takes {
    Nothing,
    Maybe,
    Text,
    Path,
}

impl Program {
    fn short(&self, letter: char) -> Option<Takes> {
        let at = self.short.find(letter).filter(|_| letter.is_ascii_alphanumeric() || letter == '.')?;
        Some(match self.short[at + 1..].chars().next() {
            Some(':') => Takes::Text,
            Some('/') => Takes::Path,
            Some('?') => Takes::Maybe,
            _ => Takes::Nothing,
        })
    }

    fn long(&self, name: &str) -> Option<Takes> {
        self.long.split_ascii_whitespace().find_map(|known| {
            let takes = known.strip_prefix(name)?;
            match takes {
                "" => Some(Takes::Nothing),
                "=" => Some(Takes::Text),
                "/" => Some(Takes::Path),
                "?" => Some(Takes::Maybe),
                _ => None,
            }
        })
    }
}

/// What options and operands say.
#[derive(Default)]
struct Said<'a> {
    options: Vec<&'a str>,
    paths: Vec<&'a str>,
    operands: Vec<&'a str>,
}

fn paths<'a>(program: &Program, words: &[&'a str]) -> Option<Vec<&'a str>> {
    if let Operands::Own(judge) = program.operands {
        return judge(words);
    }
    let Said {
        options,
        mut paths,
        operands,
    } = said(program, words)?;
    let has = |names: &[&str]| options.iter().any(|option| names.contains(option));
    match program.operands {
        Operands::None if !operands.is_empty() => return None,
        Operands::Listed if !operands.is_empty() && !has(&["l", "list"]) => return None,
        Operands::One if operands.len() > 1 => return None,
        Operands::Named if operands.iter().any(|word| word.starts_with('+')) => return None,
        Operands::Dates if !operands.iter().all(|word| word.starts_with('+')) || words.iter().any(|word| word.contains("TZ")) => return None,
        Operands::None | Operands::Listed | Operands::Text | Operands::Dates | Operands::Own(_) => {}
        Operands::One | Operands::Paths | Operands::Named | Operands::Files => paths.extend(operands),
        Operands::Programs => paths.extend(operands.into_iter().filter(|name| name.contains('/'))),
        Operands::Jq => {
            let (program, files) = operands.split_first()?;
            // It can neither write nor run anything, but read other programs and the environment.
            if ["env", "ENV", "import", "include", "modulemeta"]
                .iter()
                .any(|word| program.contains(word))
            {
                return None;
            }
            paths.extend(files);
        }
        Operands::Pattern(recursive) => {
            let named = has(&["e", "f", "regexp", "file", "files"]);
            let files = if named { &operands[..] } else { operands.get(1..)? };
            if files.is_empty() && (recursive.is_empty() || has(recursive)) {
                paths.push(".");
            }
            paths.extend(files);
        }
    }
    paths.retain(|path| *path != "-");
    Some(paths)
}

fn said<'a>(program: &Program, words: &[&'a str]) -> Option<Said<'a>> {
    let alone = program.short.starts_with('!');
    let digits = program.short.contains('#');
    let mut said = Said::default();
    let mut words = words.iter().copied();
    while let Some(word) = words.next() {
        if word == "--" {
            said.operands.extend(words);
            break;
        }
        let Some(option) = word.strip_prefix('-').filter(|option| !option.is_empty()) else {
            said.operands.push(word);
            continue;
        };
        // Where options end at the first operand, this is a file.
        if !said.operands.is_empty() {
            said.paths.push(word);
        }
        let mut take = |takes: Takes, joined: Option<&'a str>| {
            match (takes, joined) {
                (Takes::Nothing, Some(_)) => return None,
                (Takes::Nothing | Takes::Maybe, _) => {}
                (Takes::Text, joined) => drop(joined.or_else(|| words.next())?),
                (Takes::Path, joined) => said.paths.push(joined.or_else(|| words.next())?),
            }
            Some(())
        };
        if let Some(long) = option.strip_prefix('-') {
            let (name, value) = long.split_once('=').map_or((long, None), |(name, value)| (name, Some(value)));
            take(program.long(name)?, value)?;
            said.options.push(name);
            continue;
        }
        if digits && option.chars().all(|c| c.is_ascii_digit()) {
            continue;
        }
        if alone && option.len() > 1 {
            return None;
        }
        for (at, letter) in option.char_indices() {
            let (takes, behind) = (program.short(letter)?, &option[at + letter.len_utf8()..]);
            said.options.push(&option[at..at + letter.len_utf8()]);
            if takes != Takes::Nothing {
                take(takes, Some(behind).filter(|behind| !behind.is_empty()))?;
                break;
            }
        }
    }
    Some(said)
}

/// `find`: paths, then tests that run nothing.
pub(super) fn find<'a>(words: &[&'a str]) -> Option<Vec<&'a str>> {
    const ALONE: &str = " -not ! ( ) -o -a -or -and -print -print0 -prune -empty -ls -depth -xdev -mount -readable -writable -executable -true \
                         -false -quit -nouser -nogroup -daystart ";
    const WITH: &str = " -name -iname -path -ipath -wholename -iwholename -type -maxdepth -mindepth -size -mtime -mmin -ctime -cmin -atime -amin \
                        -regex -iregex -regextype -perm -user -group -links -printf ";
    let begins = |word: &&str| word.starts_with('-') || matches!(*word, "(" | ")" | "!" | ",");
    let at = words.iter().position(begins).unwrap_or(words.len());
    let (folders, tests) = words.split_at(at);
    let mut paths = if folders.is_empty() { vec!["."] } else { folders.to_vec() };
    let mut tests = tests.iter().copied();
    while let Some(test) = tests.next() {
        let is = |list: &str| !test.contains(' ') && list.contains(&format!(" {test} "));
        if test == "-newer" {
            paths.push(tests.next()?);
        } else if is(WITH) {
            tests.next()?;
        } else if !is(ALONE) {
            return None;
        }
    }
    Some(paths)
}

/// `sed -n 1,20p`: lines are printed.
pub(super) fn sed<'a>(words: &[&'a str]) -> Option<Vec<&'a str>> {
    let ["-n", script, files @ ..] = words else { return None };
    let prints = |part: &str| {
        let lines = part.strip_suffix('p')?;
        let (from, to) = lines.split_once(',').unwrap_or((lines, "1"));
        let number = |text: &str| text == "$" || !text.is_empty() && text.chars().all(|c| c.is_ascii_digit());
        (number(from) && number(to)).then_some(())
    };
    if files.iter().any(|file| file.starts_with('-')) {
        return None;
    }
    script.split(';').all(|part| prints(part).is_some()).then(|| files.to_vec())
}

/// `test`: a question about a file or a text. Others compute what their words say.
pub(super) fn test<'a>(words: &[&'a str]) -> Option<Vec<&'a str>> {
    match words {
        ["!", rest @ ..] if !rest.is_empty() => test(rest),
        ["-z" | "-n", _] => Some(Vec::new()),
        [test, path] if test.len() == 2 && test.starts_with('-') && "efdrwxsLh".contains(&test[1..]) => Some(vec![path]),
        [_, "=" | "==" | "!=", _] => Some(Vec::new()),
        _ => None,
    }
}

/// The same in brackets.
pub(super) fn bracket<'a>(words: &[&'a str]) -> Option<Vec<&'a str>> {
    match words {
        [words @ .., "]"] => test(words),
        _ => None,
    }
}

/// `printf`: `%n` and `-v` assign.
pub(super) fn printf<'a>(words: &[&'a str]) -> Option<Vec<&'a str>> {
    let format = words.first().filter(|format| !format.starts_with('-'))?;
    let mut places = format.split('%');
    places.next();
    while let Some(place) = places.next() {
        let behind = place.trim_start_matches(|c: char| c.is_ascii_digit() || c == '-' || c == '.');
        match behind.chars().next() {
            Some('s' | 'd' | 'x' | 'b' | 'q' | 'c') => {}
            // `%%`
            None if place.is_empty() => drop(places.next()?),
            _ => return None,
        }
    }
    Some(Vec::new())
}

/// `echo`, `true`: whatever they are given.
pub(super) fn anything<'a>(_: &[&'a str]) -> Option<Vec<&'a str>> {
    Some(Vec::new())
}

/// `command -v`: where a program is.
pub(super) fn command<'a>(words: &[&'a str]) -> Option<Vec<&'a str>> {
    match words {
        ["-v" | "-V", name] if !name.starts_with('-') => Some([*name].into_iter().filter(|name| name.contains('/')).collect()),
        _ => None,
    }
}
