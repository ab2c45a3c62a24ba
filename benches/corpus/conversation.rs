//! What happens in a corpus, before any dialect spells it: sessions of turns, turns of rounds, tool calls with their
//! results. Turn `t` of session `s` depends on the seed, `s`, `t` and the number of rounds alone, so that every dialect
//! tells the same story.

use super::rng::Rng;
use super::words;

/// Times begin here: 2026-11-21 06:00:00 UTC, in milliseconds since 1970.
const EPOCH_MS: u64 = 1_795_240_800_000;

/// One conversation with one id.
pub(super) struct Session {
    pub id: String,
    pub cwd: String,
    pub model: &'static str,
    /// What the dialects that know one turn a run call the run.
    pub short_id: String,
    start_ms: u64,
}

impl Session {
    pub(super) fn new(seed: u64, number: u64) -> Self {
        let mut rng = Rng::at(&[seed, number]);
        let id = rng.uuid();
        Self {
            short_id: id[..8].to_owned(),
            cwd: format!("/home/dev/{}", words::name(&mut rng)),
            model: "claude-opus-5-5",
            start_ms: EPOCH_MS + number * 3_600_000,
            id,
        }
    }
}

/// One prompt up to its outcome.
pub(super) struct Turn {
    /// Counted from 0 in its session.
    pub number: u64,
    pub prompt: String,
    /// The last round has no calls; all others have at least one.
    pub rounds: Vec<Round>,
    pub request_id: String,
    pub start_ms: u64,
    pub duration_ms: u64,
}

impl Turn {
    /// The text of the last reply.
    pub(super) fn answer(&self) -> &str {
        self.rounds.last().map_or("", |round| &round.text)
    }

    /// The sum over the rounds.
    pub(super) fn usage(&self) -> Usage {
        self.rounds.iter().fold(Usage::default(), |sum, round| sum + round.usage)
    }

    pub(super) fn calls(&self) -> impl Iterator<Item = &Call> {
        self.rounds.iter().flat_map(|round| &round.calls)
    }
}

/// One model call and the tools that it starts. Its reply is the thinking, then the text, then the calls; empty = absent.
pub(super) struct Round {
    pub message_id: String,
    pub thinking: String,
    pub signature: String,
    pub text: String,
    pub calls: Vec<Call>,
    /// The places of `calls` in the order in which their results come.
    pub finished: Vec<usize>,
    pub usage: Usage,
    pub start_ms: u64,
    pub ttft_ms: u64,
}

/// Token counts as Anthropic's API counts them: `input` is without the two cache figures, `output` with the thinking.
#[derive(Clone, Copy, Default)]
pub(super) struct Usage {
    pub input: u64,
    pub cache_write: u64,
    pub cache_read: u64,
    pub output: u64,
    pub thinking: u64,
}

impl Usage {
    /// All that the model read.
    pub(super) fn prompt(&self) -> u64 {
        self.input + self.cache_write + self.cache_read
    }
}

impl std::ops::Add for Usage {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            input: self.input + other.input,
            cache_write: self.cache_write + other.cache_write,
            cache_read: self.cache_read + other.cache_read,
            output: self.output + other.output,
            thinking: self.thinking + other.thinking,
        }
    }
}

/// A tool call that was answered.
pub(super) struct Call {
    /// Letters and digits; dialects put their own prefix before it.
    pub id: String,
    pub action: Action,
}

/// What a tool did. Paths are relative to the session's directory; lists of lines hold no newlines.
pub(super) enum Action {
    /// Lines of a file, beginning with line `first`; a file ends in a newline.
    Read {
        path: String,
        first: u64,
        lines: Vec<String>,
        total: u64,
    },
    /// A command; `exit` other than 0 is a failure.
    Shell {
        command: String,
        description: String,
        output: String,
        exit: u64,
    },
    /// A search that found (path, line number, line).
    Search {
        pattern: String,
        path: String,
        hits: Vec<(String, u64, String)>,
    },
    /// `old` lines replaced by `new` ones between `before` and `after`, which together are the whole file.
    Edit {
        path: String,
        before: Vec<String>,
        old: Vec<String>,
        new: Vec<String>,
        after: Vec<String>,
    },
    /// A new file.
    Create { path: String, content: String },
    /// The task list, after the first `done` tasks were completed; `done` 0 makes the list.
    Plan { tasks: Vec<String>, done: usize },
}

impl Action {
    pub(super) fn failed(&self) -> bool {
        matches!(self, Self::Shell { exit, .. } if *exit != 0)
    }
}

/// The lines of an edit with their sign, as a unified diff shows them.
pub(super) fn hunk<'a>(before: &'a [String], old: &'a [String], new: &'a [String], after: &'a [String]) -> impl Iterator<Item = String> + 'a {
    let signed = |sign: &'static str, lines: &'a [String]| lines.iter().map(move |line| format!("{sign}{line}"));
    signed(" ", before)
        .chain(signed("-", old))
        .chain(signed("+", new))
        .chain(signed(" ", after))
}

/// Lines as the text of a file: each with its newline.
pub(super) fn file_text(parts: &[&[String]]) -> String {
    parts
        .iter()
        .flat_map(|lines| lines.iter())
        .flat_map(|line| [line.as_str(), "\n"])
        .collect()
}

