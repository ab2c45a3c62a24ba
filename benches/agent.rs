//! Measures the built-in agent over a scripted model on this machine.
//!
//! ```text
//! cargo build --profile dist --bin agentglot --example agent_figures
//! target/dist/examples/agent_figures first-token | sessions [N] | rounds [N] | resume [MB] | search FOLDER
//! ```
//!
//! Without a name all but the last are measured, which needs ripgrep. Exit code 1: a bar is missed, or something was lost.

#[allow(dead_code)]
#[path = "../tests/it/support/model.rs"]
mod model;

use std::collections::{BTreeMap, HashMap};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::rc::Rc;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use agentglot::adapters::raw::codec::Dialect;
use agentglot::adapters::raw::event::{Content, Input, InputKind, Origin, Prompt, PromptSource};
use agentglot::adapters::raw::json::Str;
use agentglot::adapters::raw::launch::{Launch, PermissionMode};
use agentglot::agent::model::names::Models;
use agentglot::agent::persona;
use agentglot::agent::store::{Ask, Store, Writer};
use agentglot::agent::tools::shell::Settings;
use agentglot::agent::tools::walk::Tree;
use agentglot::agent::tools::web_search::Engine;
use agentglot::agent::tools::{glob, grep};
use agentglot::agent::workspace::Wall;
use agentglot::agent::{Agent, Parts, Said};
use agentglot::backend::model::{Api, Client, Endpoint, Key, catalog};
use agentglot::child::Watcher;
use model::{Answer, Server, Step};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let number = |usual: usize| args.get(1).and_then(|n| n.parse().ok()).unwrap_or(usual);
    let good = match args.first().map(String::as_str) {
        Some("serve") => return serve(),
        Some("first-token") => first_token(number(300)),
        Some("sessions") => sessions(number(200)),
        Some("rounds") => rounds(number(10_000)),
        Some("resume") => resume(number(100)),
        Some("search") => search(Path::new(args.get(1).map_or(".", String::as_str))),
        _ => [first_token(300), sessions(200), rounds(10_000), resume(100)].iter().all(|good| *good),
    };
    std::process::exit(i32::from(!good));
}

/// A server in a process of its own, which says its port.
fn serve() {
    let server = Server::start(|asked, _| {
        let all = asked.all();
        if asked.last().contains("\"tool\"") {
            let mark = all
                .split("mark-")
                .nth(1)
                .and_then(|rest| rest.split(['"', ' ']).next())
                .unwrap_or_default();
            return Answer::steps(vec![Step::Pause(50), Step::Text(format!("done-{mark}"))]);
        }
        Answer::steps(vec![
            Step::Text("I look.".to_owned()),
            Step::Pause(200),
            Step::Call("call_0".into(), "Bash".into(), r#"{"command":"echo hello","description":"x"}"#.into()),
        ])
    });
    println!("{}", server.port);
    // Until whoever started us is gone.
    let _ = std::io::stdin().lock().read_line(&mut String::new());
}

/// The program, beside the examples.
fn program() -> PathBuf {
    let us = std::env::current_exe().expect("it runs");
    us.ancestors().nth(2).expect("target/PROFILE/examples").join("agentglot")
}

/// A program's resident memory in bytes.
fn resident(pid: &str) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap_or_default();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap_or(0) << 10
}

fn median(mut all: Vec<Duration>) -> Duration {
    all.sort();
    all[all.len() / 2]
}

fn told(what: &str, good: bool, text: &str) -> bool {
    println!("{} {what}: {text}", if good { "ok  " } else { "MISS" });
    good
}

/// `agentglot run --as claude` with a host.
struct Run {
    child: Child,
    stdin: ChildStdin,
    lines: BufReader<ChildStdout>,
}

