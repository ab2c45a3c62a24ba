#!/usr/bin/env python3
"""What the newest agents write that agentglot does not know yet.

Installs the newest published version of each program into a cache, plays scripted scenarios with it against a scripted model on
loopback (no key, no account), and holds what it wrote, on standard output and in its session files, against the codecs: unknown
line types and fields, broken rules, logs that are not given back byte for byte; and against the pages: flags and tools that they lack.

    tools/drift/drift.py --agentglot target/release/agentglot            # all programs
    tools/drift/drift.py --agentglot … --only codex --keep logs/         # one, keeping its logs
    tools/drift/drift.py --agentglot … --page docs/versions.md           # writes the versions that were tried

Exit code: 0, nothing new; 1, something is; 2, a program could not be installed or run.
"""

import argparse
import collections
import datetime
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import tomllib

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import model  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCENARIOS = [name for name in model.SCRIPTS if name != "inner"]


class Program:
    """A published program: how it is run for a prompt, what it is told of the model, and where it keeps its sessions."""

    def __init__(self, dialect, package, command, runs, files, setup, flags=()):
        self.dialect, self.package, self.command = dialect, package, command
        self.runs, self.files, self.setup, self.flags = runs, files, setup, flags


def claude(_home, port):
    return {
        "ANTHROPIC_BASE_URL": f"http://127.0.0.1:{port}",
        "ANTHROPIC_API_KEY": "scripted",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "IS_SANDBOX": "1",
        "CLAUDE_CODE_MAX_RETRIES": "1",
    }


def qwen(_home, port):
    return {"OPENAI_BASE_URL": f"http://127.0.0.1:{port}/v1", "OPENAI_API_KEY": "scripted", "OPENAI_MODEL": "scripted", "QWEN_SANDBOX": "false"}


def codex(home, port):
    config = [
        'model = "scripted"',
        'model_provider = "scripted"',
        "check_for_update_on_startup = false",
        "[analytics]",
        "enabled = false",
        "[model_providers.scripted]",
        'name = "scripted"',
        f'base_url = "http://127.0.0.1:{port}/v1"',
        'wire_api = "responses"',
        'env_key = "SCRIPTED_KEY"',
        "request_max_retries = 1",
        "stream_max_retries = 1",
    ]
    (home / ".codex").mkdir()
    (home / ".codex" / "config.toml").write_text("\n".join(config) + "\n")
    return {"SCRIPTED_KEY": "scripted"}


def gemini(home, port):
    (home / ".gemini").mkdir()
    settings = {"security": {"auth": {"selectedType": "gemini-api-key"}}, "privacy": {"usageStatisticsEnabled": False}, "general": {"maxAttempts": 2}}
    (home / ".gemini" / "settings.json").write_text(json.dumps(settings))
    return {"GEMINI_API_KEY": "scripted", "GOOGLE_GEMINI_BASE_URL": f"http://127.0.0.1:{port}", "GEMINI_CLI_TRUST_WORKSPACE": "true", "GEMINI_CLI_NO_RELAUNCH": "true"}


def opencode(home, port):
    config = home / ".config" / "opencode"
    config.mkdir(parents=True)
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "name": "scripted",
        "options": {"baseURL": f"http://127.0.0.1:{port}/v1", "apiKey": "scripted"},
        "models": {"scripted": {"name": "scripted", "reasoning": True}},
    }
    settings = {"model": "scripted/scripted", "provider": {"scripted": provider}, "autoupdate": False, "share": "disabled"}
    (config / "opencode.json").write_text(json.dumps(settings))
    return {"OPENCODE_DISABLE_AUTOUPDATE": "1", "OPENCODE_DISABLE_MODELS_FETCH": "1"}


