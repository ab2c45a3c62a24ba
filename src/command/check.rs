//! `agentglot check`.

use std::fmt::Write as _;
use std::io::{ErrorKind, Read, Write as _};

use agentglot_adapters::check::{Checker, Finding, Level, Rule, Settings, Summary};
use agentglot_adapters::detect::wrapped;
use agentglot_adapters::raw::codec::Format;
use serde::Serialize;

use crate::io::{Console, Input, READ, Source, Target, beside, one_line, other_side};
use crate::schema::Misfits;
use crate::status::{Failure, Status};

/// What is to be checked.
#[derive(Debug)]
pub struct Check {
    /// The logs.
    pub inputs: Vec<Input>,
    /// What they are written in; without it each is looked at.
    pub dialect: Option<Format>,
    /// Longer lines are called damaged.
    pub max_line: usize,
    /// What is less bad is not told.
    pub level: Level,
    /// One JSON object for each finding.
    pub json: bool,
    /// Nothing is told but by the exit code.
    pub quiet: bool,
    /// The files of subagents are checked behind that of their session.
    pub subagents: bool,
    /// What could not even be looked for is told already: how the run ends at best.
    pub status: Status,
}

/// Reads every log and writes what is wrong with it to stdout. Failures to read one do not keep the others from being read.
///
/// # Errors
/// When stdout cannot be written.
pub fn run(check: &Check) -> Result<Status, Failure> {
    run_to(check, Target::stdout(), &Console::plain())
}

/// The same with something else in place of stdout, and of stderr.
///
/// # Errors
/// When that cannot be written.
pub fn run_to(check: &Check, stdout: Target, console: &Console) -> Result<Status, Failure> {
    let mut page = Page {
        check,
        stdout,
        console: console.clone(),
        status: check.status,
        sum: Sum::default(),
    };
    for input in &check.inputs {
        let format = page.read(input, false)?;
        let children = format.filter(|_| check.subagents).map_or_else(Vec::new, |format| beside(input, format));
        for child in children {
            page.read(&child.input, true)?;
        }
    }
    if page.sum.logs + page.sum.unread > 1 && !check.quiet {
        page.console.say(&page.sum.to_string());
    }
    Ok(page.status)
}

/// Writes the rules: name, level, what breaks it.
///
/// # Errors
/// When stdout cannot be written.
pub fn rules(json: bool) -> Result<Status, Failure> {
    #[derive(Serialize)]
    struct Entry {
        rule: &'static str,
        level: &'static str,
        about: &'static str,
    }
    let mut text = String::new();
    for rule in Rule::ALL {
        let (name, level, about) = (rule.name(), rule.level().as_str(), rule.about());
        // Writing to a `String` cannot fail.
        let _ = match json {
            true => {
                let entry = Entry { rule: name, level, about };
                writeln!(text, "{}", serde_json::to_string(&entry).unwrap_or_default())
            }
            false => writeln!(text, "{name:<22} {level:<8} {about}"),
        };
    }
    write(&mut Target::stdout(), &text)?;
    Ok(Status::Clean)
}

struct Page<'c> {
    check: &'c Check,
    stdout: Target,
    console: Console,
    status: Status,
    sum: Sum,
}

/// What came of all logs.
#[derive(Debug, Default)]
struct Sum {
    logs: u64,
    faulty: u64,
    unread: u64,
    lines: u64,
    errors: u64,
    warnings: u64,
}

/// A finding, as a line of `--json`.
#[derive(Serialize)]
struct Line<'f> {
    file: &'f str,
    line: u64,
    byte: u64,
    pointer: &'f str,
    level: &'static str,
    rule: &'static str,
    message: &'f str,
    #[serde(skip_serializing_if = "is_one")]
    count: u64,
}

#[allow(clippy::trivially_copy_pass_by_ref)] // What serde asks for.
const fn is_one(count: &u64) -> bool {
    *count == 1
}

