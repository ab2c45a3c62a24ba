//! Terminals, with real shells behind them.

use super::*;
use crate::tools::shell::tests::{Scene, scene, within};

const LONG: Duration = Duration::from_secs(5);
const QUIET: Duration = Duration::from_millis(200);

struct Desk {
    scene: Scene,
    all: Terminals,
}

impl Desk {
    fn new() -> Self {
        let scene = scene();
        let all = Terminals::new(Rc::clone(&scene.commands));
        Self { scene, all }
    }

    fn start(&self, id: &str, command: &str) {
        self.all.start(id, command, None, Size::default()).unwrap();
    }

    async fn read(&self, id: &str) -> String {
        self.all.read(id, LONG, QUIET).await.unwrap()
    }

    /// Reads until this has come.
    async fn read_to(&self, id: &str, what: &str) -> String {
        let mut all = String::new();
        while !all.contains(what) {
            let read = self.read(id).await;
            assert!(!read.is_empty(), "{what:?} did not come: {all:?}");
            all += &read;
        }
        all
    }
}

#[test]
fn a_program_answers_what_is_typed() {
    within(30, async {
        let desk = Desk::new();
        desk.start("s1", "cat");
        desk.all.send("s1", b"hello\n").await.unwrap();
        assert_eq!(desk.read_to("s1", "hello\r\nhello\r\n").await, "hello\r\nhello\r\n");
        assert_eq!(desk.all.read("s1", Duration::from_millis(100), QUIET).await.unwrap(), "");
        let seen = desk.all.list();
        assert_eq!(
            (seen.len(), seen[0].id.as_str(), seen[0].command.as_str(), seen[0].alive),
            (1, "s1", "cat", true)
        );
        assert!(seen[0].age >= seen[0].idle);
        desk.all.send("s1", b"\x04").await.unwrap();
        assert_eq!(desk.read("s1").await, "");
        tokio::time::sleep(Duration::from_millis(300)).await;
        assert_eq!((desk.all.list()[0].alive, desk.all.list()[0].exit), (false, Some(Exit::Code(0))));
        assert!(matches!(desk.all.send("s1", b"more\n").await, Err(NoTerminal::Over(_))));
        desk.all.close("s1").await.unwrap();
        assert!(desk.all.list().is_empty());
        assert!(matches!(desk.all.close("s1").await, Err(NoTerminal::Unknown(_))));
        assert_eq!(NoTerminal::Unknown("s1".to_owned()).to_string(), "Session s1 not found");
    });
}

#[test]
fn it_is_a_real_terminal() {
    within(30, async {
        let desk = Desk::new();
        let size = Size { rows: 33, columns: 101 };
        desk.all
            .start(
                "s1",
                "stty size; tty; [ -t 0 ] && [ -t 1 ] && : </dev/tty && read x && stty size",
                None,
                size,
            )
            .unwrap();
        let shown = desk.read_to("s1", "/pts/").await;
        assert!(shown.starts_with("33 101\r\n"), "{shown:?}");
        desk.all.resize("s1", Size { rows: 5, columns: 40 }).unwrap();
        desk.all.send("s1", b"\n").await.unwrap();
        desk.read_to("s1", "5 40\r\n").await;
        // Ctrl-C reaches the program.
        desk.start("s2", "trap 'echo caught; exit 7' INT; echo ready; while :; do read -r -t 0.1 x; done");
        desk.read_to("s2", "ready").await;
        desk.all.send("s2", b"\x03").await.unwrap();
        desk.read_to("s2", "caught").await;
        tokio::time::sleep(Duration::from_millis(400)).await;
        assert_eq!(desk.all.list()[1].exit, Some(Exit::Code(7)));
    });
}

/// A script's background ignores the signals of a terminal, and children inherit that.
#[test]
fn it_is_a_real_terminal_in_the_background_too() {
    let again = std::process::Command::new("/bin/sh")
        .args([
            "-c",
            "trap '' INT QUIT TSTP; exec \"$0\" --exact tools::pty::tests::it_is_a_real_terminal",
        ])
        .arg(std::env::current_exe().unwrap())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&again.stdout);
    assert!(again.status.success() && said.contains("1 passed"), "{said}");
}

#[test]
fn python_is_talked_to() {
    within(60, async {
        let desk = Desk::new();
        desk.start("py", "command -v python3 >/dev/null && exec python3 -i -q || echo none");
        let shown = desk.all.read("py", Duration::from_secs(20), Duration::from_secs(1)).await.unwrap();
        if shown.contains("none") {
            eprintln!("left out: no python3 here");
            return;
        }
        desk.all.send("py", b"print(6 * 7)\n").await.unwrap();
        desk.read_to("py", "42").await;
        desk.all.close("py").await.unwrap();
        desk.scene.nothing_is_left().await;
    });
}

#[test]
fn nothing_is_left_of_a_session_that_is_closed_or_dropped() {
    within(60, async {
        let desk = Desk::new();
        // An interactive shell puts its jobs into groups of their own.
        for id in ["a", "b", "c"] {
            desk.start(id, "exec bash --norc --noprofile -i");
            desk.all
                .send(
                    id,
                    b"sleep 100 &\nsetsid sleep 100 &\ntrap '' HUP TERM; nohup sleep 100 &\nsleep 100; echo no\n",
                )
                .await
                .unwrap();
            desk.read(id).await;
        }
        desk.start("deaf", "trap '' HUP TERM INT; echo deaf; while :; do sleep 1; done");
        desk.read_to("deaf", "deaf").await;
        assert!(desk.scene.alive() >= 12, "{}", desk.scene.alive());
        desk.all.close("a").await.unwrap();
        desk.all.close("deaf").await.unwrap();
        assert!(desk.scene.alive() >= 6, "{}", desk.scene.alive());
        let Desk { scene, all } = desk;
        all.end().await;
        scene.nothing_is_left().await;
        all.start("d", "exec bash --norc -i", None, Size::default()).unwrap();
        all.send("d", b"sleep 100 &\n").await.unwrap();
        all.read("d", LONG, QUIET).await.unwrap();
        assert!(scene.alive() > 0);
        drop(all);
        scene.nothing_is_left().await;
    });
}

#[test]
fn a_flood_is_bounded_and_a_program_that_does_not_read_is_not_waited_for() {
    within(60, async {
        let desk = Desk::new();
        desk.start("s1", "head -c 20000000 /dev/zero | tr '\\0' x; echo; echo end; sleep 100");
        tokio::time::sleep(Duration::from_secs(1)).await;
        let shown = desk.read_to("s1", "end\r\n").await;
        assert!(shown.len() < 2 << 20, "{}", shown.len());
        assert!(shown.contains("bytes left out"));
        desk.start("s2", "stty raw -echo; echo ready; exec sleep 100");
        desk.read_to("s2", "ready").await;
        let stuck = desk.all.send("s2", &vec![b'x'; 1 << 20]).await;
        assert!(matches!(stuck, Err(NoTerminal::Stuck(_))), "{stuck:?}");
        desk.all.end().await;
        desk.scene.nothing_is_left().await;
    });
}
