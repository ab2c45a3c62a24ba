//! Where the output of each log goes, and that it goes nowhere where something is read.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use agentglot_adapters::raw::codec::{Format, Layout};

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
    let dialect = to.dialect.name();
    input.with_file_name(match to.mode.layout {
        Layout::Document | Layout::Session => format!("{stem}.{dialect}.json"),
        Layout::Text => format!("{stem}.{dialect}.txt"),
        _ if to.mode == to.dialect.modes()[0] => format!("{stem}.{dialect}.jsonl"),
        _ => format!("{stem}.{dialect}.{}.jsonl", to.mode.name),
    })
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
}
