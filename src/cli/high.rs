//! The command line as it is meant: checked, with files in place of names.

use std::io::IsTerminal;
use std::num::NonZero;
use std::path::{Path, PathBuf};

use agentglot_adapters::convert::{Options, ToolNames};
use agentglot_adapters::raw::codec::{Dialect, Format};
use agentglot_adapters::raw::launch::Program;
use agentglot_adapters::raw::prompts::prompts;

use super::low::{self, Chosen, Tools};
use super::outputs::{self, Outputs};
use super::tables;
use super::views;
use crate::command::check::Check;
use crate::command::diff::Diff;
use crate::command::show::{Form, Show};
use crate::command::stats::Stats;
use crate::io::{Console, Input, Output, Source, Walk, leave_to_their_sessions};
use crate::show::{Cut, Ignore, Pick};
use crate::stats::{By, Form as Counted, Prices};
use crate::status::{Failure, Status};
use crate::work::Work;

/// What `convert` is to do.
pub(super) fn convert(typed: low::Convert) -> Result<Work, Failure> {
    let to_stdout = |path: &PathBuf| path.as_os_str() == "-";
    let output = typed.output.filter(|path| !to_stdout(path));
    let Logs { mut inputs, status } = logs(&typed.logs, output.as_deref())?;
    let from = readable(typed.from);
    let columnar = match (typed.to, &output) {
        (Some(Chosen::Columns(columnar)), _) => Some(columnar),
        (None, Some(path)) => tables::named(path),
        _ => None,
    };
    let to = match (typed.to, &output) {
        _ if columnar.is_some() => Dialect::CANONICAL.into(),
        (Some(Chosen::Named(to)), _) => to,
        (Some(_), _) => return Err(usage("--to needs a dialect")),
        (None, output) => {
            let output = output.as_deref().unwrap_or(Path::new("-"));
            outputs::named(output).ok_or_else(|| outputs::unnamed(output))?
        }
    };
    let tables = tables::wanted(columnar, &typed.table, typed.with_json, output.as_deref())?;
    leave_to_their_sessions(&mut inputs, !typed.no_subagents && !to.is_store());
    let has_prompts = !typed.prompt.is_empty() || typed.input_log.is_some();
    if has_prompts && inputs.len() > 1 {
        return Err(usage("--prompt and --input-log belong to one log; convert the others by themselves"));
    }
    // Filled in for each log when its dialect is known.
    let mut options = Options::new(from.unwrap_or(to), to);
    options.keep_spelling = true;
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
    let needs_all_prompts = typed.prompt.len() > 1;
    options.cd_in_commands = typed.cd_in_commands;
    options.prompts = match &typed.input_log {
        Some(path) => input_log(path, from)?,
        None => typed.prompt,
    };
    let outputs = match &output {
        _ if let Some(tables) = &tables => tables.outputs(),
        Some(path) => outputs::of(path, &inputs, to)?,
        None => Outputs::default(),
    };
    let own = [("--ledger", &typed.ledger), ("--report", &typed.report)];
    let own = own.iter().filter_map(|(flag, path)| Some((*flag, path.as_deref()?)));
    outputs::overwrite_nothing(&inputs, typed.input_log.as_deref(), outputs.files.as_deref(), own)?;
    let processors = || std::thread::available_parallelism().map_or(1, NonZero::get);
    let jobs = typed.jobs.map_or_else(processors, usize::from);
    Ok(Work {
        inputs,
        from,
        options,
        needs_all_prompts,
        outputs: outputs.files.filter(|_| tables.is_none()),
        tables,
        tables_from: match typed.from {
            Chosen::Columns(columnar) => Some(columnar),
            _ => None,
        },
        folders: outputs.folders,
        ledger: typed.ledger,
        report: typed.report,
        subagents: !typed.no_subagents,
        quiet: typed.quiet,
        status,
        jobs,
    })
}

/// What `check` is to do.
pub(super) fn check(typed: low::Check) -> Result<Check, Failure> {
    let Logs { mut inputs, status } = logs(&typed.logs, None)?;
    leave_to_their_sessions(&mut inputs, !typed.no_subagents);
    Ok(Check {
        inputs,
        dialect: readable(typed.dialect),
        max_line: typed.max_line,
        level: typed.level,
        json: typed.json,
        quiet: typed.quiet,
        subagents: !typed.no_subagents,
        status,
    })
}

