//! What is plain, and what commands are found.

use super::*;

#[test]
fn plain_words_are_what_the_command_gets() {
    let line = r#"r'm' "-r"f \x a\ b "a\"b\\c" "x\|y" 'a$b' '' HEAD~1 a^ {} \$x 2>&1 </dev/null &>/dev/null >> /dev/null"#;
    let commands = plain::read(line).unwrap();
    assert_eq!(
        commands[0].values().unwrap(),
        ["rm", "-rf", "x", "a b", "a\"b\\c", "x\\|y", "a$b", "", "HEAD~1", "a^", "{}", "$x"]
    );
    for (line, then) in [
        ("a", &["a"][..]),
        ("a b;c&&d||e|f\ng", &["a b", "c", "d", "e", "f", "g"]),
        ("a;", &["a"]),
        ("\n\n a \n", &["a"]),
        ("a |\n b &&\n\n c", &["a", "b", "c"]),
        ("[ -f x ] && a", &["[ -f x ]", "a"]),
        ("a 2>/dev/null | b 1>&2", &["a", "b"]),
        ("", &[]),
    ] {
        let texts: Vec<String> = plain::read(line)
            .unwrap_or_else(|why| panic!("{line}: {why}"))
            .iter()
            .map(Command::text)
            .collect();
        assert_eq!(texts, then, "{line}");
    }
}

#[test]
fn what_a_shell_might_mean_otherwise_is_not_plain() {
    for line in [
        "a &",
        "a & b",
        "a |& b",
        "a ;; b",
        "; a",
        "a &&",
        "a |",
        "a && ; b",
        "&& a",
        "| a",
        "a ||| b",
        "(a)",
        "{ a; }",
        "! a",
        "a $x",
        "a \"$x\"",
        "a `b`",
        "a \"`b`\"",
        "a $(b)",
        "$\\\n(a)",
        "a\\\nb",
        "a \"\\\n\"",
        "a *",
        "a ?",
        "a [b]",
        "a[b",
        "a {b,c}",
        "a {1..2}",
        "a {",
        "a }",
        "a ~",
        "a ~/x",
        "a x=~/y",
        "a :~",
        "a x:~root",
        "a#b",
        "a #b",
        "# a",
        "a=b",
        "a=b c",
        "a+=b",
        "PATH=.",
        "'a'=b",
        "a <b",
        "a >b",
        "a >>b",
        "a >|b",
        "a <>b",
        "a <<b\nb",
        "a <<<b",
        "a >/dev/nullx",
        "a >/dev/null'x'",
        "a >/dev/null/../x",
        "a 2>&12",
        "a >&b",
        "a 3>/dev/null",
        "a <(b)",
        "a >(b)",
        "a >&-",
        "a $'b'",
        "a $\"b\"",
        "a \\",
        "a '",
        "a \"",
        "a b\\",
        "for x in a; do b; done",
        "if a; then b; fi",
        "while a; do b; done",
        "case a in a) b;; esac",
        "function a { b; }",
        "a() { b; }",
        "[[ a ]]",
        "((a))",
        "a $((1))",
        "coproc a",
        "time a",
        "select a in b; do c; done",
        "a\rb",
        "a \u{a0}b",
        "ä",
        "a ä",
        "a \u{200b}",
        "a\u{0}b",
        "a \u{b} b",
        "a =ls",
        "a !b",
        "!a",
        "a ^b",
        "a !",
        "!",
        "a @(b|c)",
        "a +(b)",
        "]",
        "{}",
    ] {
        // A lone `!` behind a name is a word.
        assert_eq!(plain::read(line).is_ok(), line == "a !", "{line:?}");
    }
    assert!(plain::read(&"a ".repeat(100_000)).is_err());
}

#[test]
fn commands_are_found_wherever_they_are() {
    for (line, then) in [
        ("a && b || c; d | e & f", &["a", "b", "c", "d", "e", "f"][..]),
        (
            "a $(b $(c)) \"$(d)\" `e` <(f) >(g)",
            &["a $(b $(c)) \"$(d)\" `e` <(f) >(g)", "b $(c)", "c", "d", "e", "f", "g"],
        ),
        ("if a; then b; elif c; then d; else e; fi", &["a", "b", "c", "d", "e"]),
        ("for f in x $(y); do z; done", &["y", "z"]),
        ("while a; do b; done < <(c)", &["a", "b", "c"]),
        ("f() { a; }", &["a"]),
        ("{ a; (b); }", &["a", "b"]),
        ("case x in y) a;; esac", &["a"]),
        ("! a", &["a"]),
        ("X=$(a) b", &["b", "a"]),
        ("a 'x y' \"x $y\" x\\ y", &["a 'x y' \"x $y\" x\\ y"]),
    ] {
        let tree = tree::Tree::read(line);
        let texts: Vec<String> = tree.commands.iter().map(Command::text).collect();
        assert_eq!(
            (texts.as_slice(), &tree.problem),
            (then.iter().map(ToString::to_string).collect::<Vec<_>>().as_slice(), &None),
            "{line}"
        );
    }
    for line in ["a '", "a $(b", "a ${x:-$(b)}", "a $((1+1))", "a ${!x}", "a )", "a\u{200b}"] {
        assert!(tree::Tree::read(line).problem.is_some(), "{line}");
    }
    let deep = format!("{}a{}", "$(".repeat(10_000), ")".repeat(10_000));
    let _ = tree::Tree::read(&deep);
}

