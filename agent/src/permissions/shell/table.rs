//! The programs that may run unasked, with every option of theirs that is known to read only.
//!
//! What an option or a program is missing for stands beside it where it is not plain: it writes, runs something, follows links, or reads
//! names of files out of a file.

use super::reads::Operands::{Dates, Files, Jq, Listed, Named, None as Nothing, One, Own, Paths, Pattern, Programs, Text};
use super::reads::{Operands, Program, anything, bracket, command, find, printf, sed, test};

const fn names(names: &'static str, short: &'static str, long: &'static str, operands: Operands) -> Program {
    Program {
        names,
        short,
        long,
        operands,
        content: false,
    }
}

const fn content(names: &'static str, short: &'static str, long: &'static str, operands: Operands) -> Program {
    Program {
        names,
        short,
        long,
        operands,
        content: true,
    }
}

const GREP: &str = "EFGPiIvwxcloLnHhbqsrzaUTe:m:A:B:C:f/#";
const GREP_LONG: &str = "extended-regexp fixed-strings basic-regexp perl-regexp ignore-case invert-match word-regexp line-regexp count color? \
                         colour? files-with-matches files-without-match only-matching line-number with-filename no-filename byte-offset quiet \
                         silent no-messages null text initial-tab line-buffered recursive regexp= max-count= context= after-context= \
                         before-context= include= exclude= exclude-dir= binary-files= file/";