/// What `show` is to do.
pub(super) fn show(typed: views::Show) -> Result<Show, Failure> {
    let input = match typed.log {
        Some(log) if log.as_os_str() == "-" => Input::Stdin,
        Some(log) => session(log)?,
        None => Input::Stdin,
    };
    if input == Input::Stdin && std::io::stdin().is_terminal() {
        return Err(usage(
            "standard input is a terminal; name a FILE or the id of a session (--help tells more)",
        ));
    }
    let output = typed.output.filter(|path| path.as_os_str() != "-");
    let named = output.clone().map(|path| vec![Output::Named(path)]);
    outputs::overwrite_nothing(std::slice::from_ref(&input), None, named.as_deref(), std::iter::empty())?;
    Ok(Show {
        input,
        from: readable(typed.from),
        form: match typed.format {
            views::Form::Text => Form::Text,
            views::Form::Markdown => Form::Markdown,
            views::Form::Html => Form::Html,
            views::Form::Json => Form::Json,
        },
        pick: Pick {
            turn: typed.turn,
            tools: typed.tools,
            errors: typed.errors,
            since: typed.since,
        },
        cut: Cut { lines: typed.lines },
        thinking: typed.thinking,
        utc: typed.utc,
        follow: typed.follow,
        subagents: !typed.no_subagents,
        colour: typed.color.wanted(),
        width: typed.width.map(usize::from),
        pager: !typed.no_pager,
        output,
    })
}

/// What `diff` is to do.
pub(super) fn diff(typed: views::Diff) -> Result<Diff, Failure> {
    let input = |path: PathBuf| if path.as_os_str() == "-" { Ok(Input::Stdin) } else { session(path) };
    let logs = [input(typed.old)?, input(typed.new)?];
    if logs == [Input::Stdin, Input::Stdin] {
        return Err(usage("standard input can be read once only"));
    }
    let ignores = |what| typed.ignore.contains(&what);
    Ok(Diff {
        logs,
        ignore: Ignore {
            ids: ignores(views::Ignored::Ids),
            times: ignores(views::Ignored::Times),
            usage: ignores(views::Ignored::Usage),
        },
        subagents: !typed.no_subagents,
        cut: Cut { lines: typed.lines },
        form: match typed.format {
            views::DiffForm::Text => crate::command::diff::Form::Text,
            views::DiffForm::Json => crate::command::diff::Form::Json,
            views::DiffForm::Html => crate::command::diff::Form::Html,
        },
        colour: typed.color.wanted(),
    })
}

/// What `stats` is to do.
pub(super) fn stats(typed: views::Stats) -> Result<Stats, Failure> {
    let Logs { mut inputs, status } = match machine(&typed.logs) {
        Some(found) => found,
        None => logs(&typed.logs, None)?,
    };
    leave_to_their_sessions(&mut inputs, !typed.no_subagents);
    Ok(Stats {
        inputs,
        by: match typed.by {
            views::By::Session => By::Session,
            views::By::Day => By::Day,
            views::By::Week => By::Week,
            views::By::Model => By::Model,
            views::By::Tool => By::Tool,
            views::By::Project => By::Project,
            views::By::Agent => By::Agent,
        },
        form: match (typed.json, typed.csv) {
            (true, _) => Counted::Json,
            (_, true) => Counted::Csv,
            _ => Counted::Table,
        },
        utc: typed.utc,
        subagents: !typed.no_subagents,
        prices: prices(typed.prices.filter(|path| !path.as_os_str().is_empty()))?,
        status,
    })
}

/// What `view` is to do.
#[cfg(feature = "view")]
pub(super) fn view(typed: views::View) -> Result<crate::view::View, Failure> {
    use crate::view::Place;
    let place = match typed.folder {
        Some(folder) => {
            let whole = folder.canonicalize().map_err(|error| Failure::Read {
                name: folder.display().to_string(),
                error,
            })?;
            if !whole.is_dir() {
                return Err(usage(&format!(
                    "{}: a folder is wanted (`agentglot show` shows one log)",
                    folder.display()
                )));
            }
            Place::Folder(whole)
        }
        None => machine_s_place()?,
    };
    Ok(crate::view::View {
        place,
        port: typed.port,
        utc: typed.utc,
        prices: prices(None)?,
        keep: !typed.no_cache,
    })
}

