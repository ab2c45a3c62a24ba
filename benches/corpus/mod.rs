//! Deterministic agent logs of any size, for the benches: one conversation made from a seed, told in each dialect.
//!
//! The same [`Corpus`] and [`Plan`] always give the same bytes. Sizes are met within 2 % from half a megabyte a
//! session upwards. Every line is valid JSON in valid UTF-8. Beside them stand the recordings of the real programs, repeated.

mod claude;
mod claude_tools;
mod conversation;
mod cursor;
mod json;
mod order;
mod qwen;
mod qwen_code;
mod qwen_tools;
mod recordings;
mod rng;
#[cfg(test)]
mod tests;
mod tricode;
mod words;

use std::io::{self, Write};

use conversation::{Session, Turn};
use order::KeyOrder;
use rng::Rng;

/// A kind of log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Corpus {
    /// Claude Code with partial messages, keys as recorded.
    ClaudePartial,
    /// The same with sorted keys.
    ClaudePartialSorted,
    /// The same with the keys of each object of each line in a random order.
    ClaudePartialShuffled,
    /// Claude Code without partial messages.
    ClaudeMessages,
    /// One line that is as long as the size says, between an init and a result.
    ClaudeLongLine,
    /// Qwen Code with partial messages.
    QwenCodePartial,
    /// Qwen Code without.
    QwenCodeMessages,
    /// The RFC's `stream-chunk-json`.
    QwenChunks,
    /// The RFC's `stream-json`.
    QwenMessages,
    /// Tricode lines.
    Tricode,
    /// Cursor with `--stream-partial-output`.
    CursorPartial,
    /// Cursor without.
    CursorMessages,
    /// What a real program wrote, with ids of its own in each round: a format of [`RECORDED`].
    Recordings(&'static str),
}

/// The formats of which recordings in lines are repeated, as `--from` names them.
const RECORDED: [&str; 12] = [
    "claude",
    "qwen-code",
    "tricode",
    "claude:transcript",
    "qwen-code:chat",
    "codex",
    "codex:app-server",
    "codex:rollout",
    "gemini",
    "gemini:chat",
    "opencode",
    "acp",
];

impl Corpus {
    const MADE_UP: [Self; 12] = [
        Self::ClaudePartial,
        Self::ClaudePartialSorted,
        Self::ClaudePartialShuffled,
        Self::ClaudeMessages,
        Self::ClaudeLongLine,
        Self::QwenCodePartial,
        Self::QwenCodeMessages,
        Self::QwenChunks,
        Self::QwenMessages,
        Self::Tricode,
        Self::CursorPartial,
        Self::CursorMessages,
    ];

    pub(crate) fn all() -> impl Iterator<Item = Self> {
        Self::MADE_UP.into_iter().chain(RECORDED.into_iter().map(Self::Recordings))
    }

    /// What the command line calls it.
    pub(crate) fn name(self) -> String {
        let name = match self {
            Self::Recordings(format) => return format!("recordings:{format}"),
            Self::ClaudePartial => "claude-partial",
            Self::ClaudePartialSorted => "claude-partial-sorted",
            Self::ClaudePartialShuffled => "claude-partial-shuffled",
            Self::ClaudeMessages => "claude-messages",
            Self::ClaudeLongLine => "claude-long-line",
            Self::QwenCodePartial => "qwen-code-partial",
            Self::QwenCodeMessages => "qwen-code-messages",
            Self::QwenChunks => "qwen-chunks",
            Self::QwenMessages => "qwen-messages",
            Self::Tricode => "tricode",
            Self::CursorPartial => "cursor-partial",
            Self::CursorMessages => "cursor-messages",
        };
        name.to_owned()
    }

    /// The inverse of [`Corpus::name`].
    pub(crate) fn from_name(name: &str) -> Option<Self> {
        Self::all().find(|corpus| corpus.name() == name)
    }

