use std::cell::RefCell;
use std::fs;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio_util::sync::CancellationToken;

use serde_json::Value;

use super::{CannotRun, Cause, Commands, Order, Ran, Settings};
use crate::tools::confine::Confine;
use crate::tools::environment::scrubbed;
use crate::tools::processes::Processes;
use crate::tools::{Cx, Given, Progress, Tool, World};
use crate::workspace::Wall;
use agentglot_process::{Exit, Watcher};

/// A session in a new folder. Its commands carry `MARK=…`, by which what they leave behind is found.
pub(crate) struct Scene {
    pub(crate) folder: tempfile::TempDir,
    pub(crate) world: World,
    pub(crate) commands: Rc<Commands>,
    pub(crate) processes: Rc<Processes>,
    mark: String,
}

pub(crate) fn scene() -> Scene {
    scene_with(|_, _| {})
}

pub(crate) fn scene_with(change: impl FnOnce(&mut Settings, &World)) -> Scene {
    let folder = tempfile::tempdir().unwrap();
    let (root, scratch) = (folder.path().join("work"), folder.path().join("scratch"));
    fs::create_dir(&root).unwrap();
    fs::create_dir(&scratch).unwrap();
    let mark = agentglot_process::mark();
    let extra = [("MARK".to_owned(), mark.clone())];
    let world = World {
        wall: Arc::new(Wall::new(&root).unwrap()),
        environment: Arc::new(scrubbed(
            std::env::vars().filter(|(name, _)| name == "PATH" || name == "HOME"),
            extra,
            &[],
        )),
        scratch: scratch.canonicalize().unwrap(),
    };
    let mut settings = Settings {
        watcher: Watcher::Nobody,
        ..Settings::default()
    };
    change(&mut settings, &world);
    let processes = Processes::new(&world, settings);
    Scene {
        folder,
        world,
        commands: Rc::clone(&processes.commands),
        processes,
        mark,
    }
}

/// Calls a tool.
pub(crate) async fn call(scene: &Scene, tools: &[Rc<dyn Tool>], name: &str, input: Value) -> Given {
    let tool = tools.iter().find(|tool| tool.spec().name == name).unwrap();
    let cx = Cx {
        call: "c1",
        cancel: CancellationToken::new(),
        world: &scene.world,
        tell: &|_| {},
    };
    tool.run(&input, &cx).await
}

impl Scene {
    /// Its commands may write in `outside/in`; `None` if the kernel cannot do it.
    fn confined(outside: &Path) -> Option<Self> {
        let inside = outside.join("in");
        fs::create_dir(&inside).unwrap();
        let confine = Confine::to([inside]).without_temporary();
        confine.check().ok()?;
        Some(scene_with(|settings, _| settings.confine = Some(confine)))
    }

    pub(crate) fn root(&self) -> &Path {
        self.world.wall.root()
    }

    async fn run(&self, order: Order<'_>) -> Ran {
        self.commands.run(order, &CancellationToken::new(), &|_| {}).await.unwrap()
    }

    async fn says(&self, command: &str) -> String {
        let ran = self.run(Order::new(command)).await;
        assert!(ran.is_success(), "{command}: {ran:?}");
        ran.stdout.text()
    }

    /// How many processes of this scene are alive.
    pub(crate) fn alive(&self) -> usize {
        let needle = format!("MARK={}", self.mark).into_bytes();
        let all = fs::read_dir("/proc").into_iter().flatten().flatten();
        all.filter(|entry| {
            let environment = fs::read(entry.path().join("environ")).unwrap_or_default();
            environment.split(|&byte| byte == 0).any(|variable| variable == needle)
        })
        .count()
    }

