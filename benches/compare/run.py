#!/usr/bin/env python3
"""Measures agentglot against other tools and prints the table of docs/speed.md. Builds nothing; first:

    cargo build --profile dist --bin agentglot --example generate --bench throughput
    python3 benches/compare/run.py [--quick] [--only ROW]… [--page docs/speed.md] [target/dist/agentglot]

Corpora come from the seeded generator and go to a temporary directory. Ratios are between medians of runs that take turns
in one run; absolute figures are this machine's. The exit code is 1 when outputs disagree, a program fails or a bar is missed
(with --quick bars are shown but not enforced).
"""

import argparse
import glob
import hashlib
import os
import platform
import shlex
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True  # leave no traces in the clone
import agree
import lines as long_lines
import measure

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
MB = 1_000_000
CHUNKS = "qwen:stream-chunk-json"
#: (what --from says, kind of the generator); events are made by converting the first.
SOURCES = [
    ("claude", "claude-partial"),
    ("claude", "claude-messages"),
    ("qwen-code", "qwen-code-partial"),
    ("qwen:stream-json", "qwen-messages"),
    (CHUNKS, "qwen-chunks"),
    ("tricode", "tricode"),
    ("cursor", "cursor-partial"),
    ("agentglot:events", None),
]
TARGETS = ["claude", "qwen-code", "qwen:stream-json", CHUNKS, "tricode", "cursor", "agentglot:events"]


class Comparison:
    """One run of this program: where things are, what was found."""

    def __init__(self, options, directory):
        self.options = options
        self.directory = directory
        self.rows = []  # (work, bar, measured, met or None)
        self.details = []  # (summary, Markdown)
        self.commands = []
        self.wrong = []

    def size(self, megabytes):
        return (10 if self.options.quick else megabytes) * MB

    def corpus(self, kind, size):
        """A corpus on disk, made when it is first asked for."""
        path = os.path.join(self.directory, f"{kind.replace(':', '-')}-{size // MB}MB.jsonl")
        if not os.path.exists(path):
            command = [self.options.generator, kind, f"{size // MB}MB"]
            self.note(command, f" > {os.path.basename(path)}")
            measure.run(command, stdout=path)
            measure.warm(path)
        return path

    def convert(self, source, target, file, *more, jobs=1, tools="native"):
        """The command line of a conversion."""
        partial = ["--include-partial-messages"] if target in ("claude", "qwen-code", "cursor") else []
        fixed = ["--tools", tools, "--jobs", str(jobs)]
        return [self.options.binary, "convert", "--from", source, "--to", target, *fixed, *partial, *more, file]

    def note(self, command, tail=""):
        """Keeps a command for the report, as one would type it in the clone."""
        typed = {
            self.options.binary: f"target/{self.options.profile}/agentglot",
            self.options.generator: f"target/{self.options.profile}/examples/generate",
            sys.executable: "python3",
        }
        words = [typed.get(word) or word.removeprefix(ROOT + os.sep).removeprefix(self.directory + os.sep) for word in command]
        line = shlex.join(words) + tail
        if line not in self.commands:
            self.commands.append(line)

    def row(self, work, bar, measured, met):
        self.rows.append((work, bar, measured, met))
        print(f"{'ok  ' if met else '--  ' if met is None else 'MISS'} {work}: {measured} (bar {bar})", file=sys.stderr, flush=True)
        if met is False and not self.options.quick:
            self.wrong.append(f"bar missed: {work}: {measured}, bar {bar}")

    def complain(self, what):
        print(f"\n!!! {what}\n", file=sys.stderr, flush=True)
        self.wrong.append(what)