/// Programs other than git.
pub(super) const PROGRAMS: &[Program] = &[
    names("echo true false :", "", "", Own(anything)),
    names("printf", "", "", Own(printf)),
    names("test", "", "", Own(test)),
    names("[", "", "", Own(bracket)),
    names("command", "", "", Own(command)),
    names("type", "atpP", "", Programs),
    names("which", "a", "all", Programs),
    names("pwd", "LP", "", Nothing),
    names("whoami tty nproc uptime arch hostname", "", "all", Nothing),
    names("uname", "asnrvmpio", "all", Nothing),
    names("id", "ugGnrz", "user group groups name real", Text),
    names("groups basename dirname sleep seq expr", "", "", Text),
    // -s and an operand without + set the clock; -f and -r read files, and so does -d 'TZ="FILE" …'.
    names("date", "uRI?d:", "utc universal rfc-email iso-8601? date=", Dates),
    // -L, -H and --dereference follow links.
    names(
        "ls",
        "1aAbBcCdfFgGhiklmnNopqQrRsStuUvxX",
        "all almost-all human-readable recursive reverse color? group-directories-first size inode full-time directory classify? sort= time= \
         time-style= format= ignore= si no-group numeric-uid-gid author escape quote-name file-type indicator-style=",
        Paths,
    ),
    names("stat", "c:ftx", "format= printf= terse file-system", Paths),
    names(
        "readlink",
        "femnz",
        "canonicalize canonicalize-existing canonicalize-missing no-newline",
        Paths,
    ),
    names(
        "realpath",
        "emqsz",
        "canonicalize-existing canonicalize-missing no-symlinks quiet strip zero",
        Paths,
    ),
    // -C writes, -f reads names, -z runs programs that unpack.
    names("file", "biEkNn0", "brief mime mime-type mime-encoding keep-going no-pad", Paths),
    // -L, -D and -H follow links, -X and --files0-from read names.
    names(
        "du",
        "sahckmb0Sxd:",
        "summarize all human-readable total bytes apparent-size max-depth= si one-file-system exclude=",
        Paths,
    ),
    names(
        "df",
        "ahiklPTHt:",
        "all human-readable inodes local portability print-type total si type=",
        Paths,
    ),
    // -o writes, -l follows links, -R runs itself; a text is the next word wherever the letter stands in its word.
    names(
        "tree",
        "!adfspughDFQNCnitrvL:P:I:",
        "dirsfirst noreport gitignore prune filelimit= charset= du si",
        Paths,
    ),
    names("find", "", "", Own(find)),
    content(
        "cat",
        "AbeEnstTuv",
        "number number-nonblank show-all show-ends show-tabs show-nonprinting squeeze-blank",
        Paths,
    ),
    content("head", "n:c:qvz#", "lines= bytes= quiet silent verbose zero-terminated", Paths),
    // -f waits for ever, and so does the old `+1f`.
    content("tail", "n:c:qvz#", "lines= bytes= quiet silent verbose zero-terminated", Named),
    content("tac rev", "", "", Paths),
    // --files0-from reads names.
    content("wc", "clmwL", "bytes chars lines words max-line-length", Paths),
    content("nl", "b:f:h:i:l:n:s:v:w:", "", Paths),
    content(
        "cut",
        "b:c:d:f:sz",
        "bytes= characters= delimiter= fields= only-delimited output-delimiter= complement",
        Paths,
    ),
    content("tr", "cCdst", "complement delete squeeze-repeats truncate-set1", Text),
    content("paste", "d:sz", "delimiters= serial", Paths),
    content("fold", "bsw:#", "bytes spaces width=", Paths),
    content("column", "ts:o:c:", "table separator=", Paths),
    // -o writes, -T writes elsewhere, --compress-program runs, --files0-from reads names.
    content(
        "sort",
        "bdfghiMnRrVsuzcCmk:t:",
        "ignore-leading-blanks dictionary-order ignore-case general-numeric-sort human-numeric-sort numeric-sort random-sort reverse \
         version-sort stable unique zero-terminated check? merge key= field-separator=",
        Paths,
    ),
    // A second operand is written.
    content(
        "uniq",
        "cdDiuzf:s:w:",
        "count repeated unique ignore-case skip-fields= skip-chars= check-chars= zero-terminated",
        One,
    ),
    content("comm", "123z", "check-order nocheck-order total output-delimiter=", Files),
    content("cmp", "bls", "print-bytes verbose quiet silent", Files),
    // -r follows links, -l runs pr.
    content(
        "diff",
        "qsiEbwBaTtcuydU:C:W:F:I:",
        "brief report-identical-files ignore-case ignore-all-space ignore-space-change ignore-blank-lines text context? unified? \
         side-by-side width= suppress-common-lines color? show-c-function label= minimal strip-trailing-cr normal",
        Files,
    ),
    // -c opens what a file names.
    content(
        "md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum",
        "btz",
        "binary text tag zero",
        Paths,
    ),
    content("cksum", "", "", Paths),
    content(
        "od",
        "A:j:N:t:w?vabcdfilosx",
        "address-radix= skip-bytes= read-bytes= format= output-duplicates",
        Paths,
    ),
    // -f reads a file of formats.
    content("hexdump hd", "bcCdovxn:s:", "", Paths),
    content("grep egrep fgrep", GREP, GREP_LONG, Pattern(&["r", "recursive"])),
    // --pre and --hostname-bin run, -z runs programs that unpack, -L follows links.
    content(
        "rg",
        "nNiSsFwxlcovUPaHIq0pu.e:f/g:t:T:A:B:C:m:j:M:r:d:E:",
        "files hidden no-ignore no-ignore-vcs no-config type= type-not= glob= iglob= ignore-case smart-case case-sensitive fixed-strings \
         word-regexp line-regexp line-number no-line-number files-with-matches files-without-match count count-matches only-matching \
         invert-match multiline multiline-dotall context= after-context= before-context= max-count= max-depth= max-columns= max-filesize= \
         no-heading heading color= colors= sort= sortr= stats json vimgrep type-list replace= regexp= file/ with-filename no-filename null \
         pcre2 trim column no-messages text passthru unrestricted encoding= threads= quiet pretty",
        Pattern(&[]),
    ),
    // -f and -L read programs, --slurpfile and its like files.
    content(
        "jq",
        "rcesnSMCjaR",
        "raw-output compact-output exit-status slurp null-input sort-keys monochrome-output color-output join-output ascii-output raw-input tab",
        Jq,
    ),
    content("sed", "", "", Own(sed)),
];

/// Commands of file systems that count as edits. `cp` without what follows links or names its target elsewhere.
pub(super) const EDITS: &[Program] = &[
    names("mkdir", "pv", "parents verbose", Paths),
    names("touch", "acm", "no-create", Paths),
    names("rmdir", "pv", "parents verbose", Paths),
    names("rm", "rRfvdi", "recursive force verbose dir", Paths),
    names("mv", "fnvi", "force no-clobber verbose", Paths),
    names("cp", "rRapvnfi", "recursive archive no-clobber verbose force", Paths),
];

