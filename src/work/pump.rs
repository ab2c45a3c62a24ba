use std::sync::atomic::Ordering;

use agentglot_adapters::convert::Converter;
use agentglot_adapters::detect::{Answer, Detector};

use super::order::{End, Ticket};
use super::plan::{Log, Piece, Task, WORTH_CUTTING};
use crate::io::{self, Console, Pieces};
use crate::status::Failure;

/// Converts what a task reads. Whatever one read brings is offered for writing before the next read: a pipe may live.
pub(super) fn convert(task: Task, mut ticket: Ticket<'_>, buffer: &mut [u8], console: &Console) {
    let Task { log, piece, last, .. } = task;
    let mut end = End { last, ..End::default() };
    let (mut pieces, counted) = match piece {
        Piece::Whole(source) if source.file().is_some_and(|file| file.len() >= WORTH_CUTTING) => (Pieces::ahead(source.into_reader()), true),
        Piece::Whole(source) => (Pieces::on_demand(source.into_reader()), true),
        Piece::Part(range) => (Pieces::on_demand(range), false),
        Piece::Nothing(failure) => {
            end.failure = Some(failure);
            return ticket.finish(end);
        }
    };
    let mut converter = Converter::new(log.options.clone());
    let mut unseen = log.is_named;
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
                converter.feed(bytes, &mut ticket.made.out);
            }
            io::Piece::Text(text) => converter.feed_text(text, &mut ticket.made.out),
        }
        collect(&mut converter, &mut ticket);
        if !ticket.offer() {
            break;
        }
    }
    // What was not read to its end is not cut off.
    if !log.dead.load(Ordering::Relaxed) {
        converter.finish(&mut ticket.made.out);
        collect(&mut converter, &mut ticket);
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
        _ => None,
    }
}

fn collect(converter: &mut Converter, ticket: &mut Ticket<'_>) {
    ticket.made.damage.append(&mut converter.take_damage());
    ticket.made.followed.append(&mut converter.take_followed());
    ticket.made.entries.append(&mut converter.take_entries());
}
