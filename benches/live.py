#!/usr/bin/env python3
"""Measures `agentglot run` while somebody talks: added latency of an event, a saturated pipe, many sessions at once.

    cargo build --profile dist --bin agentglot --example fake_agent
    python3 benches/live.py [--rounds N] [--only latency|pipe|many] [--seconds S]

The fake agent of the tests stands for the agent's program and stamps its lines with the monotonic clock. Each figure is taken
in turn through `agentglot run` and through `cat`, which does nothing but read and write; what counts is the difference, or the
ratio, of medians within one run of this program. Exit code 1: a bar is missed, or something was lost.
"""

import argparse
import json
import os
import re
import selectors
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SESSION = "11111111-2222-4333-8444-555555555555"
#: What `--as NAME` is told, and what every event of the agent's becomes: a piece of JSON that holds its text.
CLAUDE = ["--output-format", "stream-json", "--verbose", "--input-format", "stream-json", "--include-partial-messages"]
QWEN = ["--output-format", "stream-json", "--input-format", "stream-json", "--include-partial-messages"]
CHUNKS = ["--output-format", "stream-chunk-json", "--input-format", "stream-json"]
USER = {"type": "user", "message": {"role": "user", "content": "go"}, "parent_tool_use_id": None, "session_id": ""}
CHAT = {"session_id": "_new", "input": {"origin": "user", "parts": [{"type": "text", "text": "go"}]}}
#: name, --as, arguments, prompt, the agent's dialect
PATHS = [
    ("claude over cli:claude", "claude", CLAUDE, USER, "claude"),
    ("claude over cli:qwen", "claude", CLAUDE, USER, "qwen"),
    ("qwen over cli:claude", "qwen-code", QWEN, USER, "claude"),
    ("RFC chunks over cli:claude", "qwen", CHUNKS, CHAT, "claude"),
]
STAMP = re.compile(rb"at (\d+) it")
#: In the text of every event, once.
WORDS = b"t is said"
LAST = b"last words"


def uuid(n):
    return f"00000000-0000-4000-8000-{n:012}"


def event(n, body):
    return {"type": "stream_event", "event": body, "session_id": SESSION, "parent_tool_use_id": None, "uuid": uuid(n)}


def head():
    usage = {"input_tokens": 3, "output_tokens": 4}
    message = {"id": "msg_1", "type": "message", "role": "assistant", "model": "m-1", "content": [], "stop_reason": None,
               "stop_sequence": None, "usage": usage}
    init = {"type": "system", "subtype": "init", "cwd": "/tmp", "session_id": SESSION, "tools": ["Bash"], "mcp_servers": [],
            "model": "m-1", "permissionMode": "default", "slash_commands": [], "apiKeySource": "none",
            "claude_code_version": "2.1.329", "output_style": "default", "agents": [], "skills": [], "plugins": [], "uuid": uuid(1)}
    return [init, event(2, {"type": "message_start", "message": message}),
            event(3, {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}})]


def delta(n, text):
    return event(n, {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}})


def tail():
    usage = {"input_tokens": 3, "output_tokens": 4}
    message = {"id": "msg_1", "type": "message", "role": "assistant", "model": "m-1", "content": [{"type": "text", "text": "all"}],
               "stop_reason": None, "stop_sequence": None, "usage": usage}
    whole = {"type": "assistant", "message": message, "parent_tool_use_id": None, "session_id": SESSION, "uuid": uuid(4)}
    end = {"type": "message_delta", "delta": {"stop_reason": "end_turn", "stop_sequence": None}, "usage": usage}
    result = {"type": "result", "subtype": "success", "is_error": False, "duration_ms": 5, "duration_api_ms": 4, "num_turns": 1,
              "result": "all", "stop_reason": "end_turn", "session_id": SESSION, "total_cost_usd": 0.01, "usage": usage,
              "modelUsage": {}, "permission_denials": [], "uuid": uuid(9)}
    return [whole, event(5, {"type": "content_block_stop", "index": 0}), event(6, end), event(7, {"type": "message_stop"}), result]


