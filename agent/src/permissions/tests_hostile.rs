//! Commands that must not run unasked, by what they try. The workspace is that of [`super::tests_reads`].

use super::tests::{launch, policy, run, word};
use super::tests_reads::hostile;
use super::*;
use agentglot_adapters::raw::codec::Dialect;

/// The shell reads something else than it looks like.
#[rustfmt::skip]
const LANGUAGE: &[&str] = &[
    "$\\\n(touch x)", "echo $\\\n(touch x)", "echo \"$\\\n(touch x)\"", "ec\\\nho x", "ls \\\n-la", "ls $(touch x)", "ls \"$(touch x)\"",
    "ls `touch x`", "ls \"`touch x`\"", "ls ${x:-$(touch x)}", "ls \"${x:=$(touch x)}\"", "ls $((a[$(touch x)]))", "ls $[a[$(touch x)]]",
    "ls ${x@P}", "ls ${!x}", "ls ${x:$(touch x)}", "ls $'\\x3b' touch x", "$'\\x74ouch' x", "$\"touch\" x", "ls <(touch x)", "ls >(touch x)",
    "ls > >(touch x)", "{ touch x; }", "{ls,-la}", "{' ',touch} x", "{\" \",x}", "echo {a,b}", "echo {1..9}", "echo {a..z}", "(touch x)", "( ls )",
    "((touch x))", "[[ -f f ]]", "[[ $(touch x) ]]", "! ls", "time ls", "time -p ls", "coproc ls", "if ls; then ls; fi", "while false; do ls; done",
    "until ls; do ls; done", "for f in a b; do cat $f; done", "for f in <<E; do\nls; done\ntouch x\nE", "for ((i=0;i<1;i++)); do ls; done",
    "select f in a; do ls; done", "case a in a) ls;; esac", "f() { touch x; }; f", "function f { ls; }", "ls() { touch x; }; ls",
    "cat <<E\n$(touch x)\nE", "cat <<'E'\nx\nE\ntouch x", "cat <<-E\n\tx\n\tE", "cat <<E <<F\nE\n$(touch x)\nF", "cat <<< x", "cat <<< $(touch x)",
    "ls & touch x", "ls &", "ls |& cat", "ls ; ; ls", "ls ;;", "ls;&", "# x\ntouch x", "ls # x\ntouch x", "ls #", "ls\rtouch x", "ls\r\ntouch x",
    "ls\u{b}touch x", "ls\u{c}x", "ls\u{a0}x", "ls\u{2028}touch x", "ls\u{85}touch x", "ls \u{202e}x", "l\u{200b}s", "ls\u{3164}x", "\u{feff}ls", "ls \u{1b}[2J",
    "ls\u{0}touch x", "ls 'a", "ls \"a", "ls \\", "ls )", "ls (", "ls }", "a=b ls", "PATH=. ls", "IFS=x ls", "LD_PRELOAD=./x ls", "x=1", "x+=1",
    "x[$(touch x)]=1", "x[0]=1 ls", "x=(1 2)", "BASH_ENV=f bash", "PAGER=./x git log", "GIT_PAGER=./x git log", "GIT_EXTERNAL_DIFF=./x git diff",
    "GIT_DIR=evil/.git git status", "GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=core.fsmonitor GIT_CONFIG_VALUE_0=./x git status",
    "LESSOPEN='|touch x' less f", "!!", "!touch", "ls !$", "^a^b", "ls ~", "ls ~root", "ls ~+", "ls ~-", "cat ~/.ssh/id_rsa", "ls x=~", "ls @(a|b)",
    "ls +(a)", "ls !(a)", "ls ?(a)", "ls *(a)", "ls [a-z]*", "ls */", "cat f?", "cat [f]", "ls **", "cat \\\nf", "'ls\ntouch' x", "$X", "${X}",
    "$X y", "\"$X\"", "$@", "$*", "$1", "$_", "$?", "$$", "$!", "$-", "\"$@\"", "l$@s", "l${x}s", "l''$1s",
];

