#!/usr/bin/env python3
"""Whether the real programs go on with the sessions that agentglot copies for them.

Installs the newest published version of each program into a cache, lets each have three sessions with a scripted model on loopback (no
key, no account), copies each session to every other program with `agentglot sessions copy`, and lets that program go on with it. What
the program then asks the model has to hold every text, call and result of the source.

    tools/resume/resume.py --agentglot target/release/agentglot                          # all pairs
    tools/resume/resume.py --agentglot … --from codex --to claude --keep runs/           # one, keeping files and requests
    tools/resume/resume.py --agentglot … --page docs/sessions.md                         # writes what was verified into its table

Exit code: 0, all went over; 1, something did not; 2, a program could not be installed or run.
"""

import argparse
import json
import os
import pathlib
import re
import shlex
import shutil
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "drift"))
import drift  # noqa: E402
import model  # noqa: E402

SCENARIOS = {"plain": "plain", "parallel": "tools in parallel", "handover": "edit, subagent"}
GO_ON = "[[plain]] What did we do so far?"

# What is added to the printed command so that the program takes one prompt and ends.
HEADLESS = {
    "claude": lambda argv: [*argv, "-p", "--dangerously-skip-permissions", GO_ON],
    "qwen-code": lambda argv: [*argv, "--auth-type", "openai", "--yolo", "-p", GO_ON],
    "codex": lambda argv: [argv[0], "exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", *argv[1:], GO_ON],
    "gemini": lambda argv: [*argv, "-y", "-m", "gemini-2.5-pro", "-p", GO_ON],
    "opencode": lambda argv: [argv[0], "run", *argv[1:], "-m", "scripted/scripted", GO_ON],
}
# Words of calls that each agent says in its own way, in arguments of any name.
MARKS = ["hello.txt", "new.txt", "*.txt", "printf", "goodbye", "please look"]

# What programs write around the output of a command that ended well, and around the lines of a file.
WRAPPING = re.compile(
    r"(Chunk ID:|Wall time:|Process exited with code 0|Original token count:|Output:$|Exit code: 0|Process Group PGID:|</?untrusted_context>"
    r"|Command:|Directory:|Error: \(none\)|Exit Code: 0|Signal:|<path>|<type>|</?content>|\(End of file)"
)
COMMANDS = ("Bash", "run_shell_command", "bash", "shell_command", "exec_command")


def main():
    options = arguments()
    programs = {program.dialect: program for program in drift.PROGRAMS}
    folders, versions, table, broken = {}, {}, {}, False
    for name in sorted({*options.source, *options.target}, key=list(programs).index):
        try:
            folders[name] = drift.install(programs[name], options.cache) if not options.installed else newest(programs[name], options.cache)
            versions[name] = drift.version_of(programs[name], folders[name])
            print(f"{name} {versions[name]}", flush=True)
        except (OSError, drift.Failed) as error:
            broken = True
            print(f"{name}: {error}", file=sys.stderr)
    for source in [name for name in options.source if name in folders]:
        for scenario in options.scenario:
            try:
                with Place(options) as place:
                    said = place.begin(programs[source], folders[source], scenario)
                    for target in [name for name in options.target if name in folders and (name != source or options.itself)]:
                        faults = place.go_on(programs[target], folders[target], said)
                        table[source, target, scenario] = faults
                        print(f"{source} -> {target}, {scenario}: {'; '.join(faults) or 'ok'}", flush=True)
            except drift.Failed as error:
                broken = True
                print(f"{source}, {scenario}: {error}", file=sys.stderr)
    if options.page:
        write_page(options.page, versions, table)
    sys.exit(2 if broken else 1 if any(table.values()) else 0)


