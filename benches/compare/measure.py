"""Runs a program and says what it took: wall time, CPU time, peak memory."""

import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass


class Failed(Exception):
    """A measured program did not end well."""


@dataclass
class Cost:
    wall: float  # seconds
    cpu: float  # seconds, user and system
    peak: int  # bytes; 0 if it was not asked for


def run(command, stdout=None, watch=False, codes=(0,)):
    """Runs `command` to its end, output to `stdout` (a path; the null device by default). Other exit codes than `codes` are failures.

    `watch` asks for the peak of its memory. The kernel's own figure is no use for a small program: a child begins with the
    peak of the process that started it, here a Python of some 15 MB. So the peak is read from /proc while the program runs,
    where it only ever grows, and the kernel's figure counts only when it is above our own.
    """
    own_peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with open(stdout or os.devnull, "wb") as out, tempfile.TemporaryFile() as err:
        start = time.perf_counter()
        child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=err)
        peak, status, used = 0, None, None
        while status is None:
            if watch:
                peak = max(peak, high_water(child.pid))
            pid, code, usage = os.wait4(child.pid, os.WNOHANG if watch else 0)
            if pid:
                status, used = code, usage
            else:
                time.sleep(0.0002)
        wall = time.perf_counter() - start
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode not in codes:
            err.seek(0)
            raise Failed(f"{' '.join(command)}: exit {child.returncode}: {err.read()[-400:].decode(errors='replace').strip()}")
    if watch and used.ru_maxrss > own_peak + 1024:
        peak = max(peak, used.ru_maxrss * (1 if sys.platform == "darwin" else 1024))
    return Cost(wall, used.ru_utime + used.ru_stime, peak)


def peak(command):
    """The peak memory of a program in bytes. One that is soon over is run several times, to see it late in its life."""
    costs = [run(command, watch=True)]
    while sum(cost.wall for cost in costs) < 0.3 and len(costs) < 20:
        costs.append(run(command, watch=True))
    highest = max(cost.peak for cost in costs)
    if not highest:
        raise Failed(f"{' '.join(command)}: over too soon to see its memory")
    return highest


def interleaved(commands, rounds, codes=(0,)):
    """The median costs of each of `commands` (a dict), run in turn so that all meet the same machine.

    A program that is soon over is run several times in a turn, of which the median counts: one run says more about what the
    program before it left of the caches.
    """
    os.sync()  # no run shares the disk, or the memory, with what was written before
    costs = {name: [] for name in commands}
    for _ in range(rounds):
        for name, command in commands.items():
            turn = [run(command, codes=codes)]
            while sum(cost.wall for cost in turn) < 0.3 and len(turn) < 5:
                turn.append(run(command, codes=codes))
            costs[name].append(median(turn))
    return {name: median(of) for name, of in costs.items()}


def median(costs):
    return Cost(*(statistics.median(getattr(cost, field) for cost in costs) for field in ("wall", "cpu", "peak")))


def warm(path):
    """Reads a file once, so that no run pays for the disk."""
    with open(path, "rb", buffering=0) as file:
        while file.read(1 << 20):
            pass


def high_water(pid):
    """The most memory that a process has had so far, in bytes; 0 when it cannot be told."""
    try:
        with open(f"/proc/{pid}/status", "rb") as status:
            for line in status:
                if line.startswith(b"VmHWM:"):
                    return int(line.split()[1]) * 1024
    except OSError:
        pass
    return 0