/// Something is written, by redirection or by what a program does.
#[rustfmt::skip]
const WRITES: &[&str] = &[
    "ls > x", "ls >x", "ls>x", "ls >> f", "ls >| f", "ls &> x", "ls &>> x", "ls >& x", "ls 1>x", "ls 2>x", "ls 3>x", "ls <> x", "> x", ">f",
    ": > f", "echo x > link/x", "ls > /dev/null/../x", "ls > /dev/nullx", "ls > '/dev/null'x", "ls >/dev/null >x", "ls 2>&1 >x", "ls 2>&1>x",
    "exec > x", "ls > /dev/tty", "ls > /dev/tcp/127.0.0.1/80", "cat < /dev/tcp/127.0.0.1/80", "cat < link/secret.txt", "cat <link/secret.txt",
    "sort -o f f", "sort -of f", "sort -nof f", "sort -ro f", "sort --output=f f", "sort --output f f", "sort --out f f", "sort f -o f",
    "sort -T src f", "sort --temporary-directory=src f", "uniq f x", "uniq - x", "uniq -c f x", "uniq f -- x", "uniq -- f x", "tree -o x",
    "tree -aox", "tree -Lo 2 x", "tree --output=x", "find . -fprint x", "find . -fprint0 x", "find . -fprintf x y", "find . -fls x",
    "find . -delete", "find . -name x -o -delete", "find -fprint x", "tee x", "tee -a x", "dd if=f of=x", "cp f x", "mv f x", "rm f", "touch x",
    "mkdir x", "ln -s f x", "install f x", "truncate -s 0 f", "shred f", "split f", "csplit f 1", "sed -i s/a/b/ f", "sed -n -i p f", "sed -ni p f",
    "sed --in-place p f", "sed 'w x' f", "sed -n 'w x' f", "sed -n '1w x' f", "sed -n 1p -i f", "sed -n 1,2pw f", "sed s/a/b/w f",
    "awk '{print > \"x\"}' f", "perl -pi -e 1 f", "python3 -c 1", "file -C -m f", "file -Cm f", "file --compile f", "xxd -r f x", "xxd f x",
    "od f > x", "date -s 1", "date --set=1", "date 010100002020", "hostname x", "git init", "git add f", "git commit -m x", "git checkout .",
    "git restore f", "git reset", "git clean -fd", "git stash", "git stash push", "git stash drop", "git stash pop", "git branch x",
    "git branch -m x", "git branch -M x", "git branch -d x", "git branch -D x", "git branch -c x", "git branch -f x",
    "git branch --edit-description", "git branch -u x", "git branch --set-upstream-to=x", "git tag x", "git tag -d x", "git tag -a x",
    "git tag -f x", "git tag -m x y", "git remote add a b", "git remote rm a", "git remote set-url a b", "git remote prune a", "git remote update",
    "git remote show a", "git config a.b c", "git config --global a.b c", "git config -e", "git reflog expire --all", "git reflog delete x",
    "git worktree add x", "git worktree prune", "git worktree remove x", "git notes add", "git update-index --refresh", "git update-ref x y",
    "git gc", "git prune", "git repack", "git log --output=x", "git log --output x", "git diff --output=x", "git show --output=x",
    "git log --outpu=x", "git archive -o x HEAD", "git bundle create x HEAD", "git format-patch -1", "git fetch", "git pull", "git push",
    "git clone a b", "git submodule update", "git apply f", "git am f", "git mv f x", "git rm f", "git merge x", "git rebase x",
    "git cherry-pick x", "git revert x", "git bisect start", "git bisect run ls", "git filter-branch", "git hash-object -w f", "git mktree",
    "git symbolic-ref a b", "printf -v x y", "printf %n x", "printf '%n' 'a[$(touch x)]'", "printf '%d%n' 1 x", "printf '%*n' 1 x", "read x",
    "mapfile x", "test -v 'a[$(touch x)]'", "[ -v 'a[$(touch x)]' ]", "test -R x", "[ 'a[$(touch x)]' -eq 1 ]", "test 1 -eq 'a[$(touch x)]'",
    "let x=1", "unset f", "export x=1", "declare x=1", "typeset x=1", "readonly x=1", "local x=1", "hash -r", "umask 0", "ulimit -n 1", "kill 1",
    "kill -9 -1",
];

