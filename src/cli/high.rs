//! The command line as it is meant: checked, with files in place of names.

use std::collections::HashMap;
use std::io::IsTerminal;
use std::num::NonZero;
use std::path::{Path, PathBuf};

use agentglot_adapters::convert::{Options, ToolNames};
use agentglot_adapters::raw::codec::{Dialect, Format, Layout};
use agentglot_adapters::raw::launch::Program;
use agentglot_adapters::raw::prompts::prompts;

use super::low::{self, Chosen, Tools};
use crate::command::check::Check;
use crate::io::{Console, Input, Source};
use crate::status::Failure;
use crate::work::Work;

/// What `convert` is to do.
pub(super) fn convert(typed: low::Convert) -> Result<Work, Failure> {
    let inputs = inputs(&typed.files)?;
    let from = readable(typed.from)?;
    let Chosen::Named(to) = typed.to else {
        return Err(usage("--to needs a dialect"));
    };
    let has_prompts = !typed.prompt.is_empty() || typed.input_log.is_some();
    if has_prompts && inputs.len() > 1 {
        return Err(usage("--prompt and --input-log belong to one log; convert the others by themselves"));
    }
    // Filled in for each log when its dialect is known.
    let mut options = Options::new(from.unwrap_or(to), to);
    options.tools = match typed.tools {
        Tools::Native => ToolNames::Native,
        Tools::Verbatim => ToolNames::Verbatim,
    };
    options.partial = typed.include_partial_messages;
    options.strict = typed.strict;
    options.repair = typed.repair;
    options.validate = typed.validate;
    options.max_line = typed.max_line;
    options.old_text = typed.old_text;
    options.verbose = typed.all_messages;
    options.prompts = match &typed.input_log {
        Some(path) => input_log(path, from)?,
        None => typed.prompt,
    };
    let outputs = match &typed.output {
        Some(path) => Some(outputs(path, &inputs, to)?),
        None => None,
    };
    if let Some(ledger) = &typed.ledger {
        let same = |path: &Path| same_file(ledger, path);
        let read = inputs.iter().any(|input| matches!(input, Input::File(path) if same(path)));
        if read || outputs.iter().flatten().any(|path| same(path)) || typed.input_log.as_deref().is_some_and(same) {
            return Err(usage(&format!("--ledger {}: this file is read or written already", ledger.display())));
        }
    }
    let processors = || std::thread::available_parallelism().map_or(1, NonZero::get);
    let jobs = typed.jobs.map_or_else(processors, usize::from);
    Ok(Work {
        inputs,
        from,
        options,
        outputs,
        ledger: typed.ledger,
        jobs,
    })
}

/// What `check` is to do.
pub(super) fn check(typed: low::Check) -> Result<Check, Failure> {
    Ok(Check {
        inputs: inputs(&typed.files)?,
        dialect: readable(typed.dialect)?,
        max_line: typed.max_line,
    })
}

fn usage(why: &str) -> Failure {
    Failure::Usage(why.to_owned())
}

fn inputs(files: &[PathBuf]) -> Result<Vec<Input>, Failure> {
    let mut inputs: Vec<Input> = files
        .iter()
        .map(|path| {
            if path.as_os_str() == "-" {
                Input::Stdin
            } else {
                Input::File(path.clone())
            }
        })
        .collect();
    if inputs.is_empty() {
        inputs.push(Input::Stdin);
    }
    match inputs.iter().filter(|input| **input == Input::Stdin).count() {
        0 => {}
        1 if std::io::stdin().is_terminal() => return Err(usage("standard input is a terminal; name a FILE or pipe a log in (--help tells more)")),
        1 => {}
        _ => return Err(usage("standard input can be read once only")),
    }
    Ok(inputs)
}

fn readable(from: Chosen) -> Result<Option<Format>, Failure> {
    match from {
        Chosen::Auto => Ok(None),
        Chosen::Named(format) if format.is_readable() => Ok(Some(format)),
        Chosen::Named(format) => Err(usage(&format!("{format} is for people and cannot be read"))),
    }
}

