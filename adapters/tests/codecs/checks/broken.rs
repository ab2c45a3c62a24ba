//! A log that is made to break one rule breaks that rule, there, and no other.

use agentglot_adapters::Dialect;
use agentglot_adapters::check::{Level, Rule};
use agentglot_adapters::raw::vendor::Ends;

use super::found;
use super::lines::{Line, Said, lines};
use crate::common::{Log, events, goldens, parallel, quick};

/// A log that breaks a rule.
pub struct Broken {
    pub rule: Rule,
    /// Rules that say the same where calls have no ids, or turns no beginning.
    pub or: &'static [Rule],
    /// The line at which it is to be found, counted from 1; any of these.
    at: Vec<usize>,
    /// What follows from it.
    besides: &'static [Rule],
    pub lines: Vec<String>,
}

/// What copies of lines break in any case.
const COPIED: &[Rule] = &[Rule::DuplicateUuid];

/// What a log of these lines says.
fn read(log: &Log, lines: &[String]) -> Vec<Line> {
    let log = Log {
        bytes: (lines.join("\n") + "\n").into_bytes(),
        ..log.clone()
    };
    super::lines::lines(&log)
}

/// What the line at `at` says in a log of these lines.
fn said(log: &Log, lines: &[String], at: usize) -> Vec<Said> {
    read(log, lines).swap_remove(at).said
}

fn texts(lines: &[Line]) -> Vec<String> {
    lines.iter().map(|line| line.text.clone()).collect()
}

fn without(lines: &[Line], at: usize) -> Vec<String> {
    let mut texts = texts(lines);
    texts.remove(at);
    texts
}

fn doubled(lines: &[Line], at: usize) -> Vec<String> {
    let mut texts = texts(lines);
    texts.insert(at + 1, texts[at].clone());
    texts
}

fn changed(lines: &[Line], at: usize, new: String) -> Vec<String> {
    let mut texts = texts(lines);
    texts[at] = new;
    texts
}

/// Whether a line is an object of its own: what is folded or glued to a text is left alone.
fn is_plain(line: &Line) -> bool {
    line.text.starts_with('{')
}

/// Every way to break one rule of this log.
pub fn broken(log: &Log, lines: &[Line], framed: bool) -> Vec<Broken> {
    let told_by = match &log.name {
        name if name.starts_with("acp/") => Dialect::Acp,
        name if name.starts_with("opencode/bus") => Dialect::Opencode,
        _ => log.format.dialect,
    };
    let mut all = Vec::new();
    calls(log, lines, &mut all);
    // How a turn ended that is kept on disk is no line that could be missing.
    if !log.format.is_store() {
        turns(log, lines, &mut all);
    }
    if framed {
        pieces(lines, &mut all);
    }
    members(log, lines, &mut all);
    all.retain(|broken| match told_by {
        // Behind an error another one is a notice there, and what was open ends when the server has been idle once; who listens late hears nothing
        // of how a session began.
        Dialect::Opencode => match broken.rule {
            Rule::SecondOutcome | Rule::MissingInit => false,
            Rule::LineAfterOutcome => !broken.lines.iter().any(|line| line.contains("\"session.error\"")),
            _ => true,
        },
        // Where no step says it, a round begins with what is said.
        Dialect::AgUi => broken.rule != Rule::MessageNotStarted,
        // Each update may come again, and a session that is loaded says what was said before, without its ends.
        Dialect::Acp => !matches!(
            broken.rule,
            Rule::SecondResult | Rule::ResultBeforeCall | Rule::SecondOutcome | Rule::MissingOutcome | Rule::MissingInit | Rule::LineAfterOutcome
        ),
        _ => true,
    });
    all
}

/// It is all that the line says, but for the call that it says it of.
fn sole(line: &Line) -> bool {
    line.said.iter().filter(|said| !matches!(said, Said::CallStart(_))).count() == 1
}

/// Whether the log's own lines say where replies and blocks begin and stop: those have one event each. Elsewhere the decoder works it out.
fn is_framed(lines: &[Line]) -> bool {
    let says = |what: &dyn Fn(&Said) -> bool| lines.iter().any(|line| sole(line) && line.says(what));
    says(&|said| *said == Said::RoundStart) && says(&|said| matches!(said, Said::BlockStop(_)))
}