/// Something else runs.
#[rustfmt::skip]
const RUNS: &[&str] = &[
    "eval ls", "eval 'touch x'", "exec ls", "source f", ". f", ". ./f", "command ls", "command -p ls", "command touch x", "builtin cd link",
    "builtin echo", "env", "env ls", "env -i ls", "env x=1 ls", "env -S 'touch x'", "printenv", "xargs ls", "xargs -a f ls", "ls | xargs cat",
    "ls | xargs rm", "nohup ls", "setsid ls", "sudo ls", "su -c ls", "doas ls", "nice ls", "nice -n 5 touch x", "timeout 5 touch x",
    "timeout -s KILL 5 ls", "timeout -k 1 5 ls", "stdbuf -oL ls", "ionice ls", "chroot . ls", "unshare ls", "strace ls", "watch ls", "parallel ls",
    "flock f ls", "script -c ls", "busybox ls", "ssh x ls", "docker run x", "bash", "sh", "bash f", "bash -c ls", "sh -c ls", "bash -lc ls",
    "echo ls | sh", "cat f | bash", "bash <f", "zsh -c ls", "python f", "node f", "perl f", "ruby f", "make", "npm test", "cargo test", "./f",
    "./bin/ls", "bin/ls", "src/a", "/bin/ls", "/tmp/ls", "../out/x", "sub/../f", "alias ls=touch", "unalias ls", "trap 'touch x' EXIT",
    "trap ls DEBUG", "enable -f x y", "hash -p f ls", "complete -C f ls", "bind -x x", "fc -e f", "jobs -x ls", "coproc touch x",
    "shopt -s expand_aliases", "set -x", "set -o allexport", "find . -exec touch x ;", "find . -exec touch x \\;", "find . -exec touch {} +",
    "find . -execdir ls {} +", "find . -ok ls ;", "find . -okdir ls ;", "find . '-exec' ls \\;", "find . -nam\\e x -exec ls +", "find . ?exec ls",
    "find . -name x -exec true \\; -print", "find -D exec .", "find -files0-from f", "fd x -x ls", "fd -X ls", "rg --pre ls x", "rg --pre=ls x",
    "rg --pre-glob '*' --pre ls x", "rg --hostname-bin ls x", "rg -z x", "rg --search-zip x", "rg --hyperlink-format=x y",
    "sort --compress-program=ls f", "sort --compress-program ls f", "sort --compress f f", "file -z f", "file -Z f", "git grep -O x",
    "git grep -Ols x", "git grep -nOls x", "git grep '-nOls' x", "git grep --open-files-in-pager x", "git grep --open-files-in-pager=ls x",
    "git grep --open x", "git -c core.pager=ls log", "git -c alias.x=!ls x", "git -ccore.pager=ls log", "git --config-env=a=b log",
    "git --exec-path=. log", "git --exec-path=bin status", "git -p log", "git --paginate log", "git diff --ext-diff", "git log --ext-diff -p",
    "git show --ext-diff", "git show --textconv", "git diff --textconv", "git cat-file --textconv HEAD:f", "git cat-file --filters HEAD:f",
    "git cat-file --batch", "git blame --contents f f", "git log --show-signature", "git log --format=%G?", "git log --format=%+G?", "git log '--format=% G?'",
    "git log '--format=%GK'",
    "git log --pretty=format:%GG", "git show --show-signature", "git verify-commit HEAD", "git tag -v x",
    "git for-each-ref '--format=%(signature)'", "git difftool", "git mergetool", "git help -w log", "git log --help", "git diff --submodule=log",
    "git grep --recurse-submodules x", "git status --recurse", "git submodule foreach ls", "git var GIT_EDITOR", "git instaweb", "git gui", "git x",
    "git", "man ls", "less f", "more f", "vi f", "ed f", "ex f", "emacs f", "awk 'BEGIN{system(\"ls\")}'", "awk 1 f", "gawk 1 f", "sed 1e f",
    "sed -n '1e' f", "sed s/x/y/e f", "sed -f f f", "sed --expression=p f", "sed p f", "jq -f f", "jq -n 'include \"x\"; .'", "jq -L . . f",
    "jq env f", "jq -n '$ENV'", "jq 'import \"x\" as y; .' f", "tree -R", "tree -H . -R -L 1", "diff -l f g", "diff --paginate f g",
    "diff -u --paginate f g", "column -J f", "xdg-open f", "open f", "crontab -l", "at now", "ps aux", "ps e", "top", "lsof", "who", "last",
    "mount", "umount /", "nc -l 1", "curl x", "wget x", "tar c .", "tar tf f", "zip x f", "unzip -l f", "gzip -l f", "zcat f", "zgrep x f", "xz f",
    "bzcat f", "strings f", "nm f", "objdump -d f", "ldd f", "gcc f", "cc f", "ld f", "gdb f", "xxd f", "bat f", "ack x", "ag x", "exa", "eza",
    "lsd", "node -v", "python3 --version", "LS", "Cat f", "l\\s() { touch x; }", "ls;./f", "ls|./f", "ls&&./f", "ls||./f", "ls\n./f",
];

