//! Real bash against the judge: commands are made up, and every one that would run unasked runs in a room where each file, folder and
//! program that must not be touched tells of it.
//!
//! `AGENTGLOT_BASH_COMMANDS` says how many are made up; the usual number is over in a few seconds. Where it is allowed, the commands run in
//! a namespace of their own without a network.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::{Command, Stdio};

use super::tests::{asked, launch, repository, spec};
use super::*;
use agentglot_adapters::raw::codec::Dialect;
use agentglot_adapters::raw::event::ToolKind;

/// What stands in every file outside the workspace.
const SECRET: &str = "x-c4n4ry-of-the-outside";
/// So many commands run in one sandbox.
const BATCH: usize = 400;

/// Numbers that are the same in every run.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % sides
    }

    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.roll(from.len())]
    }
}

/// Commands that read, as a model writes them.
#[rustfmt::skip]
const READING: &[&str] = &[
    "ls", "ls -la", "ls -R sub", "cat f", "cat f g", "head -n 5 f", "tail -n 2 f", "wc -l f", "grep -rn x src", "grep -n x f", "grep -r x .",
    "find . -name '*.rs'", "find . -type f", "git status", "git log --oneline -5", "git diff", "git show HEAD", "git branch -a", "git grep x",
    "git ls-files", "git blame f", "git stash list", "pwd", "echo x", "sort f", "uniq f", "cut -d: -f1 f", "diff f g", "file f", "stat f",
    "du -s .", "test -f f", "[ -f f ]", "sed -n 1,2p f", "printf '%s\\n' x", "cd sub", "cd src", "cd ..", "cd link", "cd evil", "cd bare",
    "cd module", "cd -", "jq . j", "od f", "hexdump -C f", "md5sum f", "realpath f", "readlink link", "tr a b", "nl f", "tac f", "type ls",
    "command -v ls", "date", "timeout 1 cat f", "comm f g", "cmp f g", "paste f g", "fold f", "column f", "tree", "rg x", "egrep x f", "id", "true",
    "whoami", "basename f", "df .", "git -C sub status",
];
#[rustfmt::skip]
const PATHS: &[&str] = &[
    "f", "g", "src", "src/a", "sub", "sub/s", "link", "link/secret.txt", "link/deep", "../out/secret.txt", "..", ".", "/", "/etc/hostname", "$HOME",
    "~", "evil", "bare", "module", "pipe", "'a b'", "-oX", "./-oX", "*", "l*", "l*/secret.txt", "sub/*", "{f,link/secret.txt}", "?ink/secret.txt",
    "-", "--", "links", "links/s", "src/../link/secret.txt", "sub/../../out/secret.txt", "new", "new/x", "mark", "@f", "f:g", "HEAD:f", "j",
    "attributes", "[l]ink/secret.txt", "link/../out/secret.txt", "/proc/self/root/etc/hostname", "bin/tell", "./bin/tell", "sub/s/", "link/.",
    "./link", "loop", "hard",
];
#[rustfmt::skip]
const OPTIONS: &[&str] = &[
    "-o new", "-onew", "--output=new", "--output new", "--outp=new", "-O", "-Otell", "-Obin/tell", "--open-files-in-pager=bin/tell", "-nObin/tell",
    "-R", "-rR", "-L", "-H", "-f link/secret.txt", "-flink/secret.txt", "--file=link/secret.txt", "-exec bin/tell {} ;", "-exec bin/tell {} \\;",
    "-exec touch new {} +", "-delete", "-fprint new", "-fls new", "-ok tell ;", "--pre=bin/tell", "--pre bin/tell", "--hostname-bin=bin/tell", "-z",
    "--compress-program=bin/tell", "-S1", "-T .", "-C", "-m f", "-c", "-c core.pager=bin/tell", "-c alias.x=!bin/tell", "--exec-path=bin",
    "--git-dir=evil/.git", "-C evil", "-C bare", "-C link", "--ext-diff", "--textconv", "--no-index", "--no-index f link/secret.txt",
    "--recurse-submodules", "--show-signature", "--format=%G?", "-i", "-n", "-l", "-r", "-a", "-e x", "-ex", "--", "-", "-x", "-X", "-p", "-v x",
    "-s x", "-i.bak s/x/y/", "-n w_new", "--files0-from=j", "--from-file=link", "-N", "-u", "-d", "-P", "--follow", "-w 5", "-5", "--include=*",
    "--dereference", "-F", "-q", "--debug", "-D exec", "-nf link/secret.txt", "--rawfile a link/secret.txt", "-Lo 2 new", "-t", "-k1", "-h",
];
#[rustfmt::skip]
const JOINTS: &[&str] = &[
    "; ", " && ", " || ", " | ", "\n", " & ", " |& ", ";", "|", "&&", " ;; ", " \\\n ", "\\\n", " # ", "\r\n", "\u{a0}", " \u{b} ", "\t", " > ",
    " >> ", " < ", " 2>&1 ", " &> ", " >| ", " <<< ", " <<E\n", "\nE\n", " <(", ") ", " $(", "`", " { ", "; }", " ( ", " ) ", " ! ", " time ",
    " [[ ", " ]] ", " >/dev/null ", " 2>/dev/null ", " </dev/null ",
];
#[rustfmt::skip]
const NASTY: &[&str] = &[
    "$(tell)", "`tell`", "$\\\n(tell)", "\"$(tell)\"", "\"`tell`\"", "'$(tell)'", "${x:-$(tell)}", "$((a[$(tell)]))", "$'\\x74ell'", "$\"tell\"",
    "<(tell)", ">(tell)", "{tell,}", "{tell,x}", "\\tell", "'tell'", "t\"el\"l", "eval tell", "command tell", "builtin cd link", "command cd link",
    "exec tell", "env tell", "xargs tell", "bash -c tell", "sh -c 'tell'", "for PATH in bin; do ls; done", "for CDPATH in /; do cd etc; done",
    "PATH=bin ls", "PATH=bin", "CDPATH=/", "HOME=/", "alias ls=tell", "ls() { tell; }", "function ls { tell; }", "trap tell EXIT",
    "trap tell DEBUG", "source bin/tell", ". bin/tell", "hash -p bin/tell ls", "enable -f x ls", "set -- tell", "shopt -s expand_aliases",
    "shopt -s globstar", "printf -v PATH bin", "read PATH < j", "export PATH=bin", "declare PATH=bin", "test -v 'a[$(tell)]'",
    "printf %n 'a[$(tell)]'", "[ -v 'a[$(tell)]' ]", "let 'a[$(tell)]=1'", "unset 'a[$(tell)]'", "touch new", "rm f", "mv f new", "cp f new",
    "ln -s /etc new", "tee new", "mkdir new", "dd of=new", "awk 'BEGIN{system(\"tell\")}'", "sed 1etell f", "sed 'w new' f", "sed -n '1w new' f",
    "find . -exec tell ;", "git config core.pager tell", "git checkout f", "git stash", "git branch new", "git tag new", "git commit -m x",
    "git update-index --refresh", "git gc", "cat <<E\n$(tell)\nE", "cat <<'E'\nx\nE\ntell", "cat <<<$(tell)", "echo x >new", "echo x >>f",
    "echo x>new", "echo x 1>new", ">new", "ls >/dev/null/../new", "ls 2>&1>new", "ls &>new", "ls >&new", "ls <>new", "exec 3>new", "a[$(tell)]=x",
    "case x in x) tell;; esac", "if true; then tell; fi", "while true; do tell; break; done", "select x in a; do tell; done", "coproc tell",
    "time tell", "! tell", "{ tell; }", "(tell)", "[[ $(tell) ]]", "((a[$(tell)]))", "tell", "./bin/tell", "bin/tell", "$X", "${X}", "$@", "\"$@\"",
    "~/bin/tell", "ls -la; tell", "ls\ntell", "ls&tell", "date -s 1", "hostname new", "kill 1", "umask 0", "cat link/secret.txt",
    "cat l*/secret.txt", "cat sub/s", "grep -R . .", "grep -r c4n4ry link", "grep -r . links", "find -L . -type f", "ls link/",
    "head link/deep/../secret.txt", "hexdump -flink/secret.txt", "diff -r links src", "diff links sub", "diff f link/secret.txt", "cmp sub/s f",
    "wc -c sub/s", "git diff --no-index f link/secret.txt", "git diff f ../out/secret.txt", "git -C evil status", "git -C bare log",
    "git --git-dir=evil/.git status", "cd evil && git status", "cd evil; git diff", "cd bare && git log", "cd module && git status",
    "cd link && cat secret.txt", "cd link; cat secret.txt", "cd sub && cat s", "cd ../out && cat secret.txt", "cd -P link && cat secret.txt",
    "cd -- link && cat secret.txt", "cd sub; cd ..; cd ..; cat out/secret.txt", "pushd link; cat secret.txt", "cat pipe", "echo x | uniq - new",
    "uniq f new", "sort -o new f", "sort * ", "tree -o new", "file -C -m f", "xxd f new", "git log --output=new", "git diff --output=new HEAD",
    "git grep -Otell x", "git grep '-nOtell' x", "rg --pre tell x", "find . ?exec tell {} \\;", "jq -n 'input' --rawfile a link/secret.txt",
    "jq -n '$ENV'", "jq -f link/secret.txt j",
];