fn calls(log: &Log, lines: &[Line], all: &mut Vec<Broken>) {
    // Where calls have no ids, only their order says what belongs together.
    let has_ids = log.format.dialect != Dialect::Tricode;
    // What people are shown of a result a file may say again, as the model is told it.
    let said_again = |line: &Line| log.format.is_store() && line.text.contains("\"item_completed\"");
    for (n, line) in lines.iter().enumerate().filter(|(_, line)| is_plain(line) && !said_again(line)) {
        let results: Vec<&String> = line
            .said
            .iter()
            .filter_map(|said| if let Said::Result(id) = said { Some(id) } else { None })
            .collect();
        if let [id] = results[..] {
            let told = |said: &Said| matches!(said, Said::Call(of) | Said::CallStart(of) if of == id);
            let first = lines.iter().position(|line| line.says(told));
            let again = lines.iter().filter(|line| line.says(|said| said == &Said::Result(id.clone()))).count() > 1;
            let Some(first) = first.filter(|first| *first < n && !again) else {
                continue;
            };
            if !has_ids {
                let or: &[Rule] = &[
                    Rule::ResultWithoutCall,
                    Rule::ResultBeforeCall,
                    Rule::SecondResult,
                    Rule::CallWithoutResult,
                ];
                let any: Vec<usize> = (1..=lines.len() + 1).collect();
                for mutated in [without(lines, n), doubled(lines, n), without(lines, first)] {
                    all.push(Broken {
                        rule: Rule::ResultWithoutCall,
                        or,
                        at: any.clone(),
                        besides: or,
                        lines: mutated,
                    });
                }
                continue;
            }
            let ends_well = lines[n..].iter().find_map(|line| {
                line.said
                    .iter()
                    .find_map(|said| if let Said::Outcome { well } = said { Some(*well) } else { None })
            });
            // Whose results are needed for nothing else.
            if ends_well == Some(true) && lines[first].main && line.said.len() == 1 {
                all.push(Broken {
                    or: &[],
                    rule: Rule::CallWithoutResult,
                    at: vec![first + 1],
                    besides: &[],
                    lines: without(lines, n),
                });
            }
            let without_first: Vec<String> = lines.iter().filter(|line| !line.says(told)).map(|line| line.text.clone()).collect();
            let at = n + 1 - (lines.len() - without_first.len());
            // Some results say their call again: it is made there, if not before.
            let retold = said(log, &without_first, at - 1).iter().any(told);
            let result = |said: &Said| *said == Said::Result(id.clone());
            let twice = doubled(lines, n);
            // Where a call is told again as it goes on, its line twice is no second result.
            if said(log, &twice, n + 1).iter().any(result) {
                all.push(Broken {
                    or: if retold { &[Rule::DuplicateCallId] } else { &[] },
                    rule: Rule::SecondResult,
                    at: vec![n + 2],
                    besides: if retold { &[Rule::DuplicateUuid, Rule::DuplicateCallId] } else { COPIED },
                    lines: twice,
                });
            }
            if retold {
                continue;
            }
            if line.said.len() == 1 {
                let mut moved = without(lines, n);
                moved.insert(first, line.text.clone());
                if !said(log, &moved, first).iter().any(told) {
                    all.push(Broken {
                        or: &[],
                        rule: Rule::ResultBeforeCall,
                        at: vec![first + 1],
                        besides: &[],
                        lines: moved,
                    });
                }
            }
            if lines
                .iter()
                .filter(|line| line.says(told))
                .all(|line| line.said.len() == 2 && is_plain(line) && line.says(|said| *said == Said::Call(id.clone())))
                && !lines
                    .iter()
                    .any(|line| line.parent.as_ref().is_some_and(|range| line.text[range.clone()] == **id))
            {
                all.push(Broken {
                    or: &[],
                    rule: Rule::ResultWithoutCall,
                    at: vec![at],
                    besides: &[],
                    lines: without_first,
                });
            }
        }
        let calls = |said: &[Said]| said.iter().any(|said| matches!(said, Said::Call(_)));
        // Where a call is told again as it goes on, its line twice is no second call.
        if has_ids && calls(&line.said) && line.said.len() == 2 && calls(&said(log, &doubled(lines, n), n + 1)) {
            all.push(Broken {
                or: &[],
                rule: Rule::DuplicateCallId,
                at: vec![n + 2],
                besides: COPIED,
                lines: doubled(lines, n),
            });
        }
    }
}