def arguments():
    names = [program.dialect for program in drift.PROGRAMS]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--agentglot", type=pathlib.Path, required=True, help="the program that copies")
    parser.add_argument("--from", dest="source", action="append", choices=names, help="one source; may be repeated")
    parser.add_argument("--to", dest="target", action="append", choices=names, help="one target; may be repeated")
    parser.add_argument("--scenario", action="append", choices=SCENARIOS, help="one session; may be repeated")
    parser.add_argument("--itself", action="store_true", help="copies for the program that had the session, too")
    cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache")
    parser.add_argument("--cache", type=pathlib.Path, default=cache / "agentglot-drift", help="where programs are installed (%(default)s)")
    parser.add_argument("--installed", action="store_true", help="takes what is in the cache, without a look at what is newest")
    parser.add_argument("--keep", type=pathlib.Path, metavar="DIR", help="keep sessions and requests")
    parser.add_argument("--page", type=pathlib.Path, metavar="FILE", help="write what was verified into this page's table")
    parser.add_argument("--timeout", type=float, default=120, metavar="SECONDS", help="for one run of a program (%(default)s)")
    options = parser.parse_args()
    options.agentglot = options.agentglot.resolve()
    options.cache = options.cache.resolve()
    options.source, options.target = options.source or names, options.target or names
    options.scenario = options.scenario or list(SCENARIOS)
    return options


def newest(program, cache):
    folders = [folder for folder in (cache / program.dialect).glob("*") if (folder / "complete").exists()]
    if not folders:
        raise drift.Failed("nothing is installed")
    return max(folders, key=lambda folder: [int(part) if part.isdigit() else 0 for part in folder.name.split(".")])


class Said:
    """A session that a program had: where it lies, and what was said in it."""

    def __init__(self, where, texts, calls):
        self.where, self.texts, self.calls = where, texts, calls


class Place:
    """A home and a working folder of their own, with a scripted model."""

    def __init__(self, options):
        self.options = options
        # Some programs refuse to work below the system's folder for temporary files.
        self.scratch = pathlib.Path(tempfile.mkdtemp(prefix="run-", dir=options.cache))
        self.home, self.work = self.scratch / "home", self.scratch / "work"
        self.set_up = set()

    def __enter__(self):
        self.home.mkdir()
        self.work.mkdir()
        (self.work / "hello.txt").write_text("hello\n")
        self.server = model.serve(str(self.work))
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()
        shutil.rmtree(self.scratch, ignore_errors=True)

    def environment(self, program, folder):
        # Nothing of the caller's settings, keys and proxies reaches the program.
        env = {name: os.environ[name] for name in ("LANG", "LC_ALL", "TERM") if name in os.environ}
        env["PATH"] = f"{folder / 'node_modules' / '.bin'}:{os.environ['PATH']}"
        env |= {"HOME": str(self.home), "NO_PROXY": "127.0.0.1", "TMPDIR": str(self.scratch), "NO_COLOR": "1"}
        if program.dialect not in self.set_up:
            self.set_up.add(program.dialect)
            self.variables = getattr(self, "variables", {})
            self.variables[program.dialect] = program.setup(self.home, self.server.port)
        return env | self.variables[program.dialect]

    def run(self, argv, env):
        return drift.run(argv, self.options.timeout, cwd=self.work, env=env)

    def begin(self, program, folder, scenario):
        """Has a session; what was said is what the program itself told the model."""
        env = self.environment(program, folder)
        self.name = f"{program.dialect}.{scenario}"
        form = next(iter(program.runs.values()))
        self.server.requests.clear()
        self.run([program.command, *(f"[[{scenario}]] go" if arg == "PROMPT" else arg for arg in form)], env)
        mine = [(asked, step) for asked, step in self.server.requests if f"[[{scenario}]]" in json.dumps(asked.body) and "error" not in step]
        if not mine:
            raise drift.Failed(f"{program.dialect} did not ask the model")
        # Other requests are for a title.
        asked, last = max(mine, key=lambda one: len(one[0].turns))
        texts, calls = told(asked.body)
        script = [f"[[{scenario}]] go", *(step["text"] for step in model.SCRIPTS[scenario])]
        said = [text for text in script if text and any(text in one for one in [*texts, last["text"]])]
        if program.files:
            # Subagents have files of their own.
            found = [path for path in sorted(self.home.glob(program.files)) if f"[[{scenario}]] go" in path.read_text(errors="replace")]
            if not found:
                raise drift.Failed(f"{program.dialect} kept no session")
            where = str(found[0])
        else:
            listed = json.loads(self.run([program.command, "session", "list", "--format", "json"], env).stdout)
            where = listed[0]["id"]
        self.keep("source.requests", [asked.body for asked, _ in mine])
        if program.files:
            self.keep("source" + pathlib.Path(where).suffix, pathlib.Path(where).read_text(errors="replace"))
        self.source_env = env
        return Said(where, said, calls)

    def go_on(self, program, folder, said):
        """Copies the session for a program, which goes on with it. What did not go over."""
        env = self.environment(program, folder)
        both = env | {"PATH": f"{env['PATH']}:{self.source_env['PATH']}"}
        copied = self.run([self.options.agentglot, "sessions", "copy", said.where, "--to", program.dialect, "--cwd", self.work], both)
        self.keep(f"{program.dialect}.copy", copied.stdout + copied.stderr)
        if copied.returncode != 0:
            return [f"not copied: {copied.stderr.strip()[-300:]}"]
        commands = [shlex.split(part) for part in copied.stdout.strip().split(" && ")]
        if commands[0] != ["cd", str(self.work)]:
            return [f"the command goes elsewhere: {copied.stdout.strip()}"]
        for command in commands[1:-1]:
            done = self.run(command, env)
            if done.returncode != 0:
                return [f"{' '.join(command)}: {(done.stderr or done.stdout).strip()[-300:]}"]
        written = re.search(r"written to (.*?); it goes on with", copied.stderr)
        if written:
            self.keep(f"{program.dialect}.written", pathlib.Path(written[1]).read_text(errors="replace"))
        self.server.requests.clear()
        self.server.offered.clear()
        ran = self.run(HEADLESS[program.dialect](commands[-1]), env)
        # Behind the new prompt nothing has been said yet.
        mine = [asked for asked, _ in self.server.requests if any(who == "user" and GO_ON in text for who, text in since(asked.turns))]
        self.keep(f"{program.dialect}.requests", [asked.body for asked in mine])
        if not mine:
            return [f"the program asks nothing: {(ran.stderr or ran.stdout).strip()[-300:]}"]
        asked = max(mine, key=lambda asked: len(asked.turns))
        return compare(said, *told(asked.body), set(asked.tools))

    def keep(self, name, what):
        if self.options.keep:
            self.options.keep.mkdir(parents=True, exist_ok=True)
            text = what if isinstance(what, str) else json.dumps(what, indent=1)
            (self.options.keep / f"{self.name}.{name}").write_text(text, errors="surrogateescape")