/// A command line.
fn made_up(dice: &mut Dice) -> String {
    let mut line = String::new();
    for at in 0..=[0, 0, 1, 1, 2, 3][dice.roll(6)] {
        if at > 0 {
            // Mostly what may stand there.
            let joint = if dice.roll(3) > 0 { &JOINTS[..6] } else { JOINTS };
            line.push_str(dice.pick(joint));
        }
        let mut part = match dice.roll(8) {
            0 => dice.pick(NASTY).to_owned(),
            1 => format!("{} {}", dice.pick(READING), dice.pick(NASTY)),
            _ => dice.pick(READING).to_owned(),
        };
        for _ in 0..[0, 0, 0, 1, 1, 2][dice.roll(6)] {
            let more = if dice.roll(2) == 0 { dice.pick(OPTIONS) } else { dice.pick(PATHS) };
            match dice.roll(4) {
                0 => part = part.replacen(' ', &format!(" {more} "), 1),
                _ => write!(part, " {more}").unwrap(),
            }
        }
        line.push_str(&part);
    }
    // Characters that mean something, put in, taken out, doubled.
    if dice.roll(4) == 0 {
        let at = dice.roll(line.len() + 1);
        if line.is_char_boundary(at) {
            let what = dice.pick(&[
                "'", "\"", "\\", "$", "`", "(", ")", "{", "}", ";", "&", "|", "<", ">", "\n", " ", "*", "?", "[", "]", "~", "#", "!", "=", "-", "\t",
                "\r", "%", "^", ",", "..", "$(", "''",
            ]);
            line.insert_str(at, what);
        }
    }
    if dice.roll(8) == 0 && line.is_ascii() && !line.is_empty() {
        line.remove(dice.roll(line.len()));
    }
    line
}