fn turns(log: &Log, lines: &[Line], all: &mut Vec<Broken>) {
    let is_outcome = |line: &Line| line.says(|said| matches!(said, Said::Outcome { .. }));
    let outcomes: Vec<usize> = (0..lines.len()).filter(|n| is_outcome(&lines[*n]) && is_plain(&lines[*n])).collect();
    let sessions: Vec<usize> = (0..lines.len())
        .filter(|n| lines[*n].says(|said| *said == Said::Session) && is_plain(&lines[*n]))
        .collect();
    let is_said = |line: &Line| {
        line.main
            && line.says(|said| {
                matches!(
                    said,
                    Said::Whole(_) | Said::Call(_) | Said::Result(_) | Said::Text(..) | Said::Input(..) | Said::RoundStart | Said::BlockStart(_)
                )
            })
    };
    if let [outcome] = outcomes[..] {
        // Elsewhere the rounds that are left say how it ended.
        let is_needed = log.format.dialect.vendor().logs.ends == Ends::Said;
        if is_needed && lines[..outcome].iter().any(is_said) {
            let mut rest = without(lines, outcome);
            // Some say twice that a turn is over.
            while let Some(again) = read(log, &rest).iter().position(is_outcome) {
                rest.remove(again);
            }
            all.push(Broken {
                or: &[],
                rule: Rule::MissingOutcome,
                at: (1..=outcome + 1).collect(),
                besides: &[],
                lines: rest,
            });
        }
        if lines[..outcome].iter().any(is_said) {
            all.push(Broken {
                or: &[],
                rule: Rule::SecondOutcome,
                at: vec![outcome + 2],
                besides: COPIED,
                lines: doubled(lines, outcome),
            });
        }
        let last = lines[..outcome]
            .iter()
            .rposition(|line| line.main && line.said.iter().any(|said| matches!(said, Said::Whole(_))) && is_plain(line));
        if let Some(last) = last.filter(|last| !lines[*last].says(|said| matches!(said, Said::Outcome { .. }))) {
            let mut texts = texts(lines);
            let text = texts.remove(last);
            texts.insert(outcome, text);
            all.push(Broken {
                or: &[Rule::MissingOutcome],
                rule: Rule::LineAfterOutcome,
                at: vec![outcome + 1],
                besides: &[Rule::MissingOutcome],
                lines: texts,
            });
        }
    }
    if let [session] = sessions[..]
        && lines[session].said.len() == 1
        && outcomes.len() == 1
        && lines[..session].iter().all(|line| !is_said(line))
        && lines.iter().any(is_said)
    {
        all.push(Broken {
            or: &[],
            rule: Rule::MissingInit,
            at: (1..=lines.len()).collect(),
            besides: &[],
            lines: without(lines, session),
        });
    }
}