PROGRAMS = [
    Program(
        "claude",
        "@anthropic-ai/claude-code",
        "claude",
        {
            "stream-json": ["-p", "--output-format", "stream-json", "--verbose", "--dangerously-skip-permissions", "PROMPT"],
            "partial": [
                *["-p", "--output-format", "stream-json", "--verbose", "--include-partial-messages"],
                *["--dangerously-skip-permissions", "PROMPT"],
            ],
            "json": ["-p", "--output-format", "json", "--dangerously-skip-permissions", "PROMPT"],
        },
        ".claude/projects/*/*.jsonl",
        claude,
        [["--help"]],
    ),
    Program(
        "qwen-code",
        "@qwen-code/qwen-code",
        "qwen",
        {
            "stream-json": ["--auth-type", "openai", "--yolo", "--output-format", "stream-json", "PROMPT"],
            "partial": ["--auth-type", "openai", "--yolo", "--output-format", "stream-json", "--include-partial-messages", "PROMPT"],
        },
        ".qwen/**/chats/*.jsonl",
        qwen,
        [["--help"]],
    ),
    Program(
        "codex",
        "@openai/codex",
        "codex",
        {"exec": ["exec", "--json", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", "PROMPT"]},
        ".codex/sessions/**/rollout-*.jsonl",
        codex,
        [["exec", "--help"], ["exec", "resume", "--help"]],
    ),
    Program(
        "gemini",
        "@google/gemini-cli",
        "gemini",
        {
            "stream-json": ["-y", "-m", "gemini-2.5-pro", "-o", "stream-json", "-p", "PROMPT"],
            "json": ["-y", "-m", "gemini-2.5-pro", "-o", "json", "-p", "PROMPT"],
        },
        ".gemini/tmp/*/chats/session-*.json*",
        gemini,
        [["--help"]],
    ),
    Program(
        "opencode",
        "opencode-ai",
        "opencode",
        {"run": ["run", "--format", "json", "--thinking", "PROMPT"]},
        None,
        opencode,
        [["run", "--help"]],
    ),
]


def main():
    options = arguments()
    known, formats = pages(), read_formats(options.agentglot)
    versions, found, broken = {}, collections.defaultdict(collections.Counter), []
    for program in PROGRAMS:
        if options.only and program.dialect not in options.only:
            continue
        try:
            folder = install(program, options.cache)
            versions[program.dialect] = version_of(program, folder)
            print(f"{program.dialect}: {program.package} {versions[program.dialect]}", flush=True)
            try_out(program, folder, options, known, program.dialect in formats, found[program.dialect])
        except (subprocess.SubprocessError, OSError, Failed) as error:
            broken.append(program.dialect)
            print(f"{program.dialect}: {error}", file=sys.stderr)
    for dialect, counts in found.items():
        for what, count in sorted(counts.items()):
            print(f"{dialect}: {what}" + (f" ({count} times)" if count > 1 else ""))
    if options.page:
        write_page(options.page, versions, found)
    sys.exit(2 if broken else 1 if any(found.values()) else 0)


class Failed(Exception):
    """A program could not be tried."""


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--agentglot", type=pathlib.Path, required=True, help="the program that reads what was written")
    parser.add_argument("--only", action="append", metavar="DIALECT", help="one program; may be repeated")
    parser.add_argument("--scenario", action="append", choices=SCENARIOS, help="one scenario; may be repeated")
    cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache")
    parser.add_argument("--cache", type=pathlib.Path, default=cache / "agentglot-drift", help="where programs are installed (%(default)s)")
    parser.add_argument("--keep", type=pathlib.Path, metavar="DIR", help="keep what the programs wrote")
    parser.add_argument("--page", type=pathlib.Path, metavar="FILE", help="write the versions into this page's table")
    parser.add_argument("--timeout", type=float, default=120, metavar="SECONDS", help="for one run of a program (%(default)s)")
    options = parser.parse_args()
    options.agentglot = options.agentglot.resolve()
    return options


def install(program, cache):
    """The folder of the newest version, which is looked up anew each time."""
    version = run(["npm", "view", program.package, "version"]).stdout.strip()
    folder = cache / program.dialect / version
    if not (folder / "complete").exists():
        shutil.rmtree(cache / program.dialect, ignore_errors=True)
        folder.mkdir(parents=True)
        run(["npm", "install", "--no-fund", "--no-audit", "--prefix", folder, f"{program.package}@{version}"])
        (folder / "complete").touch()
    return folder


def version_of(program, folder):
    return json.loads((folder / "node_modules" / program.package / "package.json").read_text())["version"]


def run(argv, timeout=900, **more):
    """A command's output; what it left running in its group is ended."""
    child = subprocess.Popen(
        [str(arg) for arg in argv],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        text=True,
        errors="surrogateescape",
        **more,
    )
    try:
        out, err = child.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        raise Failed(f"no end after {timeout:.0f} s: {' '.join(map(str, argv))}") from None
    finally:
        try:
            os.killpg(child.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        child.wait()
    if more.get("env") is None and child.returncode != 0:
        raise Failed(f"{' '.join(map(str, argv))}: {err.strip()[-400:]}")
    return subprocess.CompletedProcess(argv, child.returncode, out, err)


def try_out(program, folder, options, known, is_read, counts):
    """Plays the scenarios, each in a home of its own, and counts what is new."""
    command = folder / "node_modules" / ".bin" / program.command
    offered = set()
    for scenario in options.scenario or SCENARIOS:
        for form, argv in program.runs.items():
            # Some programs refuse to work below the system's folder for temporary files.
            scratch = pathlib.Path(tempfile.mkdtemp(prefix="run-", dir=options.cache))
            try:
                logs = play(program, command, scenario, form, argv, scratch, options, offered)
                if options.keep:
                    keep = options.keep / program.dialect
                    keep.mkdir(parents=True, exist_ok=True)
                    for log in logs:
                        shutil.copy(log, keep / f"{scenario}.{form}.{log.name}")
                if is_read:
                    for log in logs:
                        judge(log, options.agentglot, counts)
            finally:
                shutil.rmtree(scratch, ignore_errors=True)
    if not is_read:
        counts["no format of it is read"] += 1
    counts.update({f"tool {name} stands on no page": 1 for name in offered - known if not name.startswith("mcp__")})
    for argv in program.flags:
        done = run([command, *argv], env=os.environ | {"NO_COLOR": "1"})
        # Where a flag is explained, not where a text speaks of one.
        rows = (line.strip().split("  ")[0] for line in (done.stdout + done.stderr).splitlines())
        flags = {flag for row in rows if row.startswith("-") for flag in re.findall(r"(?<![\w-])--[a-z][A-Za-z0-9-]+", row)}
        counts.update({f"flag {flag} stands on no page": 1 for flag in flags - pages(f"{program.dialect}.md")})


def play(program, command, scenario, form, argv, scratch, options, offered):
    """One run: the log on standard output and the files that the program kept."""
    home, work = scratch / "home", scratch / "work"
    home.mkdir()
    work.mkdir()
    (work / "hello.txt").write_text("hello\n")
    server = model.serve(str(work))
    # Nothing of the caller's settings, keys and proxies reaches the program.
    env = {name: os.environ[name] for name in ("PATH", "LANG", "LC_ALL", "TERM") if name in os.environ}
    env |= {"HOME": str(home), "NO_PROXY": "127.0.0.1", "TMPDIR": str(scratch), "NO_COLOR": "1"} | program.setup(home, server.port)
    try:
        prompt = f"[[{scenario}]] go"
        said = run([command, *(prompt if arg == "PROMPT" else arg for arg in argv)], options.timeout, cwd=work, env=env)
    finally:
        server.shutdown()
        server.server_close()
    offered |= server.offered
    log = scratch / f"out.{'json' if form == 'json' else 'jsonl'}"
    log.write_text(said.stdout, errors="surrogateescape")
    if scenario == "plain" and not said.stdout.strip():
        raise Failed(f"nothing was written to standard output; {said.stderr.strip()[-400:]}")
    # Some write nothing there when a run fails.
    return [log] * bool(said.stdout.strip()) + (sorted(home.glob(program.files)) if program.files else [])


def judge(log, agentglot, counts):
    """What the codecs do not know of a log, or do not give back."""
    checked = subprocess.run([agentglot, "check", "--json", "--level", "note", log], capture_output=True, text=True)
    for line in checked.stdout.splitlines():
        finding = json.loads(line)
        if finding["rule"] in ("unknown-type", "unknown-field") or finding["level"] == "error":
            pointer = re.sub(r"/\d+", "/*", finding["pointer"])
            counts[f"{finding['rule']} {pointer}: {finding['message']}"] += finding.get("count", 1)
    found = re.search(r"\.jsonl?: ([a-z-]+(?::[a-z-]+)?) \(", checked.stderr)
    if found is None:
        counts[f"a log is not recognised: {log.name.split('-')[0]}"] += 1
        return
    back = subprocess.run([agentglot, "convert", "--from", found[1], "--to", found[1], log], capture_output=True)
    if back.stdout != log.read_bytes():
        counts[f"a log of {found[1]} is not given back byte for byte"] += 1


def read_formats(agentglot):
    """The dialects that are read."""
    listed = subprocess.run([agentglot, "dialects", "--json"], capture_output=True, text=True, check=True).stdout
    return {json.loads(line)["dialect"] for line in listed.splitlines()}


def pages(names="*.md"):
    """Every word in code style on the pages: the names of flags and tools that are known."""
    text = "\n".join(page.read_text() for page in (ROOT / "docs").glob(names))
    return set(word for code in re.findall(r"`([^`\n]+)`", text) for word in re.findall(r"-{0,2}[\w][\w-]*", code))


def recorded():
    """The versions that wrote the recordings, by dialect."""
    manifest = tomllib.loads((ROOT / "golden" / "MANIFEST.toml").read_text())
    versions = collections.defaultdict(set)
    for file in manifest["file"]:
        if re.fullmatch(r"[0-9.]+", file["version"]):
            versions[file["dialect"]].add(file["version"])
    return versions


def write_page(page, versions, found):
    today = datetime.date.today().isoformat()
    rows = {}
    text = page.read_text()
    begin, end = "<!-- versions -->\n", "<!-- /versions -->"
    head, rest = text.split(begin)
    old, tail = rest.split(end)
    for line in old.splitlines()[2:]:
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        rows[cells[0].strip("`")] = cells
    order = lambda version: [int(part) for part in version.split(".")]  # noqa: E731
    written = recorded()
    for program in PROGRAMS:
        name = program.dialect
        if name in versions:
            told = sum(1 for what in found[name])
            recordings = ", ".join(sorted(written[name], key=order)) or "none"
            rows[name] = [f"`{name}`", f"`{program.package}`", recordings, versions[name], today, str(told)]
    table = ["| dialect | package | recordings of | newest tried | on | findings |", "|---|---|---|---|---|---|"]
    table += [f"| {' | '.join(cells)} |" for cells in rows.values()]
    page.write_text(head + begin + "\n".join(table) + "\n" + end + tail)


if __name__ == "__main__":
    main()