def line(value):
    return json.dumps(value, separators=(",", ":"))


class Stage:
    """A folder with the agent's program and what it says."""

    def __init__(self, binary, agent):
        self.folder = tempfile.mkdtemp(prefix="agentglot-live-")
        self.binary, self.program = binary, os.path.join(self.folder, "agent-program")
        os.symlink(agent, self.program)
        one = delta(4711, "It is at @NS@ it is said " + "and " * 40)
        for name, lines in [("head", head()), ("tail", tail()), ("stop", tail()[:-1]), ("one", [one])]:
            self.write(name, [line(value) for value in lines])
        self.write("last", conversation(1, 2, LAST.decode())[0])

    def write(self, name, lines):
        with open(self.path(name), "w") as file:
            file.write("".join(f"{line}\n" for line in lines))

    def path(self, name):
        return os.path.join(self.folder, name)

    def script(self, *commands):
        said = ["read", f"file 0 {self.path('head')}", *commands, f"file 0 {self.path('tail')}", "read all"]
        self.write("agent-program.script", said)

    def run(self, role, args, backend):
        return [self.binary, "run", "--as", role, "--backend", backend, "--", *args]


def environment():
    return {name: value for name, value in os.environ.items() if not name.startswith("AGENTGLOT_")}


class Talk:
    """A host that gives one prompt."""

    def __init__(self, stage, commands):
        self.processes, given = [], subprocess.PIPE
        for command in commands:
            self.processes.append(subprocess.Popen(command, stdin=given, stdout=subprocess.PIPE, cwd=stage.folder, env=environment()))
            given = self.processes[-1].stdout
        self.stdin, self.stdout = self.processes[0].stdin, self.processes[-1].stdout
        for process in self.processes[:-1]:
            process.stdout.close()

    def say(self, prompt):
        self.stdin.write((line(prompt) + "\n").encode())
        self.stdin.flush()

    def end(self):
        self.stdin.close()
        os.set_blocking(self.stdout.fileno(), True)
        while os.read(self.stdout.fileno(), 1 << 16):
            pass
        self.stdout.close()
        return [process.wait() for process in self.processes]


def median(values):
    return statistics.median(values)


def listen(talk, prompt):
    """Says the prompt and takes what comes until the last words: (when it came, bytes)."""
    fd, pieces, end = talk.stdout.fileno(), [], b""
    talk.say(prompt)
    now = time.monotonic_ns
    while LAST not in end and (piece := os.read(fd, 1 << 18)):
        pieces.append((now(), piece))
        end = end[-len(LAST) :] + piece
    return pieces


def delays(pieces):
    """Of each stamped line in nanoseconds: from the stamp to the arrival of its end."""
    found, rest = [], b""
    for when, piece in pieces:
        *lines, rest = (rest + piece).split(b"\n")
        for whole in lines:
            stamp = STAMP.search(whole)
            # The whole message that follows its pieces has many.
            if stamp and whole.count(WORDS) == 1:
                found.append(when - int(stamp[1]))
    return found


def ways(stage):
    yield "cat", [[stage.program], ["cat"]], USER
    for name, role, args, prompt, backend in PATHS:
        yield name, [stage.run(role, args, f"cli:{backend}={stage.program}")], prompt


