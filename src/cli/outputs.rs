//! Where the output of each log goes, and that it goes nowhere where something is read.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use agentglot_adapters::raw::codec::{Dialect, Format, Layout};

use crate::io::{Input, Output};
use crate::status::Failure;
use crate::system::FileId;

/// Where output goes.
#[derive(Debug, Default)]
pub(super) struct Outputs {
    /// A file for each log; none for standard output.
    pub(super) files: Option<Vec<Output>>,
    /// The folders of those, which have to be there.
    pub(super) folders: Vec<PathBuf>,
}

/// A file for each log.
pub(super) fn of(path: &Path, inputs: &[Input], to: Format) -> Result<Outputs, Failure> {
    let slash = path.as_os_str().to_string_lossy().ends_with(std::path::MAIN_SEPARATOR);
    let from_folder = inputs.iter().any(|input| matches!(input, Input::InFolder { .. }));
    if !path.is_dir() && !slash && !from_folder && inputs.len() <= 1 {
        return Ok(Outputs {
            files: Some(vec![Output::Named(path.to_owned())]),
            folders: Vec::new(),
        });
    }
    if path.exists() && !path.is_dir() {
        return Err(usage(format!("-o {}: there are several logs, and this is no folder", path.display())));
    }
    let outputs: Vec<PathBuf> = inputs.iter().map(|input| path.join(output_name(&input.plain_name(), to))).collect();
    let mut taken: HashMap<&Path, &Input> = HashMap::new();
    for (output, input) in outputs.iter().zip(inputs) {
        if let Some(other) = taken.insert(output, input) {
            let (a, b) = (other.name(), input.name());
            return Err(usage(format!(
                "-o {}: {a} and {b} would both become {}",
                path.display(),
                output.display()
            )));
        }
    }
    let mut folders: Vec<PathBuf> = std::iter::once(path)
        .chain(outputs.iter().filter_map(|output| output.parent()))
        .map(Path::to_owned)
        .collect();
    folders.dedup();
    let below = inputs.iter().map(|input| output_name(&input.plain_name(), to));
    let in_folder = |below| Output::InFolder {
        folder: path.to_owned(),
        below,
    };
    Ok(Outputs {
        files: Some(below.map(in_folder).collect()),
        folders,
    })
}

/// The format that the name of an output says: `NAME.DIALECT.ENDING`, as outputs are called in a folder, or with the format's name behind
/// the dialect's; an ending of compression may follow. Of formats that are called alike it is the dialect's first.
pub(super) fn named(path: &Path) -> Option<Format> {
    let name = Input::File(path.to_owned()).plain_name();
    // A name may be all ending: `cursor.jsonl`.
    let name = format!(".{}", name.to_string_lossy());
    let formats = || Format::all().filter(|format| format.is_writable());
    let whole = |format: &Format| name.ends_with(&format!(".{}.{}.{}", format.dialect.name(), format.mode.name, ending(*format)));
    formats()
        .find(whole)
        .or_else(|| formats().find(|&format| name.ends_with(&behind(format))))
        // A file of several sessions, one a line, may be called so too.
        .or_else(|| formats().find(|format| format.mode.layout == Layout::Session && name.ends_with(&format!(".{}.jsonl", format.dialect.name()))))
}

/// Why the name of an output says no format.
pub(super) fn unnamed(path: &Path) -> Failure {
    let name = Input::File(path.to_owned()).plain_name();
    let name = format!(".{}", name.to_string_lossy());
    let dialect = |dialect: &Dialect| name.contains(&format!(".{}.", dialect.name()));
    let formats = || Format::all().filter(|format| format.is_writable());
    let Some(dialect) = Dialect::readable().find(dialect) else {
        return usage(
            "name a dialect with --to, or with the end of the name behind -o: NAME.DIALECT.jsonl (or .json, .txt, as `agentglot help convert` says)"
                .to_owned(),
        );
    };
    let names: Vec<String> = formats()
        .filter(|format| format.dialect == dialect)
        .map(|format| format!("NAME{} ({format})", behind(format)))
        .collect();
    usage(match names.as_slice() {
        [] => format!("-o {}: {} is read and not written", path.display(), dialect.name()),
        _ => format!(
            "-o {}: no format of {} that is called so can be written; there is {}",
            path.display(),
            dialect.name(),
            names.join(", ")
        ),
    })
}