/// The prompts in a log of the host's side. Hosts of a program that is one turn keep none: their prompt is an argument, or all of stdin.
fn input_log(path: &Path, from: Option<Format>) -> Result<Vec<String>, Failure> {
    let input = Input::File(path.to_owned());
    let mut source = Source::open(&input, &Console::plain())?;
    let keeps_logs = |dialect: Dialect| !dialect.program().is_some_and(Program::is_one_turn);
    let dialect = match from {
        Some(format) if keeps_logs(format.dialect) => format.dialect,
        _ => match source.detect() {
            Ok(Some(found)) => found.format.dialect,
            Ok(None) => return Ok(Vec::new()),
            // What Claude Code's and Qwen Code's hosts say alike is read alike.
            Err(Failure::Unclear { unclear, .. }) if !unclear.candidates.is_empty() => unclear.candidates[0].format.dialect,
            Err(failure) => return Err(failure),
        },
    };
    let found = prompts(dialect, &source.read_all()?);
    if found.damaged > 0 {
        Console::plain().say(&format!("{}: {} lines could not be read", input.name(), found.damaged));
    }
    if found.texts.is_empty() {
        return Err(usage(&format!(
            "--input-log {}: no prompt is in it (read as {})",
            path.display(),
            dialect.name()
        )));
    }
    Ok(found.texts)
}

/// Where the output of each input goes.
fn outputs(path: &Path, inputs: &[Input], to: Format) -> Result<Vec<PathBuf>, Failure> {
    let slash = path.as_os_str().to_string_lossy().ends_with(std::path::MAIN_SEPARATOR);
    let folder = path.is_dir() || slash || inputs.len() > 1;
    if !folder {
        return Ok(vec![path.to_owned()]);
    }
    if path.exists() && !path.is_dir() {
        return Err(usage(&format!("-o {}: there are several logs, and this is no folder", path.display())));
    }
    std::fs::create_dir_all(path).map_err(|error| Failure::Write {
        name: path.display().to_string(),
        error,
    })?;
    let outputs: Vec<PathBuf> = inputs.iter().map(|input| path.join(output_name(&input.plain_path(), to))).collect();
    let mut taken: HashMap<&Path, &Input> = HashMap::new();
    for (output, input) in outputs.iter().zip(inputs) {
        if let Some(other) = taken.insert(output, input) {
            let (a, b) = (other.name(), input.name());
            return Err(usage(&format!(
                "-o {}: {a} and {b} would both become {}",
                path.display(),
                output.display()
            )));
        }
    }
    Ok(outputs)
}

/// `NAME.<dialect>.jsonl` for `NAME.jsonl`; the format is named when it is not the dialect's first, and decides the ending.
fn output_name(input: &Path, to: Format) -> String {
    let name = input.file_name().map_or_else(|| "log".into(), |name| name.to_string_lossy().into_owned());
    let stem = [".jsonl", ".ndjson", ".json", ".log", ".txt"]
        .iter()
        .find_map(|ending| name.strip_suffix(ending))
        .unwrap_or(&name);
    let dialect = to.dialect.name();
    match to.mode.layout {
        Layout::Document => format!("{stem}.{dialect}.json"),
        Layout::Text => format!("{stem}.{dialect}.txt"),
        _ if to.mode == to.dialect.modes()[0] => format!("{stem}.{dialect}.jsonl"),
        _ => format!("{stem}.{dialect}.{}.jsonl", to.mode.name),
    }
}

fn same_file(a: &Path, b: &Path) -> bool {
    a == b || matches!((a.canonicalize(), b.canonicalize()), (Ok(a), Ok(b)) if a == b && a.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outputs_are_named_after_their_inputs() {
        let name = |input: &str, to: &str| output_name(Path::new(input), to.parse().unwrap());
        assert_eq!(name("a/b.out.jsonl", "qwen"), "b.out.qwen.jsonl");
        assert_eq!(name("b", "qwen:stream-chunk-json"), "b.qwen.stream-chunk-json.jsonl");
        assert_eq!(name("b.log", "claude:json"), "b.claude.json");
        assert_eq!(name("b.ndjson", "cursor:text"), "b.cursor.txt");
        assert_eq!(name("stdin", "tricode"), "stdin.tricode.jsonl");
        assert_eq!(Input::File("x/b.jsonl.gz".into()).plain_path(), Path::new("x/b.jsonl"));
    }
}