def in_memory(comparison):
    """Rows of the in-memory bench, which does its own measuring."""
    bench = comparison.options.throughput or newest(os.path.join(os.path.dirname(comparison.options.binary), "deps", "throughput-*"))
    if not bench:
        return comparison.complain("the throughput bench is not built: cargo build --profile dist --bench throughput")
    command = [bench, "--tsv", "--mb", str(comparison.size(32) // MB)]
    comparison.note(["cargo", "bench", "--profile", comparison.options.profile, "--bench", "throughput", "--", *command[1:]])
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        comparison.complain(f"{shlex.join(command)}: exit {done.returncode}")
    lines = []
    for line in done.stdout.splitlines():
        kind, *fields = line.split("\t")
        if kind == "row":
            work, bar, verbatim, native, slowest = fields
            measured = f"{native} × (verbatim tools {verbatim} ×{'; slowest: ' if slowest else ''}{slowest})"
            comparison.row(work, f"≥ {bar} × `Value` round trip", measured, min(float(verbatim), float(native)) >= float(bar))
        elif kind == "pair":
            lines.append("| " + " | ".join(fields) + " |")
    head = "| source | target | serde_json `Value`, MB/s | verbatim, MB/s | × | native, MB/s | × |\n|---|---|--:|--:|--:|--:|--:|\n"
    comparison.details.append(("In memory, one thread, each pair", head + "\n".join(lines)))


def process(comparison):
    """The whole program against others that do the same translation, or only parse and print."""
    file = comparison.corpus("claude-partial", comparison.size(100))
    python = [sys.executable, os.path.join(HERE, "translate.py")]
    programs = {
        # The others leave tools alone.
        "agentglot": comparison.convert("claude", CHUNKS, file, tools="verbatim"),
        "agentglot, native tools": comparison.convert("claude", CHUNKS, file),
        "python json": [*python, file],
        "python orjson": [*python, "--orjson", file],
        "node": ["node", os.path.join(HERE, "translate.mjs"), file],
        "jq": ["jq", "-cn", "-f", os.path.join(HERE, "translate.jq"), file],
        "jq -c . (no translation)": ["jq", "-c", ".", file],
    }
    for name in missing(programs):
        if "orjson" not in name:
            comparison.complain(f"{name} is not installed; its row is missing")
        del programs[name]
    outputs = os.path.join(comparison.directory, "translated")
    ours = outputs + "-agentglot"
    for name, command in programs.items():
        comparison.note(command, " > /dev/null")
        if name in ("jq -c . (no translation)", "agentglot, native tools"):
            continue
        path = ours if name == "agentglot" else outputs
        measure.run(command, stdout=path)
        found = agree.differences(ours, path)
        if found:
            comparison.complain(f"THE OUTPUTS OF agentglot AND {name} DISAGREE:\n" + "\n".join(found))
    costs = measure.interleaved(programs, comparison.options.rounds)
    peaks = {name: measure.peak(command) for name, command in programs.items()}
    own = costs["agentglot"]
    slower = max(own, costs["agentglot, native tools"], key=lambda cost: cost.cpu)
    table = ["| program | wall, s | × | CPU, s | × | peak memory, MB |", "|---|--:|--:|--:|--:|--:|"]
    for name, cost in costs.items():
        ratios = (cost.wall / own.wall, cost.cpu / own.cpu)
        table.append(f"| {name} | {cost.wall:.3f} | {ratios[0]:.1f} | {cost.cpu:.3f} | {ratios[1]:.1f} | {peaks[name] / MB:.1f} |")
    size = os.path.getsize(file) / MB
    comparison.details.append((f"Whole process, Claude partial → {CHUNKS}, {size:.0f} MB, to /dev/null", "\n".join(table)))
    for name, bar in (("jq -c . (no translation)", 40), ("python json", 30), ("node", 15)):
        if name in costs:
            wall, cpu = costs[name].wall / own.wall, costs[name].cpu / own.cpu
            native = costs[name].cpu / slower.cpu
            work = f"whole process, {size:.0f} MB, against {name}"
            measured = f"{cpu:.1f} × CPU, {wall:.1f} × wall (native tools {native:.1f} × CPU)"
            comparison.row(work, f"≥ {bar} × CPU", measured, min(cpu, native) >= bar)
    os.remove(outputs)
    os.remove(ours)


def recordings(comparison):
    """What the real programs wrote, with and without a ledger."""
    lines = ["| recordings | target | `--ledger` | MB/s of CPU |", "|---|---|---|--:|"]
    for source in ("claude", "qwen-code", "tricode"):
        file = comparison.corpus(f"recordings:{source}", comparison.size(100))
        size = os.path.getsize(file) / MB
        commands = {}
        for target in (CHUNKS, "cursor", "agentglot:events"):
            commands[target, "no"] = comparison.convert(source, target, file)
            commands[target, "yes"] = comparison.convert(source, target, file, "--ledger", os.path.join(comparison.directory, "ledger.jsonl"))
        for command in commands.values():
            comparison.note(command, " > /dev/null")
        # Some of the recorded programs were killed in the middle of a line.
        costs = measure.interleaved(commands, comparison.options.rounds, codes=(0, 1))
        lines += [f"| {source} | `{target}` | {ledger} | {size / cost.cpu:.0f} |" for (target, ledger), cost in costs.items()]
        os.remove(file)
    comparison.details.append(("Whole process, recordings of the real programs, to /dev/null", "\n".join(lines)))


def jobs(comparison):
    """One job and two over a file of many sessions."""
    file = comparison.corpus("claude-partial", comparison.size(500))
    commands = {count: comparison.convert("claude", CHUNKS, file, jobs=count) for count in (1, 2)}
    for command in commands.values():
        comparison.note(command, " > /dev/null")
    if digest(commands[1]) != digest(commands[2]):
        comparison.complain("--jobs 2 WRITES OTHER BYTES THAN --jobs 1")
    costs = measure.interleaved(commands, comparison.options.rounds)
    ratio = costs[2].wall / costs[1].wall
    size = os.path.getsize(file) / MB
    measured = f"{ratio:.2f} × ({costs[2].wall:.2f} s, {costs[1].wall:.2f} s)"
    comparison.row(f"two jobs over one {size:.0f} MB file of many sessions", "≤ 0.7 × the wall time of one", measured, ratio <= 0.7)
    if comparison.size(500) != comparison.size(100):
        os.remove(file)


def memory(comparison):
    """The peak of every pair of streaming formats."""
    size = comparison.size(1000)
    comparison.note(comparison.convert("FORMAT", "FORMAT", "LOG"), " > /dev/null")
    table = ["| from \\ to | " + " | ".join(f"`{target}`" for target in TARGETS) + " |", "|---" * (len(TARGETS) + 1) + "|"]
    worst = (0, "", "")
    for source, kind in SOURCES:
        label = kind or "agentglot-events"
        if kind:
            file = comparison.corpus(kind, size)
        else:
            file = os.path.join(comparison.directory, "events.jsonl")
            command = comparison.convert("claude", source, comparison.corpus("claude-partial", size))
            comparison.note(command, " > events.jsonl")
            measure.run(command, stdout=file)
        cells = []
        for target in TARGETS:
            peak = measure.peak(comparison.convert(source, target, file))
            worst = max(worst, (peak, label, target))
            cells.append(f"{peak / MB:.1f}")
            print(f"     {label} → {target}: {cells[-1]} MB", file=sys.stderr, flush=True)
        table.append(f"| {label} | " + " | ".join(cells) + " |")
        if kind != "claude-partial":  # events are made from it
            os.remove(file)
    os.remove(comparison.corpus("claude-partial", size))
    comparison.details.append((f"Peak memory in MB, logs of {size // MB} MB", "\n".join(table)))
    peak, label, target = worst
    measured = f"{peak / MB:.1f} MB at most ({label} → `{target}`)"
    comparison.row(f"peak memory, {size // MB} MB log, any pair", "≤ 16 MB", measured, peak <= 16 * MB)


def long_line(comparison):
    """One very long line."""
    size = comparison.size(100)
    file = comparison.corpus("claude-long-line", size)
    command = comparison.convert("claude", CHUNKS, file)
    comparison.note(command, " > /dev/null")
    peak = max(measure.peak(command) for _ in range(comparison.options.rounds))
    ratio = peak / size
    comparison.row(f"one {size // MB} MB line, Claude → chunks, peak memory", "≤ 2.5 × the line", f"{ratio:.2f} × ({peak / MB:.0f} MB)", ratio <= 2.5)
    os.remove(file)


def shapes(comparison):
    """Very long lines that hold one or very many things."""
    size = comparison.size(100)
    targets = ["claude", CHUNKS, "tricode", "cursor"]
    table = ["| the line holds | " + " | ".join(f"`{target}`" for target in targets) + " |", "|---|" + "--:|" * len(targets)]
    worst = 0
    for shape, make in long_lines.SHAPES.items():
        file = os.path.join(comparison.directory, "line.jsonl")
        with open(file, "w", encoding="utf-8") as line:
            line.write(make(size))
        ratios = [measure.peak(comparison.convert("claude", target, file)) / size for target in targets]
        worst = max(worst, *ratios)
        table.append(f"| {shape} | " + " | ".join(f"{ratio:.2f}" for ratio in ratios) + " |")
        os.remove(file)
    comparison.details.append((f"Peak memory of one line of {size // MB} MB from Claude Code, multiples of the line", "\n".join(table)))
    comparison.row(f"one {size // MB} MB line of any shape, peak memory", "≤ 2.5 × the line", f"{worst:.2f} × at most", worst <= 2.5)


def start(comparison):
    """What it costs to start and convert nothing."""
    empty = os.path.join(comparison.directory, "empty.jsonl")
    open(empty, "wb").close()
    commands = {"agentglot": comparison.convert("claude", CHUNKS, empty), "node": ["node", "-e", "0"]}
    for command in commands.values():
        comparison.note(command)
    if missing(commands):
        return comparison.complain("node is not installed; the start-up row is missing")
    costs = measure.interleaved(commands, 8 * comparison.options.rounds)
    own, node = costs["agentglot"].cpu * 1000, costs["node"].cpu * 1000
    comparison.row("start-up CPU (converting an empty file)", "≤ 1/20 of `node -e 0`", f"1/{node / own:.0f} ({own:.2f} ms, {node:.1f} ms)", own * 20 <= node)


ROWS = {"in-memory": in_memory, "process": process, "recordings": recordings, "jobs": jobs, "memory": memory, "line": long_line, "shapes": shapes, "start": start}


def missing(programs):
    def absent(name, command):
        if name == "python orjson":
            return subprocess.run([sys.executable, "-c", "import orjson"], stderr=subprocess.DEVNULL, check=False).returncode != 0
        return shutil.which(command[0]) is None

    return [name for name, command in programs.items() if absent(name, command)]


def digest(command):
    """Hash of what a program writes."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as child:
        return hashlib.file_digest(child.stdout, "sha256").hexdigest()


def newest(pattern):
    """The newest executable that a pattern finds."""
    found = [path for path in glob.glob(pattern) if os.access(path, os.X_OK) and not path.endswith(".d")]
    return max(found, key=os.path.getmtime, default=None)


def facts(comparison):
    """The machine and the versions, in one paragraph."""
    model = platform.processor() or platform.machine()
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as info:
            model = next((line.split(":", 1)[1].strip() for line in info if line.startswith("model name")), model)
    except OSError:
        pass
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    versions = [f"Python {platform.python_version()}"]
    for command in ([comparison.options.binary, "--version"], ["node", "--version"], ["jq", "--version"]):
        if shutil.which(command[0]):
            said = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False).stdout.strip()
            name = os.path.basename(command[0])
            versions.append(said if said.startswith(name) else f"{name} {said}")
    return f"{model}, {cores} cores, {platform.system()} {platform.release().split('-')[0]}; {', '.join(versions)}."


def report(comparison):
    """All of it as Markdown."""
    mark = {True: "✓", False: "✗ missed", None: ""}
    lines = ["| work | bar | measured | |", "|---|---|---|---|"]
    lines += [f"| {work} | {bar} | {measured} | {mark[met]} |" for work, bar, measured, met in comparison.rows]
    details = [*comparison.details, ("The commands", "```sh\n" + "\n".join(comparison.commands) + "\n```")]
    folded = [f"<details><summary>{summary}</summary>\n\n{body}\n\n</details>" for summary, body in details]
    quick = "**Quick run: 10 MB everywhere, the figures mean little.**\n\n" if comparison.options.quick else ""
    return "\n\n".join([quick + "\n".join(lines), facts(comparison), *folded])


def put_into(where, text):
    """Replaces what stands between the two markers."""
    with open(where, encoding="utf-8") as file:
        page = file.read()
    head, start_mark, rest = page.partition("<!-- speed:start -->")
    _, end_mark, tail = rest.partition("<!-- speed:end -->")
    if not start_mark or not end_mark:
        sys.exit(f"{where} has no <!-- speed:start --> … <!-- speed:end -->")
    with open(where, "w", encoding="utf-8") as file:
        file.write(f"{head}{start_mark}\n{text}\n{end_mark}{tail}")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary", nargs="?", default=os.path.join(ROOT, "target", "dist", "agentglot"))
    parser.add_argument("--generator", help="default: examples/generate beside the binary")
    parser.add_argument("--throughput", help="the in-memory bench; default: the newest deps/throughput-* beside the binary")
    parser.add_argument("--rounds", type=int, default=5, help="runs of which the median counts (default 5)")
    parser.add_argument("--quick", action="store_true", help="10 MB instead of 100, 500 and 1000")
    parser.add_argument("--only", action="append", choices=list(ROWS), metavar="ROW", help="of " + ", ".join(ROWS))
    parser.add_argument("--dir", help="where the temporary directory is made; 3 GB are needed")
    parser.add_argument("--page", help="put the report between the two speed markers of this page")
    options = parser.parse_args()
    if options.page and (options.quick or options.only):
        parser.error("only a whole run goes into a page")
    options.binary = os.path.abspath(options.binary)
    options.profile = os.path.basename(os.path.dirname(options.binary))
    options.generator = os.path.abspath(options.generator or os.path.join(os.path.dirname(options.binary), "examples", "generate"))
    for needed in (options.binary, options.generator):
        if not os.access(needed, os.X_OK):
            parser.error(f"{needed} is not built")
    return options


def main():
    options = arguments()
    with tempfile.TemporaryDirectory(prefix="agentglot-speed-", dir=options.dir) as directory:
        comparison = Comparison(options, directory)
        for name in options.only or ROWS:
            try:
                ROWS[name](comparison)
            except measure.Failed as failure:
                comparison.complain(f"{name}: {failure}")
        text = report(comparison)
    print(text)
    if options.page:
        put_into(options.page, text)
    for what in comparison.wrong:
        print(f"!!! {what}", file=sys.stderr)
    return 1 if comparison.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
