//! `agentglot view`: what lists and pages say, and all of it looked at in headless Chromium (tests/html/view.mjs).
//! `AGENTGLOT_PAGES=FOLDER` keeps screenshots.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::common::{Scratch, arg, golden, log, program};
use crate::show_html::{hostile, in_chromium, session};

/// Longer than anything takes.
const PATIENCE: Duration = Duration::from_secs(60);

/// A server that runs.
pub(crate) struct View {
    child: Child,
    pub(crate) port: u16,
    pub(crate) token: String,
}

impl View {
    pub(crate) fn new(args: &[&str], cache: &Path) -> Self {
        Self::of(program().arg("view").args(args).env("XDG_CACHE_HOME", cache))
    }

    fn of(command: &mut Command) -> Self {
        let mut child = command.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        let rest = line.trim_end().strip_prefix("http://127.0.0.1:").unwrap_or_else(|| panic!("{line:?}"));
        let (port, token) = rest.split_once('/').unwrap();
        Self {
            port: port.parse().unwrap(),
            token: token.trim_end_matches('/').to_owned(),
            child,
        }
    }

    fn address(&self) -> String {
        format!("http://127.0.0.1:{}/{}/", self.port, self.token)
    }

    /// What the server answers to these lines, each header given.
    pub(crate) fn say(&self, request: &str, headers: &[&str]) -> Answer {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let headers: String = headers.iter().map(|header| format!("{header}\r\n")).collect();
        write!(stream, "{request} HTTP/1.1\r\n{headers}Connection: close\r\n\r\n").unwrap();
        let mut text = Vec::new();
        stream.read_to_end(&mut text).unwrap();
        let text = String::from_utf8_lossy(&text).into_owned();
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
        Answer {
            code: head.split(' ').nth(1).and_then(|code| code.parse().ok()).unwrap_or(0),
            head: head.to_ascii_lowercase(),
            body: body.to_owned(),
        }
    }

    /// What is behind a path, as a browser asks for it.
    pub(crate) fn get(&self, path: &str) -> Answer {
        self.say(&format!("GET /{}/{path}", self.token), &[&format!("Host: 127.0.0.1:{}", self.port)])
    }