def latency(stage, seconds, rounds, rate=5000):
    """Added latency of an event at `rate` events a second. The bar: at most 10 µs in the middle."""
    count = int(rate * seconds)
    stage.script(f"rate {rate} {count} {stage.path('one')}", f"file 0 {stage.path('stop')}", f"file 0 {stage.path('last')}")
    middle, high, lost = {}, {}, []
    for _ in range(rounds):
        for name, commands, prompt in ways(stage):
            talk = Talk(stage, commands)
            found = sorted(delays(listen(talk, prompt)))
            talk.end()
            if len(found) != count:
                lost.append(f"{name}: {len(found)} of {count} events arrived")
                continue
            middle.setdefault(name, []).append(found[count // 2] / 1000)
            high.setdefault(name, []).append(found[count * 99 // 100] / 1000)
    print(f"\nlatency at {rate} events/s, {count} events a run, medians of {rounds} runs that took turns, µs")
    print(f"{'':28}{'p50':>8}{'above cat':>11}{'p99':>9}")
    missed = lost
    for name in middle:
        p50 = median(middle[name])
        # The difference is taken within each round: its neighbours met the same machine.
        above = median([ours - cat for ours, cat in zip(middle[name], middle["cat"])])
        print(f"{name:28}{p50:8.1f}{above:11.1f}{median(high[name]):9.1f}")
        if above > 10:
            missed.append(f"latency, {name}: {above:.1f} µs above cat, at most 10 wanted")
    return missed


def conversation(messages, deltas=100, words="It is said and done "):
    """Messages of many pieces each, as an agent says them; and how many pieces they are."""
    said = []
    for n in range(messages):
        text = f"{words}{n} " + "and " * 40
        named = {"id": f"msg_{n}"}
        start, *_ = (event["event"]["message"] | named for event in head()[1:2])
        whole, *ends = tail()[:-1]
        said += [event(2, {"type": "message_start", "message": start}), head()[2]]
        said += [delta(4711, text)] * deltas
        said += [whole | {"message": whole["message"] | named | {"content": [{"type": "text", "text": text * deltas}]}}, *ends]
    return [line(value) for value in said], messages * deltas


def pipe(stage, rounds, megabytes=64):
    """What a saturated pipe costs against cat: an agent that writes a line at a time, and one that writes all it can."""
    lines, pieces = conversation(100)
    stage.write("many", lines)
    times = round(megabytes * 1_000_000 / os.path.getsize(stage.path("many")))
    missed = []
    for how, command in [("a line a write", f"rate 4000000000 {times} {stage.path('many')}"), ("large writes", f"pour {times} {stage.path('many')}")]:
        stage.script(command, f"file 0 {stage.path('last')}")
        took = {}
        for _ in range(rounds):
            for name, commands, prompt in ways(stage):
                talk = Talk(stage, commands)
                begin = time.perf_counter()
                said = listen(talk, prompt)
                took.setdefault(name, []).append(time.perf_counter() - begin)
                talk.end()
                # A piece has the words once, the whole message that follows it many times.
                found = sum(whole.count(WORDS) == 1 for whole in b"".join(piece for _, piece in said).split(b"\n"))
                if found != times * pieces:
                    missed.append(f"pipe, {name}: {found} of {times * pieces} events arrived")
        print(f"\nsaturated pipe, {how}, {megabytes} MB, medians of {rounds} runs that took turns")
        print(f"{'':28}{'seconds':>9}{'MB/s':>7}{'× cat':>7}")
        for name, spent in took.items():
            ratio = median([ours / cat for ours, cat in zip(spent, took["cat"])])
            print(f"{name:28}{median(spent):9.3f}{megabytes / median(spent):7.0f}{ratio:7.2f}")
            if ratio > 2:
                missed.append(f"pipe, {name}, {how}: {ratio:.2f} × cat, at most 2 wanted")
    return missed


def own_memory(pid):
    """What a process has for itself alone, and what is resident, in KiB."""
    with open(f"/proc/{pid}/smaps_rollup") as file:
        fields = dict(re.findall(r"(\w+):\s+(\d+) kB", file.read()))
    return int(fields["Private_Clean"]) + int(fields["Private_Dirty"]), int(fields["Rss"])


def watcher_of(pid):
    """The process that looks after its child, if it has one."""
    with open(f"/proc/{pid}/task/{pid}/children") as file:
        for child in file.read().split():
            with open(f"/proc/{child}/cmdline") as words:
                if words.read().startswith("agentglot-watcher"):
                    return int(child)
    return None


def many(stage, count, backend, name, expected, prompt=USER):
    """So many stand-ins at once: all are started, all are asked, and each has to give everything."""
    begin = time.perf_counter()
    command = stage.run("claude", CLAUDE, backend)
    hosts = [Talk(stage, [command]) for _ in range(count)]
    chosen = selectors.DefaultSelector()
    said = {}
    for host in hosts:
        fd = host.stdout.fileno()
        os.set_blocking(fd, False)
        chosen.register(fd, selectors.EVENT_READ)
        said[fd] = bytearray()
        host.say(prompt)
    open_fds, memory, watchers = set(said), [], []
    while open_fds:
        ready = chosen.select(60)
        if not ready:
            break
        for key, _ in ready:
            piece = os.read(key.fd, 1 << 18)
            said[key.fd] += piece
            if b'"type":"result"' in said[key.fd][-4096:] or not piece:
                open_fds.discard(key.fd)
                chosen.unregister(key.fd)
        if not memory and all(len(text) > 0 for text in said.values()):
            sample = [host.processes[0].pid for host in hosts[:: max(1, count // 20)]]
            memory = [own_memory(pid) for pid in sample]
            watchers = [own_memory(watcher)[0] for watcher in map(watcher_of, sample) if watcher]
    took = time.perf_counter() - begin
    whole = sum(text.count(WORDS) == expected and b'"type":"result"' in text for text in said.values())
    codes = [host.end() for host in hosts]
    print(f"\n{count} {name} at once: {whole} gave all of their {expected} events, {sum(code == [0] for code in codes)} ended with 0, "
          f"{took:.1f} s from the first start to the last result")
    if memory:
        alone, resident = (median([figures[n] for figures in memory]) for n in (0, 1))
        beside = f", and {median(watchers) / 1024:.1f} MB for its watcher" if watchers else ""
        print(f"memory of one, the median of {len(memory)}: {alone / 1024:.1f} MB of its own{beside}; "
              f"{resident / 1024:.1f} MB resident with what all share")
    return [] if whole == count and all(code == [0] for code in codes) else [f"{name}: {count - whole} of {count} lost something"]


def crowd(stage, sessions, children):
    one = [line(delta(n, f"It is said and done {n}")) for n in range(200)]
    stage.write("some", one)
    stage.write("log.jsonl", [line(value) for value in head()] + one + [line(value) for value in tail()])
    missed = many(stage, sessions, f"replay:{stage.path('log.jsonl')}", "sessions over replay", len(one))
    stage.script(f"file 0 {stage.path('some')}", "sleep 500")
    return missed + many(stage, children, f"cli:claude={stage.program}", "sessions with a child each", len(one))


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--binary", default=os.path.join(ROOT, "target/dist/agentglot"))
    arguments.add_argument("--rounds", type=int, default=5)
    arguments.add_argument("--seconds", type=float, default=2)
    arguments.add_argument("--sessions", type=int, default=1000)
    arguments.add_argument("--children", type=int, default=200)
    arguments.add_argument("--only", choices=["latency", "pipe", "many"])
    given = arguments.parse_args()
    binary = os.path.abspath(given.binary)
    agent = os.path.join(os.path.dirname(binary), "examples/fake_agent")
    for program in (binary, agent):
        if not os.path.exists(program):
            sys.exit(f"{program} is not built: cargo build --profile dist --bin agentglot --example fake_agent")
    stage = Stage(binary, agent)
    missed = []
    try:
        if given.only in (None, "latency"):
            missed += latency(stage, given.seconds, given.rounds)
        if given.only in (None, "pipe"):
            missed += pipe(stage, given.rounds)
        if given.only in (None, "many"):
            missed += crowd(stage, given.sessions, given.children)
    finally:
        shutil.rmtree(stage.folder, ignore_errors=True)
    for what in missed:
        print(f"missed: {what}")
    sys.exit(1 if missed else 0)


if __name__ == "__main__":
    main()