/// Something outside is read.
#[rustfmt::skip]
const OUTSIDE: &[&str] = &[
    "cat link/secret.txt", "cat ./link/secret.txt", "cat link/../out/secret.txt", "cat src/../link/secret.txt", "cat sub/s", "cat sub/s f",
    "cat f sub/s", "cat -- sub/s", "cat ../out/secret.txt", "cat ..", "cat /etc/passwd", "cat '/etc/passwd'", "cat /etc/../etc/passwd",
    "cat \\/etc/passwd", "cat //etc/passwd", "cat /dev/stdin", "cat /dev/fd/0", "cat /proc/self/environ", "cat /proc/self/root/etc/passwd",
    "cat l*/secret.txt", "cat */secret.txt", "cat sub/*", "cat li?k/secret.txt", "cat {link/secret.txt,f}", "cat $PWD/link/secret.txt",
    "head link/secret.txt", "head -n1 sub/s", "tail -n 1 sub/s", "tail -f f", "tail -F f", "tail --follow f", "wc sub/s", "wc --files0-from=f",
    "wc --files0-from=-", "nl sub/s", "tac sub/s", "rev sub/s", "sort sub/s", "sort --files0-from=f", "uniq sub/s", "cut -c1- sub/s",
    "paste f sub/s", "fold sub/s", "column sub/s", "od sub/s", "od -c -- sub/s", "hexdump sub/s", "hexdump -C sub/s", "hexdump -flink/secret.txt",
    "hexdump -f link/secret.txt f", "hexdump -vflink/secret.txt f", "diff f sub/s", "diff sub/s f", "diff f link/secret.txt", "diff src sub",
    "diff src links", "diff -r src sub", "diff -rN src sub", "diff -ru src sub", "diff --recursive src sub", "diff --rec src sub", "diff f sub",
    "diff sub f", "diff -N f g", "diff --from-file=sub/s f", "diff --to-file=sub/s f", "diff --from-file sub/s f", "cmp f sub/s", "comm f sub/s",
    "comm sub/s f", "join f g", "md5sum sub/s", "sha256sum sub/s", "md5sum -c f", "md5sum --check f", "sha1sum -bc f", "sha256sum --ch f",
    "cksum sub/s", "cksum -c f", "b2sum -c f", "file link/secret.txt", "file -f f", "file --files-from f", "file -m f f", "file -L sub/s",
    "stat sub/s", "stat -L f", "stat --dereference f", "readlink sub/s", "realpath sub/s", "realpath link", "ls link", "ls link/", "ls link/deep",
    "ls -L", "ls -RL", "ls -lH link", "ls --dereference", "ls --dereference-command-line f", "ls ..", "ls /", "ls -la /root", "ls src/../..",
    "du link/", "du -L .", "du -D .", "du --dereference .", "du -X f .", "du --files0-from=f", "du ..", "df /root", "tree link/", "tree -l",
    "tree -al", "tree --fromfile f", "tree ..", "find link/", "find ..", "find /", "find -L .", "find -H .", "find . -follow", "find src ../out",
    "find . -newer ../out/secret.txt", "find . -samefile ../out/secret.txt", "find . -newermt ../out/secret.txt", "grep x link/secret.txt",
    "grep -r x link", "grep -r x link/", "grep -R x .", "grep -R x", "grep -rR x .", "grep -nR x .", "grep --dereference-recursive x .",
    "grep -flink/secret.txt f", "grep -f link/secret.txt f", "grep -nf link/secret.txt f", "grep --file=link/secret.txt f",
    "grep --file link/secret.txt f", "grep --fil=link/secret.txt f", "grep -r x ..", "grep -r x . ..", "grep -e x sub/s", "grep -ex sub/s",
    "grep --regexp=x sub/s", "grep --exclude-from=link/secret.txt x f", "grep -d recurse x .", "grep --directories=recurse x .",
    "grep -D read x pipe", "grep --include=x --recursive x link", "egrep -R x .", "fgrep -f sub/s f", "rg x link", "rg -L x", "rg --follow x",
    "rg -nL x", "rg -f sub/s", "rg -fsub/s", "rg --file=sub/s", "rg --file sub/s", "rg --ignore-file=sub/s x", "rg -e x sub/s", "rg --files link",
    "rg x ..", "sed -n 1p sub/s", "sed -n 1,9p link/secret.txt", "jq . sub/s", "jq -n --rawfile a sub/s '$a'", "jq -n --slurpfile a sub/s '$a'",
    "jq --args . sub/s", "jq --from-file sub/s", "cat pipe", "head pipe", "grep x pipe", "wc pipe", "cat bin pipe", "test -f link/secret.txt",
    "[ -e /etc/passwd ]", "[ -f sub/s ]", "cd", "cd ~", "cd -", "cd ..", "cd /", "cd link", "cd link/deep", "cd -P link", "cd -L link",
    "cd -e link", "cd -@ link", "cd -- link", "cd -- sub", "cd -P sub", "cd ''", "cd '' && ls", "cd $HOME", "cd ~/x", "cd sub x", "cd link && ls",
    "cd link; ls", "cd link || ls", "cd sub && cat s", "cd sub && cat ../../out/secret.txt", "cd sub; cat ../../out/secret.txt",
    "cd sub && cd .. && cd ..", "cd sub; cd ..", "cd sub && cd ../../out", "pushd link", "pushd sub", "popd", "pushd link && cat secret.txt",
    "command cd link", "builtin cd link", "eval cd link", "bash -c 'cd link; cat secret.txt'", "env -C link cat secret.txt", "CDPATH=.. cd out",
    "CDPATH=..; cd out", "export CDPATH=..", "for CDPATH in ..; do cd out; done", "for PATH in .; do ls; done",
    "for HOME in ../out; do cat ~/secret.txt; done", "HOME=../out; cd; cat secret.txt", "git diff --no-index f link/secret.txt",
    "git diff f ../out/secret.txt", "git diff ../out/secret.txt f", "git diff /etc/passwd /dev/null", "git diff -- /etc/passwd /dev/null",
    "git grep --no-index x", "git grep --no-index x ..", "git grep -f sub/s", "git grep -f link/secret.txt x", "git grep x -- ../..",
    "git blame --contents ../out/secret.txt f", "git log --follow -- ../../x", "git -C link status", "git -C .. log", "git -C /x status",
    "git -C sub -C ../.. log", "git --git-dir=../x log", "git --git-dir ../x log", "git --work-tree=.. status", "git --work-tree .. status",
    "git --namespace=x log", "git --bare log", "git -C evil status", "git -C bare log", "git -C module status", "git -C evil/.git log",
    "git -C .git log", "cd evil && git status", "cd evil; git log", "cd evil && git diff", "cd bare && git log", "cd bare && git status",
    "cd module && git status", "cd module && git diff", "cd evil || git status", "git config --file=link/secret.txt -l", "git config -f sub/s -l",
    "git config --list --includes", "git check-attr -a f", "git check-ignore --stdin x", "git ls-files -X sub/s",
    "git ls-files --exclude-from=sub/s", "git log --mailmap=sub/s", "git shortlog --stdin", "git rev-list --stdin", "git log --stdin",
    "git diff -Osub/s", "git diff -O sub/s", "git log -Osub/s", "git status --pathspec-from-file=sub/s", "ls /proc/1/cwd", "date -f sub/s",
    "date --file=sub/s", "date -r sub/s", "date --reference=sub/s", "touch -r sub/s f", "test f -nt ../out/secret.txt", "type -f ls",
    "which -a ls; cat sub/s", "which ../out/secret.txt", "which ls link/secret.txt", "which -a /etc/passwd", "type ../out/x", "type -p -- sub/s",
    "command -v ../out/secret.txt", "command -V /etc/passwd", "date -d 'TZ=\"../out/secret.txt\" now'", "date -ud 'TZ=\"/dev/zero\"'",
    "date --date='TZ=\"link/secret.txt\" 12:00'", "date --date 'TZ=\"sub/s\"'", "echo x; cat sub/s", "echo x | cat - sub/s", "true && cat sub/s", "false || cat sub/s", "timeout 5 cat sub/s",
    "nice -n 5 cat sub/s",
];