impl Page<'_> {
    /// Reads a log and tells what is wrong with it, or that it could not be read; only what cannot be written is a failure.
    fn read(&mut self, input: &Input, of_subagent: bool) -> Result<Option<Format>, Failure> {
        match self.log(input, of_subagent) {
            Err(failure) if !matches!(failure, Failure::Write { .. }) => {
                self.sum.unread += 1;
                self.status.worsen(failure.status());
                self.console.say(&failure.to_string());
                Ok(None)
            }
            read => read,
        }
    }

    fn log(&mut self, input: &Input, of_subagent: bool) -> Result<Option<Format>, Failure> {
        let mut source = Source::open(input, &self.console)?;
        let name = input.name();
        let (format, why) = match self.check.dialect {
            Some(format) => (format, "as named".to_owned()),
            None => match source.detect() {
                Ok(Some(found)) => (found.format, found.why),
                Ok(None) => {
                    self.sum.logs += 1;
                    self.about(&format!("{name}: empty\n"))?;
                    return Ok(None);
                }
                Err(Failure::Unclear { name, unclear }) => match other_side(input, &unclear.candidates) {
                    Some(told) => told,
                    None => return Err(Failure::Unclear { name, unclear }),
                },
                Err(failure) => return Err(failure),
            },
        };
        self.about(&format!("{name}: {format} ({why})\n"))?;
        if self.check.dialect.is_some()
            && let Some(wrapped) = wrapped(format.dialect, source.head())
        {
            self.console
                .say(&format!("{name}: {wrapped}; as it is, nothing of it is read as {format}"));
        }
        let mut settings = Settings::default();
        settings.max_line = Some(self.check.max_line);
        settings.follow = self.check.dialect.is_none();
        settings.of_subagent = of_subagent;
        settings.schemas = Some(Box::new(Misfits::default()));
        let mut checker = Checker::with(format, settings);
        let mut reader = source.into_reader();
        let mut buffer = vec![0; READ];
        let mut unread = None;
        loop {
            match reader.read(&mut buffer) {
                Ok(0) => break,
                Ok(read) => checker.feed(&buffer[..read]),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => {
                    unread = Some(Failure::Read { name: name.clone(), error });
                    break;
                }
            }
            let findings = checker.take_findings();
            self.findings(&name, &findings)?;
        }
        let (findings, summary) = checker.finish();
        self.findings(&name, &findings)?;
        self.about(&tell(&name, &summary))?;
        self.sum.add(&summary);
        unread.map_or(Ok(Some(format)), Err)
    }

    fn findings(&mut self, name: &str, findings: &[Finding]) -> Result<(), Failure> {
        if findings.iter().any(|finding| finding.level == Level::Error) {
            self.status.worsen(Status::Damaged);
        }
        if self.check.quiet {
            return Ok(());
        }
        let mut text = String::new();
        for finding in findings.iter().filter(|finding| finding.level >= self.check.level) {
            if self.check.json {
                let line = Line {
                    file: name,
                    line: finding.line,
                    byte: finding.byte,
                    pointer: finding.pointer.as_deref().unwrap_or_default(),
                    level: finding.level.as_str(),
                    rule: finding.rule.name(),
                    message: &finding.message,
                    count: finding.count,
                };
                text.push_str(&serde_json::to_string(&line).unwrap_or_default());
                text.push('\n');
            } else {
                tell_finding(&mut text, name, finding);
            }
        }
        if text.is_empty() {
            return Ok(());
        }
        write(&mut self.stdout, &text)
    }

    /// What is said about a log: between the findings where people read them, beside them where programs do.
    fn about(&mut self, text: &str) -> Result<(), Failure> {
        if self.check.quiet {
            return Ok(());
        }
        if self.check.json {
            self.console.say(text.trim_end());
            return Ok(());
        }
        write(&mut self.stdout, &(one_line(text.trim_end()) + "\n"))
    }
}

fn write(stdout: &mut Target, text: &str) -> Result<(), Failure> {
    stdout.write_all(text.as_bytes()).map_err(|error| Failure::Write {
        name: stdout.name().to_owned(),
        error,
    })
}

fn tell_finding(text: &mut String, name: &str, finding: &Finding) {
    let Finding {
        rule,
        level,
        line,
        byte,
        message,
        count,
        ..
    } = finding;
    let pointer = finding.pointer.as_deref().filter(|pointer| !pointer.is_empty());
    let told = match (pointer, rule) {
        // These name the place themselves, and stand for many.
        (_, Rule::Schema | Rule::UnknownType | Rule::UnknownField | Rule::Noise) => {
            format!("{name}:{line}: {message} ({count} in all)")
        }
        (Some(pointer), _) => format!("{name}:{line}:{byte}: {pointer}: {message}"),
        (None, Rule::DamagedLine) => format!("{name}:{line}:{byte}: {message}"),
        (None, _) => format!("{name}:{line}: {message}"),
    };
    // Writing to a `String` cannot fail.
    let _ = writeln!(text, "{} [{level} {rule}]", one_line(&told));
}

fn tell(name: &str, summary: &Summary) -> String {
    let mut text = format!(
        "{name}: {}, {}, {}",
        count(summary.lines, "line"),
        count(summary.outcomes, "outcome"),
        count(summary.errors, "fault")
    );
    if summary.warnings > 0 {
        let _ = write!(text, ", {}", count(summary.warnings, "warning"));
    }
    if let Some(noise) = summary.noise {
        let _ = write!(
            text,
            ", {} that {} no JSON (first: line {})",
            count(noise.count, "line"),
            if noise.count == 1 { "is" } else { "are" },
            noise.first
        );
    }
    text.push('\n');
    text
}

impl Sum {
    fn add(&mut self, summary: &Summary) {
        self.logs += 1;
        self.faulty += u64::from(summary.errors > 0);
        self.lines += summary.lines;
        self.errors += summary.errors;
        self.warnings += summary.warnings;
    }
}

impl std::fmt::Display for Sum {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (logs, lines) = (count(self.logs, "log"), count(self.lines, "line"));
        let (errors, warnings) = (count(self.errors, "fault"), count(self.warnings, "warning"));
        write!(f, "{logs}, {lines}: {errors} in {}, {warnings}", count(self.faulty, "log"))?;
        match self.unread {
            0 => Ok(()),
            unread => write!(f, ", {} not read", count(unread, "log")),
        }
    }
}

fn count(n: u64, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}