def since(turns):
    """What stands behind the last reply."""
    at = max((n for n, (who, _) in enumerate(turns) if who == "model"), default=-1)
    return turns[at + 1 :]


def told(body):
    """The texts of a request in any of the APIs, and its calls: name, arguments, result."""
    texts, calls, by_id = [], [], {}

    def call(ident, name, arguments):
        calls.append([name, arguments, None])
        by_id.setdefault(ident, []).append(calls[-1])

    def result(ident, said):
        # Some have no ids: the first of that name without a result.
        waiting = [one for one in by_id.get(ident, []) if one[2] is None]
        if waiting:
            waiting[0][2] = said
        else:
            calls.append(["?", "", said])

    def plain(content):
        if isinstance(content, str):
            return content
        return "\n".join(part.get("text") or part.get("input_text") or "" for part in content or [] if isinstance(part, dict))

    for turn in model.listed(body.get("input")):
        kind = turn.get("type")
        if kind in ("function_call", "custom_tool_call"):
            call(turn["call_id"], turn["name"], turn.get("arguments") or turn.get("input") or "")
        elif kind in ("function_call_output", "custom_tool_call_output"):
            result(turn["call_id"], plain(turn["output"]))
        elif kind != "reasoning":
            texts.append(plain(turn.get("content")))
    for turn in body.get("messages") or []:
        if turn["role"] == "tool":
            result(turn["tool_call_id"], plain(turn["content"]))
            continue
        blocks = turn["content"] if isinstance(turn["content"], list) else [{"type": "text", "text": turn["content"] or ""}]
        for block in blocks:
            if block["type"] == "text":
                texts.append(block["text"])
            elif block["type"] == "tool_use":
                call(block["id"], block["name"], json.dumps(block["input"], ensure_ascii=False))
            elif block["type"] == "tool_result":
                result(block["tool_use_id"], plain(block.get("content")))
        for one in turn.get("tool_calls") or []:
            call(one["id"], one["function"]["name"], one["function"]["arguments"])
    for turn in body.get("contents") or []:
        for part in turn.get("parts") or []:
            if "functionCall" in part:
                one = part["functionCall"]
                call(one.get("id") or one["name"], one["name"], json.dumps(one.get("args"), ensure_ascii=False))
            elif "functionResponse" in part:
                one = part["functionResponse"]
                answer = one.get("response") or {}
                result(one.get("id") or one["name"], str(answer.get("output") or answer.get("error") or ""))
            elif part.get("text") and not part.get("thought"):
                texts.append(part["text"])
    return texts, calls