/// The corners of bash and of programs: words that are computed, code in data, names of files in files, options few know.
#[rustfmt::skip]
const CORNERS: &[&str] = &[
    // Encodings, letters that are none, quotes in quotes.
    "$'touch' x", "$'\\164ouch' x", "$'\\u0074ouch' x", "$'\\cA' x", "ls $'a\\'; touch x'", "$\"ls\"", "ls $\"`touch x`\"", "ls $\"$(touch x)\"",
    "ls\u{2009}-la", "ls\u{3000}x", "ls\u{2060}", "ｌｓ", "lѕ", "ls\u{1}x", "ls \u{7f}", "ls\u{feff}x", "ls \u{200e}x", "'l's\u{a0}", "ls\\\u{a0}x", "\\ls\\\n",
    "l\\\ns; touch x", "ls \\\n; touch x", "ls \"a\\\nb\" \\\n&& touch x", "\"\\\nls\"", "ls ''$(touch x)", "ls \"\"`touch x`", "ls 'a'\"$(touch x)\"'b'",
    "\u{1b}]0;x\u{7}ls", "ls;\u{0}touch x", "ls\u{0}", "ls \u{d}", "ls\u{85}",
    // What is a command, and when.
    ". /dev/stdin", "source /dev/fd/0", "source <(echo touch x)", ". <(touch x)", "exec 3<>/dev/tcp/127.0.0.1/80", "exec -a x ls", "exec 1>x", "exec <f",
    "trap 'touch x' 0", "trap 'touch x' ERR", "trap - EXIT", "trap -- 'touch x' RETURN", "coproc N { touch x; }", "coproc cat f", "alias ls='touch x'\nls",
    "alias x=y; x", "shopt -s expand_aliases\nalias ls='touch x'\nls", "shopt -s lastpipe", "shopt -s extglob; ls", "set -- touch x; \"$@\"", "set -o history",
    "set -H; !!", "history -c", "history -w x", "history -r f", "fc -s", "fc -l", "!-1", "!?ls?", "!#", "^ls^touch x^", "bind 'x'", "enable -n ls",
    "enable -f ./x.so ls", "command -- touch x", "command -pv ls; touch x", "builtin eval ls", "builtin . f", "eval", "eval -- ls", "hash ls",
    "hash -p ./f ls; ls", "declare -f ls", "declare -x PATH=.; ls", "declare -n a=PATH; a=.; ls", "declare -i a='b[$(touch x)]'", "typeset -i 'a=b[$(touch x)]'",
    "local -n a=b", "readonly -f ls", "export -f ls", "export PATH=.:$PATH; ls", "printf -v PATH . ; ls", "printf -v 'a[$(touch x)]' y", "read -r PATH <f; ls",
    "read -a a <<<x", "read -d '' x <f", "read PATH; ls", "mapfile -t a <f", "mapfile -C 'touch x' -c 1 a <f", "readarray -C 'touch x' -c1 a <f", "getopts a PATH -a .",
    "let 'a[$(touch x)]'", "let a=b[\\$\\(touch\\ x\\)]", "((a[$(touch x)]))", "echo $((`touch x`))", "echo $((a[\"$(touch x)\"]))", "ls ${a[$(touch x)]}",
    "ls ${a[@]@P}", "ls ${PS4@P}", "test -v 'a[`touch x`]'", "[[ -v a[$(touch x)] ]]", "[ 'a[$(touch x)]' -lt 1 ]", "test -t 'a[$(touch x)]'", "test 0 -eq x[0]",
    "wait -p 'a[$(touch x)]'", "unset 'a[$(touch x)]'", "PROMPT_COMMAND='touch x' ls", "PROMPT_COMMAND=f", "PS4='$(touch x)' ls; set -x; ls", "ENV=f sh",
    "BASH_ENV=./f ls", "SHELLOPTS=xtrace ls", "BASHOPTS=x ls", "LC_ALL=x ls", "LD_AUDIT=./x ls", "GREP_OPTIONS=-R grep x", "RIPGREP_CONFIG_PATH=f rg x",
    "TZ=../out/secret.txt date", "LS_COLORS=x ls", "MANPAGER=./f man ls", "GIT_SSH_COMMAND=./f git status", "GIT_TRACE=/tmp/x git status",
    "GIT_INDEX_FILE=x git status", "GIT_OBJECT_DIRECTORY=x git log", "GIT_CONFIG_GLOBAL=f git log", "env -u PATH ls", "env -- ls", "env - ls", "ls 2>&1 >&2 | tee x",
    "ls >&3", "ls 3>&1", "ls >&-", "ls <&-", "ls {fd}>x", "ls >/dev/null/x", "ls >/dev/nul", "ls > '/dev/null' > x", "ls >\\/dev\\/null2", "cat <f", "cat 0<f",
    "cat <<<$(touch x)", "cat <<<`touch x`", "cat <<'E'; touch x\nE", "cat <<\\E\n$(x)\nE", "cat <<E&&touch x\nE", "cat << 'a b'\na b\ntouch x", "ls <(ls)", "ls | (cat)",
    "ls | { cat; }", "ls |", "| ls", "&& ls", "ls && && ls", "ls ||", ";ls", "ls;;ls", "ls &>x", "ls & ls", "ls &\nls", "ls && ln f x", "ls || ln f x", "ls\n\nln f x",
    "ls ; \\\ntouch x", "if :; then touch x; fi", "until touch x; do :; done", "case x in x) touch x;; esac", "for a in `touch x`; do :; done",
    "for((a[$(touch x)];;)); do :; done", "select a in b; do touch x; done <f", "function ls() { touch x; }; ls", "ls () { touch x; }", "cat() ( touch x ); cat f",
    "time -- touch x", "! touch x", "{ ls", "(ls", "((ls", "[[ x =~ $(touch x) ]]", "~/x", "~root/x", "~+/f", "ls ~-/x", "ls a=~/x:~", "ls {f,g}", "ls {f..g}", "ls f{,}",
    "ls [[:alpha:]]", "ls ?", "ls .*", "cat -*", "cat \\*/../link/*", "ls **/s", "%1", "%%", "%touch", "fg", "bg %1", "disown", "jobs -x touch x",
    // Code and names of files in arguments.
    "find . -newerXY f", "find . -anewer link/secret.txt", "find . -cnewer sub/s", "find -O3 . -exec ls {} +", "find . -fprint /dev/stdout", "find . -context x",
    "find . -printf x -delete", "find . \\( -delete \\)", "find . -o -ok ls {} \\;", "find -files0-from link/secret.txt", "find . -lname x -execdir ls ;", "find ./link/",
    "find -P -L .", "find . , -delete", "rg --pre=./f x", "rg --pre ./f --files", "rg --hostname-bin=./f x", "rg --ignore-file sub/s x", "rg --search-zi x", "rg --follo x",
    "rg -uuuL x", "rg -z", "rg --debug x", "rg --trace x", "rg --generate man", "rg x sub/s f", "rg --files sub/../..", "rg --one-file-system x ..", "sort --files0-from=-",
    "sort -S 1 f", "sort -T. f", "sort --parallel=2 --compress-program=./f f", "sort --random-source=sub/s f", "sort -of", "sort -uo f", "sort --debug -o x f",
    "awk '{system($0)}' f", "awk 'BEGIN{while((\"ls\"|getline)>0);}'", "awk -f f", "awk -v x='`ls`' 1 f", "mawk 1 f", "nawk 1 f", "awk -i inplace 1 f", "gawk -l x 1",
    "gawk -e 1 f", "sed -n '1{w x' -e '}' f", "sed -n '1r sub/s' f", "sed -n '1R sub/s' f", "sed -n '1W x' f", "sed -n --sandbox 1p f", "sed -ne 1p f", "sed -nf f f",
    "sed -n '$!N;1p' f", "sed -n '/x/p' f", "sed -n '1,/x/p' f", "sed -n 's/x/ls/ep' f", "sed -n '1p;e ls' f", "sed -n '1,2!p' f", "sed -n 1p\\;w\\ x f",
    "sed -En 1p f", "sed -n 1p -- sub/s", "sed -s -n 1p f", "tar -cf x f", "tar -tf f --checkpoint=1 --checkpoint-action=exec=ls", "tar xf f --to-command=ls",
    "tar -I ls -tf f", "tar --use-compress-program=ls -tf f", "tar -tf f --rsh-command=ls", "tar tf - -T link/secret.txt", "cpio -i <f", "zip -T -TT ls x f",
    "xargs", "xargs -I{} ls {}", "xargs -a sub/s ls", "ls | xargs -0 rm", "xargs -P2 -n1 sh -c", "parallel ls ::: x", "tee >(touch x)", "split --filter=ls f",
    "column -e f", "od --traditional sub/s", "hexdump -e '1/1 \"%x\"' sub/s", "cut --files0-from=x f", "wc --files0-from=f", "wc --debug f x --total=z",
    "nl --help-me f", "tac -s x -r --before sub/s", "fold --wid=3 f", "tr a b <sub/s", "paste -d x sub/s -", "join sub/s f", "shuf -o x f", "shuf -n1 f",
    "install -m 777 f x", "chmod 777 f", "chown x f", "setfacl -m x f", "setfattr -n x f", "getfattr -d f", "chattr +i f", "cat --show-al sub/s", "head --line=1 f",
    "diff --GTYPE-group-format=x f g", "diff -D x f g --paginat", "diff --speed-large-files --line-format=x f g -l", "diff --to-file=f -- g h", "cmp -i 1 f g", "comm --out=x f g",
    "jq -n '$__prog_args' --args x", "jq -n 'input' sub/s", "jq -rn '@sh \"\\(env)\"'", "jq --seq . f", "jq -f sub/s f", "jq -n 'import \"a\" as a; .'", "jq --stream-errors . f",
    "jq -n 'getpath([\"x\"]) | $ENV.PATH'", "jq -e -L. . f", "jq . f sub/s", "file -P name=1 f", "file --special-files pipe", "file -s f", "file -kz f", "file -S f",
    "stat --cached=never f", "stat -Lc %n f", "du --exclude-from=sub/s .", "du -Hs .", "du -l .", "df --sync", "df --output=x f", "tree --infofile=f", "tree --fromtabfile f",
    "tree --opt-toggle -o x", "tree -P x -o y", "ls --hyperlink=x --dereference-command-line-symlink-to-dir", "ls -Z", "ls --zero", "ls -I x -L", "date -Id -s 1",
    "date -f -", "date --resolution", "date 1234", "date +%s -r sub/s", "hostname -F f", "hostname -b x", "id -Z", "uname -x", "seq -f %n 1", "expr --x", "basename -z x",
    "sleep --x 1", "which --read-alias ls", "type -f -a x", "pwd -x", "printf '%(%s)T'", "printf '%-*d' 1 2", "printf %a 1", "printf '%ln' x", "printf",
    "printf --", "printf -- %s x", "echo x | tee y", "echo x >>f", "echo x>f", "true >f", ": >f", ":>>f",
    // What git has learnt since, and what few know.
    "git --attr-source=x log", "git --list-cmds=main", "git --super-prefix=x status", "git --literal-pathspecs status", "git --no-replace-objects log", "git -C link log",
    "git --no-optional-locks -c x.y=z status", "git --no-lazy-fetch log", "git -c diff.external=./f diff", "git -c core.fsmonitor=./f status", "git --html-path", "git --exec-path",
    "git -P log", "git log --ext-diff", "git log --remerge-diff", "git log --textconv -p", "git log --no-walk=sorted --stdin", "git log --expand-tabs=8 --output f",
    "git log --format='%(trailers:key=x,separator=%G?)'", "git log '--format=%C(auto)%GS'", "git log --show-notes=x --notes", "git log --decorate-refs=x", "git show -s --format=%GF",
    "git diff --no-index -- f g", "git diff --output-indicator-new=x --outpu=y", "git diff --ws-error-highlight=x", "git diff --src-prefix=x", "git diff --line-prefix=x",
    "git diff --rotate-to=x", "git diff --submodule", "git diff --ita-visible-in-index", "git diff -O f", "git diff -Of", "git diff-files", "git diff-index HEAD",
    "git diff-tree --stdin", "git diff-pairs", "git range-diff a b", "git stash show --include-untracked", "git stash create", "git stash store x", "git stash export --print",
    "git stash -m x", "git stash apply", "git stash branch x", "git blame --contents sub/s f", "git blame -S sub/s f", "git blame --ignore-revs-file sub/s f",
    "git blame --ignore-revs-file=sub/s f", "git blame --textconv f", "git annotate -S f f", "git grep -Of x", "git grep -fsub/s", "git grep --threads=1 x --no-index",
    "git grep --ext-grep x", "git grep --untracked --open-files-in-pager=ls x", "git grep -e x --and -O", "git cat-file --batch-check", "git cat-file --batch-command",
    "git cat-file --batch-all-objects --batch", "git cat-file --path=f --filters HEAD:f", "git ls-files --with-tree=x -X f", "git ls-files --exclude-per-directory=x",
    "git ls-files --recurse-submodules", "git ls-tree --format=x HEAD", "git ls-remote", "git ls-remote ext::ls", "git rev-parse --parseopt", "git rev-parse --sq-quote x",
    "git rev-parse --resolve-git-dir link", "git rev-parse --git-path x", "git rev-list --use-bitmap-index --disk-usage --stdin", "git rev-list --missing=allow-promisor x --filter=sparse:path=f",
    "git rev-list --objects --exclude-promisor-objects --missing=print", "git for-each-ref --shell", "git for-each-ref --stdin", "git for-each-repo --config=x ls", "git show-ref --exclude-existing=x",
    "git show-branch --list", "git show-index <f", "git describe --dirty", "git describe --broken", "git shortlog --group=format:%GS", "git check-attr --stdin -a", "git check-mailmap x",
    "git check-ref-format --branch x", "git column --command=x", "git credential fill", "git credential-store get", "git send-email f", "git imap-send", "git daemon", "git http-backend",
    "git shell -c x", "git upload-pack .", "git receive-pack .", "git fsmonitor--daemon start", "git maintenance run", "git multi-pack-index write", "git commit-graph write",
    "git pack-refs", "git refs migrate", "git reftable", "git replay x", "git sparse-checkout list", "git sparse-checkout set x", "git scalar", "git rerere", "git replace -e x",
    "git notes show", "git notes edit", "git interpret-trailers --in-place f", "git mailinfo x y", "git mailsplit f", "git merge-file f g h", "git merge-tree --write-tree a b",
    "git patch-id <f", "git stripspace <f", "git name-rev --stdin", "git name-rev --annotate-stdin", "git fast-export HEAD", "git fast-import <f", "git bundle verify f",
    "git bugreport", "git diagnose", "git backfill", "git last-modified", "git history split x", "git repo info", "git unpack-file x", "git update-server-info", "git verify-pack f",
    "git verify-tag x", "git web--browse x", "git worktree list --x", "git worktree move a b", "git worktree repair", "git remote -v update", "git remote add -f a ext::ls",
    "git remote get-url --x a", "git remote set-head a -a", "git branch --list --edit-description", "git branch -vv x", "git branch x --list-all", "git branch --copy a b",
    "git branch --unset-upstream", "git branch --create-reflog x", "git tag --list -d x", "git tag -n1 x -f", "git tag -v x", "git tag --verify x", "git tag -u x y", "git tag --cleanup=x y",
    "git reflog exists x", "git reflog drop x", "git reflog write x", "git status --pathspec-from-file=-", "git status --untracked-files=all --recurse-x", "git merge-base --independent x --x",
    "git count-objects --x", "git check-ignore --stdin", "git check-ignore -v ../../x", "git log --follow ../out/secret.txt",
    // Options from before there were any.
    "tail +1f f", "tail +1 f", "tail -1f f", "tail +f f", "tail +3c f", "head -1c5k f",
];

#[test]
fn nothing_hostile_runs_unasked() {
    let room = hostile();
    let all = [LANGUAGE, WRITES, RUNS, OUTSIDE, CORNERS].concat();
    assert!(all.len() > 1200, "{}", all.len());
    for dialect in [Dialect::Claude, Dialect::Cursor, Dialect::QwenCode] {
        for mode in [
            PermissionMode::Ask,
            PermissionMode::Plan,
            PermissionMode::AcceptEdits,
            PermissionMode::Auto,
        ] {
            let policy = policy(&room, &launch(dialect, Some(mode)));
            // Edits of the workspace are what the mode is for.
            let edit = |line: &str| {
                let words: Vec<&str> = line.split(' ').collect();
                mode == PermissionMode::AcceptEdits && matches!(words.as_slice(), ["rm", "f"] | ["touch" | "mkdir", "x"] | ["cp" | "mv", "f", "x"])
            };
            let free: Vec<&&str> = all.iter().filter(|line| word(&run(&policy, line)) == "allow" && !edit(line)).collect();
            assert_eq!(free, Vec::<&&str>::new(), "{dialect:?} {mode:?}");
        }
    }
}