const DIFF: &str = "puwbRazsmcWM?C?U:S:G:n:iEFgqL:#";
/// What is not here: --output writes, --ext-diff and --textconv run programs, --no-index reads anywhere, --submodule runs git elsewhere.
const DIFF_LONG: &str = "stat? shortstat numstat name-only name-status cached staged color? no-color patch no-patch summary word-diff? \
                         color-words? ignore-all-space ignore-space-change ignore-blank-lines ignore-space-at-eol unified= minimal histogram \
                         patience diff-algorithm= diff-filter= find-renames? no-renames raw full-index check exit-code quiet no-ext-diff \
                         no-textconv merge-base no-prefix binary abbrev? inter-hunk-context= function-context compact-summary dirstat? \
                         pickaxe-all pickaxe-regex oneline graph all decorate? no-decorate since= until= after= before= author= committer= \
                         grep= max-count= skip= date= format= pretty? merges no-merges first-parent reverse follow branches? tags? remotes? \
                         abbrev-commit no-abbrev-commit topo-order date-order author-date-order left-right cherry-pick cherry-mark count \
                         all-match invert-grep regexp-ignore-case extended-regexp fixed-strings perl-regexp simplify-by-decoration \
                         full-history ancestry-path boundary no-walk relative-date parents children objects";
const REFS: &str = "all remotes list verbose show-current merged? no-merged? contains? no-contains? points-at? sort= format= column? no-column \
                    color? no-color abbrev? ignore-case count=";

/// Commands of git. `stash.list` is `git stash list`.
pub(super) const GIT: &[Program] = &[
    names(
        "status",
        "sbvzu?",
        "short branch verbose porcelain? long untracked-files? ignored? show-stash ahead-behind no-ahead-behind renames no-renames column? \
         no-column null",
        Paths,
    ),
    content("diff log show whatchanged diff-tree stash.show", DIFF, DIFF_LONG, Paths),
    names("stash.list rev-list", "n:gi#", DIFF_LONG, Text),
    names("reflog", "n:gi#", DIFF_LONG, Nothing),
    content("reflog.show", DIFF, DIFF_LONG, Paths),
    content(
        "blame annotate",
        "wlsetfnbpM?C?L:",
        "line-porcelain porcelain root show-name show-number show-email date= abbrev? since=",
        Paths,
    ),
    // -O runs a pager, --no-index reads anywhere, --recurse-submodules runs git elsewhere.
    content(
        "grep",
        "EFGPiIvwcloLnHhqpWe:m:A:B:C:",
        "extended-regexp fixed-strings basic-regexp perl-regexp ignore-case invert-match word-regexp count color? no-color files-with-matches \
         files-without-match name-only only-matching line-number column full-name quiet cached untracked and or not all-match heading break \
         show-function function-context max-depth= max-count= context= after-context= before-context= text",
        Pattern(&[]),
    ),
    // --textconv and --filters run programs.
    content("cat-file", "tspe", "", Text),
    names(
        "ls-files",
        "cdmostukzv",
        "cached deleted modified others stage exclude-standard full-name error-unmatch eol unmerged killed",
        Paths,
    ),
    names(
        "ls-tree",
        "rdtlz",
        "name-only name-status full-name full-tree long object-only abbrev?",
        Text,
    ),
    names(
        "rev-parse",
        "q",
        "show-toplevel git-dir absolute-git-dir git-common-dir is-inside-work-tree is-inside-git-dir is-bare-repository show-prefix show-cdup \
         abbrev-ref? short? verify symbolic-full-name quiet",
        Text,
    ),
    // -l has made a branch, once.
    names("branch", "vari", REFS, Listed),
    names("tag", "lin?", REFS, Listed),
    names("remote", "v", "verbose", Nothing),
    names("remote.get-url", "", "all push", Text),
    names("worktree.list", "vz", "porcelain verbose", Nothing),
    names("for-each-ref", "", REFS, Text),
    names("show-ref", "dsq", "head heads tags dereference hash? verify quiet abbrev?", Text),
    names(
        "describe",
        "",
        "tags all always long abbrev= match= exact-match contains first-parent",
        Text,
    ),
    names("merge-base", "a", "all is-ancestor octopus fork-point", Text),
    names("shortlog", "snec", "summary numbered email all no-merges since= until= author=", Text),
    names("count-objects", "vH", "verbose human-readable", Nothing),
    names("check-ignore", "vnqz", "verbose quiet non-matching no-index", Paths),
];
