//! The list, its sessions, and one of them.

use std::collections::BTreeMap;
use std::io::{self, BufWriter, Write};
use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::extract::{Path, Query, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Redirect, Response};
use serde::{Deserialize, Serialize};
use tokio::sync::{mpsc, oneshot};

use super::library::{Log, What};
use super::place::Stamp;
use super::server::AppState;
use crate::io::{Console, Joined, Source, of_log};
use crate::show::{Cut, Difference, HtmlPage, Ignore, Look, Page, Pick, Row, Served, What as Shown, html_policy, show, shown};
use crate::status::Failure;

const LIST: &str = include_str!("assets/list.html");

/// Without the last slash, the links of the list lead elsewhere.
pub(super) async fn slash(Path(token): Path<String>) -> Redirect {
    Redirect::permanent(&format!("/{token}/"))
}

pub(super) async fn list(State(app): State<Arc<AppState>>) -> Response {
    let mut place = String::new();
    crate::show::escaped(&mut place, &app.library.place.title());
    html(LIST.replace("{place}", &place))
}

/// A file that pages bring along.
pub(super) async fn asset(Path((_, name)): Path<(String, String)>) -> Response {
    let (kind, text) = match name.as_str() {
        "page.css" => ("text/css", crate::show::HTML_STYLE),
        "view.css" => ("text/css", include_str!("assets/view.css")),
        "look.js" => ("text/javascript", include_str!("assets/look.js")),
        "list.js" => ("text/javascript", include_str!("assets/list.js")),
        _ => return nowhere().await,
    };
    ([(header::CONTENT_TYPE, format!("{kind}; charset=utf-8"))], text).into_response()
}

pub(super) async fn nowhere() -> Response {
    said(StatusCode::NOT_FOUND, "Nothing is here", "No page has this address.")
}

/// What is wanted of the list.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Wanted {
    /// Part of a title, a folder, a model, an id or a file's name.
    filter: String,
    /// Words that were said.
    text: String,
    agent: String,
    project: String,
    /// Only those in which something went wrong.
    wrong: bool,
    sort: Sort,
    from: usize,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Sort {
    /// Written last first.
    #[default]
    Recent,
    Turns,
    Calls,
    Failed,
    Size,
}

/// A page of the list.
#[derive(Debug, Serialize)]
struct Listed {
    /// All that there are.
    total: usize,
    /// Those that were wanted.
    found: usize,
    sessions: Vec<Entry>,
    agents: BTreeMap<String, usize>,
    projects: BTreeMap<String, usize>,
    /// Files that are no logs, or cannot be read, and why: the first of them.
    unread: Vec<String>,
    unread_total: usize,
    /// Still to be read; `null` while nobody knows how many.
    waiting: Option<usize>,
    failure: Option<String>,
}

#[derive(Debug, Serialize)]
struct Entry {
    id: usize,
    title: String,
    agent: String,
    session: Option<String>,
    project: Option<String>,
    model: Option<String>,
    /// When it began, else when it was written last.
    time: Option<String>,
    file: String,
    size: u64,
    turns: u64,
    calls: u64,
    failed: u64,
    bad: bool,
    damaged: u64,
}

/// So many entries are on one page of the list, and so many files that cannot be read are named.
const MOST: usize = 200;

pub(super) async fn sessions(State(app): State<Arc<AppState>>, Query(wanted): Query<Wanted>) -> Response {
    let looked = tokio::task::spawn_blocking(move || listed(&app, &wanted)).await;
    looked.map_or_else(|_| broken(), |listed| json(&listed))
}