    /// The list, when everything is read.
    pub(crate) fn list(&self, query: &str) -> Value {
        let until = Instant::now() + PATIENCE;
        loop {
            let answer = self.get(&format!("list{query}"));
            assert_eq!(answer.code, 200, "{}", answer.body);
            let list: Value = serde_json::from_str(answer.text().trim()).unwrap();
            if list["waiting"] == 0 {
                return list;
            }
            assert!(Instant::now() < until, "{list}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// The id of the session of a file.
    pub(crate) fn id(&self, file: &str) -> u64 {
        let list = self.list("");
        let found = list["sessions"].as_array().unwrap().iter().find(|session| session["file"] == file);
        found.unwrap_or_else(|| panic!("{file}: {list}"))["id"].as_u64().unwrap()
    }

    pub(crate) fn end(mut self) -> ExitStatus {
        kill_process(Pid::from_child(&self.child), Signal::INT).unwrap();
        self.child.wait().unwrap()
    }
}

impl Drop for View {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub(crate) struct Answer {
    pub(crate) code: u16,
    /// In small letters.
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Answer {
    /// The body, put together of its chunks.
    pub(crate) fn text(&self) -> String {
        if !self.head.contains("transfer-encoding: chunked") {
            return self.body.clone();
        }
        let lines = self.body.split("\r\n");
        lines
            .filter(|line| line.is_empty() || !line.bytes().all(|byte| byte.is_ascii_hexdigit()))
            .collect()
    }
}

fn titles(list: &Value) -> Vec<&str> {
    list["sessions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|session| session["title"].as_str().unwrap())
        .collect()
}

#[test]
fn the_list_is_filtered_and_sorted() {
    let scratch = Scratch::new();
    let logs = scratch.path("logs");
    for (name, file) in [
        ("claude", "claude/cli_edit.out.jsonl"),
        ("cursor", "cursor/read_edit.jsonl"),
        ("gemini", "gemini/toolerr.out.jsonl"),
    ] {
        scratch.file(&format!("logs/{name}.jsonl"), fs::read(golden(file)).unwrap());
    }
    scratch.file("logs/package.json", r#"{"name": "no log"}"#);
    scratch.file("logs/cut.jsonl", &session()[..2000]);
    let view = View::new(&[arg(&logs), "--utc"], &scratch.path("cache"));
    let all = view.list("");
    assert_eq!((&all["total"], &all["found"]), (&4.into(), &4.into()), "{all}");
    assert_eq!(all["agents"]["claude"], 2, "{all}");
    assert_eq!(all["unread_total"], 1, "{all}");
    let count = |query: &str| view.list(query)["found"].as_u64().unwrap();
    assert_eq!(count("?agent=cursor"), 1);
    assert_eq!(count("?filter=GEMINI"), 1);
    assert_eq!(count("?filter=cursor%20greet.py"), 1);
    assert_eq!(count("?filter=nothing+like+that"), 0);
    assert_eq!(view.list("?wrong=true&agent=gemini")["found"], 1);
    assert_eq!(count("?project=%2Fhome%2Fada%2Floom&agent=claude"), 1);
    let by_calls: Vec<u64> = view.list("?sort=calls")["sessions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["calls"].as_u64().unwrap())
        .collect();
    assert!(by_calls.is_sorted_by(|a, b| a >= b) && by_calls[0] > 0, "{by_calls:?}");
    assert_eq!(view.get("list?sort=nonsense").code, 400);
    // What is damaged is there as far as it goes.
    let page = view.get(&format!("session/{}", view.id("cut.jsonl")));
    assert!(
        page.text().contains("Make the greeting in greet.py loud.") && page.text().contains("cannot be read"),
        "{}",
        page.body
    );
}

#[test]
fn subagents_belong_to_their_sessions() {
    let scratch = Scratch::new();
    let read = |name: &str| fs::read(golden(name)).unwrap();
    scratch.file("logs/s1.jsonl", read("claude/transcript_agent.jsonl"));
    let child = scratch.file("logs/s1/subagents/agent-a.jsonl", read("claude/transcript_agent.subagent.jsonl"));
    scratch.file("logs/s1/subagents/agent-a.meta.json", r#"{"toolUseId":"toolu_mock000009"}"#);
    let view = View::new(&[arg(&scratch.path("logs"))], &scratch.path("cache"));
    let all = view.list("");
    assert_eq!((&all["total"], &all["unread_total"]), (&1.into(), &0.into()), "{all}");
    // What only the subagent's file says is found in the session, and shown there.
    assert!(fs::read_to_string(child).unwrap().contains("Sub looking."));
    assert_eq!(view.list("?text=sub+looking")["found"], 1);
    assert!(view.get(&format!("session/{}", view.id("s1.jsonl"))).text().contains("Sub looking."));
}

/// Those of this machine are found by their names; what they hold tells which are sessions.
#[test]
fn sessions_of_this_machine_are_listed_without_those_of_subagents() {
    let scratch = Scratch::new();
    for (name, file) in [
        ("s1", "claude/transcript_agent.jsonl"),
        ("agent-a", "claude/transcript_agent.subagent.jsonl"),
    ] {
        scratch.file(&format!("home/.claude/projects/-w/{name}.jsonl"), fs::read(golden(file)).unwrap());
    }
    scratch.file("home/.claude/projects/-w/empty.jsonl", "");
    let view = View::of(program().arg("view").env_clear().env("HOME", scratch.path("home")));
    let all = view.list("");
    assert_eq!((&all["total"], &all["unread_total"]), (&1.into(), &0.into()), "{all}");
    assert!(all["sessions"][0]["file"].as_str().unwrap().ends_with("s1.jsonl"), "{all}");
}

/// What lies in a database is listed, searched, shown and counted, and changes are seen, although its program is not there.
#[test]
fn sessions_in_databases_are_among_them() {
    let scratch = Scratch::new();
    let base = crate::cli_sessions_databases::database(&scratch);
    let view = View::of(
        program()
            .arg("view")
            .env_clear()
            .env("HOME", scratch.path("home"))
            .env("PATH", "/nowhere"),
    );
    let all = view.list("");
    let listed = &all["sessions"][0];
    assert_eq!(
        (&all["total"], &all["unread_total"], &listed["agent"]),
        (&1.into(), &0.into(), &"opencode".into()),
        "{all}"
    );
    assert_eq!((&listed["turns"], &listed["calls"]), (&1.into(), &2.into()), "{all}");
    // A word of the subagent.
    assert_eq!(view.list("?text=from-sub")["found"], 1);
    assert_eq!(view.list("?text=nowhere")["found"], 0);
    let id = listed["id"].as_u64().unwrap();
    assert!(view.get(&format!("session/{id}")).text().contains("Sub looking."));
    let begun = Instant::now();
    let counted = || loop {
        let page = view.get("stats").text();
        assert!(begun.elapsed() < PATIENCE, "{page}");
        if !page.contains("http-equiv=\"refresh\"") {
            return page;
        }
    };
    assert!(counted().contains("<dt>Tokens in</dt><dd>402</dd>"));
    // A page that is open hears of what is new, and of the end.
    let mut events = TcpStream::connect(("127.0.0.1", view.port)).unwrap();
    events.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    write!(
        events,
        "GET /{}/session/{id}/events?seen= HTTP/1.1\r\nHost: 127.0.0.1:{}\r\n\r\n",
        view.token, view.port
    )
    .unwrap();
    let mut events = BufReader::new(events).lines();
    let mut hears = |event: &str| events.any(|line| line.unwrap() == format!("event: {event}"));
    assert!(hears("grown"));
    let text = "update part set time_updated = time_updated + 9, data = replace(data, 'reported back', 'came back late')";
    base.execute_batch(text).unwrap();
    assert!(hears("grown"));
    assert!(view.get(&format!("session/{id}")).text().contains("came back late"));
    base.execute_batch("delete from session").unwrap();
    assert!(hears("gone"));
    assert_eq!(view.get(&format!("session/{id}")).code, 410);
}

#[test]
fn what_is_as_it_was_is_not_read_again() {
    let scratch = Scratch::new();
    let cache = scratch.path("cache");
    let file = scratch.file("logs/a.jsonl", log("s-1", "before"));
    let folder = scratch.path("logs");
    let list = |view: &View| titles(&view.list("")).join(",");
    let view = View::new(&[arg(&folder)], &cache);
    assert_eq!(list(&view), "before");
    // Somebody else shows the same, at the same time.
    let other = View::new(&[arg(&folder)], &cache);
    assert_eq!(list(&other), "before");
    assert_eq!((view.end().code(), other.end().code()), (Some(0), Some(0)));
    for folder in [cache.clone(), cache.join("agentglot/view")] {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(folder.metadata().unwrap().permissions().mode() & 0o077, 0, "{}", folder.display());
    }
    // Who ends it at once loses nothing of the index.
    assert_eq!(View::new(&[arg(&folder)], &cache).end().code(), Some(0));
    // As long, and written at the same time: that it says something else cannot be seen.
    let modified = file.metadata().unwrap().modified().unwrap();
    fs::write(&file, log("s-1", "behind")).unwrap();
    fs::File::options().append(true).open(&file).unwrap().set_modified(modified).unwrap();
    let view = View::new(&[arg(&folder)], &cache);
    assert_eq!(list(&view), "before");
    drop(view);
    let view = View::new(&[arg(&folder), "--no-cache"], &cache);
    assert_eq!(list(&view), "behind");
    drop(view);
    fs::File::options()
        .append(true)
        .open(&file)
        .unwrap()
        .set_modified(modified + Duration::from_secs(1))
        .unwrap();
    let view = View::new(&[arg(&folder)], &cache);
    assert_eq!(list(&view), "behind");
    // An index that is damaged is made anew.
    view.end();
    for entry in walkdir(&cache) {
        fs::write(entry, b"\xff{").unwrap();
    }
    let view = View::new(&[arg(&folder)], &cache);
    assert_eq!(list(&view), "behind");
}

#[test]
fn what_was_said_is_found() {
    let scratch = Scratch::new();
    let cache = scratch.path("cache");
    for (name, answer) in [("a", "The NEEDLE is in the first."), ("b", "Nothing here, été 東京."), ("c", "needless")] {
        scratch.file(&format!("logs/{name}.jsonl"), log(&format!("s-{name}"), answer));
    }
    let folder = scratch.path("logs");
    let check = |view: &View| {
        view.list("");
        let found = |text: &str| {
            let list = view.list(&format!("?text={text}"));
            let mut files: Vec<String> = list["sessions"]
                .as_array()
                .unwrap()
                .iter()
                .map(|one| one["file"].as_str().unwrap().to_owned())
                .collect();
            files.sort();
            files.join(",")
        };
        assert_eq!(found("needle"), "a.jsonl,c.jsonl");
        assert_eq!(found("needle%20"), "a.jsonl");
        assert_eq!(found("FIRST+needle"), "a.jsonl");
        assert_eq!(found("first+nothing"), "");
        assert_eq!(found("%C3%89T%C3%89"), "b.jsonl");
        assert_eq!(found("%E4%BA%AC"), "b.jsonl");
        assert_eq!(found("--"), "a.jsonl,b.jsonl,c.jsonl");
        let hits = view.get(&format!("hits/{}?text=needle+first", view.id("a.jsonl")));
        let hits: Value = serde_json::from_str(&hits.text()).unwrap();
        assert_eq!(
            (&hits[0]["turn"], &hits[0]["kind"], &hits[0]["text"]),
            (&"turn-1".into(), &"answer".into(), &"The NEEDLE is in the first.".into()),
            "{hits}"
        );
    };
    let view = View::new(&[arg(&folder)], &cache);
    check(&view);
    assert_eq!(view.end().code(), Some(0));
    // From what is kept.
    let view = View::new(&[arg(&folder)], &cache);
    check(&view);
    view.end();
    // Without its words, nothing that is kept counts.
    for file in walkdir(&cache) {
        if file.file_name().unwrap().to_str().unwrap().starts_with("words-") {
            fs::write(file, b"").unwrap();
        }
    }
    check(&View::new(&[arg(&folder)], &cache));
    check(&View::new(&[arg(&folder), "--no-cache"], &cache));
    // What is said from now on is found, and what is not said any more is not.
    let view = View::new(&[arg(&folder)], &cache);
    view.list("");
    fs::write(folder.join("a.jsonl"), log("s-a", "Something quite other")).unwrap();
    let mut news = TcpStream::connect(("127.0.0.1", view.port)).unwrap();
    write!(news, "GET /{}/events HTTP/1.1\r\nHost: 127.0.0.1:{}\r\n\r\n", view.token, view.port).unwrap();
    let until = Instant::now() + PATIENCE;
    while view.list("?text=quite+other")["found"] != 1 || view.list("?text=first")["found"] != 0 {
        assert!(Instant::now() < until);
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn a_file_that_is_gone_is_said_to_be() {
    let scratch = Scratch::new();
    let file = scratch.file("logs/a.jsonl", log("s-1", "an answer"));
    let view = View::new(&[arg(&scratch.path("logs"))], &scratch.path("cache"));
    let id = view.id("a.jsonl");
    fs::remove_file(file).unwrap();
    let answer = view.get(&format!("session/{id}"));
    assert_eq!(answer.code, 410);
    assert!(answer.text().contains("The session is gone"), "{}", answer.body);
}

#[test]
fn a_folder_that_is_none_is_refused() {
    let scratch = Scratch::new();
    let file = scratch.file("a.jsonl", log("s-1", "an answer"));
    for (path, code) in [(scratch.path("missing"), 3), (file, 2)] {
        let ran = crate::common::run(["view", arg(&path)]);
        assert_eq!((ran.code, ran.text()), (code, ""), "{}", ran.err);
    }
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let ran = crate::common::run(["view", "--port", &port, arg(&scratch.path("."))]);
    assert!(
        ran.code == 2 && ran.err.contains(&format!("--port {port}: another program listens there")),
        "{}",
        ran.err
    );
    // Sessions on this machine: there are none.
    let view = View::of(program().arg("view").env_clear().env("HOME", scratch.path("home")));
    assert_eq!(view.list("")["total"], 0);
}

#[test]
fn sessions_in_a_browser() {
    let scratch = Scratch::new();
    let logs = scratch.path("logs");
    for name in [
        "claude/cli_edit.out.jsonl",
        "cursor/read_edit.jsonl",
        "gemini/toolerr.out.jsonl",
        "codex/multi.out.jsonl",
        "qwen/two_tools.jsonl",
    ] {
        scratch.file(&format!("logs/{}", name.replace('/', "-")), fs::read(golden(name)).unwrap());
    }
    scratch.file("logs/session.jsonl", session());
    scratch.file("logs/hostile <img src=x onerror=alert(1)>\u{202e}.jsonl", hostile());
    scratch.file("logs/notes.json", r#"{"a": "<script>alert(1)</script>"}"#);
    let pictures = std::env::var_os("AGENTGLOT_PAGES").map_or_else(|| scratch.path("pages"), PathBuf::from);
    fs::create_dir_all(&pictures).unwrap();
    // In the order in which they were written: replies that have one id count where they are met first.
    let mut files = walkdir(&logs);
    files.sort_by_key(|file| (file.metadata().unwrap().modified().unwrap(), file.clone()));
    files.retain(|file| !file.ends_with("notes.json"));
    let counted = crate::common::run(["stats", "--json"].into_iter().chain(files.iter().map(|file| arg(file))));
    fs::write(pictures.join("stats.json"), &counted.out).unwrap();
    let view = View::new(&[arg(&logs), "--utc"], &scratch.path("cache"));
    let address = view.address();
    let args = [address.as_ref(), logs.as_os_str(), pictures.as_os_str()];
    let Some(said) = in_chromium("view in a browser", "view.mjs", &args) else {
        return;
    };
    let tried = said.lines().filter(|line| line.starts_with("ok ")).count();
    assert!(tried >= 10, "{tried} things were tried:\n{said}");
}

/// All files in a folder.
fn walkdir(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(walkdir(&path));
        } else {
            files.push(path);
        }
    }
    files
}