/// A workspace, and around it what nobody may touch.
struct Sandbox {
    _folder: tempfile::TempDir,
    all: PathBuf,
    root: PathBuf,
    isolated: bool,
}

impl Sandbox {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let all = folder.path().canonicalize().unwrap();
        let (root, out) = (all.join("w"), all.join("out"));
        for inside in [
            "w/src",
            "w/sub",
            "w/bin",
            "w/links",
            "w/evil",
            "w/bare/objects",
            "w/bare/refs",
            "w/module",
            "out/deep",
            "home",
        ] {
            fs::create_dir_all(all.join(inside)).unwrap();
        }
        for file in ["out/secret.txt", "out/deep/more.txt", "home/.secret"] {
            fs::write(all.join(file), format!("{SECRET}\n")).unwrap();
        }
        for file in ["f", "g", "src/a", "src/b.rs", "sub/h", "-oX", "a b", "-n"] {
            fs::write(root.join(file), "x y\nz\n").unwrap();
        }
        fs::write(root.join("j"), "{\"a\": \"/etc\"}\n").unwrap();
        symlink(&out, root.join("link")).unwrap();
        symlink(out.join("secret.txt"), root.join("sub/s")).unwrap();
        symlink(out.join("secret.txt"), root.join("links/s")).unwrap();
        symlink("loop", root.join("loop")).unwrap();
        rustix::fs::mknodat(rustix::fs::CWD, root.join("pipe"), rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
        // Whoever runs one of these leaves a mark.
        let told = all.join("told");
        for program in ["tell", "ls", "cat", "git", "x"] {
            let path = root.join("bin").join(program);
            fs::write(&path, format!("#!/bin/sh\necho ran >>{}\n", told.display())).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        }
        let tell = root.join("bin/tell").display().to_string();
        let evil = format!(
            "[core]\n\trepositoryformatversion = 0\n\tfsmonitor = {tell}\n\tpager = {tell}\n\thooksPath = {0}\n[diff]\n\texternal = {tell}\n[diff \"d\"]\n\ttextconv = {tell}\n\
             [filter \"d\"]\n\tclean = {tell}\n\tsmudge = {tell}\n[alias]\n\tstatus = !{tell}\n",
            root.join("bin").display()
        );
        let git = |folder: &Path, arguments: &[&str]| {
            let mut done = Command::new("git");
            done.args(["-c", "user.name=x", "-c", "user.email=x@x", "-c", "init.defaultBranch=main"])
                .args(arguments);
            let done = done
                .current_dir(folder)
                .env("HOME", &all)
                .env("GIT_CONFIG_NOSYSTEM", "1")
                .output()
                .unwrap();
            assert!(done.status.success(), "{arguments:?} {}", String::from_utf8_lossy(&done.stderr));
        };
        for folder in [root.clone(), root.join("evil"), root.join("module")] {
            git(&folder, &["init", "-q"]);
            fs::write(folder.join("tracked"), "x\n").unwrap();
            fs::write(folder.join(".gitattributes"), "* diff=d filter=d\n").unwrap();
            git(&folder, &["add", "tracked", ".gitattributes"]);
            git(&folder, &["commit", "-q", "-m", "x"]);
        }
        // A submodule whose settings say what runs.
        fs::create_dir_all(root.join("module/inner")).unwrap();
        git(&root.join("module/inner"), &["init", "-q"]);
        git(&root.join("module/inner"), &["commit", "-q", "--allow-empty", "-m", "x"]);
        git(&root.join("module"), &["add", "inner"]);
        fs::write(root.join("module/inner/.git/config"), &evil).unwrap();
        fs::write(root.join("evil/.git/config"), &evil).unwrap();
        repository(&root.join("bare"));
        for name in ["HEAD", "config", "objects", "refs"] {
            let _ = fs::remove_dir_all(root.join("bare").join(name));
            fs::rename(root.join("bare/.git").join(name), root.join("bare").join(name)).unwrap();
        }
        fs::remove_dir_all(root.join("bare/.git")).unwrap();
        fs::write(root.join("bare/config"), &evil).unwrap();
        let isolated = Command::new("unshare")
            .args(["-rmn", "true"])
            .stderr(Stdio::null())
            .status()
            .is_ok_and(|status| status.success());
        Self {
            _folder: folder,
            all,
            root,
            isolated,
        }
    }