/// Whether anything that is written would take the place of what is read, or of what else is written. `own` are files that are written
/// beside the output, with their flags.
pub(super) fn overwrite_nothing<'p>(
    inputs: &[Input],
    input_log: Option<&Path>,
    outputs: Option<&'p [Output]>,
    own: impl Iterator<Item = (&'static str, &'p Path)>,
) -> Result<(), Failure> {
    let mut read: HashSet<FileId> = inputs
        .iter()
        .filter_map(|input| input.path().and_then(|path| FileId::of(&path)))
        .collect();
    if inputs.contains(&Input::Stdin) {
        read.extend(FileId::of_stdin());
    }
    read.extend(input_log.and_then(FileId::of));
    if outputs.is_none() && FileId::of_stdout().is_some_and(|stdout| read.contains(&stdout)) {
        return Err(usage("the log is standard output too: it would be read on as it grows".to_owned()));
    }
    let (mut names, mut files) = (HashSet::new(), HashSet::new());
    let outputs = outputs.into_iter().flatten().map(|output| ("-o", output.path()));
    for (flag, path) in outputs.chain(own.map(|(flag, path)| (flag, path.to_owned()))) {
        let file = FileId::of(&path);
        if file.as_ref().is_some_and(|file| read.contains(file)) {
            return Err(usage(format!("{flag} {}: this file is read; it would be lost", path.display())));
        }
        let is_new = names.insert(path.clone()) && file.is_none_or(|file| files.insert(file));
        if !is_new {
            return Err(usage(format!("{flag} {}: two things would be written to this file", path.display())));
        }
    }
    Ok(())
}

/// `NAME.<dialect>.jsonl` for `NAME.jsonl`; the format is named when it is not the dialect's first, and decides the ending.
fn output_name(input: &Path, to: Format) -> PathBuf {
    let name = input.file_name().map_or_else(|| "log".into(), |name| name.to_string_lossy().into_owned());
    let stem = [".jsonl", ".ndjson", ".json", ".sse", ".log", ".txt"]
        .iter()
        .find_map(|ending| name.strip_suffix(ending))
        .unwrap_or(&name);
    input.with_file_name(format!("{stem}{}", behind(to)))
}

/// What stands behind the name of a log in the name of its output.
fn behind(to: Format) -> String {
    let (dialect, ending) = (to.dialect.name(), ending(to));
    let says_format = ending == "jsonl" && to.mode != to.dialect.modes()[0];
    match says_format {
        true => format!(".{dialect}.{}.{ending}", to.mode.name),
        false => format!(".{dialect}.{ending}"),
    }
}

const fn ending(to: Format) -> &'static str {
    match to.mode.layout {
        Layout::Document | Layout::Session => "json",
        Layout::Text => "txt",
        _ => "jsonl",
    }
}

fn usage(why: String) -> Failure {
    Failure::Usage(why)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outputs_are_named_after_their_inputs() {
        let name = |input: &str, to: &str| output_name(&Input::File(input.into()).plain_name(), to.parse().unwrap());
        assert_eq!(name("a/b.out.jsonl", "qwen"), Path::new("b.out.qwen.jsonl"));
        assert_eq!(name("b", "qwen:stream-chunk-json"), Path::new("b.qwen.stream-chunk-json.jsonl"));
        assert_eq!(name("b.log", "claude:json"), Path::new("b.claude.json"));
        assert_eq!(name("b.ndjson", "cursor:text"), Path::new("b.cursor.txt"));
        assert_eq!(name("x/b.jsonl.gz", "tricode"), Path::new("b.tricode.jsonl"));
        let found = Input::InFolder {
            folder: "logs".into(),
            below: "x/b.jsonl.zst".into(),
        };
        assert_eq!(output_name(&found.plain_name(), "qwen".parse().unwrap()), Path::new("x/b.qwen.jsonl"));
        assert_eq!(
            output_name(&Input::Stdin.plain_name(), "tricode".parse().unwrap()),
            Path::new("stdin.tricode.jsonl")
        );
    }

    #[test]
    fn a_name_says_its_format() {
        let says = |name: &str| named(Path::new(name)).map(|format| format.to_string());
        for (name, format) in [
            ("a/b.out.qwen.jsonl", "qwen"),
            ("b.qwen.stream-chunk-json.jsonl.gz", "qwen:stream-chunk-json"),
            ("b.qwen-code.jsonl.zst", "qwen-code"),
            ("b.claude.json", "claude:json"),
            ("b.claude.stream-json.jsonl", "claude"),
            ("b.gemini.chat.jsonl", "gemini:chat"),
            ("cursor.txt", "cursor:text"),
            ("b.sharegpt.json", "sharegpt"),
            ("b.sharegpt.jsonl", "sharegpt"),
        ] {
            let format: Format = format.parse().unwrap();
            assert_eq!(says(name), Some(format.to_string()), "{name}");
        }
        for name in [
            "b.jsonl",
            "b.cursor",
            "xcursor.jsonl",
            "b.claude.txt.jsonl",
            "b.openai.jsonl",
            "out/",
            "b.tricode.json",
            "",
        ] {
            assert_eq!(says(name), None, "{name}");
        }
    }

    #[test]
    fn names_that_are_given_are_understood() {
        for format in Format::all().filter(|format| format.is_writable()) {
            let name = output_name(Path::new("x.jsonl"), format);
            let said = named(&name).unwrap();
            // Two formats of a dialect may be one document each, and be called alike.
            assert_eq!((said.dialect, behind(said)), (format.dialect, behind(format)), "{}", name.display());
        }
    }
}