def compare(said, texts, calls, offered):
    """What of a session a request does not hold, in its order."""
    faults, at = [], 0
    whole = "\n".join(texts)
    for text in said.texts:
        found = whole.find(text, at)
        if found < 0:
            faults.append(f"text {text!r} {'stands elsewhere' if text in whole else 'is missing'}")
        else:
            at = found + len(text)
        if whole.count(text) > 1:
            faults.append(f"text {text!r} is there {whole.count(text)} times")
    if len(calls) != len(said.calls):
        faults.append(f"{len(calls)} calls of {len(said.calls)}: {[call[0] for call in calls]}")
    for (name, arguments, result), (new_name, new_arguments, new_result) in zip(said.calls, calls):
        if new_name not in offered and name_for(name, offered):
            faults.append(f"{name} is called {new_name}, which the target lacks")
        lost = [mark for mark in MARKS if mark in arguments and mark not in new_arguments]
        if lost:
            faults.append(f"{name} -> {new_name} lacks {lost}: {new_arguments[:200]}")
        if new_result is None or not holds(new_result, result or ""):
            faults.append(f"the result of {name} -> {new_name} was {(result or '')[:200]!r} and is {(new_result or '')[:200]!r}")
    return faults


def name_for(name, offered):
    """Whether a tool is offered that does what this one does."""
    return any(name in names and any(other in offered for other in names) for names, _ in (*model.KINDS.values(), (COMMANDS, {})))


def holds(new, old):
    """Whether a result says what the source's did; how its lines are numbered is each program's own affair."""
    lines = [re.sub(r"^(\s*\d+\s*[|\t→:]|Output:)\s*", "", line).strip() for line in old.splitlines() if not WRAPPING.match(line)]
    return all(line in new for line in lines)


def write_page(page, versions, table):
    """Pairs that were not tried now keep what was found before."""
    begin, end = "<!-- verified -->\n", "<!-- /verified -->"
    head, rest = page.read_text().split(begin)
    old, tail = rest.split(end)
    names = [program.dialect for program in drift.PROGRAMS]
    before = [[cell.strip() for cell in line.strip("|").split("|")] for line in old.splitlines()]
    told = {cell.split("`")[1]: cell.split("`")[2].strip() for cell in before[0][1:]} if before else {}
    cells = {(row[0].strip("`"), to): cell for row in before[2:] for to, cell in zip(told, row[1:])}
    told |= versions
    for source, target, _ in table:
        runs = [table[source, target, scenario] for scenario in SCENARIOS if (source, target, scenario) in table]
        cells[source, target] = f"{sum(1 for faults in runs if not faults)} of {len(runs)}"
    names = [name for name in names if name in told]
    rows = ["| from \\ to | " + " | ".join(f"`{name}` {told[name]}" for name in names) + " |", "|---|" + "---|" * len(names)]
    rows += [f"| `{source}` | {' | '.join(cells.get((source, target), '') for target in names)} |" for source in names]
    page.write_text(head + begin + "\n".join(rows) + "\n" + end + tail)


if __name__ == "__main__":
    main()