#[cfg(all(unix, feature = "agent", feature = "view"))]
const fn machine_s_place() -> Result<crate::view::Place, Failure> {
    Ok(crate::view::Place::Machine)
}

/// Where sessions lie is known where there are agents.
#[cfg(all(not(all(unix, feature = "agent")), feature = "view"))]
fn machine_s_place() -> Result<crate::view::Place, Failure> {
    Err(usage(
        "name a FOLDER: this agentglot was built without agents and does not know where they keep sessions",
    ))
}

/// The sessions on this machine, where no log is named.
#[cfg(all(unix, feature = "agent"))]
fn machine(typed: &low::Logs) -> Option<Logs> {
    if !typed.files.is_empty() {
        return None;
    }
    let (kept, failed) = crate::homes::kept();
    let mut status = Status::Clean;
    for failure in failed {
        Console::plain().say(&failure.to_string());
        status.worsen(failure.status());
    }
    let inputs = kept.into_iter().map(crate::homes::Kept::input).collect();
    Some(Logs { inputs, status })
}

/// Where sessions lie is known where there are agents.
#[cfg(not(all(unix, feature = "agent")))]
const fn machine(_: &low::Logs) -> Option<Logs> {
    None
}

fn prices(own: Option<PathBuf>) -> Result<Prices, Failure> {
    let Some(path) = own else {
        return Prices::known(None).map_err(Failure::Usage);
    };
    let name = path.display().to_string();
    let text = std::fs::read_to_string(&path).map_err(|error| Failure::Read { name: name.clone(), error })?;
    Prices::known(Some((&name, &text))).map_err(Failure::Usage)
}

/// The log that is meant: a file, or what lies on this machine of the session with that id.
fn session(named: PathBuf) -> Result<Input, Failure> {
    let is_path = named.components().count() > 1 || named.exists();
    match named.to_str().filter(|_| !is_path) {
        #[cfg(all(unix, feature = "agent"))]
        Some(id) => crate::homes::input(id).map(|(input, _)| input),
        _ => Ok(Input::File(named)),
    }
}

fn usage(why: &str) -> Failure {
    Failure::Usage(why.to_owned())
}

/// What is to be read.
struct Logs {
    inputs: Vec<Input>,
    /// Whether all folders could be read.
    status: Status,
}

fn logs(typed: &low::Logs, output: Option<&Path>) -> Result<Logs, Failure> {
    let mut inputs = Vec::new();
    let mut status = Status::Clean;
    let walk = Walk::new(&typed.include, output)?;
    for path in &typed.files {
        if path.as_os_str() == "-" {
            inputs.push(Input::Stdin);
        } else if path.is_dir() {
            let found = walk.logs(path, |failure| {
                status.worsen(failure.status());
                Console::plain().say(&failure.to_string());
            });
            if found.is_empty() {
                status.worsen(Status::Usage);
                Console::plain().say(&format!(
                    "{}: no log is in this folder (--include GLOB says what logs are called)",
                    path.display()
                ));
            }
            inputs.extend(found);
        } else {
            inputs.push(Input::File(path.clone()));
        }
    }
    if typed.files.is_empty() {
        inputs.push(Input::Stdin);
    }
    match inputs.iter().filter(|input| **input == Input::Stdin).count() {
        0 => {}
        1 if std::io::stdin().is_terminal() => return Err(usage("standard input is a terminal; name a FILE or pipe a log in (--help tells more)")),
        1 => {}
        _ => return Err(usage("standard input can be read once only")),
    }
    Ok(Logs { inputs, status })
}

fn readable(from: Chosen) -> Option<Format> {
    match from {
        Chosen::Auto => None,
        Chosen::Named(format) => Some(format),
        // A table of events is read as the log that it was made of.
        Chosen::Columns(_) => Some(Dialect::CANONICAL.into()),
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