fn listed(app: &AppState, wanted: &Wanted) -> Listed {
    let library = &app.library;
    let mut listed = Listed {
        total: 0,
        found: 0,
        sessions: Vec::new(),
        agents: BTreeMap::new(),
        projects: BTreeMap::new(),
        unread: Vec::new(),
        unread_total: 0,
        waiting: library.waiting(),
        failure: library.failure().map(|why| shown(&why).into_owned()),
    };
    let say = library.find(&wanted.text);
    let words: Vec<String> = wanted.filter.split_whitespace().map(str::to_lowercase).collect();
    let mut found = Vec::new();
    for (id, log) in library.logs() {
        let summary = match &log.what {
            What::Told(summary) => Arc::clone(summary),
            What::Unread(why) => {
                listed.unread_total += 1;
                if listed.unread.len() < MOST {
                    listed.unread.push(shown(why).into_owned());
                }
                continue;
            }
            What::Waiting | What::Empty => continue,
        };
        listed.total += 1;
        *listed.agents.entry(summary.agent.clone()).or_default() += 1;
        *listed.projects.entry(summary.project.clone().unwrap_or_default()).or_default() += 1;
        let name = library.place.name(&log.path);
        let has = |word: &String| {
            let all = [
                Some(&summary.title),
                summary.project.as_ref(),
                summary.model.as_ref(),
                summary.session.as_ref(),
                Some(&name),
                Some(&summary.agent),
            ];
            all.into_iter().flatten().any(|text| text.to_lowercase().contains(word))
        };
        let fits = say.as_ref().is_none_or(|say| log.doc.is_some_and(|doc| say.contains(&doc)))
            && (wanted.agent.is_empty() || wanted.agent == summary.agent)
            && (wanted.project.is_empty() || Some(&wanted.project) == summary.project.as_ref())
            && (!wanted.wrong || summary.bad || summary.failed > 0 || summary.damaged > 0)
            && words.iter().all(has);
        if fits {
            found.push((id, log, summary, name));
        }
    }
    found.sort_by_key(|(id, log, summary, _)| {
        let by = match wanted.sort {
            Sort::Recent => 0,
            Sort::Turns => summary.turns,
            Sort::Calls => summary.calls,
            Sort::Failed => summary.failed,
            Sort::Size => log.stamp.size,
        };
        (std::cmp::Reverse((by, log.stamp.modified)), *id)
    });
    listed.found = found.len();
    let page = found.into_iter().skip(wanted.from).take(MOST);
    let entry = |(id, log, summary, name): (usize, Log, Arc<super::summary::Summary>, String)| {
        let time = summary.started.unwrap_or(log.stamp.modified / 1_000_000);
        Entry {
            id,
            title: summary.title.clone(),
            agent: summary.agent.clone(),
            session: summary.session.clone(),
            project: summary.project.clone(),
            model: summary.model.clone(),
            time: crate::show::clock_of(time, app.utc),
            file: shown(&name).into_owned(),
            size: log.stamp.size,
            turns: summary.turns,
            calls: summary.calls,
            failed: summary.failed,
            bad: summary.bad,
            damaged: summary.damaged,
        }
    };
    listed.sessions = page.map(entry).collect();
    listed
}

/// One session, as `show --format html` shows it.
pub(super) async fn session(State(app): State<Arc<AppState>>, Path((_, id)): Path<(String, usize)>) -> Response {
    written(&app, id, None).await
}

/// Which turns are wanted.
#[derive(Debug, Deserialize)]
pub(super) struct From {
    /// So many are there already.
    from: u64,
}

/// The turns of a session that a page has not got yet.
pub(super) async fn turns(State(app): State<Arc<AppState>>, Path((_, id)): Path<(String, usize)>, Query(From { from }): Query<From>) -> Response {
    written(&app, id, Some(from)).await
}

async fn written(app: &Arc<AppState>, id: usize, from: Option<u64>) -> Response {
    let Some(log) = app.library.log(id) else {
        return gone();
    };
    let Ok(place) = Arc::clone(&app.reading).acquire_owned().await else {
        return broken();
    };
    let (utc, name) = (app.utc, app.library.place.name(&log.path));
    let (opened, is_open) = oneshot::channel();
    let (sender, pieces) = mpsc::channel::<io::Result<Bytes>>(16);
    tokio::task::spawn_blocking(move || {
        let _place = place;
        // What is written while it is read is told of as news.
        let input = log.input;
        let stamp = Stamp::of(&input);
        let opened_log = Source::open(&input, &Console::plain()).and_then(|mut source| {
            let from = source.written_in(&input, None)?;
            let subagents = of_log(&input, from, source.head());
            Ok(Joined::with(source.into_reader(), from, &name, subagents))
        });
        let log = match opened_log {
            Ok(log) => log,
            Err(failure) => return drop(opened.send(Err(failure))),
        };
        if opened.send(Ok(())).is_err() {
            return;
        }
        let mut out = BufWriter::with_capacity(64 << 10, Pieces(sender));
        let look = Look {
            colour: false,
            width: None,
            cut: Cut::USUAL,
            thinking: false,
            utc,
        };
        let page = HtmlPage::new(&mut out, look);
        // Whoever is gone does not want to know.
        let _ = match from {
            None => {
                let seen = stamp.map(|stamp| stamp.to_string()).unwrap_or_default();
                show(
                    log,
                    &Pick::default(),
                    &mut page.served(Served {
                        seen,
                        live: true,
                        home: "../",
                    }),
                )
            }
            Some(from) => {
                let mut later = Later {
                    page: page.part(),
                    from,
                    turns: 0,
                };
                show(log, &Pick::default(), &mut later)
            }
        };
        let _ = out.flush();
    });
    match is_open.await {
        Ok(Ok(())) => {
            let stream = futures_util::stream::unfold(pieces, |mut pieces| async move { pieces.recv().await.map(|piece| (piece, pieces)) });
            policed(Body::from_stream(stream))
        }
        Ok(Err(failure)) => refused(&failure),
        Err(_) => broken(),
    }
}

