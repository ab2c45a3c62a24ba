//! What was used, counted over all logs of the place as `agentglot stats` counts it. It takes as long as reading them all, so it is done
//! beside the pages, and what was counted is kept until somebody wants it anew.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use axum::extract::{Query, State};
use axum::response::Response;
use serde::Deserialize;

use super::chart::Chart;
use super::library::{Library, What};
use super::pages::html;
use super::server::AppState;
use crate::io::{Console, Joined};
use crate::show::{clock_of, duration, escaped, money, number};
use crate::stats::{By, Counter, Prices, Sum};
use crate::status::Failure;

const PAGE: &str = include_str!("assets/stats.html");
/// So many bars are in a chart: of days the last ones, of other things the largest.
const BARS: usize = 40;

/// How far counting has come.
#[derive(Debug, Default)]
pub(super) struct Counting(Mutex<Progress>);

#[derive(Debug, Default)]
enum Progress {
    #[default]
    Idle,
    /// So many logs of so many.
    Busy(usize, usize),
    Done(Arc<Done>),
}

#[derive(Debug)]
struct Done {
    /// The news that there were of the place by then.
    news: u64,
    /// When, in milliseconds since 1970.
    at: i64,
    /// How many milliseconds it took.
    ms: u128,
    body: String,
}

/// Counting that took longer is not done anew unless somebody asks.
const SHORT: u128 = 2000;

/// What is wanted of the page.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Wanted {
    again: bool,
}

pub(super) async fn page(State(app): State<Arc<AppState>>, Query(Wanted { again }): Query<Wanted>) -> Response {
    let news = *app.library.changed.borrow();
    let is_ready = app.library.waiting() == Some(0);
    let (mut refresh, body) = {
        let mut state = app.counting.0.lock().unwrap_or_else(PoisonError::into_inner);
        match &*state {
            Progress::Done(done) if done.news == news || !again && done.ms > SHORT => (false, said(&app, done, news)),
            Progress::Busy(now, all) => (
                true,
                format!(
                    "<p role=\"status\">Counted: {} of {} logs</p>\n",
                    number(*now as u64),
                    number(*all as u64)
                ),
            ),
            _ if !is_ready => (true, "<p role=\"status\">The logs are still being looked through.</p>\n".to_owned()),
            _ => {
                *state = Progress::Busy(0, 0);
                let app = Arc::clone(&app);
                tokio::task::spawn_blocking(move || count(&app, news));
                (true, "<p role=\"status\">Counting begins.</p>\n".to_owned())
            }
        }
    };
    refresh &= !app.library.is_stopped();
    let refresh = if refresh {
        "<meta http-equiv=\"refresh\" content=\"1; url=stats\">"
    } else {
        ""
    };
    html(PAGE.replace("{refresh}", refresh).replace("{body}", &body))
}

fn said(app: &AppState, done: &Done, news: u64) -> String {
    let mut body = format!("<p class=\"quiet\">Counted {}", clock_of(done.at, app.utc).unwrap_or_default());
    if done.news != news {
        body.push_str(". Logs have changed since: <a href=\"stats?again=true\">count again</a>");
    }
    body.push_str("</p>\n");
    body + &done.body
}

fn count(app: &AppState, news: u64) {
    let begun = Instant::now();
    let body = counted(&app.library, app.prices.clone(), app.utc, &|now, all| {
        *app.counting.0.lock().unwrap_or_else(PoisonError::into_inner) = Progress::Busy(now, all);
    });
    let done = Done {
        news,
        at: chrono::Utc::now().timestamp_millis(),
        ms: begun.elapsed().as_millis(),
        body,
    };
    *app.counting.0.lock().unwrap_or_else(PoisonError::into_inner) = Progress::Done(Arc::new(done));
}