    pub(crate) async fn nothing_is_left(&self) {
        let until = Instant::now() + Duration::from_secs(5);
        while self.alive() > 0 {
            assert!(Instant::now() < until, "{} processes are left", self.alive());
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }
}

pub(crate) fn within(seconds: u64, test: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let local = tokio::task::LocalSet::new();
    let in_time = local.block_on(&runtime, async { tokio::time::timeout(Duration::from_secs(seconds), test).await });
    assert!(in_time.is_ok(), "it took longer than {seconds} s");
}

const SHORT: Option<Duration> = Some(Duration::from_millis(300));

#[test]
fn runs_and_says_how_it_went() {
    within(20, async {
        let scene = scene();
        let ran = scene.run(Order::new("echo out; echo err >&2; exit 3")).await;
        assert_eq!((ran.exit, ran.cause), (Some(Exit::Code(3)), Cause::Itself));
        assert_eq!((ran.stdout.text().as_str(), ran.stderr.text().as_str()), ("out\n", "err\n"));
        assert_eq!(ran.both.total(), 8);
        assert!(!ran.is_success() && !ran.left && ran.whole.is_none());
        assert_eq!(scene.says("pwd -P").await, format!("{}\n", scene.root().display()));
        assert_eq!(scene.says("printf '%s' \"$0\"; [ -t 0 ] || cat").await, "/bin/bash");
        let signalled = scene.run(Order::new("kill -SEGV $$")).await;
        assert_eq!((signalled.exit, signalled.code()), (Some(Exit::Signal(11)), 139));
        assert_eq!(signalled.exit.unwrap().to_string(), "was ended by signal 11 (SIGSEGV)");
        let unknown = scene.run(Order::new("no-such-program-at-all")).await;
        assert_eq!(unknown.code(), 127);
        assert!(unknown.stderr.text().contains("no-such-program-at-all"));
        let syntax = scene.run(Order::new("echo 'oops")).await;
        assert_eq!(syntax.code(), 2, "{syntax:?}");
        scene.nothing_is_left().await;
    });
}

#[test]
fn one_stream_keeps_the_order() {
    within(20, async {
        let scene = scene();
        let command = "for i in 1 2 3 4 5 6 7 8 9; do echo e$i >&2; echo o$i; done";
        let ran = scene
            .run(Order {
                merged: true,
                ..Order::new(command)
            })
            .await;
        let expected: String = (1..10).map(|i| format!("e{i}\no{i}\n")).collect();
        assert_eq!(ran.stdout.text(), expected);
        assert_eq!((ran.stderr.total(), ran.both.total()), (0, 0));
    });
}

#[test]
fn tells_what_comes_as_it_comes() {
    within(20, async {
        let scene = scene();
        let (begun, heard) = (Instant::now(), RefCell::new(Vec::new()));
        let tell = |progress: Progress<'_>| {
            let (which, bytes) = match progress {
                Progress::Stdout(bytes) => ('o', bytes),
                Progress::Stderr(bytes) => ('e', bytes),
            };
            heard.borrow_mut().push((which, bytes.to_vec(), begun.elapsed()));
        };
        let order = Order::new("echo a; sleep 0.5; echo b >&2; sleep 0.5; echo c");
        scene.commands.run(order, &CancellationToken::new(), &tell).await.unwrap();
        let heard = heard.into_inner();
        let said: Vec<_> = heard.iter().map(|(which, bytes, _)| (*which, bytes.as_slice())).collect();
        assert_eq!(said, [('o', &b"a\n"[..]), ('e', b"b\n"), ('o', b"c\n")]);
        assert!(heard[0].2 + Duration::from_millis(400) < heard[1].2, "{heard:?}");
    });
}

#[test]
fn a_command_that_hangs_is_ended() {
    within(30, async {
        let scene = scene();
        for command in [
            "echo a; sleep 100",
            "trap '' TERM; echo a; while :; do sleep 100; done",
            "echo a; sleep 100 & wait",
        ] {
            let begun = Instant::now();
            let ran = scene
                .run(Order {
                    timeout: SHORT,
                    ..Order::new(command)
                })
                .await;
            assert_eq!((ran.cause, ran.stdout.text().as_str()), (Cause::TimedOut, "a\n"), "{command}");
            assert!(ran.exit.is_some(), "{command}");
            assert!(begun.elapsed() < Duration::from_secs(3), "{command}: {:?}", begun.elapsed());
            scene.nothing_is_left().await;
        }
    });
}

#[test]
fn what_leaves_the_group_is_ended_too() {
    within(30, async {
        let scene = scene();
        let command = "setsid sleep 100 & setsid sh -c 'trap \"\" TERM; sleep 100' & sleep 100";
        let ran = scene
            .run(Order {
                timeout: SHORT,
                ..Order::new(command)
            })
            .await;
        assert_eq!(ran.cause, Cause::TimedOut);
        scene.nothing_is_left().await;
        // A daemon lives until the session ends.
        assert_eq!(
            scene.says("setsid sleep 100 >/dev/null 2>&1 & sleep 0.3; echo started").await,
            "started\n"
        );
        assert_eq!(scene.alive(), 1);
        scene.commands.end().await;
        scene.nothing_is_left().await;
        scene.says("setsid sleep 100 >/dev/null 2>&1 & sleep 0.3").await;
        let Scene {
            commands,
            processes,
            mark,
            folder,
            world,
        } = scene;
        drop((commands, processes));
        let processes = Processes::new(&world, Settings::default());
        let after = Scene {
            commands: Rc::clone(&processes.commands),
            processes,
            mark,
            folder,
            world,
        };
        after.nothing_is_left().await;
    });
}