    /// Writes the log.
    pub(crate) fn write(self, plan: Plan, out: &mut impl Write) -> io::Result<()> {
        let seed = plan.seed;
        let (mut dialect, order): (Box<dyn Dialect>, _) = match self {
            Self::ClaudeLongLine => return claude::one_long_line(seed, plan.bytes, out),
            Self::Recordings(format) => return recordings::write(format, plan, out),
            Self::ClaudePartial => (Box::new(claude::Claude::new(seed, true)), KeyOrder::Recorded),
            Self::ClaudePartialSorted => (Box::new(claude::Claude::new(seed, true)), KeyOrder::OtherConstant),
            Self::ClaudePartialShuffled => (Box::new(claude::Claude::new(seed, true)), KeyOrder::ShuffledEachLine),
            Self::ClaudeMessages => (Box::new(claude::Claude::new(seed, false)), KeyOrder::Recorded),
            Self::QwenCodePartial => (Box::new(qwen_code::QwenCode::new(seed, true)), KeyOrder::Recorded),
            Self::QwenCodeMessages => (Box::new(qwen_code::QwenCode::new(seed, false)), KeyOrder::Recorded),
            Self::QwenChunks => (Box::new(qwen::Chunks::new(seed)), KeyOrder::Recorded),
            Self::QwenMessages => (Box::new(qwen::Messages), KeyOrder::Recorded),
            Self::Tricode => (Box::new(tricode::Tricode), KeyOrder::Recorded),
            Self::CursorPartial => (Box::new(cursor::Cursor::new(seed, true)), KeyOrder::Recorded),
            Self::CursorMessages => (Box::new(cursor::Cursor::new(seed, false)), KeyOrder::Recorded),
        };
        tell(plan, dialect.as_mut(), order, out)
    }
}

/// What to write.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    pub seed: u64,
    /// The wanted size.
    pub bytes: u64,
    /// How many sessions follow each other; each has as many turns as fit.
    pub sessions: u64,
}

impl Plan {
    /// About one session a megabyte.
    pub(crate) fn of_size(bytes: u64) -> Self {
        Self {
            seed: 1,
            bytes,
            sessions: (bytes / 1_000_000).max(1),
        }
    }
}

/// A way to tell turns.
trait Dialect {
    /// Appends the lines of one turn. Turn 0 opens its session.
    fn turn(&mut self, session: &Session, turn: &Turn, out: &mut Vec<u8>);
}

/// Session after session, each with turns until its share of the bytes is used up; the last turns of a session are
/// shortened so that the size comes out right.
fn tell(plan: Plan, dialect: &mut dyn Dialect, order: KeyOrder, out: &mut impl Write) -> io::Result<()> {
    let mut shuffle = Rng::at(&[plan.seed, 0x5807]);
    let (mut written, mut rounds) = (0, 0);
    // How long a shortened turn is, before one was seen.
    let mut short = 3000;
    let (mut told, mut lines) = (Vec::new(), Vec::new());
    for number in 0..plan.sessions {
        let end = (u128::from(plan.bytes) * u128::from(number + 1) / u128::from(plan.sessions)) as u64;
        let session = Session::new(plan.seed, number);
        for turn_number in 0.. {
            let left = end.saturating_sub(written);
            // Some rounds are longer than most.
            let fitting = if rounds == 0 {
                usize::MAX
            } else {
                (left * rounds / written * 2 / 3) as usize
            };
            if turn_number > 0 && fitting <= 1 && left < short / 2 {
                break;
            }
            let turn = conversation::turn(plan.seed, number, &session, turn_number, fitting);
            told.clear();
            lines.clear();
            dialect.turn(&session, &turn, &mut told);
            order::reorder(&told, order, &mut shuffle, &mut lines);
            out.write_all(&lines)?;
            written += lines.len() as u64;
            rounds += turn.rounds.len() as u64;
            if fitting <= 1 {
                short = lines.len() as u64;
            }
        }
    }
    Ok(())
}
