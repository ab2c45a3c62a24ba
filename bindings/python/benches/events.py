"""How long `convert` takes beside the command, and `events` beside `json.loads` of each line: processor time, ratios within one run.

Usage: python benches/events.py LOG [ROUNDS]
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from statistics import median
from typing import Callable

import agentglot


def command(log: str) -> float:
    """Processor seconds of the command, with one job, and what it writes read by us as a caller would."""
    before = os.times()
    subprocess.run(["agentglot", "convert", "-q", "--jobs", "1", "--to", "cursor", log], stdout=subprocess.PIPE, check=False)
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system


def here(work: Callable[[], object]) -> float:
    before = time.process_time()
    work()
    return time.process_time() - before


def loads(log: str) -> None:
    with open(log, "rb") as file:
        for line in file:
            json.loads(line)


def iterate(log: str) -> None:
    for _ in agentglot.events(log):
        pass


def look(log: str) -> None:
    for event in agentglot.events(log):
        event.session
        if isinstance(event, agentglot.ToolResult):
            event.status


def main() -> None:
    log, rounds = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 5
    size, lines = os.path.getsize(log), sum(1 for _ in open(log, "rb"))
    events = sum(1 for _ in agentglot.events(log))
    print(f"{size / 1e6:.0f} MB, {lines} lines of {size / lines:.0f} bytes, {events} events")
    took: dict[str, list[float]] = {}
    for _ in range(rounds):
        took.setdefault("agentglot convert --jobs 1", []).append(command(log))
        took.setdefault("convert()", []).append(here(lambda: agentglot.convert(log, to="cursor", on_damage="ignore", jobs=1)))
        took.setdefault("json.loads of each line", []).append(here(lambda: loads(log)))
        took.setdefault("events()", []).append(here(lambda: iterate(log)))
        took.setdefault("events(), two members read", []).append(here(lambda: look(log)))
    for name, each in took.items():
        print(f"{name:28} {median(each):7.3f} s  {size / median(each) / 1e6:6.0f} MB/s")
    ratio = lambda a, b: median(x / y for x, y in zip(took[a], took[b]))  # noqa: E731
    print(f"convert() / the command: {ratio('convert()', 'agentglot convert --jobs 1'):.2f}")
    for name in ("events()", "events(), two members read"):
        print(f"json.loads of each line / {name}: {ratio('json.loads of each line', name):.1f}")


if __name__ == "__main__":
    main()