#[test]
fn a_background_process_that_holds_the_pipes_is_not_waited_for() {
    within(20, async {
        let scene = scene();
        for background in ["sleep 100", "(while :; do echo x; sleep 0.01; done)", "yes"] {
            let (begun, command) = (Instant::now(), format!("{background} & echo hi >&2"));
            let ran = scene.run(Order::new(&command)).await;
            assert_eq!((ran.exit, ran.cause, ran.left), (Some(Exit::Code(0)), Cause::Itself, true), "{command}");
            // Not on stdout: of that only both ends are kept, and a flood may be faster than the shell.
            assert_eq!(ran.stderr.text(), "hi\n", "{command}");
            assert!(begun.elapsed() < Duration::from_secs(3), "{command}: {:?}", begun.elapsed());
            scene.nothing_is_left().await;
        }
        // What ends in time is heard out.
        let ran = scene.run(Order::new("(sleep 0.02; echo late) & echo hi")).await;
        assert_eq!((ran.stdout.text().as_str(), ran.left), ("hi\nlate\n", false));
    });
}

#[test]
fn forks_without_end_are_bounded() {
    within(60, async {
        let scene = scene();
        // Each generation forks two; the depth bounds what a failing test could do to the machine.
        let bomb = "bomb() { if [ $1 -gt 0 ]; then bomb $(($1 - 1)) & bomb $(($1 - 1)) & fi; sleep 100; }; bomb 7";
        let ran = scene
            .run(Order {
                timeout: Some(Duration::from_secs(1)),
                ..Order::new(bomb)
            })
            .await;
        assert_eq!(ran.cause, Cause::TimedOut);
        scene.nothing_is_left().await;
        let left = scene.run(Order::new(&bomb.replace("bomb 7", "bomb 6 &"))).await;
        assert_eq!((left.exit, left.left), (Some(Exit::Code(0)), true));
        scene.nothing_is_left().await;
    });
}

#[test]
fn cancelled_in_the_middle_and_dropped_in_the_middle() {
    within(30, async {
        let scene = scene();
        let cancel = CancellationToken::new();
        let order = || Order::new("setsid sleep 100 & echo a; sleep 100");
        let ran = scene.commands.run(order(), &cancel, &|_| cancel.cancel()).await.unwrap();
        assert_eq!((ran.cause, ran.stdout.text().as_str()), (Cause::Cancelled, "a\n"));
        assert!(ran.took < Duration::from_secs(2), "{:?}", ran.took);
        scene.nothing_is_left().await;
        let never = CancellationToken::new();
        let dropped = tokio::time::timeout(Duration::from_millis(200), scene.commands.run(order(), &never, &|_| {})).await;
        assert!(dropped.is_err());
        scene.nothing_is_left().await;
        // Cancelled before it began: it is ended as soon as it runs.
        let ran = scene.commands.run(order(), &cancel, &|_| {}).await.unwrap();
        assert_eq!(ran.cause, Cause::Cancelled);
        scene.nothing_is_left().await;
    });
}

#[test]
fn a_gigabyte_costs_no_memory() {
    within(120, async {
        let scene = scene();
        let path = scene.commands.file("outputs", "long.txt").unwrap();
        let before = resident();
        let ran = scene
            .run(Order {
                whole: Some((path.clone(), 30_000)),
                ..Order::new("head -c 1073741824 /dev/zero | tr '\\0' x; echo; echo end")
            })
            .await;
        assert!(ran.is_success());
        assert_eq!(ran.stdout.total(), (1 << 30) + 5);
        assert!(ran.stdout.text().ends_with("x\nend\n"));
        assert!(ran.stdout.text().len() < 140 << 10);
        assert_eq!(ran.whole, Some(Ok((path.clone(), super::LONGEST_FILE))));
        assert_eq!(fs::metadata(&path).unwrap().len(), super::LONGEST_FILE);
        let grown = resident().saturating_sub(before);
        // Other tests of this process take memory too.
        assert!(grown < 128 << 20, "{grown} bytes more");
    });
}