    /// Everything that is there, but for what git notes of files by the way.
    fn state(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let mut state = BTreeMap::new();
        let mut folders = vec![self.all.clone()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap().flatten() {
                let (path, kind) = (entry.path(), entry.file_type().unwrap());
                let content = if kind.is_dir() {
                    folders.push(path.clone());
                    Vec::new()
                } else if kind.is_file() && !path.ends_with(".git/index") {
                    fs::read(&path).unwrap()
                } else {
                    fs::read_link(&path).map(|to| to.display().to_string().into_bytes()).unwrap_or_default()
                };
                state.insert(path, content);
            }
        }
        state
    }

    /// What commands print, each in a shell of its own.
    fn run(&self, lines: &[String]) -> String {
        // No shell reads all of them: the first that is strange would take the rest along.
        let mut script = String::new();
        for line in lines {
            let quoted = line.replace('\'', "'\\''");
            writeln!(script, "cd {}\ntimeout 5 /bin/bash -c '{quoted}' </dev/null 2>&1", self.root.display()).unwrap();
        }
        let file = self.all.with_extension("sh");
        fs::write(&file, script).unwrap();
        let mut command = if self.isolated {
            Command::new("unshare")
        } else {
            Command::new("/bin/bash")
        };
        if self.isolated {
            command.args(["-rmn", "/bin/bash"]);
        }
        command.arg(&file).env_clear().current_dir(&self.root).stdin(Stdio::null());
        command
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .env("HOME", self.all.join("home"))
            .env("X", "tell");
        command
            .env("GIT_OPTIONAL_LOCKS", "0")
            .env("GIT_PAGER", "cat")
            .env("PAGER", "cat")
            .env("GIT_CONFIG_NOSYSTEM", "1");
        let done = command.output().unwrap();
        let _ = fs::remove_file(&file);
        String::from_utf8_lossy(&done.stdout).into_owned()
    }