impl Run {
    fn start(folder: &Path, port: u16, args: &[&str]) -> Self {
        let mut child = Command::new(program())
            .args(["run", "--as", "claude", "--backend", "model:openai", "--", "--verbose"])
            .args([
                "--input-format",
                "stream-json",
                "--output-format",
                "stream-json",
                "--dangerously-skip-permissions",
            ])
            .args(args)
            .current_dir(folder.join("work"))
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", folder.join("home"))
            .env("OPENAI_BASE_URL", format!("http://127.0.0.1:{port}/v1"))
            .env("OPENAI_MODEL", "gpt-4o")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("agentglot is built");
        let (stdin, stdout) = (child.stdin.take().expect("piped"), child.stdout.take().expect("piped"));
        Self {
            child,
            stdin,
            lines: BufReader::new(stdout),
        }
    }

    fn say(&mut self, text: &str) {
        let line = json!({"type": "user", "message": {"role": "user", "content": text}, "parent_tool_use_id": null, "session_id": ""});
        self.stdin.write_all(format!("{line}\n").as_bytes()).expect("it reads");
    }

    /// Reads to the line that holds this.
    fn until(&mut self, what: &str) -> Option<(Instant, String)> {
        let mut line = String::new();
        loop {
            line.clear();
            if self.lines.read_line(&mut line).ok()? == 0 {
                return None;
            }
            if line.contains(what) {
                return Some((Instant::now(), line));
            }
        }
    }

    fn end(mut self) {
        drop(self.stdin);
        let _ = self.child.wait();
    }
}

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for name in ["work", "home"] {
        std::fs::create_dir(folder.path().join(name)).expect("a folder");
    }
    folder
}