/// What was used, as the main part of the page.
fn counted(library: &Library, prices: Prices, utc: bool, told: &dyn Fn(usize, usize)) -> String {
    let ways = [By::Model, By::Tool, By::Project, By::Agent];
    let mut counter = ways.into_iter().fold(Counter::new(By::Day, utc, prices), Counter::also);
    let mut logs: Vec<_> = library.logs().into_iter().map(|(_, log)| log).collect();
    logs.retain(|log| matches!(log.what, What::Told(_)));
    // The ones that others go on from first.
    logs.sort_by_key(|log| log.stamp.modified);
    let (mut damaged, mut failed) = (0, 0);
    for (at, log) in logs.iter().enumerate() {
        if library.is_stopped() {
            return String::new();
        }
        told(at, logs.len());
        let input = &log.input;
        counter.comes(input);
        let read = Joined::open(input, None, true, &Console::plain())
            .and_then(|log| counter.log(log, &input.name()).map_err(|error| Failure::of_log(&input.name(), error)));
        match read {
            Ok(lines) => damaged += lines,
            Err(_) => failed += 1,
        }
    }
    let mut page = String::new();
    let (_, total) = counter.sums();
    totals(&mut page, total);
    // A `String` takes everything.
    let _ = write!(page, "<p class=\"quiet\">Cost: what logs say; else {}.", counter.prices().source());
    if total.unpriced > 0 {
        let _ = write!(page, " ?: of {} replies or turns the price is not known.", number(total.unpriced));
    }
    if damaged > 0 {
        let _ = write!(page, " Damaged lines, not counted: {}.", number(damaged));
    }
    if failed > 0 {
        let _ = write!(page, " Logs that could not be read to their end: {}.", number(failed));
    }
    page.push_str("</p>\n");
    for (by, sums) in counter.ways() {
        charts(&mut page, by, sums);
    }
    page
}

fn totals(page: &mut String, total: &Sum) {
    page.push_str("<dl class=\"totals\">");
    let tokens = &total.tokens;
    for (name, value) in [
        ("Sessions", number(total.sessions.len() as u64)),
        ("Turns", number(total.turns)),
        ("Model calls", number(total.rounds)),
        ("Tool calls", number(total.calls)),
        ("Failed calls", number(total.failed)),
        ("Tokens in", number(tokens.input)),
        ("From the cache", number(tokens.cache_read)),
        ("To the cache", number(tokens.cache_write)),
        ("Tokens out", number(tokens.output)),
        ("Cost", total.cost()),
    ] {
        // A `String` takes everything.
        let _ = write!(page, "<div><dt>{name}</dt><dd>");
        escaped(page, &value);
        page.push_str("</dd></div>");
    }
    page.push_str("</dl>\n");
}

fn charts(page: &mut String, by: By, sums: &BTreeMap<String, Sum>) {
    let count = |value: f64| number(value as u64);
    let mut all: Vec<(&String, &Sum)> = sums.iter().collect();
    let hidden = all.len().saturating_sub(BARS);
    match by {
        By::Day | By::Week => drop(all.drain(..hidden)),
        By::Tool => all.sort_by_key(|(_, sum)| std::cmp::Reverse(sum.calls)),
        _ => all.sort_by_key(|(_, sum)| std::cmp::Reverse(sum.tokens.all())),
    }
    all.truncate(BARS);
    let word = by.word();
    let name = |name: &String| if name.is_empty() { "?".to_owned() } else { name.clone() };
    if by == By::Tool {
        let bars = all
            .iter()
            .map(|(tool, sum)| (name(tool), vec![(sum.calls - sum.failed) as f64, sum.failed as f64]));
        Chart {
            title: "Calls by tool",
            word,
            series: &["went well", "failed"],
            bars: bars.collect(),
            said: count,
            more: vec!["time", "a call"],
            rest: all
                .iter()
                .map(|(_, sum)| vec![duration(sum.ms), duration(sum.ms.checked_div(sum.calls).unwrap_or(0))])
                .collect(),
        }
        .put(page);
    } else {
        let tokens = |sum: &Sum| {
            let tokens = &sum.tokens;
            vec![
                tokens.input as f64,
                tokens.cache_read as f64,
                tokens.cache_write as f64,
                tokens.output as f64,
            ]
        };
        Chart {
            title: &format!("Tokens by {word}"),
            word,
            series: &["in", "from the cache", "to the cache", "out"],
            bars: all.iter().map(|(each, sum)| (name(each), tokens(sum))).collect(),
            said: count,
            more: vec!["sessions", "turns", "calls", "cost"],
            rest: all
                .iter()
                .map(|(_, sum)| vec![number(sum.sessions.len() as u64), number(sum.turns), number(sum.calls), sum.cost()])
                .collect(),
        }
        .put(page);
        if all.iter().any(|(_, sum)| sum.cost > 0.0) && matches!(by, By::Day | By::Model) {
            Chart {
                title: &format!("Cost by {word}"),
                word,
                series: &["US dollars"],
                bars: all.iter().map(|(each, sum)| (name(each), vec![sum.cost])).collect(),
                said: money,
                more: vec!["price unknown"],
                rest: all.iter().map(|(_, sum)| vec![number(sum.unpriced)]).collect(),
            }
            .put(page);
        }
    }
    if hidden > 0 {
        // A `String` takes everything.
        let _ = writeln!(
            page,
            "<p class=\"quiet\">{} more are not shown; <code>agentglot stats --by {word}</code> names all.</p>",
            number(hidden as u64)
        );
    }
}