/// The memory that this process has in use.
fn resident() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok()).unwrap_or(0) << 10
}

#[test]
fn a_long_output_is_whole_in_a_file() {
    within(20, async {
        let scene = scene();
        for merged in [false, true] {
            let path = scene.commands.file("outputs", if merged { "1" } else { "2" }).unwrap();
            let order = |command| Order {
                merged,
                keep: (10, 10),
                whole: Some((path.clone(), 1000)),
                ..Order::new(command)
            };
            let short = scene.run(order("printf '%1000s' x")).await;
            assert_eq!((short.whole, path.exists()), (None, false));
            let long = scene.run(order("seq 1 500; seq 501 1000 >&2")).await;
            let expected: String = (1..=1000).map(|n| format!("{n}\n")).collect();
            assert_eq!(long.whole, Some(Ok((path.clone(), expected.len() as u64))));
            assert_eq!(fs::read_to_string(&path).unwrap().len(), expected.len());
            if merged {
                assert_eq!(fs::read_to_string(&path).unwrap(), expected);
                assert_eq!(long.stdout.head(), &expected.as_bytes()[..1000]);
            }
            let again = scene.run(order("seq 1 1000")).await;
            assert!(
                again.is_success() && matches!(again.whole, Some(Err(_))),
                "the file is there already: {:?}",
                again.whole
            );
            assert!(!path.exists() || fs::read_to_string(&path).unwrap().len() == expected.len());
        }
    });
}

#[test]
fn bytes_that_are_no_text() {
    within(20, async {
        let scene = scene();
        assert_eq!(scene.says("printf 'a\\377\\376b\\0c'").await, "a\u{FFFD}\u{FFFD}b\0c");
        assert_eq!(scene.says("head -c 100000 /dev/urandom | wc -c").await.trim(), "100000");
    });
}

#[test]
fn cd_carries_over_in_the_workspace_and_not_out_of_it() {
    within(30, async {
        let scene = scene();
        let moving = |command| Order {
            moves: true,
            ..Order::new(command)
        };
        let root = scene.root().to_owned();
        let ran = scene
            .run(moving("mkdir -p 'a b'/c && cd 'a b'/c; echo \"$BASH_ENV|$AGENTGLOT_NOTE\"; false"))
            .await;
        assert_eq!((ran.code(), ran.stdout.text().as_str(), ran.reset), (1, "|\n", None));
        assert_eq!(scene.commands.folder(), root.join("a b/c"));
        assert_eq!(
            scene.run(moving("pwd; exit 5")).await.stdout.text(),
            format!("{}\n", root.join("a b/c").display())
        );
        scene.run(moving("cd ..")).await;
        assert_eq!(scene.commands.folder(), root.join("a b"));
        // Not by a subshell, nor by a command that keeps no folder, nor by one in a folder of its own.
        scene.run(moving("(cd /)")).await;
        scene.run(Order::new("cd /")).await;
        assert_eq!(scene.commands.folder(), root.join("a b"));
        let out = scene.run(moving("cd /; pwd")).await;
        assert_eq!((out.stdout.text().as_str(), out.reset), ("/\n", Some(root.clone())));
        assert_eq!(scene.commands.folder(), root);
        scene.run(moving("cd 'a b'")).await;
        scene.run(Order::new("rm -r ../'a b'")).await;
        assert_eq!(scene.run(moving("pwd")).await.stdout.text(), format!("{}\n", root.display()));
        assert_eq!(fs::read_dir(scene.world.scratch.join("shell")).unwrap().count(), 0);
    });
}

#[test]
fn folders_and_commands_that_cannot_be() {
    within(20, async {
        let scene = scene();
        let refused = async |order: Order<'_>| scene.commands.run(order, &CancellationToken::new(), &|_| {}).await.unwrap_err();
        let gone = Path::new("not/there");
        let order = Order {
            folder: Some(gone),
            ..Order::new("pwd")
        };
        assert!(matches!(refused(order).await, CannotRun::Folder(path) if path.ends_with(gone)));
        assert!(matches!(refused(Order::new(" \n")).await, CannotRun::Empty));
        assert!(matches!(refused(Order::new("echo \0")).await, CannotRun::Nul));
        let long = format!("cat <<'E' | wc -c\n{}\nE", "x".repeat(300_000));
        assert_eq!(scene.says(&long).await.trim(), "300001");
        fs::create_dir(scene.root().join("sub")).unwrap();
        let there = scene
            .run(Order {
                folder: Some(Path::new("sub")),
                ..Order::new("pwd")
            })
            .await;
        assert!(there.stdout.text().ends_with("/sub\n"));
        let other = scene_with(|settings, _| settings.shell = Some("/bin/sh".into()));
        assert_eq!(other.says("echo $0").await, "/bin/sh\n");
        let none = scene_with(|settings, _| settings.shell = Some("/no/shell".into()));
        let error = none
            .commands
            .run(Order::new("pwd"), &CancellationToken::new(), &|_| {})
            .await
            .unwrap_err();
        assert!(error.to_string().starts_with("the command could not be started: "), "{error}");
    });
}