#[test]
fn bundles_and_values_are_read_by_the_table() {
    let looks = |line: &str| {
        let words: Vec<String> = line.split(' ').map(|word| word.replace('_', " ")).collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        reads::looks(&words).map(|looks| looks.paths.join(" "))
    };
    for (line, paths) in [
        ("ls -la a b", "a b"),
        ("grep -rn x", "."),
        ("grep -n x f", "f"),
        ("grep -e x f g", "f g"),
        ("grep -nex f", "f"),
        ("grep -A3 -B 2 x f", "f"),
        ("grep -fp f", "p f"),
        ("grep --include=*.rs -r x src", "src"),
        ("grep -- -x f", "f"),
        ("rg x", "."),
        ("rg --files src", "src"),
        ("head -20 f", "f"),
        ("tail -n +5 f -", "f"),
        ("cut -d: -f1,2 f", "f"),
        ("find", "."),
        ("find a b -name x -o ( -type f -newer n )", "a b n"),
        ("sed -n 1,20p f", "f"),
        ("sed -n 5p;$p f", "f"),
        ("git log --oneline -5", ""),
        ("git -C sub diff HEAD~1 -- f", "HEAD~1 f"),
        ("git status -sb", ""),
        ("git branch -a", ""),
        ("git branch --list x*", ""),
        ("git stash list", ""),
        ("uniq -c f", "f"),
        ("cat f -n", "-n f"),
        ("jq .a f", "f"),
        ("printf %s%%\\n%5d x", ""),
        ("[ ! -f x ]", "x"),
        ("date +%s", ""),
    ] {
        assert_eq!(looks(line).as_deref(), Some(paths), "{line}");
    }
    for line in [
        "git grep -nOx y",
        "git grep -O y",
        "git grep --open-files-in-pager y",
        "git log --output=x",
        "git log --outp=x",
        "git diff --ext-diff",
        "git diff --no-index a b",
        "git -c a=b log",
        "git --git-dir=x log",
        "git --exec-path=x log",
        "git branch x",
        "git branch -D x",
        "git tag x",
        "git stash",
        "git stash drop",
        "git reflog expire",
        "git remote add a b",
        "git remote update",
        "git log --show-signature",
        "git log --format=%G?",
        "git for-each-ref --format=%(signature)",
        "git fetch",
        "git worktree add x",
        "git cat-file --textconv x",
        "git grep --no-index x",
        "git config a b",
        "git",
        "sort -o x",
        "sort -ox",
        "sort -nox",
        "sort --output x",
        "sort --outp=x",
        "sort --compress-program=x y",
        "sort -T x",
        "uniq a b",
        "uniq - b",
        "find . -exec x ;",
        "find . -delete",
        "find . -name x ?exec",
        "find . -fprint x",
        "find -L .",
        "find . -ok x",
        "find -files0-from x",
        "rg --pre=x y",
        "rg --pre x y",
        "rg --hostname-bin=x y",
        "rg -L x",
        "rg --follow x",
        "rg -z x",
        "rg --search-zip x",
        "grep -R x .",
        "grep -rR x",
        "grep --rec x",
        "grep --dereference-recursive x .",
        "ls -L",
        "ls --dereference",
        "du -L",
        "tree -o x",
        "tree -ao x",
        "tree -Lo 2 x",
        "tree -l",
        "file -C -m x",
        "file -f x",
        "file -z x",
        "date -s x",
        "date --set=x",
        "date 0101",
        "date -f x",
        "hexdump -fx",
        "md5sum -c x",
        "wc --files0-from=x",
        "diff -r a b",
        "diff -ur a b",
        "diff -l a b",
        "sed -i 1p x",
        "sed -n 1p -i x",
        "sed -n w_x",
        "sed -n 1,2w",
        "awk 1",
        "env",
        "env x",
        "xargs x",
        "tee x",
        "less x",
        "man x",
        "printf -v x y",
        "printf %n x",
        "printf %(x)T",
        "printf %",
        "test -v x",
        "test a -eq b",
        "[ x",
        "[ -v x ]",
        "jq -f x",
        "jq env",
        "jq -n --rawfile a b",
        "command x",
        "command -p x",
        "type -f x",
        "hostname x",
        "cd x",
        "xxd a b",
        "ps aux",
        "tail -f x",
        "stat -L x",
        "nice x",
        "timeout 5 rm",
        "/bin/ls",
        "./ls",
        "LS",
    ] {
        assert_eq!(looks(line), None, "{line}");
    }
    assert_eq!(reads::bare(&["timeout", "5s", "nice", "-n", "3", "ls"]), ["ls"]);
    assert_eq!(reads::bare(&["timeout", "-k", "5", "ls"]), ["timeout", "-k", "5", "ls"]);
}