/// Rules on pieces, where a dialect's own lines say starts and stops.
fn pieces(lines: &[Line], all: &mut Vec<Broken>) {
    let following: &[Rule] = &[
        Rule::BlockOutOfOrder,
        Rule::BlockNotStarted,
        Rule::DeltasDiffer,
        Rule::MessageNotStarted,
        Rule::MessageIdDiffers,
        // What begins a call may be all that names it.
        Rule::ResultWithoutCall,
        Rule::UnknownParent,
    ];
    for (n, line) in lines.iter().enumerate().filter(|(_, line)| sole(line)) {
        let next = |from: usize| {
            (from + 1..lines.len()).find(|k| {
                lines[*k].parent == line.parent
                    && lines[*k].says(|said| {
                        matches!(
                            said,
                            Said::BlockStart(_) | Said::BlockStop(_) | Said::Text(..) | Said::Input(..) | Said::RoundEnd
                        )
                    })
            })
        };
        let made = |rule, at, besides, lines| Broken {
            or: &[],
            rule,
            at,
            besides,
            lines,
        };
        match line.said.last().expect("there is one") {
            Said::RoundStart if next(n).is_some() => all.push(made(Rule::MessageNotStarted, vec![next(n).unwrap_or(n)], &[], without(lines, n))),
            Said::BlockStart(_) => {
                if let Some(next) = next(n) {
                    all.push(made(Rule::BlockNotStarted, vec![next], following, without(lines, n)));
                }
                all.push(made(
                    Rule::BlockStartedTwice,
                    vec![n + 2],
                    &[Rule::DuplicateUuid, Rule::DuplicateCallId],
                    doubled(lines, n),
                ));
            }
            Said::BlockStop(index) => {
                let start = lines[..n].iter().rposition(|line| line.says(|said| *said == Said::BlockStart(*index)));
                all.push(made(
                    Rule::BlockNotStopped,
                    start.map(|start| start + 1).into_iter().collect(),
                    &[],
                    without(lines, n),
                ));
                all.push(made(Rule::BlockNotStarted, vec![n + 2], COPIED, doubled(lines, n)));
            }
            Said::RoundEnd => {
                let begins = |before: &Line| before.main && before.said.contains(&Said::RoundStart);
                let start = lines[..n].iter().rposition(begins);
                let ends_well = lines[n..]
                    .iter()
                    .any(|line| line.says(|said| matches!(said, Said::Outcome { well: true })));
                if line.main
                    && ends_well
                    && let Some(start) = start
                {
                    all.push(made(Rule::MessageNotStopped, vec![start + 1], &[], without(lines, n)));
                }
            }
            Said::Text(_, range) => {
                let whole = lines[n..]
                    .iter()
                    .take_while(|line| !line.said.contains(&Said::RoundStart))
                    .position(|line| line.says(|said| matches!(said, Said::Whole(_))));
                if let Some(whole) = whole {
                    let new = line.with(&(range.start..range.start), "zz");
                    all.push(made(Rule::DeltasDiffer, vec![n + whole + 1], &[], changed(lines, n, new)));
                }
            }
            Said::Input(index, range) if !range.is_empty() => {
                let begun = lines[..n]
                    .iter()
                    .rev()
                    .take_while(|line| !line.says(|said| *said == Said::BlockStart(*index)));
                if begun
                    .flat_map(|line| &line.said)
                    .any(|said| matches!(said, Said::Input(of, range) if of == index && !range.is_empty()))
                {
                    continue;
                }
                let new = line.with(range, &format!("[{}", &line.text[range.clone()]));
                all.push(made(Rule::InvalidPartialJson, (1..=lines.len()).collect(), &[], changed(lines, n, new)));
            }
            _ => {}
        }
    }
}

fn members(log: &Log, lines: &[Line], all: &mut Vec<Broken>) {
    let mut ids: Vec<&str> = Vec::new();
    // A session that is kept on disk may have lines of the one that it goes on from.
    let outcome = lines
        .iter()
        .position(|line| line.says(|said| matches!(said, Said::Outcome { .. })))
        .filter(|_| !log.format.is_store());
    for (n, line) in lines.iter().enumerate().filter(|(_, line)| is_plain(line)) {
        if let Some(range) = &line.id {
            if let Some(id) = ids.first().filter(|id| ids.len() > 2 && **id != &line.text[range.clone()]) {
                all.push(Broken {
                    or: &[],
                    rule: Rule::DuplicateUuid,
                    at: vec![n + 1],
                    besides: &[],
                    lines: changed(lines, n, line.with(range, id)),
                });
            }
            if line
                .session
                .as_ref()
                .is_none_or(|session| line.text[session.clone()] != line.text[range.clone()])
            {
                ids.push(&line.text[range.clone()]);
            }
        }
        if let Some(range) = &line.parent {
            all.push(Broken {
                or: &[],
                rule: Rule::UnknownParent,
                at: vec![n + 1],
                besides: &[
                    Rule::MessageNotStarted,
                    Rule::MessageNotStopped,
                    Rule::BlockNotStarted,
                    Rule::BlockNotStopped,
                    Rule::BlockOutOfOrder,
                    Rule::DeltasDiffer,
                ],
                lines: changed(lines, n, line.with(range, "nobody")),
            });
        }
        for range in &line.counts {
            for new in ["-5", "\"5\"", "1.5"] {
                all.push(Broken {
                    or: &[],
                    rule: Rule::InvalidUsage,
                    at: vec![n + 1],
                    besides: &[],
                    lines: changed(lines, n, line.with(range, new)),
                });
            }
        }
        let in_turn = outcome.is_some_and(|outcome| n > 0 && n < outcome)
            && lines[..n]
                .iter()
                .any(|line| line.says(|said| *said == Said::Session) && line.session.is_some());
        if let Some(range) = line
            .session
            .as_ref()
            .filter(|_| in_turn && line.main && line.says(|said| matches!(said, Said::Whole(_))))
        {
            all.push(Broken {
                or: &[],
                rule: Rule::SessionChanges,
                at: vec![n + 1],
                // A session that goes on behind another one may tell a call again.
                besides: &[Rule::MissingOutcome, Rule::DuplicateCallId],
                lines: changed(lines, n, line.with(range, "elsewhere")),
            });
        }
        if line.text.len() > 40 && line.says(|said| matches!(said, Said::Whole(_) | Said::Result(_))) {
            let cut = (line.text.len() * 2 / 3..).find(|at| line.text.is_char_boundary(*at)).unwrap_or(0);
            all.push(Broken {
                or: &[],
                rule: Rule::DamagedLine,
                at: vec![n + 1],
                besides: &[],
                lines: changed(lines, n, line.text[..cut].to_owned()),
            });
        }
        let mut strange = texts(lines);
        strange.insert(n, "{\"type\":\"wibble\"}".to_owned());
        if n > 0 {
            all.push(Broken {
                or: &[],
                rule: Rule::UnknownType,
                at: vec![n + 1],
                besides: &[],
                lines: strange,
            });
        }
    }
}