#[test]
fn no_terminal_no_input_no_secrets() {
    within(20, async {
        let scene = scene();
        assert_eq!(scene.says("cat; read line || echo none").await, "none\n");
        assert_eq!(scene.says("(: </dev/tty) 2>/dev/null || echo none").await, "none\n");
        let names = scene.says("env | sed 's/=.*//' | sort | tr '\\n' ' '").await;
        let expected = [
            "AGENTGLOT_DEPTH",
            "AGENTGLOT_FAMILY",
            "GIT_EDITOR",
            "GIT_OPTIONAL_LOCKS",
            "GIT_PAGER",
            "GIT_TERMINAL_PROMPT",
            "HOME",
            "MARK",
            "PAGER",
            "PATH",
            "PWD",
            "SHLVL",
            "_",
        ];
        assert_eq!(names.split_whitespace().collect::<Vec<_>>(), expected);
    });
}

#[test]
fn many_short_commands_leak_nothing() {
    within(300, async {
        let scene = scene();
        scene.says("true").await;
        let open = || fs::read_dir("/proc/self/fd").map_or(0, Iterator::count);
        // `COMMANDS=10000` for a longer run.
        let most = std::env::var("COMMANDS").map_or(1000, |most| most.parse().unwrap());
        let before = open();
        for _ in 0..most {
            assert!(scene.run(Order::new("true")).await.is_success());
        }
        // Other tests of this process open files too.
        assert!(open() < before + 200, "{before} files were open, now {}", open());
        scene.nothing_is_left().await;
    });
}

#[test]
fn landlock_keeps_writes_in() {
    within(20, async {
        let outside = tempfile::tempdir().unwrap();
        let confined = Scene::confined(outside.path());
        let Some(scene) = confined else {
            eprintln!("left out: no Landlock here");
            return;
        };
        fs::write(outside.path().join("there"), "old").unwrap();
        let out = outside.path().display();
        for command in [
            format!("echo x > {out}/new"),
            format!("echo x >> {out}/there"),
            format!("rm {out}/there"),
            format!("mv {out}/there {out}/in/there"),
            format!("mkdir {out}/folder"),
            format!("ln -s /etc {out}/link"),
            format!("setsid -w sh -c 'echo x > {out}/new'"),
        ] {
            let ran = scene.run(Order::new(&command)).await;
            assert!(!ran.is_success(), "{command}");
        }
        assert_eq!(fs::read_to_string(outside.path().join("there")).unwrap(), "old");
        let names: Vec<_> = fs::read_dir(outside.path()).unwrap().flatten().map(|entry| entry.file_name()).collect();
        assert_eq!(names.len(), 2, "{names:?}");
        let inside = format!("echo x > {out}/in/a && mv {out}/in/a {out}/in/b && cat {out}/there {out}/in/b && cd / && echo z >/dev/null");
        let ran = scene
            .run(Order {
                moves: true,
                ..Order::new(&inside)
            })
            .await;
        assert_eq!((ran.stdout.text().as_str(), ran.reset.is_some()), ("oldx\n", true), "{ran:?}");
    });
}

#[test]
fn landlock_that_cannot_be_runs_nothing() {
    within(20, async {
        let scene = scene_with(|settings, _| settings.confine = Some(Confine::to([PathBuf::from("/not/there")])));
        let error = scene
            .commands
            .run(Order::new("touch made"), &CancellationToken::new(), &|_| {})
            .await
            .unwrap_err();
        assert!(error.to_string().starts_with("commands cannot be confined"), "{error}");
        assert!(error.to_string().ends_with("; nothing was run"), "{error}");
        assert!(!scene.root().join("made").exists());
    });
}
