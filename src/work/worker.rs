use std::sync::Arc;
use std::sync::atomic::Ordering;

use agentglot_adapters::convert::Converter;
use agentglot_adapters::detect::{Answer, Detector, wrapped};

use super::order::{End, InFile, Made, Mark, Ticket};
use super::plan::{Log, Piece, Task, WORTH_CUTTING};
use crate::io::{self, Console, Family, Pieces, Step};
use crate::status::Failure;

/// Converts what a task reads. Whatever one read brings is offered for writing before the next read: a pipe may live.
pub(super) fn convert(task: Task, mut ticket: Ticket, buffer: &mut [u8], console: &Console) {
    let Task { log, piece, last, .. } = task;
    let mut end = End { last, ..End::default() };
    let mut options = log.options.clone();
    let (mut pieces, counted) = match piece {
        Piece::Whole(source) if source.file().is_some_and(|file| file.len() >= WORTH_CUTTING) => (Pieces::ahead(source.into_reader()), true),
        Piece::Whole(source) => (Pieces::on_demand(source.into_reader()), true),
        Piece::Part(range) => {
            options.at = range.at();
            (Pieces::on_demand(range), false)
        }
        Piece::Nothing(failure) => {
            end.failure = Some(failure);
            return ticket.finish(end);
        }
    };
    let mut converter = Converter::new(options);
    // A place in what was drained could not be noted.
    if !log.has_marks {
        converter = converter.drained(ticket.drain());
    }
    let mut unseen = log.is_named;
    let mut family = Family::new(log.subagents.clone());
    // The files of subagents in which the reading is.
    let mut files: Vec<Arc<str>> = Vec::new();
    while !converter.stopped() && !log.dead.load(Ordering::Relaxed) {
        let read = match pieces.next(buffer) {
            Ok(io::Piece::Bytes([])) => break,
            Ok(read) => read,
            Err(error) => {
                end.failure = Some(Failure::Read {
                    name: log.name.clone(),
                    error,
                });
                break;
            }
        };
        let mut go_on = true;
        if std::mem::take(&mut unseen) {
            let bytes = match read {
                io::Piece::Bytes(bytes) => bytes,
                io::Piece::Text(text) => text.as_bytes(),
            };
            ticket.made.hint = looks_like_another(&log, bytes);
        }
        match read {
            io::Piece::Bytes(bytes) => {
                if !counted {
                    console.advance(bytes.len() as u64);
                }
                family.feed(bytes, &mut |step| {
                    go_on &= take(&log, step, &mut converter, &mut files, &mut ticket, &mut end)
                });
            }
            io::Piece::Text(text) if family.is_complete() && !log.has_marks => {
                converter.feed_text(text, &mut ticket.made.out);
            }
            io::Piece::Text(text) => family.feed(text.as_bytes(), &mut |step| {
                go_on &= take(&log, step, &mut converter, &mut files, &mut ticket, &mut end)
            }),
        }
        collect(&mut converter, &mut ticket, None);
        if !go_on || !ticket.offer() {
            break;
        }
    }
    // What was not read to its end is not cut off.
    if !log.dead.load(Ordering::Relaxed) {
        if !family.is_complete() {
            family.finish(&mut |step| {
                take(&log, step, &mut converter, &mut files, &mut ticket, &mut end);
            });
        }
        converter.finish(&mut ticket.made.out);
        mark(&log, &mut ticket.made, converter.line(), None);
        collect(&mut converter, &mut ticket, None);
    }
    let (given, used) = (log.options.prompts.len(), converter.prompts_used());
    if log.needs_all_prompts && used < given && end.failure.is_none() {
        let why = format!("{}: {given} prompts are given with --prompt, and {used} of its turns take one", log.name);
        end.failure = Some(Failure::Usage(why));
    }
    end.lines = converter.lines();
    end.silent = converter.silent();
    end.stopped = converter.stopped();
    tracing::debug!(
        log = log.name,
        lines = end.lines,
        damaged = converter.damaged(),
        lost = end.silent.lost,
        merged = end.silent.merged,
        "converted"
    );
    ticket.finish(end);
}

/// What is to be said of a log whose beginning is plainly of another dialect than the one that was named.
fn looks_like_another(log: &Log, beginning: &[u8]) -> Option<String> {
    let named = log.options.from;
    match Detector::new(false).look(beginning, false) {
        Answer::Found(found) if found.format.dialect != named.dialect => Some(format!(
            "{}: this looks like {} ({}), and --from says {named}",
            log.name, found.format, found.why
        )),
        Answer::Found(_) | Answer::Empty => None,
        Answer::More | Answer::Unclear(_) => {
            let wrapped = wrapped(named.dialect, beginning)?;
            Some(format!("{}: {wrapped}; as it is, nothing of it is read as {named}", log.name))
        }
    }
}

/// Does what comes next of a session and its subagents. Returns whether to go on.
fn take(log: &Log, step: Step<'_>, converter: &mut Converter, files: &mut Vec<Arc<str>>, ticket: &mut Ticket, end: &mut End) -> bool {
    match step {
        Step::Bytes(bytes) if log.has_marks => {
            for line in bytes.split_inclusive(|byte| *byte == b'\n') {
                converter.feed(line, &mut ticket.made.out);
                mark(log, &mut ticket.made, converter.line(), files.last());
            }
        }
        Step::Bytes(bytes) => converter.feed(bytes, &mut ticket.made.out),
        Step::Begin(subagent) => {
            converter.begin_subagent(&subagent.of);
            collect(converter, ticket, files.last());
            files.push(Arc::clone(&subagent.name));
        }
        Step::End => {
            let line = converter.line();
            converter.end_subagent(&mut ticket.made.out);
            mark(log, &mut ticket.made, line, files.last());
            collect(converter, ticket, files.last());
            files.pop();
        }
        Step::Failed(failure) => end.failure = Some(failure),
    }
    if files.is_empty() {
        return true;
    }
    collect(converter, ticket, files.last());
    ticket.offer()
}

/// Notes where what was written last comes from.
fn mark(log: &Log, made: &mut Made, line: u64, file: Option<&Arc<str>>) {
    let end = made.out.len();
    let before = made.marks.last().map_or(0, |mark| mark.what.end);
    if log.has_marks && end > before {
        let what = Mark { end, line };
        made.marks.push(InFile { file: file.cloned(), what });
    }
}

fn collect(converter: &mut Converter, ticket: &mut Ticket, file: Option<&Arc<str>>) {
    let made = &mut ticket.made;
    made.damage
        .extend(converter.take_damage().into_iter().map(|what| InFile { file: file.cloned(), what }));
    made.followed.append(&mut converter.take_followed());
    made.entries
        .extend(converter.take_entries().into_iter().map(|what| InFile { file: file.cloned(), what }));
}