/// Which sessions are compared.
#[derive(Debug, Deserialize)]
pub(super) struct Two {
    a: usize,
    b: usize,
}

/// What was done otherwise in one session than in another.
pub(super) async fn diff(State(app): State<Arc<AppState>>, Query(Two { a, b }): Query<Two>) -> Response {
    let (Some(a), Some(b)) = (app.library.log(a), app.library.log(b)) else {
        return gone();
    };
    let Ok(place) = Arc::clone(&app.reading).acquire_owned().await else {
        return broken();
    };
    let compared = tokio::task::spawn_blocking(move || {
        let _place = place;
        let names = [&a, &b].map(|log| app.library.place.name(&log.path));
        let logs = [a, b].map(|log| log.input);
        let ignore = Ignore {
            ids: true,
            times: true,
            usage: true,
        };
        let (found, _) = Difference::of(&logs, names, ignore, true)?;
        let served = Served {
            seen: String::new(),
            live: false,
            home: "./",
        };
        Ok(found.html(Cut::USUAL, Some(&served)))
    });
    match compared.await {
        Ok(Ok(page)) => policed(Body::from(page)),
        Ok(Err(failure)) => refused(&failure),
        Err(_) => broken(),
    }
}

/// A page that brings everything along.
fn policed(page: Body) -> Response {
    let headers = [
        (header::CONTENT_TYPE, "text/html; charset=utf-8".to_owned()),
        (header::CONTENT_SECURITY_POLICY, format!("{}; frame-ancestors 'none'", html_policy(true))),
    ];
    (headers, page).into_response()
}

/// A log that cannot be read.
fn refused(failure: &Failure) -> Response {
    match failure {
        Failure::Read { error, .. } if error.kind() == io::ErrorKind::NotFound => gone(),
        failure => said(StatusCode::UNPROCESSABLE_ENTITY, "It cannot be read", &failure.to_string()),
    }
}

/// Shows the turns behind the first ones.
struct Later<'w> {
    page: HtmlPage<'w>,
    from: u64,
    turns: u64,
}

impl Page for Later<'_> {
    fn row(&mut self, row: &Row<'_>) -> io::Result<()> {
        self.turns += u64::from(matches!(row.what, Shown::Turn { .. }));
        // Turns are named by the session that they belong to.
        if self.turns > self.from || self.from == 0 || matches!(row.what, Shown::Session(_)) {
            self.page.row(row)
        } else {
            Ok(())
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.page.flush()
    }

    fn end(&mut self) -> io::Result<()> {
        self.page.end()
    }
}

/// What is written goes to the browser, as fast as it takes it.
struct Pieces(mpsc::Sender<io::Result<Bytes>>);

impl Write for Pieces {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let sent = self.0.blocking_send(Ok(Bytes::copy_from_slice(bytes)));
        sent.map_err(|_| io::ErrorKind::BrokenPipe)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// What a script reads.
pub(super) fn json(what: &impl Serialize) -> Response {
    serde_json::to_vec(what).map_or_else(|_| broken(), |text| ([(header::CONTENT_TYPE, "application/json")], text).into_response())
}

pub(super) fn gone() -> Response {
    said(StatusCode::GONE, "The session is gone", "Its file is not there any more.")
}

pub(super) fn broken() -> Response {
    said(StatusCode::INTERNAL_SERVER_ERROR, "A fault", "This page could not be made.")
}

/// A page that says one thing.
pub(super) fn said(status: StatusCode, title: &str, text: &str) -> Response {
    let mut page = String::new();
    crate::show::escaped(&mut page, text);
    let page = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"color-scheme\" content=\"light dark\">\n\
         <link rel=\"icon\" href=\"data:,\">\n<title>{title}</title>\n</head>\n<body>\n<main>\n<h1>{title}</h1>\n<p>{page}</p>\n</main>\n</body>\n</html>\n"
    );
    (status, html(page)).into_response()
}

pub(super) fn html(page: String) -> Response {
    ([(header::CONTENT_TYPE, "text/html; charset=utf-8")], page).into_response()
}