    /// What went wrong, if something did.
    fn harm(&self, before: &BTreeMap<PathBuf, Vec<u8>>, printed: &str) -> Option<String> {
        let after = self.state();
        let changed = after
            .iter()
            .find(|(path, content)| before.get(*path) != Some(content))
            .map(|(path, _)| path);
        let gone = before.keys().find(|path| !after.contains_key(*path));
        match changed.or(gone) {
            Some(path) => Some(format!("{} is not what it was", path.display())),
            None => printed.contains(SECRET).then(|| "it told what is outside".to_owned()),
        }
    }
}

#[test]
fn what_runs_unasked_does_no_harm_in_a_real_shell() {
    let number = std::env::var("AGENTGLOT_BASH_COMMANDS")
        .ok()
        .and_then(|number| number.parse().ok())
        .unwrap_or(3000);
    let sandbox = Sandbox::new();
    for line in [
        "touch new",
        "rm f",
        "cat link/secret.txt",
        "grep -R x links",
        "bin/tell",
        "echo x >>../out/secret.txt",
        "cd evil && git status",
        "cd module && git status",
    ] {
        let room = Sandbox::new();
        let before = room.state();
        let printed = room.run(&[line.to_owned()]);
        assert!(room.harm(&before, &printed).is_some(), "{line} was not noticed: {printed}");
    }
    let vocabulary = crate::persona::of(Dialect::Claude).vocabulary();
    let launch = launch(Dialect::Claude, None);
    let (policy, _) = Policy::new(&launch, vocabulary, &sandbox.root, Some(sandbox.all.join("home")), None);
    let shell = spec("Bash", ToolKind::Shell);
    let runs = |line: &str| matches!(policy.judge(&shell, &json!({"command": line}), &asked(line)), Verdict::Allow { .. });
    let before = sandbox.state();
    let mut dice = Dice(0x9E37_79B9_7F4A_7C15);
    let mut unasked: Vec<String> = READING.iter().filter(|line| runs(line)).map(|line| (*line).to_owned()).collect();
    // A judge that asks about everything is none.
    assert!(unasked.len() * 10 > READING.len() * 8, "only {unasked:?}");
    let mut ran = 0;
    for at in 0..number {
        let line = made_up(&mut dice);
        if runs(&line) {
            unasked.push(line);
        }
        if unasked.len() < BATCH && at + 1 < number {
            continue;
        }
        let printed = sandbox.run(&unasked);
        if let Some(harm) = sandbox.harm(&before, &printed) {
            for line in &unasked {
                let fresh = Sandbox::new();
                let before = fresh.state();
                let printed = fresh.run(std::slice::from_ref(line));
                if let Some(harm) = fresh.harm(&before, &printed) {
                    panic!("{line:?}: {harm}\n{printed}");
                }
            }
            panic!("{harm}, by all of these together: {unasked:#?}");
        }
        ran += unasked.len();
        unasked.clear();
    }
    assert!(ran * 100 > number * 10, "only {ran} of {number} commands ran unasked");
    eprintln!("{ran} of {number} commands ran unasked");
}
