use std::sync::atomic::Ordering;

use agentglot_adapters::convert::Converter;

use super::order::{End, Ticket};
use super::plan::{Piece, Task, WORTH_CUTTING};
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
    converter.finish(&mut ticket.made.out);
    collect(&mut converter, &mut ticket);
    end.lines = converter.lines();
    end.dropped = converter.dropped();
    end.stopped = converter.stopped();
    tracing::debug!(
        log = log.name,
        lines = end.lines,
        damaged = converter.damaged(),
        dropped = end.dropped,
        "converted"
    );
    ticket.finish(end);
}

fn collect(converter: &mut Converter, ticket: &mut Ticket<'_>) {
    ticket.made.damage.append(&mut converter.take_damage());
    ticket.made.entries.append(&mut converter.take_entries());
}
