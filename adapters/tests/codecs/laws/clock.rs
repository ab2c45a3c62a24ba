//! What is written while somebody reads is of a time that is known: where no event says when it happened, it happens now.

use agentglot_adapters::raw::codec::{Dialect, Format};
use agentglot_adapters::raw::event::{Block, Content, Event, Kind, Origin, Outcome, OutcomeKind, Prompt, PromptSource, Reply, Session};
use agentglot_adapters::raw::json::Str;
use agentglot_adapters::raw::live::{Manner, Speaker};

use crate::common::{Wrongs, streaming};

/// The 28th of November 2026.
const NOW: i64 = 1_795_849_200_000;

/// A turn that is broken off, of which nothing says when it was.
fn said(from: Dialect, to: Format) -> String {
    let mut speaker = Speaker::new(Manner {
        agent: from == Dialect::CANONICAL,
        ..Manner::new(from, to)
    });
    speaker.now(NOW);
    let session = Session {
        opens_turn: true,
        ..Session::default()
    };
    let prompt = Prompt {
        content: Content::Text(Str::trusted("go")),
        source: PromptSource::Host,
    };
    let reply = [Block::Text {
        text: Str::trusted("well"),
        fields: &[],
    }];
    let reply = Reply {
        blocks: &reply,
        ..Reply::default()
    };
    let outcome = Outcome::new(OutcomeKind::Cancelled);
    let mut out = Vec::new();
    for kind in [
        Kind::Session(&session),
        Kind::Prompt(&prompt),
        Kind::Reply(&reply),
        Kind::Outcome(&outcome),
    ] {
        let origin = Origin {
            session: Some(Str::trusted("0c7c7c46-6c1c-4f0b-a0ab-0d6f1a0c1d5e")),
            ..Origin::default()
        };
        speaker.event(&Event::new(origin, kind), &mut out);
    }
    speaker.finish(&mut out);
    String::from_utf8(out).expect("what is written is UTF-8")
}

#[test]
fn no_line_of_a_live_session_is_of_1970() {
    let mut wrongs = Wrongs::default();
    for to in streaming() {
        for from in [Dialect::CANONICAL, Dialect::Claude, to.dialect] {
            let out = said(from, to);
            wrongs.check();
            let none = |name: &str| out.contains(&format!("\"{name}\":0")) || out.contains(&format!("\"{name}\":\"\""));
            if out.contains("1970-01-01") || ["timestamp", "timestamp_ms", "created"].into_iter().any(none) {
                wrongs.add(format!("no time {from:?} -> {to}"), out);
            }
        }
    }
    wrongs.finish("the clock");
}