/// From the host's prompt to the first token at the host, against the same request by hand: what the agent adds.
fn first_token(turns: usize) -> bool {
    let server = Server::script(vec![Answer::text("first")]);
    let folder = folder();
    let mut run = Run::start(folder.path(), server.port, &["--include-partial-messages"]);
    let (mut through, mut direct) = (Vec::new(), Vec::new());
    let mut stream = std::net::TcpStream::connect(("127.0.0.1", server.port)).expect("it listens");
    let _ = stream.set_nodelay(true);
    let mut reader = BufReader::new(stream.try_clone().expect("a socket"));
    for turn in 0..turns + 20 {
        let begun = Instant::now();
        run.say(&format!("prompt {turn}"));
        let Some((at, _)) = run.until("text_delta") else {
            return told("first token", false, "the agent ended");
        };
        run.until("\"type\":\"result\"");
        // The same bytes as the agent's last request, over a connection that stands too.
        let body = server.asked().pop().map(|asked| asked.body.to_string()).unwrap_or_default();
        let request = format!(
            "POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        );
        let asked = Instant::now();
        stream.write_all(request.as_bytes()).expect("it reads");
        let mut line = String::new();
        while !line.contains("\"content\":\"first\"") {
            line.clear();
            reader.read_line(&mut line).expect("it answers");
        }
        let answered = asked.elapsed();
        while line.trim() != "0" {
            line.clear();
            reader.read_line(&mut line).expect("it ends");
        }
        reader.read_line(&mut line).expect("it ends");
        // The first turns warm up.
        if turn >= 20 {
            through.push(at - begun);
            direct.push(answered);
        }
    }
    run.end();
    let (through, direct) = (median(through), median(direct));
    let added = through.saturating_sub(direct);
    told(
        "first token",
        added <= Duration::from_millis(1),
        &format!("{turns} turns of one session, p50 {through:?} through the agent, {direct:?} without it: {added:?} more (bar 1 ms)"),
    )
}

/// Many agents in this one process, each with a turn of two rounds and a command, all at once.
fn sessions(many: usize) -> bool {
    let us = std::env::current_exe().expect("it runs");
    let mut server = Command::new(us)
        .arg("serve")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("it runs");
    let mut port = String::new();
    BufReader::new(server.stdout.take().expect("piped"))
        .read_line(&mut port)
        .expect("it says its port");
    let folder = folder();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let home = folder.path().join("home");
    let endpoint = Endpoint::new(Api::Openai, Some(&format!("http://127.0.0.1:{}/v1", port.trim())), Some(Key::bearer("k")));
    let begun = Instant::now();
    let (lost, empty, full) = runtime.block_on(async {
        let client = Rc::new(Client::new(endpoint, catalog()).expect("a client"));
        let empty = resident("self");
        let one = |number: usize| {
            let (client, folder, home) = (client.clone(), folder.path().to_owned(), home.clone());
            async move {
                let said = session(number, client, &folder, &home).await;
                said.contains(&format!("done-{number}x"))
            }
        };
        let all = futures_util::future::join_all((0..many).map(one));
        let mut most = 0;
        let watch = async {
            loop {
                most = most.max(resident("self"));
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        let good = tokio::select! {
            good = all => good,
            () = watch => Vec::new(),
        };
        (good.iter().filter(|good| !**good).count(), empty, most)
    });
    let _ = server.kill();
    let _ = server.wait();
    let each = full.saturating_sub(empty) / many as u64;
    told(
        "sessions",
        lost == 0 && each < 1 << 20,
        &format!(
            "{many} at once in {:?}, {lost} lost, {} KiB above the empty process's {} KiB: {} KiB each (bar 1024)",
            begun.elapsed(),
            (full - empty) >> 10,
            empty >> 10,
            each >> 10
        ),
    )
}

/// One session through the library: what it says.
async fn session(number: usize, client: Rc<Client>, folder: &Path, home: &Path) -> String {
    let cwd = folder.join("work").join(number.to_string());
    std::fs::create_dir(&cwd).expect("a folder");
    let cwd: PathBuf = cwd.canonicalize().expect("it is there");
    let mut launch = Launch::new(Dialect::Claude);
    launch.permission = Some(PermissionMode::Bypass);
    let places: HashMap<&str, PathBuf> = HashMap::from([("HOME", home.to_owned())]);
    let store = Store::open(persona::of(Dialect::Claude).sessions, &cwd, &|name| {
        places.get(name).map(|path| path.clone().into_os_string())
    });
    let kept = store.begin(&Ask::default(), Writer::new(&cwd)).expect("a session");
    let mut agent = Agent::new(Parts {
        dialect: Dialect::Claude,
        launch,
        cwd,
        model: client,
        model_name: Some("gpt-4o".to_owned()),
        models: Models::new(Api::Openai, BTreeMap::new(), "gpt-4o".to_owned(), &|_| None),
        limits: Default::default(),
        kept,
        pass_env: Vec::new(),
        commands: Settings {
            // What looks after commands if this process dies is the program itself.
            watcher: Watcher::Program(program()),
            ..Settings::default()
        },
        engine: Engine::new(None, |_| None).expect("the usual one"),
        servers: Vec::new(),
        trusts: |_| false,
        heeds_host: true,
        warn: |text| eprintln!("{text}"),
    })
    .expect("an agent");
    let text = format!("mark-{number}x go");
    let prompt = Prompt {
        content: Content::Text(Str::trusted(&text)),
        source: PromptSource::Host,
    };
    agent.input(&Input {
        origin: Origin::default(),
        kind: InputKind::Prompt(&prompt),
        fields: &[],
    });
    let mut said = Vec::new();
    loop {
        if agent.read(&mut said).await != Said::Bytes {
            break;
        }
        let over = said.windows(17).any(|window| window == b"\"event\":\"outcome\"");
        if over {
            break;
        }
    }
    agent.stop().await;
    String::from_utf8_lossy(&said).into_owned()
}

/// One session of so many rounds, which is made shorter whenever the model's window is full: its memory, early and late.
fn rounds(many: usize) -> bool {
    let size = Arc::new(Mutex::new((0_usize, 0_usize)));
    let seen = size.clone();
    // The window counts as full at 120,000 tokens: every 60 rounds or so.
    let server = Server::start_unlogged(move |asked, _| {
        let all = asked.body["messages"].as_array().map_or(0, Vec::len);
        if asked.last().contains("Summarise this conversation") {
            return Answer::text("it went on");
        }
        let mut rounds = seen.lock().expect("no panic");
        rounds.0 += 1;
        rounds.1 = rounds.1.max(all);
        let call = json!({"command": format!("echo round {}", rounds.0), "description": "counts"});
        let used = Step::Used(all as u64 * 1000, 10);
        if rounds.0 >= many {
            return Answer::steps(vec![Step::Text("done".into()), used]);
        }
        Answer::steps(vec![Step::Call(format!("call_{}", rounds.0), "Bash".into(), call.to_string()), used])
    });
    let folder = folder();
    let mut run = Run::start(folder.path(), server.port, &[]);
    let pid = run.child.id().to_string();
    let begun = Instant::now();
    run.say("go on and on");
    let mut early = 0;
    let mut line = String::new();
    let mut results = 0;
    loop {
        line.clear();
        if run.lines.read_line(&mut line).unwrap_or(0) == 0 {
            return told("rounds", false, "the agent ended");
        }
        if line.contains("tool_result") {
            results += 1;
            if results == many / 10 {
                early = resident(&pid);
            }
        }
        if line.contains("\"type\":\"result\"") {
            break;
        }
    }
    let late = resident(&pid);
    run.end();
    let most = size.lock().expect("no panic").1;
    // Room for what an allocator keeps.
    let good = results + 1 >= many && late < early + (8 << 20);
    told(
        "rounds",
        good,
        &format!(
            "{} in {:?}, at most {most} messages a request; {} KiB after a tenth, {} KiB at the end (bar 8 MiB more)",
            results + 1,
            begun.elapsed(),
            early >> 10,
            late >> 10
        ),
    )
}

/// A transcript of so many megabytes whose compaction lies near its end: from the start of the process to its first request.
fn resume(megabytes: usize) -> bool {
    let folder = folder();
    let home = folder.path().join("home");
    let cwd = folder.path().join("work").canonicalize().expect("it is there");
    let places: HashMap<&str, PathBuf> = HashMap::from([("HOME", home)]);
    let store = Store::open(persona::of(Dialect::Claude).sessions, &cwd, &|name| {
        places.get(name).map(|path| path.clone().into_os_string())
    });
    let (mut transcript, _) = store.begin(&Ask::default(), Writer::new(&cwd)).expect("a session");
    use agentglot::agent::model::message::Part;
    use agentglot::agent::store::{Compaction, Round, UserFacts};
    let id = transcript.id().to_owned();
    let path = transcript.path().expect("it is kept").to_owned();
    let text = "wool and sheep and more wool; ".repeat(300);
    let turn = |transcript: &mut agentglot::agent::store::Transcript| {
        transcript.append_user(&[Part::Text(text.clone())], &UserFacts::default());
        let round = Round {
            // As servers do that give every reply the same id.
            message_id: "msg_1",
            model: "gpt-4o",
            ..Round::default()
        };
        transcript.append_assistant(&[Part::Text(text.clone())], &round, &[]);
        transcript.end_turn();
    };
    let size = || std::fs::metadata(&path).map_or(0, |found| found.len());
    while size() < (megabytes as u64) << 20 {
        turn(&mut transcript);
    }
    transcript.compact("it was about wool", &Compaction::default());
    for _ in 0..5 {
        turn(&mut transcript);
    }
    drop(transcript);
    let mut all = Vec::new();
    for _ in 0..5 {
        let came: Arc<Mutex<Option<Instant>>> = Arc::default();
        let at = came.clone();
        let server = Server::start(move |_, _| {
            at.lock().expect("no panic").get_or_insert_with(Instant::now);
            Answer::text("here")
        });
        let begun = Instant::now();
        let mut run = Run::start(folder.path(), server.port, &["--resume", &id]);
        run.say("and now?");
        let result = run.until("\"type\":\"result\"").map(|(_, line)| line).unwrap_or_default();
        run.end();
        let asked = server.asked();
        let whole = asked
            .first()
            .is_some_and(|asked| asked.all().contains("it was about wool") && asked.all().contains("and now?"));
        let result: Value = serde_json::from_str(&result).unwrap_or_default();
        if !whole || result["is_error"] != false {
            return told("resume", false, &format!("it did not go on: {result}"));
        }
        all.push(came.lock().expect("no panic").expect("it was asked") - begun);
    }
    let took = median(all);
    told(
        "resume",
        took < Duration::from_secs(1),
        &format!(
            "{} MiB, p50 {took:?} from the start of the process to the first request (bar 1 s)",
            size() >> 20
        ),
    )
}

/// Searching a folder, against ripgrep on the same one: the best of rounds in which they take turns.
fn search(folder: &Path) -> bool {
    let wall = Wall::new(folder).expect("a folder");
    let cancel = CancellationToken::new();
    let here = || wall.locate(".").expect("it is there");
    let tree = |ignored| Tree {
        hidden: true,
        ignored,
        ..Tree::default()
    };
    let files = |pattern: &str, order| {
        let asked = glob::Asked {
            pattern: pattern.to_owned(),
            names: true,
            any_case: false,
            tree: tree(true),
            order,
            most: 100,
        };
        glob::glob(&wall, &here(), &asked, &cancel).expect("a good pattern").total
    };
    let lines = |pattern: &str, want| {
        let asked = grep::Asked {
            pattern: pattern.to_owned(),
            any_case: false,
            multiline: false,
            want,
            tree: tree(false),
        };
        grep::grep(&here(), &asked, &cancel).expect("a good pattern").files.len()
    };
    let ripgrep = |args: &[&str]| {
        let out = Command::new("rg")
            .args(args)
            .current_dir(folder)
            .stdin(Stdio::null())
            .output()
            .expect("rg is there");
        out.stdout.iter().filter(|byte| **byte == b'\n').count()
    };
    let all = ["--files", "--hidden", "--no-ignore", "--glob", "!.git"];
    let of = |more: &[&'static str]| [all.as_slice(), more].concat();
    let (rust, sorted) = (of(&["--glob", "*.rs"]), of(&["--glob", "*.rs", "--sortr", "modified"]));
    let (every, few) = (of(&[]), of(&["--glob", "lib.rs"]));
    let names = ["--hidden", "--glob", "!.git", "--files-with-matches"];
    let (common, rare) = (
        [names.as_slice(), &["impl"]].concat(),
        [names.as_slice(), &["\\bunsafe extern\\b"]].concat(),
    );
    type Ours<'o> = Box<dyn Fn() -> usize + 'o>;
    let runs: Vec<(&str, Ours<'_>, &[&str])> = vec![
        (
            "glob *.rs, the newest 100, against rg sorted",
            Box::new(|| files("*.rs", glob::Order::Newest)),
            &sorted,
        ),
        (
            "glob *.rs, the newest 100, against rg unsorted",
            Box::new(|| files("*.rs", glob::Order::Newest)),
            &rust,
        ),
        (
            "glob *, the newest 100, against rg unsorted",
            Box::new(|| files("*", glob::Order::Newest)),
            &every,
        ),
        (
            "glob lib.rs, the newest 100, against rg unsorted",
            Box::new(|| files("lib.rs", glob::Order::Newest)),
            &few,
        ),
        (
            "glob *.rs by path, against rg unsorted",
            Box::new(|| files("*.rs", glob::Order::Path)),
            &rust,
        ),
        ("grep impl, names", Box::new(|| lines("impl", grep::Want::Files)), &common),
        (
            "grep \\bunsafe extern\\b, names",
            Box::new(|| lines(r"\bunsafe extern\b", grep::Want::Files)),
            &rare,
        ),
    ];
    let mut good = true;
    for (what, ours, theirs) in runs {
        let (mut best, mut found) = ([Duration::MAX; 2], [0; 2]);
        for _ in 0..15 {
            let begun = Instant::now();
            found[0] = ours();
            best[0] = best[0].min(begun.elapsed());
            let begun = Instant::now();
            found[1] = ripgrep(theirs);
            best[1] = best[1].min(begun.elapsed());
        }
        let ratio = best[0].as_secs_f64() / best[1].as_secs_f64();
        let text = format!(
            "{:?} against {:?}: {ratio:.2} × (bar 1.5); {} and {} files",
            best[0], best[1], found[0], found[1]
        );
        good &= told(what, ratio <= 1.5 && found[0] == found[1], &text);
    }
    good
}