/// Writes turn `number` of session `session_number`, with at most `most_rounds` rounds; 1 makes a short turn without tools.
pub(super) fn turn(seed: u64, session_number: u64, session: &Session, number: u64, most_rounds: usize) -> Turn {
    let mut rng = Rng::at(&[seed, session_number, number + 1]);
    let mut prompt = String::new();
    let sentences = rng.between(1, 4);
    words::prose(&mut rng, sentences, &mut prompt);
    let start_ms = session.start_ms + number * 240_000;
    let natural = rng.between(2, 7);
    let mut turn = Turn {
        number,
        prompt,
        rounds: Vec::new(),
        request_id: rng.uuid(),
        start_ms,
        duration_ms: 0,
    };
    let tasks: Vec<String> = (0..rng.between(2, 5)).map(|_| words::phrase(&mut rng, 4)).collect();
    let mut plan = rng.one_in(3).then_some(Plan { tasks, done: 0 });
    let count = natural.min(most_rounds.max(1));
    let mut now = start_ms + 40;
    let mut context = 2000 + number * 900;
    for index in 0..count {
        let last = index + 1 == count;
        let mut round = reply(&mut rng, now, if most_rounds <= 1 { Length::Short } else { Length::Usual });
        if !last {
            round.calls = calls(&mut rng, &mut plan);
            round.finished = (0..round.calls.len()).collect();
            if rng.one_in(2) {
                rng.shuffle(&mut round.finished);
            }
        }
        round.usage = usage(&mut rng, &round, context);
        context += round.usage.output + 400;
        now += 2500 + round.usage.output * 11;
        turn.rounds.push(round);
    }
    turn.duration_ms = now - start_ms;
    turn
}

struct Plan {
    tasks: Vec<String>,
    done: usize,
}

#[derive(PartialEq)]
enum Length {
    Short,
    Usual,
}

fn reply(rng: &mut Rng, start_ms: u64, length: Length) -> Round {
    let mut round = Round {
        message_id: format!("msg_01{}", rng.ident(22)),
        thinking: String::new(),
        signature: String::new(),
        text: String::new(),
        calls: Vec::new(),
        finished: Vec::new(),
        usage: Usage::default(),
        start_ms,
        ttft_ms: rng.between(300, 2400) as u64,
    };
    let usual = length == Length::Usual;
    if usual && !rng.one_in(3) {
        let sentences = rng.between(2, 9);
        words::prose(rng, sentences, &mut round.thinking);
        let size = rng.between(50, 150) * 4;
        round.signature = rng.token(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/", size);
    }
    let sentences = if usual { rng.between(1, 6) } else { 2 };
    words::prose(rng, sentences, &mut round.text);
    if usual && rng.one_in(5) {
        round.text.push_str("\n\n```\n");
        let lines = rng.between(3, 14);
        words::code(rng, lines, &mut round.text);
        round.text.push_str("```");
    }
    round
}

fn calls(rng: &mut Rng, plan: &mut Option<Plan>) -> Vec<Call> {
    let mut calls = Vec::new();
    if let Some(plan) = plan.as_mut().filter(|plan| plan.done <= plan.tasks.len()) {
        calls.push(Action::Plan {
            tasks: plan.tasks.clone(),
            done: plan.done,
        });
        plan.done += 1;
    }
    let more = if rng.one_in(4) { rng.between(2, 3) } else { 1 };
    calls.extend((0..more).map(|_| action(rng)));
    calls.into_iter().map(|action| Call { id: rng.ident(22), action }).collect()
}

fn action(rng: &mut Rng) -> Action {
    match rng.below(10) {
        0..4 => {
            let whole = rng.one_in(2);
            let first = if whole { 1 } else { rng.between(1, 300) as u64 };
            let lines = code_lines(rng, 5, 40);
            let rest = if whole { 0 } else { rng.below(200) as u64 };
            Action::Read {
                path: words::path(rng),
                first,
                total: first - 1 + lines.len() as u64 + rest,
                lines,
            }
        }
        4..7 => {
            let mut output = String::new();
            let lines = rng.between(1, 30);
            words::output(rng, lines, &mut output);
            let exit = if rng.one_in(8) { 1 + rng.below(3) as u64 } else { 0 };
            Action::Shell {
                command: words::command(rng),
                description: words::phrase(rng, 5),
                output,
                exit,
            }
        }
        7 => {
            let hits = (0..rng.between(1, 12)).map(|_| {
                let mut line = String::new();
                words::code_line(rng, &mut line);
                (words::path(rng), 1 + rng.below(600) as u64, line)
            });
            let hits = hits.collect();
            Action::Search {
                pattern: format!("{}\\(", words::name(rng)),
                path: "src".to_owned(),
                hits,
            }
        }
        8 => Action::Edit {
            path: words::path(rng),
            before: code_lines(rng, 0, 3),
            old: code_lines(rng, 1, 4),
            new: code_lines(rng, 1, 5),
            after: code_lines(rng, 0, 3),
        },
        _ => {
            let mut content = String::new();
            let lines = rng.between(3, 30);
            words::code(rng, lines, &mut content);
            Action::Create {
                path: words::path(rng),
                content,
            }
        }
    }
}

fn code_lines(rng: &mut Rng, low: usize, high: usize) -> Vec<String> {
    let count = rng.between(low, high);
    let line = |_| {
        let mut line = String::new();
        words::code_line(rng, &mut line);
        line
    };
    (0..count).map(line).collect()
}

fn usage(rng: &mut Rng, round: &Round, context: u64) -> Usage {
    let thinking = round.thinking.len() as u64 / 4;
    Usage {
        input: 3 + rng.below(40) as u64,
        cache_write: 200 + rng.below(1500) as u64,
        cache_read: context,
        output: thinking + round.text.len() as u64 / 4 + 60 * round.calls.len() as u64 + 1,
        thinking,
    }
}