#[test]
fn a_broken_log_breaks_this_rule_there_and_no_other() {
    let sound =
        |log: &Log| log.is_plain() && log.bytes.len() < 60_000 && found(log.format, &log.bytes).iter().all(|finding| finding.level < Level::Warning);
    let mut logs: Vec<(Log, bool)> = goldens()
        .into_iter()
        .filter(sound)
        .map(|log| {
            let framed = is_framed(&lines(&log));
            (log, framed)
        })
        .collect();
    let stored = logs.iter().filter(|(log, _)| log.expected).map(|(log, framed)| {
        let stored = Log {
            name: format!("{} as events", log.name),
            bytes: quick(log.format, events(), &log.bytes).out,
            format: events(),
            ..log.clone()
        };
        (stored, *framed)
    });
    logs.extend(stored.collect::<Vec<_>>().into_iter().filter(|(log, _)| sound(log)));
    let counts = std::sync::Mutex::new(std::collections::BTreeMap::<(String, &str), u32>::new());
    let wrongs = parallel(&logs, |(log, framed), wrongs| {
        for broken in broken(log, &lines(log), *framed) {
            wrongs.check();
            *counts.lock().unwrap().entry((log.format.to_string(), broken.rule.name())).or_default() += 1;
            let text = broken.lines.join("\n") + "\n";
            let findings = found(log.format, text.as_bytes());
            let there = |line: u64| broken.at.contains(&usize::try_from(line).unwrap());
            let group = format!("{} {}", log.format, broken.rule);
            let told: Vec<_> = findings
                .iter()
                .filter(|f| f.level >= Level::Warning)
                .map(|f| format!("{} {}", f.line, f.rule))
                .collect();
            if !findings
                .iter()
                .any(|f| (f.rule == broken.rule || broken.or.contains(&f.rule)) && f.level >= Level::Warning && there(f.line))
            {
                wrongs.add(
                    format!("{group} is not seen"),
                    format!("{} {:?}: {told:?}", log.name, &broken.at[..1.min(broken.at.len())]),
                );
            }
            let besides: Vec<_> = findings
                .iter()
                .filter(|f| f.level == Level::Error && f.rule != broken.rule && !broken.besides.contains(&f.rule))
                .collect();
            if let Some(other) = besides.first() {
                wrongs.add(
                    format!("{group} is taken for {}", other.rule),
                    format!(
                        "{} {:?}: {} {}",
                        log.name,
                        &broken.at[..1.min(broken.at.len())],
                        other.line,
                        other.message
                    ),
                );
            }
        }
    });
    for ((format, rule), count) in counts.into_inner().unwrap() {
        println!("{format} {rule} {count}");
    }
    wrongs.finish("a broken log breaks this rule, there, and no other");
}
